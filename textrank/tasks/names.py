"""The names of a Doc, wherever they come from: a corpus, the user, or a recogniser."""

from __future__ import annotations

from spacy.tokens import Doc, Span

from textrank.documents import document_id


def named_spans(doc: Doc, key: str) -> list[Span]:
    """The spans of a group in text order; a missing group is filled with ``doc.ents``.

    The shipped language model and all readers fill the group; other spaCy pipelines only have
    ``doc.ents``. What looks at names later finds them in the group.
    """
    if key not in doc.spans:
        if not doc.has_annotation("ENT_IOB"):
            raise ValueError(
                f"document {document_id(doc)!r} has no span group {key!r} and no entities. Mark "
                f"the names in doc.spans[{key!r}], or run a recogniser before."
            )
        doc.spans[key] = [
            Span(doc, ent.start, ent.end, label=ent.label_, span_id=f"e{number}")
            for number, ent in enumerate(doc.ents)
        ]
    return sorted(doc.spans[key], key=lambda s: (s.start_char, s.end_char, s.id_))
