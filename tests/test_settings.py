"""Kernels, representations and transformations as cfg: written down, they load as equals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from textrank.config import dump_pipeline, load_pipeline
from textrank.features import MultiView
from textrank.graphs import Contexts, Sequences
from textrank.io import pack_arrays, unpack_arrays
from textrank.kernels.algebra import Linear, Normalized, OnView, Sum
from textrank.kernels.graphs import AllPathsGraph, LabelBag, ShortestPathGraph
from textrank.kernels.sequences import (
    GapWeighted,
    LocalityConvolution,
    LocalityImproved,
    LocalSum,
    Positional,
    SpectrumKernel,
)
from textrank.kernels.views import EachView
from textrank.learners.rls import RLS
from textrank.linalg import ChunkedKernel
from textrank.pipeline import Pipeline
from textrank.representations.collocations import Collocations, Tags
from textrank.representations.contexts import WordPositions
from textrank.representations.mentions import Views
from textrank.representations.transformations import (
    Bag,
    CharacterNgrams,
    EqualWords,
    LogScale,
    Mixture,
    PositionTable,
    ScaleFree,
    SharedStem,
    SharedTag,
    Sided,
    Smooth,
    Strict,
    Weighting,
    Within,
    WordVectorFile,
    WordVectors,
)
from textrank.tasks.parse_features import ParseGraph, ParseSequences
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI

SIDED = Weighting(1.5, 0.05, of=Sided(0.5))
KERNELS = [
    Sum([Normalized(OnView("w", Positional(SIDED))), OnView("c", Linear())], weights=[1.0, 0.5]),
    Positional(Mixture([Bag(), Strict(), Within(3, of=Smooth())], weights=[1.0, 0.5, 0.2])),
    Positional(ScaleFree(), words=Mixture([EqualWords(), SharedStem()], weights=[1.0, 0.3])),
    Positional(LogScale(), words=SharedTag({"binds": "VBZ"})),
    Positional(Bag(), words=CharacterNgrams()),
    Positional(Bag(), words=WordVectorFile(__file__)),  # read on use
    Positional(
        PositionTable([[1.0, 0.0], [0.0, 1.0]], bins=[1]), words=WordVectors(["a"], [[1.0]])
    ),
    AllPathsGraph(combine="sum", directed=False, max_length=3, threshold=0.0, max_radius=0.5),
    Sum([ShortestPathGraph(directed=False, max_length=2), LabelBag()]),
    EachView(LocalityConvolution(), weights={"bigram": 0.5}),
    ChunkedKernel(
        Normalized(Sum([GapWeighted(), LocalSum(), SpectrumKernel(), LocalityImproved()]))
    ),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
def test_a_kernel_written_as_cfg_loads_as_an_equal_one(kernel, tmp_path: Path) -> None:
    words = Views(
        {"w": WordPositions(stop_words="en"), "c": Collocations(tags=Tags({"a": ["DT"]}))}
    )
    graphs = Views({"pair": DependencyGraph(labels=["pos"], words="stem"), "parse": ParseGraph()})
    for representation in (words, ParseSequences(types=["bigram"]), graphs):
        pipeline = Pipeline(PPI(), representation, kernel, RLS())
        (tmp_path / "own.cfg").write_text(dump_pipeline(pipeline))
        assert load_pipeline(tmp_path / "own.cfg") == pipeline


def test_something_else_in_the_place_of_a_kernel_is_named() -> None:
    with pytest.raises(ValueError, match="RLS is not a kernel"):
        Sum([Linear(), RLS()])


def test_contexts_and_sequences_are_saved_with_a_model() -> None:
    contexts = Contexts.from_lists([[("a", -1)], [("b", 2), ("a", 1)]])
    sequences = Sequences.from_lists([["x"], ["y", "x"]])
    saved = unpack_arrays(pack_arrays(MultiView({"words": contexts, "links": sequences})))
    assert [c.pairs() for c in saved.view("words")] == [c.pairs() for c in contexts]
    assert [s.symbols() for s in saved.view("links")] == [s.symbols() for s in sequences]
    np.testing.assert_array_equal(saved.view("links").starts, sequences.starts)


@pytest.mark.parametrize(
    ("pipeline", "place", "part"),
    [
        ("ppi-apg", "kernel", {"@kernels": "gaussian.v1"}),
        (
            "gene_protein",
            "kernel.kernel.kernels.words.kernel.kernel.positions",
            {"@transformations": "within.v1", "span": 5},
        ),
    ],
)
def test_parts_with_defaults_need_not_be_written(pipeline, place, part):
    assert load_pipeline(pipeline, {place: part})


def test_a_pipeline_of_views_is_the_one_spelt_out(tmp_path):
    pipeline = load_pipeline("wsd")
    (tmp_path / "spelt.cfg").write_text(dump_pipeline(pipeline))
    assert load_pipeline(tmp_path / "spelt.cfg") == pipeline
    assert pipeline.kernel.kernel.weights == {"words": 1.0, "near": 1.0, "mention": 0.25}
    short = load_pipeline("wsd", {"views.mention.weight": 2.0, "learner.minimum": 3})
    assert short.kernel.kernel.weights["mention"] == 2.0
    long = {"kernel.kernel.weights.mention": 2.0, "learner.minimum": 3}
    assert load_pipeline("wsd", long) == short
    assert load_pipeline(tmp_path / "spelt.cfg", long) == short


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (
            {"views.mention.wait": 2.0},
            "view 'mention': unknown key 'wait'; available: representation",
        ),
        ({"views.more": {"weight": 1.0}}, "view 'more' needs a representation, got None"),
        ({"vews.mention.weight": 2.0}, "no block 'vews'"),
    ],
)
def test_a_view_says_what_it_lacks(setting, words):
    with pytest.raises(ValueError, match=words):
        load_pipeline("wsd", setting)
