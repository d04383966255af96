"""Features in words: which kind of reason a named feature is, and how to say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from textrank.parts import AVERAGE
from textrank.representations.pairs.analysis import stem
from textrank.representations.pairs.statement_words import CUES
from textrank.representations.pairs.trigger_words import HEDGES, NEGATIONS

Part: TypeAlias = tuple[tuple[str, ...], float]

VERB, PATH, DENIAL = "verb and roles", "path", "negation and doubt"
DISTANCE, CONTEXT, OTHER = "distance and length", "context words", "other"
VIEWS: Mapping[str, str] = {
    "triggers": VERB,
    "roles": VERB,
    "relation": VERB,
    "cues": DENIAL,
    "path": PATH,
    "dependencies": PATH,
    "basic": DISTANCE,
    "position": DISTANCE,
    "order": CONTEXT,
    "words": CONTEXT,
    "global_context": CONTEXT,
    "local_context": CONTEXT,
}
TITLES: Mapping[str, str] = {
    "dependencies": "linked in the parse",
    "order": "near one another",
    "path": "on the path",
    "triggers": "",
    "roles": "",
    "cues": "",
    "words": "word",
    "global_context": "in the sentence",
    "local_context": "close to a name",
    "basic": "",
    "position": "",
    "relation": "",
}
SHAPES: Mapping[str, str] = {
    "basic": "lengths and counts as in known pairs",
    "position": "places of names and words as in known pairs",
    "relation": "words and parts as in known pairs",
}  # of views that are compared as a whole
WORDS: Mapping[str, str] = {
    "PROT1": "the first name",
    "PROT2": "the second name",
    "PROT": "another name",
    "middle": "between the names",
    "before": "before the names",
    "after": "after the names",
    "anywhere": "anywhere",
}
SKIPPED = ("given", "own", "collapsed")  # which parse a feature is of
_DENIALS = (
    NEGATIONS
    | HEDGES
    | {
        word
        for word, kinds in CUES.items()
        if {"not", "no", "neither", "fail", "whether", "modal", "possible"} & set(kinds)
    }
)


@dataclass(frozen=True)
class Reason:
    """Features of one kind with what they add together."""

    title: str
    adds: float
    parts: Sequence[tuple[str, float]]  # in words, largest first


def group_of(name: Sequence[str]) -> str:
    """Which kind of reason a feature is.

    >>> group_of(("triggers", "trigger", "middle", "bind"))
    'verb and roles'
    >>> group_of(("words", "before", "not"))
    'negation and doubt'
    """
    view = _view(name)
    if any(_bare(part) in _DENIALS for part in name[1:]):
        return DENIAL
    return VIEWS.get(view, AVERAGE if tuple(name) == (AVERAGE,) else OTHER)


def in_words(name: Sequence[str]) -> str:
    """A feature as a person reads it.

    >>> in_words(("triggers", "trigger", "middle", "bind"))
    'trigger between the names bind'
    """
    view = _view(name)
    rest = [WORDS.get(part, part) for part in name if _bell(part) != view and part not in SKIPPED]
    return " ".join(filter(None, [TITLES.get(view, ""), *rest])) or SHAPES.get(view, view)


def _view(name: Sequence[str]) -> str:
    """The view that a feature is of."""
    return next((_bell(part) for part in name if _bell(part) in VIEWS), "")


def _bell(part: str) -> str:
    """The view of a Gaussian, which is named with its width, as in "basic, 0.0156"."""
    return part.partition(",")[0]


def reasons(parts: Sequence[Part]) -> list[Reason]:
    """The parts by kind, the weightiest kind first and the average candidate last.

    The reasons add up to what the parts add up to.
    """
    kinds: dict[str, dict[str, float]] = {}
    for name, value in parts:
        own = kinds.setdefault(group_of(name), {})
        words = in_words(name)
        own[words] = own.get(words, 0.0) + value
    found = [
        Reason(kind, sum(own.values()), sorted(own.items(), key=lambda part: -abs(part[1])))
        for kind, own in kinds.items()
    ]
    return sorted(found, key=lambda reason: (reason.title == AVERAGE, -abs(reason.adds)))


def words_behind(parts: Sequence[Part], text: str, *, share: float = 0.5) -> list[tuple[int, int]]:
    """Where the words of the weightiest parts for the score stand in a text.

    Of the features that raise the score, those that make up ``share`` of all they add.
    """
    total = sum(value for _, value in parts if value > 0)
    wanted: set[str] = set()
    so_far = 0.0
    for name, value in sorted(parts, key=lambda part: -part[1]):
        if value <= 0 or so_far > share * total:
            break
        so_far += value
        wanted |= {_bare(part) for part in name[1:]}
    places, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        core = word.strip(".,;:()[]?!")
        if core and stem(core) in wanted:
            begin = start + word.index(core)
            places.append((begin, begin + len(core)))
    return places


def _bare(part: str) -> str:
    """The stem of a feature's word, without quotation marks."""
    return stem(part.strip("“”"))
