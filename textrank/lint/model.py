"""Confusion model: finds real-word errors such as "then" for "than" without spaCy.

A ``ConfusionModel`` knows pairs of words. ``Lexicon.tokenize`` turns a text into ``Tokens``, arrays
of word hashes and classes. Each occurrence of a word of a pair has features, hashes of
``TEMPLATES`` filled with the words around it; the weights of all pairs are in one hash table. The
sum of weights becomes the log-odds of the other word of the pair. Where it does not favour the
printed word, a small neural network that all pairs share (``ContextNetwork``) adds its opinion.
Above a threshold, which depends on the wanted precision, the word is flagged. Closed patterns such
as "should of" are flagged by ``RULES``, which need no weights: a word is wrong if its neighbours
are among a few words. Each rule was counted on text that nothing is learnt from
(``docs/experiments/spelling.py rules``) before it was let in.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from textrank.io import (
    atomic_model_folder,
    read_arrays,
    verify_manifest,
    write_arrays,
    write_manifest,
)

__all__ = ["DEFAULT_PRECISION", "NON_PROSE", "ConfusionModel", "Flag", "Pair", "shipped_model_path"]


def shipped_model_path(name: str) -> Path | None:
    """Return the folder of a shipped confusion model, or None if there is none of that name.

    A name that is not an identifier, such as a path, gives None.
    """
    folder = Path(str(files("textrank.models"))) / name
    return folder if name.isidentifier() and (folder / "pairs.json").is_file() else None


_HASH_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
SLOT_BITS = 25  # of a key, its place in the weight table
_CHECK_BITS = np.uint32(32 - SLOT_BITS)
_CHECK_MASK = np.uint32((1 << (32 - SLOT_BITS)) - 1)


def pair_hash(title: str) -> int:
    """Return the 64-bit hash of a pair's title, which ``feature_keys`` mixes with features."""
    return zlib.crc32(title.encode()) * 0x94D049BB133111EB & (1 << 64) - 1


def feature_keys(features: HashArray, pair_hashes: HashArray) -> npt.NDArray[np.uint32]:
    """Return the 32-bit keys of features of pairs in the weight table.

    The upper SLOT_BITS are the slot, the others a check value. ``features`` and ``pair_hashes``
    are uint64 and broadcast.
    """
    mixed_hashes = (features ^ pair_hashes) * _HASH_MULTIPLIER
    mixed_hashes ^= mixed_hashes >> np.uint64(32)
    return (mixed_hashes * _HASH_MULTIPLIER >> np.uint64(32)).astype(np.uint32)


def build_lookup_table(
    keys: npt.NDArray[np.uint32], weights: npt.NDArray[np.int8]
) -> npt.NDArray[np.uint16]:
    """Return the weights as a table of 2**SLOT_BITS slots for ``lookup_weights``, dtype uint16.

    ``keys`` are those of ``feature_keys``, ``weights`` one each; where two share a slot, the last
    remains. Empty slots are 0.

    A slot holds the check value of its key in the upper byte and the weight in the lower byte.
    """
    table = np.zeros(1 << SLOT_BITS, dtype=np.uint16)
    check_values = (keys & _CHECK_MASK).astype(np.uint16) << np.uint16(8)
    table[keys >> _CHECK_BITS] = check_values | weights.view(np.uint8)
    return table


def lookup_weights(
    table: npt.NDArray[np.uint16], keys: npt.NDArray[np.uint32]
) -> npt.NDArray[np.float32]:
    """Return the weights of keys as float32, in the shape of ``keys``.

    A weight is 0 if the slot is empty or has another check value. A key that was never stored has a
    chance of 1 in 128 to get the weight of another one in its slot.
    """
    cells = table[keys >> _CHECK_BITS]
    is_match = (cells >> np.uint16(8)) == (keys & _CHECK_MASK)
    return (cells.astype(np.uint8).view(np.int8) * is_match).astype(np.float32)


IntArray: TypeAlias = npt.NDArray[np.int64]
HashArray: TypeAlias = npt.NDArray[np.uint64]
NON_PROSE = "\x00"  # replaces everything that is not prose
# A compound such as "and/or" is one token, so that nothing inside it is judged.
TOKEN = re.compile(
    r"[^\W\d_]+(?:['’\-./@&]+[^\W\d_]+)*|\d+(?:[.,]?\w+)*|\x00+|¶+|\n[ \t]*\n\s*|[^\w\s*]"
)
MAX_OFFSET = 9  # tokens on either side that features use
PROSE_WINDOW_TOKENS = 2  # tokens on either side that must be prose
MIN_HABIT_COUNT = 3  # repetitions from which wording is taken as intended
N_COMMON_TOKENS = 50  # most frequent tokens, which do not make wording distinctive
MIN_SENTENCE_TOKENS = 5  # shorter sentences are headings or table cells
SENTENCE_ENDS = frozenset(".!?¶")
_ARTICLES = {("an", "a"), ("An", "A")}
# Letters whose names begin with a vowel, before another capital or a letter that cannot follow them
# at the start of an English word.
_ABBREVIATION = re.compile(
    r"\s+(?:[FHLMNRSX](?:[A-Z\d]|\b)"
    r"|(?:f(?![lr])|[hmnx]|l(?!l)|r(?!h)|s(?![chklmnpqtvw]))(?![aeiouyAEIOUY])[^\W\d_])"
)
NETWORK_OFFSETS = tuple(o for o in range(-6, 7) if o)  # tokens around that the network sees
# Rows of the network's vectors: outside of the sentence, unknown tokens without letters, unknown
# words by their last three letters, known tokens.
OUTSIDE_ROW, OTHER_ROW, FIRST_SUFFIX_ROW = 0, 1, 2
N_SUFFIX_ROWS = 1000
FIRST_TOKEN_ROW = FIRST_SUFFIX_ROW + N_SUFFIX_ROWS
# Kinds of token hashes: word, fine class, coarse class, first letter, first three letters.
W, F, C, A, B = range(5)
TemplatePart: TypeAlias = tuple[int, int]  # kind of hash, and offset
TEMPLATES: tuple[tuple[TemplatePart, ...], ...] = (
    *(((W, o),) for o in (-1, 1, -2, 2, -3, 3)),
    ((W, -2), (W, -1)),
    ((W, 1), (W, 2)),
    ((W, -1), (W, 1)),
    ((W, -3), (W, -2), (W, -1)),
    ((W, 1), (W, 2), (W, 3)),
    ((W, -2), (W, -1), (W, 1)),
    ((W, -1), (W, 1), (W, 2)),
    ((W, -2), (W, -1), (W, 1), (W, 2)),
    *(((F, o),) for o in (-1, 1, -2, 2, -3, 3)),
    ((F, -2), (F, -1)),
    ((F, 1), (F, 2)),
    ((F, -1), (F, 1)),
    ((C, -2), (C, -1)),
    ((C, 1), (C, 2)),
    ((C, -1), (C, 1)),
    ((C, -2), (C, -1), (C, 1)),
    ((C, -1), (C, 1), (C, 2)),
    ((C, -2), (C, -1), (C, 1), (C, 2)),
    ((C, -3), (C, -2), (C, -1)),
    ((C, 1), (C, 2), (C, 3)),
    ((W, -1), (C, 1)),
    ((C, -1), (W, 1)),
    ((C, -2), (W, -1)),
    ((W, 1), (C, 2)),
    ((A, 1),),
    ((B, 1),),
)
BAG_OFFSETS = tuple(o for o in range(-MAX_OFFSET, MAX_OFFSET + 1) if o)  # of the bag of words
BAG_TEMPLATE = len(TEMPLATES)
FEATURE_VALUES = np.array(
    [1.0] * 2 + [0.7] * 2 + [0.5] * 2 + [1.0] * 3 + [0.8] * 5 + [0.7] * 2 + [0.5] * 4
    + [0.7] * 3 + [0.6] * 8 + [0.7] * 4 + [1.0] * 2 + [0.25] * len(BAG_OFFSETS)
)  # fmt: skip


@dataclass
class Lexicon:
    """Cache of token properties: each distinct token is analysed once.

    ``ids`` maps a token to its row in ``rows``; id 0 is a paragraph break. Properties are, in
    order: hash, fine class, coarse class, hashes of the first letter and of the first three
    letters, word id (-1 if the token is not judged), case (0 lower, 1 capitalised, 2 other),
    whether it ends a sentence, and row of the network's vectors. ``classes`` maps hashes of
    frequent words to their classes; others get classes by shape. ``network_rows`` maps hashes of
    tokens that the network knows to their rows.
    """

    classes: Mapping[int, tuple[int, int]]
    word_ids: Mapping[str, int]  # ids of the words that are judged
    ids: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    max_tokens: int = 200_000
    network_rows: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Add the paragraph break, which must have id 0: ``ids`` and ``rows`` must be empty."""
        self.encode("¶")

    def encode(self, token: str) -> int:
        """Return the id of a token, its row in ``rows``; a new one is analysed and added.

        The token must not be empty; upper and lower case have different ids.
        """
        token_id = self.ids.get(token)
        if token_id is None:
            token_id = self.ids[token] = len(self.rows)
            self.rows.append(self._properties(token))
        return token_id

    def _properties(self, token: str) -> tuple[int, ...]:
        """Return the properties of a token, a row of ``rows``.

        They are hash, fine class, coarse class, hashes of the first letter and of the first three
        letters, word id (-1 if the token is not judged), case (0 lower, 1 capitalised, 2 other), 1
        if it ends a sentence (else 0), and row of the network's vectors. Words with inner capitals
        ("tHen") or in capitals are not judged, except "A", "I" and contractions of "I". The token
        must not be empty.
        """
        normalized = normalize_token(token)
        hash_ = text_hash(normalized)
        fine, coarse = self.classes.get(hash_) or shape_classes(normalized)
        case = 0 if token.islower() else 1 if token[:1].isupper() and token[1:].islower() else 2
        if token in ("I", "A") or token.startswith(("I'", "I’")):
            case = 1
        word_id = self.word_ids.get(normalized, -1) if case < 2 else -1
        letters = text_hash(normalized[:1]), text_hash(normalized[:3])
        row = self.network_rows.get(hash_) or unknown_token_row(normalized)
        is_end = int(normalized in SENTENCE_ENDS)
        return hash_, fine, coarse, *letters, word_id, case, is_end, row

    def tokenize(self, text: str) -> Tokens:
        """Return the tokens of a text, padded with MAX_OFFSET paragraph breaks on both sides.

        Token i of ``TOKEN.findall(text)`` is at index i + MAX_OFFSET of the arrays. Token ids are
        valid until the next call. The cache is emptied first if it has more than ``max_tokens``
        tokens.
        """
        if len(self.rows) > self.max_tokens:  # bounds memory in long runs
            self.ids.clear()
            self.rows.clear()
            self.encode("¶")
        encode = self.encode
        ids = [encode(token) for token in TOKEN.findall(text)]
        pad = [0] * MAX_OFFSET
        return Tokens.from_ids(np.array(pad + ids + pad, dtype=np.int64), self.rows)


def text_hash(text: str) -> int:
    """Return a platform-independent 32-bit hash of a text; lone surrogates are accepted."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def normalize_token(token: str) -> str:
    """Return a token as features see it: lower case, straight apostrophe, numbers as 0.

    The token must not be empty. Line breaks become "¶", and other runs without letters their first
    character.

    >>> normalize_token("Don’t"), normalize_token("12.5"), normalize_token("__")
    ("don't", '0', '_')
    """
    first = token[0]
    if first.isalpha():
        return token.lower().replace("’", "'")
    return "0" if first.isdigit() else "¶" if first == "\n" else first


def shape_classes(token: str) -> tuple[int, int]:
    """Return fine and coarse class of a token without learnt classes.

    A class is a number made of a hash of the last letters (three for fine, two for coarse) and of
    whether the word has a hyphen, slash or full stop. Tokens that do not begin with a letter share
    one class.
    """
    if not token[0].isalpha():
        return 65000, 65000
    hyphen = 1 if "-" in token or "/" in token or "." in token else 0
    ending = text_hash(token[-3:]) % 20_000
    coarse = text_hash(token[-2:]) % 500
    return 30_000 + 2 * ending + hyphen & 0xFFFF, 60_000 + 2 * coarse + hyphen


def unknown_token_row(token: str) -> int:
    """Return the row of the network's vectors for a normalised token that it does not know.

    A word gets one of N_SUFFIX_ROWS by its last three letters, any other token OTHER_ROW. The token
    must not be empty.
    """
    if not token[0].isalpha():
        return OTHER_ROW
    return FIRST_SUFFIX_ROW + text_hash(token[-3:]) % N_SUFFIX_ROWS


@dataclass(frozen=True, eq=False)
class Tokens:
    """Tokens of a text as arrays: ids, hashes by kind, word ids, case and sentence numbers.

    All arrays have one entry per token, including the padding of ``Lexicon.tokenize``. Positions
    are indices into them. Methods take s spans as two arrays of positions: ``start``, and ``end``
    exclusive. Sentences are numbered from 0 in text order.
    """

    ids: IntArray
    codes: Sequence[HashArray]  # hash + 1 of each kind W, F, C, A, B
    word_id: IntArray  # of words that are judged, else -1
    case: IntArray  # 0 lower, 1 capitalised, 2 other
    sentence: IntArray
    network_row: IntArray  # of the network's vectors

    @classmethod
    def from_ids(cls, ids: IntArray, rows: Sequence[tuple[int, ...]]) -> Tokens:
        """Build the arrays from token ids and the rows of a ``Lexicon``, one row per id.

        Of a short text only the rows that it needs are converted: many texts share a lexicon.
        """
        if len(ids) >= len(rows):
            return cls.from_table(ids, np.array(rows, dtype=np.int64))
        unique, index = np.unique(ids, return_inverse=True)
        table = np.array([rows[i] for i in unique.tolist()], dtype=np.int64)
        return replace(cls.from_table(index, table), ids=ids)

    @classmethod
    def from_table(cls, ids: IntArray, table: IntArray) -> Tokens:
        """Build the arrays from token ids and a table of properties, one row per id.

        The columns are hash, fine class, coarse class, hashes of the first letter and of the first
        three letters, word id, case, whether the token ends a sentence, and row of the network's
        vectors. A token that ends a sentence belongs to that sentence. Hashes are shifted by one,
        so that 0 can stand for "outside of the sentence".
        """
        columns = table[ids].T
        sentence = np.zeros(len(ids), dtype=np.int64)
        np.cumsum(columns[7][:-1], out=sentence[1:])
        codes = [columns[k].astype(np.uint64) + np.uint64(1) for k in range(5)]
        return cls(ids, codes, columns[5], columns[6], sentence, columns[8])

    def neighbours(self, start: IntArray, end: IntArray, offset: int) -> tuple[IntArray, Any]:
        """Return positions at an offset from spans, and whether they are in the span's sentence.

        Both arrays have shape (s,). ``offset`` is not 0 and at most MAX_OFFSET. Negative offsets
        count from the start, positive ones from the end (exclusive) of the span.
        """
        position = start + offset if offset < 0 else end - 1 + offset
        return position, self.sentence[position] == self.sentence[start]

    def features(self, start: IntArray, end: IntArray) -> HashArray:
        """Return the feature hashes of spans [start, end), shape (spans, features), uint64.

        A feature is a hash of its template and the neighbours' hashes; a neighbour outside of the
        sentence counts as 0. The words of the span itself have no influence. Columns are TEMPLATES
        and then BAG_OFFSETS; FEATURE_VALUES has their values.
        """
        features = np.empty((len(start), len(FEATURE_VALUES)), dtype=np.uint64)
        values: dict[TemplatePart, HashArray] = {}
        for offset in BAG_OFFSETS:
            position, in_sentence = self.neighbours(start, end, offset)
            for kind in (W, F, C, A, B) if abs(offset) <= 3 else (W,):
                values[kind, offset] = np.where(
                    in_sentence, self.codes[kind][position], np.uint64(0)
                )
        for template, parts in enumerate(TEMPLATES):
            features[:, template] = combine_hashes(template, [values[part] for part in parts])
        for column, offset in enumerate(BAG_OFFSETS):
            features[:, BAG_TEMPLATE + column] = combine_hashes(BAG_TEMPLATE, [values[W, offset]])
        return features

    def network_context(self, start: IntArray, end: IntArray) -> IntArray:
        """Return the rows of the network's vectors around spans, (s, len(NETWORK_OFFSETS)).

        A neighbour outside of the span's sentence gets OUTSIDE_ROW.
        """
        rows = np.empty((len(start), len(NETWORK_OFFSETS)), dtype=np.int64)
        for column, offset in enumerate(NETWORK_OFFSETS):
            position, in_sentence = self.neighbours(start, end, offset)
            rows[:, column] = np.where(in_sentence, self.network_row[position], OUTSIDE_ROW)
        return rows

    def is_prose(self, start: IntArray, end: IntArray) -> Any:
        """Return which spans can be judged, a mask of shape (s,).

        There must be no non-prose of the same sentence within PROSE_WINDOW_TOKENS, the sentence
        must have at least MIN_SENTENCE_TOKENS tokens, and the first word of the span must be in
        lower case or start its sentence.
        """
        non_prose = np.uint64(zlib.crc32(NON_PROSE.encode()) + 1)
        mask = self._in_long_sentence(start)
        for offset in range(-PROSE_WINDOW_TOKENS, PROSE_WINDOW_TOKENS + 1):
            if offset:
                position, in_sentence = self.neighbours(start, end, offset)
                mask &= ~(in_sentence & (self.codes[W][position] == non_prose))
        starts_sentence = self.sentence[start - 1] != self.sentence[start]
        return mask & ((self.case[start] == 0) | starts_sentence)

    def is_habitual(self, start: int, end: int) -> bool:
        """Return whether a span occurs MIN_HABIT_COUNT times with the same left or right neighbour.

        The whole text is searched. The tokens of the span must be the same too, with upper and
        lower case distinguished. Such wording is taken as intended. Neighbours among ``common_ids``
        do not count; those in another sentence do.
        """
        ids = self.ids
        return any(
            ids[neighbour] not in self.common_ids
            and self._count_repetitions(min(neighbour, start), max(neighbour + 1, end))
            >= MIN_HABIT_COUNT
            for neighbour in (start - 1, end)
        )

    def _count_repetitions(self, first: int, last: int) -> int:
        """Return how often the tokens [first, last) occur in the text, at least 1 (themselves).

        Overlapping occurrences count. The range must not be empty.
        """
        starts = np.flatnonzero(self.ids[: len(self.ids) - (last - first) + 1] == self.ids[first])
        for step in range(1, last - first):
            starts = starts[self.ids[starts + step] == self.ids[first + step]]
        return len(starts)

    @cached_property
    def common_ids(self) -> frozenset[int]:
        """Return the N_COMMON_TOKENS most frequent token ids of the text; of ties the lower id.

        Texts with fewer distinct tokens may give ids that do not occur.
        """
        counts = np.bincount(self.ids)
        return frozenset(np.argsort(-counts, kind="stable")[:N_COMMON_TOKENS].tolist())

    def _in_long_sentence(self, start: IntArray) -> Any:
        """Return which spans start in sentences of at least MIN_SENTENCE_TOKENS tokens, (s,).

        Punctuation counts, as does the token that ends the sentence.
        """
        sizes = np.bincount(self.sentence)
        return sizes[self.sentence[start]] >= MIN_SENTENCE_TOKENS


def combine_hashes(template: int, parts: Sequence[HashArray]) -> HashArray:
    """Return one hash per row of a template number and the hashes of its parts, uint64.

    ``parts`` are one or more arrays of equal length; their order matters.
    """
    seed = (template + 1) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
    hashes = np.full(len(parts[0]), seed, dtype=np.uint64)
    for part in parts:
        hashes = (hashes ^ part) * np.uint64(0xBF58476D1CE4E5B9)
        hashes ^= hashes >> np.uint64(29)
    return hashes


@dataclass(frozen=True, eq=False)
class ContextNetwork:
    """Neural network that scores words by the tokens around a place, the same for all pairs.

    The vectors of the tokens at NETWORK_OFFSETS are joined; two layers of rectified units follow.
    The score of a word is a linear function of the second one.

    Parameters
    ----------
    hashes
        Hashes of the tokens that have vectors of their own, which begin at FIRST_TOKEN_ROW.
    vectors
        (rows, dimensions), int8, in steps of ``steps``.
    steps
        (dimensions,), float32.
    layers, biases
        Matrices of the three layers and what is added behind them; the last layer has a column
        per word.
    """

    hashes: npt.NDArray[np.uint32]
    vectors: npt.NDArray[np.int8]
    steps: npt.NDArray[np.float32]
    layers: tuple[npt.NDArray[np.float32], ...]
    biases: tuple[npt.NDArray[np.float32], ...]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> ContextNetwork:
        """Build a network from the arrays of ``to_arrays``; raises KeyError if one is missing."""
        return cls(
            arrays["network/hashes"],
            arrays["network/vectors"],
            arrays["network/steps"],
            tuple(arrays[f"network/layer{k}"].astype(np.float32) for k in range(3)),
            tuple(arrays[f"network/bias{k}"].astype(np.float32) for k in range(3)),
        )

    def to_arrays(self) -> dict[str, Any]:
        """Return the arrays by name, for ``from_arrays``; layers are rounded to float16.

        Names are "network/" and hashes, vectors, steps, and layer and bias with the numbers 0 to 2.
        """
        layers = {f"network/layer{k}": v.astype(np.float16) for k, v in enumerate(self.layers)}
        biases = {f"network/bias{k}": v.astype(np.float32) for k, v in enumerate(self.biases)}
        embeddings = {"network/hashes": self.hashes, "network/vectors": self.vectors}
        return {**embeddings, "network/steps": self.steps, **layers, **biases}

    @cached_property
    def rows(self) -> dict[int, int]:
        """Return the row in ``vectors`` of each known token by its hash.

        These rows begin at FIRST_TOKEN_ROW, in the order of ``hashes``.
        """
        return {h: FIRST_TOKEN_ROW + k for k, h in enumerate(self.hashes.tolist())}

    @cached_property
    def _float_vectors(self) -> npt.NDArray[np.float32]:
        """Return ``vectors * steps`` as float32, (rows, dimensions)."""
        return self.vectors.astype(np.float32) * self.steps

    def encode(self, context: IntArray) -> npt.NDArray[np.float32]:
        """Return the second layer for places, (places, units), given ``Tokens.network_context``.

        Both layers are rectified linear.
        """
        values = self._float_vectors[context].reshape(len(context), -1)
        for layer, bias in zip(self.layers[:2], self.biases[:2], strict=True):
            values = np.maximum(values @ layer + bias, 0)
        return values

    def score_difference(
        self, encoded: npt.NDArray[np.float32], first: IntArray, second: IntArray
    ) -> npt.NDArray[np.float32]:
        """Return the score of the second word minus that of the first, one entry per place.

        ``first`` and ``second`` are columns of the last layer.
        """
        words, bias = self.layers[2].T, self.biases[2]
        difference = np.einsum("ij,ij->i", encoded, words[second] - words[first])
        return np.asarray(difference + bias[second] - bias[first])


FORMAT_VERSION = 3
ERROR_RATE = 0.01  # share of wrong words that thresholds and probabilities assume
# Precisions that Pair.levels has thresholds for.
THRESHOLD_PRECISIONS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.997, 0.999)
DEFAULT_PRECISION = 0.95
REPORTED_PRECISION = DEFAULT_PRECISION  # at which Pair.precision and Pair.recall were measured
UNREACHABLE_LOG_ODDS = 1e4  # threshold of words that are never flagged
CHUNK_OCCURRENCES = 2048  # occurrences whose features are in memory at a time
MAX_REASONS = 2  # contexts shown with a proposal
MIN_LINEAR_LOG_ODDS = 0.0  # of a proposal, by the features alone, that the network judges
MAX_NETWORK_DIFFERENCE = 10.0  # of the network's scores of two words that counts
MIN_LEAD = 0.5  # log-odds, less half of the threshold, between a proposal and the next one
_FEATURE_VALUES_32 = FEATURE_VALUES.astype(np.float32)


@dataclass(frozen=True)
class Pair:
    """Pair of words that are confused, with calibration and thresholds.

    Side 0 is the first of ``words``, side 1 the second. A word is lower case and may be a phrase of
    two words separated by a blank. Weights are those of the features of a context (``Tokens``).
    The log-odds of the second word are ``slope * (scale * sum of weights + bias) + shift`` plus
    ``network_weight`` times the difference of the words' scores by the network, which is limited to
    MAX_NETWORK_DIFFERENCE either way.
    ``levels`` has a row for each printed word: the log-odds of the other one at which
    THRESHOLD_PRECISIONS are reached. ``counts`` are of training; ``precision`` and ``recall`` of
    held-out genres with an error rate of ERROR_RATE, at REPORTED_PRECISION.
    """

    words: tuple[str, str]
    counts: tuple[int, int]
    bias: float
    scale: float  # of its weights in the table
    slope: float
    shift: float
    levels: tuple[tuple[float, ...], tuple[float, ...]]
    precision: float
    recall: float
    style: bool = False  # a matter of style such as less/fewer, flagged only on request
    network_weight: float = 0.0

    @property
    def title(self) -> str:
        """Return both words joined by a slash, the name of the pair."""
        return "/".join(self.words)

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Pair:
        """Build a pair from the plain values of pairs.json, whose keys are the field names.

        Raises KeyError or TypeError if a key is missing, and TypeError if one is unknown.
        """
        first, second = row["levels"]
        tuples: dict[str, Any] = {
            "words": tuple(row["words"]),
            "counts": tuple(row["counts"]),
            "levels": (tuple(first), tuple(second)),
        }
        return cls(**{**row, **tuples})


@dataclass(frozen=True)
class Flag:
    """Word that is probably the other one of its pair, with character offsets.

    ``end`` is exclusive. ``printed`` is the word in the text, ``proposal`` the other one in the
    same capitalisation, ``pair`` the title of the pair. ``probability`` is the highest precision at
    which the word is flagged: the share of such flags that are correct at an error rate of
    ERROR_RATE. ``because`` has up to MAX_REASONS contexts, each as words
    around a gap "…", the strongest first, and ``contributions`` the log-odds that each adds.
    """

    start: int
    end: int
    printed: str
    proposal: str
    pair: str
    score: float  # log-odds of the proposal by its context alone
    probability: float
    because: tuple[str, ...]
    contributions: tuple[float, ...]
    is_rule: bool = False


class Spots(NamedTuple):
    """Words that can be judged: positions, end exclusive, and word ids, one entry per word."""

    start: IntArray
    end: IntArray
    word_id: IntArray


# Word that may be wrong: start, end (exclusive), pair, printed side, log-odds of the other word.
Candidate: TypeAlias = tuple[int, int, int, int, float]


@dataclass(frozen=True, eq=False)
class ConfusionModel:
    """Pairs of confusable words with the common hash table of their feature weights.

    Methods take a pair as its index in ``pairs``, a word as its id in ``word_ids``, and a side
    (0 or 1) as an index into ``Pair.words``. Positions are those of ``Tokens``.
    """

    pairs: tuple[Pair, ...]
    keys: npt.NDArray[np.uint32]  # of features, sorted
    weights: npt.NDArray[np.int8]  # of the keys
    classes: npt.NDArray[np.int64]  # (words, 3) hash, fine and coarse class of each frequent word
    meta: dict[str, Any]
    network: ContextNetwork | None = None

    def find_errors(
        self, text: str, precision: float = DEFAULT_PRECISION, *, style: bool = False
    ) -> list[Flag]:
        """Return the words of a text that are probably wrong, in text order, without overlaps.

        ``text`` has NON_PROSE in place of what is not prose (``blank_non_prose``). ``precision`` is
        the share of flags that should be correct at an error rate of ERROR_RATE; ``style`` is
        whether pairs that are a matter of style are judged too. Wording that the text repeats
        (``Tokens.is_habitual``) is not flagged, except by RULES. Neither is "an" before what is
        probably an abbreviation that is spelled out (``_ABBREVIATION``), as in "an FIR filter".
        Rules whose precision is at least the wanted one are applied whatever ``style`` is. Of
        overlapping flags the first is kept, of those with the same start the one with the highest
        score.
        """
        thresholds = self.thresholds(precision)
        if not style:
            thresholds[[pair.style for pair in self.pairs]] = UNREACHABLE_LOG_ODDS
        tokens, start, end, word_id = self.find_words(text)
        flags: list[Flag] = []
        spans: list[tuple[int, int]] = []
        for position, rule in self._match_rules(tokens, precision):
            spans = spans or [token.span() for token in TOKEN.finditer(text)]
            flags.append(self._make_rule_flag(text, spans, tokens, position, rule))
        spots = Spots(start, end, word_id)
        scores = self._score_proposals(tokens, spots, thresholds < UNREACHABLE_LOG_ODDS)
        candidates = list(self._above_threshold(spots, scores, thresholds))
        candidates += self._find_hidden_errors(tokens, spots, scores, candidates, thresholds)
        for candidate in candidates:
            if tokens.is_habitual(*candidate[:2]):
                continue
            spans = spans or [token.span() for token in TOKEN.finditer(text)]
            flag = self._make_flag(text, spans, tokens, *candidate)
            if (flag.printed, flag.proposal) in _ARTICLES and _ABBREVIATION.match(text, flag.end):
                continue
            flags.append(flag)
        return _drop_overlaps(flags)

    def find_words(self, text: str) -> tuple[Tokens, IntArray, IntArray, IntArray]:
        """Return the tokens of a text, and start, end and id of the words that can be judged.

        The three arrays have one entry per occurrence of a word of a pair in prose; start and end
        (exclusive) are positions in the tokens. Single words in text order come first, then
        two-word phrases.
        """
        tokens = self._lexicon.tokenize(text)
        start, end, word_id = self._find_occurrences(tokens)
        is_prose = tokens.is_prose(start, end)
        return tokens, start[is_prose], end[is_prose], word_id[is_prose]

    def log_odds(
        self, tokens: Tokens, start: IntArray, end: IntArray, pair: IntArray
    ) -> npt.NDArray[np.float64]:
        """Return the log-odds of the second word of each span's pair, given the context, (s,).

        ``start``, ``end`` and ``pair`` have one entry per span.
        """
        linear = self._linear_log_odds(tokens.features(start, end), pair)
        return linear + self.network_log_odds(tokens, start, end, np.arange(len(start)), pair)

    def _linear_log_odds(self, features: HashArray, pair: IntArray) -> npt.NDArray[np.float64]:
        """Return the log-odds of the second word of each pair without the network's part.

        ``features`` are the hashes of ``Tokens.features``, one row per entry of ``pair``.
        """
        sums = self._weights(features, pair) @ _FEATURE_VALUES_32
        scores = self._scales[pair] * sums + self._biases[pair]
        return self._slopes[pair] * scores + self._shifts[pair]

    def network_log_odds(
        self, tokens: Tokens, start: IntArray, end: IntArray, span: IntArray, pair: IntArray
    ) -> npt.NDArray[np.float64]:
        """Return what the network adds to the log-odds of the second word of each pair.

        It is the difference of the network's scores, clipped to MAX_NETWORK_DIFFERENCE either way,
        times the weight of the pair; zeros without a network. ``span`` are indices into ``start``
        and ``end``, one per entry of ``pair``.
        """
        if self.network is None or not len(span):
            return np.zeros(len(span))
        difference = np.empty(len(span))
        for at in range(0, len(span), CHUNK_OCCURRENCES):
            chunk = slice(at, at + CHUNK_OCCURRENCES)
            spans, row = np.unique(span[chunk], return_inverse=True)
            encoded = self.network.encode(tokens.network_context(start[spans], end[spans]))
            first, second = self._network_columns[pair[chunk]].T
            difference[chunk] = self.network.score_difference(encoded[row], first, second)
        difference = np.clip(difference, -MAX_NETWORK_DIFFERENCE, MAX_NETWORK_DIFFERENCE)
        return np.asarray(self._network_weights[pair] * difference)

    def _score_proposals(
        self, tokens: Tokens, spots: Spots, is_judged: npt.NDArray[np.bool_]
    ) -> tuple[IntArray, IntArray, IntArray, npt.NDArray[np.float64]]:
        """Return spot, pair, printed side and log-odds of the proposals that may be right.

        Spots are indices into ``spots``. ``is_judged``, (pairs, 2), says which words are judged.
        With a network, proposals with less than MIN_LINEAR_LOG_ODDS by the features alone are
        dropped; the log-odds of the others include the network's part.
        """
        rows = [np.empty((4, 0))]
        for first in range(0, len(spots.start), CHUNK_OCCURRENCES):
            chunk = slice(first, first + CHUNK_OCCURRENCES)
            span, pair, side, odds = self.score_pairs(
                tokens, spots.start[chunk], spots.end[chunk], spots.word_id[chunk], is_judged
            )
            scores = np.stack([span + first, pair, side, odds])
            rows.append(scores if self.network is None else scores[:, odds >= MIN_LINEAR_LOG_ODDS])
        # The network sees all at once: many small products would keep threads of BLAS waiting.
        table = np.concatenate(rows, axis=1)
        span, pair, side = table[:3].astype(np.int64)
        added = self.network_log_odds(tokens, spots.start, spots.end, span, pair)
        return span, pair, side, table[3] + added * (1 - 2 * side)

    def _above_threshold(
        self,
        spots: Spots,
        scores: tuple[IntArray, IntArray, IntArray, npt.NDArray[np.float64]],
        thresholds: npt.NDArray[np.float64],
    ) -> Iterator[Candidate]:
        """Yield the candidates that reach their threshold, given ``_score_proposals``.

        ``thresholds`` has shape (pairs, 2). A word may belong to several pairs. Of its proposals,
        the one with the highest log-odds less half of its threshold wins, if it is MIN_LEAD ahead
        of the next one; else, as when several are tied, nothing is yielded. Results are in the
        order of ``scores``.
        """
        span, pair, side, odds = scores
        threshold = thresholds[pair, side]
        preference = odds - threshold / 2
        best, second = np.full((2, len(spots.start)), -np.inf)
        np.maximum.at(best, span, preference)
        is_best = preference >= best[span]
        n_best = np.bincount(span[is_best], minlength=len(best))
        is_best &= n_best[span] == 1
        np.maximum.at(second, span[~is_best], preference[~is_best])
        is_best &= (odds >= threshold) & (preference - second[span] >= MIN_LEAD)
        for i in np.flatnonzero(is_best):
            k = span[i]
            yield (
                int(spots.start[k]),
                int(spots.end[k]),
                int(pair[i]),
                int(side[i]),
                float(odds[i]),
            )

    def _find_hidden_errors(
        self,
        tokens: Tokens,
        spots: Spots,
        scores: tuple[IntArray, IntArray, IntArray, npt.NDArray[np.float64]],
        candidates: Sequence[Candidate],
        thresholds: npt.NDArray[np.float64],
    ) -> list[Candidate]:
        """Return the candidates that reach their threshold once a word beside them is corrected.

        Errors side by side hide one another: each is part of the context of the other. The words
        around a candidate are therefore judged again with its proposal in its place. So are those
        around words that are doubtful only, above the threshold of the lowest precision: if one of
        them reaches its threshold, and the doubtful word its own with that one corrected, both are
        returned. Words of ``candidates`` are not returned again.
        """
        low = np.minimum(self.thresholds(THRESHOLD_PRECISIONS[0]), thresholds)
        low[thresholds >= UNREACHABLE_LOG_ODDS] = UNREACHABLE_LOG_ODDS
        flagged_starts = {candidate[0] for candidate in candidates}
        doubtful = {c[0]: c for c in self._above_threshold(spots, scores, low)}
        hidden: dict[int, Candidate] = {}
        for start, neighbour in self._rescore_neighbours(
            tokens, spots, doubtful.values(), thresholds
        ):
            if neighbour[0] in flagged_starts:
                continue
            if start in flagged_starts:
                hidden[neighbour[0]] = neighbour
                continue
            for _, again in self._rescore_neighbours(tokens, spots, [neighbour], thresholds):
                if again[:4] == doubtful[start][:4]:
                    hidden.update({neighbour[0]: neighbour, start: again})
        return list(hidden.values())

    def _rescore_neighbours(
        self,
        tokens: Tokens,
        spots: Spots,
        candidates: Iterable[Candidate],
        thresholds: npt.NDArray[np.float64],
    ) -> list[tuple[int, Candidate]]:
        """Return the words around candidates that reach their threshold if these are corrected.

        Entries are the start of the candidate and the word beside it, itself a candidate, in the
        order of ``candidates``. The words around one are the single words of ``spots`` in its
        sentence that the network sees from it (``NETWORK_OFFSETS``); each is scored as if only this
        candidate were corrected. Candidates and proposals of two words are left alone. Proposals
        are added to the lexicon.
        """
        reach, width = max(NETWORK_OFFSETS), 2 * (max(NETWORK_OFFSETS) + MAX_OFFSET) + 1
        ids: list[IntArray] = []
        starts: list[int] = []
        spot_of: list[int] = []
        source: list[int] = []
        n_words = int((spots.end == spots.start + 1).sum())  # they come before the phrases
        for start, end, pair, side, _ in candidates:
            proposal = self.pairs[pair].words[1 - side]
            if end - start > 1 or " " in proposal:
                continue
            near = np.arange(
                *np.searchsorted(spots.start[:n_words], (start - reach, start + reach + 1))
            )
            near = near[
                (spots.start[near] != start)
                & (tokens.sentence[spots.start[near]] == tokens.sentence[start])
            ]
            first = start - width // 2
            window = np.zeros(width, np.int64)
            at = np.arange(max(first, 0), min(first + width, len(tokens.ids)))
            window[at - first] = tokens.ids[at]
            window[start - first] = self._lexicon.encode(proposal)
            shift = len(ids) * width - first
            ids.append(window)
            starts += (spots.start[near] + shift).tolist()
            spot_of += near.tolist()
            source += [start] * len(near)
        if not starts:
            return []
        there = Spots(np.array(starts), np.array(starts) + 1, spots.word_id[spot_of])
        again = Tokens.from_ids(np.concatenate(ids), self._lexicon.rows)
        scores = self._score_proposals(again, there, thresholds < UNREACHABLE_LOG_ODDS)
        place = dict(
            zip(starts, zip(source, spots.start[spot_of].tolist(), strict=True), strict=True)
        )
        rescored = []
        for position, _, pair, side, odds in self._above_threshold(there, scores, thresholds):
            origin, start = place[position]
            rescored.append((origin, (start, start + 1, pair, side, odds)))
        return rescored

    def score_pairs(
        self,
        tokens: Tokens,
        start: IntArray,
        end: IntArray,
        word_id: IntArray,
        is_judged: npt.NDArray[np.bool_] | None = None,
    ) -> tuple[IntArray, IntArray, IntArray, npt.NDArray[np.float64]]:
        """Return span, pair, printed side and log-odds of the other word by the features alone.

        There is an entry for each occurrence and pair of its word, in the order of occurrences and
        then of pairs; spans are indices into ``start``. ``is_judged``, (pairs, 2), says which
        printed words of which pairs are kept; None means all.
        """
        count = self._side_starts[word_id + 1] - self._side_starts[word_id]
        span = np.repeat(np.arange(len(start)), count)
        rank = np.arange(len(span)) - np.repeat(np.cumsum(count) - count, count)
        sides = self._sides[np.repeat(self._side_starts[word_id], count) + rank]
        if is_judged is not None:
            kept = is_judged[sides[:, 0], sides[:, 1]]
            span, sides = span[kept], sides[kept]
        pair, side = sides[:, 0], sides[:, 1]
        odds = self._linear_log_odds(tokens.features(start, end)[span], pair) * (1 - 2 * side)
        return span, pair, side, odds

    def _match_rules(self, tokens: Tokens, precision: float) -> Iterator[tuple[int, Rule]]:
        """Yield the position of each word that a rule flags, with the rule; rule by rule.

        All conditions of the rule must hold and the word be in prose (``Tokens.is_prose``). Rules
        of a lower precision than the wanted one are left out.
        """
        present = np.flatnonzero(np.isin(tokens.word_id, self._rule_word_ids))
        word_id = tokens.word_id[present]
        for rule in RULES:
            start = present[word_id == self.word_ids[rule.printed]]
            if not len(start) or rule.precision < precision:
                continue
            for offset, hashes, is_required in self._rule_conditions[rule]:
                position, in_sentence = tokens.neighbours(start, start + 1, offset)
                code = np.where(in_sentence, tokens.codes[W][position], np.uint64(0))
                start = start[np.isin(code, hashes) == is_required]
            start = start[tokens.is_prose(start, start + 1)]
            yield from ((int(position), rule) for position in start)

    @cached_property
    def _rule_word_ids(self) -> list[int]:
        """Return the ids of all words that rules judge, sorted."""
        return sorted({self.word_ids[rule.printed] for rule in RULES})

    @cached_property
    def _rule_conditions(self) -> dict[Rule, list[tuple[int, HashArray, bool]]]:
        """Return the conditions of each rule with the hashes of the words in place of them.

        A condition is (offset, codes as in ``Tokens.codes``, whether the neighbour must be one of
        them).
        """
        return {
            rule: [
                (offset, _neighbour_hashes(words), is_required)
                for offset, words, is_required in rule.conditions
            ]
            for rule in RULES
        }

    def _make_rule_flag(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        tokens: Tokens,
        position: int,
        rule: Rule,
    ) -> Flag:
        """Return the flag of a rule, with the neighbours that it names as the reason.

        ``position`` is that of the word in the tokens; ``spans`` as for ``_make_flag``. The
        probability is the precision of the rule, the score its log-odds minus those of ERROR_RATE.
        """
        start, end = spans[position - MAX_OFFSET]
        offsets = sorted({offset for offset, _, _ in rule.conditions})
        context = self._show_context(text, spans, tokens, position, position + 1, offsets)
        prior = math.log(ERROR_RATE / (1 - ERROR_RATE))
        score = math.log(rule.precision / (1 - rule.precision)) - prior
        return Flag(
            start=start,
            end=end,
            printed=text[start:end],
            proposal=match_spelling_style(rule.proposal, text[start:end]),
            pair=rule.title,
            score=score,
            probability=rule.precision,
            because=(context,),
            contributions=(score,),
            is_rule=True,
        )

    def _contributions(self, features: HashArray, pair: IntArray) -> npt.NDArray[np.float64]:
        """Return what each feature adds to the score of its pair, (spans, features).

        The score is before bias, slope and shift; positive values speak for the second word.
        """
        return np.asarray(
            self._weights(features, pair) * FEATURE_VALUES * self._scales[pair][:, None]
        )

    def _weights(self, features: HashArray, pair: IntArray) -> npt.NDArray[np.float32]:
        """Return the table's weights of features, (spans, features), float32; 0 if unknown.

        ``features`` are hashes of ``Tokens.features``, ``pair`` has one entry per row.
        """
        keys = feature_keys(features, self._pair_hashes[pair][:, None])
        return lookup_weights(self._lookup_table, keys)

    @cached_property
    def _lookup_table(self) -> npt.NDArray[np.uint16]:
        """Return the weight table in its fast form, 64 MB."""
        return build_lookup_table(self.keys, self.weights)

    def thresholds(self, precision: float) -> npt.NDArray[np.float64]:
        """Return the log-odds from which a printed word is flagged, a new array (pairs, 2).

        Column s is for the word of side s, its values are log-odds of the other word. Between
        THRESHOLD_PRECISIONS, thresholds are interpolated by the log-odds of precision; a word that
        is not flagged at the next higher one is not flagged. Below the first of them its thresholds
        are used, beyond the last one thresholds rise with the log-odds of precision.
        """
        grid = np.log(np.array(THRESHOLD_PRECISIONS) / (1 - np.array(THRESHOLD_PRECISIONS)))
        at = math.log(max(precision, 1e-9) / max(1 - precision, 1e-12))
        if at >= grid[-1]:  # beyond what was measured
            return np.asarray(self._all_thresholds[:, :, -1] + (at - grid[-1]))
        upper = int(np.searchsorted(grid, at - 1e-9))
        high = self._all_thresholds[:, :, upper]
        if upper == 0:
            return np.array(high)
        low = self._all_thresholds[:, :, upper - 1]
        share = (at - grid[upper - 1]) / (grid[upper] - grid[upper - 1])
        if share > 1 - 1e-9:  # one of the measured ones, without round-off
            return np.array(high)
        between = low + share * (high - low)
        return np.where(high >= UNREACHABLE_LOG_ODDS, high, between)

    def _make_flag(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        tokens: Tokens,
        start: int,
        end: int,
        pair: int,
        side: int,
        odds: float,
    ) -> Flag:
        """Return the flag of a word, with its probability and its reasons.

        ``start`` and ``end`` are token positions, ``side`` is that of the printed word and ``odds``
        the log-odds of the other one. ``spans`` are the character offsets of all tokens of the
        text, without padding.
        """
        offsets = [spans[k - MAX_OFFSET] for k in (start, end - 1)]
        printed = text[offsets[0][0] : offsets[1][1]]
        proposal = self.pairs[pair].words[1 - side]
        reasons = self._reasons(text, spans, tokens, start, end, pair, side)
        return Flag(
            start=offsets[0][0],
            end=offsets[1][1],
            printed=printed,
            proposal=match_spelling_style(proposal, printed),
            pair=self.pairs[pair].title,
            score=odds,
            probability=self._precision_of(pair, side, odds),
            because=tuple(context for context, _ in reasons),
            contributions=tuple(value for _, value in reasons),
        )

    def _precision_of(self, pair: int, side: int, odds: float) -> float:
        """Return the highest wanted precision at which a word with these log-odds is flagged.

        Interpolated between THRESHOLD_PRECISIONS as ``thresholds`` does, and at least the first and
        at most the last of them, also for log-odds below the first threshold.
        """
        levels = self._all_thresholds[pair, side]
        grid = np.log(np.array(THRESHOLD_PRECISIONS) / (1 - np.array(THRESHOLD_PRECISIONS)))
        passed = int(np.searchsorted(levels, odds, side="right")) - 1  # thresholds never fall
        if passed < 0 or passed == len(levels) - 1 or levels[passed + 1] >= UNREACHABLE_LOG_ODDS:
            return THRESHOLD_PRECISIONS[max(passed, 0)]
        share = (odds - levels[passed]) / (levels[passed + 1] - levels[passed])
        return float(1 / (1 + np.exp(-(grid[passed] + share * (grid[passed + 1] - grid[passed])))))

    def _reasons(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        tokens: Tokens,
        start: int,
        end: int,
        pair: int,
        side: int,
    ) -> list[tuple[str, float]]:
        """Return up to MAX_REASONS contexts that support the proposal most, with their log-odds.

        The strongest is first. A context is words around a gap, see ``_show_context``; one that
        contains or is part of a stronger one is left out. Empty if no feature supports the
        proposal.
        """
        starts, ends, pairs = (np.array([k]) for k in (start, end, pair))
        contributions = self._contributions(tokens.features(starts, ends), pairs)[0]
        contributions *= (1 - 2 * side) * self._slopes[pair]
        reasons: list[tuple[str, float]] = []
        for feature in np.argsort(-contributions, kind="stable"):
            if contributions[feature] <= 0 or len(reasons) == MAX_REASONS:
                break
            if feature < BAG_TEMPLATE:
                offsets = [offset for _, offset in TEMPLATES[feature]]
            else:
                offsets = [BAG_OFFSETS[feature - BAG_TEMPLATE]]
            context = self._show_context(text, spans, tokens, start, end, offsets)
            if not any(context in other or other in context for other, _ in reasons):
                reasons.append((context, float(contributions[feature])))
        return reasons

    def _show_context(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        tokens: Tokens,
        start: int,
        end: int,
        offsets: Sequence[int],
    ) -> str:
        """Return the words at some offsets around a gap "…", in text order.

        Words in another sentence are left out. Negative offsets count from ``start``, positive ones
        from the last token of the span.
        """
        words = ["…"]
        for offset in sorted(offsets, key=abs):
            position = start + offset if offset < 0 else end - 1 + offset
            token = position - MAX_OFFSET
            in_sentence = token < len(spans) and tokens.sentence[position] == tokens.sentence[start]
            span = spans[token] if in_sentence else (0, 0)
            word = " ".join(text[span[0] : span[1]].split())
            words = [word, *words] if offset < 0 else [*words, word]
        return " ".join(filter(None, words))

    def _find_occurrences(self, tokens: Tokens) -> tuple[IntArray, IntArray, IntArray]:
        """Return start, end and word id of all words of pairs, including two-word phrases.

        Single words in text order, then phrases in text order; a phrase and its words can overlap.
        Left out are words that are in no pair, such as those that only begin a phrase or have only
        a rule. Whether they are in prose is not checked.
        """
        start = np.flatnonzero(tokens.word_id >= 0)
        word_id = tokens.word_id[start]
        end = start + 1
        openers = np.flatnonzero(np.isin(word_id, self._phrase_openers))
        phrases = [
            (start[k], phrase_id)
            for k in openers
            if (phrase_id := self._phrases.get((word_id[k], int(tokens.codes[W][start[k] + 1]))))
            is not None
        ]
        # Words that only begin a two-word phrase or have only a rule are in no pair.
        is_judged = self._side_starts[word_id + 1] > self._side_starts[word_id]
        start, end, word_id = start[is_judged], end[is_judged], word_id[is_judged]
        if phrases:
            table = np.array(phrases, dtype=np.int64)
            start = np.r_[start, table[:, 0]]
            end, word_id = np.r_[end, table[:, 0] + 2], np.r_[word_id, table[:, 1]]
        return start, end, word_id

    @cached_property
    def word_ids(self) -> dict[str, int]:
        """Return the ids of all words of pairs and rules and of the first words of phrases.

        Words of pairs may be phrases. Rules add only their printed words. Ids are the ranks in
        alphabetical order, from 0.
        """
        words = {word for pair in self.pairs for word in pair.words}
        words |= {rule.printed for rule in RULES}
        return {word: k for k, word in enumerate(sorted(words | {w.split()[0] for w in words}))}

    @cached_property
    def _lexicon(self) -> Lexicon:
        """Return the lexicon of this model, which caches the tokens that it has seen."""
        classes = {h: (fine, coarse) for h, fine, coarse in self.classes.tolist()}
        rows = self.network.rows if self.network is not None else {}
        return Lexicon(classes, self.word_ids, network_rows=rows)

    @cached_property
    def _phrases(self) -> dict[tuple[int, int], int]:
        """Return the ids of two-word phrases by id of the first word and code of the second.

        The code is the hash plus 1, as in ``Tokens.codes``.
        """
        phrases = [word for word in self.word_ids if " " in word]
        return {
            (self.word_ids[w.split()[0]], zlib.crc32(w.split()[1].encode()) + 1): self.word_ids[w]
            for w in phrases
        }

    @cached_property
    def _phrase_openers(self) -> list[int]:
        """Return the ids of the first words of phrases, sorted."""
        return sorted({first for first, _ in self._phrases})

    @cached_property
    def _pair_sides(self) -> tuple[IntArray, IntArray]:
        """Return (pair, side) of all words sorted by word id, and where each word's rows begin.

        Word w has the rows ``starts[w] ... starts[w + 1] - 1``; none if it only opens a phrase.
        """
        rows = sorted(
            (self.word_ids[word], k, side)
            for k, pair in enumerate(self.pairs)
            for side, word in enumerate(pair.words)
        )
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        starts = np.searchsorted(table[:, 0], np.arange(len(self.word_ids) + 1))
        return table[:, 1:], starts.astype(np.int64)

    @cached_property
    def _sides(self) -> IntArray:
        """Return (pair, side) of all words of pairs, (n, 2), sorted by word id."""
        return self._pair_sides[0]

    @cached_property
    def _side_starts(self) -> IntArray:
        """Return where the rows of each word id begin in ``_sides``, (words + 1,).

        The last entry is the number of rows.
        """
        return self._pair_sides[1]

    @cached_property
    def _pair_hashes(self) -> HashArray:
        """Return the hash of each pair."""
        return np.array([pair_hash(pair.title) for pair in self.pairs], dtype=np.uint64)

    @cached_property
    def _slopes(self) -> npt.NDArray[np.float64]:
        """Return the slope of each pair."""
        return np.array([pair.slope for pair in self.pairs])

    @cached_property
    def _shifts(self) -> npt.NDArray[np.float64]:
        """Return the shift of each pair."""
        return np.array([pair.shift for pair in self.pairs])

    @cached_property
    def _biases(self) -> npt.NDArray[np.float64]:
        """Return the bias of each pair."""
        return np.array([pair.bias for pair in self.pairs])

    @cached_property
    def _scales(self) -> npt.NDArray[np.float64]:
        """Return the scale of each pair."""
        return np.array([pair.scale for pair in self.pairs])

    @cached_property
    def _network_weights(self) -> npt.NDArray[np.float64]:
        """Return the weight of the network in each pair."""
        return np.array([pair.network_weight for pair in self.pairs])

    @cached_property
    def _network_columns(self) -> IntArray:
        """Return the columns of both words of each pair in the network's last layer, (pairs, 2).

        Columns are the words of all pairs in alphabetical order.
        """
        words = sorted({word for pair in self.pairs for word in pair.words})
        column = {word: k for k, word in enumerate(words)}
        return np.array([[column[w] for w in pair.words] for pair in self.pairs]).reshape(-1, 2)

    @cached_property
    def _all_thresholds(self) -> npt.NDArray[np.float64]:  # (pairs, sides, precisions)
        """Return the thresholds of all pairs, (pairs, sides, THRESHOLD_PRECISIONS)."""
        return np.array([pair.levels for pair in self.pairs], dtype=np.float64)

    def to_disk(self, path: str | Path) -> None:
        """Write the model as a folder of JSON and arrays, atomically; replaces an existing one.

        ``pairs.json`` has the fields of each pair, ``table.npz`` the sorted keys as differences,
        weights, classes and network, and ``meta.json`` the meta data with "format", "task" and
        checksums.
        """
        with atomic_model_folder(path) as folder:
            rows = [asdict(pair) for pair in self.pairs]
            lines = ",\n".join(json.dumps(row) for row in rows)
            (folder / "pairs.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
            steps = np.diff(self.keys, prepend=np.uint32(0)).astype(np.uint32)
            arrays = {
                "steps/low": (steps & 0xFF).astype(np.uint8),
                "steps/high": (steps >> 8).astype(np.uint16),
                "weights": self.weights,
                "classes": self.classes.astype(np.uint32),
                **(self.network.to_arrays() if self.network is not None else {}),
            }
            write_arrays(folder / "table.npz", arrays)
            write_manifest(folder, {**self.meta, "format": FORMAT_VERSION, "task": "spelling"})

    @classmethod
    def from_disk(cls, path: str | Path) -> ConfusionModel:
        """Read a model folder; raise ValueError that names a missing or damaged file.

        Checksums are verified, and there must be ``pairs.json`` and ``table.npz``. The model has a
        network if the latter has one. Large tables are built at first use.
        """
        folder = Path(path)
        meta = verify_manifest(folder, needed=("pairs.json", "table.npz"))
        try:
            rows = json.loads((folder / "pairs.json").read_text(encoding="utf-8"))
            arrays = read_arrays(folder / "table.npz")
            steps = arrays["steps/low"].astype(np.uint32) + (
                arrays["steps/high"].astype(np.uint32) << np.uint32(8)
            )
            keys = np.cumsum(steps, dtype=np.uint32)
            pairs = tuple(Pair.from_dict(row) for row in rows)
            classes = arrays["classes"].astype(np.int64)
            network = ContextNetwork.from_arrays(arrays) if "network/hashes" in arrays else None
            weights = arrays["weights"].astype(np.int8)
            return cls(pairs, keys, weights, classes, dict(meta), network)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = f"{error!r:.200}"
            raise ValueError(
                f"{folder}: the model is damaged ({reason}). Reinstall or rebuild it."
            ) from error


def _neighbour_hashes(words: frozenset[str]) -> HashArray:
    """Return the codes of words as ``Tokens.codes`` has them; 0 for "", outside the sentence."""
    return np.array([text_hash(word) + 1 if word else 0 for word in sorted(words)], np.uint64)


def match_spelling_style(word: str, printed: str) -> str:
    """Return a word with the capitalisation of the first letter and the apostrophe of ``printed``.

    ``word`` is in lower case. "I" and its contractions are always capitalised, and a printed "I"
    does not capitalise the word. Words in capitals are not copied as such.

    >>> match_spelling_style("it's", "Its"), match_spelling_style("their", "they’re")
    ("It's", 'their')
    """
    if word == "i" or word.startswith("i'"):
        word = word.capitalize()
    elif printed[:1].isupper() and normalize_token(printed) != "i":
        word = word[:1].upper() + word[1:]
    return word.replace("'", "’") if "’" in printed else word


def _drop_overlaps(flags: Sequence[Flag]) -> list[Flag]:
    """Return flags in text order, without those that overlap an earlier one that was kept.

    Of flags with the same start only the one with the highest score is kept.
    """
    kept: list[Flag] = []
    for flag in sorted(flags, key=lambda flag: (flag.start, -flag.score)):
        if not kept or flag.start >= kept[-1].end:
            kept.append(flag)
    return kept


RULE_PRECISION = 0.995  # share of flags of rules that were correct on text without planted errors
COMMON_RULE_PRECISION = 0.95  # the same of rules whose neighbours are less telling


@dataclass(frozen=True)
class Rule:
    """Word that is wrong among certain neighbours.

    ``before`` and ``after`` are the words of which the neighbour on that side must be one, and
    ``unless_before`` and ``unless_after`` those of which it must be none; ``after_next`` and
    ``unless_after_next`` are the same of the word after the next. An empty set of words sets no
    condition. "" stands for a neighbour outside of the sentence. The rule is used if a precision of
    at most ``precision`` is wanted.
    """

    printed: str
    proposal: str
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    after_next: frozenset[str] = frozenset()
    unless_before: frozenset[str] = frozenset()
    unless_after: frozenset[str] = frozenset()
    unless_after_next: frozenset[str] = frozenset()
    precision: float = RULE_PRECISION

    @property
    def title(self) -> str:
        """Return both words in alphabetical order, joined by a slash: the name of the pair."""
        return "/".join(sorted((self.printed, self.proposal)))

    @cached_property
    def conditions(self) -> Iterable[tuple[int, frozenset[str], bool]]:
        """Return (offset, words, whether the neighbour must be one of them) of all conditions.

        All must hold. ``offset`` counts from the printed word: -1 is the word before it, 2 the word
        after the next. Empty sets of words are left out.
        """
        table = (
            (-1, self.before, True),
            (1, self.after, True),
            (2, self.after_next, True),
            (-1, self.unless_before, False),
            (1, self.unless_after, False),
            (2, self.unless_after_next, False),
        )
        return [condition for condition in table if condition[1]]


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, separated by white space, as a set.

    "_" becomes "", which stands for a neighbour outside of the sentence.
    """
    return frozenset("" if word == "_" else word for word in text.split())


_MODALS = _words(
    "could should would might must couldn't shouldn't wouldn't mightn't mustn't could've should've"
)
_FORMS_OF_BE = _words(
    "is are was were be been am isn't aren't wasn't weren't i'm you're he's she's"
)
_COMPARATIVES = _words(
    "more less fewer rather better worse higher lower larger smaller greater bigger older younger "
    "longer shorter faster slower stronger weaker easier harder cheaper newer wider deeper"
)
_DETERMINERS = _words("the a an my your his her its their our any some it them this that all")
_AUXILIARIES = _words(
    "will would can could might may cannot can't won't wouldn't couldn't don't doesn't didn't"
)
_CLAUSE_ENDS = _words(", . ; : ! ? ) _")
_STRICT_RULES: tuple[Rule, ...] = (
    Rule(
        "of",
        "have",
        before=_MODALS,
        unless_after=_words(
            "course necessity needs itself themselves the a an this that these those its it their "
            "his her our my any"
        )
        | _CLAUSE_ENDS,
    ),
    Rule("their", "there", after=_words("is are was were isn't aren't wasn't weren't has seems")),
    Rule("there", "their", after=_words("own")),
    Rule("they're", "their", after=_words("own")),
    Rule("you're", "your", after=_words("own")),
    Rule("your", "you're", after=_words("not gonna supposed")),
    Rule("your", "you're", after=_words("welcome"), after_next=_CLAUSE_ENDS | _words("to")),
    Rule("it's", "its", after=_words("own")),
    Rule("its", "it's", after=_words("a an the not been because")),
    Rule(
        "its",
        "it's",
        after=_words("possible impossible important likely unlikely clear easy hard true"),
        after_next=_words("to that"),
    ),
    Rule("who's", "whose", after=_words("own")),
    Rule("then", "than", before=_COMPARATIVES, unless_after=_CLAUSE_ENDS),
    Rule("than", "then", before=_words("and but since until")),
    Rule(
        "to",
        "too",
        before=_words("is are was were be been it's that's far way not"),
        after=_words("much many late early big small long short hard slow heavy expensive complex"),
        unless_after_next=_words("of to"),
    ),
    Rule("suppose", "supposed", before=_FORMS_OF_BE | _words("not"), after=_words("to")),
    Rule("use", "used", before=_FORMS_OF_BE, after=_words("to")),
    Rule("loose", "lose", before=_AUXILIARIES, after=_DETERMINERS),
    Rule("advise", "advice", before=_words("some good bad legal medical free useful any")),
    Rule("affect", "effect", before=_words("no any little side")),
    Rule(
        "effect",
        "affect",
        before=_AUXILIARIES | _words("not"),
        after=_words("the your his her its their our how other all"),
        unless_after_next=_words("change changes transition transfer removal"),
    ),
    Rule(
        "lets",
        "let's",
        before=_words("_"),
        after=_words("see say look assume start begin consider take go try make suppose"),
    ),
    Rule("accept", "except", before=_words("everyone everybody everything nothing nobody")),
    Rule("excepted", "accepted", before=_words("generally widely be commonly")),
)


def _rule(pattern: str, **conditions: str) -> Rule:
    """Return a rule of COMMON_RULE_PRECISION from "printed → proposal" and texts of words.

    The keywords are fields of ``Rule``, such as ``before``; their texts are read by ``_words``. The
    word "END" in a text stands for ``_CLAUSE_ENDS``, punctuation and the end of the sentence.
    """
    printed, proposal = pattern.split(" → ")
    sets = {
        name: _words(text.replace("END", ""))
        | (_CLAUSE_ENDS if "END" in text.split() else frozenset())
        for name, text in conditions.items()
    }
    return Rule(printed, proposal, precision=COMMON_RULE_PRECISION, **sets)


_OBJECTS = "the a an my your his her its their our it them him me us you this that these some any"
_MODAL = "to will would can could should must may might cannot can't couldn't won't wouldn't don't "
_MODAL += "didn't doesn't please let's i'll we'll you'll they'll i'd we'd"
_BARE_VERBS = (
    "be do go make get take see say know use find give tell work call try ask feel become leave "
    "put keep let begin help show hear play run move live believe bring write meet learn change "
    "understand watch follow stop create speak read spend grow walk win teach offer remember "
    "consider buy send build stay sell decide return explain develop carry receive agree support "
    "produce eat catch draw choose visit talk sleep wait drive study start travel finish improve"
)
_PLURALS = (
    "names children parents homes houses jobs families friends homework faces hands eyes husbands "
    "wives cars phones bags clothes shoes teachers customers users employees products respective"
)
_YOUR_NOUNS = (
    "name account email password mother father car job life mind phone computer opinion question "
    "questions answer house wife husband dog letter application file code program system browser "
    "book hand hands head eyes body heart team company business website project feedback comments "
    "attention patience order room bag homework"
)
_COMMON_RULES: tuple[Rule, ...] = (
    # its, their, there, they're, your, you're, whose, who's
    _rule("its → it's", after="too probably definitely raining ok okay why where"),
    _rule("its → it's", after="going", after_next="to"),
    _rule("they're → their", before="of in with from to at by into under through near behind lost"),
    _rule("there → their", before="of with to for by at lost in", after=_PLURALS),
    _rule(
        "there → they're",
        before="_ that because if think say said know hope sure since so",
        after="trying coming doing not getting making happy ready late tired sure afraid",
    ),
    _rule("their → they're", after="trying here probably definitely gonna"),
    _rule(
        "their → they're",
        before="that because if think know when say said sure hope _ but so",
        after="going",
        after_next="to",
    ),
    _rule("your → you're", after="a an the so really probably definitely trying getting"),
    _rule("your → you're", after="going", after_next="to"),
    _rule("your → you're", after="right wrong", after_next="about"),
    _rule("you're → your", after=_YOUR_NOUNS),
    _rule("whose → who's", after="the a an not been gonna there"),
    _rule("whose → who's", after="going", after_next="to"),
    _rule(
        "who's → whose",
        after="name names fault idea house car job turn side responsibility father mother son wife",
    ),
    _rule("let's → lets", before="it that which this he she also", after="you users us me people"),
    _rule(
        "lets → let's",
        before="_",
        after="get do be have talk find think move not turn check hope keep use write define call "
        "put play just examine compare add run create discuss return focus face leave wait eat "
        "meet stop now first",
    ),
    # to, too, two
    _rule(
        "too → to",
        before="want wants wanted have has had need needs needed going able try trying tried like "
        "order way used supposed decided ready happy how easy hard difficult possible impossible "
        "time",
        after=_BARE_VERBS,
    ),
    _rule("too → to", before="according due prior related similar compared listen refer belongs"),
    # then, than
    _rule("than → then", before="by back just", after="END i he she we they it you"),
    # loose, lose
    _rule(
        "loose → lose",
        before=_MODAL + " not never",
        after="weight money control interest sight "
        "hope focus track confidence faith patience consciousness touch everything you him them "
        "her it your my his our their time",
    ),
    _rule(
        "loosing → losing",
        after="weight money control interest sight hope time his her my your their our",
    ),
    _rule("lose → loose", before="a the very fairly pretty", unless_after="of"),
    # advice, advise; affect, effect; accept, except
    _rule(
        "advice → advise",
        before=_MODAL + " strongly i we they",
        after="you him her them me us "
        "against anyone everyone patients clients customers users people",
    ),
    _rule(
        "advise → advice",
        before="your my his their our of professional financial expert practical sound great an",
    ),
    _rule(
        "affect → effect",
        before="immediate adverse profound greenhouse domino desired opposite "
        "same take took takes taking ripple placebo significant lasting",
    ),
    _rule("effect → affect", before="to", after="how everyone people us me you him them others"),
    _rule(
        "effect → affect",
        before="directly adversely negatively significantly seriously greatly severely",
        after=_OBJECTS + " all people how",
    ),
    _rule(
        "effects → affects",
        before="this it that which what directly adversely negatively significantly greatly",
        after="your my his her their our everyone people how us me you him them many both",
    ),
    _rule(
        "affects → effects", before="side the sound special adverse harmful ill long-term no any"
    ),
    _rule(
        "accept → except",
        after="for",
        after_next="the a this that one his her my your me him",
        unless_before=_MODAL + " i we they you not do _",
    ),
    _rule("accept → except", before="anything anyone anywhere everywhere"),
    _rule(
        "except → accept",
        before="will would could cannot can't won't should must can to",
        after="the a an this that these your my his her our their it responsibility payments "
        "applications",
    ),
    # verbs with the wrong form
    _rule(
        "lead → led",
        before="has have had was were been be having",
        after="to by the him her them us me a into many some people",
    ),
    _rule(
        "led → lead",
        before="will would can could may might must should doesn't didn't don't does did",
        after="to the a us you them him her me into",
    ),
    _rule("chose → choose", before=_MODAL + " do did"),
    _rule("breath → breathe", before="can can't cannot could couldn't barely"),
    _rule(
        "breath → breathe",
        before="to",
        after="in out again deeply normally through fresh properly freely easily",
    ),
    _rule("breathe → breath", before="deep a bad last fresh shallow my his her your each single"),
    _rule(
        "send → sent",
        before="was were been being be had has",
        after="to by the a him her me us them out back from an it via through",
    ),
    _rule(
        "sent → send",
        before=_MODAL + " did does",
        after="the a an you me him her us them it your my his their our this that out back",
    ),
    _rule(
        "past → passed",
        before="has have had he she they we i who",
        after="the away by his her my a an out through over without from along it me us",
    ),
    _rule(
        "passed → past",
        before="walked walk went drove ran walking drive driving running rushed "
        "flew rode hurried strolled sailed slipped jogged cycled marched raced squeezed stumbled "
        "wandered sped",
    ),
    _rule(
        "passed → past",
        before="the",
        after="few year years week weeks month months decade "
        "decades century hour hours day days two three",
    ),
    # nouns
    _rule(
        "principle → principal",
        after="investigator investigators component components reason "
        "amount author cause source dancer residence",
    ),
    _rule("principle → principal", before="school vice assistant", unless_after="of"),
    _rule(
        "principal → principle",
        before="basic guiding fundamental moral uncertainty exclusion "
        "precautionary founding underlying core",
        unless_after="component components amount investigator axes axis stress stresses curvature",
    ),
    _rule("principal → principle", before="in on", after=", ; :"),
    _rule(
        "principals → principles",
        before="basic guiding fundamental moral founding underlying "
        "core design first ethical scientific",
    ),
    _rule(
        "peace → piece",
        before="a one small big last each every single large another",
        after="of",
        unless_after_next="mind",
    ),
    _rule(
        "piece → peace",
        after="treaty treaties talks prize agreement process movement negotiations accord",
    ),
    _rule("piece → peace", before="world inner lasting nobel"),
    _rule(
        "weather → whether",
        before="know knows knew wonder wondering wondered decide deciding "
        "decided ask asked asking determine unsure sure doubt regardless unclear",
        unless_after="conditions forecast forecasts reports report patterns data is was and in "
        "service station stations events changes information",
    ),
    _rule("weather → whether", after="or", after_next="not"),
    _rule(
        "whether → weather",
        before="bad cold hot warm rainy stormy nice severe wet dry sunny winter summer beautiful",
    ),
    _rule(
        "whether → weather",
        after="forecast forecasts conditions report reports station service patterns map",
    ),
    _rule(
        "were → where",
        before="place point area situation case house room city town country "
        "location region spot directory page position moment know knew exactly remember "
        "everywhere anywhere somewhere is that's",
        after="you we they he she i",
    ),
    _rule(
        "quiet → quite",
        after="often sure different well difficult similar possible likely "
        "literally possibly frankly obviously easily recently honestly expensive common useful "
        "interesting few",
    ),
    _rule(
        "quiet → quite",
        after="a an",
        unless_after_next="while moment minute little second long life place",
    ),
    _rule(
        "quite → quiet",
        before="be keep stay kept remain remained stayed very",
        after="END and while when for during until about please",
    ),
    _rule(
        "by → buy",
        before="i'll we'll you'll let's please can't cannot couldn't",
        after="a an the some it them new more any your my this something",
    ),
    _rule("by → buy", before="to", after="groceries tickets milk bread clothes food"),
    _rule(
        "buy → by",
        before="written made done caused followed used given created produced "
        "provided supported published directed signed surrounded replaced played driven owned "
        "painted built killed inspired accompanied affected required taken sent invented designed "
        "founded led caught",
    ),
    _rule("buy → by", before="_ ,", after="the", after_next="way"),
    _rule(
        "here → hear",
        before="can can't could couldn't cannot didn't",
        after="you the from that "
        "about him her them me it his your my what a anything nothing something voices music us",
    ),
    _rule("here → hear", before="to i", after="you him them your what voices music anything"),
    _rule(
        "hear → here",
        before="over right around i'm is are was were am been near live lives lived stay wait",
        after="END to for with at and in on because until before if when since",
    ),
    _rule(
        "no → know",
        before="don't didn't doesn't i you we they should would must",
        after="that how what why where who if whether about",
    ),
    _rule(
        "now → know",
        before="don't didn't doesn't wouldn't shouldn't",
        after="that how what why where who if whether about the him her them it anything",
    ),
    _rule("know → now", before="until till by right"),
    _rule(
        "new → knew",
        before="i he she they we who never always already nobody everyone everybody",
        after="that it how what him her them where why about nothing he she they exactly i you",
    ),
    _rule("knew → new", before="a the brand my our your whole its every"),
    _rule(
        "site → cite",
        before=_MODAL + " not",
        after="sources references evidence examples any studies articles papers",
    ),
    _rule("cite → site", before="web construction building camp job camping historic the this our"),
    _rule("sight → site", before="web construction building job landing"),
    _rule("site → sight", before="lost lose losing catch caught", after="of"),
    _rule("site → sight", before="plain"),
    _rule("break → brake", after="pads pad pedal pedals fluid discs shoes lever"),
    _rule("brake → break", after="down into up out through free even away apart"),
    _rule("brake → break", before="coffee lunch tea spring christmas summer commercial"),
    _rule(
        "brake → break",
        after="the his her your my a their",
        after_next="law laws rule rules ice "
        "habit news record records silence glass promise window bank spell bread heart cycle",
    ),
    _rule(
        "complementary → complimentary",
        after="breakfast drinks drink ticket tickets copy copies coffee upgrade",
    ),
    _rule(
        "complimentary → complementary",
        after="colors colours angles strand strands skills approach approaches roles to",
    ),
    _rule(
        "complement → compliment",
        before="nice kind great backhanded huge lovely",
        unless_after="to of",
    ),
    _rule("stationary → stationery", after="shop store cupboard supplies"),
    _rule("stationary → stationery", before="office personalised wedding"),
    _rule(
        "stationery → stationary",
        before="remained remain remains completely perfectly almost nearly stayed",
    ),
    _rule("formally → formerly", after="known", after_next="as"),
    _rule("formally → formerly", before="was is been who", after="a an the"),
    _rule("counsel → council", before="city town county student parish district borough village"),
    _rule("council → counsel", before="legal defense wise"),
    _rule(
        "mourning → morning",
        before="this good tomorrow every next yesterday sunday monday "
        "tuesday wednesday thursday friday saturday early",
    ),
    _rule("morning → mourning", before="in", after="for over"),
    _rule(
        "personal → personnel",
        before="military medical police security trained army hospital "
        "maintenance qualified technical",
        after="END were are who in and have to is from on at",
    ),
    _rule(
        "personnel → personal",
        after="opinion opinions life reasons experience experiences "
        "computer property belongings best responsibility growth hygiene space preference "
        "preferences trainer assistant question questions relationship relationships",
    ),
    _rule("desert → dessert", before="for", after="END and we i there she he was"),
    _rule("desert → dessert", before="chocolate favourite favorite delicious frozen"),
    _rule("dessert → desert", before="sahara gobi mojave arabian"),
    _rule("dessert → desert", after="island sand climate"),
    _rule(
        "diary → dairy", after="products farm farms cows cow farmer farmers farming cattle industry"
    ),
    _rule("dairy → diary", after="entry entries"),
    _rule(
        "through → threw", before="he she i", after="the it him her a his me up out away them my"
    ),
    _rule(
        "threw → through",
        before="went go going came come goes walked walk way passed pass run "
        "flows drove looked looking halfway",
    ),
    _rule("thought → though", before="as", after="he she it they i we nothing"),
    _rule(
        "though → thought",
        before="i he she they we never always",
        after="that it about of you we he she they",
    ),
    _rule(
        "form → from",
        before="away far apart came comes prevent suffer suffering suffers ranging "
        "ranges derived received obtained taken removed escaped differs",
        after="the a an this that his her my our their your its one other all each home",
    ),
    _rule(
        "sea → see",
        before="can can't could couldn't will i i'll let's didn't you'll we'll",
        after=_OBJECTS + " what how if why where",
    ),
    _rule("sea → see", before="to", after="you him them what how if why where me us"),
    _rule(
        "weak → week",
        before="last next per",
        after="END and i we he she they for to in at on with the when because after before",
    ),
    _rule(
        "week → weak",
        before="very too feel feels felt feeling extremely relatively quite rather",
        unless_after="0",
    ),
    _rule("wait → weight", before="lose lost losing gain gained gaining body birth molecular"),
    _rule(
        "weight → wait",
        before="can't cannot couldn't please i'll we'll let's don't you'll",
        after="for until to here a and in till outside there",
    ),
    _rule("meet → meat", before="red raw lean eat eating eats ate cooked processed minced"),
    _rule("meat → meet", before=_MODAL, after=_OBJECTS + " with up at again someone people"),
    _rule(
        "hole → whole",
        before="the a my his our your their",
        after="day time world thing family "
        "week night life lot story year country book team house school city process class system "
        "month project range population",
    ),
    _rule(
        "write → right",
        before="that's you're he's she's they're absolutely",
        unless_after="only access protected",
    ),
    _rule(
        "right → write",
        before=_MODAL,
        after="a an",
        after_next="letter book story report song "
        "poem program paper novel essay note function script test review message paragraph "
        "sentence summary article email application",
    ),
    _rule("right → write", before=_MODAL, after="down about code letters me him poetry"),
    _rule(
        "roll → role",
        before="leading important major crucial vital central significant "
        "active pivotal supporting essential main minor dominant leadership gender primary "
        "critical fundamental starring instrumental",
    ),
    _rule("roll → role", after="model models playing"),
    _rule(
        "moral → morale",
        before="low high team staff employee boost boosted",
        after=". ; ! _ is was of has among in",
    ),
    _rule(
        "morale → moral",
        after="support values compass obligation dilemma victory standards "
        "issues principles duty authority",
    ),
    _rule("conscious → conscience", before="guilty clear bad"),
    _rule(
        "conscience → conscious",
        before="became become am is was were fully very more not still",
        after="of that",
    ),
    _rule("access → excess", before="in", after="of"),
    _rule(
        "excess → access",
        before="have gain has had easy internet give get got gives direct remote full unauthorized",
        after="to",
    ),
    _rule("adopt → adapt", before="to", after="to"),
    _rule(
        "device → devise",
        before=_MODAL,
        after="a an",
        after_next="plan scheme way method strategy system new means test solution",
    ),
    _rule("devise → device", before="a the this mobile electronic each medical your storage any"),
    _rule(
        "devises → devices", before="mobile electronic medical these those many storage other all"
    ),
    _rule("peak → peek", before="sneak"),
    _rule("peek → peak", after="hours season times performance demand traffic"),
    _rule("vein → vain", before="in", after=". ; : ! ? _"),
    _rule("vain → vein", before="similar same blood jugular portal"),
    _rule("phase → faze", before="didn't doesn't not don't never", after="him her me them us you"),
    _rule("faze → phase", before="first next this final early test the a initial each"),
    _rule("bare → bear", after="with", after_next="me us"),
    _rule("bare → bear", after="in", after_next="mind"),
    _rule("bare → bear", before="can't cannot couldn't polar teddy grizzly"),
    _rule("bear → bare", after="minimum bones necessities essentials"),
    _rule("bear → bare", before="with his her my their your", after="hands feet"),
    _rule("fair → fare", before="bus taxi cab subway"),
    _rule(
        "fare → fair",
        before="not isn't it's very be seems perfectly hardly",
        after="END and that to enough for but because",
    ),
    _rule("flour → flower", after="pots pot beds bed garden arrangement shop petals bouquet"),
    _rule("flower → flour", before="plain wheat corn rice all-purpose"),
    _rule("stake → steak", before="grilled beef sirloin salmon juicy"),
    _rule("steak → stake", before="at", after="END here in is are for when"),
    _rule("tail → tale", before="fairy cautionary"),
    _rule("tails → tales", before="fairy cautionary"),
    _rule("wander → wonder", after="if why whether how what"),
    _rule("wandering → wondering", after="if why whether how what"),
    _rule("wonder → wander", after="around aimlessly off"),
    _rule("wondering → wandering", after="around aimlessly off"),
    _rule(
        "board → bored",
        before="so very i'm you're he's she's getting really extremely easily felt feeling",
        after="END with of and to by at because in",
    ),
    _rule(
        "bored → board",
        before="cutting ironing notice bulletin advisory executive circuit school chess",
    ),
    _rule("bored → board", after="game games meeting meetings member members"),
    _rule("pear → pair", before="a new this the every each another my", after="of"),
    _rule(
        "aloud → allowed",
        before="not are is be was were isn't aren't been being am i'm you're we're they're",
        after="to into inside",
    ),
    _rule("allowed → aloud", before="read reading think thinking laughed wondered cried"),
    _rule("coarse → course", before="of", after="END i he we you they not it she the"),
    _rule("coarse → course", before="golf crash training online language university"),
    _rule(
        "course → coarse",
        after="sand salt gravel hair texture fabric cloth",
        unless_before="of golf",
    ),
    _rule("scene → seen", before="have had i've we've they've you've been never ever"),
    _rule("presents → presence", before="the", after="of"),
    _rule(
        "residence → residents",
        before="local elderly many most all",
        after="of are were who have in",
    ),
    _rule("assistants → assistance", before="financial further immediate humanitarian mutual"),
    _rule("borne → born", before="was were is are been", after="in", after_next="0"),
    _rule("born → borne", after="out", after_next="by"),
    _rule(
        "alter → altar",
        before="the high stone",
        after="of in and was at . ,",
        unless_after="ego egos",
    ),
    _rule("altar → alter", before=_MODAL + " not", after=_OBJECTS),
    _rule("angle → angel", before="guardian"),
    _rule("angel → angle", before="acute obtuse wide camera viewing contact"),
    _rule("cereal → serial", after="number numbers killer killers port ports interface console"),
    _rule("serial → cereal", before="breakfast"),
    _rule(
        "soul → sole",
        after="purpose reason proprietor survivor responsibility owner heir discretion custody",
    ),
    _rule("root → route", before="bus shortest fastest escape alternate scenic en"),
    _rule("route → root", after="cause causes canal vegetables"),
    _rule("route → root", before="square cube"),
    _rule(
        "steel → steal",
        before=_MODAL,
        after="money cars it things data information passwords something anything food",
    ),
    _rule("steal → steel", before="stainless carbon mild structural"),
    _rule("steal → steel", after="beams plates pipes mill industry wire bars cable rods"),
    _rule("tow → toe", after="the", after_next="line"),
    _rule("toe → tow", after="truck trucks"),
    _rule("waive → wave", after="goodbye hello"),
    _rule(
        "wave → waive",
        after="the any all your his their",
        after_next="fee fees rights right requirement charges",
    ),
    _rule("reign → rein", before="free", unless_after="of"),
    _rule("mute → moot", after="point points"),
    _rule("baited → bated", after="breath"),
    _rule(
        "one → won", before="he she they", after="the a first gold silver his her second an several"
    ),
    _rule(
        "of → off",
        before="turned switched logged dozed nodded jumped dropped shut went fell drove kicked",
        after="the my your his her it to and at a on in when their",
    ),
    _rule(
        "off → of",
        before="lot lots number instead because couple cup spite plenty type none "
        "majority middle hundreds thousands capable afraid aware proud member amount kind sort "
        "rest",
        after="the a my your his her their our them it us this that these those people "
        "its all being an",
    ),
    _rule("quit → quite", after="a", after_next="few lot bit"),
    _rule("quit → quite", after="often sure different well difficult similar possible likely good"),
    _rule("apart → a part", before="is was be are as being become been feel", after="of"),
    _rule(
        "everyday → every day", after=". ! ? ; _", unless_before="the our my an of in your their"
    ),
    _rule("anyway → any way", before="in", after="END to that possible related connected"),
    _rule("seams → seems", before="it that this he she", after="like to that"),
    _rule("seam → seem", after="like to", before="doesn't don't didn't may might would not"),
    _rule("fourth → forth", before="and", after=". ; between across"),
    _rule(
        "forth → fourth",
        before="the his her its",
        after="quarter grade floor time place day year century amendment",
    ),
    _rule("censor → sensor", before="motion temperature light pressure proximity"),
    _rule("elicit → illicit", after="drugs drug affair trade activities substances"),
    _rule("illicit → elicit", before=_MODAL, after=_OBJECTS + " response responses"),
    _rule("eminent → imminent", after="danger threat attack collapse"),
    _rule("incite → insight", before="an valuable deep great provide provides gain"),
    _rule("insight → incite", before=_MODAL, after="violence hatred riots fear"),
    _rule("lightening → lightning", after="bolt bolts strike strikes rod rods storm storms struck"),
    _rule("metal → medal", before="gold silver bronze", after="in at for winner winners"),
    _rule("navel → naval", after="base officer officers forces battle academy fleet"),
    _rule("peddle → pedal", before="gas brake bike bicycle accelerator"),
    _rule(
        "perspective → prospective",
        after="buyers buyer students employers employer customers clients",
    ),
    _rule("prospective → perspective", before="historical broader fresh my"),
    _rule("resent → recent", after="years months study studies research times events weeks"),
    _rule("respectfully → respectively", before=",", after=". ; _"),
    _rule(
        "respectively → respectfully", before="i must", after="disagree request submit ask decline"
    ),
    _rule("statue → statute", after="of", after_next="limitations"),
    _rule("statute → statue", after="of", after_next="liberty"),
    _rule(
        "through → thorough",
        before="a very more",
        after="investigation examination review analysis understanding cleaning search study "
        "inspection knowledge",
    ),
    _rule(
        "thorough → through", before="went go going walked passed came get", after="the a it his my"
    ),
    _rule("waist → waste", after="of", after_next="time money space energy resources"),
    _rule("waste → waist", before="slim tiny narrow"),
    _rule("yoke → yolk", before="egg"),
    _rule("currant → current", before="the a our", after="state version price situation"),
    _rule("dyeing → dying", before="was is are were of she he", after="of from in for"),
    _rule("fowl → foul", after="play language mouth weather smell"),
    _rule("gorilla → guerrilla", after="warfare war marketing tactics fighters"),
    _rule("knight → night", before="last every all tomorrow friday saturday"),
    _rule("loan → lone", after="wolf survivor ranger gunman"),
    _rule(
        "maid → made",
        before="was were is been has have had he she they i",
        after="of by in to from a the",
    ),
    _rule("mane → main", after="reason point problem goal idea thing road street"),
    _rule("plane → plain", after="english text language sight"),
    _rule("plain → plane", after="ticket tickets crash crashes"),
    _rule("pray → prey", before="fall falls fell easy"),
    _rule("prey → pray", before=_MODAL, after="for to that"),
    _rule("rode → road", before="main dirt gravel country"),
    _rule("son → sun", before="hot rising setting midday"),
    _rule("sun → son", before="eldest youngest oldest"),
    _rule("sail → sale", before="garage yard"),
    _rule("sail → sale", before="for", after=". , ! ? _"),
    _rule(
        "throne → thrown",
        before="was were been be being is are",
        after="into out away at in by off",
    ),
    _rule(
        "were → wear",
        before=_MODAL,
        after="a the my your his her glasses clothes shoes helmets masks",
    ),
    _rule("wood → would", before="i he she they we you it that", after="be have like not never"),
    _rule(
        "witch → which",
        before=", of in for from to on with",
        after="is was are were the i we he she they can will has have",
    ),
    _rule("soar → sore", after="throat throats loser muscles"),
    _rule("peaked → piqued", after="my his her their your our", after_next="interest curiosity"),
    _rule("trail → trial", before="fair murder clinical jury criminal free"),
    _rule("trial → trail", before="hiking nature bike appalachian walking"),
    _rule("bought → brought", before="was were been has have had it", after="about"),
    _rule("diffuse → defuse", after="the a", after_next="bomb situation tension"),
    _rule(
        "discreet → discrete",
        after="mathematics values variable variables event events fourier cosine components",
    ),
    _rule("pole → poll", before="opinion exit gallup"),
    _rule("poll → pole", before="north south flag telephone fishing tent"),
    _rule("were → we're", before="_ because", after="going", after_next="to"),
    _rule("well → we'll", before="_ hope think", after="be see have need take meet discuss"),
    _rule("ill → i'll", before="_ and but so", after="be see have go get take call let try"),
    _rule("wont → won't", before="i he she it they we you this that", after=_BARE_VERBS + " have"),
    _rule("cant → can't", before="i he she it they we you this that", after=_BARE_VERBS + " have"),
)
RULES: tuple[Rule, ...] = _STRICT_RULES + _COMMON_RULES
