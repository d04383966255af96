"""The influence file of a model: exact before rounding, bound to its model, and used by explain."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import textrank
from textrank.candidates import Candidate
from textrank.cli.app import run
from textrank.io import read_arrays, write_arrays
from textrank.learners.base import Fit
from textrank.learners.calibration import LOG_ODDS, Heads, PlattCalibration
from textrank.learners.reduced import BasisMoments
from textrank.model import Model
from textrank.training_data import INFLUENCE_FILE, StoredInfluence

ALPHA = 0.8
HEADS = ("physical", "regulation")


class Reduced:
    """A reduced model with two heads, as the recipe of ``ppi`` trains it, on few pairs."""

    def __init__(self) -> None:
        docs = list(textrank.load_corpus("corpora/sample-ppi")(textrank.load_nlp(only=[])))[:14]
        self.pipeline = textrank.load_pipeline("ppi-reduced")
        by_doc = self.pipeline.task.find_candidates(docs)
        self.candidates = [c for group in by_doc[:12] for c in group]
        self.new: list[Candidate] = [c for group in by_doc[12:] for c in group]
        rng = np.random.default_rng(3)
        n = len(self.candidates)
        self.basis = np.sort(rng.choice(n, 30, replace=False))
        self.rows = [
            np.flatnonzero([c.document == group[0].document for c in self.candidates])
            for group in by_doc[:12]
            if group
        ]
        self.names = [self.candidates[rows[0]].document for rows in self.rows]
        represented: Any = self.pipeline.representation(self.candidates)
        self.support = represented.rows(self.basis)
        self.K = np.asarray(self.pipeline.kernel(represented, self.support))
        self.gram = self.K[self.basis]
        self.Y = np.where(rng.random((n, 2)) < 0.4, 1.0, -1.0)
        self.weights = rng.uniform(0.2, 2.0, (n, 2)) * (rng.random((n, 2)) < 0.9)

    def moments(self, head: int, rows: Any) -> BasisMoments:
        root = np.sqrt(self.weights[rows, head])[:, None]
        return BasisMoments.from_columns(self.K[rows] * root, self.Y[rows][:, [head]] * root)

    def train(self, without: Any = ()) -> Model:
        rest = np.setdiff1d(np.arange(len(self.K)), without)
        keep = np.flatnonzero(~np.isin(self.basis, without))
        coefs = [self.moments(h, rest).solve(self.gram, ALPHA, keep)[:, 0] for h in (0, 1)]
        empty = np.zeros((0, 2))
        curves = (PlattCalibration(5.0, 0.3), PlattCalibration(3.0, 0.1))
        fit = Fit((ALPHA,), ALPHA, np.column_stack(coefs), empty[None])
        return Model(
            *(self.pipeline, fit, self.support, None, 0.0, np.zeros(0), np.zeros(0), {}),
            calibration=LOG_ODDS,
            heads=Heads(HEADS, curves, empty, empty),
        )

    def changes(self) -> np.ndarray:
        heads = []
        for head in (0, 1):
            root = np.sqrt(self.weights[:, head])[:, None]
            T, y = self.K * root, self.Y[:, [head]] * root
            parts = [
                (T[rows], y[rows], np.flatnonzero(np.isin(self.basis, rows))) for rows in self.rows
            ]
            total = self.moments(head, np.arange(len(self.K)))
            without = total.changes_without(self.gram, ALPHA, parts)
            heads.append(np.column_stack([change[:, 0] for change in without]))
        return np.stack(heads, axis=2)


@pytest.fixture(scope="module")
def reduced() -> Reduced:
    return Reduced()


@pytest.fixture(scope="module")
def model(reduced: Reduced) -> Model:
    return reduced.train()


def test_unrounded_changes_equal_retraining_without_the_document(
    reduced: Reduced, model: Model
) -> None:
    stored = StoredInfluence.from_changes(reduced.changes(), reduced.names, model, step=None)
    influence = model.influence(reduced.new, stored=stored)
    assert influence.documents == tuple(reduced.names)
    before = model.score(reduced.new)
    for k, rows in enumerate(reduced.rows):
        expected = reduced.train(without=rows).score(reduced.new) - before
        np.testing.assert_allclose(influence.changes[:, k], expected, rtol=0, atol=1e-9)
    assert np.abs(influence.changes).max() > 0.01


def test_rounded_changes_are_close_and_survive_the_file(
    reduced: Reduced, model: Model, tmp_path: Path
) -> None:
    exact = StoredInfluence.from_changes(reduced.changes(), reduced.names, model, step=None)
    rounded = StoredInfluence.from_changes(reduced.changes(), reduced.names, model)
    rounded.to_disk(tmp_path / INFLUENCE_FILE)
    read = StoredInfluence.from_disk(tmp_path / INFLUENCE_FILE, model)
    one, other = (model.influence(reduced.new, stored=each).changes for each in (exact, read))
    assert read.values.dtype == np.int16
    assert 0 < np.abs(one - other).max() < 0.02  # log-odds, five times a raw score
    np.testing.assert_array_equal(other, model.influence(reduced.new, stored=rounded).changes)
    content = (tmp_path / INFLUENCE_FILE).read_bytes()
    rounded.to_disk(tmp_path / INFLUENCE_FILE)
    assert (tmp_path / INFLUENCE_FILE).read_bytes() == content


def test_a_file_of_another_model_or_a_damaged_one_is_refused(
    reduced: Reduced, model: Model, tmp_path: Path
) -> None:
    file = tmp_path / INFLUENCE_FILE
    StoredInfluence.from_changes(reduced.changes(), reduced.names, model).to_disk(file)
    other = replace(model, fit=replace(model.fit, coef=model.fit.coef * (1 + 1e-9)))
    with pytest.raises(ValueError, match="belongs to another model"):
        StoredInfluence.from_disk(file, other)
    arrays = read_arrays(file)
    for key, value, message in (
        ("format", np.array(99), "format 99"),
        ("values", arrays["values"][:, :-1], "damaged"),
        ("large", np.array([10**9]), "damaged"),
        ("step", np.array(np.nan), "damaged"),
        ("step", np.ones(2), "damaged"),
        ("step", None, "not a file of influences"),
    ):
        changed = {name: array for name, array in arrays.items() if name != key}
        write_arrays(file, changed if value is None else {**changed, key: value})
        with pytest.raises(ValueError, match=message):
            StoredInfluence.from_disk(file, model)
    file.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not readable"):
        StoredInfluence.from_disk(file, model)
    stored = StoredInfluence.from_changes(reduced.changes(), reduced.names, model)
    with pytest.raises(ValueError, match="not from both"):
        model.influence(reduced.new, [], stored=stored)
    with pytest.raises(ValueError, match="too small"):
        StoredInfluence.from_changes(reduced.changes(), reduced.names, model, step=1e-9)


def test_explain_uses_the_file_or_says_how_to_get_it(
    reduced: Reduced, model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, text, out = tmp_path / "model", tmp_path / "text.txt", tmp_path / "out.json"
    model.to_disk(folder)
    text.write_text("GRB2 binds SOS1.\n")
    explain = ["explain", str(folder), str(text), "--influence"]
    assert run(explain) == 2
    message = capsys.readouterr().err
    assert INFLUENCE_FILE in message
    assert "--updatable" in message
    names = [f"PMID:{10022882 + i}" for i in range(len(reduced.names))]
    stored = StoredInfluence.from_changes(reduced.changes(), names, model)
    stored.to_disk(folder / INFLUENCE_FILE)
    assert run([*explain, "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "https://pubmed.ncbi.nlm.nih.gov/100228" in printed
    (row,) = json.loads(out.read_text())
    assert {entry["document"] for entry in row["influence"]} == set(names)
    elsewhere = tmp_path / "elsewhere.npz"
    (folder / INFLUENCE_FILE).rename(elsewhere)
    assert run([*explain, str(elsewhere)]) == 0
    assert capsys.readouterr().out == printed


def test_a_model_of_named_features_has_no_stored_influence(reduced: Reduced, model: Model) -> None:
    stored = StoredInfluence.from_changes(reduced.changes(), reduced.names, model)
    named = replace(model, support=None)
    with pytest.raises(ValueError, match="weights of named features"):
        named.influence(reduced.new, stored=stored)
