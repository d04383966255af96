"""What is written comes back equal, and no bytes whatever bring down a reader."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from textrank.candidates import span_tokens
from textrank.formats.base import get_mentions
from textrank.formats.columns import JsonLines
from textrank.formats.detection import READERS, WRITERS, reader_for, write_docs

NLP = spacy.blank("en")
TEXT = "STAT1 and -3 bind IL-2 receptor alpha . TNF - binding GRB2 < & > ü ."
SUFFIX = {
    "text": "",
    "json_lines": ".jsonl",
    "doc_bin": ".spacy",
    "brat": "",
    "bioc_xml": ".xml",
    "bioc_json": ".json",
    "pubtator": ".pubtator",
    "conllu": ".conllu",
    "ppi_xml": ".xml",
}
ANNOTATED = ["json_lines", "doc_bin", "brat", "bioc_xml", "bioc_json", "ppi_xml"]
FAST = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def annotated_doc() -> Doc:
    """Nested, broken and glued names, two sentences, a true and a false pair."""
    words = [*TEXT.split()]
    spaces = [word not in {"alpha", "TNF", "-", "ü"} for word in words[:-1]] + [False]
    doc = Doc(NLP.vocab, words=words, spaces=spaces, sent_starts=[i in (0, 8) for i in range(17)])
    names = [(0, 1, "T1"), (0, 3, "T2"), (4, 7, "T3"), (4, 5, "T4"), (8, 9, "T5"), (11, 12, "T6")]
    doc.spans["entities"] = [Span(doc, a, b, label="protein", span_id=i) for a, b, i in names]
    doc.user_data["pieces"] = {"T2": [0, 2]}
    doc.user_data["document"] = "d/1 %"
    doc.user_data["gold"] = [
        {"entities": ["T1", "T3"], "label": True, "type": "binds"},
        {"entities": ["T2", "T4"], "label": True, "type": "binds"},
        {"entities": ["T5", "T6"], "label": False, "type": "binds"},
    ]
    return doc


def facts(doc: Doc, *, types: bool = True, false: bool = True) -> dict[str, Any]:
    rows = [row for row in doc.user_data["gold"] if false or row["label"]]
    keys = ("entities", "label", "type") if types else ("entities", "label")
    return {
        "document": doc.user_data["document"],
        "text": doc.text,
        "mentions": sorted(get_mentions(doc), key=lambda mention: mention.id),
        "tokens": {span.id_: span_tokens(span) for span in doc.spans["entities"]},
        "gold": sorted([row[key] for key in keys] for row in rows),
    }


@pytest.mark.parametrize("name", ANNOTATED)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_annotations_come_back_equal(name: str, packed: str, tmp_path: Path) -> None:
    doc = annotated_doc()
    path = tmp_path / ("out" + (SUFFIX[name] + packed if SUFFIX[name] else ""))
    write_docs([doc], path, format=name)
    (back,) = reader_for(path, format=name)(NLP)
    stated = {"types": name != "ppi_xml", "false": name != "brat"}
    assert facts(back, **stated) == facts(doc, **stated)
    starts = [sentence.start_char for sentence in doc.sents]
    assert name == "brat" or [s.start_char for s in back.sents] == starts
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # no draft is left


@pytest.mark.parametrize("name", [name for name in SUFFIX if name != "conllu"])
def test_a_writer_that_fails_leaves_nothing(name: str, tmp_path: Path) -> None:
    nameless = annotated_doc()
    del nameless.user_data["document"]
    if name == "doc_bin":
        pytest.skip("DocBin needs no id")
    with pytest.raises(ValueError, match="has no id"):
        write_docs([nameless], tmp_path / ("out" + SUFFIX[name]), format=name)
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_failed_writer_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_docs([annotated_doc()], path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="no results 'nothing'"):
        write_docs([annotated_doc()], path, source="nothing")
    assert path.read_bytes() == before


@st.composite
def documents(draw: st.DrawFn) -> Doc:
    alphabet = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"])
    words = draw(st.lists(st.text(alphabet, min_size=1, max_size=6), min_size=1, max_size=12))
    size = len(words)
    spaces = [True] * (size - 1) + [False]
    starts = [i == 0 or draw(st.booleans()) for i in range(size)]
    doc = Doc(NLP.vocab, words=words, spaces=spaces, sent_starts=starts)
    sentences = [(s.start, s.end) for s in doc.sents]
    spans: list[Span] = []
    for begin, end in draw(st.lists(st.sampled_from(sentences), max_size=5)):
        first = draw(st.integers(begin, end - 1))
        last = draw(st.integers(first + 1, end))
        spans.append(Span(doc, first, last, label="protein", span_id=f"T{len(spans) + 1}"))
    doc.spans["entities"] = spans
    together = [(a, b) for a in spans for b in spans if a.id_ < b.id_ and a.sent == b.sent]
    chosen = draw(st.lists(st.sampled_from(together), unique=True, max_size=4)) if together else []
    doc.user_data["document"] = draw(st.text(alphabet, min_size=1, max_size=5))
    doc.user_data["gold"] = [
        {"entities": [a.id_, b.id_], "label": draw(st.booleans()), "type": "binds"}
        for a, b in chosen
    ]
    return doc


@FAST
@given(
    docs=st.lists(documents(), min_size=1, max_size=3, unique_by=lambda d: d.user_data["document"])
)
@pytest.mark.parametrize("name", ANNOTATED)
def test_any_documents_come_back_equal(
    name: str, docs: Sequence[Doc], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / ("out" + SUFFIX[name])
    write_docs(docs, path, format=name)
    whole = {"annotated": True} if name.startswith("bioc") else {}
    read_back = reader_for(path, format=name, **whole)(NLP)
    back = {doc.user_data["document"]: doc for doc in read_back}
    assert len(back) == len(docs)
    stated = {"types": name != "ppi_xml", "false": name != "brat"}
    for doc in docs:
        read = facts(back[doc.user_data["document"]], **stated)
        # The blank tokeniser cuts words in its own way, so only characters are compared.
        assert {**read, "tokens": 0} == {**facts(doc, **stated), "tokens": 0}


@pytest.mark.parametrize("name", ["json_lines", "bioc_xml", "bioc_json", "brat", "pubtator"])
def test_lines_and_blanks_of_a_text_come_back(name: str, tmp_path: Path) -> None:
    words = ["A", "title", "\n", "B", "binds", "  ", "C", ".", "\n\n", "D", "\n", "wraps", "."]
    spaces = [word in {"A", "B", "binds"} for word in words]
    starts = [i in (0, 3, 9) for i in range(len(words))]
    doc = Doc(NLP.vocab, words=words, spaces=spaces, sent_starts=starts)
    doc.spans["entities"] = [Span(doc, i, i + 1, "p", span_id=f"T{n}") for n, i in [(1, 3), (2, 6)]]
    doc.user_data |= {"document": "1", "gold": [{"entities": ["T1", "T2"], "label": True}]}
    path = tmp_path / ("out" + SUFFIX[name])
    write_docs([doc], path, format=name)
    (back,) = reader_for(path, format=name)(NLP)
    assert get_mentions(back) == get_mentions(doc)
    if name == "pubtator":  # one line a section
        assert back.text == "A title\nB binds   C.  D wraps."
    else:
        assert back.text == doc.text
        assert facts(back, types=False)["gold"] == facts(doc, types=False)["gold"]
    if name in ("json_lines", "bioc_xml", "bioc_json"):
        assert [s.start_char for s in back.sents] == [s.start_char for s in doc.sents]


def sample(name: str, folder: Path) -> Path:
    doc = annotated_doc()
    path = folder / ("sample" + SUFFIX[name])
    if name == "pubtator":
        doc.user_data["document"] = "1"
        doc.spans["entities"] = [span for span in doc.spans["entities"] if span.id_ != "T2"]
    if name == "conllu":
        heads = [i + 1 if i not in (7, 16) else i for i in range(17)]
        doc = Doc(NLP.vocab, words=[t.text for t in doc], heads=heads, deps=["dep"] * 17)
        doc.user_data["document"] = "1"
    write_docs([doc, doc] if SUFFIX[name] else [doc], path, format=name)
    return path if SUFFIX[name] else next(path.glob("*.ann" if name == "brat" else "*.txt"))


@FAST
@given(
    edits=st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(max_size=4)), min_size=1, max_size=4
    )
)
@pytest.mark.parametrize("name", SUFFIX)
def test_mutated_files_give_docs_or_a_clear_error(
    name: str, edits: list[tuple[float, int, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = sample(name, tmp_path_factory.mktemp("mutated"))
    data = path.read_bytes()
    for place, cut, new in edits:
        at = int(place * len(data))
        data = data[:at] + new + data[at + cut :]
    path.write_bytes(data)
    _docs_or_message(name, path)


@FAST
@given(data=st.binary(max_size=200))
@pytest.mark.parametrize("name", SUFFIX)
def test_any_bytes_give_docs_or_a_clear_error(
    name: str, data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("bytes") / ("x" + (SUFFIX[name] or ".txt"))
    path.write_bytes(data)
    _docs_or_message(name, path)


def _docs_or_message(name: str, path: Path) -> None:
    message = path.stem  # a brat pair has two files of one stem
    try:
        docs = list(reader_for(path, format=name)(NLP))
    except ValueError as error:
        docs, message = [], str(error)
    assert path.stem in message
    assert all(doc.user_data["document"] for doc in docs)


@pytest.mark.parametrize("name", [name for name in SUFFIX if name not in ("text", "brat")])
def test_truncated_gzip_is_told(name: str, tmp_path: Path) -> None:
    path = sample(name, tmp_path)
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes())[:-12])
    with pytest.raises(ValueError, match=r"sample.*the gzip file is truncated"):
        list(reader_for(packed, format=name)(NLP))


@pytest.mark.parametrize("name", SUFFIX)
def test_more_bytes_than_the_limit_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="more than 20 bytes"):
        list(reader_for(sample(name, tmp_path), format=name, limit=20)(NLP))


@pytest.mark.parametrize("name", [name for name in SUFFIX if name not in ("text", "brat")])
def test_an_empty_file_is_an_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"empty{SUFFIX[name]}"
    path.touch()
    with pytest.raises(ValueError, match=r"empty"):
        list(reader_for(path, format=name)(NLP))


def test_a_bad_document_is_skipped_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "a", "text": "One."}\n{"id": "b"}\n{"id": "c", "text": "Two."}\n')
    with pytest.raises(ValueError, match='line 2: no "text"'):
        list(JsonLines(str(path))(NLP))
    with pytest.warns(UserWarning, match="1 documents skipped, the first: .*line 2"):
        docs = list(JsonLines(str(path), skip_bad=True)(NLP))
    assert [doc.user_data["document"] for doc in docs] == ["a", "c"]


@pytest.mark.parametrize("name", ["conllu", "pubtator", "bioc_xml", "bioc_json", "ppi_xml"])
def test_skipping_counts_in_every_format(name: str, tmp_path: Path) -> None:
    path = sample(name, tmp_path)
    wrong = {"conllu": ("\t2\tdep", "\t99\tdep"), "pubtator": ("\t0\t5\t", "\t0\t999\t")}
    old, new = wrong.get(name, ("d/1 %", "d/2 %"))
    text = path.read_text(encoding="utf-8")
    if name == "bioc_xml":
        old, new = 'offset="0"', 'offset="99999"'
    elif name == "bioc_json":
        old, new = '"locations": [{"offset": 0,', '"locations": [{"offset": 99999,'
    elif name == "ppi_xml":
        old, new = 'charOffset="0-4"', 'charOffset="0-999"'
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    if name == "conllu":  # two documents of one id follow each other as one
        path.write_text(
            path.read_text("utf-8").replace("newdoc id = 1", "newdoc id = 0", 1), "utf-8"
        )
    with pytest.raises(ValueError, match="sample"):
        list(reader_for(path, format=name)(NLP))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        docs = list(reader_for(path, format=name, skip_bad=True)(NLP))
    assert len(docs) == 1
    assert "1 documents skipped" in str(told[0].message)


def test_every_format_reads_and_writes() -> None:
    # Tables of names and pairs hold no text; articles and events are only read.
    assert WRITERS.keys() - {"columns"} == SUFFIX.keys()
    assert WRITERS.keys() <= READERS.keys()
