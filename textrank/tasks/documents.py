"""Text categorisation: which of some topics a document is about, any number of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log1p
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from spacy.tokens import Doc

from textrank.candidates import Candidate, document_id
from textrank.features import Vector
from textrank.language.alignment import word_doc
from textrank.metrics import (
    auc,
    decide,
    mean_average_precision,
    merge_ties,
    precision_recall_f,
    ranking_metrics,
)
from textrank.protocols import Task
from textrank.tasks.base import Scored

if not Doc.has_extension("textrank_categorise"):
    Doc.set_extension("textrank_categorise", default=None)


@dataclass(frozen=True)
class Categorise(Task):
    """The topics of each document, each asked for by itself.

    ``topics`` are those to tell; others that a document has are not asked for. Gold topics stand
    in ``doc.user_data["meta"]["topics"]``, where the readers of JSON lines and of Reuters put
    them. What is judged is the first word, so that positions count from the beginning: a kernel
    that weights positions gives the title more say, one over a bag of words does not.
    """

    topics: Sequence[str]
    name: ClassVar[str] = "categorise"
    required_pipes: ClassVar[tuple[str, ...]] = ()  # of the analysis: words are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    is_ranking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "topics", tuple(self.topics))
        if not self.topics or len(set(self.topics)) < len(self.topics):
            raise ValueError(f"topics must be different ones, at least one, got {self.topics}")

    def candidates(self, doc: Doc) -> list[Candidate]:
        """One a topic; none for a document without words."""
        words = word_doc(doc)
        gold = _gold_topics(doc)
        if not len(words):
            return []
        return [
            Candidate(
                words,
                (words[:1],),
                document_id(doc),
                topic,
                None if gold is None else 1.0 if topic in gold else -1.0,
                question=topic,
            )
            for topic in self.topics
        ]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """The topics of a document without words; those that are not asked for do not count."""
        return 0 if candidates else len(set(self.topics) & set(_gold_topics(doc) or ()))

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Log-odds of zero, since scores are calibrated topic by topic."""
        return 0.0

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Puts a row a topic on ``doc._.textrank_categorise``, the likeliest first."""
        rows: list[dict[str, Any]] = [
            {
                "topic": candidate.query,
                "assigned": bool(score >= scored.limit),
                "probability": float(expit(score)),
                "score": float(score),
            }
            for candidate, score in zip(scored.candidates, scored.scores, strict=True)
        ]
        order = np.argsort(-merge_ties(scored.scores), kind="stable")
        doc._.textrank_categorise = [rows[i] for i in order]
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Those of yes and no over all topics, their means over topics, and AUC and F of each."""
        found = scored.measures()
        each = {topic: _topic_metrics(topic, scored) for topic in self.topics}
        for measure in ("auc", "f"):
            own = [v for row in each.values() if (v := row[measure]) is not None]
            found[f"{measure}_of_topics"] = float(np.mean(own)) if own else None
        return found | {f"{m} {topic}": v for topic, row in each.items() for m, v in row.items()}


def _topic_metrics(topic: str, scored: Scored) -> Mapping[str, float | None]:
    """AUC and F of one topic; none where no document of the fold has it."""
    rows = np.array([c.query == topic for c in scored.candidates], dtype=bool)
    y, scores = scored.y[rows], np.asarray(scored.scores)[rows]
    if not (y > 0).any():
        return {"auc": None, "f": None}
    return {"auc": auc(y, scores), "f": precision_recall_f(y, decide(scores, scored.limit)).f}


def _gold_topics(doc: Doc) -> Sequence[str] | None:
    meta = doc.user_data.get("meta")
    topics = meta.get("topics") if isinstance(meta, Mapping) else None
    if topics is None:
        return None
    if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
        raise ValueError(
            f"topics of document {document_id(doc)!r} are {topics!r:.60}. Write a list of names."
        )
    return topics


if not Doc.has_extension("textrank_retrieve"):
    Doc.set_extension("textrank_retrieve", default=None)
_WORD_PATTERN = re.compile(r"[^\W_]+")
BM25_K1, BM25_B = 1.2, 0.75  # the usual constants of BM25


@dataclass(frozen=True)
class Retrieve(Task):
    """The documents of each query in order; a Doc is the query, its text what is asked.

    ``doc.user_data["judged"]``, or ``["meta"]["judged"]`` of JSON lines, lists
    ``{"id", "relevance", "features"}``, as the reader of LETOR does, or ``{"id", "relevance",
    "title", "text"}``, whose features are then found here: how much of the query the document
    holds. Words are as rare as they are among the documents of their query.
    """

    name: ClassVar[str] = "retrieve"
    required_pipes: ClassVar[tuple[str, ...]] = ()
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    is_ranking: ClassVar[bool] = True

    def candidates(self, doc: Doc) -> list[Candidate]:
        """One a document of the query."""
        given = listed_documents(doc)
        words = [_count_words(row) for row in given]
        asked = _WORD_PATTERN.findall(doc.text.lower())
        rarity = _inverse_document_frequencies(words)
        mean = sum(sum(bag.values()) for bag in words) / max(len(words), 1)
        name = document_id(doc)
        return [
            Candidate(
                doc,
                (doc[:],),
                name,
                name,
                _relevance(row),
                _ranking_features(row, bag, asked, rarity, mean),
            )
            for row, bag in zip(given, words, strict=True)
        ]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """None: every document is judged."""
        return 0

    def threshold(self, y: Vector, heldout: Vector) -> None:
        """None: documents are compared, nobody says yes or no."""
        return None

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Puts the documents on ``doc._.textrank_retrieve``, the best first."""
        given = listed_documents(doc)
        rows: list[dict[str, Any]] = [
            {"id": row.get("id", str(number)), "score": float(score)}
            for number, (row, score) in enumerate(zip(given, scored.scores, strict=True))
        ]
        rows.sort(key=lambda row: -row["score"])
        doc._.textrank_retrieve = [{**row, "rank": rank} for rank, row in enumerate(rows, 1)]
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Pairs in the right order, NDCG, MAP and tau_b, each a mean over queries."""
        y, scores = scored.y, scored.scores
        queries = [(c.document, c.query) for c in scored.candidates]
        found = ranking_metrics(y, scores, queries)
        wrong = found["disagreement"]
        found["pairwise_accuracy"] = None if wrong is None else 1.0 - wrong
        found["map"] = mean_average_precision(y, scores, queries).mean
        return found


def listed_documents(doc: Doc) -> list[Mapping[str, Any]]:
    """What a query's Doc lists; an entry that is none is named."""
    meta = doc.user_data.get("meta")
    inside = meta.get("judged") if isinstance(meta, Mapping) else None
    given = doc.user_data.get("judged", inside) or []
    for row in given if isinstance(given, list) else [given]:
        if not isinstance(row, Mapping) or not ({"features", "text", "title"} & set(row)):
            raise ValueError(
                f"query {document_id(doc)!r} lists {row!r:.60}, which is no document. Give it "
                '"features", or "title" and "text".'
            )
    return list(given)


def _relevance(row: Mapping[str, Any]) -> float | None:
    value = row.get("relevance")
    return None if value is None else float(value)


def _count_words(row: Mapping[str, Any]) -> Counter[str]:
    return Counter(_WORD_PATTERN.findall(f"{row.get('title', '')} {row.get('text', '')}".lower()))


def _inverse_document_frequencies(bags: Sequence[Counter[str]]) -> dict[str, float]:
    """How rare a word is among the documents of a query, as in BM25; never negative."""
    counts = Counter(word for bag in bags for word in bag)
    n = len(bags)
    return {word: log1p((n - k + 0.5) / (k + 0.5)) for word, k in counts.items()}


def _ranking_features(
    row: Mapping[str, Any],
    bag: Counter[str],
    asked: Sequence[str],
    rarity: Mapping[str, float],
    mean: float,
) -> dict[str, float]:
    """The given features by number, or what the words of query and document have in common."""
    if "features" in row:
        return {str(name): float(value) for name, value in row["features"].items()}
    size = sum(bag.values())
    title = set(_WORD_PATTERN.findall(str(row.get("title", "")).lower()))
    weights = {word: rarity.get(word, 0.0) for word in set(asked)}
    whole = sum(weights.values()) or 1.0
    pull = BM25_K1 * (1 - BM25_B + BM25_B * size / max(mean, 1.0))
    bm25 = sum(w * bag[word] * (BM25_K1 + 1) / (bag[word] + pull) for word, w in weights.items())
    pairs = set(pairwise(asked))
    text = _WORD_PATTERN.findall(f"{row.get('title', '')} {row.get('text', '')}".lower())
    return {
        "words of the query": sum(word in bag for word in weights) / max(len(weights), 1),
        "rare words of the query": sum(w for word, w in weights.items() if word in bag) / whole,
        "words in the title": sum(word in title for word in weights) / max(len(weights), 1),
        "pairs of words": len(pairs & set(pairwise(text))) / max(len(pairs), 1),
        "BM25": bm25 / (1 + len(weights)),
        "occurrences": log(1 + sum(bag[word] for word in weights)),
        "length": log(1 + size) / 10,
    }
