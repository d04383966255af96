"""What is asked about a candidate, and how the judged words themselves look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
        ids: dict[tuple[str, ...], int] = {}
        known: dict[tuple[str, ...], list[int]] = {}
        rows: list[list[int]] = []
        for candidate in track(candidates, "names", len(candidates)):
            span = candidate.spans[self.focus]
            words = tuple(span.doc[i].text for i in tokens_of(span))
            if words not in known:
                found = dict.fromkeys(self._named(words))
                known[words] = [ids.setdefault(name, len(ids)) for name in found]
            rows.append(known[words])
        columns = np.array([column for row in rows for column in row], dtype=np.int32)
        starts = np.cumsum([0, *map(len, rows)])
        shape = (len(rows), len(ids))
        matrix = sp.csr_array((np.ones(len(columns)), columns, starts), shape=shape)
        return Features(matrix, Names.of(ids))

    def _named(self, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
        lower = [word.lower() for word in words]
        whole = " ".join(lower)
        yield "whole", whole
        yield "last", lower[-1]
        yield "length", str(min(len(words), 6))
        yield "shape", shape_of(" ".join(words))
        for word in lower:
            yield "word", word
        for pair in pairwise(lower):
            yield ("pair", *pair)
        text = f"<{whole}>"
        yield from [
            ("letters", text[i : i + n])
            for n in range(self.shortest, self.longest + 1)
            for i in range(len(text) - n + 1)
        ]


def shape_of(text: str) -> str:
    """Capitals as A, other letters as a, digits as 0, each run once.

    >>> shape_of("NF-kappaB p65")
    'A-aA a0'
    """
    shaped = re.sub(r"[^\W\d_]", lambda m: "A" if m[0].isupper() else "a", re.sub(r"\d", "0", text))
    return re.sub(r"(.)\1+", r"\1", shaped)
