from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from textrank.candidates import span_tokens
from textrank.formats.research import PPIXML
from textrank.language import load_nlp
from textrank.language.normalization import get_retokenized

NLP = spacy.blank("en")
TEXT = "STAT1 and -3 bind the IL-2-receptor."
PLACES = [(0, 4), (6, 8), (10, 11), (13, 16), (18, 20), (22, 25), (26, 26), (27, 34), (35, 35)]
TOKENS = "".join(
    f'<token id="t{i}" charOffset="{a}-{b}" POS="NN" text="{TEXT[a : b + 1]}" />'
    for i, (a, b) in enumerate(PLACES)
)
DEPENDENCIES = (
    '<dependency id="p1" t1="t3" t2="t0" type="nsubj" />'
    '<dependency id="p2" t1="t0" t2="t3" type="rcmod" />'  # a cycle, as in collapsed parses
)
ANALYSES = (
    f'<sentenceanalyses><parses><parse parser="split_parse" tokenizer="split">{DEPENDENCIES}'
    f'</parse></parses><tokenizations><tokenization tokenizer="split">{TOKENS}</tokenization>'
    "</tokenizations></sentenceanalyses>"
)
ENTITIES = (
    '<entity id="e0" charOffset="0-4" text="STAT1" />'
    '<entity id="e1" charOffset="0-3,10-11" text="STAT -3" />'
    '<entity id="e2" charOffset="22-34" text="IL-2-receptor" />'
    '<entity id="e3" charOffset="22-23" text="IL" />'
)
PAIRS = (
    '<pair id="p0" e1="e0" e2="e1" interaction="False" />'
    '<pair id="p1" e1="e2" e2="e0" interaction="True" />'
)


def corpus(sentence: str = ENTITIES + PAIRS + ANALYSES, second: str = "") -> str:
    return (
        '<corpus source="test"><document id="d0" origId="1">'
        f'<sentence id="d0.s0" text="{TEXT}">{sentence}</sentence>{second}</document></corpus>'
    )


def read(folder: Path, xml: str, **settings: object) -> list[Doc]:
    path = folder / "corpus.xml"
    path.write_text(xml)
    return list(PPIXML(str(path), **settings)(NLP))  # type: ignore[arg-type]


def test_offsets_are_inclusive_and_text_is_kept(tmp_path: Path) -> None:
    (doc,) = read(tmp_path, corpus())
    assert doc.text == TEXT
    assert [t.text for t in doc][5:8] == ["IL-2", "-", "receptor"]
    names = [span.text for span in doc.spans["entities"]]
    assert names == ["STAT1", "STAT1 and -3", "IL-2-receptor", "IL-2"]


def test_discontinuous_mention_skips_what_lies_between(tmp_path: Path) -> None:
    (doc,) = read(tmp_path, corpus())
    assert [span_tokens(span) for span in doc.spans["entities"]] == [[0], [0, 2], [5, 6, 7], [5]]


def test_dependencies_stay_a_graph_with_its_cycle(tmp_path: Path) -> None:
    (doc,) = read(tmp_path, corpus())
    assert doc.user_data["dependencies"] == [[3, 0, "nsubj"], [0, 3, "rcmod"]]


def test_our_own_words_are_kept_beside_the_given_ones(tmp_path: Path) -> None:
    path = tmp_path / "corpus.xml"
    path.write_text(corpus())
    nlp = load_nlp(only=["tagger", "parser"])
    (doc,), (alone,) = PPIXML(str(path))(nlp), PPIXML(str(path), analysis="spacy")(nlp)
    own = get_retokenized(doc)
    assert own is not None
    assert [(t.text, t.tag_, t.head.i, t.dep_) for t in own] == [
        (t.text, t.tag_, t.head.i, t.dep_) for t in alone
    ]
    assert [(s.id_, s.start, s.end) for s in own.spans["entities"]] == [
        (s.id_, s.start, s.end) for s in alone.spans["entities"]
    ]
    assert [t.text for t in own] != [t.text for t in doc]


def test_without_a_parser_there_is_one_reading(tmp_path: Path) -> None:
    (doc,) = read(tmp_path, corpus())
    assert get_retokenized(doc) is None


def test_gold_names_entities_and_answers(tmp_path: Path) -> None:
    (doc,) = read(tmp_path, corpus())
    assert doc.user_data["gold"] == [
        {"entities": ["e0", "e1"], "label": False},
        {"entities": ["e2", "e0"], "label": True},
    ]
    assert doc.user_data["document"] == "d0"
    assert doc.user_data["origin"] == "1"


def test_without_analyses_spacy_tokenises_and_sentences_stay(tmp_path: Path) -> None:
    second = '<sentence id="d0.s1" text="No name here. None." />'
    (doc,) = read(tmp_path, corpus(ENTITIES + PAIRS, second=second))
    assert doc.text == f"{TEXT} No name here. None."
    assert [s.text for s in doc.sents] == [TEXT, "No name here. None."]
    assert "dependencies" not in doc.user_data


def test_gzip_reads_as_plain(tmp_path: Path) -> None:
    path = tmp_path / "corpus.xml.gz"
    path.write_bytes(gzip.compress(corpus().encode()))
    (doc,) = PPIXML(str(path))(NLP)
    assert doc.text == TEXT


def test_shifted_token_offsets_are_repaired(tmp_path: Path) -> None:
    shifted = ANALYSES.replace('charOffset="35-35"', 'charOffset="34-34"')
    (doc,) = read(tmp_path, corpus(ENTITIES + PAIRS + shifted))
    assert doc[-1].text == "."


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        (corpus(ENTITIES.replace("22-34", "22-99")), r"'e2'.*outside the sentence of 36"),
        (corpus(ENTITIES.replace("22-34", "x")), r"'e2'.*charOffset='x'.*first-last"),
        (corpus(ENTITIES + PAIRS.replace('e2="e1"', 'e2="e9"')), r"'p0'.*'e9' is not an entity"),
        (corpus(ENTITIES + PAIRS.replace("True", "yes")), r"interaction='yes'.*True or False"),
        (corpus()[:-40], r"line 1, column \d+: not well-formed"),
        ("<corpus />", "no documents in this file"),
        (
            '<!DOCTYPE c [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><corpus>&b;</corpus>',
            "declares entities",
        ),
    ],
)
def test_error_names_file_place_and_remedy(tmp_path: Path, xml: str, words: str) -> None:
    with pytest.raises(ValueError, match=rf"corpus\.xml.*{words}"):
        read(tmp_path, xml)


def test_unknown_analysis_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no analysis 'stanford'.*split, spacy"):
        read(tmp_path, corpus(), analysis="stanford")


def test_truncated_gzip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "corpus.xml.gz"
    path.write_bytes(gzip.compress(corpus().encode())[:-30])
    with pytest.raises(ValueError, match=r"corpus\.xml\.gz: the gzip file is truncated"):
        list(PPIXML(str(path))(NLP))


def test_a_small_archive_cannot_unpack_without_end(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xml.gz"
    path.write_bytes(gzip.compress(b"<corpus>" + b" " * 5_000_000))
    with pytest.raises(ValueError, match="more than 1,000,000 bytes"):
        list(PPIXML(str(path), limit=1_000_000)(NLP))


def test_bad_document_is_skipped_only_when_asked(tmp_path: Path) -> None:
    bad = corpus().replace("0-4", "0-400", 1)
    both = bad.replace("</corpus>", corpus().removeprefix('<corpus source="test">'))
    with pytest.raises(ValueError, match="outside"):
        read(tmp_path, both)
    with pytest.warns(UserWarning, match="1 documents skipped"):
        assert len(read(tmp_path, both, skip_bad=True)) == 1


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_mutilated_file_gives_docs_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    raw = bytearray(corpus().encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=6))
    path = tmp_path_factory.mktemp("mutated") / "corpus.xml"
    path.write_bytes(bytes(raw))
    message = ""
    try:
        list(PPIXML(str(path))(NLP))
    except ValueError as error:
        message = str(error)
    assert not message or str(path) in message


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "counts"),
    [("AImed", (225, 1955, 4236, 1000, 4834)), ("LLL", (45, 77, 239, 164, 166))],
)
def test_counts_equal_the_published_ones(data: Path, name: str, counts: tuple[int, ...]) -> None:
    docs = list(PPIXML(str(data / "ppi" / f"{name}.xml.gz"))(NLP))
    gold = [pair["label"] for doc in docs for pair in doc.user_data["gold"]]
    sentences = sum(len(list(doc.sents)) for doc in docs)
    entities = sum(len(doc.spans["entities"]) for doc in docs)
    assert (len(docs), sentences, entities, sum(gold), len(gold) - sum(gold)) == counts


def test_the_characters_of_a_name_inside_a_token_are_kept(tmp_path: Path) -> None:
    (doc,) = read(tmp_path, corpus())
    span = next(span for span in doc.spans["entities"] if span.id_ == "e3")
    assert span.text == "IL-2"
    assert doc.user_data["offsets"]["e3"] == [[22, 24]]


def test_given_tokens_are_parsed_too_where_nlp_has_a_parser(tmp_path: Path) -> None:
    path = tmp_path / "corpus.xml"
    path.write_text(corpus())
    (doc,) = PPIXML(str(path))(load_nlp(only=["tagger", "parser"]))
    assert [t.text for t in doc][5:8] == ["IL-2", "-", "receptor"]
    assert doc.has_annotation("DEP")
    assert {t.tag_ for t in doc} == {"NN"}  # as given
    assert doc.user_data["dependencies"] == [[3, 0, "nsubj"], [0, 3, "rcmod"]]
