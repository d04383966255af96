"""What is asked about a candidate, and how the judged words themselves look."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from textrank.docs import Candidate, tokens_of
from textrank.progress import track
from textrank.types import Features, Names


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
        vocabulary: dict[str, int] = {}
        known: dict[tuple[str, ...], range] = {}
        flat: list[int] = []  # three numbers a name
        rows: list[range] = []
        for candidate in track(candidates, "names", len(candidates)):
            span = candidate.spans[self.focus]
            words = tuple(span.doc[i].text for i in tokens_of(span))
            if words not in known:
                start = len(flat) // 3
                self._tell(words, vocabulary, flat)
                known[words] = range(start, len(flat) // 3)
            rows.append(known[words])
        parts = np.array(flat, dtype=np.int32).reshape(-1, 3)
        names, column = Names(tuple(vocabulary), parts).distinct()
        sizes = [len(row) for row in rows]
        starts = np.cumsum([0, *sizes])
        first = np.repeat([row.start for row in rows], sizes).astype(np.intp)
        columns = column[first + np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)]
        cells = (np.ones(len(columns)), columns.astype(np.int32), starts)
        return Features(sp.csr_array(cells, shape=(len(rows), len(names))), names)

    def _tell(self, words: Sequence[str], vocabulary: dict[str, int], flat: list[int]) -> None:
        """Adds the names of what some words look like, as numbers of a growing vocabulary."""

        def number(word: str) -> int:
            return vocabulary.setdefault(word, len(vocabulary))

        lower = [word.lower() for word in words]
        whole = " ".join(lower)
        flat += (number("whole"), number(whole), -1)
        flat += (number("last"), number(lower[-1]), -1)
        flat += (number("length"), number(str(min(len(words), 6))), -1)
        flat += (number("shape"), number(shape_of(" ".join(words))), -1)
        for word in dict.fromkeys(lower):
            flat += (number("word"), number(word), -1)
        for one, two in dict.fromkeys(pairwise(lower)):
            flat += (number("pair"), number(one), number(two))
        text, letters = f"<{whole}>", number("letters")
        runs = [
            text[i : i + n]
            for n in range(self.shortest, self.longest + 1)
            for i in range(len(text) - n + 1)
        ]
        for run in dict.fromkeys(runs):
            flat += (letters, number(run), -1)


def shape_of(text: str) -> str:
    """Capitals as A, other letters as a, digits as 0, each run once.

    >>> shape_of("NF-kappaB p65")
    'A-aA a0'
    """
    shaped = re.sub(r"[^\W\d_]", lambda m: "A" if m[0].isupper() else "a", re.sub(r"\d", "0", text))
    return re.sub(r"(.)\1+", r"\1", shaped)
