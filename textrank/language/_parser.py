"""spaCy's greedy arc-eager parse of many sentences side by side.

Each sentence is parsed as a text of its own, so its tree does not depend on other sentences. All
sentences of a batch make their next move together, each move one set of array operations; sentences
of similar length go together, so that few are waited for. The moves, and when each may be made, are
those of ``spacy.pipeline._parser_internals.arc_eager``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.float32]
SHIFT, REDUCE, LEFT, RIGHT, BREAK = range(5)
N_STATE_WORDS = 8  # words a state is known by
MAX_BATCH_WORDS = 8192  # words of the sentences that are parsed side by side


@dataclass(frozen=True, eq=False)
class ParserNetwork:
    """What scores the moves of a state, and which move each score is of."""

    lower: Floats  # (width, features * pieces * hidden): of the words of a state
    padding: Floats  # (features, pieces * hidden): of words that are not there
    bias: Floats  # (pieces * hidden,)
    upper: Floats  # (hidden, classes)
    upper_bias: Floats  # (classes,)
    moves: Ints  # (classes,)
    labels: NDArray[np.uint64]  # (classes,)

    @classmethod
    def of(cls, model: Any, names: Sequence[str], labels: NDArray[np.uint64]) -> ParserNetwork:
        """That of a spaCy parser whose classes have these names and labels."""
        lower, upper = model.layers[1], model.layers[2]
        pieces, width = lower.get_dim("nP"), lower.get_dim("nI")

        def pieces_apart(array: Any, *shape: int) -> Any:  # (..., hidden, pieces, ...) -> flat
            return np.ascontiguousarray(np.moveaxis(array, 2, 1)).reshape(*shape)

        flat = pieces * lower.get_dim("nO")
        return cls(
            np.ascontiguousarray(pieces_apart(lower.get_param("W"), -1, width).T),
            pieces_apart(lower.get_param("pad")[0], N_STATE_WORDS, flat),
            np.ascontiguousarray(lower.get_param("b").T).ravel(),
            np.ascontiguousarray(upper.get_param("W").T),
            upper.get_param("b"),
            np.array(["SDLRB".index(name[0]) for name in names], dtype=np.intp),
            labels,
        )

    def table(self, vectors: Floats) -> Floats:
        """What each word adds at each place of a state, a row each; the last are of no word."""
        table = np.empty((len(vectors) + 1, self.lower.shape[1]), dtype=np.float32)
        self.fill(table, vectors)
        table[:, : len(self.bias)] += self.bias
        return table.reshape(-1, len(self.bias))

    def fill(self, table: Floats, vectors: Floats) -> None:  # (words + 1, features * hidden)
        """Puts that into a table that is there, but for the bias."""
        np.matmul(vectors, self.lower, out=table[:-1])
        table[-1] = self.padding.ravel()

    def above(self, model: Any) -> ParserNetwork:
        """The same with the bias and the upper layer that a spaCy parser has now."""
        lower, upper = model.layers[1], model.layers[2]
        return replace(
            self,
            bias=np.ascontiguousarray(lower.get_param("b").T).ravel(),
            upper=np.ascontiguousarray(upper.get_param("W").T),
            upper_bias=upper.get_param("b"),
        )

    def penalties(self) -> Floats:  # (16, classes)
        """Added to scores: minus infinity where the bits of a row bar a move."""
        bits = np.array([1, 2, 4, 4, 8])[self.moves]
        allowed = (np.arange(16)[:, None] & bits) > 0
        return np.where(allowed, self.upper_bias, -np.inf).astype(np.float32)


@dataclass(frozen=True, eq=False)
class ArcArrays:
    """Heads relative to words and labels of arcs, both 0 for a root."""

    heads: NDArray[np.int64]
    labels: NDArray[np.uint64]

    def part(self, start: int, end: int) -> ArcArrays:
        """That of some of the words."""
        return ArcArrays(self.heads[start:end], self.labels[start:end])


def parse_sentences(
    network: ParserNetwork, vectors: Floats, starts: Ints, lengths: Sequence[int]
) -> ArcArrays:
    """The arcs of all words of some Docs.

    ``starts`` has 1 where a sentence is known to begin and -1 where it is known not to;
    ``lengths`` are those of the Docs, one after the other. Where it has 0, the parser may begin
    another sentence.
    """
    tree = ArcArrays(np.zeros(len(starts), dtype=np.int64), np.zeros(len(starts), dtype=np.uint64))
    for group in group_sentences(starts, lengths, MAX_BATCH_WORDS):
        _parse_group(network, vectors, starts, group, tree)
    return tree


def _parse_group(
    network: ParserNetwork, vectors: Floats, starts: Ints, group: SentenceGroup, tree: ArcArrays
) -> None:
    """Add the arcs of some sentences to the tree."""
    words = group.words
    states = ParserStates.of(group, starts[words])
    states.run(network, network.table(vectors[words]))
    has_head = states.head[:-2] < states.junk
    heads = states.head[:-2] - np.arange(len(words))
    tree.heads[words] = np.where(has_head, heads, 0)
    labels = network.labels[states.label[:-2]]
    tree.labels[words] = np.where(has_head, labels, np.uint64(0))


def longest_sentence(starts: Ints, lengths: Sequence[int]) -> int:
    """Words of the longest sentence."""
    first, last = sentence_bounds(starts, lengths)
    return int((last - first).max(initial=0))


def sentence_bounds(starts: Ints, lengths: Sequence[int]) -> tuple[Ints, Ints]:
    """Return the first word and the end of each sentence of some Docs, one after the other."""
    ends = np.cumsum(np.asarray([n for n in lengths if n], dtype=np.intp))
    begins = starts == 1
    begins[np.append(0, ends[:-1]) if len(ends) else []] = True
    first = np.flatnonzero(begins)
    return first, np.append(first[1:], len(starts)) if len(first) else first


@dataclass(frozen=True, eq=False)
class SentenceGroup:
    """Sentences, one after the other."""

    words: Ints  # which words these are
    first: Ints  # of each sentence, within ``words``
    close: Ints  # the last word of each sentence, within ``words``


def group_sentences(starts: Ints, lengths: Sequence[int], together: int) -> Iterator[SentenceGroup]:
    """The sentences of Docs in groups of like length and about so many words."""
    first, last = sentence_bounds(starts, lengths)
    order = np.argsort(first - last, kind="stable")
    sizes = (last - first)[order]
    number = (np.cumsum(sizes) - sizes) // together
    for chosen in np.split(order, np.flatnonzero(np.diff(number)) + 1):
        if len(chosen):
            yield _group(first[chosen], last[chosen])


def _group(first: Ints, last: Ints) -> SentenceGroup:
    sizes = last - first
    close = np.cumsum(sizes)
    begin = close - sizes
    words = np.arange(close[-1]) + np.repeat(first - begin, sizes)
    return SentenceGroup(words, begin, close - 1)


class ParserStates:
    """Where the parses of some sentences stand, each a stack and a buffer of linked words.

    ``none`` stands for a word that is not there; ``junk`` is where a word without a head has it.
    """

    none: Any  # the same for all states, or one for each

    def __init__(self, size: int) -> None:
        self.none, self.junk = size, size + 1
        self.below = np.full(size + 2, size, dtype=np.intp)  # the next word on the stack
        self.next = np.minimum(np.arange(1, size + 3), size)  # the next word of the buffer
        self.left = self.below.copy()  # the last child to the left, and to the right
        self.right = self.below.copy()
        self.before = self.below.copy()  # the right child of its head before a word became one
        self.head = np.full(size + 2, self.junk, dtype=np.intp)
        self.label = np.zeros(size + 2, dtype=np.intp)
        self.start = np.zeros(size + 2, dtype=np.int8)
        self.stays = np.zeros(size + 2, dtype=bool)  # came back from the stack: not shifted again
        self.top = self.front = np.zeros(0, dtype=np.intp)

    @classmethod
    def of(cls, group: SentenceGroup, starts: Ints) -> ParserStates:
        """All sentences at their first words."""
        states = cls(len(group.words))
        states.start[:-2] = starts
        states.next[group.close] = states.none
        states.front = group.first
        states.top = np.full(len(group.first), states.none, dtype=np.intp)
        return states

    def run(self, network: ParserNetwork, table: Floats) -> None:
        """Moves on until all sentences are parsed."""
        penalties = network.penalties()
        while len(self.front):
            second, following = self.below[self.top], self.next[self.front]
            scores = self._hidden(table, second, following) @ network.upper
            scores += penalties[self._allowed(second, following)]
            chosen = scores.argmax(axis=1)
            self._move(network.moves[chosen], chosen, second, following)
            going = (self.top != self.none) | (self.front != self.none)
            if not going.all():
                self.top, self.front = self.top[going], self.front[going]

    def _hidden(self, table: Floats, second: Ints, following: Ints) -> Floats:
        top, front = self.top, self.front
        at = (following, top, second, self.below[second], self.left[front], self.left[top],
              self.right[top])  # fmt: skip
        total = self._rows(table, front, 0)
        for place, words in enumerate(at, start=1):
            total += self._rows(table, words, place)
        half = total.shape[1] // 2
        hidden: Floats = np.maximum(total[:, :half], total[:, half:])
        return hidden

    def _rows(self, table: Floats, words: Ints, place: int) -> Floats:
        """What words add at a place of the states."""
        return table.take(N_STATE_WORDS * words + place, axis=0)

    def _allowed(self, second: Ints, following: Ints) -> Any:
        """Bits of the moves that may be made: shift, reduce, arcs, break."""
        top, front, none = self.top, self.front, self.none
        start, after = self.start[front], self.start[following]
        empty, over, last = top == none, front == none, following == none
        begins = start == 1
        shift = empty | ~(last | begins | self.stays[front])
        reduce = ~empty & (over | (second != none) | (start != -1))
        arcs = ~(empty | over | begins)
        breaks = ~last & (following == front + 1) & (after == 0)
        return shift + 2 * reduce + 4 * arcs + 8 * breaks

    def _move(self, moves: Ints, chosen: Ints, second: Ints, following: Ints) -> None:
        top, front = self.top, self.front
        rights, lefts = np.flatnonzero(moves == RIGHT), np.flatnonzero(moves == LEFT)
        self._attach_right(front[rights], top[rights], chosen[rights])
        self._attach_left(top[lefts], front[lefts], chosen[lefts])
        pushes = (moves == SHIFT) | (moves == RIGHT)
        self.below[front[pushes]] = top[pushes]
        pops = (moves == LEFT) | (moves == REDUCE)
        back = (moves == REDUCE) & (self.head[top] == self.junk) & (second != self.none)
        self.stays[top[back]] = True
        self.next[top[back]] = front[back]
        self.start[following[moves == BREAK]] = 1
        self.top = np.where(pushes, front, np.where(pops, second, top))
        self.front = np.where(pushes, following, np.where(back, top, front))

    def _attach_right(self, child: Ints, head: Ints, label: Ints) -> None:
        self.before[child] = self.right[head]
        self.right[head], self.head[child], self.label[child] = child, head, label

    def _attach_left(self, child: Ints, head: Ints, label: Ints) -> None:
        """Instead of the head that the word may have, whose last child to the right it is."""
        self.right[self.head[child]] = self.before[child]
        self.left[head], self.head[child], self.label[child] = child, head, label
        self.stays[head] = False


MAX_ENSEMBLE_WORDS = 8192  # words of the sentences that are parsed side by side, times copies
STAY = BREAK + 1  # what a parse does that is over before those of other copies


def parse_ensemble(
    networks: Sequence[ParserNetwork],
    vectors: Sequence[Floats],
    starts: Ints,
    lengths: Sequence[int],
) -> list[ArcArrays]:
    """For each network, with its own vectors of the words, what ``arc_eager.parse`` finds.

    All sentences must be known: ``starts`` has no 0, and a Doc begins with one.
    """
    shape = len(networks), len(starts)
    heads, labels = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.uint64)
    tables = _Tables(networks, vectors)
    for group in group_sentences(starts, lengths, max(MAX_ENSEMBLE_WORDS // len(tables), 1)):
        states = _Grid(group, starts[group.words], networks)
        states.run_all(networks, tables.of(group.words), len(tables) == 1)
        for row, network in enumerate(networks):
            found = states.tree(row, network)
            heads[row, group.words], labels[row, group.words] = found.heads, found.labels
    return [ArcArrays(*own) for own in zip(heads, labels, strict=True)]


class _Tables:
    """What words add to states: a table for each copy, or one where all see words alike.

    The room for them is taken once, for it is large.
    """

    def __init__(self, networks: Sequence[ParserNetwork], vectors: Sequence[Floats]) -> None:
        first = networks[0]
        alike = all(network.lower is first.lower for network in networks)
        each = list(zip(networks, vectors, strict=True))
        self._each = each[:1] if alike else each
        self._wide = first.lower.shape[1], len(first.bias)
        self._room = np.empty(0, dtype=np.float32)

    def __len__(self) -> int:
        return len(self._each)

    def of(self, words: Ints) -> Floats:
        """Those of some words, one below the other, without the bias of the copies."""
        shape = len(self), len(words) + 1, self._wide[0]
        if len(self._room) < math.prod(shape):
            self._room = np.empty(math.prod(shape), dtype=np.float32)
        tables = self._room[: math.prod(shape)].reshape(shape)
        for table, (network, vectors) in zip(tables, self._each, strict=True):
            network.fill(table, vectors[words])
        return tables.reshape(-1, self._wide[1])


class _Grid(ParserStates):
    """The parses of some sentences by several copies; each copy has its words in its own block."""

    def __init__(
        self, group: SentenceGroup, starts: Ints, networks: Sequence[ParserNetwork]
    ) -> None:
        copies = len(networks)
        self.bias = np.stack([network.bias for network in networks])[:, None]
        self.size = len(group.words) + 1  # with the word that is not there
        total = copies * self.size
        block = np.arange(copies)[:, None] * self.size
        last = block + self.size - 1  # (copies, 1) the word that is not there
        super().__init__(total - 1)
        self.junk = total
        nobody = np.append(np.repeat(last, self.size), total)
        for links in (self.below, self.left, self.right, self.before):
            links[:] = nobody
        self.next = np.minimum(np.arange(1, total + 2), nobody)
        self.next[(group.close + block).ravel()] = np.repeat(last, len(group.close))
        self.head[:] = self.junk
        self.start[:-1] = np.tile(np.append(starts, 0), copies)
        self.front = (group.first + block).ravel()
        self.none = np.repeat(last, len(group.first))
        self.top = self.none.copy()

    def run_all(self, networks: Sequence[ParserNetwork], table: Floats, alike: bool) -> None:
        """Moves on until all sentences are parsed by all copies; they may share the table."""
        self.skipped = (
            N_STATE_WORDS * (self.none - self.size + 1) if alike else np.zeros_like(self.none)
        )
        upper = np.stack([network.upper for network in networks])
        penalties = np.stack([network.penalties() for network in networks])
        copy = np.arange(len(networks))[:, None]
        moves = networks[0].moves
        while len(self.front):
            shape = len(networks), len(self.front) // len(networks)
            second, following = self.below[self.top], self.next[self.front]
            hidden = self._hidden(table, second, following)
            scores = np.matmul(hidden.reshape(*shape, -1), upper)
            scores += penalties[copy, self._allowed(second, following).reshape(shape)]
            chosen = scores.argmax(axis=2).ravel()
            self._move(np.where(self._going(), moves[chosen], STAY), chosen, second, following)
            some = self._going().reshape(shape).any(axis=0)
            if not some.all():
                self._keep(np.tile(some, len(networks)))

    def _going(self) -> NDArray[np.bool_]:
        going: NDArray[np.bool_] = (self.top != self.none) | (self.front != self.none)
        return going

    def _keep(self, some: NDArray[np.bool_]) -> None:
        self.top, self.front = self.top[some], self.front[some]
        self.none, self.skipped = self.none[some], self.skipped[some]

    def _rows(self, table: Floats, words: Ints, place: int) -> Floats:
        found = table.take(N_STATE_WORDS * words + (place - self.skipped), axis=0)
        if place == 0:
            each = found.reshape(len(self.bias), -1, found.shape[1])
            each += self.bias
        return found

    def tree(self, copy: int, network: ParserNetwork) -> ArcArrays:
        """The arcs that a copy found."""
        block = slice(copy * self.size, (copy + 1) * self.size - 1)
        head, has_head = self.head[block], self.head[block] < self.junk
        steps = np.where(has_head, head - np.arange(block.start, block.stop), 0)
        return ArcArrays(steps, np.where(has_head, network.labels[self.label[block]], np.uint64(0)))
