"""What representations read from a sentence: word forms, parts of speech, dependencies."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

import numpy as np
import snowballstemmer
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, ORTH, TAG
from spacy.strings import StringStore
from spacy.tokens import Doc, Token

from textrank.candidates import Candidate, tokens_of
from textrank.features import Indices, Matrix
from textrank.language.alignment import trim_to_words

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
                trim_to_words(doc, list(extents)), extents.items(), strict=True
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


Table: TypeAlias = NDArray[np.uint64]  # (tokens, 4) ORTH, TAG, HEAD, DEP, as spaCy counts them
Arc: TypeAlias = tuple[int, str]  # head and relation
SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl")
FINITE = ("VBZ", "VBP", "VBD")
VERBS = (*FINITE, "VB", "VBG", "VBN")
OPENING = ("after", "before", "until", "since", "once", "as")  # of a clause or of a phrase
LOOSE = ("prep", "advmod", "punct", "aux", "auxpass", "neg", "npadvmod")
CLOSED = frozenset("()[];:")
LATER = ("conj", "advcl", "ccomp")  # what a verb is that lost its subject
FULL = ("dobj", "ccomp", "xcomp", "attr")
_STRINGS = StringStore()  # numbers of strings are the same in every store
_CODES = tuple(
    (column, np.array([[_STRINGS[word]] for word in words], dtype=np.uint64))
    for column, words in ((1, VERBS), (3, LATER), (3, SUBJECTS), (3, LATER[:1]))
)


def mended(table: Table, extents: Iterable[tuple[int, int]], strings: StringStore) -> Table:
    """The table with lost subjects given back, in sentences from token to token."""
    odd = _odd(table).tobytes()  # cheaper to look into than an array, a sentence at a time
    found = table
    for start, end in extents:
        if 1 in odd[start:end]:
            own = Clauses.of(table[start:end], strings)
            better = own.mended()
            if better is not own:
                found = found.copy() if found is table else found
                found[start:end, 2:] = better.arcs(strings)
    return found


def _odd(table: Table) -> NDArray[np.bool_]:
    """Verbs that may lack their subject; a sentence without one need not be looked at."""
    n = len(table)
    heads = np.arange(n) + table[:, 2].astype(np.int64)
    np.minimum(np.maximum(heads, 0, out=heads), n - 1, out=heads)
    verbs, later, subjects, joined = (
        np.logical_or.reduce(table[:, column] == codes) for column, codes in _CODES
    )
    having, in_parts, parted = (np.zeros(n, dtype=bool) for _ in range(3))
    having[heads[subjects]] = True
    in_parts[heads[joined]] = True
    parted[heads[subjects & in_parts]] = True
    found: NDArray[np.bool_] = verbs & (subjects | (later & ~having) | (joined & parted))
    return found


@dataclass(frozen=True, eq=False)
class Clauses:
    """A sentence with its tree; a root is its own head."""

    words: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int]
    labels: Sequence[str]

    @classmethod
    def of(cls, table: Table, strings: StringStore) -> Clauses:
        """Those of a sentence; a token whose head lies elsewhere is a root."""
        n = np.arange(len(table))
        above = n + table[:, 2].astype(np.int64)
        heads = np.where((above >= 0) & (above < len(n)), above, n).tolist()
        words, tags, labels = ([strings[c] for c in table[:, k].tolist()] for k in (0, 1, 3))
        return cls(words, tags, heads, labels)

    def arcs(self, strings: StringStore) -> Table:
        """Heads and relations, as spaCy counts them."""
        steps = np.array(self.heads) - np.arange(len(self.heads))
        labels = np.array([strings.add(label) for label in self.labels], dtype=np.uint64)
        return np.column_stack([steps.astype(np.uint64), labels])

    def mended(self) -> Clauses:
        """The same with lost subjects given back to their verbs; itself where none is lost."""
        tree = self
        for verb in range(len(self.heads)):
            if tree._verb(verb) and (arcs := tree._arcs(verb)):
                found = tree._with(arcs)
                tree = found if all(map(found._rooted, arcs)) else tree
        return tree

    def _arcs(self, verb: int) -> Mapping[int, Arc]:
        """What changes for a verb to have its subject."""
        if not self._finite(verb):
            return {}
        if self.labels[verb] == "conj" and self.heads[verb] < verb:
            found = self._joined(self.heads[verb], verb)
            return found or self._opened(verb)
        taken = [c for c in self._subjects(verb) if c < verb and self.tags[c] in FINITE]
        if taken and (arcs := self._joined(taken[-1], verb)):
            return {**self._turned(taken[-1], verb), **arcs}
        return self._opened(verb)

    def _joined(self, first: int, verb: int) -> Mapping[int, Arc]:
        """Two verbs, and a noun between them after the last coordinator."""
        joining = [t for t in range(first + 1, verb) if self.tags[t] == "CC"]
        if not joining or not any(s < first for s in self._subjects(first)):
            return {}
        between = [s for s in self._subjects(verb) if first < s < verb]
        if between:
            return self._parted(first, verb, between[0], joining[-1])
        return self._given(first, verb, joining[-1])

    def _given(self, first: int, verb: int, joining: int) -> Mapping[int, Arc]:
        """The noun right after the coordinator, as long as nothing but adverbs parts it."""
        nouns = [
            t
            for t in range(joining + 1, verb)
            if self.labels[t] == "conj"
            and self.tags[t][:2] in ("NN", "PR")
            and first <= self.heads[t] < joining
        ]
        if len(nouns) != 1 or not self._stands_alone(first, verb, joining, nouns[0]):
            return {}
        loose = {
            t: (verb, self.labels[t])
            for t in range(nouns[0] + 1, verb)
            if self.heads[t] < joining and self.labels[t] in LOOSE
        }
        return {nouns[0]: (verb, self._subject(verb)), joining: (first, "cc"), **loose}

    def _stands_alone(self, first: int, verb: int, joining: int, noun: int) -> bool:
        after = range(noun + 1, verb)
        if self._left(noun) != joining + 1 or self.tags[noun + 1].startswith("NN"):
            return False
        if any(self._subordinates(t) for t in range(first + 1, joining)):
            return False
        if CLOSED.intersection(self.words[joining:verb]):
            return False
        if sum(self.words[t] == "," for t in after) == 1:
            return False
        return not any(self.tags[t].startswith(("W", "CC")) or self._verb(t) for t in after)

    def _parted(self, first: int, verb: int, subject: int, joining: int) -> Mapping[int, Arc]:
        """A subject of two parts, of which the first is the object of the verb before it."""
        if self._left(subject) == joining + 1 and self.labels[first] in SUBJECTS:
            return {joining: (first, "cc")}
        parts = [c for c in self._children[subject] if self.labels[c] == "conj"]
        if len(parts) != 1 or self._left(parts[0]) != joining + 1 or joining < subject:
            return {}
        full = any(self.labels[c] in FULL for c in self._children[first])
        if full or self._left(subject) != first + 1:
            return {}
        part = parts[0]
        return {
            subject: (first, "dobj"),
            joining: (first, "cc"),
            part: (verb, self.labels[subject]),
        }

    def _opened(self, verb: int) -> Mapping[int, Arc]:
        """A noun after "after" or the like, right before a verb without subject."""
        noun = verb - 1
        while noun > 0 and (self.tags[noun] == "RB" or self.labels[noun] in ("aux", "auxpass")):
            noun -= 1
        opening = self.heads[noun]
        if (
            self.labels[verb] not in LATER
            or self.labels[noun] != "pobj"
            or self._left(noun) != opening + 1
            or self.words[opening].lower() not in OPENING
            or any(s < verb for s in self._subjects(verb))
        ):
            return {}
        above = self.heads[opening]
        while not self.tags[above].startswith("VB") and self.heads[above] != above:
            above = self.heads[above]
        if above >= opening or not self.tags[above].startswith("VB"):
            return {}
        return {
            noun: (verb, self._subject(verb)),
            opening: (verb, "mark"),
            verb: (above, "advcl"),
        }

    def _turned(self, first: int, verb: int) -> dict[int, Arc]:
        """The first verb in the place of the second, which is joined to it."""
        above = self.heads[verb]
        before = {c: (first, self.labels[c]) for c in self._children[verb] if c < first}
        place = (first if above == verb else above, self.labels[verb])
        return {**before, first: place, verb: (first, "conj")}

    def _rooted(self, token: int) -> bool:
        """Whether heads lead from a token to a root and not back to itself."""
        for _ in self.heads:
            if self.heads[token] == token:
                return True
            token = self.heads[token]
        return False

    def _with(self, arcs: Mapping[int, Arc]) -> Clauses:
        heads, labels = list(self.heads), list(self.labels)
        for token, (head, label) in arcs.items():
            heads[token], labels[token] = head, label
        return Clauses(self.words, self.tags, heads, labels)

    @cached_property
    def _children(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.heads]
        for token, head in enumerate(self.heads):
            if token != head:
                found[head].append(token)
        return found

    def _subjects(self, verb: int) -> list[int]:
        return [c for c in self._children[verb] if self.labels[c] in SUBJECTS]

    def _subject(self, verb: int) -> str:
        passive = any(self.labels[c] == "auxpass" for c in self._children[verb])
        return "nsubjpass" if passive else "nsubj"

    def _finite(self, verb: int) -> bool:
        helping = (self.tags[c] for c in self._children[verb] if self.labels[c].startswith("aux"))
        return self.tags[verb] in FINITE or any(tag in (*FINITE, "MD") for tag in helping)

    def _verb(self, token: int) -> bool:
        return self.tags[token].startswith("VB") and not self.labels[token].startswith("aux")

    def _subordinates(self, token: int) -> bool:
        opens = self.labels[token] == "mark" or self.tags[token].startswith("W")
        return opens or self.words[token] in CLOSED

    def _left(self, token: int) -> int:
        """The first token of what hangs on a token."""
        while self._children[token] and self._children[token][0] < token:
            token = self._children[token][0]
        return token


Triple: TypeAlias = tuple[int, int, str]  # governor, dependent, type
Mask: TypeAlias = NDArray[np.bool_]
_RENAMED = {
    "compound": "nn",
    "nmod": "nn",
    "nummod": "num",
    "relcl": "rcmod",
    "acl": "partmod",
    "dative": "iobj",
}
_SHARED = ("nsubj", "nsubjpass")  # what later verbs of a coordination take over from the first


def collapsed(doc: Doc, wanted: Mask | None = None, table: Table | None = None) -> list[Triple]:
    """The dependencies of a parsed Doc as (governor, dependent, type), a graph and no tree.

    A preposition with its object becomes one dependency ``prep_<word>`` (``prepc_<word>`` before
    a clause, ``agent`` for the by of a passive). Conjuncts all hang on the first one by
    ``conj_<word>``, take over its governor, and verbs among them its subject. Labels are those of
    spaCy's English parsers; others stay as they are. Where only the sentences of some tokens are
    ``wanted``, others are not looked at; ``table`` has heads and labels to read in their place.
    """
    tree = _Tree.of(doc, wanted, table)
    own = [triple for token in tree.tokens if (triple := _own(tree, token))]
    joined = [triple for token in sorted(tree.joined) for triple in _conjuncts(tree, token)]
    governed = {triple[1]: triple for triple in own}
    taken = [
        (governed[first][0], conjunct, governed[first][2])
        for first, conjunct, _ in joined
        if first in governed and governed[first][0] != conjunct
    ]
    found = [*own, *joined, *taken, *_subjects(tree, own, joined)]
    return sorted(dict.fromkeys(found), key=lambda triple: (triple[1], triple[0]))


@dataclass(frozen=True, eq=False)
class _Tree:
    """The parse of a Doc as lists: asking each token for its head and children takes far longer."""

    doc: Doc
    tokens: list[int]  # those to look at
    heads: list[int]
    labels: list[str]
    children: dict[int, list[int]]  # conjuncts and what joins them, in the order of the text
    objects: frozenset[int]  # tokens with an object of a preposition
    joined: frozenset[int]  # tokens with a conjunct

    @classmethod
    def of(cls, doc: Doc, wanted: Mask | None = None, table: Table | None = None) -> _Tree:
        table = np.asarray(doc.to_array(["HEAD", "DEP"])) if table is None else table[:, 2:]
        heads = table[:, 0].astype(np.int64) + np.arange(len(doc))  # counted from the token
        if wanted is None or (wanted[heads] != wanted).any():  # arcs lead out of sentences
            tokens = np.arange(len(doc))
        else:
            tokens = np.flatnonzero(wanted)
        codes, number = np.unique(table[:, 1], return_inverse=True)
        words = [doc.vocab.strings[code] for code in codes.tolist()]
        below = tokens[heads[tokens] != tokens]
        kinds = [words[n] for n in number[below].tolist()]
        children: dict[int, list[int]] = {}
        objects, joined = set(), set()
        for token, head, label in zip(below.tolist(), heads[below].tolist(), kinds, strict=True):
            if label in ("pobj", "pcomp"):
                objects.add(head)
            elif label in ("conj", "cc"):
                children.setdefault(head, []).append(token)
                if label == "conj":
                    joined.add(head)
        labels = [words[n] for n in number.tolist()]
        return cls(
            doc, tokens.tolist(), heads.tolist(), labels, children, frozenset(objects),
            frozenset(joined),
        )  # fmt: skip


def _own(tree: _Tree, token: int) -> Triple | None:
    """The dependency of a token on its governor, past a preposition; none for a conjunct."""
    head, label = tree.heads[token], tree.labels[token]
    if head == token or label == "conj":
        return None
    if label in ("pobj", "pcomp") and tree.labels[head] in ("prep", "agent", "dative"):
        return tree.heads[head], token, _past(tree, head, label)
    if label in ("prep", "agent") and token in tree.objects:
        return None
    return head, token, _RENAMED.get(label, label)


def _past(tree: _Tree, preposition: int, object_: str) -> str:
    if tree.labels[preposition] == "agent":
        return "agent"
    word = tree.doc[preposition].lower_
    return f"{'prepc' if object_ == 'pcomp' else 'prep'}_{word}"


def _conjuncts(tree: _Tree, token: int) -> list[Triple]:
    """The conjuncts of a first conjunct, each with the word that joins them."""
    if tree.labels[token] == "conj" or token not in tree.joined:
        return []
    members, at = [token], 0
    while at < len(members):
        below = tree.children.get(members[at], ())
        members += [child for child in below if tree.labels[child] == "conj"]
        at += 1
    joining = (child for m in members for child in tree.children.get(m, ()))
    first = next((child for child in joining if tree.labels[child] == "cc"), None)
    kind = f"conj_{'and' if first is None else tree.doc[first].lower_}"
    return [(token, member, kind) for member in members[1:]]


def _subjects(tree: _Tree, own: list[Triple], joined: list[Triple]) -> Iterator[Triple]:
    having: dict[int, list[Triple]] = {}
    for triple in own:
        if triple[2] in _SHARED:
            having.setdefault(triple[0], []).append(triple)
    for first, conjunct, _ in joined:
        if conjunct in having or not tree.doc[conjunct].tag_.startswith("VB"):
            continue
        for _, dependent, kind in having.get(first, ()):
            yield conjunct, dependent, kind
