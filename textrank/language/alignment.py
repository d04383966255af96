"""Word view of a Doc: its tokens without white space and markup, in normalised spelling.

The user's text and its tokens never change. Networks and representations see only words:

- ``normalize_words`` says which tokens are words and how they are spelt (cached per Doc);
- ``strip_non_words`` and ``word_doc`` build a Doc of these words only, for a network or a task;
- ``to_tokens``, ``set_parse`` and ``set_space_tags`` write results back to all tokens;
- ``original_doc``, ``original_offsets`` and ``SourceText`` lead from a word doc back to the text;
- ``store_retokenized`` and ``get_retokenized`` keep a second tokenization of the same text.

"Transliterated" words have Greek letters, dashes and quotes in ASCII (``β1`` is ``beta1``).
"""

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

from textrank.candidates import sentence_starts
from textrank.features import Indices
from textrank.language.normalization import normalize_token, transliterate_token

# Keys of ``doc.user_data``: read them with ``original_offsets`` and ``get_retokenized``.
OFFSETS_KEY = "textrank_original"  # of a word doc: [start offsets], [end offsets] of its tokens
RETOKENIZED_KEY = "own words"  # a second tokenization of the text, as plain values
MAX_SENTENCE_CHARACTERS = 2000  # longer sentences are quoted in part
_COPIED_ATTRIBUTES = (ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID, TAG, POS, MORPH, LEMMA)
_IOB_BEGIN, _IOB_INSIDE = 3, 1  # values of spaCy's ENT_IOB
_CACHE_SIZE = 1 << 14  # words; bounds the memory used on a stream of texts


@dataclass(frozen=True, eq=False)
class NormalizedWords:
    """The tokens of a Doc that are words, with their normalised spelling."""

    token_indices: Indices  # (words,) ascending token index of each word
    orths: NDArray[np.uint64]  # (words,) string-store hash of the normalised word
    is_changed: NDArray[np.bool_]  # (words,) whether normalisation changed the spelling
    strings: StringStore

    @cached_property
    def words(self) -> list[str]:
        """Return the normalised words as strings."""
        return [self.strings[orth] for orth in self.orths.tolist()]


class _WordNormalizer:
    """Normaliser of the tokens of Docs by a function of a word, called once per distinct word.

    Words are identified by spaCy's hash. The result for a Doc is cached weakly and reused as long
    as its tokens stay the same.
    """

    def __init__(
        self,
        normalize: Callable[[str], str],
        fallback: Callable[[Doc], NormalizedWords | None] | None = None,
    ) -> None:
        """Take a function that normalises a token.

        ``normalize(token)`` returns the spelling of the word, or "" if the token is not a word.
        ``fallback`` is a normaliser that mostly agrees with it, or None; where both give the same
        words, its result is returned, so that a Doc has one result.
        """
        self._normalize = normalize
        self._fallback = fallback  # its result is shared where both normalisers agree on a Doc
        self._unchanged: set[int] = set()  # hashes of words that normalisation leaves alone
        self._replacements: dict[int, str] = {}  # hash -> normalised word, empty if not a word
        self._cache: WeakKeyDictionary[Doc, tuple[Any, NormalizedWords | None]] = (
            WeakKeyDictionary()
        )

    def __call__(self, doc: Doc) -> NormalizedWords | None:
        """Return the normalised words of a Doc; None if its tokens are exactly these words.

        The cached result is returned unless the tokens have changed since.
        """
        orths: Any = doc.to_array([ORTH])
        cached_orths, normalized = self._cache.get(doc, (None, None))
        if cached_orths is None or not np.array_equal(cached_orths, orths):
            normalized = self._normalize_doc(doc, orths)
            self._cache[doc] = orths, normalized
        return normalized

    def _normalize_doc(self, doc: Doc, orths: NDArray[np.uint64]) -> NormalizedWords | None:
        """Compute the result for a Doc with the token hashes ``orths``; None if nothing changes.

        Tokens that normalise to "" are left out, others replaced. If ``fallback`` gives the same
        words, its result is returned. New spellings are added to the Doc's string store.
        """
        changed_orths = set(orths.tolist()).difference(self._unchanged)
        if not changed_orths <= self._replacements.keys():
            self._add_words(doc, changed_orths)
            changed_orths -= self._unchanged
        if not changed_orths:
            return None
        removed = [orth for orth in changed_orths if not self._replacements[orth]]
        token_indices = np.flatnonzero(~_is_member(orths, removed))
        word_orths = orths[token_indices]
        is_changed = _is_member(word_orths, changed_orths)
        add = doc.vocab.strings.add
        word_orths[is_changed] = [
            add(self._replacements[orth]) for orth in word_orths[is_changed].tolist()
        ]
        fallback = self._fallback(doc) if self._fallback is not None else None
        if fallback is not None and np.array_equal(word_orths, fallback.orths):
            return fallback
        return NormalizedWords(token_indices, word_orths, is_changed, doc.vocab.strings)

    def _add_words(self, doc: Doc, orths: set[int]) -> None:
        """Normalise and remember the words with these hashes; a full cache is emptied first.

        ``orths`` must be all words of the Doc that are not in ``_unchanged``, so that none of them
        is lost when the cache is emptied; the Doc's string store has their texts.
        """
        if len(self._unchanged) + len(self._replacements) > _CACHE_SIZE:
            self._unchanged.clear()
            self._replacements.clear()
        for orth in orths:
            word = doc.vocab.strings[orth]
            normalized = self._normalize(word)
            if normalized == word:
                self._unchanged.add(orth)
            else:
                self._replacements[orth] = normalized


def _is_member(orths: NDArray[np.uint64], members: Collection[int]) -> NDArray[np.bool_]:
    """Return a mask, one value per hash of ``orths``, of those that are among ``members``."""
    if len(members) > 8:
        return np.isin(orths, np.fromiter(members, dtype=np.uint64))
    mask = np.zeros(len(orths), dtype=bool)
    for orth in members:
        mask |= orths == orth
    return mask


_normalizer = _WordNormalizer(normalize_token)
_transliterator = _WordNormalizer(transliterate_token, fallback=_normalizer)


def normalize_words(doc: Doc, *, transliterate: bool = False) -> NormalizedWords | None:
    """Return which tokens of a Doc are words and how they are spelt.

    Returns None if all tokens are words in normalised spelling, the usual case. With
    ``transliterate``, Greek letters, dashes and quotes are also written in ASCII. Cached per Doc.
    """
    return _transliterator(doc) if transliterate else _normalizer(doc)


def get_word_texts(doc: Doc, normalized: NormalizedWords | None) -> list[str]:
    """Return the words of a Doc as strings, given ``normalize_words(doc)``, also transliterated.

    If ``normalized`` is None, these are all tokens. Do not change the list: it may be cached.
    """
    if normalized is not None:
        return normalized.words
    strings = doc.vocab.strings
    return [strings[orth] for orth in doc.to_array([ORTH]).tolist()]


def strip_non_words(doc: Doc, *, transliterate: bool = False) -> Doc:
    """Return a Doc of the words only, for a network, or the Doc itself if all its tokens are words.

    The copy has normalised words with the tags, sentence boundaries and tensor rows of the
    original; nothing else is copied, and a boundary at a token that is not a word is lost. With
    ``transliterate``, Greek letters, dashes and quotes are written in ASCII.
    """
    normalized = normalize_words(doc, transliterate=transliterate)
    if normalized is None:
        return doc
    words = Doc(doc.vocab, words=normalized.words, spaces=spaces_after(doc, normalized).tolist())
    if len(words):
        columns: Any = doc.to_array([SENT_START, TAG])[normalized.token_indices]
        words.from_array([SENT_START, TAG], columns)
    if doc.tensor.size:
        words.tensor = doc.tensor[normalized.token_indices]
    return words


def to_tokens(doc: Doc, normalized: NormalizedWords | None, rows: Any) -> Any:
    """Expand rows for the words of a Doc to rows for all its tokens.

    ``rows`` has one row per word; tokens that are not words get zeros. If ``normalized`` is None,
    all tokens are words and ``rows`` is returned as is.
    """
    if normalized is None:
        return rows
    token_rows = np.zeros((len(doc), *rows.shape[1:]), dtype=rows.dtype)
    token_rows[normalized.token_indices] = rows
    return token_rows


def set_space_tags(doc: Doc) -> None:
    """Set the tag of all tokens that are not words to ``_SP``, in place; words keep theirs."""
    normalized = normalize_words(doc)
    if normalized is None:
        return
    tags = np.full(len(doc), doc.vocab.strings.add("_SP"), dtype=np.uint64)
    tags[normalized.token_indices] = doc.to_array([TAG])[normalized.token_indices]
    doc.from_array([TAG], cast(Any, tags.reshape(-1, 1)))


def set_parse(doc: Doc, heads: Indices, labels: NDArray[np.uint64]) -> None:
    """Set dependency arcs of a Doc in place, given those of its words.

    ``heads`` are relative (head index minus word index, 0 for a root) and ``labels`` string-store
    hashes, one each per word. Other tokens are attached to the word before them. spaCy then takes
    the sentence boundaries from the arcs.
    """
    heads, labels = arcs_to_tokens(doc, heads, labels)
    rows = np.column_stack([heads.astype(np.int64).astype(np.uint64), labels])
    if len(doc):
        doc.from_array([HEAD, DEP], cast(Any, rows))


def arcs_to_tokens(
    doc: Doc, heads: Indices, labels: NDArray[np.uint64]
) -> tuple[Indices, NDArray[np.uint64]]:
    """Convert dependency arcs of the words of a Doc to arcs of all its tokens.

    Takes and returns relative heads (head index minus own index, 0 for a root) and label hashes.
    Tokens that are not words are attached to the word before them (or to the first word) with the
    label ``dep``; in a Doc without words each is a root. The given arrays themselves are returned
    if all tokens are words.
    """
    normalized = normalize_words(doc)
    if normalized is None:
        return heads, labels
    token_indices = normalized.token_indices
    attachment = _preceding_words(token_indices, len(doc))
    all_heads = np.where(attachment < 0, 0, attachment - np.arange(len(doc)))
    all_labels = np.full(len(doc), doc.vocab.strings.add("dep"), dtype=np.uint64)
    all_heads[token_indices] = token_indices[np.arange(len(token_indices)) + heads] - token_indices
    all_labels[token_indices] = labels
    return all_heads, all_labels


def _preceding_words(token_indices: Indices, length: int) -> Indices:  # (length,)
    """Return, for each of ``length`` tokens, the last word at or before it.

    Tokens before the first word get the first word; without any words all are -1.
    """
    if not len(token_indices):
        return np.full(length, -1, dtype=np.intp)
    return token_indices[
        np.maximum(np.searchsorted(token_indices, np.arange(length), side="right") - 1, 0)
    ]


def word_doc(doc: Doc, within: Sequence[tuple[int, int]] | None = None) -> Doc:
    """Return a copy of a Doc that has only its words, transliterated; or the Doc itself.

    The Doc itself is returned if all tokens are plain words, if a corpus gave its tokens and parse
    (``user_data["dependencies"]``), or if ``within`` is given and nothing between the first and
    last words of these token ranges, no span and no head would change. The copy carries tags, arcs,
    sentences, spans and user data, so that features and predictions do not depend on the layout of
    the text. ``original_offsets`` and ``original_doc`` lead back from the copy.

    >>> import spacy
    >>> doc = Doc(spacy.blank("en").vocab, words=["TNF-α", "\\n\\n", "binds"])
    >>> [token.text for token in word_doc(doc)], original_offsets(word_doc(doc)[1:2])
    (['TNF-alpha', 'binds'], (9, 14))
    """
    normalized = normalize_words(doc, transliterate=True)
    if normalized is None or "dependencies" in doc.user_data:  # tokens and parse are the corpus's
        return doc
    if within is not None and _is_plain_within(doc, normalized, within):
        return doc
    token_indices = normalized.token_indices
    copy = Doc(doc.vocab, words=normalized.words, spaces=spaces_after(doc, normalized).tolist())
    columns: Any = doc.to_array([*_COPIED_ATTRIBUTES, IDX, LENGTH])
    word_columns = columns[token_indices]
    word_columns[:, 0] = _word_iob(columns[:, 0], token_indices)
    if len(copy) and doc.has_annotation("DEP"):
        arcs = _word_arcs(cast(Any, doc.to_array([HEAD, DEP])), token_indices)
        copy.from_array(
            [*_COPIED_ATTRIBUTES, HEAD, DEP], cast(Any, np.hstack([word_columns[:, :-2], arcs]))
        )
    elif len(copy):
        copy.from_array(list(_COPIED_ATTRIBUTES), word_columns[:, :-2])
        copy.from_array([SENT_START], cast(Any, _sentence_starts(doc, token_indices)))
    starts = word_columns[:, -2].astype(np.int64)
    offsets = [starts.tolist(), (starts + word_columns[:, -1].astype(np.int64)).tolist()]
    copy.user_data = {**doc.user_data, OFFSETS_KEY: offsets}
    copy.user_hooks[OFFSETS_KEY] = cast(Any, doc)
    _copy_spans(doc, copy, token_indices)
    return copy


def _is_plain_within(
    doc: Doc, normalized: NormalizedWords, bounds: Sequence[tuple[int, int]]
) -> bool:
    """Return whether the Doc can be used as it is for the sentences within ``bounds``.

    ``bounds`` are token ranges (start, end). Between the first and the last word of each, all
    tokens must be unchanged words; in the rest of it there may be white space but no markup. In the
    whole Doc, no word may have a head that is not a word, and no span may contain a token that is
    not a word.
    """
    is_changed, is_removed = np.ones((2, len(doc)), dtype=bool)
    is_changed[normalized.token_indices[~normalized.is_changed]] = False
    is_removed[normalized.token_indices] = False
    head_offsets, is_space = np.asarray(doc.to_array([HEAD, IS_SPACE])).T
    is_markup = is_removed & (is_space == 0)
    for (start, end), (first, last) in zip(bounds, trim_to_words(doc, bounds), strict=True):
        if is_changed[first:last].any() or is_markup[start:end].any():
            return False
    heads = np.arange(len(doc)) + head_offsets.astype(np.int64)
    spans = (span for group in doc.spans.values() for span in group)
    has_removed_in_span = any(is_removed[span.start : span.end].any() for span in spans)
    return not (has_removed_in_span or is_removed[heads[normalized.token_indices]].any())


def trim_to_words(doc: Doc, bounds: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Trim each token range (start, end) to its first and last word.

    Words are the tokens that ``normalize_words`` keeps. Returns one range per given one, in order.
    A range without words becomes empty, at the next word after its start or at ``len(doc)``, which
    may be beyond its former end. The ranges are returned unchanged if the tokens were given with
    the corpus (dependencies or offsets in ``doc.user_data``) or if there is nothing to normalize.

    >>> import spacy
    >>> trim_to_words(Doc(spacy.blank("en").vocab, words=["\\n", "A1", "binds", "\\n"]), [(0, 4)])
    [(1, 3)]
    """
    is_given = "dependencies" in doc.user_data or OFFSETS_KEY in doc.user_data
    normalized = None if is_given else normalize_words(doc, transliterate=True)
    if normalized is None:
        return list(bounds)
    first, end = normalized.token_indices.searchsorted(
        np.array(bounds, dtype=np.intp).reshape(-1, 2)
    ).T
    token_indices = np.append(normalized.token_indices, len(doc))
    last = np.where(end > first, token_indices[end - 1] + 1, token_indices[first])
    return list(zip(token_indices[first].tolist(), last.tolist(), strict=True))


def original_doc(doc: Doc) -> Doc:
    """Return the Doc that ``word_doc`` copied this one from, or the Doc itself."""
    return cast(Doc, doc.user_hooks.get(OFFSETS_KEY, doc))


def spaces_after(doc: Doc, normalized: NormalizedWords | None) -> NDArray[np.bool_]:
    """Return for each word, (words,), whether white space separates it from the next word.

    ``normalized`` is the result of ``normalize_words``. Tokens that are not words count with the
    word before them, those before the first word not at all. The value of the last word says
    whether white space follows it.
    """
    if normalized is None:
        return cast(NDArray[np.bool_], doc.to_array([SPACY]) == 1)
    if not len(normalized.token_indices):
        return np.zeros(0, dtype=bool)
    has_space, is_space = np.asarray(doc.to_array([SPACY, IS_SPACE])).T
    return (
        np.bitwise_or.reduceat(has_space | is_space, normalized.token_indices) > 0
    )  # gaps count for the word before


def _sentence_starts(doc: Doc, token_indices: Indices) -> NDArray[np.uint64]:  # (words, 1)
    """Return the SENT_START column of the words; zeros (undecided) if the Doc has no boundaries."""
    if not doc.has_annotation("SENT_START"):
        return np.zeros((len(token_indices), 1), dtype=np.uint64)
    starts = _word_starts(doc.to_array([SENT_START]).ravel().astype(np.int64), token_indices)
    return cast(NDArray[np.uint64], starts.reshape(-1, 1))


def _word_iob(iob: NDArray[np.uint64], token_indices: Indices) -> NDArray[np.uint64]:  # (words,)
    """Return the ENT_IOB column of the words, given that of the tokens.

    If the first token of an entity is not a word, the entity begins at its first word.
    """
    entity = np.cumsum(iob == _IOB_BEGIN)[token_indices]
    word_iob = iob[token_indices]
    word_iob[(word_iob == _IOB_INSIDE) & (np.diff(entity, prepend=0) > 0)] = _IOB_BEGIN
    return word_iob


def _word_arcs(
    rows: NDArray[np.uint64], token_indices: Indices
) -> NDArray[np.uint64]:  # (words, 2)
    """Return the HEAD and DEP columns of the words, given those of the tokens.

    Heads are relative: in tokens in ``rows``, in words in the result. A word whose head is not a
    word is attached to the nearest ancestor that is one, else to the first word without any, which
    becomes a root.
    """
    heads = np.arange(len(rows)) + rows[:, 0].astype(np.int64)
    word_index = np.full(len(rows), -1, dtype=np.int64)
    word_index[token_indices] = np.arange(len(token_indices))
    relative = word_index[_word_heads(heads, token_indices)] - np.arange(len(token_indices))
    return np.column_stack([relative.astype(np.uint64), rows[token_indices, 1]])


def _word_heads(
    heads: Indices, token_indices: Indices
) -> Indices:  # (tokens,), (words,) -> (words,)
    """Return the head of each word (as token index), skipping heads that are not words.

    A word below white space is attached to the nearest ancestor that is a word. If there is none,
    the first such word becomes a root and the others are attached to it.
    """
    is_word = np.zeros(len(heads), dtype=bool)
    is_word[token_indices] = True
    root_substitute: dict[int, int] = {}
    word_heads = heads[token_indices].copy()
    for n in np.flatnonzero(~is_word[word_heads]).tolist():
        head = int(word_heads[n])
        while not is_word[head] and heads[head] != head:
            head = int(heads[head])
        word_heads[n] = (
            head if is_word[head] else root_substitute.setdefault(head, int(token_indices[n]))
        )
    return word_heads


def _word_starts(starts: Indices, token_indices: Indices) -> Any:
    """Return SENT_START of the words, (words,); a boundary at white space moves to the next word.

    ``starts`` (tokens,) is SENT_START of the tokens: 1, 0 or -1.
    """
    word_starts = starts[token_indices]
    started_words = np.searchsorted(token_indices, np.flatnonzero(starts == 1))
    word_starts[started_words[started_words < len(token_indices)]] = 1
    return word_starts.astype(np.uint64)


def paragraph_lengths(doc: Doc, normalized: NormalizedWords | None) -> list[int]:
    """Return how many words lie between sentence boundaries that the layout shows.

    Such a boundary has white space or markup before it; no entity extends across it. The lengths
    add up to the number of words; the first is 0 if the Doc begins with white space. Without such
    boundaries the whole Doc is one paragraph.
    """
    if normalized is None or not doc.has_annotation("SENT_START"):
        return [len(doc) if normalized is None else len(normalized.token_indices)]
    is_start = (
        _word_starts(doc.to_array([SENT_START]).ravel().astype(np.int64), normalized.token_indices)
        == 1
    )
    has_gap_before = np.diff(normalized.token_indices, prepend=-1) > 1
    ends = np.append(np.flatnonzero(is_start & has_gap_before), len(normalized.token_indices))
    return np.diff(ends, prepend=0).tolist()


def _copy_spans(doc: Doc, copy: Doc, token_indices: Indices) -> None:
    """Copy the span groups and the token lists of discontinuous entities to a word doc, in place.

    Tokens that are not words are left out. Spans without words are dropped; a token list without
    words stays, as []. ``token_indices`` has the token of each word. ``user_data["pieces"]`` of the
    copy is replaced if ``doc`` has pieces, else left as it is.
    """
    for key, group in doc.spans.items():
        copy.spans[key] = _map_spans(list(group), copy, token_indices)
    if pieces := doc.user_data.get("pieces"):
        word_index = {token: n for n, token in enumerate(token_indices.tolist())}
        copy.user_data["pieces"] = {
            name: [word_index[i] for i in tokens if i in word_index]
            for name, tokens in pieces.items()
        }


def _map_spans(spans: Sequence[Span], copy: Doc, token_indices: Indices) -> list[Span]:
    """Return copies of the spans in a word doc, in order; spans without words are dropped.

    ``token_indices`` has the token of each word. Label, kb_id and id are kept.
    """
    bounds = np.array([(span.start, span.end) for span in spans], dtype=np.intp)
    word_bounds = np.searchsorted(token_indices, bounds).reshape(-1, 2).tolist()
    return [
        Span(copy, first, last, label=span.label, kb_id=span.kb_id, span_id=span.id)
        for span, (first, last) in zip(spans, word_bounds, strict=True)
        if first < last
    ]


def original_offsets(span: Span) -> tuple[int, int]:
    """Return the character offsets (start, end) of a span in the user's text.

    For a span of a ``word_doc`` copy these are the offsets in the original; else, and for an empty
    span, the span's own.
    """
    offsets: Sequence[Sequence[int]] | None = span.doc.user_data.get(OFFSETS_KEY)
    if offsets is None or not len(span):
        return span.start_char, span.end_char
    return offsets[0][span.start], offsets[1][span.end - 1]


def store_retokenized(doc: Doc, retokenized: Doc) -> None:
    """Store another tokenization of the same text, with its annotations, in ``doc.user_data``.

    ``retokenized`` must be parsed; its words, tags, arcs, entities (``spans["entities"]``) and
    discontinuous entities (``pieces``) are stored as plain values, so that the Doc can be
    serialised. An earlier one is replaced.
    """
    spans = retokenized.spans.get("entities", ())
    doc.user_data[RETOKENIZED_KEY] = {
        "words": [token.text for token in retokenized],
        "spaces": [bool(token.whitespace_) for token in retokenized],
        "tags": [token.tag_ for token in retokenized],
        "heads": [token.head.i for token in retokenized],
        "deps": [token.dep_ for token in retokenized],
        "names": [[span.start, span.end, span.label_, span.id_] for span in spans],
        "pieces": retokenized.user_data.get("pieces", {}),
    }


def get_retokenized(doc: Doc) -> Doc | None:
    """Rebuild the Doc that ``store_retokenized`` stored; None if nothing was stored.

    Each call builds a new Doc with the vocabulary and the document id of ``doc``.

    >>> import spacy
    >>> vocab = spacy.blank("en").vocab
    >>> doc = Doc(vocab, words=["Grb2", "-", "binding"], spaces=[False] * 3)
    >>> other = Doc(vocab, words=["Grb2-binding"], spaces=[False], heads=[0], deps=["ROOT"])
    >>> store_retokenized(doc, other)
    >>> [token.text for token in get_retokenized(doc)]
    ['Grb2-binding']
    """
    stored: dict[str, Any] | None = doc.user_data.get(RETOKENIZED_KEY)
    if stored is None:
        return None
    columns: Any = {key: stored[key] for key in ("words", "spaces", "tags", "heads", "deps")}
    retokenized = Doc(doc.vocab, **columns)
    retokenized.spans["entities"] = [
        Span(retokenized, start, end, label=label, span_id=name)
        for start, end, label, name in stored["names"]
    ]
    retokenized.user_data |= {
        "document": doc.user_data.get("document", ""),
        "pieces": stored["pieces"],
    }
    return retokenized


@dataclass(frozen=True, eq=False)
class SourceText:
    """The user's text of a Doc, with lookup of the text and sentence of a span.

    ``doc.text`` and ``span.sent`` scan the whole Doc on every call, which is quadratic for the
    spans of a long document; here text and sentence starts are computed once.
    """

    text: str
    starts: Sequence[int]  # first token of each sentence, then the length, of the spans' Doc

    @classmethod
    def from_doc(cls, doc: Doc, span_doc: Doc) -> SourceText:
        """Build it for a Doc and spans of ``span_doc``: the Doc itself or its ``word_doc``."""
        return cls(doc.text, sentence_starts(span_doc).tolist())

    def __call__(self, span: Span) -> str:
        """Return the text of a span as the user wrote it."""
        return self.text[slice(*original_offsets(span))]

    def sentence(self, span: Span) -> str:
        """Return the sentence of a span as the user wrote it.

        For a span across boundaries, all sentences that it touches. Of more than
        ``MAX_SENTENCE_CHARACTERS`` characters only the part around the span is returned: else a
        list of ten thousand names would be quoted in full for each of them.
        """
        first, last = bisect_right(self.starts, span.start) - 1, bisect_left(self.starts, span.end)
        start, end = original_offsets(span.doc[self.starts[first] : self.starts[last]])
        if end - start > MAX_SENTENCE_CHARACTERS:
            start, end = self._crop_around(original_offsets(span), start, end)
        return self.text[start:end]

    def _crop_around(self, offsets: tuple[int, int], start: int, end: int) -> tuple[int, int]:
        """Return a part of the range ``start:end`` around a span, cut at blanks outside the span.

        ``offsets`` are the span's characters. The part has about ``MAX_SENTENCE_CHARACTERS``.
        """
        margin = max(MAX_SENTENCE_CHARACTERS - (offsets[1] - offsets[0]), 0) // 2
        if offsets[0] - margin > start:
            start = offsets[0] - margin
            start = max(start, 1 + self.text.find(" ", start, offsets[0]))
        if offsets[1] + margin < end:
            end = offsets[1] + margin
            blank = self.text.rfind(" ", offsets[1], end)
            end = end if blank < 0 else blank
        return start, end
