"""The trees of the sentences of a batch, and the classes of their words, as arrays.

A word's *classes* are those of ``EVENTS``, with what small words do to them: "down-regulate"
lowers, "negatively regulate" and "negative regulator" too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from textrank.representations.pairs.analysis import stem
from textrank.representations.pairs.layout import FIRST, OTHER, SECOND, Layout
from textrank.representations.pairs.statement_words import CUES, EVENTS, LEANING, PREFIXES, TYPES
from textrank.types import Indices
from textrank.types.ragged import Lists, offsets

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
    def classes(self) -> Lists:
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

    def _named_lists(self, names: Sequence[Sequence[str]]) -> Lists:
        values = self.layout.lexicon.all(chain.from_iterable(names))
        return Lists(offsets([len(own) for own in names]), values)

    @cached_property
    def classed(self) -> Indices:
        """The tokens that have a class."""
        return self.classes.sizes.nonzero()[0]

    @cached_property
    def kinds(self) -> Lists:
        """Those classes of each token that say what happens."""
        kinds, number = self.layout.lexicon.all(TYPES), self.classes.values
        known = (number[:, None] == kinds).any(axis=1)
        ends = np.append(0, known.cumsum())
        return Lists(ends[self.classes.starts], number[known])

    @cached_property
    def events(self) -> Indices:
        """The tokens that say what happens."""
        return self.kinds.sizes.nonzero()[0]

    @cached_property
    def named(self) -> Lists:
        """The classes of each token and the word itself; all names are alike."""
        starts = self.classes.starts + np.arange(len(self.classes.starts))
        values = np.empty(starts[-1], dtype=np.intp)
        last = starts[1:] - 1
        inner = np.ones(len(values), dtype=bool)
        inner[last] = False
        values[inner], values[last] = self.classes.values, self.quoted[self.layout.word]
        return Lists(starts, values)

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
    def classed_children(self) -> Lists:
        """The children of each token that have a class."""
        heads = self.heads[self.classed]
        some = (heads != self.classed).nonzero()[0]
        return Lists.grouped(heads[some], self.classed[some], len(self.heads))

    @cached_property
    def cues(self) -> tuple[Indices, Lists]:
        """The words that deny or doubt and what each is called; those of names are none."""
        names = set(self.of_names)
        tokens = [n for n, word in enumerate(self.stems) if word in CUES and n not in names]
        called = [(*CUES[word], f"“{word}”") for word in map(self.stems.__getitem__, tokens)]
        return np.array(tokens, dtype=np.intp), self._named_lists(called)

    def in_sentences(self, tokens: Indices) -> tuple[Indices, Indices]:
        """For each pair those of some rising tokens that lie in its sentence: pair and place."""
        begin = np.searchsorted(tokens, self.layout.starts)
        places = Lists(begin, np.arange(len(tokens)))
        return places.of_each(self.layout.sentence)


def _tops(heads: Indices) -> Indices:
    """Where heads lead from each token; somewhere on a circle where they never end."""
    up = heads
    for _ in range(len(heads).bit_length()):
        if np.array_equal(up, higher := up[up]):
            break
        up = higher
    return up
