"""Vectors of words from unlabelled text, and how the network of names uses them."""

from __future__ import annotations

import numpy as np
import pytest
from workshop.vectors import RMS_VALUE, _positive_pmi, train_word_vectors

from textrank.language._ner_network import fold_digits

TEXTS = [
    *(["the", name, "protein", "binds", "DNA"] for name in ("p53", "p65", "Smad4") * 5),
    *(["we", "saw", cell, "grow"] for cell in ("monocytes", "lymphocytes", "fibroblasts") * 5),
]


def test_information_is_that_of_counted_neighbours():
    texts = [["a", "b", "a"], ["b", "c"]]
    words = contexts = ["a", "b", "c"]
    counts = np.zeros((3, 4, 3))  # word, offset -2 -1 1 2, neighbour
    for text in texts:
        for i, word in enumerate(text):
            for number, offset in enumerate((-2, -1, 1, 2)):
                if 0 <= i + offset < len(text):
                    counts[words.index(word), number, contexts.index(text[i + offset])] += 1
    flat = counts.reshape(3, 12)
    smooth = flat.sum(axis=0) ** 0.75
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.log(flat / (flat.sum(axis=1, keepdims=True) * smooth / smooth.sum()))
    expected[~(expected > 0)] = 0
    np.testing.assert_allclose(_positive_pmi(texts, words, contexts).toarray(), expected)


def test_words_in_like_company_have_like_vectors():
    words, vectors = train_word_vectors(TEXTS, fold_digits, 6)
    own = dict(zip(words, vectors, strict=True))
    assert "smad0" in own  # its form: lower case, numbers as 0
    for one, like, other in (("monocytes", "lymphocytes", "p0"), ("p0", "smad0", "monocytes")):
        assert (own[one] ** 2).mean() == pytest.approx(RMS_VALUE**2)
        assert own[one] @ own[like] > 3 * abs(own[one] @ own[other])


def test_rare_words_have_none():
    words, vectors = train_word_vectors([["once", "twice", "twice"]], fold_digits, 4)
    assert words == []
    assert vectors.shape == (0, 4)
