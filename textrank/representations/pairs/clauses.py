"""Subjects that a parser gave to the clause before: "A recruits B, and B in turn binds C".

After a coordinator or "after" a noun may end a list or begin a clause. Where a finite verb follows
that has no subject, or whose subject is the verb before it, the noun is its subject. On CRAFT and
GENIA, whose trees say who is right, docs/experiments/interactions.md has the count of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.strings import StringStore

Table: TypeAlias = NDArray[np.uint64]  # (tokens, 4) ORTH, TAG, HEAD, DEP, as spaCy counts them
Arc: TypeAlias = tuple[int, str]  # head and relation

SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl")
FINITE = ("VBZ", "VBP", "VBD")
VERBS = (*FINITE, "VB", "VBG", "VBN")
OPENING = ("after", "before", "until", "since", "once", "as")  # of a clause or of a phrase
LOOSE = ("prep", "advmod", "punct", "aux", "auxpass", "neg", "npadvmod")
CLOSED = frozenset("()[];:")
LATER = ("conj", "advcl", "ccomp")  # what a verb is that lost its subject
FULL = ("dobj", "ccomp", "xcomp", "attr")
_STRINGS = StringStore()  # numbers of strings are the same in every store
_CODES = tuple(
    (column, np.array([[_STRINGS[word]] for word in words], dtype=np.uint64))
    for column, words in ((1, VERBS), (3, LATER), (3, SUBJECTS), (3, LATER[:1]))
)


def mended(table: Table, extents: Iterable[tuple[int, int]], strings: StringStore) -> Table:
    """The table with lost subjects given back, in sentences from token to token."""
    odd = _odd(table).tobytes()  # cheaper to look into than an array, a sentence at a time
    found = table
    for start, end in extents:
        if 1 in odd[start:end]:
            own = Clauses.of(table[start:end], strings)
            better = own.mended()
            if better is not own:
                found = found.copy() if found is table else found
                found[start:end, 2:] = better.arcs(strings)
    return found


def _odd(table: Table) -> NDArray[np.bool_]:
    """Verbs that may lack their subject; a sentence without one need not be looked at."""
    n = len(table)
    heads = np.arange(n) + table[:, 2].astype(np.int64)
    np.minimum(np.maximum(heads, 0, out=heads), n - 1, out=heads)
    verbs, later, subjects, joined = (
        np.logical_or.reduce(table[:, column] == codes) for column, codes in _CODES
    )
    having, in_parts, parted = (np.zeros(n, dtype=bool) for _ in range(3))
    having[heads[subjects]] = True
    in_parts[heads[joined]] = True
    parted[heads[subjects & in_parts]] = True
    found: NDArray[np.bool_] = verbs & (subjects | (later & ~having) | (joined & parted))
    return found


@dataclass(frozen=True, eq=False)
class Clauses:
    """A sentence with its tree; a root is its own head."""

    words: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int]
    labels: Sequence[str]

    @classmethod
    def of(cls, table: Table, strings: StringStore) -> Clauses:
        """Those of a sentence; a token whose head lies elsewhere is a root."""
        n = np.arange(len(table))
        above = n + table[:, 2].astype(np.int64)
        heads = np.where((above >= 0) & (above < len(n)), above, n).tolist()
        words, tags, labels = ([strings[c] for c in table[:, k].tolist()] for k in (0, 1, 3))
        return cls(words, tags, heads, labels)

    def arcs(self, strings: StringStore) -> Table:
        """Heads and relations, as spaCy counts them."""
        steps = np.array(self.heads) - np.arange(len(self.heads))
        labels = np.array([strings.add(label) for label in self.labels], dtype=np.uint64)
        return np.column_stack([steps.astype(np.uint64), labels])

    def mended(self) -> Clauses:
        """The same with lost subjects given back to their verbs; itself where none is lost."""
        tree = self
        for verb in range(len(self.heads)):
            if tree._verb(verb) and (arcs := tree._arcs(verb)):
                found = tree._with(arcs)
                tree = found if all(map(found._rooted, arcs)) else tree
        return tree

    def _arcs(self, verb: int) -> Mapping[int, Arc]:
        """What changes for a verb to have its subject."""
        if not self._finite(verb):
            return {}
        if self.labels[verb] == "conj" and self.heads[verb] < verb:
            found = self._joined(self.heads[verb], verb)
            return found or self._opened(verb)
        taken = [c for c in self._subjects(verb) if c < verb and self.tags[c] in FINITE]
        if taken and (arcs := self._joined(taken[-1], verb)):
            return {**self._turned(taken[-1], verb), **arcs}
        return self._opened(verb)

    def _joined(self, first: int, verb: int) -> Mapping[int, Arc]:
        """Two verbs, and a noun between them after the last coordinator."""
        joining = [t for t in range(first + 1, verb) if self.tags[t] == "CC"]
        if not joining or not any(s < first for s in self._subjects(first)):
            return {}
        between = [s for s in self._subjects(verb) if first < s < verb]
        if between:
            return self._parted(first, verb, between[0], joining[-1])
        return self._given(first, verb, joining[-1])

    def _given(self, first: int, verb: int, joining: int) -> Mapping[int, Arc]:
        """The noun right after the coordinator, as long as nothing but adverbs parts it."""
        nouns = [
            t
            for t in range(joining + 1, verb)
            if self.labels[t] == "conj"
            and self.tags[t][:2] in ("NN", "PR")
            and first <= self.heads[t] < joining
        ]
        if len(nouns) != 1 or not self._stands_alone(first, verb, joining, nouns[0]):
            return {}
        loose = {
            t: (verb, self.labels[t])
            for t in range(nouns[0] + 1, verb)
            if self.heads[t] < joining and self.labels[t] in LOOSE
        }
        return {nouns[0]: (verb, self._subject(verb)), joining: (first, "cc"), **loose}

    def _stands_alone(self, first: int, verb: int, joining: int, noun: int) -> bool:
        after = range(noun + 1, verb)
        if self._left(noun) != joining + 1 or self.tags[noun + 1].startswith("NN"):
            return False
        if any(self._subordinates(t) for t in range(first + 1, joining)):
            return False
        if CLOSED.intersection(self.words[joining:verb]):
            return False
        if sum(self.words[t] == "," for t in after) == 1:
            return False
        return not any(self.tags[t].startswith(("W", "CC")) or self._verb(t) for t in after)

    def _parted(self, first: int, verb: int, subject: int, joining: int) -> Mapping[int, Arc]:
        """A subject of two parts, of which the first is the object of the verb before it."""
        if self._left(subject) == joining + 1 and self.labels[first] in SUBJECTS:
            return {joining: (first, "cc")}
        parts = [c for c in self._children[subject] if self.labels[c] == "conj"]
        if len(parts) != 1 or self._left(parts[0]) != joining + 1 or joining < subject:
            return {}
        full = any(self.labels[c] in FULL for c in self._children[first])
        if full or self._left(subject) != first + 1:
            return {}
        part = parts[0]
        return {
            subject: (first, "dobj"),
            joining: (first, "cc"),
            part: (verb, self.labels[subject]),
        }

    def _opened(self, verb: int) -> Mapping[int, Arc]:
        """A noun after "after" or the like, right before a verb without subject."""
        noun = verb - 1
        while noun > 0 and (self.tags[noun] == "RB" or self.labels[noun] in ("aux", "auxpass")):
            noun -= 1
        opening = self.heads[noun]
        if (
            self.labels[verb] not in LATER
            or self.labels[noun] != "pobj"
            or self._left(noun) != opening + 1
            or self.words[opening].lower() not in OPENING
            or any(s < verb for s in self._subjects(verb))
        ):
            return {}
        above = self.heads[opening]
        while not self.tags[above].startswith("VB") and self.heads[above] != above:
            above = self.heads[above]
        if above >= opening or not self.tags[above].startswith("VB"):
            return {}
        return {
            noun: (verb, self._subject(verb)),
            opening: (verb, "mark"),
            verb: (above, "advcl"),
        }

    def _turned(self, first: int, verb: int) -> dict[int, Arc]:
        """The first verb in the place of the second, which is joined to it."""
        above = self.heads[verb]
        before = {c: (first, self.labels[c]) for c in self._children[verb] if c < first}
        place = (first if above == verb else above, self.labels[verb])
        return {**before, first: place, verb: (first, "conj")}

    def _rooted(self, token: int) -> bool:
        """Whether heads lead from a token to a root and not back to itself."""
        for _ in self.heads:
            if self.heads[token] == token:
                return True
            token = self.heads[token]
        return False

    def _with(self, arcs: Mapping[int, Arc]) -> Clauses:
        heads, labels = list(self.heads), list(self.labels)
        for token, (head, label) in arcs.items():
            heads[token], labels[token] = head, label
        return Clauses(self.words, self.tags, heads, labels)

    @cached_property
    def _children(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.heads]
        for token, head in enumerate(self.heads):
            if token != head:
                found[head].append(token)
        return found

    def _subjects(self, verb: int) -> list[int]:
        return [c for c in self._children[verb] if self.labels[c] in SUBJECTS]

    def _subject(self, verb: int) -> str:
        passive = any(self.labels[c] == "auxpass" for c in self._children[verb])
        return "nsubjpass" if passive else "nsubj"

    def _finite(self, verb: int) -> bool:
        helping = (self.tags[c] for c in self._children[verb] if self.labels[c].startswith("aux"))
        return self.tags[verb] in FINITE or any(tag in (*FINITE, "MD") for tag in helping)

    def _verb(self, token: int) -> bool:
        return self.tags[token].startswith("VB") and not self.labels[token].startswith("aux")

    def _subordinates(self, token: int) -> bool:
        opens = self.labels[token] == "mark" or self.tags[token].startswith("W")
        return opens or self.words[token] in CLOSED

    def _left(self, token: int) -> int:
        """The first token of what hangs on a token."""
        while self._children[token] and self._children[token][0] < token:
            token = self._children[token][0]
        return token
