"""Several views of the same candidates in one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.features import (
    FeatureNames,
    Features,
    GramAlternatives,
    Indices,
    Matrix,
    MultiView,
    SharedRows,
    Vector,
    hstack_csr,
)
from textrank.kernels._indexed import IndexedViews
from textrank.kernels.algebra import (
    Exponential,
    Gaussian,
    Linear,
    Normalized,
    OnView,
    Sum,
    resolve_weights,
)
from textrank.linalg import features_of
from textrank.linear_scores import (
    Contributions,
    FeatureWeights,
    LinearScores,
    Scorer,
    compile_scorer,
)
from textrank.protocols import Kernel, subkernels


@dataclass(frozen=True)
class CombinedViews:
    """A Gaussian on the normalised, weighted sum of kernels on views.

    ``exp(γ (k̄ - 1))`` where ``k̄`` is ``Σ w_v k_v + b Σ g_u`` scaled to 1 on the diagonal: ``k_v``
    is the inner product of the vectors of view ``v``, ``w_v`` its weight in ``linear``, and ``g_u``
    a Gaussian ``exp(-γ' d²)`` on view ``u`` for each ``γ'`` in ``gaussian``, all of weight ``b``.
    ``parts`` names the summands. Weights compare best where vectors have length one: scale them
    once, in the representation, not at each comparison with many training candidates.

    With several ``gaussian_weights`` it is not one kernel but a choice, ``alternatives``, which
    ``compared`` evaluates in one go and training decides by held-out scores.

    It is short for ``Exponential(Normalized(Sum([...])))``, which it is made of.

    >>> from textrank.features import MultiView
    >>> X = MultiView({"words": np.eye(2), "numbers": np.array([[0.0], [1.0]])})
    >>> kernel = CombinedViews(linear={"words": 1.0}, gaussian={"numbers": [0.5]})
    >>> kernel(X).round(3).tolist()
    [[1.0, 0.248], [0.248, 1.0]]
    """

    linear: Mapping[str, float] = field(default_factory=dict)
    gaussian: Mapping[str, Sequence[float]] = field(default_factory=dict)
    gamma: float = 2.0
    gaussian_weights: Sequence[float] = (1.0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "linear", dict(self.linear))
        widths = {name: tuple(gammas) for name, gammas in self.gaussian.items()}
        object.__setattr__(self, "gaussian", widths)
        object.__setattr__(self, "gaussian_weights", tuple(map(float, self.gaussian_weights)))
        if not self.gaussian_weights or not min(self.gaussian_weights) > 0:
            raise ValueError(
                f"gaussian_weights must be one positive number or several, got "
                f"{list(self.gaussian_weights)}"
            )
        if not self.summands:
            raise ValueError("name at least one view, in linear or in gaussian")
        _ = self.as_expression  # each part checks its own settings

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        if len(self.gaussian_weights) > 1:
            raise ValueError(
                f"gaussian_weights {list(self.gaussian_weights)} are a choice, not a kernel. Take "
                "one of its alternatives, or let training choose."
            )
        return self.as_expression(X, Y)

    def index(self, Y: Sequence[Any]) -> IndexedViews:
        """The kernel prepared for many calls with the same Y, as those of a trained model."""
        return IndexedViews.from_candidates(self, Y)

    @property
    def alternatives(self) -> list[CombinedViews]:
        """The kernels to choose from, each with one of the weights."""
        return [replace(self, gaussian_weights=[weight]) for weight in self.gaussian_weights]

    def gram_alternatives(self, X: Sequence[Any]) -> GramAlternatives:
        """The Gram matrices of all alternatives; every part is computed once."""
        plain = _total(X, [(w, k) for n, (w, k) in self.summands.items() if n in self.linear])
        bells = _total(X, [(1.0, k) for n, (_, k) in self.summands.items() if n not in self.linear])
        grams = []
        for weight in self.gaussian_weights:
            K = plain + weight * bells
            root = np.sqrt(np.diag(K))
            K /= root[:, None]
            K /= root[None, :]
            np.fill_diagonal(K, 1.0)
            K -= 1.0
            K *= self.gamma
            grams.append(np.exp(K, out=K))
        return GramAlternatives([{"gaussian_weight": w} for w in self.gaussian_weights], grams)

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return self.as_expression.diag(X)

    def contributions(self, X: Sequence[Any], Y: Sequence[Any], coef: Vector) -> Features:
        """What each named part adds to the scores ``k(X, Y) coef``, a row each, summing to them.

        The kernel is no sum of its parts, so this is a convention, that of Aumann and Shapley: let
        the similarity grow evenly from nothing to what it is, and credit every part with its share
        of the growth, ``∂/∂s exp(γ (t k̄ - 1))`` integrated over ``t`` from 0 to 1. Inner products
        are split further, exactly, into those of single features. ``constant`` is the score of a
        candidate that resembles nothing.
        """
        total = Sum(
            [k for _, k in self.summands.values()], weights=[w for w, _ in self.summands.values()]
        )
        K = total(X, Y)
        sizes = np.sqrt(np.outer(total.diag(X), total.diag(Y)))
        K /= sizes
        # (exp(γ K) - 1) / K, which is γ where nothing is shared
        growth = np.divide(
            np.expm1(self.gamma * K), K, out=np.full_like(K, self.gamma), where=K > 0
        )
        shares = growth * np.exp(-self.gamma) * coef / sizes  # (x, y)

        blocks = {}
        for name, (weight, kernel) in self.summands.items():
            if name in self.linear:
                blocks[name] = _by_feature(kernel, X, Y, weight * shares)
            else:
                blocks[name] = _column((weight * shares * kernel(X, Y)).sum(axis=1))
        blocks["constant"] = _column(np.full(len(K), np.exp(-self.gamma) * coef.sum()))
        return Features.hstack(blocks)

    @property
    def summands(self) -> dict[str, tuple[float, Kernel[Any]]]:
        """The summands by name, each with its weight."""
        plain = {name: (weight, OnView(name, Linear())) for name, weight in self.linear.items()}
        bells = {
            f"{name}, {gamma:g}": (self.gaussian_weights[0], OnView(name, Gaussian(gamma)))
            for name, gammas in self.gaussian.items()
            for gamma in gammas
        }
        return {**plain, **bells}

    @property
    def as_expression(self) -> Exponential:
        """The kernel, spelt out."""
        weights, kernels = zip(*self.summands.values(), strict=True)
        return Exponential(Normalized(Sum(kernels, weights=weights)), gamma=self.gamma)


def _total(X: Sequence[Any], parts: Sequence[tuple[float, Kernel[Any]]]) -> Matrix:
    total = np.zeros((len(X), len(X)))
    for weight, kernel in parts:
        total += weight * kernel(X)
    return total


def _by_feature(
    kernel: Kernel[Any], X: Sequence[Any], Y: Sequence[Any], shares: Matrix
) -> Features:
    """The shares of all of Y in each feature of X."""
    F, G = features_of(kernel, X), features_of(kernel, Y)
    return Features(sp.csr_array(F.values.multiply(shares @ G.align_to(F.names))), F.names)


def _column(values: Vector) -> Features:
    return Features(sp.csr_array(values[:, None]), FeatureNames.from_iterable([()]))


@dataclass(frozen=True)
class EachView:
    """The same kernel on every view, summed: ``Σ_v w_v k(x_v, z_v)``; weight 1 where not given.

    Views that need settings of their own are summed with ``Sum`` and ``OnView``.

    >>> from textrank.kernels.algebra import Linear
    >>> views = MultiView({"a": np.array([[1.0]]), "b": np.array([[2.0]])})
    >>> EachView(Linear(), weights={"b": 0.5})(views).item()
    3.0
    """

    kernel: Kernel[Any]
    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        resolve_weights(self.weights, list(self.weights or {}))

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        if not len(X) or (Y is not None and not len(Y)):
            return np.zeros((len(X), len(X if Y is None else Y)))
        return self._sum(X)(X, Y)

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return self._sum(X).diag(X) if len(X) else np.zeros(0)

    def features(self, X: Sequence[Any]) -> Features:
        """The features on all views side by side, each under the name of its view."""
        return self._sum(X).features(X)

    def _sum(self, X: Sequence[Any]) -> Sum:
        views = list(X.views if isinstance(X, MultiView) else X[0])
        return Sum({view: OnView(view, self.kernel) for view in views}, weights=self.weights)


CONSTANT = "constant"


@dataclass(frozen=True)
class PerQuestionKernel:
    """Candidates are alike only where they ask the same: ``[q(x) = q(z)] (c² + k(x, z))``.

    ``view`` is the view that says what is asked, such as which word of which confusion set. A
    feature stands under its question, so one linear model holds the weights of all of them, and
    each question has a constant feature of value ``constant``.

    >>> from textrank.kernels.algebra import OnView
    >>> from textrank.kernels.algebra import Linear
    >>> X = MultiView({"asked": ["than", "than", "to"], "number": np.array([[2.0], [1.0], [3.0]])})
    >>> PerQuestionKernel("asked", OnView("number", Linear()), constant=1.0)(X)
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
        F = Features(hstack_csr([constant, F.values]), F.names.prepend(CONSTANT))
        return _apart(F if at is None else F.rows(at), self._questions(X))

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """What the features of the kernel come to by the weights of each candidate's question."""
        numbers, each = _by_question(weights)
        inner = compile_scorer(self.kernel, each)
        constant = each.select_prefix(CONSTANT)
        shifts = np.zeros(len(numbers) + 1)  # the last one for questions that are not known
        shifts[constant.question_ids] = self.constant * constant.coef
        columns = np.full(len(shifts), -1)
        columns[constant.question_ids] = constant.columns

        def weigh(X: Sequence[Any], asked: Indices) -> LinearScores:
            pairs = zip(asked.tolist(), self._questions(X), strict=True)
            own = np.array([numbers.get(pair, -1) for pair in pairs], dtype=np.intp)
            found = inner(X, own)

            def met() -> Contributions:
                rows = np.flatnonzero(columns[own] >= 0)
                constants = Contributions(
                    rows, columns[own[rows]], np.full(len(rows), self.constant)
                )
                return Contributions.concat([constants, found.contributions()])

            return LinearScores(found.products + shifts[own], found.squares + self.constant**2, met)

        return weigh

    def _shared(self, X: Sequence[Any]) -> tuple[Sequence[Any], Indices | None]:
        """What the candidates look like, each once, and which is whose; X where none are shared.

        Several questions about the same words are compared by one look at them.
        """
        names = _looked_at(self.kernel)
        if not isinstance(X, MultiView) or not names:
            return X, None
        views = [X.views.get(name) for name in names]
        shared = [view for view in views if isinstance(view, SharedRows)]
        if len(shared) < len(views) or any(
            not np.array_equal(view.at, shared[0].at) for view in shared
        ):
            return X, None
        each = {name: view.each for name, view in zip(names, shared, strict=True)}
        return MultiView(each), shared[0].at

    def _questions(self, X: Sequence[Any]) -> Sequence[str]:
        return X.view(self.view) if isinstance(X, MultiView) else [x[self.view] for x in X]


def _by_question(weights: FeatureWeights) -> tuple[dict[tuple[int, str], int], FeatureWeights]:
    """The weights with the first words of their names as questions, and the numbers of these.

    A question is told apart by what was asked before, for one of these kernels may hold another.
    """
    first, words = weights.names.parts[:, 0], weights.names.vocabulary
    each, asked = np.unique(
        np.column_stack([weights.question_ids, first]), axis=0, return_inverse=True
    )
    numbers = {(before, words[word]): i for i, (before, word) in enumerate(each.tolist())}
    return numbers, weights.relabel(weights.names.drop_first_word(), asked.ravel())


def _looked_at(kernel: Kernel[Any]) -> list[str]:
    """The views that a kernel looks at; none where a part looks at the candidates themselves."""
    if isinstance(kernel, OnView):
        return [kernel.name]
    parts = [_looked_at(part) for part in subkernels(kernel)]
    return [name for part in parts for name in part] if all(parts) else []


def _apart(F: Features, questions: Sequence[str]) -> Features:
    """A column of its own for each feature and question that occur together."""
    numbers = {question: i for i, question in enumerate(dict.fromkeys(questions))}
    asked = np.array([numbers[question] for question in questions], dtype=np.int64)
    values = F.values
    if len(numbers) == 1:
        return Features(values, F.names.with_prefix(next(iter(numbers))))
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


def _named(names: FeatureNames, questions: tuple[str, ...], codes: Indices) -> FeatureNames:
    question, column = np.divmod(codes, max(len(names), 1))
    first = (question + len(names.vocabulary)).astype(np.int32)[:, None]
    return FeatureNames((*names.vocabulary, *questions), np.hstack([first, names.parts[column]]))
