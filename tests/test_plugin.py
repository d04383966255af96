"""A kernel of another package, installed beside textrank, works in a cfg."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.slow
def test_a_registered_kernel_of_another_package_works_in_a_cfg(tmp_path: Path) -> None:
    source, environment = tmp_path / "source", tmp_path / "environment"
    source.mkdir()
    (source / "pyproject.toml").write_text(PROJECT)
    (source / "shared_length.py").write_text(MODULE)
    (tmp_path / "own.cfg").write_text(CFG)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    pip = [sys.executable, "-m", "pip", "install", *options, "--target", str(environment)]
    subprocess.run([*pip, str(source)], check=True, capture_output=True, timeout=600)

    found = [str(environment), str(Path(__file__).parents[1])]
    code = f"import sys; sys.path[:0] = {found!r}\n{RUN}"
    command = [sys.executable, "-c", code, str(tmp_path / "own.cfg")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert run.stdout == "works", run.stderr


def test_without_the_package_its_name_is_unknown(tmp_path: Path) -> None:
    from textrank.config import load_pipeline

    (tmp_path / "own.cfg").write_text(CFG)
    with pytest.raises(ValueError, match=r"nothing is registered as 'shared_length.v1'"):
        load_pipeline(tmp_path / "own.cfg")
