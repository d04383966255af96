"""Pipeline (settings) and what it does with Docs: fit, and cross-validate without leaks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from textrank.docs import Candidate, Representation, Targets, held_together
from textrank.evaluation import (
    Counts,
    Fold,
    Report,
    best_threshold,
)
from textrank.evaluation.splits import Dividing, Division, DocumentFolds, GivenFolds
from textrank.evaluation.trials import Trial, alpha_curve, document_intervals, pooled
from textrank.kernels.diverging import diverging
from textrank.learners.fit import Learner, Nested
from textrank.learners.kernel_choice import fit_best, nested_all
from textrank.learners.selection import choose
from textrank.model import Model
from textrank.progress import track
from textrank.registry import config_of
from textrank.types import Data, Features, Kernel, Vector, has_features


class Corpus(Protocol):
    """A reader, bound to its files."""

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        """The documents, one by one."""


class Task(Protocol):
    """What is judged in a Doc, and how the answers are shown and measured."""

    name: ClassVar[str]

    def candidates(self, doc: Doc) -> list[Candidate]:
        """The decisions to make."""

    def unreachable(self, doc: Doc) -> int:
        """Gold answers that no candidate covers; they count against recall."""

    def annotate(
        self,
        doc: Doc,
        candidates: Sequence[Candidate],
        scores: Vector,
        *,
        threshold: float = 0.0,
        probabilities: Vector | None = None,
    ) -> Doc:
        """Puts the answers on ``doc._.textrank_<task>`` as plain values."""

    def measure(
        self,
        candidates: Sequence[Candidate],
        scores: Vector,
        threshold: float | None,
        *,
        unreachable: int = 0,
        fold: int = 0,
        split: int = 0,
        chosen: Mapping[str, float | None] | None = None,
    ) -> Fold:
        """The measures of one test fold."""


@dataclass
class Clock:
    """Seconds of wall time per step."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Adds the time of this block to a step."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True)
class Pipeline:
    """Settings of a way from Docs to scores: what is judged, how it is seen, compared and learnt.

    ``fit`` makes a Model, ``cross_validate`` a Report; both leave the pipeline as it was.
    """

    task: Task
    representation: Representation[Any]
    kernel: Kernel[Any]
    learner: Learner

    def __post_init__(self) -> None:
        for role, method in _ROLES.items():
            part = getattr(self, role)
            if not hasattr(part, method):
                raise ValueError(
                    f"{type(part).__name__} stands in the place of the {role}, which must have a "
                    f"method {method!r}. Check the block [pipeline.{role}]."
                )

    def examine(self, docs: Sequence[Doc], clock: Clock | None = None) -> Examined:
        """Candidates of the Docs as the learner sees them; the costly half of everything."""
        clock = clock or Clock()
        with clock.step("candidates"):
            candidates, unreachable = self._candidates(docs)
        with clock.step("representation"):
            X = self.representation(candidates)
        with clock.step("kernel"):
            data = self.compare(X)
        return Examined(candidates, Targets.of(candidates), X, data, unreachable, self._notes(X))

    def recall(self, docs: Sequence[Doc], data: Data, notes: Sequence[str] = ()) -> Examined:
        """The same without the work, from the comparison that was kept; good for ``assess``."""
        candidates, unreachable = self._candidates(docs)
        rows = len(data)
        if rows != len(candidates):
            raise ValueError(
                f"{rows} rows were kept for {len(candidates)} candidates: they belong to other "
                "documents. Examine these."
            )
        return Examined(candidates, Targets.of(candidates), (), data, unreachable, notes)

    def compare(self, X: Sequence[Any]) -> Data:
        """Explicit features where the kernel has them, else the Gram matrix or a choice of them."""
        if self._choices:
            return self.kernel.compared(X)  # type: ignore[attr-defined]
        return self.kernel.features(X) if has_features(self.kernel) else self.kernel(X)

    def fit(self, docs: Iterable[Doc]) -> Model:
        """A model of all candidates of the Docs."""
        return self.learn(self.examine(list(docs)))

    def learn(self, seen: Examined) -> Model:
        """A model of candidates that were examined before."""
        _check_labels(seen.targets.y)
        best, fit = fit_best(self.learner, seen.data, seen.targets)
        chosen = replace(self, kernel=self._choices[best]) if self._choices else self
        heldout = fit.heldout[fit.chosen]
        threshold = _threshold(self.task, seen.targets.y, heldout)
        names = seen.data.names if isinstance(seen.data, Features) else None
        support = None if names is not None else seen.X
        return Model(chosen, fit, support, names, threshold, heldout, seen.targets.y)

    def cross_validate(
        self,
        docs: Iterable[Doc],
        *,
        folds: int | Mapping[str, int] = 10,
        seed: int = 0,
        splits: int = 1,
        protocol: Dividing | None = None,
        corpus: str = "",
    ) -> Report:
        """Measures on documents never trained on; alpha and threshold chosen without the fold.

        ``folds`` is a number, for which documents are dealt out by ``seed``, or a table
        ``{document: fold}``; ``splits`` repeats the deal with the following seeds. Each of the
        folds is tested on a model of the others, whose alpha and threshold were chosen by
        leave-document-out among those others. Another ``protocol`` takes the place of all three.
        """
        clock = Clock()
        docs = list(docs)
        way = protocol or (
            GivenFolds(folds) if isinstance(folds, Mapping) else DocumentFolds(folds, seed, splits)
        )
        seen = self.examine(docs, clock)
        return self.assess(seen, way, corpus=corpus, documents=len(docs), clock=clock)

    def assess(
        self,
        seen: Examined,
        protocol: Dividing,
        *,
        corpus: str = "",
        documents: int | None = None,
        clock: Clock | None = None,
    ) -> Report:
        """The report on candidates that were examined before; only learning is left to do."""
        clock = clock or Clock()
        _check_labels(seen.targets.y)
        division = protocol.divide(seen.candidates, seen.targets)
        with clock.step("learner"):
            nested, kernels = nested_all(
                self.learner, seen.data, division.targets, division.partitions
            )
        with clock.step("measures"):
            splits = [self._trials(seen, division, one, s) for s, one in enumerate(nested)]
            trials = [replace(trial, kernels=kernels) for split in splits for trial in split]
            folds = [trial.measured(self.task) for trial in trials]
            decisions = [d for t, f in zip(trials, folds, strict=True) for d in t.decisions(f)]
            intervals = document_intervals(trials, folds, seen.unreachable)
            curve = alpha_curve(self.task, trials)
        return Report(
            task=self.task.name,
            corpus=corpus,
            procedure=division.procedure,
            settings=config_of(self),
            seed=division.seed,
            counts=seen.counts(len(set(seen.documents)) if documents is None else documents),
            folds=folds,
            seconds=clock.seconds,
            notes=[*division.notes, *seen.notes],
            pooled=pooled(trials, folds),
            intervals=intervals,
            curves={"alpha": curve},
            decisions=decisions,
        )

    @property
    def _choices(self) -> list[Kernel[Any]]:
        """The kernels that training chooses from; none where the kernel is settled."""
        several = list(getattr(self.kernel, "alternatives", ()))
        return several if len(several) > 1 else []

    def _notes(self, X: Sequence[Any]) -> list[str]:
        count = diverging(self.kernel, X)
        return [f"graphs with diverging path weights, scaled down: {count}"] if count else []

    def _candidates(self, docs: Sequence[Doc]) -> tuple[list[Candidate], dict[str, int]]:
        """All candidates, under the name of what is held out together with their document."""
        candidates: list[Candidate] = []
        unreachable: dict[str, int] = {}
        names = held_together(docs)
        for doc, name in track(zip(docs, names, strict=True), "finding candidates", len(docs)):
            candidates += [replace(c, document=name) for c in self.task.candidates(doc)]
            unreachable[name] = unreachable.get(name, 0) + self.task.unreachable(doc)
        if not candidates:
            raise ValueError(
                f"no candidates for task {self.task.name!r} in {len(docs)} documents. "
                "Check that the corpus has the annotation this task needs."
            )
        return candidates, unreachable

    def _trials(
        self, seen: Examined, division: Division, nested: Nested, split: int
    ) -> Iterator[Trial]:
        targets = division.targets
        missed = dict(seen.unreachable)
        for number in np.unique(nested.folds):
            if division.tested is not None and int(number) not in division.tested:
                continue
            out = np.flatnonzero(nested.folds == number)
            rest = np.flatnonzero(nested.folds != number)
            inner = nested.inner[:, number][:, rest]
            a = choose(inner, targets.take(rest), self.learner.select)
            candidates = [seen.candidates[i] for i in out]
            yield Trial(
                index=out,
                candidates=candidates,
                alphas=nested.alphas,
                scores=nested.outer[:, out],
                thresholds=[_threshold(self.task, targets.y[rest], row) for row in inner],
                chosen=a,
                # Popped, so that a document in several folds (only when leaking) counts once.
                unreachable=sum(missed.pop(d, 0) for d in {c.document for c in candidates}),
                fold=int(number),
                split=split,
            )


@dataclass(frozen=True, eq=False)
class Examined:
    """A corpus as the learner sees it: candidates, representations, comparison, answers."""

    candidates: list[Candidate]
    targets: Targets
    X: Sequence[Any]
    data: Data
    unreachable: Mapping[str, int]  # by document
    notes: Sequence[str] = ()  # what a reader of the report must know

    @property
    def documents(self) -> list[str]:
        """The document of each candidate."""
        return [candidate.document for candidate in self.candidates]

    def counts(self, documents: int) -> Counts:
        """How much there is of everything."""
        positives = int((self.targets.y > 0).sum())
        return Counts(documents, len(self.candidates), positives, sum(self.unreachable.values()))


_ROLES = {
    "task": "candidates",
    "representation": "__call__",
    "kernel": "diag",
    "learner": "fit",
}


def _threshold(task: Task, y: Vector, heldout: Vector) -> float | None:
    """As the task sets it on held-out scores; where it says nothing, the best F."""
    own = getattr(task, "threshold", None)
    return best_threshold(y, heldout) if own is None else float(own(y, heldout))


def _check_labels(y: Vector) -> None:
    if len(np.unique(y)) < 2:
        raise ValueError(
            f"all {len(y)} candidates have the same answer ({y[0]:g}): nothing can be learnt. "
            "Check the gold annotation of the corpus."
        )
