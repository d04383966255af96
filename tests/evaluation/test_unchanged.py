"""Figures on the bundled samples stay what they were, or CHANGELOG.md says why they moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from textrank.cli.run import run_pipeline

ROOT = Path(__file__).parents[2]
GOLDEN = json.loads((ROOT / "tests" / "golden" / "figures.json").read_text())


@pytest.mark.parametrize("name", GOLDEN["runs"])
def test_sample_runs_give_the_figures_they_gave(name):
    expected = GOLDEN["runs"][name]
    report = run_pipeline(name, str(ROOT / "corpora" / expected["corpus"]), folds="5")
    found = {key: measure.mean for key, measure in report.measures.items()}
    for key, value in expected["measures"].items():
        assert found[key] == pytest.approx(value, abs=GOLDEN["tolerance"]), key
