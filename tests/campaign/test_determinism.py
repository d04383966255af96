"""The same answers whatever the batches, the processes and the order of documents."""

from __future__ import annotations

import json
import random
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.campaign import texts
from tests.campaign.findings import note
from tests.campaign.settings import INPUTS, SEED
from textrank.candidates import Targets, get_answers
from textrank.component import load_language
from textrank.config import load_corpus, load_model, model_names
from textrank.formats import base
from textrank.learners.rls import RLS

pytestmark = pytest.mark.campaign
SAMPLES = sorted((Path(__file__).parents[2] / "corpora" / "sample-text").glob("*.txt"))
CLOSE = 1e-5  # networks add single-precision numbers in the order that a batch gives


def sentences() -> list[str]:
    """Sample texts, pieces of them, and odd ones."""
    whole = [file.read_text() for file in SAMPLES]
    pieces = [piece for text in whole for piece in text.split(". ") if piece.strip()]
    rng = random.Random(f"{SEED} determinism")
    odd = [texts.text(rng) for _ in range(min(12, INPUTS))]
    return [t.encode(errors="replace").decode() for t in (*whole, *pieces[:8], *odd)]


@lru_cache
def loaded(name: str) -> tuple[Any, Any]:
    model = load_model(name)
    return model, load_language(None, model.pipeline.task, raw=True)


def rows(name: str, given: list[str], batch: int, folder: Path) -> list[Any]:
    """The answers to each text, read and judged in batches of a size."""
    model, nlp = loaded(name)
    file = folder / "x.jsonl"
    file.write_text("\n".join(json.dumps({"text": text}) for text in given))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "BATCH_DOCS", batch)
        docs = list(load_corpus(file, skip_bad=True)(nlp))
    return [
        get_answers(doc, model.pipeline.task.name) for doc in model.pipe(docs, batch_size=batch)
    ]


def check_same(one: Any, two: Any) -> None:
    """Equal but for the last digits of numbers."""
    if isinstance(one, float) and isinstance(two, float):
        assert one == pytest.approx(two, abs=CLOSE, rel=CLOSE)
    elif isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            if key != "because":
                check_same(one[key], two[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(two), json.dumps([one, two])[:300]
        for a, b in zip(one, two, strict=True):
            check_same(a, b)
    else:
        assert one == two


@pytest.mark.parametrize("name", [n for n in model_names() if n != "parse_ranking"])
def test_batches_and_order(name: str, tmp_path: Path) -> None:
    given = sentences()
    alone = rows(name, given, 1, tmp_path)
    for size in (3, 64):
        check_same(rows(name, given, size, tmp_path), alone)
    order = list(range(len(given)))
    random.Random(SEED).shuffle(order)
    shuffled = rows(name, [given[i] for i in order], 16, tmp_path)
    check_same(shuffled, [alone[i] for i in order])


def test_processes() -> None:
    """Two processes of spaCy's give what one gives."""
    model, nlp = loaded("ppi")
    given = sentences()[:20]
    two, one = (list(nlp.pipe(given, batch_size=5, n_process=n)) for n in (2, 1))
    check_same(*([get_answers(doc, "ppi") for doc in model.pipe(docs)] for docs in (two, one)))


def problem(rng: np.random.Generator) -> tuple[Any, Targets, float]:
    """A Gram matrix of a condition between 1 and 1e12, with answers and documents."""
    n, rank = int(rng.integers(8, 40)), int(rng.integers(1, 60))
    values = 10.0 ** rng.uniform(-6, 6) * np.logspace(0, -rng.uniform(0, 6), rank)
    X = rng.normal(size=(n, rank)) * values
    if rng.random() < 0.3:
        X[rng.integers(n)] = X[rng.integers(n)]  # two alike
    y = np.sign(rng.normal(size=n))
    y[:2] = [1.0, -1.0]
    documents = rng.integers(0, max(2, n // 3), size=n)
    documents[:2] = [0, 1]
    K = X @ X.T
    return (K + K.T) / 2, Targets(y, documents, documents), float(10.0 ** rng.uniform(-3, 3))


def test_hold_outs_equal_retraining_on_ill_conditioned_problems() -> None:
    """Closed-form scores against a model trained anew without each document, by a plain solve."""
    worst = 0.0
    for number in range(INPUTS):
        rng = np.random.default_rng([int.from_bytes(SEED.encode()), number])
        K, targets, scale = problem(rng)
        alpha = scale * float(np.trace(K)) / len(K)
        found = RLS(alphas=(alpha,), select="squared_error").fit(K, targets).heldout[0]
        for document in np.unique(targets.groups):
            test = np.flatnonzero(targets.groups == document)
            train = np.flatnonzero(targets.groups != document)
            inner = K[np.ix_(train, train)] + alpha * np.eye(len(train))
            score = K[np.ix_(test, train)] @ np.linalg.solve(inner, targets.y[train])
            worst = max(worst, float(np.abs(score - found[test]).max()))
            np.testing.assert_allclose(found[test], score, atol=1e-6, rtol=1e-6)
    note(f"hold-out against retraining: {INPUTS} problems, largest difference {worst:.1e}")
