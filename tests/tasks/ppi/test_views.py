"""PairViews: the same as its blocks one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate
from textrank.features import Features
from textrank.kernels.algebra import Gaussian, Linear, Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.language.normalization import RETOKENIZED_KEY, store_retokenized, word_doc
from textrank.tasks.ppi.blocks import (
    EventRoles,
    GlobalContext,
    LocalContext,
    PathWalks,
    SideWords,
    TriggerRoles,
)
from textrank.tasks.ppi.descriptors import PairDescriptors
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI
from textrank.tasks.ppi.views import PairViews


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
        "events": EventRoles(parse=parse),
        "words": SideWords(parse=parse),
        "global_context": GlobalContext(parse=parse),
        "local_context": LocalContext(parse=parse),
        "basic": PairDescriptors(parse=parse, which="basic", name_equality=False),
        "position": PairDescriptors(parse=parse, which="position", name_equality=False),
        "relation": PairDescriptors(parse=parse, name_equality=False),
    }
    seen = PairViews(parse=parse, name_equality=False, events=True)(candidates)
    assert "events" not in PairViews(parse=parse)(candidates).views
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
            seen.view(name).align_to(expected.names).toarray(), expected.values.toarray()
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


@pytest.fixture
def read_again(parsed_twice, make_doc) -> tuple[list[Candidate], list[Candidate]]:
    """Candidates with another reading of their text, and the same ones in it."""
    doc = parsed_twice[0].doc
    own = make_doc(
        ["Raf", "binds", "to", "MEK", "and", "ERK"],
        [1, 1, 1, 2, 5, 1],
        ["nsubj", "ROOT", "prep", "pobj", "cc", "dobj"],
        [(0, 1), (3, 4), (5, 6)],
        ["NN", "VBZ", "TO", "NN", "CC", "NN"],
    )
    here, there = named(doc), named(own)
    store_retokenized(doc, own)
    yield here, there
    del doc.user_data[RETOKENIZED_KEY]


def named(doc: Doc) -> list[Candidate]:
    """The pairs of a Doc whose names have ids, as readers give them."""
    doc.spans["entities"] = [
        Span(doc, span.start, span.end, label="protein", span_id=f"e{number}")
        for number, span in enumerate(doc.spans["entities"])
    ]
    return [Candidate(doc, pair, "d0") for pair in combinations(doc.spans["entities"], 2)]


def test_all_readings_give_the_mean_of_each(read_again):
    here, there = read_again
    each = [PairViews(parse="collapsed")(here), PairViews(parse="own")(here)]
    each.append(PairViews(parse="own")(there))
    found = PairViews(parse="all")(here)
    for name in ("dependencies", "path", "triggers", "words", "global_context", "local_context"):
        grams = [Linear()(views.view(name)) for views in each]
        np.testing.assert_allclose(Linear()(found.view(name)), np.mean(grams, axis=0), atol=1e-12)
    for name in ("basic", "position", "relation"):
        bells = [Gaussian(0.1)(views.view(name)) for views in each]
        expected = np.prod(bells, axis=0) ** (1 / 3)
        np.testing.assert_allclose(Gaussian(0.1)(found.view(name)), expected, atol=1e-12)
    assert ("words", "path of dependencies", "nsubj<", "dobj>") in set(found.view("path").names)


def test_a_pair_without_words_in_the_second_reading_stays_where_it_is(read_again):
    here, _ = read_again
    here[0].doc.user_data[RETOKENIZED_KEY]["names"].pop()  # ERK
    found, own = (PairViews(parse=parse)(here).view("path") for parse in ("all", "own"))
    moved, stayed = (
        {name[1:] for name in names_of(found, row) if name[0] == "words"} for row in (0, 2)
    )
    assert stayed == names_of(own, 2)
    assert moved != names_of(own, 0)


def names_of(features: Features, row: int) -> set[tuple[str, ...]]:
    return {features.names[i] for i in features.values[[row]].nonzero()[1]}


@pytest.mark.parametrize(("parse", "names"), [("both", 2), ("all", 3)])
def test_a_single_parse_stands_for_several(candidates, parse, names):
    one, several = (PairViews(parse=own)(candidates) for own in ("collapsed", parse))
    share = one.view("path").scale(names**-0.5)
    prefixes = ("given", "own", "words")[:names]
    expected, found = Features.hstack(dict.fromkeys(prefixes, share)), several.view("path")
    assert list(found.names) == list(expected.names)
    np.testing.assert_array_equal(found.values.toarray(), expected.values.toarray())


def test_a_single_parse_stands_for_both(candidates):
    one, both = (PairViews(parse=parse)(candidates) for parse in ("collapsed", "both"))
    for name, view in one.views.items():
        np.testing.assert_allclose(Linear()(both.view(name)), Linear()(view), atol=1e-12)
    for name in ("dependencies", "path", "relation"):
        half = one.view(name).scale(0.5**0.5)
        expected, found = Features.hstack({"given": half, "own": half}), both.view(name)
        assert list(found.names) == list(expected.names)
        np.testing.assert_array_equal(found.values.toarray(), expected.values.toarray())


def test_an_unknown_parse_is_refused():
    with pytest.raises(ValueError, match="'neither' is not available"):
        PairViews(parse="neither")


def test_pairs_between_white_space_are_those_of_words_alone(make_doc):
    """Such a Doc is not copied: a sentence is read from its first word to its last."""
    words = ["\n", "Raf", "binds", "MEK", "and", "frees", "ERK", "\n", "\n"]
    doc = make_doc(
        words,
        [2, 2, 2, 2, 2, 2, 5, 6, 6],
        ["dep", "nsubj", "ROOT", "dobj", "cc", "conj", "dobj", "dep", "dep"],
        [(1, 2), (3, 4), (6, 7)],
        ["_SP", "NN", "VBZ", "NN", "CC", "VBZ", "NN", "_SP", "_SP"],
    )
    here, there = PPI().candidates(doc), PPI().candidates(word_doc(doc))
    assert [c.doc is doc for c in here] == [True] * 3
    ours, theirs = (PairViews(parse="own")(found) for found in (here, there))
    for name, view in ours.views.items():
        np.testing.assert_array_equal(
            view.values.toarray(), theirs.views[name].align_to(view.names).toarray()
        )
        assert set(view.names) == set(theirs.views[name].names)


def test_a_name_may_hold_the_white_space_after_it(make_doc):
    """Candidates of one's own, not those of the task, which copies such a text."""
    names = [(0, 1), (2, 4)]
    doc = make_doc(
        ["Raf", "binds", "MEK", "\n", "\n"],
        [1, 1, 1, 2, 2],
        ["nsubj", "ROOT", "dobj", "dep", "dep"],
        names,
        ["NN", "VBZ", "NN", "_SP", "_SP"],
    )
    found = PairViews(parse="own")([Candidate(doc, tuple(doc.spans["entities"]), "d0")])
    assert len(found) == 1
