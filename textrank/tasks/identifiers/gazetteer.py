"""Tables of gene names: the key of a spelling gives the genes and families it may stand for."""

from __future__ import annotations

import csv
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textrank.features import Arrays
from textrank.io import read_arrays, write_arrays
from textrank.tasks.identifiers.names import (
    Case,
    Variant,
    case_of,
    cue_words,
    key_of,
    listed,
    parts,
    variants,
)

FILE = "tables.npz"


class Kind(IntEnum):
    """What a spelling is to its gene, from the surest to the least sure."""

    SYMBOL = 0
    NAME = 1  # in full
    SYNONYM = 2
    PREVIOUS = 3  # symbol
    DESIGNATION = 4  # other names that sequence databases have
    SEEN = 5  # in text only
    FAMILY = 6
    SHORTENED = 7  # a longer name without one of its words
    MEMBER = 8  # the name of a family that the gene is of


class Gene(NamedTuple):
    """A gene, or a family or complex (``taxon`` 0), with its identifiers."""

    identifier: str  # a CURIE
    symbol: str
    taxon: int = 0
    hgnc: int = 0  # 0 where there is none
    uniprot: str = ""
    coding: bool = True  # for a protein
    rgd: int = 0  # of the rat's gene
    popular: int = 0  # how often text had it, in powers of two


class Entry(NamedTuple):
    """A gene that a key may stand for, and in what way."""

    row: int
    kind: Kind
    case: Case
    seen: int  # how often text had it so, in powers of two
    taxon: int  # of the gene
    twin: int  # row of the same gene of another species; -1: none


@dataclass(frozen=True, eq=False)
class GeneTables:
    """Keys of names with the genes they stand for, as sorted arrays.

    A key is 40 bits of its hash: of 100 000 unknown names one is taken for a known one. Looking
    up is a binary search; nothing but arrays and one text is kept.

    >>> from textrank.tasks.identifiers.gazetteer import build
    >>> from textrank.tasks.identifiers.names import key_of
    >>> tables = build({Gene("ncbigene:7157", "TP53", 9606): [("tumor protein p53", Kind.NAME)]})
    >>> [tables.gene(entry.row).symbol for entry in tables.entries(key_of("p53 tumor protein"))]
    ['TP53']
    """

    hashes: NDArray[np.uint32]  # (p,) ascending
    checks: NDArray[np.uint8]  # (p,)
    rows: NDArray[np.uint32]  # (p,)
    kinds: NDArray[np.uint8]  # (p,) kind and, in the upper half, case
    seen: NDArray[np.uint8]  # (p,)
    others: NDArray[np.uint32]  # (q,) ascending, hashes of keys that text had for no single gene
    often: NDArray[np.uint8]  # (q,) how often, in powers of two
    prefixes: tuple[str, ...]
    prefix: NDArray[np.uint8]  # (g,) of the identifier
    number: NDArray[np.int32]  # (g,) of the identifier; -1 where the symbol is its local part
    taxon: NDArray[np.int32]  # (g,)
    hgnc: NDArray[np.int32]  # (g,)
    rgd: NDArray[np.int32]  # (g,)
    popular: NDArray[np.uint8]  # (g,)
    coding: NDArray[np.bool_]  # (g,)
    twin: NDArray[np.int32]  # (g,) row of the same gene of another species; -1: none
    symbols: Sequence[str]  # (g,)
    uniprot: Mapping[int, str]  # by row
    local: Mapping[int, str]  # by row, of identifiers that end in neither number nor symbol
    cues: Mapping[str, float]  # how much words speak for the mouse against man; "" for all texts
    _found: dict[str, tuple[Entry, ...]] = field(default_factory=dict, repr=False)
    _genes: dict[int, Gene] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.number)

    def entries(self, key: str) -> tuple[Entry, ...]:
        """The genes that a key stands for, surest first."""
        if key in self._found:
            return self._found[key]
        code, check = hash_of(key)
        first = end = int(self.hashes.searchsorted(np.uint32(code)))  # else all are copied
        while end < len(self.hashes) and self.hashes[end] == code:
            end += 1
        if len(self._found) > _KEPT:
            self._found.clear()
        found = self._entries(slice(first, end), check) if first < end else []
        known = tuple(sorted(found, key=lambda entry: (entry.kind, entry.row)))
        self._found[key] = known
        return known

    def _entries(self, own: slice, check: int) -> list[Entry]:
        rows = self.rows[own]
        columns = (rows, self.kinds[own], self.seen[own], self.taxon[rows], self.twin[rows])
        found = zip(*(column.tolist() for column in (self.checks[own], *columns)), strict=True)
        return [
            Entry(row, _KINDS[kind & 15], _CASES[kind >> 4], seen, taxon, twin)
            for checked, row, kind, seen, taxon, twin in found
            if checked == check
        ]

    def plain(self, key: str) -> int:
        """How often text had a key for no single gene, in powers of two."""
        code, _ = hash_of(key)
        i = int(self.others.searchsorted(np.uint32(code)))
        return int(self.often[i]) if i < len(self.others) and self.others[i] == code else 0

    @cached_property
    def taxa(self) -> frozenset[int]:
        """The species of the genes."""
        return frozenset(np.unique(self.taxon[self.taxon > 0]).tolist())

    def knows(self, identifier: str) -> bool:
        """Whether a gene has this identifier."""
        prefix, _, local = identifier.partition(":")
        if prefix not in self.prefixes:
            return False
        if not local.isdigit() or len(local) > 9:
            return local in self.local.values() or local in self.symbols
        numbers = self._numbers
        i = int(np.searchsorted(numbers, np.int32(local)))
        return i < len(numbers) and numbers[i] == int(local)

    @cached_property
    def _numbers(self) -> NDArray[np.int32]:
        return np.sort(self.number)

    def gene(self, row: int) -> Gene:
        """The gene of a row."""
        if row not in self._genes:
            if len(self._genes) > _KEPT:
                self._genes.clear()
            self._genes[row] = self._gene(row)
        return self._genes[row]

    def _gene(self, row: int) -> Gene:
        number, symbol = int(self.number[row]), self.symbols[row]
        local = self.local.get(row, symbol) if number < 0 else str(number)
        return Gene(
            f"{self.prefixes[self.prefix[row]]}:{local}",
            symbol,
            int(self.taxon[row]),
            int(self.hgnc[row]),
            self.uniprot.get(row, ""),
            bool(self.coding[row]),
            int(self.rgd[row]),
            int(self.popular[row]),
        )

    def counted(
        self, seen: Mapping[tuple[str, str], float], plain: Mapping[str, int]
    ) -> GeneTables:
        """The tables with counts from text.

        ``seen`` says how often a key stood for an identifier, ``plain`` how often for no single
        gene. What is counted for a gene holds for its twin too: a spelling is of no species.
        """
        rows = {self.gene(row).identifier: row for row in range(len(self))}
        counts = np.zeros(len(self.rows))
        totals = np.zeros(len(self))
        for (key, identifier), count in seen.items():
            code, check = hash_of(key)
            same = {row := rows[identifier], int(self.twin[row])} - {-1}
            totals[list(same)] += count
            for i in range(*np.searchsorted(self.hashes, [code, code + 1])):
                if self.checks[i] == check and int(self.rows[i]) in same:
                    counts[i] += count
        powers = np.array([_power(int(count)) for count in counts], dtype=np.uint8)
        others = {hash_of(key)[0]: _power(count) for key, count in plain.items()}
        order = np.array(sorted(others), dtype=np.uint32)
        often = np.array([others[code] for code in sorted(others)], dtype=np.uint8)
        popular = np.array([_power(int(total)) for total in totals], dtype=np.uint8)
        return replace(
            self, seen=powers, others=order, often=often, popular=popular, _found={}, _genes={}
        )

    def to_disk(self, folder: Path) -> None:
        """Writes ``tables.npz``; differences of sorted numbers take less room than the numbers."""
        arrays: Arrays = {
            "hashes": np.diff(self.hashes, prepend=np.uint32(0)),
            "checks": self.checks,
            "rows": self.rows,
            "kinds": self.kinds,
            "seen": self.seen,
            "others": np.diff(self.others, prepend=np.uint32(0)),
            "often": self.often,
            "prefixes": _text(self.prefixes),
            "prefix": self.prefix,
            "number": np.diff(self.number, prepend=np.int32(0)),
            "taxon": self.taxon,
            "hgnc": self.hgnc,
            "rgd": self.rgd,
            "popular": self.popular,
            "coding": self.coding,
            "twin": self.twin,
            "symbols": _text(self.symbols),
            **_table("uniprot", self.uniprot),
            **_table("local", self.local),
            "cues": _text(self.cues),
            "leaning": np.rint([_STEPS * own for own in self.cues.values()]).astype(np.int8),
        }
        write_arrays(folder / FILE, arrays)

    @classmethod
    def from_disk(cls, folder: Path) -> GeneTables:
        """What ``to_disk`` wrote."""
        arrays = read_arrays(folder / FILE)
        if missing := sorted(_ARRAYS - arrays.keys()):
            raise ValueError(
                f"{folder / FILE}: no array {missing[0]!r}. Restore the tables, or build them anew."
            )
        return cls(
            hashes=np.cumsum(arrays["hashes"], dtype=np.uint32),
            others=np.cumsum(arrays["others"], dtype=np.uint32),
            number=np.cumsum(arrays["number"], dtype=np.int32),
            prefixes=tuple(_lines(arrays["prefixes"])),
            symbols=_lines(arrays["symbols"]),
            uniprot=_read_table("uniprot", arrays),
            local=_read_table("local", arrays),
            cues=_read_cues(arrays),
            **{name: arrays[name] for name in _PLAIN},  # type: ignore[arg-type]
        )


_KINDS, _CASES = tuple(Kind), tuple(Case)
_KEPT = 1 << 13  # keys looked up before; a stream of new ones must not need ever more memory
_NUMBERS = ("taxon", "hgnc", "rgd", "popular", "coding", "prefix", "twin")  # of genes
_PLAIN = ("checks", "rows", "kinds", "seen", "often", *_NUMBERS)  # on disk as they are
_PACKED = ("hashes", "others", "number", "prefixes", "symbols", "uniprot", "uniprot_rows", "local")
_ARRAYS = {*_PLAIN, *_PACKED, "local_rows", "cues", "leaning"}
_STEPS = 100  # that cues are rounded to


@lru_cache(maxsize=1 << 13)
def hash_of(key: str) -> tuple[int, int]:
    """40 bits that stand for a key: those it is sorted by, and those that are checked."""
    digest = hashlib.blake2b(key.encode(), digest_size=5).digest()
    return int.from_bytes(digest[:4], "little"), digest[4]


def _power(count: int) -> int:
    return min(count.bit_length(), 15)


def _text(words: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(words).encode(), dtype=np.uint8)


def _lines(text: NDArray[np.generic]) -> list[str]:
    return text.tobytes().decode().split("\n") if text.size else []


def _table(name: str, values: Mapping[int, str]) -> Arrays:
    rows = sorted(values)
    steps = np.diff(np.array(rows, dtype=np.int32), prepend=np.int32(0))
    return {f"{name}_rows": steps, name: _text(values[row] for row in rows)}


def _read_table(name: str, arrays: Arrays) -> dict[int, str]:
    rows = np.cumsum(arrays[f"{name}_rows"], dtype=np.int32).tolist()
    return dict(zip(rows, _lines(arrays[name]), strict=True))


def _read_cues(arrays: Arrays) -> dict[str, float]:
    leaning = (arrays["leaning"].astype(np.float64) / _STEPS).tolist()
    return dict(zip(_lines(arrays["cues"]), leaning, strict=True))


SURE = frozenset(("whole", "head", "outside", "inside", "prefix", "roman"))
MOST = 24  # candidates of a name


class Match(NamedTuple):
    """A gene that a name may stand for."""

    gene: Gene
    kind: Kind
    how: str  # one of READINGS
    share: float  # of the name
    case: bool  # whether capitals are those of the table
    seen: int  # how often text had it so, in powers of two
    lent: bool = False  # whether only the same gene of another species is listed with the name


@dataclass(frozen=True, eq=False)
class Lookup:
    """Several tables as one, and what was looked up before."""

    tables: Sequence[GeneTables]
    _known: dict[tuple[str, frozenset[int]], tuple[Match, ...]] = field(
        default_factory=dict, repr=False
    )
    _given: dict[str, Gene] = field(default_factory=dict, repr=False)

    def matches(self, name: str, taxa: frozenset[int] | None = None) -> tuple[Match, ...]:
        """The genes and families a name may stand for, surest first; of a list, none.

        Only genes of the species ``taxa`` are considered; of all that the tables have if not
        given. Readings are tried until one is known; a name that stands for a family only may
        also be meant for one of its genes. Where no reading is known, the longest known part of
        the name is taken.
        """
        asked = (name, self.taxa if taxa is None else taxa)
        if asked not in self._known:
            if len(self._known) > _GENE_MATCHES_KEPT:
                self._known.clear()
            self._known[asked] = self._matches(*asked)
        return self._known[asked]

    def gene(self, identifier: str) -> Gene:
        """A gene that was among some matches before."""
        return self._given[identifier]

    def plain(self, name: str) -> int:
        """How often text had this name for no single gene, in powers of two."""
        key = key_of(name)
        return max((table.plain(key) for table in self.tables), default=0)

    def leaning(self, text: str) -> float:
        """Whether a text sounds as those about mice do, or as those about man; from -1 to 1."""
        cues = next((table.cues for table in self.tables if table.cues), None)
        if cues is None:
            return 0.0
        found = math.fsum(cues[word] for word in cues.keys() & {"", *cue_words(text)})
        return max(-1.0, min(1.0, found / _CLEAR))

    def knows(self, identifier: str) -> bool:
        """Whether some table has an identifier."""
        return any(table.knows(identifier) for table in self.tables)

    @cached_property
    def taxa(self) -> frozenset[int]:
        """The species that the tables have genes of."""
        return frozenset(taxon for table in self.tables for taxon in table.taxa)

    def _matches(self, name: str, taxa: frozenset[int]) -> tuple[Match, ...]:
        found: dict[str, Match] = {}
        for variant in variants(name):
            if variant.how not in SURE:
                best = min((m.kind for m in found.values() if m.gene.taxon), default=None)
                if best is not None and best <= Kind.PREVIOUS:
                    break
                # What only databases call interleukin-17 may be the first of its family.
                if best is not None and variant.how != "first":
                    continue
            self._add(variant, taxa, found)
        for part in () if found or listed(name) else parts(name):
            self._add(part, taxa, found)
            if found:
                break
        order = sorted(found.values(), key=lambda match: (match.kind, -match.seen))[:MOST]
        self._given.update({match.gene.identifier: match.gene for match in order})
        return tuple(order)

    def _add(self, variant: Variant, taxa: frozenset[int], found: dict[str, Match]) -> None:
        """The genes that a reading names, and where a species has none, twins of these."""
        for table in self.tables:
            own = table.entries(variant.key)
            if variant.how in _STRICT:
                own = tuple(filter(_strict, own))
            if not own:  # as with most readings
                continue
            kinds = {entry.row: entry.kind for entry in own}
            best: dict[int, Kind] = {}
            for entry in own:
                kind = kinds[entry.row]
                best[entry.taxon] = min(kind, best.get(entry.taxon, kind))
            for entry in own:
                kind, twin = entry.kind, entry.twin
                if kind is not Kind.MEMBER:
                    kind = min(kind, kinds.get(twin, kind))
                if _may_be(entry.taxon, taxa):
                    _put(table.gene(entry.row), kind, entry, variant, found)
                if twin < 0 or twin in kinds:
                    continue
                taxon = int(table.taxon[twin])
                if _may_be(taxon, taxa) and _lends(kind, best.get(taxon)):
                    _put(table.gene(twin), entry.kind, entry, variant, found, lent=True)


def _may_be(taxon: int, taxa: frozenset[int]) -> bool:
    """Whether a gene of this species may be meant; families are of none."""
    return taxon in taxa or not taxon


def _lends(kind: Kind, best: Kind | None) -> bool:
    """Whether a gene's twin has its name too, in a species with ``best`` for the name."""
    return best is None or kind is Kind.MEMBER or kind < best


def _put(
    gene: Gene,
    kind: Kind,
    entry: Entry,
    variant: Variant,
    found: dict[str, Match],
    *,
    lent: bool = False,
) -> None:
    """A match more, if its gene was not found in a surer way."""
    if gene.identifier not in found:
        case = not lent and entry.case == case_of(variant.text)
        found[gene.identifier] = Match(
            gene, kind, variant.how, variant.share, case, entry.seen, lent
        )


_CLEAR = 2.5  # log-odds that leave no doubt
_GENE_MATCHES_KEPT = 1 << 12  # names looked up before; their matches take about a kilobyte each
_STRICT = frozenset(("first", "part"))  # ways that are right only with the names of a gene itself


def _strict(entry: Entry) -> bool:
    return entry.kind in (Kind.SYMBOL, Kind.NAME, Kind.SYNONYM, Kind.FAMILY)


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
