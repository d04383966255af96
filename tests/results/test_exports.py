"""``textrank export``: every kind of result gives the same facts, and bad input is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy

from textrank.cli.app import run
from textrank.formats.detection import reader_for
from textrank.results.exports import iter_facts

pytest.importorskip("duckdb")

NLP = spacy.blank("en")
TEXT = "GRB2 binds SOS1. MDM2 is phosphorylated by AKT1. RAD51 does not interact with PTEN."


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with texts and their results as a folder, JSON lines, facts and INDRA."""
    folder = tmp_path_factory.mktemp("export")
    texts = folder / "texts.jsonl"
    rows = [{"id": "8493578", "text": TEXT}, {"id": "8493579", "text": "SOS1 binds GRB2."}]
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    facts, network = folder / "facts.json", folder / "net.indra.json"
    with (folder / "lines.jsonl").open("w") as out, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out)
        options = ["--facts", str(facts), "--network", str(network)]
        assert run(["apply", "ppi", str(texts), *options]) == 0
    assert run(["apply", "ppi", str(texts), "--out", str(folder / "out"), "--format", "jsonl"]) == 0
    return folder


@pytest.mark.parametrize("source", ["out", "lines.jsonl", "facts.json"])
def test_all_results_give_the_same_statements(source: str, results: Path, tmp_path: Path) -> None:
    target, summary = tmp_path / "x.indra.json", tmp_path / "summary.json"
    arguments = ["export", str(results / source), str(target), "--json", str(summary)]
    assert run(arguments) == 0
    exported = {row["id"]: row for row in json.loads(target.read_text())}
    applied = {row["id"]: row for row in json.loads((results / "net.indra.json").read_text())}
    assert len(applied) == 3
    assert exported.keys() == applied.keys()
    for key, row in applied.items():
        assert exported[key]["belief"] == pytest.approx(row["belief"])
        texts = [[e["text"] for e in side["evidence"]] for side in (row, exported[key])]
        assert sorted(texts[0]) == sorted(texts[1])
        coords = [
            sorted(e["annotations"]["agents"]["coords"] for e in side["evidence"])
            for side in (row, exported[key])
        ]
        assert coords[0] == coords[1]
    assert json.loads(summary.read_text()) == {
        "file": str(target),
        "format": "indra",
        "facts": 3,
        "statements": 4,
        "left_out": 0,
    }


@pytest.mark.parametrize("suffix", ["bioc.xml", "bioc.json", "pubtator"])
def test_texts_of_a_folder_are_those_of_apply(
    suffix: str, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typer.echo", lambda *_, **__: None)
    applied, exported = tmp_path / "applied.json", tmp_path / f"x.{suffix}"
    if suffix != "bioc.json":
        applied = tmp_path / f"applied.{suffix}"
    assert run(["apply", "ppi", str(results / "texts.jsonl"), "--write", str(applied)]) == 0
    assert run(["export", str(results / "out"), str(exported)]) == 0
    first, second = (list(reader_for(path)(NLP)) for path in (applied, exported))
    assert [doc.text for doc in first] == [doc.text for doc in second]
    for one, other in zip(first, second, strict=True):
        assert sorted(one.user_data["concepts"].values()) == sorted(
            other.user_data["concepts"].values()
        )
        key = "concept_relations" if suffix == "pubtator" else "gold"
        types = [[row[0 if suffix == "pubtator" else "type"] for row in doc.user_data[key]]
                 for doc in (one, other)]  # fmt: skip
        assert types[0] == types[1] != []


@pytest.mark.parametrize("suffix", ["bioc.xml", "bioc.json"])
def test_the_bioc_library_reads_names_and_relations(
    suffix: str, results: Path, tmp_path: Path
) -> None:
    module = pytest.importorskip("bioc.biocxml" if suffix == "bioc.xml" else "bioc.biocjson")
    exported = tmp_path / f"x.{suffix}"
    assert run(["export", str(results / "out"), str(exported)]) == 0
    with exported.open(encoding="utf-8") as file:
        collection = module.load(file)
    texts = {str(doc.user_data["document"]): doc.text for doc in reader_for(exported)(NLP)}
    assert {document.id for document in collection.documents} == set(texts)
    relations = 0
    for document in collection.documents:
        ids = set()
        for passage in document.passages:
            for annotation in passage.annotations:
                ids.add(annotation.id)
                (location,) = annotation.locations
                start, end = location.offset, location.offset + location.length
                assert texts[document.id][start:end] == annotation.text
        owners = [document, *document.passages]
        for relation in (relation for owner in owners for relation in owner.relations):
            relations += 1
            assert {node.refid for node in relation.nodes} <= ids
            assert relation.infons["type"]
    assert relations


def test_texts_need_their_input_files(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = results / "texts.jsonl"
    content = text.read_text()
    try:
        text.write_text(content + "\n\n")
        assert run(["export", str(results / "out"), str(tmp_path / "x.pubtator")]) == 2
    finally:
        text.write_text(content)
    assert "missing or changed" in capsys.readouterr().err
    assert not (tmp_path / "x.pubtator").exists()


def test_improbable_and_negated_facts_can_be_left_out(results: Path, tmp_path: Path) -> None:
    assert run(["export", str(results / "out"), str(tmp_path / "x.sif"), "--probability", "1"]) == 0
    assert (tmp_path / "x.sif").read_text() == ""
    facts = list(iter_facts(results / "out"))
    assert [fact["ends"] for fact in facts] == sorted(fact["ends"] for fact in facts)
    assert sum(fact["probability"] == 0 for fact in facts) == 1


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("facts.json", "x.dot", "is not a network format"),
        ("nowhere", "x.bel", "no such file or folder"),
        ("texts.jsonl", "x.bel", "texts.jsonl"),
        (".", "x.bel", "not a result folder"),
    ],
)
def test_wrong_input_is_refused(
    source: str,
    target: str,
    message: str,
    results: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["export", str(results / source), str(tmp_path / target)]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["[]", "{}", '{"facts": [1]}', '{"facts": [{"ends": []}]}'])
def test_a_damaged_table_of_facts_is_refused(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "facts.json").write_text(content)
    assert run(["export", str(tmp_path / "facts.json"), str(tmp_path / "x.bel")]) == 2
    assert "not a table of facts" in capsys.readouterr().err
    assert not (tmp_path / "x.bel").exists()
