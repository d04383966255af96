"""Distributional classes of frequent words: words with similar neighbours get the same number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from corpus import Text
from scipy.sparse import coo_array, csr_array, hstack
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils.extmath import randomized_svd

from textrank.lint.model import text_hash

MIN_COUNT = 25
N_NEIGHBOURS = 1500  # most frequent forms, which describe the others
DIMENSIONS = 100
N_FINE, N_COARSE = 600, 80
MAX_TOKENS = 6_000_000  # of a kind of text


def word_vectors(texts: Sequence[Text], forms: Mapping[str, int]) -> tuple[Any, Any, Any]:
    """Return numbers, unit vectors and counts of all words with MIN_COUNT occurrences.

    Words are described by the positive pointwise mutual information with the words at offsets
    -2, -1, 1 and 2, reduced to DIMENSIONS by a singular value decomposition.
    """
    n = len(forms)
    samples = [text.words[:MAX_TOKENS] for text in texts if len(text.words) > 2]
    counts = np.sum([np.bincount(words, minlength=n) for words in samples], axis=0)
    is_letter = np.array([form[0].isalpha() for form in forms])
    members = np.flatnonzero((counts >= MIN_COUNT) & is_letter)
    row_of = np.full(n, -1)
    row_of[members] = np.arange(len(members))
    column_of = np.full(n, -1)
    neighbours = np.argsort(-counts, kind="stable")[:N_NEIGHBOURS]
    column_of[neighbours] = np.arange(len(neighbours))
    blocks = []
    for offset in (-2, -1, 1, 2):
        total: Any = csr_array((len(members), N_NEIGHBOURS), dtype=np.float32)
        for words in samples:
            here, there = (
                (words[:-offset], words[offset:])
                if offset > 0
                else (words[-offset:], words[:offset])
            )
            rows, columns = row_of[here], column_of[there]
            kept = (rows >= 0) & (columns >= 0)
            ones = np.ones(int(kept.sum()), dtype=np.float32)
            shape = len(members), N_NEIGHBOURS
            total = total + coo_array((ones, (rows[kept], columns[kept])), shape=shape).tocsr()
        blocks.append(_positive_information(total))
    matrix = hstack(blocks).tocsr()
    left, values, _ = randomized_svd(
        matrix, min(DIMENSIONS, min(matrix.shape)), n_iter=3, random_state=0
    )
    vectors = left * values**0.5
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return members, vectors, counts[members]


def learn_classes(forms: Mapping[str, int], members: Any, vectors: Any, counts: Any) -> Any:
    """Return rows of (hash, fine class, coarse class) of words: k-means of ``word_vectors``."""
    words = list(forms)
    hashes = np.array([text_hash(words[k]) for k in members])
    labels = []
    for clusters in (N_FINE, N_COARSE):
        means = MiniBatchKMeans(
            min(clusters, len(members)), batch_size=4096, n_init=1, max_iter=30, random_state=0
        )
        labels.append(means.fit(vectors, sample_weight=np.sqrt(counts)).predict(vectors))
    table = np.stack([hashes, labels[0] + 1, labels[1] + 1], axis=1).astype(np.uint32)
    return table[np.unique(hashes, return_index=True)[1]]


def _positive_information(counts: Any) -> Any:
    """Return the positive pointwise mutual information of a sparse matrix of counts."""
    rows, columns = counts.sum(axis=1), counts.sum(axis=0) ** 0.75
    columns = columns / columns.sum()
    matrix = counts.tocoo()
    ratio = matrix.data / (rows[matrix.row] * columns[matrix.col] + 1e-9)
    return csr_array((np.maximum(np.log(ratio), 0), (matrix.row, matrix.col)), shape=counts.shape)
