"""Gene and protein names: whether a name means the gene, its protein or its RNA here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from spacy.tokens import Doc

from textrank.docs import Candidate, named_spans
from textrank.tasks.choice import (
    Question,
    answered,
    candidates_of,
    choice_measures,
)
from textrank.tasks.task import Explain
from textrank.text import characters, plain, words_only
from textrank.types import Vector

if not Doc.has_extension("textrank_gene_protein"):
    Doc.set_extension("textrank_gene_protein", default=None)

UNDECIDED = ("", "gene", "Gene", "GENE", "GGP", "GeneOrGeneProduct", "gene_or_gene_product")


@dataclass(frozen=True)
class GeneProtein:
    """What each gene or protein name stands for; the label of an annotated name is the answer.

    Parameters
    ----------
    answers
        The kinds to tell apart. Of two, the second is the positive class.
    also
        Kinds of names that are judged too, though their label says nothing, as a recogniser
        gives them. They have no gold answer.
    entities
        The span group that holds the names.
    """

    answers: Sequence[str] = ("protein", "DNA")
    also: Sequence[str] = UNDECIDED
    entities: str = "entities"
    name: ClassVar[str] = "gene_protein"
    reads: ClassVar[tuple[str, ...]] = ()  # of the analysis: words and sentences are enough
    recognises: ClassVar[tuple[str, ...]] = ("genes",)
    ranks: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for setting in ("answers", "also"):
            object.__setattr__(self, setting, tuple(getattr(self, setting)))
        if len(set(self.answers)) < 2 or len(set(self.answers)) < len(self.answers):
            raise ValueError(f"answers must be at least two different ones, got {self.answers}")

    def candidates(self, doc: Doc) -> list[Candidate]:
        """One for each name, or one for each name and answer where there are more than two."""
        named_spans(doc, self.entities)
        words = words_only(doc)
        return candidates_of(
            [
                Question(span, tuple(self.answers), right=self._right(span.label_))
                for span in named_spans(words, self.entities)
                if span.label_ in self.answers or span.label_ in self.also
            ]
        )

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """None: every marked name is judged."""
        return 0

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Log-odds of zero, since scores are calibrated."""
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
        """Puts the judged names on ``doc._.textrank_gene_protein``, in text order."""
        found: list[dict[str, Any]] = []
        for question in answered(candidates, scores):
            p = question.probabilities(self.answers)
            best = max(p, key=lambda answer: p[answer])
            span = question.span
            row = {
                "name": plain(doc.text[slice(*characters(span))]),
                "span": list(characters(span)),
                "sentence": doc.text[slice(*characters(span.sent))],
                "label": best,
                "probability": p[best],
                "probabilities": p,
            }
            found.append(row)
        doc._.textrank_gene_protein = found
        return doc

    def justify(self, doc: Doc, candidates: Sequence[Candidate], explain: Explain) -> Doc:
        """No reasons: the rows say what they rest on."""
        return doc

    def measures(
        self,
        candidates: Sequence[Candidate],
        scores: Vector,
        threshold: float | None,
        unreachable: int,
    ) -> dict[str, float | None]:
        """Those of yes and no, with accuracy over questions."""
        return choice_measures(candidates, scores, threshold, unreachable)

    def _right(self, label: str) -> str | None:
        return label if label in self.answers else None
