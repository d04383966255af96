"""Learning curves: how much more training documents would help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textrank.evaluation import Fold, Summary, best_threshold
from textrank.evaluation.splits import Dividing, Division
from textrank.evaluation.trials import HEADLINES, Trial
from textrank.learners.kernel_choice import fit_best
from textrank.progress import track
from textrank.types import Alternatives, Indices, part

if TYPE_CHECKING:
    from textrank.pipeline import Examined, Pipeline

SHARES = (0.0625, 0.125, 0.25, 0.5, 1.0)


def learning_curve(
    pipeline: Pipeline,
    seen: Examined,
    protocol: Dividing,
    *,
    shares: Sequence[float] = SHARES,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Measures of models of fewer documents, tested on the same folds of the first division.

    Smaller training sets are parts of the larger ones. A share in which some fold has one class
    only is left out, since nothing can be learnt from it.
    """
    if not all(0 < share <= 1 for share in shares):
        raise ValueError(f"shares of the training documents lie between 0 and 1, got {shares}")
    division = protocol.divide(seen.candidates, seen.targets)
    points = []
    for share in track(sorted(shares), "learning curve", len(shares)):
        trained = [_train(seen, division, fold, share, seed) for fold in _tested(division)]
        if all(len(np.unique(seen.targets.y[rest])) > 1 for _, rest in trained):
            folds = [_fold(pipeline, seen, division, out, rest) for out, rest in trained]
            sizes = [len(np.unique(division.targets.documents[rest])) for _, rest in trained]
            points.append(_point(float(np.mean(sizes)), folds))
    return points


def _tested(division: Division) -> list[int]:
    numbers = [int(fold) for fold in np.unique(division.partitions[0])]
    return [n for n in numbers if division.tested is None or n in division.tested]


def _train(
    seen: Examined, division: Division, fold: int, share: float, seed: int
) -> tuple[Indices, Indices]:
    """The test candidates of a fold, and those of a share of its training documents."""
    folds, documents = division.partitions[0], division.targets.documents
    inside = np.unique(documents[folds != fold])
    order = np.random.default_rng((seed, fold)).permutation(inside)
    kept = order[: max(2, round(share * len(order)))]
    return np.flatnonzero(folds == fold), np.flatnonzero(np.isin(documents, kept))


def _fold(
    pipeline: Pipeline, seen: Examined, division: Division, out: Indices, rest: Indices
) -> Fold:
    targets = division.targets.take(rest)
    best, fit = fit_best(pipeline.learner, part(seen.data, rest, rest), targets)
    threshold = best_threshold(targets.y, fit.heldout[fit.chosen])
    across = part(seen.data, out, rest)
    data = across.grams[best] if isinstance(across, Alternatives) else across
    scores = fit.predict(data, division.targets.take(out).company)
    candidates = [seen.candidates[i] for i in out]
    missed = sum(seen.unreachable.get(d, 0) for d in {c.document for c in candidates})
    trial = Trial(out, candidates, [fit.alpha], scores[None], [threshold], 0, missed, 0, 0)
    return trial.measured(pipeline.task)


def _point(documents: float, folds: Sequence[Fold]) -> dict[str, Any]:
    point: dict[str, Any] = {"x": documents}
    for name in HEADLINES:
        if name in folds[0].measures:
            summary = Summary.of(folds, name)
            point[name] = {"mean": summary.mean, "std": summary.std}
    return point
