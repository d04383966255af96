"""Update figures in pages from JSON files: ``python docs/figures.py``.

A figure is enclosed in two comments. The first names the file and the position in it:
``<!-- models/en_textrank_bio/meta.json performance.bc2gm_devel.f -->88.2<!-- -->``. A position in
a file of docs/reproduce is ROW/COLUMN. Fractions are written in per cent with one decimal.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIGURE = re.compile(
    r"<!-- (?P<file>[\w./-]+\.json) (?P<position>[^>]+?) -->(?P<shown>[^<]*)<!-- -->"
)


def value(file: str, position: str) -> float:
    """Return the number at a position of a file."""
    content: Any = json.loads((ROOT / file).read_text(encoding="utf-8"))
    if "figures" in content:
        row, _, column = position.partition("/")
        rows = [f for f in content["figures"] if (f["row"], f["column"]) == (row, column)]
        return float(rows[0]["ours"])
    for key in position.split("."):
        content = content[key]
    return float(content)


def update_figures(text: str) -> str:
    """Return the text of a page with current figures."""

    def replacement(match: re.Match[str]) -> str:
        shown = f"{100 * value(match['file'], match['position']):.1f}"
        return f"<!-- {match['file']} {match['position']} -->{shown}<!-- -->"

    return FIGURE.sub(replacement, text)


def pages() -> list[Path]:
    """Return the pages that contain such figures."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in paths if FIGURE.search(page.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    for page in pages():
        page.write_text(update_figures(page.read_text(encoding="utf-8")), encoding="utf-8")
