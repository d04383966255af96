"""Choose the thresholds of each direction from correct and false proposals on held-out text.

A direction is a printed word and the other word of its pair, the proposal. Errors are simulated:
every occurrence of the proposal counts as one in a hundred errors. *Finds* (errors that would be
found) and *alarms* (false proposals) are counted per million words of the mixture of kinds
(``corpus.KINDS``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from corpus import KINDS

from textrank.lint.model import ERROR_RATE, THRESHOLD_PRECISIONS, UNREACHABLE_LOG_ODDS

GRID = np.arange(-5, 30.05, 0.1)  # log-odds that can be thresholds
TOP_ALARMS = 500  # of a direction, which are kept one by one
OLD_KINDS = ("books", "novels")
OLD_ALARM_WEIGHT = 0.3  # of alarms in OLD_KINDS
OVERCONFIDENCE = 3.0  # by which log-odds underestimate alarms where none was seen
PRIOR_ALARMS = 1.0
MIN_RECALL = 0.03
RECALL_VALUE = 4.0  # finds per million words that a recall of 1 is worth
VALUE_OF_GROUP = {"confusion": 1.0, "function": 1.0, "slip": 0.2, "style": 0.5}
# Asked precision: finds that one alarm costs, and the least precision of a direction.
PRICES = {
    0.5: (0.05, 0.3),
    0.8: (0.7, 0.5),
    0.9: (3.0, 0.6),
    0.95: (10.0, 0.6),
    0.98: (22.0, 0.75),
    0.99: (40.0, 0.85),
    0.995: (70.0, 0.9),
    0.997: (110.0, 0.93),
    0.999: (250.0, 0.97),
}
# Directions whose alarms are mostly misprints of the texts, as reading a sample showed.
MISPRINT_WEIGHT = {
    ("an", "a"): 0.3,
    ("affect", "effect"): 0.2,
    ("these", "this"): 0.5,
    ("ran", "run"): 0.3,
    ("base", "based"): 0.3,
    ("then", "than"): 0.2,
    ("use", "used"): 0.3,
    ("your", "you"): 0.5,
    ("it's", "its"): 0.05,
    ("its", "it's"): 0.1,
    ("were", "where"): 0.5,
    ("where", "were"): 0.15,
    ("everyday", "every day"): 0.2,
    ("lead", "led"): 0.3,
    ("led", "lead"): 0.3,
}


@dataclass(frozen=True, eq=False)
class Direction:
    """Held-out log-odds of one direction.

    ``finds`` is a histogram over GRID of the occurrences of the proposal, per million words of the
    mixture. ``alarms`` are the TOP_ALARMS highest log-odds of the printed word, sorted downwards,
    with their weights. ``n_printed`` occurrences of the printed word stand for ``printed`` per
    million words.
    """

    finds: Any  # (len(GRID) + 1,)
    alarms: Any
    alarm_weights: Any
    n_printed: int
    printed: float

    def curves(self) -> tuple[Any, Any]:
        """Return finds and expected alarms per million words at each threshold of GRID.

        Where few alarms were seen, the expectation follows the log-odds of the finds: if they are
        right, alarms above a threshold are as frequent as the finds there times exp(-log-odds).
        """
        finds = np.cumsum(self.finds[::-1])[::-1][1:]
        odds = np.exp(-np.minimum(GRID, 25))
        tail = np.cumsum((self.finds * np.r_[2 * odds[0], odds])[::-1])[::-1][1:]
        prior = OVERCONFIDENCE * np.maximum(tail / max(self.finds.sum(), 1e-9), 1e-12)
        order = np.argsort(self.alarms)
        weights = np.r_[np.cumsum(self.alarm_weights[order][::-1])[::-1], 0.0]
        seen = weights[np.searchsorted(self.alarms[order], GRID)]
        seen = seen * self.n_printed / max(self.printed, 1e-9)
        rate = (PRIOR_ALARMS + seen) / (PRIOR_ALARMS / prior + self.n_printed)
        alarms = self.printed * rate
        if len(self.alarms) >= 0.9 * TOP_ALARMS:  # below the lowest one, alarms were not kept
            alarms = np.where(self.alarms.min() > GRID, np.inf, alarms)
        return finds, alarms

    def threshold(self, price: float, min_precision: float, value: float) -> float:
        """Return the threshold with the highest gain.

        The gain is ``ERROR_RATE * finds + value * recall - price * alarms``. Only thresholds above
        0 with at least ``min_precision`` and a recall above MIN_RECALL count; UNREACHABLE_LOG_ODDS
        if no gain is positive.
        """
        finds, alarms = self.curves()
        total = max(self.finds.sum(), 1e-9)
        gain = ERROR_RATE * finds + value * finds / total - price * alarms
        precision = ERROR_RATE * finds / (ERROR_RATE * finds + alarms + 1e-12)
        is_allowed = (precision >= min_precision) & (finds > MIN_RECALL * total) & (GRID > 0)
        gain = np.where(is_allowed & np.isfinite(alarms), gain, -1.0)
        best = int(np.argmax(gain))
        return float(GRID[best]) if gain[best] > 0 else UNREACHABLE_LOG_ODDS


def make_direction(
    printed: Any, proposal: Any, odds: tuple[Any, Any], words: tuple[str, str], skipped: Any
) -> Direction:
    """Return the direction of a printed word and its proposal, two ``Occurrences``.

    ``odds`` are the held-out log-odds of the proposal at the occurrences of both, ``words`` both
    words. ``skipped`` is a mask of occurrences of the printed word that are misprints.
    """
    alarm_odds, find_odds = odds
    weight = printed.weight * np.where(_is_old(printed.kind), OLD_ALARM_WEIGHT, 1.0)
    histogram = np.zeros(len(GRID) + 1)
    np.add.at(histogram, np.searchsorted(GRID, find_odds), proposal.weight)
    top = np.argsort(-np.where(skipped, -np.inf, alarm_odds), kind="stable")[:TOP_ALARMS]
    top = top[~skipped[top]]
    doubt = MISPRINT_WEIGHT.get(words, 1.0)
    return Direction(
        histogram, alarm_odds[top], weight[top] * doubt, len(alarm_odds), float(weight.sum())
    )


def _is_old(kind: Any) -> Any:
    """Return which kinds, numbers of KINDS, are old prose."""
    return np.isin(kind, [list(KINDS).index(name) for name in OLD_KINDS])


def choose_thresholds(side: Direction, group: str) -> list[float]:
    """Return the thresholds of a direction for THRESHOLD_PRECISIONS; they never decrease.

    ``group`` is that of the pair, a key of VALUE_OF_GROUP.
    """
    value = RECALL_VALUE * VALUE_OF_GROUP[group]
    values = [side.threshold(*PRICES[asked], value) for asked in THRESHOLD_PRECISIONS]
    return [round(float(level), 2) for level in np.maximum.accumulate(values)]


def measure_pair(sides: Mapping[int, Direction], thresholds: Any) -> tuple[float, float]:
    """Return precision and recall of a pair at the thresholds of its directions."""
    finds = alarms = total = 0.0
    for number, side in sides.items():
        total += side.finds.sum()
        if thresholds[number] < UNREACHABLE_LOG_ODDS:
            at = round((thresholds[number] - GRID[0]) / 0.1)
            curve = side.curves()
            finds, alarms = finds + curve[0][at], alarms + curve[1][at]
    precision = ERROR_RATE * finds / (ERROR_RATE * finds + alarms + 1e-9)
    return round(float(precision), 4), round(float(finds / max(total, 1e-9)), 4)
