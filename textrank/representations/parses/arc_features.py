"""ArcFeatures: a dependency parse as counts of what its arcs look like."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.attrs import DEP, HEAD, LEMMA, ORTH, TAG
from spacy.tokens import Doc

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.contexts.words import check_form, written
from textrank.representations.pairs.entity_pair import Name
from textrank.representations.parses.counted import Columns, counted
from textrank.types import Features

NEAR = (4, 7, 12)  # distances are told apart up to the first, then up to each
LONG = 64  # words between the ends of an arc from which on they are not looked at one by one


@dataclass(frozen=True)
class ArcFeatures:
    """Counts of properties of the arcs of the Doc's tree, over the root of the number of words.

    Of an arc: its label; label with the tags of its ends, with its length, with the word of the
    dependent, of the head; both tags with the length; both words; each tag between its ends, with
    both tags and with the label. Of arcs that meet: labels of neighbouring dependents of a head;
    an arc with the one above it, by labels, tags and sides; an arc with the next one inside it on
    the same side, by labels and tags. Most tell the side on which the head stands. ``form`` is the
    form of words: "raw", "lower", "lemma", "porter" or "snowball".
    """

    form: str = "lower"

    def __post_init__(self) -> None:
        check_form(self.form)

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        columns = Columns()
        rows = (self._row(c, columns) for c in track(candidates, "arcs", len(candidates)))
        return counted(candidates, rows, columns)

    def _row(self, candidate: Candidate, columns: Columns) -> list[int]:
        tree = ParseTree.of(candidate)
        columns.enter(tree.sentence)
        words = _Words(self.form, candidate.doc, tree.tags, columns.words)
        heads, labels, known = tree.heads, tree.labels, columns.parts
        found: list[int] = []
        below: dict[int, list[int]] = {}
        for i, (h, kind) in enumerate(zip(heads, labels, strict=True)):
            if i == h:
                found += known.get(i) or columns.new(i, words.root(i))
                continue
            below.setdefault(h, []).append(i)
            around = i, h, kind, labels[h], heads[h]
            part = known.get(around)
            if part is None:
                arc = around[:3]
                part = known.get(arc) or columns.new(arc, words.arc(*arc))
                part = known[around] = part + columns.new(around, words.above(*around))
            found += part
        for h, children in below.items():
            kinds = [labels[i] for i in children]
            key = h, tuple(children), tuple(kinds)
            found += known.get(key) or columns.new(key, _beside(tree.tags, h, children, kinds))
        return found


@dataclass(frozen=True)
class ParseTree:
    """A parse as lists; asking every token for its head and label takes far longer."""

    sentence: bytes  # equal where words, lemmas and tags are
    heads: list[int]
    labels: list[str]
    tags: list[str]

    @classmethod
    def of(cls, candidate: Candidate) -> ParseTree:
        """The tree of a candidate's parse."""
        doc = candidate.doc
        if len(doc) and not doc.has_annotation("DEP"):
            raise ValueError(
                f"document {candidate.document!r} has no parse. Add a parser to the spaCy "
                "pipeline, or read a corpus with dependencies."
            )
        table: Any = doc.to_array([ORTH, LEMMA, TAG, HEAD, DEP])
        steps = table[:, 3].astype(np.int64)
        strings = doc.vocab.strings
        return cls(
            table[:, :3].tobytes(),
            (steps + np.arange(len(doc))).tolist(),
            [strings[label] for label in table[:, 4].tolist()],
            [strings[tag] for tag in table[:, 2].tolist()],
        )


@dataclass(frozen=True)
class _Words:
    """What is said of single arcs of a sentence."""

    form: str
    doc: Doc
    tags: list[str]
    known: dict[int, str] = field(default_factory=dict)  # of the sentence, whichever its parse

    def _word(self, i: int) -> str:
        word = self.known.get(i)
        if word is None:
            token = self.doc[i]
            word = self.known[i] = written(token.text, token.lemma_, self.form)
        return word

    def root(self, i: int) -> Iterator[Name]:
        yield "root", self.tags[i]
        yield "root word", self._word(i)

    def arc(self, i: int, h: int, kind: str) -> Iterator[Name]:
        tags, length = self.tags, far(i - h)
        side, word, head = length[0], self._word(i), self._word(h)
        yield "label", kind, side
        yield "label, tags", kind, side, tags[h], tags[i]
        yield "label, length", kind, length
        yield "tags, length", tags[h], tags[i], length
        yield "label, dependent", kind, word
        yield "label, head", kind, head
        yield "words", head, word
        for tag in self._between(min(i, h) + 1, max(i, h)):
            yield "tags, between", tags[h], tags[i], side, tag
            yield "label, between", kind, side, tag

    def _between(self, start: int, end: int) -> list[str]:
        """The tags of a stretch; of a long one by where each stands, for many arcs may be long."""
        if end - start < LONG:
            return sorted(set(self.tags[start:end]))
        return [tag for tag, at in self._places if bisect_left(at, start) < bisect_left(at, end)]

    @cached_property
    def _places(self) -> list[tuple[str, list[int]]]:
        found: dict[str, list[int]] = {}
        for i, tag in enumerate(self.tags):
            found.setdefault(tag, []).append(i)
        return sorted(found.items())

    def above(self, i: int, h: int, kind: str, over: str, above: int) -> Iterator[Name]:
        tags, root = self.tags, above == h
        yield "labels above", kind, over
        yield "sides above", kind, over, far(i - h)[0], "" if root else far(h - above)[0]
        yield "tags above", kind, over, tags[i], tags[h], "" if root else tags[above]


def _beside(
    tags: Sequence[str], h: int, children: Sequence[int], labels: Sequence[str]
) -> Iterator[Name]:
    """What the dependents of one head, in order, look like together."""
    for left, right in pairwise(labels):
        yield "labels beside", tags[h], left, right
    yield "dependents", tags[h], str(len(children))
    arcs = list(zip(children, labels, strict=True))
    outwards = {"-": [a for a in arcs if a[0] < h][::-1], "+": [a for a in arcs if a[0] > h]}
    for side, own in outwards.items():
        tag = label = ""
        for i, kind in own:
            yield "tags inside", tags[h], tags[i], tag, side
            yield "labels inside", tags[h], kind, label, side
            tag, label = tags[i], kind


@lru_cache(maxsize=1 << 12)
def far(steps: int) -> str:
    """How far and on which side of its head a word stands; large distances are put together."""
    size = abs(steps)
    if size > NEAR[0]:
        size = next((most for most in NEAR[1:] if size <= most), 0)
    return ("+" if steps > 0 else "-") + (str(size) if size else "far")
