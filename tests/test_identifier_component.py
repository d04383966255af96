"""The component ``textrank_identifiers`` in pipelines, on disk, in bytes and over processes."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

import textrank
from textrank.component import TaskComponent
from textrank.tasks.identifiers.task import Identifiers

TEXTS = [
    "In patients TP53 binds MDM2.",
    "ERK1/2 and BRCA1/2 were studied in human cells.",
    "",
]


@pytest.fixture(scope="module")
def nlp() -> Language:
    made = spacy.blank("en")
    ruler = made.add_pipe("entity_ruler")
    names = ("TP53", "MDM2", "ERK1/2", "BRCA1/2", "CSR")
    ruler.add_patterns([{"label": "GENE", "pattern": name} for name in names])
    made.add_pipe("textrank_identifiers")
    return made


def found(doc: Doc) -> list[str]:
    return [span.kb_id_ for span in doc.spans["entities"]]


def test_entities_of_any_pipeline_get_identifiers(nlp: Language) -> None:
    first, second, empty = nlp.pipe(TEXTS)
    assert found(first) == ["ncbigene:7157", "ncbigene:4193"]
    assert found(second)[0] == "fplx:ERK"
    symbols = [part["symbol"] for part in second._.textrank_identifiers[1]["parts"]]
    assert symbols == ["BRCA1", "BRCA2"]
    assert empty._.textrank_identifiers == []


def test_an_abbreviation_of_something_else_has_none(nlp: Language) -> None:
    doc = nlp("Class switch recombination (CSR) happens in B cells. CSR is rare.")
    assert found(doc) == ["", ""]


def test_species_fixed_in_the_config() -> None:
    made = spacy.blank("en")
    made.add_pipe("textrank_identifiers", config={"species": [10090]})
    doc = made.make_doc("TP53 in patients")
    doc.spans["entities"] = [Span(doc, 0, 1, "GENE")]
    (row,) = made(doc)._.textrank_identifiers
    assert row["species"] in (10090, None)


def test_settings_survive_disk_and_bytes(tmp_path: Path) -> None:
    made = spacy.blank("en")
    made.add_pipe("textrank_identifiers", config={"species": [7227], "overwrite": True})
    made.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp").get_pipe("textrank_identifiers")
    copied = spacy.blank("en")
    copied.add_pipe("textrank_identifiers")
    copied.from_bytes(made.to_bytes())
    for component in (again, copied.get_pipe("textrank_identifiers")):
        assert isinstance(component, TaskComponent)
        assert component.model is not None
        task = component.model.pipeline.task
        assert isinstance(task, Identifiers)
        assert (tuple(task.species), task.overwrite) == ((7227,), True)


@pytest.mark.slow
def test_processes_give_the_same(nlp: Language) -> None:
    alone = [found(doc) for doc in nlp.pipe(TEXTS)]
    assert [found(doc) for doc in nlp.pipe(TEXTS, n_process=2)] == alone


@pytest.mark.slow
def test_the_shipped_pipeline_gives_names_and_identifiers() -> None:
    doc = textrank.load_nlp()("We show that MDM2 binds p53 in human cells.")
    assert [(span.text, span.kb_id_) for span in doc.spans["entities"]] == [
        ("MDM2", "ncbigene:4193"),
        ("p53", "ncbigene:7157"),
    ]


def test_a_family_of_many_genes_and_a_list_keep_what_they_are() -> None:
    made = spacy.blank("en")
    made.add_pipe("entity_ruler").add_patterns(
        [{"label": "GENE", "pattern": name} for name in ("Wnt", "BRCA1/2")]
    )
    made.add_pipe("textrank_identifiers")
    doc = made("Wnt and BRCA1/2 in patients.")
    assert found(doc) == ["fplx:Wnt", "ncbigene:672"]
    assert [ent.label_ for ent in doc.ents] == ["GENE", "GENE"]  # labels of the user


@pytest.mark.slow
def test_a_gene_with_the_identifier_of_a_family_is_labelled_a_family() -> None:
    doc = textrank.load_nlp()("MEK phosphorylates ERK, and MDM2 binds p53.")
    labels = {(name.text, name.label_) for name in doc.ents}
    assert labels == {("MEK", "FAMILY"), ("ERK", "FAMILY"), ("MDM2", "GENE"), ("p53", "GENE")}
    assert labels == {(name.text, name.label_) for name in doc.spans["entities"]}
    for name in doc.ents:
        kinds = name._.textrank_kinds
        assert name._.textrank_probability == max(kinds["GENE"], kinds["FAMILY"])


@pytest.mark.slow
def test_a_list_whose_letters_are_a_symbol_keeps_its_items() -> None:
    made = spacy.blank("en")
    made.add_pipe("entity_ruler").add_patterns([{"label": "GENE", "pattern": "BMP-2 and -4"}])
    made.add_pipe("textrank_identifiers")
    (row,) = made("BMP-2 and -4 were measured in patients.")._.textrank_identifiers
    assert [part["identifier"] for part in row["parts"]] == ["ncbigene:650", "ncbigene:652"]
