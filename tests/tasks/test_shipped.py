"""The shipped models on raw text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import spacy

import textrank.component  # noqa: F401 - an installed textrank is found by its entry points
from textrank.cli.apply import apply_model, iter_diffs
from textrank.config import load_model
from textrank.features import Features
from textrank.language import load_nlp
from textrank.linear_scores import rank_contributions

ROOT = Path(__file__).parents[2]
OURS = ["gene_protein", "spelling"]
TEXTS = [
    "The p53 gene binds to its promoter. There was less IL-2 mRNA than IL-2 protein in 3 of 12 "
    "cells, and then GRB2 was found between them; it's quite rare.",
    "",
    "I wonder weather c-fos may be the site. They led them there, among others, with their NF-kB.",
    "Their site was cited: MDM2 (a protein) did not affect STAT1 RNA, whether there or not.",
]


@pytest.mark.parametrize("name", OURS)
def test_a_shipped_model_is_small_and_names_its_features(name):
    folder = ROOT / "models" / name
    assert sum(file.stat().st_size for file in folder.iterdir()) < 6e6
    assert load_model(name).names is not None


def test_scores_are_those_of_the_features():
    """The weights laid out for scoring against features moved onto the model's names; why too."""
    model, nlp = load_model("gene_protein"), load_nlp(only=["kinds"])
    nlp.add_pipe("sentencizer", first=True)
    pipeline = model.pipeline
    docs = nlp.pipe([*TEXTS, *TEXTS[:1]])
    candidates = [c for doc in docs for c in pipeline.task.candidates(doc)]
    X = pipeline.representation(candidates)
    features = pipeline.kernel.features(X).align_to(model.names)
    assert len(candidates) > 9
    np.testing.assert_allclose(model.score(candidates), features @ model.fit.coef, atol=1e-12)
    explained = model.explain_batch(candidates)
    slow = rank_contributions(Features((features * model.fit.coef[None, :]).tocsr(), model.names))
    for own, other, score in zip(explained, slow, model.score(candidates), strict=True):
        assert dict(own) == pytest.approx(dict(other), abs=1e-12)
        sizes = [abs(value) for _, value in own]
        assert sizes == sorted(sizes, reverse=True)
        assert sum(value for _, value in own) == pytest.approx(score, abs=1e-12)


def test_names_in_raw_text_are_told_apart(tmp_path):
    text = "Mutations of the p53 gene were found. The IL-2 protein was purified from these cells."
    (tmp_path / "a.txt").write_text(text)
    (row,) = apply_model("gene_protein", [str(tmp_path / "a.txt")])
    labels = {found["name"].split()[0]: found["label"] for found in row["textrank_gene_protein"]}
    assert labels["p53"] == "DNA"
    assert labels.get("IL-2", "protein") == "protein"


def test_a_wrong_word_in_raw_text_is_found_and_right_ones_are_left(tmp_path):
    (tmp_path / "a.txt").write_text(
        "I wonder weather this is true.\nIt was bigger than that, and then they left.\n"
    )
    (row,) = apply_model("spelling", [str(tmp_path / "a.txt")])
    (found,) = row["textrank_spelling"]
    assert (found["printed"], found["proposal"]) == ("weather", "whether")
    assert found["because"]
    (patch,) = iter_diffs("spelling", [str(tmp_path / "a.txt")])
    assert "+I wonder whether this is true." in patch


def test_components_judge_after_being_saved_with_the_shipped_pipeline(tmp_path):
    nlp = load_nlp(only=["kinds"])
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("textrank_gene_protein")
    nlp.add_pipe("textrank_spelling")
    nlp.to_disk(tmp_path / "nlp")
    for one in (nlp, spacy.load(tmp_path / "nlp")):
        doc = one("Mutations of the p53 gene are more common then expected.")
        assert [found["label"] for found in doc._.textrank_gene_protein] == ["DNA"]
        assert [found["proposal"] for found in doc._.textrank_spelling] == ["than"]
