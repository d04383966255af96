"""Kernels on several views of the same candidates.

``CombinedViews`` is the kernel of the shipped PPI model: a Gaussian on a weighted sum of linear and
Gaussian kernels on views. ``EachView`` sums one kernel over all views. ``PerQuestionKernel``
compares only candidates that ask the same question.
"""

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
from textrank.protocols import Kernel, count_diverging, subkernels


@dataclass(frozen=True)
class CombinedViews:
    """Gaussian on the normalised, weighted sum of kernels on views: ``exp(gamma (k̄ - 1))``.

    ``k̄`` is ``Σ w_v k_v + b Σ g_u`` scaled to 1 on the diagonal. ``k_v`` is the inner product of
    the vectors of view ``v`` and ``w_v`` its weight in ``linear``; ``g_u`` is a Gaussian ``exp(-γ'
    d²)`` on view ``u``, one for each ``γ'`` in ``gaussian[u]``, all of weight ``b``, the only value
    of ``gaussian_weights``. ``summands`` lists these kernels by name. Vectors of a linear view
    should have length one, scaled once in the representation.

    With several ``gaussian_weights`` this is not one kernel but a choice: ``alternatives`` has a
    kernel per weight, ``gram_alternatives`` evaluates all of them together, and training chooses by
    held-out scores.

    It is short for ``Exponential(Normalized(Sum([...])))``, which ``as_expression`` returns.

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
        """Convert the settings to dictionaries and tuples, and validate them.

        Raises ValueError without any view, for a negative weight of a linear view, and for a gamma
        or Gaussian weight that is not positive.
        """
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
        """Return the Gram matrix (x, y); of X with itself if Y is None.

        Raises ValueError if several ``gaussian_weights`` leave the kernel open.
        """
        if len(self.gaussian_weights) > 1:
            raise ValueError(
                f"gaussian_weights {list(self.gaussian_weights)} leave the kernel open. Use "
                "one of its alternatives, or let training choose."
            )
        return self.as_expression(X, Y)

    def index(self, Y: Sequence[Any]) -> IndexedViews:
        """Index ``Y``, such as the support of a model, for many fast calls with few candidates.

        ``kernel.index(Y)(X)`` equals ``kernel(X, Y)`` up to rounding. Of several
        ``gaussian_weights`` the first is used.
        """
        return IndexedViews.from_candidates(self, Y)

    @property
    def alternatives(self) -> list[CombinedViews]:
        """One kernel per value of ``gaussian_weights``."""
        return [replace(self, gaussian_weights=[weight]) for weight in self.gaussian_weights]

    def gram_alternatives(self, X: Sequence[Any]) -> GramAlternatives:
        """Return the Gram matrices (x, x) of all alternatives on X, in the order of their weights.

        Every summand is computed once. Parameters are named ``gaussian_weight``.
        """
        linear = _sum_grams(X, [(w, k) for n, (w, k) in self.summands.items() if n in self.linear])
        gaussian = _sum_grams(
            X, [(1.0, k) for n, (_, k) in self.summands.items() if n not in self.linear]
        )
        grams = []
        for weight in self.gaussian_weights:
            K = linear + weight * gaussian
            root = np.sqrt(np.diag(K))
            K /= root[:, None]
            K /= root[None, :]
            np.fill_diagonal(K, 1.0)
            K -= 1.0
            K *= self.gamma
            grams.append(np.exp(K, out=K))
        return GramAlternatives([{"gaussian_weight": w} for w in self.gaussian_weights], grams)

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the diagonal of the Gram matrix, (x,)."""
        return self.as_expression.diag(X)

    def contributions(self, X: Sequence[Any], Y: Sequence[Any], coef: Vector) -> Features:
        """Return what each named part adds to the scores ``k(X, Y) @ coef``; rows sum to them.

        The kernel is not a sum of its parts, so this is a convention, that of Aumann and Shapley:
        let the similarity grow evenly from nothing to what it is, and credit every part with its
        share of the growth, ``∂/∂s exp(γ (t k̄ - 1))`` integrated over ``t`` from 0 to 1. Inner
        products are split further, exactly, by feature. The column ``constant`` is the score of a
        candidate that resembles nothing.

        Parameters
        ----------
        X
            Candidates to explain; the result has a row for each.
        Y
            Candidates of the model.
        coef
            (y,) coefficients of Y.

        Returns
        -------
        Features
            Columns in the order of ``summands``, with names that begin with the summand's, and
            ``constant`` last. A linear view has a column per feature of X, a Gaussian has one.
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
                blocks[name] = _split_by_feature(kernel, X, Y, weight * shares)
            else:
                blocks[name] = _single_column((weight * shares * kernel(X, Y)).sum(axis=1))
        blocks["constant"] = _single_column(np.full(len(K), np.exp(-self.gamma) * coef.sum()))
        return Features.hstack(blocks)

    @property
    def summands(self) -> dict[str, tuple[float, Kernel[Any]]]:
        """Weight and kernel of each summand by name, linear views first, see ``Sum``.

        A linear view is named by itself, a Gaussian by view and width, such as ``"numbers, 0.5"``.
        Of several ``gaussian_weights`` the first is used.
        """
        linear = {name: (weight, OnView(name, Linear())) for name, weight in self.linear.items()}
        gaussian = {
            f"{name}, {gamma:g}": (self.gaussian_weights[0], OnView(name, Gaussian(gamma)))
            for name, gammas in self.gaussian.items()
            for gamma in gammas
        }
        return {**linear, **gaussian}

    @property
    def as_expression(self) -> Exponential:
        """The kernel composed of elementary kernels, with the first of the Gaussian weights."""
        weights, kernels = zip(*self.summands.values(), strict=True)
        return Exponential(Normalized(Sum(kernels, weights=weights)), gamma=self.gamma)


def _sum_grams(X: Sequence[Any], parts: Sequence[tuple[float, Kernel[Any]]]) -> Matrix:
    """Return the weighted sum of Gram matrices of X, (x, x); zeros without parts.

    ``parts`` are pairs of weight and kernel.
    """
    total = np.zeros((len(X), len(X)))
    for weight, kernel in parts:
        total += weight * kernel(X)
    return total


def _split_by_feature(
    kernel: Kernel[Any], X: Sequence[Any], Y: Sequence[Any], shares: Matrix
) -> Features:
    """Return the features of X, each times its weighted sum over Y.

    Entry ``(i, f)`` is ``X_if Σ_j shares_ij Y_jf``; ``shares`` has shape (x, y). Columns are the
    features of X.
    """
    F, G = features_of(kernel, X), features_of(kernel, Y)
    return Features(sp.csr_array(F.values.multiply(shares @ G.align_to(F.names))), F.names)


def _single_column(values: Vector) -> Features:
    """Return a vector as Features with one column of empty name."""
    return Features(sp.csr_array(values[:, None]), FeatureNames.from_iterable([()]))


@dataclass(frozen=True)
class EachView:
    """Sum of one kernel over all views: ``Σ_v w_v k(x_v, z_v)``; weight 1 where none is given.

    Use ``Sum`` and ``OnView`` for views that need kernels of their own.

    >>> from textrank.kernels.algebra import Linear
    >>> views = MultiView({"a": np.array([[1.0]]), "b": np.array([[2.0]])})
    >>> EachView(Linear(), weights={"b": 0.5})(views).item()
    3.0
    """

    kernel: Kernel[Any]
    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a negative weight; names of views are checked when X is known."""
        resolve_weights(self.weights, list(self.weights or {}))

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the Gram matrix (x, y); of X with itself if Y is None."""
        if not len(X) or (Y is not None and not len(Y)):
            return np.zeros((len(X), len(X if Y is None else Y)))
        return self._sum(X)(X, Y)

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the diagonal of the Gram matrix, (x,)."""
        return self._sum(X).diag(X) if len(X) else np.zeros(0)

    def features(self, X: Sequence[Any]) -> Features:
        """Return the features on all views side by side, each under the name of its view."""
        return self._sum(X).features(X)

    def count_diverging(self, X: Sequence[Any]) -> int:
        """Return how many inputs the kernel scales down, summed over all views."""
        return count_diverging(self._sum(X), X) if len(X) else 0

    def _sum(self, X: Sequence[Any]) -> Sum:
        """Return the sum of the kernel over the views that X has.

        If X is not a ``MultiView``, the views are those of its first mapping, so X must not be
        empty. Raises ValueError for a weight of a view that X lacks.
        """
        views = list(X.views if isinstance(X, MultiView) else X[0])
        return Sum({view: OnView(view, self.kernel) for view in views}, weights=self.weights)


CONSTANT_FEATURE = "constant"


@dataclass(frozen=True)
class PerQuestionKernel:
    """Kernel that is 0 between different questions: ``[q(x) = q(z)] (c² + k(x, z))``.

    The view ``view`` holds the question of each candidate as a string, such as which word of which
    confusion set. Features are named under their question, so one linear model holds the weights of
    all questions; each question has a constant feature of value ``c = constant``.

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
        """Raise ValueError unless the constant is positive."""
        if not self.constant > 0:
            raise ValueError(f"constant must be positive, got {self.constant}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the Gram matrix (x, y); of X with itself if Y is None."""
        left = np.array(self._questions(X))
        right = left if Y is None else np.array(self._questions(Y))
        K = self.kernel(X, Y) + self.constant**2
        return np.where(left[:, None] == right[None, :], K, 0.0)

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the diagonal of the Gram matrix, (x,)."""
        return self.kernel.diag(X) + self.constant**2

    def features(self, X: Sequence[Any]) -> Features:
        """Return the features of the kernel and a constant, named under their question.

        One row per candidate; names begin with the question. The constant is named ``(question,
        "constant")``.
        """
        distinct, row_index = self._shared(X)
        F = features_of(self.kernel, distinct)
        constant = sp.csr_array(np.full((len(F), 1), self.constant))
        F = Features(hstack_csr([constant, F.values]), F.names.prepend(CONSTANT_FEATURE))
        return _split_by_question(F if row_index is None else F.rows(row_index), self._questions(X))

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """Return ``score(X, question_ids)``: each candidate scored with its question's weights.

        ``question_ids`` number the question of an outer kernel of this kind (0 without one). A
        candidate whose question was not seen in training has no weights and no constant term.
        """
        question_index, weights_by_question = _group_by_question(weights)
        inner_scorer = compile_scorer(self.kernel, weights_by_question)
        constant = weights_by_question.select_prefix(CONSTANT_FEATURE)
        constants = np.zeros(len(question_index) + 1)  # the last one is for unknown questions
        constants[constant.question_ids] = self.constant * constant.coef
        columns = np.full(len(constants), -1)
        columns[constant.question_ids] = constant.columns

        def score(X: Sequence[Any], question_ids: Indices) -> LinearScores:
            """Score each candidate by the weights of its question."""
            pairs = zip(question_ids.tolist(), self._questions(X), strict=True)
            questions = np.array([question_index.get(pair, -1) for pair in pairs], dtype=np.intp)
            inner_scores = inner_scorer(X, questions)

            def contributions() -> Contributions:
                """Return the constants and the contributions of the inner kernel."""
                rows = np.flatnonzero(columns[questions] >= 0)
                constant_features = Contributions(
                    rows, columns[questions[rows]], np.full(len(rows), self.constant)
                )
                return Contributions.concat([constant_features, inner_scores.contributions()])

            return LinearScores(
                inner_scores.products + constants[questions],
                inner_scores.squares + self.constant**2,
                contributions,
            )

        return score

    def _shared(self, X: Sequence[Any]) -> tuple[Sequence[Any], Indices | None]:
        """Return the distinct representations and the index of each candidate's, or ``(X, None)``.

        They are found only if all views that the kernel looks at are ``SharedRows`` of the same
        index, as for several questions about the same words. The first result then has these views
        only.
        """
        view_names = _views_of(self.kernel)
        if not isinstance(X, MultiView) or not view_names:
            return X, None
        views = [X.views.get(name) for name in view_names]
        shared_views = [view for view in views if isinstance(view, SharedRows)]
        if len(shared_views) < len(views) or any(
            not np.array_equal(view.row_index, shared_views[0].row_index) for view in shared_views
        ):
            return X, None
        distinct = {
            name: view.distinct for name, view in zip(view_names, shared_views, strict=True)
        }
        return MultiView(distinct), shared_views[0].row_index

    def _questions(self, X: Sequence[Any]) -> Sequence[str]:
        """Return the question of each candidate.

        X is a ``MultiView`` or a sequence of mappings by view.
        """
        return X.view(self.view) if isinstance(X, MultiView) else [x[self.view] for x in X]


def _group_by_question(
    weights: FeatureWeights,
) -> tuple[dict[tuple[int, str], int], FeatureWeights]:
    """Split the first word, the question, off the feature names of the weights.

    Returns the number of each (outer question id, question) pair, and the weights under the shorter
    names with these numbers as question ids. Kernels of this kind may be nested: hence the pairs.
    """
    first, words = weights.names.parts[:, 0], weights.names.vocabulary
    pairs, question_ids = np.unique(
        np.column_stack([weights.question_ids, first]), axis=0, return_inverse=True
    )
    numbers = {(outer, words[word]): i for i, (outer, word) in enumerate(pairs.tolist())}
    return numbers, weights.relabel(weights.names.drop_first_word(), question_ids.ravel())


def _views_of(kernel: Kernel[Any]) -> list[str]:
    """Return the views a kernel looks at; none if a part looks at the candidates themselves.

    A view that several parts look at is repeated.
    """
    if isinstance(kernel, OnView):
        return [kernel.name]
    views_by_part = [_views_of(part) for part in subkernels(kernel)]
    return [name for part in views_by_part for name in part] if all(views_by_part) else []


def _split_by_question(F: Features, questions: Sequence[str]) -> Features:
    """Return Features with a column for each (question, feature) pair that occurs.

    ``questions`` has the question of each row. Names begin with the question. Columns are sorted by
    first occurrence of the question, then by column of F. If there is only one question, all
    columns of F are kept, also empty ones.
    """
    numbers = {question: i for i, question in enumerate(dict.fromkeys(questions))}
    question_index = np.array([numbers[question] for question in questions], dtype=np.int64)
    values = F.values
    if len(numbers) == 1:
        return Features(values, F.names.with_prefix(next(iter(numbers))))
    codes = np.repeat(question_index, np.diff(values.indptr)) * len(F.names) + values.indices
    used, column = _factorize_bounded(codes, len(numbers) * len(F.names))
    parts = (values.data, column.astype(np.int32), values.indptr)
    matrix = sp.csr_array(parts, shape=(len(F), len(used)))
    return Features(matrix, _question_names(F.names, tuple(numbers), used))


def _factorize_bounded(codes: NDArray[np.int64], bound: int) -> tuple[Indices, Indices]:
    """Return the sorted distinct codes and the index of each code among them, like ``np.unique``.

    Codes must lie in ``0 ... bound - 1``; no sort is needed where ``bound`` is not much larger than
    their number.
    """
    if bound > 16 * len(codes):
        return np.unique(codes, return_inverse=True)
    is_used = np.zeros(bound, dtype=bool)
    is_used[codes] = True
    used = np.flatnonzero(is_used)
    number = np.empty(bound, dtype=np.intp)
    number[used] = np.arange(len(used))
    return used, number[codes]


def _question_names(
    names: FeatureNames, questions: tuple[str, ...], codes: Indices
) -> FeatureNames:
    """Return the names of the columns ``question * len(names) + column``, the question first."""
    question, column = np.divmod(codes, max(len(names), 1))
    first = (question + len(names.vocabulary)).astype(np.int32)[:, None]
    return FeatureNames((*names.vocabulary, *questions), np.hstack([first, names.parts[column]]))
