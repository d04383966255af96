"""Transformations of positions and words against their formulas in plain Python."""

from __future__ import annotations

import gzip
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textrank.graphs import Contexts, learn_transformation, needs_learning, pivoted_cholesky
from textrank.representations.transformations import (
    Bag,
    CharacterNgrams,
    EqualWords,
    LearnedPositions,
    LearnedWords,
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
    bin_positions,
    learn_positions,
    learn_word_vectors,
    most_frequent_tags,
)

few = settings(max_examples=25, deadline=None)
EXACT = tuple(range(1, 61))


def u(p, decay, base):
    return 1 / max(abs(p), 1) ** decay + base


def side(p, q):
    return (p > 0) == (q > 0) and (p < 0) == (q < 0)


def smooth(p, q):
    return math.exp(-0.1 * (p - q) ** 2)


def scale_free(p, q):
    return math.exp(-0.3 * (math.sqrt(abs(p)) - math.sqrt(abs(q))) ** 2) * (
        1 if side(p, q) else 0.2
    )


def log_scale(p, q):
    logs = [math.log(max(abs(x), 1)) for x in (p, q)]
    return math.exp(-1.0 * (logs[0] - logs[1]) ** 2) * side(p, q)


# Every row of the table of positional kernels, with the similarity of two positions.
POSITIONS = [
    (Bag(), lambda p, q: 1.0),
    (Strict(), lambda p, q: float(p == q)),
    (Weighting(decay=1.5, base=0.025), lambda p, q: u(p, 1.5, 0.025) * u(q, 1.5, 0.025)),
    (Weighting(decay=0.0, base=0.0), lambda p, q: 1.0),
    (Smooth(0.1, bins=EXACT), smooth),
    (ScaleFree(0.3, across=0.2, bins=EXACT), scale_free),
    (LogScale(1.0, bins=EXACT), log_scale),
    (
        Weighting(1.0, 0.025, of=ScaleFree(0.3, across=0.2, bins=EXACT)),
        lambda p, q: u(p, 1.0, 0.025) * scale_free(p, q) * u(q, 1.0, 0.025),
    ),
    (
        Weighting(1.0, 0.025, of=LogScale(1.0, bins=EXACT)),
        lambda p, q: u(p, 1.0, 0.025) * log_scale(p, q) * u(q, 1.0, 0.025),
    ),
    (
        Weighting(1.5, 0.05, of=Sided(0.3)),
        lambda p, q: u(p, 1.5, 0.05) * u(q, 1.5, 0.05) * (0.3 + 0.7 * side(p, q)),
    ),
    (Sided(0.0, of=Smooth(0.1, bins=EXACT)), lambda p, q: smooth(p, q) * side(p, q)),
    (Sided(1.0), lambda p, q: 1.0),
    (Within(5, of=Strict()), lambda p, q: float(p == q and abs(p) <= 5)),
    (
        Mixture([Bag(), Smooth(0.1, bins=EXACT), Strict()], weights=[0.2, 1.0, 0.5]),
        lambda p, q: 0.2 + smooth(p, q) + 0.5 * (p == q),
    ),
    (
        Weighting(1.0, 0.0, of=Mixture([Bag(), Bag()], weights=[1.0, 2.0])),
        lambda p, q: 3 * u(p, 1.0, 0.0) * u(q, 1.0, 0.0),
    ),
]
IDS = [f"{i} {type(t).__name__}" for i, (t, _) in enumerate(POSITIONS)]


@pytest.mark.parametrize(("transformation", "formula"), POSITIONS, ids=IDS)
@few
@given(positions=st.lists(st.integers(-60, 60), max_size=12))
def test_position_similarity_equals_its_formula(transformation, formula, positions):
    R = transformation.factor(np.array(positions, dtype=np.int32))
    expected = np.array([[formula(p, q) for q in positions] for p in positions])
    got = (R.values @ R.values.T).toarray()
    np.testing.assert_allclose(got, expected.reshape(got.shape), atol=1e-10)


@pytest.mark.parametrize(("transformation", "formula"), POSITIONS, ids=IDS)
def test_components_mean_the_same_whatever_positions_are_asked_for(transformation, formula):
    """A model is fitted on one batch and used on another: columns must not depend on the batch."""
    few_positions = transformation.factor(np.array([-3, 2]))
    many = transformation.factor(np.arange(-60, 61))
    moved = few_positions.align_to(many.names)
    assert moved.nnz == np.count_nonzero(few_positions.values.toarray())
    np.testing.assert_allclose(moved.toarray(), many.values[[57, 62]].toarray(), atol=1e-12)


def test_far_positions_share_a_bin_and_stand_in_its_middle():
    R = Smooth(0.01).factor(np.array([14, 15, 16, 500, 9000])).values
    P = (R @ R.T).toarray()
    assert P[0, 1] == pytest.approx(1.0)
    assert P[0, 2] == pytest.approx(math.exp(-0.01 * (14.5 - 17) ** 2))
    assert P[3, 4] == pytest.approx(1.0)


def test_bins_number_positions_from_far_before_to_far_after():
    assert bin_positions(np.array([-5, -2, -1, 0, 1, 2, 9]), bins=(1, 2, 4)).tolist() == [
        0, 1, 2, 3, 3, 4, 5,
    ]  # fmt: skip


def test_pivoted_cholesky_is_exact_up_to_its_tolerance_and_of_low_rank():
    x = np.arange(40.0)
    P = np.exp(-0.01 * (x[:, None] - x[None, :]) ** 2)
    R, pivots = pivoted_cholesky(P, 1e-4)
    assert R.shape == (40, len(pivots))
    assert len(pivots) < 15
    assert np.abs(R @ R.T - P).max() <= 1e-4


def test_loose_tolerance_gives_fewer_components():
    tight, loose = ScaleFree(0.3), ScaleFree(0.3, tolerance=1e-4)
    positions = np.arange(-60, 61)
    a, b = tight.factor(positions), loose.factor(positions)
    assert len(b.names) < len(a.names)
    difference = (a.values @ a.values.T - b.values @ b.values.T).toarray()
    assert np.abs(difference).max() <= 1e-4


VECTORS = WordVectors(["binds", "bind"], [[1.0, 0.0], [0.6, 0.8]])


def grams(word):
    text = f"<{word}>"
    return [text[i : i + n] for n in (3, 4) for i in range(len(text) - n + 1)] or [text]


def shared_grams(v, w):
    a, b = grams(v), grams(w)
    dot = sum(a.count(g) * b.count(g) for g in set(a))
    norm = math.sqrt(sum(a.count(g) ** 2 for g in set(a)) * sum(b.count(g) ** 2 for g in set(b)))
    return dot / norm


WORDS = ["binds", "bind", "binding", "to", "of", "Fas", "x"]
TAGS = {"binds": "V", "bind": "V", "to": "P", "of": "P"}
WORD_KERNELS = [
    (EqualWords(), lambda v, w: float(v == w)),
    (SharedStem(), lambda v, w: float((v.startswith("bind") and w.startswith("bind")) or v == w)),
    (SharedTag(TAGS), lambda v, w: float(v in TAGS and TAGS.get(v) == TAGS.get(w))),
    (CharacterNgrams(3, 4), shared_grams),
    (
        Mixture([EqualWords(), SharedTag(TAGS)], weights=[1.0, 0.3]),
        lambda v, w: (v == w) + 0.3 * (v in TAGS and TAGS.get(v) == TAGS.get(w)),
    ),
    (
        VECTORS,
        lambda v, w: {
            ("bind", "bind"): 1.0,
            ("binds", "binds"): 1.0,
            ("bind", "binds"): 0.6,
            ("binds", "bind"): 0.6,
        }.get((v, w), 0.0),
    ),
]


@pytest.mark.parametrize(("transformation", "formula"), WORD_KERNELS)
def test_word_similarity_equals_its_formula(transformation, formula):
    B = transformation.factor(WORDS).values
    expected = [[formula(v, w) for w in WORDS] for v in WORDS]
    np.testing.assert_allclose((B @ B.T).toarray(), expected, atol=1e-10)
    assert transformation.factor([]).values.shape[0] == 0


def test_learned_positions_equal_the_formula_and_are_semidefinite(rng):
    bins = (1, 2, 3)
    lists = [
        [(f"w{rng.integers(4) if p > 0 else rng.integers(8)}", p) for p in (-3, -2, -1, 1, 2, 3)]
        for _ in range(50)
    ]
    learned = learn_positions(Contexts.from_lists(lists), bins=bins)
    order = [-3, -2, -1, 1, 2, 3]
    tokens = [pair for context in lists for pair in context]
    words = sorted({w for w, _ in tokens})
    at = {p: [w for w, q in tokens if q == p] for p in order}
    share = {p: {w: at[p].count(w) / len(at[p]) for w in words} for p in order}
    overall = {w: sum(v == w for v, _ in tokens) / len(tokens) for w in words}
    P = np.zeros((6, 6))
    for i, p in enumerate(order):
        for j, q in enumerate(order):
            same = sum(share[p][w] * share[q][w] for w in words)
            if p == q:
                n = len(at[p])
                same = sum(at[p].count(w) * (at[p].count(w) - 1) for w in words) / (n * (n - 1))
            cross = sum((share[p][w] + share[q][w]) * overall[w] for w in words)
            P[i, j] = same - cross + sum(v**2 for v in overall.values())
    w, Q = np.linalg.eigh(P)
    P = (Q * w.clip(min=0)) @ Q.T
    np.testing.assert_allclose(learned.matrix, P / np.diag(P).mean(), atol=1e-10)
    R = learned.factor(np.array(order)).values
    np.testing.assert_allclose((R @ R.T).toarray(), learned.matrix, atol=1e-9)


def test_learned_word_vectors_put_words_of_equal_company_together():
    texts = []
    for noun in ("cat", "dog"):
        texts += [["the", noun, "eats", "some", "meat"], ["a", noun, "sleeps", "all", "day"]] * 5
    texts += [["prices", "fell", "on", "monday", "trading"]] * 8
    vectors = learn_word_vectors(texts, rank=4, window=2, minimum=3)
    B = vectors.factor(["cat", "dog", "prices", "unheard"]).values
    similarity = (B @ B.T).toarray()
    assert similarity[0, 1] > 0.9
    assert abs(similarity[0, 2]) < 0.2
    assert similarity[3].tolist() == [0, 0, 0, 0]


def test_word_vectors_come_back_from_their_file(tmp_path):
    VECTORS.to_disk(tmp_path / "vectors.npz")
    stored = WordVectorFile(str(tmp_path / "vectors.npz"))
    expected = VECTORS.factor(WORDS).values.toarray()
    np.testing.assert_array_equal(stored.factor(WORDS).values.toarray(), expected)
    assert WordVectors(["binds", "bind"], [[1.0, 0.0], [0.6, 0.8]]) == VECTORS
    with pytest.raises(ValueError, match=r"no word vectors at .*to_disk"):
        WordVectorFile(str(tmp_path / "none.npz"))


@pytest.mark.parametrize("header", ["", "3 2\n"])
@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
def test_word_vectors_are_read_from_text(tmp_path, header, suffix):
    file = tmp_path / f"vectors.{suffix}"
    data = f"{header}binds 1.0 0\nbind 0.6 8e-1\n\nf\u00e9\t-1 2\n".encode()
    file.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    stored = WordVectorFile(str(file)).factor(["bind", "f\u00e9", "other"]).values.toarray()
    np.testing.assert_array_equal(stored, [[0.6, 0.8], [-1.0, 2.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"one 1 2\ntwo 1\n", r"a.txt, line 2: expected a word and 2 numbers.*to_disk"),
        ("b.txt", b"only words here\n", r"b.txt, line 1: expected a word and one or more numbers"),
        ("c.txt", b"word nan\n", r"c.txt, line 1"),
        ("d.txt", b"", r"d.txt: no word vectors"),
        ("e.txt", b"w\xff 1.0\n", r"e.txt, line 1, byte 1: not UTF-8"),
        ("f.npz", b"PK-not-a-zip", r"f.npz: not readable as arrays"),
    ],
)
def test_other_files_of_word_vectors_are_refused_with_place_and_remedy(
    tmp_path, name, content, message
):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        WordVectorFile(str(tmp_path / name)).factor(WORDS)


def test_npz_files_of_other_arrays_are_refused_without_talk_of_pickle(tmp_path):
    np.savez(tmp_path / "other.npz", weights=np.eye(2))
    with pytest.raises(ValueError, match=r"other.npz: not an .npz file of WordVectors.*weights"):
        WordVectorFile(str(tmp_path / "other.npz")).factor(WORDS)
    np.savez(tmp_path / "objects.npz", vectors=np.array([{}, None], dtype=object))
    with pytest.raises(ValueError, match=r"objects.npz: not readable as arrays") as error:
        WordVectorFile(str(tmp_path / "objects.npz")).factor(WORDS)
    assert "allow_pickle" not in str(error.value)


def test_tags_come_from_a_shipped_lexicon_by_name(tmp_path):
    B = SharedTag("english").factor(["Gene", "cell", "of", "in", "zzqx", "yyqx"]).values
    similarity = (B @ B.T).toarray()
    assert similarity[0, 1] == similarity[2, 3] == 1
    assert similarity[0, 2] == similarity[4, 4] == 0
    endings = SharedTag("english", unknown="ending").factor(["zaxqx", "yaxqx", "gene"]).values
    assert (endings @ endings.T).toarray().tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    with pytest.raises(ValueError, match="no lexicon 'klingon'"):
        SharedTag("klingon")
    with pytest.raises(ValueError, match="unknown must be"):
        SharedTag({}, unknown="guess")


def random_contexts(rng, count=60):
    positions = (-3, -2, -1, 1, 2, 3)
    return Contexts.from_lists(
        [
            [(f"w{rng.integers(4) if p > 0 else rng.integers(9)}", p) for p in positions]
            for _ in range(count)
        ]
    )


def test_learned_transformations_are_those_of_the_functions_up_to_rounding(rng):
    contexts = random_contexts(rng)
    table = LearnedPositions(bins=(1, 2, 3)).learn(contexts)
    expected = np.array(learn_positions(contexts, bins=(1, 2, 3)).matrix)
    np.testing.assert_allclose(table.matrix, expected, atol=2e-5)
    assert np.linalg.eigvalsh(np.array(table.matrix)).min() >= -1e-12
    words = LearnedWords(rank=3, minimum=2, digits=6).learn(contexts)
    texts = [[w for w, _ in contexts[i].pairs()] for i in range(len(contexts))]
    plain = learn_word_vectors(texts, rank=3, minimum=2)
    got, want = (v.factor(plain.words).values.toarray() for v in (words, plain))
    np.testing.assert_allclose(got @ got.T, want @ want.T, atol=1e-4)
    few_words = LearnedWords(rank=2, minimum=1, limit=4).learn(contexts).words
    counts = np.bincount(contexts.words)
    chosen = [counts[contexts.vocabulary.index(w)] for w in few_words]
    assert sorted(chosen) == sorted(counts)[-4:]


def test_learned_parts_are_found_inside_other_transformations(rng):
    contexts = random_contexts(rng)
    inside = Weighting(1.0, 0.1, of=Mixture([Bag(), LearnedPositions()], weights=[0.2, 1.0]))
    assert needs_learning(inside)
    assert not needs_learning(Weighting(of=Sided()))
    assert not needs_learning(None)
    learnt = learn_transformation(inside, contexts)
    table = LearnedPositions().learn(contexts)
    assert list(learnt.of.parts.values()) == [Bag(), table]
    assert list(learnt.of.weights.values()) == [0.2, 1.0]
    assert (learnt.decay, learnt.base) == (1.0, 0.1)
    with pytest.raises(ValueError, match="LearnedPositions has not been learnt"):
        inside.factor(np.array([1]))
    with pytest.raises(ValueError, match="LearnedWords has not been learnt"):
        LearnedWords().factor(["a"])
    with pytest.raises(ValueError, match="too few to learn"):
        LearnedWords(minimum=1000).learn(contexts)


@pytest.mark.parametrize("kind", [list, tuple])
def test_learned_parts_are_found_in_sequences_and_beside_of(rng, kind):
    @dataclass(frozen=True)
    class Several:
        parts: Sequence[Any]
        of: Any

    contexts = random_contexts(rng)
    table = LearnedPositions().learn(contexts)
    several = Several(kind([Bag(), LearnedPositions()]), LearnedPositions())
    assert learn_transformation(several, contexts) == Several(kind([Bag(), table]), table)
    several = Several(kind([LearnedPositions()]), None)
    assert learn_transformation(several, contexts) == Several(kind([table]), None)


def test_most_frequent_tags_ignore_rarer_ones():
    assert most_frequent_tags([("a", "X"), ("a", "Y"), ("a", "Y")]) == {"a": "Y"}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Weighting(decay=-1.0), "decay=-1.0"),
        (lambda: Smooth(theta=0.0), "theta must be positive"),
        (lambda: Smooth(bins=[2, 3]), "start at 1 and grow"),
        (lambda: Smooth(tolerance=0.0), "tolerance must lie between"),
        (lambda: ScaleFree(across=1.5), "across must lie between 0 and 1, got 1.5"),
        (lambda: Within(-1), "span must not be negative"),
        (lambda: Mixture([Bag()], weights=[]), "one for each of 1 parts"),
        (lambda: PositionTable([[1.0]]), "two sides of bins"),
        (lambda: PositionTable([[0.0, 1.0], [1.0, 0.0]], bins=[1]), "lowest eigenvalue is -1"),
        (lambda: SharedStem("klingon"), "unknown stemmer 'klingon'"),
        (lambda: CharacterNgrams(3, 2), "1 <= shortest <= longest"),
        (lambda: WordVectors(["a"], [[1.0], [2.0]]), "one per word"),
        (lambda: learn_word_vectors([["a"]], rank=2), "too few for vectors of 2"),
        (lambda: learn_positions(Contexts.from_lists([[]])), "Learn from more text"),
    ],
)
def test_wrong_settings_fail_with_their_value(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_scaling_drops_what_becomes_nothing_and_leaves_the_matrix_as_it_was():
    factor = Smooth(0.01).factor(np.array([1, 2, 3]))
    before = factor.values.toarray()
    scaled = factor.scale(np.array([2.0, 0.0, 1.0]))
    np.testing.assert_array_equal(scaled.values.toarray(), before * [[2.0], [0.0], [1.0]])
    assert scaled.values.nnz == np.count_nonzero(scaled.values.toarray())
    np.testing.assert_array_equal(factor.values.toarray(), before)
