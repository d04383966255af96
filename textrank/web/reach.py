"""How far an answer would reach: what it would settle about all candidates, exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from textrank.learners.online import Online
from textrank.types import Indices, Matrix, Vector
from textrank.web.rows import Rows

SAMPLE = 300  # candidates that stand for all


@dataclass(frozen=True, eq=False)
class Reach:
    """Some candidates spread over all of them, and how much like the taught ones each is.

    RLS is also the mean of a Gaussian process, whose covariance needs no answers:
    ``c(x, z) = k(x, z) - k(x, T) G k(T, z)`` over the taught ``T``. An answer about ``x`` takes
    ``c(x, z)^2 / (c(x, x) + alpha)`` from the variance of every ``z``, whatever the answer is: much
    where ``x`` is like many candidates that no answer has been like, little where it stands alone.
    """

    sample: Indices  # (s,)
    K: Matrix  # (s, t) kernel values with the taught rows, in the model's order

    @classmethod
    def of(cls, rows: Rows, index: Indices, first: int = 0) -> Reach:
        """Of rows from the ``first`` on, of which those of ``index`` are taught."""
        many = max(len(rows) - first, 1)
        places = first + np.unique(np.linspace(0, many - 1, min(SAMPLE, many)).astype(np.intp))
        return cls(places, rows.between(places, index))

    def add(self, values: Vector) -> Reach:
        """After a row was taught, by its kernel values with all rows."""
        return replace(self, K=np.column_stack([self.K, values[self.sample]]))

    def forget(self, place: int) -> Reach:
        """After the taught row of a place left the model."""
        return replace(self, K=np.delete(self.K, place, axis=1))

    def gains(
        self, online: Online, taught: Matrix, sampled: Matrix, own: Vector, weights: Vector
    ) -> Vector:
        """The variance, weighted by sampled row, that answers about some rows would take away.

        ``taught`` (t, q) and ``sampled`` (s, q) are the kernel values of these rows.
        """
        V = online.times(taught)
        C = sampled - self.K @ V
        left = np.maximum(own - np.einsum("tq,tq->q", taught, V), 0.0)
        return np.asarray(weights @ C**2 / (left + online.alpha))
