"""Analysed sentences: tokens, parts of speech, entities and dependencies that candidates share.

``analyze_sentences`` is the entry point. It groups candidates by sentence and yields one
``Sentence`` each, with the ``Dependencies`` of the chosen parse. Two steps improve spaCy's parse:

* ``repair_subjects`` reattaches subjects that the parser attached to the wrong verb;
* ``collapse_dependencies`` turns the tree into a graph with collapsed prepositions and propagated
  conjunctions, in the style of the Stanford dependencies that PPI corpora come with.

``stem``, ``word_form``, ``check_choice`` and ``LabelIndex`` are small helpers that all
representations of pairs and parses share.
"""

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

from textrank.candidates import Candidate, document_id
from textrank.candidates import span_tokens as tokens_of
from textrank.features import Indices, Matrix
from textrank.language.normalization import trim_to_words

WordForm: TypeAlias = Literal["raw", "lower", "lemma", "stem"]
Parse: TypeAlias = Literal["auto", "given", "spacy", "collapsed", "own"]
TokenTable: TypeAlias = NDArray[np.uint64]  # (tokens, 4) ORTH, TAG, HEAD, DEP of Doc.to_array
Mask: TypeAlias = NDArray[np.bool_]
_STEMMER = snowballstemmer.stemmer("english")


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Return the Snowball stem of the lower-cased word, with every run of digits replaced by 0.

    >>> stem("Interacting"), stem("p53")
    ('interact', 'p0')
    """
    return str(_STEMMER.stemWord(re.sub(r"\d+", "0", word.lower())))


def check_choice(name: str, values: Sequence[str], choices: Sequence[str]) -> None:
    """Raise ValueError if one of the values of the setting ``name`` is not among ``choices``.

    The message names the first such value. For a single value pass ``[value]``: a bare string would
    be checked letter by letter.
    """
    for value in values:
        if value not in choices:
            raise ValueError(
                f"{name}: {value!r} is not available; choose from {', '.join(choices)}"
            )


def word_form(token: Token, form: WordForm) -> str:
    """Return a form of a token's text: as written, in lower case, its lemma or its stem.

    ``form`` is ``"raw"``, ``"lower"``, ``"lemma"`` or ``"stem"`` (see ``stem``). The lemma of a
    token without one is its lower-cased text.
    """
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
    """Dependencies between tokens: governor, dependent and type, one entry per dependency.

    e is the number of dependencies. Tokens are indices into a Doc or, after ``within``, into a
    range of it. A token may depend on several others or on none. Dependencies are in the order of
    the parse.
    """

    governor: Indices  # (e,)
    dependent: Indices  # (e,)
    types: tuple[str, ...]

    @classmethod
    def from_doc(
        cls,
        doc: Doc,
        parse: Parse,
        drop: Sequence[str],
        wanted: Mask | None = None,
        table: TokenTable | None = None,
    ) -> Dependencies:
        """Return the dependencies of a Doc, in the order of the parse.

        Parameters
        ----------
        parse
            ``"given"``: the dependencies of the corpus (``doc.user_data["dependencies"]``).
            ``"spacy"``: the tree of spaCy's parser. ``"auto"``: given if present, else spaCy's
            tree. ``"collapsed"``: like auto, but spaCy's tree goes through
            ``collapse_dependencies``. ``"own"``: like collapsed, but spaCy's parse is preferred
            if the Doc has both.
        drop
            Dependency types to leave out.
        wanted
            Mask (tokens,) of the sentences that are needed; only used when a parse is collapsed.
            None means all.
        table
            Attributes of all tokens with repaired heads and labels, read instead of the Doc's own
            when a parse is collapsed.

        Raises
        ------
        ValueError
            If the Doc does not have the required parse.
        """
        has_corpus_parse, has_spacy_parse = (
            "dependencies" in doc.user_data,
            doc.has_annotation("DEP"),
        )
        if has_corpus_parse and parse != "spacy" and not (parse == "own" and has_spacy_parse):
            arcs = doc.user_data["dependencies"]
        elif has_spacy_parse and parse != "given":
            arcs = (
                collapse_dependencies(doc, wanted, table)
                if parse in ("collapsed", "own")
                else _spacy_arcs(doc)
            )
        else:
            raise ValueError(_missing_parse_message(doc, parse))
        triples = [(g, d, t) for g, d, t in arcs if t not in drop]
        ends = np.array([(g, d) for g, d, _ in triples], dtype=np.intp).reshape(-1, 2)
        return cls(ends[:, 0], ends[:, 1], tuple(t for _, _, t in triples))

    def __len__(self) -> int:
        """Return the number of dependencies."""
        return len(self.types)

    def edges(self, n: int) -> Indices:
        """Return (from, to) edges governor -> dependency -> dependent, shape (2 e, 2).

        Tokens are vertices 0 to ``n`` - 1, dependency k is vertex ``n`` + k; ``n`` is the number of
        tokens. The first e rows lead to dependencies, the others away from them.
        """
        vertex = np.arange(len(self)) + n
        return np.column_stack(
            [np.append(self.governor, vertex), np.append(vertex, self.dependent)]
        )

    def distances(self, n: int, sources: Indices | None = None) -> Matrix:
        """Return shortest path lengths along dependencies in either direction, shape (sources, n).

        ``n`` is the number of tokens. ``sources`` are token indices; None means all ``n`` tokens.
        The length is 0 from a source to itself and inf without a path. Uses a dense (n, n) matrix,
        so call it for a sentence (see ``within``) and not for a whole Doc.
        """
        sources = np.arange(n) if sources is None else sources
        linked = np.zeros((n, n), dtype=np.float32)
        linked[self.governor, self.dependent] = linked[self.dependent, self.governor] = 1
        steps = np.full((len(sources), n), np.inf)
        front = np.zeros((len(sources), n), dtype=bool)
        front[np.arange(len(sources)), sources] = True
        k = 0
        while front.any():
            steps[front] = k
            k += 1
            front = (front.astype(np.float32) @ linked > 0) & (steps == np.inf)
        return steps

    @cached_property
    def _by_dependent(self) -> tuple[Indices, Indices]:
        """Return the stable order that sorts by dependent, and the sorted dependents, both (e,).

        Cached for the binary search of ``within``.
        """
        order = np.argsort(self.dependent, kind="stable")
        return order, self.dependent[order]

    def within(self, start: int, end: int) -> Dependencies:
        """Return the dependencies with both tokens inside [``start``, ``end``), renumbered from 0.

        The order is kept; dependencies that cross the bounds are dropped. Takes a binary search,
        and time proportional to the number of dependencies inside.
        """
        order, dependents = self._by_dependent
        low, high = dependents.searchsorted((start, end))
        inside = np.sort(order[low:high])
        governor = self.governor[inside]
        inside = inside[(governor >= start) & (governor < end)]
        types = tuple(self.types[i] for i in inside.tolist())
        return Dependencies(self.governor[inside] - start, self.dependent[inside] - start, types)


def has_two_parses(doc: Doc) -> bool:
    """Return whether the Doc has both the corpus' dependencies and a parse by spaCy.

    The corpus' are ``doc.user_data["dependencies"]``, even if that list is empty.
    """
    return "dependencies" in doc.user_data and doc.has_annotation("DEP")


@dataclass(frozen=True)
class LabelIndex:
    """Mapping from labels to consecutive integers, in order of first occurrence.

    ``ids`` maps a label, with its prefix, to its integer. ``cache`` maps each tuple of prefixes to
    the ids of a label with each of these prefixes. Looking up a new label adds it to both, in
    place, although the dataclass is frozen.
    """

    ids: dict[str, int] = field(default_factory=dict)
    cache: dict[tuple[str, ...], dict[str, list[int]]] = field(default_factory=dict)

    def prefixed_ids(self, labels: Iterable[str], prefixes: tuple[str, ...]) -> NDArray[np.int32]:
        """Return the ids of ``prefix + label``, shape (prefixes, labels), dtype int32.

        ``prefixes`` must not be empty. New labels get the next free ids and are added to the index;
        a repeated label gets the same id again.
        """
        cached = self.cache.setdefault(prefixes, {})
        rows = [cached.get(label) or self._add(label, prefixes) for label in labels]
        return np.array(rows, dtype=np.int32).reshape(-1, len(prefixes)).T

    def _add(self, label: str, prefixes: tuple[str, ...]) -> list[int]:
        """Assign, cache and return the ids of one label with each prefix, in that order.

        If ``prefix + label`` already has an id, it keeps it. ``prefixes`` must be a key of
        ``cache``.
        """
        ids = [self.ids.setdefault(p + label, len(self.ids)) for p in prefixes]
        self.cache[prefixes][label] = ids
        return ids


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence with candidates: its tokens, dependencies and entities.

    If a candidate spans several sentences, these are one ``Sentence``. ``start`` and ``end`` are
    token indices of the Doc, ``end`` exclusive. Token indices in ``dependencies``, ``entities`` and
    ``mentions`` count from ``start``. ``attributes`` (tokens, 4) are ORTH, TAG, HEAD and DEP of the
    tokens. Iterating yields the tokens.
    """

    doc: Doc
    start: int
    end: int
    dependencies: Dependencies
    entities: Indices  # tokens of any entity
    candidate_indices: Indices  # positions in the list of candidates
    mentions: list[list[int]]  # tokens of each entity, in text order
    attributes: TokenTable  # an array is faster than tokens; heads are repaired if parse is "own"

    def __len__(self) -> int:
        """Return the number of tokens."""
        return self.end - self.start

    @cached_property
    def texts(self) -> list[str]:
        """Return the text of every token as written."""
        strings = self.doc.vocab.strings
        return [strings[orth] for orth in self.attributes[:, 0].tolist()]

    @cached_property
    def tags(self) -> list[str]:
        """Return the Penn tag of every token, or its coarse part of speech if it has no tag.

        A token without either has "".
        """
        strings, tags = self.doc.vocab.strings, self.attributes[:, 1]
        if not tags.all():
            return [token.tag_ or token.pos_ for token in self]
        return [strings[tag] for tag in tags.tolist()]

    def __iter__(self) -> Iterator[Token]:
        """Iterate over the tokens; their ``i`` counts from the start of the Doc."""
        return iter(self.doc[self.start : self.end])

    def span_tokens(self, candidate: Candidate) -> list[list[int]]:
        """Return the token indices of each span of a candidate, counted from ``start``.

        Spans are in text order, by first and then by last token, which may differ from the order of
        ``candidate.spans``. Every span must be in this sentence and not empty. For a discontinuous
        span the tokens in its gaps are not included.
        """
        spans = [[t - self.start for t in tokens_of(span)] for span in candidate.spans]
        return sorted(spans, key=lambda tokens: (tokens[0], tokens[-1]))


def analyze_sentences(
    candidates: Sequence[Candidate], parse: Parse, drop: Sequence[str]
) -> Iterator[Sentence]:
    """Yield the sentence of every candidate once, document by document.

    Documents and, within them, sentences are in the order of their first candidate. A candidate
    whose spans are in several sentences gets a ``Sentence`` from the first to the last of them,
    separate from that of candidates with other bounds. Leading and trailing tokens that are not
    words are cut off, unless a span covers them.

    Parameters
    ----------
    candidates
        Candidates of any number of Docs with sentence boundaries. ``Sentence.candidate_indices``
        are positions in this list; each candidate is in exactly one sentence.
    parse
        Dependencies to use: ``"given"`` with the corpus, ``"spacy"``, ``"auto"`` (given if present,
        else spaCy's), ``"collapsed"`` (like auto, but spaCy's are collapsed) or ``"own"`` (like
        collapsed, but spaCy's are preferred, and lost subjects are repaired first).
    drop
        Dependency types to leave out.

    Raises
    ------
    ValueError
        If a Doc lacks sentence boundaries or the required parse.
    """
    indices_by_doc: dict[int, list[int]] = {}
    for i, candidate in enumerate(candidates):
        indices_by_doc.setdefault(id(candidate.doc), []).append(i)
    for indices in indices_by_doc.values():
        doc = candidates[indices[0]].doc
        doc_mentions = Mentions.from_doc(doc)
        extents: dict[tuple[int, int], list[int]] = {}
        sentence_bounds = _sentence_bounds(doc)
        for i in indices:
            extents.setdefault(_candidate_extent(candidates[i], sentence_bounds), []).append(i)
        table = np.asarray(doc.to_array([ORTH, TAG, HEAD, DEP]), dtype=np.uint64)
        word_bounds = [
            _cover_spans(trimmed, [candidates[i] for i in members]) if trimmed != extent else extent
            for trimmed, (extent, members) in zip(
                trim_to_words(doc, list(extents)), extents.items(), strict=True
            )
        ]
        if parse == "own":
            table = repair_subjects(table, word_bounds, doc.vocab.strings)
        dependencies = Dependencies.from_doc(
            doc, parse, drop, _extent_mask(len(doc), extents), table
        )
        for (start, end), members in zip(word_bounds, extents.values(), strict=True):
            mentions = doc_mentions.within(start, end)
            yield Sentence(
                doc,
                start,
                end,
                dependencies=dependencies.within(start, end),
                entities=np.array([t for tokens in mentions for t in tokens], dtype=np.intp),
                candidate_indices=np.array(members, dtype=np.intp),
                mentions=mentions,
                attributes=table[start:end],
            )


@dataclass(frozen=True, eq=False)
class Mentions:
    """Tokens of every entity of a Doc, with first and last token as arrays.

    ``tokens`` has one sorted list of token indices of the Doc per entity; ``first`` and ``last``
    (entities,) are its bounds, both inclusive.
    """

    tokens: list[list[int]]
    first: Indices
    last: Indices

    @classmethod
    def from_doc(cls, doc: Doc) -> Mentions:
        """Return the entities of the span group ``entities``; those without tokens are left out.

        A Doc without the group has none.
        """
        tokens = [indices for span in doc.spans.get("entities", ()) if (indices := tokens_of(span))]
        ends = np.array([(entity[0], entity[-1]) for entity in tokens], dtype=np.intp).reshape(
            -1, 2
        )
        return cls(tokens, ends[:, 0], ends[:, 1])

    def within(self, start: int, end: int) -> list[list[int]]:
        """Return the tokens of each entity inside [``start``, ``end``), counted from ``start``.

        Entities are in text order, by first and then by last token inside. If a bound cuts an
        entity, only its tokens inside are returned; entities without a token inside are dropped.
        """
        near = ((self.first < end) & (self.last >= start)).nonzero()[0].tolist()
        mentions = [[t - start for t in self.tokens[i] if start <= t < end] for i in near]
        return sorted(filter(None, mentions), key=lambda tokens: (tokens[0], tokens[-1]))


def _extent_mask(length: int, extents: Iterable[tuple[int, int]]) -> Mask:
    """Return a mask of ``length`` tokens that is true inside the (start, end) extents.

    Ends are exclusive; extents may overlap.
    """
    mask = np.zeros(length, dtype=bool)
    for start, end in extents:
        mask[start:end] = True
    return mask


def _sentence_bounds(doc: Doc) -> list[int]:
    """Return the first token of each sentence and the length of the Doc, sorted, without repeats.

    Raises ValueError if a Doc of two tokens or more has no sentence boundaries.
    """
    if len(doc) > 1 and not doc.has_annotation("SENT_START"):
        raise ValueError(
            f"document {document_id(doc)!r} has no sentence boundaries. "
            "Add a parser, a senter or a sentencizer to the spaCy pipeline."
        )
    starts = (doc.to_array("SENT_START").astype(np.int64) == 1).nonzero()[0].tolist()
    return sorted({0, *starts, len(doc)})


def _candidate_extent(candidate: Candidate, bounds: list[int]) -> tuple[int, int]:
    """Return the bounds of the sentences from a candidate's first span in the text to its last.

    They are (start, end) token indices, the end exclusive. ``bounds`` are the first tokens of all
    sentences of the candidate's Doc, and its length. The candidate must have a span, and no span
    may be empty.
    """
    first = min(span.start for span in candidate.spans)
    last = max(span.end for span in candidate.spans) - 1
    return bounds[bisect_right(bounds, first) - 1], bounds[bisect_right(bounds, last)]


def _cover_spans(bounds: tuple[int, int], candidates: Sequence[Candidate]) -> tuple[int, int]:
    """Return the bounds [start, end) extended to contain all spans of all candidates.

    An entity may include surrounding white space, which trimming would cut off. There must be at
    least one candidate with a span.
    """
    spans = [span for candidate in candidates for span in candidate.spans]
    first, last = min(span.start for span in spans), max(span.end for span in spans)
    return min(bounds[0], first), max(bounds[1], last)


def _spacy_arcs(doc: Doc) -> list[tuple[int, int, str]]:
    """Return (head, token, label) of spaCy's tree for every token but roots, in text order."""
    return [(token.head.i, token.i, token.dep_) for token in doc if token.head != token]


def _missing_parse_message(doc: Doc, parse: Parse) -> str:
    """Return the error message for a Doc without the parse that a setting asks for.

    For ``"given"`` it says that the corpus has no dependencies, for any other ``parse`` that the
    spaCy pipeline needs a parser. Nothing is raised or checked here.
    """
    document = f"document {document_id(doc)!r}"
    if parse == "given":
        return (
            f"{document} comes without dependencies. Choose an analysis that the corpus has, "
            "or set parse to 'spacy' and use a pipeline with a parser."
        )
    return (
        f"{document} is not parsed. Use a spaCy pipeline with a tagger and a parser, such as "
        "textrank.load_nlp(), and add components of textrank after them; or a corpus with parses."
    )


# Repair of lost subjects

Arc: TypeAlias = tuple[int, str]  # head and label
SUBJECT_LABELS = ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl")
FINITE_TAGS = ("VBZ", "VBP", "VBD")
VERB_TAGS = (*FINITE_TAGS, "VB", "VBG", "VBN")
SUBORDINATORS = ("after", "before", "until", "since", "once", "as")  # also prepositions
ADJUNCT_LABELS = ("prep", "advmod", "punct", "aux", "auxpass", "neg", "npadvmod")
CLAUSE_BREAKS = frozenset("()[];:")
DEPENDENT_CLAUSE_LABELS = ("conj", "advcl", "ccomp")  # of verbs that may lose their subject
OBJECT_LABELS = ("dobj", "ccomp", "xcomp", "attr")
_STRINGS = StringStore()  # hashes are the same in every store
_SUSPECT_CODES = tuple(
    (column, np.array([[_STRINGS[word]] for word in words], dtype=np.uint64))
    for column, words in (
        (1, VERB_TAGS),
        (3, DEPENDENT_CLAUSE_LABELS),
        (3, SUBJECT_LABELS),
        (3, DEPENDENT_CLAUSE_LABELS[:1]),
    )
)


def repair_subjects(
    table: TokenTable, extents: Iterable[tuple[int, int]], strings: StringStore
) -> TokenTable:
    """Return the token table with subjects attached to verbs whose subject was misattached.

    The parser often attaches the subject of a second clause to the first ("A binds B and C inhibits
    D" read as "B and C"); ``ClauseTree`` has the rules. If an extent is repaired, arcs that lead
    out of it are cut: the token becomes a root.

    Parameters
    ----------
    table
        Attributes (ORTH, TAG, HEAD, DEP) of all tokens; not modified. The same object is returned
        if there is nothing to repair, else a copy with other HEAD and DEP.
    extents
        Start and end (exclusive) of each sentence to look at, as token indices. They should not
        overlap: each is read from the unrepaired table, and the last one written wins.
    strings
        Store of the Doc's vocabulary, to read hashes; labels that are new to it are added.
    """
    is_suspect = _suspect_verbs(
        table
    ).tobytes()  # cheaper to look into than an array, a sentence at a time
    repaired = table
    for start, end in extents:
        if 1 in is_suspect[start:end]:
            tree = ClauseTree.from_table(table[start:end], strings)
            repaired_tree = tree.repair_subjects()
            if repaired_tree is not tree:
                repaired = repaired.copy() if repaired is table else repaired
                repaired[start:end, 2:] = repaired_tree.to_table(strings)
    return repaired


def _suspect_verbs(table: TokenTable) -> NDArray[np.bool_]:
    """Return a mask (tokens,) of verbs that may lack their subject.

    A fast filter: sentences without such a verb need no repair. A verb (a tag of VERB_TAGS) is
    marked if it is itself labelled a subject, if it has one of DEPENDENT_CLAUSE_LABELS and no
    subject, or if it is a conjunct and its subject has a conjunct. ``table`` has ORTH, TAG,
    relative HEAD and DEP of all tokens.
    """
    n = len(table)
    heads = np.arange(n) + table[:, 2].astype(np.int64)
    np.minimum(np.maximum(heads, 0, out=heads), n - 1, out=heads)
    is_verb, is_dependent, is_subject, is_conjunct = (
        np.logical_or.reduce(table[:, column] == codes) for column, codes in _SUSPECT_CODES
    )
    has_subject, has_conjunct, has_split_subject = (np.zeros(n, dtype=bool) for _ in range(3))
    has_subject[heads[is_subject]] = True
    has_conjunct[heads[is_conjunct]] = True
    has_split_subject[heads[is_subject & has_conjunct]] = True
    suspect: NDArray[np.bool_] = is_verb & (
        is_subject | (is_dependent & ~has_subject) | (is_conjunct & has_split_subject)
    )
    return suspect


@dataclass(frozen=True, eq=False)
class ClauseTree:
    """Dependency tree of one sentence as lists, with rules that repair lost subjects.

    All lists have one entry per token, and token indices count from the start of the sentence. A
    root is its own head. The parser often attaches the subject of a second clause to the first ("A
    binds B and C inhibits D" read as "B and C"); ``repair_subjects`` finds such verbs by tags and
    labels and reattaches a noun phrase to them. The private rules return *changes*: a mapping from
    tokens to their new (head, label), which is empty if the rule does not apply.
    """

    words: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int]
    labels: Sequence[str]

    @classmethod
    def from_table(cls, table: TokenTable, strings: StringStore) -> ClauseTree:
        """Build the tree of a sentence; a token whose head is outside becomes a root.

        ``table`` has the rows of the sentence, with relative heads; ``strings`` maps its hashes to
        strings.
        """
        positions = np.arange(len(table))
        absolute_heads = positions + table[:, 2].astype(np.int64)
        heads = np.where(
            (absolute_heads >= 0) & (absolute_heads < len(positions)), absolute_heads, positions
        ).tolist()
        words, tags, labels = ([strings[c] for c in table[:, k].tolist()] for k in (0, 1, 3))
        return cls(words, tags, heads, labels)

    def to_table(self, strings: StringStore) -> TokenTable:
        """Return relative heads and label hashes, (tokens, 2), as in ``Doc.to_array([HEAD, DEP])``.

        Labels that are new to ``strings`` are added to it.
        """
        relative_heads = np.array(self.heads) - np.arange(len(self.heads))
        labels = np.array([strings.add(label) for label in self.labels], dtype=np.uint64)
        return np.column_stack([relative_heads.astype(np.uint64), labels])

    def repair_subjects(self) -> ClauseTree:
        """Return a tree in which lost subjects are attached to their verbs; self if unchanged.

        Repaired are finite main verbs whose subject was read as a conjunct of the clause before ("A
        binds B and C inhibits D") or as object of a preposition such as "after". Verbs are repaired
        from left to right, each in the tree that results from those before it. Changes for a verb
        that would make the tree cyclic are skipped. ``self`` is not modified.
        """
        tree = self
        for verb in range(len(self.heads)):
            if tree._is_main_verb(verb) and (arcs := tree._repair_verb(verb)):
                candidate = tree._with_arcs(arcs)
                tree = candidate if all(map(candidate._reaches_root, arcs)) else tree
        return tree

    def _repair_verb(self, verb: int) -> Mapping[int, Arc]:
        """Return the changes that give ``verb`` its subject.

        {} if it is not finite or no rule applies. If the verb is a conjunct of an earlier token,
        the rule for coordinated clauses (``_repair_coordination``) is tried with that. Otherwise,
        if finite verbs before it are labelled its subjects, that rule is tried with the last of
        them, and the two verbs are swapped as well (``_swap_verbs``). If this changes nothing,
        ``_repair_subordinate_clause`` is tried.
        """
        if not self._is_finite(verb):
            return {}
        if self.labels[verb] == "conj" and self.heads[verb] < verb:
            changes = self._repair_coordination(self.heads[verb], verb)
            return changes or self._repair_subordinate_clause(verb)
        finite_subjects = [
            c for c in self._subjects(verb) if c < verb and self.tags[c] in FINITE_TAGS
        ]
        if finite_subjects and (arcs := self._repair_coordination(finite_subjects[-1], verb)):
            return {**self._swap_verbs(finite_subjects[-1], verb), **arcs}
        return self._repair_subordinate_clause(verb)

    def _repair_coordination(self, first: int, verb: int) -> Mapping[int, Arc]:
        """Return changes for "S first ... and noun verb": the noun becomes the subject of ``verb``.

        ``first`` and ``verb`` are the tokens of the two verbs, ``first`` before ``verb``. {} unless
        there is a coordinator (tag CC) between the verbs and ``first`` has a subject before it. The
        last coordinator is used. If ``verb`` already has a subject between the two,
        ``_split_subject`` decides, else ``_subject_after_coordinator``.
        """
        coordinators = [t for t in range(first + 1, verb) if self.tags[t] == "CC"]
        if not coordinators or not any(s < first for s in self._subjects(first)):
            return {}
        between = [s for s in self._subjects(verb) if first < s < verb]
        if between:
            return self._split_subject(first, verb, between[0], coordinators[-1])
        return self._subject_after_coordinator(first, verb, coordinators[-1])

    def _subject_after_coordinator(
        self, first: int, verb: int, coordinator: int
    ) -> Mapping[int, Arc]:
        """Return changes that make the noun right after the coordinator the subject of ``verb``.

        {} unless between coordinator and verb there is exactly one noun or pronoun that is labelled
        a conjunct of a token from ``first`` up to the coordinator, and ``_is_free_subject`` accepts
        it. The coordinator becomes a child of ``first``. Tokens between noun and verb that have one
        of ADJUNCT_LABELS and a head before the coordinator become children of ``verb``.
        """
        nouns = [
            t
            for t in range(coordinator + 1, verb)
            if self.labels[t] == "conj"
            and self.tags[t][:2] in ("NN", "PR")
            and first <= self.heads[t] < coordinator
        ]
        if len(nouns) != 1 or not self._is_free_subject(first, verb, coordinator, nouns[0]):
            return {}
        adjuncts = {
            t: (verb, self.labels[t])
            for t in range(nouns[0] + 1, verb)
            if self.heads[t] < coordinator and self.labels[t] in ADJUNCT_LABELS
        }
        return {nouns[0]: (verb, self._subject_label(verb)), coordinator: (first, "cc"), **adjuncts}

    def _is_free_subject(self, first: int, verb: int, coordinator: int, noun: int) -> bool:
        """Return whether the noun phrase right after the coordinator can start a clause of its own.

        It must begin right after the coordinator, and the token after ``noun`` must not be a noun.
        Between ``first`` and the coordinator no clause may open (``_opens_clause``); between
        coordinator and ``verb`` there must be no bracket, colon or semicolon; and between ``noun``
        and ``verb`` no wh-word, no coordinator, no other main verb, and not exactly one comma.
        """
        after = range(noun + 1, verb)
        if self._left_edge(noun) != coordinator + 1 or self.tags[noun + 1].startswith("NN"):
            return False
        if any(self._opens_clause(t) for t in range(first + 1, coordinator)):
            return False
        if CLAUSE_BREAKS.intersection(self.words[coordinator:verb]):
            return False
        if sum(self.words[t] == "," for t in after) == 1:
            return False
        return not any(self.tags[t].startswith(("W", "CC")) or self._is_main_verb(t) for t in after)

    def _split_subject(
        self, first: int, verb: int, subject: int, coordinator: int
    ) -> Mapping[int, Arc]:
        """Return changes for a coordinated subject whose first conjunct is an object of ``first``.

        ``subject`` is a subject of ``verb`` between the two verbs. If it begins right after the
        coordinator and ``first`` is labelled a subject, only the coordinator changes: it becomes a
        child of ``first``. Otherwise ``subject`` becomes the object of ``first``, its conjunct the
        subject of ``verb``, and the coordinator a child of ``first``. This requires that
        ``subject`` has a single conjunct, which begins right after the coordinator, that
        ``subject`` begins right after ``first``, and that ``first`` has no child with one of
        OBJECT_LABELS; else the result is {}.
        """
        if self._left_edge(subject) == coordinator + 1 and self.labels[first] in SUBJECT_LABELS:
            return {coordinator: (first, "cc")}
        conjuncts = [c for c in self._children[subject] if self.labels[c] == "conj"]
        if (
            len(conjuncts) != 1
            or self._left_edge(conjuncts[0]) != coordinator + 1
            or coordinator < subject
        ):
            return {}
        has_object = any(self.labels[c] in OBJECT_LABELS for c in self._children[first])
        if has_object or self._left_edge(subject) != first + 1:
            return {}
        conjunct = conjuncts[0]
        return {
            subject: (first, "dobj"),
            coordinator: (first, "cc"),
            conjunct: (verb, self.labels[subject]),
        }

    def _repair_subordinate_clause(self, verb: int) -> Mapping[int, Arc]:
        """Return changes for a subject that was read as object of "after", "since" and the like.

        The noun becomes the subject of ``verb``, the preposition its mark, and the verb an
        adverbial clause of the next verb above the preposition. Only adverbs and auxiliaries may be
        between noun and verb. {} unless the preposition is one of SUBORDINATORS and right before
        the noun phrase, the verb has one of DEPENDENT_CLAUSE_LABELS and no subject before it, and
        the verb above precedes the preposition.
        """
        noun = verb - 1
        while noun > 0 and (self.tags[noun] == "RB" or self.labels[noun] in ("aux", "auxpass")):
            noun -= 1
        subordinator = self.heads[noun]
        if (
            self.labels[verb] not in DEPENDENT_CLAUSE_LABELS
            or self.labels[noun] != "pobj"
            or self._left_edge(noun) != subordinator + 1
            or self.words[subordinator].lower() not in SUBORDINATORS
            or any(s < verb for s in self._subjects(verb))
        ):
            return {}
        governor = self.heads[subordinator]
        while not self.tags[governor].startswith("VB") and self.heads[governor] != governor:
            governor = self.heads[governor]
        if governor >= subordinator or not self.tags[governor].startswith("VB"):
            return {}
        return {
            noun: (verb, self._subject_label(verb)),
            subordinator: (verb, "mark"),
            verb: (governor, "advcl"),
        }

    def _swap_verbs(self, first: int, verb: int) -> dict[int, Arc]:
        """Return changes that make ``verb`` a conjunct of ``first``, which takes its place.

        ``first`` gets the head and label of ``verb``, or becomes a root if ``verb`` is one, which
        gets the head ``first`` and the label "conj". Children of ``verb`` before ``first`` become
        children of ``first`` with their labels. The tree is not changed; keys are tokens.
        """
        head = self.heads[verb]
        moved = {c: (first, self.labels[c]) for c in self._children[verb] if c < first}
        arc = (first if head == verb else head, self.labels[verb])
        return {**moved, first: arc, verb: (first, "conj")}

    def _reaches_root(self, token: int) -> bool:
        """Return whether following heads from a token ends at a root and not in a cycle."""
        for _ in self.heads:
            if self.heads[token] == token:
                return True
            token = self.heads[token]
        return False

    def _with_arcs(self, arcs: Mapping[int, Arc]) -> ClauseTree:
        """Return a copy of the tree in which some tokens have a new (head, label).

        ``self`` is not modified; the result is not checked for cycles.
        """
        heads, labels = list(self.heads), list(self.labels)
        for token, (head, label) in arcs.items():
            heads[token], labels[token] = head, label
        return ClauseTree(self.words, self.tags, heads, labels)

    @cached_property
    def _children(self) -> list[list[int]]:
        """Return the children of each token, in text order; a root is not its own child."""
        children: list[list[int]] = [[] for _ in self.heads]
        for token, head in enumerate(self.heads):
            if token != head:
                children[head].append(token)
        return children

    def _subjects(self, verb: int) -> list[int]:
        """Return the children of a verb with one of the SUBJECT_LABELS, in text order."""
        return [c for c in self._children[verb] if self.labels[c] in SUBJECT_LABELS]

    def _subject_label(self, verb: int) -> str:
        """Return ``nsubjpass`` if a child of the verb is labelled ``auxpass``, else ``nsubj``."""
        passive = any(self.labels[c] == "auxpass" for c in self._children[verb])
        return "nsubjpass" if passive else "nsubj"

    def _is_finite(self, verb: int) -> bool:
        """Return whether a verb or one of its auxiliaries is finite.

        Finite tags are VBZ, VBP and VBD, and for auxiliaries (children with a label ``aux*``) also
        MD.
        """
        auxiliary_tags = (
            self.tags[c] for c in self._children[verb] if self.labels[c].startswith("aux")
        )
        return self.tags[verb] in FINITE_TAGS or any(
            tag in (*FINITE_TAGS, "MD") for tag in auxiliary_tags
        )

    def _is_main_verb(self, token: int) -> bool:
        """Return whether a token is a verb (tag ``VB*``) and not an auxiliary (label ``aux*``)."""
        return self.tags[token].startswith("VB") and not self.labels[token].startswith("aux")

    def _opens_clause(self, token: int) -> bool:
        """Return whether a token is a marker, a wh-word, or one of CLAUSE_BREAKS.

        A marker has the label ``mark``, a wh-word a tag that begins with W; the breaks are round
        and square brackets, colons and semicolons.
        """
        is_marker = self.labels[token] == "mark" or self.tags[token].startswith("W")
        return is_marker or self.words[token] in CLAUSE_BREAKS

    def _left_edge(self, token: int) -> int:
        """Return the first token of the subtree of a token, found by following leftmost children.

        A child after its parent is not followed. In a tree that is not projective, the result need
        not be the first token of the whole subtree.
        """
        while self._children[token] and self._children[token][0] < token:
            token = self._children[token][0]
        return token


# Collapsed dependencies

Triple: TypeAlias = tuple[int, int, str]  # governor, dependent, type
_STANFORD_LABELS = {
    "compound": "nn",
    "nmod": "nn",
    "nummod": "num",
    "relcl": "rcmod",
    "acl": "partmod",
    "dative": "iobj",
}
_SHARED_SUBJECTS = (
    "nsubj",
    "nsubjpass",
)  # what later verbs of a coordination take over from the first


def collapse_dependencies(
    doc: Doc, wanted: Mask | None = None, table: TokenTable | None = None
) -> list[Triple]:
    """Return the dependencies of a parsed Doc as a graph of (governor, dependent, type).

    A preposition and its object become one dependency ``prep_<word>`` (``prepc_<word>`` before a
    clause, ``agent`` for the by-phrase of a passive). All conjuncts depend on the first by
    ``conj_<word>``, and also on the governor of the first; verbs among them get the subjects of the
    first if they have none. Labels of spaCy's English parsers are mapped to Stanford's; unknown
    ones are kept. Sorted by dependent, then governor, without repeats. Tokens are indices of the
    Doc; roots depend on nothing. The Doc is not changed, and not checked for a parse: see
    ``Dependencies.from_doc``.

    Parameters
    ----------
    wanted
        Mask (tokens,) of the sentences that are needed; None means all. The rest may be returned
        as well, if an arc leads out of the wanted tokens.
    table
        Token table (tokens, 4) whose heads and labels are read instead of the Doc's; None means
        the Doc's own. Columns are ORTH, TAG, HEAD (relative) and DEP of ``Doc.to_array``.
    """
    tree = _Tree.from_doc(doc, wanted, table)
    direct = [triple for token in tree.tokens if (triple := _collapse_token(tree, token))]
    conjunctions = [triple for token in sorted(tree.joined) for triple in _conjuncts(tree, token)]
    governed = {triple[1]: triple for triple in direct}
    propagated = [
        (governed[first][0], conjunct, governed[first][2])
        for first, conjunct, _ in conjunctions
        if first in governed and governed[first][0] != conjunct
    ]
    triples = [*direct, *conjunctions, *propagated, *_shared_subjects(tree, direct, conjunctions)]
    return sorted(dict.fromkeys(triples), key=lambda triple: (triple[1], triple[0]))


@dataclass(frozen=True, eq=False)
class _Tree:
    """Parse of a Doc as lists, which are much faster to read than the attributes of tokens.

    ``heads`` and ``labels`` have one entry per token of the Doc; a root is its own head.
    ``children``, ``objects`` and ``joined`` only cover ``tokens``.
    """

    doc: Doc
    tokens: list[int]  # those to look at
    heads: list[int]
    labels: list[str]
    children: dict[int, list[int]]  # conjuncts and what joins them, in the order of the text
    objects: frozenset[int]  # tokens with an object of a preposition
    joined: frozenset[int]  # tokens with a conjunct

    @classmethod
    def from_doc(
        cls, doc: Doc, wanted: Mask | None = None, table: TokenTable | None = None
    ) -> _Tree:
        """Read heads and labels, and index objects of prepositions and conjuncts.

        Parameters
        ----------
        doc
            A parsed Doc; it is not changed.
        wanted
            Mask (tokens,) of the tokens to index. All are indexed if it is None or an arc connects
            a wanted token with another. Heads and labels are those of all tokens in any case.
        table
            Token attributes (tokens, 4) as for ``collapse_dependencies``, with HEAD and DEP in
            columns 2 and 3; read from the Doc if None.
        """
        table = np.asarray(doc.to_array(["HEAD", "DEP"])) if table is None else table[:, 2:]
        heads = table[:, 0].astype(np.int64) + np.arange(len(doc))  # counted from the token
        if wanted is None or (wanted[heads] != wanted).any():  # arcs lead out of sentences
            tokens = np.arange(len(doc))
        else:
            tokens = np.flatnonzero(wanted)
        codes, number = np.unique(table[:, 1], return_inverse=True)
        words = [doc.vocab.strings[code] for code in codes.tolist()]
        non_roots = tokens[heads[tokens] != tokens]
        kept_labels = [words[n] for n in number[non_roots].tolist()]
        children: dict[int, list[int]] = {}
        objects, with_conjunct = set(), set()
        for token, head, label in zip(
            non_roots.tolist(), heads[non_roots].tolist(), kept_labels, strict=True
        ):
            if label in ("pobj", "pcomp"):
                objects.add(head)
            elif label in ("conj", "cc"):
                children.setdefault(head, []).append(token)
                if label == "conj":
                    with_conjunct.add(head)
        labels = [words[n] for n in number.tolist()]
        return cls(
            doc, tokens.tolist(), heads.tolist(), labels, children, frozenset(objects),
            frozenset(with_conjunct),
        )  # fmt: skip


def _collapse_token(tree: _Tree, token: int) -> Triple | None:
    """Return the collapsed dependency (governor, dependent, type) of a token, or None.

    None for roots, conjuncts, and prepositions (labels ``prep`` and ``agent``) with an object. The
    object of a preposition depends on the head of the preposition, by ``prep_<word>``,
    ``prepc_<word>`` or ``agent``. Other tokens keep their head; their label is mapped to Stanford's
    if it has another name there.
    """
    head, label = tree.heads[token], tree.labels[token]
    if head == token or label == "conj":
        return None
    if label in ("pobj", "pcomp") and tree.labels[head] in ("prep", "agent", "dative"):
        return tree.heads[head], token, _preposition_label(tree, head, label)
    if label in ("prep", "agent") and token in tree.objects:
        return None
    return head, token, _STANFORD_LABELS.get(label, label)


def _preposition_label(tree: _Tree, preposition: int, object_label: str) -> str:
    """Return ``agent``, ``prep_<word>`` or, for a clause, ``prepc_<word>``, in lower case.

    ``preposition`` is a token index; the result is ``agent`` if that is its label. ``object_label``
    is ``pobj`` or ``pcomp`` (a clause).
    """
    if tree.labels[preposition] == "agent":
        return "agent"
    word = tree.doc[preposition].lower_
    return f"{'prepc' if object_label == 'pcomp' else 'prep'}_{word}"


def _conjuncts(tree: _Tree, token: int) -> list[Triple]:
    """Return (first conjunct, conjunct, ``conj_<word>``) for all conjuncts of a coordination.

    [] unless ``token`` is the first conjunct. Chains of conjuncts are followed. ``<word>`` is the
    first coordinator of the coordination in lower case, the same for all conjuncts; "and" if there
    is none.
    """
    if tree.labels[token] == "conj" or token not in tree.joined:
        return []
    members, position = [token], 0
    while position < len(members):
        children = tree.children.get(members[position], ())
        members += [child for child in children if tree.labels[child] == "conj"]
        position += 1
    linked = (child for m in members for child in tree.children.get(m, ()))
    coordinator = next((child for child in linked if tree.labels[child] == "cc"), None)
    kind = f"conj_{'and' if coordinator is None else tree.doc[coordinator].lower_}"
    return [(token, member, kind) for member in members[1:]]


def _shared_subjects(
    tree: _Tree, direct: list[Triple], conjunctions: list[Triple]
) -> Iterator[Triple]:
    """Yield the subjects of first conjuncts also for later conjuncts that are verbs without one.

    ``direct`` are (governor, dependent, type), ``conjunctions`` (first conjunct, conjunct, type).
    Subjects are dependents by ``nsubj`` or ``nsubjpass``; a verb has a tag ``VB*`` in the Doc.
    Yields (verb, subject, type), one for each subject of the first conjunct.
    """
    subjects_of: dict[int, list[Triple]] = {}
    for triple in direct:
        if triple[2] in _SHARED_SUBJECTS:
            subjects_of.setdefault(triple[0], []).append(triple)
    for first, conjunct, _ in conjunctions:
        if conjunct in subjects_of or not tree.doc[conjunct].tag_.startswith("VB"):
            continue
        for _, dependent, kind in subjects_of.get(first, ()):
            yield conjunct, dependent, kind
