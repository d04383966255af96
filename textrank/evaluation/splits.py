"""Divisions into folds that keep what belongs together on one side."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textrank.candidates import Candidate, Targets, document_id
from textrank.features import Indices
from textrank.protocols import Splitter


def make_folds(documents: Sequence[str], k: int, seed: int) -> Indices:
    """The fold of each entry, 0 .. k - 1; entries of one document share it.

    The distinct documents are shuffled with the seed and dealt out, so that folds hold equally
    many, give or take one. Documents are sorted first: the folds depend on their names alone, not
    on the order of a file.

    >>> make_folds(["a", "a", "b", "c", "d"], k=2, seed=1)
    array([0, 0, 1, 0, 1])
    """
    names = sorted(set(documents))
    if not 2 <= k <= len(names):
        raise ValueError(
            f"cannot deal {len(names)} documents out into {k} folds: at least 2 folds and no more "
            "than documents. Choose another number of folds. (Documents that share a sentence or "
            "an original count as one, for they are held out together.)"
        )
    order = np.random.default_rng(seed).permutation(len(names))
    fold = {names[document]: place % k for place, document in enumerate(order)}
    return np.array([fold[document] for document in documents], dtype=np.intp)


def folds_from_table(documents: Sequence[str], table: Mapping[str, int]) -> Indices:
    """The fold of each entry as a table of documents gives it, renumbered from 0 without gaps.

    Every document must be in the table; documents that only the table knows do no harm.
    """
    missing = sorted(set(documents) - set(table))
    if missing:
        raise ValueError(
            f"{len(missing)} documents are in no fold, the first is {missing[0]!r}. "
            "Name every document of the corpus in the fold file."
        )
    given = [table[document] for document in documents]
    numbers = {fold: i for i, fold in enumerate(sorted(set(given)))}
    if len(numbers) < 2:
        raise ValueError(
            f"the fold file puts all documents into fold {given[0] if given else 'none'}. "
            "Evaluation needs at least 2 folds."
        )
    return np.array([numbers[fold] for fold in given], dtype=np.intp)


INSIDE = "alpha and threshold by leave-{unit}-out inside the training folds"


@dataclass(frozen=True, eq=False)
class Split:
    """The fold of each candidate, for every repetition, and how it came about."""

    targets: Targets  # whose documents are the units held out together inside training
    partitions: Sequence[Indices]
    procedure: str
    seed: int | None = None
    notes: Sequence[str] = ()
    tested: frozenset[int] | None = None  # the folds that are measured; None: all of them


@dataclass(frozen=True)
class DocumentFolds:
    """Whole documents, shuffled with the seed and dealt out evenly; repeated with further seeds.

    >>> import spacy
    >>> docs = [spacy.blank('en')(word) for word in ('one', 'two', 'three')]
    >>> found = [Candidate(doc, (doc[:1],), doc.text, label=1.0) for doc in docs for _ in range(2)]
    >>> (fold,) = DocumentFolds(folds=3).split(found, Targets.from_candidates(found)).partitions
    >>> bool((fold[::2] == fold[1::2]).all())  # candidates of a document stay together
    True
    """

    folds: int = 10
    seed: int = 0
    splits: int = 1

    def __post_init__(self) -> None:
        _check_splits(self.splits)

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """The same folds for the same documents, whatever their order."""
        names = [candidate.group for candidate in candidates]
        partitions = [make_folds(names, self.folds, self.seed + s) for s in range(self.splits)]
        words = _words(f"{self.folds} folds by document", self.splits, "document")
        return Split(targets, partitions, words, self.seed)


@dataclass(frozen=True)
class GivenFolds:
    """The folds of a table ``{document: fold}``."""

    table: Mapping[str, int]

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """The given folds, refused where they would train on a copy of a test document."""
        fold: dict[str, tuple[str, int]] = {}
        for candidate in candidates:
            name = document_id(candidate.doc)
            if name in self.table:
                first = fold.setdefault(candidate.group, (name, self.table[name]))
                if first[1] != self.table[name]:
                    raise ValueError(
                        f"the given folds put {first[0]!r} in fold {first[1]} and {name!r}, which "
                        f"shares text with it, in fold {self.table[name]}. "
                        "Move one to the other's fold."
                    )
        partition = folds_from_table([document_id(c.doc) for c in candidates], self.table)
        return Split(targets, [partition], _words("given folds by document", 1, "document"))


@dataclass(frozen=True)
class LeaveDocumentOut:
    """Every document a fold of its own; single documents seldom have an AUC, so see ``pooled``."""

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """As many folds as documents."""
        names = [candidate.group for candidate in candidates]
        _check_units(len(set(names)), "document")
        words = _words("leave-document-out", 1, "document")
        return Split(targets, [_numbered(names)], words)


@dataclass(frozen=True)
class LeaveQueryOut:
    """Every query a fold of its own, as rankings are tested; documents are split."""

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """As many folds as queries."""
        _check_units(len(np.unique(targets.queries)), "query")
        several = len(np.unique(targets.queries)) > len(np.unique(targets.groups))
        notes = ["Queries of one document stand on both sides."] if several else []
        units = replace(targets, groups=targets.queries)
        words = _words("leave-query-out", 1, "query")
        return Split(units, [_numbered(targets.queries.tolist())], words, notes=notes)


@dataclass(frozen=True)
class FiveByTwo:
    """Five divisions into two halves of the documents, for the combined 5×2cv F-test."""

    seed: int = 0

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Ten folds in five pairs."""
        split = DocumentFolds(2, self.seed, 5).split(candidates, targets)
        return replace(split, procedure=_words("5×2 folds by document", 1, "document"))


@dataclass(frozen=True)
class TrainTest:
    """A share of the documents is tested once, on a model of the rest."""

    share: float = 0.25
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ValueError(f"share of test documents lies between 0 and 1, got {self.share}")

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Fold 0 is the test part, fold 1 is trained on."""
        names = [candidate.group for candidate in candidates]
        number = len(set(names))
        _check_units(number, "document")
        tests = min(max(round(self.share * number), 1), number - 1)
        order = make_folds(names, number, self.seed)  # a random rank for each document
        words = f"{tests} of {number} documents tested on a model of the rest; " + INSIDE
        partition = np.where(order < tests, 0, 1).astype(np.intp)
        return Split(targets, [partition], words.format(unit="document"), self.seed,
                        tested=frozenset({0}))  # fmt: skip


@dataclass(frozen=True)
class SentenceFolds:
    """Whole sentences (queries) dealt out, documents split: shows what that leak is worth."""

    folds: int = 10
    seed: int = 0
    splits: int = 1

    def __post_init__(self) -> None:
        _check_splits(self.splits)

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Folds of sentences; also inside training, sentences are held out alone."""
        return _leak(self, targets, targets.queries, "sentence")


@dataclass(frozen=True)
class LeakyFolds:
    """Single candidates dealt out: pairs of one sentence on both sides. Never report this."""

    folds: int = 10
    seed: int = 0
    splits: int = 1

    def __post_init__(self) -> None:
        _check_splits(self.splits)

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Folds of candidates; also inside training, candidates are held out alone."""
        return _leak(self, targets, np.arange(len(targets), dtype=np.intp), "candidate")


PROTOCOLS = (
    *("documents", "leave-document-out", "leave-query-out", "5x2", "train-test"),
    *("sentences", "leaky"),
)


def make_splitter(
    name: str = "documents",
    folds: int | Mapping[str, int] = 10,
    *,
    seed: int = 0,
    splits: int = 1,
) -> Splitter:
    """A protocol by its name on the command line.

    >>> make_splitter("leaky", folds=5)
    LeakyFolds(folds=5, seed=0, splits=1)
    """
    if isinstance(folds, Mapping):
        if name != "documents" or splits != 1:
            raise ValueError(
                f"given folds are one split of documents, so they do not go with protocol "
                f"{name!r} or {splits} splits. Leave out the folds, or the others."
            )
        return GivenFolds(folds)
    known: dict[str, Callable[[], Splitter]] = {
        "documents": lambda: DocumentFolds(folds, seed, splits),
        "leave-document-out": LeaveDocumentOut,
        "leave-query-out": LeaveQueryOut,
        "5x2": lambda: FiveByTwo(seed),
        "train-test": lambda: TrainTest(seed=seed),
        "sentences": lambda: SentenceFolds(folds, seed, splits),
        "leaky": lambda: LeakyFolds(folds, seed, splits),
    }
    if name not in known:
        raise ValueError(f"no protocol {name!r}; there are: {', '.join(PROTOCOLS)}.")
    return known[name]()


def _leak(
    settings: SentenceFolds | LeakyFolds, targets: Targets, units: Indices, unit: str
) -> Split:
    note = (
        f"LEAKY: folds by {unit} put text of one document on both sides. The figures are inflated; "
        "they show the size of the leak and must not be reported as a result."
    )
    warnings.warn(note, stacklevel=3)
    names = [f"{number:08d}" for number in units]
    partitions = [
        make_folds(names, settings.folds, settings.seed + split) for split in range(settings.splits)
    ]
    words = _words(f"{settings.folds} folds by {unit}", settings.splits, unit)
    return Split(replace(targets, groups=units), partitions, words, settings.seed, [note])


def _words(what: str, splits: int, unit: str) -> str:
    times = f", {splits} divisions" if splits > 1 else ""
    return f"{what}{times}; {INSIDE.format(unit=unit)}"


def _numbered(names: Sequence[object]) -> Indices:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)


def _check_splits(splits: int) -> None:
    if splits < 1:
        raise ValueError(f"splits must be at least 1, got {splits}")


def _check_units(number: int, unit: str) -> None:
    if number < 2:
        raise ValueError(f"leaving a {unit} out needs at least 2, the corpus has {number}")
