"""Audit of a corpus: which gold labels are doubtful, and how many are probably wrong.

Every candidate is scored by a model that was trained without its document (closed form, one
decomposition for the whole corpus). ``audit_corpus`` turns these scores into the probability that
each gold label is wrong and ranks the labels by it. ``estimate_error_rate`` estimates the share of
wrong labels by confident learning (Northcutt, Jiang and Chuang 2021, JAIR 70:1373-1411), with an
interval from resampled documents.

A doubt is a reason to read the sentence again, no proof: a model can be wrong where the annotators
were right. Rankings have no probabilities; there a doubt is the share of a query's other candidates
that the scores order against the labels, weighted by the difference of the labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from spacy.tokens import Doc

from textrank.candidates import Targets
from textrank.evaluation.cross_validation import count_dataset, make_decisions
from textrank.evaluation.report import Counts, Decision
from textrank.evaluation.splits import make_folds
from textrank.evaluation.statistics import Interval
from textrank.features import Indices, Vector
from textrank.learners.base import rows_by_group
from textrank.learners.calibration import fit_calibration
from textrank.learners.selection import fit_best_kernel
from textrank.metrics import merge_ties
from textrank.pipeline import Dataset, Pipeline, require_two_labels

CALIBRATION_FOLDS = 5
RESAMPLES = 1000
LEVEL = 0.95
ANNOTATOR_KEY = "annotator"  # key of doc.user_data that names who labelled a document


@dataclass(frozen=True)
class Doubt:
    """A gold label and the probability that it is wrong.

    For rankings, ``probability`` is the weighted share of ``doubt_labels`` instead.
    """

    rank: int  # from 1, the most doubtful label first
    row: int  # number of the candidate in the corpus
    probability: float  # that the label is wrong; for a ranking the share ordered against it
    decision: Decision  # candidate, label and held-out score in plain values
    question: str = ""  # kind of the candidate, where a task has several
    answer: str = ""
    annotator: str = ""  # who labelled the document; empty if the corpus does not say

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values under their names, those of ``decision`` beside them.

        The key ``decision`` is then the candidate's answer at its threshold, None without one.
        """
        row = {key: value for key, value in asdict(self).items() if key != "decision"}
        return {**row, **self.decision.to_dict()}


@dataclass(frozen=True)
class LabelShare:
    """A share of labels, with its interval over resampled documents.

    Documents that share text are one here.
    """

    candidates: int  # labels it is a share of
    share: float
    interval: Interval | None  # None for a single document


@dataclass(frozen=True)
class CorpusAudit:
    """Result of ``audit_corpus``: doubts in descending order, and rates by part of the corpus.

    Every label has a Doubt. ``error_rate`` is an estimate of wrong labels (confident learning); the
    rates by part count labels whose doubt is above one half.
    """

    task: str
    corpus: str
    pipeline: str
    counts: Counts
    alpha: float  # regularisation of the models, chosen by the same held-out scores
    doubts: Sequence[Doubt]
    # Estimated share of wrong labels; None if the labels are not exactly yes and no.
    error_rate: LabelShare | None = None
    # Share of labels more probably wrong than right, highest first; empty for rankings.
    by_document: Mapping[str, LabelShare] = field(default_factory=dict)
    by_kind: Mapping[str, LabelShare] = field(default_factory=dict)  # question, answer, gold label
    by_annotator: Mapping[str, LabelShare] = field(default_factory=dict)  # if the corpus names them

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values under the names of the fields.

        Rates, under ``error_rate`` (or None) and by key under ``by_document``, ``by_kind`` and
        ``by_annotator``, have the keys ``candidates``, ``share`` and ``interval``. ``doubts`` is a
        list of dicts, most doubtful first, as ``Doubt.to_dict`` returns them.
        """
        values = {key: getattr(self, key) for key in ("task", "corpus", "pipeline", "alpha")}
        rates = {
            name: {key: asdict(rate) for key, rate in getattr(self, name).items()}
            for name in ("by_document", "by_kind", "by_annotator")
        }
        return {
            **values,
            "counts": asdict(self.counts),
            "error_rate": None if self.error_rate is None else asdict(self.error_rate),
            **rates,
            "doubts": [doubt.to_dict() for doubt in self.doubts],
        }


def audit_corpus(
    pipeline: Pipeline,
    docs: Iterable[Doc],
    *,
    seed: int = 0,
    corpus: str = "",
    title: str = "",
) -> CorpusAudit:
    """Score every gold label by a model that never saw its document, and rank the doubtful ones.

    Every label is listed, the most doubtful first, equally doubtful ones in corpus order.

    Parameters
    ----------
    docs
        Annotated documents, analysed as the pipeline's task needs. Documents that share text are
        held out together.
    seed
        Seed of the folds of the calibration and of the resampled documents.
    corpus, title
        Names of corpus and pipeline for the result.

    Raises
    ------
    ValueError
        If there are no candidates, one has no label, or all labels are equal.
    """
    return audit_dataset(
        pipeline, pipeline.prepare(list(docs)), seed=seed, corpus=corpus, title=title
    )


def audit_dataset(
    pipeline: Pipeline, dataset: Dataset, *, seed: int = 0, corpus: str = "", title: str = ""
) -> CorpusAudit:
    """Rank all gold labels of a dataset that ``pipeline.prepare`` returned, most doubtful first.

    Every label gets a Doubt by a model that never saw its document; equally doubtful ones stay in
    order. Kernel, if there are several, and alpha are chosen by the same held-out scores. Rates are
    computed only if the labels are exactly -1 and 1: of all, by document id, by kind
    (``describe_kind``), and by annotator only if a document names one (the others have "").
    Decisions have no threshold. ``seed`` draws calibration folds and resampled documents;
    ``corpus`` and ``title`` (of the pipeline) are names for the result. Raises ValueError if all
    labels are equal.
    """
    targets = dataset.targets
    require_two_labels(targets.y)
    _, fit = fit_best_kernel(pipeline.learner, dataset.data, targets)
    scores = fit.heldout[fit.alpha_index]
    wrong = doubt_labels(scores, targets, seed=seed)
    candidates = dataset.candidates
    annotators = [str(c.doc.user_data.get(ANNOTATOR_KEY, "")) for c in candidates]
    decisions = list(make_decisions(candidates, scores, None))
    order = np.argsort(-merge_ties(wrong), kind="stable")
    doubts = [
        Doubt(
            rank,
            row,
            float(wrong[row]),
            decisions[row],
            candidates[row].question,
            candidates[row].answer,
            annotators[row],
        )
        for rank, row in enumerate(order.tolist(), 1)
    ]
    audit = CorpusAudit(
        pipeline.task.name, corpus, title, count_dataset(dataset), fit.alpha, doubts
    )
    if not is_yes_or_no(targets.y):
        return audit
    shares = _Resampler(targets, wrong, seed)
    kinds = [describe_kind(c.label_key, c.label) for c in candidates]
    return replace(
        audit,
        error_rate=shares.error_rate(),
        by_document=shares.doubtful_shares([c.document for c in candidates]),
        by_kind=shares.doubtful_shares(kinds),
        by_annotator=shares.doubtful_shares(annotators) if any(annotators) else {},
    )


def is_yes_or_no(y: Vector) -> bool:
    """Return whether the labels are exactly -1 and 1, both of which occur."""
    return set(np.unique(y)) == {-1.0, 1.0}


def doubt_labels(scores: Vector, targets: Targets, *, seed: int = 0) -> Vector:
    """Return for each candidate how probably its gold label is wrong, (n,), in [0, 1].

    ``scores`` (n,) are held-out scores. If the labels are -1 and 1, they become probabilities by a
    logistic curve that was fitted on other documents (``CALIBRATION_FOLDS`` folds drawn with
    ``seed``); the doubt is the probability of the other label. Where no curve can be fitted, every
    probability is the share of positives among all candidates. For other labels, the doubt is the
    weighted share of the query's candidates that the scores order against the labels; 0 in a query
    with equal labels.
    """
    y = targets.y
    if not is_yes_or_no(y):
        return _doubt_ranks(scores, targets)
    probability = np.empty(len(y))
    for test, train in _calibration_splits(y, targets.groups, seed):
        curve = fit_calibration(scores[train], y[train])
        probability[test] = np.mean(y > 0) if curve is None else curve(scores[test])
    return np.where(y > 0, 1.0 - probability, probability)


def estimate_error_rate(wrong: Vector, y: Vector, weights: Vector | None = None) -> float:
    """Return the estimated share of wrong labels by confident learning.

    A candidate is counted as wrongly labelled if the probability of the other label reaches the
    mean probability of that label among the candidates that have it, and as rightly labelled if
    that of its own label does; where both do, the likelier one counts (of equals its own), where
    neither does, the candidate is not counted. The count of each label is scaled to the number of
    candidates with that label.

    Parameters
    ----------
    wrong
        (n,) probabilities that the label is wrong, as ``doubt_labels`` returns.
    y
        (n,) labels, -1 and 1.
    weights
        (n,) how often each candidate counts; None counts each once.

    Returns
    -------
    share : float
        0 if only one label occurs.
    """
    w = np.ones(len(y)) if weights is None else weights
    positive = y > 0
    sizes = np.array([w[~positive].sum(), w[positive].sum()])
    if not sizes.all():
        return 0.0
    # Mean probability of each label among the candidates that carry it.
    right = 1.0 - wrong
    levels = np.array([(w * right)[~positive].sum(), (w * right)[positive].sum()]) / sizes
    is_other = wrong >= np.where(positive, levels[0], levels[1])
    is_given = right >= np.where(positive, levels[1], levels[0])
    # Where both are reached, the likelier label counts.
    is_other &= ~is_given | (wrong > right)
    is_given &= ~is_other
    share = 0.0
    for mask, size in ((~positive, sizes[0]), (positive, sizes[1])):
        other, given = (w * is_other)[mask].sum(), (w * is_given)[mask].sum()
        if other + given > 0:
            share += size * other / (other + given)
    return float(share / sizes.sum())


@dataclass(frozen=True, eq=False)
class _Resampler:
    """Intervals over documents of shares among n labelled candidates.

    Documents are ``targets.groups``, numbered from 0 without gaps; the labels are -1 and 1. The
    same ``seed`` draws the same documents each time.
    """

    targets: Targets
    wrong: Vector  # (n,) probability that each label is wrong
    seed: int

    def error_rate(self) -> LabelShare:
        """Return the estimated share of wrong labels in the whole corpus (``estimate_error_rate``).

        The interval, at ``LEVEL``, is over ``RESAMPLES`` resampled groups of documents; None for
        one.
        """
        y, groups = self.targets.y, self.targets.groups
        share = estimate_error_rate(self.wrong, y)
        shares = [
            estimate_error_rate(self.wrong, y, draw[groups].astype(float))
            for draw in self._draws(int(groups.max()) + 1)
        ]
        return LabelShare(len(y), share, _interval(shares))

    def doubtful_shares(self, keys: Sequence[str]) -> dict[str, LabelShare]:
        """Return for each key the share of its labels that are more probably wrong than right.

        ``keys`` has one entry per candidate. The highest share comes first, then by key. Intervals
        resample the documents that have the key.
        """
        rows_of: dict[str, list[int]] = {}
        for row, key in enumerate(keys):
            rows_of.setdefault(key, []).append(row)
        shares = {key: self._doubtful_share(np.array(rows)) for key, rows in rows_of.items()}
        return dict(sorted(shares.items(), key=lambda item: (-item[1].share, item[0])))

    def _doubtful_share(self, rows: Indices) -> LabelShare:
        """Return the share of doubts above one half among ``rows``, not empty, with its interval.

        The groups of these rows are resampled; the interval is None if there is only one.
        """
        is_doubtful = self.wrong[rows] > 0.5
        _, group = np.unique(self.targets.groups[rows], return_inverse=True)
        draws = self._draws(int(group.max()) + 1)
        tops = draws @ np.bincount(group, weights=is_doubtful)
        bottoms = draws @ np.bincount(group)
        return LabelShare(len(rows), float(is_doubtful.mean()), _interval(tops / bottoms))

    def _draws(self, groups: int) -> Indices:
        """Return how often each group is drawn in each resample, (RESAMPLES, groups).

        There are no resamples, (0, groups), for a single group.
        """
        resamples = RESAMPLES if groups > 1 else 0
        rng = np.random.default_rng(self.seed)
        return rng.multinomial(groups, np.full(groups, 1 / groups), resamples)


def _interval(shares: Sequence[float] | Vector) -> Interval | None:
    """Return the interval of the central share ``LEVEL`` of resampled shares; None without any."""
    if not len(shares):
        return None
    low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), LEVEL)


def _calibration_splits(y: Vector, groups: Indices, seed: int) -> Iterable[tuple[Indices, Indices]]:
    """Yield test and training rows of folds by group, of which at most ``CALIBRATION_FOLDS``.

    Fewer groups give as many folds as groups. With a single group all rows are tested on
    themselves.
    """
    number = len(np.unique(groups))
    if number < 2:
        rows = np.arange(len(y))
        yield rows, rows
        return
    folds = make_folds([str(group) for group in groups], min(CALIBRATION_FOLDS, number), seed)
    for fold in np.unique(folds):
        yield np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)


def _doubt_ranks(scores: Vector, targets: Targets) -> Vector:
    """Return the weighted share of pairs of each candidate that scores order against labels, (n,).

    Pairs are those of one query with different labels, weighted by the difference; scores tied
    within round-off count one half. Candidates without such a pair get 0.
    """
    doubts = np.zeros(len(scores))
    scores = merge_ties(scores)
    for rows in rows_by_group(targets.queries, len(scores), name="queries"):
        dy = targets.y[rows][:, None] - targets.y[rows]
        df = np.sign(scores[rows][:, None] - scores[rows])
        against = np.abs(dy) * (1.0 - np.sign(dy) * df) / 2.0
        total = np.abs(dy).sum(axis=1)
        doubts[rows] = np.divide(
            against.sum(axis=1), total, out=np.zeros(len(rows)), where=total > 0
        )
    return doubts


def describe_kind(label_key: str, label: float | None) -> str:
    """Return the kind of a candidate: its gold label, after question and answer if it has them.

    ``label_key`` joins question and answer, "" without them. The label is "yes" if greater than 0;
    "no" also if it is None.
    """
    gold = "yes" if label is not None and label > 0 else "no"
    return f"{label_key}: {gold}" if label_key else gold
