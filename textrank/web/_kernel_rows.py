"""Kernel values between candidates, for active learning.

``build_rows`` wraps the represented candidates of a pipeline: as ``FeatureRows`` if the kernel has
explicit features, so that values with all candidates are one sparse product, else as
``KernelRows``, which calls the kernel and keeps its answers. Both have the same methods; a
candidate is addressed by its row number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from textrank.explanation import mean_features, mean_row, subtract_mean
from textrank.features import FeatureNames, Features, Indices, Matrix, MultiView, Vector, take_rows
from textrank.linalg import gram, squared_norms
from textrank.protocols import AdditiveKernel, Explanation, Kernel, has_features

Rows: TypeAlias = "FeatureRows | KernelRows"
MEAN_SAMPLE_SIZE = 50  # candidates whose mean contributions are computed, if it takes the kernel
MIN_SQUARED_NORM = 1e-300  # instead of 0, to divide by


def build_rows(kernel: Kernel[Any], X: Sequence[Any]) -> Rows:
    """Return the rows of represented candidates ``X``, which are numbered in their order.

    ``FeatureRows`` if the kernel has explicit features, else ``KernelRows``.
    """
    if has_features(kernel):
        features = kernel.features(X)
        return FeatureRows(sp.csr_array(features.values), features.names)
    return KernelRows(kernel, X)


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Candidates as rows of a sparse feature matrix with the linear kernel.

    n is the number of candidates, d that of features. Do not modify: means and columns are cached.
    """

    values: sp.csr_array  # (n, d)
    names: FeatureNames  # (d,)
    squared_norms: Vector = field(init=False, repr=False)  # (n,), k(x, x)
    _means: dict[str, Vector] = field(default_factory=dict, init=False, repr=False)
    _columns: dict[int, Indices] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "squared_norms", squared_norms(self.values))

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def mean_features(self, question: str, rows: Sequence[int]) -> Vector:
        """Return the mean features (d,) of the candidates that ask a question.

        Cached by ``question``.

        ``rows`` are their row numbers, which are read only at the first call for a question.
        Features that few of them have count 0, see ``textrank.explanation.mean_features``.
        """
        if question not in self._means:
            values = self.values if len(rows) == len(self) else self.values[np.array(rows)]
            self._means[question] = mean_features(Features(values, self.names))
        return self._means[question]

    def find_columns(self, names: FeatureNames) -> Indices:
        """Return the column of each of ``names``, or -1; cached by the identity of ``names``.

        The caller must keep ``names`` alive as long as these rows.
        """
        if id(names) not in self._columns:
            self._columns[id(names)] = self.names.find(names)
        return self._columns[id(names)]

    def explain(self, row: int, weights: Vector, mean: Vector) -> Explanation:
        """Return what each feature adds to the score of a row, relative to the mean candidate.

        ``weights`` and ``mean`` have shape (d,). Features with their contributions, largest
        magnitude first, and last what the mean candidate scores; features that make no difference
        are left out. The values sum to the score ``weights @ x``.
        """
        x = self.values[[row]]
        added = sp.csr_array((x.data * weights[x.indices], x.indices, x.indptr), x.shape)
        return subtract_mean(Features(added, self.names), mean * weights)[0]

    def dense_row(self, row: int) -> Vector:
        """Return the features of one candidate as a dense vector (d,)."""
        dense = np.zeros(self.values.shape[1])
        span = slice(self.values.indptr[row], self.values.indptr[row + 1])
        dense[self.values.indices[span]] = self.values.data[span]
        return dense

    def kernel_row(self, row: int) -> Vector:
        """Return the kernel values (n,) of the candidate ``row`` with all."""
        return np.asarray(self.values @ self.dense_row(row))

    def kernel_columns(self, rows: Indices) -> Matrix:
        """Return the kernel values (n, len(rows)) of all candidates with those of ``rows``."""
        dense = np.zeros((self.values.shape[1], len(rows)))
        selected = self.values[rows].tocoo()
        dense[selected.col, selected.row] = selected.data
        return np.asarray(self.values @ dense)

    def cross_gram(self, rows: Indices, others: Indices) -> Matrix:
        """Return the kernel values (len(rows), len(others)) between two sets of row numbers."""
        if not len(rows) or not len(others):
            return np.empty((len(rows), len(others)))
        return np.asarray(gram(self.values[rows], self.values[others]))

    def gram(self, rows: Indices) -> Matrix:
        """Return the Gram matrix (len(rows), len(rows)) of the candidates ``rows``."""
        return gram(self.values[rows])

    def feature_weights(self, rows: Indices, coef: Vector) -> Vector:
        """Return the weight of each feature (d,): the sum of ``coef`` times the given rows.

        ``coef`` has one entry per entry of ``rows``, which must be distinct.
        """
        all_coef = np.zeros(len(self))
        all_coef[rows] = coef
        return np.asarray(self.values.T @ all_coef)

    def scores(self, rows: Indices, coef: Vector) -> Vector:
        """Return ``sum_i coef_i k(x_i, x)`` (n,) for all candidates x, with x_i the given rows.

        ``rows`` must be distinct.
        """
        return np.asarray(self.values @ self.feature_weights(rows, coef))

    def density(self) -> Vector:
        """Return the mean cosine of each candidate with all, divided by the largest of them, (n,).

        Clipped to [0, 1]; ones if no mean is positive.
        """
        norms = np.sqrt(np.maximum(self.squared_norms, MIN_SQUARED_NORM))
        mean = np.asarray(self.values.T @ (1 / norms)) / max(len(self), 1)
        return _divide_by_max(np.asarray(self.values @ mean) / norms)

    def append(self, features: Features) -> FeatureRows:
        """Return these rows followed by others; these rows keep their numbers and are not changed.

        The others may have features that these lack, and the other way round.
        """
        both = Features.vstack([Features(self.values, self.names), features])
        return FeatureRows(sp.csr_array(both.values), both.names)


@dataclass(eq=False)
class KernelRows:
    """Candidates that only a kernel can compare; kernel rows are cached once computed.

    ``X`` are the n represented candidates.
    """

    kernel: Kernel[Any]
    X: Sequence[Any]
    squared_norms: Vector = field(init=False, repr=False)  # (n,), k(x, x)
    _kernel_rows: dict[int, Vector] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.squared_norms = np.asarray(self.kernel.diag(self.X))

    def __len__(self) -> int:
        return len(self.squared_norms)

    def kernel_row(self, row: int) -> Vector:
        """Return the kernel values (n,) of the candidate ``row`` with all; cached."""
        if row not in self._kernel_rows:
            x = take_rows(self.X, np.array([row], dtype=np.intp))
            self._kernel_rows[row] = np.asarray(self.kernel(x, self.X))[0]
        return self._kernel_rows[row]

    def kernel_columns(self, rows: Indices) -> Matrix:
        """Return the kernel values (n, len(rows)) of all candidates with those of ``rows``; cached.

        ``rows`` must not be empty.
        """
        new = np.array([row for row in rows.tolist() if row not in self._kernel_rows], np.intp)
        if len(new):
            values = np.asarray(self.kernel(take_rows(self.X, new), self.X))
            self._kernel_rows.update(zip(new.tolist(), values, strict=True))
        return np.column_stack([self._kernel_rows[row] for row in rows.tolist()])

    def cross_gram(self, rows: Indices, others: Indices) -> Matrix:
        """Return the kernel values (len(rows), len(others)) between two sets of row numbers.

        Not cached.
        """
        if not len(rows) or not len(others):
            return np.empty((len(rows), len(others)))
        return np.asarray(self.kernel(take_rows(self.X, rows), take_rows(self.X, others)))

    def gram(self, rows: Indices) -> Matrix:
        """Return the Gram matrix (len(rows), len(rows)) of the candidates ``rows``; not cached."""
        if not len(rows):
            return np.empty((0, 0))
        return np.asarray(self.kernel(take_rows(self.X, rows)))

    def scores(self, rows: Indices, coef: Vector) -> Vector:
        """Return ``sum_i coef_i k(x_i, x)`` (n,) for all candidates x, with x_i the given rows.

        The kernel rows of x_i are cached.
        """
        scores = np.zeros(len(self))
        for row, value in zip(rows.tolist(), coef, strict=True):
            scores += value * self.kernel_row(row)
        return scores

    def density(self, sample_size: int = 100) -> Vector:
        """Return the mean cosine of each candidate with a sample, divided by the largest, (n,).

        The sample is about ``sample_size`` candidates, evenly spaced. Clipped to [0, 1]; ones if no
        mean is positive.
        """
        step = max(1, len(self) // sample_size)
        norms = np.sqrt(np.maximum(self.squared_norms, MIN_SQUARED_NORM))
        sample = np.arange(0, len(self), step)
        cosines = np.asarray(self.kernel(take_rows(self.X, sample), self.X))
        cosines = cosines / norms[sample][:, None]
        return _divide_by_max(cosines.sum(axis=0) / norms)

    def explain(self, row: int, rows: Indices, coef: Vector) -> Explanation:
        """Return what each named part of the kernel adds to a score, relative to the mean.

        ``row`` is the candidate x whose score ``sum_i coef_i k(x_i, x)`` is explained, with x_i the
        candidates ``rows``. The mean is over at most ``MEAN_SAMPLE_SIZE`` candidates. Largest
        magnitude first, and last the mean; the values sum to the score. Empty if the kernel cannot
        split its values or ``rows`` is empty.
        """
        if not isinstance(self.kernel, AdditiveKernel) or not len(rows):
            return []
        support = take_rows(self.X, rows)
        sample = np.unique(np.linspace(0, len(self) - 1, MEAN_SAMPLE_SIZE).astype(np.intp))
        mean = mean_row(self.kernel.contributions(take_rows(self.X, sample), support, coef))
        x = take_rows(self.X, np.array([row], dtype=np.intp))
        both = Features.vstack([self.kernel.contributions(x, support, coef), mean])
        return subtract_mean(both[:-1], both.values[[-1]].toarray()[0])[0]


def concat_representations(one: Any, other: Any) -> Any:
    """Return two batches of represented candidates of the same kind, one after the other.

    Kinds are ``MultiView`` (with the views of ``one``), ``Features`` and arrays. Raises ValueError
    for others, and if the two differ.
    """
    if isinstance(one, MultiView) and isinstance(other, MultiView):
        return MultiView(
            {name: concat_representations(one.view(name), other.view(name)) for name in one.views}
        )
    if isinstance(one, Features) and isinstance(other, Features):
        return Features.vstack([one, other])
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.concatenate([one, other])
    raise ValueError(
        f"a model whose candidates are {type(one).__name__} can be curated, but not exported with "
        "the answers. Begin with the pipeline and a corpus instead."
    )


def _divide_by_max(values: Vector) -> Vector:
    """Return values divided by the largest and clipped to [0, 1]; ones if none is positive."""
    largest = float(values.max(initial=0.0))
    return np.clip(values / largest, 0.0, 1.0) if largest > 0 else np.ones(len(values))
