"""Analysis of many documents: names first, then parses of the sentences that can have an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, NORM, ORTH, POS, SENT_START, SPACY, TAG
from spacy.language import Language
from spacy.tokens import Doc

from textrank.docs import starts_of
from textrank.language.components import WordParser, WordsToVectors, WordTagger
from textrank.language.morphology import Morphology
from textrank.memory import collected_later
from textrank.model import Model
from textrank.tasks.task import group_of
from textrank.text import Sentences, in_pieces, is_long
from textrank.text.pieces import chained

PARSED_ATTRIBUTES = (HEAD, DEP, TAG, POS, MORPH, LEMMA)
MIN_NAMES = {"ppi": 2}  # names a sentence must have before it can have an answer of the task
# Components whose answer about a sentence does not depend on other sentences.
SENTENCE_COMPONENTS = (WordsToVectors, WordTagger, WordParser, Morphology)


class Analysis:
    """Docs -> Docs with names, parses where they matter, and scored candidates.

    The answers are those of running all components of the pipeline on each Doc. Where the parser
    and what it builds on work sentence by sentence, and the task needs several names in a sentence,
    only sentences with enough names are parsed; the others get flat trees. A sentence with fewer
    names has no candidate, and its parse has no influence on other sentences. Any other pipeline
    runs as a whole.

    Parameters
    ----------
    names, parses
        The components that find names and those that parse, with all they build on.
    whole
        Parse every sentence.
    """

    def __init__(
        self,
        model: Model,
        nlp: Language,
        names: Sequence[str],
        parses: Sequence[str],
        *,
        whole: bool = False,
    ) -> None:
        self.model = model
        self.nlp = nlp
        self.key = group_of(model.pipeline.task)
        self.min_names = MIN_NAMES.get(model.pipeline.task.name, 0)
        late = [name for name in parses if name not in names]
        self.first = [pipe for name, pipe in nlp.pipeline if name not in late]
        self.second = [pipe for name, pipe in nlp.pipeline if name in late]
        self.two_passes = (
            not whole
            and self.min_names > 0
            and any(isinstance(pipe, Sentences) and pipe.final for pipe in self.first)
            and any(isinstance(pipe, WordParser) for pipe in self.second)
            and all(isinstance(pipe, SENTENCE_COMPONENTS) for pipe in self.second)
        )
        self.pipes = [pipe for _, pipe in nlp.pipeline]  # readers may switch them off later

    def __call__(self, docs: Sequence[Doc]) -> list[Doc]:
        """Analyse and score Docs; they are changed in place."""
        with collected_later():
            return list(self.model.annotate(self.read(docs)))

    def read(self, docs: Sequence[Doc]) -> list[Doc]:
        """Find names and parses, without scoring anything."""
        if not self.two_passes:
            return [_with_sentences(doc) for doc in _in_pieces(docs, self.pipes)]
        found = _in_pieces(docs, self.first)
        self._parse([doc for doc in found if len(doc) and not doc.has_annotation("DEP")])
        return found

    def _parse(self, docs: Sequence[Doc]) -> None:
        masks = [self._needed(doc) for doc in docs]
        parts = [_take(*one) for one in zip(docs, masks, strict=True)]
        parsed = _in_pieces([part for part in parts if part is not None], self.second)
        following = iter(parsed)
        for doc, mask, part in zip(docs, masks, parts, strict=True):
            _set_parse(doc, mask, None if part is None else next(following))

    def _needed(self, doc: Doc) -> NDArray[np.bool_]:  # (tokens,)
        """Return which tokens are in sentences with enough names."""
        spans = doc.spans.get(self.key, doc.ents)
        starts = starts_of(doc)
        sentence = np.searchsorted(starts, [span.start for span in spans], side="right") - 1
        enough = np.bincount(sentence, minlength=len(starts) - 1) >= self.min_names
        return np.repeat(enough, np.diff(starts))


def _take(doc: Doc, mask: NDArray[np.bool_]) -> Doc | None:
    """Return a Doc of some sentences of a Doc; None where there are none."""
    if not mask.any():
        return None
    columns: Any = [ORTH, SPACY, NORM, TAG, SENT_START]
    table: Any = doc.to_array(columns)[mask]
    strings = doc.vocab.strings
    words = [strings[orth] for orth in table[:, 0].tolist()]
    part = Doc(doc.vocab, words=words, spaces=(table[:, 1] == 1).tolist())
    return part.from_array(columns[2:], table[:, 2:])


def _set_parse(doc: Doc, mask: NDArray[np.bool_], part: Doc | None) -> None:
    """Set the parse of the sentences in ``mask``, and flat trees elsewhere."""
    values: Any = doc.to_array(list(PARSED_ATTRIBUTES)).astype(np.uint64)
    starts = starts_of(doc)
    heads = np.repeat(starts[:-1], np.diff(starts)) - np.arange(len(doc))
    root, dep = (doc.vocab.strings.add(label) for label in ("ROOT", "dep"))
    values[:, 0] = heads.astype(np.uint64)
    values[:, 1] = np.where(heads, dep, root)
    if part is not None:
        values[mask] = part.to_array(list(PARSED_ATTRIBUTES))
    doc.from_array(list(PARSED_ATTRIBUTES), values)


def _in_pieces(docs: Sequence[Doc], pipes: Sequence[Any]) -> list[Doc]:
    """The Docs after some components, together; long ones by themselves and in pieces."""
    if not any(map(is_long, docs)):
        return list(chained(docs, pipes))
    return [in_pieces(doc, pipes) for doc in docs]


def _with_sentences(doc: Doc) -> Doc:
    whole = doc.has_annotation("SENT_START", require_complete=True)
    return doc if whole else Sentences(final=True)(doc)
