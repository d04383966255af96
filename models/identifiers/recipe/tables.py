"""Reads the gene tables of NCBI, HGNC and FamPlex into genes with their names."""

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
LONGEST = 90
MOST_MEMBERS = 25  # of a family whose name may stand for one of them
SHORTENED = (9606, 10090)  # species whose long names are also shortened

Named = dict[Gene, list[tuple[str, NameKind]]]


def genes(folder: Path) -> Named:
    """Return all genes and families with their names."""
    hgnc = {row["NCBI Gene ID(supplied by NCBI)"]: row for row in _rows(folder / "hgnc.tsv.gz")}
    proteins = _proteins(folder)
    found: Named = {}
    for row in _gene_rows(folder):
        taxon = _species(row)
        if taxon and row["type_of_gene"] not in LEFT_OUT:
            own = hgnc.get(row["GeneID"], {}) if taxon == 9606 else {}
            gene = _gene(row, taxon, own, proteins)
            names = [n for n in _names(row, own) if _useful(*n, gene)]
            if names or not CLONE.match(gene.symbol):
                found[gene] = names
    for gene, names in found.items():
        if gene.taxon in SHORTENED and gene.coding:
            names += [(text, NameKind.SHORTENED) for text in _shortened(names)]
    found |= _families(folder, found)
    return found


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
                row["GeneID"]: row for row in _rows(folder / f"ncbi-update2026-{file.name[5:]}")
            }
        for row in _rows(file):
            update = newer.pop(row["GeneID"], None) if row["GeneID"] else None
            if update is not None:
                old = {row["Symbol"], row["Symbol_from_nomenclature_authority"]} - {"-"}
                synonyms = [row["Synonyms"], update["Synonyms"], *sorted(old)]
                row = {**row, "Symbol": update["Symbol"], "Synonyms": "|".join(synonyms)}
                row["Symbol_from_nomenclature_authority"] = "-"
            yield row
        yield from newer.values()


def _species(row: Mapping[str, str]) -> int:
    """The species of a row; 0 where it is a subspecies of man or the mouse."""
    taxon = int(row["#tax_id"])
    if taxon in (63221, 741158, 10091, 10092, 57486, 179238, 35531, 116058, 80274, 39442):
        return 0
    return SPECIES_OF_STRAIN.get(taxon, taxon)


def _proteins(folder: Path) -> dict[tuple[int, str], str]:
    """The Swiss-Prot accession of each species and primary gene name."""
    found: dict[tuple[int, str], str] = {}
    with gzip.open(folder / "uniprot-swissprot-2018.tsv.gz", "rt", encoding="utf-8") as lines:
        for accession, taxon, _, names, *_ in csv.reader(lines, delimiter="\t"):
            if taxon.isdigit():
                species = SPECIES_OF_STRAIN.get(int(taxon), int(taxon))
                for name in re.split(r"[;|, ]+", names):
                    found.setdefault((species, name.lower()), accession)
    return found


def _shortened(names: Iterable[tuple[str, NameKind]]) -> list[str]:
    """Long names without their first or their last word: sodium-dependent serotonin transporter."""
    found = set()
    for name, kind in names:
        words = name.split()
        if kind in (NameKind.NAME, NameKind.DESIGNATION) and 3 <= len(words) <= 7:
            found |= {" ".join(words[1:]), " ".join(words[:-1])}
    return sorted(name for name in found if len(re.findall(r"[A-Za-z]{3,}", name)) > 1)


def _rows(file: Path) -> Iterator[dict[str, str]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


def _gene(
    row: Mapping[str, str],
    taxon: int,
    hgnc: Mapping[str, str],
    proteins: Mapping[tuple[int, str], str],
) -> Gene:
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
        _number(hgnc.get("Rat genome database ID(supplied by RGD)", "")),
    )


def _other_identifier(references: Mapping[str, str]) -> str:
    """The identifier of a gene that has no number of NCBI."""
    for prefix in ("UniProtKB", "Xenbase", "SubtiList"):
        if prefix in references:
            return f"{'uniprot' if prefix == 'UniProtKB' else prefix.lower()}:{references[prefix]}"
    first = next(iter(references.items()), ("", ""))
    return f"{first[0].lower()}:{first[1]}"


def _symbol(row: Mapping[str, str]) -> str:
    """The authority's; NCBI has COX2 for MT-CO2, which texts hardly ever mean."""
    official = row["Symbol_from_nomenclature_authority"]
    return row["Symbol"] if official == "-" else official


def _number(text: str) -> int:
    first = text.split(",")[0].strip().removeprefix("RGD:")
    return int(first) if first.isdigit() else 0


def _names(row: Mapping[str, str], hgnc: Mapping[str, str]) -> Iterator[tuple[str, NameKind]]:
    yield row["Symbol"], NameKind.SYNONYM
    for column in ("description", "Full_name_from_nomenclature_authority"):
        yield from _in_full(row[column])
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


def _in_full(name: str) -> Iterator[tuple[str, NameKind]]:
    """Yield a full name, and forms of it that authors shorten."""
    name = SOURCE.sub("", name)
    yield name, NameKind.NAME
    inside = re.sub(r"^[^()]*\(([^()]*)\)(?=\s*\w)", r"\1", name)  # (thrombin) receptor
    for shorter in (re.sub(r"\s*\([^()]*\)", "", name), name.partition(",")[0], inside):
        if shorter != name and len(shorter) > 6:
            yield shorter, NameKind.DESIGNATION
    if name.startswith("collagen"):  # "type VII collagen" means COL7A1
        yield re.sub(r",? alpha 1 chain$|,? alpha 1$", "", name), NameKind.DESIGNATION


def _useful(name: str, kind: NameKind, gene: Gene) -> bool:
    """Return whether a name is specific enough to look a gene up."""
    name = name.strip()
    if name in ("", "-") or len(name) > LONGEST or VAGUE.match(name) or CLONE.match(name):
        return False
    key = make_key(name)
    return len(key) > 1 and not key.isdigit() and (kind is NameKind.SYMBOL or gene.symbol != name)


def _families(folder: Path, known: Mapping[Gene, list[tuple[str, NameKind]]]) -> Named:
    """Families and complexes; what FamPlex says of single genes goes to the genes known already.

    A text that names a single gene becomes its name, and the names of a family are those of its
    members, in a way of their own.
    """
    families = {row[0]: Gene(f"fplx:{row[0]}", row[0]) for row in _lines(folder, "entities")}
    human = {gene.symbol: names for gene, names in known.items() if gene.taxon == 9606}
    members = _members(folder)
    found: Named = {family: [] for family in families.values()}
    for text, space, name, *_ in _lines(folder, "grounding_map"):
        # "p53 family" must not make "p53" a family: keys leave that word out.
        if space == "FPLX" and name in families and not text.lower().endswith("family"):
            found[families[name]].append((text, NameKind.FAMILY))
        elif space == "HGNC" and name in human:
            human[name].append((text, NameKind.SYNONYM))
    for family, names in found.items():
        own = members.get(family.symbol, frozenset())
        for symbol in sorted(own) if len(own) <= MOST_MEMBERS else ():
            texts = [family.symbol, *(text for text, _ in names)]
            human.get(symbol, []).extend((text, NameKind.MEMBER) for text in texts)
    return found


def _members(folder: Path) -> dict[str, frozenset[str]]:
    """The symbols of the genes that families and complexes consist of, also by smaller ones."""
    parts: dict[str, set[tuple[str, str]]] = {}
    for space, name, _, _, whole in _lines(folder, "relations"):
        parts.setdefault(whole, set()).add((space, name))

    def genes(family: str) -> frozenset[str]:
        own = parts.get(family, set())
        smaller = [genes(name) for space, name in own if space == "FPLX"]
        return frozenset(name for space, name in own if space == "HGNC").union(*smaller)

    return {family: genes(family) for family in parts}


def _lines(folder: Path, name: str) -> Iterator[list[str]]:
    """Yield the rows of a FamPlex file."""
    with gzip.open(folder / f"famplex-{name}.csv.gz", "rt", encoding="utf-8") as lines:
        yield from csv.reader(lines)


def concepts(folder: Path, known: Iterable[Gene]) -> dict[str, str]:
    """The human gene that stands for each gene of other species, by identifier.

    It is the ortholog on which most sources of HCOP agree, an equal symbol counting as five; then
    one of the homology table; then the human or mouse gene of equal symbol.
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
            man, _, other, support = line.rstrip("\n").split("\t")
            one, two = f"ncbigene:{other}", f"ncbigene:{man}"
            if one in genes and two in genes:
                equal = genes[one].symbol.lower() == genes[two].symbol.lower()
                best[one] = max(best.get(one, (0, "")), (int(support) + 5 * equal, two))
    found = {one: two for one, (_, two) in best.items()}
    with gzip.open(folder / "homology-human-mouse-rat.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            man, *others = line.rstrip("\n").split("\t")
            for other in "|".join(others).split("|") if man else ():
                found.setdefault(f"ncbigene:{other}", f"ncbigene:{man.split('|')[0]}")
    for gene in genes.values():
        if gene.taxon != 9606 and gene.identifier not in found and gene.taxon in LIKE_MAN:
            for taxon in (9606, 10090):
                equal = symbols[taxon].get(gene.symbol.lower(), gene.identifier)
                if equal != gene.identifier:
                    found[gene.identifier] = equal
                    break
    return found


# Vertebrates: an equal symbol means the same gene there.
LIKE_MAN = frozenset((10090, 10116, 7955, 9031, 8364, 8355, 9913, 9615, 9823))
