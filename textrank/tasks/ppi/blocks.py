"""Blocks of named features of a pair of entities, each for a linear kernel.

- ``LocalContext``: words next to each entity.
- ``GlobalContext``: n-grams before, between and after.
- ``SideWords``: bag of words before, between and after.
- ``PathWalks``: the dependency path between the entities.
- ``TriggerRoles``: trigger words and how they relate to the pair.
- ``EventRoles``: like ``TriggerRoles``, but with classes of words in place of words.
- ``SignPatterns``: raising and lowering words in order, and their product.
- ``BetweenSequences``: words and tags between the entities in order, for kernels on sequences.

The blocks are registered representations and ``FeatureBlock`` objects: ``extract`` adds the
features of all pairs of a batch to a counter at once. The helpers ``_add_*`` each add one group of
features to the counter, in place.

In arrays, words, tags and labels are numbers of the lexicon of the batch. A *step* is one
dependency of a path in walking direction, from the first entity to the second; its label is the
type of the dependency with ``>`` (down to a dependent) or ``<`` (up to a governor). The *top* of a
path is the token at which it turns from climbing to descending, the last one if it only climbs.
Tokens of the pair's entities are read as ``PROT1`` and ``PROT2``, those of others as ``PROT``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from textrank._ragged import offsets, run_starts
from textrank.candidates import Candidate, span_tokens
from textrank.features import Features, Indices, MultiView
from textrank.graphs import Sequences
from textrank.tasks.ppi.pairs import (
    FIRST_ENTITY,
    OTHER_ENTITY,
    SECOND_ENTITY,
    SIDES,
    EntityPair,
    FeatureCounter,
    PairArrays,
    analyze_pairs,
    extract_features,
)
from textrank.tasks.ppi.sentences import Parse, check_choice
from textrank.tasks.ppi.vocabulary import (
    EVENT_CLASSES,
    NEGATIONS,
    SIGNS,
    TRIGGERS,
    dependency_group,
    is_verb,
)


class _Block(ABC):
    """Base of the feature blocks: their settings in common and their entry points.

    A subclass implements ``extract`` and sets ``binary`` (0/1 features instead of counts);
    ``parse`` chooses the dependencies that candidates are analysed with.
    """

    binary: ClassVar[bool]
    parse: Parse

    def __post_init__(self) -> None:
        """Raise ValueError if ``parse`` is not one of its choices."""
        check_choice("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        """Return the features of candidates, one row each, in order.

        Raises ValueError if a candidate does not have two spans or its Doc lacks the parse.
        """
        return self.represent(analyze_pairs(candidates, self.parse))

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """Return the features of pairs that are already analysed, one row each, in order.

        The parse with which the pairs were analysed is used, whatever ``self.parse`` is.
        """
        return extract_features(self, pairs)

    @abstractmethod
    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the features of all pairs to ``counter``, in place, under its current view.

        Row i of the counter is ``arrays.pairs[i]``.
        """


@dataclass(frozen=True, kw_only=True)
class LocalContext(_Block):
    """Counts of stems and parts of speech within ``width`` tokens of each entity of a pair.

    Each is counted once with its offset from the entity (-1 is the token before it) and once
    without. Positions outside the sentence are skipped. ``width`` must be at least 1, else
    ValueError is raised.

    Giuliano, Lavelli and Romano (2006), EACL.
    """

    width: int = 3
    parse: Parse = "auto"
    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Raise ValueError if ``parse`` is not one of its choices or ``width`` is below 1."""
        super().__post_init__()
        if self.width < 1:
            raise ValueError(f"width must be at least 1, got {self.width}")

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the words and tags around both entities of all pairs to ``counter``, in place.

        Names are (entity, "word" or "tag", offset, value) and (entity, "word" or "tag", value),
        with "PROT1" or "PROT2" as the entity. Offsets count from the first token of an entity to
        the left and from its last to the right. Tokens of the other entity and of further ones are
        included: their words are placeholders, their tags are kept.
        """
        steps = np.arange(1, self.width + 1)
        offset = np.concatenate([-steps[::-1], steps])
        word, tag, *offset_words = arrays.lexicon.encode(
            ["word", "tag", *map(str, offset.tolist())]
        )
        for entity, (pair, entity_token) in zip(
            (FIRST_ENTITY, SECOND_ENTITY), arrays.entity_tokens, strict=True
        ):
            first = run_starts(pair)
            last = np.append(first[1:], len(pair))[: len(first)] - 1
            edge = np.where(offset < 0, entity_token[first, None], entity_token[last, None])
            neighbour = edge + offset
            low = arrays.sentence_base[:, None]
            high = low + arrays.sentence_sizes[:, None]
            rows, column = ((neighbour >= low) & (neighbour < high)).nonzero()
            offset_word, token = np.array(offset_words)[column], neighbour[rows, column]
            words, tags = arrays.words_at(rows, token), arrays.token_tags[token]
            for kind, value in ((word, words), (tag, tags)):
                counter.add(entity, rows, kind, offset_word, value)
                counter.add(entity, rows, kind, value)


@dataclass(frozen=True, kw_only=True)
class GlobalContext(_Block):
    """Counts of n-grams of one to ``longest`` stems in three windows, for a linear kernel.

    The window *fore* is up to ``outer`` words before the pair, the pair, and the words between its
    entities; *between* is the pair and the words between; *after* is the pair, the words between,
    and up to ``outer`` words after it. Only the first ``inner`` words between are used. An entity
    is one word, however many tokens it has.

    Giuliano, Lavelli and Romano (2006), EACL.
    """

    longest: int = 3
    outer: int = 6
    inner: int = 15
    parse: Parse = "auto"
    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Raise ValueError if ``parse`` is not one of its choices or a size is too small.

        ``longest`` must be at least 1, ``outer`` and ``inner`` at least 0.
        """
        super().__post_init__()
        for name, least in (("longest", 1), ("outer", 0), ("inner", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the n-grams of all windows of all pairs to ``counter``, in place.

        Windows are "fore" (up to the second entity), "between" (from the first to the second) and
        "after" (from the first on); n-grams have 1 to ``longest`` stems. Names are (window,
        *stems). An n-gram counts in every window that contains all of it.
        """
        windows = self._windows(arrays)
        for size in range(1, self.longest + 1):
            last = np.arange(size - 1, len(windows.word))
            start = last - size + 1
            same_pair = windows.pair_index[start] == windows.pair_index[last]
            after_first, before_second = windows.from_first[start], windows.up_to_second[last]
            inside = {
                "fore": before_second,
                "between": after_first & before_second,
                "after": after_first,
            }
            for name, mask in inside.items():
                kept = start[mask & same_pair]
                ngram = [windows.word[kept + position] for position in range(size)]
                counter.add(name, windows.pair_index[kept], *ngram)

    def _windows(self, arrays: PairArrays) -> Windows:
        """Return the words of the windows, pair by pair in text order, each entity as one word.

        At most ``outer`` words before and after the pair, those nearest to it, and the first
        ``inner`` words between its entities are included. A run of other entities on one side is a
        single word. The words between always come after the first entity and before the second,
        even if the entities overlap or have gaps.
        """
        pair_token = (arrays.side >= 0).nonzero()[0]
        pair_token = pair_token[~_continues_name(arrays, pair_token)]
        side, pair = arrays.side[pair_token], arrays.pair_index[pair_token]
        count = np.bincount(3 * pair + side, minlength=3 * len(arrays.pairs))
        rank = np.arange(len(pair_token)) - (np.cumsum(count) - count)[3 * pair + side]
        distance = np.where(side == 0, count[3 * pair] - 1 - rank, rank)
        kept = (distance < np.array([self.outer, self.inner, self.outer])[side]).nonzero()[0]
        all_pairs = np.arange(len(arrays.pairs))
        words = np.concatenate(
            [
                arrays.words[pair_token[kept]],
                *(_repeat_word(arrays, n) for n in (FIRST_ENTITY, SECOND_ENTITY)),
            ]
        )
        pairs = np.concatenate([pair[kept], all_pairs, all_pairs])
        region = np.concatenate(
            [2 * side[kept], np.full_like(all_pairs, 1), np.full_like(all_pairs, 3)]
        )
        order = np.lexsort((region, pairs))  # stable: words of one side keep their order
        return Windows(words[order], pairs[order], region[order] >= 1, region[order] <= 3)


@dataclass(frozen=True, eq=False)
class Windows:
    """Words of the windows of all pairs of a ``GlobalContext``, one entry per word.

    ``word`` has lexicon numbers, ``pair_index`` the pair of each word.
    """

    word: Indices
    pair_index: Indices
    from_first: NDArray[np.bool_]  # whether a word stands at the first entity or after it
    up_to_second: NDArray[np.bool_]  # whether at the second or before it


def _repeat_word(arrays: PairArrays, word: str) -> Indices:
    """Return an array with the lexicon number of ``word`` for each pair, shape (pairs,)."""
    return np.full(len(arrays.pairs), arrays.lexicon(word), dtype=np.intp)


def _continues_name(arrays: PairArrays, pair_token: Indices) -> NDArray[np.bool_]:
    """Return which pair tokens continue a run of other entities on one side of the pair.

    Such a run, which may consist of several entities, counts as one word: only its first token is
    not marked. ``pair_token`` is sorted, and its neighbouring items count as neighbours in the
    text; the mask has its length.
    """
    is_other = arrays.words[pair_token] == arrays.lexicon(OTHER_ENTITY)
    mask = np.zeros(len(pair_token), dtype=bool)
    same = (arrays.pair_index[pair_token[1:]] == arrays.pair_index[pair_token[:-1]]) & (
        arrays.side[pair_token[1:]] == arrays.side[pair_token[:-1]]
    )
    mask[1:] = is_other[1:] & is_other[:-1] & same
    return mask


@dataclass(frozen=True, kw_only=True)
class SideWords(_Block):
    """Counts of stems before, between and after the entities of a pair, for a linear kernel.

    Tokens of the pair's entities are left out, those of other entities count as ``PROT``.
    """

    parse: Parse = "auto"
    binary: ClassVar[bool] = False

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the words on each side of all pairs to ``counter``, in place, as (side, stem).

        The sides are "before", "middle" and "after".
        """
        for number, side in enumerate(SIDES):
            pair_token = (arrays.side == number).nonzero()[0]
            counter.add(side, arrays.pair_index[pair_token], arrays.words[pair_token])


@dataclass(frozen=True, kw_only=True)
class PathWalks(_Block):
    """Counts of walks along the dependency path between two entities, for a linear kernel.

    The path is the alternating sequence ``w0 d1 w1 d2 ... wk`` of words and dependencies, marked
    ``>`` if they lead down to a dependent and ``<`` if up to a governor. Features are its n-grams
    of three items (word-dependency-word and dependency-word-dependency) in words and in parts of
    speech, its n-grams of five in words, single words and dependencies, the whole path as
    dependencies, as words and as parts of speech, its length, and every dependency by which a word
    off the path depends on a word of the path. A pair without a path has only the feature ``length
    none``.

    Bunescu and Mooney (2005), HLT/EMNLP; Kim, Yoon and Yang (2008), Bioinformatics 24(1).
    """

    parse: Parse = "auto"
    binary: ClassVar[bool] = False

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the features of the paths of all pairs to ``counter``, in place.

        They are the length (see below), those of ``_add_walks`` and those of
        ``_add_path_children``. The length is the number of steps as text, "none" without a path and
        "0" if the entities share a token.
        """
        lengths = [str(n) if n >= 0 else "none" for n in arrays.paths.length.tolist()]
        counter.add("length", np.arange(len(lengths)), arrays.lexicon.encode(lengths))
        _add_walks(arrays, counter)
        _add_path_children(arrays, counter)


def _add_walks(arrays: PairArrays, counter: FeatureCounter) -> None:
    """Add n-grams of the path, the whole path, and its inner words and dependencies.

    Adds to ``counter``, in place. Walks alternate words (or coarse tags) and labels of steps; their
    n-grams have 3 items ("walk of words", "walk of tags") or 5 ("walk of words" only). Each pair
    with a path has the whole path as one feature, in words, in coarse tags and in labels of steps
    ("path of words", "path of tags", "path of dependencies"). Inner words ("word") are those
    between the two end tokens of the path, which belong to the entities; every step is a
    "dependency". A path of length 0 has only the three whole paths.
    """
    pair, position, token = arrays.path_tokens()
    tokens = arrays.paths.tokens
    connected = (arrays.paths.length >= 0).nonzero()[0]
    dependencies = np.full_like(arrays.paths.steps, -1)
    row, step = np.nonzero(arrays.paths.steps >= 0)
    dependencies[row, step] = arrays.step_labels[arrays.paths.steps[row, step]]
    for kind, values in (
        ("words", arrays.words_at(pair, token)),
        ("tags", arrays.token_coarse_tags[token]),
    ):
        sequence = np.full_like(tokens, -1)
        sequence[pair, position] = values
        walk = interleave(sequence, dependencies)
        for size in (3, 5) if kind == "words" else (3,):
            _add_ngrams(f"walk of {kind}", walk, size, counter)
        counter.add_padded(f"path of {kind}", connected, sequence[connected])
        if kind == "words":
            inner = ((position > 0) & (position < arrays.paths.length[pair])).nonzero()[0]
            counter.add("word", pair[inner], values[inner])
    counter.add_padded("path of dependencies", connected, dependencies[connected])
    counter.add("dependency", row, dependencies[row, step])


def _add_path_children(arrays: PairArrays, counter: FeatureCounter) -> None:
    """Add the dependencies by which a word off the path depends on a word of the path.

    Adds two features "beside" for each to ``counter``, in place: (word of the path, dependency,
    child) and (dependency, child). Dependencies on governors off the path are not added. Only the
    tokens of the entities at the two ends are on the path; other tokens of the entities are off it.
    Pairs without a path get none.
    """
    pair, _, token = arrays.path_tokens()
    on_path = np.zeros(int(arrays.pair_token_starts[-1]), dtype=bool)
    on_path[token + arrays.offset[pair]] = True
    position, step = arrays.links.from_tokens(token)
    target = arrays.links.target[step]
    kept = (
        arrays.links.is_down[step] & ~on_path[target + arrays.offset[pair[position]]]
    ).nonzero()[0]
    position, step, target = position[kept], step[kept], target[kept]
    rows, dependency = pair[position], arrays.links.type[step]
    child_word = arrays.words_at(rows, target)
    counter.add("beside", rows, arrays.words_at(rows, token[position]), dependency, child_word)
    counter.add("beside", rows, dependency, child_word)


def _add_ngrams(prefix: str, sequence: Indices, size: int, counter: FeatureCounter) -> None:
    """Add all n-grams of ``size`` consecutive items of each row to ``counter``, in place.

    The feature is (prefix, *items). ``sequence`` (pairs, width) has word numbers, padded with -1 at
    the end of a row; a row with fewer items than ``size`` gives none. Row i of the counter is row i
    of ``sequence``.
    """
    row, start = np.nonzero(sequence[:, size - 1 :] >= 0)
    counter.add(prefix, row, *(sequence[row, start + k] for k in range(size)))


def interleave(words: Indices, dependencies: Indices) -> Indices:
    """Return rows ``w0 d1 w1 d2 ... wk`` of words w (n, k + 1) and dependencies d (n, k).

    Padding of -1 is copied like any value.

    >>> interleave(np.array([[1, 2, 3]]), np.array([[8, 9]])).tolist()
    [[1, 8, 2, 9, 3]]
    """
    path = np.empty((len(words), words.shape[1] + dependencies.shape[1]), dtype=np.intp)
    path[:, ::2], path[:, 1::2] = words, dependencies
    return path


_ENTITY_SYMBOLS = {FIRST_ENTITY: ord("1"), SECOND_ENTITY: ord("2"), OTHER_ENTITY: ord("X")}


@dataclass(frozen=True, kw_only=True)
class TriggerRoles(_Block):
    """Trigger words and the structure that links a pair, 0/1 features for a linear kernel.

    Features are the trigger stems before, between, after, anywhere and on the path; the top of the
    path with its part of speech, and with the first and last dependency; verbs and words of the
    path; the path as coarse dependencies; up to four tokens between the entities as words and as
    parts of speech; the words before and after the pair; the order of entities (1, 2, X), triggers
    (k) and negations (n) as a pattern; and the binary logarithms of path length, tokens between and
    triggers between.
    """

    parse: Parse = "auto"
    binary: ClassVar[bool] = True

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add all groups of features of all pairs to ``counter``, in place.

        See the functions ``_add_triggers``, ``_add_path``, ``_add_middle``, ``_add_neighbours``,
        ``_add_patterns`` and ``_add_lengths``.
        """
        for add in (
            _add_triggers,
            _add_path,
            _add_middle,
            _add_neighbours,
            _add_patterns,
            _add_lengths,
        ):
            add(arrays, counter)


def _is_trigger(arrays: PairArrays, words: Indices) -> NDArray[np.bool_]:
    """Return whether each word number is that of one of TRIGGERS, in the same shape.

    ``words`` are numbers of ``arrays.lexicon``; placeholders of entities are never triggers.
    """
    return arrays.lexicon.isin(TRIGGERS, words)


def _add_triggers(arrays: PairArrays, counter: FeatureCounter) -> None:
    """Add trigger words with their side of the pair, and those on the path.

    Adds ("trigger", side or "path", stem) and, each time, ("trigger", "anywhere", stem) to
    ``counter``, in place. Sides are "before", "middle" and "after". Entities are never triggers.
    """
    pair_token = ((arrays.side >= 0) & _is_trigger(arrays, arrays.words)).nonzero()[0]
    sides = arrays.lexicon.encode(SIDES)[arrays.side[pair_token]]
    pair, _, token = arrays.path_tokens()
    words = arrays.words_at(pair, token)
    on_path = _is_trigger(arrays, words).nonzero()[0]
    for rows, where, word in (
        (arrays.pair_index[pair_token], sides, arrays.words[pair_token]),
        (pair[on_path], arrays.lexicon("path"), words[on_path]),
    ):
        counter.add("trigger", rows, where, word)
        counter.add("trigger", rows, arrays.lexicon("anywhere"), word)


def _add_path(arrays: PairArrays, counter: FeatureCounter) -> None:
    """Add top, ends, words and verbs of the path, and the path as coarse dependencies.

    Adds to ``counter``, in place: ("top", word, coarse tag); ("top between", word of the top, label
    of the first step, label of the last); ("ends of path", both labels); ("path word", word) and
    ("path verb", word) for words strictly inside the path; ("coarse path", *coarse dependencies).
    The top is the token at which the path turns from climbing to descending, the last one if it
    only climbs. Pairs without a path, or with a path of length 0, are skipped.
    """
    paths = arrays.paths
    rows = (paths.length > 0).nonzero()[0]
    if not len(rows):
        return
    top = paths.tokens[rows, arrays.path_tops[rows]]
    word = arrays.words_at(rows, top)
    ends = [arrays.step_labels[paths.steps[rows, step]] for step in (0, paths.length[rows] - 1)]
    counter.add("top", rows, word, arrays.token_coarse_tags[top])
    counter.add("top between", rows, word, *ends)
    counter.add("ends of path", rows, *ends)
    pair, position, token = arrays.path_tokens()
    inner = ((position > 0) & (position < paths.length[pair])).nonzero()[0]
    pair, token = pair[inner], token[inner]
    words = arrays.words_at(pair, token)
    counter.add("path word", pair, words)
    verbs = arrays.lexicon.lookup(is_verb, arrays.token_tags[token])
    counter.add("path verb", pair[verbs], words[verbs])
    counter.add_padded("coarse path", rows, _coarse_paths(arrays)[rows])


def _coarse_paths(arrays: PairArrays) -> Indices:
    """Return the coarse dependencies along each path, (pairs, k), padded with -1.

    k is the largest number of steps. Values are lexicon numbers of the ``dependency_group`` of a
    step followed by ">" (down) or "<" (up), such as "subj<"; runs of equal ones are merged. The row
    of a pair without a path is all -1.
    """
    words = arrays.lexicon.words()
    distinct, inverse = np.unique(arrays.step_labels, return_inverse=True)
    coarse = arrays.lexicon.encode(
        f"{dependency_group(words[mark][:-1])}{words[mark][-1]}" for mark in distinct.tolist()
    )[inverse]
    pair, step = np.nonzero(arrays.paths.steps >= 0)
    labels = coarse[arrays.paths.steps[pair, step]]
    kept = ((step == 0) | (labels != np.roll(labels, 1))).nonzero()[0]
    paths = np.full_like(arrays.paths.steps, -1)
    pair = pair[kept]
    rank = np.arange(len(pair)) - (step[kept] == 0).nonzero()[0][np.cumsum(step[kept] == 0) - 1]
    paths[pair, rank] = labels[kept]
    return paths


def _add_middle(arrays: PairArrays, counter: FeatureCounter) -> None:
    """Add the words, and the tags, between the entities as one feature each if there are few.

    Adds ("middle", *words) and ("middle tags", *tags) to ``counter``, in place, for pairs with at
    most MAX_SHORT_MIDDLE tokens between their entities. If there are none, the features are
    ("middle",) and ("middle tags",).
    """
    rows, pair_tokens = arrays.short_middles
    for name, values in (
        ("middle", arrays.words[pair_tokens]),
        ("middle tags", arrays.token_tags[arrays.token_index[pair_tokens]]),
    ):
        counter.add_padded(name, rows, np.where(pair_tokens >= 0, values, -1))


def _add_neighbours(arrays: PairArrays, counter: FeatureCounter) -> None:
    """Add the word right before and the word right after each pair to ``counter``, in place.

    The features are ("previous", word) and ("next", word), one of each per pair. At the bounds of
    the sentence the words are "start" and "end".
    """
    all_pairs = np.arange(len(arrays.pairs))
    starts_sentence = arrays.first_token == arrays.sentence_base
    ends_sentence = arrays.last_token == arrays.sentence_base + arrays.sentence_sizes - 1
    for name, token, is_missing, placeholder in (
        ("previous", arrays.first_token - 1, starts_sentence, "start"),
        ("next", arrays.last_token + 1, ends_sentence, "end"),
    ):
        words = np.full(len(all_pairs), arrays.lexicon(placeholder), dtype=np.intp)
        words[~is_missing] = arrays.words_at(all_pairs[~is_missing], token[~is_missing])
        counter.add(name, all_pairs, words)


def _add_patterns(arrays: PairArrays, counter: FeatureCounter) -> None:
    """Add the order of entities, triggers and negations as a string of symbols.

    Adds one "pattern" and one "pattern around" per pair to ``counter``, in place. Symbols are 1, 2,
    X (other entity), k (trigger) and n (negation); other words are skipped. "pattern" covers the
    tokens from the pair's first to its last; "pattern around" has one more symbol, if there is one,
    on either side, separated by spaces, such as "k 1k2 ". Runs of equal symbols before, within and
    after the pair are merged.
    """
    symbol = arrays.lexicon.lookup(_pattern_symbol, arrays.words, np.uint8)
    texts = _texts_by_region(symbol, arrays)
    middle = texts[1::3]
    around = [
        f"{before[-1:]} {between} {after[:1]}"
        for before, between, after in zip(texts[0::3], middle, texts[2::3], strict=True)
    ]
    all_pairs = np.arange(len(arrays.pairs))
    counter.add("pattern", all_pairs, arrays.lexicon.encode(middle))
    counter.add("pattern around", all_pairs, arrays.lexicon.encode(around))


def _pattern_symbol(word: str) -> int:
    """Return the symbol of a word in patterns as an ASCII code; 0 for words without one.

    ``word`` is a stem or the placeholder of an entity. A word that is both a trigger and a negation
    is a trigger (k).
    """
    if word in TRIGGERS:
        return ord("k")
    return ord("n") if word in NEGATIONS else _ENTITY_SYMBOLS.get(word, 0)


def _add_lengths(arrays: PairArrays, counter: FeatureCounter) -> None:
    """Add the binned path length, number of tokens between, and number of triggers between.

    Adds one "length of path", "length of middle" and "triggers in middle" per pair to ``counter``,
    in place. Values are the bit lengths of the numbers as text: 0, 1, 2-3, 4-7, ... become "0",
    "1", "2", "3", ...; "none" is the path length without a path.
    """
    all_pairs = np.arange(len(arrays.pairs))
    pair_token = ((arrays.side == 1) & _is_trigger(arrays, arrays.words)).nonzero()[0]
    triggers = np.bincount(arrays.pair_index[pair_token], minlength=len(all_pairs))
    path = [str(n.bit_length()) if n >= 0 else "none" for n in arrays.paths.length.tolist()]
    middle = [str(n.bit_length()) for n in arrays.side_sizes[:, 1].tolist()]
    counter.add("length of path", all_pairs, arrays.lexicon.encode(path))
    counter.add("length of middle", all_pairs, arrays.lexicon.encode(middle))
    words = arrays.lexicon.encode(str(n.bit_length()) for n in triggers.tolist())
    counter.add("triggers in middle", all_pairs, words)


_NO_EVENT = "-"  # class of words that say nothing about an event
_ENTITIES = (FIRST_ENTITY, SECOND_ENTITY, OTHER_ENTITY)
_EVENT_NAMES = (
    *dict.fromkeys(classes[0] for classes in EVENT_CLASSES.values()),
    _NO_EVENT,
    *_ENTITIES,
)
_EVENT_NUMBER = {name: number for number, name in enumerate(_EVENT_NAMES)}


def _event_number(word: str) -> int:
    """Return the index in ``_EVENT_NAMES`` of a word's first event class.

    ``word`` is a stem or the placeholder of an entity, which is a class of its own. Other words
    without a class have ``_NO_EVENT``.
    """
    if word in _ENTITIES:
        return _EVENT_NUMBER[word]
    return _EVENT_NUMBER[EVENT_CLASSES.get(word, (_NO_EVENT,))[0]]


@dataclass(frozen=True, kw_only=True)
class EventRoles(_Block):
    """Classes of event words and their links to a pair, 0/1 features for a linear kernel.

    The class of a word is its first one in ``vocabulary.EVENT_CLASSES`` (binding, inhibition,
    level, loss, ...), so that weights learned from one word apply to all words of its class.
    Features are the classes on each side of the pair and on the path; the class of the top of the
    path, alone and with the first and last dependency; and n-grams of three along the path (class,
    dependency, class or dependency, class, dependency), in which words without a class are "-" and
    entities are ``PROT1``, ``PROT2`` and ``PROT``.
    """

    parse: Parse = "auto"
    binary: ClassVar[bool] = True

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the features of all pairs to ``counter``, in place.

        Names are ("side", side, class) for event words before, between and after the pair. Pairs
        with a path of at least one step also have ("path", class) for its inner words, including
        "-" and entities, ("top", class), ("top between", class, label of the first step, label of
        the last) and ("walk", three consecutive classes and labels).
        """
        codes = arrays.lexicon.encode(_EVENT_NAMES)

        def classes(words: Indices) -> Indices:
            """Return the class of each word, as word numbers of the lexicon."""
            return np.asarray(codes[arrays.lexicon.lookup(_event_number, words, np.intp)])

        pair_token = (arrays.side >= 0).nonzero()[0]
        words = classes(arrays.words[pair_token])
        is_event = ~np.isin(words, codes[-len(_ENTITIES) - 1 :])
        pair_token = pair_token[is_event]
        sides = arrays.lexicon.encode(SIDES)[arrays.side[pair_token]]
        counter.add("side", arrays.pair_index[pair_token], sides, words[is_event])
        paths = arrays.paths
        rows = (paths.length > 0).nonzero()[0]
        if not len(rows):
            return
        pair, position, token = arrays.path_tokens()
        path_classes = classes(arrays.words_at(pair, token))
        inner = ((position > 0) & (position < paths.length[pair])).nonzero()[0]
        counter.add("path", pair[inner], path_classes[inner])
        top = classes(arrays.words_at(rows, paths.tokens[rows, arrays.path_tops[rows]]))
        ends = [arrays.step_labels[paths.steps[rows, step]] for step in (0, paths.length[rows] - 1)]
        counter.add("top", rows, top)
        counter.add("top between", rows, top, *ends)
        sequence = np.full_like(paths.tokens, -1)
        sequence[pair, position] = path_classes
        dependencies = np.full_like(paths.steps, -1)
        row, step = np.nonzero(paths.steps >= 0)
        dependencies[row, step] = arrays.step_labels[paths.steps[row, step]]
        _add_ngrams("walk", interleave(sequence, dependencies), 3, counter)


_MAX_SIGNS = 6  # in the name of a feature; longer sequences are cut at the end
_MAX_SIGN_DISTANCE = 3  # tokens from an entity up to which a sign is near it
_LOWERING_SIGNS = ("-", "L", "n", "0")


def _sign_symbol(word: str) -> int:
    """Return the sign of a word in ``SignPatterns`` as an ASCII code; 0 for words without one."""
    sign = SIGNS.get(word)
    if sign is not None:
        return ord(sign)
    return ord("n") if word in NEGATIONS else _ENTITY_SYMBOLS.get(word, 0)


@dataclass(frozen=True, kw_only=True)
class SignPatterns(_Block):
    """Order of raising and lowering words around a pair, 0/1 features for a linear kernel.

    A token has the sign ``+`` (raises), ``-`` (lowers), ``L`` (loss of a protein), ``G`` (gain),
    ``0`` (no effect) or ``n`` (negation) of ``vocabulary.SIGNS``; 1, 2 and X are tokens of the
    pair's first and second entity and of others. The product of signs tells that "loss of A lowered
    B" raises, which a sum of words cannot.
    """

    parse: Parse = "auto"
    binary: ClassVar[bool] = True

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the features of all pairs to ``counter``, in place.

        Names are ("before", "middle", "after" or "path", signs in order), ("around", the last sign
        before, the signs of the middle, the first sign after), ("product", "wide product" with the
        last sign before, or "path product": see ``_sign_product``) and ("near", entity, number of
        tokens from it, and sign) for tokens at most ``_MAX_SIGN_DISTANCE`` away.
        """
        n_pairs = len(arrays.pairs)
        all_pairs = np.arange(n_pairs)
        symbol = arrays.lexicon.lookup(_sign_symbol, arrays.words, np.uint8)
        texts = _texts_by_region(symbol, arrays)
        before, middle, after = texts[0::3], texts[1::3], texts[2::3]
        signs = [text.replace("X", "") for text in middle]
        encode = arrays.lexicon.encode
        counter.add("middle", all_pairs, encode(text[:_MAX_SIGNS] for text in signs))
        before = [text.replace("X", "")[-2:] for text in before]
        after = [text.replace("X", "")[:2] for text in after]
        counter.add("before", all_pairs, encode(before))
        counter.add("after", all_pairs, encode(after))
        around = [
            f"{b[-1:]} {m[:_MAX_SIGNS]} {a[:1]}"
            for b, m, a in zip(before, signs, after, strict=True)
        ]
        counter.add("around", all_pairs, encode(around))
        counter.add("product", all_pairs, encode(map(_sign_product, signs)))
        wide = [b[-1:] + m for b, m in zip(before, signs, strict=True)]
        counter.add("wide product", all_pairs, encode(map(_sign_product, wide)))
        self._add_path(arrays, counter)
        self._add_near(symbol, arrays, counter)

    @staticmethod
    def _add_path(arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the signs of the words on the path of each pair that has one, and their product."""
        pair, _, token = arrays.path_tokens()
        if not len(pair):
            return
        words = arrays.words_at(pair, token)
        symbols = arrays.lexicon.lookup(_sign_symbol, words, np.uint8)
        kept = symbols.nonzero()[0]
        bounds = offsets(np.bincount(pair[kept], minlength=len(arrays.pairs))).tolist()
        text = symbols[kept].tobytes().decode("ascii")
        rows = np.unique(pair)
        paths = [text[bounds[row] : bounds[row + 1]].strip("12X") for row in rows.tolist()]
        counter.add("path", rows, arrays.lexicon.encode(path[:_MAX_SIGNS] for path in paths))
        counter.add("path product", rows, arrays.lexicon.encode(map(_sign_product, paths)))

    @staticmethod
    def _add_near(symbol: NDArray[np.uint8], arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the signs next to each entity of a pair, by entity and distance."""
        entity_tokens = np.isin(symbol, (ord("1"), ord("2"))).nonzero()[0]
        is_sign = (symbol > 0) & ~np.isin(symbol, [ord(letter) for letter in "12X"])
        for distance in range(-_MAX_SIGN_DISTANCE, _MAX_SIGN_DISTANCE + 1):
            other = entity_tokens + distance
            inside = (other >= 0) & (other < len(symbol))
            token, other = entity_tokens[inside], other[inside]
            same_pair = arrays.pair_index[token] == arrays.pair_index[other]
            kept = same_pair & is_sign[other]
            token, other = token[kept], other[kept]
            labels = [
                f"{chr(entity)}{distance:+d}{chr(sign)}"
                for entity, sign in zip(symbol[token], symbol[other], strict=True)
            ]
            counter.add("near", arrays.pair_index[token], arrays.lexicon.encode(labels))


def _texts_by_region(symbol: NDArray[np.uint8], arrays: PairArrays) -> list[str]:
    """Return the symbols before, within and after each pair as text, three strings per pair.

    ``symbol`` (pair tokens,) has ASCII codes, 0 for tokens that are left out. "Within" is from the
    first to the last token of the pair's entities. Runs of equal symbols count once.
    """
    pair_token = symbol.nonzero()[0]
    symbol, pair = symbol[pair_token], arrays.pair_index[pair_token]
    region = np.where(arrays.is_entity[pair_token], 1, arrays.side[pair_token])
    is_new = np.ones(len(pair_token), dtype=bool)
    is_new[1:] = (symbol[1:] != symbol[:-1]) | (pair[1:] != pair[:-1]) | (region[1:] != region[:-1])
    text = symbol[is_new].tobytes().decode("ascii")
    counts = np.bincount(3 * pair[is_new] + region[is_new], minlength=3 * len(arrays.pairs))
    bounds = offsets(counts).tolist()
    return [text[bounds[row] : bounds[row + 1]] for row in range(3 * len(arrays.pairs))]


def _sign_product(signs: str) -> str:
    """Return whether the number of lowering signs is odd or even, with "+" if one raises.

    Without any sign the result is "none".

    >>> _sign_product("1L-2"), _sign_product("1-+2"), _sign_product("12")
    ('even', 'odd+', 'none')
    """
    lowering = sum(signs.count(sign) for sign in _LOWERING_SIGNS)
    raising = "+" if "+" in signs else ""
    if not lowering:
        return raising or "none"
    return f"{'odd' if lowering % 2 else 'even'}{raising}"


@dataclass(frozen=True, kw_only=True)
class BetweenSequences:
    """Words and tags from one entity of a pair to the other as two views, each a sequence.

    For locality kernels: ``EachView(LocalityConvolution())``. In both views the tokens of the two
    entities are read as ``PROT1`` and ``PROT2`` in text order, those of other entities as ``PROT``;
    runs of equal placeholders are one symbol. Words are in lower case.

    Parameters
    ----------
    margin
        Number of tokens of the sentence that are included on either side of the pair.
    entities
        Span group of the entities.
    """

    margin: int = 3
    entities: str = "entities"

    def __post_init__(self) -> None:
        """Raise ValueError for a negative margin."""
        if self.margin < 0:
            raise ValueError(f"margin must not be negative, got {self.margin}")

    def __call__(self, candidates: Sequence[Candidate]) -> MultiView:
        """Return the views ``words`` and ``tags``, one sequence per candidate in each, in order.

        Raises ValueError if a candidate does not have two spans.
        """
        symbols = [self._symbols(candidate) for candidate in candidates]
        words, tags = ([pair[i] for pair in symbols] for i in (0, 1))
        return MultiView({"words": Sequences.from_lists(words), "tags": Sequences.from_lists(tags)})

    def _symbols(self, candidate: Candidate) -> tuple[list[str], list[str]]:
        """Return the words and the tags of one pair in text order, as two lists of one length.

        They cover the pair and ``margin`` tokens on either side, within the sentence of its first
        entity (the Doc if it has no sentence boundaries), but always up to the end of the second
        entity. Words are in lower case. In both lists, tokens of entities are PROT1, PROT2 and
        PROT, of which runs count once. A token without a tag has its coarse part of speech or,
        without that, "-". Raises ValueError unless the candidate has two spans.
        """
        if len(candidate.spans) != 2:
            raise ValueError(
                f"a candidate in document {candidate.document!r} has {len(candidate.spans)} spans. "
                "Sequences between entities need pairs."
            )
        first, second = sorted(candidate.spans, key=lambda span: (span.start, span.end))
        doc = first.doc
        sentence = first.sent if doc.has_annotation("SENT_START") else doc[:]
        entities = doc.spans.get(self.entities, ())
        marks = {token: "PROT" for span in entities for token in span_tokens(span)}
        marks |= {token: "PROT2" for token in span_tokens(second)}
        marks |= {token: "PROT1" for token in span_tokens(first)}
        low = max(sentence.start, first.start - self.margin)
        high = min(max(sentence.end, second.end), max(first.end, second.end) + self.margin)
        words: list[str] = []
        tags: list[str] = []
        for token in doc[low:high]:
            mark = marks.get(token.i, "")
            if mark and words and words[-1] == mark:
                continue
            words.append(mark or token.lower_)
            tags.append(mark or token.tag_ or token.pos_ or "-")
        return words, tags
