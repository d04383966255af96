"""Candidates, their targets, and typed access to what a Doc carries.

Sections: :class:`Candidate`, :class:`DocumentContext` and :class:`Targets`; batches and chunks;
what a Doc carries (``doc.user_data``, ``doc.spans``, tokens); documents that share text (for
hold-out, and for the warning that a model was trained on evaluated documents).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from textrank.features import Indices, Matrix, Vector

if TYPE_CHECKING:
    from spacy.tokens import Span

    from textrank.protocols import Task

MAX_BATCH_TOKENS = 1 << 16  # tokens of the Docs of one batch
MAX_BATCH_DOCS = 512
MAX_CHUNK_WORDS = 200_000  # words of the sentences of candidates that are represented together
SINGLE_SPAN_WORDS = 20  # words that a candidate with one span counts for at most
TOKEN_ATTRIBUTES = ("ORTH", "LOWER", "SPACY", "SENT_START")  # columns of token_table
MIN_SENTENCE_WORDS = 5  # shorter sentences ("Results were similar.") repeat by chance
TRAINING_TEXTS_KEY = "training_texts"  # key of meta.json with hashes of the training texts
MAX_HASHES = 1 << 15  # hashes that a model keeps at most: 256 kB
HASH_BYTES = 8


# Candidates and targets ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidate:
    """One decision: about a mention, a pair of entities, a parse.

    >>> import spacy
    >>> doc = spacy.blank("en")("SHC binds GRB2.")
    >>> pair = Candidate(doc, (doc[0:1], doc[2:3]), "d1", label=1.0)
    >>> [span.text for span in pair.spans]
    ['SHC', 'GRB2']
    """

    doc: Doc  # for a parse: a Doc of its own with that parse
    spans: tuple[Span, ...]  # what is judged
    document: str  # id that the reader gave to the document
    query: str = ""  # candidates with the same document and query are ranked together
    label: float | None = None  # gold label; None: unknown
    facts: Mapping[str, float] | None = None  # numeric features that the task computed
    question: str = ""  # which of several questions it belongs to: a word, a set, an attribute
    answer: str = ""  # the answer it stands for, whether right or wrong; empty: yes
    group: str = ""  # documents that are held out together; by default the document
    # Comparisons it takes part in: their keys, each with the magnitude by which it was preferred,
    # negative if the other one was. None: candidates are not compared with one another.
    comparisons: tuple[tuple[str, float], ...] | None = None
    head_labels: tuple[float, ...] = ()  # gold label for each head of the task; empty: unknown

    def __post_init__(self) -> None:
        """Set an empty ``group`` to the document."""
        if not self.group:
            object.__setattr__(self, "group", self.document)

    @property
    def label_key(self) -> str:
        """Question and answer as one string, "question: answer"; the answer without a question."""
        return label_key(self.question, self.answer)


class FactRow(Mapping[str, float]):
    """Facts of a candidate as a row of an array whose columns many candidates share.

    ``names`` are the columns and ``values`` their values, ``(len(names),)``, stored without a copy.
    Rows that are represented together should share one tuple of names, which is faster.

    >>> dict(FactRow(("length", "case"), np.array([4.0, 1.0])))
    {'length': 4.0, 'case': 1.0}
    """

    __slots__ = ("names", "values_array")

    def __init__(self, names: tuple[str, ...], values: NDArray[np.floating[Any]]) -> None:
        """Store both as they are: ``names`` of the columns and their ``values`` (columns,)."""
        self.names = names
        self.values_array = values

    def __getitem__(self, name: str) -> float:
        """Return the value of a column; raise KeyError if there is no such column."""
        try:
            return float(self.values_array[self.names.index(name)])
        except ValueError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def label_key(question: str, answer: str) -> str:
    """Return question and answer as one string, as in feature names and saved models.

    Without a question it is the answer alone.

    >>> label_key("type", "binding"), label_key("", "DNA")
    ('type: binding', 'DNA')
    """
    return f"{question}: {answer}" if question else answer


def gold_labels(candidates: Sequence[Candidate]) -> Vector:
    """Return the gold labels of n candidates, shape ``(n,)``, in order; an unknown label is NaN."""
    return np.array([c.label for c in candidates], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class DocumentContext:
    """Where each of n candidates occurs: in which text, at which word, and what it asks."""

    text_ids: Indices  # (n,) equal for candidates of the same Doc
    positions: Vector  # (n,) index of the first token of the first span
    questions: tuple[str, ...]  # (n,) label keys
    word_ids: Indices  # (n,) equal for first spans with the same lower-case text

    @classmethod
    def from_candidates(cls, candidates: Sequence[Candidate]) -> DocumentContext:
        """Build the context from the first span of each candidate, or the Doc if it has none.

        A candidate without spans is at position 0, and its word is the whole text.
        """
        spans = [c.spans[0] if c.spans else c.doc[:] for c in candidates]
        return cls(
            number_keys([id(c.doc) for c in candidates]),
            np.array([span.start for span in spans], dtype=np.float64),
            tuple(c.label_key for c in candidates),
            number_keys([span.text.lower() for span in spans]),
        )

    def __len__(self) -> int:
        return len(self.text_ids)

    def take(self, index: Indices) -> DocumentContext:
        """Return the context of the candidates at ``index``, in that order.

        Ids keep their numbers, so they need not be consecutive any more.
        """
        questions = tuple(self.questions[i] for i in index)
        return DocumentContext(
            self.text_ids[index], self.positions[index], questions, self.word_ids[index]
        )


@dataclass(frozen=True, eq=False)
class PreferenceGraph:
    """Preferences between n candidates: pairs of rows with a magnitude, any number per pair.

    Raises ValueError unless every pair is of two different rows and every magnitude is positive
    and finite.

    >>> graph = PreferenceGraph(np.array([[0, 1], [2, 1]]), np.array([1.0, 0.5]))
    >>> graph.take(np.array([1, 2])).pairs  # the preference over the row that is left out is lost
    array([[1, 0]])
    """

    pairs: Indices  # (l, 2) rows of the preferred and of the other candidate
    magnitudes: Vector  # (l,) positive
    queries: Indices | None = None  # (l,) query of each preference; None: all of one query

    def __post_init__(self) -> None:
        """Raise ValueError if shapes do not fit, a row is compared with itself, or for a magnitude.

        ``pairs`` must be (l, 2) with l magnitudes, positive and finite, and l ``queries`` unless
        None. That rows exist is not checked.
        """
        l = len(self.pairs)  # noqa: E741
        sizes = (l, len(self.magnitudes), l if self.queries is None else len(self.queries))
        if np.shape(self.pairs) != (l, 2) or len(set(sizes)) > 1:
            raise ValueError(
                f"preferences are pairs of rows (l, 2) with l magnitudes, got "
                f"{np.shape(self.pairs)} and {np.shape(self.magnitudes)}"
            )
        if l and (self.pairs[:, 0] == self.pairs[:, 1]).any():
            row = int(np.argmax(self.pairs[:, 0] == self.pairs[:, 1]))
            raise ValueError(f"preference {row} compares row {self.pairs[row, 0]} with itself")
        if not (np.isfinite(self.magnitudes) & (self.magnitudes > 0)).all():
            wrong = ~(np.isfinite(self.magnitudes) & (self.magnitudes > 0))
            raise ValueError(
                f"preference {int(np.argmax(wrong))} has magnitude {self.magnitudes[wrong][0]:g}. "
                "Magnitudes must be positive and finite."
            )

    def __len__(self) -> int:
        return len(self.pairs)

    @classmethod
    def from_candidates(cls, candidates: Sequence[Candidate]) -> PreferenceGraph | None:
        """Match the comparisons of candidates by their keys; None if all have None for them.

        Two candidates with the same key are one preference: the sign at the second says which one
        was preferred, the magnitude is that of the first. A key that comes a third time begins
        another pair; a comparison whose other candidate is missing is left out. Preferences are in
        the order of their second candidate. Queries are those of the preferred candidates, numbered
        in order of appearance. Raises ValueError for a magnitude that is 0 or not finite, and if a
        candidate would be compared with itself.
        """
        if all(candidate.comparisons is None for candidate in candidates):
            return None
        first: dict[str, tuple[int, float]] = {}
        rows: list[tuple[int, int, float]] = []
        for row, candidate in enumerate(candidates):
            for key, magnitude in candidate.comparisons or ():
                if key not in first:
                    first[key] = (row, magnitude)
                    continue
                other, of_other = first.pop(key)
                better, worse = (row, other) if magnitude > 0 else (other, row)
                rows.append((better, worse, abs(of_other)))
        queries = number_keys([candidates[better].query for better, _, _ in rows])
        pairs = np.array([row[:2] for row in rows], dtype=np.intp).reshape(-1, 2)
        return cls(pairs, np.array([row[2] for row in rows], dtype=np.float64), queries)

    def take(self, index: Indices) -> PreferenceGraph:
        """Return the preferences among the rows at ``index``, renumbered to positions in it.

        Preferences over other rows are dropped. ``index`` must not name a row twice.
        """
        size = int(max(self.pairs.max(initial=-1), np.max(index, initial=-1))) + 1
        position = np.full(size, -1, dtype=np.intp)
        position[index] = np.arange(len(index))
        pairs = position[self.pairs]
        kept = (pairs >= 0).all(axis=1)
        queries = None if self.queries is None else self.queries[kept]
        return PreferenceGraph(pairs[kept], self.magnitudes[kept], queries)


@dataclass(frozen=True, eq=False)
class Targets:
    """Labels, groups, queries and weights of n candidates, for learners.

    Raises ValueError if ``y``, ``groups``, ``queries``, ``weights`` and ``heads`` differ in length,
    or a preference names a row beyond them.

    >>> groups = np.array([0, 0, 1])  # the first two candidates are held out together
    >>> len(Targets(np.array([1.0, -1.0, 1.0]), groups, np.arange(3)).y)
    3
    """

    y: Vector  # (n,) gold labels
    groups: Indices  # (n,) number of the group that is held out together
    queries: Indices  # (n,) number of the query whose candidates are ranked together
    context: DocumentContext | None = None  # for learners with a second stage
    weights: Vector | None = None  # (n,) positive factors of the squared errors; None: all 1
    preferences: PreferenceGraph | None = None  # rankers learn from these instead of labels
    heads: Matrix | None = None  # (n, h) labels for learners of several heads; None: y alone

    def __post_init__(self) -> None:
        """Raise ValueError if lengths differ or a preference names a row that does not exist.

        Checked are ``y``, ``groups``, ``queries``, and ``weights`` and ``heads`` unless None.
        """
        sizes = {len(self.y), len(self.groups), len(self.queries)}
        sizes |= {len(values) for values in (self.weights, self.heads) if values is not None}
        if len(sizes) != 1:
            raise ValueError(
                f"y, groups, queries, weights and heads differ in length: {sorted(sizes)}"
            )
        if self.preferences is not None and self.preferences.pairs.max(initial=-1) >= len(self.y):
            raise ValueError(
                f"preferences name row {self.preferences.pairs.max()} of {len(self.y)} candidates"
            )

    def __len__(self) -> int:
        return len(self.y)

    @classmethod
    def from_candidates(cls, candidates: Sequence[Candidate]) -> Targets:
        """Build the targets of labelled candidates, in order and without weights.

        Groups and queries are numbered from 0 in order of appearance. A query is only the same in
        the same document. There are heads if every candidate has labels for them, and each has
        positive and negative ones. Raises ValueError if a candidate has no label.
        """
        for index, candidate in enumerate(candidates):
            if candidate.label is None:
                raise ValueError(
                    f"candidate {index} of document {candidate.document!r} has no gold label. "
                    "Training and evaluation need an annotated corpus."
                )
        return cls(
            gold_labels(candidates),
            number_keys([c.group for c in candidates]),
            # Queries of different documents may have the same name.
            number_keys([(c.document, c.query) for c in candidates]),
            DocumentContext.from_candidates(candidates),
            preferences=PreferenceGraph.from_candidates(candidates),
            heads=_head_labels(candidates),
        )

    def take(self, index: Indices) -> Targets:
        """Return the targets of the candidates at ``index``, in that order.

        Groups and queries keep their numbers, so they need not be consecutive any more. Preferences
        over candidates that are left out are dropped.
        """
        context = None if self.context is None else self.context.take(index)
        weights = None if self.weights is None else self.weights[index]
        heads = None if self.heads is None else self.heads[index]
        graph = None if self.preferences is None else self.preferences.take(index)
        return Targets(
            self.y[index], self.groups[index], self.queries[index], context, weights, graph, heads
        )


def _head_labels(candidates: Sequence[Candidate]) -> Matrix | None:
    """Return the labels (n, h) of the heads of candidates.

    None if a candidate has none, candidates differ in their number, a head has not both positive
    and negative labels, or there are no candidates.
    """
    if len({len(c.head_labels) for c in candidates}) != 1 or not candidates[0].head_labels:
        return None
    labels = np.array([c.head_labels for c in candidates], dtype=np.float64)
    has_both = (labels > 0).any(axis=0) & (labels < 0).any(axis=0)
    return labels if has_both.all() else None


def number_keys(keys: Sequence[Hashable]) -> Indices:
    """Return a number for each key, equal for equal keys, counted from 0 in order of appearance.

    The result has shape ``(len(keys),)``.
    """
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


@dataclass(frozen=True, eq=False)
class DocumentCandidates:
    """Candidates together with all other candidates of the same Docs.

    ``all_candidates[rows[i]]`` corresponds to the given candidate ``i``.
    """

    all_candidates: list[Candidate]
    context: DocumentContext  # of all candidates
    rows: Indices  # where the given candidates are among all

    @classmethod
    def from_candidates(cls, task: Task, candidates: Sequence[Candidate]) -> DocumentCandidates:
        """Find all candidates of the Docs of ``candidates`` with ``task.candidates``.

        Docs are in order of first appearance. Candidates are identified by Doc object, query, label
        key and spans; of several that agree in these the last counts. Raises ValueError if the task
        does not find one of the given candidates in its Doc.
        """
        docs = {id(c.doc): c.doc for c in candidates}
        all_candidates = [c for doc in docs.values() for c in task.candidates(doc)]
        row_of = {_candidate_key(c): row for row, c in enumerate(all_candidates)}
        for candidate in candidates:
            if _candidate_key(candidate) not in row_of:
                raise ValueError(
                    f"{candidate.spans} of document {candidate.document!r} is not among the "
                    f"candidates of task {task.name!r} in its Doc, so its context is unknown. "
                    "Pass candidates that the task made."
                )
        rows = np.array([row_of[_candidate_key(c)] for c in candidates], dtype=np.intp)
        return cls(all_candidates, DocumentContext.from_candidates(all_candidates), rows)


def _candidate_key(candidate: Candidate) -> tuple[Any, ...]:
    """Return what identifies a candidate among those of the same process: Doc, query and spans.

    The Doc is represented by ``id(doc)``, so it must stay alive; spans by start, end and span id.
    The label key is included, the gold label is not.
    """
    spans = tuple((s.start, s.end, s.id_) for s in candidate.spans)
    return id(candidate.doc), candidate.query, candidate.label_key, spans


# Batches and chunks -------------------------------------------------------------------------------


def batch_docs(docs: Iterable[Doc], size: int | None = None) -> Iterator[list[Doc]]:
    """Yield Docs in lists of ``size``, in order; the last list may be shorter.

    With ``size=None`` a batch ends when it has at least ``MAX_BATCH_TOKENS`` tokens or
    ``MAX_BATCH_DOCS`` Docs. No batch is empty.
    """
    batch: list[Doc] = []
    tokens = 0
    for doc in docs:
        batch.append(doc)
        tokens += len(doc)
        if len(batch) == (size or MAX_BATCH_DOCS) or (size is None and tokens >= MAX_BATCH_TOKENS):
            yield batch
            batch, tokens = [], 0
    if batch:
        yield batch


def chunk_candidates(candidates: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """Yield consecutive chunks whose sentences have at most ``MAX_CHUNK_WORDS`` words in total.

    A candidate counts with the words of its sentence, and a chunk has at least one candidate,
    however long. The memory that the representation of a pair needs grows with its sentence, so
    that a list of four hundred names would exhaust it. The representation of one span does not: it
    counts for at most ``SINGLE_SPAN_WORDS``, or its own length if that is larger, since each chunk
    reads its text again. Without candidates there are no chunks.
    """
    bounds = [_max_words(candidate) for candidate in candidates]
    if sum(bounds) <= MAX_CHUNK_WORDS:  # then sentences need not be measured
        if candidates:
            yield candidates
        return
    start, words = 0, 0
    lengths = sentence_lengths(candidates)
    for end, size in enumerate(map(min, lengths, bounds)):
        words += size
        if words > MAX_CHUNK_WORDS and end > start:
            yield candidates[start:end]
            start, words = end, size
    yield candidates[start:]


def _max_words(candidate: Candidate) -> int:
    """Return an upper bound of the words that a candidate counts for in ``chunk_candidates``.

    It is the length of the Doc; for a single span ``SINGLE_SPAN_WORDS`` or the length of the span,
    whichever is larger.
    """
    spans = candidate.spans
    return max(SINGLE_SPAN_WORDS, len(spans[0])) if len(spans) == 1 else len(candidate.doc)


# What a Doc carries -------------------------------------------------------------------------------


def document_id(doc: Doc, number: int = 0) -> str:
    """Return the id that a reader gave to a Doc, or ``number`` as text.

    The id is ``doc.user_data["document"]``; an empty one counts as missing.
    """
    return str(doc.user_data.get("document") or number)


def get_answers(doc: Doc, task: str) -> list[dict[str, Any]] | None:
    """Return the rows that a task wrote to ``doc._.textrank_<task>``; None if it did not run.

    A row is a dict of plain values with one answer; its keys depend on the task. An empty list
    means no answers. ``task`` is the name of the task, such as ``"ppi"``; it is not run here.
    """
    name = f"textrank_{task}"  # registered when the module of the task is imported
    rows: list[dict[str, Any]] | None = doc._.get(name) if Doc.has_extension(name) else None
    return rows


def gold_identifiers(doc: Doc) -> Mapping[str, Sequence[str]] | None:
    """Return the identifiers (CURIEs) that a reader found for entities, by span id.

    A CURIE is a prefix and a local id, such as ``ncbigene:7157``. None means that the corpus has no
    identifiers; an entity that is missing from the mapping has none.
    """
    return doc.user_data.get("identifiers")


def entity_spans(doc: Doc, key: str) -> list[Span]:
    """Return the spans of ``doc.spans[key]`` in text order: by start, then end, then span id.

    A missing group is first filled with ``doc.ents``, which changes the Doc; ValueError is raised
    if no entity recogniser has run on it either.

    >>> import spacy
    >>> doc = spacy.blank("en")("SHC binds GRB2.")
    >>> doc.ents = [doc.char_span(0, 3, "GENE"), doc.char_span(10, 14, "GENE")]
    >>> entity_spans(doc, "entities")
    [SHC, GRB2]
    """
    ensure_span_group(doc, key)
    return sorted(doc.spans[key], key=attrgetter("start_char", "end_char", "id_"))


def ensure_span_group(doc: Doc, key: str) -> None:
    """Fill ``doc.spans[key]`` with ``doc.ents`` if there is no such group; changes the Doc.

    Each span keeps its label and gets the span id ``e0``, ``e1``, ... The shipped language model
    and all readers fill the group; other spaCy pipelines only set ``doc.ents``. Raises ValueError
    if there is no group and no entity recogniser has run; a Doc in which it found nothing gets an
    empty group.
    """
    if key in doc.spans:
        return
    if not doc.has_annotation("ENT_IOB"):
        raise ValueError(
            f"document {document_id(doc)!r} has no span group {key!r} and no entities. In spaCy, "
            "use textrank.load_nlp(), or add a named-entity recogniser before this component, or "
            f"annotate doc.spans[{key!r}]. `textrank apply` has a recogniser; `run` and `train` "
            "learn from the entities of a corpus."
        )
    from spacy.tokens import Span

    doc.spans[key] = [
        Span(doc, ent.start, ent.end, label=ent.label_, span_id=f"e{number}")
        for number, ent in enumerate(doc.ents)
    ]


def span_tokens(span: Span) -> list[int]:
    """Return the token indices of a mention in its Doc, without the gaps of a discontinuous one.

    A Span has no gaps, so readers store the tokens of a discontinuous mention under its span id
    in ``doc.user_data["pieces"]``.
    """
    pieces: dict[str, list[int]] = span.doc.user_data.get("pieces", {})
    return pieces.get(span.id_) or list(range(span.start, span.end))


def token_table(doc: Doc) -> Mapping[str, NDArray[np.uint64]]:
    """Return the attributes ``TOKEN_ATTRIBUTES`` of all tokens, each an array ``(len(doc),)``.

    The keys are ``ORTH``, ``LOWER``, ``SPACY`` and ``SENT_START``. The first two are hashes of the
    string store; in the others 1 means yes (compare with 1: "no" may be a large number). The table
    is read anew at each call, so keep it where more than one column is needed.
    """
    columns = doc.to_array(list(TOKEN_ATTRIBUTES)).T
    return dict(zip(TOKEN_ATTRIBUTES, columns, strict=True))


def sentence_starts(doc: Doc) -> Indices:
    """Return the index of the first token of each sentence, and ``len(doc)`` at the end.

    A Doc without sentence boundaries is one sentence, an empty one gives ``[0]``. One pass over the
    Doc, while ``span.sent`` searches it each time.
    """
    is_start = token_table(doc)["SENT_START"] == 1
    is_start[:1] = True
    return np.concatenate([is_start.nonzero()[0], [len(doc)]])


def sentence_lengths(candidates: Sequence[Candidate]) -> list[int]:
    """Return the number of tokens of the sentence of each candidate's first span.

    For a candidate without spans it is the number of tokens of the Doc. A Doc without sentence
    boundaries is one sentence.
    """
    lengths_by_doc: dict[int, Indices] = {}  # for each token the length of its sentence
    lengths = []
    for candidate in candidates:
        doc = candidate.doc
        if id(doc) not in lengths_by_doc:
            sentence = np.cumsum(token_table(doc)["SENT_START"] == 1)
            lengths_by_doc[id(doc)] = (
                np.bincount(sentence)[sentence] if len(doc) else np.zeros(0, dtype=np.intp)
            )
        of_token = lengths_by_doc[id(doc)]
        start = candidate.spans[0].start if candidate.spans else None
        lengths.append(len(of_token) if start is None else int(of_token[start]))
    return lengths


# Profiles of documents ----------------------------------------------------------------------------

PROFILE_COLUMNS = (
    "mean score",
    "number of candidates",
    "candidates per sentence",
    "sentence length",
    "distance of the judged words",
    "share of unseen words",
)
WORD_BUCKETS = 1 << 17  # bits in which the words of training documents are stored by hash


@dataclass(frozen=True, eq=False)
class HeldoutReference:
    """Documents of the held-out scores of a model, and what these documents are like.

    With it, errors can be counted by document, and new text can be compared with training text. It
    contains no text: words are stored as bits of a hash table. After documents were forgotten or
    added, only their numbers are known: there are no profiles, (0, columns).
    """

    groups: Indices  # (n,) number of the document of each held-out score, 0 to g - 1
    queries: Indices  # (n,) number of the query
    profiles: Matrix  # (g, columns of PROFILE_COLUMNS)
    word_bits: NDArray[np.uint8]  # (WORD_BUCKETS / 8,) words that the documents contain

    @classmethod
    def from_candidates(cls, candidates: Sequence[Candidate], scores: Vector) -> HeldoutReference:
        """Describe the documents of candidates with their held-out scores (n,).

        Groups of documents and queries are numbered in order of appearance; there is one profile
        per group. A word of a group counts as unseen if no other group contains it.
        """
        groups = number_keys([candidate.group for candidate in candidates])
        queries = number_keys([(c.document, c.query) for c in candidates])
        words = document_words(candidates, groups)
        counts = np.zeros(WORD_BUCKETS, dtype=np.int64)
        for buckets in words:
            counts[buckets] += 1
        unseen = [float(np.mean(counts[b] < 2)) if len(b) else 0.0 for b in words]
        profiles = profile_documents(candidates, scores, groups, np.array(unseen))
        return cls(groups, queries, profiles, np.packbits(counts > 0))

    @classmethod
    def from_targets(cls, targets: Targets) -> HeldoutReference:
        """Take over groups and queries of targets; there are no profiles and no words.

        The groups must be numbered from 0 without gaps.
        """
        profiles = np.zeros((0, len(PROFILE_COLUMNS)))
        bits = np.zeros(WORD_BUCKETS // 8, dtype=np.uint8)
        return cls(targets.groups, targets.queries, profiles, bits)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], size: int) -> HeldoutReference | None:
        """Rebuild a reference from the result of ``to_arrays``.

        Reads the keys ``reference/groups``, ``/queries``, ``/profiles`` and ``/words``; None
        without the first. ``size`` is the number of held-out scores. Raises ValueError if shapes do
        not fit it (there are profiles of all groups or none) or a group is negative, and KeyError
        if another key is missing.
        """
        if "reference/groups" not in arrays:
            return None
        groups, queries, profiles, bits = (
            arrays[f"reference/{key}"] for key in ("groups", "queries", "profiles", "words")
        )
        n_groups = int(groups.max(initial=-1)) + 1
        is_valid = (
            groups.shape == queries.shape == (size,)
            and groups.min(initial=0) >= 0
            and profiles.shape[1:] == (len(PROFILE_COLUMNS),)
            and len(profiles) in (0, n_groups)
            and bits.shape == (WORD_BUCKETS // 8,)
        )
        if not is_valid:
            raise ValueError("the documents of the held-out scores do not fit the scores")
        return cls(
            groups.astype(np.intp),
            queries.astype(np.intp),
            profiles.astype(np.float64),
            bits.astype(np.uint8),
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return small arrays for ``from_arrays``; profiles are rounded to 32 bits.

        Keys are ``reference/groups``, ``reference/queries``, ``reference/profiles`` and
        ``reference/words``, which are the ``word_bits``. Groups and queries become 32-bit integers.
        """
        return {
            "reference/groups": self.groups.astype(np.int32),
            "reference/queries": self.queries.astype(np.int32),
            "reference/profiles": self.profiles.astype(np.float32),
            "reference/words": self.word_bits,
        }

    def profile(self, candidates: Sequence[Candidate], scores: Vector) -> Matrix:
        """Return the profiles (groups, columns) of the documents of new candidates.

        There is one row per group of candidates, in order of appearance, with the columns
        ``PROFILE_COLUMNS``. ``scores`` (n,) are those of the candidates. A word counts as unseen if
        no training document has it; without stored words all are.
        """
        groups = number_keys([candidate.group for candidate in candidates])
        is_seen = np.unpackbits(self.word_bits).astype(bool)
        words = document_words(candidates, groups)
        unseen = [float(np.mean(~is_seen[b])) if len(b) else 0.0 for b in words]
        return profile_documents(candidates, scores, groups, np.array(unseen))


def document_words(candidates: Sequence[Candidate], groups: Indices) -> list[Indices]:
    """Return for each group the hash buckets of its words, each once and in ascending order.

    Words are those of the Docs of the candidates, in lower case. ``groups`` (n,) must use every
    number from 0 to its largest.
    """
    docs: dict[tuple[int, int], Doc] = {}
    for candidate, group in zip(candidates, groups.tolist(), strict=True):
        docs.setdefault((group, id(candidate.doc)), candidate.doc)
    parts: list[list[NDArray[np.uint64]]] = [[] for _ in range(int(groups.max(initial=-1)) + 1)]
    for (group, _), doc in docs.items():
        parts[group].append(np.unique(token_table(doc)["LOWER"] % np.uint64(WORD_BUCKETS)))
    return [np.unique(np.concatenate(part)).astype(np.intp) for part in parts]


def profile_documents(
    candidates: Sequence[Candidate], scores: Vector, groups: Indices, unseen: Vector
) -> Matrix:
    """Return the columns ``PROFILE_COLUMNS`` of each group, (g, columns).

    In this order: mean score, log of the number of candidates, candidates of their query, words of
    their sentence, distance in tokens of first and last span (means of logs), share of unseen
    words. ``scores`` (n,) may be NaN where unknown, and a group without known ones has mean 0.
    ``groups`` (n,) are numbers from 0 to g - 1, all of which must occur; ``unseen`` (g,) are the
    shares.
    """
    n_groups = len(unseen)
    queries = number_keys([(c.document, c.query) for c in candidates])
    sizes = np.bincount(groups, minlength=n_groups)
    is_scored = np.isfinite(scores)
    scored_sizes = np.bincount(groups[is_scored], minlength=n_groups)
    totals = np.bincount(groups[is_scored], scores[is_scored], n_groups)
    mean_scores = np.divide(totals, scored_sizes, out=np.zeros(n_groups), where=scored_sizes > 0)

    def mean(values: Vector) -> Vector:
        """Return the mean of the values (n,) of each group, (g,)."""
        return np.bincount(groups, values, n_groups) / sizes

    distances = [c.spans[-1].start - c.spans[0].end if len(c.spans) > 1 else 0 for c in candidates]
    return np.column_stack(
        [
            mean_scores,
            np.log(sizes),
            mean(np.log(np.bincount(queries)[queries])),
            mean(np.log1p(np.array(sentence_lengths(candidates)))),
            mean(np.log1p(np.maximum(distances, 0))),
            unseen,
        ]
    )


# Documents that share text ------------------------------------------------------------------------


def dedup_groups(docs: Sequence[Doc]) -> list[str]:
    """Return a group name for each Doc, equal for Docs that share an id, origin or sentence.

    Sharing is transitive: if A shares with B and B with C, all three are one group. The origin is
    ``doc.user_data["origin"]``, the id of the original document. Corpora contain the same abstract
    twice under two ids; hold-out by id alone would train on a copy of the test text. Sentences are
    compared in lower case by letters and digits only; those of fewer than ``MIN_SENTENCE_WORDS``
    words do not count. A group has the id of its first Doc as name, or the number of that Doc if it
    has none.
    """
    from scipy.cluster.hierarchy import DisjointSet  # slow to import, and only needed here

    groups = DisjointSet(range(len(docs)))
    first_with_key: dict[tuple[str, str], int] = {}
    for number, doc in enumerate(docs):
        for key in (("id", document_id(doc, number)), *text_keys(doc)):
            groups.merge(first_with_key.setdefault(key, number), number)
    first_of_group: dict[int, int] = {}
    names = [document_id(doc, number) for number, doc in enumerate(docs)]
    return [names[first_of_group.setdefault(groups[i], i)] for i in range(len(docs))]


def shares_text(docs: Sequence[Doc], others: Sequence[Doc]) -> list[bool]:
    """Return for each Doc whether one of ``others`` has the same origin or a common sentence.

    Document ids are not compared: two corpora may number their documents alike.
    """
    keys = {key for doc in others for key in text_keys(doc)}
    return [any(key in keys for key in text_keys(doc)) for doc in docs]


def text_keys(doc: Doc) -> Iterator[tuple[str, str]]:
    """Yield what a copy of a Doc in another corpus has too: its original id and its sentences.

    Keys are pairs ``("origin", id)`` and ``("sentence", words)``. Sentences are in lower case,
    letters and digits only, words separated by one space; those of fewer than
    ``MIN_SENTENCE_WORDS`` words are left out, as are all if the Doc has no sentence boundaries.
    """
    if doc.user_data.get("origin"):
        yield "origin", str(doc.user_data["origin"])
    if doc.has_annotation("SENT_START"):
        for sentence in doc.sents:
            words = re.findall(r"[^\W_]+", sentence.text.lower())
            if len(words) >= MIN_SENTENCE_WORDS:
                yield "sentence", " ".join(words)


@dataclass(frozen=True)
class TrainingOverlap:
    """How many evaluated documents a model was trained on.

    ``documents`` is the number that share an origin, a sentence or the whole text with a training
    document. It is None if the model has no hashes and only the name of the corpus is the same.
    ``total`` is the number of evaluated documents.
    """

    documents: int | None
    total: int

    @property
    def share(self) -> float | None:
        """Fraction of the evaluated documents that the model was trained on, from 0 to 1.

        None if their number is unknown. ``total`` must not be 0.
        """
        return None if self.documents is None else self.documents / self.total

    @property
    def note(self) -> str:
        """Warning for reports that figures are too high, with the numbers where they are known.

        It begins in lower case, so that a prefix can precede it.
        """
        if self.documents is None:
            return (
                "the model was trained on a corpus of this name, so these figures may be too high. "
                "Evaluate on other documents, or cross-validate with textrank run."
            )
        return (
            f"the model was trained on {self.documents} of these {self.total} documents "
            f"({self.documents / self.total:.0%}), so these figures are too high. Evaluate on "
            "other documents, or cross-validate with textrank run."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return ``documents`` and ``share`` as plain values for JSON; both may be None."""
        return {"documents": self.documents, "share": self.share}


def hash_texts(docs: Sequence[Doc]) -> str:
    """Return hashes of the sentences and texts of documents, as base64 for a model's meta.

    The base64 text holds sorted distinct little-endian 64-bit integers. Texts are compared in lower
    case, letters and digits only. At most ``MAX_HASHES`` are kept, those of the smallest value, so
    that a large corpus is still recognised by some sentences.
    """
    return encode_hashes(set().union(*map(_text_hashes, docs)))


def encode_hashes(hashes: Iterable[int]) -> str:
    """Return distinct 64-bit hashes as base64, the ``MAX_HASHES`` smallest in ascending order."""
    smallest = sorted(set(hashes))[:MAX_HASHES]
    return base64.b64encode(np.array(smallest, dtype="<u8").tobytes()).decode("ascii")


def find_training_overlap(
    meta: Mapping[str, Any], docs: Sequence[Doc], corpus: str = ""
) -> TrainingOverlap | None:
    """Return how many documents a model was trained on, by its meta; None if none is found.

    ``meta`` is the model's ``meta.json``. A model without hashes, such as one of an older version,
    is compared by the name of its corpus: the result then has ``documents=None`` if ``corpus``, the
    name of the evaluated corpus, is among those in ``meta["corpus"]``, which are separated by
    commas and compared without case. ``corpus`` is otherwise not used.
    """
    hashes = _read_hashes(meta)
    if hashes is None:
        names = {name.strip().lower() for name in str(meta.get("corpus") or "").split(",")}
        is_same = bool(corpus) and corpus.lower() in names
        return TrainingOverlap(None, len(docs)) if is_same else None
    count = sum(not hashes.isdisjoint(_text_hashes(doc)) for doc in docs)
    return TrainingOverlap(count, len(docs)) if count else None


def _read_hashes(meta: Mapping[str, Any]) -> set[int] | None:
    """Return the hashes of training texts in a model's meta; None if missing or damaged.

    They are under ``TRAINING_TEXTS_KEY``, in the form of ``hash_texts``.
    """
    text = meta.get(TRAINING_TEXTS_KEY)
    if not isinstance(text, str):
        return None
    try:
        data = base64.b64decode(text, validate=True)
        return set(np.frombuffer(data, dtype="<u8").tolist())
    except (binascii.Error, ValueError):
        return None


def _text_hashes(doc: Doc) -> set[int]:
    """Return hashes of origin, longer sentences (``text_keys``) and the whole text of a Doc.

    Texts are in lower case, letters and digits only; one without these gives no hash.
    """
    whole = full_text_key(doc)
    return {hash_key(key) for key in (*text_keys(doc), *([] if whole is None else [whole]))}


def full_text_key(doc: Doc) -> tuple[str, str] | None:
    """Return ``("text", words)`` of the whole text (lower case, letters and digits).

    None for a text without words.
    """
    text = " ".join(re.findall(r"[^\W_]+", doc.text.lower()))
    return ("text", text) if text else None


def hash_key(key: tuple[str, str]) -> int:
    """Return a hash of a key (kind and text) as an integer, equal in all processes and versions.

    It has ``HASH_BYTES`` bytes and is not negative. Unpaired surrogates in the text are accepted.
    """
    text = "\0".join(key)
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES)
    return int.from_bytes(digest.digest(), "little")
