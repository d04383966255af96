"""What representations read from a sentence: word forms, parts of speech, dependencies."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

import numpy as np
import snowballstemmer
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, ORTH, TAG
from spacy.tokens import Doc, Token

from textrank.docs import Candidate, tokens_of
from textrank.representations.pairs.clauses import Table, mended
from textrank.representations.pairs.collapsed import Mask, collapsed
from textrank.text import words_within
from textrank.types import Indices, Matrix

WordForm: TypeAlias = Literal["raw", "lower", "lemma", "stem"]
Parse: TypeAlias = Literal["auto", "given", "spacy", "collapsed", "own"]

_STEMMER = snowballstemmer.stemmer("english")


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """The Snowball stem of the lower-cased word, every run of digits as 0.

    >>> stem("Interacting"), stem("p53")
    ('interact', 'p0')
    """
    return str(_STEMMER.stemWord(re.sub(r"\d+", "0", word.lower())))


def check_among(name: str, given: Sequence[str], known: Sequence[str]) -> None:
    """Raises where a setting has a value that is not one of the known ones."""
    for value in given:
        if value not in known:
            raise ValueError(f"{name}: {value!r} is not known; choose from {', '.join(known)}")


def word_form(token: Token, form: WordForm) -> str:
    """The token's text as a label: as written, lower-cased, its lemma or its stem."""
    match form:
        case "raw":
            return token.text
        case "lower":
            return token.lower_
        case "lemma":
            return token.lemma_ or token.lower_
        case "stem":
            return stem(token.text)


@dataclass(frozen=True, eq=False)
class Dependencies:
    """Grammatical relations of a stretch of tokens, as (governor, dependent, type)."""

    governor: Indices  # (e,)
    dependent: Indices  # (e,)
    types: tuple[str, ...]

    @classmethod
    def of(
        cls,
        doc: Doc,
        parse: Parse,
        drop: Sequence[str],
        wanted: Mask | None = None,
        table: Table | None = None,
    ) -> Dependencies:
        """Those of a Doc, or of tokens ``wanted``: given with the corpus, or of spaCy's parse.

        ``auto`` and ``collapsed`` take the given ones where there are any, ``own`` those of spaCy
        where there are any. ``collapsed`` and ``own`` join prepositions and coordinations of
        spaCy's parse, as most given ones have them. ``table`` has heads and labels of that parse
        where they are not those of the Doc.
        """
        given, parsed = "dependencies" in doc.user_data, doc.has_annotation("DEP")
        if given and parse != "spacy" and not (parse == "own" and parsed):
            found = doc.user_data["dependencies"]
        elif parsed and parse != "given":
            found = collapsed(doc, wanted, table) if parse in ("collapsed", "own") else _tree(doc)
        else:
            raise ValueError(_no_parse(doc, parse))
        triples = [(g, d, t) for g, d, t in found if t not in drop]
        ends = np.array([(g, d) for g, d, _ in triples], dtype=np.intp).reshape(-1, 2)
        return cls(ends[:, 0], ends[:, 1], tuple(t for _, _, t in triples))

    def __len__(self) -> int:
        return len(self.types)

    def edges(self, n: int) -> Indices:
        """Governor -> dependency -> dependent, (2 e, 2); dependency k is vertex n + k."""
        own = np.arange(len(self)) + n
        return np.column_stack([np.append(self.governor, own), np.append(own, self.dependent)])

    def distances(self, n: int, start: Indices | None = None) -> Matrix:
        """Steps to each of ``n`` tokens from all of them or from some, (starts, n).

        A step goes along a dependency in any direction; infinite where no way leads.
        """
        start = np.arange(n) if start is None else start
        linked = np.zeros((n, n), dtype=np.float32)
        linked[self.governor, self.dependent] = linked[self.dependent, self.governor] = 1
        steps = np.full((len(start), n), np.inf)
        front = np.zeros((len(start), n), dtype=bool)
        front[np.arange(len(start)), start] = True
        k = 0
        while front.any():
            steps[front] = k
            k += 1
            front = (front.astype(np.float32) @ linked > 0) & (steps == np.inf)
        return steps

    @cached_property
    def _by_dependent(self) -> tuple[Indices, Indices]:
        order = np.argsort(self.dependent, kind="stable")
        return order, self.dependent[order]

    def within(self, start: int, end: int) -> Dependencies:
        """Those between tokens ``start`` to ``end``, numbered from 0; costs what is found."""
        order, dependents = self._by_dependent
        low, high = dependents.searchsorted((start, end))
        inside = np.sort(order[low:high])
        governor = self.governor[inside]
        inside = inside[(governor >= start) & (governor < end)]
        types = tuple(self.types[i] for i in inside.tolist())
        return Dependencies(self.governor[inside] - start, self.dependent[inside] - start, types)


def parsed_twice(doc: Doc) -> bool:
    """Whether the Doc has a parse given with the corpus and another one of spaCy's."""
    return "dependencies" in doc.user_data and doc.has_annotation("DEP")


@dataclass(frozen=True)
class Vocabulary:
    """Numbers of labels, given as they come."""

    numbers: dict[str, int] = field(default_factory=dict)
    known: dict[tuple[str, ...], dict[str, list[int]]] = field(default_factory=dict)

    def variants(self, labels: Iterable[str], prefixes: tuple[str, ...]) -> NDArray[np.int32]:
        """The numbers of all labels behind each prefix, (prefixes, labels)."""
        known = self.known.setdefault(prefixes, {})
        rows = [known.get(label) or self._add(label, prefixes) for label in labels]
        return np.array(rows, dtype=np.int32).reshape(-1, len(prefixes)).T

    def _add(self, label: str, prefixes: tuple[str, ...]) -> list[int]:
        own = [self.numbers.setdefault(p + label, len(self.numbers)) for p in prefixes]
        self.known[prefixes][label] = own
        return own


@dataclass(frozen=True, eq=False)
class Sentence:
    """The tokens that candidates of one sentence share, and where the entities are."""

    doc: Doc
    start: int
    end: int
    dependencies: Dependencies
    entities: Indices  # tokens of any entity, from 0
    members: Indices  # the candidates, by their place in the list
    mentions: list[list[int]]  # tokens of each entity that lie here, in the order of the text
    attributes: Table  # asking tokens takes longer; lost subjects are back in our own parse

    def __len__(self) -> int:
        return self.end - self.start

    @cached_property
    def steps(self) -> Matrix:  # (tokens, tokens)
        """Dependencies between any two tokens; inf where no way leads."""
        return self.dependencies.distances(len(self))

    @cached_property
    def texts(self) -> list[str]:
        """The tokens as written."""
        strings = self.doc.vocab.strings
        return [strings[orth] for orth in self.attributes[:, 0].tolist()]

    @cached_property
    def tags(self) -> list[str]:
        """The part of speech of every token."""
        strings, tags = self.doc.vocab.strings, self.attributes[:, 1]
        if not tags.all():
            return [token.tag_ or token.pos_ for token in self]
        return [strings[tag] for tag in tags.tolist()]

    def __iter__(self) -> Iterator[Token]:
        return iter(self.doc[self.start : self.end])

    def tokens(self, candidate: Candidate) -> list[list[int]]:
        """The tokens of each span of a candidate, from 0; spans in the order of the text."""
        found = [[t - self.start for t in tokens_of(span)] for span in candidate.spans]
        return sorted(found, key=lambda tokens: (tokens[0], tokens[-1]))


def sentences(
    candidates: Sequence[Candidate], parse: Parse, drop: Sequence[str]
) -> Iterator[Sentence]:
    """The sentences that candidates lie in, each once; several where a candidate spans them."""
    docs: dict[int, list[int]] = {}
    for i, candidate in enumerate(candidates):
        docs.setdefault(id(candidate.doc), []).append(i)
    for inside in docs.values():
        doc = candidates[inside[0]].doc
        named = Mentions.of(doc)
        extents: dict[tuple[int, int], list[int]] = {}
        bounds = _bounds(doc)
        for i in inside:
            extents.setdefault(_extent(candidates[i], bounds), []).append(i)
        table = np.asarray(doc.to_array([ORTH, TAG, HEAD, DEP]), dtype=np.uint64)
        words = [
            _covering(own, [candidates[i] for i in members]) if own != extent else own
            for own, (extent, members) in zip(
                words_within(doc, list(extents)), extents.items(), strict=True
            )
        ]
        if parse == "own":
            table = mended(table, words, doc.vocab.strings)
        dependencies = Dependencies.of(doc, parse, drop, _inside(len(doc), extents), table)
        for (start, end), members in zip(words, extents.values(), strict=True):
            mentions = named.within(start, end)
            entities = np.array([t for tokens in mentions for t in tokens], dtype=np.intp)
            own = dependencies.within(start, end)
            at = np.array(members, dtype=np.intp)
            yield Sentence(doc, start, end, own, entities, at, mentions, table[start:end])


@dataclass(frozen=True, eq=False)
class Mentions:
    """The tokens of every entity of a Doc."""

    tokens: list[list[int]]
    first: Indices
    last: Indices

    @classmethod
    def of(cls, doc: Doc) -> Mentions:
        """Those of the group ``entities``."""
        tokens = [found for span in doc.spans.get("entities", ()) if (found := tokens_of(span))]
        ends = np.array([(own[0], own[-1]) for own in tokens], dtype=np.intp).reshape(-1, 2)
        return cls(tokens, ends[:, 0], ends[:, 1])

    def within(self, start: int, end: int) -> list[list[int]]:
        """Those between two tokens, counted from the first, in the order of the text.

        Of a name that a sentence end cuts in two, the tokens that lie here.
        """
        near = ((self.first < end) & (self.last >= start)).nonzero()[0].tolist()
        found = [[t - start for t in self.tokens[i] if start <= t < end] for i in near]
        return sorted(filter(None, found), key=lambda tokens: (tokens[0], tokens[-1]))


def _inside(length: int, extents: Iterable[tuple[int, int]]) -> Mask:
    """Which of so many tokens lie in one of the extents."""
    found = np.zeros(length, dtype=bool)
    for start, end in extents:
        found[start:end] = True
    return found


def _bounds(doc: Doc) -> list[int]:
    """Where the sentences of the Doc begin, and its end."""
    if len(doc) > 1 and not doc.has_annotation("SENT_START"):
        raise ValueError(
            f"document {doc.user_data.get('document', '')!r} has no sentence boundaries. "
            "Add a parser, a senter or a sentencizer to the spaCy pipeline."
        )
    starts = (doc.to_array("SENT_START").astype(np.int64) == 1).nonzero()[0].tolist()
    return sorted({0, *starts, len(doc)})


def _extent(candidate: Candidate, bounds: list[int]) -> tuple[int, int]:
    """From the beginning of the sentence of the first span to the end of that of the last."""
    first = min(span.start for span in candidate.spans)
    last = max(span.end for span in candidate.spans) - 1
    return bounds[bisect_right(bounds, first) - 1], bounds[bisect_right(bounds, last)]


def _covering(bounds: tuple[int, int], members: Sequence[Candidate]) -> tuple[int, int]:
    """The bounds with all of the candidates inside: a name may hold the white space around it."""
    spans = [span for candidate in members for span in candidate.spans]
    first, last = min(span.start for span in spans), max(span.end for span in spans)
    return min(bounds[0], first), max(bounds[1], last)


def _tree(doc: Doc) -> list[tuple[int, int, str]]:
    return [(token.head.i, token.i, token.dep_) for token in doc if token.head != token]


def _no_parse(doc: Doc, parse: Parse) -> str:
    place = f"document {doc.user_data.get('document', '')!r}"
    if parse == "given":
        return (
            f"{place} comes without dependencies. Choose an analysis that the corpus has, "
            "or set parse to 'spacy' and use a pipeline with a parser."
        )
    return f"{place} is not parsed. Use a spaCy pipeline with a parser, or a corpus with parses."
