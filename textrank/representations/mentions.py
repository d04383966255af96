"""Features of a mention itself and of the words that relate to it.

``Mention`` describes the words of a span, ``SyntacticContext`` the words around it by their
relation to it, ``Facts`` what a task noted about a candidate and ``Question`` what a candidate
asks. ``NameCore`` and ``SharedRepresentation`` wrap another representation, ``Views`` combines
several under names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, compress, count, pairwise
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from spacy.attrs import LOWER
from spacy.tokens import Doc, Span

from textrank._ragged import lengths
from textrank.candidates import Candidate, FactRow, sentence_starts, span_tokens
from textrank.features import FeatureNames, Features, Indices, MultiView, RawCSR, SharedRows
from textrank.progress import track
from textrank.protocols import FastRepresentation, Representation, fast_represent
from textrank.representations.contexts import stem, target_span

__all__ = ["binary_features"]

T = TypeVar("T", bound=Hashable)


def binary_features(rows: Iterable[Iterable[T]]) -> tuple[RawCSR, list[T]]:
    """Return a sparse 0/1 matrix of the keys of each row, and the keys in order of appearance.

    The matrix has a row per row and a column per key; the columns of each row are sorted. A row
    must not repeat a key. Rows may be an iterator; they are read one at a time.

    >>> cells, keys = binary_features([["a", "b"], ["c", "a"]])
    >>> cells.to_scipy().toarray().tolist(), keys
    ([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]], ['a', 'b', 'c'])
    """
    columns: defaultdict[T, int] = defaultdict(count().__next__)
    columns_of: list[int] = []
    ends = [0]
    for row in rows:
        columns_of.extend(map(columns.__getitem__, row))
        ends.append(len(columns_of))
    indptr = np.array(ends, dtype=np.int32)
    before = np.arange(len(ends) - 1).repeat(lengths(indptr)) * len(columns)
    cells = np.array(columns_of, dtype=np.intp) + before
    cells.sort()  # the columns of each row in order
    shape = len(ends) - 1, len(columns)
    return RawCSR(np.ones(len(cells)), (cells - before).astype(np.int32), indptr, shape), list(
        columns
    )


Name = tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """Question of each candidate, such as "DNA" or "type: binding": see ``Candidate.label_key``."""

    focus: int = 0  # has no effect; kept because saved models have it

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[str]:
        """Return the question of each candidate as a string, in order."""
        return [candidate.label_key for candidate in candidates]


@dataclass(frozen=True)
class Mention:
    """Features of the words of a span: whole text, words, word pairs, letters, shape and length.

    The last word is a feature of its own, since it is the head of most English names. Letters are
    the character n-grams of ``shortest`` to ``longest`` letters, with marked ends. ``focus`` is the
    index of the span.
    """

    shortest: int = 2
    longest: int = 5
    focus: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError unless ``1 <= shortest <= longest`` (lengths of n-grams)."""
        if not 1 <= self.shortest <= self.longest:
            raise ValueError(
                f"n-gram lengths must satisfy 1 <= shortest <= longest, got {self.shortest} and "
                f"{self.longest}"
            )

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        """Return binary features of each candidate's span, one row each, in order.

        Columns are in order of first appearance. Names begin with the kind: whole, last, length (at
        most 6), shape, word, pair or letters; all but shape are lower case.
        """
        rows: dict[tuple[str, ...], int] = {}
        row_of: list[int] = []
        for candidate in track(candidates, "names", len(candidates)):
            span = target_span(candidate, self.focus)
            words = tuple(span.doc[i].text for i in span_tokens(span))
            row_of.append(rows.setdefault(words, len(rows)))
        cells, keys = binary_features(self._feature_keys(words) for words in rows)
        names = FeatureNames.from_iterable(
            ("letters", key) if isinstance(key, str) else key for key in keys
        )
        features = Features(cells, names)
        return (
            features if len(rows) == len(row_of) else features.rows(np.array(row_of, dtype=np.intp))
        )

    def _feature_keys(self, words: Sequence[str]) -> dict[str | Name, None]:
        """Return the features of some words: names as tuples, letter n-grams as plain strings.

        The keys of the dictionary are the features, each once, in order; the values are None.
        ``words`` must not be empty. N-grams are of the words joined by blanks between "<" and ">".
        """
        lower = [word.lower() for word in words]
        whole = " ".join(lower)
        keys: list[str | Name] = [
            ("whole", whole),
            ("last", lower[-1]),
            ("length", str(min(len(words), 6))),
            ("shape", word_shape(" ".join(words))),
            *(("word", word) for word in lower),
            *(("pair", *pair) for pair in pairwise(lower)),
        ]
        text = f"<{whole}>"
        for n in range(self.shortest, self.longest + 1):
            keys += [text[i : i + n] for i in range(len(text) - n + 1)]
        return dict.fromkeys(keys)


def word_shape(text: str) -> str:
    """Return capitals as A, other letters as a, digits as 0, each run reduced to one.

    >>> word_shape("NF-kappaB p65")
    'A-aA a0'
    """
    return re.sub(r"(.)\1+", r"\1", "".join([_letter_class(letter) for letter in text]))


@lru_cache(maxsize=1 << 10)
def _letter_class(letter: str) -> str:
    """Return "0" for a digit, "A" for a capital, "a" for another letter; others unchanged."""
    if letter.isdecimal():
        return "0"
    return letter if not letter.isalnum() else "A" if letter.isupper() else "a"


_KIND_WORDS = """
gene genes oncogene oncogenes proto-oncogene proto-oncogenes pseudogene locus loci allele alleles
promoter promoters enhancer enhancers silencer exon exons intron introns codon cdna cdnas dna region
regions element elements site sites sequence sequences motif motifs fragment fragments segment
construct constructs plasmid plasmids vector vectors cluster clone clones probe reporter genotype
haplotype polymorphism polymorphisms mutation mutations variant variants rna rnas mrna mrnas
pre-mrna messenger message messages transcript transcripts utr protein proteins polypeptide
polypeptides peptide peptides molecule molecules product products isoform isoforms
"""
KIND_WORDS = frozenset(_KIND_WORDS.split())
LINK_WORDS = frozenset(("of", "for", "to", "encoding", "in", "from", "the"))


@dataclass(frozen=True)
class SharedRepresentation:
    """Representation computed once for all candidates with the same spans.

    Several candidates may ask different questions about the same words.
    """

    representation: Representation[Any]

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        """Return one representation per candidate, in order; shared ones are repeated."""
        return self.shared(candidates).expand()

    def shared(self, candidates: Sequence[Candidate]) -> SharedRows:
        """Return the distinct representations with the index of each candidate's.

        They are in order of first appearance, computed from the first candidate with those spans.
        """
        first, index = group_by_spans(candidates)
        return SharedRows(self.representation(first), index)

    def represent_fast(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        """Return the fast form of the wrapped representation, one per candidate.

        Nothing is shared: candidates should have distinct spans.
        """
        return fast_represent(self.representation, candidates)


def group_by_spans(candidates: Sequence[Candidate]) -> tuple[list[Candidate], Indices]:
    """Return the first candidate of each distinct set of spans, and each candidate's index there.

    The index has shape (n,). Spans are the same if Doc (by identity), bounds and span ids are, in
    the same order; what the candidates ask does not matter.
    """
    row_of_key: dict[tuple[Any, ...], int] = {}
    first: list[Candidate] = []
    index: list[int] = []
    for number, candidate in enumerate(candidates):
        if number and candidate.spans is candidates[number - 1].spans:
            index.append(index[-1])
            continue
        span_key = tuple((span.start, span.end, span.id) for span in candidate.spans)
        index.append(row_of_key.setdefault((id(candidate.doc), *span_key), len(row_of_key)))
        if index[-1] == len(first):
            first.append(candidate)
    return first, np.array(index, dtype=np.intp)


@dataclass(frozen=True)
class NameCore:
    """Representation of the core of each name: "IL-2 gene" and "IL-2" before "gene" are alike.

    Recognisers disagree whether a word such as "gene" belongs to a name. Here it is context in both
    cases: the inner representation sees candidates whose span ``focus`` is reduced to its core.
    """

    representation: Representation[Any]
    focus: int = 0

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        """Return the representation of each candidate with its reduced span, in order.

        The candidates themselves are left unchanged.
        """
        return self.representation([self._with_core(candidate) for candidate in candidates])

    def _with_core(self, candidate: Candidate) -> Candidate:
        """Return the candidate with its span reduced to the core; itself if nothing changes.

        The reduced span keeps label and id, but not ``kb_id``.
        """
        span = target_span(candidate, self.focus)
        start, end = find_core(span)
        if (start, end) == (span.start, span.end):
            return candidate
        spans = list(candidate.spans)
        spans[self.focus] = Span(span.doc, start, end, label=span.label, span_id=span.id)
        return replace(candidate, spans=tuple(spans))


def find_core(span: Span) -> tuple[int, int]:
    """Return first token and end of a name without kind words ("gene", "promoter") at its ends.

    Both are token indices of the Doc, the end excluded. Kind words (KIND_WORDS) at the beginning
    are only left out if a link word follows, as "of" does in "exon 3 of the X". Returns the whole
    span if it has nothing else, or is discontinuous. The span must not be empty.

    >>> import spacy
    >>> doc = spacy.blank("en")("exon 3 of the BRCA1 gene promoter")
    >>> find_core(doc[:]), find_core(doc[5:])
    ((4, 5), (5, 7))
    """
    first, last = span[0].lower_, span[-1].lower_
    if not {first, last} & KIND_WORDS or len(span_tokens(span)) != len(span):
        return span.start, span.end
    words = [token.lower_ for token in span]
    start, end = _name_start(words), len(words)
    while end > start and words[end - 1] in KIND_WORDS:
        end -= 1
    if end <= start or not any(word.isalnum() or len(word) > 1 for word in words[start:end]):
        return span.start, span.end
    return span.start + start, span.start + end


def _name_start(words: Sequence[str]) -> int:
    """Return the index in ``words`` at which a name begins after a kind, a number and a link.

    An example is "exon 3 of the X". 0 if the words, in lower case, do not begin like this.
    """
    index = 0
    while index < len(words) and words[index] in KIND_WORDS:
        index += 1
    if not index:
        return 0
    linked = index
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
    """Binary features of the words around a name by their relation to it.

    Other names in the same list, and brackets, are skipped: in "IL-2 (T-cell growth
    factor) and IL-4 genes" both are followed by "genes". Words are stemmed.

    - ``after``: a word that the name may modify ("X mRNA levels"), the nearest also on its own
    - ``before``: a word that may modify it ("purified recombinant X")
    - ``hangs on``: the noun before the preposition ("exon 3 of the human X"), and the noun that
      this one depends on in turn
    - ``is``: what it is said to be ("X is a transmembrane receptor", "X, a kinase")
    - ``does``: the words of the rest of the clause, without position

    Parameters
    ----------
    entities
        Span group of the Doc with the names that may be listed.
    focus
        Index of the candidate's span.
    """

    entities: str = "entities"
    focus: int = 0

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        """Return binary features of each candidate, one row each, in order.

        Columns are in order of first appearance. Names begin with after, before, hangs on, is or
        does.
        """
        cells, names = binary_features(self._feature_rows(candidates))
        return Features(cells, FeatureNames.from_iterable(names))

    def _feature_rows(self, candidates: Sequence[Candidate]) -> Iterator[dict[Name, None]]:
        """Yield the features of each candidate, in order, each feature once.

        They are the keys of a dictionary, whose values are None. Each Doc is read once.
        """
        texts: dict[int, _Text] = {}
        for candidate in candidates:
            span = target_span(candidate, self.focus)
            text = texts.get(id(span.doc))
            if text is None:
                text = texts[id(span.doc)] = _Text.from_doc(span.doc, self.entities)
            yield dict.fromkeys(text.features(span.start, span.end))


@dataclass(frozen=True, eq=False)
class _Text:
    """Lower-case words of a Doc, with sentence bounds and names.

    Positions are token indices of the Doc. ``low`` is the first token of a sentence, ``high`` its
    end (excluded); methods that read to the right take a position at which they begin, those that
    read to the left a position before which they begin. Caches are filled by use.
    """

    words: list[str]
    low: list[int]  # first token of each token's sentence
    high: list[int]  # end of each token's sentence
    ends: dict[int, int]  # end of a name by its first token
    starts: dict[int, int]  # first token of a name by its end
    # End of a list by a position in it and the bound of its sentence. Without this cache every name
    # of a long list would walk to its end.
    right: dict[tuple[int, int], int] = field(default_factory=dict)
    left: dict[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def from_doc(cls, doc: Doc, entities: str) -> _Text:
        """Read the lower-case words of a Doc, its sentences and its names.

        ``entities`` is the span group of names, which may be missing. Of names with the same first
        token, or the same end, the last of the group counts.
        """
        strings = doc.vocab.strings
        words = [strings[orth] for orth in doc.to_array([LOWER]).tolist()]
        begins = sentence_starts(doc)
        sizes = np.diff(begins)
        spans = list(doc.spans[entities]) if entities in doc.spans else []
        return cls(
            words,
            np.repeat(begins[:-1], sizes).tolist(),
            np.repeat(begins[1:], sizes).tolist(),
            {span.start: span.end for span in spans},
            {span.end: span.start for span in spans},
        )

    def features(self, start: int, end: int) -> list[Name]:
        """Return the features of the name at tokens ``start ... end - 1``; they may repeat.

        The sentences of its first and last token bound what is read. After, before, hangs on and is
        skip brackets and listed names next to the name; "does after" goes on from there to the end
        of the clause, "does before" has the MAX_CLAUSE_WORDS words just before the name. The range
        must not be empty.
        """
        low, high = self.low[start], self.high[end - 1]
        right = self._skip_right(end, high)
        return [
            *self._modified_words(right, high),
            *self._definition(right, high),
            *self._modifiers(self._skip_left(start, low), low),
            *[("does", "after", stem(word)) for word in self._clause_words(right, high)],
            *[
                ("does", "before", stem(word))
                for word in self.words[max(low, start - MAX_CLAUSE_WORDS) : start]
            ],
        ]

    def _skip_right(self, index: int, high: int) -> int:
        """Return the position, from ``index`` on, after brackets and names listed with this one.

        ``index`` itself if there are none. Updates the cache ``right``.
        """
        return _follow(self._step_right, index, high, self.right)

    def _step_right(self, index: int, high: int) -> int:
        """Return the position after one bracket or listed name that begins at ``index``.

        ``index`` itself if there is none. A closing round bracket alone is skipped too, since the
        name may be inside it. A listed name follows conjunctions or commas.
        """
        if index >= high:
            return index
        word = self.words[index]
        if word == ")":
            return index + 1
        if word in ("(", "[") and (close := self._after_bracket(index, high)):
            return close
        if word in CONJUNCTIONS and (listed := self._after_listed(index, high)):
            return listed
        return index

    def _after_bracket(self, index: int, high: int) -> int:
        """Return the position after the bracket that closes the one at ``index``.

        0 if none is within MAX_CLAUSE_WORDS. Nested brackets are not matched: the first one counts.
        """
        for i in range(index + 1, min(high, index + MAX_CLAUSE_WORDS)):
            if self.words[i] in (")", "]"):
                return i + 1
        return 0

    def _after_listed(self, index: int, high: int) -> int:
        """Return the end of the name that follows conjunctions at ``index``; 0 if there is none.

        There may be no conjunction. The name must begin right after them.
        """
        while index < high and self.words[index] in CONJUNCTIONS:
            index += 1
        return self.ends.get(index, 0)

    def _skip_left(self, index: int, low: int) -> int:
        """Return the position before which the text continues to the left of ``index``.

        Opening brackets and names listed before this one are skipped. ``index`` itself if there are
        none. Updates the cache ``left``.
        """
        return _follow(self._step_left, index, low, self.left)

    def _step_left(self, index: int, low: int) -> int:
        """Return the position before one opening bracket or listed name that ends at ``index``.

        A name directly before the bracket is skipped with it. ``index`` itself if there is none.
        """
        if index <= low:
            return index
        if self.words[index - 1] in ("(", "["):
            return self.starts.get(index - 1, index - 1)
        start = index
        while start > low and self.words[start - 1] in CONJUNCTIONS:
            start -= 1
        return index if start == index else self.starts.get(start, index)

    def _modified_words(self, index: int, high: int) -> list[Name]:
        """Return the ``after`` features: of up to MAX_WORDS_AFTER words from ``index`` on.

        "first" is the next word ("" at the sentence end), "some" each word of the noun phrase,
        "two" each two neighbours in it, or a preposition at ``index`` and its noun. A possessive
        "'s" is skipped.
        """
        if index < high and self.words[index] in ("'s", "'"):
            index += 1
        words = self._phrase_words(index, min(high, index + MAX_WORDS_AFTER))
        stems = [stem(word) for word in words]
        features: list[Name] = [("after", "first", stem(self.words[index]) if index < high else "")]
        features += [("after", "some", first) for first in stems]
        features += [("after", "two", first, second) for first, second in pairwise(stems)]
        if not words and index < high and self.words[index] in PREPOSITIONS:
            features.append(
                ("after", "two", self.words[index], stem(self._head_noun(index + 1, high)))
            )
        return features

    def _head_noun(self, index: int, high: int) -> str:
        """Return the last word of the noun phrase that begins at ``index``; "" if there is none.

        At most five words are read; articles do not count.
        """
        words = [w for w in self._phrase_words(index, min(high, index + 5)) if w not in ARTICLES]
        return words[-1] if words else ""

    def _phrase_words(self, index: int, high: int) -> list[str]:
        """Return the words from ``index`` up to one that certainly ends a noun phrase.

        Such are PHRASE_ENDS_FORWARD and tokens that do not begin with a letter or digit. ``high``
        is the position at which reading stops in any case.
        """
        words: list[str] = []
        for word in self.words[index:high]:
            if word in PHRASE_ENDS_FORWARD or not word[0].isalnum():
                break
            words.append(word)
        return words

    def _modifiers(self, index: int, low: int) -> list[Name]:
        """Return the ``before`` and ``hangs on`` features of the words to the left of ``index``.

        "first" of ``before`` is the nearest word ("" at the start of the sentence), "some" each
        word of the noun phrase that ends at ``index``. "first" and "second" of ``hangs on`` are the
        noun before the nearest preposition and the one before the next; "more" are the other words
        of such a noun's phrase. ``low`` is the start of the sentence. Only prepositions directly
        before the phrase count; articles and numerals are left out of the nouns. Words are stems,
        and the noun of ``hangs on`` is also given with its preposition.
        """
        features: list[Name] = [
            ("before", "first", stem(self.words[index - 1]) if index > low else "")
        ]
        index, words = self._phrase_backwards(index, low)
        features += [("before", "some", stem(word)) for word in words]
        for number in ("first", "second"):
            if index <= low or self.words[index - 1] not in PREPOSITIONS:
                break
            link = self.words[index - 1]
            index, phrase = self._phrase_backwards(index - 1, low)
            nouns = [stem(w) for w in phrase if w not in ARTICLES and not _is_numeral(w)]
            if not nouns:
                break
            features.append(("hangs on", number, nouns[0]))
            features.append(("hangs on", number, link, nouns[0]))
            features += [("hangs on", number, "more", noun) for noun in nouns[1:]]
        return features

    def _phrase_backwards(self, index: int, low: int) -> tuple[int, list[str]]:
        """Return where a noun phrase ending before ``index`` begins, and its words, nearest first.

        At most MAX_WORDS_BEFORE words, none if the word before ``index`` cannot be in the phrase.
        """
        words: list[str] = []
        while index > low and len(words) < MAX_WORDS_BEFORE:
            word = self.words[index - 1]
            if word in PHRASE_ENDS_BACKWARD or not word[0].isalnum():
                break
            words.append(word)
            index -= 1
        return index, words

    def _definition(self, index: int, high: int) -> list[Name]:
        """Return the ``is`` features: of what the name is said to be, after "is a" or ", a".

        Kind "a" are the words of the noun phrase after the article, at most six, kind "done" up to
        three words after a copula without one ("is expressed"). Empty if neither follows at
        ``index``.
        """
        if index + 1 >= high or self.words[index] not in APPOSITION_MARKS:
            return []
        if self.words[index + 1] in ("a", "an", "the", "one"):
            return [
                ("is", "a", stem(word))
                for word in self._phrase_words(index + 2, min(high, index + 8))
            ]
        following = self.words[index + 1 : min(high, index + 4)] if self.words[index] != "," else []
        return [("is", "done", stem(word)) for word in following]

    def _clause_words(self, index: int, high: int) -> list[str]:
        """Return the words from ``index`` to the end of the clause, at most ``MAX_CLAUSE_WORDS``.

        A full stop, semicolon or colon ends the clause and is not returned.
        """
        words: list[str] = []
        for word in self.words[index : min(high, index + MAX_CLAUSE_WORDS)]:
            if word in (".", ";", ":"):
                break
            words.append(word)
        return words


def _follow(
    step: Callable[[int, int], int], index: int, bound: int, cache: dict[tuple[int, int], int]
) -> int:
    """Return the position that repeated calls of ``step`` lead to from ``index``.

    ``step(index, bound)`` returns the next position, or ``index`` itself if there is nothing to
    skip, which ends the walk. ``cache`` maps (position, bound) to the end; it is used, and updated
    for all positions visited.
    """
    visited: list[int] = []
    while (index, bound) not in cache and (next_index := step(index, bound)) != index:
        visited.append(index)
        index = next_index
    end = cache.get((index, bound), index)
    cache.update(((start, bound), end) for start in visited)
    return end


def _is_numeral(word: str) -> bool:
    """Return whether a lower-case word is digits, a single character, or ii, iii, iv or vi."""
    return word.isdigit() or len(word) == 1 or word in ("ii", "iii", "iv", "vi")


@dataclass(frozen=True)
class Facts:
    """Facts that a task noted on each candidate (``Candidate.facts``), as named columns.

    Values of 0 are left out. Raises ValueError for a candidate without facts.
    """

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        """Return one row of facts per candidate, in order.

        Columns are the names that have a nonzero value anywhere, in order of first appearance; if
        all candidates have a ``FactRow`` with the same columns, all of these. Raises ValueError for
        a candidate whose ``facts`` are None.
        """
        rows = _fact_rows(candidates)
        if rows is not None:
            return rows
        row_index: dict[int, int] = {}  # candidates may share one dictionary of facts
        distinct: list[Mapping[str, float]] = []
        row_of = []
        for candidate in candidates:
            facts = candidate.facts
            if facts is None:
                raise ValueError(
                    f"a candidate of document {candidate.document!r} has no facts. Use a task "
                    "that provides them, such as identifiers."
                )
            row_of.append(row_index.setdefault(id(facts), len(row_index)))
            if row_of[-1] == len(distinct):
                distinct.append(facts)
        features = _fact_features(distinct)
        return (
            features
            if len(distinct) == len(row_of)
            else features.rows(np.array(row_of, dtype=np.intp))
        )


def _fact_rows(candidates: Sequence[Candidate]) -> Features | None:
    """Return the facts of candidates that all have a ``FactRow`` with the same columns; else None.

    The same columns are one tuple object. All columns are kept, in their order; values of 0 are not
    stored. None without candidates.
    """
    first = candidates[0].facts if candidates else None
    if not isinstance(first, FactRow):
        return None
    names = first.names
    rows = []
    for candidate in candidates:
        facts = candidate.facts
        if not isinstance(facts, FactRow) or facts.names is not names:
            return None
        rows.append(facts.values_array)
    values = sp.csr_array(np.asarray(rows, dtype=np.float64))
    return Features(values, _feature_names(names))


@lru_cache(maxsize=4)
def _feature_names(names: tuple[str, ...]) -> FeatureNames:
    """Return the feature names of a tuple of columns. Cached."""
    return FeatureNames.from_iterable(names)


def _fact_features(distinct: Sequence[Mapping[str, float]]) -> Features:
    """Return one row of Features per dictionary of facts (value by name), in order.

    A value of 0 is dropped: it is not stored, and a name whose values are all 0 has no column.
    Columns are in order of the first nonzero occurrence, reading one dictionary after another; a
    feature is named by the fact's name alone. An empty dictionary gives an empty row.
    """
    values = np.fromiter(chain.from_iterable(f.values() for f in distinct), dtype=np.float64)
    is_nonzero = values != 0
    names = list(compress(chain.from_iterable(distinct), is_nonzero.tolist()))
    columns = {name: column for column, name in enumerate(dict.fromkeys(names))}
    column_of = np.fromiter(map(columns.__getitem__, names), dtype=np.intp, count=len(names))
    ends = np.append(0, np.cumsum(is_nonzero))[np.cumsum([0, *map(len, distinct)])]
    shape = (len(distinct), len(columns))
    return Features(
        sp.csr_array((values[is_nonzero], column_of, ends), shape=shape),
        FeatureNames.from_iterable(columns),
    )


@dataclass(frozen=True)
class Views:
    """Several representations of each candidate by name, for kernels that use ``OnView``.

    ``representations`` maps the name of a view to its representation. ``Views({"graph":
    DependencyGraph(), "words": WordPositions()})`` goes with
    ``Sum([OnView("graph", AllPathsGraph()), OnView("words", Linear())])``.
    """

    representations: Mapping[str, Any]  # Any: a cfg is validated before the blocks inside are built

    def __post_init__(self) -> None:
        """Raise ValueError without views, or for one that is not a representation."""
        if not self.representations:
            raise ValueError("representations must name at least one view, got none")
        for name, part in self.representations.items():
            if not isinstance(part, Representation):
                raise ValueError(f"view {name!r}: {part!r:.60} is not a representation")

    def __call__(self, candidates: Sequence[Candidate]) -> MultiView:
        """Return all views of the candidates by name, in the order of ``representations``.

        Each view has one row per candidate, in order; that of a ``SharedRepresentation`` is a
        ``SharedRows``.
        """
        return MultiView(
            {
                name: _represent_view(represent, candidates)
                for name, represent in self.representations.items()
            }
        )

    def represent_fast(self, candidates: Sequence[Candidate]) -> MultiView:
        """Return all views; those with a fast form are computed once per distinct spans.

        Such a view is a ``SharedRows``: candidates with the same spans share a row. Other views are
        as in ``__call__``, but not shared.
        """
        first, index = group_by_spans(candidates)
        views = {
            name: SharedRows(self._fast_representations[name].represent_fast(first), index)
            if name in self._fast_representations
            else represent(candidates)
            for name, represent in self.representations.items()
        }
        return MultiView(views)

    @cached_property
    def _fast_representations(self) -> dict[str, FastRepresentation[Any]]:
        """Return ``representations`` that implement ``FastRepresentation``, by name, in order."""
        representations = self.representations
        return {
            name: represent
            for name, represent in representations.items()
            if isinstance(represent, FastRepresentation)
        }


def _represent_view(represent: Any, candidates: Sequence[Candidate]) -> Sequence[Any]:
    """Return one view, with one row per candidate.

    A ``SharedRepresentation`` returns its shared form, in which candidates may refer to the same
    row; any other representation is called as it is.
    """
    view: Sequence[Any] = (
        represent.shared(candidates)
        if isinstance(represent, SharedRepresentation)
        else represent(candidates)
    )
    return view
