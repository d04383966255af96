"""Forest: the parses of many candidates as arrays, what they share told apart once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, LEMMA, ORTH, TAG

from textrank.docs import Candidate, read_once
from textrank.types import Indices
from textrank.types.ragged import numbered, offsets

Hashes: TypeAlias = NDArray[np.uint64]
NEAR = (4, 7, 12)  # distances are told apart up to the first, then up to each


@dataclass(frozen=True, eq=False)
class Arcs:
    """The distinct arcs of sentences: a word, its head, their label; a root is its own head."""

    word: Indices
    head: Indices
    label: Indices

    def __len__(self) -> int:
        return len(self.word)


@dataclass(frozen=True, eq=False)
class Forest:
    """The parses of candidates; each word of each parse has a place, parse after parse.

    Parses of a sentence that follow one another share its words, which are kept once, sentence
    after sentence. Tags and labels are numbers of ``strings``, which names may add theirs to.
    """

    begins: Indices  # (parses + 1,) the first place of each, and the end
    word: Indices  # (places,) the word that stands there
    head: Indices  # (places,) the place of its head
    label: Indices  # (places,)
    tag: Indices  # (words,)
    written: Hashes  # (words, 2): as it stands, and its lemma
    stores: Sequence[Any]  # what knows the strings of hashes
    strings: dict[str, int]

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Forest:
        """That of the parses of some candidates."""
        tables = [_table(candidate) for candidate in candidates]
        begins = offsets([len(table) for table in tables])
        sentences, first = _sentences(tables)
        whole = np.concatenate([_NOTHING, *tables])
        here = np.arange(len(whole))
        stores = list({id(c.doc.vocab): c.doc.vocab.strings for c in candidates}.values())
        strings: dict[str, int] = {}
        return cls(
            begins,
            here + np.repeat(first - begins[:-1], np.diff(begins)),
            here + whole[:, 3].astype(np.intp),
            _number(whole[:, 4], stores, strings),
            _number(sentences[:, 2], stores, strings),
            sentences[:, :2],
            stores,
            strings,
        )

    @cached_property
    def arcs(self) -> Arcs:
        """The arcs, each once however many parses of its sentence have it."""
        return self._arcs[0]

    @cached_property
    def arc(self) -> Indices:  # (places,)
        """The arc that leads to each place."""
        return self._arcs[1]

    @cached_property
    def _arcs(self) -> tuple[Arcs, Indices]:
        words, kinds = max(len(self.tag), 1), max(len(self.strings), 1)
        ends = self.word * words + self.word[self.head]
        known, number = numbered(ends * kinds + self.label)
        ends, label = np.divmod(known, kinds)
        return Arcs(*np.divmod(ends, words), label), number

    def number(self, string: str) -> int:
        """The number of a string, a new one where it has none yet."""
        return self.strings.setdefault(string, len(self.strings))

    def numbers(self, strings: Iterable[str]) -> Indices:
        """The same for several."""
        return np.array([self.number(string) for string in strings], dtype=np.intp)


_COLUMNS = [ORTH, LEMMA, TAG, HEAD, DEP]
_NOTHING = np.zeros((0, 5), dtype=np.uint64)


def _table(candidate: Candidate) -> Hashes:  # (words, 5)
    """Word, lemma, tag, steps to the head and label; asking every token takes far longer."""
    doc = candidate.doc
    if len(doc) and not doc.has_annotation("DEP"):
        raise ValueError(
            f"document {candidate.document!r} has no parse. Add a parser to the spaCy "
            "pipeline, or read a corpus with dependencies."
        )
    return read_once(doc, "parse", lambda: cast(Hashes, doc.to_array(_COLUMNS).reshape(-1, 5)))


def _sentences(tables: Sequence[Hashes]) -> tuple[Hashes, Indices]:
    """The words of all sentences, and where the one of each parse begins among them."""
    found, first = [_NOTHING[:, :3]], []
    seen, start, end = None, 0, 0
    for table in tables:
        own = table[:, :3].tobytes()
        if own != seen:
            seen, start, end = own, end, end + len(table)
            found.append(table[:, :3])
        first.append(start)
    return np.concatenate(found), np.array(first, dtype=np.intp)


def _number(hashes: Hashes, stores: Sequence[Any], strings: dict[str, int]) -> Indices:
    """The numbers of the strings that these are the hashes of."""
    known, which = np.unique(hashes, return_inverse=True)
    found = [strings.setdefault(string, len(strings)) for string in spelt(known, stores)]
    return np.array(found, dtype=np.intp)[which]


def spelt(hashes: Hashes, stores: Sequence[Any]) -> list[str]:
    """The strings of hashes, each from the first store that knows it."""
    return [next(store[key] for store in stores if key in store) for key in hashes.tolist()]


def lengths(forest: Forest, steps: Indices) -> Indices:
    """How far and on which side of their heads words stand, see ``far``."""
    known, which = np.unique(steps, return_inverse=True)
    return forest.numbers(map(far, known.tolist()))[which]


def far(steps: int) -> str:
    """How far and on which side of its head a word stands; large distances are put together."""
    size = abs(steps)
    if size > NEAR[0]:
        size = next((most for most in NEAR[1:] if size <= most), 0)
    return ("+" if steps > 0 else "-") + (str(size) if size else "far")
