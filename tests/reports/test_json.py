"""Report files are written whole or not at all, and read back equal."""

from __future__ import annotations

import json

import pytest

from textrank.evaluation import Counts, Fold, Report
from textrank.io.atomic import write_text
from textrank.reports.table import read_report, report_to_json, write_report


@pytest.fixture
def report():
    fold = Fold({"auc": 0.9, "f": 0.5, "precision": None, "recall": 0.5})
    return Report("ppi", "Korpus ä", "1 fold", {"alpha": 1}, 7, Counts(1, 2, 1), [fold])


def test_what_is_written_is_read_back(tmp_path, report):
    write_report(report, tmp_path / "r.json")
    assert read_report(tmp_path / "r.json").to_dict() == report.to_dict()
    assert (tmp_path / "r.json").read_text(encoding="utf-8") == report_to_json(report)
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "r.json"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_text("new", path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"folder .*nowhere does not exist"):
        write_text("x", tmp_path / "nowhere" / "r.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "a list is not a report"),
        ("{}", "the key 'task' is missing"),
        (json.dumps(dict.fromkeys(["task", "corpus", "procedure", "settings", "seed", "versions",
                                   "counts", "measures", "folds", "seconds"])), "r.json: "),
    ],
)  # fmt: skip
def test_a_damaged_file_is_named(tmp_path, text, message):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_report(tmp_path / "r.json")
