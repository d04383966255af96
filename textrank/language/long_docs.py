"""Texts of any length: cut into tokens in linear time, analysed in pieces, and joined again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]  # compiled
from spacy.tokens import Doc, Span

MAX_CHUNK_CHARACTERS = (
    100_000  # characters that networks see at once; a million would take about 3 GB
)
MAX_CHUNK_TOKENS = (
    25_000  # likewise; prose of so many characters has fewer, "a-a-a-" four times as many
)
MAX_UNBROKEN_CHARACTERS = (
    200  # characters without a blank that spaCy's tokenizer sees at once: it takes their square
)
_ENDLESS = re.compile(rf"\S{{{5 * MAX_UNBROKEN_CHARACTERS}}}\S+")
_ENDS = frozenset(".!?")
_MARKS = ("SENT_START", "TAG", "POS", "MORPH", "LEMMA", "NORM")  # of tokens without heads
_ATTRIBUTES = (*_MARKS, "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")


def tokenize(nlp: Language, text: str) -> Doc:
    """The tokens of a text of any length, in time that grows no faster than it.

    spaCy's own tokenizer takes the square of a stretch without blanks; one of a thousand
    characters and more, which is no word of anybody's, is therefore cut into pieces first.

    >>> import spacy
    >>> tokenize(spacy.blank("en"), ")" * 20000).text == ")" * 20000
    True
    """
    cuts = list(_cuts(text)) if isinstance(nlp.tokenizer, Tokenizer) else []
    if not cuts:
        return nlp.tokenizer(text)
    parts = [nlp.tokenizer(text[a:b]) for a, b in pairwise([0, *cuts, len(text)])]
    words = [token.text for part in parts for token in part]
    return Doc(nlp.vocab, words=words, spaces=[bool(t.whitespace_) for p in parts for t in p])


def _cuts(text: str) -> Iterator[int]:
    for run in _ENDLESS.finditer(text):
        yield from range(run.start() + MAX_UNBROKEN_CHARACTERS, run.end(), MAX_UNBROKEN_CHARACTERS)


def pipe_long(nlp: Language, docs: Sequence[Doc]) -> Iterator[Doc]:
    """The Docs after all components of a pipeline; a long one may be seen a piece at a time.

    From the first component on that writes to ``doc._``, components see the whole Doc: what they
    write there could not be joined.
    """
    if not any(map(is_long, docs)):
        yield from nlp.pipe(docs)
        return
    writing = [_writes_to_doc(nlp, name) for name, _ in nlp.pipeline]
    at = writing.index(True) if True in writing else len(writing)
    pipes = [pipe for _, pipe in nlp.pipeline]
    for doc in docs:
        yield from apply_pipes([process_in_chunks(doc, pipes[:at])], pipes[at:])


def is_long(doc: Doc) -> bool:
    """Whether components should see the Doc in pieces."""
    if not len(doc):
        return False
    last = doc[len(doc) - 1]  # to ask for the text takes all of it
    return len(doc) > MAX_CHUNK_TOKENS or last.idx + len(last.text_with_ws) > MAX_CHUNK_CHARACTERS


def process_in_chunks(doc: Doc, pipes: Iterable[Any]) -> Doc:
    """Run components on a Doc; one that may need too much memory sees pieces of a long Doc.

    Components with a true attribute ``any_length``, as those of the shipped pipeline, see the whole
    Doc: what they find must not depend on where a text would be cut.
    """
    for whole, group in groupby(pipes, lambda pipe: bool(getattr(pipe, "any_length", False))):
        some = list(group)
        doc = next(iter(apply_pipes([doc], some))) if whole else _piecewise(doc, some)
    return doc


def _piecewise(doc: Doc, pipes: Sequence[Any]) -> Doc:
    pieces = list(split_doc(doc))
    if len(pieces) == 1:
        return next(iter(apply_pipes(pieces, pipes)))
    done = [piece for own in pieces for piece in apply_pipes([own], pipes)]
    without: Any = {"exclude": ("user_data", "tensor")}
    joined = Doc.from_docs(done, ensure_whitespace=False, **without)
    joined.user_data.update(doc.user_data)
    return joined


def split_doc(doc: Doc) -> Iterator[Doc]:
    """The pieces of a long Doc, each with its spans: cut where lines or sentences end."""
    bounds = [0, *_bounds(doc), len(doc)]
    if len(bounds) == 2:
        yield doc
        return
    plain = not doc.has_annotation("DEP")  # heads would have to be moved, which spaCy does
    table = doc.to_array(list(_ATTRIBUTES)) if plain else None
    for start, end in pairwise(bounds):
        piece = doc[start:end].as_doc() if table is None else _cut(doc, table, start, end)
        for key, group in doc.spans.items():
            piece.spans[key] = [
                _moved(span, piece, start) for span in group if start <= span.start < end
            ]
        yield piece


def _cut(doc: Doc, table: Any, start: int, end: int) -> Doc:
    """Some tokens as a Doc, without looking at the others, as ``Span.as_doc`` does each time."""
    tokens = doc[start:end]
    words, spaces = [t.text for t in tokens], [bool(t.whitespace_) for t in tokens]
    piece = Doc(doc.vocab, words=words, spaces=spaces)
    return piece.from_array(list(_ATTRIBUTES), table[start:end])


def apply_pipes(docs: Iterable[Doc], pipes: Iterable[Any]) -> Iterable[Doc]:
    """The Docs after each component in turn; one may take a single Doc only, as in spaCy."""
    for pipe in pipes:
        many: Callable[..., Iterable[Doc]] | None = getattr(pipe, "pipe", None)
        docs = map(pipe, docs) if many is None else many(docs)
    return docs


def _writes_to_doc(nlp: Language, name: str) -> bool:
    return any(value.startswith("doc._.") for value in nlp.get_pipe_meta(name).assigns)


def _bounds(doc: Doc) -> Iterator[int]:
    """Tokens before which a long Doc is cut, never inside a name that is known already."""
    starts = np.array([token.idx for token in doc], dtype=np.int64)
    free = np.ones(len(doc), dtype=bool)
    for span in (span for group in doc.spans.values() for span in group):
        free[span.start + 1 : span.end] = False
    last = 0
    size = len(doc.text)
    while len(doc) and (
        size - starts[last] > MAX_CHUNK_CHARACTERS or len(doc) - last > MAX_CHUNK_TOKENS
    ):
        most = int(np.searchsorted(starts, starts[last] + MAX_CHUNK_CHARACTERS, side="right")) - 1
        least = int(np.searchsorted(starts, starts[last] + MAX_CHUNK_CHARACTERS // 2))
        most, least = min(most, last + MAX_CHUNK_TOKENS), min(least, last + MAX_CHUNK_TOKENS // 2)
        last = max(_best(doc, free, least, most), last + 1)
        if last >= len(doc):
            return
        yield last


def _best(doc: Doc, free: Any, least: int, most: int) -> int:
    """The last good place to cut: after a line, after a sentence, or anywhere."""
    for good in (_after_line, _after_stop, _anywhere):
        for i in range(most, least, -1):
            if free[i] and good(doc, i):
                return i
    return most


def _after_line(doc: Doc, i: int) -> bool:
    return "\n" in doc[i - 1].text


def _after_stop(doc: Doc, i: int) -> bool:
    return doc[i - 1].text[-1:] in _ENDS and bool(doc[i - 1].whitespace_)


def _anywhere(doc: Doc, i: int) -> bool:
    return True


def _moved(span: Span, piece: Doc, start: int) -> Span:
    first, last = span.start - start, min(span.end - start, len(piece))
    return Span(piece, first, last, label=span.label, kb_id=span.kb_id, span_id=span.id)


@dataclass
class VocabZone:
    """spaCy keeps every word it ever met; a zone of its memory is given up as a whole.

    A reader sets ``due`` when it has made no Doc but those it gave away. Whoever reads is then
    done with these, and calls ``renew``: no Doc made before may be looked at again.
    """

    nlp: Language
    is_due: bool = False
    _zone: ExitStack = field(default_factory=ExitStack)

    def restart(self) -> None:
        """Forgets the words met so far, and begins anew."""
        self._zone.close()
        self._zone.enter_context(self.nlp.memory_zone())
        self.is_due = False

    def close(self) -> None:
        """Forgets the words met so far."""
        self._zone.close()


_current: ContextVar[VocabZone | None] = ContextVar("textrank_forgetting", default=None)


@contextmanager
def vocab_zone(nlp: Language) -> Iterator[VocabZone]:
    """Inside this block readers say when the words they met can be forgotten."""
    memory = VocabZone(nlp)
    token = _current.set(memory)
    try:
        memory.restart()
        yield memory
    finally:
        _current.reset(token)
        memory.close()


def mark_batch_done() -> None:
    """Said by a reader that holds no Doc that it has not given away."""
    if (memory := _current.get()) is not None:
        memory.is_due = True
