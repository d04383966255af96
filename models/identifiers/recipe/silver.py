"""Names of PubMed texts with the genes that a dictionary tagger gave them, aligned to GeneIDs.

The tagger of STRING gives protein ids; which gene a protein is of is voted by the spellings that
stand for it. No text is kept: what leaves here are counts of spellings and Docs to train on.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.language.gene_forms import key_of
from textrank.language.gene_matches import SURE, Lookup
from textrank.language.gene_tables import GeneTables, Kind
from textrank.language.species import species_words
from textrank.tasks.identifier_facts import Surroundings, is_plain

VOTES = {Kind.SYMBOL: 3, Kind.NAME: 2, Kind.SYNONYM: 1}
MOST = 20  # votes of one spelling for a protein
LONGEST = 7000  # characters of a text that are read
HIDDEN = 3  # one text of so many is shown without its species words
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
    """The beginnings of all texts."""
    for file in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                tags = [(s, e, ids) for s, e, ids in row["names"] if e <= LONGEST]
                own = names.get(row["id"], ())
                yield Text(row["id"], row["text"][:LONGEST], tags, [(s, e) for s, e in own])


def aligned(found: Iterable[Text], tables: GeneTables) -> dict[str, str]:
    """The gene of each protein whose spellings speak for one at least twice as much as others."""
    votes: dict[str, Counter[int]] = defaultdict(Counter)
    spent: Counter[tuple[str, str]] = Counter()
    for one in found:
        for start, end, proteins in one.tags:
            key = key_of(one.text[start:end])
            for protein in proteins:
                if spent[protein, key] < MOST:
                    spent[protein, key] += 1
                    taxon = int(protein.partition(".")[0])
                    for entry in tables.entries(key):
                        if entry.kind in VOTES and tables.taxon[entry.row] == taxon:
                            votes[protein][entry.row] += VOTES[entry.kind]
    clear = {}
    for protein, own in votes.items():
        (row, most), *rest = own.most_common(2)
        if not rest or most >= 2 * rest[0][1]:
            clear[protein] = tables.gene(row).identifier
    return clear


@dataclass
class Counts:
    """How often keys stood for genes, and for no single gene."""

    seen: Counter[tuple[str, str]]
    plain: Counter[str]

    @classmethod
    def of(cls, found: Iterable[Text], genes: Mapping[str, str]) -> Counts:
        """Of texts with names; a name that no tag touches stands for no single gene."""
        seen: Counter[tuple[str, str]] = Counter()
        plain: Counter[str] = Counter()
        for one in found:
            for start, end, proteins in one.tags:
                key = key_of(one.text[start:end])
                seen.update({(key, genes[p]) for p in proteins if p in genes})
            for start, end in one.names:
                if not _touching(one.tags, start, end):
                    plain[key_of(one.text[start:end])] += 1
        return cls(seen, plain)


def docs(
    found: Iterable[Text],
    nlp: Language,
    genes: Mapping[str, str],
    tables: GeneTables,
    counts: Counts,
) -> Iterator[Doc]:
    """Docs with the recogniser's names and the identifiers of those whose meaning is known."""
    tagged = {key for key, _ in counts.seen}
    lookup = Lookup([tables])
    for one in found:
        around = Surroundings.of(one.text, [], lookup, ())
        hidden = crc32(one.id.encode()) // 2 % HIDDEN == 0
        doc = nlp.make_doc(without_species(one.text) if hidden else one.text)
        spans: list[Span] = []
        gold: dict[str, list[str]] = {}
        for start, end in one.names:
            span = doc.char_span(start, end, label="GENE", span_id=f"e{len(spans)}")
            right = _right(one, start, end, genes, around, tables, counts, tagged)
            if span is not None and right is not None:
                spans.append(span)
                gold[span.id_] = right
        doc.spans["entities"] = spans
        doc.user_data |= {"document": one.id, "identifiers": gold}
        yield doc


def without_species(text: str) -> str:
    """The text with its species words made unreadable, as long as it was.

    What names say of a species is learnt where nothing else does.

    >>> without_species("in mice")
    'in xxxx'
    """
    for word in species_words(text):
        text = text[: word.start] + "x" * (word.end - word.start) + text[word.end :]
    return text


def _right(
    one: Text,
    start: int,
    end: int,
    genes: Mapping[str, str],
    around: Surroundings,
    tables: GeneTables,
    counts: Counts,
    tagged: set[str],
) -> list[str] | None:
    """The identifiers of a name; empty for none, None where it is not known."""
    tags = _touching(one.tags, start, end)
    name = one.text[start:end]
    if not tags:
        key = key_of(name)
        if counts.plain[key] < OFTEN or key in tagged:
            return None
        return [
            tables.gene(entry.row).identifier
            for entry in tables.entries(key)
            if entry.kind is Kind.FAMILY
        ]
    (first, last, proteins), *rest = tags
    inside = start <= first and last <= end
    if rest or not inside or (2 * (last - first) < end - start):
        return None
    long = around.long.get(name)
    if long and is_plain(long) and not around.lookup.matches(long):
        return []  # the tagger does not read what an abbreviation stands for
    species = _species(around, start, end, name)
    if species is None:
        return None
    if long and (meant := _meant(around, long, species)):
        return meant
    own = [p for p in proteins if int(p.partition(".")[0]) == species]
    known = [genes[p] for p in own if p in genes]
    return known if known or species not in tables.taxa else None


def _meant(around: Surroundings, long: str, species: int) -> list[str]:
    """What a long form names, whatever the tagger takes its abbreviation for."""
    found = [match for match in around.lookup.matches(long) if match.how in SURE]
    return [match.gene.identifier for match in found if match.gene.taxon == species]


def _species(around: Surroundings, start: int, end: int, name: str) -> int | None:
    """The species that is meant: named beside the name, or far more than others in the text.

    The tagger gives a name the proteins of all species that its text names, and human ones.
    """
    near = around.near(start, end, name)
    best = max(around.lead, key=lambda taxon: around.lead[taxon])
    if near and around.lead.get(near, -1.0) > -CLEAR:
        return near
    return best if around.lead[best] > CLEAR else None


CLEAR = 0.5  # of log-odds


def _touching(tags: Sequence[Tag], start: int, end: int) -> list[Tag]:
    return [tag for tag in tags if tag[0] < end and start < tag[1]]
