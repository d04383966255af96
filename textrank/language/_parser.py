"""Greedy arc-eager dependency parsing of many sentences side by side, in NumPy.

This is the parser of ``spacy.pipeline._parser_internals.arc_eager`` with the same transitions and
the same results. Each sentence is parsed as a text of its own. All sentences of a batch make their
next transition together as one set of array operations; sentences of similar length are batched, so
that few finished ones wait. ``parse_sentences`` parses with one network, ``parse_ensemble`` with
several at once.

A state is described by eight words: the first two of the buffer, the top three of the stack, the
last left child of the buffer front and of the stack top, and the last right child of the stack top.
Indices of words are positions within a batch.

A *class* is a transition with its arc label, such as ``"L-nsubj"``; the network scores classes. In
shapes ``width`` is the length of a word vector, ``hidden`` that of the hidden layer and ``pieces``
the number of maxout pieces.
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
SHIFT, REDUCE, LEFT, RIGHT, BREAK = range(5)  # transitions
NO_MOVE = BREAK + 1  # of a finished parse that waits for those of other ensemble members
N_STATE_WORDS = 8  # words that describe a state
MAX_BATCH_WORDS = 8192  # words that are parsed side by side
MAX_ENSEMBLE_WORDS = 8192  # words times ensemble members that are parsed side by side


@dataclass(frozen=True, eq=False)
class ParserNetwork:
    """Parameters of spaCy's transition-based parser network, with maxout pieces made contiguous."""

    lower: Floats  # (width, state words * pieces * hidden)
    padding: Floats  # (state words, pieces * hidden) contribution of a missing word
    bias: Floats  # (pieces * hidden,)
    upper: Floats  # (hidden, classes)
    upper_bias: Floats  # (classes,)
    moves: Ints  # (classes,) transition of each class
    labels: NDArray[np.uint64]  # (classes,) label hash of each class

    @classmethod
    def from_model(
        cls, model: Any, names: Sequence[str], labels: NDArray[np.uint64]
    ) -> ParserNetwork:
        """Copy the parameters of a spaCy parser network.

        ``names`` are the class names such as ``"L-nsubj"``, whose first letter is one of S, D
        (reduce), L, R and B; ``labels`` has the label hash of each. The network must have
        ``N_STATE_WORDS`` state words and an upper layer.
        """
        lower, upper = model.layers[1], model.layers[2]
        pieces, width = lower.get_dim("nP"), lower.get_dim("nI")

        def flatten_pieces(array: Any, *shape: int) -> Any:  # (..., hidden, pieces, ...) -> shape
            """Return an array (..., hidden, pieces, ...) with pieces first, in a new shape."""
            return np.ascontiguousarray(np.moveaxis(array, 2, 1)).reshape(*shape)

        flat = pieces * lower.get_dim("nO")
        return cls(
            np.ascontiguousarray(flatten_pieces(lower.get_param("W"), -1, width).T),
            flatten_pieces(lower.get_param("pad")[0], N_STATE_WORDS, flat),
            np.ascontiguousarray(lower.get_param("b").T).ravel(),
            np.ascontiguousarray(upper.get_param("W").T),
            upper.get_param("b").copy(),
            np.array(["SDLRB".index(name[0]) for name in names], dtype=np.intp),
            labels,
        )

    def build_table(self, vectors: Floats) -> Floats:
        """Return the hidden-layer contribution of each word at each state position, bias included.

        Shape ``((words + 1) * state words, pieces * hidden)``: row ``N_STATE_WORDS * word +
        position``. The last word is the missing word. The bias is added at position 0.
        """
        table = np.empty((len(vectors) + 1, self.lower.shape[1]), dtype=np.float32)
        self.fill_table(table, vectors)
        table[:, : len(self.bias)] += self.bias
        return table.reshape(-1, len(self.bias))

    def fill_table(self, table: Floats, vectors: Floats) -> None:
        """Fill a (words + 1, state words * pieces * hidden) table in place, without the bias.

        ``vectors`` is (words, width). The last row is for the missing word. The table must be
        contiguous float32.
        """
        np.matmul(vectors, self.lower, out=table[:-1])
        table[-1] = self.padding.ravel()

    def with_upper_layers(self, model: Any) -> ParserNetwork:
        """Return a network with the bias and the upper layer that the spaCy network has now.

        ``bias``, ``upper`` and ``upper_bias`` are copied from ``model``; ``lower``, ``padding``,
        ``moves`` and ``labels`` are shared with this network (the same arrays, not read again). So
        ``parse_ensemble`` builds the word tables of both networks once. Use it for networks that
        differ in nothing else.
        """
        lower, upper = model.layers[1], model.layers[2]
        return replace(
            self,
            bias=lower.get_param("b").T.flatten(),
            upper=upper.get_param("W").T.copy(order="C"),
            upper_bias=upper.get_param("b").copy(),
        )

    def move_penalties(self) -> Floats:  # (16, classes)
        """Return (16, classes) scores to add: the bias, or -inf for an illegal transition.

        The row is the bit set of legal transitions: shift 1, reduce 2, left and right arcs 4, break
        8.
        """
        bits = np.array([1, 2, 4, 4, 8])[self.moves]
        allowed = (np.arange(16)[:, None] & bits) > 0
        return np.where(allowed, self.upper_bias, -np.inf).astype(np.float32)


@dataclass(frozen=True, eq=False)
class ArcArrays:
    """Dependency arcs of words: relative heads and label hashes, both 0 for a root."""

    heads: NDArray[np.int64]  # (words,) head index minus word index
    labels: NDArray[np.uint64]  # (words,)

    def slice(self, start: int, end: int) -> ArcArrays:
        """Return the arcs of the words ``start:end``."""
        return ArcArrays(self.heads[start:end], self.labels[start:end])


def parse_sentences(
    network: ParserNetwork, vectors: Floats, starts: Ints, lengths: Sequence[int]
) -> ArcArrays:
    """Parse all words of some Docs and return their arcs, one Doc after the other.

    Parameters
    ----------
    network
        The parser's parameters.
    vectors
        (words, width) vectors, one Doc after the other.
    starts
        (words,) 1 where a sentence is known to begin, -1 where it is known not to, 0 where the
        parser may begin one. The first word of a Doc always begins one.
    lengths
        Words of each Doc; 0 is allowed.
    """
    arcs = ArcArrays(np.zeros(len(starts), dtype=np.int64), np.zeros(len(starts), dtype=np.uint64))
    for group in group_sentences(starts, lengths, MAX_BATCH_WORDS):
        _parse_group(network, vectors, starts, group, arcs)
    return arcs


def _parse_group(
    network: ParserNetwork, vectors: Floats, starts: Ints, group: SentenceGroup, arcs: ArcArrays
) -> None:
    """Parse the sentences of a group and write their arcs to ``arcs``, in place.

    ``vectors``, ``starts`` and ``arcs`` cover all words of the batch of Docs; only the words of the
    group are read and written. Roots get head 0 and label 0.
    """
    words = group.words
    states = ParserStates.from_group(group, starts[words])
    states.run(network, network.build_table(vectors[words]))
    has_head = states.head[:-2] < states.no_head
    heads = states.head[:-2] - np.arange(len(words))
    arcs.heads[words] = np.where(has_head, heads, 0)
    labels = network.labels[states.label[:-2]]
    arcs.labels[words] = np.where(has_head, labels, np.uint64(0))


def longest_sentence(starts: Ints, lengths: Sequence[int]) -> int:
    """Return the number of words of the longest known sentence; 0 if there is none.

    ``starts`` (words,) is 1 where a sentence is known to begin; ``lengths`` are the words of each
    Doc, whose first word begins one.
    """
    first, last = sentence_bounds(starts, lengths)
    return int((last - first).max(initial=0))


def sentence_bounds(starts: Ints, lengths: Sequence[int]) -> tuple[Ints, Ints]:
    """Return first word and end (exclusive) of each known sentence of some Docs, in order.

    A sentence begins where ``starts`` (words,) is 1 and at the first word of each Doc; ``lengths``
    are the words of each Doc. Docs without words have no sentence.
    """
    ends = np.cumsum(np.asarray([n for n in lengths if n], dtype=np.intp))
    begins = starts == 1
    begins[np.append(0, ends[:-1]) if len(ends) else []] = True
    first = np.flatnonzero(begins)
    return first, np.append(first[1:], len(starts)) if len(first) else first


@dataclass(frozen=True, eq=False)
class SentenceGroup:
    """Sentences that are parsed side by side, one after the other."""

    words: Ints  # word indices in the batch of Docs
    first_words: Ints  # position in ``words`` of the first word of each sentence
    last_words: Ints  # and of the last


def group_sentences(
    starts: Ints, lengths: Sequence[int], max_words: int
) -> Iterator[SentenceGroup]:
    """Yield groups of sentences of similar length with about ``max_words`` words each.

    Longest sentences come first. A group may exceed ``max_words`` by less than one sentence.
    ``starts`` (words,) is 1 where a sentence is known to begin; ``lengths`` are the words of each
    Doc.
    """
    first, last = sentence_bounds(starts, lengths)
    order = np.argsort(first - last, kind="stable")
    sizes = (last - first)[order]
    group_number = (np.cumsum(sizes) - sizes) // max_words
    for members in np.split(order, np.flatnonzero(np.diff(group_number)) + 1):
        if len(members):
            yield _make_group(first[members], last[members])


def _make_group(first: Ints, last: Ints) -> SentenceGroup:
    """Make a group of the sentences with these first words and ends (exclusive); at least one."""
    sizes = last - first
    ends = np.cumsum(sizes)
    starts = ends - sizes
    words = np.arange(ends[-1]) + np.repeat(first - starts, sizes)
    return SentenceGroup(words, starts, ends - 1)


class ParserStates:
    """Parser states of several sentences, each a stack and a buffer stored as linked lists.

    Arrays have one entry per word and two more: index ``missing`` stands for a word that is not
    there, and ``no_head`` is the head of a word without one.
    """

    missing: Any  # an int for all states, or an array with one per state

    def __init__(self, size: int) -> None:
        """Allocate the links of ``size`` words without arcs; there are no sentences yet.

        The caller sets ``stack_top``, ``buffer_front`` and the ends of buffers: the next word of
        each word is the following one.
        """
        self.missing, self.no_head = size, size + 1
        self.below_on_stack = np.full(size + 2, size, dtype=np.intp)  # next word down the stack
        self.next_in_buffer = np.minimum(np.arange(1, size + 3), size)  # next word of the buffer
        self.last_left_child = self.below_on_stack.copy()
        self.last_right_child = self.below_on_stack.copy()
        # Of a word: the last right child that its head had before, restored if the arc is removed.
        self.previous_right_child = self.below_on_stack.copy()
        self.head = np.full(size + 2, self.no_head, dtype=np.intp)
        self.label = np.zeros(size + 2, dtype=np.intp)
        self.sent_start = np.zeros(size + 2, dtype=np.int8)
        # Whether a word without a head was reduced back to the buffer: it may not be shifted again.
        self.was_reduced = np.zeros(size + 2, dtype=bool)
        self.stack_top = self.buffer_front = np.zeros(0, dtype=np.intp)

    @classmethod
    def from_group(cls, group: SentenceGroup, starts: Ints) -> ParserStates:
        """Return the initial states: empty stacks, the first word of each sentence in front.

        ``starts`` (words of the group,) is 1 where a sentence is known to begin, -1 where not, 0 if
        it is open.
        """
        states = cls(len(group.words))
        states.sent_start[:-2] = starts
        states.next_in_buffer[group.last_words] = states.missing
        states.buffer_front = group.first_words
        states.stack_top = np.full(len(group.first_words), states.missing, dtype=np.intp)
        return states

    def run(self, network: ParserNetwork, table: Floats) -> None:
        """Apply the best legal transitions until all sentences are parsed, in place.

        ``table`` is that of ``ParserNetwork.build_table`` for the group's words. Afterwards
        ``head`` has the head of each word or ``no_head``, and ``label`` the class that made the
        arc. Finished sentences are dropped from ``stack_top`` and ``buffer_front``.
        """
        move_penalties = network.move_penalties()
        while len(self.buffer_front):
            second_on_stack = self.below_on_stack[self.stack_top]
            second_in_buffer = self.next_in_buffer[self.buffer_front]
            scores = self._hidden_layer(table, second_on_stack, second_in_buffer) @ network.upper
            scores += move_penalties[self._legal_moves(second_on_stack, second_in_buffer)]
            chosen = scores.argmax(axis=1)
            self._apply_moves(network.moves[chosen], chosen, second_on_stack, second_in_buffer)
            is_unfinished = (self.stack_top != self.missing) | (self.buffer_front != self.missing)
            if not is_unfinished.all():
                self.stack_top = self.stack_top[is_unfinished]
                self.buffer_front = self.buffer_front[is_unfinished]

    def _hidden_layer(self, table: Floats, second_on_stack: Ints, second_in_buffer: Ints) -> Floats:
        """Return the (states, hidden) activations of the states, for maxout with two pieces.

        The sum of the rows of ``table``, of ``ParserNetwork.build_table``, for the eight words of a
        state: first and second of the buffer, the top three of the stack, the last left child of
        both fronts, and the last right child of the stack's top. ``second_...`` have the second
        word of each stack and buffer, (states,).
        """
        stack_top, buffer_front = self.stack_top, self.buffer_front
        state_words = (
            second_in_buffer,
            stack_top,
            second_on_stack,
            self.below_on_stack[second_on_stack],
            self.last_left_child[buffer_front],
            self.last_left_child[stack_top],
            self.last_right_child[stack_top],
        )
        total = self._gather_rows(table, buffer_front, 0)
        for position, words in enumerate(state_words, start=1):
            total += self._gather_rows(table, words, position)
        half = total.shape[1] // 2
        hidden: Floats = np.maximum(total[:, :half], total[:, half:])
        return hidden

    def _gather_rows(self, table: Floats, words: Ints, position: int) -> Floats:
        """Return the contribution of words at a position, (words, pieces * hidden).

        ``position`` is 0 ... 7 in the order of the words that describe a state.
        """
        return table.take(N_STATE_WORDS * words + position, axis=0)

    def _legal_moves(self, second_on_stack: Ints, second_in_buffer: Ints) -> Any:
        """Return a bit set of legal transitions per state, (states,).

        Bits: shift 1, reduce 2, left and right arcs 4, break 8. A word is shifted onto an empty
        stack; onto another one if it is not the last, begins no sentence and was not put back by a
        reduction. Reducing needs a word on the stack, arcs a word on stack and buffer of which the
        latter begins no sentence. The last word of a stack is not reduced if the next word
        certainly continues its sentence. A break is legal before the next word of the text if its
        boundary is undecided.
        """
        stack_top, buffer_front, missing = self.stack_top, self.buffer_front, self.missing
        front_start, next_start = self.sent_start[buffer_front], self.sent_start[second_in_buffer]
        stack_is_empty, buffer_is_empty = stack_top == missing, buffer_front == missing
        is_last_word = second_in_buffer == missing
        front_begins_sentence = front_start == 1
        can_shift = stack_is_empty | ~(
            is_last_word | front_begins_sentence | self.was_reduced[buffer_front]
        )
        can_reduce = ~stack_is_empty & (
            buffer_is_empty | (second_on_stack != missing) | (front_start != -1)
        )
        can_attach = ~(stack_is_empty | buffer_is_empty | front_begins_sentence)
        can_break = ~is_last_word & (second_in_buffer == buffer_front + 1) & (next_start == 0)
        return can_shift + 2 * can_reduce + 4 * can_attach + 8 * can_break

    def _apply_moves(
        self, moves: Ints, chosen: Ints, second_on_stack: Ints, second_in_buffer: Ints
    ) -> None:
        """Apply one transition to each state, in place.

        ``moves`` are the transitions, ``NO_MOVE`` for none, and ``chosen`` the classes, which are
        stored as labels of the arcs; a word that is reduced without a head returns to the buffer
        unless it is alone on its stack; all arguments have one entry per state.
        """
        stack_top, buffer_front = self.stack_top, self.buffer_front
        right_arcs, left_arcs = np.flatnonzero(moves == RIGHT), np.flatnonzero(moves == LEFT)
        self._attach_right(buffer_front[right_arcs], stack_top[right_arcs], chosen[right_arcs])
        self._attach_left(stack_top[left_arcs], buffer_front[left_arcs], chosen[left_arcs])
        pushes = (moves == SHIFT) | (moves == RIGHT)
        self.below_on_stack[buffer_front[pushes]] = stack_top[pushes]
        pops = (moves == LEFT) | (moves == REDUCE)
        returns_to_buffer = (
            (moves == REDUCE)
            & (self.head[stack_top] == self.no_head)
            & (second_on_stack != self.missing)
        )
        self.was_reduced[stack_top[returns_to_buffer]] = True
        self.next_in_buffer[stack_top[returns_to_buffer]] = buffer_front[returns_to_buffer]
        self.sent_start[second_in_buffer[moves == BREAK]] = 1
        self.stack_top = np.where(pushes, buffer_front, np.where(pops, second_on_stack, stack_top))
        self.buffer_front = np.where(
            pushes, second_in_buffer, np.where(returns_to_buffer, stack_top, buffer_front)
        )

    def _attach_right(self, child: Ints, head: Ints, label: Ints) -> None:
        """Make words the right children of their heads, in place; ``label`` has the arc classes."""
        self.previous_right_child[child] = self.last_right_child[head]
        self.last_right_child[head], self.head[child], self.label[child] = child, head, label

    def _attach_left(self, child: Ints, head: Ints, label: Ints) -> None:
        """Make words the left children of their heads, in place; an earlier head is replaced.

        ``label`` has the arcs' classes. The heads may be shifted again (``was_reduced``).
        """
        self.last_right_child[self.head[child]] = self.previous_right_child[child]
        self.last_left_child[head], self.head[child], self.label[child] = child, head, label
        self.was_reduced[head] = False


def parse_ensemble(
    networks: Sequence[ParserNetwork],
    vectors: Sequence[Floats],
    starts: Ints,
    lengths: Sequence[int],
) -> list[ArcArrays]:
    """Parse with several networks at once; return what ``parse_sentences`` gives for each.

    ``vectors`` holds the word vectors of each network. All sentence boundaries must be known:
    ``starts`` has no 0. All networks must have the same classes and sizes. Networks that all share
    ``lower`` (the same object) share the word tables: then the vectors and padding of the first are
    used for all.
    """
    shape = len(networks), len(starts)
    heads, labels = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.uint64)
    tables = _EnsembleTables(networks, vectors)
    for group in group_sentences(starts, lengths, max(MAX_ENSEMBLE_WORDS // len(tables), 1)):
        states = _EnsembleStates(group, starts[group.words], networks)
        states.run_ensemble(networks, tables.build(group.words), len(tables) == 1)
        for row, network in enumerate(networks):
            arcs = states.arcs(row, network)
            heads[row, group.words], labels[row, group.words] = arcs.heads, arcs.labels
    return [ArcArrays(*member) for member in zip(heads, labels, strict=True)]


class _EnsembleTables:
    """Word tables of the ensemble members: one each, or a single one if they share the lower layer.

    The memory is large and therefore allocated once.
    """

    def __init__(self, networks: Sequence[ParserNetwork], vectors: Sequence[Floats]) -> None:
        """Take networks and word vectors, one of each per member.

        If all networks have the same object as ``lower``, only the first network and its vectors
        are used.
        """
        first = networks[0]
        shares_tables = all(network.lower is first.lower for network in networks)
        inputs = list(zip(networks, vectors, strict=True))
        self._inputs = inputs[:1] if shares_tables else inputs
        self._widths = first.lower.shape[1], len(first.bias)
        self._buffer = np.empty(0, dtype=np.float32)

    def __len__(self) -> int:
        """Return the number of different tables: 1 if all members share one."""
        return len(self._inputs)

    def build(self, words: Ints) -> Floats:
        """Return the tables of some words, one below the other, without the members' bias.

        ``words`` are indices into the word vectors. The result is overwritten by the next call.
        """
        shape = len(self), len(words) + 1, self._widths[0]
        if len(self._buffer) < math.prod(shape):
            self._buffer = np.empty(math.prod(shape), dtype=np.float32)
        tables = self._buffer[: math.prod(shape)].reshape(shape)
        for table, (network, vectors) in zip(tables, self._inputs, strict=True):
            network.fill_table(table, vectors[words])
        return tables.reshape(-1, self._widths[1])


class _EnsembleStates(ParserStates):
    """Parser states of several sentences for each ensemble member.

    The words of each member are a block of ``block_size`` entries, the last of them its missing
    word. States are ordered by member, then by sentence; a sentence is kept until all members have
    parsed it.
    """

    def __init__(
        self, group: SentenceGroup, starts: Ints, networks: Sequence[ParserNetwork]
    ) -> None:
        """Set up the initial states of all members: empty stacks, all words in the buffers.

        ``starts`` (words of the group,) is 1 where a sentence begins, -1 where not. Member m has
        the words ``m * block_size`` to ``(m + 1) * block_size - 2`` and then its missing word;
        ``no_head`` is the index after all blocks.
        """
        n_members = len(networks)
        self.bias = np.stack([network.bias for network in networks])[:, None]
        self.block_size = len(group.words) + 1  # with the missing word
        total = n_members * self.block_size
        block_starts = np.arange(n_members)[:, None] * self.block_size
        missing_words = block_starts + self.block_size - 1  # (members, 1)
        super().__init__(total - 1)
        self.no_head = total
        no_word = np.append(np.repeat(missing_words, self.block_size), total)
        for links in (
            self.below_on_stack,
            self.last_left_child,
            self.last_right_child,
            self.previous_right_child,
        ):
            links[:] = no_word
        self.next_in_buffer = np.minimum(np.arange(1, total + 2), no_word)
        self.next_in_buffer[(group.last_words + block_starts).ravel()] = np.repeat(
            missing_words, len(group.last_words)
        )
        self.head[:] = self.no_head
        self.sent_start[:-1] = np.tile(np.append(starts, 0), n_members)
        self.buffer_front = (group.first_words + block_starts).ravel()
        self.missing = np.repeat(missing_words, len(group.first_words))
        self.stack_top = self.missing.copy()

    def run_ensemble(
        self, networks: Sequence[ParserNetwork], table: Floats, shares_table: bool
    ) -> None:
        """Apply the best legal transitions until all members have parsed all sentences, in place.

        ``table`` has the word tables of all members, one below the other, or a single one if
        ``shares_table``. Results are in ``head`` and ``label``; read them with ``arcs``.
        """
        self.table_offset = (
            N_STATE_WORDS * (self.missing - self.block_size + 1)
            if shares_table
            else np.zeros_like(self.missing)
        )
        upper = np.stack([network.upper for network in networks])
        move_penalties = np.stack([network.move_penalties() for network in networks])
        member = np.arange(len(networks))[:, None]
        moves = networks[0].moves
        while len(self.buffer_front):
            shape = len(networks), len(self.buffer_front) // len(networks)
            second_on_stack = self.below_on_stack[self.stack_top]
            second_in_buffer = self.next_in_buffer[self.buffer_front]
            hidden = self._hidden_layer(table, second_on_stack, second_in_buffer)
            scores = np.matmul(hidden.reshape(*shape, -1), upper)
            legal = self._legal_moves(second_on_stack, second_in_buffer).reshape(shape)
            scores += move_penalties[member, legal]
            chosen = scores.argmax(axis=2).ravel()
            self._apply_moves(
                np.where(self._is_unfinished(), moves[chosen], NO_MOVE),
                chosen,
                second_on_stack,
                second_in_buffer,
            )
            is_active = self._is_unfinished().reshape(shape).any(axis=0)
            if not is_active.all():
                self._select(np.tile(is_active, len(networks)))

    def _is_unfinished(self) -> NDArray[np.bool_]:
        """Return the mask of states with words left on the stack or in the buffer."""
        is_unfinished: NDArray[np.bool_] = (self.stack_top != self.missing) | (
            self.buffer_front != self.missing
        )
        return is_unfinished

    def _select(self, is_active: NDArray[np.bool_]) -> None:
        """Keep only the states where ``is_active`` (states,) is true.

        Replaces ``stack_top``, ``buffer_front``, ``missing`` and ``table_offset`` by new arrays;
        the tables that ``table_offset`` points into stay whole.
        """
        self.stack_top, self.buffer_front = self.stack_top[is_active], self.buffer_front[is_active]
        self.missing, self.table_offset = self.missing[is_active], self.table_offset[is_active]

    def _gather_rows(self, table: Floats, words: Ints, position: int) -> Floats:
        """Return the contribution of words at a position; position 0 includes the members' bias.

        ``words`` has one word per state, ordered by member; the result is (states, pieces *
        hidden).
        """
        rows = table.take(N_STATE_WORDS * words + (position - self.table_offset), axis=0)
        if position == 0:
            member_rows = rows.reshape(len(self.bias), -1, rows.shape[1])
            member_rows += self.bias
        return rows

    def arcs(self, member: int, network: ParserNetwork) -> ArcArrays:
        """Return the arcs that an ensemble member has found for the words of the group.

        ``member`` is its index and ``network`` its network, which has the label hashes.
        """
        block = slice(member * self.block_size, (member + 1) * self.block_size - 1)
        head, has_head = self.head[block], self.head[block] < self.no_head
        relative = np.where(has_head, head - np.arange(block.start, block.stop), 0)
        return ArcArrays(
            relative, np.where(has_head, network.labels[self.label[block]], np.uint64(0))
        )
