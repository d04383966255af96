"""The tokens near many targets at once, as numbers of words, tags and endings."""

from __future__ import annotations

import gzip
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate, document_id
from textrank.features import FeatureNames, Features, Indices
from textrank.io import shipped_folder
from textrank.linear_scores import TemplateFeatures
from textrank.progress import track
from textrank.representations.contexts import DocTokens, TextCache

OUTSIDE = "<>"  # what stands beyond the sentence or the document


class TokenForm(NamedTuple):
    """How a token is told."""

    word: str
    tag: str  # by a lexicon
    all_tags: str  # of the lexicon
    ending: str


@dataclass(frozen=True, eq=False)
class TokenForms:
    """What is told of tokens, by a lexicon of tags; every distinct one is looked at once."""

    digits: str
    lexicon: Mapping[str, Sequence[str]]

    @cached_property
    def told(self) -> TextCache[TokenForm]:
        """Of texts in lower case."""
        return TextCache(self._of)

    @cached_property
    def outside(self) -> TokenForm:
        """What is beyond the end."""
        return TokenForm(OUTSIDE, OUTSIDE, self._all_tags(OUTSIDE, OUTSIDE), OUTSIDE[-3:])

    def _of(self, text: str) -> TokenForm:
        word = collapse_digits(text) if self.digits == "collapse" else text
        tag = self.lexicon[word][0] if word in self.lexicon else f"-{word[-3:]}"
        return TokenForm(word, tag, self._all_tags(word, tag), word[-3:])

    def _all_tags(self, word: str, tag: str) -> str:
        known = self.lexicon.get(word)
        return tag if known is None else " ".join(sorted(known))


@dataclass(frozen=True, eq=False)
class TargetNeighbours:
    """What stands at each offset from each target."""

    run: DocTokens
    forms: TokenForms
    offsets: Mapping[int, int]  # the row of each in ``at``
    at: Indices  # (offsets, n) the token there, -1 outside
    vocabulary: dict[str, int]  # grows by what is asked for

    @classmethod
    def from_targets(
        cls, targets: Sequence[Span], offsets: Sequence[int], bounds: str, forms: TokenForms
    ) -> TargetNeighbours:
        """The tokens around targets, as far as the "document" or the "sentence" goes."""
        run = DocTokens.from_spans(targets)
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
    def _told(self) -> tuple[list[TokenForm], Indices]:
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


Name = tuple[str, ...]
NGRAMS: tuple[tuple[int, ...], ...] = (
    *((offset,) for offset in (-3, -2, -1, 1, 2, 3)),
    *((-2, -1), (1, 2), (-1, 1), (-3, -2), (2, 3)),
    *((-3, -2, -1), (1, 2, 3), (-2, -1, 1), (-1, 1, 2)),
)
Slot = tuple[str, int]  # what is told of a token, and its offset


class FeatureTemplate(NamedTuple):
    """A feature that each candidate has: its name begins with a title; its value."""

    title: str
    slots: Sequence[Slot]  # what comes after the title
    value: float
    glued: str = ""  # only where the target touches what is "before" or "after" it


@dataclass(frozen=True)
class Tags:
    """Word n-grams read as parts of speech, from a dictionary of words or from the Doc.

    >>> import spacy
    >>> doc = spacy.blank("en")("It is larger then that.")
    >>> tags = Tags({"larger": ["JJR"], "that": ["DT"]})
    >>> found = Collocations([(-1,)], glued=False, tags=tags)([Candidate(doc, (doc[3:4],), "d1")])
    >>> [" ".join(name) for name in found.names]
    ['-1 larger', '-1 tag JJR', '-1 class JJR']

    Parameters
    ----------
    lexicon
        The tags of each word, most frequent first, as ``tag_lexicon`` finds them; the first is its
        tag, all of them its ambiguity class. An unknown word is tagged by its last three letters.
        A string names a shipped lexicon ("english") or a file, see ``load_lexicon``.
        Without a lexicon, ``token.tag_`` is read: only where it was assigned without knowing the
        answer, as by a tagger, never from gold annotation.
    weight
        Factor of these features beside those of words.
    mixed
        Also n-grams with one word and tags elsewhere.
    """

    lexicon: Mapping[str, Sequence[str]] | str | None = None
    weight: float = 0.7
    mixed: bool = True

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise ValueError(f"weight must be positive, got {self.weight}")

    def words(self) -> Mapping[str, Sequence[str]] | None:
        """The tags of each word, read from their file where only that is named."""
        return load_lexicon(self.lexicon) if isinstance(self.lexicon, str) else self.lexicon


@dataclass(frozen=True)
class Collocations:
    """Binary features: which words stand together at which offsets from the target.

    Words are lower case and punctuation counts. The value of a feature is the weight of its length
    in ``weights``, times those of tags and endings.

    Parameters
    ----------
    ngrams
        Offsets that are read together; -1 is the token before the target, 1 the one after.
    weights
        The value of an n-gram of one, two, three ... tokens; the last serves longer ones.
    bounds
        What lies beyond the "document" or the "sentence" is not read.
    glued
        Also whether the target touches its neighbours without a blank, alone and with the word.
    endings
        Offsets whose last three letters are read too, with value ``ending_weight``.
    digits
        "keep" them, or "collapse" each run to one #.
    known
        The only features to tell, such as those seen twice in some unlabelled text
        (``frequent``); without it, all.
    """

    ngrams: Sequence[Sequence[int]] = NGRAMS
    weights: Sequence[float] = (1.0,)
    bounds: str = "document"
    glued: bool = True
    tags: Tags | None = None
    endings: Sequence[int] = ()
    ending_weight: float = 0.5
    digits: str = "keep"
    focus: int = 0
    known: Sequence[Sequence[str]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "ngrams", tuple(tuple(offsets) for offsets in self.ngrams))
        for name in ("weights", "endings"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.known is not None:
            object.__setattr__(self, "known", tuple(tuple(name) for name in self.known))
        if any(not offsets or 0 in offsets for offsets in self.ngrams) or 0 in self.endings:
            raise ValueError(
                f"offsets must not be empty or hold 0, the target itself, got {self.ngrams}"
            )
        if not self.weights or min(self.weights) <= 0 or self.ending_weight <= 0:
            raise ValueError(
                f"weights must be positive, got {self.weights} and ending_weight "
                f"{self.ending_weight}"
            )
        if self.bounds not in ("document", "sentence"):
            raise ValueError(f"bounds must be 'document' or 'sentence', got {self.bounds!r}")
        if self.digits not in ("keep", "collapse"):
            raise ValueError(f"digits must be 'keep' or 'collapse', got {self.digits!r}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        each = self.represent_fast(candidates).features()
        if self.known is None:
            names, columns = each.names.unique()
        else:
            names = self._known
            columns = names.find(each.names)
        cells = (each.values.data, columns, each.values.indptr)
        return Features(sp.csr_array(cells, shape=(len(each), len(names))), names)

    def represent_fast(self, candidates: Sequence[Candidate]) -> TemplateFeatures:
        """The features by the words that fill their names."""
        tracked = track(candidates, "collocations", len(candidates))
        targets = [candidate.spans[self.focus] for candidate in tracked]
        near = TargetNeighbours.from_targets(targets, self.offsets, self.bounds, self._forms)
        titles = np.array([near.number(block.title) for block in self._blocks], dtype=np.int32)
        kinds = dict.fromkeys(kind for kind, _ in self._columns)
        numbers = {kind: near.numbers(kind) for kind in kinds}
        fill = [numbers[kind][near.offsets[offset]] for kind, offset in self._columns]
        values = np.array([block.value for block in self._blocks])
        found = TemplateFeatures(
            tuple(near.vocabulary),
            np.array(fill, dtype=np.int32).reshape(len(fill), len(candidates)).T,
            titles, self._slots, values, self._present(near),
        )  # fmt: skip
        return found if self.known is None else found.having(self._known)

    def _present(self, near: TargetNeighbours) -> NDArray[np.bool_] | None:
        """Which candidates have which features; None where all have all."""
        if not self.glued:
            return None
        rows = {"": np.ones(near.at.shape[1], dtype=bool)}
        rows |= {"before": near.glued_before, "after": near.glued_after}
        return np.column_stack([rows[block.glued] for block in self._blocks])

    @cached_property
    def offsets(self) -> list[int]:
        """All offsets at which something is read."""
        glued = (-1, 1) if self.glued else ()
        return sorted({*(at for own in self.ngrams for at in own), *self.endings, *glued})

    @cached_property
    def _known(self) -> FeatureNames:
        return FeatureNames.from_iterable(map(tuple, self.known or ()))

    @cached_property
    def _forms(self) -> TokenForms:
        lexicon = None if self.tags is None else self.tags.words()
        return TokenForms(self.digits, lexicon or {})

    @cached_property
    def _columns(self) -> list[Slot]:
        """Everything that fills a slot, once."""
        return list(dict.fromkeys(slot for block in self._blocks for slot in block.slots))

    @cached_property
    def _slots(self) -> Indices:  # (blocks, longest)
        column = {slot: number for number, slot in enumerate(self._columns)}
        width = max((len(block.slots) for block in self._blocks), default=0)
        slots = np.full((len(self._blocks), width), -1, dtype=np.intp)
        for row, block in enumerate(self._blocks):
            slots[row, : len(block.slots)] = [column[slot] for slot in block.slots]
        return slots

    @cached_property
    def _blocks(self) -> list[FeatureTemplate]:
        return [*self._ngram_blocks(), *self._other_blocks()]

    def _ngram_blocks(self) -> Iterator[FeatureTemplate]:
        """N-grams of words, of tags, and mixed."""
        last = len(self.weights)
        for own in dict.fromkeys(map(tuple, self.ngrams)):
            where = " ".join(f"{offset:+d}" for offset in own)
            value = self.weights[min(len(own), last) - 1]
            words = [("word", at) for at in own]
            yield FeatureTemplate(where, words, value)
            if self.tags is None:
                continue
            value *= self.tags.weight
            tag = "doc_tag" if self.tags.lexicon is None else "tag"
            tags = [(tag, at) for at in own]
            yield FeatureTemplate(f"{where} tag", tags, value)
            if self.tags.mixed and 2 <= len(words) <= 3:
                for i, word in enumerate(words):
                    yield FeatureTemplate(
                        f"{where} mixed {i}", [*tags[:i], word, *tags[i + 1 :]], value
                    )
            if len(own) == 1 and self.tags.lexicon is not None:
                yield FeatureTemplate(f"{where} class", [("all_tags", own[0])], value)

    def _other_blocks(self) -> Iterator[FeatureTemplate]:
        """Endings, and what touches the target."""
        for at in dict.fromkeys(self.endings):
            yield FeatureTemplate(f"{at:+d} ending", [("ending", at)], self.ending_weight)
        for side, at in (("before", -1), ("after", 1)) if self.glued else ():
            yield FeatureTemplate(f"glued {side}", [], 1.0, side)
            yield FeatureTemplate(f"glued {side}", [("word", at)], 1.0, side)


def frequent_names(features: Features, minimum: int = 2) -> list[Name]:
    """Names of the features that at least ``minimum`` rows have: ``known`` of Collocations."""
    counts = np.bincount(features.values.indices, minlength=len(features.names))
    return list(features.names.take(np.flatnonzero(counts >= minimum)))


def tag_lexicon(tagged: Iterable[tuple[str, str]], share: float = 0.1) -> dict[str, list[str]]:
    """The tags of each word in lower case, most frequent first, each in a ``share`` of its uses.

    >>> tag_lexicon([("Binds", "VBZ"), ("binds", "VBZ"), ("binds", "NNS")])
    {'binds': ['VBZ', 'NNS']}
    """
    counts: dict[str, Counter[str]] = {}
    for word, tag in tagged:
        counts.setdefault(word.lower(), Counter())[tag] += 1
    return {
        word: [tag for tag, n in tags.most_common() if n >= share * tags.total()]
        for word, tags in counts.items()
    }


def load_lexicon(name: str) -> Mapping[str, Sequence[str]]:
    """A lexicon by the name of a shipped one ("english") or by the path of its file.

    A line holds a word, a tab and its tags with blanks between, most frequent first; the file may
    be packed by gzip.
    """
    shipped = shipped_folder("models") / "lexicon" / f"{name}.tsv.gz"
    path = shipped if Path(name).name == name and shipped.is_file() else Path(name)
    if not path.is_file():
        raise ValueError(
            f"no lexicon {name!r}: neither shipped nor a file. Write one with write_lexicon."
        )
    return _read(str(path.resolve()), path.stat().st_mtime_ns)


def write_lexicon(lexicon: Mapping[str, Sequence[str]], path: str | Path) -> None:
    """Writes a lexicon as ``load_lexicon`` reads it; the same bytes every time."""
    lines = [f"{word}\t{' '.join(tags)}\n" for word, tags in sorted(lexicon.items())]
    if bad := next((line for line in lines if line.count("\t") != 1 or line.count("\n") != 1), ""):
        raise ValueError(f"a word or tag holds a tab or line end: {bad!r}. Leave it out.")
    data = "".join(lines).encode()
    packed = gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data
    Path(path).write_bytes(packed)


@lru_cache(maxsize=4)
def _read(path: str, changed: int) -> Mapping[str, Sequence[str]]:
    data = Path(path).read_bytes()
    try:
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
        rows = [line.split("\t") for line in text.splitlines()]
        return {word: tuple(tags.split()) for word, tags in rows}
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"{path}: not a lexicon ({error}). Write word, tab, tags.") from error
