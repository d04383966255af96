"""``textrank results verify`` finds what is wrong with a result, and repairs what it can."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scale.test_run import Job, documents, everything, inputs, job, start
from textrank.cli.app import run as run_command
from textrank.results.schema import TABLES
from textrank.scale.run import lock_folder, verify_folder

__all__ = ["inputs", "job"]  # fixtures


@pytest.fixture
def folder(job: Job, inputs: list[str]) -> Path:
    run, pool, _ = start(job)
    run(inputs, pool)
    path = Path(job.folder)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["settings"]["format"] = job.format
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


def test_a_sound_result_has_no_problems(folder: Path) -> None:
    assert verify_folder(folder) == []


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "other columns"])
def test_damaged_parts_are_found_removed_and_computed_again(
    table: str, damage: str, folder: Path, job: Job, inputs: list[str]
) -> None:
    file = sorted((folder / table).glob(f"*.{job.format}"))[0]
    data = file.read_bytes()
    if damage == "gone":
        file.unlink()
    elif damage == "other columns":
        other = "documents" if table != "documents" else "errors"
        source = folder / other / file.name
        file.write_bytes(source.read_bytes() or b'{"x": 1}\n')
    else:
        file.write_bytes(data[: len(data) // 2] + b"\xff{" if damage == "cut" else b"\xff" + data)
    problems = verify_folder(folder)
    assert problems
    assert {p.kind for p in problems} <= {"damaged", "missing", "stray"}
    assert verify_folder(folder, repair=True)
    assert {p.kind for p in verify_folder(folder)} <= {"missing"}
    run, pool, _ = start(job)
    run.settings = {**run.settings, "format": job.format}
    run(inputs, pool)
    assert verify_folder(folder) == []
    assert documents(job) == sorted(everything())


def test_changed_and_missing_inputs_are_told(folder: Path, inputs: list[str]) -> None:
    Path(inputs[0]).write_text("changed\n")
    Path(inputs[1]).unlink()
    problems = verify_folder(folder, repair=True)
    assert [(p.kind, p.place, p.repaired) for p in problems] == [
        ("input", inputs[0], False),
        ("input", inputs[1], False),
    ]


def test_a_stray_folder_is_told_and_not_said_to_be_removed(folder: Path) -> None:
    stray = folder / "names" / "backup"
    stray.mkdir()
    problems = verify_folder(folder, repair=True)
    assert [(p.kind, p.place, p.repaired) for p in problems] == [("stray", str(stray), False)]
    assert stray.is_dir()


def test_a_result_in_use_is_left_alone(folder: Path) -> None:
    with lock_folder(folder), pytest.raises(ValueError, match="another run"):
        verify_folder(folder, repair=True)


def test_the_command(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["results", "verify", str(folder)]) == 0
    assert "0 problems" in capsys.readouterr().out
    stray = folder / "names" / "stray.parquet"
    stray.write_text("x")
    assert run_command(["results", "verify", str(folder), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["kind"] == "stray"
    assert run_command(["results", "verify", str(folder), "--repair"]) == 0
    assert not stray.exists()
    assert run_command(["results", "verify", str(tmp_path)]) == 2
    assert "no manifest.json" in capsys.readouterr().err
    assert run_command(["results", "mend", str(folder)]) == 2
