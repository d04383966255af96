"""Reading in parts: what is wanted, what cannot be read, and what was taken back."""

from __future__ import annotations

from pathlib import Path

import spacy

from textrank.config import load_corpus
from textrank.formats.base import read_corpus
from textrank.formats.columns import write_doc_bin
from textrank.io import ItemFilter
from textrank.results.schema import document_row

DELETED = """<PubmedArticleSet>
<PubmedArticle><MedlineCitation><PMID>11</PMID><Article><ArticleTitle>One.</ArticleTitle></Article>
</MedlineCitation></PubmedArticle>
<DeleteCitation><PMID>7</PMID><PMID>8</PMID></DeleteCitation></PubmedArticleSet>"""


def read(path: Path, *numbers: int) -> tuple[list[str], list[str]]:
    failed: list[str] = []
    item_filter = ItemFilter(
        lambda n: n in numbers if numbers else True, lambda _, reason: failed.append(reason)
    )
    docs = list(read_corpus(load_corpus(path).reader, spacy.blank("en"), item_filter))
    rows = [document_row(doc, doc.text, str(path), 0, n) for n, doc in enumerate(docs)]
    return [f"{row['document']} {row['status']}" for row in rows], failed


def test_docs_of_a_part_of_a_doc_bin_are_named_by_their_place_in_the_file(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    write_doc_bin([nlp("One."), nlp("Two."), nlp("Three.")], str(tmp_path / "a.spacy"))
    assert read(tmp_path / "a.spacy", 1, 2)[0] == ["a-2 done", "a-3 done"]


def test_only_what_is_wanted_is_read_and_bad_lines_are_told(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "a", "text": "One."}\n{"id"\n{"id": "c", "text": ""}\n')
    assert read(file, 0, 2) == (["a done", "c empty"], [])
    rows, failed = read(file, 1)
    assert rows == []
    assert len(failed) == 1
    assert "line 2" in failed[0]


def test_deleted_articles_of_other_files_are_told_to_whoever_reads_in_parts(
    tmp_path: Path,
) -> None:
    file = tmp_path / "update.xml"
    file.write_text(DELETED)
    assert read(file) == (["11 done", "7 deleted", "8 deleted"], [])
    plain = [doc.user_data["document"] for doc in load_corpus(file)(spacy.blank("en"))]
    assert plain == ["11"]
