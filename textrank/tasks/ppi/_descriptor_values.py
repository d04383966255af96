"""What the descriptors of pairs ask about entities, for all sentences of a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from textrank._ragged import (
    concat,
    expand,
    first_true,
    lengths,
    offsets,
    run_starts,
    segment_min,
    sum_rows_by_owner,
)
from textrank.features import Indices, Matrix, Vector
from textrank.tasks.ppi.pairs import PairArrays
from textrank.tasks.ppi.vocabulary import TRIGGERS, dependency_group, is_verb

MAX_DISTANCE = 12.0  # steps or tokens beyond which distances are not told apart
OPENING_BRACKETS, CLOSING_BRACKETS = ("(", "[", "-LRB-"), (")", "]", "-RRB-")
PARTNER_PREPOSITIONS = ("prep_with", "prep_to")
ROLE_PREPOSITIONS = ("prep_of", "prep_by", "prep_between", "agent")
ENTITY_FACTS = (
    "is subject",
    "is object",
    "is conjunct",
    "is modifier",
    "is with or to",
    "is of, by or between",
    "is apposition",
    "under a verb",
    "under a trigger",
    "before a noun",
    "before a hyphen or slash",
    "before a list separator",
    "depth",
    "position",
)


@dataclass(frozen=True, eq=False)
class Entities:
    """The different entities of all sentences, those of a sentence together."""

    arrays: PairArrays
    token_lists: list[tuple[int, ...]]  # tokens of each, from the start of the sentence
    entity_starts: Indices  # (sentences + 1,) the first entity of each sentence
    mentions: Indices  # entities that are names of the sentence, in the order of the text
    mention_starts: Indices  # (sentences + 1,) the first mention of each sentence
    first: Indices  # (pairs,)
    second: Indices  # (pairs,)

    @classmethod
    def from_arrays(cls, layout: PairArrays) -> Entities:
        """Those of names of the sentences and of pairs."""
        known: list[dict[tuple[int, ...], int]] = []
        mentions: list[list[int]] = []
        for context in layout.contexts:
            rows: dict[tuple[int, ...], int] = {}
            mentions.append([rows.setdefault(tuple(t), len(rows)) for t in context.mentions])
            known.append(rows)
        ends = []
        for pair, number in zip(layout.pairs, layout.sentence_index.tolist(), strict=True):
            rows = known[number]
            for tokens in (pair.first, pair.second):
                ends.append(rows.setdefault(tuple(tokens), len(rows)))
        starts = offsets([len(rows) for rows in known])
        named = offsets([len(own) for own in mentions])
        sentence = np.arange(len(known)).repeat(lengths(named))
        first, second = (
            np.array(ends, dtype=np.intp).reshape(-1, 2).T + starts[layout.sentence_index]
        )
        every = [tokens for rows in known for tokens in rows]
        return cls(layout, every, starts, concat(mentions) + starts[sentence], named, first, second)

    def __len__(self) -> int:
        return len(self.token_lists)

    @cached_property
    def sentence_index(self) -> Indices:
        """The sentence of each entity."""
        return np.arange(len(self.entity_starts) - 1).repeat(lengths(self.entity_starts))

    @cached_property
    def token_starts(self) -> Indices:  # (entities + 1,)
        """Where the tokens of each begin, and the end of all."""
        return offsets([len(tokens) for tokens in self.token_lists])

    @cached_property
    def entity_index(self) -> Indices:
        """The entity of each of their tokens."""
        return np.arange(len(self)).repeat(lengths(self.token_starts))

    @cached_property
    def token_index(self) -> Indices:
        """The tokens of all of them."""
        return (
            concat(self.token_lists)
            + self.arrays.sentence_starts[self.sentence_index[self.entity_index]]
        )

    @cached_property
    def first_token(self) -> Indices:
        """The first token of each."""
        return self.token_index[self.token_starts[:-1]]

    @cached_property
    def last_token(self) -> Indices:
        """The last token of each."""
        return self.token_index[self.token_starts[1:] - 1]

    @cached_property
    def row_starts(self) -> Indices:  # (entities + 1,)
        """Where each begins in a list of all tokens of the sentence of each; and the end."""
        return offsets(lengths(self.arrays.sentence_starts)[self.sentence_index])

    @cached_property
    def row_offset(self) -> Indices:
        """Where token 0 of the batch would stand in such a list, for each entity."""
        return self.row_starts[:-1] - self.arrays.sentence_starts[self.sentence_index]

    @cached_property
    def _token_path_lengths(self) -> Vector:
        """Dependencies from each entity to every token of its sentence, at most ``FAR``."""
        steps, count, size = (
            self.arrays.distances,
            lengths(self.token_starts),
            lengths(self.row_starts),
        )
        found = np.full(int(self.row_starts[-1]), MAX_DISTANCE)
        for place in range(int(count.max(initial=0))):
            some = (count > place).nonzero()[0]
            source = steps.row_of_token[self.token_index[self.token_starts[some] + place]]
            to, here = expand(self.row_starts[some], size[some])
            there = here + (steps.row_offset[source] - self.row_offset[some])[to]
            found[here] = np.minimum(found[here], steps.values[there])
        return found

    @cached_property
    def _token_distances(self) -> Vector:
        """Tokens from each entity to every token of its sentence."""
        entity = np.arange(len(self)).repeat(lengths(self.row_starts))
        token = np.arange(len(entity)) - self.row_offset[entity]
        away = np.maximum(self.first_token[entity] - token, token - self.last_token[entity])
        return np.maximum(away, 0.0)

    def token_path_length(self, entity: Indices, token: Indices) -> Vector:
        """Dependencies from entities to tokens of their sentences."""
        return self._token_path_lengths[self.row_offset[entity] + token]

    def token_distance(self, entity: Indices, token: Indices) -> Vector:
        """Tokens from entities to tokens of their sentences."""
        return self._token_distances[self.row_offset[entity] + token]

    @cached_property
    def _entity_tables(self) -> tuple[Indices, Vector, Vector]:
        """Least steps and gaps from each entity to all of its sentence, and where they begin."""
        low, high = (self.token_starts[self.entity_starts[self.sentence_index + n]] for n in (0, 1))
        entity, place = expand(low, high - low)
        cell = self.row_offset[entity] + self.token_index[place]
        cuts = run_starts(entity * len(self) + self.entity_index[place])
        tables = [
            np.minimum.reduceat(values[cell], cuts) if len(cuts) else values
            for values in (self._token_path_lengths, self._token_distances)
        ]
        sizes = lengths(self.entity_starts)[self.sentence_index]
        return offsets(sizes)[:-1] - self.entity_starts[self.sentence_index], tables[0], tables[1]

    def path_length(self, one: Indices, other: Indices) -> Vector:
        """Dependencies between entities of one sentence; 0 where they share a token."""
        return self._entity_tables[1][self._entity_tables[0][one] + other]

    def distance(self, one: Indices, other: Indices) -> Vector:
        """Tokens between entities of one sentence."""
        return self._entity_tables[2][self._entity_tables[0][one] + other]

    @cached_property
    def is_verb(self) -> NDArray[np.bool_]:
        """Which tokens are verbs."""
        return self.arrays.lexicon.lookup(is_verb, self.arrays.token_tags)

    @cached_property
    def governors(self) -> tuple[Indices, Indices, Indices]:
        """The steps from entities to governors outside of them: entity, step, governor."""
        links = self.arrays.links
        at, step = links.from_tokens(self.token_index)
        entity, to = self.entity_index[at], links.target[step]
        some = (~links.is_down[step] & (self.token_path_length(entity, to) > 0)).nonzero()[0]
        return entity[some], step[some], to[some]

    @cached_property
    def facts(self) -> Matrix:  # (entities, facts)
        """``FACTS`` of each entity, whatever it is paired with."""
        found = np.zeros((len(self), len(ENTITY_FACTS)))
        entity, step, to = self.governors
        kinds = self.arrays.lexicon.lookup_rows(_relation_flags, 7, self.arrays.links.type[step])
        found[:, :7] = sum_rows_by_owner(kinds, entity, len(self)) > 0
        found[entity[self.is_verb[to]], 7] = 1.0
        told = self.arrays.lexicon.isin(TRIGGERS, self.arrays.token_words[to])
        found[entity[told], 8] = 1.0
        found[:, 9:] = [
            *map(self._facts_of_position, self.sentence_index.tolist(), self.token_lists)
        ]
        return found

    def _facts_of_position(self, number: int, tokens: tuple[int, ...]) -> tuple[float, ...]:
        """The last five ``FACTS``: what stands behind these tokens of a sentence, and where."""
        context, behind = self.arrays.contexts[number], tokens[-1] + 1
        tag = text = ""
        if behind < len(context.texts):
            tag, text = context.tags[behind], context.texts[behind].lower()
        return (
            tag.startswith("NN"),
            text in ("-", "/", "\\/"),
            text in (",", "and", "or", "/", "\\/"),
            self._bracket_depths[number][tokens[0]],
            tokens[0] / max(1, len(context.texts) - 1),
        )

    @cached_property
    def _bracket_depths(self) -> list[Sequence[int]]:
        """How many parentheses are open at each token of each sentence."""
        return [_bracket_depths(context.texts) for context in self.arrays.contexts]

    @cached_property
    def texts(self) -> list[str]:
        """Each entity as written, in lower case."""
        contexts, sentences = self.arrays.contexts, self.sentence_index.tolist()
        return [
            " ".join(contexts[number].texts[t].lower() for t in tokens)
            for number, tokens in zip(sentences, self.token_lists, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class OtherEntities:
    """Pairs with names of their sentences, those of a pair together."""

    pair_index: Indices  # (n,)
    entity: Indices  # (n,)
    path_lengths: Matrix  # (2, n) dependencies from the two entities of the pair

    @cached_property
    def is_other(self) -> NDArray[np.bool_]:  # (n,)
        """Whether it is another name than the two."""
        return (self.path_lengths[0] > 0) & (self.path_lengths[1] > 0)


@dataclass(frozen=True, eq=False)
class TriggerDistances:
    """Pairs with trigger words of their sentences but their own, those of a pair together."""

    pair_index: Indices  # (n,)
    token: Indices  # (n,)
    path_lengths: Matrix  # (2, n) dependencies from the two entities of the pair
    token_distances: Matrix  # (2, n) tokens

    def nearest(self, away: Matrix, size: int) -> Indices:  # (2, n) -> (pairs,)
        """The word of each pair with the least sum of both, the first one of equals; or -1."""
        joint, found = away[0] + away[1], np.full(size, -1)
        low = segment_min(joint, self.pair_index, size, np.inf)
        place = first_true(joint == low[self.pair_index], self.pair_index)
        found[self.pair_index[place]] = self.token[place]
        return found


@lru_cache(maxsize=1 << 12)
def _relation_flags(type_: str) -> tuple[bool, ...]:
    """The first seven ``FACTS`` by the type of a dependency."""
    group = dependency_group(type_)
    given = (type_ in PARTNER_PREPOSITIONS, type_ in ROLE_PREPOSITIONS)
    return (*(group == g for g in _RELATION_GROUPS), *given, group == "appos")


_RELATION_GROUPS = ("subj", "obj", "conj", "mod")


def _bracket_depths(texts: Sequence[str]) -> list[int]:
    depth, depths = 0, []
    for text in texts:
        depth = max(0, depth - (text in CLOSING_BRACKETS))
        depths.append(depth)
        depth += text in OPENING_BRACKETS
    return depths


CLAUSE_DEPENDENCIES = frozenset(
    ("ccomp", "advcl", "rcmod", "xcomp", "parataxis", "csubj", "relcl", "purpcl")
)
PREPOSITIONS = ("with", "to", "of", "by", "in", "between", "for", "from")
COARSE_GROUPS = ("conj", "appos", "loose", "subj", "obj", "prep", "agent", "mod")
STEP_KINDS = (
    *COARSE_GROUPS,
    "clause",
    *(f"_{p}" for p in PREPOSITIONS),
)  # a dependency may be of several
PATH_WORD_GROUPS = (
    "trigger",
    "strong",
    "other",
    "verb",
)  # what words are, as far as paths tell of it
PATH_DESCRIPTORS = (
    "no path",
    "path is loose",
    "path has conjunction",
    "path has apposition",
    "path has subject",
    "path has object",
    "path has preposition",
    "trigger on path",
    "strong trigger on path",
    "third entity on path",
    "path is negated",
    "verbs on path",
    "lists on path",
    "modifiers on path",
    "clauses on path",
    "prepositions on path",
    "path length without lists",
    *(f"path has {preposition}" for preposition in PREPOSITIONS),
    "top is an entity",
    "top is a trigger",
    "top is a strong trigger",
    "top is a verb",
    "subject and object of the top",
    "both beside the top",
)  # in the order of the rows


def path_descriptors(own: PairArrays, marks: Matrix) -> Matrix:  # (tokens, MARKED)
    """The descriptors ``PATH`` of all pairs, a row each, by what words are; counts as they are."""
    paths, size = own.paths, len(own.pairs)
    pair, at = (paths.steps >= 0).nonzero()
    kinds = own.lexicon.lookup_rows(
        _step_kinds, len(STEP_KINDS), own.links.type[paths.steps[pair, at]]
    )
    counts = sum_rows_by_owner(kinds, pair, size)
    climbed = sum_rows_by_owner(kinds & (at < own.path_tops[pair])[:, None], pair, size)
    num = dict(zip(STEP_KINDS, counts.T, strict=True))
    rise = dict(zip(STEP_KINDS, (climbed > 0).T, strict=True))
    fall = dict(zip(STEP_KINDS, (counts > climbed).T, strict=True))
    lists = num["conj"] + num["appos"]
    linked = paths.length > 0
    taking = fall["obj"] | fall["prep"] | fall["agent"]
    beside = (rise["prep"] | rise["mod"]) & (fall["prep"] | fall["mod"])
    inner, negated = _path_words(own, marks)
    rows = [
        paths.length < 0,
        linked & (lists + num["loose"] == paths.length),
        num["conj"] > 0,
        num["appos"] > 0,
        num["subj"] > 0,
        num["obj"] > 0,
        num["prep"] + num["agent"] > 0,
        *(inner[:, :3] > 0).T,
        negated,
        inner[:, 3],
        lists,
        num["mod"],
        num["clause"],
        num["prep"] + num["agent"],
        np.where(linked, paths.length - lists - num["mod"], 0),
        *(num[f"_{p}"] > 0 for p in PREPOSITIONS),
        *_path_tops(own, marks),
        linked & rise["subj"] & taking,
        linked & beside,
    ]
    return np.array(rows, dtype=np.float64).T


@lru_cache(maxsize=1 << 12)
def _step_kinds(type_: str) -> tuple[bool, ...]:
    """Which ``KINDS`` a dependency of a type is of."""
    group = dependency_group(type_)
    endings = [type_.endswith(f"_{p}") or (p == "by" and type_ == "agent") for p in PREPOSITIONS]
    return (*(group == g for g in COARSE_GROUPS), type_ in CLAUSE_DEPENDENCIES, *endings)


def _path_words(
    own: PairArrays, marks: Matrix
) -> tuple[Matrix, NDArray[np.bool_]]:  # (pairs, MARKED)
    """How many words inside each path have each mark; whether one of it has a negation below it."""
    links, size = own.links, len(own.pairs)
    pair, place, token = own.path_tokens()
    inner = (place > 0) & (place < own.paths.length[pair])
    down = (links.is_down & (links.type == own.lexicon("neg"))).nonzero()[0]
    above = np.zeros(len(links.starts), dtype=bool)
    above[np.searchsorted(links.starts, down, side="right") - 1] = True
    negated = np.zeros(size, dtype=bool)
    negated[pair[above[token]]] = True
    return sum_rows_by_owner(marks[token] * inner[:, None], pair, size), negated


def _path_tops(own: PairArrays, marks: Matrix) -> Matrix:  # (4, pairs)
    """Whether the top is an entity of the pair, a trigger, a strong one, a verb."""
    rows = (own.paths.length > 0).nonzero()[0]
    top = own.paths.tokens[rows, own.path_tops[rows]]
    entity = own.is_entity[top + own.offset[rows]]
    found = np.zeros((4, len(own.pairs)))
    found[0, rows], found[3, rows] = entity, marks[top, 3]
    found[1:3, rows] = marks[top, :2].T * ~entity  # names are blind
    return found
