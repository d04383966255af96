"""What names may stand for: species that block nothing, twins that lend names, members."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from textrank.tasks.identifiers.features import Surroundings, options
from textrank.tasks.identifiers.gazetteer import Gene, GeneTables, Kind, Lookup, build, hash_of
from textrank.tasks.identifiers.names import FLY, HUMAN, MOUSE, key_of, species_words

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
    assert facts["ATG14"]["defined otherwise"] == 1.0
    assert facts["NR3C1"]["defined otherwise"] == 0.0


def test_twins_survive_the_disk(tables: GeneTables, tmp_path) -> None:
    tables.to_disk(tmp_path)
    np.testing.assert_array_equal(GeneTables.from_disk(tmp_path).twin, tables.twin)


def test_hints_weigh_less_than_names_and_are_of_the_animal_named() -> None:
    knockout, human = species_words("the knockout and human cells")
    assert (knockout.taxon, human.taxon) == (MOUSE, HUMAN)
    assert knockout.weight < human.weight
    assert {word.taxon for word in species_words("knockout zebrafish")} == {7955}


VEGFA, KDR = Gene("ncbigene:22339", "Vegfa", MOUSE), Gene("ncbigene:16542", "Kdr", MOUSE)


def meanings(name: str, text: str, genes: dict[Gene, list[tuple[str, Kind]]]) -> set[str]:
    around = Surroundings.of(text, [name], Lookup([build(genes)]), [])
    return {option.gene.symbol for option in options(name, 0, around) if option.gene}


def test_members_keep_the_name_of_their_family_though_it_is_too_common_to_be_theirs() -> None:
    letters = [Gene(f"ncbigene:{n}", f"WNT{n}", HUMAN) for n in range(1, 5)]
    names = [("wingless growth factor", kind) for kind in (Kind.SHORTENED, Kind.MEMBER)]
    tables = build({gene: names for gene in letters} | {Gene("fplx:Wnt", "Wnt"): names[:0]})
    found = Lookup([tables]).matches("wingless growth factor", frozenset([HUMAN]))
    assert [match.kind for match in found] == [Kind.MEMBER] * 4


def test_the_first_of_its_family_is_meant_by_what_its_symbol_begins_with() -> None:
    genes = {VEGFA: [("VEGF", Kind.SYNONYM)], KDR: [("VEGF", Kind.SYNONYM)]}
    assert meanings("VEGF", "VEGF of mice.", genes) == {"Vegfa"}
    assert meanings("VEGF", "VEGF of mice.", {KDR: genes[KDR]}) == {"Kdr"}


def test_a_name_with_a_slash_that_tables_have_is_no_list() -> None:
    genes = {Gene(f"ncbigene:{n}", s, MOUSE): [] for n, s in enumerate(("F4", "F80"))}
    whole = {Gene("ncbigene:13733", "Adgre1", MOUSE): [("F4/80", Kind.SYNONYM)]}
    assert meanings("F4/80", "Mice have F4/80.", genes) == set()
    assert meanings("F4/80", "Mice have F4/80.", genes | whole) == {"Adgre1"}


def test_a_symbol_is_no_abbreviation_with_something_behind_it() -> None:
    factor = Gene("ncbigene:3075", "CFH", HUMAN)
    genes = {
        factor: [("complement factor H", Kind.NAME)],
        Gene("ncbigene:10878", "CFHR3", HUMAN): [],
    }
    text = "Complement factor H (CFH) and CFHR3 were lost."
    assert meanings("CFHR3", text, genes) == {"CFHR3"}


def test_a_text_that_names_no_species_is_known_by_its_symbols() -> None:
    genes: dict[Gene, list[tuple[str, Kind]]] = {}
    for n, symbol in enumerate(("SOCS2", "SPRED1", "PIM3")):
        genes |= {Gene(f"ncbigene:{n}", symbol, HUMAN): []}
        genes |= {Gene(f"ncbigene:9{n}", symbol.title(), MOUSE): []}
    names = ["Socs2", "Spred1", "Pim3"]
    around = Surroundings.of("Socs2, Spred1, Pim3", names, Lookup([build(genes)]), [])
    facts = {o.gene.taxon: o.facts for o in options("Socs2", 0, around) if o.gene}
    assert f"titled symbols {MOUSE}" in facts[MOUSE]
    assert facts[MOUSE]["species lead"] == facts[HUMAN]["species lead"] == 0


GH1, CSH1 = Gene("ncbigene:2688", "GH1", HUMAN), Gene("ncbigene:1442", "CSH1", HUMAN)
GH = Gene("ncbigene:14599", "Gh", MOUSE)


def test_pseudogenes_do_not_take_a_full_name_from_its_gene() -> None:
    gapdh = Gene("ncbigene:2597", "GAPDH", HUMAN)
    copies = {
        Gene(f"ncbigene:{n}", f"GAPDHP{n}", HUMAN, coding=False): [
            ("glyceraldehyde dehydrogenase", Kind.DESIGNATION)
        ]
        for n in range(10_000, 10_030)
    }
    tables = build({gapdh: [("glyceraldehyde dehydrogenase", Kind.NAME)], **copies})
    assert symbols(tables, "glyceraldehyde dehydrogenase", HUMAN) == ["GAPDH"]


def test_a_surer_name_is_lent_to_a_species_that_has_it_for_another_gene() -> None:
    genes = {
        CSH1: [],
        GH1: [],
        GH: [("growth hormone", Kind.NAME)],
        Gene("ncbigene:2689", "GH2", HUMAN): [("growth hormone", Kind.DESIGNATION)],
    }
    tables = build(genes, {GH1.identifier: GH.identifier, CSH1.identifier: GH.identifier})
    assert symbols(tables, "growth hormone", HUMAN) == ["GH1", "GH2"]


def test_a_name_of_databases_alone_may_be_that_of_the_first_of_its_family() -> None:
    genes = {
        Gene("ncbigene:16171", "Il17a", MOUSE): [("interleukin 17A", Kind.NAME)],
        Gene("ncbigene:215274", "Il1f10", MOUSE): [("interleukin-17", Kind.DESIGNATION)],
    }
    assert symbols(build(genes), "interleukin-17", MOUSE) == ["Il17a", "Il1f10"]


def test_a_family_is_its_only_member_that_the_text_names() -> None:
    genes = {
        Gene("ncbigene:3845", "KRAS", HUMAN): [("Ras", Kind.MEMBER)],
        Gene("ncbigene:3265", "HRAS", HUMAN): [("Ras", Kind.MEMBER)],
        Gene("fplx:RAS", "RAS"): [],
    }
    lookup = Lookup([build(genes)])

    def meanings(*names: str) -> list[str]:
        around = Surroundings.of(" ".join(names), names, lookup, [HUMAN])
        return sorted(o.gene.symbol for o in options("Ras", 0, around) if o.gene)

    assert meanings("Ras", "HRAS") == ["HRAS"]
    assert meanings("Ras") == meanings("Ras", "HRAS", "KRAS") == ["HRAS", "KRAS", "RAS"]


def test_words_of_a_text_lean_to_a_species(tables: GeneTables) -> None:
    cues = {"": 0.5, "littermates": 1.5, "clinical": -2.0}
    lookup = Lookup([tables, replace(tables, cues=cues)])
    assert lookup.leaning("Littermates lived. Littermates died.") == pytest.approx(0.8)
    assert lookup.leaning("a clinical trial") == pytest.approx(-0.6)
    assert Lookup([tables]).leaning("Littermates") == 0.0


def test_cues_are_what_was_written(tables: GeneTables, tmp_path: Path) -> None:
    cues = {"": 0.29, **{f"word{n}": n / 100 for n in range(-127, 128)}}
    replace(tables, cues=cues).to_disk(tmp_path)
    once = GeneTables.from_disk(tmp_path)
    once.to_disk(tmp_path)
    assert GeneTables.from_disk(tmp_path).cues == once.cues == cues


def test_entries_of_a_key_are_those_of_a_search_through_all(tables: GeneTables) -> None:
    for name in ("CCL4", "Ras", "claudin", "unknown"):
        code, check = hash_of(key := key_of(name))
        rows = [
            (kind & 15, row, kind >> 4, int(tables.taxon[row]), int(tables.twin[row]))
            for i, (row, kind) in enumerate(zip(tables.rows, tables.kinds, strict=True))
            if (tables.hashes[i], tables.checks[i]) == (code, check)
        ]
        found = [(e.kind, e.row, e.case, e.taxon, e.twin) for e in tables.entries(key)]
        assert found == sorted(rows)
