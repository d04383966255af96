"""Gene, protein or RNA: figures of models/README.md, on names given and on names recognised.

``pytest -m corpus -s tests/tasks/test_three_kinds.py`` prints them; five minutes on an idle core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from textrank.config import load_corpus, load_pipeline
from textrank.docs import Candidate, held_together
from textrank.evaluation.folds import document_folds
from textrank.language import load_nlp
from textrank.measures import auc
from textrank.model import Model
from textrank.tasks.choice import answered
from textrank.text import characters, original

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

ANSWERS = ["protein", "DNA", "RNA"]
SETTINGS = {
    "task.answers": ANSWERS,
    "kernel.kernel.weights.mention": 4.0,
    "learner.learner.minimum": 5,
    "learner.learner.bits": 10,
    "learner.learner.learner.alphas": [4.0],
    "learner.learner.learner.folds": 3,
}


@pytest.fixture(scope="module")
def halves(data: Path):
    """Docs of either half of the abstracts, divided at random as for the other figures."""
    docs = list(load_corpus(data / "jnlpba" / "train.jsonl.gz")(load_nlp(only=[])))
    half = document_folds(held_together(docs), 2, seed=0)
    return [[doc for doc, h in zip(docs, half, strict=True) if h == side] for side in (0, 1)]


@pytest.fixture(scope="module")
def model(halves) -> Model:
    return load_pipeline("gene_protein-document", SETTINGS).fit(halves[0])


def answers_of(doc) -> dict[tuple[int, int], str]:
    spans = doc.spans["entities"]
    return {(s.start_char, s.end_char): s.label_ for s in spans if s.label_ in ANSWERS}


def judged(model: Model, candidates: Sequence[Candidate], right: Sequence[str], what: str):
    """AUC of each answer and the share of right ones, printed with precision, recall and F."""
    scores = model.score(candidates)
    asked = np.array([c.asked for c in candidates])
    known, meant = np.array([bool(r) for r in right]), np.array(right)
    areas = {}
    for answer in ANSWERS:
        own = known & (asked == answer)
        areas[answer] = auc(np.where(meant[own] == answer, 1.0, -1.0), scores[own])
    told: Counter[tuple[str, str]] = Counter()
    for question, truth in zip(answered(candidates, scores), right[:: len(ANSWERS)], strict=True):
        p = question.probabilities(ANSWERS)
        told[truth, max(p, key=lambda answer: p[answer])] += bool(truth)
    share = sum(n for (a, b), n in told.items() if a == b) / sum(told.values())
    print(f"\n{what}: {100 * share:.2f} % of {sum(told.values())} right")  # noqa: T201
    for answer in ANSWERS:
        hit = told[answer, answer]
        said = sum(n for (_, b), n in told.items() if b == answer)
        there = sum(n for (a, _), n in told.items() if a == answer)
        print(  # noqa: T201
            f"  {answer:<8} AUC {100 * areas[answer]:.2f}  P {100 * hit / said:.1f}"
            f"  R {100 * hit / there:.1f}  F {200 * hit / (said + there):.1f}  of {there}"
        )
    return areas


@pytest.mark.parametrize("spans", ["given", "recognised"])
def test_three_kinds(model: Model, halves, spans: str) -> None:
    test = halves[1]
    docs = list(load_nlp(only=["genes"]).pipe(d.text for d in test)) if spans != "given" else test
    truth = {id(doc): answers_of(gold) for doc, gold in zip(docs, test, strict=True)}
    candidates = [c for doc in docs for c in model.pipeline.task.candidates(doc)]
    right = [truth[id(original(c.doc))].get(characters(c.spans[0]), "") for c in candidates]
    first = judged(replace(model, fit=replace(model.fit, stage=None)), candidates, right, spans)
    second = judged(model, candidates, right, f"{spans}, second stage")
    assert min(first.values()) >= 0.97
    assert all(second[answer] >= first[answer] - 0.002 for answer in ANSWERS)
