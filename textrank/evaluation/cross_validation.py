"""Judged candidates as Decisions: plain values for curves and for reading the errors."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from textrank.candidates import Candidate, document_id, gold_labels, span_tokens
from textrank.config import to_config
from textrank.evaluation.report import Counts, Decision, Fold, Report, Summary
from textrank.evaluation.splits import Split, make_splitter
from textrank.evaluation.statistics import bootstrap_intervals
from textrank.features import Indices, Matrix, Vector
from textrank.learners.base import NestedScores, choose_alpha
from textrank.learners.selection import nested_scores_of_kernels
from textrank.metrics import auc, average_over_queries, kendall_tau_b, precision_recall_f
from textrank.pipeline import Clock, Dataset, Pipeline, require_two_labels
from textrank.protocols import Splitter, Task
from textrank.tasks.base import Scored

Edge: TypeAlias = tuple[int, int, str]  # governor, dependent, label
Links: TypeAlias = dict[int, list[tuple[int, Edge]]]  # from a token to its neighbours


def make_decisions(
    candidates: Sequence[Candidate],
    scores: Vector,
    threshold: float | None,
    *,
    fold: int = 0,
    split: int = 0,
    paths: bool = False,
) -> Iterator[Decision]:
    """One Decision a candidate, with the dependency path between its spans.

    Only wrong answers get the path, for only they are shown one by one, unless all ``paths`` are
    asked for.
    """
    links: dict[int, Links] = {}
    for candidate, score in zip(candidates, scores, strict=True):
        start, end = _extent(candidate)
        label = float(candidate.label or 0.0)
        wrong = threshold is not None and (score >= threshold) != (label > 0)
        yield Decision(
            document=document_id(candidate.doc),
            text=candidate.doc.text[start:end],
            spans=[(s.start_char - start, s.end_char - start) for s in candidate.spans],
            score=float(score),
            label=label,
            threshold=threshold,
            fold=fold,
            split=split,
            query=candidate.query,
            path=tuple(_drawn(candidate, start, links)) if wrong or paths else (),
        )


def shortest_path(links: Links, starts: Collection[int], ends: Collection[int]) -> list[Edge]:
    """A shortest way from one of ``starts`` to one of ``ends``, in either direction of an edge.

    Empty where none leads there, or where both share a token.
    """
    came: dict[int, tuple[int, Edge] | None] = dict.fromkeys(starts)
    queue = deque(starts)
    while queue:
        at = queue.popleft()
        if at in ends:
            return _back(came, at)
        for neighbour, edge in links.get(at, ()):
            if neighbour not in came:
                came[neighbour] = (at, edge)
                queue.append(neighbour)
    return []


def dependency_links(doc: Doc) -> Links:
    """The dependencies of a Doc in both directions: those given with it, or spaCy's parse."""
    if "dependencies" in doc.user_data:
        edges = [(g, d, str(label)) for g, d, label in doc.user_data["dependencies"]]
    elif doc.has_annotation("DEP"):
        edges = [(t.head.i, t.i, t.dep_) for t in doc if t.head.i != t.i]
    else:
        edges = []
    links: Links = {}
    for edge in edges:
        links.setdefault(edge[0], []).append((edge[1], edge))
        links.setdefault(edge[1], []).append((edge[0], edge))
    return links


def _drawn(
    candidate: Candidate, start: int, links: dict[int, Links]
) -> Iterator[tuple[int, int, int, int, str]]:
    """The path between the first two spans in characters of the shown text."""
    if len(candidate.spans) < 2:
        return
    doc = candidate.doc
    if id(doc) not in links:
        links[id(doc)] = dependency_links(doc)
    first, second = (span_tokens(span) for span in candidate.spans[:2])
    for governor, dependent, label in shortest_path(links[id(doc)], first, second):
        a, b = doc[governor], doc[dependent]
        yield (a.idx - start, a.idx - start + len(a), b.idx - start, b.idx - start + len(b), label)


def _extent(candidate: Candidate) -> tuple[int, int]:
    """Characters of the sentences the spans stand in; the whole text of a Doc without any."""
    if not candidate.spans or not candidate.doc.has_annotation("SENT_START"):
        return 0, len(candidate.doc.text)
    sentences = [span.sent for span in candidate.spans]
    return min(s.start_char for s in sentences), max(s.end_char for s in sentences)


def _back(came: dict[int, tuple[int, Edge] | None], at: int) -> list[Edge]:
    path: list[Edge] = []
    while (step := came[at]) is not None:
        at = step[0]
        path.append(step[1])
    return path[::-1]


HEADLINES = ("auc", "f", "tau")


@dataclass(frozen=True, eq=False)
class FoldScores:
    """A test fold: scores at every alpha, and the choice made on its training part."""

    index: Indices  # of its candidates among all
    candidates: Sequence[Candidate]
    alphas: Sequence[float]
    scores: Matrix  # (alphas, m)
    thresholds: Sequence[float | None]  # the best one in training, for each alpha
    chosen: int
    unreachable: int
    fold: int
    split: int
    kernels: Sequence[Mapping[str, float]] = ()  # the choice of kernel at each place of alphas

    @property
    def y(self) -> Vector:
        """The answers."""
        return gold_labels(self.candidates)

    def measured(self, task: Task, alpha: int | None = None) -> Fold:
        """The measures at the chosen alpha, or at the one in place ``alpha``."""
        a = self.chosen if alpha is None else alpha
        scores, threshold = self.scores[a], self.thresholds[a]
        kernel = self.kernels[a] if self.kernels else {}
        return Fold(
            task.measures(Scored(self.candidates, scores, threshold, unreachable=self.unreachable)),
            fold=self.fold,
            split=self.split,
            documents=len({candidate.group for candidate in self.candidates}),
            candidates=len(self.candidates),
            positives=int((self.y > 0).sum()),
            chosen={"alpha": self.alphas[a], **kernel, **self._decided(task, scores, threshold)},
        )

    def _decided(
        self, task: Task, scores: Vector, threshold: float | None
    ) -> dict[str, float | None]:
        """The threshold, or of a ranking the number of queries."""
        if not task.is_ranking:
            return {"threshold": threshold}
        queries = [(c.document, c.query) for c in self.candidates]
        tau = average_over_queries(kendall_tau_b, self.y, scores, queries)
        return {"queries": tau.defined + tau.undefined, "undefined_queries": tau.undefined}

    def decisions(self, fold: Fold) -> Iterator[Decision]:
        """Every candidate decided; a task without thresholds, as a ranking, has none here."""
        threshold = fold.chosen.get("threshold")
        scores = self.scores[self.chosen]
        return make_decisions(self.candidates, scores, threshold, fold=self.fold, split=self.split)

    def decide(self, task: Task) -> NDArray[np.bool_]:
        """Return the task's answers at the chosen alpha, which its metrics are about."""
        return task.decide(self.scores[self.chosen], None, self.thresholds[self.chosen])


def alpha_curve(task: Task, tests: Sequence[FoldScores]) -> list[dict[str, Any]]:
    """The headline measures of the test folds at every alpha, for looking only.

    Where kernels were chosen too, they are those at the kernel that was chosen most often.
    """
    points = []
    kernels = tests[0].kernels or [{} for _ in tests[0].alphas]
    often = Counter(tuple(kernels[test.chosen].items()) for test in tests).most_common(1)[0][0]
    for a, alpha in enumerate(tests[0].alphas):
        if tuple(kernels[a].items()) != often:
            continue
        folds = [test.measured(task, a) for test in tests]
        point: dict[str, Any] = {"x": alpha}
        for name in HEADLINES:
            if name in folds[0].measures:
                summary = Summary.of(folds, name)
                point[name] = {"mean": summary.mean, "std": summary.std}
        points.append(point)
    return points


def pool_metrics(
    task: Task, tests: Sequence[FoldScores], folds: Sequence[Fold]
) -> dict[str, float | None]:
    """AUC, precision, recall and F over all folds of a split together, averaged over splits.

    Scores of different models are compared here, which makes this AUC pessimistic. Rankings have
    nothing to pool.
    """
    if "auc" not in folds[0].measures:
        return {}
    splits = {test.split for test in tests}
    rows = [_pool_split(task, [t for t in tests if t.split == split]) for split in splits]
    known = {name: [v for row in rows if (v := row[name]) is not None] for name in rows[0]}
    return {name: float(np.mean(values)) if values else None for name, values in known.items()}


def group_intervals(
    task: Task,
    tests: Sequence[FoldScores],
    folds: Sequence[Fold],
    unreachable: Mapping[str, int],
) -> dict[str, tuple[float, float]]:
    """95 % intervals of the measures the folds have, by drawing documents anew."""
    if "auc" not in folds[0].measures:
        return {}
    parts = [np.full(len(test.index), number) for number, test in enumerate(tests)]
    found = bootstrap_intervals(
        np.concatenate([test.y for test in tests]),
        np.concatenate([test.scores[test.chosen] for test in tests]),
        [candidate.group for test in tests for candidate in test.candidates],
        decisions=np.concatenate([test.decide(task) for test in tests]),
        parts=np.concatenate(parts),
        unreachable={name: number for name, number in unreachable.items() if number},
    )
    return {name: (interval.low, interval.high) for name, interval in found.items()}


def _pool_split(task: Task, tests: Sequence[FoldScores]) -> dict[str, float | None]:
    """Return AUC, precision, recall and F1 of all folds of one split together."""
    y = np.concatenate([test.y for test in tests])
    scores = np.concatenate([test.scores[test.chosen] for test in tests])
    decisions = np.concatenate([test.decide(task) for test in tests])
    metrics = precision_recall_f(y, decisions, sum(test.unreachable for test in tests))
    return {"auc": auc(y, scores), **metrics._asdict()}


def cross_validate(
    pipeline: Pipeline,
    docs: Iterable[Doc],
    *,
    folds: int | Mapping[str, int] = 10,
    seed: int = 0,
    splits: int = 1,
    splitter: Splitter | None = None,
    corpus: str = "",
    title: str = "",
) -> Report:
    """Measures on documents never trained on; alpha and threshold chosen without the fold.

    ``folds`` is a number, for which documents are dealt out by ``seed``, or a table
    ``{document: fold}``; ``splits`` repeats the deal with the following seeds. Each of the
    folds is tested on a model of the others, whose alpha and threshold were chosen by
    leave-document-out among those others. Another ``splitter`` takes the place of all three.
    """
    clock = Clock()
    own = make_splitter(folds=folds, seed=seed, splits=splits)
    dataset = pipeline.prepare(list(docs), clock)
    return cross_validate_dataset(
        pipeline, dataset, splitter or own, corpus=corpus, title=title, clock=clock
    )


def cross_validate_dataset(
    pipeline: Pipeline,
    dataset: Dataset,
    splitter: Splitter,
    *,
    corpus: str = "",
    title: str = "",
    clock: Clock | None = None,
) -> Report:
    """The report on a dataset that was prepared before; only learning is left to do."""
    clock = clock or Clock()
    require_two_labels(dataset.targets.y)
    split = splitter.split(dataset.candidates, dataset.targets)
    with clock.step("learner"):
        nested, kernels = nested_scores_of_kernels(
            pipeline.learner, dataset.data, split.targets, split.partitions
        )
    with clock.step("measures"):
        tests = [
            replace(test, kernels=kernels)
            for number, one in enumerate(nested)
            for test in _test_folds(pipeline, dataset, split, one, number)
        ]
        measured = [test.measured(pipeline.task) for test in tests]
        decisions = [d for test, f in zip(tests, measured, strict=True) for d in test.decisions(f)]
        intervals = group_intervals(pipeline.task, tests, measured, dataset.unreachable)
        curve = alpha_curve(pipeline.task, tests)
    return Report(
        task=pipeline.task.name,
        pipeline=title,
        corpus=corpus,
        procedure=split.procedure,
        settings=to_config(pipeline),
        seed=split.seed,
        counts=count_dataset(dataset),
        folds=measured,
        seconds=clock.seconds,
        notes=[*split.notes, *dataset.notes],
        pooled=pool_metrics(pipeline.task, tests, measured),
        intervals=intervals,
        curves={"alpha": curve},
        decisions=decisions,
    )


def count_dataset(dataset: Dataset) -> Counts:
    """How much a dataset has of everything."""
    positives = int((dataset.targets.y > 0).sum())
    unreachable = sum(dataset.unreachable.values())
    return Counts(dataset.documents, len(dataset.candidates), positives, unreachable)


def _test_folds(
    pipeline: Pipeline, dataset: Dataset, split: Split, nested: NestedScores, number: int
) -> Iterator[FoldScores]:
    targets, task = split.targets, pipeline.task
    missed = dict(dataset.unreachable)
    for fold in np.unique(nested.folds):
        if split.tested is not None and int(fold) not in split.tested:
            continue
        out = np.flatnonzero(nested.folds == fold)
        rest = np.flatnonzero(nested.folds != fold)
        inner = nested.inner[:, fold][:, rest]
        candidates = [dataset.candidates[i] for i in out]
        yield FoldScores(
            index=out,
            candidates=candidates,
            alphas=nested.alphas,
            scores=nested.outer[:, out],
            thresholds=[task.threshold(targets.y[rest], row) for row in inner],
            chosen=choose_alpha(inner, targets.take(rest), pipeline.learner.select, nested.alphas),
            # Popped, so that a document in several folds (only when leaking) counts once.
            unreachable=sum(missed.pop(d, 0) for d in {c.group for c in candidates}),
            fold=int(fold),
            split=number,
        )
