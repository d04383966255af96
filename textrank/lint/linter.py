"""Linter: proposals for real-word errors in the prose of texts, with their places."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textrank.lint.prose import prose
from textrank.spelling import PRECISION, Confusions, Flag, shipped

WIDE = 300  # characters of a sentence that are shown on either side


@dataclass(frozen=True)
class Proposal:
    """A word that is probably another one, where it stands, and why."""

    file: str
    line: int  # from 1, as the column
    column: int
    offset: int
    length: int
    word: str
    proposal: str
    probability: float
    because: str
    sentence: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values under stable keys."""
        return {key: value for key, value in asdict(self).items() if key != "sentence"}


class Linter:
    """Judges the prose of texts with a table of confusions; nothing of spaCy is loaded.

    ``precision`` is the share of proposals that shall be right where one word in a hundred is
    wrong, ``words`` are those never judged.
    """

    def __init__(
        self,
        model: str = "confusions",
        *,
        precision: float | None = None,
        words: Sequence[str] = (),
    ) -> None:
        self.confusions = Confusions.from_disk(shipped(model) or Path(model))
        self.precision = PRECISION if precision is None else precision
        self.words: Collection[str] = frozenset(word.lower() for word in words)

    def __call__(self, text: str, *, file: str = "-", kind: str = "text") -> list[Proposal]:
        """The proposals of one text, in its order."""
        kept = prose(text, kind)
        flags = self.confusions.flags(kept, self.precision)
        shown = [flag for flag in flags if flag.printed.lower() not in self.words]
        ends = [end.start() for end in re.finditer("\n", text)] if shown else []
        return [_proposal(text, ends, flag, file) for flag in shown]


def _proposal(text: str, ends: Sequence[int], flag: Flag, file: str) -> Proposal:
    line = bisect_right(ends, flag.start - 1)
    begin = ends[line - 1] + 1 if line else 0
    return Proposal(
        file=file,
        line=line + 1,
        column=flag.start - begin + 1,
        offset=flag.start,
        length=flag.end - flag.start,
        word=text[flag.start : flag.end],
        proposal=flag.proposal,
        probability=flag.probability,
        because=", ".join(flag.because),
        sentence=_sentence(text, flag.start, flag.end),
    )


def _sentence(text: str, start: int, end: int) -> str:
    """What is shown around a word: up to the next full stop or blank line."""
    before = re.split(r"[.!?]\s+|\n\s*\n", text[max(0, start - WIDE) : start])[-1]
    after = re.split(r"(?<=[.!?])\s|\n\s*\n", text[end : end + WIDE])[0]
    return " ".join((before + text[start:end] + after).split())


def fixed(text: str, proposals: Sequence[Proposal]) -> str:
    """The text with all proposals put in."""
    for one in sorted(proposals, key=lambda proposal: -proposal.offset):
        text = text[: one.offset] + one.proposal + text[one.offset + one.length :]
    return text
