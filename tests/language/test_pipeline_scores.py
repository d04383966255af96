"""What the shipped pipeline scores on data it was not trained on: the bars it must clear."""

from __future__ import annotations

import pytest
from workshop.evaluate import (
    normalize_craft_lemma,
    score_genes,
    score_lemmas,
    score_syntax,
    score_types,
    share_of_cut_mentions,
)
from workshop.prepare import (
    MIN_KEY_CHARACTERS,
    make_key,
    read_bc2gm,
    read_jnlpba,
    read_treebank,
    split_into_runs,
)
from workshop.treebanks import read_conllu

from textrank.language import load_nlp

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


@pytest.fixture(scope="module")
def nlp():
    return load_nlp()


@pytest.fixture(scope="module")
def craft(data):
    return list(read_conllu(data / "treebanks" / "craft-dev.conllu.gz"))


def test_craft_dev_on_gold_tokens(nlp, craft):
    scores = score_syntax(nlp, split_into_runs(craft, 8), raw=False)
    assert scores["token"] == 1
    assert scores["tag"] >= 0.968
    assert scores["uas"] >= 0.865
    assert scores["las"] >= 0.835
    assert score_lemmas(nlp, craft, normalize_craft_lemma) >= 0.98


def test_craft_dev_from_raw_text(nlp, craft):
    scores = score_syntax(nlp, split_into_runs(craft, None), raw=True)
    assert scores["token"] >= 0.988
    assert scores["las"] >= 0.83


def test_genia_abstracts_left_out(nlp, data):
    treebank = read_treebank(data)
    trained = {sentence.document for run in treebank.train for sentence in run}
    assert trained.isdisjoint(sentence.document for sentence in treebank.genia)
    assert score_syntax(nlp, split_into_runs(treebank.genia, None), raw=False)["las"] >= 0.86
    assert score_lemmas(nlp, treebank.genia_lemmas, str.lower) >= 0.98


def test_gene_names_of_bc2gm_devel(nlp, data):
    docs = read_bc2gm(data, nlp.vocab)
    trained, scored = ({make_key(doc.text) for doc in d} for d in (docs.train, docs.held_out))
    assert max(map(len, trained & scored)) < MIN_KEY_CHARACTERS  # headings and the like
    assert score_genes(nlp, docs.held_out)["f"] >= 0.77


def test_proteins_of_jnlpba_abstracts_left_out(nlp, data):
    docs = read_jnlpba(data, nlp.vocab)
    assert {doc.text for doc in docs.train}.isdisjoint(doc.text for doc in docs.held_out)
    assert score_types(nlp, docs.held_out)["protein_f"] >= 0.73


@pytest.mark.parametrize("corpus", ["AImed", "BioInfer"])
def test_hardly_a_protein_is_cut(data, corpus):
    assert share_of_cut_mentions(data, corpus) <= 0.015


def test_a_megabyte_without_a_full_stop_is_parsed(nlp):
    text = "activation of the p53-dependent cell cycle checkpoint in human cells " * 15_000
    doc = nlp(text[:1_000_000])
    assert len(doc) > 150_000
    assert all(token.dep_ for token in doc[:1000])
