"""Find abbreviations with their long forms, in a Doc (as spans) and in plain text (as strings).

Both follow Schwartz & Hearst (2003): A simple algorithm for identifying abbreviation definitions in
biomedical text. Pacific Symposium on Biocomputing 8:451-462. In a Doc, a long form whose words
begin with the letters of the short form is preferred, as by Ab3P (Sohn et al. 2008), and several
kinds of false definitions are refused (see ``find_abbreviations``).
"""

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
from textrank.language.normalization import get_word_texts, normalize_words

AbbreviationPair = tuple[Span, Span]
MIN_SHORT_CHARACTERS, MAX_SHORT_CHARACTERS = 2, 12
_MAX_BRACKET_WORDS = 25
_QUOTES = frozenset(['"', "'", "``", "''", "“", "”", "‘", "’"])
_VERBS = frozenset(["was", "were", "is", "are", "has", "have", "had"])
_SKIPPED_WORDS = frozenset(["of", "the", "and", "in", "for", "to", "on", "with", "a", "an"])
_MAX_LOWER_CHARACTERS = 4  # of a short form without capital and digit, such as "pts."
_BRACKETS = np.array([get_string_id(bracket) for bracket in "()[]"], dtype=np.uint64)


def find_abbreviations(doc: Doc) -> list[AbbreviationPair]:
    """Return the abbreviations that a text defines as (short form, long form) spans, in text order.

    Finds "long form (SF)" and "SF (long form)". By the rule of Schwartz & Hearst, the characters of
    the short form occur in the long form in order, the first of them at the start of a word. A
    short form that is defined twice is returned twice. Greek letters are read as their names.
    Linear in the length of the text.

    If the letters of the short form are the initials of the words before it, these are the long
    form ("proton pump inhibitors (PPIs)"). A bracket without a space before it defines nothing
    else ("copper(II)"). A long form contains no verb such as "was" and does not begin with a
    bracket or quotation mark.

    >>> import spacy
    >>> doc = Doc(spacy.blank("en").vocab, words="tumor necrosis factor ( TNF ) binds".split())
    >>> [(short.text, long.text) for short, long in find_abbreviations(doc)]
    [('TNF', 'tumor necrosis factor')]
    """
    words = _WordText(doc)
    pairs = []
    for start, end in words.brackets():
        pair = words.match_bracketed_short(start, end) or words.match_bracketed_long(start, end)
        if pair is not None:
            pairs.append(pair)
    return pairs


class _WordText:
    """Words of a Doc, with Greek letters spelled out, and the tokens they come from.

    Words are the tokens other than white space and markup. Ranges ``start:end`` are of words.
    Strings and flags are computed when first needed.
    """

    def __init__(self, doc: Doc) -> None:
        """Read the columns needed; word strings are built only when a bracket is found."""
        self.doc = doc
        self._normalized = normalize_words(doc, transliterate=True)
        self._columns: Any = doc.to_array([ORTH, SPACY, SENT_START])
        self._orths = self._columns[:, 0] if self._normalized is None else self._normalized.orths

    @cached_property
    def words(self) -> list[str]:
        """Return the words as strings."""
        return get_word_texts(self.doc, self._normalized)

    @cached_property
    def token_indices(self) -> list[int]:
        """Return the token index of each word."""
        return self._token_indices.tolist()

    @property
    def _token_indices(self) -> Indices:
        """Return the token index of each word as an array."""
        return (
            np.arange(len(self.doc)) if self._normalized is None else self._normalized.token_indices
        )

    @cached_property
    def has_gap_after(self) -> list[bool]:
        """Return for each word whether white space or markup separates it from the next.

        False for the last word.
        """
        token_indices = self._token_indices
        has_gap_after = (self._columns[token_indices[:-1], 1] == 1) | (np.diff(token_indices) > 1)
        return [*has_gap_after.tolist(), False]

    @cached_property
    def _begins_sentence(self) -> list[bool]:
        """Return for each word whether it begins a sentence."""
        return (self._columns[self._token_indices, 2] == 1).tolist()

    def brackets(self) -> Iterator[tuple[int, int]]:
        """Yield the range (first word inside, closing bracket) of each innermost bracket pair.

        Brackets at the start of the text, empty ones and those of more than ``_MAX_BRACKET_WORDS``
        words are skipped. Round and square brackets are not told apart.
        """
        opening: int | None = None
        bracket_words = (self._orths[:, None] == _BRACKETS).any(axis=1).nonzero()[0].tolist()
        for n in bracket_words:
            if self.words[n] in ("(", "["):
                opening = n
            elif opening is not None:
                if 0 < n - opening - 1 <= _MAX_BRACKET_WORDS and opening:
                    yield opening + 1, n
                opening = None

    def match_bracketed_short(self, start: int, end: int) -> AbbreviationPair | None:
        """Return the (short, long) spans if a bracket holds the short form of the words before it.

        The bracket's words are ``start:end``; those before the first comma or semicolon are the
        short form. The long form ends at the bracket and begins in the same sentence, after any
        bracket that is still open, at most ``_max_distance`` words back. First the words' initials
        are compared (``_match_initials``), then, if there is a gap before the bracket, all letters
        (``_find_long_form``), the second time without a plural "s" of the short form. Quotation
        marks around the long form are removed. None if the words are not a short form
        (``_is_short_form``), no long form matches or ``_trim_long_form`` refuses it.
        """
        short_end = next((n for n in range(start, end) if self.words[n] in (",", ";")), end)
        short = self.join_words(start, short_end)
        if not _is_short_form(short):
            return None
        window_start = max(
            self.find_sentence_start(start - 1), start - 1 - self._max_distance(short)
        )
        long_end = start - 1
        window_start = self._skip_open_bracket(window_start, long_end)
        long_start = self._match_initials(short, window_start, long_end)
        if long_start is None:
            if not self.has_gap_after[long_end - 1]:
                return None
            window = self.join_words(window_start, long_end)
            offset = _find_long_form(short, window)
            if offset is None and _has_plural_ending(short):
                offset = _find_long_form(short[:-1], window)
            if offset is None:
                return None
            long_start = self.find_word(window_start, offset)
        trimmed = self._trim_long_form(long_start, long_end)
        return None if trimmed is None else self._make_pair(start, short_end, *trimmed)

    def _match_initials(self, short: str, window_start: int, end: int) -> int | None:
        """Return the word from which on the words' initials are the letters of ``short``.

        The words compared end before ``end`` and begin at ``window_start`` or later. A plural "s"
        of the short form is ignored, as are words such as "of" (``_SKIPPED_WORDS``) whose initial
        is not the next letter, and words that begin with neither letter nor digit. None if
        ``short`` has fewer than two letters and digits or the initials do not match.
        """
        letters = [letter.lower() for letter in short if letter.isalnum()]
        if _has_plural_ending(short):
            letters.pop()
        if len(letters) < 2:
            return None
        n = end
        while letters:
            n -= 1
            if n < window_start:
                return None
            word = self.words[n].lower()
            if word[:1] == letters[-1]:
                letters.pop()
            elif word[:1].isalnum() and word not in _SKIPPED_WORDS:
                return None
        return n

    def _skip_open_bracket(self, start: int, end: int) -> int:
        """Return the word after the last bracket of ``start:end`` that is still open at ``end``.

        Returns ``start`` if there is none. Round and square brackets are not told apart.
        """
        n_closed = 0
        for n in range(end - 1, start - 1, -1):
            if self.words[n] in (")", "]"):
                n_closed += 1
            elif self.words[n] in ("(", "["):
                if not n_closed:
                    return n + 1
                n_closed -= 1
        return start

    def _trim_long_form(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the range (start, end) of a long form without the quotation marks around it.

        None if it begins with a bracket, has more closing than opening brackets, contains a verb of
        ``_VERBS``, or has no words left.
        """
        while start < end and self.words[start] in _QUOTES:
            start += 1
        while start < end and self.words[end - 1] in _QUOTES:
            end -= 1
        if start >= end or self.words[start] in ("(", "["):
            return None
        words = self.words[start:end]
        n_open = sum(word in ("(", "[") for word in words)
        if n_open < sum(word in (")", "]") for word in words):
            return None
        if any(word in _VERBS for word in words):
            return None
        return start, end

    def match_bracketed_long(self, start: int, end: int) -> AbbreviationPair | None:
        """Return the (short, long) spans if a bracket holds the long form of the word before it.

        The bracket's words are ``start:end``, at least two. The long form is all of them up to a
        semicolon; it must match the short form from its first word on (``_find_long_form``) and
        have at most ``_max_long_form_words``. The short form is the run of words without gaps
        before the bracket; it must pass ``_is_short_form`` and have a capital. None if any of this
        does not hold.
        """
        short_start = start - 2
        while short_start > 0 and not self.has_gap_after[short_start - 1]:
            short_start -= 1
        short = self.join_words(short_start, start - 1)
        if end - start < 2 or not _is_short_form(short) or not any(map(str.isupper, short)):
            return None
        long_end = next((n for n in range(start, end) if self.words[n] == ";"), end)
        long = self.join_words(start, long_end)
        if len(long.split()) > _max_long_form_words(short) or _find_long_form(short, long) != 0:
            return None
        return self._make_pair(short_start, start - 1, start, long_end)

    def join_words(self, start: int, end: int) -> str:
        """Return the text of the words ``start:end``, with one space for each gap between them.

        The text neither begins nor ends with a space; it is empty for an empty range.
        """
        words_and_gaps = zip(self.words[start:end], self.has_gap_after[start:end], strict=True)
        return "".join(
            [word + " " if has_gap else word for word, has_gap in words_and_gaps]
        ).strip()

    def find_sentence_start(self, n: int) -> int:
        """Return the first word of the sentence of word ``n``, looking back 60 words at most.

        If none of these words begins a sentence, the earliest of them is returned.
        """
        first = n
        while first > 0 and n - first < 60 and not self._begins_sentence[first]:
            first -= 1
        return first

    def find_word(self, first: int, offset: int) -> int:
        """Return the word at a character offset of ``join_words(first, ...)``.

        A space belongs to the word before it. Raises IndexError if the text is shorter than the
        offset.
        """
        length = 0
        for n in range(first, len(self.words)):
            length += len(self.words[n]) + self.has_gap_after[n]
            if offset < length:
                return n
        raise IndexError(offset)

    def _max_distance(self, short: str) -> int:
        """Return how many words before the bracket a long form may begin.

        This is three times the maximal number of words of a long form, because a hyphenated word is
        three words here.
        """
        return 3 * _max_long_form_words(short)

    def _make_pair(
        self, short_start: int, short_end: int, long_start: int, long_end: int
    ) -> AbbreviationPair:
        """Return the spans of a short and a long form, given as non-empty ranges of words.

        White space and markup tokens between the first and last word are part of the span.
        """
        token_indices = self.token_indices
        short, long = (
            (token_indices[short_start], token_indices[short_end - 1] + 1),
            (token_indices[long_start], token_indices[long_end - 1] + 1),
        )
        return Span(self.doc, *short), Span(self.doc, *long)


def _is_short_form(text: str) -> bool:
    """Return whether the length and characters of a text are those of a short form.

    It must have ``MIN_SHORT_CHARACTERS`` to ``MAX_SHORT_CHARACTERS`` characters, one or two words
    and a letter, begin with a letter or digit, have none of ``=<>%:`` and not begin with the word
    see, Fig, data, and, or, both, range or pH. Without capital and digit it may have at most
    ``_MAX_LOWER_CHARACTERS``.
    """
    return (
        MIN_SHORT_CHARACTERS <= len(text) <= MAX_SHORT_CHARACTERS
        and len(text.split()) <= 2
        and text[0].isalnum()
        and any(map(str.isalpha, text))
        and not re.search(r"[=<>%:]|^(?:see|Fig|data|and|or|both|range|pH)\b", text)
        and (len(text) <= _MAX_LOWER_CHARACTERS or any(c.isupper() or c.isdigit() for c in text))
    )


def _has_plural_ending(short: str) -> bool:
    """Return whether a short form ends with the "s" of a plural after a capital, as "AUCs".

    It must have at least three characters: "As" is not a plural.
    """
    return len(short) > 2 and short[-1] == "s" and short[-2].isupper()


def _find_long_form(short: str, long: str) -> int | None:
    """Return the offset in ``long`` at which the shortest long form of ``short`` begins.

    The long form runs to the end of ``long`` and begins after a space or slash, or at the start of
    ``long``. None if the letters do not match (``_match_letters``), or if the long form contains
    the short form as a word, has no more characters than it, has no letter, or has more than
    ``_max_long_form_words`` words.
    """
    offset = _match_letters(short, long)
    if offset is None:
        return None
    start = max(long.rfind(" ", 0, offset + 1), long.rfind("/", 0, offset + 1)) + 1
    long_form = long[start:]
    words = long_form.split()
    if len(long_form) <= len(short) or short in words or not any(map(str.isalpha, long_form)):
        return None
    return start if len(words) <= _max_long_form_words(short) else None


def _match_letters(short: str, long: str) -> int | None:
    """Match the letters of ``short`` in ``long`` from the end; return the first letter's offset.

    Letters and digits are matched regardless of case; other characters of ``short`` are ignored.
    The first letter must be at the start of a word of ``long``. Returns None if there is no match,
    and ``len(long)`` if ``short`` has neither letters nor digits.
    """
    letters = [letter.lower() for letter in short if letter.isalnum()]
    characters = list(map(str.lower, long))
    position = len(long)
    for letter_index in range(len(letters) - 1, -1, -1):
        position -= 1
        while position >= 0 and (
            characters[position] != letters[letter_index]
            or (not letter_index and position and long[position - 1].isalnum())
        ):
            position -= 1
        if position < 0:
            return None
    return position


def _max_long_form_words(short: str) -> int:
    """Return how many words the long form of ``short`` may have.

    This is min(n + 5, 2 n) for n characters.
    """
    return min(len(short) + 5, 2 * len(short))


_BRACKETED_SHORT_FORM = re.compile(
    r"\(\s*([^\s()\[\],;]{2,10}|[A-Za-z]{1,4}[\s-]\w{1,4})\s*(?:[,;][^()]*)?\)"
)


def find_long_forms(text: str) -> dict[str, str]:
    """Map each abbreviation that a plain text defines in brackets to its long form, in text order.

    Only "long form (SF)" is found, where the long form is in the same sentence as the bracket and
    within 200 characters before it. The first definition of a short form counts. A short form has 2
    to 10 characters, or is two words of up to four; it begins with a letter or digit and has a
    letter. The rest of the bracket after a comma or semicolon is ignored.

    >>> find_long_forms("class switch recombination (CSR) and p53 (see below)")
    {'CSR': 'class switch recombination'}
    """
    long_forms: dict[str, str] = {}
    for bracket in _BRACKETED_SHORT_FORM.finditer(text):
        short = bracket.group(1)
        if any(map(str.isalpha, short)) and short[0].isalnum():
            long = _find_preceding_long_form(
                short, text[max(0, bracket.start() - 200) : bracket.start()]
            )
            if long:
                long_forms.setdefault(short, long)
    return long_forms


def _find_preceding_long_form(short: str, before: str) -> str:
    """Return the long form of ``short`` that the text ``before`` ends with, or an empty string.

    Only the last ``_max_long_form_words`` words are searched, and only after the last full stop,
    colon or semicolon that white space follows. Letters must match as in ``_match_letters``; the
    long form must have more characters than ``short`` and must not contain it as a word.
    """
    sentence = re.split(r"[.;:]\s", before.rstrip())[-1]
    words = list(re.finditer(r"\S+", sentence))[-_max_long_form_words(short) :]
    window = sentence[words[0].start() :] if words else ""
    offset = _match_letters(short, window)
    long = "" if offset is None else window[offset:].strip()
    return long if len(long) > len(short) and short not in long.split() else ""
