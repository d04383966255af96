"""What a model folder holds must fit together, or the model would only fail when used."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textrank.io.folders import META
from textrank.types import Names, Vector


def number_of(meta: Mapping[str, Any], key: str) -> float:
    """A finite number of a model's meta.json."""
    value = meta[key]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and abs(value) <= sys.float_info.max):  # also of 400 digits, or not a number
        raise ValueError(f"{key} {value!r:.40} in {META} is no finite number")
    return float(value)


def check_sizes(
    folder: Path,
    coef: Vector,
    names: Names | None,
    support: Sequence[Any] | None,
    heldout: Vector,
    labels: Vector,
) -> None:
    """A model whose parts do not fit together would score nonsense, or only fail when used."""
    expected = len(names) if names is not None else len(support or ())
    if coef.ndim == 0 or len(coef) != expected:
        raise ValueError(f"{folder}: {len(np.atleast_1d(coef))} weights for {expected} features")
    if heldout.shape != labels.shape or heldout.ndim != 1:
        raise ValueError(f"{folder}: {heldout.shape} held-out scores for {labels.shape} answers")
    if not (np.isfinite(coef).all() and np.isfinite(labels).all()):
        raise ValueError(f"{folder}: weights or answers that are no numbers")
