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
    longest = sizes.max()
    few = longest > _PIECE and len(emissions) < _FEW * longest  # texts to work on side by side
    cuts = _cuts(emissions, transitions, ends) if few else np.zeros(0, dtype=np.intp)
    steps = _Steps.of(np.diff(np.union1d(ends, cuts), prepend=0).tolist())
    begins = np.isin(steps.order[: steps.first], np.append(0, ends))
    scores = emissions.T[:, steps.order]  # becomes that of the best way to each tag
    scores[:, : steps.first] += np.where(begins, transitions[-1:, :-1].T, transitions[:1, :-1].T)
    inner = transitions[:-1, :-1, None]
    for (start, _), (later, stop) in pairwise(steps.bounds):
        ways = scores[:, None, start : start + stop - later] + inner  # from, to, text
        scores[:, later:stop] += ways.max(axis=0)
    sure = np.isin(steps.order, cuts - 1)
    return _trace(steps, np.ascontiguousarray(scores.T), transitions, sure)


_FEW = 24  # texts as long as the longest
_PIECE = 24  # words after which a text is cut as soon as may be


def _cuts(emissions: Floats, transitions: Floats, ends: Ints) -> Ints:
    """Words before which texts may be cut, since the word before them is surely in no name."""
    sure = np.flatnonzero(_sure(emissions, transitions, ends)) + 1
    found, last = [], 0
    starts = np.append(0, ends)
    for cut, begun in zip(
        sure.tolist(), starts[np.searchsorted(starts, sure, side="right") - 1].tolist(), strict=True
    ):
        if cut - max(last, begun) >= _PIECE:
            found.append(cut)
            last = cut
    return np.array(found, dtype=np.intp)


def _sure(emissions: Floats, transitions: Floats, ends: Ints) -> Bools:  # (words,)
    """Which words are surely in no name.

    In a run of words O scores higher than any other tag. A name with a word of the run is worth
    less than the same name without the words of the run, if these win more than is lost: by other
    transitions at both ends of the name, and where it goes on beyond the run by another tag there.
    """
    legal = transitions[np.isfinite(transitions)]
    most = legal.max() - legal.min()  # what another transition loses
    starts = np.zeros(len(emissions), dtype=bool)
    starts[np.append(0, ends[:-1])] = True
    stops = np.append(starts[1:], True)
    begin, inside, last, alone = (emissions[:, first::4] for first in range(1, 5))
    before = np.maximum(begin - alone, inside - last).max(axis=1) + most
    after = np.maximum(inside - begin, last - alone).max(axis=1) + most
    before = np.where(starts, 0.0, np.roll(before, 1))  # what the word before a run loses
    after = np.where(stops, 0.0, np.roll(after, -1))
    begins = range(1, len(transitions) - 1, 4)
    inner = max(transitions[b : b + 2, b + 1 : b + 3].max() for b in begins) - transitions[0, 0]
    won = emissions[:, 0] - emissions[:, 1:].max(axis=1) - max(inner, 0.0)
    left = _won_before(won, before, starts)
    right = _won_before(won[::-1], after[::-1], stops[::-1])[::-1]
    sure: Bools = (won > 0) & (won + left + right > 2 * most)
    return sure


def _won_before(won: Floats, lost: Floats, starts: Bools) -> Floats:
    """What a run wins at least in those words before each that a name with that word has.

    Nothing, if the name begins with the word; with all words before it, less what is lost there.
    """
    words = np.arange(len(won))
    first = starts | np.append(True, won[:-1] <= 0)
    run = np.maximum.accumulate(np.where(first, words, 0))
    total = np.append(0.0, np.cumsum(np.maximum(won, 0.0))[:-1])
    return np.minimum(total - total[run] - lost[run], 0.0)


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
