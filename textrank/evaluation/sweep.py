"""Sweeps over settings with a cache on disk, and learning curves with their forecast.

``sweep`` cross-validates a grid of pipelines; ``Cache`` stores each report and each Gram matrix in
a file named by a hash of everything it depends on, so that an interrupted sweep resumes.
``learning_curve`` evaluates a pipeline with growing shares of the training documents.

``forecast_curve`` tells what the next answers of an annotator would bring. A held-out metric ``v``
after ``n`` answers follows ``v = a - b n^-c`` with ``b >= 0`` (a power law, as learning curves
mostly do). The forecast averages over exponents ``c``, each weighted by how well its least-squares
line fits, and draws level and slope from their posterior, so that the interval covers what the
points leave open.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from spacy.tokens import Doc

from textrank.config import to_config
from textrank.evaluation.cross_validation import (
    HEADLINE_METRICS,
    FoldScores,
    cross_validate_dataset,
)
from textrank.evaluation.report import Fold, Report, Summary
from textrank.evaluation.splits import Split
from textrank.features import (
    Features,
    GramAlternatives,
    Indices,
    KernelData,
    Vector,
    select_rows_and_columns,
)
from textrank.io import (
    open_atomic_bytes,
    pack_arrays,
    read_arrays,
    read_json,
    remove_abandoned_drafts_in,
    unpack_arrays,
    write_text,
)
from textrank.learners.selection import fit_best_kernel
from textrank.linalg import gram
from textrank.pipeline import Clock, Dataset, Pipeline
from textrank.progress import track
from textrank.protocols import Splitter

MIN_FORECAST_POINTS = 5  # of a curve, before it is continued
FORECAST_EXPONENTS = np.linspace(0.1, 2.0, 20)
FORECAST_DRAWS = 4000
FORECAST_LEVEL = 0.9
MIN_NOISE_VARIANCE = 1e-8  # of the noise of a metric
# Neighbouring points share most of their answers, so a point tells less than an independent one:
# the variance of the curve is that of a third as many points.
VARIANCE_INFLATION = 3.0


@dataclass(frozen=True)
class Cache:
    """Folder with one JSON file per cached result, and an ``.npz`` file beside some.

    The name of a file is a hash of everything its content depends on (``made_from``): settings,
    documents, and the code of textrank itself. A change of any of them gives another name, so
    nothing outdated is ever read. Any file may be deleted at any time.
    """

    folder: Path

    def get(self, kind: str, made_from: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the JSON content stored for ``made_from``, or None.

        None if nothing is stored, the file is damaged, or it was made from something else. ``kind``
        is the subfolder, a class of results such as "reports".
        """
        path = self._path(kind, made_from)
        try:
            entry = read_json(path, math.inf)
        except ValueError:
            return None
        is_valid = isinstance(entry, dict) and entry.get("made_from") == _plain(made_from)
        return entry["content"] if is_valid else None

    def put(self, kind: str, made_from: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        """Store JSON ``content`` under ``made_from``, atomically; an earlier entry is replaced.

        ``made_from`` must be serialisable as JSON; ``content`` too, without NaN or infinity
        (ValueError). The folder is made if needed.
        """
        entry = {"made_from": _plain(made_from), "content": content}
        text = json.dumps(entry, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        write_text(text, self._prepare_path(kind, made_from))

    def get_arrays(self, kind: str, made_from: Mapping[str, Any]) -> tuple[Any, Any] | None:
        """Return ``(value, content)`` as ``put_arrays`` stored them, or None.

        ``value`` is a matrix or Features. None if there is no entry that was made from the same, or
        a file is missing or damaged.
        """
        content = self.get(kind, made_from)
        path = self._path(kind, made_from).with_suffix(".npz")
        if content is None or not path.is_file():
            return None
        try:
            return unpack_arrays(read_arrays(path, math.inf)), content
        except ValueError:
            return None

    def put_arrays(
        self, kind: str, made_from: Mapping[str, Any], value: Any, content: Mapping[str, Any]
    ) -> None:
        """Store a matrix or features with JSON content; the JSON is written last, as a marker.

        ``value`` is anything that ``textrank.io.pack_arrays`` accepts. ``made_from`` and
        ``content`` must be serialisable as JSON, without NaN or infinity. An earlier entry is
        replaced, the folder made if needed.
        """
        path = self._prepare_path(kind, made_from).with_suffix(".npz")
        with open_atomic_bytes(path) as stream:  # not compressed: a Gram matrix hardly shrinks
            np.savez(stream, allow_pickle=False, **pack_arrays(value))
        self.put(kind, made_from, content)

    def _prepare_path(self, kind: str, made_from: Mapping[str, Any]) -> Path:
        """Return the path of a file to write; makes its folder and removes abandoned drafts."""
        path = self._path(kind, made_from)
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned_drafts_in(path.parent)
        return path

    def _path(self, kind: str, made_from: Mapping[str, Any]) -> Path:
        """Return the path of the JSON file, ``folder/kind/<hash of made_from>.json``.

        It need not exist. The order of the keys of ``made_from`` does not matter.
        """
        text = json.dumps(_plain(made_from), sort_keys=True)
        return self.folder / kind / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"


def fingerprint(docs: Iterable[Doc]) -> str:
    """Return a hexadecimal SHA-256 of everything a pipeline sees of Docs.

    That is tokens (text, white space, tag, dependency, head, sentence starts), span groups (tokens,
    label and id of each span, not ``kb_id``) and ``user_data`` with string keys. Lemmas,
    ``doc.ents`` and custom attributes are not part of it. The order of the Docs counts.
    """
    digest = hashlib.sha256()
    for doc in docs:
        spans = {
            key: [(s.start, s.end, s.label_, s.id_) for s in g] for key, g in doc.spans.items()
        }
        tokens = [(t.text, t.whitespace_, t.tag_, t.dep_, t.head.i, t.is_sent_start) for t in doc]
        data = {key: value for key, value in doc.user_data.items() if isinstance(key, str)}
        digest.update(json.dumps([tokens, spans, data], default=str, sort_keys=True).encode())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _hash_code() -> str:
    """Return a hash of all ``.py`` files of textrank, since other code may give other results.

    Computed once per process.
    """
    digest = hashlib.sha256()
    root = Path(str(files("textrank")))
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _plain(made_from: Mapping[str, Any]) -> Any:
    """Return a copy of ``made_from`` as JSON gives it back: tuples as lists, keys as text."""
    return json.loads(json.dumps(made_from, sort_keys=True))


Values: TypeAlias = tuple[Any, ...]  # one value per key of the grid


@dataclass(frozen=True)
class Point:
    """Report of one combination of values; ``values`` are in the order of ``Sweep.keys``."""

    values: Values
    report: Report
    reused: bool = False  # taken from the cache


@dataclass(frozen=True)
class Sweep:
    """Reports over a grid of settings; choosing the best of them by these figures is optimistic.

    Attributes
    ----------
    keys
        Names of the settings that vary.
    points
        One per combination of values, in the order of the pipelines given to ``sweep``.
    seconds
        Time spent by stage (fingerprint and preparation of datasets).
    """

    keys: Sequence[str]
    points: Sequence[Point]
    seconds: Mapping[str, float] = field(default_factory=dict)

    def axis(self, index: int) -> list[Any]:
        """Return the distinct values of ``keys[index]``, in order of appearance.

        Values that read the same as text are one.
        """
        return list({str(p.values[index]): p.values[index] for p in self.points}.values())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: ``keys`` and ``points``.

        A point has ``values`` by key and the ``report`` as a dictionary. Times and the flag
        ``reused`` are left out.
        """
        rows = [
            {"values": dict(zip(self.keys, p.values, strict=True)), "report": p.report.to_dict()}
            for p in self.points
        ]
        return {"keys": list(self.keys), "points": rows}


def sweep(
    pipelines: Mapping[Values, Pipeline],
    keys: Sequence[str],
    docs: Sequence[Doc],
    splitter: Splitter,
    cache: Cache,
    *,
    corpus: str = "",
    title: str = "",
) -> Sweep:
    """Cross-validate each pipeline, or take its report from the cache.

    Each report is stored as soon as it is finished, so an interrupted sweep resumes and loses at
    most one point. Kernel values are computed once for all points that agree in task,
    representation and kernel, and cached too.

    Parameters
    ----------
    pipelines
        Pipeline of each combination of values, keyed by these values in the order of ``keys``.
    keys
        Names of the settings that vary.
    docs
        Annotated documents.
    splitter
        Splitter of the cross-validation; its ``repr`` is part of the cache key.
    cache
        Folder where reports and kernel values are stored.
    corpus, title
        Names of corpus and pipeline for the reports.

    Returns
    -------
    Sweep
        One point per pipeline, in the order of ``pipelines``.
    """
    clock = Clock()
    with clock.step("fingerprint"):
        data = {"documents": fingerprint(docs), "corpus": corpus, "code": _hash_code()}
    points: dict[Values, Point] = {}
    last: tuple[object, Dataset] | None = None
    # Points that share kernel values are adjacent, so that only one dataset is in memory.
    order = sorted(pipelines, key=lambda v: str(_kernel_settings(pipelines[v])))
    for values in track(order, "points", len(order)):
        pipeline = pipelines[values]
        made_from = {**data, "pipeline": to_config(pipeline), "protocol": repr(splitter)}
        stored = cache.get("reports", made_from)
        if stored is not None:
            points[values] = Point(values, Report.from_dict(stored), reused=True)
            continue
        settings = _kernel_settings(pipeline)
        if last is None or last[0] != settings:
            last = None  # frees the old matrix before the new one is computed
            last = (settings, _prepare_cached(pipeline, docs, cache, {**data, **settings}, clock))
        report = cross_validate_dataset(pipeline, last[1], splitter, corpus=corpus, title=title)
        cache.put("reports", made_from, report.to_dict())
        # Through the cache form, so that a point is the same whether it was computed or read.
        points[values] = Point(values, Report.from_dict(report.to_dict()))
    return Sweep(keys, [points[values] for values in pipelines], clock.seconds)


def _kernel_settings(pipeline: Pipeline) -> dict[str, Any]:
    """Return the settings that the kernel values of a pipeline depend on, as plain values.

    Keys are "task", "representation" and "kernel". Pipelines with equal settings share a dataset.
    """
    return {
        part: to_config(getattr(pipeline, part)) for part in ("task", "representation", "kernel")
    }


def _prepare_cached(
    pipeline: Pipeline,
    docs: Sequence[Doc],
    cache: Cache,
    made_from: Mapping[str, Any],
    clock: Clock,
) -> Dataset:
    """Return the dataset with kernel values from the cache, or computed and stored there.

    ``made_from`` is the cache key. The dataset has no representations (``X`` empty), whether it was
    computed or read, and wide features are replaced by their Gram matrix (``_compact``). Times of a
    computation go to ``clock``.
    """
    stored = cache.get_arrays("comparisons", made_from)
    if stored is not None:
        data, content = stored
        return pipeline.dataset_from_data(docs, data, content["notes"])
    dataset = pipeline.prepare(docs, clock)
    data = _compact(dataset.data)
    cache.put_arrays("comparisons", made_from, data, {"notes": list(dataset.notes)})
    return replace(dataset, X=(), data=data)


def _compact(data: KernelData) -> KernelData:
    """Return the Gram matrix of Features with at least a third as many columns as rows.

    Every point would otherwise compute it again. Other data are returned unchanged.
    """
    wide = isinstance(data, Features) and 3 * data.values.shape[1] >= len(data)
    return gram(data.values) if isinstance(data, Features) and wide else data


LEARNING_CURVE_SHARES = (0.0625, 0.125, 0.25, 0.5, 1.0)  # of the training documents


def learning_curve(
    pipeline: Pipeline,
    dataset: Dataset,
    splitter: Splitter,
    *,
    shares: Sequence[float] = LEARNING_CURVE_SHARES,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Return metrics of models that were trained on shares of the training documents.

    All are tested on the same folds of the first repetition; smaller training sets are subsets of
    the larger ones.

    Parameters
    ----------
    pipeline
        Pipeline whose learner and task are used.
    dataset
        Prepared candidates, targets and kernel values; they are not computed again.
    splitter
        Defines the folds; not leave-pair-out, which has none.
    shares
        Shares of the training documents (groups), each in (0, 1]; at least two groups are used.
    seed
        Seed of the random choice of documents.

    Returns
    -------
    list of dict
        A point per share, ascending: ``x``, the mean number of training groups over folds, and per
        headline metric ``{"mean": …, "std": …}`` over folds. A share for which the training set of
        some fold has one class only is left out.

    Raises
    ------
    ValueError
        If a share is not in (0, 1].
    """
    if not all(0 < share <= 1 for share in shares):
        raise ValueError(f"shares of the training documents must be between 0 and 1, got {shares}")
    split = splitter.split(dataset.candidates, dataset.targets)
    points = []
    for share in track(sorted(shares), "learning curve", len(shares)):
        rows = [_test_and_train_rows(split, fold, share, seed) for fold in _tested_folds(split)]
        if all(len(np.unique(dataset.targets.y[train])) > 1 for _, train in rows):
            folds = [_train_and_test(pipeline, dataset, split, *parts) for parts in rows]
            sizes = [len(np.unique(split.targets.groups[train])) for _, train in rows]
            points.append(_make_point(float(np.mean(sizes)), folds))
    return points


def _tested_folds(split: Split) -> list[int]:
    """Return the fold numbers of the first partition, ascending.

    Only ``split.tested`` if it is set.
    """
    numbers = [int(fold) for fold in np.unique(split.partitions[0])]
    return [n for n in numbers if split.tested is None or n in split.tested]


def _test_and_train_rows(
    split: Split, fold: int, share: float, seed: int
) -> tuple[Indices, Indices]:
    """Return the rows of test fold ``fold``, and those of a random share of the other groups.

    At least 2 groups are kept. With the same seed, a smaller share gives a subset of a larger one.
    Both results are ascending row numbers of the first partition.
    """
    folds, groups = split.partitions[0], split.targets.groups
    training_groups = np.unique(groups[folds != fold])
    order = np.random.default_rng((seed, fold)).permutation(training_groups)
    kept = order[: max(2, round(share * len(order)))]
    return np.flatnonzero(folds == fold), np.flatnonzero(np.isin(groups, kept))


def _train_and_test(
    pipeline: Pipeline, dataset: Dataset, split: Split, test_rows: Indices, train_rows: Indices
) -> Fold:
    """Train on ``train_rows`` of a dataset and return the metrics on ``test_rows``.

    The kernel (if several are given), regularisation and threshold are chosen on the training rows
    only. Gold answers of the test documents without a candidate count as missed.
    """
    out, rest = test_rows, train_rows
    targets = split.targets.take(rest)
    kernel_index, fit = fit_best_kernel(
        pipeline.learner, select_rows_and_columns(dataset.data, rest, rest), targets
    )
    threshold = pipeline.task.threshold(targets.y, fit.heldout[fit.alpha_index])
    across = select_rows_and_columns(dataset.data, out, rest)
    data = across.grams[kernel_index] if isinstance(across, GramAlternatives) else across
    scores = fit.predict(data, split.targets.take(out).context)
    candidates = [dataset.candidates[i] for i in out]
    missed = sum(dataset.unreachable.get(d, 0) for d in {c.group for c in candidates})
    test = FoldScores(out, candidates, [fit.alpha], scores[None], [threshold], 0, missed, 0, 0)
    return test.measure(pipeline.task)


def _make_point(documents: float, folds: Sequence[Fold]) -> dict[str, Any]:
    """Return a point of the curve at this mean number of training documents.

    Keys are ``x`` and each headline metric that the folds have, with mean and standard deviation
    over folds. ``folds`` must not be empty.
    """
    point: dict[str, Any] = {"x": documents}
    for name in HEADLINE_METRICS:
        if name in folds[0].measures:
            summary = Summary.from_folds(folds, name)
            point[name] = {"mean": summary.mean, "std": summary.std}
    return point


@dataclass(frozen=True)
class Forecast:
    """Expected metric after ``ahead`` more answers, with a 90 % interval.

    ``gain`` is what these answers add to the curve, without the noise of a single measurement.
    """

    ahead: int
    value: float
    low: float
    high: float
    gain: float
    gain_low: float
    gain_high: float


def forecast_curve(
    answers: Sequence[int], values: Sequence[float], ahead: Sequence[int] = (20, 50)
) -> list[Forecast]:
    """Continue a learning curve by a power law; one Forecast per number in ``ahead``, in order.

    ``value`` is the median and ``low`` and ``high`` the central ``FORECAST_LEVEL`` of the metric as
    it would be measured, cut to 0 .. 1; the gain is counted from the curve at the last point. Empty
    with fewer than ``MIN_FORECAST_POINTS`` points.

    Parameters
    ----------
    answers, values
        Points of the curve: positive, increasing numbers of answers, and metrics from 0 to 1.
        Points with more answers count more, in proportion.
    ahead
        Numbers of further answers to forecast.

    >>> n = list(range(20, 220, 20))
    >>> (forecast,) = forecast_curve(n, [0.8 - 1.5 / size for size in n], ahead=[100])
    >>> round(forecast.value, 3)
    0.795
    """
    if len(answers) < MIN_FORECAST_POINTS:
        return []
    n, v = np.asarray(answers, dtype=np.float64), np.asarray(values, dtype=np.float64)
    exponents, level, slope, noise = _draw_curves(n, v)
    now = level - slope * n[-1] ** -exponents
    forecasts = []
    for steps in ahead:
        later = level - slope * (n[-1] + steps) ** -exponents
        gains = _quantiles(later - now)
        measured = _quantiles(np.clip(later + noise, 0.0, 1.0))
        forecasts.append(Forecast(steps, *measured, *gains))
    return forecasts


def _draw_curves(n: Vector, v: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Return exponents, levels, slopes and noise of a measurement, (FORECAST_DRAWS,) each.

    Drawn from the posterior of weighted least squares at each of ``FORECAST_EXPONENTS``, the
    exponents in proportion to their likelihood; the random numbers are always the same. Negative
    slopes become 0. The noise is that of a measurement at the last point. ``n`` has at least two
    different values.
    """
    w = n / n.mean()
    rng = np.random.default_rng(0)
    freedom = max(len(n) - 3, 1)
    independent = max(freedom / VARIANCE_INFLATION, 1.0)
    fits = [_fit_line(n**-c, v, w) for c in FORECAST_EXPONENTS]
    errors = np.array([error for _, _, error in fits])
    likelihood = (errors / errors.min()) ** (-(len(n) - 2) / (2 * VARIANCE_INFLATION))
    which = rng.choice(len(FORECAST_EXPONENTS), FORECAST_DRAWS, p=likelihood / likelihood.sum())
    # Chi-squared draws of the noise's variance give Student's distribution of the coefficients.
    variance = errors[which] / freedom * independent / rng.chisquare(independent, FORECAST_DRAWS)
    normal = rng.normal(size=(FORECAST_DRAWS, 2))
    means = np.array([mean for mean, _, _ in fits])[which]
    roots = np.array([root for _, root, _ in fits])[which]
    spread = np.sqrt(VARIANCE_INFLATION * variance)[:, None]
    drawn = means + spread * np.einsum("dij,dj->di", roots, normal)
    noise = np.sqrt(variance / w[-1]) * rng.normal(size=FORECAST_DRAWS)
    return FORECAST_EXPONENTS[which], drawn[:, 0], np.maximum(drawn[:, 1], 0.0), noise


def _fit_line(x: Vector, v: Vector, w: Vector) -> tuple[Vector, Vector, float]:
    """Fit ``v = a - b x`` with weights; return (a, b), a root of their covariance and the error.

    The covariance (2, 2), of which a Cholesky root is returned, is in units of the variance of the
    noise. If the best ``b`` is negative, ``b`` is 0 and ``a`` the weighted mean. The error is the
    weighted sum of squares, at least ``MIN_NOISE_VARIANCE`` per point. ``x`` must not be constant.
    """
    X = np.column_stack([np.ones(len(x)), -x])
    covariance = np.linalg.inv(X.T @ (w[:, None] * X))
    mean = covariance @ (X.T @ (w * v))
    if mean[1] < 0:
        mean = np.array([float(w @ v / w.sum()), 0.0])
    error = float(w @ (v - X @ mean) ** 2)
    return mean, np.linalg.cholesky(covariance), max(error, MIN_NOISE_VARIANCE * len(x))


def _quantiles(draws: Vector) -> tuple[float, float, float]:
    """Return median, lower and upper end of the central ``FORECAST_LEVEL`` of draws, not empty."""
    tail = (1 - FORECAST_LEVEL) / 2
    middle, low, high = np.quantile(draws, [0.5, tail, 1 - tail])
    return float(middle), float(low), float(high)
