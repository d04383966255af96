"""The names of a Doc, wherever they come from: a corpus, the user, or a recogniser."""

from __future__ import annotations

from spacy.tokens import Doc, Span

from textrank.documents import document_id


def named_spans(doc: Doc, key: str) -> list[Span]:
    """The spans of a group in text order; without the group, the entities of a recogniser.

    The shipped language model and all readers fill the group; other spaCy pipelines fill
    ``doc.ents``.
    """
    if key not in doc.spans and not doc.has_annotation("ENT_IOB"):
        raise ValueError(
            f"document {document_id(doc)!r} has no span group {key!r} and no entities. Mark the "
            f"names in doc.spans[{key!r}], or run a recogniser before."
        )
    spans = doc.spans.get(key, doc.ents)
    return sorted(spans, key=lambda s: (s.start_char, s.end_char, s.id_))
