"""Measure the recipes of submodels: ``python -m workshop.measure_statements DATA [ASPECT ...]``.

Prints, for pairs whose interaction is given, what the recipes of ``models/ppi`` reach by *folds*
(five, of documents, over the calibrating corpora; all other sources train) and by *left-out source*
(each corpus tested by models, curves and thresholds that saw neither it nor texts it shares). GE11
never trains. Type is the accuracy over five types, direction that over the two directions of pairs
that have one, status the F1 of negated and speculated. Sign is activation, inhibition or regulation
of ExTRI2 by folds of abstracts.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from workshop.recipes import PROJECT, Recipe, load_recipe
from workshop.statements import (
    N_FOLDS,
    StatementPairs,
    assign_folds,
    calibrate,
    choose_threshold,
    fit_answers,
    read_pairs,
)

from textrank.features import Indices, Matrix
from textrank.tasks.ppi.statements import COARSE_TYPES

SIGN_SOURCE = "extri2"


def predict(
    pairs: StatementPairs, train: Indices, test: Indices, recipe: Recipe
) -> tuple[Matrix, Indices]:
    """Return log-odds (test, answers) and the index of the answer (test,) of the tested pairs."""
    heldout, scales = calibrate(pairs, train, recipe)
    models = fit_answers(pairs, train, recipe)
    scores = models(pairs.features.values[test].tocsr()) * scales[0] + scales[1]
    threshold = choose_threshold(pairs, train, heldout)
    return scores, pairs.task.choose_answers(scores, threshold)


def score(
    pairs: StatementPairs, rows: Indices, scores: Matrix, predicted: Indices
) -> dict[str, float]:
    """Return the metrics of the aspect for these pairs; see the module."""
    answers = np.array(pairs.task.answers)
    gold, chosen = pairs.answer[rows], answers[predicted]
    if pairs.task.aspect == "type":
        return {"type": float((_coarse(gold) == _coarse(chosen)).mean())}
    if pairs.task.aspect == "direction":
        directed = gold != "none"
        forward = scores[directed, 0] > scores[directed, 1]
        return {"direction": float((forward == (gold[directed] == "a>b")).mean())}
    return {
        status: 2
        * float(((gold == status) & (chosen == status)).sum())
        / max(int((gold == status).sum() + (chosen == status).sum()), 1)
        for status in ("negated", "speculated")
    }


def _coarse(types: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return types with the kinds of modification joined."""
    return np.array([COARSE_TYPES.get(name, name) for name in types.tolist()])


def measure(aspect: str, data: Path) -> None:
    """Print the figures of one aspect."""
    recipe = load_recipe(PROJECT / "models" / "ppi" / aspect / "recipe")
    tests = recipe.settings["tests"]
    sources = {**recipe.sources, **{name: {**s, "weight": 0.0} for name, s in tests.items()}}
    pairs = read_pairs(replace(recipe, sources=sources), data)
    corpora = [name for name in sources if sources[name].get("calibrate")]
    trains = ~np.isin(pairs.source, list(tests))
    chosen = np.zeros(len(pairs.source), dtype=np.intp)
    for name in (*corpora, *tests):
        test = np.flatnonzero(pairs.source == name)
        train = np.flatnonzero(trains & (pairs.source != name) & ~pairs.shares_text_with(name))
        scores, predicted = predict(pairs, train, test, recipe)
        chosen[test] = predicted
        _write(
            f"{aspect}, {name} left out, {len(test)} pairs", score(pairs, test, scores, predicted)
        )
        if aspect == "type":
            _write_confusion(pairs, test, predicted)
    folds = assign_folds(pairs)
    tested = np.isin(pairs.source, corpora)
    _measure_folds(f"{aspect}, folds", pairs, recipe, folds, tested, trains)
    if aspect == "type":
        _measure_folds("sign, folds", pairs, recipe, folds, pairs.source == SIGN_SOURCE, trains)


def _measure_folds(
    title: str,
    pairs: StatementPairs,
    recipe: Recipe,
    folds: Indices,
    tested: NDArray[np.bool_],
    trains: NDArray[np.bool_],
) -> None:
    """Print the figures of the ``tested`` pairs, each fold by models of all other pairs."""
    scores = np.zeros((len(folds), len(pairs.task.answers)))
    predicted = np.zeros(len(folds), dtype=np.intp)
    for fold in range(N_FOLDS):
        test = np.flatnonzero(tested & (folds == fold))
        train = np.flatnonzero(trains & ~(tested & (folds == fold)))
        scores[test], predicted[test] = predict(pairs, train, test, recipe)
    rows = np.flatnonzero(tested)
    if title.startswith("sign"):
        _write(title, _score_signs(pairs, rows, scores[rows]))
    else:
        _write(title, score(pairs, rows, scores[rows], predicted[rows]))


def _score_signs(pairs: StatementPairs, rows: Indices, scores: Matrix) -> dict[str, float]:
    """Return the F1 of each sign and their mean; only the types of ExTRI2 can be chosen."""
    answers = list(pairs.task.answers)
    signs = list(pairs.settings[SIGN_SOURCE]["answers"])
    chosen = np.array(signs)[scores[:, [answers.index(sign) for sign in signs]].argmax(axis=1)]
    gold = pairs.answer[rows]
    f_scores = {
        sign: 2
        * float(((gold == sign) & (chosen == sign)).sum())
        / max(int((gold == sign).sum() + (chosen == sign).sum()), 1)
        for sign in signs
    }
    return {**f_scores, "macro F": float(np.mean(list(f_scores.values())))}


def _write_confusion(pairs: StatementPairs, rows: Indices, predicted: Indices) -> None:
    """Print the most frequent errors of type."""
    gold = _coarse(pairs.answer[rows]).tolist()
    chosen = _coarse(np.array(pairs.task.answers)[predicted]).tolist()
    counts = Counter(f"{g} as {c}" for g, c in zip(gold, chosen, strict=True) if g != c)
    sys.stdout.write("  " + ", ".join(f"{k} {n}" for k, n in counts.most_common(8)) + "\n")


def _write(title: str, figures: Mapping[str, float]) -> None:
    """Print one line."""
    sys.stdout.write(f"{title}: " + ", ".join(f"{k} {v:.3f}" for k, v in figures.items()) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    for each in sys.argv[2:] or ("status", "type", "direction"):
        measure(each, Path(sys.argv[1]))
