"""What a mention looks like."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, compress, count, pairwise
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from spacy.attrs import LOWER
from spacy.tokens import Doc, Span

from textrank._ragged import lengths
from textrank.candidates import Candidate, read_once, starts_of, tokens_of
from textrank.features import FeatureNames, Features, Indices, RawCSR, SharedRows
from textrank.progress import track
from textrank.protocols import Representation, fast_represent
from textrank.representations.contexts import stem

__all__ = ["binary_features"]

T = TypeVar("T", bound=Hashable)


def binary_features(rows: Iterable[Iterable[T]]) -> tuple[RawCSR, list[T]]:
    """A one for each thing of each row, things in the order in which they came; and the things.

    What a row has, it has once. Rows are looked at one by one, so that they need not all be held.

    >>> cells, things = binary_features([["a", "b"], ["c", "a"]])
    >>> cells.to_scipy().toarray().tolist(), things
    ([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]], ['a', 'b', 'c'])
    """
    columns: defaultdict[T, int] = defaultdict(count().__next__)
    numbers: list[int] = []
    ends = [0]
    for row in rows:
        numbers.extend(map(columns.__getitem__, row))
        ends.append(len(numbers))
    indptr = np.array(ends, dtype=np.int32)
    before = np.arange(len(ends) - 1).repeat(lengths(indptr)) * len(columns)
    cells = np.array(numbers, dtype=np.intp) + before
    cells.sort()  # the columns of each row in order
    shape = len(ends) - 1, len(columns)
    return RawCSR(np.ones(len(cells)), (cells - before).astype(np.int32), indptr, shape), list(
        columns
    )


Name = tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """What each candidate asks, such as "DNA" or "type: binding": see ``Candidate.asked``."""

    focus: int = 0  # of no effect; stands in saved models

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[str]:
        return [candidate.asked for candidate in candidates]


@dataclass(frozen=True)
class Mention:
    """How the judged words look: the whole, its words and word pairs, letters, shape and length.

    The last word is told apart, since it is the head of most English names. Letters are the
    character n-grams of ``shortest`` to ``longest``, ends marked.
    """

    shortest: int = 2
    longest: int = 5
    focus: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest:
            raise ValueError(
                f"n-gram lengths must satisfy 1 <= shortest <= longest, got {self.shortest} and "
                f"{self.longest}"
            )

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        rows: dict[tuple[str, ...], int] = {}
        at: list[int] = []
        for candidate in track(candidates, "names", len(candidates)):
            span = candidate.spans[self.focus]
            words = tuple(span.doc[i].text for i in tokens_of(span))
            at.append(rows.setdefault(words, len(rows)))
        cells, things = binary_features(self._look(words) for words in rows)
        named = FeatureNames.from_iterable(
            ("letters", t) if isinstance(t, str) else t for t in things
        )
        found = Features(cells, named)
        return found if len(rows) == len(at) else found.rows(np.array(at, dtype=np.intp))

    def _look(self, words: Sequence[str]) -> dict[str | Name, None]:
        """What some words look like: names of features, and plain runs of letters."""
        lower = [word.lower() for word in words]
        whole = " ".join(lower)
        found: list[str | Name] = [
            ("whole", whole),
            ("last", lower[-1]),
            ("length", str(min(len(words), 6))),
            ("shape", word_shape(" ".join(words))),
            *(("word", word) for word in lower),
            *(("pair", *two) for two in pairwise(lower)),
        ]
        text = f"<{whole}>"
        for n in range(self.shortest, self.longest + 1):
            found += [text[i : i + n] for i in range(len(text) - n + 1)]
        return dict.fromkeys(found)


def word_shape(text: str) -> str:
    """Capitals as A, other letters as a, digits as 0, each run once.

    >>> word_shape("NF-kappaB p65")
    'A-aA a0'
    """
    return re.sub(r"(.)\1+", r"\1", "".join([_kind(letter) for letter in text]))


@lru_cache(maxsize=1 << 10)
def _kind(letter: str) -> str:
    if letter.isdecimal():
        return "0"
    return letter if not letter.isalnum() else "A" if letter.isupper() else "a"


_KINDS = """
gene genes oncogene oncogenes proto-oncogene proto-oncogenes pseudogene locus loci allele alleles
promoter promoters enhancer enhancers silencer exon exons intron introns codon cdna cdnas dna region
regions element elements site sites sequence sequences motif motifs fragment fragments segment
construct constructs plasmid plasmids vector vectors cluster clone clones probe reporter genotype
haplotype polymorphism polymorphisms mutation mutations variant variants rna rnas mrna mrnas
pre-mrna messenger message messages transcript transcripts utr protein proteins polypeptide
polypeptides peptide peptides molecule molecules product products isoform isoforms
"""
KIND_WORDS = frozenset(_KINDS.split())
LINK_WORDS = frozenset(("of", "for", "to", "encoding", "in", "from", "the"))


@dataclass(frozen=True)
class SharedRepresentation:
    """A representation made once for all candidates of the same words, such as a question each."""

    representation: Representation[Any]

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        return self.shared(candidates).expand()

    def shared(self, candidates: Sequence[Candidate]) -> SharedRows:
        """The representation of each words, and which candidates have it."""
        first, at = group_by_spans(candidates)
        return SharedRows(self.representation(first), at)

    def represent_fast(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        """The representation of candidates whose words differ, see ``of_same_words``."""
        return fast_represent(self.representation, candidates)


def group_by_spans(candidates: Sequence[Candidate]) -> tuple[list[Candidate], Indices]:
    """The first candidate of each words, and for every candidate which of these has its words."""
    rows: dict[tuple[Any, ...], int] = {}
    first: list[Candidate] = []
    at: list[int] = []
    for number, candidate in enumerate(candidates):
        if number and candidate.spans is candidates[number - 1].spans:
            at.append(at[-1])
            continue
        places = tuple((span.start, span.end, span.id) for span in candidate.spans)
        at.append(rows.setdefault((id(candidate.doc), *places), len(rows)))
        if at[-1] == len(first):
            first.append(candidate)
    return first, np.array(at, dtype=np.intp)


@dataclass(frozen=True)
class NameCore:
    """A representation of the core of each name: "IL-2 gene" and "IL-2" before "gene" are alike.

    A recogniser takes such a word into a name or leaves it out; read so, it is context both times.
    ``representation`` is that of candidates with their span ``focus`` cut down to its core.
    """

    representation: Representation[Any]
    focus: int = 0

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        return self.representation([self._cut(candidate) for candidate in candidates])

    def _cut(self, candidate: Candidate) -> Candidate:
        span = candidate.spans[self.focus]
        start, end = find_core(span)
        if (start, end) == (span.start, span.end):
            return candidate
        spans = list(candidate.spans)
        spans[self.focus] = Span(span.doc, start, end, label=span.label, span_id=span.id)
        return replace(candidate, spans=tuple(spans))


def find_core(span: Span) -> tuple[int, int]:
    """First token and end of a name without words of a kind at its ends; all where only these are.

    >>> import spacy
    >>> doc = spacy.blank("en")("exon 3 of the BRCA1 gene promoter")
    >>> find_core(doc[:]), find_core(doc[5:])
    ((4, 5), (5, 7))
    """
    first, last = span[0].lower_, span[-1].lower_
    if not {first, last} & KIND_WORDS or len(tokens_of(span)) != len(span):
        return span.start, span.end
    words = [token.lower_ for token in span]
    start, end = _head(words), len(words)
    while end > start and words[end - 1] in KIND_WORDS:
        end -= 1
    if end <= start or not any(word.isalnum() or len(word) > 1 for word in words[start:end]):
        return span.start, span.end
    return span.start + start, span.start + end


def _head(words: Sequence[str]) -> int:
    """Where a name begins after a kind with a number and a link, as in "exon 3 of the"."""
    at = 0
    while at < len(words) and words[at] in KIND_WORDS:
        at += 1
    if not at:
        return 0
    linked = at
    while linked < len(words) and (words[linked] in LINK_WORDS or words[linked].isdigit()):
        linked += 1
    return linked if linked < len(words) and words[linked - 1] in LINK_WORDS else 0


_PREPOSITIONS = """
of for to in from by with at on into within against encoding encodes coding between containing
carrying lacking upstream downstream near as via through
"""
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
ARTICLES = frozenset(
    ("the", "a", "an", "this", "that", "these", "those", "its", "their", "both", "each", "no")
)
COPULAS = frozenset(("is", "was", "are", "were", "be"))
CONJUNCTIONS = frozenset((",", "and", "or", "/", "nor", "versus", "plus", "-"))
_ENDS = ". ; : ? ! which that whereas while because although but"
CLAUSE_ENDS = frozenset(_ENDS.split())
PHRASE_ENDS_BACKWARD = (
    PREPOSITIONS | COPULAS | CLAUSE_ENDS
)  # what ends a noun phrase, read backwards
PHRASE_ENDS_FORWARD = PHRASE_ENDS_BACKWARD | CONJUNCTIONS  # and forwards
APPOSITION_MARKS = COPULAS | {","}
MAX_WORDS_AFTER, MAX_WORDS_BEFORE = (
    4,
    5,
)  # words that are read on either side of a name or of what it hangs on
MAX_CLAUSE_WORDS = 12  # and those of the rest of the clause


@dataclass(frozen=True)
class SyntacticContext:
    """Binary features of the words around a name by what they are to it.

    Other names that it is listed with, and brackets, are passed over: in "IL-2 (T-cell growth
    factor) and IL-4 genes" both are followed by "genes". Words are stems.

    - ``after``: a word that the name may modify ("X mRNA levels"), the nearest one told apart
    - ``before``: a word that may modify it ("purified recombinant X")
    - ``hangs on``: the noun before the preposition ("exon 3 of the human X"), and the noun that
      this hangs on in turn
    - ``is``: what it is said to be ("X is a transmembrane receptor", "X, a kinase")
    - ``does``: the words of the rest of the clause, without place
    """

    entities: str = "entities"
    focus: int = 0

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        cells, names = binary_features(self._told(candidates))
        return Features(cells, FeatureNames.from_iterable(names))

    def _told(self, candidates: Sequence[Candidate]) -> Iterator[dict[Name, None]]:
        texts: dict[int, _Text] = {}
        for candidate in candidates:
            span = candidate.spans[self.focus]
            text = texts.get(id(span.doc))
            if text is None:
                text = texts[id(span.doc)] = self._read(span.doc)
            yield dict.fromkeys(text.around(span.start, span.end))

    def _read(self, doc: Doc) -> _Text:
        return read_once(doc, ("beside", self.entities), lambda: _Text.from_doc(doc, self.entities))


@dataclass(frozen=True, eq=False)
class _Text:
    """The words of a Doc, where its sentences end and which of them are names."""

    words: list[str]
    low: list[int]  # of each token, where its sentence begins
    high: list[int]  # and ends
    ends: dict[int, int]  # of names by their first token
    starts: dict[int, int]  # of names by the token after their last
    # Where a list was seen to end, by a place in it and the bound of its sentence: every name of
    # an endless list would else walk to its end.
    right: dict[tuple[int, int], int] = field(default_factory=dict)
    left: dict[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def from_doc(cls, doc: Doc, entities: str) -> _Text:
        strings = doc.vocab.strings
        words = [strings[orth] for orth in doc.to_array([LOWER]).tolist()]
        begins = starts_of(doc)
        sizes = np.diff(begins)
        spans = list(doc.spans[entities]) if entities in doc.spans else []
        return cls(
            words,
            np.repeat(begins[:-1], sizes).tolist(),
            np.repeat(begins[1:], sizes).tolist(),
            {span.start: span.end for span in spans},
            {span.end: span.start for span in spans},
        )

    def around(self, start: int, end: int) -> list[Name]:
        """The features of a name, which may repeat."""
        low, high = self.low[start], self.high[end - 1]
        right = self._right(end, high)
        return [
            *self._after(right, high),
            *self._said(right, high),
            *self._before(self._left(start, low), low),
            *[("does", "after", stem(word)) for word in self._clause(right, high)],
            *[
                ("does", "before", stem(word))
                for word in self.words[max(low, start - MAX_CLAUSE_WORDS) : start]
            ],
        ]

    def _right(self, at: int, high: int) -> int:
        """Where the text goes on after a bracket and after names that are listed with this one."""
        return _last(self._next, at, high, self.right)

    def _next(self, at: int, high: int) -> int:
        """One bracket or listed name on; the place itself where there is none."""
        if at >= high:
            return at
        word = self.words[at]
        if word == ")":
            return at + 1
        if word in ("(", "[") and (close := self._close(at, high)):
            return close
        if word in CONJUNCTIONS and (listed := self._listed(at, high)):
            return listed
        return at

    def _close(self, at: int, high: int) -> int:
        for i in range(at + 1, min(high, at + MAX_CLAUSE_WORDS)):
            if self.words[i] in (")", "]"):
                return i + 1
        return 0

    def _listed(self, at: int, high: int) -> int:
        while at < high and self.words[at] in CONJUNCTIONS:
            at += 1
        return self.ends.get(at, 0)

    def _left(self, at: int, low: int) -> int:
        """Where the text before ends, brackets and listed names passed over."""
        return _last(self._previous, at, low, self.left)

    def _previous(self, at: int, low: int) -> int:
        """One bracket or listed name back; the place itself where there is none."""
        if at <= low:
            return at
        if self.words[at - 1] in ("(", "["):
            return self.starts.get(at - 1, at - 1)
        before = at
        while before > low and self.words[before - 1] in CONJUNCTIONS:
            before -= 1
        return at if before == at else self.starts.get(before, at)

    def _after(self, at: int, high: int) -> list[Name]:
        if at < high and self.words[at] in ("'s", "'"):
            at += 1
        words = self._until(at, min(high, at + MAX_WORDS_AFTER))
        stems = [stem(word) for word in words]
        found: list[Name] = [("after", "first", stem(self.words[at]) if at < high else "")]
        found += [("after", "some", one) for one in stems]
        found += [("after", "two", one, two) for one, two in pairwise(stems)]
        if not words and at < high and self.words[at] in PREPOSITIONS:
            found.append(("after", "two", self.words[at], stem(self._noun(at + 1, high))))
        return found

    def _noun(self, at: int, high: int) -> str:
        words = [w for w in self._until(at, min(high, at + 5)) if w not in ARTICLES]
        return words[-1] if words else ""

    def _until(self, at: int, high: int) -> list[str]:
        """Words up to what surely ends a noun phrase."""
        found: list[str] = []
        for word in self.words[at:high]:
            if word in PHRASE_ENDS_FORWARD or not word[0].isalnum():
                break
            found.append(word)
        return found

    def _before(self, at: int, low: int) -> list[Name]:
        found: list[Name] = [("before", "first", stem(self.words[at - 1]) if at > low else "")]
        at, words = self._back(at, low)
        found += [("before", "some", stem(word)) for word in words]
        for number in ("first", "second"):
            if at <= low or self.words[at - 1] not in PREPOSITIONS:
                break
            link = self.words[at - 1]
            at, phrase = self._back(at - 1, low)
            nouns = [stem(w) for w in phrase if w not in ARTICLES and not _numeral(w)]
            if not nouns:
                break
            found.append(("hangs on", number, nouns[0]))
            found.append(("hangs on", number, link, nouns[0]))
            found += [("hangs on", number, "more", noun) for noun in nouns[1:]]
        return found

    def _back(self, at: int, low: int) -> tuple[int, list[str]]:
        """Words before a place as far as a noun phrase may reach, nearest first."""
        found: list[str] = []
        while at > low and len(found) < MAX_WORDS_BEFORE:
            word = self.words[at - 1]
            if word in PHRASE_ENDS_BACKWARD or not word[0].isalnum():
                break
            found.append(word)
            at -= 1
        return at, found

    def _said(self, at: int, high: int) -> list[Name]:
        """After "is a" or ", a" what it is."""
        if at + 1 >= high or self.words[at] not in APPOSITION_MARKS:
            return []
        if self.words[at + 1] in ("a", "an", "the", "one"):
            return [("is", "a", stem(word)) for word in self._until(at + 2, min(high, at + 8))]
        done = self.words[at + 1 : min(high, at + 4)] if self.words[at] != "," else []
        return [("is", "done", stem(word)) for word in done]

    def _clause(self, at: int, high: int) -> list[str]:
        found: list[str] = []
        for word in self.words[at : min(high, at + MAX_CLAUSE_WORDS)]:
            if word in (".", ";", ":"):
                break
            found.append(word)
        return found


def _last(
    step: Callable[[int, int], int], at: int, bound: int, known: dict[tuple[int, int], int]
) -> int:
    """Where steps lead that are taken until one leads nowhere; places on the way are noted."""
    passed: list[int] = []
    while (at, bound) not in known and (following := step(at, bound)) != at:
        passed.append(at)
        at = following
    end = known.get((at, bound), at)
    known.update(((place, bound), end) for place in passed)
    return end


def _numeral(word: str) -> bool:
    return word.isdigit() or len(word) == 1 or word in ("ii", "iii", "iv", "vi")


@dataclass(frozen=True)
class Facts:
    """The facts of candidates as columns with their names, each times the weight of its row.

    Facts that are zero are left out. A candidate without facts is an error.
    """

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        rows: dict[int, int] = {}  # a name may come many times, with the very same facts
        distinct: list[Mapping[str, float]] = []
        at = []
        for candidate in candidates:
            facts = candidate.facts
            if facts is None:
                raise ValueError(
                    f"a candidate of document {candidate.document!r} has no facts. Use a task "
                    "that notes them, such as identifiers."
                )
            at.append(rows.setdefault(id(facts), len(rows)))
            if at[-1] == len(distinct):
                distinct.append(facts)
        found = _features(distinct)
        return found if len(distinct) == len(at) else found.rows(np.array(at, dtype=np.intp))


def _features(distinct: Sequence[Mapping[str, float]]) -> Features:
    """A row for each of some facts."""
    values = np.fromiter(chain.from_iterable(f.values() for f in distinct), dtype=np.float64)
    some = values != 0
    names = list(compress(chain.from_iterable(distinct), some.tolist()))
    columns = {name: place for place, name in enumerate(dict.fromkeys(names))}
    places = np.fromiter(map(columns.__getitem__, names), dtype=np.intp, count=len(names))
    ends = np.append(0, np.cumsum(some))[np.cumsum([0, *map(len, distinct)])]
    shape = (len(distinct), len(columns))
    return Features(
        sp.csr_array((values[some], places, ends), shape=shape), FeatureNames.from_iterable(columns)
    )
