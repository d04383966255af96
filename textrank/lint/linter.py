"""Linter: proposals for real-word errors in the prose of texts, with their places."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from textrank.config import load_model
from textrank.lint.prose import HOLE, prose
from textrank.model import Model
from textrank.settings import adjusted

NEAR = 2  # words on either side that must be prose
BATCH = 64  # paragraphs that are judged at once


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
    """Judges the prose of texts with a spelling model; only words of its sets cost anything.

    ``precision`` is the share of proposals that shall be right, ``words`` are those never judged.
    """

    def __init__(
        self, model: str = "spelling", *, precision: float | None = None, words: Sequence[str] = ()
    ) -> None:
        settings = [] if precision is None else [f"task.precision={precision}"]
        self.model: Model = adjusted(load_model(model), settings)
        self.words: Collection[str] = frozenset(word.lower() for word in words)

    def __call__(self, text: str, *, file: str = "-", kind: str = "text") -> list[Proposal]:
        """The proposals of one text, in its order."""
        kept = prose(text, kind)
        pieces = list(self._paragraphs(kept))
        docs = (self._doc(kept[start:end]) for start, end in pieces)
        found = []
        for (start, _), doc in zip(pieces, self.model.pipe(docs, batch_size=BATCH), strict=True):
            for row in doc._.textrank_spelling:
                if self._told(doc, row):
                    found.append(self._proposal(text, start, row, file))
        return found

    def _paragraphs(self, kept: str) -> Iterator[tuple[int, int]]:
        """The paragraphs that hold a word of the sets at all."""
        for paragraph in re.finditer(r"(?:[^\n]*[^\s\x00][^\n]*\n?)+", kept):
            if self._pattern.search(paragraph[0]):
                yield paragraph.start(), paragraph.end()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        task: Any = self.model.pipeline.task
        words = {word for own in (*task.sets, *task.more) for word in own}
        each = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        return re.compile(rf"(?<!\w)(?:{each})(?!\w)")

    @cached_property
    def _nlp(self) -> Language:
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        return nlp

    def _doc(self, text: str) -> Doc:
        return self._nlp(text.replace(HOLE, "\u2028"))  # a character that no word has

    def _told(self, doc: Doc, row: dict[str, Any]) -> bool:
        """Whether a proposal may be shown: prose on both sides, and no word of the user's."""
        if row["printed"].lower() in self.words:
            return False
        span = doc.char_span(*row["span"])
        if span is None:
            return False
        around = [*doc[max(0, span.start - NEAR) : span.start], *doc[span.end : span.end + NEAR]]
        return not any("\u2028" in token.text for token in around)

    def _proposal(self, text: str, start: int, row: dict[str, Any], file: str) -> Proposal:
        offset = start + row["span"][0]
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        reasons = [" ".join(reason["feature"]) for reason in row.get("because", ())]
        return Proposal(
            file=file,
            line=line,
            column=column,
            offset=offset,
            length=row["span"][1] - row["span"][0],
            word=row["printed"],
            proposal=row["proposal"],
            probability=float(row["probability"]),
            because=", ".join(reasons),
            sentence=" ".join(row["sentence"].replace("\u2028", "").split()),
        )


def fixed(text: str, proposals: Sequence[Proposal]) -> str:
    """The text with all proposals put in; an apostrophe stays as the text writes it."""
    for one in sorted(proposals, key=lambda proposal: -proposal.offset):
        word = one.proposal.replace("'", "’") if "’" in one.word else one.proposal
        text = text[: one.offset] + word + text[one.offset + one.length :]
    return text
