"""The tables of the sources, each as a function, with the sources' figures beside ours."""

from textrank.reproduce.catalogue import EXPERIMENTS, experiments_of, tables_in
from textrank.reproduce.experiment import Experiment, Figure, Setting, Table, reproduced

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
