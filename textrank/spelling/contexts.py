"""Words of a text as numbers, and what stands around those in question; no spaCy needed.

Every feature is one 64-bit number made from its slot and the words (or classes of words) that
fill it. All occurrences of a text are treated at once.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]

HOLE = "\x00"  # what is no prose
# A compound such as "and/or" is one word; so nothing inside it is judged.
TOKEN = re.compile(
    r"[^\W\d_]+(?:['’\-./@&]+[^\W\d_]+)*|\d+(?:[.,]?\w+)*|\x00+|¶+|\n[ \t]*\n\s*|[^\w\s*]"
)
REACH = 9  # words on either side that count at all
NEAR = 2  # words on either side that must be prose
HABIT = 3  # times that a text says something on purpose
COMMON = 50  # tokens of a text that are no telling neighbours
SHORT = 5  # a sentence with fewer words is a heading or a cell
ENDS = frozenset(".!?¶")

W, F, C, A, B = range(5)  # a word, its fine and coarse class, its first letter, its first three
Part: TypeAlias = tuple[int, int]  # kind and place
SLOTS: tuple[tuple[Part, ...], ...] = (
    *(((W, o),) for o in (-1, 1, -2, 2, -3, 3)),
    ((W, -2), (W, -1)),
    ((W, 1), (W, 2)),
    ((W, -1), (W, 1)),
    ((W, -3), (W, -2), (W, -1)),
    ((W, 1), (W, 2), (W, 3)),
    ((W, -2), (W, -1), (W, 1)),
    ((W, -1), (W, 1), (W, 2)),
    ((W, -2), (W, -1), (W, 1), (W, 2)),
    *(((F, o),) for o in (-1, 1, -2, 2, -3, 3)),
    ((F, -2), (F, -1)),
    ((F, 1), (F, 2)),
    ((F, -1), (F, 1)),
    ((C, -2), (C, -1)),
    ((C, 1), (C, 2)),
    ((C, -1), (C, 1)),
    ((C, -2), (C, -1), (C, 1)),
    ((C, -1), (C, 1), (C, 2)),
    ((C, -2), (C, -1), (C, 1), (C, 2)),
    ((C, -3), (C, -2), (C, -1)),
    ((C, 1), (C, 2), (C, 3)),
    ((W, -1), (C, 1)),
    ((C, -1), (W, 1)),
    ((C, -2), (W, -1)),
    ((W, 1), (C, 2)),
    ((A, 1),),
    ((B, 1),),
)
AROUND = tuple(o for o in range(-REACH, REACH + 1) if o)  # places of the bag of words
BAG = len(SLOTS)
VALUES = np.array(
    [1.0] * 2 + [0.7] * 2 + [0.5] * 2 + [1.0] * 3 + [0.8] * 5 + [0.7] * 2 + [0.5] * 4
    + [0.7] * 3 + [0.6] * 8 + [0.7] * 4 + [1.0] * 2 + [0.25] * len(AROUND)
)  # fmt: skip


@dataclass
class Lexicon:
    """Numbers of words: each is looked at once, then known.

    ``classes`` gives the classes of frequent words by their hashes; others have one by their shape.
    """

    classes: Mapping[int, tuple[int, int]]
    members: Mapping[str, int]  # the words that are judged
    numbers: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    most: int = 200_000

    def __post_init__(self) -> None:
        self.number("¶")

    def number(self, token: str) -> int:
        """The number of a token; new ones are looked at."""
        known = self.numbers.get(token)
        if known is None:
            known = self.numbers[token] = len(self.rows)
            self.rows.append(self._row(token))
        return known

    def _row(self, token: str) -> tuple[int, ...]:
        plain = plain_form(token)
        hashed = hashed_text(plain)
        fine, coarse = self.classes.get(hashed) or shape(plain)
        case = 0 if token.islower() else 1 if token[:1].isupper() and token[1:].islower() else 2
        if token in ("I", "A") or token.startswith(("I'", "I’")):
            case = 1
        member = self.members.get(plain, -1) if case < 2 else -1
        letters = hashed_text(plain[:1]), hashed_text(plain[:3])
        return hashed, fine, coarse, *letters, member, case, int(plain in ENDS)

    def read(self, text: str) -> Tokens:
        """The tokens of a text as numbers, with a boundary on both sides."""
        if len(self.rows) > self.most:  # of long runs: what was met once need not be kept
            self.numbers.clear()
            self.rows.clear()
            self.number("¶")
        number = self.number
        found = [number(token) for token in TOKEN.findall(text)]
        pad = [0] * REACH
        return Tokens.of(np.array(pad + found + pad, dtype=np.int64), self.rows)


def hashed_text(text: str) -> int:
    """A number of 32 bits for a text, the same everywhere; half of a surrogate pair has one too."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def plain_form(token: str) -> str:
    """A token as features know it.

    >>> plain_form("Don’t"), plain_form("12.5"), plain_form("__")
    ("don't", '0', '_')
    """
    first = token[0]
    if first.isalpha():
        return token.lower().replace("’", "'")
    return "0" if first.isdigit() else "¶" if first == "\n" else first


def shape(plain: str) -> tuple[int, int]:
    """Classes of a word that is not in the table: by its ending."""
    if not plain[0].isalpha():
        return 65000, 65000
    hyphen = 1 if "-" in plain or "/" in plain or "." in plain else 0
    ending = hashed_text(plain[-3:]) % 20_000
    coarse = hashed_text(plain[-2:]) % 500
    return 30_000 + 2 * ending + hyphen & 0xFFFF, 60_000 + 2 * coarse + hyphen


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a text: hashes, classes, members, case, and the sentence each is of."""

    numbers: Numbers
    codes: Sequence[Hashes]  # of words, classes and first letters
    member: Numbers
    case: Numbers
    sentence: Numbers

    @classmethod
    def of(cls, numbers: Numbers, rows: Sequence[tuple[int, ...]]) -> Tokens:
        """From the numbers of a lexicon."""
        table = np.array(rows, dtype=np.int64)
        return cls.of_table(numbers, table)

    @classmethod
    def of_table(cls, numbers: Numbers, table: Numbers) -> Tokens:
        """The same from a table of the words' properties."""
        columns = table[numbers].T
        sentence = np.zeros(len(numbers), dtype=np.int64)
        np.cumsum(columns[7][:-1], out=sentence[1:])
        codes = [columns[k].astype(np.uint64) + np.uint64(1) for k in range(5)]
        return cls(numbers, codes, columns[5], columns[6], sentence)

    def around(self, start: Numbers, end: Numbers, place: int) -> tuple[Numbers, Any]:
        """Where the tokens at a place relative to spans are, and which are of their sentence."""
        at = start + place if place < 0 else end - 1 + place
        return at, self.sentence[at] == self.sentence[start]

    def features(self, start: Numbers, end: Numbers) -> Hashes:  # (m, slots)
        """The features of spans, ``end`` exclusive, one row each."""
        found = np.empty((len(start), len(VALUES)), dtype=np.uint64)
        filled: dict[Part, Hashes] = {}
        for place in AROUND:
            at, inside = self.around(start, end, place)
            for kind in (W, F, C, A, B) if abs(place) <= 3 else (W,):
                filled[kind, place] = np.where(inside, self.codes[kind][at], np.uint64(0))
        for slot, parts in enumerate(SLOTS):
            found[:, slot] = mixed(slot, [filled[part] for part in parts])
        for column, place in enumerate(AROUND):
            found[:, BAG + column] = mixed(BAG, [filled[W, place]])
        return found

    def fit_to_judge(self, start: Numbers, end: Numbers) -> Any:
        """Which spans stand in prose: no hole nearby, no name, no heading."""
        hole = np.uint64(zlib.crc32(HOLE.encode()) + 1)
        kept = self._long(start)
        for place in range(-NEAR, NEAR + 1):
            if place:
                at, inside = self.around(start, end, place)
                kept &= ~(inside & (self.codes[W][at] == hole))
        first = self.sentence[start - 1] != self.sentence[start]
        return kept & ((self.case[start] == 0) | first)

    def habitual(self, start: int, end: int) -> bool:
        """Whether a text says this again and again: the same words beside a telling neighbour."""
        words = self.numbers
        return any(
            words[at] not in self.commonest
            and self._runs(min(at, start), max(at + 1, end)) >= HABIT
            for at in (start - 1, end)
        )

    def _runs(self, first: int, last: int) -> int:
        """How often the words of a span follow one another in the text."""
        found = np.flatnonzero(
            self.numbers[: len(self.numbers) - (last - first) + 1] == self.numbers[first]
        )
        for step in range(1, last - first):
            found = found[self.numbers[found + step] == self.numbers[first + step]]
        return len(found)

    @cached_property
    def commonest(self) -> frozenset[int]:
        """The tokens that say nothing of what stands beside them, for they are everywhere."""
        counts = np.bincount(self.numbers)
        return frozenset(np.argsort(-counts, kind="stable")[:COMMON].tolist())

    def _long(self, start: Numbers) -> Any:
        sizes = np.bincount(self.sentence)
        return sizes[self.sentence[start]] >= SHORT


def mixed(slot: int, parts: Sequence[Hashes]) -> Hashes:
    """One number of a slot and what fills it."""
    found = np.full(len(parts[0]), (slot + 1) * 0x9E3779B97F4A7C15 & (1 << 64) - 1, dtype=np.uint64)
    for part in parts:
        found = (found ^ part) * np.uint64(0xBF58476D1CE4E5B9)
        found ^= found >> np.uint64(29)
    return found
