"""Beside: what a name hangs on, what hangs on it, and what is said of it, read off the words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from spacy.attrs import LOWER
from spacy.tokens import Doc

from textrank.docs import Candidate, read_once, starts_of
from textrank.representations.contexts.words import stem
from textrank.representations.mentions.binary import binary
from textrank.types import Features, Names

Name = tuple[str, ...]

_PREPOSITIONS = """
of for to in from by with at on into within against encoding encodes coding between containing
carrying lacking upstream downstream near as via through
"""
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
ARTICLES = frozenset(
    ("the", "a", "an", "this", "that", "these", "those", "its", "their", "both", "each", "no")
)
COPULAS = frozenset(("is", "was", "are", "were", "be"))
CONJUNCTIONS = frozenset((",", "and", "or", "/", "nor", "versus", "plus", "-"))
_ENDS = ". ; : ? ! which that whereas while because although but"
ENDS = frozenset(_ENDS.split())
BEHIND = PREPOSITIONS | COPULAS | ENDS  # what ends a noun phrase, read backwards
AHEAD = BEHIND | CONJUNCTIONS  # and forwards
SAYING = COPULAS | {","}
AFTER, BEFORE = 4, 5  # words that are read on either side of a name or of what it hangs on
CLAUSE = 12  # and those of the rest of the clause


@dataclass(frozen=True)
class Beside:
    """Binary features of the words around a name by what they are to it.

    Other names that it is listed with, and brackets, are passed over: in "IL-2 (T-cell growth
    factor) and IL-4 genes" both are followed by "genes". Words are stems.

    - ``after``: a word that the name may modify ("X mRNA levels"), the nearest one told apart
    - ``before``: a word that may modify it ("purified recombinant X")
    - ``hangs on``: the noun before the preposition ("exon 3 of the human X"), and the noun that
      this hangs on in turn
    - ``is``: what it is said to be ("X is a transmembrane receptor", "X, a kinase")
    - ``does``: the words of the rest of the clause, without place
    """

    entities: str = "entities"
    focus: int = 0

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        cells, names = binary(self._told(candidates))
        return Features(cells, Names.of(names))

    def _told(self, candidates: Sequence[Candidate]) -> Iterator[dict[Name, None]]:
        texts: dict[int, _Text] = {}
        for candidate in candidates:
            span = candidate.spans[self.focus]
            text = texts.get(id(span.doc))
            if text is None:
                text = texts[id(span.doc)] = self._read(span.doc)
            yield dict.fromkeys(text.around(span.start, span.end))

    def _read(self, doc: Doc) -> _Text:
        return read_once(doc, ("beside", self.entities), lambda: _Text.of(doc, self.entities))


@dataclass(frozen=True, eq=False)
class _Text:
    """The words of a Doc, where its sentences end and which of them are names."""

    words: list[str]
    low: list[int]  # of each token, where its sentence begins
    high: list[int]  # and ends
    ends: dict[int, int]  # of names by their first token
    starts: dict[int, int]  # of names by the token after their last
    # Where a list was seen to end, by a place in it and the bound of its sentence: every name of
    # an endless list would else walk to its end.
    right: dict[tuple[int, int], int] = field(default_factory=dict)
    left: dict[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, doc: Doc, entities: str) -> _Text:
        strings = doc.vocab.strings
        words = [strings[orth] for orth in doc.to_array([LOWER]).tolist()]
        begins = starts_of(doc)
        sizes = np.diff(begins)
        spans = list(doc.spans[entities]) if entities in doc.spans else []
        return cls(
            words,
            np.repeat(begins[:-1], sizes).tolist(),
            np.repeat(begins[1:], sizes).tolist(),
            {span.start: span.end for span in spans},
            {span.end: span.start for span in spans},
        )

    def around(self, start: int, end: int) -> list[Name]:
        """The features of a name, which may repeat."""
        low, high = self.low[start], self.high[end - 1]
        right = self._right(end, high)
        return [
            *self._after(right, high),
            *self._said(right, high),
            *self._before(self._left(start, low), low),
            *[("does", "after", stem(word)) for word in self._clause(right, high)],
            *[
                ("does", "before", stem(word))
                for word in self.words[max(low, start - CLAUSE) : start]
            ],
        ]

    def _right(self, at: int, high: int) -> int:
        """Where the text goes on after a bracket and after names that are listed with this one."""
        return _last(self._next, at, high, self.right)

    def _next(self, at: int, high: int) -> int:
        """One bracket or listed name on; the place itself where there is none."""
        if at >= high:
            return at
        word = self.words[at]
        if word == ")":
            return at + 1
        if word in ("(", "[") and (close := self._close(at, high)):
            return close
        if word in CONJUNCTIONS and (listed := self._listed(at, high)):
            return listed
        return at

    def _close(self, at: int, high: int) -> int:
        for i in range(at + 1, min(high, at + CLAUSE)):
            if self.words[i] in (")", "]"):
                return i + 1
        return 0

    def _listed(self, at: int, high: int) -> int:
        while at < high and self.words[at] in CONJUNCTIONS:
            at += 1
        return self.ends.get(at, 0)

    def _left(self, at: int, low: int) -> int:
        """Where the text before ends, brackets and listed names passed over."""
        return _last(self._previous, at, low, self.left)

    def _previous(self, at: int, low: int) -> int:
        """One bracket or listed name back; the place itself where there is none."""
        if at <= low:
            return at
        if self.words[at - 1] in ("(", "["):
            return self.starts.get(at - 1, at - 1)
        before = at
        while before > low and self.words[before - 1] in CONJUNCTIONS:
            before -= 1
        return at if before == at else self.starts.get(before, at)

    def _after(self, at: int, high: int) -> list[Name]:
        if at < high and self.words[at] in ("'s", "'"):
            at += 1
        words = self._until(at, min(high, at + AFTER))
        stems = [stem(word) for word in words]
        found: list[Name] = [("after", "first", stem(self.words[at]) if at < high else "")]
        found += [("after", "some", one) for one in stems]
        found += [("after", "two", one, two) for one, two in pairwise(stems)]
        if not words and at < high and self.words[at] in PREPOSITIONS:
            found.append(("after", "two", self.words[at], stem(self._noun(at + 1, high))))
        return found

    def _noun(self, at: int, high: int) -> str:
        words = [w for w in self._until(at, min(high, at + 5)) if w not in ARTICLES]
        return words[-1] if words else ""

    def _until(self, at: int, high: int) -> list[str]:
        """Words up to what surely ends a noun phrase."""
        found: list[str] = []
        for word in self.words[at:high]:
            if word in AHEAD or not word[0].isalnum():
                break
            found.append(word)
        return found

    def _before(self, at: int, low: int) -> list[Name]:
        found: list[Name] = [("before", "first", stem(self.words[at - 1]) if at > low else "")]
        at, words = self._back(at, low)
        found += [("before", "some", stem(word)) for word in words]
        for number in ("first", "second"):
            if at <= low or self.words[at - 1] not in PREPOSITIONS:
                break
            link = self.words[at - 1]
            at, phrase = self._back(at - 1, low)
            nouns = [stem(w) for w in phrase if w not in ARTICLES and not _numeral(w)]
            if not nouns:
                break
            found.append(("hangs on", number, nouns[0]))
            found.append(("hangs on", number, link, nouns[0]))
            found += [("hangs on", number, "more", noun) for noun in nouns[1:]]
        return found

    def _back(self, at: int, low: int) -> tuple[int, list[str]]:
        """Words before a place as far as a noun phrase may reach, nearest first."""
        found: list[str] = []
        while at > low and len(found) < BEFORE:
            word = self.words[at - 1]
            if word in BEHIND or not word[0].isalnum():
                break
            found.append(word)
            at -= 1
        return at, found

    def _said(self, at: int, high: int) -> list[Name]:
        """After "is a" or ", a" what it is."""
        if at + 1 >= high or self.words[at] not in SAYING:
            return []
        if self.words[at + 1] in ("a", "an", "the", "one"):
            return [("is", "a", stem(word)) for word in self._until(at + 2, min(high, at + 8))]
        done = self.words[at + 1 : min(high, at + 4)] if self.words[at] != "," else []
        return [("is", "done", stem(word)) for word in done]

    def _clause(self, at: int, high: int) -> list[str]:
        found: list[str] = []
        for word in self.words[at : min(high, at + CLAUSE)]:
            if word in (".", ";", ":"):
                break
            found.append(word)
        return found


def _last(
    step: Callable[[int, int], int], at: int, bound: int, known: dict[tuple[int, int], int]
) -> int:
    """Where steps lead that are taken until one leads nowhere; places on the way are noted."""
    passed: list[int] = []
    while (at, bound) not in known and (following := step(at, bound)) != at:
        passed.append(at)
        at = following
    end = known.get((at, bound), at)
    known.update(((place, bound), end) for place in passed)
    return end


def _numeral(word: str) -> bool:
    return word.isdigit() or len(word) == 1 or word in ("ii", "iii", "iv", "vi")
