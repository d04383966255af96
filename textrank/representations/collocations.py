"""Features of the words, tags and endings next to a target, and lexicons of tags.

``Collocations`` is the representation. ``TargetNeighbours`` reads the tokens at fixed offsets from
many targets at once, ``TokenForms`` says how a token is read, and each ``FeatureTemplate`` is a
feature whose name is filled in for each candidate. ``tag_lexicon``, ``load_lexicon`` and
``write_lexicon`` handle dictionaries of tags.
"""

from __future__ import annotations

import gzip
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate, document_id
from textrank.features import FeatureNames, Features, Indices
from textrank.io import check_utf8, iter_lines, shipped_folder
from textrank.linear_scores import TemplateFeatures
from textrank.progress import track
from textrank.representations.contexts import DocTokens, TextCache, target_span

SHIPPED_LEXICONS = ("english",)
OUTSIDE = "<>"  # stands for a token beyond the sentence or the document


class TokenForm(NamedTuple):
    """How a token is read: its word, its tags in a lexicon and its ending."""

    word: str
    tag: str  # most frequent tag, or "-" and the ending of an unknown word
    all_tags: str  # all tags in the lexicon, sorted; ``tag`` for an unknown word
    ending: str  # last three letters


@dataclass(frozen=True, eq=False)
class TokenForms:
    """Forms of tokens by a lexicon of tags; every distinct token is looked at once.

    ``digits`` is "keep", or "collapse" to replace each run of digits by one #. ``lexicon`` has the
    tags of each lower-case word, most frequent first; it may be empty.
    """

    digits: str
    lexicon: Mapping[str, Sequence[str]]

    @cached_property
    def form_cache(self) -> TextCache[TokenForm]:
        """Cache of forms by lower-case text."""
        return TextCache(self._make_form)

    @cached_property
    def outside(self) -> TokenForm:
        """Form of a token beyond the sentence or document; its fields are ``OUTSIDE``."""
        return TokenForm(OUTSIDE, OUTSIDE, self._all_tags(OUTSIDE, OUTSIDE), OUTSIDE[-3:])

    def _make_form(self, text: str) -> TokenForm:
        """Return the form of a lower-case text: word, tag, all tags and ending of three letters.

        The tag is the first of the lexicon, or "-" and the ending for an unknown word. Digits are
        collapsed first if the setting says so.
        """
        word = collapse_digits(text) if self.digits == "collapse" else text
        tag = self.lexicon[word][0] if word in self.lexicon else f"-{word[-3:]}"
        return TokenForm(word, tag, self._all_tags(word, tag), word[-3:])

    def _all_tags(self, word: str, tag: str) -> str:
        """Return all tags of a word, sorted and joined by blanks; ``tag`` if it is unknown."""
        tags = self.lexicon.get(word)
        return tag if tags is None else " ".join(sorted(tags))


@dataclass(frozen=True, eq=False)
class TargetNeighbours:
    """Tokens at each offset from each of n targets.

    Offset -1 is the token before the target, -2 the one before that; 1 is the token after it. A
    token beyond the document or sentence is called outside. Words are numbered in order of use.
    """

    run: DocTokens
    forms: TokenForms
    offsets: Mapping[int, int]  # row of each offset in ``tokens``
    tokens: Indices  # (offsets, n) index of the token in ``run``, -1 outside
    vocabulary: dict[str, int]  # numbers of words, grows with use

    @classmethod
    def from_targets(
        cls, targets: Sequence[Span], offsets: Sequence[int], bounds: str, forms: TokenForms
    ) -> TargetNeighbours:
        """Find the tokens around targets; ``bounds`` is "document" or "sentence".

        ``offsets`` are distinct and not 0; tokens beyond the bounds are outside. Targets of one Doc
        should be consecutive, so that it is read once. Raises ValueError for a Doc without sentence
        boundaries if ``bounds`` is "sentence".
        """
        run = DocTokens.from_spans(targets)
        if bounds == "sentence":
            _check_sentences(run.docs)
        (begins, ends), (lowest, highest) = run.spans, run.bounds(bounds)
        steps = np.array(offsets, dtype=np.intp)[:, None]
        positions = np.where(steps < 0, begins + steps, ends + steps - 1)
        tokens = np.where((lowest <= positions) & (positions < highest), positions, -1)
        return cls(run, forms, {offset: row for row, offset in enumerate(offsets)}, tokens, {})

    def number(self, word: str) -> int:
        """Return the number of a word, which is added to the vocabulary if it is new."""
        return self.vocabulary.setdefault(word, len(self.vocabulary))

    def numbers(self, kind: str) -> NDArray[np.int32]:  # (offsets, n)
        """Return the words of a kind at all offsets as numbers, (offsets, n).

        ``kind`` is a field of ``TokenForm``, or "doc_tag" for ``token.tag_``. Rows are in the order
        of ``offsets``. Numbers are those of ``vocabulary``, to which new words are added; a token
        outside has the number of its ``OUTSIDE`` word.
        """
        if kind == "doc_tag":
            keys, index = self._unique_values("TAG")
            texts = [self._texts[key] for key in keys]
        else:
            forms, index = self._forms_nearby
            texts = [getattr(form, kind) for form in forms]
        outside = OUTSIDE if kind == "doc_tag" else getattr(self.forms.outside, kind)
        return np.array([*map(self.number, texts), self.number(outside)], dtype=np.int32)[index]

    @property
    def is_glued_before(self) -> NDArray[np.bool_]:
        """Whether the target follows another token without a blank, (n,); needs offset -1.

        False if the token before it is outside.
        """
        before = self.tokens[self.offsets[-1]]
        return (before >= 0) & (self.run.column("SPACY")[before] == 0)

    @property
    def is_glued_after(self) -> NDArray[np.bool_]:
        """Whether another token follows the target without a blank, (n,); needs offset 1.

        False if the token after it is outside.
        """
        inside = self.tokens[self.offsets[1]] >= 0
        return inside & (self.run.column("SPACY")[self.run.spans[1] - 1] == 0)

    @cached_property
    def _forms_nearby(self) -> tuple[list[TokenForm], Indices]:
        """Distinct forms at any offset, and the index of each token's form, (offsets, n).

        The index of a token outside is the number of forms. Two texts may have equal forms.
        """
        keys, index = self._unique_values("LOWER")
        return self.forms.form_cache.lookup(keys, self._texts), index

    def _unique_values(self, attribute: str) -> tuple[list[int], Indices]:
        """Return the distinct values of a spaCy attribute at any offset and each token's index.

        Values are hashes, sorted. The index, (offsets, n), is the number of values for a token
        outside.
        """
        inside = self.tokens >= 0
        keys, inverse = np.unique(
            self.run.column(attribute)[self.tokens[inside]], return_inverse=True
        )
        index = np.full(self.tokens.shape, len(keys), dtype=np.intp)  # outside
        index[inside] = inverse.ravel()
        return keys.tolist(), index

    @property
    def _texts(self) -> ChainMap[Any, Any]:
        """Texts by spaCy hash; Docs with several vocabularies are looked up in all of them."""
        return ChainMap(*{id(d.vocab): cast(Any, d.vocab.strings) for d in self.run.docs}.values())


def _check_sentences(docs: Sequence[Doc]) -> None:
    """Raise ValueError for the first Doc without sentence boundaries (``SENT_START``)."""
    for doc in docs:
        if not doc.has_annotation("SENT_START"):
            raise ValueError(
                f"document {document_id(doc)!r} has no sentences. Run a parser or a sentencizer "
                "first."
            )


@lru_cache(maxsize=1 << 15)
def collapse_digits(word: str) -> str:
    """Return the word with each run of digits replaced by one #; cached.

    A run after a # adds none: "a#1" becomes "a#".
    """
    if not any(map(str.isdigit, word)):
        return word
    letters: list[str] = []
    for letter in word:
        if not letter.isdigit():
            letters.append(letter)
        elif not letters or letters[-1] != "#":
            letters.append("#")
    return "".join(letters)


Name = tuple[str, ...]
NGRAMS: tuple[tuple[int, ...], ...] = (
    *((offset,) for offset in (-3, -2, -1, 1, 2, 3)),
    *((-2, -1), (1, 2), (-1, 1), (-3, -2), (2, 3)),
    *((-3, -2, -1), (1, 2, 3), (-2, -1, 1), (-1, 1, 2)),
)
Slot = tuple[str, int]  # field of TokenForm (or "doc_tag") and offset


class FeatureTemplate(NamedTuple):
    """Feature that each candidate has: a title, the slots that complete its name, and a value."""

    title: str
    slots: Sequence[Slot]  # words of the name after the title
    value: float
    glued: str = ""  # only if the target touches the token "before" or "after" it


@dataclass(frozen=True)
class Tags:
    """Setting of ``Collocations``: word n-grams read also as parts of speech.

    >>> import spacy
    >>> doc = spacy.blank("en")("It is larger then that.")
    >>> tags = Tags({"larger": ["JJR"], "that": ["DT"]})
    >>> represent = Collocations([(-1,)], glued=False, tags=tags)
    >>> [" ".join(name) for name in represent([Candidate(doc, (doc[3:4],), "d1")]).names]
    ['-1 larger', '-1 tag JJR', '-1 class JJR']

    Parameters
    ----------
    lexicon
        The tags of each word, most frequent first, as ``tag_lexicon`` finds them; the first is its
        tag, all of them its ambiguity class. An unknown word is tagged by its last three letters.
        A string names a shipped lexicon ("english") or a file, see ``load_lexicon``.
        If None, ``token.tag_`` is read: use it only where tags were assigned without knowing the
        answer, as by a tagger, never from gold annotation.
    weight
        Factor of these features relative to those of words.
    mixed
        Whether to add n-grams with one word and tags elsewhere.
    """

    lexicon: Mapping[str, Sequence[str]] | str | None = None
    file_settings: ClassVar[Mapping[str, Sequence[Any]]] = {"lexicon": SHIPPED_LEXICONS}
    weight: float = 0.7
    mixed: bool = True

    def __post_init__(self) -> None:
        """Raise ValueError unless the weight is positive and every word in ``lexicon`` has tags."""
        if not self.weight > 0:
            raise ValueError(f"weight must be positive, got {self.weight}")
        if isinstance(self.lexicon, Mapping):
            _check_tags(self.lexicon)

    def words(self) -> Mapping[str, Sequence[str]] | None:
        """Return the tags of each word, read from a file if ``lexicon`` is a name.

        None if ``lexicon`` is None. Raises ValueError if the file is missing or malformed.
        """
        return load_lexicon(self.lexicon) if isinstance(self.lexicon, str) else self.lexicon


@dataclass(frozen=True)
class Collocations:
    """Features: which words stand together at which offsets from the target.

    Words are lower case and punctuation counts. A token beyond the bounds is read as ``OUTSIDE``. A
    name is the offsets, such as "-2 -1", and the words there. The value of a feature is the weight
    of its length in ``weights``, times those of tags and endings.

    Parameters
    ----------
    ngrams
        Offsets that are read together; -1 is the token before the target, 1 the one after.
    weights
        The value of an n-gram of one, two, three ... tokens; the last serves longer ones.
    bounds
        Tokens beyond the "document" or the "sentence" are not read.
    glued
        Whether to add features for a target that touches a neighbour without a blank.
    tags
        Also read n-grams as parts of speech, see ``Tags``; None for words only.
    endings
        Offsets whose last three letters are read too, with value ``ending_weight``.
    digits
        "keep" them, or "collapse" each run to one #.
    focus
        Index of the span that is the target.
    known
        The only features to keep, such as those seen twice in some unlabelled text
        (``frequent_names``); None keeps all.
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
        """Convert lists to tuples and raise ValueError for invalid settings.

        Those are n-grams without offsets, an offset of 0, ``weights`` that are empty or not
        positive, an ``ending_weight`` that is not positive, ``bounds`` other than "document" and
        "sentence", and ``digits`` other than "keep" and "collapse".
        """
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
        """Return the features of each candidate, one row each; equal names share a column.

        Columns are in order of first occurrence, or those of ``known`` if it is given.
        """
        features = self.represent_fast(candidates).features()
        if self.known is None:
            names, columns = features.names.unique()
        else:
            names = self._known_names
            columns = names.find(features.names)
        cells = (features.values.data, columns, features.values.indptr)
        return Features(sp.csr_array(cells, shape=(len(features), len(names))), names)

    def represent_fast(self, candidates: Sequence[Candidate]) -> TemplateFeatures:
        """Return the features as templates with the words that fill their names, one row each.

        The fast form for ``TemplateWeights``; ``__call__`` has the same features as a matrix. If
        ``known`` is set, only features of these names are kept.
        """
        tracked = track(candidates, "collocations", len(candidates))
        targets = [target_span(candidate, self.focus) for candidate in tracked]
        neighbours = TargetNeighbours.from_targets(targets, self.offsets, self.bounds, self._forms)
        titles = np.array(
            [neighbours.number(block.title) for block in self._templates], dtype=np.int32
        )
        kinds = dict.fromkeys(kind for kind, _ in self._columns)
        numbers = {kind: neighbours.numbers(kind) for kind in kinds}
        words = [numbers[kind][neighbours.offsets[offset]] for kind, offset in self._columns]
        values = np.array([block.value for block in self._templates])
        features = TemplateFeatures(
            tuple(neighbours.vocabulary),
            np.array(words, dtype=np.int32).reshape(len(words), len(candidates)).T,
            titles, self._slots, values, self._present(neighbours),
        )  # fmt: skip
        return features if self.known is None else features.keep_only(self._known_names)

    def _present(self, neighbours: TargetNeighbours) -> NDArray[np.bool_] | None:
        """Return which candidates have which features, (n, templates); None if all have all.

        Only features of glued neighbours can be missing: the neighbour is then outside, or
        separated by white space.
        """
        if not self.glued:
            return None
        rows = {"": np.ones(neighbours.tokens.shape[1], dtype=bool)}
        rows |= {"before": neighbours.is_glued_before, "after": neighbours.is_glued_after}
        return np.column_stack([rows[block.glued] for block in self._templates])

    @cached_property
    def offsets(self) -> list[int]:
        """All distinct offsets at which a token is read, ascending.

        Those of ``ngrams`` and ``endings``, and -1 and 1 if ``glued`` is set.
        """
        glued = (-1, 1) if self.glued else ()
        return sorted(
            {*(offset for ngram in self.ngrams for offset in ngram), *self.endings, *glued}
        )

    @cached_property
    def _known_names(self) -> FeatureNames:
        """Names of the only features to keep, in the order of ``known``; empty if it is None."""
        return FeatureNames.from_iterable(map(tuple, self.known or ()))

    @cached_property
    def _forms(self) -> TokenForms:
        """How tokens are read: with the lexicon of ``tags``, or an empty one."""
        lexicon = None if self.tags is None else self.tags.words()
        return TokenForms(self.digits, lexicon or {})

    @cached_property
    def _columns(self) -> list[Slot]:
        """Distinct slots of all templates, in order: the columns of ``TemplateFeatures.fill``."""
        return list(dict.fromkeys(slot for block in self._templates for slot in block.slots))

    @cached_property
    def _slots(self) -> Indices:  # (blocks, longest)
        """Column of each slot of each template, (templates, longest); -1 after the last slot."""
        column = {slot: number for number, slot in enumerate(self._columns)}
        width = max((len(block.slots) for block in self._templates), default=0)
        slots = np.full((len(self._templates), width), -1, dtype=np.intp)
        for row, block in enumerate(self._templates):
            slots[row, : len(block.slots)] = [column[slot] for slot in block.slots]
        return slots

    @cached_property
    def _templates(self) -> list[FeatureTemplate]:
        """Templates of all features: n-grams, then endings and glued neighbours."""
        return [*self._ngram_templates(), *self._other_templates()]

    def _ngram_templates(self) -> Iterator[FeatureTemplate]:
        """Yield the templates of n-grams of words, of tags, and mixed; equal n-grams once.

        The value is the weight of the n-gram's length (the last of ``weights`` for longer ones),
        times the weight of tags except for words. Mixed ones, of two or three tokens, have one word
        and tags elsewhere. A single token with a lexicon also has its ambiguity class (all its
        tags).
        """
        num_weights = len(self.weights)
        for ngram in dict.fromkeys(map(tuple, self.ngrams)):
            title = " ".join(f"{offset:+d}" for offset in ngram)
            value = self.weights[min(len(ngram), num_weights) - 1]
            words = [("word", offset) for offset in ngram]
            yield FeatureTemplate(title, words, value)
            if self.tags is None:
                continue
            value *= self.tags.weight
            tag = "doc_tag" if self.tags.lexicon is None else "tag"
            tags = [(tag, offset) for offset in ngram]
            yield FeatureTemplate(f"{title} tag", tags, value)
            if self.tags.mixed and 2 <= len(words) <= 3:
                for i, word in enumerate(words):
                    yield FeatureTemplate(
                        f"{title} mixed {i}", [*tags[:i], word, *tags[i + 1 :]], value
                    )
            if len(ngram) == 1 and self.tags.lexicon is not None:
                yield FeatureTemplate(f"{title} class", [("all_tags", ngram[0])], value)

    def _other_templates(self) -> Iterator[FeatureTemplate]:
        """Yield the templates of endings and of glued neighbours (with and without their word).

        Equal endings are yielded once; glued ones only if ``glued`` is set, with value 1.
        """
        for offset in dict.fromkeys(self.endings):
            yield FeatureTemplate(f"{offset:+d} ending", [("ending", offset)], self.ending_weight)
        for side, offset in (("before", -1), ("after", 1)) if self.glued else ():
            yield FeatureTemplate(f"glued {side}", [], 1.0, side)
            yield FeatureTemplate(f"glued {side}", [("word", offset)], 1.0, side)


def frequent_names(features: Features, minimum: int = 2) -> list[Name]:
    """Return the names of features that at least ``minimum`` rows have, for ``known``.

    In the order of the columns. Equal names must share a column, as in ``Collocations.__call__``.
    """
    counts = np.bincount(features.values.indices, minlength=len(features.names))
    return list(features.names.take(np.flatnonzero(counts >= minimum)))


def tag_lexicon(tagged: Iterable[tuple[str, str]], share: float = 0.1) -> dict[str, list[str]]:
    """Return the tags of each word in lower case, most frequent first.

    Tags with less than ``share`` of the uses of a word are dropped. ``tagged`` are (word, tag)
    pairs, one per use. Words, and equally frequent tags, are in order of first appearance.

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
    """Load a lexicon by the name of a shipped one ("english") or by the path of its file.

    A line holds a word, a tab and its tags separated by blanks, most frequent first; the file may
    be compressed by gzip. Raises ValueError if there is no such file or it is malformed. Files are
    cached until they change.
    """
    shipped = shipped_folder("models") / "lexicon" / f"{name}.tsv.gz"
    path = shipped if Path(name).name == name and shipped.is_file() else Path(name)
    if not path.is_file():
        raise ValueError(
            f"no lexicon {name!r}: it is not shipped and not a file. Write one with write_lexicon."
        )
    return _read_lexicon(str(path.resolve()), path.stat().st_mtime_ns)


def write_lexicon(lexicon: Mapping[str, Sequence[str]], path: str | Path) -> None:
    """Write a lexicon, one line per word with a tab and its tags separated by blanks, sorted.

    So the bytes are reproducible; ``load_lexicon`` reads it. A path that ends in ".gz" is
    compressed; an existing file is overwritten. Raises ValueError for a word or tag with a tab or
    newline, and for a word without tags. Tags must not contain blanks, which is not checked.
    """
    _check_tags(lexicon)
    lines = [f"{word}\t{' '.join(tags)}\n" for word, tags in sorted(lexicon.items())]
    if bad := next((line for line in lines if line.count("\t") != 1 or line.count("\n") != 1), ""):
        raise ValueError(f"a word or tag contains a tab or line end: {bad!r}. Remove it.")
    data = "".join(lines).encode()
    packed = gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data
    Path(path).write_bytes(packed)


def _check_tags(lexicon: Mapping[str, Sequence[str]]) -> None:
    """Raise ValueError if a word of a lexicon has no tags."""
    if untagged := [word for word, tags in lexicon.items() if not "".join(tags).strip()]:
        raise ValueError(f"{untagged[0]!r} has no tags in the lexicon. Add some, or remove it.")


MAX_LEXICON_WORDS = 1_000_000  # the shipped one has a tenth of it


@lru_cache(maxsize=4)
def _read_lexicon(path: str, changed: int) -> Mapping[str, Sequence[str]]:
    """Read a lexicon with one line per word: the word, a tab, and its tags separated by blanks.

    ``changed`` is the file's modification time, part of the cache key. If a word has several lines,
    the last counts. Raises ValueError if a line has another form or there are more than
    ``MAX_LEXICON_WORDS``. The result is shared: do not change it.
    """
    lexicon: dict[str, tuple[str, ...]] = {}
    for number, line in iter_lines(path):
        word, tab, tags = check_utf8(line, f"{path}, line {number}").partition("\t")
        if not tab or "\t" in tags or not tags.strip():
            raise ValueError(
                f"{path}, line {number}: not a line of a lexicon: expected a word, a tab, and its "
                "tags separated by blanks. Add what is missing, or remove the line."
            )
        lexicon[word] = tuple(tags.split())
        if number > MAX_LEXICON_WORDS:
            raise ValueError(
                f"{path}, line {number}: more than {MAX_LEXICON_WORDS:,} words. Remove rare ones."
            )
    return lexicon
