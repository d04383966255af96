"""Abbreviations with their long forms, and lists such as ERK1/2 taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spacy.tokens import Doc, Span

from textrank.text import reading_of

Pair = tuple[Span, Span]
SHORTEST, LONGEST = 2, 12  # characters of an abbreviation
_INSIDE = 25  # words that a bracket may hold


def abbreviations(doc: Doc) -> list[Pair]:
    """Abbreviations that the text defines, each with its long form, in text order.

    "long form (SF)" and "SF (long form)", by the rule of Schwartz & Hearst (2003, Pacific Symposium
    on Biocomputing 8:451): the letters of the short form occur in the long one in their order, the
    first of them at the beginning of a word. Linear in the length of the text.

    >>> import spacy
    >>> doc = Doc(spacy.blank("en").vocab, words="tumor necrosis factor ( TNF ) binds".split())
    >>> [(short.text, long.text) for short, long in abbreviations(doc)]
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
        reading = reading_of(doc, spelt=True)
        self.doc = doc
        self.kept = list(range(len(doc))) if reading is None else reading.kept.tolist()
        self.words = [token.text for token in doc] if reading is None else reading.words

    def brackets(self) -> Iterator[tuple[int, int]]:
        """First word inside and the one that closes, of brackets without brackets inside."""
        opened: int | None = None
        for n, word in enumerate(self.words):
            if word in ("(", "["):
                opened = n
            elif word in (")", "]") and opened is not None:
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
        while first > 0 and not self.spaced(first - 1):
            first -= 1
        short = self.text(first, start - 1)
        if end - start < 2 or not _is_short(short) or not any(map(str.isupper, short)):
            return None
        cut = next((n for n in range(start, end) if self.words[n] == ";"), end)
        long = self.text(start, cut)
        if len(long.split()) > min(len(short) + 5, 2 * len(short)) or _match(short, long) != 0:
            return None
        return self._pair(first, start - 1, start, cut)

    def text(self, start: int, end: int) -> str:
        """Words with blanks between those that stand apart."""
        pieces = [self.words[n] + " " * self.spaced(n) for n in range(start, end)]
        return "".join(pieces).strip()

    def spaced(self, n: int) -> bool:
        """Whether anything stands between a word and the next."""
        if n + 1 >= len(self.kept):
            return False
        return self.kept[n + 1] - self.kept[n] > 1 or bool(self.doc[self.kept[n]].whitespace_)

    def sentence(self, n: int) -> int:
        """The first word of the sentence, or some words back where sentences are not known."""
        first = n
        known = self.doc.has_annotation("SENT_START")
        while first > 0 and n - first < 60:
            if known and self.doc[self.kept[first]].is_sent_start:
                break
            first -= 1
        return first

    def word_at(self, first: int, at: int) -> int:
        """The word at a character of ``text`` from word ``first`` on."""
        length = 0
        for n in range(first, len(self.words)):
            length += len(self.words[n]) + self.spaced(n)
            if at < length:
                return n
        raise IndexError(at)

    def _reach(self, short: str) -> int:
        """How many words back a long form may begin; a hyphened word counts as three."""
        return 3 * min(len(short) + 5, 2 * len(short))

    def _pair(self, a: int, b: int, c: int, d: int) -> Pair:
        kept = self.kept
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
    """Where the shortest long form begins that has the letters of the short one in order."""
    s, at = len(short) - 1, len(long) - 1
    while s >= 0:
        letter = short[s].lower()
        if letter.isalnum():
            while at >= 0 and (
                long[at].lower() != letter or (s == 0 and at > 0 and long[at - 1].isalnum())
            ):
                at -= 1
            if at < 0:
                return None
            at -= 1
        s -= 1
    begin = long.rfind(" ", 0, at + 2) + 1
    found = long[begin:]
    words = found.split()
    if len(found) <= len(short) or short in words or not any(map(str.isalpha, found)):
        return None
    return begin if len(words) <= min(len(short) + 5, 2 * len(short)) else None


_GREEK = "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lambda|sigma|omega|[αβγδεζηθκλσω]"
_KINDS = tuple(
    re.compile(kind)
    for kind in (
        r"\d{1,3}[A-Za-z]?\d?",
        rf"(?:{_GREEK})\d?",
        r"(?:I{1,3}|IV|VI{0,3}|IX|X)[A-Z]?",
        r"[A-Z]\d{0,2}",
        r"[a-h]",
    )
)
_SEPARATOR = re.compile(r"\s*(?:/|,\s*(?:and|or)\s|,|\s(?:and|or)\s|&)\s*")


def parts_of_name(text: str) -> list[tuple[int, int, str]]:
    """The names that a list written in short stands for, each with its place and written out.

    >>> parts_of_name("ERK1/2")
    [(0, 4, 'ERK1'), (5, 6, 'ERK2')]
    >>> [name for _, _, name in parts_of_name("STAT1, -3 and -5")]
    ['STAT1', 'STAT3', 'STAT5']
    >>> [name for _, _, name in parts_of_name("caspase-3/7")], parts_of_name("NF-kappa B")
    (['caspase-3', 'caspase-7'], [(0, 10, 'NF-kappa B')])
    """
    whole = [(0, len(text), text)]
    places = _items(text)
    if len(places) < 2:
        return whole
    head = text[slice(*places[0])]
    found = [(*places[0], head)]
    for start, end in places[1:]:
        name = _written_out(head, text[start:end])
        if name is None:
            return whole
        found.append((start, end, name))
        head = name if not _is_suffix(text[start:end]) else head
    return found


def _items(text: str) -> list[tuple[int, int]]:
    """Places of what separators part."""
    places, start = [], 0
    for found in _SEPARATOR.finditer(text):
        places.append((start, found.start()))
        start = found.end()
    places.append((start, len(text)))
    return places if all(a < b for a, b in places) else []


def _is_suffix(item: str) -> bool:
    return any(kind.fullmatch(item.lstrip("-")) for kind in _KINDS)


def _written_out(head: str, item: str) -> str | None:
    """The item as a name of its own: with the beginning of the head, or as it is."""
    bare = item.removeprefix("-")
    for kind in _KINDS:
        if kind.fullmatch(bare):
            before = r".*?\D" if bare[0].isdigit() else r".+?"
            own = re.fullmatch(rf"({before})(?:{kind.pattern})", head)
            if own:
                return re.sub(r"s (?=$)", " ", own[1]) + bare
    symbol = re.compile(r"(?=.*[A-Z\d])[\w.+-]{2,20}")
    return item if symbol.fullmatch(item) and symbol.fullmatch(head) else None
