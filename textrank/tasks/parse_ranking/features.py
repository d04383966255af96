"""Forest: the parses of many candidates as arrays, what they share told apart once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from itertools import combinations
from typing import Any, TypeAlias, cast, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, LEMMA, ORTH, TAG
from spacy.tokens import Doc, Span

from textrank._ragged import expand, factorize, offsets
from textrank.candidates import Candidate, compute_once
from textrank.features import FeatureNames, Features, Indices, MultiView, Vector
from textrank.graphs import GraphBatch, GraphFamily, Sequences
from textrank.progress import track
from textrank.representations.contexts import apply_form, validate_form
from textrank.tasks.ppi.pairs import Bag
from textrank.tasks.ppi.sentences import (
    Dependencies,
    LabelIndex,
    Parse,
    WordForm,
    check_choice,
    word_form,
)

Hashes: TypeAlias = NDArray[np.uint64]
NEAR = (4, 7, 12)  # distances are told apart up to the first, then up to each


@dataclass(frozen=True, eq=False)
class Arcs:
    """The distinct arcs of sentences: a word, its head, their label; a root is its own head."""

    word: Indices
    head: Indices
    label: Indices

    def __len__(self) -> int:
        return len(self.word)


@dataclass(frozen=True, eq=False)
class Forest:
    """The parses of candidates; each word of each parse has a place, parse after parse.

    Parses of a sentence that follow one another share its words, which are kept once, sentence
    after sentence. Tags and labels are numbers of ``strings``, which names may add theirs to.
    """

    begins: Indices  # (parses + 1,) the first place of each, and the end
    word: Indices  # (places,) the word that stands there
    head: Indices  # (places,) the place of its head
    label: Indices  # (places,)
    tag: Indices  # (words,)
    written: Hashes  # (words, 2): as it stands, and its lemma
    stores: Sequence[Any]  # what knows the strings of hashes
    strings: dict[str, int]

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Forest:
        """That of the parses of some candidates."""
        tables = [_table(candidate) for candidate in candidates]
        begins = offsets([len(table) for table in tables])
        sentences, first = _sentences(tables)
        whole = np.concatenate([_NOTHING, *tables])
        here = np.arange(len(whole))
        stores = list({id(c.doc.vocab): c.doc.vocab.strings for c in candidates}.values())
        strings: dict[str, int] = {}
        return cls(
            begins,
            here + np.repeat(first - begins[:-1], np.diff(begins)),
            here + whole[:, 3].astype(np.intp),
            _number(whole[:, 4], stores, strings),
            _number(sentences[:, 2], stores, strings),
            sentences[:, :2],
            stores,
            strings,
        )

    @cached_property
    def arcs(self) -> Arcs:
        """The arcs, each once however many parses of its sentence have it."""
        return self._arcs[0]

    @cached_property
    def arc(self) -> Indices:  # (places,)
        """The arc that leads to each place."""
        return self._arcs[1]

    @cached_property
    def _arcs(self) -> tuple[Arcs, Indices]:
        words, kinds = max(len(self.tag), 1), max(len(self.strings), 1)
        ends = self.word * words + self.word[self.head]
        known, number = factorize(ends * kinds + self.label)
        ends, label = np.divmod(known, kinds)
        return Arcs(*np.divmod(ends, words), label), number

    def number(self, string: str) -> int:
        """The number of a string, a new one where it has none yet."""
        return self.strings.setdefault(string, len(self.strings))

    def numbers(self, strings: Iterable[str]) -> Indices:
        """The same for several."""
        return np.array([self.number(string) for string in strings], dtype=np.intp)


_COLUMNS = [ORTH, LEMMA, TAG, HEAD, DEP]
_NOTHING = np.zeros((0, 5), dtype=np.uint64)


def _table(candidate: Candidate) -> Hashes:  # (words, 5)
    """Word, lemma, tag, steps to the head and label; asking every token takes far longer."""
    doc = candidate.doc
    if len(doc) and not doc.has_annotation("DEP"):
        raise ValueError(
            f"document {candidate.document!r} has no parse. Add a parser to the spaCy "
            "pipeline, or read a corpus with dependencies."
        )
    return compute_once(doc, "parse", lambda: cast(Hashes, doc.to_array(_COLUMNS).reshape(-1, 5)))


def _sentences(tables: Sequence[Hashes]) -> tuple[Hashes, Indices]:
    """The words of all sentences, and where the one of each parse begins among them."""
    found, first = [_NOTHING[:, :3]], []
    seen, start, end = None, 0, 0
    for table in tables:
        own = table[:, :3].tobytes()
        if own != seen:
            seen, start, end = own, end, end + len(table)
            found.append(table[:, :3])
        first.append(start)
    return np.concatenate(found), np.array(first, dtype=np.intp)


def _number(hashes: Hashes, stores: Sequence[Any], strings: dict[str, int]) -> Indices:
    """The numbers of the strings that these are the hashes of."""
    known, which = np.unique(hashes, return_inverse=True)
    found = [strings.setdefault(string, len(strings)) for string in spelt(known, stores)]
    return np.array(found, dtype=np.intp)[which]


def spelt(hashes: Hashes, stores: Sequence[Any]) -> list[str]:
    """The strings of hashes, each from the first store that knows it."""
    return [next(store[key] for store in stores if key in store) for key in hashes.tolist()]


def lengths(forest: Forest, steps: Indices) -> Indices:
    """How far and on which side of their heads words stand, see ``far``."""
    known, which = np.unique(steps, return_inverse=True)
    return forest.numbers(map(far, known.tolist()))[which]


def far(steps: int) -> str:
    """How far and on which side of its head a word stands; large distances are put together."""
    size = abs(steps)
    if size > NEAR[0]:
        size = next((most for most in NEAR[1:] if size <= most), 0)
    return ("+" if steps > 0 else "-") + (str(size) if size else "far")


@dataclass(eq=False)
class Parts:
    """What the parses of a forest are made of, such as arcs and arcs that meet, each with names.

    Parts are added a kind at a time; of each kind there is at most one at a place.
    """

    forest: Forest
    count: int = 0
    _at: list[Indices] = field(default_factory=list)  # of a kind, the part at each place; or -1
    _named: list[Indices] = field(default_factory=list)  # the parts that names are of
    _names: list[NDArray[np.int32]] = field(default_factory=list)

    def add(self, places: Indices, which: Indices, count: int) -> Indices:
        """Numbers of so many parts of a new kind, given which of them stands at some places."""
        at = np.full(len(self.forest.word), -1)
        at[places] = self.count + which
        self._at.append(at)
        self.count += count
        return np.arange(self.count - count, self.count)

    def name(self, parts: Indices, what: str, *words: Indices) -> None:
        """Gives each of some parts a name: what is said, then numbers of strings, -1 for none."""
        names = np.empty((len(parts), 1 + len(words)), dtype=np.int32)
        names[:, 0] = self.forest.number(what)
        for column, word in enumerate(words, start=1):
            names[:, column] = word
        self._named.append(parts)
        self._names.append(names)

    def counted(self) -> Features:
        """The names of the parts of each parse counted, over the root of its number of words."""
        names, columns = self._distinct()
        parts = np.concatenate(self._named)
        each = sp.csr_array((np.ones(len(parts)), (parts, columns)), (self.count + 1, len(names)))
        values = self._parses() @ each
        roots = np.sqrt(np.maximum(np.diff(self.forest.begins), 1))
        values.data /= np.repeat(roots, np.diff(values.indptr))
        return Features(values, names)

    def _distinct(self) -> tuple[FeatureNames, Indices]:
        wide = max(own.shape[1] for own in self._names)
        table = np.full((sum(map(len, self._names)), wide), -1, dtype=np.int32)
        end = 0
        for own in self._names:
            table[end : end + len(own), : own.shape[1]] = own
            end += len(own)
        return FeatureNames(tuple(self.forest.strings), table).unique()

    def _parses(self) -> sp.csr_array:  # (parses, parts + 1)
        """Which parts each parse has; the last stands for none."""
        at = np.stack(self._at, axis=1)
        at[at < 0] = self.count
        begins = self.forest.begins
        cells = (np.ones(at.size), at.ravel(), begins * at.shape[1])
        return sp.csr_array(cells, (len(begins) - 1, self.count + 1))


SUPPORT = ("own", "votes", "consensus", "attachment")
LEAST = 0.02  # a share of votes that stands for none, whose logarithm would be infinite


@dataclass(frozen=True)
class ParseSupport:
    """What ``doc.user_data["parse"]`` says of a parse, in numbers from 0 to 1 and a logarithm.

    ``own``: whether it is the first choice of the parser; ``votes``: the share of parsers that
    found it; ``consensus``: the share of its arcs that a parse drawn by the votes has too;
    ``attachment``: the same without labels; ``doubt``: the mean logarithm of the votes for its
    arcs. Of each parser: votes, consensus and attachment among its copies. ``spanning``: whether it
    is the tree that most votes speak for, of all and of each parser.
    """

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        known = [known_parse(candidate) for candidate in candidates]
        alike: dict[tuple[int, ...], list[int]] = {}  # parses of as many words and parsers
        for i, own in enumerate(known):
            alike.setdefault(np.shape(own["arcs"]), []).append(i)
        bags: dict[int, Bag] = {}
        for members in alike.values():
            some = [known[i] for i in members]
            bags.update(zip(members, map(_support, some, _means(some)), strict=True))
        return Features.from_dicts(bags[i] for i in range(len(known)))


def known_parse(candidate: Candidate) -> Mapping[str, Any]:
    """What is known of a parse beside its tree."""
    known = candidate.doc.user_data.get("parse")
    if known is None:
        raise ValueError(
            f"a candidate of document {candidate.document!r} is not one of several parses. "
            "Use this representation with the task that ranks parses."
        )
    return dict(known)


def _means(known: Sequence[Mapping[str, Any]]) -> list[tuple[float, list[float], list[float]]]:
    """Of each parse of some with as many words: doubt, consensus and attachment of each parser."""
    arcs, heads = (np.array([own[name] for own in known]) for name in ("arcs", "heads"))
    if not arcs.size:
        return [(0.0, [], [])] * len(known)
    doubt = np.log(np.maximum(arcs.mean(axis=2), LEAST)).mean(axis=1)  # (parses, words, parsers)
    each = (np.ascontiguousarray(t.transpose(0, 2, 1)).mean(axis=2).tolist() for t in (arcs, heads))
    return list(zip(doubt.tolist(), *each, strict=True))


def _support(
    known: Mapping[str, Any], means: tuple[float, Sequence[float], Sequence[float]]
) -> Bag:
    found: dict[tuple[str, ...], float] = {(name,): float(known[name]) for name in SUPPORT}
    doubt, *each = means
    if len(each[0]):
        found["doubt",] = doubt
        for number, own in enumerate(zip(known["by"], *each, strict=True), 1):
            votes, consensus, attachment = own
            found["votes", f"parser {number}"] = float(votes)
            found["consensus", f"parser {number}"] = consensus
            found["attachment", f"parser {number}"] = attachment
    for number, spans in enumerate(known["spans"]):
        found["spanning", f"parser {number}" if number else "all"] = float(spans)
    return found


LONG = 64  # words between the ends of an arc from which on they are not looked at one by one


@dataclass(frozen=True)
class ArcFeatures:
    """Counts of properties of the arcs of the Doc's tree, over the root of the number of words.

    Of an arc: its label; label with the tags of its ends, with its length, with the word of the
    dependent, of the head; both tags with the length; both words; each tag between its ends, with
    both tags and with the label. Of arcs that meet: labels of neighbouring dependents of a head;
    an arc with the one above it, by labels, tags and sides; an arc with the next one inside it on
    the same side, by labels and tags. Most tell the side on which the head stands. ``form`` is the
    form of words: "raw", "lower", "lemma", "porter" or "snowball".
    """

    form: str = "lower"

    def __post_init__(self) -> None:
        validate_form(self.form)

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        forest = Forest.of(list(track(candidates, "arcs", len(candidates))))
        parts = Parts(forest)
        looks = _Looks.of(forest, self.form)
        _tell_arcs(parts, looks)
        _tell_above(parts, looks)
        _tell_beside(parts, looks)
        _tell_dependents(parts)
        return parts.counted()


@dataclass(frozen=True, eq=False)
class _Looks:
    """What the distinct arcs of a forest look like, by numbers of strings; last that of no arc.

    The head of a root is no word: its tag is empty, and so is the side on which it stands.
    """

    at: Indices  # which arcs these are
    label: Indices
    tag: Indices
    above: Indices  # the tag of the head
    word: Indices
    head: Indices  # the word of the head
    length: Indices
    side: Indices

    @classmethod
    def of(cls, forest: Forest, form: str) -> _Looks:
        arcs, empty = forest.arcs, forest.number("")
        root = arcs.word == arcs.head
        words = _words(forest, form)
        side = np.where(arcs.word > arcs.head, forest.number("+"), forest.number("-"))
        columns = (
            arcs.label,
            forest.tag[arcs.word],
            np.where(root, empty, forest.tag[arcs.head]),
            words[arcs.word],
            words[arcs.head],
            lengths(forest, arcs.word - arcs.head),
            np.where(root, empty, side),
        )
        return cls(np.arange(len(arcs)), *(np.append(column, empty) for column in columns))

    def take(self, arcs: Indices) -> _Looks:
        """Those of some arcs; of no arc where the number is -1."""
        return _Looks(arcs, *(getattr(self, f.name)[arcs] for f in fields(self)[1:]))


def _words(forest: Forest, form: str) -> Indices:  # (words,)
    """The form of each word; distinct ones are looked at once."""
    orth, lemma = (np.unique(own, return_inverse=True) for own in forest.written.T)
    known, which = factorize(orth[1] * max(len(lemma[0]), 1) + lemma[1])
    texts, lemmas = (spelt(own[0], forest.stores) for own in (orth, lemma))
    pairs = zip(*(at.tolist() for at in np.divmod(known, max(len(lemmas), 1))), strict=True)
    return forest.numbers(apply_form(texts[i], lemmas[j], form) for i, j in pairs)[which]


def _tell_arcs(parts: Parts, looks: _Looks) -> None:
    arcs = parts.forest.arcs
    numbers = parts.add(np.arange(len(parts.forest.arc)), parts.forest.arc, len(arcs))
    own = looks.take(np.flatnonzero(arcs.word == arcs.head))
    parts.name(numbers[own.at], "root", own.tag)
    parts.name(numbers[own.at], "root word", own.word)
    own = looks.take(np.flatnonzero(arcs.word != arcs.head))
    name = partial(parts.name, numbers[own.at])
    name("label", own.label, own.side)
    name("label, tags", own.label, own.side, own.above, own.tag)
    name("label, length", own.label, own.length)
    name("tags, length", own.above, own.tag, own.length)
    name("label, dependent", own.label, own.word)
    name("label, head", own.label, own.head)
    name("words", own.head, own.word)
    start, end = np.minimum(arcs.word, arcs.head) + 1, np.maximum(arcs.word, arcs.head)
    arc, tag = _between(parts.forest.tag, start, end)
    own = looks.take(arc)
    parts.name(numbers[arc], "tags, between", own.above, own.tag, own.side, tag)
    parts.name(numbers[arc], "label, between", own.label, own.side, tag)


def _between(tags: Indices, start: Indices, end: Indices) -> tuple[Indices, Indices]:
    """The tags of stretches of words, each once a stretch: whose it is, and which.

    Of a long one by where each tag stands, for many arcs may be long.
    """
    size = np.maximum(end - start, 0)
    short, long = np.flatnonzero(size < LONG), np.flatnonzero(size >= LONG)
    owner, at = expand(start[short], size[short])
    kinds = int(tags.max(initial=0)) + 1
    known, _ = factorize(short[owner] * kinds + tags[at])
    found = [np.divmod(known, kinds)]
    for tag in np.unique(tags).tolist() if len(long) else ():
        places = np.flatnonzero(tags == tag)
        within = np.searchsorted(places, start[long]) < np.searchsorted(places, end[long])
        found.append((long[within], np.full(within.sum(), tag)))
    arc, tag = (np.concatenate(own) for own in zip(*found, strict=True))
    return arc, tag


def _meeting(
    parts: Parts, looks: _Looks, places: Indices, others: Indices
) -> tuple[Indices, _Looks, _Looks]:
    """New parts: arcs to some places, each with another one, or none where its place is -1."""
    arc, size = parts.forest.arc, len(parts.forest.arcs) + 1
    other = np.where(others < 0, -1, arc[others])
    known, which = factorize(arc[places] * size + other + 1)
    first, second = np.divmod(known, size)
    return parts.add(places, which, len(known)), looks.take(first), looks.take(second - 1)


def _tell_above(parts: Parts, looks: _Looks) -> None:
    """Names of an arc with the one above it."""
    head = parts.forest.head
    below = np.flatnonzero(head != np.arange(len(head)))
    numbers, low, high = _meeting(parts, looks, below, head[below])
    parts.name(numbers, "labels above", low.label, high.label)
    parts.name(numbers, "sides above", low.label, high.label, low.side, high.side)
    parts.name(numbers, "tags above", low.label, high.label, low.tag, low.above, high.above)


def _tell_beside(parts: Parts, looks: _Looks) -> None:
    """Names of neighbouring dependents of a head, and of each with the next one inside it."""
    head = parts.forest.head
    below = np.flatnonzero(head != np.arange(len(head)))
    order = below[np.argsort(head[below], kind="stable")]
    same = head[order[1:]] == head[order[:-1]]
    left, right = order[:-1][same], order[1:][same]
    numbers, one, two = _meeting(parts, looks, left, right)
    parts.name(numbers, "labels beside", one.above, one.label, two.label)
    inside = np.full(len(head), -1)
    after, before = left > head[left], right < head[right]  # both on one side of the head
    inside[right[after]], inside[left[before]] = left[after], right[before]
    numbers, own, inner = _meeting(parts, looks, below, inside[below])
    parts.name(numbers, "tags inside", own.above, own.tag, inner.tag, own.side)
    parts.name(numbers, "labels inside", own.above, own.label, inner.label, own.side)


def _tell_dependents(parts: Parts) -> None:
    """How many of them a head has."""
    forest = parts.forest
    below = forest.head[forest.head != np.arange(len(forest.head))]
    count = np.bincount(below, minlength=len(forest.head))
    heads = np.flatnonzero(count)
    size = int(count.max(initial=0)) + 1
    known, which = factorize(forest.tag[forest.word[heads]] * size + count[heads])
    tag, size_of = np.divmod(known, size)
    numbers = parts.add(heads, which, len(known))
    parts.name(numbers, "dependents", tag, forest.numbers(map(str, size_of.tolist())))


ROUNDING = 1e-5  # shares are sums of thirds and the like


@dataclass(frozen=True)
class ArcVotes:
    """Counts of the arcs of a parse by the votes for them, over the root of the number of words.

    An arc that most parses have is mostly right, but how often depends on what arc it is and on
    which parser speaks for it. Counted are shares of votes, in ``steps`` and none and all of them:
    of each parser for the arc, and for the head alone; of all of them with the label, with the tag
    of the dependent, with both tags, and with label and length.
    """

    steps: int = 4

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1, got {self.steps}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        forest = Forest.of(list(track(candidates, "votes", len(candidates))))
        known = [known_parse(candidate) for candidate in candidates]
        arcs, heads = (
            _shares([np.asarray(own[key]) for own in known]) for key in ("arcs", "heads")
        )
        parsers = (arcs >= 0).sum(axis=1, dtype=arcs.dtype)
        together = np.maximum(arcs, 0).sum(axis=1) / np.maximum(parsers, 1)
        steps = self._steps(np.column_stack([arcs, heads, together]))
        parts = Parts(forest)
        self._tell(parts, steps, arcs.shape[1])
        return parts.counted()

    def _tell(self, parts: Parts, steps: Indices, parsers: int) -> None:
        forest = parts.forest
        which = forest.arc
        for column in steps.T:
            which = factorize(which * (self.steps + 3) + column)[1]
        first = np.empty(int(which.max(initial=-1)) + 1, dtype=np.intp)
        first[which] = np.arange(len(which))  # any place of a part tells what it is
        numbers = parts.add(np.arange(len(which)), which, len(first))
        name = partial(parts.name, numbers)
        *each, all_votes = self._told(forest)[steps[first]].T
        label, tag, above, length = _looks(forest, first)
        name("votes", *each[:parsers])
        name("head's votes", *each[parsers:])
        name("label, votes", label, all_votes)
        name("tag, votes", tag, all_votes)
        name("tags, votes", above, tag, all_votes)
        name("label, length, votes", label, length, all_votes)

    def _steps(self, shares: Vector) -> Indices:
        """The step of each share: 0 where none is told, 1 for no votes, the last for all."""
        steps = np.minimum(np.floor(shares * self.steps), self.steps - 1) + 2
        steps[shares < ROUNDING] = 1
        steps[shares < 0] = 0
        steps[shares > 1 - ROUNDING] = self.steps + 2
        return steps.astype(np.intp)

    def _told(self, forest: Forest) -> Indices:
        """What each step is called."""
        words = ["none", *map(str, range(self.steps)), "all"]
        return np.append(-1, forest.numbers(words))


def _shares(tables: Sequence[Vector]) -> Vector:  # each (words, parsers)
    """Those of all parses, one below the other; -1 for parsers that one of them does not know."""
    wide = max(table.shape[1] for table in tables)
    missing = [((0, 0), (0, wide - table.shape[1])) for table in tables]
    each = zip(tables, missing, strict=True)
    return np.concatenate(
        [np.pad(own, more, constant_values=-1) if more[1][1] else own for own, more in each]
    )


def _looks(forest: Forest, places: Indices) -> tuple[Indices, Indices, Indices, Indices]:
    """Label, tag, tag of the head and length of the arcs to some places."""
    word, head = forest.word[places], forest.word[forest.head[places]]
    root = word == head
    label = np.where(root, forest.number("ROOT"), forest.label[places])
    above = np.where(root, forest.number(""), forest.tag[head])
    return label, forest.tag[word], above, lengths(forest, word - head)


TYPES = (
    "bigram",
    "word_tag",
    "link_type",
    "word_link",
    "link_length",
    "length_type",
    "link_bigram",
)
Link = tuple[int, int, str]  # left token, right token, type


@dataclass(frozen=True)
class ParseSequences:
    """Seven views of a parse, each the sequence of one type of feature in order of appearance.

    ``bigram``: two linked words; ``word_tag``: a word and its part of speech; ``link_type``;
    ``word_link``: a word and the type of each link it has; ``link_length``: words a link spans;
    ``length_type``: both; ``link_bigram``: two links that meet in a word, leftmost first. Features
    of links are ordered by their left, then their right word.

    The links are those of the candidate's sentence: given ones (``doc.user_data["dependencies"]``,
    such as a link grammar linkage) or those of the tree in the Doc. A kernel on all of them is
    ``EachView(LocalityConvolution())``; ``Sum`` and ``OnView`` give each type its own settings.

    Tsivtsivadze et al. (2009), Applied Intelligence 31:81-88.

    Parameters
    ----------
    types
        The views to make.
    form
        The form of words: "raw", "lower", "lemma", "porter" or "snowball".
    directed
        Whether the type of a link tells on which side its governor stands; the published features
        do not.
    """

    types: Sequence[str] = TYPES
    form: str = "lower"
    directed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", tuple(self.types))
        validate_form(self.form)
        unknown = [name for name in self.types if name not in TYPES]
        if unknown or not self.types:
            raise ValueError(f"types must be some of {TYPES}, got {self.types}")

    def __call__(self, candidates: Sequence[Candidate]) -> MultiView:
        sequences: dict[str, list[list[str]]] = {name: [] for name in self.types}
        for candidate in track(candidates, "parses", len(candidates)):
            parse = _Parse.of(candidate, self)
            for name in self.types:
                sequences[name].append(getattr(parse, name)())
        return MultiView({name: Sequences.from_lists(lists) for name, lists in sequences.items()})


@dataclass(frozen=True)
class _Parse:
    """Words, tags and links of one sentence."""

    words: list[str]
    tags: list[str]
    links: list[Link]

    @classmethod
    def of(cls, candidate: Candidate, settings: ParseSequences) -> _Parse:
        sentence = _sentence(candidate)
        words = [apply_form(token.text, token.lemma_, settings.form) for token in sentence]
        start = sentence.start
        links = []
        for governor, dependent, kind in _dependencies(candidate, sentence):
            left, right = sorted((governor - start, dependent - start))
            side = (">" if governor < dependent else "<") if settings.directed else ""
            links.append((left, right, kind + side))
        return cls(words, [token.tag_ for token in sentence], sorted(links))

    def bigram(self) -> list[str]:
        return [f"{self.words[left]} {self.words[right]}" for left, right, _ in self.links]

    def word_tag(self) -> list[str]:
        return [f"{word}/{tag}" for word, tag in zip(self.words, self.tags, strict=True)]

    def link_type(self) -> list[str]:
        return [kind for _, _, kind in self.links]

    def word_link(self) -> list[str]:
        return [
            f"{word} {kind}"
            for word, at in zip(self.words, self._at_words(), strict=True)
            for _, kind in at
        ]

    def link_length(self) -> list[str]:
        return [str(right - left) for left, right, _ in self.links]

    def length_type(self) -> list[str]:
        return [f"{right - left} {kind}" for left, right, kind in self.links]

    def link_bigram(self) -> list[str]:
        return [
            f"{first} {second}"
            for at in self._at_words()
            for (_, first), (_, second) in combinations(at, 2)
        ]

    def _at_words(self) -> list[list[tuple[int, str]]]:
        """The links of each word, leftmost other end first."""
        at: list[list[tuple[int, str]]] = [[] for _ in self.words]
        for left, right, kind in self.links:
            at[left].append((right, kind))
            at[right].append((left, kind))
        return [sorted(links) for links in at]


def _sentence(candidate: Candidate) -> Span:
    """The sentence of the candidate's span; the whole Doc for a parse without one."""
    doc = candidate.doc
    if candidate.spans and doc.has_annotation("SENT_START"):
        return candidate.spans[0].sent
    return doc[0 : len(doc)]


def _dependencies(candidate: Candidate, sentence: Span) -> list[tuple[int, int, str]]:
    """(governor, dependent, type) within the sentence; roots and self-loops link nothing."""
    doc: Doc = candidate.doc
    if "dependencies" in doc.user_data:
        given = [(g, d, kind) for g, d, kind in doc.user_data["dependencies"]]
    elif len(doc) == 0 or doc.has_annotation("DEP"):
        given = [(token.head.i, token.i, token.dep_) for token in sentence]
    else:
        raise ValueError(
            f"document {candidate.document!r} has no parse. Add a parser to the spaCy pipeline, "
            "or read a corpus with dependencies."
        )
    inside = range(sentence.start, sentence.end)
    return [(g, d, kind) for g, d, kind in given if g != d and g in inside and d in inside]


@dataclass(frozen=True, kw_only=True)
class ParseGraph:
    """The parse that a candidate's Doc carries, as a graph.

    A vertex per token and per dependency, and edges governor -> dependency -> dependent, all of
    ``weight``. A token that nothing governs hangs on a vertex of its own, labelled ``ROOT``.

    Parameters
    ----------
    labels
        What labels a token: ``"text"``, ``"pos"``, both or none of them.
    words
        The text as written (``"raw"``), ``"lower"``, ``"lemma"`` or ``"stem"``.
    parse
        Dependencies ``"given"`` with the corpus, of ``"spacy"``, or the former where there are any
        (``"auto"``); ``"collapsed"`` is auto with prepositions and coordinations of spaCy's joined,
        ``"own"`` the same with spaCy's parse preferred.
    drop
        Types of dependencies that are left out.
    """

    weight: float = 0.5
    labels: Sequence[str] = ("text", "pos")
    words: WordForm = "lower"
    parse: Parse = "auto"
    drop: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("labels", "drop"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not 0 <= self.weight < np.inf:
            raise ValueError(f"weight must be 0 or more, got {self.weight}")
        check_choice("labels", self.labels, ("text", "pos"))
        check_choice("words", [self.words], get_args(WordForm))
        check_choice("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> GraphBatch:
        """One graph a candidate."""
        words = LabelIndex()
        tracked = track(candidates, "parse graphs", len(candidates))
        families = [self._family(c, i, words) for i, c in enumerate(tracked)]
        return GraphBatch(tuple(words.ids), tuple(families), len(candidates))

    def _family(self, candidate: Candidate, index: int, words: LabelIndex) -> GraphFamily:
        doc = candidate.doc
        own, n = Dependencies.from_doc(doc, self.parse, self.drop), len(doc)
        edges = own.edges(n)
        roots = np.setdiff1d(np.arange(n), own.dependent)
        hung = np.column_stack([np.arange(len(roots)) + n + len(own), roots])

        labels = np.full((1, n + len(own) + len(roots), 2), -1, dtype=np.int32)
        if "text" in self.labels:
            forms = [word_form(token, self.words) for token in doc]
            labels[0, :n, 0] = words.prefixed_ids(forms, ("",))
        if "pos" in self.labels:
            tags = words.prefixed_ids([token.tag_ or token.pos_ for token in doc], ("",))[0]
            labels[0, :n, 1] = np.where(tags == labels[0, :n, 0], -1, tags)
        labels[0, n:, 0] = words.prefixed_ids([*own.types, *["ROOT"] * len(roots)], ("",))
        weights = np.full((1, len(edges) + len(hung)), self.weight)
        return GraphFamily(np.array([index]), np.vstack([edges, hung]), weights, labels)
