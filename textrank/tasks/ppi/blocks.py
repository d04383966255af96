"""The words next to each entity of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from textrank._ragged import offsets, run_starts
from textrank.candidates import Candidate
from textrank.features import Features, Indices
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
from textrank.tasks.ppi.vocabulary import NEGATIONS, TRIGGERS, dependency_group, is_verb


@dataclass(frozen=True, kw_only=True)
class LocalContext:
    """Counts of stems and parts of speech within ``width`` tokens of each entity of a pair.

    Each is counted with its offset from the entity (-1 is the token before it) and without.

    Giuliano, Lavelli and Romano (2006), EACL.
    """

    width: int = 3
    parse: Parse = "auto"
    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice("parse", [self.parse], get_args(Parse))
        if self.width < 1:
            raise ValueError(f"width must be at least 1, got {self.width}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.represent(analyze_pairs(candidates, self.parse))

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return extract_features(self, pairs)

    def extract(self, own: PairArrays, found: FeatureCounter) -> None:
        """Adds what is met in pairs."""
        steps = np.arange(1, self.width + 1)
        offset = np.concatenate([-steps[::-1], steps])
        word, tag, *places = own.lexicon.encode(["word", "tag", *map(str, offset.tolist())])
        for entity, (owner, token) in zip(
            (FIRST_ENTITY, SECOND_ENTITY), own.entity_tokens, strict=True
        ):
            first = run_starts(owner)
            last = np.append(first[1:], len(owner))[: len(first)] - 1
            beside = np.where(offset < 0, token[first, None], token[last, None]) + offset
            low, high = (
                own.sentence_base[:, None],
                (own.sentence_base + own.sentence_sizes)[:, None],
            )
            rows, column = ((beside >= low) & (beside < high)).nonzero()
            place, at = np.array(places)[column], beside[rows, column]
            for kind, value in ((word, own.words_at(rows, at)), (tag, own.token_tags[at])):
                found.add(entity, rows, kind, place, value)
                found.add(entity, rows, kind, value)


@dataclass(frozen=True, kw_only=True)
class GlobalContext:
    """Counts of runs of one to ``longest`` stems in three windows, for a linear kernel.

    The windows are *fore* (up to ``outer`` words before the pair, the pair and its middle),
    *between* (the pair and its middle) and *after* (the same with up to ``outer`` words behind).
    Of a long middle the first ``inner`` words count. An entity is one word, however many tokens.

    Giuliano, Lavelli and Romano (2006), EACL.
    """

    longest: int = 3
    outer: int = 6
    inner: int = 15
    parse: Parse = "auto"
    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice("parse", [self.parse], get_args(Parse))
        for name, least in (("longest", 1), ("outer", 0), ("inner", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.represent(analyze_pairs(candidates, self.parse))

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return extract_features(self, pairs)

    def extract(self, own: PairArrays, found: FeatureCounter) -> None:
        """Adds what is met in pairs."""
        windows = self._windows(own)
        for size in range(1, self.longest + 1):
            last = np.arange(size - 1, len(windows.word))
            start = last - size + 1
            whole = windows.pair_index[start] == windows.pair_index[last]
            open_, closed = windows.from_first[start], windows.up_to_second[last]
            inside = {"fore": closed, "between": open_ & closed, "after": open_}
            for name, mask in inside.items():
                some = start[mask & whole]
                runs = [windows.word[some + place] for place in range(size)]
                found.add(name, windows.pair_index[some], *runs)

    def _windows(self, own: PairArrays) -> Windows:
        """The words that count, pair after pair; those of the pair stand at its ends."""
        cell = (own.side >= 0).nonzero()[0]
        cell = cell[~_continues_name(own, cell)]
        side, owner = own.side[cell], own.pair_index[cell]
        count = np.bincount(3 * owner + side, minlength=3 * len(own.pairs))
        rank = np.arange(len(cell)) - (np.cumsum(count) - count)[3 * owner + side]
        left = np.where(side == 0, count[3 * owner] - 1 - rank, rank)
        kept = (left < np.array([self.outer, self.inner, self.outer])[side]).nonzero()[0]
        every = np.arange(len(own.pairs))
        words = np.concatenate(
            [own.words[cell[kept]], *(_repeat_word(own, n) for n in (FIRST_ENTITY, SECOND_ENTITY))]
        )
        pairs = np.concatenate([owner[kept], every, every])
        places = np.concatenate([2 * side[kept], np.full_like(every, 1), np.full_like(every, 3)])
        order = np.lexsort((places, pairs))  # stable: words of one side keep their order
        return Windows(words[order], pairs[order], places[order] >= 1, places[order] <= 3)


@dataclass(frozen=True, eq=False)
class Windows:
    """The words of all windows of all pairs."""

    word: Indices
    pair_index: Indices
    from_first: NDArray[np.bool_]  # whether a word stands at the first entity or after it
    up_to_second: NDArray[np.bool_]  # whether at the second or before it


def _repeat_word(own: PairArrays, name: str) -> Indices:
    return np.full(len(own.pairs), own.lexicon(name), dtype=np.intp)


def _continues_name(own: PairArrays, cell: Indices) -> NDArray[np.bool_]:
    """Which cells go on with another name: a run of tokens of names counts as one word."""
    name = own.words[cell] == own.lexicon(OTHER_ENTITY)
    found = np.zeros(len(cell), dtype=bool)
    same = (own.pair_index[cell[1:]] == own.pair_index[cell[:-1]]) & (
        own.side[cell[1:]] == own.side[cell[:-1]]
    )
    found[1:] = name[1:] & name[:-1] & same
    return found


@dataclass(frozen=True, kw_only=True)
class SideWords:
    """Counts of stems before, in the middle of and after a pair, for a linear kernel.

    The pair itself is left out, other entities count as ``PROT``.
    """

    parse: Parse = "auto"
    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.represent(analyze_pairs(candidates, self.parse))

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return extract_features(self, pairs)

    def extract(self, own: PairArrays, found: FeatureCounter) -> None:
        """Adds what is met in pairs."""
        for number, side in enumerate(SIDES):
            some = (own.side == number).nonzero()[0]
            found.add(side, own.pair_index[some], own.words[some])


@dataclass(frozen=True, kw_only=True)
class PathWalks:
    """Counts of the walks along the path between two entities, for a linear kernel.

    The path is the alternating sequence ``w0 d1 w1 d2 ... wk`` of words and dependencies, the
    latter marked ``>`` where they lead down to a dependent and ``<`` where up to a governor.
    Counted are its runs of three (word-dependency-word and dependency-word-dependency) in words
    and in parts of speech, its runs of five in words, single words and dependencies, the whole
    path as dependencies, as words and as parts of speech, its length, and every dependency by
    which a word beside the path hangs on a word of the path. Without a path, only that is said.

    Bunescu and Mooney (2005), HLT/EMNLP; Kim, Yoon and Yang (2008), Bioinformatics 24(1).
    """

    parse: Parse = "auto"
    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.represent(analyze_pairs(candidates, self.parse))

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return extract_features(self, pairs)

    def extract(self, own: PairArrays, found: FeatureCounter) -> None:
        """Adds what is met in pairs."""
        lengths = [str(n) if n >= 0 else "none" for n in own.paths.length.tolist()]
        found.add("length", np.arange(len(lengths)), own.lexicon.encode(lengths))
        _add_walks(own, found)
        _add_path_children(own, found)


def _add_walks(own: PairArrays, found: FeatureCounter) -> None:
    pair, place, token = own.path_tokens()
    tokens = own.paths.tokens
    some = (own.paths.length >= 0).nonzero()[0]
    kinds = np.full_like(own.paths.steps, -1)
    row, at = np.nonzero(own.paths.steps >= 0)
    kinds[row, at] = own.step_labels[own.paths.steps[row, at]]
    for kind, values in (
        ("words", own.words_at(pair, token)),
        ("tags", own.token_coarse_tags[token]),
    ):
        sequence = np.full_like(tokens, -1)
        sequence[pair, place] = values
        walk = interleave(sequence, kinds)
        for size in (3, 5) if kind == "words" else (3,):
            _add_ngrams(f"walk of {kind}", walk, size, found)
        found.add_padded(f"path of {kind}", some, sequence[some])
        if kind == "words":
            inner = ((place > 0) & (place < own.paths.length[pair])).nonzero()[0]
            found.add("word", pair[inner], values[inner])
    found.add_padded("path of dependencies", some, kinds[some])
    found.add("dependency", row, kinds[row, at])


def _add_path_children(own: PairArrays, found: FeatureCounter) -> None:
    """The dependencies by which a word beside the path hangs on a word of the path."""
    pair, _, token = own.path_tokens()
    on_path = np.zeros(int(own.pair_token_starts[-1]), dtype=bool)
    on_path[token + own.offset[pair]] = True
    at, step = own.links.from_tokens(token)
    to = own.links.target[step]
    some = (own.links.is_down[step] & ~on_path[to + own.offset[pair[at]]]).nonzero()[0]
    at, step, to = at[some], step[some], to[some]
    rows, kind = pair[at], own.links.type[step]
    hanging = own.words_at(rows, to)
    found.add("beside", rows, own.words_at(rows, token[at]), kind, hanging)
    found.add("beside", rows, kind, hanging)


def _add_ngrams(prefix: str, sequence: Indices, size: int, found: FeatureCounter) -> None:
    """All runs of a size, of sequences that hold -1 behind their end."""
    row, start = np.nonzero(sequence[:, size - 1 :] >= 0)
    found.add(prefix, row, *(sequence[row, start + place] for place in range(size)))


def interleave(words: Indices, kinds: Indices) -> Indices:  # (n, k + 1), (n, k)
    """``w0 d1 w1 d2 ... wk``, a row a path.

    >>> interleave(np.array([[1, 2, 3]]), np.array([[8, 9]])).tolist()
    [[1, 8, 2, 9, 3]]
    """
    found = np.empty((len(words), words.shape[1] + kinds.shape[1]), dtype=np.intp)
    found[:, ::2], found[:, 1::2] = words, kinds
    return found


_ENTITY_SYMBOLS = {FIRST_ENTITY: ord("1"), SECOND_ENTITY: ord("2"), OTHER_ENTITY: ord("X")}


@dataclass(frozen=True, kw_only=True)
class TriggerRoles:
    """What links a pair at a glance, each present or absent, for a linear kernel.

    Trigger stems before, in the middle, after, anywhere and on the path; the top of the path with
    its part of speech and with the first and last dependency; verbs and words of the path; the
    path as coarse dependencies; a middle of up to four tokens as words and as parts of speech;
    the words before and after the pair; the order of entities (1, 2, X), triggers (k) and
    negations (n) as a pattern; lengths of path and middle in doubling bins.
    """

    parse: Parse = "auto"
    binary: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.represent(analyze_pairs(candidates, self.parse))

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return extract_features(self, pairs)

    def extract(self, own: PairArrays, found: FeatureCounter) -> None:
        """Adds what is met in pairs."""
        for part in (
            _add_triggers,
            _add_path,
            _add_middle,
            _add_neighbours,
            _add_patterns,
            _add_lengths,
        ):
            part(own, found)


def _is_trigger(own: PairArrays, words: Indices) -> NDArray[np.bool_]:
    """Which words are triggers."""
    return own.lexicon.isin(TRIGGERS, words)


def _add_triggers(own: PairArrays, found: FeatureCounter) -> None:
    some = ((own.side >= 0) & _is_trigger(own, own.words)).nonzero()[0]
    sides = own.lexicon.encode(SIDES)[own.side[some]]
    pair, _, token = own.path_tokens()
    words = own.words_at(pair, token)
    on = _is_trigger(own, words).nonzero()[0]
    for rows, where, word in (
        (own.pair_index[some], sides, own.words[some]),
        (pair[on], own.lexicon("path"), words[on]),
    ):
        found.add("trigger", rows, where, word)
        found.add("trigger", rows, own.lexicon("anywhere"), word)


def _add_path(own: PairArrays, found: FeatureCounter) -> None:
    paths = own.paths
    rows = (paths.length > 0).nonzero()[0]
    if not len(rows):
        return
    top = paths.tokens[rows, own.path_tops[rows]]
    word = own.words_at(rows, top)
    ends = [own.step_labels[paths.steps[rows, at]] for at in (0, paths.length[rows] - 1)]
    found.add("top", rows, word, own.token_coarse_tags[top])
    found.add("top between", rows, word, *ends)
    found.add("ends of path", rows, *ends)
    pair, place, token = own.path_tokens()
    inner = ((place > 0) & (place < paths.length[pair])).nonzero()[0]
    pair, token = pair[inner], token[inner]
    words = own.words_at(pair, token)
    found.add("path word", pair, words)
    verbs = own.lexicon.lookup(is_verb, own.token_tags[token])
    found.add("path verb", pair[verbs], words[verbs])
    found.add_padded("coarse path", rows, _coarse_paths(own)[rows])


def _coarse_paths(own: PairArrays) -> Indices:
    """Each path as kinds of dependencies with their directions, every run of equals as one."""
    words = own.lexicon.words()
    known, place = np.unique(own.step_labels, return_inverse=True)
    coarse = own.lexicon.encode(
        f"{dependency_group(words[mark][:-1])}{words[mark][-1]}" for mark in known.tolist()
    )[place]
    pair, at = np.nonzero(own.paths.steps >= 0)
    kinds = coarse[own.paths.steps[pair, at]]
    kept = ((at == 0) | (kinds != np.roll(kinds, 1))).nonzero()[0]
    found = np.full_like(own.paths.steps, -1)
    pair = pair[kept]
    rank = np.arange(len(pair)) - (at[kept] == 0).nonzero()[0][np.cumsum(at[kept] == 0) - 1]
    found[pair, rank] = kinds[kept]
    return found


def _add_middle(own: PairArrays, found: FeatureCounter) -> None:
    rows, cells = own.short_middles
    for name, values in (
        ("middle", own.words[cells]),
        ("middle tags", own.token_tags[own.token_index[cells]]),
    ):
        found.add_padded(name, rows, np.where(cells >= 0, values, -1))


def _add_neighbours(own: PairArrays, found: FeatureCounter) -> None:
    every = np.arange(len(own.pairs))
    first, last = (
        own.first_token == own.sentence_base,
        own.last_token == own.sentence_base + own.sentence_sizes - 1,
    )
    for name, at, edge, none in (
        ("previous", own.first_token - 1, first, "start"),
        ("next", own.last_token + 1, last, "end"),
    ):
        words = np.full(len(every), own.lexicon(none), dtype=np.intp)
        words[~edge] = own.words_at(every[~edge], at[~edge])
        found.add(name, every, words)


def _add_patterns(own: PairArrays, found: FeatureCounter) -> None:
    symbol = own.lexicon.lookup(_pattern_symbol, own.words, np.uint8)
    cell = symbol.nonzero()[0]
    symbol, owner = symbol[cell], own.pair_index[cell]
    region = np.where(own.is_entity[cell], 1, own.side[cell])
    new = np.ones(len(cell), dtype=bool)
    new[1:] = (symbol[1:] != symbol[:-1]) | (owner[1:] != owner[:-1]) | (region[1:] != region[:-1])
    text = symbol[new].tobytes().decode("ascii")
    counts = np.bincount(3 * owner[new] + region[new], minlength=3 * len(own.pairs))
    cuts = offsets(counts).tolist()
    middle, around = [], []
    for place in range(0, 3 * len(own.pairs), 3):
        begin, one, other, end = cuts[place : place + 4]
        middle.append(text[one:other])
        before, after = text[max(begin, one - 1) : one], text[other : min(other + 1, end)]
        around.append(f"{before} {middle[-1]} {after}")
    every = np.arange(len(own.pairs))
    found.add("pattern", every, own.lexicon.encode(middle))
    found.add("pattern around", every, own.lexicon.encode(around))


def _pattern_symbol(word: str) -> int:
    """The letter of a word in patterns, as its number; 0 for words that do not stand in them."""
    if word in TRIGGERS:
        return ord("k")
    return ord("n") if word in NEGATIONS else _ENTITY_SYMBOLS.get(word, 0)


def _add_lengths(own: PairArrays, found: FeatureCounter) -> None:
    every = np.arange(len(own.pairs))
    told = ((own.side == 1) & _is_trigger(own, own.words)).nonzero()[0]
    triggers = np.bincount(own.pair_index[told], minlength=len(every))
    path = [str(n.bit_length()) if n >= 0 else "none" for n in own.paths.length.tolist()]
    middle = [str(n.bit_length()) for n in own.side_sizes[:, 1].tolist()]
    found.add("length of path", every, own.lexicon.encode(path))
    found.add("length of middle", every, own.lexicon.encode(middle))
    words = own.lexicon.encode(str(n.bit_length()) for n in triggers.tolist())
    found.add("triggers in middle", every, words)
