"""Hostile files that once cost memory or time, or ended in a traceback, are refused by name."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin

from textrank.config import load_corpus
from textrank.formats.research import iter_reuters_articles
from textrank.io import parse_digits, replace_long_references
from textrank.representations.collocations import load_lexicon
from textrank.representations.transformations import WordVectorFile, WordVectors
from textrank.tasks.identifiers.gazetteer import read_gazetteer_tsv

MEGABYTE = 1 << 20


def peak_megabytes(action: Callable[[], object]) -> float:
    """Return how much memory an action allocated at most, in megabytes."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


def refuse(file: Path, action: Callable[[], object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as refusal:
        action()
    assert str(file) in str(refusal.value)


# Memory


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.pubtator", "1\t0\t3\tSHC\tGene\t7\n"),
        ("a.conllu", "1\tSHC\tshc\tPROPN\tNN\t_\t0\troot\t_\t_\n"),
        ("b.conllu", "1\tSHC\tshc\tPROPN\tNN\t_\t0\troot\t_\t_\n\n"),
    ],
)
def test_a_document_without_end_is_refused_before_it_is_gathered(
    name: str, line: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    with gzip.open(file, "wb", compresslevel=1) as out:
        out.write(b"1|t|SHC binds.\n" if "pubtator" in name else b"# newdoc id = d\n")
        for _ in range(3):  # megabytes
            out.write(line.encode() * (MEGABYTE // len(line)))

    def read() -> None:
        corpus = load_corpus(file, limit=MEGABYTE)
        refuse(file, lambda: list(corpus(spacy.blank("en"))), "document that begins")

    assert peak_megabytes(read) < 20


def test_a_large_document_within_the_limit_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.pubtator"
    file.write_text("1|t|SHC binds.\n" + "1\t0\t3\tSHC\tGene\t7\n" * 1000)
    (doc,) = load_corpus(file)(spacy.blank("en"))
    assert len(doc.spans["entities"]) == 1000
    refuse(file, lambda: list(load_corpus(file, limit=50_000)(spacy.blank("en"))), "--max-bytes")


def test_word_vectors_do_not_unpack_without_end(tmp_path: Path) -> None:
    file = tmp_path / "vectors.npz"
    WordVectors(["a"], np.zeros((1, 40 * MEGABYTE))).to_disk(file)  # 320 MB of zeros
    assert file.stat().st_size < MEGABYTE
    vectors = WordVectorFile(str(file))
    assert peak_megabytes(lambda: refuse(file, lambda: vectors.factor(["a"]), "unpacks")) < 150


@pytest.mark.parametrize("key", ["vectors", "size"])
def test_spoilt_word_vectors_are_named(key: str, tmp_path: Path) -> None:
    file = tmp_path / "vectors.npz"
    WordVectors(["a", "b"], [[1.0], [2.0]]).to_disk(file)
    arrays = dict(np.load(file))
    del arrays[key]
    np.savez(file, **arrays)
    refuse(file, lambda: WordVectorFile(str(file)).factor(["a"]), r"not an \.npz file of")


def test_a_lexicon_does_not_unpack_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textrank.representations.collocations.MAX_LEXICON_WORDS", 10_000)
    file = tmp_path / "x.tsv.gz"
    with gzip.open(file, "wb", compresslevel=1) as out:
        for _ in range(100):
            out.write(b"word\tNN\n" * (MEGABYTE // 8))
    assert peak_megabytes(lambda: refuse(file, lambda: load_lexicon(str(file)), "10,000")) < 50
    line = tmp_path / "line.tsv.gz"
    line.write_bytes(gzip.compress(b"a" * 50 * MEGABYTE))
    assert peak_megabytes(lambda: refuse(line, lambda: load_lexicon(str(line)), "bytes")) < 50


@pytest.mark.parametrize(
    ("content", "place"),
    [("word NN\n", "line 1"), ("a\tNN\nb\tNN\tVB\n", "line 2"), ("a\tNN\n\xff\tNN\n", "line 2")],
)
def test_a_spoilt_lexicon_is_named(content: str, place: str, tmp_path: Path) -> None:
    file = tmp_path / "x.tsv"
    file.write_bytes(content.encode("latin-1"))
    refuse(file, lambda: load_lexicon(str(file)), place)


# Time


@pytest.mark.parametrize(
    "text",
    [
        "<REUTERS " * 200_000,
        "<REUTERS>" * 200_000,
        f"<REUTERS {'a' * MEGABYTE}></REUTERS>",
        f"<REUTERS {'a=' * MEGABYTE}></REUTERS>",
        f"<REUTERS>{'<TOPICS>' * 100_000}{'<TITLE>' * 100_000}</REUTERS>",
        f"<REUTERS><TOPICS>{'<D>' * 300_000}</TOPICS></REUTERS>",
    ],
    ids=["heads", "starts", "one word", "no values", "elements", "topics"],
)
def test_reuters_attributes_take_linear_time(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.sgm"
    file.write_text(text)
    with suppress(ValueError):  # no article
        list(iter_reuters_articles(file))  # quadratic rules would not come back


# Tracebacks


def test_digits_are_what_int_reads() -> None:
    assert parse_digits("007") == 7
    refused = ["", "²", "٣", "1_0", "-1", "1.0", "9" * 10, "9" * 5000]
    assert [parse_digits(text) for text in refused] == [None] * len(refused)


@pytest.mark.parametrize("year", ["²", "٢٠٠٢", "9" * 5000, "-1"])
def test_a_year_that_is_no_number_is_none(year: str, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"id,text,year\nd1,p53 binds.,{year}\n")
    (doc,) = load_corpus(file)(spacy.blank("en"))
    assert "year" not in doc.user_data


@pytest.mark.parametrize("reference", ["&#" + "9" * 5000 + ";", "&#x" + "f" * 5000 + ";", "&#65;"])
def test_character_references_of_any_length(reference: str, tmp_path: Path) -> None:
    assert len(replace_long_references(reference)) < 10
    sgm, html = tmp_path / "a.sgm", tmp_path / "a.html"
    sgm.write_text(f'<REUTERS NEWID="1"><BODY>Wheat {reference}</BODY></REUTERS>')
    html.write_text(f"<html><body><p>Wheat {reference}</p></body></html>")
    for file in (sgm, html):
        (doc,) = load_corpus(file)(spacy.blank("en"))
        assert doc.text in ("Wheat \ufffd", "Wheat A")


def docbin(*texts: str) -> DocBin:
    nlp = spacy.blank("en")
    return DocBin(store_user_data=True, docs=[nlp(text) for text in texts])


def spoil_strings(bin: DocBin) -> None:
    bin.strings.clear()


def spoil_spans(bin: DocBin) -> None:
    nlp = spacy.blank("en")
    doc = nlp("SHC binds GRB2.")
    doc.spans["entities"] = [doc[0:3]]
    bin.span_groups[0] = doc.spans.to_bytes()  # beyond the end of a shorter Doc


def spoil_user_data(bin: DocBin) -> None:
    import srsly

    bin.user_data[0] = srsly.msgpack_dumps({"meta": 7, "document": ["d"], "year": {"a": []}})


@pytest.mark.parametrize("spoil", [spoil_strings, spoil_spans, spoil_user_data])
def test_a_spoilt_docbin_is_named(spoil: Callable[[DocBin], None], tmp_path: Path) -> None:
    file = tmp_path / "a.spacy"
    bin = docbin("Raf.", "MEK1 and p53.")
    spoil(bin)
    file.write_bytes(bin.to_bytes())
    refuse(file, lambda: list(load_corpus(file)(spacy.blank("en"))), "document 1|not a DocBin")


def test_a_row_of_genes_with_too_many_cells_is_named(tmp_path: Path) -> None:
    file = tmp_path / "genes.tsv"
    file.write_text("identifier\tsymbol\nncbigene:1\tA1BG\textra\n")
    refuse(file, lambda: read_gazetteer_tsv(file), "line 2: more cells")
