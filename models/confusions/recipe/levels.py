"""From which scores a printed word is flagged: finds against false alarms, over all pairs at once.

With 1 % of the words wrong, the share of right flags among all is what the levels are chosen for;
each direction of a pair spends alarms only where they buy the most finds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from textrank.lint.model import ERROR_RATE, REPORTED_PRECISION, UNREACHABLE_LOG_ODDS

ALARMS, FINDS = 0.997, 0.15  # quantiles from which places are noted at all
MISUSED = 0.98  # the first of these for words that texts often misuse
UNSEEN = 0.3  # alarms that are counted where none was seen
OWN = 0.9  # precision of each direction, with half an alarm more
LEAST = 0.03  # recall of a direction
SCALE = 2e6  # finds that weigh as much as the whole recall of a pair
KEPT = 0.38  # recall of a pair that stays
KNOWN = 0.1  # the same of pairs that everybody knows
LONGEST = 400  # alarms of a direction that are followed

Key = tuple[int, int]


def log_odds(scores: Any, y: Any) -> tuple[float, float]:
    """Slope and shift that make log-odds of held-out scores."""
    fit = LogisticRegression(C=1e3, class_weight="balanced").fit(scores[:, None], y > 0)
    return round(float(fit.coef_[0, 0]), 4), round(float(fit.intercept_[0]), 4)


@dataclass(eq=False)
class Curve:
    """One direction: scores of planted errors with their weights, and of false alarms."""

    finds: Any
    weights: Any
    least: float
    above: float  # how far levels stand above the best false alarm
    alarms: list[tuple[float, float]] = field(default_factory=list)

    @classmethod
    def of(
        cls, scores: Any, right: Any, fold: Any, total: Any, alarms: float, above: float
    ) -> Curve:
        """From held-out scores for the other word; ``right`` are the contexts that want it."""
        finds, own = scores[right], fold[right]
        weights = (total / np.maximum(np.bincount(own, minlength=len(total)), 1))[own]
        order = np.argsort(finds)
        least = max(np.quantile(scores[~right], alarms), np.quantile(finds, FINDS))
        return cls(finds[order], weights[order], float(least), above)

    def alarm(self, score: float, weight: float) -> None:
        """Notes a false alarm."""
        self.alarms.append((score, weight))

    @property
    def total(self) -> float:
        """Number of planted errors."""
        return float(self.weights.sum())

    @cached_property
    def steps(self) -> tuple[Any, Any, Any]:
        """Levels between the alarms, best first: alarms and finds above each."""
        seen = sorted(self.alarms, reverse=True)[:LONGEST]
        levels = [max(s + self.above, self.least) for s, _ in seen] + [self.least]
        alarms = np.r_[0.0, np.cumsum([w for _, w in seen])]
        above = np.r_[np.cumsum(self.weights[::-1])[::-1], 0.0]
        return np.array(levels), alarms, above[np.searchsorted(self.finds, levels)]


def choice(curves: Mapping[Key, Curve], price: float) -> dict[Key, int]:
    """The step of each direction that is worth most, where an alarm costs so much."""
    found = {}
    for (pair, side), curve in curves.items():
        _, alarms, finds = curve.steps
        share = curve.total / (curve.total + curves[pair, 1 - side].total)
        recall = finds / max(curve.total, 1.0)
        precision = ERROR_RATE * finds / (ERROR_RATE * finds + (1 - ERROR_RATE) * (alarms + 0.5))
        value = recall * share + finds / SCALE - price * (alarms + UNSEEN)
        value[(precision < OWN) | (recall < LEAST)] = -1.0
        best = int(np.argmax(value))
        if value[best] > 0:
            found[pair, side] = best
    return found


def precision_of(curves: Mapping[Key, Curve], steps: Mapping[Key, int]) -> float:
    """Return the precision of flags if a share ``ERRORS`` of the words is wrong."""
    finds = sum(curves[key].steps[2][step] for key, step in steps.items())
    alarms = sum(curves[key].steps[1][step] for key, step in steps.items())
    return float(ERROR_RATE * finds / (ERROR_RATE * finds + (1 - ERROR_RATE) * alarms + 1e-9))


def at_precision(curves: Mapping[Key, Curve], asked: float) -> dict[Key, int]:
    """Return the lowest cost of a false alarm at which the precision is reached."""
    low, high = 1e-6, 1e3
    found: dict[Key, int] = {}
    for _ in range(40):
        price = (low * high) ** 0.5
        steps = choice(curves, price)
        if not steps or precision_of(curves, steps) >= asked:
            high, found = price, steps or found
        else:
            low = price
    return found


def chosen(
    curves: Mapping[Key, Curve], precisions: Sequence[float], known: Collection[int] = ()
) -> tuple[dict[Key, list[float]], dict[int, tuple[float, float]]]:
    """Levels of all directions for each precision, and figures of the pairs that stay.

    ``known`` are pairs that stay with less recall, for everybody looks for them.
    """
    default = at_precision(curves, REPORTED_PRECISION)
    figures = {}
    for pair in {pair for pair, _ in default}:
        own = {key: step for key, step in default.items() if key[0] == pair}
        finds = sum(curves[key].steps[2][step] for key, step in own.items())
        recall = finds / sum(curves[pair, side].total for side in (0, 1))
        if recall >= (KNOWN if pair in known else KEPT):
            figures[pair] = (round(precision_of(curves, own), 4), round(float(recall), 4))
    kept = {key: curve for key, curve in curves.items() if key[0] in figures}
    levels: dict[Key, list[float]] = {key: [] for key in kept}
    for asked in precisions:
        steps = at_precision(kept, asked)
        for key, curve in kept.items():
            level = float(curve.steps[0][steps[key]]) if key in steps else UNREACHABLE_LOG_ODDS
            levels[key].append(max([level, *levels[key]]))
    return levels, figures
