"""Cheap first: names before parses, and parses only of sentences that can have an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, POS, TAG
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from textrank.docs import starts_of
from textrank.memory import collected_later
from textrank.model import Model
from textrank.tasks.task import group_of
from textrank.text import Sentences, in_pieces, is_long
from textrank.text.pieces import chained

ATTRIBUTES = (HEAD, DEP, TAG, POS, MORPH, LEMMA)
NEEDED = {"ppi": 2}  # names a sentence must have before it can have an answer of the task
SPLITTER = "sentences"  # the component that finds sentences without a parse
BATCH = 512  # sentences that are parsed at once


class Analysis:
    """Docs with sentences -> Docs with names, parses where they matter, and judged candidates.

    Each sentence is parsed as a text of its own, so that what stands around it makes no
    difference: parsing all sentences or only some gives the same parses. Sentences that are not
    parsed are flat trees. Where the names build on the parse, or the task needs all of it, the
    pipeline runs as a whole.
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
        """``names`` and ``parses`` are the components that make these, with all they build on."""
        self.model = model
        self.nlp = nlp
        self.whole = whole
        self.key = group_of(model.pipeline.task)
        self.needed = NEEDED.get(model.pipeline.task.name)
        late = set(parses) - set(names)
        self.cheap = self.needed is not None and "parser" in late
        self.splits = SPLITTER in nlp.pipe_names
        self.first = [pipe for name, pipe in nlp.pipeline if name not in late]
        self.second = [pipe for name, pipe in nlp.pipeline if name in late]

    def __call__(self, docs: Sequence[Doc]) -> list[Doc]:
        """The Docs judged; they are changed in place."""
        with collected_later():
            return list(self.model.annotate(self.read(docs)))

    def read(self, docs: Sequence[Doc]) -> list[Doc]:
        """The Docs with names and parses, before any judgement."""
        if not self.cheap:
            pipes = [*self.first, *self.second]
            return [_with_sentences(doc) for doc in _in_pieces(docs, pipes)]
        split = docs if self.splits else map(Sentences(), docs)
        found = _in_pieces(list(split), self.first)
        self._parse([doc for doc in found if not doc.has_annotation("DEP")])
        return found

    def _parse(self, docs: Sequence[Doc]) -> None:
        trees = [_Trees(doc) for doc in docs]
        chosen = [
            (tree, sentence)
            for doc, tree in zip(docs, trees, strict=True)
            for sentence in self._sentences(doc)
        ]
        stream = iter(chosen)
        while batch := list(islice(stream, BATCH)):
            parsed = chained((_alone(sentence) for _, sentence in batch), self.second)
            for (tree, sentence), own in zip(batch, parsed, strict=True):
                tree.put(sentence, own)
        for tree in trees:
            tree.finish()

    def _sentences(self, doc: Doc) -> Iterator[Span]:
        """Sentences with enough names in them, or all."""
        spans = doc.spans.get(self.key, doc.ents)
        bounds = starts_of(doc)
        where = np.searchsorted(bounds, [span.start for span in spans], side="right") - 1
        inside = np.bincount(where, minlength=len(bounds) - 1)
        enough = np.flatnonzero(inside >= (0 if self.whole else self.needed or 0))
        for start, end in zip(bounds[enough].tolist(), bounds[enough + 1].tolist(), strict=True):
            if not (sentence := doc[start:end]).text.isspace():
                yield sentence


class _Trees:
    """The parses of a Doc's sentences, collected and then put on the Doc at once."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.values = doc.to_array(list(ATTRIBUTES)).astype(np.uint64)
        root, dep = (doc.vocab.strings.add(label) for label in ("ROOT", "dep"))
        self.dep = dep
        starts = starts_of(doc)
        self.heads = np.repeat(starts[:-1], np.diff(starts)) - np.arange(len(doc))
        self.values[:, 1] = np.where(self.heads, dep, root)

    def put(self, sentence: Span, own: Doc) -> None:
        """Takes over the analysis of a sentence that was parsed alone, without its white space."""
        kept = np.array([t.i for t in sentence if not t.is_space], dtype=np.int64)
        values = own.to_array(list(ATTRIBUTES)).astype(np.uint64)
        heads = values[:, 0].astype(np.int64) + np.arange(len(own))
        self.values[kept] = values
        self.heads[kept] = kept[heads] - kept
        for token in sentence:
            if token.is_space:  # hangs on the word before it, or the first after it
                before = kept[max(int(np.searchsorted(kept, token.i)) - 1, 0)]
                self.heads[token.i] = before - token.i
                self.values[token.i, 1] = self.dep

    def finish(self) -> None:
        if len(self.doc):
            self.values[:, 0] = self.heads.astype(np.uint64)
            values: Any = self.values
            self.doc.from_array(list(ATTRIBUTES), values)


def _alone(sentence: Span) -> Doc:
    """The sentence as a Doc without white space; tags and what is known of its ends are kept."""
    tokens = [token for token in sentence if not token.is_space]
    return Doc(
        sentence.doc.vocab,
        words=[token.text for token in tokens],
        spaces=[bool(token.whitespace_) for token in tokens],
        tags=[t.tag_ for t in tokens] if sentence.doc.has_annotation("TAG") else None,
        sent_starts=[1, *(_begins(token) for token in tokens[1:])] if tokens else None,
    )


def _begins(token: Token) -> int | None:
    """Whether a sentence begins here, as spaCy writes it down: -1 no, None not decided."""
    return None if token.is_sent_start is None else -1


def _in_pieces(docs: Sequence[Doc], pipes: Sequence[Any]) -> list[Doc]:
    """The Docs after some components, together; long ones by themselves and in pieces."""
    if not any(map(is_long, docs)):
        return list(chained(docs, pipes))
    return [in_pieces(doc, pipes) for doc in docs]


def _with_sentences(doc: Doc) -> Doc:
    whole = doc.has_annotation("SENT_START", require_complete=True)
    return doc if whole else Sentences(final=True)(doc)
