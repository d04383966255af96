"""Vectors of words from the company they keep, learned from unlabelled text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

OFFSETS = (-2, -1, 1, 2)  # neighbours that are counted, each place for itself
CONTEXTS = 6000  # most frequent words; only these count as neighbours
MINIMUM = 5  # how often a word must occur to get a vector
SIZE = 0.3  # root mean square of the numbers of a vector

Vectors: TypeAlias = NDArray[np.float32]


def word_vectors(
    texts: Sequence[Sequence[str]], form: Callable[[str], str], width: int, *, seed: int = 0
) -> tuple[list[str], Vectors]:
    """Words in their ``form``, and a vector of ``width`` numbers for each.

    How often a word has each neighbour, as positive pointwise mutual information with neighbours'
    frequencies raised to .75 (Levy, Goldberg & Dagan 2015), reduced to its largest singular
    vectors times the roots of the singular values. All vectors are equally long.
    """
    known = {word: form(word) for text in texts for word in text}
    forms = [[known[word] for word in text] for text in texts]
    counts = Counter(word for text in forms for word in text)
    words = sorted(word for word, count in counts.items() if count >= MINIMUM)
    if not words:
        return [], np.zeros((0, width), dtype=np.float32)
    information = _information(forms, words, [word for word, _ in counts.most_common(CONTEXTS)])
    rank = min(width, *information.shape)
    left, values, _ = randomized_svd(information, rank, random_state=seed)
    vectors = np.zeros((len(words), width))
    vectors[:, :rank] = left * np.sqrt(values)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= SIZE * np.sqrt(width) / np.maximum(lengths, 1e-9)
    return words, vectors.astype(np.float32)


def _information(
    texts: Sequence[Sequence[str]], words: Sequence[str], contexts: Sequence[str]
) -> sparse.csr_matrix:
    """Positive pointwise mutual information, (words, offsets times contexts)."""
    centres = _numbers(texts, words)
    neighbours = _numbers(texts, contexts)
    shape = (len(words), len(contexts))
    parts = []
    for offset in OFFSETS:
        row, column = centres, np.roll(neighbours, -offset)
        both = (row >= 0) & (column >= 0)
        ones = np.ones(int(both.sum()))
        parts.append(sparse.coo_matrix((ones, (row[both], column[both])), shape=shape).tocsr())
    counts = sparse.hstack(parts).tocsr()
    of_word = np.asarray(counts.sum(axis=1)).ravel()
    smoothed = np.asarray(counts.sum(axis=0)).ravel() ** 0.75
    counts = counts.tocoo()
    expected = of_word[counts.row] * (smoothed / smoothed.sum())[counts.col]
    values = np.log(counts.data / expected).clip(min=0)
    return sparse.csr_matrix((values, (counts.row, counts.col)), shape=counts.shape)


def _numbers(texts: Sequence[Sequence[str]], words: Sequence[str]) -> NDArray[np.intp]:
    """Numbers of all words one text after the other, -1 for others and between texts."""
    number = {word: i for i, word in enumerate(words)}
    gap = [-1] * max(OFFSETS)  # so that no text is the neighbour of another
    return np.array([n for text in texts for n in (*(number.get(w, -1) for w in text), *gap)])
