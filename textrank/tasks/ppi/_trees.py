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
    FIRST_ENTITY,
    OTHER_ENTITY,
    SECOND_ENTITY,
    EntityPair,
    FeatureCounter,
    PairArrays,
    analyze_pairs,
    extract_features,
    pair_arrays,
)
from textrank.tasks.ppi.sentences import stem
from textrank.tasks.ppi.vocabulary import (
    CUE_CLASSES,
    EVENT_CLASSES,
    EVENT_TYPES,
    REGULATION_POLARITY,
    VERB_PREFIXES,
)

COARSE_RELATIONS = {
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
_SUFFIX_LIST = (
    "tors tor ors or ers er ases ase ions ion ing ed ible able ent ive ory ment ance ence "
    "ates ate es s"
)
SUFFIXES = frozenset(_SUFFIX_LIST.split())
MAX_SUFFIX_LENGTH = max(map(len, SUFFIXES))
MIN_STEM_LENGTH = 3  # letters that are left at the least


@lru_cache(maxsize=1 << 16)
def suffix(text: str) -> str:
    """How a word ends, since stems hide who acts: "-induced" and "-inducing", "activator".

    >>> suffix("inducing"), suffix("activator"), suffix("bind")
    ('ing', 'tor', '')
    """
    word = text.lower()
    sizes = range(min(MAX_SUFFIX_LENGTH, len(word) - MIN_STEM_LENGTH), 0, -1)
    return next((word[-size:] for size in sizes if word[-size:] in SUFFIXES), "")


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """The trees of all sentences of a batch, tokens counted over all of them.

    Relations, classes, endings and words are numbers of the lexicon of the batch.
    """

    arrays: PairArrays
    heads: Indices  # of spaCy's parse; a root is its own head
    dep_labels: list[str]

    @classmethod
    def from_arrays(cls, layout: PairArrays) -> TreeNodes:
        """Those of the sentences of pairs.

        A token whose head lies in another sentence, or whose heads lead in a circle, is a root.
        """
        own = [context.sentence for context in layout.contexts]
        table = np.concatenate([np.empty((0, 2), np.uint64), *(s.attributes[:, 2:] for s in own)])
        token = np.arange(len(table))
        heads = (token + table[:, 0].astype(np.int64)).clip(0, max(0, len(table) - 1))
        lost = layout.token_sentence[heads] != layout.token_sentence
        heads[lost] = token[lost]
        top = _follow_heads(heads)
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
        return [text for context in self.arrays.contexts for text in context.texts]

    @cached_property
    def stems(self) -> list[str]:
        """The stems of all tokens, names included."""
        return [stem for context in self.arrays.contexts for stem in context.stems]

    @cached_property
    def depths(self) -> Indices:
        """How many heads lead from each token to its root."""
        depth, up = (self.heads != np.arange(len(self.heads))).astype(np.intp), self.heads
        while (more := depth[up]).any():
            depth, up = depth + more, up[up]
        return depth

    @cached_property
    def name_tokens(self) -> list[int]:
        """The tokens of names."""
        return (self.arrays.token_words == self.arrays.lexicon(OTHER_ENTITY)).nonzero()[0].tolist()

    @cached_property
    def relations(self) -> Indices:
        """What each token is to its head, coarse; a preposition is its own relation."""
        found = [COARSE_RELATIONS.get(label, label) for label in self.dep_labels]
        for token, label in enumerate(self.dep_labels):
            if label in ("prep", "agent", "dative"):
                found[token] = "by" if label == "agent" else self.texts[token].lower()
        return self.arrays.lexicon.encode(found)

    @cached_property
    def is_passive(self) -> NDArray[np.bool_]:
        """Which tokens are verbs in the passive."""
        marks = [n for n, label in enumerate(self.dep_labels) if label in ("auxpass", "agent")]
        found = np.zeros(len(self.heads), dtype=bool)
        found[self.heads[np.array(marks, dtype=np.intp)]] = True
        return found

    @cached_property
    def voices(self) -> Indices:
        """The voice of each token."""
        return self.arrays.lexicon.encode(("active", "passive"))[self.is_passive.view(np.int8)]

    @cached_property
    def suffixes(self) -> Indices:
        """How each token ends."""
        return self.arrays.lexicon.encode(map(suffix, self.texts))

    @cached_property
    def quoted(self) -> Indices:
        """By the number of a word, that of the word in quotes."""
        lexicon, word = self.arrays.lexicon, self.arrays.token_words
        pair = lexicon.encode((FIRST_ENTITY, SECOND_ENTITY))
        used = np.zeros(len(lexicon.numbers), dtype=bool)
        used[word] = used[pair] = True
        words, known = lexicon.words(), used.nonzero()[0]
        found = np.full(len(used), -1, dtype=np.intp)
        found[known] = lexicon.encode(f"“{words[word]}”" for word in known.tolist())
        return found

    @cached_property
    def classes(self) -> RaggedArray:
        """The classes of each token, none for those of names."""
        found = [EVENT_CLASSES.get(stem, ()) for stem in self.stems]
        for token, own in enumerate(found):
            if own or self.texts[token - 1] in "-–":
                found[token] = self._token_classes(token)
        for token in self.name_tokens:
            found[token] = ()
        return self._encode_lists(found)

    def _token_classes(self, token: int) -> tuple[str, ...]:
        stems, prefix = self.stems, self._prefix(token)
        own = EVENT_CLASSES.get(stems[token], ())
        if prefix.lower() in VERB_PREFIXES:
            own = EVENT_CLASSES.get(stem(prefix + self.texts[token]), own)
        if "regulation" in own:
            children = (self.heads == token).nonzero()[0].tolist()
            leaning = [
                REGULATION_POLARITY[stems[c]]
                for c in children
                if c != token and stems[c] in REGULATION_POLARITY
            ]
            own = (*leaning, *own) if leaning else own
        return own

    def _prefix(self, token: int) -> str:
        """The word before the hyphen before a word; nothing where there is none."""
        if self.texts[token - 1] not in "-–":
            return ""
        start = self.arrays.sentence_starts[self.arrays.token_sentence[token]]
        return self.texts[token - 2] if token > start + 1 else ""

    def _encode_lists(self, names: Sequence[Sequence[str]]) -> RaggedArray:
        values = self.arrays.lexicon.encode(chain.from_iterable(names))
        return RaggedArray(offsets([len(own) for own in names]), values)

    @cached_property
    def classed_tokens(self) -> Indices:
        """The tokens that have a class."""
        return self.classes.sizes.nonzero()[0]

    @cached_property
    def event_types(self) -> RaggedArray:
        """Those classes of each token that say what happens."""
        kinds, number = self.arrays.lexicon.encode(EVENT_TYPES), self.classes.values
        known = (number[:, None] == kinds).any(axis=1)
        ends = np.append(0, known.cumsum())
        return RaggedArray(ends[self.classes.starts], number[known])

    @cached_property
    def event_tokens(self) -> Indices:
        """The tokens that say what happens."""
        return self.event_types.sizes.nonzero()[0]

    @cached_property
    def classes_and_word(self) -> RaggedArray:
        """The classes of each token and the word itself; all names are alike."""
        starts = self.classes.starts + np.arange(len(self.classes.starts))
        values = np.empty(starts[-1], dtype=np.intp)
        last = starts[1:] - 1
        inner = np.ones(len(values), dtype=bool)
        inner[last] = False
        values[inner], values[last] = self.classes.values, self.quoted[self.arrays.token_words]
        return RaggedArray(starts, values)

    @cached_property
    def outline(self) -> Indices:
        """Each word, or its first class and how it ends where it has one."""
        lexicon, found, token = (
            self.arrays.lexicon,
            self.arrays.token_words.copy(),
            self.classed_tokens,
        )
        kinds, ends = self.classes.first(token).tolist(), self.suffixes[token].tolist()
        words = lexicon.words()
        found[token] = lexicon.encode(
            f"{words[kind]} {words[end]}" for kind, end in zip(kinds, ends, strict=True)
        )
        return found

    @cached_property
    def classed_children(self) -> RaggedArray:
        """The children of each token that have a class."""
        heads = self.heads[self.classed_tokens]
        some = (heads != self.classed_tokens).nonzero()[0]
        return RaggedArray.group_by(heads[some], self.classed_tokens[some], len(self.heads))

    @cached_property
    def cues(self) -> tuple[Indices, RaggedArray]:
        """The words that deny or doubt and what each is called; those of names are none."""
        names = set(self.name_tokens)
        tokens = [n for n, word in enumerate(self.stems) if word in CUE_CLASSES and n not in names]
        called = [(*CUE_CLASSES[word], f"“{word}”") for word in map(self.stems.__getitem__, tokens)]
        return np.array(tokens, dtype=np.intp), self._encode_lists(called)

    def by_pair(self, tokens: Indices) -> tuple[Indices, Indices]:
        """For each pair those of some rising tokens that lie in its sentence: pair and place."""
        begin = np.searchsorted(tokens, self.arrays.sentence_starts)
        places = RaggedArray(begin, np.arange(len(tokens)))
        return places.gather(self.arrays.sentence_index)


def _follow_heads(heads: Indices) -> Indices:
    """Where heads lead from each token; somewhere on a circle where they never end."""
    up = heads
    for _ in range(len(heads).bit_length()):
        if np.array_equal(up, higher := up[up]):
            break
        up = higher
    return up


TRANSPARENT_RELATIONS = (
    "pobj",
    "conj",
    "modifier",
    "appos",
)  # relations that say nothing of a name's part
MAX_ROLE_RELATIONS = 3  # relations of a way that are told, the highest
MAX_NEAR_TOKENS = 3  # tokens
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AncestorPaths:
    """Ways from names up to where they meet another name, each once."""

    tokens: RaggedArray  # the top is the last
    path_index: Indices  # (2, pairs) the way of the first name, and of the second


@dataclass(frozen=True, eq=False)
class PairTrees:
    """Pairs in their trees."""

    arrays: PairArrays
    nodes: TreeNodes

    @classmethod
    def from_arrays(cls, layout: PairArrays) -> PairTrees:
        """Pairs in the trees of their sentences."""
        return cls(layout, TreeNodes.from_arrays(layout))

    def __len__(self) -> int:
        return len(self.arrays.pairs)

    @cached_property
    def ancestor_paths(self) -> AncestorPaths:
        """From each name up to the token where both meet; of several the shortest, first ones."""
        above, start, length = self._lowest_common_ancestors()
        width = int(length.max(initial=0)) + 1
        codes, number = factorize(start * width + length)
        start, length = np.divmod(codes, width)
        _, at = expand(above.starts[start], length)
        return AncestorPaths(
            RaggedArray(offsets(length), above.values[at]), number.reshape(2, len(self))
        )

    def _lowest_common_ancestors(self) -> tuple[RaggedArray, Indices, Indices]:
        """Paths up to roots, and for all first names, then all second ones, which and how far."""
        owner, source, target = self._head_token_pairs()
        tokens, place = factorize(np.concatenate([source, target]))
        above, (one, two) = self._paths_to_root(tokens), place.reshape(2, len(owner))
        low = np.maximum(
            _count_shared_ancestors(above, one, two) - 1, 0
        )  # without a common root both are whole
        steps = above.sizes[one] + above.sizes[two] - 2 * low
        fewest = segment_min(steps, owner, len(self), 0)
        best = first_true(steps == fewest[owner], owner)
        start = np.concatenate([one[best], two[best]])
        return above, start, above.sizes[start] - np.tile(low[best], 2)

    def _head_token_pairs(self) -> tuple[Indices, Indices, Indices]:
        """Pair and tokens of both names, those whose head lies outside of their name."""
        own, heads = self.arrays, self.nodes.heads
        if len(own.entity_token_pairs[0]) == len(own.pairs):  # names of one word
            return own.entity_token_pairs
        owner, *ends = own.entity_token_pairs
        shift = own.offset[owner]
        kept = np.ones(len(owner), dtype=bool)
        for token, (pair, inside) in zip(ends, own.entity_tokens, strict=True):
            name = np.zeros(int(own.pair_token_starts[-1]), dtype=bool)
            name[inside + own.offset[pair]] = True
            kept &= (heads[token] == token) | ~name[heads[token] + shift]
        return owner[kept], ends[0][kept], ends[1][kept]

    def _paths_to_root(self, tokens: Indices) -> RaggedArray:
        """Each token, its head, the head of that, and so on to the root."""
        heads, starts = self.nodes.heads, offsets(self.nodes.depths[tokens] + 1)
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
        return self.path_tops[self.ancestor_paths.path_index[0]]

    @cached_property
    def path_tops(self) -> Indices:
        """The last token of each way."""
        return self.ancestor_paths.tokens.values[self.ancestor_paths.tokens.starts[1:] - 1]

    @cached_property
    def voice(self) -> Indices:
        """That of the top."""
        return self.nodes.voices[self.top]

    @cached_property
    def tokens_below_top(self) -> tuple[Indices, Indices, Indices]:
        """All tokens of ways but the top: side, pair and token, each way upwards."""
        ways, of = self.ancestor_paths.tokens, self.ancestor_paths.path_index.ravel()
        row, place = expand(ways.starts[of], ways.sizes[of] - 1)
        side, pair = np.divmod(row, max(1, len(self)))
        return side, pair, ways.values[place]

    @cached_property
    def path_sides(self) -> NDArray[np.int8]:
        """By cell: 1 on the way of the first name, 2 on that of the second, 3 on both, or 0."""
        own, found = self.arrays, np.zeros(int(self.arrays.pair_token_starts[-1]), dtype=np.int8)
        for mark, of in enumerate(self.ancestor_paths.path_index, start=1):
            pair, token = self.ancestor_paths.tokens.gather(of)
            found[token + own.offset[pair]] += mark
        return found

    def is_on_path(self, pair: Indices, token: Indices) -> Mask:
        """Which tokens are on the path of a pair."""
        return self.path_sides[token + self.arrays.offset[pair]] > 0

    def is_entity(self, pair: Indices, token: Indices) -> Mask:
        """Which tokens are of the names of a pair."""
        return self.arrays.is_entity[token + self.arrays.offset[pair]]

    @cached_property
    def roles(self) -> tuple[Indices, Indices]:
        """For each way its relations that say something, at most three, and the last word."""
        lexicon, ways = self.arrays.lexicon, self.ancestor_paths.tokens
        way, place = expand(ways.starts[:-1], ways.sizes - 1)
        step = self.nodes.relations[ways.values[place]]
        telling = ~(step[:, None] == lexicon.encode(TRANSPARENT_RELATIONS)).any(axis=1)
        some = np.bincount(way[telling], minlength=len(ways.sizes)) > 0
        kept = (telling | (~some[way] & (place == ways.starts[way]))).nonzero()[0]
        way, step = way[kept], step[kept]
        after = np.bincount(way, minlength=len(ways.sizes)).cumsum()[way] - np.arange(len(way))
        table = np.full((len(ways.sizes), MAX_ROLE_RELATIONS), -1, dtype=np.intp)
        last = (after <= MAX_ROLE_RELATIONS).nonzero()[0]
        table[way[last], after[last] - 1] = step[last]
        return self._join_relations(table)

    def _join_relations(self, table: Indices) -> tuple[Indices, Indices]:
        """Rows of words, the last first, as one text each, and the last word of each text."""
        lexicon = self.arrays.lexicon
        words, every = lexicon.words(), len(lexicon.numbers) + 1
        codes, number = factorize((table + 1) @ (every ** np.arange(MAX_ROLE_RELATIONS)))
        texts = []
        for code in codes.tolist():
            parts = [code // every**k % every for k in reversed(range(MAX_ROLE_RELATIONS))]
            texts.append(" ".join(words[part - 1] for part in parts if part) or "top")
        ends = [text.rpartition(" ")[-1] for text in texts]
        return lexicon.encode(texts)[number], lexicon.encode(ends)[number]

    @cached_property
    def first_relation(self) -> Indices:
        """By what each way begins."""
        ways = self.ancestor_paths.tokens
        found = self.nodes.relations[ways.values[ways.starts[:-1]]]
        return np.where(ways.sizes > 1, found, self.arrays.lexicon("top"))

    def classes_of(self, pair: Indices, token: Indices) -> tuple[Indices, Indices]:
        """The classes of words, none of words of the pair: place, and class."""
        free = (~self.is_entity(pair, token)).nonzero()[0]
        at, name = self.nodes.classes.gather(token[free])
        return free[at], name

    def labels_of(self, pair: Indices, token: Indices) -> tuple[Indices, Indices]:
        """The classes of words and the words themselves as the pair sees them: place and name."""
        at, name = self.classes_of(pair, token)
        words = self.nodes.quoted[self.arrays.words_at(pair, token)]
        return np.concatenate([at, np.arange(len(token))]), np.concatenate([name, words])

    @cached_property
    def top_classes(self) -> RaggedArray:
        """The classes of the top of each pair, or that it has none."""
        every = np.arange(len(self))
        pair, name = self.classes_of(every, self.top)
        none = (np.bincount(pair, minlength=len(self)) == 0).nonzero()[0]
        other = np.full(len(none), self.arrays.lexicon("other"), dtype=np.intp)
        both = np.concatenate([pair, none]), np.concatenate([name, other])
        return RaggedArray.group_by(*both, len(self))

    @cached_property
    def triggers(self) -> RaggedArray:
        """Words of events for each pair, the most likely trigger first.

        The top of the path, then others on it, then words that hang on it or carry it, then words
        between the names, then the rest; of equals the nearest to the path.
        """
        own = self.arrays
        pair, place = self.nodes.by_pair(self.nodes.event_tokens)
        token = self.nodes.event_tokens[place]
        free = (~self.is_entity(pair, token)).nonzero()[0]
        pair, token = pair[free], token[free]
        rank, distance = self._trigger_ranks(pair, token)
        width = int(own.sentence_sizes.max(initial=0)) + 1
        codes = ((pair * 5 + rank) * width + distance) * width + token - own.sentence_base[pair]
        codes.sort()
        pair = codes // (5 * width * width)
        return RaggedArray(
            offsets(np.bincount(pair, minlength=len(self))), codes % width + own.sentence_base[pair]
        )

    def _trigger_ranks(self, pair: Indices, token: Indices) -> tuple[Indices, Indices]:
        """How words stand to the path, the closest as 0, and how many tokens away from it."""
        own, heads = self.arrays, self.nodes.heads
        on_path = self.path_sides.nonzero()[0]
        inner = self.path_sides > 0
        inner &= ~own.is_entity
        carries = np.zeros(len(inner), dtype=bool)
        cells = inner.nonzero()[0]
        carries[heads[own.token_index[cells]] + own.offset[own.pair_index[cells]]] = True
        cell = token + own.offset[pair]
        hangs = inner[heads[token] + own.offset[pair]] | carries[cell]
        between = (own.first_token[pair] < token) & (token < own.last_token[pair])
        rank = np.where(inner[cell], token != self.top[pair], np.where(hangs, 2, 4 - between))
        return rank, _nearest_marked_distance(on_path, cell, own.pair_token_starts, pair)

    def best_trigger(self, kinds: Indices) -> Indices:
        """The likeliest trigger of an event of a kind for each pair, -1 where no word tells any.

        Any trigger where no word near the path is of that kind.
        """
        found = np.where(self.triggers.sizes > 0, self.likeliest_trigger, -1)
        pair, token = self.triggers.gather(np.arange(len(self)))
        near = self.is_on_path(pair, token) | self.is_on_path(pair, self.nodes.heads[token])
        near |= ~np.bincount(pair[near], minlength=len(self)).astype(bool)[pair]
        at, kind = self.nodes.event_types.gather(token)
        fits = first_true(near[at] & (kind == kinds[pair[at]]), pair[at])
        found[pair[at[fits]]] = token[at[fits]]
        return found

    @cached_property
    def likeliest_trigger(self) -> Indices:
        """The likeliest trigger of each pair, its top where there is none."""
        found = self.top.copy()
        some = self.triggers.sizes.nonzero()[0]
        found[some] = self.triggers.first(some)
        return found

    def position_label(self, pair: Indices, token: Indices) -> Indices:
        """Where words stand in the order of the sentence, by name."""
        own = self.arrays
        begin, end = own.first_token[pair], own.last_token[pair]
        second = self.entity_starts[1][pair] - token
        number = np.where(
            token < begin, begin - token <= MAX_NEAR_TOKENS, 4 + ((second > 0) & (second <= 2))
        )
        number = np.where(token > end, 2 + (token - end <= MAX_NEAR_TOKENS), number)
        return own.lexicon.encode(POSITION_LABELS)[number]

    @cached_property
    def entity_starts(self) -> tuple[Indices, Indices]:
        """The first token of the first and of the second name of each pair."""
        one, two = (
            np.minimum.reduceat(t, run_starts(o)) if len(o) else t
            for o, t in self.arrays.entity_tokens
        )
        return one, two

    @cached_property
    def entity_ends(self) -> tuple[Indices, Indices]:
        """The last token of the first and of the second name of each pair."""
        one, two = (
            np.maximum.reduceat(t, run_starts(o)) if len(o) else t
            for o, t in self.arrays.entity_tokens
        )
        return one, two


class TreeFeatures(ABC):
    """A block of what is told of pairs in their trees, present or absent."""

    binary: ClassVar[bool] = True

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.represent(analyze_pairs(candidates, "own"))

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """The features of pairs that are already analysed."""
        return extract_features(self, pairs)

    def extract(self, own: PairArrays, found: FeatureCounter) -> None:
        """Adds what is met in pairs."""
        self.extract_from_trees(own.cached(PairTrees.from_arrays), found)

    @abstractmethod
    def extract_from_trees(self, told: PairTrees, found: FeatureCounter) -> None:
        """Adds what is told of pairs."""


POSITION_LABELS = ("before", "just before", "after", "just after", "between", "just before second")


def _count_shared_ancestors(above: RaggedArray, one: Indices, two: Indices) -> Indices:
    """How many tokens the paths from two tokens to their root share, counted from the root."""
    owner, step = expand(np.ones_like(one), np.minimum(above.sizes[one], above.sizes[two]))
    same = above.values[above.starts[one + 1][owner] - step]
    same = same == above.values[above.starts[two + 1][owner] - step]
    return np.bincount(owner[same], minlength=len(one))


def _nearest_marked_distance(
    marked: Indices, cell: Indices, cells: Indices, pair: Indices
) -> Indices:
    """From cells of pairs to the nearest of rising marked ones; each pair has some."""
    bounds = np.searchsorted(marked, cells)
    place = np.searchsorted(marked, cell)
    left = marked[np.maximum(place - 1, bounds[pair])]
    right = marked[np.minimum(place, bounds[pair + 1] - 1)]
    return np.minimum(abs(cell - left), abs(cell - right))


def pair_trees(pairs: Sequence[EntityPair]) -> PairTrees:
    """The pairs in their trees; a sentence is looked at once."""
    return pair_arrays(pairs).cached(PairTrees.from_arrays)
