"""Views: several named representations of the same candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from textrank.candidates import Candidate, LooseRepresentation, Representation
from textrank.features import Kernel, Repeated, Viewed
from textrank.kernels.algebra import OnView, Sum
from textrank.kernels.views import Blocks
from textrank.learners.base import Learner
from textrank.pipeline import Pipeline
from textrank.representations.mentions import Once, Question, of_same_words
from textrank.tasks.base import Task


@dataclass(frozen=True)
class Views:
    """Several representations of each candidate, by name; a kernel looks at one with ``OnView``.

    ``Views({"graph": DependencyGraph(), "words": WordPositions()})`` goes with
    ``Sum([OnView("graph", AllPathsGraph()), OnView("words", Linear())])``.
    """

    representations: Mapping[str, Any]  # a cfg is checked before the blocks inside are built

    def __post_init__(self) -> None:
        if not self.representations:
            raise ValueError("representations must name at least one view, got none")
        for name, part in self.representations.items():
            if not isinstance(part, Representation):
                raise ValueError(f"view {name!r}: {part!r:.60} is no representation")

    def __call__(self, candidates: Sequence[Candidate]) -> Viewed:
        return Viewed({name: _seen(by, candidates) for name, by in self.representations.items()})

    def loose(self, candidates: Sequence[Candidate]) -> Viewed:
        """Loose views where there are any, each made once for all candidates of the same words."""
        first, at = of_same_words(candidates)
        views = {
            name: Repeated(self._loose[name].loose(first), at)
            if name in self._loose
            else by(candidates)
            for name, by in self.representations.items()
        }
        return Viewed(views)

    @cached_property
    def _loose(self) -> dict[str, LooseRepresentation[Any]]:
        """The representations that have a loose form."""
        own = self.representations
        return {name: by for name, by in own.items() if isinstance(by, LooseRepresentation)}


def _seen(represent: Any, candidates: Sequence[Candidate]) -> Sequence[Any]:
    """One view; what candidates share stays shared, for a kernel that can make use of it."""
    found: Sequence[Any] = (
        represent.shared(candidates) if isinstance(represent, Once) else represent(candidates)
    )
    return found


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
