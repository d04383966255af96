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
from textrank.spelling import PRECISION, Confusions, shipped
from textrank.spelling.confusions import CLEAR

AT_ONCE = 3000  # occurrences


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

    def asked(self, word: int) -> list[int]:
        """The pairs that matter where a word stands: its own, and those of its partners."""
        own = self.questions[word]
        more = [q for one in own for q, _ in self.questions[self.partner(*one)]]
        return sorted({*(pair for pair, _ in own), *more})

    def proposal(self, word: int, odds: dict[int, float]) -> tuple[int, int] | None:
        """What would be proposed for a word: the pair, and the other word."""
        asked = [(odds[pair] * (1 - 2 * side), pair, side) for pair, side in self.questions[word]]
        (value, pair, side), *others = sorted(asked, reverse=True)
        ahead = not others or value >= others[0][0] + CLEAR
        above = value >= self.levels[pair, side]
        return (pair, self.partner(pair, side)) if ahead and above else None

    @cached_property
    def levels(self) -> Any:
        """Of the precision asked for."""
        return self.confusions.levels(self.precision)

    def trials(self, text: str) -> Trials:
        """All words of a text as printed and with their partners."""
        counts = np.zeros((len(self.confusions.pairs), 4))
        for word, odds in self.contexts(text):
            alarm = self.proposal(word, odds)
            if alarm:
                counts[alarm[0], 0] += 1
            own = self.questions[word]
            for pair, side in own:
                found = self.proposal(self.partner(pair, side), odds)
                counts[pair, 3] += 1 / len(own)
                if found:
                    counts[pair, 1 if found[1] == word else 2] += 1 / len(own)
        return Trials(counts, len(text.split()))

    def contexts(self, text: str) -> Any:
        """Each word that is judged, with the log-odds of all pairs that matter there."""
        tokens, start, end, member = self.confusions.places(text)
        for first in range(0, len(start), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            rows = [(k, q) for k, word in enumerate(member[some]) for q in self.asked(word)]
            table = np.array(rows, dtype=np.int64).reshape(-1, 2)
            odds = self.confusions.log_odds(
                tokens, start[some][table[:, 0]], end[some][table[:, 0]], table[:, 1]
            )
            own: list[dict[int, float]] = [{} for _ in member[some]]
            for (k, q), value in zip(rows, odds.tolist(), strict=True):
                own[k][q] = value
            yield from zip(member[some].tolist(), own, strict=True)


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
