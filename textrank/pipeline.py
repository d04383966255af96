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

from textrank.candidates import Candidate, Representation, Targets
from textrank.documents import document_id, held_together
from textrank.evaluation import (
    Counts,
    Decision,
    Fold,
    Report,
    best_threshold,
    document_folds,
    given_folds,
)
from textrank.learners.fit import Learner, Nested
from textrank.learners.selection import choose
from textrank.model import Model
from textrank.progress import track
from textrank.registry import config_of
from textrank.types import Features, Indices, Kernel, Matrix, Vector, has_features


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
        return Examined(candidates, Targets.of(candidates), X, data, unreachable)

    def compare(self, X: Sequence[Any]) -> Matrix | Features:
        """Explicit features where the kernel has them, else the Gram matrix."""
        return self.kernel.features(X) if has_features(self.kernel) else self.kernel(X)

    def fit(self, docs: Iterable[Doc]) -> Model:
        """A model of all candidates of the Docs."""
        seen = self.examine(list(docs))
        _check_labels(seen.targets.y)
        fit = self.learner.fit(seen.data, seen.targets)
        heldout = fit.heldout[fit.chosen]
        threshold = best_threshold(seen.targets.y, heldout)
        names = seen.data.names if isinstance(seen.data, Features) else None
        support = None if names is not None else seen.X
        return Model(self, fit, support, names, threshold, heldout, seen.targets.y)

    def cross_validate(
        self,
        docs: Iterable[Doc],
        *,
        folds: int | Mapping[str, int] = 10,
        seed: int = 0,
        splits: int = 1,
        corpus: str = "",
    ) -> Report:
        """Measures on documents never trained on; alpha and threshold chosen without the fold.

        ``folds`` is a number, for which documents are dealt out by ``seed``, or a table
        ``{document: fold}``; ``splits`` repeats the deal with the following seeds. Each of the
        folds is tested on a model of the others, whose alpha and threshold were chosen by
        leave-document-out among those others.
        """
        clock = Clock()
        docs = list(docs)
        seen = self.examine(docs, clock)
        _check_labels(seen.targets.y)
        partitions = seen.partitions(folds, seed, splits)
        with clock.step("learner"):
            divisions = self.learner.nested(seen.data, seen.targets, partitions)
        with clock.step("measures"):
            tested = [
                t for s, nested in enumerate(divisions) for t in self._tested(seen, nested, s)
            ]
        return Report(
            task=self.task.name,
            corpus=corpus,
            procedure=_procedure(folds, splits, len(set(seen.documents))),
            settings=config_of(self),
            seed=None if isinstance(folds, Mapping) else seed,
            counts=seen.counts(len(docs)),
            folds=[fold for fold, _ in tested],
            seconds=clock.seconds,
            notes=self._notes(seen),
            decisions=[d for _, decisions in tested for d in decisions],
        )

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

    def _tested(
        self, seen: Examined, nested: Nested, split: int
    ) -> Iterator[tuple[Fold, list[Decision]]]:
        for number in np.unique(nested.folds):
            out = np.flatnonzero(nested.folds == number)
            rest = np.flatnonzero(nested.folds != number)
            inner = nested.inner[:, number][:, rest]
            a = choose(inner, seen.targets.take(rest), self.learner.select)
            threshold = best_threshold(seen.targets.y[rest], inner[a])
            scores = nested.outer[a, out]
            candidates = [seen.candidates[i] for i in out]
            fold = self.task.measure(
                candidates,
                scores,
                threshold,
                unreachable=sum(seen.unreachable[d] for d in {c.document for c in candidates}),
                fold=int(number),
                split=split,
                chosen={"alpha": nested.alphas[a]},
            )
            yield fold, list(_decisions(candidates, scores, threshold, int(number), split))

    def _notes(self, seen: Examined) -> list[str]:
        diverging = getattr(seen.X, "diverging", 0)
        return [f"{diverging} graphs with diverging path weights were scaled"] if diverging else []


@dataclass(frozen=True, eq=False)
class Examined:
    """A corpus as the learner sees it: candidates, representations, comparison, answers."""

    candidates: list[Candidate]
    targets: Targets
    X: Sequence[Any]
    data: Matrix | Features
    unreachable: Mapping[str, int]  # by document

    @property
    def documents(self) -> list[str]:
        """The document of each candidate."""
        return [candidate.document for candidate in self.candidates]

    def counts(self, documents: int) -> Counts:
        """How much there is of everything."""
        positives = int((self.targets.y > 0).sum())
        return Counts(documents, len(self.candidates), positives, sum(self.unreachable.values()))

    def partitions(self, folds: int | Mapping[str, int], seed: int, splits: int) -> list[Indices]:
        """The fold of each candidate, for every repetition."""
        if isinstance(folds, Mapping):
            if splits != 1:
                raise ValueError("given folds are one division: leave out splits, or the folds")
            return [self._given(folds)]
        if splits < 1:
            raise ValueError(f"splits must be at least 1, got {splits}")
        return [document_folds(self.documents, folds, seed + s) for s in range(splits)]

    def _given(self, table: Mapping[str, int]) -> Indices:
        """Given folds, refused where they would train on a copy of a test document."""
        fold: dict[str, tuple[str, int]] = {}
        for candidate in self.candidates:
            name = document_id(candidate.doc)
            if name in table:
                first = fold.setdefault(candidate.document, (name, table[name]))
                if first[1] != table[name]:
                    raise ValueError(
                        f"the given folds put {first[0]!r} in fold {first[1]} and {name!r}, which "
                        f"shares text with it, in fold {table[name]}. Move one to the other's fold."
                    )
        return given_folds([document_id(c.doc) for c in self.candidates], table)


_ROLES = {
    "task": "candidates",
    "representation": "__call__",
    "kernel": "diag",
    "learner": "fit",
}


def _check_labels(y: Vector) -> None:
    if len(np.unique(y)) < 2:
        raise ValueError(
            f"all {len(y)} candidates have the same answer ({y[0]:g}): nothing can be learnt. "
            "Check the gold annotation of the corpus."
        )


def _procedure(folds: int | Mapping[str, int], splits: int, documents: int) -> str:
    if isinstance(folds, Mapping):
        what = "given folds by document"
    elif folds == documents:
        what = "leave-document-out"
    else:
        what = f"{folds} folds by document"
    times = f", {splits} divisions" if splits > 1 else ""
    return f"{what}{times}; alpha and threshold by leave-document-out inside the training folds"


def _decisions(
    candidates: Sequence[Candidate],
    scores: Vector,
    threshold: float | None,
    fold: int,
    split: int,
) -> Iterator[Decision]:
    for candidate, score in zip(candidates, scores, strict=True):
        sentence = candidate.spans[0].sent
        start = sentence.start_char
        yield Decision(
            document=document_id(candidate.doc),
            text=sentence.text,
            spans=[(s.start_char - start, s.end_char - start) for s in candidate.spans],
            score=float(score),
            label=float(candidate.label or 0.0),
            threshold=threshold,
            fold=fold,
            split=split,
            query=candidate.query,
        )
