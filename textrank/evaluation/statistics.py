"""Statistics of results: significance tests, effect sizes, intervals, permutation tests.

All tests are two-sided and take values in pairs: ``first[i]`` and ``second[i]`` are a metric of the
same fold, query or document for both runs. Differences are second minus first; those within
round-off count as zero. Values of unequal shape, NaN and infinity raise ValueError. In shapes, n is
the number of candidates, b of resamples and p of columns of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.linalg as sla
from numpy.typing import ArrayLike
from scipy.stats import f as f_distribution
from scipy.stats import false_discovery_control, wilcoxon

from textrank.candidates import Targets
from textrank.evaluation.report import Decision, Fold, Report
from textrank.evaluation.splits import Split
from textrank.features import Features, Indices, KernelData, Matrix, Vector, require_single_kernel
from textrank.learners.base import rows_by_group
from textrank.learners.holdout import solve_blocks, stack_groups_by_size
from textrank.learners.rls import RLS
from textrank.linalg import gram, inverse
from textrank.metrics import TIE_TOLERANCE, kendall_tau_b, rank_ties, sort_ties
from textrank.progress import track
from textrank.protocols import Learner


@dataclass(frozen=True)
class Significance:
    """Result of a significance test: statistic and p-value under the null of no difference.

    ``p`` is None where the statistic is; ``pairs`` is the number of compared values.
    """

    test: str
    statistic: float | None  # None: not defined for these values
    p: float | None
    pairs: int


@dataclass(frozen=True)
class Effect:
    """Effect sizes of a difference, which a p-value does not tell."""

    mean: float  # of second minus first
    d: float | None  # Cohen's d of the pairs: mean over standard deviation; None without spread
    rank_biserial: float | None  # -1 .. 1: surplus of ranks that favour the second
    wins: int  # pairs where the second is larger
    losses: int
    ties: int


def combined_5x2cv_f(first: ArrayLike, second: ArrayLike) -> Significance:
    """Return the combined 5×2cv F-test of five divisions into halves, each half tested once.

    With differences ``d[i, j]`` and ``s²[i]`` the sum of squares of row ``i`` around its mean, ``f
    = sum(d²) / (2 sum(s²))`` follows F(10, 5) where both runs are equally good. Undefined
    (statistic and p None) where both halves differ alike in all five divisions, unless nothing
    differs at all, which is p = 1. Raises ValueError for another shape or values that are not
    finite.

    Alpaydin (1999), Neural Computation 11(8):1885-1892.

    Parameters
    ----------
    first, second : (5, 2) values of the metric: one row per division, one column per half
    """
    d = _differences(first, second, shape=(5, 2))
    spread = float(((d - d.mean(axis=1, keepdims=True)) ** 2).sum())
    if not d.any():
        return Significance("5x2cv F", 0.0, 1.0, d.size)
    # Equal halves differ by round-off, which must not become a large statistic.
    if spread <= 1e-20 * float((d**2).sum()):
        return Significance("5x2cv F", None, None, d.size)
    statistic = float((d**2).sum()) / (2 * spread)
    return Significance("5x2cv F", statistic, float(f_distribution.sf(statistic, 10, 5)), d.size)


def wilcoxon_signed_ranks(first: ArrayLike, second: ArrayLike) -> Significance:
    """Return Wilcoxon's signed-ranks test; the statistic is the smaller of the two rank sums.

    Ranks of pairs without a difference are shared between both sides. The distribution is exact up
    to 13 pairs, and up to 50 where no two differences are equally large and none is zero. Without
    pairs, statistic and p are None; without any difference they are 0 and 1. Raises ValueError if
    shapes differ or a value is not finite; differences within round-off are 0.
    """
    d = _differences(first, second)
    if not len(d):
        return Significance("Wilcoxon", None, None, 0)
    if not d.any():
        return Significance("Wilcoxon", 0.0, 1.0, len(d))
    up, down = _rank_sums(d)
    if len(d) <= 13:
        return Significance("Wilcoxon", min(up, down), _exact_ranks(d), len(d))
    result = wilcoxon(d, zero_method="zsplit")
    return Significance("Wilcoxon", min(up, down), float(result.pvalue), len(d))


def permutation_test(
    first: ArrayLike, second: ArrayLike, *, resamples: int = 9999, seed: int = 0
) -> Significance:
    """Return the permutation test of the mean difference; the statistic is the mean itself.

    Differences get random signs, as if the two runs were exchanged. All ``2**n`` exchanges of n
    pairs are tried where that is no more than ``resamples``, otherwise ``resamples`` random ones by
    ``seed``, to which the observed one is added, so p is never 0. Without pairs, statistic and p
    are None. Raises ValueError if ``resamples`` is below 1, shapes differ or a value is not finite;
    differences within round-off are 0.
    """
    d = _differences(first, second)
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")
    if not len(d):
        return Significance("permutation", None, None, 0)
    observed = float(d.mean())
    exact = len(d) < 63 and 2 ** len(d) <= resamples
    sums = np.abs(_signs(len(d), resamples, seed, exact) @ d)
    reached = int((sums >= abs(d.sum()) * (1 - 1e-12)).sum())
    p = reached / 2 ** len(d) if exact else (reached + 1) / (resamples + 1)
    return Significance("permutation", observed, p, len(d))


def effect(first: ArrayLike, second: ArrayLike) -> Effect:
    """Return effect sizes of the paired difference, second minus first.

    ``d`` is the mean divided by the standard deviation (n - 1) of the differences, None for one
    pair or equal differences; ``rank_biserial`` is None if nothing differs. ``wins`` count positive
    differences; those within round-off are ties. Raises ValueError without pairs, if shapes differ
    or if a value is not finite.
    """
    d = _differences(first, second)
    if not len(d):
        raise ValueError("no pair of values to compare: the runs share no defined fold")
    spread = float(d.std(ddof=1)) if len(d) > 1 else 0.0
    scale = max(float(np.abs(d).max()), 1e-300)
    up, down = _rank_sums(d)
    return Effect(
        mean=float(d.mean()),
        d=float(d.mean()) / spread if spread > 1e-12 * scale else None,
        rank_biserial=(up - down) / (up + down) if d.any() else None,
        wins=int((d > 0).sum()),
        losses=int((d < 0).sum()),
        ties=int((d == 0).sum()),
    )


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's method, which controls the family-wise error rate.

    They are in the order of ``p`` and at most 1. Raises ValueError for values outside 0 .. 1.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    values = _probabilities(p)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in corrected]


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Return p-values corrected by Benjamini-Hochberg, which controls the false discovery rate.

    They are in the order of ``p``; empty for none. Raises ValueError for values outside 0 .. 1.
    """
    values = _probabilities(p)
    if not len(values):
        return []
    return [float(value) for value in false_discovery_control(values, method="bh")]


def _differences(
    first: ArrayLike, second: ArrayLike, shape: tuple[int, ...] | None = None
) -> Vector:
    """Return second minus first, (n,), or of the required ``shape``; round-off becomes 0.

    Without ``shape`` the values may have any equal shape and are flattened. Raises ValueError if
    shapes differ or a value is not finite.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or (shape is not None and a.shape != shape):
        wanted = f"{shape} each" if shape else "equally many"
        raise ValueError(f"values come in pairs: got shapes {a.shape} and {b.shape}, need {wanted}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("values must be finite numbers: leave out folds without a defined measure")
    difference = b - a
    # Values that differ by round-off are equal: they count as ties, not as wins.
    scale = max(float(np.abs(a).max(initial=0)), float(np.abs(b).max(initial=0)))
    difference[np.abs(difference) <= TIE_TOLERANCE * scale] = 0
    return difference if shape else difference.ravel()


def _rank_sums(d: Vector) -> tuple[float, float]:
    """Return the rank sums of positive and negative differences ``d``, ranked by magnitude from 1.

    Equal magnitudes share their mean rank; half the ranks of zeros go to each sum.
    """
    ranks = rank_ties(np.abs(d))
    shared = float(ranks[d == 0].sum()) / 2
    return float(ranks[d > 0].sum()) + shared, float(ranks[d < 0].sum()) + shared


def _exact_ranks(d: Vector) -> float:
    """Return the exact two-sided p of Wilcoxon's test over all signs of the non-zero differences.

    Valid with ties. Takes ``2**n`` rows in memory, so n must be small.
    """
    ranks = rank_ties(np.abs(d))[d != 0]
    surplus = np.abs(_signs(len(ranks), 0, 0, exact=True) @ ranks)
    observed = abs(float(np.sign(d[d != 0]) @ ranks))
    return float((surplus >= observed - 1e-9).mean())


def _signs(n: int, resamples: int, seed: int, exact: bool) -> Matrix:
    """Return rows of n signs, -1.0 or 1.0.

    With ``exact`` all ``2**n`` rows, once each, and ``resamples`` and ``seed`` are not used; else
    ``resamples`` random rows.
    """
    if exact:
        bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, size=(resamples, n))
    return (2 * bits - 1).astype(np.float64)


def _probabilities(p: Sequence[float]) -> Vector:
    """Return p-values as an array (n,); ValueError unless all lie in 0 .. 1."""
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or ((values < 0) | (values > 1) | np.isnan(values)).any():
        raise ValueError(f"p-values lie between 0 and 1, got {list(p)}")
    return values


@dataclass(frozen=True)
class Interval:
    """Confidence interval of a metric, and in how many resamples it was undefined."""

    low: float
    high: float
    level: float
    undefined: int = 0  # resamples in which no fold had a value


@dataclass(frozen=True, eq=False)
class _Part:
    """A test fold sorted by score; weights of its n candidates represent a resample.

    Scores within round-off are one of t different scores.
    """

    positive: Vector  # (n,) 1 where the label is positive, by rising score
    said: Vector  # (n,) 1 where the decision was yes
    starts: Indices  # (t,) where a new score begins
    documents: Indices  # (n,)
    missed: Vector  # (documents,) gold answers without a candidate


def bootstrap_intervals(
    y: ArrayLike,
    scores: ArrayLike,
    documents: Sequence[str],
    *,
    decisions: ArrayLike | None = None,
    parts: ArrayLike | None = None,
    unreachable: Mapping[str, int] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Interval]:
    """Return bootstrap percentile intervals of AUC, with ``decisions`` also of P, R and F1.

    Documents are drawn with replacement. The models stay as they are, so the interval tells how
    sure the metric is for these models on such documents, not what other training data would have
    given. A document is a weight here: O(n) for each resample after one sort.

    Parameters
    ----------
    y, scores
        Labels, positive where greater than 0, and scores, (n,) each.
    documents
        The document (or group) of each candidate.
    decisions
        Whether each candidate was answered with yes, (n,); None: only AUC.
    parts
        Number of the test fold (of all splits) of each candidate, (n,): a metric is computed in
        each and averaged over those that define it, as in a Report. None: all are one part.
    unreachable
        Gold answers without a candidate, by document; they count against recall in each part that
        has the document. Documents without any candidate are drawn too, but count in no part.
    level
        Share of the resamples that the interval holds.
    resamples, seed
        Number of resamples, and seed of the draws.

    Returns
    -------
    dict
        Intervals by ``auc``, ``f``, ``precision`` and ``recall``; a metric that no resample defines
        is missing.

    Raises
    ------
    ValueError
        If arguments differ in length or are empty, or ``level`` or ``resamples`` are out of range.

    >>> ends = bootstrap_intervals([1, -1, 1, -1], [4, 1, 3, 2], ["a", "a", "b", "b"])["auc"]
    >>> (ends.low, ends.high)
    (1.0, 1.0)
    """
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(
            f"level lies between 0 and 1 and resamples is at least 1, got {level}, {resamples}"
        )
    names = sorted({*documents, *(unreachable or {})})
    statistics = _parts(y, scores, documents, decisions, parts, names, unreachable or {})
    rng = np.random.default_rng(seed)
    values: dict[str, list[Vector]] = {}
    for start in range(0, resamples, 100):  # at once they would need resamples × n numbers
        draws = min(100, resamples - start)
        weights = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)
        for name, value in _means(
            statistics, weights.astype(np.float64), decisions is not None
        ).items():
            values.setdefault(name, []).append(value)
    intervals = {name: _interval(np.concatenate(v), level) for name, v in values.items()}
    return {name: interval for name, interval in intervals.items() if interval is not None}


def _parts(
    y: ArrayLike,
    scores: ArrayLike,
    documents: Sequence[str],
    decisions: ArrayLike | None,
    parts: ArrayLike | None,
    names: Sequence[str],
    unreachable: Mapping[str, int],
) -> list[_Part]:
    """Return one ``_Part`` per test fold, in the order of fold numbers, sorted by score.

    ``y``, ``scores``, ``documents``, ``decisions`` and ``parts`` (fold numbers) have one entry per
    candidate; decisions None means all no, parts None a single fold. ``names`` are all documents,
    whose index is the document's number. ``unreachable`` gold answers of a document count in every
    fold that has it. Raises ValueError if lengths differ or there are no candidates.
    """
    labels, values = np.asarray(y, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    said = np.zeros(len(labels)) if decisions is None else np.asarray(decisions, dtype=np.float64)
    of = np.zeros(len(labels), dtype=np.intp) if parts is None else np.asarray(parts, dtype=np.intp)
    sizes = {len(labels), len(values), len(documents), len(said), len(of)}
    if len(sizes) != 1 or not len(labels):
        raise ValueError(
            f"labels, scores, documents and folds differ in length or are empty: {sizes}"
        )
    number = {name: i for i, name in enumerate(names)}
    index = np.array([number[name] for name in documents], dtype=np.intp)
    result = []
    for part in np.unique(of):
        at = np.flatnonzero(of == part)
        order, starts = sort_ties(values[at])
        at = at[order]
        missed = np.zeros(len(names))
        for name in unreachable.keys() & {documents[int(i)] for i in at}:
            missed[number[name]] = unreachable[name]
        positive, yes = (a[at] > 0 for a in (labels, said))
        row = _Part(positive.astype(float), yes.astype(float), starts, index[at], missed)
        result.append(row)
    return result


def _means(parts: Sequence[_Part], weights: Matrix, decided: bool) -> dict[str, Vector]:
    """Return each metric for each of b resamples, (b,), averaged over the parts that define it.

    ``weights`` (b, documents) say how often each document was drawn. ``decided`` adds ``f``,
    ``precision`` and ``recall`` to ``auc``. NaN where no part defines a metric.
    """
    rows: dict[str, list[Vector]] = {}
    for part in parts:
        of = weights[:, part.documents]  # (b, n)
        rows.setdefault("auc", []).append(_weighted_auc(part, of))
        if decided:
            hit, answered = of @ (part.positive * part.said), of @ part.said
            gold = of @ part.positive + weights @ part.missed
            for name, top, bottom in (
                ("f", 2 * hit, answered + gold),
                ("precision", hit, answered),
                ("recall", hit, gold),
            ):
                rows.setdefault(name, []).append(_divide(top, bottom))
    return {name: _mean_defined(np.array(values)) for name, values in rows.items()}


def _weighted_auc(part: _Part, weights: Matrix) -> Vector:
    """Return the AUC of a part with weighted candidates, (b,); ties count one half.

    ``weights`` (b, n) are in the order of the part. NaN where a class has no weight.
    """
    up = np.add.reduceat(weights * part.positive, part.starts, axis=1)
    down = np.add.reduceat(weights * (1 - part.positive), part.starts, axis=1)
    below = np.cumsum(down, axis=1) - down
    return _divide((up * (below + down / 2)).sum(axis=1), up.sum(axis=1) * down.sum(axis=1))


def _divide(top: Vector, bottom: Vector) -> Vector:
    # NaN marks an undefined value inside this module only; _interval counts and removes it.
    """Return ``top / bottom`` by element, NaN where ``bottom`` is not positive.

    Both are of floats and one shape.
    """
    return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)


def _mean_defined(values: Matrix) -> Vector:
    """Return the mean of each column over its finite values, NaN if it has none."""
    defined = np.isfinite(values)
    return _divide(np.where(defined, values, 0).sum(axis=0), defined.sum(axis=0).astype(np.float64))


def _interval(values: Vector, level: float) -> Interval | None:
    """Return the interval of the central share ``level`` of the finite values; None without any.

    The number of the others becomes ``Interval.undefined``.
    """
    defined = values[np.isfinite(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, len(values) - len(defined))


Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class Contrast:
    """Difference of one metric between two runs, second minus first, and its tests."""

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
    """Contrasts of all pairs of runs, with p-values corrected for multiple comparisons.

    ``corrected[test][method]`` has a p-value per contrast, in order, where ``method`` is ``holm``
    or ``benjamini_hochberg``; it is computed from ``contrasts``.
    """

    corpus: str
    runs: Sequence[str]
    contrasts: Sequence[Contrast]
    notes: Sequence[str] = ()
    corrected: Mapping[str, Mapping[str, Sequence[float | None]]] = field(init=False)

    def __post_init__(self) -> None:
        """Compute ``corrected`` for every test that some contrast has."""
        names = dict.fromkeys(t.test for c in self.contrasts for t in c.tests)
        object.__setattr__(self, "corrected", {name: self._corrected(name) for name in names})

    def _corrected(self, test: str) -> dict[str, Sequence[float | None]]:
        """Return corrected p-values of one test, by method "holm" and "benjamini_hochberg".

        Each has one value per contrast, in order, None where the test is missing or undefined;
        these do not count as comparisons.
        """
        p = [next((t.p for t in c.tests if t.test == test), None) for c in self.contrasts]
        defined = [value for value in p if value is not None]
        methods: dict[str, Callable[[Sequence[float]], list[float]]] = {
            "holm": holm,
            "benjamini_hochberg": benjamini_hochberg,
        }
        result: dict[str, Sequence[float | None]] = {}
        for name, method in methods.items():
            values = iter(method(defined))
            result[name] = [None if value is None else next(values) for value in p]
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return ``corpus``, ``runs``, ``contrasts``, ``notes`` and ``corrected`` as plain values.

        Contrasts are dicts with the fields of ``Contrast``, nested ones as dicts too.
        """
        return asdict(self)


def compare(
    reports: Mapping[str, Report], measures: Sequence[str] = (), *, resamples: int = 9999
) -> Comparison:
    """Compare runs pairwise on the same folds.

    The combined 5×2cv F-test is made where there are five divisions into two folds; Wilcoxon's and
    the permutation test always, for rankings with stored decisions over queries instead of folds.
    Folds or queries in which one run does not define the metric are left out and counted.

    Parameters
    ----------
    reports
        Reports by the name of the run, at least two.
    measures
        Metrics to compare; empty: AUC and F if all reports have both, else Kendall's tau_b.
    resamples
        Of the permutation test.

    Returns
    -------
    Comparison
        Contrasts by metric, then by pair of runs in the given order.

    Raises
    ------
    ValueError
        If there are fewer than two reports, the runs differ in task, corpus or folds, a report
        lacks a metric, or two share no value of it.
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
    """Return the difference of a metric between two runs, ``second`` minus ``first``.

    ``a`` and ``b`` are their reports. Units are folds, or queries for "tau" if both have decisions;
    those where one run does not define the metric are left out and counted. Tests are Wilcoxon's
    and the permutation test with ``resamples``, before them the F-test for a complete 5x2
    cross-validation. Raises ValueError if they share no fold or query in which the metric is
    defined, or do not have it.
    """
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
    """Return the metric by (split, fold), sorted; None where it is undefined.

    Raises ValueError if no fold has the metric.
    """
    if measure not in report.measures:
        available = ", ".join(report.measures)
        raise ValueError(
            f"no measure {measure!r} in the report on {report.corpus}; it has {available}"
        )
    folds = sorted(report.folds, key=lambda fold: (fold.split, fold.fold))
    return {(fold.split, fold.fold): fold.measures.get(measure) for fold in folds}


def _by_query(report: Report) -> dict[Key, float | None]:
    """Return Kendall's tau_b by (split, document, query), from stored decisions.

    None where it is undefined. Empty without decisions.
    """
    queries: dict[Key, list[Decision]] = {}
    for d in report.decisions:
        queries.setdefault((d.split, d.document, d.query), []).append(d)
    return {
        key: kendall_tau_b([d.label for d in same], [d.score for d in same])
        for key, same in queries.items()
    }


def _check_same_folds(first: str, a: Report, second: str, b: Report) -> None:
    """Raise ValueError unless reports have the same task, corpus and folds.

    Folds are the same if their numbers (of split and fold) and sizes are, in any order. ``first``
    and ``second`` are run names.
    """
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
    """Return numbers and sizes of a fold, by which folds of two runs are compared."""
    return fold.split, fold.fold, fold.documents, fold.candidates, fold.positives


def _is_5x2(folds: Sequence[Fold]) -> bool:
    """Return whether the folds are exactly two in each of five splits."""
    return sorted((f.split, f.fold) for f in folds) == [(i, j) for i in range(5) for j in range(2)]


def _default(reports: Mapping[str, Report]) -> list[str]:
    """Return the metrics to compare by default: AUC and F, else tau, if all reports have them.

    AUC and F are taken only together. Raises ValueError if neither both nor tau are shared.
    """
    shared = set.intersection(*(set(report.measures) for report in reports.values()))
    for names in (("auc", "f"), ("tau",)):
        if shared.issuperset(names):
            return list(names)
    raise ValueError("the reports share neither auc and f nor tau: name the measures to compare")


def _notes(reports: Mapping[str, Report]) -> list[str]:
    """Return the notes of all runs, and a warning if repeated splits make p too small.

    The warning is for several splits of the first run, unless they are 5×2 folds.
    """
    notes = [f"{name}: {note}" for name, report in reports.items() for note in report.notes]
    folds = next(iter(reports.values())).folds
    if len({fold.split for fold in folds}) > 1 and not _is_5x2(folds):
        notes.append(
            "Several divisions test the same documents again, so the folds are not independent and "
            "p is too small. Use `--protocol 5x2` for a test."
        )
    return notes


@dataclass(frozen=True)
class PermutationResult:
    """Rank of the AUC of the true labels among those of permuted labels, mean over folds.

    ``null_mean`` and ``null_std`` are those of the permuted labels' AUC.
    """

    auc: float
    p: float  # share of permutations that do as well, the true answers counted among them
    null_mean: float
    null_std: float
    permutations: int
    undefined: int  # test folds without both classes, summed over all permutations

    def to_dict(self) -> dict[str, Any]:
        """Return ``auc``, ``p``, ``null_mean``, ``null_std``, ``permutations``, ``undefined``."""
        return dict(vars(self))


def permutation_p(
    learner: Learner,
    data: KernelData,
    split: Split,
    *,
    permutations: int = 1000,
    within: Literal["corpus", "document"] = "corpus",
    seed: int = 0,
) -> PermutationResult:
    """Repeat the nested evaluation for permutations of the labels and return the p-value.

    The labels only enter linearly: permuted ones are further columns of ``Y``, and one inverse per
    alpha serves all of them, with alpha chosen by inner AUC for each column and fold. Only the
    first partition of the split is used.

    Parameters
    ----------
    learner
        RLS without class weights.
    data
        Features or Gram matrix of the n candidates of the split.
    permutations, seed
        Number of permutations, and seed of the draws.
    within
        ``"document"`` permutes labels inside each group only and keeps its number of positives, a
        stricter test.

    Raises
    ------
    ValueError
        For another learner, several kernels, fewer than one permutation, or if a permutation has no
        test fold with both classes.
    """
    if not isinstance(learner, RLS) or learner.positive_weight != 1.0:
        raise ValueError(
            f"permuted answers are extra columns only for RLS without class weights, not for "
            f"{learner}. Set positive_weight to 1, or permute the corpus and run again."
        )
    if permutations < 1:
        raise ValueError(f"permutations must be at least 1, got {permutations}")
    targets = split.targets
    Y = permuted(targets, permutations, within, seed)
    data = require_single_kernel(data, "a permutation test")
    K = gram(data.values) if isinstance(data, Features) else np.asarray(data)
    scores = nested_scores(K, Y, targets.groups, split.partitions[0], learner.alphas)
    values, undefined = _fold_means(Y, scores, split)
    null = values[1:]
    reached = int((null >= values[0] - 1e-12).sum())
    return PermutationResult(
        auc=float(values[0]),
        p=(1 + reached) / (1 + permutations),
        null_mean=float(null.mean()),
        null_std=float(null.std()),
        permutations=permutations,
        undefined=undefined,
    )


def permuted(targets: Targets, permutations: int, within: str, seed: int) -> Matrix:
    """Return labels (n, 1 + permutations): the true ones first, then permuted ones.

    ``within`` is ``"corpus"`` (all labels are exchanged) or ``"document"`` (those inside a group of
    ``targets``); another value raises ValueError. Columns are permuted independently, by ``seed``.
    """
    if within not in ("corpus", "document"):
        raise ValueError(f"within must be 'corpus' or 'document', got {within!r}")
    rng = np.random.default_rng(seed)
    y = targets.y
    blocks = [np.arange(len(y))] if within == "corpus" else rows_by_group(targets.groups, len(y))
    Y = np.repeat(y[:, None], 1 + permutations, axis=1)
    for block in blocks:
        Y[block, 1:] = rng.permuted(Y[block, 1:], axis=0)
    return Y


def nested_scores(
    K: Matrix, Y: Matrix, documents: Indices, folds: Indices, alphas: Sequence[float]
) -> Matrix:  # (n, p)
    """Return test scores of each column at the alpha with the best inner leave-group-out AUC.

    Parameters
    ----------
    K
        Gram matrix, (n, n).
    Y
        Labels, (n, p), one column per labelling; positive where greater than 0.
    documents
        Number of the group of each candidate, (n,); all of a group are in one fold.
    folds
        Fold of each candidate, (n,), from 0; at least two.
    alphas
        Choices of alpha, positive, in any order; of equally good ones (AUC within
        ``TIE_TOLERANCE``) the largest is taken. An undefined AUC counts as the worst.

    Returns
    -------
    ndarray
        (n, p); each fold is scored by an RLS model of the other folds.
    """
    best = np.full((int(folds.max()) + 1, Y.shape[1]), -np.inf)
    scores = np.zeros(Y.shape)
    groups = rows_by_group(documents, len(Y), name="documents")
    for alpha in track(sorted(alphas), "alphas", len(alphas)):
        G = inverse(K, alpha)
        A = G @ Y
        for fold in np.unique(folds):
            out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            inside = [group for group in groups if folds[group[0]] != fold]
            outer, inner = _fold_scores(G, A, Y, out, inside)
            quality = aucs(Y[rest], inner[rest])
            # The largest alpha of equals, as the learner itself chooses.
            quality = np.where(np.isnan(quality), -1.0, quality)
            better = quality >= best[fold] - TIE_TOLERANCE
            best[fold] = np.maximum(best[fold], quality)
            scores[np.ix_(out, better)] = outer[:, better]
    return scores


def aucs(Y: Matrix, scores: Matrix) -> Vector:  # (n, p), (n, p) -> (p,)
    """Return the AUC of each column, ties one half; NaN for a column with one class only.

    A label is positive where greater than 0. Scores within round-off are tied.
    """
    positive = Y > 0
    p = positive.sum(axis=0).astype(np.float64)
    n = len(Y) - p
    ranks = np.where(positive, rank_ties(scores, axis=0), 0).sum(axis=0)
    pairs = p * n
    above = ranks - p * (p + 1) / 2
    return np.divide(above, pairs, out=np.full_like(p, np.nan), where=pairs > 0)


def _fold_scores(
    G: Matrix, A: Matrix, Y: Matrix, out: Indices, inside: Sequence[Indices]
) -> tuple[Matrix, Matrix]:
    """Return test scores of a fold (m, p), and held-out scores of the rest (n, p).

    ``G`` is the inverse of ``K + alpha I``, ``A = G Y``, ``out`` the m rows of the fold and
    ``inside`` the rows of each other group. The model of the fold's scores has no row of ``out``;
    that of an inner group has neither ``out`` nor the group. Inner scores of ``out`` are 0.
    """
    L = sla.cholesky(G[np.ix_(out, out)], lower=True, check_finite=False)
    Z = sla.solve_triangular(L, A[out], lower=True, check_finite=False)
    outer = Y[out] - sla.solve_triangular(L, Z, lower=True, trans=1, check_finite=False)
    W = sla.solve_triangular(L, G[out], lower=True, check_finite=False).T
    rest = A - W @ Z
    inner = np.zeros(Y.shape)
    for index in stack_groups_by_size(inside):
        part = W[index]
        blocks = G[index[:, :, None], index[:, None, :]] - part @ part.transpose(0, 2, 1)
        inner[index] = solve_blocks(blocks, rest[index], Y[index])
    return outer, inner


def _fold_means(Y: Matrix, scores: Matrix, split: Split) -> tuple[Vector, int]:
    """Return the AUC of each column, mean over the tested folds that define it, (p,).

    ``Y`` and ``scores`` are (n, p). Folds are those of the first repetition of ``split`` that
    ``split.tested`` names; None means all. Also returns how many (fold, column) values are
    undefined. Raises ValueError if a column has no defined fold.
    """
    folds = split.partitions[0]
    tested = [f for f in np.unique(folds) if split.tested is None or int(f) in split.tested]
    rows = np.array([aucs(Y[folds == f], scores[folds == f]) for f in tested])
    defined = ~np.isnan(rows)
    if not defined.any(axis=0).all():
        raise ValueError(
            "some permutation has no test fold with both classes, so AUC is undefined. "
            "Take fewer folds."
        )
    means = np.where(defined, rows, 0).sum(axis=0) / defined.sum(axis=0)
    return means, int((~defined).sum())
