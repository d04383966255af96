"""Protein-protein interactions: which pairs of entities in a sentence interact.

``PPI.candidates`` pairs the entities of each sentence, ``PPI.annotate`` writes one row per pair to
``doc._.textrank_ppi``. There are two definitions of an interaction (``RELATIONS``): *physical*,
that two proteins bind or one modifies the other, and *regulation*, that one changes activity,
amount or place of the other. A model with heads gives a probability to each. Representations of
pairs are in the other modules of this package; status, type and direction of an interaction are
predicted by submodels (``statements``).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from textrank.candidates import (
    Candidate,
    document_id,
    entity_spans,
    gold_labels,
    sentence_starts,
    span_tokens,
)
from textrank.features import Indices, Vector
from textrank.io import write_text
from textrank.language.abbreviations import find_abbreviations
from textrank.language.normalization import original_offsets, to_plain_text, word_doc
from textrank.metrics import (
    TIE_TOLERANCE,
    calibration_error,
    chance_calibration_error,
    decide,
    precision_recall_f,
    sort_ties,
    tie_tolerance,
)
from textrank.protocols import AttributeModel, Task
from textrank.tasks.base import Scored

if TYPE_CHECKING:
    from textrank.model import Model

if not Doc.has_extension("textrank_ppi"):
    Doc.set_extension("textrank_ppi", default=None)

NAME_PROBABILITY_DIGITS = 3
MAX_SENTENCE_TOKENS = 1000  # of sentences in which pairs are judged: graphs take the square of it
MAX_PAIR_TOKENS_SQUARED = 100_000_000  # pairs times tokens squared of a sentence; about a minute
NON_PROTEIN_LABELS = frozenset(
    {
        "drug",
        "chemical",
        "disease",
        "species",
        "cell",
        "cell_line",
        "cell_type",
        "variant",
        "domain",
        # labels of spaCy's general English pipelines
        "person",
        "norp",
        "fac",
        "org",
        "gpe",
        "loc",
        "product",
        "event",
        "work_of_art",
        "law",
        "language",
        "date",
        "time",
        "percent",
        "money",
        "quantity",
        "ordinal",
        "cardinal",
    }
)
Relation: TypeAlias = Literal["any", "physical", "regulation"]
RELATIONS = ("physical", "regulation")  # definitions of an interaction
# The definition that statements of each type satisfy.
RELATION_OF_TYPE: Mapping[str, str] = {
    "binding": "physical",
    "phosphorylation": "physical",
    "modification": "physical",
    "degradation": "regulation",
    "activation": "regulation",
    "inhibition": "regulation",
    "regulation": "regulation",
}
DEFAULT_ATTRIBUTES = {"status": "asserted", "type": "regulation", "direction": "none"}


@dataclass(frozen=True)
class PPI(Task):
    """Pairs of entities in a sentence; the answer is whether the text says that they interact.

    A pair is in text order, so nothing can be learnt from the order in which a file lists it. In a
    sentence with hundreds of entities only pairs of close ones are judged, with a warning.

    Parameters
    ----------
    entities
        Span group with the entities; a Doc without it gets one made from ``doc.ents``.
    labels
        Labels of the entities to pair. Empty means all but NON_PROTEIN_LABELS: drug, chemical,
        disease, species, cell, cell line, cell type, variant, domain, and the labels of spaCy's
        general pipelines, such as ORG.
    level
        Probability from which a pair interacts. (Metrics are at the threshold that training chose.)
    precision
        If given, ``level`` is chosen as the lowest at which this share of positive answers was
        right among the held-out scores of training.
    recall
        If given, ``level`` is chosen as the highest at which this share of the positives was
        found among the held-out scores of training. Not together with ``precision``.
    relation
        Definition of an interaction, for a model with heads: "physical", "regulation", or "any" for
        either. It decides ``probability``, ``interacts`` and the types that a pair may have.
    fact_weights
        Weights of ``textrank.tasks.ppi.facts.FACT_FEATURES``, by which the evidence of a document
        about two entities is pooled to the probability that the document states the fact. None:
        facts have the probability of their most probable statement.
    """

    entities: str = "entities"
    labels: Sequence[str] = ()
    level: float = 0.5
    precision: float | None = None
    recall: float | None = None
    relation: Relation = "any"
    fact_weights: Mapping[str, float] | None = None
    name: ClassVar[str] = "ppi"
    head_names: ClassVar[tuple[str, ...]] = RELATIONS
    required_pipes: ClassVar[tuple[str, ...]] = ("tagger", "parser")
    required_pipes_raw: ClassVar[tuple[str, ...]] = ("kinds", "identifiers")
    submodel_names: ClassVar[tuple[str, ...]] = ("status", "type", "direction")
    min_spans_per_sentence: ClassVar[int] = 2
    row_per_candidate: ClassVar[bool] = True
    raw_text_unit: ClassVar[Literal["pairs", "documents"] | None] = "pairs"
    exports: ClassVar[frozenset[str]] = frozenset({"network", "facts", "write", "table"})
    table_columns: ClassVar[tuple[str, ...]] = (
        "statement", "status", "type", "probability", *RELATIONS, "identifiers",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Convert ``labels`` to a tuple; raise ValueError if a setting is not valid.

        ``level`` is from 0 to 1, ``precision`` and ``recall`` are above 0 and at most 1 and not
        both given. ``fact_weights`` are not checked.
        """
        object.__setattr__(self, "labels", tuple(self.labels))
        if not 0 <= self.level <= 1:
            raise ValueError(f"level must be a probability between 0 and 1, got {self.level}")
        for key in ("precision", "recall"):
            value = getattr(self, key)
            if value is not None and not 0 < value <= 1:
                raise ValueError(f"{key} must be above 0 and at most 1, got {value}")
        if self.precision is not None and self.recall is not None:
            raise ValueError("the level follows from precision or from recall: set one of them.")
        if self.relation not in get_args(Relation):
            raise ValueError(
                f"relation must be one of {', '.join(get_args(Relation))}, got {self.relation!r}"
            )

    def choose_heads(self, names: Sequence[str]) -> Sequence[str]:
        """Return all heads for the relation "any", else the one of that name.

        ``names`` are the heads of the model. Raises ValueError if the relation is not among them.
        """
        if self.relation == "any":
            return names
        if self.relation not in names:
            raise ValueError(
                f"this model has no probability of {self.relation!r} alone. Leave out the "
                "relation, or train on a corpus whose interactions have types."
            )
        return (self.relation,)

    def at_level(self, y: Vector, probabilities: Vector) -> PPI:
        """Return the task with the level that ``precision`` or ``recall`` asks for.

        ``y`` (1 or -1) and ``probabilities`` are labels and held-out probabilities of the training
        pairs, at least one. Of several levels, that of ``precision`` is the lowest and that of
        ``recall`` the highest that reaches the share. Probabilities that tie within rounding are
        answered together, and the level lies just below the lowest that is answered with yes.
        Returns self if both are None; raises ValueError if no level reaches the precision.

        >>> y, p = np.array([-1, 1, -1, 1]), np.array([0.1, 0.4, 0.6, 0.8])
        >>> round(PPI(precision=0.6).at_level(y, p).level, 6)
        0.4
        >>> round(PPI(recall=0.5).at_level(y, p).level, 6)
        0.8
        """
        if self.precision is None and self.recall is None:
            return self
        order, starts = sort_ties(probabilities)
        hits = np.cumsum((y[order] > 0)[::-1])[::-1][starts]  # ties are answered together
        if self.recall is not None:
            chosen = np.flatnonzero(hits >= self.recall * hits[0] * (1 - TIE_TOLERANCE))[-1]
        else:
            precisions = hits / (len(y) - starts)
            limit = (self.precision or 0.0) * (1 - TIE_TOLERANCE)
            if precisions.max() < limit:
                raise ValueError(
                    f"no level reaches a precision of {self.precision:g} on held-out scores; the "
                    f"best is {precisions.max():.3f}. Choose a lower precision."
                )
            chosen = np.flatnonzero(precisions >= limit)[0]
        lowest = float(probabilities[order[starts[chosen]]])
        return replace(self, level=lowest - tie_tolerance(probabilities))

    def at_probability(self, probability: float) -> PPI:
        """Return the task with this level, in place of one that precision or recall asks for.

        Raises ValueError if it is not between 0 and 1.
        """
        return replace(self, level=probability, precision=None, recall=None)

    def describe_decision(self, y: Vector, probabilities: Vector | None) -> dict[str, Any]:
        """Return relation and level, and precision and recall of the level on held-out pairs.

        Keys: ``relation``, ``level``, ``heldout_precision``, ``heldout_recall``. ``y`` (1 or -1)
        and ``probabilities`` are labels and held-out probabilities of the training pairs; without
        probabilities, {}.
        """
        if probabilities is None:
            return {}
        held_out = precision_recall_f(y, probabilities >= self.level)
        return {
            "relation": self.relation,
            "level": self.level,
            "heldout_precision": held_out.precision,
            "heldout_recall": held_out.recall,
        }

    def decide(
        self, scores: Vector, probabilities: Vector | None, threshold: float | None
    ) -> NDArray[np.bool_]:
        """Return which pairs interact, from the probability ``level`` or the threshold on.

        The threshold, on ``scores``, counts only if ``probabilities`` is None; where there is none
        either, no pair interacts.
        """
        if probabilities is None:
            return super().decide(scores, None, threshold)
        return probabilities >= self.level

    def operating_point(
        self, y: Vector, heldout: Vector, probabilities: Vector | None, threshold: float | None
    ) -> tuple[PPI, float | None]:
        """Return the task with the level that precision or recall asks for, and the threshold.

        ``y`` are labels, ``heldout`` scores (not used) and ``probabilities`` their probabilities;
        if these are None, the task is returned unchanged. Evaluation counts pairs at the threshold,
        users see pairs at the level.
        """
        task = self if probabilities is None else self.at_level(y, probabilities)
        return task, threshold

    def operating_metrics(
        self,
        y: Vector,
        probabilities: Vector,
        attributes: Sequence[Mapping[str, Any]],
        unreachable: int,
    ) -> dict[str, float | None]:
        """Return F1 at the level, F1 of asserted pairs at the level, and the calibration error.

        Keys: ``f_at_level``, ``calibration_error``, ``calibration_error_of_chance`` and, with
        attributes, ``f_asserted_at_level``. Other metrics are at the threshold of training, since
        corpora differ in whether negated and speculated interactions count.

        Parameters
        ----------
        y, probabilities
            Label (1 or -1) and held-out probability of each pair.
        attributes
            Row of attributes of each pair, of which ``status`` is read, by default "asserted".
            Empty without submodels; then F1 of asserted pairs is left out.
        unreachable
            Number of gold interactions without a candidate; they count against recall.
        """
        positive = self.decide(probabilities, probabilities, None)
        metrics: dict[str, float | None] = {
            "f_at_level": precision_recall_f(y, positive, unreachable).f,
            "calibration_error": calibration_error(y, probabilities),
            "calibration_error_of_chance": chance_calibration_error(probabilities),
        }
        if attributes:
            statuses = [row.get("status", "asserted") for row in attributes]
            is_asserted = np.array(statuses) == "asserted"
            metrics["f_asserted_at_level"] = precision_recall_f(
                y, positive & is_asserted, unreachable
            ).f
        return metrics

    def attribute_model(self, submodels: Mapping[str, Model]) -> AttributeModel | None:
        """Build the predictor of status, type, direction and trigger; None without submodels.

        ``submodels`` are by aspect. Raises ValueError if one is of another kind than those that are
        trained for statements.
        """
        from textrank.tasks.ppi.statements import AttributeModels

        return AttributeModels.from_models(submodels) if submodels else None

    def correct_labels(self, doc: Doc, corrections: Mapping[int, str]) -> Doc:
        """Return a copy of a Doc with other gold pairs; corrections are "yes" and "no".

        Keys are indices of ``self.candidates(doc)``; any value but "yes" means no. Only the
        ``label`` of a row changes, in all rows of the pair. A pair that the annotation does not
        list is added to it, so a Doc without annotation gets one of the corrected pairs alone. The
        given Doc and its annotation are not changed.
        """
        candidates, changed = self.candidates(doc), doc.copy()
        labels = {_pair_key(candidates[i].spans): v == "yes" for i, v in corrections.items()}
        gold = doc.user_data.get("gold", ())
        keys = [frozenset(row.get("entities", ())) for row in gold]
        rows = [
            {**row, "label": labels[key]} if key in labels else row
            for row, key in zip(gold, keys, strict=True)
        ]
        rows += [
            {"entities": sorted(key), "label": label}
            for key, label in labels.items()
            if key not in keys
        ]
        changed.user_data = {**doc.user_data, "gold": rows}
        return changed

    def check_export(self, kind: str, path: Path) -> None:
        """Raise ValueError if the suffix of ``path`` is not a network format.

        Only for the kind "network"; nothing is checked for other kinds.
        """
        if kind == "network":
            from textrank.tasks.ppi.exports import find_format

            find_format(path)

    def export(self, kind: str, docs: Sequence[Doc], path: Path) -> None:
        """Write the network of the judged pairs (kind "network") or their facts as JSON ("facts").

        The format of a network follows from the suffix of ``path``; ValueError if it is unknown.
        Facts are written as a JSON object with their list, as ``aggregate_facts`` returns it, under
        ``facts``. Files are replaced. Other kinds are left to ``Task.export``. Docs that are not
        annotated have no facts.
        """
        from textrank.tasks.ppi.exports import write_facts
        from textrank.tasks.ppi.facts import aggregate_facts

        if kind == "network":
            write_facts(aggregate_facts(docs), path)
        elif kind == "facts":
            facts = {"facts": aggregate_facts(docs)}
            text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
            write_text(text + "\n", path)
        else:
            super().export(kind, docs, path)

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Return ``Scored.measures`` and the F1 with one answer per relation and document.

        ``relation_f``: pairs with the same two names (ignoring case) in a document are one
        relation, gold if one of its pairs is, and answered with yes if one of them is. None without
        a threshold or candidates. Each gold pair without a candidate counts as a missed relation.
        """
        values = scored.measures()
        values["relation_f"] = _relation_f(scored)
        return values

    def table_row(self, answer: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return a statement as cells, in the order of ``table_columns``; None if below the level.

        ``answer`` is a row of ``doc._.textrank_ppi``, which must have a probability. A missing
        identifier is "?", a missing number "–". The statement is the two names with an arrow in its
        direction.
        """
        if answer["probability"] < self.level:
            return None
        first, second = answer["names"]
        arrow = {"a>b": "→", "b>a": "←"}.get(answer["direction"], "–")
        identifiers = " ".join(identifier or "?" for identifier in answer["identifiers"])
        statement = f"{first} {arrow} {second}"
        keys = ("probability", *RELATIONS)
        numbers = [f"{answer[key]:.2f}" if key in answer else "–" for key in keys]
        return statement, answer["status"], answer["type"], *numbers, identifiers

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return every pair of entities that share a sentence, in text order.

        If the Doc has gold annotation, pairs are labelled 1 or -1, pairs that it does not list -1.
        Otherwise labels are None, and pairs that cannot interact are left out: an entity and its
        own abbreviation, overlapping entities, entities with nothing between them, two mentions of
        one identifier; and sentences that consist of entities and numbers only, such as rows of
        tables. Entities across a sentence boundary are in no pair. Candidates may belong to a copy
        of the Doc that has only its words (``word_doc``). The query of a candidate is its sentence.
        """
        starts, names = sentence_starts(doc), self.names(doc)
        sentences = _sentences_with_pairs(starts, names)
        if not sentences:
            return []
        retokenized = word_doc(doc, sentences)
        if retokenized is not doc:
            doc, starts, names = retokenized, sentence_starts(retokenized), self.names(retokenized)
        document = document_id(doc)
        gold = self._gold_labels(doc)
        same_entity = None if gold is not None else _SameEntity.from_doc(doc)
        candidates = []
        for sentence, sentence_names in enumerate(_group_by_sentence(starts, names)):
            is_raw_pair = same_entity is not None and len(sentence_names) > 1
            if is_raw_pair and not _has_other_words(sentence_names):
                continue
            for pair in self._pairs_in_sentence(doc, sentence_names):
                if same_entity is not None and same_entity(*pair):
                    continue
                label = None if gold is None else gold.get(_pair_key(pair), -1.0)
                query = _sentence_id(doc, sentence)
                candidate = Candidate(doc, pair, document, query, label)
                candidates.append(candidate)
        return self._with_head_labels(doc, candidates) if gold is not None else candidates

    def _with_head_labels(self, doc: Doc, candidates: list[Candidate]) -> list[Candidate]:
        """Return candidates with the labels of ``RELATIONS``, if all gold interactions tell them.

        The labels, 1 or -1, are in ``head_labels``, in the order of ``RELATIONS``; pairs that the
        annotation does not list, or lists as not interacting, have -1. An interaction (a row with a
        true ``label``) tells its definitions by ``relations`` or, without it, by ``type``; of
        several rows for one pair the last counts. If one does not, or has an unknown type, the
        candidates are returned unchanged. The Doc must have gold annotation.
        """
        relations: dict[frozenset[str], Sequence[str]] = {}
        for row in doc.user_data["gold"]:
            if row.get("label") and "entities" in row:
                default = RELATION_OF_TYPE.get(row.get("type"))
                relations[frozenset(row["entities"])] = row.get("relations") or [default]
        if any(None in names for names in relations.values()):
            return candidates
        return [
            replace(
                c,
                head_labels=tuple(
                    1.0 if name in relations.get(_pair_key(c.spans), ()) else -1.0
                    for name in RELATIONS
                ),
            )
            for c in candidates
        ]

    def _pairs_in_sentence(self, doc: Doc, names: Sequence[Span]) -> list[tuple[Span, ...]]:
        """Return all pairs of a sentence, in text order; in a huge one only the closest, or none.

        Pairs times squared tokens are limited by MAX_PAIR_TOKENS_SQUARED; a sentence of more than
        MAX_SENTENCE_TOKENS has none. Close is by the number of entities in between. Warns if pairs
        are left out. ``names`` are the entities of one sentence in text order.
        """
        if len(names) < 2:
            return []
        n_tokens, n_pairs = len(names[0].sent), len(names) * (len(names) - 1) // 2
        max_pairs = MAX_PAIR_TOKENS_SQUARED // n_tokens**2 if n_tokens <= MAX_SENTENCE_TOKENS else 0
        if n_pairs <= max_pairs:
            return list(combinations(names, 2))
        close = [(n, i) for n in range(1, len(names)) for i in range(len(names) - n)][:max_pairs]
        warnings.warn(
            f"document {document_id(doc)!r}: {n_pairs - len(close):,} of {n_pairs:,} pairs left "
            f"out, of the names farthest apart in a sentence of {n_tokens:,} words with "
            f"{len(names)} names.",
            stacklevel=2,
        )
        return [(names[i], names[i + n]) for i, n in sorted((i, n) for n, i in close)]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return the number of gold interactions without a candidate; 0 without gold annotation.

        That is, with an entity that no token covers or that is not paired, or across sentences.
        ``candidates`` are those of ``self.candidates(doc)``.
        """
        gold = self._gold_labels(doc) or {}
        reached = {_pair_key(candidate.spans) for candidate in candidates}
        return sum(label > 0 and pair not in reached for pair, label in gold.items())

    def names(self, doc: Doc) -> list[Span]:
        """Return the entities that are paired, in text order: those with one of ``labels``.

        Labels must match exactly. Without ``labels``, all but those with one of NON_PROTEIN_LABELS
        in any case; entities without a label are included. If the Doc lacks the span group, it is
        made from ``doc.ents``, which changes the Doc; ValueError is raised if no entities were
        recognised either.
        """
        spans = entity_spans(doc, self.entities)
        if self.labels:
            return [span for span in spans if span.label_ in self.labels]
        return [span for span in spans if span.label_.lower() not in NON_PROTEIN_LABELS]

    def interactions(self, doc: Doc) -> list[tuple[str, str]]:
        """Return the two span ids of each gold interaction, sorted, in the order of the annotation.

        Interactions without a candidate are included. Empty without gold annotation.
        """
        pairs = (self._gold_labels(doc) or {}).items()
        return [(min(pair), max(pair)) for pair, label in pairs if label > 0]

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Write one row of plain values per pair to ``doc._.textrank_ppi``; return the Doc.

        Rows are in the order of the candidates, that is, of the text; earlier rows are replaced. A
        row has ``names``, ``spans`` (character offsets), ``identifiers`` (None if unknown),
        ``name_probabilities`` (that each is a name of its kind; only if names were recognised),
        ``score``, ``interacts``, ``status``, ``type``, ``direction``, ``trigger``, ``sentence``
        and, if the model is calibrated, ``probability``; if it has heads, also ``physical`` and
        ``regulation``, the probabilities of these. With ``fact_weights`` there is ``fact``, the
        probability that the document states the fact about the two entities. Without submodels,
        status, type, direction and trigger have default values. A pair that is not asserted does
        not interact.
        """
        scores, probabilities = scored.scores, scored.probabilities
        interacts = self.decide(scores, probabilities, scored.limit)
        text = doc.text if scored.candidates else ""  # a Doc builds its text on each access
        name_cache, sentence_cache = _NameCache(text), _SentenceCache(text)
        name_probabilities = _name_probabilities(doc, self.entities) if scored.candidates else {}
        rows = []
        for i, candidate in enumerate(scored.candidates):
            names = [name_cache(span) for span in candidate.spans]
            row: dict[str, Any] = {
                "names": [name for name, _, _ in names],
                "spans": [list(offsets) for _, offsets, _ in names],
                "identifiers": [identifier for _, _, identifier in names],
                **(
                    {"name_probabilities": [name_probabilities.get(place) for _, place, _ in names]}
                    if name_probabilities
                    else {}
                ),
                "score": float(scores[i]),
                "interacts": bool(interacts[i]),
                **DEFAULT_ATTRIBUTES,
                "trigger": [],
                "sentence": sentence_cache(candidate.spans[0]),
            }
            if probabilities is not None:
                row["probability"] = float(probabilities[i])
            row |= {name: float(values[i]) for name, values in scored.heads.items()}
            if scored.attributes:  # only what is asserted interacts
                row.update(scored.attributes[i])
                row["interacts"] = row["interacts"] and row["status"] == "asserted"
            rows.append(row)
        if self.fact_weights and probabilities is not None and rows:
            self._add_facts(doc, rows, self.fact_weights)
        doc._.textrank_ppi = rows
        return doc

    def _add_facts(
        self, doc: Doc, rows: Sequence[dict[str, Any]], weights: Mapping[str, float]
    ) -> None:
        """Set ``fact`` of each row to the pooled probability of its two entities, in place.

        ``rows`` are those of ``annotate``, with probabilities; ``weights`` are by name of
        FACT_FEATURES, 0 if missing.
        """
        from textrank.tasks.ppi.facts import pool_evidence

        starts, spans = sentence_starts(doc), self.names(doc)
        first_tokens = np.array([span.start for span in spans], dtype=np.intp)
        sentences = (starts.searchsorted(first_tokens, side="right") - 1).tolist()
        mentions = [
            (span.text, span.kb_id_ or None, sentence)
            for span, sentence in zip(spans, sentences, strict=True)
        ]
        pooled = pool_evidence(rows, mentions, len(starts) - 1, weights)
        for row, probability in zip(rows, pooled, strict=True):
            row["fact"] = probability

    def _gold_labels(self, doc: Doc) -> dict[frozenset[str], float] | None:
        """Return 1.0 or -1.0 by pair of span ids, or None if the Doc has no gold annotation.

        Pairs that the annotation does not list have no entry; if it lists one twice, the last
        counts. Rows without ``entities`` are those of other tasks and are skipped.
        """
        if "gold" not in doc.user_data:
            return None
        pairs = [
            row for row in doc.user_data["gold"] if "entities" in row
        ]  # others are gold parses
        return {frozenset(p["entities"]): 1.0 if p["label"] else -1.0 for p in pairs}


def _sentences_with_pairs(starts: Indices, names: Sequence[Span]) -> list[tuple[int, int]]:
    """Return (start, end) tokens of the sentences in which at least two entities begin, in order.

    ``starts`` (sentences + 1,) are the first tokens of sentences and the length of the Doc.
    """
    sentence = starts.searchsorted([span.start for span in names], side="right") - 1
    indices = (np.bincount(sentence, minlength=len(starts) - 1) > 1).nonzero()[0]
    return list(zip(starts[indices].tolist(), starts[indices + 1].tolist(), strict=True))


def _group_by_sentence(starts: Indices, names: Sequence[Span]) -> list[list[Span]]:
    """Return a list of the entities of each sentence, empty for sentences without any.

    Entities that extend into the next sentence are left out. ``starts`` (sentences + 1,) are the
    first tokens of sentences and the length of the Doc.
    """
    sentences: list[list[Span]] = [[] for _ in starts[:-1]]
    ends = np.array([(span.start, span.end - 1) for span in names], dtype=np.intp)
    sentence_indices = starts.searchsorted(ends.reshape(-1, 2), side="right") - 1
    for span, (first, last) in zip(names, sentence_indices.tolist(), strict=True):
        if first == last:
            sentences[first].append(span)
    return sentences


def _has_other_words(names: Sequence[Span]) -> bool:
    """Return whether the sentence of some entities has an alphabetic token outside them.

    ``names`` are entities of one sentence, at least one.
    """
    entity_tokens = {token for span in names for token in range(span.start, span.end)}
    return any(token.is_alpha and token.i not in entity_tokens for token in names[0].sent)


_NameInfo: TypeAlias = tuple[str, tuple[int, int], str | None]  # name, offsets, identifier


@dataclass
class _NameCache:
    """Name, character offsets and identifier of entities, computed once for all their pairs.

    ``text`` is the original text of the Doc.
    """

    text: str
    cache: dict[tuple[int, int, str, int], _NameInfo] = field(default_factory=dict)

    def __call__(self, span: Span) -> _NameInfo:
        """Return (name, offsets in the original text, identifier or None) of an entity.

        All entities must be of the Doc whose text this is.
        """
        key = span.start, span.end, span.id_, span.kb_id
        if key not in self.cache:
            info = _readable_name(span, self.text), original_offsets(span), span.kb_id_ or None
            self.cache[key] = info
        return self.cache[key]


@dataclass
class _SentenceCache:
    """Text of the sentence of entities; pairs of a sentence share one string.

    ``text`` is the original text of the Doc.
    """

    text: str
    cache: dict[int, str] = field(default_factory=dict)
    sentence_of_token: dict[int, int] = field(default_factory=dict)  # first token -> sentence start

    def __call__(self, span: Span) -> str:
        """Return the sentence of an entity as written, without surrounding white space.

        Entities that begin in the same sentence get the same string object. All must be of one Doc.
        """
        if span.start not in self.sentence_of_token:
            sentence = span.sent
            self.sentence_of_token[span.start] = sentence.start
            if sentence.start not in self.cache:
                self.cache[sentence.start] = self.text[slice(*original_offsets(sentence))].strip()
        return self.cache[self.sentence_of_token[span.start]]


def _name_probabilities(doc: Doc, key: str) -> dict[tuple[int, int], float]:
    """Return the probability of each recognised name of a span group by its character offsets.

    ``key`` is the group; offsets are those in the original text. Names that came with the text have
    none, so that the result is empty for them. The network computes in single precision, whose last
    digits depend on the batch: values are rounded to NAME_PROBABILITY_DIGITS (3).
    """
    if not Span.has_extension("textrank_probability"):
        return {}
    values = {
        original_offsets(span): span._.textrank_probability for span in doc.spans.get(key, ())
    }
    return {
        offsets: round(float(value), NAME_PROBABILITY_DIGITS)
        for offsets, value in values.items()
        if value is not None
    }


def _pair_key(pair: Sequence[Span]) -> frozenset[str]:
    """Return the set of the span ids of a pair, which is the same in either order.

    Entities without an id cannot be told apart.
    """
    return frozenset(span.id_ for span in pair)


def _readable_name(span: Span, text: str) -> str:
    """Return the name of an entity as written in ``text``, as plain text.

    For a discontinuous entity, its tokens joined by blanks, without those in its gaps.
    """
    tokens = span_tokens(span)
    if len(tokens) == span.end - span.start:
        return to_plain_text(text[slice(*original_offsets(span))])
    return " ".join(span.doc[i].text for i in tokens)


@dataclass(frozen=True)
class _SameEntity:
    """Test whether two mentions of a text are the same entity, overlap or stand side by side.

    Built once per Doc from the abbreviations that it defines; called with two mentions of that Doc.
    """

    pairs: frozenset[tuple[str, str]]  # short and long form, lower case
    abbreviation_ends: frozenset[tuple[int, int]]  # end tokens of the two forms where defined

    @classmethod
    def from_doc(cls, doc: Doc) -> _SameEntity:
        """Find the abbreviations that the text defines (``find_abbreviations``).

        Kept are the pairs of short and long form in lower case, and the place of each definition:
        the end tokens of its two forms, the smaller first.
        """
        definitions = find_abbreviations(doc)
        return cls(
            frozenset((short.text.lower(), long.text.lower()) for short, long in definitions),
            frozenset((min(a.end, b.end), max(a.end, b.end)) for a, b in definitions),
        )

    def __call__(self, first: Span, second: Span) -> bool:
        """Return whether two mentions are one entity, as far as their form tells.

        That is if they overlap, share an identifier, abbreviate each other, or have nothing between
        them ("the small GTPase RhoA"). ``first`` must come before ``second`` in the text. An
        abbreviation counts everywhere in the text, in any case; mentions that end where the two
        forms of a definition end count as well.
        """
        if second.start <= first.end:
            return True
        if first.kb_id and first.kb_id == second.kb_id:
            return True
        a, b = first.text.lower(), second.text.lower()
        if (a, b) in self.pairs or (b, a) in self.pairs:
            return True
        return (first.end, second.end) in self.abbreviation_ends


def _sentence_id(doc: Doc, index: int) -> str:
    """Return the corpus' id of a sentence, or ``s<index>`` if it has none.

    Ids are in ``doc.user_data["sentences"]``, in order; ``index`` counts from 0.
    """
    names = doc.user_data.get("sentences", ())
    return str(names[index]) if index < len(names) else f"s{index}"


def _relation_f(scored: Scored) -> float | None:
    """Return F1 with one answer per relation and document; None without a threshold or candidates.

    A relation is two names, ignoring case, in a document: gold if one of its pairs is, and answered
    with yes if one of them reaches the threshold. Each unreachable gold pair counts as missed.
    """
    if scored.threshold is None or not scored.candidates:
        return None
    keys = [
        (candidate.document, frozenset(span.text.lower() for span in candidate.spans))
        for candidate in scored.candidates
    ]
    relations = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    rows = np.array([relations[key] for key in keys])
    is_gold, is_yes = np.zeros((2, len(relations)), dtype=bool)
    np.logical_or.at(is_gold, rows, gold_labels(scored.candidates) > 0)
    np.logical_or.at(is_yes, rows, decide(scored.scores, scored.threshold))
    return precision_recall_f(is_gold, is_yes, scored.unreachable).f
