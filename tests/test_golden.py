"""Answers, figures, names, settings and help texts stay as stored in ``tests/golden``.

A change that is meant: ``make golden`` rewrites the files and prints what changed; say why in
CHANGELOG.md.
"""

from __future__ import annotations

import pytest

from tests.golden.collect import FAST_RUNS, FILES, SLOW_RUNS, differences, load, plain


def check(file: str, key: str) -> None:
    """Fail with the differences between the stored and the present value of a key."""
    lines = list(differences(load(file)[key], plain(FILES[file][key]())))
    if lines:
        shown = "\n".join(lines[:20])
        pytest.fail(f"{file}:{key}: {len(lines)} differences. If meant: make golden\n{shown}")


@pytest.mark.parametrize("model", FILES["answers.json"])
def test_answers_of_shipped_models_are_unchanged(model: str) -> None:
    check("answers.json", model)


@pytest.mark.parametrize("pipeline", FAST_RUNS)
def test_figures_on_samples_are_unchanged(pipeline: str) -> None:
    check("runs.json", pipeline)


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", SLOW_RUNS)
def test_figures_of_slow_runs_are_unchanged(pipeline: str) -> None:
    check("runs.json", pipeline)


def test_registered_names_are_unchanged() -> None:
    check("registered_names.json", "names")


def test_cfg_of_every_pipeline_is_unchanged() -> None:
    check("pipelines.json", "pipelines")


def test_help_of_every_command_is_unchanged() -> None:
    check("help.json", "help")


@pytest.mark.parametrize(
    ("stored", "now", "count"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-12}, 0),
        ({"a": 1.0}, {"a": 1.0 + 1e-6}, 1),
        ({"a": 1e12}, {"a": 1e12 + 1}, 0),
        ({"a": [1, "x"]}, {"a": [1, "y"]}, 1),
        ({"a": [1, 2]}, {"a": [1]}, 1),
        ({"a": 1}, {"b": 1}, 2),
        ({"a": True}, {"a": 1}, 1),
        ({"a": None}, {"a": 0.0}, 1),
    ],
)
def test_comparison_sees_what_differs(stored: object, now: object, count: int) -> None:
    assert len(list(differences(stored, now))) == count
