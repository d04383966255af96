"""Interactions from raw text on a corpus not trained on, for docs/experiments/interactions.md.

``pytest -m corpus -s tests/protocols/test_raw_text_figures.py`` trains four models and prints it.
With TEXTRANK_KEEP naming a folder the models are kept there and used again: only names are then
found anew, which is all that changes when the recogniser does.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rich.console import Console

from textrank.cli.evaluate import evaluate_names
from textrank.cli.train import train_model
from textrank.reports.table import raw_text_table

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

CORPORA = ("AImed", "BioInfer", "IEPA", "LLL")
SETTINGS = ["learner.@learners=sparse_rls.v1", "learner.tolerance=0.001"]  # as models/ppi


def others(data: Path, corpus: str, folder: Path) -> Path:
    """A corpus.cfg of the three others, parsed by the shipped language model."""
    blocks = ["[corpus]", '@readers = "together.v1"', "[corpus.corpora]"]
    for other in CORPORA:
        if other != corpus:
            path = os.path.relpath(data / "ppi" / f"{other}.xml.gz", folder)
            blocks += [f"[corpus.corpora.{other}]", '@readers = "ppi_xml.v1"', f'path = "{path}"',
                       'analysis = "spacy"']  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.cfg").write_text("\n".join(blocks) + "\n")
    return folder


@pytest.mark.parametrize(
    ("corpus", "sentences"),
    [("LLL", False), ("IEPA", False), ("IEPA", True), ("AImed", False), ("BioInfer", False)],
)
def test_recognised_names(data: Path, tmp_path: Path, corpus: str, sentences: bool) -> None:
    file = str(data / "ppi" / f"{corpus}.xml.gz")
    keep = Path(os.environ.get("TEXTRANK_KEEP", tmp_path))
    model = keep / f"model-{corpus}"
    if not model.exists():
        three = others(data, corpus, tmp_path / "others")
        train_model("ppi-linear", str(three), model, SETTINGS, keep=300_000, without=[file])
    found = evaluate_names(str(model), file, sentences=sentences)
    Console(width=140).print(raw_text_table(found))
    own, given = found.interactions["overlap"], found.interactions["given"]
    assert own.hits.gold == given.hits.gold
    assert own.reachable >= found.interactions["exact"].reachable
    assert sum(found.reasons.values()) == own.hits.gold - own.reachable
    assert own.hits.prf.f < given.hits.prf.f
