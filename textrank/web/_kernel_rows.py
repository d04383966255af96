"""Candidates as rows to compare: by explicit features where the kernel has them, else by it."""

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
AVERAGE_SAMPLE_SIZE = 50  # candidates that an average is taken over, where each has to be compared


def build_rows(kernel: Kernel[Any], X: Sequence[Any]) -> Rows:
    """The rows of what a representation gave."""
    if has_features(kernel):
        found = kernel.features(X)
        return FeatureRows(sp.csr_array(found.values), found.names)
    return KernelRows(kernel, X)


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Rows of a sparse matrix: a comparison with all others is one product with a vector."""

    values: sp.csr_array
    names: FeatureNames
    squared_norms: Vector = field(init=False, repr=False)
    _averages: dict[str, Vector] = field(default_factory=dict, init=False, repr=False)
    _found: dict[int, Indices] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "own", squared_norms(self.values))

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def mean_features(self, asked: str, alike: Sequence[int]) -> Vector:
        """The average value of each feature that many of the rows asking the same have; kept."""
        if asked not in self._averages:
            values = self.values if len(alike) == len(self) else self.values[np.array(alike)]
            self._averages[asked] = mean_features(Features(values, self.names))
        return self._averages[asked]

    def find_columns(self, names: FeatureNames) -> Indices:
        """Where the names of a model stand among these, or -1; kept."""
        if id(names) not in self._found:
            self._found[id(names)] = self.names.find(names)
        return self._found[id(names)]

    def contributions_of(self, row: int, weights: Vector, average: Vector) -> Explanation:
        """What each feature adds to the score of a row, less what it adds to the average one."""
        own = self.values[[row]]
        parts = sp.csr_array((own.data * weights[own.indices], own.indices, own.indptr), own.shape)
        return subtract_mean(Features(parts, self.names), average * weights)[0]

    def dense_row(self, row: int) -> Vector:
        """One row with its zeros."""
        found = np.zeros(self.values.shape[1])
        span = slice(self.values.indptr[row], self.values.indptr[row + 1])
        found[self.values.indices[span]] = self.values.data[span]
        return found

    def kernel_row(self, row: int) -> Vector:
        """Kernel values of one candidate with all."""
        return np.asarray(self.values @ self.dense_row(row))

    def kernel_columns(self, rows: Indices) -> Matrix:
        """Kernel values of all with a few, a column each."""
        found = np.zeros((self.values.shape[1], len(rows)))
        few = self.values[rows].tocoo()
        found[few.col, few.row] = few.data
        return np.asarray(self.values @ found)

    def cross_gram(self, some: Indices, others: Indices) -> Matrix:
        """Kernel values of some with others."""
        if not len(some) or not len(others):
            return np.empty((len(some), len(others)))
        return np.asarray(gram(self.values[some], self.values[others]))

    def gram(self, rows: Indices) -> Matrix:
        """The Gram matrix of some."""
        return gram(self.values[rows])

    def feature_weights(self, rows: Indices, coef: Vector) -> Vector:
        """A weight per feature: the sum of the rows times their coefficients."""
        spread = np.zeros(len(self))
        spread[rows] = coef
        return np.asarray(self.values.T @ spread)

    def scores(self, rows: Indices, coef: Vector) -> Vector:
        """Scores of all by coefficients on some."""
        return np.asarray(self.values @ self.feature_weights(rows, coef))

    def density(self) -> Vector:
        """The mean cosine with all others, divided by the largest."""
        lengths = np.sqrt(np.maximum(self.squared_norms, 1e-300))
        mean = np.asarray(self.values.T @ (1 / lengths)) / max(len(self), 1)
        return _scaled(np.asarray(self.values @ mean) / lengths)

    def append(self, more: Features) -> FeatureRows:
        """These rows with others behind them, which may have features of their own."""
        both = Features.vstack([Features(self.values, self.names), more])
        return FeatureRows(sp.csr_array(both.values), both.names)


@dataclass(eq=False)
class KernelRows:
    """Rows that only a kernel can compare; comparisons once made are kept."""

    kernel: Kernel[Any]
    X: Sequence[Any]
    own: Vector = field(init=False, repr=False)
    _known: dict[int, Vector] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.own = np.asarray(self.kernel.diag(self.X))

    def __len__(self) -> int:
        return len(self.own)

    def against(self, row: int) -> Vector:
        """Kernel values of one candidate with all."""
        if row not in self._known:
            one = take_rows(self.X, np.array([row], dtype=np.intp))
            self._known[row] = np.asarray(self.kernel(one, self.X))[0]
        return self._known[row]

    def columns(self, rows: Indices) -> Matrix:
        """Kernel values of all with a few, a column each."""
        new = np.array([row for row in rows.tolist() if row not in self._known], dtype=np.intp)
        if len(new):
            found = np.asarray(self.kernel(take_rows(self.X, new), self.X))
            self._known.update(zip(new.tolist(), found, strict=True))
        return np.column_stack([self._known[row] for row in rows.tolist()])

    def between(self, some: Indices, others: Indices) -> Matrix:
        """Kernel values of some with others."""
        if not len(some) or not len(others):
            return np.empty((len(some), len(others)))
        return np.asarray(self.kernel(take_rows(self.X, some), take_rows(self.X, others)))

    def gram(self, rows: Indices) -> Matrix:
        """The Gram matrix of some."""
        if not len(rows):
            return np.empty((0, 0))
        some = take_rows(self.X, rows)
        return np.asarray(self.kernel(some))

    def scores(self, rows: Indices, coef: Vector) -> Vector:
        """Scores of all by coefficients on some."""
        found = np.zeros(len(self))
        for row, value in zip(rows.tolist(), coef, strict=True):
            found += value * self.against(row)
        return found

    def density(self, sample: int = 100) -> Vector:
        """The mean similarity to some of the others, divided by the largest."""
        step = max(1, len(self) // sample)
        lengths = np.sqrt(np.maximum(self.own, 1e-300))
        some = np.arange(0, len(self), step)
        cosines = np.asarray(self.kernel(take_rows(self.X, some), self.X)) / lengths[some][:, None]
        return _scaled(cosines.sum(axis=0) / lengths)

    def reasons(self, row: int, rows: Indices, coef: Vector) -> Explanation:
        """What each named part adds to a score, where the kernel can tell, less the average."""
        if not isinstance(self.kernel, AdditiveKernel) or not len(rows):
            return []
        support = take_rows(self.X, rows)
        some = np.unique(np.linspace(0, len(self) - 1, AVERAGE_SAMPLE_SIZE).astype(np.intp))
        average = mean_row(self.kernel.contributions(take_rows(self.X, some), support, coef))
        one = take_rows(self.X, np.array([row], dtype=np.intp))
        both = Features.vstack([self.kernel.contributions(one, support, coef), average])
        return subtract_mean(both[:-1], both.values[[-1]].toarray()[0])[0]


def concat_representations(one: Any, other: Any) -> Any:
    """Representations of the same kind, one behind the other."""
    if isinstance(one, MultiView) and isinstance(other, MultiView):
        return MultiView(
            {name: concat_representations(one.view(name), other.view(name)) for name in one.views}
        )
    if isinstance(one, Features) and isinstance(other, Features):
        return Features.vstack([one, other])
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.concatenate([one, other])
    raise ValueError(
        f"a model of {type(one).__name__} can be taught, but not exported with its answers. "
        "Begin with the pipeline and a corpus instead."
    )


def _scaled(values: Vector) -> Vector:
    largest = float(values.max(initial=0.0))
    return np.clip(values / largest, 0.0, 1.0) if largest > 0 else np.ones(len(values))
