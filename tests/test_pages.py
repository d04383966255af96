"""Pages refer to files that exist, and the site's HTML parser can read them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs", "models", "pipelines", "corpora", "textrank")
PAGES = [*ROOT.glob("*.md"), *(page for name in FOLDERS for page in (ROOT / name).rglob("*.md"))]
FILE = re.compile(r"(?<![\w/.])((?:tests|docs|models|textrank|pipelines|corpora)/[\w./-]+\.\w+)")


def test_files_named_on_pages_exist() -> None:
    missing = {}
    for page in PAGES:
        names = {name for name in FILE.findall(page.read_text("utf-8")) if "NAME" not in name}
        if absent := sorted(name for name in names if not (ROOT / name).exists()):
            missing[str(page.relative_to(ROOT))] = absent
    assert missing == {}


def test_pages_can_be_parsed_as_html() -> None:
    for page in PAGES:
        HTMLParser().feed(page.read_text("utf-8"))
