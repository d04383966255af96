"""What names may stand for: species that block nothing, twins that lend names, members."""

from __future__ import annotations

import numpy as np
import pytest

from textrank.language.gene_matches import Lookup
from textrank.language.gene_tables import Gene, GeneTables, Kind, build
from textrank.language.species import FLY, HUMAN, MOUSE, species_words
from textrank.tasks.identifier_facts import Surroundings, options

PTPRC = Gene("ncbigene:5788", "PTPRC", HUMAN)
CCL4, CCL4L2 = Gene("ncbigene:6351", "CCL4", HUMAN), Gene("ncbigene:9560", "CCL4L2", HUMAN)
GENES = {
    PTPRC: [("CD45", Kind.SYNONYM)],
    Gene("ncbigene:19264", "Ptprc", MOUSE): [],
    CCL4L2: [],
    CCL4: [],
    Gene("ncbigene:20303", "Ccl4", MOUSE): [],
    Gene("ncbigene:9076", "CLDN1", HUMAN): [("claudin 1", Kind.NAME)],
    Gene("ncbigene:1", "clau", FLY): [("claudin", Kind.SYNONYM)],
    Gene("ncbigene:3845", "KRAS", HUMAN): [("Ras", Kind.MEMBER)],
    Gene("fplx:RAS", "RAS"): [],
    Gene("ncbigene:2908", "NR3C1", HUMAN): [("glucocorticoid receptor", Kind.SYNONYM)],
    Gene("ncbigene:22863", "ATG14", HUMAN): [("GRa", Kind.SYNONYM)],
}
TWINS = {
    "ncbigene:5788": "ncbigene:19264",
    "ncbigene:6351": "ncbigene:20303",
    "ncbigene:9560": "ncbigene:20303",
}


@pytest.fixture(scope="module")
def tables() -> GeneTables:
    return build(GENES, TWINS)


def symbols(tables: GeneTables, name: str, *taxa: int) -> list[str]:
    return [m.gene.symbol for m in Lookup([tables]).matches(name, frozenset(taxa))]


def test_a_gene_lends_its_names_to_its_twin(tables: GeneTables) -> None:
    (match,) = Lookup([tables]).matches("CD45", frozenset([MOUSE]))
    assert (match.gene.symbol, match.lent) == ("Ptprc", True)


def test_a_species_with_a_gene_of_the_name_is_lent_none(tables: GeneTables) -> None:
    assert symbols(tables, "CCL4", HUMAN, MOUSE) == ["CCL4", "Ccl4"]


def test_a_mouse_gene_is_the_twin_of_the_one_with_its_symbol(tables: GeneTables) -> None:
    rows = {tables.gene(row).symbol: row for row in range(len(tables))}
    assert tables.twin[rows["Ccl4"]] == rows["CCL4"]
    assert tables.twin[rows["CCL4L2"]] == -1


def test_genes_of_species_that_are_not_meant_end_no_search(tables: GeneTables) -> None:
    assert symbols(tables, "claudin", HUMAN, MOUSE) == ["CLDN1"]
    assert symbols(tables, "claudin", FLY) == ["clau"]


def test_a_family_may_stand_for_its_members(tables: GeneTables) -> None:
    assert symbols(tables, "Ras", HUMAN) == ["RAS", "KRAS"]


def test_counts_hold_for_both_twins(tables: GeneTables) -> None:
    counted = tables.counted({("ptprc", "ncbigene:5788"): 4.0}, {})
    found = {tables.gene(entry.row).symbol: entry.seen for entry in counted.entries("ptprc")}
    assert found == {"PTPRC": 3, "Ptprc": 3}


def test_what_stands_behind_an_abbreviation_goes_with_its_long_form(tables: GeneTables) -> None:
    text = "The glucocorticoid receptor (GR) is human. GRalpha rose."
    around = Surroundings.of(text, ["GRalpha"], Lookup([tables]), [])
    named = [option.gene.symbol for option in options("GRalpha", 0, around) if option.gene]
    assert set(named) == {"NR3C1", "ATG14"}
    facts = {o.gene.symbol: o.facts for o in options("GRalpha", 0, around) if o.gene}
    assert "long form" in facts["NR3C1"]
    assert "other long form" in facts["ATG14"]


def test_twins_survive_the_disk(tables: GeneTables, tmp_path) -> None:
    tables.to_disk(tmp_path)
    np.testing.assert_array_equal(GeneTables.from_disk(tmp_path).twin, tables.twin)


def test_hints_weigh_less_than_names_and_are_of_the_animal_named() -> None:
    knockout, human = species_words("the knockout and human cells")
    assert (knockout.taxon, human.taxon) == (MOUSE, HUMAN)
    assert knockout.weight < human.weight
    assert {word.taxon for word in species_words("knockout zebrafish")} == {7955}
