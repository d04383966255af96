"""What another package registers, installed beside textrank, works in cfg and command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_plugin_example import CFG as EXAMPLE
from tests.test_plugin_example import CORPUS, LINES

ROOT = Path(__file__).parents[1]
PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "textrank-plugin-under-test"
version = "1.0"
[project.entry-points.textrank_kernels]
"shared_length.v1" = "shared_length:SharedLength"
[tool.setuptools]
py-modules = ["shared_length"]
"""

POINTS = (
    PROJECT.replace("shared_length", "plugin_example").partition("[project.entry-points")[0]
    + """
[project.entry-points.textrank_kernels]
"shared_length_example.v1" = "plugin_example:SharedLength"
[project.entry-points.textrank_readers]
"line_per_doc.v1" = "plugin_example:LinePerDoc"
[project.entry-points.textrank_representations]
"word_text.v1" = "plugin_example:WordText"
[project.entry-points.textrank_tasks]
"long_words.v1" = "plugin_example:LongWords"
[tool.setuptools]
py-modules = ["plugin_example"]
"""
)

MODULE = '''
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SharedLength:
    """Graphs of equal size are alike."""

    weight: float = 1.0

    def __call__(self, X, Y=None):
        left = np.array([len(x) for x in X], dtype=float)
        right = left if Y is None else np.array([len(y) for y in Y], dtype=float)
        return self.weight * (left[:, None] == right[None, :]).astype(float)

    def diag(self, X):
        return np.full(len(X), self.weight)
'''

CFG = """
[pipeline]
@pipelines = "pipeline.v1"
[pipeline.task]
@tasks = "ppi.v1"
[pipeline.representation]
@representations = "dependency_graph.v1"
[pipeline.kernel]
@kernels = "sum.v1"
[pipeline.kernel.kernels]
[pipeline.kernel.kernels.ours]
@kernels = "all_paths.v1"
[pipeline.kernel.kernels.theirs]
@kernels = "shared_length.v1"
weight = 0.5
[pipeline.learner]
@learners = "rls.v1"
"""

RUN = """
import sys
from textrank.config import dump_pipeline, load_pipeline
from textrank.testing import check_kernel

pipeline = load_pipeline(sys.argv[1])
theirs = pipeline.kernel.kernels["theirs"]
check_kernel(theirs, ["ab", "c", "de", "fgh"])
assert type(theirs).__name__ == "SharedLength" and theirs.weight == 0.5
assert "shared_length.v1" in dump_pipeline(pipeline)
sys.stdout.write("works")
"""


def installed(tmp_path: Path, project: str, module: str, text: str) -> str:
    """A folder with a package of one module and its entry points, as pip puts it there."""
    source, environment = tmp_path / "source", tmp_path / "environment"
    source.mkdir()
    (source / "pyproject.toml").write_text(project)
    (source / module).write_text(text)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    pip = [sys.executable, "-m", "pip", "install", *options, "--target", str(environment)]
    subprocess.run([*pip, str(source)], check=True, capture_output=True, timeout=600)
    return str(environment)


@pytest.mark.slow
def test_a_registered_kernel_of_another_package_works_in_a_cfg(tmp_path: Path) -> None:
    (tmp_path / "own.cfg").write_text(CFG)
    found = [installed(tmp_path, PROJECT, "shared_length.py", MODULE), str(ROOT)]
    code = f"import sys; sys.path[:0] = {found!r}\n{RUN}"
    command = [sys.executable, "-c", code, str(tmp_path / "own.cfg")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert run.stdout == "works", run.stderr


@pytest.mark.slow
def test_kernel_reader_task_measure_and_column_of_another_package_work_once_installed(
    tmp_path: Path,
) -> None:
    module = (ROOT / "tests" / "plugin_example.py").read_text()
    found = [installed(tmp_path, POINTS, "plugin_example.py", module), str(ROOT)]
    (tmp_path / "own.cfg").write_text(EXAMPLE)
    (tmp_path / "corpus.cfg").write_text(CORPUS)
    (tmp_path / "corpus.txt").write_text("\n".join(LINES))
    command = [sys.executable, "-m", "textrank", "run", "own.cfg", str(tmp_path), "--folds", "3"]
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(found)}
    run = subprocess.run(
        [*command, "--json", "figures.json"],
        cwd=tmp_path,
        env=path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "share_said" in run.stdout.replace(" ", "_")
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert 0 < figures["measures"]["share_said"]["mean"] < 1


def test_without_the_package_its_name_is_unknown(tmp_path: Path) -> None:
    from textrank.config import load_pipeline

    (tmp_path / "own.cfg").write_text(CFG)
    with pytest.raises(ValueError, match=r"nothing is registered as 'shared_length.v1'"):
        load_pipeline(tmp_path / "own.cfg")
