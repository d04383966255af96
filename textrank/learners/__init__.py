"""Learners: from a Gram matrix or features to a fitted model with held-out scores.

``base`` has their results and checks, ``holdout`` the exact held-out scores and the influence of
each training document. ``rls``, ``reduced``, ``rankrls`` and ``ranksvm`` are the learners; those of
``meta`` build on another learner, ``multiclass`` handles many classes. ``baselines`` has simple
classifiers to compare with. ``calibration`` turns scores into probabilities, ``selection`` chooses
kernels and features, ``online`` updates models.
Learners know arrays, not text. Classes are imported on first use:
``from textrank.learners import RLS, RankRLS``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.learners.base import Fit, NestedScores, RegularizationPath
    from textrank.learners.calibration import (
        ConformalPredictor,
        IsotonicCalibration,
        PlattCalibration,
        PriorShift,
    )
    from textrank.learners.meta import (
        DocumentContextLearner,
        DocumentContextWeights,
        PerQuestionLearner,
    )
    from textrank.learners.multiclass import G2P, EmbeddingRLS
    from textrank.learners.online import OnlineRLS, UpdatableRankRLS, UpdatableRLS
    from textrank.learners.rankrls import RankRLS
    from textrank.learners.ranksvm import RankSVM
    from textrank.learners.reduced import ReducedRLS, SparseRLS
    from textrank.learners.rls import RLS
    from textrank.learners.selection import GreedyFeatures, KernelWeights

_HOMES = {
    "ConformalPredictor": "calibration",
    "DocumentContextLearner": "meta",
    "DocumentContextWeights": "meta",
    "EmbeddingRLS": "multiclass",
    "Fit": "base",
    "G2P": "multiclass",
    "GreedyFeatures": "selection",
    "IsotonicCalibration": "calibration",
    "KernelWeights": "selection",
    "NestedScores": "base",
    "OnlineRLS": "online",
    "PerQuestionLearner": "meta",
    "PlattCalibration": "calibration",
    "PriorShift": "calibration",
    "RLS": "rls",
    "RankRLS": "rankrls",
    "RankSVM": "ranksvm",
    "ReducedRLS": "reduced",
    "RegularizationPath": "base",
    "SparseRLS": "reduced",
    "UpdatableRLS": "online",
    "UpdatableRankRLS": "online",
}

__all__ = [
    "G2P",
    "RLS",
    "ConformalPredictor",
    "DocumentContextLearner",
    "DocumentContextWeights",
    "EmbeddingRLS",
    "Fit",
    "GreedyFeatures",
    "IsotonicCalibration",
    "KernelWeights",
    "NestedScores",
    "OnlineRLS",
    "PerQuestionLearner",
    "PlattCalibration",
    "PriorShift",
    "RankRLS",
    "RankSVM",
    "ReducedRLS",
    "RegularizationPath",
    "SparseRLS",
    "UpdatableRLS",
    "UpdatableRankRLS",
]


def __getattr__(name: str) -> Any:
    """Import a public class on first use and keep it in the module.

    Raises AttributeError for any other name.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public classes."""
    return sorted(__all__)
