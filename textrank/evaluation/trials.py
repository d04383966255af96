"""One test fold with everything known about it, and what several of them say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textrank.docs import Candidate
from textrank.evaluation import Decision, Fold, Summary, auc, decide, precision_recall_f
from textrank.evaluation.intervals import bootstrap_intervals
from textrank.evaluation.judged import judged
from textrank.types import Indices, Matrix, Vector

if TYPE_CHECKING:
    from textrank.pipeline import Task

HEADLINES = ("auc", "f", "tau")


@dataclass(frozen=True, eq=False)
class Trial:
    """A test fold: scores at every alpha, and the choice made on its training part."""

    index: Indices  # of its candidates among all
    candidates: Sequence[Candidate]
    alphas: Sequence[float]
    scores: Matrix  # (alphas, m)
    thresholds: Sequence[float | None]  # the best one in training, for each alpha
    chosen: int
    unreachable: int
    fold: int
    split: int
    kernels: Sequence[Mapping[str, float]] = ()  # the choice of kernel at each place of alphas

    @property
    def y(self) -> Vector:
        """The answers."""
        return np.array([c.label for c in self.candidates], dtype=np.float64)

    def measured(self, task: Task, alpha: int | None = None) -> Fold:
        """The measures at the chosen alpha, or at the one in place ``alpha``."""
        a = self.chosen if alpha is None else alpha
        return task.measure(
            self.candidates,
            self.scores[a],
            self.thresholds[a],
            unreachable=self.unreachable,
            fold=self.fold,
            split=self.split,
            chosen={"alpha": self.alphas[a], **(self.kernels[a] if self.kernels else {})},
        )

    def decisions(self, fold: Fold) -> Iterator[Decision]:
        """Every candidate judged; a task without thresholds, as a ranking, has none here either."""
        threshold = fold.chosen.get("threshold")
        scores = self.scores[self.chosen]
        return judged(self.candidates, scores, threshold, fold=self.fold, split=self.split)

    def said(self) -> NDArray[np.bool_]:
        """The answers given; no where training had no positive to set a threshold by."""
        threshold = self.thresholds[self.chosen]
        scores = self.scores[self.chosen]
        return np.zeros(len(scores), bool) if threshold is None else decide(scores, threshold)


def alpha_curve(task: Task, trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """The headline measures of the test folds at every alpha, for looking only.

    Where kernels were chosen too, they are those at the kernel that was chosen most often.
    """
    points = []
    kernels = trials[0].kernels or [{} for _ in trials[0].alphas]
    often = Counter(tuple(kernels[trial.chosen].items()) for trial in trials).most_common(1)[0][0]
    for a, alpha in enumerate(trials[0].alphas):
        if tuple(kernels[a].items()) != often:
            continue
        folds = [trial.measured(task, a) for trial in trials]
        point: dict[str, Any] = {"x": alpha}
        for name in HEADLINES:
            if name in folds[0].measures:
                summary = Summary.of(folds, name)
                point[name] = {"mean": summary.mean, "std": summary.std}
        points.append(point)
    return points


def pooled(trials: Sequence[Trial], folds: Sequence[Fold]) -> dict[str, float | None]:
    """AUC, precision, recall and F over all folds of a split together, averaged over splits.

    Scores of different models are compared here, which makes this AUC pessimistic. Rankings have
    nothing to pool.
    """
    if "auc" not in folds[0].measures:
        return {}
    rows = [_pooled([t for t in trials if t.split == s]) for s in {t.split for t in trials}]
    known = {name: [v for row in rows if (v := row[name]) is not None] for name in rows[0]}
    return {name: float(np.mean(values)) if values else None for name, values in known.items()}


def document_intervals(
    trials: Sequence[Trial], folds: Sequence[Fold], unreachable: Mapping[str, int]
) -> dict[str, tuple[float, float]]:
    """95 % intervals of the measures the folds have, by drawing documents anew."""
    if "auc" not in folds[0].measures:
        return {}
    parts = [np.full(len(trial.index), number) for number, trial in enumerate(trials)]
    found = bootstrap_intervals(
        np.concatenate([trial.y for trial in trials]),
        np.concatenate([trial.scores[trial.chosen] for trial in trials]),
        [candidate.document for trial in trials for candidate in trial.candidates],
        decisions=np.concatenate([trial.said() for trial in trials]),
        parts=np.concatenate(parts),
        unreachable={name: number for name, number in unreachable.items() if number},
    )
    return {name: (interval.low, interval.high) for name, interval in found.items()}


def _pooled(trials: Sequence[Trial]) -> dict[str, float | None]:
    y = np.concatenate([trial.y for trial in trials])
    scores = np.concatenate([trial.scores[trial.chosen] for trial in trials])
    said = np.concatenate([trial.said() for trial in trials])
    found = precision_recall_f(y, said, sum(trial.unreachable for trial in trials))
    return {"auc": auc(y, scores), **found._asdict()}
