"""A simulated curator: gold answers to chosen and to random questions, F on documents left out.

    python docs/experiments/curation.py CORPUS [--answers 400] [--folds 5] [--seeds 3]

Documents are dealt out into folds. The candidates of all folds but one are asked about, one at a
time, and answered by gold; after every 20 answers alpha is chosen anew by leave-document-out among
the answers, the threshold as the page sets it, and the left-out fold is judged. Figures are pooled
over folds: at each number of answers every candidate of the corpus is judged once.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

import numpy as np

from textrank.cli.sources import load_language
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation.splits import make_folds
from textrank.learners.online import OnlineRLS
from textrank.metrics import auc, precision_recall_f
from textrank.pipeline import Dataset, Pipeline
from textrank.web._kernel_rows import FeatureRows
from textrank.web.active_learner import ActiveLearner, QueryStrategy, build_questions, select_alphas

STEP = 20


def teaching_of(
    pipeline: Pipeline, data: Dataset, index: np.ndarray, choice: QueryStrategy
) -> ActiveLearner:
    """A teaching of some candidates of a dataset, without representing them again."""
    candidates = [data.candidates[i] for i in index]
    rows = FeatureRows(data.data.values[index], data.data.names)
    alphas, alpha = select_alphas(pipeline, None)
    questions = {q.key: q for q in build_questions(candidates)}
    groups = data.targets.groups[index].tolist()
    base = np.zeros(len(index))
    made = ActiveLearner(pipeline, None, candidates, groups, rows, base, OnlineRLS.empty(alpha=alpha), [],
                    {}, questions, {}, alphas, choice)  # fmt: skip
    made._density = rows.density()
    return made


def curve(
    teaching: ActiveLearner, y: np.ndarray, test: FeatureRows, answers: int, seed: int | None
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Scores and decisions on the left-out documents after every STEP answers."""
    rng = np.random.default_rng(seed)
    order = iter(rng.permutation(len(y)).tolist()) if seed is not None else None
    by_row = {q.rows[0]: q for q in teaching.questions.values()}
    found = {}
    for number in range(1, answers + 1):
        question = teaching.next_question() if order is None else by_row.get(next(order, -1))
        if question is None:
            break
        teaching.learn(question, "yes" if y[question.rows[0]] > 0 else "no")
        if number % STEP == 0:
            teaching.tune()
            weights = teaching.rows.feature_weights(teaching.index, teaching.online.coef)
            scores = np.asarray(test.values @ weights)
            found[number] = scores, scores >= teaching.threshold
    return found


def simulate(
    pipeline: Pipeline,
    data: Dataset,
    *,
    answers: int,
    folds: int,
    seed: int | None,
    choice: QueryStrategy,
) -> dict[int, tuple[float, float]]:
    """F and mean AUC on left-out documents by the number of answers; random with a seed."""
    documents = [str(d) for d in data.targets.groups]
    fold = make_folds(documents, folds, seed=0)
    y = data.targets.y
    pooled: dict[int, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
    for number in range(folds):
        inside, outside = (np.flatnonzero(test) for test in (fold != number, fold == number))
        teaching = teaching_of(pipeline, data, inside, choice)
        test = FeatureRows(data.data.values[outside], data.data.names)
        for size, (scores, yes) in curve(teaching, y[inside], test, answers, seed).items():
            pooled.setdefault(size, []).append((y[outside], scores, yes))
    return {size: _figures(parts) for size, parts in pooled.items() if len(parts) == folds}


def _figures(parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[float, float]:
    y, yes = (np.concatenate([part[i] for part in parts]) for i in (0, 2))
    aucs = [auc(y, scores) for y, scores, _ in parts]
    return float(precision_recall_f(y, yes).f or 0.0), float(np.mean([a for a in aucs if a]))


def main() -> None:
    """Prints the curves as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("--pipeline", default="ppi-linear")
    parser.add_argument("--answers", type=int, default=400)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--typical", type=float, default=QueryStrategy.typical)
    parser.add_argument("--varied", type=float, default=QueryStrategy.varied)
    parser.add_argument("--reach", type=float, default=QueryStrategy.reach)
    given = parser.parse_args()
    pipeline = load_pipeline(given.pipeline)
    docs = list(load_corpus(given.corpus)(load_language(None, pipeline.task)))
    data = pipeline.prepare(docs)
    choice = QueryStrategy(given.typical, given.varied, given.reach)
    for seed in [None, *range(given.seeds)]:
        found = simulate(pipeline, data, answers=given.answers, folds=given.folds, seed=seed,
                         choice=choice)  # fmt: skip
        name = "chosen" if seed is None else f"random {seed}"
        sys.stdout.write(json.dumps({"questions": name, "curve": found}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
