"""What pages say of files is so, and each can be read by the parser that builds the site."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for folder in ("docs", "models", "pipelines", "corpora", "textrank")
    for path in (ROOT / folder).rglob("*.md")
) + sorted(ROOT.glob("*.md"))
FILE = re.compile(r"(?<![\w/.])((?:tests|docs|models|textrank|pipelines|corpora)/[\w./-]+\.\w+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = {name for name in FILE.findall(page.read_text("utf-8")) if "NAME" not in name}
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_page_is_no_broken_html(page: Path) -> None:
    HTMLParser().feed(page.read_text("utf-8"))
