"""The tables of the sources, each as a function, with the sources' figures beside ours."""

from textrank.reproduce.base import Experiment, Figure, Setting, Table, reproduced
from textrank.reproduce.catalogue import EXPERIMENTS, experiments_of, tables_in

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Figure",
    "Setting",
    "Table",
    "experiments_of",
    "reproduced",
    "tables_in",
]
