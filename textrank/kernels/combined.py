"""Several views of the same candidates in one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from textrank.kernels.algebra import Exponential, Gaussian, Normalized, OnView, Sum
from textrank.kernels.vectors import Linear
from textrank.types import Kernel, Matrix, Vector


@dataclass(frozen=True)
class CombinedViews:
    """A Gaussian on the normalised, weighted sum of normalised kernels on views.

    ``exp(γ (k̄ - 1))`` where ``k̄`` is ``Σ w_v k̂_v + Σ g_u`` scaled to 1 on the diagonal: ``k̂_v``
    is the cosine of the vectors of view ``v``, ``w_v`` its weight in ``linear``, and ``g_u`` a
    Gaussian ``exp(-γ' d²)`` on view ``u`` for each ``γ'`` in ``gaussian``. ``parts`` names the
    summands. A candidate without a feature in a view is similar to nothing there.

    It is short for ``Exponential(Normalized(Sum([...])))``, which it is made of.
    """

    linear: Mapping[str, float] = field(default_factory=dict)
    gaussian: Mapping[str, Sequence[float]] = field(default_factory=dict)
    gamma: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "linear", dict(self.linear))
        widths = {name: tuple(gammas) for name, gammas in self.gaussian.items()}
        object.__setattr__(self, "gaussian", widths)
        if not self.parts:
            raise ValueError("name at least one view, in linear or in gaussian")
        _ = self.whole  # each part checks its own settings

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> Matrix:
        return self.whole(X, Y)

    def diag(self, X: Sequence[Any]) -> Vector:
        return self.whole.diag(X)

    @property
    def parts(self) -> dict[str, tuple[float, Kernel[Any]]]:
        """The summands by name, each with its weight."""
        cosines = {
            name: (weight, Normalized(OnView(name, Linear()), empty="zero"))
            for name, weight in self.linear.items()
        }
        bells = {
            f"{name}, {gamma:g}": (1.0, OnView(name, Gaussian(gamma)))
            for name, gammas in self.gaussian.items()
            for gamma in gammas
        }
        return {**cosines, **bells}

    @property
    def whole(self) -> Exponential:
        """The kernel, spelt out."""
        weights, kernels = zip(*self.parts.values(), strict=True)
        return Exponential(Normalized(Sum(kernels, weights=weights)), gamma=self.gamma)
