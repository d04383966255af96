"""Judged documents of queries, and newswire with topics."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest
import spacy

from textrank.config import load_corpus
from textrank.formats.research import Letor, Reuters, iter_reuters_articles, read_letor_arrays

LINES = """2 qid:7 1:0.5 3:-1 #docid = A1 inc = 1
0 qid:7 1:0.25 2:1e-1
1 qid:8 2:1 # docid = B
"""
ARTICLE = (
    '<REUTERS TOPICS="{judged}" LEWISSPLIT="{split}" NEWID="{id}"><TOPICS>{topics}</TOPICS>'
    "<TEXT><TITLE>Wheat &amp; corn</TITLE><BODY>The harvest\n was good.&#3;</BODY></TEXT>"
    "</REUTERS>\n"
)


@pytest.fixture
def judged(tmp_path):
    path = tmp_path / "judged.txt"
    path.write_text(LINES)
    return path


@pytest.fixture
def wire(tmp_path):
    path = tmp_path / "reut.sgm"
    rows = [
        ("YES", "TRAIN", 1, "<D>wheat</D><D>corn</D>"),
        ("NO", "TRAIN", 2, ""),
        ("YES", "TEST", 3, ""),
    ]
    told = [ARTICLE.format(judged=j, split=s, id=i, topics=t) for j, s, i, t in rows]
    path.write_bytes("".join(told).encode("latin-1"))
    return path


def test_a_query_is_a_document_that_lists_what_was_judged(judged):
    docs = list(load_corpus(judged)(spacy.blank("en")))
    assert [doc.user_data["document"] for doc in docs] == ["7", "8"]
    first = docs[0].user_data["judged"]
    assert first[0] == {"id": "A1", "relevance": 2.0, "features": {"1": 0.5, "3": -1.0}}
    assert [row["relevance"] for row in first] == [2.0, 0.0]
    assert docs[1].user_data["judged"][0]["id"] == "B"


def test_arrays_have_a_column_a_feature(judged):
    X, y, queries = read_letor_arrays(judged)
    np.testing.assert_array_equal(X, [[0.5, 0, -1], [0.25, 0.1, 0], [0, 1, 0]])
    assert (y.tolist(), queries) == ([2, 0, 1], ["7", "7", "8"])


def test_an_archive_is_read_member_by_member(judged, tmp_path):
    path = tmp_path / "all.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {"S2.txt": "1 qid:9 1:1\n", "S1.txt": LINES, "S1.dat": "x"}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    assert [j.query for j in Letor(str(path)).iter_judged()] == ["7", "7", "8", "9"]
    assert [j.query for j in Letor(str(path), member="S2.txt").iter_judged()] == ["9"]


@pytest.mark.parametrize(
    "line", ["1 1:0.5", "one qid:1 1:2", "1 qid:1 1:nan", "1 qid:1 a:2", "1", "1 qid:1 0:1"]
)
def test_a_bad_line_is_named(line, tmp_path):
    path = tmp_path / "bad.letor"
    path.write_text(f"{LINES}{line}\n")
    with pytest.raises(ValueError, match=r"bad\.letor, line 4: .* is not a judged document"):
        list(load_corpus(path)(spacy.blank("en")))


def test_articles_have_title_text_and_topics(wire):
    first, second, _ = iter_reuters_articles(wire)
    assert (first.title, first.text) == ("Wheat & corn", "The harvest\n was good.")
    assert first.topics == ("wheat", "corn")
    assert not second.judged


def test_a_split_takes_what_somebody_judged(wire):
    nlp = spacy.blank("en")
    assert [d.user_data["document"] for d in Reuters(str(wire))(nlp)] == ["1", "2", "3"]
    (train,) = Reuters(str(wire), split="TRAIN")(nlp)
    assert train.user_data["meta"]["topics"] == ["wheat", "corn"]
    assert train.text.startswith("Wheat & corn\nThe harvest")
    with pytest.raises(ValueError, match="all, TRAIN or TEST"):
        Reuters(str(wire), split="train")


def test_a_file_is_known_by_its_content(wire, judged):
    assert isinstance(load_corpus(wire).reader, Reuters)
    assert isinstance(load_corpus(judged).reader, Letor)
