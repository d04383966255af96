"""Descriptors of the dependency paths of pairs: what lies on them and how they climb and fall."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from textrank.representations.pairs.layout import Layout
from textrank.representations.pairs.trigger_words import group_of
from textrank.types import Matrix
from textrank.types.ragged import totals

CLAUSES = frozenset(("ccomp", "advcl", "rcmod", "xcomp", "parataxis", "csubj", "relcl", "purpcl"))
PREPOSITIONS = ("with", "to", "of", "by", "in", "between", "for", "from")
COARSE = ("conj", "appos", "loose", "subj", "obj", "prep", "agent", "mod")
KINDS = (*COARSE, "clause", *(f"_{p}" for p in PREPOSITIONS))  # a dependency may be of several
MARKED = ("trigger", "strong", "other", "verb")  # what words are, as far as paths tell of it
PATH = (
    "no path",
    "path is loose",
    "path has conjunction",
    "path has apposition",
    "path has subject",
    "path has object",
    "path has preposition",
    "trigger on path",
    "strong trigger on path",
    "third entity on path",
    "path is negated",
    "verbs on path",
    "lists on path",
    "modifiers on path",
    "clauses on path",
    "prepositions on path",
    "path length without lists",
    *(f"path has {preposition}" for preposition in PREPOSITIONS),
    "top is an entity",
    "top is a trigger",
    "top is a strong trigger",
    "top is a verb",
    "subject and object of the top",
    "both beside the top",
)  # in the order of the rows


def path_rows(own: Layout, marks: Matrix) -> Matrix:  # (tokens, MARKED)
    """The descriptors ``PATH`` of all pairs, a row each, by what words are; counts as they are."""
    paths, size = own.paths, len(own.pairs)
    pair, at = (paths.steps >= 0).nonzero()
    kinds = own.lexicon.rows(_kinds, len(KINDS), own.links.type[paths.steps[pair, at]])
    counts = totals(kinds, pair, size)
    climbed = totals(kinds & (at < own.tops[pair])[:, None], pair, size)
    num = dict(zip(KINDS, counts.T, strict=True))
    rise = dict(zip(KINDS, (climbed > 0).T, strict=True))
    fall = dict(zip(KINDS, (counts > climbed).T, strict=True))
    lists = num["conj"] + num["appos"]
    linked = paths.length > 0
    taking = fall["obj"] | fall["prep"] | fall["agent"]
    beside = (rise["prep"] | rise["mod"]) & (fall["prep"] | fall["mod"])
    inner, negated = _words(own, marks)
    rows = [
        paths.length < 0,
        linked & (lists + num["loose"] == paths.length),
        num["conj"] > 0,
        num["appos"] > 0,
        num["subj"] > 0,
        num["obj"] > 0,
        num["prep"] + num["agent"] > 0,
        *(inner[:, :3] > 0).T,
        negated,
        inner[:, 3],
        lists,
        num["mod"],
        num["clause"],
        num["prep"] + num["agent"],
        np.where(linked, paths.length - lists - num["mod"], 0),
        *(num[f"_{p}"] > 0 for p in PREPOSITIONS),
        *_tops(own, marks),
        linked & rise["subj"] & taking,
        linked & beside,
    ]
    return np.array(rows, dtype=np.float64).T


@lru_cache(maxsize=1 << 12)
def _kinds(type_: str) -> tuple[bool, ...]:
    """Which ``KINDS`` a dependency of a type is of."""
    group = group_of(type_)
    endings = [type_.endswith(f"_{p}") or (p == "by" and type_ == "agent") for p in PREPOSITIONS]
    return (*(group == g for g in COARSE), type_ in CLAUSES, *endings)


def _words(own: Layout, marks: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:  # (pairs, MARKED)
    """How many words inside each path have each mark; whether one of it has a negation below it."""
    links, size = own.links, len(own.pairs)
    pair, place, token = own.on_paths()
    inner = (place > 0) & (place < own.paths.length[pair])
    down = (links.down & (links.type == own.lexicon("neg"))).nonzero()[0]
    above = np.zeros(len(links.starts), dtype=bool)
    above[np.searchsorted(links.starts, down, side="right") - 1] = True
    negated = np.zeros(size, dtype=bool)
    negated[pair[above[token]]] = True
    return totals(marks[token] * inner[:, None], pair, size), negated


def _tops(own: Layout, marks: Matrix) -> Matrix:  # (4, pairs)
    """Whether the top is an entity of the pair, a trigger, a strong one, a verb."""
    rows = (own.paths.length > 0).nonzero()[0]
    top = own.paths.tokens[rows, own.tops[rows]]
    entity = own.own[top + own.shift[rows]]
    found = np.zeros((4, len(own.pairs)))
    found[0, rows], found[3, rows] = entity, marks[top, 3]
    found[1:3, rows] = marks[top, :2].T * ~entity  # names are blind
    return found
