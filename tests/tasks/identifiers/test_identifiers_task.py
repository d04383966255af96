"""Identifiers of names: candidates from small tables, choices, what a Doc then carries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

from textrank.tasks.base import Scored
from textrank.tasks.identifiers.features import trim_modifiers
from textrank.tasks.identifiers.gazetteer import Gene, NameKind, build_gazetteer
from textrank.tasks.identifiers.task import Identifiers

GENES = {
    Gene("ncbigene:7157", "TP53", 9606, 11998, "P04637"): [("p53", NameKind.SYNONYM)],
    Gene("ncbigene:22059", "Trp53", 10090): [("p53", NameKind.SYNONYM)],
    Gene("ncbigene:5595", "MAPK3", 9606, 6877): [("ERK1", NameKind.SYNONYM)],
    Gene("ncbigene:5594", "MAPK1", 9606, 6871): [("ERK2", NameKind.SYNONYM)],
    Gene("fplx:ERK", "ERK"): [("ERK1/2", NameKind.FAMILY)],
    Gene("ncbigene:672", "BRCA1", 9606): [],
    Gene("ncbigene:675", "BRCA2", 9606): [],
}


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Identifiers:
    folder = tmp_path_factory.mktemp("tables")
    build_gazetteer(GENES).to_disk(folder)
    return Identifiers(tables=str(folder))


def doc_of(text: str, *names: str) -> Doc:
    doc = spacy.blank("en")(text)
    spans = []
    for name in names:
        start = text.index(name)
        span = doc.char_span(start, start + len(name), "GENE", alignment_mode="expand")
        spans.append(Span(doc, span.start, span.end, "GENE", span_id=f"e{len(spans)}"))
    doc.spans["entities"] = spans
    return doc


def judged(task: Identifiers, doc: Doc) -> Doc:
    """With scores that like human genes, then families, then the others."""
    candidates = task.candidates(doc)
    liked = {9606: 2.0, 0: 1.0}
    scores = [
        liked.get(task.lookup.get_gene(c.spans[0].kb_id_).taxon, 0.5) if c.spans[0].kb_id_ else 0.0
        for c in candidates
    ]
    return task.annotate(doc, Scored(candidates, np.array(scores)))


def test_every_gene_of_a_spelling_is_a_candidate_and_none_too(task: Identifiers) -> None:
    found = task.candidates(doc_of("The p53 protein", "p53"))
    assert {c.spans[0].kb_id_ for c in found} == {"ncbigene:7157", "ncbigene:22059", ""}
    assert len({c.query for c in found}) == 1


def test_names_carry_their_identifier(task: Identifiers) -> None:
    doc = judged(task, doc_of("The p53 protein", "p53"))
    (span,), (row,) = doc.spans["entities"], doc._.textrank_identifiers
    assert (span.kb_id_, span.label_, span.id_) == ("ncbigene:7157", "GENE", "e0")
    assert row["identifier"] == "ncbigene:7157"
    assert (row["hgnc"], row["uniprot"], row["species"]) == ("HGNC:11998", "P04637", 9606)
    assert row["span"] == [4, 7]
    assert 0 < row["probability"] < 1
    assert [other["identifier"] for other in row["alternatives"]] == ["ncbigene:22059"]


def test_a_list_has_its_parts(task: Identifiers) -> None:
    doc = judged(task, doc_of("ERK1/2 and BRCA1/2 rose", "ERK1/2", "BRCA1/2"))
    erk, brca = doc._.textrank_identifiers
    assert erk["identifier"] == "fplx:ERK"
    assert [part["identifier"] for part in erk["parts"]] == ["ncbigene:5595", "ncbigene:5594"]
    assert brca["identifier"] == "ncbigene:672"
    assert [part["symbol"] for part in brca["parts"]] == ["BRCA1", "BRCA2"]


def test_an_unknown_name_has_no_identifier(task: Identifiers) -> None:
    doc = judged(task, doc_of("the Xyzzy9 thing", "Xyzzy9"))
    assert doc.spans["entities"][0].kb_id_ == ""
    assert doc._.textrank_identifiers[0]["identifier"] is None


def test_given_identifiers_stay(task: Identifiers) -> None:
    doc = doc_of("The p53 protein", "p53")
    doc.spans["entities"] = [Span(doc, 1, 2, "GENE", kb_id="mine:1")]
    assert judged(task, doc).spans["entities"][0].kb_id_ == "mine:1"


def test_species_can_be_fixed(task: Identifiers) -> None:
    fixed = Identifiers(tables=task.tables, species=[10090])
    found = fixed.candidates(doc_of("The human p53 protein", "p53"))
    assert {c.spans[0].kb_id_ for c in found} == {"ncbigene:22059", ""}


def test_names_of_other_things_are_not_looked_up(task: Identifiers) -> None:
    doc = doc_of("The p53 protein", "p53")
    doc.spans["entities"] = [Span(doc, 1, 2, "CHEMICAL")]
    assert task.candidates(doc) == []


def test_labels_are_right_identifiers(task: Identifiers) -> None:
    doc = doc_of("The p53 protein and Xyzzy9", "p53", "Xyzzy9")
    doc.user_data["identifiers"] = {"e0": ["ncbigene:22059"]}
    labels = {(c.query, c.spans[0].kb_id_): c.label for c in task.candidates(doc)}
    assert labels["0.0", "ncbigene:22059"] == 1.0
    assert labels["0.0", "ncbigene:7157"] == labels["0.0", ""] == -1.0
    assert labels["1.0", ""] == 1.0


def test_users_add_tables(task: Identifiers, tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    rows = ["identifier\tsymbol\tnames\ttaxon", "lab:7\tXyzzy9\tplugh|magic word\t9606"]
    own.write_text("\n".join([*rows, "uniprot:P00001\tFrotz\t\t4932"]) + "\n")
    wider = Identifiers(tables=task.tables, own=[str(own)])
    doc = doc_of("plugh and Frotz bind p53", "plugh", "Frotz", "p53")
    found = judged(wider, doc).spans["entities"]
    assert [span.kb_id_ for span in found] == ["lab:7", "uniprot:P00001", "ncbigene:7157"]


def test_a_bad_table_is_refused_by_its_line(task: Identifiers, tmp_path: Path) -> None:
    own = tmp_path / "bad.tsv"
    own.write_text("identifier\tsymbol\n7157\tTP53\n")
    with pytest.raises(ValueError, match="line 2: give an identifier such as"):
        Identifiers(tables=task.tables, own=[str(own)]).candidates(doc_of("p53", "p53"))


def test_probabilities_are_those_of_each_candidate(task: Identifiers) -> None:
    doc = doc_of("The p53 protein and Xyzzy9", "p53", "Xyzzy9")
    candidates, warm = task.candidates(doc), replace(task, temperature=1.5)
    scores = np.array([0.3, 0.1, 0.0, 0.0])
    p53, unknown = warm.annotate(doc, Scored(candidates, scores))._.textrank_identifiers
    shown = [p53["probability"], *(other["probability"] for other in p53["alternatives"])]
    np.testing.assert_allclose(shown, 1 / (1 + np.exp(-1.5 * scores[:2])), rtol=1e-12)
    assert (unknown["identifier"], unknown["probability"]) == (None, 1.0)
    calibrated = Scored(candidates, scores, probabilities=np.array([0.9, 0.2, 0.5, 0.5]))
    p53, _ = task.annotate(doc, calibrated)._.textrank_identifiers
    assert [p53["probability"], p53["alternatives"][0]["probability"]] == [0.9, 0.2]


def test_a_name_whose_genes_are_all_unlikely_has_none_and_keeps_the_runner_up(
    task: Identifiers,
) -> None:
    doc = doc_of("The p53 protein", "p53")
    candidates = task.candidates(doc)
    scored = Scored(candidates, np.array([-1.0, -2.0, 0.0]), None, np.array([0.3, 0.1, 0.5]))
    (row,) = task.annotate(doc, scored)._.textrank_identifiers
    assert (row["identifier"], row["probability"]) == (None, 0.7)
    assert row["alternatives"][0]["probability"] == 0.3


def test_entities_carry_the_identifier_too(task: Identifiers) -> None:
    doc = doc_of("The p53 protein", "p53")
    assert [(e.text, e.label_, e.kb_id_) for e in judged(task, doc).ents] == [
        ("p53", "GENE", "ncbigene:7157")
    ]
    doc = doc_of("The p53 protein in HeLa", "p53")
    doc.ents = [Span(doc, 1, 2, "GENE"), Span(doc, 4, 5, "CELL")]
    assert [(e.label_, e.kb_id_) for e in judged(task, doc).ents] == [
        ("GENE", "ncbigene:7157"),
        ("CELL", ""),
    ]
    assert doc.ents[0]._.textrank_identifier["symbol"] == "TP53"
    assert doc.ents[1]._.textrank_identifier is None


def test_names_replace_the_proteins_of_another_recogniser(task: Identifiers) -> None:
    doc = doc_of("mutant p53 protein in HeLa dimer promoter p53 cells", "p53")
    doc.ents = [
        Span(doc, 0, 2, "protein"),
        Span(doc, 4, 5, "cell_line"),
        Span(doc, 5, 6, "protein"),
        Span(doc, 6, 7, "DNA"),
        Span(doc, 7, 9, "cell_type"),
    ]
    assert [(e.text, e.label_, e.kb_id_) for e in judged(task, doc).ents] == [
        ("p53", "GENE", "ncbigene:7157"),
        ("HeLa", "cell_line", ""),
        ("promoter", "DNA", ""),
        ("p53 cells", "cell_type", ""),
    ]


def test_modifiers_are_not_part_of_a_name() -> None:
    lookup = Identifiers().lookup
    for name in ("mutant huntingtin protein", "Recombinant human huntingtin"):
        assert trim_modifiers(name, lookup) == "huntingtin"
    for name in ("nuclear factor 1", "huntingtin protein", "mutant"):
        assert trim_modifiers(name, lookup) == name
