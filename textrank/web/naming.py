"""Names that people mark or mend: the spans of a Doc made anew from what it had and the marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Doc, Span

GROUP = "entities"


@dataclass(frozen=True)
class Mark:
    """Characters that are a name, or with ``remove`` are none."""

    start: int
    end: int
    remove: bool = False
    id: str = "m0"


@dataclass(frozen=True, eq=False)
class Names:
    """The names a Doc came with, to which marks are applied."""

    doc: Doc
    given: Sequence[Span]

    @classmethod
    def of(cls, doc: Doc) -> Names:
        """As the Doc has them now."""
        return cls(doc, list(doc.spans.get(GROUP, ())))

    def apply(self, marks: Sequence[Mark]) -> None:
        """The names with all marks, each in the place of those it overlaps."""
        spans = list(self.given)
        label = Counter(span.label_ for span in spans).most_common(1)
        kind = label[0][0] if label else "protein"
        for mark in marks:
            own = self.span(mark.start, mark.end)
            spans = [s for s in spans if s.end <= own.start or own.end <= s.start]
            if not mark.remove:
                spans.append(Span(self.doc, own.start, own.end, label=kind, span_id=mark.id))
        self.doc.spans[GROUP] = sorted(spans, key=lambda span: (span.start, span.end))

    def span(self, start: int, end: int) -> Span:
        """The words that characters touch; refused where there are none."""
        size = len(self.doc.text)
        found = None
        if 0 <= start < end <= size:
            found = self.doc.char_span(start, end, alignment_mode="expand")
        if found is None or not found.text.strip() or len(found) > 60:
            raise ValueError(f"characters {start} to {end} hold no name. Mark a few words.")
        return found
