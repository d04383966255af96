"""Bootstrap intervals over documents against copying the documents by hand."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.evaluation.statistics import bootstrap_intervals
from textrank.metrics import auc, precision_recall_f


def by_copying(y, scores, documents, said, parts, draws, unreachable, level=0.95, seed=0):
    """Draws whole documents, copies their candidates, and measures every part anew."""
    names = sorted({*documents, *unreachable})
    rng = np.random.default_rng(seed)
    found = {"auc": [], "f": [], "precision": [], "recall": []}
    for _ in range(draws):
        counts = rng.multinomial(len(names), np.full(len(names), 1 / len(names)))
        times = np.array([counts[names.index(d)] for d in documents])
        values = {name: [] for name in found}
        for part in np.unique(parts):
            at = np.repeat(np.flatnonzero(parts == part), times[parts == part])
            here = {documents[i] for i in np.flatnonzero(parts == part)}
            missed = sum(n * counts[names.index(d)] for d, n in unreachable.items() if d in here)
            measured = precision_recall_f(y[at], said[at], int(missed))
            values["auc"].append(auc(y[at], scores[at]))
            for name in ("f", "precision", "recall"):
                values[name].append(getattr(measured, name))
        for name, row in values.items():
            defined = [v for v in row if v is not None]
            found[name].append(np.mean(defined) if defined else np.nan)
    ends = [(1 - level) / 2, (1 + level) / 2]
    return {name: np.nanquantile(values, ends) for name, values in found.items()}


@pytest.mark.parametrize("seed", range(3))
def test_weights_equal_copies_of_documents(seed):
    rng = np.random.default_rng(seed)
    n = 60
    documents = [f"d{i}" for i in rng.integers(0, 8, n)]
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    scores = (y * 0.4 + rng.normal(size=n)).round(1)  # rounded: ties
    parts = np.array([int(d[1:]) % 2 for d in documents])
    said = scores > 0.1
    unreachable = {"d0": 2, "d3": 1}
    ours = bootstrap_intervals(
        y, scores, documents, decisions=said, parts=parts, unreachable=unreachable,
        resamples=80, seed=seed,
    )  # fmt: skip
    slow = by_copying(y, scores, documents, said, parts, 80, unreachable, seed=seed)
    for name, ends in slow.items():
        np.testing.assert_allclose([ours[name].low, ours[name].high], ends, atol=1e-12)


def test_few_documents_are_less_sure_than_many_candidates_suggest(rng):
    # Whole documents are easy or hard, as abstracts are.
    y = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    scores = y * np.repeat([3, -1] * 4, 50) + rng.normal(size=400)
    documents = [f"d{i // 50}" for i in range(400)]
    alone = [str(i) for i in range(400)]
    grouped = bootstrap_intervals(y, scores, documents, resamples=300)["auc"]
    single = bootstrap_intervals(y, scores, alone, resamples=300)["auc"]
    assert grouped.high - grouped.low > 2 * (single.high - single.low)
    assert single.low < auc(y, scores) < single.high


def test_resamples_without_both_classes_are_counted():
    found = bootstrap_intervals([1, -1], [1.0, 0.0], ["a", "b"], resamples=200)["auc"]
    assert 0 < found.undefined < 200
    assert bootstrap_intervals([1, 1], [1.0, 0.0], ["a", "b"], resamples=20) == {}


def test_intervals_repeat_with_the_seed_and_refuse_nonsense():
    arguments = ([1, -1, 1, -1], [1.0, 2.0, 3.0, 0.0], ["a", "b", "c", "d"])
    assert bootstrap_intervals(*arguments, seed=3) == bootstrap_intervals(*arguments, seed=3)
    with pytest.raises(ValueError, match="level lies between 0 and 1"):
        bootstrap_intervals(*arguments, level=95)
    with pytest.raises(ValueError, match="differ in length or are empty"):
        bootstrap_intervals([], [], [])
