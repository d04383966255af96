"""Sentences without a parse: the one splitter of work in parts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.tokens import Doc

ENDS = frozenset(".!?")
CLOSING = frozenset(")]}\"'”’»")
NO_END = re.compile(
    r"(?:[A-Za-z]|al|cf|ca|vs|fig|figs|ref|refs|no|nos|eq|eqs|approx|sp|spp|subsp|var|dr|prof|mr|"
    r"mrs|ms|st|inc|ltd|co|corp|resp|viz|i\.e|e\.g|etc)",
    re.IGNORECASE,
)


@Language.component("textrank_sentences_by_rule")
def split_sentences(doc: Doc) -> Doc:
    """Sets where sentences begin, by punctuation; what is set already stays.

    A full stop ends a sentence where something that may begin one follows, but not after an
    abbreviation or an initial. One pass over the tokens.
    """
    given = doc.to_array([SENT_START]).astype(np.int64)
    given[given > 2] = -1
    starts = np.full(len(doc), -1, dtype=np.int64)
    texts = [token.text for token in doc]
    open_ = False
    for i, text in enumerate(texts):
        if open_ and not text.isspace() and text not in CLOSING:
            starts[i] = 1 if _may_begin(text) else -1
            open_ = False
        if text in ENDS and not (text == "." and i and NO_END.fullmatch(texts[i - 1])):
            open_ = True
    starts = np.where(given != 0, given, starts)
    if len(doc):
        starts[0] = 1
        values: Any = starts.astype(np.uint64)[:, None]
        doc.from_array([SENT_START], values)
    return doc


def _may_begin(text: str) -> bool:
    return not text[0].islower() and text[0] not in ",;:)]}"
