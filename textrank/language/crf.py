"""Linear-chain conditional random fields over texts of any lengths, worked on side by side.

The tags of a text score the sum of an emission for each word and tag and of a transition for each
two neighbouring tags, and are as probable as the exponential of that says. What lies between words
``t`` and ``t + 1`` is one step for all texts that are so long. Within a step the longest texts
stand first, so that those that go on are its first rows and nothing is padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]

_LEAST = 1e-100  # weight of a tag that is not allowed: an impossible answer has a gradient too
_TINY = 1e-280  # keeps weights off zero, so that no sum of them is


@dataclass(frozen=True, eq=False)
class Chances:
    """What follows from the scores of the tags of some texts."""

    log_total: float  # logarithm of the weight of all sequences of tags, summed over the texts
    tags: Floats  # (words, tags): how probable a tag is
    pairs: Floats  # (tags + 1, tags + 1): how often one tag is expected to follow another


@dataclass(frozen=True, eq=False)
class _Steps:
    """In which order the words of some texts are worked on."""

    order: Ints  # words, the first ones of all texts first
    bounds: Sequence[tuple[int, int]]  # of the steps in that order
    first: int  # number of texts
    last: Ints  # places in that order of the last words of texts

    @classmethod
    def of(cls, lengths: Sequence[int]) -> _Steps:
        sizes = np.asarray([length for length in lengths if length], dtype=np.intp)
        ends = np.cumsum(sizes)
        time = np.arange(sizes.sum()) - np.repeat(ends - sizes, sizes)
        rank = np.empty(len(sizes), dtype=np.intp)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        order = np.lexsort((np.repeat(rank, sizes), time))
        bounds = list(pairwise([0, *np.cumsum(np.bincount(time)).tolist()]))
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        return cls(order, bounds, len(sizes), place[ends - 1])


def legal_transitions(labels: int) -> Bools:
    """Which tag may follow which, ``(tags + 1, tags + 1)``; the last stands for a text's ends.

    Tags are O, then for each label B (begins a name), I (inside), L (last) and U (one word alone).
    """
    tags = 4 * labels + 1
    opens, closes = np.zeros(tags + 1, dtype=bool), np.zeros(tags + 1, dtype=bool)
    opens[[0, *range(1, tags, 4), *range(4, tags, 4), tags]] = True
    closes[[0, *range(3, tags, 4), *range(4, tags, 4), tags]] = True
    legal = closes[:, None] & opens
    for begin in range(1, tags, 4):
        legal[begin : begin + 2, begin + 1 : begin + 3] = True
    return legal


def chances(
    emissions: Floats, transitions: Floats, lengths: Sequence[int], allowed: Bools | None = None
) -> Chances:
    """How probable tags and pairs of tags are, by the forward-backward algorithm.

    ``emissions`` is (words, tags), one text after the other; ``transitions`` has -inf where a tag
    must not follow another. With ``allowed``, (words, tags), only those tags count.
    """
    if not len(emissions):
        return Chances(0.0, np.zeros_like(emissions), np.zeros_like(transitions))
    steps = _Steps.of(lengths)
    highest = emissions.max(axis=1, keepdims=True)
    weights = np.exp(emissions - highest)
    if allowed is not None:
        weights = np.where(allowed, weights, weights * _LEAST)
    weights = np.maximum(weights, _TINY)[steps.order]
    top = transitions.max()
    step = np.exp(transitions - top)
    ahead, scale = _forward(steps, weights, step)
    ends = ahead[steps.last] @ step[:-1, -1]
    reached = weights / scale  # times what is behind: the weight of reaching a tag, and going on
    behind = _backward(steps, reached, step, ends)
    tags = np.empty_like(ahead)
    tags[steps.order] = ahead * behind
    total = np.log(scale).sum() + np.log(ends).sum() + highest.sum()
    total += top * (len(weights) + steps.first)
    return Chances(float(total), tags, _pairs(steps, step, ahead, reached * behind, ends))


def _forward(steps: _Steps, weights: Floats, step: Floats) -> tuple[Floats, Floats]:
    """Shares of the tags given the words so far, and what the shares were divided by."""
    ahead, scale = np.empty_like(weights), np.empty((len(weights), 1))
    before = np.repeat(step[-1:, :-1], steps.first, axis=0)
    inner = step[:-1, :-1]
    for start, stop in steps.bounds:
        own = before[: stop - start] * weights[start:stop]
        total = own.sum(axis=1, keepdims=True)
        own /= total
        ahead[start:stop], scale[start:stop] = own, total
        before = own @ inner
    return ahead, scale


def _backward(steps: _Steps, reached: Floats, step: Floats, ends: Floats) -> Floats:
    """Weight of all that follows each tag, so that times its share it is its chance."""
    behind = np.empty_like(reached)
    behind[steps.last] = step[:-1, -1] / ends[:, None]
    inner = np.ascontiguousarray(step[:-1, :-1].T)
    for (start, _), (later, stop) in reversed(list(pairwise(steps.bounds))):
        rows = stop - later
        behind[start : start + rows] = (reached[later:stop] * behind[later:stop]) @ inner
    return behind


def _pairs(steps: _Steps, step: Floats, ahead: Floats, came: Floats, ends: Floats) -> Floats:
    goes_on = np.ones(len(ahead), dtype=bool)
    goes_on[steps.last] = False
    pairs = np.zeros_like(step)
    pairs[:-1, :-1] = ahead[goes_on].T @ came[steps.first :]
    pairs[-1, :-1] = came[: steps.first].sum(axis=0)
    pairs[:-1, -1] = (ahead[steps.last] / ends[:, None]).sum(axis=0)
    return pairs * step


def best_tags(emissions: Floats, transitions: Floats, lengths: Sequence[int]) -> Ints:
    """The tag of each word in the sequence that scores highest, by the Viterbi algorithm.

    Tags are those of ``legal_transitions``. Texts are cut after words that are surely in no name.
    """
    if not len(emissions):
        return np.zeros(0, dtype=np.intp)
    sizes = np.asarray([length for length in lengths if length], dtype=np.intp)
    ends = np.cumsum(sizes)
    few = len(emissions) < _FEW * sizes.max()  # texts to work on side by side
    cuts = _cuts(emissions, transitions, ends) if few else np.zeros(0, dtype=np.intp)
    steps = _Steps.of(np.diff(np.union1d(ends, cuts), prepend=0).tolist())
    scores = emissions[steps.order]  # becomes that of the best way to each tag
    begins = np.isin(steps.order[: steps.first], np.append(0, ends))
    scores[: steps.first] += np.where(begins[:, None], transitions[-1, :-1], transitions[0, :-1])
    inner = np.ascontiguousarray(transitions[:-1, :-1].T)  # to, from
    for (start, _), (later, stop) in pairwise(steps.bounds):
        ways = scores[start : start + stop - later, None, :] + inner
        scores[later:stop] += ways.max(axis=2)
    sure = np.isin(steps.order, cuts - 1)
    return _trace(steps, scores, transitions, sure)


_FEW = 24  # texts as long as the longest
_PIECE = 40  # words after which a text is cut as soon as may be


def _cuts(emissions: Floats, transitions: Floats, ends: Ints) -> Ints:
    """Words before which texts may be cut, since the word before them is surely in no name.

    Were that word in a name, the name without it, or its two halves, would score higher: what is
    lost by other tags of its two neighbours and by transitions is less than what is won.
    """
    sure = np.flatnonzero(_won(emissions, transitions) > 0) + 1
    found, last = [], 0
    starts = np.append(0, ends)
    for cut, begun in zip(
        sure.tolist(), starts[np.searchsorted(starts, sure, side="right") - 1].tolist(), strict=True
    ):
        if cut - max(last, begun) >= _PIECE:
            found.append(cut)
            last = cut
    return np.array(found, dtype=np.intp)


def _won(emissions: Floats, transitions: Floats) -> Floats:
    """What is won at least when a word leaves whatever name it may be in."""
    begin, inside, last, alone = (emissions[:, first::4] for first in range(1, 5))
    ends, begins = np.zeros_like(begin), np.zeros_like(begin)  # lost by its neighbours
    ends[1:] = np.maximum(begin - alone, inside - last)[:-1]
    begins[:-1] = np.maximum(inside - begin, last - alone)[1:]
    lost = np.array([_lost(transitions, first) for first in range(1, emissions.shape[1], 4)]).T
    highest = np.maximum(begin + begins + lost[0], inside + ends + begins + lost[1])
    highest = np.maximum(np.maximum(highest, last + ends + lost[2]), alone + lost[3])
    won: Floats = emissions[:, 0] - highest.max(axis=1)
    return won


def _lost(transitions: Floats, first: int) -> tuple[float, ...]:
    """What transitions lose at most when a word that has one of the tags of a label gets O.

    The word before it becomes the last of a name, the one after it the first.
    """
    T, end = transitions, len(transitions) - 1
    b, i, last, alone = range(first, first + 4)
    out, into = [0, *range(3, end, 4), *range(4, end, 4), end], [i, last]
    opens = [0, *range(1, end, 4), *range(4, end, 4), end]

    def before(tag: int) -> float:  # what ends before this tag, now before O
        from_b = (T[out, b] - T[out, alone]).max() + T[b, tag] - T[alone, 0]
        from_i = (T[[b, i], i] - T[[b, i], last]).max() + T[i, tag] - T[last, 0]
        return float(max(from_b, from_i))

    def after(tag: int) -> float:  # what begins after it, now after O
        to_i = T[tag, i] - T[0, b] + (T[i, into] - T[b, into]).max()
        to_last = T[tag, last] - T[0, alone] + (T[last, opens] - T[alone, opens]).max()
        return float(max(to_i, to_last))

    def enters(tag: int) -> float:
        return float((T[out, tag] - T[out, 0]).max())

    def leaves(tag: int) -> float:
        return float((T[tag, opens] - T[0, opens]).max())

    both = before(i) + after(i)
    return enters(b) + after(b), both, before(last) + leaves(last), enters(alone) + leaves(alone)


def _trace(steps: _Steps, scores: Floats, transitions: Floats, sure: Bools) -> Ints:
    """Back along the best ways. Where they came from is worked out only where they go."""
    tags = (scores + transitions[:-1, -1]).argmax(axis=1)  # right where a text ends
    tags[sure] = 0  # or is cut
    into = np.ascontiguousarray(transitions[:-1, :-1].T)
    for (start, _), (later, stop) in reversed(list(pairwise(steps.bounds))):
        rows = slice(start, start + stop - later)
        tags[rows] = (scores[rows] + into[tags[later:stop]]).argmax(axis=1)
    found = np.empty_like(tags)
    found[steps.order] = tags
    return found
