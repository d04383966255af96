"""Train a neural network that all pairs share; it scores words by their context.

The vectors of the words at ``NETWORK_OFFSETS`` are concatenated, two layers of rectified units
follow, and every word of a pair has a vector in the last layer. The loss compares the printed word
with all these words and with its partners. Plain NumPy; one processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from corpus import Corpus
from scipy.sparse import csr_array

from textrank.lint.model import (
    BAG_OFFSETS,
    FIRST_SUFFIX_ROW,
    FIRST_TOKEN_ROW,
    NETWORK_OFFSETS,
    OUTSIDE_ROW,
    text_hash,
    unknown_token_row,
)

DIMENSIONS = 64
N_WORDS, N_OTHERS = 30_000, 120  # tokens with vectors of their own: words, and all others
OFFSET_COLUMNS = [BAG_OFFSETS.index(offset) for offset in NETWORK_OFFSETS]
HIDDEN = (512, 128)
BATCH = 1024
RATE, EMBEDDING_RATE = 1.5e-3, 3e-3
DECAY = (0.9, 0.99)
WARM_UP_STEPS = 400
LOGGED_STEPS = 500
PARTNER_SHARE = 0.5  # of the loss that compares a word with its partners only
UNKNOWN_SHARE = 0.03  # of the known tokens around, which are read as if they were unknown


class Vocabulary:
    """Tokens with vectors of their own, and the first vectors.

    ``members``, ``vectors`` and ``counts`` are those of ``classes.word_vectors``. A form has the
    row ``row_of_form[number]``; the last entry is for "outside of the sentence". ``unknown_rows``
    has the row that each row would have if its token were unknown.
    """

    def __init__(self, corpus: Corpus, members: Any, vectors: Any, counts: Any) -> None:
        """Choose the words with vectors; unknown words have the mean of those with their ending."""
        forms = list(corpus.forms)
        counted = [np.bincount(text.words, minlength=len(forms)) for text in corpus.texts]
        totals = np.sum(counted, axis=0)
        is_word = np.array([form[0].isalpha() for form in forms])
        order = np.argsort(-totals, kind="stable")
        others = order[~is_word[order]][:N_OTHERS]
        top = np.argsort(-counts, kind="stable")[:N_WORDS]
        token_forms = np.r_[others, members[top]]
        rows = [unknown_token_row(form) for form in forms]
        self.row_of_form = np.array([*rows, OUTSIDE_ROW], dtype=np.uint16)
        rng, width = np.random.default_rng(0), min(DIMENSIONS, vectors.shape[1])
        self.vectors = rng.normal(0, 0.05, (FIRST_TOKEN_ROW + len(token_forms), DIMENSIONS))
        ending = self.row_of_form[members]
        for row in range(FIRST_SUFFIX_ROW, FIRST_TOKEN_ROW):
            if (ending == row).any():
                self.vectors[row, :width] = vectors[ending == row, :width].mean(axis=0)
        self.vectors[FIRST_TOKEN_ROW + len(others) :, :width] = vectors[top, :width]
        unknown = self.row_of_form[token_forms]
        self.unknown_rows = np.r_[np.arange(FIRST_TOKEN_ROW), unknown].astype(np.uint16)
        self.row_of_form[token_forms] = FIRST_TOKEN_ROW + np.arange(len(token_forms))
        self.hashes = np.array([text_hash(forms[k]) for k in token_forms], dtype=np.uint32)

    def encode(self, contexts: Any) -> Any:
        """Return the rows of contexts at NETWORK_OFFSETS, given ``Corpus.rows``."""
        return self.row_of_form[contexts[:, OFFSET_COLUMNS]]


class Adam:
    """Adam optimiser of one array, all of it or some of its rows at a time."""

    def __init__(self, value: Any, rate: float) -> None:
        """Begin with zero moments for an array, which ``step`` changes in place."""
        self.value, self.rate = value, rate
        self.mean, self.square, self.steps = np.zeros_like(value), np.zeros_like(value), 0

    def step(self, gradient: Any, factor: float, rows: Any = ...) -> None:
        """Move the array along the gradient, in place; ``rows`` are distinct, default all."""
        self.steps += 1
        mean, square = self.mean[rows], self.square[rows]
        mean = mean + (1 - DECAY[0]) * (gradient - mean)
        square = square + (1 - DECAY[1]) * (gradient * gradient - square)
        self.mean[rows], self.square[rows] = mean, square
        np.sqrt(square, out=square)
        square *= (1 - DECAY[1] ** self.steps) ** -0.5
        square += 1e-8
        mean /= square
        mean *= self.rate * factor / (1 - DECAY[0] ** self.steps)
        self.value[rows] -= mean


class Network:
    """Weights of the network as float32 arrays by name."""

    def __init__(self, vectors: Any, n_words: int, n_offsets: int, seed: int = 0) -> None:
        """Initialise the weights at random; ``vectors`` are the first vectors of the vocabulary."""
        rng = np.random.default_rng(seed)
        sizes = n_offsets * vectors.shape[1], *HIDDEN, n_words
        self.arrays: dict[str, Any] = {"vectors": vectors.astype(np.float32).copy()}
        for k in range(3):
            scale = (2 / sizes[k]) ** 0.5 if k < 2 else 0.05
            values = rng.normal(0, scale, (sizes[k], sizes[k + 1]))
            self.arrays[f"layer{k}"] = values.astype(np.float32)
            self.arrays[f"bias{k}"] = np.zeros(sizes[k + 1], np.float32)

    def hidden(self, rows: Any) -> Any:
        """Return the last layer of contexts, rows of vocabulary numbers."""
        a = self.arrays
        x = a["vectors"][rows].reshape(len(rows), -1)
        for k in (0, 1):
            x = np.maximum(x @ a[f"layer{k}"] + a[f"bias{k}"], 0)
        return x

    def train(
        self,
        rows: Any,
        words: Any,
        partners: Any,
        epochs: float,
        unknown_rows: Any,
        log: Any = None,
    ) -> None:
        """Train on contexts and the judged words in them.

        ``partners`` is a boolean matrix of judged words: which are compared with which, itself
        included. ``unknown_rows`` is that of the vocabulary. ``log``, if any, is called with the
        step and the mean losses among all words and among partners.
        """
        a, rng = self.arrays, np.random.default_rng(1)
        width = a["vectors"].shape[1]
        rates = {name: EMBEDDING_RATE if name == "vectors" else RATE for name in a}
        optimisers = {name: Adam(value, rates[name]) for name, value in a.items()}
        near_words = partners.astype(np.float32)
        size = min(BATCH, len(rows))
        per_epoch = len(rows) // size
        total, order, losses = int(epochs * per_epoch), rng.permutation(len(rows)), []
        here = np.arange(size)
        for step in range(total):
            at = step % per_epoch
            if at == 0 and step:
                order = rng.permutation(len(rows))
            batch = order[at * size : (at + 1) * size]
            ids, y = rows[batch], words[batch]
            ids = np.where(rng.random(ids.shape) < UNKNOWN_SHARE, unknown_rows[ids], ids)
            x = a["vectors"][ids].reshape(size, -1)
            h0 = np.maximum(x @ a["layer0"] + a["bias0"], 0)
            h1 = np.maximum(h0 @ a["layer1"] + a["bias1"], 0)
            scores = h1 @ a["layer2"]
            scores += a["bias2"]
            scores -= scores.max(axis=1, keepdims=True)
            np.exp(scores, out=scores)
            near = scores * near_words[y]
            sums, near_sums = scores.sum(axis=1), near.sum(axis=1)
            if log and step % 10 == 0:
                printed = scores[here, y]
                losses.append((-np.log(printed / sums).mean(), -np.log(printed / near_sums).mean()))
            scores *= ((1 - PARTNER_SHARE) / size / sums)[:, None]
            near *= (PARTNER_SHARE / size / near_sums)[:, None]
            scores += near
            scores[here, y] -= 1.0 / size
            g1 = (scores @ a["layer2"].T) * (h1 > 0)
            g0 = (g1 @ a["layer1"].T) * (h0 > 0)
            gx = (g0 @ a["layer0"].T).reshape(-1, width)
            gradients = {
                "layer2": h1.T @ scores,
                "bias2": scores.sum(axis=0),
                "layer1": h0.T @ g1,
                "bias1": g1.sum(axis=0),
                "layer0": x.T @ g0,
                "bias0": g0.sum(axis=0),
            }
            factor = min(1.0, step / WARM_UP_STEPS) * (1 - step / total)
            for name, gradient in gradients.items():
                optimisers[name].step(gradient, factor)
            used, row = np.unique(ids, return_inverse=True)
            n = ids.size
            ones = np.ones(n, np.float32)
            spread = csr_array((ones, row.ravel(), np.arange(n + 1)), shape=(n, len(used)))
            optimisers["vectors"].step(spread.T @ gx, factor, used)
            if log and len(losses) == LOGGED_STEPS // 10:
                log(f"{step}/{total}", np.mean(losses, axis=0).round(4))
                losses = []
