"""Forgetting and adding documents equals training, and receipts can be verified."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from textrank.cli.app import run
from textrank.kernels.algebra import Gaussian, Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.reduced import ReducedRLS, SparseRLS
from textrank.learners.rls import RLS
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI
from textrank.training import (
    Receipt,
    add_documents,
    forget_documents,
    largest_difference,
    verify_receipt,
    write_update,
)
from textrank.training_data import TrainingData

GONE = ["d3", "d11"]
KERNELS = {"features": Normalized(AllPathsGraph()), "gram": Gaussian(20.0, AllPathsGraph())}
LEARNERS = {
    "rls": RLS((0.25, 0.5, 1.0)),
    "reduced": ReducedRLS(size=20, alphas=(0.5, 1.0)),
}


def make_pipeline(kernel="features", learner="rls"):
    return Pipeline(PPI(), DependencyGraph(), KERNELS[kernel], LEARNERS[learner])


@pytest.fixture(scope="module")
def new_candidates(make_docs):
    return [c for doc in make_docs(2, seed=9, prefix="new") for c in PPI().candidates(doc)]


@pytest.mark.parametrize("learner", list(LEARNERS))
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_forgetting_equals_training_without_the_documents(docs, new_candidates, kernel, learner):
    pipeline = make_pipeline(kernel, learner)
    expected = pipeline.fit([d for d in docs if d.user_data["document"] not in GONE])
    model = forget_documents(pipeline.fit(docs, updatable=True), GONE)
    assert largest_difference(model, expected) < 1e-9
    assert np.allclose(
        model.score(new_candidates), expected.score(new_candidates), rtol=0, atol=1e-9
    )
    assert model.meta == expected.meta  # hashes of the texts


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_adding_equals_training_on_all(docs, new_candidates, kernel):
    pipeline = make_pipeline(kernel)
    model = pipeline.fit(docs[:10], updatable=True)
    if kernel == "gram":  # graphs cannot be joined with others
        with pytest.raises(ValueError, match="cannot be joined"):
            add_documents(model, docs[10:])
        return
    added = add_documents(model, docs[10:])
    expected = pipeline.fit(docs)
    assert largest_difference(added, expected) < 1e-9
    assert added.meta == expected.meta
    scores = added.score(new_candidates)
    assert np.allclose(scores, expected.score(new_candidates), rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="'d10' is in the model already"):
        add_documents(added, docs[10:11])


def test_no_feature_of_a_forgotten_document_remains(docs, tmp_path):
    model = forget_documents(make_pipeline().fit(docs, updatable=True), GONE)
    model.to_disk(tmp_path / "model")
    stored = Model.from_disk(tmp_path / "model")
    known = {word for name in stored.training.inputs.names for word in name}
    whole = make_pipeline().fit(docs, updatable=True)
    before = {word for name in whole.training.inputs.names for word in name}
    rest = make_pipeline().fit([d for d in docs if d.user_data["document"] not in GONE])
    assert known >= {word for name in rest.names for word in name}
    fitted = make_pipeline().fit(
        [d for d in docs if d.user_data["document"] not in GONE], updatable=True
    )
    assert known == {word for name in fitted.training.inputs.names for word in name}
    assert known <= before


def test_stored_training_data_survive_a_round_trip(docs, tmp_path):
    for number, kernel in enumerate(KERNELS):
        model = make_pipeline(kernel).fit(docs, updatable=True)
        model.to_disk(tmp_path / str(number))
        again = forget_documents(Model.from_disk(tmp_path / str(number)), GONE)
        assert largest_difference(again, forget_documents(model, GONE)) < 1e-9


def test_stored_training_data_with_a_text_too_few_are_refused(docs):
    arrays = dict(make_pipeline().fit(docs, updatable=True).training.to_arrays())
    arrays["has_text"] = np.ones_like(arrays["has_text"])
    arrays["texts"] = arrays["texts"][:-1]
    with pytest.raises(ValueError, match="one text per document with text"):
        TrainingData.from_arrays(arrays)


@pytest.mark.parametrize(
    ("name", "value"), [("head_labels", np.nan), ("pairs", 10**6), ("pairs", -1)]
)
def test_stored_training_data_with_impossible_values_are_refused(docs, name, value):
    arrays = dict(make_pipeline().fit(docs, updatable=True).training.to_arrays())
    arrays["head_labels"] = np.ones((len(arrays["y"]), 2))
    arrays |= {"pairs": np.array([[0, 1]]), "magnitudes": np.ones(1)}
    TrainingData.from_arrays(arrays)
    arrays[name][0, 0] = value
    with pytest.raises(ValueError, match="the training data"):
        TrainingData.from_arrays(arrays)


def test_unknown_documents_and_models_without_training_data_are_refused(docs):
    model = make_pipeline().fit(docs, updatable=True)
    with pytest.raises(ValueError, match="'d99' is not a training document"):
        forget_documents(model, ["d99"])
    with pytest.raises(ValueError, match="train --updatable"):
        forget_documents(make_pipeline().fit(docs), GONE)
    with pytest.raises(ValueError, match="nothing would be left"):
        forget_documents(model, [f"d{i}" for i in range(18)])


def test_a_receipt_is_verified_and_a_changed_byte_is_refused(docs, tmp_path):
    folder, file = tmp_path / "model", tmp_path / "receipt.json"
    make_pipeline().fit(docs, updatable=True).to_disk(folder)
    model = Model.from_disk(folder)
    receipt = write_update(folder, model, forget_documents(model, GONE), "forget", GONE)
    text = receipt.to_text()
    file.write_text(text)
    assert verify_receipt(file, folder)["verified"]
    assert receipt.before != receipt.after
    assert receipt.candidates == 4
    rng = np.random.default_rng(0)
    for position in [0, len(text) - 1, *rng.integers(0, len(text), 200).tolist()]:
        changed = bytearray(text.encode())
        changed[position] ^= 1
        with pytest.raises(ValueError, match=r"receipt|JSON|UTF-8|json"):
            Receipt.from_text(changed.decode("utf-8", "surrogateescape"))


def test_a_receipt_of_another_model_is_refused(docs, tmp_path):
    folder, file = tmp_path / "model", tmp_path / "receipt.json"
    make_pipeline().fit(docs, updatable=True).to_disk(folder)
    model = Model.from_disk(folder)
    file.write_text(
        write_update(folder, model, forget_documents(model, GONE), "forget", GONE).to_text()
    )
    forget_documents(Model.from_disk(folder), ["d0"]).to_disk(folder)
    with pytest.raises(ValueError, match="is not the file of the receipt"):
        verify_receipt(file, folder)


def test_a_model_with_something_else_in_it_is_refused(docs, tmp_path):
    """Weights of a document that the training data no longer have are noticed."""
    folder, file = tmp_path / "model", tmp_path / "receipt.json"
    make_pipeline().fit(docs, updatable=True).to_disk(folder)
    model = Model.from_disk(folder)
    forged = replace(model, training=model.training.without(GONE))  # weights stay
    file.write_text(write_update(folder, model, forged, "forget", GONE).to_text())
    with pytest.raises(ValueError, match="gives another model"):
        verify_receipt(file, folder)


@pytest.mark.parametrize("learner", [RLS((0.5,)), ReducedRLS(size=100, alphas=(0.5,))], ids=str)
@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("stored", [True, False])
def test_influence_equals_training_without_the_document(
    docs, new_candidates, learner, kernel, stored
):
    pipeline = Pipeline(PPI(), DependencyGraph(), KERNELS[kernel], learner)
    model = pipeline.fit(docs, updatable=stored)
    influence = model.influence(new_candidates, None if stored else docs)
    assert influence.documents == tuple(f"d{i}" for i in range(18))
    for k in (0, 17):
        rest = pipeline.fit([doc for i, doc in enumerate(docs) if i != k])
        expected = rest.score(new_candidates) - model.score(new_candidates)
        assert np.allclose(influence.changes[:, k], expected, rtol=0, atol=1e-9)
    magnitudes = [abs(change) for _, change in influence.rank(0)]
    assert np.allclose(magnitudes, sorted(magnitudes, reverse=True))


def test_influence_is_refused_for_other_learners(docs):
    pipeline = Pipeline(PPI(), DependencyGraph(), AllPathsGraph(), SparseRLS((0.5,)))
    model = pipeline.fit(docs)
    with pytest.raises(ValueError, match="not available for SparseRLS"):
        model.influence([], docs)
    with pytest.raises(ValueError, match="train --updatable"):
        model.influence([])


def test_the_commands(tmp_path, capsys):
    model, text, file = tmp_path / "model", tmp_path / "text.txt", tmp_path / "out.json"
    text.write_text("SHC binds GRB2.\n")
    assert run(["train", "ppi-linear", "corpora/sample-ppi", str(model), "--updatable"]) == 0
    explain = ["explain", str(model), str(text), "--influence", "stored"]
    capsys.readouterr()
    page = tmp_path / "why.html"
    assert run([*explain, "--json", str(file), "--html", str(page)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "[SHC] binds [GRB2]." in lines[0]
    assert len(lines) == 6
    (row,) = json.loads(file.read_text())
    changes = [abs(entry["change"]) for entry in row["influence"]]
    assert changes == sorted(changes, reverse=True)
    first = row["influence"][0]["document"]
    assert first in page.read_text()
    assert run([*explain, "--all"]) == 2
    assert "--all has no effect with --influence" in capsys.readouterr().err

    receipt = tmp_path / "receipt.json"
    document = first.split(" + ")[0]
    command = ["forget", str(model), document, "--receipt", str(receipt), "--json", str(file)]
    assert run(command) == 0
    assert "forgot 1 documents" in capsys.readouterr().out
    assert json.loads(file.read_text())["documents"] == [document]
    assert run(["forget", str(model), "--verify", str(receipt)]) == 0
    assert "verified" in capsys.readouterr().out
    receipt.write_text(receipt.read_text().replace("forget", "forgot", 1))
    assert run(["forget", str(model), "--verify", str(receipt)]) == 2
    assert "receipt" in capsys.readouterr().err
    assert run(["forget", str(model), document]) == 2
    assert "is not a training document" in capsys.readouterr().err
    assert run(["forget", "ppi", document]) == 2
    assert "train --updatable" in capsys.readouterr().err


def test_the_add_command(tmp_path, capsys):
    """A corpus in two halves, added one to the other, gives the model of the whole."""
    lines = Path("corpora/sample-statements/corpus.jsonl").read_text().splitlines()[::9][:60]
    halves = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    for file, part in zip(halves, (lines[:40], lines[40:]), strict=True):
        file.write_text("\n".join(part) + "\n")
    whole = tmp_path / "whole.jsonl"
    whole.write_text("\n".join(lines) + "\n")
    model, both = tmp_path / "model", tmp_path / "both"
    assert run(["train", "ppi-linear", str(halves[0]), str(model), "--updatable"]) == 0
    assert run(["train", "ppi-linear", str(whole), str(both)]) == 0
    out = tmp_path / "out"
    assert run(["add", str(model), str(halves[1]), "--out", str(out)]) == 0
    assert "added 20 documents" in capsys.readouterr().out
    assert largest_difference(Model.from_disk(out), Model.from_disk(both)) < 1e-9
    (receipt,) = tmp_path.glob("out.add-*.json")
    assert run(["forget", str(out), "--verify", str(receipt)]) == 0
