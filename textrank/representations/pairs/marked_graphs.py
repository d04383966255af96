"""The dependency graphs of all pairs of a batch at once.

The same graphs as ``DependencyGraph`` makes of stems, sentence by sentence: what differs between
the pairs of a sentence, which dependencies lie between them, is found for all sentences together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textrank.representations.pairs.analysis import Dependencies
from textrank.representations.pairs.layout import Layout
from textrank.types import GraphBatch, GraphFamily, Indices
from textrank.types.ragged import lengths, offsets, spread


@dataclass(frozen=True, eq=False)
class MarkedGraphs:
    """Pairs with the dependencies of their sentences, marked where they lie on a shortest path.

    An *arc* is a dependency, counted over all sentences. A *mark* is an arc as one pair sees it:
    the marks of a pair are the arcs of its sentence.
    """

    layout: Layout
    path_weight: float = 0.9
    other_weight: float = 0.3

    @cached_property
    def _found(self) -> list[Dependencies]:
        return [context.sentence.dependencies for context in self.layout.contexts]

    @cached_property
    def _arcs(self) -> Indices:
        """The first arc of each sentence, and the end."""
        return offsets([len(own) for own in self._found])

    @cached_property
    def _sentence(self) -> Indices:
        """The sentence of each arc."""
        return np.arange(len(self._found)).repeat(lengths(self._arcs))

    @cached_property
    def _ends(self) -> tuple[Indices, Indices]:
        """The governor and the dependent of each arc, as tokens of the batch."""
        shift = self.layout.starts[self._sentence]
        none = np.zeros(0, dtype=np.intp)
        governor = np.concatenate([none, *(own.governor for own in self._found)])
        dependent = np.concatenate([none, *(own.dependent for own in self._found)])
        return governor + shift, dependent + shift

    @cached_property
    def _count(self) -> Indices:
        """The arcs of the sentence of each pair."""
        return lengths(self._arcs)[self.layout.sentence]

    @cached_property
    def _begins(self) -> Indices:
        """Where the marks of each pair begin, pairs of one sentence together; and the end."""
        return _in_order(self._count, self._order)

    @cached_property
    def _order(self) -> Indices:
        return np.argsort(self.layout.sentence, kind="stable")

    @cached_property
    def _on_paths(self) -> tuple[Indices, Indices]:
        """Pairs and arcs on a shortest path between any two tokens of the two names.

        An arc of u and v is on one from s to t where d(s, u) + 1 + d(v, t) = d(s, t).
        """
        own, steps = self.layout, self.layout.steps
        owner, source, target = own.couples
        whole = steps.between(source, target)
        some = ((whole > 0) & (whole < np.inf)).nonzero()[0]
        owner, whole = owner[some], whole[some]
        from_, to = (steps.begin[steps.row[tokens[some]]] for tokens in (source, target))
        at, arc = spread(self._arcs[own.sentence[owner]], self._count[owner])
        governor, dependent = (ends[arc] for ends in self._ends)
        from_, to, whole = from_[at], to[at], whole[at] - 1
        hit = steps.values[from_ + governor] + steps.values[to + dependent] == whole
        hit |= steps.values[from_ + dependent] + steps.values[to + governor] == whole
        on = hit.nonzero()[0]
        return owner[at[on]], arc[on]

    @cached_property
    def _marks(self) -> NDArray[np.bool_]:
        pair, arc = self._on_paths
        found = np.zeros(int(self._count.sum()), dtype=bool)
        found[self._begins[pair] + arc - self._arcs[self.layout.sentence[pair]]] = True
        return found

    def batch(self) -> GraphBatch:
        """The graphs, a family a sentence."""
        own = self.layout
        vocabulary, labels = self._labels()
        weights = np.where(self._marks, self.path_weight, self.other_weight)
        edges = self._edges()
        arcs, sizes = lengths(self._arcs), lengths(own.starts)
        pairs = np.bincount(own.sentence, minlength=len(sizes))
        cuts = zip(
            offsets(pairs).tolist(), offsets(pairs * arcs).tolist(),
            offsets(pairs * (arcs + sizes)).tolist(), strict=True,
        )  # fmt: skip
        families, low = [], next(cuts)
        rows = zip(pairs.tolist(), arcs.tolist(), sizes.tolist(), self._arcs.tolist(), strict=False)
        for (g, e, n, first), high in zip(rows, cuts, strict=True):
            weight = weights[low[1] : high[1]].reshape(g, e)
            families.append(
                GraphFamily(
                    self._order[low[0] : high[0]],
                    edges[2 * first : 2 * (first + e)],
                    np.concatenate([weight, weight], axis=1),  # to dependencies and from them
                    labels[low[2] : high[2]].reshape(g, n + e, 2),
                )
            )
            low = high
        return GraphBatch(vocabulary, tuple(families), len(own.pairs))

    def _edges(self) -> Indices:  # (2 arcs, 2)
        """Governor -> dependency -> dependent, in vertices of the sentence of each."""
        number = self._sentence
        base = self.layout.starts[number]
        nth = np.arange(len(number)) - self._arcs[number]
        vertex = lengths(self.layout.starts)[number] + nth
        found = np.empty((2 * len(number), 2), dtype=np.intp)
        out = 2 * self._arcs[number] + nth
        into = out + lengths(self._arcs)[number]
        found[out, 0], found[out, 1] = self._ends[0] - base, vertex
        found[into, 0], found[into, 1] = vertex, self._ends[1] - base
        return found

    def _labels(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """Words, parts of speech and types of dependencies, each marked or not."""
        own = self.layout
        pair, arc = self._on_paths
        touched = np.zeros(int(own.cells[-1]), dtype=np.intp)
        for ends in self._ends:
            touched[ends[arc] + own.shift[pair]] = 1
        size = own.size + self._count
        codes = np.full((int(size.sum()), 2), -1, dtype=np.intp)
        begin = _in_order(size, self._order)
        place = (begin - own.base)[own.owner] + own.token
        word, tag = own.seen, own.tag[own.token]
        codes[place, 0] = 2 * word + touched
        # a comma is its own part of speech: one label, not two
        codes[place, 1] = np.where(word == tag, -1, 2 * tag + touched)
        types = own.lexicon.all(kind for found in self._found for kind in found.types)
        at, arc = spread(self._arcs[own.sentence], self._count)
        nth = arc - self._arcs[own.sentence[at]]
        codes[(begin + own.size)[at] + nth, 0] = (
            2 * types[arc] + self._marks[self._begins[at] + nth]
        )
        return _named(codes, own.lexicon.words())


def _in_order(sizes: Indices, order: Indices) -> Indices:
    """Where lists of these sizes begin when they stand in this order."""
    found = np.empty(len(sizes), dtype=np.intp)
    found[order] = offsets(sizes[order])[:-1]
    return found


def _named(codes: Indices, words: list[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The labels that occur, and their numbers; a code is twice a word, and one where marked."""
    used = np.zeros(2 * len(words) + 1, dtype=bool)
    used[codes.ravel()] = True
    used[-1] = False  # that of no label
    numbers: dict[str, int] = {}
    table = np.full(len(used), -1, dtype=np.int32)
    for code in used.nonzero()[0].tolist():
        label = f"path:{words[code // 2]}" if code % 2 else words[code // 2]
        table[code] = numbers.setdefault(label, len(numbers))
    return tuple(numbers), table[codes]
