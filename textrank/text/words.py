"""Docs as networks and representations see them: without white space, markup and odd letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from spacy.attrs import (
    DEP,
    HEAD,
    IDX,
    IS_SPACE,
    LEMMA,
    MORPH,
    ORTH,
    POS,
    SENT_START,
    SPACY,
    TAG,
)
from spacy.tokens import Doc, Span

from textrank.text.markup import read, spell
from textrank.types import Indices

ORIGINAL = "textrank_original"  # in user_data of a reading: characters of its tokens
_CACHE_SIZE = 200_000


class Reading(NamedTuple):
    """Which tokens of a Doc are words, and how they are read."""

    kept: Indices
    words: list[str]


class _Reader:
    """What words are read as, worked out once a word; by spaCy's hash, which names it."""

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read
        self._known: dict[int, str | None] = {}  # None: as it is written

    def __call__(self, doc: Doc) -> Reading | None:
        orths: list[int] = doc.to_array([ORTH]).tolist()
        distinct = set(orths)
        known = self._known
        if not distinct <= known.keys():
            self._learn(doc, distinct)
        if all(known[orth] is None for orth in distinct):
            return None
        words = [known[o] for o in orths]
        kept = [i for i, word in enumerate(words) if word != ""]
        strings = doc.vocab.strings
        return Reading(np.array(kept, dtype=np.intp), [words[i] or strings[orths[i]] for i in kept])

    def _learn(self, doc: Doc, orths: set[int]) -> None:
        if len(self._known) > _CACHE_SIZE:
            self._known.clear()
        for orth in orths - self._known.keys():
            word = doc.vocab.strings[orth]
            answer = self._read(word)
            self._known[orth] = None if answer == word else answer


_as_read, _as_spelt = _Reader(read), _Reader(spell)


def reading_of(doc: Doc, *, spelt: bool = False) -> Reading | None:
    """The words of a Doc, in plain letters if ``spelt``; None where its tokens are just these."""
    return _as_spelt(doc) if spelt else _as_read(doc)


def bare(doc: Doc, *, spelt: bool = False) -> Doc:
    """The Doc itself, or its words with the tags, sentences and vectors that a network reads."""
    reading = reading_of(doc, spelt=spelt)
    if reading is None:
        return doc
    words = Doc(doc.vocab, words=reading.words, spaces=_spaces(doc, reading.kept))
    if len(words):
        given: Any = doc.to_array([SENT_START, TAG])[reading.kept]
        words.from_array([SENT_START, TAG], given)
    if doc.tensor.size:
        words.tensor = doc.tensor[reading.kept]
    return words


def spread(doc: Doc, rows: Any, *, spelt: bool = False) -> Any:
    """A row for each token of a Doc, given those of its words; none for white space and markup."""
    reading = reading_of(doc, spelt=spelt)
    if reading is None:
        return rows
    spread = np.zeros((len(doc), *rows.shape[1:]), dtype=rows.dtype)
    spread[reading.kept] = rows
    return spread


def give_tags(doc: Doc, words: Doc) -> None:
    """Tags of the words to the Doc they are of; white space and markup get that of white space."""
    reading = reading_of(doc)
    if reading is None:
        return
    tags = np.full(len(doc), doc.vocab.strings.add("_SP"), dtype=np.uint64)
    tags[reading.kept] = words.to_array([TAG]).ravel()
    doc.from_array([TAG], cast(Any, tags.reshape(-1, 1)))


def give_parse(doc: Doc, words: Doc) -> None:
    """Arcs of the words to the Doc they are of; white space and markup hang on the word before."""
    reading = reading_of(doc)
    if reading is None or not len(doc):
        return
    kept = reading.kept
    neighbour = _neighbours(kept, len(doc))
    heads = np.where(neighbour < 0, 0, neighbour - np.arange(len(doc)))
    labels = np.full(len(doc), doc.vocab.strings.add("dep"), dtype=np.uint64)
    if len(kept):
        arcs = words.to_array([HEAD, DEP])
        above = np.arange(len(kept)) + arcs[:, 0].astype(np.int64)
        heads[kept] = kept[above] - kept
        labels[kept] = arcs[:, 1]
    rows = np.column_stack([heads.astype(np.int64).astype(np.uint64), labels])
    doc.from_array([HEAD, DEP], cast(Any, rows))


def _neighbours(kept: Indices, length: int) -> Indices:  # (length,)
    """For each token the last word at or before it; the first word for those before it."""
    if not len(kept):
        return np.full(length, -1, dtype=np.intp)
    return kept[np.maximum(np.searchsorted(kept, np.arange(length), side="right") - 1, 0)]


def words_only(doc: Doc) -> Doc:
    """The Doc itself, or a copy without white space and markup, its words in plain letters.

    Tags, arcs, sentences, names and user data come along; ``characters`` says where a span of the
    copy stands in the original. What a task learns and judges is the same in every layout so.

    >>> import spacy
    >>> doc = Doc(spacy.blank("en").vocab, words=["TNF-α", "\\n\\n", "binds"])
    >>> [token.text for token in words_only(doc)], characters(words_only(doc)[1:2])
    (['TNF-alpha', 'binds'], (9, 14))
    """
    reading = reading_of(doc, spelt=True)
    if reading is None or "dependencies" in doc.user_data:  # a corpus gave tokens and parse
        return doc
    kept = reading.kept
    copy = Doc(doc.vocab, words=reading.words, spaces=_spaces(doc, kept))
    if len(copy):
        attributes = [TAG, POS, MORPH, LEMMA]
        given: Any = doc.to_array(attributes)[kept]
        copy.from_array(attributes, given)
        _copy_parse(doc, copy, kept)
    places = doc.to_array([IDX]).astype(np.int64)[kept]
    where = zip(places.tolist(), kept.tolist(), strict=True)
    copy.user_data = {**doc.user_data, ORIGINAL: [[a, a + len(doc[i])] for a, i in where]}
    copy.user_hooks[ORIGINAL] = cast(Any, doc)
    _copy_names(doc, copy, kept)
    return copy


def original(doc: Doc) -> Doc:
    """The Doc that ``words_only`` made this one of, or the Doc itself."""
    return cast(Doc, doc.user_hooks.get(ORIGINAL, doc))


def _spaces(doc: Doc, kept: Indices) -> list[bool]:
    """Whether anything white stands between a word and the next."""
    if not len(kept):
        return []
    white: Any = doc.to_array([SPACY, IS_SPACE]).any(axis=1)  # what is no word counts for the last
    found: list[bool] = (np.add.reduceat(white, kept, dtype=np.intp) > 0).tolist()
    return found


def _copy_parse(doc: Doc, copy: Doc, kept: Indices) -> None:
    if not doc.has_annotation("DEP"):
        starts = np.zeros(len(copy), dtype=np.uint64)
        if doc.has_annotation("SENT_START"):
            starts = _starts(doc.to_array([SENT_START]).ravel().astype(np.int64), kept)
        copy.from_array([SENT_START], cast(Any, starts.reshape(-1, 1)))
        return
    rows = doc.to_array([HEAD, DEP])
    heads = np.arange(len(doc)) + rows[:, 0].astype(np.int64)
    above = _above(heads, kept)
    place = np.full(len(doc), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    relative = place[above] - np.arange(len(kept))
    copy.from_array(
        [HEAD, DEP], cast(Any, np.column_stack([relative.astype(np.uint64), rows[kept, 1]]))
    )


def _above(heads: Indices, kept: Indices) -> Indices:  # (tokens,), (words,) -> (words,)
    """The head of each word among the words; what hung on white space hangs on its head.

    Words under white space that is a root: the first becomes the root, the others hang on it.
    """
    is_word = np.zeros(len(heads), dtype=bool)
    is_word[kept] = True
    stand_in: dict[int, int] = {}
    above = heads[kept].copy()
    for n in np.flatnonzero(~is_word[above]).tolist():
        head = int(above[n])
        while not is_word[head] and heads[head] != head:
            head = int(heads[head])
        above[n] = head if is_word[head] else stand_in.setdefault(head, int(kept[n]))
    return above


def _starts(starts: Indices, kept: Indices) -> Any:
    """Sentence starts of words: a start at white space is that of the next word."""
    found = starts[kept]
    begun = np.searchsorted(kept, np.flatnonzero(starts == 1))
    found[begun[begun < len(kept)]] = 1
    return found.astype(np.uint64)


def _copy_names(doc: Doc, copy: Doc, kept: Indices) -> None:
    for key, group in doc.spans.items():
        moved = [_moved(span, copy, kept) for span in group]
        copy.spans[key] = [span for span in moved if span is not None]
    if doc.has_annotation("ENT_IOB"):
        ents = [span for ent in doc.ents if (span := _moved(ent, copy, kept)) is not None]
        copy.set_ents(ents)
    if pieces := doc.user_data.get("pieces"):
        place = {token: n for n, token in enumerate(kept.tolist())}
        copy.user_data["pieces"] = {
            name: [place[i] for i in own if i in place] for name, own in pieces.items()
        }


def _moved(span: Span, copy: Doc, kept: Indices) -> Span | None:
    first, last = np.searchsorted(kept, [span.start, span.end]).tolist()
    if first == last:
        return None
    return Span(copy, first, last, label=span.label, kb_id=span.kb_id, span_id=span.id)


def characters(span: Span) -> tuple[int, int]:
    """Where a span stands in the user's text."""
    places: Sequence[Sequence[int]] | None = span.doc.user_data.get(ORIGINAL)
    if places is None or not len(span):
        return span.start_char, span.end_char
    return places[span.start][0], places[span.end - 1][1]
