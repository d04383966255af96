"""Sample unlabelled sentences of PubMed, and label them with a trained recogniser."""

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

DOCUMENT_STRIDE = 3  # one document in so many is read
MAX_READ_CHARACTERS = 3000  # characters of a long text that are read
MIN_SENTENCE_WORDS, MAX_SENTENCE_WORDS = 6, 80  # words of a sentence
BATCH_TEXTS = 64  # texts that are read at once


def sample_pubmed_sentences(data: Path, count: int, seed: int = 0) -> list[NamedText]:
    """Return ``count`` random sentences of PubMed texts, without names.

    Every DOCUMENT_STRIDE-th document of ``data/pubmed/*.jsonl.gz`` is read. Fewer sentences are
    returned if there are not as many. ``seed`` decides order and excerpts.
    """
    draw = random.Random(seed)
    tokenize = BioTokenizer(Vocab())
    sentences: list[NamedText] = []
    for path in sorted((data / "pubmed").glob("*.jsonl.gz")):
        for number, row in enumerate(srsly.read_gzip_jsonl(path)):
            if number % DOCUMENT_STRIDE == 0:
                sentences += _split_sentences(tokenize(_draw_part(row["text"], draw)))
    draw.shuffle(sentences)
    return sentences[:count]


def _draw_part(text: str, draw: random.Random) -> str:
    """Return a random excerpt of a long text; a short one is returned whole.

    An excerpt has at most MAX_READ_CHARACTERS and begins after its first full stop.
    """
    if len(text) <= 2 * MAX_READ_CHARACTERS:
        return text
    start = draw.randrange(0, len(text) - MAX_READ_CHARACTERS)
    return text[start : start + MAX_READ_CHARACTERS].partition(". ")[2]


def _split_sentences(doc: Doc) -> Iterator[NamedText]:
    """Yield the sentences of a Doc that are neither too short nor too long.

    Sentences end at a stop before a capital, or after MAX_SENTENCE_WORDS words. White space is left
    out.
    """
    tokens = [token for token in doc if not token.is_space]
    start = 0
    for i, token in enumerate(tokens):
        is_last = i + 1 == len(tokens)
        is_stop = token.text in ".?!" and (is_last or tokens[i + 1].text[:1].isupper())
        if is_stop or is_last or i - start > MAX_SENTENCE_WORDS:
            sentence = tokens[start : i + 1]
            if MIN_SENTENCE_WORDS <= len(sentence) <= MAX_SENTENCE_WORDS:
                yield NamedText([t.text for t in sentence], [bool(t.whitespace_) for t in sentence])
            start = i + 1


def predict_names(nlp: Language, recognizer: str, texts: Sequence[NamedText]) -> list[NamedText]:
    """Return copies of the texts with the names that a recogniser of ``nlp`` finds in them.

    ``recognizer`` is the name of the component; the network "names_tok2vec" must be trained.
    """
    network: Any = nlp.get_pipe("names_tok2vec")
    component: Any = nlp.get_pipe(recognizer)
    labelled = []
    for first in range(0, len(texts), BATCH_TEXTS):
        batch = texts[first : first + BATCH_TEXTS]
        docs = [Doc(nlp.vocab, words=list(t.words), spaces=list(t.spaces)) for t in batch]
        network.set_annotations(docs, network.predict(docs))
        labelled += [
            NamedText(text.words, text.spaces, [(n.start, n.end, n.label) for n in names])
            for text, names in zip(batch, component.predict(docs), strict=True)
        ]
    return labelled
