"""A linear model laid out for scoring: weights by feature and question, found without sorting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from textrank.types.codes import Codes
from textrank.types.features import FeatureKernel, Features, Kernel, Repeated, Vector
from textrank.types.names import UNKNOWN, Indices, Names
from textrank.types.ragged import summed

T_contra = TypeVar("T_contra", contravariant=True)


class Weighed(NamedTuple):
    """What the features ``f`` of each candidate come to by the weights of its question."""

    products: Vector  # (n,) f'w
    squares: Vector  # (n,) f'f


Weigh: TypeAlias = Callable[[Sequence[Any], Indices], Weighed]  # representations, and what they ask


@dataclass(frozen=True, eq=False)
class Weights:
    """A weight for each feature and question; the weights of one question are a linear model."""

    names: Names  # (d,) of features
    asked: Indices  # (d,) numbers of questions
    coef: Vector  # (d,)

    @classmethod
    def of(cls, names: Names, coef: Vector) -> Weights:
        """The weights of a model that has one question only."""
        return cls(names.spelt_once(), np.zeros(len(names), dtype=np.intp), coef)

    @property
    def questions(self) -> int:
        """How many there are."""
        return int(self.asked.max(initial=0)) + 1

    def under(self, word: str) -> Weights:
        """Those of the features whose names begin with a word, called by the rest of them."""
        known = self.names.vocabulary
        number = known.index(word) if word in known else UNKNOWN
        rows = np.flatnonzero(self.names.parts[:, 0] == number)
        return Weights(self.names.take(rows).rest(), self.asked[rows], self.coef[rows])

    def find(self, columns: Indices, asked: Indices) -> Vector:
        """The weight of each feature, by its place among distinct names, for a question; or 0.

        A place or a question of -1 is an unknown one.
        """
        code = np.where((columns < 0) | (asked < 0), -1, columns * self.questions + asked)
        return self._padded[self._codes.find(code.astype(np.uint64))]

    def weigh(self, F: Features, asked: Indices, at: Indices | None = None) -> Weighed:
        """Rows of features, or with ``at`` those of candidates which share rows.

        Columns of equal names may stand apart, as long as no row has both.
        """
        n, values = len(asked), F.values if at is None else F.values[at]
        sizes = np.diff(values.indptr)
        rows = np.repeat(np.arange(n), sizes)
        columns = self._distinct[0].find(F.names)[values.indices]
        weights = self.find(columns, np.repeat(asked, sizes))
        return Weighed(summed(values.data * weights, rows, n), summed(values.data**2, rows, n))

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
