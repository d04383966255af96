"""Statements about two names: asserted or not, of which type, in which direction.

Each of the three is a question with several answers about a pair, learnt from corpora of events;
a model of interactions carries models of these questions beside it (its *aspects*).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from spacy.tokens import Doc, Span

from textrank.docs import Candidate
from textrank.tasks.choice import Answered, ChoiceTask, answered
from textrank.tasks.ppi import PPI
from textrank.tasks.task import Scored
from textrank.text import Passages, characters

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

    def row(self, text: Passages, question: Answered) -> dict[str, Any]:
        """The answer about a pair, with the places of its names."""
        p = question.probabilities(self.answers)
        best = max(p, key=lambda answer: p[answer])
        spans = [list(characters(span)) for span in question.candidates[0].spans]
        return {"spans": spans, self.aspect: best, "probabilities": p}

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Accuracy, and the F of each answer."""
        plain = super().measures(scored)
        given, right = _answers(scored, self.answers)
        more = _measures(given, right, self.answers)
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


def _answers(scored: Scored, answers: Sequence[str]) -> tuple[list[str], list[str]]:
    """For each pair the answer given and the right one."""
    given, right = [], []
    for question in answered(scored):
        given.append(answers[int(np.argmax(question.scores))])
        labels = [candidate.label or 0.0 for candidate in question.candidates]
        right.append(answers[int(np.argmax(labels))])
    return given, right


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
