"""Learning curves: how much more training documents would help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from textrank.evaluation.fold_scores import HEADLINES, FoldScores
from textrank.evaluation.report import Fold, Summary
from textrank.evaluation.splits import Split, Splitter
from textrank.learners.kernel_choice import fit_best
from textrank.pipeline import Dataset, Pipeline
from textrank.progress import track
from textrank.types import Alternatives, Indices, part

SHARES = (0.0625, 0.125, 0.25, 0.5, 1.0)


def learning_curve(
    pipeline: Pipeline,
    dataset: Dataset,
    splitter: Splitter,
    *,
    shares: Sequence[float] = SHARES,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Measures of models of fewer documents, tested on the same folds of the first split.

    Smaller training sets are parts of the larger ones. A share in which some fold has one class
    only is left out, since nothing can be learnt from it.
    """
    if not all(0 < share <= 1 for share in shares):
        raise ValueError(f"shares of the training documents lie between 0 and 1, got {shares}")
    split = splitter.split(dataset.candidates, dataset.targets)
    points = []
    for share in track(sorted(shares), "learning curve", len(shares)):
        trained = [_train(dataset, split, fold, share, seed) for fold in _tested(split)]
        if all(len(np.unique(dataset.targets.y[rest])) > 1 for _, rest in trained):
            folds = [_fold(pipeline, dataset, split, out, rest) for out, rest in trained]
            sizes = [len(np.unique(split.targets.documents[rest])) for _, rest in trained]
            points.append(_point(float(np.mean(sizes)), folds))
    return points


def _tested(split: Split) -> list[int]:
    numbers = [int(fold) for fold in np.unique(split.partitions[0])]
    return [n for n in numbers if split.tested is None or n in split.tested]


def _train(
    dataset: Dataset, split: Split, fold: int, share: float, seed: int
) -> tuple[Indices, Indices]:
    """The test candidates of a fold, and those of a share of its training documents."""
    folds, documents = split.partitions[0], split.targets.documents
    inside = np.unique(documents[folds != fold])
    order = np.random.default_rng((seed, fold)).permutation(inside)
    kept = order[: max(2, round(share * len(order)))]
    return np.flatnonzero(folds == fold), np.flatnonzero(np.isin(documents, kept))


def _fold(pipeline: Pipeline, dataset: Dataset, split: Split, out: Indices, rest: Indices) -> Fold:
    targets = split.targets.take(rest)
    best, fit = fit_best(pipeline.learner, part(dataset.data, rest, rest), targets)
    threshold = pipeline.task.threshold(targets.y, fit.heldout[fit.chosen])
    across = part(dataset.data, out, rest)
    data = across.grams[best] if isinstance(across, Alternatives) else across
    scores = fit.predict(data, split.targets.take(out).neighbourhood)
    candidates = [dataset.candidates[i] for i in out]
    missed = sum(dataset.unreachable.get(d, 0) for d in {c.document for c in candidates})
    test = FoldScores(out, candidates, [fit.alpha], scores[None], [threshold], 0, missed, 0, 0)
    return test.measured(pipeline.task)


def _point(documents: float, folds: Sequence[Fold]) -> dict[str, Any]:
    point: dict[str, Any] = {"x": documents}
    for name in HEADLINES:
        if name in folds[0].measures:
            summary = Summary.of(folds, name)
            point[name] = {"mean": summary.mean, "std": summary.std}
    return point
