"""The figures of docs/experiments/interactions.md, measured anew where the corpora are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from spacy.tokens import Doc

from textrank.config import load_pipeline
from textrank.evaluation import Report, Summary, cross_validate
from textrank.evaluation.evaluate import cross_corpora
from textrank.formats.research import PPIXML
from textrank.language import load_nlp

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


@cache
def read(data: Path, corpus: str, analysis: str = "split") -> list[Doc]:
    path = data / "ppi" / f"{corpus}.xml.gz"
    return list(PPIXML(str(path), analysis=analysis)(load_nlp(only=["tagger", "parser"])))


def evaluated(data: Path, corpus: str, docs: list[Doc]) -> Report:
    """Ten folds: the given ones of the large corpora, five divisions of the small ones."""
    pipeline = load_pipeline("ppi")
    if corpus in ("IEPA", "LLL"):
        return cross_validate(pipeline, docs, folds=10, seed=0, splits=5)
    folds: Mapping[str, Mapping[str, int]] = json.loads((data / "ppi" / "folds.json").read_text())
    return cross_validate(pipeline, docs, folds=folds[corpus])


@pytest.mark.parametrize(
    ("corpus", "f", "auc"),
    [
        ("AImed", 0.645, 0.895),
        ("BioInfer", 0.70, 0.885),
        ("IEPA", 0.77, 0.895),
        ("LLL", 0.86, 0.93),
    ],
)
def test_documents_never_trained_on(data: Path, corpus: str, f: float, auc: float) -> None:
    report = evaluated(data, corpus, read(data, corpus))
    assert Summary.from_folds(report.folds, "f").mean >= f
    assert Summary.from_folds(report.folds, "auc").mean >= auc


def test_the_parse_of_the_shipped_language_model_is_enough(data: Path) -> None:
    report = evaluated(data, "AImed", read(data, "AImed", "spacy"))
    given = 0.899  # with the parses of the corpus alone, see docs/experiments/interactions.md
    assert Summary.from_folds(report.folds, "auc").mean >= given - 0.02


def test_a_model_of_one_corpus_on_another(data: Path) -> None:
    names = ("AImed", "IEPA", "LLL")
    found = cross_corpora(load_pipeline("ppi"), {name: read(data, name) for name in names})
    published = {
        ("AImed", "IEPA"): 0.769,
        ("AImed", "LLL"): 0.778,
        ("IEPA", "AImed"): 0.735,
        ("IEPA", "LLL"): 0.886,
        ("LLL", "AImed"): 0.666,
        ("LLL", "IEPA"): 0.757,
    }
    for cell, auc in published.items():
        assert found.mean("auc", *cell) > auc
    assert found.mean("f_mean", "AImed", "IEPA") >= 0.65
    # Short of 0.78, which is reached only by saying yes to half.
    assert found.mean("f_mean", "AImed", "LLL") >= 0.73  # .735 with three readings, .74 with two
