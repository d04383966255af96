"""Representations of dependency parses.

- ``ParseSupport`` and ``ArcVotes``: votes of an ensemble of parsers for a parse and its arcs
  (``ParseInfo`` in ``doc.user_data["parse"]``, set by the task).
- ``ArcFeatures``: counts of arcs, and of pairs of arcs, by labels, tags, words and lengths.
- ``ParseSequences`` and ``ParseGraph``: a parse as feature sequences, and as a labelled graph.

``ParseForest`` and ``PartCounter`` compute the counts of ``ArcFeatures`` and ``ArcVotes``. Parses
of one sentence share most arcs, so the features of each distinct arc are computed once. A *place*
is a word of a parse; places of all parses are numbered consecutively.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from itertools import combinations
from typing import Any, TypeAlias, TypedDict, cast, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, LEMMA, ORTH, TAG
from spacy.tokens import Doc, Span

from textrank._ragged import expand, factorize, offsets
from textrank.candidates import Candidate
from textrank.features import FeatureNames, Features, Indices, MultiView, Vector
from textrank.graphs import GraphBatch, GraphFamily, Sequences
from textrank.progress import track
from textrank.representations.contexts import apply_form, validate_form
from textrank.tasks.ppi.pairs import Bag
from textrank.tasks.ppi.sentences import (
    Dependencies,
    LabelIndex,
    Parse,
    WordForm,
    check_choice,
    word_form,
)

Hashes: TypeAlias = NDArray[np.uint64]
LENGTH_BOUNDS = (4, 7, 12)  # arc lengths up to the first are distinguished, longer ones binned


@dataclass(frozen=True, eq=False)
class DistinctArcs:
    """Distinct arcs of a forest as three parallel arrays; the head of a root is the root itself.

    Words are numbered over the distinct sentences of the forest, so that an arc which occurs in
    several parses of a sentence is one arc. A string number is an index into
    ``ParseForest.strings``.
    """

    word: Indices  # (arcs,) word index in the forest
    head: Indices  # (arcs,) word index of the head
    label: Indices  # (arcs,) string number

    def __len__(self) -> int:
        """Return the number of arcs."""
        return len(self.word)


@dataclass(frozen=True, eq=False)
class ParseForest:
    """Parses of candidates as arrays.

    Each word of each parse has a place; places are numbered parse after parse. Words are stored
    once for consecutive parses of the same sentence, so several places may refer to one word. Tags
    and labels are numbers of strings in ``strings``, to which more strings can be added.
    """

    offsets: Indices  # (parses + 1,) first place of each parse, then the number of places
    word: Indices  # (places,) word of the place
    head: Indices  # (places,) place of its head
    label: Indices  # (places,) string number
    tag: Indices  # (words,) string number
    word_hashes: Hashes  # (words, 2) ORTH and LEMMA
    stores: Sequence[Any]  # spaCy string stores of the hashes
    strings: dict[str, int]  # string -> number

    @classmethod
    def from_candidates(cls, candidates: Sequence[Candidate]) -> ParseForest:
        """Build the forest of the candidates' parses, in order.

        All tokens of a candidate's Doc are words of its parse. Consecutive parses with equal words,
        lemmas and tags share their words. Raises ValueError if a Doc has no parse.
        """
        tables = [_parse_table(candidate) for candidate in candidates]
        parse_offsets = offsets([len(table) for table in tables])
        sentences, first_words = _collect_sentences(tables)
        all_rows = np.concatenate([_EMPTY_TABLE, *tables])
        places = np.arange(len(all_rows))
        stores = list({id(c.doc.vocab): c.doc.vocab.strings for c in candidates}.values())
        strings: dict[str, int] = {}
        return cls(
            parse_offsets,
            places + np.repeat(first_words - parse_offsets[:-1], np.diff(parse_offsets)),
            places + all_rows[:, 3].astype(np.intp),
            _number_strings(all_rows[:, 4], stores, strings),
            _number_strings(sentences[:, 2], stores, strings),
            sentences[:, :2],
            stores,
            strings,
        )

    @cached_property
    def arcs(self) -> DistinctArcs:
        """Return the distinct arcs, sorted by word, head and label; roots are arcs to themselves.

        Equal arcs of parses that share their words are one arc.
        """
        return self._arcs[0]

    @cached_property
    def arc(self) -> Indices:  # (places,)
        """Return the index in ``arcs`` of the arc that leads to each place, shape (places,)."""
        return self._arcs[1]

    @cached_property
    def _arcs(self) -> tuple[DistinctArcs, Indices]:
        """Return ``arcs`` and ``arc``, which are computed together.

        Arcs with equal word, head and label are one, whichever parse they are in.
        """
        n_words, n_strings = max(len(self.tag), 1), max(len(self.strings), 1)
        word_pairs = self.word * n_words + self.word[self.head]
        distinct, arc_of_place = factorize(word_pairs * n_strings + self.label)
        word_pairs, label = np.divmod(distinct, n_strings)
        return DistinctArcs(*np.divmod(word_pairs, n_words), label), arc_of_place

    def string_number(self, string: str) -> int:
        """Return the number of a string; a new one is added to ``strings``, in place."""
        return self.strings.setdefault(string, len(self.strings))

    def string_numbers(self, strings: Iterable[str]) -> Indices:
        """Return the numbers of strings, in order; new ones are added to ``strings``, in place."""
        return np.array([self.string_number(string) for string in strings], dtype=np.intp)


_COLUMNS = [ORTH, LEMMA, TAG, HEAD, DEP]
_EMPTY_TABLE = np.zeros((0, 5), dtype=np.uint64)


def _parse_table(candidate: Candidate) -> Hashes:  # (words, 5)
    """Return ORTH, LEMMA, TAG, relative HEAD and DEP of a candidate's tokens, uint64 (words, 5).

    HEAD is the head's index minus the word's, as a signed number stored in an unsigned one; the
    others are hashes. Raises ValueError if a Doc that is not empty has no parse.
    """
    doc = candidate.doc
    if len(doc) and not doc.has_annotation("DEP"):
        raise ValueError(
            f"document {candidate.document!r} has no parse. Add a parser to the spaCy "
            "pipeline, or read a corpus with dependencies."
        )
    return cast(Hashes, doc.to_array(_COLUMNS).reshape(-1, 5))


def _collect_sentences(tables: Sequence[Hashes]) -> tuple[Hashes, Indices]:
    """Return the words of the distinct sentences, and where each parse's sentence begins in them.

    ``tables`` (words, 5) have ORTH, LEMMA, TAG, HEAD and DEP, one per parse; consecutive tables
    with the same first three columns are of one sentence. The results are the ORTH, LEMMA and TAG
    of all sentences, shape (words, 3), and the row of each parse's first word in them, shape
    (parses,).
    """
    sentences, first_words = [_EMPTY_TABLE[:, :3]], []
    previous, start, end = None, 0, 0
    for table in tables:
        content = table[:, :3].tobytes()
        if content != previous:
            previous, start, end = content, end, end + len(table)
            sentences.append(table[:, :3])
        first_words.append(start)
    return np.concatenate(sentences), np.array(first_words, dtype=np.intp)


def _number_strings(hashes: Hashes, stores: Sequence[Any], strings: dict[str, int]) -> Indices:
    """Return the number of the string of each hash, shape (n,) as ``hashes``.

    ``strings`` maps strings to numbers; new ones are added to it, in place. ``stores`` are the
    string stores to look in. Raises StopIteration if no store has a hash.
    """
    distinct, inverse = np.unique(hashes, return_inverse=True)
    numbers = [
        strings.setdefault(string, len(strings)) for string in lookup_strings(distinct, stores)
    ]
    return np.array(numbers, dtype=np.intp)[inverse]


def lookup_strings(hashes: Hashes, stores: Sequence[Any]) -> list[str]:
    """Return the string of each hash, from the first store that has it.

    Raises StopIteration if none has.
    """
    return [next(store[key] for store in stores if key in store) for key in hashes.tolist()]


def length_numbers(forest: ParseForest, relative: Indices) -> Indices:
    """Return the string numbers of binned lengths such as "+3" and "-far", shape (n,).

    ``relative`` (n,) has positions of words minus those of their heads; see ``describe_length`` for
    the bins. New strings are added to the forest, in place.
    """
    distinct, inverse = np.unique(relative, return_inverse=True)
    return forest.string_numbers(map(describe_length, distinct.tolist()))[inverse]


def describe_length(relative: int) -> str:
    """Return the side and binned distance of a word from its head as a string.

    ``relative`` is the word's position minus its head's. The sign is "+" if the word is to the
    right of its head. Distances up to 4 are exact, 5 to 7 are "7", 8 to 12 are "12", and longer
    ones "far". 0, a root, gives "-far".

    >>> [describe_length(relative) for relative in (-1, 3, 6, 40)]
    ['-1', '+3', '+7', '+far']
    """
    distance = abs(relative)
    if distance > LENGTH_BOUNDS[0]:
        distance = next((bound for bound in LENGTH_BOUNDS[1:] if distance <= bound), 0)
    return ("+" if relative > 0 else "-") + (str(distance) if distance else "far")


@dataclass(eq=False)
class PartCounter:
    """Counter of the feature names of parts of parses, such as arcs and pairs of arcs.

    A part occurs at one or more places of the forest and has any number of feature names, which are
    counted per parse. Parts are added one kind at a time, such as all arcs; at each place there is
    at most one part of a kind.
    """

    forest: ParseForest
    n_parts: int = 0
    # Per kind, the part at each place, or -1.
    _part_at_place: list[Indices] = field(default_factory=list)
    # Per call of ``add_names``, the parts and their names as rows of string numbers.
    _named_parts: list[Indices] = field(default_factory=list)
    _part_names: list[NDArray[np.int32]] = field(default_factory=list)

    def add(self, places: Indices, part_of_place: Indices, n_new: int) -> Indices:
        """Add ``n_new`` parts of a new kind and return their numbers, shape (n_new,), ascending.

        ``places`` are distinct places of the forest; ``part_of_place``, parallel to it, says which
        of the new parts, counted from 0, is there. Other places have no part of this kind.
        """
        parts = np.full(len(self.forest.word), -1)
        parts[places] = self.n_parts + part_of_place
        self._part_at_place.append(parts)
        self.n_parts += n_new
        return np.arange(self.n_parts - n_new, self.n_parts)

    def add_names(self, parts: Indices, template: str, *values: Indices) -> None:
        """Add one feature name to each item of ``parts``, so a repeated part gets several names.

        ``parts`` (n,) are numbers from ``add``. A name is a tuple of the template and of one string
        per array of ``values``, each (n,) string numbers of the forest, -1 for no string.
        """
        names = np.empty((len(parts), 1 + len(values)), dtype=np.int32)
        names[:, 0] = self.forest.string_number(template)
        for column, value in enumerate(values, start=1):
            names[:, column] = value
        self._named_parts.append(parts)
        self._part_names.append(names)

    def to_features(self) -> Features:
        """Return the counts of names per parse, divided by the square root of its number of words.

        One row per parse of the forest. A name's count is the number of its occurrences over all
        places and parts of the parse; equal names of different parts share a column. ``add`` and
        ``add_names`` must have been called before.
        """
        names, columns = self._distinct_names()
        parts = np.concatenate(self._named_parts)
        names_of_parts = sp.csr_array(
            (np.ones(len(parts)), (parts, columns)), (self.n_parts + 1, len(names))
        )
        values = self._parse_parts() @ names_of_parts
        norms = np.sqrt(np.maximum(np.diff(self.forest.offsets), 1))
        values.data /= np.repeat(norms, np.diff(values.indptr))
        return Features(values, names)

    def _distinct_names(self) -> tuple[FeatureNames, Indices]:
        """Return the distinct names, and the index of each added name among them.

        Indices are in the order of all calls of ``add_names``; shorter names are padded with -1.
        Raises ValueError if there was no call.
        """
        width = max(names.shape[1] for names in self._part_names)
        table = np.full((sum(map(len, self._part_names)), width), -1, dtype=np.int32)
        end = 0
        for names in self._part_names:
            table[end : end + len(names), : names.shape[1]] = names
            end += len(names)
        return FeatureNames(tuple(self.forest.strings), table).unique()

    def _parse_parts(self) -> sp.csr_array:  # (parses, parts + 1)
        """Return how often each part occurs in each parse, shape (parses, parts + 1).

        The last column counts places without a part; it has no names.
        """
        parts = np.stack(self._part_at_place, axis=1)
        parts[parts < 0] = self.n_parts
        begins = self.forest.offsets
        cells = (np.ones(parts.size), parts.ravel(), begins * parts.shape[1])
        return sp.csr_array(cells, (len(begins) - 1, self.n_parts + 1))


PARSE_INFO_KEY = "parse"  # in doc.user_data
MIN_VOTE_SHARE = 0.02  # smaller shares count as this one in logarithms


class ParseInfo(TypedDict):
    """Support of a candidate's parse by the parsers, stored in ``doc.user_data["parse"]``."""

    name: str
    start: int  # first token of the sentence in its document
    own: bool  # whether it is the parser's first choice
    votes: float  # share of parser copies that found it
    consensus: float  # mean share of votes for its arcs
    attachment: float  # mean share of votes for its heads
    by: NDArray[np.float64]  # (parsers,) share of votes for it
    arcs: NDArray[np.float32]  # (words, parsers) share of votes for the head and label
    heads: NDArray[np.float32]  # (words, parsers) share of votes for the head
    spans: list[bool]  # whether it is the spanning tree of all votes, then of each parser's


def get_parse_info(candidate: Candidate) -> ParseInfo:
    """Return the support of a candidate's parse by the parsers, ``doc.user_data["parse"]``.

    See ``ParseInfo`` for the keys. Raises ValueError if the candidate does not come from the task
    ``parse_ranking``.
    """
    info: ParseInfo | None = candidate.doc.user_data.get(PARSE_INFO_KEY)
    if info is None:
        raise ValueError(
            f"a candidate of document {candidate.document!r} is not one of several parses. "
            "Use this representation with the task parse_ranking."
        )
    return info


@dataclass(frozen=True)
class ParseSupport:
    """Support of a parse by an ensemble of parsers, as a few numbers.

    - ``own``: whether it is the parser's first choice.
    - ``votes``: share of parser copies that found it.
    - ``consensus``: mean over its arcs of the share of votes for the arc.
    - ``attachment``: mean over its words of the share of votes for the head, whatever the label.
    - ``doubt``: mean over its arcs of the logarithm of the share of votes.
    - ``spanning``: whether it is the spanning tree of the votes of all parsers, and of each parser.

    Votes, consensus and attachment are also given for each parser.
    """

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        """Return the features of candidates, one row each, in order.

        Names are ("own",), ("votes",), ("consensus",), ("attachment",) and ("doubt",); ("votes",
        "parser 1") and so on for votes, consensus and attachment of each parser; and ("spanning",
        "all") and ("spanning", "parser 1"). A parse without votes of parsers has no "doubt" and
        nothing per parser. Raises ValueError unless the candidates come from the task
        ``parse_ranking``.
        """
        infos = [get_parse_info(candidate) for candidate in candidates]
        rows_by_shape: dict[tuple[int, ...], list[int]] = {}  # by (words, parsers)
        for i, info in enumerate(infos):
            rows_by_shape.setdefault(np.shape(info["arcs"]), []).append(i)
        values: dict[int, Bag] = {}
        for members in rows_by_shape.values():
            group = [infos[i] for i in members]
            values.update(
                zip(members, map(_support_values, group, _vote_means(group)), strict=True)
            )
        return Features.from_dicts(values[i] for i in range(len(infos)))


def _vote_means(infos: Sequence[ParseInfo]) -> list[tuple[float, list[float], list[float]]]:
    """Return (doubt, consensus per parser, attachment per parser) of each parse.

    Doubt is the mean over words of the logarithm of the share of votes for the arc, averaged over
    parsers and at least MIN_VOTE_SHARE. Consensus and attachment are the mean shares of votes for
    arcs and for heads. All parses must have the same numbers of words and parsers; if either is 0,
    each result is (0.0, [], []).
    """
    arcs, heads = (np.array([info[name] for info in infos]) for name in ("arcs", "heads"))
    if not arcs.size:
        return [(0.0, [], [])] * len(infos)
    mean_shares = arcs.mean(axis=2)  # of (parses, words, parsers)
    doubt = np.log(np.maximum(mean_shares, MIN_VOTE_SHARE)).mean(axis=1)
    means_by_parser = (
        np.ascontiguousarray(table.transpose(0, 2, 1)).mean(axis=2).tolist()
        for table in (arcs, heads)
    )
    return list(zip(doubt.tolist(), *means_by_parser, strict=True))


def _support_values(info: ParseInfo, means: tuple[float, Sequence[float], Sequence[float]]) -> Bag:
    """Return the features of a parse, name to value.

    ``means`` is (doubt, consensus per parser, attachment per parser) of ``_vote_means``. Without
    parsers there is no "doubt". Parsers count from 1; in names of "spanning", all parsers together
    are "all".
    """
    values: dict[tuple[str, ...], float] = {
        ("own",): float(info["own"]),
        ("votes",): float(info["votes"]),
        ("consensus",): float(info["consensus"]),
        ("attachment",): float(info["attachment"]),
    }
    doubt, *means_by_parser = means
    if len(means_by_parser[0]):
        values["doubt",] = doubt
        for number, parser_values in enumerate(zip(info["by"], *means_by_parser, strict=True), 1):
            votes, consensus, attachment = parser_values
            values["votes", f"parser {number}"] = float(votes)
            values["consensus", f"parser {number}"] = consensus
            values["attachment", f"parser {number}"] = attachment
    for number, is_spanning in enumerate(info["spans"]):
        values["spanning", f"parser {number}" if number else "all"] = float(is_spanning)
    return values


MIN_LONG_ARC_WORDS = 64  # words between the ends of a long arc, see ``_tags_between``


@dataclass(frozen=True)
class ArcFeatures:
    """Counts of properties of a parse's arcs, divided by the square root of the number of words.

    Properties of an arc are its label; the label with the tags of both ends, with the length, with
    the dependent's word, and with the head's word; both tags with the length; both words; and each
    tag between the ends, once with both tags and once with the label. Properties of pairs of arcs
    are the labels of neighbouring dependents of a head; labels, tags and sides of an arc and of its
    head's arc; labels and tags of an arc and of the next arc on the same side that is closer to the
    head. Heads are counted by tag and number of dependents. Most properties include the side of the
    head.

    Parameters
    ----------
    form
        Form of words: "raw", "lower", "lemma", "porter" or "snowball".
    """

    form: str = "lower"

    def __post_init__(self) -> None:
        """Raise ValueError if the form of words is unknown."""
        validate_form(self.form)

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        """Return the features of the candidates' parses, one row each, in order.

        Raises ValueError if a Doc has no parse. Shows progress on a terminal.
        """
        forest = ParseForest.from_candidates(list(track(candidates, "arcs", len(candidates))))
        parts = PartCounter(forest)
        attributes = _ArcAttributes.from_forest(forest, self.form)
        _add_arc_features(parts, attributes)
        _add_head_arc_features(parts, attributes)
        _add_sibling_features(parts, attributes)
        _add_dependent_counts(parts)
        return parts.to_features()


@dataclass(frozen=True, eq=False)
class _ArcAttributes:
    """Attributes of arcs as string numbers of the forest, one row per arc.

    ``from_forest`` adds a last row for a missing arc, whose attributes are the empty string; the
    result of ``take`` has no such row. A root is its own head: its ``head_tag`` and ``side`` are
    the empty string, but ``head`` is its own form and ``length`` is "-far".
    """

    arc_indices: Indices  # of the distinct arcs of the forest
    label: Indices
    tag: Indices  # of the dependent
    head_tag: Indices
    word: Indices  # form of the dependent
    head: Indices  # form of the head
    length: Indices  # see ``describe_length``
    side: Indices  # "+" if the head is to the left

    @classmethod
    def from_forest(cls, forest: ParseForest, form: str) -> _ArcAttributes:
        """Compute the attributes of all distinct arcs of a forest, in order, then of a missing arc.

        ``form`` is the form of words: "raw", "lower", "lemma", "porter" or "snowball". New strings
        are added to the forest, in place.
        """
        arcs, empty = forest.arcs, forest.string_number("")
        is_root = arcs.word == arcs.head
        words = _word_numbers(forest, form)
        side = np.where(arcs.word > arcs.head, forest.string_number("+"), forest.string_number("-"))
        columns = (
            arcs.label,
            forest.tag[arcs.word],
            np.where(is_root, empty, forest.tag[arcs.head]),
            words[arcs.word],
            words[arcs.head],
            length_numbers(forest, arcs.word - arcs.head),
            np.where(is_root, empty, side),
        )
        return cls(np.arange(len(arcs)), *(np.append(column, empty) for column in columns))

    def take(self, arcs: Indices) -> _ArcAttributes:
        """Return the attributes of the given arcs, in the order of ``arcs``, which may repeat.

        Call it on the result of ``from_forest``: index -1 selects its last row, the missing arc.
        ``arc_indices`` of the result is ``arcs`` as given.
        """
        return _ArcAttributes(arcs, *(getattr(self, f.name)[arcs] for f in fields(self)[1:]))


def _word_numbers(forest: ParseForest, form: str) -> Indices:  # (words,)
    """Return the string number of the form of each word of a forest, shape (words,).

    ``form`` is "raw", "lower", "lemma", "porter" or "snowball". New strings are added to the
    forest, in place.
    """
    orth, lemma = (np.unique(column, return_inverse=True) for column in forest.word_hashes.T)
    distinct, inverse = factorize(orth[1] * max(len(lemma[0]), 1) + lemma[1])
    texts, lemmas = (lookup_strings(column[0], forest.stores) for column in (orth, lemma))
    pairs = zip(
        *(indices.tolist() for indices in np.divmod(distinct, max(len(lemmas), 1))), strict=True
    )
    return forest.string_numbers(apply_form(texts[i], lemmas[j], form) for i, j in pairs)[inverse]


def _add_arc_features(parts: PartCounter, attributes: _ArcAttributes) -> None:
    """Add the features of single arcs to ``parts``, in place.

    ``attributes`` are those of all distinct arcs and of a missing one. Names of an arc combine
    label, side, tags, words, length and the distinct tags between its ends, with separate names for
    each such tag. A root only has the names ("root", tag) and ("root word", word); the missing arc
    gets none.
    """
    arcs = parts.forest.arcs
    part_numbers = parts.add(np.arange(len(parts.forest.arc)), parts.forest.arc, len(arcs))
    selected = attributes.take(np.flatnonzero(arcs.word == arcs.head))
    parts.add_names(part_numbers[selected.arc_indices], "root", selected.tag)
    parts.add_names(part_numbers[selected.arc_indices], "root word", selected.word)
    selected = attributes.take(np.flatnonzero(arcs.word != arcs.head))
    name = partial(parts.add_names, part_numbers[selected.arc_indices])
    name("label", selected.label, selected.side)
    name("label, tags", selected.label, selected.side, selected.head_tag, selected.tag)
    name("label, length", selected.label, selected.length)
    name("tags, length", selected.head_tag, selected.tag, selected.length)
    name("label, dependent", selected.label, selected.word)
    name("label, head", selected.label, selected.head)
    name("words", selected.head, selected.word)
    start, end = np.minimum(arcs.word, arcs.head) + 1, np.maximum(arcs.word, arcs.head)
    arc, tag = _tags_between(parts.forest.tag, start, end)
    selected = attributes.take(arc)
    parts.add_names(
        part_numbers[arc], "tags, between", selected.head_tag, selected.tag, selected.side, tag
    )
    parts.add_names(part_numbers[arc], "label, between", selected.label, selected.side, tag)


def _tags_between(tags: Indices, start: Indices, end: Indices) -> tuple[Indices, Indices]:
    """Return the distinct tags in each range of words ``start:end``, as two arrays (range, tag).

    ``tags`` are the tags of all words; the first result has indices into ``start`` and ``end``.
    Each (range, tag) occurs once; empty ranges, also those with ``end`` before ``start``, do not
    occur. Ranges of fewer than MIN_LONG_ARC_WORDS words come first. In longer ones the positions of
    each tag are searched instead of listing the words, so that many long arcs do not take quadratic
    time.
    """
    n_words = np.maximum(end - start, 0)
    short, long = (
        np.flatnonzero(n_words < MIN_LONG_ARC_WORDS),
        np.flatnonzero(n_words >= MIN_LONG_ARC_WORDS),
    )
    owner, words = expand(start[short], n_words[short])
    n_tags = int(tags.max(initial=0)) + 1
    distinct, _ = factorize(short[owner] * n_tags + tags[words])
    pairs = [np.divmod(distinct, n_tags)]
    for tag in np.unique(tags).tolist() if len(long) else ():
        places = np.flatnonzero(tags == tag)
        is_inside = np.searchsorted(places, start[long]) < np.searchsorted(places, end[long])
        pairs.append((long[is_inside], np.full(is_inside.sum(), tag)))
    arc, tag = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    return arc, tag


def _add_arc_pairs(
    parts: PartCounter, attributes: _ArcAttributes, places: Indices, other_places: Indices
) -> tuple[Indices, _ArcAttributes, _ArcAttributes]:
    """Add a part for each distinct pair of arcs; return (part numbers, first arcs, second arcs).

    The pairs are the arcs to ``places`` and to ``other_places`` (parallel arrays); -1 in the latter
    means a missing arc. ``places`` must be distinct. Results have one row per distinct pair; those
    for arcs are their attributes. Changes ``parts``, in place; the caller adds the names.
    """
    arc_of_place, n_codes = parts.forest.arc, len(parts.forest.arcs) + 1
    other_arcs = np.where(other_places < 0, -1, arc_of_place[other_places])
    distinct, inverse = factorize(arc_of_place[places] * n_codes + other_arcs + 1)
    first, second = np.divmod(distinct, n_codes)
    return (
        parts.add(places, inverse, len(distinct)),
        attributes.take(first),
        attributes.take(second - 1),
    )


def _add_head_arc_features(parts: PartCounter, attributes: _ArcAttributes) -> None:
    """Add the features of each arc together with its head's arc to ``parts``, in place.

    Names are "labels above" (both labels), "sides above" (labels and sides) and "tags above"
    (labels and the tags of dependent, head and head's head). The lower arc is never that of a root;
    the upper one may be.
    """
    head = parts.forest.head
    non_roots = np.flatnonzero(head != np.arange(len(head)))
    part_numbers, lower, upper = _add_arc_pairs(parts, attributes, non_roots, head[non_roots])
    parts.add_names(part_numbers, "labels above", lower.label, upper.label)
    parts.add_names(part_numbers, "sides above", lower.label, upper.label, lower.side, upper.side)
    parts.add_names(
        part_numbers,
        "tags above",
        lower.label,
        upper.label,
        lower.tag,
        lower.head_tag,
        upper.head_tag,
    )


def _add_sibling_features(parts: PartCounter, attributes: _ArcAttributes) -> None:
    """Add features of pairs of dependents of the same head to ``parts``, in place.

    "labels beside" is for consecutive dependents of a head, also if the head is between them: the
    head's tag and both labels. "tags inside" and "labels inside" are for each dependent and the
    next one on the same side that is closer to the head: the head's tag, the tags or labels of
    both, and the side; the dependent closest to the head is paired with a missing arc. Roots are
    not dependents.
    """
    head = parts.forest.head
    non_roots = np.flatnonzero(head != np.arange(len(head)))
    order = non_roots[np.argsort(head[non_roots], kind="stable")]
    is_same_head = head[order[1:]] == head[order[:-1]]
    left, right = order[:-1][is_same_head], order[1:][is_same_head]
    part_numbers, first, second = _add_arc_pairs(parts, attributes, left, right)
    parts.add_names(part_numbers, "labels beside", first.head_tag, first.label, second.label)
    inner_sibling = np.full(len(head), -1)
    is_right, is_left = (
        left > head[left],
        right < head[right],
    )  # both siblings on one side of the head
    inner_sibling[right[is_right]], inner_sibling[left[is_left]] = left[is_right], right[is_left]
    part_numbers, outer, inner = _add_arc_pairs(
        parts, attributes, non_roots, inner_sibling[non_roots]
    )
    parts.add_names(part_numbers, "tags inside", outer.head_tag, outer.tag, inner.tag, outer.side)
    parts.add_names(
        part_numbers, "labels inside", outer.head_tag, outer.label, inner.label, outer.side
    )


def _add_dependent_counts(parts: PartCounter) -> None:
    """Add the features ("dependents", tag, number of dependents) of heads to ``parts``, in place.

    Words without dependents are left out.
    """
    forest = parts.forest
    heads_of_words = forest.head[forest.head != np.arange(len(forest.head))]
    counts = np.bincount(heads_of_words, minlength=len(forest.head))
    heads = np.flatnonzero(counts)
    n_counts = int(counts.max(initial=0)) + 1
    distinct, inverse = factorize(forest.tag[forest.word[heads]] * n_counts + counts[heads])
    tag, distinct_counts = np.divmod(distinct, n_counts)
    part_numbers = parts.add(heads, inverse, len(distinct))
    parts.add_names(
        part_numbers, "dependents", tag, forest.string_numbers(map(str, distinct_counts.tolist()))
    )


ROUNDING_TOLERANCE = 1e-5  # of vote shares


@dataclass(frozen=True)
class ArcVotes:
    """Counts of a parse's arcs by binned share of votes, divided by the root of the word count.

    An arc that most parsers have is mostly right, but how often depends on the arc and on the
    parser. The features of an arc are: the bins of all parsers' shares for the arc, taken together;
    those of their shares for its head; and the bin of the mean share for the arc with the label,
    with the dependent's tag, with both tags, and with label and length.

    Parameters
    ----------
    steps
        Number of bins between no votes and all votes, which have bins of their own.
    """

    steps: int = 4

    def __post_init__(self) -> None:
        """Raise ValueError if ``steps`` is below 1."""
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1, got {self.steps}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        """Return the features of candidates, one row each, in order.

        There must be at least one candidate. The numbers of parsers may differ between candidates:
        missing ones are left out of means and names. Raises ValueError unless the candidates come
        from the task ``parse_ranking``.
        """
        forest = ParseForest.from_candidates(list(track(candidates, "votes", len(candidates))))
        infos = [get_parse_info(candidate) for candidate in candidates]
        arcs, heads = (
            _stack_shares([np.asarray(info[key]) for info in infos]) for key in ("arcs", "heads")
        )
        n_parsers = (arcs >= 0).sum(axis=1, dtype=arcs.dtype)
        mean_shares = np.maximum(arcs, 0).sum(axis=1) / np.maximum(n_parsers, 1)
        steps = self._to_steps(np.column_stack([arcs, heads, mean_shares]))
        parts = PartCounter(forest)
        self._add_vote_features(parts, steps, arcs.shape[1])
        return parts.to_features()

    def _add_vote_features(self, parts: PartCounter, steps: Indices, n_parsers: int) -> None:
        """Add a part per distinct (arc, bins) and its feature names to ``parts``, in place.

        ``steps`` has shape (places, 2 * parsers + 1), bins as ``_to_steps`` returns them: of each
        parser's share for the arc, then for the head, then of the mean share for the arc.
        """
        forest = parts.forest
        part_of_place = forest.arc
        for column in steps.T:
            part_of_place = factorize(part_of_place * (self.steps + 3) + column)[1]
        example_place = np.empty(int(part_of_place.max(initial=-1)) + 1, dtype=np.intp)
        example_place[part_of_place] = np.arange(len(part_of_place))
        part_numbers = parts.add(np.arange(len(part_of_place)), part_of_place, len(example_place))
        name = partial(parts.add_names, part_numbers)
        *vote_numbers, all_votes = self._step_numbers(forest)[steps[example_place]].T
        label, tag, head_tag, length = _arc_attributes(forest, example_place)
        name("votes", *vote_numbers[:n_parsers])
        name("head's votes", *vote_numbers[n_parsers:])
        name("label, votes", label, all_votes)
        name("tag, votes", tag, all_votes)
        name("tags, votes", head_tag, tag, all_votes)
        name("label, length, votes", label, length, all_votes)

    def _to_steps(self, shares: Vector) -> Indices:
        """Return the bin of each share of votes, in the same shape.

        0 for a missing parser (-1), 1 for no votes, 2 to ``steps + 1`` for equal intervals that
        include their lower bound, and ``steps + 2`` for all votes. Shares within ROUNDING_TOLERANCE
        of 0 and 1 count as no and all votes.
        """
        steps = np.minimum(np.floor(shares * self.steps), self.steps - 1) + 2
        steps[shares < ROUNDING_TOLERANCE] = 1
        steps[shares < 0] = 0
        steps[shares > 1 - ROUNDING_TOLERANCE] = self.steps + 2
        return steps.astype(np.intp)

    def _step_numbers(self, forest: ParseForest) -> Indices:
        """Return the string number of each bin's name, shape (steps + 3,); -1 for bin 0, missing.

        Names of the others are "none", "0" to ``steps - 1`` and "all"; new strings are added to the
        forest, in place.
        """
        names = ["none", *map(str, range(self.steps)), "all"]
        return np.append(-1, forest.string_numbers(names))


def _stack_shares(tables: Sequence[Vector]) -> Vector:  # each (words, parsers)
    """Stack the (words, parsers) tables of all parses into one of shape (places, parsers).

    The number of parsers is the largest; parsers that a table lacks are -1. There must be at least
    one table.
    """
    n_parsers = max(table.shape[1] for table in tables)
    padding = [((0, 0), (0, n_parsers - table.shape[1])) for table in tables]
    tables_and_padding = zip(tables, padding, strict=True)
    return np.concatenate(
        [
            np.pad(table, pad, constant_values=-1) if pad[1][1] else table
            for table, pad in tables_and_padding
        ]
    )


def _arc_attributes(
    forest: ParseForest, places: Indices
) -> tuple[Indices, Indices, Indices, Indices]:
    """Return the string numbers of (label, tag, head's tag, length) of the arcs to some places.

    Each is an array in the order of ``places``. A root has the label "ROOT", whatever its own, and
    the empty string as its head's tag. New strings are added to the forest, in place.
    """
    word, head = forest.word[places], forest.word[forest.head[places]]
    is_root = word == head
    label = np.where(is_root, forest.string_number("ROOT"), forest.label[places])
    head_tag = np.where(is_root, forest.string_number(""), forest.tag[head])
    return label, forest.tag[word], head_tag, length_numbers(forest, word - head)


SEQUENCE_TYPES = (
    "bigram",
    "word_tag",
    "link_type",
    "word_link",
    "link_length",
    "length_type",
    "link_bigram",
)
Link = tuple[int, int, str]  # left word, right word, type


@dataclass(frozen=True)
class ParseSequences:
    """A parse as up to seven views: sequences of one type of feature each, in order of appearance.

    A link is an undirected arc. The views are ``bigram``: two linked words; ``word_tag``: a word
    and its part of speech; ``link_type``: the label of a link; ``word_link``: a word and the type
    of each of its links; ``link_length``: number of words a link spans; ``length_type``: length and
    type of a link; ``link_bigram``: the types of two links that share a word, leftmost first. Links
    are ordered by their left, then their right word.

    The links are those of the candidate's sentence: ``doc.user_data["dependencies"]`` if given,
    such as a linkage of Link Grammar, or the tree of the Doc. A kernel on all views is
    ``EachView(LocalityConvolution())``; ``Sum`` and ``OnView`` give each view its own settings.

    Tsivtsivadze et al. (2009), Applied Intelligence 31:81-88.

    Parameters
    ----------
    types
        Views to make.
    form
        Form of words: "raw", "lower", "lemma", "porter" or "snowball".
    directed
        Whether the type of a link also says on which side its governor is; the published features
        do not.
    """

    types: Sequence[str] = SEQUENCE_TYPES
    form: str = "lower"
    directed: bool = False

    def __post_init__(self) -> None:
        """Convert ``types`` to a tuple; raise ValueError if a setting is not valid.

        ``types`` must have at least one name, all of SEQUENCE_TYPES; ``form`` must be a known form
        of words.
        """
        object.__setattr__(self, "types", tuple(self.types))
        validate_form(self.form)
        unknown = [name for name in self.types if name not in SEQUENCE_TYPES]
        if unknown or not self.types:
            raise ValueError(f"types must be some of {SEQUENCE_TYPES}, got {self.types}")

    def __call__(self, candidates: Sequence[Candidate]) -> MultiView:
        """Return the views of the candidates' sentences, one sequence per candidate in each.

        Views are named as in ``types``. Each item of a sequence is a string. Raises ValueError if a
        Doc has neither given dependencies nor a parse.
        """
        sequences: dict[str, list[list[str]]] = {name: [] for name in self.types}
        for candidate in track(candidates, "parses", len(candidates)):
            parse = _LinkedSentence.from_candidate(candidate, self)
            for name in self.types:
                sequences[name].append(getattr(parse, name)())
        return MultiView({name: Sequences.from_lists(lists) for name, lists in sequences.items()})


@dataclass(frozen=True)
class _LinkedSentence:
    """Words, tags and sorted links of a sentence; one method for each view of ``ParseSequences``.

    Links are (left word, right word, type); words are counted from the start of the sentence. Each
    of these methods returns one string per feature; its parts are separated by a space (a word and
    its tag by "/").
    """

    words: list[str]
    tags: list[str]
    links: list[Link]

    @classmethod
    def from_candidate(cls, candidate: Candidate, settings: ParseSequences) -> _LinkedSentence:
        """Collect words, tags and links of a candidate's sentence.

        With ``settings.directed`` a type gets the suffix ">" if the governor is on the left, else
        "<". Roots have no link. Raises ValueError if the Doc has neither given dependencies nor a
        parse.
        """
        sentence = _candidate_sentence(candidate)
        words = [apply_form(token.text, token.lemma_, settings.form) for token in sentence]
        start = sentence.start
        links = []
        for governor, dependent, kind in _sentence_dependencies(candidate, sentence):
            left, right = sorted((governor - start, dependent - start))
            side = (">" if governor < dependent else "<") if settings.directed else ""
            links.append((left, right, kind + side))
        return cls(words, [token.tag_ for token in sentence], sorted(links))

    def bigram(self) -> list[str]:
        """Return the two words of each link, the left one first, in the order of links."""
        return [f"{self.words[left]} {self.words[right]}" for left, right, _ in self.links]

    def word_tag(self) -> list[str]:
        """Return each word with its tag, such as "binds/VBZ", in text order."""
        return [f"{word}/{tag}" for word, tag in zip(self.words, self.tags, strict=True)]

    def link_type(self) -> list[str]:
        """Return the type of each link, in the order of links."""
        return [kind for _, _, kind in self.links]

    def word_link(self) -> list[str]:
        """Return each word with the type of each of its links, such as "binds nsubj".

        In the order of words; for a word, by the position of the word at the other end. Words
        without links are left out.
        """
        return [
            f"{word} {kind}"
            for word, links in zip(self.words, self._links_of_words(), strict=True)
            for _, kind in links
        ]

    def link_length(self) -> list[str]:
        """Return the length of each link, 1 between neighbouring words, in the order of links."""
        return [str(right - left) for left, right, _ in self.links]

    def length_type(self) -> list[str]:
        """Return the length and type of each link, such as "2 nsubj", in the order of links."""
        return [f"{right - left} {kind}" for left, right, kind in self.links]

    def link_bigram(self) -> list[str]:
        """Return the types of every two links that share a word, such as "nsubj dobj".

        In the order of shared words; of two links, the one whose other end is further left comes
        first.
        """
        return [
            f"{first} {second}"
            for links in self._links_of_words()
            for (_, first), (_, second) in combinations(links, 2)
        ]

    def _links_of_words(self) -> list[list[tuple[int, str]]]:
        """Return (other word, type) of the links of each word, leftmost other word first.

        One list per word, empty without links; links to the same word are sorted by type.
        """
        links_of_word: list[list[tuple[int, str]]] = [[] for _ in self.words]
        for left, right, kind in self.links:
            links_of_word[left].append((right, kind))
            links_of_word[right].append((left, kind))
        return [sorted(links) for links in links_of_word]


def _candidate_sentence(candidate: Candidate) -> Span:
    """Return the sentence that contains the candidate's first span.

    The whole Doc if the candidate has no spans or the Doc has no sentence boundaries.
    """
    doc = candidate.doc
    if candidate.spans and doc.has_annotation("SENT_START"):
        return candidate.spans[0].sent
    return doc[0 : len(doc)]


def _sentence_dependencies(candidate: Candidate, sentence: Span) -> list[tuple[int, int, str]]:
    """Return (governor, dependent, type) of the arcs within the sentence, without roots.

    Words are token indices of the Doc. Arcs are those of ``doc.user_data["dependencies"]`` if it
    exists, else of the parse. Raises ValueError if the Doc has neither.
    """
    doc: Doc = candidate.doc
    if "dependencies" in doc.user_data:
        dependencies = [(g, d, kind) for g, d, kind in doc.user_data["dependencies"]]
    elif len(doc) == 0 or doc.has_annotation("DEP"):
        dependencies = [(token.head.i, token.i, token.dep_) for token in sentence]
    else:
        raise ValueError(
            f"document {candidate.document!r} has no parse. Add a parser to the spaCy pipeline, "
            "or read a corpus with dependencies."
        )
    inside = range(sentence.start, sentence.end)
    return [(g, d, kind) for g, d, kind in dependencies if g != d and g in inside and d in inside]


@dataclass(frozen=True, kw_only=True)
class ParseGraph:
    """The parse of a candidate's Doc as a labelled graph.

    There is a vertex per token and per dependency, with edges governor -> dependency -> dependent,
    all of ``weight``. A token without governor gets an edge from a further vertex labelled
    ``ROOT``.

    Parameters
    ----------
    weight
        Weight of all edges, at least 0.
    labels
        Labels of a token: ``"text"``, ``"pos"``, both or neither.
    words
        Form of the text: ``"raw"``, ``"lower"``, ``"lemma"`` or ``"stem"``.
    parse
        Dependencies to use: ``"given"`` with the corpus, those of ``"spacy"``, or ``"auto"``, the
        given ones if there are any. ``"collapsed"`` is like auto, but collapses prepositions and
        coordinations in spaCy's dependencies; ``"own"`` is like collapsed, but prefers spaCy's
        parse to given dependencies.
    drop
        Types of dependencies to leave out.
    """

    weight: float = 0.5
    labels: Sequence[str] = ("text", "pos")
    words: WordForm = "lower"
    parse: Parse = "auto"
    drop: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Convert sequences to tuples; raise ValueError if a setting is not valid.

        The weight must be finite and at least 0; labels, words and parse must be among their
        choices.
        """
        for name in ("labels", "drop"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not 0 <= self.weight < np.inf:
            raise ValueError(f"weight must be 0 or more, got {self.weight}")
        check_choice("labels", self.labels, ("text", "pos"))
        check_choice("words", [self.words], get_args(WordForm))
        check_choice("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> GraphBatch:
        """Return one graph per candidate, of its whole Doc, in order; all share one list of labels.

        Raises ValueError if a Doc lacks the dependencies that ``parse`` asks for.
        """
        words = LabelIndex()
        tracked = track(candidates, "parse graphs", len(candidates))
        families = [self._family(c, i, words) for i, c in enumerate(tracked)]
        return GraphBatch(tuple(words.ids), tuple(families), len(candidates))

    def _family(self, candidate: Candidate, index: int, words: LabelIndex) -> GraphFamily:
        """Return the graph of one candidate; new labels are added to ``words``, in place.

        ``index`` is the candidate's number in the batch. Vertices are the tokens, then the
        dependencies, then a ROOT vertex per token without governor (also if ``drop`` removed its
        dependency). A token has up to two labels, text and tag (or coarse part of speech, if it has
        no tag); -1 means no label, also for a tag equal to the text.
        """
        doc = candidate.doc
        dependencies, n_tokens = Dependencies.from_doc(doc, self.parse, self.drop), len(doc)
        edges = dependencies.edges(n_tokens)
        roots = np.setdiff1d(np.arange(n_tokens), dependencies.dependent)
        root_edges = np.column_stack([np.arange(len(roots)) + n_tokens + len(dependencies), roots])

        labels = np.full((1, n_tokens + len(dependencies) + len(roots), 2), -1, dtype=np.int32)
        if "text" in self.labels:
            forms = [word_form(token, self.words) for token in doc]
            labels[0, :n_tokens, 0] = words.prefixed_ids(forms, ("",))
        if "pos" in self.labels:
            tags = words.prefixed_ids([token.tag_ or token.pos_ for token in doc], ("",))[0]
            labels[0, :n_tokens, 1] = np.where(tags == labels[0, :n_tokens, 0], -1, tags)
        labels[0, n_tokens:, 0] = words.prefixed_ids(
            [*dependencies.types, *["ROOT"] * len(roots)], ("",)
        )
        weights = np.full((1, len(edges) + len(root_edges)), self.weight)
        return GraphFamily(np.array([index]), np.vstack([edges, root_edges]), weights, labels)
