"""Pipelines of several views: each view has its own representation, kernel and weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textrank.kernels.algebra import OnView, Sum
from textrank.kernels.views import PerQuestionKernel
from textrank.pipeline import Pipeline
from textrank.protocols import Kernel, Learner, Representation, Task
from textrank.representations.mentions import Question, Views

QUESTION_VIEW = "question"  # name of the view that holds the question of each candidate
VIEW_PARTS: Mapping[str, type] = {"representation": Representation, "kernel": Kernel}


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
        _check(name, view)
    representations = {name: view["representation"] for name, view in views.items()}
    kernels = {name: OnView(name, view["kernel"]) for name, view in views.items()}
    weights = {name: float(view.get("weight", 1.0)) for name, view in views.items()}
    kernel = PerQuestionKernel(QUESTION_VIEW, Sum(kernels, weights), constant)
    return Pipeline(task, Views({QUESTION_VIEW: Question(), **representations}), kernel, learner)


def _check(name: str, view: Mapping[str, Any]) -> None:
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
