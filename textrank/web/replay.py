"""Replay of an annotation: how fast a model would have learnt from chosen and random questions.

``replay_corpus`` takes an annotated corpus and answers questions with its gold labels. Documents
are split into folds; questions come from all folds but one, which is scored after every few
answers. So it measures, for any pipeline and corpus, how many answers active learning saves against
random order, how good the forecasts of ``textrank curate`` are, and when they say to stop.

Yes-or-no questions and choices use the ``ActiveLearner`` of the page. Rankings are asked query by
query: an answer gives the labels of all its candidates, ``UpdatableRankRLS`` learns it exactly, and
the query with the largest variance is asked next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from spacy.tokens import Doc

from textrank.candidates import Targets
from textrank.evaluation.splits import make_folds
from textrank.evaluation.sweep import MIN_FORECAST_POINTS, Forecast, forecast_curve
from textrank.features import Features, Indices, Matrix, Vector, require_single_kernel, take_rows
from textrank.learners.base import concordance, rows_by_group
from textrank.learners.online import OnlineRLS, UpdatableRankRLS
from textrank.learners.rankrls import QueryCentring, RankRLS
from textrank.linalg import gram
from textrank.metrics import argmax_first, auc, precision_recall_f
from textrank.pipeline import Dataset, Pipeline
from textrank.progress import track
from textrank.web.active_learner import (
    CHOICE_PREFIX,
    MIN_GAIN,
    NO,
    UNSURE,
    YES,
    ActiveLearner,
    FeatureRows,
    KernelRows,
    Question,
    build_questions,
    select_alphas,
    with_single_kernel,
)

AHEAD = (20, 50)  # further answers that are forecast
MAX_SHORTLIST_QUERIES = 50  # queries whose variance is computed before one is asked
CHOSEN = "chosen"


@dataclass(frozen=True)
class ReplayPoint:
    """Quality on held-out documents after a number of answers."""

    answers: int
    value: float  # F, or the share of rightly ordered pairs of a ranking
    auc: float | None  # mean over folds; None for rankings
    shown: float | None  # mean of what the page would show: F on the answers, documents held out


@dataclass(frozen=True)
class ForecastCheck:
    """Forecast that was made after ``answers`` answers, and the value that was measured later."""

    answers: int
    forecast: Forecast
    actual: float
    last: float  # the last value that was known, which is the forecast of no change


@dataclass(frozen=True)
class ForecastErrors:
    """Summary of forecasts of one distance."""

    ahead: int
    forecasts: int
    error: float  # mean absolute error
    no_change_error: float  # of forecasting the last value
    covered: float  # share of 90 % intervals that held what was measured


@dataclass(frozen=True)
class Replay:
    """Result of ``replay_corpus``: curves by order of the questions."""

    task: str
    corpus: str
    pipeline: str
    metric: str  # "F" or "concordance"
    folds: int
    questions: int
    curves: Mapping[str, Sequence[ReplayPoint]]  # "chosen", then "random 0", ...
    forecasts: Sequence[Forecast] = ()  # at the end of "chosen"
    compared: int | None = None  # random answers to compare with; None: the last point

    @property
    def random_means(self) -> dict[int, float]:
        """Mean value of the random orders by number of answers.

        Each mean is over the curves that have a point there; {} without random orders.
        """
        values: dict[int, list[float]] = {}
        for name, points in self.curves.items():
            for point in points if name != CHOSEN else ():
                values.setdefault(point.answers, []).append(point.value)
        return {answers: float(np.mean(point_values)) for answers, point_values in values.items()}

    @property
    def compared_answers(self) -> int:
        """Number of random answers that chosen ones are compared with.

        It is the last point at or before ``compared``, or the last of all if that is None; if all
        points come later, it is the first. Raises ValueError without random orders.
        """
        means = self.random_means
        return max((n for n in means if n <= (self.compared or max(means))), default=min(means))

    def answers_needed(self) -> tuple[float, int | None, int | None]:
        """Return the mean of random orders after ``compared_answers``, and when chosen reach it.

        The second value is the first number of chosen answers that reach it, the third the one from
        which the curve never falls below again; each is None if there is none. ValueError without
        random orders.
        """
        means = self.random_means
        target = means[self.compared_answers]
        points = self.curves[CHOSEN]
        reached = [point.answers for point in points if point.value >= target]
        below = [point.answers for point in points if point.value < target]
        after = [n for n in reached if n > max(below, default=0)]
        return target, min(reached, default=None), min(after, default=None)

    def check_forecasts(self, *, shown: bool = False) -> list[ForecastCheck]:
        """Return the forecasts that could have been made along the chosen order, with the outcome.

        With ``shown`` the value that the page would show is forecast, instead of the value on
        held-out documents. A forecast is made at each point from the ``MIN_FORECAST_POINTS``-th on,
        for each distance of ``AHEAD``; those for which nothing was measured later are left out.
        """
        points = [
            (point.answers, point.shown if shown else point.value) for point in self.curves[CHOSEN]
        ]
        measured = {n: value for n, value in points if value is not None}
        checks = []
        for size in range(MIN_FORECAST_POINTS, len(measured) + 1):
            answers, values = list(measured)[:size], list(measured.values())[:size]
            for forecast in forecast_curve(answers, values, AHEAD):
                target = answers[-1] + forecast.ahead
                if target in measured:
                    checks.append(
                        ForecastCheck(answers[-1], forecast, measured[target], values[-1])
                    )
        return checks

    def forecast_errors(self, *, shown: bool = False) -> list[ForecastErrors]:
        """Return a summary of ``check_forecasts`` for each distance of ``AHEAD``.

        It has the mean absolute error, that of forecasting no change, and the share of intervals
        that contained the outcome. Distances without any forecast are left out; ``shown`` is as in
        ``check_forecasts``.
        """
        checks = self.check_forecasts(shown=shown)
        errors = []
        for ahead in AHEAD:
            chosen = [check for check in checks if check.forecast.ahead == ahead]
            if chosen:
                misses = [abs(check.forecast.value - check.actual) for check in chosen]
                naive = [abs(check.last - check.actual) for check in chosen]
                inside = [c.forecast.low <= c.actual <= c.forecast.high for c in chosen]
                means = (float(np.mean(numbers)) for numbers in (misses, naive, inside))
                errors.append(ForecastErrors(ahead, len(chosen), *means))
        return errors

    def stop(self) -> ReplayPoint | None:
        """Return the first point of the chosen order where the forecast says to stop.

        There, 50 more answers are expected to add less than ``MIN_GAIN`` even at the upper end of
        the interval. Forecasts begin at ``MIN_FORECAST_POINTS`` points. None if there is no such
        point.
        """
        points = self.curves[CHOSEN]
        for size in range(MIN_FORECAST_POINTS, len(points) + 1):
            earlier = points[:size]
            (forecast,) = forecast_curve(
                [point.answers for point in earlier], [point.value for point in earlier], AHEAD[-1:]
            )
            if forecast.gain_high < MIN_GAIN:
                return points[size - 1]
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, including values derived from the curves.

        Keys are the fields, except ``compared``, and ``random_mean`` (``random_means`` with its
        keys as text), ``needed`` (``random_answers``, ``value``, ``first`` and ``stays``, see
        ``answers_needed``), ``forecast_checks``, ``forecast_errors``, ``shown_forecast_errors``,
        and ``stop`` (a point or None). Raises ValueError without random orders.
        """
        target, first, stays = self.answers_needed()
        stop = self.stop()
        names = ("task", "corpus", "pipeline", "metric", "folds", "questions")
        return {
            **{name: getattr(self, name) for name in names},
            "curves": {name: [asdict(p) for p in points] for name, points in self.curves.items()},
            "random_mean": {str(n): value for n, value in self.random_means.items()},
            "needed": {
                "random_answers": self.compared_answers,
                "value": target,
                "first": first,
                "stays": stays,
            },
            "forecasts": [asdict(forecast) for forecast in self.forecasts],
            "forecast_checks": [asdict(check) for check in self.check_forecasts()],
            "forecast_errors": [asdict(error) for error in self.forecast_errors()],
            "shown_forecast_errors": [asdict(e) for e in self.forecast_errors(shown=True)],
            "stop": None if stop is None else asdict(stop),
        }


def replay_corpus(
    pipeline: Pipeline,
    docs: Sequence[Doc],
    *,
    answers: int = 200,
    folds: int = 3,
    orders: int = 3,
    step: int = 10,
    compared: int | None = None,
    seed: int = 0,
    corpus: str = "",
    title: str = "",
) -> Replay:
    """Answer the questions of an annotated corpus with its gold labels, in several orders.

    Parameters
    ----------
    pipeline
        Pipeline whose task has the questions; of several kernels to choose from the first is used.
    docs
        Annotated documents. Documents that share text are in the same fold.
    answers
        Largest number of answers. A curve ends earlier if a fold has fewer questions.
    folds
        Number of folds; each is held out once.
    orders
        Number of random orders to compare with.
    step
        Answers between two points of a curve.
    compared
        Random answers whose quality chosen ones should reach; None compares with the last.
    seed
        Seed of folds and of random orders.
    corpus, title
        Names of corpus and pipeline for the result.

    Raises
    ------
    ValueError
        If the corpus has no labelled candidates, fewer documents than folds, candidates that are
        only compared with one another, or fewer than ``step`` questions in a training part.
    """
    pipeline = with_single_kernel(pipeline)
    dataset = pipeline.prepare(docs)
    if dataset.kernel is not None:
        pipeline = replace(pipeline, kernel=dataset.kernel)
    targets = dataset.targets
    if targets.preferences is not None:
        raise ValueError(
            "candidates that are only compared with one another cannot be replayed. Give labels."
        )
    fold = make_folds([str(group) for group in targets.groups], folds, seed=seed)
    make: Callable[[Indices, Indices], _Simulation]
    is_ranking = pipeline.task.is_ranking
    if is_ranking:
        data = require_single_kernel(dataset.data, "a replay")
        make = lambda inside, outside: _RankingSimulation(  # noqa: E731
            pipeline, data, targets, inside, outside
        )
    else:
        make = lambda inside, outside: _AnswerSimulation(  # noqa: E731
            pipeline, dataset, inside, outside
        )
    curves: dict[str, list[ReplayPoint]] = {}
    names = [CHOSEN, *(f"random {number}" for number in range(orders))]
    questions = 0
    for number, name in enumerate(track(names, "orders of questions", len(names))):
        parts = []
        for held_out in range(folds):
            simulation = make(np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out))
            rng = None if name == CHOSEN else np.random.default_rng([seed, number, held_out])
            parts.append(_run(simulation, answers, step, rng))
            questions = max(questions, simulation.question_count)
        curves[name] = _pool(parts, is_ranking)
    if not all(curves.values()):
        raise ValueError(
            f"the corpus has fewer than {step} questions in a training part. Use fewer folds or a "
            "smaller step."
        )
    chosen = curves[CHOSEN]
    forecasts = forecast_curve([p.answers for p in chosen], [p.value for p in chosen], AHEAD)
    metric = "concordance" if is_ranking else "F"
    return Replay(
        *(pipeline.task.name, corpus, title, metric, folds, questions, curves),
        *(tuple(forecasts), compared),
    )


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Labels, scores and decisions of held-out candidates after a number of answers."""

    y: Vector
    scores: Vector
    decisions: NDArray[Any]  # booleans; of a ranking the queries
    shown: float | None


class _Simulation(Protocol):
    """Questions of a part of a corpus, with gold answers, and a model of the answers so far."""

    question_count: int

    def next_question(self) -> int | None:
        """Return the number of the question with the largest value; None if all are answered."""

    def answer(self, number: int) -> None:
        """Learn the gold answer to a question, by its number; each can be answered once."""

    def evaluate(self) -> _HeldOut:
        """Choose alpha and threshold on the answers, and score the held-out candidates.

        Needs at least one answer.
        """


def _run(
    simulation: _Simulation, answers: int, step: int, rng: np.random.Generator | None
) -> dict[int, _HeldOut]:
    """Answer up to ``answers`` questions and evaluate after every ``step`` of them.

    If ``rng`` is None, the simulation chooses the questions; otherwise they come in random order.
    Returns the evaluations by number of answers; it ends early if there are no more questions.
    """
    order = None if rng is None else iter(rng.permutation(simulation.question_count).tolist())
    results = {}
    for count in range(1, answers + 1):
        number = simulation.next_question() if order is None else next(order, None)
        if number is None:
            break
        simulation.answer(number)
        if count % step == 0:
            results[count] = simulation.evaluate()
    return results


def _pool(parts: Sequence[Mapping[int, _HeldOut]], is_ranking: bool) -> list[ReplayPoint]:
    """Return the quality over all folds at every number of answers that all folds have.

    ``parts`` are results of ``_run``, one per fold. F is that of the pooled decisions (0 if it is
    not defined); AUC and ``shown`` are means over folds (AUC over those that define it, ``shown``
    None if a fold has none). For a ranking the value is the mean concordance of the queries of all
    folds, without undefined ones, and AUC is None.
    """
    points = []
    for answers in sorted(set.intersection(*(set(part) for part in parts))):
        folds = [part[answers] for part in parts]
        shown = [fold.shown for fold in folds if fold.shown is not None]
        seen = float(np.mean(shown)) if len(shown) == len(folds) else None
        if is_ranking:
            shares = [
                concordance(fold.scores[None, rows], fold.y[rows])[0]
                for fold in folds
                for rows in rows_by_group(fold.decisions, len(fold.y), name="queries")
            ]
            points.append(ReplayPoint(answers, float(np.nanmean(shares)), None, seen))
            continue
        y, decisions = (np.concatenate([getattr(f, k) for f in folds]) for k in ("y", "decisions"))
        aucs = [value for fold in folds if (value := auc(fold.y, fold.scores)) is not None]
        f = precision_recall_f(y, decisions).f or 0.0
        points.append(ReplayPoint(answers, float(f), float(np.mean(aucs)) if aucs else None, seen))
    return points


class _AnswerSimulation:
    """Questions for yes or no, or with choices, as ``textrank curate`` asks them.

    ``inside`` are the rows of the dataset that are asked about, ``outside`` the held-out ones.
    """

    def __init__(
        self, pipeline: Pipeline, dataset: Dataset, inside: Indices, outside: Indices
    ) -> None:
        """Build the questions of the rows ``inside`` and a learner without answers.

        ``outside`` are the held-out rows of the dataset. Questions are numbered from 0 in the order
        of their candidates. The learner has no prior, rows of the dataset's features (or of the
        kernel if it has none), and as first alpha the middle one of the pipeline's.
        """
        self._y, self._data = dataset.targets.y, dataset.data
        self._inside, self._outside = inside, outside
        candidates = [dataset.candidates[i] for i in inside]
        rows = (
            FeatureRows(sp.csr_array(dataset.data.values[inside]), dataset.data.names)
            if isinstance(dataset.data, Features)
            else KernelRows(pipeline.kernel, take_rows(dataset.X, inside))
        )
        alphas, alpha = select_alphas(pipeline, None)
        self._questions = list(build_questions(candidates))
        self._numbers = {q.key: number for number, q in enumerate(self._questions)}
        self.question_count = len(self._questions)
        self._learner = ActiveLearner(
            pipeline=pipeline,
            prior=None,
            candidates=candidates,
            groups=dataset.targets.groups[inside].tolist(),
            rows=rows,
            prior_scores=np.zeros(len(inside)),
            online=OnlineRLS.empty(alpha=alpha),
            labelled=[],
            labels={},
            questions={question.key: question for question in self._questions},
            group_of_doc={},
            alphas=alphas,
            _density=rows.density(),
        )

    def next_question(self) -> int | None:
        """Return the number of the question that the page would ask; None if all are answered."""
        question = self._learner.next_question()
        return None if question is None else self._numbers[question.key]

    def answer(self, number: int) -> None:
        """Learn the gold answer to a question (``_gold_answer``)."""
        question = self._questions[number]
        self._learner.learn(question, self._gold_answer(question))

    def _gold_answer(self, question: Question) -> str:
        """Return the answer that the gold labels give to a question.

        It is yes or no for one candidate, and the right candidate of a choice; "unsure" if not
        exactly one candidate is right.
        """
        is_right = self._y[self._inside[list(question.rows)]] > 0
        if len(question.rows) == 1:
            return YES if is_right[0] else NO
        right = np.flatnonzero(is_right)
        return f"{CHOICE_PREFIX}{right[0]}" if len(right) == 1 else UNSURE

    def evaluate(self) -> _HeldOut:
        """Score the held-out candidates, with alpha and threshold chosen as on the page.

        Changes the learner: chooses alpha again and records the quality.
        """
        learner = self._learner
        learner.tune()
        learner.record_quality()
        coef = learner.online.coef
        if isinstance(learner.rows, FeatureRows):
            weights = learner.rows.feature_weights(learner.index, coef)
            scores = np.asarray(self._data.values[self._outside] @ weights)  # type: ignore[union-attr]
        else:
            K = np.asarray(require_single_kernel(self._data, "a replay"))
            scores = K[np.ix_(self._outside, self._inside[learner.index])] @ coef
        shown = learner.history[-1].f
        return _HeldOut(self._y[self._outside], scores, scores >= learner.threshold, shown)


class _RankingSimulation:
    """Queries whose candidates are ranked; an answer gives the labels of all of them.

    A learner of the pipeline other than RankRLS is replaced by RankRLS().
    """

    def __init__(
        self,
        pipeline: Pipeline,
        data: Matrix | Features,
        targets: Targets,
        inside: Indices,
        outside: Indices,
    ) -> None:
        """Compute the kernel values of both parts; no query of the rows ``inside`` is answered.

        ``data`` are the features or the Gram matrix of all candidates, ``outside`` the held-out
        rows. The first alpha is the middle one of the learner's.
        """
        learner = pipeline.learner
        self._learner = learner if isinstance(learner, RankRLS) else RankRLS()
        self._normalised = self._learner.normalised
        self._K, self._cross = _gram_of_parts(data, inside, outside)
        self._targets, self._held_out = targets.take(inside), targets.take(outside)
        self._queries = rows_by_group(self._targets.queries, len(inside), name="queries")
        self.question_count = len(self._queries)
        self._open = dict.fromkeys(range(self.question_count))
        self._rows = np.empty(0, dtype=np.intp)
        self._model: UpdatableRankRLS | None = None
        self._alpha = self._learner.alphas[len(self._learner.alphas) // 2]
        self._shown: float | None = None

    def next_question(self) -> int | None:
        """Return the open query with the largest mean variance of its candidates.

        At most ``MAX_SHORTLIST_QUERIES`` open ones, evenly spaced, are compared; the first of those
        that tie is returned, None if all are answered.
        """
        if not self._open:
            return None
        numbers = np.array(list(self._open))
        size = min(len(numbers), MAX_SHORTLIST_QUERIES)
        shortlist = numbers[np.linspace(0, len(numbers) - 1, size).astype(np.intp)]
        return int(shortlist[argmax_first(np.array([self._variance(n) for n in shortlist]))])

    def _variance(self, number: int) -> float:
        """Return the mean variance of a query's candidates around their mean, given the answers.

        This is ``(trace(C) - sum(C) / m) / m`` with C the (m, m) covariance of their scores in the
        Gaussian process of the model; without answers C is the Gram matrix.
        """
        rows = self._queries[number]
        covariance = self._K[np.ix_(rows, rows)]
        if self._model is not None:
            centred = QueryCentring(
                np.unique(self._model.queries, return_inverse=True)[1], self._normalised
            ).root(self._K[np.ix_(self._rows, rows)])
            covariance = covariance - centred.T @ (self._model.rooted.G @ centred)
        size = len(rows)
        return float(np.trace(covariance) - covariance.sum() / size) / size

    def answer(self, number: int) -> None:
        """Learn the labels of the candidates of a query, which must be open; it is then closed.

        The model is extended exactly, at the current alpha.
        """
        rows = self._queries[number]
        del self._open[number]
        y, queries = self._targets.y[rows], self._targets.queries[rows]
        gram = self._K[np.ix_(rows, rows)]
        if self._model is None:
            self._model = UpdatableRankRLS.from_gram(
                gram, y, queries, alpha=self._alpha, normalised=self._normalised
            )
        else:
            cross = self._K[np.ix_(rows, self._rows)]
            self._model = self._model.add(cross, gram, y, queries)
        self._rows = np.concatenate([self._rows, rows])

    def evaluate(self) -> _HeldOut:
        """Choose alpha by leave-document-out on the answers, and score the held-out candidates.

        Alpha stays as it is while the answers are of one document or all candidates of each query
        have the same label. ``shown`` is the mean held-out concordance of the answered queries when
        alpha was last chosen, None before that. Needs at least one answer.
        """
        assert self._model is not None
        labelled = self._targets.take(self._rows)
        K = self._K[np.ix_(self._rows, self._rows)]
        usable = [
            rows
            for rows in rows_by_group(labelled.queries, len(labelled), name="queries")
            if np.ptp(labelled.y[rows]) > 0
        ]
        if len(np.unique(labelled.groups)) > 1 and usable:
            fit = replace(self._learner, select="disagreement", cost="magnitude", ties=True).fit(
                K, labelled
            )
            self._alpha = fit.alpha
            heldout = fit.heldout[fit.alpha_index]
            shares = [concordance(heldout[None, rows], labelled.y[rows])[0] for rows in usable]
            self._shown = float(np.mean(shares))
            self._model = UpdatableRankRLS.from_gram(
                K, labelled.y, labelled.queries, alpha=self._alpha, normalised=self._normalised
            )
        scores = self._cross[:, self._rows] @ self._model.coef
        return _HeldOut(self._held_out.y, scores, self._held_out.queries, self._shown)


def _gram_of_parts(
    data: Matrix | Features, inside: Indices, outside: Indices
) -> tuple[Matrix, Matrix]:
    """Return the Gram matrix of the rows ``inside``, and kernel values of ``outside`` with them.

    Their shapes are (inside, inside) and (outside, inside). ``data`` are features, with the linear
    kernel, or the Gram matrix of all rows.
    """
    if isinstance(data, Features):
        one, other = data.values[inside], data.values[outside]
        return np.asarray(gram(one)), np.asarray(gram(other, one))
    return data[np.ix_(inside, inside)], data[np.ix_(outside, inside)]
