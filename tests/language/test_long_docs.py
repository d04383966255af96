"""Texts of any length: tokens in linear time, analyses in pieces, nothing lost at the cuts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.component import annotate_stream
from textrank.config import load_corpus
from textrank.formats.base import read_corpus
from textrank.language import segmentation
from textrank.language.segmentation import VocabZone, pipe_long, process_in_chunks, tokenize
from textrank.model import Model

SENTENCE = "SHC binds GRB2 in cells.\n"


@pytest.mark.parametrize("unit", [")", "a-", "(", "x.", "\u0301", "http://"])
def test_a_run_without_blanks_takes_linear_time(unit: str) -> None:
    text = unit * 200_000  # quadratic rules would not come back
    assert tokenize(spacy.blank("en"), text).text == text


def test_ordinary_text_is_cut_as_spacy_cuts_it() -> None:
    nlp = spacy.blank("en")
    text = f"Don't  touch (that)\n {'word ' * 300}http://a.b/{'c' * 300} end."
    assert [t.text for t in tokenize(nlp, text)] == [t.text for t in nlp.make_doc(text)]


def test_blanks_around_an_endless_run_stay_where_they_were() -> None:
    nlp = spacy.blank("en")
    doc = tokenize(nlp, f"a {')' * 3000} b")
    assert [doc[0].whitespace_, doc[-2].whitespace_, doc[-1].text] == [" ", " ", "b"]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.setattr(segmentation, "MAX_CHUNK_CHARACTERS", 100)
    lengths: list[int] = []
    return lengths


def watching(seen: list[int]) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")

    @Language.component("watch_lengths")
    def watch(doc: Doc) -> Doc:
        seen.append(len(doc.text))
        return doc

    nlp.add_pipe("watch_lengths")
    return nlp


def test_components_see_pieces_and_the_doc_is_whole(seen: list[int]) -> None:
    nlp = watching(seen)
    text = SENTENCE * 40
    doc = tokenize(nlp, text)
    doc.spans["entities"] = [
        Span(doc, t.i, t.i + 1, "protein", kb_id="x", span_id=f"T{t.i}")
        for t in doc
        if t.text in ("SHC", "GRB2")
    ]
    doc.user_data["document"] = "d"
    (found,) = pipe_long(nlp, [doc])
    assert found.text == text
    assert max(seen) <= 100
    assert len(seen) > 9
    sentences = [s.text.strip() for s in found.sents]
    assert list(filter(None, sentences)) == [SENTENCE.strip()] * 40
    spans = found.spans["entities"]
    assert [s.text for s in spans] == ["SHC", "GRB2"] * 40
    assert (spans[-1].label_, spans[-1].kb_id_, spans[-1].id_) == (
        "protein",
        "x",
        f"T{len(doc) - 5}",
    )
    assert found.user_data["document"] == "d"


def test_a_name_is_never_cut(seen: list[int]) -> None:
    nlp = spacy.blank("en")
    doc = tokenize(nlp, "a " * 200)
    doc.spans["entities"] = [Span(doc, 30, 70, "long")]
    found = process_in_chunks(doc, [])
    assert [(s.start, s.end) for s in found.spans["entities"]] == [(30, 70)]


def test_what_writes_to_the_doc_sees_it_whole(seen: list[int]) -> None:
    Doc.set_extension("found_here", default=None, force=True)

    @Language.component("whole_doc", assigns=["doc._.found_here"])
    def whole(doc: Doc) -> Doc:
        doc._.found_here = len(doc.text)
        return doc

    nlp = watching(seen)
    nlp.add_pipe("whole_doc")
    (found,) = pipe_long(nlp, [tokenize(nlp, SENTENCE * 40)])
    assert found._.found_here == len(SENTENCE) * 40


def test_a_text_of_megabytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("SHC binds GRB2 here. " * 60_000)  # 1.3 MB; spaCy refuses more than 1
    (doc,) = load_corpus(path)(spacy.blank("en"))
    assert len(doc.text) == path.stat().st_size


def failing() -> Language:
    nlp = spacy.blank("en")

    @Language.component("fails_at_bad")
    def fail(doc: Doc) -> Doc:
        if "bad" in doc.text:
            raise KeyError("a component's own fault")
        return doc

    nlp.add_pipe("fails_at_bad")
    return nlp


def rows(folder: Path) -> Path:
    texts = ["one", "two", "bad", "four", "five"]
    path = folder / "x.jsonl"
    path.write_text("\n".join(json.dumps({"id": t, "text": f"{t} here."}) for t in texts))
    return path


def test_a_bad_document_does_not_lose_its_batch(tmp_path: Path) -> None:
    path = rows(tmp_path)
    with pytest.warns(UserWarning, match=r"x\.jsonl, line 3: left out because of an error"):
        found = list(load_corpus(path, skip_bad=True)(failing()))
    assert [doc.user_data["document"] for doc in found] == ["one", "two", "four", "five"]


def test_without_skipping_the_document_at_fault_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeyError) as caught:
        list(load_corpus(rows(tmp_path))(failing()))
    assert "line 3" in caught.value.__notes__[0]


def test_words_are_forgotten_between_batches(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps({"text": f"uniqueword{n} here."}) for n in range(300)))
    nlp = spacy.blank("en")
    sizes = []
    with VocabZone(nlp) as memory:
        for doc in read_corpus(load_corpus(path).reader, nlp, on_batch_end=memory.mark_due):
            assert doc[0].text.startswith("uniqueword")
            if memory.is_due:
                memory.restart()
                sizes.append(len(nlp.vocab.strings))
    assert len(sizes) == 5  # of 64 documents and the rest
    assert sizes[-1] <= sizes[0]
    assert "uniqueword7" not in nlp.vocab.strings


def test_a_text_of_very_short_tokens_is_cut_by_their_number() -> None:
    """ "a-a-a-" has a token a character: four times as many as prose, and four times the memory."""
    doc = segmentation.tokenize(spacy.blank("en"), "a " * (2 * segmentation.MAX_CHUNK_TOKENS + 10))
    assert len(doc.text) <= segmentation.MAX_CHUNK_CHARACTERS + 20
    found = list(segmentation.split_doc(doc))
    assert max(map(len, found)) <= segmentation.MAX_CHUNK_TOKENS
    assert "".join(piece.text_with_ws for piece in found) == doc.text_with_ws


def test_a_piece_is_what_spacy_makes_of_its_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "MAX_CHUNK_TOKENS", 10)
    words = [
        "GRB2",
        "binds",
        "SOS1",
        ".",
        "It",
        "was",
        "seen",
        "in",
        "New",
        "York",
        ".",
        "Nothing",
        "else",
        "was",
        ".",
    ]
    doc = Doc(
        spacy.blank("en").vocab, words=words, sent_starts=[k in (0, 4, 11) for k in range(15)]
    )
    doc[0].tag_, doc[1].lemma_ = "NN", "bind"
    doc.ents = [Span(doc, 8, 10, label="place", kb_id="Q60", span_id="e1")]
    cut = list(segmentation.split_doc(doc))
    ends = np.cumsum([0, *map(len, cut)])
    assert len(cut) > 1
    for piece, start, end in zip(cut, ends[:-1], ends[1:], strict=True):
        own = doc[int(start) : int(end)].as_doc()
        assert piece.to_json() == own.to_json()
        assert [(e.kb_id_, e.id_) for e in piece.ents] == [(e.kb_id_, e.id_) for e in own.ents]


def test_a_stream_of_answers_frees_the_words_of_each_batch(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps({"text": f"uniqueword{n} here."}) for n in range(200)))
    zone, other_zone = VocabZone(spacy.blank("en")), VocabZone(spacy.blank("en"))
    sizes = []

    class Unchanged:
        """Stands for a Model: ``pipe`` notes the size of the vocabulary and changes no Doc."""

        def pipe(self, docs: list[Doc], **_: object) -> list[Doc]:
            sizes.append((len(docs), len(zone.nlp.vocab.strings)))
            return docs

    docs = read_corpus(load_corpus(path).reader, zone.nlp, on_batch_end=zone.mark_due)
    texts = [doc.text for doc in annotate_stream(cast(Model, Unchanged()), docs, zone)]
    assert texts == [f"uniqueword{n} here." for n in range(200)]
    assert [size for size, _ in sizes] == [64, 64, 64, 8, 0]
    assert max(strings for _, strings in sizes) == sizes[0][1]
    assert not other_zone.is_due


class Dropping:
    """A component that loses each Doc with a given word."""

    name = "dropping"

    def __init__(self, word: str) -> None:
        self.word = word

    def __call__(self, doc: Doc) -> Doc:
        return doc

    def pipe(self, docs: Iterable[Doc]) -> Iterator[Doc]:
        return (doc for doc in docs if self.word not in doc.text)


@pytest.mark.parametrize("any_length", [False, True])
@pytest.mark.parametrize("n_sentences", [1, 40])
def test_a_component_that_drops_a_doc_or_a_chunk_is_named(
    seen: list[int], any_length: bool, n_sentences: int
) -> None:
    doc = tokenize(spacy.blank("en"), f"{SENTENCE * n_sentences}The last one is lost.")
    dropping: Any = Dropping("lost")
    dropping.any_length = any_length
    with pytest.raises(ValueError, match="component 'dropping' returned 0 documents for one"):
        process_in_chunks(doc, [dropping])


def test_a_component_that_returns_nothing_is_named(seen: list[int]) -> None:
    def forget(doc: Doc) -> None:
        """Return None by mistake."""

    doc = tokenize(spacy.blank("en"), SENTENCE)
    with pytest.raises(ValueError, match="component 'forget' returned a NoneType"):
        process_in_chunks(doc, [forget])
