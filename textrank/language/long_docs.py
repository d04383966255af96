"""Process texts of any length in bounded time and memory.

- ``tokenize`` bounds the time of spaCy's tokenizer on text without blanks.
- ``pipe_long`` and ``process_in_chunks`` run components that need much memory on chunks of a long
  Doc and join the results.
- ``vocab_zone`` frees the strings that spaCy's vocabulary collects from a stream of texts.
"""

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

MAX_CHUNK_CHARACTERS = 100_000  # a network takes about 3 GB for a million characters
MAX_CHUNK_TOKENS = 25_000  # prose of MAX_CHUNK_CHARACTERS has fewer, "a-a-a-" four times as many
MAX_UNBROKEN_CHARACTERS = 200  # spaCy's tokenizer is quadratic in a stretch without blanks
_UNBROKEN_RUN = re.compile(rf"\S{{{5 * MAX_UNBROKEN_CHARACTERS}}}\S+")
_SENTENCE_ENDS = frozenset(".!?")
_COPIED_ATTRIBUTES = (
    *("SENT_START", "TAG", "POS", "MORPH", "LEMMA", "NORM"),
    *("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"),
)


def tokenize(nlp: Language, text: str) -> Doc:
    """Tokenize a text of any length in linear time.

    spaCy's own tokenizer is quadratic in a stretch without blanks. Stretches of more than a
    thousand characters are therefore cut every ``MAX_UNBROKEN_CHARACTERS`` first; other tokenizers
    get the text as it is.

    >>> import spacy
    >>> tokenize(spacy.blank("en"), ")" * 20000).text == ")" * 20000
    True
    """
    cuts = list(_find_cuts(text)) if isinstance(nlp.tokenizer, Tokenizer) else []
    if not cuts:
        return nlp.tokenizer(text)
    parts = [nlp.tokenizer(text[a:b]) for a, b in pairwise([0, *cuts, len(text)])]
    words = [token.text for part in parts for token in part]
    return Doc(nlp.vocab, words=words, spaces=[bool(t.whitespace_) for p in parts for t in p])


def _find_cuts(text: str) -> Iterator[int]:
    """Yield the offsets, ascending, at which long stretches without white space are cut.

    Stretches of more than five times ``MAX_UNBROKEN_CHARACTERS`` are cut into parts of that many
    characters, counted from the start of the stretch.
    """
    for run in _UNBROKEN_RUN.finditer(text):
        yield from range(run.start() + MAX_UNBROKEN_CHARACTERS, run.end(), MAX_UNBROKEN_CHARACTERS)


def pipe_long(nlp: Language, docs: Sequence[Doc]) -> Iterator[Doc]:
    """Run all components of a pipeline on Docs, long Docs in chunks; yield the Docs in order.

    If no Doc is long, this is ``nlp.pipe``. From the first component that sets ``doc._`` attributes
    on, components get the whole Doc, because such attributes of chunks cannot be joined. A Doc that
    was cut is yielded as a new Doc without a tensor.
    """
    if not any(map(is_long, docs)):
        yield from nlp.pipe(docs)
        return
    sets_extension = [_sets_extension(nlp, name) for name, _ in nlp.pipeline]
    first_writer = sets_extension.index(True) if True in sets_extension else len(sets_extension)
    pipes = [pipe for _, pipe in nlp.pipeline]
    for doc in docs:
        yield from apply_pipes([process_in_chunks(doc, pipes[:first_writer])], pipes[first_writer:])


def is_long(doc: Doc) -> bool:
    """Return whether a Doc exceeds the size of a chunk in characters or tokens.

    These are MAX_CHUNK_CHARACTERS (100 000) and MAX_CHUNK_TOKENS (25 000); an empty Doc is not
    long.
    """
    if not len(doc):
        return False
    last = doc[len(doc) - 1]  # building doc.text would be slow
    return len(doc) > MAX_CHUNK_TOKENS or last.idx + len(last.text_with_ws) > MAX_CHUNK_CHARACTERS


def process_in_chunks(doc: Doc, pipes: Iterable[Any]) -> Doc:
    """Run components on a Doc and return the result; memory-hungry ones get chunks of a long Doc.

    Components with a true attribute ``any_length``, such as those of the shipped pipeline, get the
    whole Doc, so that their results do not depend on where the text would be cut. The result is
    another Doc if chunks were joined.
    """
    for takes_any_length, group in groupby(
        pipes, lambda pipe: bool(getattr(pipe, "any_length", False))
    ):
        pipes_in_group = list(group)
        if takes_any_length:
            doc = next(iter(apply_pipes([doc], pipes_in_group)))
        else:
            doc = _process_chunks(doc, pipes_in_group)
    return doc


def _process_chunks(doc: Doc, pipes: Sequence[Any]) -> Doc:
    """Run components on the chunks of a Doc and return them joined to a new Doc.

    User data of ``doc`` is kept; tensors and user data that the components set on chunks are not. A
    Doc that is a single chunk is processed itself, in place.
    """
    chunks = list(split_doc(doc))
    if len(chunks) == 1:
        return next(iter(apply_pipes(chunks, pipes)))
    processed_chunks = [processed for chunk in chunks for processed in apply_pipes([chunk], pipes)]
    options: Any = {"exclude": ("user_data", "tensor")}
    joined = Doc.from_docs(processed_chunks, ensure_whitespace=False, **options)
    joined.user_data.update(doc.user_data)
    return joined


def split_doc(doc: Doc) -> Iterator[Doc]:
    """Yield the chunks of a Doc, cut at ends of lines or sentences; a short Doc is yielded itself.

    Without such an end in the second half of a chunk, it is cut between other tokens. Chunks keep
    token annotations and spans; user data and tensors are not copied. A span is put into the chunk
    in which it begins, and cut at the chunk's end. Chunks come in order and have at most
    ``MAX_CHUNK_CHARACTERS`` and ``MAX_CHUNK_TOKENS``, unless a token is longer.
    """
    bounds = [0, *_find_chunk_bounds(doc), len(doc)]
    if len(bounds) == 2:
        yield doc
        return
    # If there are heads, spaCy's slower ``as_doc`` must renumber them.
    table = None if doc.has_annotation("DEP") else doc.to_array(list(_COPIED_ATTRIBUTES))
    for start, end in pairwise(bounds):
        chunk = doc[start:end].as_doc() if table is None else _copy_tokens(doc, table, start, end)
        for key, group in doc.spans.items():
            chunk.spans[key] = [
                _shift_span(span, chunk, start) for span in group if start <= span.start < end
            ]
        yield chunk


def _copy_tokens(doc: Doc, table: Any, start: int, end: int) -> Doc:
    """Return the tokens ``start:end`` as a Doc, with their rows of the attribute table.

    ``table`` has a row per token of ``doc`` and the columns ``_COPIED_ATTRIBUTES``. Unlike
    ``Span.as_doc`` this does not scan the whole Doc each time.
    """
    tokens = doc[start:end]
    words, spaces = [t.text for t in tokens], [bool(t.whitespace_) for t in tokens]
    chunk = Doc(doc.vocab, words=words, spaces=spaces)
    return chunk.from_array(list(_COPIED_ATTRIBUTES), table[start:end])


def apply_pipes(docs: Iterable[Doc], pipes: Iterable[Any]) -> Iterable[Doc]:
    """Return the Docs after each component in turn, lazily.

    Components without a ``pipe`` method are called with one Doc at a time, as spaCy does.
    """
    for pipe in pipes:
        pipe_docs: Callable[..., Iterable[Doc]] | None = getattr(pipe, "pipe", None)
        docs = map(pipe, docs) if pipe_docs is None else pipe_docs(docs)
    return docs


def _sets_extension(nlp: Language, name: str) -> bool:
    """Return whether a component declares that it sets an attribute of ``doc._``."""
    return any(value.startswith("doc._.") for value in nlp.get_pipe_meta(name).assigns)


def _find_chunk_bounds(doc: Doc) -> Iterator[int]:
    """Yield the tokens, ascending, before which a long Doc is cut; nothing for a short Doc.

    Chunks are filled by half at least, except the last, and up to the maximum in characters and
    tokens. Between these, the last start of a line is preferred, then of a sentence, then any
    token. Cuts are outside existing spans if possible.
    """
    starts = np.array([token.idx for token in doc], dtype=np.int64)
    is_cuttable = np.ones(len(doc), dtype=bool)
    for span in (span for group in doc.spans.values() for span in group):
        is_cuttable[span.start + 1 : span.end] = False
    chunk_start = 0
    n_characters = len(doc.text)
    while len(doc) and (
        n_characters - starts[chunk_start] > MAX_CHUNK_CHARACTERS
        or len(doc) - chunk_start > MAX_CHUNK_TOKENS
    ):
        latest = (
            int(np.searchsorted(starts, starts[chunk_start] + MAX_CHUNK_CHARACTERS, side="right"))
            - 1
        )
        earliest = int(np.searchsorted(starts, starts[chunk_start] + MAX_CHUNK_CHARACTERS // 2))
        latest = min(latest, chunk_start + MAX_CHUNK_TOKENS)
        earliest = min(earliest, chunk_start + MAX_CHUNK_TOKENS // 2)
        chunk_start = max(_choose_cut(doc, is_cuttable, earliest, latest), chunk_start + 1)
        if chunk_start >= len(doc):
            return
        yield chunk_start


def _choose_cut(doc: Doc, is_cuttable: Any, earliest: int, latest: int) -> int:
    """Return the last good token to cut before, in ``earliest + 1 .. latest``.

    Preferred is the start of a line, then of a sentence, then any token outside a span; if there is
    none, ``latest``. ``is_cuttable`` (tokens,) is false inside spans. ``latest`` must be a token.
    """
    for is_good in (_is_after_line, _is_after_stop, _is_anywhere):
        for i in range(latest, earliest, -1):
            if is_cuttable[i] and is_good(doc, i):
                return i
    return latest


def _is_after_line(doc: Doc, i: int) -> bool:
    """Return whether the token before ``i`` contains a line end; ``i`` must be above 0."""
    return "\n" in doc[i - 1].text


def _is_after_stop(doc: Doc, i: int) -> bool:
    """Return whether the token before ``i`` ends with . ! or ? and is followed by a space.

    ``i`` must be above 0.
    """
    return doc[i - 1].text[-1:] in _SENTENCE_ENDS and bool(doc[i - 1].whitespace_)


def _is_anywhere(doc: Doc, i: int) -> bool:
    """Return True: any token will do."""
    return True


def _shift_span(span: Span, chunk: Doc, offset: int) -> Span:
    """Return a copy of a span in a chunk that begins at token ``offset`` of the Doc.

    The span must begin in the chunk; if it extends beyond, it is cut at the chunk's end. Label,
    kb_id and id are kept.
    """
    first, last = span.start - offset, min(span.end - offset, len(chunk))
    return Span(chunk, first, last, label=span.label, kb_id=span.kb_id, span_id=span.id)


@dataclass
class VocabZone:
    """Renewable memory zone of a pipeline's vocabulary.

    spaCy's vocabulary keeps every string it has seen. ``nlp.memory_zone`` frees them all at once,
    after which Docs made in the zone must not be used. A reader calls ``mark_batch_done`` when it
    holds no Doc that it has not yielded, which sets ``is_due``; the consumer, when done with these
    Docs, calls ``restart``.
    """

    nlp: Language
    is_due: bool = False
    _zone: ExitStack = field(default_factory=ExitStack)

    def restart(self) -> None:
        """Free the strings of the current zone and begin a new one; older Docs become invalid."""
        self._zone.close()
        self._zone.enter_context(self.nlp.memory_zone())
        self.is_due = False

    def close(self) -> None:
        """Free the strings of the current zone, whose Docs become invalid; no new zone is begun."""
        self._zone.close()


_current_zone: ContextVar[VocabZone | None] = ContextVar("textrank_forgetting", default=None)


@contextmanager
def vocab_zone(nlp: Language) -> Iterator[VocabZone]:
    """Run the block in a ``VocabZone``, which ``mark_batch_done`` then reaches from any reader.

    Docs made in the block must not be used after it.
    """
    zone = VocabZone(nlp)
    token = _current_zone.set(zone)
    try:
        zone.restart()
        yield zone
    finally:
        _current_zone.reset(token)
        zone.close()


def mark_batch_done() -> None:
    """Mark the current zone, if any, as due for a restart.

    Called by a reader that holds no Doc that it has not yielded.
    """
    if (zone := _current_zone.get()) is not None:
        zone.is_due = True
