"""Named features of many pairs from columns of numbers, and the numbers of words."""

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
from textrank.features import FeatureNames, Features, Indices, JointFeatures, Matrix, RawCSR, Vector
from textrank.progress import track
from textrank.tasks.ppi.sentences import Parse, Sentence, sentences, stem

# By the number of parts of names: heads (view and name, numbered), pairs and parts.
Groups: TypeAlias = dict[int, list[tuple[int, Indices, Indices]]]


@dataclass
class Lexicon:
    """Numbers of words, given as they come."""

    numbers: dict[str, int] = field(default_factory=dict)
    told: dict[Callable[[str], Any], NDArray[Any]] = field(default_factory=dict)

    def __call__(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers))

    def all(self, words: Iterable[str]) -> Indices:
        """The numbers of words."""
        own = self.numbers
        return np.array([own.setdefault(word, len(own)) for word in words], dtype=np.intp)

    def words(self) -> list[str]:
        """The words by their number."""
        return list(self.numbers)

    def table(self, value: Callable[[str], Any], words: Indices, kind: Any = bool) -> NDArray[Any]:
        """What a function says of each of the words given by number; it is asked once a word."""
        known = self.told.get(value)
        begin = 0 if known is None else len(known)
        if begin < len(self.numbers):
            said = [value(word) for word in islice(self.numbers, begin, None)]
            new = np.array(said, dtype=kind)
            known = self.told[value] = new if known is None else np.concatenate([known, new])
        return np.empty(0, dtype=kind) if known is None else known[words]

    def rows(
        self, value: Callable[[str], tuple[bool, ...]], width: int, words: Indices
    ) -> NDArray[np.bool_]:  # (words, width)
        """The same of a function that says so many things; only these words are asked about."""
        known, place = factorize(words)
        every = self.words()
        said = [value(every[number]) for number in known.tolist()]
        return np.array(said, dtype=bool).reshape(-1, width)[place]

    def among(self, known: frozenset[str], words: Indices) -> NDArray[np.bool_]:
        """Which of the words given by number are of a set."""
        return self.table(known.__contains__, words)


@dataclass
class Occurrences:
    """Named features of pairs as they are met, names as columns of numbers of words."""

    lexicon: Lexicon
    size: int  # pairs, and rows below them
    view: str = ""  # which the features met now belong to
    heads: dict[tuple[str, str], int] = field(default_factory=dict)  # views and names, numbered
    groups: Groups = field(default_factory=dict)
    shared: dict[str, Indices] = field(default_factory=dict)  # by view, which rows below are whose

    def below(self, count: int) -> Indices:
        """So many more rows, of what pairs share."""
        self.size += count
        return np.arange(self.size - count, self.size)

    def add(self, name: str, rows: Indices, *parts: Indices | int) -> None:
        """Names ``(name, *parts)`` met in pairs ``rows``; a part is a column, or one for all."""
        own = np.empty((len(rows), len(parts)), dtype=np.intp)
        for column, part in enumerate(parts):
            own[:, column] = part
        self._met(name, rows, own)

    def padded(self, name: str, rows: Indices, parts: Indices) -> None:
        """Names ``(name, *parts)`` of different lengths; behind its end a row holds -1."""
        sizes = (parts >= 0).sum(axis=1)
        for size in np.bincount(sizes).nonzero()[0].tolist():
            some = (sizes == size).nonzero()[0]
            self._met(name, rows[some], parts[some, :size])

    def _met(self, name: str, rows: Indices, parts: Indices) -> None:
        head = self.heads.setdefault((self.view, name), len(self.heads))
        self.groups.setdefault(parts.shape[1], []).append((head, rows, parts))

    def features(self, *, once: bool = False) -> Features:
        """How often each row has each name; with ``once`` whether it has it at all."""
        return self.side_by_side(self.size, {self.view: once}).view(self.view)

    def side_by_side(self, pairs: int, once: Mapping[str, bool]) -> JointFeatures:
        """The features of some views; whether a pair has them at all, or how often."""
        groups = dict(sorted(self.groups.items()))  # so that columns do not depend on other views
        met = [block for blocks in groups.values() for block in blocks]
        words = [_joined([parts for _, _, parts in blocks]) for blocks in groups.values()]
        head = np.array([own for own, _, _ in met], dtype=np.intp)
        head = head.repeat([len(rows) for _, rows, _ in met])
        every, column = _as_they_come(self._codes(words, head))
        rows = _joined([rows for _, rows, _ in met])
        cells, counts = np.unique(rows * max(1, len(every)) + column, return_counts=True)
        row, indices = np.divmod(cells, max(1, len(every)))
        views = list(once)
        of = np.array([views.index(view) for view, _ in self.heads], dtype=np.intp)[head[every]]
        data = counts.astype(np.float64)
        data[np.array([*once.values()])[of[indices]]] = 1.0
        ends = offsets(np.bincount(row, minlength=self.size))
        short = indices.astype(np.int32), ends.astype(np.int32)
        names = self._names(words, head[every], every)
        found = Features(RawCSR(data, *short, (self.size, len(every))), names)
        return JointFeatures(found, views, of, pairs, self.shared)

    def _codes(self, words: Sequence[Indices], head: Indices) -> Indices:
        """A number for each name met, equal for equal ones, given those of each length."""
        of_head, of_group = len(self.heads).bit_length(), len(words).bit_length()
        wide = 63 - of_head - of_group
        found = [
            (self._coded(parts, wide) << of_group) | number for number, parts in enumerate(words)
        ]
        return (_joined(found) << of_head) | head

    def _coded(self, parts: Indices, wide: int) -> Indices:
        """A number of at most so many bits for each row, equal for equal rows."""
        bits = max(1, len(self.lexicon.numbers)).bit_length()
        if bits * parts.shape[1] <= wide:
            return parts @ (1 << np.arange(0, bits * parts.shape[1], bits))
        codes = np.zeros(len(parts), dtype=np.int64)
        used = 0
        for column in parts.T:
            if used + bits > wide:  # numbers of what was met so far are shorter
                codes = factorize(codes)[1].astype(np.int64)
                used = len(codes).bit_length()
            codes = (codes << bits) | column
            used += bits
        return codes

    def _names(self, words: Sequence[Indices], head: Indices, every: Indices) -> FeatureNames:
        """The names met, given their heads and where each is met first."""
        widest = words[-1].shape[1] if words else 0
        table = np.full((len(every), 2 + widest), -1, dtype=np.int32)
        if self.heads:
            table[:, :2] = self.lexicon.all(chain.from_iterable(self.heads)).reshape(-1, 2)[head]
        begin = low = 0
        for parts in words:
            high = int(every.searchsorted(begin + len(parts)))  # those of one length together
            table[low:high, 2 : 2 + parts.shape[1]] = parts[every[low:high] - begin]
            begin, low = begin + len(parts), high
        return self._compact(table)

    def _compact(self, table: NDArray[np.int32]) -> FeatureNames:
        """Names over only the words that they use."""
        number = np.zeros(len(self.lexicon.numbers) + 1, dtype=np.int32)
        number[table.ravel()] = 1
        number[-1] = 0
        words = self.lexicon.words()
        used = number.nonzero()[0].tolist()
        number = np.cumsum(number, dtype=np.int32) - 1
        number[-1] = -1
        return FeatureNames(tuple(words[i] for i in used), number[table])


def _as_they_come(codes: Indices) -> tuple[Indices, Indices]:
    """Where each different code is met first, and the number of every code in this order."""
    order = np.argsort(codes, kind="stable")  # numbers of words depend on what else was asked
    ordered = codes[order]
    new = np.ones(len(codes), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    firsts = order[new]
    met = np.zeros(len(codes), dtype=np.intp)
    met[firsts] = 1
    place = met.cumsum() - 1
    number = np.empty(len(codes), dtype=np.intp)
    number[order] = place[firsts][new.cumsum() - 1]
    return met.nonzero()[0], number


def _joined(blocks: Sequence[Indices]) -> Indices:
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.intp)


DROP = ("punct",)
Name: TypeAlias = tuple[str, ...]
Bag: TypeAlias = Mapping[Name, float]


@dataclass(frozen=True, eq=False)
class Step:
    """One step along a dependency: its type, and whether it leads from governor to dependent."""

    to: int
    type: str
    down: bool

    @property
    def mark(self) -> str:
        """The type with its direction, ``>`` downwards and ``<`` upwards."""
        return f"{self.type}>" if self.down else f"{self.type}<"


@dataclass(frozen=True, eq=False)
class PairSentence:
    """A sentence with everything about it that does not depend on the pair."""

    sentence: Sentence

    @property
    def texts(self) -> list[str]:
        """The tokens as written."""
        return self.sentence.texts

    @cached_property
    def stems(self) -> list[str]:
        """The stem of every token, entities included."""
        return [stem(text) for text in self.texts]

    @cached_property
    def words(self) -> list[str]:
        """The stem of every token, ``PROT`` for those of entities."""
        words = list(self.stems)
        for token in self.sentence.entities:
            words[token] = OTHER
        return words

    @property
    def tags(self) -> list[str]:
        """The part of speech of every token."""
        return self.sentence.tags

    @property
    def mentions(self) -> list[list[int]]:
        """The tokens of each entity of the sentence, in the order of the text."""
        return self.sentence.mentions

    @cached_property
    def links(self) -> list[list[Step]]:
        """The steps that lead away from each token, in the order of the text."""
        own = self.sentence.dependencies
        links: list[list[Step]] = [[] for _ in range(len(self.sentence))]
        for governor, dependent, kind in zip(own.governor, own.dependent, own.types, strict=True):
            if governor != dependent:
                links[governor].append(Step(int(dependent), kind, True))
                links[dependent].append(Step(int(governor), kind, False))
        return [sorted(steps, key=lambda link: link.to) for steps in links]

    @cached_property
    def steps(self) -> Matrix:  # (tokens, tokens)
        """Dependencies between any two tokens; inf where no way leads."""
        return self.sentence.steps


@dataclass(frozen=True, eq=False)
class EntityPair:
    """Two entities of a sentence, as token indices from the start of the sentence."""

    context: PairSentence
    first: list[int]
    second: list[int]

    def __len__(self) -> int:
        return len(self.context.stems)

    @cached_property
    def words(self) -> list[str]:
        """The stems with all entities blinded; a token of both is of the first."""
        words = list(self.context.words)
        for name, tokens in ((SECOND, self.second), (FIRST, self.first)):
            for token in tokens:
                words[token] = name
        return words

    def word(self, token: int) -> str:
        """One of the words."""
        if token in self.first:
            return FIRST
        return SECOND if token in self.second else self.context.words[token]

    @property
    def tags(self) -> list[str]:
        """The part of speech of every token."""
        return self.context.tags

    @cached_property
    def own(self) -> frozenset[int]:
        """The tokens of the two entities."""
        return frozenset((*self.first, *self.second))

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """The first and the last token of the two entities."""
        return min(self.own), max(self.own)

    @cached_property
    def sides(self) -> dict[str, list[int]]:
        """The tokens before the pair, in the middle and after it, without those of the pair."""
        begin, end = self.bounds
        middle = [t for t in range(begin, end) if t not in self.own]
        return {
            "before": list(range(begin)),
            "middle": middle,
            "after": list(range(end + 1, len(self))),
        }

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The closest tokens of the two entities; the first ones where no path leads."""
        steps = self.context.steps[np.ix_(self.first, self.second)]
        row, column = np.unravel_index(int(steps.argmin()), steps.shape)
        return self.first[row], self.second[column]

    @cached_property
    def distance(self) -> float:
        """Dependencies on the path; 0 where the two share a token, inf where there is no path."""
        return float(self.context.steps[self.ends])

    @cached_property
    def links(self) -> list[Step]:
        """The steps of the path from the first to the second entity; none where there is no way."""
        at, end = self.ends
        if not np.isfinite(self.distance):
            return []
        left = self.context.steps[end]
        path: list[Step] = []
        while at != end:
            step = next(link for link in self.context.links[at] if left[link.to] == left[at] - 1)
            path.append(step)
            at = step.to
        return path

    @cached_property
    def path(self) -> list[int]:
        """The tokens of the path with both ends; none where there is no way."""
        if not np.isfinite(self.distance):
            return []
        return [self.ends[0], *(link.to for link in self.links)]


class Block(Protocol):
    """Features of analysed pairs; equal blocks give equal features."""

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs, a row each."""


class Meeting(Protocol):
    """What is met in pairs; equal ones meet the same."""

    once: ClassVar[bool]  # whether a pair has a feature or not, however often it is met

    def meet(self, own: Layout, found: Occurrences) -> None:
        """Adds what is met in pairs."""


class Met(Block, Meeting, Protocol):
    """A block whose features are what is met in pairs."""


@dataclass(frozen=True, eq=False)
class PairBatch(Sequence[EntityPair]):
    """Pairs with the sentences they stand in; what is asked about them twice is found once."""

    pairs: list[EntityPair]
    sentences: list[Sentence]
    candidates: Sequence[Candidate]
    known: dict[Block, Features] = field(default_factory=dict)
    together: dict[Block | Meeting, tuple[JointFeatures, str]] = field(default_factory=dict)

    @overload
    def __getitem__(self, index: int) -> EntityPair: ...
    @overload
    def __getitem__(self, index: slice) -> list[EntityPair]: ...
    def __getitem__(self, index: int | slice) -> EntityPair | list[EntityPair]:
        return self.pairs[index]

    def __len__(self) -> int:
        return len(self.pairs)

    def seen_by(self, block: Block) -> Features:
        """The features of a block, made at the first call."""
        if block not in self.known:
            found, name = self.together.get(block, (None, ""))
            self.known[block] = found.view(name) if found else block.of_pairs(self)
        return self.known[block]

    def side_by_side(self, blocks: Mapping[str, Meeting]) -> JointFeatures:
        """The features of several blocks, found together: one look-up instead of many."""
        found = Occurrences(self.layout.lexicon, len(self))
        for found.view, block in blocks.items():
            block.meet(self.layout, found)
        both = found.side_by_side(len(self), {name: b.once for name, b in blocks.items()})
        self.together.update({block: (both, name) for name, block in blocks.items()})
        return both

    def holding(self, blocks: Mapping[str, Meeting]) -> JointFeatures:
        """The same, perhaps among other blocks with which they have been found before."""
        for found, _ in self.together.values():
            if all(self.together.get(block) == (found, name) for name, block in blocks.items()):
                return found
        return self.side_by_side(blocks)

    @cached_property
    def layout(self) -> Layout:
        """The pairs as arrays."""
        return Layout.of(self.pairs)


def layout_of(pairs: Sequence[EntityPair]) -> Layout:
    """The pairs as arrays, which pairs that were analysed together keep."""
    return pairs.layout if isinstance(pairs, PairBatch) else Layout.of(pairs)


def features_met(block: Met, pairs: Sequence[EntityPair]) -> Features:
    """The features of a block alone."""
    own = layout_of(pairs)
    found = Occurrences(own.lexicon, len(pairs))
    block.meet(own, found)
    return found.features(once=block.once)


def entity_pairs(candidates: Sequence[Candidate], parse: Parse) -> PairBatch:
    """Each candidate as a pair in its sentence; pairs of one sentence share its analysis."""
    found = list(sentences(check_pairs(candidates), parse, DROP))
    return PairBatch(pairs_in(found, candidates), found, candidates)


def check_pairs(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates, refused where one is not of two spans."""
    for index, candidate in enumerate(candidates):
        if len(candidate.spans) != 2:
            raise ValueError(
                f"candidate {index} of document {candidate.document!r} has "
                f"{len(candidate.spans)} spans; a pair of entities is needed. Use it with the task "
                "that makes pairs."
            )
    return candidates


def pairs_in(found: Iterable[Sentence], candidates: Sequence[Candidate]) -> list[EntityPair]:
    """Each candidate as a pair, in sentences that are already analysed."""
    pairs: dict[int, EntityPair] = {}
    for sentence in track(found, "sentences"):
        context = PairSentence(sentence)
        for member in sentence.members:
            first, second = sentence.tokens(candidates[member])
            pairs[int(member)] = EntityPair(context, first, second)
    return [pairs[index] for index in range(len(candidates))]


FIRST, SECOND, OTHER = "PROT1", "PROT2", "PROT"
SIDES = ("before", "middle", "after")
T = TypeVar("T")
SHORT = 4  # tokens between the entities that are worth remembering word for word


@dataclass(frozen=True, eq=False)
class Links:
    """The steps that lead away from tokens along dependencies, each token's by where they lead."""

    starts: Indices  # (tokens + 1,)
    to: Indices  # (steps,)
    type: Indices  # (steps,) numbers of words
    down: NDArray[np.bool_]  # (steps,) from governor to dependent

    def of(self, tokens: Indices) -> tuple[Indices, Indices]:
        """Of each token its steps: the place in ``tokens``, and the step."""
        begin = self.starts[tokens]
        return expand(begin, self.starts[tokens + 1] - begin)


@dataclass(frozen=True, eq=False)
class Steps:
    """Dependencies from some tokens to all others of their sentence; inf where no way leads."""

    row: Indices  # (tokens,) which row a token has; -1 for those that were not asked about
    begin: Indices  # (rows,) where token 0 of the batch would stand in `values`
    values: Vector

    def between(self, one: Indices, other: Indices) -> Vector:
        """From tokens that were asked about to others of their sentences."""
        return self.values[self.begin[self.row[one]] + other]


@dataclass(frozen=True, eq=False)
class Paths:
    """The path of each pair: tokens, and the steps between them; -1 behind the end."""

    tokens: Indices  # (pairs, k + 1)
    steps: Indices  # (pairs, k)
    length: Indices  # (pairs,) steps; -1 where no path leads


@dataclass(frozen=True, eq=False)
class Layout:
    """Pairs of any number of sentences as arrays; equal words have equal numbers."""

    pairs: Sequence[EntityPair]
    contexts: list[PairSentence]
    sentence: Indices  # (pairs,) which of the contexts
    lexicon: Lexicon
    made: dict[Callable[[Layout], Any], Any] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: Sequence[EntityPair]) -> Layout:
        """That of pairs, whatever sentences they are of."""
        numbers: dict[int, int] = {}
        contexts: list[PairSentence] = []
        sentence = []
        for pair in pairs:
            number = numbers.setdefault(id(pair.context), len(contexts))
            if number == len(contexts):
                contexts.append(pair.context)
            sentence.append(number)
        return cls(pairs, contexts, np.array(sentence, dtype=np.intp), Lexicon())

    def once(self, make: Callable[[Layout], T]) -> T:
        """What is made of the pairs, at the first call."""
        if make not in self.made:
            self.made[make] = make(self)
        return cast(T, self.made[make])

    @cached_property
    def starts(self) -> Indices:
        """The first token of each sentence, and the end."""
        return offsets([len(context.sentence) for context in self.contexts])

    @cached_property
    def sentence_of(self) -> Indices:
        """The sentence of each token."""
        return np.arange(len(self.contexts)).repeat(lengths(self.starts))

    @cached_property
    def size(self) -> Indices:
        """The tokens of the sentence of each pair."""
        return lengths(self.starts)[self.sentence]

    @cached_property
    def base(self) -> Indices:
        """The first token of the sentence of each pair."""
        return self.starts[self.sentence]

    @cached_property
    def word(self) -> Indices:
        """The stem of each token, ``PROT`` for names."""
        return self.lexicon.all(word for c in self.contexts for word in c.words)

    @cached_property
    def tag(self) -> Indices:
        """The part of speech of each token."""
        return self.lexicon.all(tag for c in self.contexts for tag in c.tags)

    @cached_property
    def coarse(self) -> Indices:
        """The first two letters of the part of speech of each token."""
        known, place = np.unique(self.tag, return_inverse=True)
        words = self.lexicon.words()
        return self.lexicon.all(words[tag][:2] for tag in known.tolist())[place]

    @cached_property
    def links(self) -> Links:
        """The dependencies of all sentences, in both directions."""
        own = [context.sentence.dependencies for context in self.contexts]
        sizes = np.array([len(d) for d in own], dtype=np.intp)
        shift = np.repeat(self.starts[:-1], sizes)
        governor = np.concatenate([np.zeros(0, np.intp), *(d.governor for d in own)]) + shift
        dependent = np.concatenate([np.zeros(0, np.intp), *(d.dependent for d in own)]) + shift
        types = self.lexicon.all(kind for d in own for kind in d.types)
        some = (governor != dependent).nonzero()[0]
        source = np.concatenate([governor[some], dependent[some]])
        to = np.concatenate([dependent[some], governor[some]])
        order = np.lexsort((np.tile(some, 2), to, source))
        count = np.bincount(source, minlength=int(self.starts[-1]))
        return Links(offsets(count), to[order], np.tile(types[some], 2)[order], order < len(some))

    @cached_property
    def cells(self) -> Indices:
        """Where the cells of each pair begin, and the end of all."""
        return offsets(self.size)

    @cached_property
    def owner(self) -> Indices:
        """The pair of each cell."""
        return np.repeat(np.arange(len(self.pairs)), self.size)

    @cached_property
    def shift(self) -> Indices:
        """What the tokens of each pair lack to its cells."""
        return self.cells[:-1] - self.base

    @cached_property
    def token(self) -> Indices:
        """The token of each cell."""
        return np.arange(int(self.cells[-1])) - self.shift[self.owner]

    @cached_property
    def ends(self) -> tuple[tuple[Indices, Indices], tuple[Indices, Indices]]:
        """Of the first and of the second entity: pairs and tokens, a pair's together."""
        found = []
        for lists in ([p.first for p in self.pairs], [p.second for p in self.pairs]):
            owner = np.repeat(np.arange(len(lists)), [len(own) for own in lists])
            found.append((owner, concat(lists) + self.base[owner]))
        return found[0], found[1]

    @cached_property
    def seen(self) -> Indices:
        """The word of each cell: stems with all entities blinded; a token of both is of first."""
        word = self.word[self.token]
        for (owner, token), name in zip(reversed(self.ends), (SECOND, FIRST), strict=True):
            word[token + self.shift[owner]] = self.lexicon(name)
        return word

    @cached_property
    def own(self) -> NDArray[np.bool_]:
        """Which cells are of the two entities."""
        mask = np.zeros(int(self.cells[-1]), dtype=bool)
        for owner, token in self.ends:
            mask[token + self.shift[owner]] = True
        return mask

    @cached_property
    def begin(self) -> Indices:
        """The first token of each pair."""
        return np.minimum(*(np.minimum.reduceat(t, run_starts(o)) for o, t in self.ends))

    @cached_property
    def end(self) -> Indices:
        """The last token of each pair."""
        return np.maximum(*(np.maximum.reduceat(t, run_starts(o)) for o, t in self.ends))

    @cached_property
    def side(self) -> NDArray[np.int8]:
        """Where each cell lies: 0 before the pair, 1 in the middle, 2 after it; -1 in the pair."""
        side = (self.token >= self.begin[self.owner]).astype(np.int8)
        side += self.token > self.end[self.owner]
        side[self.own] = -1
        return side

    @cached_property
    def sizes(self) -> Indices:  # (pairs, 3)
        """How many tokens lie before each pair, in its middle and after it."""
        some = (self.side >= 0).nonzero()[0]
        cells = 3 * self.owner[some] + self.side[some]
        return np.bincount(cells, minlength=3 * len(self.pairs)).reshape(-1, 3)

    @cached_property
    def middles(self) -> tuple[Indices, Indices]:  # (short,), (short, SHORT)
        """The pairs with a short middle, and the cells of each; -1 behind the last."""
        short = self.sizes[:, 1] <= SHORT
        rows, cells = np.flatnonzero(short), np.flatnonzero((self.side == 1) & short[self.owner])
        table = np.full((len(rows), SHORT), -1, dtype=np.intp)
        table[expand(np.zeros_like(rows), self.sizes[rows, 1])] = cells
        return rows, table

    @cached_property
    def names(self) -> Indices:
        """The tokens of all names, of pairs and of others, each once."""
        found = np.zeros(int(self.starts[-1]), dtype=bool)
        for _, token in self.ends:
            found[token] = True
        for start, context in zip(self.starts.tolist(), self.contexts, strict=False):
            found[context.sentence.entities + start] = True
        return found.nonzero()[0]

    @cached_property
    def steps(self) -> Steps:
        """Dependencies from the tokens of names to all others."""
        source, links = self.names, self.links
        number = np.searchsorted(self.starts, source, side="right") - 1
        places = offsets(lengths(self.starts)[number])
        begin = places[:-1] - self.starts[number]
        values = np.full(int(places[-1]), np.inf)
        values[begin + source] = 0.0
        mark = np.zeros(len(values), dtype=np.intp)
        row, token, k = np.arange(len(source)), source, 0.0
        while len(row):
            k += 1.0
            at, step = links.of(token)
            cell = begin[row[at]] + links.to[step]
            new = (np.isinf(values[cell])).nonzero()[0]
            cell = cell[new]
            mark[cell] = np.arange(len(cell))
            once = (mark[cell] == np.arange(len(cell))).nonzero()[0]
            values[cell] = k
            row, token = row[at[new[once]]], links.to[step[new[once]]]
        rows = np.full(int(self.starts[-1]), -1, dtype=np.intp)
        rows[source] = np.arange(len(source))
        return Steps(rows, begin, values)

    @cached_property
    def couples(self) -> tuple[Indices, Indices, Indices]:
        """Every token of the first entity with every one of the second: pair and both tokens."""
        (one, source), (other, target) = self.ends
        count, begin = np.bincount(other, minlength=len(self.pairs)), run_starts(other)
        at, place = expand(begin[one], count[one])
        return one[at], source[at], target[place]

    @cached_property
    def closest(self) -> Indices:
        """The couple of closest tokens of each pair, the first one of equals."""
        owner, source, target = self.couples
        steps = self.steps.between(source, target)
        low = np.minimum.reduceat(steps, run_starts(owner))
        return first_true(steps == low[owner], owner)

    @cached_property
    def paths(self) -> Paths:
        """The shortest way between the closest tokens; of equals the one first in the text."""
        _, source, target = self.couples
        at, end = source[self.closest].copy(), target[self.closest]
        far = self.steps.between(at, end)
        length = np.where(np.isinf(far), -1.0, far).astype(np.intp)
        longest = int(length.max(initial=0))
        tokens = np.full((len(at), longest + 1), -1, dtype=np.intp)
        steps = np.full((len(at), longest), -1, dtype=np.intp)
        tokens[:, 0] = np.where(length >= 0, at, -1)
        for k in range(longest):
            going = (length > k).nonzero()[0]
            place, step = self.links.of(at[going])
            pair, to = going[place], self.links.to[step]
            left = self.steps.between(end[pair], to)
            step = step[first_true(left == length[pair] - k - 1, pair)]
            at[going] = self.links.to[step]
            tokens[going, k + 1], steps[going, k] = at[going], step
        return Paths(tokens, steps, length)

    @cached_property
    def marks(self) -> Indices:
        """Of each step its type with its direction, ``>`` downwards and ``<`` upwards."""
        links, words = self.links, self.lexicon.words()
        code = 2 * links.type + links.down
        known, place = np.unique(code, return_inverse=True)
        names = [f"{words[c // 2]}{'>' if c % 2 else '<'}" for c in known.tolist()]
        return self.lexicon.all(names)[place]

    def on_paths(self) -> tuple[Indices, Indices, Indices]:
        """All tokens of paths: pair, place on the path, token."""
        pair, place = np.nonzero(self.paths.tokens >= 0)
        return pair, place, self.paths.tokens[pair, place]

    def words_at(self, pair: Indices, token: Indices) -> Indices:
        """The words of tokens as pairs see them."""
        return self.seen[token + self.shift[pair]]

    @cached_property
    def tops(self) -> Indices:
        """The place on each path where it stops climbing to governors."""
        found = self.paths.length.copy()
        pair, at = np.nonzero(self.paths.steps >= 0)
        down = first_true(self.links.down[self.paths.steps[pair, at]], pair)
        found[pair[down]] = at[down]
        return found
