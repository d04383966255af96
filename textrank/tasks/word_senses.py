"""Word senses: which sense a word has in the text, learnt from a lexical sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from spacy.tokens import Doc, Span

from textrank.candidates import Candidate
from textrank.language.alignment import SourceText, original_offsets, word_doc
from textrank.metrics import argmax_first
from textrank.tasks.base import (
    AnsweredQuestion,
    ChoiceTask,
    Question,
    candidates_from_questions,
    span_text,
)

if not Doc.has_extension("textrank_wsd"):
    Doc.set_extension("textrank_wsd", default=None)


@dataclass(frozen=True)
class WordSenses(ChoiceTask):
    """Ambiguous words; the answer is the sense that a word has in the text.

    ``senses`` maps a word to its senses, ``{"line": ["cord", "text", ...]}``. If the Doc has the
    span group ``entities``, its spans are judged: a span names its entry of ``senses`` in
    ``span.kb_id_`` or by its text, and its label is the gold sense. Otherwise every token with an
    entry is judged.

    Raises ValueError for a word with fewer than two senses or a repeated one.
    """

    senses: Mapping[str, Sequence[str]]
    entities: str = "entities"
    name: ClassVar[str] = "wsd"
    required_pipes: ClassVar[tuple[str, ...]] = ()  # words and sentences are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    is_ranking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Convert the senses to tuples; raise ValueError unless each word has two or more.

        A repeated sense raises ValueError too.
        """
        all_senses = {str(word): tuple(senses) for word, senses in self.senses.items()}
        object.__setattr__(self, "senses", all_senses)
        for word, senses in all_senses.items():
            if len(senses) < 2 or len(set(senses)) < len(senses):
                raise ValueError(f"{word!r} needs at least two different senses, got {senses}")

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return one candidate per word with two senses, and one per sense of other words.

        In text order. The candidate of a word with two senses stands for the second. Candidates may
        belong to a copy of the Doc that has only its words (``word_doc``).
        """
        return candidates_from_questions(
            [self._question(span) for span in self._target_spans(word_doc(doc))]
        )

    def choices(self, candidate: Candidate) -> Sequence[str]:
        """Return the senses of the candidate's word."""
        return self.senses[candidate.question]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return the number of annotated words without known senses; 0 without a span group.

        A word with an entry in ``senses`` is reachable, even if its label is none of its senses.
        """
        return len(doc.spans.get(self.entities, ())) - len(self._marked_spans(doc))

    def row(self, text: SourceText, question: AnsweredQuestion) -> dict[str, Any]:
        """Return the most probable sense of a word, with its offsets.

        Keys: ``word``, ``span`` ([start, end] characters of the original text), ``sense``,
        ``probability`` and ``probabilities`` (by sense). The first sense wins a tie.
        """
        probabilities = question.probabilities(self.senses[question.title])
        best = list(probabilities)[int(argmax_first(list(probabilities.values())))]
        row = {"word": span_text(question.span), "span": list(original_offsets(question.span))}
        return {
            **row,
            "sense": best,
            "probability": probabilities[best],
            "probabilities": probabilities,
        }

    def _target_spans(self, doc: Doc) -> list[Span]:
        """Return the annotated words with known senses, or all tokens with known senses.

        The latter only if the Doc lacks the span group, by the lower-cased text. In text order.
        """
        if self.entities in doc.spans:
            return self._marked_spans(doc)
        return [doc[token.i : token.i + 1] for token in doc if token.lower_ in self.senses]

    def _marked_spans(self, doc: Doc) -> list[Span]:
        """Return the annotated words with an entry in ``senses``, in text order.

        Empty if the Doc lacks the span group.
        """
        marked = sorted(doc.spans.get(self.entities, ()), key=lambda s: (s.start, s.end))
        return [span for span in marked if self._lexical_entry(span) in self.senses]

    def _question(self, span: Span) -> Question:
        """Return the question for a word; its label is the gold answer if it is a known sense.

        Otherwise the gold answer is None. The word must have an entry in ``senses``.
        """
        word = self._lexical_entry(span)
        senses = tuple(self.senses[word])
        return Question(span, senses, word, span.label_ if span.label_ in senses else None)

    def _lexical_entry(self, span: Span) -> str:
        """Return the key of a word in ``senses``: its ``kb_id_``, or its text in lower case."""
        return span.kb_id_ or span.text.lower()
