"""The tokens near many targets at once, as numbers of words, tags and endings."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import LOWER, SPACY, TAG
from spacy.strings import StringStore
from spacy.tokens import Doc

from textrank.docs import Candidate, document_id, starts_of
from textrank.types import Indices

if TYPE_CHECKING:
    from textrank.representations.contexts.collocations import Collocations

Numbers: TypeAlias = NDArray[np.int32]  # (n,) a word of the vocabulary for each target
OUTSIDE = "<>"  # what stands beyond the sentence or the document


class Block(NamedTuple):
    """A name for each candidate, of numbers of words or one number for all; and its value."""

    parts: Sequence[Numbers | int]
    value: float
    rows: NDArray[np.bool_] | None = None  # which candidates have it; all without


@dataclass(frozen=True, eq=False)
class Near:
    """What stands at each offset from each target: every distinct word is looked at once."""

    settings: Collocations
    vocabulary: dict[str, int]  # grows by what is asked for
    strings: StringStore
    tokens: NDArray[np.uint64]  # (3, t) lower-case form, tag, and whether a blank follows
    at: Mapping[int, Indices]  # (n,) the token at each offset, -1 outside
    ends: Indices  # (n,) the last token of each target

    @classmethod
    def of(
        cls, candidates: Iterable[Candidate], settings: Collocations, vocabulary: dict[str, int]
    ) -> Near:
        """The tokens around the candidates; those of a Doc stand together."""
        tables: list[Any] = []
        spans: list[tuple[int, int, int, int]] = []
        doc, base, starts = None, 0, list[int]()
        for candidate in candidates:
            if candidate.doc is not doc:
                base += 0 if doc is None else len(doc)
                doc = candidate.doc
                tables.append(doc.to_array([LOWER, TAG, SPACY]).reshape(-1, 3))
                starts = _starts(doc, settings.bounds).tolist()
            target = candidate.spans[settings.focus]
            start, end = target.start, target.end
            low, high = starts[bisect_right(starts, start) - 1], starts[bisect_left(starts, end)]
            spans.append((start + base, end + base, low + base, high + base))
        begins, ends, lowest, highest = np.array(spans, dtype=np.intp).reshape(-1, 4).T
        at = {}
        for offset in settings.offsets:
            i = begins + offset if offset < 0 else ends + (offset - 1)
            at[offset] = np.where((lowest <= i) & (i < highest), i, -1)
        tokens = np.vstack([np.zeros((0, 3), dtype=np.uint64), *tables]).T
        strings = StringStore() if doc is None else doc.vocab.strings
        return cls(settings, vocabulary, strings, tokens, at, ends - 1)

    @cached_property
    def words(self) -> dict[int, Numbers]:
        """The words."""
        return self._numbered(0, _word_of(self.settings.digits), OUTSIDE)

    @cached_property
    def tags(self) -> dict[int, Numbers]:
        """Their tags, from the lexicon where there is one."""
        if self._lexicon is None:
            return self._numbered(1, str, OUTSIDE)
        word, lexicon = _word_of(self.settings.digits), self._lexicon
        return self._numbered(0, lambda text: _tag(word(text), lexicon), OUTSIDE)

    @cached_property
    def classes(self) -> dict[int, Numbers]:
        """All tags that the lexicon has for them."""
        word, lexicon = _word_of(self.settings.digits), self._lexicon or {}
        outside = _class(OUTSIDE, lexicon, OUTSIDE)
        return self._numbered(0, lambda text: _class(word(text), lexicon), outside)

    @cached_property
    def endings(self) -> dict[int, Numbers]:
        """Their last three letters."""
        word = _word_of(self.settings.digits)
        return self._numbered(0, lambda text: word(text)[-3:], OUTSIDE[-3:])

    @property
    def glued_before(self) -> NDArray[np.bool_]:
        """Whether no blank stands before the target."""
        before = self.at[-1]
        return (before >= 0) & (self.tokens[2, before] == 0)

    @property
    def glued_after(self) -> NDArray[np.bool_]:
        """Whether no blank stands after the target."""
        return (self.at[1] >= 0) & (self.tokens[2, self.ends] == 0)

    @cached_property
    def _lexicon(self) -> Mapping[str, Sequence[str]] | None:
        return None if self.settings.tags is None else self.settings.tags.words()

    @cached_property
    def _distinct(self) -> dict[int, tuple[list[str], Indices]]:
        """Distinct forms, or tags, at any offset, and which of them stands where."""
        places = np.stack(list(self.at.values()))  # (offsets, n)
        found = {}
        for row in (0, 1):
            keys, which = np.unique(self.tokens[row, places[places >= 0]], return_inverse=True)
            number = np.full(places.shape, len(keys), dtype=np.intp)  # outside
            number[places >= 0] = which.ravel()
            found[row] = [self.strings[key] for key in keys.tolist()], number
        return found

    def _numbered(self, row: int, tell: Callable[[str], str], outside: str) -> dict[int, Numbers]:
        texts, which = self._distinct[row]
        words = self.vocabulary
        forms = [*map(tell, texts), outside]
        numbers = np.array([words.setdefault(word, len(words)) for word in forms], dtype=np.int32)
        return dict(zip(self.at, numbers[which], strict=True))


def _starts(doc: Doc, bounds: str) -> Indices:
    """First tokens of what is not left, then the end."""
    if bounds == "document":
        return np.array([0, len(doc)], dtype=np.intp)
    if not doc.has_annotation("SENT_START"):
        raise ValueError(
            f"document {document_id(doc)!r} has no sentences. Run a parser or a sentencizer before."
        )
    return starts_of(doc)


def _word_of(digits: str) -> Callable[[str], str]:
    return collapse_digits if digits == "collapse" else str


def _tag(word: str, lexicon: Mapping[str, Sequence[str]]) -> str:
    return lexicon[word][0] if word in lexicon else f"-{word[-3:]}"


def _class(word: str, lexicon: Mapping[str, Sequence[str]], tag: str | None = None) -> str:
    known = lexicon.get(word)
    return (tag or _tag(word, lexicon)) if known is None else " ".join(sorted(known))


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
