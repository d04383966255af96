"""Sequences of words and tags between two names, and the pipeline with locality kernels on them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import cross_validate
from textrank.kernels.sequences import LocalityConvolution
from textrank.kernels.views import EachView
from textrank.tasks.ppi.blocks import BetweenSequences


def pair_in(words, first, second, others=(), tags=None):
    nlp = spacy.blank("en")
    starts = [i == 0 for i in range(len(words))]
    doc = Doc(nlp.vocab, words, tags=tags or ["T"] * len(words), sent_starts=starts)
    spans = [Span(doc, *place, label="GENE") for place in (first, second, *others)]
    doc.spans["entities"] = spans
    return Candidate(doc, (spans[0], spans[1]), "d1")


def test_names_are_blinded_and_words_are_in_order():
    text = "We show that SHC protein binds ERK and Grb 2 in cells ."
    words = text.split()
    tags = [w[:1].upper() for w in words]
    candidate = pair_in(words, (8, 10), (3, 4), [(6, 7)], tags)
    views = BetweenSequences(margin=2)([candidate])
    assert views.view("words").symbols() == [
        "show", "that", "PROT1", "protein", "binds", "PROT", "and", "PROT2", "in", "cells",
    ]  # fmt: skip
    assert views.view("tags").symbols() == [
        "S", "T", "PROT1", "P", "B", "PROT", "A", "PROT2", "I", "C",
    ]  # fmt: skip
    near = BetweenSequences(margin=0)([candidate]).view("words").symbols()
    assert (near[0], near[-1]) == ("PROT1", "PROT2")
    with pytest.raises(ValueError, match="margin must not be negative, got -1"):
        BetweenSequences(margin=-1)
    with pytest.raises(ValueError, match="has 1 spans"):
        BetweenSequences()([Candidate(candidate.doc, candidate.spans[:1], "d1")])


def test_kernel_on_them_equals_the_double_sum():
    pairs = [
        pair_in(["SHC", "binds", "GRB2", "."], (0, 1), (2, 3)),
        pair_in(["SHC", "then", "binds", "to", "GRB2", "."], (0, 1), (4, 5)),
    ]
    X = BetweenSequences()(pairs)
    K = EachView(LocalityConvolution(window=1, theta=0.3))(X)
    P = np.array([[np.exp(-((m - k) ** 2) / (2 * 0.3**2)) for k in range(3)] for m in range(3)])

    def symbol(sequence, i):
        return sequence[i] if 0 <= i < len(sequence) else None

    def naive(f, g):
        total = 0.0
        for i, k in product(range(len(f)), range(len(g))):
            if f[i] != g[k]:
                continue
            value = 1.0
            for m, j in product(range(3), range(3)):
                a, b = symbol(f, i + m - 1), symbol(g, k + j - 1)
                value *= P[m, j] * (a is not None and a == b) + 1
            total += value
        return total

    lists = [[X.view(view)[i].symbols() for i in range(2)] for view in ("words", "tags")]
    expected = [[sum(naive(v[i], v[j]) for v in lists) for j in range(2)] for i in range(2)]
    np.testing.assert_allclose(K, expected, rtol=1e-9)


def test_pipeline_runs_on_the_sample():
    docs = list(load_corpus("corpora/sample-ppi")(spacy.blank("en")))
    report = cross_validate(load_pipeline("ppi-locality"), docs, folds=3)
    assert report.measures["auc"].mean > 0.6
