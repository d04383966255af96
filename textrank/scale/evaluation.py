"""A model judged on a corpus in parts: files are read and scored where a worker is.

Only answers, scores and names of documents come back, some bytes a candidate; the figures are those
of one machine, for they are computed from the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from spacy.language import Language

from textrank.config import load_corpus, load_model
from textrank.docs import labels_of
from textrank.evaluation.intervals import bootstrap_intervals
from textrank.evaluation.report import Counts, Fold, Report
from textrank.language import load_nlp
from textrank.measures import auc, decide, precision_recall_f
from textrank.model import Model
from textrank.registries import config_of
from textrank.tasks.task import nothing_found
from textrank.types import Vector

BATCH = 50  # documents that are represented at once


@dataclass(frozen=True, eq=False)
class PartScores:
    """The candidates of a part as arrays."""

    y: Vector
    scores: Vector
    documents: tuple[str, ...]  # of each candidate
    unreachable: int = 0  # gold answers that no candidate stands for
    texts: int = 0


@lru_cache(maxsize=1)
def _loaded(model: str) -> tuple[Model, Language]:
    """The model, loaded once a process."""
    return load_model(model), load_nlp()


def part_scores(corpus: str, model: str) -> PartScores:
    """Scores the candidates of a corpus, some documents in memory at a time."""
    loaded, nlp = _loaded(model)
    task = loaded.pipeline.task
    found: list[PartScores] = []
    docs = iter(load_corpus(corpus)(nlp))
    while batch := [doc for doc, _ in zip(docs, range(BATCH), strict=False)]:
        own = [task.candidates(doc) for doc in batch]
        every = [candidate for some in own for candidate in some]
        missed = sum(task.unreachable(doc, some) for doc, some in zip(batch, own, strict=True))
        scores = loaded.score(every) if every else np.empty(0)
        names = tuple(candidate.document for candidate in every)
        found.append(PartScores(labels_of(every), scores, names, missed, len(batch)))
    return _joined(found)


def evaluate_parts(model: str, corpora: Sequence[str], client: Any = None) -> Report:
    """Figures of a model on corpora that are the parts of one, here or on a Dask cluster.

    ``client`` is a ``distributed.Client``; each part then becomes a task of its own. A document
    must not be spread over several parts. For tasks that are answered by yes or no.
    """
    loaded = load_model(model)
    task = loaded.pipeline.task
    if task.ranks:
        raise ValueError(f"task {task.name!r} ranks; only yes and no can be judged in parts.")
    if client is None:
        parts = [part_scores(corpus, model) for corpus in corpora]
    else:
        parts = client.gather(client.map(part_scores, list(corpora), model=model, pure=False))
    every = _joined(parts)
    if not len(every.y):
        raise nothing_found(task, every.texts)
    return _report(loaded, every, len(parts))


def _joined(parts: Sequence[PartScores]) -> PartScores:
    empty = [np.empty(0)]
    return PartScores(
        np.concatenate([*empty, *(part.y for part in parts)]),
        np.concatenate([*empty, *(part.scores for part in parts)]),
        tuple(name for part in parts for name in part.documents),
        sum(part.unreachable for part in parts),
        sum(part.texts for part in parts),
    )


def _report(model: Model, every: PartScores, parts: int) -> Report:
    threshold, task = model.threshold, model.pipeline.task
    cut = np.inf if threshold is None else threshold
    said = decide(every.scores, cut)
    found = precision_recall_f(every.y, said, every.unreachable)
    positives = int((every.y > 0).sum())
    fold = Fold(
        {"auc": auc(every.y, every.scores), **found._asdict()},
        fold=0,
        split=0,
        documents=len(set(every.documents)),
        candidates=len(every.y),
        positives=positives,
        chosen={"alpha": model.fit.alpha, "threshold": threshold},
    )
    drawn = {} if every.unreachable else _intervals(every, said)
    return Report(
        task=task.name,
        corpus=f"{parts} parts",
        procedure=f"trained on {model.meta.get('corpus') or 'another corpus'}; judged in parts",
        settings=config_of(model.pipeline),
        seed=None,
        counts=Counts(every.texts, len(every.y), positives, every.unreachable),
        folds=[fold],
        intervals=drawn,
    )


def _intervals(every: PartScores, said: Any) -> dict[str, tuple[float, float]]:
    found = bootstrap_intervals(every.y, every.scores, every.documents, decisions=said)
    return {name: (interval.low, interval.high) for name, interval in found.items()}
