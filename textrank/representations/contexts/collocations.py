"""Collocations: the word n-grams around a target, with tags and endings on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.contexts.near import Forms, Near
from textrank.representations.pairs.lexicon import load_lexicon
from textrank.types import Features, Indices, Names, Slotted

Name = tuple[str, ...]

NGRAMS: tuple[tuple[int, ...], ...] = (
    *((offset,) for offset in (-3, -2, -1, 1, 2, 3)),
    *((-2, -1), (1, 2), (-1, 1), (-3, -2), (2, 3)),
    *((-3, -2, -1), (1, 2, 3), (-2, -1, 1), (-1, 1, 2)),
)


Slot = tuple[str, int]  # what is told of a token, and its offset


class Block(NamedTuple):
    """A feature that each candidate has: its name begins with a title; its value."""

    title: str
    slots: Sequence[Slot]  # what comes after the title
    value: float
    glued: str = ""  # only where the target touches what is "before" or "after" it


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
        each = self.loose(candidates).features()
        if self.known is None:
            names, columns = each.names.distinct()
        else:
            names = self._known
            columns = names.find(each.names)
        cells = (each.values.data, columns, each.values.indptr)
        return Features(sp.csr_array(cells, shape=(len(each), len(names))), names)

    def loose(self, candidates: Sequence[Candidate]) -> Slotted:
        """The features by the words that fill their names."""
        tracked = track(candidates, "collocations", len(candidates))
        targets = [candidate.spans[self.focus] for candidate in tracked]
        near = Near.of(targets, self.offsets, self.bounds, self._forms)
        titles = np.array([near.number(block.title) for block in self._blocks], dtype=np.int32)
        kinds = dict.fromkeys(kind for kind, _ in self._columns)
        numbers = {kind: near.numbers(kind) for kind in kinds}
        fill = [numbers[kind][near.offsets[offset]] for kind, offset in self._columns]
        values = np.array([block.value for block in self._blocks])
        found = Slotted(
            tuple(near.vocabulary),
            np.array(fill, dtype=np.int32).reshape(len(fill), len(candidates)).T,
            titles, self._slots, values, self._present(near),
        )  # fmt: skip
        return found if self.known is None else found.having(self._known)

    def _present(self, near: Near) -> NDArray[np.bool_] | None:
        """Which candidates have which features; None where all have all."""
        if not self.glued:
            return None
        rows = {"": np.ones(near.at.shape[1], dtype=bool)}
        rows |= {"before": near.glued_before, "after": near.glued_after}
        return np.column_stack([rows[block.glued] for block in self._blocks])

    @cached_property
    def offsets(self) -> list[int]:
        """All offsets at which something is read."""
        glued = (-1, 1) if self.glued else ()
        return sorted({*(at for own in self.ngrams for at in own), *self.endings, *glued})

    @cached_property
    def _known(self) -> Names:
        return Names.of(map(tuple, self.known or ()))

    @cached_property
    def _forms(self) -> Forms:
        lexicon = None if self.tags is None else self.tags.words()
        return Forms(self.digits, lexicon or {})

    @cached_property
    def _columns(self) -> list[Slot]:
        """Everything that fills a slot, once."""
        return list(dict.fromkeys(slot for block in self._blocks for slot in block.slots))

    @cached_property
    def _slots(self) -> Indices:  # (blocks, longest)
        column = {slot: number for number, slot in enumerate(self._columns)}
        width = max((len(block.slots) for block in self._blocks), default=0)
        slots = np.full((len(self._blocks), width), -1, dtype=np.intp)
        for row, block in enumerate(self._blocks):
            slots[row, : len(block.slots)] = [column[slot] for slot in block.slots]
        return slots

    @cached_property
    def _blocks(self) -> list[Block]:
        return [*self._ngram_blocks(), *self._other_blocks()]

    def _ngram_blocks(self) -> Iterator[Block]:
        """N-grams of words, of tags, and mixed."""
        last = len(self.weights)
        for own in dict.fromkeys(map(tuple, self.ngrams)):
            where = " ".join(f"{offset:+d}" for offset in own)
            value = self.weights[min(len(own), last) - 1]
            words = [("word", at) for at in own]
            yield Block(where, words, value)
            if self.tags is None:
                continue
            value *= self.tags.weight
            tag = "doc_tag" if self.tags.lexicon is None else "tag"
            tags = [(tag, at) for at in own]
            yield Block(f"{where} tag", tags, value)
            if self.tags.mixed and 2 <= len(words) <= 3:
                for i, word in enumerate(words):
                    yield Block(f"{where} mixed {i}", [*tags[:i], word, *tags[i + 1 :]], value)
            if len(own) == 1 and self.tags.lexicon is not None:
                yield Block(f"{where} class", [("all_tags", own[0])], value)

    def _other_blocks(self) -> Iterator[Block]:
        """Endings, and what touches the target."""
        for at in dict.fromkeys(self.endings):
            yield Block(f"{at:+d} ending", [("ending", at)], self.ending_weight)
        for side, at in (("before", -1), ("after", 1)) if self.glued else ():
            yield Block(f"glued {side}", [], 1.0, side)
            yield Block(f"glued {side}", [("word", at)], 1.0, side)


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
