"""Reference for ``DescriptorContext``: properties of a sentence and of each of its entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tests.tasks.ppi.plain_pairs import PlainPair, PlainSentence
from textrank.features import Indices, Vector
from textrank.tasks.ppi.vocabulary import HEDGES, STRONG_TRIGGERS, TRIGGERS, dependency_group

FAR = 12.0  # steps or tokens beyond which distances are not told apart
OPENING, CLOSING = ("(", "[", "-LRB-"), (")", "]", "-RRB-")
PARTNER_PREPOSITIONS = ("prep_with", "prep_to")
ROLE_PREPOSITIONS = ("prep_of", "prep_by", "prep_between", "agent")


@dataclass(frozen=True, eq=False)
class EntityFacts:
    """Properties of one entity that do not depend on its pairs."""

    steps: Vector  # (tokens,) dependencies to every token, at most FAR
    gaps: Vector  # (tokens,) tokens to every token
    flags: dict[str, bool]
    governors: frozenset[int]  # tokens outside on which it depends
    depth: int  # of parentheses
    position: float  # in the sentence, 0 to 1
    text: str


@dataclass(frozen=True, eq=False)
class SentenceFacts:
    """Properties of a sentence that descriptors need; ``known`` caches those of entities."""

    context: PlainSentence
    known: dict[tuple[int, ...], EntityFacts] = field(default_factory=dict)

    @cached_property
    def triggers(self) -> dict[str, Indices]:
        """Tokens of trigger words and of strong ones; entities are placeholders."""
        words = self.context.words
        groups = {"trigger": TRIGGERS, "strong trigger": STRONG_TRIGGERS}
        return {
            name: np.array([i for i, word in enumerate(words) if word in stems], dtype=np.intp)
            for name, stems in groups.items()
        }

    @cached_property
    def hedged(self) -> bool:
        """Whether the sentence has a word of HEDGES."""
        return any(word in HEDGES for word in self.context.words)

    @cached_property
    def verbs(self) -> NDArray[np.bool_]:
        """Whether each token is a verb."""
        return np.array([tag.startswith("VB") for tag in self.context.tags], dtype=bool)

    @cached_property
    def depths(self) -> list[int]:
        """Number of open parentheses at each token."""
        depth, depths = 0, []
        for text in self.context.texts:
            depth = max(0, depth - (text in CLOSING))
            depths.append(depth)
            depth += text in OPENING
        return depths

    def entity(self, tokens: list[int]) -> EntityFacts:
        """Return the properties of an entity; cached."""
        key = tuple(tokens)
        if key not in self.known:
            self.known[key] = self._entity(tokens)
        return self.known[key]

    def _entity(self, tokens: list[int]) -> EntityFacts:
        """Compute the properties of an entity."""
        n = len(self.context.stems)
        steps = np.minimum(self.context.steps[tokens].min(axis=0), FAR)
        tokens_of_sentence = np.arange(n)
        gaps = (
            np.maximum(tokens[0] - tokens_of_sentence, tokens_of_sentence - tokens[-1])
            .clip(min=0)
            .astype(float)
        )
        entity_tokens = set(tokens)
        above = [
            link
            for token in tokens
            for link in self.context.links[token]
            if not link.down and link.to not in entity_tokens
        ]
        governors = frozenset(link.to for link in above)
        flags = _relations([link.type for link in above])
        flags["under a verb"] = any(self.verbs[t] for t in governors)
        flags["under a trigger"] = any(self.context.words[t] in TRIGGERS for t in governors)
        flags |= self._next(tokens[-1] + 1)
        text = " ".join(self.context.texts[t].lower() for t in tokens)
        position = tokens[0] / max(1, n - 1)
        return EntityFacts(steps, gaps, flags, governors, self.depths[tokens[0]], position, text)

    def _next(self, token: int) -> dict[str, bool]:
        """Return flags about the token at a position, all false outside the sentence."""
        inside = token < len(self.context.stems)
        text = self.context.texts[token].lower() if inside else ""
        tag = self.context.tags[token] if inside else ""
        return {
            "before a noun": tag.startswith("NN"),
            "before a hyphen or slash": text in ("-", "/", "\\/"),
            "before a list separator": text in (",", "and", "or", "/", "\\/"),
        }


def _relations(types: list[str]) -> dict[str, bool]:
    """Return flags for the types of the dependencies on an entity's governors."""
    groups = {dependency_group(kind) for kind in types}
    return {
        "is subject": "subj" in groups,
        "is object": "obj" in groups,
        "is conjunct": "conj" in groups,
        "is modifier": "mod" in groups,
        "is with or to": any(kind in PARTNER_PREPOSITIONS for kind in types),
        "is of, by or between": any(kind in ROLE_PREPOSITIONS for kind in types),
        "is apposition": "appos" in groups,
    }


def by_sentence(pairs: Sequence[PlainPair]) -> list[tuple[SentenceFacts, list[int]]]:
    """Return the facts of each sentence with the rows of its pairs."""
    rows_of_sentence: dict[int, tuple[SentenceFacts, list[int]]] = {}
    for row, pair in enumerate(pairs):
        rows_of_sentence.setdefault(id(pair.context), (SentenceFacts(pair.context), []))[1].append(
            row
        )
    return list(rows_of_sentence.values())
