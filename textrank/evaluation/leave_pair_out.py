"""Leave-pair-out AUC: every positive against every negative, both unseen in training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import numpy as np

from textrank.evaluation.cross_validation import counts
from textrank.evaluation.report import Fold, Report
from textrank.learners.checks import groups_of
from textrank.learners.holdout import buckets, solve_blocks
from textrank.learners.rls import RLS
from textrank.linalg.inverse import inverse
from textrank.linalg.spectrum import gram
from textrank.pipeline import Dataset, Pipeline
from textrank.registries import config_of
from textrank.ties import TIE_TOLERANCE
from textrank.types import Features, Indices, Matrix, Vector, single

NAME = "leave-pair-out"
PORTION = 1 << 22  # numbers of stacked blocks held at once


def document_pair_auc(K: Matrix, y: Vector, documents: Indices, alpha: float) -> float | None:
    """Share of (positive, negative) pairs in the right order, ties ½; None with one class only.

    Both are scored by the model of all documents but theirs, ``f_U = y_U - G_UU^-1 a_U`` with ``U``
    the candidates of the two documents. Nearly unbiased on small corpora, where the AUC of folds
    is coarse and the pooled one pessimistic.

    Airola et al. (2011), Computational Statistics and Data Analysis 55(4):1828-1844.
    """
    G = inverse(np.asarray(K, dtype=np.float64), alpha)
    a = (G @ y)[:, None]
    groups = groups_of(documents, len(y), name="documents")
    won = pairs = 0.0
    for index in buckets(groups):  # pairs inside one document
        f = _without(G, a, y, index)
        part = _compared(f, f, y[index], y[index])
        won, pairs = won + part[0], pairs + part[1]
    for first, second in _document_pairs(list(buckets(groups))):
        U = np.hstack([first, second])
        f = _without(G, a, y, U)
        s = first.shape[1]
        for one, other in ((slice(s), slice(s, None)), (slice(s, None), slice(s))):
            part = _compared(f[:, one], f[:, other], y[U][:, one], y[U][:, other])
            won, pairs = won + part[0], pairs + part[1]
    return won / pairs if pairs else None


def assess_pairs(
    pipeline: Pipeline, dataset: Dataset, *, corpus: str = "", title: str = ""
) -> Report:
    """A report with the leave-pair-out AUC at the alpha that leave-document-out prefers."""
    learner = pipeline.learner
    if not isinstance(learner, RLS) or learner.positive_weight != 1.0:
        raise ValueError(f"{NAME} needs RLS without class weights, not {learner}")
    data = single(dataset.data, NAME)
    K = gram(data.values) if isinstance(data, Features) else np.asarray(data)
    alpha = learner.fit(K, dataset.targets).alpha
    y = dataset.targets.y
    value = document_pair_auc(K, y, dataset.targets.documents, alpha)
    sizes = {"candidates": len(y), "positives": int((y > 0).sum()), "documents": dataset.documents}
    return Report(
        task=pipeline.task.name,
        pipeline=title,
        corpus=corpus,
        procedure=f"{NAME}, the documents of both held out; alpha by leave-document-out",
        settings=config_of(pipeline),
        seed=None,
        counts=counts(dataset),
        folds=[Fold({"auc": value}, chosen={"alpha": alpha}, **sizes)],
        notes=[*dataset.notes, "alpha was chosen on all documents of this corpus."],
    )


def _document_pairs(sized: Sequence[Indices]) -> Iterator[tuple[Indices, Indices]]:
    """All pairs of different documents, in stacks of equal sizes: (b, s), (b, t)."""
    for i, j in combinations_with_replacement(range(len(sized)), 2):
        one, other = sized[i], sized[j]
        if i == j:
            rows, columns = np.triu_indices(len(one), 1)
        else:
            rows, columns = (part.ravel() for part in np.indices((len(one), len(other))))
        step = max(1, PORTION // (one.shape[1] + other.shape[1]) ** 2)
        for start in range(0, len(rows), step):
            chosen = slice(start, start + step)
            yield one[rows[chosen]], other[columns[chosen]]


def _without(G: Matrix, a: Matrix, y: Vector, U: Indices) -> Matrix:  # (b, h) -> (b, h)
    """Scores of stacks of candidates by models that saw none of a stack."""
    return solve_blocks(G[U[:, :, None], U[:, None, :]], a[U], y[U][:, :, None])[:, :, 0]


def _compared(f: Matrix, g: Matrix, y: Matrix, z: Matrix) -> tuple[float, float]:
    """Pairs of a positive on the left and a negative on the right: those won, and all."""
    counted = (y > 0)[:, :, None] & (z <= 0)[:, None, :]
    gap = f[:, :, None] - g[:, None, :]
    gap[np.abs(gap) <= TIE_TOLERANCE * max(np.abs(f).max(), np.abs(g).max())] = 0
    return float(((gap > 0) + 0.5 * (gap == 0))[counted].sum()), float(counted.sum())
