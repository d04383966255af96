"""What names may stand for: species that block nothing, orthologs that lend names, members."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from textrank.io import read_arrays, write_arrays
from textrank.tasks.identifiers.candidate_table import (
    FIRST_STAGE_COLUMNS,
    Mention,
    build_candidate_table,
)
from textrank.tasks.identifiers.features import TextContext
from textrank.tasks.identifiers.gazetteer import (
    Gazetteer,
    Gene,
    GeneLookup,
    NameKind,
    build_gazetteer,
    hash_key,
    read_gazetteer_tsv,
)
from textrank.tasks.identifiers.names import FLY, HUMAN, MOUSE, find_species, make_key

PTPRC = Gene("ncbigene:5788", "PTPRC", HUMAN)
CCL4, CCL4L2 = Gene("ncbigene:6351", "CCL4", HUMAN), Gene("ncbigene:9560", "CCL4L2", HUMAN)
GENES = {
    PTPRC: [("CD45", NameKind.SYNONYM)],
    Gene("ncbigene:19264", "Ptprc", MOUSE): [],
    CCL4L2: [],
    CCL4: [],
    Gene("ncbigene:20303", "Ccl4", MOUSE): [],
    Gene("ncbigene:9076", "CLDN1", HUMAN): [("claudin 1", NameKind.NAME)],
    Gene("ncbigene:1", "clau", FLY): [("claudin", NameKind.SYNONYM)],
    Gene("ncbigene:3845", "KRAS", HUMAN): [("Ras", NameKind.MEMBER)],
    Gene("fplx:RAS", "RAS"): [],
    Gene("ncbigene:2908", "NR3C1", HUMAN): [("glucocorticoid receptor", NameKind.SYNONYM)],
    Gene("ncbigene:22863", "ATG14", HUMAN): [("GRa", NameKind.SYNONYM)],
}
ORTHOLOGS = {"ncbigene:19264": "ncbigene:5788", "ncbigene:20303": "ncbigene:6351"}


@pytest.fixture(scope="module")
def tables() -> Gazetteer:
    return build_gazetteer(GENES, ORTHOLOGS)


def symbols(tables: Gazetteer, name: str, *taxa: int) -> list[str]:
    return [m.gene.symbol for m in GeneLookup([tables]).find_matches(name, frozenset(taxa))]


def read_facts(
    name: str, text: str, lookup: GeneLookup, species: tuple[int, ...] = ()
) -> dict[str, dict[str, float]]:
    """Symbol of each candidate of a name -> its facts in the text."""
    mentions = [Mention(start, start + len(name)) for start in [text.index(name)]]
    context = TextContext.from_text(text, [name], lookup, species)
    table = build_candidate_table(context, text, mentions)
    return {
        table.genes[i].symbol: dict(
            zip(FIRST_STAGE_COLUMNS, table.first_stage[i].tolist(), strict=True)
        )
        for i in table.rows_of_name[0]
    }


def test_a_gene_lends_its_names_to_its_ortholog(tables: Gazetteer) -> None:
    (match,) = GeneLookup([tables]).find_matches("CD45", frozenset([MOUSE]))
    assert (match.gene.symbol, match.is_from_ortholog) == ("Ptprc", True)


def test_a_species_with_a_gene_of_the_name_is_lent_none(tables: Gazetteer) -> None:
    assert symbols(tables, "CCL4", HUMAN, MOUSE) == ["CCL4", "Ccl4"]


def test_a_gene_stands_for_itself_and_its_orthologs(tables: Gazetteer) -> None:
    rows = {tables.get_gene(row).symbol: row for row in range(len(tables))}
    assert tables.find_orthologs(rows["CCL4"]) == sorted([rows["CCL4"], rows["Ccl4"]])
    assert tables.find_orthologs(rows["Ccl4"]) == []
    assert tables.find_orthologs(rows["CCL4L2"]) == [rows["CCL4L2"]]


def test_a_name_is_lent_from_man_to_a_species_that_the_text_names() -> None:
    rat = Gene("ncbigene:24699", "Ptprc", 10116)
    tables = build_gazetteer({**GENES, rat: []}, ORTHOLOGS | {"ncbigene:24699": "ncbigene:5788"})
    assert symbols(tables, "CD45", 10116) == ["Ptprc"]


def test_genes_of_species_that_are_not_meant_end_no_search(tables: Gazetteer) -> None:
    assert symbols(tables, "claudin", HUMAN, MOUSE) == ["CLDN1"]
    assert symbols(tables, "claudin", FLY) == ["clau"]


def test_a_family_may_stand_for_its_members(tables: Gazetteer) -> None:
    assert symbols(tables, "Ras", HUMAN) == ["RAS", "KRAS"]


def test_counts_hold_for_all_orthologs(tables: Gazetteer) -> None:
    counted = tables.with_counts({("ptprc", "ncbigene:5788"): 4.0}, {})
    found = {
        tables.get_gene(entry.row).symbol: entry.log2_count
        for entry in counted.find_entries("ptprc")
    }
    assert found == {"PTPRC": 3, "Ptprc": 3}


def test_what_stands_behind_an_abbreviation_goes_with_its_long_form(tables: Gazetteer) -> None:
    text = "The glucocorticoid receptor (GR) is human. GRalpha rose."
    facts = read_facts("GRalpha", text, GeneLookup([tables]))
    assert set(facts) == {"NR3C1", "ATG14"}
    assert (facts["NR3C1"]["long form"], facts["NR3C1"]["other long form"]) == (1.0, 0.0)
    assert (facts["ATG14"]["long form"], facts["ATG14"]["other long form"]) == (0.0, 1.0)


def test_concepts_usage_and_associations_survive_the_disk(
    tables: Gazetteer, tmp_path: Path
) -> None:
    full = replace(
        tables,
        usage={7: {3: 2, -1: 1}, 4_000_000_000: {5: 1}},
        associations={(1, 4): 2.5, (3, 2000): 1.0},
        first_stage={"gene": -1.5, "near": 0.25},
    )
    full.to_disk(tmp_path)
    again = Gazetteer.from_disk(tmp_path)
    for name in ("concept", "hashes", "rows", "number", "hgnc", "rgd"):
        np.testing.assert_array_equal(getattr(again, name), getattr(tables, name))
        assert getattr(again, name).dtype == getattr(tables, name).dtype
    assert (again.usage, again.associations) == (full.usage, full.associations)
    assert again.first_stage == full.first_stage


def test_tables_of_earlier_versions_are_read(tables: Gazetteer, tmp_path: Path) -> None:
    tables.to_disk(tmp_path)
    arrays = read_arrays(tmp_path / "tables.npz")
    assert arrays["hashes"].shape == (len(tables.hashes), 4)
    arrays["hashes"] = np.diff(tables.hashes, prepend=np.uint32(0))
    arrays["rows"] = tables.rows
    write_arrays(tmp_path / "tables.npz", arrays)
    again = Gazetteer.from_disk(tmp_path)
    np.testing.assert_array_equal(again.hashes, tables.hashes)
    np.testing.assert_array_equal(again.rows, tables.rows)


def test_hints_weigh_less_than_names_and_are_of_the_animal_named() -> None:
    knockout, human = find_species("the knockout and human cells")
    assert (knockout.taxon, human.taxon) == (MOUSE, HUMAN)
    assert knockout.weight < human.weight
    assert {word.taxon for word in find_species("knockout zebrafish")} == {7955}


VEGFA, KDR = Gene("ncbigene:22339", "Vegfa", MOUSE), Gene("ncbigene:16542", "Kdr", MOUSE)


def meanings(name: str, text: str, genes: dict[Gene, list[tuple[str, NameKind]]]) -> set[str]:
    return set(read_facts(name, text, GeneLookup([build_gazetteer(genes)])))


def test_members_keep_the_name_of_their_family_though_it_is_too_common_to_be_theirs() -> None:
    letters = [Gene(f"ncbigene:{n}", f"WNT{n}", HUMAN) for n in range(1, 5)]
    names = [("wingless growth factor", kind) for kind in (NameKind.SHORTENED, NameKind.MEMBER)]
    tables = build_gazetteer(
        {gene: names for gene in letters} | {Gene("fplx:Wnt", "Wnt"): names[:0]}
    )
    found = GeneLookup([tables]).find_matches("wingless growth factor", frozenset([HUMAN]))
    assert [match.kind for match in found] == [NameKind.MEMBER] * 4


def test_the_gene_whose_symbol_begins_with_the_name_is_marked() -> None:
    genes = {VEGFA: [("VEGF", NameKind.SYNONYM)], KDR: [("VEGF", NameKind.SYNONYM)]}
    facts = read_facts("VEGF", "VEGF of mice.", GeneLookup([build_gazetteer(genes)]))
    assert (facts["Vegfa"]["begins symbol"], facts["Kdr"]["begins symbol"]) == (1.0, 0.0)


def test_genes_named_together_in_other_texts_speak_for_each_other() -> None:
    pdpk1, pdk1 = Gene("ncbigene:5170", "PDPK1", HUMAN), Gene("ncbigene:5163", "PDK1", HUMAN)
    akt = Gene("ncbigene:207", "AKT1", HUMAN)
    tables = build_gazetteer({pdpk1: [("PDK1", NameKind.SYNONYM)], pdk1: [], akt: []})
    rows = {tables.get_gene(row).symbol: row for row in range(len(tables))}
    a, b = sorted((rows["PDPK1"], rows["AKT1"]))
    lookup = GeneLookup([replace(tables, associations={(a, b): 4.0})])
    text = "PDK1 phosphorylates AKT1."
    context = TextContext.from_text(text, ["PDK1", "AKT1"], lookup, ())
    table = build_candidate_table(context, text, [Mention(0, 4), Mention(20, 24)])
    column = FIRST_STAGE_COLUMNS.index("associated")
    values = {g.symbol: v for g, v in zip(table.genes, table.first_stage[:, column], strict=True)}
    assert (values["PDPK1"], values["PDK1"]) == (0.5, 0.0)


def test_a_name_with_a_slash_that_tables_have_is_no_list() -> None:
    genes = {Gene(f"ncbigene:{n}", s, MOUSE): [] for n, s in enumerate(("F4", "F80"))}
    whole = {Gene("ncbigene:13733", "Adgre1", MOUSE): [("F4/80", NameKind.SYNONYM)]}
    assert meanings("F4/80", "Mice have F4/80.", genes) == set()
    assert meanings("F4/80", "Mice have F4/80.", genes | whole) == {"Adgre1"}
    fly = {Gene("ncbigene:7", "f", FLY): [("F4/80", NameKind.SYNONYM)]}
    assert meanings("F4/80", "Mice have F4/80.", genes | fly) == set()


def test_a_symbol_is_no_abbreviation_with_something_behind_it() -> None:
    factor = Gene("ncbigene:3075", "CFH", HUMAN)
    genes = {
        factor: [("complement factor H", NameKind.NAME)],
        Gene("ncbigene:10878", "CFHR3", HUMAN): [],
    }
    text = "Complement factor H (CFH) and CFHR3 were lost."
    assert meanings("CFHR3", text, genes) == {"CFHR3"}


def test_a_text_that_names_no_species_is_known_by_its_symbols() -> None:
    genes: dict[Gene, list[tuple[str, NameKind]]] = {}
    for n, symbol in enumerate(("SOCS2", "SPRED1", "PIM3")):
        genes |= {Gene(f"ncbigene:{n}", symbol, HUMAN): []}
        genes |= {Gene(f"ncbigene:9{n}", symbol.title(), MOUSE): []}
    names = ["Socs2", "Spred1", "Pim3"]
    around = TextContext.from_text(
        "Socs2, Spred1, Pim3", names, GeneLookup([build_gazetteer(genes)]), []
    )
    assert around.case_style[MOUSE] == -around.case_style[HUMAN] == 0.75
    assert around.species_lead[MOUSE] == around.species_lead[HUMAN] == 0


GH1, CSH1 = Gene("ncbigene:2688", "GH1", HUMAN), Gene("ncbigene:1442", "CSH1", HUMAN)
GH = Gene("ncbigene:14599", "Gh", MOUSE)


def test_pseudogenes_do_not_take_a_full_name_from_its_gene() -> None:
    gapdh = Gene("ncbigene:2597", "GAPDH", HUMAN)
    copies = {
        Gene(f"ncbigene:{n}", f"GAPDHP{n}", HUMAN, coding=False): [
            ("glyceraldehyde dehydrogenase", NameKind.DESIGNATION)
        ]
        for n in range(10_000, 10_030)
    }
    tables = build_gazetteer({gapdh: [("glyceraldehyde dehydrogenase", NameKind.NAME)], **copies})
    assert symbols(tables, "glyceraldehyde dehydrogenase", HUMAN) == ["GAPDH"]


def test_a_surer_name_is_lent_to_a_species_that_has_it_for_another_gene() -> None:
    genes = {
        CSH1: [],
        GH1: [],
        GH: [("growth hormone", NameKind.NAME)],
        Gene("ncbigene:2689", "GH2", HUMAN): [("growth hormone", NameKind.DESIGNATION)],
    }
    tables = build_gazetteer(genes, {GH.identifier: GH1.identifier})
    assert symbols(tables, "growth hormone", HUMAN) == ["GH1", "GH2"]


def test_a_name_of_databases_alone_may_be_that_of_the_first_of_its_family() -> None:
    genes = {
        Gene("ncbigene:16171", "Il17a", MOUSE): [("interleukin 17A", NameKind.NAME)],
        Gene("ncbigene:215274", "Il1f10", MOUSE): [("interleukin-17", NameKind.DESIGNATION)],
    }
    assert symbols(build_gazetteer(genes), "interleukin-17", MOUSE) == ["Il17a", "Il1f10"]


def test_a_family_and_its_members_are_candidates_of_its_name() -> None:
    genes = {
        Gene("ncbigene:3845", "KRAS", HUMAN): [("Ras", NameKind.MEMBER)],
        Gene("ncbigene:3265", "HRAS", HUMAN): [("Ras", NameKind.MEMBER)],
        Gene("fplx:RAS", "RAS"): [],
    }
    facts = read_facts("Ras", "Ras in cells.", GeneLookup([build_gazetteer(genes)]), (HUMAN,))
    assert set(facts) == {"HRAS", "KRAS", "RAS"}
    assert facts["RAS"]["family"] == facts["HRAS"]["listed member"] == 1.0


def test_words_of_a_text_lean_to_a_species(tables: Gazetteer) -> None:
    cues = {"": 0.5, "littermates": 1.5, "clinical": -2.0}
    lookup = GeneLookup([tables, replace(tables, cues=cues)])
    assert lookup.mouse_score("Littermates lived. Littermates died.") == pytest.approx(0.8)
    assert lookup.mouse_score("a clinical trial") == pytest.approx(-0.6)
    assert GeneLookup([tables]).mouse_score("Littermates") == 0.0


def test_cues_are_what_was_written(tables: Gazetteer, tmp_path: Path) -> None:
    cues = {"": 0.29, **{f"word{n}": n / 100 for n in range(-127, 128)}}
    replace(tables, cues=cues).to_disk(tmp_path)
    once = Gazetteer.from_disk(tmp_path)
    once.to_disk(tmp_path)
    assert Gazetteer.from_disk(tmp_path).cues == once.cues == cues


def test_entries_of_a_key_are_those_of_a_search_through_all(tables: Gazetteer) -> None:
    for name in ("CCL4", "Ras", "claudin", "unknown"):
        code, check = hash_key(key := make_key(name))
        rows = [
            (kind & 15, row, kind >> 4, int(tables.taxon[row]), int(tables.concept[row]))
            for i, (row, kind) in enumerate(zip(tables.rows, tables.kinds, strict=True))
            if (tables.hashes[i], tables.checks[i]) == (code, check)
        ]
        found = [(e.kind, e.row, e.case, e.taxon, e.concept) for e in tables.find_entries(key)]
        assert found == sorted(rows)


def test_every_identifier_finds_its_gene(tables: Gazetteer) -> None:
    for row in range(len(tables)):
        gene = tables.get_gene(row)
        assert tables.find_gene(gene.identifier) == gene
    for unknown in ("ncbigene:0", "ncbigene:", "ncbigene:99999999999", "fplx:none", "x:1", ""):
        assert tables.find_gene(unknown) is None


def test_accessions_are_found_without_a_search_of_the_table(tmp_path: Path) -> None:
    """A page of ``explore`` asks several times; each took 50 ms with the shipped table."""

    class Accessions(dict[int, str]):
        searches = 0

        def items(self) -> Any:
            self.searches += 1
            return super().items()

    file = tmp_path / "genes.tsv"
    file.write_text("identifier\tsymbol\tuniprot\nmine:1\tABC\tP04637\nmine:2\tABD\tP04637\n")
    table = read_gazetteer_tsv(file)
    accessions = Accessions(table.uniprot)
    table = replace(table, uniprot=accessions)
    for _ in range(3):
        genes = table.find_by_reference("uniprot:p04637")
        assert [gene.identifier for gene in genes] == ["mine:1", "mine:2"]
        assert table.find_by_reference("P00000") == []
    assert accessions.searches == 1


def test_accessions_are_found_in_any_case_and_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "genes.tsv"
    file.write_text(
        "identifier\tsymbol\tuniprot\nmine:1\tABC\tp04637|Q9H3D4\nmine:2\tABD\tq9h3d4\n"
    )
    table = read_gazetteer_tsv(file)
    assert [gene.symbol for gene in table.find_by_reference("P04637")] == ["ABC"]
    assert [gene.symbol for gene in table.find_by_reference("uniprot:q9h3d4")] == ["ABC", "ABD"]
    assert table.find_by_reference("P04637|Q9H3D4") == []


def test_a_digit_that_is_not_ascii_is_no_identifier(tmp_path: Path) -> None:
    file = tmp_path / "genes.tsv"
    file.write_text("identifier\tsymbol\ttaxon\nmine:1\tABC\t9606\n")
    table = read_gazetteer_tsv(file)
    assert table.find_taxon("mine:1") == 9606
    assert table.find_taxon("mine:²") is None
