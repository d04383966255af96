"""Passages: what stands where in the user's text, of a Doc asked many times."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Doc, Span

from textrank.docs import starts_of
from textrank.text.words import characters

LONGEST = 2000  # characters of a sentence that are told of what stands in it


@dataclass(frozen=True, eq=False)
class Passages:
    """The text of a Doc and where its sentences begin, each worked out once.

    ``doc.text`` and ``span.sent`` go through the whole Doc at every call, which for the names of
    a long document is quadratic.
    """

    text: str
    starts: Sequence[int]  # in tokens of the Doc that spans are of

    @classmethod
    def of(cls, doc: Doc, words: Doc) -> Passages:
        """Those of a Doc, for spans of ``words``: the Doc itself or its ``words_only``."""
        return cls(doc.text, starts_of(words).tolist())

    def __call__(self, span: Span) -> str:
        """The words of a span as the user wrote them."""
        return self.text[slice(*characters(span))]

    def sentence(self, span: Span) -> str:
        """The sentence of a span as the user wrote it; of an endless one what is around the span.

        A list of ten thousand names would else be told ten thousand times.
        """
        first, last = bisect_right(self.starts, span.start) - 1, bisect_left(self.starts, span.end)
        start, end = characters(span.doc[self.starts[first] : self.starts[last]])
        if end - start > LONGEST:
            start, end = self._around(characters(span), start, end)
        return self.text[start:end]

    def _around(self, place: tuple[int, int], start: int, end: int) -> tuple[int, int]:
        """Where to cut: at blanks, and never in the span."""
        aside = max(LONGEST - (place[1] - place[0]), 0) // 2
        if place[0] - aside > start:
            start = place[0] - aside
            start = max(start, 1 + self.text.find(" ", start, place[0]))
        if place[1] + aside < end:
            end = place[1] + aside
            blank = self.text.rfind(" ", place[1], end)
            end = end if blank < 0 else blank
        return start, end
