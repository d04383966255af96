"""Entities, distances and dependency paths behind the descriptors of pairs.

Everything is computed for all sentences of a batch at once.

``Entities`` numbers the distinct entities of all sentences and has their distances to tokens and to
one another; ``OtherEntities`` and ``TriggerDistances`` are tables of pairs with other entities and
with trigger words. Tokens are numbered over all sentences of the batch unless stated otherwise. A
*step* is one dependency in walking direction; a *path length* is the number of steps of the
shortest path, a *linear distance* the difference of token positions. ``path_descriptors`` computes
the descriptors of the dependency path.
"""

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

MAX_DISTANCE = 12.0  # steps or tokens beyond which distances are clipped
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


CLAUSE_DEPENDENCIES = frozenset(
    ("ccomp", "advcl", "rcmod", "xcomp", "parataxis", "csubj", "relcl", "purpcl")
)
PREPOSITIONS = ("with", "to", "of", "by", "in", "between", "for", "from")
COARSE_GROUPS = ("conj", "appos", "loose", "subj", "obj", "prep", "agent", "mod")
# Kinds of dependencies; one may belong to several.
STEP_KINDS = (*COARSE_GROUPS, "clause", *(f"_{p}" for p in PREPOSITIONS))
PATH_WORD_GROUPS = ("trigger", "strong", "other", "verb")  # that path descriptors use
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
)  # in the order of path_descriptors


@dataclass(frozen=True, eq=False)
class Entities:
    """Distinct entities of all sentences of a batch, those of a sentence together.

    An entity is a list of tokens: a mention that the sentence has, or a member of a pair; equal
    lists of a sentence are one entity. Within a sentence mentions come first. Tables of an entity
    against all tokens of its sentence are stored as one row per entity: the value of entity e and
    token t is at ``row_offset[e] + t``.
    """

    arrays: PairArrays
    token_lists: list[tuple[int, ...]]  # tokens of each entity, counted from its sentence's start
    entity_starts: Indices  # (sentences + 1,) first entity of each sentence
    mentions: Indices  # entities that are mentions of their sentence, in text order
    mention_starts: Indices  # (sentences + 1,) first entry of `mentions` of each sentence
    first: Indices  # (pairs,) entity that comes first in the text
    second: Indices  # (pairs,)

    @classmethod
    def from_arrays(cls, arrays: PairArrays) -> Entities:
        """Collect the distinct token lists of mentions and of the entities of pairs.

        Entities are numbered sentence by sentence, mentions in their order first, then members of
        pairs that are no mention; ``first`` and ``second`` are those of each pair. Equal lists of
        one sentence become one entity, so a mention that is given twice is listed twice in
        ``mentions`` with the same number. Lists that differ in any token are different entities.
        """
        entity_numbers: list[dict[tuple[int, ...], int]] = []
        mentions: list[list[int]] = []
        for context in arrays.contexts:
            rows: dict[tuple[int, ...], int] = {}
            mentions.append([rows.setdefault(tuple(t), len(rows)) for t in context.mentions])
            entity_numbers.append(rows)
        pair_entities = []
        for pair, number in zip(arrays.pairs, arrays.sentence_index.tolist(), strict=True):
            rows = entity_numbers[number]
            for tokens in (pair.first, pair.second):
                pair_entities.append(rows.setdefault(tuple(tokens), len(rows)))
        starts = offsets([len(rows) for rows in entity_numbers])
        mention_starts = offsets([len(row) for row in mentions])
        sentence = np.arange(len(entity_numbers)).repeat(lengths(mention_starts))
        members = np.array(pair_entities, dtype=np.intp).reshape(-1, 2).T
        first, second = members + starts[arrays.sentence_index]
        return cls(
            arrays,
            token_lists=[tokens for rows in entity_numbers for tokens in rows],
            entity_starts=starts,
            mentions=concat(mentions) + starts[sentence],
            mention_starts=mention_starts,
            first=first,
            second=second,
        )

    def __len__(self) -> int:
        """Return the number of entities."""
        return len(self.token_lists)

    @cached_property
    def sentence_index(self) -> Indices:
        """Return the sentence of each entity, (entities,), as an index into ``arrays.contexts``."""
        return np.arange(len(self.entity_starts) - 1).repeat(lengths(self.entity_starts))

    @cached_property
    def token_starts(self) -> Indices:  # (entities + 1,)
        """Return where the tokens of each entity begin in ``token_index``, (entities + 1,).

        The last value is the number of all tokens.
        """
        return offsets([len(tokens) for tokens in self.token_lists])

    @cached_property
    def entity_index(self) -> Indices:
        """Return the entity that each entry of ``token_index`` is a token of, in the same shape."""
        return np.arange(len(self)).repeat(lengths(self.token_starts))

    @cached_property
    def token_index(self) -> Indices:
        """Return the tokens of all entities, entity after entity, as tokens of the batch.

        A token of several entities occurs several times.
        """
        base = self.arrays.sentence_starts[self.sentence_index[self.entity_index]]
        return concat(self.token_lists) + base

    @cached_property
    def first_token(self) -> Indices:
        """Return the first listed token of each entity, (entities,), as token of the batch."""
        return self.token_index[self.token_starts[:-1]]

    @cached_property
    def last_token(self) -> Indices:
        """Return the last listed token of each entity, (entities,), as token of the batch."""
        return self.token_index[self.token_starts[1:] - 1]

    @cached_property
    def row_starts(self) -> Indices:  # (entities + 1,)
        """Return where the row of each entity begins in tables against tokens, (entities + 1,).

        A row has one value per token of the entity's sentence; the last value is the size of a
        table.
        """
        return offsets(lengths(self.arrays.sentence_starts)[self.sentence_index])

    @cached_property
    def row_offset(self) -> Indices:
        """Return where token 0 of the batch would lie in the row of each entity, (entities,).

        May be negative; the value of entity e and token t of its sentence is at ``row_offset[e] +
        t``.
        """
        return self.row_starts[:-1] - self.arrays.sentence_starts[self.sentence_index]

    @cached_property
    def _token_path_lengths(self) -> Vector:
        """Return the table of path lengths between entities and tokens, clipped at MAX_DISTANCE.

        Of several tokens of an entity the closest counts; its own tokens have 0. MAX_DISTANCE
        without a path. One value per entity and token of its sentence, at ``row_offset[entity] +
        token``.
        """
        distances = self.arrays.distances
        count, size = lengths(self.token_starts), lengths(self.row_starts)
        path_lengths = np.full(int(self.row_starts[-1]), MAX_DISTANCE)
        for k in range(int(count.max(initial=0))):
            entities = (count > k).nonzero()[0]
            row = distances.row_of_token[self.token_index[self.token_starts[entities] + k]]
            repeat, entry = expand(self.row_starts[entities], size[entities])
            source_entry = entry + (distances.row_offset[row] - self.row_offset[entities])[repeat]
            path_lengths[entry] = np.minimum(path_lengths[entry], distances.values[source_entry])
        return path_lengths

    @cached_property
    def _token_distances(self) -> Vector:
        """Return the table of linear distances between entities and tokens, not clipped.

        Counted from the first or last token of the entity, 1 for a neighbour; 0 from first to last,
        gaps of a discontinuous entity included. One value per entity and token of its sentence, at
        ``row_offset[entity] + token``.
        """
        entity = np.arange(len(self)).repeat(lengths(self.row_starts))
        token = np.arange(len(entity)) - self.row_offset[entity]
        distance = np.maximum(self.first_token[entity] - token, token - self.last_token[entity])
        return np.maximum(distance, 0.0)

    def token_path_length(self, entity: Indices, token: Indices) -> Vector:
        """Return path lengths from entities to tokens of their sentences, at most MAX_DISTANCE.

        ``entity`` and ``token`` are broadcast against each other. 0 for tokens of the entity. A
        token of another sentence is not detected and gives a meaningless value.
        """
        return self._token_path_lengths[self.row_offset[entity] + token]

    def token_distance(self, entity: Indices, token: Indices) -> Vector:
        """Return linear distances from entities to tokens of their sentences; 0 inside.

        ``entity`` and ``token`` are broadcast against each other; 1 for a neighbouring token, not
        clipped. A token of another sentence is not detected and gives a meaningless value.
        """
        return self._token_distances[self.row_offset[entity] + token]

    @cached_property
    def _entity_tables(self) -> tuple[Indices, Vector, Vector]:
        """Return offset, path lengths and linear distances between entities of a sentence.

        ``offset`` is (entities,). The values of entities e and f of one sentence are at ``offset[e]
        + f`` of either table: the smallest value from e to a token of f.
        """
        low, high = (self.token_starts[self.entity_starts[self.sentence_index + n]] for n in (0, 1))
        entity, position = expand(low, high - low)
        entry = self.row_offset[entity] + self.token_index[position]
        starts = run_starts(entity * len(self) + self.entity_index[position])
        tables = [
            np.minimum.reduceat(values[entry], starts) if len(starts) else values
            for values in (self._token_path_lengths, self._token_distances)
        ]
        sizes = lengths(self.entity_starts)[self.sentence_index]
        return offsets(sizes)[:-1] - self.entity_starts[self.sentence_index], tables[0], tables[1]

    def path_length(self, first: Indices, second: Indices) -> Vector:
        """Return path lengths between entities of the same sentences; 0 if they share a token.

        At most MAX_DISTANCE, also without a path. The arguments are broadcast against each other.
        Entities of different sentences are not detected and give a meaningless value.
        """
        return self._entity_tables[1][self._entity_tables[0][first] + second]

    def distance(self, first: Indices, second: Indices) -> Vector:
        """Return linear distances between entities of the same sentences, not clipped.

        0 if a token of ``second`` lies from the first to the last token of ``first``, 1 for
        neighbours. The arguments are broadcast against each other. Entities of different sentences
        are not detected and give a meaningless value.
        """
        return self._entity_tables[2][self._entity_tables[0][first] + second]

    @cached_property
    def is_verb(self) -> NDArray[np.bool_]:
        """Return which tokens of the batch are verbs by their part-of-speech tag, (tokens,)."""
        return self.arrays.lexicon.lookup(is_verb, self.arrays.token_tags)

    @cached_property
    def governors(self) -> tuple[Indices, Indices, Indices]:
        """Return all dependencies of entities on tokens outside: entity, step and governor.

        Three arrays of one length, sorted by entity; an entity without governor does not occur. A
        step is an index into ``arrays.links`` and leads up to the governor, a token of the batch.
        """
        links = self.arrays.links
        position, step = links.from_tokens(self.token_index)
        entity, target = self.entity_index[position], links.target[step]
        kept = (~links.is_down[step] & (self.token_path_length(entity, target) > 0)).nonzero()[0]
        return entity[kept], step[kept], target[kept]

    @cached_property
    def facts(self) -> Matrix:  # (entities, facts)
        """Return ENTITY_FACTS of each entity, (entities, facts), whatever it is paired with.

        Seven flags are about its relations to governors (subject, object, conjunct, modifier,
        "with" or "to", "of", "by" or "between", apposition), two about governors (verb, trigger),
        three about the next token (noun, hyphen or slash, list separator). They are 0 or 1, and 1
        if any dependency of the entity makes them so; "depth" is the number of open brackets,
        "position" runs from 0 to 1.
        """
        facts = np.zeros((len(self), len(ENTITY_FACTS)))
        entity, step, governor = self.governors
        relation_flags = self.arrays.lexicon.lookup_rows(
            _relation_flags, 7, self.arrays.links.type[step]
        )
        facts[:, :7] = sum_rows_by_owner(relation_flags, entity, len(self)) > 0
        facts[entity[self.is_verb[governor]], 7] = 1.0
        is_trigger = self.arrays.lexicon.isin(TRIGGERS, self.arrays.token_words[governor])
        facts[entity[is_trigger], 8] = 1.0
        facts[:, 9:] = [
            *map(self._facts_of_position, self.sentence_index.tolist(), self.token_lists)
        ]
        return facts

    def _facts_of_position(self, sentence: int, tokens: tuple[int, ...]) -> tuple[float, ...]:
        """Return the last five ENTITY_FACTS, which depend on the next token and the position.

        ``tokens`` are those of an entity, counted from the start of the sentence with number
        ``sentence``. The flags about the next token are false at the end of the sentence. Depth and
        position are those of the first token; the position of the sentence's last token is 1.
        """
        context, next_token = self.arrays.contexts[sentence], tokens[-1] + 1
        tag = text = ""
        if next_token < len(context.texts):
            tag, text = context.tags[next_token], context.texts[next_token].lower()
        return (
            tag.startswith("NN"),
            text in ("-", "/", "\\/"),
            text in (",", "and", "or", "/", "\\/"),
            self._bracket_depths[sentence][tokens[0]],
            tokens[0] / max(1, len(context.texts) - 1),
        )

    @cached_property
    def _bracket_depths(self) -> list[Sequence[int]]:
        """Return the number of open brackets at each token: one list per sentence of the batch.

        A bracket itself counts as outside; unmatched closing brackets are ignored.
        """
        return [_bracket_depths(context.texts) for context in self.arrays.contexts]

    @cached_property
    def texts(self) -> list[str]:
        """Return each entity as written, in lower case, tokens joined by blanks.

        One text per entity. Tokens in the gaps of a discontinuous entity are left out.
        """
        contexts, sentences = self.arrays.contexts, self.sentence_index.tolist()
        return [
            " ".join(contexts[sentence].texts[t].lower() for t in tokens)
            for sentence, tokens in zip(sentences, self.token_lists, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class OtherEntities:
    """Each pair with each mention of its sentence, sorted by pair; n such combinations.

    Mentions that are an entity of the pair are included; ``is_other`` tells them apart.
    """

    pair_index: Indices  # (n,)
    entity: Indices  # (n,)
    path_lengths: Matrix  # (2, n) from the first and the second entity of the pair

    @cached_property
    def is_other(self) -> NDArray[np.bool_]:  # (n,)
        """Return whether a mention shares no token with either entity of the pair, (n,)."""
        return (self.path_lengths[0] > 0) & (self.path_lengths[1] > 0)


@dataclass(frozen=True, eq=False)
class TriggerDistances:
    """Each pair with each trigger word of its sentence outside its entities, sorted by pair.

    There are n such combinations; triggers of a pair are in text order.
    """

    pair_index: Indices  # (n,)
    token: Indices  # (n,)
    path_lengths: Matrix  # (2, n) from the first and the second entity of the pair
    token_distances: Matrix  # (2, n) linear distances

    def nearest(self, distances: Matrix, n_pairs: int) -> Indices:
        """Return the trigger closest to both entities of each pair, (n_pairs,); -1 if none.

        A trigger is a token of the batch. Closest by the sum of ``distances`` (2, n) from the first
        and the second entity, which may be ``path_lengths`` or ``token_distances``. The first one
        wins ties.
        """
        joint, tokens = distances[0] + distances[1], np.full(n_pairs, -1)
        smallest = segment_min(joint, self.pair_index, n_pairs, np.inf)
        position = first_true(joint == smallest[self.pair_index], self.pair_index)
        tokens[self.pair_index[position]] = self.token[position]
        return tokens


_RELATION_GROUPS = ("subj", "obj", "conj", "mod")


@lru_cache(maxsize=1 << 12)
def _relation_flags(type_: str) -> tuple[bool, ...]:
    """Return the first seven ENTITY_FACTS, "is subject" to "is apposition", for a dependency type.

    They say what an entity is that depends on its governor by this type; several may be true.
    """
    group = dependency_group(type_)
    is_preposition = (type_ in PARTNER_PREPOSITIONS, type_ in ROLE_PREPOSITIONS)
    return (*(group == g for g in _RELATION_GROUPS), *is_preposition, group == "appos")


def _bracket_depths(texts: Sequence[str]) -> list[int]:
    """Return the number of open brackets at each token; a bracket itself counts as outside.

    Brackets are round, square, or written as -LRB- and -RRB-; which one closes does not matter.
    Closing brackets without an opening one are ignored.
    """
    depth, depths = 0, []
    for text in texts:
        depth = max(0, depth - (text in CLOSING_BRACKETS))
        depths.append(depth)
        depth += text in OPENING_BRACKETS
    return depths


def path_descriptors(arrays: PairArrays, word_groups: Matrix) -> Matrix:
    """Return PATH_DESCRIPTORS of all pairs, (pairs, descriptors); counts are not yet scaled.

    They are flags and counts of the kinds of dependencies on the shortest path, of word groups on
    it, and flags of its top, where it turns from climbing to descending. ``word_groups`` (tokens,
    4), 0/1, says whether each token is a trigger, a strong trigger, of another entity, or a verb.
    All are 0 but "no path" for a pair without a path. A path of length 0, of entities that share a
    token, counts as a path, but only "path is negated" can be other than 0.
    """
    paths, size = arrays.paths, len(arrays.pairs)
    pair, position = (paths.steps >= 0).nonzero()
    kinds = arrays.lexicon.lookup_rows(
        _step_kinds, len(STEP_KINDS), arrays.links.type[paths.steps[pair, position]]
    )
    counts = sum_rows_by_owner(kinds, pair, size)
    climbed = sum_rows_by_owner(kinds & (position < arrays.path_tops[pair])[:, None], pair, size)
    count = dict(zip(STEP_KINDS, counts.T, strict=True))
    climbs = dict(zip(STEP_KINDS, (climbed > 0).T, strict=True))
    descends = dict(zip(STEP_KINDS, (counts > climbed).T, strict=True))
    list_steps = count["conj"] + count["appos"]
    has_path = paths.length > 0
    takes_object = descends["obj"] | descends["prep"] | descends["agent"]
    is_beside = (climbs["prep"] | climbs["mod"]) & (descends["prep"] | descends["mod"])
    inner_counts, negated = _path_words(arrays, word_groups)
    rows = [
        paths.length < 0,
        has_path & (list_steps + count["loose"] == paths.length),
        count["conj"] > 0,
        count["appos"] > 0,
        count["subj"] > 0,
        count["obj"] > 0,
        count["prep"] + count["agent"] > 0,
        *(inner_counts[:, :3] > 0).T,
        negated,
        inner_counts[:, 3],
        list_steps,
        count["mod"],
        count["clause"],
        count["prep"] + count["agent"],
        np.where(has_path, paths.length - list_steps - count["mod"], 0),
        *(count[f"_{p}"] > 0 for p in PREPOSITIONS),
        *_path_tops(arrays, word_groups),
        has_path & climbs["subj"] & takes_object,
        has_path & is_beside,
    ]
    return np.array(rows, dtype=np.float64).T


@lru_cache(maxsize=1 << 12)
def _step_kinds(type_: str) -> tuple[bool, ...]:
    """Return which STEP_KINDS a dependency type belongs to, one flag per kind; several may be true.

    A type is of the kind of a preposition if it ends in "_" and that word; "agent" counts as "by".
    """
    group = dependency_group(type_)
    has_preposition = [
        type_.endswith(f"_{p}") or (p == "by" and type_ == "agent") for p in PREPOSITIONS
    ]
    return (*(group == g for g in COARSE_GROUPS), type_ in CLAUSE_DEPENDENCIES, *has_preposition)


def _path_words(arrays: PairArrays, word_groups: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:
    """Count word groups inside each path, and find paths with a word that governs a negation.

    Shapes (pairs, PATH_WORD_GROUPS) and (pairs,). Inside are tokens other than the two ends of the
    path; for negations, dependencies of type "neg", the ends count too. ``word_groups`` (tokens,
    PATH_WORD_GROUPS), 0/1, says which groups each token belongs to.
    """
    links, size = arrays.links, len(arrays.pairs)
    pair, position, token = arrays.path_tokens()
    is_inner = (position > 0) & (position < arrays.paths.length[pair])
    negations = (links.is_down & (links.type == arrays.lexicon("neg"))).nonzero()[0]
    has_negation = np.zeros(len(links.starts), dtype=bool)
    has_negation[np.searchsorted(links.starts, negations, side="right") - 1] = True
    negated = np.zeros(size, dtype=bool)
    negated[pair[has_negation[token]]] = True
    return sum_rows_by_owner(word_groups[token] * is_inner[:, None], pair, size), negated


def _path_tops(arrays: PairArrays, word_groups: Matrix) -> Matrix:
    """Return the four "top is ..." flags of each path, (4, pairs): entity, trigger, strong, verb.

    The top is the token at which the path turns from climbing to descending. Tops that are an
    entity of the pair are never triggers. All 0 without a path or for one of length 0.
    ``word_groups`` (tokens, 4) says whether each token is a trigger, a strong trigger, of another
    entity, or a verb.
    """
    rows = (arrays.paths.length > 0).nonzero()[0]
    top = arrays.paths.tokens[rows, arrays.path_tops[rows]]
    is_entity = arrays.is_entity[top + arrays.offset[rows]]
    flags = np.zeros((4, len(arrays.pairs)))
    flags[0, rows], flags[3, rows] = is_entity, word_groups[top, 3]
    flags[1:3, rows] = word_groups[top, :2].T * ~is_entity
    return flags
