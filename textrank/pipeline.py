"""Pipeline: the settings of a way from Docs to scores, and the data it prepares from Docs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from spacy.tokens import Doc

from textrank.candidates import META_KEY, Candidate, Targets, document_id, hash_texts, held_together
from textrank.explanation import average_of
from textrank.features import Features, KernelData, Vector, take_rows
from textrank.learners.base import Fit
from textrank.learners.calibration import fit_calibration
from textrank.learners.selection import fit_best_kernel
from textrank.model import Model
from textrank.progress import track
from textrank.protocols import (
    ChoiceKernel,
    Kernel,
    Learner,
    Representation,
    Task,
    count_diverging,
    has_features,
)
from textrank.tasks.base import nothing_found


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

    ``fit`` makes a Model and leaves the pipeline as it was; ``evaluation.cross_validate`` makes a
    Report.
    """

    task: Task
    representation: Representation[Any]
    kernel: Kernel[Any]
    learner: Learner

    def __post_init__(self) -> None:
        for role, contract in _ROLES.items():
            part = getattr(self, role)
            if not isinstance(part, contract):
                raise ValueError(
                    f"{type(part).__name__} stands in the place of the {role}, but lacks "
                    f"{', '.join(_lacking(part, contract))}. Check the block [pipeline.{role}]."
                )

    def prepare(self, docs: Sequence[Doc], clock: Clock | None = None) -> Dataset:
        """Candidates of the Docs as the learner sees them; the costly half of everything."""
        clock = clock or Clock()
        with clock.step("candidates"):
            candidates, unreachable = self._candidates(docs)
        with clock.step("representation"):
            X = self.representation(candidates)
        with clock.step("kernel"):
            data = self.compare(X)
        targets = Targets.of(candidates)
        return Dataset(candidates, targets, X, data, unreachable, self._notes(X), len(docs))

    def restore(self, docs: Sequence[Doc], data: KernelData, notes: Sequence[str] = ()) -> Dataset:
        """The same without the work, from the comparison that was kept; it cannot be fitted."""
        candidates, unreachable = self._candidates(docs)
        rows = len(data)
        if rows != len(candidates):
            raise ValueError(
                f"{rows} rows were kept for {len(candidates)} candidates: they belong to other "
                "documents. Prepare these."
            )
        targets = Targets.of(candidates)
        return Dataset(candidates, targets, (), data, unreachable, notes, len(docs))

    def compare(self, X: Sequence[Any]) -> KernelData:
        """Explicit features where the kernel has them, else the Gram matrix or a choice of them."""
        if self._choices and isinstance(self.kernel, ChoiceKernel):
            return self.kernel.gram_alternatives(X)
        return self.kernel.features(X) if has_features(self.kernel) else self.kernel(X)

    def fit(self, docs: Iterable[Doc]) -> Model:
        """Return a model of all candidates of the Docs, which remembers hashes of their texts."""
        docs = list(docs)
        model = self.fit_prepared(self.prepare(docs))
        return replace(model, meta={**model.meta, META_KEY: hash_texts(docs)})

    def fit_prepared(self, dataset: Dataset) -> Model:
        """A model of a dataset that was prepared before."""
        check_labels(dataset.targets.y)
        best, fit = fit_best_kernel(self.learner, dataset.data, dataset.targets)
        chosen = replace(self, kernel=self._choices[best]) if self._choices else self
        heldout = fit.heldout[fit.alpha_index]
        threshold = self.task.threshold(dataset.targets.y, heldout)
        names = dataset.data.names if isinstance(dataset.data, Features) else None
        fit, support = _weighty(fit, dataset.X) if names is None else (fit, None)
        average = average_of(dataset.data) if isinstance(dataset.data, Features) else None
        y = dataset.targets.y
        curve = fit_calibration(heldout, y)
        return Model(
            chosen, fit, support, names, threshold, heldout, y, average=average, calibration=curve
        )

    @property
    def _choices(self) -> list[Kernel[Any]]:
        """The kernels that training chooses from; none where the kernel is settled."""
        several = self.kernel.alternatives if isinstance(self.kernel, ChoiceKernel) else ()
        return list(several) if len(several) > 1 else []

    def _notes(self, X: Sequence[Any]) -> list[str]:
        count = count_diverging(self.kernel, X)
        return [f"graphs with diverging path weights, scaled down: {count}"] if count else []

    def _candidates(self, docs: Sequence[Doc]) -> tuple[list[Candidate], dict[str, int]]:
        """All candidates, under the name of what is held out together with their document."""
        candidates: list[Candidate] = []
        unreachable: dict[str, int] = {}
        groups = held_together(docs)
        numbered = track(enumerate(docs), "finding candidates", len(docs))
        for (number, doc), group in zip(numbered, groups, strict=True):
            own = self.task.candidates(doc)
            document = document_id(doc, number)
            candidates += [replace(c, document=document, group=group) for c in own]
            unreachable[group] = unreachable.get(group, 0) + self.task.unreachable(doc, own)
        if not candidates:
            raise nothing_found(self.task, len(docs))
        return candidates, unreachable


@dataclass(frozen=True, eq=False)
class Dataset:
    """A corpus as the learner sees it: candidates, representations, comparison, answers."""

    candidates: list[Candidate]
    targets: Targets
    X: Sequence[Any]
    data: KernelData
    unreachable: Mapping[str, int]  # by document
    notes: Sequence[str] = ()  # what a reader of the report must know
    documents: int = 0  # as they were read, copies counted


def _weighty(fit: Fit, support: Sequence[Any]) -> tuple[Fit, Sequence[Any]]:
    """Without training candidates of no weight, as those off a basis: they add to no score."""
    used = np.flatnonzero(fit.coef)
    if fit.coef.ndim > 1 or not len(used) or len(used) == len(fit.coef):
        return fit, support
    return replace(fit, coef=fit.coef[used]), take_rows(support, used)


_ROLES: Mapping[str, type] = {
    "task": Task,
    "representation": Representation,
    "kernel": Kernel,
    "learner": Learner,
}


def _lacking(part: object, contract: type) -> list[str]:
    """What the contract asks for and the part does not have."""
    asked = {*vars(contract), *contract.__annotations__} - set(vars(Protocol))
    asked = {name for name in asked if not name.startswith("_") or name == "__call__"}
    return sorted(asked - set(dir(part)))


def check_labels(y: Vector) -> None:
    """Refuses answers that are all the same."""
    if len(np.unique(y)) < 2:
        raise ValueError(
            f"all {len(y)} candidates have the same answer ({y[0]:g}): nothing can be learnt. "
            "Check the gold annotation of the corpus."
        )
