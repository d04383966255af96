"""Elementary kernels and operations that build kernels from kernels.

``Linear`` is the inner product of vectors. ``Sum``, ``Product``, ``Scale``, ``Power``,
``Polynomial``, ``Gaussian``, ``Exponential``, ``Normalized`` and ``Centred`` build a kernel from
others, ``OnView`` applies one to a named view of a ``MultiView``, ``Choice`` lets training choose
among several, and ``Similarities`` turns any similarity measure into a kernel. All are frozen
dataclasses that follow the ``Kernel`` protocol: ``kernel(X, Y)`` is the Gram matrix (x, y),
``kernel.diag(X)`` the diagonal of ``kernel(X)``.

Operations with an explicit feature map also have ``features`` (see ``FeatureKernel``); those with
``compile_scorer`` apply the weights of a linear model without building a feature matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from textrank.features import FeatureNames, Features, Indices, Matrix, MultiView, Vector, count_rows
from textrank.linalg import features_of, gram, gram_of_features, squared_norms
from textrank.linear_scores import (
    Contributions,
    FeatureWeights,
    LinearScores,
    Scorer,
    TemplateFeatures,
    TemplateWeights,
    compile_feature_scorer,
    compile_scorer,
    split_shared,
)
from textrank.protocols import (
    Kernel,
    count_diverging,
    has_features,
    learn_kernel,
    learns_from_inputs,
    subkernels,
)


@dataclass(frozen=True)
class Linear:
    """Inner product of vectors: ``k(x, z) = x'z``.

    Inputs are the rows of an array, of a sparse matrix or of ``Features``, or a list of such rows.
    ``Features`` are matched by column name, arrays by column index.

    >>> Linear()(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[5., 2.],
           [2., 1.]])
    """

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the Gram matrix (x, y); of X with itself if Y is None.

        Without rows in X or Y the result is empty, whatever the columns. Features of Y that X lacks
        add nothing. Raises ValueError if arrays of X and Y differ in their number of columns.
        """
        if not count_rows(X) or (Y is not None and not count_rows(Y)):
            return np.zeros((count_rows(X), count_rows(X if Y is None else Y)))
        F = as_vectors(X)
        G = None if Y is None else as_vectors(Y)
        if isinstance(F, Features) and isinstance(G, Features):
            return gram(F.values, G.align_to(F.names))
        if isinstance(F, Features) and G is None:
            return gram(F.values)
        left, right = _matrix_of(F), _matrix_of(F if G is None else G)
        _check_same_width(left, right)
        if sp.issparse(left) or sp.issparse(right):
            return gram(sp.csr_array(left), None if G is None else sp.csr_array(right))
        return left @ right.T

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the squared length of each vector, (x,).

        Raises ValueError if X is not a table of rows.
        """
        F = _matrix_of(as_vectors(X))
        return squared_norms(F) if sp.issparse(F) else np.einsum("ij,ij->i", F, F)

    def features(self, X: Sequence[Any]) -> Features:
        """Return the vectors as Features, one row each; ``Features`` are returned as they are.

        The columns of an array or sparse matrix are named by their index.
        """
        F = as_vectors(X)
        if isinstance(F, Features):
            return F
        return Features(
            sp.csr_array(F), FeatureNames.from_iterable(str(i) for i in range(F.shape[1]))
        )

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """Return ``score(X, question_ids)``, which applies the weights to the vectors X.

        It returns the ``LinearScores`` of each candidate by the weights of its question.
        ``TemplateFeatures``, also as ``SharedRows``, are scored by hashing their names, everything
        else by column name.
        """
        score_by_name, score_templates = (
            compile_feature_scorer(self, weights),
            TemplateWeights(weights),
        )

        def score(X: Sequence[Any], question_ids: Indices) -> LinearScores:
            """Score each candidate with the weights of its question.

            ``TemplateFeatures`` are looked up by hash of their names, everything else by column
            name.
            """
            distinct, index = split_shared(X)
            return (
                score_templates(distinct, question_ids, index)
                if isinstance(distinct, TemplateFeatures)
                else score_by_name(X, question_ids)
            )

        return score


def as_vectors(X: Sequence[Any]) -> Any:
    """Return X as Features, a float CSR matrix or a 2-D float64 array, whichever it is or contains.

    A list of ``Features`` rows is stacked by column name, a list of sparse rows by column index;
    the first element decides which of these it is. Listed sparse rows keep their common dtype. An
    empty list gives an array of shape (0, 0). Raises ValueError if X is not a table of rows or
    holds other objects than numbers.
    """
    if isinstance(X, Features):
        return X
    if sp.issparse(X):
        return sp.csr_array(X).astype(float, copy=False)
    if not isinstance(X, np.ndarray) and len(X) and isinstance(X[0], Features):
        return Features.vstack(list(X))
    if not isinstance(X, np.ndarray) and len(X) and sp.issparse(X[0]):
        return sp.csr_array(sp.vstack([x.reshape(1, -1) for x in X]))
    try:
        array = np.asarray(X, dtype=np.float64)
    except TypeError:
        raise ValueError(
            f"this kernel compares vectors, and the representation gives {type(X[0]).__name__} "
            "objects. Choose a kernel that fits it, such as each_view.v1 for several views."
        ) from None
    if array.ndim == 1 and not len(array):
        return array.reshape(0, 0)
    if array.ndim != 2:
        raise ValueError(
            f"vectors must form a table of rows, got an array of shape {array.shape}. "
            "Pass one row per candidate."
        )
    return array


def _matrix_of(F: Any) -> Any:
    """Return the matrix of Features; anything else, from ``as_vectors``, unchanged."""
    return F.values if isinstance(F, Features) else F


def _check_same_width(F: Any, G: Any) -> None:
    """Raise ValueError unless both matrices have the same number of columns."""
    if F.shape[1] != G.shape[1]:
        raise ValueError(
            f"vectors of length {F.shape[1]} cannot be compared with vectors of length "
            f"{G.shape[1]}: "
            "use the same representation for X and Y."
        )


# A cfg is checked before the blocks inside are built, so the parts check themselves.
KernelCollection = Sequence[Any] | Mapping[str, Any]
LINEAR = Linear()


@dataclass(frozen=True)
class Sum:
    """Weighted sum of kernels on the same inputs: ``Σ w_j k_j(x, z)``.

    Parameters
    ----------
    kernels
        Kernels by name, or a list of kernels. In a list each kernel is named after the view that
        it looks at or, if there is none, after its class.
    weights
        Non-negative weights, in the form of ``kernels``; 1 where none is given.

    The feature map is the concatenation of those of the parts, each under the name of its part.

    >>> Sum([Linear(), Linear()], weights=[1.0, 0.5])(np.array([[2.0]])).item()
    6.0
    """

    kernels: KernelCollection
    weights: Sequence[float] | Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        """Replace ``kernels`` and ``weights`` by validated dictionaries with the same keys.

        Raises ValueError without kernels, for something that is not a kernel, and for weights that
        are negative or do not belong to a kernel.
        """
        kernels = _named_kernels(self.kernels)
        object.__setattr__(self, "kernels", kernels)
        object.__setattr__(self, "weights", resolve_weights(self.weights, list(kernels)))

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the weighted sum of the Gram matrices (x, y); of X with itself if Y is None.

        Parts of weight 0 are computed too.
        """
        (_, weight, first), *rest = self._parts
        total = weight * first(X, Y)
        for _, weight, kernel in rest:
            total += weight * kernel(X, Y)
        return total

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the weighted sum of the diagonals, (x,)."""
        return np.sum([weight * kernel.diag(X) for _, weight, kernel in self._parts], axis=0)

    def features(self, X: Sequence[Any]) -> Features:
        """Return the parts' features side by side, each times the square root of its weight.

        Names begin with the name of the part. Parts of weight 0 have no columns; if all weights are
        0, the first part has empty ones. Raises TypeError if a part has no explicit features.
        """
        parts = self._nonzero_parts
        return Features.hstack({n: features_of(k, X).scale(w**0.5) for n, w, k in parts})

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """Return ``score(X, question_ids)``, the sum of the scores of the parts.

        A part is scored with the weights of the features whose name begins with the part's name,
        times the square root of its weight; parts of weight 0 are left out. Raises TypeError if a
        part has no explicit features.
        """
        parts = [
            (w**0.5, compile_scorer(k, weights.select_prefix(n))) for n, w, k in self._nonzero_parts
        ]

        def score(X: Sequence[Any], question_ids: Indices) -> LinearScores:
            """Return the sum of the parts' scores, each multiplied by the root of its weight.

            ``question_ids`` (n,) number the question whose weights score each candidate.
            """
            part_scores = [part(X, question_ids).scale(root) for root, part in parts]
            products, squares = np.zeros(len(question_ids)), np.zeros(len(question_ids))
            for part_score in part_scores:
                products += part_score.products
                squares += part_score.squares
            return LinearScores(
                products,
                squares,
                lambda: Contributions.concat(
                    [part_score.contributions() for part_score in part_scores]
                ),
            )

        return score

    @property
    def _nonzero_parts(self) -> list[tuple[str, float, Kernel[Any]]]:
        """Parts whose weight is not 0; the first part if all weights are 0."""
        return [part for part in self._parts if part[1]] or self._parts[:1]

    @property
    def _parts(self) -> list[tuple[str, float, Kernel[Any]]]:
        """Name, weight and kernel of each part, in the order of ``kernels``."""
        kernels = _named_kernels(self.kernels)
        weights = resolve_weights(self.weights, list(kernels))
        return [(name, weights[name], kernel) for name, kernel in kernels.items()]


@dataclass(frozen=True)
class Choice:
    """Several kernels, of which training takes the one with the best held-out scores.

    May stand alone or inside other kernels; several choices are tried in all combinations.
    Cross-validation chooses again in the training part of each fold, and the report compares the
    kernels. A trained model has the chosen kernel only.

    Parameters
    ----------
    kernels
        Kernels by name, or a list of kernels, which are named as in ``Sum``.

    >>> Choice({"plain": Linear(), "square": Power(Linear())}).choices["square"]
    Power(kernel=Linear(), degree=2)
    """

    kernels: KernelCollection

    def __post_init__(self) -> None:
        """Replace ``kernels`` by a dictionary by name; those of a list are named by view or class.

        Raises ValueError without kernels, or for one that is not a kernel.
        """
        object.__setattr__(self, "kernels", _named_kernels(self.kernels))

    @property
    def choices(self) -> Mapping[str, Kernel[Any]]:
        """The kernels to choose from, by name."""
        return _named_kernels(self.kernels)

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Raise ValueError: training has not chosen yet."""
        raise self._open_error()

    def diag(self, X: Sequence[Any]) -> Vector:
        """Raise ValueError: training has not chosen yet."""
        raise self._open_error()

    def _open_error(self) -> ValueError:
        """Return, not raise, the error for using the kernel before training has chosen."""
        return ValueError(
            f"a choice among {', '.join(self.choices)} is not one kernel. Use one of them, or let "
            "training choose."
        )


@dataclass(frozen=True)
class Product:
    """Product of kernels on the same inputs: ``Π k_j(x, z)``; ``kernels`` are given as for ``Sum``.

    >>> Product([Linear(), Linear()])(np.array([[3.0]])).item()
    81.0
    """

    kernels: KernelCollection

    def __post_init__(self) -> None:
        """Replace ``kernels`` by a dictionary by name; parts of a list are named by view or class.

        Raises ValueError without parts, or for one that is not a kernel.
        """
        object.__setattr__(self, "kernels", _named_kernels(self.kernels))

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the elementwise product of the Gram matrices (x, y).

        Of X with itself if Y is None.
        """
        first, *rest = _named_kernels(self.kernels).values()
        product = 1.0 * first(X, Y)
        for kernel in rest:
            product *= kernel(X, Y)
        return product

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the product of the diagonals, (x,)."""
        return np.prod([kernel.diag(X) for kernel in _named_kernels(self.kernels).values()], axis=0)


@dataclass(frozen=True)
class Scale:
    """Kernel times a positive number: ``factor * k(x, z)``.

    >>> Scale(Linear(), factor=2.0)(np.array([[3.0]])).item()
    18.0
    """

    kernel: Kernel[Any]
    factor: float = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError unless the factor is positive."""
        if not self.factor > 0:
            raise ValueError(f"factor must be positive, got {self.factor}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the scaled Gram matrix (x, y); of X with itself if Y is None."""
        return self.factor * self.kernel(X, Y)

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the scaled diagonal, (x,)."""
        return self.factor * self.kernel.diag(X)

    def features(self, X: Sequence[Any]) -> Features:
        """Return the features of the kernel, times the square root of the factor.

        Raises TypeError if the kernel has no explicit features.
        """
        return features_of(self.kernel, X).scale(self.factor**0.5)


@dataclass(frozen=True)
class Power:
    """Kernel raised to a positive integer power: ``k(x, z)^degree``.

    Its features, which are never formed, are all products of ``degree`` features of the kernel.

    >>> Power(Linear(), degree=3)(np.array([[2.0]])).item()
    64.0
    """

    kernel: Kernel[Any]
    degree: int = 2

    def __post_init__(self) -> None:
        """Raise ValueError unless the degree is an integer of at least 1."""
        _check_degree(self.degree)

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the Gram matrix with each entry raised to the power, (x, y).

        Of X with itself if Y is None.
        """
        return self.kernel(X, Y) ** self.degree

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the diagonal raised to the power, (x,)."""
        return self.kernel.diag(X) ** self.degree


@dataclass(frozen=True)
class Polynomial:
    """Polynomial of a kernel: ``(gamma k(x, z) + constant)^degree``; linear kernel by default.

    Its features, which are never formed, are the products of up to ``degree`` features of the
    kernel.

    >>> Polynomial(degree=2, constant=1.0)(np.array([[1.0], [2.0]]))
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    degree: int = 2
    gamma: float = 1.0
    constant: float = 0.0
    kernel: Kernel[Any] = LINEAR

    def __post_init__(self) -> None:
        """Raise ValueError unless the kernel is positive semidefinite.

        That needs an integer degree of at least 1, a positive gamma and a constant of at least 0.
        """
        _check_degree(self.degree)
        if not self.gamma > 0 or self.constant < 0:
            raise ValueError(
                f"gamma must be positive and constant at least 0, got gamma={self.gamma}, "
                f"constant={self.constant}: the kernel would not be positive semidefinite."
            )

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return ``(gamma K + constant) ** degree`` (x, y); of X with itself if Y is None."""
        return (self.gamma * self.kernel(X, Y) + self.constant) ** self.degree

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return ``(gamma k + constant) ** degree`` of the inner kernel's diagonal k, (x,)."""
        return (self.gamma * self.kernel.diag(X) + self.constant) ** self.degree


@dataclass(frozen=True)
class Gaussian:
    """Gaussian of the distance in the feature space of a kernel: ``exp(-gamma d²)``.

    ``d² = k(x,x) + k(z,z) - 2 k(x,z)``; the kernel is linear by default.

    >>> float(np.round(Gaussian(gamma=0.5)(np.array([[0.0], [2.0]]))[0, 1], 6))
    0.135335
    """

    gamma: float = 1.0
    kernel: Kernel[Any] = LINEAR

    def __post_init__(self) -> None:
        """Raise ValueError unless gamma is positive."""
        if not self.gamma > 0:
            raise ValueError(f"gamma must be positive, got {self.gamma}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return ``exp(-gamma d^2)`` (x, y), ``d`` the distance of features of the inner kernel.

        Y None compares X with itself; the diagonal is then exactly 1.
        """
        K = -2.0 * self.kernel(X, Y)
        left = self.kernel.diag(X)
        K += left[:, None]
        K += (left if Y is None else self.kernel.diag(Y))[None, :]

        np.clip(K, 0.0, None, out=K)  # round-off only: a squared distance cannot be negative
        if Y is None:
            np.fill_diagonal(K, 0.0)
        K *= -self.gamma
        return np.exp(K, out=K)

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return ones, (x,)."""
        return np.ones(len(self.kernel.diag(X)))


@dataclass(frozen=True)
class Exponential:
    """Exponential of a kernel: ``exp(gamma (k(x, z) - 1))``, which weights all its powers.

    On a normalised kernel this is a Gaussian on unit vectors, 1 where they are equal.

    >>> float(np.round(Exponential(Linear(), gamma=2.0)(np.array([[0.0]])).item(), 6))
    0.135335
    """

    kernel: Kernel[Any]
    gamma: float = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError unless gamma is positive."""
        if not self.gamma > 0:
            raise ValueError(f"gamma must be positive, got {self.gamma}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return ``exp(gamma (K - 1))`` (x, y) of the inner kernel; Y None is X with itself."""
        return np.exp(self.gamma * (self.kernel(X, Y) - 1.0))

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return ``exp(gamma (k - 1))`` of the inner kernel's diagonal k, (x,)."""
        return np.exp(self.gamma * (self.kernel.diag(X) - 1.0))


@dataclass(frozen=True)
class Normalized:
    """Cosine similarity in the feature space of a kernel: ``k(x,z) / √(k(x,x) k(z,z))``.

    An input without features has no direction: ``empty="refuse"`` raises a ValueError with its
    index, ``empty="zero"`` keeps it as the zero vector, whose similarity is 0 even with itself.

    >>> float(np.round(Normalized(Linear())(np.array([[3.0, 4.0], [4.0, 3.0]]))[0, 1], 6))
    0.96
    """

    kernel: Kernel[Any]
    empty: str = "refuse"

    def __post_init__(self) -> None:
        """Raise ValueError unless ``empty`` is "refuse" or "zero"."""
        if self.empty not in ("refuse", "zero"):
            raise ValueError(f"empty must be 'refuse' or 'zero', got {self.empty!r}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the Gram matrix (x, y); of X with itself if Y is None.

        Without explicit features the diagonal of X with itself is exactly 1 (or 0 for an input
        without features), else 1 up to round-off. Raises ValueError for an input without features
        if ``empty`` is "refuse".
        """
        if has_features(self.kernel):  # one pass over the inputs gives lengths and products
            return gram_of_features(self.features, X, Y)
        left = self._factors(self.kernel.diag(X))
        right = left if Y is None else self._factors(self.kernel.diag(Y))
        K = left[:, None] * self.kernel(X, Y)
        K *= right[None, :]
        if Y is None:
            np.fill_diagonal(K, (left > 0).astype(float))
        return K

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return 1 for each input, and 0 for inputs without features, (x,).

        Raises ValueError for the latter if ``empty`` is "refuse".
        """
        return (self._factors(self.kernel.diag(X)) > 0).astype(float)

    def features(self, X: Sequence[Any]) -> Features:
        """Return the features of the kernel with every row scaled to length one.

        A row without features stays zero, or raises ValueError if ``empty`` is "refuse". Raises
        TypeError if the kernel has no explicit features.
        """
        F = features_of(self.kernel, X)
        return F.scale(self._factors(Linear().diag(F)))

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """Return ``score(X, question_ids)``: the kernel's scores over the features' length.

        Scoring a candidate without features gives 0, or raises ValueError if ``empty`` is "refuse".
        Raises TypeError if the kernel has no explicit features.
        """
        inner_scorer = compile_scorer(self.kernel, weights)

        def score(X: Sequence[Any], question_ids: Indices) -> LinearScores:
            """Score each candidate by its question's weights, over the length of its features."""
            scores = inner_scorer(X, question_ids)
            return scores.scale(self._factors(scores.squares))

        return score

    def _factors(self, squared: Vector) -> Vector:
        """Return ``1 / √s`` of each squared length ``s``, and 0 where ``s`` is not positive.

        Raises ValueError for such a length if ``empty`` is "refuse".
        """
        empty = np.flatnonzero(squared <= 0)
        if len(empty) and self.empty == "refuse":
            raise ValueError(
                f"{len(empty)} of {len(squared)} inputs have no features and cannot be normalised, "
                f"the first at index {empty[0]}. Remove them, or set empty='zero'."
            )
        return np.divide(1.0, np.sqrt(squared), out=np.zeros(len(squared)), where=squared > 0)


@dataclass(frozen=True)
class OnView:
    """Kernel on one named view of the candidates.

    >>> views = MultiView({"a": np.array([[1.0], [2.0]]), "b": np.array([[5.0], [0.0]])})
    >>> OnView("a", Linear())(views)
    array([[1., 2.],
           [2., 4.]])
    """

    name: str
    kernel: Kernel[Any]

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the Gram matrix of the view, (x, y); of X with itself if Y is None."""
        return self.kernel(self.view(X), None if Y is None else self.view(Y))

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the diagonal of the Gram matrix of the view, (x,)."""
        return self.kernel.diag(self.view(X))

    def features(self, X: Sequence[Any]) -> Features:
        """Return the features of the kernel on this view; raise TypeError if it has none."""
        return features_of(self.kernel, self.view(X))

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """Return ``score(X, question_ids)`` for this view; shared rows stay shared.

        Raises TypeError if the kernel has no explicit features.
        """
        inner_scorer = compile_scorer(self.kernel, weights)

        def score(X: Sequence[Any], question_ids: Indices) -> LinearScores:
            """Score the view of each candidate with the weights of its question."""
            return inner_scorer(
                X.stored_view(self.name) if isinstance(X, MultiView) else self.view(X), question_ids
            )

        return score

    def count_diverging(self, X: Sequence[Any]) -> int:
        """Return how many inputs the kernel scales down on this view, so that its sums converge.

        0 for a kernel that never does.
        """
        return count_diverging(self.kernel, self.view(X))

    @property
    def learns(self) -> bool:
        """Whether the kernel has parts to be learnt from training inputs."""
        return learns_from_inputs(self.kernel)

    def learn(self, X: Sequence[Any]) -> OnView:
        """Return a kernel with all parts learnt from this view of the inputs; no label is used.

        This kernel is not changed.
        """
        return OnView(self.name, learn_kernel(self.kernel, self.view(X)))

    def view(self, X: Sequence[Any]) -> Sequence[Any]:
        """Return the candidates in this view.

        X is a ``MultiView`` or a sequence of mappings by view. Raises ValueError, or KeyError for
        mappings, if there is no such view.
        """
        return X.view(self.name) if isinstance(X, MultiView) else [x[self.name] for x in X]


def _named_kernels(kernels: KernelCollection) -> dict[str, Kernel[Any]]:
    """Return the kernels by name, in order, as a new dictionary.

    Those of a list are named by their view or class, equal names numbered from 1
    (``_kernel_names``). Raises ValueError if there are none or one is not a kernel.
    """
    if not kernels:
        raise ValueError("kernels must name at least one kernel, got none")
    for part in kernels.values() if isinstance(kernels, Mapping) else kernels:
        if not isinstance(part, Kernel):
            raise ValueError(f"{type(part).__name__} is not a kernel: {part!r}")
    if isinstance(kernels, Mapping):
        return dict(kernels)
    return dict(zip(_kernel_names(kernels), kernels, strict=True))


def resolve_weights(
    weights: Sequence[float] | Mapping[str, float] | None, names: Sequence[str]
) -> dict[str, float]:
    """Return the weight of each name; 1.0 where none is given.

    ``weights`` is a sequence in the order of ``names``, or a mapping that may lack some of them.
    Raises ValueError for a wrong number, an unknown name or a negative weight.
    """
    if weights is None or isinstance(weights, Mapping):
        weight_of = dict(weights or {})
    elif len(weights) == len(names):
        weight_of = dict(zip(names, weights, strict=True))
    else:
        raise ValueError(f"weights must be {len(names)}, one per kernel, got {list(weights)}")
    if unknown := sorted(set(weight_of) - set(names)):
        raise ValueError(f"weights for {unknown}, but the kernels are {sorted(names)}")
    if any(weight < 0 for weight in weight_of.values()):
        raise ValueError(f"weights must not be negative, got {weight_of}")
    return {name: float(weight_of.get(name, 1.0)) for name in names}


def _check_degree(degree: int) -> None:
    """Raise ValueError unless the degree is an integer of at least 1."""
    if not (math.isfinite(degree) and degree >= 1 and int(degree) == degree):
        raise ValueError(f"degree must be an integer of at least 1, got {degree}")


def _kernel_names(kernels: Sequence[Kernel[Any]]) -> list[str]:
    """Return a name per kernel, in order: the only view it looks at, or else its class.

    Equal names are numbered from 1, as in ``Linear_1`` and ``Linear_2``; a name of which there is
    one only has no number.
    """
    names = [_single_view(kernel) or type(kernel).__name__ for kernel in kernels]
    return [
        name if names.count(name) == 1 else f"{name}_{names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]


def _single_view(kernel: Kernel[Any]) -> str:
    """Return the view that a kernel looks at, however wrapped; "" if there is none or several.

    A kernel with several inner kernels has none here, even if all look at one view.
    """
    if isinstance(kernel, OnView):
        return kernel.name
    parts = subkernels(kernel)
    return _single_view(parts[0]) if len(parts) == 1 else ""


@dataclass(frozen=True)
class Centred:
    """Kernel centred at the mean of a fixed set of reference inputs.

    ``k(x,z) - mean_r k(x,r) - mean_r k(r,z) + mean_rs k(r,s)``. The reference is fixed so that
    training and new inputs are centred alike; pass the training inputs as ``reference``. Its Gram
    matrix is computed anew in every call.

    >>> import numpy as np
    >>> from textrank.kernels.algebra import Linear
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> Centred(Linear(), reference=X)(X).sum().round(9).item()
    0.0
    """

    kernel: Kernel[Any]
    reference: Sequence[Any]

    def __post_init__(self) -> None:
        """Raise ValueError if there is no reference input."""
        if not len(self.reference):
            raise ValueError("reference must hold at least one reference input, got none")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the centred Gram matrix (x, y); of X with itself if Y is None.

        With reference r it is ``k(x, y) - mean_r k(x, r) - mean_r k(r, y) + mean_rs k(r, s)``.
        """
        left = self._means(X)
        right = left if Y is None else self._means(Y)
        K = self.kernel(X, Y) - left[:, None]
        K -= right[None, :]
        K += self.kernel(self.reference).mean()
        return K

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the diagonal of the centred Gram matrix, (x,).

        With reference r it is ``k(x, x) - 2 mean_r k(x, r) + mean_rs k(r, s)``.
        """
        return self.kernel.diag(X) - 2 * self._means(X) + self.kernel(self.reference).mean()

    def _means(self, X: Sequence[Any]) -> Vector:
        """Return the mean similarity of each input with the reference, (x,)."""
        return self.kernel(X, self.reference).mean(axis=1)


SimilarityMeasure = Callable[[Sequence[Any], Sequence[Any]], Matrix]


@dataclass(frozen=True)
class Similarities:
    """Empirical kernel map: ``φ(x) = (s(x, r_1), ..., s(x, r_p))`` for prototypes ``r``.

    The measure ``s(X, R)`` may be any function that returns a matrix (x, r), also one that is not
    positive semidefinite or that grows with dissimilarity (``Distance``): the inner product of
    the maps is a kernel in every case.

    >>> from textrank.kernels.algebra import Linear
    >>> Similarities(Linear(), np.array([[1.0, 0.0], [1.0, 1.0]]))(np.array([[2.0, 1.0]])).item()
    13.0
    """

    measure: SimilarityMeasure
    prototypes: Sequence[Any]

    def __post_init__(self) -> None:
        """Raise ValueError if there is no prototype."""
        if not count_rows(self.prototypes):
            raise ValueError("prototypes must hold at least one input, got none")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        """Return the inner products of the maps, (x, y); of X with itself if Y is None."""
        F = self.map(X)
        return F @ (F if Y is None else self.map(Y)).T

    def diag(self, X: Sequence[Any]) -> Vector:
        """Return the squared length of each map, (x,)."""
        return np.asarray((self.map(X) ** 2).sum(axis=1))

    def features(self, X: Sequence[Any]) -> Features:
        """Return the maps as Features; column ``i`` is named ``("prototype", str(i))``."""
        names = FeatureNames.from_iterable(
            ("prototype", str(i)) for i in range(count_rows(self.prototypes))
        )
        return Features(sp.csr_array(self.map(X)), names)

    def map(self, X: Sequence[Any]) -> Matrix:
        """Return the measure of each input with each prototype, (x, prototypes).

        X may be empty: the measure is not called then.
        """
        if not count_rows(X):
            return np.zeros((0, count_rows(self.prototypes)))
        return np.asarray(self.measure(X, self.prototypes), dtype=np.float64)


@dataclass(frozen=True)
class Distance:
    """Distance in the feature space of a kernel, a measure for ``Similarities``.

    ``√(k(x,x) + k(z,z) - 2 k(x,z))``.

    >>> from textrank.kernels.algebra import Linear
    >>> Distance(Linear())(np.array([[0.0]]), np.array([[3.0]])).item()
    3.0
    """

    kernel: Kernel[Any]

    def __call__(self, X: Sequence[Any], Y: Sequence[Any]) -> Matrix:
        """Return the distance of each X from each Y, (x, y); negative squares count as 0."""
        squared = self.kernel.diag(X)[:, None] + self.kernel.diag(Y) - 2 * self.kernel(X, Y)
        return np.sqrt(squared.clip(min=0.0))  # round-off only
