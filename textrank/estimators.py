"""Learners of this library as scikit-learn estimators, with exact held-out scores in ``heldout_``.

``RLSRegressor``, ``RLSClassifier``, ``RankRLS``, ``RankSVM``, ``G2P`` and ``ReducedKernelMap`` wrap
``textrank.learners``. ``kernel`` is ``"linear"``, another of scikit-learn's kernel names,
``"precomputed"``, a kernel of ``textrank.kernels`` (``X`` may then be any sequence that it
compares), or a function of two matrices or two rows. ``gamma``, ``degree`` and ``coef0`` are passed
to scikit-learn's kernels. In shapes, n is the number of training samples, m of new samples, d of
features, p of outputs and a of alphas.

>>> import numpy as np
>>> from sklearn.model_selection import GridSearchCV
>>> X = np.random.default_rng(0).standard_normal((60, 3))
>>> y = np.sin(X[:, 0])
>>> search = GridSearchCV(RLSRegressor(kernel="rbf"), {"gamma": [0.01, 0.1, 1.0]}, cv=3)
>>> search.fit(X, y).best_params_
{'gamma': 0.1}
>>> search.best_estimator_.heldout_.shape    # every alpha, every sample left out once
(30, 60)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
)
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import check_cv
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from textrank.candidates import PreferenceGraph, Targets
from textrank.features import FeatureNames, Features, Matrix, Vector, count_rows, take_rows
from textrank.learners import multiclass, rankrls, ranksvm
from textrank.learners.base import (
    check_alphas,
    check_gram,
    check_magnitude,
    choose_alpha,
    concordance,
    preference_concordance,
    rows_by_group,
    score_alphas,
)
from textrank.learners.calibration import fit_temperature
from textrank.learners.multiclass import (
    check_code,
    class_similarity,
    decode,
    joint_kernel_path,
    one_vs_all_code,
    solve_code,
)
from textrank.learners.rankrls import Cost
from textrank.learners.reduced import ReducedCoordinates, sample_stratified
from textrank.learners.rls import RLSSolution, solve_rls
from textrank.linalg import gram, is_gram_accurate
from textrank.metrics import choose_largest, merge_ties
from textrank.protocols import Kernel

__all__ = ["G2P", "RLSClassifier", "RLSRegressor", "RankRLS", "RankSVM", "ReducedKernelMap"]

DEFAULT_ALPHAS = tuple(2.0**k for k in range(-15, 15))  # the usual grid of the literature
AnyKernel = str | Callable[..., Any] | Kernel[Any]
NO_TARGETS = "no_validation"  # scikit-learn's value of y for "no targets"


class KernelMachine(BaseEstimator):
    """Base class of the estimators: data through a kernel, and a model on rows or features.

    A model on a linear kernel has ``coef_`` (p, d); any other keeps the training data ``X_fit_``
    and ``dual_coef_`` (n, p).
    """

    alphas: Sequence[float]
    kernel: AnyKernel
    gamma: float | None
    degree: float
    coef0: float

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: pairwise if the kernel is precomputed, else also sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _validate(self, X: Any, y: Any = NO_TARGETS, **checks: Any) -> Any:
        """Validate X and y as scikit-learn does, as float64; return X, or (X, y) if y is given.

        X that is neither array nor sparse is returned as is for a ``Kernel`` object. ``checks`` are
        further arguments of ``validate_data``. Raises ValueError if a number is NaN, infinite, or
        so large that squares overflow (not checked for a precomputed kernel).
        """
        if isinstance(self.kernel, Kernel) and not (sp.issparse(X) or isinstance(X, np.ndarray)):
            return X if y is NO_TARGETS else (X, np.asarray(y))
        validated = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, **checks)
        X, y = (validated, None) if isinstance(y, str) and y == NO_TARGETS else validated
        if self.kernel != "precomputed":  # check_gram knows how large a Gram matrix may be
            check_magnitude(X.data if sp.issparse(X) else X, "features")
        if y is not None and np.issubdtype(y.dtype, np.floating):
            check_magnitude(y, "answers")
        return validated

    def _check_alphas(self) -> tuple[float, ...]:
        """Return the validated parameter ``alphas``; errors have scikit-learn's wording.

        Raises ValueError unless they are one or more different positive numbers.
        """
        try:
            return check_alphas(self.alphas)
        except ValueError:
            raise ValueError(
                f"The 'alphas' parameter of {type(self).__name__} must be a sequence of one or "
                f"more different floats in the range (0.0, inf). Got {self.alphas!r} instead."
            ) from None

    def _training_data(self, X: Any) -> tuple[Any, bool]:
        """Return the training data and whether it is a Gram matrix (n, n), else features (n, d).

        Only ``kernel="linear"`` gives features, so that a model has feature weights; a ``Kernel``
        object never does. Raises ValueError if the values are not a Gram matrix.
        """
        if self.kernel == "precomputed":
            return check_gram(X), True
        if isinstance(self.kernel, str) and self.kernel == "linear":
            return (sp.csr_array(X) if sp.issparse(X) else X), False
        return check_gram(self._compare(X, X)), True

    def _compare(self, X: Any, Y: Any) -> Matrix:
        """Return the kernel of each sample of X with each of Y, (x, y) for x and y samples.

        If the kernel is precomputed, X holds these values and is returned; Y is then ignored.
        ``gamma``, ``degree`` and ``coef0`` are used by scikit-learn's named kernels only.
        """
        if self.kernel == "precomputed":
            return np.asarray(X)
        if isinstance(self.kernel, Kernel):
            return np.asarray(self.kernel(X, Y))
        if callable(self.kernel):
            return _call_kernel(self.kernel, X, Y)
        settings = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return np.asarray(
            pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **settings)
        )

    def _store_model(self, X: Any, coef: Matrix, *, dual: bool) -> None:
        """Store the coefficients (n or d, p) in attributes, and drop an earlier model.

        ``dual``: they belong to the training rows ``X`` and are stored as ``dual_coef_`` together
        with ``X_fit_``; else they are weights of the features, stored transposed as ``coef_``.
        """
        for name in ("X_fit_", "dual_coef_", "coef_"):
            self.__dict__.pop(name, None)
        if dual:
            self.X_fit_, self.dual_coef_ = X, coef
        else:
            self.coef_ = np.ascontiguousarray(coef.T)

    def _scores(self, X: Any) -> Matrix:
        """Return the scores of new samples, (m, p) for p outputs.

        X is validated here (``_validate``); it must hold kernel values (m, n) if the kernel is
        precomputed. Raises NotFittedError before ``fit``.
        """
        check_is_fitted(self, "heldout_")
        X = self._validate(X, reset=False)
        if "coef_" in vars(self):
            return np.asarray(X @ self.coef_.T)
        return np.asarray(self._compare(X, self.X_fit_) @ self.dual_coef_)


def group_rows(labels: Any, X: Any) -> list[NDArray[np.intp]]:
    """Return the row indices of each group; without labels, every row with the rows that equal it.

    ``labels`` has the group of each row, as number or name, or is None. A copy of a held-out row
    would give its answer away, and a row that occurs twice is the same as one of twice the weight.
    Raises ValueError unless there are as many labels as rows.
    """
    n = X.shape[0] if isinstance(X, np.ndarray) or sp.issparse(X) else len(X)
    return rows_by_group(_number_equal_rows(X, n) if labels is None else labels, n)


def _number_equal_rows(X: Any, n: int) -> NDArray[np.intp]:
    """Return a number for each of n rows, (n,), the same for equal rows.

    ``X`` is a dense or sparse matrix; rows of other objects all get different numbers. Stored zeros
    of a sparse matrix count as different from missing ones; a CSR matrix is sorted in place.
    """
    if isinstance(X, np.ndarray):
        rows = [row.tobytes() for row in np.ascontiguousarray(X) + 0.0]  # -0.0 equals 0.0
    elif sp.issparse(X):
        M = sp.csr_array(X)
        M.sum_duplicates()
        ends = zip(M.indptr[:-1], M.indptr[1:], strict=True)
        rows = [M.indices[a:b].tobytes() + M.data[a:b].tobytes() for a, b in ends]
    else:
        return np.arange(n)
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(row, len(numbers)) for row in rows], dtype=np.intp)


def _call_kernel(kernel: Callable[..., Any], X: Any, Y: Any) -> Matrix:
    """Return the Gram matrix of a kernel function of two matrices, or else of two rows.

    The function is first called with both matrices; if that fails or the result has another shape
    than (rows of X, rows of Y), with each two rows.
    """
    try:
        values = np.asarray(kernel(X, Y), dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape == (X.shape[0], Y.shape[0]):
        return values
    return np.asarray(pairwise_kernels(X, Y, metric=kernel))


MIN_PROBABILITY = 1e-9


class RLSRegressor(MultiOutputMixin, RegressorMixin, KernelMachine):
    """Regularised least squares with alpha chosen by exact held-out error.

    >>> X = np.arange(8.0)[:, None]
    >>> model = RLSRegressor(alphas=[0.1, 1.0]).fit(X, 2 * X[:, 0])
    >>> model.alpha_, model.predict([[10.0]]).round(1).tolist()
    (0.1, [20.0])

    Attributes
    ----------
    alpha_ : chosen alpha; an array with one per output if y has several.
    heldout_ : (alphas, samples) or (alphas, samples, outputs), each sample scored without its
        group; if ``groups`` is None, without itself and its copies.
    """

    def __init__(
        self,
        alphas: Sequence[float] = DEFAULT_ALPHAS,
        kernel: AnyKernel = "linear",
        *,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        """Store the parameters in attributes of the same names; nothing is computed or checked."""
        self.alphas = alphas
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> RLSRegressor:
        """Fit the model and choose alpha; returns self.

        ``y`` is (n,) or (n, outputs); alpha has the smallest held-out squared error, for each
        output on its own, of equals the largest. ``groups`` has the group of each row, as number or
        name; a group is held out together. None holds out each row with its copies.
        ``sample_weight`` (n,) are factors of the squared errors, held-out ones too; None: all 1.
        Sets ``alpha_``, ``heldout_`` and the coefficients. Raises ValueError for alphas, weights or
        groups that do not fit, and for a Gram matrix that is not one.
        """
        alphas = self._check_alphas()
        X, y = self._validate(X, y, multi_output=True, y_numeric=True)
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        data, dual = self._training_data(X)
        weights = _check_weights(sample_weight, X)
        rows = group_rows(groups, X)
        solution = solve_rls(data, Y, np.array(alphas), rows, weights=weights, dual=dual)
        heldout = solution.heldout
        error = _mean_squared_error(heldout, Y, weights)
        chosen = np.array([choose_largest(-column, alphas) for column in error.T])
        self._flat = np.ndim(y) == 1
        self.alpha_ = alphas[chosen[0]] if self._flat else np.array(alphas)[chosen]
        self.heldout_ = heldout[:, :, 0] if self._flat else heldout
        self._store_model(X, solution.choose(chosen)[0], dual=dual)
        return self

    def predict(self, X: Any) -> Matrix:
        """Return the predicted values of new samples, (m,) or (m, outputs) as ``y`` was in ``fit``.

        X holds kernel values (m, n) with the training samples if the kernel is precomputed.
        """
        scores = self._scores(X)
        return scores[:, 0] if self._flat else scores


class RLSClassifier(ClassifierMixin, KernelMachine):
    """Regularised least squares on class codes, with alpha chosen by exact held-out scores.

    ``code`` (classes, bits) may be any matrix of -1, 0, 1; None is one bit per class. ``select``
    is ``accuracy``, ``squared_error`` or, for two classes, ``auc`` or ``f``. The intercept, if
    ``fit_intercept``, is not penalised; without it every decision boundary of a linear model
    goes through the origin. ``decoding`` chooses the class from the scores of the bits: ``hamming``
    counts bits of the wrong sign, ``loss`` adds their squared losses. ``class_weight`` is as in
    scikit-learn; weights of classes and samples are multiplied.

    ``joint`` learns on pairs of input and class with the joint kernel ``k(x, x') m(c, c')``, where
    ``m`` is a Gaussian of this width on the rows of ``code``. Classes with similar codes then share
    what they learn. With one-hot codes (None) all classes are equally similar, and the decisions
    are those of one-vs-all. It needs ``fit_intercept=False`` and equal weights.

    >>> X, y = np.arange(8.0)[:, None], ["no"] * 4 + ["yes"] * 4
    >>> model = RLSClassifier(alphas=[0.1, 1.0]).fit(X, y, groups=[0, 0, 1, 1, 2, 2, 3, 3])
    >>> model.predict([[-3.0], [9.0]]).tolist(), model.heldout_.shape
    (['no', 'yes'], (2, 8))

    Attributes
    ----------
    alpha_ : chosen alpha.
    heldout_ : (alphas, samples) for two classes, else (alphas, samples, bits).
    intercept_ : (bits,) added to the scores; zeros unless ``fit_intercept``.
    temperature_ : divisor of the scores before they become probabilities.
    """

    def __init__(
        self,
        alphas: Sequence[float] = DEFAULT_ALPHAS,
        kernel: AnyKernel = "linear",
        *,
        select: Literal["accuracy", "squared_error", "auc", "f"] = "squared_error",
        code: Matrix | None = None,
        decoding: Literal["loss", "hamming"] = "loss",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        fit_intercept: bool = True,
        joint: float | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        """Store the parameters in attributes of the same names; nothing is computed or checked."""
        self.alphas = alphas
        self.kernel = kernel
        self.select = select
        self.code = code
        self.joint = joint
        self.decoding = decoding
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> RLSClassifier:
        """Fit the model and choose alpha by ``select``, of equals the largest; returns self.

        ``y`` has the class of each row, a number or a name. ``groups`` has the group of each row,
        as number or name; a group is held out together. None holds out each row with its copies.
        ``sample_weight`` (n,) are factors of the squared errors, times those of ``class_weight``;
        None: all 1. Sets ``classes_``, ``code_``, ``alpha_``, ``heldout_`` (alphas, n, bits;
        without the last axis for one bit), ``temperature_``, ``intercept_`` and the coefficients.
        Raises ValueError for fewer than two classes, for continuous numbers as classes, and for
        settings that do not fit together.
        """
        alphas = self._check_alphas()
        X, y = self._validate(X, y)
        check_classification_targets(y)
        self.classes_, classes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class only, {self.classes_[0]!r}; at least two are needed")
        self.code_ = self._make_code(len(self.classes_))
        data, dual = self._training_data(X)
        weights = self._class_weights(y, _check_weights(sample_weight, X))
        rows, grid = group_rows(groups, X), np.array(alphas)
        if self.joint is not None:
            solution = self._solve_joint(data, dual, classes, grid, rows, weights)
        elif (self.code_ != 0).all():
            solution = solve_rls(
                data,
                self.code_[classes],
                grid,
                rows,
                weights=weights,
                dual=dual,
                fit_intercept=self.fit_intercept,
            )
        else:
            solution = self._solve_partial(data, dual, classes, grid, rows, weights)
        heldout = solution.heldout
        chosen = self._choose_alpha(heldout, classes, weights)
        self.alpha_ = alphas[chosen]
        self.heldout_ = heldout[:, :, 0] if self.code_.shape[1] == 1 else heldout
        self.temperature_ = fit_temperature(self._logits(heldout[chosen]), classes, weights)
        coef, self.intercept_ = solution.choose(np.full(heldout.shape[2], chosen))
        self._store_model(X, coef, dual=dual)
        return self

    def _solve_joint(
        self,
        data: Any,
        dual: bool,
        classes: NDArray[np.intp],
        alphas: Vector,
        rows: list[NDArray[np.intp]],
        weights: Vector | None,
    ) -> RLSSolution:
        """Solve the joint kernel of inputs and classes; sets ``code_`` to one bit per class.

        Classes are compared by the rows of the earlier ``code_``, or as all equally far apart if
        the parameter ``code`` is None. ``data`` is a Gram matrix (n, n) if ``dual``, else features;
        ``classes`` (n,) has the index of each sample's class, ``rows`` the samples of each held-out
        group. Raises ValueError for weights and an intercept, which the joint kernel does not have.
        """
        if weights is not None or self.fit_intercept:
            raise ValueError(
                "the joint kernel has no weights and no intercept. Set fit_intercept=False and "
                "leave out class_weight and sample_weight."
            )
        number = len(self.classes_)
        code = np.eye(number) if self.code is None else self.code_
        self.code_ = one_vs_all_code(number)
        similarity = class_similarity(code, float(self.joint or 0.0))
        K = data if dual else gram(data)
        A, heldout = joint_kernel_path(K, self.code_[classes], similarity, alphas, rows)
        coefs = A if dual else np.stack([np.asarray(data.T @ coef) for coef in A])
        none = np.zeros((len(alphas), number))
        return RLSSolution(heldout, lambda chosen: (coefs[chosen], none[chosen]))

    def _solve_partial(
        self,
        data: Any,
        dual: bool,
        classes: NDArray[np.intp],
        alphas: Vector,
        rows: list[NDArray[np.intp]],
        weights: Vector | None,
    ) -> RLSSolution:
        """Solve a code with zeros, each of whose bits is learned from some of the classes.

        ``data`` is a Gram matrix if ``dual``, else features; ``classes`` (n,) has the index of each
        sample's class, ``rows`` the samples of each held-out group, ``weights`` (n,) those of the
        squared errors (None: all 1). Raises ValueError if the features are too large for the
        smallest alpha.
        """
        heaviest = 1.0 if weights is None else float(weights.max())
        if not dual and not is_gram_accurate(data, float(alphas.min()) / heaviest):
            raise ValueError(
                "the features are too large, compared with the smallest alpha, for a code with "
                "zeros. Scale them, for example with StandardScaler, use larger alphas, or use a "
                "code without zeros."
            )
        K = data if dual else gram(data)
        A, intercepts, heldout = solve_code(
            K, classes, self.code_, alphas, rows, weights=weights, fit_intercept=self.fit_intercept
        )
        coefs = A if dual else np.stack([data.T @ coef for coef in A])
        return RLSSolution(heldout, lambda chosen: (coefs[chosen], intercepts[chosen]))

    def _scores(self, X: Any) -> Matrix:
        """Return the scores of new samples with the intercept, (m, bits)."""
        return super()._scores(X) + self.intercept_

    def decision_function(self, X: Any) -> Matrix:
        """Return the scores of new samples: (m,) for two classes, else (m, classes).

        For two classes a positive score means the second of ``classes_``. Columns are in the order
        of ``classes_``.
        """
        scores = self._scores(X)
        if self.code_.shape[1] == 1:
            return scores[:, 0]
        logits = self._logits(scores)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: Any) -> Matrix:  # (m, classes)
        """Return probabilities of the classes: the softmax of scores over a temperature.

        The temperature is set on held-out scores with Platt's smoothed targets, so it costs no
        data of its own. The most likely class is the one that ``predict`` gives where codes are
        decoded by their loss. No probability is exactly 0 or 1.
        """
        p = softmax(self._logits(self._scores(X)) / self.temperature_, axis=1)
        return np.asarray((p + MIN_PROBABILITY) / (1 + p.shape[1] * MIN_PROBABILITY))

    def _logits(self, scores: Matrix) -> Matrix:  # (n, bits) -> (n, classes)
        """Return a score per class from a score per bit: the product with the class's code."""
        return np.asarray(scores @ self.code_.T)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the classes of new samples, (m,), as values of ``classes_``.

        Of equally near classes the first counts. X holds kernel values (m, n) if the kernel is
        precomputed. Raises NotFittedError before ``fit``.
        """
        scores = self._scores(X)
        return np.asarray(self.classes_[self._decode(scores)])

    def _decode(self, scores: Matrix) -> NDArray[np.intp]:
        """Return the index of the class of each row of scores, (.., bits) to (..).

        With a code of one bit, a score above 0 is the second class.
        """
        if self.code_.shape[1] == 1:
            return np.asarray(scores[..., 0] > 0, dtype=np.intp)
        return decode(scores, self.code_, self.decoding)

    def _make_code(self, classes: int) -> Matrix:
        """Return the validated code (classes, bits); ``classes`` is their number.

        By default one bit for two classes, else one per class. Raises ValueError if ``code`` does
        not fit.
        """
        if self.code is not None:
            return check_code(self.code, classes)
        return np.array([[-1.0], [1.0]]) if classes == 2 else one_vs_all_code(classes)

    def _class_weights(self, y: NDArray[Any], weights: Vector | None) -> Vector | None:
        """Return the weights of samples times those of their classes, (n,); None if all are 1.

        ``y`` has the class of each sample, ``weights`` the weights of samples or None.
        """
        if self.class_weight is None:
            return weights
        weight_of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        class_weights = weight_of_class[np.searchsorted(self.classes_, y)]
        return class_weights if weights is None else class_weights * weights

    def _choose_alpha(
        self, heldout: Matrix, classes: NDArray[np.intp], weights: Vector | None
    ) -> int:
        """Return the index of the best alpha by the criterion ``select``; of equals the largest.

        ``heldout`` is (a, n, bits), ``classes`` (n,) the index of each sample's class. Weights are
        not used by ``auc`` and ``f``. Raises ValueError if ``select`` is unknown or not for this
        code.
        """
        Y = self.code_[classes]
        if self.select == "accuracy":
            quality = np.average(self._decode(heldout) == classes, axis=1, weights=weights)
        elif self.select == "squared_error":
            quality = -_mean_squared_error(heldout * (Y != 0), Y, weights).sum(axis=1)
        elif self.select in ("auc", "f") and self.code_.shape[1] == 1:
            rows = np.arange(len(Y))
            quality = score_alphas(heldout[:, :, 0], Targets(Y[:, 0], rows, rows), self.select)
        else:
            raise ValueError(
                "select must be accuracy or squared_error, or auc or f for two classes; "
                f"got {self.select!r} for {len(self.classes_)} classes"
            )
        return choose_largest(quality, self._check_alphas())


def _mean_squared_error(heldout: Matrix, Y: Matrix, weights: Vector | None) -> Matrix:  # (a, p)
    """Return the weighted mean squared error at each alpha and output, (a, p).

    ``heldout`` is (a, n, p), ``Y`` (n, p), ``weights`` (n,) or None for equal ones.
    """
    return np.asarray(np.average((heldout - Y) ** 2, axis=1, weights=weights))


def _check_weights(sample_weight: Any, X: Any) -> Vector | None:
    """Return validated sample weights, (n,); None if there are none.

    Zeros become 1e-14 of the largest weight, so that such a sample is scored too. Raises ValueError
    if one is negative or all are zero.
    """
    if sample_weight is None:
        return None
    weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if (weights < 0).any() or not weights.any():
        raise ValueError("sample_weight must not be negative, nor zero for all samples")
    # A weight below round-off is no weight, and still lets the sample be scored when held out.
    return np.maximum(weights, weights.max() * 1e-14)


class _Ranker(KernelMachine):
    """Base class of RankRLS and RankSVM: scores, and agreement with the labels as quality.

    Subclasses set ``_flat`` and implement ``fit``.
    """

    _flat: bool  # whether labels were (n,), not (n, outputs)

    def predict(self, X: Any) -> Matrix:
        """Return the scores of new samples, (m,) or (m, outputs); higher is better.

        X holds kernel values (m, n) if the kernel is precomputed. Raises NotFittedError before
        ``fit``.
        """
        scores = self._scores(X)
        return scores[:, 0] if self._flat else scores

    def score(self, X: Any, y: Any = None, queries: Any = None, preferences: Any = None) -> float:
        """Return the share of pairs in the right order; ties in scores count one half.

        Pairs are the rows of ``preferences`` (better, worse[, magnitude]), or those with different
        labels ``y``, averaged over queries. ``queries`` has the query of each sample; None: all are
        one query. Queries without different labels are left out. Scores equal up to round-off are
        tied; magnitudes do not count. Raises ValueError if there are no pairs, if preferences are
        given together with labels or queries, or if neither preferences nor labels are given.
        """
        self._check_targets(y, queries, preferences)
        scores = merge_ties(self.predict(X))
        if preferences is not None:
            graph = _parse_preferences(preferences, len(scores))
            return float(preference_concordance(scores[None], graph)[0])
        labels = np.asarray(y, dtype=np.float64)
        rows = [np.arange(len(labels))] if queries is None else rows_by_group(queries, len(labels))
        shares = [concordance(scores[None, part], labels[part])[0] for part in rows]
        if np.isnan(shares).all():
            raise ValueError(
                "no query has samples with different labels, so there are no pairs to score"
            )
        return float(np.nanmean(shares))

    def _targets(self, X: Any, y: Any, queries: Any, groups: Any, preferences: Any) -> Targets:
        """Return the targets of ``fit`` for validated samples; ``y`` is (n,) or (n, outputs).

        Groups are those given; by default, with preferences, single samples together with their
        copies, even if queries are given; otherwise whole queries or, without queries, single
        samples. Queries None is one query. With preferences the labels are 0. Raises ValueError for
        fewer than two samples, for another number of groups or queries than samples, and for
        preferences that ``_parse_preferences`` refuses.
        """
        n = count_rows(X)
        if n < 2:
            raise ValueError(f"n_samples={n}: ranking compares samples, so it needs at least two")
        query = np.zeros(n, dtype=np.intp) if queries is None else _number_queries(queries, n)
        graph = None if preferences is None else _parse_preferences(preferences, n)
        if groups is not None:
            rows_by_group(groups, n, name="groups")
            unit = np.unique(np.asarray(groups), return_inverse=True)[1]
        elif graph is not None:
            unit = _number_equal_rows(X, n)
        else:
            unit = np.arange(n) if queries is None else query
        if graph is not None:
            return Targets(np.zeros(n), unit, query, preferences=graph)
        return Targets(np.asarray(y, dtype=np.float64), unit, query)

    def _check_targets(self, y: Any, queries: Any, preferences: Any) -> None:
        """Raise ValueError unless either labels, maybe with queries, or preferences are given.

        Each is missing if it is None. Their content is not checked.
        """
        if preferences is not None and (y is not None or queries is not None):
            raise ValueError("give either preferences or labels (y, queries), not both")
        if preferences is None and y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None; pass y or preferences"
            )


class RankRLS(_Ranker):
    """Regularised least squares on preferences, with alpha chosen by exact hold-out.

    ``fit(X, y, queries=...)`` ranks within queries, which are held out whole; without queries it
    ranks globally, every sample held out on its own. ``fit(X, preferences=...)`` takes rows
    (better, worse) or (better, worse, magnitude) instead of labels; a sample is then held out with
    all its preferences. ``groups`` in ``fit`` says which samples are held out together instead.

    ``cost`` says which difference of two scores is asked for: ``magnitude``, that of their labels;
    ``sign``, 1; ``bound``, that of the labels with errors relative to it. ``ties`` counts pairs of
    equal labels too (``magnitude`` only), ``normalised`` divides the weight of a query's pairs by
    their number.

    >>> X, y = np.array([[0.0], [1.0], [0.0], [2.0]]), [1.0, 2.0, 7.0, 9.0]
    >>> scores = RankRLS(alphas=[1.0]).fit(X, y, queries=[0, 0, 1, 1]).predict(X)
    >>> bool(scores[1] > scores[0]), bool(scores[3] > scores[2])
    (True, True)
    >>> RankRLS(alphas=[1.0]).fit(X, preferences=[[1, 0], [3, 2]]).score(X, y)
    0.75

    Attributes
    ----------
    alpha_ : chosen alpha; an array with one per output if y has several.
    heldout_ : (alphas, samples) or (alphas, samples, outputs), each sample scored without its
        group.
    """

    def __init__(
        self,
        alphas: Sequence[float] = DEFAULT_ALPHAS,
        kernel: AnyKernel = "linear",
        *,
        cost: Cost = "magnitude",
        ties: bool = True,
        normalised: bool = False,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        """Store the parameters in attributes of the same names; nothing is computed or checked."""
        self.alphas = alphas
        self.kernel = kernel
        self.cost = cost
        self.ties = ties
        self.normalised = normalised
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(
        self,
        X: Any,
        y: Any = None,
        queries: Any = None,
        preferences: Any = None,
        groups: Any = None,
    ) -> RankRLS:
        """Fit the model from labels ``y``, or from ``preferences`` between rows; returns self.

        ``y`` is (n,) or (n, outputs); alpha is chosen for each output by held-out disagreement, of
        equals the largest. ``queries`` has the query of each row, with labels only; None ranks all
        rows together. ``groups`` has the group of each row; groups are held out together and must
        hold whole queries; None: queries, else single rows (with their copies for preferences).
        ``preferences`` are rows (better, worse[, magnitude]). Sets ``alpha_``, ``heldout_`` (both
        with an axis of outputs if ``y`` has one) and the coefficients. Raises ValueError if
        preferences are given with labels or queries, or neither labels nor preferences are.
        """
        self._check_targets(y, queries, preferences)
        learner = rankrls.RankRLS(
            alphas=self._check_alphas(),
            cost=self.cost,
            ties=self.ties,
            normalised=self.normalised,
            scope="global" if queries is None and preferences is None else "query",
        )
        if preferences is not None:
            X = self._validate(X)
        else:
            X, y = self._validate(X, y, multi_output=True, y_numeric=True)
        self._flat = np.ndim(y) < 2
        Y = np.zeros((count_rows(X), 1)) if y is None else np.asarray(y, dtype=np.float64)
        Y = Y.reshape(len(Y), -1)
        targets = self._targets(X, Y[:, 0], queries, groups, preferences)
        data, dual = self._training_data(X)
        A, heldout = learner.solve(data if dual else _name_features(data), Y, targets)
        chosen = [
            choose_alpha(
                heldout[:, :, k], replace(targets, y=Y[:, k]), "disagreement", learner.alphas
            )
            for k in range(Y.shape[1])
        ]
        self.alpha_ = learner.alphas[chosen[0]] if self._flat else np.array(learner.alphas)[chosen]
        self.heldout_ = heldout[:, :, 0] if self._flat else heldout
        coef = np.column_stack([A[a, :, k] for k, a in enumerate(chosen)])
        self._store_model(X, coef, dual=dual)
        return self


class RankSVM(_Ranker):
    """Linear or kernel RankSVM; alpha chosen by ``folds`` folds of groups, by default of queries.

    Labels, queries, preferences and groups are those of ``RankRLS``; ``y`` is (n,). ``loss`` is
    ``hinge`` or ``squared_hinge``, ``size`` the number of basis samples of a kernel; None takes
    all. ``alpha_`` is the chosen alpha, ``heldout_`` (alphas, samples) has the held-out scores.

    >>> X, y = np.array([[0.0], [1.0], [0.0], [2.0]]), [1.0, 2.0, 7.0, 9.0]
    >>> scores = RankSVM(alphas=[1.0], folds=2).fit(X, y, queries=[0, 0, 1, 1]).predict(X)
    >>> bool(scores[1] > scores[0]), bool(scores[3] > scores[2])
    (True, True)
    """

    _flat = True

    def __init__(
        self,
        alphas: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0),
        kernel: AnyKernel = "linear",
        *,
        loss: ranksvm.Loss = "hinge",
        size: int | None = None,
        folds: int = 5,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        """Store the parameters in attributes of the same names; nothing is computed or checked."""
        self.alphas = alphas
        self.kernel = kernel
        self.loss = loss
        self.size = size
        self.folds = folds
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(
        self,
        X: Any,
        y: Any = None,
        queries: Any = None,
        preferences: Any = None,
        groups: Any = None,
    ) -> RankSVM:
        """Fit the model from labels, or from ``preferences`` between rows; returns self.

        Alpha is chosen by held-out disagreement, of equals the largest. ``queries`` has the query
        of each row; None ranks all rows together, and folds are then of single rows (of rows with
        their copies for preferences). ``groups`` has the group of each row, to be kept in one fold.
        Sets ``alpha_``, ``heldout_`` and the model. Raises ValueError if preferences are given with
        labels or queries, or neither labels nor preferences are, and if all rows are in one group.
        """
        self._check_targets(y, queries, preferences)
        alphas = self._check_alphas()
        learner = ranksvm.RankSVM(alphas=alphas, folds=self.folds, loss=self.loss, size=self.size)
        if preferences is not None:
            X = self._validate(X)
        else:
            X, y = self._validate(X, y, y_numeric=True)
        targets = self._targets(X, y, queries, groups, preferences)
        data, dual = self._training_data(X)
        fit = learner.fit(data if dual else _name_features(data), targets)
        self.alpha_, self.heldout_ = fit.alpha, fit.heldout
        self._store_model(X, fit.coef[:, None], dual=dual)
        return self


def _number_queries(labels: Any, n: int) -> NDArray[np.intp]:
    """Return the query of each sample as a number from 0, (n,), in sorted order of the labels.

    Raises ValueError unless there are n labels.
    """
    rows_by_group(labels, n, name="queries")
    return np.unique(np.asarray(labels), return_inverse=True)[1]


def _name_features(X: Any) -> Features:
    """Return features (n, d) as Features whose columns are named by their index."""
    return Features(
        sp.csr_array(X), FeatureNames.from_iterable([str(i) for i in range(X.shape[1])])
    )


def _parse_preferences(preferences: Any, n: int) -> PreferenceGraph:
    """Return preferences (l, 2 or 3), rows (better, worse[, magnitude]), as a graph of n samples.

    The magnitude is 1 if there is no third column; there are no queries. Raises ValueError for rows
    that are not of two different samples 0 .. n - 1, for magnitudes that are not positive and
    finite, and without rows.
    """
    rows = np.asarray(preferences, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] not in (2, 3) or not len(rows):
        raise ValueError(
            f"preferences must be rows (better, worse[, magnitude]), got shape {rows.shape}"
        )
    with np.errstate(invalid="ignore"):
        pairs = rows[:, :2].astype(np.intp)
    if (pairs != rows[:, :2]).any() or pairs.min() < 0 or pairs.max() >= n:
        raise ValueError(f"preferences must name rows 0 .. {n - 1} of X")
    magnitude = rows[:, 2] if rows.shape[1] == 3 else np.ones(len(pairs))
    if not (np.isfinite(magnitude) & (magnitude > 0)).all() or (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError("a preference is between two different rows, with a positive magnitude")
    return PreferenceGraph(pairs, magnitude)


class ReducedKernelMap(TransformerMixin, KernelMachine):
    """Features of a kernel on a sampled basis (Nyström), with exact cross-validation.

    Inner products of the features are ``k(x, R) K_RR^-1 k(R, z)`` for the basis ``R``, so that any
    linear learner on them is a learner with this kernel. Basis samples of a test fold would let
    training know where the test samples lie. ``iter_folds`` removes them from the features of each
    fold at the cost of the removed vectors alone, and ``cross_val_predict`` uses it (Airola,
    Pahikkala and Salakoski 2011, Theorem 1).

    >>> from sklearn.svm import LinearSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2))
    >>> y = np.where((X**2).sum(axis=1) > 1.4, 1, 0)
    >>> features = ReducedKernelMap("rbf", size=20, gamma=0.5)
    >>> predicted = features.cross_val_predict(LinearSVC(C=10.0), X, y, cv=5)
    >>> bool((predicted == y).mean() > 0.85)
    True

    Attributes
    ----------
    basis_ : (b,) rows of the basis among the training samples.
    X_fit_ : training samples.
    projection_ : (b, r) from kernel values with the basis to features.
    """

    def __init__(
        self,
        kernel: AnyKernel = "rbf",
        *,
        size: int = 500,
        random_state: int = 0,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        """Store the parameters in attributes of the same names; nothing is computed or checked."""
        self.kernel = kernel
        self.size = size
        self.random_state = random_state
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> ReducedKernelMap:
        """Sample the basis, evenly over ``groups`` if they are given, and return self.

        Sets ``basis_`` (ascending rows), ``X_fit_`` and ``projection_``. ``y`` is not used. All
        samples are the basis if there are at most ``size``. Raises ValueError if ``size`` is below
        1 or all kernel values of the basis are zero.
        """
        self._coordinates(self._validate(X), groups)
        return self

    def transform(self, X: Any) -> Matrix:
        """Return the features of new samples, (m, r).

        X holds kernel values (m, n) if the kernel is precomputed. Raises NotFittedError before
        ``fit``.
        """
        check_is_fitted(self, "projection_")
        X = self._validate(X, reset=False)
        if self.kernel == "precomputed":
            return np.asarray(X[:, self.basis_] @ self.projection_)
        return np.asarray(self._compare(X, take_rows(self.X_fit_, self.basis_)) @ self.projection_)

    def iter_folds(
        self, X: Any, y: Any = None, groups: Any = None, cv: Any = 5
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Matrix]]:
        """Fit the map and yield training rows, test rows and the features (n, r) of each fold.

        Features are on the basis without its test rows. ``cv`` is a number of folds (stratified by
        ``y`` if that are classes) or a scikit-learn splitter, which gets ``y`` and ``groups``.
        """
        X = self._validate(X)
        coordinates = self._coordinates(X, groups)
        splitter = check_cv(cv, y, classifier=y is not None and type_of_target(y) != "continuous")
        for train, test in splitter.split(np.zeros(count_rows(X)), y, groups):
            yield train, test, coordinates.without_rows(test)

    def cross_val_predict(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        cv: Any = 5,
        method: str = "predict",
    ) -> NDArray[Any]:
        """Return the predictions of every sample by a clone of a linear ``estimator``.

        Each fold is predicted by training on the others, on features without the fold's basis
        samples. ``cv`` is a number of folds or a scikit-learn splitter, which gets ``y`` and
        ``groups`` and must test every sample; ``method`` is the name of the estimator's method to
        call. The estimator's penalty must not depend on the directions of the features; a squared
        norm does not. The map is fitted too, and the estimator is not changed.
        """
        y = np.asarray(y)
        parts = []
        for train, test, features in self.iter_folds(X, y, groups, cv):
            model = clone(estimator).fit(features[train], y[train])
            parts.append((test, np.asarray(getattr(model, method)(features[test]))))
        first = parts[0][1]
        predictions = np.empty((len(y), *first.shape[1:]), dtype=first.dtype)
        for test, values in parts:
            predictions[test] = values
        return predictions

    def _coordinates(self, X: Any, groups: Any) -> ReducedCoordinates:
        """Sample the basis, store the map, and return the coordinates of the training samples.

        Sets ``basis_`` (sorted), ``X_fit_`` and ``projection_``. ``groups`` (n,) or None is what
        the basis is sampled evenly over. Raises ValueError if ``size`` is below 1, there are not as
        many groups as samples, or all kernel values of the basis are zero.
        """
        n = count_rows(X)
        if self.size < 1:
            raise ValueError(f"size must be at least 1, got {self.size}")
        units = np.arange(n) if groups is None else np.asarray(groups)
        rows_by_group(units, n, name="groups")
        self.basis_ = np.arange(n)
        if self.size < n:
            rng = np.random.default_rng(self.random_state)
            self.basis_ = np.sort(sample_stratified(units, self.size, rng))
        if self.kernel == "precomputed":
            columns = np.asarray(X)[:, self.basis_]
        else:
            columns = self._compare(X, take_rows(X, self.basis_))
        coordinates = ReducedCoordinates.from_columns(columns, self.basis_)
        self.X_fit_, self.projection_ = X, np.ascontiguousarray(coordinates.pinv.T)
        return coordinates

    @property
    def _n_features_out(self) -> int:
        """Number of features, for scikit-learn."""
        return int(self.projection_.shape[1])


class G2P(TransformerMixin, KernelMachine):
    """Supervised embedding of the samples' similarities (G2P, Mu et al. 2012).

    Two samples get similar coordinates if they have the same class and one is among the
    ``neighbours`` nearest of the other (each, if ``mutual``); None counts classes only.
    ``alpha`` is the regularisation. ``size`` is the number of dimensions; None takes the smallest
    with a ``share`` of the squared eigenvalues. ``fit`` sets ``projection_`` (n, dimensions) and
    ``X_fit_``, the training samples. See ``textrank.learners.multiclass.G2P`` for the objective.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> G2P(size=2).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        kernel: AnyKernel = "rbf",
        *,
        alpha: float = 1.0,
        neighbours: int | None = 10,
        mutual: bool = False,
        size: int | None = None,
        share: float = 0.9,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        """Store the parameters in attributes of the same names; nothing is computed or checked."""
        self.kernel = kernel
        self.alpha = alpha
        self.neighbours = neighbours
        self.mutual = mutual
        self.size = size
        self.share = share
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any) -> G2P:
        """Find the projection and return self.

        ``y`` are classes, (n,), or an indicator matrix (n, classes) of several per sample. Raises
        ValueError if a parameter is out of its range or ``y`` is continuous.
        """
        X, y = self._validate(X, y, multi_output=True)
        learner = multiclass.G2P(
            alpha=self.alpha,
            neighbours=self.neighbours,
            mutual=self.mutual,
            size=self.size,
            share=self.share,
        )
        S = self._compare(X, X)
        self.projection_ = learner.fit(S, _class_matrix(y))
        self.X_fit_ = X
        return self

    def transform(self, X: Any) -> Matrix:
        """Return the embedding of new samples, (m, dimensions).

        X holds kernel values (m, n) if the kernel is precomputed. Raises NotFittedError before
        ``fit``.
        """
        check_is_fitted(self, "projection_")
        X = self._validate(X, reset=False)
        return np.asarray(self._compare(X, self.X_fit_) @ self.projection_)

    @property
    def _n_features_out(self) -> int:
        """Number of columns of the embedding, for scikit-learn."""
        return int(self.projection_.shape[1])


def _class_matrix(y: NDArray[Any]) -> Matrix:
    """Return the class matrix that G2P learns from, for single or multiple classes.

    ``y`` are classes (n,) in any type (kind "single" of ``multiclass.class_matrix``), or an
    indicator matrix (n, classes) (kind "multi"). Raises ValueError if ``y`` is continuous.
    """
    if type_of_target(y) == "multilabel-indicator":
        return multiclass.class_matrix(np.asarray(y, dtype=np.float64), "multi")
    check_classification_targets(y)
    names, numbers = np.unique(y, return_inverse=True)
    return multiclass.class_matrix(np.eye(len(names))[numbers], "single")
