"""Real-word spelling without spaCy: pairs of words, and which of them a context wants."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from textrank.io import (
    atomic_model_folder,
    read_arrays,
    verify_manifest,
    write_arrays,
    write_manifest,
)

__all__ = ["HOLE", "PRECISION", "Confusions", "Flag", "Pair", "shipped"]


def shipped(name: str) -> Path | None:
    """The folder of a model that ships with textrank; None where there is none of that name."""
    folder = Path(str(files("textrank.models"))) / name
    return folder if name.isidentifier() and (folder / "pairs.json").is_file() else None


_MIX = np.uint64(0xD6E8FEB86659FD93)


def question_hash(title: str) -> int:
    """What stands for a pair in the table."""
    return zlib.crc32(title.encode()) * 0x94D049BB133111EB & (1 << 64) - 1


def table_keys(features: Hashes, own: Hashes) -> npt.NDArray[np.uint32]:
    """The keys of features of pairs in the common table: 24 bits of place, 8 that tell apart."""
    found = (features ^ own) * _MIX
    found ^= found >> np.uint64(32)
    return (found * _MIX >> np.uint64(32)).astype(np.uint32)


def spread_table(
    keys: npt.NDArray[np.uint32], weights: npt.NDArray[np.int8]
) -> npt.NDArray[np.uint16]:
    """The table spread out: at the first 24 bits of a key its last eight and its weight."""
    cells = np.zeros(1 << 24, dtype=np.uint16)
    low = (keys & np.uint32(0xFF)).astype(np.uint16) << np.uint16(8)
    cells[keys >> np.uint32(8)] = low | weights.view(np.uint8)
    return cells


def found_weights(
    cells: npt.NDArray[np.uint16], keys: npt.NDArray[np.uint32]
) -> npt.NDArray[np.float32]:
    """The weights of keys, none where the table has another one in its place."""
    cells = cells[keys >> np.uint32(8)]
    same = (cells >> np.uint16(8)) == (keys & np.uint32(0xFF))
    return (cells.astype(np.uint8).view(np.int8) * same).astype(np.float32)


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


FORMAT = 2
ERRORS = 0.01  # share of wrong words that the levels assume
PRECISIONS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.997, 0.999)  # that levels are known for
PRECISION = 0.995
MEASURED = 0.997  # that the figures of the pairs are of
NEVER = 1e4  # log-odds that nothing reaches
CLEAR = 4.0  # log-odds that a proposal is ahead of all others for its place
AT_ONCE = 2048  # occurrences whose features are held at a time
REASONS = 2  # contexts shown with a proposal
_VALUES = VALUES.astype(np.float32)


@dataclass(frozen=True)
class Pair:
    """Two words, how scores become log-odds of the second, and from where they are believed.

    ``levels`` has a row for each printed word: the log-odds of the other one that give the
    ``PRECISIONS``. Counts are of training, ``precision`` and ``recall`` of genres left out, with
    ``ERRORS`` of the words wrong, where ``MEASURED`` is asked for.
    """

    words: tuple[str, str]
    counts: tuple[int, int]
    bias: float
    scale: float  # of its weights in the table
    slope: float
    shift: float
    levels: tuple[tuple[float, ...], tuple[float, ...]]
    precision: float
    recall: float

    @property
    def title(self) -> str:
        """Both words, as the table of weights knows them."""
        return "/".join(self.words)

    @classmethod
    def of(cls, row: dict[str, Any]) -> Pair:
        """From plain values."""
        first, second = row["levels"]
        fixed: dict[str, Any] = {
            "words": tuple(row["words"]),
            "counts": tuple(row["counts"]),
            "levels": (tuple(first), tuple(second)),
        }
        return cls(**{**row, **fixed})


@dataclass(frozen=True)
class Flag:
    """A word that is probably the other one of its pair."""

    start: int
    end: int
    printed: str
    proposal: str
    pair: str
    score: float  # log-odds of the proposal by its context alone
    probability: float
    because: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Confusions:
    """Pairs with the common table of their weights."""

    pairs: tuple[Pair, ...]
    keys: npt.NDArray[np.uint32]  # of the features, rising
    weights: npt.NDArray[np.int8]
    classes: npt.NDArray[np.int64]  # hash, fine and coarse class of each frequent word
    meta: dict[str, Any]

    def flags(self, text: str, precision: float = PRECISION) -> list[Flag]:
        """The words of a text that are probably wrong, in its order."""
        tokens, start, end, member = self.places(text)
        found: list[Flag] = []
        spans: list[tuple[int, int]] = []
        for first in range(0, len(start), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            for row in self._above_level(tokens, start[some], end[some], member[some], precision):
                if tokens.habitual(*row[:2]):
                    continue
                spans = spans or [one.span() for one in TOKEN.finditer(text)]
                found.append(self._flag(text, spans, tokens, *row))
        return _best(found)

    def places(self, text: str) -> tuple[Tokens, Numbers, Numbers, Numbers]:
        """The tokens of a text; starts, ends and numbers of the words that are judged."""
        tokens = self._lexicon.read(text)
        start, end, member = self._occurrences(tokens)
        kept = tokens.fit_to_judge(start, end)
        return tokens, start[kept], end[kept], member[kept]

    def log_odds(
        self, tokens: Tokens, start: Numbers, end: Numbers, pair: Numbers
    ) -> npt.NDArray[np.float64]:
        """How much the context of each span is for the second word of its pair."""
        return self.of_features(tokens.features(start, end), pair)

    def of_features(self, features: Hashes, pair: Numbers) -> npt.NDArray[np.float64]:
        """The same from the features of the spans."""
        added = self._weights(features, pair) @ _VALUES
        return (
            self._slope[pair] * (self._scale[pair] * added + self._bias[pair]) + self._shift[pair]
        )

    def _above_level(
        self, tokens: Tokens, start: Numbers, end: Numbers, member: Numbers, precision: float
    ) -> Iterator[tuple[int, int, int, int, float]]:
        """Span, pair, printed side and log-odds of what is above its level."""
        count = self._first[member + 1] - self._first[member]
        row = np.repeat(np.arange(len(start)), count)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        asked = self._asked[np.repeat(self._first[member], count) + offset]
        pair, side = asked[:, 0], asked[:, 1]
        odds = self.of_features(tokens.features(start, end)[row], pair) * (1 - 2 * side)
        above = (odds >= self.levels(precision)[pair, side]) & _clear(row, odds, len(start))
        for one in np.flatnonzero(above):
            at = row[one]
            yield int(start[at]), int(end[at]), int(pair[one]), int(side[one]), float(odds[one])

    def _parts(self, features: Hashes, pair: Numbers) -> npt.NDArray[np.float64]:
        """What each feature adds to the score of its pair."""
        return np.asarray(self._weights(features, pair) * VALUES * self._scale[pair][:, None])

    def _weights(self, features: Hashes, pair: Numbers) -> npt.NDArray[np.float32]:
        """The weights of features, none where the table has another one in its place."""
        keys = table_keys(features, self._own[pair][:, None])
        return found_weights(self._cells, keys)

    @cached_property
    def _cells(self) -> npt.NDArray[np.uint16]:
        return spread_table(self.keys, self.weights)

    def levels(self, precision: float) -> npt.NDArray[np.float64]:  # (pairs, sides)
        """The log-odds of the other word from which a printed one is flagged."""
        column = next((k for k, p in enumerate(PRECISIONS) if p >= precision - 1e-9), -1)
        if column < 0:  # beyond what was measured: as much higher as the odds are
            more = math.log(max((1 - PRECISIONS[-1]) / max(1 - precision, 1e-12), 1.0))
            return np.asarray(self._level[:, :, -1] + more)
        return np.asarray(self._level[:, :, column])

    def _flag(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        tokens: Tokens,
        start: int,
        end: int,
        pair: int,
        side: int,
        odds: float,
    ) -> Flag:
        places = [spans[k - len(AROUND) // 2] for k in (start, end - 1)]
        printed = text[places[0][0] : places[1][1]]
        other = self.pairs[pair].words[1 - side]
        own = odds + math.log(ERRORS / (1 - ERRORS))
        return Flag(
            start=places[0][0],
            end=places[1][1],
            printed=printed,
            proposal=_as_printed(other, printed),
            pair=self.pairs[pair].title,
            score=odds,
            probability=1 / (1 + math.exp(-max(min(own, 50.0), -50.0))),
            because=self._reasons(text, spans, tokens, start, end, pair, side),
        )

    def _reasons(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        tokens: Tokens,
        start: int,
        end: int,
        pair: int,
        side: int,
    ) -> tuple[str, ...]:
        """The contexts that speak most for the proposal, as words around a gap."""
        one, last, which = (np.array([k]) for k in (start, end, pair))
        added = self._parts(tokens.features(one, last), which)[0] * (1 - 2 * side)
        added *= np.sign(self._slope[pair])
        contexts: list[str] = []
        for slot in np.argsort(-added, kind="stable"):
            if added[slot] <= 0 or len(contexts) == REASONS:
                break
            places = [o for _, o in SLOTS[slot]] if slot < BAG else [AROUND[slot - BAG]]
            shown = self._shown(text, spans, tokens, start, end, places)
            if not any(shown in other or other in shown for other in contexts):
                contexts.append(shown)
        return tuple(contexts)

    def _shown(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        tokens: Tokens,
        start: int,
        end: int,
        places: Sequence[int],
    ) -> str:
        words = ["…"]
        for place in sorted(places, key=abs):
            at = start + place if place < 0 else end - 1 + place
            own = at - len(AROUND) // 2
            inside = own < len(spans) and tokens.sentence[at] == tokens.sentence[start]
            span = spans[own] if inside else (0, 0)
            word = " ".join(text[span[0] : span[1]].split())
            words = [word, *words] if place < 0 else [*words, word]
        return " ".join(filter(None, words))

    def _occurrences(self, tokens: Tokens) -> tuple[Numbers, Numbers, Numbers]:
        """Starts, ends and members of the words in question, two-word ones included."""
        start = np.flatnonzero(tokens.member >= 0)
        member = tokens.member[start]
        end = start + 1
        opening = np.flatnonzero(np.isin(member, self._opening))
        more = [
            (start[k], whole)
            for k in opening
            if (whole := self._phrases.get((member[k], int(tokens.codes[W][start[k] + 1]))))
            is not None
        ]
        alone = self._first[member + 1] > self._first[member]  # some only open two-word ones
        start, end, member = start[alone], end[alone], member[alone]
        if more:
            two = np.array(more, dtype=np.int64)
            start = np.r_[start, two[:, 0]]
            end, member = np.r_[end, two[:, 0] + 2], np.r_[member, two[:, 1]]
        return start, end, member

    @cached_property
    def words(self) -> dict[str, int]:
        """The numbers of the words that are asked about, and of those that open two words."""
        asked = {word for pair in self.pairs for word in pair.words}
        return {word: k for k, word in enumerate(sorted(asked | {w.split()[0] for w in asked}))}

    @cached_property
    def _lexicon(self) -> Lexicon:
        classes = {h: (fine, coarse) for h, fine, coarse in self.classes.tolist()}
        return Lexicon(classes, self.words)

    @cached_property
    def _phrases(self) -> dict[tuple[int, int], int]:
        two = [word for word in self.words if " " in word]
        return {
            (self.words[w.split()[0]], zlib.crc32(w.split()[1].encode()) + 1): self.words[w]
            for w in two
        }

    @cached_property
    def _opening(self) -> list[int]:
        return sorted({first for first, _ in self._phrases})

    @cached_property
    def _questions(self) -> tuple[Numbers, Numbers]:
        """Pair and side of every word, those of one word together, and where each begins."""
        rows = sorted(
            (self.words[word], k, side)
            for k, pair in enumerate(self.pairs)
            for side, word in enumerate(pair.words)
        )
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        first = np.searchsorted(table[:, 0], np.arange(len(self.words) + 1))
        return table[:, 1:], first.astype(np.int64)

    @cached_property
    def _asked(self) -> Numbers:
        return self._questions[0]

    @cached_property
    def _first(self) -> Numbers:
        return self._questions[1]

    @cached_property
    def _own(self) -> Hashes:
        return np.array([question_hash(pair.title) for pair in self.pairs], dtype=np.uint64)

    @cached_property
    def _slope(self) -> npt.NDArray[np.float64]:
        return np.array([pair.slope for pair in self.pairs])

    @cached_property
    def _shift(self) -> npt.NDArray[np.float64]:
        return np.array([pair.shift for pair in self.pairs])

    @cached_property
    def _bias(self) -> npt.NDArray[np.float64]:
        return np.array([pair.bias for pair in self.pairs])

    @cached_property
    def _scale(self) -> npt.NDArray[np.float64]:
        return np.array([pair.scale for pair in self.pairs])

    @cached_property
    def _level(self) -> npt.NDArray[np.float64]:  # (pairs, sides, precisions)
        return np.array([pair.levels for pair in self.pairs], dtype=np.float64)

    def to_disk(self, path: str | Path) -> None:
        """Writes the model as a folder of JSON and arrays; whole or not at all."""
        with atomic_model_folder(path) as folder:
            rows = [asdict(pair) for pair in self.pairs]
            lines = ",\n".join(json.dumps(row) for row in rows)
            (folder / "pairs.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
            steps = np.diff(self.keys, prepend=np.uint32(0)).astype(np.uint32)
            arrays = {
                "steps/low": (steps & 0xFF).astype(np.uint8),
                "steps/high": (steps >> 8).astype(np.uint16),
                "weights": self.weights,
                "classes": self.classes.astype(np.uint32),
            }
            write_arrays(folder / "table.npz", arrays)
            write_manifest(folder, {**self.meta, "format": FORMAT, "task": "spelling"})

    @classmethod
    def from_disk(cls, path: str | Path) -> Confusions:
        """What ``to_disk`` wrote; a missing or damaged file is named."""
        folder = Path(path)
        meta = verify_manifest(folder, needed=("pairs.json", "table.npz"))
        try:
            rows = json.loads((folder / "pairs.json").read_text(encoding="utf-8"))
            arrays = read_arrays(folder / "table.npz")
            steps = arrays["steps/low"].astype(np.uint32) + (
                arrays["steps/high"].astype(np.uint32) << np.uint32(8)
            )
            keys = np.cumsum(steps, dtype=np.uint32)
            pairs = tuple(Pair.of(row) for row in rows)
            classes = arrays["classes"].astype(np.int64)
            return cls(pairs, keys, arrays["weights"].astype(np.int8), classes, dict(meta))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = f"{error!r:.200}"
            raise ValueError(f"{folder}: not a whole model ({reason}). Restore it.") from error


def _clear(row: Numbers, odds: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.bool_]:
    """Which proposals are well ahead of all others for their place."""
    best = np.full(count, -np.inf)
    np.maximum.at(best, row, odds)
    first = odds >= best[row]
    second = np.full(count, -np.inf)
    np.maximum.at(second, row[~first], odds[~first])
    return np.asarray(first & (odds >= second[row] + CLEAR))


def _as_printed(word: str, printed: str) -> str:
    """A word with the capital and the apostrophe of the printed one.

    >>> _as_printed("it's", "Its"), _as_printed("their", "they’re")
    ("It's", 'their')
    """
    if word == "i" or word.startswith("i'"):
        word = word.capitalize()
    elif printed[:1].isupper() and plain_form(printed) != "i":
        word = word[:1].upper() + word[1:]
    return word.replace("'", "’") if "’" in printed else word


def _best(found: Sequence[Flag]) -> list[Flag]:
    """In order of the text; of several proposals for a place the likeliest."""
    kept: list[Flag] = []
    for flag in sorted(found, key=lambda flag: (flag.start, -flag.score)):
        if not kept or flag.start >= kept[-1].end:
            kept.append(flag)
    return kept
