"""Word-position matrices of contexts, and their transformations."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import groupby
from typing import Any, Generic, TypeVar

import numpy as np
import snowballstemmer
from numpy.typing import NDArray
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from textrank._ragged import offsets
from textrank.candidates import TOKENS, Candidate, token_table, tokens_of
from textrank.features import Indices
from textrank.graphs import Contexts
from textrank.progress import track

T = TypeVar("T")
MAX_CACHED_TEXTS = 1 << 15  # texts that are remembered


@dataclass(eq=False)
class TextCache(Generic[T]):
    """What a function says of texts, remembered by their keys, which are the same in all stores.

    >>> strings = StringStore(["Ab", "b"])
    >>> TextCache(str.lower).of([strings["Ab"], strings["b"], strings["Ab"]], strings)
    ['ab', 'b', 'ab']
    """

    tell: Callable[[str], T]
    _known: dict[int, T] = field(default_factory=dict)

    def of(self, keys: list[int], strings: StringStore | ChainMap[Any, Any]) -> list[T]:
        """What is said of the text of each key; texts of long ago are forgotten."""
        known = self._known
        if len(known) > MAX_CACHED_TEXTS:
            known.clear()
        for key in keys:
            if key not in known:
                known[key] = self.tell(strings[key])
        return [known[key] for key in keys]


TOKEN_FORMS = ("raw", "lower", "lemma", "porter", "snowball")


@cache
def stemmer(algorithm: str) -> Any:
    """A stemmer by its name in snowballstemmer; "snowball" is the English one."""
    known = snowballstemmer.algorithms()
    name = "english" if algorithm == "snowball" else algorithm
    if name not in known:
        raise ValueError(f"no stemmer {algorithm!r}; there are {', '.join(sorted(known))}")
    return snowballstemmer.stemmer(name)


@dataclass
class WordNumberer:
    """Numbers for the words of many Docs, given in order of appearance; -1 for what takes no place.

    A distinct token is looked at once, so that millions of tokens are array look-ups.
    """

    form: str = "lower"
    stop_words: frozenset[str] = frozenset()
    punctuation: bool = False
    ids: dict[str, int] = field(default_factory=dict)

    def of(self, docs: Sequence[Doc]) -> NDArray[np.int32]:  # (tokens,)
        """The number of each token's word, Doc after Doc."""
        found = [np.empty(0, dtype=np.int32)]
        for _, own in groupby(docs, key=lambda doc: id(doc.vocab)):
            some = list(own)
            if self.form == "lemma":
                found += [self._lemmas(doc) for doc in some]
            else:
                keys = np.concatenate([token_table(doc)["ORTH"] for doc in some])
                found.append(self._numbers(keys, some[0].vocab.strings))
        return np.concatenate(found)

    def of_part(self, doc: Doc, part: slice) -> NDArray[np.int32]:  # (tokens,)
        """Those of a part of a Doc."""
        if self.form == "lemma":
            return self._lemmas(doc)[part]
        return self._numbers(token_table(doc)["ORTH"][part], doc.vocab.strings)

    def _numbers(self, keys: NDArray[np.uint64], strings: StringStore) -> NDArray[np.int32]:
        """The number of the word of each token, told by its text's key in the store."""
        distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)  # as they appear
        number = np.empty(len(distinct), dtype=np.int32)
        told, ids = _told(self.form, self.stop_words, self.punctuation), self.ids
        words = told.of(distinct[order].tolist(), strings)
        number[order] = [ids.setdefault(word, len(ids)) if word else -1 for word in words]
        return number[which]

    def _lemmas(self, doc: Doc) -> NDArray[np.int32]:
        strings = doc.vocab.strings
        if len(doc) and not doc.has_annotation("LEMMA"):
            raise ValueError(
                f"document {doc.user_data.get('document', '')!r} has no lemmas. Add a lemmatizer "
                "to the spaCy pipeline, or use the form 'porter'."
            )
        table = doc.to_array(["ORTH", "LEMMA"]).reshape(-1, 2)
        pairs = [(int(orth), int(lemma)) for orth, lemma in table.tolist()]
        known = {(a, b): self._number(strings[a], strings[b]) for a, b in dict.fromkeys(pairs)}
        return np.array([known[pair] for pair in pairs], dtype=np.int32)

    def _number(self, text: str, lemma: str) -> int:
        word = _counted(text, lemma, self.form, self.stop_words, self.punctuation)
        return self.ids.setdefault(word, len(self.ids)) if word else -1


@lru_cache(maxsize=8)
def _told(form: str, stop_words: frozenset[str], punctuation: bool) -> TextCache[str]:
    """The forms in which texts count; of a few settings."""
    return TextCache(lambda text: _counted(text, None, form, stop_words, punctuation))


def _counted(
    text: str, lemma: str | None, form: str, stop_words: frozenset[str], punctuation: bool
) -> str:
    """The form in which a token counts as a word; empty where it takes no place."""
    if text.isspace() or text.lower() in stop_words:
        return ""
    if not punctuation and not _has_letters(text):
        return ""
    return apply_form(text, lemma, form)


@lru_cache(maxsize=1 << 15)
def _has_letters(text: str) -> bool:
    return any(map(str.isalnum, text))


def apply_form(text: str, lemma: str | None, form: str) -> str:
    """A token's text in one of the forms; without a lemma, "lemma" is lower case."""
    if form == "raw":
        return text
    if form in ("porter", "snowball"):
        return stem(text.lower(), form)
    return (lemma or text).lower()


@lru_cache(maxsize=1 << 14)
def stem(word: str, algorithm: str = "porter") -> str:
    """The stem of a word in lower case, worked out once."""
    return str(stemmer(algorithm).stemWord(word))


def validate_form(form: str) -> None:
    """Raises an error for a form there is not."""
    if form not in TOKEN_FORMS:
        raise ValueError(f"form must be one of {', '.join(TOKEN_FORMS)}, got {form!r}")


def resolve_stop_words(words: Sequence[str] | str) -> frozenset[str]:
    """Stop words from a list, or those of spaCy for the name of a language, such as "en"."""
    if not isinstance(words, str):
        return frozenset(word.lower() for word in words)
    return _stop_words(words) if words else frozenset()


@cache
def _stop_words(language: str) -> frozenset[str]:
    from spacy.util import get_lang_class

    try:
        return frozenset(word.lower() for word in get_lang_class(language).Defaults.stop_words)
    except ImportError:
        raise ValueError(
            f"no stop words for the language {language!r}. Give a list of words instead."
        ) from None


@dataclass(frozen=True, eq=False)
class DocTokens:
    """The tokens of the Docs that targets stand in; those of one Doc are read once in a row."""

    targets: Sequence[Span]
    docs: Sequence[Doc]  # in the order of their targets
    owner: Indices  # (n,) the Doc of each target

    @classmethod
    def from_spans(cls, targets: Sequence[Span]) -> DocTokens:
        """The Docs of targets, of which those of one stand together."""
        docs = [next(own).doc for _, own in groupby(targets, key=lambda target: id(target.doc))]
        owner, number = [], -1
        for target in targets:
            number += number < 0 or target.doc is not docs[number]
            owner.append(number)
        return cls(targets, docs, np.array(owner, dtype=np.intp))

    @cached_property
    def begins(self) -> Indices:
        """Where each Doc begins, and the end of all."""
        return offsets([len(doc) for doc in self.docs])

    @cached_property
    def spans(self) -> tuple[Indices, Indices]:  # (n,), (n,)
        """First token and end of each target."""
        own = np.array([(t.start, t.end) for t in self.targets], dtype=np.intp).reshape(-1, 2)
        starts, ends = (own + self.begins[self.owner, None]).T
        return starts, ends

    def column(self, attribute: str) -> NDArray[np.uint64]:
        """An attribute of all tokens."""
        read = attribute in TOKENS
        own = [token_table(d)[attribute] if read else d.to_array(attribute) for d in self.docs]
        return np.concatenate([np.empty(0, dtype=np.uint64), *own])

    def bounds(self, kind: str) -> tuple[Indices, Indices]:  # (n,), (n,)
        """First token and end of the "document" or of the "sentence", or sentences, of each."""
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
Place = tuple[NDArray[np.int32], NDArray[np.int32]]  # words and their positions
Places = tuple[NDArray[np.int32], NDArray[np.int32], Indices]  # of some targets; where each begins
MAX_WHOLE_DOC_TOKENS = 2000  # tokens of a Doc that is read whole
_NONE = np.empty(0, np.int32)


@dataclass(frozen=True)
class WordPositions:
    """The word-position matrix of each candidate: its context of ``span`` words on each side.

    The target is the candidate's span number ``focus``. Positions count kept words only, so that
    a dropped stop word moves the rest closer; punctuation takes no position unless kept.

    >>> import spacy
    >>> doc = spacy.blank("en")("SHC binds GRB2.")
    >>> found = WordPositions(form="raw")([Candidate(doc, (doc[1:2],), "d1")])
    >>> found.vocabulary, found.words.tolist(), found.positions.tolist()
    (('SHC', 'binds', 'GRB2'), [0, 2], [-1, 1])

    Parameters
    ----------
    span
        Words on each side; 0 for all of them.
    bounds
        Where the context ends at the latest: at the "document" or at the "sentence".
    sides
        "both", "before" or "after".
    target
        "exclude" the target's tokens, "keep" them at position 0, or "exclude_name": leave out the
        words of the target wherever they stand, so that a repeated name gives nothing away.
    form
        "raw", "lower", "lemma", "porter" or "snowball".
    stop_words
        Words that take no place: a list, or a language of spaCy such as "en".
    vocabulary
        The only words that are told; others keep their position. Without it, all words. A model
        knows the words of its training part, whatever comes later.
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
        for name in ("stop_words", "vocabulary"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                object.__setattr__(self, name, tuple(value))
        if self.span < 0:
            raise ValueError(f"span must not be negative (0: no limit), got {self.span}")
        validate_form(self.form)
        for name, known in (("bounds", BOUNDS), ("sides", SIDES), ("target", TARGETS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {known}, got {getattr(self, name)!r}")
        resolve_stop_words(self.stop_words)

    def __call__(self, candidates: Sequence[Candidate]) -> Contexts:
        ids = WordNumberer(self.form, resolve_stop_words(self.stop_words), self.punctuation)
        tracked = track(candidates, "contexts", len(candidates))
        run = DocTokens.from_spans([_target(candidate, self.focus) for candidate in tracked])
        words = _Words.from_docs(run, ids, self.span)
        contexts = Contexts(tuple(ids.ids), *self._places(run, words))
        return contexts if self.vocabulary is None else contexts.with_words(self.vocabulary)

    def represent_fast(self, candidates: Sequence[Candidate]) -> Contexts:
        """The same: contexts have no columns."""
        return self(candidates)

    def _places(self, run: DocTokens, words: _Words) -> Places:
        """Those of all targets, one after the other."""
        low, high = run.bounds(self.bounds)
        broken = any("pieces" in doc.user_data for doc in run.docs)
        if self.sides == "both" and self.target == "exclude" and not broken:
            return words.windows(*run.spans, low, high, self.span)
        begins = run.begins[run.owner]
        found = [
            self._place(words, np.array(tokens_of(target), dtype=np.intp) + begin, *ends)
            for target, begin, *ends in zip(run.targets, begins, *run.spans, low, high, strict=True)
        ]
        own, positions = (
            np.concatenate([_NONE, *each])
            for each in (zip(*found, strict=True) if found else [()] * 2)
        )
        return own, positions, offsets([len(each) for each, _ in found])

    def _place(
        self, doc: _Words, tokens: Indices, start: int, end: int, low: int, high: int
    ) -> Place:
        if len(tokens) == end - start:
            words, positions = doc.window(start, end, low, high, self.span)
        else:
            words, positions = doc.around_pieces(tokens.tolist(), low, high, self.span)
        if self.sides != "both":
            keep = positions < 0 if self.sides == "before" else positions > 0
            words, positions = words[keep], positions[keep]

        named = doc.words[tokens]
        named = named[named >= 0]
        if self.target == "exclude_name":
            keep = ~np.isin(words, named)
            words, positions = words[keep], positions[keep]
        if self.target == "keep":
            words = np.concatenate([words, named])
            positions = np.concatenate([positions, np.zeros(len(named), np.int32)])
        return words, positions


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of Docs one after the other as arrays, shared by all candidates."""

    words: NDArray[np.int32]  # (tokens,) -1 where a token takes no place
    kept: NDArray[np.int32]  # (k,) words that take a place
    before: NDArray[np.intp]  # (tokens + 1,) how many of them stand before each token

    @classmethod
    def from_docs(cls, run: DocTokens, ids: WordNumberer, span: int) -> _Words:
        """The words up to ``span`` places before and after all targets; all of them where it is 0.

        Others take no place, for nobody looks at them: the names of a long text come in portions.
        """
        found = [_NONE]
        each = groupby(
            range(len(run.docs)),
            key=lambda n: bool(span) and len(run.docs[n]) > MAX_WHOLE_DOC_TOKENS,
        )
        for long, numbers in each:
            if long:
                found += [cls._some(run, number, ids, span) for number in numbers]
            else:
                found.append(ids.of([run.docs[number] for number in numbers]))
        words = np.concatenate(found)
        places = words >= 0
        return cls(words, words[places], offsets(places.astype(np.intp)))

    @staticmethod
    def _some(run: DocTokens, number: int, ids: WordNumberer, span: int) -> NDArray[np.int32]:
        """Those of one Doc near its targets."""
        doc, own = run.docs[number], slice(*np.searchsorted(run.owner, [number, number + 1]))
        words = np.full(len(doc), -1, dtype=np.int32)
        starts, ends = (places[own] - run.begins[number] for places in run.spans)
        first, last = int(starts.min()), int(ends.max())
        words[first:last] = ids.of_part(doc, slice(first, last))
        for some in (_backwards(first, span), _forwards(last, span, len(doc))):
            found = 0
            for part in some:
                words[part] = ids.of_part(doc, part)
                found += int(np.count_nonzero(words[part] >= 0))
                if found >= span:
                    break
        return words

    def windows(
        self, starts: Indices, ends: Indices, low: Indices, high: Indices, span: int
    ) -> Places:
        """The words around each target, no farther than its bounds; see ``window``."""
        left, right, first, last = (self.before[at] for at in (starts, ends, low, high))
        if span:
            first, last = np.maximum(left - span, first), np.minimum(right + span, last)
        before, sizes = left - first, left - first + last - right
        # Where each word stands in its context, as if the target were not there.
        begins = offsets(sizes)
        at = np.arange(begins[-1]) - np.repeat(begins[:-1] + before, sizes)
        after = at >= 0
        words = self.kept[at + np.repeat(left, sizes) + after * np.repeat(right - left, sizes)]
        return words, (at + after).astype(np.int32), begins

    def window(self, start: int, end: int, low: int, high: int, span: int) -> Place:
        left, right = int(self.before[start]), int(self.before[end])
        first, last = int(self.before[low]), int(self.before[high])
        if span:
            first, last = max(first, left - span), min(last, right + span)
        words = np.concatenate([self.kept[first:left], self.kept[right:last]])
        positions = np.concatenate([np.arange(first - left, 0), np.arange(1, last - right + 1)])
        return words, positions.astype(np.int32)

    def around_pieces(self, tokens: Sequence[int], low: int, high: int, span: int) -> Place:
        """Around a target with holes: a word is placed from the piece nearest to it."""
        inside = np.zeros(len(self.words), dtype=bool)
        inside[list(tokens)] = True
        count = np.cumsum((self.words >= 0) & ~inside)  # of context words, up to each token
        found = [t for t in range(low, high) if self.words[t] >= 0 and not inside[t]]
        positions = []
        for t in found:
            left = [int(count[t] - count[p]) for p in tokens if p < t]
            right = [int(count[p] - count[t]) + 1 for p in tokens if p > t]
            nearest_left, nearest_right = (
                min(left, default=len(count)),
                min(right, default=len(count)),
            )
            positions.append(nearest_left if nearest_left < nearest_right else -nearest_right)
        words, places = self.words[found], np.array(positions, dtype=np.int32)
        near = np.abs(places) <= (span or len(count))
        return words[near], places[near]


def _backwards(end: int, size: int) -> Iterator[slice]:
    """Parts that lie before a place, nearest first, each twice as long as the last."""
    while end > 0:
        size *= 2
        yield slice(max(end - size, 0), end)
        end -= size


def _forwards(start: int, size: int, end: int) -> Iterator[slice]:
    """Parts that lie after a place, likewise."""
    while start < end:
        size *= 2
        yield slice(start, min(start + size, end))
        start += size


def _target(candidate: Candidate, focus: int) -> Span:
    if not -len(candidate.spans) <= focus < len(candidate.spans):
        raise ValueError(
            f"focus {focus} but the candidate in document {candidate.document!r} has "
            f"{len(candidate.spans)} spans. Choose a span that every candidate has."
        )
    return candidate.spans[focus]
