"""What the descriptors of pairs ask about single entities, for all sentences of a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from textrank.representations.pairs.layout import Layout
from textrank.representations.pairs.trigger_words import TRIGGERS, group_of, is_verb
from textrank.types import Indices, Matrix, Vector
from textrank.types.ragged import firsts, flat, lengths, offsets, spread, totals

FAR = 12.0  # steps or tokens beyond which distances are not told apart
OPENING, CLOSING = ("(", "[", "-LRB-"), (")", "]", "-RRB-")
PARTNER_PREPOSITIONS = ("prep_with", "prep_to")
ROLE_PREPOSITIONS = ("prep_of", "prep_by", "prep_between", "agent")
FACTS = (
    "is subject",
    "is object",
    "is conjunct",
    "is modifier",
    "is with or to",
    "is of, by or between",
    "is apposition",
    "under a verb",
    "under a trigger",
    "before a noun",
    "before a hyphen or slash",
    "before a list separator",
    "depth",
    "position",
)


@dataclass(frozen=True, eq=False)
class Entities:
    """The different entities of all sentences, those of a sentence together."""

    layout: Layout
    lists: list[tuple[int, ...]]  # tokens of each, from the start of the sentence
    starts: Indices  # (sentences + 1,) the first entity of each sentence
    mentions: Indices  # entities that are names of the sentence, in the order of the text
    named: Indices  # (sentences + 1,) the first mention of each sentence
    first: Indices  # (pairs,)
    second: Indices  # (pairs,)

    @classmethod
    def of(cls, layout: Layout) -> Entities:
        """Those of names of the sentences and of pairs."""
        known: list[dict[tuple[int, ...], int]] = []
        mentions: list[list[int]] = []
        for context in layout.contexts:
            rows: dict[tuple[int, ...], int] = {}
            mentions.append([rows.setdefault(tuple(t), len(rows)) for t in context.mentions])
            known.append(rows)
        ends = []
        for pair, number in zip(layout.pairs, layout.sentence.tolist(), strict=True):
            rows = known[number]
            for tokens in (pair.first, pair.second):
                ends.append(rows.setdefault(tuple(tokens), len(rows)))
        starts = offsets([len(rows) for rows in known])
        named = offsets([len(own) for own in mentions])
        sentence = np.arange(len(known)).repeat(lengths(named))
        first, second = np.array(ends, dtype=np.intp).reshape(-1, 2).T + starts[layout.sentence]
        every = [tokens for rows in known for tokens in rows]
        return cls(layout, every, starts, flat(mentions) + starts[sentence], named, first, second)

    def __len__(self) -> int:
        return len(self.lists)

    @cached_property
    def sentence(self) -> Indices:
        """The sentence of each entity."""
        return np.arange(len(self.starts) - 1).repeat(lengths(self.starts))

    @cached_property
    def owner(self) -> Indices:
        """The entity of each of their tokens."""
        return np.repeat(np.arange(len(self)), [len(tokens) for tokens in self.lists])

    @cached_property
    def token(self) -> Indices:
        """The tokens of all of them."""
        return flat(self.lists) + self.layout.starts[self.sentence[self.owner]]

    @cached_property
    def low(self) -> Indices:
        """The first token of each."""
        return self.token[firsts(self.owner)]

    @cached_property
    def high(self) -> Indices:
        """The last token of each."""
        return self.token[np.append(firsts(self.owner)[1:], len(self.owner)) - 1]

    @cached_property
    def begin(self) -> Indices:
        """Where token 0 of the batch would stand in ``ways``, for each entity."""
        size = lengths(self.layout.starts)[self.sentence]
        return offsets(size)[:-1] - self.layout.starts[self.sentence]

    @cached_property
    def ways(self) -> Vector:
        """Dependencies from each entity to every token of its sentence, at most ``FAR``."""
        steps, size = self.layout.steps, lengths(self.layout.starts)[self.sentence]
        found = np.full(int(size.sum()), FAR)
        cells = offsets(size)[:-1]
        begins = firsts(self.owner)
        count = np.bincount(self.owner, minlength=len(self))
        for place in range(int(count.max(initial=0))):
            some = (count > place).nonzero()[0]
            source = self.token[begins[some] + place]
            theirs = steps.begin[steps.row[source]] + self.layout.starts[self.sentence[some]]
            to, here = spread(cells[some], size[some])
            there = theirs[to] + here - cells[some][to]
            found[here] = np.minimum(found[here], steps.values[there])
        return found

    def steps(self, entity: Indices, token: Indices) -> Vector:
        """Dependencies from entities to tokens of their sentences."""
        return self.ways[self.begin[entity] + token]

    def gaps(self, entity: Indices, token: Indices) -> Vector:
        """Tokens from entities to tokens."""
        away = np.maximum(self.low[entity] - token, token - self.high[entity])
        return away.clip(min=0).astype(np.float64)

    @cached_property
    def _between(self) -> tuple[Indices, Vector, Vector]:
        """Least steps and gaps from each entity to all of its sentence, and where they begin."""
        begins = np.append(firsts(self.owner), len(self.owner))
        low, high = (begins[self.starts[self.sentence + n]] for n in (0, 1))
        entity, place = spread(low, high - low)
        token = self.token[place]
        cuts = firsts(entity * len(self) + self.owner[place])
        tables = [
            np.minimum.reduceat(values, cuts) if len(cuts) else values
            for values in (self.steps(entity, token), self.gaps(entity, token))
        ]
        sizes = lengths(self.starts)[self.sentence]
        return offsets(sizes)[:-1] - self.starts[self.sentence], tables[0], tables[1]

    def paths(self, one: Indices, other: Indices) -> Vector:
        """Dependencies between entities of one sentence; 0 where they share a token."""
        return self._between[1][self._between[0][one] + other]

    def distances(self, one: Indices, other: Indices) -> Vector:
        """Tokens between entities of one sentence."""
        return self._between[2][self._between[0][one] + other]

    @cached_property
    def verbs(self) -> NDArray[np.bool_]:
        """Which tokens are verbs."""
        return self.layout.lexicon.table(is_verb, self.layout.tag)

    @cached_property
    def above(self) -> tuple[Indices, Indices, Indices]:
        """The steps from entities to governors outside of them: entity, step, governor."""
        links = self.layout.links
        at, step = links.of(self.token)
        entity, to = self.owner[at], links.to[step]
        some = (~links.down[step] & (self.steps(entity, to) > 0)).nonzero()[0]
        return entity[some], step[some], to[some]

    @cached_property
    def facts(self) -> Matrix:  # (entities, facts)
        """``FACTS`` of each entity, whatever it is paired with."""
        found = np.zeros((len(self), len(FACTS)))
        entity, step, to = self.above
        kinds = self.layout.lexicon.rows(_relations, 7, self.layout.links.type[step])
        found[:, :7] = totals(kinds, entity, len(self)) > 0
        found[entity[self.verbs[to]], 7] = 1.0
        told = self.layout.lexicon.among(TRIGGERS, self.layout.word[to])
        found[entity[told], 8] = 1.0
        for row, (number, tokens) in enumerate(
            zip(self.sentence.tolist(), self.lists, strict=True)
        ):
            context, behind = self.layout.contexts[number], tokens[-1] + 1
            if behind < len(context.texts):
                text = context.texts[behind].lower()
                found[row, 9] = context.tags[behind].startswith("NN")
                found[row, 10] = text in ("-", "/", "\\/")
                found[row, 11] = text in (",", "and", "or", "/", "\\/")
            found[row, 12] = self._depths[number][tokens[0]]
            found[row, 13] = tokens[0] / max(1, len(context.texts) - 1)
        return found

    @cached_property
    def _depths(self) -> list[Sequence[int]]:
        """How many parentheses are open at each token of each sentence."""
        return [_depths(context.texts) for context in self.layout.contexts]

    @cached_property
    def texts(self) -> list[str]:
        """Each entity as written, in lower case."""
        contexts, sentences = self.layout.contexts, self.sentence.tolist()
        return [
            " ".join(contexts[number].texts[t].lower() for t in tokens)
            for number, tokens in zip(sentences, self.lists, strict=True)
        ]


@lru_cache(maxsize=1 << 12)
def _relations(type_: str) -> tuple[bool, ...]:
    """The first seven ``FACTS`` by the type of a dependency."""
    group = group_of(type_)
    given = (type_ in PARTNER_PREPOSITIONS, type_ in ROLE_PREPOSITIONS)
    return (*(group == g for g in _GROUPS), *given, group == "appos")


_GROUPS = ("subj", "obj", "conj", "mod")


def _depths(texts: Sequence[str]) -> list[int]:
    depth, depths = 0, []
    for text in texts:
        depth = max(0, depth - (text in CLOSING))
        depths.append(depth)
        depth += text in OPENING
    return depths
