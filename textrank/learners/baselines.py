"""Baselines of the papers as learners: what a kernel method has to be better than.

``NaiveBayes`` and ``AdditiveClassifier`` add class-wise statistics of features, ``SVM`` is a
support vector machine on labels, ``Cooccurrence`` answers yes to every candidate. They have the
interface of the other learners, so that a cfg can name them. Held-out scores come from ``folds``
trainings, groups kept whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textrank.candidates import Targets
from textrank.features import Features, Indices, Matrix, SparseMatrix, Vector
from textrank.learners.base import (
    Fit,
    NestedScores,
    RegularizationPath,
    SelectionMetric,
    check_alphas,
    check_features,
    check_gram,
    check_metric,
    check_targets,
    check_unweighted,
    choose_alpha,
)
from textrank.learners.holdout import assign_folds, heldout_by_folds, nested_by_retraining
from textrank.learners.reduced import ReducedCoordinates, sample_stratified


class _Baseline(ABC):
    """Base of the baselines: choice of alpha and nested scores by retraining."""

    alphas: Sequence[float]
    select: SelectionMetric

    @abstractmethod
    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients, or feature weights, and held-out scores at every alpha.

        A Gram matrix (n, n) gives coefficients of candidates (alphas, n), ``Features`` give feature
        weights (alphas, d). Held-out scores are (alphas, n).
        """

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Train at every alpha and return the fit with the best held-out scores by ``select``.

        Of equally good alphas the largest. Raises ValueError if the labels leave the metric
        undefined, or for data or targets that the learner cannot use.
        """
        path = self.path(data, targets)
        return path.select(choose_alpha(path.heldout, targets, self.select, path.alphas))

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return test scores and inner held-out scores of every partition into folds, in order.

        A partition is the fold number of each candidate (n,); ValueError if a group is in two
        folds.
        """
        return nested_by_retraining(self, data, targets, partitions)


class _Statistics(_Baseline):
    """Base of classifiers that add a weight per feature; features must not be negative."""

    folds: int

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return feature weights (alphas, d) and held-out scores (alphas, n) at every alpha.

        Raises ValueError for a Gram matrix, negative features and sample weights, and if all
        candidates are in one group.
        """
        name = type(self).__name__
        check_unweighted(targets, name)
        if not isinstance(data, Features):
            raise ValueError(f"{name} needs features. Use a kernel with features.")
        X = check_features(data)
        if X.shape[0] and X.min() < 0:
            raise ValueError(f"{name} counts features, but some are negative. Use another kernel.")
        check_targets(targets.y, X.shape[0])
        heldout = heldout_by_folds(self.weights, X, targets, self.folds)
        return RegularizationPath(tuple(self.alphas), self.weights(X, targets), heldout)

    def weights(self, X: Matrix | SparseMatrix, targets: Targets) -> Matrix:  # (a, d)
        """Return feature weights (a, d) at every alpha for features (n, d).

        Labels above 0 are positive. Inputs are not checked.
        """
        positive = targets.y > 0
        sums = [np.asarray(X[rows].sum(axis=0)).ravel() for rows in (positive, ~positive)]
        return np.stack([self.weigh(sums[0], sums[1], alpha) for alpha in self.alphas])

    @abstractmethod
    def weigh(self, positive: Vector, negative: Vector, alpha: float) -> Vector:
        """Return feature weights (d,) from the sums (d,) of each feature in the two classes.

        ``alpha`` is the smoothing constant.
        """


@dataclass(frozen=True)
class NaiveBayes(_Statistics):
    """Multinomial naive Bayes: a feature weighs the log ratio of its shares in the two classes.

    ``alphas`` are the smoothing constants to choose from, added to the sum of each feature.

    >>> from textrank.features import FeatureNames
    >>> import scipy.sparse as sp
    >>> F = Features(sp.csr_array([[2.0, 0.0], [1.0, 1.0]]), FeatureNames.from_iterable("ab"))
    >>> y, groups = np.array([1.0, -1.0]), np.arange(2)
    >>> NaiveBayes(alphas=[1.0]).weights(F.values, Targets(y, groups, groups)).round(3)
    array([[ 0.405, -0.693]])
    """

    alphas: Sequence[float] = (0.01, 0.1, 1.0)
    select: SelectionMetric = "auc"
    folds: int = 5

    def __post_init__(self) -> None:
        """Store the alphas as a tuple; raise ValueError for settings outside their range.

        Alphas are positive and distinct, ``select`` is a metric and ``folds`` at least 2.
        """
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        _check_folds(self.folds)

    def weigh(self, positive: Vector, negative: Vector, alpha: float) -> Vector:
        """Return ``log p(feature | yes) - log p(feature | no)`` (d,), smoothed by ``alpha``.

        ``positive`` and ``negative`` (d,) are the sums of each feature in the two classes.
        """
        yes, no = positive + alpha, negative + alpha
        return np.asarray(np.log(yes / yes.sum()) - np.log(no / no.sum()))


@dataclass(frozen=True)
class AdditiveClassifier(_Statistics):
    """Weighted additive classifier: a feature weighs the share of its occurrences in positives.

    A feature with ``p`` of its sum in positives and ``n`` in others weighs
    ``(p - n) / (p + n + 2 alpha)``. Ginter, Boberg, Järvinen and Salakoski (2004).
    """

    alphas: Sequence[float] = (0.5,)
    select: SelectionMetric = "auc"
    folds: int = 5

    def __post_init__(self) -> None:
        """Store the alphas as a tuple; raise ValueError for settings outside their range.

        Alphas are positive and distinct, ``select`` is a metric and ``folds`` at least 2.
        """
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        _check_folds(self.folds)

    def weigh(self, positive: Vector, negative: Vector, alpha: float) -> Vector:
        """Return ``(p - n) / (p + n + 2 alpha)`` of each feature, (d,), between -1 and 1.

        ``p`` and ``n`` are its sums in ``positive`` and ``negative``.
        """
        return np.asarray((positive - negative) / (positive + negative + 2 * alpha))


@dataclass(frozen=True)
class SVM(_Baseline):
    """Support vector machine: ``alpha ||f||^2 + sum max(0, 1 - y f(x))``, by LIBLINEAR.

    Labels above 0 are positive. A Gram matrix goes through its empirical kernel map, with ``size``
    through that of a basis, sampled evenly over groups; held-out groups take their basis vectors
    with them. There is no intercept: a constant feature or kernel takes its place.

    >>> y, groups = np.array([1.0, -1.0, 1.0, -1.0]), np.array([0, 0, 1, 1])
    >>> K = np.outer(y, y)
    >>> path = SVM(alphas=[0.5], folds=2).path(K, Targets(y, groups, groups))
    >>> (K @ path.coefs[0]).round(2)
    array([ 1., -1.,  1., -1.])
    """

    alphas: Sequence[float] = (0.1, 1.0, 10.0)
    select: SelectionMetric = "auc"
    folds: int = 5
    size: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Store the alphas as a tuple; raise ValueError for settings outside their range.

        Alphas are positive and distinct, ``select`` is a metric, ``folds`` at least 2 and ``size``
        None or at least 1.
        """
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)
        _check_folds(self.folds)
        if self.size is not None and self.size < 1:
            raise ValueError(f"size must be at least 1, or None for all, got {self.size}")

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients, or feature weights, and held-out scores at every alpha.

        A Gram matrix (n, n) gives coefficients of candidates (alphas, n), 0 outside a basis of
        ``size`` rows, which ``seed`` samples evenly over groups (all rows if ``size`` is None or
        not below n); ``Features`` give feature weights (alphas, d). Groups are held out in
        ``folds`` folds, with one training each; a fold takes its basis vectors with it. Raises
        ValueError for sample weights, if all candidates are in one group, if the candidates outside
        a fold have labels of one class only, and for features with a basis size.
        """
        check_unweighted(targets, "svm.v1")
        if isinstance(data, Features):
            if self.size is not None:
                raise ValueError(
                    "svm.v1: size samples a basis for a kernel without features. Leave it out."
                )
            X = check_features(data)
            heldout = heldout_by_folds(self._weights, X, targets, self.folds)
            return RegularizationPath(tuple(self.alphas), self._weights(X, targets), heldout)
        K, basis = check_gram(data), np.arange(len(targets))
        if self.size is not None and self.size < len(K):
            rng = np.random.default_rng(self.seed)
            basis = np.sort(sample_stratified(targets.groups, self.size, rng))
        coordinates = ReducedCoordinates.from_columns(K[:, basis], basis)
        heldout = np.empty((len(self.alphas), len(K)))
        for out in assign_folds(targets, self.folds):
            rest, X = np.setdiff1d(np.arange(len(K)), out), coordinates.without_rows(out)
            heldout[:, out] = self._weights(X[rest], targets.take(rest)) @ X[out].T
        coefs = coordinates.to_full_coefs(self._weights(coordinates.H, targets))
        return RegularizationPath(tuple(self.alphas), coefs, heldout)

    def _weights(self, X: Matrix | SparseMatrix, targets: Targets) -> Matrix:  # (a, d)
        """Return feature weights (a, d) at every alpha for features (n, d), without an intercept.

        Hinge loss with ``C = 0.5 / alpha``; labels above 0 are positive. LIBLINEAR has a fixed seed
        and at most 20 000 iterations. Raises ValueError for labels of one class.
        """
        from sklearn.svm import LinearSVC  # slow to import

        positive = targets.y > 0
        if positive.all() or not positive.any():
            raise ValueError(
                "svm.v1: all training labels of a fold are of one class. Use fewer folds."
            )
        models = [
            LinearSVC(
                C=0.5 / alpha, loss="hinge", fit_intercept=False, max_iter=20_000, random_state=0
            )
            for alpha in self.alphas
        ]
        return np.stack([model.fit(X, positive).coef_[0] for model in models])


@dataclass(frozen=True)
class Cooccurrence(_Baseline):
    """Yes to every candidate, the co-occurrence baseline of interactions: all scores are 0."""

    alphas: Sequence[float] = (1.0,)
    select: SelectionMetric = "auc"

    def __post_init__(self) -> None:
        """Store the alphas as a tuple; raise ValueError for settings outside their range.

        Alphas are positive and distinct, ``select`` is a metric.
        """
        object.__setattr__(self, "alphas", check_alphas(self.alphas))
        check_metric(self.select)

    def path(self, data: Matrix | Features, targets: Targets) -> RegularizationPath:
        """Return coefficients (alphas, n or d) and held-out scores (alphas, n), all of them 0.

        Nothing is checked.
        """
        size = data.values.shape[1] if isinstance(data, Features) else len(data)
        shape = (len(self.alphas), len(targets))
        return RegularizationPath(
            tuple(self.alphas), np.zeros((len(self.alphas), size)), np.zeros(shape)
        )


def _check_folds(folds: int) -> None:
    """Raise ValueError unless there are at least two folds."""
    if folds < 2:
        raise ValueError(f"folds must be at least 2, got {folds}")
