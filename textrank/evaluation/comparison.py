"""Comparison of runs on the same folds: differences, their size, and whether they mean anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from textrank.evaluation.report import Decision, Fold, Report
from textrank.evaluation.significance import (
    Effect,
    Significance,
    benjamini_hochberg,
    combined_5x2cv_f,
    effect,
    holm,
    permutation_test,
    wilcoxon_signed_ranks,
)
from textrank.measures import kendall_tau_b

Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class Contrast:
    """Two runs and one measure: the difference, second minus first, and its tests."""

    measure: str
    first: str
    second: str
    means: tuple[float, float]  # over the pairs below
    effect: Effect
    tests: Sequence[Significance]
    undefined: int  # units left out because the measure is undefined in one of the runs
    unit: str = "fold"


@dataclass(frozen=True)
class Comparison:
    """Every pair of runs, with p-values corrected for the number of comparisons made."""

    corpus: str
    runs: Sequence[str]
    contrasts: Sequence[Contrast]
    notes: Sequence[str] = ()
    corrected: Mapping[str, Mapping[str, Sequence[float | None]]] = field(init=False)

    def __post_init__(self) -> None:
        names = dict.fromkeys(t.test for c in self.contrasts for t in c.tests)
        object.__setattr__(self, "corrected", {name: self._corrected(name) for name in names})

    def _corrected(self, test: str) -> dict[str, Sequence[float | None]]:
        """Corrected p of one test for each contrast; None where the test is undefined or absent."""
        p = [next((t.p for t in c.tests if t.test == test), None) for c in self.contrasts]
        known = [value for value in p if value is not None]
        methods: dict[str, Callable[[Sequence[float]], list[float]]] = {
            "holm": holm,
            "benjamini_hochberg": benjamini_hochberg,
        }
        result: dict[str, Sequence[float | None]] = {}
        for name, method in methods.items():
            values = iter(method(known))
            result[name] = [None if value is None else next(values) for value in p]
        return result

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        return asdict(self)


def compare(
    reports: Mapping[str, Report], measures: Sequence[str] = (), *, resamples: int = 9999
) -> Comparison:
    """Compares runs pairwise on the folds they share.

    By default AUC and F, or Kendall's tau_b for rankings. The combined 5×2cv F-test is made where
    there are five divisions into two folds; Wilcoxon's and the permutation test always, for
    rankings with stored decisions over queries instead of folds.
    """
    if len(reports) < 2:
        raise ValueError(f"a comparison needs at least 2 reports, got {len(reports)}")
    runs = list(reports)
    for other in runs[1:]:
        _check_same_folds(runs[0], reports[runs[0]], other, reports[other])
    chosen = list(measures) or _default(reports)
    contrasts = [
        _contrast(measure, first, second, reports[first], reports[second], resamples)
        for measure in chosen
        for first, second in combinations(runs, 2)
    ]
    shared = reports[runs[0]]
    return Comparison(shared.corpus, runs, contrasts, _notes(reports))


def _contrast(
    measure: str, first: str, second: str, a: Report, b: Report, resamples: int
) -> Contrast:
    unit, ours, theirs = "fold", _by_fold(a, measure), _by_fold(b, measure)
    if measure == "tau" and a.decisions and b.decisions:
        unit, ours, theirs = "query", _by_query(a), _by_query(b)
    keys = [k for k in ours if ours[k] is not None and theirs.get(k) is not None]
    if not keys:
        raise ValueError(f"{first} and {second} share no {unit} in which {measure} is defined")
    x = np.array([ours[k] for k in keys], dtype=np.float64)
    y = np.array([theirs[k] for k in keys], dtype=np.float64)
    tests = [wilcoxon_signed_ranks(x, y), permutation_test(x, y, resamples=resamples)]
    if unit == "fold" and len(keys) == 10 and _is_5x2(a.folds):
        tests.insert(0, combined_5x2cv_f(x.reshape(5, 2), y.reshape(5, 2)))
    means = (float(x.mean()), float(y.mean()))
    left_out = len(ours.keys() | theirs.keys()) - len(keys)
    return Contrast(measure, first, second, means, effect(x, y), tests, left_out, unit)


def _by_fold(report: Report, measure: str) -> dict[Key, float | None]:
    if measure not in report.measures:
        known = ", ".join(report.measures)
        raise ValueError(f"no measure {measure!r} in the report on {report.corpus}; it has {known}")
    folds = sorted(report.folds, key=lambda fold: (fold.split, fold.fold))
    return {(fold.split, fold.fold): fold.measures.get(measure) for fold in folds}


def _by_query(report: Report) -> dict[Key, float | None]:
    queries: dict[Key, list[Decision]] = {}
    for d in report.decisions:
        queries.setdefault((d.split, d.document, d.query), []).append(d)
    return {
        key: kendall_tau_b([d.label for d in same], [d.score for d in same])
        for key, same in queries.items()
    }


def _check_same_folds(first: str, a: Report, second: str, b: Report) -> None:
    if (a.task, a.corpus) != (b.task, b.corpus):
        raise ValueError(
            f"{first} is {a.task} on {a.corpus}, {second} is {b.task} on {b.corpus}. "
            "Only runs of one task on one corpus can be compared."
        )
    ours, theirs = ({_identity(fold) for fold in report.folds} for report in (a, b))
    if ours != theirs:
        split, fold, *_ = min(ours ^ theirs)
        raise ValueError(
            f"{first} and {second} were not tested on the same folds: fold {fold} of split {split} "
            "differs in size. Run both with the same --folds or --seed."
        )


def _identity(fold: Fold) -> tuple[int, int, int, int, int]:
    return fold.split, fold.fold, fold.documents, fold.candidates, fold.positives


def _is_5x2(folds: Sequence[Fold]) -> bool:
    return sorted((f.split, f.fold) for f in folds) == [(i, j) for i in range(5) for j in range(2)]


def _default(reports: Mapping[str, Report]) -> list[str]:
    known = set.intersection(*(set(report.measures) for report in reports.values()))
    for names in (("auc", "f"), ("tau",)):
        if known.issuperset(names):
            return list(names)
    raise ValueError("the reports share neither auc and f nor tau: name the measures to compare")


def _notes(reports: Mapping[str, Report]) -> list[str]:
    notes = [f"{name}: {note}" for name, report in reports.items() for note in report.notes]
    folds = next(iter(reports.values())).folds
    if len({fold.split for fold in folds}) > 1 and not _is_5x2(folds):
        notes.append(
            "Several divisions test the same documents again, so the folds are not independent and "
            "p is too small. Use `--protocol 5x2` for a test."
        )
    return notes
