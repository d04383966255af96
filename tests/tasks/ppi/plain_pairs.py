"""Reference for ``PairArrays``: words, sides and shortest path of a pair, in plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textrank.features import Matrix
from textrank.tasks.ppi.pairs import FIRST_ENTITY, SECOND_ENTITY, EntityPair, PairSentence


@dataclass(frozen=True, eq=False)
class Step:
    """Step along a dependency; ``down`` is from governor to dependent."""

    to: int
    type: str
    down: bool

    @property
    def mark(self) -> str:
        """Type with direction: ``>`` downwards, ``<`` upwards."""
        return f"{self.type}>" if self.down else f"{self.type}<"


@dataclass(frozen=True, eq=False)
class PlainSentence(PairSentence):
    """Sentence with the steps from each token to others."""

    @cached_property
    def links(self) -> list[list[Step]]:
        """Steps that lead away from each token, in text order of their targets."""
        dependencies = self.sentence.dependencies
        links: list[list[Step]] = [[] for _ in range(len(self.sentence))]
        for governor, dependent, kind in zip(
            dependencies.governor, dependencies.dependent, dependencies.types, strict=True
        ):
            if governor != dependent:
                links[governor].append(Step(int(dependent), kind, True))
                links[dependent].append(Step(int(governor), kind, False))
        return [sorted(steps, key=lambda link: link.to) for steps in links]

    @cached_property
    def steps(self) -> Matrix:  # (tokens, tokens)
        """Path length between any two tokens; inf if there is no path."""
        return self.sentence.dependencies.distances(len(self.sentence))


@dataclass(frozen=True, eq=False)
class PlainPair(EntityPair):
    """Pair of entities whose properties are computed one by one."""

    context: PlainSentence

    def __len__(self) -> int:
        """Return the number of tokens of the sentence."""
        return len(self.context.stems)

    @cached_property
    def words(self) -> list[str]:
        """Stems with placeholders for all entities; a token of both is that of the first."""
        words = list(self.context.words)
        for name, tokens in ((SECOND_ENTITY, self.second), (FIRST_ENTITY, self.first)):
            for token in tokens:
                words[token] = name
        return words

    def word(self, token: int) -> str:
        """Return one of ``words`` without computing the others."""
        if token in self.first:
            return FIRST_ENTITY
        return SECOND_ENTITY if token in self.second else self.context.words[token]

    @property
    def tags(self) -> list[str]:
        """Penn tag of every token."""
        return self.context.tags

    @cached_property
    def entity_tokens(self) -> frozenset[int]:
        """Tokens of the two entities."""
        return frozenset((*self.first, *self.second))

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """First and last token of the two entities."""
        return min(self.entity_tokens), max(self.entity_tokens)

    @cached_property
    def sides(self) -> dict[str, list[int]]:
        """Tokens before, between ("middle") and after the entities, without those of the pair."""
        begin, end = self.bounds
        middle = [t for t in range(begin, end) if t not in self.entity_tokens]
        return {
            "before": list(range(begin)),
            "middle": middle,
            "after": list(range(end + 1, len(self))),
        }

    @cached_property
    def ends(self) -> tuple[int, int]:
        """Closest tokens of the two entities; the first ones if there is no path."""
        steps = self.context.steps[np.ix_(self.first, self.second)]
        row, column = np.unravel_index(int(steps.argmin()), steps.shape)
        return self.first[row], self.second[column]

    @cached_property
    def distance(self) -> float:
        """Path length; 0 if the entities share a token, inf if there is no path."""
        return float(self.context.steps[self.ends])

    @cached_property
    def links(self) -> list[Step]:
        """Steps of the path from the first to the second entity; [] without a path."""
        token, end = self.ends
        if not np.isfinite(self.distance):
            return []
        remaining = self.context.steps[end]
        path: list[Step] = []
        while token != end:
            step = next(
                link
                for link in self.context.links[token]
                if remaining[link.to] == remaining[token] - 1
            )
            path.append(step)
            token = step.to
        return path

    @cached_property
    def path(self) -> list[int]:
        """Tokens of the path including both ends; [] without a path."""
        if not np.isfinite(self.distance):
            return []
        return [self.ends[0], *(link.to for link in self.links)]


def plain_pairs(pairs: Sequence[EntityPair]) -> list[PlainPair]:
    """Return copies of pairs as ``PlainPair``; pairs of one sentence share its copy."""
    contexts: dict[int, PlainSentence] = {}
    copies = []
    for pair in pairs:
        if id(pair.context) not in contexts:
            contexts[id(pair.context)] = PlainSentence(pair.context.sentence)
        copies.append(PlainPair(contexts[id(pair.context)], pair.first, pair.second))
    return copies
