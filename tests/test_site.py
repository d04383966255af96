"""The site builds without a warning and needs neither a server nor a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow
LOADED = re.compile(r'<(?:script|link|img|iframe)[^>]*? (?:src|href)="?([^" >]+)')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    words = ["-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": ""}
    how = {"cwd": ROOT, "env": env, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, *words], **how)
    told = done.stdout + done.stderr  # with --quiet warnings would not count, strict or not
    assert done.returncode == 0, told
    assert not re.search(r"WARNING|ERROR", told), told
    return folder


def test_every_page_loads_only_what_lies_beside_it(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        loaded = set(LOADED.findall(page.read_text("utf-8")))
        assert loaded
        missing = [x for x in loaded if not (page.parent / x.partition("#")[0]).is_file()]
        assert missing == [], page


def test_formulas_are_mathml_and_none_is_left_as_text(site: Path) -> None:
    for page in sorted((site / "methods").glob("*.html")):
        text = re.sub(
            r"<pre.*?</pre>|<code.*?</code>|<script.*?</script>",
            "",
            page.read_text("utf-8"),
            flags=re.S,
        )
        assert "$$" not in text, page
    assert "<math" in (site / "methods" / "rls.html").read_text("utf-8")
