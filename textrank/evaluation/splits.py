"""Splitters: divide candidates into folds that keep together what must not be separated.

By default folds consist of whole groups (``Candidate.group``: documents that share text are one
group). Splitters that separate documents measure by how much this leak inflates results, and
label their reports. ``make_splitter`` builds a splitter by its name on the command line.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from textrank.candidates import Candidate, Targets, document_id, number_keys
from textrank.features import Indices
from textrank.protocols import Splitter

INNER_SELECTION = "alpha and threshold by leave-{unit}-out inside the training folds"


@dataclass(frozen=True, eq=False)
class Split:
    """The folds of n candidates, once per repetition, and a description for the report.

    Each tested fold is scored by a model of all others.
    """

    targets: Targets  # whose groups are held out together inside the training folds
    partitions: Sequence[Indices]  # (n,) the fold of each candidate, 0 .., for each repetition
    procedure: str  # one line for the report
    seed: int | None = None  # None: nothing was drawn at random
    notes: Sequence[str] = ()  # further sentences for the report
    tested: frozenset[int] | None = None  # folds that are evaluated; None: all
    holds_out_pairs: bool = False  # leave-pair-out: no partitions, see LeavePairOut


# Folds --------------------------------------------------------------------------------------------


def make_folds(groups: Sequence[str], k: int, seed: int) -> Indices:
    """Return the fold of each entry, 0 .. k - 1; entries of one group have the same fold.

    The distinct groups are sorted, shuffled with the seed and dealt out, so that folds have equally
    many groups, give or take one. The folds depend on names and seed alone, not on their order.
    Raises ValueError unless ``2 <= k <= number of groups``.

    >>> make_folds(["a", "a", "b", "c", "d"], k=2, seed=1)
    array([0, 0, 1, 0, 1])
    """
    names = sorted(set(groups))
    if not 2 <= k <= len(names):
        raise ValueError(
            f"cannot divide {len(names)} documents into {k} folds: choose at least 2 folds and at "
            "most as many as documents. (Documents that share a sentence or an original count as "
            "one, because they are held out together.)"
        )
    order = np.random.default_rng(seed).permutation(len(names))
    fold = {names[group]: position % k for position, group in enumerate(order)}
    return np.array([fold[group] for group in groups], dtype=np.intp)


def folds_from_table(documents: Sequence[str], table: Mapping[str, int]) -> Indices:
    """Return the fold of each entry by a table ``{document: fold}``, renumbered without gaps.

    The result has shape ``(len(documents),)``; folds are numbered from 0 in ascending order. Raises
    ValueError if a document is not in the table, or if all are in one fold. Documents that only the
    table has are ignored.
    """
    missing = sorted(set(documents) - set(table))
    if missing:
        raise ValueError(
            f"{len(missing)} documents are in no fold, the first is {missing[0]!r}. "
            "Add every document of the corpus to the fold file."
        )
    given = [table[document] for document in documents]
    numbers = {fold: i for i, fold in enumerate(sorted(set(given)))}
    if len(numbers) < 2:
        raise ValueError(
            f"the fold file puts all documents into fold {given[0] if given else 'none'}. "
            "Evaluation needs at least 2 folds."
        )
    return np.array([numbers[fold] for fold in given], dtype=np.intp)


# Splitters that keep groups together --------------------------------------------------------------


@dataclass(frozen=True)
class DocumentFolds:
    """Whole groups of documents, shuffled and dealt out evenly; repeated with the next seeds.

    >>> import spacy
    >>> docs = [spacy.blank('en')(word) for word in ('one', 'two', 'three')]
    >>> pairs = [Candidate(doc, (doc[:1],), doc.text, label=1.0) for doc in docs for _ in range(2)]
    >>> (fold,) = DocumentFolds(folds=3).split(pairs, Targets.from_candidates(pairs)).partitions
    >>> bool((fold[::2] == fold[1::2]).all())  # candidates of a document stay together
    True
    """

    folds: int = 10
    seed: int = 0
    splits: int = 1  # repetitions

    def __post_init__(self) -> None:
        """Raise ValueError unless ``splits`` is at least 1; the folds are checked by ``split``."""
        _check_splits(self.splits)

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Return folds that depend on the names of the groups and the seed alone.

        Raises ValueError if there are fewer groups than folds, or fewer than two folds.
        """
        groups = [candidate.group for candidate in candidates]
        partitions = [make_folds(groups, self.folds, self.seed + s) for s in range(self.splits)]
        procedure = _describe(f"{self.folds} folds by document", self.splits, "document")
        return Split(targets, partitions, procedure, self.seed)


@dataclass(frozen=True)
class PredefinedSplit:
    """The folds of a table ``{document: fold}``.

    Fold numbers may be any; documents that only the table has are ignored.
    """

    table: Mapping[str, int]

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Return the given folds as one repetition, by the id of each candidate's document.

        Raises ValueError if documents of one group (that share text) have different folds, a
        document is in none, or all are in one.
        """
        fold_of_group: dict[str, tuple[str, int]] = {}
        for candidate in candidates:
            name = document_id(candidate.doc)
            if name in self.table:
                first = fold_of_group.setdefault(candidate.group, (name, self.table[name]))
                if first[1] != self.table[name]:
                    raise ValueError(
                        f"the given folds put {first[0]!r} in fold {first[1]} and {name!r}, which "
                        f"shares text with it, in fold {self.table[name]}. "
                        "Move one to the other's fold."
                    )
        partition = folds_from_table([document_id(c.doc) for c in candidates], self.table)
        return Split(targets, [partition], _describe("given folds by document", 1, "document"))


@dataclass(frozen=True)
class LeaveDocumentOut:
    """One fold per group; single documents seldom have an AUC, so see ``Report.pooled``."""

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Return one fold per group, numbered in order of appearance, as one repetition.

        Raises ValueError for fewer than two groups.
        """
        groups = [candidate.group for candidate in candidates]
        _check_units(len(set(groups)), "document")
        procedure = _describe("leave-document-out", 1, "document")
        return Split(targets, [number_keys(groups)], procedure)


@dataclass(frozen=True)
class LeavePairOut:
    """Every positive against every negative, the groups of both held out.

    Gives an AUC that is nearly unbiased on small corpora, where that of folds is coarse. Works with
    RLS and RankRLS, see ``textrank.evaluation.cross_validation``; of given preferences both sides
    are held out.
    """

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Return a Split with the targets but no folds, marked as ``holds_out_pairs``.

        No argument is checked, and ``candidates`` is not used.
        """
        return Split(
            targets,
            [],
            "leave-pair-out, the documents of both held out; alpha by leave-document-out",
            notes=["alpha was chosen on all documents of this corpus."],
            holds_out_pairs=True,
        )


@dataclass(frozen=True)
class FiveByTwo:
    """Five divisions into two halves of the groups, for the combined 5×2cv F-test.

    Division i uses ``seed + i``; each half is tested once.
    """

    seed: int = 0

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Return five partitions into two folds, with five consecutive seeds.

        Raises ValueError for fewer than two groups.
        """
        split = DocumentFolds(2, self.seed, 5).split(candidates, targets)
        return replace(split, procedure=_describe("5×2 folds by document", 1, "document"))


@dataclass(frozen=True)
class TrainTest:
    """A share of the groups, tested once on a model of the rest.

    At least one group is tested and one trained on. Raises ValueError unless ``0 < share < 1``.
    """

    share: float = 0.25
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError unless ``0 < share < 1``."""
        if not 0 < self.share < 1:
            raise ValueError(
                f"the share of test documents must be between 0 and 1, got {self.share}"
            )

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Return fold 0, which is tested, and fold 1, which is trained on.

        The number of tested groups is ``share`` of all, rounded, but each fold has at least one;
        which they are depends on the seed and the names of the groups alone. Raises ValueError for
        fewer than two groups.
        """
        groups = [candidate.group for candidate in candidates]
        total = len(set(groups))
        _check_units(total, "document")
        tests = min(max(round(self.share * total), 1), total - 1)
        rank = make_folds(groups, total, self.seed)  # a random rank for each group
        inner = INNER_SELECTION.format(unit="document")
        return Split(
            targets,
            [np.where(rank < tests, 0, 1).astype(np.intp)],
            f"{tests} of {total} documents tested on a model of the rest; {inner}",
            self.seed,
            tested=frozenset({0}),
        )


# Splitters that separate documents ----------------------------------------------------------------


@dataclass(frozen=True)
class LeaveQueryOut:
    """One fold per query, as rankings are tested; queries of one document are separated."""

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Return as many folds as queries, with a note if that separates documents.

        In the result the groups of the targets are the queries, so that they are also held out
        inside training. Raises ValueError for fewer than two queries.
        """
        queries = len(np.unique(targets.queries))
        _check_units(queries, "query")
        separates = queries > len(np.unique(targets.groups))
        return Split(
            replace(targets, groups=targets.queries),
            [number_keys(targets.queries.tolist())],
            _describe("leave-query-out", 1, "query"),
            notes=["Queries of one document stand on both sides."] if separates else [],
        )


@dataclass(frozen=True)
class SentenceFolds:
    """Folds of whole queries (sentences) that separate documents, to measure that leak.

    The figures are inflated; the report has a note that says so.
    """

    folds: int = 10
    seed: int = 0
    splits: int = 1

    def __post_init__(self) -> None:
        """Raise ValueError unless ``splits`` is at least 1; the folds are checked by ``split``."""
        _check_splits(self.splits)

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Return folds of queries, which are also the units held out inside training; warns.

        Raises ValueError if there are fewer queries than folds, or fewer than two folds.
        """
        return _split_leaky(self, targets, targets.queries, "sentence")


@dataclass(frozen=True)
class LeakyFolds:
    """Folds of single candidates, so that a sentence is in several folds. Never report this.

    The figures are inflated; the report has a note that says so.
    """

    folds: int = 10
    seed: int = 0
    splits: int = 1

    def __post_init__(self) -> None:
        """Raise ValueError unless ``splits`` is at least 1; the folds are checked by ``split``."""
        _check_splits(self.splits)

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Return folds of candidates, which are also the units held out inside training; warns.

        Raises ValueError if there are fewer candidates than folds, or fewer than two folds.
        """
        return _split_leaky(self, targets, np.arange(len(targets), dtype=np.intp), "candidate")


def _split_leaky(
    settings: SentenceFolds | LeakyFolds, targets: Targets, units: Indices, unit: str
) -> Split:
    """Return folds of units that are smaller than documents, with a warning and a note.

    ``units`` (n,) has the number of the unit of each candidate; they replace the groups of the
    targets. ``unit`` is their name for messages. Raises ValueError if the folds do not fit the
    units.
    """
    note = (
        f"LEAKY: folds by {unit} put text of one document on both sides. The figures are inflated; "
        "they show the size of the leak and must not be reported as a result."
    )
    warnings.warn(note, stacklevel=3)
    names = [f"{number:08d}" for number in units]
    partitions = [
        make_folds(names, settings.folds, settings.seed + repetition)
        for repetition in range(settings.splits)
    ]
    procedure = _describe(f"{settings.folds} folds by {unit}", settings.splits, unit)
    return Split(replace(targets, groups=units), partitions, procedure, settings.seed, [note])


# Splitters by name --------------------------------------------------------------------------------

SPLITTERS: Mapping[str, Callable[[int, int, int], Splitter]] = {  # of folds, seed and splits
    "documents": DocumentFolds,
    "leave-document-out": lambda folds, seed, splits: LeaveDocumentOut(),
    "leave-query-out": lambda folds, seed, splits: LeaveQueryOut(),
    "leave-pair-out": lambda folds, seed, splits: LeavePairOut(),
    "5x2": lambda folds, seed, splits: FiveByTwo(seed),
    "train-test": lambda folds, seed, splits: TrainTest(seed=seed),
    "sentences": SentenceFolds,
    "leaky": LeakyFolds,
}


def make_splitter(
    name: str = "documents",
    folds: int | Mapping[str, int] = 10,
    *,
    seed: int = 0,
    splits: int = 1,
) -> Splitter:
    """Build a splitter by its name on the command line; settings it does not have are ignored.

    ``name`` is a key of ``SPLITTERS``. ``folds`` is a number or, for ``documents`` only, a table
    ``{document: fold}``. ``seed`` is that of the first of ``splits`` repetitions. Raises ValueError
    for an unknown name, or a table with another name or several splits.

    >>> make_splitter("leaky", folds=5)
    LeakyFolds(folds=5, seed=0, splits=1)
    """
    if isinstance(folds, Mapping):
        if name != "documents" or splits != 1:
            raise ValueError(
                f"given folds are one split of documents, so they cannot be used with protocol "
                f"{name!r} and {splits} splits. Leave out the folds, or the other options."
            )
        return PredefinedSplit(folds)
    if name not in SPLITTERS:
        raise ValueError(f"unknown protocol {name!r}; available: {', '.join(SPLITTERS)}.")
    return SPLITTERS[name](folds, seed, splits)


def _describe(folds: str, splits: int, unit: str) -> str:
    """Return the procedure of a split in one line.

    ``folds`` describes the folds, ``unit`` what is held out inside training. The number of
    repetitions, ``splits``, is named only above 1.
    """
    repetitions = f", {splits} divisions" if splits > 1 else ""
    return f"{folds}{repetitions}; {INNER_SELECTION.format(unit=unit)}"


def _check_splits(splits: int) -> None:
    """Raise ValueError unless the number of repetitions is at least 1."""
    if splits < 1:
        raise ValueError(f"splits must be at least 1, got {splits}")


def _check_units(number: int, unit: str) -> None:
    """Raise ValueError unless there are at least two units to leave out; ``unit`` is their name."""
    if number < 2:
        raise ValueError(f"leaving a {unit} out needs at least 2, but the corpus has {number}")
