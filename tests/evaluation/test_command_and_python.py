"""``textrank evaluate`` gives the figures of ``textrank.evaluation.evaluate``, and the card's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from textrank.cli import main
from textrank.cli.app import read_corpus
from textrank.config import load_corpus, load_model
from textrank.evaluation import evaluate

ROOT = Path(__file__).parents[2]
SAMPLES = {
    "ppi": "sample-ppi",
    "gene_protein": "sample-gene-protein",
    "spelling": "sample-spelling",
    "parse_ranking": "sample-parses",
}
NOT_COMPARED = ("seconds", "pipeline", "corpus", "versions")


def run_command(monkeypatch: pytest.MonkeyPatch, file: Path, *words: str) -> dict[str, Any]:
    monkeypatch.setattr("sys.argv", ["textrank", "evaluate", *words, "--json", str(file)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return values


def flatten(value: Any, path: str = "") -> dict[str, Any]:
    """Return the leaves of nested lists and mappings by their path."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {k: v for key, part in items for k, v in flatten(part, f"{path}/{key}").items()}
    return {path: value}


@pytest.mark.parametrize(
    ("name", "positives"),
    [("ppi", "auto"), ("ppi", None), ("gene_protein", "auto"), ("spelling", "auto"),
     ("parse_ranking", None)],
)  # fmt: skip
def test_the_command_gives_the_figures_of_python(
    monkeypatch, tmp_path, trained_spelling, name, positives
):
    corpus = str(ROOT / "corpora" / SAMPLES[name])
    if name == "spelling":  # the shipped model has no candidates to evaluate
        name = str(tmp_path / "model")
        trained_spelling.to_disk(name)
    options = () if positives is None else ("--positives", positives)
    by_command = run_command(monkeypatch, tmp_path / "figures.json", name, corpus, *options)
    model, source = load_model(name), load_corpus(corpus)
    docs = read_corpus(source, None, model.pipeline.task)
    report = evaluate(model, docs, corpus=source.name, positives=positives)
    by_python = json.loads(json.dumps(report.to_dict()))
    for values in (by_command, by_python):
        for key in NOT_COMPARED:
            values.pop(key, None)
    expected, found = flatten(by_python), flatten(by_command)
    assert expected.keys() == found.keys()
    for path, value in expected.items():
        if isinstance(value, float):
            value = pytest.approx(value, rel=0, abs=1e-9)
        assert found[path] == value, path


def test_the_card_states_what_its_command_prints(monkeypatch, tmp_path):
    """models/ppi/README.md: the console line, then F, AUC and calibration error on the sample."""
    card = (ROOT / "models" / "ppi" / "README.md").read_text(encoding="utf-8")
    line = re.search(r"`textrank evaluate (ppi corpora/sample-ppi --positives auto)`", card)
    stated = re.search(
        r"F (?P<f>[\d.]+), AUC (?P<auc>[\d.]+),\s+calibration error "
        r"(?P<calibration_error>\.\d+) \((?P<calibration_error_of_chance>\.\d+)\)",
        card,
    )
    assert line is not None
    assert stated is not None
    monkeypatch.chdir(ROOT)
    words = line[1].split()
    (fold,) = run_command(monkeypatch, tmp_path / "figures.json", *words)["folds"]
    for key, text in stated.groupdict().items():
        scale, tolerance = (1, 5e-4) if "error" in key else (100, 0.05)
        measured = scale * fold[key]
        assert float(text) == pytest.approx(measured, abs=tolerance + 1e-9), key
