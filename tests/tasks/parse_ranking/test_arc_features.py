"""Features of arcs: parses of a sentence together as each alone, by plain counting."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from spacy.tokens import Doc

from textrank.candidates import Candidate
from textrank.tasks import parse_features as features
from textrank.tasks.parse_features import (
    MIN_VOTE_SHARE,
    ArcFeatures,
    ArcVotes,
    ParseSupport,
    describe_length,
)


def plainly(doc: Doc) -> Iterator[tuple[str, ...]]:
    """The names of a parse, arc by arc, as the class documents them."""
    words, tags = [t.lower_ for t in doc], [t.tag_ for t in doc]
    labels, heads = [t.dep_ for t in doc], [t.head.i for t in doc]
    for i, h in enumerate(heads):
        if i == h:
            yield from (("root", tags[i]), ("root word", words[i]))
            continue
        kind, length, above = labels[i], describe_length(i - h), heads[h]
        side = length[0]
        yield "label", kind, side
        yield "label, tags", kind, side, tags[h], tags[i]
        yield "label, length", kind, length
        yield "tags, length", tags[h], tags[i], length
        yield "label, dependent", kind, words[i]
        yield "label, head", kind, words[h]
        yield "words", words[h], words[i]
        for tag in set(tags[min(i, h) + 1 : max(i, h)]):
            yield "tags, between", tags[h], tags[i], side, tag
            yield "label, between", kind, side, tag
        yield "labels above", kind, labels[h]
        yield (
            "sides above",
            kind,
            labels[h],
            side,
            "" if above == h else describe_length(h - above)[0],
        )
        yield "tags above", kind, labels[h], tags[i], tags[h], "" if above == h else tags[above]
    for h in dict.fromkeys(h for i, h in enumerate(heads) if h != i):
        below = [i for i, head in enumerate(heads) if head == h and i != h]
        yield from (("labels beside", tags[h], labels[a], labels[b]) for a, b in pairwise(below))
        yield "dependents", tags[h], str(len(below))
        for side, own in (
            ("-", [i for i in below if i < h][::-1]),
            ("+", [i for i in below if i > h]),
        ):
            for before, i in zip([None, *own], own, strict=False):
                tag, label = ("", "") if before is None else (tags[before], labels[before])
                yield "tags inside", tags[h], tags[i], tag, side
                yield "labels inside", tags[h], labels[i], label, side


def parses(make_doc, rng, count: int) -> list[Candidate]:
    """Parses of two sentences, each with a few arcs of its own."""
    found = []
    for words in (["Raf", "binds", "the", "MEK", "of", "cells"], ["It", "may", "bind", "MEK"]):
        tags = rng.choice(["NN", "VB", "DT"], len(words)).tolist()
        for number in range(count):
            heads = [1, 1, *rng.integers(0, 2, len(words) - 2).tolist()]
            labels = rng.choice(["nsubj", "dobj", "det"], len(words)).tolist()
            doc = make_doc(words, heads, labels, [], tags)
            arcs = rng.choice([0.0, 0.25, 1.0], (len(words), 2)).astype(np.float32)
            doc.user_data["parse"] = {"arcs": arcs, "heads": arcs[:, ::-1].copy()}
            found.append(Candidate(doc, (), "d", f"{len(words)}.{number}"))
    return found


@pytest.mark.parametrize("long", [1, 64])
@pytest.mark.parametrize("seed", range(4))
def test_arcs_are_those_of_each_parse(make_doc, seed, long, monkeypatch):
    monkeypatch.setattr(
        features, "MIN_LONG_ARC_WORDS", long
    )  # where the words between are not looked at
    candidates = parses(make_doc, np.random.default_rng(seed), 5)
    together = ArcFeatures()(candidates)
    for row, candidate in zip(together, candidates, strict=True):
        found = {row.names[i]: v for i, v in zip(row.values.indices, row.values.data, strict=True)}
        root = len(candidate.doc) ** 0.5
        assert found == pytest.approx(
            {n: c / root for n, c in Counter(plainly(candidate.doc)).items()}
        )


def test_long_arcs_do_not_look_at_every_word_between(make_doc):
    size = 3000
    doc = make_doc(["x"] * size, [0] * size, ["ROOT", *["dep"] * (size - 1)], [], ["NN"] * size)
    tracemalloc.start()
    found = ArcFeatures()([Candidate(doc, (), "d")])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    row = dict(zip(found.names, found.values.toarray()[0], strict=True))
    assert row["label, between", "dep", "+", "NN"] == pytest.approx((size - 2) / size**0.5)
    assert peak < size * size  # bytes, where the words between all ends are millions of numbers


@pytest.mark.parametrize("seed", range(4))
def test_votes_together_are_votes_alone(make_doc, seed):
    candidates = parses(make_doc, np.random.default_rng(seed), 5)
    together = ArcVotes()(candidates)
    for i, candidate in enumerate(candidates):
        alone = ArcVotes()([candidate])
        np.testing.assert_allclose(
            alone.align_to(together.names).toarray(), together.values[[i]].toarray(), atol=1e-12
        )
        assert alone.values.data.sum() == pytest.approx(6 * len(candidate.doc) ** 0.5)


def test_parses_by_one_parser_beside_those_by_two_are_as_alone(make_doc):
    candidates = parses(make_doc, np.random.default_rng(0), 4)
    for candidate in candidates[::2]:
        known = candidate.doc.user_data["parse"]
        known.update({name: known[name][:, :1] for name in ("arcs", "heads")})
    together = ArcVotes()(candidates)
    for i, candidate in enumerate(candidates):
        alone = ArcVotes()([candidate])
        row = together.values[[i]].toarray()
        np.testing.assert_allclose(alone.align_to(together.names).toarray(), row, atol=1e-12)
        assert alone.values.data.sum() == pytest.approx(row.sum())


def test_support_together_is_support_by_plain_means(make_doc):
    candidates = parses(make_doc, np.random.default_rng(0), 3)
    for number, candidate in enumerate(candidates):
        rest = {"own": number == 0, "votes": 0.5, "consensus": 0.1, "attachment": 0.2}
        more = {"by": [0.25, 0.75], "spans": [True, False, number == 1]}
        candidate.doc.user_data["parse"].update({**rest, **more})
    together = ParseSupport()(candidates)
    for row, candidate in zip(together, candidates, strict=True):
        found = dict(zip(row.names, row.values.toarray()[0], strict=True))
        known = candidate.doc.user_data["parse"]
        arcs, heads = known["arcs"].astype(float), known["heads"].astype(float)
        doubt = np.log(np.maximum(arcs.mean(axis=1), MIN_VOTE_SHARE)).mean()
        assert found["doubt",] == pytest.approx(doubt, rel=1e-6)
        assert found["consensus", "parser 2"] == pytest.approx(arcs[:, 1].mean(), rel=1e-6)
        assert found["attachment", "parser 1"] == pytest.approx(heads[:, 0].mean(), rel=1e-6)
        assert found["votes", "parser 2"] == 0.75
        assert found["spanning", "parser 2"] == known["spans"][2]


def test_lower_case_words_do_not_depend_on_lemmas(make_doc):
    words, heads, labels = ["p53", "Binds", "DNA"], [1, 1, 1], ["nsubj", "ROOT", "dobj"]
    plain = make_doc(words, heads=heads, deps=labels)
    lemmatized = Doc(
        plain.vocab, words=words, heads=heads, deps=labels, lemmas=["p53", "bind", "dna"]
    )
    lemmatized.user_data.update(plain.user_data)
    names = [set(ArcFeatures()([Candidate(doc, (), "d0")]).names) for doc in (plain, lemmatized)]
    assert names[0] == names[1]
