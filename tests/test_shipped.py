"""The shipped models answer sensibly on raw text, right after install."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from textrank import load_model, load_nlp, model_names
from textrank.cli.app import set_model_parser
from textrank.config import pipeline_names
from textrank.io import verify_manifest, write_manifest
from textrank.model import Model

SENTENCE = "We show that SHC binds to the activated EGF receptor but not to GRB7."


@pytest.fixture(scope="module")
def nlp():
    return load_nlp()


def test_every_task_has_a_model_and_a_pipeline():
    tasks = {"ppi", "gene_protein", "spelling", "parse_ranking"}
    assert tasks <= set(model_names())
    assert tasks <= set(pipeline_names())


@pytest.mark.parametrize("name", ["ppi", "gene_protein", "identifiers"])
def test_copies_of_a_model_keep_its_calibration(name, tmp_path):
    model = load_model(name)
    assert model.calibration is not None
    assert replace(model).calibration == model.calibration
    assert set_model_parser(model, None).calibration == model.calibration
    assert model.with_task(model.pipeline.task, 0.0).calibration == model.calibration
    model.to_disk(tmp_path / name)
    assert Model.from_disk(tmp_path / name).calibration == model.calibration


def test_a_curve_that_depends_on_other_sentences_is_refused(tmp_path):
    load_model("gene_protein").to_disk(tmp_path / "model")
    meta = verify_manifest(tmp_path / "model")
    curve = {**meta["calibration"], "whole": -2.1}
    write_manifest(tmp_path / "model", {**meta, "calibration": curve}, only=meta["files"])
    with pytest.raises(ValueError, match=r"model: the calibration has the term whole = -2\.1"):
        Model.from_disk(tmp_path / "model")


def test_a_model_of_ranks_has_no_calibration():
    model = load_model("parse_ranking")
    assert model.calibration is None
    assert model.probability(np.zeros(2)) is None


def test_ppi_tells_who_binds_and_who_does_not(nlp):
    doc = load_model("ppi")(nlp(SENTENCE))
    answers = {tuple(row["names"]): row["interacts"] for row in doc._.textrank_ppi}
    bound = [pair for pair, yes in answers.items() if yes]
    assert len(bound) == 1
    assert bound[0][0] == "SHC"
    assert bound[0][1].endswith("EGF receptor")
    assert answers["SHC", "GRB7"] is False
    assert all(0 < row["probability"] < 1 for row in doc._.textrank_ppi)


TEXTS = (
    SENTENCE,
    "GRB2 associates with SOS1 in these cells and RAF1 levels rose.",
    "MDM2 ubiquitinates p53. In contrast, MDMX does not bind UBC9 or RAD6.",
    "JAK2 phosphorylated STAT3, whereas SOCS3 inhibited it. STAT3 then activated MYC and BCL2.",
    "Binding of IL-2 to IL2RA (CD25) was reduced by PTPN2. The mice were fed. AKT1 and MTOR rose.",
)
UNRELATED = (" The cells were washed.", " The mice were kept for two weeks. Data are means.")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("more", UNRELATED)
def test_unrelated_sentences_change_no_answer(nlp, text, more):
    model = load_model("ppi")
    alone, longer = (model(nlp(t))._.textrank_ppi for t in (text, text + more))
    assert alone
    assert [row["spans"] for row in longer] == [row["spans"] for row in alone]
    for before, after in zip(alone, longer, strict=True):
        for key in ("score", "probability"):
            assert after[key] == pytest.approx(before[key], rel=0, abs=1e-9)
        kept = [
            {k: v for k, v in row.items() if isinstance(v, str | bool)} for row in (before, after)
        ]
        assert kept[0] == kept[1]


def test_ppi_explains_to_the_last_digit(nlp):
    model = load_model("ppi")
    candidates = model.pipeline.task.candidates(nlp(SENTENCE))
    for candidate in candidates:
        parts = model.explain(candidate)
        assert sum(v for _, v in parts) == pytest.approx(model.score([candidate])[0], abs=1e-9)


def test_gene_protein_takes_binding_partners_for_proteins(nlp):
    doc = load_model("gene_protein")(nlp(SENTENCE))
    assert {row["label"] for row in doc._.textrank_gene_protein} == {"protein"}


def test_spelling_proposes_the_right_word_and_leaves_right_ones(nlp):
    model = load_model("spelling")
    wrong = model(nlp("This value is much higher then the one that we found before."))
    assert [row["proposal"] for row in wrong._.textrank_spelling] == ["than"]
    right = model(nlp("This value is much higher than the one that we found before."))
    assert right._.textrank_spelling == []


def test_parse_ranking_orders_the_parses(nlp):
    doc = load_model("parse_ranking")(nlp(SENTENCE))
    scores = [parse["score"] for parse in doc._.textrank_parse_ranking[0]["parses"]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) > 1
