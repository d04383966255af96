"""What is asked about a candidate, and how the judged words themselves look."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from textrank.docs import Candidate, tokens_of
from textrank.progress import track
from textrank.representations.mentions.binary import binary
from textrank.types import Features, Names

Name = tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """What each candidate asks, such as "DNA" or "type: binding": see ``Candidate.asked``."""

    focus: int = 0  # of no effect; stands in saved models

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[str]:
        return [candidate.asked for candidate in candidates]


@dataclass(frozen=True)
class Mention:
    """How the judged words look: the whole, its words and word pairs, letters, shape and length.

    The last word is told apart, since it is the head of most English names. Letters are the
    character n-grams of ``shortest`` to ``longest``, ends marked.
    """

    shortest: int = 2
    longest: int = 5
    focus: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest:
            raise ValueError(
                f"n-gram lengths must satisfy 1 <= shortest <= longest, got {self.shortest} and "
                f"{self.longest}"
            )

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        rows: dict[tuple[str, ...], int] = {}
        at: list[int] = []
        for candidate in track(candidates, "names", len(candidates)):
            span = candidate.spans[self.focus]
            words = tuple(span.doc[i].text for i in tokens_of(span))
            at.append(rows.setdefault(words, len(rows)))
        cells, things = binary(self._look(words) for words in rows)
        named = Names.of(("letters", t) if isinstance(t, str) else t for t in things)
        found = Features(cells, named)
        return found if len(rows) == len(at) else found.rows(np.array(at, dtype=np.intp))

    def _look(self, words: Sequence[str]) -> dict[str | Name, None]:
        """What some words look like: names of features, and plain runs of letters."""
        lower = [word.lower() for word in words]
        whole = " ".join(lower)
        found: list[str | Name] = [
            ("whole", whole),
            ("last", lower[-1]),
            ("length", str(min(len(words), 6))),
            ("shape", shape_of(" ".join(words))),
            *(("word", word) for word in lower),
            *(("pair", *two) for two in pairwise(lower)),
        ]
        text = f"<{whole}>"
        for n in range(self.shortest, self.longest + 1):
            found += [text[i : i + n] for i in range(len(text) - n + 1)]
        return dict.fromkeys(found)


def shape_of(text: str) -> str:
    """Capitals as A, other letters as a, digits as 0, each run once.

    >>> shape_of("NF-kappaB p65")
    'A-aA a0'
    """
    return re.sub(r"(.)\1+", r"\1", "".join([_kind(letter) for letter in text]))


@lru_cache(maxsize=1 << 10)
def _kind(letter: str) -> str:
    if letter.isdecimal():
        return "0"
    return letter if not letter.isalnum() else "A" if letter.isupper() else "a"
