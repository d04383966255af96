"""Curation of rankings: people choose the best candidate of each query in ``textrank curate``.

``RankCuration`` connects a ``RankLearner`` with the ``AnswerLog`` in which every choice is written
before it takes effect. ``build_rank_model`` exports the ranker, and ``RankCurationApp`` serves the
page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from threading import RLock
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from textrank.evaluation.forecast import Forecast, forecast_curve
from textrank.features import concat_rows
from textrank.learners.base import Fit
from textrank.learners.calibration import fit_calibration
from textrank.model import Model
from textrank.web.active_learner import (
    AHEAD_ANSWERS,
    CHOICE_PREFIX,
    MIN_GAIN,
    MIN_NEARLY_STABLE_KAPPA,
    MIN_STABLE_KAPPA,
    POINT_ANSWERS,
    UNSURE,
    WINDOW_ANSWERS,
    FeatureRows,
)
from textrank.web.annotation import (
    MAX_LISTED_ANSWERS,
    AnswerLog,
    Event,
    apply_change,
    clean_name,
    get_text,
    merge_feature_weights,
    serve_file,
    zip_model,
)
from textrank.web.app import Credentials, common_routes, not_found, render_page
from textrank.web.rank_learner import Choice, RankLearner, RankPoint, RankQuestion

ORDERS = ("doubt", "text")  # of questions: smallest gap of the two best scores first, or as read
MAX_OPTIONS = 9  # candidates that the page shows at first, one per digit key
RECENT_ANSWERS = 20  # over which quality is shown beside that of all answers


@dataclass(frozen=True)
class RankQuality:
    """Shares of choices that the model ranked first among what was shown; None without choices.

    ``progressive`` judges every choice by the model before it was learnt, ``recent`` only the last
    ``RECENT_ANSWERS``. ``heldout`` judges it by the present model without its query. ``chance`` is
    what a random order would reach.
    """

    answers: int
    progressive: float | None = None
    recent: float | None = None
    heldout: float | None = None
    chance: float | None = None


def measure_rank_quality(
    ranks: Sequence[float], heldout: Sequence[float], sizes: Sequence[int]
) -> RankQuality:
    """Return the quality of choices from their ranks, oldest first.

    ``ranks`` are those before a choice was learnt, ``heldout`` those without its query, ``sizes``
    how many candidates were shown; all have one entry per choice. Metrics are shares of ranks that
    are 1, ``recent`` that of the last ``RECENT_ANSWERS`` of ``ranks``, and ``chance`` the mean of 1
    / size; all are None without choices.

    >>> measure_rank_quality([1.0, 2.0], [1.0, 1.0], [2, 4])
    RankQuality(answers=2, progressive=0.5, recent=0.5, heldout=1.0, chance=0.375)
    """
    if not ranks:
        return RankQuality(0)
    is_first = np.array(ranks) == 1
    return RankQuality(
        len(ranks),
        float(is_first.mean()),
        float(is_first[-RECENT_ANSWERS:].mean()),
        float((np.array(heldout) == 1).mean()),
        float((1 / np.array(sizes)).mean()),
    )


def forecast_ranking(history: Sequence[RankPoint]) -> list[Forecast]:
    """Forecast the held-out share ranked first after further choices, one entry per distance.

    ``history`` has points with increasing numbers of choices, the last one now. Points of the
    curve are at least ``POINT_ANSWERS`` choices apart, counted from the last, and none has fewer
    choices. Empty with fewer than ``MIN_POINTS`` of them.
    """
    points: list[RankPoint] = []
    for point in reversed(history):
        is_apart = not points or point.choices <= points[-1].choices - POINT_ANSWERS
        if is_apart and point.choices >= POINT_ANSWERS:
            points.append(point)
    points.reverse()
    return forecast_curve([p.choices for p in points], [p.first for p in points], AHEAD_ANSWERS)


def advise_ranking(history: Sequence[RankPoint]) -> tuple[str, str]:
    """Return whether more choices help ("go on", "slower" or "enough") and a sentence why.

    ``history`` is that of ``forecast_ranking``. Enough is when at every point of the last three
    windows of WINDOW_ANSWERS choices the best candidates of nearly all questions were those of one
    window before (``MIN_STABLE_KAPPA``) and the held-out share rose by less than MIN_GAIN in the
    last; or when ``MIN_NEARLY_STABLE_KAPPA`` of them were, the share did not rise, and neither
    does its forecast, even at the upper end of the interval. "slower" is when only the share did
    not rise.
    """
    if not history or history[-1].choices < POINT_ANSWERS:
        return "go on", f"Too few choices to measure anything: {POINT_ANSWERS} are needed."
    last = history[-1]
    before = _point_before(history, last.choices - WINDOW_ANSWERS)
    if before is None or last.choices < 4 * WINDOW_ANSWERS:
        return "go on", "The model still learns with every choice."
    gain = last.first - before.first
    recent = [p for p in history if p.choices > last.choices - 3 * WINDOW_ANSWERS]
    pairs = [(p, _point_before(history, p.choices - WINDOW_ANSWERS)) for p in recent]
    agreement = min(point.agreement(other) for point, other in pairs if other is not None)
    if agreement >= MIN_STABLE_KAPPA and gain < MIN_GAIN:
        return "enough", (
            f"The last {3 * WINDOW_ANSWERS} choices changed the best candidate of hardly any "
            f"question ({agreement:.0%} stayed) and did not raise the held-out share: more "
            "choices would change little."
        )
    forecasts = forecast_ranking(history)
    is_flat = bool(forecasts) and forecasts[-1].gain_high < MIN_GAIN
    if agreement >= MIN_NEARLY_STABLE_KAPPA and gain < MIN_GAIN and is_flat:
        return "enough", (
            f"{forecasts[-1].ahead} more choices are expected to raise the held-out share by at "
            f"most {100 * forecasts[-1].gain_high:.1f}, and the last {3 * WINDOW_ANSWERS} changed "
            f"the best candidate of few questions ({agreement:.0%} stayed)."
        )
    if gain < MIN_GAIN:
        return "slower", f"The last {WINDOW_ANSWERS} choices did not raise the held-out share."
    words = f"The last {WINDOW_ANSWERS} choices raised the held-out share by {100 * gain:.1f}."
    return "go on", words


def _point_before(history: Sequence[RankPoint], choices: int) -> RankPoint | None:
    """Return the last point with at most so many choices; None if there is none."""
    return next((point for point in reversed(history) if point.choices <= choices), None)


class RankCuration:
    """A RankLearner whose every change is on disk before it takes effect.

    Started again with the same texts and log, it replays all answers and continues. ``who`` is the
    name of the person if a request names none. Every question is answered once; several people get
    different questions, and each can undo what is their own. Thread-safe.

    An answer is logged with the candidates that were shown, the rank of the chosen one before it
    was learnt, and the checksum of the question's candidates. If a parser or a setting has changed
    since, the checksum differs and the answer goes to ``lost_answers``: its position may mean
    another candidate.
    """

    def __init__(self, learner: RankLearner, answers: AnswerLog, who: str) -> None:
        """Replay the answers of the log, which changes the learner.

        ``who`` is the person if a request names none.
        """
        self.learner, self.answers, self.who = learner, answers, who
        self.active_events: list[Event] = []  # of answers that are learnt, in their order
        self.lost_answers: list[str] = []  # keys of questions that changed or do not exist
        self._lock = RLock()
        self._orders: dict[str, str] = {}  # by person; "doubt" if missing
        self._questions: dict[str, RankQuestion] = {}  # handed out and not yet answered, by person
        self._replay()

    def _replay(self) -> None:
        """Learn the answers of the log, with one training at the end.

        Of several answers to a question the first counts. Answers to questions that do not exist,
        or whose candidates have changed, go to ``lost_answers``.
        """
        choices: dict[str, tuple[RankQuestion, Choice | None]] = {}
        for event in self.answers.active_events():
            question = self.learner.questions.get(event.question)
            details = json.loads(event.details or "{}")
            is_same = question is not None and (
                details.get("candidates") == self.learner.fingerprint(question)
            )
            if question is None or not is_same:
                self.lost_answers.append(event.question)
            elif event.question not in choices:
                choices[event.question] = question, _choice_of_event(event)
                self.active_events.append(event)
        self.learner.learn_all(choices.values())

    # Actions of people

    def current_question(self, who: str | None = None) -> RankQuestion | None:
        """Return the open question of a person, or hand out a new one; None if none is left.

        The same one is returned until it is answered or the person chooses another order. ``who``
        None is the person of the curation.
        """
        person = who or self.who
        with self._lock:
            question = self._questions.pop(person, None)
            if question is None or question.key in self.learner.answered:
                taken = {held.key for held in self._questions.values()}
                by_doubt = self._orders.get(person, "doubt") == "doubt"
                question = self.learner.next_question(taken, by_doubt=by_doubt)
            if question is not None:
                self._questions[person] = question
            return question

    def set_order(self, order: str, who: str | None = None) -> None:
        """Choose the order of a person's questions, one of ``ORDERS``, and give up the open one.

        "doubt" asks first where the two best candidates have the closest scores, "text" in the
        order of the texts. Raises ValueError for another value.
        """
        if order not in ORDERS:
            raise ValueError(f"{order!r:.60} is not an order. Available: {', '.join(ORDERS)}.")
        with self._lock:
            self._orders[who or self.who] = order
            self._questions.pop(who or self.who, None)

    def answer(
        self, key: str, value: str, shown: Sequence[int] = (), who: str | None = None
    ) -> None:
        """Log an answer to the question of a key and learn it.

        ``value`` is "unsure" or "choose:" with the position of the best candidate, and ``shown``
        the positions of all candidates that the person saw. Raises ValueError, before anything is
        written, if the question does not exist or is answered, or the choice is not valid.
        """
        with self._lock:
            question = self.learner.questions.get(key)
            if question is None or key in self.learner.answered:
                raise ValueError("this question was answered or does not exist. Reload the page.")
            details: dict[str, Any] = {"candidates": self.learner.fingerprint(question)}
            choice = None if value == UNSURE else _parse_choice(value, shown)
            if choice is not None:
                choice.check(question)
                rank = self.learner.rank_of_choice(question, choice)
                details |= {"shown": list(choice.shown), "rank": rank}
            event = self.answers.append(
                "answer",
                who or self.who,
                document=question.document,
                question=key,
                value=value,
                details=json.dumps(details),
            )
            self.active_events.append(event)
            self.learner.learn(question, choice)

    def undo(self, who: str | None = None) -> None:
        """Undo the last answer of a person and ask it again; those of others stay.

        Raises ValueError if there is nothing to undo.
        """
        person = who or self.who
        with self._lock:
            event = next((e for e in reversed(self.active_events) if e.who == person), None)
            if event is None:
                raise ValueError("there is nothing of yours to undo.")
            self.answers.append("undo", person, document=event.document, undoes=event.id)
            self.active_events.remove(event)
            question = self.learner.questions[event.question]
            self.learner.forget(question)
            self._questions[person] = question

    # Results

    def quality(self) -> RankQuality:
        """Return the quality over all choices that are not undone; unsure answers do not count."""
        with self._lock:
            heldout = self.learner.heldout_ranks()
            events = [event for event in self.active_events if event.value != UNSURE]
            details = [json.loads(event.details) for event in events]
            return measure_rank_quality(
                [row["rank"] for row in details],
                [heldout[event.question] for event in events],
                [len(row["shown"]) for row in details],
            )

    def choices(self) -> Iterator[dict[str, Any]]:
        """Yield each choice as a row of plain values, in the order of the answers.

        Keys: ``document``, ``question``, ``text``, ``who``, ``at``, ``chosen`` (position of the
        candidate in its query), ``shown``, ``labels`` (what the model learnt of those shown, in
        that order) and ``describes`` (the lines about the chosen one).
        """
        with self._lock:
            events = [event for event in self.active_events if event.value != UNSURE]
        learner = self.learner
        for event in events:
            question, choice = learner.questions[event.question], _choice_of_event(event)
            if choice is None:
                continue
            place = choice.shown.index(choice.chosen)
            shown = [learner.candidates[question.rows[i]] for i in choice.shown]
            yield {
                "document": event.document,
                "question": event.question,
                "text": shown[0].doc.text,
                "who": event.who,
                "at": event.at,
                "chosen": choice.chosen,
                "shown": list(choice.shown),
                "labels": learner.pipeline.task.choice_labels(shown, place).tolist(),
                "describes": learner.describe_options(question, choice.shown)[place],
            }

    def state(self, who: str | None = None, limit: int = MAX_OPTIONS) -> dict[str, Any]:
        """Return everything the page shows to a person, as plain values.

        At most ``limit`` candidates are shown, at least two, the best scores first. Keys:
        ``question`` (or None), ``answered``, ``total``, ``lost``, ``order``, ``alpha``,
        ``quality`` (fields of ``RankQuality``), ``advice`` (``word``, ``why``), ``forecasts`` (of
        the held-out share, as ``Forecast``) and ``last`` (the person's last answers, newest first).
        """
        person = who or self.who
        with self._lock, self.learner.lock:
            question = self.current_question(person)
            last = [e for e in reversed(self.active_events) if e.who == person]
            word, why = advise_ranking(self.learner.history)
            return {
                "question": None if question is None else self._describe(question, max(limit, 2)),
                "answered": len(self.learner.answered),
                "total": len(self.learner.questions),
                "lost": len(self.lost_answers),
                "order": self._orders.get(person, "doubt"),
                "alpha": self.learner.alpha,
                "quality": _describe_quality(self.quality()),
                "advice": {"word": word, "why": why},
                "forecasts": [asdict(f) for f in forecast_ranking(self.learner.history)],
                "last": [self._describe_event(event) for event in last[:MAX_LISTED_ANSWERS]],
            }

    def _describe(self, question: RankQuestion, limit: int) -> dict[str, Any]:
        """Return a question as plain values, with its ``limit`` best candidates as ``options``.

        Keys: ``key``, ``document``, ``text`` (of the whole document), ``candidates`` (their number)
        and ``options``, best score first, each with ``position``, ``score`` and ``lines``.
        """
        learner = self.learner
        shown = learner.rank_options(question)[:limit]
        lines = learner.describe_options(question, shown)
        return {
            "key": question.key,
            "document": question.document,
            "text": learner.candidates[question.rows[0]].doc.text,
            "candidates": len(question.rows),
            "options": [
                {
                    "position": position,
                    "score": float(learner.scores[question.rows[position]]),
                    "lines": own,
                }
                for position, own in zip(shown, lines, strict=True)
            ],
        }

    def _describe_event(self, event: Event) -> dict[str, Any]:
        """Return an answer as plain values: ``text``, ``document``, ``value`` and ``rank``.

        ``text`` are the first 80 characters of the document, ``value`` is "chosen" or "unsure". The
        rank is that of the chosen candidate before the answer was learnt, None for unsure.
        """
        question = self.learner.questions[event.question]
        text = self.learner.candidates[question.rows[0]].doc.text
        rank = json.loads(event.details).get("rank")
        value = UNSURE if event.value == UNSURE else "chosen"
        return {"text": text[:80], "document": event.document, "value": value, "rank": rank}


def _describe_quality(quality: RankQuality) -> dict[str, Any]:
    """Return the fields of a quality by name."""
    return {
        "answers": quality.answers,
        "progressive": quality.progressive,
        "recent": quality.recent,
        "heldout": quality.heldout,
        "chance": quality.chance,
    }


def _parse_choice(value: str, shown: Sequence[int]) -> Choice:
    """Return the choice that a value "choose:3" means; raise ValueError for another value.

    ``shown`` are the positions that the person saw. Positions are not checked, see
    ``Choice.check``.
    """
    number = value.removeprefix(CHOICE_PREFIX)
    if not value.startswith(CHOICE_PREFIX) or not (number.isascii() and number.isdigit()):
        raise ValueError(f"{value!r:.60} is not an answer. Available: {UNSURE}, choose:NUMBER.")
    return Choice(int(number), tuple(shown))


def _choice_of_event(event: Event) -> Choice | None:
    """Return the choice of a logged answer; None for unsure."""
    if event.value == UNSURE:
        return None
    return _parse_choice(event.value, json.loads(event.details)["shown"])


# Export


def build_rank_model(learner: RankLearner) -> Model:
    """Return the ranker of all choices so far, with the prior included.

    Its threshold and calibration are those of the prior, if there is one, since choices say nothing
    about the level of scores; otherwise they are chosen on the held-out scores of the choices.
    Held-out scores are without the query. The learner is not changed. Raises ValueError if there is
    neither a choice nor a prior, or the training candidates of the prior cannot be joined with
    those of the choices (``concat_rows``).
    """
    with learner.lock:
        prior, model, index, y = learner.prior, learner.model, learner.index, learner.labels
        if model is None and prior is None:
            raise ValueError("there is no answer to train on yet. Choose a candidate first.")
        coef = np.empty(0) if model is None else model.coef
        heldout = np.empty(0) if model is None else learner.prior_scores[index] + model.heldout
        fit = Fit((learner.alpha,), learner.alpha, coef, heldout[None])
        curated = sum(choice is not None for choice in learner.answered.values())
    names, support = None, None
    if isinstance(learner.rows, FeatureRows):
        names, coef = merge_feature_weights(learner.rows, index, coef, prior)
    else:
        labelled = [learner.candidates[row] for row in index]
        support = learner.pipeline.representation(labelled) if labelled else None
        if prior is not None:
            support = prior.support if support is None else concat_rows(prior.support, support)
            coef = np.concatenate([prior.fit.coef, coef])
    meta = {"curated": curated, **(prior.meta if prior is not None else {})}
    if prior is None:
        threshold = learner.pipeline.task.threshold(y, heldout)
        calibration = fit_calibration(heldout, y)
    else:
        threshold, calibration = prior.threshold, prior.calibration
        heldout, y = np.concatenate([prior.heldout, heldout]), np.concatenate([prior.labels, y])
    fit = replace(fit, coef=coef)
    return Model(
        *(learner.pipeline, fit, support, names, threshold, heldout, y, meta),
        calibration=calibration,
    )


# The application


@dataclass(frozen=True)
class RankCurationApp:
    """Web application of a curation of rankings; ``title`` is the heading of the page."""

    curation: RankCuration
    title: str
    credentials: Credentials

    def app(self) -> Starlette:
        """Return the application; it checks no token, so put ``GuardMiddleware`` in front."""
        routes = [
            Route("/", self.index),
            Route("/api/state", self.state),
            Route("/api/answer", self.answer, methods=["POST"]),
            Route("/api/undo", self.undo, methods=["POST"]),
            Route("/api/order", self.order, methods=["POST"]),
            Route("/export/model.zip", self.model),
            Route("/export/answers.jsonl", self.answers),
            Route("/export/choices.jsonl", self.choices),
        ]
        return Starlette(
            routes=[*routes, *common_routes()],
            exception_handlers={404: lambda *_: not_found("There is no such page.")},
        )

    def index(self, request: Request) -> Response:
        """Serve the page; its script fetches the first question.

        The browser keeps the person's name in a cookie: that of the address (parameter ``as``),
        else of an earlier cookie, else of the curation.
        """
        person = clean_name(request.query_params.get("as", "")) or self._person(request)
        values = {"title": self.title, "csrf": self.credentials.csrf, "who": person}
        response = render_page("rank.html", {**values, "orders": ORDERS})
        response.set_cookie(self._cookie_name, quote(person), httponly=True, samesite="strict")
        return response

    @property
    def _cookie_name(self) -> str:
        """Name of the cookie with the person's name; with the port, as that of the token."""
        return f"textrank_curator_{self.credentials.port}"

    def _person(self, request: Request) -> str:
        """Return who sends a request; the person of the curation if no cookie says it."""
        return clean_name(unquote(request.cookies.get(self._cookie_name, ""))) or self.curation.who

    def _state(self, request: Request) -> dict[str, Any]:
        """Return the state for a request; its parameter ``limit`` is a number of candidates.

        ``MAX_OPTIONS`` if it is missing or not a number of at most six digits.
        """
        limit = request.query_params.get("limit", "")
        is_number = limit.isascii() and limit.isdigit() and len(limit) < 7
        return self.curation.state(self._person(request), int(limit) if is_number else MAX_OPTIONS)

    def state(self, request: Request) -> Response:
        """Serve ``RankCuration.state`` of the person as JSON; see ``_state`` for parameters."""
        return JSONResponse(self._state(request))

    async def answer(self, request: Request) -> Response:
        """Take an answer and serve the new state; status 422 if it is not allowed.

        JSON body: ``question``, ``value`` and, unless it is "unsure", ``shown``.
        """

        def change(body: dict[str, Any]) -> dict[str, Any]:
            """Check the fields of the body and take the answer."""
            shown = body.get("shown", [])
            if not isinstance(shown, list) or any(type(i) is not int for i in shown):
                raise ValueError("'shown' must be a list of whole numbers.")
            question, value = get_text(body, "question"), get_text(body, "value")
            self.curation.answer(question, value, shown, self._person(request))
            return self._state(request)

        return await apply_change(request, change)

    async def undo(self, request: Request) -> Response:
        """Undo the last answer of the person and serve the new state; status 422 without one."""

        def change(_: dict[str, Any]) -> dict[str, Any]:
            """Undo the answer; the body is not used."""
            self.curation.undo(self._person(request))
            return self._state(request)

        return await apply_change(request, change)

    async def order(self, request: Request) -> Response:
        """Choose the order of the person's questions (JSON body: ``order``); serve the new state.

        Status 422 if it is not one of ``ORDERS``.
        """

        def change(body: dict[str, Any]) -> dict[str, Any]:
            """Choose the order that the body names."""
            self.curation.set_order(get_text(body, "order"), self._person(request))
            return self._state(request)

        return await apply_change(request, change)

    def model(self, _: Request) -> Response:
        """Serve the trained ranker as a zip file; status 422 if there is none."""
        learner = self.curation.learner
        return serve_file(lambda: (zip_model(build_rank_model(learner)), "model.zip"))

    def answers(self, _: Request) -> Response:
        """Serve all events (who answered what and when) as JSON lines."""
        return _serve_lines(self.curation.answers.to_json_lines(), "answers.jsonl")

    def choices(self, _: Request) -> Response:
        """Serve the choices with the labels that were learnt, one JSON line each."""
        rows = self.curation.choices()
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        return _serve_lines(lines, "choices.jsonl")


def _serve_lines(lines: Iterator[str], name: str) -> Response:
    """Serve JSON lines, each with its line feed, as a download with this file name."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)
