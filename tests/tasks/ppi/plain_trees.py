"""Reference for ``PairTrees``: a pair in the tree of its sentence, in plain loops."""

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
    """Parse of a sentence as lists; tokens count from the start of the sentence."""

    context: PlainSentence
    heads: list[int]  # a root is its own head
    labels: list[str]
    children: list[list[int]]
    passive: frozenset[int]  # verbs in the passive

    @classmethod
    def from_sentence(cls, context: PlainSentence) -> SentenceTree:
        """Read spaCy's parse; a token whose head is outside the sentence is a root."""
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
        """Return the token and its ancestors up to the root; do not change the result."""
        if token not in self._ancestor_cache:
            result, heads = [token], self.heads
            while (head := heads[result[-1]]) != result[-1] and len(result) <= len(heads):
                result.append(head)
            self._ancestor_cache[token] = result
        return self._ancestor_cache[token]

    def reached(self, branch: Sequence[int]) -> str:
        """Return the last three relations of a branch, without uninformative ones.

        ``branch`` leads from an entity up to the top, whose relation does not count.
        """
        steps = [self.relations[token] for token in branch[:-1]]
        informative = [step for step in steps if step not in PASSED] or steps[:1]
        return " ".join(informative[-3:]) if informative else "top"

    @cached_property
    def _ancestor_cache(self) -> dict[int, list[int]]:
        """Results of ``above``."""
        return {}

    @cached_property
    def cues(self) -> list[tuple[int, tuple[str, ...]]]:
        """Tokens of negation and speculation with their names; tokens of entities are none."""
        names = set(self.context.sentence.entities.tolist())
        return [
            (token, (*CUE_CLASSES[word], f"“{word}”"))
            for token, word in enumerate(self.context.stems)
            if word in CUE_CLASSES and token not in names
        ]

    @cached_property
    def relations(self) -> list[str]:
        """Coarse relation of each token to its head; a preposition is its own relation."""
        result = [COARSE_RELATIONS.get(label, label) for label in self.labels]
        for token, label in enumerate(self.labels):
            if label in ("prep", "agent", "dative"):
                result[token] = "by" if label == "agent" else self.context.texts[token].lower()
        return result

    @cached_property
    def classes(self) -> list[tuple[str, ...]]:
        """Classes of each word; () for tokens of entities.

        After a hyphen the verb prefix before it decides too.
        """
        result = [EVENT_CLASSES.get(stem, ()) for stem in self.context.stems]
        for token, text in enumerate(self.context.texts):
            if result[token] or text in "-–":  # of a word after a hyphen its prefix decides
                for word in (token, token + 1)[: len(result) - token]:
                    result[word] = self._classes(word)
        for token in self.context.sentence.entities.tolist():
            result[token] = ()
        return result

    @cached_property
    def classed(self) -> list[int]:
        """Tokens that have a class."""
        return [token for token, classes in enumerate(self.classes) if classes]

    @cached_property
    def classed_children(self) -> list[list[int]]:
        """Children of each token that have a class."""
        result: list[list[int]] = [[] for _ in self.heads]
        for token in self.classed:
            if self.heads[token] != token:
                result[self.heads[token]].append(token)
        return result

    @cached_property
    def kinds(self) -> list[tuple[str, ...]]:
        """Classes of each token that are event types."""
        return [
            tuple(kind for kind in classes if kind in EVENT_TYPES) if classes else ()
            for classes in self.classes
        ]

    @cached_property
    def events(self) -> list[int]:
        """Tokens whose classes contain an event type."""
        return [token for token, kinds in enumerate(self.kinds) if kinds]

    def _classes(self, token: int) -> tuple[str, ...]:
        """Return the classes of a token with verb prefix and polarity taken into account."""
        texts, stems = self.context.texts, self.context.stems
        classes = EVENT_CLASSES.get(stems[token], ())
        if token > 1 and texts[token - 1] in "-–" and texts[token - 2].lower() in VERB_PREFIXES:
            classes = EVENT_CLASSES.get(stem(texts[token - 2] + texts[token]), classes)
        if "regulation" in classes:
            polarity = [
                REGULATION_POLARITY[stems[c]]
                for c in self.children[token]
                if stems[c] in REGULATION_POLARITY
            ]
            classes = (*polarity, *classes) if polarity else classes
        return classes


@dataclass(eq=False)
class TreePair:
    """Two entities in a tree."""

    pair: PlainPair
    tree: SentenceTree
    paths: tuple[list[int], list[int]] = field(init=False)
    """Shortest paths from each entity up to a common ancestor, which is the last token of both."""
    top: int = field(init=False)
    """The common ancestor."""
    path: list[int] = field(init=False)
    """From the first entity over the top to the second."""
    voice: str = field(init=False)
    """Voice of the top: "active" or "passive"."""

    def __post_init__(self) -> None:
        """Find the paths from both entities to their common ancestor."""
        self.paths = one, two = self._find_paths()
        self.top = one[-1]
        self.path = [*one, *reversed(two[:-1] if one[-1] == two[-1] else two)]
        self.voice = "passive" if self.top in self.tree.passive else "active"

    def _find_paths(self) -> tuple[list[int], list[int]]:
        """Return the shortest two paths from the entities to a common ancestor."""
        ones, twos = (
            [self.tree.above(head) for head in self._heads(tokens)]
            for tokens in (self.pair.first, self.pair.second)
        )
        if len(ones) == len(twos) == 1:
            return _find_paths(ones[0], twos[0])
        result = [_find_paths(one, two) for one in ones for two in twos]
        return min(result, key=lambda paths: len(paths[0]) + len(paths[1]))

    def _heads(self, tokens: Sequence[int]) -> Sequence[int]:
        """Return the tokens of an entity whose head is outside of it."""
        if len(tokens) == 1:
            return tokens
        heads = self.tree.heads
        return [t for t in tokens if heads[t] not in tokens or heads[t] == t] or tokens

    @cached_property
    def inner(self) -> list[int]:
        """Path without the tokens of the entities."""
        entity_tokens = self.pair.entity_tokens
        return [token for token in self.path if token not in entity_tokens]

    @cached_property
    def reached(self) -> tuple[str, str]:
        """Relations from the top down to each entity, without uninformative ones."""
        return self.tree.reached(self.paths[0]), self.tree.reached(self.paths[1])

    def classes(self, token: int) -> tuple[str, ...]:
        """Return the classes of a token; () for those of the entities."""
        return () if token in self.pair.entity_tokens else self.tree.classes[token]

    def kinds(self, token: int) -> tuple[str, ...]:
        """Return the event types of a token; () for those of the entities."""
        return () if token in self.pair.entity_tokens else self.tree.kinds[token]

    @cached_property
    def triggers(self) -> list[int]:
        """Event words, the most likely trigger of the pair first.

        The top of the path, others on it, dependents and heads of path tokens, words between the
        entities, then all others; within each group by distance to the path.
        """
        inner, heads, path = set(self.inner), self.tree.heads, sorted(self.path)
        heads_of_path = {heads[token] for token in inner}
        entity_tokens, (begin, end) = self.pair.entity_tokens, self.pair.bounds
        result = []
        for token in self.tree.events:
            if token in entity_tokens:
                continue
            if token in inner:
                result.append((int(token != self.top), 0, token))
            else:
                group = (
                    2
                    if heads[token] in inner or token in heads_of_path
                    else 4 - (begin < token < end)
                )
                result.append((group, _distance(path, token), token))
        result.sort()
        return [token for _, _, token in result]

    def trigger(self, kind: str) -> int | None:
        """Return the most likely trigger of an event type, of any type if no word has it."""
        path, heads = self.path, self.tree.heads
        near = [t for t in self.triggers if t in path or heads[t] in path] or self.triggers
        fitting = (t for t in near if kind in self.tree.kinds[t])
        return next(fitting, self.triggers[0] if self.triggers else None)


def _distance(path: Sequence[int], token: int) -> int:
    """Return the distance of a token to the nearest of ``path``, which is sorted."""
    place = bisect_left(path, token)
    return min(abs(token - near) for near in path[max(place - 1, 0) : place + 1])


def _find_paths(one: list[int], two: list[int]) -> tuple[list[int], list[int]]:
    """Cut two paths at their first common token; both are whole if they have none."""
    place = {token: i for i, token in enumerate(one)}
    for j, token in enumerate(two):
        if token in place:
            return one[: place[token] + 1], two[: j + 1]
    return one, two


def make_tree_pairs(pairs: Sequence[EntityPair]) -> list[TreePair]:
    """Return pairs as ``TreePair``; pairs of one sentence share its tree."""
    trees: dict[int, SentenceTree] = {}
    copies = plain_pairs(pairs)
    for pair in copies:
        if id(pair.context) not in trees:
            trees[id(pair.context)] = SentenceTree.from_sentence(pair.context)
    return [TreePair(pair, trees[id(pair.context)]) for pair in copies]
