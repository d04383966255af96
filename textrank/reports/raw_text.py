"""What was found in raw text as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from textrank.evaluation.raw_text import RawText
from textrank.reports.table import percent

NAMES = {"overlap": "overlapping", "exact": "equal boundaries"}
PAIRS = {
    "overlap": "recognised names, overlapping",
    "exact": "recognised names, equal boundaries",
    "given": "the corpus's names in the same text",
}
REASONS = {
    "missed": "with a name that was not found",
    "separated": "cut apart by a sentence end",
    "merged": "within one found name, or sharing one pair",
}


def raw_text_table(found: RawText) -> RenderableType:
    """Names, interactions, and why some cannot be reached."""
    reached = found.interactions["overlap"]
    lost = reached.hits.gold - reached.reachable
    why = ", ".join(f"{found.reasons[key]} {words}" for key, words in REASONS.items())
    data = f"{found.documents} documents · {found.candidates} candidates"
    parts = [] if not found.calibration else [Text(_calibration(found.calibration), style="dim")]
    return Group(
        Text(f"ppi · {found.corpus}", style="bold"),
        Text(f"{data}\n{found.procedure}", style="dim"),
        _names(found),
        Text(),
        _interactions(found),
        Text(f"Unreachable: {lost} of {reached.hits.gold} gold interactions; {why}.", style="dim"),
        *parts,
    )


def _calibration(values: Mapping[str, float]) -> str:
    error, chance = values["calibration_error"], values["calibration_error_of_chance"]
    promised, true = values["mean_probability"], values["positive_share"]
    return (
        f"Calibration error of recognised pairs: {percent(error)} (chance {percent(chance)}); "
        f"mean probability {percent(promised)}, true share {percent(true)}."
    )


def _names(found: RawText) -> Table:
    grid = _grid("names", ("gold", "found", "right", "precision", "recall", "F"))
    for key, words in NAMES.items():
        hits = found.names[key]
        counts = map(str, (hits.gold, hits.found, hits.right))
        grid.add_row(words, *counts, *map(percent, hits.prf))
    return grid


def _interactions(found: RawText) -> Table:
    heads = ("gold", "reachable", "yes", "right", "precision", "recall", "F", "F of reachable")
    grid = _grid("interactions", heads)
    for key, words in PAIRS.items():
        own = found.interactions[key]
        counts = map(str, (own.hits.gold, own.reachable, own.hits.found, own.hits.right))
        alone = own.to_dict()["f_of_reachable"]
        grid.add_row(words, *counts, *map(percent, (*own.hits.prf, alone)))
    return grid


def _grid(title: str, heads: tuple[str, ...]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="dim")
    grid.add_column(title, min_width=36)
    for head in heads:
        grid.add_column(head, justify="right")
    return grid
