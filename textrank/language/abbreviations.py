"""Abbreviations with their long forms, in a Doc and in plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from spacy.attrs import ORTH, SENT_START, SPACY
from spacy.strings import get_string_id
from spacy.tokens import Doc, Span

from textrank.features import Indices
from textrank.language.alignment import get_word_texts, normalize_words

Pair = tuple[Span, Span]
SHORTEST, LONGEST = 2, 12  # characters of an abbreviation
_INSIDE = 25  # words that a bracket may hold
_BRACKETS = np.array([get_string_id(bracket) for bracket in "()[]"], dtype=np.uint64)


def find_abbreviations(doc: Doc) -> list[Pair]:
    """Abbreviations that the text defines, each with its long form, in text order.

    "long form (SF)" and "SF (long form)", by the rule of Schwartz & Hearst (2003, Pacific Symposium
    on Biocomputing 8:451): the letters of the short form occur in the long one in their order, the
    first of them at the beginning of a word. Linear in the length of the text.

    >>> import spacy
    >>> doc = Doc(spacy.blank("en").vocab, words="tumor necrosis factor ( TNF ) binds".split())
    >>> [(short.text, long.text) for short, long in find_abbreviations(doc)]
    [('TNF', 'tumor necrosis factor')]
    """
    text = _Text(doc)
    found = []
    for start, end in text.brackets():
        pair = text.long_before(start, end) or text.short_before(start, end)
        if pair is not None:
            found.append(pair)
    return found


class _Text:
    """The words of a Doc in plain letters, with the tokens they come from."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self._reading = normalize_words(doc, transliterate=True)
        self._table: Any = doc.to_array([ORTH, SPACY, SENT_START])
        self._orths = self._table[:, 0] if self._reading is None else self._reading.orths

    @cached_property
    def words(self) -> list[str]:
        """The words."""
        return get_word_texts(self.doc, self._reading)

    @cached_property
    def token_indices(self) -> list[int]:
        """The token of each word."""
        return self._kept.tolist()

    @property
    def _kept(self) -> Indices:
        return np.arange(len(self.doc)) if self._reading is None else self._reading.token_indices

    @cached_property
    def apart(self) -> list[bool]:
        """Whether anything stands between a word and the next."""
        kept = self._kept
        apart = (self._table[kept[:-1], 1] == 1) | (np.diff(kept) > 1)
        return [*apart.tolist(), False]

    @cached_property
    def _starts(self) -> list[bool]:
        """Whether a word begins a sentence."""
        return (self._table[self._kept, 2] == 1).tolist()

    def brackets(self) -> Iterator[tuple[int, int]]:
        """First word inside and the one that closes, of brackets without brackets inside."""
        opened: int | None = None
        at = (self._orths[:, None] == _BRACKETS).any(axis=1).nonzero()[0].tolist()
        for n in at:
            if self.words[n] in ("(", "["):
                opened = n
            elif opened is not None:
                if 0 < n - opened - 1 <= _INSIDE and opened:
                    yield opened + 1, n
                opened = None

    def long_before(self, start: int, end: int) -> Pair | None:
        """The pair where a bracket holds the short form."""
        cut = next((n for n in range(start, end) if self.words[n] in (",", ";")), end)
        short = self.text(start, cut)
        if not _is_short(short):
            return None
        first = max(self.sentence(start - 1), start - 1 - self._reach(short))
        at = _match(short, self.text(first, start - 1))
        if at is None:
            return None
        begin = self.word_at(first, at)
        return self._pair(start, cut, begin, start - 1)

    def short_before(self, start: int, end: int) -> Pair | None:
        """The pair where a bracket holds the long form."""
        first = start - 2
        while first > 0 and not self.apart[first - 1]:
            first -= 1
        short = self.text(first, start - 1)
        if end - start < 2 or not _is_short(short) or not any(map(str.isupper, short)):
            return None
        cut = next((n for n in range(start, end) if self.words[n] == ";"), end)
        long = self.text(start, cut)
        if len(long.split()) > _most(short) or _match(short, long) != 0:
            return None
        return self._pair(first, start - 1, start, cut)

    def text(self, start: int, end: int) -> str:
        """Words with blanks between those that stand apart."""
        both = zip(self.words[start:end], self.apart[start:end], strict=True)
        return "".join([word + " " if apart else word for word, apart in both]).strip()

    def sentence(self, n: int) -> int:
        """The first word of the sentence, or some words back where sentences are not known."""
        first = n
        while first > 0 and n - first < 60 and not self._starts[first]:
            first -= 1
        return first

    def word_at(self, first: int, at: int) -> int:
        """The word at a character of ``text`` from word ``first`` on."""
        length = 0
        for n in range(first, len(self.words)):
            length += len(self.words[n]) + self.apart[n]
            if at < length:
                return n
        raise IndexError(at)

    def _reach(self, short: str) -> int:
        """How many words back a long form may begin; a hyphened word counts as three."""
        return 3 * _most(short)

    def _pair(self, a: int, b: int, c: int, d: int) -> Pair:
        kept = self.token_indices
        short, long = (kept[a], kept[b - 1] + 1), (kept[c], kept[d - 1] + 1)
        return Span(self.doc, *short), Span(self.doc, *long)


def _is_short(text: str) -> bool:
    return (
        SHORTEST <= len(text) <= LONGEST
        and len(text.split()) <= 2
        and text[0].isalnum()
        and any(map(str.isalpha, text))
        and not re.search(r"[=<>%:]|^(?:see|Fig|data|and|or)\b", text)
    )


def _match(short: str, long: str) -> int | None:
    """Where the shortest long form begins, a whole word, that has the short one's letters."""
    at = _first_letter(short, long)
    if at is None:
        return None
    begin = long.rfind(" ", 0, at + 1) + 1
    found = long[begin:]
    words = found.split()
    if len(found) <= len(short) or short in words or not any(map(str.isalpha, found)):
        return None
    return begin if len(words) <= _most(short) else None


def _first_letter(short: str, long: str) -> int | None:
    """Where the first letter stands when those of the short form are sought from the end."""
    letters = [letter.lower() for letter in short if letter.isalnum()]
    among = list(map(str.lower, long))
    at = len(long)
    for left in range(len(letters) - 1, -1, -1):
        at -= 1
        while at >= 0 and (
            among[at] != letters[left] or (not left and at and long[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return None
    return at


def _most(short: str) -> int:
    """How many words a long form may have."""
    return min(len(short) + 5, 2 * len(short))


_BRACKETED = re.compile(r"\(\s*([^\s()\[\],;]{2,10}|[A-Za-z]{1,4}[\s-]\w{1,4})\s*(?:[,;][^()]*)?\)")


def find_long_forms(text: str) -> dict[str, str]:
    """Each abbreviation of a plain text with its long form, where a bracket holds the short one.

    >>> find_long_forms("class switch recombination (CSR) and p53 (see below)")
    {'CSR': 'class switch recombination'}
    """
    found: dict[str, str] = {}
    for bracket in _BRACKETED.finditer(text):
        short = bracket.group(1)
        if any(map(str.isalpha, short)) and short[0].isalnum():
            long = _ending(short, text[max(0, bracket.start() - 200) : bracket.start()])
            if long:
                found.setdefault(short, long)
    return found


def _ending(short: str, before: str) -> str:
    """The long form that a text ends with; empty where it ends with none."""
    sentence = re.split(r"[.;:]\s", before.rstrip())[-1]
    words = list(re.finditer(r"\S+", sentence))[-_most(short) :]
    window = sentence[words[0].start() :] if words else ""
    at = _first_letter(short, window)
    long = "" if at is None else window[at:].strip()
    return long if len(long) > len(short) and short not in long.split() else ""
