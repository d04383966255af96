"""Write the model ``spelling``: ``python build_spelling.py DATA OUT``; DATA is not used.

The model has no weights of its own. Its task is ``RealWordErrors`` with the shipped table
``confusions``, which ``textrank spell`` uses too.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from textrank.features import FeatureNames
from textrank.kernels import Linear
from textrank.learners import RLS
from textrank.learners.base import Fit
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.representations.mentions import Facts
from textrank.tasks import RealWordErrors


def main(out: Path) -> None:
    """Write the model folder."""
    pipeline = Pipeline(RealWordErrors(), Facts(), Linear(), RLS())
    empty = np.empty(0)
    fit = Fit((1.0,), 1.0, empty, np.empty((1, 0)))
    meta = {"corpus": "none: the table confusions", "licence": "MIT"}
    Model(pipeline, fit, None, FeatureNames.from_iterable([]), None, empty, empty, meta).to_disk(
        out
    )


if __name__ == "__main__":
    main(Path(sys.argv[2]))
