"""ArcVotes: a dependency parse as counts of its arcs by how many other parses have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.parses.counted import Parts
from textrank.representations.parses.forest import Forest, lengths
from textrank.representations.parses.support import known_parse
from textrank.types import Features, Indices, Vector
from textrank.types.ragged import numbered

ROUNDING = 1e-5  # shares are sums of thirds and the like


@dataclass(frozen=True)
class ArcVotes:
    """Counts of the arcs of a parse by the votes for them, over the root of the number of words.

    An arc that most parses have is mostly right, but how often depends on what arc it is and on
    which parser speaks for it. Counted are shares of votes, in ``steps`` and none and all of them:
    of each parser for the arc, and for the head alone; of all of them with the label, with the tag
    of the dependent, with both tags, and with label and length.
    """

    steps: int = 4

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1, got {self.steps}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        forest = Forest.of(list(track(candidates, "votes", len(candidates))))
        known = [known_parse(candidate) for candidate in candidates]
        arcs, heads = (
            _shares([np.asarray(own[key]) for own in known]) for key in ("arcs", "heads")
        )
        parsers = (arcs >= 0).sum(axis=1, dtype=arcs.dtype)
        together = np.maximum(arcs, 0).sum(axis=1) / np.maximum(parsers, 1)
        steps = self._steps(np.column_stack([arcs, heads, together]))
        parts = Parts(forest)
        self._tell(parts, steps, arcs.shape[1])
        return parts.counted()

    def _tell(self, parts: Parts, steps: Indices, parsers: int) -> None:
        forest = parts.forest
        which = forest.arc
        for column in steps.T:
            which = numbered(which * (self.steps + 3) + column)[1]
        first = np.empty(int(which.max(initial=-1)) + 1, dtype=np.intp)
        first[which] = np.arange(len(which))  # any place of a part tells what it is
        numbers = parts.add(np.arange(len(which)), which, len(first))
        name = partial(parts.name, numbers)
        *each, all_votes = self._told(forest)[steps[first]].T
        label, tag, above, length = _looks(forest, first)
        name("votes", *each[:parsers])
        name("head's votes", *each[parsers:])
        name("label, votes", label, all_votes)
        name("tag, votes", tag, all_votes)
        name("tags, votes", above, tag, all_votes)
        name("label, length, votes", label, length, all_votes)

    def _steps(self, shares: Vector) -> Indices:
        """The step of each share: 0 where none is told, 1 for no votes, the last for all."""
        steps = np.minimum(np.floor(shares * self.steps), self.steps - 1) + 2
        steps[shares < ROUNDING] = 1
        steps[shares < 0] = 0
        steps[shares > 1 - ROUNDING] = self.steps + 2
        return steps.astype(np.intp)

    def _told(self, forest: Forest) -> Indices:
        """What each step is called."""
        words = ["none", *map(str, range(self.steps)), "all"]
        return np.append(-1, forest.numbers(words))


def _shares(tables: Sequence[Vector]) -> Vector:  # each (words, parsers)
    """Those of all parses, one below the other; -1 for parsers that one of them does not know."""
    wide = max(table.shape[1] for table in tables)
    missing = [((0, 0), (0, wide - table.shape[1])) for table in tables]
    each = zip(tables, missing, strict=True)
    return np.concatenate(
        [np.pad(own, more, constant_values=-1) if more[1][1] else own for own, more in each]
    )


def _looks(forest: Forest, places: Indices) -> tuple[Indices, Indices, Indices, Indices]:
    """Label, tag, tag of the head and length of the arcs to some places."""
    word, head = forest.word[places], forest.word[forest.head[places]]
    root = word == head
    label = np.where(root, forest.number("ROOT"), forest.label[places])
    above = np.where(root, forest.number(""), forest.tag[head])
    return label, forest.tag[word], above, lengths(forest, word - head)
