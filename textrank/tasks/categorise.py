"""Text categorisation: which of some topics a document is about, any number of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from spacy.tokens import Doc

from textrank.docs import Candidate, document_id
from textrank.measures import auc, decide, precision_recall_f
from textrank.tasks.task import Scored, WithoutReasons
from textrank.text import words_only
from textrank.ties import merge_ties
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
        each = {topic: _of_topic(topic, scored) for topic in self.topics}
        for measure in ("auc", "f"):
            own = [v for row in each.values() if (v := row[measure]) is not None]
            found[f"{measure}_of_topics"] = float(np.mean(own)) if own else None
        return found | {f"{m} {topic}": v for topic, row in each.items() for m, v in row.items()}


def _of_topic(topic: str, scored: Scored) -> Mapping[str, float | None]:
    """AUC and F of one topic; none where no document of the fold has it."""
    rows = np.array([c.query == topic for c in scored.candidates], dtype=bool)
    y, scores = scored.y[rows], np.asarray(scored.scores)[rows]
    if not (y > 0).any():
        return {"auc": None, "f": None}
    return {"auc": auc(y, scores), "f": precision_recall_f(y, decide(scores, scored.limit)).f}


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
