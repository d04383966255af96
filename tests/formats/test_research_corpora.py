"""The readers on the research corpora, against counts stated beside them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import spacy

from textrank.formats.base import get_mentions
from textrank.formats.detection import reader_for, write_docs

pytestmark = [pytest.mark.corpus, pytest.mark.slow]
NLP = spacy.blank("en")


def test_jnlpba_names_are_all_there(data: Path) -> None:
    counts: Counter[str] = Counter()
    for doc in reader_for(data / "jnlpba" / "train.jsonl.gz")(NLP):
        counts.update(mention.label for mention in get_mentions(doc))
        assert not doc.user_data["offsets"]  # every name begins and ends at a token
    assert counts["protein"] == 30269
    assert counts["DNA"] == 9533
    assert counts["RNA"] == 951


@pytest.mark.parametrize(
    ("name", "documents", "sentences", "words"),
    [
        ("craft-dev", 7, 2780, 67652),
        ("ud-ewt-dev", 318, 2001, 25147),
        ("genia-sd-dev", 148, 1361, 36180),
    ],
)
def test_treebanks_keep_their_sentences_and_trees(
    data: Path, name: str, documents: int, sentences: int, words: int
) -> None:
    docs = list(reader_for(data / "treebanks" / f"{name}.conllu.gz")(NLP))
    assert len(docs) == documents
    assert sum(len(list(doc.sents)) for doc in docs) == sentences  # also the non-projective ones
    assert sum(map(len, docs)) == words
    for doc in docs:
        heads = [head for row in doc.user_data["gold"] for head in row["heads"]]
        assert heads == [token.head.i for token in doc]


def test_ppi_corpora_survive_other_formats(data: Path, tmp_path: Path) -> None:
    docs = list(reader_for(data / "ppi" / "LLL.xml.gz")(NLP))
    for suffix in (".jsonl", ".bioc.xml", ".json", ".spacy", ".xml"):
        path = tmp_path / f"lll{suffix}"
        write_docs(docs, path)
        for doc, back in zip(docs, reader_for(path)(NLP), strict=True):
            assert back.text == doc.text
            assert get_mentions(back) == get_mentions(doc)
            assert [row["entities"] for row in back.user_data["gold"]] == [
                row["entities"] for row in doc.user_data["gold"]
            ]
