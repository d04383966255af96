"""Measure the recipe on corpora left out: ``make models/ppi-figures DATA=...``.

Each interaction corpus in turn is left out of training and calibration, with documents that share
text with it. The model of the rest is then tested on it by the rules of ``textrank evaluate MODEL
CORPUS --positives auto``, with the names of the corpus and on raw text (``--names recognised``; the
sentences of IEPA are given, since its file has lost most full stops). PC13 and CG13 are complete
abstracts that no model was trained on; the model of all sources is tested on them. Prints the
tables of README.md and docs/experiments/ppi.md, and writes all figures to ``--json``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import spacy
import train_interactions as recipe_script
from spacy.language import Language
from spacy.tokens import Doc
from workshop.recipes import load_recipe

import textrank
from textrank.evaluation.raw_text import evaluate_raw_text
from textrank.formats.ppi_xml import PPIXML
from textrank.formats.standoff import BioNLP
from textrank.learners.calibration import PlattCalibration
from textrank.model import Model

UNSEEN = ("pc13", "cg13")  # complete abstracts that nothing was trained on


def main() -> None:
    """Train the recipe, leave each corpus out in turn, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path, help="file for all figures")
    arguments = parser.parse_args()
    recipe = load_recipe(recipe_script.HERE)
    pipeline = textrank.load_pipeline(recipe.pipeline)
    docs = recipe_script.read_sources(recipe, arguments.data)
    pairs = recipe_script.represent_sources(pipeline, docs)
    with tempfile.TemporaryDirectory() as folder:
        models = recipe_script.train(pipeline, recipe, pairs, list(docs), None, Path(folder))
        model = Model.from_disk(folder)
    figures = measure(model, models, arguments.data)
    print_tables(figures)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


def measure(
    model: Model, models: recipe_script.SourceModels, data: Path
) -> dict[str, dict[str, Any]]:
    """Return the figures of every corpus by its name."""
    task = model.pipeline.task
    nlp = textrank.load_nlp(only=[*task.required_pipes, *task.required_pipes_raw])
    figures: dict[str, dict[str, Any]] = {}
    for name in UNSEEN:
        docs = list(BioNLP(str(data / "events" / f"{name}-train.tar.gz"))(spacy.blank("en")))
        figures[name] = recognised_names(model, docs, nlp)
        _write(f"{name} {figures[name]}", sys.stderr)
    for name in reversed(recipe_script.INTERACTION_CORPORA):
        docs = list(PPIXML(str(data / "ppi" / f"{name}.xml.gz"))(spacy.blank("en")))
        other = replace(
            model,
            fit=replace(model.fit, coef=models.fit((name,))),
            calibration=PlattCalibration.fit_across_sources(*models.heldout(name)),
        )
        figures[name] = models.evaluate(name)
        figures[name] |= recognised_names(other, docs, nlp, sentences=name == "IEPA")
        _write(f"{name} {figures[name]}", sys.stderr)
    return figures


def recognised_names(
    model: Model, docs: Sequence[Doc], nlp: Language, *, sentences: bool = False
) -> dict[str, Any]:
    """Return the figures of a model on the bare texts of the Docs."""
    raw = evaluate_raw_text(model, docs, nlp, positives="auto", sentences=sentences)
    values = {"f": raw.interactions["overlap"].hits.prf.f, **raw.calibration}
    return {f"raw_{key}": value for key, value in values.items()}


def print_tables(figures: dict[str, dict[str, Any]]) -> None:
    """Print both tables in Markdown, per cent; calibration errors as fractions."""
    _write("| names given | AUC | F, best expected | F at one half | F, best | calibration error |")
    _write("|---|---|---|---|---|---|")
    for name in recipe_script.INTERACTION_CORPORA:
        row = figures[name]
        shares = [f"{100 * row[key]:.1f}" for key in ("auc", "f", "f_at_level", "f_best")]
        _write(f"| {' | '.join([name, *shares, _error(row)])} |")
    _write("\n| raw text | F, best expected | calibration error | mean probability | true share |")
    _write("|---|---|---|---|---|")
    for name, row in figures.items():
        means = [f"{row[key]:.3f}"[1:] for key in ("raw_mean_probability", "raw_positive_share")]
        shares = [f"{100 * row['raw_f']:.1f}", _error(row, "raw_"), *means]
        _write(f"| {' | '.join([name, *shares])} |")


def _write(line: str, stream: TextIO = sys.stdout) -> None:
    """Write a line and flush the stream."""
    stream.write(f"{line}\n")
    stream.flush()


def _error(row: dict[str, Any], prefix: str = "") -> str:
    """Return the calibration error with that of chance in brackets, as ``.017 (.010)``."""
    error, chance = (row[f"{prefix}calibration_error{suffix}"] for suffix in ("", "_of_chance"))
    return f"{error:.3f} ({chance:.3f})".replace("0.", ".")


if __name__ == "__main__":
    main()
