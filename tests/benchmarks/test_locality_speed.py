"""Locality kernels against a NumPy version that takes one pair of parses at a time."""

from __future__ import annotations

import gzip
import sys
import time

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from textrank.candidates import Candidate
from textrank.features import MultiView
from textrank.graphs import Sequences
from textrank.kernels.sequences import (
    GapWeighted,
    LocalityConvolution,
    LocalityImproved,
    LocalSum,
    SpectrumKernel,
    positional_matrix,
)
from textrank.kernels.views import EachView
from textrank.tasks.parse_features import ParseSequences

pytestmark = pytest.mark.benchmark

SYMBOLS = (4000, 45, 60, 3000, 25, 1500, 2000)  # of the seven types


def parses(n, rng, per_sentence=5):
    """Near-copies of random sequences, as parses of one sentence are; arrays a type."""
    out = []
    while len(out) < n:
        length = max(5, int(rng.normal(25, 8)))
        base = [rng.choice(a, length, p=zipf(a)) for a in SYMBOLS]
        for _ in range(per_sentence):
            changed = [b.copy() for b in base]
            for sequence, a in zip(changed, SYMBOLS, strict=True):
                at = rng.random(length) < 0.2
                sequence[at] = rng.integers(0, a, at.sum())
            out.append(changed)
    return out[:n]


def zipf(a):
    p = 1.0 / np.arange(1, a + 1)
    return p / p.sum()


def pair(p, q, P, multiply):
    """One pair of parses by array comparisons of all their symbols."""
    w = len(P) // 2
    total = 0.0
    for f, g in zip(p, q, strict=True):
        equal = np.zeros((len(f) + 2 * w, len(g) + 2 * w), dtype=bool)
        equal[w : w + len(f), w : w + len(g)] = f[:, None] == g[None, :]
        value = np.full((len(f), len(g)), 1.0 if multiply else 0.0)
        for m in range(2 * w + 1):
            for k in range(2 * w + 1):
                match = equal[m : m + len(f), k : k + len(g)]
                value = value * (1.0 + P[m, k] * match) if multiply else value + P[m, k] * match
        total += (value * equal[w : w + len(f), w : w + len(g)]).sum()
    return total


def one_pair_at_a_time(X, P, multiply):
    K = np.empty((len(X), len(X)))
    for i in range(len(X)):
        for j in range(i, len(X)):
            K[i, j] = K[j, i] = pair(X[i], X[j], P, multiply)
    return K


def seconds(compute):
    started = time.process_time()
    result = compute()
    return time.process_time() - started, result


def show(*cells):
    sys.stdout.write(f"{cells[0]:34}" + "".join(f"{cell:>14}" for cell in cells[1:]) + "\n")


def test_gram_matrix_against_one_pair_at_a_time(rng):
    X = parses(200, rng)
    views = MultiView(
        {
            str(t): Sequences.from_lists([[str(c) for c in parse[t]] for parse in X])
            for t in range(7)
        }
    )
    values = 200 * 201 / 2
    sys.stdout.write("\n")
    show("200 parses", "values/s", "pair at a time", "ratio")
    for kernel, multiply, bar in (
        (LocalityConvolution(window=1, theta=0.5), True, 25),
        (LocalSum(window=1, theta=0.5), False, 40),
    ):
        fast, K = min((seconds(lambda k=kernel: EachView(k)(views)) for _ in range(3)), key=first)
        P = positional_matrix("gaussian", 1, 0.5)
        slow, expected = seconds(lambda m=multiply, P=P: one_pair_at_a_time(X, P, m))
        np.testing.assert_allclose(K, expected, rtol=1e-10)
        name = type(kernel).__name__
        show(name, f"{values / fast:,.0f}", f"{values / slow:,.0f}", f"{slow / fast:.0f}")
        assert slow / fast > bar


def first(pair):
    return pair[0]


def real_parses(file, sentences, candidates, rng):
    """Trees of a treebank, and copies in which one link in ten has moved or changed its type."""
    vocab = spacy.blank("en").vocab
    found = []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = []
        for line in lines:
            if line[0].isdigit() and line.split("\t")[0].isdigit():
                rows.append(line.rstrip("\n").split("\t"))
            elif not line.strip() and rows:
                if 5 <= len(rows) <= 60:
                    found.append(rows)
                rows = []
            if len(found) == sentences:
                break
    kinds = sorted({row[7] for rows in found for row in rows})
    for number, rows in enumerate(found):
        for copy in range(candidates):
            doc = Doc(vocab, words=[row[1] for row in rows], tags=[row[4] for row in rows])
            doc.user_data["dependencies"] = [
                changed(int(row[6]) - 1, i, row[7], len(rows), kinds, rng if copy else None)
                for i, row in enumerate(rows)
                if row[6] != "0"
            ]
            yield Candidate(doc, (), "d", query=str(number))


def changed(governor, dependent, kind, n, kinds, rng):
    if rng is not None and rng.random() < 0.05:
        kind = str(rng.choice(kinds))
    if rng is not None and rng.random() < 0.05:
        governor = int(rng.integers(n))
    return [governor, dependent, kind]


@pytest.mark.corpus
def test_gram_matrix_of_2500_parses_of_real_sentences(data, rng):
    file = data / "treebanks" / "craft-dev.conllu.gz"
    candidates = list(real_parses(file, 500, 5, rng))
    took, views = seconds(lambda: ParseSequences()(candidates))
    n = len(candidates)
    sys.stdout.write("\n")
    show(f"{n} parses of real sentences", "values/s", "seconds")
    show("ParseSequences", "", f"{took:.1f}")
    for kernel in (
        LocalityConvolution(),
        LocalSum(),
        LocalityImproved(),
        SpectrumKernel(2),
        GapWeighted(2, stretch=5),
    ):
        took, _ = seconds(lambda k=kernel: EachView(k)(views))
        show(type(kernel).__name__, f"{n * (n + 1) / 2 / took:,.0f}", f"{took:.1f}")
