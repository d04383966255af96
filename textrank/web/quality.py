"""How good a model under instruction is, by scores that never saw the document they judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textrank.learners.calibration import Platt
from textrank.measures import auc, best_threshold, precision_recall_f
from textrank.ties import merge_ties
from textrank.types import Indices, Vector

BINS = 10
FEWEST = 5  # positive and negative answers each, before figures mean anything
WINDOW = 20  # answers over which nothing must change before more of them stop helping
STEADY = 0.99  # agreement (kappa) of the decisions before and after these answers
GAIN = 0.01  # of AUC or F, which would still be worth more answers


@dataclass(frozen=True)
class Quality:
    """Held-out figures: ranking, decisions, and whether probabilities mean what they say.

    The threshold of ``f`` and the curve of ``calibration`` (expected calibration error) are
    chosen on one half of the documents and measured on the other, so that neither saw what it
    is measured on. None where answers are too few.
    """

    auc: float | None = None
    f: float | None = None
    calibration: float | None = None
    answers: int = 0


def quality(y: Vector, heldout: Vector, documents: Indices) -> Quality:
    """The figures of held-out scores."""
    n = len(y)
    if min((y > 0).sum(), (y <= 0).sum()) < FEWEST:
        return Quality(answers=n)
    numbers = np.unique(documents, return_inverse=True)[1]
    halves = [numbers % 2 == half for half in (0, 1)]
    if any(len(np.unique(y[half] > 0)) < 2 for half in halves):
        return Quality(auc(y, heldout), answers=n)
    yes, p = np.zeros(n, dtype=bool), np.zeros(n)
    for own, other in (halves, halves[::-1]):
        cut = best_threshold(y[other], heldout[other])
        yes[own] = heldout[own] >= (0.0 if cut is None else cut)
        p[own] = Platt.of(heldout[other], y[other])(heldout[own])
    f = precision_recall_f(y, yes).f
    return Quality(auc(y, heldout), f, calibration_error(y, p), n)


def calibration_error(y: Vector, p: Vector) -> float:
    """The mean distance between probability and share of yes, over bins of equal number.

    >>> calibration_error(np.array([1.0, -1.0]), np.array([1.0, 0.0]))
    0.0
    """
    order = np.argsort(merge_ties(p), kind="stable")
    parts = np.array_split(order, min(BINS, len(order)))
    gaps = [len(part) * abs(p[part].mean() - (y[part] > 0).mean()) for part in parts if len(part)]
    return float(sum(gaps) / max(len(y), 1))


def agreement(one: Vector, other: Vector) -> float:
    """Cohen's kappa of two lists of decisions; 1 where both say the same of all.

    >>> agreement(np.array([True, False]), np.array([True, False]))
    1.0
    """
    a, b = np.asarray(one, dtype=bool), np.asarray(other, dtype=bool)
    same = float((a == b).mean()) if len(a) else 1.0
    chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean()) if len(a) else 0.0
    return 1.0 if chance >= 1 else float((same - chance) / (1 - chance))


def advice(history: list[Quality], kappas: list[float]) -> tuple[str, str]:
    """Whether more answers help: ``go on``, ``slower`` or ``enough``, and the reason.

    Enough is when the decisions on all candidates stayed the same (kappa of .99) through three
    windows of answers and no held-out figure rose. Bloodgood and Vijay-Shanker (2009).
    """
    if not history or history[-1].auc is None:
        return "go on", "Too few answers of both kinds to measure anything."
    if len(kappas) < 3 * WINDOW or len(history) <= WINDOW:
        return "go on", "The model still learns with every answer."
    gained = max(_gain(history, "auc"), _gain(history, "f"))
    steady = min(float(np.mean(kappas[-WINDOW * (i + 1) :][:WINDOW])) for i in range(3))
    if steady >= STEADY and gained < GAIN:
        return "enough", (
            f"The last {3 * WINDOW} answers changed hardly any decision (agreement {steady:.3f}) "
            "and no held-out figure: more of them would teach little."
        )
    if gained < GAIN:
        return "slower", f"The last {WINDOW} answers raised no held-out figure."
    return "go on", f"The last {WINDOW} answers raised a held-out figure by {100 * gained:.1f}."


def _gain(history: list[Quality], name: str) -> float:
    now, before = getattr(history[-1], name), getattr(history[-1 - WINDOW], name)
    return float(now - before) if now is not None and before is not None else 0.0
