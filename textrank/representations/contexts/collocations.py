"""Collocations: the word n-grams around a target, with tags and endings on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.contexts.near import Block, Near
from textrank.representations.pairs.lexicon import load_lexicon
from textrank.types import Features, Names

Name = tuple[str, ...]

NGRAMS: tuple[tuple[int, ...], ...] = (
    *((offset,) for offset in (-3, -2, -1, 1, 2, 3)),
    *((-2, -1), (1, 2), (-1, 1), (-3, -2), (2, 3)),
    *((-3, -2, -1), (1, 2, 3), (-2, -1, 1), (-1, 1, 2)),
)


@dataclass(frozen=True)
class Tags:
    """Word n-grams read as parts of speech, from a dictionary of words or from the Doc.

    >>> import spacy
    >>> doc = spacy.blank("en")("It is larger then that.")
    >>> tags = Tags({"larger": ["JJR"], "that": ["DT"]})
    >>> found = Collocations([(-1,)], glued=False, tags=tags)([Candidate(doc, (doc[3:4],), "d1")])
    >>> [" ".join(name) for name in found.names]
    ['-1 larger', '-1 tag JJR', '-1 class JJR']

    Parameters
    ----------
    lexicon
        The tags of each word, most frequent first, as ``tag_lexicon`` finds them; the first is its
        tag, all of them its ambiguity class. An unknown word is tagged by its last three letters.
        A string names a shipped lexicon ("english") or a file, see ``load_lexicon``.
        Without a lexicon, ``token.tag_`` is read: only where it was assigned without knowing the
        answer, as by a tagger, never from gold annotation.
    weight
        Factor of these features beside those of words.
    mixed
        Also n-grams with one word and tags elsewhere.
    """

    lexicon: Mapping[str, Sequence[str]] | str | None = None
    weight: float = 0.7
    mixed: bool = True

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise ValueError(f"weight must be positive, got {self.weight}")

    def words(self) -> Mapping[str, Sequence[str]] | None:
        """The tags of each word, read from their file where only that is named."""
        return load_lexicon(self.lexicon) if isinstance(self.lexicon, str) else self.lexicon


@dataclass(frozen=True)
class Collocations:
    """Binary features: which words stand together at which offsets from the target.

    Words are lower case and punctuation counts. The value of a feature is the weight of its length
    in ``weights``, times those of tags and endings.

    Parameters
    ----------
    ngrams
        Offsets that are read together; -1 is the token before the target, 1 the one after.
    weights
        The value of an n-gram of one, two, three ... tokens; the last serves longer ones.
    bounds
        What lies beyond the "document" or the "sentence" is not read.
    glued
        Also whether the target touches its neighbours without a blank, alone and with the word.
    endings
        Offsets whose last three letters are read too, with value ``ending_weight``.
    digits
        "keep" them, or "collapse" each run to one #.
    known
        The only features to tell, such as those seen twice in some unlabelled text
        (``frequent``); without it, all.
    """

    ngrams: Sequence[Sequence[int]] = NGRAMS
    weights: Sequence[float] = (1.0,)
    bounds: str = "document"
    glued: bool = True
    tags: Tags | None = None
    endings: Sequence[int] = ()
    ending_weight: float = 0.5
    digits: str = "keep"
    focus: int = 0
    known: Sequence[Sequence[str]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "ngrams", tuple(tuple(offsets) for offsets in self.ngrams))
        for name in ("weights", "endings"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.known is not None:
            object.__setattr__(self, "known", tuple(tuple(name) for name in self.known))
        if any(not offsets or 0 in offsets for offsets in self.ngrams) or 0 in self.endings:
            raise ValueError(
                f"offsets must not be empty or hold 0, the target itself, got {self.ngrams}"
            )
        if not self.weights or min(self.weights) <= 0 or self.ending_weight <= 0:
            raise ValueError(
                f"weights must be positive, got {self.weights} and ending_weight "
                f"{self.ending_weight}"
            )
        if self.bounds not in ("document", "sentence"):
            raise ValueError(f"bounds must be 'document' or 'sentence', got {self.bounds!r}")
        if self.digits not in ("keep", "collapse"):
            raise ValueError(f"digits must be 'keep' or 'collapse', got {self.digits!r}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        words = dict[str, int]()
        near = Near.of(track(candidates, "collocations", len(candidates)), self, words)
        blocks = list(self._blocks(near, words))
        width = max((len(block.parts) for block in blocks), default=1)
        shape = (len(candidates), len(blocks))
        parts = np.full((*shape, width), -1, dtype=np.int32)
        present = np.ones(shape, dtype=bool)
        for number, block in enumerate(blocks):
            for place, part in enumerate(block.parts):
                parts[:, number, place] = part
            if block.rows is not None:
                present[:, number] = block.rows
        each = Names(tuple(words), parts[present])
        values = np.broadcast_to(np.array([block.value for block in blocks], float), shape)[present]
        rows = np.repeat(np.arange(len(candidates)), present.sum(axis=1))
        if self.known is None:
            names, columns = each.distinct()
        else:
            names = Names.of(map(tuple, self.known))
            columns = names.find(each)
            rows, values, columns = rows[columns >= 0], values[columns >= 0], columns[columns >= 0]
        starts = np.searchsorted(rows, np.arange(len(candidates) + 1))
        shape = (len(candidates), len(names))
        return Features(sp.csr_array((values, columns, starts), shape=shape), names)

    @cached_property
    def offsets(self) -> list[int]:
        """All offsets at which something is read."""
        glued = (-1, 1) if self.glued else ()
        return sorted({*(at for own in self.ngrams for at in own), *self.endings, *glued})

    @cached_property
    def _named_ngrams(self) -> list[tuple[Sequence[int], str, float]]:
        """The offsets of each n-gram, what they are called, and what it counts."""
        last = len(self.weights)
        return [
            (own, " ".join(f"{offset:+d}" for offset in own), self.weights[min(len(own), last) - 1])
            for own in dict.fromkeys(map(tuple, self.ngrams))
        ]

    def _blocks(self, near: Near, numbers: dict[str, int]) -> Iterator[Block]:
        """One name a candidate in each, as numbers of words."""

        def number(word: str) -> int:
            return numbers.setdefault(word, len(numbers))

        for offsets, where, value in self._named_ngrams:
            words = [near.words[at] for at in offsets]
            yield Block([number(where), *words], value)
            if self.tags is not None:
                value *= self.tags.weight
                tags = [near.tags[at] for at in offsets]
                yield Block([number(f"{where} tag"), *tags], value)
                if self.tags.mixed and 2 <= len(words) <= 3:
                    for i, word in enumerate(words):
                        mixed = [*tags[:i], word, *tags[i + 1 :]]
                        yield Block([number(f"{where} mixed {i}"), *mixed], value)
                if len(offsets) == 1 and self.tags.lexicon is not None:
                    yield Block([number(f"{where} class"), near.classes[offsets[0]]], value)
        for at in dict.fromkeys(self.endings):
            yield Block([number(f"{at:+d} ending"), near.endings[at]], self.ending_weight)
        if self.glued:
            for where, at, rows in (
                ("glued before", -1, near.glued_before),
                ("glued after", 1, near.glued_after),
            ):
                yield Block([number(where)], 1.0, rows)
                yield Block([number(where), near.words[at]], 1.0, rows)


def frequent(features: Features, minimum: int = 2) -> list[Name]:
    """Names of the features that at least ``minimum`` rows have: ``known`` of Collocations."""
    counts = np.bincount(features.values.indices, minlength=len(features.names))
    return list(features.names.take(np.flatnonzero(counts >= minimum)))


def tag_lexicon(tagged: Iterable[tuple[str, str]], share: float = 0.1) -> dict[str, list[str]]:
    """The tags of each word in lower case, most frequent first, each in a ``share`` of its uses.

    >>> tag_lexicon([("Binds", "VBZ"), ("binds", "VBZ"), ("binds", "NNS")])
    {'binds': ['VBZ', 'NNS']}
    """
    counts: dict[str, Counter[str]] = {}
    for word, tag in tagged:
        counts.setdefault(word.lower(), Counter())[tag] += 1
    return {
        word: [tag for tag, n in tags.most_common() if n >= share * tags.total()]
        for word, tags in counts.items()
    }
