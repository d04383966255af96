"""A pair in the tree of its sentence: where paths up from two names meet, and what stands there.

Blocks of statement features share it. A word's *classes* are those of ``EVENTS``, with what small
words do to them: "down-regulate" lowers, "negatively regulate" and "negative regulator" too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textrank.representations.pairs.analysis import stem
from textrank.representations.pairs.entity_pair import EntityPair, PairSentence
from textrank.representations.pairs.statement_words import CUES, EVENTS, LEANING, PREFIXES, TYPES

COARSE = {
    "nsubjpass": "subject of passive",
    "nsubj": "subject",
    "csubj": "subject",
    "dobj": "object",
    **dict.fromkeys(("attr", "acomp", "oprd"), "attribute"),
    **dict.fromkeys(("compound", "nmod", "amod", "npadvmod", "poss"), "modifier"),
    **dict.fromkeys(("relcl", "acl"), "clause"),
    "advcl": "adverbial",
    **dict.fromkeys(("ccomp", "xcomp", "pcomp"), "complement"),
}
PASSED = ("pobj", "conj", "modifier", "appos")  # relations that say nothing of a name's part


@dataclass(frozen=True, eq=False)
class SentenceTree:
    """The parse of a sentence as lists, counted from the first token of the sentence."""

    context: PairSentence
    heads: list[int]  # a root is its own head
    labels: list[str]
    children: list[list[int]]
    passive: frozenset[int]  # verbs in the passive

    @classmethod
    def of(cls, context: PairSentence) -> SentenceTree:
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

    @cached_property
    def _known(self) -> dict[int, list[int]]:
        return {}

    @cached_property
    def cues(self) -> list[tuple[int, tuple[str, ...]]]:
        """The words that deny or doubt and what they are called; those of names are none."""
        names = set(self.context.sentence.entities.tolist())
        return [
            (token, (*CUES[word], f"“{word}”"))
            for token, word in enumerate(self.context.stems)
            if word in CUES and token not in names
        ]

    @cached_property
    def relations(self) -> list[str]:
        """What each token is to its head, coarse; a preposition is its own relation."""
        found = []
        for label, text in zip(self.labels, self.context.texts, strict=True):
            if label in ("prep", "agent", "dative"):
                found.append("by" if label == "agent" else text.lower())
            else:
                found.append(COARSE.get(label, label))
        return found

    @cached_property
    def classes(self) -> list[tuple[str, ...]]:
        """The classes of each word, none for those of names."""
        names = set(self.context.sentence.entities.tolist())
        return [() if i in names else self._classes(i) for i in range(len(self.heads))]

    @cached_property
    def classed(self) -> list[int]:
        """The words that have a class."""
        return [token for token, own in enumerate(self.classes) if own]

    @cached_property
    def kinds(self) -> list[tuple[str, ...]]:
        """Those classes of each word that say what happens."""
        return [tuple(kind for kind in own if kind in TYPES) for own in self.classes]

    @cached_property
    def events(self) -> list[int]:
        """The words that say what happens."""
        return [token for token, kinds in enumerate(self.kinds) if kinds]

    def _classes(self, token: int) -> tuple[str, ...]:
        texts, stems = self.context.texts, self.context.stems
        own = EVENTS.get(stems[token], ())
        if token > 1 and texts[token - 1] in "-–" and texts[token - 2].lower() in PREFIXES:
            own = EVENTS.get(stem(texts[token - 2] + texts[token]), own)
        if "regulation" in own:
            leaning = [LEANING[stems[c]] for c in self.children[token] if stems[c] in LEANING]
            own = (*leaning, *own) if leaning else own
        return own


@dataclass(frozen=True, eq=False)
class TreePair:
    """Two names in a tree."""

    pair: EntityPair
    tree: SentenceTree

    @cached_property
    def paths(self) -> tuple[list[int], list[int]]:
        """From each name up to the token where both meet, the last of both; the shortest such."""
        found = [
            _meeting(one, two)
            for one in map(self.tree.above, self._heads(self.pair.first))
            for two in map(self.tree.above, self._heads(self.pair.second))
        ]
        return min(found, key=lambda paths: len(paths[0]) + len(paths[1]))

    def _heads(self, tokens: Sequence[int]) -> list[int]:
        """The tokens of a name whose head lies outside of it."""
        own, heads = set(tokens), self.tree.heads
        return [t for t in tokens if heads[t] not in own or heads[t] == t] or list(tokens)

    @cached_property
    def top(self) -> int:
        """Where the paths meet."""
        return self.paths[0][-1]

    @cached_property
    def path(self) -> list[int]:
        """From the first name over the top to the second."""
        one, two = self.paths
        return [*one, *reversed(two[:-1] if one[-1] == two[-1] else two)]

    @cached_property
    def inner(self) -> list[int]:
        """The path without the two names."""
        return [token for token in self.path if token not in self.pair.own]

    @cached_property
    def voice(self) -> str:
        """That of the top."""
        return "passive" if self.top in self.tree.passive else "active"

    @cached_property
    def reached(self) -> tuple[str, str]:
        """The relations from the top down to each name, without those that say nothing."""
        return self._reached(self.paths[0]), self._reached(self.paths[1])

    def _reached(self, way: Sequence[int]) -> str:
        """At most three, from a name up to the top."""
        steps = [self.tree.relations[token] for token in way[:-1]]
        telling = [step for step in steps if step not in PASSED] or steps[:1]
        return " ".join(telling[-3:]) if telling else "top"

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
        inner, tree, top, path = set(self.inner), self.tree, self.top, sorted(self.path)
        beside = {c for t in inner for c in tree.children[t]} | {tree.heads[t] for t in inner}
        begin, end = self.pair.bounds
        found = []
        for token in tree.events:
            if token in self.pair.own:
                continue
            near = (token == top, token in inner, token in beside, begin < token < end, True)
            found.append((near.index(True), _distance(path, token), token))
        return [token for _, _, token in sorted(found)]

    def trigger(self, kind: str) -> int | None:
        """The likeliest trigger of an event of this kind; any kind where no word is of it."""
        path = set(self.path)
        near = [t for t in self.triggers if t in path or self.tree.heads[t] in path]
        fitting = [t for t in near or self.triggers if kind in self.kinds(t)]
        return next(iter(fitting or self.triggers), None)


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
    for pair in pairs:
        if id(pair.context) not in trees:
            trees[id(pair.context)] = SentenceTree.of(pair.context)
    return [TreePair(pair, trees[id(pair.context)]) for pair in pairs]
