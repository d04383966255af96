"""Scoring contexts by table: one look-up a word, whatever the model was trained on."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from textrank.graphs import Contexts
from textrank.kernels.sequences import Positional
from textrank.representations.transformations import ScaleFree, Sided, Weighting

pytestmark = pytest.mark.benchmark

VOCABULARY = tuple(f"w{i}" for i in range(20_000))


def draw(n, span, rng):
    """Contexts of ``span`` words on each side, words as frequent as in text."""
    size = 2 * span * n
    p = 1.0 / np.arange(1, len(VOCABULARY) + 1)
    words = rng.choice(len(VOCABULARY), size, p=p / p.sum()).astype(np.int32)
    around = np.concatenate([np.arange(-span, 0), np.arange(1, span + 1)])
    positions = np.tile(around, n).astype(np.int32)
    return Contexts(VOCABULARY, words, positions, np.arange(n + 1) * 2 * span)


def best(compute, repeats=5):
    times = []
    for _ in range(repeats):
        started = time.process_time()
        compute()
        times.append(time.process_time() - started)
    return min(times)


def show(*cells):
    sys.stdout.write(f"{cells[0]:46}" + "".join(f"{cell:>14}" for cell in cells[1:]) + "\n")


@pytest.mark.parametrize(
    "positions",
    [Weighting(1.5, 0.05, of=Sided(0.5)), Weighting(1.0, 0.025, of=ScaleFree(0.3))],
    ids=["side-aware", "weighted smooth"],
)
def test_scoring_does_not_depend_on_the_number_of_training_examples(positions, rng):
    kernel = Positional(positions)
    new = draw(50_000, 10, rng)
    few = new[:200]
    sys.stdout.write("\n")
    show("contexts/s, 20 words each, one core", "trained on 500", "on 5 000")
    rates, compared = [], []
    for n in (500, 5_000):
        train = draw(n, 10, rng)
        a = rng.normal(size=n)
        F = kernel.features(train)
        model = kernel.table(F.values.T @ a, F.names, vocabulary=VOCABULARY, span=10)
        told = Contexts(model.vocabulary, new.words, new.positions, new.starts)
        table = best(lambda m=model, t=told: m.scores(t))
        rates.append(len(new) / table)
        gram = best(lambda t=train, a=a: kernel(few, t) @ a, 1)
        np.testing.assert_allclose(model.scores(few), kernel(few, train) @ a, rtol=1e-9, atol=1e-9)
        compared.append(len(few) / gram)
    unit = best(lambda: kernel.diag(new))
    show("by table", *(f"{rate:,.0f}" for rate in rates))
    show(
        "by table, scaled to unit length", *(f"{1 / (1 / r + unit / len(new)):,.0f}" for r in rates)
    )
    show("by kernel values with the training examples", *(f"{rate:,.0f}" for rate in compared))
    assert rates[1] > 0.5 * rates[0]
    assert rates[1] > 20 * compared[1]
