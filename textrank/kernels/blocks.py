"""Blocks: one kernel for many questions, each with weights of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.kernels.algebra import OnView
from textrank.linalg.gram import features_of
from textrank.types import (
    Features,
    Indices,
    Kernel,
    Matrix,
    Met,
    Names,
    Repeated,
    Vector,
    Viewed,
    Weigh,
    Weighed,
    Weights,
    parts_of,
    side_by_side,
    weighing,
)

CONSTANT = "constant"


@dataclass(frozen=True)
class Blocks:
    """Candidates are alike only where they ask the same: ``[q(x) = q(z)] (c² + k(x, z))``.

    ``view`` is the view that says what is asked, such as which word of which confusion set. A
    feature stands under its question, so one linear model holds the weights of all of them, and
    each question has a constant feature of value ``constant``.

    >>> from textrank.kernels.algebra import OnView
    >>> from textrank.kernels.vectors import Linear
    >>> X = Viewed({"asked": ["than", "than", "to"], "number": np.array([[2.0], [1.0], [3.0]])})
    >>> Blocks("asked", OnView("number", Linear()), constant=1.0)(X)
    array([[ 5.,  3.,  0.],
           [ 3.,  2.,  0.],
           [ 0.,  0., 10.]])
    """

    view: str
    kernel: Kernel[Any]
    constant: float = 0.5

    def __post_init__(self) -> None:
        if not self.constant > 0:
            raise ValueError(f"constant must be positive, got {self.constant}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        left = np.array(self._questions(X))
        right = left if Y is None else np.array(self._questions(Y))
        K = self.kernel(X, Y) + self.constant**2
        return np.where(left[:, None] == right[None, :], K, 0.0)

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return self.kernel.diag(X) + self.constant**2

    def features(self, X: Sequence[Any]) -> Features:
        """The features of the kernel, each under the question of its candidate."""
        each, at = self._shared(X)
        F = features_of(self.kernel, each)
        constant = sp.csr_array(np.full((len(F), 1), self.constant))
        F = Features(side_by_side([constant, F.values]), F.names.after(CONSTANT))
        return _apart(F if at is None else F.rows(at), self._questions(X))

    def weighed(self, weights: Weights) -> Weigh:
        """What the features of the kernel come to by the weights of each candidate's question."""
        numbers, each = _by_question(weights)
        inner = weighing(self.kernel, each)
        constant = each.under(CONSTANT)
        shifts = np.zeros(len(numbers) + 1)  # the last one for questions that are not known
        shifts[constant.asked] = self.constant * constant.coef
        columns = np.full(len(shifts), -1)
        columns[constant.asked] = constant.columns

        def weigh(X: Sequence[Any], asked: Indices) -> Weighed:
            pairs = zip(asked.tolist(), self._questions(X), strict=True)
            own = np.array([numbers.get(pair, -1) for pair in pairs], dtype=np.intp)
            found = inner(X, own)

            def met() -> Met:
                rows = np.flatnonzero(columns[own] >= 0)
                constants = Met(rows, columns[own[rows]], np.full(len(rows), self.constant))
                return Met.together([constants, found.met()])

            return Weighed(found.products + shifts[own], found.squares + self.constant**2, met)

        return weigh

    def _shared(self, X: Sequence[Any]) -> tuple[Sequence[Any], Indices | None]:
        """What the candidates look like, each once, and which is whose; X where none are shared.

        Several questions about the same words are compared by one look at them.
        """
        names = _looked_at(self.kernel)
        if not isinstance(X, Viewed) or not names:
            return X, None
        views = [X.views.get(name) for name in names]
        shared = [view for view in views if isinstance(view, Repeated)]
        if len(shared) < len(views) or any(
            not np.array_equal(view.at, shared[0].at) for view in shared
        ):
            return X, None
        each = {name: view.each for name, view in zip(names, shared, strict=True)}
        return Viewed(each), shared[0].at

    def _questions(self, X: Sequence[Any]) -> Sequence[str]:
        return X.view(self.view) if isinstance(X, Viewed) else [x[self.view] for x in X]


def _by_question(weights: Weights) -> tuple[dict[tuple[int, str], int], Weights]:
    """The weights with the first words of their names as questions, and the numbers of these.

    A question is told apart by what was asked before, for one of these kernels may hold another.
    """
    first, words = weights.names.parts[:, 0], weights.names.vocabulary
    each, asked = np.unique(np.column_stack([weights.asked, first]), axis=0, return_inverse=True)
    numbers = {(before, words[word]): i for i, (before, word) in enumerate(each.tolist())}
    return numbers, weights.renamed(weights.names.rest(), asked.ravel())


def _looked_at(kernel: Kernel[Any]) -> list[str]:
    """The views that a kernel looks at; none where a part looks at the candidates themselves."""
    if isinstance(kernel, OnView):
        return [kernel.name]
    parts = [_looked_at(part) for part in parts_of(kernel)]
    return [name for part in parts for name in part] if all(parts) else []


def _apart(F: Features, questions: Sequence[str]) -> Features:
    """A column of its own for each feature and question that occur together."""
    numbers = {question: i for i, question in enumerate(dict.fromkeys(questions))}
    asked = np.array([numbers[question] for question in questions], dtype=np.int64)
    values = F.values
    if len(numbers) == 1:
        return Features(values, F.names.under(next(iter(numbers))))
    codes = np.repeat(asked, np.diff(values.indptr)) * len(F.names) + values.indices
    used, column = _distinct(codes, len(numbers) * len(F.names))
    parts = (values.data, column.astype(np.int32), values.indptr)
    apart = sp.csr_array(parts, shape=(len(F), len(used)))
    return Features(apart, _named(F.names, tuple(numbers), used))


def _distinct(codes: NDArray[np.int64], bound: int) -> tuple[Indices, Indices]:
    """As ``np.unique`` with the inverse; without sorting where the codes are not far apart."""
    if bound > 16 * len(codes):
        return np.unique(codes, return_inverse=True)
    occurs = np.zeros(bound, dtype=bool)
    occurs[codes] = True
    used = np.flatnonzero(occurs)
    number = np.empty(bound, dtype=np.intp)
    number[used] = np.arange(len(used))
    return used, number[codes]


def _named(names: Names, questions: tuple[str, ...], codes: Indices) -> Names:
    question, column = np.divmod(codes, max(len(names), 1))
    first = (question + len(names.vocabulary)).astype(np.int32)[:, None]
    return Names((*names.vocabulary, *questions), np.hstack([first, names.parts[column]]))
