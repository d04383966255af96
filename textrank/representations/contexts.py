"""Word-position matrices: which words stand where around the target of each candidate.

``WordPositions`` is the representation. It reads tokens of many Docs as arrays (``DocTokens``),
numbers their words once per distinct text (``WordNumberer``, ``TextCache``) and cuts the window of
each target out of the numbers (``_Words``). ``stem`` and ``apply_form`` normalise single words.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import groupby
from typing import Any, Generic, TypeVar, cast

import numpy as np
import snowballstemmer
from numpy.typing import NDArray
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from textrank._ragged import offsets
from textrank.candidates import TOKEN_ATTRIBUTES, Candidate, span_tokens, token_table
from textrank.features import Indices
from textrank.graphs import Contexts
from textrank.progress import track

T = TypeVar("T")
MAX_CACHED_TEXTS = 1 << 15  # texts whose values a TextCache keeps


@dataclass(eq=False)
class TextCache(Generic[T]):
    """Cache of a function of texts, by their spaCy hash, which is the same in all vocabularies.

    ``compute`` must depend on the text alone.

    >>> strings = StringStore(["Ab", "b"])
    >>> TextCache(str.lower).lookup([strings["Ab"], strings["b"], strings["Ab"]], strings)
    ['ab', 'b', 'ab']
    """

    compute: Callable[[str], T]
    _values: dict[int, T] = field(default_factory=dict)

    def lookup(self, keys: list[int], strings: StringStore | ChainMap[Any, Any]) -> list[T]:
        """Return the function's value for the text of each key, in the order of ``keys``.

        ``keys`` are spaCy hashes and may repeat; ``strings`` maps them to texts. The cache is
        emptied first if it holds more than ``MAX_CACHED_TEXTS``.
        """
        values = self._values
        if len(values) > MAX_CACHED_TEXTS:
            values.clear()
        for key in keys:
            if key not in values:
                values[key] = self.compute(strings[key])
        return [values[key] for key in keys]


TOKEN_FORMS = ("raw", "lower", "lemma", "porter", "snowball")


@cache
def stemmer(algorithm: str) -> Any:
    """Return a stemmer by its name in snowballstemmer; "snowball" is the English one; cached.

    Raises ValueError for an unknown name, with the available ones.
    """
    available = snowballstemmer.algorithms()
    name = "english" if algorithm == "snowball" else algorithm
    if name not in available:
        raise ValueError(
            f"unknown stemmer {algorithm!r}; available: {', '.join(sorted(available))}"
        )
    return snowballstemmer.stemmer(name)


@dataclass
class WordNumberer:
    """Numbers for the words of many Docs, in order of first appearance; -1 for skipped tokens.

    Skipped are white space, stop words and, unless ``punctuation``, tokens without a letter or
    digit. ``ids`` maps words, in the given ``form``, to numbers and grows with every call. A
    distinct token is looked at once, so that millions of tokens are array lookups.
    """

    form: str = "lower"
    stop_words: frozenset[str] = frozenset()
    punctuation: bool = False
    ids: dict[str, int] = field(default_factory=dict)

    def number_docs(self, docs: Sequence[Doc]) -> NDArray[np.int32]:  # (tokens,)
        """Return the number of each token's word, Doc after Doc, (tokens,); -1 if skipped.

        New words are added to ``ids``. Raises ValueError for a Doc without lemmas if the form is
        "lemma".
        """
        parts = [np.empty(0, dtype=np.int32)]
        for _, docs_of_vocab in groupby(docs, key=lambda doc: id(doc.vocab)):
            group = list(docs_of_vocab)
            if self.form == "lemma":
                parts += [self._lemmas(doc) for doc in group]
            else:
                keys = np.concatenate([doc.to_array("ORTH") for doc in group])
                parts.append(self._numbers(keys, group[0].vocab.strings))
        return np.concatenate(parts)

    def number_part(self, doc: Doc, part: slice) -> NDArray[np.int32]:  # (tokens,)
        """Return the word numbers of the tokens ``doc[part]``, (tokens,); -1 if skipped.

        New words are added to ``ids``. Raises ValueError for a Doc without lemmas if the form is
        "lemma".
        """
        if self.form == "lemma":
            return self._lemmas(doc)[part]
        keys = cast(NDArray[np.uint64], doc.to_array("ORTH"))
        return self._numbers(keys[part], doc.vocab.strings)

    def _numbers(self, keys: NDArray[np.uint64], strings: StringStore) -> NDArray[np.int32]:
        """Return the number of each token's word, given the spaCy hashes of the tokens' texts.

        Skipped tokens get -1; new words are added to ``ids`` in order of appearance.
        """
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)  # as they appear
        number = np.empty(len(distinct), dtype=np.int32)
        cache, ids = _form_cache(self.form, self.stop_words, self.punctuation), self.ids
        words = cache.lookup(distinct[order].tolist(), strings)
        number[order] = [ids.setdefault(word, len(ids)) if word else -1 for word in words]
        return number[inverse]

    def _lemmas(self, doc: Doc) -> NDArray[np.int32]:
        """Return the number of the lemma of each token of a Doc, -1 for skipped tokens.

        Raises ValueError if the Doc has no lemmas.
        """
        strings = doc.vocab.strings
        if len(doc) and not doc.has_annotation("LEMMA"):
            raise ValueError(
                f"document {doc.user_data.get('document', '')!r} has no lemmas. Add a lemmatizer "
                "to the spaCy pipeline, or use the form 'porter'."
            )
        table = doc.to_array(["ORTH", "LEMMA"]).reshape(-1, 2)
        pairs = [(int(orth), int(lemma)) for orth, lemma in table.tolist()]
        number_of = {(a, b): self._number(strings[a], strings[b]) for a, b in dict.fromkeys(pairs)}
        return np.array([number_of[pair] for pair in pairs], dtype=np.int32)

    def _number(self, text: str, lemma: str) -> int:
        """Return the number of a token with a lemma, or -1; new words are added to ``ids``."""
        word = _counted_form(text, lemma, self.form, self.stop_words, self.punctuation)
        return self.ids.setdefault(word, len(self.ids)) if word else -1


@lru_cache(maxsize=8)
def _form_cache(form: str, stop_words: frozenset[str], punctuation: bool) -> TextCache[str]:
    """Return the cache of counted forms (``_counted_form``) for some settings.

    The caches of the last eight settings are shared by all callers.
    """
    return TextCache(lambda text: _counted_form(text, None, form, stop_words, punctuation))


def _counted_form(
    text: str, lemma: str | None, form: str, stop_words: frozenset[str], punctuation: bool
) -> str:
    """Return the form in which a token counts as a word; "" if it is skipped.

    Skipped are white space, stop words (compared in lower case) and, unless ``punctuation``, tokens
    without a letter or digit. ``lemma`` may be None, for which the form "lemma" takes the text.
    """
    if text.isspace() or text.lower() in stop_words:
        return ""
    if not punctuation and not _has_letters(text):
        return ""
    return apply_form(text, lemma, form)


@lru_cache(maxsize=1 << 15)
def _has_letters(text: str) -> bool:
    """Return whether a text has a letter or digit."""
    return any(map(str.isalnum, text))


def apply_form(text: str, lemma: str | None, form: str) -> str:
    """Return a token's text in one of ``TOKEN_FORMS``.

    "raw" is unchanged, "lower" is in lower case, "porter" and "snowball" are stems of the
    lower-case text, and "lemma" is ``lemma`` in lower case, or the text if it is None or empty.
    """
    if form == "raw":
        return text
    if form in ("porter", "snowball"):
        return stem(text.lower(), form)
    return (lemma or text).lower() if form == "lemma" else text.lower()


@lru_cache(maxsize=1 << 14)
def stem(word: str, algorithm: str = "porter") -> str:
    """Return the stem of a lower-case word; cached.

    ``algorithm`` is a name of ``stemmer``; ValueError if it is unknown.
    """
    return str(stemmer(algorithm).stemWord(word))


def validate_form(form: str) -> None:
    """Raise ValueError unless the form is one of ``TOKEN_FORMS``."""
    if form not in TOKEN_FORMS:
        raise ValueError(f"form must be one of {', '.join(TOKEN_FORMS)}, got {form!r}")


def resolve_stop_words(words: Sequence[str] | str) -> frozenset[str]:
    """Return stop words in lower case, from a list or for a spaCy language code such as "en".

    An empty string means no stop words. Raises ValueError for an unknown language.
    """
    if not isinstance(words, str):
        return frozenset(word.lower() for word in words)
    return _language_stop_words(words) if words else frozenset()


@cache
def _language_stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a spaCy language code ("en"), in lower case; cached.

    Raises ValueError for an unknown code.
    """
    from spacy.util import get_lang_class

    try:
        return frozenset(word.lower() for word in get_lang_class(language).Defaults.stop_words)
    except ImportError:
        raise ValueError(
            f"no stop words for the language {language!r}. Pass a list of words instead."
        ) from None


@dataclass(frozen=True, eq=False)
class DocTokens:
    """Tokens of the Docs of n targets, concatenated.

    Consecutive targets in one Doc share one copy of its tokens; a Doc that returns after another
    one is concatenated again. Token indices in arrays refer to the concatenation.
    """

    targets: Sequence[Span]
    docs: Sequence[Doc]  # one per run of targets in the same Doc
    owner: Indices  # (n,) index of each target's Doc

    @classmethod
    def from_spans(cls, targets: Sequence[Span]) -> DocTokens:
        """Collect the Docs of targets, each once per run of consecutive targets.

        Targets of one Doc should be consecutive, or the Doc is processed again.
        """
        docs = [next(run).doc for _, run in groupby(targets, key=lambda target: id(target.doc))]
        owner, number = [], -1
        for target in targets:
            number += number < 0 or target.doc is not docs[number]
            owner.append(number)
        return cls(targets, docs, np.array(owner, dtype=np.intp))

    @cached_property
    def begins(self) -> Indices:
        """First token of each Doc in the concatenation, and the end of all, (docs + 1,)."""
        return offsets([len(doc) for doc in self.docs])

    @cached_property
    def spans(self) -> tuple[Indices, Indices]:  # (n,), (n,)
        """First token and end of each target in the concatenation, both (n,)."""
        bounds = np.array([(t.start, t.end) for t in self.targets], dtype=np.intp).reshape(-1, 2)
        starts, ends = (bounds + self.begins[self.owner, None]).T
        return starts, ends

    def column(self, attribute: str) -> NDArray[np.uint64]:
        """Return the values of a spaCy attribute of all tokens, such as "ORTH", (tokens,).

        The attributes ``TOKEN_ATTRIBUTES`` are read once, others at each call.
        """
        if attribute in TOKEN_ATTRIBUTES:
            columns = [table[attribute] for table in self._tables]
        else:
            columns = [cast(NDArray[np.uint64], doc.to_array(attribute)) for doc in self.docs]
        return np.concatenate([np.empty(0, dtype=np.uint64), *columns])

    @cached_property
    def _tables(self) -> list[Mapping[str, NDArray[np.uint64]]]:
        """Attributes ``TOKEN_ATTRIBUTES`` of the tokens of each Doc, see ``token_table``."""
        return [token_table(doc) for doc in self.docs]

    def bounds(self, kind: str) -> tuple[Indices, Indices]:  # (n,), (n,)
        """Return first token and end of the region of each target: "document" or "sentence".

        A target across sentences gets all of them. Without sentence annotation a Doc is one
        sentence.
        """
        if kind == "document":
            return self.begins[self.owner], self.begins[self.owner + 1]
        marked = np.flatnonzero(self.column("SENT_START") == 1)
        limits = np.union1d(marked, self.begins)
        starts, ends = self.spans
        low = limits[np.searchsorted(limits, starts, side="right") - 1]
        return low, limits[np.searchsorted(limits, ends, side="left")]


SIDES = ("both", "before", "after")
BOUNDS = ("document", "sentence")
TARGETS = ("exclude", "keep", "exclude_name")
ContextWords = tuple[NDArray[np.int32], NDArray[np.int32]]  # word numbers and positions
ContextBatch = tuple[
    NDArray[np.int32], NDArray[np.int32], Indices
]  # of some targets; where each begins
MAX_WHOLE_DOC_TOKENS = 2000  # longer Docs are read only near their targets
_EMPTY = np.empty(0, np.int32)


@dataclass(frozen=True)
class WordPositions:
    """Word-position matrix of each candidate: its context of ``span`` words on each side.

    The target is the candidate's span number ``focus``. Positions count kept words only, so that
    a skipped stop word moves the rest closer; punctuation takes no position unless kept.

    >>> import spacy
    >>> doc = spacy.blank("en")("SHC binds GRB2.")
    >>> contexts = WordPositions(form="raw")([Candidate(doc, (doc[1:2],), "d1")])
    >>> contexts.vocabulary, contexts.words.tolist(), contexts.positions.tolist()
    (('SHC', 'binds', 'GRB2'), [0, 2], [-1, 1])

    Parameters
    ----------
    span
        Words on each side; 0 for no limit.
    bounds
        Region that the context never leaves: "document" or "sentence".
    sides
        "both", "before" or "after".
    target
        "exclude" the target's tokens, "keep" them at position 0, or "exclude_name": drop the
        words of the target wherever they occur, so that a repeated name gives nothing away.
    form
        "raw", "lower", "lemma", "porter" or "snowball".
    stop_words
        Words that are skipped: a list, or a spaCy language code such as "en".
    punctuation
        Whether tokens without a letter or digit count as words.
    focus
        Index of the span that is the target.
    vocabulary
        The only words to keep; others keep their position but are dropped. None keeps all. A model
        stores the words of its training data here.
    """

    span: int = 0
    bounds: str = "document"
    sides: str = "both"
    target: str = "exclude"
    form: str = "porter"
    stop_words: Sequence[str] | str = ""
    punctuation: bool = False
    focus: int = 0
    vocabulary: Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Convert lists to tuples and raise ValueError for invalid settings.

        Those are a negative span, and values of ``form``, ``bounds``, ``sides``, ``target`` or
        ``stop_words`` that do not exist.
        """
        for name in ("stop_words", "vocabulary"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                object.__setattr__(self, name, tuple(value))
        if self.span < 0:
            raise ValueError(f"span must not be negative (0: no limit), got {self.span}")
        validate_form(self.form)
        for name, allowed in (("bounds", BOUNDS), ("sides", SIDES), ("target", TARGETS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}")
        resolve_stop_words(self.stop_words)

    def __call__(self, candidates: Sequence[Candidate]) -> Contexts:
        """Return one context per candidate, in order.

        The vocabulary has the words that were read in order of first appearance, also those outside
        of all contexts, or the setting ``vocabulary`` if it is given. Raises ValueError if a
        candidate has no span ``focus``, or a Doc no lemmas though the form is "lemma".
        """
        ids = WordNumberer(self.form, resolve_stop_words(self.stop_words), self.punctuation)
        tracked = track(candidates, "contexts", len(candidates))
        run = DocTokens.from_spans([target_span(candidate, self.focus) for candidate in tracked])
        words = _Words.from_docs(run, ids, self.span)
        contexts = Contexts(tuple(ids.ids), *self._all_contexts(run, words))
        return contexts if self.vocabulary is None else contexts.with_words(self.vocabulary)

    def represent_fast(self, candidates: Sequence[Candidate]) -> Contexts:
        """Return one context per candidate; contexts have no faster form."""
        return self(candidates)

    def _all_contexts(self, run: DocTokens, words: _Words) -> ContextBatch:
        """Return word numbers, positions and offsets of the contexts of all n targets.

        Context number i has the words and positions ``offsets[i] ... offsets[i + 1] - 1``; offsets
        have shape (n + 1,). With both sides and the target excluded, all contexts are computed at
        once unless a Doc has discontinuous entities (``pieces``); otherwise target by target.
        """
        low, high = run.bounds(self.bounds)
        has_parts = any("pieces" in doc.user_data for doc in run.docs)
        if self.sides == "both" and self.target == "exclude" and not has_parts:
            return words.windows(*run.spans, low, high, self.span)
        begins = run.begins[run.owner]
        contexts = [
            self._context_of(words, np.array(span_tokens(target), dtype=np.intp) + begin, *ends)
            for target, begin, *ends in zip(run.targets, begins, *run.spans, low, high, strict=True)
        ]
        words_, positions = (
            np.concatenate([_EMPTY, *arrays])
            for arrays in (zip(*contexts, strict=True) if contexts else [()] * 2)
        )
        return words_, positions, offsets([len(arrays) for arrays, _ in contexts])

    def _context_of(
        self, words_of_docs: _Words, tokens: Indices, start: int, end: int, low: int, high: int
    ) -> ContextWords:
        """Return word numbers and positions of one context, after the settings.

        ``tokens`` are the target's tokens, ``start`` and ``end`` its span, ``low`` and ``high`` the
        region that the context never leaves; all are token indices in ``words_of_docs``, ends
        exclusive. ``tokens`` are fewer than the span has for a discontinuous target. ``sides``
        keeps one side; ``target`` "keep" appends the target's words at position 0, "exclude_name"
        drops equal words.
        """
        if len(tokens) == end - start:
            words, positions = words_of_docs.window(start, end, low, high, self.span)
        else:
            words, positions = words_of_docs.discontinuous_window(
                tokens.tolist(), low, high, self.span
            )
        if self.sides != "both":
            keep = positions < 0 if self.sides == "before" else positions > 0
            words, positions = words[keep], positions[keep]

        target_words = words_of_docs.words[tokens]
        target_words = target_words[target_words >= 0]
        if self.target == "exclude_name":
            keep = ~np.isin(words, target_words)
            words, positions = words[keep], positions[keep]
        if self.target == "keep":
            words = np.concatenate([words, target_words])
            positions = np.concatenate([positions, np.zeros(len(target_words), np.int32)])
        return words, positions


@dataclass(frozen=True, eq=False)
class _Words:
    """Words of several concatenated Docs as arrays, shared by all candidates.

    Token indices are those of ``DocTokens``; k is the number of tokens that are not skipped. The
    position of a word in a context counts words: -1 is the last before the target, 1 the first
    after it.
    """

    words: NDArray[np.int32]  # (tokens,) word number; -1 for skipped tokens
    placed: NDArray[np.int32]  # (k,) the same without skipped tokens
    before: NDArray[np.intp]  # (tokens + 1,) number of words before each token

    @classmethod
    def from_docs(cls, run: DocTokens, ids: WordNumberer, span: int) -> _Words:
        """Number the words up to ``span`` words from any target; all words if it is 0.

        In long Docs, tokens farther away count as skipped, which saves time.
        """
        parts = [_EMPTY]
        groups = groupby(
            range(len(run.docs)),
            key=lambda n: bool(span) and len(run.docs[n]) > MAX_WHOLE_DOC_TOKENS,
        )
        for is_long, numbers in groups:
            if is_long:
                parts += [cls._words_near_targets(run, number, ids, span) for number in numbers]
            else:
                parts.append(ids.number_docs([run.docs[number] for number in numbers]))
        words = np.concatenate(parts)
        is_word = words >= 0
        return cls(words, words[is_word], offsets(is_word.astype(np.intp)))

    @staticmethod
    def _words_near_targets(
        run: DocTokens, number: int, ids: WordNumberer, span: int
    ) -> NDArray[np.int32]:
        """Return the word numbers of Doc ``number`` of ``run``, read only near its targets.

        Read are all tokens from the first to the last target and at least ``span`` words on either
        side of them, as far as the Doc goes; the others are -1. New words are added to ``ids``.
        Raises ValueError if the Doc has no target.
        """
        doc, targets = run.docs[number], slice(*np.searchsorted(run.owner, [number, number + 1]))
        words = np.full(len(doc), -1, dtype=np.int32)
        starts, ends = (places[targets] - run.begins[number] for places in run.spans)
        first, last = int(starts.min()), int(ends.max())
        words[first:last] = ids.number_part(doc, slice(first, last))
        for chunks in (_chunks_before(first, span), _chunks_after(last, span, len(doc))):
            count = 0
            for part in chunks:
                words[part] = ids.number_part(doc, part)
                count += int(np.count_nonzero(words[part] >= 0))
                if count >= span:
                    break
        return words

    def windows(
        self, starts: Indices, ends: Indices, low: Indices, high: Indices, span: int
    ) -> ContextBatch:
        """Return up to ``span`` words (0: all) on each side of each target, inside its region.

        ``starts`` and ``ends`` are the targets, ``low`` and ``high`` their regions, one entry per
        target, in tokens, ends exclusive. Returns word numbers and positions (-1 and 1 next to the
        target, skipped tokens not counted) of all contexts, one after the other, and where each
        begins, with the end of all, (n + 1,).
        """
        left, right, first, last = (self.before[relative] for relative in (starts, ends, low, high))
        if span:
            first, last = np.maximum(left - span, first), np.minimum(right + span, last)
        before, sizes = left - first, left - first + last - right
        # Where each word stands in its context, as if the target were not there.
        begins = offsets(sizes)
        relative = np.arange(begins[-1]) - np.repeat(begins[:-1] + before, sizes)
        is_after = relative >= 0
        words = self.placed[
            relative + np.repeat(left, sizes) + is_after * np.repeat(right - left, sizes)
        ]
        return words, (relative + is_after).astype(np.int32), begins

    def window(self, start: int, end: int, low: int, high: int, span: int) -> ContextWords:
        """Return word numbers and positions around the tokens ``start ... end - 1``, in text order.

        At most ``span`` words on each side (0: no limit), from inside ``low ... high - 1``.
        """
        left, right = int(self.before[start]), int(self.before[end])
        first, last = int(self.before[low]), int(self.before[high])
        if span:
            first, last = max(first, left - span), min(last, right + span)
        words = np.concatenate([self.placed[first:left], self.placed[right:last]])
        positions = np.concatenate([np.arange(first - left, 0), np.arange(1, last - right + 1)])
        return words, positions.astype(np.int32)

    def discontinuous_window(
        self, tokens: Sequence[int], low: int, high: int, span: int
    ) -> ContextWords:
        """Return word numbers and positions around a discontinuous target, in text order.

        ``tokens`` are the target's tokens; words in its gaps belong to the context. The position of
        a word counts from the nearest part of the target, at equal distance from the one after it
        (negative). Only tokens ``low ... high - 1`` are read, and positions up to ``span`` (0: all)
        are kept.
        """
        inside = np.zeros(len(self.words), dtype=bool)
        inside[list(tokens)] = True
        count = np.cumsum((self.words >= 0) & ~inside)  # of context words, up to each token
        context = [t for t in range(low, high) if self.words[t] >= 0 and not inside[t]]
        positions = []
        for t in context:
            left = [int(count[t] - count[p]) for p in tokens if p < t]
            right = [int(count[p] - count[t]) + 1 for p in tokens if p > t]
            nearest_left, nearest_right = (
                min(left, default=len(count)),
                min(right, default=len(count)),
            )
            positions.append(nearest_left if nearest_left < nearest_right else -nearest_right)
        words, distances = self.words[context], np.array(positions, dtype=np.int32)
        is_near = np.abs(distances) <= (span or len(count))
        return words[is_near], distances[is_near]


def _chunks_before(end: int, size: int) -> Iterator[slice]:
    """Yield adjacent slices of ``0 ... end - 1``, nearest to ``end`` first.

    The first has twice ``size`` tokens, each further one twice as many as the one before it; the
    last is cut at 0. ``size`` must be positive.
    """
    while end > 0:
        size *= 2
        yield slice(max(end - size, 0), end)
        end -= size


def _chunks_after(start: int, size: int, end: int) -> Iterator[slice]:
    """Yield adjacent slices of ``start ... end - 1``, nearest to ``start`` first.

    The first has twice ``size`` tokens, each further one twice as many as the one before it; the
    last is cut at ``end``. ``size`` must be positive.
    """
    while start < end:
        size *= 2
        yield slice(start, min(start + size, end))
        start += size


def target_span(candidate: Candidate, focus: int) -> Span:
    """Return span number ``focus`` of a candidate; a negative number counts from the end.

    Raises ValueError if it has no span of this number.
    """
    if not -len(candidate.spans) <= focus < len(candidate.spans):
        raise ValueError(
            f"focus {focus} but the candidate in document {candidate.document!r} has "
            f"{len(candidate.spans)} spans. Choose a span that every candidate has."
        )
    return candidate.spans[focus]
