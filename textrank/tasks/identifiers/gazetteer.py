"""Gazetteer of gene names: from the key of a spelling to the genes and families it may mean.

``Gazetteer`` is one dictionary as sorted arrays, built by ``build_gazetteer`` (from gene databases)
or ``read_gazetteer_tsv`` (from a user's table). ``GeneLookup`` searches several gazetteers with all
variants of a name and returns ``Match`` objects. An *ortholog* is the same gene of another species;
the gazetteer pairs human and mouse genes.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textrank.features import Arrays
from textrank.io import (
    MAX_UNPACKED_BYTES,
    parse_digits,
    read_arrays,
    read_text,
    write_arrays,
)
from textrank.tasks.identifiers.boosted_trees import MAX_LEAVES, NO_TREES, BoostedTrees
from textrank.tasks.identifiers.names import (
    HUMAN,
    MOUSE,
    RAT,
    Case,
    NameVariant,
    classify_case,
    expand_list,
    extract_cue_words,
    generate_parts,
    generate_variants,
    make_key,
)

ARRAYS_FILE = "tables.npz"


class NameKind(IntEnum):
    """Relation of a spelling to its gene, from the most to the least reliable."""

    SYMBOL = 0
    NAME = 1  # in full
    SYNONYM = 2
    PREVIOUS = 3  # earlier symbol
    DESIGNATION = 4  # other name in a sequence database
    SEEN = 5  # only observed in text
    FAMILY = 6
    SHORTENED = 7  # a longer name without one of its words
    MEMBER = 8  # name of a family to which the gene belongs


class Gene(NamedTuple):
    """A gene, or a family or complex (``taxon`` 0), with its identifiers."""

    identifier: str  # a CURIE
    symbol: str
    taxon: int = 0
    hgnc: int = 0  # 0 if there is none
    uniprot: str = ""
    coding: bool = True  # whether it codes for a protein
    rgd: int = 0  # id of the rat ortholog
    popular: int = 0  # bit length (about log2) of its number of mentions in training text


class DictionaryEntry(NamedTuple):
    """A gene that a key may stand for."""

    row: int  # of the gene in the gazetteer
    kind: NameKind
    case: Case  # of the spelling
    log2_count: int  # bit length of how often the key meant the gene in training text
    taxon: int  # of the gene
    concept: int  # row of the gene that stands for all its orthologs


_NAME_KINDS, _CASES = tuple(NameKind), tuple(Case)


@dataclass(frozen=True, eq=False)
class Gazetteer:
    """Dictionary from keys of names to genes, as sorted arrays.

    There are ``p`` (key, gene) entries and ``g`` genes. A key is stored as 40 bits of its hash; one
    in 100 000 unknown names collides with a known one. Lookup is a binary search. Field names are
    those of the arrays on disk. Counts are stored as bit lengths, 0 for a count of 0.

    >>> gene = Gene("ncbigene:7157", "TP53", 9606)
    >>> gazetteer = build_gazetteer({gene: [("tumor protein p53", NameKind.NAME)]})
    >>> entries = gazetteer.find_entries(make_key("p53 tumor protein"))
    >>> [gazetteer.get_gene(entry.row).symbol for entry in entries]
    ['TP53']
    """

    hashes: NDArray[np.uint32]  # (p,) ascending, first 32 bits of the key's hash
    checks: NDArray[np.uint8]  # (p,) last 8 bits
    rows: NDArray[np.uint32]  # (p,) gene of the entry
    kinds: NDArray[np.uint8]  # (p,) NameKind in the lower, Case in the upper four bits
    seen: NDArray[np.uint8]  # (p,) bit length of how often the key meant the gene in text
    others: NDArray[np.uint32]  # (q,) ascending, hashes of keys that did not mean a single gene
    often: NDArray[np.uint8]  # (q,) bit length of how often they occurred in text
    prefixes: tuple[str, ...]  # of identifiers
    prefix: NDArray[np.uint8]  # (g,) index of the identifier's prefix
    number: NDArray[np.int32]  # (g,) local part of the identifier; -1 if it is not a number
    taxon: NDArray[np.int32]  # (g,)
    hgnc: NDArray[np.int32]  # (g,)
    rgd: NDArray[np.int32]  # (g,)
    popular: NDArray[np.uint8]  # (g,) bit length of the gene's number of mentions in text
    coding: NDArray[np.bool_]  # (g,)
    concept: NDArray[np.int32]  # (g,) row of the gene that stands for it and its orthologs
    symbols: Sequence[str]  # (g,)
    uniprot: Mapping[int, str]  # by row
    local: Mapping[int, str]  # by row, local parts that are neither a number nor the symbol
    cues: Mapping[str, float]  # word -> log-odds of mouse against human; "" is the intercept
    # Hash of a key -> number of annotated documents in which it meant each concept (a row), a
    # family (FAMILY_USE) or no gene (NO_GENE_USE).
    usage: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    first_stage: Mapping[str, float] = field(default_factory=dict)  # feature name -> weight
    # (concept, concept), the lower row first -> log2 of how many times more often than by chance
    # texts name both.
    associations: Mapping[tuple[int, int], float] = field(default_factory=dict)
    trees: BoostedTrees = NO_TREES  # part of the second stage
    _entry_cache: dict[str, tuple[DictionaryEntry, ...]] = field(default_factory=dict, repr=False)
    _gene_cache: dict[int, Gene] = field(default_factory=dict, repr=False)
    _ortholog_cache: dict[int, list[tuple[int, int]]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        """Return the number of genes."""
        return len(self.number)

    def find_entries(self, key: str) -> tuple[DictionaryEntry, ...]:
        """Return the entries of a key, most reliable kind first, then by row.

        ``key`` is the result of ``make_key``, not a name as written. Looked up by a 40-bit hash, so
        that a collision can return the entries of another key. Empty if the key is unknown. Cached.
        """
        if key in self._entry_cache:
            return self._entry_cache[key]
        code, check = hash_key(key)
        # As uint32: with another type NumPy would convert a copy of all hashes.
        start = end = int(self.hashes.searchsorted(np.uint32(code)))
        while end < len(self.hashes) and self.hashes[end] == code:
            end += 1
        if len(self._entry_cache) > _MAX_CACHED_KEYS:
            self._entry_cache.clear()
        unsorted = self._read_entries(slice(start, end), check) if start < end else []
        entries = tuple(sorted(unsorted, key=lambda entry: (entry.kind, entry.row)))
        self._entry_cache[key] = entries
        return entries

    def _read_entries(self, rows_slice: slice, check: int) -> list[DictionaryEntry]:
        """Return the entries in a slice of the (p,) arrays whose check byte equals ``check``.

        In stored order. An entry with another check byte belongs to another key with the same hash.
        """
        rows = self.rows[rows_slice]
        columns = (
            rows,
            self.kinds[rows_slice],
            self.seen[rows_slice],
            self.taxon[rows],
            self.concept[rows],
        )
        columns_of_rows = zip(
            *(column.tolist() for column in (self.checks[rows_slice], *columns)), strict=True
        )
        return [
            DictionaryEntry(row, _NAME_KINDS[kind & 15], _CASES[kind >> 4], seen, taxon, concept)
            for checked, row, kind, seen, taxon, concept in columns_of_rows
            if checked == check
        ]

    def log2_non_gene_count(self, key: str) -> int:
        """Return the bit length (about log2) of how often a key did not mean a single gene in text.

        Returns 0 if the key never occurred so. Keys are looked up by 32-bit hash, so that a
        collision can return the count of another key.
        """
        code, _ = hash_key(key)
        index = int(self.others.searchsorted(np.uint32(code)))
        return (
            int(self.often[index]) if index < len(self.others) and self.others[index] == code else 0
        )

    def find_orthologs(self, concept: int) -> list[int]:
        """Return the rows of the genes that a concept (a row) stands for, ascending.

        The concept itself is included. Rows are ordered by taxon. Empty if the row is not a
        concept, that is, another gene stands for it.
        """
        order, starts = self._concept_index
        return order[starts[concept] : starts[concept + 1]].tolist()

    @cached_property
    def associated_concepts(self) -> Mapping[int, Mapping[int, float]]:
        """Return ``associations`` by concept: row -> {other row: value}, in both directions.

        Values are log2 of how many times more often than by chance texts name both. Concepts
        without any are missing.
        """
        result: dict[int, dict[int, float]] = {}
        for (a, b), value in self.associations.items():
            result.setdefault(a, {})[b] = value
            result.setdefault(b, {})[a] = value
        return result

    def find_orthologs_by_taxon(self, concept: int) -> list[tuple[int, int]]:
        """Return (row, taxon) of the genes that a concept (a row) stands for, ascending by row.

        Includes the concept itself; empty if another gene stands for it. Cached: do not change the
        result.
        """
        pairs = self._ortholog_cache.get(concept)
        if pairs is None:
            if len(self._ortholog_cache) > _MAX_CACHED_KEYS:
                self._ortholog_cache.clear()
            rows = self.find_orthologs(concept)
            pairs = list(zip(rows, self.taxon[rows].tolist(), strict=True))
            self._ortholog_cache[concept] = pairs
        return pairs

    @cached_property
    def _concept_index(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the rows sorted by concept (g,), and where each concept starts (g + 1,)."""
        order = np.argsort(self.concept, kind="stable").astype(np.int32)
        starts = np.searchsorted(self.concept[order], np.arange(len(self) + 1))
        return order, starts

    @cached_property
    def taxa(self) -> frozenset[int]:
        """Return the NCBI taxa of the genes, without the 0 of families."""
        return frozenset(np.unique(self.taxon[self.taxon > 0]).tolist())

    def has_identifier(self, identifier: str) -> bool:
        """Return whether a gene has this identifier (a CURIE such as ``ncbigene:7157``).

        Prefix and local part are looked up separately: true also if the prefix is that of one gene
        and the local part that of another. A local part that is no number may be the symbol of a
        gene.
        """
        prefix, _, local = identifier.partition(":")
        if prefix not in self.prefixes:
            return False
        if parse_digits(local) is None:
            return local in self.local.values() or local in self.symbols
        numbers = self._numbers
        index = int(np.searchsorted(numbers, np.int32(local)))
        return index < len(numbers) and numbers[index] == int(local)

    def find_taxon(self, identifier: str) -> int | None:
        """Return the species of a gene with a numeric identifier; 0 for a family, None if unknown.

        Only the number is compared: of genes with the same number under several prefixes, the first
        row counts. None if no gene has the number or the prefix, and for local parts that are no
        number of at most nine digits.
        """
        prefix, _, local = identifier.partition(":")
        number = parse_digits(local)
        if prefix not in self.prefixes or number is None:
            return None
        order = self._number_order
        index = int(np.searchsorted(self._numbers, np.int32(number)))
        if index == len(order) or self._numbers[index] != number:
            return None
        return int(self.taxon[order[index]])

    def find_gene(self, identifier: str) -> Gene | None:
        """Return the gene or family with an identifier (a CURIE); None if there is none.

        Prefix and local part must both match, in the same case.
        """
        prefix, _, local = identifier.partition(":")
        if prefix not in self.prefixes:
            return None
        if local.isascii() and local.isdigit() and len(local) <= 9:
            start, end = np.searchsorted(self._numbers, [int(local), int(local) + 1])
            rows = self._number_order[start:end].tolist()
        else:
            row = self._row_of_identifier.get(identifier)
            rows = [] if row is None else [row]
        genes = (self.get_gene(row) for row in rows)
        return next((gene for gene in genes if gene.identifier == identifier), None)

    @cached_property
    def _row_of_identifier(self) -> Mapping[str, int]:
        """Return the row by identifier of the genes and families whose local part is no number."""
        rows = np.flatnonzero(self.number < 0).tolist()
        return {self.get_gene(row).identifier: row for row in rows}

    def find_by_reference(self, reference: str) -> list[Gene]:
        """Return the genes with an HGNC id ("HGNC:4566") or UniProt accession ("P62993").

        An accession may follow "uniprot:"; case does not matter. Genes are ordered by row. [] for
        any other text, and if no gene has it.
        """
        prefix, _, local = reference.rpartition(":")
        rows: list[int] = []
        if prefix.lower() == "hgnc" and local.isascii() and local.isdigit() and len(local) <= 9:
            rows = np.flatnonzero((self.hgnc == int(local)) & (self.hgnc > 0)).tolist()
        elif prefix.lower() in ("", "uniprot") and local:
            rows = self._rows_of_accession.get(local.upper(), [])
        return [self.get_gene(row) for row in rows]

    @cached_property
    def _rows_of_accession(self) -> Mapping[str, list[int]]:
        """Return the rows by UniProt accession in capitals, each list in the order of ``uniprot``.

        A gene may have several accessions, separated by "|", "," or ";".
        """
        rows: dict[str, list[int]] = {}
        for row, accessions in self.uniprot.items():
            for accession in re.split(r"[|,;]", accessions.upper()):
                rows.setdefault(accession.strip(), []).append(row)
        return rows

    @cached_property
    def _number_order(self) -> NDArray[np.intp]:
        """Return the rows sorted by the number of their identifier (g,), as ``_numbers`` is."""
        return np.argsort(self.number, kind="stable")

    @cached_property
    def _numbers(self) -> NDArray[np.int32]:
        """Return the local parts of identifiers that are numbers, ascending (g,); -1 for others."""
        return np.sort(self.number)

    def get_gene(self, row: int) -> Gene:
        """Return the gene of a row (0 to g - 1). Cached."""
        if row not in self._gene_cache:
            if len(self._gene_cache) > _MAX_CACHED_KEYS:
                self._gene_cache.clear()
            self._gene_cache[row] = self._read_gene(row)
        return self._gene_cache[row]

    def _read_gene(self, row: int) -> Gene:
        """Build the gene of a row from the arrays.

        The local part of its identifier is the number, else the entry of ``local``, else the
        symbol.
        """
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

    def with_counts(
        self, gene_counts: Mapping[tuple[str, str], float], non_gene_counts: Mapping[str, int]
    ) -> Gazetteer:
        """Return a copy with counts from training text, which replace all earlier counts.

        Sets ``seen``, ``others``, ``often`` and ``popular`` (bit lengths, at most 15). Raises
        KeyError if an identifier is not in the gazetteer; a key that it lacks adds to ``popular``
        of the gene and its orthologs only.

        Parameters
        ----------
        gene_counts
            (key, identifier) -> how often the key meant the gene. A count applies to all genes of
            its concept (its orthologs) too, because spelling does not depend on species. Fractions
            of the sums are cut.
        non_gene_counts
            Key -> how often it occurred without meaning a single gene.
        """
        rows = {self.get_gene(row).identifier: row for row in range(len(self))}
        counts = np.zeros(len(self.rows))
        totals = np.zeros(len(self))
        for (key, identifier), count in gene_counts.items():
            code, check = hash_key(key)
            orthologs = set(self.find_orthologs(int(self.concept[rows[identifier]])))
            totals[list(orthologs)] += count
            # As uint32: with another type NumPy would convert a copy of all hashes.
            sides = (self.hashes.searchsorted(np.uint32(code), side) for side in ("left", "right"))
            for i in range(*sides):
                if self.checks[i] == check and int(self.rows[i]) in orthologs:
                    counts[i] += count
        log2_counts = np.array([_bit_length(int(count)) for count in counts], dtype=np.uint8)
        others = {hash_key(key)[0]: _bit_length(count) for key, count in non_gene_counts.items()}
        hashes = np.array(sorted(others), dtype=np.uint32)
        log2_others = np.array([others[code] for code in sorted(others)], dtype=np.uint8)
        popular = np.array([_bit_length(int(total)) for total in totals], dtype=np.uint8)
        return replace(
            self,
            seen=log2_counts,
            others=hashes,
            often=log2_others,
            popular=popular,
            _entry_cache={},
            _gene_cache={},
        )

    def to_disk(self, folder: Path) -> None:
        """Write ``tables.npz`` to an existing folder.

        Sorted arrays are stored as differences, and large integers as one column per byte, which
        compress better. Log-odds of cue words are rounded to hundredths and must lie within ±1.27;
        associations to tenths, at most 25.5.
        """
        arrays: Arrays = {
            "hashes": np.diff(self.hashes, prepend=np.uint32(0)),
            "checks": self.checks,
            "rows": self.rows,
            "kinds": self.kinds,
            "seen": self.seen,
            "others": np.diff(self.others, prepend=np.uint32(0)),
            "often": self.often,
            "prefixes": _encode_lines(self.prefixes),
            "prefix": self.prefix,
            "number": np.diff(self.number, prepend=np.int32(0)),
            "taxon": self.taxon,
            "hgnc": self.hgnc,
            "rgd": self.rgd,
            "popular": self.popular,
            "coding": self.coding,
            "concept": self.concept - np.arange(len(self.concept), dtype=np.int32),
            "symbols": _encode_lines(self.symbols),
            **_encode_table("uniprot", self.uniprot),
            **_encode_table("local", self.local),
            "cues": _encode_lines(self.cues),
            "leaning": np.rint([_CUE_STEPS * value for value in self.cues.values()]).astype(
                np.int8
            ),
            "usage": np.array(
                [(code, *use) for code, uses in self.usage.items() for use in uses.items()],
                dtype=np.int64,
            ).reshape(-1, 3),
            **_encode_associations(self.associations),
            "stage": _encode_lines(self.first_stage),
            "stage_weights": np.array(list(self.first_stage.values()), dtype=np.float32),
            "tree_columns": _encode_lines(self.trees.columns),
            **{f"tree_{name}": getattr(self.trees, name) for name in _TREE_ARRAYS},
        }
        for name in _SPLIT_ARRAYS:
            arrays[name] = _split_bytes(arrays[name])
        write_arrays(folder / ARRAYS_FILE, arrays)

    @classmethod
    def from_disk(cls, folder: Path) -> Gazetteer:
        """Read the ``tables.npz`` that ``to_disk`` wrote to a folder.

        Differences are summed up and encoded strings decoded. Raises ValueError if the file is
        missing or damaged, or lacks an array.
        """
        arrays = read_arrays(folder / ARRAYS_FILE)
        if missing := sorted(_ALL_ARRAYS - arrays.keys()):
            raise ValueError(
                f"{folder / ARRAYS_FILE}: array {missing[0]!r} is missing. "
                "Restore or rebuild the tables."
            )
        for name, dtype in _SPLIT_ARRAYS.items():
            if arrays[name].ndim == 2:  # files of earlier versions have the numbers themselves
                arrays[name] = _join_bytes(arrays[name], dtype)
        return cls(
            hashes=np.cumsum(arrays["hashes"], dtype=np.uint32),
            others=np.cumsum(arrays["others"], dtype=np.uint32),
            number=np.cumsum(arrays["number"], dtype=np.int32),
            concept=np.add(arrays["concept"], np.arange(len(arrays["concept"])), dtype=np.int32),
            prefixes=tuple(_decode_lines(arrays["prefixes"])),
            symbols=_decode_lines(arrays["symbols"]),
            uniprot=_decode_table("uniprot", arrays),
            local=_decode_table("local", arrays),
            cues=_decode_cues(arrays),
            usage=_decode_usage(arrays["usage"]),
            associations=_decode_associations(arrays),
            first_stage=dict(
                zip(_decode_lines(arrays["stage"]), arrays["stage_weights"].tolist(), strict=True)
            ),
            trees=_decode_trees(arrays),
            **{name: arrays[name] for name in _UNCHANGED_ARRAYS},  # type: ignore[arg-type]
        )


_MAX_CACHED_KEYS = 1 << 13  # bounds the memory used on a stream of texts
_GENE_ARRAYS = ("taxon", "hgnc", "rgd", "popular", "coding", "prefix")  # of genes
# Arrays that are stored as they are in memory, and those that are encoded.
_UNCHANGED_ARRAYS = (*("checks", "rows", "kinds", "seen", "often"), *_GENE_ARRAYS)
_TREE_ARRAYS = ("features", "thresholds", "masks", "values")
_ENCODED_ARRAYS = (
    *("hashes", "others", "number", "concept", "prefixes", "symbols", "uniprot", "uniprot_rows"),
    *("local", "local_rows", "cues", "leaning", "usage", "stage", "stage_weights"),
    *("pairs", "pair_values"),
)
# Arrays of 32-bit numbers that are stored as one column per byte.
_SPLIT_ARRAYS: Mapping[str, type[np.uint32] | type[np.int32]] = {
    **dict.fromkeys(("hashes", "rows"), np.uint32),
    **dict.fromkeys(("number", "hgnc", "rgd", "concept"), np.int32),
}
FAMILY_USE, NO_GENE_USE = -1, -2  # in place of a concept in ``Gazetteer.usage``
_ALL_ARRAYS = {*_UNCHANGED_ARRAYS, *_ENCODED_ARRAYS}
_CUE_STEPS = 100  # log-odds of cue words are rounded to hundredths


@lru_cache(maxsize=1 << 13)
def hash_key(key: str) -> tuple[int, int]:
    """Return a 40-bit hash of a key: 32 bits that entries are sorted by and 8 check bits.

    The same in every process. Cached.
    """
    digest = hashlib.blake2b(key.encode(), digest_size=5).digest()
    return int.from_bytes(digest[:4], "little"), digest[4]


def _bit_length(count: int) -> int:
    """Return the bit length of a count (0 for 0, else 1 + floor(log2)), at most 15."""
    return min(count.bit_length(), 15)


def _split_bytes(numbers: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the bytes of each 32-bit integer (n,), the lowest first, shape (n, 4).

    Columns are contiguous in memory, and so in the file: equal high bytes stand together.
    """
    little = np.ascontiguousarray(numbers, dtype=f"<{numbers.dtype.kind}4")
    return np.asfortranarray(little.view(np.uint8).reshape(-1, 4))


def _join_bytes(
    columns: NDArray[Any], dtype: type[np.uint32] | type[np.int32]
) -> NDArray[np.uint32 | np.int32]:
    """Return the integers (n,) of a 32-bit type whose bytes (n, 4), the lowest first, these are.

    Raises ValueError if there are not four columns.
    """
    if columns.shape[1] != 4:
        raise ValueError(f"expected four bytes per number, got {columns.shape[1]}")
    little = np.dtype(dtype).newbyteorder("<")
    return np.ascontiguousarray(columns, dtype=np.uint8).view(little).ravel().astype(dtype)


def _encode_lines(words: Iterable[str]) -> NDArray[np.uint8]:
    """Encode strings as the UTF-8 bytes of lines; the strings must not contain line breaks.

    A single empty string is encoded as no strings.
    """
    return np.frombuffer("\n".join(words).encode(), dtype=np.uint8)


def _decode_lines(text: NDArray[np.generic]) -> list[str]:
    """Return the strings that ``_encode_lines`` stored as lines; [] for an empty array."""
    return text.tobytes().decode().split("\n") if text.size else []


def _encode_table(name: str, values: Mapping[int, str]) -> Arrays:
    """Encode a mapping from rows to strings as two arrays, ``name`` and ``{name}_rows``.

    Both are ordered by row; rows are stored as differences to the row before.
    """
    rows = sorted(values)
    steps = np.diff(np.array(rows, dtype=np.int32), prepend=np.int32(0))
    return {f"{name}_rows": steps, name: _encode_lines(values[row] for row in rows)}


def _decode_table(name: str, arrays: Arrays) -> dict[int, str]:
    """Return the mapping from rows to strings that ``_encode_table`` stored under ``name``."""
    rows = np.cumsum(arrays[f"{name}_rows"], dtype=np.int32).tolist()
    return dict(zip(rows, _decode_lines(arrays[name]), strict=True))


def _decode_cues(arrays: Arrays) -> dict[str, float]:
    """Return the log-odds of each cue word from the arrays ``cues`` and ``leaning``."""
    leaning = (arrays["leaning"].astype(np.float64) / _CUE_STEPS).tolist()
    return dict(zip(_decode_lines(arrays["cues"]), leaning, strict=True))


def _encode_associations(associations: Mapping[tuple[int, int], float]) -> Arrays:
    """Encode the associations of concepts as ``pairs`` (n, 2) and ``pair_values`` (n,) in tenths.

    ``associations`` maps (concept, concept), the lower row first, to a log2 ratio. Pairs are
    sorted; their first rows are stored as differences. Values are cut at 25.5 and must not be
    negative.
    """
    pairs = np.array(sorted(associations), dtype=np.int32).reshape(-1, 2)
    values = [min(10 * associations[a, b], 255) for a, b in pairs.tolist()]
    steps = np.column_stack([np.diff(pairs[:, 0], prepend=np.int32(0)), pairs[:, 1]])
    return {"pairs": steps, "pair_values": np.rint(values).astype(np.uint8)}


def _decode_associations(arrays: Arrays) -> dict[tuple[int, int], float]:
    """Return the associations that ``_encode_associations`` stored: (row, row) -> log2 ratio."""
    pairs = arrays["pairs"]
    first = np.cumsum(pairs[:, 0]).tolist()
    values = (arrays["pair_values"].astype(np.float64) / 10).tolist()
    return dict(zip(zip(first, pairs[:, 1].tolist(), strict=True), values, strict=True))


def _decode_usage(table: NDArray[np.generic]) -> dict[int, dict[int, int]]:
    """Return the counts of ``Gazetteer.usage``, hash of key -> concept -> documents.

    ``table`` has rows (hash, concept, count), shape (n, 3).
    """
    usage: dict[int, dict[int, int]] = {}
    for code, concept, count in table.tolist():
        usage.setdefault(code, {})[concept] = count
    return usage


def _decode_trees(arrays: Arrays) -> BoostedTrees:
    """Return the boosted trees; none for files of earlier versions, which have no such arrays.

    Raises ValueError if their arrays do not fit each other.
    """
    if "tree_columns" not in arrays:
        return NO_TREES
    trees = BoostedTrees(
        _decode_lines(arrays["tree_columns"]),
        **{name: arrays[f"tree_{name}"] for name in _TREE_ARRAYS},  # type: ignore[arg-type]
    )
    shape = trees.features.shape
    is_consistent = (
        len(shape) == 2
        and shape == trees.thresholds.shape == trees.masks.shape
        and trees.values.ndim == 2
        and len(trees.values) == shape[0]
        and trees.values.shape[1] <= MAX_LEAVES
        and trees.masks.dtype == np.uint16
        and (not trees.features.size or trees.features.min() >= 0)
        and (not trees.features.size or trees.features.max() < len(trees.columns))
    )
    if not is_consistent:
        raise ValueError(
            "damaged table of genes: its boosted trees are not consistent. Restore the model."
        )
    return trees


_NO_CONCEPTS: Mapping[int, float] = {}
# Methods of ``generate_variants`` whose variants mean the same as the name.
RELIABLE_METHODS = frozenset(
    ("whole", "head", "tail", "yeast", "outside", "inside", "prefix", "roman")
)
MAX_MATCHES = 40  # of a name


class Match(NamedTuple):
    """A gene or family that a name may mean, and how it was found."""

    gene: Gene
    kind: NameKind
    method: str  # variant of the name that matched, one of VARIANT_METHODS
    coverage: float  # share of the name's characters that matched
    has_case_match: bool  # whether capitals are those of the dictionary entry
    log2_count: int  # bit length of how often the name meant the gene in training text
    concept: tuple[int, int]  # number of the gazetteer and row of the concept; equal for orthologs
    key: str  # that was found
    is_from_ortholog: bool = False  # whether only the gene's ortholog is listed with the name


@dataclass(frozen=True, eq=False)
class GeneLookup:
    """Search in several gazetteers, with a cache of results.

    ``tables`` are the gazetteers; of a gene that several list with the same spelling, the
    entry of the first counts.
    """

    tables: Sequence[Gazetteer]
    _match_cache: dict[tuple[str, frozenset[int]], tuple[Match, ...]] = field(
        default_factory=dict, repr=False
    )
    _matched_genes: dict[str, Gene] = field(default_factory=dict, repr=False)
    # (name, species considered) -> its candidates, see textrank.tasks.identifiers.candidate_table.
    block_cache: dict[tuple[str, frozenset[int]], Any] = field(default_factory=dict, repr=False)

    def find_matches(self, name: str, taxa: frozenset[int] | None = None) -> tuple[Match, ...]:
        """Return at most ``MAX_MATCHES`` genes and families that a name may mean, best first.

        The best are those of the most reliable kind, then those with the highest count in training
        text, then those found first. Each gene occurs once, by the first variant of the name that
        means it. Variants are tried in order of reliability, those of ``RELIABLE_METHODS`` in any
        case; others only as long as no gene is found, except that 1, a and a1 are also appended if
        none was found by its symbol, full name, synonym or earlier symbol. If no variant is known,
        the longest known part of the name is used, unless the name is a list. A gene may also be
        found by a name of its ortholog. Cached.

        Parameters
        ----------
        name
            The name as written.
        taxa
            Species of the genes to consider; None means all. Families belong to no species and
            always count.
        """
        query = (name, self.taxa if taxa is None else taxa)
        if query not in self._match_cache:
            if len(self._match_cache) > _MAX_CACHED_NAMES:
                self._match_cache.clear()
            self._match_cache[query] = self._compute_matches(*query)
        return self._match_cache[query]

    def get_gene(self, identifier: str) -> Gene:
        """Return a gene that an earlier call of ``find_matches`` returned.

        Raises KeyError otherwise.
        """
        return self._matched_genes[identifier]

    def log2_non_gene_count(self, name: str) -> int:
        """Return the bit length of how often a name did not mean a single gene in training text.

        The largest of all gazetteers; 0 if it never occurred so.
        """
        key = make_key(name)
        return max((table.log2_non_gene_count(key) for table in self.tables), default=0)

    def find_usage(self, key: str) -> Mapping[int, int]:
        """Return in how many annotated documents a key meant each concept.

        Empty if it never occurred. Concepts are rows of the first gazetteer, the only one that
        counts; FAMILY_USE (-1) stands for a family and NO_GENE_USE (-2) for no gene. Looked up by
        32-bit hash.
        """
        return self.tables[0].usage.get(hash_key(key)[0], {}) if self.tables else {}

    def find_associated(self, concept: tuple[int, int]) -> Mapping[int, float]:
        """Return the rows of the concepts that texts name together with a concept; often empty.

        A concept is (number of its gazetteer, row). Values are log2 of how many times more often
        than by chance texts name both.
        """
        return self.tables[concept[0]].associated_concepts.get(concept[1], _NO_CONCEPTS)

    @cached_property
    def first_stage(self) -> Mapping[str, float]:
        """Return the first-stage weights (column -> weight) of the first gazetteer that has any.

        Empty if none has. Cached.
        """
        return next((table.first_stage for table in self.tables if table.first_stage), {})

    @cached_property
    def trees(self) -> BoostedTrees:
        """Return the boosted trees of the first gazetteer that has any; cached."""
        return next((table.trees for table in self.tables if table.trees.columns), NO_TREES)

    def mouse_score(self, text: str) -> float:
        """Score the words of a text for mouse (1) against human (-1).

        The sum of the log-odds of the text's distinct cue words and the intercept, divided by
        ``_MAX_LOG_ODDS`` (2.5) and cut to [-1, 1]. The cues are those of the first gazetteer that
        has any; 0 if none has.
        """
        cues = next((table.cues for table in self.tables if table.cues), None)
        if cues is None:
            return 0.0
        log_odds = math.fsum(cues[word] for word in cues.keys() & {"", *extract_cue_words(text)})
        return max(-1.0, min(1.0, log_odds / _MAX_LOG_ODDS))

    def has_identifier(self, identifier: str) -> bool:
        """Return whether any of the gazetteers has an identifier (a CURIE)."""
        return any(table.has_identifier(identifier) for table in self.tables)

    def find_taxon(self, identifier: str) -> int | None:
        """Return the species of a gene with a numeric identifier; None if no gazetteer has it.

        The first gazetteer that has the prefix and the number counts; 0 for a family.
        """
        taxa = (table.find_taxon(identifier) for table in self.tables)
        return next((taxon for taxon in taxa if taxon is not None), None)

    def find_gene(self, identifier: str) -> Gene | None:
        """Return the gene or family with an identifier (a CURIE); None if no gazetteer has it.

        The first gazetteer that has it counts.
        """
        genes = (table.find_gene(identifier) for table in self.tables)
        return next((gene for gene in genes if gene is not None), None)

    @cached_property
    def taxa(self) -> frozenset[int]:
        """Return the NCBI taxa of the genes of all gazetteers, without the 0 of families."""
        return frozenset(taxon for table in self.tables for taxon in table.taxa)

    def _compute_matches(self, name: str, taxa: frozenset[int]) -> tuple[Match, ...]:
        """Compute the result of ``find_matches`` without its cache.

        ``taxa`` are the allowed species. Variants other than ``RELIABLE_METHODS`` are looked up
        only as long as no gene (families do not count) is found; the method "first" also after a
        gene found by a kind less reliable than PREVIOUS. Parts of the name are looked up, until one
        matches, only if nothing else does. At most ``MAX_MATCHES``. Matches are ordered by kind,
        then by falling count, then as found. Their genes are added to ``_matched_genes``.
        """
        matches: dict[str, Match] = {}
        for variant in generate_variants(name):
            if variant.method not in RELIABLE_METHODS:
                best_kind = min((m.kind for m in matches.values() if m.gene.taxon), default=None)
                if best_kind is not None and best_kind <= NameKind.PREVIOUS:
                    break
                # A designation such as "interleukin-17" may mean the first of a family.
                if best_kind is not None and variant.method != "first":
                    continue
            self._add_matches(variant, taxa, matches)
        for part in () if matches or expand_list(name) else generate_parts(name):
            self._add_matches(part, taxa, matches)
            if matches:
                break
        order = sorted(matches.values(), key=lambda match: (match.kind, -match.log2_count))[
            :MAX_MATCHES
        ]
        self._matched_genes.update({match.gene.identifier: match.gene for match in order})
        return tuple(order)

    def _add_matches(
        self, variant: NameVariant, taxa: frozenset[int], matches: dict[str, Match]
    ) -> None:
        """Add the genes of a variant to ``matches`` (by identifier), in place.

        Genes that are there already and genes of species outside ``taxa`` are skipped; for the
        methods "first" and "part", entries that are not a symbol, full name, synonym or family name
        too. A species of ``taxa`` that lists no gene under the name, or only less reliably, is lent
        the name for the orthologs (at most ``MAX_LENT_GENES``) of the genes that have it in another
        species of ``taxa`` or ``_LENDING_SPECIES``.
        """
        lenders = taxa | _LENDING_SPECIES
        for number, table in enumerate(self.tables):
            entries = table.find_entries(variant.key)
            if variant.method in _STRICT_METHODS:
                entries = tuple(filter(_names_gene_itself, entries))
            best_kinds: dict[int, NameKind] = {}
            listed_rows = set()
            for entry in entries:
                listed_rows.add(entry.row)
                kind = best_kinds.get(entry.taxon, entry.kind)
                best_kinds[entry.taxon] = min(entry.kind, kind)
                if _is_allowed(entry.taxon, taxa):
                    gene = table.get_gene(entry.row)
                    _add_match(gene, entry, variant, (number, entry.concept), matches)
            for entry in entries:
                if entry.taxon not in lenders:
                    continue
                n_lent: dict[int, int] = {}
                for row, taxon in table.find_orthologs_by_taxon(entry.concept):
                    if (
                        taxon in taxa
                        and taxon != entry.taxon
                        and row not in listed_rows
                        and n_lent.get(taxon, 0) < MAX_LENT_GENES
                        and _inherits_name(entry.kind, best_kinds.get(taxon))
                    ):
                        n_lent[taxon] = n_lent.get(taxon, 0) + 1
                        gene, concept = table.get_gene(row), (number, entry.concept)
                        _add_match(gene, entry, variant, concept, matches, is_from_ortholog=True)


MAX_LENT_GENES = 2  # genes of one species that an ortholog lends a name to
# Species whose names are tried for the genes of all others.
_LENDING_SPECIES = frozenset((HUMAN, MOUSE, RAT))


def _is_allowed(taxon: int, taxa: frozenset[int]) -> bool:
    """Return whether genes of this taxon count; families (taxon 0) always do."""
    return taxon in taxa or not taxon


def _inherits_name(kind: NameKind, best_kind: NameKind | None) -> bool:
    """Return whether a gene's ortholog takes over its name.

    ``kind`` is the kind of the name for the gene, ``best_kind`` its most reliable kind in the
    ortholog's species, None if no gene of that species has the name. It does if there is none, if
    ``kind`` is more reliable, or if the name is that of a family (MEMBER).
    """
    return best_kind is None or kind is NameKind.MEMBER or kind < best_kind


def _add_match(
    gene: Gene,
    entry: DictionaryEntry,
    variant: NameVariant,
    concept: tuple[int, int],
    matches: dict[str, Match],
    *,
    is_from_ortholog: bool = False,
) -> None:
    """Add a match to ``matches`` (by identifier), in place, unless its gene is there already.

    ``entry`` gives kind, count and case. ``is_from_ortholog`` says that it belongs to an ortholog
    of the gene; the match then never counts as one in case.
    """
    if gene.identifier not in matches:
        has_case_match = not is_from_ortholog and entry.case == classify_case(variant.text)
        matches[gene.identifier] = Match(
            gene,
            entry.kind,
            variant.method,
            variant.coverage,
            has_case_match,
            entry.log2_count,
            concept,
            variant.key,
            is_from_ortholog,
        )


_MAX_LOG_ODDS = 2.5  # of cue words; larger values count as certain
_MAX_CACHED_NAMES = 1 << 12  # matches of a name take about a kilobyte
# Methods that count only if the variant is a name of the gene itself.
_STRICT_METHODS = frozenset(("first", "part"))


def _names_gene_itself(entry: DictionaryEntry) -> bool:
    """Return whether an entry is a symbol, full name, synonym or family name."""
    return entry.kind in (NameKind.SYMBOL, NameKind.NAME, NameKind.SYNONYM, NameKind.FAMILY)


TSV_COLUMNS = ("identifier", "symbol", "names", "taxon", "hgnc", "uniprot")
MAX_GENES_PER_KEY = 25  # a key shared by more genes of a species is dropped
MAX_GENES_PER_SHORTENED_KEY = 2  # the same for shortened names


def build_gazetteer(
    genes: Mapping[Gene, Iterable[tuple[str, NameKind]]], orthologs: Mapping[str, str] | None = None
) -> Gazetteer:
    """Build a gazetteer from genes and their names, without counts and cue words.

    Rows are ordered by taxon, then by the number in the identifier. The symbol is always a name, of
    the kind SYMBOL, or FAMILY for a gene without species (taxon 0), unless it ends in "_family". Of
    several kinds of one key for a gene the most reliable is kept, with the case of its last
    spelling, but MEMBER only if no other kind of this key is accepted. A key is dropped from a gene
    if more than ``MAX_GENES_PER_KEY`` genes of the species, itself included, have it as reliably
    (``MAX_GENES_PER_SHORTENED_KEY`` for shortened names; no limit for ``NameKind.MEMBER``). Genes
    that do not code for a protein do not count against those that do. Names with an empty key are
    left out.

    Parameters
    ----------
    genes
        Gene -> its (name, kind) pairs. The symbol need not be among them.
    orthologs
        Identifier -> identifier of the gene, usually the human one, that stands for it and its
        orthologs. None means that every gene stands for itself, as does one without an entry.
    """
    sorted_genes = sorted(genes, key=lambda gene: (gene.taxon, _local_number(gene)))
    postings: dict[tuple[str, int], int] = {}
    members: dict[tuple[str, int], int] = {}  # exempt from the limit on genes per key
    for row, gene in enumerate(sorted_genes):
        symbol_kind = NameKind.SYMBOL if gene.taxon else NameKind.FAMILY
        symbol = "" if gene.symbol.endswith("_family") else gene.symbol  # p53_family is not p53
        for text, kind in [(symbol, symbol_kind), *genes[gene]]:
            if key := make_key(text):
                code = int(kind) | int(classify_case(text)) << 4
                target = members if kind is NameKind.MEMBER else postings
                target[key, row] = min(code, target.get((key, row), 255), key=lambda c: c & 15)
    accepted = {
        (key, row): code
        for (key, row), code, competitors in _count_competitors(sorted_genes, postings)
        if competitors
        <= (MAX_GENES_PER_SHORTENED_KEY if code & 15 == NameKind.SHORTENED else MAX_GENES_PER_KEY)
    }
    return _build_arrays(sorted_genes, members | accepted, orthologs or {})


def _count_competitors(
    genes: Sequence[Gene], postings: Mapping[tuple[str, int], int]
) -> Iterator[tuple[tuple[str, int], int, int]]:
    """Yield each (key, row), its code and how many genes of the species have the key as reliably.

    ``postings`` maps (key, row of the gene) to the code, the NameKind in the lower and the Case in
    the upper four bits; its order is kept. Equally or more reliable names count, and the gene
    itself. Genes that do not code for a protein do not compete with those that do: a gene keeps a
    name that is also the beginning of the names of its thirty pseudogenes.
    """
    counts = Counter(
        (key, genes[row].taxon, genes[row].coding, code & 15)
        for (key, row), code in postings.items()
    )
    for (key, row), code in postings.items():
        taxon, coding = genes[row].taxon, genes[row].coding
        coding_flags = (True,) if coding else (True, False)
        better = (
            (key, taxon, flag, kind) for flag in coding_flags for kind in range((code & 15) + 1)
        )
        yield (key, row), code, sum(map(counts.__getitem__, better))


def _build_arrays(
    genes: Sequence[Gene], postings: Mapping[tuple[str, int], int], orthologs: Mapping[str, str]
) -> Gazetteer:
    """Assemble the gazetteer of these entries; without counts and cues.

    ``genes`` are in row order; ``postings`` maps (key, row) to the code stored in ``kinds``, the
    NameKind in the lower and the Case in the upper four bits; ``orthologs`` maps identifiers to
    that of the gene that stands for them. At most 256 different prefixes of identifiers.
    """
    rows = sorted((*hash_key(key), row, kind) for (key, row), kind in postings.items())
    prefixes = tuple(dict.fromkeys(gene.identifier.partition(":")[0] for gene in genes))
    prefix_numbers = [prefixes.index(gene.identifier.partition(":")[0]) for gene in genes]
    return Gazetteer(
        hashes=np.array([row[0] for row in rows], dtype=np.uint32),
        checks=np.array([row[1] for row in rows], dtype=np.uint8),
        rows=np.array([row[2] for row in rows], dtype=np.uint32),
        kinds=np.array([row[3] for row in rows], dtype=np.uint8),
        seen=np.zeros(len(rows), dtype=np.uint8),
        others=np.zeros(0, dtype=np.uint32),
        often=np.zeros(0, dtype=np.uint8),
        prefixes=prefixes,
        prefix=np.array(prefix_numbers, dtype=np.uint8),
        number=np.array([_local_number(gene) for gene in genes], dtype=np.int32),
        taxon=np.array([gene.taxon for gene in genes], dtype=np.int32),
        hgnc=np.array([gene.hgnc for gene in genes], dtype=np.int32),
        rgd=np.array([gene.rgd for gene in genes], dtype=np.int32),
        popular=np.array([gene.popular for gene in genes], dtype=np.uint8),
        coding=np.array([gene.coding for gene in genes], dtype=np.bool_),
        concept=_find_concepts(genes, orthologs),
        symbols=[gene.symbol for gene in genes],
        uniprot={row: gene.uniprot for row, gene in enumerate(genes) if gene.uniprot},
        local={
            row: local_part
            for row, gene in enumerate(genes)
            if (local_part := _other_local_part(gene))
        },
        cues={},
    )


def _find_concepts(genes: Sequence[Gene], orthologs: Mapping[str, str]) -> NDArray[np.int32]:
    """Return the row of the gene that stands for each gene and its orthologs, shape (genes,).

    ``orthologs`` maps identifiers to that of the standing gene; a gene without an entry, or whose
    entry is not among ``genes``, stands for itself. Chains are not followed.
    """
    rows = {gene.identifier: row for row, gene in enumerate(genes)}
    return np.array(
        [rows.get(orthologs.get(gene.identifier, ""), row) for row, gene in enumerate(genes)],
        dtype=np.int32,
    )


def read_gazetteer_tsv(path: str | Path) -> Gazetteer:
    """Build a gazetteer from a user's tab-separated table with a header line.

    Columns are ``identifier`` (a CURIE such as ``ncbigene:7157``) and ``symbol``; optional are
    ``names`` (further names, separated by ``|``), ``taxon`` (NCBI taxonomy number; empty for a
    family), ``hgnc`` (a number) and ``uniprot``. Of rows that differ only in ``names`` the last
    counts. Raises ValueError with file and line if the table is not valid.
    """
    file = Path(path)
    lines = io.StringIO(read_text(file, MAX_UNPACKED_BYTES), newline="")
    try:
        reader = csv.DictReader(lines, delimiter="\t")
        _check_columns(file, reader.fieldnames or ())
        rows = [_parse_row(row, f"{file}, line {n}") for n, row in enumerate(reader, start=2)]
    except csv.Error as error:
        raise ValueError(f"{file}: not readable as a table of genes ({error}).") from error
    return build_gazetteer(dict(rows))


def _check_columns(file: Path, names: Sequence[str]) -> None:
    """Raise ValueError if ``identifier`` or ``symbol`` is missing or a column is unknown.

    Known are TSV_COLUMNS. ``names`` are the columns of the header; ``file`` is only for the
    message.
    """
    missing = [name for name in TSV_COLUMNS[:2] if name not in names]
    unknown = [name for name in names if name not in TSV_COLUMNS]
    if missing or unknown:
        what = f"no column {missing[0]!r}" if missing else f"an unknown column {unknown[0]!r}"
        raise ValueError(
            f"{file}: {what}. The columns are {', '.join(TSV_COLUMNS)}, split by tabs."
        )


def _parse_row(
    row: Mapping[str, str | None], location: str
) -> tuple[Gene, list[tuple[str, NameKind]]]:
    """Return the gene and the further (name, kind) pairs of a row.

    Names are synonyms, or family names if there is no taxon. Missing optional columns count as
    empty. Raises ValueError, beginning with ``location``, if there are more cells than columns, the
    identifier is not a CURIE, the symbol is empty, or ``taxon`` or ``hgnc`` is not a number.
    """
    if None in row:  # csv gathers the cells beyond the last column there
        raise ValueError(f"{location}: more cells than the header has columns. Remove them.")
    values = {name: (value or "").strip() for name, value in row.items()}
    prefix, separator, local = values["identifier"].partition(":")
    if not (prefix and separator and local and values["symbol"]):
        raise ValueError(f"{location}: give an identifier such as ncbigene:7157, and a symbol.")
    for name in ("taxon", "hgnc"):
        if values.get(name) and parse_digits(values[name]) is None:
            raise ValueError(f"{location}: {name} {values[name]!r} is not a number. Correct it.")
    taxon, hgnc = int(values.get("taxon") or 0), int(values.get("hgnc") or 0)
    gene = Gene(values["identifier"], values["symbol"], taxon, hgnc, values.get("uniprot", ""))
    kind = NameKind.SYNONYM if taxon else NameKind.FAMILY
    return gene, [
        (name.strip(), kind) for name in values.get("names", "").split("|") if name.strip()
    ]


def _local_number(gene: Gene) -> int:
    """Return the local part of an identifier (after the first colon) as a number.

    -1 if it is not a number or has more than nine digits.
    """
    local = gene.identifier.partition(":")[2]
    number = parse_digits(local)
    return -1 if number is None else number


def _other_local_part(gene: Gene) -> str:
    """Return the local part of an identifier if it is neither a number nor the symbol, else ""."""
    local = gene.identifier.partition(":")[2]
    return local if _local_number(gene) < 0 and local != gene.symbol else ""
