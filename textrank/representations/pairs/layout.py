"""The pairs of a batch as flat arrays: words, sides and paths of all of them at once.

A *token* is counted over all sentences of the batch. A *cell* is a token as one pair sees it: the
cells of a pair are the tokens of its sentence, one pair after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from textrank.representations.pairs.occurrences import Lexicon
from textrank.types import Indices, Vector
from textrank.types.ragged import first_where, firsts, flat, lengths, offsets, spread

if TYPE_CHECKING:
    from textrank.representations.pairs.entity_pair import EntityPair, PairSentence

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
        return spread(begin, self.starts[tokens + 1] - begin)


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
            found.append((owner, flat(lists) + self.base[owner]))
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
        return np.minimum(*(np.minimum.reduceat(t, firsts(o)) for o, t in self.ends))

    @cached_property
    def end(self) -> Indices:
        """The last token of each pair."""
        return np.maximum(*(np.maximum.reduceat(t, firsts(o)) for o, t in self.ends))

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
        table[spread(np.zeros_like(rows), self.sizes[rows, 1])] = cells
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
        count, begin = np.bincount(other, minlength=len(self.pairs)), firsts(other)
        at, place = spread(begin[one], count[one])
        return one[at], source[at], target[place]

    @cached_property
    def closest(self) -> Indices:
        """The couple of closest tokens of each pair, the first one of equals."""
        owner, source, target = self.couples
        steps = self.steps.between(source, target)
        low = np.minimum.reduceat(steps, firsts(owner))
        return first_where(steps == low[owner], owner)

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
            step = step[first_where(left == length[pair] - k - 1, pair)]
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
        down = first_where(self.links.down[self.paths.steps[pair, at]], pair)
        found[pair[down]] = at[down]
        return found
