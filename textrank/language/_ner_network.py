"""What a word shows of itself: form, shape, pieces, the company it keeps, and what lists say.

Each of these views is a number, so that a table of weights or of vectors can be asked about it. A
text in capitals or without any is read without case: its words show other shapes than usual ones.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from murmurhash.mrmr import hash as murmur
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.strings import StringStore
from spacy.tokens import Doc
from thinc.api import HashEmbed, Maxout, Model, chain, clone, concatenate, expand_window, residual

from textrank.language._encoder import Encoder, GrowingArray, fingerprint_params, padded_positions
from textrank.language.alignment import NormalizedWords, spaces_after

Hashes: TypeAlias = NDArray[np.uint64]
VIEWS = (
    *("word", "lower", "plain", "shape", "short_shape", "kind"),
    *("cluster64", "cluster256", "cluster1000", "cluster3000", "listed", "named"),
    *("first2", "first3", "first4", "last2", "last3", "last4", "last5"),
)
VIEW_INDEX: Mapping[str, int] = {view: place for place, view in enumerate(VIEWS)}
MAX_CHAR_NGRAMS = 30
_MARKS = tuple(f"{place}|" for place in VIEW_INDEX.values())  # which view a text is of
_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "sigma tau upsilon phi chi psi omega"
)
_GREEK = frozenset(_LETTERS.split())
_DIGITS = re.compile(r"\d+")
_RUN = re.compile(r"(.)\1+")
_ROMAN = re.compile(r"[IVX]{1,4}")


def fold_digits(word: str) -> str:
    """The word in lower case, each number as 0.

    >>> fold_digits("Smad34a")
    'smad0a'
    """
    return _DIGITS.sub("0", word.lower())


def word_shape(word: str) -> str:
    """Kinds of characters: ``p53`` is ``xdd``, ``IL`` is ``XX``."""
    if word.isascii():
        return word[:24].translate(_SHAPES)
    return "".join(map(_shape_of, word[:24]))


def _shape_of(c: str) -> str:
    return "d" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c


_SHAPES = {code: _shape_of(chr(code)) for code in range(128)}


def word_class(word: str) -> str:
    """Of the few ways in which words are written, the one of this word.

    >>> [word_class(word) for word in ("beta", "IV", "53", "p53", "MAPK", "cdc", "Ras", "GalT", ".")]
    ['greek', 'roman', 'number2', 'mixed', 'capitals4', 'lower', 'initial', 'inner', 'other']
    """
    if word.lower() in _GREEK:
        return "greek"
    if _ROMAN.fullmatch(word):
        return "roman"
    if word.isdigit():
        return f"number{min(len(word), 3)}"
    if len(word) == 1 and word.isalnum():
        return "capital" if word.isupper() else "letter"
    if any(c.isdigit() for c in word):
        return "MIXED" if any(c.isupper() for c in word) else "mixed"
    return _kind_of_letters(word)


def _kind_of_letters(word: str) -> str:
    if not word[:1].isalnum():
        return "other" + word[:1] * (word in "()[],:;/-")
    if word.isupper():
        return f"capitals{min(len(word), 6)}"
    if word[1:] != word[1:].lower():
        return "inner"
    return "initial" if word[0].isupper() else "lower"


def char_ngrams(word: str) -> list[str]:
    """Runs of three and four characters of the plain word and its ends."""
    whole = f"^{fold_digits(word)}$"
    found = [whole[i : i + n] for n in (3, 4) for i in range(len(whole) - n + 1)]
    return list(dict.fromkeys(found))[:MAX_CHAR_NGRAMS]


def hash_text(text: str) -> int:
    """The 32 bits that stand for a text in all tables."""
    return murmur(text) & 0xFFFFFFFF


def caseless_mask(words: Sequence[str]) -> NDArray[np.bool_]:
    """Which words stand in a sentence that says nothing by its capitals.

    That is one without any, or one of at least three words of letters, all in capitals. Sentences
    are what lies between full stops.
    """
    flags = np.zeros(len(words), dtype=bool)
    start = 0
    for end, word in enumerate(words, start=1):
        if word in (".", "?", "!") or end == len(words):
            flags[start:end] = _says_nothing(words[start:end])
            start = end
    return flags


def _says_nothing(words: Sequence[str]) -> bool:
    text = " ".join(words)
    if text == text.lower():
        return True
    letters = [word for word in words if word.isalpha() and len(word) > 1]
    return len(letters) >= 3 and all(word.isupper() for word in letters)


class WordTable:
    """Clusters, vectors and list entries of words, by sorted 32-bit numbers of their forms.

    ``plain`` forms have four clusters and a vector (as bytes, of ``scale`` a step); words as they
    are written, and in lower case, have a code: the lists of gene names that hold them (three
    bits) and how often, where they occur in PubMed, they are part of a listed name.
    """

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.arrays = dict(arrays)
        # Sorted lists and not dictionaries, which would take a tenth of a second to fill.
        self._codes = {
            cased: (self.arrays[f"{cased}_keys"].tolist(), self.arrays[f"{cased}_codes"])
            for cased in ("exact", "lower")
        }
        self._keys: list[int] = self.arrays["keys"].tolist()

    def place(self, word: str) -> int:
        """Row of the vector of the word, -1 where it has none."""
        return _last(self._keys, hash_text(fold_digits(word)))

    def vectors(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Vectors in these rows, zero for -1."""
        table: NDArray[np.int8] = self.arrays["vectors"]
        if not len(table):
            return np.zeros((len(places), table.shape[1]), dtype=np.float32)
        found = table[places].astype(np.float32) * np.float32(self.arrays["scale"])
        found[places < 0] = 0
        return found

    def views(self, word: str, caseless: bool) -> list[int]:
        """The word's views as numbers, in the order of ``VIEWS``."""
        mark = "~" if caseless else ""
        word = word.lower() if caseless else word
        lower, form = word.lower(), word_shape(word)
        at = self.place(word)
        clusters = ["?"] * 4 if at < 0 else self.arrays["clusters"][at].tolist()
        listed, named = self._listed(word, lower, caseless)
        texts = (
            mark + word, lower, fold_digits(word), mark + form, mark + _RUN.sub(r"\1", form),
            mark + word_class(word), *map(str, clusters), mark + listed, f"{mark}{named}",
            mark + word[:2], word[:3], word[:4], lower[-2:], lower[-3:], lower[-4:], lower[-5:],
        )  # fmt: skip
        return [hash_text(view + text) for view, text in zip(_MARKS, texts, strict=True)]

    def _listed(self, word: str, lower: str, caseless: bool) -> tuple[str, int]:
        """Lists that hold the word (``i``: in other case), and how often it is part of a name."""
        folded = self._code("lower", lower)
        if caseless:
            return str(folded & 7), folded >> 3
        code = self._code("exact", word)
        return str(code & 7) if code & 7 or not folded & 7 else f"i{folded & 7}", code >> 3

    def _code(self, cased: str, form: str) -> int:
        keys, codes = self._codes[cased]
        at = _last(keys, hash_text(form))
        return int(codes[at]) if at >= 0 else 0


def _last(keys: Sequence[int], key: int) -> int:
    """Where a number stands in a sorted list, -1 where it does not; of equals the last."""
    at = bisect_right(keys, key) - 1
    return at if at >= 0 and keys[at] == key else -1


def empty_word_table(width: int) -> WordTable:
    """A table that knows no word."""
    return WordTable(
        {
            "keys": np.zeros(0, dtype=np.uint32),
            "clusters": np.zeros((0, 4), dtype=np.uint16),
            "vectors": np.zeros((0, width), dtype=np.int8),
            "scale": 1.0,
            **{f"{c}_keys": np.zeros(0, dtype=np.uint32) for c in ("exact", "lower")},
            **{f"{c}_codes": np.zeros(0, dtype=np.uint8) for c in ("exact", "lower")},
        }
    )


Template: TypeAlias = tuple[tuple[str, int], ...]  # views, each with its place
Floats: TypeAlias = NDArray[np.float32]
MAX_OFFSET = 3  # words to either side
TABLE_BITS = 18  # of rows; a table of fewer rows has several in one
OFFSETS = tuple(range(-MAX_OFFSET, MAX_OFFSET + 1))
_PAIRED = ("plain", "short_shape", "kind", "cluster64", "cluster256", "listed", "cluster1000")
_NEAR = (
    *("lower", "plain", "shape", "short_shape", "kind", "cluster64", "cluster256"),
    *("cluster1000", "listed", "named", "last3", "first3"),
)
_BESIDE = ("plain", "short_shape", "cluster256", "cluster1000", "listed", "kind")
_BRACKETED = ("kind", "short_shape", "plain", "listed")


def _alone() -> list[Template]:
    """Templates of one word."""
    views = {0: tuple(VIEW_INDEX), 1: _NEAR, 2: _BESIDE, 3: ("plain", "cluster256")}
    return [((view, at),) for at in OFFSETS for view in views[abs(at)]]


def _together() -> list[Template]:
    """Templates of several words, or of several views of one."""
    found: list[Template] = []
    for a, b in ((-1, 0), (0, 1)):
        found += [((view, a), (view, b)) for view in _PAIRED]
        found += [
            (("plain", a), ("short_shape", b)),
            (("short_shape", a), ("plain", b)),
            (("kind", a), ("cluster256", b)),
            (("cluster256", a), ("kind", b)),
        ]
    lines = """
        plain-1 plain+1 | cluster256-1 cluster256+1 | kind-1 kind+0 kind+1 | plain-2 plain-1
        cluster64-1 cluster64+0 cluster64+1 | kind-2 kind-1 kind+0 | kind+0 kind+1 kind+2
        short_shape-1 short_shape+0 short_shape+1 | plain+1 plain+2 | cluster256-2 cluster256-1
        cluster256+1 cluster256+2 | listed+0 short_shape+0 | named+0 kind+0 | named+0 named+1
        named-1 named+0 | listed+0 cluster256+1 | listed+0 cluster256-1
        kind+0 cluster256+1 cluster256-1 | kind+0 kind-1 cluster256+1
        kind+0 kind+1 cluster256+2 | kind+0 kind+1 cluster64+2
        kind+0 kind+1 kind+2 cluster64+3
    """
    for line in lines.replace("\n", "|").split("|"):
        parts = [(part[:-2], int(part[-2:])) for part in line.split()]
        found += [tuple(parts)] if parts else []
    return found


UNIGRAM_TEMPLATES: Sequence[Template] = _alone()
CONJUNCTION_TEMPLATES: Sequence[Template] = _together()
_USED = sorted({VIEW_INDEX[view] for template in CONJUNCTION_TEMPLATES for view, _ in template})
CONJUNCTION_VIEWS: Mapping[str, int] = {
    name: _USED.index(p) for name, p in VIEW_INDEX.items() if p in _USED
}
_BRACKETS = len(UNIGRAM_TEMPLATES) + len(
    CONJUNCTION_TEMPLATES
)  # templates numbered from here on know about brackets
_PIECES = _BRACKETS + len(_BRACKETED) + 1


def hash_multiplier(template: int, part: int) -> np.uint64:
    """An odd number of 64 random bits, for hashing by multiplication and shift."""
    mask = (1 << 64) - 1
    z = (0x9E3779B97F4A7C15 * (16 * template + part + 1)) & mask  # SplitMix64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return np.uint64((z ^ (z >> 31)) | 1)


_FACTORS = [[hash_multiplier(t, part) for part in range(5)] for t in range(_PIECES + 1)]
_SHIFT = np.uint64(64 - TABLE_BITS)


def _rows(template: int, columns: Sequence[Hashes]) -> NDArray[np.intp]:
    """Rows of the table for what a template finds in each of many places."""
    factors = _FACTORS[template]
    total = columns[0] * factors[0]
    for column, by in zip(columns[1:], factors[1:], strict=False):
        total += column * by
    total += factors[4]
    total >>= _SHIFT
    return total.astype(np.intp)


def unigram_rows(views: Hashes) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Place and table rows of each template of one word; ``views`` is (words, views)."""
    for template, ((view, at),) in enumerate(UNIGRAM_TEMPLATES):
        yield at, _rows(template, [views[:, VIEW_INDEX[view]]])


def ngram_rows(word: str) -> NDArray[np.intp]:
    """Table rows of the pieces of a word."""
    return _rows_of_pieces([word])[0]


def _rows_of_pieces(words: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The same for many words, one after the other, and how many each has."""
    own = [char_ngrams(word) for word in words]
    numbers = np.array([hash_text(piece) for each in own for piece in each], dtype=np.uint64)
    return _rows(_PIECES, [numbers]), np.array([len(each) for each in own], dtype=np.intp)


def conjunction_rows(columns: Sequence[Hashes], glue: Hashes) -> Iterator[NDArray[np.intp]]:
    """Table rows of each template of several words, for the places that are ``REACH`` from an end.

    ``columns`` has views in the order of ``CONJOINED`` along all words; ``glue`` tells how a word
    is joined to its neighbours, and whether it stands in brackets.
    """
    stop = len(glue) - MAX_OFFSET
    at = {
        (view, offset): columns[place][MAX_OFFSET + offset : stop + offset]
        for view, place in CONJUNCTION_VIEWS.items()
        for offset in OFFSETS
    }
    joined = glue[MAX_OFFSET:stop]
    for template, parts in enumerate(CONJUNCTION_TEMPLATES, start=len(UNIGRAM_TEMPLATES)):
        yield _rows(template, [at[part] for part in parts])
    for template, view in enumerate(_BRACKETED, start=_BRACKETS):
        yield _rows(template, [at[view, 0], joined])
    yield _rows(_PIECES - 1, [at["kind", -1], at["kind", 1], joined])


class WeightTable:
    """Weights in bytes, (rows, columns); ``scales`` has what one step of each column is worth."""

    def __init__(self, weights: NDArray[np.int8], scales: Floats) -> None:
        self.weights, self.scales = np.ascontiguousarray(weights), scales
        self._shift = TABLE_BITS - (len(weights).bit_length() - 1)  # it has a power of two of rows

    @classmethod
    def of(cls, weights: NDArray[Any]) -> WeightTable:
        """The nearest table to weights of any size."""
        scales = np.maximum(np.abs(weights).max(axis=0, initial=0.0), 1e-6) / 127
        return cls(np.rint(weights / scales).astype(np.int8), scales.astype(np.float32))

    def pack(self) -> dict[str, Any]:
        """What is stored: columns one after the other, since these have much in common."""
        return {"table": zlib.compress(self.weights.T.tobytes(), 9), "scales": self.scales}

    @classmethod
    def unpack(cls, stored: Mapping[str, Any]) -> WeightTable:
        """The table that was packed."""
        scales = np.asarray(stored["scales"], dtype=np.float32)
        weights = np.frombuffer(zlib.decompress(stored["table"]), dtype=np.int8)
        return cls(weights.reshape(len(scales), -1).T, scales)

    def __getitem__(self, rows: NDArray[np.intp]) -> NDArray[np.int8]:
        return self.weights.take(rows >> self._shift if self._shift else rows, axis=0)

    @cached_property
    def _packed(self) -> NDArray[np.uint64]:
        """Rows of bytes from 0 on, eight in one number: so many are fetched and added at once."""
        height, width = self.weights.shape
        packed = np.zeros((height, -(-width // 8) * 8), dtype=np.uint8)
        packed[:, :width] = self.weights.view(np.uint8) ^ np.uint8(_ZERO)
        return packed.view(np.uint64)

    def sums(self, rows: Sequence[NDArray[np.intp]]) -> Floats:
        """The sum of the rows of each place, over at most 256 arrays of rows."""
        packed = self._packed
        total = np.zeros((2, len(rows[0]), packed.shape[1]), dtype=np.uint64)  # every other byte
        for own in rows:
            found = packed.take(own >> self._shift if self._shift else own, axis=0)
            total[0] += found & _BYTES
            found >>= _BYTE
            found &= _BYTES
            total[1] += found
        each = total.view(np.uint16).transpose(1, 2, 0).reshape(len(rows[0]), -1)
        return (each[:, : len(self.scales)] - np.float32(_ZERO * len(rows))) * self.scales


_ZERO = 128  # the byte that stands for no weight
_BYTE, _BYTES = np.uint64(8), np.uint64(0x00FF00FF00FF00FF)
_BLOCK = 4096  # places that are worked on at once


class LinearTagScores:
    """Tables side by side, one for each recognizer."""

    def __init__(self, tables: Sequence[WeightTable]) -> None:
        self.tables = tables

    @property
    def width(self) -> int:
        """Number of columns of all tables."""
        return sum(len(table.scales) for table in self.tables)

    def of_words(self, views: Hashes, words: Sequence[str]) -> Floats:
        """What words tell when alone, (words, places, columns), in the order of ``OFFSETS``.

        At place ``k`` stands what the word tells about the one that it is ``k`` words behind.
        """
        parts = [np.zeros((len(words), len(OFFSETS), 0), dtype=np.float32)]
        alone = list(unigram_rows(views))
        own, sizes = _rows_of_pieces(words)
        some, starts = sizes > 0, (np.cumsum(sizes) - sizes)[sizes > 0]
        for table in self.tables:
            total = np.zeros((len(words), len(OFFSETS), len(table.scales)), dtype=np.int32)
            for at, rows in alone:
                total[:, at + MAX_OFFSET] += table[rows]
            if len(starts):
                sums = np.add.reduceat(table[own], starts, axis=0, dtype=np.int32)
                total[some, MAX_OFFSET] += sums
            parts.append(total * table.scales)
        return np.concatenate(parts, axis=2)

    def of_places(self, columns: Sequence[Hashes], glue: Hashes) -> Floats:
        """What words tell together with their neighbours, (places, columns)."""
        places = len(glue) - 2 * MAX_OFFSET
        found = np.zeros((places, self.width), dtype=np.float32)
        for first in range(0, places if self.tables else 0, _BLOCK):
            end = min(first + _BLOCK, places)
            seen = slice(first, end + 2 * MAX_OFFSET)
            rows = list(conjunction_rows([column[seen] for column in columns], glue[seen]))
            np.concatenate(
                [table.sums(rows) for table in self.tables], axis=1, out=found[first:end]
            )
        return found


def join_codes(
    spaces: NDArray[np.bool_], opens: NDArray[np.bool_], closes: NDArray[np.bool_]
) -> Any:
    """How each word of a text is joined: space before, space after, within brackets.

    One number a word, from 1 on, as ``rows_together`` takes it.
    """
    before = np.append(True, spaces[:-1])
    depth = np.cumsum(opens) - np.append(0, np.cumsum(closes)[:-1])
    lowest = np.minimum.accumulate(np.minimum(depth - opens, 0))  # brackets that close nothing
    inside = depth - lowest > 0
    return (1 + ~before + 2 * ~spaces + 4 * inside).astype(np.uint64)


WordNetwork: TypeAlias = Model[list[Doc], list[Any]]  # an array for each Doc
Ints: TypeAlias = NDArray[np.intp]
# Views that are embedded, and how many rows their table has for each of the network's ``rows``.
EMBEDDED_VIEWS = {
    "plain": 0.5,
    "lower": 1.0,
    "first3": 0.5,
    "last3": 0.5,
    "last5": 0.5,
    "shape": 0.2,
    "listed": 0.04,
    "named": 0.02,
    "cluster1000": 0.2,
}
MIN_TABLE_ROWS = 64  # rows of a table
MAX_CACHED_WORDS = 20_000  # words; about a kilobyte each
_CASELESS = np.uint64(0x9E3779B97F4A7C15)  # marks the key of a word that is read without case
_UPPER, _NAME_NETWORK_LETTERS, _CAPITALS, _END, _OPENS, _CLOSES = (1 << bit for bit in range(6))


def build_word_network(
    width: int, rows: int, depth: int, vectors: int, evidence: int
) -> WordNetwork:
    """Words -> vectors of ``width + evidence`` numbers; ``textrank.NameNetwork.v1``.

    ``rows`` is the size of the largest table of hashed views, ``vectors`` the width of the vectors
    that the table of words has, ``evidence`` the number of tags for which there is evidence.
    """
    tables: list[Model[Any, Any]] = [
        HashEmbed(width, max(int(rows * share), MIN_TABLE_ROWS), column=i, seed=i + 7, dropout=0.0)
        for i, share in enumerate(EMBEDDED_VIEWS.values())
    ]
    mix = Maxout(width, width * len(EMBEDDED_VIEWS) + vectors, nP=3, dropout=0.0, normalize=True)
    window: Model[Any, Any] = chain(
        expand_window(window_size=1), Maxout(width, 3 * width, nP=3, dropout=0.0, normalize=True)
    )
    model: WordNetwork = Model(
        "name_network",
        _Forward(),
        init=_init,
        layers=[concatenate(*tables), mix, clone(residual(window), depth)],
        dims={"nO": width + evidence},
    )
    model.attrs["words"] = empty_word_table(vectors).arrays
    model.attrs["evidence"] = [WeightTable.of(np.zeros((1, evidence))).pack()] if evidence else []
    model.attrs["shape"] = {"width": width, "depth": depth}
    return model


def _init(model: WordNetwork, X: Any = None, Y: Any = None) -> None:
    tables, mix, encode = model.layers
    tables.initialize(X=np.zeros((1, len(EMBEDDED_VIEWS)), dtype=np.uint64))
    mix.initialize()
    encode.initialize(X=np.zeros((3, model.attrs["shape"]["width"]), dtype=np.float32))


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of a batch, one Doc after the other."""

    keys: NDArray[np.uint64]
    spaces: NDArray[np.bool_]
    lengths: Ints

    @classmethod
    def of(
        cls, docs: Sequence[Doc], readings: Sequence[NormalizedWords | None] | None = None
    ) -> _Words:
        readings = readings or [None] * len(docs)
        both = list(zip(docs, readings, strict=True))
        keys = [doc.to_array([ORTH]) if own is None else own.orths for doc, own in both]
        white = np.concatenate([spaces_after(doc, own) for doc, own in both])
        return cls(np.concatenate(keys), white, np.array([len(own) for own in keys], dtype=np.intp))

    def sentences(self, traits: Ints) -> Ints:
        """First words of what lies between full stops or ends of Docs."""
        ends = (traits & _END).astype(bool)
        ends[np.cumsum(self.lengths[self.lengths > 0]) - 1] = True
        return np.append(0, np.flatnonzero(ends)[:-1] + 1)

    def glue(self, traits: Ints, starts: Ints) -> NDArray[np.uint64]:
        """As ``evidence.glue_of`` has it, brackets counted within sentences."""
        before = np.append(True, self.spaces[:-1])
        filled = self.lengths[self.lengths > 0]
        before[np.cumsum(filled) - filled] = True
        opens, closes = (traits & _OPENS) > 0, (traits & _CLOSES) > 0
        level = np.cumsum(opens) - np.append(0, np.cumsum(closes)[:-1])
        base = np.repeat((level - opens)[starts], np.diff(np.append(starts, len(level))))
        return (1 + ~before + 2 * ~self.spaces + 4 * (level > base)).astype(np.uint64)


def _traits(word: str) -> int:
    letters = word.isalpha() and len(word) > 1
    return (
        _UPPER * (word != word.lower())
        | _NAME_NETWORK_LETTERS * letters
        | _CAPITALS * (letters and word.isupper())
        | _END * (word in (".", "?", "!"))
        | _OPENS * (word in ("(", "["))
        | _CLOSES * (word in (")", "]"))
    )


def _caseless(traits: Ints, starts: Ints) -> NDArray[np.bool_]:
    """Words of sentences without capitals, or all in capitals: ``words.without_case`` for many."""
    counts = [
        np.add.reduceat((traits & bit) > 0, starts, dtype=np.intp)
        for bit in (_UPPER, _NAME_NETWORK_LETTERS, _CAPITALS)
    ]
    upper, letters, capitals = counts
    silent = (upper == 0) | ((letters >= 3) & (letters == capitals))
    return np.repeat(silent, np.diff(np.append(starts, len(traits))))


class _Memory:
    """What is known of words, a row each; the first row is that of no word."""

    def __init__(self, table: WordTable, evidence: LinearTagScores, width: int) -> None:
        self.table, self.evidence = table, evidence
        self.rows: dict[int, int] = {}
        self.embedded = GrowingArray(
            np.zeros((1, len(EMBEDDED_VIEWS)), dtype=np.uint64), MAX_CACHED_WORDS
        )
        self.places = GrowingArray(np.full(1, -1, dtype=np.intp), MAX_CACHED_WORDS)
        self.mixed = GrowingArray(np.zeros((1, width), dtype=np.float32), MAX_CACHED_WORDS)
        self.views = GrowingArray(
            np.zeros((1, len(CONJUNCTION_VIEWS)), dtype=np.uint64), MAX_CACHED_WORDS
        )
        nothing = np.zeros((1, len(VIEW_INDEX)), dtype=np.uint64)
        self.told = GrowingArray(evidence.of_words(nothing, [""]), MAX_CACHED_WORDS)

    def forget(self) -> None:
        """Forgets all words, and keeps the room for others."""
        self.rows.clear()
        for kept in (self.embedded, self.places, self.mixed, self.views, self.told):
            kept.forget()

    def add(self, words: Sequence[tuple[int, str, bool]], mix: Callable[..., Floats]) -> None:
        """Remembers words, given with their keys and whether they are read without case."""
        first = len(self.places.rows)
        self.rows.update((key, first + i) for i, (key, _, _) in enumerate(words))
        texts = [word for _, word, _ in words]
        views = np.array([self.table.views(w, c) for _, w, c in words], dtype=np.uint64)
        embedded = views[:, [VIEW_INDEX[view] for view in EMBEDDED_VIEWS]]
        places = np.array([self.table.place(word) for word in texts], dtype=np.intp)
        self.mixed.add(mix(embedded, self.table.vectors(places)))
        self.embedded.add(embedded)
        self.places.add(places)
        self.views.add(views[:, [VIEW_INDEX[view] for view in CONJUNCTION_VIEWS]])
        self.told.add(self.evidence.of_words(views, texts))


class _Forward:
    """The network's forward pass, with its memory of words."""

    def __init__(self) -> None:
        self._memory: _Memory | None = None
        self._learned: tuple[Any, ...] = ()
        self._traits: dict[int, int] = {}
        self._encoder: Encoder | None = None
        self._unpacked: tuple[list[Any], Any] = [None, None], None

    def __call__(
        self, model: WordNetwork, docs: list[Doc], is_train: bool
    ) -> tuple[list[Any], Callable[[list[Any]], list[Doc]]]:
        if not any(len(doc) for doc in docs):
            return [np.zeros((0, model.get_dim("nO")), dtype=np.float32) for _ in docs], _nothing
        return self._run(model, _Words.of(docs), docs[0].vocab.strings, is_train)

    def predict(
        self, model: WordNetwork, docs: Sequence[Doc], readings: Sequence[NormalizedWords | None]
    ) -> list[Any]:
        """Vectors of the words of each Doc, which are read so."""
        words = _Words.of(docs, readings)
        if not len(words.keys):
            return [np.zeros((0, model.get_dim("nO")), dtype=np.float32) for _ in docs]
        return self._run(model, words, docs[0].vocab.strings, False)[0]

    def _run(
        self, model: WordNetwork, words: _Words, strings: StringStore, is_train: bool
    ) -> tuple[list[Any], Callable[[list[Any]], list[Doc]]]:
        gap = max(MAX_OFFSET, model.attrs["shape"]["depth"])
        traits = self._traits_of(words.keys, strings)
        starts = words.sentences(traits)
        memory, rows = self._remember(model, words, _caseless(traits, starts), strings)
        at = padded_positions(words.lengths, gap)
        order = np.zeros(len(at) + gap * (len(words.lengths) + 1), dtype=np.intp)
        order[at] = rows
        if is_train:
            context, backprop = _learn_context(model, memory, order, at)
        else:
            context, backprop = self._context(model, memory.mixed.rows, order)[at], _nothing
        told = _told(memory, order, at, words.glue(traits, starts))
        found = np.hstack([context, told])
        return np.split(found, np.cumsum(words.lengths)[:-1]), backprop

    def _context(self, model: WordNetwork, known: Floats, order: Ints) -> Floats:
        if self._encoder is None:
            found: Floats = model.layers[2].predict(known[order])
            return found
        return self._encoder(known, order)

    def _traits_of(self, keys: NDArray[np.uint64], strings: StringStore) -> Ints:
        distinct, which = np.unique(keys, return_inverse=True)
        if len(self._traits) > MAX_CACHED_WORDS:
            self._traits.clear()
        own = []
        for key in distinct.tolist():
            if key not in self._traits:
                self._traits[key] = _traits(strings[key])
            own.append(self._traits[key])
        return np.array(own, dtype=np.intp)[which]

    def _remember(
        self, model: WordNetwork, words: _Words, caseless: NDArray[np.bool_], strings: StringStore
    ) -> tuple[_Memory, Ints]:
        """Rows of the words in the memory, which learns those that it does not know."""
        keys = np.where(caseless, words.keys ^ _CASELESS, words.keys)
        distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
        memory, listed = self._fresh(model), distinct.tolist()
        if any(key not in memory.rows for key in listed):
            if len(memory.rows) + len(listed) > MAX_CACHED_WORDS:
                memory.forget()
            new = [
                (key, strings[int(words.keys[at])], bool(caseless[at]))
                for key, at in zip(listed, first.tolist(), strict=True)
                if key not in memory.rows
            ]
            memory.add(new, lambda ids, vectors: _mix(model, ids, vectors))
        return memory, np.array([memory.rows[key] for key in listed], dtype=np.intp)[which]

    def _fresh(self, model: WordNetwork) -> _Memory:
        """The memory, a new one if the network is not what it was."""
        learned = (
            id(model.attrs["words"]),
            id(model.attrs["evidence"]),
            *fingerprint_params(model.layers),
        )
        if self._memory is None or learned != self._learned:
            table, evidence = self._tables(model)
            self._memory = _Memory(table, evidence, model.attrs["shape"]["width"])
            self._encoder = Encoder.of(model.layers[2])
            self._learned = learned
        return self._memory

    def _tables(self, model: WordNetwork) -> tuple[WordTable, LinearTagScores]:
        """Those of the memory that was, or unpacked, which takes a while."""
        own = [model.attrs["words"], model.attrs["evidence"]]
        if not all(a is b for a, b in zip(own, self._unpacked[0], strict=True)):
            tables = [WeightTable.unpack(stored) for stored in own[1]]
            self._unpacked = own, (WordTable(own[0]), LinearTagScores(tables))
        return self._unpacked[1]


def get_forward(model: Any) -> _Forward | None:
    """The forward pass of a network of this kind, None for another."""
    return model._func if isinstance(model._func, _Forward) else None


def _nothing(_: list[Any]) -> list[Doc]:
    return []


def _mix(model: WordNetwork, ids: NDArray[np.uint64], vectors: Floats) -> Floats:
    tables, mix, _ = model.layers
    mixed: Floats = mix.predict(np.hstack([tables.predict(ids), vectors]))
    return mixed


def _learn_context(
    model: WordNetwork, memory: _Memory, order: Ints, places: Ints
) -> tuple[Floats, Callable[[list[Any]], list[Doc]]]:
    """As what is remembered, but so that the network can learn."""
    tables, mix, encode = model.layers
    distinct, which = np.unique(order[places], return_inverse=True)
    looked_up, backprop_tables = tables(memory.embedded.rows[distinct], True)
    vectors = memory.table.vectors(memory.places.rows[distinct])
    mixed, backprop_mix = mix(np.hstack([looked_up, vectors]), True)
    words = np.zeros((len(order), mixed.shape[1]), dtype=np.float32)
    words[places] = mixed[which]
    context, backprop_encode = encode(words, True)

    def backprop(gradients: list[Any]) -> list[Doc]:
        ops: Any = model.ops
        slopes = np.zeros_like(context)
        slopes[places] = np.concatenate(gradients)[:, : context.shape[1]]
        summed = ops.alloc2f(*mixed.shape)
        own = np.ascontiguousarray(backprop_encode(slopes)[places])
        ops.scatter_add(summed, which.astype(np.int32), own)
        backprop_tables(np.ascontiguousarray(backprop_mix(summed)[:, : looked_up.shape[1]]))
        return []

    return context[places], backprop


def _told(memory: _Memory, order: Ints, places: Ints, glue: NDArray[np.uint64]) -> Floats:
    """Evidence for the words at these places, from themselves and their neighbours."""
    joined = np.zeros(len(order), dtype=np.uint64)
    joined[places] = glue
    columns = np.ascontiguousarray(memory.views.rows[order].T)
    told = memory.evidence.of_places(list(columns), joined)[places - MAX_OFFSET]
    known = memory.told.rows  # (words, offsets, evidence)
    own = known.reshape(len(known) * len(OFFSETS), told.shape[1])
    for place, at in enumerate(OFFSETS):
        told += own.take(len(OFFSETS) * order[places + at] + place, axis=0)
    return told
