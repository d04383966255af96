"""Pairs of entities in plain loops: words as a pair sees them, sides, shortest path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textrank.features import Matrix
from textrank.tasks.ppi.pairs import FIRST_ENTITY, SECOND_ENTITY, EntityPair, PairSentence


@dataclass(frozen=True, eq=False)
class Step:
    """One step along a dependency: its type, and whether it leads from governor to dependent."""

    to: int
    type: str
    down: bool

    @property
    def mark(self) -> str:
        """The type with its direction, ``>`` downwards and ``<`` upwards."""
        return f"{self.type}>" if self.down else f"{self.type}<"


@dataclass(frozen=True, eq=False)
class PlainSentence(PairSentence):
    """A sentence with steps from token to token."""

    @cached_property
    def links(self) -> list[list[Step]]:
        """The steps that lead away from each token, in text order."""
        own = self.sentence.dependencies
        links: list[list[Step]] = [[] for _ in range(len(self.sentence))]
        for governor, dependent, kind in zip(own.governor, own.dependent, own.types, strict=True):
            if governor != dependent:
                links[governor].append(Step(int(dependent), kind, True))
                links[dependent].append(Step(int(governor), kind, False))
        return [sorted(steps, key=lambda link: link.to) for steps in links]

    @cached_property
    def steps(self) -> Matrix:  # (tokens, tokens)
        """Dependencies between any two tokens; inf if there is no path."""
        return self.sentence.dependencies.distances(len(self.sentence))


@dataclass(frozen=True, eq=False)
class PlainPair(EntityPair):
    """A pair of entities that answers questions one at a time."""

    context: PlainSentence

    def __len__(self) -> int:
        return len(self.context.stems)

    @cached_property
    def words(self) -> list[str]:
        """The stems with all entities blinded; a token of both is of the first."""
        words = list(self.context.words)
        for name, tokens in ((SECOND_ENTITY, self.second), (FIRST_ENTITY, self.first)):
            for token in tokens:
                words[token] = name
        return words

    def word(self, token: int) -> str:
        """One of the words."""
        if token in self.first:
            return FIRST_ENTITY
        return SECOND_ENTITY if token in self.second else self.context.words[token]

    @property
    def tags(self) -> list[str]:
        """The part of speech of every token."""
        return self.context.tags

    @cached_property
    def own(self) -> frozenset[int]:
        """The tokens of the two entities."""
        return frozenset((*self.first, *self.second))

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """The first and the last token of the two entities."""
        return min(self.own), max(self.own)

    @cached_property
    def sides(self) -> dict[str, list[int]]:
        """The tokens before the pair, in the middle and after it, without those of the pair."""
        begin, end = self.bounds
        middle = [t for t in range(begin, end) if t not in self.own]
        return {
            "before": list(range(begin)),
            "middle": middle,
            "after": list(range(end + 1, len(self))),
        }

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The closest tokens of the two entities; the first ones where no path leads."""
        steps = self.context.steps[np.ix_(self.first, self.second)]
        row, column = np.unravel_index(int(steps.argmin()), steps.shape)
        return self.first[row], self.second[column]

    @cached_property
    def distance(self) -> float:
        """Dependencies on the path; 0 where the two share a token, inf where there is no path."""
        return float(self.context.steps[self.ends])

    @cached_property
    def links(self) -> list[Step]:
        """The steps of the path from the first to the second entity; none where there is no way."""
        at, end = self.ends
        if not np.isfinite(self.distance):
            return []
        left = self.context.steps[end]
        path: list[Step] = []
        while at != end:
            step = next(link for link in self.context.links[at] if left[link.to] == left[at] - 1)
            path.append(step)
            at = step.to
        return path

    @cached_property
    def path(self) -> list[int]:
        """The tokens of the path with both ends; none where there is no way."""
        if not np.isfinite(self.distance):
            return []
        return [self.ends[0], *(link.to for link in self.links)]


def plain_pairs(pairs: Sequence[EntityPair]) -> list[PlainPair]:
    """Copies of pairs; pairs of one sentence share its copy."""
    contexts: dict[int, PlainSentence] = {}
    copies = []
    for pair in pairs:
        if id(pair.context) not in contexts:
            contexts[id(pair.context)] = PlainSentence(pair.context.sentence)
        copies.append(PlainPair(contexts[id(pair.context)], pair.first, pair.second))
    return copies
