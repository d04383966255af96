"""What a model keeps of its training documents, so that they can be added, forgotten and traced.

``TrainingData`` holds the training candidates as the learner saw them (features, or
representations) with labels, queries and the documents they come from. It has no text: of each
document it keeps the id and hashes of its sentences, by which copies are recognised. A model stores
it in ``training.npz`` if it was trained with ``updatable``.

``StoredInfluence`` is for a model that keeps no training data. It holds, for each training
document, how the coefficients of the model would change without it, rounded to save space.
``Model.influence(candidates, stored=...)`` multiplies kernel values with them. Its file has ids of
documents and numbers, no text. It belongs to one model, whose checksum it carries, and is refused
for any other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from numpy.typing import NDArray
from spacy.tokens import Doc

from textrank.candidates import (
    Candidate,
    PreferenceGraph,
    Targets,
    document_id,
    encode_hashes,
    full_text_key,
    gold_labels,
    hash_key,
    number_keys,
    text_keys,
)
from textrank.features import Arrays, Features, Indices, Matrix, Vector, take_rows
from textrank.io import pack_arrays, read_arrays, unpack_arrays, write_arrays

if TYPE_CHECKING:
    from textrank.model import Model

TRAINING_FILE = "training.npz"
MAX_NAMED_DOCUMENTS = 5  # documents to name in a message
INFLUENCE_FILE = "influence.npz"  # name of the file beside a model
INFLUENCE_FORMAT = 1
INFLUENCE_KEYS = ("format", "model", "documents", "values", "step")
INFLUENCE_STEP = 0.005  # of rounding, in units of raw scores
INFLUENCE_JITTER = 1e-9  # added to the diagonal of a Gram matrix, relative to its mean


@dataclass(frozen=True)
class TrainingDocument:
    """A training document: its id and hashes of its text, which copies of it have too."""

    id: str
    sentences: frozenset[int]  # hashes of ``text_keys``: original id and sentences
    text: int | None  # hash of the whole text; None for a text without letters and digits

    @classmethod
    def from_doc(cls, doc: Doc, number: int) -> TrainingDocument:
        """Hash the sentences and the whole text of a Doc; ``number`` is its id if it has none.

        The text is None for a Doc without words.
        """
        whole = full_text_key(doc)
        return cls(
            document_id(doc, number),
            frozenset(map(hash_key, text_keys(doc))),
            None if whole is None else hash_key(whole),
        )


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training candidates as a learner saw them, with their documents.

    ``n`` candidates of ``g`` documents, of which some may have no candidate.
    """

    documents: tuple[TrainingDocument, ...]  # (g,) in the order of training, ids are unique
    document_of: Indices  # (n,) number of the document of each candidate
    inputs: Any  # Features, or representations if the kernel has no explicit features; n rows
    y: Vector  # (n,) gold labels
    queries: Indices  # (n,) number of the query whose candidates are ranked together
    head_labels: Matrix | None = None  # (n, h) labels of several heads
    preferences: PreferenceGraph | None = None

    def __len__(self) -> int:
        return len(self.y)

    @classmethod
    def from_candidates(
        cls, docs: Sequence[Doc], candidates: Sequence[Candidate], inputs: Any
    ) -> TrainingData:
        """Build the training data of labelled candidates of Docs.

        ``inputs`` are their features or representations, in the same order. Docs that share an id
        count as one document, with the sentences of all and the whole text of the last. Labels of
        heads are None unless all candidates have the same number of them. Raises KeyError if a
        candidate is of a document that is not among the Docs.
        """
        documents: dict[str, TrainingDocument] = {}
        for number, doc in enumerate(docs):
            new = TrainingDocument.from_doc(doc, number)
            earlier = documents.get(new.id, new)
            documents[new.id] = replace(new, sentences=new.sentences | earlier.sentences)
        number_of = {name: number for number, name in enumerate(documents)}
        labels = [candidate.head_labels for candidate in candidates]
        has_heads = len({len(row) for row in labels}) == 1 and bool(labels[0])
        return cls(
            tuple(documents.values()),
            np.array([number_of[c.document] for c in candidates], dtype=np.intp),
            inputs,
            gold_labels(candidates),
            number_keys([(c.document, c.query) for c in candidates]),
            np.array(labels, dtype=np.float64) if has_heads else None,
            PreferenceGraph.from_candidates(candidates),
        )

    @property
    def names(self) -> list[str]:
        """Id of the document of each candidate, n of them."""
        ids = [document.id for document in self.documents]
        return [ids[number] for number in self.document_of]

    def to_targets(self) -> Targets:
        """Return the targets of all candidates; documents that share text are one group.

        Groups and queries are numbered from 0; there are no context and no weights. Heads are left
        out, all of them, unless each has positive and negative labels, as in training.
        """
        heads = self.head_labels
        if heads is not None and not ((heads > 0).any(axis=0) & (heads < 0).any(axis=0)).all():
            heads = None
        groups = self._group_documents()[self.document_of]
        return Targets(
            self.y,
            number_keys(groups.tolist()),
            number_keys(self.queries.tolist()),
            preferences=self.preferences,
            heads=heads,
        )

    def _group_documents(self) -> Indices:  # (g,)
        """Return a number for each document, equal for documents that share text.

        Sharing a sentence or origin is transitive. Numbers are arbitrary, not consecutive.
        """
        from scipy.cluster.hierarchy import DisjointSet  # slow to import, and only needed here

        groups = DisjointSet(range(len(self.documents)))
        first_with_hash: dict[int, int] = {}
        for number, document in enumerate(self.documents):
            for key in document.sentences:
                groups.merge(first_with_hash.setdefault(key, number), number)
        return np.array([groups[number] for number in range(len(self.documents))], dtype=np.intp)

    def encode_text_hashes(self) -> str:
        """Return the hashes of the texts of all documents as base64 for a model's meta.

        The form is that of ``candidates.hash_texts``: at most ``MAX_HASHES``, the smallest ones.
        """
        hashes: set[int] = set()
        for document in self.documents:
            hashes |= document.sentences
            hashes |= set() if document.text is None else {document.text}
        return encode_hashes(hashes)

    def find_copies(self, documents: Collection[str]) -> list[str]:
        """Return the ids of other documents that share a sentence or origin with one of these.

        They are in the order of training. Ids that are not in the training data are ignored.
        """
        wanted = {key for d in self.documents if d.id in documents for key in d.sentences}
        return [d.id for d in self.documents if d.id not in documents and d.sentences & wanted]

    def without(self, documents: Iterable[str]) -> TrainingData:
        """Return new training data without these documents; features of no candidate are dropped.

        ``documents`` are ids. The others keep their order; documents, queries and rows of
        preferences are numbered anew, and preferences with a removed candidate are dropped. Raises
        ValueError for an id that is not in the training data, and if no candidate would be left.
        """
        gone = set(documents)
        ids = [document.id for document in self.documents]
        if unknown := sorted(gone - set(ids)):
            examples = ", ".join(ids[:MAX_NAMED_DOCUMENTS])
            raise ValueError(
                f"{unknown[0]!r} is not a training document of this model. It has {len(ids)}, "
                f"such as {examples}. Check the id."
            )
        keep = np.array([number for number, name in enumerate(ids) if name not in gone], np.intp)
        rows = np.flatnonzero(np.isin(self.document_of, keep))
        if not len(rows):
            raise ValueError(
                "nothing would be left to learn from. Keep a document with candidates."
            )
        inputs = take_rows(self.inputs, rows)
        return TrainingData(
            tuple(self.documents[number] for number in keep),
            np.searchsorted(keep, self.document_of[rows]),
            _drop_unused_columns(inputs) if isinstance(inputs, Features) else inputs,
            self.y[rows],
            number_keys(self.queries[rows].tolist()),
            None if self.head_labels is None else self.head_labels[rows],
            None if self.preferences is None else self.preferences.take(rows),
        )

    def join(self, other: TrainingData, inputs: Any) -> TrainingData:
        """Return these candidates followed by those of ``other``, whose documents must be new.

        ``inputs`` are the representations of both, in this order. Labels of heads are kept only if
        both have them. Queries of ``other`` are numbered after these. Raises ValueError for a
        document id that is in both, and if either has preferences.
        """
        present = {document.id for document in self.documents}
        if repeated := [document.id for document in other.documents if document.id in present]:
            raise ValueError(
                f"document {repeated[0]!r} is in the model already. Forget it first, or give the "
                "new one another id."
            )
        if self.preferences is not None or other.preferences is not None:
            raise ValueError(
                "candidates that are compared with one another cannot be added: comparisons with "
                "those in the model are not stored. Train again on all."
            )
        heads = None
        if self.head_labels is not None and other.head_labels is not None:
            heads = np.concatenate([self.head_labels, other.head_labels])
        return TrainingData(
            self.documents + other.documents,
            np.concatenate([self.document_of, other.document_of + len(self.documents)]),
            inputs,
            np.concatenate([self.y, other.y]),
            np.concatenate([self.queries, other.queries + self.queries.max(initial=-1) + 1]),
            heads,
        )

    def to_arrays(self) -> Arrays:
        """Return the content as arrays by key, for ``write_arrays``; ``from_arrays`` reads them.

        By document: ``documents`` (a prefix of several keys, for the ids), ``sentence_counts``,
        ``has_text``. Sentence hashes of all documents, sorted in each, are in ``sentences``, text
        hashes in ``texts``. By candidate: ``document_of``, ``y``, ``queries``, ``head_labels`` (if
        any) and the packed inputs. By preference, if any: ``pairs``, ``magnitudes``,
        ``pair_queries`` (if any).
        """
        sizes = [len(document.sentences) for document in self.documents]
        hashes = [key for document in self.documents for key in sorted(document.sentences)]
        texts = [[] if d.text is None else [d.text] for d in self.documents]
        arrays: dict[str, Any] = {
            **pack_arrays([document.id for document in self.documents], "documents"),
            "sentence_counts": np.array(sizes, dtype=np.int64),
            "sentences": np.array(hashes, dtype=np.uint64),
            "has_text": np.array([len(text) for text in texts], dtype=bool),
            "texts": np.array([key for text in texts for key in text], dtype=np.uint64),
            "document_of": self.document_of.astype(np.int64),
            "y": self.y,
            "queries": self.queries.astype(np.int64),
            **pack_arrays(self.inputs),
        }
        if self.head_labels is not None:
            arrays["head_labels"] = self.head_labels
        if self.preferences is not None:
            graph = self.preferences
            arrays |= {"pairs": graph.pairs, "magnitudes": graph.magnitudes}
            if graph.queries is not None:
                arrays["pair_queries"] = graph.queries
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> TrainingData:
        """Rebuild the training data from the arrays by key that ``to_arrays`` returned.

        Missing ``head_labels``, ``pairs`` or ``pair_queries`` mean None. Raises KeyError for
        another missing key, and ValueError or LookupError if sizes or indices do not fit, or two
        documents have the same id.
        """
        ids = [str(name) for name in unpack_arrays(arrays, "documents")]
        counts, has_text = arrays["sentence_counts"], arrays["has_text"].astype(bool)
        texts = iter(arrays["texts"].tolist())
        ends = np.cumsum(counts).tolist()
        if not len(ids) == len(counts) == len(has_text) == len(set(ids)):
            raise ValueError("the documents of the training data do not fit together")
        if len(arrays["texts"]) != has_text.sum():
            raise ValueError("the training data does not have one text per document with text")
        documents = tuple(
            TrainingDocument(
                name,
                frozenset(arrays["sentences"][end - count : end].tolist()),
                next(texts) if is_given else None,
            )
            for name, count, end, is_given in zip(
                ids, counts.tolist(), ends, has_text.tolist(), strict=True
            )
        )
        graph = None
        if "pairs" in arrays:
            graph = PreferenceGraph(
                arrays["pairs"].astype(np.intp), arrays["magnitudes"], arrays.get("pair_queries")
            )
        data = cls(
            documents,
            arrays["document_of"].astype(np.intp),
            unpack_arrays(arrays),
            np.asarray(arrays["y"], dtype=np.float64),
            arrays["queries"].astype(np.intp),
            np.asarray(arrays["head_labels"], np.float64) if "head_labels" in arrays else None,
            graph,
        )
        data._check()
        return data

    def _check(self) -> None:
        """Raise ValueError unless all parts have one row per candidate and name a document.

        Labels, also those of heads, must be finite, and preferences be of rows that exist.
        """
        heads = self.y if self.head_labels is None else self.head_labels
        sizes = {len(part) for part in (self.document_of, self.inputs, self.y, self.queries, heads)}
        is_known = (self.document_of >= 0) & (self.document_of < len(self.documents))
        is_finite = np.isfinite(self.y).all() and np.isfinite(heads).all()
        if len(sizes) != 1 or not is_known.all() or not is_finite:
            raise ValueError("the candidates of the training data do not fit together")
        pairs = np.empty(0) if self.preferences is None else self.preferences.pairs
        if pairs.min(initial=0) < 0 or pairs.max(initial=-1) >= len(self):
            raise ValueError("the preferences of the training data are of candidates it lacks")


def _drop_unused_columns(features: Features) -> Features:
    """Return features without the columns, and words of names, that no row has.

    A column whose stored values are all zero counts as one that no row has.
    """
    values = sp.csr_array(features.values)
    used = np.unique(values.indices[values.data != 0])
    return Features(sp.csr_array(values[:, used]), features.names.take(used).drop_unused_words())


def model_checksum(model: Model) -> str:
    """Return the SHA-256 of a model's coefficients, in hexadecimal, which tells models apart."""
    coef = np.ascontiguousarray(model.fit.coef, dtype="<f8")
    return hashlib.sha256(coef.tobytes()).hexdigest()


def basis_factor(model: Model) -> Matrix:  # (b, b)
    """Return the lower Cholesky factor ``L`` of the Gram matrix of the basis of a model.

    The basis is ``model.support``, whose order the rows have. ``INFLUENCE_JITTER`` times the mean
    of the diagonal is added to it, so that equal candidates do no harm.
    """
    support: Any = model.support
    K = np.asarray(model.pipeline.kernel(support, support), dtype=np.float64)
    K = (K + K.T) / 2
    K.flat[:: len(K) + 1] += INFLUENCE_JITTER * np.trace(K) / len(K)
    return np.asarray(sla.cholesky(K, lower=True))


@dataclass(frozen=True, eq=False)
class StoredInfluence:
    """Rounded changes of the coefficients of a model without each of g training documents.

    Rounded are the coordinates ``L' changes``, with ``L`` from ``basis_factor``, in which the norm
    of a function is the Euclidean one. The change of the score of ``x`` is their product with
    ``z = L^-1 k_x``. The length of ``z`` is at most ``sqrt(k(x, x))``, so rounding by at most half
    a ``step`` changes a raw score by about ``step / sqrt(12)`` times that.
    """

    model: str  # checksum of the model, see ``model_checksum``
    documents: tuple[str, ...]  # (g,) ids; documents that share text are one, joined by " + "
    values: NDArray[Any]  # (b, g, h) coordinates in units of ``step``
    step: float

    @classmethod
    def from_changes(
        cls,
        changes: Matrix,
        documents: Sequence[str],
        model: Model,
        step: float | None = INFLUENCE_STEP,
    ) -> StoredInfluence:
        """Round the changes (b, g, h) of the coefficients of a model; ``step`` None keeps float64.

        What is stored are coordinates ``L' changes``, with ``L`` from ``basis_factor``, rounded to
        16-bit numbers of steps; without rounding ``step`` is 1. Raises ValueError if a coordinate
        is more than 32767 steps.
        """
        b, g, h = changes.shape
        flat = (basis_factor(model).T @ changes.reshape(b, g * h)).reshape(b, g, h)
        if step is None:
            return cls(model_checksum(model), tuple(documents), flat, 1.0)
        rounded = np.rint(flat / step)
        if np.abs(rounded).max(initial=0) > np.iinfo(np.int16).max:
            raise ValueError(f"step {step} is too small for these changes. Choose a larger one.")
        return cls(model_checksum(model), tuple(documents), rounded.astype(np.int16), step)

    def of_scores(self, kernel_values: Matrix, model: Model) -> Matrix:  # (m, g, h)
        """Return the change (m, g, h) of each raw score, of h heads, without each document.

        ``kernel_values`` (m, b) are those of the candidates with the basis of ``model``, which must
        be the model of these changes; this is not checked. Products of rounded changes are computed
        in single precision.
        """
        b, g, h = self.values.shape
        Z = sla.solve_triangular(basis_factor(model), kernel_values.T, lower=True).T
        precision = np.float64 if self.values.dtype == np.float64 else np.float32
        flat = self.values.reshape(b, g * h).astype(precision)
        changes = Z.astype(precision) @ flat
        return np.asarray(changes.reshape(-1, g, h), dtype=np.float64) * self.step

    def to_disk(self, file: str | Path) -> None:
        """Write all fields to a compressed array file (.npz); an existing one is replaced.

        16-bit values are stored as their low bytes, plus the position and value of those that do
        not fit into one byte. Nothing is lost.
        """
        # Low and high bytes apart, document by document, compress best.
        values = np.ascontiguousarray(self.values.transpose(2, 1, 0))
        is_rounded = values.dtype == np.int16
        low = values.astype(np.int8) if is_rounded else values
        arrays = {
            "format": np.array(INFLUENCE_FORMAT),
            "model": np.frombuffer(self.model.encode(), dtype=np.uint8),
            "documents": np.frombuffer(json.dumps(self.documents).encode(), dtype=np.uint8),
            "step": np.array(self.step),
            "values": low,
        }
        if is_rounded:
            large = np.flatnonzero(values != low)
            arrays |= {"large": large.astype(np.int64), "large_values": values.flat[large]}
        write_arrays(Path(file), arrays)

    @classmethod
    def from_disk(cls, file: str | Path, model: Model) -> StoredInfluence:
        """Read a file that ``to_disk`` wrote for ``model``.

        Raises
        ------
        ValueError
            If the file is missing, damaged or of another format version, or belongs to a model with
            another checksum.
        """
        path = Path(file)
        arrays = read_arrays(path)
        if any(key not in arrays for key in INFLUENCE_KEYS):
            raise ValueError(f"{path}: not a file of influences. Build it again.")
        if arrays["format"] != INFLUENCE_FORMAT:
            raise ValueError(
                f"{path}: format {arrays['format']}, but this textrank reads {INFLUENCE_FORMAT}. "
                "Install the version that wrote it."
            )
        checksum = arrays["model"].tobytes().decode("ascii", "replace")
        if checksum != model_checksum(model):
            raise ValueError(
                f"{path} belongs to another model (another version of it, for instance). Get the "
                "file of this one, or build it with make models/ppi-influence."
            )
        try:
            documents = tuple(json.loads(arrays["documents"].tobytes()))
            values = arrays["values"]
            if values.dtype == np.int8:
                values = values.astype(np.int16)
                large: Any = arrays["large"]
                np.put(values, large, arrays["large_values"])
            heads = 1 if model.fit.coef.ndim == 1 else model.fit.coef.shape[1]
            if values.shape != (heads, len(documents), len(model.fit.coef)):
                raise ValueError("shapes do not fit the model")
            step = float(arrays["step"])
            if not 0 < step < np.inf:
                raise ValueError("the step is not a positive number")
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: damaged ({error}). Restore the file.") from error
        return cls(checksum, documents, values.transpose(2, 1, 0), step)
