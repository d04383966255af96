"""Report: the result of an evaluation, from which tables, JSON and HTML pages are made.

A report has one ``Fold`` per test fold; a ``Summary`` is a metric over folds; a ``Decision`` is one
scored candidate in plain values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from textrank.config import package_versions
from textrank.metrics import (
    Queries,
    average_over_queries,
    classification_metrics,
    kendall_tau_b,
    ranking_metrics,
)

OPTIMISTIC = ("f_best",)  # metrics whose threshold was chosen on the test fold itself


@dataclass(frozen=True)
class Counts:
    """Numbers of documents, candidates and positives that were evaluated."""

    documents: int
    candidates: int
    positives: int
    unreachable: int = 0  # gold answers that no candidate covered; they count against recall


@dataclass(frozen=True)
class Fold:
    """Metrics of one test fold, and what was chosen for it on the training folds.

    Raises ValueError if a value is NaN or infinite: an undefined metric is None.
    """

    measures: Mapping[str, float | None]  # None: undefined, for example with one class only
    fold: int = 0
    split: int = 0  # number of the repetition
    documents: int = 0
    candidates: int = 0
    positives: int = 0
    chosen: Mapping[str, float | None] = field(default_factory=dict)  # alpha, threshold, ...

    def __post_init__(self) -> None:
        """Make metrics and choices Python floats; raise ValueError for NaN and infinity."""
        object.__setattr__(self, "measures", _plain(self.measures, f"fold {self.fold}"))
        object.__setattr__(self, "chosen", _plain(self.chosen, f"fold {self.fold}"))

    def to_dict(self) -> dict[str, float | None]:
        """Return one flat row: the numbers of the fold, what was chosen, the metrics.

        Keys are ``split``, ``fold``, ``documents``, ``candidates``, ``positives``, then those of
        ``chosen`` and of ``measures``. Of equal keys the metric is kept.
        """
        sizes = {key: getattr(self, key) for key in _SIZES}
        return {**sizes, **self.chosen, **self.measures}


_SIZES = ("split", "fold", "documents", "candidates", "positives")


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation of a metric over the folds where it is defined.

    ``std`` is the population standard deviation over folds (0 for one fold). ``between`` is that of
    the means of repeated splits, None for one split. All are None if no fold defines the metric.
    """

    mean: float | None
    std: float | None
    undefined: int = 0
    between: float | None = None

    @classmethod
    def from_folds(cls, folds: Sequence[Fold], measure: str) -> Summary:
        """Summarise the metric named ``measure``; folds without it count as undefined.

        ``mean`` and population ``std`` are over all defined folds of all splits, None if there are
        none. ``between`` is the standard deviation of the means of the splits, None for one split.
        """
        by_split: dict[int, list[float]] = {}
        for fold in folds:
            value = fold.measures.get(measure)
            if value is not None:
                by_split.setdefault(fold.split, []).append(value)
        values = [v for split in by_split.values() for v in split]
        if not values:
            return cls(None, None, len(folds))
        means = [float(np.mean(split)) for split in by_split.values()]
        between = float(np.std(means)) if len({fold.split for fold in folds}) > 1 else None
        undefined = len(folds) - len(values)
        return cls(float(np.mean(values)), float(np.std(values)), undefined, between)

    def __str__(self) -> str:
        """Return mean and standard deviation in percent, as in "51.2 ±3.4 (1 folds undefined)".

        The note is left out if no fold is undefined; without a mean, "undefined in ... folds".
        """
        if self.mean is None:
            return f"undefined in {self.undefined} folds"
        note = f" ({self.undefined} folds undefined)" if self.undefined else ""
        return f"{100 * self.mean:.1f} ±{100 * (self.std or 0):.1f}{note}"


@dataclass(frozen=True)
class Decision:
    """One scored candidate in plain values, for curves and error pages.

    The answer is yes from ``threshold`` on (inclusive). ``spans`` and ``path`` become tuples.
    """

    document: str
    text: str  # its sentence
    spans: Sequence[tuple[int, int]]  # of the judged mentions: characters of text, end excluded
    score: float
    label: float
    threshold: float | None = None
    fold: int = 0
    split: int = 0
    query: str = ""
    # Dependencies to draw: governor's start and end, dependent's start and end, label.
    path: Sequence[tuple[int, int, int, int, str]] = ()

    def __post_init__(self) -> None:
        """Make ``spans`` and ``path`` tuples, which JSON gives back as lists."""
        object.__setattr__(self, "spans", tuple((a, b) for a, b in self.spans))
        object.__setattr__(self, "path", tuple(tuple(arc) for arc in self.path))

    @property
    def decision(self) -> bool | None:
        """Whether the answer is yes; None without a threshold, as in a ranking."""
        return None if self.threshold is None else self.score >= self.threshold

    def to_dict(self) -> dict[str, Any]:
        """Return all fields under their names, and ``decision``: whether the answer is yes.

        ``decision`` is None without a threshold.
        """
        return {**asdict(self), "decision": self.decision}


@dataclass(frozen=True)
class Report:
    """Result of an evaluation and how it was obtained.

    ``procedure`` describes how test data were held out and parameters chosen. ``notes`` are
    reservations that must be read with the figures, for example that folds separate documents.
    ``seed`` is None if nothing was drawn at random.

    Raises ValueError without folds, or if a pooled metric is NaN or infinite.
    """

    task: str
    corpus: str
    procedure: str
    settings: Mapping[str, Any]
    seed: int | None
    counts: Counts
    folds: Sequence[Fold]
    pipeline: str = ""  # the name of the cfg that was run
    seconds: Mapping[str, float] = field(default_factory=dict)  # per step
    versions: Mapping[str, str] = field(default_factory=package_versions)
    notes: Sequence[str] = ()
    pooled: Mapping[str, float | None] = field(default_factory=dict)  # over all folds together
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    permutation: Mapping[str, Any] = field(default_factory=dict)  # result of a permutation test
    # Points of curves by name: {"x": number, metric: {"mean": ..., "std": ...}, ...}
    curves: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict, repr=False)
    decisions: Sequence[Decision] = field(default=(), repr=False)
    # Evaluated documents that the model was trained on: {"documents": n, "share": n / all}; empty
    # if there is none.
    trained_on: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make sequences tuples and pooled metrics floats.

        Raises ValueError without folds, or if a pooled metric is NaN or infinite.
        """
        object.__setattr__(self, "folds", tuple(self.folds))
        object.__setattr__(self, "notes", tuple(self.notes))
        object.__setattr__(self, "decisions", tuple(self.decisions))
        object.__setattr__(self, "pooled", _plain(self.pooled, "the pooled metrics"))
        if not self.folds:
            raise ValueError(f"a report on {self.corpus!r} needs at least one fold")

    @property
    def measures(self) -> dict[str, Summary]:
        """Summary of each metric that some fold has, by name, in order of appearance."""
        names = dict.fromkeys(name for fold in self.folds for name in fold.measures)
        return {name: Summary.from_folds(self.folds, name) for name in names}

    @property
    def title(self) -> str:
        """Name of the pipeline, or of the task if it has none."""
        return self.pipeline or self.task

    @property
    def unreachable(self) -> int:
        """Number of gold answers that no candidate covered; they count against recall."""
        return self.counts.unreachable

    def to_dict(self, *, decisions: bool = False) -> dict[str, Any]:
        """Return plain values under stable keys; fractions from 0 to 1, undefined values None.

        The keys are the names of the fields and ``measures`` (``mean``, ``std``, ``undefined`` and,
        for several splits, ``between`` by metric), ``undefined`` (number of folds, for metrics that
        lack some) and ``optimistic`` (names). ``folds`` are flat rows. ``decisions`` adds every
        scored candidate under this key, which is large and contains text of the corpus.
        """
        measures = self.measures
        result: dict[str, Any] = {
            "task": self.task,
            "pipeline": self.pipeline,
            "corpus": self.corpus,
            "procedure": self.procedure,
            "settings": dict(self.settings),
            "seed": self.seed,
            "versions": dict(self.versions),
            "counts": asdict(self.counts),
            "measures": {name: _summary_to_dict(summary) for name, summary in measures.items()},
            "folds": [fold.to_dict() for fold in self.folds],
            "seconds": {step: float(value) for step, value in self.seconds.items()},
            "undefined": {n: s.undefined for n, s in measures.items() if s.undefined},
            "optimistic": [name for name in measures if name in OPTIMISTIC],
            "pooled": dict(self.pooled),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
            "permutation": dict(self.permutation),
            "curves": {name: [dict(p) for p in points] for name, points in self.curves.items()},
            "notes": list(self.notes),
            "trained_on": dict(self.trained_on),
        }
        if decisions:
            result["decisions"] = [decision.to_dict() for decision in self.decisions]
        return result

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the report that ``to_dict`` wrote; ValueError with the name of a missing key.

        Summaries are computed again from the folds. ``pipeline``, ``notes``, ``trained_on``,
        ``permutation``, ``curves``, ``pooled``, ``intervals`` and ``decisions`` may be missing and
        are then empty; unknown keys are ignored. Values are not checked.
        """
        missing = [key for key in _REQUIRED if key not in data]
        if missing:
            raise ValueError(
                f"not a report: the key {missing[0]!r} is missing. Write one with `--json`."
            )
        names = list(data["measures"])
        return cls(
            **{key: data[key] for key in ("task", "corpus", "procedure", "settings", "seed")},
            pipeline=data.get("pipeline", ""),
            counts=Counts(**data["counts"]),
            folds=[_fold_from_row(row, names) for row in data["folds"]],
            seconds=data["seconds"],
            versions=data["versions"],
            notes=data.get("notes", ()),
            trained_on=data.get("trained_on", {}),
            permutation=data.get("permutation", {}),
            curves=data.get("curves", {}),
            pooled=data.get("pooled", {}),
            intervals={name: (a, b) for name, (a, b) in data.get("intervals", {}).items()},
            decisions=[_decision_from_row(row) for row in data.get("decisions", ())],
        )

    def __str__(self) -> str:
        """Return lines with title and corpus, notes, counts, and one line per metric, in percent.

        Metrics of ``OPTIMISTIC`` are marked so.
        """
        c = self.counts
        lines = [f"{self.title} on {self.corpus}: {self.procedure}", *self.notes]
        lines.append(
            f"{c.documents} documents, {c.candidates} candidates, {c.positives} positive, "
            f"{c.unreachable} unreachable"
        )
        lines += [
            f"{name:<12} {summary}{' (optimistic)' if name in OPTIMISTIC else ''}"
            for name, summary in self.measures.items()
        ]
        return "\n".join(lines)


_REQUIRED = (
    *("task", "corpus", "procedure", "settings", "seed", "versions"),
    *("counts", "measures", "folds", "seconds"),
)


def classification_fold(
    y: ArrayLike,
    scores: ArrayLike,
    threshold: float | None,
    *,
    unreachable: int = 0,
    rate: float | None = None,
    documents: int = 0,
    fold: int = 0,
    split: int = 0,
    chosen: Mapping[str, float | None] | None = None,
) -> Fold:
    """Return a test fold of yes-or-no answers: ``classification_metrics`` and its size.

    Parameters
    ----------
    y, scores
        Labels, positive where greater than 0, and scores of the m candidates, (m,) each.
    threshold
        Smallest score that is answered with yes, also stored in ``Fold.chosen``. None leaves f,
        precision, recall and accuracy undefined.
    unreachable
        Gold answers without a candidate, which count against recall.
    rate
        Share of candidates answered with yes for ``f_rate``; None: the share of positives.
    documents, fold, split
        Number of documents, number of the fold and of the repetition, which are only stored.
    chosen
        What else was chosen on the training folds.
    """
    labels = np.asarray(y, dtype=np.float64)
    return Fold(
        classification_metrics(labels, scores, threshold, unreachable, rate=rate),
        fold=fold,
        split=split,
        documents=documents,
        candidates=len(labels),
        positives=int((labels > 0).sum()),
        chosen={**(chosen or {}), "threshold": threshold},
    )


def ranking_fold(
    y: ArrayLike,
    scores: ArrayLike,
    queries: Queries,
    *,
    documents: int = 0,
    fold: int = 0,
    split: int = 0,
    chosen: Mapping[str, float | None] | None = None,
) -> Fold:
    """Return a test fold of rankings: ``ranking_metrics``, its size, and queries without tau.

    ``y`` and ``scores`` have shape (m,), ``queries`` the query of each candidate. The numbers of
    all queries and of those in which Kendall's tau_b is undefined are added to ``chosen``. Other
    arguments are only stored.
    """
    tau = average_over_queries(kendall_tau_b, y, scores, queries)
    labels = np.asarray(y, dtype=np.float64)
    sizes = {"queries": tau.defined + tau.undefined, "undefined_queries": tau.undefined}
    return Fold(
        ranking_metrics(labels, scores, queries),
        fold=fold,
        split=split,
        documents=documents,
        candidates=len(labels),
        positives=int((labels > 0).sum()),
        chosen={**(chosen or {}), **sizes},
    )


def _plain(values: Mapping[str, float | None], owner: str) -> dict[str, float | None]:
    """Return Python floats; ValueError for NaN and infinity, which JSON does not have.

    ``owner`` is for the message.
    """
    for name, value in values.items():
        if value is not None and not math.isfinite(value):
            raise ValueError(f"{name} of {owner} is {value}; use None for an undefined metric")
    return {name: None if value is None else float(value) for name, value in values.items()}


def _summary_to_dict(summary: Summary) -> dict[str, float | None]:
    """Return ``mean``, ``std``, ``undefined`` and, unless there is one split, ``between``."""
    row = asdict(summary)
    if summary.between is None:
        del row["between"]
    return row


def _fold_from_row(row: Mapping[str, Any], names: Sequence[str]) -> Fold:
    """Build the fold of ``Fold.to_dict``; ``names`` are those of the metrics.

    Missing metrics become None, missing sizes 0; keys that are neither become ``Fold.chosen``.
    """
    chosen = {k: v for k, v in row.items() if k not in names and k not in _SIZES}
    measures = {name: row.get(name) for name in names}
    return Fold(measures, chosen=chosen, **{key: int(row.get(key, 0)) for key in _SIZES})


def _decision_from_row(row: Mapping[str, Any]) -> Decision:
    """Build the decision of ``Decision.to_dict``; the derived key ``decision`` is ignored."""
    return Decision(**{key: value for key, value in row.items() if key != "decision"})
