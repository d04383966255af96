"""Questions to a result: the latest version of a document counts, filters hold, counts agree."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy

from textrank.results import store
from textrank.results.questions import UnknownQuestionError, answer_question
from textrank.results.schema import TABLES, document_row, write_part
from textrank.results.store import Filter, Results

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


def statement(
    document: str, a: str, b: str, probability: float = 0.9, **more: Any
) -> dict[str, Any]:
    ids = {"GRB2": "ncbigene:2885", "SOS1": "ncbigene:6654", "Ash": "ncbigene:2885"}
    return {
        "document": document,
        "start_a": 0,
        "end_a": len(a),
        "start_b": 10,
        "end_b": 10 + len(b),
        "name_a": a,
        "name_b": b,
        "id_a": ids.get(a),
        "id_b": ids.get(b),
        "score": probability,
        "probability": probability,
        "interacts": probability >= 0.5,
        "status": "asserted",
        "type": "binding",
        "direction": "none",
        "trigger": [[5, 9]],
        "sentence_start": 0,
        "sentence": f"{a} meets {b}.",
        "source": "one.xml",
        **more,
    }


def document(name: str, year: int | None = 2000, **more: Any) -> dict[str, Any]:
    return {
        "document": name,
        "source": "one.xml",
        "title": f"On {name}",
        "year": year,
        "words": 3,
        "status": "done",
        "input": 0,
        "position": 0,
        "replaces": True,
        **more,
    }


def name(document: str, text: str, id: str, species: str) -> dict[str, Any]:
    place = {"start": 0, "end": len(text), "source": "one.xml"}
    return {"document": document, "name": text, "id": id, "species": species, **place}


ONE = {
    "documents": [document("1", 1999), document("2", 2001, position=1), document("3", None)],
    "names": [
        name("1", "GRB2", "ncbigene:2885", "9606"),
        name("2", "Ash", "ncbigene:2885", "9606"),
        name("1", "SOS1", "ncbigene:6654", "9606"),
    ],
    "statements": [
        statement("1", "GRB2", "SOS1", 0.9),
        statement("2", "SOS1", "Ash", 0.5, type="activation"),
        statement("2", "SHC1", "GRB2", 0.8, status="negated", interacts=False),
        statement("3", "SHC1", "EGFR", 0.7),
        statement("3", "EGFR", "CBL", 0.2),
    ],
    "errors": [{"source": "two.xml", "document": "9", "reason": "broken"}],
}


def result(
    folder: Path, *parts: Mapping[str, Sequence[Mapping[str, Any]]], format: Any = "parquet"
) -> Results:
    for table in TABLES:
        (folder / table).mkdir(exist_ok=True)
    for number, tables in enumerate(parts):
        write_part(folder, f"{number:016x}", tables, format)
    manifest = {"settings": {"format": format}, "columns": TABLES}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return store.open_results(folder)


@pytest.fixture(params=["parquet", "jsonl"])
def found(request: pytest.FixtureRequest, tmp_path: Path) -> Results:
    return result(tmp_path, ONE, format=request.param)


def test_counts(found: Results) -> None:
    assert found.counts() == {"documents": 3, "names": 3, "statements": 5, "errors": 1}
    assert found.errors()[0]["reason"] == "broken"


def test_partners_are_joined_by_identifier_and_only_what_interacts_counts(found: Results) -> None:
    (partner,) = found.partners("GRB2")
    assert (partner["name"], partner["statements"], partner["documents"]) == ("SOS1", 2, 2)
    assert partner["probability"] == pytest.approx(1 - 0.1 * 0.5)
    assert partner["best"] == 0.9
    assert partner["types"] == ["binding", "activation"]
    assert found.partners("ncbigene:2885") == [partner]
    assert found.partners("grb2") == [partner]
    assert found.partners("nobody") == []


def test_evidence_shows_negated_statements_too(found: Results) -> None:
    (row,) = found.evidence("GRB2", "SHC1")
    assert (row["status"], row["sentence"]) == ("negated", "SHC1 meets GRB2.")
    assert row["trigger"] == [[5, 9]]
    assert [r["document"] for r in found.evidence("SOS1", "GRB2")] == ["1", "2"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Filter(), ["1", "3", "2"]),
        (Filter(type="activation"), ["2"]),
        (Filter(status="negated"), ["2"]),
        (Filter(probability=0.8), ["1"]),
        (Filter(years=(2000, None)), ["2"]),
        (Filter(years=(None, 1999)), ["1"]),
        (Filter(species="9606"), ["1", "2"]),
        (Filter(interacts=False), ["2", "3"]),
        (Filter(document="3"), ["3"]),
    ],
)
def test_filters(found: Results, where: Filter, expected: list[str]) -> None:
    assert [row["document"] for row in found.statements(where=where)] == expected
    assert found.count(where=where) == len(expected)


def test_pages_of_rows_join_up(found: Results) -> None:
    pages = [found.statements(limit=1, offset=n)[0]["document"] for n in range(3)]
    assert pages == [row["document"] for row in found.statements()]


def test_strongest_and_network(found: Results) -> None:
    assert [{r["name_a"], r["name_b"]} for r in found.strongest(2)] == [
        {"GRB2", "SOS1"},
        {"EGFR", "SHC1"},
    ]
    (edge,) = found.network(["SHC1", "EGFR", "CBL"])
    assert {edge["name_a"], edge["name_b"]} == {"EGFR", "SHC1"}
    assert found.network([]) == []


def test_a_document_with_all_its_rows(found: Results) -> None:
    whole = found.document("2")
    assert (whole["title"], len(whole["names"]), len(whole["statements"])) == ("On 2", 1, 2)
    assert found.document("none") == {}


def test_the_latest_version_wins_and_deletions_take_effect(tmp_path: Path) -> None:
    later = {
        "documents": [
            document("1", 2005, input=1),
            document("3", status="deleted", input=1, position=1),
        ],
        "statements": [statement("1", "GRB2", "CBL", 0.6)],
    }
    found = result(tmp_path, ONE, later)
    assert found.counts()["documents"] == 2
    rows = [(r["document"], r["name_b"]) for r in found.statements(where=Filter())]
    assert rows == [("1", "CBL"), ("2", "Ash")]
    assert found.sql("SELECT count(*) AS n FROM all_statements")[0]["n"] == 6


def test_documents_called_after_their_files_replace_nothing(tmp_path: Path) -> None:
    other = document("1", source="two/1.txt", replaces=False, input=1)
    first = {"documents": [document("1", replaces=False)]}
    found = result(tmp_path, first, {"documents": [other]})
    assert found.counts()["documents"] == 2


def test_a_part_without_its_documents_does_not_count(tmp_path: Path) -> None:
    result(tmp_path, ONE, ONE).close()
    (tmp_path / "documents" / f"{1:016x}.parquet").unlink()
    assert store.open_results(tmp_path).counts()["statements"] == 5


def test_a_folder_that_is_no_result_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no manifest\.json"):
        store.open_results(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        store.open_results(tmp_path)


@pytest.mark.parametrize(
    ("question", "kind", "count"),
    [
        ("who interacts with GRB2?", "partners", 1),
        ("Who binds SOS1", "partners", 1),
        ("GRB2", "partners", 1),
        ("GRB2 and SHC1", "statements", 1),
        ("evidence for GRB2, SOS1", "statements", 2),
        ("strongest", "pairs", 2),
        ("network GRB2, SOS1, Ash", "pairs", 1),
        ("negated", "statements", 1),
        ("how many documents", "count", 1),
        ("document 2", "statements", 2),
    ],
)
def test_questions_in_words(found: Results, question: str, kind: str, count: int) -> None:
    answer = answer_question(found, question, Filter())
    assert (answer.kind, len(answer.rows)) == (kind, count)


def test_unknown_names_and_documents_are_refused_with_similar_ones(found: Results) -> None:
    with pytest.raises(UnknownQuestionError, match=r"no statement mentions 'GRB22'.*mean GRB2"):
        answer_question(found, "partners of GRB22", Filter())
    with pytest.raises(UnknownQuestionError, match="no document '7777777'"):
        answer_question(found, "PMID 7777777", Filter())


def test_what_is_left_out_is_said(found: Results) -> None:
    assert "below the threshold" in answer_question(found, "partners of GRB2", Filter()).note
    answer = answer_question(found, "does GRB2 inhibit SOS1", Filter())
    assert "No likely inhibition statement about GRB2 and SOS1" in answer.note
    assert len(answer.rows) == 2


def test_roles_restrict_directed_statements(tmp_path: Path) -> None:
    directed = {
        **ONE,
        "statements": [
            statement("1", "MDM2", "TP53", 0.9, type="inhibition", direction="a>b"),
            statement("1", "TP53", "BCL2", 0.9, type="inhibition", direction="a>b"),
            statement("2", "AKT1", "MDM2", 0.9, type="activation", direction="a>b"),
            statement("2", "TP53", "CBL", 0.9, type="inhibition", direction="b>a"),
        ],
    }
    results = result(tmp_path, directed)
    names = {
        question: sorted(row["name"] for row in answer_question(results, question, Filter()).rows)
        for question in ("what inhibits TP53", "what does TP53 inhibit", "regulators of MDM2")
    }
    assert names == {
        "what inhibits TP53": ["CBL", "MDM2"],
        "what does TP53 inhibit": ["BCL2"],
        "regulators of MDM2": ["AKT1"],
    }
    assert len(answer_question(results, "does MDM2 inhibit TP53", Filter()).rows) == 1
    assert "No likely" in answer_question(results, "does TP53 inhibit MDM2", Filter()).note


def test_wrong_filters_are_named() -> None:
    with pytest.raises(ValueError, match="status must be one of"):
        Filter(status="maybe")
    with pytest.raises(ValueError, match="between 0 and 1"):
        Filter(probability=90)


def test_a_damaged_part_whose_error_is_not_text_is_named(tmp_path: Path) -> None:
    """DuckDB's message quotes bytes of this file, which are not UTF-8."""
    results = result(tmp_path, ONE)
    data = (Path(__file__).parent / "damaged-names.parquet").read_bytes()
    next((tmp_path / "names").glob("*.parquet")).write_bytes(data)
    with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
        results.document("1")


def test_the_title_of_a_text_without_one_is_its_first_sentence() -> None:
    first = "SHC binds to the activated EGF receptor and recruits GRB2 to the plasma membrane."
    more = " Neither GRB7 nor GRB10 was found in this complex."
    nlp = spacy.blank("en")
    titles = {
        text: document_row(nlp(text), text, "a.txt", 0, 0)["title"]
        for text in (first + more, "Two kinases. One phosphatase.\nA text.", "a" * 300)
    }
    assert list(titles.values()) == [first, "Two kinases. One phosphatase.", "a" * 200]
    doc = nlp(first)
    doc.user_data["title"] = "A title. " * 30
    assert document_row(doc, first, "a.txt", 0, 0)["title"] == "A title. " * 30
