"""Task ``identifiers``: link each gene name to a database identifier (gene normalisation).

``Identifiers`` generates the candidate genes of each name, writes the best ones to the Doc, and
computes metrics. Candidates come from ``textrank.tasks.identifiers.candidate_table``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import expit
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import filter_spans

from textrank.candidates import (
    Candidate,
    FactRow,
    document_id,
    entity_spans,
    gold_identifiers,
)
from textrank.features import Vector
from textrank.io import shipped_folder
from textrank.language.name_kinds import FAMILY, GENE, recognised_label
from textrank.metrics import merge_ties
from textrank.protocols import Task
from textrank.tasks.base import Scored
from textrank.tasks.identifiers.candidate_table import (
    COLUMNS,
    SPECIES_GROUPS,
    CandidateTable,
    Mention,
    build_candidate_table,
    score_first_stage,
)
from textrank.tasks.identifiers.features import TextContext, split_list, trim_modifiers
from textrank.tasks.identifiers.gazetteer import (
    Gazetteer,
    Gene,
    GeneLookup,
    NameKind,
    read_gazetteer_tsv,
)


def _find_row(span: Span) -> dict[str, Any] | None:
    """Return the row of ``doc._.textrank_identifiers`` of a span's characters; None without one.

    The row is a shallow copy; of several with the same characters the first.
    """
    for row in span.doc._.textrank_identifiers or ():
        if row["span"] == [span.start_char, span.end_char]:
            return dict(row)
    return None


if not Doc.has_extension("textrank_identifiers"):
    Doc.set_extension("textrank_identifiers", default=None)
if not Span.has_extension("textrank_identifier"):
    Span.set_extension("textrank_identifier", getter=_find_row)
SHIPPED_MODEL = "identifiers"
PROTEIN_LABEL = "protein"
REPLACED_LABELS = (PROTEIN_LABEL, "DNA", "RNA")  # of entities that names of the group replace
NO_IDENTIFIER = ""  # of the candidate "no gene"
FAMILY_PREFIX = "fplx:"  # of the identifiers of families and complexes
# Substrings of entity labels for genes, in corpora and in other pipelines.
GENE_LABEL_WORDS = ("gene", "protein", "ggp", "dna", "rna", "complex", "family")
MIN_PROBABILITY = 0.01  # of an alternative that is listed
HasIdentifier = Callable[[str], bool]


@dataclass(frozen=True)
class Identifiers(Task):
    """Task of linking gene names to identifiers by ranking candidate genes.

    A name has one candidate per gene or family that it may mean, and one for "no gene". The
    candidates of one name form a query (``"number.0"``) and are ranked against each other; the
    items of a list such as ERK1/2 form queries of their own (``"number.1"``, ...). A candidate's
    first span has the identifier as ``kb_id_``. Gold identifiers are those of
    ``textrank.candidates.gold_identifiers``.

    Parameters
    ----------
    entities
        Span group that contains the names.
    labels
        Labels of the names to look up. If empty, names without a label or with a label that
        contains one of ``GENE_LABEL_WORDS``.
    species
        NCBI taxonomy numbers of the species to consider; if empty, all.
    tables
        Folder of the gazetteer; if empty, the shipped one.
    own
        TSV files with gazetteers to add, see ``read_gazetteer_tsv``.
    temperature
        Factor of the scores in the logistic function that gives probabilities if the model is not
        calibrated; must be positive.
    overwrite
        Whether to replace identifiers that names already have.
    """

    entities: str = "entities"
    labels: Sequence[str] = ()
    species: Sequence[int] = ()
    tables: str = ""
    own: Sequence[str] = ()
    temperature: float = 1.0
    overwrite: bool = False
    name: ClassVar[str] = "identifiers"
    file_settings: ClassVar[Mapping[str, Sequence[Any]]] = {"tables": ("",), "own": ([],)}
    required_pipes: ClassVar[tuple[str, ...] | None] = ()  # tokens are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ("kinds",)
    is_ranking: ClassVar[bool] = True
    raw_text_unit: ClassVar[Literal["pairs", "documents"] | None] = "documents"

    def __post_init__(self) -> None:
        """Convert sequences to tuples; raise ValueError unless the temperature is positive."""
        for key in ("labels", "species", "own"):
            object.__setattr__(self, key, tuple(getattr(self, key)))
        if self.temperature <= 0:
            raise ValueError(f"temperature must be positive, got {self.temperature}")

    @property
    def lookup(self) -> GeneLookup:
        """Return the gazetteers; loaded on first use and shared by equal tasks."""
        return _load_lookup(self.tables, tuple(self.own))

    def find_names(self, doc: Doc) -> list[Span]:
        """Return the spans of ``entities`` with an accepted label, in text order.

        The index of a name in this list is its number in queries.
        """
        return [
            span for span in entity_spans(doc, self.entities) if self.accepts_label(span.label_)
        ]

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return the candidates of every name, and of every item of lists such as ERK1/2.

        Candidates are in text order of the names; those of one query are consecutive, "no gene"
        last. Labels are 1 (correct) or -1, or None if the Doc has no gold standard. A list item is
        correct with any gold identifier of its name; "no gene" is correct if the gazetteer has none
        of them.
        """
        spans = self.find_names(doc)
        if not spans:
            return []
        table = self.build_table(doc, spans)
        ranked = table.rank(score_first_stage(table, self.lookup), self.lookup.trees)
        gold = self._gold_of_names(doc)
        has_identifier = self.lookup.has_identifier
        candidates: list[Candidate] = []
        for (number, item, _), rows, genes in zip(
            table.queries, ranked.rows_of_query, ranked.genes_of_query, strict=True
        ):
            candidates += _make_candidates(
                genes,
                [FactRow(COLUMNS, ranked.columns[row]) for row in rows],
                spans[number],
                f"{number}.{item}",
                None if gold is None else gold[number],
                has_identifier,
            )
        return candidates

    def build_table(
        self,
        doc: Doc,
        spans: Sequence[Span],
        own_usage: Mapping[str, Mapping[int, int]] | None = None,
    ) -> CandidateTable:
        """Return the candidates of the names ``spans`` of a Doc, before the first stage.

        The number of a name is its index in ``spans``. Its label may be any; the one used is that
        of the recogniser (``recognised_label``), even if linking has changed it since.
        ``own_usage`` is what this document added to the usage counts (key -> concept ->
        documents) and is subtracted; None subtracts nothing.
        """
        text = doc.text
        # A name that was linked before may have another label now.
        mentions = [
            Mention(span.start_char, span.end_char, recognised_label(span)) for span in spans
        ]
        names = [text[mention.start : mention.end] for mention in mentions]
        context = TextContext.from_text(text, names, self.lookup, self.species)
        return build_candidate_table(context, text, mentions, own_usage)

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return how many names with gold identifiers have none of them among their candidates.

        A candidate of a list item counts for its name; "no gene" does not. ``candidates`` are those
        of the Doc, with labels. 0 without a gold standard.
        """
        reached = {
            int(candidate.query.partition(".")[0])
            for candidate in candidates
            if candidate.label == 1.0 and candidate.spans[0].kb_id_
        }
        gold = self._gold_of_names(doc) or []
        return sum(
            bool(identifiers) and number not in reached for number, identifiers in enumerate(gold)
        )

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Return 0: candidates are compared with each other, not with a threshold."""
        return 0.0

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Set ``span.kb_id_`` of each name and ``doc._.textrank_identifiers``, in place.

        Returns the Doc. ``scored`` must hold all candidates of the Doc, in the order of
        ``candidates``. Identifiers are written to the spans of the group ``entities``; the longest
        names that do not overlap become entities (``doc.ents``), see ``_set_identifiers``. The
        extension holds one row per name, in text order: ``name``, ``span`` (character offsets),
        ``identifier`` (a CURIE, or None for "no gene"), its ``probability``,
        ``species`` (taxon), ``symbol``, ``hgnc``, ``uniprot``, ``alternatives`` (other genes, the
        most probable first, of at least ``MIN_PROBABILITY``; the first is the runner-up) and
        ``parts`` (rows of the items of a list). ``span._.textrank_identifier`` is the row of a
        span. Each candidate has a probability of its own, since a name may mean genes of two
        species; that of None is that no candidate is right. A name of a family that no gene has as
        symbol or full name (ERK, NF-kB) gets the family unless a gene has a probability of at least
        ``MIN_MEMBER_PROBABILITY``; the gene is then the runner-up. Another gene than the best one
        is given where the rest of the text speaks for it (``_find_other_gene``). The identifier of
        a list is that of its family if that is the best candidate, else that of its first item. A
        name that has an identifier keeps it unless ``overwrite`` is set; the other values of its
        row are still those of the predicted gene. Raises ValueError if the candidates do not fit
        the names of the Doc.
        """
        candidates, scores = scored.candidates, scored.scores.tolist()
        if scored.probabilities is None:
            probabilities = expit(self.temperature * scored.scores).tolist()
        else:
            probabilities = scored.probabilities.tolist()
        lookup = self.lookup
        rows: list[dict[str, Any]] = []
        slices_by_name = _group_by_name(candidates)
        for number, span in enumerate(self.find_names(doc)):
            name, offsets = span.text, (span.start_char, span.end_char)
            items = split_list(trim_modifiers(name, lookup), lookup)
            first, *parts = [
                _make_row(
                    text,
                    offsets,
                    candidates[rows_of_query],
                    scores[rows_of_query],
                    probabilities[rows_of_query],
                    lookup,
                    is_list=bool(items) and text == name,
                )
                for rows_of_query, text in zip(
                    slices_by_name.get(number, ()), (name, *items), strict=True
                )
            ]
            row = first if first["identifier"] or not parts else {**parts[0], "name": name}
            row = {**row, "parts": parts}
            if span.kb_id_ and not self.overwrite:
                row = {**row, "identifier": span.kb_id_}
            rows.append(row)
        self._set_identifiers(doc, rows)
        doc._.textrank_identifiers = rows
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Return the metrics of names, of species, and ``family_as_gene`` and ``domain_as_gene``.

        Keys: ``first``, ``first_of_all``, ``reachable``, ``precision``, ``recall``, ``f`` (of
        names), ``document_precision``, ``document_recall``, ``document_f``, ``document_f_of_all``
        (of the sets of identifiers of documents), ``document_f_<species>``; None if undefined. They
        are of the highest score of each query, without the rules by which ``annotate`` prefers
        families and other genes. All documents of the candidates must have a gold standard; else
        IndexError is raised.
        """
        gold = self._gold_by_document(scored.candidates)
        decisions = collect_decisions(scored.candidates, scored.scores, gold)
        predicted = identifiers_by_document(decisions)
        docs = list({c.document: c.doc for c in scored.candidates}.values())
        mentions = compute_mention_metrics(
            self._predicted_mentions(decisions, docs), self._gold_mentions(docs)
        )
        return {
            **compute_name_metrics(
                scored.candidates, scored.scores, gold, self.lookup.has_identifier
            ),
            **compute_species_metrics(predicted, _gold_by_document(gold), self.lookup.find_taxon),
            **{key: mentions[key] for key in ("family_as_gene", "domain_as_gene")},
        }

    def document_metrics(
        self,
        candidates: Sequence[Candidate],
        scores: Vector,
        raw_docs: Sequence[Doc],
        gold_docs: Sequence[Doc],
    ) -> tuple[dict[str, float | None], int, int]:
        """Return metrics per document, the number of gold identifiers, and how many are covered.

        An identifier is correct if the gold standard has it anywhere in the same document. Covered
        are gold identifiers that the gazetteer has. Predicted is the candidate of the highest score
        of each query, without the rules by which ``annotate`` prefers families and other genes, and
        without families: corpora give a family the identifier of a member, or none.

        Parameters
        ----------
        candidates, scores
            Candidates of ``raw_docs`` and their scores.
        raw_docs
            Docs whose names were found by the pipeline.
        gold_docs
            The same documents with gold identifiers; documents are matched by ``document_id``.

        Returns
        -------
        tuple
            Dict with ``document_precision``, ``document_recall``, ``document_f``,
            ``document_f_of_all``, ``document_f_<species>``, ``mention_precision``,
            ``mention_recall``, ``mention_f``, ``family_as_gene`` and ``domain_as_gene`` (None if
            undefined); number of gold identifiers (each once per document); number of covered ones.
        """
        no_gold = {
            document_id(doc): [frozenset[str]()] * len(self.find_names(doc)) for doc in raw_docs
        }
        decisions = collect_decisions(candidates, scores, no_gold)
        predicted = identifiers_by_document(decisions)
        gold = {
            document_id(doc): frozenset().union(*(gold_identifiers(doc) or {}).values())
            for doc in gold_docs
        }
        has_identifier = self.lookup.has_identifier
        n_covered = sum(sum(map(has_identifier, ids)) for ids in gold.values())
        find_taxon = self.lookup.find_taxon
        metrics = {
            **compute_document_metrics(predicted, gold, has_identifier),
            **compute_species_metrics(predicted, gold, find_taxon),
            **compute_mention_metrics(
                self._predicted_mentions(decisions, raw_docs), self._gold_mentions(gold_docs)
            ),
        }
        return metrics, sum(map(len, gold.values())), n_covered

    def _predicted_mentions(
        self, decisions: Sequence[NameDecision], docs: Sequence[Doc]
    ) -> dict[str, list[MentionIdentifiers]]:
        """Return the names of each document with their predicted genes, without families.

        ``docs`` must have the document of each decision, else KeyError. Names without a decision
        are missing; documents without any have an empty list.
        """
        spans = {document_id(doc): self.find_names(doc) for doc in docs}
        mentions: dict[str, list[MentionIdentifiers]] = {document: [] for document in spans}
        for decision in decisions:
            span = spans[decision.document][decision.number]
            genes = frozenset(i for i in decision.predicted if not i.startswith(FAMILY_PREFIX))
            mentions[decision.document].append(
                MentionIdentifiers(span.start_char, span.end_char, span.label_, genes)
            )
        return mentions

    def _gold_mentions(self, docs: Sequence[Doc]) -> dict[str, list[MentionIdentifiers]]:
        """Return the annotated names of each document with their gold identifiers, by document id.

        All spans of ``entities`` count, whatever their label. Gold identifiers are looked up by the
        id of the span; the set is empty without any.
        """
        mentions = {}
        for doc in docs:
            gold = gold_identifiers(doc) or {}
            mentions[document_id(doc)] = [
                MentionIdentifiers(
                    span.start_char, span.end_char, span.label_, frozenset(gold.get(span.id_, ()))
                )
                for span in entity_spans(doc, self.entities)
            ]
        return mentions

    def _gold_of_names(self, doc: Doc) -> list[frozenset[str]] | None:
        """Return the gold identifiers of each name, in the order of ``find_names``.

        Looked up by the id of the span (``span.id_``). An empty set for a name without any, as for
        a span without an id; None if the Doc has no gold standard.
        """
        gold = gold_identifiers(doc)
        if gold is None:
            return None
        return [frozenset(gold.get(span.id_, ())) for span in self.find_names(doc)]

    def _gold_by_document(self, candidates: Sequence[Candidate]) -> dict[str, list[frozenset[str]]]:
        """Map each document of the candidates to the gold identifiers of each of its names.

        An empty list for a document without a gold standard.
        """
        docs = {candidate.document: candidate.doc for candidate in candidates}
        return {document: self._gold_of_names(doc) or [] for document, doc in docs.items()}

    def accepts_label(self, label: str) -> bool:
        """Return whether names with this label are looked up.

        If ``labels`` is set, the label must be one of them. Else it must be empty or contain one of
        GENE_LABEL_WORDS, such as "gene" or "protein", in any case.
        """
        if self.labels:
            return label in self.labels
        return _is_gene_label(label)

    def _set_identifiers(self, doc: Doc, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the identifiers of rows to the group ``entities`` and to ``doc.ents``, in place.

        The group is replaced by one with the same spans in the same order. None is written as "".
        Spans without an accepted label, and those with an identifier unless ``overwrite``, stay as
        they are. A GENE of ``KindRecognizer`` with the identifier of a family becomes a FAMILY. The
        longest spans of the group that do not overlap become entities. They replace
        all proteins of the shipped ``ner`` and the DNA and RNA that they overlap. Other entities
        stay, and names that overlap them or tokens that are blocked do not become entities.
        """
        identifier_of_span = {tuple(row["span"]): row["identifier"] or "" for row in rows}

        def link(span: Span) -> Span:
            """Return ``span`` with the identifier of its row, or unchanged if it must stay.

            It stays without a row, without an accepted label, or with an identifier unless
            ``overwrite``.
            """
            identifier = identifier_of_span.get((span.start_char, span.end_char))
            if (
                identifier is None
                or not self.accepts_label(span.label_)
                or (span.kb_id_ and not self.overwrite)
            ):
                return span
            label = FAMILY if _is_relabelled(span, identifier) else span.label
            return Span(doc, span.start, span.end, label, kb_id=identifier, span_id=span.id)

        group = doc.spans[self.entities]
        spans = [link(span) for span in group]
        doc.spans[self.entities] = SpanGroup(doc, name=group.name, attrs=group.attrs, spans=spans)
        names = filter_spans(spans)
        named = {token for span in names for token in range(span.start, span.end)}
        kept = [
            link(ent)
            for ent in doc.ents
            if ent.label_ not in REPLACED_LABELS
            or (ent.label_ != PROTEIN_LABEL and named.isdisjoint(range(ent.start, ent.end)))
        ]
        annotation = doc.to_array([ENT_IOB, ENT_TYPE])
        blocked = np.flatnonzero((annotation[:, 0] == 3) & (annotation[:, 1] == 0)).tolist()
        taken = {token for ent in kept for token in range(ent.start, ent.end)}.union(blocked)
        doc.set_ents(
            [*kept, *(s for s in names if taken.isdisjoint(range(s.start, s.end)))],
            blocked=[doc[token : token + 1] for token in blocked],
            default="outside" if doc.ents else "unmodified",
        )


def _is_relabelled(span: Span, identifier: str) -> bool:
    """Return whether a name that ``KindRecognizer`` labelled GENE got the identifier of a family.

    False for names of other sources, such as an entity ruler, whose labels are the user's.
    """
    return (
        identifier.startswith(FAMILY_PREFIX)
        and span.label_ == GENE
        and span._.textrank_kinds is not None
    )


def _make_row(
    name: str,
    offsets: tuple[int, int],
    candidates: Sequence[Candidate],
    scores: Sequence[float],
    probabilities: Sequence[float],
    lookup: GeneLookup,
    *,
    is_list: bool = False,
) -> dict[str, Any]:
    """Return the row of a name for ``doc._.textrank_identifiers``, given its candidates.

    Keys are ``name``, ``span``, ``identifier``, ``probability``, ``species``, ``symbol``, ``hgnc``,
    ``uniprot``, ``alternatives`` (other genes of at least ``MIN_PROBABILITY``, the best score
    first) and ``parts``, which is left empty. ``scores`` and ``probabilities`` are those of the
    candidates, of which the last is "no gene"; ``offsets`` are those of the span in characters. Of
    equal scores the first wins. A family that the name means (``_names_family``) takes the place of
    a gene below ``MIN_MEMBER_PROBABILITY``, and of "no gene" if it and its best rival together have
    at least ``MIN_FAMILY_PROBABILITY``; it gets the sum of both probabilities, at most
    ``MAX_FAMILY_PROBABILITY``. A list of its members (ERK1/2, ``is_list``) is always the family.
    Without such a family, the gene of ``_find_other_gene`` takes the
    place and probability of the best one. The probability of "no gene" is 1 minus the highest of a
    gene.
    """
    order = sorted(range(len(candidates)), key=lambda i: (-round(scores[i], 9), i))
    none = len(candidates) - 1
    genes = [i for i in order if i != none]
    best, probability = order[0], probabilities[order[0]]
    family = next((i for i in genes if _names_family(candidates[i])), None)
    if best == none:
        probability = 1.0 - max((probabilities[i] for i in genes), default=0.0)
    if family is not None and best != family:
        # Corpora give the id of a member or none, so the model does: one of them or all are meant.
        together = probabilities[family] + max(
            (probabilities[i] for i in genes if i != family), default=0.0
        )
        if (best == none and (is_list or together >= MIN_FAMILY_PROBABILITY)) or (
            best != none and probability < MIN_MEMBER_PROBABILITY
        ):
            best, probability = family, min(together, MAX_FAMILY_PROBABILITY)
    elif (
        best != none
        and (other := _find_other_gene(name, candidates, genes, probabilities)) is not None
    ):
        best = other  # with the probability of the gene whose place it takes
    gene = None if best == none else _gene_of_candidate(candidates[best], lookup)
    first = _gene_row(gene, probability)
    alternatives = [
        _gene_row(_gene_of_candidate(candidates[i], lookup), probabilities[i])
        for i in genes
        if i != best and probabilities[i] >= MIN_PROBABILITY
    ]
    row = {"name": name, "span": list(offsets), **first}
    return {**row, "alternatives": alternatives, "parts": []}


def _find_other_gene(
    name: str,
    candidates: Sequence[Candidate],
    genes: Sequence[int],
    probabilities: Sequence[float],
) -> int | None:
    """Return a candidate to prefer to the best one, because the rest of the text speaks for it.

    ``genes`` are the indices of the candidates of ``name`` other than "no gene", the best first; at
    least one. Returned is the index of the first other gene that is of the same species (or species
    group), lists the name as a synonym, and for which one of these holds:

    - another name of the sentence means the best gene, and not in brackets, the name is not the
      symbol of the best gene, and no other name means this one: in "PCAF and GCN5", PCAF can only
      mean KAT2B, and GCN5 is a synonym of KAT2A too;
    - the text has another name of this gene, which is written so, and neither holds for the best
      one: hK2 is KLK2 in a text about KLK2, not HK2;
    - texts name this gene together with others of this text, not the best one, and it is at least
      half as probable: PDK1 is PDPK1 beside AKT1;
    - the name begins with a small letter for the species and only this gene is written so: hK2 is
      listed for KLK2, HK2 for hexokinase 2.

    None if there is none.
    """
    best = candidates[genes[0]].facts
    if len(genes) == 1 or not isinstance(best, FactRow):
        return None
    first = None
    has_species_letter = _SPECIES_LETTER.match(name) is not None
    for i in genes[1:]:
        facts = candidates[i].facts
        if not isinstance(facts, FactRow) or not facts.values_array[_LISTED_SYNONYM]:
            continue
        if not np.array_equal(facts.values_array[_SPECIES], best.values_array[_SPECIES]):
            continue
        other = _TextSupport(*facts.values_array[_SUPPORT_FACTS].tolist())
        if first is None:
            first = _TextSupport(*best.values_array[_SUPPORT_FACTS].tolist())
        is_taken = first.beside and not (first.apposed or first.listed_symbol or other.beside)
        is_named = (other.other_names and other.case) and not (first.other_names or first.case)
        is_associated = (
            other.associated >= MIN_ASSOCIATION
            and not first.associated
            and probabilities[i] >= probabilities[genes[0]] / 2
        )
        is_written_so = has_species_letter and other.case and not first.case
        if is_taken or is_named or is_associated or is_written_so:
            return i
    return None


_SPECIES_LETTER = re.compile(r"[hmr][A-Z]+[0-9]")


class _TextSupport(NamedTuple):
    """Columns of a candidate that say what the rest of the text says about it."""

    beside: float
    apposed: float
    listed_symbol: float
    other_names: float
    case: float
    associated: float


_SUPPORT_FACTS = [
    COLUMNS.index(name)
    for name in (
        *("here beside itself", "here in apposition", "listed symbol", "other names", "case"),
        "associated",
    )
]
_LISTED_SYNONYM = COLUMNS.index("listed synonym")
MIN_ASSOCIATION = 0.5  # of genes that texts name together at least 16 times as often as by chance
_SPECIES = [COLUMNS.index(f"species {group}") for group in (*SPECIES_GROUPS, "rat")]


def _names_family(candidate: Candidate) -> bool:
    """Return whether a candidate is a family whose name no gene has as symbol or full name.

    The whole name, or the name without leading modifiers such as "human", must be that of the
    family. False for other candidates and for those without a ``FactRow``.
    """
    facts = candidate.facts
    if not isinstance(facts, FactRow) or not facts.values_array[_FAMILY]:
        return False
    has_symbol, *is_reliable = facts.values_array[_FAMILY_FACTS]
    return not has_symbol and any(is_reliable)


_FAMILY = COLUMNS.index("family")
_FAMILY_FACTS = [
    COLUMNS.index(name)
    for name in ("family but symbol", "family method whole", "family method head")
]


MAX_FAMILY_PROBABILITY = 0.99  # of a family that stands for its members
MIN_MEMBER_PROBABILITY = 0.9  # of a gene that is the answer although a family has the name
MIN_FAMILY_PROBABILITY = 0.25  # of a family and its best member, if neither alone is likely


@lru_cache(maxsize=1 << 8)
def _is_gene_label(label: str) -> bool:
    """Return whether a label is empty or contains one of ``GENE_LABEL_WORDS``."""
    return not label or any(word in label.lower() for word in GENE_LABEL_WORDS)


def _make_candidates(
    genes: Sequence[Gene],
    facts: Sequence[FactRow],
    span: Span,
    query: str,
    gold_ids: frozenset[str] | None,
    has_identifier: HasIdentifier,
) -> Iterator[Candidate]:
    """Yield a candidate per gene of a query, in order, and then the candidate "no gene".

    ``facts`` are the columns of each gene; those of "no gene" are all 0, so that its score is 0.
    ``query`` is "name number.item number". ``gold_ids`` are the name's gold identifiers, None if
    unknown (labels are None then). If the gazetteer has none of them, "no gene" is correct.
    """
    doc, document = span.doc, document_id(span.doc)
    is_not_covered = gold_ids is not None and not any(map(has_identifier, gold_ids))
    start, end, label_id = span.start, span.end, span.label
    identifiers = [*(gene.identifier for gene in genes), NO_IDENTIFIER]
    for identifier, row in zip(identifiers, (*facts, _NO_GENE_FACTS), strict=True):
        label = None
        if gold_ids is not None:
            label = 1.0 if (identifier in gold_ids if identifier else is_not_covered) else -1.0
        focus = Span(doc, start, end, label=label_id, kb_id=identifier)
        yield Candidate(doc, (focus,), document, query, label, row)


_NO_GENE_FACTS = FactRow(COLUMNS, np.zeros(len(COLUMNS), dtype=np.float32))


def _group_by_name(candidates: Sequence[Candidate]) -> dict[int, list[slice]]:
    """Map the number of each name to the slices of its queries: the name first, then list items.

    Candidates must be of one document, those of a query consecutive; slices index ``candidates``.
    """
    slices: dict[int, list[slice]] = {}
    end = 0
    for query, run in groupby(map(attrgetter("query"), candidates)):
        start, end = end, end + sum(1 for _ in run)
        slices.setdefault(int(query.partition(".")[0]), []).append(slice(start, end))
    return slices


def _gene_of_candidate(candidate: Candidate, lookup: GeneLookup) -> Gene | None:
    """Return the gene of a candidate; None for "no gene".

    Raises KeyError if ``lookup`` has not matched the gene before.
    """
    identifier = candidate.spans[0].kb_id_
    return lookup.get_gene(identifier) if identifier else None


def _gene_row(gene: Gene | None, probability: float) -> dict[str, Any]:
    """Return the columns of a gene in the row of a name, which its alternatives have too.

    Keys are ``identifier``, ``probability``, ``species`` (taxon), ``symbol``, ``hgnc``
    ("HGNC:4566") and ``uniprot``. Values other than the probability are None where unknown, all of
    them if ``gene`` is None; ``species`` is None for a family.
    """
    return {
        "identifier": gene.identifier if gene else None,
        "probability": probability,
        "species": (gene.taxon or None) if gene else None,
        "symbol": gene.symbol if gene else None,
        "hgnc": f"HGNC:{gene.hgnc}" if gene and gene.hgnc else None,
        "uniprot": (gene.uniprot or None) if gene else None,
    }


@lru_cache(maxsize=8)
def _load_lookup(folder_name: str, tsv_files: tuple[str, ...]) -> GeneLookup:
    """Load the gazetteer of a folder ("" for the shipped one), then the user's TSV files.

    Cached by both arguments. Raises ValueError if a file is not valid.
    """
    folder = Path(folder_name) if folder_name else shipped_folder("models") / SHIPPED_MODEL
    return GeneLookup((Gazetteer.from_disk(folder), *map(read_gazetteer_tsv, tsv_files)))


def find_gene(identifier: str) -> Gene | None:
    """Return symbol, species and other identifiers of a gene in the shipped tables.

    ``identifier`` is a CURIE such as ``ncbigene:7157``, with the prefix in any case. None if the
    tables do not have it.
    """
    prefix, _, local = identifier.partition(":")
    return _load_lookup("", ()).find_gene(f"{prefix.lower()}:{local}")


def find_identifiers(name: str) -> tuple[list[str], list[str]]:
    """Return the identifiers that a name has in the shipped tables: by symbol, and by synonym.

    The first list are genes of any species whose symbol is spelt so, without regard to case, or
    that have this HGNC id or UniProt accession; the second those of which it is a full name,
    synonym or earlier symbol. Of names at most ``MAX_MATCHES`` are searched; both lists are empty
    for an unknown name.
    """
    lookup = _load_lookup("", ())
    references = [gene for table in lookup.tables for gene in table.find_by_reference(name)]
    by_symbol, by_synonym = [gene.identifier for gene in references], list[str]()
    for match in lookup.find_matches(name):
        if match.gene.symbol.casefold() == name.casefold():
            by_symbol.append(match.gene.identifier)
        elif match.method == "whole" and match.kind <= NameKind.PREVIOUS:
            by_synonym.append(match.gene.identifier)
    return by_symbol, by_synonym


@dataclass(frozen=True)
class NameDecision:
    """Predicted and gold identifiers of one name."""

    document: str
    number: int  # of the name in its document
    top_identifier: str  # best candidate other than "no gene"; empty if there is none
    predicted: frozenset[str]  # best candidate of the name and of each list item, without "no gene"
    is_reachable: bool  # whether a gold identifier is among the candidates
    gold: frozenset[str]


def compute_name_metrics(
    candidates: Sequence[Candidate],
    scores: Vector,
    gold: Mapping[str, Sequence[frozenset[str]]],
    has_identifier: HasIdentifier,
) -> dict[str, float | None]:
    """Return metrics of the identifiers per name and per document.

    ``top_identifier`` below means the best candidate other than "no gene". A name with several gold
    identifiers is correct with any of them.

    Parameters
    ----------
    candidates, scores
        All candidates and their scores.
    gold
        Document -> gold identifiers of each of its names, by the number of the name in queries.
    has_identifier
        Whether the gazetteer has an identifier; names and identifiers that it has are *covered*.

    Returns
    -------
    dict
        ``first``: share of covered names whose top identifier is correct; ``first_of_all``: the
        same over all names with gold identifiers; ``reachable``: share of covered names with a gold
        identifier among the candidates; ``precision``, ``recall``, ``f``: of the predictions, with
        "no gene" as a possible answer and recall over covered names; ``document_precision``,
        ``document_recall``, ``document_f``, ``document_f_of_all``: of the sets of identifiers per
        document, without families. None if undefined.
    """
    decisions = collect_decisions(candidates, scores, gold)
    covered = [a for a in decisions if any(map(has_identifier, a.gold))]
    identified = [a for a in decisions if a.gold]
    decided = [a for a in decisions if a.predicted]
    n_correct = sum(bool(a.predicted & a.gold) for a in decided)
    return {
        "first": _ratio(sum(a.top_identifier in a.gold for a in covered), len(covered)),
        "first_of_all": _ratio(
            sum(a.top_identifier in a.gold for a in identified), len(identified)
        ),
        "reachable": _ratio(sum(a.is_reachable for a in covered), len(covered)),
        **_precision_recall_f1("", n_correct, len(decided), len(covered)),
        **compute_document_metrics(
            identifiers_by_document(decisions), _gold_by_document(gold), has_identifier
        ),
    }


def compute_document_metrics(
    predicted: Mapping[str, frozenset[str]],
    gold: Mapping[str, frozenset[str]],
    has_identifier: HasIdentifier,
) -> dict[str, float | None]:
    """Return precision, recall and F1 of the sets of gene identifiers, summed over documents.

    ``predicted`` and ``gold`` map documents to identifiers; ``has_identifier`` says which
    identifiers are covered by the gazetteer. Keys of the result are ``document_precision``,
    ``document_recall`` and ``document_f``, with recall over covered identifiers, and
    ``document_f_of_all`` over all gold identifiers; None if undefined. Documents that only
    ``predicted`` has count as wrong. Families should be left out of both sets, because corpora
    disagree about them. A predicted identifier of a database that no gold identifier is of, such as
    a Xenbase page for a corpus of NCBI ids, does not count.
    """
    databases = {i.partition(":")[0] for ids in gold.values() for i in ids}
    predicted = {
        document: frozenset(i for i in ids if i.partition(":")[0] in databases)
        for document, ids in predicted.items()
    }
    n_correct = sum(
        len(predicted.get(document, frozenset()) & identifiers)
        for document, identifiers in gold.items()
    )
    n_predicted = sum(map(len, predicted.values()))
    n_covered = sum(sum(map(has_identifier, identifiers)) for identifiers in gold.values())
    n_gold = sum(map(len, gold.values()))
    return {
        **_precision_recall_f1("document_", n_correct, n_predicted, n_covered),
        "document_f_of_all": _ratio(2 * n_correct, n_predicted + n_gold),
    }


class MentionIdentifiers(NamedTuple):
    """Characters, label and identifiers of a name in a document."""

    start: int
    end: int
    label: str
    identifiers: frozenset[str]


def compute_species_metrics(
    predicted: Mapping[str, frozenset[str]],
    gold: Mapping[str, frozenset[str]],
    find_taxon: Callable[[str], int | None],
) -> dict[str, float | None]:
    """Return F1 of the identifiers of documents by species, keys ``document_f_<species>``.

    Species are those of ``SPECIES_NAMES``; all others together are ``other_species``. Identifiers
    for which ``find_taxon`` returns None belong to no species. Predictions for documents that
    ``gold`` lacks count as wrong. None if a species has no identifier.
    """
    counts: dict[str, list[int]] = {
        name: [0, 0] for name in (*SPECIES_NAMES.values(), "other_species")
    }
    for side in (predicted, gold):
        for document, identifiers in side.items():
            for identifier in identifiers:
                taxon = find_taxon(identifier)
                if taxon is not None:
                    count = counts[SPECIES_NAMES.get(taxon, "other_species")]
                    count[1] += 1
                    is_correct = identifier in gold.get(document, frozenset())
                    count[0] += 2 * (side is predicted and is_correct)
    return {f"document_f_{name}": _ratio(right, total) for name, (right, total) in counts.items()}


SPECIES_NAMES = {9606: "human", 10090: "mouse", 10116: "rat", 4932: "yeast", 7227: "fly"}


def compute_mention_metrics(
    predicted: Mapping[str, Sequence[MentionIdentifiers]],
    gold: Mapping[str, Sequence[MentionIdentifiers]],
) -> dict[str, float | None]:
    """Return metrics of the identifiers of single mentions, in all documents of ``gold``.

    ``mention_precision``: share of predicted names with an identifier that an overlapping gold name
    has; ``mention_recall``: share of gold names with identifiers of which an overlapping predicted
    name has one; ``mention_f``: their harmonic mean. Predicted names without identifiers, and
    documents that only ``predicted`` has, are ignored. ``family_as_gene`` and ``domain_as_gene``:
    share of the gold families and domains (by label, without gold identifiers) that an overlapping
    predicted name gives a gene. None if undefined.
    """
    n_predicted = n_correct = n_gold = n_reached = 0
    kinds = {"family": [0, 0], "domain": [0, 0]}
    for document, gold_names in gold.items():
        answers = [name for name in predicted.get(document, ()) if name.identifiers]
        for name in answers:
            overlapping = [g.identifiers for g in gold_names if _overlap(name, g)]
            n_predicted += 1
            n_correct += any(name.identifiers & identifiers for identifiers in overlapping)
        for name in gold_names:
            overlapping = [a.identifiers for a in answers if _overlap(name, a)]
            if name.identifiers:
                n_gold += 1
                n_reached += any(name.identifiers & identifiers for identifiers in overlapping)
                continue
            for kind, count in kinds.items():
                if kind in name.label.lower():
                    count[0] += bool(overlapping)
                    count[1] += 1
    precision, recall = _ratio(n_correct, n_predicted), _ratio(n_reached, n_gold)
    f = None
    if precision is not None and recall is not None:
        f = _ratio(2 * precision * recall, precision + recall)
    return {
        "mention_precision": precision,
        "mention_recall": recall,
        "mention_f": f,
        **{f"{kind}_as_gene": _ratio(*count) for kind, count in kinds.items()},
    }


def _overlap(a: MentionIdentifiers, b: MentionIdentifiers) -> bool:
    """Return whether two names have a character in common."""
    return a.start < b.end and b.start < a.end


def collect_decisions(
    candidates: Sequence[Candidate],
    scores: Vector,
    gold: Mapping[str, Sequence[frozenset[str]]],
) -> list[NameDecision]:
    """Return the decision about each name that has candidates, in order of appearance.

    ``gold`` maps each document to the gold identifiers of each of its names, by the number of the
    name in queries. A name may have several queries, ``3.0`` and ``3.1`` for items of a list, each
    decided by its own candidates; the name number precedes the dot. Raises KeyError or IndexError
    if ``gold`` lacks a name.
    """
    rows_by_name: dict[tuple[str, int], dict[str, list[int]]] = {}
    for i, candidate in enumerate(candidates):
        name = int(candidate.query.partition(".")[0])
        queries = rows_by_name.setdefault((candidate.document, name), {})
        queries.setdefault(candidate.query, []).append(i)
    return [
        _decide_name(
            document, name, list(rows_by_query.values()), candidates, scores, gold[document][name]
        )
        for (document, name), rows_by_query in rows_by_name.items()
    ]


def _decide_name(
    document: str,
    number: int,
    queries: Sequence[Sequence[int]],
    candidates: Sequence[Candidate],
    scores: Vector,
    gold: frozenset[str],
) -> NameDecision:
    """Return the decision about the name with a number.

    ``queries`` are the candidate rows of each of its queries, the name first, then list items;
    ``scores`` are those of all candidates. Of candidates that tie within rounding the first wins.
    ``top_identifier`` is the best of the first query that has a candidate other than "no gene", or
    "" if none has. ``predicted`` has the best candidate of each query, except "no gene". The name
    is reachable if any candidate is in ``gold``. Each query needs a candidate.
    """
    best_identifiers, predicted = [], []
    is_reachable = False
    for rows in queries:
        ids = [candidates[i].spans[0].kb_id_ for i in rows]
        order = np.argsort(-merge_ties(scores[list(rows)]), kind="stable")
        best_identifiers.append(next((ids[i] for i in order if ids[i]), ""))
        predicted.append(ids[order[0]])
        is_reachable = is_reachable or bool(gold.intersection(ids))
    first = next(filter(None, best_identifiers), "")
    identifiers = frozenset(filter(None, predicted))
    return NameDecision(document, number, first, identifiers, is_reachable, gold)


def identifiers_by_document(decisions: Sequence[NameDecision]) -> dict[str, frozenset[str]]:
    """Return the predicted gene identifiers of each document, without families (``fplx:``).

    A document whose names were all answered with "no gene" has an empty set; documents without a
    decision are missing.
    """
    identifiers: dict[str, frozenset[str]] = {}
    for decision in decisions:
        genes = {
            identifier
            for identifier in decision.predicted
            if not identifier.startswith(FAMILY_PREFIX)
        }
        identifiers[decision.document] = identifiers.get(decision.document, frozenset()) | genes
    return identifiers


def _gold_by_document(gold: Mapping[str, Sequence[frozenset[str]]]) -> dict[str, frozenset[str]]:
    """Return the union of the gold identifiers of each document's names."""
    return {document: frozenset().union(*identifiers) for document, identifiers in gold.items()}


def _precision_recall_f1(
    prefix: str, n_correct: int, n_predicted: int, n_gold: int
) -> dict[str, float | None]:
    """Return ``{prefix}precision``, ``{prefix}recall`` and ``{prefix}f`` (F1) of the counts.

    A value is None if its denominator is 0.
    """
    return {
        f"{prefix}precision": _ratio(n_correct, n_predicted),
        f"{prefix}recall": _ratio(n_correct, n_gold),
        f"{prefix}f": _ratio(2 * n_correct, n_predicted + n_gold),
    }


def _ratio(numerator: float, denominator: float) -> float | None:
    """Return the ratio; None if the denominator is 0, whatever the numerator."""
    return numerator / denominator if denominator else None
