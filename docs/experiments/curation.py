"""Simulate an annotator: compare chosen with random questions on held-out documents.

    python docs/experiments/curation.py CORPUS [--answers 400] [--folds 5] [--seeds 3]

Documents are split into folds. Questions about candidates of all folds but one are answered with
the gold label. After every 20 answers, alpha is chosen by leave-document-out on the answers, the
threshold is set as on the page, and the held-out fold is evaluated. Results are pooled over folds:
at each number of answers every candidate of the corpus is evaluated once.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

import numpy as np

from textrank._annotate import load_language
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation.splits import make_folds
from textrank.learners.online import OnlineRLS
from textrank.metrics import auc, precision_recall_f
from textrank.pipeline import Dataset, Pipeline
from textrank.web.active_learner import (
    ActiveLearner,
    FeatureRows,
    QueryStrategy,
    build_questions,
    select_alphas,
)

ANSWERS_PER_STEP = 20


def make_learner(
    pipeline: Pipeline, data: Dataset, index: np.ndarray, strategy: QueryStrategy
) -> ActiveLearner:
    """Return an active learner for a subset of a dataset, without representing it again."""
    candidates = [data.candidates[i] for i in index]
    rows = FeatureRows(data.data.values[index], data.data.names)
    alphas, alpha = select_alphas(pipeline, None)
    questions = {q.key: q for q in build_questions(candidates)}
    groups = data.targets.groups[index].tolist()
    learner = ActiveLearner(
        pipeline=pipeline,
        prior=None,
        candidates=candidates,
        groups=groups,
        rows=rows,
        prior_scores=np.zeros(len(index)),
        online=OnlineRLS.empty(alpha=alpha),
        labelled=[],
        labels={},
        questions=questions,
        group_of_doc={},
        alphas=alphas,
        strategy=strategy,
    )
    learner._density = rows.density()
    return learner


def curve(
    learner: ActiveLearner, y: np.ndarray, test: FeatureRows, answers: int, seed: int | None
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Return scores and decisions on held-out documents by the number of answers.

    Questions are chosen by the learner if ``seed`` is None, and at random otherwise.
    """
    rng = np.random.default_rng(seed)
    order = iter(rng.permutation(len(y)).tolist()) if seed is not None else None
    by_row = {q.rows[0]: q for q in learner.questions.values()}
    results = {}
    for number in range(1, answers + 1):
        question = learner.next_question() if order is None else by_row.get(next(order, -1))
        if question is None:
            break
        learner.learn(question, "yes" if y[question.rows[0]] > 0 else "no")
        if number % ANSWERS_PER_STEP == 0:
            learner.tune()
            weights = learner.rows.feature_weights(learner.index, learner.online.coef)
            scores = np.asarray(test.values @ weights)
            results[number] = scores, scores >= learner.threshold
    return results


def simulate(
    pipeline: Pipeline,
    data: Dataset,
    *,
    answers: int,
    folds: int,
    seed: int | None,
    strategy: QueryStrategy,
) -> dict[int, tuple[float, float]]:
    """Return F and mean AUC on held-out documents by the number of answers."""
    documents = [str(d) for d in data.targets.groups]
    fold = make_folds(documents, folds, seed=0)
    y = data.targets.y
    pooled: dict[int, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
    for number in range(folds):
        inside, outside = (np.flatnonzero(test) for test in (fold != number, fold == number))
        learner = make_learner(pipeline, data, inside, strategy)
        test = FeatureRows(data.data.values[outside], data.data.names)
        for size, (scores, yes) in curve(learner, y[inside], test, answers, seed).items():
            pooled.setdefault(size, []).append((y[outside], scores, yes))
    return {size: _evaluate(parts) for size, parts in pooled.items() if len(parts) == folds}


def _evaluate(parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """Return pooled F and mean AUC of labels, scores and decisions per fold."""
    y, yes = (np.concatenate([part[i] for part in parts]) for i in (0, 2))
    aucs = [auc(y, scores) for y, scores, _ in parts]
    return float(precision_recall_f(y, yes).f or 0.0), float(np.mean([a for a in aucs if a]))


def main() -> None:
    """Print the curves as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("--pipeline", default="ppi-linear")
    parser.add_argument("--answers", type=int, default=400)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--typical", type=float, default=QueryStrategy.typical)
    parser.add_argument("--varied", type=float, default=QueryStrategy.varied)
    parser.add_argument("--reach", type=float, default=QueryStrategy.reach)
    arguments = parser.parse_args()
    pipeline = load_pipeline(arguments.pipeline)
    docs = list(load_corpus(arguments.corpus)(load_language(None, pipeline.task)))
    data = pipeline.prepare(docs)
    strategy = QueryStrategy(arguments.typical, arguments.varied, arguments.reach)
    for seed in [None, *range(arguments.seeds)]:
        results = simulate(
            pipeline,
            data,
            answers=arguments.answers,
            folds=arguments.folds,
            seed=seed,
            strategy=strategy,
        )
        name = "chosen" if seed is None else f"random {seed}"
        sys.stdout.write(json.dumps({"questions": name, "curve": results}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
