"""Word n-grams around a target."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from textrank.candidates import Candidate
from textrank.kernels.algebra import Linear, Normalized
from textrank.representations.collocations import (
    Collocations,
    Tags,
    frequent_names,
    load_lexicon,
    tag_lexicon,
    write_lexicon,
)
from textrank.testing import check_kernel

LEXICON = {"the": ["DT"], "gene": ["NN"], "binds": ["VBZ", "NNS"], ".": ["."]}


@pytest.fixture
def candidate(make_doc):
    doc = make_doc(
        ["Then", "the", "Fas", "gene", "binds", "12A", ".", "It", "ends"], entities=[(2, 3)]
    )
    for token in doc:
        token.is_sent_start = token.i in (0, 7)
    return Candidate(doc, (doc.spans["entities"][0],), "d0")


def told(candidate, **settings):
    features = Collocations(**{"glued": False, **settings})([candidate])
    row = features.values.toarray()[0]
    return {name: value for name, value in zip(features.names, row, strict=True) if value}


def test_ngrams_hold_their_words_in_lower_case_with_their_offsets(candidate):
    got = told(candidate, ngrams=[[-1], [-1, 1], [1, 2, 3]])
    assert got == {
        ("-1", "the"): 1.0,
        ("-1 +1", "the", "gene"): 1.0,
        ("+1 +2 +3", "gene", "binds", "12a"): 1.0,
    }


def test_beyond_the_document_or_the_sentence_stands_a_mark(candidate):
    assert ("-3", "<>") in told(candidate, ngrams=[[-3]])
    assert ("+5", "it") in told(candidate, ngrams=[[5]])
    assert ("+5", "<>") in told(candidate, ngrams=[[5]], bounds="sentence")


def test_docs_of_several_vocabularies_are_read_together():
    """Two corpora are read with a vocabulary each; a word is a key that only its own knows."""
    candidates = []
    for number, words in enumerate((["Before", "Fas", "after"], ["Behind", "Jun", "ahead"])):
        doc = Doc(spacy.blank("en").vocab, words=words, sent_starts=[True, False, False])
        candidates.append(Candidate(doc, (doc[1:2],), f"d{number}"))
    collocations = Collocations(ngrams=[[-1], [1]])
    both = collocations(candidates)
    for row, candidate in enumerate(candidates):
        seen = {both.names[j] for j in both.values[[row]].indices}
        assert seen == set(collocations([candidate]).names)


def test_longer_ngrams_may_weigh_less(candidate):
    got = told(candidate, ngrams=[[1], [1, 2], [1, 2, 3]], weights=[1.0, 0.7])
    assert list(got.values()) == [1.0, 0.7, 0.7]


def test_tags_come_from_the_lexicon_and_unknown_words_from_their_ending(candidate):
    got = told(candidate, ngrams=[[-2, -1], [2]], tags=Tags(LEXICON, weight=0.5))
    assert got == {
        ("-2 -1", "then", "the"): 1.0,
        ("-2 -1 tag", "-hen", "DT"): 0.5,
        ("-2 -1 mixed 0", "then", "DT"): 0.5,
        ("-2 -1 mixed 1", "-hen", "the"): 0.5,
        ("+2", "binds"): 1.0,
        ("+2 tag", "VBZ"): 0.5,
        ("+2 class", "NNS VBZ"): 0.5,
    }


def test_tags_may_come_from_the_doc(make_doc):
    doc = make_doc(["X", "runs"], tags=["NN", "VBZ"], entities=[(0, 1)])
    candidate = Candidate(doc, (doc.spans["entities"][0],), "d")
    assert ("+1 tag", "VBZ") in told(candidate, ngrams=[[1]], tags=Tags())


def test_endings_and_collapsed_digits(candidate):
    got = told(candidate, ngrams=[[3]], endings=[1], digits="collapse")
    assert got == {("+3", "#a"): 1.0, ("+1 ending", "ene"): 0.5}


def test_a_target_that_touches_its_neighbour_is_glued(make_doc):
    import spacy
    from spacy.tokens import Doc

    doc = Doc(
        spacy.blank("en").vocab, words=["IL-2", "-dependent", "x"], spaces=[False, True, False]
    )
    candidate = Candidate(doc, (doc[0:1],), "d")
    got = told(candidate, ngrams=[[1]], glued=True)
    assert ("glued after", "-dependent") in got
    assert ("glued after",) in got
    assert ("glued before",) not in got


def test_only_known_features_are_told_and_every_candidate_keeps_its_row(candidate):
    everything = Collocations()([candidate, candidate])
    known = [("-1", "the"), ("never", "seen")]
    features = Collocations(known=known)([candidate, candidate])
    assert list(features.names) == known
    assert features.values.toarray().tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert len(frequent_names(everything, 2)) == len(everything.names)
    assert frequent_names(everything, 3) == []


def test_a_linear_kernel_goes_on_top(candidate, make_doc):
    doc = make_doc(["the", "Fas", "gene"], entities=[(1, 2)])
    other = Candidate(doc, (doc.spans["entities"][0],), "d1")
    X = Collocations()([candidate, other])
    check_kernel(Normalized(Linear()), X)
    assert np.isclose(Linear()(X)[0, 1], 4.0)  # -1 the, +1 gene, -1 +1 the gene, -3 <>
    assert len(Collocations()([])) == 0


def test_a_lexicon_keeps_frequent_tags_in_order():
    tagged = [("a", "X")] * 2 + [("a", "Y")] * 17 + [("a", "Z")]
    assert tag_lexicon(tagged) == {"a": ["Y", "X"]}


def test_a_line_of_a_lexicon_without_tags_is_named(tmp_path):
    path = tmp_path / "lexicon.tsv"
    path.write_text("a\tDT\nthe\t \n")
    with pytest.raises(ValueError, match=r"lexicon\.tsv, line 2: .* tags"):
        load_lexicon(str(path))
    with pytest.raises(ValueError, match="'the' has no tags"):
        write_lexicon({"a": ["DT"], "the": []}, path)
    with pytest.raises(ValueError, match="'the' has no tags"):
        Tags({"a": ["DT"], "the": []})


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"ngrams": [[0]]}, "0, the target itself"),
        ({"ngrams": [[]]}, "must not be empty"),
        ({"weights": []}, "weights must be positive"),
        ({"bounds": "page"}, "'document' or 'sentence'"),
        ({"digits": "drop"}, "'keep' or 'collapse'"),
    ],
)
def test_wrong_settings_fail_with_their_value(setting, words):
    with pytest.raises(ValueError, match=words):
        Collocations(**setting)


def _plain(c, settings):
    """The names and values of one candidate, in plain loops."""
    doc, target, lexicon = c.doc, c.spans[0], settings.tags and settings.tags.words()
    low, high = 0, len(doc)
    if settings.bounds == "sentence":
        low, high = target.sent.start, doc[target.end - 1].sent.end

    def at(offset):
        i = target.start + offset if offset < 0 else target.end + offset - 1
        return doc[i] if low <= i < high else None

    def word(offset):
        lower = "<>" if at(offset) is None else at(offset).lower_
        return re.sub(r"\d+", "#", lower) if settings.digits == "collapse" else lower

    def tag(offset):
        if at(offset) is None or lexicon is None:
            return "<>" if at(offset) is None else at(offset).tag_
        return lexicon[word(offset)][0] if word(offset) in lexicon else f"-{word(offset)[-3:]}"

    found = {}
    for own in settings.ngrams:
        where = " ".join(f"{o:+d}" for o in own)
        value = settings.weights[min(len(own), len(settings.weights)) - 1]
        found[where, *map(word, own)] = value
        if settings.tags is None:
            continue
        value *= settings.tags.weight
        found[f"{where} tag", *map(tag, own)] = value
        if settings.tags.mixed and 2 <= len(own) <= 3:
            for i in range(len(own)):
                parts = [word(o) if n == i else tag(o) for n, o in enumerate(own)]
                found[f"{where} mixed {i}", *parts] = value
        if len(own) == 1 and lexicon is not None:
            kinds = lexicon.get(word(own[0]), [tag(own[0])])
            found[f"{where} class", " ".join(sorted(kinds))] = value
    for offset in settings.endings:
        found[f"{offset:+d} ending", word(offset)[-3:]] = settings.ending_weight
    if settings.glued:
        for name, offset, left in (("before", -1, at(-1)), ("after", 1, doc[target.end - 1])):
            if at(offset) is not None and not left.whitespace_:
                found[f"glued {name}",] = found[f"glued {name}", word(offset)] = 1.0
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "settings",
    [
        Collocations(),
        Collocations(bounds="sentence", tags=Tags(weight=0.5), weights=(1.0, 0.7)),
        Collocations(
            bounds="sentence", glued=False, digits="collapse", endings=(-2, 1, 4),
            ngrams=((-1,), (1, 2), (-1,)),
            tags=Tags({"a": ["DT", "NN"], "b#": ["VB"], "<>": ["X"]}, mixed=True),
        ),
    ],
)  # fmt: skip
def test_all_candidates_at_once_have_the_features_of_plain_loops(settings, seed):
    rng = np.random.default_rng(seed)
    nlp = spacy.blank("en")
    candidates = []
    for _ in range(4):
        n = int(rng.integers(1, 20))
        words = rng.choice(["a", "B12", "c7d", ".", "Xyz", "<>"], n).tolist()
        doc = Doc(
            nlp.vocab, words=words, spaces=(rng.random(n) < 0.6).tolist(),
            tags=rng.choice(["T", "U"], n).tolist(),
            sent_starts=[i == 0 or bool(rng.random() < 0.2) for i in range(n)],
        )  # fmt: skip
        for _ in range(3):
            start, end = sorted(rng.choice(n + 1, 2, replace=False).tolist())
            candidates.append(Candidate(doc, (doc[start:end],), "d"))
    found = settings(candidates)
    plain = [_plain(c, settings) for c in candidates]
    assert list(found.names) == list(dict.fromkeys(name for own in plain for name in own))
    table = found.values.toarray()
    for row, own in zip(table, plain, strict=True):
        told = {found.names[i]: row[i] for i in np.flatnonzero(row)}
        assert told == pytest.approx(own)
    some = list(found.names)[::2]
    known = replace(settings, known=some)(candidates)
    np.testing.assert_array_equal(known.values.toarray(), table[:, ::2])
