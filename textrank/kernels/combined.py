"""Several views of the same candidates in one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from textrank.kernels.algebra import Exponential, Gaussian, Normalized, OnView, Sum
from textrank.kernels.prepared import PreparedViews
from textrank.kernels.vectors import Linear
from textrank.linalg.gram import features_of
from textrank.types import Alternatives, Features, Kernel, Matrix, Names, Vector


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

    >>> from textrank.types import Viewed
    >>> X = Viewed({"words": np.eye(2), "numbers": np.array([[0.0], [1.0]])})
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
        if not self.parts:
            raise ValueError("name at least one view, in linear or in gaussian")
        _ = self.whole  # each part checks its own settings

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        if len(self.gaussian_weights) > 1:
            raise ValueError(
                f"gaussian_weights {list(self.gaussian_weights)} are a choice, not a kernel. Take "
                "one of its alternatives, or let training choose."
            )
        return self.whole(X, Y)

    def against(self, Y: Sequence[Any]) -> PreparedViews:
        """The kernel prepared for many calls with the same Y, as those of a trained model."""
        return PreparedViews.of(self, Y)

    @property
    def alternatives(self) -> list[CombinedViews]:
        """The kernels to choose from, each with one of the weights."""
        return [replace(self, gaussian_weights=[weight]) for weight in self.gaussian_weights]

    def compared(self, X: Sequence[Any]) -> Alternatives:
        """The Gram matrices of all alternatives; every part is computed once."""
        plain = _total(X, [(w, k) for n, (w, k) in self.parts.items() if n in self.linear])
        bells = _total(X, [(1.0, k) for n, (_, k) in self.parts.items() if n not in self.linear])
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
        return Alternatives([{"gaussian_weight": w} for w in self.gaussian_weights], grams)

    def diag(self, X: Sequence[Any]) -> Vector:
        """The similarity of each input with itself, ``(x,)``."""
        return self.whole.diag(X)

    def contributions(self, X: Sequence[Any], Y: Sequence[Any], coef: Vector) -> Features:
        """What each named part adds to the scores ``k(X, Y) coef``, a row each, summing to them.

        The kernel is no sum of its parts, so this is a convention, that of Aumann and Shapley: let
        the similarity grow evenly from nothing to what it is, and credit every part with its share
        of the growth, ``∂/∂s exp(γ (t k̄ - 1))`` integrated over ``t`` from 0 to 1. Inner products
        are split further, exactly, into those of single features. ``constant`` is the score of a
        candidate that resembles nothing.
        """
        total = Sum(
            [k for _, k in self.parts.values()], weights=[w for w, _ in self.parts.values()]
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
        for name, (weight, kernel) in self.parts.items():
            if name in self.linear:
                blocks[name] = _by_feature(kernel, X, Y, weight * shares)
            else:
                blocks[name] = _column((weight * shares * kernel(X, Y)).sum(axis=1))
        blocks["constant"] = _column(np.full(len(K), np.exp(-self.gamma) * coef.sum()))
        return Features.beside(blocks)

    @property
    def parts(self) -> dict[str, tuple[float, Kernel[Any]]]:
        """The summands by name, each with its weight."""
        plain = {name: (weight, OnView(name, Linear())) for name, weight in self.linear.items()}
        bells = {
            f"{name}, {gamma:g}": (self.gaussian_weights[0], OnView(name, Gaussian(gamma)))
            for name, gammas in self.gaussian.items()
            for gamma in gammas
        }
        return {**plain, **bells}

    @property
    def whole(self) -> Exponential:
        """The kernel, spelt out."""
        weights, kernels = zip(*self.parts.values(), strict=True)
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
    return Features(sp.csr_array(F.values.multiply(shares @ G.onto(F.names))), F.names)


def _column(values: Vector) -> Features:
    return Features(sp.csr_array(values[:, None]), Names.of([()]))
