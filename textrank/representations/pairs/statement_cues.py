"""Denial and doubt: cue words by class, and how they stand to the path between two names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textrank.docs import Candidate
from textrank.representations.pairs.entity_pair import Name, entity_pairs
from textrank.representations.pairs.statement_words import CUES
from textrank.representations.pairs.telling import TreePair, tellings
from textrank.types import Features

NEAR = 3  # tokens
HIGH = 3  # steps above the top of the path that are followed
OPENINGS = ("to", "in", "we")  # first words worth telling apart, besides cues


@dataclass(frozen=True, kw_only=True)
class StatementCues:
    """Which words deny or doubt, each by its class and its place in the tree, present or absent.

    A cue stands on the path between the names, at a word of it, above its top, beside a word above
    it, or below a word beside the path; which relations lead there is part of the feature, so that
    "no binding", "failed to bind" and "binding was not seen" are three features that other verbs
    and other names share. Each cue is named by its class and by its own word.
    """

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(tellings(entity_pairs(candidates, "own")))

    def of_pairs(self, told: Sequence[TreePair]) -> Features:
        """The features of pairs in their trees."""
        return Features.of(dict.fromkeys(_cues(one), 1.0) for one in told)


def _cues(told: TreePair) -> list[Name]:
    stems, found = told.pair.context.stems, list[Name]()
    if told.tree.cues:
        place, kind = _places(told), _kind(told)
        for cue, names in told.tree.cues:
            where, side = _standing(told, cue, place), side_of(told, cue)
            for name in names:
                found += [("cue", name, *standing) for standing in where]
                found += [("cue side", name, side), ("cue", name)]
                if where[0][0] != "elsewhere":
                    found.append(("cue with", name, where[0][0], kind))
    if told.pair.context.texts[-1] == "?":
        found.append(("question mark",))
    opening = stems[0] if stems[0] in CUES or stems[0] in OPENINGS else "other"
    return [*found, ("opening", opening)]


def _kind(told: TreePair) -> str:
    """What happens, by the likeliest trigger, or by the top where there is none."""
    kinds = told.kinds(told.triggers[0] if told.triggers else told.top)
    return kinds[0] if kinds else "other"


def _places(told: TreePair) -> Mapping[int, str]:
    """What the words of the path are, and the likeliest trigger."""
    place = dict.fromkeys(told.path, "path")
    place.update(dict.fromkeys(place.keys() & told.pair.own, "name"))
    if told.triggers:
        place[told.triggers[0]] = "trigger"
    place[told.top] = "top"
    return place


def _standing(told: TreePair, cue: int, place: Mapping[int, str]) -> list[Name]:
    """How a cue stands to the path; the first is the most exact."""
    heads, relations = told.tree.heads, told.tree.relations
    head, relation = heads[cue], relations[cue]
    if cue in place:
        return [("on path", place[cue], relation)]
    if head in place:
        part = _part(told, head)
        at = place[head]
        return [("at", at, relation, part), ("at", at, relation), ("at", at)]
    up = told.tree.above(told.top)
    high = up[1 : 1 + HIGH]
    if cue in high or head in high:
        beside = () if cue in high else (relation,)
        steps = [relations[t] for t in up[: up.index(cue if cue in high else head)]]
        title = "beside above" if beside else "above"
        few = str(len(steps)), steps[-1]
        return [(title, *steps, *beside), (title, *few, *beside), (title, steps[0], *beside)]
    if heads[head] in place:
        at, over = place[heads[head]], relations[head]
        part = _part(told, heads[head])
        return [("below", at, over, relation), ("below", at, over), ("below", over, part)]
    return [("elsewhere", side_of(told, cue))]


def _part(told: TreePair, token: int) -> str:
    """Whether a word lies on the way up from the first name, from the second, or on both."""
    one, two = told.paths
    if token in one:
        return "both" if token in two else "first"
    return "second" if token in two else "neither"


def side_of(told: TreePair, token: int) -> str:
    """Where a word stands in the order of the sentence."""
    begin, end = told.pair.bounds
    if token < begin:
        return "just before" if begin - token <= NEAR else "before"
    if token > end:
        return "just after" if token - end <= NEAR else "after"
    return "just before second" if 0 < min(told.pair.second) - token <= 2 else "between"
