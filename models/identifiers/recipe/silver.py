"""Names of PubMed texts with the genes that a dictionary tagger gave them, aligned to GeneIDs.

The tagger of STRING gives protein ids; which gene a protein is of is voted by the spellings that
stand for it. No text is kept: what leaves here are counts of spellings and of pairs of genes.
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
MOST = 20  # votes of one spelling for a protein
LONGEST = 7000  # characters of a text that are read
OFTEN = 3  # times that a name is met before its being untagged says something

Tag = tuple[int, int, Sequence[str]]


@dataclass(frozen=True)
class Text:
    """A text with the tagger's names and those of the recogniser."""

    id: str
    text: str
    tags: Sequence[Tag]
    names: Sequence[tuple[int, int]]

    @property
    def half(self) -> int:
        """0 or 1: counts come from one half, training from the other."""
        return crc32(self.id.encode()) % 2


def texts(folder: Path, names: Mapping[str, Sequence[tuple[int, int]]]) -> Iterator[Text]:
    """Return the beginnings of all texts."""
    for file in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                tags = [(s, e, ids) for s, e, ids in row["names"] if e <= LONGEST]
                own = names.get(row["id"], ())
                yield Text(row["id"], row["text"][:LONGEST], tags, [(s, e) for s, e in own])


def aligned(found: Iterable[Text], tables: Gazetteer) -> dict[str, str]:
    """The gene of each protein whose spellings speak for one at least twice as much as others.

    A spelling of several genes shares its votes out among them, and a gene goes to the protein
    that has most votes for it: COX-2 speaks for PTGS2, since MT-CO2 is another protein's.
    """
    votes: dict[str, Counter[int]] = defaultdict(Counter)  # of fractions
    spent: Counter[tuple[str, str]] = Counter()
    for one in found:
        for start, end, proteins in one.tags:
            key = make_key(one.text[start:end])
            for protein in proteins:
                if spent[protein, key] < MOST:
                    spent[protein, key] += 1
                    votes[protein].update(_votes(key, int(protein.partition(".")[0]), tables))
    owner: dict[int, str] = {}
    for protein, own in votes.items():
        for row, count in own.items():
            if row not in owner or count > votes[owner[row]][row]:
                owner[row] = protein
    clear = {}
    for protein, own in votes.items():
        left = Counter({row: count for row, count in own.items() if owner[row] == protein})
        for row, most in left.most_common(1):
            if most >= 2 * max((n for other, n in left.items() if other != row), default=0):
                clear[protein] = tables.get_gene(row).identifier
    return clear


def _votes(key: str, taxon: int, tables: Gazetteer) -> dict[int, float]:
    own = [entry for entry in tables.find_entries(key) if tables.taxon[entry.row] == taxon]
    return {entry.row: VOTES[entry.kind] / len(own) for entry in own if entry.kind in VOTES}


@dataclass
class Counts:
    """How often keys stood for genes, and for no single gene."""

    seen: dict[tuple[str, str], float]
    plain: Counter[str]

    @classmethod
    def of(cls, found: Iterable[Text], genes: Mapping[str, str], tables: Gazetteer) -> Counts:
        """Of texts with names; a name that no tag touches stands for no single gene.

        A name that the tagger gives several genes of a species is shared out among them, unless
        the text has one of them under another name too.
        """
        seen: dict[tuple[str, str], float] = defaultdict(float)
        plain: Counter[str] = Counter()
        for one in found:
            single = _single(one)
            for start, end, proteins in one.tags:
                key = make_key(one.text[start:end])
                for own in _by_species(proteins).values():
                    meant = _clear(own, key, single) or own
                    for protein in meant:
                        if protein in genes:
                            seen[key, genes[protein]] += 1 / len(meant)
            for start, end in one.names:
                key = make_key(one.text[start:end])
                if not _touching(one.tags, start, end) and not official(key, tables):
                    plain[key] += 1
        return cls(seen, plain)


def official(key: str, tables: Gazetteer) -> bool:
    """Whether a gene is called so, in full or by a symbol that no word is: desmin, VDAC1.

    That the tagger passes such a name over says nothing.
    """
    named = {entry.kind for entry in tables.find_entries(key)}
    digits = any(c.isdigit() for c in key)
    return NameKind.NAME in named or (digits and len(key) > 3 and NameKind.SYMBOL in named)


def _by_species(proteins: Sequence[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for protein in proteins:
        found.setdefault(int(protein.partition(".")[0]), []).append(protein)
    return found


def _single(one: Text) -> dict[str, set[str]]:
    """The proteins that names of a text stand for alone, with the keys of these names."""
    found: dict[str, set[str]] = {}
    for start, end, proteins in one.tags:
        for own in _by_species(proteins).values():
            if len(own) == 1:
                found.setdefault(own[0], set()).add(make_key(one.text[start:end]))
    return found


def _clear(own: Sequence[str], key: str, single: Mapping[str, set[str]]) -> list[str]:
    """Return the one protein of a species that is meant, None if that is unclear."""
    if len(own) == 1:
        return list(own)
    elsewhere = [protein for protein in own if single.get(protein, set()) - {key}]
    return elsewhere if len(elsewhere) == 1 else []


def without_species(text: str) -> str:
    """Return the text with species words masked, of unchanged length.

    What names say of a species is learnt where nothing else does.

    >>> without_species("in mice")
    'in xxxx'
    """
    for word in find_species(text):
        text = text[: word.start] + "x" * (word.end - word.start) + text[word.end :]
    return text


def associations(
    found: Iterable[Text], genes: Mapping[str, str], tables: Gazetteer
) -> dict[tuple[int, int], float]:
    """Concepts that texts name together far more often than by chance, by pair of rows.

    Values are logarithms of how many times more often, to the base 2. Only names that stand for one
    protein of their species count.
    """
    rows = {tables.get_gene(row).identifier: row for row in range(len(tables))}
    single: Counter[int] = Counter()
    together: Counter[tuple[int, int]] = Counter()
    n_texts = 0
    for one in found:
        concepts = {
            int(tables.concept[rows[genes[protein]]])
            for protein in _single(one)
            if protein in genes
        }
        if len(concepts) <= MOST_CONCEPTS:
            n_texts += 1
            single.update(concepts)
            together.update(combinations(sorted(concepts), 2))
    ratios = {
        (a, b): math.log2(count * n_texts / (single[a] * single[b]))
        for (a, b), count in together.items()
        if count >= TOGETHER
    }
    return {pair: ratio for pair, ratio in ratios.items() if ratio >= 1.0}


TOGETHER = 2  # texts that name both of an associated pair
MOST_CONCEPTS = 80  # of a text whose genes are counted as named together


def _touching(tags: Sequence[Tag], start: int, end: int) -> list[Tag]:
    return [tag for tag in tags if tag[0] < end and start < tag[1]]
