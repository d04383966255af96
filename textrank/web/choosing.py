"""Which question would teach most: uncertain, typical of many, and unlike what was asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textrank.types import Vector


@dataclass(frozen=True)
class Choice:
    """How questions are weighed: ``uncertainty * density^typical * (1 - nearest)^varied``.

    Of the best few, each is weighed by what an answer would settle about all candidates, to the
    power of ``reach`` (``textrank.web.reach``).
    """

    typical: float = 0.1
    varied: float = 0.25
    reach: float = 1.0

    def values(self, uncertain: Vector, density: Vector, nearest: Vector) -> Vector:
        """What each candidate would teach, from its uncertainty, density and nearest answer."""
        unlike = np.clip(1 - nearest, 1e-6, 1.0)
        return np.asarray(uncertain * density**self.typical * unlike**self.varied)


def chances(scores: Vector, centre: float, spread: float) -> Vector:
    """A probability by distance from the threshold, where there is too little to calibrate."""
    return np.asarray(1 / (1 + np.exp(-np.clip((scores - centre) / max(spread, 1e-9), -30, 30))))
