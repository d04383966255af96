"""A second reading of a text whose words a corpus gave: our own words, beside them in the Doc."""

from __future__ import annotations

from typing import Any

from spacy.tokens import Doc, Span

KEY = "own words"  # in doc.user_data, as plain values


def keep_reading(doc: Doc, own: Doc) -> None:
    """Keeps words, tags, tree and names of another Doc of the same text in this one."""
    spans = own.spans.get("entities", ())
    doc.user_data[KEY] = {
        "words": [token.text for token in own],
        "spaces": [bool(token.whitespace_) for token in own],
        "tags": [token.tag_ for token in own],
        "heads": [token.head.i for token in own],
        "deps": [token.dep_ for token in own],
        "names": [[span.start, span.end, span.label_, span.id_] for span in spans],
        "pieces": own.user_data.get("pieces", {}),
    }


def second_reading(doc: Doc) -> Doc | None:
    """The Doc that ``keep_reading`` kept, or None.

    >>> import spacy
    >>> vocab = spacy.blank("en").vocab
    >>> doc = Doc(vocab, words=["Grb2", "-", "binding"], spaces=[False] * 3)
    >>> own = Doc(vocab, words=["Grb2-binding"], spaces=[False], heads=[0], deps=["ROOT"])
    >>> keep_reading(doc, own)
    >>> [token.text for token in second_reading(doc)]
    ['Grb2-binding']
    """
    kept: dict[str, Any] | None = doc.user_data.get(KEY)
    if kept is None:
        return None
    columns: Any = {key: kept[key] for key in ("words", "spaces", "tags", "heads", "deps")}
    own = Doc(doc.vocab, **columns)
    own.spans["entities"] = [
        Span(own, start, end, label=label, span_id=name)
        for start, end, label, name in kept["names"]
    ]
    own.user_data |= {"document": doc.user_data.get("document", ""), "pieces": kept["pieces"]}
    return own
