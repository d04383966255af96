"""Docs in batches, and read once while they are judged."""

from __future__ import annotations

import numpy as np
import pytest
import spacy

from textrank import candidates
from textrank.candidates import batch_docs, compute_once, doc_cache, sentence_starts, token_table

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


def test_a_doc_is_read_once_also_in_blocks_inside_others():
    doc, read = NLP("a b"), []
    with doc_cache():
        for _ in range(2):
            with doc_cache():
                compute_once(doc, "key", lambda: read.append(1))
    assert len(read) == 1
    compute_once(doc, "key", lambda: read.append(1))
    assert len(read) == 2


def test_a_doc_that_is_gone_is_not_taken_for_another():
    """A new Doc may get the memory, and so the id, of one that nobody holds."""
    with doc_cache():
        for number in range(50):
            assert len(token_table(NLP("a " * number))["ORTH"]) == number


@pytest.mark.parametrize("text", ["", "a", "One. Two three.\n\nFour."])
def test_sentences_start_where_spacy_says(text):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp(text)
    starts = sentence_starts(doc)
    assert starts.tolist() == [*(sent.start for sent in doc.sents), len(doc)]
    assert starts.dtype == np.intp
