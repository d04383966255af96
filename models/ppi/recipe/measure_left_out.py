"""Measure the recipe on corpora left out: ``make models/ppi-figures DATA=...``.

Each corpus in turn is left out of training and of calibration, with documents that share text with
it: complete texts with recognised names (PC13, CG13, GE13, GE11, AImed) and the interaction corpora
with their own names. Thresholds come from the calibrated probabilities of the tested pairs, without
their labels. Prints the tables of README.md and docs/experiments/statements.md, and writes all
figures to ``--json``. A corpus that judges one definition only is tested with that head.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import train_interactions as recipe_script
from scipy.special import expit
from workshop.recipes import load_recipe

import textrank
from textrank.features import Vector
from textrank.formats.standoff import RELATIONS
from textrank.learners.calibration import expected_threshold
from textrank.metrics import (
    auc,
    best_threshold,
    calibration_error,
    chance_calibration_error,
    precision_recall_f,
)

TESTED = ("pc13_raw", "cg13_raw", "ge13_raw", "ge11_raw", "AImed_raw")
INTERACTION_CORPORA = ("AImed", "BioInfer", "IEPA", "LLL")
COLUMNS = ("auc", "precision", "recall", "f_at_half", "f", "f_best")


def main() -> None:
    """Compare all pairs with the basis, leave each corpus out in turn, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path, help="file for all figures")
    parser.add_argument("--cache", type=Path, help="folder with represented pairs of earlier runs")
    arguments = parser.parse_args()
    recipe = load_recipe(recipe_script.HERE)
    pipeline = textrank.load_pipeline(recipe.pipeline)
    models, _ = recipe_script.load_models(
        recipe, pipeline, arguments.data, arguments.cache, tests=True
    )
    figures: dict[str, dict[str, Any]] = {}
    _write("| corpus | head | pairs | AUC | P / R / F at one half | F, expected | F, best | ECE |")
    _write("|---|---|---|---|---|---|---|---|")
    for name in (*TESTED, *INTERACTION_CORPORA):
        figures[name] = evaluate(models, name)
        for head, row in figures[name].items():
            _write(_format(name, head, row))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


def evaluate(models: recipe_script.SourceModels, name: str) -> dict[str, dict[str, Any]]:
    """Return metrics by head, and of either, on a source whose origin is left out everywhere."""
    heads = models.heads(models.origin(name))
    scores = models.scores_without(name)
    Y = models.pairs.Y[models.pairs.source == name]
    log_odds = heads.log_odds(scores)
    figures = {
        head: measure(Y[:, i], log_odds[:, i]) for i, head in enumerate(RELATIONS) if Y[:, i].any()
    }
    y = np.where((Y > 0).any(axis=1), 1.0, -1.0)
    figures["either"] = measure(y, heads.combine(scores, RELATIONS))
    if name in models.recipe.settings["selected"]:
        curve = models.selected_curve(heads, models.origin(name))
        chosen = models.recipe.settings["selected"][name]
        t = heads.combine(scores, chosen)
        row = figures[chosen[0] if len(chosen) == 1 else "either"]
        row["f_selected"] = precision_recall_f(y, t >= expected_threshold(t, curve(t))).f
    return figures


def measure(y: Vector, log_odds: Vector) -> dict[str, Any]:
    """Return metrics of pairs with these labels and log-odds.

    ``f`` is at the threshold that maximises expected F1, ``f_at_half`` (with precision and recall)
    at a probability of one half, ``f_best`` at the best threshold for these labels (optimistic).
    ``evaluate`` adds ``f_selected`` for corpora of selected sentences: at the threshold of the best
    F that the curve of the other such corpora expects.
    """
    p = expit(log_odds)
    half = precision_recall_f(y, p >= 0.5)
    return {
        "pairs": len(y),
        "auc": auc(y, log_odds),
        "precision": half.precision,
        "recall": half.recall,
        "f_at_half": half.f,
        "f": precision_recall_f(y, log_odds >= expected_threshold(log_odds, p)).f,
        "f_best": precision_recall_f(y, log_odds >= (best_threshold(y, log_odds) or 0.0)).f,
        "calibration_error": calibration_error(y, p),
        "calibration_error_of_chance": chance_calibration_error(p),
    }


def _format(name: str, head: str, row: dict[str, Any]) -> str:
    """Return a line of the table, per cent; calibration errors as fractions."""
    values = {key: f"{100 * (row[key] or 0.0):.1f}" for key in COLUMNS}
    error = f"{row['calibration_error']:.3f} ({row['calibration_error_of_chance']:.3f})"
    if "f_selected" in row:
        values["f"] += f" ({100 * row['f_selected']:.1f} as selected sentences)"
    cells = [
        name,
        head,
        str(row["pairs"]),
        values["auc"],
        f"{values['precision']} / {values['recall']} / {values['f_at_half']}",
        values["f"],
        values["f_best"],
        error.replace("0.", "."),
    ]
    return f"| {' | '.join(cells)} |"


def _write(line: str) -> None:
    """Write a line to standard output and flush it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
