"""The number of diverging graphs, found inside combinations of kernels."""

from __future__ import annotations

from textrank.features import MultiView
from textrank.graphs import LabelledGraph
from textrank.kernels.algebra import Linear, Normalized, OnView, Sum
from textrank.kernels.graphs import AllPathsGraph, LabelBag
from textrank.kernels.views import EachView
from textrank.protocols import count_diverging

TAME = LabelledGraph(["a", "b"], {(0, 1): 0.9})
WILD = LabelledGraph(["a", "b"], {(0, 1): 2.0, (1, 0): 2.0})


def test_asks_the_kernel_wherever_it_stands():
    graphs = [TAME, WILD, TAME, WILD]
    assert count_diverging(AllPathsGraph(), graphs) == 2
    assert count_diverging(Normalized(Sum([LabelBag(), AllPathsGraph()])), graphs) == 2
    assert count_diverging(LabelBag(), graphs) == 0


def test_looks_at_the_view_that_the_kernel_sees():
    X = MultiView({"graph": [TAME, WILD], "tame": [TAME, TAME], "number": [[1.0], [2.0]]})
    both = Sum([OnView("graph", AllPathsGraph()), OnView("number", Linear())])
    assert count_diverging(Normalized(both), X) == 1
    assert count_diverging(OnView("tame", AllPathsGraph()), X) == 0
    graphs = MultiView({"graph": [TAME, WILD], "again": [WILD, WILD]})
    assert count_diverging(EachView(AllPathsGraph()), graphs) == 3
