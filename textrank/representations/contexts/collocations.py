"""Collocations: the word n-grams around a target, with tags and endings on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from spacy.attrs import LOWER
from spacy.tokens import Doc, Span

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.pairs.lexicon import load_lexicon
from textrank.types import Features, Names

Name = tuple[str, ...]

NGRAMS: tuple[tuple[int, ...], ...] = (
    *((offset,) for offset in (-3, -2, -1, 1, 2, 3)),
    *((-2, -1), (1, 2), (-1, 1), (-3, -2), (2, 3)),
    *((-3, -2, -1), (1, 2, 3), (-2, -1, 1), (-1, 1, 2)),
)
OUTSIDE = "<>"  # what stands beyond the sentence or the document


@dataclass(frozen=True)
class Tags:
    """Word n-grams read as parts of speech, from a dictionary of words or from the Doc.

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
        ids: dict[Name, int] = {}
        if self.known is not None:
            ids = {tuple(name): i for i, name in enumerate(self.known)}
        lexicon = None if self.tags is None else self.tags.words()  # once: it may be a file
        tracked = track(candidates, "collocations", len(candidates))
        words = _Lower()
        rows = [self._row(_Around.of(c, self, lexicon, words), ids) for c in tracked]
        columns = [column for row in rows for column in row]
        values = [value for row in rows for value in row.values()]
        starts = np.cumsum([0, *map(len, rows)])
        shape = (len(rows), len(ids))
        matrix = sp.csr_array((np.array(values, float), columns, starts), shape=shape)
        return Features(matrix, Names.of(ids))

    def _row(self, around: _Around, ids: dict[Name, int]) -> dict[int, float]:
        row: dict[int, float] = {}
        for name, value in self._named(around):
            column = ids.get(name, -1) if self.known is not None else ids.setdefault(name, len(ids))
            if column >= 0:
                row[column] = value
        return row

    @cached_property
    def _offsets(self) -> list[int]:
        return sorted({offset for offsets in self.ngrams for offset in offsets})

    @cached_property
    def _named_ngrams(self) -> list[tuple[Sequence[int], str, float]]:
        """The offsets of each n-gram, what they are called, and what it counts."""
        last = len(self.weights)
        return [
            (own, " ".join(f"{offset:+d}" for offset in own), self.weights[min(len(own), last) - 1])
            for own in self.ngrams
        ]

    def _named(self, around: _Around) -> Iterator[tuple[Name, float]]:
        known = {offset: around.word(offset) for offset in self._offsets}
        kinds = {} if self.tags is None else {at: around.tag(at) for at in self._offsets}
        for offsets, where, value in self._named_ngrams:
            words = [known[offset] for offset in offsets]
            yield (where, *words), value
            if self.tags is not None:
                tags = [kinds[offset] for offset in offsets]
                yield from _tagged(where, words, tags, value * self.tags.weight, self.tags.mixed)
                if len(offsets) == 1 and self.tags.lexicon is not None:
                    classes = around.classes(offsets[0])
                    yield (f"{where} class", classes), value * self.tags.weight
        for offset in self.endings:
            yield (f"{offset:+d} ending", around.word(offset)[-3:]), self.ending_weight
        if self.glued:
            yield from around.glue()


class _Lower:
    """The words of Docs in lower case; those of the last Doc are kept."""

    doc: Doc | None = None
    words: Sequence[str] = ()

    def __call__(self, doc: Doc) -> Sequence[str]:
        if doc is not self.doc:
            strings = doc.vocab.strings
            self.words = [strings[orth] for orth in doc.to_array([LOWER]).tolist()]
            self.doc = doc
        return self.words


@dataclass(frozen=True)
class _Around:
    """The tokens near one target."""

    doc: Doc
    words: Sequence[str]
    target: Span
    low: int
    high: int
    settings: Collocations = field(repr=False)
    lexicon: Mapping[str, Sequence[str]] | None = field(repr=False)

    @classmethod
    def of(
        cls,
        candidate: Candidate,
        settings: Collocations,
        lexicon: Mapping[str, Sequence[str]] | None,
        words: _Lower,
    ) -> _Around:
        target = candidate.spans[settings.focus]
        low, high = 0, len(candidate.doc)
        if settings.bounds == "sentence":
            low, high = target.sent.start, candidate.doc[target.end - 1].sent.end
        return cls(candidate.doc, words(candidate.doc), target, low, high, settings, lexicon)

    def index(self, offset: int) -> int:
        """The token at an offset, -1 outside."""
        i = self.target.start + offset if offset < 0 else self.target.end + offset - 1
        return i if self.low <= i < self.high else -1

    def word(self, offset: int) -> str:
        i = self.index(offset)
        if i < 0:
            return OUTSIDE
        word = self.words[i]
        return collapse_digits(word) if self.settings.digits == "collapse" else word

    def tag(self, offset: int) -> str:
        i = self.index(offset)
        if i < 0 or self.lexicon is None:
            return OUTSIDE if i < 0 else self.doc[i].tag_
        word = self.word(offset)
        return self.lexicon[word][0] if word in self.lexicon else f"-{word[-3:]}"

    def classes(self, offset: int) -> str:
        word = self.word(offset)
        return " ".join(sorted((self.lexicon or {}).get(word, [self.tag(offset)])))

    def glue(self) -> Iterator[tuple[Name, float]]:
        before, after = self.index(-1), self.index(1)
        if before >= 0 and not self.doc[before].whitespace_:
            yield ("glued before",), 1.0
            yield ("glued before", self.word(-1)), 1.0
        if after >= 0 and not self.doc[self.target.end - 1].whitespace_:
            yield ("glued after",), 1.0
            yield ("glued after", self.word(1)), 1.0


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


def _tagged(
    where: str, words: Sequence[str], tags: Sequence[str], value: float, mixed: bool
) -> Iterator[tuple[Name, float]]:
    yield (f"{where} tag", *tags), value
    if mixed and 2 <= len(words) <= 3:
        for i, word in enumerate(words):
            yield (f"{where} mixed {i}", *tags[:i], word, *tags[i + 1 :]), value


def collapse_digits(word: str) -> str:
    """The word with each run of digits as one #."""
    if not any(map(str.isdigit, word)):
        return word
    out: list[str] = []
    for letter in word:
        if not letter.isdigit():
            out.append(letter)
        elif not out or out[-1] != "#":
            out.append("#")
    return "".join(out)
