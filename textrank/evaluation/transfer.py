"""Transfer: which other corpora help a target corpus, with which weight, and which documents harm.

RLS is trained on the target and on foreign corpora together; a foreign corpus has a weight ``w``,
the factor of its squared errors (0: not used). Weights are chosen by the exact leave-document-out
scores of the target. A foreign corpus ``f`` is conditioned on as a Gaussian process is: with
``M = (K_ff + alpha / w I)^-1`` the target is learnt with the kernel ``K_tt - K_tf M K_ft`` and the
mean ``K_tf M y_f``, so all weights share one eigendecomposition of ``K_ff``. The corpus that helps
most is added first, then the next, while any helps.

Chosen weights flatter the scores they were chosen by. So effects are measured on folds of target
documents that the choice did not see, with intervals over resampled documents.

Letters in shapes: ``n`` target candidates, ``N`` candidates of all corpora, ``g`` documents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray
from spacy.tokens import Doc

from textrank.candidates import Targets, shares_text
from textrank.evaluation.splits import make_folds
from textrank.evaluation.statistics import Interval
from textrank.features import Features, Indices, Matrix, Vector, require_single_kernel
from textrank.learners.base import SelectionMetric, rows_by_group, score_alphas
from textrank.learners.holdout import heldout_one_alpha, scatter_scores
from textrank.learners.rls import RLS
from textrank.linalg import gram, inverse
from textrank.metrics import auc, best_threshold, choose_first, precision_recall_f, sort_ties
from textrank.pipeline import Pipeline
from textrank.progress import track

WEIGHTS = (0.02, 0.1, 0.3, 1.0)  # of a foreign corpus, besides 0
MIN_GAIN = 1e-3  # of the held-out metric, for a corpus to be used
RESAMPLES = 1000
LEVEL = 0.95
COMBINED = "all chosen"


@dataclass(frozen=True)
class TransferEffect:
    """Effect of foreign data on held-out target documents, whose weights they did not choose.

    Changes are those with the foreign data minus those of the target alone, None if undefined.
    """

    weight: float | None  # chosen on all target documents; None for several corpora
    auc: float | None  # change of AUC
    auc_interval: Interval | None
    f: float | None  # change of F
    f_interval: Interval | None


@dataclass(frozen=True)
class ForeignCorpus:
    """Size of a foreign corpus as it was used, and its effect alone."""

    documents: int
    candidates: int
    overlapping: int  # documents left out because they share text with the target
    sampled_out: int  # documents left out to stay below the largest number of candidates
    alone: TransferEffect
    combined_weight: float  # together with the other corpora; 0: not used


@dataclass(frozen=True)
class HarmfulDocument:
    """A foreign document without which held-out target scores would be better."""

    corpus: str
    document: str
    candidates: int
    squared_error: float  # change of the mean squared held-out error without it; negative
    auc: float | None  # change of AUC without it


@dataclass(frozen=True)
class Transfer:
    """Result of ``transfer_corpora``.

    ``documents`` and ``candidates`` are those of the target that were used, ``sampled_out`` the
    target documents left out to stay below the largest number of candidates.
    """

    target: str
    pipeline: str
    alpha: float
    documents: int
    candidates: int
    sampled_out: int
    auc: float | None  # of the target alone, on the folds
    f: float | None
    combined: TransferEffect
    corpora: Mapping[str, ForeignCorpus]
    harmful: Sequence[HarmfulDocument]  # most harmful first, of corpora with a combined weight

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values by name of the field, nested ones as dicts too."""
        return asdict(self)


def transfer_corpora(
    pipeline: Pipeline,
    target: Sequence[Doc],
    others: Mapping[str, Sequence[Doc]],
    *,
    folds: int = 5,
    max_candidates: int = 1000,
    seed: int = 0,
    name: str = "",
    title: str = "",
) -> Transfer:
    """Choose the weight of each foreign corpus for a target, and measure what it brings.

    Parameters
    ----------
    pipeline
        With one kernel and the learner ``rls.v1``, whose ``alphas`` and ``select`` are used. Alpha
        is chosen on the target alone.
    target
        Annotated documents.
    others
        Annotated documents of foreign corpora by name. Those that share text with the target are
        left out.
    folds
        Folds of target documents by which the effect is measured.
    max_candidates
        Largest number of candidates per corpus; documents beyond it are left out at random.
    seed
        Seed of folds, samples and resamples.
    name, title
        Names of target and pipeline for the result.

    Raises
    ------
    ValueError
        If there is no foreign corpus, all documents of one share text with the target, a corpus has
        no labelled candidates, the target has fewer documents than ``folds``, the learner is not
        RLS, or the pipeline has several kernels.
    """
    if not others:
        raise ValueError("no foreign corpus. Name at least one besides the target.")
    if not isinstance(pipeline.learner, RLS):
        raise ValueError(
            f"transfer needs the learner rls.v1, not {type(pipeline.learner).__name__}. Use "
            "another pipeline, such as ppi-linear."
        )
    kept, sampled_out = _sample_docs(pipeline, target, max_candidates, seed)
    parts: dict[str, list[Doc]] = {}
    lost: dict[str, tuple[int, int]] = {}
    for key, docs in others.items():
        overlaps = shares_text(docs, target)
        distinct = [doc for doc, is_shared in zip(docs, overlaps, strict=True) if not is_shared]
        if not distinct:
            raise ValueError(f"all documents of {key} share text with the target. Leave it out.")
        parts[key], dropped = _sample_docs(pipeline, distinct, max_candidates, seed)
        lost[key] = sum(overlaps), dropped
    problem = _Problem.from_docs(pipeline, kept, parts)
    learner = pipeline.learner
    alpha = problem.choose_alpha(learner)
    rows = np.arange(problem.size)
    choice = problem.choose_weights(rows, alpha, learner.select)
    scored = _score_folds(problem, folds, alpha, learner.select, seed)
    effects = {key: scored.effect(key, choice.alone[key]) for key in parts}
    corpora = {
        key: ForeignCorpus(
            len(parts[key]), len(problem.foreign[key]), *lost[key], effects[key],
            choice.combined.get(key, 0.0),
        )
        for key in parts
    }  # fmt: skip
    return Transfer(
        name, title, alpha, len(kept), problem.size, sampled_out,
        *scored.baseline, scored.effect(COMBINED, None), corpora,
        problem.find_harmful(choice.combined, alpha),
    )  # fmt: skip


def _sample_docs(
    pipeline: Pipeline, docs: Sequence[Doc], limit: int, seed: int
) -> tuple[list[Doc], int]:
    """Return Docs with at most ``limit`` candidates together, and the number left out.

    The order is kept; which are left out is random by ``seed``. Docs without candidates are dropped
    and not counted. If the first Doc drawn exceeds the limit, it is returned alone.
    """
    sizes = np.array([len(pipeline.task.candidates(doc)) for doc in docs])
    used = np.flatnonzero(sizes)
    order = np.random.default_rng(seed).permutation(used)
    kept = np.sort(order[np.cumsum(sizes[order]) <= limit])
    if not len(kept) and len(used):
        kept = order[:1]
    return [docs[i] for i in kept], len(used) - len(kept)


@dataclass(frozen=True, eq=False)
class _Choice:
    """Weights of foreign corpora: of each alone, and of those used together.

    Keys of ``combined`` are the corpora used, in the order in which they were added; their weights
    are above 0.
    """

    alone: Mapping[str, float]  # 0 if a corpus does not help
    combined: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class _Problem:
    """Kernel values of all candidates; those of the target are the first ``size`` rows.

    ``documents`` are ids; rows of a foreign corpus are adjacent.
    """

    K: Matrix  # (N, N)
    y: Vector  # (N,)
    groups: Indices  # (N,) documents that are held out together
    documents: Sequence[str]  # (N,)
    size: int
    foreign: Mapping[str, Indices]  # rows by corpus

    @classmethod
    def from_docs(
        cls, pipeline: Pipeline, target: Sequence[Doc], others: Mapping[str, Sequence[Doc]]
    ) -> _Problem:
        """Represent and compare all candidates together, with one kernel.

        Rows are in the order of target and ``others``; ``K`` is the Gram matrix of all, also for a
        kernel with features. Raises ValueError if the pipeline has several kernels or the documents
        no labelled candidates.
        """
        parts = [list(target), *map(list, others.values())]
        dataset = pipeline.prepare([doc for part in parts for doc in part])
        data = require_single_kernel(dataset.data, "transfer")
        K = np.asarray(gram(data.values)) if isinstance(data, Features) else np.asarray(data)
        counts = [sum(len(pipeline.task.candidates(doc)) for doc in part) for part in parts]
        ends = np.cumsum(counts)
        foreign = {
            key: np.arange(start, end)
            for key, start, end in zip(others, ends[:-1], ends[1:], strict=True)
        }
        names = [candidate.document for candidate in dataset.candidates]
        targets = dataset.targets
        return cls(K, targets.y, targets.groups, names, counts[0], foreign)

    def choose_alpha(self, learner: RLS) -> float:
        """Return the alpha of the best leave-document-out scores of the target alone.

        ``learner`` has the alphas and the metric; every candidate is a query of its own.
        """
        rows = np.arange(self.size)
        K = self.K[np.ix_(rows, rows)]
        return learner.fit(K, Targets(self.y[rows], self.groups[rows], rows)).alpha

    def choose_weights(self, rows: Indices, alpha: float, select: SelectionMetric) -> _Choice:
        """Choose the weights of foreign corpora by leave-document-out scores of some target rows.

        ``select`` is the metric of these scores. ``combined``: greedily, the corpus and weight of
        ``WEIGHTS`` that improve the metric most are added, as long as by at least ``MIN_GAIN``;
        corpora that are not added are missing. ``alone``: the best weight of each corpus by itself,
        0 without such a gain. Of equals the first counts. Both are empty without foreign corpora.
        """
        state = _State.from_problem(self, rows, self.foreign)
        best = state.quality(alpha, select)
        alone: dict[str, float] = {}
        combined: dict[str, float] = {}
        remaining = list(self.foreign)
        while remaining:
            options = {key: state.try_weights(key, alpha, select) for key in remaining}
            if not alone:
                alone = {
                    key: WEIGHTS[choose_first(values)] if values.max() >= best + MIN_GAIN else 0.0
                    for key, values in options.items()
                }
            gains = np.array([options[key].max() for key in remaining])
            key = remaining[choose_first(gains)]
            if gains.max() < best + MIN_GAIN:
                break
            combined[key] = WEIGHTS[choose_first(options[key])]
            state = state.condition(key, combined[key], alpha)
            best = float(gains.max())
            remaining.remove(key)
        return _Choice(alone, combined)

    def find_harmful(
        self, weights: Mapping[str, float], alpha: float
    ) -> tuple[HarmfulDocument, ...]:
        """Return foreign documents that raise the squared held-out error of the target.

        The most harmful comes first. ``weights`` (above 0) are of the corpora used; () without any.
        Documents that share text are one, with their names joined by " + " and the corpus of the
        first. Exact: each pair of a target document and a foreign document is left out together,
        from one inverse ``G``: without the foreign rows ``V`` its blocks are ``G_UU - G_UV G_VV^-1
        G_VU``.
        """
        if not weights:
            return ()
        chosen = np.concatenate([np.arange(self.size), *(self.foreign[key] for key in weights)])
        v = np.ones(len(chosen))
        corpus_of = np.array([""] * self.size + [k for k in weights for _ in self.foreign[k]])
        for key, weight in weights.items():
            v[corpus_of == key] = weight
        G = inverse(self.K[np.ix_(chosen, chosen)], alpha, v)
        y, a = self.y[chosen], G @ self.y[chosen]
        target_groups = rows_by_group(self.groups[: self.size], self.size, name="documents")
        before = _hold_out_without(G, a, y, target_groups, None)
        error, area = _mean_error(y, before), auc(y[: self.size], before)
        harmful = []
        numbers = self.groups[chosen]
        for number in np.unique(numbers[self.size :]):
            rows = self.size + np.flatnonzero(numbers[self.size :] == number)
            after = _hold_out_without(G, a, y, target_groups, rows)
            change = _mean_error(y, after) - error
            if change < 0:
                names = dict.fromkeys(self.documents[chosen[row]] for row in rows)
                new_area = auc(y[: self.size], after)
                area_change = None if area is None or new_area is None else new_area - area
                harmful.append(
                    HarmfulDocument(
                        str(corpus_of[rows[0]]), " + ".join(names), len(rows), change, area_change
                    )
                )
        return tuple(sorted(harmful, key=lambda document: document.squared_error))


def _mean_error(y: Vector, scores: Vector) -> float:
    """Return the mean squared error of scores (n,) against the first n labels of ``y``."""
    return float(np.mean((y[: len(scores)] - scores) ** 2))


def _hold_out_without(
    G: Matrix, a: Vector, y: Vector, groups: Sequence[Indices], rows: Indices | None
) -> Vector:
    """Return the score (n,) of each row of ``groups`` by a model without its group and ``rows``.

    ``G`` (N, N) is the regularised inverse, ``y`` (N,) are the labels and ``a = G y`` the
    coefficients. ``groups`` cover the first n rows, once each; ``rows`` are others; None leaves out
    the group alone.
    """
    scores = np.empty(sum(map(len, groups)))
    size = len(scores)
    if rows is None:
        between = np.empty((size, 0))
        solved, rest = np.empty((0, size)), a[:size]
    else:
        between = G[:size, rows]
        factor = sla.cho_factor(G[np.ix_(rows, rows)])
        solved = sla.cho_solve(factor, between.T)
        rest = a[:size] - between @ sla.cho_solve(factor, a[rows])
    for group in groups:
        block = G[np.ix_(group, group)] - between[group] @ solved[:, group]
        scores[group] = y[group] - np.linalg.solve(block, rest[group])
    return scores


@dataclass(frozen=True, eq=False)
class _State:
    """Target rows and the remaining foreign ones, given the corpora used so far.

    Target rows are the first of m; rows of corpora that were used stay, but are in ``foreign`` no
    longer.
    """

    K: Matrix  # (m, m) kernel values given what was used
    mean: Vector  # (m,) expected label given what was used
    y: Vector  # (m,)
    targets: Targets  # of the first rows
    foreign: Mapping[str, Indices]  # rows

    @classmethod
    def from_problem(cls, problem: _Problem, rows: Indices, keys: Collection[str]) -> _State:
        """Begin with target ``rows``, in this order, and those of the corpora ``keys``.

        Nothing is used yet; rows of other corpora are left out.
        """
        parts = {key: problem.foreign[key] for key in keys}
        chosen = np.concatenate([rows, *parts.values()])
        starts = np.cumsum([len(rows), *map(len, parts.values())])
        foreign = {
            key: start + np.arange(len(part))
            for (key, part), start in zip(parts.items(), starts[:-1].tolist(), strict=True)
        }
        targets = Targets(problem.y[rows], problem.groups[rows], rows)
        K = problem.K[np.ix_(chosen, chosen)]
        return cls(K, np.zeros(len(chosen)), problem.y[chosen], targets, foreign)

    def quality(self, alpha: float, select: SelectionMetric) -> float:
        """Return the leave-document-out metric of the target with what was used so far.

        ``select`` is the metric; higher is better.
        """
        n = len(self.targets)
        return self._score(self.K[:n, :n], self.mean[:n], alpha, select)

    def _score(self, K: Matrix, mean: Vector, alpha: float, select: SelectionMetric) -> float:
        """Return the metric of leave-document-out scores with a kernel (n, n) and a mean (n,).

        They replace those of the target rows in this state.
        """
        y = self.targets.y
        groups = rows_by_group(self.targets.groups, len(y), name="documents")
        G, residuals = inverse((K + K.T) / 2, alpha), (y - mean)[:, None]
        held = heldout_one_alpha(G, residuals, G @ residuals, groups)
        scores = scatter_scores(held, np.empty((1, len(y), 1)))[0, :, 0] + mean
        return float(score_alphas(scores[None], self.targets, select)[0])

    def try_weights(self, key: str, alpha: float, select: SelectionMetric) -> Vector:
        """Return the metric of the target with a corpus added, for each of ``WEIGHTS``, in order.

        Scores are leave-document-out ones of the target, at ``alpha``. ``key`` is a corpus that is
        not used yet. The state is not changed.
        """
        n, rows = len(self.targets), self.foreign[key]
        s, U = np.linalg.eigh(self.K[np.ix_(rows, rows)])
        P = self.K[:n, rows] @ U
        residuals = U.T @ (self.y[rows] - self.mean[rows])
        values = []
        for weight in WEIGHTS:
            d = 1.0 / (s.clip(min=0) + alpha / weight)
            K = self.K[:n, :n] - (P * d) @ P.T
            values.append(self._score(K, self.mean[:n] + P @ (d * residuals), alpha, select))
        return np.array(values)

    def condition(self, key: str, weight: float, alpha: float) -> _State:
        """Return a new state in which a corpus is used, with a weight above 0.

        Kernel and mean become those of a Gaussian process after seeing the corpus with noise
        ``alpha / weight``. ``key`` must not be used yet, and is removed from ``foreign``. This
        state is not changed.
        """
        rows = self.foreign[key]
        M = self.K[np.ix_(rows, rows)] + alpha / weight * np.eye(len(rows))
        factor = sla.cho_factor((M + M.T) / 2)
        cross = self.K[:, rows]
        K = self.K - cross @ sla.cho_solve(factor, cross.T)
        mean = self.mean + cross @ sla.cho_solve(factor, self.y[rows] - self.mean[rows])
        foreign = {other: index for other, index in self.foreign.items() if other != key}
        return _State((K + K.T) / 2, mean, self.y, self.targets, foreign)

    def threshold_and_scores(
        self, alpha: float, K_new: Matrix, mean_new: Vector
    ) -> tuple[float, Vector]:
        """Return the best threshold on held-out target scores, and scores (m,) of new rows.

        ``K_new`` (m, n) are kernel values of new rows with the target rows and ``mean_new`` (m,)
        their mean, both given what was used. The threshold is that of the best F1; 0 if there is
        none.
        """
        n = len(self.targets)
        y, mean = self.targets.y, self.mean[:n]
        groups = rows_by_group(self.targets.groups, n, name="documents")
        G, residuals = inverse(self.K[:n, :n], alpha), (y - mean)[:, None]
        a = G @ residuals
        held = scatter_scores(heldout_one_alpha(G, residuals, a, groups), np.empty((1, n, 1)))[
            0, :, 0
        ]
        threshold = best_threshold(y, held + mean)
        return 0.0 if threshold is None else threshold, mean_new + K_new @ a[:, 0]


@dataclass(frozen=True, eq=False)
class _FoldScores:
    """Scores and decisions of held-out target rows, by what was used.

    Keys are "" (the target alone), the names of foreign corpora and ``COMBINED``; ``seed`` is that
    of the resampled documents.
    """

    y: Vector  # (n,)
    groups: Indices  # (n,)
    scores: Mapping[str, Vector]  # "" for the target alone
    decisions: Mapping[str, NDArray[np.bool_]]
    seed: int

    @property
    def baseline(self) -> tuple[float | None, float | None]:
        """AUC and F of the target alone, pooled over folds; None where undefined."""
        return auc(self.y, self.scores[""]), precision_recall_f(self.y, self.decisions[""]).f

    def effect(self, key: str, weight: float | None) -> TransferEffect:
        """Return the changes of AUC and F by what ``key`` names, with intervals over documents.

        ``key`` is a corpus or ``COMBINED``; changes are against the target alone. ``weight`` is
        only stored in the result.
        """
        numbers = np.unique(self.groups, return_inverse=True)[1]
        size = int(numbers.max()) + 1
        rng = np.random.default_rng(self.seed)
        draws = rng.multinomial(size, np.full(size, 1 / size), RESAMPLES)[:, numbers].astype(float)
        areas = self._change(_weighted_aucs, self.scores, key, draws)
        fs = self._change(_weighted_fs, self.decisions, key, draws)
        return TransferEffect(weight, *areas, *fs)

    def _change(
        self,
        metric: Callable[[Vector, Any, Matrix], Vector],
        values: Mapping[str, Any],
        key: str,
        draws: Matrix,
    ) -> tuple[float | None, Interval | None]:
        """Return the change of a metric by what ``key`` names, and its interval over draws.

        The change is the metric of ``values[key]`` minus that of ``values[""]``, the target alone.
        ``values`` are the scores or decisions by key that ``metric`` takes after the labels;
        ``draws`` (r, n) are how often each row counts in each of r resamples. Each result is None
        if it is undefined; the interval is so only if no draw has a defined change.
        """
        once = np.ones((1, len(self.y)))
        whole = float((metric(self.y, values[key], once) - metric(self.y, values[""], once))[0])
        spread = metric(self.y, values[key], draws) - metric(self.y, values[""], draws)
        return None if np.isnan(whole) else whole, _interval(spread)


def _interval(values: Vector) -> Interval | None:
    """Return the interval of the central share ``LEVEL`` of the defined changes; None without any.

    NaN marks an undefined one.
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), LEVEL)


def _weighted_aucs(y: Vector, scores: Vector, weights: Matrix) -> Vector:  # (r,)
    """Return the AUC (r,) of scores (n,) with each row of weights (r, n); NaN if undefined.

    Ties count one half, as in ``metrics.auc``.
    """
    order, starts = sort_ties(scores)
    w, is_positive = weights[:, order], y[order] > 0
    positives = np.add.reduceat(w * is_positive, starts, axis=1)  # of each group of tied scores
    negatives = np.add.reduceat(w * ~is_positive, starts, axis=1)
    negatives_below = np.cumsum(negatives, axis=1) - negatives
    area = (positives * (negatives_below + negatives / 2)).sum(axis=1)
    total = positives.sum(axis=1) * negatives.sum(axis=1)
    return np.divide(area, total, out=np.full(len(w), np.nan), where=total > 0)


def _weighted_fs(y: Vector, decisions: NDArray[np.bool_], weights: Matrix) -> Vector:  # (r,)
    """Return F (r,) of decisions (n,) with each row of weights (r, n); NaN if undefined.

    Labels ``y`` are positive where greater than 0. Undefined is F without positives and answers of
    yes.
    """
    positive = y > 0
    right = 2 * (weights * (positive & decisions)).sum(axis=1)
    total = (weights * positive).sum(axis=1) + (weights * decisions).sum(axis=1)
    return np.divide(right, total, out=np.full(len(weights), np.nan), where=total > 0)


def _score_folds(
    problem: _Problem, folds: int, alpha: float, select: SelectionMetric, seed: int
) -> _FoldScores:
    """Score each fold of target documents by models whose weights were chosen on the others.

    Alpha is given, and the same in all folds; each fold has a threshold of its own for each key,
    chosen on held-out scores of the other folds. A corpus without a weight in a fold has the scores
    of the target alone there. Raises ValueError if there are fewer documents than ``folds``.
    """
    n = problem.size
    fold = make_folds([str(group) for group in problem.groups[:n]], folds, seed=seed)
    keys = ["", *problem.foreign, COMBINED]
    scores = {key: np.empty(n) for key in keys}
    decisions = {key: np.empty(n, dtype=bool) for key in keys}
    for number in track(range(folds), "folds", folds):
        test, train = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        choice = problem.choose_weights(train, alpha, select)
        used = {"": {}, **{key: {key: w} for key, w in choice.alone.items() if w}}
        used[COMBINED] = dict(choice.combined)
        for key in keys:
            threshold, test_scores = _score_fold(problem, train, test, used.get(key, {}), alpha)
            scores[key][test], decisions[key][test] = test_scores, test_scores >= threshold
    return _FoldScores(problem.y[:n], problem.groups[:n], scores, decisions, seed)


def _score_fold(
    problem: _Problem, train: Indices, test: Indices, weights: Mapping[str, float], alpha: float
) -> tuple[float, Vector]:
    """Return threshold and scores of ``test`` rows by ``train`` rows and weighted corpora.

    ``weights``, above 0, are by corpus; {} uses the target alone. The threshold is chosen on the
    held-out scores of ``train``.
    """
    state = _State.from_problem(problem, np.concatenate([train, test]), weights)
    for key, weight in weights.items():
        state = state.condition(key, weight, alpha)
    n, rows = len(train), np.arange(len(train) + len(test))
    inner = _State(state.K[:n, :n], state.mean[:n], state.y[:n], state.targets.take(rows[:n]), {})
    return inner.threshold_and_scores(alpha, state.K[n : len(rows), :n], state.mean[n : len(rows)])
