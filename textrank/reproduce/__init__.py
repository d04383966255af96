"""Reproduction of published tables, with the papers' figures next to ours.

``base`` has the experiment, its result table, the Markdown page and the data sets. ``learners``
runs the tables on learning methods, ``tasks`` those on tasks; ``catalogue`` lists them all.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.reproduce.base import Experiment, Figure, RunSettings, Table, reproduce_table
    from textrank.reproduce.catalogue import EXPERIMENTS, load_tables, select_experiments

_MODULES = {
    "EXPERIMENTS": "catalogue",
    "Experiment": "base",
    "Figure": "base",
    "RunSettings": "base",
    "Table": "base",
    "load_tables": "catalogue",
    "reproduce_table": "base",
    "select_experiments": "catalogue",
}

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Figure",
    "RunSettings",
    "Table",
    "load_tables",
    "reproduce_table",
    "select_experiments",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use and keep it; raise AttributeError for other names."""
    if name not in _MODULES:
        raise AttributeError(f"module 'textrank.reproduce' has no attribute {name!r}")
    value = getattr(import_module(f"textrank.reproduce.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__]
