"""Where sentences begin, by rules over tokens and the lines they stand on; needs no parse.

One splitter for all ways through the pipeline: names can be looked for before, or without, a
parse, and the parser keeps what is decided here. Linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, cast

import numpy as np
from spacy.attrs import IDX, IS_SPACE, ORTH, SENT_START
from spacy.language import Language
from spacy.tokens import Doc

from textrank.features import Indices
from textrank.language.alignment import normalize_words
from textrank.language.normalization import find_tags, is_paragraph_tag

_STOPS = frozenset([".", "!", "?", "...", "…"])
_CLOSERS = frozenset([")", "]", "}", '"', "'", "’", "”", "''"])
_OPENERS = frozenset(["(", "[", "{", '"', "'", "‘", "“", "``"])
# Words that begin sentences when capitalised; names of things hardly ever are among them.
_FIRST_WORDS = (
    "A Additionally After All Also Although An And Another As At Because Both But By Consequently "
    "Conversely Despite Due During Each Finally First For From Further Furthermore Given Hence "
    "Here However If Importantly In Indeed Interestingly It Its Like Moreover More Most Neither "
    "Nevertheless No Notably On Once One Only Other Our Over Previous Second Several Similarly "
    "Since So Some Such Surprisingly Taken That The Their Then There Thereby Therefore These They "
    "Third This Those Three Through Thus To Together Two Under Unlike Upon Using We What When "
    "Whereas Whether Which While With Within Without Yet"
)
_STARTERS = frozenset(_FIRST_WORDS.split())
# Words that begin a sentence even where the stop before it is missing, when a word in lower case
# follows: "... an epithelial barrier This was accompanied by ...".
_SURE_FIRST_WORDS = (
    "Additionally Although As Because Both Consequently Finally Furthermore Hence Here However It "
    "Moreover Our Since Such The Their There Therefore These They This Thus To We When Whereas "
    "While"
)
_FIRST_WITHOUT_STOP = frozenset(_SURE_FIRST_WORDS.split())
# A line that ends so goes on: a word that wants another.
_UNFINISHED = re.compile(
    r"(?:[,;/(\[{=<>+&–—-]|\b(?:a|an|the|of|in|on|at|by|to|for|from|with|without|within|into|onto|and|"
    r"or|but|nor|that|which|who|whose|than|as|is|are|was|were|be|been|has|have|had|not|via|its|"
    r"their|our|this|these|those|both|either|between|among|against|during|after|before|through|"
    r"under|over|upon|toward|towards|if|whether|when|where|while|because|can|could|may|might|"
    r"must|should|will|would|do|does|did|no|any|each|such|other|also|et|al\.|e\.g\.|i\.e\.|cf\.|"
    r"vs\.?|Fig\.|binds?|bound|interacts?|inhibits?|activates?|phosphorylates?|regulates?|"
    r"induces?|represses|promotes?|blocks?|stimulates?|associates?|recruits?|targets?|"
    r"contains?|encodes?|requires?|involves?|shows?|showed|suggests?|human|mouse|rat|murine))$"
)
_ITEM = re.compile(
    r"[ \t]*(?:(?P<bullet>[•‣◦▪●∙*·])|[-–—]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])[ \t]+\S"
)
_LAST_WORDS = 40  # characters of a line in which the word lies that it ends with
_NARROW = 40  # characters; nobody wraps prose at fewer: several such lines are a list
_HEADING = 300  # characters; no heading is longer
_BRACKET = 60  # words in which a bracket closes, or it is none
_LINE_END = re.compile(r"\r\n?|[\n\x0b\x0c\x85\u2028\u2029]")


def find_sentence_starts(doc: Doc) -> list[int]:
    """The tokens that begin a sentence, white space and markup never among them.

    >>> import spacy
    >>> words = ["p53", "binds", ".", "\\n", "MDM2", "does", "too", "."]
    >>> find_sentence_starts(Doc(spacy.blank("en").vocab, words=words))
    [0, 4]
    """
    return [token for token, starts in decide_boundaries(doc).items() if starts]


def decide_boundaries(doc: Doc) -> dict[int, bool]:
    """Tokens of which rules can say whether a sentence begins there, in text order.

    Those are the first one, those after a stop, and those after a line's end that ends a sentence.
    """
    text = _Words.of(doc)
    found = {text.kept[0]: True} if text.words else {}
    first = 0
    for n in text.boundaries():
        found[text.kept[n]] = text.breaks(first, n)
        first = n if found[text.kept[n]] else first
    return found


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of a Doc with what stands between them."""

    doc: Doc
    kept: Sequence[int]
    words: Sequence[str]
    places: Sequence[int]  # first character of each token of the Doc
    hard: frozenset[int]  # words before which the layout ends a sentence

    @classmethod
    def of(cls, doc: Doc) -> _Words:
        reading = normalize_words(doc)
        orths, places = doc.to_array([ORTH, IDX]).T.tolist() if len(doc) else ([], [])
        if reading is None:
            strings = doc.vocab.strings
            kept: Sequence[int] = range(len(doc))
            return cls(doc, kept, [strings[orth] for orth in orths], places, frozenset())
        hard = frozenset(_layout(doc, reading.kept, places))
        return cls(doc, reading.kept.tolist(), reading.words, places, hard)

    def boundaries(self) -> Iterator[int]:
        """Words that may begin a sentence, in order."""
        after = False  # a stop, or what closes after one
        for n, word in enumerate(self.words):
            if n and (after or n in self.hard or self._lacks_stop(n)):
                yield n
            after = word[-1] == "." or word in _STOPS or (after and word in _CLOSERS)

    def breaks(self, first: int, n: int) -> bool:
        """Whether a sentence that began at ``first`` ends before word ``n``."""
        if n in self.hard or self._lacks_stop(n):
            return True
        if not self._apart(n) or self._within_brackets(first, n):
            return False
        at = n - 1
        while at > first and self.words[at] in _CLOSERS:
            at -= 1
        return self._after(first, at, n)

    def _lacks_stop(self, n: int) -> bool:
        """Whether word ``n`` begins a sentence although no stop is before it."""
        if self.words[n] not in _FIRST_WITHOUT_STOP or n + 1 == len(self.words):
            return False
        before, following = self.words[n - 1], self.words[n + 1]
        ended = len(before) > 1 and before.isalpha() and before not in _STARTERS
        goes_on = following.isalpha() and following.islower()
        return ended and goes_on and not _UNFINISHED.search(before)

    def _after(self, first: int, at: int, n: int) -> bool:
        """Whether the stop at word ``at`` ends the sentence that word ``n`` follows."""
        word, opener = self.words[at], self.words[n]
        while self.words[n] in _OPENERS and n + 1 < len(self.words):
            n += 1
        following = self.words[n]
        if opener == "[" and following.isdigit():
            return False  # a citation after the stop
        if len(word) > 1 and word not in _STOPS:  # an abbreviation with its stop
            return following in _STARTERS and self.words[at - 1] != "."
        if at - first == 1 and re.fullmatch(r"\d{1,2}|[A-Za-z]|[IVX]{1,4}", self.words[first]):
            return False  # "1." numbers what follows
        return self._begins(n)

    def _begins(self, n: int) -> bool:
        """Whether a word looks like the first of a sentence: no plain word in lower case does."""
        word = self.words[n]
        if word in _CLOSERS or word[0] in ",;:/=<>%)]}":
            return False
        if not word[0].islower():
            return True
        following = self.words[n + 1] if n + 1 < len(self.words) else ""
        if following == ")" and len(word) <= 2:
            return True  # "(a) shows ..."
        return not word.isalpha() or not word.islower() or following == "-" or not word.isascii()

    def _apart(self, n: int) -> bool:
        """Whether anything stands between a word and the one before it."""
        token, before = self.kept[n], self.kept[n - 1]
        return token - before > 1 or bool(self.doc[before].whitespace_)

    def _within_brackets(self, first: int, n: int) -> bool:
        """Whether a bracket opened in this sentence closes soon after word ``n``."""
        open_ = 0
        for word in self.words[max(first, n - _BRACKET) : n]:
            open_ = open_ + 1 if word in "([" else max(open_ - 1, 0) if word in ")]" else open_
        if not open_:
            return False
        for word in self.words[n : n + _BRACKET]:
            if word in "([":
                open_ += 1
            elif word in ")]":
                open_ -= 1
                if not open_:
                    return True
        return False


def _layout(doc: Doc, kept: Indices, places: Sequence[int]) -> Iterator[int]:
    """Words before which a blank line, a tag or the end of a line ends a sentence."""
    text = doc.text
    gaps = np.flatnonzero(np.diff(kept) > 1) + 1
    lines: _Lines | None = None
    for n, before, token in np.column_stack([gaps, kept[gaps - 1], kept[gaps]]).tolist():
        start = places[before] + len(doc[before])
        gap = text[start : places[token]]
        ends = len(_LINE_END.findall(gap))
        if ends > 1 or any(is_paragraph_tag(tag[0]) for tag in find_tags(gap)) or "\x0c" in gap:
            yield n
        elif ends == 1:
            lines = lines or _Lines.of(text)
            if lines.end_sentence(places[token]):
                yield n


@dataclass(frozen=True, eq=False)
class _Lines:
    """The lines of a text, and which of them begin with a new sentence by their layout alone."""

    starts: Sequence[int]  # of all lines
    new: frozenset[int]

    @classmethod
    def of(cls, text: str) -> _Lines:
        ends = [found.span() for found in _LINE_END.finditer(text)]
        starts = [0, *(end for _, end in ends)]
        lines = [text[a:b] for a, (b, _) in zip(starts, [*ends, (len(text), 0)], strict=True)]
        return cls(starts, frozenset(_new_lines(lines)))

    def end_sentence(self, place: int) -> bool:
        """Whether the line on which a character stands begins with a new sentence."""
        return bisect_right(self.starts, place) - 1 in self.new


def _new_lines(lines: Sequence[str]) -> Iterator[int]:
    """Numbers of the lines that go on with no sentence of the line before."""
    first = 0
    while first < len(lines):
        end = first
        while end < len(lines) and lines[end].strip():
            end += 1
        yield from (first + n for n in _new_in_block(lines[first:end]))
        first = end + 1


def _new_in_block(lines: Sequence[str]) -> Iterator[int]:
    """The same within lines that no blank line parts."""
    if len(lines) < 2:
        return
    width = max(len(line.expandtabs()) for line in lines)
    hyphens = any(line.rstrip().endswith("-") for line in lines[:-1])  # words are broken there
    table, listed = _is_table(lines), len(lines) > 2 and width < _NARROW
    fresh = True  # the line above begins with a sentence
    for n, (above, line) in enumerate(pairwise(lines), 1):
        new = table or _is_new(above.rstrip(), line, width, fresh, hyphens)
        new = new or (listed and _is_entry(above.rstrip(), line))
        if new:
            yield n
        fresh = new or above.rstrip()[-1:] in ".!?"


def _is_table(lines: Sequence[str]) -> bool:
    """Whether most lines have cells, as many each."""
    for mark, cell in (("\t", r"\t+"), ("   ", r" {3,}"), ("|", r"\|")):
        counts = [len(re.findall(cell, x.strip())) if mark in x else 0 for x in lines]
        common = max(set(counts), key=counts.count)
        if common and counts.count(common) > len(counts) / 2 and len(counts) > 1:
            return True
    return False


def _is_new(above: str, line: str, width: int, fresh: bool, hyphens: bool) -> bool:
    words = line.split(maxsplit=1)
    head, last = words[0], above[-1:]
    item = _ITEM.match(line)
    if item and (item["bullet"] or last in ".:;!?" or _ITEM.match(above)):
        return True
    if (
        last in ".!?"
        or _UNFINISHED.search(above[-_LAST_WORDS:])
        or above.count("(") > above.count(")")
    ):
        return False
    if head in _STARTERS:
        return True
    piece = re.split(r"(?<=-)", head)[0] if hyphens else head
    room = width - len(above.expandtabs()) > len(piece) + 1  # one letter more or less is chance
    capital = head[0].isupper() or head[0].isdigit()
    whole = fresh and len(above) <= _HEADING and not re.search(r"[.!?]\s+[A-Z]", above)
    return bool(room and capital and whole) or bool(item and room)


def _is_entry(above: str, line: str) -> bool:
    """Whether a short line among short ones stands for itself: it begins as a name does."""
    head = line.split(maxsplit=1)[0]
    return not _UNFINISHED.search(above) and (head[0].isupper() or not head.isalpha())


def set_sentence_starts(doc: Doc, first: Collection[int], *, final: bool) -> None:
    """Lets sentences begin at these tokens, and if ``final`` at no others; in linear time.

    White space begins none that it is not said to.
    """
    if not len(doc):
        return
    starts = np.full(len(doc), -1 if final else 0, dtype=np.int64)
    starts[doc.to_array([IS_SPACE]).ravel() == 1] = -1
    starts[[token for token in first if token < len(doc)]] = 1
    doc.from_array([SENT_START], cast(Any, starts.astype(np.uint64).reshape(-1, 1)))


@dataclass(frozen=True)
class SentenceSplitter:
    """Sets where sentences begin, as ``sentence_starts`` finds it; keeps what is set already.

    Put before a parser, which then parses within these sentences. Unless ``final``, the parser may
    part further where no stop is, as between a heading and the text it has run into.
    """

    any_length: ClassVar[bool] = True
    final: bool = False

    def __call__(self, doc: Doc) -> Doc:
        if not len(doc) or doc.has_annotation("SENT_START", require_complete=True):
            return doc
        given = doc.to_array([SENT_START]).ravel().astype(np.int64)
        starts = np.full(len(doc), -1 if self.final else 0, dtype=np.int64)
        known = decide_boundaries(doc)
        starts[list(known)] = np.where(list(known.values()), 1, -1)
        starts[: next(iter(known), 0) + 1] = -1  # the first word and what stands before it
        starts[0] = 1
        starts = np.where(given == 0, starts, given)
        doc.from_array([SENT_START], cast(Any, starts.astype(np.uint64).reshape(-1, 1)))
        return doc


@Language.factory(
    "textrank_sentences",
    assigns=["token.is_sent_start", "doc.sents"],
    default_config={"final": False},
)
def make_sentences(nlp: Language, name: str, final: bool) -> SentenceSplitter:
    """What the factory of this name gives."""
    return SentenceSplitter(final)
