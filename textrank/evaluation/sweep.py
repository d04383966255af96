"""One setting or several over a grid, each point a full evaluation; what is done stays done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from spacy.tokens import Doc

from textrank.evaluation.cache import Cache, code, fingerprint
from textrank.evaluation.cross_validation import assess
from textrank.evaluation.report import Report
from textrank.evaluation.splits import Splitter
from textrank.linalg.spectrum import gram
from textrank.pipeline import Clock, Dataset, Pipeline
from textrank.progress import track
from textrank.registries import config_of
from textrank.types import Data, Features

Values: TypeAlias = tuple[Any, ...]  # one for each key


@dataclass(frozen=True)
class Point:
    """One combination of values and its report."""

    values: Values
    report: Report
    reused: bool = False  # taken from the cache


@dataclass(frozen=True)
class Sweep:
    """Reports over a grid of settings. To pick the best of them by these figures is optimistic."""

    keys: Sequence[str]
    points: Sequence[Point]
    seconds: Mapping[str, float] = field(default_factory=dict)

    def axis(self, place: int) -> list[Any]:
        """The values of a key, in the order given."""
        return list({str(p.values[place]): p.values[place] for p in self.points}.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
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
    """The report of each pipeline, from the cache where it was made before.

    Each point is kept as soon as it is done: a sweep that was stopped goes on where it was, and
    loses at most the point in work. Candidates are compared once for all points that agree in
    task, representation and kernel.
    """
    clock = Clock()
    with clock.step("fingerprint"):
        data = {"documents": fingerprint(docs), "corpus": corpus, "code": code()}
    points: dict[Values, Point] = {}
    last: tuple[object, Dataset] | None = None
    # Those that share a Gram matrix after one another: only one has to be held.
    order = sorted(pipelines, key=lambda v: str(_comparison(pipelines[v])))
    for values in track(order, "points", len(order)):
        pipeline = pipelines[values]
        made_from = {**data, "pipeline": config_of(pipeline), "protocol": repr(splitter)}
        known = cache.get("reports", made_from)
        if known is not None:
            points[values] = Point(values, Report.from_dict(known), reused=True)
            continue
        how = _comparison(pipeline)
        if last is None or last[0] != how:
            last = None  # frees the old matrix before the new one is made
            last = (how, _prepared(pipeline, docs, cache, {**data, **how}, clock))
        report = assess(pipeline, last[1], splitter, corpus=corpus, title=title)
        cache.keep("reports", made_from, report.to_dict())
        # Through the cache form, so that a point is the same whether it was computed or read.
        points[values] = Point(values, Report.from_dict(report.to_dict()))
    return Sweep(keys, [points[values] for values in pipelines], clock.seconds)


def _comparison(pipeline: Pipeline) -> dict[str, Any]:
    """The settings that the matrix of a pipeline depends on."""
    return {
        part: config_of(getattr(pipeline, part)) for part in ("task", "representation", "kernel")
    }


def _prepared(
    pipeline: Pipeline,
    docs: Sequence[Doc],
    cache: Cache,
    made_from: Mapping[str, Any],
    clock: Clock,
) -> Dataset:
    known = cache.get_arrays("comparisons", made_from)
    if known is not None:
        data, content = known
        return pipeline.restore(docs, data, content["notes"])
    dataset = pipeline.prepare(docs, clock)
    data = _compact(dataset.data)
    cache.keep_arrays("comparisons", made_from, data, {"notes": list(dataset.notes)})
    return replace(dataset, X=(), data=data)


def _compact(data: Data) -> Data:
    """Many features as their Gram matrix, which the learner would make at every point again."""
    wide = isinstance(data, Features) and 3 * data.values.shape[1] >= len(data)
    return gram(data.values) if isinstance(data, Features) and wide else data
