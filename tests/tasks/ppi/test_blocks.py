"""The blocks of features of a pair: walks, triggers, words and contexts."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest

from tests.tasks.ppi import plain_blocks
from tests.tasks.ppi.pair_docs import hand_made_pairs, random_pairs
from tests.tasks.ppi.plain_pairs import PlainPair, plain_pairs
from textrank.candidates import Candidate
from textrank.features import Features
from textrank.tasks.ppi.blocks import (
    EventRoles,
    GlobalContext,
    LocalContext,
    PathWalks,
    SideWords,
    TriggerRoles,
)
from textrank.tasks.ppi.descriptors import PairDescriptors
from textrank.tasks.ppi.pairs import analyze_pairs

BLOCKS = (
    PathWalks(),
    TriggerRoles(),
    EventRoles(),
    SideWords(),
    GlobalContext(),
    LocalContext(),
    PairDescriptors(),
)


def row(features: Features, index: int) -> dict[tuple[str, ...], float]:
    values = features.values.toarray()[index]
    return {features.names[j]: float(v) for j, v in enumerate(values) if v}


def test_the_path_leads_over_the_verb(make_doc):
    first, second, third = plain_pairs(analyze_pairs(hand_made_pairs(make_doc), "auto"))
    assert first.path == [0, 1, 2]
    assert [link.mark for link in first.links] == ["nsubj<", "dobj>"]
    assert first.words == ["PROT1", "bind", "PROT2", "but", "not", "PROT", "PROT"]
    assert second.path == [0, 1, 5]
    assert third.sides == {"before": [0, 1], "middle": [3, 4], "after": []}


@pytest.mark.parametrize("seed", range(20))
def test_the_path_is_a_shortest_one_between_the_closest_tokens(make_doc, seed):
    candidates = random_pairs(make_doc, np.random.default_rng(seed))
    graph = nx.Graph([(t.i, t.head.i) for t in candidates[0].doc])
    length = dict(nx.all_pairs_shortest_path_length(graph))
    for pair in plain_pairs(analyze_pairs(candidates, "spacy")):
        assert pair.distance == min(length[s][t] for s in pair.first for t in pair.second)
        assert len(pair.links) == pair.distance
        assert pair.path[0] in pair.first
        assert pair.path[-1] in pair.second
        assert all(graph.has_edge(a, b) for a, b in zip(pair.path, pair.path[1:], strict=False))


def test_a_pair_without_a_path_says_so(make_doc):
    doc = make_doc(["A", "B"], entities=[(0, 1), (1, 2)], tags=["NN", "NN"])
    doc[0].is_sent_start, doc[1].is_sent_start = True, False
    doc.user_data["dependencies"] = []
    candidates = [Candidate(doc, tuple(doc.spans["entities"]), "d0")]
    assert row(PathWalks()(candidates), 0) == {("length", "none"): 1.0}
    assert row(PairDescriptors()(candidates), 0)[("no path",)] > 0
    assert ("length of path", "none") in row(TriggerRoles()(candidates), 0)


def test_walks_equal_a_plain_enumeration(make_doc):
    expected = Counter(
        [
            ("length", "2"),
            ("walk of words", "PROT1", "nsubj<", "bind"),
            ("walk of words", "nsubj<", "bind", "dobj>"),
            ("walk of words", "bind", "dobj>", "PROT2"),
            ("walk of words", "PROT1", "nsubj<", "bind", "dobj>", "PROT2"),
            ("walk of tags", "NN", "nsubj<", "VB"),
            ("walk of tags", "nsubj<", "VB", "dobj>"),
            ("walk of tags", "VB", "dobj>", "NN"),
            ("path of words", "PROT1", "bind", "PROT2"),
            ("path of tags", "NN", "VB", "NN"),
            ("path of dependencies", "nsubj<", "dobj>"),
            ("word", "bind"),
            ("dependency", "nsubj<"),
            ("dependency", "dobj>"),
            ("beside", "bind", "cc", "but"),
            ("beside", "cc", "but"),
            ("beside", "bind", "conj_but", "PROT"),
            ("beside", "conj_but", "PROT"),
        ]
    )
    assert row(PathWalks()(hand_made_pairs(make_doc)), 0) == expected


def test_trigger_roles_of_a_simple_sentence(make_doc):
    found = row(TriggerRoles()(hand_made_pairs(make_doc)), 2)  # JAK2 but not IL 2
    assert set(found.values()) == {1.0}
    assert ("trigger", "before", "bind") in found
    assert ("trigger", "path", "bind") in found
    assert ("middle", "but", "not") in found
    assert ("pattern", "1n2") in found
    assert ("previous", "bind") in found
    assert ("next", "end") in found
    assert ("top", "bind", "VB") in found
    assert not any(name[:2] == ("trigger", "middle") for name in found)


def test_words_are_counted_by_side(make_doc):
    assert row(SideWords()(hand_made_pairs(make_doc)), 2) == {
        ("before", "PROT"): 1,
        ("before", "bind"): 1,
        ("middle", "but"): 1,
        ("middle", "not"): 1,
    }


@pytest.mark.parametrize("seed", range(5))
def test_global_context_equals_plain_loops(make_doc, seed):
    candidates = random_pairs(make_doc, np.random.default_rng(seed))
    block = GlobalContext(longest=2, outer=2, inner=3)
    features = block(candidates)
    for i, pair in enumerate(plain_pairs(analyze_pairs(candidates, "auto"))):
        assert row(features, i) == _global_context(pair, 2, 2, 3)


def _global_context(pair: PlainPair, longest: int, outer: int, inner: int) -> dict:
    sides = {}
    for side, tokens in pair.sides.items():
        sides[side] = []
        for token in tokens:
            word = pair.words[token]
            if word != "PROT" or not sides[side] or sides[side][-1] != "PROT":
                sides[side].append(word)
    between = ["PROT1", *sides["middle"][:inner], "PROT2"]
    counts: dict[tuple[str, ...], float] = {}
    windows = {
        "fore": sides["before"][-outer:] + between,
        "between": between,
        "after": between + sides["after"][:outer],
    }
    for name, words in windows.items():
        for size in range(1, longest + 1):
            for start in range(len(words)):
                if start + size <= len(words):
                    key = (name, *words[start : start + size])
                    counts[key] = counts.get(key, 0) + 1
    return counts


def test_local_context_marks_offsets(make_doc):
    found = row(LocalContext(width=1)(hand_made_pairs(make_doc)), 0)
    assert found == {
        ("PROT1", "word", "1", "bind"): 1,
        ("PROT1", "word", "bind"): 1,
        ("PROT1", "tag", "1", "VBZ"): 1,
        ("PROT1", "tag", "VBZ"): 1,
        ("PROT2", "word", "-1", "bind"): 1,
        ("PROT2", "word", "1", "but"): 1,
        ("PROT2", "word", "bind"): 1,
        ("PROT2", "word", "but"): 1,
        ("PROT2", "tag", "-1", "VBZ"): 1,
        ("PROT2", "tag", "1", "CC"): 1,
        ("PROT2", "tag", "VBZ"): 1,
        ("PROT2", "tag", "CC"): 1,
    }


def test_event_roles_are_equal_for_words_of_one_class(make_doc):
    doc = hand_made_pairs(make_doc)[0].doc
    rows = []
    for verb in ("binds", "docks", "moves"):
        words = [verb if token.i == 1 else token.text for token in doc]
        heads, labels = [t.head.i for t in doc], [t.dep_ for t in doc]
        changed = make_doc(words, heads, labels, [(0, 1), (2, 3), (5, 7)], [t.tag_ for t in doc])
        spans = changed.spans["entities"]
        rows.append(row(EventRoles()([Candidate(changed, (spans[0], spans[1]), "d")]), 0))
    assert rows[0] == rows[1] != rows[2]
    assert rows[0] == dict.fromkeys(
        [
            ("side", "middle", "binding"),
            ("path", "binding"),
            ("top", "binding"),
            ("top between", "binding", "nsubj<", "dobj>"),
            ("walk", "PROT1", "nsubj<", "binding"),
            ("walk", "nsubj<", "binding", "dobj>"),
            ("walk", "binding", "dobj>", "PROT2"),
        ],
        1.0,
    )


@pytest.mark.parametrize(
    ("block", "plain"),
    [
        (PathWalks(), plain_blocks.walks),
        (TriggerRoles(), plain_blocks.roles),
        (EventRoles(), plain_blocks.events),
        (SideWords(), plain_blocks.words),
        (GlobalContext(), plain_blocks.runs),
        (LocalContext(), plain_blocks.neighbours),
    ],
    ids=lambda part: getattr(part, "__name__", type(part).__name__),
)
@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_several_sentences_at_once_are_as_each_alone(make_doc, block, plain, seed):
    rng = np.random.default_rng(seed)
    candidates = [c for _ in range(6) for c in random_pairs(make_doc, rng)]
    candidates = [candidates[i] for i in rng.permutation(len(candidates))]
    features = block(candidates)
    for i, pair in enumerate(plain_pairs(analyze_pairs(candidates, "auto"))):
        assert row(features, i) == dict(plain(pair))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_one_row_a_candidate_whatever_their_order(make_doc, block):
    rng = np.random.default_rng(4)
    candidates = random_pairs(make_doc, rng) + random_pairs(make_doc, rng)
    order = rng.permutation(len(candidates))
    features, moved = block(candidates), block([candidates[i] for i in order])
    np.testing.assert_allclose(
        moved.align_to(features.names).toarray(), features.values.toarray()[order]
    )


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_names_of_the_entities_do_not_matter(make_doc, block):
    if isinstance(block, PairDescriptors):
        block = PairDescriptors(name_equality=False)
    doc = hand_made_pairs(make_doc)[0].doc
    renamed = make_doc(
        ["Grb2", "binds", "Sos1", "but", "not", "Raf", "1"],
        [t.head.i for t in doc],
        [t.dep_ for t in doc],
        [(0, 1), (2, 3), (5, 7)],
        [t.tag_ for t in doc],
    )
    spans = renamed.spans["entities"]
    pairs = [(0, 1), (0, 2), (1, 2)]
    others = [Candidate(renamed, (spans[i], spans[j]), "d1") for i, j in pairs]
    features = block(hand_made_pairs(make_doc))
    np.testing.assert_array_equal(
        block(others).align_to(features.names).toarray(), features.values.toarray()
    )


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_no_candidates_give_no_rows(block):
    assert len(block([])) == 0


def test_a_candidate_that_is_no_pair_is_named(make_doc):
    candidate = hand_made_pairs(make_doc)[0]
    single = Candidate(candidate.doc, candidate.spans[:1], "d7")
    with pytest.raises(ValueError, match="candidate 1 of document 'd7' has 1 spans"):
        PathWalks()([candidate, single])


def test_bags_become_columns_of_equal_names():
    features = Features.from_dicts([{("a",): 1.0}, {("b",): 2.0, ("a",): 3.0}, {}])
    np.testing.assert_array_equal(features.values.toarray(), [[1, 0], [3, 2], [0, 0]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PathWalks(parse="stanford"), "parse: 'stanford' is not available"),
        (lambda: GlobalContext(longest=0), "longest must be at least 1, got 0"),
        (lambda: LocalContext(width=0), "width must be at least 1, got 0"),
        (lambda: PairDescriptors(which="most"), "which: 'most' is not available"),
    ],
)
def test_wrong_settings_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
