"""Read the gene tables of NCBI, HGNC, UniProt and FamPlex as genes with their names."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from textrank.tasks.identifiers.gazetteer import Gene, NameKind
from textrank.tasks.identifiers.names import SPECIES_OF_STRAIN, make_key

UPDATED = ("Homo_sapiens", "Mus_musculus")  # tables with a newer one of changed rows
LEFT_OUT = {"biological-region"}
# Clones, sequence accessions and the like: no author names a gene so.
CLONE = re.compile(
    r"^(?:[A-Z]{1,2}\d{5,6}|[a-z]{2}:.*|wu:.*|zgc:.*|si:.*|im:.*|sb:.*|etID.*|Dmel.*|EG:.*|BcDNA.*"
    r"|LOC\d+|\d{6,}\w*Rik|.*-P[A-Z]$|.*-R[A-Z]$|MGC:?\d+|mKIAA\d+|DKFZ.*|FLJ\d+|ENSMUSG.*|Gm\d+"
    r"|[Ff][a-z]\d{2}[a-z]\d{2}|cb\d+|fb\d+\w+|fc\d+\w+|RP\d+-.*|anon-.*|CT\d+|BEST:.*|l\(.*"
    r"|BG:.*|clone .*|cDNA .*|RIKEN.*)$"
)
VAGUE = re.compile(
    r"^(?:uncharacterized|hypothetical|predicted|unnamed|novel|putative|unknown|similar to|"
    r"expressed sequence|low quality|hyp\b)",
    re.IGNORECASE,
)
SOURCE = re.compile(
    r"\s*\((?:Drosophila|S\. ?\w+|C\. ?\w+|E\. ?coli|yeast|mouse|human|\w+\. \w+)[^)]*\)"
)
WEIGHT = re.compile(r"^([Pp]\d{2,3})[-/ ]?[A-Za-z][A-Za-z0-9]{2,}$")  # p27Kip1 is also called p27
MAX_NAME_CHARACTERS = 90
MAX_MEMBERS = 25  # of a family whose name may mean one of them
SHORTENED = (9606, 10090)  # species whose long names are also shortened

Named = dict[Gene, list[tuple[str, NameKind]]]


def read_genes(folder: Path) -> Named:
    """Return all genes and families with their names."""
    hgnc = {
        row["NCBI Gene ID(supplied by NCBI)"]: row for row in _read_rows(folder / "hgnc.tsv.gz")
    }
    proteins = _read_accessions(folder)
    names_of_gene: Named = {}
    for row in _gene_rows(folder):
        taxon = _species(row)
        if taxon and row["type_of_gene"] not in LEFT_OUT:
            hgnc_row = hgnc.get(row["GeneID"], {}) if taxon == 9606 else {}
            gene = _make_gene(row, taxon, hgnc_row, proteins)
            names = [n for n in _iter_names(row, hgnc_row) if _is_useful(*n, gene)]
            if names or not CLONE.match(gene.symbol):
                names_of_gene[gene] = names
    for gene, names in names_of_gene.items():
        if gene.taxon in SHORTENED and gene.coding:
            names += [(text, NameKind.SHORTENED) for text in _shorten(names)]
    names_of_gene |= _read_families(folder, names_of_gene)
    return names_of_gene


def _gene_rows(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of all gene tables; a newer row of a gene replaces the older one.

    The newer row keeps the authority's symbol only if it is unchanged.
    """
    for file in sorted([*folder.glob("ncbi-*.tsv.gz"), *folder.glob("other-*.tsv.gz")]):
        if file.name.startswith("ncbi-update"):
            continue
        species = file.name.removeprefix("ncbi-").removesuffix(".tsv.gz")
        newer: dict[str, dict[str, str]] = {}
        if species in UPDATED:
            newer = {
                row["GeneID"]: row
                for row in _read_rows(folder / f"ncbi-update2026-{file.name[5:]}")
            }
        for row in _read_rows(file):
            update = newer.pop(row["GeneID"], None) if row["GeneID"] else None
            if update is not None:
                old = {row["Symbol"], row["Symbol_from_nomenclature_authority"]} - {"-"}
                synonyms = [row["Synonyms"], update["Synonyms"], *sorted(old)]
                row = {**row, "Symbol": update["Symbol"], "Synonyms": "|".join(synonyms)}
                row["Symbol_from_nomenclature_authority"] = "-"
            yield row
        yield from newer.values()


def _species(row: Mapping[str, str]) -> int:
    """Return the species of a row; 0 for a subspecies of human or mouse."""
    taxon = int(row["#tax_id"])
    if taxon in (63221, 741158, 10091, 10092, 57486, 179238, 35531, 116058, 80274, 39442):
        return 0
    return SPECIES_OF_STRAIN.get(taxon, taxon)


def _read_accessions(folder: Path) -> dict[tuple[int, str], str]:
    """Return the Swiss-Prot accession by species and gene name in lower case."""
    accessions: dict[tuple[int, str], str] = {}
    with gzip.open(folder / "uniprot-swissprot-2018.tsv.gz", "rt", encoding="utf-8") as lines:
        for accession, taxon, _, names, *_ in csv.reader(lines, delimiter="\t"):
            if taxon.isdigit():
                species = SPECIES_OF_STRAIN.get(int(taxon), int(taxon))
                for name in re.split(r"[;|, ]+", names):
                    accessions.setdefault((species, name.lower()), accession)
    return accessions


def _shorten(names: Iterable[tuple[str, NameKind]]) -> list[str]:
    """Return long names without their first or their last word, sorted.

    "Sodium-dependent serotonin transporter" gives "serotonin transporter". Results have at least
    two words of three letters.
    """
    shortened = set()
    for name, kind in names:
        words = name.split()
        if kind in (NameKind.NAME, NameKind.DESIGNATION) and 3 <= len(words) <= 7:
            shortened |= {" ".join(words[1:]), " ".join(words[:-1])}
    return sorted(name for name in shortened if len(re.findall(r"[A-Za-z]{3,}", name)) > 1)


def _read_rows(file: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a packed tab-separated file with a header."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


def _make_gene(
    row: Mapping[str, str],
    taxon: int,
    hgnc: Mapping[str, str],
    proteins: Mapping[tuple[int, str], str],
) -> Gene:
    """Return the gene of a row.

    ``hgnc`` is its row of HGNC, {} if there is none; ``proteins`` are Swiss-Prot accessions, used
    if neither row has one.
    """
    symbol = _symbol(row)
    references = dict(
        reference.partition(":")[::2] for reference in row["dbXrefs"].split("|") if ":" in reference
    )
    uniprot = (
        hgnc.get("UniProt ID(supplied by UniProt)", "").split(",")[0].strip()
        or references.get("UniProtKB", "")
        or proteins.get((taxon, symbol.lower()), "")
    )
    return Gene(
        f"ncbigene:{row['GeneID']}" if row["GeneID"] else _other_identifier(references),
        symbol,
        taxon,
        int(hgnc.get("HGNC ID", "HGNC:0").removeprefix("HGNC:")),
        uniprot,
        row["type_of_gene"] in ("protein-coding", "-"),
        _parse_rgd(hgnc.get("Rat genome database ID(supplied by RGD)", "")),
    )


def _other_identifier(references: Mapping[str, str]) -> str:
    """Return the identifier of a gene without an NCBI number, from its references."""
    for prefix in ("UniProtKB", "Xenbase", "SubtiList"):
        if prefix in references:
            return f"{'uniprot' if prefix == 'UniProtKB' else prefix.lower()}:{references[prefix]}"
    first = next(iter(references.items()), ("", ""))
    return f"{first[0].lower()}:{first[1]}"


def _symbol(row: Mapping[str, str]) -> str:
    """Return the symbol of the nomenclature authority, or that of NCBI if there is none.

    NCBI has COX2 for MT-CO2, which texts hardly ever mean.
    """
    official = row["Symbol_from_nomenclature_authority"]
    return row["Symbol"] if official == "-" else official


def _parse_rgd(text: str) -> int:
    """Return the first RGD number of a list; 0 if there is none."""
    first = text.split(",")[0].strip().removeprefix("RGD:")
    return int(first) if first.isdigit() else 0


def _iter_names(row: Mapping[str, str], hgnc: Mapping[str, str]) -> Iterator[tuple[str, NameKind]]:
    """Yield all names of a gene with their kind; they may repeat or be empty."""
    yield row["Symbol"], NameKind.SYNONYM
    for column in ("description", "Full_name_from_nomenclature_authority"):
        yield from _expand_full_name(row[column])
    for name in row["Synonyms"].split("|"):
        yield name, NameKind.SYNONYM
        if weight := WEIGHT.match(name):
            yield weight.group(1), NameKind.DESIGNATION
    for name in hgnc.get("Alias symbols", "").split(","):
        yield name.strip(), NameKind.SYNONYM
    for name in hgnc.get("Previous symbols", "").split(","):
        yield name.strip(), NameKind.PREVIOUS
    for name in row["Other_designations"].split("|"):
        yield name, NameKind.DESIGNATION


def _expand_full_name(name: str) -> Iterator[tuple[str, NameKind]]:
    """Yield a full name, and shorter forms that authors use."""
    name = SOURCE.sub("", name)
    yield name, NameKind.NAME
    inside = re.sub(r"^[^()]*\(([^()]*)\)(?=\s*\w)", r"\1", name)  # (thrombin) receptor
    for shorter in (re.sub(r"\s*\([^()]*\)", "", name), name.partition(",")[0], inside):
        if shorter != name and len(shorter) > 6:
            yield shorter, NameKind.DESIGNATION
    if name.startswith("collagen"):  # "type VII collagen" means COL7A1
        yield re.sub(r",? alpha 1 chain$|,? alpha 1$", "", name), NameKind.DESIGNATION


def _is_useful(name: str, kind: NameKind, gene: Gene) -> bool:
    """Return whether a name is specific enough to look a gene up."""
    name = name.strip()
    if (
        name in ("", "-")
        or len(name) > MAX_NAME_CHARACTERS
        or VAGUE.match(name)
        or CLONE.match(name)
    ):
        return False
    key = make_key(name)
    return len(key) > 1 and not key.isdigit() and (kind is NameKind.SYMBOL or gene.symbol != name)


def _read_families(folder: Path, known: Mapping[Gene, list[tuple[str, NameKind]]]) -> Named:
    """Return families and complexes with their names.

    ``known`` is changed in place: texts by which FamPlex names a single gene become its synonyms,
    and the names of a family names of its members (``NameKind.MEMBER``).
    """
    families = {row[0]: Gene(f"fplx:{row[0]}", row[0]) for row in _read_lines(folder, "entities")}
    human = {gene.symbol: names for gene, names in known.items() if gene.taxon == 9606}
    members = _read_members(folder)
    family_names: Named = {family: [] for family in families.values()}
    for text, space, name, *_ in _read_lines(folder, "grounding_map"):
        # "p53 family" must not make "p53" a family: keys leave that word out.
        if space == "FPLX" and name in families and not text.lower().endswith("family"):
            family_names[families[name]].append((text, NameKind.FAMILY))
        elif space == "HGNC" and name in human:
            human[name].append((text, NameKind.SYNONYM))
    for family, names in family_names.items():
        symbols = members.get(family.symbol, frozenset())
        for symbol in sorted(symbols) if len(symbols) <= MAX_MEMBERS else ():
            texts = [family.symbol, *(text for text, _ in names)]
            human.get(symbol, []).extend((text, NameKind.MEMBER) for text in texts)
    return family_names


def _read_members(folder: Path) -> dict[str, frozenset[str]]:
    """Return the symbols of the genes in each family or complex, including nested ones."""
    parts: dict[str, set[tuple[str, str]]] = {}
    for space, name, _, _, whole in _read_lines(folder, "relations"):
        parts.setdefault(whole, set()).add((space, name))

    def genes(family: str) -> frozenset[str]:
        """Return the symbols of the genes of a family and of the families in it."""
        direct_parts = parts.get(family, set())
        nested = [genes(name) for space, name in direct_parts if space == "FPLX"]
        return frozenset(name for space, name in direct_parts if space == "HGNC").union(*nested)

    return {family: genes(family) for family in parts}


def _read_lines(folder: Path, name: str) -> Iterator[list[str]]:
    """Yield the rows of a FamPlex file."""
    with gzip.open(folder / f"famplex-{name}.csv.gz", "rt", encoding="utf-8") as lines:
        yield from csv.reader(lines)


def find_concepts(folder: Path, known: Iterable[Gene]) -> dict[str, str]:
    """Return the gene that represents each gene of another species, by identifier.

    It is the human ortholog that most sources of HCOP support (an equal symbol counts as five),
    else that of the homology table, else the human or mouse gene with the same symbol.
    """
    genes = {gene.identifier: gene for gene in known if gene.taxon}
    symbols = {
        taxon: {
            gene.symbol.lower(): gene.identifier for gene in genes.values() if gene.taxon == taxon
        }
        for taxon in (9606, 10090)
    }
    best: dict[str, tuple[int, str]] = {}
    with gzip.open(folder / "orthologs-hcop-2022.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            human_id, _, other, support = line.rstrip("\n").split("\t")
            one, two = f"ncbigene:{other}", f"ncbigene:{human_id}"
            if one in genes and two in genes:
                equal = genes[one].symbol.lower() == genes[two].symbol.lower()
                best[one] = max(best.get(one, (0, "")), (int(support) + 5 * equal, two))
    representative = {one: two for one, (_, two) in best.items()}
    with gzip.open(folder / "homology-human-mouse-rat.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            human_id, *others = line.rstrip("\n").split("\t")
            for other in "|".join(others).split("|") if human_id else ():
                representative.setdefault(f"ncbigene:{other}", f"ncbigene:{human_id.split('|')[0]}")
    for gene in genes.values():
        if (
            gene.taxon != 9606
            and gene.identifier not in representative
            and gene.taxon in VERTEBRATES
        ):
            for taxon in (9606, 10090):
                equal = symbols[taxon].get(gene.symbol.lower(), gene.identifier)
                if equal != gene.identifier:
                    representative[gene.identifier] = equal
                    break
    return representative


# Species in which an equal symbol means the same gene.
VERTEBRATES = frozenset((10090, 10116, 7955, 9031, 8364, 8355, 9913, 9615, 9823))
