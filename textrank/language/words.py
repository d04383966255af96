"""What a word shows of itself: form, shape, pieces, the company it keeps, and what lists say.

Each of these views is a number, so that a table of weights or of vectors can be asked about it. A
text in capitals or without any is read without case: its words show other shapes than usual ones.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from murmurhash.mrmr import hash as murmur
from numpy.typing import NDArray

Hashes: TypeAlias = NDArray[np.uint64]

VIEWS = (
    *("word", "lower", "plain", "shape", "short_shape", "kind"),
    *("cluster64", "cluster256", "cluster1000", "cluster3000", "listed", "named"),
    *("first2", "first3", "first4", "last2", "last3", "last4", "last5"),
)
PLACE: Mapping[str, int] = {view: place for place, view in enumerate(VIEWS)}
MOST_PIECES = 30
_MARKS = tuple(f"{place}|" for place in PLACE.values())  # which view a text is of

_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "sigma tau upsilon phi chi psi omega"
)
_GREEK = frozenset(_LETTERS.split())
_DIGITS = re.compile(r"\d+")
_RUN = re.compile(r"(.)\1+")
_ROMAN = re.compile(r"[IVX]{1,4}")


def plain(word: str) -> str:
    """The word in lower case, each number as 0.

    >>> plain("Smad34a")
    'smad0a'
    """
    return _DIGITS.sub("0", word.lower())


def shape(word: str) -> str:
    """Kinds of characters: ``p53`` is ``xdd``, ``IL`` is ``XX``."""
    if word.isascii():
        return word[:24].translate(_SHAPES)
    return "".join(map(_shape_of, word[:24]))


def _shape_of(c: str) -> str:
    return "d" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c


_SHAPES = {code: _shape_of(chr(code)) for code in range(128)}


def kind(word: str) -> str:
    """Of the few ways in which words are written, the one of this word.

    >>> [kind(word) for word in ("beta", "IV", "53", "p53", "MAPK", "cdc", "Ras", "GalT", ".")]
    ['greek', 'roman', 'number2', 'mixed', 'capitals4', 'lower', 'initial', 'inner', 'other']
    """
    if word.lower() in _GREEK:
        return "greek"
    if _ROMAN.fullmatch(word):
        return "roman"
    if word.isdigit():
        return f"number{min(len(word), 3)}"
    if len(word) == 1 and word.isalnum():
        return "capital" if word.isupper() else "letter"
    if any(c.isdigit() for c in word):
        return "MIXED" if any(c.isupper() for c in word) else "mixed"
    return _kind_of_letters(word)


def _kind_of_letters(word: str) -> str:
    if not word[:1].isalnum():
        return "other" + word[:1] * (word in "()[],:;/-")
    if word.isupper():
        return f"capitals{min(len(word), 6)}"
    if word[1:] != word[1:].lower():
        return "inner"
    return "initial" if word[0].isupper() else "lower"


def pieces(word: str) -> list[str]:
    """Runs of three and four characters of the plain word and its ends."""
    whole = f"^{plain(word)}$"
    found = [whole[i : i + n] for n in (3, 4) for i in range(len(whole) - n + 1)]
    return list(dict.fromkeys(found))[:MOST_PIECES]


def number(text: str) -> int:
    """The 32 bits that stand for a text in all tables."""
    return murmur(text) & 0xFFFFFFFF


def without_case(words: Sequence[str]) -> NDArray[np.bool_]:
    """Which words stand in a sentence that says nothing by its capitals.

    That is one without any, or one of at least three words of letters, all in capitals. Sentences
    are what lies between full stops.
    """
    flags = np.zeros(len(words), dtype=bool)
    start = 0
    for end, word in enumerate(words, start=1):
        if word in (".", "?", "!") or end == len(words):
            flags[start:end] = _says_nothing(words[start:end])
            start = end
    return flags


def _says_nothing(words: Sequence[str]) -> bool:
    text = " ".join(words)
    if text == text.lower():
        return True
    letters = [word for word in words if word.isalpha() and len(word) > 1]
    return len(letters) >= 3 and all(word.isupper() for word in letters)


class WordTable:
    """Clusters, vectors and list entries of words, by sorted 32-bit numbers of their forms.

    ``plain`` forms have four clusters and a vector (as bytes, of ``scale`` a step); words as they
    are written, and in lower case, have a code: the lists of gene names that hold them (three
    bits) and how often, where they occur in PubMed, they are part of a listed name.
    """

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.arrays = dict(arrays)
        # Sorted lists and not dictionaries, which would take a tenth of a second to fill.
        self._codes = {
            cased: (self.arrays[f"{cased}_keys"].tolist(), self.arrays[f"{cased}_codes"])
            for cased in ("exact", "lower")
        }
        self._keys: list[int] = self.arrays["keys"].tolist()

    def place(self, word: str) -> int:
        """Row of the vector of the word, -1 where it has none."""
        return _last(self._keys, number(plain(word)))

    def vectors(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Vectors in these rows, zero for -1."""
        table: NDArray[np.int8] = self.arrays["vectors"]
        if not len(table):
            return np.zeros((len(places), table.shape[1]), dtype=np.float32)
        found = table[places].astype(np.float32) * np.float32(self.arrays["scale"])
        found[places < 0] = 0
        return found

    def views(self, word: str, caseless: bool) -> list[int]:
        """The word's views as numbers, in the order of ``VIEWS``."""
        mark = "~" if caseless else ""
        word = word.lower() if caseless else word
        lower, form = word.lower(), shape(word)
        at = self.place(word)
        clusters = ["?"] * 4 if at < 0 else self.arrays["clusters"][at].tolist()
        listed, named = self._listed(word, lower, caseless)
        texts = (
            mark + word, lower, plain(word), mark + form, mark + _RUN.sub(r"\1", form),
            mark + kind(word), *map(str, clusters), mark + listed, f"{mark}{named}",
            mark + word[:2], word[:3], word[:4], lower[-2:], lower[-3:], lower[-4:], lower[-5:],
        )  # fmt: skip
        return [number(view + text) for view, text in zip(_MARKS, texts, strict=True)]

    def _listed(self, word: str, lower: str, caseless: bool) -> tuple[str, int]:
        """Lists that hold the word (``i``: in other case), and how often it is part of a name."""
        folded = self._code("lower", lower)
        if caseless:
            return str(folded & 7), folded >> 3
        code = self._code("exact", word)
        return str(code & 7) if code & 7 or not folded & 7 else f"i{folded & 7}", code >> 3

    def _code(self, cased: str, form: str) -> int:
        keys, codes = self._codes[cased]
        at = _last(keys, number(form))
        return int(codes[at]) if at >= 0 else 0


def _last(keys: Sequence[int], key: int) -> int:
    """Where a number stands in a sorted list, -1 where it does not; of equals the last."""
    at = bisect_right(keys, key) - 1
    return at if at >= 0 and keys[at] == key else -1


def empty_table(width: int) -> WordTable:
    """A table that knows no word."""
    return WordTable(
        {
            "keys": np.zeros(0, dtype=np.uint32),
            "clusters": np.zeros((0, 4), dtype=np.uint16),
            "vectors": np.zeros((0, width), dtype=np.int8),
            "scale": 1.0,
            **{f"{c}_keys": np.zeros(0, dtype=np.uint32) for c in ("exact", "lower")},
            **{f"{c}_codes": np.zeros(0, dtype=np.uint8) for c in ("exact", "lower")},
        }
    )
