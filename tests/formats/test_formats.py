"""Each format by its own rules: offsets, pieces, relations, several parses, and its errors."""

from __future__ import annotations

import gzip
import json
import re
import tracemalloc
import zlib
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.tokens import Doc

from textrank.candidates import span_tokens
from textrank.cli.app import run
from textrank.formats.bioc import BioCJSON, BioCXML, PubTator, write_pubtator
from textrank.formats.columns import ConllU, DocBinFile, JsonLines, write_conllu, write_doc_bin
from textrank.formats.detection import check_output_path, detect_format, reader_for, write_docs
from textrank.formats.research import PPIXML, write_ppi_xml
from textrank.formats.standoff import Brat, write_brat

NLP = spacy.blank("en")
CORPORA = Path(__file__).parents[2] / "corpora"


def put(folder: Path, name: str, text: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(text.encode())
    return str(path)


def names(doc: Doc) -> list[str]:
    return [" ".join(doc[i].text for i in span_tokens(span)) for span in doc.spans["entities"]]


# brat

ANN = (
    "T1\tProtein 0 5\tSTAT1\n"
    "T2\tProtein 0 4;10 12\tSTAT -3\n"
    "T3\tProtein 18 22\tIL-2\n"
    "T4\tBinding 13 17\tbind\n"
    "R1\tBinds Arg1:T1 Arg2:T3\n"
    "R2\tPart Whole:T3 Part:T2\n"
    "R3\tCauses Arg1:E1 Arg2:T3\n"
    "E1\tBinding:T4 Theme:T1 Theme2:T3\n"
    "*\tEquiv T1 T2\n"
    "A1\tNegation E1\n"
    "N1\tReference T1 UniProt:P42224\tSTAT1\n"
    "#1\tAnnotatorNotes T1\tchecked twice\n"
)


def brat(folder: Path, ann: str = ANN) -> Brat:
    put(folder, "d.txt", "STAT1 and -3 bind IL-2-receptors.")
    put(folder, "d.ann", ann)
    return Brat(str(folder))


def test_brat_reads_every_kind_of_annotation(tmp_path: Path) -> None:
    (doc,) = brat(tmp_path)(NLP)
    assert names(doc)[1:] == ["STAT -3", "IL-2", "bind"]
    assert doc.user_data["document"] == "d"
    assert doc.user_data["gold"] == [
        {"entities": ["T1", "T3"], "label": True, "type": "Binds"},
        {"entities": ["T3", "T2"], "label": True, "type": "Part", "roles": ["Whole", "Part"]},
    ]
    events = [(event["id"], event["type"]) for event in doc.user_data["events"]]
    assert events == [("E1", "Binding"), ("R3", "Causes")]
    assert doc.user_data["events"][0]["arguments"][0] == ["trigger", "T4"]
    assert doc.user_data["concepts"] == {"T1": "UniProt:P42224"}
    assert doc.user_data["equivalent"] == [["T1", "T2"]]
    assert doc.user_data["attributes"] == [["A1", "Negation", "E1"]]


@pytest.mark.parametrize("name", ["brat", "json_lines"])
def test_events_and_attributes_come_back(tmp_path: Path, name: str) -> None:
    (doc,) = brat(tmp_path / "in")(NLP)
    write_docs([doc], tmp_path / "out", format=name)
    (back,) = reader_for(tmp_path / "out", format=name)(NLP)
    assert back.user_data == doc.user_data


def test_a_token_is_cut_where_a_name_ends_unless_asked_not_to(tmp_path: Path) -> None:
    (cut,) = brat(tmp_path)(NLP)
    put(tmp_path, "d.txt", "STAT1 and -3 bind IL2receptors.")
    put(tmp_path, "d.ann", "T1\tProtein 18 21\tIL2\n")
    (cut,) = Brat(str(tmp_path))(NLP)
    assert "receptors" in [token.text for token in cut]
    (kept,) = Brat(str(tmp_path), cut=False)(NLP)
    assert names(kept) == ["IL2receptors"]
    assert kept.user_data["offsets"] == {"T1": [[18, 21]]}  # what writers put down


def test_a_single_brat_file_and_a_text_without_annotations(tmp_path: Path) -> None:
    brat(tmp_path)
    (doc,) = reader_for(tmp_path / "d.ann")(NLP)
    assert len(doc.spans["entities"]) == 4
    (tmp_path / "d.ann").unlink()
    (doc,) = Brat(str(tmp_path))(NLP)
    assert "gold" not in doc.user_data
    assert "entities" not in doc.spans


@pytest.mark.parametrize(
    ("ann", "message"),
    [
        ("T1\tProtein 0 x\tS\n", r"d\.ann, line 1: '0 x' are not offsets"),
        ("T1\tProtein 0 4\tSTAX\n", "line 1: mention 'T1' should read 'STAX'.*reads 'STAT'"),
        ("T1\tProtein 30 99\t\n", "mention 'T1' at 30-99 lies outside the text of 33"),
        ("T1\tP 0 5\tSTAT1\nT1\tP 0 5\tSTAT1\n", "two mentions have the id 'T1'"),
        ("R1\tBinds Arg1:T1 Arg2:T2\n", "relation R1 refers to 'T1', which does not exist"),
        ("R1\tBinds Arg1:T1\n", "line 1: a relation has two arguments, not 1"),
        ("X1\tBinds T1\n", "line 1: unknown kind of annotation 'X1'"),
        ("nonsense\n", "line 1: 'nonsense' is not an annotation"),
        ("T1\tP 5 6\t \n", "mention 'T1' is blank"),
    ],
)
def test_brat_errors_name_file_and_line(tmp_path: Path, ann: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(brat(tmp_path, ann)(NLP))


def test_an_annotation_file_without_text_is_told(tmp_path: Path) -> None:
    put(tmp_path, "a.ann", "")
    with pytest.raises(ValueError, match=r"no text file for a\.ann"):
        list(Brat(str(tmp_path))(NLP))


def test_brat_ids_are_renumbered_where_they_do_not_fit(tmp_path: Path) -> None:
    (doc,) = list(PPIXML(str(CORPORA / "sample-ppi" / "corpus.xml"))(NLP))[:1]
    write_brat([doc], str(tmp_path))
    lines = (tmp_path / "Sample.d0.ann").read_text().splitlines()
    assert lines[0] == "T1\tprotein 0 3\tSHC"
    assert lines[-1].startswith("R3\tInteraction Arg1:T6 Arg2:T7")


# PubTator

PUBTATOR = (
    "12|t|GRB2 and SOS1.\n"
    "12|a|GRB2 binds SOS1.\n"
    "12\t0\t4\tGRB2\tGene\t2885\n"
    "12\t15\t19\tGRB2\tGene\t2885\n"
    "12\t26\t30\tSOS1\tGene\t-\n"
    "12\tAssociation\t2885\t6654\n"
    "\n"
    "13|t|No abstract.\n"
    "13|a|\n"
)


def test_pubtator_offsets_count_one_character_between_title_and_abstract(tmp_path: Path) -> None:
    first, second = PubTator(put(tmp_path, "x.pubtator", PUBTATOR))(NLP)
    assert names(first) == ["GRB2", "GRB2", "SOS1"]
    assert [s.text.strip() for s in first.sents] == ["GRB2 and SOS1.", "GRB2 binds SOS1."]
    assert first.user_data["concepts"] == {"T1": "2885", "T2": "2885"}
    assert first.user_data["concept_relations"] == [["Association", "2885", "6654"]]
    assert "gold" not in first.user_data
    assert second.text == "No abstract."


def test_pubtator_comes_back_as_it_was(tmp_path: Path) -> None:
    docs = list(PubTator(put(tmp_path, "x.pubtator", PUBTATOR))(NLP))
    write_pubtator(docs, str(tmp_path / "y.pubtator"))
    assert (tmp_path / "y.pubtator").read_text() == PUBTATOR + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("12\t0\t4\tGRB2\tGene\n", "line 1: no title"),
        ("12|t|GRB2\n12|a|\n13\t0\t4\tGRB2\tGene\n", "line 3: belongs to '13'"),
        ("12|t|GRB2\n12\t0\t4\n", "line 2: 3 fields"),
        ("12|t|GRB2\n12\t0\t4\tSOS1\tGene\n", "line 2: mention 'T1' should read 'SOS1'"),
    ],
)
def test_pubtator_errors_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(PubTator(put(tmp_path, "x.pubtator", text))(NLP))


def test_pubtator_refuses_to_write_broken_names(tmp_path: Path) -> None:
    (doc,) = brat(tmp_path)(NLP)
    with pytest.raises(ValueError, match="mention 'T2' of document 'd' is in 2 pieces"):
        write_pubtator([doc], str(tmp_path / "x.pubtator"))


# BioC

BIOC = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>s</source><date>d</date><key>k</key>
<document><id>7</id>
 <passage><infon key="type">title</infon><offset>0</offset><text>GRB2 &amp; SOS1</text>
  <annotation id="0"><infon key="type">Gene</infon><infon key="identifier">2885</infon>
   <location offset="0" length="4"/><text>GRB2</text></annotation></passage>
 <passage><offset>500</offset><sentence><offset>500</offset><text>GRB2 binds SOS1 and -2.</text>
  <annotation id="1"><infon key="type">Gene</infon><location offset="500" length="4"/>
   <text>GRB2</text></annotation>
  <annotation id="2"><infon key="type">Gene</infon><location offset="511" length="3"/>
   <location offset="520" length="2"/><text>SOS -2</text></annotation></sentence>
  <sentence><offset>524</offset><text>End.</text></sentence>
  <relation id="R1"><infon key="type">binds</infon><node refid="1" role="a"/>
   <node refid="2" role="b"/></relation>
  <relation id="R2"><infon key="type">all</infon><node refid="0" role=""/>
   <node refid="1" role=""/><node refid="2" role=""/></relation></passage>
</document></collection>"""


def test_bioc_offsets_count_from_the_document(tmp_path: Path) -> None:
    (doc,) = BioCXML(put(tmp_path, "x.xml", BIOC))(NLP)
    assert doc.text == "GRB2 & SOS1\nGRB2 binds SOS1 and -2. End."
    assert names(doc) == ["GRB2", "GRB2", "SOS -2"]
    assert doc.user_data["concepts"] == {"0": "2885"}
    assert doc.user_data["gold"] == [
        {"entities": ["1", "2"], "label": True, "type": "binds", "roles": ["a", "b"]}
    ]
    assert [event["id"] for event in doc.user_data["events"]] == ["R2"]
    assert [s.text.strip() for s in doc.sents][1:] == ["GRB2 binds SOS1 and -2.", "End."]


def test_bioc_json_of_services_and_lines(tmp_path: Path) -> None:
    notes = [{"id": "1", "infons": {"type": "Gene"}, "locations": [{"offset": 5, "length": 4}]}]
    passage = {"offset": 5, "infons": {}, "text": "GRB2 binds.", "annotations": notes}
    document = {"id": "7", "passages": [passage]}
    shapes = {
        "collection": json.dumps({"source": "", "documents": [document]}, indent=1),
        "list": json.dumps([document]),
        "service": json.dumps({"PubTator3": [document]}),
        "lines": json.dumps(document) + "\n" + json.dumps(document) + "\n",
    }
    for name, text in shapes.items():
        docs = list(reader_for(put(tmp_path, f"{name}.json", text))(NLP))
        assert [names(doc) for doc in docs] == [["GRB2"]] * (2 if name == "lines" else 1)


def test_bioc_annotations_numbered_anew_in_each_passage(tmp_path: Path) -> None:
    text = BIOC.replace('<annotation id="1"', '<annotation id="0"')
    with pytest.raises(ValueError, match="a relation refers to '0', the id of two annotations"):
        list(BioCXML(put(tmp_path, "x.xml", text))(NLP))
    text = re.sub("<relation.*</relation>", "", text, flags=re.DOTALL)
    (doc,) = BioCXML(put(tmp_path, "x.xml", text))(NLP)
    assert [span.id_ for span in doc.spans["entities"]] == ["0", "0.2", "2"]


def test_names_of_unannotated_documents_are_left_to_a_recogniser(tmp_path: Path) -> None:
    bare = '{"id": "7", "passages": [{"offset": 0, "text": "GRB2 binds."}]}'
    files = {"x.json": bare, "x.pubtator": "7|t|GRB2\n7|a|\n", "x.jsonl": '{"text": "GRB2."}'}
    for name, text in files.items():
        (doc,) = reader_for(put(tmp_path, name, text))(NLP)
        assert "entities" not in doc.spans
        assert "gold" not in doc.user_data
    (doc,) = BioCJSON(put(tmp_path, "x.json", bare), annotated=True)(NLP)
    assert not doc.spans["entities"]
    assert doc.user_data["gold"] == []


def test_an_empty_text_is_an_empty_doc(tmp_path: Path) -> None:
    (doc,) = reader_for(put(tmp_path, "x.txt", ""))(NLP)
    assert len(doc) == 0
    assert list(doc.sents) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('offset="511"', 'offset="9511"', "document '7': annotation '2' begins at 9511, outside"),
        ('offset="511"', 'offset="512"', "mention '2' should read 'SOS -2'"),
        ('offset="511"', 'offset="x"', "offset 'x' is not a number"),
        ("<id>7</id>", "", "a document without id"),
        ("</passage>", "", "not well-formed XML"),
        ('SYSTEM "BioC.dtd"', '[<!ENTITY a "b">]', "declares entities"),
    ],
)
def test_bioc_errors_name_the_document(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(BioCXML(put(tmp_path, "x.xml", BIOC.replace(old, new, 1)))(NLP))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "Correct the number"),
        ('{"documents": 3}', 'no "passages" in 3'),
        ("[1]", "1 is not a BioC document"),
        ('{"id": "1", "passages": [3]}', '"passages" is not a list of objects'),
        ('{"id": "1", "passages": [{"offset": true, "text": "x"}]}', "offset True is not a number"),
        ('{"id": "1", "passages": [{"offset": 0, "text": 5}]}', "text 5 is not a string"),
        ('{"id": "1", "passages": [{"offset": 0, "text": "\\ud800"}]}', "surrogate"),
    ],
)
def test_bioc_json_errors(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(BioCJSON(put(tmp_path, "x.json", text))(NLP))


def test_xml_says_which_character_it_cannot_write(tmp_path: Path) -> None:
    doc = NLP("bad \x01 text")
    doc[0].is_sent_start = True
    doc.user_data["document"] = "d"
    for token in doc[1:]:
        token.is_sent_start = False
    for name in ("bioc_xml", "ppi_xml"):
        with pytest.raises(ValueError, match=r"character U\+0001 .* cannot be written in XML"):
            write_docs([doc], tmp_path / "x.xml", format=name)


# JSON lines


def test_json_lines_take_the_shape_of_jnlpba_and_keep_other_keys(tmp_path: Path) -> None:
    row = {"id": 5, "muid": "9", "text": "GRB2 gene\nSOS1.", "entities": [[0, 4, "DNA"]]}
    (doc,) = JsonLines(put(tmp_path, "x.jsonl", json.dumps(row)))(NLP)
    assert doc.user_data["document"] == "5"
    assert doc.user_data["meta"] == {"muid": "9"}
    assert [s.label_ for s in doc.spans["entities"]] == ["DNA"]
    assert [s.text.strip() for s in doc.sents] == ["GRB2 gene", "SOS1."]
    (doc,) = JsonLines(put(tmp_path, "x.jsonl", json.dumps(row)), newlines=False)(NLP)
    assert len(list(doc.sents)) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1, column 2: not JSON"),
        ("[]", 'line 1: no "text"'),
        ('{"text": "ab", "entities": 5}', '"entities" is not a list'),
        ('{"text": "ab", "entities": [[0, 1]]}', '"entities" 1: .* is not an entity'),
        ('{"text": "ab", "entities": [[0, 1.5, "x"]]}', "is not a range"),
        ('{"text": "ab", "entities": [[0, true, "x"]]}', "is not a range"),
        ('{"text": "ab", "entities": [[0, 3, "x"]]}', "lies outside the text of 2"),
        ('{"text": "ab", "relations": [{"entities": ["a"], "label": true}]}', "is not a relation"),
        ('{"text": "ab", "relations": [{"entities": ["a", "b"], "label": true}]}', "refers to 'a'"),
        ('{"text": "ab", "sentences": ["a"]}', "is not a character offset"),
    ],
)
def test_json_lines_errors_name_line_and_place(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(JsonLines(put(tmp_path, "x.jsonl", line))(NLP))


def test_broken_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "\xff"}\n')
    with pytest.raises(ValueError, match=r"x\.jsonl, line 2, byte 10: not UTF-8"):
        list(JsonLines(str(path))(NLP))


def test_a_text_longer_than_spacy_takes_is_read(tmp_path: Path) -> None:
    short = spacy.blank("en")
    short.max_length = 3
    path = put(tmp_path, "x.jsonl", '{"text": "abcd"}\n{"text": "abc"}\n')
    assert [doc.text for doc in JsonLines(path)(short)] == ["abcd", "abc"]


# DocBin


def test_doc_bin_keeps_lists_ids_and_names(tmp_path: Path) -> None:
    (doc,) = brat(tmp_path)(NLP)
    path = str(tmp_path / "x.spacy")
    write_doc_bin([doc], path)
    (back,) = DocBinFile(path)(spacy.blank("en"))
    assert back.user_data == doc.user_data
    assert [(s.id_, s.label_) for s in back.spans["entities"]] == [
        (s.id_, s.label_) for s in doc.spans["entities"]
    ]


def test_foreign_doc_bins_get_ids_sentences_and_entities(tmp_path: Path) -> None:
    doc = NLP("GRB2 binds. SOS1 too.")
    doc.ents = [doc.char_span(0, 4, label="GENE")]
    path = str(tmp_path / "x.spacy")
    write_doc_bin([doc], path)
    (back,) = DocBinFile(path)(NLP)
    assert back.user_data["document"] == "x-1"
    assert names(back) == ["GRB2"]
    assert len(list(back.sents)) == 2


@pytest.mark.parametrize("message", [{}, {"attrs": [1]}, [1], "x"])
def test_damaged_doc_bins_are_told(tmp_path: Path, message: object) -> None:
    path = tmp_path / "x.spacy"
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(message)))
    with pytest.raises(ValueError, match=r"x\.spacy: not a DocBin, or a damaged one"):
        list(DocBinFile(str(path))(NLP))


# CoNLL-U


def test_conllu_reads_gold_and_candidates(tmp_path: Path) -> None:
    docs = list(ConllU(str(CORPORA / "sample-parses" / "corpus.conllu"))(NLP))
    assert [doc.user_data["document"] for doc in docs][:2] == ["garden", "kinase"]
    assert [len(list(doc.sents)) for doc in docs] == [5] * 6
    first = docs[0]
    assert first.text.startswith("She watered the roses with a green can. The man")
    gold = first.user_data["gold"][1]
    assert gold["start"] == 9
    assert [first[i].text for i in gold["heads"]][:3] == ["man", "prunes", "man"]
    assert first[1].dep_ == gold["labels"][7] == "ROOT"
    assert len(first.user_data["parses"]) == 40
    assert {len(row["heads"]) for row in first.user_data["parses"][:8]} == {9}


def test_conllu_comes_back_equal(tmp_path: Path) -> None:
    docs = list(ConllU(str(CORPORA / "sample-parses" / "corpus.conllu"))(NLP))
    path = str(tmp_path / "x.conllu.gz")
    write_conllu(docs, path)
    for doc, back in zip(docs, ConllU(path)(NLP), strict=True):
        assert back.text == doc.text
        assert back.user_data == doc.user_data
        assert [(t.head.i, t.dep_, t.tag_, t.pos_) for t in back] == [
            (t.head.i, t.dep_, t.tag_, t.pos_) for t in doc
        ]


WORDS = (
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tdo\tdo\tAUX\tVBP\tMood=Ind\t0\troot\t_\t_\n"
    "2\tn't\tnot\tPART\tRB\t_\t1\tneg\t_\t_\n"
    "2.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t0:root\t_\n"
    "3\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_\n"
)


def test_conllu_joins_multiword_tokens_and_passes_over_empty_nodes(tmp_path: Path) -> None:
    (doc,) = ConllU(put(tmp_path, "x.conllu", WORDS))(NLP)
    assert doc.text.strip() == "don't!"
    assert [t.text for t in doc] == ["do", "n't", "!"]
    assert doc[0].morph.get("Mood") == ["Ind"]
    assert doc.user_data["document"] == "x"


def test_conllu_groups_sentences_by_the_document_in_their_ids(tmp_path: Path) -> None:
    text = "".join(f"# sent_id = {name}\n{WORDS}\n" for name in ("81-1", "81-2", "92-1"))
    docs = list(ConllU(put(tmp_path, "x.conllu", text))(NLP))
    assert [doc.user_data["document"] for doc in docs] == ["81", "92"]
    assert docs[0].user_data["sentences"] == ["81-1", "81-2"]


def test_conllu_without_gold_sets_no_tree(tmp_path: Path) -> None:
    text = "".join(f"# sent_id = s\n# parse = {k}\n# score = {k}.5\n{WORDS}\n" for k in (1, 2))
    (doc,) = ConllU(put(tmp_path, "x.conllu", text))(NLP)
    assert not doc.has_annotation("DEP")
    assert len(list(doc.sents)) == 1
    assert [row["score"] for row in doc.user_data["parses"]] == [1.5, 2.5]
    assert doc.user_data["gold"] == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t1\tneg", "\t9\tneg", "of 3 words has a head 9"),
        ("\t1\tneg", "\t0\tneg", "has 2 roots"),
        ("\t1\tneg", "\t2\tneg", "A tree has one root and no cycle"),
        ("\t1\tneg", "\tx\tneg", "word \"n't\" with head 'x'"),
        ("2\tn't", "4\tn't", "line 3: word '4' out of order"),
        ("\t_\n3", "\n3", "line 4: 9 columns"),
    ],
)
def test_conllu_errors_name_the_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(ConllU(put(tmp_path, "x.conllu", WORDS.replace(old, new, 1)))(NLP))


def test_conllu_refuses_two_sentences_of_one_id(tmp_path: Path) -> None:
    text = f"# sent_id = a\n{WORDS}\n# sent_id = a\n{WORDS.replace('!', '?')}"
    with pytest.raises(ValueError, match="two blocks have sent_id 'a' but not the same words"):
        list(ConllU(put(tmp_path, "x.conllu", text))(NLP))


def test_a_doc_without_parse_is_not_written_as_conllu(tmp_path: Path) -> None:
    (doc,) = brat(tmp_path)(NLP)
    with pytest.raises(ValueError, match="has no parse"):
        write_conllu([doc], str(tmp_path / "x.conllu"))
    assert not (tmp_path / "x.conllu").exists()


# PPI XML


def test_ppi_xml_keeps_graphs_and_origins(tmp_path: Path) -> None:
    docs = list(PPIXML(str(CORPORA / "sample-ppi" / "corpus.xml"))(NLP))
    path = tmp_path / "x.xml"
    for doc in docs:
        doc.user_data["dependencies"] = [[0, 1, "nsubj"], [1, 0, "rcmod"], [2, 2, "loop"]]
    write_ppi_xml(docs, str(path))
    for doc, back in zip(docs, PPIXML(str(path))(NLP), strict=True):
        assert back.text == doc.text
        assert [t.text for t in back] == [t.text for t in doc]
        for key in ("document", "origin", "sentences", "gold", "pieces", "dependencies"):
            assert back.user_data[key] == doc.user_data[key]
        assert [(s.id_, s.text) for s in back.spans["entities"]] == [
            (s.id_, s.text) for s in doc.spans["entities"]
        ]


def test_ppi_xml_refuses_what_crosses_sentences(tmp_path: Path) -> None:
    row = '{"id": "d", "text": "GRB2. SOS1.", "entities": [[0, 4, "p"], [6, 10, "p"]], '
    row += '"relations": [{"entities": ["T1", "T2"], "label": true}], "sentences": [0, 6]}'
    (doc,) = JsonLines(put(tmp_path, "x.jsonl", row))(NLP)
    with pytest.raises(ValueError, match="pair 'T1', 'T2' of document 'd' is not within one"):
        write_ppi_xml([doc], str(tmp_path / "x.xml"))
    doc.user_data["gold"] = []
    doc.spans["entities"] = [doc[0:4]]
    with pytest.raises(ValueError, match="crosses a sentence boundary"):
        write_ppi_xml([doc], str(tmp_path / "x.xml"))


# which format


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.txt", "Plain words.", "text"),
        ("a.txt", PUBTATOR, "pubtator"),
        ("a.PubTator", PUBTATOR, "pubtator"),
        ("a.unknown", PUBTATOR, "pubtator"),
        ("a.jsonl", '{"text": "x"}', "json_lines"),
        ("a.json", '{"text": "x"}', "json_lines"),
        ("a.jsonl", '{"id": "1", "passages": []}', "bioc_json"),
        ("a.json", '{"documents": [{"passages": []}]}', "bioc_json"),
        ("a.xml", BIOC, "bioc_xml"),
        ("a.xml", '<?xml version="1.0"?><corpus source="x"></corpus>', "ppi_xml"),
        ("a.conllu", WORDS, "conllu"),
        ("a.tsv", "# sent_id = 1\n" + WORDS, "conllu"),
        ("a.spacy", "", "doc_bin"),
    ],
)
def test_the_format_is_recognised(tmp_path: Path, name: str, text: str, expected: str) -> None:
    assert detect_format(put(tmp_path, name, text)) == expected
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert detect_format(packed) == expected


def test_folders_are_brat_or_text(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"neither \*\.txt nor \*\.ann"):
        detect_format(tmp_path)
    put(tmp_path, "d.txt", "x")
    assert detect_format(tmp_path) == "text"
    put(tmp_path, "d.ann", "")
    assert detect_format(tmp_path) == "brat"
    assert detect_format(tmp_path / "d.txt") == "brat"


@pytest.mark.parametrize("name", ["a.pdf", "a.xml", "noname"])
def test_an_unknown_format_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name}: the format is not recognised.*\.conllu"):
        reader_for(put(tmp_path, name, "%PDF-1.4"))
    with pytest.raises(ValueError, match=r"unknown format 'pdf'\. Available: text, json_lines"):
        reader_for("x", format="pdf")
    with pytest.raises(ValueError, match="no such file"):
        reader_for(tmp_path / "missing.txt")
    with pytest.raises(ValueError, match="no format is written with this suffix"):
        write_docs([], tmp_path / "a.pdf")
    with pytest.raises(ValueError, match="unknown format 'pdf'"):
        check_output_path(tmp_path / "a", format="pdf")


def test_results_are_written_with_identifiers_types_and_relations(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("GRB2 binds SOS1.\nMDM2 is phosphorylated by AKT1. RAD51 does not bind PTEN.")
    for name in ("y.bioc.xml", "y.json", "y.pubtator"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("typer.echo", lambda *_, **__: None)
            assert run(["apply", "ppi", str(file), "--write", str(tmp_path / name)]) == 0
    (document,) = json.loads((tmp_path / "y.json").read_text())["documents"]
    annotations = [a for passage in document["passages"] for a in passage["annotations"]]
    assert all(re.fullmatch(r"\d+", a["infons"]["identifier"]) for a in annotations)
    binding, phosphorylation, negated = (row["infons"] for row in document["relations"])
    assert (binding["type"], binding["label"], binding["status"]) == ("binding", "true", "asserted")
    assert (phosphorylation["type"], phosphorylation["direction"]) == ("phosphorylation", "b>a")
    assert (negated["label"], negated["status"]) == ("false", "negated")
    assert 0 < float(binding["probability"]) < 1
    numbers = {a["text"]: a["infons"]["identifier"] for a in annotations}
    (doc,) = PubTator(str(tmp_path / "y.pubtator"))(NLP)
    assert doc.user_data["concept_relations"] == [
        ["Bind", numbers["GRB2"], numbers["SOS1"]],
        ["Association", numbers["AKT1"], numbers["MDM2"]],
    ]
    assert {span.text: span.kb_id_ for span in doc.spans["entities"]} == {
        name: f"ncbigene:{number}" for name, number in numbers.items()
    }
    (doc,) = BioCXML(str(tmp_path / "y.bioc.xml"))(NLP)
    assert [row["type"] for row in doc.user_data["gold"]][:2] == ["binding", "phosphorylation"]


def test_tiny_rows_of_a_table_are_read_without_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The header is searched once per file, not per row."""
    calls: list[int] = []
    from textrank.formats.columns import Columns

    search = Columns._columns
    monkeypatch.setattr(Columns, "_columns", lambda *values: (calls.append(1), search(*values))[1])
    (tmp_path / "a.csv").write_text("title,abstract\n" + "T,A\n" * 50)
    docs = list(Columns(str(tmp_path / "a.csv"))(spacy.blank("en")))
    assert [token.is_sent_start for token in docs[0]] == [True, False, True]
    assert len(docs) == 50
    assert len(calls) == 1


def test_a_table_is_read_with_one_batch_in_memory(tmp_path: Path) -> None:
    """The Docs of 4000 rows would take ten times the memory that is allowed here."""
    from textrank.formats.columns import Columns

    file = tmp_path / "a.csv"
    file.write_text("title,abstract\n" + "T,A\n" * 4000)
    reader = Columns(str(file))
    next(reader(NLP))
    tracemalloc.start()
    try:
        assert sum(1 for _ in reader(NLP)) == 4000
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_of_two_columns_with_one_name_the_last_counts(tmp_path: Path) -> None:
    from textrank.formats.columns import Columns

    file = put(tmp_path, "a.csv", "note,text,note,text,year\n1,old,2,new,1999\n")
    doc = next(Columns(file)(NLP))
    assert doc.text == "new"
    assert doc.user_data["meta"] == {"note": "2"}
    assert doc.user_data["year"] == 1999
    assert doc.user_data["document"] == "1"
