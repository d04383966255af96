"""Walks along the shortest dependency path of a pair, and what hangs on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.entity_pair import (
    Bag,
    EntityPair,
    Name,
    bags,
    entity_pairs,
)
from textrank.types import Features


@dataclass(frozen=True, kw_only=True)
class PathWalks:
    """Counts of the walks along the path between two entities, for a linear kernel.

    The path is the alternating sequence ``w0 d1 w1 d2 ... wk`` of words and dependencies, the
    latter marked ``>`` where they lead down to a dependent and ``<`` where up to a governor.
    Counted are its runs of three (word-dependency-word and dependency-word-dependency) in words
    and in parts of speech, its runs of five in words, single words and dependencies, the whole
    path as dependencies, as words and as parts of speech, its length, and every dependency by
    which a word beside the path hangs on a word of the path. Without a path, only that is said.

    Bunescu and Mooney (2005), HLT/EMNLP; Kim, Yoon and Yang (2008), Bioinformatics 24(1).
    """

    parse: Parse = "auto"

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return bags(map(_walks, pairs))


def _walks(pair: EntityPair) -> Bag:
    if not pair.path:
        return {("length", "none"): 1.0}
    words = [pair.words[token] for token in pair.path]
    tags = [pair.tags[token][:2] for token in pair.path]
    kinds = [link.mark for link in pair.links]
    found: Counter[Name] = Counter([("length", str(len(kinds)))])
    found.update(_along(words, tags, kinds))
    found.update(_beside(pair))
    return {name: float(count) for name, count in found.items()}


def _along(words: Sequence[str], tags: Sequence[str], kinds: Sequence[str]) -> Iterator[Name]:
    for kind, sequence in (("words", words), ("tags", tags)):
        yield from _runs(f"walk of {kind}", alternating(sequence, kinds), 3)
        yield (f"path of {kind}", *sequence)
    yield from _runs("walk of words", alternating(words, kinds), 5)
    yield ("path of dependencies", *kinds)
    yield from (("word", word) for word in words[1:-1])
    yield from (("dependency", kind) for kind in kinds)


def _beside(pair: EntityPair) -> Iterator[Name]:
    on_path = set(pair.path)
    for token in pair.path:
        for link in pair.context.links[token]:
            if link.down and link.to not in on_path:
                yield "beside", pair.words[token], link.type, pair.words[link.to]
                yield "beside", link.type, pair.words[link.to]


def _runs(prefix: str, sequence: Sequence[str], size: int) -> Iterator[Name]:
    for start in range(len(sequence) - size + 1):
        yield (prefix, *sequence[start : start + size])


def alternating(words: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """``w0 d1 w1 d2 ... wk``.

    >>> alternating(["PROT1", "bind", "PROT2"], ["nsubj<", "dobj>"])
    ['PROT1', 'nsubj<', 'bind', 'dobj>', 'PROT2']
    """
    rest = zip(kinds, words[1:], strict=True)
    return [words[0], *(part for step in rest for part in step)]
