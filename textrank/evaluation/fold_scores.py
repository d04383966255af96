"""One test fold with everything known about it, and what several of them say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textrank.docs import Candidate, labels_of
from textrank.evaluation.decisions import decisions_of
from textrank.evaluation.intervals import bootstrap_intervals
from textrank.evaluation.report import Decision, Fold, Summary
from textrank.measures import auc, decide, kendall_tau_b, over_queries, precision_recall_f
from textrank.tasks.task import Scored, Task
from textrank.types import Indices, Matrix, Vector

HEADLINES = ("auc", "f", "tau")


@dataclass(frozen=True, eq=False)
class FoldScores:
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
        return labels_of(self.candidates)

    def measured(self, task: Task, alpha: int | None = None) -> Fold:
        """The measures at the chosen alpha, or at the one in place ``alpha``."""
        a = self.chosen if alpha is None else alpha
        scores, threshold = self.scores[a], self.thresholds[a]
        kernel = self.kernels[a] if self.kernels else {}
        return Fold(
            task.measures(Scored(self.candidates, scores, threshold, unreachable=self.unreachable)),
            fold=self.fold,
            split=self.split,
            documents=len({candidate.document for candidate in self.candidates}),
            candidates=len(self.candidates),
            positives=int((self.y > 0).sum()),
            chosen={"alpha": self.alphas[a], **kernel, **self._decided(task, scores, threshold)},
        )

    def _decided(
        self, task: Task, scores: Vector, threshold: float | None
    ) -> dict[str, float | None]:
        """The threshold, or of a ranking the number of queries."""
        if not task.ranks:
            return {"threshold": threshold}
        queries = [(c.document, c.query) for c in self.candidates]
        tau = over_queries(kendall_tau_b, self.y, scores, queries)
        return {"queries": tau.defined + tau.undefined, "undefined_queries": tau.undefined}

    def decisions(self, fold: Fold) -> Iterator[Decision]:
        """Every candidate decided; a task without thresholds, as a ranking, has none here."""
        threshold = fold.chosen.get("threshold")
        scores = self.scores[self.chosen]
        return decisions_of(self.candidates, scores, threshold, fold=self.fold, split=self.split)

    def said(self, fold: Fold) -> NDArray[np.bool_]:
        """The answers that the measures of the fold are of; no where training had no positive.

        They are those at the threshold, or at zero where a task measures its choices there and
        uses the threshold for what it proposes.
        """
        scores = self.scores[self.chosen]
        at = [_at(scores, threshold) for threshold in (self.thresholds[self.chosen], 0.0)]
        f = [precision_recall_f(self.y, said, self.unreachable).f for said in at]
        return at[1] if f[0] != fold.measures.get("f") == f[1] else at[0]


def _at(scores: Vector, threshold: float | None) -> NDArray[np.bool_]:
    return np.zeros(len(scores), bool) if threshold is None else decide(scores, threshold)


def alpha_curve(task: Task, tests: Sequence[FoldScores]) -> list[dict[str, Any]]:
    """The headline measures of the test folds at every alpha, for looking only.

    Where kernels were chosen too, they are those at the kernel that was chosen most often.
    """
    points = []
    kernels = tests[0].kernels or [{} for _ in tests[0].alphas]
    often = Counter(tuple(kernels[test.chosen].items()) for test in tests).most_common(1)[0][0]
    for a, alpha in enumerate(tests[0].alphas):
        if tuple(kernels[a].items()) != often:
            continue
        folds = [test.measured(task, a) for test in tests]
        point: dict[str, Any] = {"x": alpha}
        for name in HEADLINES:
            if name in folds[0].measures:
                summary = Summary.of(folds, name)
                point[name] = {"mean": summary.mean, "std": summary.std}
        points.append(point)
    return points


def pooled(tests: Sequence[FoldScores], folds: Sequence[Fold]) -> dict[str, float | None]:
    """AUC, precision, recall and F over all folds of a split together, averaged over splits.

    Scores of different models are compared here, which makes this AUC pessimistic. Rankings have
    nothing to pool.
    """
    if "auc" not in folds[0].measures:
        return {}
    both = list(zip(tests, folds, strict=True))
    rows = [_pooled([b for b in both if b[0].split == s]) for s in {t.split for t in tests}]
    known = {name: [v for row in rows if (v := row[name]) is not None] for name in rows[0]}
    return {name: float(np.mean(values)) if values else None for name, values in known.items()}


def document_intervals(
    tests: Sequence[FoldScores], folds: Sequence[Fold], unreachable: Mapping[str, int]
) -> dict[str, tuple[float, float]]:
    """95 % intervals of the measures the folds have, by drawing documents anew."""
    if "auc" not in folds[0].measures:
        return {}
    parts = [np.full(len(test.index), number) for number, test in enumerate(tests)]
    found = bootstrap_intervals(
        np.concatenate([test.y for test in tests]),
        np.concatenate([test.scores[test.chosen] for test in tests]),
        [candidate.document for test in tests for candidate in test.candidates],
        decisions=np.concatenate([t.said(fold) for t, fold in zip(tests, folds, strict=True)]),
        parts=np.concatenate(parts),
        unreachable={name: number for name, number in unreachable.items() if number},
    )
    return {name: (interval.low, interval.high) for name, interval in found.items()}


def _pooled(both: Sequence[tuple[FoldScores, Fold]]) -> dict[str, float | None]:
    y = np.concatenate([test.y for test, _ in both])
    scores = np.concatenate([test.scores[test.chosen] for test, _ in both])
    said = np.concatenate([test.said(fold) for test, fold in both])
    found = precision_recall_f(y, said, sum(test.unreachable for test, _ in both))
    return {"auc": auc(y, scores), **found._asdict()}
