"""The figures that pipelines/README.md states for ppi, measured anew where the corpora are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy

from textrank.config import load_pipeline
from textrank.evaluation import Summary
from textrank.language import load_nlp
from textrank.readers.ppi_xml import PPIXML

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


@pytest.mark.parametrize(("corpus", "f", "auc"), [("LLL", 0.86, 0.93), ("IEPA", 0.77, 0.895)])
def test_small_corpora_with_given_parses(data: Path, corpus: str, f: float, auc: float) -> None:
    docs = list(PPIXML(str(data / "ppi" / f"{corpus}.xml.gz"))(spacy.blank("en")))
    report = load_pipeline("ppi").cross_validate(docs, folds=10, seed=0, splits=5)
    assert Summary.of(report.folds, "f").mean >= f
    assert Summary.of(report.folds, "auc").mean >= auc


@pytest.mark.parametrize(("analysis", "f", "auc"), [("split", 0.63, 0.895), ("spacy", 0.65, 0.91)])
def test_aimed_with_given_and_own_parses(data: Path, analysis: str, f: float, auc: float) -> None:
    nlp = load_nlp(only=["tagger", "parser"]) if analysis == "spacy" else spacy.blank("en")
    docs = list(PPIXML(str(data / "ppi" / "AImed.xml.gz"), analysis=analysis)(nlp))
    folds = json.loads((data / "ppi" / "folds.json").read_text())["AImed"]
    report = load_pipeline("ppi").cross_validate(docs, folds=folds)
    assert Summary.of(report.folds, "f").mean >= f
    assert Summary.of(report.folds, "auc").mean >= auc
