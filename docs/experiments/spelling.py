"""Planted errors and flags of the shipped confusion pairs on texts of your own.

``python docs/experiments/spelling.py planted TEXT…`` prints precision and recall with 1 % and 5 %
of the words wrong, and a table of the pairs; ``… flags TEXT…`` prints every flag with its context.
Each occurrence of a word of a pair counts once as printed, where any proposal is a false alarm,
and once with each partner in its place, where only the printed word is a find.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from textrank.lint import kind_of, prose
from textrank.lint.model import CLEAR, PRECISION, Confusions, shipped

MOST = 1500  # places of a word that errors are planted at; they stand for all
SEED = 1


@dataclass(frozen=True)
class Trials:
    """What is counted for each pair: alarms, finds, wrong finds, trials; each printed word once."""

    pairs: Any  # (pairs, 4)
    words: int

    def measures(self, rate: float, rows: Any = slice(None)) -> tuple[float, float]:
        """Precision and recall where a share of the words is wrong."""
        alarms, finds, wrong, tried = self.pairs[rows].sum(axis=0)
        shown = (1 - rate) * alarms + rate * (finds + wrong)
        return float(rate * finds / shown) if shown else 0.0, float(finds / max(tried, 1e-9))


@dataclass(frozen=True, eq=False)
class Planting:
    """Puts every partner of every word into its place."""

    confusions: Confusions
    precision: float

    @cached_property
    def questions(self) -> dict[int, list[tuple[int, int]]]:
        """Pairs and sides of each word."""
        found: dict[int, list[tuple[int, int]]] = {}
        for number, pair in enumerate(self.confusions.pairs):
            for side, word in enumerate(pair.words):
                found.setdefault(self.confusions.words[word], []).append((number, side))
        return found

    def partner(self, pair: int, side: int) -> int:
        """The other word of a pair."""
        return self.confusions.words[self.confusions.pairs[pair].words[1 - side]]

    @cached_property
    def levels(self) -> Any:
        """Of the precision asked for."""
        return self.confusions.levels(self.precision)

    def proposals(self, word: int, odds: Any) -> tuple[Any, Any]:
        """For each row of log-odds the question that proposes another word, and whether it does."""
        asked = self.questions[word]
        values = np.stack([odds[pair] * (1 - 2 * side) for pair, side in asked], axis=1)
        best = values.argmax(axis=1)
        rows = np.arange(len(values))
        ahead = np.sort(values, axis=1)
        clear = values.shape[1] == 1 or ahead[:, -1] >= ahead[:, -2] + CLEAR
        level = np.array([self.levels[pair, side] for pair, side in asked])[best]
        return best, (values[rows, best] >= level) & clear

    def trials(self, text: str) -> Trials:
        """All words of a text as printed, and with their partners."""
        counts = np.zeros((len(self.confusions.pairs), 4))
        tokens, start, end, member = self.confusions.places(text)
        rng = np.random.default_rng(SEED)
        for word in np.unique(member).tolist():
            rows = np.flatnonzero(member == word)
            self._alarms(counts, word, self._odds(tokens, start[rows], end[rows], [word]))
            some = rows if len(rows) <= MOST else rng.choice(rows, MOST, replace=False)
            own = self.questions[word]
            partners = [self.partner(*one) for one in own]
            odds = self._odds(tokens, start[some], end[some], partners)
            for (pair, _), other in zip(own, partners, strict=True):
                share = len(rows) / len(some) / len(own)
                best, shown = self.proposals(other, odds)
                meant = np.array([self.partner(*q) == word for q in self.questions[other]])[best]
                counts[pair, 1] += share * (shown & meant).sum()
                counts[pair, 2] += share * (shown & ~meant).sum()
                counts[pair, 3] += share * len(some)
        return Trials(counts, len(text.split()))

    def _alarms(self, counts: Any, word: int, odds: Any) -> None:
        best, shown = self.proposals(word, odds)
        for number, (pair, _) in enumerate(self.questions[word]):
            counts[pair, 0] += (shown & (best == number)).sum()

    def _odds(self, tokens: Any, start: Any, end: Any, words: Sequence[int]) -> dict[int, Any]:
        """The log-odds of all pairs of some words, at each place."""
        asked = sorted({pair for word in words for pair, _ in self.questions[word]})
        features = tokens.features(start, end)
        return {
            pair: self.confusions.of_features(features, np.full(len(start), pair)) for pair in asked
        }


def read(path: Path) -> str:
    """The prose of a file."""
    return prose(path.read_text(encoding="utf-8", errors="replace"), kind_of(path))


def planted(confusions: Confusions, paths: Sequence[Path], precision: float) -> None:
    """A line for each text and one for each pair."""
    runs = [Planting(confusions, precision).trials(read(path)) for path in paths]
    for path, run in zip(paths, runs, strict=True):
        _line(path.name, run)
    whole = Trials(sum(run.pairs for run in runs), sum(run.words for run in runs))
    _line("together", whole)
    for number, pair in enumerate(confusions.pairs):
        if whole.pairs[number, 3] >= 1:
            one, five = (whole.measures(rate, [number]) for rate in (0.01, 0.05))
            show(f"| {pair.title} | {one[0]:.3f} | {five[0]:.3f} | {one[1]:.2f} |")


def _line(name: str, run: Trials) -> None:
    met = run.pairs[:, 3] >= 1
    recall = run.pairs[met, 1] / run.pairs[met, 3]
    one, five = run.measures(0.01), run.measures(0.05)
    alarms = 1e4 * run.pairs[:, 0].sum() / max(run.words, 1)
    show(
        f"{name}: {met.sum()} pairs, 1 %: P {one[0]:.3f} R {one[1]:.3f}; 5 %: P {five[0]:.3f}; "
        f"median recall of pairs {np.median(recall) if met.any() else 0:.2f}; "
        f"{alarms:.2f} alarms in 10 000 words"
    )


def flags(confusions: Confusions, paths: Sequence[Path], precision: float) -> None:
    """Every flag with a few words around it."""
    words = 0
    for path in paths:
        text = read(path)
        words += len(text.split())
        for one in confusions.flags(text, precision):
            before = " ".join(text[max(0, one.start - 60) : one.start].split()[-7:])
            after = " ".join(text[one.end : one.end + 60].split()[:7])
            shown = f"{before} [{one.printed} → {one.proposal}] {after}"
            show(f"{path.stem}: {shown} ({one.score:.1f})".replace("\x00", "▯"))
    show(f"{words} words")


def show(line: str) -> None:
    """Prints a line."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("planted", "flags"))
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--precision", type=float, default=PRECISION)
    parser.add_argument("--model", default="confusions")
    chosen = parser.parse_args()
    model = Confusions.from_disk(shipped(chosen.model) or chosen.model)
    {"planted": planted, "flags": flags}[chosen.what](model, chosen.texts, chosen.precision)
