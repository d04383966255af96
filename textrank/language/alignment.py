"""Docs as networks and representations see them: without white space, markup and odd letters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import (
    DEP,
    ENT_ID,
    ENT_IOB,
    ENT_KB_ID,
    ENT_TYPE,
    HEAD,
    IDX,
    IS_SPACE,
    LEMMA,
    LENGTH,
    MORPH,
    ORTH,
    POS,
    SENT_START,
    SPACY,
    TAG,
)
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from textrank.candidates import starts_of
from textrank.features import Indices
from textrank.language.normalization import normalize_token, transliterate_token

OFFSETS_KEY = "textrank_original"  # in user_data of a reading: first characters of tokens, and ends
_CARRIED = (ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID, TAG, POS, MORPH, LEMMA)  # to a reading
_BEGIN, _INSIDE = 3, 1  # of an entity, as spaCy's ENT_IOB says it
_CACHE_SIZE = 1 << 14  # words; a stream of new ones must not need ever more memory


@dataclass(frozen=True, eq=False)
class NormalizedWords:
    """Which tokens of a Doc are words, and how they are read."""

    kept: Indices
    orths: NDArray[np.uint64]  # spaCy's hashes of the words
    changed: NDArray[np.bool_]  # which words are read otherwise than they are written
    strings: StringStore

    @cached_property
    def words(self) -> list[str]:
        """The words."""
        return [self.strings[orth] for orth in self.orths.tolist()]


class _Reader:
    """What words are read as, worked out once a word; by spaCy's hash, which names it."""

    def __init__(
        self,
        read: Callable[[str], str],
        like: Callable[[Doc], NormalizedWords | None] | None = None,
    ) -> None:
        self._read = read
        self._like = like  # a reader that mostly reads the same, and whose reading then serves
        self._plain: set[int] = set()  # words that are read as they are written
        self._odd: dict[int, str] = {}  # and the others
        self._made: WeakKeyDictionary[Doc, tuple[Any, NormalizedWords | None]] = WeakKeyDictionary()

    def __call__(self, doc: Doc) -> NormalizedWords | None:
        """The reading of a Doc, made once for all components as long as its tokens stay."""
        orths: Any = doc.to_array([ORTH])
        before, reading = self._made.get(doc, (None, None))
        if before is None or not np.array_equal(before, orths):
            reading = self._reading(doc, orths)
            self._made[doc] = orths, reading
        return reading

    def _reading(self, doc: Doc, orths: NDArray[np.uint64]) -> NormalizedWords | None:
        odd = set(orths.tolist()).difference(self._plain)
        if not odd <= self._odd.keys():
            self._learn(doc, odd)
            odd -= self._plain
        if not odd:
            return None
        gone = [orth for orth in odd if not self._odd[orth]]
        kept = np.flatnonzero(~_among(orths, gone))
        own = orths[kept]
        changed = _among(own, odd)
        add = doc.vocab.strings.add
        own[changed] = [add(self._odd[orth]) for orth in own[changed].tolist()]
        other = self._like(doc) if self._like is not None else None
        if other is not None and np.array_equal(own, other.orths):
            return other
        return NormalizedWords(kept, own, changed, doc.vocab.strings)

    def _learn(self, doc: Doc, orths: set[int]) -> None:
        if len(self._plain) + len(self._odd) > _CACHE_SIZE:
            self._plain.clear()
            self._odd.clear()
        for orth in orths:
            word = doc.vocab.strings[orth]
            answer = self._read(word)
            if answer == word:
                self._plain.add(orth)
            else:
                self._odd[orth] = answer


def _among(orths: NDArray[np.uint64], some: Collection[int]) -> NDArray[np.bool_]:
    if len(some) > 8:
        return np.isin(orths, np.fromiter(some, dtype=np.uint64))
    found = np.zeros(len(orths), dtype=bool)
    for orth in some:
        found |= orths == orth
    return found


_as_read = _Reader(normalize_token)
_as_spelt = _Reader(transliterate_token, like=_as_read)


def normalize_words(doc: Doc, *, transliterate: bool = False) -> NormalizedWords | None:
    """The words of a Doc, in plain letters if ``spelt``; None where its tokens are just these."""
    return _as_spelt(doc) if transliterate else _as_read(doc)


def get_word_texts(doc: Doc, reading: NormalizedWords | None) -> list[str]:
    """The words of a Doc as they are read."""
    if reading is not None:
        return reading.words
    strings = doc.vocab.strings
    return [strings[orth] for orth in doc.to_array([ORTH]).tolist()]


def strip_non_words(doc: Doc, *, transliterate: bool = False) -> Doc:
    """The Doc itself, or its words with the tags, sentences and vectors that a network reads."""
    reading = normalize_words(doc, transliterate=transliterate)
    if reading is None:
        return doc
    words = Doc(doc.vocab, words=reading.words, spaces=spaces_after(doc, reading).tolist())
    if len(words):
        given: Any = doc.to_array([SENT_START, TAG])[reading.kept]
        words.from_array([SENT_START, TAG], given)
    if doc.tensor.size:
        words.tensor = doc.tensor[reading.kept]
    return words


def to_tokens(doc: Doc, reading: NormalizedWords | None, rows: Any) -> Any:
    """A row for each token of a Doc, given those of its words; none for white space and markup."""
    if reading is None:
        return rows
    spread = np.zeros((len(doc), *rows.shape[1:]), dtype=rows.dtype)
    spread[reading.kept] = rows
    return spread


def set_space_tags(doc: Doc) -> None:
    """Tags white space and markup as white space."""
    reading = normalize_words(doc)
    if reading is None:
        return
    tags = np.full(len(doc), doc.vocab.strings.add("_SP"), dtype=np.uint64)
    tags[reading.kept] = doc.to_array([TAG])[reading.kept]
    doc.from_array([TAG], cast(Any, tags.reshape(-1, 1)))


def set_parse(doc: Doc, heads: Indices, labels: NDArray[np.uint64]) -> None:
    """Arcs of its words to a Doc, heads relative; what is no word hangs on the word before."""
    heads, labels = arcs_to_tokens(doc, heads, labels)
    rows = np.column_stack([heads.astype(np.int64).astype(np.uint64), labels])
    if len(doc):
        doc.from_array([HEAD, DEP], cast(Any, rows))


def arcs_to_tokens(
    doc: Doc, heads: Indices, labels: NDArray[np.uint64]
) -> tuple[Indices, NDArray[np.uint64]]:
    """The same of all tokens of a Doc, given arcs of its words."""
    reading = normalize_words(doc)
    if reading is None:
        return heads, labels
    kept = reading.kept
    neighbour = _neighbours(kept, len(doc))
    all_heads = np.where(neighbour < 0, 0, neighbour - np.arange(len(doc)))
    all_labels = np.full(len(doc), doc.vocab.strings.add("dep"), dtype=np.uint64)
    all_heads[kept] = kept[np.arange(len(kept)) + heads] - kept
    all_labels[kept] = labels
    return all_heads, all_labels


def _neighbours(kept: Indices, length: int) -> Indices:  # (length,)
    """For each token the last word at or before it; the first word for those before it."""
    if not len(kept):
        return np.full(length, -1, dtype=np.intp)
    return kept[np.maximum(np.searchsorted(kept, np.arange(length), side="right") - 1, 0)]


def word_doc(doc: Doc, within: Sequence[tuple[int, int]] | None = None) -> Doc:
    """The Doc itself, or a copy without white space and markup, its words in plain letters.

    Where only the sentences ``within`` some tokens are looked at and ``words_within`` gives plain
    words that stand together, the Doc stays as it is. Tags, arcs, sentences, names and user data
    come along; ``characters`` says where a span of the copy stands in the original. What a task
    learns and judges is the same in every layout so.

    >>> import spacy
    >>> doc = Doc(spacy.blank("en").vocab, words=["TNF-α", "\\n\\n", "binds"])
    >>> [token.text for token in word_doc(doc)], original_offsets(word_doc(doc)[1:2])
    (['TNF-alpha', 'binds'], (9, 14))
    """
    reading = normalize_words(doc, transliterate=True)
    if reading is None or "dependencies" in doc.user_data:  # a corpus gave tokens and parse
        return doc
    if within is not None and _plain_within(doc, reading, within):
        return doc
    kept = reading.kept
    copy = Doc(doc.vocab, words=reading.words, spaces=spaces_after(doc, reading).tolist())
    given: Any = doc.to_array([*_CARRIED, IDX, LENGTH])
    own = given[kept]
    own[:, 0] = _begun(given[:, 0], kept)
    if len(copy) and doc.has_annotation("DEP"):
        arcs = _arcs(cast(Any, doc.to_array([HEAD, DEP])), kept)
        copy.from_array([*_CARRIED, HEAD, DEP], cast(Any, np.hstack([own[:, :-2], arcs])))
    elif len(copy):
        copy.from_array(list(_CARRIED), own[:, :-2])
        copy.from_array([SENT_START], cast(Any, _sentence_starts(doc, kept)))
    starts = own[:, -2].astype(np.int64)
    places = [starts.tolist(), (starts + own[:, -1].astype(np.int64)).tolist()]
    copy.user_data = {**doc.user_data, OFFSETS_KEY: places}
    copy.user_hooks[OFFSETS_KEY] = cast(Any, doc)
    _copy_names(doc, copy, kept)
    return copy


def _plain_within(doc: Doc, reading: NormalizedWords, bounds: Sequence[tuple[int, int]]) -> bool:
    """Whether plain words stand together between bounds, with nothing but white space around.

    Nothing of a sentence may hang on white space, and no name may hold some.
    """
    odd, gone = np.ones((2, len(doc)), dtype=bool)
    odd[reading.kept[~reading.changed]] = False
    gone[reading.kept] = False
    steps, white = np.asarray(doc.to_array([HEAD, IS_SPACE])).T
    markup = gone & (white == 0)
    for (start, end), (first, last) in zip(bounds, trim_to_words(doc, bounds), strict=True):
        if odd[first:last].any() or markup[start:end].any():
            return False
    heads = np.arange(len(doc)) + steps.astype(np.int64)
    spans = (span for group in doc.spans.values() for span in group)
    held = any(gone[span.start : span.end].any() for span in spans)
    return not (held or gone[heads[reading.kept]].any())


def trim_to_words(doc: Doc, bounds: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """From the first to the last word between bounds.

    Where tokens and parse were given with a corpus, every token is a word.

    >>> import spacy
    >>> trim_to_words(Doc(spacy.blank("en").vocab, words=["\\n", "A1", "binds", "\\n"]), [(0, 4)])
    [(1, 3)]
    """
    given = "dependencies" in doc.user_data or OFFSETS_KEY in doc.user_data
    reading = None if given else normalize_words(doc, transliterate=True)
    if reading is None:
        return list(bounds)
    first, end = reading.kept.searchsorted(np.array(bounds, dtype=np.intp).reshape(-1, 2)).T
    kept = np.append(reading.kept, len(doc))
    last = np.where(end > first, kept[end - 1] + 1, kept[first])
    return list(zip(kept[first].tolist(), last.tolist(), strict=True))


def original_doc(doc: Doc) -> Doc:
    """The Doc that ``words_only`` made this one of, or the Doc itself."""
    return cast(Doc, doc.user_hooks.get(OFFSETS_KEY, doc))


def spaces_after(doc: Doc, reading: NormalizedWords | None) -> NDArray[np.bool_]:
    """Whether anything white stands between a word and the next."""
    if reading is None:
        return cast(NDArray[np.bool_], doc.to_array([SPACY]) == 1)
    if not len(reading.kept):
        return np.zeros(0, dtype=bool)
    after, white = np.asarray(doc.to_array([SPACY, IS_SPACE])).T
    return np.bitwise_or.reduceat(after | white, reading.kept) > 0  # no word: counts for the last


def _sentence_starts(doc: Doc, kept: Indices) -> NDArray[np.uint64]:  # (words, 1)
    """Where sentences of words begin; nowhere where it is not known."""
    if not doc.has_annotation("SENT_START"):
        return np.zeros((len(kept), 1), dtype=np.uint64)
    starts = _starts(doc.to_array([SENT_START]).ravel().astype(np.int64), kept)
    return cast(NDArray[np.uint64], starts.reshape(-1, 1))


def _begun(iob: NDArray[np.uint64], kept: Indices) -> NDArray[np.uint64]:  # (words,)
    """What words are to entities: one whose first token is no word begins with the next."""
    entity = np.cumsum(iob == _BEGIN)[kept]
    found = iob[kept]
    found[(found == _INSIDE) & (np.diff(entity, prepend=0) > 0)] = _BEGIN
    return found


def _arcs(rows: NDArray[np.uint64], kept: Indices) -> NDArray[np.uint64]:  # (words, 2)
    """Heads and labels of words among words, given those of tokens."""
    heads = np.arange(len(rows)) + rows[:, 0].astype(np.int64)
    place = np.full(len(rows), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    relative = place[_above(heads, kept)] - np.arange(len(kept))
    return np.column_stack([relative.astype(np.uint64), rows[kept, 1]])


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


def paragraph_lengths(doc: Doc, reading: NormalizedWords | None) -> list[int]:
    """How many words stand between sentence ends that the layout shows: no name goes on there."""
    if reading is None or not doc.has_annotation("SENT_START"):
        return [len(doc) if reading is None else len(reading.kept)]
    begun = _starts(doc.to_array([SENT_START]).ravel().astype(np.int64), reading.kept) == 1
    apart = np.diff(reading.kept, prepend=-1) > 1  # white space or markup stands before
    ends = np.append(np.flatnonzero(begun & apart), len(reading.kept))
    return np.diff(ends, prepend=0).tolist()


def _copy_names(doc: Doc, copy: Doc, kept: Indices) -> None:
    for key, group in doc.spans.items():
        copy.spans[key] = _moved(list(group), copy, kept)
    if pieces := doc.user_data.get("pieces"):
        place = {token: n for n, token in enumerate(kept.tolist())}
        copy.user_data["pieces"] = {
            name: [place[i] for i in own if i in place] for name, own in pieces.items()
        }


def _moved(spans: Sequence[Span], copy: Doc, kept: Indices) -> list[Span]:
    """The spans that have words, in the copy."""
    bounds = np.array([(span.start, span.end) for span in spans], dtype=np.intp)
    places = np.searchsorted(kept, bounds).reshape(-1, 2).tolist()
    return [
        Span(copy, first, last, label=span.label, kb_id=span.kb_id, span_id=span.id)
        for span, (first, last) in zip(spans, places, strict=True)
        if first < last
    ]


def original_offsets(span: Span) -> tuple[int, int]:
    """Where a span stands in the user's text."""
    places: Sequence[Sequence[int]] | None = span.doc.user_data.get(OFFSETS_KEY)
    if places is None or not len(span):
        return span.start_char, span.end_char
    return places[0][span.start], places[1][span.end - 1]


RETOKENIZED_KEY = "own words"  # in doc.user_data, as plain values


def store_retokenized(doc: Doc, own: Doc) -> None:
    """Keeps words, tags, tree and names of another Doc of the same text in this one."""
    spans = own.spans.get("entities", ())
    doc.user_data[RETOKENIZED_KEY] = {
        "words": [token.text for token in own],
        "spaces": [bool(token.whitespace_) for token in own],
        "tags": [token.tag_ for token in own],
        "heads": [token.head.i for token in own],
        "deps": [token.dep_ for token in own],
        "names": [[span.start, span.end, span.label_, span.id_] for span in spans],
        "pieces": own.user_data.get("pieces", {}),
    }


def get_retokenized(doc: Doc) -> Doc | None:
    """The Doc that ``keep_reading`` kept, or None.

    >>> import spacy
    >>> vocab = spacy.blank("en").vocab
    >>> doc = Doc(vocab, words=["Grb2", "-", "binding"], spaces=[False] * 3)
    >>> own = Doc(vocab, words=["Grb2-binding"], spaces=[False], heads=[0], deps=["ROOT"])
    >>> store_retokenized(doc, own)
    >>> [token.text for token in get_retokenized(doc)]
    ['Grb2-binding']
    """
    kept: dict[str, Any] | None = doc.user_data.get(RETOKENIZED_KEY)
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


MAX_SENTENCE_CHARACTERS = 2000  # characters of a sentence that are told of what stands in it


@dataclass(frozen=True, eq=False)
class SourceText:
    """The text of a Doc and where its sentences begin, each worked out once.

    ``doc.text`` and ``span.sent`` go through the whole Doc at every call, which for the names of
    a long document is quadratic.
    """

    text: str
    starts: Sequence[int]  # in tokens of the Doc that spans are of

    @classmethod
    def from_doc(cls, doc: Doc, words: Doc) -> SourceText:
        """Those of a Doc, for spans of ``words``: the Doc itself or its ``words_only``."""
        return cls(doc.text, starts_of(words).tolist())

    def __call__(self, span: Span) -> str:
        """The words of a span as the user wrote them."""
        return self.text[slice(*original_offsets(span))]

    def sentence(self, span: Span) -> str:
        """The sentence of a span as the user wrote it; of an endless one what is around the span.

        A list of ten thousand names would else be told ten thousand times.
        """
        first, last = bisect_right(self.starts, span.start) - 1, bisect_left(self.starts, span.end)
        start, end = original_offsets(span.doc[self.starts[first] : self.starts[last]])
        if end - start > MAX_SENTENCE_CHARACTERS:
            start, end = self._around(original_offsets(span), start, end)
        return self.text[start:end]

    def _around(self, place: tuple[int, int], start: int, end: int) -> tuple[int, int]:
        """Where to cut: at blanks, and never in the span."""
        aside = max(MAX_SENTENCE_CHARACTERS - (place[1] - place[0]), 0) // 2
        if place[0] - aside > start:
            start = place[0] - aside
            start = max(start, 1 + self.text.find(" ", start, place[0]))
        if place[1] + aside < end:
            end = place[1] + aside
            blank = self.text.rfind(" ", place[1], end)
            end = end if blank < 0 else blank
        return start, end
