"""Update figures and tables in pages: ``python docs/figures.py``.

A table is the output of ``textrank apply ppi - --table`` in ``README.md`` (for the text of
``make demo``), ``docs/index.md`` and ``docs/start.md``.
A figure is enclosed in two comments. The first names the file and the position in it:
``<!-- models/en_textrank_bio/meta.json performance.bc2gm_devel.f -->88.2<!-- -->``. A position in
a file of docs/reproduce is ROW/COLUMN. Fractions are written in per cent with one decimal.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIGURE = re.compile(
    r"<!-- (?P<file>[\w./-]+\.json) (?P<position>[^>]+?) -->(?P<shown>[^<]*)<!-- -->"
)
TABLE_PAGES = ("README.md", "docs/index.md", "docs/start.md")
TABLE = re.compile(r"^statement +status .*?(?=^```$)", re.MULTILINE | re.DOTALL)
SENTENCES = re.compile(
    r'(?:^DEMO_TEXT := |echo ")(GRB2 binds.*?\.)(?=\n[^ ]|")', re.MULTILINE | re.DOTALL
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


def table_sentences(page: str) -> str:
    """Return the sentences whose statements the table of a page in ``TABLE_PAGES`` shows."""
    source = "Makefile" if page == "README.md" else page
    match = SENTENCES.search((ROOT / source).read_text(encoding="utf-8"))
    if match is None:
        raise ValueError(f"{source} has no example that begins with 'GRB2 binds'")
    return match[1].replace("\\\n", "")


def update_table(page: str) -> str:
    """Return the text of a page in ``TABLE_PAGES`` with the present output as its table."""
    result = subprocess.run(
        [sys.executable, "-m", "textrank", "apply", "ppi", "-", "--table"],
        input=table_sentences(page), capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [line.rstrip() for line in result.stdout.splitlines() if line.strip()]
    text = (ROOT / page).read_text(encoding="utf-8")
    return TABLE.sub(lambda _: "\n".join(lines) + "\n", text, count=1)


def pages() -> list[Path]:
    """Return the pages that contain such figures."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in paths if FIGURE.search(page.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    for name in TABLE_PAGES:
        (ROOT / name).write_text(update_table(name), encoding="utf-8")
    for page in pages():
        page.write_text(update_figures(page.read_text(encoding="utf-8")), encoding="utf-8")
