"""Protein-protein interactions: which pairs of names in a sentence interact."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate, document_id, entity_spans, sentence_starts, span_tokens
from textrank.features import Indices, Vector
from textrank.io import write_text
from textrank.language.abbreviations import find_abbreviations
from textrank.language.alignment import original_offsets, word_doc
from textrank.language.normalization import to_plain_text
from textrank.metrics import (
    TIE_TOLERANCE,
    calibration_error,
    chance_calibration_error,
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

MAX_SENTENCE_TOKENS = (
    1000  # words of a sentence in which pairs are judged: graphs of it take their square
)
MAX_PAIR_TOKENS_SQUARED = (
    100_000_000  # pairs of a sentence times its words squared, which is about a minute
)
NON_PROTEIN_LABELS = frozenset({"drug", "chemical", "disease", "species", "cell_line", "cell_type"})
DEFAULT_ATTRIBUTES = {"status": "asserted", "type": "regulation", "direction": "none"}


@dataclass(frozen=True)
class PPI(Task):
    """A candidate for every two names of a sentence; the answer is whether they interact.

    ``entities`` is the span group that holds the names; a Doc without it gets one of its
    ``ents``. ``labels`` restricts them to some kinds; none means all but those that are no
    proteins by their name (drug, chemical, disease, species, cell line, cell type). A pair stands
    in text order, so nothing can be learnt from the order in which a file lists it. Of a sentence
    with hundreds of names only pairs of close ones are judged, with a warning.

    A judged pair interacts from the probability ``level`` on; figures are at the threshold that
    training chose. ``precision`` asks for another level: the lowest at which so large a share of
    the yes was right among held-out scores of training.
    """

    entities: str = "entities"
    labels: Sequence[str] = ()
    level: float = 0.5
    precision: float | None = None
    name: ClassVar[str] = "ppi"
    required_pipes: ClassVar[tuple[str, ...]] = ("tagger", "parser")  # of the analysis
    required_pipes_raw: ClassVar[tuple[str, ...]] = ("genes", "identifiers")
    submodel_names: ClassVar[tuple[str, ...]] = ("status", "type", "direction")
    min_spans_per_sentence: ClassVar[int] = 2
    row_per_candidate: ClassVar[bool] = True
    raw_text_unit: ClassVar[Literal["pairs", "documents"] | None] = "pairs"
    exports: ClassVar[frozenset[str]] = frozenset({"network", "facts", "write", "table"})
    table_columns: ClassVar[tuple[str, ...]] = (
        *("statement", "status", "type", "probability", "identifiers"),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        if not 0 <= self.level <= 1:
            raise ValueError(f"level must be a probability between 0 and 1, got {self.level}")
        if self.precision is not None and not 0 < self.precision <= 1:
            raise ValueError(f"precision must be above 0 and at most 1, got {self.precision}")

    def at_precision(self, y: Vector, probabilities: Vector) -> PPI:
        """The task with the level that its precision asks for, by held-out probabilities.

        >>> y, p = np.array([-1, 1, -1, 1]), np.array([0.1, 0.4, 0.6, 0.8])
        >>> round(PPI(precision=0.6).at_precision(y, p).level, 6)
        0.4
        """
        if self.precision is None:
            return self
        order, starts = sort_ties(probabilities)
        hits = np.cumsum((y[order] > 0)[::-1])[::-1]
        right = hits[starts] / (len(y) - starts)  # candidates that are tied are answered together
        enough = np.flatnonzero(right >= self.precision * (1 - TIE_TOLERANCE))
        if not len(enough):
            raise ValueError(
                f"no level reaches a precision of {self.precision:g} on held-out scores; the best "
                f"is {right.max():.3f}. Ask for less."
            )
        lowest = float(probabilities[order[starts[enough[0]]]])
        return replace(self, level=lowest - tie_tolerance(probabilities))

    def decide(
        self, scores: Vector, probabilities: Vector | None, threshold: float | None
    ) -> NDArray[np.bool_]:
        """Return which pairs interact: from the probability ``level`` or the threshold on.

        The threshold counts only without probabilities; where there is none either, no pair
        interacts.
        """
        if probabilities is None:
            return super().decide(scores, None, threshold)
        return probabilities >= self.level

    def operating_point(
        self, y: Vector, heldout: Vector, probabilities: Vector | None, threshold: float | None
    ) -> tuple[PPI, float | None]:
        """Return the task with the level that ``precision`` asks for, and the same threshold.

        Evaluation counts pairs at the threshold, users see pairs at the level.
        """
        task = self if probabilities is None else self.at_precision(y, probabilities)
        return task, threshold

    def operating_metrics(
        self,
        y: Vector,
        probabilities: Vector,
        attributes: Sequence[Mapping[str, Any]],
        unreachable: int,
    ) -> dict[str, float | None]:
        """Return F1 at the level, F1 of asserted pairs at the level, and the calibration error.

        Other metrics are at the threshold of training, since corpora differ in whether negated
        and speculated interactions count.
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
        """Build the predictor of status, type, direction and trigger; None without submodels."""
        from textrank.tasks.ppi.statements import AttributeModels

        return AttributeModels.from_models(submodels) if submodels else None

    def check_export(self, kind: str, path: Path) -> None:
        """Raise ValueError if the suffix of ``path`` is not a network format."""
        if kind == "network":
            from textrank.tasks.ppi.facts import check_network_path

            check_network_path(path)

    def export(self, kind: str, docs: Sequence[Doc], path: Path) -> None:
        """Write the network of the judged pairs, or their facts as JSON."""
        from textrank.tasks.ppi.facts import aggregate_facts, build_network, write_network

        if kind == "network":
            write_network(build_network(docs), path)
        elif kind == "facts":
            facts = {"facts": aggregate_facts(docs)}
            text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
            write_text(text + "\n", path)
        else:
            super().export(kind, docs, path)

    def table_row(self, answer: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return a statement as cells; None if it is less probable than not."""
        if answer["probability"] < 0.5:
            return None
        first, second = answer["names"]
        arrow = {"a>b": "→", "b>a": "←"}.get(answer["direction"], "–")
        identifiers = " ".join(identifier or "?" for identifier in answer["identifiers"])
        statement = f"{first} {arrow} {second}"
        probability = f"{answer['probability']:.2f}"
        return statement, answer["status"], answer["type"], probability, identifiers

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Every pair of names that share a sentence.

        Where a recogniser found the names, those that cannot interact are left out: a name and its
        own abbreviation, a name and its piece, two mentions of one identifier; and rows of names
        and numbers, as tables and lists have them, which say nothing.
        """
        starts, names = sentence_starts(doc), self.names(doc)
        paired = _sentences_with_pairs(starts, names)
        if not paired:
            return []
        words = word_doc(doc, paired)
        if words is not doc:
            doc, starts, names = words, sentence_starts(words), self.names(words)
        document = document_id(doc)
        gold = self._gold_labels(doc)
        same = None if gold is not None else _SameEntity.from_doc(doc)
        found = []
        for number, inside in enumerate(_group_by_sentence(starts, names)):
            if same is not None and len(inside) > 1 and not _has_other_words(inside):
                continue
            for pair in self._pairs_in_sentence(doc, inside):
                if same is not None and same(*pair):
                    continue
                label = None if gold is None else gold.get(_pair_key(pair), -1.0)
                found.append(Candidate(doc, pair, document, _sentence_id(doc, number), label))
        return found

    def _pairs_in_sentence(self, doc: Doc, names: Sequence[Span]) -> list[tuple[Span, ...]]:
        """All pairs of a sentence; of a monstrous one those of the closest names, or none."""
        if len(names) < 2:
            return []
        words, every = len(names[0].sent), len(names) * (len(names) - 1) // 2
        most = MAX_PAIR_TOKENS_SQUARED // words**2 if words <= MAX_SENTENCE_TOKENS else 0
        if every <= most:
            return list(combinations(names, 2))
        near = [(n, i) for n in range(1, len(names)) for i in range(len(names) - n)][:most]
        warnings.warn(
            f"document {document_id(doc)!r}: {every - len(near):,} of {every:,} pairs left out, of "
            f"the names farthest apart in a sentence of {words:,} words with {len(names)} names.",
            stacklevel=2,
        )
        return [(names[i], names[i + n]) for i, n in sorted((i, n) for n, i in near)]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Gold interactions without a candidate: a name no token covers, or two sentences."""
        gold = self._gold_labels(doc) or {}
        reached = {_pair_key(candidate.spans) for candidate in candidates}
        return sum(label > 0 and pair not in reached for pair, label in gold.items())

    def names(self, doc: Doc) -> list[Span]:
        """The names that are paired, in text order."""
        spans = entity_spans(doc, self.entities)
        if self.labels:
            return [span for span in spans if span.label_ in self.labels]
        return [span for span in spans if span.label_.lower() not in NON_PROTEIN_LABELS]

    def interactions(self, doc: Doc) -> list[tuple[str, str]]:
        """The ids of the names that interact by gold, whether or not a candidate covers them."""
        pairs = (self._gold_labels(doc) or {}).items()
        return [(min(pair), max(pair)) for pair, label in pairs if label > 0]

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Puts the judged pairs on ``doc._.textrank_ppi``, in text order, as plain values.

        Status, type, direction and trigger are what a pair has that nothing more is known of;
        a model with these aspects fills them in.
        """
        scores, probabilities = scored.scores, scored.probabilities
        sure = self.decide(scores, probabilities, scored.limit)
        text = doc.text if scored.candidates else ""  # a Doc puts it together each time
        texts, sentences = _NameCache(text), _SentenceCache(text)
        found = []
        for i, candidate in enumerate(scored.candidates):
            named = [texts(span) for span in candidate.spans]
            row: dict[str, Any] = {
                "names": [name for name, _, _ in named],
                "spans": [list(place) for _, place, _ in named],
                "identifiers": [identifier for _, _, identifier in named],
                "score": float(scores[i]),
                "interacts": bool(sure[i]),
                **DEFAULT_ATTRIBUTES,
                "trigger": [],
                "sentence": sentences(candidate.spans[0]),
            }
            if probabilities is not None:
                row["probability"] = float(probabilities[i])
            if scored.attributes:  # only what is asserted interacts
                row.update(scored.attributes[i])
                row["interacts"] = row["interacts"] and row["status"] == "asserted"
            found.append(row)
        doc._.textrank_ppi = found
        return doc

    def _gold_labels(self, doc: Doc) -> dict[frozenset[str], float] | None:
        if "gold" not in doc.user_data:
            return None
        pairs = [row for row in doc.user_data["gold"] if "entities" in row]  # trees are gold too
        return {frozenset(p["entities"]): 1.0 if p["label"] else -1.0 for p in pairs}


def _sentences_with_pairs(starts: Indices, names: Sequence[Span]) -> list[tuple[int, int]]:
    """The sentences in which two names begin: else there is nothing to copy or to look for."""
    number = starts.searchsorted([span.start for span in names], side="right") - 1
    several = (np.bincount(number, minlength=len(starts) - 1) > 1).nonzero()[0]
    return list(zip(starts[several].tolist(), starts[several + 1].tolist(), strict=True))


def _group_by_sentence(starts: Indices, names: Sequence[Span]) -> list[list[Span]]:
    """The names of each sentence; none that reach into the next."""
    sentences: list[list[Span]] = [[] for _ in starts[:-1]]
    ends = np.array([(span.start, span.end - 1) for span in names], dtype=np.intp)
    where = starts.searchsorted(ends.reshape(-1, 2), side="right") - 1
    for span, (first, last) in zip(names, where.tolist(), strict=True):
        if first == last:
            sentences[first].append(span)
    return sentences


def _has_other_words(names: Sequence[Span]) -> bool:
    """Whether the sentence of some names has a word beside them."""
    inside = {token for span in names for token in range(span.start, span.end)}
    return any(token.is_alpha and token.i not in inside for token in names[0].sent)


_NameInfo: TypeAlias = tuple[str, tuple[int, int], str | None]  # name, place, identifier


@dataclass
class _NameCache:
    """A name as a person reads it, its place and its identifier, once for all its pairs."""

    text: str
    cache: dict[tuple[int, int, str, int], _NameInfo] = field(default_factory=dict)

    def __call__(self, span: Span) -> _NameInfo:
        key = span.start, span.end, span.id_, span.kb_id
        if key not in self.cache:
            found = _readable_name(span, self.text), original_offsets(span), span.kb_id_ or None
            self.cache[key] = found
        return self.cache[key]


@dataclass
class _SentenceCache:
    """The sentence of a name as written, one string for all pairs of it."""

    text: str
    cache: dict[int, str] = field(default_factory=dict)
    sentence_of_token: dict[int, int] = field(default_factory=dict)  # by the first token of a name

    def __call__(self, span: Span) -> str:
        if span.start not in self.sentence_of_token:
            sentence = span.sent
            self.sentence_of_token[span.start] = sentence.start
            if sentence.start not in self.cache:
                self.cache[sentence.start] = self.text[slice(*original_offsets(sentence))].strip()
        return self.cache[self.sentence_of_token[span.start]]


def _pair_key(pair: Sequence[Span]) -> frozenset[str]:
    return frozenset(span.id_ for span in pair)


def _readable_name(span: Span, text: str) -> str:
    """The name as a person reads it in the text; without what lies in its holes."""
    tokens = span_tokens(span)
    if len(tokens) == span.end - span.start:
        return to_plain_text(text[slice(*original_offsets(span))])
    return " ".join(span.doc[i].text for i in tokens)


@dataclass(frozen=True)
class _SameEntity:
    """Whether two names of a text are one: by place, by identifier, or by its abbreviations."""

    pairs: frozenset[tuple[str, str]]
    abbreviation_ends: frozenset[
        tuple[int, int]
    ]  # of a long form and of the short form that follows it

    @classmethod
    def from_doc(cls, doc: Doc) -> _SameEntity:
        found = find_abbreviations(doc)
        return cls(
            frozenset((short.text.lower(), long.text.lower()) for short, long in found),
            frozenset((min(a.end, b.end), max(a.end, b.end)) for a, b in found),
        )

    def __call__(self, one: Span, two: Span) -> bool:
        if one.start < two.end and two.start < one.end:
            return True
        if one.kb_id and one.kb_id == two.kb_id:
            return True
        a, b = one.text.lower(), two.text.lower()
        return (
            (a, b) in self.pairs
            or (b, a) in self.pairs
            or (one.end, two.end) in self.abbreviation_ends
        )


def _sentence_id(doc: Doc, number: int) -> str:
    names = doc.user_data.get("sentences", ())
    return str(names[number]) if number < len(names) else f"s{number}"
