"""Who does what to whom: words of events by class, and the part each name plays in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textrank.docs import Candidate
from textrank.representations.pairs.entity_pair import Name, entity_pairs
from textrank.representations.pairs.statement_cues import side_of
from textrank.representations.pairs.telling import TreePair, tellings
from textrank.types import Features

SHORT = 4  # tokens between the names that are worth remembering word for word
FEW = 4  # words of events that are looked at


@dataclass(frozen=True, kw_only=True)
class StatementRoles:
    """What happens between two names and which part each plays, present or absent.

    The top of the path with its voice and the relations by which each name is reached; the words
    on both paths up and beside them; classes along the whole path as one skeleton ("loss, subject,
    ^activation^, object, level"); the likeliest trigger. Words are named by their classes and by
    themselves, so that "knockdown of A impairs B" is like "deletion of A reduces B".
    """

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(tellings(entity_pairs(candidates, "own")))

    def of_pairs(self, told: Sequence[TreePair]) -> Features:
        """The features of pairs in their trees."""
        return Features.of(dict.fromkeys(_roles(one), 1.0) for one in told)


def _roles(told: TreePair) -> Iterator[Name]:
    for part in (_top, _skeletons, _ways, _beside, _triggers, _between):
        yield from part(told)


def _top(told: TreePair) -> Iterator[Name]:
    (one, two), voice = told.reached, told.voice
    for name in _names(told, told.top):
        yield "top", name, told.pair.tags[told.top][:1]
        yield "top", name, voice
        yield "top with both", name, voice, one, two
        yield "top with first", name, voice, one
        yield "top with second", name, voice, two
    yield "parts", voice, one, two
    yield "ends", _end(told, 0), _end(told, 1)


def _skeletons(told: TreePair) -> Iterator[Name]:
    """Classes from name to name, with and without the relations to the top."""
    top = told.classes(told.top)[:1] or ("other",)
    first, second = (
        [told.classes(t)[0] for t in way[:-1] if told.classes(t)] for way in told.paths
    )
    ends = [reached.split(" ")[-1] for reached in told.reached]
    yield ("skeleton", *first, "^", *top, "^", *reversed(second))
    yield ("parts in", told.voice, *first, ends[0], "^", *top, "^", ends[1], *reversed(second))


def _ways(told: TreePair) -> Iterator[Name]:
    """Words between a name and the top."""
    voice, tops = told.voice, told.classes(told.top) or ("other",)
    for side, way in zip(("first", "second"), told.paths, strict=True):
        for token in way[:-1]:
            if token in told.pair.own:
                continue
            for name in _names(told, token):
                yield "way", side, name, told.tree.relations[token]
                yield "way", side, name
                for top in tops:
                    yield "way to top", side, name, top, voice


def _beside(told: TreePair) -> Iterator[Name]:
    """Words of events that hang on the path."""
    path = set(told.path)
    for side, way in zip(("first", "second"), told.paths, strict=True):
        for token in way[:-1]:
            for child in told.tree.children[token]:
                if child not in path:
                    for name in told.classes(child):
                        yield "beside", side, name, told.tree.relations[child]
    for child in told.tree.children[told.top]:
        if child not in path and told.classes(child):
            for name in _names(told, child):
                yield "beside top", name, told.tree.relations[child]


def _triggers(told: TreePair) -> Iterator[Name]:
    for token in told.triggers[:1]:
        where = "path" if token in told.path else side_of(told, token)
        for name in _names(told, token):
            yield "trigger", name, where
            yield "trigger", name
    for token in told.triggers[:FEW]:
        for kind in told.kinds(token):
            yield "event", kind, "path" if token in told.inner else side_of(told, token)


def _between(told: TreePair) -> Iterator[Name]:
    words, tree, own = told.pair.words, told.tree, told.pair.own
    begin, end = told.pair.bounds
    between = [t for t in own if begin < t < end]
    if end - begin - 1 - len(between) <= SHORT:
        middle = [token for token in range(begin + 1, end) if token not in own]
        yield ("between", *((told.kinds(token) or (words[token],))[0] for token in middle))
    for token in tree.classed[bisect_right(tree.classed, begin) : bisect_left(tree.classed, end)]:
        if token not in own:
            for name in tree.classes[token]:
                yield "class between", name


def _names(told: TreePair, token: int) -> tuple[str, ...]:
    """The classes of a word and the word itself, blinded where it is a name."""
    return (*told.classes(token), f"“{told.pair.words[token]}”")


def _end(told: TreePair, side: int) -> str:
    way = told.paths[side]
    return told.tree.relations[way[0]] if len(way) > 1 else "top"
