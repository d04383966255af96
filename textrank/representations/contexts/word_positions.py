"""WordPositions: which word stands where around a target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Span

from textrank.docs import Candidate, tokens_of
from textrank.progress import track
from textrank.representations.contexts.token_run import TokenRun
from textrank.representations.contexts.words import WordIds, check_form, stop_set
from textrank.types import Contexts, Indices
from textrank.types.ragged import offsets

SIDES = ("both", "before", "after")
BOUNDS = ("document", "sentence")
TARGETS = ("exclude", "keep", "exclude_name")

Place = tuple[NDArray[np.int32], NDArray[np.int32]]  # words and their positions
Places = tuple[NDArray[np.int32], NDArray[np.int32], Indices]  # of some targets; where each begins
SHORT = 2000  # tokens of a Doc that is read whole
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
        check_form(self.form)
        for name, known in (("bounds", BOUNDS), ("sides", SIDES), ("target", TARGETS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {known}, got {getattr(self, name)!r}")
        stop_set(self.stop_words)

    def __call__(self, candidates: Sequence[Candidate]) -> Contexts:
        ids = WordIds(self.form, stop_set(self.stop_words), self.punctuation)
        tracked = track(candidates, "contexts", len(candidates))
        run = TokenRun.of([_target(candidate, self.focus) for candidate in tracked])
        words = _Words.of(run, ids, self.span)
        contexts = Contexts(tuple(ids.ids), *self._places(run, words))
        return contexts if self.vocabulary is None else contexts.with_words(self.vocabulary)

    def loose(self, candidates: Sequence[Candidate]) -> Contexts:
        """The same: contexts have no columns."""
        return self(candidates)

    def _places(self, run: TokenRun, words: _Words) -> Places:
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
    def of(cls, run: TokenRun, ids: WordIds, span: int) -> _Words:
        """The words up to ``span`` places before and after all targets; all of them where it is 0.

        Others take no place, for nobody looks at them: the names of a long text come in portions.
        """
        found = [_NONE]
        each = groupby(range(len(run.docs)), key=lambda n: bool(span) and len(run.docs[n]) > SHORT)
        for long, numbers in each:
            if long:
                found += [cls._some(run, number, ids, span) for number in numbers]
            else:
                found.append(ids.of([run.docs[number] for number in numbers]))
        words = np.concatenate(found)
        places = words >= 0
        return cls(words, words[places], offsets(places.astype(np.intp)))

    @staticmethod
    def _some(run: TokenRun, number: int, ids: WordIds, span: int) -> NDArray[np.int32]:
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
