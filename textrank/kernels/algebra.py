"""Linear, the kernel all others start from: the inner product of vectors."""

from __future__ import annotations

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
from textrank.protocols import Kernel, has_features, subkernels


@dataclass(frozen=True)
class Linear:
    """Inner product of vectors: ``k(x, z) = x'z``.

    Vectors are the rows of an array, of a sparse matrix or of ``Features``, or a list of such rows.
    Features are matched by their names, arrays by their columns.

    >>> Linear()(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[5., 2.],
           [2., 1.]])
    """

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        if not count_rows(X) or (Y is not None and not count_rows(Y)):
            return np.zeros((count_rows(X), count_rows(X if Y is None else Y)))
        F = as_vectors(X)
        G = None if Y is None else as_vectors(Y)
        if isinstance(F, Features) and isinstance(G, Features):
            return gram(F.values, G.align_to(F.names))
        if isinstance(F, Features) and G is None:
            return gram(F.values)
        left, right = _plain(F), _plain(F if G is None else G)
        _same_width(left, right)
        if sp.issparse(left) or sp.issparse(right):
            return gram(sp.csr_array(left), None if G is None else sp.csr_array(right))
        return left @ right.T

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        F = _plain(as_vectors(X))
        return squared_norms(F) if sp.issparse(F) else np.einsum("ij,ij->i", F, F)

    def features(self, X: Sequence[Any]) -> Features:
        """The vectors themselves; the columns of an array are named by their numbers."""
        F = as_vectors(X)
        if isinstance(F, Features):
            return F
        return Features(
            sp.csr_array(F), FeatureNames.from_iterable(str(i) for i in range(F.shape[1]))
        )

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """What the vectors come to."""
        by_name, by_slot = compile_feature_scorer(self, weights), TemplateWeights(weights)

        def weigh(X: Sequence[Any], asked: Indices) -> LinearScores:
            each, at = split_shared(X)
            return (
                by_slot(each, asked, at)
                if isinstance(each, TemplateFeatures)
                else by_name(X, asked)
            )

        return weigh


def as_vectors(X: Sequence[Any]) -> Any:
    """X as Features, a sparse matrix or a 2-D float array, whichever it is or holds."""
    if isinstance(X, Features):
        return X
    if sp.issparse(X):
        return sp.csr_array(X).astype(float, copy=False)
    if not isinstance(X, np.ndarray) and len(X) and isinstance(X[0], Features):
        return Features.vstack(list(X))
    if not isinstance(X, np.ndarray) and len(X) and sp.issparse(X[0]):
        return sp.csr_array(sp.vstack([x.reshape(1, -1) for x in X]))
    array = np.asarray(X, dtype=np.float64)
    if array.ndim == 1 and not len(array):
        return array.reshape(0, 0)
    if array.ndim != 2:
        raise ValueError(
            f"vectors must form a table of rows, got an array of shape {array.shape}. "
            "Give one row a candidate."
        )
    return array


def _plain(F: Any) -> Any:
    return F.values if isinstance(F, Features) else F


def _same_width(F: Any, G: Any) -> None:
    if F.shape[1] != G.shape[1]:
        raise ValueError(
            f"vectors of {F.shape[1]} numbers against vectors of {G.shape[1]}: "
            "both sides must be represented alike."
        )


# A cfg is checked before the blocks inside are built, so the parts check themselves.
KernelCollection = Sequence[Any] | Mapping[str, Any]
LINEAR = Linear()


@dataclass(frozen=True)
class Sum:
    """Weighted sum of kernels on the same inputs: ``Σ w_j k_j(x, z)``; weight 1 where not given.

    Kernels come with names, or as a list: then each is named after its view or, without one, its
    class. The features are those of the parts side by side, each part under its name.

    >>> Sum([Linear(), Linear()], weights=[1.0, 0.5])(np.array([[2.0]])).item()
    6.0
    """

    kernels: KernelCollection
    weights: Sequence[float] | Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        kernels = _named(self.kernels)
        object.__setattr__(self, "kernels", kernels)
        object.__setattr__(self, "weights", resolve_weights(self.weights, list(kernels)))

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        (_, weight, first), *rest = self._parts
        total = weight * first(X, Y)
        for _, weight, kernel in rest:
            total += weight * kernel(X, Y)
        return total

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return np.sum([weight * kernel.diag(X) for _, weight, kernel in self._parts], axis=0)

    def features(self, X: Sequence[Any]) -> Features:
        """The parts' features side by side, each times the root of its weight; none at weight 0."""
        parts = self._counting
        return Features.hstack({n: features_of(k, X).scale(w**0.5) for n, w, k in parts})

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """The sum of what the parts' features come to."""
        parts = [
            (w**0.5, compile_scorer(k, weights.select_prefix(n))) for n, w, k in self._counting
        ]

        def weigh(X: Sequence[Any], asked: Indices) -> LinearScores:
            found = [part(X, asked).scale(root) for root, part in parts]
            products, squares = np.zeros(len(asked)), np.zeros(len(asked))
            for own in found:
                products += own.products
                squares += own.squares
            return LinearScores(
                products,
                squares,
                lambda: Contributions.concat([own.contributions() for own in found]),
            )

        return weigh

    @property
    def _counting(self) -> list[tuple[str, float, Kernel[Any]]]:
        """The parts without those of weight 0; the first of them where all are."""
        return [part for part in self._parts if part[1]] or self._parts[:1]

    @property
    def _parts(self) -> list[tuple[str, float, Kernel[Any]]]:
        kernels = _named(self.kernels)
        weights = resolve_weights(self.weights, list(kernels))
        return [(name, weights[name], kernel) for name, kernel in kernels.items()]


@dataclass(frozen=True)
class Product:
    """Product of kernels on the same inputs: ``Π k_j(x, z)``; they come as for ``Sum``.

    >>> Product([Linear(), Linear()])(np.array([[3.0]])).item()
    81.0
    """

    kernels: KernelCollection

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernels", _named(self.kernels))

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        first, *rest = _named(self.kernels).values()
        product = 1.0 * first(X, Y)
        for kernel in rest:
            product *= kernel(X, Y)
        return product

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return np.prod([kernel.diag(X) for kernel in _named(self.kernels).values()], axis=0)


@dataclass(frozen=True)
class Scale:
    """A kernel times a positive number: ``c k(x, z)``.

    >>> Scale(Linear(), factor=2.0)(np.array([[3.0]])).item()
    18.0
    """

    kernel: Kernel[Any]
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not self.factor > 0:
            raise ValueError(f"factor must be positive, got {self.factor}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        return self.factor * self.kernel(X, Y)

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return self.factor * self.kernel.diag(X)

    def features(self, X: Sequence[Any]) -> Features:
        """The features of the kernel, times the root of the factor."""
        return features_of(self.kernel, X).scale(self.factor**0.5)


@dataclass(frozen=True)
class Power:
    """A kernel to a whole power: ``k(x, z)^d``, all products of d features.

    >>> Power(Linear(), degree=3)(np.array([[2.0]])).item()
    64.0
    """

    kernel: Kernel[Any]
    degree: int = 2

    def __post_init__(self) -> None:
        _check_degree(self.degree)

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        return self.kernel(X, Y) ** self.degree

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return self.kernel.diag(X) ** self.degree


@dataclass(frozen=True)
class Polynomial:
    """Products of up to d features: ``(γ k(x, z) + c)^d`` over a kernel, the linear one by default.

    >>> Polynomial(degree=2, constant=1.0)(np.array([[1.0], [2.0]]))
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    degree: int = 2
    gamma: float = 1.0
    constant: float = 0.0
    kernel: Kernel[Any] = LINEAR

    def __post_init__(self) -> None:
        _check_degree(self.degree)
        if not self.gamma > 0 or self.constant < 0:
            raise ValueError(
                f"gamma must be positive and constant at least 0, got gamma={self.gamma}, "
                f"constant={self.constant}: the kernel would not be positive semidefinite."
            )

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        return (self.gamma * self.kernel(X, Y) + self.constant) ** self.degree

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return (self.gamma * self.kernel.diag(X) + self.constant) ** self.degree


@dataclass(frozen=True)
class Gaussian:
    """Nearness in the space of a kernel: ``exp(-γ d²)``, ``d² = k(x,x) + k(z,z) - 2 k(x,z)``.

    >>> float(np.round(Gaussian(gamma=0.5)(np.array([[0.0], [2.0]]))[0, 1], 6))
    0.135335
    """

    gamma: float = 1.0
    kernel: Kernel[Any] = LINEAR

    def __post_init__(self) -> None:
        if not self.gamma > 0:
            raise ValueError(f"gamma must be positive, got {self.gamma}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
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
        """The similarity of each input with itself, ``(x,)``."""
        return np.ones(len(self.kernel.diag(X)))


@dataclass(frozen=True)
class Exponential:
    """All powers of a kernel at once: ``exp(γ (k(x, z) - 1))``.

    On a normalised kernel this is a Gaussian on unit vectors, 1 where they are equal.

    >>> float(np.round(Exponential(Linear(), gamma=2.0)(np.array([[0.0]])).item(), 6))
    0.135335
    """

    kernel: Kernel[Any]
    gamma: float = 1.0

    def __post_init__(self) -> None:
        if not self.gamma > 0:
            raise ValueError(f"gamma must be positive, got {self.gamma}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        return np.exp(self.gamma * (self.kernel(X, Y) - 1.0))

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return np.exp(self.gamma * (self.kernel.diag(X) - 1.0))


@dataclass(frozen=True)
class Normalized:
    """The cosine of the angle in the space of a kernel: ``k(x,z) / √(k(x,x) k(z,z))``.

    An input without any feature has no direction. ``empty="refuse"`` raises an error that names it,
    ``empty="zero"`` keeps it as the zero vector, similar to nothing, not even to itself.

    >>> float(np.round(Normalized(Linear())(np.array([[3.0, 4.0], [4.0, 3.0]]))[0, 1], 6))
    0.96
    """

    kernel: Kernel[Any]
    empty: str = "refuse"

    def __post_init__(self) -> None:
        if self.empty not in ("refuse", "zero"):
            raise ValueError(f"empty must be 'refuse' or 'zero', got {self.empty!r}")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
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
        """The similarity of each input with itself, ``(x,)``."""
        return (self._factors(self.kernel.diag(X)) > 0).astype(float)

    def features(self, X: Sequence[Any]) -> Features:
        """The features of the kernel, each row of length one."""
        F = features_of(self.kernel, X)
        return F.scale(self._factors(Linear().diag(F)))

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """What the features of the kernel come to, divided by their length."""
        inner = compile_scorer(self.kernel, weights)

        def weigh(X: Sequence[Any], asked: Indices) -> LinearScores:
            found = inner(X, asked)
            return found.scale(self._factors(found.squares))

        return weigh

    def _factors(self, squared: Vector) -> Vector:
        zero = np.flatnonzero(squared <= 0)
        if len(zero) and self.empty == "refuse":
            raise ValueError(
                f"{len(zero)} of {len(squared)} inputs have no features and cannot be normalised, "
                f"the first at index {zero[0]}. Leave them out, or set empty='zero'."
            )
        return np.divide(1.0, np.sqrt(squared), out=np.zeros(len(squared)), where=squared > 0)


@dataclass(frozen=True)
class OnView:
    """A kernel on one of several named views of the candidates.

    >>> views = MultiView({"a": np.array([[1.0], [2.0]]), "b": np.array([[5.0], [0.0]])})
    >>> OnView("a", Linear())(views)
    array([[1., 2.],
           [2., 4.]])
    """

    name: str
    kernel: Kernel[Any]

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        return self.kernel(self.view(X), None if Y is None else self.view(Y))

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return self.kernel.diag(self.view(X))

    def features(self, X: Sequence[Any]) -> Features:
        """The features of the kernel on this view."""
        return features_of(self.kernel, self.view(X))

    def compile_scorer(self, weights: FeatureWeights) -> Scorer:
        """What the features of the kernel on this view come to."""
        inner = compile_scorer(self.kernel, weights)

        def weigh(X: Sequence[Any], asked: Indices) -> LinearScores:
            return inner(X.shared(self.name) if isinstance(X, MultiView) else self.view(X), asked)

        return weigh

    def view(self, X: Sequence[Any]) -> Sequence[Any]:
        """The candidates in this view."""
        return X.view(self.name) if isinstance(X, MultiView) else [x[self.name] for x in X]


def _named(kernels: KernelCollection) -> dict[str, Kernel[Any]]:
    if not kernels:
        raise ValueError("kernels must name at least one kernel, got none")
    for part in kernels.values() if isinstance(kernels, Mapping) else kernels:
        if not isinstance(part, Kernel):
            raise ValueError(f"{type(part).__name__} stands in the place of a kernel: {part!r}")
    if isinstance(kernels, Mapping):
        return dict(kernels)
    return dict(zip(_titles(kernels), kernels, strict=True))


def resolve_weights(
    weights: Sequence[float] | Mapping[str, float] | None, names: Sequence[str]
) -> dict[str, float]:
    """A weight for each name; 1 where none is given."""
    if weights is None or isinstance(weights, Mapping):
        given = dict(weights or {})
    elif len(weights) == len(names):
        given = dict(zip(names, weights, strict=True))
    else:
        raise ValueError(f"weights must be {len(names)}, one a kernel, got {list(weights)}")
    if unknown := sorted(set(given) - set(names)):
        raise ValueError(f"weights for {unknown}, but the kernels are {sorted(names)}")
    if any(weight < 0 for weight in given.values()):
        raise ValueError(f"weights must not be negative, got {given}")
    return {name: float(given.get(name, 1.0)) for name in names}


def _check_degree(degree: int) -> None:
    if degree < 1 or int(degree) != degree:
        raise ValueError(f"degree must be a whole number of at least 1, got {degree}")


def _titles(kernels: Sequence[Kernel[Any]]) -> list[str]:
    """A word a kernel, different ones: the view it looks at, else its class."""
    plain = [_view_of(kernel) or type(kernel).__name__ for kernel in kernels]
    return [
        title if plain.count(title) == 1 else f"{title}_{plain[: i + 1].count(title)}"
        for i, title in enumerate(plain)
    ]


def _view_of(kernel: Kernel[Any]) -> str:
    """The one view that a kernel looks at, however wrapped; empty where there is none."""
    if isinstance(kernel, OnView):
        return kernel.name
    parts = subkernels(kernel)
    return _view_of(parts[0]) if len(parts) == 1 else ""


@dataclass(frozen=True)
class Centred:
    """A kernel as seen from the mean of some reference inputs.

    ``k(x,z) - mean_r k(x,r) - mean_r k(r,z) + mean_rs k(r,s)``. The reference is fixed, so training
    and new inputs are centred alike; for the training part itself give it as ``reference``.

    >>> import numpy as np
    >>> from textrank.kernels.algebra import Linear
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> Centred(Linear(), reference=X)(X).sum().round(9).item()
    0.0
    """

    kernel: Kernel[Any]
    reference: Sequence[Any]

    def __post_init__(self) -> None:
        if not len(self.reference):
            raise ValueError("reference must hold at least one reference input, got none")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        left = self._means(X)
        right = left if Y is None else self._means(Y)
        K = self.kernel(X, Y) - left[:, None]
        K -= right[None, :]
        K += self.kernel(self.reference).mean()
        return K

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return self.kernel.diag(X) - 2 * self._means(X) + self.kernel(self.reference).mean()

    def _means(self, X: Sequence[Any]) -> Vector:
        return self.kernel(X, self.reference).mean(axis=1)


SimilarityMeasure = Callable[[Sequence[Any], Sequence[Any]], Matrix]


@dataclass(frozen=True)
class Similarities:
    """The empirical kernel map: ``φ(x) = (s(x, r_1), ..., s(x, r_p))`` for prototypes ``r``.

    The measure ``s`` may be any function of two lists that gives a matrix, also one that is not
    positive semidefinite or that grows with dissimilarity (``Distance``): the inner product of
    the maps is a kernel in every case.

    >>> from textrank.kernels.algebra import Linear
    >>> Similarities(Linear(), np.array([[1.0, 0.0], [1.0, 1.0]]))(np.array([[2.0, 1.0]])).item()
    13.0
    """

    measure: SimilarityMeasure
    prototypes: Sequence[Any]

    def __post_init__(self) -> None:
        if not count_rows(self.prototypes):
            raise ValueError("prototypes must hold at least one input, got none")

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        F = self.map(X)
        return F @ (F if Y is None else self.map(Y)).T

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return np.asarray((self.map(X) ** 2).sum(axis=1))

    def features(self, X: Sequence[Any]) -> Features:
        """A column a prototype, named by its number."""
        names = FeatureNames.from_iterable(
            ("prototype", str(i)) for i in range(count_rows(self.prototypes))
        )
        return Features(sp.csr_array(self.map(X)), names)

    def map(self, X: Sequence[Any]) -> Matrix:
        """The measured values, (x, prototypes)."""
        if not count_rows(X):
            return np.zeros((0, count_rows(self.prototypes)))
        return np.asarray(self.measure(X, self.prototypes), dtype=np.float64)


@dataclass(frozen=True)
class Distance:
    """Distance in the space of a kernel, ``√(k(x,x) + k(z,z) - 2 k(x,z))``, for ``Similarities``.

    >>> from textrank.kernels.algebra import Linear
    >>> Distance(Linear())(np.array([[0.0]]), np.array([[3.0]])).item()
    3.0
    """

    kernel: Kernel[Any]

    def __call__(self, X: Sequence[Any], Y: Sequence[Any]) -> Matrix:
        squared = self.kernel.diag(X)[:, None] + self.kernel.diag(Y) - 2 * self.kernel(X, Y)
        return np.sqrt(squared.clip(min=0.0))  # round-off only
