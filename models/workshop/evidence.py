"""Train the evidence table of a recogniser: a linear CRF on hashed feature templates.

Each text is a step of stochastic gradient descent with AdaGrad's rates. Half of the templates of a
word are left out at each step, so that many weak signs are learned beside the few strong ones, and
the weights are averages over the second half of all epochs. Compiled: an epoch of 400 000 words
takes four seconds.
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
class Rows:
    """Rows of the table that each word asks for."""

    templates: Array  # (words, templates)
    pieces: Array  # of all words, one after the other
    starts: Array  # (words + 1,) in pieces
    bounds: Array  # (texts + 1,) in words


@dataclass(frozen=True)
class EvidenceSettings:
    """How long and how cautiously the table is learned."""

    epochs: int = 7
    bits: int = TABLE_BITS  # of the table's rows
    rate: float = 0.03
    decay: float = 1e-3
    dropout: float = 0.5
    lower: float = 0.125  # share of texts that are learned once more without capitals
    short: float = 0.17  # share of texts that a few words of are learned once more
    seed: int = 0


def lower_cased(text: NamedText) -> NamedText:
    """Return the text in lower case."""
    return replace(text, words=[word.lower() for word in text.words])


def cut_short(text: NamedText, draw: random.Random) -> NamedText:
    """Three to nine words of a text as one of its own, mostly with a full stop; no name is cut."""
    if len(text.words) < 10:
        return text
    length = draw.randint(3, 9)
    start = draw.randint(0, len(text.words) - length)
    end = start + length
    for a, b, _ in text.names:
        start = a if a < start < b else start
        end = b if a < end < b else end
    words, spaces = list(text.words[start:end]), list(text.spaces[start:end])
    names = [(a - start, b - start, label) for a, b, label in text.names if start <= a and b <= end]
    if words[-1] not in ".?!" and draw.random() < 0.7:
        words.append(".")
        spaces[-1:] = [False, True]
    return NamedText(words, spaces, names)


def with_variants(texts: Sequence[NamedText], settings: EvidenceSettings) -> list[NamedText]:
    """Return the texts, and some of them again in lower case or cut short."""
    draw = random.Random(settings.seed)
    lower = draw.sample(texts, int(settings.lower * len(texts)))
    short = draw.sample(texts, int(settings.short * len(texts)))
    return [*texts, *map(lower_cased, lower), *(cut_short(text, draw) for text in short)]


def rows_of(texts: Sequence[NamedText], table: WordTable, bits: int = TABLE_BITS) -> Rows:
    """Return the rows of the table for the words of the texts."""
    known: dict[tuple[str, bool], int] = {}
    which: list[int] = [-1] * MAX_OFFSET
    glue: list[Array] = [np.zeros(MAX_OFFSET, dtype=np.uint64)]
    for text in texts:
        flags = caseless_mask(text.words).tolist()
        keys = zip(text.words, flags, strict=True)
        which += [known.setdefault(key, len(known)) for key in keys] + [-1] * MAX_OFFSET
        glue += [joins(text.words, text.spaces), np.zeros(MAX_OFFSET, dtype=np.uint64)]
    views = np.array([table.view_hashes(*key) for key in known], dtype=np.uint64)
    views = np.vstack([views, np.zeros((1, len(VIEW_INDEX)), dtype=np.uint64)])  # the last: no word
    order = np.array(which)
    places = np.flatnonzero(order >= 0)
    alone = [rows[order[places + at]] for at, rows in unigram_rows(views)]
    columns = [views[order, VIEW_INDEX[view]] for view in CONJUNCTION_VIEWS]
    together = [r[places - MAX_OFFSET] for r in conjunction_rows(columns, np.concatenate(glue))]
    own = [ngram_rows(word) for word, _ in known]
    return Rows(
        np.stack([*alone, *together], axis=1).astype(np.int32) >> (TABLE_BITS - bits),
        np.concatenate([own[i] for i in order[places]]).astype(np.int32) >> (TABLE_BITS - bits),
        np.append(0, np.cumsum([len(own[i]) for i in order[places]])),
        np.append(0, np.cumsum([len(text.words) for text in texts])),
    )


def joins(words: Sequence[str], spaces: Sequence[bool]) -> Array:
    """Return ``join_codes`` for words and spaces."""
    return join_codes(words, np.array(spaces, dtype=bool))


def allowed_of(text: NamedText, labels: Sequence[str]) -> Array:
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
    """Weights (rows, tags) and transitions (tags + 1, tags + 1) for names of these labels."""
    everything = with_variants(texts, settings)
    rows = rows_of(everything, table, settings.bits)
    allowed = np.concatenate([allowed_of(text, labels) for text in everything])
    legal = legal_transitions(len(labels))
    size = legal.shape[0] - 1
    weights = np.zeros((1 << settings.bits, size), dtype=np.float32)
    squares = np.full_like(weights, 1e-2)
    steps, step_squares = np.where(legal, 0.0, -1e30), np.ones(legal.shape)
    draw = np.random.default_rng(settings.seed)
    total, total_steps, kept = np.zeros_like(weights), np.zeros_like(steps), 0
    for epoch in range(settings.epochs):
        rate = settings.rate * (1 - epoch / settings.epochs)
        order = draw.permutation(len(everything))
        _epoch(rows.templates, rows.pieces, rows.starts, rows.bounds, order, allowed, weights,
               squares, steps, step_squares, legal, rate, settings.decay, settings.dropout,
               settings.seed + epoch)  # fmt: skip
        if epoch >= settings.epochs // 2:
            total, total_steps, kept = total + weights, total_steps + steps, kept + 1
    return total / kept, np.where(legal, total_steps / kept, 0.0)


def emissions(texts: Sequence[NamedText], table: WordTable, weights: Array) -> Array:
    """Sums of the weights of all words of the texts, (words, tags)."""
    rows = rows_of(texts, table, len(weights).bit_length() - 1)
    return _emissions(rows.templates, rows.pieces, rows.starts, weights.astype(np.float32))


@njit(cache=True)
def _emissions(templates: Array, pieces: Array, starts: Array, weights: Array) -> Array:
    """Return sums of weights (words, tags) of the rows of each word."""
    found = np.zeros((templates.shape[0], weights.shape[1]), dtype=np.float32)
    for i in range(len(templates)):
        for row in templates[i]:
            found[i] += weights[row]
        for row in pieces[starts[i] : starts[i + 1]]:
            found[i] += weights[row]
    return found


@njit(cache=True)
def marginals(scores: Array, steps: Array, allowed: Array, found: Array, pairs: Array) -> None:
    """Write marginal probabilities of tags to ``found`` and add those of tag pairs to ``pairs``.

    Scores are (n, tags), ``steps`` (tags + 1, tags + 1) transitions. ``allowed`` (n, tags) is the
    mask of tags that are allowed; without rows it allows all.
    """
    n, size = scores.shape
    step = np.exp(steps)
    weights = np.empty((n, size))
    for i in range(n):
        top = scores[i].max()
        for t in range(size):
            factor = 1.0 if len(allowed) == 0 or allowed[i, t] else 1e-60
            weights[i, t] = np.exp(scores[i, t] - top) * factor + 1e-100
    ahead, behind, scale = np.empty((n, size)), np.empty((n, size)), np.empty(n)
    for i in range(n):
        for t in range(size):
            before = step[size, t]
            if i:
                before = 0.0
                for u in range(size):
                    before += ahead[i - 1, u] * step[u, t]
            ahead[i, t] = before * weights[i, t]
        scale[i] = ahead[i].sum()
        ahead[i] /= scale[i]
    ends = 0.0
    for t in range(size):
        ends += ahead[n - 1, t] * step[t, size]
    for t in range(size):
        behind[n - 1, t] = step[t, size] / ends
        pairs[t, size] += ahead[n - 1, t] * behind[n - 1, t]
    for i in range(n - 2, -1, -1):
        for t in range(size):
            behind[i, t] = 0.0
            for u in range(size):
                way = step[t, u] * weights[i + 1, u] * behind[i + 1, u] / scale[i + 1]
                behind[i, t] += way
                pairs[t, u] += ahead[i, t] * way
    for i in range(n):
        for t in range(size):
            found[i, t] = ahead[i, t] * behind[i, t]
    for t in range(size):
        pairs[size, t] += found[0, t]


@njit(cache=True, fastmath=True)
def _epoch(
    templates: Array, pieces: Array, starts: Array, bounds: Array, order: Array, allowed: Array,
    weights: Array, squares: Array, steps: Array, step_squares: Array, legal: Array,
    rate: float, decay: float, dropout: float, seed: int,
) -> None:  # fmt: skip
    """Run one epoch of AdaGrad over the texts in ``order``; weights and steps change in place."""
    np.random.seed(seed)  # noqa: NPY002 - compiled code has no other generator
    size, many = weights.shape[1], templates.shape[1]
    for text in order:
        first, n = bounds[text], bounds[text + 1] - bounds[text]
        if n == 0:
            continue
        scores = np.zeros((n, size))
        kept = np.random.random((n, many)) >= dropout  # noqa: NPY002
        for i in range(n):
            for f in range(many):
                if kept[i, f]:
                    for t in range(size):
                        scores[i, t] += weights[templates[first + i, f], t] / (1 - dropout)
            for row in pieces[starts[first + i] : starts[first + i + 1]]:
                for t in range(size):
                    scores[i, t] += weights[row, t]
        free, given = np.zeros((n, size)), np.zeros((n, size))
        pairs, given_pairs = np.zeros_like(steps), np.zeros_like(steps)
        marginals(scores, steps, allowed[:0], free, pairs)
        marginals(scores, steps, allowed[first : first + n], given, given_pairs)
        free -= given
        for i in range(n):
            if np.abs(free[i]).max() <= 1e-3:
                continue
            for f in range(many):
                if kept[i, f]:
                    _learn(weights, squares, templates[first + i, f], free[i], rate, decay)
            for row in pieces[starts[first + i] : starts[first + i + 1]]:
                _learn(weights, squares, row, free[i], rate, decay)
        for t in range(size + 1):
            for u in range(size + 1):
                if legal[t, u]:
                    slope = pairs[t, u] - given_pairs[t, u]
                    step_squares[t, u] += slope * slope
                    steps[t, u] -= rate * slope / np.sqrt(step_squares[t, u])


@njit(cache=True, fastmath=True)
def _learn(
    weights: Array, squares: Array, row: int, slopes: Array, rate: float, decay: float
) -> None:
    """Apply one AdaGrad step to a row of the table, in place."""
    for t in range(weights.shape[1]):
        slope = slopes[t] + decay * weights[row, t]
        squares[row, t] += slope * slope
        weights[row, t] -= rate * slope / (np.sqrt(squares[row, t]) + 1e-6)
