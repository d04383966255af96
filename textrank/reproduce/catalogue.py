"""List of all experiments by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from textrank.reproduce import learners, tasks
from textrank.reproduce.base import Experiment, Table, load_table

EXPERIMENTS: Mapping[str, Experiment] = {
    experiment.name: experiment
    for tables in (
        tasks.CONTEXT_EXPERIMENTS,
        tasks.INTERACTION_EXPERIMENTS,
        learners.ESTIMATE_EXPERIMENTS,
        learners.RANKING_EXPERIMENTS,
        learners.CLASS_EXPERIMENTS,
        tasks.PARSE_EXPERIMENTS,
        learners.EMBEDDING_EXPERIMENTS,
    )
    for experiment in tables
}


def select_experiments(names: Iterable[str]) -> list[Experiment]:
    """Return the experiments with these names, in their order; all of them for no names.

    A repeated name gives a repeated experiment. Raises ValueError, with the available names, for an
    unknown one.
    """
    names = list(names)
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(f"unknown table {name!r}. Available: {', '.join(EXPERIMENTS)}.")
    return [EXPERIMENTS[name] for name in names or EXPERIMENTS]


def load_tables(folder: Path) -> list[Table]:
    """Return all tables stored in a folder, in the order of ``EXPERIMENTS``.

    Experiments without a stored table are left out; settings are not compared. Raises ValueError if
    a file is not a table.
    """
    tables = (load_table(experiment, folder) for experiment in EXPERIMENTS.values())
    return [table for table in tables if table is not None]
