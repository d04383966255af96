"""Pairs of entities in analysed sentences, as arrays, and named features extracted from them.

``analyze_pairs`` turns candidates into a ``PairBatch`` of ``EntityPair`` objects. ``PairArrays``
holds the pairs of a batch as flat arrays, so that a feature block computes all pairs at once:

* *tokens* are numbered over all sentences of the batch; arrays named ``token_*`` have one entry
  per token;
* *pair tokens* are all combinations of a pair and a token of its sentence, pair by pair. Pair
  token of token t in pair p is ``t + offset[p]``. Arrays such as ``words``, ``side`` and
  ``is_entity`` have one entry per pair token.

Words, tags and labels are integers of one ``Lexicon`` per batch. A ``FeatureExtractor`` adds
columns of such integers to a ``FeatureCounter``, which counts equal rows and names the columns.
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
        """Return the numbers (words,) of words, in their order.

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
            Function of a word. Results are cached by the identity of the function and for all words
            of the lexicon, so it must be cheap and always the same object.
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

        For functions with several answers per word: ``value`` returns a tuple of ``width``
        booleans. ``words`` is one-dimensional and may be empty. ``value`` is called once for each
        distinct word of ``words``; results are not cached, unlike those of ``lookup``.
        """
        distinct, inverse = factorize(words)
        vocabulary = self.words()
        rows = [value(vocabulary[number]) for number in distinct.tolist()]
        return np.array(rows, dtype=bool).reshape(-1, width)[inverse]

    def isin(self, members: frozenset[str], words: Indices) -> NDArray[np.bool_]:
        """Return a mask, of the shape of ``words``, of the word numbers whose word is in the set.

        ``members`` must be a constant of a module: results are cached by its identity, for the life
        of the lexicon.
        """
        return self.lookup(members.__contains__, words)


@dataclass
class FeatureCounter:
    """Collector of named features: rows have features, names are columns of word numbers.

    A feature's name is (view, name, *parts), where parts are word numbers of ``lexicon``. Rows 0 to
    n - 1 are the n pairs; ``new_rows`` appends rows below them, for features that several pairs
    share. Assign ``view`` before adding features of another view.
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
        """Append ``count`` empty rows and return their indices.

        They get features by ``add``; which pairs share them is for the caller to note in
        ``shared``.
        """
        self.n_rows += count
        return np.arange(self.n_rows - count, self.n_rows)

    def add(self, name: str, rows: Indices, *parts: Indices | int) -> None:
        """Add one occurrence of the feature ``(name, *parts)`` to each of ``rows``.

        ``rows`` are row indices. Each part is an array of word numbers, one per row, or one number
        for all rows; there may be none. A row may occur several times; each time counts. The
        feature belongs to the current view. ``rows`` is kept without a copy: do not change it
        afterwards.
        """
        columns = np.empty((len(rows), len(parts)), dtype=np.intp)
        for column, part in enumerate(parts):
            columns[:, column] = part
        self._append(name, rows, columns)

    def add_padded(self, name: str, rows: Indices, parts: Indices) -> None:
        """Add the feature ``(name, *parts[i])`` to row ``rows[i]``, in the current view.

        ``parts`` (rows, longest name) are word numbers; shorter names are padded with -1 at the
        end. A row of -1 alone adds the feature ``(name,)``.
        """
        sizes = (parts >= 0).sum(axis=1)
        for size in np.bincount(sizes).nonzero()[0].tolist():
            index = (sizes == size).nonzero()[0]
            self._append(name, rows[index], parts[index, :size])

    def _append(self, name: str, rows: Indices, parts: Indices) -> None:
        """Store occurrences of a feature of the current view by the number of their parts.

        Row ``rows[i]`` has the parts ``parts[i]``; ``parts`` (rows, parts) has no padding. Neither
        array is copied.
        """
        prefix = self.prefixes.setdefault((self.view, name), len(self.prefixes))
        self.groups.setdefault(parts.shape[1], []).append((prefix, rows, parts))

    def features(self, *, binary: bool = False) -> Features:
        """Return the features of the current view, (rows, names): counts, or 0/1 if ``binary``.

        All features must have been added under this one view, else ValueError is raised. Rows
        include the shared ones.
        """
        return self.joint_features(self.n_rows, {self.view: binary}).view(self.view)

    def joint_features(self, pairs: int, binary: Mapping[str, bool]) -> JointFeatures:
        """Return the features of several views in one matrix, (rows, names), shared rows included.

        Columns of all views are mixed, sorted by the number of parts of the feature name, then by
        first occurrence; the result has the view of each. So the order of the columns of a view
        does not depend on other views. Shared rows belong to sentences and count for all their
        pairs.

        Parameters
        ----------
        pairs
            Number of rows that are pairs; the others are shared rows.
        binary
            By view, whether features are 0/1 instead of counts. Its keys are the views, in order;
            raises ValueError if features were added to a view that is missing.
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
        ``prefix`` is the number of (view, name) of each occurrence, table after table. The bits of
        the result are, from the highest: code of the parts, index of the table, prefix.
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
        ascending, is the index of its first occurrence, table after table.
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
        """Return FeatureNames over only the words that the table uses, in the order of the lexicon.

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
    """Return where each distinct code first occurs, and the number of every code in that order.

    The positions are ascending; the numbers, (codes,), count distinct codes from 0. (Sorting by
    code would let columns depend on what else was looked up in the lexicon.)
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
    """Sentence with word forms that do not depend on the pair.

    All pairs of a sentence share one object. Lists have one entry per token; do not change them.
    """

    sentence: Sentence

    @property
    def texts(self) -> list[str]:
        """Return the tokens as written."""
        return self.sentence.texts

    @cached_property
    def stems(self) -> list[str]:
        """Return the stem of every token, including those of entities."""
        return [stem(text) for text in self.texts]

    @cached_property
    def words(self) -> list[str]:
        """Return the stem of every token, with each token of any entity replaced by ``PROT``."""
        words = list(self.stems)
        for token in self.sentence.entities:
            words[token] = OTHER_ENTITY
        return words

    @property
    def tags(self) -> list[str]:
        """Return the Penn tag of every token, or its coarse part of speech where it has no tag."""
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

    ``first`` is the one that comes first in the text, by first and then by last token; both lists
    are sorted, not empty, and count from the start of ``context.sentence``. They may share tokens.
    """

    context: PairSentence
    first: list[int]  # tokens of the first entity, counted from the start of the sentence
    second: list[int]


class PairRepresentation(Protocol):
    """Representation that can start from analysed pairs; equal objects give equal features."""

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """Return the features of pairs, one row each, in order."""


class FeatureExtractor(Protocol):
    """Adder of named features of pairs to a counter; equal objects add the same features."""

    binary: ClassVar[bool]  # features are 0/1, not counts

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the features of all pairs to ``counter``, in place, under its current view.

        Row i of the counter is ``arrays.pairs[i]``. Features that several pairs share may be added
        to rows from ``counter.new_rows``.
        """


class FeatureBlock(PairRepresentation, FeatureExtractor, Protocol):
    """Feature extractor that is also a representation by itself."""


@dataclass(frozen=True, eq=False)
class PairBatch(Sequence[EntityPair]):
    """Pairs with their sentences and candidates; a sequence of ``EntityPair``.

    ``pairs`` are in the order of ``candidates``; ``sentences`` has each sentence once. Features of
    a block are computed once and cached: ``feature_cache`` by block, ``joint_cache`` as the joint
    features that contain a block and the name of its view there.
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

        The block must be hashable; equal blocks share the result. It is taken from the features of
        an earlier ``extract_jointly`` with this block if there are any.
        """
        if block not in self.feature_cache:
            joint, name = self.joint_cache.get(block, (None, ""))
            self.feature_cache[block] = joint.view(name) if joint else block.represent(self)
        return self.feature_cache[block]

    def extract_jointly(self, blocks: Mapping[str, FeatureExtractor]) -> JointFeatures:
        """Extract the features of several blocks together, which is faster than one by one.

        ``blocks`` maps view names to extractors. Extracts again even if there is an earlier result;
        the new one is remembered for ``features_of`` and ``joint_features``.
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
        """Return joint features with all ``blocks``, which are extractors by view name.

        An earlier result that contains them under the same names is reused; it may have other views
        as well. Otherwise they are extracted and remembered.
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
    """Return the pairs as arrays; a PairBatch computes them once, other sequences at each call."""
    return pairs.arrays if isinstance(pairs, PairBatch) else PairArrays.from_pairs(pairs)


def extract_features(block: FeatureBlock, pairs: Sequence[EntityPair]) -> Features:
    """Return the features of one block alone, (pairs, features).

    0/1 if ``block.binary``, else counts. Rows are in the order of ``pairs``, followed by shared
    rows if the block adds any to the counter. Nothing is cached but the arrays of a PairBatch.
    """
    arrays = pair_arrays(pairs)
    counter = FeatureCounter(arrays.lexicon, len(pairs))
    block.extract(arrays, counter)
    return counter.features(binary=block.binary)


def analyze_pairs(candidates: Sequence[Candidate], parse: Parse) -> PairBatch:
    """Analyse the sentences of candidates and return each candidate as a pair of entities.

    Pairs are in the order of ``candidates``; the entities of each pair are in text order. Pairs of
    one sentence share its analysis, without punctuation dependencies. ``parse`` is "given" (with
    the corpus), "spacy", "auto" (given, else spaCy's), "collapsed" (auto, prepositions and
    coordinations of spaCy's collapsed) or "own" (the same, spaCy's preferred, lost subjects
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

    The sentences must cover all candidates, else KeyError is raised, and every candidate must have
    two spans. The entities of a pair are in text order. Shows progress on a terminal.
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

    A step is a dependency together with a direction, so each dependency gives two. The steps from
    token t are ``starts[t]`` to ``starts[t + 1]`` - 1. Tokens are numbered over the batch.
    """

    starts: Indices  # (tokens + 1,)
    target: Indices  # (steps,)
    type: Indices  # (steps,) word numbers of dependency types
    is_down: NDArray[np.bool_]  # (steps,) from governor to dependent

    def from_tokens(self, tokens: Indices) -> tuple[Indices, Indices]:
        """Return all steps from some tokens as two arrays: position in ``tokens``, and step index.

        Sorted by position, then by step. A token without dependencies has no entry; a repeated one
        has its steps at each of its positions.
        """
        start = self.starts[tokens]
        return expand(start, self.starts[tokens + 1] - start)


@dataclass(frozen=True, eq=False)
class EntityDistances:
    """Path lengths from tokens of entities to all tokens of their sentences; inf if unreachable.

    Stored as one row per source token: the length from source s to token t of the same sentence is
    ``values[row_offset[row_of_token[s]] + t]``.
    """

    row_of_token: Indices  # (tokens,) -1 for tokens outside entities
    row_offset: Indices  # (rows,) position of token 0 of the batch in `values`
    values: Vector

    def between(self, sources: Indices, targets: Indices) -> Vector:
        """Return path lengths from ``sources`` to ``targets``, elementwise; inf if unreachable.

        ``sources`` must be tokens of entities, ``targets`` tokens of the same sentences, both of
        the same shape and numbered over the batch. Neither is checked.
        """
        return self.values[self.row_offset[self.row_of_token[sources]] + targets]


@dataclass(frozen=True, eq=False)
class ShortestPaths:
    """Shortest dependency path of each pair: tokens, and the steps between them, padded with -1.

    A path leads from the first entity to the second; k is the number of steps of the longest. Steps
    are indices into ``PairArrays.links``.
    """

    tokens: Indices  # (pairs, k + 1)
    steps: Indices  # (pairs, k)
    length: Indices  # (pairs,) number of steps; -1 if there is no path


@dataclass(frozen=True, eq=False)
class PairArrays:
    """Pairs of any number of sentences as arrays; see the module docstring for the conventions.

    All arrays are computed on first access. ``cache`` holds results of ``cached``.
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
        share one.
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
        """Return ``make(self)``, computed at the first call for this function object.

        Pass a module-level function or class method: a new lambda at each call would never be found
        again.
        """
        if make not in self.cache:
            self.cache[make] = make(self)
        return cast(T, self.cache[make])

    @cached_property
    def sentence_starts(self) -> Indices:
        """Return the first token of each sentence, then the token count, (sentences + 1,)."""
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
        """Return the first token of the sentence of each pair, (pairs,)."""
        return self.sentence_starts[self.sentence_index]

    @cached_property
    def token_words(self) -> Indices:
        """Return the stem of each token, as word numbers (tokens,).

        Tokens of any entity that the sentence has are ``PROT``, whether it is in a pair or not.
        """
        return self.lexicon.encode(word for c in self.contexts for word in c.words)

    @cached_property
    def token_tags(self) -> Indices:
        """Return the tag of each token, as word numbers (tokens,).

        The Penn tag, or the coarse part of speech where there is none. Tags of entities are not
        blinded.
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

        Sorted by source, then target; tokens are numbered over the batch. Parallel dependencies of
        the same two tokens are all kept, in the order of the parse.
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
        """Return the first pair token of each pair, then the number of all, (pairs + 1,).

        A pair token is a combination of a pair and a token of its sentence; they are numbered pair
        by pair.
        """
        return offsets(self.sentence_sizes)

    @cached_property
    def pair_index(self) -> Indices:
        """Return the pair of each pair token, (pair tokens,), ascending.

        A pair token is a combination of a pair and a token of its sentence.
        """
        return np.repeat(np.arange(len(self.pairs)), self.sentence_sizes)

    @cached_property
    def offset(self) -> Indices:
        """Return, for each pair, the number to add to a token to get its pair token, (pairs,).

        May be negative. The token is numbered over the batch and must lie in the pair's sentence.
        """
        return self.pair_token_starts[:-1] - self.sentence_base

    @cached_property
    def token_index(self) -> Indices:
        """Return the token, numbered over the batch, of each pair token, (pair tokens,).

        A pair token is a combination of a pair and a token of its sentence.
        """
        return np.arange(int(self.pair_token_starts[-1])) - self.offset[self.pair_index]

    @cached_property
    def entity_tokens(self) -> tuple[tuple[Indices, Indices], tuple[Indices, Indices]]:
        """Return (pair, token) arrays of the first entity and of the second, sorted by pair.

        Each of the two results has one entry per token of the entity of a pair; tokens are numbered
        over the batch.
        """
        entities = []
        for lists in ([p.first for p in self.pairs], [p.second for p in self.pairs]):
            pair = np.repeat(np.arange(len(lists)), [len(tokens) for tokens in lists])
            entities.append((pair, concat(lists) + self.sentence_base[pair]))
        return entities[0], entities[1]

    @cached_property
    def words(self) -> Indices:
        """Return the word of each pair token, as word numbers (pair tokens,).

        A pair token is a combination of a pair and a token of its sentence. The word is the stem,
        or in entities a placeholder: ``PROT1`` and ``PROT2`` for the first and second of the pair,
        ``PROT`` for any other. A token of both entities counts as the first.
        """
        word = self.token_words[self.token_index]
        for (pair, token), name in zip(
            reversed(self.entity_tokens), (SECOND_ENTITY, FIRST_ENTITY), strict=True
        ):
            word[token + self.offset[pair]] = self.lexicon(name)
        return word

    @cached_property
    def is_entity(self) -> NDArray[np.bool_]:
        """Return which pair tokens belong to one of the two entities of their pair, (pair tokens,).

        Tokens of other entities of the sentence do not.
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
        """Return the last token that belongs to either entity of each pair, (pairs,), inclusive.

        Tokens are numbered over the batch.
        """
        return np.maximum(*(np.maximum.reduceat(t, run_starts(o)) for o, t in self.entity_tokens))

    @cached_property
    def side(self) -> NDArray[np.int8]:
        """Return the side of each pair token, (pair tokens,); -1 in an entity of the pair.

        A pair token is a combination of a pair and a token of its sentence. It is before the pair's
        first token (0), after its last (2), or between (1), also inside a gap of an entity.
        """
        side = (self.token_index >= self.first_token[self.pair_index]).astype(np.int8)
        side += self.token_index > self.last_token[self.pair_index]
        side[self.is_entity] = -1
        return side

    @cached_property
    def side_sizes(self) -> Indices:  # (pairs, 3)
        """Return the number of tokens on each of the three SIDES of each pair, (pairs, 3).

        Tokens of the two entities are not counted.
        """
        outside = (self.side >= 0).nonzero()[0]
        bins = 3 * self.pair_index[outside] + self.side[outside]
        return np.bincount(bins, minlength=3 * len(self.pairs)).reshape(-1, 3)

    @cached_property
    def short_middles(self) -> tuple[Indices, Indices]:
        """Return the tokens between the entities where there are at most MAX_SHORT_MIDDLE.

        Returns the pairs with a short middle, (short,), those with an empty one included, and their
        pair tokens in text order, padded with -1, (short, MAX_SHORT_MIDDLE).
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
        """Return path lengths from tokens of entities to all tokens, by breadth-first search.

        A dependency counts 1 in either direction; inf if there is no path. Sources are the tokens
        of all entities of the sentences, in a pair or not. All sources advance together, one step
        per iteration.
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
        """Return all combinations of a token of the first and a token of the second entity.

        Three arrays, sorted by pair: pair, token of the first entity, token of the second.
        """
        (first_pair, source), (second_pair, target) = self.entity_tokens
        count, begin = np.bincount(second_pair, minlength=len(self.pairs)), run_starts(second_pair)
        repeat, position = expand(begin[first_pair], count[first_pair])
        return first_pair[repeat], source[repeat], target[position]

    @cached_property
    def closest_token_pair(self) -> Indices:
        """Return, for each pair, the index in ``entity_token_pairs`` with the shortest path.

        Shape (pairs,). The first one wins ties, also if no tokens of the entities are connected at
        all.
        """
        pair, source, target = self.entity_token_pairs
        path_lengths = self.distances.between(source, target)
        shortest = np.minimum.reduceat(path_lengths, run_starts(pair))
        return first_true(path_lengths == shortest[pair], pair)

    @cached_property
    def paths(self) -> ShortestPaths:
        """Return a shortest path between the closest tokens of each pair.

        From the first entity to the second; tokens and steps are padded with -1. Among equally
        short paths, each step goes to the first token in the text, and of parallel dependencies to
        it the first is taken. Length 0 if the entities share a token, -1 if there is no path.
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
        """Return the type and direction of each step of ``links`` as word numbers, (steps,).

        A label is ``nsubj>`` from governor to dependent and ``nsubj<`` back.
        """
        links, words = self.links, self.lexicon.words()
        codes = 2 * links.type + links.is_down
        distinct, inverse = np.unique(codes, return_inverse=True)
        names = [f"{words[c // 2]}{'>' if c % 2 else '<'}" for c in distinct.tolist()]
        return self.lexicon.encode(names)[inverse]

    def path_tokens(self) -> tuple[Indices, Indices, Indices]:
        """Return all tokens on shortest paths as arrays: pair, position on the path, and token.

        Sorted by pair and position; position 0 is in the first entity. Pairs without a path have
        none.
        """
        pair, position = np.nonzero(self.paths.tokens >= 0)
        return pair, position, self.paths.tokens[pair, position]

    def words_at(self, pair: Indices, token: Indices) -> Indices:
        """Return the words of tokens as the given pairs see them, as word numbers.

        Stems; tokens of the pair's entities are ``PROT1`` and ``PROT2``, of other entities
        ``PROT``. Elementwise: ``token[i]`` must lie in the sentence of ``pair[i]``.
        """
        return self.words[token + self.offset[pair]]

    @cached_property
    def path_tops(self) -> Indices:
        """Return how many upward steps each shortest path begins with, (pairs,); -1 without a path.

        That is the position of the path's highest token if it climbs and then descends. A path that
        only climbs has its length, one of no step 0.
        """
        tops = self.paths.length.copy()
        pair, position = np.nonzero(self.paths.steps >= 0)
        first_down = first_true(self.links.is_down[self.paths.steps[pair, position]], pair)
        tops[pair[first_down]] = position[first_down]
        return tops
