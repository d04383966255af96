"""Dependency trees of the sentences of a batch, and pairs of entities in them, as arrays.

``TreeNodes`` has one entry per token: head, relation, suffix and event classes. ``PairTrees`` has
the *ancestor paths* of each pair, from each entity up to the *top*, the token where both meet,
and the words that probably express what happens, its *triggers*. ``TreeFeatures`` is the base of
the feature blocks that read them (``statement_features``).

The classes of a word are its ``EVENT_CLASSES``, adjusted by prefixes and modifiers:
"down-regulate", "negatively regulate" and "negative regulator" are inhibition. All words, classes
and relations are numbers of the lexicon of the batch; tokens are numbered over all its sentences. A
*pair token* is a token as one pair sees it, ``token + arrays.offset[pair]``.
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
MIN_STEM_LENGTH = 3  # letters before a suffix
TRANSPARENT_RELATIONS = ("pobj", "conj", "modifier", "appos")  # say nothing about an entity's role
MAX_ROLE_RELATIONS = 3  # relations in the role of an entity
MAX_NEAR_TOKENS = 3  # up to which a word stands "just" before or after the pair
POSITION_LABELS = ("before", "just before", "after", "just after", "between", "just before second")
Mask = NDArray[np.bool_]


@lru_cache(maxsize=1 << 16)
def suffix(text: str) -> str:
    """Return the derivational or inflectional suffix of a word, "" if it has none of SUFFIXES.

    Stems hide who acts: "-induced" and "-inducing", "activator". At least MIN_STEM_LENGTH
    characters must remain. The longest suffix is returned, in lower case.

    >>> suffix("inducing"), suffix("activator"), suffix("bind")
    ('ing', 'tor', '')
    """
    word = text.lower()
    sizes = range(min(MAX_SUFFIX_LENGTH, len(word) - MIN_STEM_LENGTH), 0, -1)
    return next((word[-size:] for size in sizes if word[-size:] in SUFFIXES), "")


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """Tokens of all sentences of a batch as nodes of their dependency trees.

    Tokens are numbered as in ``PairArrays``. Attributes are arrays or RaggedArrays with one entry
    per token, computed on first access.
    """

    arrays: PairArrays
    heads: Indices  # of spaCy's parse; a root is its own head
    dep_labels: list[str]

    @classmethod
    def from_arrays(cls, arrays: PairArrays) -> TreeNodes:
        """Read the trees of spaCy's parse of the sentences of pairs.

        Heads are tokens numbered over the batch; a root is its own head. A token whose head lies in
        another sentence, or from which heads lead to a cycle, becomes a root and keeps its label.
        """
        sentences = [context.sentence for context in arrays.contexts]
        table = np.concatenate(
            [np.empty((0, 2), np.uint64), *(s.attributes[:, 2:] for s in sentences)]
        )
        token = np.arange(len(table))
        heads = (token + table[:, 0].astype(np.int64)).clip(0, max(0, len(table) - 1))
        is_outside = arrays.token_sentence[heads] != arrays.token_sentence
        heads[is_outside] = token[is_outside]
        root = _follow_heads(heads)
        cyclic = (heads[root] != root).nonzero()[0]
        heads[cyclic] = cyclic
        numbers = iter(table[:, 1].tolist())
        labels = [
            strings[number]
            for sentence in sentences
            for strings in [sentence.doc.vocab.strings]
            for number in islice(numbers, len(sentence))
        ]
        return cls(arrays, heads, labels)

    @cached_property
    def texts(self) -> list[str]:
        """Return the tokens of the batch as written, (tokens,); entities are not blinded."""
        return [text for context in self.arrays.contexts for text in context.texts]

    @cached_property
    def stems(self) -> list[str]:
        """Return the stems of all tokens of the batch, (tokens,), including those of entities."""
        return [stem for context in self.arrays.contexts for stem in context.stems]

    @cached_property
    def depths(self) -> Indices:
        """Return the number of dependencies from each token up to its root; 0 for a root.

        Shape (tokens,). ``heads`` must have no cycle, else this does not end; ``from_arrays`` makes
        sure of that.
        """
        depth, up = (self.heads != np.arange(len(self.heads))).astype(np.intp), self.heads
        while (more := depth[up]).any():
            depth, up = depth + more, up[up]
        return depth

    @cached_property
    def name_tokens(self) -> list[int]:
        """Return the sorted tokens of entities of the sentences, whether in a pair or not.

        These are the tokens whose blinded word is ``PROT``.
        """
        return (self.arrays.token_words == self.arrays.lexicon(OTHER_ENTITY)).nonzero()[0].tolist()

    @cached_property
    def relations(self) -> Indices:
        """Return each token's coarse relation to its head; for a preposition, the word itself.

        Word numbers, (tokens,). Labels without an entry in COARSE_RELATIONS stay as they are.
        Prepositions are the tokens labelled ``prep``, ``agent`` or ``dative``; the word is in lower
        case, and "by" for an agent.
        """
        relations = [COARSE_RELATIONS.get(label, label) for label in self.dep_labels]
        for token, label in enumerate(self.dep_labels):
            if label in ("prep", "agent", "dative"):
                relations[token] = "by" if label == "agent" else self.texts[token].lower()
        return self.arrays.lexicon.encode(relations)

    @cached_property
    def is_passive(self) -> NDArray[np.bool_]:
        """Return which tokens have a child labelled ``auxpass`` or ``agent``, (tokens,)."""
        marker_tokens = [
            n for n, label in enumerate(self.dep_labels) if label in ("auxpass", "agent")
        ]
        mask = np.zeros(len(self.heads), dtype=bool)
        mask[self.heads[np.array(marker_tokens, dtype=np.intp)]] = True
        return mask

    @cached_property
    def voices(self) -> Indices:
        """Return "active" or "passive" for each token, verb or not, as word numbers (tokens,)."""
        return self.arrays.lexicon.encode(("active", "passive"))[self.is_passive.view(np.int8)]

    @cached_property
    def suffixes(self) -> Indices:
        """Return the suffix of each token as a word number (tokens,), that of "" if it has none."""
        return self.arrays.lexicon.encode(map(suffix, self.texts))

    @cached_property
    def quoted(self) -> Indices:
        """Return, by word number, the number of the word in quotes; -1 for words of no token.

        A quoted word is “word”. Covers the blinded words of the batch, ``PROT1`` and ``PROT2``. The
        length is the size of the lexicon at the first access: later words are out of range.
        """
        lexicon, word = self.arrays.lexicon, self.arrays.token_words
        pair = lexicon.encode((FIRST_ENTITY, SECOND_ENTITY))
        used = np.zeros(len(lexicon.numbers), dtype=bool)
        used[word] = used[pair] = True
        words, used_words = lexicon.words(), used.nonzero()[0]
        quoted = np.full(len(used), -1, dtype=np.intp)
        quoted[used_words] = lexicon.encode(f"“{words[word]}”" for word in used_words.tolist())
        return quoted

    @cached_property
    def classes(self) -> RaggedArray:
        """Return the event classes of each token as word numbers; none for tokens of entities.

        They are EVENT_CLASSES of the stem. A hyphenated prefix can replace them ("down-regulate" is
        inhibition), and modifiers can put a polarity before "regulation" ("negatively regulate").
        One list per token, often empty.
        """
        classes = [EVENT_CLASSES.get(stem, ()) for stem in self.stems]
        for token, word_classes in enumerate(classes):
            if word_classes or self.texts[token - 1] in "-–":
                classes[token] = self._token_classes(token)
        for token in self.name_tokens:
            classes[token] = ()
        return self._encode_lists(classes)

    def _token_classes(self, token: int) -> tuple[str, ...]:
        """Return the classes of a token, adjusted by a hyphenated prefix and by modifiers.

        Names of classes, empty if there are none. If the prefix is one of VERB_PREFIXES and prefix
        and word together have classes ("downregulate"), these replace those of the word. If
        "regulation" is among them, the polarity of each child in REGULATION_POLARITY ("negatively")
        comes first.
        """
        stems, prefix = self.stems, self._prefix(token)
        classes = EVENT_CLASSES.get(stems[token], ())
        if prefix.lower() in VERB_PREFIXES:
            classes = EVENT_CLASSES.get(stem(prefix + self.texts[token]), classes)
        if "regulation" in classes:
            children = (self.heads == token).nonzero()[0].tolist()
            polarity = [
                REGULATION_POLARITY[stems[c]]
                for c in children
                if c != token and stems[c] in REGULATION_POLARITY
            ]
            classes = (*polarity, *classes) if polarity else classes
        return classes

    def _prefix(self, token: int) -> str:
        """Return the word before a preceding hyphen or dash, "" if there is none in the sentence.

        For "down - regulate" and the token "regulate", that is "down", as written.
        """
        if self.texts[token - 1] not in "-–":
            return ""
        start = self.arrays.sentence_starts[self.arrays.token_sentence[token]]
        return self.texts[token - 2] if token > start + 1 else ""

    def _encode_lists(self, names: Sequence[Sequence[str]]) -> RaggedArray:
        """Return lists of words as lists of word numbers; new words are added to the lexicon."""
        values = self.arrays.lexicon.encode(chain.from_iterable(names))
        return RaggedArray(offsets([len(words) for words in names]), values)

    @cached_property
    def classed_tokens(self) -> Indices:
        """Return the sorted tokens that have a class; tokens of entities have none."""
        return self.classes.sizes.nonzero()[0]

    @cached_property
    def event_types(self) -> RaggedArray:
        """Return those classes of each token that are EVENT_TYPES, in the order of ``classes``.

        Word numbers; one list per token, often empty.
        """
        types, class_numbers = self.arrays.lexicon.encode(EVENT_TYPES), self.classes.values
        is_type = (class_numbers[:, None] == types).any(axis=1)
        ends = np.append(0, is_type.cumsum())
        return RaggedArray(ends[self.classes.starts], class_numbers[is_type])

    @cached_property
    def event_tokens(self) -> Indices:
        """Return the sorted tokens that have an event type (a class of EVENT_TYPES)."""
        return self.event_types.sizes.nonzero()[0]

    @cached_property
    def classes_and_word(self) -> RaggedArray:
        """Return the classes of each token followed by the quoted word.

        The word is blinded: “PROT” for all tokens of entities, whether in a pair or not.
        """
        starts = self.classes.starts + np.arange(len(self.classes.starts))
        values = np.empty(starts[-1], dtype=np.intp)
        last = starts[1:] - 1
        inner = np.ones(len(values), dtype=bool)
        inner[last] = False
        values[inner], values[last] = self.classes.values, self.quoted[self.arrays.token_words]
        return RaggedArray(starts, values)

    @cached_property
    def outline(self) -> Indices:
        """Return each token's word, or "class suffix" with its first class where it has one.

        Word numbers, (tokens,).
        """
        lexicon, token = self.arrays.lexicon, self.classed_tokens
        outline = self.arrays.token_words.copy()
        first_classes, suffixes = self.classes.first(token).tolist(), self.suffixes[token].tolist()
        words = lexicon.words()
        outline[token] = lexicon.encode(
            f"{words[class_number]} {words[suffix_number]}"
            for class_number, suffix_number in zip(first_classes, suffixes, strict=True)
        )
        return outline

    @cached_property
    def classed_children(self) -> RaggedArray:
        """Return the children of each token that have a class, in text order: one list per token.

        A root is not its own child.
        """
        heads = self.heads[self.classed_tokens]
        kept = (heads != self.classed_tokens).nonzero()[0]
        return RaggedArray.group_by(heads[kept], self.classed_tokens[kept], len(self.heads))

    @cached_property
    def cues(self) -> tuple[Indices, RaggedArray]:
        """Return the sorted tokens of cue words, and the labels of each.

        Labels, encoded as numbers, are the cue classes and then the stem in curly quotes (“bind”).
        Tokens of entities are never cues.
        """
        names = set(self.name_tokens)
        tokens = [n for n, word in enumerate(self.stems) if word in CUE_CLASSES and n not in names]
        labels = [(*CUE_CLASSES[word], f"“{word}”") for word in map(self.stems.__getitem__, tokens)]
        return np.array(tokens, dtype=np.intp), self._encode_lists(labels)

    def by_pair(self, tokens: Indices) -> tuple[Indices, Indices]:
        """Return, for each pair, those of the sorted ``tokens`` that lie in its sentence.

        Two arrays of one length: pair, and position in ``tokens``; sorted by pair, then position.
        """
        starts = np.searchsorted(tokens, self.arrays.sentence_starts)
        positions = RaggedArray(starts, np.arange(len(tokens)))
        return positions.gather(self.arrays.sentence_index)


def _follow_heads(heads: Indices) -> Indices:
    """Return the root of each token; for tokens that lead to a cycle, some token of the cycle.

    ``heads`` (tokens,) is not changed; a root is its own head. A caller can tell the two apart
    since only a root is its own head.
    """
    ancestor = heads
    for _ in range(len(heads).bit_length()):
        if np.array_equal(ancestor, next_ancestor := ancestor[ancestor]):
            break
        ancestor = next_ancestor
    return ancestor


@dataclass(frozen=True, eq=False)
class AncestorPaths:
    """Distinct paths from tokens of entities up to a top; pairs share equal paths.

    A top is the token where the paths of the two entities of a pair meet, or the root of a path if
    they do not. A path has at least one token.
    """

    tokens: RaggedArray  # one list per path, upwards; the top is the last
    path_index: Indices  # (2, pairs) path of the first entity, and of the second


@dataclass(frozen=True, eq=False)
class PairTrees:
    """Pairs in the dependency trees of their sentences.

    The path of an entity leads from one of its tokens up to the top; see ``ancestor_paths``. Paths
    are distinct, so that arrays (paths,) are indexed by ``ancestor_paths.path_index``.
    """

    arrays: PairArrays
    nodes: TreeNodes

    @classmethod
    def from_arrays(cls, arrays: PairArrays) -> PairTrees:
        """Read the trees of the sentences of pairs, those of spaCy's parse.

        A token whose head lies in another sentence, or from which heads lead to a cycle, becomes a
        root.
        """
        return cls(arrays, TreeNodes.from_arrays(arrays))

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.arrays.pairs)

    @cached_property
    def ancestor_paths(self) -> AncestorPaths:
        """Return the paths from each entity up to the token where both meet.

        Of several tokens of an entity those with the shortest connection count, the first on ties.
        If the entities have no common root, each path ends at its own root.
        """
        root_paths, start, length = self._lowest_common_ancestors()
        width = int(length.max(initial=0)) + 1
        distinct, number = factorize(start * width + length)
        start, length = np.divmod(distinct, width)
        _, position = expand(root_paths.starts[start], length)
        return AncestorPaths(
            RaggedArray(offsets(length), root_paths.values[position]), number.reshape(2, len(self))
        )

    def _lowest_common_ancestors(self) -> tuple[RaggedArray, Indices, Indices]:
        """Find the lowest common ancestor of the two entities of each pair.

        Of several tokens of an entity those with the shortest connection count, the first on ties.
        Returns the paths from tokens to roots; then, for all first entities followed by all second
        ones, (2 pairs,), the index of the entity's path and the number of its tokens up to and
        including the ancestor. Without a common root, both paths count in full.
        """
        pair, source, target = self._head_token_pairs()
        tokens, inverse = factorize(np.concatenate([source, target]))
        root_paths, (first, second) = self._paths_to_root(tokens), inverse.reshape(2, len(pair))
        n_shared = np.maximum(_count_shared_ancestors(root_paths, first, second) - 1, 0)
        steps = root_paths.sizes[first] + root_paths.sizes[second] - 2 * n_shared
        fewest = segment_min(steps, pair, len(self), 0)
        best = first_true(steps == fewest[pair], pair)
        start = np.concatenate([first[best], second[best]])
        return root_paths, start, root_paths.sizes[start] - np.tile(n_shared[best], 2)

    def _head_token_pairs(self) -> tuple[Indices, Indices, Indices]:
        """Return all combinations of a head token of the first and one of the second entity.

        Three arrays, sorted by pair: pair, token of the first entity, token of the second. A head
        token is a root or has its head outside its entity.
        """
        arrays, heads = self.arrays, self.nodes.heads
        if len(arrays.entity_token_pairs[0]) == len(arrays.pairs):  # entities of one token
            return arrays.entity_token_pairs
        pair, *tokens = arrays.entity_token_pairs
        offset = arrays.offset[pair]
        kept = np.ones(len(pair), dtype=bool)
        for token, (entity_pair, entity_token) in zip(tokens, arrays.entity_tokens, strict=True):
            is_in_entity = np.zeros(int(arrays.pair_token_starts[-1]), dtype=bool)
            is_in_entity[entity_token + arrays.offset[entity_pair]] = True
            kept &= (heads[token] == token) | ~is_in_entity[heads[token] + offset]
        return pair[kept], tokens[0][kept], tokens[1][kept]

    def _paths_to_root(self, tokens: Indices) -> RaggedArray:
        """Return, for each token, the token, its head, the head's head, and so on to the root.

        One list per entry of ``tokens``, in order.
        """
        heads, starts = self.nodes.heads, offsets(self.nodes.depths[tokens] + 1)
        values = np.empty(starts[-1], dtype=np.intp)
        position, current = starts[:-1], tokens
        while len(current):
            values[position] = current
            active = (heads[current] != current).nonzero()[0]
            position, current = position[active] + 1, heads[current[active]]
        return RaggedArray(starts, values)

    @cached_property
    def top(self) -> Indices:
        """Return the token where the paths of each pair meet, (pairs,).

        The root of the first entity's path if they do not meet.
        """
        return self.path_tops[self.ancestor_paths.path_index[0]]

    @cached_property
    def path_tops(self) -> Indices:
        """Return the last token of each ancestor path, (paths,)."""
        return self.ancestor_paths.tokens.values[self.ancestor_paths.tokens.starts[1:] - 1]

    @cached_property
    def voice(self) -> Indices:
        """Return the voice of the top of each pair, (pairs,).

        It is the word number of "passive" if the top has a passive auxiliary or an agent as child,
        else that of "active".
        """
        return self.nodes.voices[self.top]

    @cached_property
    def tokens_below_top(self) -> tuple[Indices, Indices, Indices]:
        """Return all tokens of paths except tops: entity (0 or 1), pair, and token.

        Sorted by entity and pair; each path upwards.
        """
        paths, path_index = self.ancestor_paths.tokens, self.ancestor_paths.path_index.ravel()
        row, position = expand(paths.starts[path_index], paths.sizes[path_index] - 1)
        side, pair = np.divmod(row, max(1, len(self)))
        return side, pair, paths.values[position]

    @cached_property
    def path_sides(self) -> NDArray[np.int8]:
        """Return which paths each pair token lies on, (pair tokens,).

        1 first entity's, 2 second's, 3 both (the top), 0 none. Without a common root no token has
        3.
        """
        arrays, sides = self.arrays, np.zeros(int(self.arrays.pair_token_starts[-1]), dtype=np.int8)
        for bit, path_index in enumerate(self.ancestor_paths.path_index, start=1):
            pair, token = self.ancestor_paths.tokens.gather(path_index)
            sides[token + arrays.offset[pair]] += bit
        return sides

    def is_on_path(self, pair: Indices, token: Indices) -> Mask:
        """Return which tokens are on a path of the given pairs, tops included.

        ``pair`` and ``token`` are parallel; each token lies in the sentence of its pair.
        """
        return self.path_sides[token + self.arrays.offset[pair]] > 0

    def is_entity(self, pair: Indices, token: Indices) -> Mask:
        """Return which tokens belong to one of the two entities of the given pairs.

        ``pair`` and ``token`` are parallel; each token lies in the sentence of its pair.
        """
        return self.arrays.is_entity[token + self.arrays.offset[pair]]

    @cached_property
    def roles(self) -> tuple[Indices, Indices]:
        """Return a text for the last informative relations of each path, and the last of them.

        At most MAX_ROLE_RELATIONS relations, in upward order, joined by blanks.
        TRANSPARENT_RELATIONS are left out; if there are no others, the relation of the path's first
        token is taken. "top" for an entity that is itself the top. Both (paths,), as word numbers.
        """
        lexicon, paths = self.arrays.lexicon, self.ancestor_paths.tokens
        path, position = expand(paths.starts[:-1], paths.sizes - 1)
        relation = self.nodes.relations[paths.values[position]]
        is_informative = ~(relation[:, None] == lexicon.encode(TRANSPARENT_RELATIONS)).any(axis=1)
        has_informative = np.bincount(path[is_informative], minlength=len(paths.sizes)) > 0
        kept = (
            is_informative | (~has_informative[path] & (position == paths.starts[path]))
        ).nonzero()[0]
        path, relation = path[kept], relation[kept]
        rank = np.bincount(path, minlength=len(paths.sizes)).cumsum()[path] - np.arange(len(path))
        table = np.full((len(paths.sizes), MAX_ROLE_RELATIONS), -1, dtype=np.intp)
        last = (rank <= MAX_ROLE_RELATIONS).nonzero()[0]
        table[path[last], rank[last] - 1] = relation[last]
        return self._join_relations(table)

    def _join_relations(self, table: Indices) -> tuple[Indices, Indices]:
        """Join each row of word numbers into one text; also return the last word of each text.

        ``table`` is (paths, MAX_ROLE_RELATIONS). Rows hold the last relation first, padded with -1;
        an empty row gives "top". Of a relation of several words ("subject of passive") only the
        last word is returned. Both results are word numbers, (paths,).
        """
        lexicon = self.arrays.lexicon
        words, base = lexicon.words(), len(lexicon.numbers) + 1
        distinct, inverse = factorize((table + 1) @ (base ** np.arange(MAX_ROLE_RELATIONS)))
        texts = []
        for code in distinct.tolist():
            parts = [code // base**k % base for k in reversed(range(MAX_ROLE_RELATIONS))]
            texts.append(" ".join(words[part - 1] for part in parts if part) or "top")
        ends = [text.rpartition(" ")[-1] for text in texts]
        return lexicon.encode(texts)[inverse], lexicon.encode(ends)[inverse]

    @cached_property
    def first_relation(self) -> Indices:
        """Return the relation of the first token of each path to its head, (paths,).

        Word numbers; "top" for a path of one token.
        """
        paths = self.ancestor_paths.tokens
        relations = self.nodes.relations[paths.values[paths.starts[:-1]]]
        return np.where(paths.sizes > 1, relations, self.arrays.lexicon("top"))

    def classes_of(self, pair: Indices, token: Indices) -> tuple[Indices, Indices]:
        """Return all classes of tokens: position in ``token``, and class, two arrays of one length.

        ``pair`` and ``token`` are parallel. Sorted by position. Tokens of the entities of their
        pair have none.
        """
        outside = (~self.is_entity(pair, token)).nonzero()[0]
        position, class_number = self.nodes.classes.gather(token[outside])
        return outside[position], class_number

    def labels_of(self, pair: Indices, token: Indices) -> tuple[Indices, Indices]:
        """Return all classes and the quoted word of tokens: position in ``token``, and label.

        ``pair`` and ``token`` are parallel. All classes come first, then one word per token. Words
        are as the pairs see them, with entities blinded.
        """
        position, class_number = self.classes_of(pair, token)
        words = self.nodes.quoted[self.arrays.words_at(pair, token)]
        positions = np.concatenate([position, np.arange(len(token))])
        return positions, np.concatenate([class_number, words])

    @cached_property
    def top_classes(self) -> RaggedArray:
        """Return the classes of the top of each pair as word numbers, "other" if it has none.

        One list per pair, never empty. A top that belongs to an entity of the pair has no classes.
        """
        all_pairs = np.arange(len(self))
        pair, class_number = self.classes_of(all_pairs, self.top)
        without = (np.bincount(pair, minlength=len(self)) == 0).nonzero()[0]
        other = np.full(len(without), self.arrays.lexicon("other"), dtype=np.intp)
        entries = np.concatenate([pair, without]), np.concatenate([class_number, other])
        return RaggedArray.group_by(*entries, len(self))

    @cached_property
    def triggers(self) -> RaggedArray:
        """Return event words of the sentence of each pair, the most likely trigger first.

        One list of tokens per pair, empty without event words; tokens of its entities are left out.
        The order: the top, other words on the path, children and heads of words on the path, words
        between the entities, the rest; within each group by distance to the path, then in text
        order.
        """
        arrays = self.arrays
        pair, position = self.nodes.by_pair(self.nodes.event_tokens)
        token = self.nodes.event_tokens[position]
        outside = (~self.is_entity(pair, token)).nonzero()[0]
        pair, token = pair[outside], token[outside]
        rank, distance = self._trigger_ranks(pair, token)
        width = int(arrays.sentence_sizes.max(initial=0)) + 1
        codes = ((pair * 5 + rank) * width + distance) * width + token - arrays.sentence_base[pair]
        codes.sort()
        pair = codes // (5 * width * width)
        return RaggedArray(
            offsets(np.bincount(pair, minlength=len(self))),
            codes % width + arrays.sentence_base[pair],
        )

    def _trigger_ranks(self, pair: Indices, token: Indices) -> tuple[Indices, Indices]:
        """Return the group (0 to 4) of event words, and their distance in tokens to the path.

        0 is the top, 1 another word on a path, 2 a child or head of a word on a path, 3 a word
        between the entities, 4 any other; entities are not words of a path here, but distances
        count to them. ``pair`` and ``token`` are parallel, as are the results; no token is one of
        its pair's entities.
        """
        arrays, heads = self.arrays, self.nodes.heads
        path_tokens = self.path_sides.nonzero()[0]
        is_inner = self.path_sides > 0
        is_inner &= ~arrays.is_entity
        is_head = np.zeros(len(is_inner), dtype=bool)
        inner_tokens = is_inner.nonzero()[0]
        inner_offset = arrays.offset[arrays.pair_index[inner_tokens]]
        is_head[heads[arrays.token_index[inner_tokens]] + inner_offset] = True
        pair_token = token + arrays.offset[pair]
        is_adjacent = is_inner[heads[token] + arrays.offset[pair]] | is_head[pair_token]
        is_between = (arrays.first_token[pair] < token) & (token < arrays.last_token[pair])
        off_path = np.where(is_adjacent, 2, 4 - is_between)
        rank = np.where(is_inner[pair_token], token != self.top[pair], off_path)
        starts = arrays.pair_token_starts
        return rank, _nearest_marked_distance(path_tokens, pair_token, starts, pair)

    def best_trigger(self, types: Indices) -> Indices:
        """Return the most likely trigger of the event type that each pair has, (pairs,).

        ``types`` (pairs,) are word numbers of event types. The result is the first of ``triggers``
        with this type that lies on the path or whose head does (or anywhere, if no trigger of the
        pair, of any type, does), else the first of ``triggers``; -1 if there is none.
        """
        triggers = np.where(self.triggers.sizes > 0, self.likeliest_trigger, -1)
        pair, token = self.triggers.gather(np.arange(len(self)))
        is_near = self.is_on_path(pair, token) | self.is_on_path(pair, self.nodes.heads[token])
        is_near |= ~np.bincount(pair[is_near], minlength=len(self)).astype(bool)[pair]
        position, event_type = self.nodes.event_types.gather(token)
        matching = first_true(
            is_near[position] & (event_type == types[pair[position]]), pair[position]
        )
        triggers[pair[position[matching]]] = token[position[matching]]
        return triggers

    @cached_property
    def likeliest_trigger(self) -> Indices:
        """Return the first of ``triggers`` of each pair, (pairs,), the top if there is none."""
        tokens = self.top.copy()
        with_trigger = self.triggers.sizes.nonzero()[0]
        tokens[with_trigger] = self.triggers.first(with_trigger)
        return tokens

    def position_label(self, pair: Indices, token: Indices) -> Indices:
        """Return where tokens stand in text order, as one of POSITION_LABELS.

        ``pair`` and ``token`` are parallel; the result holds word numbers. Labels are "before",
        "just before", "after" and "just after" the pair, "between" and "just before second". "Just"
        means at most MAX_NEAR_TOKENS positions from the pair's first or last token, at most two
        from the first token of the second entity. Tokens of the pair's entities count as between.
        """
        arrays = self.arrays
        begin, end = arrays.first_token[pair], arrays.last_token[pair]
        to_second = self.entity_starts[1][pair] - token
        between = 4 + ((to_second > 0) & (to_second <= 2))
        label_index = np.where(token < begin, begin - token <= MAX_NEAR_TOKENS, between)
        label_index = np.where(token > end, 2 + (token - end <= MAX_NEAR_TOKENS), label_index)
        return arrays.lexicon.encode(POSITION_LABELS)[label_index]

    @cached_property
    def entity_starts(self) -> tuple[Indices, Indices]:
        """Return the first tokens of the first and of the second entities, each (pairs,).

        Tokens are numbered over the batch.
        """
        first, second = (
            np.minimum.reduceat(t, run_starts(o)) if len(o) else t
            for o, t in self.arrays.entity_tokens
        )
        return first, second

    @cached_property
    def entity_ends(self) -> tuple[Indices, Indices]:
        """Return the last tokens of the first and of the second entities, each (pairs,), inclusive.

        Tokens are numbered over the batch.
        """
        first, second = (
            np.maximum.reduceat(t, run_starts(o)) if len(o) else t
            for o, t in self.arrays.entity_tokens
        )
        return first, second


class TreeFeatures(ABC):
    """Base of the feature blocks that read pairs in their trees; 0/1 features.

    A subclass implements ``extract_from_trees``. The trees are spaCy's, analysed with the parse
    "own" if the block starts from candidates.
    """

    binary: ClassVar[bool] = True

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        """Return the features of candidates, one row each, in order, with the parse "own".

        Raises ValueError if a candidate does not have two spans or its Doc is not parsed.
        """
        return self.represent(analyze_pairs(candidates, "own"))

    def represent(self, pairs: Sequence[EntityPair]) -> Features:
        """Return the features of pairs that are already analysed, one row each, in order.

        Heads are those of spaCy's parse, whatever parse the pairs were analysed with; with "own",
        lost subjects were repaired in them. Values are 0 or 1.
        """
        return extract_features(self, pairs)

    def extract(self, arrays: PairArrays, counter: FeatureCounter) -> None:
        """Add the features of all pairs to ``counter``, in place, under its current view.

        The trees are built once for all blocks that read the same ``arrays``.
        """
        self.extract_from_trees(arrays.cached(PairTrees.from_arrays), counter)

    @abstractmethod
    def extract_from_trees(self, trees: PairTrees, counter: FeatureCounter) -> None:
        """Add the features of all pairs to ``counter``, in place, under its current view.

        Row i of the counter is pair i of ``trees``.
        """


def _count_shared_ancestors(root_paths: RaggedArray, first: Indices, second: Indices) -> Indices:
    """Return how many tokens two paths to roots share, counted from the root.

    ``first`` and ``second`` are parallel indices of paths in ``root_paths``; the result has their
    shape. The root and, if it is on the other path, the token itself count. 0 for paths to
    different roots.
    """
    shorter = np.minimum(root_paths.sizes[first], root_paths.sizes[second])
    pair, step = expand(np.ones_like(first), shorter)
    token_of_first = root_paths.values[root_paths.starts[first + 1][pair] - step]
    token_of_second = root_paths.values[root_paths.starts[second + 1][pair] - step]
    is_shared = token_of_first == token_of_second
    return np.bincount(pair[is_shared], minlength=len(first))


def _nearest_marked_distance(
    marked: Indices, pair_token: Indices, starts: Indices, pair: Indices
) -> Indices:
    """Return the distance in tokens from pair tokens to the nearest marked one of the same pair.

    ``marked`` are sorted pair tokens; ``pair`` is the pair of each of ``pair_token``; ``starts``
    (pairs + 1,) are the bounds of the pairs, each of which has a marked token. 0 for a marked one.
    """
    bounds = np.searchsorted(marked, starts)
    position = np.searchsorted(marked, pair_token)
    left = marked[np.maximum(position - 1, bounds[pair])]
    right = marked[np.minimum(position, bounds[pair + 1] - 1)]
    return np.minimum(abs(pair_token - left), abs(pair_token - right))


def pair_trees(pairs: Sequence[EntityPair]) -> PairTrees:
    """Return the pairs in their trees, in order.

    A PairBatch builds them once and keeps them; another sequence is converted at each call.
    """
    return pair_arrays(pairs).cached(PairTrees.from_arrays)
