"""Count names in PubMed texts that a dictionary tagger linked to genes.

The tagger of STRING gives protein ids; the gene of a protein is decided by a vote of the spellings
that the tagger linked to it. No text is kept, only counts of spellings and of pairs of genes.
"""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from zlib import crc32

from textrank.tasks.identifiers.gazetteer import Gazetteer, NameKind
from textrank.tasks.identifiers.names import find_species, make_key

VOTES = {NameKind.SYMBOL: 3, NameKind.NAME: 2, NameKind.SYNONYM: 1, NameKind.DESIGNATION: 1}
MAX_SPELLING_VOTES = 20  # times that one spelling votes for a protein
MAX_CHARACTERS = 7000  # of a text

Tag = tuple[int, int, Sequence[str]]


@dataclass(frozen=True)
class Text:
    """Text with the names of the tagger (start, end, protein ids) and of the recogniser."""

    id: str
    text: str
    tags: Sequence[Tag]
    names: Sequence[tuple[int, int]]

    @property
    def half(self) -> int:
        """0 or 1, by hash of the id: counts come from one half, training from the other."""
        return crc32(self.id.encode()) % 2


def iter_texts(folder: Path, names: Mapping[str, Sequence[tuple[int, int]]]) -> Iterator[Text]:
    """Yield the first MAX_CHARACTERS of each text of a folder, with its names.

    ``names`` has the (start, end) of recognised names by id.
    """
    for file in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                tags = [(s, e, ids) for s, e, ids in row["names"] if e <= MAX_CHARACTERS]
                spans = names.get(row["id"], ())
                yield Text(
                    row["id"], row["text"][:MAX_CHARACTERS], tags, [(s, e) for s, e in spans]
                )


def align_proteins(texts: Iterable[Text], tables: Gazetteer) -> dict[str, str]:
    """Return the gene of each protein for which its spellings clearly vote.

    A spelling of several genes divides its votes among them. A gene belongs to the protein with
    most votes for it (COX-2 votes for PTGS2, because MT-CO2 is another protein's). A protein gets a
    gene if this has at least twice the votes of the next one.
    """
    votes: dict[str, Counter[int]] = defaultdict(Counter)  # of fractions
    n_counted: Counter[tuple[str, str]] = Counter()
    for one in texts:
        for start, end, proteins in one.tags:
            key = make_key(one.text[start:end])
            for protein in proteins:
                if n_counted[protein, key] < MAX_SPELLING_VOTES:
                    n_counted[protein, key] += 1
                    votes[protein].update(_vote(key, int(protein.partition(".")[0]), tables))
    owner: dict[int, str] = {}
    for protein, counts in votes.items():
        for row, count in counts.items():
            if row not in owner or count > votes[owner[row]][row]:
                owner[row] = protein
    clear = {}
    for protein, counts in votes.items():
        own_votes = Counter({row: count for row, count in counts.items() if owner[row] == protein})
        for row, best in own_votes.most_common(1):
            if best >= 2 * max((n for other, n in own_votes.items() if other != row), default=0):
                clear[protein] = tables.get_gene(row).identifier
    return clear


def _vote(key: str, taxon: int, tables: Gazetteer) -> dict[int, float]:
    """Return the votes of a key for the genes of a species, by row."""
    entries = [entry for entry in tables.find_entries(key) if tables.taxon[entry.row] == taxon]
    return {entry.row: VOTES[entry.kind] / len(entries) for entry in entries if entry.kind in VOTES}


@dataclass
class NameCounts:
    """Counts of keys: ``seen`` by (key, gene), ``plain`` of those that meant no single gene."""

    seen: dict[tuple[str, str], float]
    plain: Counter[str]

    @classmethod
    def from_texts(
        cls, texts: Iterable[Text], genes: Mapping[str, str], tables: Gazetteer
    ) -> NameCounts:
        """Count the names of texts; a recognised name without a tag means no single gene.

        ``genes`` maps proteins to genes. A name with several genes of a species is divided among
        them, unless the text mentions exactly one of them under another name too. An official
        name without a tag is not counted at all.
        """
        seen: dict[tuple[str, str], float] = defaultdict(float)
        plain: Counter[str] = Counter()
        for one in texts:
            unambiguous = _find_unambiguous(one)
            for start, end, proteins in one.tags:
                key = make_key(one.text[start:end])
                for of_species in _group_by_species(proteins).values():
                    meant = _choose_protein(of_species, key, unambiguous) or of_species
                    for protein in meant:
                        if protein in genes:
                            seen[key, genes[protein]] += 1 / len(meant)
            for start, end in one.names:
                key = make_key(one.text[start:end])
                if not _overlapping_tags(one.tags, start, end) and not is_official_name(
                    key, tables
                ):
                    plain[key] += 1
        return cls(seen, plain)


def is_official_name(key: str, tables: Gazetteer) -> bool:
    """Return whether a key is the full name or a distinctive symbol of a gene.

    Such as desmin, VDAC1. If the tagger misses one of these, that is no evidence against a gene.
    """
    named = {entry.kind for entry in tables.find_entries(key)}
    digits = any(c.isdigit() for c in key)
    return NameKind.NAME in named or (digits and len(key) > 3 and NameKind.SYMBOL in named)


def _group_by_species(proteins: Sequence[str]) -> dict[int, list[str]]:
    """Return the proteins by taxon, which begins their id."""
    groups: dict[int, list[str]] = {}
    for protein in proteins:
        groups.setdefault(int(protein.partition(".")[0]), []).append(protein)
    return groups


def _find_unambiguous(one: Text) -> dict[str, set[str]]:
    """Return the keys of each protein that a name of the text means alone in its species."""
    keys: dict[str, set[str]] = {}
    for start, end, proteins in one.tags:
        for of_species in _group_by_species(proteins).values():
            if len(of_species) == 1:
                keys.setdefault(of_species[0], set()).add(make_key(one.text[start:end]))
    return keys


def _choose_protein(
    of_species: Sequence[str], key: str, unambiguous: Mapping[str, set[str]]
) -> list[str]:
    """Return the protein that is meant as a list, or [] if that is unclear.

    It is the only one, or the only one that the text also mentions under another key.
    """
    if len(of_species) == 1:
        return list(of_species)
    elsewhere = [protein for protein in of_species if unambiguous.get(protein, set()) - {key}]
    return elsewhere if len(elsewhere) == 1 else []


def without_species(text: str) -> str:
    """Return the text with species words masked by "x", of unchanged length.

    >>> without_species("in mice")
    'in xxxx'
    """
    for word in find_species(text):
        text = text[: word.start] + "x" * (word.end - word.start) + text[word.end :]
    return text


def find_associations(
    texts: Iterable[Text], genes: Mapping[str, str], tables: Gazetteer
) -> dict[tuple[int, int], float]:
    """Return log2 of how many times more often than by chance texts name two concepts.

    Keys are pairs of rows, the lower first; only pairs that are named together in MIN_COMMON_TEXTS
    texts and at least twice as often as by chance. Only names that mean one protein of their
    species count, and texts with at most MAX_CONCEPTS concepts.
    """
    rows = {tables.get_gene(row).identifier: row for row in range(len(tables))}
    counts: Counter[int] = Counter()
    pair_counts: Counter[tuple[int, int]] = Counter()
    n_texts = 0
    for one in texts:
        concepts = {
            int(tables.concept[rows[genes[protein]]])
            for protein in _find_unambiguous(one)
            if protein in genes
        }
        if len(concepts) <= MAX_CONCEPTS:
            n_texts += 1
            counts.update(concepts)
            pair_counts.update(combinations(sorted(concepts), 2))
    ratios = {
        (a, b): math.log2(count * n_texts / (counts[a] * counts[b]))
        for (a, b), count in pair_counts.items()
        if count >= MIN_COMMON_TEXTS
    }
    return {pair: ratio for pair, ratio in ratios.items() if ratio >= 1.0}


MIN_COMMON_TEXTS = 2  # texts that name both of an associated pair
MAX_CONCEPTS = 80  # of a text whose genes are counted as named together


def _overlapping_tags(tags: Sequence[Tag], start: int, end: int) -> list[Tag]:
    """Return the tags that share a character with a range."""
    return [tag for tag in tags if tag[0] < end and start < tag[1]]
