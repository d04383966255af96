"""Confusions: pairs of words that are taken for one another, and which of them a context wants.

Every pair is one least-squares question; the weights of all lie in one table of hashed features,
so that the words of a text are judged together, whatever the pairs they belong to.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from textrank.io import new_folder, read_arrays, seal, unseal, write_arrays
from textrank.spelling.contexts import (
    AROUND,
    BAG,
    SLOTS,
    TOKEN,
    VALUES,
    Hashes,
    Lexicon,
    Numbers,
    Tokens,
    W,
    plain_form,
)
from textrank.spelling.table import found_weights, question_hash, spread_table, table_keys

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
        with new_folder(path) as folder:
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
            seal(folder, {**self.meta, "format": FORMAT, "task": "spelling"})

    @classmethod
    def from_disk(cls, path: str | Path) -> Confusions:
        """What ``to_disk`` wrote; a missing or damaged file is named."""
        folder = Path(path)
        meta = unseal(folder, needed=("pairs.json", "table.npz"))
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
