"""Writes figures of files into pages: ``python docs/figures.py``.

A figure in a page stands between two remarks, of which the first names the file and the place:
``<!-- models/en_textrank_bio/meta.json performance.bc2gm_devel.f -->88.2<!-- -->``. A place in a
file of docs/reproduce is ROW/COLUMN. Shares are written per cent, with one decimal.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIGURE = re.compile(r"<!-- (?P<file>[\w./-]+\.json) (?P<place>[^>]+?) -->(?P<shown>[^<]*)<!-- -->")


def value(file: str, place: str) -> float:
    """The number at a place of a file."""
    content: Any = json.loads((ROOT / file).read_text(encoding="utf-8"))
    if "figures" in content:
        row, _, column = place.partition("/")
        rows = [f for f in content["figures"] if (f["row"], f["column"]) == (row, column)]
        return float(rows[0]["ours"])
    for key in place.split("."):
        content = content[key]
    return float(content)


def filled(text: str) -> str:
    """A page with its figures as the files have them now."""

    def renewed(found: re.Match[str]) -> str:
        shown = f"{100 * value(found['file'], found['place']):.1f}"
        return f"<!-- {found['file']} {found['place']} -->{shown}<!-- -->"

    return FIGURE.sub(renewed, text)


def pages() -> list[Path]:
    """The pages that have such figures."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if FIGURE.search(page.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    for page in pages():
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
