"""Why a statement got its score: the model is asked again, about the sentence as it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.docs import Candidate
from textrank.evaluation.decisions import decisions_of
from textrank.model import Model
from textrank.reports.explanation import Explanation, explanation_page
from textrank.reports.reasons import reasons
from textrank.text import characters

TOP = 8  # features for and as many against, where they are not of several kinds
FEW = 3  # features of a kind
UNSAID = (None, "none", "not typed")  # a direction or type that there is none of
STATED = ("interacts", "status", "type", "direction", "probability")  # on a page of explanations


@dataclass
class Reasons:
    """The model that made the statements and its language model, loaded at the first question."""

    load: Callable[[], tuple[Model, Language]]
    _loaded: tuple[Model, Language] | None = field(default=None, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def of(self, row: Mapping[str, Any], around: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The parts of a statement's score; ``around`` are the statements of its sentence."""
        with self._lock:  # spaCy pipelines are not made for two threads
            model, nlp = self._model()
            doc = self._doc(row, around, nlp)
            candidate = self._candidate(model, doc, row)
            return {**shown(model.explain_all([candidate])[0]), "stored": row["score"]}

    def page(self, rows: Sequence[Mapping[str, Any]], back: str, name: str) -> str:
        """The explanation page of a document's statements, with a way back to it."""
        sentences: dict[Any, list[Mapping[str, Any]]] = {}
        for row in rows:
            sentences.setdefault(row["sentence_start"], []).append(row)
        with self._lock:
            model, nlp = self._model()
            found = [e for own in sentences.values() for e in self._explained(model, nlp, own)]
        return explanation_page(found, back=(back, name))

    def _explained(
        self, model: Model, nlp: Language, rows: Sequence[Mapping[str, Any]]
    ) -> list[Explanation]:
        """The statements of one sentence."""
        doc = self._doc(rows[0], rows, nlp)
        candidates = [self._candidate(model, doc, row) for row in rows]
        explained = model.explain_all(candidates)
        scores = np.array([sum(value for _, value in parts) for parts in explained])
        decisions = decisions_of(candidates, scores, model.threshold, paths=True)
        return [
            Explanation(decision, parts, {k: row[k] for k in STATED if row[k] not in UNSAID})
            for decision, parts, row in zip(decisions, explained, rows, strict=True)
        ]

    def _model(self) -> tuple[Model, Language]:
        if self._loaded is None:
            self._loaded = self.load()
        return self._loaded

    def _doc(
        self, row: Mapping[str, Any], around: Sequence[Mapping[str, Any]], nlp: Language
    ) -> Doc:
        start = row["sentence_start"] or 0
        doc = nlp.make_doc(str(row["sentence"]))
        ends = {(r[f"start_{s}"] - start, r[f"end_{s}"] - start) for r in around for s in "ab"}
        spans = [doc.char_span(a, b, label="protein", alignment_mode="expand") for a, b in ends]
        found = sorted({(s.start, s.end) for s in spans if s is not None})
        doc.spans["entities"] = [
            Span(doc, a, b, label="protein", span_id=f"e{i}") for i, (a, b) in enumerate(found)
        ]
        return nlp(doc)

    def _candidate(self, model: Model, doc: Doc, row: Mapping[str, Any]) -> Candidate:
        start = row["sentence_start"] or 0
        asked = [(row[f"start_{s}"] - start, row[f"end_{s}"] - start) for s in "ab"]
        for candidate in model.pipeline.task.candidates(doc):
            ends = [characters(s) for s in candidate.spans]
            if len(ends) == 2 and all(map(_overlap, ends, asked)):
                return candidate
        raise ValueError("the sentence alone does not hold both names. Explain the whole text.")


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def shown(parts: Sequence[tuple[tuple[str, ...], float]], top: int = TOP) -> dict[str, Any]:
    """The kinds of reasons with their strongest features, or features alone where all are alike.

    What is listed as ``parts`` adds up to ``score`` together with ``others``.

    >>> found = shown([(("triggers", "bind"), 0.5), (("path", "of"), -0.75)])
    >>> [(kind["name"], kind["adds"]) for kind in found["parts"]]
    [('path', -0.75), ('verb and roles', 0.5)]
    """
    kinds = reasons(parts)
    chosen: list[dict[str, Any]] = [
        {"name": kind.title, "adds": kind.adds, "parts": _strongest(kind.parts, FEW)}
        for kind in kinds
    ]
    if len(kinds) < 2:
        chosen = _strongest([(" ".join(name), value) for name, value in parts], 2 * top)
    total = sum(value for _, value in parts)
    rest = total - sum(float(c["adds"]) for c in chosen)
    count = 0 if len(kinds) > 1 else len(parts) - len(chosen)
    return {"parts": chosen, "others": {"count": count, "adds": rest}, "score": total}


def _strongest(parts: Sequence[tuple[str, float]], count: int) -> list[dict[str, Any]]:
    found = sorted(parts, key=lambda part: -abs(part[1]))[:count]
    return [{"name": name, "adds": value} for name, value in found if value]
