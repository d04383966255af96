"""Features of the statement about a pair: cues, roles and facts about each entity.

``StatementCues`` (negation and speculation cues and where they attach) and ``StatementRoles``
(events on and around the path, and the role of each entity) are feature blocks.
``EntityFacts`` holds features of single entities, which a pair combines as a sum and a difference,
so that direction can be learnt; ``EntityFactExtractor`` adds them to a joint extraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from textrank._ragged import expand, factorize, lengths, offsets
from textrank.features import Features, Indices, Vector
from textrank.tasks.ppi._trees import PairTrees, TreeFeatures
from textrank.tasks.ppi.pairs import FeatureCounter, Lexicon, PairArrays
from textrank.tasks.ppi.vocabulary import CUE_CLASSES

MAX_STEPS_ABOVE = 3  # ancestors of the top of the path that are searched for cues
MAX_CUE_PARTS = 2 + MAX_STEPS_ABOVE  # kind of placement, relations upwards, relation of the cue
OPENING_WORDS = ("to", "in", "we")  # first words of a sentence worth distinguishing, besides cues
PATH_PARTS = ("neither", "first", "second", "both")
MAX_TRIGGERS = 4  # event words whose type counts
ENTITY_NAMES = ("first", "second")
EVENT_WINDOW_TOKENS = 6  # tokens on either side of an entity that are searched for event words
MAX_ORDERED_EVENTS = 2  # event words whose order with the entity counts
NEIGHBOUR_TOKENS = 3  # tokens on either side of an entity


@dataclass(frozen=True, kw_only=True)
class StatementCues(TreeFeatures):
    """Cue words of negation and speculation by class and place in the tree, 0/1 features.

    A cue lies on the path between the entities, depends on a word of it, lies above its top,
    depends on a word above, or depends on a word next to the path. The relations that lead there
    are part of the feature, so "no binding", "failed to bind" and "binding was not seen" are three
    features that other verbs and entities share. Each cue is named by its class and by its own
    word.
    """

    def extract_from_trees(self, trees: PairTrees, counter: FeatureCounter) -> None:
        """Add the features of cues and of how sentences begin to ``counter``, in place."""
        _add_openings(trees, counter)
        _Cues.from_trees(trees).add_to(counter)


def _add_openings(trees: PairTrees, counter: FeatureCounter) -> None:
    """Add how the sentence of each pair begins, and whether it ends with a question mark.

    Adds to ``counter``, in place. The opening is the first stem if it is a cue or one of
    OPENING_WORDS, else "other". The last token must be "?".
    """
    arrays = trees.arrays
    first_stems = [c.stems[0] for c in arrays.contexts]
    words = [
        word if word in CUE_CLASSES or word in OPENING_WORDS else "other" for word in first_stems
    ]
    openings = arrays.lexicon.encode(words)[arrays.sentence_index]
    counter.add("opening", np.arange(len(trees)), openings)
    is_question = np.array([c.texts[-1] == "?" for c in arrays.contexts], dtype=bool)
    counter.add("question mark", is_question[arrays.sentence_index].nonzero()[0])


@dataclass(frozen=True, eq=False)
class _Cues:
    """Cues in the sentence of each pair, and how each attaches to the pair's path.

    All arrays have one entry per combination of a pair and a cue of its sentence, called a cue
    below, sorted by pair. ``token`` is numbered over the batch. Labels and descriptions are word
    numbers of ``lexicon``.
    """

    trees: PairTrees
    pair_index: Indices
    token: Indices
    cue_index: Indices  # index into trees.nodes.cues

    @classmethod
    def from_trees(cls, trees: PairTrees) -> _Cues:
        """Combine each pair with the cues of its sentence; pairs without a cue have no entry."""
        tokens, _ = trees.nodes.cues
        pair, number = trees.nodes.by_pair(tokens)
        return cls(trees, pair, tokens[number], number)

    @property
    def lexicon(self) -> Lexicon:
        """Return the lexicon of the batch."""
        return self.trees.arrays.lexicon

    def add_to(self, counter: FeatureCounter) -> None:
        """Add all features of cues to the counter; nothing if there are no cues.

        Each cue is added with its placements, its position in the text, alone, and, if it attaches
        to the path, with the event type.
        """
        if not len(self.pair_index):
            return
        cue, label = self.trees.nodes.cues[1].gather(self.cue_index)
        pair = self.pair_index[cue]
        exact = self.placements[0]
        for placement in self.placements:
            kept = (placement[cue, 0] >= 0).nonzero()[0]
            words = np.column_stack([label[kept], placement[cue[kept]]])
            counter.add_padded("cue", pair[kept], words)
        counter.add("cue side", pair, label, self.position[cue])
        counter.add("cue", pair, label)
        attached = (exact[cue, 0] != self.lexicon("elsewhere")).nonzero()[0]
        cue, label, pair = cue[attached], label[attached], pair[attached]
        counter.add("cue with", pair, label, exact[cue, 0], self._event_type()[pair])

    @cached_property
    def position(self) -> Indices:
        """Return where each cue stands in the text relative to the entities, (cues,).

        Word numbers of POSITION_LABELS, such as "before" and "between".
        """
        return self.trees.position_label(self.pair_index, self.token)

    @cached_property
    def placements(self) -> Indices:
        """Return up to three descriptions of how each cue attaches, from exact to coarse.

        Shape (3, cues, MAX_CUE_PARTS), word numbers padded with -1; a description that a rule does
        not give is all -1. The rules ``_place_*`` are tried in order. Each takes ``placements`` and
        the indices ``rest`` of cues without a description, fills in the cues it applies to in
        place, and returns the indices of the others.
        """
        placements = np.full((3, len(self.pair_index), MAX_CUE_PARTS), -1, dtype=np.intp)
        rest = np.arange(len(self.pair_index))
        for place in (
            self._place_on_path,
            self._place_below_path,
            self._place_above_top,
            self._place_two_below_path,
            self._place_elsewhere,
        ):
            if len(rest):
                rest = place(placements, rest)
        return placements

    @cached_property
    def head(self) -> Indices:
        """Return the head of each cue as a token (cues,); a root is its own head."""
        return self.trees.nodes.heads[self.token]

    def _place_on_path(self, placements: Indices, rest: Indices) -> Indices:
        """Describe cues on the path, or that are the trigger; return the indices of the others.

        ``rest`` are indices of cues without a description. Fills ``placements`` (3, cues,
        MAX_CUE_PARTS) of those it applies to, in place: only the exact description, "on path", role
        and relation.
        """
        role = self._path_roles(self.pair_index[rest], self.token[rest])
        placed = rest[role >= 0]
        _fill_columns(
            placements[0], placed, self.lexicon("on path"), role[role >= 0], self._relation(placed)
        )
        return rest[role < 0]

    def _place_below_path(self, placements: Indices, rest: Indices) -> Indices:
        """Describe cues that depend on a word of the path; return the indices of the others.

        ``rest`` are indices of cues without a description. Fills ``placements`` in place: "at", the
        role of the head, the cue's relation to it, and the part of the path that the head is on;
        the coarser descriptions leave out the last and the last two.
        """
        head = self.head
        role = self._path_roles(self.pair_index[rest], head[rest])
        placed, placed_role = rest[role >= 0], role[role >= 0]
        columns = (
            self.lexicon("at"),
            placed_role,
            self._relation(placed),
            self._path_part(placed, head[placed]),
        )
        for placement, size in zip(placements, (4, 3, 2), strict=True):
            _fill_columns(placement, placed, *columns[:size])
        return rest[role < 0]

    def _place_above_top(self, placements: Indices, rest: Indices) -> Indices:
        """Describe cues that are one of the top's ancestors or depend on one.

        The top is the highest word of the path. Up to MAX_STEPS_ABOVE ancestors of it are searched,
        the nearest counts. ``rest`` are indices of cues without a description. Fills ``placements``
        in place: "above" or "beside above", then the relations upwards (exact), their number and
        the last (coarser), or the first (coarsest), then the relation of a cue that depends on an
        ancestor. Returns the indices of the other cues.
        """
        heads, relation = self.trees.nodes.heads, self.trees.nodes.relations
        ancestors = np.empty((MAX_STEPS_ABOVE + 1, len(rest)), dtype=np.intp)
        ancestors[0] = self.trees.top[self.pair_index[rest]]
        for step in range(MAX_STEPS_ABOVE):
            ancestors[step + 1] = heads[ancestors[step]]
        is_higher = ancestors[1:] != ancestors[:-1]  # a root is its own head
        is_cue, is_cue_head = (
            (ancestors[1:] == t[rest]) & is_higher for t in (self.token, self.head)
        )
        cue_above, head_above = is_cue.any(axis=0), is_cue_head.any(axis=0)
        placed = (cue_above | head_above).nonzero()[0]
        steps = np.where(cue_above, is_cue.argmax(axis=0), is_cue_head.argmax(axis=0))[placed]
        rows = rest[placed]
        own_relation = np.where(cue_above[placed], -1, self._relation(rows))
        titles = self.lexicon.encode(("above", "beside above"))[(own_relation >= 0).view(np.int8)]
        relations = relation[ancestors[:, placed]]
        placements[:, rows, 0] = titles
        for step in range(MAX_STEPS_ABOVE):
            placements[0, rows, 1 + step] = np.where(step <= steps, relations[step], -1)
        placements[0, rows, 2 + steps] = own_relation
        counts = self.lexicon.encode(map(str, range(1, MAX_STEPS_ABOVE + 1)))
        last_relation = relations[steps, np.arange(len(rows))]
        _fill_columns(placements[1, :, 1:], rows, counts[steps], last_relation, own_relation)
        _fill_columns(placements[2, :, 1:], rows, relations[0], own_relation)
        return np.delete(rest, placed)

    def _place_two_below_path(self, placements: Indices, rest: Indices) -> Indices:
        """Describe cues whose grandparent is on the path; return the indices of the others.

        ``rest`` are indices of cues without a description. Fills ``placements`` in place: "below",
        the grandparent's role, the head's relation and the cue's own (exact), without the last
        (coarser), or the head's relation and the part of the path (coarsest).
        """
        head = self.head[rest]
        grandparent = self.trees.nodes.heads[head]
        role = self._path_roles(self.pair_index[rest], grandparent)
        placed = (role >= 0).nonzero()[0]
        rows, below = rest[placed], self.lexicon("below")
        head_relation = self.trees.nodes.relations[head[placed]]
        path_part = self._path_part(rows, grandparent[placed])
        _fill_columns(placements[0], rows, below, role[placed], head_relation, self._relation(rows))
        _fill_columns(placements[1], rows, below, role[placed], head_relation)
        _fill_columns(placements[2], rows, below, head_relation, path_part)
        return rest[role < 0]

    def _place_elsewhere(self, placements: Indices, rest: Indices) -> Indices:
        """Describe all remaining cues by their position in the text; return an empty array.

        ``rest`` are indices of cues without a description. Fills ``placements`` in place: only the
        exact description, "elsewhere" and the position.
        """
        _fill_columns(placements[0], rest, self.lexicon("elsewhere"), self.position[rest])
        return rest[:0]

    def _relation(self, index: Indices) -> Indices:
        """Return the coarse relation of the cues ``index`` to their heads, as word numbers.

        ``index`` are indices of the arrays of this object; the result has its shape.
        """
        return self.trees.nodes.relations[self.token[index]]

    def _path_roles(self, pair: Indices, token: Indices) -> Indices:
        """Return "top", "trigger", "name" or "path" for tokens on the path, as word numbers.

        "name" is a token of an entity of the pair; tokens off the path have -1. ``pair`` and
        ``token`` are parallel arrays. The likeliest trigger of the pair counts even off the path;
        "top" wins over "trigger", which wins over the others.
        """
        trees, lexicon = self.trees, self.lexicon
        default = np.where(trees.is_entity(pair, token), lexicon("name"), lexicon("path"))
        role = np.where(trees.is_on_path(pair, token), default, -1)
        role[token == trees.likeliest_trigger[pair]] = lexicon("trigger")
        role[token == trees.top[pair]] = lexicon("top")
        return role

    def _path_part(self, index: Indices, token: Indices) -> Indices:
        """Return which entities' paths tokens lie on, as word numbers of PATH_PARTS.

        ``token[i]`` is looked up in the pair of cue ``index[i]``.
        """
        trees = self.trees
        pair_token = token + trees.arrays.offset[self.pair_index[index]]
        return self.lexicon.encode(PATH_PARTS)[trees.path_sides[pair_token]]

    def _event_type(self) -> Indices:
        """Return the event type of the likeliest trigger of each pair, as word numbers (pairs,).

        "other" if the trigger has no type or belongs to an entity of the pair.
        """
        trees = self.trees
        all_pairs = np.arange(len(trees))
        event_types = trees.nodes.event_types
        types = np.full(len(trees), self.lexicon("other"), dtype=np.intp)
        trigger = trees.likeliest_trigger
        has_type = (event_types.sizes[trigger] > 0) & ~trees.is_entity(all_pairs, trigger)
        types[has_type] = event_types.first(trigger[has_type])
        return types


def _fill_columns(table: Indices, rows: Indices, *columns: Indices | int) -> None:
    """Write ``columns`` into the first columns of the given rows of a table, in place.

    Each column is an array with one value per row, or one value for all rows.
    """
    for position, column in enumerate(columns):
        table[rows, position] = column


@dataclass(frozen=True, kw_only=True)
class StatementRoles(TreeFeatures):
    """Events between two entities and the role of each, 0/1 features.

    The top of the path with its voice and the relations that lead to each entity; the words on both
    paths and their children; the classes along the whole path as one skeleton ("loss, subject,
    ^activation^, object, level"); the likeliest trigger. Words are named by their classes and by
    themselves, so that "knockdown of A impairs B" resembles "deletion of A reduces B".
    """

    def extract_from_trees(self, trees: PairTrees, counter: FeatureCounter) -> None:
        """Add all groups of features of all pairs to ``counter``, in place.

        Groups are: top with voice and roles, classes along the path, words on the path, their
        children, triggers, and words between the entities.
        """
        for add in (
            _add_top,
            _add_skeletons,
            _add_path_words,
            _add_path_children,
            _add_triggers,
            _add_middle,
        ):
            add(trees, counter)


def _add_top(trees: PairTrees, counter: FeatureCounter) -> None:
    """Add the voice and classes of the top of each path with the roles of both entities.

    Adds to ``counter``, in place: the roles and first relations of both entities, and each class of
    the top and its word with tag letter, voice, and the role of either or both entities.
    """
    all_pairs, voice = np.arange(len(trees)), trees.voice
    first_role, second_role = trees.roles[0][trees.ancestor_paths.path_index]
    counter.add("parts", all_pairs, voice, first_role, second_role)
    counter.add("ends", all_pairs, *trees.first_relation[trees.ancestor_paths.path_index])
    pair, label = trees.labels_of(all_pairs, trees.top)
    first_role, second_role, voice = first_role[pair], second_role[pair], voice[pair]
    counter.add("top", pair, label, _top_tag_letters(trees)[pair])
    counter.add("top", pair, label, voice)
    counter.add("top with both", pair, label, voice, first_role, second_role)
    counter.add("top with first", pair, label, voice, first_role)
    counter.add("top with second", pair, label, voice, second_role)


def _top_tag_letters(trees: PairTrees) -> Indices:
    """Return the first letter of the tag of each pair's top, as word numbers (pairs,).

    "V" for a verb, "N" for a noun; "" without a tag.
    """
    arrays = trees.arrays
    distinct, inverse = np.unique(arrays.token_tags[trees.top], return_inverse=True)
    words = arrays.lexicon.words()
    return arrays.lexicon.encode(words[tag][:1] for tag in distinct.tolist())[inverse]


def _add_skeletons(trees: PairTrees, counter: FeatureCounter) -> None:
    """Add the classes along the path from entity to entity, with and without roles.

    Adds one feature of each sort per pair to ``counter``, in place. The top's first class stands
    between two "^"; words without a class are left out. With roles, the voice comes first and the
    last relation of either entity stands beside the top.
    """
    all_pairs, skeletons = np.arange(len(trees)), _Skeletons.from_trees(trees)
    top_class, marker = trees.top_classes.first(all_pairs), counter.lexicon("^")
    first_relation, second_relation = trees.roles[1][trees.ancestor_paths.path_index]
    counter.add_padded("skeleton", all_pairs, skeletons.table([], [marker, top_class, marker]))
    central = [first_relation, marker, top_class, marker, second_relation]
    counter.add_padded("parts in", all_pairs, skeletons.table([trees.voice], central))


@dataclass(frozen=True, eq=False)
class _Skeletons:
    """First class of each word on the path between two entities, without the top.

    Words without a class and words of the entities are left out. ``side``, ``pair``, ``position``
    and ``class_name`` have one entry per word. ``side`` is 0 on the path of the first entity and 1
    on that of the second; ``position`` counts the words of a pair from the first entity to the
    second; ``class_name`` is a word number.
    """

    side: Indices
    pair: Indices
    position: Indices
    class_name: Indices
    first_sizes: Indices  # (pairs,) words with side 0
    sizes: Indices  # (pairs,) all words

    @classmethod
    def from_trees(cls, trees: PairTrees) -> _Skeletons:
        """Collect the first class of each word on the paths below the top.

        Entries are sorted by entity, then pair, then upwards; ``position`` counts the words of a
        pair from its first entity to its second, the top not counted. Words of the pair's entities
        and words without a class are left out.
        """
        side, pair, token = trees.tokens_below_top
        classes = trees.nodes.classes
        with_class = (~trees.is_entity(pair, token) & (classes.sizes[token] > 0)).nonzero()[0]
        side, pair = side[with_class], pair[with_class]
        row = side * len(trees) + pair
        counts = np.bincount(row, minlength=2 * len(trees))
        rank = np.arange(len(row)) - offsets(counts)[row]
        first, second = counts.reshape(2, -1)
        size = first + second
        position = np.where(side, size[pair] - 1 - rank, rank)
        return cls(side, pair, position, classes.first(token[with_class]), first, size)

    def table(self, leading: Sequence[Indices | int], central: Sequence[Indices | int]) -> Indices:
        """Return one row of word numbers per pair, (pairs, longest row), padded with -1 at the end.

        A row has the ``leading`` columns, the classes with side 0, the ``central`` columns and the
        classes with side 1. Columns are arrays (pairs,) or one number for all pairs.
        """
        n_leading, rows = len(leading), np.arange(len(self.sizes))
        width = n_leading + len(central) + int(self.sizes.max(initial=0))
        table = np.full((len(rows), width), -1, dtype=np.intp)
        for column_index, column in enumerate(leading):
            table[:, column_index] = column
        for column_index, column in enumerate(central):
            table[rows, n_leading + self.first_sizes + column_index] = column
        table[self.pair, n_leading + self.position + self.side * len(central)] = self.class_name
        return table


def _add_path_words(trees: PairTrees, counter: FeatureCounter) -> None:
    """Add the words between each entity and the top, by entity, to ``counter``, in place.

    A word counts as each of its classes and as itself. Each is added alone, with its relation, and
    with each class of the top and its voice. Tokens of the pair's entities are left out.
    """
    side, pair, token = trees.tokens_below_top
    outside = (~trees.is_entity(pair, token)).nonzero()[0]
    side, pair, token = side[outside], pair[outside], token[outside]
    position, label = trees.labels_of(pair, token)
    side, pair = counter.lexicon.encode(ENTITY_NAMES)[side[position]], pair[position]
    counter.add("way", pair, side, label, trees.nodes.relations[token[position]])
    counter.add("way", pair, side, label)
    position, top_class = trees.top_classes.gather(pair)
    pair = pair[position]
    counter.add("way to top", pair, side[position], label[position], top_class, trees.voice[pair])


def _add_path_children(trees: PairTrees, counter: FeatureCounter) -> None:
    """Add event words off the path that depend on a word of the path or on its top.

    Adds to ``counter``, in place. Children of a word below the top are named by entity, class and
    relation ("beside"), children of the top by class or word and relation ("beside top"). Event
    words are those with a class; tokens of the pair's entities are left out.
    """
    children, relation = trees.nodes.classed_children, trees.nodes.relations
    side, pair, token = trees.tokens_below_top
    position, child = children.gather(token)
    off_path = (~trees.is_on_path(pair[position], child)).nonzero()[0]
    position, child = position[off_path], child[off_path]
    side, pair = counter.lexicon.encode(ENTITY_NAMES)[side[position]], pair[position]
    position, label = trees.classes_of(pair, child)
    counter.add("beside", pair[position], side[position], label, relation[child[position]])

    pair, child = children.gather(trees.top)
    off_path = (~trees.is_on_path(pair, child) & ~trees.is_entity(pair, child)).nonzero()[0]
    pair, child = pair[off_path], child[off_path]
    position, label = trees.labels_of(pair, child)
    counter.add("beside top", pair[position], label, relation[child[position]])


def _add_triggers(trees: PairTrees, counter: FeatureCounter) -> None:
    """Add event words with their positions: types of the first MAX_TRIGGERS, words of the first.

    Adds to ``counter``, in place. The most likely trigger comes first. The position is "path"
    or one of POSITION_LABELS; the first trigger is also added without it. Nothing without triggers.
    """
    triggers = trees.triggers
    pair, position = expand(triggers.starts[:-1], np.minimum(triggers.sizes, MAX_TRIGGERS))
    token = triggers.values[position]
    on_path = counter.lexicon("path")
    where = np.where(trees.is_on_path(pair, token), on_path, trees.position_label(pair, token))
    index, event_type = trees.nodes.event_types.gather(token)
    counter.add("event", pair[index], event_type, where[index])
    first = (position == triggers.starts[pair]).nonzero()[0]
    pair, where = pair[first], where[first]
    index, label = trees.labels_of(pair, token[first])
    counter.add("trigger", pair[index], label, where[index])
    counter.add("trigger", pair[index], label)


def _add_middle(trees: PairTrees, counter: FeatureCounter) -> None:
    """Add the words between the entities where they are few, and the classes of all of them.

    Adds to ``counter``, in place. Pairs of ``arrays.short_middles`` have few words between them, at
    most MAX_SHORT_MIDDLE tokens, none included; these are one feature, in which words with an event
    type are replaced by their first type. Tokens of the pair's entities have no class.
    """
    arrays, event_types = trees.arrays, trees.nodes.event_types
    rows, pair_tokens = arrays.short_middles
    words = np.where(pair_tokens >= 0, arrays.words[pair_tokens], -1)
    token = arrays.token_index[pair_tokens]
    has_type = (event_types.sizes[token] > 0) & (pair_tokens >= 0)
    words[has_type] = event_types.first(token[has_type])
    counter.add_padded("between", rows, words)

    classed_tokens = trees.nodes.classed_tokens
    pair, position = trees.nodes.by_pair(classed_tokens)
    token = classed_tokens[position]
    is_between = (arrays.first_token[pair] < token) & (token < arrays.last_token[pair])
    pair, token = pair[is_between], token[is_between]
    index, class_number = trees.classes_of(pair, token)
    counter.add("class between", pair[index], class_number)


@dataclass(frozen=True, eq=False)
class EntityFacts:
    """Features of the two entities of each pair, which combine as a sum or a difference.

    Facts are about an entity's neighbours, about its path to the top, or about its order with event
    words. Most belong to several pairs, so each list of facts is one row of ``features``, and the
    facts of an entity in a pair are three such rows, one of each kind.
    """

    features: Features  # one row per list of facts, 0/1
    rows: Indices  # (pairs, 2, 3) rows of the first entity and of the second

    @classmethod
    def from_trees(cls, trees: PairTrees) -> EntityFacts:
        """Extract the facts of all pairs of ``trees``."""
        counter = FeatureCounter(trees.arrays.lexicon, 0)
        rows = _add_entity_facts(trees, counter)
        return cls(counter.features(binary=True), rows)

    @property
    def sum(self) -> Features:
        """Return the sum of both entities' facts, (pairs, facts): a fact of both counts twice."""
        return self._combine(1.0)

    @property
    def difference(self) -> Features:
        """Return the facts of the first entity minus those of the second, (pairs, facts).

        Values are 1 and -1; facts of both cancel out.
        """
        return self._combine(-1.0)

    def squared_norms(self) -> tuple[Vector, Vector]:
        """Return the squared row norms (pairs,) of ``sum`` and ``difference``; neither is computed.

        With 0/1 facts a and b of the two entities: |a ± b|² = |a|² + |b|² ± 2 a·b.
        """
        n, _, n_lists = self.rows.shape
        cells, lists = self.features.cells, self.rows.reshape(2 * n * n_lists)
        size = lengths(cells.indptr)[lists]
        row, position = expand(cells.indptr.astype(np.intp)[lists], size)
        fact_of_pair = row // (2 * n_lists) * cells.shape[1] + cells.indices[position]
        fact_of_pair.sort()
        shared = fact_of_pair[1:][fact_of_pair[1:] == fact_of_pair[:-1]] // cells.shape[1]
        twice_shared = 2.0 * np.bincount(shared, minlength=n)
        n_facts = size.reshape(n, 2 * n_lists).sum(axis=1)
        return n_facts + twice_shared, n_facts - twice_shared

    def _combine(self, sign: float) -> Features:
        """Return the first entity's facts plus ``sign`` times the second's, (pairs, facts).

        Facts that cancel out are not stored. Columns are those of ``features``.
        """
        n, _, n_lists = self.rows.shape
        signs = np.tile(np.repeat([1.0, sign], n_lists), n)
        cells = signs, self.rows.ravel(), np.arange(0, self.rows.size + 1, 2 * n_lists)
        product = sp.csr_array(cells, shape=(n, len(self.features))) @ self.features.values
        product.eliminate_zeros()
        product.sort_indices()
        return Features(product, self.features.names)


@dataclass(frozen=True, kw_only=True)
class EntityFactExtractor:
    """Extractor of the facts of entities as shared rows below those of pairs.

    Rows of pairs get no features themselves; see ``FeatureCounter.new_rows``.
    """

    binary: ClassVar[bool] = True

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the facts as new rows of ``counter``, in place, and record which belong to each pair.

        ``counter.shared[counter.view]`` becomes an array (pairs, 2 entities, 3 kinds) of row
        indices.
        """
        counter.shared[counter.view] = _add_entity_facts(
            arrays.cached(PairTrees.from_arrays), counter
        )


def _add_entity_facts(trees: PairTrees, counter: FeatureCounter) -> Indices:  # (pairs, 2, 3)
    """Add new rows of facts to the counter and return which belong to whom.

    Shape (pairs, 2 entities, 3 kinds), row indices of the counter. Kinds are: neighbours, path to
    the top, order with event words.
    """
    rows = np.empty((len(trees), 2, 3), dtype=np.intp)
    for k, add in enumerate((_add_neighbours, _add_ancestor_paths, _add_event_order)):
        rows[:, :, k] = add(trees, counter).reshape(2, len(trees)).T
    return rows


def _add_neighbours(trees: PairTrees, counter: FeatureCounter) -> Indices:
    """Add words next to entities and the nearest event words; return the row of each entity.

    New rows are appended to ``counter``. The result is (2 pairs,): first those of all first
    entities, then of all second ones; entities with equal start and end share a row. Words are
    added as runs of one and two on either side, words with their classes (``outline``) as runs of
    up to NEIGHBOUR_TOKENS; "<" and ">" stand for positions outside the sentence.
    """
    arrays, nodes = trees.arrays, trees.nodes
    start, end = np.concatenate(trees.entity_starts), np.concatenate(trees.entity_ends)
    width = int((end - start).max(initial=0)) + 1
    distinct, inverse = factorize(start * width + end - start)
    start, length = np.divmod(distinct, width)
    end, rows = start + length, counter.new_rows(len(distinct))
    offset = np.append(np.arange(-NEIGHBOUR_TOKENS, 0), np.arange(1, NEIGHBOUR_TOKENS + 1))
    tokens = np.where(offset < 0, start[:, None], end[:, None]) + offset
    for before, after, values, max_size in (
        ("previous", "next", arrays.token_words, 2),
        ("classes before", "classes after", nodes.outline, NEIGHBOUR_TOKENS),
    ):
        words = _values_in_sentence(trees, values, tokens, start)
        for size in range(1, max_size + 1):
            counter.add(before, rows, *words[:, NEIGHBOUR_TOKENS - size : NEIGHBOUR_TOKENS].T)
            counter.add(after, rows, *words[:, NEIGHBOUR_TOKENS : NEIGHBOUR_TOKENS + size].T)
    _add_nearest_events(trees, counter, rows, start, end)
    return rows[inverse]


def _values_in_sentence(
    trees: PairTrees, values: Indices, tokens: Indices, anchor: Indices
) -> Indices:
    """Return ``values`` of tokens; "<" and ">" for tokens before and after the sentence.

    ``values`` (all tokens of the batch,) are word numbers. ``tokens`` is (rows, k), numbers that
    may lie outside the sentence and the batch; the sentence of row i is that of token
    ``anchor[i]``. Returns word numbers (rows, k).
    """
    arrays = trees.arrays
    sentence = arrays.token_sentence[anchor][:, None]
    result = values[tokens.clip(0, len(values) - 1)]
    result[tokens < arrays.sentence_starts[sentence]] = arrays.lexicon("<")
    result[tokens >= arrays.sentence_starts[sentence + 1]] = arrays.lexicon(">")
    return result


def _add_nearest_events(
    trees: PairTrees, counter: FeatureCounter, rows: Indices, start: Indices, end: Indices
) -> None:
    """Add the nearest event word on either side of entities, at most EVENT_WINDOW_TOKENS away.

    Adds to ``counter``, in place. Entity i has the first token ``start[i]``, the last token
    ``end[i]`` and the row ``rows[i]``. Event words inside the entity or outside its sentence do not
    count. Each is named by side and class or word, with and without its suffix.
    """
    arrays, nodes = trees.arrays, trees.nodes
    event_tokens = np.concatenate([[-1], nodes.event_tokens, [len(nodes.heads)]])
    left = event_tokens[np.searchsorted(event_tokens, start) - 1]
    right = event_tokens[np.searchsorted(event_tokens, end, side="right")]
    sentence = arrays.token_sentence[start]
    is_near = (
        left >= np.maximum(start - EVENT_WINDOW_TOKENS, arrays.sentence_starts[sentence]),
        right <= np.minimum(end + EVENT_WINDOW_TOKENS, arrays.sentence_starts[sentence + 1] - 1),
    )
    direction, entity = np.nonzero(is_near)
    event = np.stack([left, right])[direction, entity]
    index, label = nodes.classes_and_word.gather(event)
    where, row = arrays.lexicon.encode(("left", "right"))[direction[index]], rows[entity[index]]
    counter.add("nearest", row, where, label)
    counter.add("nearest", row, where, label, nodes.suffixes[event[index]])


def _add_ancestor_paths(trees: PairTrees, counter: FeatureCounter) -> Indices:
    """Add role, top and words of each ancestor path as a new row; return the row of each entity.

    Rows are appended to ``counter``, in place; the result has shape (2, pairs): first entities,
    then second ones. Entities with the same path share a row. Features are the role with voice,
    suffix, classes and word of the top ("part"), the first relation ("end"), the inner words of the
    path with relation or suffix ("way"), governors and event words beside the path.
    """
    nodes, paths = trees.nodes, trees.ancestor_paths.tokens
    top, role = trees.path_tops, trees.roles[0]
    rows, voice, suffixes = counter.new_rows(len(top)), nodes.voices[top], nodes.suffixes[top]
    counter.add("part", rows, role)
    counter.add("part", rows, role, voice)
    counter.add("part", rows, role, voice, counter.lexicon("ending"), suffixes)
    counter.add("part", rows, role, voice, nodes.classes_and_word.first(top), suffixes)
    index, label = nodes.classes_and_word.gather(top)
    counter.add("part", rows[index], role[index], voice[index], label)
    counter.add("end", rows, trees.first_relation)
    path, position = expand(paths.starts[:-1] + 1, np.maximum(paths.sizes - 2, 0))
    token = paths.values[position]
    index, label = nodes.classes_and_word.gather(token)
    row, token = rows[path[index]], token[index]
    counter.add("way", row, label)
    counter.add("way", row, label, nodes.relations[token])
    counter.add("way", row, label, counter.lexicon("ending"), nodes.suffixes[token])
    _add_governors(trees, counter, rows)
    _add_event_children(trees, counter, rows)
    return rows[trees.ancestor_paths.path_index]


def _add_governors(trees: PairTrees, counter: FeatureCounter, rows: Indices) -> None:
    """Add the words that entities depend on, unless they are the top, to the row of each path.

    Adds to ``counter``, in place. ``rows`` (paths,) has the row of each ancestor path. A governor
    is the second token of a path of at least three; it is named by suffix, classes and word with
    the entity's relation to it.
    """
    nodes, paths = trees.nodes, trees.ancestor_paths.tokens
    long_paths = (paths.sizes > 2).nonzero()[0]
    governor = paths.values[paths.starts[long_paths] + 1]
    rows, relation = rows[long_paths], trees.first_relation[long_paths]
    suffixes = nodes.suffixes[governor]
    counter.add("governor", rows, suffixes, relation)
    index, label = nodes.classes_and_word.gather(governor)
    counter.add("governor", rows[index], label, relation[index])
    counter.add("governor", rows[index], label, relation[index], suffixes[index])


def _add_event_children(trees: PairTrees, counter: FeatureCounter, rows: Indices) -> None:
    """Add event words that depend on a word of an ancestor path below the top and are off the path.

    Adds to ``counter``, in place, each class of such a word with its relation and with its suffix.
    ``rows`` (paths,) has the row of each ancestor path.
    """
    nodes, paths = trees.nodes, trees.ancestor_paths.tokens
    path, position = expand(paths.starts[:-1], paths.sizes - 1)
    index, child = nodes.classed_children.gather(paths.values[position])
    path, position = path[index], position[index]
    is_off_path = (position == paths.starts[path]) | (child != paths.values[position - 1])
    path, child = path[is_off_path], child[is_off_path]
    index, class_number = nodes.classes.gather(child)
    row, child = rows[path[index]], child[index]
    counter.add("beside", row, class_number, nodes.relations[child])
    counter.add("beside", row, class_number, counter.lexicon("ending"), nodes.suffixes[child])


def _add_event_order(trees: PairTrees, counter: FeatureCounter) -> Indices:
    """Add whether entities come before event words as new rows; return the row of each entity.

    Rows are appended to ``counter``, in place; the result is (2 pairs,): those of all first
    entities, then of all second ones. Equal lists of facts share a row. The first
    MAX_ORDERED_EVENTS triggers of each pair count; an entity comes first if its first token does.
    """
    triggers, base = trees.triggers, 8 * len(trees.nodes.heads) + 1
    pair, position = expand(triggers.starts[:-1], np.minimum(triggers.sizes, MAX_ORDERED_EVENTS))
    event = triggers.values[position]
    keys = np.zeros((2, len(trees), MAX_ORDERED_EVENTS), dtype=np.intp)
    for side, begin in enumerate(trees.entity_starts):
        first, top = begin[pair] < event, event == trees.top[pair]
        code = ((2 * event + first) * 2 + top) * 2 + trees.is_on_path(pair, event)
        keys[side, pair, position - triggers.starts[pair]] = code + 1
    distinct, inverse = factorize((keys @ (base ** np.arange(MAX_ORDERED_EVENTS))).ravel())
    distinct_keys = distinct // base ** np.arange(MAX_ORDERED_EVENTS)[:, None] % base
    position, row = distinct_keys.nonzero()
    rows = counter.new_rows(len(distinct))
    _add_order(trees, counter, rows[row], distinct_keys[position, row] - 1)
    return rows[inverse]


def _add_order(trees: PairTrees, counter: FeatureCounter, rows: Indices, keys: Indices) -> None:
    """Add the order of an entity and an event word to ``counter``: ``keys[i]`` to row ``rows[i]``.

    A key is 8 * event token + 4 * (entity comes first) + 2 * (event is the top) + (event is on the
    path). Named by class or word with order and form (voice of a top, tag of another word), and by
    first event type with order, suffix and whether it is on the path. Every event token needs a
    type.
    """
    nodes, lexicon = trees.nodes, counter.lexicon
    event, entity_first, is_top, is_on_path = keys // 8, keys // 4 % 2, keys // 2 % 2, keys % 2
    order = lexicon.encode(("name later", "name first"))[entity_first]
    form = np.where(is_top, nodes.voices[event], trees.arrays.token_tags[event])
    index, label = nodes.classes_and_word.gather(event)
    counter.add("order", rows[index], label, order[index], form[index])
    where = lexicon.encode(("elsewhere", "path"))[is_on_path]
    counter.add("order", rows, nodes.event_types.first(event), order, nodes.suffixes[event], where)
