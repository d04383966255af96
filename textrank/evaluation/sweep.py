"""Finished work on disk, in plain files under the settings that made them."""

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


@dataclass(frozen=True)
class Cache:
    """A folder with a JSON file for each finished piece of work, and arrays beside some.

    The name of a file is a hash of everything its content depends on: settings, documents, and the
    code of textrank itself. A change of any of them is another name, so nothing outdated is ever
    read; the JSON says in plain words what it was made from. Any file may be deleted at any time.
    """

    folder: Path

    def get(self, kind: str, made_from: Mapping[str, Any]) -> dict[str, Any] | None:
        """What was kept for these settings; None where there is nothing, or it is damaged."""
        path = self._path(kind, made_from)
        try:
            entry = read_json(path, math.inf)
        except ValueError:
            return None
        known = isinstance(entry, dict) and entry.get("made_from") == _plain(made_from)
        return entry["content"] if known else None

    def keep(self, kind: str, made_from: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        """Writes a piece of work, whole or not at all."""
        entry = {"made_from": _plain(made_from), "content": content}
        text = json.dumps(entry, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        write_text(text, self._made(kind, made_from))

    def get_arrays(self, kind: str, made_from: Mapping[str, Any]) -> tuple[Any, Any] | None:
        """A matrix or features with their notes; None where there are none, or damaged ones."""
        content = self.get(kind, made_from)
        path = self._path(kind, made_from).with_suffix(".npz")
        if content is None or not path.is_file():
            return None
        try:
            return unpack_arrays(read_arrays(path, math.inf)), content
        except ValueError:
            return None

    def keep_arrays(
        self, kind: str, made_from: Mapping[str, Any], value: Any, content: Mapping[str, Any]
    ) -> None:
        """Writes a matrix or features with notes; the JSON last, so that it vouches for both."""
        path = self._made(kind, made_from).with_suffix(".npz")
        with open_atomic_bytes(path) as stream:  # not compressed: a Gram matrix hardly shrinks
            np.savez(stream, allow_pickle=False, **pack_arrays(value))
        self.keep(kind, made_from, content)

    def _made(self, kind: str, made_from: Mapping[str, Any]) -> Path:
        """The path in a folder that exists and holds nothing that a killed run left."""
        path = self._path(kind, made_from)
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned_drafts_in(path.parent)
        return path

    def _path(self, kind: str, made_from: Mapping[str, Any]) -> Path:
        text = json.dumps(_plain(made_from), sort_keys=True)
        return self.folder / kind / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"


def fingerprint(docs: Iterable[Doc]) -> str:
    """A hash of all that a pipeline can see of documents: text, analyses, entities and gold."""
    digest = hashlib.sha256()
    for doc in docs:
        spans = {
            key: [(s.start, s.end, s.label_, s.id_) for s in g] for key, g in doc.spans.items()
        }
        tokens = [(t.text, t.whitespace_, t.tag_, t.dep_, t.head.i, t.is_sent_start) for t in doc]
        own = {str(key): value for key, value in doc.user_data.items() if isinstance(key, str)}
        digest.update(json.dumps([tokens, spans, own], default=str, sort_keys=True).encode())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def code() -> str:
    """A hash of the source of textrank: results of another version are other results."""
    digest = hashlib.sha256()
    root = Path(str(files("textrank")))
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()


def _plain(made_from: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(made_from, sort_keys=True))


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
        made_from = {**data, "pipeline": to_config(pipeline), "protocol": repr(splitter)}
        known = cache.get("reports", made_from)
        if known is not None:
            points[values] = Point(values, Report.from_dict(known), reused=True)
            continue
        how = _comparison(pipeline)
        if last is None or last[0] != how:
            last = None  # frees the old matrix before the new one is made
            last = (how, _prepared(pipeline, docs, cache, {**data, **how}, clock))
        report = cross_validate_dataset(pipeline, last[1], splitter, corpus=corpus, title=title)
        cache.keep("reports", made_from, report.to_dict())
        # Through the cache form, so that a point is the same whether it was computed or read.
        points[values] = Point(values, Report.from_dict(report.to_dict()))
    return Sweep(keys, [points[values] for values in pipelines], clock.seconds)


def _comparison(pipeline: Pipeline) -> dict[str, Any]:
    """The settings that the matrix of a pipeline depends on."""
    return {
        part: to_config(getattr(pipeline, part)) for part in ("task", "representation", "kernel")
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
        return pipeline.dataset_from_data(docs, data, content["notes"])
    dataset = pipeline.prepare(docs, clock)
    data = _compact(dataset.data)
    cache.keep_arrays("comparisons", made_from, data, {"notes": list(dataset.notes)})
    return replace(dataset, X=(), data=data)


def _compact(data: KernelData) -> KernelData:
    """Many features as their Gram matrix, which the learner would make at every point again."""
    wide = isinstance(data, Features) and 3 * data.values.shape[1] >= len(data)
    return gram(data.values) if isinstance(data, Features) and wide else data


SHARES = (0.0625, 0.125, 0.25, 0.5, 1.0)


def learning_curve(
    pipeline: Pipeline,
    dataset: Dataset,
    splitter: Splitter,
    *,
    shares: Sequence[float] = SHARES,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Measures of models of fewer documents, tested on the same folds of the first split.

    Smaller training sets are parts of the larger ones. A share in which some fold has one class
    only is left out, since nothing can be learnt from it.
    """
    if not all(0 < share <= 1 for share in shares):
        raise ValueError(f"shares of the training documents lie between 0 and 1, got {shares}")
    split = splitter.split(dataset.candidates, dataset.targets)
    points = []
    for share in track(sorted(shares), "learning curve", len(shares)):
        trained = [_train(dataset, split, fold, share, seed) for fold in _tested(split)]
        if all(len(np.unique(dataset.targets.y[rest])) > 1 for _, rest in trained):
            folds = [_fold(pipeline, dataset, split, out, rest) for out, rest in trained]
            sizes = [len(np.unique(split.targets.groups[rest])) for _, rest in trained]
            points.append(_point(float(np.mean(sizes)), folds))
    return points


def _tested(split: Split) -> list[int]:
    numbers = [int(fold) for fold in np.unique(split.partitions[0])]
    return [n for n in numbers if split.tested is None or n in split.tested]


def _train(
    dataset: Dataset, split: Split, fold: int, share: float, seed: int
) -> tuple[Indices, Indices]:
    """The test candidates of a fold, and those of a share of its training documents."""
    folds, documents = split.partitions[0], split.targets.groups
    inside = np.unique(documents[folds != fold])
    order = np.random.default_rng((seed, fold)).permutation(inside)
    kept = order[: max(2, round(share * len(order)))]
    return np.flatnonzero(folds == fold), np.flatnonzero(np.isin(documents, kept))


def _fold(pipeline: Pipeline, dataset: Dataset, split: Split, out: Indices, rest: Indices) -> Fold:
    targets = split.targets.take(rest)
    best, fit = fit_best_kernel(
        pipeline.learner, select_rows_and_columns(dataset.data, rest, rest), targets
    )
    threshold = pipeline.task.threshold(targets.y, fit.heldout[fit.alpha_index])
    across = select_rows_and_columns(dataset.data, out, rest)
    data = across.grams[best] if isinstance(across, GramAlternatives) else across
    scores = fit.predict(data, split.targets.take(out).context)
    candidates = [dataset.candidates[i] for i in out]
    missed = sum(dataset.unreachable.get(d, 0) for d in {c.group for c in candidates})
    test = FoldScores(out, candidates, [fit.alpha], scores[None], [threshold], 0, missed, 0, 0)
    return test.measure(pipeline.task)


def _point(documents: float, folds: Sequence[Fold]) -> dict[str, Any]:
    point: dict[str, Any] = {"x": documents}
    for name in HEADLINE_METRICS:
        if name in folds[0].measures:
            summary = Summary.from_folds(folds, name)
            point[name] = {"mean": summary.mean, "std": summary.std}
    return point
