"""Facts in the formats of the field, read back by the field's own readers where installed."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from textrank.tasks.ppi.exports import (
    EXPORT_FORMATS,
    MITAB_COLUMNS,
    MODIFICATIONS,
    find_format,
    indra_statements,
    parse_pmid,
    write_facts,
)
from textrank.tasks.ppi.facts import Fact, aggregate_rows

GRB2, SOS1, AKT1, MDM2 = "ncbigene:2885", "ncbigene:6654", "ncbigene:207", "ncbigene:4193"
RAD51, PTEN, NEDD4, ERK = "ncbigene:5888", "ncbigene:5728", "ncbigene:4734", "fplx:ERK"
JAK2, STAT3 = "ncbigene:16452", "ncbigene:20848"  # of the mouse


def answer(
    sentence: str,
    names: tuple[str, str],
    ids: tuple[str | None, str | None],
    trigger: str,
    type: str,
    **more: Any,
) -> dict[str, Any]:
    """A row of apply for a sentence at character 100 of its document."""
    spans = [[100 + sentence.index(name), 100 + sentence.index(name) + len(name)] for name in names]
    place = 100 + sentence.index(trigger)
    row = {
        "names": list(names),
        "spans": spans,
        "identifiers": list(ids),
        "score": 1.0,
        "probability": 0.8,
        "interacts": True,
        "status": "asserted",
        "type": type,
        "direction": "none",
        "trigger": [[place, place + len(trigger)]],
        "sentence": sentence,
    }
    return row | more


@pytest.fixture(scope="module")
def facts() -> list[Fact]:
    doubtful = {"interacts": False}
    rows = [
        answer("GRB2 binds SOS1.", ("GRB2", "SOS1"), (GRB2, SOS1), "binds", "binding"),
        answer(
            "MDM2 is phosphorylated by AKT1.",
            ("MDM2", "AKT1"),
            (MDM2, AKT1),
            "phosphorylated",
            "phosphorylation",
            direction="b>a",
        ),
        answer(
            "RAD51 does not bind PTEN.",
            ("RAD51", "PTEN"),
            (RAD51, PTEN),
            "bind",
            "binding",
            status="negated",
            **doubtful,
        ),
        answer(
            "NEDD4 ubiquitinates PTEN.",
            ("NEDD4", "PTEN"),
            (NEDD4, PTEN),
            "ubiquitinates",
            "modification",
            direction="a>b",
        ),
        answer(
            "Murine Jak2 may activate Stat3.",
            ("Jak2", "Stat3"),
            (JAK2, STAT3),
            "activate",
            "activation",
            direction="a>b",
            status="speculated",
            **doubtful,
        ),
        answer(
            'ERK inhibits "protein (X|Y)\\Z".',
            ("ERK", '"protein (X|Y)\\Z"'),
            (ERK, None),
            "inhibits",
            "inhibition",
            direction="a>b",
        ),
        answer(
            "ERK and GRB2 regulate growth.", ("ERK", "GRB2"), (ERK, GRB2), "regulate", "regulation"
        ),
    ]
    again = answer("GRB2-SOS1 complex", ("GRB2", "SOS1"), (GRB2, SOS1), "complex", "binding")
    return aggregate_rows([("8493578", rows), ("note 7", [again | {"probability": 0.5}])])


VERBS = (
    ("binding", "binds"),
    ("phosphorylation", "phosphorylates"),
    ("degradation", "degrades"),
    ("activation", "activates"),
    ("inhibition", "inhibits"),
    ("regulation", "regulates"),
    ("modification", "modifies"),
    ("modification", "cleaves"),
    ("not typed", "meets"),
    *(("modification", f"{beginning}es") for beginning, _ in MODIFICATIONS),
)


@pytest.fixture(scope="module")
def all_types() -> list[Fact]:
    """Facts of every type and direction."""
    documents = []
    for number, (type_, verb) in enumerate(VERBS):
        rows = [
            answer(f"AKT1 {verb} GRB2.", ("AKT1", "GRB2"), (AKT1, GRB2), verb, type_, direction=way)
            for way in ("a>b", "b>a", "none")
        ]
        documents.append((f"1000{number}", rows))
    return aggregate_rows(documents)


def by_names(facts: list[Fact], *names: str) -> Fact:
    (fact,) = [fact for fact in facts if set(fact["names"]) == set(names)]
    return fact


def write(facts: list[Fact], path: Path) -> str:
    write_facts(facts, path)
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    return path.read_text(encoding="utf-8")


def test_indra_statements_state_class_agents_and_evidence(facts: list[Fact]) -> None:
    (binding,) = indra_statements(by_names(facts, "GRB2", "SOS1"))
    assert binding["type"] == "Complex"
    assert [agent["name"] for agent in binding["members"]] == ["GRB2", "SOS1"]
    refs = {"TEXT": "GRB2", "EGID": "2885", "HGNC": "4566", "UP": "P62993"}
    assert binding["members"][0]["db_refs"] == refs
    assert binding["belief"] == pytest.approx(1 - 0.2 * 0.5)
    assert [row.get("pmid") for row in binding["evidence"]] == ["8493578", None]
    (phosphorylation,) = indra_statements(by_names(facts, "AKT1", "MDM2"))
    assert phosphorylation["type"] == "Phosphorylation"
    assert phosphorylation["enz"]["name"] == "AKT1"
    assert phosphorylation["sub"]["name"] == "MDM2"
    agents = phosphorylation["evidence"][0]["annotations"]["agents"]
    assert agents == {"raw_text": ["AKT1", "MDM2"], "coords": [[126, 130], [100, 104]]}


def test_indra_has_negation_speculation_and_the_kind_of_modification(facts: list[Fact]) -> None:
    (negated,) = indra_statements(by_names(facts, "RAD51", "PTEN"))
    assert negated["evidence"][0]["epistemics"] == {"negated": True}
    assert negated["belief"] == 0.0
    (speculated,) = indra_statements(by_names(facts, "Jak2", "Stat3"))
    assert speculated["evidence"][0]["epistemics"] == {"hypothesis": True}
    (modification,) = indra_statements(by_names(facts, "NEDD4", "PTEN"))
    assert modification["type"] == "Ubiquitination"
    assert indra_statements(by_names(facts, "ERK", "GRB2")) == []  # regulation, no direction


def test_indra_reads_its_statements(facts: list[Fact], tmp_path: Path) -> None:
    statements = pytest.importorskip("indra.statements")
    rows = json.loads(write(facts, tmp_path / "x.indra.json"))
    read = statements.stmts_from_json(rows)
    assert [type(statement).__name__ for statement in read] == [row["type"] for row in rows]
    assert len(read) == 6
    assert statements.stmts_from_json(statements.stmts_to_json(read))[0].equals(read[0])
    assert {agent.get_grounding() for s in read for agent in s.agent_list()} >= {
        ("HGNC", "4566"),
        ("FPLX", "ERK"),
    }


def test_indra_reads_every_type_that_is_written(all_types: list[Fact], tmp_path: Path) -> None:
    statements = pytest.importorskip("indra.statements")
    rows = json.loads(write(all_types, tmp_path / "x.indra.json"))
    read = statements.stmts_from_json(rows)
    assert [type(statement).__name__ for statement in read] == [row["type"] for row in rows]
    written = sum(len(row["evidence"]) for row in rows)
    assert written == sum(map(EXPORT_FORMATS["indra"].count_written, all_types))
    assert written == 3 * len(VERBS) - 6  # regulation; three more without direction


def test_mitab_has_42_columns_with_valid_fields(facts: list[Fact], tmp_path: Path) -> None:
    header, *lines = write(facts, tmp_path / "x.mitab").splitlines()
    assert header == "#" + "\t".join(MITAB_COLUMNS)
    rows = [line.split("\t") for line in lines]
    assert {len(row) for row in rows} == {42}
    text = r'(?:"(?:[^"\\]|\\.)*"|[^|:()"\t]+)'
    field = rf"{text}:{text}(?:\({text}\))?"
    for row in rows:
        for number, cell in enumerate(row, 1):
            simple = cell in ("-", "true", "false") if number == 36 else cell == "-"
            assert simple or re.fullmatch(rf"{field}(?:\|{field})*", cell), (number, cell)


def test_mitab_states_terms_species_roles_and_polarity(facts: list[Fact], tmp_path: Path) -> None:
    _, *lines = write(facts, tmp_path / "x.mitab").splitlines()
    rows = {
        frozenset(re.findall(r"psi-mi:\"?([^\"(]+)\"?\(display_short", f"{row[4]} {row[5]}")): row
        for row in (line.split("\t") for line in lines)
    }
    row = rows[frozenset({"AKT1", "MDM2"})]
    assert row[0] == "entrez gene/locuslink:207"
    assert row[2] == 'uniprotkb:P31749|hgnc:"HGNC:391"'
    assert row[6] == 'psi-mi:"MI:0110"(text mining)'
    assert row[8] == "pubmed:8493578"
    assert row[9] == "taxid:9606(human)|taxid:9606(Homo sapiens)"
    assert row[11] == 'psi-mi:"MI:0217"(phosphorylation reaction)'
    assert row[14] == "textrank-probability:0.8000"
    assert row[16] == 'psi-mi:"MI:0501"(enzyme)'
    assert row[17] == 'psi-mi:"MI:0502"(enzyme target)'
    assert row[35] == "false"
    assert rows[frozenset({"PTEN", "RAD51"})][35] == "true"
    assert rows[frozenset({"Jak2", "Stat3"})][9].startswith("taxid:10090(mouse)")
    assert "caution:speculated" in rows[frozenset({"Jak2", "Stat3"})][27]


def test_bel_states_terms_and_leaves_out_negation(facts: list[Fact], tmp_path: Path) -> None:
    text = write(facts, tmp_path / "x.bel")
    lines = text.splitlines()
    assert lines.count("p(HGNC:GRB2) => complex(p(HGNC:GRB2), p(HGNC:SOS1))") == 2
    assert "p(HGNC:AKT1) -> p(HGNC:MDM2, pmod(Ph))" in lines
    assert "p(HGNC:NEDD4) -> p(HGNC:PTEN, pmod(Ub))" in lines
    assert "p(MGI:Jak2) -> act(p(MGI:Stat3))" in lines
    assert r'p(FPLX:ERK) -| act(p(TEXT:"\"protein (X|Y)\\Z\""))' in lines
    assert "RAD51" not in text
    assert 'SET Citation = {"PubMed", "PMID 8493578", "8493578"}' in lines
    assert 'SET Status = "speculated"' in lines


def test_pybel_reads_the_script(facts: list[Fact], tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the reader's own dependencies
        pybel = pytest.importorskip("pybel", exc_type=ImportError)
        write(facts, tmp_path / "x.bel")
        graph = pybel.from_bel_script(str(tmp_path / "x.bel"))
    assert graph.warnings == []
    edges = [(str(u), d["relation"], str(v), d) for u, v, d in graph.edges(data=True)]
    stated = {(u, relation, v) for u, relation, v, data in edges if "evidence" in data}
    assert ("p(HGNC:GRB2)", "directlyIncreases", "complex(p(HGNC:GRB2), p(HGNC:SOS1))") in stated
    assert len({d["line"] for *_, d in edges if "evidence" in d}) == 7
    pmids = {d["citation"].identifier for *_, d in edges if "citation" in d}
    assert pmids == {"8493578", "note 7"}


def test_pybel_reads_every_type(all_types: list[Fact], tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pybel = pytest.importorskip("pybel", exc_type=ImportError)
        write(all_types, tmp_path / "x.bel")
        graph = pybel.from_bel_script(str(tmp_path / "x.bel"))
    assert graph.warnings == []
    lines = {d["line"] for *_, d in graph.edges(data=True) if "evidence" in d}
    assert len(lines) == 3 * len(VERBS) - 4  # binding and untyped ones have no direction


def test_cx2_declares_what_it_has(facts: list[Fact], tmp_path: Path) -> None:
    aspects = {
        key: value
        for part in json.loads(write(facts, tmp_path / "x.cx2"))
        for key, value in part.items()
    }
    assert aspects["CXVersion"] == "2.0"
    assert aspects["status"] == [{"success": True}]
    for entry in aspects["metaData"]:
        assert len(aspects[entry["name"]]) == entry["elementCount"]
    declared = aspects["attributeDeclarations"][0]
    ids = {node["id"] for node in aspects["nodes"]}
    for node in aspects["nodes"]:
        assert set(node["v"]) <= set(declared["nodes"])
    for edge in aspects["edges"]:
        assert {edge["s"], edge["t"]} <= ids
        assert set(edge["v"]) == set(declared["edges"])
    names = {node["id"]: node["v"]["name"] for node in aspects["nodes"]}
    directed = {(names[e["s"]], names[e["t"]]) for e in aspects["edges"] if e["v"]["directed"]}
    assert ("AKT1", "MDM2") in directed
    assert "RAD51" not in names.values()  # only negated


def test_ndex_reads_the_network(facts: list[Fact], tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cx2 = pytest.importorskip("ndex2.cx2", exc_type=ImportError)
    aspects = json.loads(write(facts, tmp_path / "x.cx2"))
    network = cx2.RawCX2NetworkFactory().get_cx2network(aspects)
    assert len(network.get_nodes()) == 8
    assert len(network.get_edges()) == 5
    edge = next(e for e in network.get_edges().values() if "AKT1" in e["v"]["name"])
    assert edge["v"]["probability"] == pytest.approx(0.8)
    assert network.to_cx2()


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_every_format_is_written_without_facts(name: str, tmp_path: Path) -> None:
    write_facts([], tmp_path / "x", format=name)
    if name in ("indra", "cx2", "cyjs"):
        json.loads((tmp_path / "x").read_text())


def test_the_longest_suffix_chooses_the_format() -> None:
    names = {"a.indra.json": "indra", "a.json": "cyjs", "A.CX2": "cx2", "a.mitab.tsv": "mitab"}
    assert {name: find_format(name) for name in names} == names
    with pytest.raises(ValueError, match=r"available: indra, mitab, bel"):
        find_format("x", "psi")


def test_only_numbers_that_can_be_pubmed_ids_are_cited() -> None:
    names = ["12345678", "PMID:7", "pmid7", "7", "PMC12", "0012345", "1234567890", "sent-12345"]
    assert [parse_pmid(name) for name in names] == ["12345678", "7", "7", *[None] * 5]
