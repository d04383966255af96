"""Batches of Docs, and the sentences of a Doc."""

from __future__ import annotations

import numpy as np
import pytest
import spacy

from textrank import candidates
from textrank.candidates import batch_docs, sentence_starts

NLP = spacy.blank("en")


def test_batches_have_a_size_or_about_as_many_tokens(monkeypatch):
    monkeypatch.setattr(candidates, "MAX_BATCH_TOKENS", 10)
    monkeypatch.setattr(candidates, "MAX_BATCH_DOCS", 4)
    texts = [NLP("a " * size) for size in (4, 4, 4, 12, 1, 1, 1, 1, 1)]
    assert [[len(doc) for doc in batch] for batch in batch_docs(texts)] == [
        [4, 4, 4],
        [12],
        [1, 1, 1, 1],
        [1],
    ]
    assert [len(batch) for batch in batch_docs(texts, 5)] == [5, 4]
    assert list(batch_docs([])) == []


def test_a_changed_doc_is_read_again():
    """Nothing about a Doc is kept between two readings, so a change of it counts at once."""
    doc = NLP("One. Two three.")
    assert sentence_starts(doc).tolist() == [0, len(doc)]
    doc[2].is_sent_start = True
    assert sentence_starts(doc).tolist() == [0, 2, len(doc)]


@pytest.mark.parametrize("text", ["", "a", "One. Two three.\n\nFour."])
def test_sentences_start_where_spacy_says(text):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp(text)
    starts = sentence_starts(doc)
    assert starts.tolist() == [*(sent.start for sent in doc.sents), len(doc)]
    assert starts.dtype == np.intp
