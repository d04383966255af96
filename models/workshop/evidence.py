"""Train the evidence table of a recogniser: a linear CRF on hashed feature templates.

Each text is a step of stochastic gradient descent with the rates of AdaGrad. A share ``dropout`` of
the templates of each word is left out at each step, so that frequent weak features are learned
besides the few strong ones. Weights are averages over the second half of all epochs. Compiled with
numba: an epoch of 400 000 words takes four seconds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textrank.language._ner_network import (
    CONJUNCTION_VIEWS,
    MAX_OFFSET,
    TABLE_BITS,
    VIEW_INDEX,
    WordTable,
    caseless_mask,
    conjunction_rows,
    join_codes,
    ngram_rows,
    unigram_rows,
)
from textrank.language.ner import legal_transitions

Array = NDArray[Any]


@dataclass(frozen=True)
class NamedText:
    """Words of a text, whether a space follows each, and names as (start, end, label)."""

    words: Sequence[str]
    spaces: Sequence[bool]
    names: Sequence[tuple[int, int, str]] = ()


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of the evidence table of all words of some texts, one text after the other."""

    templates: Array  # (words, templates)
    pieces: Array  # of all words, one after the other
    starts: Array  # (words + 1,) in pieces
    bounds: Array  # (texts + 1,) in words


@dataclass(frozen=True)
class EvidenceSettings:
    """Training of the evidence table: length, regularisation and variants of the texts."""

    epochs: int = 7
    bits: int = TABLE_BITS  # of the table's rows
    rate: float = 0.03
    decay: float = 1e-3
    dropout: float = 0.5
    lower: float = 0.125  # share of texts that are learned once more without capitals
    short: float = 0.17  # share of texts that a few words of are learned once more
    seed: int = 0


def to_lower_case(text: NamedText) -> NamedText:
    """Return the text with all words in lower case."""
    return replace(text, words=[word.lower() for word in text.words])


def cut_excerpt(text: NamedText, rng: random.Random) -> NamedText:
    """Return an excerpt of about three to nine words; no name is cut.

    It is extended to hold names whole, and with probability 0.7 gets a full stop if it has none.
    Texts of fewer than ten words are returned unchanged.
    """
    if len(text.words) < 10:
        return text
    length = rng.randint(3, 9)
    start = rng.randint(0, len(text.words) - length)
    end = start + length
    for a, b, _ in text.names:
        start = a if a < start < b else start
        end = b if a < end < b else end
    words, spaces = list(text.words[start:end]), list(text.spaces[start:end])
    names = [(a - start, b - start, label) for a, b, label in text.names if start <= a and b <= end]
    if words[-1] not in ".?!" and rng.random() < 0.7:
        words.append(".")
        spaces[-1:] = [False, True]
    return NamedText(words, spaces, names)


def add_variants(texts: Sequence[NamedText], settings: EvidenceSettings) -> list[NamedText]:
    """Return the texts, then some in lower case, then excerpts of some.

    ``settings`` has the share of texts for each kind of variant, and the seed.
    """
    rng = random.Random(settings.seed)
    lower = rng.sample(texts, int(settings.lower * len(texts)))
    short = rng.sample(texts, int(settings.short * len(texts)))
    return [*texts, *map(to_lower_case, lower), *(cut_excerpt(text, rng) for text in short)]


def compute_rows(texts: Sequence[NamedText], table: WordTable, bits: int = TABLE_BITS) -> TableRows:
    """Return the rows of the evidence table for the words of the texts.

    ``table`` has the properties of words. ``bits`` is the binary logarithm of the number of rows,
    at most TABLE_BITS.
    """
    number_of: dict[tuple[str, bool], int] = {}
    word_numbers: list[int] = [-1] * MAX_OFFSET
    glue: list[Array] = [np.zeros(MAX_OFFSET, dtype=np.uint64)]
    for text in texts:
        flags = caseless_mask(text.words).tolist()
        keys = zip(text.words, flags, strict=True)
        word_numbers += [number_of.setdefault(key, len(number_of)) for key in keys] + [
            -1
        ] * MAX_OFFSET
        glue += [compute_joins(text.words, text.spaces), np.zeros(MAX_OFFSET, dtype=np.uint64)]
    views = np.array([table.view_hashes(*key) for key in number_of], dtype=np.uint64)
    views = np.vstack([views, np.zeros((1, len(VIEW_INDEX)), dtype=np.uint64)])  # the last: no word
    view_rows = np.array(word_numbers)
    word_positions = np.flatnonzero(view_rows >= 0)
    unigrams = [rows[view_rows[word_positions + offset]] for offset, rows in unigram_rows(views)]
    columns = [views[view_rows, VIEW_INDEX[view]] for view in CONJUNCTION_VIEWS]
    conjunctions = [
        r[word_positions - MAX_OFFSET] for r in conjunction_rows(columns, np.concatenate(glue))
    ]
    ngrams = [ngram_rows(word) for word, _ in number_of]
    return TableRows(
        np.stack([*unigrams, *conjunctions], axis=1).astype(np.int32) >> (TABLE_BITS - bits),
        np.concatenate([ngrams[i] for i in view_rows[word_positions]]).astype(np.int32)
        >> (TABLE_BITS - bits),
        np.append(0, np.cumsum([len(ngrams[i]) for i in view_rows[word_positions]])),
        np.append(0, np.cumsum([len(text.words) for text in texts])),
    )


def compute_joins(words: Sequence[str], spaces: Sequence[bool]) -> Array:
    """Return the code of each word about adjacent spaces and brackets, see ``join_codes``."""
    return join_codes(words, np.array(spaces, dtype=bool))


def allowed_tags(text: NamedText, labels: Sequence[str]) -> Array:
    """Return the (words, tags) mask of the BILUO tags that the names of a text allow.

    A label such as ``GENE|FAMILY`` allows the tags of each of its parts; outside of names only tag
    0 is allowed. Tags are numbered as in ``textrank.language.ner``.
    """
    allowed = np.zeros((len(text.words), 4 * len(labels) + 1), dtype=np.bool_)
    allowed[:, 0] = True
    for start, end, label in text.names:
        allowed[start:end, 0] = False
        for part in label.split("|"):
            first = 4 * labels.index(part)
            if end - start == 1:
                allowed[start, first + 4] = True
            else:
                allowed[start, first + 1] = allowed[end - 1, first + 3] = True
                allowed[start + 1 : end - 1, first + 2] = True
    return allowed


def train_evidence(
    texts: Sequence[NamedText],
    labels: Sequence[str],
    table: WordTable,
    settings: EvidenceSettings,
) -> tuple[Array, Array]:
    """Train weights (rows, tags) and transitions (tags + 1, tags + 1) for names of these labels.

    Tags are those of ``allowed_tags``. Variants of the texts are added (``add_variants``). The last
    index of transitions is the boundary of a text; illegal transitions are 0.
    """
    all_texts = add_variants(texts, settings)
    rows = compute_rows(all_texts, table, settings.bits)
    allowed = np.concatenate([allowed_tags(text, labels) for text in all_texts])
    legal = legal_transitions(len(labels))
    size = legal.shape[0] - 1
    weights = np.zeros((1 << settings.bits, size), dtype=np.float32)
    squares = np.full_like(weights, 1e-2)
    steps, step_squares = np.where(legal, 0.0, -1e30), np.ones(legal.shape)
    rng = np.random.default_rng(settings.seed)
    weight_sum, step_sum, n_averaged = np.zeros_like(weights), np.zeros_like(steps), 0
    for epoch in range(settings.epochs):
        rate = settings.rate * (1 - epoch / settings.epochs)
        order = rng.permutation(len(all_texts))
        _run_epoch(rows.templates, rows.pieces, rows.starts, rows.bounds, order, allowed, weights,
               squares, steps, step_squares, legal, rate, settings.decay, settings.dropout,
               settings.seed + epoch)  # fmt: skip
        if epoch >= settings.epochs // 2:
            weight_sum, step_sum, n_averaged = (
                weight_sum + weights,
                step_sum + steps,
                n_averaged + 1,
            )
    return weight_sum / n_averaged, np.where(legal, step_sum / n_averaged, 0.0)


@njit(cache=True)
def add_marginals(scores: Array, steps: Array, allowed: Array, tags: Array, pairs: Array) -> None:
    """Write marginal probabilities of tags to ``tags`` and add those of pairs to ``pairs``.

    Forward-backward algorithm. Scores are (n, tags), n at least 1, ``steps`` (tags + 1, tags + 1)
    transitions, whose last index is the boundary of the text; ``pairs`` has the shape of ``steps``.
    ``allowed`` (n, tags) is the mask of allowed tags; with zero rows all tags are allowed.
    """
    n, size = scores.shape
    step = np.exp(steps)
    weights = np.empty((n, size))
    for i in range(n):
        top = scores[i].max()
        for t in range(size):
            factor = 1.0 if len(allowed) == 0 or allowed[i, t] else 1e-60
            weights[i, t] = np.exp(scores[i, t] - top) * factor + 1e-100
    forward, backward, scale = np.empty((n, size)), np.empty((n, size)), np.empty(n)
    for i in range(n):
        for t in range(size):
            before = step[size, t]
            if i:
                before = 0.0
                for u in range(size):
                    before += forward[i - 1, u] * step[u, t]
            forward[i, t] = before * weights[i, t]
        scale[i] = forward[i].sum()
        forward[i] /= scale[i]
    ends = 0.0
    for t in range(size):
        ends += forward[n - 1, t] * step[t, size]
    for t in range(size):
        backward[n - 1, t] = step[t, size] / ends
        pairs[t, size] += forward[n - 1, t] * backward[n - 1, t]
    for i in range(n - 2, -1, -1):
        for t in range(size):
            backward[i, t] = 0.0
            for u in range(size):
                path_weight = step[t, u] * weights[i + 1, u] * backward[i + 1, u] / scale[i + 1]
                backward[i, t] += path_weight
                pairs[t, u] += forward[i, t] * path_weight
    for i in range(n):
        for t in range(size):
            tags[i, t] = forward[i, t] * backward[i, t]
    for t in range(size):
        pairs[size, t] += tags[0, t]


@njit(cache=True, fastmath=True)
def _run_epoch(
    templates: Array, pieces: Array, starts: Array, bounds: Array, order: Array, allowed: Array,
    weights: Array, squares: Array, steps: Array, step_squares: Array, legal: Array,
    rate: float, decay: float, dropout: float, seed: int,
) -> None:  # fmt: skip
    """Run one epoch over the texts in ``order``; ``weights`` and ``steps`` change in place.

    ``squares`` and ``step_squares`` are the sums of squared gradients of AdaGrad, also updated in
    place. The gradient is the difference of the marginals without and with the mask ``allowed``.
    Words whose tags are all nearly right (to 0.001) are skipped.
    """
    np.random.seed(seed)  # noqa: NPY002 - compiled code has no other generator
    size, n_templates = weights.shape[1], templates.shape[1]
    for text in order:
        first, n = bounds[text], bounds[text + 1] - bounds[text]
        if n == 0:
            continue
        scores = np.zeros((n, size))
        is_used = np.random.random((n, n_templates)) >= dropout  # noqa: NPY002
        for i in range(n):
            for f in range(n_templates):
                if is_used[i, f]:
                    for t in range(size):
                        scores[i, t] += weights[templates[first + i, f], t] / (1 - dropout)
            for row in pieces[starts[first + i] : starts[first + i + 1]]:
                for t in range(size):
                    scores[i, t] += weights[row, t]
        expected, restricted = np.zeros((n, size)), np.zeros((n, size))
        pairs, restricted_pairs = np.zeros_like(steps), np.zeros_like(steps)
        add_marginals(scores, steps, allowed[:0], expected, pairs)
        add_marginals(scores, steps, allowed[first : first + n], restricted, restricted_pairs)
        expected -= restricted
        for i in range(n):
            if np.abs(expected[i]).max() <= 1e-3:
                continue
            for f in range(n_templates):
                if is_used[i, f]:
                    _adagrad_step(
                        weights, squares, templates[first + i, f], expected[i], rate, decay
                    )
            for row in pieces[starts[first + i] : starts[first + i + 1]]:
                _adagrad_step(weights, squares, row, expected[i], rate, decay)
        for t in range(size + 1):
            for u in range(size + 1):
                if legal[t, u]:
                    slope = pairs[t, u] - restricted_pairs[t, u]
                    step_squares[t, u] += slope * slope
                    steps[t, u] -= rate * slope / np.sqrt(step_squares[t, u])


@njit(cache=True, fastmath=True)
def _adagrad_step(
    weights: Array, squares: Array, row: int, slopes: Array, rate: float, decay: float
) -> None:
    """Apply one AdaGrad step to a row of the table, in place.

    ``slopes`` (tags,) is the gradient without that of the penalty ``decay``.
    """
    for t in range(weights.shape[1]):
        slope = slopes[t] + decay * weights[row, t]
        squares[row, t] += slope * slope
        weights[row, t] -= rate * slope / (np.sqrt(squares[row, t]) + 1e-6)
