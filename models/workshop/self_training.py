"""Sentences of PubMed, and what recognizers find in them: more to learn evidence from."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from workshop.evidence import NamedText

from textrank.language.segmentation import BioTokenizer

STRIDE = 3  # one document in so many is read
PART = 3000  # characters of a long text that are read
SHORTEST, LONGEST = 6, 80  # words of a sentence
TOGETHER = 64  # texts that are read at once


def pubmed_sentences(data: Path, count: int, seed: int = 0) -> list[NamedText]:
    """Sentences of PubMed in a random order, none of them with names."""
    draw = random.Random(seed)
    tokenize = BioTokenizer(Vocab())
    found: list[NamedText] = []
    for path in sorted((data / "pubmed").glob("*.jsonl.gz")):
        for number, row in enumerate(srsly.read_gzip_jsonl(path)):
            if number % STRIDE == 0:
                found += _sentences(tokenize(_part(row["text"], draw)))
    draw.shuffle(found)
    return found[:count]


def _part(text: str, draw: random.Random) -> str:
    """The text, of a long one what follows the first full stop in a part of it."""
    if len(text) <= 2 * PART:
        return text
    start = draw.randrange(0, len(text) - PART)
    return text[start : start + PART].partition(". ")[2]


def _sentences(doc: Doc) -> Iterator[NamedText]:
    """Yield the text between full stops that precede capitals."""
    kept = [token for token in doc if not token.is_space]
    start = 0
    for at, token in enumerate(kept):
        last = at + 1 == len(kept)
        stop = token.text in ".?!" and (last or kept[at + 1].text[:1].isupper())
        if stop or last or at - start > LONGEST:
            own = kept[start : at + 1]
            if SHORTEST <= len(own) <= LONGEST:
                yield NamedText([t.text for t in own], [bool(t.whitespace_) for t in own])
            start = at + 1


def labelled(nlp: Language, recognizer: str, texts: Sequence[NamedText]) -> list[NamedText]:
    """Return the texts with the names that a recogniser finds in them."""
    network: Any = nlp.get_pipe("names_tok2vec")
    component: Any = nlp.get_pipe(recognizer)
    found = []
    for first in range(0, len(texts), TOGETHER):
        own = texts[first : first + TOGETHER]
        docs = [Doc(nlp.vocab, words=list(t.words), spaces=list(t.spaces)) for t in own]
        network.set_annotations(docs, network.predict(docs))
        found += [
            NamedText(text.words, text.spaces, [(n.start, n.end, n.label) for n in names])
            for text, names in zip(own, component.predict(docs), strict=True)
        ]
    return found
