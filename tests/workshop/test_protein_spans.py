"""Scores of the narrowest names: learned from vectors, and joined with those of genes by halves."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.tokens import Doc, Span
from spacy.training import Example
from workshop.evidence import NamedText
from workshop.networks import Settings, add_names, blank_nlp
from workshop.protein_spans import HeadSettings, fit_crf, train_proteins

from textrank.language.ner import decode_tags, legal_transitions

SMALL = Settings(width=16, depth=1, rows=200, vectors=8)


def test_what_vectors_tell_of_tags_is_learned():
    draw = np.random.default_rng(1)
    tags = [np.array([0, 4, 0, 1, 2, 3, 0]), np.array([0, 1, 3, 0]), np.array([4])] * 10
    vectors = [np.eye(5)[own] + 0.1 * draw.standard_normal((len(own), 5)) for own in tags]
    allowed = [np.eye(5, dtype=bool)[own] for own in tags]
    weights, steps = fit_crf(vectors, allowed, HeadSettings(epochs=60, rate=0.1, texts=4))
    assert weights.shape == (6, 5)
    scores = np.vstack(vectors) @ weights[:-1] + weights[-1]
    legal = np.where(legal_transitions(1), steps, -np.inf)
    found = decode_tags(scores, legal, [len(own) for own in tags])
    assert found.tolist() == np.concatenate(tags).tolist()


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_the_rest_of_the_scores_is_that_of_genes(share):
    nlp = blank_nlp()
    add_names(nlp, SMALL)
    doc = Doc(nlp.vocab, words=["p53", "binds", "MDM2"])
    doc.set_ents([Span(doc, 0, 1, "GENE"), Span(doc, 2, 3, "GENE")])
    nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["p53", "binds", "MDM2"]), doc)])
    text = NamedText(["p53", "gene", "binds"], [True] * 3, [(0, 1, "PROTEIN")])
    nlp.get_pipe("proteins").cfg["labels"] = []
    train_proteins(nlp, [text] * 5, HeadSettings(share=share, epochs=2))
    wide, own = (nlp.get_pipe(name).model.get_param("T") for name in ("genes", "proteins"))
    assert nlp.get_pipe("proteins").labels == ("PROTEIN",)
    assert np.allclose(own, wide) == (share == 0)
