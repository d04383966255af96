"""A pair of entities in its sentence: what the blocks of pair features share.

Words are stems; the first entity of the pair (in the order of the text) is ``PROT1``, the second
``PROT2``, any other one ``PROT``. *The* path of a pair is the shortest way between the closest
tokens of the two, over dependencies in either direction; among equals the one whose tokens come
first in the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol, TypeAlias, overload

import numpy as np

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.pairs.analysis import Parse, Sentence, sentences, stem
from textrank.representations.pairs.layout import FIRST, OTHER, SECOND, Layout
from textrank.representations.pairs.occurrences import Occurrences
from textrank.types import Features, Matrix, SideBySide

DROP = ("punct",)

Name: TypeAlias = tuple[str, ...]
Bag: TypeAlias = Mapping[Name, float]


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
class PairSentence:
    """A sentence with everything about it that does not depend on the pair."""

    sentence: Sentence

    @property
    def texts(self) -> list[str]:
        """The tokens as written."""
        return self.sentence.texts

    @cached_property
    def stems(self) -> list[str]:
        """The stem of every token, entities included."""
        return [stem(text) for text in self.texts]

    @cached_property
    def words(self) -> list[str]:
        """The stem of every token, ``PROT`` for those of entities."""
        words = list(self.stems)
        for token in self.sentence.entities:
            words[token] = OTHER
        return words

    @property
    def tags(self) -> list[str]:
        """The part of speech of every token."""
        return self.sentence.tags

    @property
    def mentions(self) -> list[list[int]]:
        """The tokens of each entity of the sentence, in the order of the text."""
        return self.sentence.mentions

    @cached_property
    def links(self) -> list[list[Step]]:
        """The steps that lead away from each token, in the order of the text."""
        own = self.sentence.dependencies
        links: list[list[Step]] = [[] for _ in range(len(self.sentence))]
        for governor, dependent, kind in zip(own.governor, own.dependent, own.types, strict=True):
            if governor != dependent:
                links[governor].append(Step(int(dependent), kind, True))
                links[dependent].append(Step(int(governor), kind, False))
        return [sorted(steps, key=lambda link: link.to) for steps in links]

    @cached_property
    def steps(self) -> Matrix:  # (tokens, tokens)
        """Dependencies between any two tokens; inf where no way leads."""
        return self.sentence.steps


@dataclass(frozen=True, eq=False)
class EntityPair:
    """Two entities of a sentence, as token indices from the start of the sentence."""

    context: PairSentence
    first: list[int]
    second: list[int]

    def __len__(self) -> int:
        return len(self.context.stems)

    @cached_property
    def words(self) -> list[str]:
        """The stems with all entities blinded; a token of both is of the first."""
        words = list(self.context.words)
        for name, tokens in ((SECOND, self.second), (FIRST, self.first)):
            for token in tokens:
                words[token] = name
        return words

    def word(self, token: int) -> str:
        """One of the words."""
        if token in self.first:
            return FIRST
        return SECOND if token in self.second else self.context.words[token]

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


class Block(Protocol):
    """Features of analysed pairs; equal blocks give equal features."""

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs, a row each."""


class Meeting(Protocol):
    """What is met in pairs; equal ones meet the same."""

    once: ClassVar[bool]  # whether a pair has a feature or not, however often it is met

    def meet(self, own: Layout, found: Occurrences) -> None:
        """Adds what is met in pairs."""


class Met(Block, Meeting, Protocol):
    """A block whose features are what is met in pairs."""


@dataclass(frozen=True, eq=False)
class PairBatch(Sequence[EntityPair]):
    """Pairs with the sentences they stand in; what is asked about them twice is found once."""

    pairs: list[EntityPair]
    sentences: list[Sentence]
    candidates: Sequence[Candidate]
    known: dict[Block, Features] = field(default_factory=dict)
    together: dict[Block | Meeting, tuple[SideBySide, str]] = field(default_factory=dict)

    @overload
    def __getitem__(self, index: int) -> EntityPair: ...
    @overload
    def __getitem__(self, index: slice) -> list[EntityPair]: ...
    def __getitem__(self, index: int | slice) -> EntityPair | list[EntityPair]:
        return self.pairs[index]

    def __len__(self) -> int:
        return len(self.pairs)

    def seen_by(self, block: Block) -> Features:
        """The features of a block, made at the first call."""
        if block not in self.known:
            found, name = self.together.get(block, (None, ""))
            self.known[block] = found.view(name) if found else block.of_pairs(self)
        return self.known[block]

    def side_by_side(self, blocks: Mapping[str, Meeting]) -> SideBySide:
        """The features of several blocks, found together: one look-up instead of many."""
        found = Occurrences(self.layout.lexicon, len(self))
        for found.view, block in blocks.items():
            block.meet(self.layout, found)
        both = found.side_by_side(len(self), {name: b.once for name, b in blocks.items()})
        self.together.update({block: (both, name) for name, block in blocks.items()})
        return both

    def holding(self, blocks: Mapping[str, Meeting]) -> SideBySide:
        """The same, perhaps among other blocks with which they have been found before."""
        for found, _ in self.together.values():
            if all(self.together.get(block) == (found, name) for name, block in blocks.items()):
                return found
        return self.side_by_side(blocks)

    @cached_property
    def layout(self) -> Layout:
        """The pairs as arrays."""
        return Layout.of(self.pairs)


def layout_of(pairs: Sequence[EntityPair]) -> Layout:
    """The pairs as arrays, which pairs that were analysed together keep."""
    return pairs.layout if isinstance(pairs, PairBatch) else Layout.of(pairs)


def features_met(block: Met, pairs: Sequence[EntityPair]) -> Features:
    """The features of a block alone."""
    own = layout_of(pairs)
    found = Occurrences(own.lexicon, len(pairs))
    block.meet(own, found)
    return found.features(once=block.once)


def entity_pairs(candidates: Sequence[Candidate], parse: Parse) -> PairBatch:
    """Each candidate as a pair in its sentence; pairs of one sentence share its analysis."""
    found = list(sentences(check_pairs(candidates), parse, DROP))
    return PairBatch(pairs_in(found, candidates), found, candidates)


def check_pairs(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates, refused where one is not of two spans."""
    for index, candidate in enumerate(candidates):
        if len(candidate.spans) != 2:
            raise ValueError(
                f"candidate {index} of document {candidate.document!r} has "
                f"{len(candidate.spans)} spans; a pair of entities is needed. Use it with the task "
                "that makes pairs."
            )
    return candidates


def pairs_in(found: Iterable[Sentence], candidates: Sequence[Candidate]) -> list[EntityPair]:
    """Each candidate as a pair, in sentences that are already analysed."""
    pairs: dict[int, EntityPair] = {}
    for sentence in track(found, "sentences"):
        context = PairSentence(sentence)
        for member in sentence.members:
            first, second = sentence.tokens(candidates[member])
            pairs[int(member)] = EntityPair(context, first, second)
    return [pairs[index] for index in range(len(candidates))]
