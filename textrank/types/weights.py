"""A linear model laid out for scoring: weights by feature and question, found without sorting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from textrank.types.cells import Cells
from textrank.types.codes import Codes
from textrank.types.features import FeatureKernel, Features, Kernel, Repeated, Vector
from textrank.types.names import UNKNOWN, Indices, Names
from textrank.types.ragged import offsets, summed

T_contra = TypeVar("T_contra", contravariant=True)


class Met(NamedTuple):
    """Features of candidates that have a weight, in any order; a candidate has a weight once."""

    rows: Indices  # candidates
    columns: Indices  # which of the model's weights
    values: Vector  # of the features

    @classmethod
    def together(cls, parts: Sequence[Met]) -> Met:
        """Those of several kernels, each with weights of its own."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def scaled(self, factor: float | Vector) -> Met:
        """Every feature times a number, or those of each candidate times its own."""
        each = factor[self.rows] if isinstance(factor, np.ndarray) else factor
        return self._replace(values=self.values * each)

    def moved(self, first: int) -> Met:
        """The same of candidates that stand behind others."""
        return self._replace(rows=self.rows + first)

    def features(self, size: int, names: Names) -> Features:
        """As those of so many candidates in the columns of the model."""
        order = np.lexsort((self.columns, self.rows))
        ends = offsets(np.bincount(self.rows, minlength=size)).astype(np.int32)
        columns = self.columns[order].astype(np.int32)
        return Features(Cells(self.values[order], columns, ends, (size, len(names))), names)


@dataclass(frozen=True, eq=False)
class Weighed:
    """What the features ``f`` of each candidate come to by the weights of its question."""

    products: Vector  # (n,) f'w
    squares: Vector  # (n,) f'f
    met: Callable[[], Met]  # those of f that have a w; found only where somebody asks why

    def scaled(self, factor: float | Vector) -> Weighed:
        """What features come to that are times a number, or for each candidate its own."""
        products, squares = factor * self.products, factor**2 * self.squares
        return Weighed(products, squares, lambda: self.met().scaled(factor))


Weigh: TypeAlias = Callable[[Sequence[Any], Indices], Weighed]  # representations, and what they ask


@dataclass(frozen=True, eq=False)
class Weights:
    """A weight for each feature and question; the weights of one question are a linear model."""

    names: Names  # (d,) of features
    asked: Indices  # (d,) numbers of questions
    coef: Vector  # (d,)
    columns: Indices  # (d,) where they stand in the model that they are part of

    @classmethod
    def of(cls, names: Names, coef: Vector) -> Weights:
        """The weights of a model that has one question only."""
        asked = np.zeros(len(names), dtype=np.intp)
        return cls(names.spelt_once(), asked, coef, np.arange(len(names)))

    @property
    def questions(self) -> int:
        """How many there are."""
        return int(self.asked.max(initial=0)) + 1

    def under(self, word: str) -> Weights:
        """Those of the features whose names begin with a word, called by the rest of them."""
        known = self.names.vocabulary
        number = known.index(word) if word in known else UNKNOWN
        rows = np.flatnonzero(self.names.parts[:, 0] == number)
        names = self.names.take(rows).rest()
        return Weights(names, self.asked[rows], self.coef[rows], self.columns[rows])

    def renamed(self, names: Names, asked: Indices) -> Weights:
        """The same weights of features and questions that are called otherwise."""
        return replace(self, names=names, asked=asked)

    def find(self, features: Indices, asked: Indices) -> Indices:
        """Where the weight of each feature for a question is; or -1.

        Features are given by their places among distinct names; -1 is an unknown one, as that of a
        question is.
        """
        code = np.where((features < 0) | (asked < 0), -1, features * self.questions + asked)
        return self._codes.find(code.astype(np.uint64))

    def weigh(self, F: Features, asked: Indices, at: Indices | None = None) -> Weighed:
        """Rows of features, or with ``at`` those of candidates which share rows.

        Columns of equal names may stand apart, as long as no row has both.
        """
        n, values = len(asked), F.values if at is None else F.values[at]
        sizes = np.diff(values.indptr)
        rows = np.repeat(np.arange(n), sizes)
        features = self._distinct[0].find(F.names)[values.indices]
        place = self.find(features, np.repeat(asked, sizes))
        products = summed(values.data * self._padded[place], rows, n)

        def met() -> Met:
            known = np.flatnonzero(place >= 0)
            return Met(rows[known], self.columns[place[known]], values.data[known])

        return Weighed(products, summed(values.data**2, rows, n), met)

    @cached_property
    def _distinct(self) -> tuple[Names, Indices]:
        return self.names.distinct()

    @cached_property
    def _codes(self) -> Codes:
        return Codes((self._distinct[1] * self.questions + self.asked).astype(np.uint64))

    @cached_property
    def _padded(self) -> Vector:
        return np.append(self.coef, 0.0)


@runtime_checkable
class WeighedKernel(Kernel[T_contra], Protocol[T_contra]):
    """A kernel that scores by weights of its features without making the features."""

    def weighed(self, weights: Weights) -> Weigh:
        """What scores candidates by these weights, prepared for any number of them."""


def weighing(kernel: Kernel[Any], weights: Weights) -> Weigh:
    """What scores candidates by weights of the kernel's features; they must be explicit."""
    if isinstance(kernel, WeighedKernel):
        return kernel.weighed(weights)
    if not isinstance(kernel, FeatureKernel):
        raise TypeError(f"{type(kernel).__name__} has no explicit features that could be weighed.")
    return by_features(kernel, weights)


def by_features(kernel: FeatureKernel[Any], weights: Weights) -> Weigh:
    """The same by the features themselves; those that candidates share are looked up once."""

    def weigh(X: Sequence[Any], asked: Indices) -> Weighed:
        each, at = shared(X)
        return weights.weigh(kernel.features(each), asked, at)

    return weigh


def shared(X: Sequence[Any]) -> tuple[Sequence[Any], Indices | None]:
    """What candidates look like, and which is whose; None where each has its own."""
    return (X.each, X.at) if isinstance(X, Repeated) else (X, None)
