"""The tokens near many targets at once, as numbers of words, tags and endings."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from textrank.docs import document_id
from textrank.representations.contexts.token_run import TokenRun
from textrank.representations.contexts.told import Told
from textrank.types import Indices

OUTSIDE = "<>"  # what stands beyond the sentence or the document


class Form(NamedTuple):
    """How a token is told."""

    word: str
    tag: str  # by a lexicon
    all_tags: str  # of the lexicon
    ending: str


@dataclass(frozen=True, eq=False)
class Forms:
    """What is told of tokens, by a lexicon of tags; every distinct one is looked at once."""

    digits: str
    lexicon: Mapping[str, Sequence[str]]

    @cached_property
    def told(self) -> Told[Form]:
        """Of texts in lower case."""
        return Told(self._of)

    @cached_property
    def outside(self) -> Form:
        """What is beyond the end."""
        return Form(OUTSIDE, OUTSIDE, self._all_tags(OUTSIDE, OUTSIDE), OUTSIDE[-3:])

    def _of(self, text: str) -> Form:
        word = collapse_digits(text) if self.digits == "collapse" else text
        tag = self.lexicon[word][0] if word in self.lexicon else f"-{word[-3:]}"
        return Form(word, tag, self._all_tags(word, tag), word[-3:])

    def _all_tags(self, word: str, tag: str) -> str:
        known = self.lexicon.get(word)
        return tag if known is None else " ".join(sorted(known))


@dataclass(frozen=True, eq=False)
class Near:
    """What stands at each offset from each target."""

    run: TokenRun
    forms: Forms
    offsets: Mapping[int, int]  # the row of each in ``at``
    at: Indices  # (offsets, n) the token there, -1 outside
    vocabulary: dict[str, int]  # grows by what is asked for

    @classmethod
    def of(cls, targets: Sequence[Span], offsets: Sequence[int], bounds: str, forms: Forms) -> Near:
        """The tokens around targets, as far as the "document" or the "sentence" goes."""
        run = TokenRun.of(targets)
        if bounds == "sentence":
            _check_sentences(run.docs)
        (begins, ends), (lowest, highest) = run.spans, run.bounds(bounds)
        steps = np.array(offsets, dtype=np.intp)[:, None]
        i = np.where(steps < 0, begins + steps, ends + steps - 1)
        at = np.where((lowest <= i) & (i < highest), i, -1)
        return cls(run, forms, {offset: row for row, offset in enumerate(offsets)}, at, {})

    def number(self, word: str) -> int:
        """The number of a word of the vocabulary."""
        return self.vocabulary.setdefault(word, len(self.vocabulary))

    def numbers(self, kind: str) -> NDArray[np.int32]:  # (offsets, n)
        """The words of a kind at all offsets: a field of ``Form``, or the tag of the Doc."""
        if kind == "doc_tag":
            keys, which = self._distinct("TAG")
            texts = [self._strings[key] for key in keys]
        else:
            forms, which = self._told
            texts = [getattr(form, kind) for form in forms]
        outside = OUTSIDE if kind == "doc_tag" else getattr(self.forms.outside, kind)
        return np.array([*map(self.number, texts), self.number(outside)], dtype=np.int32)[which]

    @property
    def glued_before(self) -> NDArray[np.bool_]:
        """Whether no blank stands before the target."""
        before = self.at[self.offsets[-1]]
        return (before >= 0) & (self.run.column("SPACY")[before] == 0)

    @property
    def glued_after(self) -> NDArray[np.bool_]:
        """Whether no blank stands after the target."""
        inside = self.at[self.offsets[1]] >= 0
        return inside & (self.run.column("SPACY")[self.run.spans[1] - 1] == 0)

    @cached_property
    def _told(self) -> tuple[list[Form], Indices]:
        keys, which = self._distinct("LOWER")
        return self.forms.told.of(keys, self._strings), which

    def _distinct(self, attribute: str) -> tuple[list[int], Indices]:
        """Distinct forms, or tags, at any offset, and which of them stands where."""
        inside = self.at >= 0
        keys, which = np.unique(self.run.column(attribute)[self.at[inside]], return_inverse=True)
        number = np.full(self.at.shape, len(keys), dtype=np.intp)  # outside
        number[inside] = which.ravel()
        return keys.tolist(), number

    @property
    def _strings(self) -> ChainMap[Any, Any]:
        """The texts of keys; Docs of several vocabularies know different ones."""
        return ChainMap(*{id(d.vocab): cast(Any, d.vocab.strings) for d in self.run.docs}.values())


def _check_sentences(docs: Sequence[Doc]) -> None:
    for doc in docs:
        if not doc.has_annotation("SENT_START"):
            raise ValueError(
                f"document {document_id(doc)!r} has no sentences. Run a parser or a sentencizer "
                "before."
            )


@lru_cache(maxsize=1 << 15)
def collapse_digits(word: str) -> str:
    """The word with each run of digits as one #."""
    if not any(map(str.isdigit, word)):
        return word
    out: list[str] = []
    for letter in word:
        if not letter.isdigit():
            out.append(letter)
        elif not out or out[-1] != "#":
            out.append("#")
    return "".join(out)
