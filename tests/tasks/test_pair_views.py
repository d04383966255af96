"""PairViews: the same as its blocks one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from textrank.docs import Candidate
from textrank.kernels.algebra import Gaussian, Normalized
from textrank.kernels.all_paths import AllPathsGraph
from textrank.kernels.vectors import Linear
from textrank.representations.pairs.dependency_graph import DependencyGraph
from textrank.representations.pairs.descriptors import PairDescriptors
from textrank.representations.pairs.global_context import GlobalContext
from textrank.representations.pairs.local_context import LocalContext
from textrank.representations.pairs.path_walks import PathWalks
from textrank.representations.pairs.side_words import SideWords
from textrank.representations.pairs.trigger_roles import TriggerRoles
from textrank.tasks.pair_views import PairViews
from textrank.types import Features


@pytest.fixture
def candidates(make_doc) -> list[Candidate]:
    doc = make_doc(
        ["Raf", "binds", "to", "MEK", "and", "ERK"],
        [1, 1, 1, 2, 3, 3],
        ["nsubj", "ROOT", "prep", "pobj", "cc", "conj"],
        [(0, 1), (3, 4), (5, 6)],
        ["NN", "VBZ", "IN", "NN", "CC", "NN"],
    )
    return [Candidate(doc, pair, "d0") for pair in combinations(doc.spans["entities"], 2)]


@pytest.mark.parametrize("parse", ["spacy", "collapsed", "own"])
def test_views_equal_their_blocks(candidates, parse):
    blocks = {
        "path": PathWalks(parse=parse),
        "triggers": TriggerRoles(parse=parse),
        "words": SideWords(parse=parse),
        "global_context": GlobalContext(parse=parse),
        "local_context": LocalContext(parse=parse),
        "basic": PairDescriptors(parse=parse, which="basic", name_equality=False),
        "position": PairDescriptors(parse=parse, which="position", name_equality=False),
        "relation": PairDescriptors(parse=parse, name_equality=False),
    }
    seen = PairViews(parse=parse, name_equality=False)(candidates)
    for name, block in blocks.items():
        alone = block(candidates)
        if not isinstance(block, PairDescriptors):
            alone = Normalized(Linear(), empty="zero").features(alone)
        assert list(seen.view(name).names) == list(alone.names)
        np.testing.assert_array_equal(seen.view(name).values.toarray(), alone.values.toarray())
    for name, part in (("dependencies", "dependency"),):
        graphs = DependencyGraph(words="stem", parts=[part], parse=parse)(candidates)
        expected = Normalized(AllPathsGraph()).features(graphs)
        np.testing.assert_array_equal(
            seen.view(name).onto(expected.names).toarray(), expected.values.toarray()
        )


@pytest.mark.parametrize("counted", [True, False])
def test_widths_follow_the_number_of_descriptors(candidates, counted):
    """The mean of squared differences, however many descriptors are left in."""
    settings = {"parse": "spacy", "entity_counts": counted}
    plain, mean = (PairViews(**settings, averaged=own)(candidates) for own in (False, True))
    for name in ("basic", "position", "relation"):
        values = plain.view(name).values.toarray()
        expected = np.exp(-0.5 * ((values[:, None] - values[None]) ** 2).mean(axis=2))
        np.testing.assert_allclose(Gaussian(0.5)(mean.view(name)), expected, atol=1e-12)
    assert set(mean.views) == set(plain.views)


def test_collapsed_paths_are_shorter(candidates):
    tree, graph = (
        set(PairViews(parse=parse)(candidates).view("path").names)
        for parse in ("spacy", "collapsed")
    )
    assert ("path of dependencies", "nsubj<", "prep>", "pobj>") in tree
    assert ("path of dependencies", "nsubj<", "prep_to>") in graph


@pytest.fixture
def parsed_twice(candidates) -> list[Candidate]:
    doc = candidates[0].doc
    doc.user_data["dependencies"] = [[1, 0, "nsubj"], [1, 3, "dobj"], [1, 5, "dobj"]]
    yield candidates
    del doc.user_data["dependencies"]


def test_both_parses_give_the_mean_of_each(parsed_twice):
    given, own, both = (
        PairViews(parse=parse)(parsed_twice) for parse in ("collapsed", "own", "both")
    )
    for name in ("dependencies", "path", "triggers"):
        one, other = (Linear()(views.view(name)) for views in (given, own))
        np.testing.assert_allclose(Linear()(both.view(name)), (one + other) / 2, atol=1e-12)
        assert not np.allclose(one, other)
    for name in ("basic", "position", "relation"):
        one, other = (Gaussian(0.1)(views.view(name)) for views in (given, own))
        found = Gaussian(0.1)(both.view(name))
        np.testing.assert_allclose(found, np.sqrt(one * other), atol=1e-12)
    for name in ("words", "global_context", "local_context"):
        assert list(both.view(name).names) == list(given.view(name).names)
    assert ("given", "path of dependencies", "nsubj<", "dobj>") in set(both.view("path").names)
    assert ("own", "path of dependencies", "nsubj<", "prep_to>") in set(both.view("path").names)


def test_a_single_parse_stands_for_both(candidates):
    one, both = (PairViews(parse=parse)(candidates) for parse in ("collapsed", "both"))
    for name, view in one.views.items():
        np.testing.assert_allclose(Linear()(both.view(name)), Linear()(view), atol=1e-12)
    for name in ("dependencies", "path", "relation"):
        half = one.view(name).scaled(0.5**0.5)
        expected, found = Features.beside({"given": half, "own": half}), both.view(name)
        assert list(found.names) == list(expected.names)
        np.testing.assert_array_equal(found.values.toarray(), expected.values.toarray())


def test_an_unknown_parse_is_refused():
    with pytest.raises(ValueError, match="'neither' is not known"):
        PairViews(parse="neither")
