"""Words that tell of interactions, with the role they play for a pair of entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.entity_pair import EntityPair, entity_pairs, features_met
from textrank.representations.pairs.layout import FIRST, OTHER, SECOND, SIDES, Layout
from textrank.representations.pairs.occurrences import Occurrences
from textrank.representations.pairs.trigger_words import NEGATIONS, TRIGGERS, group_of, is_verb
from textrank.types import Features, Indices
from textrank.types.ragged import offsets

_ENTITIES = {FIRST: ord("1"), SECOND: ord("2"), OTHER: ord("X")}


@dataclass(frozen=True, kw_only=True)
class TriggerRoles:
    """What links a pair at a glance, each present or absent, for a linear kernel.

    Trigger stems before, in the middle, after, anywhere and on the path; the top of the path with
    its part of speech and with the first and last dependency; verbs and words of the path; the
    path as coarse dependencies; a middle of up to four tokens as words and as parts of speech;
    the words before and after the pair; the order of entities (1, 2, X), triggers (k) and
    negations (n) as a pattern; lengths of path and middle in doubling bins.
    """

    parse: Parse = "auto"
    once: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return features_met(self, pairs)

    def meet(self, own: Layout, found: Occurrences) -> None:
        """Adds what is met in pairs."""
        for part in (_triggers, _of_path, _of_middle, _around, _patterns, _lengths):
            part(own, found)


def _told(own: Layout, words: Indices) -> NDArray[np.bool_]:
    """Which words are triggers."""
    return own.lexicon.among(TRIGGERS, words)


def _triggers(own: Layout, found: Occurrences) -> None:
    some = ((own.side >= 0) & _told(own, own.seen)).nonzero()[0]
    sides = own.lexicon.all(SIDES)[own.side[some]]
    pair, _, token = own.on_paths()
    words = own.words_at(pair, token)
    on = _told(own, words).nonzero()[0]
    for rows, where, word in (
        (own.owner[some], sides, own.seen[some]),
        (pair[on], own.lexicon("path"), words[on]),
    ):
        found.add("trigger", rows, where, word)
        found.add("trigger", rows, own.lexicon("anywhere"), word)


def _of_path(own: Layout, found: Occurrences) -> None:
    paths = own.paths
    rows = (paths.length > 0).nonzero()[0]
    if not len(rows):
        return
    top = paths.tokens[rows, own.tops[rows]]
    word = own.words_at(rows, top)
    ends = [own.marks[paths.steps[rows, at]] for at in (0, paths.length[rows] - 1)]
    found.add("top", rows, word, own.coarse[top])
    found.add("top between", rows, word, *ends)
    found.add("ends of path", rows, *ends)
    pair, place, token = own.on_paths()
    inner = ((place > 0) & (place < paths.length[pair])).nonzero()[0]
    pair, token = pair[inner], token[inner]
    words = own.words_at(pair, token)
    found.add("path word", pair, words)
    verbs = own.lexicon.table(is_verb, own.tag[token])
    found.add("path verb", pair[verbs], words[verbs])
    found.padded("coarse path", rows, _coarse_paths(own)[rows])


def _coarse_paths(own: Layout) -> Indices:
    """Each path as kinds of dependencies with their directions, every run of equals as one."""
    words = own.lexicon.words()
    known, place = np.unique(own.marks, return_inverse=True)
    coarse = own.lexicon.all(
        f"{group_of(words[mark][:-1])}{words[mark][-1]}" for mark in known.tolist()
    )[place]
    pair, at = np.nonzero(own.paths.steps >= 0)
    kinds = coarse[own.paths.steps[pair, at]]
    kept = ((at == 0) | (kinds != np.roll(kinds, 1))).nonzero()[0]
    found = np.full_like(own.paths.steps, -1)
    pair = pair[kept]
    rank = np.arange(len(pair)) - (at[kept] == 0).nonzero()[0][np.cumsum(at[kept] == 0) - 1]
    found[pair, rank] = kinds[kept]
    return found


def _of_middle(own: Layout, found: Occurrences) -> None:
    rows, cells = own.middles
    for name, values in (("middle", own.seen[cells]), ("middle tags", own.tag[own.token[cells]])):
        found.padded(name, rows, np.where(cells >= 0, values, -1))


def _around(own: Layout, found: Occurrences) -> None:
    every = np.arange(len(own.pairs))
    first, last = own.begin == own.base, own.end == own.base + own.size - 1
    for name, at, edge, none in (
        ("previous", own.begin - 1, first, "start"),
        ("next", own.end + 1, last, "end"),
    ):
        words = np.full(len(every), own.lexicon(none), dtype=np.intp)
        words[~edge] = own.words_at(every[~edge], at[~edge])
        found.add(name, every, words)


def _patterns(own: Layout, found: Occurrences) -> None:
    symbol = own.lexicon.table(_symbol, own.seen, np.uint8)
    cell = symbol.nonzero()[0]
    symbol, owner = symbol[cell], own.owner[cell]
    region = np.where(own.own[cell], 1, own.side[cell])
    new = np.ones(len(cell), dtype=bool)
    new[1:] = (symbol[1:] != symbol[:-1]) | (owner[1:] != owner[:-1]) | (region[1:] != region[:-1])
    text = symbol[new].tobytes().decode("ascii")
    counts = np.bincount(3 * owner[new] + region[new], minlength=3 * len(own.pairs))
    cuts = offsets(counts).tolist()
    middle, around = [], []
    for place in range(0, 3 * len(own.pairs), 3):
        begin, one, other, end = cuts[place : place + 4]
        middle.append(text[one:other])
        before, after = text[max(begin, one - 1) : one], text[other : min(other + 1, end)]
        around.append(f"{before} {middle[-1]} {after}")
    every = np.arange(len(own.pairs))
    found.add("pattern", every, own.lexicon.all(middle))
    found.add("pattern around", every, own.lexicon.all(around))


def _symbol(word: str) -> int:
    """The letter of a word in patterns, as its number; 0 for words that do not stand in them."""
    if word in TRIGGERS:
        return ord("k")
    return ord("n") if word in NEGATIONS else _ENTITIES.get(word, 0)


def _lengths(own: Layout, found: Occurrences) -> None:
    every = np.arange(len(own.pairs))
    told = ((own.side == 1) & _told(own, own.seen)).nonzero()[0]
    triggers = np.bincount(own.owner[told], minlength=len(every))
    path = [str(n.bit_length()) if n >= 0 else "none" for n in own.paths.length.tolist()]
    middle = [str(n.bit_length()) for n in own.sizes[:, 1].tolist()]
    found.add("length of path", every, own.lexicon.all(path))
    found.add("length of middle", every, own.lexicon.all(middle))
    words = own.lexicon.all(str(n.bit_length()) for n in triggers.tolist())
    found.add("triggers in middle", every, words)
