"""Pairs of entities in analysed sentences, as arrays, and named features extracted from them.

``analyze_pairs`` turns candidates into a ``PairBatch`` of ``EntityPair`` objects. ``PairArrays``
holds the pairs of a batch as flat arrays, so that a feature block computes all pairs at once:

* *tokens* are numbered over all sentences of the batch; arrays named ``token_*`` have one entry
  per token;
* *pair tokens* are all combinations of a pair and a token of its sentence, pair by pair. Pair
  token of token t in pair p is ``t + offset[p]``. Arrays such as ``words``, ``side`` and
  ``is_entity`` have one entry per pair token.

Words, tags and labels are integers of one ``Lexicon`` per batch. Entities are *blinded*: their
tokens are replaced by the placeholders PROT1 (first of the pair), PROT2 (second) and PROT (any
other), so that features do not depend on names. A ``FeatureExtractor`` adds rows of integers, the
parts of feature names, to a ``FeatureCounter``, which counts equal ones and makes columns of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from textrank._ragged import concat, expand, factorize, first_true, lengths, offsets, run_starts
from textrank.candidates import Candidate
from textrank.features import FeatureNames, Features, Indices, JointFeatures, RawCSR, Vector
from textrank.progress import track
from textrank.tasks.ppi.sentences import Parse, Sentence, analyze_sentences, stem

DROPPED_DEPENDENCIES = ("punct",)
FIRST_ENTITY, SECOND_ENTITY, OTHER_ENTITY = "PROT1", "PROT2", "PROT"  # words for blinded entities
SIDES = ("before", "middle", "after")
MAX_SHORT_MIDDLE = 4  # tokens between the entities up to which they are kept word for word
Name: TypeAlias = tuple[str, ...]
Bag: TypeAlias = Mapping[Name, float]
T = TypeVar("T")
# By number of parts: (number of view and name, rows, parts) of each call to FeatureCounter.add.
_ColumnGroups: TypeAlias = dict[int, list[tuple[int, Indices, Indices]]]


@dataclass
class Lexicon:
    """Mapping from words to consecutive integers, in order of first occurrence.

    ``numbers`` maps a word to its number. Calling the lexicon with a word returns its number and
    adds the word if it is new. ``cache`` holds the results of ``lookup`` by function.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    cache: dict[Callable[[str], Any], NDArray[Any]] = field(default_factory=dict)

    def __call__(self, word: str) -> int:
        """Return the number of a word; a new word gets the next free number."""
        return self.numbers.setdefault(word, len(self.numbers))

    def encode(self, words: Iterable[str]) -> Indices:
        """Return the numbers of words, in order, shape (words,).

        New words get the next free numbers.
        """
        numbers = self.numbers
        return np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.intp)

    def words(self) -> list[str]:
        """Return all words, indexed by number, as a new list."""
        return list(self.numbers)

    def lookup(
        self, value: Callable[[str], Any], words: Indices, dtype: Any = bool
    ) -> NDArray[Any]:
        """Return ``value(word)`` for each word number, computed once per word of the lexicon.

        Parameters
        ----------
        value
            Function of a word. It is called for all words of the lexicon, and results are cached by
            the identity of the function, so it must be cheap and always the same object.
        words
            Word numbers of any shape.
        dtype
            NumPy dtype of the result, bool by default; always the same for one ``value``.

        Returns
        -------
        Array of the shape of ``words``; an empty one if the lexicon has no words.
        """
        cached = self.cache.get(value)
        n_cached = 0 if cached is None else len(cached)
        if n_cached < len(self.numbers):
            new_values = [value(word) for word in islice(self.numbers, n_cached, None)]
            new_array = np.array(new_values, dtype=dtype)
            cached = self.cache[value] = (
                new_array if cached is None else np.concatenate([cached, new_array])
            )
        return np.empty(0, dtype=dtype) if cached is None else cached[words]

    def lookup_rows(
        self, value: Callable[[str], tuple[bool, ...]], width: int, words: Indices
    ) -> NDArray[np.bool_]:  # (words, width)
        """Return ``value(word)`` for each word number, shape (words, width), bool.

        For functions that return a tuple of ``width`` booleans per word. ``words`` is
        one-dimensional and may be empty. ``value`` is called once for each distinct word of
        ``words``; unlike those of ``lookup``, results are not cached.
        """
        distinct, inverse = factorize(words)
        vocabulary = self.words()
        rows = [value(vocabulary[number]) for number in distinct.tolist()]
        return np.array(rows, dtype=bool).reshape(-1, width)[inverse]

    def isin(self, members: frozenset[str], words: Indices) -> NDArray[np.bool_]:
        """Return which word numbers are those of a word in ``members``, in the shape of ``words``.

        ``members`` must be a module-level constant: results are cached by its identity as long as
        the lexicon exists.
        """
        return self.lookup(members.__contains__, words)


@dataclass
class FeatureCounter:
    """Collector of named features, which become the columns of a matrix of counts.

    A feature's name is (view, name, *parts), where parts are word numbers of ``lexicon``; a view is
    a group of features that can be taken out as a matrix of its own. Rows 0 to n - 1 are the n
    pairs; ``new_rows`` appends *shared rows*, whose features belong to several pairs. Set ``view``
    before adding the features of another view.
    """

    lexicon: Lexicon
    n_rows: int  # pairs, and shared rows below them
    view: str = ""  # of the features that are added next
    prefixes: dict[tuple[str, str], int] = field(default_factory=dict)  # (view, name) -> number
    groups: _ColumnGroups = field(default_factory=dict)
    shared: dict[str, Indices] = field(
        default_factory=dict
    )  # by view, the shared rows of each pair

    def new_rows(self, count: int) -> Indices:
        """Append ``count`` empty rows, to be shared by several pairs, and return their indices.

        The caller adds features to them, and sets ``shared`` to say which pair has which row.
        """
        self.n_rows += count
        return np.arange(self.n_rows - count, self.n_rows)

    def add(self, name: str, rows: Indices, *parts: Indices | int) -> None:
        """Add one occurrence of the feature ``(name, *parts)`` to each of ``rows``.

        ``rows`` are row indices. Each part is an array of word numbers, one per row, or one number
        for all rows; there may be no parts. A row that occurs several times is counted each time.
        ``rows`` is kept without a copy: do not change it afterwards.
        """
        columns = np.empty((len(rows), len(parts)), dtype=np.intp)
        for column, part in enumerate(parts):
            columns[:, column] = part
        self._append(name, rows, columns)

    def add_padded(self, name: str, rows: Indices, parts: Indices) -> None:
        """Add the feature ``(name, *parts[i])`` of the current view to row ``rows[i]``.

        ``parts`` (rows, longest name) are word numbers; shorter names are padded with -1 at the
        end. A row of only -1 adds the feature ``(name,)``.
        """
        sizes = (parts >= 0).sum(axis=1)
        for size in np.bincount(sizes).nonzero()[0].tolist():
            index = (sizes == size).nonzero()[0]
            self._append(name, rows[index], parts[index, :size])

    def _append(self, name: str, rows: Indices, parts: Indices) -> None:
        """Store occurrences of a feature of the current view, grouped by the number of their parts.

        Row ``rows[i]`` has the parts ``parts[i]``; ``parts`` (rows, parts) has no padding. Neither
        array is copied.
        """
        prefix = self.prefixes.setdefault((self.view, name), len(self.prefixes))
        self.groups.setdefault(parts.shape[1], []).append((prefix, rows, parts))

    def features(self, *, binary: bool = False) -> Features:
        """Return the features of the current view, (rows, names): counts, or 0/1 if ``binary``.

        Shared rows are included. Raises ValueError if features were added under another view, too.
        """
        return self.joint_features(self.n_rows, {self.view: binary}).view(self.view)

    def joint_features(self, pairs: int, binary: Mapping[str, bool]) -> JointFeatures:
        """Return the features of several views in one matrix, (rows, names), shared rows included.

        Columns of all views are mixed, sorted by the number of parts of the feature name, then by
        first occurrence; the result knows the view of each. So the order of a view's columns does
        not depend on other views.

        Parameters
        ----------
        pairs
            Number of rows that are pairs; the others are shared rows.
        binary
            For each view, whether its features are 0/1 instead of counts. The keys are the views of
            the result, in order; raises ValueError if features were added to another view.
        """
        groups = dict(sorted(self.groups.items()))
        additions = [addition for group in groups.values() for addition in group]
        parts_by_size = [
            _concatenate([parts for _, _, parts in group]) for group in groups.values()
        ]
        prefix = np.array([prefix_number for prefix_number, _, _ in additions], dtype=np.intp)
        prefix = prefix.repeat([len(rows) for _, rows, _ in additions])
        first_seen, column = _factorize_in_order(self._codes(parts_by_size, prefix))
        rows = _concatenate([rows for _, rows, _ in additions])
        occupied, counts = np.unique(rows * max(1, len(first_seen)) + column, return_counts=True)
        row, indices = np.divmod(occupied, max(1, len(first_seen)))
        views = list(binary)
        view_of_prefix = np.array([views.index(view) for view, _ in self.prefixes], dtype=np.intp)
        view_of_column = view_of_prefix[prefix[first_seen]]
        data = counts.astype(np.float64)
        data[np.array([*binary.values()])[view_of_column[indices]]] = 1.0
        ends = offsets(np.bincount(row, minlength=self.n_rows))
        index_arrays = indices.astype(np.int32), ends.astype(np.int32)
        names = self._names(parts_by_size, prefix[first_seen], first_seen)
        features = Features(RawCSR(data, *index_arrays, (self.n_rows, len(first_seen))), names)
        return JointFeatures(features, views, view_of_column, pairs, self.shared)

    def _codes(self, parts_by_size: Sequence[Indices], prefix: Indices) -> Indices:
        """Return one integer per occurrence, equal for equal names of the same view.

        ``parts_by_size`` has one table (occurrences, parts) per number of parts, ascending;
        ``prefix`` is the number of (view, name) of each occurrence, in the order of the tables. The
        bits of the result are, from the highest: code of the parts, index of the table, prefix.
        """
        prefix_bits, size_bits = len(self.prefixes).bit_length(), len(parts_by_size).bit_length()
        row_bits = 63 - prefix_bits - size_bits
        codes = [
            (self._encode_rows(parts, row_bits) << size_bits) | number
            for number, parts in enumerate(parts_by_size)
        ]
        return (_concatenate(codes) << prefix_bits) | prefix

    def _encode_rows(self, parts: Indices, max_bits: int) -> Indices:
        """Return an integer of at most ``max_bits`` bits for each row, equal only for equal rows.

        ``parts`` (rows, parts) are word numbers. Codes are comparable only within one call.
        ``max_bits`` must suffice for a row index and a word number together; this is not checked.
        """
        bits = max(1, len(self.lexicon.numbers)).bit_length()
        if bits * parts.shape[1] <= max_bits:
            return parts @ (1 << np.arange(0, bits * parts.shape[1], bits))
        codes = np.zeros(len(parts), dtype=np.int64)
        used_bits = 0
        for column in parts.T:
            if used_bits + bits > max_bits:  # renumber the prefixes so far, which takes fewer bits
                codes = factorize(codes)[1].astype(np.int64)
                used_bits = len(codes).bit_length()
            codes = (codes << bits) | column
            used_bits += bits
        return codes

    def _names(
        self, parts_by_size: Sequence[Indices], prefix: Indices, first_seen: Indices
    ) -> FeatureNames:
        """Return the name of each column.

        ``parts_by_size`` has one table (occurrences, parts) per number of parts, ascending.
        ``prefix`` (columns,) is the number of the column's (view, name); ``first_seen`` (columns,),
        ascending, is the index of its first occurrence, counted over all tables.
        """
        widest = parts_by_size[-1].shape[1] if parts_by_size else 0
        table = np.full((len(first_seen), 2 + widest), -1, dtype=np.int32)
        if self.prefixes:
            prefix_words = self.lexicon.encode(chain.from_iterable(self.prefixes)).reshape(-1, 2)
            table[:, :2] = prefix_words[prefix]
        block_start = low = 0
        for parts in parts_by_size:
            high = int(first_seen.searchsorted(block_start + len(parts)))
            table[low:high, 2 : 2 + parts.shape[1]] = parts[first_seen[low:high] - block_start]
            block_start, low = block_start + len(parts), high
        return self._compact(table)

    def _compact(self, table: NDArray[np.int32]) -> FeatureNames:
        """Return FeatureNames that have only the words of ``table`` in their vocabulary.

        ``table`` (names, parts) has one row of word numbers per name; -1 ends a name.
        """
        new_number = np.zeros(len(self.lexicon.numbers) + 1, dtype=np.int32)
        new_number[table.ravel()] = 1
        new_number[-1] = 0
        words = self.lexicon.words()
        used = new_number.nonzero()[0].tolist()
        new_number = np.cumsum(new_number, dtype=np.int32) - 1
        new_number[-1] = -1
        return FeatureNames(tuple(words[i] for i in used), new_number[table])


def _factorize_in_order(codes: Indices) -> tuple[Indices, Indices]:
    """Number distinct codes by first occurrence, and return where each first occurs.

    Returns (positions of first occurrences, ascending; number of every code, (codes,), from 0).
    Sorting by code instead would let columns depend on what else was looked up in the lexicon.
    """
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    new = np.ones(len(codes), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    first_places = order[new]
    is_first = np.zeros(len(codes), dtype=np.intp)
    is_first[first_places] = 1
    rank = is_first.cumsum() - 1
    number = np.empty(len(codes), dtype=np.intp)
    number[order] = rank[first_places][new.cumsum() - 1]
    return is_first.nonzero()[0], number


def _concatenate(blocks: Sequence[Indices]) -> Indices:
    """Concatenate arrays along the first axis; an empty sequence gives an empty 1-D index array."""
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class PairSentence:
    """Sentence with word forms that are the same for all its pairs of entities.

    All pairs of a sentence share one object. Lists have one entry per token; do not change them.
    """

    sentence: Sentence

    @property
    def texts(self) -> list[str]:
        """Return the tokens as written."""
        return self.sentence.texts

    @cached_property
    def stems(self) -> list[str]:
        """Return the stem of every token, also of those in entities."""
        return [stem(text) for text in self.texts]

    @cached_property
    def words(self) -> list[str]:
        """Return the stem of every token, but ``PROT`` for each token of any entity."""
        words = list(self.stems)
        for token in self.sentence.entities:
            words[token] = OTHER_ENTITY
        return words

    @property
    def tags(self) -> list[str]:
        """Return the Penn tag of every token, or its coarse part of speech if it has no tag."""
        return self.sentence.tags

    @property
    def mentions(self) -> list[list[int]]:
        """Return the tokens of each entity of the sentence, in text order.

        Tokens count from the start of the sentence. Entities may share tokens.
        """
        return self.sentence.mentions


@dataclass(frozen=True, eq=False)
class EntityPair:
    """Two entities of a sentence, given by their tokens.

    ``first`` is the entity that comes first in the text, by first and then by last token. Both
    lists are sorted, not empty, and count from the start of ``context.sentence``. They may share
    tokens.
    """

    context: PairSentence
    first: list[int]  # tokens of the first entity, counted from the start of the sentence
    second: list[int]


class PairRepresentation(Protocol):
    """Representation that can start from pairs that are already analysed.

    Results are cached by the object (``PairBatch.features_of``), so equal objects must give equal
    features.
    """

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """Return the features of pairs, one row each, in order."""


class FeatureExtractor(Protocol):
    """Extractor that adds named features of pairs to a counter.

    Equal objects must add the same features, since results are cached by the object.
    """

    binary: ClassVar[bool]  # features are 0/1, not counts

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the features of all pairs to ``counter``, in place, under its current view.

        Row i of the counter is ``arrays.pairs[i]``. Features that several pairs share may be added
        to rows from ``counter.new_rows``.
        """


class FeatureBlock(PairRepresentation, FeatureExtractor, Protocol):
    """Feature extractor that can also be used as a representation on its own."""


@dataclass(frozen=True, eq=False)
class PairBatch(Sequence[EntityPair]):
    """Pairs with their sentences and candidates; a sequence of ``EntityPair``.

    ``pairs`` are in the order of ``candidates``; ``sentences`` has each sentence once. Features are
    computed once and cached: ``feature_cache`` has the features of a block by itself,
    ``joint_cache`` the joint features that contain a block, with the name of its view in them.
    """

    pairs: list[EntityPair]
    sentences: list[Sentence]
    candidates: Sequence[Candidate]
    feature_cache: dict[PairRepresentation, Features] = field(default_factory=dict)
    joint_cache: dict[PairRepresentation | FeatureExtractor, tuple[JointFeatures, str]] = field(
        default_factory=dict
    )

    @overload
    def __getitem__(self, index: int) -> EntityPair: ...
    @overload
    def __getitem__(self, index: slice) -> list[EntityPair]: ...
    def __getitem__(self, index: int | slice) -> EntityPair | list[EntityPair]:
        """Return the pair at an index, or a plain list of pairs for a slice."""
        return self.pairs[index]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.pairs)

    def features_of(self, block: PairRepresentation) -> Features:
        """Return the features of a block, (pairs, features), cached after the first call.

        The block must be hashable; equal blocks share the result. If the block was part of an
        earlier ``extract_jointly``, its features are taken from there.
        """
        if block not in self.feature_cache:
            joint, name = self.joint_cache.get(block, (None, ""))
            self.feature_cache[block] = joint.view(name) if joint else block.represent(self)
        return self.feature_cache[block]

    def extract_jointly(self, blocks: Mapping[str, FeatureExtractor]) -> JointFeatures:
        """Extract the features of several blocks together, which is faster than one by one.

        ``blocks`` maps view names to extractors. Features are extracted again even if there is an
        earlier result; the new one replaces it for ``features_of`` and ``joint_features``.
        """
        counter = FeatureCounter(self.arrays.lexicon, len(self))
        for counter.view, block in blocks.items():
            block.extract(self.arrays, counter)
        joint = counter.joint_features(
            len(self), {name: extractor.binary for name, extractor in blocks.items()}
        )
        self.joint_cache.update({block: (joint, name) for name, block in blocks.items()})
        return joint

    def joint_features(self, blocks: Mapping[str, FeatureExtractor]) -> JointFeatures:
        """Return joint features that contain all ``blocks``, which are extractors by view name.

        An earlier result that has them under the same names is reused; it may have other views as
        well. Otherwise they are extracted and cached.
        """
        for joint, _ in self.joint_cache.values():
            if all(self.joint_cache.get(block) == (joint, name) for name, block in blocks.items()):
                return joint
        return self.extract_jointly(blocks)

    @cached_property
    def arrays(self) -> PairArrays:
        """Return the pairs as arrays, computed at first access."""
        return PairArrays.from_pairs(self.pairs)


def pair_arrays(pairs: Sequence[EntityPair]) -> PairArrays:
    """Return the pairs as arrays.

    Those of a PairBatch are computed once; those of another sequence at each call.
    """
    return pairs.arrays if isinstance(pairs, PairBatch) else PairArrays.from_pairs(pairs)


def extract_features(block: FeatureBlock, pairs: Sequence[EntityPair]) -> Features:
    """Return the features of one block alone, (pairs, features).

    Values are 0/1 if ``block.binary``, else counts. Rows are in the order of ``pairs``, followed by
    shared rows if the block adds any to the counter. Only the arrays of a PairBatch are cached.
    """
    arrays = pair_arrays(pairs)
    counter = FeatureCounter(arrays.lexicon, len(pairs))
    block.extract(arrays, counter)
    return counter.features(binary=block.binary)


def analyze_pairs(candidates: Sequence[Candidate], parse: Parse) -> PairBatch:
    """Analyse the sentences of candidates and return each candidate as a pair of entities.

    Pairs are in the order of ``candidates``; the entities of each pair are in text order. Pairs of
    one sentence share its analysis, from which dependencies of punctuation are dropped. ``parse``
    chooses the dependencies: "given" (with the corpus), "spacy" (spaCy's), "auto" (given, else
    spaCy's), "collapsed" (like auto, but with prepositions and coordinations of spaCy's collapsed)
    or "own" (like collapsed, but spaCy's are preferred to given ones, and lost subjects are
    repaired). Raises ValueError if a candidate does not have exactly two spans or its Doc lacks the
    parse.
    """
    pair_sentences = list(
        analyze_sentences(validate_pairs(candidates), parse, DROPPED_DEPENDENCIES)
    )
    return PairBatch(_build_pairs(pair_sentences, candidates), pair_sentences, candidates)


def validate_pairs(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return the candidates unchanged; raise ValueError if one does not have exactly two spans."""
    for index, candidate in enumerate(candidates):
        if len(candidate.spans) != 2:
            raise ValueError(
                f"candidate {index} of document {candidate.document!r} has "
                f"{len(candidate.spans)} spans, but a pair has two. Use a task that makes pairs of "
                "entities, such as ppi.v1."
            )
    return candidates


def _build_pairs(
    sentences: Iterable[Sentence], candidates: Sequence[Candidate]
) -> list[EntityPair]:
    """Return each candidate as a pair in its sentence, in the order of candidates.

    Every candidate must have two spans and belong to one of the sentences, else KeyError is raised.
    The entities of a pair are in text order. Shows progress on a terminal.
    """
    pairs: dict[int, EntityPair] = {}
    for sentence in track(sentences, "sentences"):
        context = PairSentence(sentence)
        for index in sentence.candidate_indices.tolist():
            first, second = sentence.span_tokens(candidates[index])
            pairs[index] = EntityPair(context, first, second)
    return [pairs[index] for index in range(len(candidates))]


@dataclass(frozen=True, eq=False)
class DependencySteps:
    """Steps along dependencies in both directions, sorted by source token and then by target.

    A step is a dependency together with a direction, up to the governor or down to the dependent,
    so each dependency gives two. The steps from token t have the indices ``starts[t]`` to
    ``starts[t + 1]`` - 1. Tokens are numbered over the batch.
    """

    starts: Indices  # (tokens + 1,)
    target: Indices  # (steps,)
    type: Indices  # (steps,) word numbers of dependency types
    is_down: NDArray[np.bool_]  # (steps,) from governor to dependent

    def from_tokens(self, tokens: Indices) -> tuple[Indices, Indices]:
        """Return all steps from some tokens as two arrays (position in ``tokens``, step index).

        Sorted by position, then by step. A token without dependencies does not occur; a repeated
        token has its steps at each of its positions.
        """
        start = self.starts[tokens]
        return expand(start, self.starts[tokens + 1] - start)


@dataclass(frozen=True, eq=False)
class EntityDistances:
    """Path lengths from tokens of entities to all tokens of their sentences; inf without a path.

    Stored as one row per source token: the length from source s to token t of the same sentence is
    ``values[row_offset[row_of_token[s]] + t]``.
    """

    row_of_token: Indices  # (tokens,) -1 for tokens outside entities
    row_offset: Indices  # (rows,) position of token 0 of the batch in `values`
    values: Vector

    def between(self, sources: Indices, targets: Indices) -> Vector:
        """Return path lengths from ``sources`` to ``targets``, elementwise; inf without a path.

        ``sources`` must be tokens of entities, ``targets`` tokens of the same sentences, both of
        the same shape and numbered over the batch. This is not checked.
        """
        return self.values[self.row_offset[self.row_of_token[sources]] + targets]


@dataclass(frozen=True, eq=False)
class ShortestPaths:
    """Shortest dependency path of each pair: its tokens and the steps between them, padded with -1.

    A path leads from the first entity to the second; k is the number of steps of the longest path.
    Steps are indices into ``PairArrays.links``.
    """

    tokens: Indices  # (pairs, k + 1)
    steps: Indices  # (pairs, k)
    length: Indices  # (pairs,) number of steps; -1 if there is no path


@dataclass(frozen=True, eq=False)
class PairArrays:
    """Pairs of any number of sentences as flat arrays; the module docstring has the conventions.

    *Tokens* are numbered over all sentences; a *pair token* is a combination of a pair and a token
    of its sentence, numbered pair by pair. Arrays are computed on first access. ``cache`` holds
    results of ``cached``.
    """

    pairs: Sequence[EntityPair]
    contexts: list[PairSentence]
    sentence_index: Indices  # (pairs,) index into contexts
    lexicon: Lexicon
    cache: dict[Callable[[PairArrays], Any], Any] = field(default_factory=dict)

    @classmethod
    def from_pairs(cls, pairs: Sequence[EntityPair]) -> PairArrays:
        """Build the arrays of pairs, with a new lexicon.

        Sentences are numbered in order of first occurrence; pairs with the same ``context`` object
        are in the same sentence.
        """
        numbers: dict[int, int] = {}
        contexts: list[PairSentence] = []
        sentence_index = []
        for pair in pairs:
            number = numbers.setdefault(id(pair.context), len(contexts))
            if number == len(contexts):
                contexts.append(pair.context)
            sentence_index.append(number)
        return cls(pairs, contexts, np.array(sentence_index, dtype=np.intp), Lexicon())

    def cached(self, make: Callable[[PairArrays], T]) -> T:
        """Return ``make(self)``, computed at the first call for this function and then cached.

        Pass a module-level function or class method: a new lambda at each call would never be found
        in the cache.
        """
        if make not in self.cache:
            self.cache[make] = make(self)
        return cast(T, self.cache[make])

    @cached_property
    def sentence_starts(self) -> Indices:
        """Return the first token of each sentence, then the number of tokens, (sentences + 1,)."""
        return offsets([len(context.sentence) for context in self.contexts])

    @cached_property
    def token_sentence(self) -> Indices:
        """Return the sentence of each token, as an index into ``contexts``, (tokens,)."""
        return np.arange(len(self.contexts)).repeat(lengths(self.sentence_starts))

    @cached_property
    def sentence_sizes(self) -> Indices:
        """Return the number of tokens in the sentence of each pair, (pairs,)."""
        return lengths(self.sentence_starts)[self.sentence_index]

    @cached_property
    def sentence_base(self) -> Indices:
        """Return the first token of each pair's sentence, (pairs,)."""
        return self.sentence_starts[self.sentence_index]

    @cached_property
    def token_words(self) -> Indices:
        """Return the stem of each token, as word numbers (tokens,).

        Tokens of all entities of the sentence are ``PROT``, also those that are in no pair.
        """
        return self.lexicon.encode(word for c in self.contexts for word in c.words)

    @cached_property
    def token_tags(self) -> Indices:
        """Return the Penn tag of each token, also in entities, as word numbers (tokens,).

        A token without a tag has its coarse part of speech.
        """
        return self.lexicon.encode(tag for c in self.contexts for tag in c.tags)

    @cached_property
    def token_coarse_tags(self) -> Indices:
        """Return the first two letters of each token's tag ("NN"), as word numbers (tokens,)."""
        distinct, inverse = np.unique(self.token_tags, return_inverse=True)
        words = self.lexicon.words()
        return self.lexicon.encode(words[tag][:2] for tag in distinct.tolist())[inverse]

    @cached_property
    def links(self) -> DependencySteps:
        """Return all dependencies except self-loops as steps in both directions.

        Sorted by source, then target; tokens are numbered over the batch. Of several dependencies
        between the same two tokens all are kept, in the order of the parse.
        """
        dependencies = [context.sentence.dependencies for context in self.contexts]
        sizes = np.array([len(d) for d in dependencies], dtype=np.intp)
        base = np.repeat(self.sentence_starts[:-1], sizes)
        governor = _concatenate([d.governor for d in dependencies]) + base
        dependent = _concatenate([d.dependent for d in dependencies]) + base
        types = self.lexicon.encode(kind for d in dependencies for kind in d.types)
        kept = (governor != dependent).nonzero()[0]
        source = np.concatenate([governor[kept], dependent[kept]])
        target = np.concatenate([dependent[kept], governor[kept]])
        order = np.lexsort((np.tile(kept, 2), target, source))
        count = np.bincount(source, minlength=int(self.sentence_starts[-1]))
        return DependencySteps(
            offsets(count), target[order], np.tile(types[kept], 2)[order], order < len(kept)
        )

    @cached_property
    def pair_token_starts(self) -> Indices:
        """Return the first pair token of each pair, then the number of all, (pairs + 1,)."""
        return offsets(self.sentence_sizes)

    @cached_property
    def pair_index(self) -> Indices:
        """Return the pair of each pair token, (pair tokens,), ascending."""
        return np.repeat(np.arange(len(self.pairs)), self.sentence_sizes)

    @cached_property
    def offset(self) -> Indices:
        """Return, for each pair, the number to add to a token to get its pair token, (pairs,).

        May be negative. The token is numbered over the batch and must be in the pair's sentence.
        """
        return self.pair_token_starts[:-1] - self.sentence_base

    @cached_property
    def token_index(self) -> Indices:
        """Return the token of each pair token, numbered over the batch, (pair tokens,)."""
        return np.arange(int(self.pair_token_starts[-1])) - self.offset[self.pair_index]

    @cached_property
    def entity_tokens(self) -> tuple[tuple[Indices, Indices], tuple[Indices, Indices]]:
        """Return (pair, token) arrays of the first entities and of the second, sorted by pair.

        Each of the two results is two parallel arrays with one entry per token of the entity of a
        pair; tokens are numbered over the batch.
        """
        entities = []
        for lists in ([p.first for p in self.pairs], [p.second for p in self.pairs]):
            pair = np.repeat(np.arange(len(lists)), [len(tokens) for tokens in lists])
            entities.append((pair, concat(lists) + self.sentence_base[pair]))
        return entities[0], entities[1]

    @cached_property
    def words(self) -> Indices:
        """Return the word of each pair token, as word numbers (pair tokens,).

        The word is the stem or, in an entity, a placeholder: ``PROT1`` and ``PROT2`` for the first
        and second of the pair, ``PROT`` for any other entity. A token of both entities is
        ``PROT1``.
        """
        word = self.token_words[self.token_index]
        for (pair, token), name in zip(
            reversed(self.entity_tokens), (SECOND_ENTITY, FIRST_ENTITY), strict=True
        ):
            word[token + self.offset[pair]] = self.lexicon(name)
        return word

    @cached_property
    def is_entity(self) -> NDArray[np.bool_]:
        """Return whether each pair token is in one of the two entities of its pair, (pair tokens,).

        Tokens of other entities of the sentence are not.
        """
        mask = np.zeros(int(self.pair_token_starts[-1]), dtype=bool)
        for pair, token in self.entity_tokens:
            mask[token + self.offset[pair]] = True
        return mask

    @cached_property
    def first_token(self) -> Indices:
        """Return the first token that belongs to either entity of each pair, (pairs,).

        Tokens are numbered over the batch.
        """
        return np.minimum(*(np.minimum.reduceat(t, run_starts(o)) for o, t in self.entity_tokens))

    @cached_property
    def last_token(self) -> Indices:
        """Return the last token that belongs to either entity of each pair, (pairs,).

        Tokens are numbered over the batch.
        """
        return np.maximum(*(np.maximum.reduceat(t, run_starts(o)) for o, t in self.entity_tokens))

    @cached_property
    def side(self) -> NDArray[np.int8]:
        """Return the index in SIDES of each pair token, (pair tokens,); -1 in the pair's entities.

        0 is before the pair's first token, 2 after its last, and 1 between, also in a gap of a
        discontinuous entity.
        """
        side = (self.token_index >= self.first_token[self.pair_index]).astype(np.int8)
        side += self.token_index > self.last_token[self.pair_index]
        side[self.is_entity] = -1
        return side

    @cached_property
    def side_sizes(self) -> Indices:  # (pairs, 3)
        """Return the number of tokens before, between and after each pair's entities, (pairs, 3).

        Tokens of the two entities are not counted; all other tokens from the first of the pair to
        its last are between, also in gaps of discontinuous entities.
        """
        outside = (self.side >= 0).nonzero()[0]
        bins = 3 * self.pair_index[outside] + self.side[outside]
        return np.bincount(bins, minlength=3 * len(self.pairs)).reshape(-1, 3)

    @cached_property
    def short_middles(self) -> tuple[Indices, Indices]:
        """Return the tokens between the entities of all pairs with at most MAX_SHORT_MIDDLE.

        Returns these pairs, (short,), including those with no token between, and the pair tokens
        between their entities in text order, padded with -1, (short, MAX_SHORT_MIDDLE).
        """
        short = self.side_sizes[:, 1] <= MAX_SHORT_MIDDLE
        rows = np.flatnonzero(short)
        pair_tokens = np.flatnonzero((self.side == 1) & short[self.pair_index])
        table = np.full((len(rows), MAX_SHORT_MIDDLE), -1, dtype=np.intp)
        table[expand(np.zeros_like(rows), self.side_sizes[rows, 1])] = pair_tokens
        return rows, table

    @cached_property
    def name_tokens(self) -> Indices:
        """Return the sorted distinct tokens of all entities, whether in a pair or not.

        Tokens are numbered over the batch.
        """
        mask = np.zeros(int(self.sentence_starts[-1]), dtype=bool)
        for _, token in self.entity_tokens:
            mask[token] = True
        for start, context in zip(self.sentence_starts.tolist(), self.contexts, strict=False):
            mask[context.sentence.entities + start] = True
        return mask.nonzero()[0]

    @cached_property
    def distances(self) -> EntityDistances:
        """Return path lengths from tokens of entities to all tokens of their sentences.

        A dependency counts 1 in either direction; inf if there is no path. Sources are the tokens
        of all entities of the sentences, in a pair or not. The breadth-first search advances all
        sources together, one step per iteration.
        """
        source, links = self.name_tokens, self.links
        sentence = np.searchsorted(self.sentence_starts, source, side="right") - 1
        row_starts = offsets(lengths(self.sentence_starts)[sentence])
        row_offset = row_starts[:-1] - self.sentence_starts[sentence]
        values = np.full(int(row_starts[-1]), np.inf)
        values[row_offset + source] = 0.0
        mark = np.zeros(len(values), dtype=np.intp)
        row, token, k = np.arange(len(source)), source, 0.0
        while len(row):
            k += 1.0
            source_position, step = links.from_tokens(token)
            entry = row_offset[row[source_position]] + links.target[step]
            new = (np.isinf(values[entry])).nonzero()[0]
            entry = entry[new]
            mark[entry] = np.arange(len(entry))
            unique = (mark[entry] == np.arange(len(entry))).nonzero()[0]
            values[entry] = k
            row, token = row[source_position[new[unique]]], links.target[step[new[unique]]]
        rows = np.full(int(self.sentence_starts[-1]), -1, dtype=np.intp)
        rows[source] = np.arange(len(source))
        return EntityDistances(rows, row_offset, values)

    @cached_property
    def entity_token_pairs(self) -> tuple[Indices, Indices, Indices]:
        """Return all combinations of a token of each pair's first and second entity.

        Three parallel arrays, sorted by pair: pair, token of the first entity, token of the second.
        """
        (first_pair, source), (second_pair, target) = self.entity_tokens
        count, begin = np.bincount(second_pair, minlength=len(self.pairs)), run_starts(second_pair)
        repeat, position = expand(begin[first_pair], count[first_pair])
        return first_pair[repeat], source[repeat], target[position]

    @cached_property
    def closest_token_pair(self) -> Indices:
        """Return each pair's index in ``entity_token_pairs`` with the shortest path, (pairs,).

        The first of equals; also the first if no tokens of the entities are connected.
        """
        pair, source, target = self.entity_token_pairs
        path_lengths = self.distances.between(source, target)
        shortest = np.minimum.reduceat(path_lengths, run_starts(pair))
        return first_true(path_lengths == shortest[pair], pair)

    @cached_property
    def paths(self) -> ShortestPaths:
        """Return a shortest path between the closest tokens of each pair's entities.

        Among equally short paths, each step goes to the first token in the text; of several
        dependencies between the same tokens the first is taken. Length 0 if the entities share a
        token, -1 if there is no path.
        """
        _, source, target = self.entity_token_pairs
        current, goal = source[self.closest_token_pair].copy(), target[self.closest_token_pair]
        distance = self.distances.between(current, goal)
        length = np.where(np.isinf(distance), -1.0, distance).astype(np.intp)
        longest = int(length.max(initial=0))
        tokens = np.full((len(current), longest + 1), -1, dtype=np.intp)
        steps = np.full((len(current), longest), -1, dtype=np.intp)
        tokens[:, 0] = np.where(length >= 0, current, -1)
        for k in range(longest):
            active = (length > k).nonzero()[0]
            position, step = self.links.from_tokens(current[active])
            pair = active[position]
            remaining = self.distances.between(goal[pair], self.links.target[step])
            step = step[first_true(remaining == length[pair] - k - 1, pair)]
            current[active] = self.links.target[step]
            tokens[active, k + 1], steps[active, k] = current[active], step
        return ShortestPaths(tokens, steps, length)

    @cached_property
    def step_labels(self) -> Indices:
        """Return the type and direction of each step of ``links``, as word numbers (steps,).

        A label is such as "nsubj>" from governor to dependent and "nsubj<" back.
        """
        links, words = self.links, self.lexicon.words()
        codes = 2 * links.type + links.is_down
        distinct, inverse = np.unique(codes, return_inverse=True)
        names = [f"{words[c // 2]}{'>' if c % 2 else '<'}" for c in distinct.tolist()]
        return self.lexicon.encode(names)[inverse]

    def path_tokens(self) -> tuple[Indices, Indices, Indices]:
        """Return all tokens on shortest paths as arrays (pair, position on the path, token).

        Sorted by pair and position; position 0 is in the first entity. Pairs without a path do not
        occur.
        """
        pair, position = np.nonzero(self.paths.tokens >= 0)
        return pair, position, self.paths.tokens[pair, position]

    def words_at(self, pair: Indices, token: Indices) -> Indices:
        """Return the words of tokens as the given pairs see them, as word numbers.

        Words are stems, or the placeholders ``PROT1``, ``PROT2`` and ``PROT`` in entities (see
        ``words``). Elementwise: ``token[i]`` must be in the sentence of ``pair[i]``.
        """
        return self.words[token + self.offset[pair]]

    @cached_property
    def path_tops(self) -> Indices:
        """Return how many upward steps each shortest path begins with, (pairs,); -1 without a path.

        This is the position of the path's highest token, where it turns from climbing to
        descending. For a path that only climbs it is the length of the path, for a path of length 0
        it is 0.
        """
        tops = self.paths.length.copy()
        pair, position = np.nonzero(self.paths.steps >= 0)
        first_down = first_true(self.links.is_down[self.paths.steps[pair, position]], pair)
        tops[pair[first_down]] = position[first_down]
        return tops
