"""The tables of the sources, each as a function, with the sources' figures beside ours."""

from textrank.reproduce.base import Experiment, Figure, RunSettings, Table, reproduce_table
from textrank.reproduce.catalogue import EXPERIMENTS, load_tables, select_experiments

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
