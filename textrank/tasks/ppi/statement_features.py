"""Features of the statement about a pair: cues, roles and facts about each entity.

``TreeNodes`` has one entry per token: head, relation, suffix and event classes. ``PairTrees`` has
the *ancestor paths* of each pair, from each entity up to the *top*, the token where both meet,
and the words that probably express what happens, its *triggers*. ``TreeFeatures`` is the base of
the feature blocks that read them:

* ``StatementCues``: negation and speculation cues and where they attach;
* ``StatementRoles``: events on and around the path, and the role of each entity.

``EntityFacts`` holds features of single entities, which a pair combines as a sum and a difference,
so that direction can be learnt; ``EntityFactExtractor`` adds them to a joint extraction.

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
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank._ragged import (
    RaggedArray,
    expand,
    factorize,
    first_true,
    lengths,
    offsets,
    run_starts,
    segment_min,
)
from textrank.candidates import Candidate
from textrank.features import Features, Indices, Vector
from textrank.tasks.ppi.pairs import (
    FIRST_ENTITY,
    OTHER_ENTITY,
    SECOND_ENTITY,
    EntityPair,
    FeatureCounter,
    Lexicon,
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

        A quoted word is “word”. Covers the blinded words of the batch, ``PROT1`` and ``PROT2``.
        Quoted words are added to the lexicon. The length is the size of the lexicon at the first
        access, before that: later words, new quoted ones among them, are out of range.
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
    def non_top_tokens(self) -> tuple[Indices, Indices, Indices]:
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
        Five groups follow each other: the top; other words on the path; children and heads of words
        on the path; words between the entities; all others. Within a group words are sorted by
        distance to the path, then in text order.
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

        Heads are always those of spaCy's parse, not of the parse setting of the pairs; with "own",
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

    Adds to ``counter``, in place. ("opening", word) has the first stem if it is a cue or one of
    OPENING_WORDS, else "other"; ("question mark",) is added if the last token is "?".
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
        """Add all features of cues to the counter, in place; nothing if there are no cues.

        A cue counts under each of its labels, the classes and the quoted stem. Each is added as
        ("cue", label, *placement) for up to three placements, ("cue side", label, position in the
        text), ("cue", label), and, unless its placement is "elsewhere", ("cue with", label, kind of
        the exact placement, event type of the likeliest trigger).
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
            self._place_child_of_path,
            self._place_above_top,
            self._place_grandchild_of_path,
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

    def _place_child_of_path(self, placements: Indices, rest: Indices) -> Indices:
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

    def _place_grandchild_of_path(self, placements: Indices, rest: Indices) -> Indices:
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

    Adds to ``counter``, in place: ("parts", voice, both roles), ("ends", both first relations);
    and, for each class of the top and its quoted word as label, ("top", label, first letter of the
    tag), ("top", label, voice), ("top with both", label, voice, both roles), and "top with first"
    and "top with second" with one role.
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

    Adds one "skeleton" and one "parts in" per pair to ``counter``, in place. The top's first class
    stands between two "^"; words without a class are left out. In "parts in", the voice comes first
    and the last informative relation of either entity stands beside the top.
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
        side, pair, token = trees.non_top_tokens
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

    A word counts under each of its classes and its quoted word. Names are ("way", entity, label,
    relation to its head), ("way", entity, label) and, for each class of the top, ("way to top",
    entity, label, class, voice). Tokens of the pair's entities are left out.
    """
    side, pair, token = trees.non_top_tokens
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
    words are those with a class; tokens of the pair's entities and words on either path are left
    out.
    """
    children, relation = trees.nodes.classed_children, trees.nodes.relations
    side, pair, token = trees.non_top_tokens
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

    Adds to ``counter``, in place: ("event", type, position) for each event type of these triggers,
    and for each class and the quoted word of the most likely one, which is the first, ("trigger",
    label, position) and ("trigger", label). The position is "path" or one of POSITION_LABELS.
    Nothing without triggers.
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

    Adds to ``counter``, in place. With at most MAX_SHORT_MIDDLE tokens between, none included,
    these are one feature "between", in which words with an event type are replaced by their first
    type. ("class between", class) is added for each class of a token between, for all pairs. Tokens
    of the pair's entities have no class.
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
    added as runs of one and two on either side ("previous", "next"), words with their classes
    (``outline``) as runs of up to NEIGHBOUR_TOKENS ("classes before", "classes after"); "<" and ">"
    stand for positions outside the sentence.
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

    Adds to ``counter``, in place, ("nearest", "left" or "right", label) and the same with the
    suffix of the word, for each of its classes and its quoted word. Entity i has the first token
    ``start[i]``, the last token ``end[i]`` and the row ``rows[i]``. Event words inside the entity
    or outside its sentence do not count.
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
    then second ones. Entities with the same path share a row. Features are ("part", role), alone
    and with the voice of the top, further with its suffix, with each of its classes and its quoted
    word, and with the first of these and the suffix; ("end", first relation); for the words between
    the first of the path and the top, ("way", label) for each class and the quoted word, alone,
    with the relation, and with the suffix; governors (``_add_governors``) and event words beside
    the path (``_add_event_children``).
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
    is the second token of a path of at least three. Names are ("governor", suffix, relation) and,
    for each of its classes and its quoted word, ("governor", label, relation) and the same with the
    suffix; the relation is that of the path's first token to it.
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

    Adds to ``counter``, in place, ("beside", class, relation) and ("beside", class, "ending",
    suffix) for each class of such a word. Only the path itself counts, not that of the other
    entity. ``rows`` (paths,) has the row of each ancestor path.
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
