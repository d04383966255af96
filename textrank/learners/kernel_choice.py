"""The choice among kernels, made like that of alpha: by exact held-out scores in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from textrank.docs import Targets
from textrank.learners.fit import Fit, Learner, Nested
from textrank.learners.selection import qualities
from textrank.progress import track
from textrank.ties import choose_largest
from textrank.types import Alternatives, Data, Indices


def fit_best(learner: Learner, data: Data, targets: Targets) -> tuple[int, Fit]:
    """The fit with the best held-out scores at its own alpha, and which kernel it is of.

    Of equally good kernels (to 1e-9) the one with the largest alpha is taken, of several the last
    one; without a choice it is number 0.
    """
    if not isinstance(data, Alternatives):
        return 0, learner.fit(data, targets)
    if not len(data.grams):
        raise ValueError("no kernels to choose from: give at least one.")
    fits = [learner.fit(K, targets) for K in track(data.grams, "kernels", len(data.grams))]
    heldout = np.array([fit.heldout[fit.chosen] for fit in fits])
    values = qualities(heldout, targets, learner.select)
    best = choose_largest(values, [fit.alpha for fit in fits])
    return best, fits[best]


def nested_all(
    learner: Learner, data: Data, targets: Targets, partitions: Sequence[Indices]
) -> tuple[list[Nested], list[Mapping[str, float]]]:
    """Nested scores of every kernel at every alpha, and what tells the kernels apart, a row each.

    Rows are ordered by kernel, then by alpha, so that choosing a row chooses both.
    """
    if not isinstance(data, Alternatives):
        return learner.nested(data, targets, partitions), []
    found = [
        learner.nested(K, targets, partitions)
        for K in track(data.grams, "kernels", len(data.grams))
    ]
    settings = [
        setting
        for setting, nested in zip(data.settings, found, strict=True)
        for _ in nested[0].alphas
    ]
    return [_stacked([own[split] for own in found]) for split in range(len(partitions))], settings


def _stacked(parts: Sequence[Nested]) -> Nested:
    return Nested(
        tuple(alpha for part in parts for alpha in part.alphas),
        parts[0].folds,
        np.concatenate([part.outer for part in parts]),
        np.concatenate([part.inner for part in parts]),
    )
