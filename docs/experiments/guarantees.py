"""Simulate guarantees: how often is the promised share of wrong answers exceeded?

    python docs/experiments/guarantees.py CORPUS [OTHER ...] [--pipeline ppi-linear] [--splits 500]

The pipeline is trained once on CORPUS; its leave-document-out scores stand for scores of new
documents. In each split, half of the documents choose the level (``control_error``) and the other
half tests it. MAPIE's risk control of precision, which takes answers for independent, chooses a
level on the same halves (``pip install mapie``). Then new documents are compared with training
documents: random parts of CORPUS with the rest (false alarms), and the first documents of the
OTHER corpora with all of CORPUS.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from mapie.risk_control import BinaryClassificationController
from scipy.special import expit

from textrank.component import load_language
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation.guarantees import (
    HeldoutAnswers,
    compare_profiles,
    control_error,
    find_shift,
)
from textrank.features import Indices
from textrank.model import Model

PART_DOCUMENTS = 30  # that are compared with training documents


def take_documents(answers: HeldoutAnswers, documents: Indices) -> HeldoutAnswers:
    """Return the answers of some documents, numbered from 0."""
    rows = np.isin(answers.groups, documents)
    _, groups = np.unique(answers.groups[rows], return_inverse=True)
    return replace(
        answers,
        confidence=answers.confidence[rows],
        is_wrong=answers.is_wrong[rows],
        groups=groups,
    )


def control_by_mapie(answers: HeldoutAnswers, max_error: float) -> float | None:
    """Return the level that MAPIE chooses for a precision, by answers; None if none is valid."""
    controller = BinaryClassificationController(
        lambda X: np.column_stack([1 - expit(X[:, 0]), expit(X[:, 0])]),
        risk="precision",
        target_level=1 - max_error,
        confidence_level=0.95,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(answers.confidence[:, None], (1 - answers.is_wrong).astype(int))
    best = controller.best_predict_param
    if best is None:
        return None
    return float(np.log(best) - np.log1p(-best)) if 0 < best < 1 else None


def simulate(answers: HeldoutAnswers, max_error: float, splits: int) -> dict[str, Any]:
    """Return, for both ways, how often a level was found, and how often the test half exceeds."""
    rng, n = np.random.default_rng(0), int(answers.groups.max()) + 1
    counts = {name: np.zeros(4) for name in ("textrank", "mapie")}
    for _ in range(splits):
        order = rng.permutation(n)
        chosen, tested = (take_documents(answers, part) for part in np.array_split(order, 2))
        levels = {
            "textrank": control_error(chosen, max_error, 0.05),
            "mapie": control_by_mapie(chosen, max_error),
        }
        for name, level in levels.items():
            if level is None:
                continue
            given = tested.confidence >= level
            total = answers.confidence >= level
            share = tested.is_wrong[given].mean() if given.any() else 0.0
            right = (1 - tested.is_wrong)[given].sum() / (1 - tested.is_wrong).sum()
            exceeds = answers.is_wrong[total].mean() > max_error
            counts[name] += [1, share > max_error, exceeds, right]
    return {
        name: {
            "level found": c[0] / splits,
            "test half exceeds": c[1] / splits,
            "whole corpus exceeds": c[2] / splits,
            "right answers given": c[3] / c[0] if c[0] else 0.0,
        }
        for name, c in counts.items()
    }


def false_alarms(model: Model, splits: int) -> float:
    """Return how often a random part of the training documents is reported as shifted."""
    assert model.reference is not None
    profiles, rng = model.reference.profiles, np.random.default_rng(0)
    alarms = 0
    for _ in range(splits):
        order = rng.permutation(len(profiles))
        part, rest = order[:PART_DOCUMENTS], order[PART_DOCUMENTS:]
        alarms += compare_profiles(profiles[rest], profiles[part]).is_shifted
    return alarms / splits


def main() -> None:
    """Train on the first corpus, simulate, compare the other corpora, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("others", nargs="*")
    parser.add_argument("--pipeline", default="ppi-linear")
    parser.add_argument("--splits", type=int, default=500)
    parser.add_argument("--max-error", type=float, nargs="+", default=[0.1, 0.2, 0.3])
    arguments = parser.parse_args()
    pipeline = load_pipeline(arguments.pipeline)
    nlp = load_language(None, pipeline.task)
    model = pipeline.fit(load_corpus(arguments.corpus)(nlp))
    assert model.reference is not None
    answers = HeldoutAnswers.from_model(model, model.reference)
    results: dict[str, Any] = {
        "corpus": arguments.corpus.rpartition("/")[2],
        "documents": answers.n_documents,
        "answers": len(answers.confidence),
        "splits": arguments.splits,
        "guarantees": {e: simulate(answers, e, arguments.splits) for e in arguments.max_error},
        "false alarms": false_alarms(model, arguments.splits),
        "shifts": {},
    }
    for other in arguments.others:
        docs = [doc for _, doc in zip(range(PART_DOCUMENTS), load_corpus(other)(nlp), strict=False)]
        candidates = [
            replace(c, document=str(number), group=str(number))
            for number, doc in enumerate(docs)
            for c in pipeline.task.candidates(doc)
        ]
        shift = find_shift(model, candidates, model.score(candidates))
        results["shifts"][other.rpartition("/")[2]] = {
            "shifted": shift.is_shifted,
            **{c.name: [round(c.auc, 2), c.is_shifted] for c in shift.columns},
        }
    sys.stdout.write(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
