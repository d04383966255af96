"""Scores of all places of the texts, each by the fit that left its genres out: the false alarms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from learn import Fit, features
from samples import Text, Vocabulary, around, ends_of, near_hole, places

from textrank.lint.model import FEATURE_VALUES, feature_keys, pair_hash, text_hash

AT_ONCE = 1_000_000  # tokens
MARGIN = 50
MOST = 120_000  # places of a word that are looked at; of more frequent words a share
SEED = 1


def cells(fits: Sequence[Fit]) -> Any:
    """Return the weights of all pairs in one table, laid out like the shipped one."""
    keys = np.concatenate([fit.keys for fit in fits])
    weights = np.concatenate([fit.weights for fit in fits])
    order = np.argsort(np.abs(weights.astype(np.int16)), kind="stable")  # the strongest stay
    keys, weights = keys[order], weights[order]
    found = np.zeros(1 << 24, dtype=np.uint16)
    low = (keys & np.uint32(0xFF)).astype(np.uint16) << np.uint16(8)
    found[keys >> np.uint32(8)] = low | weights.view(np.uint8)
    return found


@dataclass(frozen=True, eq=False)
class Pass:
    """A walk over a text with the fits of all pairs, and from which scores places are noted."""

    pairs: Sequence[tuple[str, str]]
    fits: Sequence[Fit]
    least: Any  # (pairs, 2)
    vocabulary: Vocabulary
    counts: Any
    table: Any

    def places(self, text: Text) -> Any:
        """Pair, printed side, score, place and how many places it stands for."""
        spread = cells(self.fits)
        own = [np.uint64(pair_hash("/".join(pair))) for pair in self.pairs]
        values = FEATURE_VALUES.astype(np.float32)
        found = []
        for word, at, rows, weight in self._contexts(text):
            filled = features(rows, self.table)
            for pair, side in self._asked(word):
                keys = feature_keys(filled, own[pair])
                cell = spread[keys >> np.uint32(8)]
                same = (cell >> np.uint16(8)) == (keys & np.uint32(0xFF))
                added = (cell.astype(np.uint8).view(np.int8) * same).astype(np.float32) @ values
                score = (added * self.fits[pair].scale + self.fits[pair].bias) * (1 - 2 * side)
                noted = np.flatnonzero(score > self.least[pair, side])
                found += [(pair, side, score[k], at[k], weight) for k in noted]
        return np.array(found, dtype=np.float64).reshape(-1, 5)

    def _asked(self, word: str) -> list[tuple[int, int]]:
        return [(k, pair.index(word)) for k, pair in enumerate(self.pairs) if word in pair]

    def _contexts(self, text: Text) -> Iterator[tuple[str, Any, Any, float]]:
        """Each word with its places, contexts, and how many places one stands for."""
        ends, hole = ends_of(self.vocabulary), self.vocabulary.plain.get("\x00", -2)
        words = sorted({word for pair in self.pairs for word in pair})
        for start in range(0, len(text.words), AT_ONCE):
            low = max(0, start - MARGIN)
            high = min(len(text.words), start + AT_ONCE + MARGIN)
            part = Text(text.group, text.words[low:high], text.cases[low:high])
            sentence, fit = places(part, ends)
            fit[:MARGIN] = fit[-MARGIN:] = False
            for word in words:
                rng = np.random.default_rng([SEED, text_hash(word), start])
                at, length, share = self._of(word, part, fit, rng)
                rows = around(part, sentence, at, at + length)
                kept = ~near_hole(rows, hole)
                if kept.any():
                    yield word, at[kept] + low, rows[kept], 1 / share

    def _of(self, word: str, part: Text, fit: Any, rng: Any) -> tuple[Any, int, float]:
        numbers = [self.vocabulary.plain.get(one, -5) for one in word.split()]
        if len(numbers) == 2:
            here = (part.words[:-1] == numbers[0]) & (part.words[1:] == numbers[1]) & fit[:-1]
            return np.flatnonzero(here), 2, 1.0
        at = np.flatnonzero((part.words == numbers[0]) & fit)
        share = min(1.0, MOST / max(float(self.counts[numbers[0]]), 1.0))
        return at[rng.random(len(at)) < share], 1, share
