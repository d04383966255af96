"""A pipeline of views: each named once, with its representation, kernel and weight together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textrank.docs import Representation
from textrank.kernels.algebra import OnView, Sum
from textrank.kernels.blocks import Blocks
from textrank.learners.fit import Learner
from textrank.pipeline import Pipeline
from textrank.representations.mentions.target import Question
from textrank.representations.views import Views
from textrank.tasks.task import Task
from textrank.types import Kernel

QUESTION = "question"  # the view that says what is asked
PARTS: Mapping[str, type] = {"representation": Representation, "kernel": Kernel}


def view_pipeline(
    task: Task, views: Mapping[str, Any], learner: Learner, constant: float = 0.5
) -> Pipeline:
    """The pipeline that compares candidates of one question by the weighted sum of their views.

    A view is a block with a ``representation``, a ``kernel`` on it and a ``weight`` (1 where none
    is given); ``constant`` is that of ``Blocks``. The same as ``views.v1`` with ``blocks.v1`` of
    ``sum.v1`` of ``on_view.v1``, which is what a trained model keeps.
    """
    for name, view in views.items():
        _check(name, view)
    representations = {name: view["representation"] for name, view in views.items()}
    kernels = {name: OnView(name, view["kernel"]) for name, view in views.items()}
    weights = {name: float(view.get("weight", 1.0)) for name, view in views.items()}
    whole = Blocks(QUESTION, Sum(kernels, weights), constant)
    return Pipeline(task, Views({QUESTION: Question(), **representations}), whole, learner)


def _check(name: str, view: Mapping[str, Any]) -> None:
    if unknown := sorted(set(view) - {*PARTS, "weight"}):
        raise ValueError(f"view {name!r} has no {unknown[0]!r}; it has {', '.join(PARTS)}, weight")
    for part, contract in PARTS.items():
        if not isinstance(view.get(part), contract):
            raise ValueError(f"view {name!r} needs a {part}, got {view.get(part)!r:.60}")
