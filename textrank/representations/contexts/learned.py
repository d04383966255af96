"""Transformations learned from unlabelled text: which positions, and which words, are alike.

They never see a label. Learn them on text outside the evaluation, or on its training part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from textrank.representations.contexts.transformations import BINS, PositionTable, bin_positions
from textrank.representations.contexts.word_transformations import WordVectors
from textrank.types import Contexts, Matrix, SparseMatrix


def learn_positions(contexts: Contexts, *, bins: Sequence[int] = BINS) -> PositionTable:
    """Positions are alike as far as the same words stand there more often than by chance.

    With ``f_wp`` the share of word w among the words at p, and ``f_w`` its share everywhere, P̂ is
    ``Σ_w (f_wp - f_w)(f_wq - f_w)``; on the diagonal the two words drawn from p are different
    tokens, else rare words would make every position like itself. The negative eigenvalues that
    this leaves are set to 0, and the mean of the diagonal to 1.
    """
    counts = _counts(contexts, bins)
    totals = counts.sum(axis=0)
    everywhere = counts.sum(axis=1) / max(counts.sum(), 1.0)
    shares = counts / np.maximum(totals, 1.0)

    same = shares.T @ shares
    pairs = np.maximum(totals * (totals - 1), 1.0)
    np.fill_diagonal(same, (counts * (counts - 1)).sum(axis=0) / pairs)
    chance = shares.T @ everywhere
    P = same - chance[:, None] - chance[None, :] + everywhere @ everywhere
    used = (totals > 1).astype(float)
    P = _semidefinite(P * used[:, None] * used[None, :])

    mean = float(np.diag(P).mean())
    if mean <= 0:
        raise ValueError(
            f"{len(contexts)} contexts with {len(contexts.words)} words show no position that "
            "differs from another. Learn from more text."
        )
    return PositionTable((P / mean).tolist(), bins=bins)


def learn_word_vectors(
    texts: Sequence[Sequence[str]], *, rank: int = 100, window: int = 5, minimum: int = 5
) -> WordVectors:
    """Unit vectors of words by what stands around them: truncated SVD of their positive PMI.

    ``texts`` are lists of words in the form the representation uses; words seen fewer than
    ``minimum`` times have no vector.

    >>> texts = [["gene", "is", "transcribed"], ["protein", "is", "bound"]] * 5
    >>> learn_word_vectors(texts, rank=2).words
    ('gene', 'is', 'transcribed', 'protein', 'bound')
    """
    if rank < 1 or window < 1 or minimum < 1:
        raise ValueError(
            f"rank, window and minimum must be at least 1, got {rank}, {window}, {minimum}"
        )
    counts = Counter(word for text in texts for word in text)
    words = [word for word, count in counts.items() if count >= minimum]
    if len(words) <= rank:
        raise ValueError(
            f"{len(words)} words seen at least {minimum} times are too few for vectors of {rank} "
            "numbers. Give more text, or lower rank or minimum."
        )
    pmi = _positive_pmi(_together(texts, words, window))
    U, s, _ = randomized_svd(pmi, n_components=rank, random_state=0)
    V = U * np.sqrt(s)
    lengths = np.linalg.norm(V, axis=1, keepdims=True)
    return WordVectors(words, V / np.maximum(lengths, 1e-300))


def _counts(contexts: Contexts, bins: Sequence[int]) -> Matrix:
    """How often each word stands in each bin, (words, bins)."""
    width = 2 * len(bins)
    cells = contexts.words.astype(np.int64) * width + bin_positions(contexts.positions, bins)
    shape = (len(contexts.vocabulary), width)
    return np.bincount(cells, minlength=shape[0] * width).astype(float).reshape(shape)


def _semidefinite(P: Matrix) -> Matrix:
    w, Q = np.linalg.eigh((P + P.T) / 2)
    return (Q * w.clip(min=0.0)) @ Q.T


def _together(texts: Sequence[Sequence[str]], words: Sequence[str], window: int) -> SparseMatrix:
    """How often two words stand within the window of each other."""
    ids = {word: i for i, word in enumerate(words)}
    left, right = [], []
    for text in texts:
        numbers = np.array([ids.get(word, -1) for word in text], dtype=np.int64)
        for step in range(1, min(window, len(numbers) - 1) + 1):
            both = (numbers[:-step] >= 0) & (numbers[step:] >= 0)
            left.append(numbers[:-step][both])
            right.append(numbers[step:][both])
    a = np.concatenate([np.empty(0, np.int64), *left, *right])
    b = np.concatenate([np.empty(0, np.int64), *right, *left])
    return sp.csr_array((np.ones(len(a)), (a, b)), shape=(len(words), len(words)))


def _positive_pmi(counts: SparseMatrix) -> SparseMatrix:
    cells = counts.tocoo()
    margin = np.asarray(counts.sum(axis=1)).ravel()
    pmi = np.log(cells.data * margin.sum() / (margin[cells.row] * margin[cells.col]))
    return sp.csr_array((pmi.clip(min=0.0), (cells.row, cells.col)), shape=counts.shape)
