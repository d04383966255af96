"""Walks along the shortest dependency path of a pair, and what hangs on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.entity_pair import EntityPair, entity_pairs, features_met
from textrank.representations.pairs.layout import Layout
from textrank.representations.pairs.occurrences import Occurrences
from textrank.types import Features, Indices


@dataclass(frozen=True, kw_only=True)
class PathWalks:
    """Counts of the walks along the path between two entities, for a linear kernel.

    The path is the alternating sequence ``w0 d1 w1 d2 ... wk`` of words and dependencies, the
    latter marked ``>`` where they lead down to a dependent and ``<`` where up to a governor.
    Counted are its runs of three (word-dependency-word and dependency-word-dependency) in words
    and in parts of speech, its runs of five in words, single words and dependencies, the whole
    path as dependencies, as words and as parts of speech, its length, and every dependency by
    which a word beside the path hangs on a word of the path. Without a path, only that is said.

    Bunescu and Mooney (2005), HLT/EMNLP; Kim, Yoon and Yang (2008), Bioinformatics 24(1).
    """

    parse: Parse = "auto"
    once: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return features_met(self, pairs)

    def meet(self, own: Layout, found: Occurrences) -> None:
        """Adds what is met in pairs."""
        lengths = [str(n) if n >= 0 else "none" for n in own.paths.length.tolist()]
        found.add("length", np.arange(len(lengths)), own.lexicon.all(lengths))
        _along(own, found)
        _beside(own, found)


def _along(own: Layout, found: Occurrences) -> None:
    pair, place, token = own.on_paths()
    tokens = own.paths.tokens
    some = (own.paths.length >= 0).nonzero()[0]
    kinds = np.full_like(own.paths.steps, -1)
    row, at = np.nonzero(own.paths.steps >= 0)
    kinds[row, at] = own.marks[own.paths.steps[row, at]]
    for kind, values in (("words", own.words_at(pair, token)), ("tags", own.coarse[token])):
        sequence = np.full_like(tokens, -1)
        sequence[pair, place] = values
        walk = alternating(sequence, kinds)
        for size in (3, 5) if kind == "words" else (3,):
            _runs(f"walk of {kind}", walk, size, found)
        found.padded(f"path of {kind}", some, sequence[some])
        if kind == "words":
            inner = ((place > 0) & (place < own.paths.length[pair])).nonzero()[0]
            found.add("word", pair[inner], values[inner])
    found.padded("path of dependencies", some, kinds[some])
    found.add("dependency", row, kinds[row, at])


def _beside(own: Layout, found: Occurrences) -> None:
    """The dependencies by which a word beside the path hangs on a word of the path."""
    pair, _, token = own.on_paths()
    on_path = np.zeros(int(own.cells[-1]), dtype=bool)
    on_path[token + own.shift[pair]] = True
    at, step = own.links.of(token)
    to = own.links.to[step]
    some = (own.links.down[step] & ~on_path[to + own.shift[pair[at]]]).nonzero()[0]
    at, step, to = at[some], step[some], to[some]
    rows, kind = pair[at], own.links.type[step]
    hanging = own.words_at(rows, to)
    found.add("beside", rows, own.words_at(rows, token[at]), kind, hanging)
    found.add("beside", rows, kind, hanging)


def _runs(prefix: str, sequence: Indices, size: int, found: Occurrences) -> None:
    """All runs of a size, of sequences that hold -1 behind their end."""
    row, start = np.nonzero(sequence[:, size - 1 :] >= 0)
    found.add(prefix, row, *(sequence[row, start + place] for place in range(size)))


def alternating(words: Indices, kinds: Indices) -> Indices:  # (n, k + 1), (n, k)
    """``w0 d1 w1 d2 ... wk``, a row a path.

    >>> alternating(np.array([[1, 2, 3]]), np.array([[8, 9]])).tolist()
    [[1, 8, 2, 9, 3]]
    """
    found = np.empty((len(words), words.shape[1] + kinds.shape[1]), dtype=np.intp)
    found[:, ::2], found[:, 1::2] = words, kinds
    return found
