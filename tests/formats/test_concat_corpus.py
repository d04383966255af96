from __future__ import annotations

from pathlib import Path

import pytest
import spacy

from textrank.config import load_corpus
from textrank.formats.base import ConcatCorpus

CFG = """[corpus]
@readers = "together.v1"
[corpus.corpora]
[corpus.corpora.one]
@readers = "plain_text.v1"
path = "a.txt"
[corpus.corpora.two]
@readers = "plain_text.v1"
path = "b.txt"
"""


def test_paths_are_relative_to_the_cfg_and_ids_stay_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"Text {name}.")
    (tmp_path / "corpus.cfg").write_text(CFG)
    docs = list(load_corpus(tmp_path)(spacy.blank("en")))
    assert [doc.user_data["document"] for doc in docs] == ["one/a", "two/b"]


def test_no_corpus_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ConcatCorpus({})
