"""A trained model on other documents than it was trained on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Literal

import numpy as np
from spacy.tokens import Doc

from textrank.docs import Candidate, labels_of
from textrank.evaluation.curves import calibration_error, expected_error, reliability
from textrank.evaluation.fold_scores import FoldScores, document_intervals
from textrank.evaluation.report import Counts, Report
from textrank.learners.prior_shift import expected_threshold, mean_threshold
from textrank.measures import positive_rate_threshold, precision_recall_f
from textrank.model import Model
from textrank.registries import config_of
from textrank.tasks.ppi import PPI
from textrank.tasks.task import nothing_found
from textrank.training_texts import find_overlap
from textrank.types import Vector

Positives = float | Literal["auto"] | None


def evaluate(
    model: Model, docs: Iterable[Doc], *, corpus: str = "", positives: Positives = None
) -> Report:
    """Measures on other documents, with the threshold chosen in training.

    Where positives are far more or less frequent than in training, that threshold is wrong.
    ``positives`` is the share of them that is expected; the highest scores get the yes. With
    ``auto`` the threshold is the one of the highest expected F by the model's own probabilities, if
    they were calibrated on left-out corpora (``Platt.across``); otherwise it is the mean of
    the scores (``mean_threshold``), since probabilities of one corpus do not carry over to another.

    Documents that the model was trained on are counted in ``trained_on`` of the report, with a
    note: figures on them are too high.
    """
    docs = list(docs)
    task = model.pipeline.task
    found = [task.candidates(doc) for doc in docs]
    unreachable = sum(task.unreachable(doc, own) for doc, own in zip(docs, found, strict=True))
    candidates = [candidate for own in found for candidate in own]
    if not candidates:
        raise nothing_found(task, len(docs))
    scores = model.score(candidates)
    threshold, words = decided(model, scores, positives)
    test = single_fold(model, candidates, scores, threshold, unreachable)
    fold = test.measured(task)
    beside = at_level(model, candidates, scores, unreachable)
    fold = replace(fold, measures={**fold.measures, **beside})
    probabilities = model.probability(scores)
    overlap = find_overlap(model.meta, docs, corpus)
    return Report(
        task=task.name,
        corpus=corpus,
        procedure=f"trained on {model.meta.get('corpus') or 'another corpus'}; {words}",
        settings=config_of(model.pipeline),
        seed=None,
        counts=Counts(len(docs), len(candidates), fold.positives, unreachable),
        folds=[fold],
        intervals=document_intervals([test], [fold], {}) if not unreachable else {},
        decisions=list(test.decisions(fold)),
        curves=_curves(labels_of(candidates), probabilities),
        notes=[overlap.note] if overlap else (),
        trained_on=overlap.to_dict() if overlap else {},
    )


def _curves(y: Vector, probabilities: Vector | None) -> dict[str, list[dict[str, float]]]:
    """What probabilities were worth, in bins."""
    bins = [] if probabilities is None else reliability(y, probabilities)
    return {"reliability": [{"x": b.score, **asdict(b)} for b in bins]} if bins else {}


def at_level(
    model: Model,
    candidates: Sequence[Candidate],
    scores: Vector,
    unreachable: int,
) -> dict[str, float | None]:
    """F where yes means a probability of at least the task's level, and where it is asserted too.

    That is how rows are judged; the other figures are at the threshold of training, for corpora
    differ in whether what is denied or doubted counts. Only for pairs that carry a probability.
    """
    task, probabilities = model.pipeline.task, model.probability(scores)
    if not isinstance(task, PPI) or probabilities is None:
        return {}
    y, sure = labels_of(candidates), probabilities >= task.level
    found: dict[str, float | None] = {
        "f_at_level": precision_recall_f(y, sure, unreachable).f,
        "calibration_error": calibration_error(y, probabilities),
        "calibration_error_of_chance": expected_error(probabilities),
    }
    statements = model.stated(candidates)
    if statements:
        asserted = np.array([row.get("status", "asserted") == "asserted" for row in statements])
        found["f_asserted_at_level"] = precision_recall_f(y, sure & asserted, unreachable).f
    return found


def decided(model: Model, scores: Vector, positives: Positives) -> tuple[float | None, str]:
    """The threshold for these scores, and how it came about in words."""
    if positives == "auto" and model.calibration is not None and model.calibration.sources:
        words = "alpha by leave-document-out there; threshold of the best F that it expects here"
        return expected_threshold(scores, model.calibration(scores)), words
    if positives == "auto":
        words = "alpha by leave-document-out there; threshold at the mean of the test scores"
        return mean_threshold(scores), words
    if positives is not None:
        words = f"alpha by leave-document-out there; yes to a share of {positives:g}, as asked"
        return positive_rate_threshold(scores, positives), words
    return model.threshold, "alpha and threshold by leave-document-out there"


def single_fold(
    model: Model,
    candidates: Sequence[Candidate],
    scores: Vector,
    threshold: float | None,
    unreachable: int,
) -> FoldScores:
    """All candidates as one test fold."""
    alphas, rows = [model.fit.alpha], np.arange(len(candidates))
    return FoldScores(rows, candidates, alphas, scores[None], [threshold], 0, unreachable, 0, 0)
