"""Text categorisation: which of some topics a document is about, any number of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from spacy.tokens import Doc

from textrank.docs import Candidate, document_id, labels_of
from textrank.measures import auc, classification_measures, decide, precision_recall_f
from textrank.tasks.task import WithoutReasons
from textrank.text import words_only
from textrank.types import Vector

if not Doc.has_extension("textrank_categorise"):
    Doc.set_extension("textrank_categorise", default=None)


@dataclass(frozen=True)
class Categorise(WithoutReasons):
    """The topics of each document, each asked for by itself.

    ``topics`` are those to tell; others that a document has are not asked for. Gold topics stand
    in ``doc.user_data["meta"]["topics"]``, where the readers of JSON lines and of Reuters put
    them. What is judged is the first word, so that positions count from the beginning: a kernel
    that weights positions gives the title more say, one over a bag of words does not.
    """

    topics: Sequence[str]
    name: ClassVar[str] = "categorise"
    reads: ClassVar[tuple[str, ...]] = ()  # of the analysis: words are enough
    recognises: ClassVar[tuple[str, ...]] = ()
    ranks: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "topics", tuple(self.topics))
        if not self.topics or len(set(self.topics)) < len(self.topics):
            raise ValueError(f"topics must be different ones, at least one, got {self.topics}")

    def candidates(self, doc: Doc) -> list[Candidate]:
        """One a topic; none for a document without words."""
        words = words_only(doc)
        gold = _gold(doc)
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
        return 0 if candidates else len(set(self.topics) & set(_gold(doc) or ()))

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Log-odds of zero, since scores are calibrated topic by topic."""
        return 0.0

    def annotate(
        self,
        doc: Doc,
        candidates: Sequence[Candidate],
        scores: Vector,
        *,
        threshold: float = 0.0,
        probabilities: Vector | None = None,
    ) -> Doc:
        """Puts a row a topic on ``doc._.textrank_categorise``, the likeliest first."""
        rows: list[dict[str, Any]] = [
            {
                "topic": candidate.query,
                "assigned": bool(score >= threshold),
                "probability": float(expit(score)),
                "score": float(score),
            }
            for candidate, score in zip(candidates, scores, strict=True)
        ]
        doc._.textrank_categorise = sorted(rows, key=lambda row: -row["score"])
        return doc

    def measures(
        self,
        candidates: Sequence[Candidate],
        scores: Vector,
        threshold: float | None,
        unreachable: int,
    ) -> dict[str, float | None]:
        """Those of yes and no over all topics, their means over topics, and AUC and F of each."""
        y, said = labels_of(candidates), np.asarray(scores)
        found = classification_measures(y, said, threshold, unreachable)
        each = {topic: self._of(topic, candidates, y, said, threshold) for topic in self.topics}
        for measure in ("auc", "f"):
            own = [v for row in each.values() if (v := row[measure]) is not None]
            found[f"{measure}_of_topics"] = float(np.mean(own)) if own else None
        return found | {f"{m} {topic}": v for topic, row in each.items() for m, v in row.items()}

    def _of(
        self,
        topic: str,
        candidates: Sequence[Candidate],
        y: Vector,
        scores: Vector,
        threshold: float | None,
    ) -> Mapping[str, float | None]:
        rows = np.array([c.query == topic for c in candidates], dtype=bool)
        if not (y[rows] > 0).any():
            return {"auc": None, "f": None}
        decided = decide(scores[rows], threshold or 0.0)
        return {"auc": auc(y[rows], scores[rows]), "f": precision_recall_f(y[rows], decided).f}


def _gold(doc: Doc) -> Sequence[str] | None:
    meta = doc.user_data.get("meta")
    topics = meta.get("topics") if isinstance(meta, Mapping) else None
    if topics is None:
        return None
    if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
        raise ValueError(
            f"topics of document {document_id(doc)!r} are {topics!r:.60}. Write a list of names."
        )
    return topics
