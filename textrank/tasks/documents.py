"""Tasks about whole documents.

``Categorise`` assigns topics, ``Retrieve`` ranks search results, ``Preferences`` ranks items that
were compared with one another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log1p
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from spacy.tokens import Doc

from textrank.candidates import Candidate, PreferenceGraph, document_id
from textrank.features import Vector
from textrank.language.normalization import word_doc
from textrank.learners.base import preference_concordance
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

for _extension in ("textrank_categorise", "textrank_retrieve", "textrank_preferences"):
    if not Doc.has_extension(_extension):
        Doc.set_extension(_extension, default=None)
_WORD_PATTERN = re.compile(r"[^\W_]+")
BM25_K1, BM25_B = 1.2, 0.75  # usual parameters of BM25


@dataclass(frozen=True)
class Categorise(Task):
    """Documents and topics; the task decides for each topic separately whether a document has it.

    ``topics`` are those to assign; other topics of a document are ignored. Gold topics are in
    ``doc.user_data["meta"]["topics"]``, where the readers of JSON lines and Reuters put them. The
    span of a candidate is the first word of the document, so a kernel that weights words by their
    distance from the span gives the title more influence; a bag of words does not.
    """

    topics: Sequence[str]
    name: ClassVar[str] = "categorise"
    required_pipes: ClassVar[tuple[str, ...]] = ()  # words are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    is_ranking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Convert the topics to a tuple; raise ValueError if it is empty or a topic is repeated."""
        object.__setattr__(self, "topics", tuple(self.topics))
        if not self.topics or len(set(self.topics)) < len(self.topics):
            raise ValueError(f"topics must be one or more different names, got {self.topics}")

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return one candidate per topic, in the order of ``topics``.

        A document without words has none. The topic is the candidate's query. The label is 1 for a
        gold topic and -1 for others, None if the document has no gold topics annotated. Raises
        ValueError if they are not a list of strings.
        """
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
        """Return the number of gold topics that no candidate covers.

        These are the gold topics among ``topics`` of a document without words; 0 if there are
        candidates.
        """
        return 0 if candidates else len(set(self.topics) & set(_gold_topics(doc) or ()))

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Return 0.0: scores are log-odds, calibrated topic by topic.

        The arguments are not used.
        """
        return 0.0

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Write one row per topic to ``doc._.textrank_categorise``, the most probable first.

        A row has ``topic``, ``assigned`` (whether the score reaches the threshold), ``probability``
        and ``score``; equal scores keep the order of ``topics``. Returns the Doc.
        """
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
        """Return metrics over all topics, means over topics, and AUC and F1 of each topic.

        Metrics over all topics have the keys of ``classification_metrics`` (``auc``, ``f``,
        ``precision``, ...). Means have the keys ``auc_of_topics`` and ``f_of_topics``, values of a
        topic the keys "auc TOPIC" and "f TOPIC". F1 of a topic is at ``scored.limit``. Values of a
        topic without a gold document are None and left out of the means.
        """
        metrics = scored.measures()
        metrics_by_topic = {topic: _topic_metrics(topic, scored) for topic in self.topics}
        for measure in ("auc", "f"):
            values = [v for row in metrics_by_topic.values() if (v := row[measure]) is not None]
            metrics[f"{measure}_of_topics"] = float(np.mean(values)) if values else None
        return metrics | {
            f"{m} {topic}": v for topic, row in metrics_by_topic.items() for m, v in row.items()
        }


def _topic_metrics(topic: str, scored: Scored) -> Mapping[str, float | None]:
    """Return AUC and F1 of one topic, with keys ``auc`` and ``f``.

    Both are None if no candidate of the topic has a positive label.
    """
    is_topic = np.array([c.query == topic for c in scored.candidates], dtype=bool)
    y, scores = scored.y[is_topic], np.asarray(scored.scores)[is_topic]
    if not (y > 0).any():
        return {"auc": None, "f": None}
    return {"auc": auc(y, scores), "f": precision_recall_f(y, decide(scores, scored.limit)).f}


def _gold_topics(doc: Doc) -> Sequence[str] | None:
    """Return ``doc.user_data["meta"]["topics"]``, or None if it is missing.

    [] means that the document is annotated with no topic. Raises ValueError if the value is not a
    list of strings.
    """
    meta = doc.user_data.get("meta")
    topics = meta.get("topics") if isinstance(meta, Mapping) else None
    if topics is None:
        return None
    if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
        raise ValueError(
            f"topics of document {document_id(doc)!r} are {topics!r:.60}. Expected a list of names."
        )
    return topics


@dataclass(frozen=True)
class Retrieve(Task):
    """Documents listed for a query; the task orders them by relevance.

    A Doc is a query. Its documents are listed in ``doc.user_data["judged"]``, or in
    ``doc.user_data["meta"]["judged"]`` as the reader of JSON lines puts them. An entry is either
    ``{"id", "relevance", "features"}``, as the reader of LETOR gives it, or ``{"id", "relevance",
    "title", "text"}``; then features of its overlap with the query are computed, with inverse
    document frequencies over the documents of the query. ``relevance`` is a number, higher for
    better; it may be missing.
    """

    name: ClassVar[str] = "retrieve"
    required_pipes: ClassVar[tuple[str, ...]] = ()
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    is_ranking: ClassVar[bool] = True
    has_answer_sets: ClassVar[bool] = True

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return one candidate per listed document, in the order of the list.

        [] for a Doc that lists none. The features of a candidate are those listed, or else the
        seven of ``_ranking_features``, of which "rare words of the query" and "BM25" depend on the
        whole list (by idf and mean length); its span is the whole Doc. Both document and query of a
        candidate are the id of the Doc. The label is the relevance, None if it is unknown. Raises
        ValueError if an entry of the list is not a document (``listed_documents``).
        """
        documents = listed_documents(doc)
        word_counts = [_count_words(row) for row in documents]
        query_words = _WORD_PATTERN.findall(doc.text.lower())
        idf = _inverse_document_frequencies(word_counts)
        mean_length = sum(sum(counts.values()) for counts in word_counts) / max(len(word_counts), 1)
        name = document_id(doc)
        return [
            Candidate(
                doc,
                (doc[:],),
                name,
                name,
                _relevance(row),
                _ranking_features(row, counts, query_words, idf, mean_length),
            )
            for row, counts in zip(documents, word_counts, strict=True)
        ]

    def describe_candidate(self, doc: Doc, index: int) -> str:
        """Return id, title and text of the listed document number ``index`` (from 0), one per line.

        Missing and empty values are left out. Raises IndexError if the list is too short.
        """
        row = listed_documents(doc)[index]
        return "\n".join(str(row[key]) for key in ("id", "title", "text") if row.get(key))

    def correct_labels(self, doc: Doc, corrections: Mapping[int, str]) -> Doc:
        """Return a copy of a query's Doc in which some listed documents have corrected relevances.

        ``corrections`` maps positions in the list, from 0, to relevances as text; positions beyond
        the list are ignored. Raises ValueError if a text is not a number. In the copy, the list is
        in ``user_data["meta"]["judged"]`` only; ``user_data["judged"]``, which has precedence, is
        removed. ``doc`` is not changed.
        """
        rows = [
            {**row, "relevance": float(corrections[i])} if i in corrections else row
            for i, row in enumerate(listed_documents(doc))
        ]
        changed = doc.copy()
        # In the place that all formats keep; the other one is read first.
        data = {key: value for key, value in doc.user_data.items() if key != "judged"}
        changed.user_data = {**data, "meta": {**(data.get("meta") or {}), "judged": rows}}
        return changed

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return 0: every listed document is a candidate."""
        return 0

    def threshold(self, y: Vector, heldout: Vector) -> None:
        """Return None: documents are ordered, so there is no decision and no threshold.

        The arguments are not used.
        """
        return None

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Write one row per document to ``doc._.textrank_retrieve``, the best first.

        Returns the Doc, changed in place. A row has ``id`` (position from 0 as a string if the
        document has none), ``score`` and ``rank`` from 1. Equal scores keep the order of the list;
        scores that differ by rounding only are equal (``merge_ties``).
        """
        documents = listed_documents(doc)
        rows: list[dict[str, Any]] = [
            {"id": row.get("id", str(index)), "score": float(score)}
            for index, (row, score) in enumerate(zip(documents, scored.scores, strict=True))
        ]
        order = np.argsort(-merge_ties(scored.scores), kind="stable")
        doc._.textrank_retrieve = [
            {**rows[i], "rank": rank} for rank, i in enumerate(order.tolist(), 1)
        ]
        return doc

    def mark_answer_sets(self, doc: Doc, scored: Scored, is_in: NDArray[np.bool_]) -> None:
        """Add ``in_answer_set`` to each row of an annotated Doc, in place.

        ``scored`` has all candidates of the Doc; ``is_in[i, 0]`` says whether listed document i is
        in the set of the query.
        """
        order = np.argsort(-merge_ties(scored.scores), kind="stable")
        for row, index in zip(doc._.textrank_retrieve, order.tolist(), strict=True):
            row["in_answer_set"] = bool(is_in[index, 0])

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Return pairwise accuracy, NDCG, MAP and Kendall's tau_b, each a mean over queries.

        Keys are ``tau``, ``disagreement``, ``ndcg``, ``ndcg@10`` (the last two only if no label is
        negative), ``pairwise_accuracy`` and ``map``. A value is None if it is undefined for all
        queries.
        """
        y, scores = scored.y, scored.scores
        queries = [(c.document, c.query) for c in scored.candidates]
        metrics = ranking_metrics(y, scores, queries)
        disagreement = metrics["disagreement"]
        metrics["pairwise_accuracy"] = None if disagreement is None else 1.0 - disagreement
        metrics["map"] = mean_average_precision(y, scores, queries).mean
        return metrics


@dataclass(frozen=True)
class Preferences(Task):
    """Items that were compared with one another; the task scores each so that they can be ordered.

    A Doc is an item, as ``PreferenceTable`` reads them. Its features are those of
    ``doc.user_data["item"]["features"]``, or else the frequencies of its words, scaled to unit
    length. The label of a candidate is the sum of its preferences; rankers learn from the single
    comparisons.
    """

    name: ClassVar[str] = "preferences"
    required_pipes: ClassVar[tuple[str, ...]] = ()
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    is_ranking: ClassVar[bool] = True

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return the item as one candidate; its label is the sum of its preferences.

        ``doc.user_data["comparisons"]`` lists (key of the comparison, strength of the preference
        for this item); the two items of a comparison have the same key and opposite signs. The
        label is the sum of the strengths: 0 for an empty list, None if there is no list.
        ``doc.user_data["query"]`` is the query, "" if missing.
        """
        comparisons = doc.user_data.get("comparisons")
        pairs = None if comparisons is None else tuple((str(k), float(m)) for k, m in comparisons)
        return [
            Candidate(
                doc,
                (doc[:],),
                document_id(doc),
                str(doc.user_data.get("query", "")),
                None if pairs is None else sum(magnitude for _, magnitude in pairs),
                _item_features(doc),
                comparisons=pairs,
            )
        ]

    def threshold(self, y: Vector, heldout: Vector) -> None:
        """Return None: items are ordered, so there is no decision and no threshold.

        The arguments are not used.
        """
        return None

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Write ``[{"id", "score"}]`` to ``doc._.textrank_preferences``; higher is better.

        Returns the Doc, changed in place.
        """
        doc._.textrank_preferences = [
            {"id": document_id(doc), "score": float(score)} for score in scored.scores
        ]
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Return ``pairwise_accuracy`` and ``disagreement`` (1 - accuracy) over preferences.

        A preference counts if both its items are candidates; a tie of their scores counts one half.
        Both values are None if there is no such preference.
        """
        graph = PreferenceGraph.from_candidates(scored.candidates)
        if graph is None or not len(graph):
            return {"pairwise_accuracy": None, "disagreement": None}
        share = float(preference_concordance(np.asarray(scored.scores)[None], graph)[0])
        return {"pairwise_accuracy": share, "disagreement": 1.0 - share}


def _item_features(doc: Doc) -> dict[str, float]:
    """Return ``doc.user_data["item"]["features"]``, or the word frequencies scaled to unit length.

    Words are runs of letters and digits in lower case. A text without words gives {}.
    """
    item = doc.user_data.get("item")
    if isinstance(item, Mapping) and "features" in item:
        return {str(name): float(value) for name, value in item["features"].items()}
    counts = Counter(_WORD_PATTERN.findall(doc.text.lower()))
    norm = sum(count**2 for count in counts.values()) ** 0.5
    return {word: count / norm for word, count in counts.items()}


def listed_documents(doc: Doc) -> list[Mapping[str, Any]]:
    """Return the documents that a query's Doc lists, [] if none.

    They are in ``doc.user_data["judged"]``, else in ``["meta"]["judged"]``. A single mapping counts
    as a list of one. Raises ValueError if an entry is not a mapping with features, text or title.
    """
    meta = doc.user_data.get("meta")
    from_meta = meta.get("judged") if isinstance(meta, Mapping) else None
    listed = doc.user_data.get("judged", from_meta) or []
    documents = listed if isinstance(listed, list) else [listed]
    for row in documents:
        if not isinstance(row, Mapping) or not ({"features", "text", "title"} & set(row)):
            raise ValueError(
                f"query {document_id(doc)!r} lists {row!r:.60}, which is not a document. "
                'Expected a mapping with "features", or with "title" and "text".'
            )
    return list(documents)


def _relevance(row: Mapping[str, Any]) -> float | None:
    """Return the relevance of a listed document, None if it is unknown.

    Raises ValueError or TypeError if it is not a number.
    """
    value = row.get("relevance")
    return None if value is None else float(value)


def _count_words(row: Mapping[str, Any]) -> Counter[str]:
    """Return the counts of the words in title and text of a listed document, in lower case."""
    return Counter(_WORD_PATTERN.findall(f"{row.get('title', '')} {row.get('text', '')}".lower()))


def _inverse_document_frequencies(word_counts: Sequence[Counter[str]]) -> dict[str, float]:
    """Return log(1 + (n - k + 0.5) / (k + 0.5)) for each word that k of n documents contain.

    ``word_counts`` has the word counts of each document.
    """
    counts = Counter(word for document in word_counts for word in document)
    n = len(word_counts)
    return {word: log1p((n - k + 0.5) / (k + 0.5)) for word, k in counts.items()}


def _ranking_features(
    row: Mapping[str, Any],
    word_counts: Counter[str],
    query_words: Sequence[str],
    idf: Mapping[str, float],
    mean_length: float,
) -> dict[str, float]:
    """Return the given features of a document, or seven features of its overlap with the query.

    These are shares of the distinct words of the query that the document has ("words of the query",
    by idf in "rare words of the query", and only of its title in "words in the title"); the share
    of the query's pairs of neighbouring words that it has as neighbours ("pairs of words"); "BM25",
    divided by 1 + the number of distinct query words; "occurrences", log(1 + occurrences of the
    query's words), and "length", log(1 + words) / 10. A query without words has shares of 0.

    Parameters
    ----------
    row
        Listed document; its ``features`` are returned as they are if it has any.
    word_counts
        Counts of the words in its title and text.
    query_words
        Words of the query in order, in lower case.
    idf
        Inverse document frequency of each word; 0 for words it does not have.
    mean_length
        Mean length of the query's documents, in words.
    """
    if "features" in row:
        return {str(name): float(value) for name, value in row["features"].items()}
    size = sum(word_counts.values())
    title = set(_WORD_PATTERN.findall(str(row.get("title", "")).lower()))
    weights = {word: idf.get(word, 0.0) for word in set(query_words)}
    total_weight = sum(weights.values()) or 1.0
    matched_weight = sum(weight for word, weight in weights.items() if word in word_counts)
    length_norm = BM25_K1 * (1 - BM25_B + BM25_B * size / max(mean_length, 1.0))
    bm25 = sum(
        w * word_counts[word] * (BM25_K1 + 1) / (word_counts[word] + length_norm)
        for word, w in weights.items()
    )
    pairs = set(pairwise(query_words))
    text = _WORD_PATTERN.findall(f"{row.get('title', '')} {row.get('text', '')}".lower())
    return {
        "words of the query": sum(word in word_counts for word in weights) / max(len(weights), 1),
        "rare words of the query": matched_weight / total_weight,
        "words in the title": sum(word in title for word in weights) / max(len(weights), 1),
        "pairs of words": len(pairs & set(pairwise(text))) / max(len(pairs), 1),
        "BM25": bm25 / (1 + len(weights)),
        "occurrences": log(1 + sum(word_counts[word] for word in weights)),
        "length": log(1 + size) / 10,
    }
