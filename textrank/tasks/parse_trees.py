"""Parses of a sentence: how good one is, and how much the others speak for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import TypeAlias, TypeVar

import numpy as np

from textrank.language.noise import Parse
from textrank.language.spanning import sparse_tree
from textrank.types import Indices, Matrix
from textrank.types.ragged import flat, numbered, offsets, spread

MOST = 0.5 + 1e-9  # of all votes: so many that rounding does not matter

Arc: TypeAlias = tuple[int, int, str]  # head, dependent, type


@dataclass(frozen=True)
class Tree:
    """One parse of a sentence; heads count its words from 0, a root's is its own."""

    name: str
    heads: Sequence[int]
    labels: Sequence[str]
    tags: Sequence[str]
    votes: float = 1.0  # the share of parsers that found it
    own: bool = False  # whether it is the first choice of the parser
    by: Sequence[float] = field(default=())  # that share among the copies of each parser
    spans: Sequence[bool] = field(default=())  # whether most votes of all, of each, speak for it

    def links(self) -> set[Arc]:
        """Every arc; a root hangs from nothing."""
        arcs = zip(self.heads, self.labels, strict=True)
        return {(head, i, label) for i, (head, label) in enumerate(arcs) if head != i}


def goodness(links: set[Arc], gold: set[Arc]) -> float:
    """F-score of the links of a parse; equal are links of the same type between the same words.

    A link to a word that the gold parse leaves unlinked counts neither for nor against.

    >>> gold = {(1, 0, "nsubj"), (1, 2, "obl")}
    >>> goodness({(1, 0, "nsubj"), (1, 2, "dobj"), (1, 3, "punct")}, gold)
    0.5
    """
    if not gold:
        return 1.0
    linked = {word for head, dependent, _ in gold for word in (head, dependent)}
    right = len(links & gold)
    wrong = sum(head in linked and dependent in linked for head, dependent, _ in links - gold)
    return 2 * right / (len(gold) + right + wrong)


def attached(tree: Tree, gold: Tree) -> int:
    """How many words have the right head and label; the label of a root does not matter."""
    rows = zip(tree.heads, gold.heads, tree.labels, gold.labels, strict=True)
    return sum(
        head == right and (head == i or label == wanted)
        for i, (head, right, label, wanted) in enumerate(rows)
    )


@dataclass(frozen=True, eq=False)
class Agreement:
    """For each tree and word of a sentence the share of each parser's votes for the same there."""

    arcs: Matrix  # (trees, words, parsers): for the same head and label
    heads: Matrix  # (trees, words, parsers): for the same head


def agreements(pools: Sequence[Sequence[Tree]]) -> list[Agreement]:
    """How much the trees of a sentence agree, by their votes; of many sentences at once."""
    trees = [tree for pool in pools for tree in pool]
    counts, widths = [len(pool) for pool in pools], [_width(pool) for pool in pools]
    first = np.repeat(offsets(widths)[:-1], counts)
    owner, word = spread(first, np.repeat(np.array(widths, dtype=np.intp), counts))
    numbers: dict[str, int] = {}
    labels = flat([numbers.setdefault(k, len(numbers)) for k in tree.labels] for tree in trees)
    heads = word * max(widths, default=0) + flat(tree.heads for tree in trees)
    weights = _weights(pools)
    arcs = heads * max(len(numbers), 1) + labels
    found = zip(*(_split(_shares(c, weights, owner), pools) for c in (arcs, heads)), strict=True)
    return [Agreement(*own) for own in found]


def _width(pool: Sequence[Tree]) -> int:
    return len(pool[0].heads) if pool else 0


def _parsers(pool: Sequence[Tree]) -> int:
    return len(pool[0].by) if pool else 0


def _weights(pools: Sequence[Sequence[Tree]]) -> Matrix:  # (trees, parsers)
    """The share of each tree in the votes of each parser, 0 of one that its sentence lacks."""
    tables = [np.zeros((0, 0))]
    for pool in filter(None, pools):
        votes = np.array([tree.by for tree in pool])
        tables.append(votes / np.maximum(votes.sum(axis=0), 1e-300))
    found = np.zeros((sum(map(len, tables)), max(table.shape[1] for table in tables)))
    begins = offsets([len(table) for table in tables]).tolist()
    for table, start in zip(tables, begins[:-1], strict=True):
        found[start : start + len(table), : table.shape[1]] = table
    return found


def _shares(codes: Indices, weights: Matrix, owner: Indices) -> Matrix:  # (codes, parsers)
    """The sum of the weights of equal codes, given whose they are."""
    which = numbered(codes)[1]
    found = np.empty((len(codes), weights.shape[1]))
    for column, own in zip(found.T, weights.T, strict=True):
        column[:] = np.bincount(which, weights=own[owner])[which]
    return found


def _split(shares: Matrix, pools: Sequence[Sequence[Tree]]) -> Iterator[Matrix]:
    """Those of each sentence, (trees, words, parsers)."""
    start = 0
    for pool in pools:
        shape = len(pool), _width(pool), _parsers(pool)
        end = start + shape[0] * shape[1]
        yield np.ascontiguousarray(shares[start:end, : shape[2]]).reshape(shape)
        start = end


def pooled(parsers: Sequence[Sequence[Parse]]) -> list[Tree]:
    """The distinct parses of several parsers and the trees that most of their votes speak for.

    Parsers count alike. The first parse of the first parser is the own one, and tags are its. To
    what the parsers found come the maximum spanning trees of the arcs by votes, of all parsers
    together and of each, where nobody found them.
    """
    tables = [_votes(parses) for parses in parsers]
    spanning = [_spanning(table) for table in [_together(tables), *tables]]
    keys = dict.fromkeys([key for table in tables for key in table] + spanning)
    first = parsers[0][0]
    own = first.heads, first.labels
    found = []
    for number, key in enumerate(keys):
        by = [table.get(key, 0.0) for table in tables]
        votes = sum(by) / len(by)
        spans = [key == tree for tree in spanning]
        found.append(Tree(str(number), *key, first.tags, votes, key == own, by, spans))
    return found


_Key: TypeAlias = tuple[tuple[int, ...], tuple[str, ...]]


def _votes(parses: Sequence[Parse]) -> dict[_Key, float]:
    total = sum(parse.votes for parse in parses)
    return {(parse.heads, parse.labels): parse.votes / total for parse in parses}


def _together(tables: Sequence[dict[_Key, float]]) -> dict[_Key, float]:
    found: Counter[_Key] = Counter()
    for table in tables:
        for key, votes in table.items():
            found[key] += votes  # type: ignore[assignment]
    return dict(found)


def _spanning(table: Mapping[_Key, float]) -> _Key:
    """The spanning tree of some parses; each arc has the label that most votes give it."""
    shares = list(table.values())
    first = max(table, key=lambda key: table[key])
    if table[first] > MOST * sum(shares):  # of no other arc or label can be as many
        return first
    heads = list(zip(*(heads for heads, _ in table), strict=True))  # by word, of each parse
    labels = zip(*(labels for _, labels in table), strict=True)
    votes = [_summed(own, shares) for own in heads]
    roots = [own.pop(word, 0.0) for word, own in enumerate(votes)]
    tree = sparse_tree(votes, roots)
    each = zip(tree, heads, labels, strict=True)
    return tuple(tree), tuple(_most(kinds, shares, own, head) for head, own, kinds in each)


def _most(labels: Sequence[str], shares: Sequence[float], heads: Sequence[int], head: int) -> str:
    """The label that most votes for a head give its arc."""
    if len(set(labels)) == 1 and head in heads:
        return labels[0]
    some = [own == head for own in heads]
    votes = _summed(list(compress(labels, some)), list(compress(shares, some)))
    return max(votes, key=lambda label: votes[label], default="dep")


T = TypeVar("T")


def _summed(keys: Sequence[T], shares: Sequence[float]) -> dict[T, float]:
    """The votes for each key; one after the other, so that equal votes are equal numbers."""
    found: dict[T, float] = {}
    for key, share in zip(keys, shares, strict=True):
        found[key] = found.get(key, 0.0) + share
    return found
