"""Scoring few pairs at a time against thousands of training pairs, as a user's texts come."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.ratios import measure, table
from textrank.config import load_corpus, load_pipeline
from textrank.language import load_nlp

pytestmark = pytest.mark.benchmark

SAMPLE = Path(__file__).parents[2] / "corpora" / "sample-ppi"
TRAINED = 5834  # the pairs of AImed


def test_few_pairs_do_not_wait_for_all_training_features(rng):
    pipeline = load_pipeline("ppi", {"kernel.gaussian_weights": [1.0]})
    docs = list(load_corpus(str(SAMPLE))(load_nlp(only=["tagger", "parser"])))
    for doc in docs:
        doc.user_data.pop("dependencies", None)  # as of raw text, with our parse alone
    found = [pipeline.task.candidates(doc) for doc in docs]
    *train, new = [own for own in sorted(found, key=len) if 3 <= len(own) <= 20]
    rows = pipeline.representation([c for own in train for c in own])
    support = rows.rows(np.arange(TRAINED) % len(rows))
    coef = rng.standard_normal(TRAINED)
    prepared, X = pipeline.kernel.index(support), pipeline.representation(new)
    prepared(X)  # which indexes the names
    seconds = measure(
        {
            "the kernel itself": lambda: pipeline.kernel(X, support) @ coef,
            "prepared for the training pairs": lambda: prepared(X) @ coef,
            "views of the new pairs": lambda: pipeline.representation(new),
        }
    )
    table(
        f"{len(new)} new pairs against {TRAINED}",
        seconds,
        "the kernel itself",
        {"prepared for the training pairs": 0.3},
    )
    spent = sum(np.median(seconds[name]) for name in list(seconds)[1:])
    sys.stdout.write(f"pairs a second after parsing, one core: {len(new) / spent:.0f}\n")
