"""Cross-validation of a pipeline: nested hold-out, metrics per fold, and decisions for reports.

``cross_validate`` prepares a dataset and divides it with a splitter. Each fold is tested on a model
of the other folds, whose alpha and threshold were chosen by hold-out inside those other folds.
``FoldScores`` holds the scores of one test fold; ``make_decisions`` turns scored candidates into
plain ``Decision`` values for curves and error pages.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from textrank.candidates import Candidate, document_id, gold_labels, span_tokens
from textrank.config import to_config
from textrank.evaluation.leave_pair_out import group_pair_auc
from textrank.evaluation.report import Counts, Decision, Fold, Report, Summary
from textrank.evaluation.splits import Split, make_splitter
from textrank.evaluation.statistics import bootstrap_intervals
from textrank.features import Features, Indices, Matrix, Vector, require_single_kernel
from textrank.learners.base import NestedScores, choose_alpha
from textrank.learners.rls import RLS
from textrank.learners.selection import nested_scores_of_kernels
from textrank.linalg import gram
from textrank.metrics import auc, average_over_queries, kendall_tau_b, precision_recall_f
from textrank.pipeline import Clock, Dataset, Pipeline, require_two_labels
from textrank.protocols import Splitter, Task
from textrank.tasks.base import Scored

HEADLINE_METRICS = ("auc", "f", "tau")

Edge: TypeAlias = tuple[int, int, str]
"""Token indices of governor and dependent, and the label of a dependency."""

Links: TypeAlias = dict[int, list[tuple[int, Edge]]]
"""For each token its neighbours along dependencies, in both directions."""


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
    """Evaluate a pipeline on documents that were not trained on.

    Each fold is tested on a model of the other folds; alpha and threshold of that model are chosen
    by leave-document-out among those other folds. Documents that share text count as one.

    Parameters
    ----------
    docs
        Annotated documents, analysed as the pipeline's task needs.
    folds
        Number of folds, to which documents are assigned at random, or a table
        ``{document: fold}``.
    seed, splits
        Seed of the assignment, and how often it is repeated with the following seeds.
    splitter
        Replaces ``folds``, ``seed`` and ``splits``.
    corpus, title
        Names of corpus and pipeline for the report.

    Raises
    ------
    ValueError
        If there are fewer than two labels or documents, or the folds do not fit them.
    """
    clock = Clock()
    default = make_splitter(folds=folds, seed=seed, splits=splits)
    dataset = pipeline.prepare(list(docs), clock)
    return cross_validate_dataset(
        pipeline, dataset, splitter or default, corpus=corpus, title=title, clock=clock
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
    """Evaluate a pipeline on a dataset that was prepared before; see ``cross_validate``.

    ``dataset`` is what ``pipeline.prepare`` returned. ``clock`` has the time of earlier steps and
    is advanced; None starts a new one. A splitter that holds out pairs gives a report with one fold
    and an AUC only, without intervals and decisions.
    """
    clock = clock or Clock()
    task = pipeline.task
    require_two_labels(dataset.targets.y)
    split = splitter.split(dataset.candidates, dataset.targets)
    make_report = partial(
        Report,
        task=task.name,
        pipeline=title,
        corpus=corpus,
        procedure=split.procedure,
        settings=to_config(pipeline),
        seed=split.seed,
        counts=count_dataset(dataset),
        seconds=clock.seconds,
        notes=[*split.notes, *dataset.notes],
    )
    if split.holds_out_pairs:
        return make_report(folds=[_leave_pair_out_fold(pipeline, dataset)])
    with clock.step("learner"):
        nested, kernels = nested_scores_of_kernels(
            pipeline.learner, dataset.data, split.targets, split.partitions
        )
    with clock.step("measures"):
        tests = [
            replace(test, kernels=kernels)
            for number, scores in enumerate(nested)
            for test in _test_folds(pipeline, dataset, split, scores, number)
        ]
        folds = [test.measure(task) for test in tests]
        results: dict[str, Any] = {
            "pooled": pool_metrics(task, tests, folds),
            "intervals": group_intervals(task, tests, folds, dataset.unreachable),
            "curves": {"alpha": alpha_curve(task, tests)},
            "decisions": [
                d for test, fold in zip(tests, folds, strict=True) for d in test.decisions(fold)
            ],
        }
    return make_report(folds=folds, **results)


def _leave_pair_out_fold(pipeline: Pipeline, dataset: Dataset) -> Fold:
    """Return the leave-pair-out AUC at the alpha that leave-group-out chooses, as one fold.

    Raises ValueError unless the learner is RLS without class weights.
    """
    learner, name = pipeline.learner, "leave-pair-out"
    if not isinstance(learner, RLS) or learner.positive_weight != 1.0:
        raise ValueError(f"{name} needs the learner RLS without class weights, not {learner}")
    data = require_single_kernel(dataset.data, name)
    K = gram(data.values) if isinstance(data, Features) else np.asarray(data)
    alpha = learner.fit(K, dataset.targets).alpha
    y = dataset.targets.y
    return Fold(
        {"auc": group_pair_auc(K, y, dataset.targets.groups, alpha)},
        documents=dataset.documents,
        candidates=len(y),
        positives=int((y > 0).sum()),
        chosen={"alpha": alpha},
    )


def count_dataset(dataset: Dataset) -> Counts:
    """Count documents, candidates, positives and unreachable gold answers of a dataset."""
    positives = int((dataset.targets.y > 0).sum())
    unreachable = sum(dataset.unreachable.values())
    return Counts(dataset.documents, len(dataset.candidates), positives, unreachable)


# Test folds ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Scores of the m candidates of a test fold at every alpha, and the alpha that was chosen.

    The models were trained on the other folds. A threshold is None if the task chose none: for a
    ranking, or without a positive in the training part.
    """

    index: Indices  # (m,) rows among all candidates
    candidates: Sequence[Candidate]  # (m,)
    alphas: Sequence[float]
    scores: Matrix  # (alphas, m)
    thresholds: Sequence[float | None]  # of the training part, for each alpha
    chosen: int  # index of the alpha that was chosen on the training part
    unreachable: int  # gold answers of the fold without a candidate
    fold: int
    split: int  # number of the repetition
    kernels: Sequence[Mapping[str, float]] = ()  # settings of the kernel, for each alpha

    @property
    def y(self) -> Vector:
        """Gold labels of the fold, (m,)."""
        return gold_labels(self.candidates)

    def measure(self, task: Task, alpha_index: int | None = None) -> Fold:
        """Return the task's metrics at the chosen alpha, or at ``alphas[alpha_index]``.

        ``Fold.chosen`` has alpha, the settings of the kernel, and the threshold (for a ranking the
        numbers of queries).
        """
        a = self.chosen if alpha_index is None else alpha_index
        scores, threshold = self.scores[a], self.thresholds[a]
        kernel = self.kernels[a] if self.kernels else {}
        scored = Scored(self.candidates, scores, threshold, unreachable=self.unreachable)
        return Fold(
            task.measures(scored),
            fold=self.fold,
            split=self.split,
            documents=len({candidate.group for candidate in self.candidates}),
            candidates=len(self.candidates),
            positives=int((self.y > 0).sum()),
            chosen={"alpha": self.alphas[a], **kernel, **self._describe(task, scores, threshold)},
        )

    def _describe(
        self, task: Task, scores: Vector, threshold: float | None
    ) -> dict[str, float | None]:
        """Return ``{"threshold": ...}``, or for a ranking how many queries there are.

        ``undefined_queries`` are those in which Kendall's tau_b is undefined.
        """
        if not task.is_ranking:
            return {"threshold": threshold}
        queries = [(c.document, c.query) for c in self.candidates]
        tau = average_over_queries(kendall_tau_b, self.y, scores, queries)
        return {"queries": tau.defined + tau.undefined, "undefined_queries": tau.undefined}

    def decide(self, task: Task) -> NDArray[np.bool_]:
        """Return whether the task answers yes to each candidate at the chosen alpha, ``(m,)``."""
        return task.decide(self.scores[self.chosen], None, self.thresholds[self.chosen])

    def decisions(self, fold: Fold) -> Iterator[Decision]:
        """Yield a Decision per candidate, in order, at the chosen alpha.

        ``fold`` is what ``measure`` returned; its threshold is used.
        """
        threshold = fold.chosen.get("threshold")
        scores = self.scores[self.chosen]
        return make_decisions(self.candidates, scores, threshold, fold=self.fold, split=self.split)


def _test_folds(
    pipeline: Pipeline, dataset: Dataset, split: Split, nested: NestedScores, number: int
) -> Iterator[FoldScores]:
    """Yield the tested folds of one repetition, with alpha and thresholds chosen without them.

    ``nested`` are the scores of the repetition ``number``. Folds are ascending; those not in
    ``split.tested`` are left out.
    """
    targets, task = split.targets, pipeline.task
    unreachable = dict(dataset.unreachable)
    for fold in np.unique(nested.folds):
        if split.tested is not None and int(fold) not in split.tested:
            continue
        test = np.flatnonzero(nested.folds == fold)
        train = np.flatnonzero(nested.folds != fold)
        inner = nested.inner[:, fold][:, train]
        select = pipeline.learner.select
        candidates = [dataset.candidates[i] for i in test]
        yield FoldScores(
            index=test,
            candidates=candidates,
            alphas=nested.alphas,
            scores=nested.outer[:, test],
            thresholds=[task.threshold(targets.y[train], row) for row in inner],
            chosen=choose_alpha(inner, targets.take(train), select, nested.alphas),
            # Popped, so that a group in several folds (only when leaking) counts once.
            unreachable=sum(unreachable.pop(g, 0) for g in {c.group for c in candidates}),
            fold=int(fold),
            split=number,
        )


def alpha_curve(task: Task, tests: Sequence[FoldScores]) -> list[dict[str, Any]]:
    """Return mean and standard deviation of the headline metrics at every alpha.

    A point is ``{"x": alpha, metric: {"mean": ..., "std": ...}}``, over the folds that define the
    metric. For plots only: nothing may be chosen by it. If kernels were chosen too, the curve is
    that of the kernel that was chosen most often. ``tests`` must not be empty.
    """
    kernels = tests[0].kernels or [{} for _ in tests[0].alphas]
    chosen_kernels = Counter(tuple(kernels[test.chosen].items()) for test in tests)
    most_common = chosen_kernels.most_common(1)[0][0]
    points = []
    for a, alpha in enumerate(tests[0].alphas):
        if tuple(kernels[a].items()) != most_common:
            continue
        folds = [test.measure(task, a) for test in tests]
        point: dict[str, Any] = {"x": alpha}
        for name in HEADLINE_METRICS:
            if name in folds[0].measures:
                summary = Summary.from_folds(folds, name)
                point[name] = {"mean": summary.mean, "std": summary.std}
        points.append(point)
    return points


def pool_metrics(
    task: Task, tests: Sequence[FoldScores], folds: Sequence[Fold]
) -> dict[str, float | None]:
    """Return AUC, precision, recall and F1 over all folds of a split together, mean over splits.

    ``folds`` are the metrics of ``tests``, of which only the names are used. Scores of different
    models are compared here, which makes this AUC pessimistic. A metric is None if no split defines
    it. Empty for rankings, whose folds have no AUC.
    """
    if "auc" not in folds[0].measures:
        return {}
    splits = {test.split for test in tests}
    rows = [_pool_split(task, [t for t in tests if t.split == split]) for split in splits]
    defined = {name: [v for row in rows if (v := row[name]) is not None] for name in rows[0]}
    return {name: float(np.mean(values)) if values else None for name, values in defined.items()}


def _pool_split(task: Task, tests: Sequence[FoldScores]) -> dict[str, float | None]:
    """Return AUC, precision, recall and F1 of the candidates of all folds of one split.

    Each fold keeps its own alpha and threshold. None where a metric is undefined.
    """
    y = np.concatenate([test.y for test in tests])
    scores = np.concatenate([test.scores[test.chosen] for test in tests])
    decisions = np.concatenate([test.decide(task) for test in tests])
    metrics = precision_recall_f(y, decisions, sum(test.unreachable for test in tests))
    return {"auc": auc(y, scores), **metrics._asdict()}


def group_intervals(
    task: Task,
    tests: Sequence[FoldScores],
    folds: Sequence[Fold],
    unreachable: Mapping[str, int],
) -> dict[str, tuple[float, float]]:
    """Return 95 % bootstrap intervals ``(low, high)`` by metric, resampling groups.

    ``unreachable`` are gold answers without a candidate, by group. ``folds`` are the metrics of
    ``tests``, of which only the names are used. Empty for rankings.
    """
    if "auc" not in folds[0].measures:
        return {}
    parts = [np.full(len(test.index), number) for number, test in enumerate(tests)]
    intervals = bootstrap_intervals(
        np.concatenate([test.y for test in tests]),
        np.concatenate([test.scores[test.chosen] for test in tests]),
        [candidate.group for test in tests for candidate in test.candidates],
        decisions=np.concatenate([test.decide(task) for test in tests]),
        parts=np.concatenate(parts),
        unreachable={group: number for group, number in unreachable.items() if number},
    )
    return {name: (interval.low, interval.high) for name, interval in intervals.items()}


# Decisions ----------------------------------------------------------------------------------------


def make_decisions(
    candidates: Sequence[Candidate],
    scores: Vector,
    threshold: float | None,
    *,
    fold: int = 0,
    split: int = 0,
    paths: bool = False,
) -> Iterator[Decision]:
    """Yield a Decision per candidate, with the dependency path between its first two spans.

    ``scores`` are those of the candidates, in order. The text is that of the sentences of the
    spans, and offsets are relative to it. Without ``paths`` only wrong answers get a path, since
    only they are shown one by one. Without a threshold no answer is wrong. An unknown label becomes
    0. ``fold`` and ``split`` are copied.
    """
    links: dict[int, Links] = {}
    for candidate, score in zip(candidates, scores, strict=True):
        start, end = _sentence_extent(candidate)
        label = float(candidate.label or 0.0)
        is_wrong = threshold is not None and (score >= threshold) != (label > 0)
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
            path=tuple(_path_offsets(candidate, start, links)) if is_wrong or paths else (),
        )


def _sentence_extent(candidate: Candidate) -> tuple[int, int]:
    """Return the first and last character of the sentences of the spans, end excluded.

    Without spans or sentence boundaries it is the whole text.
    """
    if not candidate.spans or not candidate.doc.has_annotation("SENT_START"):
        return 0, len(candidate.doc.text)
    sentences = [span.sent for span in candidate.spans]
    return min(s.start_char for s in sentences), max(s.end_char for s in sentences)


def _path_offsets(
    candidate: Candidate, start: int, links_by_doc: dict[int, Links]
) -> Iterator[tuple[int, int, int, int, str]]:
    """Yield the edges of the path between the first two spans, as characters from ``start``.

    Each edge is (start, end) of the governor, (start, end) of the dependent, and the label, as five
    values. Yields nothing for fewer than two spans or without a path. Fills ``links_by_doc``, which
    has the links of Docs by ``id(doc)``.
    """
    if len(candidate.spans) < 2:
        return
    doc = candidate.doc
    if id(doc) not in links_by_doc:
        links_by_doc[id(doc)] = dependency_links(doc)
    first, second = (span_tokens(span) for span in candidate.spans[:2])
    for governor, dependent, label in shortest_path(links_by_doc[id(doc)], first, second):
        a, b = doc[governor], doc[dependent]
        yield (a.idx - start, a.idx - start + len(a), b.idx - start, b.idx - start + len(b), label)


def dependency_links(doc: Doc) -> Links:
    """Return the dependencies of a Doc in both directions: those of the corpus, or spaCy's.

    Keys are token indices; a token without dependencies is missing. Empty without a parse.
    """
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


def shortest_path(links: Links, starts: Collection[int], ends: Collection[int]) -> list[Edge]:
    """Return the edges of a shortest path from one of ``starts`` to one of ``ends``, in order.

    ``starts`` and ``ends`` are token indices. Edges may be followed in either direction. Empty if
    there is no path, or if both share a token. Of equally short paths, the first found by
    breadth-first search is returned.
    """
    previous: dict[int, tuple[int, Edge] | None] = dict.fromkeys(starts)
    queue = deque(starts)
    while queue:
        token = queue.popleft()
        if token in ends:
            return _backtrack(previous, token)
        for neighbour, edge in links.get(token, ()):
            if neighbour not in previous:
                previous[neighbour] = (token, edge)
                queue.append(neighbour)
    return []


def _backtrack(previous: Mapping[int, tuple[int, Edge] | None], token: int) -> list[Edge]:
    """Return the edges from a start to ``token``, in that order.

    ``previous`` has for each reached token the token before it and the edge between; None for a
    start.
    """
    path: list[Edge] = []
    while (step := previous[token]) is not None:
        token = step[0]
        path.append(step[1])
    return path[::-1]
