"""The script that runs the tests under several settings."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from tests.conftest import ROOT

PASSED = '<testsuites><testsuite><testcase classname="a" name="b"/>{}</testsuite></testsuites>'
FAILED = '<testcase classname="a" name="c"><failure/></testcase>'


@pytest.fixture
def matrix(monkeypatch):
    if not (ROOT / ".ci").is_dir():
        pytest.skip("no .ci folder here")
    spec = importlib.util.spec_from_file_location("ci_matrix", ROOT / ".ci" / "matrix.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "ci_matrix", module)
    spec.loader.exec_module(module)
    return module


def test_core_types_that_the_processor_cannot_run_are_left_out(matrix, monkeypatch):
    monkeypatch.setattr(matrix, "read_processor_flags", lambda: {"pni", "sse4_2", "avx"})
    reasons = {s.name: s.reason_to_skip for s in matrix.list_settings(["2.0"])}
    assert reasons["Nehalem"] is reasons["Sandybridge"] is None
    assert reasons["Haswell"] == "this processor lacks avx2"
    assert reasons["python2.0"] == "python2.0 is not installed"


def test_settings_are_combined(matrix):
    settings = {s.name: s for s in matrix.list_settings([])}
    found = matrix.combine([settings["Haswell"], settings["threads-2"], settings["lowest"]])
    assert found.variables["OPENBLAS_CORETYPE"] == "Haswell"
    assert found.variables["OPENBLAS_NUM_THREADS"] == "2"
    assert (found.name, found.venv) == ("Haswell+threads-2+lowest", "build/venv-lowest")


@pytest.mark.parametrize(
    ("report", "code", "counts"),
    [
        (PASSED.format(""), 0, (1, 0)),
        (PASSED.format(FAILED), 1, (1, 1)),
        (PASSED.format(""), 3, (0, 1)),  # pytest itself failed
        (None, 4, (0, 1)),
    ],
)
def test_a_run_that_failed_is_counted(report, code, counts, matrix, tmp_path, capsys):
    path = tmp_path / "report.xml"
    if report is not None:
        path.write_text(report)
    result = matrix.read_result(matrix.Setting("one"), path, code, 1.0)
    assert (result.passed, result.failed) == counts
    matrix.print_table([result])
    assert all(f"one: {name}" in capsys.readouterr().out for name in result.failures)
