"""Cross-validation of a pipeline: the one function behind Python and the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from spacy.tokens import Doc

from textrank.evaluation.fold_scores import FoldScores, alpha_curve, document_intervals, pooled
from textrank.evaluation.report import Counts, Report
from textrank.evaluation.splits import Split, Splitter, splitter_of
from textrank.learners.fit import Nested
from textrank.learners.kernel_choice import nested_all
from textrank.learners.selection import choose
from textrank.pipeline import Clock, Dataset, Pipeline, check_labels
from textrank.registries import config_of


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
    own = splitter_of(folds=folds, seed=seed, splits=splits)
    dataset = pipeline.prepare(list(docs), clock)
    return assess(pipeline, dataset, splitter or own, corpus=corpus, title=title, clock=clock)


def assess(
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
    check_labels(dataset.targets.y)
    split = splitter.split(dataset.candidates, dataset.targets)
    with clock.step("learner"):
        nested, kernels = nested_all(
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
        intervals = document_intervals(tests, measured, dataset.unreachable)
        curve = alpha_curve(pipeline.task, tests)
    return Report(
        task=pipeline.task.name,
        pipeline=title,
        corpus=corpus,
        procedure=split.procedure,
        settings=config_of(pipeline),
        seed=split.seed,
        counts=counts(dataset),
        folds=measured,
        seconds=clock.seconds,
        notes=[*split.notes, *dataset.notes],
        pooled=pooled(tests, measured),
        intervals=intervals,
        curves={"alpha": curve},
        decisions=decisions,
    )


def counts(dataset: Dataset) -> Counts:
    """How much a dataset has of everything."""
    positives = int((dataset.targets.y > 0).sum())
    unreachable = sum(dataset.unreachable.values())
    return Counts(dataset.documents, len(dataset.candidates), positives, unreachable)


def _test_folds(
    pipeline: Pipeline, dataset: Dataset, split: Split, nested: Nested, number: int
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
            chosen=choose(inner, targets.take(rest), pipeline.learner.select, nested.alphas),
            # Popped, so that a document in several folds (only when leaking) counts once.
            unreachable=sum(missed.pop(d, 0) for d in {c.document for c in candidates}),
            fold=int(fold),
            split=number,
        )
