"""Evaluate the confusion pairs of the linter on texts with inserted errors.

``python docs/experiments/spelling.py planted TEXT…`` prints precision and recall with 1 % and 5 %
of the words wrong, and a table of the pairs. ``… flags TEXT…`` prints every flag with its context.
Each occurrence of a word of a pair is used once as printed, where any proposal is a false alarm,
and once with each other word of its pairs, where only the printed word is a correct proposal.
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

from textrank.lint import blank_non_prose, file_kind
from textrank.lint.model import (
    DEFAULT_PRECISION,
    MIN_LOG_ODDS_MARGIN,
    ConfusionModel,
    shipped_model_path,
)

MAX_INSERTIONS = 1500  # sampled occurrences of a word, weighted to represent all
SEED = 1


@dataclass(frozen=True)
class Trials:
    """Counts per pair: false alarms, correct proposals, wrong proposals and inserted errors.

    Counts are weighted so that each printed word counts once.
    """

    pairs: Any  # (pairs, 4)
    words: int

    def measures(self, rate: float, rows: Any = slice(None)) -> tuple[float, float]:
        """Return precision and recall if a fraction ``rate`` of the words is wrong."""
        alarms, correct, wrong, inserted = self.pairs[rows].sum(axis=0)
        proposals = (1 - rate) * alarms + rate * (correct + wrong)
        precision = float(rate * correct / proposals) if proposals else 0.0
        return precision, float(correct / max(inserted, 1e-9))


@dataclass(frozen=True, eq=False)
class ErrorInsertion:
    """Replace every word of a pair by the other words of its pairs, and count proposals."""

    confusions: ConfusionModel
    precision: float

    @cached_property
    def questions(self) -> dict[int, list[tuple[int, int]]]:
        """Map the id of each word to its pairs and its position (0 or 1) in them."""
        questions: dict[int, list[tuple[int, int]]] = {}
        for number, pair in enumerate(self.confusions.pairs):
            for side, word in enumerate(pair.words):
                questions.setdefault(self.confusions.word_ids[word], []).append((number, side))
        return questions

    def partner(self, pair: int, side: int) -> int:
        """Return the id of the other word of a pair."""
        return self.confusions.word_ids[self.confusions.pairs[pair].words[1 - side]]

    @cached_property
    def levels(self) -> Any:
        """Thresholds of all pairs at the required precision."""
        return self.confusions.thresholds(self.precision)

    def proposals(self, word: int, odds: Any) -> tuple[Any, Any]:
        """Return, per row of log-odds, the best question and whether it proposes another word."""
        questions = self.questions[word]
        values = np.stack([odds[pair] * (1 - 2 * side) for pair, side in questions], axis=1)
        best = values.argmax(axis=1)
        rows = np.arange(len(values))
        ranked = np.sort(values, axis=1)
        clear = values.shape[1] == 1 or ranked[:, -1] >= ranked[:, -2] + MIN_LOG_ODDS_MARGIN
        level = np.array([self.levels[pair, side] for pair, side in questions])[best]
        return best, (values[rows, best] >= level) & clear

    def trials(self, text: str) -> Trials:
        """Count proposals for all words of a text, as printed and with inserted errors."""
        counts = np.zeros((len(self.confusions.pairs), 4))
        tokens, start, end, member = self.confusions.find_words(text)
        rng = np.random.default_rng(SEED)
        for word in np.unique(member).tolist():
            rows = np.flatnonzero(member == word)
            self._count_alarms(counts, word, self._odds(tokens, start[rows], end[rows], [word]))
            sample = (
                rows
                if len(rows) <= MAX_INSERTIONS
                else rng.choice(rows, MAX_INSERTIONS, replace=False)
            )
            questions = self.questions[word]
            partners = [self.partner(*question) for question in questions]
            odds = self._odds(tokens, start[sample], end[sample], partners)
            for (pair, _), other in zip(questions, partners, strict=True):
                weight = len(rows) / len(sample) / len(questions)
                best, is_proposed = self.proposals(other, odds)
                is_correct = np.array([self.partner(*q) == word for q in self.questions[other]])[
                    best
                ]
                counts[pair, 1] += weight * (is_proposed & is_correct).sum()
                counts[pair, 2] += weight * (is_proposed & ~is_correct).sum()
                counts[pair, 3] += weight * len(sample)
        return Trials(counts, len(text.split()))

    def _count_alarms(self, counts: Any, word: int, odds: Any) -> None:
        """Add the false alarms of a word as printed to ``counts``."""
        best, is_proposed = self.proposals(word, odds)
        for number, (pair, _) in enumerate(self.questions[word]):
            counts[pair, 0] += (is_proposed & (best == number)).sum()

    def _odds(self, tokens: Any, start: Any, end: Any, words: Sequence[int]) -> dict[int, Any]:
        """Return the log-odds of all pairs of the given words at each position."""
        pairs = sorted({pair for word in words for pair, _ in self.questions[word]})
        features = tokens.features(start, end)
        return {
            pair: self.confusions.log_odds_of_features(features, np.full(len(start), pair))
            for pair in pairs
        }


def read(path: Path) -> str:
    """Return the prose of a file."""
    return blank_non_prose(path.read_text(encoding="utf-8", errors="replace"), file_kind(path))


def planted(confusions: ConfusionModel, paths: Sequence[Path], precision: float) -> None:
    """Print one line per text and one per pair."""
    runs = [ErrorInsertion(confusions, precision).trials(read(path)) for path in paths]
    for path, run in zip(paths, runs, strict=True):
        _print_summary(path.name, run)
    total = Trials(sum(run.pairs for run in runs), sum(run.words for run in runs))
    _print_summary("together", total)
    for number, pair in enumerate(confusions.pairs):
        if total.pairs[number, 3] >= 1:
            one, five = (total.measures(rate, [number]) for rate in (0.01, 0.05))
            show(f"| {pair.title} | {one[0]:.3f} | {five[0]:.3f} | {one[1]:.2f} |")


def _print_summary(name: str, run: Trials) -> None:
    """Print precision, recall and alarms of a text."""
    occurring = run.pairs[:, 3] >= 1
    recall = run.pairs[occurring, 1] / run.pairs[occurring, 3]
    one, five = run.measures(0.01), run.measures(0.05)
    alarms = 1e4 * run.pairs[:, 0].sum() / max(run.words, 1)
    show(
        f"{name}: {occurring.sum()} pairs, "
        f"1 %: P {one[0]:.3f} R {one[1]:.3f}; 5 %: P {five[0]:.3f}; "
        f"median recall of pairs {np.median(recall) if occurring.any() else 0:.2f}; "
        f"{alarms:.2f} alarms per 10 000 words"
    )


def flags(confusions: ConfusionModel, paths: Sequence[Path], precision: float) -> None:
    """Print every flag with a few words of context."""
    words = 0
    for path in paths:
        text = read(path)
        words += len(text.split())
        for flag in confusions.find_errors(text, precision):
            before = " ".join(text[max(0, flag.start - 60) : flag.start].split()[-7:])
            after = " ".join(text[flag.end : flag.end + 60].split()[:7])
            shown = f"{before} [{flag.printed} → {flag.proposal}] {after}"
            show(f"{path.stem}: {shown} ({flag.score:.1f})".replace("\x00", "▯"))
    show(f"{words} words")


def show(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("planted", "flags"))
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--precision", type=float, default=DEFAULT_PRECISION)
    parser.add_argument("--model", default="confusions")
    arguments = parser.parse_args()
    model = ConfusionModel.from_disk(shipped_model_path(arguments.model) or arguments.model)
    {"planted": planted, "flags": flags}[arguments.command](
        model, arguments.texts, arguments.precision
    )
