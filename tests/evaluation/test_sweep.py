"""A sweep keeps what is done, notices what changed, and goes on after being killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import textrank.evaluation.sweep as sweep_module
from textrank.evaluation import cross_validate
from textrank.evaluation.splits import DocumentFolds
from textrank.evaluation.sweep import Cache, fingerprint, sweep
from textrank.kernels.algebra import Exponential, Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.learners.rls import RLS
from textrank.pipeline import Pipeline
from textrank.reports.html import render_sweep
from textrank.tasks.ppi.graphs import DependencyGraph
from textrank.tasks.ppi.task import PPI

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "corpora" / "sample-ppi"


@pytest.fixture(scope="module")
def pipeline():
    return Pipeline(PPI(), DependencyGraph(), Normalized(AllPathsGraph()), RLS((0.25, 1.0)))


def over_alphas(pipeline, alphas):
    return {(a,): replace(pipeline, learner=RLS([a])) for a in alphas}


def plain(report):
    return {k: v for k, v in report.to_dict().items() if k != "seconds"}


def run(pipelines, docs, folder, key="learner.alphas", protocol=None):
    return sweep(pipelines, [key], docs, protocol or DocumentFolds(3), Cache(folder), corpus="c")


@pytest.mark.parametrize("wrap", [lambda k: k, Exponential], ids=["features", "gram"])
def test_a_point_equals_a_plain_run(pipeline, docs, tmp_path, wrap):
    pipeline = replace(pipeline, kernel=wrap(pipeline.kernel))
    found = run(over_alphas(pipeline, [0.25, 2.0]), docs, tmp_path)
    for point in found.points:
        alone = replace(pipeline, learner=RLS(point.values))
        expected = plain(cross_validate(alone, docs, folds=3, corpus="c"))
        ours = plain(point.report)
        assert ours["folds"] == [pytest.approx(fold) for fold in expected["folds"]]
        assert ours["settings"] == expected["settings"]


def test_what_is_done_is_not_done_again(pipeline, docs, tmp_path, monkeypatch):
    first = run(over_alphas(pipeline, [0.25, 2.0]), docs, tmp_path)
    seen = []
    real = sweep_module.cross_validate_dataset

    def assess(pipeline, *arguments, **options):
        seen.append(pipeline)
        return real(pipeline, *arguments, **options)

    monkeypatch.setattr(sweep_module, "cross_validate_dataset", assess)
    monkeypatch.setattr(Pipeline, "prepare", None)  # the comparison too comes from the cache
    second = run(over_alphas(pipeline, [0.25, 1.0, 2.0]), docs, tmp_path)
    assert [p.reused for p in second.points] == [True, False, True]
    assert [p.learner.alphas for p in seen] == [(1.0,)]
    assert plain(second.points[0].report) == plain(first.points[0].report)


def test_a_change_of_anything_makes_a_new_point(pipeline, docs, make_docs, tmp_path):
    run(over_alphas(pipeline, [1.0]), docs, tmp_path)
    other = replace(pipeline, representation=DependencyGraph(path_weight=0.8))
    for changed in (
        {"pipelines": over_alphas(other, [1.0])},
        {"docs": make_docs(18, seed=9)},
        {"protocol": DocumentFolds(3, seed=1)},
    ):  # fmt: skip
        arguments = {"pipelines": over_alphas(pipeline, [1.0]), "docs": docs, "folder": tmp_path}
        assert not run(**(arguments | changed)).points[0].reused
    assert run(over_alphas(pipeline, [1.0]), docs, tmp_path).points[0].reused


def test_documents_with_another_gold_are_other_documents(make_docs):
    one, other = make_docs(3), make_docs(3)
    assert fingerprint(one) == fingerprint(other)
    other[0].user_data["gold"][0]["label"] = not other[0].user_data["gold"][0]["label"]
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize("damage", ["", "{", '{"made_from": {}, "content": {}}'])
def test_damaged_entries_are_made_anew(pipeline, docs, tmp_path, damage):
    run(over_alphas(pipeline, [1.0]), docs, tmp_path)
    for path in [*tmp_path.rglob("*.json"), *tmp_path.rglob("*.npz")]:
        path.write_text(damage)
    assert not run(over_alphas(pipeline, [1.0]), docs, tmp_path).points[0].reused


def test_entries_say_what_they_were_made_from(pipeline, docs, tmp_path):
    run(over_alphas(pipeline, [1.0]), docs, tmp_path)
    (file,) = (tmp_path / "reports").iterdir()
    entry = json.loads(file.read_text())
    assert entry["made_from"]["pipeline"]["learner"]["alphas"] == [1.0]
    assert entry["made_from"]["protocol"] == "DocumentFolds(folds=3, seed=0, splits=1)"
    assert entry["content"]["measures"]["auc"]["mean"] > 0.5
    assert {p.suffix for p in (tmp_path / "comparisons").iterdir()} == {".json", ".npz"}


def test_arrays_come_back_bit_for_bit(tmp_path, rng):
    cache, K = Cache(tmp_path), rng.random((5, 5))
    cache.put_arrays("comparisons", {"a": 1}, K, {"notes": []})
    kept, content = cache.get_arrays("comparisons", {"a": 1})
    np.testing.assert_array_equal(kept, K)
    assert content == {"notes": []}
    assert cache.get_arrays("comparisons", {"a": 2}) is None


def test_the_page_draws_a_line_for_one_key_and_a_map_for_two(pipeline, docs, tmp_path):
    text = render_sweep(run(over_alphas(pipeline, [0.25, 2.0]), docs, tmp_path))
    assert 'id="figure-sweep-auc"' in text
    grid = {
        (a, w): replace(pipeline, learner=RLS([a]), representation=DependencyGraph(path_weight=w))
        for a in (0.25, 2.0)
        for w in (0.8, 0.9)
    }
    found = sweep(grid, ["alphas", "path_weight"], docs, DocumentFolds(3), Cache(tmp_path))
    assert len(found.axis(0)) == len(found.axis(1)) == 2
    assert ">path_weight<" in render_sweep(found)


def command(folder, out):
    alphas = ",".join(f"[{0.1 * i:.1f}]" for i in range(1, 21))
    run = [sys.executable, "-m", "textrank", "run", "ppi", str(SAMPLE), "--folds", "5"]
    where = ["--cache", str(folder), "--json", str(out)]
    return [*run, "--sweep", f"learner.alphas={alphas}", *where]


@pytest.mark.slow
def test_a_killed_sweep_goes_on_and_equals_an_undisturbed_one(tmp_path):
    killed = subprocess.Popen(command(tmp_path / "cache", tmp_path / "no.json"))
    reports = tmp_path / "cache" / "reports"
    deadline = time.monotonic() + 120
    while not reports.is_dir() or len(list(reports.glob("*.json"))) < 3:
        assert time.monotonic() < deadline
        assert killed.poll() is None, "the sweep ended before it could be killed"
        time.sleep(0.005)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    done = {file.name: file.stat().st_mtime_ns for file in reports.glob("*.json")}
    assert 3 <= len(done) < 20
    assert not (tmp_path / "no.json").exists()

    again = command(tmp_path / "cache", tmp_path / "again.json")
    text = subprocess.run(again, capture_output=True, text=True, check=True).stdout
    assert f"20 points, {len(done)} of them from the cache" in text
    assert all((reports / name).stat().st_mtime_ns == changed for name, changed in done.items())
    fresh = command(tmp_path / "other", tmp_path / "fresh.json")
    subprocess.run(fresh, capture_output=True, check=True)
    one, other = (json.loads((tmp_path / f"{n}.json").read_text()) for n in ("again", "fresh"))
    for point in (*one["points"], *other["points"]):
        del point["report"]["seconds"]
    assert one == other
