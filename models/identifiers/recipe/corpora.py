"""Annotated abstracts as rows to train on: names, candidate genes, and which of them are right."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textrank.tasks.identifiers.candidate_table import (
    CandidateTable,
    Mention,
    build_candidate_table,
)
from textrank.tasks.identifiers.features import TextContext
from textrank.tasks.identifiers.gazetteer import (
    FAMILY_USE,
    NO_GENE_USE,
    Gazetteer,
    GeneLookup,
    hash_key,
)
from textrank.tasks.identifiers.names import make_key
from textrank.tasks.identifiers.task import Identifiers

CORPORA = {
    "NLM-Gene": "ids/nlmgene-train.pubtator.gz",
    "GNormPlus": "ids/gnormplus-train.pubtator.gz",
    "BioRED": "biored/train.pubtator.gz",
}
GENE_LABELS = ("Gene", "GeneOrGeneProduct")
FAMILY_LABEL, DOMAIN_LABEL = "FamilyName", "DomainMotif"
WITHOUT_FAMILIES = ("BioRED",)  # corpora that give families the ids of their members

Usage = dict[str, dict[int, int]]  # key of a name -> concept, or kind of use -> documents


@dataclass(frozen=True)
class Gold:
    """A name that annotators marked."""

    start: int
    end: int
    label: str
    identifiers: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Abstract:
    """An annotated abstract; ``names`` are those that are looked up."""

    corpus: str
    id: str
    text: str
    gold: Sequence[Gold]
    names: Sequence[Mention] = field(default=())

    @property
    def identifiers(self) -> frozenset[str]:
        """The genes of the abstract."""
        return frozenset(i for name in self.gold for i in name.identifiers)

    def fold(self, n_folds: int) -> int:
        """The fold of the abstract, equal in all corpora that have it."""
        return zlib.crc32(self.id.encode()) % n_folds


def read(corpus: str, file: Path) -> Iterator[Abstract]:
    """Yield the abstracts of a PubTator file; names whose text differs are kept as placed."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        blocks = lines.read().split("\n\n")
    for block in blocks:
        title, *rest = block.strip("\n").split("\n")
        if not rest:
            continue
        number, _, title_text = title.split("|", 2)
        text = f"{title_text}\n{rest[0].split('|', 2)[2]}"
        rows = (line.split("\t") for line in rest[1:])
        gold = [_gold(row) for row in rows if len(row) > 4 and row[1].isdigit()]
        wanted = (*GENE_LABELS, FAMILY_LABEL, DOMAIN_LABEL)
        yield Abstract(corpus, number, text, [name for name in gold if name.label in wanted])


def _gold(row: Sequence[str]) -> Gold:
    start, end, label = int(row[1]), int(row[2]), row[4]
    numbers: list[str] = []
    if len(row) > 5 and label in GENE_LABELS:
        numbers = re.findall(r"(?<![\d(:])\d{1,10}(?!\d)", re.sub(r"\(.*?\)", "", row[5]))
    return Gold(start, end, label, tuple(f"ncbigene:{number}" for number in numbers))


def with_mentions(
    abstracts: Sequence[Abstract], mentions: Mapping[tuple[str, str], Sequence[Mention]]
) -> list[Abstract]:
    """The abstracts with names by corpus and PubMed id, without those that are not looked up."""
    task = Identifiers()
    return [
        _with(
            one, [name for name in mentions[one.corpus, one.id] if task.accepts_label(name.label)]
        )
        for one in abstracts
    ]


def with_given_names(abstracts: Sequence[Abstract]) -> list[Abstract]:
    """The abstracts with the genes that annotators marked, without families and domains."""
    return [
        _with(
            one,
            [Mention(g.start, g.end, "Gene") for g in one.gold if g.label in GENE_LABELS],
        )
        for one in abstracts
    ]


def _with(one: Abstract, names: Sequence[Mention]) -> Abstract:
    return Abstract(one.corpus, one.id, one.text, one.gold, names)


def usage_by_document(abstracts: Iterable[Abstract], tables: Gazetteer) -> dict[str, Usage]:
    """What each key means in each document, by PubMed id: {id: {key: {concept: 1}}}.

    A recognised name that annotators did not touch, or that is a domain, means no gene.
    """
    concepts = _concepts(tables)
    found: dict[str, Usage] = defaultdict(lambda: defaultdict(dict))
    for one in abstracts:
        uses = found[one.id]
        for name in one.gold:
            use = uses[make_key(one.text[name.start : name.end])]
            if name.label in GENE_LABELS:
                use |= {concepts[i]: 1 for i in name.identifiers if i in concepts}
            else:
                use[FAMILY_USE if name.label == FAMILY_LABEL else NO_GENE_USE] = 1
        for mention in one.names:
            if not _overlapping(one, mention):
                uses[make_key(one.text[mention.start : mention.end])][NO_GENE_USE] = 1
    return {number: {k: dict(v) for k, v in uses.items()} for number, uses in found.items()}


def _concepts(tables: Gazetteer) -> dict[str, int]:
    rows = np.flatnonzero(tables.number >= 0)
    is_ncbi = tables.prefix[rows] == tables.prefixes.index("ncbigene")
    return {f"ncbigene:{tables.number[row]}": int(tables.concept[row]) for row in rows[is_ncbi]}


def sum_usage(documents: Iterable[Usage]) -> dict[int, dict[int, int]]:
    """The documents of each hashed key and meaning, as ``Gazetteer.usage`` holds them."""
    total: dict[int, Counter[int]] = defaultdict(Counter)
    for uses in documents:
        for key, use in uses.items():
            total[hash_key(key)[0]].update(use)
    return {code: dict(counts) for code, counts in total.items()}


def _overlapping(one: Abstract, mention: Mention) -> list[Gold]:
    return [name for name in one.gold if name.start < mention.end and mention.start < name.end]


def tables_of(
    abstracts: Iterable[Abstract], lookup: GeneLookup, own: Mapping[str, Usage]
) -> Iterator[CandidateTable]:
    """Yield the candidates of each abstract, without what its own answers added to the usage.

    ``own`` has the usage to leave out by PubMed id; a document without an entry keeps all.
    """
    for one in abstracts:
        names = [one.text[m.start : m.end] for m in one.names]
        context = TextContext.from_text(one.text, names, lookup, ())
        yield build_candidate_table(context, one.text, one.names, own.get(one.id))


def label_rows(one: Abstract, table: CandidateTable) -> NDArray[np.float64]:
    """1 for genes that the abstract has, else 0; NaN where the corpus does not say.

    A family is right where annotators marked a mention of the name as one.
    """
    is_family: dict[int, bool] = defaultdict(bool)
    for number, _, name in table.queries:
        marked = _overlapping(one, one.names[number])
        labels = {gold.label for gold in marked}
        is_family[name] |= labels == {FAMILY_LABEL}
    identifiers = one.identifiers
    labels = np.zeros(len(table.genes))
    for name, rows in enumerate(table.rows_of_name):
        for row in rows:
            identifier = table.genes[row].identifier
            if identifier.startswith("fplx:"):
                labels[row] = np.nan if one.corpus in WITHOUT_FAMILIES else is_family[name]
            elif not identifier.startswith("ncbigene:"):
                labels[row] = np.nan
            else:
                labels[row] = identifier in identifiers
    return labels


def label_query(one: Abstract, number: int, identifiers: Sequence[str]) -> list[float]:
    """Whether each gene is right for the mention ``number``; NaN where the corpus does not say."""
    marked = _overlapping(one, one.names[number])
    right = {i for gold in marked for i in gold.identifiers}
    is_family = {gold.label for gold in marked} == {FAMILY_LABEL}
    labels = []
    for identifier in identifiers:
        if identifier.startswith("fplx:"):
            labels.append(np.nan if one.corpus in WITHOUT_FAMILIES else float(is_family))
        elif identifier.startswith("ncbigene:"):
            labels.append(float(identifier in right))
        else:
            labels.append(np.nan)
    return labels
