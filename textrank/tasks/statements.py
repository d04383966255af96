"""Statements about two names: asserted or not, of which type, in which direction.

Each of the three is a question with several answers about a pair, learnt from corpora of events;
a model of interactions carries models of these questions beside it (its *aspects*).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import logit
from spacy.tokens import Doc, Span

from textrank.docs import Candidate
from textrank.tasks.choice import Answered, ChoiceTask, answered
from textrank.tasks.ppi import PPI
from textrank.tasks.task import Scored
from textrank.text import Passages, characters
from textrank.ties import argmax_first, choose_first
from textrank.types import Indices, Matrix, Vector

Aspect: TypeAlias = Literal["status", "type", "direction"]

STATUSES = ("asserted", "negated", "speculated")
TYPES = (
    "binding",
    "phosphorylation",
    "modification",
    "degradation",
    "activation",
    "inhibition",
    "regulation",
)
DIRECTIONS = ("a>b", "b>a", "none")
ANSWERS: Mapping[str, tuple[str, ...]] = {
    "status": STATUSES,
    "type": TYPES,
    "direction": DIRECTIONS,
}
# In figures of five classes all that changes a protein counts as modification.
FIVE = {"phosphorylation": "modification", "degradation": "modification"}
FLIP = {"a>b": "b>a", "b>a": "a>b"}
LEVELS = np.arange(0.05, 0.76, 0.01)  # probabilities from which a denial or doubt may count

if not Doc.has_extension("textrank_ppi_statement"):
    Doc.set_extension("textrank_ppi_statement", default=None)


@dataclass(frozen=True)
class PPIStatement(ChoiceTask):
    """One aspect of the statements about pairs: ``status``, ``type`` or ``direction``.

    A pair has a candidate an answer. Gold is a row of ``doc.user_data["gold"]`` with the aspect as
    a key, as ``BioNLP`` gives; pairs without one are not asked about where a Doc has gold, so that
    figures are of pairs that are stated. A direction counts from the name that comes first in the
    text.
    """

    aspect: Aspect = "status"
    entities: str = "entities"
    labels: Sequence[str] = ()
    name: ClassVar[str] = "ppi_statement"
    reads: ClassVar[tuple[str, ...]] = PPI.reads
    recognises: ClassVar[tuple[str, ...]] = PPI.recognises
    ranks: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        if self.aspect not in get_args(Aspect):
            raise ValueError(
                f"aspect must be one of {', '.join(get_args(Aspect))}, got {self.aspect!r}"
            )

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers there are, in the order of a pair's candidates."""
        return ANSWERS[self.aspect]

    def candidates(self, doc: Doc) -> list[Candidate]:
        """One for each pair that is asked about and each answer."""
        gold = self._gold(doc)
        found = []
        for number, pair in enumerate(self._pairs.candidates(doc)):
            right = None if gold is None else gold.get(_key(pair.spans))
            if gold is None or right is not None:
                found += self.asked(pair, f"q{number}", _oriented(right, pair))
        return found

    def asked(self, pair: Candidate, query: str, right: str | None = None) -> list[Candidate]:
        """A candidate an answer for one pair."""
        return [
            replace(
                pair,
                question=self.aspect,
                answer=answer,
                query=query,
                label=None if right is None else 1.0 if answer == right else -1.0,
            )
            for answer in self.answers
        ]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Stated pairs without a candidate: in two sentences, or of a name no token covers."""
        reached = {_key(candidate.spans) for candidate in candidates}
        return len((self._gold(doc) or {}).keys() - reached)

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Log-odds from which a pair is denied or doubted: where the mean F of both is best.

        Both are rare, so the best F lies below even odds. The other aspects need none.
        """
        if self.aspect != "status":
            return 0.0
        scores, right = (a.reshape(-1, len(self.answers)) for a in (heldout, y))
        limits = logit(LEVELS)
        f = [_rare_f(chosen(scores, limit), right.argmax(axis=1)) for limit in limits]
        return float(limits[choose_first(f)])

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Puts the answers on ``doc._.textrank_ppi_statement``, in text order."""
        super().annotate(doc, scored)
        for row, given in zip(doc._.textrank_ppi_statement, _answers(scored, self)[0], strict=True):
            row[self.aspect] = given
        return doc

    def row(self, text: Passages, question: Answered) -> dict[str, Any]:
        """The places of a pair's names and how likely each answer is."""
        spans = [list(characters(span)) for span in question.candidates[0].spans]
        return {"spans": spans, "probabilities": question.probabilities(self.answers)}

    def decided(self, scores: Matrix, limit: float) -> Indices:
        """Which answer each pair gets, from log-odds (pairs, answers)."""
        return chosen(scores, limit) if self.aspect == "status" else argmax_first(scores)

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Accuracy, and the F of each answer."""
        plain = super().measures(replace(scored, threshold=0.0))
        given, right = _answers(scored, self)
        more = _measures(given, right, self.answers)
        more["accuracy"] = float(np.mean(np.array(given) == np.array(right)))
        if self.aspect == "type":
            coarse = [[FIVE.get(a, a) for a in own] for own in (given, right)]
            more["accuracy_five"] = float(np.mean(np.array(coarse[0]) == np.array(coarse[1])))
        return {**plain, **more}

    @property
    def _pairs(self) -> PPI:
        return PPI(self.entities, self.labels)

    def _gold(self, doc: Doc) -> dict[frozenset[str], Mapping[str, Any]] | None:
        if "gold" not in doc.user_data:
            return None
        rows = [row for row in doc.user_data["gold"] if "entities" in row and self.aspect in row]
        return {frozenset(row["entities"]): {**row, "asked": row[self.aspect]} for row in rows}


def _oriented(row: Mapping[str, Any] | None, pair: Candidate) -> str | None:
    """The right answer, a direction from the first name of the text to the second."""
    if row is None:
        return None
    turned = row["entities"][0] != pair.spans[0].id_
    answer = str(row["asked"])
    return FLIP.get(answer, answer) if turned else answer


def chosen(scores: Matrix, limit: float) -> Indices:
    """The likelier of denial and doubt where it reaches the limit, else the first: asserted.

    >>> chosen(np.array([[1.0, -0.6, -2.0], [2.0, -2.0, -1.9]]), -1.0).tolist()
    [1, 0]
    """
    best = 1 + argmax_first(scores[:, 1:])
    return np.where(scores[np.arange(len(scores)), best] >= limit, best, 0)


def _rare_f(given: Indices, right: Indices) -> float:
    """The mean F of all answers but the first."""
    found = []
    for answer in range(1, len(STATUSES)):
        said, true = given == answer, right == answer
        found.append(2 * (said & true).sum() / max(said.sum() + true.sum(), 1))
    return float(np.mean(found))


def _answers(scored: Scored, task: PPIStatement) -> tuple[list[str], list[str]]:
    """For each pair the answer given and the right one."""
    questions = list(answered(scored))
    if not questions:
        return [], []
    scores = np.array([question.scores for question in questions])
    labels = np.array([[c.label or 0.0 for c in question.candidates] for question in questions])
    given, right = task.decided(scores, scored.limit), labels.argmax(axis=1)
    return [task.answers[i] for i in given], [task.answers[i] for i in right]


def _measures(
    given: Sequence[str], right: Sequence[str], answers: Sequence[str]
) -> dict[str, float | None]:
    """The F of each answer; None where it is neither given nor right."""
    found: dict[str, float | None] = {}
    for answer in answers:
        said = np.array([g == answer for g in given])
        true = np.array([r == answer for r in right])
        total = int(said.sum() + true.sum())
        found[f"f_{answer}"] = 2 * float((said & true).sum()) / total if total else None
    return found


def _key(spans: Sequence[Span]) -> frozenset[str]:
    return frozenset(span.id_ for span in spans)
