"""Building of gene tables: from genes with their names, and from a file of a user's own."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textrank.language.gene_forms import case_of, key_of
from textrank.language.gene_tables import Gene, GeneTables, Kind, hash_of

COLUMNS = ("identifier", "symbol", "names", "taxon", "hgnc", "uniprot")
MANY = 25  # genes that share a key: it names none of them
FEW = 2  # genes that a shortened name may stand for


def build(
    genes: Mapping[Gene, Iterable[tuple[str, Kind]]], twins: Mapping[str, str] | None = None
) -> GeneTables:
    """Tables of genes with their names; the symbol is one without being listed.

    ``twins`` has pairs of identifiers: one gene in two species.
    """
    ordered = sorted(genes, key=lambda gene: (gene.taxon, _local(gene)))
    postings: dict[tuple[str, int], int] = {}
    members: dict[tuple[str, int], int] = {}  # however many: a family's name stays that of its own
    for row, gene in enumerate(ordered):
        first = Kind.SYMBOL if gene.taxon else Kind.FAMILY
        for text, kind in [(gene.symbol, first), *genes[gene]]:
            if key := key_of(text):
                code = int(kind) | int(case_of(text)) << 4
                own = members if kind is Kind.MEMBER else postings
                own[key, row] = min(code, own.get((key, row), 255), key=lambda c: c & 15)
    kept = {
        (key, row): code
        for (key, row), code, rivals in _rivals(ordered, postings)
        if rivals <= (FEW if code & 15 == Kind.SHORTENED else MANY)
    }
    return _arrays(ordered, members | kept, twins or {})


def _rivals(
    genes: Sequence[Gene], postings: Mapping[tuple[str, int], int]
) -> Iterator[tuple[tuple[str, int], int, int]]:
    """Each posting with how many genes of its species have the key, it and as surely named ones.

    What codes for no protein is no rival to what does: a gene keeps the full name that is also the
    beginning of the names of its thirty pseudogenes.
    """
    counts = Counter(
        (key, genes[row].taxon, genes[row].coding, code & 15)
        for (key, row), code in postings.items()
    )
    for (key, row), code in postings.items():
        taxon, coding = genes[row].taxon, genes[row].coding
        sorts = (True,) if coding else (True, False)
        surer = ((key, taxon, sort, kind) for sort in sorts for kind in range((code & 15) + 1))
        yield (key, row), code, sum(map(counts.__getitem__, surer))


def _arrays(
    genes: Sequence[Gene], postings: Mapping[tuple[str, int], int], twins: Mapping[str, str]
) -> GeneTables:
    rows = sorted((*hash_of(key), row, kind) for (key, row), kind in postings.items())
    prefixes = tuple(dict.fromkeys(gene.identifier.partition(":")[0] for gene in genes))
    places = [prefixes.index(gene.identifier.partition(":")[0]) for gene in genes]
    return GeneTables(
        hashes=np.array([row[0] for row in rows], dtype=np.uint32),
        checks=np.array([row[1] for row in rows], dtype=np.uint8),
        rows=np.array([row[2] for row in rows], dtype=np.uint32),
        kinds=np.array([row[3] for row in rows], dtype=np.uint8),
        seen=np.zeros(len(rows), dtype=np.uint8),
        others=np.zeros(0, dtype=np.uint32),
        often=np.zeros(0, dtype=np.uint8),
        prefixes=prefixes,
        prefix=np.array(places, dtype=np.uint8),
        number=np.array([_local(gene) for gene in genes], dtype=np.int32),
        taxon=np.array([gene.taxon for gene in genes], dtype=np.int32),
        hgnc=np.array([gene.hgnc for gene in genes], dtype=np.int32),
        rgd=np.array([gene.rgd for gene in genes], dtype=np.int32),
        popular=np.array([gene.popular for gene in genes], dtype=np.uint8),
        coding=np.array([gene.coding for gene in genes], dtype=np.bool_),
        twin=_twins(genes, twins),
        symbols=[gene.symbol for gene in genes],
        uniprot={row: gene.uniprot for row, gene in enumerate(genes) if gene.uniprot},
        local={row: own for row, gene in enumerate(genes) if (own := _other_local(gene))},
        cues={},
    )


def _twins(genes: Sequence[Gene], pairs: Mapping[str, str]) -> NDArray[np.int32]:
    """Rows of twins; of several human genes of one mouse gene the one with its symbol counts.

    Where none has it, one whose symbol begins so: GH1, not CSH1, is the Gh of the mouse.
    """
    rows = {gene.identifier: row for row, gene in enumerate(genes)}
    twin = np.full(len(genes), -1, dtype=np.int32)
    for one, other in pairs.items():
        if one in rows and other in rows:
            a, b = rows[one], rows[other]
            if twin[b] < 0 or _closer(genes[a], genes[int(twin[b])], genes[b]):
                if twin[b] >= 0:
                    twin[twin[b]] = -1
                twin[a], twin[b] = b, a
    return twin


def _closer(new: Gene, known: Gene, other: Gene) -> bool:
    """Whether the symbol of a gene is more like that of another one than is that of a third."""
    symbol = other.symbol.lower()
    nearness = [
        (own == symbol, own.startswith(symbol))
        for own in (new.symbol.lower(), known.symbol.lower())
    ]
    return nearness[0] > nearness[1]


def read_own(path: str | Path) -> GeneTables:
    """Tables of a user's own from a TSV with a header line.

    Columns: ``identifier`` (a CURIE such as ``ncbigene:7157``), ``symbol``, and where wanted
    ``names`` (further ones, separated by ``|``), ``taxon`` (a number of NCBI's taxonomy; left out:
    a family), ``hgnc`` (a number) and ``uniprot``.
    """
    file = Path(path)
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines, delimiter="\t")
            _check_columns(file, reader.fieldnames or ())
            rows = [_own_gene(row, f"{file}, line {n}") for n, row in enumerate(reader, start=2)]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: not readable as a table of genes ({error}).") from error
    return build(dict(rows))


def _check_columns(file: Path, found: Sequence[str]) -> None:
    missing = [name for name in COLUMNS[:2] if name not in found]
    unknown = [name for name in found if name not in COLUMNS]
    if missing or unknown:
        what = f"no column {missing[0]!r}" if missing else f"an unknown column {unknown[0]!r}"
        raise ValueError(f"{file}: {what}. The columns are {', '.join(COLUMNS)}, split by tabs.")


def _own_gene(row: Mapping[str, str | None], place: str) -> tuple[Gene, list[tuple[str, Kind]]]:
    given = {name: (value or "").strip() for name, value in row.items()}
    prefix, sign, local = given["identifier"].partition(":")
    if not (prefix and sign and local and given["symbol"]):
        raise ValueError(f"{place}: give an identifier such as ncbigene:7157, and a symbol.")
    for name in ("taxon", "hgnc"):
        if given.get(name) and not given[name].isdigit():
            raise ValueError(f"{place}: {name} {given[name]!r} is no number. Correct it.")
    taxon, hgnc = int(given.get("taxon") or 0), int(given.get("hgnc") or 0)
    gene = Gene(given["identifier"], given["symbol"], taxon, hgnc, given.get("uniprot", ""))
    kind = Kind.SYNONYM if taxon else Kind.FAMILY
    return gene, [
        (name.strip(), kind) for name in given.get("names", "").split("|") if name.strip()
    ]


def _local(gene: Gene) -> int:
    """The number that an identifier ends in; -1 for others."""
    local = gene.identifier.partition(":")[2]
    return int(local) if local.isdigit() and len(local) < 10 else -1


def _other_local(gene: Gene) -> str:
    local = gene.identifier.partition(":")[2]
    return local if _local(gene) < 0 and local != gene.symbol else ""
