"""Tables of gene names: the key of a spelling gives the genes and families it may stand for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textrank.io import read_arrays, write_arrays
from textrank.language.gene_forms import Case
from textrank.types import Arrays

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

    >>> from textrank.language.gene_building import build
    >>> from textrank.language.gene_forms import key_of
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
