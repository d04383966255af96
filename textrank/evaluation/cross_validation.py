"""Cross-validation of a pipeline: nested hold-out, metrics per fold, and decisions for reports.

``cross_validate`` prepares a dataset and divides it with a splitter. Each fold is tested on a model
of the other folds, whose alpha and threshold were chosen by hold-out inside those other folds.
``FoldScores`` holds the scores of one test fold; ``make_decisions`` turns scored candidates into
plain ``Decision`` values for curves and error pages.

Leave-pair-out holds out every positive with every negative. ``group_pair_auc`` holds out the whole
groups (documents) of both and is the protocol ``leave-pair-out`` of ``textrank run``.
``leave_pairs_out`` and ``leave_pair_out_auc`` hold out the two candidates only, for data without
documents. In shapes, n is the number of candidates, a of alphas, l of pairs, p of outputs (columns
of labels), b of stacked blocks, and h, s and t are numbers of candidates in a block. ``G`` is the
inverse of ``K + alpha I`` and ``a = G y``, the coefficients of the model of all candidates. Airola
et al. (2011), Computational Statistics and Data Analysis 55(4):1828-1844.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations_with_replacement
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from textrank.candidates import Candidate, Targets, document_id, gold_labels, span_tokens
from textrank.config import to_config
from textrank.evaluation.report import Counts, Decision, Fold, Report, Summary
from textrank.evaluation.splits import Split, make_splitter
from textrank.evaluation.statistics import bootstrap_intervals
from textrank.features import (
    Features,
    GramAlternatives,
    Indices,
    Matrix,
    Vector,
    require_single_kernel,
    select_rows_and_columns,
    take_rows,
)
from textrank.learners.base import (
    NestedScores,
    check_alphas,
    check_folds,
    check_gram,
    check_targets,
    choose_alpha,
    rows_by_group,
)
from textrank.learners.holdout import (
    PathLearner,
    empty_nested_scores,
    solve_blocks,
    stack_groups_by_size,
)
from textrank.learners.rankrls import RankRLS
from textrank.learners.rls import RLS
from textrank.learners.selection import nested_scores_of_kernels, stack_alphas
from textrank.linalg import gram, inverse
from textrank.metrics import (
    TIE_TOLERANCE,
    auc,
    average_over_queries,
    kendall_tau_b,
    precision_recall_f,
)
from textrank.pipeline import Clock, Dataset, Pipeline, require_two_labels
from textrank.protocols import Splitter, Task, expand_choices, learn_kernel, learns_from_inputs
from textrank.tasks.base import Scored

HEADLINE_METRICS = ("auc", "f", "tau")
COMPARED_METRICS = ("accuracy", "accuracy_of_sets", *HEADLINE_METRICS)  # of a choice of kernels
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
        ``{document: fold}`` of all documents, which allows no repetition.
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
    """Evaluate a pipeline on a dataset that ``pipeline.prepare`` returned.

    Each fold of the splitter is tested on a model of the other folds, whose alpha and threshold are
    chosen by leave-document-out among those. A splitter that holds out pairs gives a report with
    one fold and an AUC (or share of preferences) only, without intervals and decisions. ``corpus``
    and ``title`` are names for the report. Its notes are those of split and dataset, then for a
    named choice of kernels a sentence per kernel. ``clock`` has the time of earlier steps and is
    advanced; None starts a new one. Raises ValueError if the labels are all equal or the folds do
    not fit.
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
        if learns_from_inputs(pipeline.kernel):
            nested, kernels = _nested_scores_of_learnt_kernels(pipeline, dataset, split)
        else:
            nested, kernels = nested_scores_of_kernels(
                pipeline.learner, dataset.data, split.targets, split.partitions
            )
    with clock.step("measures"):
        tests = [
            replace(test, kernels=kernels)
            for number, scores in enumerate(nested)
            for test in _test_folds(pipeline, dataset, split, scores, number)
        ]
        comparison = _compare_kernels(pipeline, split.targets, tests, nested)
        folds = [test.measure(task) for test in tests]
        results: dict[str, Any] = {
            "pooled": pool_metrics(task, tests, folds),
            "intervals": group_intervals(task, tests, folds, dataset.unreachable),
            "curves": {"alpha": alpha_curve(task, tests)},
            "decisions": [
                d for test, fold in zip(tests, folds, strict=True) for d in test.decisions(fold)
            ],
        }
    report = make_report(folds=folds, **results)
    return replace(report, notes=[*report.notes, *comparison])


def _nested_scores_of_learnt_kernels(
    pipeline: Pipeline, dataset: Dataset, split: Split
) -> tuple[list[NestedScores], list[Mapping[str, float]]]:
    """Return nested scores where the parts of the kernel that learn see the training part only.

    The first result has one item per partition of the split; rows of its arrays are all alphas of
    the first kernel setting, then of the next. The second has the kernel settings of each row,
    empty if the kernel leaves none open. For each fold the kernel is learnt once, on all other
    folds, also for the inner scores. Raises ValueError if the dataset has no representations, or
    the learner has no path over alphas.
    """
    learner, targets = pipeline.learner, split.targets
    if not len(dataset.X):
        raise ValueError(
            "the kernel learns from its inputs, but the dataset has kernel values only. Prepare it "
            "from documents."
        )
    if not isinstance(learner, PathLearner):
        raise ValueError(
            f"a kernel that learns from its inputs needs a learner with a path over alphas, "
            f"{type(learner).__name__} has none. Use rls.v1, sparse_rls.v1 or blockwise.v1."
        )
    results, settings = [], list[Mapping[str, float]]()
    for folds in split.partitions:
        folds = check_folds(folds, targets.groups)
        rows: list[NestedScores] = []
        for fold in np.unique(folds):
            rest, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            kernel = learn_kernel(pipeline.kernel, take_rows(dataset.X, rest))
            data = replace(pipeline, kernel=kernel).compute_kernel(dataset.X)
            grams = data.grams if isinstance(data, GramAlternatives) else [data]
            for number, K in enumerate(grams):
                if len(rows) <= number:
                    rows.append(empty_nested_scores(tuple(learner.alphas), folds))
                path = learner.path(
                    require_single_kernel(select_rows_and_columns(K, rest, rest), "a fold"),
                    targets.take(rest),
                )
                across = require_single_kernel(select_rows_and_columns(K, out, rest), "a fold")
                rows[number].outer[:, out] = path.predict(across, targets.take(out).context)
                rows[number].inner[:, fold, rest] = path.heldout
            if isinstance(data, GramAlternatives):
                settings = [setting for setting in data.settings for _ in learner.alphas]
        results.append(stack_alphas(rows))
    return results, settings


def _compare_kernels(
    pipeline: Pipeline,
    targets: Targets,
    tests: Sequence[FoldScores],
    nested: Sequence[NestedScores],
) -> list[str]:
    """Return a sentence per kernel of a named choice: its metrics, and how often it was chosen.

    Each kernel is tested at the alpha that the training part of the fold prefers for it; metrics
    are mean and standard deviation of ``COMPARED_METRICS`` over the folds that define them. A
    sentence begins with the number and the name of the kernel. Empty if the pipeline has no named
    choice of at least two. For information: the choice itself is made in training parts.
    """
    names = list(expand_choices(pipeline.kernel))
    if len(names) < 2 or not tests[0].kernels:
        return []
    sentences = []
    for number, name in enumerate(names):
        rows = np.array([k["kernel"] == number for k in tests[0].kernels]).nonzero()[0]
        measures: dict[str, list[float]] = {}
        chosen = 0
        for test in tests:
            scores = nested[test.split]
            train = np.flatnonzero(scores.folds != test.fold)
            inner = scores.inner[rows][:, test.fold][:, train]
            alphas = [scores.alphas[row] for row in rows]
            best = choose_alpha(inner, targets.take(train), pipeline.learner.select, alphas)
            fold = test.measure(pipeline.task, int(rows[best]))
            chosen += int(test.chosen in rows)
            for key in (k for k in COMPARED_METRICS if fold.measures.get(k) is not None):
                measures.setdefault(key, []).append(float(fold.measures[key] or 0.0))
        values = ", ".join(
            f"{key} {np.mean(v):.4f} ±{np.std(v):.4f}" for key, v in measures.items()
        )
        sentences.append(f"kernel {number} ({name}): {values}; chosen {chosen} of {len(tests)}")
    return sentences


def _leave_pair_out_fold(pipeline: Pipeline, dataset: Dataset) -> Fold:
    """Return the leave-pair-out AUC at the alpha that leave-group-out chooses, as one fold.

    Its metric is ``auc``. With a preference graph it is ``pairwise_accuracy``, the share of
    preferences in the right order with the groups of both candidates held out, and
    ``disagreement``, one minus that; differences up to ``TIE_TOLERANCE`` times the largest are ties
    and count one half. Raises ValueError for several kernels, and unless the learner is RLS without
    class weights, RankRLS on preferences, or RankRLS as ``_ranks_globally`` wants it.
    """
    learner, targets = pipeline.learner, dataset.targets
    data = require_single_kernel(dataset.data, "leave-pair-out")
    y = targets.y
    if isinstance(learner, RankRLS) and targets.preferences is not None:
        alpha = learner.fit(data, targets).alpha
        gaps = learner.leave_both_out(data, targets, alpha)
        gaps[np.abs(gaps) <= TIE_TOLERANCE * np.abs(gaps).max()] = 0.0
        share = float(0.5 + 0.5 * np.sign(gaps).mean())
        measures: dict[str, float | None] = {
            "pairwise_accuracy": share,
            "disagreement": 1.0 - share,
        }
    elif _ranks_globally(learner) or (isinstance(learner, RLS) and learner.positive_weight == 1.0):
        K = gram(data.values) if isinstance(data, Features) else np.asarray(data)
        alpha = learner.fit(K, targets).alpha
        rank = isinstance(learner, RankRLS)
        measures = {"auc": group_pair_auc(K, y, targets.groups, alpha, rank=rank)}
    else:
        raise ValueError(
            "leave-pair-out needs RLS without class weights, or RankRLS on preferences or with "
            f'scope = "global", cost = "magnitude" and ties, not {learner}'
        )
    return Fold(
        measures,
        documents=dataset.documents,
        candidates=len(y),
        positives=int((y > 0).sum()),
        chosen={"alpha": alpha},
    )


def _ranks_globally(learner: Any) -> bool:
    """Return whether a learner is RankRLS on all pairs of candidates, with a closed form.

    That is scope "global", cost "magnitude", ties included and not normalised.
    """
    return (
        isinstance(learner, RankRLS)
        and learner.scope == "global"
        and learner.cost == "magnitude"
        and learner.ties
        and not learner.normalised
    )


def count_dataset(dataset: Dataset) -> Counts:
    """Count documents, candidates, positives and unreachable gold answers of a dataset.

    Positive is a label greater than 0; unreachable is a gold answer without a candidate.
    """
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

        ``Fold.chosen`` has ``alpha``, the settings of the kernel, and the threshold (for a ranking
        the numbers of queries). Documents that share text count as one.
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
        """Return ``{"threshold": ...}``, or for a ranking ``queries`` and ``undefined_queries``.

        These are the number of queries by (document, query), and of those in which Kendall's tau_b
        is undefined.
        """
        if not task.is_ranking:
            return {"threshold": threshold}
        queries = [(c.document, c.query) for c in self.candidates]
        tau = average_over_queries(kendall_tau_b, self.y, scores, queries)
        return {"queries": tau.defined + tau.undefined, "undefined_queries": tau.undefined}

    def decide(self, task: Task) -> NDArray[np.bool_]:
        """Return whether the task answers yes to each candidate at the chosen alpha, ``(m,)``.

        Decided by the scores and the threshold of the training part alone, without probabilities.
        """
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
    ``split.tested`` are left out. Alpha is chosen by the learner's metric ``select``, and at every
    alpha the task chooses a threshold, both on the inner scores of the other folds. Unreachable
    gold answers of a group count in the first fold that has the group; those of groups without a
    candidate count in none.
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
    metric (None if there is none); metrics that the first fold lacks are left out. For plots only:
    nothing may be chosen by it. If kernels were chosen too, the curve is that of the kernel that
    was chosen most often, of equals the first. ``tests`` must not be empty.
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

    ``folds`` are the metrics of ``tests``, not empty, of which only the names are used. Scores of
    different models are compared here, which makes this AUC pessimistic. A metric is None if no
    split defines it. Empty for rankings, whose folds have no AUC.
    """
    if "auc" not in folds[0].measures:
        return {}
    splits = {test.split for test in tests}
    rows = [_pool_split(task, [t for t in tests if t.split == split]) for split in splits]
    defined = {name: [v for row in rows if (v := row[name]) is not None] for name in rows[0]}
    return {name: float(np.mean(values)) if values else None for name, values in defined.items()}


def _pool_split(task: Task, tests: Sequence[FoldScores]) -> dict[str, float | None]:
    """Return ``auc``, ``precision``, ``recall`` and ``f`` of all folds of one split together.

    Each fold keeps its own alpha and threshold. Unreachable gold answers count against recall and
    F1. None where a metric is undefined.
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

    Metrics are ``auc``, ``f``, ``precision`` and ``recall``, those that no resample defines left
    out, each at the chosen alpha and threshold of its fold. ``unreachable`` are gold answers
    without a candidate, by group; groups without candidates are drawn too, but their answers do not
    count. ``folds`` are the metrics of ``tests``, of which only the names are used. Empty for
    rankings.
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

    A span over several sentences counts with its first only. Without spans or sentence boundaries
    it is the whole text.
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

    ``{token index: [(other token, (governor, dependent, label)), ...]}``; a token without
    dependencies is missing. Those of ``doc.user_data["dependencies"]`` take precedence. Empty
    without a parse.
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


MAX_BLOCK_ELEMENTS = 1 << 22  # elements of stacked blocks that are in memory at once


def group_pair_auc(
    K: Matrix, y: Vector, groups: Indices, alpha: float, *, rank: bool = False
) -> float | None:
    """Return the share of (positive, negative) pairs in the right order, ties counted one half.

    Both candidates are scored by the RLS model of all groups but theirs, ``f_U = y_U - G_UU^-1
    a_U`` with ``G = (K + alpha I)^-1``, ``a = G y`` and ``U`` the candidates of the two groups.
    Pairs inside one group count too, with that group held out. Ties are within round-off. Nearly
    unbiased on small corpora, where the AUC of folds is coarse and the pooled one pessimistic. None
    if all labels are of one class.

    Parameters
    ----------
    K
        Gram matrix, (n, n).
    y
        Labels, (n,); positive where greater than 0.
    groups
        Number of the group of each candidate, (n,).
    alpha
        Regularisation, greater than 0.
    rank
        Use global RankRLS with all pairs instead of RLS. Its regularisation depends on the number
        of training candidates, so that there is one inverse per size of two groups.
    """
    inverses: dict[int, tuple[Matrix, Matrix]] = {}

    def train_without(size: int) -> tuple[Matrix, Matrix]:
        """Return the inverse (n, n) and coefficients (n, 1) for ``size`` held-out candidates.

        Cached. Only a ranking depends on ``size``; else there is one for all.
        """
        key = size if rank else 0
        if key not in inverses:
            G = _inverse_and_bias(np.asarray(K, dtype=np.float64), alpha, rank, held_out=size)[0]
            inverses[key] = G, (G @ y)[:, None]
        return inverses[key]

    rows = rows_by_group(groups, len(y), name="groups")
    won = pairs = 0.0
    for index in stack_groups_by_size(rows):  # pairs inside one group
        f = _score_without(*train_without(index.shape[1]), y, index)
        counts = _count_won(f, f, y[index], y[index])
        won, pairs = won + counts[0], pairs + counts[1]
    for first, second in _pairs_of_groups(list(stack_groups_by_size(rows))):
        U = np.hstack([first, second])
        f = _score_without(*train_without(U.shape[1]), y, U)
        size = first.shape[1]
        for one, other in ((slice(size), slice(size, None)), (slice(size, None), slice(size))):
            counts = _count_won(f[:, one], f[:, other], y[U][:, one], y[U][:, other])
            won, pairs = won + counts[0], pairs + counts[1]
    return won / pairs if pairs else None


def _pairs_of_groups(stacks: Sequence[Indices]) -> Iterator[tuple[Indices, Indices]]:
    """Yield all pairs of different groups, as stacks of rows of shapes (b, s) and (b, t).

    ``stacks`` are the rows of groups of equal size, one stack per size. Row ``i`` of both results
    is one pair. Stacks are cut so that their (s + t)² blocks stay below ``MAX_BLOCK_ELEMENTS``.
    """
    for i, j in combinations_with_replacement(range(len(stacks)), 2):
        one, other = stacks[i], stacks[j]
        if i == j:
            rows, columns = np.triu_indices(len(one), 1)
        else:
            rows, columns = (part.ravel() for part in np.indices((len(one), len(other))))
        step = max(1, MAX_BLOCK_ELEMENTS // (one.shape[1] + other.shape[1]) ** 2)
        for start in range(0, len(rows), step):
            chunk = slice(start, start + step)
            yield one[rows[chunk]], other[columns[chunk]]


def _score_without(G: Matrix, a: Matrix, y: Vector, U: Indices) -> Matrix:
    """Return the scores (b, h) of b sets of h candidates by RLS models trained without the set.

    ``U`` (b, h) has the candidates of each set, each once; ``G`` (n, n) is the inverse of
    ``K + alpha I`` and ``a`` (n, 1) are the coefficients ``G y`` of the model of all candidates,
    ``y`` (n,) its labels.
    """
    return solve_blocks(G[U[:, :, None], U[:, None, :]], a[U], y[U][:, :, None])[:, :, 0]


def _count_won(f: Matrix, g: Matrix, y: Matrix, z: Matrix) -> tuple[float, float]:
    """Count pairs of a positive among ``f`` and a negative among ``g``: in right order, and all.

    ``f`` (b, s) and ``g`` (b, t) are scores, ``y`` and ``z`` their labels, in b sets; pairs are
    made inside a set. Ties count one half in the first result: scores that differ by at most
    ``TIE_TOLERANCE`` times the largest absolute score of all sets.
    """
    counted = (y > 0)[:, :, None] & (z <= 0)[:, None, :]
    gap = f[:, :, None] - g[:, None, :]
    gap[np.abs(gap) <= TIE_TOLERANCE * max(np.abs(f).max(), np.abs(g).max())] = 0
    return float(((gap > 0) + 0.5 * (gap == 0))[counted].sum()), float(counted.sum())


def leave_pairs_out(
    K: Matrix, y: Vector | Matrix, pairs: Indices, *, alphas: Sequence[float], rank: bool = False
) -> Matrix:  # (a, l, 2), or (a, l, 2, p) for answers (n, p)
    """Return the scores of both members of each pair (l, 2) by the model of all other candidates.

    The result is (a, l, 2), or (a, l, 2, p) if ``y`` is (n, p); members are in the order of the
    pair. Takes O(1) per pair after one inverse per alpha. The whole inverse is needed at every
    alpha, so an eigendecomposition would not help.

    Parameters
    ----------
    K
        Gram matrix, (n, n).
    y
        Labels, (n,), or (n, p) for p outputs.
    pairs
        Two different rows of K in each row, (l, 2).
    alphas
        Choices of alpha; the result has one entry for each, in order.
    rank
        Use global RankRLS with all pairs instead of RLS; the scores include its bias.

    Raises
    ------
    ValueError
        If K, labels, pairs or alphas are not valid.
    """
    K = check_gram(K)
    Y = check_targets(y, len(K))
    pairs = _check_pairs(pairs, len(K))
    i, j = pairs.T
    scores = np.empty((len(alphas), len(pairs), 2, Y.shape[1]))
    for a, alpha in enumerate(check_alphas(alphas)):
        G, bias = _inverse_and_bias(K, alpha, rank)
        blocks = _PairBlocks(G.diagonal()[i], G.diagonal()[j], G[i, j])
        A = G @ Y
        for k, (coef, labels) in enumerate(zip(A.T, Y.T, strict=True)):
            f = blocks.score_without(coef, labels, i, j)
            if bias is not None:
                f -= bias @ labels - bias[i] * (labels[i] - f[0]) - bias[j] * (labels[j] - f[1])
            scores[a, :, :, k] = f.T
    return scores if np.ndim(y) == 2 else scores[..., 0]


def leave_pair_out_auc(
    K: Matrix, y: Vector | Matrix, *, alphas: Sequence[float], rank: bool = False
) -> Matrix:  # (a,), or (a, p) for answers (n, p)
    """Return the AUC at every alpha over all (positive, negative) pairs, scored without the two.

    Nearly unbiased where the AUC of pooled scores is not (Airola et al. 2011). ``K`` (n, n) is a
    Gram matrix, ``y`` labels (n,) or (n, p); the result is (a,) or (a, p) for a alphas. ``rank``
    uses global RankRLS instead of RLS. Only the two candidates are held out, not their documents.
    A label is positive where greater than 0, and exact ties count one half. Raises ValueError if an
    output has labels of one class only, or K, labels or alphas are not valid.
    """
    K = check_gram(K)
    Y = check_targets(y, len(K))
    for k, labels in enumerate(Y.T):
        positives = int((labels > 0).sum())
        negatives = len(labels) - positives
        if not (positives and negatives):
            raise ValueError(
                f"AUC needs positive and negative labels, got {positives} and {negatives}"
                + (f" in output {k}" if Y.shape[1] > 1 else "")
            )
    values = np.empty((len(alphas), Y.shape[1]))
    for a, alpha in enumerate(check_alphas(alphas)):
        G, _ = _inverse_and_bias(K, alpha, rank)  # a level common to both does not matter
        A = G @ Y
        values[a] = [_share_won(G, *columns) for columns in zip(A.T, Y.T, strict=True)]
    return values if np.ndim(y) == 2 else values[:, 0]


def _inverse_and_bias(
    K: Matrix, alpha: float, rank: bool, *, held_out: int = 2
) -> tuple[Matrix, Vector | None]:
    """Return the inverse ``G`` (n, n), and for a ranker the weights ``v`` (n,) of its bias.

    For a ranker the unpenalised bias is projected out of ``G``, and alpha is divided by n minus the
    number of ``held_out`` candidates. The bias of the model of all candidates is ``v'y``; that of
    the model without a pair is ``v'y`` with the two labels replaced by their scores with bias.
    ``v`` follows from ``K G = I - 1 v' - alpha G``; as a quotient of sums over the inverse it would
    lose half its digits. ``v`` is None for RLS (``rank`` false).
    """
    if not rank:
        return inverse(K, alpha), None
    G = inverse(K, alpha / max(len(K) - held_out, 1))
    u = G.sum(axis=1)
    G -= np.outer(u, u) / u.sum()
    return G, (1.0 - K.sum(axis=0) @ G) / len(K)


@dataclass(frozen=True, eq=False)
class _PairBlocks:
    """The 2×2 block of the inverse of each of l pairs, which all outputs share.

    ``gi`` and ``gj`` are the diagonal elements of the first and the second candidates, ``gij``
    those off the diagonal, each (l,).
    """

    gi: Vector
    gj: Vector
    gij: Vector

    @cached_property
    def inverse_blocks(self) -> tuple[Vector, Vector, Vector]:
        """The elements ``gi``, ``gj`` and ``gij`` divided by the determinant of their block."""
        det = self.gi * self.gj - self.gij**2
        return self.gi / det, self.gj / det, self.gij / det

    def score_without(self, a: Vector, y: Vector, i: Indices, j: Indices) -> Matrix:  # (2, l)
        """Return the scores of both members by the model of all other candidates, without bias.

        ``a`` (n,) and ``y`` (n,) are coefficients and labels of one output, ``i`` and ``j`` (l,)
        the first and second candidates. The first row has the scores of ``i``, the second those of
        ``j``.
        """
        gi, gj, gij = self.inverse_blocks
        return np.stack([y[i] - gj * a[i] + gij * a[j], y[j] - gi * a[j] + gij * a[i]])


def _share_won(G: Matrix, a: Vector, y: Vector, block: int = 64) -> float:
    """Return the share of (positive, negative) pairs in the right order, exact ties one half.

    Computed by strips that fit the cache. ``G`` (n, n) is the inverse, ``a`` (n,) the coefficients
    and ``y`` (n,) the labels, which must have both classes (above 0 or not); ``block`` positives
    are handled at once. ``f_i - f_j`` times the determinant, which is positive and leaves the sign,
    is ``(y_i - y_j) (g_i g_j - g_ij²) - a_i (g_j + g_ij) + a_j (g_i + g_ij)``.
    """
    pos, neg = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
    g = G.diagonal()
    two = len(np.unique(y)) == 2
    won = 0.0
    for start in range(0, len(pos), block):
        i = pos[start : start + block]
        gij = G[i].take(neg, axis=1)
        step = y[i[0]] - y[neg[0]] if two else y[i][:, None] - y[neg]
        gap = gij * -step
        gap += a[neg]
        gap -= a[i][:, None]
        gap *= gij
        if two:
            gap += np.stack([g[i], -a[i]], axis=1) @ np.stack([step * g[neg] + a[neg], g[neg]])
        else:
            gap += g[i][:, None] * (step * g[neg] + a[neg]) - a[i][:, None] * g[neg]
        won += (np.count_nonzero(gap > 0) + np.count_nonzero(gap >= 0)) / 2
    return won / (len(pos) * len(neg))


def _check_pairs(pairs: Indices, n: int) -> Indices:
    """Return pairs as an (l, 2) array; ValueError unless they are two different rows below n.

    Negative rows and values that are not integers are refused too; no pairs are allowed if their
    shape is (0, 2).
    """
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(f"pairs are an integer array (l, 2), got {pairs.shape} of {pairs.dtype}")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        raise ValueError(f"pairs must lie in 0 .. {n - 1}, got {pairs.min()} .. {pairs.max()}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError(f"pair {int(np.argmax(pairs[:, 0] == pairs[:, 1]))} holds one row twice")
    return pairs
