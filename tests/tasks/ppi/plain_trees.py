"""A pair in the tree of its sentence in plain loops: paths that meet, classes, triggers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tests.tasks.ppi.plain_pairs import PlainPair, PlainSentence, plain_pairs
from textrank.tasks.ppi.pairs import EntityPair
from textrank.tasks.ppi.sentences import stem
from textrank.tasks.ppi.statement_features import COARSE_RELATIONS
from textrank.tasks.ppi.vocabulary import (
    CUE_CLASSES,
    EVENT_CLASSES,
    EVENT_TYPES,
    REGULATION_POLARITY,
    VERB_PREFIXES,
)

PASSED = ("pobj", "conj", "modifier", "appos")


@dataclass(frozen=True, eq=False)
class SentenceTree:
    """The parse of a sentence as lists, counted from the first token of the sentence."""

    context: PlainSentence
    heads: list[int]  # a root is its own head
    labels: list[str]
    children: list[list[int]]
    passive: frozenset[int]  # verbs in the passive

    @classmethod
    def of(cls, context: PlainSentence) -> SentenceTree:
        """The tree of spaCy's parse; a token whose head lies elsewhere is a root."""
        n, table = len(context.sentence), context.sentence.attributes[:, 2:]
        above = np.arange(n) + table[:, 0].astype(np.int64)
        heads = np.where((above >= 0) & (above < n), above, np.arange(n)).tolist()
        strings = context.sentence.doc.vocab.strings
        labels = [strings[label] for label in table[:, 1].tolist()]
        children: list[list[int]] = [[] for _ in heads]
        for i, head in enumerate(heads):
            if head != i:
                children[head].append(i)
        passive = {heads[i] for i, label in enumerate(labels) if label in ("auxpass", "agent")}
        return cls(context, heads, labels, children, frozenset(passive))

    def above(self, token: int) -> list[int]:
        """The token, its head, the head of that, and so on to the root; not to be changed."""
        if token not in self._known:
            found, heads = [token], self.heads
            while (head := heads[found[-1]]) != found[-1] and len(found) <= len(heads):
                found.append(head)
            self._known[token] = found
        return self._known[token]

    def reached(self, way: Sequence[int]) -> str:
        """The relations from a name up to the top that say something; at most three."""
        steps = [self.relations[token] for token in way[:-1]]
        telling = [step for step in steps if step not in PASSED] or steps[:1]
        return " ".join(telling[-3:]) if telling else "top"

    @cached_property
    def _known(self) -> dict[int, list[int]]:
        return {}

    @cached_property
    def cues(self) -> list[tuple[int, tuple[str, ...]]]:
        """The words that deny or doubt and what they are called; those of names are none."""
        names = set(self.context.sentence.entities.tolist())
        return [
            (token, (*CUE_CLASSES[word], f"“{word}”"))
            for token, word in enumerate(self.context.stems)
            if word in CUE_CLASSES and token not in names
        ]

    @cached_property
    def relations(self) -> list[str]:
        """What each token is to its head, coarse; a preposition is its own relation."""
        found = [COARSE_RELATIONS.get(label, label) for label in self.labels]
        for token, label in enumerate(self.labels):
            if label in ("prep", "agent", "dative"):
                found[token] = "by" if label == "agent" else self.context.texts[token].lower()
        return found

    @cached_property
    def classes(self) -> list[tuple[str, ...]]:
        """The classes of each word, none for those of names."""
        found = [EVENT_CLASSES.get(stem, ()) for stem in self.context.stems]
        for token, text in enumerate(self.context.texts):
            if found[token] or text in "-–":  # of a word after a hyphen its prefix decides
                for word in (token, token + 1)[: len(found) - token]:
                    found[word] = self._classes(word)
        for token in self.context.sentence.entities.tolist():
            found[token] = ()
        return found

    @cached_property
    def classed(self) -> list[int]:
        """The words that have a class."""
        return [token for token, own in enumerate(self.classes) if own]

    @cached_property
    def classed_children(self) -> list[list[int]]:
        """The children of each word that have a class."""
        found: list[list[int]] = [[] for _ in self.heads]
        for token in self.classed:
            if self.heads[token] != token:
                found[self.heads[token]].append(token)
        return found

    @cached_property
    def kinds(self) -> list[tuple[str, ...]]:
        """Those classes of each word that say what happens."""
        return [
            tuple(kind for kind in own if kind in EVENT_TYPES) if own else ()
            for own in self.classes
        ]

    @cached_property
    def events(self) -> list[int]:
        """The words that say what happens."""
        return [token for token, kinds in enumerate(self.kinds) if kinds]

    def _classes(self, token: int) -> tuple[str, ...]:
        texts, stems = self.context.texts, self.context.stems
        own = EVENT_CLASSES.get(stems[token], ())
        if token > 1 and texts[token - 1] in "-–" and texts[token - 2].lower() in VERB_PREFIXES:
            own = EVENT_CLASSES.get(stem(texts[token - 2] + texts[token]), own)
        if "regulation" in own:
            leaning = [
                REGULATION_POLARITY[stems[c]]
                for c in self.children[token]
                if stems[c] in REGULATION_POLARITY
            ]
            own = (*leaning, *own) if leaning else own
        return own


@dataclass(eq=False)
class TreePair:
    """Two names in a tree."""

    pair: PlainPair
    tree: SentenceTree
    paths: tuple[list[int], list[int]] = field(init=False)
    """From each name up to the token where both meet, the last of both; the shortest such."""
    top: int = field(init=False)
    """Where the paths meet."""
    path: list[int] = field(init=False)
    """From the first name over the top to the second."""
    voice: str = field(init=False)
    """That of the top."""

    def __post_init__(self) -> None:
        self.paths = one, two = self._meeting()
        self.top = one[-1]
        self.path = [*one, *reversed(two[:-1] if one[-1] == two[-1] else two)]
        self.voice = "passive" if self.top in self.tree.passive else "active"

    def _meeting(self) -> tuple[list[int], list[int]]:
        ones, twos = (
            [self.tree.above(head) for head in self._heads(tokens)]
            for tokens in (self.pair.first, self.pair.second)
        )
        if len(ones) == len(twos) == 1:
            return _meeting(ones[0], twos[0])
        found = [_meeting(one, two) for one in ones for two in twos]
        return min(found, key=lambda paths: len(paths[0]) + len(paths[1]))

    def _heads(self, tokens: Sequence[int]) -> Sequence[int]:
        """The tokens of a name whose head lies outside of it."""
        if len(tokens) == 1:
            return tokens
        heads = self.tree.heads
        return [t for t in tokens if heads[t] not in tokens or heads[t] == t] or tokens

    @cached_property
    def inner(self) -> list[int]:
        """The path without the two names."""
        own = self.pair.own
        return [token for token in self.path if token not in own]

    @cached_property
    def reached(self) -> tuple[str, str]:
        """The relations from the top down to each name, without those that say nothing."""
        return self.tree.reached(self.paths[0]), self.tree.reached(self.paths[1])

    def classes(self, token: int) -> tuple[str, ...]:
        """The classes of a word; none of a word of the pair."""
        return () if token in self.pair.own else self.tree.classes[token]

    def kinds(self, token: int) -> tuple[str, ...]:
        """Only those classes that say what happens."""
        return () if token in self.pair.own else self.tree.kinds[token]

    @cached_property
    def triggers(self) -> list[int]:
        """Words of events, the most likely trigger of the pair first.

        The top of the path, then others on it, then words that hang on it or carry it, then words
        between the names, then the rest; of equals the nearest to the path.
        """
        inner, heads, path = set(self.inner), self.tree.heads, sorted(self.path)
        above = {heads[token] for token in inner}
        own, (begin, end) = self.pair.own, self.pair.bounds
        found = []
        for token in self.tree.events:
            if token in own:
                continue
            if token in inner:
                found.append((int(token != self.top), 0, token))
            else:
                near = 2 if heads[token] in inner or token in above else 4 - (begin < token < end)
                found.append((near, _distance(path, token), token))
        found.sort()
        return [token for _, _, token in found]

    def trigger(self, kind: str) -> int | None:
        """The likeliest trigger of an event of this kind; any kind where no word is of it."""
        path, heads = self.path, self.tree.heads
        near = [t for t in self.triggers if t in path or heads[t] in path] or self.triggers
        fitting = (t for t in near if kind in self.tree.kinds[t])
        return next(fitting, self.triggers[0] if self.triggers else None)


def _distance(path: Sequence[int], token: int) -> int:
    """From a token to the nearest of rising ones."""
    place = bisect_left(path, token)
    return min(abs(token - near) for near in path[max(place - 1, 0) : place + 1])


def _meeting(one: list[int], two: list[int]) -> tuple[list[int], list[int]]:
    """Both paths up to the first token they share; whole where they share none."""
    place = {token: i for i, token in enumerate(one)}
    for j, token in enumerate(two):
        if token in place:
            return one[: place[token] + 1], two[: j + 1]
    return one, two


def tellings(pairs: Sequence[EntityPair]) -> list[TreePair]:
    """The pairs in their trees; a sentence is looked at once."""
    trees: dict[int, SentenceTree] = {}
    copies = plain_pairs(pairs)
    for pair in copies:
        if id(pair.context) not in trees:
            trees[id(pair.context)] = SentenceTree.of(pair.context)
    return [TreePair(pair, trees[id(pair.context)]) for pair in copies]
