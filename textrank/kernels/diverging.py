"""How many graphs a kernel had to bound, wherever among its parts it compares graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textrank.kernels.algebra import OnView
from textrank.kernels.each_view import EachView
from textrank.types import Kernel, ScalingKernel, Viewed, parts_of


def diverging(kernel: Kernel[Any], X: Sequence[Any]) -> int:
    """Graphs whose sum over paths diverges; each counts once for every kernel that compares it.

    Any ``ScalingKernel`` is asked.
    """
    if isinstance(kernel, ScalingKernel):
        return kernel.diverging(X)
    if isinstance(kernel, OnView) and isinstance(X, Viewed):
        return diverging(kernel.kernel, X.view(kernel.name))
    if isinstance(kernel, EachView) and isinstance(X, Viewed):
        return sum(diverging(kernel.kernel, view) for view in X.views.values())
    return sum(diverging(part, X) for part in parts_of(kernel))
