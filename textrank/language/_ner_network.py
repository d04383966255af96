"""Word network of the entity recognisers: hashed word features, linear tag scores, and a CNN.

The module has three parts, in this order:

1. *Views* of a word: its form, shape, affixes, word clusters and dictionary lists. Each view is a
   32-bit hash. ``WordTable`` holds clusters, vectors and lists. In a sentence whose case is
   uninformative (all upper or all lower case) words are folded to lower case and have other views.
2. ``LinearTagScores``: a linear model of tags over hashed feature templates (views of a word and of
   its neighbours), trained separately. Its scores are called *evidence* in configs and models.
3. ``build_word_network``: the Thinc network. Per word it outputs the CNN's context vector, followed
   by the linear tag scores. Word-level results are cached (``_WordCache``).
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
from textrank.language.normalization import NormalizedWords, spaces_after

Hashes: TypeAlias = NDArray[np.uint64]
# Properties of a word that are hashed: the word itself, lower case, digit-folded ("plain"), shape,
# shape without repetitions, class ("kind"); its clusters; gene name lists that contain it
# ("listed"), how often it is part of listed names ("named"); prefixes and suffixes.
VIEWS = (
    *("word", "lower", "plain", "shape", "short_shape", "kind"),
    *("cluster64", "cluster256", "cluster1000", "cluster3000", "listed", "named"),
    *("first2", "first3", "first4", "last2", "last3", "last4", "last5"),
)
VIEW_INDEX: Mapping[str, int] = {view: index for index, view in enumerate(VIEWS)}
MAX_CHAR_NGRAMS = 30
_VIEW_PREFIXES = tuple(f"{index}|" for index in VIEW_INDEX.values())  # prepended before hashing
_GREEK_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "sigma tau upsilon phi chi psi omega"
)
_GREEK_NAMES = frozenset(_GREEK_LETTERS.split())
_DIGITS = re.compile(r"\d+")
_REPEATED_CHARACTER = re.compile(r"(.)\1+")
_ROMAN_NUMERAL = re.compile(r"[IVX]{1,4}")


def fold_digits(word: str) -> str:
    """Return the word in lower case with each number replaced by 0.

    >>> fold_digits("Smad34a")
    'smad0a'
    """
    return _DIGITS.sub("0", word.lower())


def word_shape(word: str) -> str:
    """Return the character classes of a word's first 24 characters.

    Digits are d, capitals X, other letters x; other characters stay: ``p53`` is ``xdd``, ``IL-2``
    is ``XX-d``.
    """
    if word.isascii():
        return word[:24].translate(_ASCII_SHAPES)
    return "".join(map(_shape_of_character, word[:24]))


def _shape_of_character(c: str) -> str:
    """Return d for a digit, X for an upper-case and x for another letter, else the character."""
    return "d" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c


_ASCII_SHAPES = {code: _shape_of_character(chr(code)) for code in range(128)}


def word_class(word: str) -> str:
    """Return which of a few writing styles a word has.

    In this order: "greek" (the name of a letter), "roman", "number" and its digits (at most 3),
    "capital" or "letter" for a single one, "MIXED" or "mixed" with a digit, with or without a
    capital; "other" if it does not begin with a letter (with the sign itself for brackets, commas
    and the like), "capitals" and its length (at most 6), "inner" with a later capital, "initial"
    with a capital in front only, or "lower". The first that applies is returned.

    >>> words = ("beta", "IV", "53", "p53", "MAPK", "cdc", "Ras", "GalT", ".")
    >>> [word_class(word) for word in words]
    ['greek', 'roman', 'number2', 'mixed', 'capitals4', 'lower', 'initial', 'inner', 'other']
    """
    if word.lower() in _GREEK_NAMES:
        return "greek"
    if _ROMAN_NUMERAL.fullmatch(word):
        return "roman"
    if word.isdigit():
        return f"number{min(len(word), 3)}"
    if len(word) == 1 and word.isalnum():
        return "capital" if word.isupper() else "letter"
    if any(c.isdigit() for c in word):
        return "MIXED" if any(c.isupper() for c in word) else "mixed"
    return _class_of_letters(word)


def _class_of_letters(word: str) -> str:
    """Return the class of a word without digits that is not Greek, Roman or a single letter.

    "other" if it does not begin with a letter, with the character appended if the word is one of
    ``()[],:;/-``; "capitals" and the length (at most 6); "inner" with a capital after the first
    letter; "initial" or "lower". An empty word is "other".
    """
    if not word[:1].isalnum():
        return "other" + word[:1] * (word in "()[],:;/-")
    if word.isupper():
        return f"capitals{min(len(word), 6)}"
    if word[1:] != word[1:].lower():
        return "inner"
    return "initial" if word[0].isupper() else "lower"


def char_ngrams(word: str) -> list[str]:
    """Return the distinct character 3-grams and 4-grams of the digit-folded word with boundaries.

    At most ``MAX_CHAR_NGRAMS``, in order of length and position.
    """
    padded = f"^{fold_digits(word)}$"
    ngrams = [padded[i : i + n] for n in (3, 4) for i in range(len(padded) - n + 1)]
    return list(dict.fromkeys(ngrams))[:MAX_CHAR_NGRAMS]


def hash_text(text: str) -> int:
    """Return the 32-bit hash of a text that all tables use."""
    return murmur(text) & 0xFFFFFFFF


def caseless_mask(words: Sequence[str]) -> NDArray[np.bool_]:
    """Return the mask (words,) of words in sentences whose case is uninformative.

    These are sentences without any capital, or with at least three words of letters that are all in
    capitals; words of one letter do not count. Sentences are taken to end at ``.``, ``?`` and
    ``!``.
    """
    flags = np.zeros(len(words), dtype=bool)
    start = 0
    for end, word in enumerate(words, start=1):
        if word in (".", "?", "!") or end == len(words):
            flags[start:end] = _has_uninformative_case(words[start:end])
            start = end
    return flags


def _has_uninformative_case(words: Sequence[str]) -> bool:
    """Return whether a sentence is all lower case, or all capitals.

    Capitals count only in a sentence with at least three words of two letters or more; words with
    other characters are ignored. A sentence without letters, also an empty one, is all lower case.
    """
    text = " ".join(words)
    if text == text.lower():
        return True
    letter_words = [word for word in words if word.isalpha() and len(word) > 1]
    return len(letter_words) >= 3 and all(word.isupper() for word in letter_words)


class WordTable:
    """Clusters, vectors and list codes of words, looked up by 32-bit hash.

    Parameters
    ----------
    arrays
        ``keys`` (sorted hashes of digit-folded words), ``clusters`` (words, 4), ``vectors`` (words,
        width) as int8 times ``scale``; and for words as written (``exact``) and in lower case
        (``lower``) ``*_keys`` (sorted) and ``*_codes``: three bits for the gene name lists that
        contain the word, and above them a level of how often the word, where it occurs in PubMed,
        is part of a listed name.
    """

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        """Take the arrays as stored in the model; the mapping is copied, the arrays are not."""
        self.arrays = dict(arrays)
        # Sorted lists, because dictionaries would take a tenth of a second to fill.
        self._codes = {
            cased: (self.arrays[f"{cased}_keys"].tolist(), self.arrays[f"{cased}_codes"])
            for cased in ("exact", "lower")
        }
        self._keys: list[int] = self.arrays["keys"].tolist()

    def find_row(self, word: str) -> int:
        """Return the row of a word in ``clusters`` and ``vectors``; -1 if it has none.

        The word is digit-folded first. Words are found by hash, so a collision can return another
        row.
        """
        return _find_last(self._keys, hash_text(fold_digits(word)))

    def vectors(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the vectors of words, given their rows (``find_row``), (n, width) as float32.

        Row -1 gives zeros; in a table without words every row does.
        """
        table: NDArray[np.int8] = self.arrays["vectors"]
        if not len(table):
            return np.zeros((len(rows), table.shape[1]), dtype=np.float32)
        vectors = table[rows].astype(np.float32) * np.float32(self.arrays["scale"])
        vectors[rows < 0] = 0
        return vectors

    def view_hashes(self, word: str, caseless: bool) -> list[int]:
        """Return the hash of each view of a word, in the order of ``VIEWS``.

        ``caseless`` words are folded to lower case, and views that depend on case are hashed
        differently. Views without a value, such as clusters of an unknown word, have a hash too.
        """
        prefix = "~" if caseless else ""
        word = word.lower() if caseless else word
        lower, shape = word.lower(), word_shape(word)
        row = self.find_row(word)
        clusters = ["?"] * 4 if row < 0 else self.arrays["clusters"][row].tolist()
        lists, name_share = self._lookup_lists(word, lower, caseless)
        texts = (
            prefix + word, lower, fold_digits(word), prefix + shape,
            prefix + _REPEATED_CHARACTER.sub(r"\1", shape),
            prefix + word_class(word), *map(str, clusters), prefix + lists, f"{prefix}{name_share}",
            prefix + word[:2], word[:3], word[:4], lower[-2:], lower[-3:], lower[-4:], lower[-5:],
        )  # fmt: skip
        return [hash_text(view + text) for view, text in zip(_VIEW_PREFIXES, texts, strict=True)]

    def _lookup_lists(self, word: str, lower: str, caseless: bool) -> tuple[str, int]:
        """Return the lists that contain a word, as a string code, and its name level.

        The code is a number of three bits, one per list, with the prefix ``i`` if only the word in
        other case is listed. The level is always that of the word as written, 0 if only another
        case is known; both are 0 for an unknown word. ``lower`` is the word in lower case;
        ``caseless`` words are looked up by it only, for lists and level.
        """
        folded_code = self._lookup_code("lower", lower)
        if caseless:
            return str(folded_code & 7), folded_code >> 3
        code = self._lookup_code("exact", word)
        return str(
            code & 7
        ) if code & 7 or not folded_code & 7 else f"i{folded_code & 7}", code >> 3

    def _lookup_code(self, table: str, word: str) -> int:
        """Return the code of a word in the ``exact`` or ``lower`` table; 0 if it has none."""
        keys, codes = self._codes[table]
        row = _find_last(keys, hash_text(word))
        return int(codes[row]) if row >= 0 else 0


def _find_last(keys: Sequence[int], key: int) -> int:
    """Return the last index of ``key`` in a sorted list; -1 if it is absent."""
    index = bisect_right(keys, key) - 1
    return index if index >= 0 and keys[index] == key else -1


def empty_word_table(width: int) -> WordTable:
    """Return a table without words, for vectors of this width; it finds no word and no list."""
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


Template: TypeAlias = tuple[tuple[str, int], ...]  # (view, offset in words) of each part
Floats: TypeAlias = NDArray[np.float32]
MAX_OFFSET = 3  # words to either side that a template may refer to
TABLE_BITS = 18  # of hashed rows; in a smaller table neighbouring rows share one
OFFSETS = tuple(range(-MAX_OFFSET, MAX_OFFSET + 1))
_PAIRED_VIEWS = ("plain", "short_shape", "kind", "cluster64", "cluster256", "listed", "cluster1000")
_ADJACENT_VIEWS = (
    *("lower", "plain", "shape", "short_shape", "kind", "cluster64", "cluster256"),
    *("cluster1000", "listed", "named", "last3", "first3"),
)
_DISTANCE_2_VIEWS = ("plain", "short_shape", "cluster256", "cluster1000", "listed", "kind")
_BRACKET_VIEWS = ("kind", "short_shape", "plain", "listed")


def _unigram_templates() -> list[Template]:
    """Return the templates of one view of one word, by offset from -MAX_OFFSET on.

    All views are used of the word itself, fewer of words farther away. Trained weights depend on
    the order: a template's number is its index.
    """
    views = {
        0: tuple(VIEW_INDEX),
        1: _ADJACENT_VIEWS,
        2: _DISTANCE_2_VIEWS,
        3: ("plain", "cluster256"),
    }
    return [((view, offset),) for offset in OFFSETS for view in views[abs(offset)]]


def _conjunction_templates() -> list[Template]:
    """Return the templates of several words, or of several views of one.

    For the word with the one before it, then with the one after it, these are each of
    ``_PAIRED_VIEWS`` of both words and four pairs of different views; after them come those of
    ``lines``, where a template is written as views with signed offsets ("kind-1 kind+0"). Trained
    weights depend on the order: a template's number follows from its index.
    """
    templates: list[Template] = []
    for a, b in ((-1, 0), (0, 1)):
        templates += [((view, a), (view, b)) for view in _PAIRED_VIEWS]
        templates += [
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
        templates += [tuple(parts)] if parts else []
    return templates


UNIGRAM_TEMPLATES: Sequence[Template] = _unigram_templates()
CONJUNCTION_TEMPLATES: Sequence[Template] = _conjunction_templates()
_USED_VIEWS = sorted(
    {VIEW_INDEX[view] for template in CONJUNCTION_TEMPLATES for view, _ in template}
)
CONJUNCTION_VIEWS: Mapping[str, int] = {
    name: _USED_VIEWS.index(p) for name, p in VIEW_INDEX.items() if p in _USED_VIEWS
}
# Numbers of templates: unigrams, conjunctions, conjunctions with join codes, character n-grams.
_FIRST_BRACKET_TEMPLATE = len(UNIGRAM_TEMPLATES) + len(CONJUNCTION_TEMPLATES)
_NGRAM_TEMPLATE = _FIRST_BRACKET_TEMPLATE + len(_BRACKET_VIEWS) + 1


def hash_multiplier(template: int, factor: int) -> np.uint64:
    """Return an odd 64-bit number to hash a factor of a template by multiplication (SplitMix64).

    The number is fixed for each ``template`` and ``factor`` (0 ... 15): trained weights depend on
    it.
    """
    mask = (1 << 64) - 1
    z = (0x9E3779B97F4A7C15 * (16 * template + factor + 1)) & mask  # SplitMix64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return np.uint64((z ^ (z >> 31)) | 1)


_MULTIPLIERS = [[hash_multiplier(t, part) for part in range(5)] for t in range(_NGRAM_TEMPLATE + 1)]
_SHIFT = np.uint64(64 - TABLE_BITS)


def _hash_rows(template: int, columns: Sequence[Hashes]) -> NDArray[np.intp]:
    """Return the table row of a template's value at each position, below ``2 ** TABLE_BITS``.

    ``columns`` are the views of its parts, one array each along the positions, at most four;
    positions with the same values get the same row. ``template`` is the template's number.
    """
    multipliers = _MULTIPLIERS[template]
    total = columns[0] * multipliers[0]
    for column, multiplier in zip(columns[1:], multipliers[1:], strict=False):
        total += column * multiplier
    total += multipliers[4]
    total >>= _SHIFT
    return total.astype(np.intp)


def unigram_rows(views: Hashes) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield the offset and the table rows (words,) of each unigram template, in order.

    ``views`` is (words, views), as from ``WordTable.view_hashes``.
    """
    for template, ((view, offset),) in enumerate(UNIGRAM_TEMPLATES):
        yield offset, _hash_rows(template, [views[:, VIEW_INDEX[view]]])


def ngram_rows(word: str) -> NDArray[np.intp]:
    """Return the table rows of a word's character n-grams, in the order of ``char_ngrams``."""
    return _ngram_rows_of_words([word])[0]


def _ngram_rows_of_words(words: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the table rows of all words' character n-grams, and how many each word has.

    The first array has the rows of one word after the other, the second has shape (words,).
    """
    ngrams = [char_ngrams(word) for word in words]
    hashes = np.array(
        [hash_text(piece) for word_ngrams in ngrams for piece in word_ngrams], dtype=np.uint64
    )
    return _hash_rows(_NGRAM_TEMPLATE, [hashes]), np.array(
        [len(word_ngrams) for word_ngrams in ngrams], dtype=np.intp
    )


def conjunction_rows(columns: Sequence[Hashes], codes: Hashes) -> Iterator[NDArray[np.intp]]:
    """Yield the table rows of each conjunction template, (positions,), in order.

    Positions are all words but the first and last ``MAX_OFFSET``. ``columns`` has the views of
    ``CONJUNCTION_VIEWS``, one array each along all words; ``codes`` (words,) say whether a space is
    before and after a word and whether it is in brackets (``join_codes``). After
    ``CONJUNCTION_TEMPLATES`` come those with the code: each of ``_BRACKET_VIEWS`` of the word, then
    the kinds of the words before and after it together.
    """
    stop = len(codes) - MAX_OFFSET
    views = {
        (view, offset): columns[column][MAX_OFFSET + offset : stop + offset]
        for view, column in CONJUNCTION_VIEWS.items()
        for offset in OFFSETS
    }
    inner_codes = codes[MAX_OFFSET:stop]
    for template, view_offsets in enumerate(CONJUNCTION_TEMPLATES, start=len(UNIGRAM_TEMPLATES)):
        yield _hash_rows(template, [views[view_offset] for view_offset in view_offsets])
    for template, view in enumerate(_BRACKET_VIEWS, start=_FIRST_BRACKET_TEMPLATE):
        yield _hash_rows(template, [views[view, 0], inner_codes])
    yield _hash_rows(_NGRAM_TEMPLATE - 1, [views["kind", -1], views["kind", 1], inner_codes])


_ZERO_BYTE = 128  # unsigned byte of weight zero
_BYTE_BITS, _EVEN_BYTES = np.uint64(8), np.uint64(0x00FF00FF00FF00FF)
_BLOCK_WORDS = 4096  # positions that are scored at once


class WeightTable:
    """Weights of hashed features, quantised to bytes.

    Parameters
    ----------
    weights
        (rows, columns) int8; the number of rows is a power of two.
    scales
        (columns,) value of one step of each column.
    """

    def __init__(self, weights: NDArray[np.int8], scales: Floats) -> None:
        """Take quantised weights (rows, columns) and their scales (columns,).

        A weight is its integer times the scale of its column. The number of rows is a power of two.
        """
        self.weights, self.scales = np.ascontiguousarray(weights), scales
        self._shift = TABLE_BITS - (
            len(weights).bit_length() - 1
        )  # row of a smaller table = hashed row >> shift

    @classmethod
    def from_weights(cls, weights: NDArray[Any]) -> WeightTable:
        """Quantise float weights, shape (rows, columns).

        Each column has 127 steps up to its largest absolute weight. The number of rows must be a
        power of two.
        """
        scales = np.maximum(np.abs(weights).max(axis=0, initial=0.0), 1e-6) / 127
        return cls(np.rint(weights / scales).astype(np.int8), scales.astype(np.float32))

    def pack(self) -> dict[str, Any]:
        """Return the table as stored in a model: ``table`` and ``scales``.

        ``table`` is the zlib-compressed bytes of the weights column by column, which compress
        better than rows.
        """
        return {"table": zlib.compress(self.weights.T.tobytes(), 9), "scales": self.scales}

    @classmethod
    def unpack(cls, stored: Mapping[str, Any]) -> WeightTable:
        """Restore a table from the result of ``pack``."""
        scales = np.asarray(stored["scales"], dtype=np.float32)
        weights = np.frombuffer(zlib.decompress(stored["table"]), dtype=np.int8)
        return cls(weights.reshape(len(scales), -1).T, scales)

    def __getitem__(self, rows: NDArray[np.intp]) -> NDArray[np.int8]:
        """Return the int8 weights (rows, columns) of hashed rows.

        Times ``scales`` they are weights.
        """
        return self.weights.take(rows >> self._shift if self._shift else rows, axis=0)

    @cached_property
    def _packed_weights(self) -> NDArray[np.uint64]:
        """Return the weights plus 128 as unsigned bytes, eight columns in one 64-bit number.

        Shape (rows, columns / 8 rounded up); missing columns are 0.
        """
        height, width = self.weights.shape
        packed = np.zeros((height, -(-width // 8) * 8), dtype=np.uint8)
        packed[:, :width] = self.weights.view(np.uint8) ^ np.uint8(_ZERO_BYTE)
        return packed.view(np.uint64)

    def sum_rows(self, rows: Sequence[NDArray[np.intp]]) -> Floats:
        """Return the (positions, columns) sum of weights over at most 256 arrays of hashed rows.

        Each array has one row per position. Even and odd bytes are summed in 16-bit lanes of 64-bit
        numbers, hence the limit.
        """
        packed = self._packed_weights
        total = np.zeros((2, len(rows[0]), packed.shape[1]), dtype=np.uint64)  # even and odd bytes
        for template_rows in rows:
            values = packed.take(
                template_rows >> self._shift if self._shift else template_rows, axis=0
            )
            total[0] += values & _EVEN_BYTES
            values >>= _BYTE_BITS
            values &= _EVEN_BYTES
            total[1] += values
        sums = total.view(np.uint16).transpose(1, 2, 0).reshape(len(rows[0]), -1)
        return (sums[:, : len(self.scales)] - np.float32(_ZERO_BYTE * len(rows))) * self.scales


class LinearTagScores:
    """Linear tag scores over hashed features; one table per recogniser, columns side by side."""

    def __init__(self, tables: Sequence[WeightTable]) -> None:
        """Take the tables of weights, one per recogniser; there may be none."""
        self.tables = tables

    @property
    def width(self) -> int:
        """Return the number of columns of all tables."""
        return sum(len(table.scales) for table in self.tables)

    def score_words(self, views: Hashes, words: Sequence[str]) -> Floats:
        """Return the unigram scores of words, shape (words, offsets, columns).

        Entry ``k`` is what the word adds to the scores of the word that it is at offset
        ``OFFSETS[k]`` from. Character n-grams count at offset 0. ``views`` is (words, views), as
        from ``WordTable.view_hashes``.
        """
        parts = [np.zeros((len(words), len(OFFSETS), 0), dtype=np.float32)]
        unigrams = list(unigram_rows(views))
        ngrams, sizes = _ngram_rows_of_words(words)
        has_ngrams, starts = sizes > 0, (np.cumsum(sizes) - sizes)[sizes > 0]
        for table in self.tables:
            total = np.zeros((len(words), len(OFFSETS), len(table.scales)), dtype=np.int32)
            for offset, rows in unigrams:
                total[:, offset + MAX_OFFSET] += table[rows]
            if len(starts):
                sums = np.add.reduceat(table[ngrams], starts, axis=0, dtype=np.int32)
                total[has_ngrams, MAX_OFFSET] += sums
            parts.append(total * table.scales)
        return np.concatenate(parts, axis=2)

    def score_positions(self, columns: Sequence[Hashes], codes: Hashes) -> Floats:
        """Return the conjunction scores, shape (positions, columns).

        Positions are all words but the first and last ``MAX_OFFSET``. ``columns`` has the views of
        ``CONJUNCTION_VIEWS``, one array each along all words; ``codes`` (words,) are those of
        ``join_codes``, 0 for padding.
        """
        n_positions = len(codes) - 2 * MAX_OFFSET
        scores = np.zeros((n_positions, self.width), dtype=np.float32)
        for first in range(0, n_positions if self.tables else 0, _BLOCK_WORDS):
            end = min(first + _BLOCK_WORDS, n_positions)
            window = slice(first, end + 2 * MAX_OFFSET)
            rows = list(conjunction_rows([column[window] for column in columns], codes[window]))
            np.concatenate(
                [table.sum_rows(rows) for table in self.tables], axis=1, out=scores[first:end]
            )
        return scores


def join_codes(words: Sequence[str], has_space: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return a code per word of a text, (words,): space before, space after, inside brackets.

    The codes are those that the network computes for a Doc of these words
    (``_WordBatch.join_codes``), so that its linear tag scores are trained on the codes that they
    are applied to. ``has_space`` (words,) is True if white space follows the word.
    """
    if not words:
        return np.empty(0, dtype=np.uint64)
    traits = np.array([_compute_traits(word) for word in words], dtype=np.intp)
    batch = _WordBatch(np.zeros(len(words), np.uint64), has_space, np.array([len(words)], np.intp))
    return batch.join_codes(traits, batch.find_sentence_starts(traits))


WordNetwork: TypeAlias = Model[list[Doc], list[Any]]  # an array for each Doc
Ints: TypeAlias = NDArray[np.intp]
# Views that are embedded, with the size of their table as a share of the network's ``rows``.
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
MIN_TABLE_ROWS = 64  # of an embedding table
MAX_CACHED_WORDS = 20_000  # about a kilobyte each
_CASELESS_KEY = np.uint64(0x9E3779B97F4A7C15)  # xor-ed with the key of a caseless word
# Bits of a word's traits.
_HAS_UPPER, _IS_LETTERS, _IS_CAPITALS, _ENDS_SENTENCE, _OPENS_BRACKET, _CLOSES_BRACKET = (
    1 << bit for bit in range(6)
)


def build_word_network(
    width: int, rows: int, depth: int, vectors: int, evidence: int
) -> WordNetwork:
    """Build the network from Docs to word vectors; ``textrank.NameNetwork.v1`` in spaCy configs.

    It is not initialised. Its word table and linear tag scores are empty (all scores 0); real ones
    are set in ``model.attrs["words"]`` and ``model.attrs["evidence"]``.

    Parameters
    ----------
    width
        Width of embeddings and of the context vectors.
    rows
        Rows of the largest embedding table.
    depth
        Number of convolution layers, each over three words.
    vectors
        Width of the word vectors of the word table.
    evidence
        Number of columns of the linear tag scores; the output has ``width + evidence`` columns.
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
        _ForwardPass(),
        init=_initialize_network,
        layers=[concatenate(*tables), mix, clone(residual(window), depth)],
        dims={"nO": width + evidence},
    )
    model.attrs["words"] = empty_word_table(vectors).arrays
    model.attrs["evidence"] = (
        [WeightTable.from_weights(np.zeros((1, evidence))).pack()] if evidence else []
    )
    model.attrs["shape"] = {"width": width, "depth": depth}
    return model


def _initialize_network(model: WordNetwork, X: Any = None, Y: Any = None) -> None:
    """Initialise the layers with random parameters; X and Y are ignored."""
    tables, mix, encode = model.layers
    tables.initialize(X=np.zeros((1, len(EMBEDDED_VIEWS)), dtype=np.uint64))
    mix.initialize()
    encode.initialize(X=np.zeros((3, model.attrs["shape"]["width"]), dtype=np.float32))


@dataclass(frozen=True, eq=False)
class _WordBatch:
    """Words of a batch of Docs, one Doc after the other."""

    keys: NDArray[np.uint64]  # (words,) string-store hashes
    spaces: NDArray[np.bool_]  # (words,) whether white space follows
    lengths: Ints  # (docs,)

    @classmethod
    def from_docs(
        cls, docs: Sequence[Doc], normalized: Sequence[NormalizedWords | None] | None = None
    ) -> _WordBatch:
        """Collect the words of Docs, given their normalised words.

        ``normalized`` has the result of ``normalize_words`` for each Doc; None, for one Doc or for
        all, means that all tokens are words as they are. There must be at least one Doc.
        """
        normalized = normalized or [None] * len(docs)
        docs_and_words = list(zip(docs, normalized, strict=True))
        keys = [
            doc.to_array([ORTH]) if words is None else words.orths for doc, words in docs_and_words
        ]
        spaces = np.concatenate([spaces_after(doc, words) for doc, words in docs_and_words])
        return cls(
            np.concatenate(keys), spaces, np.array([len(words) for words in keys], dtype=np.intp)
        )

    def find_sentence_starts(self, traits: Ints) -> Ints:
        """Return the first words of the stretches between sentence ends or ends of Docs, ascending.

        A word ``.``, ``?`` or ``!`` ends a sentence. ``traits`` (words,) are those of
        ``_compute_traits``; there must be at least one word.
        """
        ends = (traits & _ENDS_SENTENCE).astype(bool)
        ends[np.cumsum(self.lengths[self.lengths > 0]) - 1] = True
        return np.append(0, np.flatnonzero(ends)[:-1] + 1)

    def join_codes(self, traits: Ints, starts: Ints) -> NDArray[np.uint64]:
        """Return a code per word, (words,): space before, space after, inside brackets.

        The code is 1, plus 1 without space before, plus 2 without space after, plus 4 inside
        brackets of its sentence (the brackets included); 0 is left for padding. ``traits`` (words,)
        are bit sets of ``_compute_traits``, ``starts`` the first words of sentences. The first word
        of each Doc counts as having space before it. A closing bracket without an opening one in
        its sentence makes the next opening one of the sentence count for nothing. Shipped weights
        are applied to these codes, so a change of them needs a new training.
        """
        has_space_before = np.append(True, self.spaces[:-1])
        nonempty = self.lengths[self.lengths > 0]
        has_space_before[np.cumsum(nonempty) - nonempty] = True
        opens, closes = (traits & _OPENS_BRACKET) > 0, (traits & _CLOSES_BRACKET) > 0
        depth = np.cumsum(opens) - np.append(0, np.cumsum(closes)[:-1])
        base_depth = np.repeat((depth - opens)[starts], np.diff(np.append(starts, len(depth))))
        return (1 + ~has_space_before + 2 * ~self.spaces + 4 * (depth > base_depth)).astype(
            np.uint64
        )


def _compute_traits(word: str) -> int:
    """Return the bit set of a word's properties, from ``_HAS_UPPER`` to ``_CLOSES_BRACKET``.

    "Letters" are words of at least two letters and nothing else; "capitals" are those in upper
    case. Sentence ends are ``.``, ``?`` and ``!``, brackets round and square ones.
    """
    letters = word.isalpha() and len(word) > 1
    return (
        _HAS_UPPER * (word != word.lower())
        | _IS_LETTERS * letters
        | _IS_CAPITALS * (letters and word.isupper())
        | _ENDS_SENTENCE * (word in (".", "?", "!"))
        | _OPENS_BRACKET * (word in ("(", "["))
        | _CLOSES_BRACKET * (word in (")", "]"))
    )


def _caseless_words(traits: Ints, starts: Ints) -> NDArray[np.bool_]:
    """Return the mask (words,) of words in sentences whose case is uninformative.

    These have no capital, or at least three words of letters, all in capitals. ``traits`` (words,)
    are bit sets of ``_compute_traits``, ``starts`` the first words of sentences.
    """
    counts = [
        np.add.reduceat((traits & bit) > 0, starts, dtype=np.intp)
        for bit in (_HAS_UPPER, _IS_LETTERS, _IS_CAPITALS)
    ]
    upper, letters, capitals = counts
    is_uninformative = (upper == 0) | ((letters >= 3) & (letters == capitals))
    return np.repeat(is_uninformative, np.diff(np.append(starts, len(traits))))


class _WordCache:
    """Cached results per distinct word; row 0 of each array is padding.

    ``rows`` maps the key of a word to its row: its string-store hash, changed for caseless words.
    Arrays: hashes of the embedded views, row in the word table, embedding, hashes of the
    conjunction views, and unigram scores.
    """

    def __init__(self, table: WordTable, evidence: LinearTagScores, width: int) -> None:
        """Allocate the arrays, each with the padding row 0 and room for MAX_CACHED_WORDS.

        ``width`` is that of the embeddings; words are looked up in ``table`` and scored by
        ``evidence``. Padding is all zeros (vector row -1), except for its unigram scores, which are
        those of an empty word whose views are all 0.
        """
        self.table, self.evidence = table, evidence
        self.rows: dict[int, int] = {}
        self.view_ids = GrowingArray(
            np.zeros((1, len(EMBEDDED_VIEWS)), dtype=np.uint64), MAX_CACHED_WORDS
        )
        self.vector_rows = GrowingArray(np.full(1, -1, dtype=np.intp), MAX_CACHED_WORDS)
        self.embeddings = GrowingArray(np.zeros((1, width), dtype=np.float32), MAX_CACHED_WORDS)
        self.view_hashes = GrowingArray(
            np.zeros((1, len(CONJUNCTION_VIEWS)), dtype=np.uint64), MAX_CACHED_WORDS
        )
        no_views = np.zeros((1, len(VIEW_INDEX)), dtype=np.uint64)
        self.unigram_scores = GrowingArray(evidence.score_words(no_views, [""]), MAX_CACHED_WORDS)

    def clear(self) -> None:
        """Drop all words but the padding row, and keep the memory."""
        self.rows.clear()
        for array in (
            self.view_ids,
            self.vector_rows,
            self.embeddings,
            self.view_hashes,
            self.unigram_scores,
        ):
            array.reset()

    def add(self, words: Sequence[tuple[int, str, bool]], mix: Callable[..., Floats]) -> None:
        """Add words given as (key, word, is caseless); ``mix`` computes their embeddings.

        Keys must be new, and there must be at least one word. ``mix(view_ids, vectors)`` gets the
        hashes of ``EMBEDDED_VIEWS`` and the vectors of the word table, one row per word, and
        returns (words, width).
        """
        first = len(self.vector_rows.rows)
        self.rows.update((key, first + i) for i, (key, _, _) in enumerate(words))
        texts = [word for _, word, _ in words]
        views = np.array([self.table.view_hashes(w, c) for _, w, c in words], dtype=np.uint64)
        view_ids = views[:, [VIEW_INDEX[view] for view in EMBEDDED_VIEWS]]
        vector_rows = np.array([self.table.find_row(word) for word in texts], dtype=np.intp)
        self.embeddings.add(mix(view_ids, self.table.vectors(vector_rows)))
        self.view_ids.add(view_ids)
        self.vector_rows.add(vector_rows)
        self.view_hashes.add(views[:, [VIEW_INDEX[view] for view in CONJUNCTION_VIEWS]])
        self.unigram_scores.add(self.evidence.score_words(views, texts))


class _ForwardPass:
    """Forward function of the network, with its word cache."""

    def __init__(self) -> None:
        """Start with an empty cache; tables and encoder are built at the first call."""
        self._cache: _WordCache | None = None
        self._fingerprint: tuple[Any, ...] = ()
        self._trait_cache: dict[int, int] = {}
        self._encoder: Encoder | None = None
        self._unpacked_tables: tuple[list[Any], Any] = [None, None], None

    def __call__(
        self, model: WordNetwork, docs: list[Doc], is_train: bool
    ) -> tuple[list[Any], Callable[[list[Any]], list[Doc]]]:
        """Return the vectors of each Doc and the backpropagation callback, as Thinc expects.

        All tokens count as words. With ``is_train`` embeddings are computed afresh; otherwise they
        come from the cache and the callback does nothing.
        """
        if not any(len(doc) for doc in docs):
            return [
                np.zeros((0, model.get_dim("nO")), dtype=np.float32) for _ in docs
            ], _no_backprop
        return self._compute(model, _WordBatch.from_docs(docs), docs[0].vocab.strings, is_train)

    def predict(
        self, model: WordNetwork, docs: Sequence[Doc], normalized: Sequence[NormalizedWords | None]
    ) -> list[Any]:
        """Return the (words, width + evidence) vectors of each Doc, given its normalised words.

        ``normalized`` has the result of ``normalize_words`` for each Doc. There must be at least
        one Doc.
        """
        batch = _WordBatch.from_docs(docs, normalized)
        if not len(batch.keys):
            return [np.zeros((0, model.get_dim("nO")), dtype=np.float32) for _ in docs]
        return self._compute(model, batch, docs[0].vocab.strings, False)[0]

    def _compute(
        self, model: WordNetwork, batch: _WordBatch, strings: StringStore, is_train: bool
    ) -> tuple[list[Any], Callable[[list[Any]], list[Doc]]]:
        """Return the vectors of each Doc of a batch and the backpropagation callback.

        Vectors are (words, width + evidence): the context vectors of the network come first, then
        the linear tag scores. With ``is_train`` the former are computed without the cache; else the
        callback does nothing. The batch must have at least one word; ``strings`` must know all of
        them.
        """
        gap = max(MAX_OFFSET, model.attrs["shape"]["depth"])
        traits = self._lookup_traits(batch.keys, strings)
        starts = batch.find_sentence_starts(traits)
        cache, rows = self._find_rows(model, batch, _caseless_words(traits, starts), strings)
        positions = padded_positions(batch.lengths, gap)
        order = np.zeros(len(positions) + gap * (len(batch.lengths) + 1), dtype=np.intp)
        order[positions] = rows
        if is_train:
            context, backprop = _train_context(model, cache, order, positions)
        else:
            context, backprop = (
                self._encode(model, cache.embeddings.rows, order)[positions],
                _no_backprop,
            )
        scores = _evidence_scores(cache, order, positions, batch.join_codes(traits, starts))
        outputs = np.hstack([context, scores])
        return np.split(outputs, np.cumsum(batch.lengths)[:-1]), backprop

    def _encode(self, model: WordNetwork, embeddings: Floats, order: Ints) -> Floats:
        """Return the context vectors of a padded sequence of cached words, (len(order), width).

        ``order`` has the cache row of each word, 0 for padding.
        """
        if self._encoder is None:
            context: Floats = model.layers[2].predict(embeddings[order])
            return context
        return self._encoder(embeddings, order)

    def _lookup_traits(self, keys: NDArray[np.uint64], strings: StringStore) -> Ints:
        """Return the traits of each word, (words,), from a cache by string-store hash.

        Traits are bit sets: has a capital, is letters, is capitals, ends a sentence, opens or
        closes a bracket. The cache is emptied first if it has more than ``MAX_CACHED_WORDS``.
        ``strings`` must know the words.
        """
        distinct, inverse = np.unique(keys, return_inverse=True)
        if len(self._trait_cache) > MAX_CACHED_WORDS:
            self._trait_cache.clear()
        traits = []
        for key in distinct.tolist():
            if key not in self._trait_cache:
                self._trait_cache[key] = _compute_traits(strings[key])
            traits.append(self._trait_cache[key])
        return np.array(traits, dtype=np.intp)[inverse]

    def _find_rows(
        self,
        model: WordNetwork,
        batch: _WordBatch,
        is_caseless: NDArray[np.bool_],
        strings: StringStore,
    ) -> tuple[_WordCache, Ints]:
        """Return the cache and the row of each word in it, after adding words that are not cached.

        A word has separate rows with and without case (``is_caseless``, one flag per word). The
        cache is cleared first if it would grow beyond ``MAX_CACHED_WORDS``. ``strings`` must know
        the words.
        """
        keys = np.where(is_caseless, batch.keys ^ _CASELESS_KEY, batch.keys)
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        cache, distinct_keys = self._current_cache(model), distinct.tolist()
        if any(key not in cache.rows for key in distinct_keys):
            if len(cache.rows) + len(distinct_keys) > MAX_CACHED_WORDS:
                cache.clear()
            new = [
                (key, strings[int(batch.keys[index])], bool(is_caseless[index]))
                for key, index in zip(distinct_keys, first.tolist(), strict=True)
                if key not in cache.rows
            ]
            cache.add(new, lambda ids, vectors: _mix_views(model, ids, vectors))
        return cache, np.array([cache.rows[key] for key in distinct_keys], dtype=np.intp)[inverse]

    def _current_cache(self, model: WordNetwork) -> _WordCache:
        """Return the cache; a new one if the network's tables or parameters have changed.

        Parameters are compared by ``fingerprint_params``, tables by identity: replace them, do not
        change them in place. A new cache comes with a new encoder.
        """
        fingerprint = (
            id(model.attrs["words"]),
            id(model.attrs["evidence"]),
            *fingerprint_params(model.layers),
        )
        if self._cache is None or fingerprint != self._fingerprint:
            table, evidence = self._unpack_tables(model)
            self._cache = _WordCache(table, evidence, model.attrs["shape"]["width"])
            self._encoder = Encoder.from_model(model.layers[2])
            self._fingerprint = fingerprint
        return self._cache

    def _unpack_tables(self, model: WordNetwork) -> tuple[WordTable, LinearTagScores]:
        """Return word table and linear scores of the model; unpacked only if they have changed.

        They are ``model.attrs["words"]`` and ``["evidence"]``, compared by identity.
        """
        stored = [model.attrs["words"], model.attrs["evidence"]]
        if not all(a is b for a, b in zip(stored, self._unpacked_tables[0], strict=True)):
            tables = [WeightTable.unpack(packed) for packed in stored[1]]
            self._unpacked_tables = stored, (WordTable(stored[0]), LinearTagScores(tables))
        return self._unpacked_tables[1]


def get_forward(model: Any) -> _ForwardPass | None:
    """Return the fast forward pass of a network of this kind; None for any other network."""
    return model._func if isinstance(model._func, _ForwardPass) else None


def _no_backprop(_: list[Any]) -> list[Doc]:
    """Return no gradients: the callback of a pass that was not for training."""
    return []


def _mix_views(model: WordNetwork, ids: NDArray[np.uint64], vectors: Floats) -> Floats:
    """Return the (words, width) embeddings of words, given view hashes and word vectors."""
    tables, mix, _ = model.layers
    mixed: Floats = mix.predict(np.hstack([tables.predict(ids), vectors]))
    return mixed


def _train_context(
    model: WordNetwork, cache: _WordCache, order: Ints, positions: Ints
) -> tuple[Floats, Callable[[list[Any]], list[Doc]]]:
    """Return the context vectors and the backpropagation callback; uses no cached embeddings.

    ``positions`` are those of the words in the padded sequence ``order`` of cache rows; the vectors
    (words, width) are of these words. Each distinct word is embedded once, by the network as it is
    now; the callback takes the gradients of each Doc and adds to those of all layers. The vectors
    of the word table and the linear tag scores are not trained.
    """
    tables, mix, encode = model.layers
    distinct, inverse = np.unique(order[positions], return_inverse=True)
    view_embeddings, backprop_tables = tables(cache.view_ids.rows[distinct], True)
    vectors = cache.table.vectors(cache.vector_rows.rows[distinct])
    mixed, backprop_mix = mix(np.hstack([view_embeddings, vectors]), True)
    inputs = np.zeros((len(order), mixed.shape[1]), dtype=np.float32)
    inputs[positions] = mixed[inverse]
    context, backprop_encode = encode(inputs, True)

    def backprop(gradients: list[Any]) -> list[Doc]:
        """Accumulate the gradients of all layers, given those of each Doc's vectors.

        Columns of the linear tag scores are ignored. Return an empty list.
        """
        ops: Any = model.ops
        context_gradient = np.zeros_like(context)
        context_gradient[positions] = np.concatenate(gradients)[:, : context.shape[1]]
        summed_gradient = ops.alloc2f(*mixed.shape)
        word_gradient = np.ascontiguousarray(backprop_encode(context_gradient)[positions])
        ops.scatter_add(summed_gradient, inverse.astype(np.int32), word_gradient)
        backprop_tables(
            np.ascontiguousarray(backprop_mix(summed_gradient)[:, : view_embeddings.shape[1]])
        )
        return []

    return context[positions], backprop


def _evidence_scores(
    cache: _WordCache, order: Ints, positions: Ints, codes: NDArray[np.uint64]
) -> Floats:
    """Return the linear tag scores of the words at ``positions`` of the sequence ``order``.

    Shape (words, evidence). ``order`` has cache rows with at least ``MAX_OFFSET`` padding rows
    around each text; ``codes`` are the join codes of the words.
    """
    padded_codes = np.zeros(len(order), dtype=np.uint64)
    padded_codes[positions] = codes
    columns = np.ascontiguousarray(cache.view_hashes.rows[order].T)
    scores = cache.evidence.score_positions(list(columns), padded_codes)[positions - MAX_OFFSET]
    unigram_scores = cache.unigram_scores.rows  # (words, offsets, evidence)
    flat_scores = unigram_scores.reshape(len(unigram_scores) * len(OFFSETS), scores.shape[1])
    for index, offset in enumerate(OFFSETS):
        scores += flat_scores.take(len(OFFSETS) * order[positions + offset] + index, axis=0)
    return scores
