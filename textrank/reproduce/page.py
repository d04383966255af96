"""Tables of reproduced figures as Markdown, for a page and for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from textrank.reproduce.experiment import Figure, Table, published, sources

HEAD = """# The sources' tables, and ours

Written by `textrank reproduce`, figures and all; the JSON files beside this page hold every number.
A cell shows the **source's figure** before the arrow and **ours** behind it, with the spread where
there are several runs; without an arrow, the source has no figure there. Parameters of learners and
kernels are chosen inside each training part, unless a table says otherwise. The set-ups were not
fixed before any figure was seen: after a first look `letor` took relevance in two grades, as the
source words it, instead of three; `auc-estimates` was given a constant feature, without which no
bias showed; `embedding-reuters` took other topics and more articles; and the samples of
`gene-protein`, `gene-protein-kernels`, `word-senses`, `reduced-set`, `locality` and of `ppi`
tables were enlarged. Read those as what can be had, not as a blind trial. Why a figure differs is
our reading; no experiment was made for it.
The tables are short versions of seconds to minutes; where one says so, `--full` takes whole data.
"""


def page(tables: Sequence[Table]) -> str:
    """All tables, grouped by their source, with a summary of the time they took."""
    parts = [HEAD]
    for key, cited in sources().items():
        own = [t for t in tables if published(t.experiment.name)["source"] == key]
        if own:
            parts += [f"## {cited}\n", *(section(table) for table in own)]
    seconds = sum(table.seconds for table in tables)
    parts.append(f"All {len(tables)} tables took {seconds / 60:.0f} minutes of one processor.\n")
    return "\n".join(parts)


def section(table: Table) -> str:
    """One table with what a reader must know."""
    experiment, words = table.experiment, table.experiment.words
    source = published(experiment.name)
    where = f"{source['where']}. " if source["where"] else ""
    lines = [
        f"### {words.title}\n",
        f"`textrank reproduce {experiment.name}` · {where}{words.measure}; ± {words.spread}.\n",
        markdown(table),
        f"**What differs.** {words.differs}{_part(table)}\n",
        *_worse(table),
        f"Seed {table.settings['seed']}, {_time(table.seconds)} of one processor.\n",
    ]
    return "\n".join(lines)


def markdown(table: Table) -> str:
    """The figures alone, a row for each row of the source."""
    columns = table.columns
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for row in table.rows:
        cells = " | ".join(cell(table, row, column) for column in columns)
        lines.append(f"| {row} | {cells} |")
    return "\n".join(lines) + "\n"


def cell(table: Table, row: str, column: str) -> str:
    """The source's figure, an arrow, ours."""
    digits = table.experiment.words.digits
    source = table.published.get(row, {}).get(column)
    ours = table.cells.get(row, {}).get(column)
    if source is None and ours is None:
        return ""
    shown = _figure(ours, digits)
    return shown if source is None else f"{source:.{digits}f} → {shown}"


def _figure(figure: Figure | None, digits: int) -> str:
    if figure is None:
        return "–"
    spread = "" if figure.spread is None else f" ±{figure.spread:.{digits}f}"
    return f"**{figure.mean:.{digits}f}**{spread}"


def _part(table: Table) -> str:
    part = table.experiment.words.part
    return f" Here {part}; `--full` takes all." if part and not table.settings["full"] else ""


def _worse(table: Table) -> list[str]:
    """Says where ours are worse, the largest gaps first, and why."""
    found = sorted(table.worse(), key=lambda cell: -abs(cell[2]))
    if not found:
        return []
    digits = table.experiment.words.digits
    shown = [f"{row}, {column} ({gap:+.{digits}f})" for row, column, gap in found[:6]]
    more = f" and {len(found) - 6} more" if len(found) > 6 else ""
    compared = sum(
        len(set(own) & set(table.cells.get(r, {}))) for r, own in table.published.items()
    )
    summary = f"**Ours are worse** in {len(found)} of {compared} cells: {'; '.join(shown)}{more}."
    return [f"{summary} {table.experiment.words.why}".strip() + "\n"]


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
