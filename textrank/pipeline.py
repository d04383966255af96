"""Pipeline: task, representation, kernel and learner, and the dataset they make of Docs.

``Pipeline.prepare`` turns Docs into a :class:`Dataset` (candidates, representations, kernel values
and targets), the expensive part of training and of cross-validation. ``Pipeline.fit`` trains a
:class:`~textrank.model.Model` on it; ``textrank.evaluation.cross_validate`` makes a report.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from spacy.tokens import Doc

from textrank.candidates import (
    TRAINING_TEXTS_KEY,
    Candidate,
    HeldoutReference,
    Targets,
    dedup_groups,
    document_id,
    hash_texts,
)
from textrank.config import registry
from textrank.features import (
    Features,
    GramAlternatives,
    KernelData,
    Vector,
    require_single_kernel,
    take_rows,
)
from textrank.learners.base import Fit
from textrank.learners.calibration import LOG_ODDS, Heads, PlattCalibration, fit_calibration
from textrank.learners.selection import fit_best_kernel
from textrank.linear_scores import mean_features
from textrank.model import Model
from textrank.progress import track
from textrank.protocols import (
    ChoiceKernel,
    Kernel,
    Learner,
    Representation,
    Task,
    count_diverging,
    expand_choices,
    has_features,
    learn_kernel,
)
from textrank.tasks.base import no_candidates_error
from textrank.training_data import TrainingData

_ROLES: Mapping[str, type] = {
    "task": Task,
    "representation": Representation,
    "kernel": Kernel,
    "learner": Learner,
}
QUESTION_VIEW = "question"  # name of the view that holds the question of each candidate
VIEW_PARTS: Mapping[str, type] = {"representation": Representation, "kernel": Kernel}


@dataclass
class Clock:
    """Seconds of wall time per named step."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Add the wall time of this block to ``seconds[name]``, also if the block raises."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True, eq=False)
class Dataset:
    """A corpus as a learner sees it, n candidates in all."""

    candidates: list[Candidate]  # (n,)
    targets: Targets
    X: Sequence[Any]  # (n,) representations; empty if only kernel values are known
    data: KernelData  # features, or one or several Gram matrices
    unreachable: Mapping[str, int]  # gold answers without a candidate, by group
    notes: Sequence[str] = ()  # sentences for the report
    documents: int = 0  # number of Docs, copies included
    kernel: Kernel[Any] | None = None  # learnt from X, if the pipeline's kernel learns


@dataclass(frozen=True)
class Pipeline:
    """Settings of a method: task, representation of candidates, kernel and learner.

    A frozen value: ``fit`` returns a Model and leaves the pipeline unchanged. Raises ValueError if
    a part does not have the members of its role (``textrank.protocols``).
    """

    task: Task
    representation: Representation[Any]
    kernel: Kernel[Any]
    learner: Learner

    def __post_init__(self) -> None:
        """Raise ValueError if a part lacks members of the protocol of its role, and name them."""
        for role, protocol in _ROLES.items():
            part = getattr(self, role)
            if not isinstance(part, protocol):
                hint = " Inherit from textrank.Task, which has defaults." if role == "task" else ""
                raise ValueError(
                    f"{type(part).__name__} is not a {role}: it lacks "
                    f"{', '.join(_missing_members(part, protocol))}. Check the block "
                    f"[pipeline.{role}].{hint}"
                )

    def prepare(self, docs: Sequence[Doc], clock: Clock | None = None) -> Dataset:
        """Find, represent and compare the labelled candidates of Docs.

        Candidates are in the order of ``docs``, with document ids and groups: Docs that share text
        are in one group, so that they are held out together. Adds the time of the steps
        (candidates, representation, kernel) to ``clock``, if given. Raises ValueError if there are
        no candidates, or one without a label.
        """
        clock = clock or Clock()
        with clock.step("candidates"):
            candidates, unreachable = self._find_candidates(docs)
        with clock.step("representation"):
            X = self.representation(candidates)
        with clock.step("kernel"):
            kernel = learn_kernel(self.kernel, X)
            data = replace(self, kernel=kernel).compute_kernel(X)
        targets = Targets.from_candidates(candidates)
        notes = replace(self, kernel=kernel)._notes(X)
        learnt = None if kernel is self.kernel else kernel
        return Dataset(candidates, targets, X, data, unreachable, notes, len(docs), learnt)

    def dataset_from_data(
        self, docs: Sequence[Doc], data: KernelData, notes: Sequence[str] = ()
    ) -> Dataset:
        """Build a Dataset from kernel values that were computed before.

        It has no representations, so it can be cross-validated but, unless ``data`` are features,
        not fitted. ``docs`` must be those that ``data`` was computed from, in the same order;
        ``notes`` are sentences for the report. Raises ValueError if the number of rows is not that
        of the candidates.
        """
        candidates, unreachable = self._find_candidates(docs)
        if len(data) != len(candidates):
            raise ValueError(
                f"the stored kernel values have {len(data)} rows for {len(candidates)} candidates: "
                "they belong to other documents. Prepare the dataset again."
            )
        targets = Targets.from_candidates(candidates)
        return Dataset(candidates, targets, (), data, unreachable, notes, len(docs))

    def compute_kernel(self, X: Sequence[Any]) -> KernelData:
        """Return features if the kernel has them, else its Gram matrix on ``X``.

        For a kernel that leaves a setting open: ``GramAlternatives`` with those of all alternatives
        in order, whose settings are the kernel's own or, for named choices, ``{"kernel": number}``.
        Raises ValueError if the kernel has parts to be learnt first (``learn_kernel``).
        """
        if isinstance(self.kernel, ChoiceKernel) and self._alternatives:
            return self.kernel.gram_alternatives(X)
        if len(self._alternatives) > 1:
            grams = [replace(self, kernel=k).compute_kernel(X) for k in self._alternatives]
            settings = [{"kernel": float(number)} for number in range(len(grams))]
            return GramAlternatives(settings, [require_single_kernel(K, "a choice") for K in grams])
        return self.kernel.features(X) if has_features(self.kernel) else self.kernel(X)

    def fit(self, docs: Iterable[Doc], *, updatable: bool = False) -> Model:
        """Train on all candidates of annotated Docs; the model stores hashes of their texts.

        With ``updatable`` the model also keeps its training data (``Model.training``: features and
        labels, no text), so that documents can be added and forgotten. Raises ValueError if there
        are no candidates, one has no label, or all labels are equal, and for an updatable model if
        training chooses or learns a kernel or has a second stage.
        """
        docs = list(docs)
        dataset = self.prepare(docs)
        if updatable and (self._alternatives or dataset.kernel is not None):
            raise ValueError(
                f"a model of {type(self.kernel).__name__} cannot be updatable: training chooses or "
                "learns its kernel. Use a pipeline with one fixed kernel."
            )
        model = self.fit_dataset(dataset)
        training = None
        if updatable:
            if model.fit.second_stage is not None:
                raise ValueError(
                    "a model with a second stage over the document cannot be updatable. Use a "
                    "pipeline without document_stage.v1."
                )
            inputs = dataset.data if isinstance(dataset.data, Features) else dataset.X
            training = TrainingData.from_candidates(docs, dataset.candidates, inputs)
        meta = {**model.meta, TRAINING_TEXTS_KEY: hash_texts(docs)}
        return replace(model, meta=meta, training=training)

    def fit_dataset(self, dataset: Dataset) -> Model:
        """Train on a dataset of ``prepare``; chooses alpha, kernel and threshold by hold-out.

        The threshold is that of ``task.threshold``. The model has no submodels and keeps no
        training data. If the kernel leaves a setting open or learns from its inputs, the model's
        pipeline has the chosen or learnt kernel. Labels and held-out scores of the model are
        combined over its heads, if any; the learner's are calibrated to probabilities, those of
        heads are log-odds already. Of support candidates, those with coefficient 0 are dropped.
        Raises ValueError if all labels are equal.
        """
        y = dataset.targets.y
        require_two_labels(y)
        kernel_index, fit = fit_best_kernel(self.learner, dataset.data, dataset.targets)
        pipeline = self if dataset.kernel is None else replace(self, kernel=dataset.kernel)
        kernels = pipeline._alternatives
        pipeline = replace(pipeline, kernel=kernels[kernel_index]) if kernels else pipeline
        data = dataset.data
        data = data.grams[kernel_index] if isinstance(data, GramAlternatives) else data
        heads = _fit_heads(self.task, fit, dataset.targets)
        heldout = fit.heldout[fit.alpha_index]
        if heads is not None:
            heldout = heads.combine(heads.heldout, self.task.choose_heads(heads.names))
            y = heads.combine_labels(self.task.choose_heads(heads.names))
        has_names = isinstance(data, Features)
        fit, support = (fit, None) if has_names else _drop_zero_coefficients(fit, dataset.X)
        return Model(
            pipeline,
            fit,
            support,
            data.names if isinstance(data, Features) else None,
            self.task.threshold(y, heldout),
            heldout,
            y,
            average=mean_features(data) if isinstance(data, Features) else None,
            calibration=fit_calibration(heldout, y) if heads is None else LOG_ODDS,
            heads=heads,
            reference=_make_reference(dataset, heldout),
        )

    @property
    def _alternatives(self) -> list[Kernel[Any]]:
        """Kernels that training chooses from, in order; empty if the kernel leaves nothing open."""
        if isinstance(self.kernel, ChoiceKernel):
            kernels = list(self.kernel.alternatives)
        else:
            kernels = list(expand_choices(self.kernel).values())
        return kernels if len(kernels) > 1 else []

    def _notes(self, X: Sequence[Any]) -> list[str]:
        """Return sentences for the report about inputs that the kernel scales down; maybe none."""
        count = count_diverging(self.kernel, X)
        return [f"graphs with diverging path weights, scaled down: {count}"] if count else []

    def _find_candidates(self, docs: Sequence[Doc]) -> tuple[list[Candidate], dict[str, int]]:
        """Return all candidates with document id and group, and unreachable gold answers by group.

        Candidates are in the order of ``docs``; every group has a count, which may be 0. A Doc
        without id is named by its number; groups are those of ``dedup_groups``. Raises ValueError
        if there are no candidates.
        """
        candidates: list[Candidate] = []
        unreachable: dict[str, int] = {}
        numbered = track(enumerate(docs), "finding candidates", len(docs))
        for (number, doc), group in zip(numbered, dedup_groups(docs), strict=True):
            document, of_doc = document_id(doc, number), self.task.candidates(doc)
            candidates += [replace(c, document=document, group=group) for c in of_doc]
            missed = self.task.unreachable(doc, of_doc)
            unreachable[group] = unreachable.get(group, 0) + missed
        if not candidates:
            raise no_candidates_error(self.task, len(docs))
        return candidates, unreachable


def _fit_heads(task: Task, fit: Fit, targets: Targets) -> Heads | None:
    """Return the heads of a fit, each with a calibration of its held-out scores.

    None if the learner fitted one column of coefficients or the targets have no heads.
    """
    if fit.coef.ndim == 1 or targets.heads is None:
        return None
    heldout, labels = fit.heldout[fit.alpha_index], targets.heads
    curves = [PlattCalibration.fit(s, y) for s, y in zip(heldout.T, labels.T, strict=True)]
    return Heads(tuple(task.head_names), tuple(curves), heldout, labels)


def _make_reference(dataset: Dataset, heldout: Vector) -> HeldoutReference:
    """Describe the documents of held-out scores (n,), as far as the dataset knows them.

    A dataset without candidates, such as stored training data, gives their numbers only.
    """
    if not dataset.candidates:  # training data that were stored with a model
        return HeldoutReference.from_targets(dataset.targets)
    return HeldoutReference.from_candidates(dataset.candidates, heldout)


def require_two_labels(y: Vector) -> None:
    """Raise ValueError if all labels are equal; ``y`` must not be empty."""
    if len(np.unique(y)) < 2:
        raise ValueError(
            f"all {len(y)} candidates have the same label ({y[0]:g}), so nothing can be learnt. "
            "Check the gold annotation of the corpus."
        )


def _drop_zero_coefficients(fit: Fit, support: Sequence[Any]) -> tuple[Fit, Sequence[Any]]:
    """Drop training candidates whose coefficient is zero, such as those outside a basis.

    ``support`` are the representations of the training candidates, one per coefficient. Returns the
    fit and the support with the same rows dropped. Of a fit with heads, candidates are dropped
    whose coefficients are all zero. Fits with no nonzero coefficient are returned unchanged.
    """
    nonzero = np.flatnonzero(fit.coef if fit.coef.ndim == 1 else fit.coef.any(axis=1))
    if not len(nonzero) or len(nonzero) == len(fit.coef):
        return fit, support
    return replace(fit, coef=fit.coef[nonzero]), take_rows(support, nonzero)


def _missing_members(part: object, protocol: type) -> list[str]:
    """Return the members of a protocol that ``part`` does not have, sorted.

    Public ones and ``__call__`` count; signatures are not compared.
    """
    members = {*vars(protocol), *protocol.__annotations__} - set(vars(Protocol))
    members = {name for name in members if not name.startswith("_") or name == "__call__"}
    return sorted(members - set(dir(part)))


def view_pipeline(
    task: Task, views: Mapping[str, Any], learner: Learner, constant: float = 0.5
) -> Pipeline:
    """Build a pipeline whose kernel is the weighted sum of kernels on several views.

    Candidates are compared only with candidates of the same question. The result equals a
    ``pipeline.v1`` with representation ``views.v1`` and kernel ``blocks.v1`` of ``sum.v1`` of
    ``on_view.v1``, which is what a trained model stores.

    Parameters
    ----------
    task, learner
        Passed on to the pipeline.
    views
        Maps the name of a view to a block with the keys ``representation`` and ``kernel``, both
        already built, and, optionally, ``weight`` (default 1), by which the kernel is multiplied.
    constant
        Positive value of a feature that all candidates of one question share: its square is added
        to their kernel values, see ``PerQuestionKernel``.

    Raises
    ------
    ValueError
        If a view lacks a representation or a kernel, or has an unknown key.
    """
    for name, view in views.items():
        _check_view(name, view)
    # Looked up by their registered names: the core imports no concrete kernel or representation.
    kernel_class, representation_class = registry.kernels.get, registry.representations.get
    representations = {QUESTION_VIEW: representation_class("question.v1")()}
    representations |= {name: view["representation"] for name, view in views.items()}
    on_view = kernel_class("on_view.v1")
    kernels = {name: on_view(name, view["kernel"]) for name, view in views.items()}
    weights = {name: float(view.get("weight", 1.0)) for name, view in views.items()}
    weighted_sum = kernel_class("sum.v1")(kernels, weights)
    kernel = kernel_class("blocks.v1")(QUESTION_VIEW, weighted_sum, constant)
    return Pipeline(task, representation_class("views.v1")(representations), kernel, learner)


def _check_view(name: str, view: Mapping[str, Any]) -> None:
    """Raise ValueError unless a view has a representation, a kernel and no unknown key.

    ``name`` is the view's name, for the message.
    """
    if unknown := sorted(set(view) - {*VIEW_PARTS, "weight"}):
        raise ValueError(
            f"view {name!r}: unknown key {unknown[0]!r}; available: {', '.join(VIEW_PARTS)}, weight"
        )
    for part, contract in VIEW_PARTS.items():
        if not isinstance(view.get(part), contract):
            raise ValueError(f"view {name!r} needs a {part}, got {view.get(part)!r:.60}")
