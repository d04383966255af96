"""Word senses: which sense of a word is meant, learnt from a lexical sample."""

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
    """The sense of each marked word, or of each word with known senses where none is marked.

    ``senses`` are the senses of each word, ``{"line": ["cord", "text", ...]}``. A marked word
    names its entry in ``span.kb_id_``, or is spelt like it, and its label is the right sense.
    """

    senses: Mapping[str, Sequence[str]]
    entities: str = "entities"
    name: ClassVar[str] = "wsd"
    required_pipes: ClassVar[
        tuple[str, ...]
    ] = ()  # of the analysis: words and sentences are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    is_ranking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        senses = {str(word): tuple(own) for word, own in self.senses.items()}
        object.__setattr__(self, "senses", senses)
        for word, own in senses.items():
            if len(own) < 2 or len(set(own)) < len(own):
                raise ValueError(f"{word!r} needs at least two different senses, got {own}")

    def candidates(self, doc: Doc) -> list[Candidate]:
        """One for each word with two senses, one for each sense of other words."""
        return candidates_from_questions(
            [self._question(span) for span in self._target_spans(word_doc(doc))]
        )

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Marked words without known senses."""
        return len(doc.spans.get(self.entities, ())) - len(self._marked_spans(doc))

    def row(self, text: SourceText, question: AnsweredQuestion) -> dict[str, Any]:
        """The sense of a word, with its place."""
        p = question.probabilities(self.senses[question.title])
        best = list(p)[int(argmax_first(list(p.values())))]
        row = {"word": span_text(question.span), "span": list(original_offsets(question.span))}
        return {**row, "sense": best, "probability": p[best], "probabilities": p}

    def _target_spans(self, doc: Doc) -> list[Span]:
        if self.entities in doc.spans:
            return self._marked_spans(doc)
        return [doc[token.i : token.i + 1] for token in doc if token.lower_ in self.senses]

    def _marked_spans(self, doc: Doc) -> list[Span]:
        marked = sorted(doc.spans.get(self.entities, ()), key=lambda s: (s.start, s.end))
        return [span for span in marked if self._lexical_entry(span) in self.senses]

    def _question(self, span: Span) -> Question:
        word = self._lexical_entry(span)
        senses = tuple(self.senses[word])
        return Question(span, senses, word, span.label_ if span.label_ in senses else None)

    def _lexical_entry(self, span: Span) -> str:
        return span.kb_id_ or span.text.lower()
