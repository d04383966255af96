"""Influence of all documents in units of one eigendecomposition of the same size."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.ratios import gaussian, labels, measure, table
from textrank.candidates import Targets
from textrank.learners.reduced import ReducedRLS
from textrank.learners.rls import RLS

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

ALPHA = 1.0
ANSWERS = 1000


def test_influence_of_all_documents_on_1000_answers():
    """It costs at most one decomposition more than the model."""
    K, y = gaussian(1500 + ANSWERS)
    train, new = K[:1500, :1500], K[1500:, :1500]
    groups = labels(1500, 10)
    targets = Targets(np.sign(y[:1500]), groups, groups)
    learner = RLS((ALPHA,), "squared_error")
    reduced = ReducedRLS(400, (ALPHA,), "squared_error")
    name, on_basis, trained = "RLS", "RLS on a basis of 400", "training on a basis of 400"
    table(
        f"Influence of all documents on {ANSWERS} answers, 1500 candidates",
        measure(
            {
                "one eigh": lambda: np.linalg.eigh(train),
                name: lambda: learner.group_changes(train, targets, ALPHA).of_scores(new),
                trained: lambda: reduced.fit(train, targets),
                on_basis: lambda: reduced.group_changes(train, targets, ALPHA).of_scores(new),
            },
            repeats=3,
        ),
        "one eigh",
        {name: 1.0, on_basis: 1.0},
    )
