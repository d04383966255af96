"""Who does what to whom: words of events by class, and the part each name plays in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from textrank.docs import Candidate
from textrank.representations.pairs.entity_pair import Name, entity_pairs
from textrank.representations.pairs.statement_cues import side_of
from textrank.representations.pairs.telling import TreePair, tellings
from textrank.types import Features

SHORT = 4  # tokens between the names that are worth remembering word for word
FEW = 4  # words of events that are looked at
SIDES = ("first", "second")


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


def _roles(told: TreePair) -> list[Name]:
    return [name for part in PARTS for name in part(told)]


def _top(told: TreePair) -> list[Name]:
    (one, two), voice = told.reached, told.voice
    tag = told.pair.tags[told.top][:1]
    found: list[Name] = [
        ("parts", voice, one, two),
        ("ends", _end(told, 0), _end(told, 1)),
    ]
    for name in _names(told, told.top):
        found += [
            ("top", name, tag),
            ("top", name, voice),
            ("top with both", name, voice, one, two),
            ("top with first", name, voice, one),
            ("top with second", name, voice, two),
        ]
    return found


def _skeletons(told: TreePair) -> list[Name]:
    """Classes from name to name, with and without the relations to the top."""
    top = told.classes(told.top)[:1] or ("other",)
    first, second = (
        [classes[0] for t in way[:-1] if (classes := told.classes(t))] for way in told.paths
    )
    second.reverse()
    ends = [reached.rpartition(" ")[-1] for reached in told.reached]
    return [
        ("skeleton", *first, "^", *top, "^", *second),
        ("parts in", told.voice, *first, ends[0], "^", *top, "^", ends[1], *second),
    ]


def _ways(told: TreePair) -> list[Name]:
    """Words between a name and the top."""
    voice, tops = told.voice, told.classes(told.top) or ("other",)
    own, relations = told.pair.own, told.tree.relations
    found: list[Name] = []
    for side, way in zip(SIDES, told.paths, strict=True):
        for token in way[:-1]:
            if token in own:
                continue
            for name in _names(told, token):
                found += [("way", side, name, relations[token]), ("way", side, name)]
                found += [("way to top", side, name, top, voice) for top in tops]
    return found


def _beside(told: TreePair) -> list[Name]:
    """Words of events that hang on the path."""
    path, tree = told.path, told.tree
    found: list[Name] = []
    for side, way in zip(SIDES, told.paths, strict=True):
        for token in way[:-1]:
            for child in tree.classed_children[token]:
                if child not in path:
                    relation = tree.relations[child]
                    found += [("beside", side, name, relation) for name in told.classes(child)]
    for child in tree.classed_children[told.top]:
        if child not in path and told.classes(child):
            relation = tree.relations[child]
            found += [("beside top", name, relation) for name in _names(told, child)]
    return found


def _triggers(told: TreePair) -> list[Name]:
    found: list[Name] = []
    for token in told.triggers[:1]:
        where = "path" if token in told.path else side_of(told, token)
        for name in _names(told, token):
            found += [("trigger", name, where), ("trigger", name)]
    for token in told.triggers[:FEW]:
        kinds = told.tree.kinds[token]
        where = "path" if token in told.inner else side_of(told, token)
        found += [("event", kind, where) for kind in kinds]
    return found


def _between(told: TreePair) -> list[Name]:
    tree, own = told.tree, told.pair.own
    begin, end = told.pair.bounds
    found: list[Name] = []
    if end - begin - 1 - len(own) <= SHORT:
        middle = [token for token in range(begin + 1, end) if token not in own]
        if len(middle) <= SHORT:
            word = told.pair.word
            found.append(("between", *((told.kinds(t) or (word(t),))[0] for t in middle)))
    for token in tree.classed[bisect_right(tree.classed, begin) : bisect_left(tree.classed, end)]:
        if token not in own:
            found += [("class between", name) for name in tree.classes[token]]
    return found


PARTS = (_top, _skeletons, _ways, _beside, _triggers, _between)


def _names(told: TreePair, token: int) -> tuple[str, ...]:
    """The classes of a word and the word itself, blinded where it is a name."""
    return (*told.classes(token), f"“{told.pair.word(token)}”")


def _end(told: TreePair, side: int) -> str:
    way = told.paths[side]
    return told.tree.relations[way[0]] if len(way) > 1 else "top"
