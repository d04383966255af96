"""Descriptors of the dependency paths of pairs: what lies on them and how they climb and fall."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from textrank.representations.pairs.layout import OTHER, Layout
from textrank.representations.pairs.trigger_words import STRONG_TRIGGERS, TRIGGERS, group_of
from textrank.types import Matrix
from textrank.types.ragged import lengths, totals

CLAUSES = frozenset(("ccomp", "advcl", "rcmod", "xcomp", "parataxis", "csubj", "relcl", "purpcl"))
PREPOSITIONS = ("with", "to", "of", "by", "in", "between", "for", "from")
COARSE = ("conj", "appos", "loose", "subj", "obj", "prep", "agent", "mod")
KINDS = (*COARSE, "clause", *(f"_{p}" for p in PREPOSITIONS))  # a dependency may be of several
_OTHER = frozenset((OTHER,))
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


def path_rows(own: Layout, verbs: NDArray[np.bool_]) -> Matrix:
    """The descriptors ``PATH`` of all pairs, a row each; counts without logarithm."""
    paths, size = own.paths, len(own.pairs)
    pair, at = np.nonzero(paths.steps >= 0)
    kinds = own.lexicon.rows(_kinds, len(KINDS), own.links.type[paths.steps[pair, at]])
    counts = totals(kinds, pair, size)
    climbed = totals(kinds & (at < own.tops[pair])[:, None], pair, size)
    num = dict(zip(KINDS, counts.T, strict=True))
    rise = dict(zip(KINDS, (climbed > 0).T, strict=True))
    fall = dict(zip(KINDS, (counts > climbed).T, strict=True))
    loose = num["conj"] + num["appos"] + num["loose"]
    lists = num["conj"] + num["appos"]
    linked = paths.length > 0
    taking = fall["obj"] | fall["prep"] | fall["agent"]
    beside = (rise["prep"] | rise["mod"]) & (fall["prep"] | fall["mod"])
    inner = _inner(own, verbs)
    return np.column_stack(
        [
            paths.length < 0,
            linked & (loose == paths.length),
            num["conj"] > 0,
            num["appos"] > 0,
            num["subj"] > 0,
            num["obj"] > 0,
            num["prep"] + num["agent"] > 0,
            *inner[:, :3].T,
            _negated(own),
            inner[:, 3],
            lists,
            num["mod"],
            num["clause"],
            num["prep"] + num["agent"],
            np.where(linked, paths.length - lists - num["mod"], 0),
            *(num[f"_{p}"] > 0 for p in PREPOSITIONS),
            *_tops(own, verbs).T,
            linked & rise["subj"] & taking,
            linked & beside,
        ]
    ).astype(np.float64)


@lru_cache(maxsize=1 << 12)
def _kinds(type_: str) -> tuple[bool, ...]:
    """Which ``KINDS`` a dependency of a type is of."""
    group = group_of(type_)
    endings = [type_.endswith(f"_{p}") or (p == "by" and type_ == "agent") for p in PREPOSITIONS]
    return (*(group == g for g in COARSE), type_ in CLAUSES, *endings)


def _inner(own: Layout, verbs: NDArray[np.bool_]) -> Matrix:  # (pairs, 4)
    """Triggers, strong triggers and third entities inside the path, present or not; and verbs."""
    pair, place, token = own.on_paths()
    inner = ((place > 0) & (place < own.paths.length[pair])).nonzero()[0]
    pair, token = pair[inner], token[inner]
    words = own.word[token]
    found = np.zeros((len(own.pairs), 4))
    for column, group in enumerate((TRIGGERS, STRONG_TRIGGERS, _OTHER)):
        found[pair[own.lexicon.among(group, words)], column] = 1.0
    found[:, 3] = np.bincount(pair[verbs[token]], minlength=len(found))
    return found


def _negated(own: Layout) -> NDArray[np.bool_]:
    """Whether a word of the path has a negation as dependent."""
    links = own.links
    source = np.arange(len(links.starts) - 1).repeat(lengths(links.starts))
    negated = np.zeros(len(links.starts) - 1, dtype=bool)
    negated[source[links.down & (links.type == own.lexicon("neg"))]] = True
    pair, _, token = own.on_paths()
    return np.bincount(pair[negated[token]], minlength=len(own.pairs)) > 0


def _tops(own: Layout, verbs: NDArray[np.bool_]) -> NDArray[np.bool_]:  # (pairs, 4)
    """Whether the top is an entity of the pair, a trigger, a strong one, a verb."""
    found = np.zeros((len(own.pairs), 4), dtype=bool)
    rows = (own.paths.length > 0).nonzero()[0]
    top = own.paths.tokens[rows, own.tops[rows]]
    words = own.words_at(rows, top)
    found[rows, 0] = own.own[top + own.shift[rows]]
    for column, group in ((1, TRIGGERS), (2, STRONG_TRIGGERS)):
        found[rows, column] = own.lexicon.among(group, words)
    found[rows, 3] = verbs[top]
    return found
