"""Train word vectors from the neighbours of each word in unlabelled text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

OFFSETS = (-2, -1, 1, 2)  # of the neighbours; each offset is counted separately
N_CONTEXT_WORDS = 6000  # most frequent words; only these count as neighbours
MIN_WORD_COUNT = 5  # how often a word must occur to get a vector
RMS_VALUE = 0.3  # root mean square of the numbers of a vector

Vectors: TypeAlias = NDArray[np.float32]


def train_word_vectors(
    texts: Sequence[Sequence[str]], form: Callable[[str], str], width: int, *, seed: int = 0
) -> tuple[list[str], Vectors]:
    """Return words in their ``form``, sorted, and a vector of ``width`` numbers for each.

    Vectors are the largest left singular vectors of the matrix of positive pointwise mutual
    information between words and their neighbours, times the roots of the singular values (Levy,
    Goldberg and Dagan 2015, TACL). Only forms that occur MIN_WORD_COUNT times have a vector, and
    all vectors have the same length. Empty results if there are none.
    """
    form_of = {word: form(word) for text in texts for word in text}
    form_texts = [[form_of[word] for word in text] for text in texts]
    counts = Counter(word for text in form_texts for word in text)
    words = sorted(word for word, count in counts.items() if count >= MIN_WORD_COUNT)
    if not words:
        return [], np.zeros((0, width), dtype=np.float32)
    information = _positive_pmi(
        form_texts, words, [word for word, _ in counts.most_common(N_CONTEXT_WORDS)]
    )
    rank = min(width, *information.shape)
    left, values, _ = randomized_svd(information, rank, random_state=seed)
    vectors = np.zeros((len(words), width))
    vectors[:, :rank] = left * np.sqrt(values)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= RMS_VALUE * np.sqrt(width) / np.maximum(lengths, 1e-9)
    return words, vectors.astype(np.float32)


def _positive_pmi(
    texts: Sequence[Sequence[str]], words: Sequence[str], contexts: Sequence[str]
) -> sparse.csr_matrix:
    """Return positive pointwise mutual information, (words, offsets * contexts).

    ``max(0, log(count(w, c) / (count(w) p(c))))`` with p proportional to ``count(c) ** 0.75``; a
    context c is a word at one of OFFSETS.
    """
    centres = _number_words(texts, words)
    neighbours = _number_words(texts, contexts)
    shape = (len(words), len(contexts))
    parts = []
    for offset in OFFSETS:
        row, column = centres, np.roll(neighbours, -offset)
        is_pair = (row >= 0) & (column >= 0)
        ones = np.ones(int(is_pair.sum()))
        parts.append(
            sparse.coo_matrix((ones, (row[is_pair], column[is_pair])), shape=shape).tocsr()
        )
    counts = sparse.hstack(parts).tocsr()
    word_totals = np.asarray(counts.sum(axis=1)).ravel()
    smoothed = np.asarray(counts.sum(axis=0)).ravel() ** 0.75
    counts = counts.tocoo()
    expected = word_totals[counts.row] * (smoothed / smoothed.sum())[counts.col]
    values = np.log(counts.data / expected).clip(min=0)
    return sparse.csr_matrix((values, (counts.row, counts.col)), shape=counts.shape)


def _number_words(texts: Sequence[Sequence[str]], words: Sequence[str]) -> NDArray[np.intp]:
    """Return the index in ``words`` of all words of all texts; -1 for others and between texts.

    Between texts there are as many -1 as the largest offset, so that no word is a neighbour of one
    in another text.
    """
    number = {word: i for i, word in enumerate(words)}
    gap = [-1] * max(OFFSETS)  # so that no text is the neighbour of another
    return np.array([n for text in texts for n in (*(number.get(w, -1) for w in text), *gap)])
