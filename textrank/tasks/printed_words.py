"""PrintedWords: where words of a list stand in a Doc, found by the keys of its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from textrank.docs import token_table
from textrank.types.ragged import offsets

BESIDE = 2  # tokens on either side that tell whether a word is a whole one


class Beginning(NamedTuple):
    """What a token may be that words begin with."""

    key: int  # of its text, the same in all vocabularies
    word: str | None  # one it is all of and that begins no longer one
    ends: bool  # or what a blank may follow; else only what comes without one makes it a word
    left: int  # letters of the longest word that come after it


@dataclass(frozen=True)
class PrintedWords:
    """Words to look for: as they stand in the list, with either apostrophe, any blanks inside.

    Only whole words that are whole tokens count, neither part of a hyphenated one nor the beginning
    of "there's"; of several that begin at a place the longest.

    >>> import spacy
    >>> doc = spacy.blank("en")("It may  be less than-less, it’s more than that.")
    >>> PrintedWords(("may be", "it's", "than")).found([doc])
    [[(may  be, 'may be'), (it’s, "it's"), (than, 'than')]]
    """

    words: tuple[str, ...]

    def found(self, docs: Sequence[Doc]) -> list[list[tuple[Span, str]]]:
        """The words of each Doc in order, none inside another; each as the list has it."""
        found: list[list[tuple[Span, str]]] = [[] for _ in docs]
        for owner, start, number, free in self._places(docs):
            doc, own = docs[owner], found[owner]
            if own and start < own[-1][0].end:
                continue
            beginning = self._beginnings[number]
            word = beginning.word if free else None
            span = doc[start : start + 1] if word else self._read(doc, start, beginning.left)
            if span is not None:
                own.append((span, word or plain_word(span.text)))
        return found

    def _places(self, docs: Sequence[Doc]) -> Iterable[tuple[int, int, int, bool]]:
        """Docs and tokens with which words may begin, how they do, and if they stand in blanks."""
        tables = [token_table(doc) for doc in docs]
        keys = np.concatenate([table["ORTH"] for table in tables])
        blank = np.concatenate([table["SPACY"] for table in tables]) == 1
        number = np.searchsorted(self._keys, keys)
        places = np.flatnonzero(self._keys[number] == keys)
        places = places[self._ends[number[places]] | ~blank[places]]
        if not len(places):
            return ()
        following = keys.take(places + 1, mode="clip")
        goes_on = self._inner[np.searchsorted(self._inner, following)] == following
        places = places[self._ends[number[places]] | goes_on]
        number, after = number[places], blank[places]

        begins = offsets([len(doc) for doc in docs])
        owner = np.searchsorted(begins, places, side="right") - 1
        start = places - begins[owner]
        free = after & (blank[places - 1] | (start == 0))
        return zip(*(column.tolist() for column in (owner, start, number, free)), strict=True)

    def _read(self, doc: Doc, start: int, left: int) -> Span | None:
        """The word that begins with a token, by the letters there and around it."""
        first = max(start - BESIDE, 0)
        text = doc[first : start + 1 + left + BESIDE].text
        begin = doc[start].idx
        match = self._pattern.match(text, begin - doc[first].idx)
        return None if match is None else doc.char_span(begin, begin + len(match[0]))

    @cached_property
    def _beginnings(self) -> list[Beginning]:
        """By their keys."""
        whole: dict[str, str] = {}
        rests: dict[str, list[str]] = {}
        for word in self.words:
            for printed in _variants(word):
                whole[printed] = word
                for size in range(1, len(printed) + 1):
                    rests.setdefault(printed[:size], []).append(printed[size:])
        strings, found = StringStore(), list[Beginning]()
        for text, own in rests.items():
            apart = any(rest.startswith(" ") for rest in own)
            alone = None if apart else whole.get(text)
            ends, left = apart or text in whole, max(map(len, own))
            found.append(Beginning(strings.add(text), alone, ends, left))
        return sorted(found)

    @cached_property
    def _keys(self) -> NDArray[np.uint64]:
        return _in_order(one.key for one in self._beginnings)

    @cached_property
    def _ends(self) -> NDArray[np.bool_]:
        return np.array([*(one.ends for one in self._beginnings), False])

    @cached_property
    def _inner(self) -> NDArray[np.uint64]:
        """Keys of all that may follow in a word after its beginning."""
        strings, found = StringStore(), set[int]()
        for printed in (each for word in self.words for each in _variants(word)):
            ends = combinations(range(1, len(printed) + 1), 2)
            found.update(strings.add(printed[start:end]) for start, end in ends)
        return _in_order(found)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        each = (_spelt(word) for word in sorted(self.words, key=lambda w: (-len(w), w)))
        return re.compile(rf"(?<!\w)(?<!\w[-'’./@])(?:{'|'.join(each)})(?!\w|[-'’./@]\w)")


def plain_word(text: str) -> str:
    """A printed word as lists have it: straight apostrophe, one blank.

    >>> plain_word("it’s"), plain_word("may  be")
    ("it's", 'may be')
    """
    return re.sub(r"\s+", " ", text.replace("’", "'"))


def _in_order(keys: Iterable[int]) -> NDArray[np.uint64]:
    """Keys to be searched among: in order, then one that no token has."""
    return np.array([*sorted(keys), np.iinfo(np.uint64).max], dtype=np.uint64)


def _variants(word: str) -> Iterator[str]:
    """The word with each apostrophe in both forms."""
    letters = ["'’" if letter == "'" else letter for letter in " ".join(word.split())]
    return map("".join, product(*letters))


def _spelt(word: str) -> str:
    return r"\s+".join(re.escape(part).replace("'", "['’]") for part in word.split())
