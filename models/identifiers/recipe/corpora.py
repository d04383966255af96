"""Read annotated abstracts, and label their candidate genes for training."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    """Annotated name with its characters, label and gene identifiers."""

    start: int
    end: int
    label: str
    identifiers: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Abstract:
    """Annotated abstract; ``names`` are the names whose genes are looked up."""

    corpus: str
    id: str
    text: str
    gold: Sequence[Gold]
    names: Sequence[Mention] = field(default=())

    @property
    def identifiers(self) -> frozenset[str]:
        """Identifiers of all annotated genes of the abstract."""
        return frozenset(i for name in self.gold for i in name.identifiers)

    def fold(self, n_folds: int) -> int:
        """Return the fold of the abstract, which is the same in all corpora that have it."""
        return zlib.crc32(self.id.encode()) % n_folds


def read_abstracts(corpus: str, file: Path) -> Iterator[Abstract]:
    """Yield the abstracts of a packed PubTator file with names of genes, families and domains.

    Offsets are not checked against the text.
    """
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        blocks = lines.read().split("\n\n")
    for block in blocks:
        title, *rest = block.strip("\n").split("\n")
        if not rest:
            continue
        number, _, title_text = title.split("|", 2)
        text = f"{title_text}\n{rest[0].split('|', 2)[2]}"
        rows = (line.split("\t") for line in rest[1:])
        gold = [_parse_gold(row) for row in rows if len(row) > 4 and row[1].isdigit()]
        wanted = (*GENE_LABELS, FAMILY_LABEL, DOMAIN_LABEL)
        yield Abstract(corpus, number, text, [name for name in gold if name.label in wanted])


def _parse_gold(row: Sequence[str]) -> Gold:
    """Return the annotated name of a row; identifiers are the numbers outside brackets."""
    start, end, label = int(row[1]), int(row[2]), row[4]
    numbers: list[str] = []
    if len(row) > 5 and label in GENE_LABELS:
        numbers = re.findall(r"(?<![\d(:])\d{1,10}(?!\d)", re.sub(r"\(.*?\)", "", row[5]))
    return Gold(start, end, label, tuple(f"ncbigene:{number}" for number in numbers))


def with_mentions(
    abstracts: Sequence[Abstract], mentions: Mapping[tuple[str, str], Sequence[Mention]]
) -> list[Abstract]:
    """Return copies of the abstracts with those of ``mentions`` whose label is looked up.

    Keys of ``mentions`` are (corpus, PubMed id); each abstract needs an entry.
    """
    task = Identifiers()
    return [
        replace(
            one,
            names=[name for name in mentions[one.corpus, one.id] if task.accepts_label(name.label)],
        )
        for one in abstracts
    ]


def with_given_names(abstracts: Sequence[Abstract]) -> list[Abstract]:
    """Return copies of the abstracts whose names are the annotated genes.

    Families and domains are left out.
    """
    return [
        replace(
            one,
            names=[Mention(g.start, g.end, "Gene") for g in one.gold if g.label in GENE_LABELS],
        )
        for one in abstracts
    ]


def usage_by_document(abstracts: Iterable[Abstract], tables: Gazetteer) -> dict[str, Usage]:
    """Return what each key means in each document: {PubMed id: {key: {concept: 1}}}.

    A domain, and a name in ``Abstract.names`` that overlaps no annotation, means NO_GENE_USE.
    """
    concepts = _concepts_by_identifier(tables)
    usage: dict[str, Usage] = defaultdict(lambda: defaultdict(dict))
    for one in abstracts:
        uses = usage[one.id]
        for name in one.gold:
            use = uses[make_key(one.text[name.start : name.end])]
            if name.label in GENE_LABELS:
                use |= {concepts[i]: 1 for i in name.identifiers if i in concepts}
            else:
                use[FAMILY_USE if name.label == FAMILY_LABEL else NO_GENE_USE] = 1
        for mention in one.names:
            if not _overlapping(one, mention):
                uses[make_key(one.text[mention.start : mention.end])][NO_GENE_USE] = 1
    return {number: {k: dict(v) for k, v in uses.items()} for number, uses in usage.items()}


def _concepts_by_identifier(tables: Gazetteer) -> dict[str, int]:
    """Return the concept of each gene with an NCBI identifier."""
    rows = np.flatnonzero(tables.number >= 0)
    is_ncbi = tables.prefix[rows] == tables.prefixes.index("ncbigene")
    return {f"ncbigene:{tables.number[row]}": int(tables.concept[row]) for row in rows[is_ncbi]}


def sum_usage(documents: Iterable[Usage]) -> dict[int, dict[int, int]]:
    """Return in how many documents each hashed key had each meaning, as in ``Gazetteer.usage``."""
    total: dict[int, Counter[int]] = defaultdict(Counter)
    for uses in documents:
        for key, use in uses.items():
            total[hash_key(key)[0]].update(use)
    return {code: dict(counts) for code, counts in total.items()}


def _overlapping(one: Abstract, mention: Mention) -> list[Gold]:
    """Return the annotated names that share a character with a mention."""
    return [name for name in one.gold if name.start < mention.end and mention.start < name.end]


def tables_of(
    abstracts: Iterable[Abstract], lookup: GeneLookup, own: Mapping[str, Usage]
) -> Iterator[CandidateTable]:
    """Yield the candidate table of each abstract.

    ``own`` has by PubMed id the usage that this document added to the gazetteer, which is
    subtracted so that it does not see its own answers; a document without an entry subtracts
    nothing.
    """
    for one in abstracts:
        names = [one.text[m.start : m.end] for m in one.names]
        context = TextContext.from_text(one.text, names, lookup, ())
        yield build_candidate_table(context, one.text, one.names, own.get(one.id))


def label_rows(one: Abstract, table: CandidateTable) -> NDArray[np.float64]:
    """Return a label for each row of a candidate table: 1 correct, 0 wrong, NaN unknown.

    A gene is correct if the abstract has it anywhere. A family is correct if a mention of its name
    overlaps annotated families only. Families of WITHOUT_FAMILIES are unknown, as are identifiers
    of other databases.
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
    """Return a label for each identifier as the answer to a mention: 1, 0 or NaN (unknown).

    A gene is correct if an annotated name that overlaps the mention has it. ``number`` is the index
    of the mention in ``one.names``.
    """
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
