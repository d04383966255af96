"""Protein-protein interactions: which pairs of names in a sentence interact."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar, TypeAlias

import numpy as np
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate, document_id, named_spans, starts_of, tokens_of
from textrank.features import Indices, Vector
from textrank.language.abbreviations import find_abbreviations
from textrank.language.alignment import original_offsets, word_doc
from textrank.language.normalization import to_plain_text
from textrank.metrics import TIE_TOLERANCE, best_threshold, sort_ties, tie_tolerance
from textrank.tasks.base import Scored, WithoutReasons

if not Doc.has_extension("textrank_ppi"):
    Doc.set_extension("textrank_ppi", default=None)

LONGEST = 1000  # words of a sentence in which pairs are judged: graphs of it take their square
MOST = 100_000_000  # pairs of a sentence times its words squared, which is about a minute
NOT_PROTEINS = frozenset({"drug", "chemical", "disease", "species", "cell_line", "cell_type"})
UNKNOWN = {"status": "asserted", "type": "regulation", "direction": "none"}


@dataclass(frozen=True)
class PPI(WithoutReasons):
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
    reads: ClassVar[tuple[str, ...]] = ("tagger", "parser")  # of the analysis
    recognises: ClassVar[tuple[str, ...]] = ("genes", "identifiers")
    ranks: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        if not 0 <= self.level <= 1:
            raise ValueError(f"level must be a probability between 0 and 1, got {self.level}")
        if self.precision is not None and not 0 < self.precision <= 1:
            raise ValueError(f"precision must be above 0 and at most 1, got {self.precision}")

    def leveled(self, y: Vector, probabilities: Vector) -> PPI:
        """The task with the level that its precision asks for, by held-out probabilities.

        >>> y, p = np.array([-1, 1, -1, 1]), np.array([0.1, 0.4, 0.6, 0.8])
        >>> round(PPI(precision=0.6).leveled(y, p).level, 6)
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

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Every pair of names that share a sentence.

        Where a recogniser found the names, those that cannot interact are left out: a name and its
        own abbreviation, a name and its piece, two mentions of one identifier; and rows of names
        and numbers, as tables and lists have them, which say nothing.
        """
        starts, names = starts_of(doc), self.names(doc)
        paired = _paired(starts, names)
        if not paired:
            return []
        words = word_doc(doc, paired)
        if words is not doc:
            doc, starts, names = words, starts_of(words), self.names(words)
        document = document_id(doc)
        gold = self._gold(doc)
        same = None if gold is not None else _Same.of(doc)
        found = []
        for number, inside in enumerate(_by_sentence(starts, names)):
            if same is not None and len(inside) > 1 and not _says(inside):
                continue
            for pair in self._pairs(doc, inside):
                if same is not None and same(*pair):
                    continue
                label = None if gold is None else gold.get(_key(pair), -1.0)
                found.append(Candidate(doc, pair, document, _sentence_id(doc, number), label))
        return found

    def _pairs(self, doc: Doc, names: Sequence[Span]) -> list[tuple[Span, ...]]:
        """All pairs of a sentence; of a monstrous one those of the closest names, or none."""
        if len(names) < 2:
            return []
        words, every = len(names[0].sent), len(names) * (len(names) - 1) // 2
        most = MOST // words**2 if words <= LONGEST else 0
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
        gold = self._gold(doc) or {}
        reached = {_key(candidate.spans) for candidate in candidates}
        return sum(label > 0 and pair not in reached for pair, label in gold.items())

    def threshold(self, y: Vector, heldout: Vector) -> float | None:
        """That of the best F."""
        return best_threshold(y, heldout)

    def names(self, doc: Doc) -> list[Span]:
        """The names that are paired, in text order."""
        spans = named_spans(doc, self.entities)
        if self.labels:
            return [span for span in spans if span.label_ in self.labels]
        return [span for span in spans if span.label_.lower() not in NOT_PROTEINS]

    def interactions(self, doc: Doc) -> list[tuple[str, str]]:
        """The ids of the names that interact by gold, whether or not a candidate covers them."""
        pairs = (self._gold(doc) or {}).items()
        return [(min(pair), max(pair)) for pair, label in pairs if label > 0]

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Puts the judged pairs on ``doc._.textrank_ppi``, in text order, as plain values.

        Status, type, direction and trigger are what a pair has that nothing more is known of;
        a model with these aspects fills them in.
        """
        scores, probabilities = scored.scores, scored.probabilities
        sure = scores >= scored.limit if probabilities is None else probabilities >= self.level
        text = doc.text if scored.candidates else ""  # a Doc puts it together each time
        texts, sentences = _Names(text), _Texts(text)
        found = []
        for i, candidate in enumerate(scored.candidates):
            named = [texts(span) for span in candidate.spans]
            row: dict[str, Any] = {
                "names": [name for name, _, _ in named],
                "spans": [list(place) for _, place, _ in named],
                "identifiers": [identifier for _, _, identifier in named],
                "score": float(scores[i]),
                "interacts": bool(sure[i]),
                **UNKNOWN,
                "trigger": [],
                "sentence": sentences(candidate.spans[0]),
            }
            if probabilities is not None:
                row["probability"] = float(probabilities[i])
            found.append(row)
        doc._.textrank_ppi = found
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """AUC, and F under several thresholds."""
        return scored.measures()

    def _gold(self, doc: Doc) -> dict[frozenset[str], float] | None:
        if "gold" not in doc.user_data:
            return None
        pairs = [row for row in doc.user_data["gold"] if "entities" in row]  # trees are gold too
        return {frozenset(p["entities"]): 1.0 if p["label"] else -1.0 for p in pairs}


def _paired(starts: Indices, names: Sequence[Span]) -> list[tuple[int, int]]:
    """The sentences in which two names begin: else there is nothing to copy or to look for."""
    number = starts.searchsorted([span.start for span in names], side="right") - 1
    several = (np.bincount(number, minlength=len(starts) - 1) > 1).nonzero()[0]
    return list(zip(starts[several].tolist(), starts[several + 1].tolist(), strict=True))


def _by_sentence(starts: Indices, names: Sequence[Span]) -> list[list[Span]]:
    """The names of each sentence; none that reach into the next."""
    sentences: list[list[Span]] = [[] for _ in starts[:-1]]
    ends = np.array([(span.start, span.end - 1) for span in names], dtype=np.intp)
    where = starts.searchsorted(ends.reshape(-1, 2), side="right") - 1
    for span, (first, last) in zip(names, where.tolist(), strict=True):
        if first == last:
            sentences[first].append(span)
    return sentences


def _says(names: Sequence[Span]) -> bool:
    """Whether the sentence of some names has a word beside them."""
    inside = {token for span in names for token in range(span.start, span.end)}
    return any(token.is_alpha and token.i not in inside for token in names[0].sent)


_Named: TypeAlias = tuple[str, tuple[int, int], str | None]  # name, place, identifier


@dataclass
class _Names:
    """A name as a person reads it, its place and its identifier, once for all its pairs."""

    text: str
    known: dict[tuple[int, int, str, int], _Named] = field(default_factory=dict)

    def __call__(self, span: Span) -> _Named:
        key = span.start, span.end, span.id_, span.kb_id
        if key not in self.known:
            found = _name(span, self.text), original_offsets(span), span.kb_id_ or None
            self.known[key] = found
        return self.known[key]


@dataclass
class _Texts:
    """The sentence of a name as written, one string for all pairs of it."""

    text: str
    known: dict[int, str] = field(default_factory=dict)
    sentences: dict[int, int] = field(default_factory=dict)  # by the first token of a name

    def __call__(self, span: Span) -> str:
        if span.start not in self.sentences:
            sentence = span.sent
            self.sentences[span.start] = sentence.start
            if sentence.start not in self.known:
                self.known[sentence.start] = self.text[slice(*original_offsets(sentence))].strip()
        return self.known[self.sentences[span.start]]


def _key(pair: Sequence[Span]) -> frozenset[str]:
    return frozenset(span.id_ for span in pair)


def _name(span: Span, text: str) -> str:
    """The name as a person reads it in the text; without what lies in its holes."""
    tokens = tokens_of(span)
    if len(tokens) == span.end - span.start:
        return to_plain_text(text[slice(*original_offsets(span))])
    return " ".join(span.doc[i].text for i in tokens)


@dataclass(frozen=True)
class _Same:
    """Whether two names of a text are one: by place, by identifier, or by its abbreviations."""

    pairs: frozenset[tuple[str, str]]
    ends: frozenset[tuple[int, int]]  # of a long form and of the short form that follows it

    @classmethod
    def of(cls, doc: Doc) -> _Same:
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
        return (a, b) in self.pairs or (b, a) in self.pairs or (one.end, two.end) in self.ends


def _sentence_id(doc: Doc, number: int) -> str:
    names = doc.user_data.get("sentences", ())
    return str(names[number]) if number < len(names) else f"s{number}"
