"""Names of a text as the whole of it shows them."""

from __future__ import annotations

import pytest
import spacy

from textrank.language.ner import fix_spans
from textrank.language.segmentation import BioTokenizer

TOKENIZE = BioTokenizer(spacy.blank("en").vocab)


def names(text: str, *given: str) -> list[str]:
    """The names of a text, the first places of some given."""
    doc = TOKENIZE(text)
    spans = [
        doc.char_span(text.index(name), text.index(name) + len(name), alignment_mode="expand")
        for name in given
    ]
    return [doc[a:b].text for a, b in fix_spans(doc, [(s.start, s.end) for s in spans])]


@pytest.mark.parametrize(
    ("text", "given", "found"),
    [
        ("We saw . it", ["."], []),
        ("p53\n\nbinds", ["\n\n"], []),
        ("p53, MDM2", ["p53,", "MDM2"], ["p53", "MDM2"]),
        ("the interleukin (IL-2) receptor", ["(IL-2"], ["(IL-2)"]),
        ("the receptor (IL-2 and more", ["receptor (IL-2"], ["receptor"]),
        ("(see p53)", ["p53)"], ["p53"]),
        ("STAT3 binds. It needs STAT3 here.", ["STAT3"], ["STAT3", "STAT3"]),
        ("The cat was. It was a cat. A cat.", ["cat"], ["cat"]),
        (
            "transarterial chemoembolization (TACE) helps; TACE is safe",
            ["TACE"],
            [],
        ),
        (
            "heat shock factor (HSF) rises",
            ["heat shock factor"],
            ["heat shock factor", "HSF"],
        ),
        ("focal adhesion kinase (FAK) rises", ["FAK"], ["FAK"]),
    ],
)
def test_names_are_repaired(text, given, found):
    assert names(text, *given) == found
