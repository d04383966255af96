"""The trees of the sentences of a batch, and the classes of their words, as arrays.

A word's *classes* are those of ``EVENTS``, with what small words do to them: "down-regulate"
lowers, "negatively regulate" and "negative regulator" too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from textrank._ragged import (
    RaggedArray,
    expand,
    factorize,
    first_true,
    offsets,
    run_starts,
    segment_min,
)
from textrank.candidates import Candidate
from textrank.features import Features, Indices
from textrank.tasks.ppi.pairs import (
    FIRST,
    OTHER,
    SECOND,
    EntityPair,
    Layout,
    Occurrences,
    entity_pairs,
    features_met,
    layout_of,
)
from textrank.tasks.ppi.sentences import stem
from textrank.tasks.ppi.vocabulary import CUES, EVENTS, LEANING, PREFIXES, TYPES

COARSE = {
    "nsubjpass": "subject of passive",
    "nsubj": "subject",
    "csubj": "subject",
    "dobj": "object",
    **dict.fromkeys(("attr", "acomp", "oprd"), "attribute"),
    **dict.fromkeys(("compound", "nmod", "amod", "npadvmod", "poss"), "modifier"),
    **dict.fromkeys(("relcl", "acl"), "clause"),
    "advcl": "adverbial",
    **dict.fromkeys(("ccomp", "xcomp", "pcomp"), "complement"),
}
_ENDINGS = (
    "tors tor ors or ers er ases ase ions ion ing ed ible able ent ive ory ment ance ence "
    "ates ate es s"
)
ENDINGS = frozenset(_ENDINGS.split())
LONGEST = max(map(len, ENDINGS))
STEM = 3  # letters that are left at the least


@lru_cache(maxsize=1 << 16)
def ending(text: str) -> str:
    """How a word ends, since stems hide who acts: "-induced" and "-inducing", "activator".

    >>> ending("inducing"), ending("activator"), ending("bind")
    ('ing', 'tor', '')
    """
    word = text.lower()
    sizes = range(min(LONGEST, len(word) - STEM), 0, -1)
    return next((word[-size:] for size in sizes if word[-size:] in ENDINGS), "")


@dataclass(frozen=True, eq=False)
class Trees:
    """The trees of all sentences of a batch, tokens counted over all of them.

    Relations, classes, endings and words are numbers of the lexicon of the batch.
    """

    layout: Layout
    heads: Indices  # of spaCy's parse; a root is its own head
    labels: list[str]

    @classmethod
    def of(cls, layout: Layout) -> Trees:
        """Those of the sentences of pairs.

        A token whose head lies in another sentence, or whose heads lead in a circle, is a root.
        """
        own = [context.sentence for context in layout.contexts]
        table = np.concatenate([np.empty((0, 2), np.uint64), *(s.attributes[:, 2:] for s in own)])
        token = np.arange(len(table))
        heads = (token + table[:, 0].astype(np.int64)).clip(0, max(0, len(table) - 1))
        lost = layout.sentence_of[heads] != layout.sentence_of
        heads[lost] = token[lost]
        top = _tops(heads)
        astray = (heads[top] != top).nonzero()[0]
        heads[astray] = astray
        numbers = iter(table[:, 1].tolist())
        labels = [
            strings[number]
            for sentence in own
            for strings in [sentence.doc.vocab.strings]
            for number in islice(numbers, len(sentence))
        ]
        return cls(layout, heads, labels)

    @cached_property
    def texts(self) -> list[str]:
        """The tokens as written."""
        return [text for context in self.layout.contexts for text in context.texts]

    @cached_property
    def stems(self) -> list[str]:
        """The stems of all tokens, names included."""
        return [stem for context in self.layout.contexts for stem in context.stems]

    @cached_property
    def depth(self) -> Indices:
        """How many heads lead from each token to its root."""
        depth, up = (self.heads != np.arange(len(self.heads))).astype(np.intp), self.heads
        while (more := depth[up]).any():
            depth, up = depth + more, up[up]
        return depth

    @cached_property
    def of_names(self) -> list[int]:
        """The tokens of names."""
        return (self.layout.word == self.layout.lexicon(OTHER)).nonzero()[0].tolist()

    @cached_property
    def relation(self) -> Indices:
        """What each token is to its head, coarse; a preposition is its own relation."""
        found = [COARSE.get(label, label) for label in self.labels]
        for token, label in enumerate(self.labels):
            if label in ("prep", "agent", "dative"):
                found[token] = "by" if label == "agent" else self.texts[token].lower()
        return self.layout.lexicon.all(found)

    @cached_property
    def passive(self) -> NDArray[np.bool_]:
        """Which tokens are verbs in the passive."""
        marks = [n for n, label in enumerate(self.labels) if label in ("auxpass", "agent")]
        found = np.zeros(len(self.heads), dtype=bool)
        found[self.heads[np.array(marks, dtype=np.intp)]] = True
        return found

    @cached_property
    def voice(self) -> Indices:
        """The voice of each token."""
        return self.layout.lexicon.all(("active", "passive"))[self.passive.view(np.int8)]

    @cached_property
    def ending(self) -> Indices:
        """How each token ends."""
        return self.layout.lexicon.all(map(ending, self.texts))

    @cached_property
    def quoted(self) -> Indices:
        """By the number of a word, that of the word in quotes."""
        lexicon, word = self.layout.lexicon, self.layout.word
        pair = lexicon.all((FIRST, SECOND))
        used = np.zeros(len(lexicon.numbers), dtype=bool)
        used[word] = used[pair] = True
        words, known = lexicon.words(), used.nonzero()[0]
        found = np.full(len(used), -1, dtype=np.intp)
        found[known] = lexicon.all(f"“{words[word]}”" for word in known.tolist())
        return found

    @cached_property
    def classes(self) -> RaggedArray:
        """The classes of each token, none for those of names."""
        found = [EVENTS.get(stem, ()) for stem in self.stems]
        for token, own in enumerate(found):
            if own or self.texts[token - 1] in "-–":
                found[token] = self._classes(token)
        for token in self.of_names:
            found[token] = ()
        return self._named_lists(found)

    def _classes(self, token: int) -> tuple[str, ...]:
        stems, prefix = self.stems, self._prefix(token)
        own = EVENTS.get(stems[token], ())
        if prefix.lower() in PREFIXES:
            own = EVENTS.get(stem(prefix + self.texts[token]), own)
        if "regulation" in own:
            children = (self.heads == token).nonzero()[0].tolist()
            leaning = [LEANING[stems[c]] for c in children if c != token and stems[c] in LEANING]
            own = (*leaning, *own) if leaning else own
        return own

    def _prefix(self, token: int) -> str:
        """The word before the hyphen before a word; nothing where there is none."""
        if self.texts[token - 1] not in "-–":
            return ""
        start = self.layout.starts[self.layout.sentence_of[token]]
        return self.texts[token - 2] if token > start + 1 else ""

    def _named_lists(self, names: Sequence[Sequence[str]]) -> RaggedArray:
        values = self.layout.lexicon.all(chain.from_iterable(names))
        return RaggedArray(offsets([len(own) for own in names]), values)

    @cached_property
    def classed(self) -> Indices:
        """The tokens that have a class."""
        return self.classes.sizes.nonzero()[0]

    @cached_property
    def kinds(self) -> RaggedArray:
        """Those classes of each token that say what happens."""
        kinds, number = self.layout.lexicon.all(TYPES), self.classes.values
        known = (number[:, None] == kinds).any(axis=1)
        ends = np.append(0, known.cumsum())
        return RaggedArray(ends[self.classes.starts], number[known])

    @cached_property
    def events(self) -> Indices:
        """The tokens that say what happens."""
        return self.kinds.sizes.nonzero()[0]

    @cached_property
    def named(self) -> RaggedArray:
        """The classes of each token and the word itself; all names are alike."""
        starts = self.classes.starts + np.arange(len(self.classes.starts))
        values = np.empty(starts[-1], dtype=np.intp)
        last = starts[1:] - 1
        inner = np.ones(len(values), dtype=bool)
        inner[last] = False
        values[inner], values[last] = self.classes.values, self.quoted[self.layout.word]
        return RaggedArray(starts, values)

    @cached_property
    def outline(self) -> Indices:
        """Each word, or its first class and how it ends where it has one."""
        lexicon, found, token = self.layout.lexicon, self.layout.word.copy(), self.classed
        kinds, ends = self.classes.first(token).tolist(), self.ending[token].tolist()
        words = lexicon.words()
        found[token] = lexicon.all(
            f"{words[kind]} {words[end]}" for kind, end in zip(kinds, ends, strict=True)
        )
        return found

    @cached_property
    def classed_children(self) -> RaggedArray:
        """The children of each token that have a class."""
        heads = self.heads[self.classed]
        some = (heads != self.classed).nonzero()[0]
        return RaggedArray.grouped(heads[some], self.classed[some], len(self.heads))

    @cached_property
    def cues(self) -> tuple[Indices, RaggedArray]:
        """The words that deny or doubt and what each is called; those of names are none."""
        names = set(self.of_names)
        tokens = [n for n, word in enumerate(self.stems) if word in CUES and n not in names]
        called = [(*CUES[word], f"“{word}”") for word in map(self.stems.__getitem__, tokens)]
        return np.array(tokens, dtype=np.intp), self._named_lists(called)

    def in_sentences(self, tokens: Indices) -> tuple[Indices, Indices]:
        """For each pair those of some rising tokens that lie in its sentence: pair and place."""
        begin = np.searchsorted(tokens, self.layout.starts)
        places = RaggedArray(begin, np.arange(len(tokens)))
        return places.of_each(self.layout.sentence)


def _tops(heads: Indices) -> Indices:
    """Where heads lead from each token; somewhere on a circle where they never end."""
    up = heads
    for _ in range(len(heads).bit_length()):
        if np.array_equal(up, higher := up[up]):
            break
        up = higher
    return up


PASSED = ("pobj", "conj", "modifier", "appos")  # relations that say nothing of a name's part
TELLING = 3  # relations of a way that are told, the highest
NEAR = 3  # tokens
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ways:
    """Ways from names up to where they meet another name, each once."""

    tokens: RaggedArray  # the top is the last
    of: Indices  # (2, pairs) the way of the first name, and of the second


@dataclass(frozen=True, eq=False)
class Tellings:
    """Pairs in their trees."""

    layout: Layout
    trees: Trees

    @classmethod
    def of(cls, layout: Layout) -> Tellings:
        """Pairs in the trees of their sentences."""
        return cls(layout, Trees.of(layout))

    def __len__(self) -> int:
        return len(self.layout.pairs)

    @cached_property
    def ways(self) -> Ways:
        """From each name up to the token where both meet; of several the shortest, first ones."""
        above, start, length = self._meetings()
        width = int(length.max(initial=0)) + 1
        codes, number = factorize(start * width + length)
        start, length = np.divmod(codes, width)
        _, at = expand(above.starts[start], length)
        return Ways(RaggedArray(offsets(length), above.values[at]), number.reshape(2, len(self)))

    def _meetings(self) -> tuple[RaggedArray, Indices, Indices]:
        """Paths up to roots, and for all first names, then all second ones, which and how far."""
        owner, source, target = self._couples()
        tokens, place = factorize(np.concatenate([source, target]))
        above, (one, two) = self._above(tokens), place.reshape(2, len(owner))
        low = np.maximum(_alike(above, one, two) - 1, 0)  # without a common root both are whole
        steps = above.sizes[one] + above.sizes[two] - 2 * low
        fewest = segment_min(steps, owner, len(self), 0)
        best = first_true(steps == fewest[owner], owner)
        start = np.concatenate([one[best], two[best]])
        return above, start, above.sizes[start] - np.tile(low[best], 2)

    def _couples(self) -> tuple[Indices, Indices, Indices]:
        """Pair and tokens of both names, those whose head lies outside of their name."""
        own, heads = self.layout, self.trees.heads
        if len(own.couples[0]) == len(own.pairs):  # names of one word
            return own.couples
        owner, *ends = own.couples
        shift = own.shift[owner]
        kept = np.ones(len(owner), dtype=bool)
        for token, (pair, inside) in zip(ends, own.ends, strict=True):
            name = np.zeros(int(own.cells[-1]), dtype=bool)
            name[inside + own.shift[pair]] = True
            kept &= (heads[token] == token) | ~name[heads[token] + shift]
        return owner[kept], ends[0][kept], ends[1][kept]

    def _above(self, tokens: Indices) -> RaggedArray:
        """Each token, its head, the head of that, and so on to the root."""
        heads, starts = self.trees.heads, offsets(self.trees.depth[tokens] + 1)
        found = np.empty(starts[-1], dtype=np.intp)
        place, at = starts[:-1], tokens
        while len(at):
            found[place] = at
            going = (heads[at] != at).nonzero()[0]
            place, at = place[going] + 1, heads[at[going]]
        return RaggedArray(starts, found)

    @cached_property
    def top(self) -> Indices:
        """The token where the paths of each pair meet."""
        return self.tops[self.ways.of[0]]

    @cached_property
    def tops(self) -> Indices:
        """The last token of each way."""
        return self.ways.tokens.values[self.ways.tokens.starts[1:] - 1]

    @cached_property
    def voice(self) -> Indices:
        """That of the top."""
        return self.trees.voice[self.top]

    @cached_property
    def below(self) -> tuple[Indices, Indices, Indices]:
        """All tokens of ways but the top: side, pair and token, each way upwards."""
        ways, of = self.ways.tokens, self.ways.of.ravel()
        row, place = expand(ways.starts[of], ways.sizes[of] - 1)
        side, pair = np.divmod(row, max(1, len(self)))
        return side, pair, ways.values[place]

    @cached_property
    def on_way(self) -> NDArray[np.int8]:
        """By cell: 1 on the way of the first name, 2 on that of the second, 3 on both, or 0."""
        own, found = self.layout, np.zeros(int(self.layout.cells[-1]), dtype=np.int8)
        for mark, of in enumerate(self.ways.of, start=1):
            pair, token = self.ways.tokens.of_each(of)
            found[token + own.shift[pair]] += mark
        return found

    def on_path(self, pair: Indices, token: Indices) -> Mask:
        """Which tokens are on the path of a pair."""
        return self.on_way[token + self.layout.shift[pair]] > 0

    def is_own(self, pair: Indices, token: Indices) -> Mask:
        """Which tokens are of the names of a pair."""
        return self.layout.own[token + self.layout.shift[pair]]

    @cached_property
    def reached(self) -> tuple[Indices, Indices]:
        """For each way its relations that say something, at most three, and the last word."""
        lexicon, ways = self.layout.lexicon, self.ways.tokens
        way, place = expand(ways.starts[:-1], ways.sizes - 1)
        step = self.trees.relation[ways.values[place]]
        telling = ~(step[:, None] == lexicon.all(PASSED)).any(axis=1)
        some = np.bincount(way[telling], minlength=len(ways.sizes)) > 0
        kept = (telling | (~some[way] & (place == ways.starts[way]))).nonzero()[0]
        way, step = way[kept], step[kept]
        after = np.bincount(way, minlength=len(ways.sizes)).cumsum()[way] - np.arange(len(way))
        table = np.full((len(ways.sizes), TELLING), -1, dtype=np.intp)
        last = (after <= TELLING).nonzero()[0]
        table[way[last], after[last] - 1] = step[last]
        return self._joined(table)

    def _joined(self, table: Indices) -> tuple[Indices, Indices]:
        """Rows of words, the last first, as one text each, and the last word of each text."""
        lexicon = self.layout.lexicon
        words, every = lexicon.words(), len(lexicon.numbers) + 1
        codes, number = factorize((table + 1) @ (every ** np.arange(TELLING)))
        texts = []
        for code in codes.tolist():
            parts = [code // every**k % every for k in reversed(range(TELLING))]
            texts.append(" ".join(words[part - 1] for part in parts if part) or "top")
        ends = [text.rpartition(" ")[-1] for text in texts]
        return lexicon.all(texts)[number], lexicon.all(ends)[number]

    @cached_property
    def end(self) -> Indices:
        """By what each way begins."""
        ways = self.ways.tokens
        found = self.trees.relation[ways.values[ways.starts[:-1]]]
        return np.where(ways.sizes > 1, found, self.layout.lexicon("top"))

    def classes(self, pair: Indices, token: Indices) -> tuple[Indices, Indices]:
        """The classes of words, none of words of the pair: place, and class."""
        free = (~self.is_own(pair, token)).nonzero()[0]
        at, name = self.trees.classes.of_each(token[free])
        return free[at], name

    def names(self, pair: Indices, token: Indices) -> tuple[Indices, Indices]:
        """The classes of words and the words themselves as the pair sees them: place and name."""
        at, name = self.classes(pair, token)
        words = self.trees.quoted[self.layout.words_at(pair, token)]
        return np.concatenate([at, np.arange(len(token))]), np.concatenate([name, words])

    @cached_property
    def kinds(self) -> RaggedArray:
        """The classes of the top of each pair, or that it has none."""
        every = np.arange(len(self))
        pair, name = self.classes(every, self.top)
        none = (np.bincount(pair, minlength=len(self)) == 0).nonzero()[0]
        other = np.full(len(none), self.layout.lexicon("other"), dtype=np.intp)
        both = np.concatenate([pair, none]), np.concatenate([name, other])
        return RaggedArray.grouped(*both, len(self))

    @cached_property
    def triggers(self) -> RaggedArray:
        """Words of events for each pair, the most likely trigger first.

        The top of the path, then others on it, then words that hang on it or carry it, then words
        between the names, then the rest; of equals the nearest to the path.
        """
        own = self.layout
        pair, place = self.trees.in_sentences(self.trees.events)
        token = self.trees.events[place]
        free = (~self.is_own(pair, token)).nonzero()[0]
        pair, token = pair[free], token[free]
        rank, distance = self._standing(pair, token)
        width = int(own.size.max(initial=0)) + 1
        codes = ((pair * 5 + rank) * width + distance) * width + token - own.base[pair]
        codes.sort()
        pair = codes // (5 * width * width)
        return RaggedArray(
            offsets(np.bincount(pair, minlength=len(self))), codes % width + own.base[pair]
        )

    def _standing(self, pair: Indices, token: Indices) -> tuple[Indices, Indices]:
        """How words stand to the path, the closest as 0, and how many tokens away from it."""
        own, heads = self.layout, self.trees.heads
        on_path = self.on_way.nonzero()[0]
        inner = self.on_way > 0
        inner &= ~own.own
        carries = np.zeros(len(inner), dtype=bool)
        cells = inner.nonzero()[0]
        carries[heads[own.token[cells]] + own.shift[own.owner[cells]]] = True
        cell = token + own.shift[pair]
        hangs = inner[heads[token] + own.shift[pair]] | carries[cell]
        between = (own.begin[pair] < token) & (token < own.end[pair])
        rank = np.where(inner[cell], token != self.top[pair], np.where(hangs, 2, 4 - between))
        return rank, _distances(on_path, cell, own.cells, pair)

    def trigger(self, kinds: Indices) -> Indices:
        """The likeliest trigger of an event of a kind for each pair, -1 where no word tells any.

        Any trigger where no word near the path is of that kind.
        """
        found = np.where(self.triggers.sizes > 0, self.likeliest, -1)
        pair, token = self.triggers.of_each(np.arange(len(self)))
        near = self.on_path(pair, token) | self.on_path(pair, self.trees.heads[token])
        near |= ~np.bincount(pair[near], minlength=len(self)).astype(bool)[pair]
        at, kind = self.trees.kinds.of_each(token)
        fits = first_true(near[at] & (kind == kinds[pair[at]]), pair[at])
        found[pair[at[fits]]] = token[at[fits]]
        return found

    @cached_property
    def likeliest(self) -> Indices:
        """The likeliest trigger of each pair, its top where there is none."""
        found = self.top.copy()
        some = self.triggers.sizes.nonzero()[0]
        found[some] = self.triggers.first(some)
        return found

    def side_of(self, pair: Indices, token: Indices) -> Indices:
        """Where words stand in the order of the sentence, by name."""
        own = self.layout
        begin, end = own.begin[pair], own.end[pair]
        second = self.starts[1][pair] - token
        number = np.where(token < begin, begin - token <= NEAR, 4 + ((second > 0) & (second <= 2)))
        number = np.where(token > end, 2 + (token - end <= NEAR), number)
        return own.lexicon.all(PLACES)[number]

    @cached_property
    def starts(self) -> tuple[Indices, Indices]:
        """The first token of the first and of the second name of each pair."""
        one, two = (
            np.minimum.reduceat(t, run_starts(o)) if len(o) else t for o, t in self.layout.ends
        )
        return one, two

    @cached_property
    def ends(self) -> tuple[Indices, Indices]:
        """The last token of the first and of the second name of each pair."""
        one, two = (
            np.maximum.reduceat(t, run_starts(o)) if len(o) else t for o, t in self.layout.ends
        )
        return one, two


class Told(ABC):
    """A block of what is told of pairs in their trees, present or absent."""

    once: ClassVar[bool] = True

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, "own"))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return features_met(self, pairs)

    def meet(self, own: Layout, found: Occurrences) -> None:
        """Adds what is met in pairs."""
        self.tell(own.once(Tellings.of), found)

    @abstractmethod
    def tell(self, told: Tellings, found: Occurrences) -> None:
        """Adds what is told of pairs."""


PLACES = ("before", "just before", "after", "just after", "between", "just before second")


def _alike(above: RaggedArray, one: Indices, two: Indices) -> Indices:
    """How many tokens the paths from two tokens to their root share, counted from the root."""
    owner, step = expand(np.ones_like(one), np.minimum(above.sizes[one], above.sizes[two]))
    same = above.values[above.starts[one + 1][owner] - step]
    same = same == above.values[above.starts[two + 1][owner] - step]
    return np.bincount(owner[same], minlength=len(one))


def _distances(marked: Indices, cell: Indices, cells: Indices, pair: Indices) -> Indices:
    """From cells of pairs to the nearest of rising marked ones; each pair has some."""
    bounds = np.searchsorted(marked, cells)
    place = np.searchsorted(marked, cell)
    left = marked[np.maximum(place - 1, bounds[pair])]
    right = marked[np.minimum(place, bounds[pair + 1] - 1)]
    return np.minimum(abs(cell - left), abs(cell - right))


def tellings(pairs: Sequence[EntityPair]) -> Tellings:
    """The pairs in their trees; a sentence is looked at once."""
    return layout_of(pairs).once(Tellings.of)
