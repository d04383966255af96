"""Train a model by the name of a pipeline, with submodels for what else a corpus annotates.

A pipeline cfg may have a block ``[train]``. Its key ``pipeline`` names another pipeline that is
trained instead: ``ppi`` is evaluated with all training pairs and trained on a reduced set, as the
shipped model is. ``[train.submodels]`` maps the names of submodels to their pipelines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textrank.config import load_pipeline, pipeline_path, read_config

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from textrank.model import Model
    from textrank.pipeline import Pipeline

INHERITED_SETTINGS = ("task.entities", "task.labels")  # hold for submodels too


@dataclass(frozen=True)
class TrainingPlan:
    """The pipeline that is trained under a name, and the pipelines of its submodels by name."""

    pipeline: str
    submodels: Mapping[str, str] = field(default_factory=dict)


def load_training_plan(name: str | Path) -> TrainingPlan:
    """Return what training the pipeline ``name`` (shipped, or the path of a cfg) means.

    If its ``[train]`` block names another pipeline, the plan is that of the other one, and its own
    submodels are ignored. Without a block, the pipeline itself is trained, without submodels.
    Raises ValueError if a cfg file is unknown or not readable.

    >>> load_training_plan("ppi").pipeline, sorted(load_training_plan("ppi").submodels)
    ('ppi-reduced', ['direction', 'status', 'type'])
    >>> load_training_plan("ppi-apg")
    TrainingPlan(pipeline='ppi-apg', submodels={})
    """
    train: Mapping[str, Any] = read_config(pipeline_path(name)).get("train", {})
    if "pipeline" in train:
        return load_training_plan(train["pipeline"])
    return TrainingPlan(str(name), dict(train.get("submodels", {})))


def train_submodels(
    plan: TrainingPlan,
    docs: Sequence[Doc],
    settings: Mapping[str, Any] | None = None,
    *,
    updatable: bool = False,
) -> dict[str, Model]:
    """Train each submodel of the plan on the Docs that are annotated for it; return them by name.

    Submodels are left out if no two Docs have labelled candidates, or all have the same label.
    ``settings`` are overrides by dotted key (``task.labels``); only ``task.entities`` and
    ``task.labels`` hold for submodels. None means no overrides. With ``updatable`` the submodels
    keep their training data, so that documents can be added and forgotten.
    """
    inherited = {k: v for k, v in (settings or {}).items() if k in INHERITED_SETTINGS}
    models = {}
    for name, pipeline_name in plan.submodels.items():
        pipeline = load_pipeline(pipeline_name, inherited)
        annotated = _annotated_docs(pipeline, docs)
        if len(annotated) > 1:
            models[name] = pipeline.fit(annotated, updatable=updatable)
    return models


def _annotated_docs(pipeline: Pipeline, docs: Sequence[Doc]) -> list[Doc]:
    """Return the Docs that have candidates, all with labels; none if all labels are the same."""
    annotated = labelled_docs(pipeline, docs)
    labels = {c.label for doc in annotated for c in pipeline.task.candidates(doc)}
    return annotated if len(labels) > 1 else []


def labelled_docs(pipeline: Pipeline, docs: Sequence[Doc]) -> list[Doc]:
    """Return the Docs that have candidates, all with labels, in order.

    Raises what ``task.candidates`` raises for a Doc, such as ValueError if it has no entities.
    """
    labels = [{candidate.label for candidate in pipeline.task.candidates(doc)} for doc in docs]
    return [doc for doc, found in zip(docs, labels, strict=True) if found and None not in found]


def train_model(
    pipeline: Pipeline,
    docs: Sequence[Doc],
    plan: TrainingPlan | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    updatable: bool = False,
) -> Model:
    """Train ``pipeline`` on annotated Docs, with the submodels of ``plan`` if there is one.

    ``plan.pipeline`` is ignored: load it into ``pipeline`` first. ``settings`` are the overrides
    that ``pipeline`` was loaded with, of which submodels inherit ``INHERITED_SETTINGS``. With
    ``updatable`` model and submodels keep their training data, so that documents can be added and
    forgotten. Raises ValueError if there is nothing to learn from: no candidates, one without a
    label, or equal labels only.
    """
    model = pipeline.fit(docs, updatable=updatable)
    submodels = {}
    if plan is not None:
        submodels = train_submodels(plan, docs, settings, updatable=updatable)
    return replace(model, submodels=submodels) if submodels else model
