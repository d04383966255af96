"""ArcFeatures: a dependency parse as counts of what its arcs look like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.contexts.words import check_form, written
from textrank.representations.parses.counted import Parts
from textrank.representations.parses.forest import Forest, lengths, spelt
from textrank.types import Features, Indices
from textrank.types.ragged import numbered, spread

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
        forest = Forest.of(list(track(candidates, "arcs", len(candidates))))
        parts = Parts(forest)
        looks = _Looks.of(forest, self.form)
        _tell_arcs(parts, looks)
        _tell_above(parts, looks)
        _tell_beside(parts, looks)
        _tell_dependents(parts)
        return parts.counted()


@dataclass(frozen=True, eq=False)
class _Looks:
    """What the distinct arcs of a forest look like, by numbers of strings; last that of no arc.

    The head of a root is no word: its tag is empty, and so is the side on which it stands.
    """

    at: Indices  # which arcs these are
    label: Indices
    tag: Indices
    above: Indices  # the tag of the head
    word: Indices
    head: Indices  # the word of the head
    length: Indices
    side: Indices

    @classmethod
    def of(cls, forest: Forest, form: str) -> _Looks:
        arcs, empty = forest.arcs, forest.number("")
        root = arcs.word == arcs.head
        words = _words(forest, form)
        side = np.where(arcs.word > arcs.head, forest.number("+"), forest.number("-"))
        columns = (
            arcs.label,
            forest.tag[arcs.word],
            np.where(root, empty, forest.tag[arcs.head]),
            words[arcs.word],
            words[arcs.head],
            lengths(forest, arcs.word - arcs.head),
            np.where(root, empty, side),
        )
        return cls(np.arange(len(arcs)), *(np.append(column, empty) for column in columns))

    def take(self, arcs: Indices) -> _Looks:
        """Those of some arcs; of no arc where the number is -1."""
        return _Looks(arcs, *(getattr(self, f.name)[arcs] for f in fields(self)[1:]))


def _words(forest: Forest, form: str) -> Indices:  # (words,)
    """The form of each word; distinct ones are looked at once."""
    orth, lemma = (np.unique(own, return_inverse=True) for own in forest.written.T)
    known, which = numbered(orth[1] * max(len(lemma[0]), 1) + lemma[1])
    texts, lemmas = (spelt(own[0], forest.stores) for own in (orth, lemma))
    pairs = zip(*(at.tolist() for at in np.divmod(known, max(len(lemmas), 1))), strict=True)
    return forest.numbers(written(texts[i], lemmas[j], form) for i, j in pairs)[which]


def _tell_arcs(parts: Parts, looks: _Looks) -> None:
    arcs = parts.forest.arcs
    numbers = parts.add(np.arange(len(parts.forest.arc)), parts.forest.arc, len(arcs))
    own = looks.take(np.flatnonzero(arcs.word == arcs.head))
    parts.name(numbers[own.at], "root", own.tag)
    parts.name(numbers[own.at], "root word", own.word)
    own = looks.take(np.flatnonzero(arcs.word != arcs.head))
    name = partial(parts.name, numbers[own.at])
    name("label", own.label, own.side)
    name("label, tags", own.label, own.side, own.above, own.tag)
    name("label, length", own.label, own.length)
    name("tags, length", own.above, own.tag, own.length)
    name("label, dependent", own.label, own.word)
    name("label, head", own.label, own.head)
    name("words", own.head, own.word)
    start, end = np.minimum(arcs.word, arcs.head) + 1, np.maximum(arcs.word, arcs.head)
    arc, tag = _between(parts.forest.tag, start, end)
    own = looks.take(arc)
    parts.name(numbers[arc], "tags, between", own.above, own.tag, own.side, tag)
    parts.name(numbers[arc], "label, between", own.label, own.side, tag)


def _between(tags: Indices, start: Indices, end: Indices) -> tuple[Indices, Indices]:
    """The tags of stretches of words, each once a stretch: whose it is, and which.

    Of a long one by where each tag stands, for many arcs may be long.
    """
    size = np.maximum(end - start, 0)
    short, long = np.flatnonzero(size < LONG), np.flatnonzero(size >= LONG)
    owner, at = spread(start[short], size[short])
    kinds = int(tags.max(initial=0)) + 1
    known, _ = numbered(short[owner] * kinds + tags[at])
    found = [np.divmod(known, kinds)]
    for tag in np.unique(tags).tolist() if len(long) else ():
        places = np.flatnonzero(tags == tag)
        within = np.searchsorted(places, start[long]) < np.searchsorted(places, end[long])
        found.append((long[within], np.full(within.sum(), tag)))
    arc, tag = (np.concatenate(own) for own in zip(*found, strict=True))
    return arc, tag


def _meeting(
    parts: Parts, looks: _Looks, places: Indices, others: Indices
) -> tuple[Indices, _Looks, _Looks]:
    """New parts: arcs to some places, each with another one, or none where its place is -1."""
    arc, size = parts.forest.arc, len(parts.forest.arcs) + 1
    other = np.where(others < 0, -1, arc[others])
    known, which = numbered(arc[places] * size + other + 1)
    first, second = np.divmod(known, size)
    return parts.add(places, which, len(known)), looks.take(first), looks.take(second - 1)


def _tell_above(parts: Parts, looks: _Looks) -> None:
    """Names of an arc with the one above it."""
    head = parts.forest.head
    below = np.flatnonzero(head != np.arange(len(head)))
    numbers, low, high = _meeting(parts, looks, below, head[below])
    parts.name(numbers, "labels above", low.label, high.label)
    parts.name(numbers, "sides above", low.label, high.label, low.side, high.side)
    parts.name(numbers, "tags above", low.label, high.label, low.tag, low.above, high.above)


def _tell_beside(parts: Parts, looks: _Looks) -> None:
    """Names of neighbouring dependents of a head, and of each with the next one inside it."""
    head = parts.forest.head
    below = np.flatnonzero(head != np.arange(len(head)))
    order = below[np.argsort(head[below], kind="stable")]
    same = head[order[1:]] == head[order[:-1]]
    left, right = order[:-1][same], order[1:][same]
    numbers, one, two = _meeting(parts, looks, left, right)
    parts.name(numbers, "labels beside", one.above, one.label, two.label)
    inside = np.full(len(head), -1)
    after, before = left > head[left], right < head[right]  # both on one side of the head
    inside[right[after]], inside[left[before]] = left[after], right[before]
    numbers, own, inner = _meeting(parts, looks, below, inside[below])
    parts.name(numbers, "tags inside", own.above, own.tag, inner.tag, own.side)
    parts.name(numbers, "labels inside", own.above, own.label, inner.label, own.side)


def _tell_dependents(parts: Parts) -> None:
    """How many of them a head has."""
    forest = parts.forest
    below = forest.head[forest.head != np.arange(len(forest.head))]
    count = np.bincount(below, minlength=len(forest.head))
    heads = np.flatnonzero(count)
    size = int(count.max(initial=0)) + 1
    known, which = numbered(forest.tag[forest.word[heads]] * size + count[heads])
    tag, size_of = np.divmod(known, size)
    numbers = parts.add(heads, which, len(known))
    parts.name(numbers, "dependents", tag, forest.numbers(map(str, size_of.tolist())))
