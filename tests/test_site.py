"""The site builds without warnings and works offline from local files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow
RESOURCE = re.compile(r'<(?:script|link|img|iframe)[^>]*? (?:src|href)="?([^" >]+)')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    arguments = ["-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": ""}
    result = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=env, capture_output=True, text=True
    )
    output = result.stdout + result.stderr  # --quiet would hide warnings from --strict
    assert result.returncode == 0, output
    assert not re.search(r"WARNING|ERROR", output), output
    return folder


def test_pages_load_only_local_files(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        resources = set(RESOURCE.findall(page.read_text("utf-8")))
        assert resources
        missing = [x for x in resources if not (page.parent / x.partition("#")[0]).is_file()]
        assert missing == [], page


def test_formulas_are_mathml(site: Path) -> None:
    for page in sorted((site / "methods").glob("*.html")):
        text = re.sub(
            r"<pre.*?</pre>|<code.*?</code>|<script.*?</script>",
            "",
            page.read_text("utf-8"),
            flags=re.S,
        )
        assert "$$" not in text, page
    assert "<math" in (site / "methods" / "rls.html").read_text("utf-8")
