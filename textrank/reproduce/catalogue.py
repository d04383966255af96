"""All experiments by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from textrank.reproduce import classes, contexts, interactions, parses, ranking
from textrank.reproduce import ranking as estimates
from textrank.reproduce.base import Experiment, Table, load_table

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment
    for part in (contexts, interactions, estimates, ranking, classes, parses, classes)
    for experiment in part.TABLES
}


def select_experiments(names: Iterable[str]) -> list[Experiment]:
    """Those with these names, all where none is named; a wrong name fails with the right ones."""
    names = list(names)
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(f"no table {name!r}; there are: {', '.join(EXPERIMENTS)}.")
    return [EXPERIMENTS[name] for name in names or EXPERIMENTS]


def load_tables(folder: Path) -> list[Table]:
    """All tables that a folder holds, in their order."""
    found = (load_table(experiment, folder) for experiment in EXPERIMENTS.values())
    return [table for table in found if table is not None]
