"""Click to next question with 5 000 training candidates and 300 000 features."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("starlette", reason="pages need the extra web")

from textrank.features import FeatureNames
from textrank.learners.online import OnlineRLS
from textrank.web.active_learner import ActiveLearner, FeatureRows, Question

TRAINED, POOL, FEATURES, EACH = 5_000, 2_000, 300_000, 200


def _learner(rng: np.random.Generator) -> tuple[ActiveLearner, Any]:
    n = TRAINED + POOL
    columns = (FEATURES * rng.random((n, EACH)) ** 3).astype(int).clip(max=FEATURES - 1)
    rows = np.repeat(np.arange(n), EACH)
    values = rng.random(n * EACH) / np.sqrt(EACH / 3)
    F = sp.csr_array((values, (rows, columns.ravel())), shape=(n, FEATURES))
    F.sum_duplicates()
    names = FeatureNames(
        tuple(map(str, range(FEATURES))), np.arange(FEATURES, dtype=np.int32)[:, None]
    )
    scores = F @ rng.standard_normal(FEATURES)
    y = np.where(scores > np.quantile(scores, 0.8), 1.0, -1.0)
    asked = range(TRAINED, n)
    questions = {str(i): Question(str(i), str(i // 20), (i,), ("yes", "no")) for i in asked}
    groups = [i // 20 for i in range(n)]
    empty = OnlineRLS.empty(alpha=1.0)
    rows = FeatureRows(F, names)
    made = ActiveLearner(None, None, [None] * n, groups, rows, np.zeros(n), empty, [],
                    {}, questions, {})  # type: ignore[arg-type, list-item]  # fmt: skip
    made._density = made.rows.density()
    return made, y


@pytest.mark.benchmark
def test_a_click_costs_a_fraction_of_training() -> None:
    """Seconds of one core, so that others at work on the machine do not count."""
    learner, y = _learner(np.random.default_rng(0))
    start = process_time()
    learner.retrain({i: float(y[i]) for i in range(TRAINED)}, 1.0)
    training = process_time() - start
    seconds = []
    question = learner.next_question()
    for _ in range(40):
        assert question is not None
        start = process_time()
        learner.answer(question, "yes" if y[question.rows[0]] > 0 else "no")
        question = learner.next_question()
        seconds.append(process_time() - start)
    click = float(np.median(seconds))
    print(f"\nclick {1000 * click:.0f} ms, training {training:.1f} s, ratio {training / click:.0f}")
    assert click < 0.15
    assert training / click >= 50
