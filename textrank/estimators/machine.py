"""What the estimators share: data through a kernel, and the model on rows or on features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted, validate_data

from textrank.learners.checks import check_alphas, check_gram, check_magnitude, groups_of
from textrank.types import Kernel, Matrix

GRID = tuple(2.0**k for k in range(-15, 15))  # that of the literature
AnyKernel = str | Callable[..., Any] | Kernel[Any]
NO_LABELS = "no_validation"  # scikit-learn's word for it


class KernelMachine(BaseEstimator):
    """What the estimators share: data through a kernel, and the model on rows or features."""

    alphas: Sequence[float]
    kernel: AnyKernel
    gamma: float | None
    degree: float
    coef0: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _read(self, X: Any, y: Any = NO_LABELS, **checks: Any) -> Any:
        """Validate X and y as scikit-learn does; X stays as it is for a kernel on other things.

        Raises ValueError where a number is NaN, infinite, or so large that squares overflow.
        """
        if isinstance(self.kernel, Kernel) and not (sp.issparse(X) or isinstance(X, np.ndarray)):
            return X if y is NO_LABELS else (X, np.asarray(y))
        found = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, **checks)
        X, y = (found, None) if isinstance(y, str) and y == NO_LABELS else found
        if self.kernel != "precomputed":  # check_gram knows how large a Gram matrix may be
            check_magnitude(X.data if sp.issparse(X) else X, "features")
        if y is not None and np.issubdtype(y.dtype, np.floating):
            check_magnitude(y, "answers")
        return found

    def _check_alphas(self) -> tuple[float, ...]:
        """Validate the parameter ``alphas``, with the message that scikit-learn would give."""
        try:
            return check_alphas(self.alphas)
        except ValueError:
            raise ValueError(
                f"The 'alphas' parameter of {type(self).__name__} must be a sequence of one or "
                f"more different floats in the range (0.0, inf). Got {self.alphas!r} instead."
            ) from None

    def _data(self, X: Any) -> tuple[Any, bool]:
        """What is learned from: features of a linear kernel, or else a Gram matrix."""
        if self.kernel == "precomputed":
            return check_gram(X), True
        if isinstance(self.kernel, str) and self.kernel == "linear":
            return (sp.csr_array(X) if sp.issparse(X) else X), False
        return check_gram(self._compare(X, X)), True

    def _compare(self, X: Any, Y: Any) -> Matrix:
        if self.kernel == "precomputed":
            return np.asarray(X)
        if isinstance(self.kernel, Kernel):
            return np.asarray(self.kernel(X, Y))
        if callable(self.kernel):
            return _called(self.kernel, X, Y)
        settings = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return np.asarray(
            pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **settings)
        )

    def _keep(self, X: Any, coef: Matrix, *, dual: bool) -> None:
        """Keep the model (n or d, p) and drop an earlier one.

        ``dual`` tells coefficients of the training rows from weights of the features.
        """
        for name in ("X_fit_", "dual_coef_", "coef_"):
            self.__dict__.pop(name, None)
        if dual:
            self.X_fit_, self.dual_coef_ = X, coef
        else:
            self.coef_ = np.ascontiguousarray(coef.T)

    def _scores(self, X: Any) -> Matrix:
        check_is_fitted(self, "heldout_")
        X = self._read(X, reset=False)
        if "coef_" in vars(self):
            return np.asarray(X @ self.coef_.T)
        return np.asarray(self._compare(X, self.X_fit_) @ self.dual_coef_)


def rows_of(labels: Any, X: Any) -> list[NDArray[np.intp]]:
    """The rows of each group; where there are none, every row with the rows that equal it.

    A copy of a held-out row would give its answer away, and a row that stands twice is the same
    as one of twice the weight.
    """
    n = X.shape[0] if isinstance(X, np.ndarray) or sp.issparse(X) else len(X)
    return groups_of(_copies(X, n) if labels is None else labels, n)


def _copies(X: Any, n: int) -> NDArray[np.intp]:
    """A number for each row, the same for equal ones."""
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


def _called(kernel: Callable[..., Any], X: Any, Y: Any) -> Matrix:
    try:
        values = np.asarray(kernel(X, Y), dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape == (X.shape[0], Y.shape[0]):
        return values
    return np.asarray(pairwise_kernels(X, Y, metric=kernel))
