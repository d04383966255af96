"""Candidate, Targets, and what a Doc carries: its id, its names, what is held out with it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from textrank.features import Indices, Vector

if TYPE_CHECKING:
    from spacy.tokens import Span

    from textrank.protocols import Task

WORDS = 5  # shorter sentences ("Results were similar.") repeat by chance
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
TOGETHER = 1 << 16  # tokens of Docs that are looked at in one batch, whatever each batch costs
MANY = 512  # Docs of a batch, however short
TOKENS = ("ORTH", "LOWER", "SPACY", "SENT_START")  # what is read of tokens, all at once
_READ: ContextVar[dict[Hashable, tuple[Doc, Any]] | None] = ContextVar("read", default=None)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One decision: a mention, a pair of entities, a parse.

    >>> import spacy
    >>> doc = spacy.blank("en")("SHC binds GRB2.")
    >>> pair = Candidate(doc, (doc[0:1], doc[2:3]), "d1", label=1.0)
    >>> [span.text for span in pair.spans]
    ['SHC', 'GRB2']
    """

    doc: Doc  # of a parse: a Doc of its own, with that parse set
    spans: tuple[Span, ...]  # what is judged; the focus of every representation
    document: str  # id that the reader gave to the document
    query: str = ""  # the unit that is ranked together (a sentence's parses)
    label: float | None = None  # gold answer; None when unknown
    facts: Mapping[str, float] | None = None  # what the task noted that speaks for it or against
    question: str = ""  # which of several questions it belongs to: a word, a set, an aspect
    answer: str = ""  # the answer it stands for, never just the right one; none: yes
    group: str = ""  # documents that are held out together; by default the document alone

    def __post_init__(self) -> None:
        if not self.group:
            object.__setattr__(self, "group", self.document)

    @property
    def asked(self) -> str:
        """Question and answer under one name, by which weights of their own are kept."""
        return asking(self.question, self.answer)


def asking(question: str, answer: str) -> str:
    """The name of an answer to a question, as it stands in feature names and saved models.

    >>> asking("type", "binding"), asking("", "DNA")
    ('type: binding', 'DNA')
    """
    return f"{question}: {answer}" if question else answer


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Where candidates stand among others: in which text, at which word, what they ask and judge.

    Spellings are numbers, equal for words that are equal in lower case.
    """

    texts: Indices  # (n,)
    places: Vector  # (n,) the first token of what is judged
    questions: tuple[str, ...]  # (n,) what is asked
    spellings: Indices  # (n,)

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Neighbourhood:
        """That of the first span of each candidate."""
        spans = [c.spans[0] if c.spans else c.doc[:] for c in candidates]
        return cls(
            _numbered([id(c.doc) for c in candidates]),
            np.array([span.start for span in spans], dtype=np.float64),
            tuple(c.asked for c in candidates),
            _numbered([span.text.lower() for span in spans]),
        )

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, index: Indices) -> Neighbourhood:
        """That of some candidates, as if they were all there are."""
        questions = tuple(self.questions[i] for i in index)
        return Neighbourhood(
            self.texts[index], self.places[index], questions, self.spellings[index]
        )


@dataclass(frozen=True, eq=False)
class Targets:
    """The candidates as learners see them: answers, and what belongs together.

    >>> same = np.array([0, 0, 1])  # the first two candidates are of one document
    >>> len(Targets(np.array([1.0, -1.0, 1.0]), same, same).y)
    3
    """

    y: Vector  # (n,)
    groups: Indices  # (n,) numbers of groups of documents, in order of first appearance
    queries: Indices  # (n,) likewise
    neighbourhood: Neighbourhood | None = (
        None  # for learners that look at other candidates of a text
    )

    weights: Vector | None = None  # (n,) positive factors of the squared errors; None: all 1

    def __post_init__(self) -> None:
        sizes = {len(self.y), len(self.groups), len(self.queries)}
        sizes |= set() if self.weights is None else {len(self.weights)}
        if len(sizes) != 1:
            raise ValueError(f"y, groups, queries and weights differ in length: {sorted(sizes)}")

    def __len__(self) -> int:
        return len(self.y)

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Targets:
        """The labels with their documents and queries; every candidate must have a label."""
        for index, candidate in enumerate(candidates):
            if candidate.label is None:
                raise ValueError(
                    f"candidate {index} of document {candidate.document!r} has no gold label. "
                    "Training and evaluation need an annotated corpus."
                )
        # Sentences of different documents may share a name, so the document is part of a query.
        queries = [(c.document, c.query) for c in candidates]
        return cls(
            labels_of(candidates),
            _numbered([c.group for c in candidates]),
            _numbered(queries),
            Neighbourhood.of(candidates),
        )

    def take(self, index: Indices) -> Targets:
        """The targets of some candidates."""
        neighbourhood = None if self.neighbourhood is None else self.neighbourhood.take(index)
        weights = None if self.weights is None else self.weights[index]
        return Targets(
            self.y[index], self.groups[index], self.queries[index], neighbourhood, weights
        )


def labels_of(candidates: Sequence[Candidate]) -> Vector:  # (n,)
    """The gold answers."""
    return np.array([c.label for c in candidates], dtype=np.float64)


def tokens_of(span: Span) -> list[int]:
    """Token indices of a mention in its Doc; a discontinuous one skips what lies between.

    A Span has no holes, so a reader keeps the pieces of a broken name under its span id.
    """
    pieces: dict[str, list[int]] = span.doc.user_data.get("pieces", {})
    return pieces.get(span.id_) or list(range(span.start, span.end))


def _numbered(keys: Sequence[object]) -> Indices:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def named_spans(doc: Doc, key: str) -> list[Span]:
    """The spans of a group in text order; a missing group is filled with ``doc.ents``.

    The shipped language model and all readers fill the group; other spaCy pipelines only have
    ``doc.ents``. What looks at names later finds them in the group.

    >>> import spacy
    >>> doc = spacy.blank("en")("SHC binds GRB2.")
    >>> doc.ents = [doc.char_span(0, 3, "GENE"), doc.char_span(10, 14, "GENE")]
    >>> named_spans(doc, "entities")
    [SHC, GRB2]
    """
    fill_names(doc, key)
    return sorted(doc.spans[key], key=attrgetter("start_char", "end_char", "id_"))


def fill_names(doc: Doc, key: str) -> None:
    """Fills a missing span group with ``doc.ents``, see ``named_spans``."""
    if key not in doc.spans:
        if not doc.has_annotation("ENT_IOB"):
            raise ValueError(
                f"document {document_id(doc)!r} has no span group {key!r} and no entities. Mark "
                f"the names in doc.spans[{key!r}], or run a recogniser before: `textrank apply` "
                "has one, while `run` and `train` learn from the names that a corpus gives."
            )
        from spacy.tokens import Span

        doc.spans[key] = [
            Span(doc, ent.start, ent.end, label=ent.label_, span_id=f"e{number}")
            for number, ent in enumerate(doc.ents)
        ]


def starts_of(doc: Doc) -> Indices:
    """The first token of each sentence, then the end; one sentence where none are marked.

    In one pass: ``span.sent`` looks at the whole Doc each time.
    """
    first = token_table(doc)["SENT_START"] == 1
    first[:1] = True
    return np.concatenate([first.nonzero()[0], [len(doc)]])


def sentence_sizes(candidates: Sequence[Candidate]) -> list[int]:
    """The words of the sentence that each candidate stands in; of the Doc where it has none."""
    known: dict[int, Indices] = {}
    sizes = []
    for candidate in candidates:
        doc = candidate.doc
        if id(doc) not in known:
            of = np.cumsum(token_table(doc)["SENT_START"] == 1)
            known[id(doc)] = np.bincount(of)[of] if len(doc) else np.zeros(0, dtype=np.intp)
        own = known[id(doc)]
        sizes.append(int(own[candidate.spans[0].start]) if candidate.spans else len(own))
    return sizes


@contextmanager
def reading_once() -> Iterator[None]:
    """While Docs are looked at again and again: what ``read_once`` made of one is kept."""
    token = _READ.set({} if (known := _READ.get()) is None else known)
    try:
        yield
    finally:
        _READ.reset(token)


def read_once(doc: Doc, key: Hashable, read: Callable[[], T]) -> T:
    """What ``read`` gives of a Doc; the same again within one ``reading_once``.

    Docs must not change meanwhile; they are held, since another one could get the place of one
    that is gone.
    """
    known = _READ.get()
    if known is None:
        return read()
    place = id(doc), key
    if place not in known:
        known[place] = doc, read()
    found: T = known[place][1]
    return found


def batches_of(docs: Iterable[Doc], size: int | None = None) -> Iterator[list[Doc]]:
    """Docs in batches of a size, or of about ``TOGETHER`` tokens: long ones need much memory."""
    batch: list[Doc] = []
    tokens = 0
    for doc in docs:
        batch.append(doc)
        tokens += len(doc)
        if len(batch) == (size or MANY) or (size is None and tokens >= TOGETHER):
            yield batch
            batch, tokens = [], 0
    if batch:
        yield batch


def token_table(doc: Doc) -> Mapping[str, NDArray[np.uint64]]:
    """The attributes ``TOKENS`` of all tokens of a Doc: keys of texts, 1 for yes."""

    def read() -> Mapping[str, NDArray[np.uint64]]:
        return dict(zip(TOKENS, doc.to_array(list(TOKENS)).T, strict=True))

    return read_once(doc, TOKENS, read)


def answers(doc: Doc, task: str) -> list[dict[str, Any]] | None:
    """The rows that a task put on a Doc; None where it has not been run."""
    found: list[dict[str, Any]] | None = doc._.get(f"textrank_{task}")
    return found


def identifiers_of(doc: Doc) -> Mapping[str, Sequence[str]] | None:
    """The identifiers (CURIEs) that a reader found for names, by span id; None where it said none.

    A name that is missing from the table has no identifier.
    """
    return doc.user_data.get("identifiers")


def held_together(docs: Sequence[Doc]) -> list[str]:
    """A name for each Doc, the same for all that share an original id or a sentence.

    Corpora hold the same abstract twice under two ids; hold-out by id alone would train on a copy
    of the test text. Sentences are compared in lower case, letters and digits only. The name is
    the id of the first Doc of the group.
    """
    parent = list(range(len(docs)))
    first: dict[tuple[str, str], int] = {}
    for number, doc in enumerate(docs):
        for mark in _marks(doc, number):
            _join(parent, first.setdefault(mark, number), number)
    ids = [document_id(doc, number) for number, doc in enumerate(docs)]
    return [ids[_root(parent, number)] for number in range(len(docs))]


def shares_text(docs: Sequence[Doc], others: Sequence[Doc]) -> list[bool]:
    """For each Doc whether an original id or a sentence of it stands in one of the others too.

    Ids that readers give are not compared: two corpora may count their documents alike.
    """
    known = {mark for doc in others for mark in text_marks(doc)}
    return [any(mark in known for mark in text_marks(doc)) for doc in docs]


def text_marks(doc: Doc) -> Iterator[tuple[str, str]]:
    """Yield what a copy of a Doc in another corpus shares: its original id and its sentences.

    Sentences are in lower case, letters and digits only; those of few words are left out.
    """
    return (mark for mark in _marks(doc, 0) if mark[0] != "id")


def document_id(doc: Doc, number: int = 0) -> str:
    """The id a reader gave, or the number of the Doc."""
    return str(doc.user_data.get("document") or number)


def _marks(doc: Doc, number: int) -> Iterator[tuple[str, str]]:
    yield "id", document_id(doc, number)
    if doc.user_data.get("origin"):
        yield "origin", str(doc.user_data["origin"])
    if doc.has_annotation("SENT_START"):
        for sentence in doc.sents:
            words = re.findall(r"[^\W_]+", sentence.text.lower())
            if len(words) >= WORDS:
                yield "sentence", " ".join(words)


def _root(parent: list[int], number: int) -> int:
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number


def _join(parent: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(parent, one), _root(parent, other)))
    parent[second] = first  # the earlier Doc names the group


AT_ONCE = 200_000  # words of sentences that candidates are represented in at a time
ALONE = 20  # words that a candidate of one name counts for: what is read around it has a bound


@dataclass(frozen=True, eq=False)
class DocumentCandidates:
    """Candidates with all others of their texts, which a second stage looks at."""

    everyone: list[Candidate]
    neighbourhood: Neighbourhood
    rows: Indices  # where the candidates stand among all

    @classmethod
    def of(cls, task: Task, candidates: Sequence[Candidate]) -> DocumentCandidates:
        """All candidates of the Docs that these are of."""
        docs = {id(c.doc): c.doc for c in candidates}
        everyone = [c for doc in docs.values() for c in task.candidates(doc)]
        place = {_key(c): row for row, c in enumerate(everyone)}
        for candidate in candidates:
            if _key(candidate) not in place:
                raise ValueError(
                    f"{candidate.spans} of document {candidate.document!r} is none of the "
                    "candidates that the task finds there, so its neighbours are unknown."
                )
        rows = np.array([place[_key(c)] for c in candidates], dtype=np.intp)
        return cls(everyone, Neighbourhood.of(everyone), rows)


def _key(candidate: Candidate) -> tuple[Any, ...]:
    places = tuple((s.start, s.end, s.id_) for s in candidate.spans)
    return id(candidate.doc), candidate.query, candidate.asked, places


def portions(candidates: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """Candidates in portions whose sentences have no more than ``AT_ONCE`` words together.

    What a representation of a pair needs grows with its sentence; a list of four hundred names
    would else take all memory there is. That of one name does not; and since every portion reads
    its text anew, there must be no more of them in a long sentence than in short ones.
    """
    start, words = 0, 0
    few = sum(map(_most, candidates)) <= AT_ONCE  # then nobody need look at their sentences
    sizes = [0] * len(candidates) if few else map(_weight, candidates, sentence_sizes(candidates))
    for end, size in enumerate(sizes):
        words += size
        if words > AT_ONCE and end > start:
            yield candidates[start:end]
            start, words = end, size
    if start < len(candidates):
        yield candidates[start:]


def _most(candidate: Candidate) -> int:
    """What a candidate counts for at the most."""
    spans = candidate.spans
    return max(ALONE, len(spans[0])) if len(spans) == 1 else len(candidate.doc)


def _weight(candidate: Candidate, sentence: int) -> int:
    return min(sentence, _most(candidate))


META_KEY = "training_texts"  # in the meta.json of a model
MAX_HASHES = 1 << 15  # kept in a model: 256 kB; of more, the smallest
HASH_BYTES = 8


@dataclass(frozen=True)
class TrainingOverlap:
    """How many evaluated documents a model was trained on.

    ``documents`` is the number that share a sentence or the whole text with a training document.
    It is None where the model has no hashes and only the name of the corpus is the same.
    """

    documents: int | None
    total: int

    @property
    def share(self) -> float | None:
        """The fraction of the evaluated documents; None where their number is not known."""
        return None if self.documents is None else self.documents / self.total

    @property
    def note(self) -> str:
        """A sentence for reports and warnings."""
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
        """Plain values for JSON."""
        return {"documents": self.documents, "share": self.share}


def hash_texts(docs: Sequence[Doc]) -> str:
    """Return hashes of the sentences and texts of documents, as base64 for a model's meta.

    Texts are compared in lower case, letters and digits only. At most ``MAX_HASHES`` are kept,
    those of the smallest value, so that a large corpus is still recognised by some sentences.
    """
    hashes = sorted(set().union(*map(_hashes, docs)))[:MAX_HASHES]
    return base64.b64encode(np.array(hashes, dtype="<u8").tobytes()).decode("ascii")


def find_overlap(
    meta: Mapping[str, Any], docs: Sequence[Doc], corpus: str = ""
) -> TrainingOverlap | None:
    """Return how many documents a model was trained on, by its meta; None where none is known.

    A model without hashes, such as one of an older version, is compared by the name of its corpus.
    """
    known = _known_hashes(meta)
    if known is None:
        names = {name.strip().lower() for name in str(meta.get("corpus") or "").split(",")}
        same = bool(corpus) and corpus.lower() in names
        return TrainingOverlap(None, len(docs)) if same else None
    count = sum(not known.isdisjoint(_hashes(doc)) for doc in docs)
    return TrainingOverlap(count, len(docs)) if count else None


def _known_hashes(meta: Mapping[str, Any]) -> set[int] | None:
    """The hashes of a model; None where it has none, or what it has is damaged."""
    text = meta.get(META_KEY)
    if not isinstance(text, str):
        return None
    try:
        data = base64.b64decode(text, validate=True)
        return set(np.frombuffer(data, dtype="<u8").tolist())
    except (binascii.Error, ValueError):
        return None


def _hashes(doc: Doc) -> set[int]:
    whole = " ".join(re.findall(r"[^\W_]+", doc.text.lower()))
    marks = [*text_marks(doc), *([("text", whole)] if whole else [])]
    return {_hash("\0".join(mark)) for mark in marks}


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES)
    return int.from_bytes(digest.digest(), "little")
