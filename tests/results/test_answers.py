"""Each question of ``questions.tsv`` is answered from a result folder, or refused with a reason."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from textrank.results.questions import UnknownQuestionError, answer_question
from textrank.results.schema import TABLES, write_part
from textrank.results.store import Filter, Results, open_results

IDS = {"TP53": 7157, "MDM2": 4193, "AKT1": 207, "PDPK1": 5170, "GSK3B": 2932, "BCL2": 596,
       "GRB2": 2885, "SOS1": 6654, "SHC1": 6464, "HSP90AA1": 3320, "AHR": 196, "STAT3": 6774,
       "IL6": 3569, "SRC": 6714, "BCAR1": 9564, "GAB1": 2549, "NUTLIN": 0, "TNF": 7124}  # fmt: skip
# Names, type, direction, status and document of the statements; names are those of the text.
STATEMENTS = (
    ("MDM2", "p53", "inhibition", "a>b", "asserted", "12345678"),
    ("PDPK1", "AKT1", "phosphorylation", "a>b", "asserted", "1"),
    ("AKT1", "GSK3B", "phosphorylation", "a>b", "asserted", "2"),
    ("TNF", "NF-kappa B", "activation", "a>b", "asserted", "3"),
    ("p53", "BCL2", "inhibition", "a>b", "asserted", "4"),
    ("BCL2", "AHR", "regulation", "a>b", "asserted", "4"),
    ("Nutlin", "MDM2", "inhibition", "a>b", "asserted", "5"),
    ("IL6", "STAT3", "activation", "a>b", "asserted", "6"),
    ("GRB2", "SOS1", "binding", "none", "asserted", "7"),
    ("GRB2", "SOS1", "binding", "none", "asserted", "8"),
    ("SHC1", "GRB2", "binding", "none", "asserted", "9"),
    ("HSP90AA1", "AHR", "binding", "none", "asserted", "10"),
    ("SRC", "p130Cas", "phosphorylation", "a>b", "asserted", "11"),
    ("GRB2", "GAB1", "binding", "none", "speculated", "12"),
    ("SRC", "STAT3", "binding", "none", "negated", "13"),
    ("MYC", "CDK4", "activation", "a>b", "asserted", "14"),
)
SYMBOL_OF_NAME = {"p53": "TP53", "p130Cas": "BCAR1"}
# Expected partners, or other names of the rows; counts as a number.
EXPECTED: dict[str, Any] = {
    "what inhibits TP53": {"MDM2"},
    "What inhibits p53?": {"MDM2"},
    "which proteins inhibit TP53?": {"MDM2"},
    "what does TP53 inhibit?": {"BCL2"},
    "who phosphorylates AKT1": {"PDPK1"},
    "which kinases phosphorylate AKT1?": {"PDPK1"},
    "what is phosphorylated by AKT1?": {"GSK3B"},
    "substrates of AKT1": {"GSK3B"},
    "what activates NF-kappa B": {"TNF"},
    "what does BCL2 regulate": {"AHR"},
    "targets of MYC": {"CDK4"},
    "regulators of BCL2": {"p53"},
    "inhibitors of MDM2": {"Nutlin"},
    "activators of STAT3": {"IL6"},
    "interactors of HSP90AA1": {"AHR"},
    "interaction partners of HSP90AA1": {"AHR"},
    "partners of GRB2": {"SOS1", "SHC1"},
    "binding partners of GRB2": {"SOS1", "SHC1"},
    "who interacts with GRB2": {"SOS1", "SHC1"},
    "what binds to GRB2?": {"SOS1", "SHC1"},
    "which proteins interact with GRB2?": {"SOS1", "SHC1"},
    "what does GRB2 bind?": {"SOS1", "SHC1"},
    "list everything about GRB2": {"SOS1", "SHC1"},
    "show me all interactions of GRB2": {"SOS1", "SHC1"},
    "tell me about GRB2": {"SOS1", "SHC1"},
    "GRB2": {"SOS1", "SHC1"},
    "p130Cas": {"SRC"},
    "ncbigene:2885": {"SOS1", "SHC1"},
    "HGNC:4566": {"SOS1", "SHC1"},
    "top 3 partners of GRB2": {"SOS1", "SHC1"},
    "how many statements are there?": 16,
    "how many documents": 15,
    "how many interactions does GRB2 have?": 2,
    "number of facts": 13,
    "how many proteins are there?": 21,
}
QUESTIONS = [
    line.split("\t")
    for line in Path(__file__).with_name("questions.tsv").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("results")
    for table in TABLES:
        (folder / table).mkdir()
    rows = [_statement(*values) for values in STATEMENTS]
    documents = [
        {"document": row["document"], "source": "a.txt", "title": "", "words": 5, "status": "done",
         "input": 0, "position": n, "replaces": True}
        for n, row in enumerate({row["document"]: row for row in rows}.values())
    ]  # fmt: skip
    names = [
        {"document": document, "start": 0, "end": 4, "name": name, "label": "GENE",
         "id": f"ncbigene:{IDS[name]}", "source": "a.txt"}
        for document, name in (("7", "GRB2"), ("7", "SOS1"), ("12", "GRB2"), ("12", "GRB2"))
    ]  # fmt: skip
    tables = {"statements": rows, "documents": documents, "names": names}
    write_part(folder, "part", tables, "parquet")
    manifest = {"settings": {"format": "parquet"}, "columns": TABLES}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return open_results(folder)


def _statement(
    name_a: str, name_b: str, type: str, direction: str, status: str, document: str
) -> dict[str, Any]:
    ids = [IDS.get(SYMBOL_OF_NAME.get(name, name)) for name in (name_a, name_b)]
    id_a, id_b = (f"ncbigene:{number}" if number else None for number in ids)
    sentence = f"{name_a} acts on {name_b}."
    return {
        "document": document, "start_a": 0, "end_a": len(name_a), "name_a": name_a, "id_a": id_a,
        "start_b": len(sentence) - 1 - len(name_b), "end_b": len(sentence) - 1, "name_b": name_b,
        "id_b": id_b, "score": 1.0, "probability": 0.9, "interacts": status == "asserted",
        "status": status, "type": type, "direction": direction, "trigger": [],
        "sentence_start": 0, "sentence": sentence, "source": "a.txt",
    }  # fmt: skip


@pytest.mark.parametrize("row", QUESTIONS, ids=[row[0] for row in QUESTIONS])
def test_question(results: Results, row: list[str]) -> None:
    text, kind = row[0], row[1]
    if kind == "refused":
        with pytest.raises(UnknownQuestionError, match=r"[Tt]ry|[Aa]sk"):
            answer_question(results, text, Filter())
        return
    answer = answer_question(results, text, Filter())
    assert answer.rows or answer.note  # never silence
    assert answer.rows
    expected = EXPECTED.get(text)
    if isinstance(expected, int):
        assert expected in answer.rows[0].values()
    elif expected is not None:
        assert {fact["name"] for fact in answer.rows} == expected
    elif kind == "evidence":
        assert {name for fact in answer.rows for name in (fact["name_a"], fact["name_b"])} <= {
            "GRB2", "SOS1", "MDM2", "p53"
        }  # fmt: skip


LATER = [
    line.split("\t")
    for line in Path(__file__).with_name("questions-later.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("text", [row[0] for row in LATER])
def test_no_question_is_answered_by_silence(results: Results, text: str) -> None:
    try:
        answer = answer_question(results, text, Filter())
    except UnknownQuestionError as error:
        says = str(error)
    else:
        says = answer.note or ("list all" if answer.rows else "")
    assert re.search(r"Try|Did you mean|list all|statement|document", says)


def test_papers_mentions_conflicts_and_what_is_missing(results: Results) -> None:
    ask = lambda text: answer_question(results, text, Filter())  # noqa: E731
    papers = ask("which papers mention GRB2")
    assert papers.kind == "papers"
    assert [(row["document"], row["mentions"]) for row in papers.rows] == [("12", 2), ("7", 1)]
    assert [row["document"] for row in ask("papers with GRB2 and SOS1").rows] == ["7"]
    assert ask("which papers mention GRB2 and AHR").note == (
        "No document mentions GRB2 and AHR together."
    )
    assert ask("how often is GRB2 mentioned?").rows == [{"mentions": 3, "documents": 2}]
    assert answer_question(results, "papers about GRB2", Filter(), 1).note == (
        "1 more documents: raise --limit"
    )
    assert ask("are there any contradictions").note.startswith("The statements do not")
    missing = ask("what phosphorylates GRB2")
    assert not missing.rows
    assert missing.note.startswith("No likely phosphorylation statement in which the target is")
    assert '"partners of GRB2" lists 2 of another kind.' in missing.note
    assert ask("GRB2 and AHR").note == "No statement is about GRB2 and AHR."


def test_a_name_through_its_accession_and_a_wrong_spelling(results: Results) -> None:
    for name in ("P62993", "uniprot:P62993", "growth factor receptor bound protein 2"):
        rows = answer_question(results, f"partners of {name}", Filter()).rows
        assert {row["name"] for row in rows} == {"SOS1", "SHC1"}
    with pytest.raises(UnknownQuestionError, match="Did you mean GRB2"):
        answer_question(results, "partners of GRB22", Filter())
