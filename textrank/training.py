"""Train models with submodels, and update trained models exactly: forget and add documents.

A pipeline cfg may have a block ``[train]``. Its key ``pipeline`` names another pipeline that is
trained instead: ``ppi`` is evaluated with all training pairs and trained on a reduced set, as the
shipped model is. ``[train.submodels]`` maps the names of submodels to their pipelines.

``forget_documents`` and ``add_documents`` take a model that keeps its training data
(``Model.training``) and return the model that training on the other documents, or on all of them,
would have given: coefficients, alpha, threshold, calibration, held-out scores, text hashes and
submodels. Nothing is read or analysed again; the learner is solved on the stored features.

A ``Receipt`` states what was done, with the SHA-256 of every file of the model before and after.
``verify_receipt`` checks it against the model. Its checksum reveals accidental changes; a receipt
is not signed, so it proves nothing against somebody who would forge one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
from spacy.tokens import Doc

import textrank
from textrank.candidates import TRAINING_TEXTS_KEY
from textrank.config import load_pipeline, pipeline_path, read_config
from textrank.features import Features, concat_rows
from textrank.io import META_FILE, file_checksum, load_json, read_text
from textrank.model import Model
from textrank.pipeline import Dataset, Pipeline
from textrank.training_data import TrainingData

RECEIPT_FORMAT = 1
TOLERANCE = 1e-9  # of values that are computed again, relative to the largest
# Entries of meta.json that describe the fit; all others are kept by an update.
FITTED_META = {
    *("format", "task", "alpha", "threshold", "candidates", "positives", "heldout_auc"),
    *("calibration", "heads", "versions", "files", "checksum", TRAINING_TEXTS_KEY),
}
INHERITED_SETTINGS = ("task.entities", "task.labels")  # hold for submodels too


# Updates ------------------------------------------------------------------------------------------


def forget_documents(model: Model, documents: Collection[str]) -> Model:
    """Return the model that was never trained on these documents.

    Submodels forget those of them that they have, and stay as they are without any; a submodel that
    is left with one document or one label, or no candidate, is dropped, as training would leave it
    out.

    Parameters
    ----------
    documents
        Ids of training documents. A copy under another id is another document
        (``TrainingData.find_copies``).

    Raises
    ------
    ValueError
        If the model or a submodel holds no training data, does not know a document, or has too
        little left to learn from.
    """
    training = model.require_training("Forgetting")
    updated = refit(model, training.without(documents))
    submodels = {}
    for name, submodel in model.submodels.items():
        held = submodel.require_training(f"Forgetting in the submodel {name}")
        gone = [document.id for document in held.documents if document.id in set(documents)]
        if not gone:
            submodels[name] = submodel
        elif _is_trainable(rest := _without_or_none(held, gone)):
            assert rest is not None
            submodels[name] = refit(submodel, rest)
    return replace(updated, submodels=submodels)


def _without_or_none(training: TrainingData, documents: Sequence[str]) -> TrainingData | None:
    """Return ``training.without(documents)``; None if no candidate is left.

    Raises ValueError for an unknown document, but only if candidates are left.
    """
    ids = [document.id for document in training.documents]
    left = {ids[number] for number in training.document_of} - set(documents)
    return training.without(documents) if left else None


def _is_trainable(training: TrainingData | None) -> bool:
    """Return whether a submodel would be trained: two or more documents and different labels.

    Documents count even if they have no candidate. None gives False.
    """
    return training is not None and len(training.documents) > 1 and len(np.unique(training.y)) > 1


def add_documents(model: Model, docs: Sequence[Doc]) -> Model:
    """Return the model trained on its documents and on more annotated Docs, after those.

    Submodels learn from the Docs whose candidates for them are all labelled (``labelled_docs``) and
    stay as they are without any; a submodel that the model does not have is not trained.

    Raises
    ------
    ValueError
        If the model or a submodel holds no training data, a Doc has the id of a document of the
        model, or there are no candidates.
    """
    training = model.require_training("Adding documents")
    updated = refit(model, _extend(model.pipeline, training, docs))
    submodels = {}
    for name, submodel in model.submodels.items():
        held = submodel.require_training(f"Adding documents to the submodel {name}")
        new = labelled_docs(submodel.pipeline, docs)
        submodels[name] = (
            refit(submodel, _extend(submodel.pipeline, held, new)) if new else submodel
        )
    return replace(updated, submodels=submodels)


def _extend(pipeline: Pipeline, training: TrainingData, docs: Sequence[Doc]) -> TrainingData:
    """Return the training data with the candidates of Docs after the others.

    Raises ValueError as ``Pipeline.prepare`` (no candidates, or one without a label) and
    ``TrainingData.join`` (a document that is known).
    """
    dataset = pipeline.prepare(docs)
    inputs = dataset.data if isinstance(dataset.data, Features) else dataset.X
    new = TrainingData.from_candidates(docs, dataset.candidates, inputs)
    return training.join(new, concat_rows(training.inputs, inputs))


def refit(model: Model, training: TrainingData) -> Model:
    """Return the model of the same pipeline trained on other training data.

    Submodels and entries of ``meta`` that do not depend on the fit (``FITTED_META``) are kept, the
    hashes of training texts are those of ``training``, and the result stores it. The kernel is that
    of the model, not learnt or chosen again. Raises ValueError if all labels are equal.
    """
    pipeline, inputs = model.pipeline, training.inputs
    is_explicit = isinstance(inputs, Features) and model.names is not None
    data = inputs if is_explicit else pipeline.compute_kernel(inputs)
    X = () if is_explicit else inputs
    documents = len(training.documents)
    fitted = pipeline.fit_dataset(
        Dataset([], training.to_targets(), X, data, {}, documents=documents)
    )
    meta = {key: value for key, value in model.meta.items() if key not in FITTED_META}
    meta[TRAINING_TEXTS_KEY] = training.encode_text_hashes()
    return replace(fitted, meta=meta, submodels=model.submodels, training=training)


def largest_difference(one: Model, other: Model) -> float:
    """Return the largest difference of two models of the same training data.

    Compared are coefficients, alpha, threshold, held-out scores, labels, calibration and submodels,
    each relative to its largest magnitude in either model. Coefficients are matched by feature
    name, or by position for a model with ``support``; a threshold that is None or infinite counts
    as 0. Infinite if they have different shapes, features or submodels. Features of weight zero,
    representations of training candidates and curves of heads are not compared.
    """
    one, other = _drop_zero_weights(one), _drop_zero_weights(other)
    pairs: list[tuple[Any, Any]] = [
        (one.fit.coef, other.fit.coef),
        (one.fit.alpha, other.fit.alpha),
        (one.heldout, other.heldout),
        (one.labels, other.labels),
        (_finite(one.threshold), _finite(other.threshold)),
        (_curve(one), _curve(other)),
    ]
    if one.names is not None and other.names is not None:
        columns = one.names.find(other.names)
        if len(one.names) != len(other.names) or (columns < 0).any():
            return float("inf")
        pairs[0] = (one.fit.coef[columns], other.fit.coef)
    differences = [_relative_difference(np.atleast_1d(x), np.atleast_1d(y)) for x, y in pairs]
    if set(one.submodels) != set(other.submodels):
        return float("inf")
    differences += [largest_difference(m, other.submodels[n]) for n, m in one.submodels.items()]
    return max(differences)


def _drop_zero_weights(model: Model) -> Model:
    """Return a model without feature weights of exactly zero, which are not stored either.

    It has no mean features. A model without feature weights is returned unchanged.
    """
    if model.names is None:
        return model
    keep = np.flatnonzero(model.fit.coef)
    fit = replace(model.fit, coef=model.fit.coef[keep])
    return replace(model, fit=fit, names=model.names.take(keep), average=None)


def _relative_difference(x: Any, y: Any) -> float:
    """Return the largest difference of two arrays, relative to the largest magnitude of both.

    Infinite if the shapes differ, 0 if both are zero or empty, NaN if a value is NaN.
    """
    if x.shape != y.shape:
        return float("inf")
    scale = max(float(np.abs(x).max(initial=0.0)), float(np.abs(y).max(initial=0.0)), 1e-300)
    return float(np.abs(x - y).max(initial=0.0)) / scale


def _finite(threshold: float | None) -> float:
    """Return a threshold as a number; 0 if it is None, infinite or NaN."""
    return threshold if threshold is not None and np.isfinite(threshold) else 0.0


def _curve(model: Model) -> list[float]:
    """Return the parameters of the calibration curve; empty if the model has none."""
    return [] if model.calibration is None else list(asdict(model.calibration).values())


# Receipts -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Receipt:
    """Record of an update of a model, with checksums of its files before and after."""

    action: Literal["forget", "add"]
    time: str  # UTC, ISO format
    documents: tuple[str, ...]  # ids
    candidates: int  # training candidates of these documents
    copies: tuple[str, ...]  # other documents of the model that share a sentence with them
    before: Mapping[str, str]  # SHA-256 by file, relative to the folder of the model
    after: Mapping[str, str]
    version: str  # of textrank

    def to_dict(self) -> dict[str, Any]:
        """Return ``format``, all fields under their names and ``checksum`` as plain values.

        Tuples become lists. The checksum is the SHA-256 of everything else.
        """
        content = {
            "format": RECEIPT_FORMAT,
            **{key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()},
        }
        return {**content, "checksum": _checksum(content)}

    def to_text(self) -> str:
        """Return the receipt as JSON, in the only form that ``from_text`` accepts."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    @classmethod
    def from_text(cls, text: str, location: str = "receipt") -> Receipt:
        """Read a receipt; raises ValueError if it is not exactly what ``to_text`` returned.

        Any changed character of the JSON is an error. ``location``, the name of the file, begins
        the message.
        """
        values = load_json(text, location)
        try:
            fields: dict[str, Any] = {
                key: tuple(value) if isinstance(value, list) else value
                for key, value in values.items()
                if key not in ("format", "checksum")
            }
            receipt = cls(**fields)
            is_intact = receipt.to_text() == text
        except (AttributeError, TypeError):
            raise ValueError(
                f"{location}: not a receipt of textrank forget or add. Check the path."
            ) from None
        if not is_intact:
            raise ValueError(
                f"{location}: the receipt was changed, its checksum differs. Restore it."
            )
        return receipt


def _checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of JSON values, written with sorted keys, as a hexadecimal string."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def hash_model_folder(folder: str | Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a model and its submodels, by relative path, sorted.

    These are all files of the folder and of its subfolders with a ``meta.json``, not deeper ones.
    """
    root = Path(folder)
    paths = [
        *root.iterdir(),
        *(f for meta in root.glob(f"*/{META_FILE}") for f in meta.parent.iterdir()),
    ]
    files = {path.relative_to(root).as_posix(): path for path in paths if path.is_file()}
    return {name: file_checksum(files[name]) for name in sorted(files)}


def write_update(
    source: str | Path,
    model: Model,
    updated: Model,
    action: Literal["forget", "add"],
    documents: Sequence[str],
    *,
    target: str | Path | None = None,
) -> Receipt:
    """Write an updated model and return the receipt.

    ``source`` is the folder of ``model``, before the update; ``target`` the folder to write, None
    replaces the old model. ``documents`` are the ids of those forgotten or added. The model is
    written as ``Model.to_disk`` does; the receipt is not written. Raises ValueError if ``model``
    (of "forget") or ``updated`` (of "add") holds no training data.
    """
    holder = model if action == "forget" else updated
    training = holder.require_training("A receipt")
    chosen, before, folder = set(documents), hash_model_folder(source), target or source
    updated.to_disk(folder)
    return Receipt(
        action,
        datetime.now(UTC).isoformat(timespec="seconds"),
        tuple(documents),
        sum(name in chosen for name in training.names),
        tuple(training.find_copies(chosen)),
        before,
        hash_model_folder(folder),
        textrank.__version__,
    )


def verify_receipt(receipt_file: str | Path, folder: str | Path) -> dict[str, Any]:
    """Check a receipt against the model in a folder; return the result as plain values.

    The receipt must be unchanged and the files of the model must have its checksums. Documents that
    were forgotten must not be in the training data of the model or a submodel, those added must be
    in that of the model. Model and submodels are trained again on their training data and must be
    the same to ``TOLERANCE``: nothing else is in them. Keys:
    ``action``, ``documents``, ``copies``, ``difference`` (of the retrained model) and ``verified``
    (always True).

    Raises
    ------
    ValueError
        That says which of these does not hold.
    """
    receipt = Receipt.from_text(read_text(receipt_file), str(receipt_file))
    model = Model.from_disk(folder)
    now = hash_model_folder(folder)
    changed = sorted(
        name for name in {*now, *receipt.after} if now.get(name) != receipt.after.get(name)
    )
    if changed:
        raise ValueError(
            f"{folder}: {changed[0]} is not the file of the receipt {receipt_file}. The model was "
            "changed since, or the receipt is of another model."
        )
    for name, part in {"": model, **model.submodels}.items():
        training = part.require_training("Verifying a receipt")
        present = {document.id for document in training.documents}
        wrong = (
            present & set(receipt.documents)
            if receipt.action == "forget"
            else (set(receipt.documents) - present if not name else set())
        )
        if wrong:
            state = "still holds" if receipt.action == "forget" else "does not hold"
            raise ValueError(f"{Path(folder) / name}: {state} document {min(wrong)!r}.")
    difference = largest_difference(model, _refit_all(model))
    if difference > TOLERANCE:
        raise ValueError(
            f"{folder}: training again on its documents gives another model (relative difference "
            f"{difference:.1e}). It was not made by textrank {receipt.action}."
        )
    return {
        "action": receipt.action,
        "documents": list(receipt.documents),
        "copies": list(receipt.copies),
        "difference": difference,
        "verified": True,
    }


def _refit_all(model: Model) -> Model:
    """Return a model and its submodels, trained again on their training data.

    Raises ValueError if one of them holds no training data.
    """
    training = model.require_training("Verifying a receipt")
    submodels = {name: _refit_all(submodel) for name, submodel in model.submodels.items()}
    return replace(refit(model, training), submodels=submodels)


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
    """Return the Docs that have candidates, all with labels, in order.

    None of them if all labels of all these Docs are the same.
    """
    annotated = labelled_docs(pipeline, docs)
    labels = {c.label for doc in annotated for c in pipeline.task.candidates(doc)}
    return annotated if len(labels) > 1 else []


def labelled_docs(pipeline: Pipeline, docs: Sequence[Doc]) -> list[Doc]:
    """Return the Docs that have candidates, all with labels, in order.

    Raises what ``task.candidates`` raises for a Doc, such as ValueError if it has no entities.
    """
    labels = [{candidate.label for candidate in pipeline.task.candidates(doc)} for doc in docs]
    return [
        doc
        for doc, doc_labels in zip(docs, labels, strict=True)
        if doc_labels and None not in doc_labels
    ]


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
