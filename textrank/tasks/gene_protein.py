"""Gene and protein names: whether a name means the gene, its protein or its RNA in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from spacy.tokens import Doc

from textrank.candidates import Candidate, ensure_span_group, entity_spans
from textrank.language.alignment import SourceText, original_offsets, word_doc
from textrank.language.normalization import to_plain_text
from textrank.metrics import argmax_first
from textrank.tasks.base import AnsweredQuestion, ChoiceTask, Question, candidates_from_questions

if not Doc.has_extension("textrank_gene_protein"):
    Doc.set_extension("textrank_gene_protein", default=None)

UNDECIDED_LABELS = (
    *("", "gene", "Gene", "GENE", "FAMILY", "GGP", "GeneOrGeneProduct", "gene_or_gene_product"),
)


@dataclass(frozen=True)
class GeneProtein(ChoiceTask):
    """Gene and protein names; the answer is what a name means here, such as protein or DNA.

    The label of an annotated name is its gold answer.

    Parameters
    ----------
    answers
        Kinds to distinguish. Of two, the second is the positive class.
    also
        Labels of names that are judged too although they say nothing about the kind, as those of a
        recogniser. These names have no gold answer.
    entities
        Span group with the names.
    """

    answers: Sequence[str] = ("protein", "DNA")
    also: Sequence[str] = UNDECIDED_LABELS
    entities: str = "entities"
    name: ClassVar[str] = "gene_protein"
    required_pipes: ClassVar[tuple[str, ...]] = ()  # words and sentences are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ("kinds",)
    is_ranking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Convert lists to tuples; raise ValueError unless two or more answers, all different."""
        for setting in ("answers", "also"):
            object.__setattr__(self, setting, tuple(getattr(self, setting)))
        if len(set(self.answers)) < 2 or len(set(self.answers)) < len(self.answers):
            raise ValueError(f"answers must be at least two different labels, got {self.answers}")

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return one candidate per name; with three answers or more, one per name and answer.

        Names are in the order of the span group; those whose label is in neither ``answers`` nor
        ``also`` are left out. A Doc without the span group gets one made from ``doc.ents``, in
        place.
        """
        ensure_span_group(doc, self.entities)
        labelled = [(s, s.label_) for s in entity_spans(word_doc(doc), self.entities)]
        return candidates_from_questions(
            [
                Question(span, tuple(self.answers), right=self._gold_answer(label))
                for span, label in labelled
                if label in self.answers or label in self.also
            ]
        )

    def choices(self, candidate: Candidate) -> Sequence[str]:
        """Return the kinds to distinguish."""
        return self.answers

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return 0: every annotated name is judged."""
        return 0

    def row(self, text: SourceText, question: AnsweredQuestion) -> dict[str, Any]:
        """Return the most probable kind of a name, with its offsets and sentence.

        Keys: ``name``, ``span`` (characters of the original text), ``sentence``, ``label`` (the
        kind), ``probability`` (of that kind) and ``probabilities`` by kind. Ties go to the first of
        ``answers``.
        """
        probabilities = question.probabilities(self.answers)
        best = list(probabilities)[int(argmax_first(list(probabilities.values())))]
        span = question.span
        start, end = original_offsets(span)
        return {
            "name": to_plain_text(text.text[start:end]),
            "span": [start, end],
            "sentence": text.sentence(span),
            "label": best,
            "probability": probabilities[best],
            "probabilities": probabilities,
        }

    def _gold_answer(self, label: str) -> str | None:
        """Return the label of a name if it is one of the answers, else None (unknown)."""
        return label if label in self.answers else None
