"""Identifiers: which gene, family or complex a name stands for, or none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from textrank.candidates import Candidate, document_id, identifiers_of, named_spans
from textrank.features import Vector
from textrank.io import shipped_folder
from textrank.metrics import merge_ties
from textrank.tasks.base import Scored, WithoutReasons
from textrank.tasks.identifiers.features import Option, Surroundings, options, parts_of
from textrank.tasks.identifiers.gazetteer import Gene, GeneTables, Lookup, read_own

if not Doc.has_extension("textrank_identifiers"):
    Doc.set_extension("textrank_identifiers", default=None)
SHIPPED = "identifiers"
NONE = ""  # the identifier of a candidate that stands for none
# What labels of gene names hold, in corpora and in pipelines of others.
GENE_WORDS = ("gene", "protein", "ggp", "dna", "rna", "complex", "family")
LIKELY = 0.01  # less probable meanings are not listed


@dataclass(frozen=True)
class Identifiers(WithoutReasons):
    """A candidate for every gene or family that a name may stand for, and one for none of them.

    Ranked together are the meanings of one name. A candidate's first span has the identifier as
    ``kb_id_``. Gold is what a reader gave, see ``identifiers_of``.

    Parameters
    ----------
    entities
        The span group with the names.
    labels
        Only names with these labels are looked up; where empty, those whose label is missing or
        speaks of genes or proteins.
    species
        Only genes of these species, as numbers of NCBI's taxonomy, are considered; all where empty.
    tables
        Gene tables by the folder they are in; the shipped ones where empty.
    own
        Files with tables of a user's own, see ``read_own``; added to the others.
    temperature
        What scores are multiplied with before they become probabilities.
    overwrite
        Whether identifiers that names already have are replaced.
    """

    entities: str = "entities"
    labels: Sequence[str] = ()
    species: Sequence[int] = ()
    tables: str = ""
    own: Sequence[str] = ()
    temperature: float = 1.0
    overwrite: bool = False
    name: ClassVar[str] = "identifiers"
    reads: ClassVar[tuple[str, ...] | None] = ()  # of the analysis: words are enough
    recognises: ClassVar[tuple[str, ...]] = ("genes",)
    ranks: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for key in ("labels", "species", "own"):
            object.__setattr__(self, key, tuple(getattr(self, key)))
        if self.temperature <= 0:
            raise ValueError(f"temperature must be positive, got {self.temperature}")

    @property
    def lookup(self) -> Lookup:
        """The tables, read when they are first needed."""
        return _lookup(self.tables, tuple(self.own))

    def names(self, doc: Doc) -> list[Span]:
        """The names to look up, in text order."""
        return [span for span in named_spans(doc, self.entities) if self._asked(span.label_)]

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Every meaning of every name; those of the names in a list (ERK1/2) are ranked apart."""
        spans = self.names(doc)
        lookup = self.lookup
        whole = doc.text
        names = [whole[span.start_char : span.end_char] for span in spans]
        around = Surroundings.of(whole, names, lookup, self.species)
        gold = self._gold(doc)
        found: list[Candidate] = []
        known: dict[tuple[str, int], list[Option]] = {}
        for number, (span, name) in enumerate(zip(spans, names, strict=True)):
            right = None if gold is None else gold[number]
            near = around.near(span.start_char, span.end_char, name)
            for part, text in enumerate((name, *parts_of(name, lookup))):
                if (text, near) not in known:
                    known[text, near] = options(text, near, around)
                query = f"{number}.{part}"
                found += _candidates(known[text, near], span, query, right, lookup.knows)
        return found

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Names with identifiers of which none is among their candidates."""
        reached = {
            int(candidate.query.partition(".")[0])
            for candidate in candidates
            if candidate.label == 1.0 and candidate.spans[0].kb_id_
        }
        gold = self._gold(doc) or []
        return sum(bool(own) and number not in reached for number, own in enumerate(gold))

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """None that means anything: the meanings of a name are compared with each other."""
        return 0.0

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Sets ``span.kb_id_`` of each name, and ``doc._.textrank_identifiers``, in text order.

        A row has ``name``, ``span`` (characters), ``identifier`` (a CURIE, or None), its
        ``probability``, ``species`` (taxon), ``symbol``, ``hgnc``, ``uniprot``, ``alternatives``
        (less probable meanings) and ``parts``, the rows of the names in a list. The identifier of
        a list is that of the family where one is meant, else of its first part.
        """
        candidates, scores = scored.candidates, scored.scores.tolist()
        lookup = self.lookup
        rows: list[dict[str, Any]] = []
        grouped = _by_name(candidates)
        for number, span in enumerate(self.names(doc)):
            name, place = span.text, (span.start_char, span.end_char)
            first, *parts = [
                self._row(text, place, candidates[own], scores[own], lookup)
                for own, text in zip(
                    grouped.get(number, ()), (name, *parts_of(name, lookup)), strict=True
                )
            ]
            row = first if first["identifier"] or not parts else {**parts[0], "name": name}
            row = {**row, "parts": parts}
            if span.kb_id_ and not self.overwrite:
                row = {**row, "identifier": span.kb_id_}
            rows.append(row)
        self._set(doc, rows)
        doc._.textrank_identifiers = rows
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Shares of names and of documents' identifiers, see ``identifier_measures``."""
        gold = self._gold_of(scored.candidates)
        return identifier_measures(scored.candidates, scored.scores, gold, self.lookup.knows)

    def _gold(self, doc: Doc) -> list[frozenset[str]] | None:
        """The right identifiers of each name; None where nothing is known of any."""
        gold = identifiers_of(doc)
        if gold is None:
            return None
        return [frozenset(gold.get(span.id_, ())) for span in self.names(doc)]

    def _gold_of(self, candidates: Sequence[Candidate]) -> dict[str, list[frozenset[str]]]:
        docs = {candidate.document: candidate.doc for candidate in candidates}
        return {document: self._gold(doc) or [] for document, doc in docs.items()}

    def _asked(self, label: str) -> bool:
        if self.labels:
            return label in self.labels
        return _speaks_of_genes(label)

    def _row(
        self,
        name: str,
        place: tuple[int, int],
        own: Sequence[Candidate],
        scores: Sequence[float],
        lookup: Lookup,
    ) -> dict[str, Any]:
        """What is shown of a name, given its meanings with their scores.

        In plain numbers: of the few meanings that a name has, arrays take longer to make.
        """
        highest = max(scores)
        weights = [math.exp(self.temperature * (score - highest)) for score in scores]
        total = sum(weights)
        order = sorted(range(len(own)), key=weights.__getitem__, reverse=True)
        likely = [i for i in order if weights[i] / total >= LIKELY or i == order[0]]
        first, *others = [_shown(_gene(own[i], lookup), weights[i] / total) for i in likely]
        best = first["identifier"]
        alternatives = [other for other in others if other["identifier"] not in (None, best)]
        row = {"name": name, "span": list(place), **first}
        return {**row, "alternatives": alternatives, "parts": []}

    def _set(self, doc: Doc, rows: Sequence[Mapping[str, Any]]) -> None:
        """Writes the identifiers into the spans of the group, whose order stays."""
        found = {tuple(row["span"]): row["identifier"] or "" for row in rows}
        group = doc.spans[self.entities]
        spans = []
        for span in group:
            place = (span.start_char, span.end_char)
            if place in found and self._asked(span.label_) and (self.overwrite or not span.kb_id_):
                span = Span(
                    doc, span.start, span.end, span.label, kb_id=found[place], span_id=span.id
                )
            spans.append(span)
        doc.spans[self.entities] = SpanGroup(doc, name=group.name, attrs=group.attrs, spans=spans)


@lru_cache(maxsize=1 << 8)
def _speaks_of_genes(label: str) -> bool:
    return not label or any(word in label.lower() for word in GENE_WORDS)


def _candidates(
    own: Sequence[Option], span: Span, query: str, right: frozenset[str] | None, knows: Known
) -> Iterator[Candidate]:
    """A candidate for each meaning; none is right where the tables lack what is."""
    doc, document = span.doc, document_id(span.doc)
    none = right is not None and not any(map(knows, right))
    start, end, kind = span.start, span.end, span.label
    for option in own:
        identifier = option.gene.identifier if option.gene else NONE
        label = None
        if right is not None:
            label = 1.0 if (identifier in right if identifier else none) else -1.0
        focus = Span(doc, start, end, label=kind, kb_id=identifier)
        yield Candidate(doc, (focus,), document, query, label, option.facts)


def _by_name(candidates: Sequence[Candidate]) -> dict[int, list[slice]]:
    """Which candidates are those of each name: of the whole first, then of its parts."""
    found: dict[int, list[slice]] = {}
    end = 0
    for query, run in groupby(map(attrgetter("query"), candidates)):
        start, end = end, end + sum(1 for _ in run)
        found.setdefault(int(query.partition(".")[0]), []).append(slice(start, end))
    return found


def _gene(candidate: Candidate, lookup: Lookup) -> Gene | None:
    identifier = candidate.spans[0].kb_id_
    return lookup.gene(identifier) if identifier else None


def _shown(gene: Gene | None, probability: float) -> dict[str, Any]:
    return {
        "identifier": gene.identifier if gene else None,
        "probability": probability,
        "species": (gene.taxon or None) if gene else None,
        "symbol": gene.symbol if gene else None,
        "hgnc": f"HGNC:{gene.hgnc}" if gene and gene.hgnc else None,
        "uniprot": (gene.uniprot or None) if gene else None,
    }


@lru_cache(maxsize=8)
def _lookup(tables: str, own: tuple[str, ...]) -> Lookup:
    folder = Path(tables) if tables else shipped_folder("models") / SHIPPED
    return Lookup((GeneTables.from_disk(folder), *map(read_own, own)))


Known = Callable[[str], bool]


@dataclass(frozen=True)
class Answer:
    """What was said of one name, and what would have been right."""

    document: str
    first: str  # the identifier ranked first among those there are; empty: there is none
    decided: frozenset[str]  # those that were given, with those of the names in a list
    reachable: bool
    gold: frozenset[str]


def identifier_measures(
    candidates: Sequence[Candidate],
    scores: Vector,
    gold: Mapping[str, Sequence[frozenset[str]]],
    known: Known,
) -> dict[str, float | None]:
    """Shares of names and of documents' identifiers that are right.

    ``gold`` has the right identifiers of each document, a set a name; ``known`` says whether the
    tables have an identifier. ``first`` is the share of names whose right identifier is ranked
    first, among names of which the tables have it; ``first_of_all`` is over all names,
    ``reachable`` the share with it among the candidates. Precision, recall and F are those of the
    decisions, with none as an answer. ``document_`` measures compare the sets of identifiers of
    whole documents over identifiers that the tables have, ``document_f_of_all`` over all.
    A name with several right identifiers is right with any of them.
    """
    answers = answers_of(candidates, scores, gold)
    covered = [a for a in answers if any(map(known, a.gold))]
    identified = [a for a in answers if a.gold]
    given = [a for a in answers if a.decided]
    right = sum(bool(a.decided & a.gold) for a in given)
    return {
        "first": _share(sum(a.first in a.gold for a in covered), len(covered)),
        "first_of_all": _share(sum(a.first in a.gold for a in identified), len(identified)),
        "reachable": _share(sum(a.reachable for a in covered), len(covered)),
        **_prf("", right, len(given), len(covered)),
        **document_measures(document_sets(answers), _gold_sets(gold), known),
    }


def document_measures(
    found: Mapping[str, frozenset[str]], gold: Mapping[str, frozenset[str]], known: Known
) -> dict[str, float | None]:
    """Precision, recall and F of the gene identifiers of documents, summed over documents.

    Families are left out: what a corpus of genes calls them differs.
    """
    right = sum(len(found.get(document, frozenset()) & own) for document, own in gold.items())
    said = sum(map(len, found.values()))
    covered = sum(sum(map(known, own)) for own in gold.values())
    every = sum(map(len, gold.values()))
    return {
        **_prf("document_", right, said, covered),
        "document_f_of_all": _share(2 * right, said + every),
    }


def answers_of(
    candidates: Sequence[Candidate],
    scores: Vector,
    gold: Mapping[str, Sequence[frozenset[str]]],
) -> list[Answer]:
    """What was said of each name."""
    grouped: dict[tuple[str, int], dict[str, list[int]]] = {}
    for i, candidate in enumerate(candidates):
        name = int(candidate.query.partition(".")[0])
        queries = grouped.setdefault((candidate.document, name), {})
        queries.setdefault(candidate.query, []).append(i)
    return [
        _answer(document, list(own.values()), candidates, scores, gold[document][name])
        for (document, name), own in grouped.items()
    ]


def _answer(
    document: str,
    queries: Sequence[Sequence[int]],
    candidates: Sequence[Candidate],
    scores: Vector,
    gold: frozenset[str],
) -> Answer:
    best, decided = [], []
    reachable = False
    for rows in queries:
        ids = [candidates[i].spans[0].kb_id_ for i in rows]
        order = np.argsort(-merge_ties(scores[list(rows)]), kind="stable")
        best.append(next((ids[i] for i in order if ids[i]), ""))
        decided.append(ids[order[0]])
        reachable = reachable or bool(gold.intersection(ids))
    first = next(filter(None, best), "")
    return Answer(document, first, frozenset(filter(None, decided)), reachable, gold)


def document_sets(answers: Sequence[Answer]) -> dict[str, frozenset[str]]:
    """The genes that each document was said to speak of."""
    found: dict[str, frozenset[str]] = {}
    for answer in answers:
        genes = {one for one in answer.decided if not one.startswith("fplx:")}
        found[answer.document] = found.get(answer.document, frozenset()) | genes
    return found


def _gold_sets(gold: Mapping[str, Sequence[frozenset[str]]]) -> dict[str, frozenset[str]]:
    return {document: frozenset().union(*own) for document, own in gold.items()}


def _prf(prefix: str, right: int, said: int, wanted: int) -> dict[str, float | None]:
    return {
        f"{prefix}precision": _share(right, said),
        f"{prefix}recall": _share(right, wanted),
        f"{prefix}f": _share(2 * right, said + wanted),
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
