"""Passages: what stands where in the user's text, of a Doc asked many times."""

from __future__ import annotations

from dataclasses import dataclass

from spacy.tokens import Doc, Span

from textrank.docs import sentence_bounds, starts_of
from textrank.text.words import characters
from textrank.types import Indices


@dataclass(frozen=True, eq=False)
class Passages:
    """The text of a Doc and where its sentences begin, each worked out once.

    ``doc.text`` and ``span.sent`` go through the whole Doc at every call, which for the names of
    a long document is quadratic.
    """

    text: str
    starts: Indices  # in tokens of the Doc that spans are of

    @classmethod
    def of(cls, doc: Doc, words: Doc) -> Passages:
        """Those of a Doc, for spans of ``words``: the Doc itself or its ``words_only``."""
        return cls(doc.text, starts_of(words))

    def __call__(self, span: Span) -> str:
        """The words of a span as the user wrote them."""
        return self.text[slice(*characters(span))]

    def sentence(self, span: Span) -> str:
        """The sentence of a span as the user wrote it."""
        return self(span.doc[slice(*sentence_bounds(self.starts, span))])
