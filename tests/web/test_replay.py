"""Replay: curves on held-out documents, rankings, forecasts and the command."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import textrank
from textrank.cli.app import run
from textrank.evaluation.sweep import forecast_curve
from textrank.web.active_learner import Quality, advise, forecast_quality
from textrank.web.replay import CHOSEN, Replay, ReplayPoint, replay_corpus


def curve(values, step=10):
    return [ReplayPoint(step * (i + 1), v, None, v) for i, v in enumerate(values)]


def make_replay(chosen, random):
    curves = {CHOSEN: curve(chosen), "random 0": curve(random)}
    return Replay("ppi", "c", "p", "F", 2, 100, curves)


def test_answers_needed_are_those_of_the_first_point_as_good_as_the_last_random_one():
    replay = make_replay([0.5, 0.7, 0.6, 0.7, 0.8], [0.4, 0.5, 0.6, 0.6, 0.65])
    assert replay.answers_needed() == (0.65, 20, 40)
    assert replace(replay, compared=25).answers_needed() == (0.5, 10, 10)
    assert make_replay([0.1] * 5, [0.2] * 5).answers_needed() == (0.2, None, None)


def test_forecasts_of_a_power_law_are_right():
    n = np.arange(20, 320, 20)
    values = 0.8 - 2.0 * n**-0.7
    for forecast in forecast_curve(n[:8].tolist(), values[:8].tolist(), ahead=(20, 100)):
        actual = 0.8 - 2.0 * (n[7] + forecast.ahead) ** -0.7
        assert forecast.value == pytest.approx(actual, abs=0.003)
        assert forecast.gain_low <= forecast.gain <= forecast.gain_high
        assert forecast.gain == pytest.approx(actual - values[7], abs=0.003)


def test_intervals_hold_most_of_noisy_curves():
    rng = np.random.default_rng(0)
    n = np.arange(10, 160, 10)
    held = 0
    for _ in range(60):
        values = 0.75 - 1.5 * n**-0.6 + rng.normal(scale=0.02, size=len(n))
        (forecast,) = forecast_curve(n[:10].tolist(), values[:10].tolist(), ahead=(50,))
        held += forecast.low <= values[14] <= forecast.high
    assert held >= 45  # 90 % are 54


def test_a_short_curve_has_no_forecast():
    assert forecast_curve([10, 20], [0.5, 0.6]) == []


def test_a_falling_curve_is_forecast_as_level():
    (forecast,) = forecast_curve(list(range(10, 110, 10)), np.linspace(0.8, 0.6, 10), ahead=(50,))
    assert forecast.gain < 0.01


def test_the_page_says_enough_when_nothing_is_to_be_gained():
    level = [Quality(0.9, 0.8, 0.1, n) for n in range(1, 121)]
    assert len(forecast_quality(level)) == 2
    word, why = advise(level, [0.98] * 120)  # decisions are nearly stable
    assert word == "enough"
    assert "50 more answers" in why
    assert advise(level, [0.9] * 120)[0] == "slower"
    rising = [Quality(0.9, 0.8 - 6 / (n + 9), 0.1, n) for n in range(1, 121)]
    assert forecast_quality(rising)[-1].gain > 0.005
    assert advise(rising, [0.98] * 120)[0] != "enough"


def test_forecasts_are_checked_against_what_followed():
    n = np.arange(10, 160, 10)
    replay = make_replay(0.75 - 1.5 * n**-0.6, 0.7 - 1.5 * n**-0.6)
    errors = {error.ahead: error for error in replay.forecast_errors()}
    assert errors[20].error < errors[20].no_change_error
    assert errors[50].forecasts == 6
    assert errors[20].covered == 1.0
    assert {error.ahead for error in replay.forecast_errors(shown=True)} == {20, 50}


@pytest.fixture(scope="module")
def pair_docs():
    docs = list(textrank.load_corpus("corpora/sample-ppi")(textrank.load_nlp(only=[])))
    return docs[:40]


@pytest.mark.parametrize("name", ["ppi-linear", "ppi"])
def test_pairs_are_replayed(pair_docs, name):
    """With explicit features, and with a kernel alone."""
    pipeline = textrank.load_pipeline(name)
    docs = pair_docs if name == "ppi-linear" else pair_docs[:12]
    replay = replay_corpus(pipeline, docs, answers=20, folds=2, orders=1, step=10)
    assert [point.answers for point in replay.curves[CHOSEN]] == [10, 20]
    assert set(replay.curves) == {CHOSEN, "random 0"}
    assert all(0 <= point.value <= 1 for points in replay.curves.values() for point in points)
    again = replay_corpus(pipeline, docs, answers=20, folds=2, orders=1, step=10)
    assert again.curves["random 0"] == replay.curves["random 0"]


@pytest.mark.parametrize(
    ("name", "corpus"), [("retrieve", "sample-retrieve"), ("parse_ranking-graph", "sample-parses")]
)
def test_rankings_are_replayed(name, corpus):
    from textrank.component import load_language

    pipeline = textrank.load_pipeline(name)
    docs = list(textrank.load_corpus(f"corpora/{corpus}")(load_language(None, pipeline.task)))
    replay = replay_corpus(pipeline, docs, answers=4, folds=2, orders=1, step=2)
    assert replay.metric == "concordance"
    assert all(0 <= point.value <= 1 for points in replay.curves.values() for point in points)


def test_the_command(tmp_path, capsys):
    file = tmp_path / "curve.json"
    command = ["replay", "ppi-linear", "corpora/sample-ppi", "--answers", "20", "--folds", "2"]
    page = tmp_path / "curve.html"
    arguments = ["--orders", "1", "--json", str(file), "--html", str(page)]
    assert run([*command, *arguments]) == 0
    assert "<h1>ppi-linear" in page.read_text()
    assert "Chosen questions" in capsys.readouterr().out
    result = json.loads(file.read_text())
    assert {"curves", "random_mean", "needed", "forecasts", "forecast_errors", "stop"} <= set(
        result
    )
    assert len(result["curves"]["chosen"]) == 2
