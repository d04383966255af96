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
from textrank.tasks.ppi.pairs import Layout
from textrank.tasks.ppi.vocabulary import TRIGGERS, group_of, is_verb

FAR = 12.0  # steps or tokens beyond which distances are not told apart
OPENING, CLOSING = ("(", "[", "-LRB-"), (")", "]", "-RRB-")
PARTNER_PREPOSITIONS = ("prep_with", "prep_to")
ROLE_PREPOSITIONS = ("prep_of", "prep_by", "prep_between", "agent")
FACTS = (
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

    layout: Layout
    lists: list[tuple[int, ...]]  # tokens of each, from the start of the sentence
    starts: Indices  # (sentences + 1,) the first entity of each sentence
    mentions: Indices  # entities that are names of the sentence, in the order of the text
    named: Indices  # (sentences + 1,) the first mention of each sentence
    first: Indices  # (pairs,)
    second: Indices  # (pairs,)

    @classmethod
    def of(cls, layout: Layout) -> Entities:
        """Those of names of the sentences and of pairs."""
        known: list[dict[tuple[int, ...], int]] = []
        mentions: list[list[int]] = []
        for context in layout.contexts:
            rows: dict[tuple[int, ...], int] = {}
            mentions.append([rows.setdefault(tuple(t), len(rows)) for t in context.mentions])
            known.append(rows)
        ends = []
        for pair, number in zip(layout.pairs, layout.sentence.tolist(), strict=True):
            rows = known[number]
            for tokens in (pair.first, pair.second):
                ends.append(rows.setdefault(tuple(tokens), len(rows)))
        starts = offsets([len(rows) for rows in known])
        named = offsets([len(own) for own in mentions])
        sentence = np.arange(len(known)).repeat(lengths(named))
        first, second = np.array(ends, dtype=np.intp).reshape(-1, 2).T + starts[layout.sentence]
        every = [tokens for rows in known for tokens in rows]
        return cls(layout, every, starts, concat(mentions) + starts[sentence], named, first, second)

    def __len__(self) -> int:
        return len(self.lists)

    @cached_property
    def sentence(self) -> Indices:
        """The sentence of each entity."""
        return np.arange(len(self.starts) - 1).repeat(lengths(self.starts))

    @cached_property
    def tokens(self) -> Indices:  # (entities + 1,)
        """Where the tokens of each begin, and the end of all."""
        return offsets([len(tokens) for tokens in self.lists])

    @cached_property
    def owner(self) -> Indices:
        """The entity of each of their tokens."""
        return np.arange(len(self)).repeat(lengths(self.tokens))

    @cached_property
    def token(self) -> Indices:
        """The tokens of all of them."""
        return concat(self.lists) + self.layout.starts[self.sentence[self.owner]]

    @cached_property
    def low(self) -> Indices:
        """The first token of each."""
        return self.token[self.tokens[:-1]]

    @cached_property
    def high(self) -> Indices:
        """The last token of each."""
        return self.token[self.tokens[1:] - 1]

    @cached_property
    def cells(self) -> Indices:  # (entities + 1,)
        """Where each begins in a list of all tokens of the sentence of each; and the end."""
        return offsets(lengths(self.layout.starts)[self.sentence])

    @cached_property
    def begin(self) -> Indices:
        """Where token 0 of the batch would stand in such a list, for each entity."""
        return self.cells[:-1] - self.layout.starts[self.sentence]

    @cached_property
    def _ways(self) -> Vector:
        """Dependencies from each entity to every token of its sentence, at most ``FAR``."""
        steps, count, size = self.layout.steps, lengths(self.tokens), lengths(self.cells)
        found = np.full(int(self.cells[-1]), FAR)
        for place in range(int(count.max(initial=0))):
            some = (count > place).nonzero()[0]
            source = steps.row[self.token[self.tokens[some] + place]]
            to, here = expand(self.cells[some], size[some])
            there = here + (steps.begin[source] - self.begin[some])[to]
            found[here] = np.minimum(found[here], steps.values[there])
        return found

    @cached_property
    def _gaps(self) -> Vector:
        """Tokens from each entity to every token of its sentence."""
        entity = np.arange(len(self)).repeat(lengths(self.cells))
        token = np.arange(len(entity)) - self.begin[entity]
        away = np.maximum(self.low[entity] - token, token - self.high[entity])
        return np.maximum(away, 0.0)

    def steps(self, entity: Indices, token: Indices) -> Vector:
        """Dependencies from entities to tokens of their sentences."""
        return self._ways[self.begin[entity] + token]

    def gaps(self, entity: Indices, token: Indices) -> Vector:
        """Tokens from entities to tokens of their sentences."""
        return self._gaps[self.begin[entity] + token]

    @cached_property
    def _between(self) -> tuple[Indices, Vector, Vector]:
        """Least steps and gaps from each entity to all of its sentence, and where they begin."""
        low, high = (self.tokens[self.starts[self.sentence + n]] for n in (0, 1))
        entity, place = expand(low, high - low)
        cell = self.begin[entity] + self.token[place]
        cuts = run_starts(entity * len(self) + self.owner[place])
        tables = [
            np.minimum.reduceat(values[cell], cuts) if len(cuts) else values
            for values in (self._ways, self._gaps)
        ]
        sizes = lengths(self.starts)[self.sentence]
        return offsets(sizes)[:-1] - self.starts[self.sentence], tables[0], tables[1]

    def paths(self, one: Indices, other: Indices) -> Vector:
        """Dependencies between entities of one sentence; 0 where they share a token."""
        return self._between[1][self._between[0][one] + other]

    def distances(self, one: Indices, other: Indices) -> Vector:
        """Tokens between entities of one sentence."""
        return self._between[2][self._between[0][one] + other]

    @cached_property
    def verbs(self) -> NDArray[np.bool_]:
        """Which tokens are verbs."""
        return self.layout.lexicon.table(is_verb, self.layout.tag)

    @cached_property
    def above(self) -> tuple[Indices, Indices, Indices]:
        """The steps from entities to governors outside of them: entity, step, governor."""
        links = self.layout.links
        at, step = links.of(self.token)
        entity, to = self.owner[at], links.to[step]
        some = (~links.down[step] & (self.steps(entity, to) > 0)).nonzero()[0]
        return entity[some], step[some], to[some]

    @cached_property
    def facts(self) -> Matrix:  # (entities, facts)
        """``FACTS`` of each entity, whatever it is paired with."""
        found = np.zeros((len(self), len(FACTS)))
        entity, step, to = self.above
        kinds = self.layout.lexicon.rows(_relations, 7, self.layout.links.type[step])
        found[:, :7] = sum_rows_by_owner(kinds, entity, len(self)) > 0
        found[entity[self.verbs[to]], 7] = 1.0
        told = self.layout.lexicon.among(TRIGGERS, self.layout.word[to])
        found[entity[told], 8] = 1.0
        found[:, 9:] = [*map(self._place, self.sentence.tolist(), self.lists)]
        return found

    def _place(self, number: int, tokens: tuple[int, ...]) -> tuple[float, ...]:
        """The last five ``FACTS``: what stands behind these tokens of a sentence, and where."""
        context, behind = self.layout.contexts[number], tokens[-1] + 1
        tag = text = ""
        if behind < len(context.texts):
            tag, text = context.tags[behind], context.texts[behind].lower()
        return (
            tag.startswith("NN"),
            text in ("-", "/", "\\/"),
            text in (",", "and", "or", "/", "\\/"),
            self._depths[number][tokens[0]],
            tokens[0] / max(1, len(context.texts) - 1),
        )

    @cached_property
    def _depths(self) -> list[Sequence[int]]:
        """How many parentheses are open at each token of each sentence."""
        return [_depths(context.texts) for context in self.layout.contexts]

    @cached_property
    def texts(self) -> list[str]:
        """Each entity as written, in lower case."""
        contexts, sentences = self.layout.contexts, self.sentence.tolist()
        return [
            " ".join(contexts[number].texts[t].lower() for t in tokens)
            for number, tokens in zip(sentences, self.lists, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Rivals:
    """Pairs with names of their sentences, those of a pair together."""

    pair: Indices  # (n,)
    entity: Indices  # (n,)
    paths: Matrix  # (2, n) dependencies from the two entities of the pair

    @cached_property
    def other(self) -> NDArray[np.bool_]:  # (n,)
        """Whether it is another name than the two."""
        return (self.paths[0] > 0) & (self.paths[1] > 0)


@dataclass(frozen=True, eq=False)
class Told:
    """Pairs with trigger words of their sentences but their own, those of a pair together."""

    pair: Indices  # (n,)
    token: Indices  # (n,)
    ways: Matrix  # (2, n) dependencies from the two entities of the pair
    gaps: Matrix  # (2, n) tokens

    def nearest(self, away: Matrix, size: int) -> Indices:  # (2, n) -> (pairs,)
        """The word of each pair with the least sum of both, the first one of equals; or -1."""
        joint, found = away[0] + away[1], np.full(size, -1)
        low = segment_min(joint, self.pair, size, np.inf)
        place = first_true(joint == low[self.pair], self.pair)
        found[self.pair[place]] = self.token[place]
        return found


@lru_cache(maxsize=1 << 12)
def _relations(type_: str) -> tuple[bool, ...]:
    """The first seven ``FACTS`` by the type of a dependency."""
    group = group_of(type_)
    given = (type_ in PARTNER_PREPOSITIONS, type_ in ROLE_PREPOSITIONS)
    return (*(group == g for g in _GROUPS), *given, group == "appos")


_GROUPS = ("subj", "obj", "conj", "mod")


def _depths(texts: Sequence[str]) -> list[int]:
    depth, depths = 0, []
    for text in texts:
        depth = max(0, depth - (text in CLOSING))
        depths.append(depth)
        depth += text in OPENING
    return depths


CLAUSES = frozenset(("ccomp", "advcl", "rcmod", "xcomp", "parataxis", "csubj", "relcl", "purpcl"))
PREPOSITIONS = ("with", "to", "of", "by", "in", "between", "for", "from")
COARSE = ("conj", "appos", "loose", "subj", "obj", "prep", "agent", "mod")
KINDS = (*COARSE, "clause", *(f"_{p}" for p in PREPOSITIONS))  # a dependency may be of several
MARKED = ("trigger", "strong", "other", "verb")  # what words are, as far as paths tell of it
PATH = (
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


def path_rows(own: Layout, marks: Matrix) -> Matrix:  # (tokens, MARKED)
    """The descriptors ``PATH`` of all pairs, a row each, by what words are; counts as they are."""
    paths, size = own.paths, len(own.pairs)
    pair, at = (paths.steps >= 0).nonzero()
    kinds = own.lexicon.rows(_kinds, len(KINDS), own.links.type[paths.steps[pair, at]])
    counts = sum_rows_by_owner(kinds, pair, size)
    climbed = sum_rows_by_owner(kinds & (at < own.tops[pair])[:, None], pair, size)
    num = dict(zip(KINDS, counts.T, strict=True))
    rise = dict(zip(KINDS, (climbed > 0).T, strict=True))
    fall = dict(zip(KINDS, (counts > climbed).T, strict=True))
    lists = num["conj"] + num["appos"]
    linked = paths.length > 0
    taking = fall["obj"] | fall["prep"] | fall["agent"]
    beside = (rise["prep"] | rise["mod"]) & (fall["prep"] | fall["mod"])
    inner, negated = _words(own, marks)
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
        *_tops(own, marks),
        linked & rise["subj"] & taking,
        linked & beside,
    ]
    return np.array(rows, dtype=np.float64).T


@lru_cache(maxsize=1 << 12)
def _kinds(type_: str) -> tuple[bool, ...]:
    """Which ``KINDS`` a dependency of a type is of."""
    group = group_of(type_)
    endings = [type_.endswith(f"_{p}") or (p == "by" and type_ == "agent") for p in PREPOSITIONS]
    return (*(group == g for g in COARSE), type_ in CLAUSES, *endings)


def _words(own: Layout, marks: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:  # (pairs, MARKED)
    """How many words inside each path have each mark; whether one of it has a negation below it."""
    links, size = own.links, len(own.pairs)
    pair, place, token = own.on_paths()
    inner = (place > 0) & (place < own.paths.length[pair])
    down = (links.down & (links.type == own.lexicon("neg"))).nonzero()[0]
    above = np.zeros(len(links.starts), dtype=bool)
    above[np.searchsorted(links.starts, down, side="right") - 1] = True
    negated = np.zeros(size, dtype=bool)
    negated[pair[above[token]]] = True
    return sum_rows_by_owner(marks[token] * inner[:, None], pair, size), negated


def _tops(own: Layout, marks: Matrix) -> Matrix:  # (4, pairs)
    """Whether the top is an entity of the pair, a trigger, a strong one, a verb."""
    rows = (own.paths.length > 0).nonzero()[0]
    top = own.paths.tokens[rows, own.tops[rows]]
    entity = own.own[top + own.shift[rows]]
    found = np.zeros((4, len(own.pairs)))
    found[0, rows], found[3, rows] = entity, marks[top, 3]
    found[1:3, rows] = marks[top, :2].T * ~entity  # names are blind
    return found
