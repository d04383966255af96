"""``textrank results verify`` finds what is wrong with a result, and repairs what it can."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.scale.test_run import Job, documents, everything, inputs, job, start
from textrank.cli.app import run as run_command
from textrank.results.schema import TABLES, checksum_file, part_file, read_checksums
from textrank.scale.run import count_parts_without_checksums, lock_folder, verify_folder

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


def parts(folder: Path, job: Job) -> list[str]:
    return sorted(file.stem for file in (folder / "documents").glob(f"*.{job.format}"))


def repair_and_run_again(folder: Path, job: Job, inputs: list[str]) -> None:
    assert all(p.repaired for p in verify_folder(folder, repair=True) if p.kind == "damaged")
    assert {p.kind for p in verify_folder(folder)} == {"missing"}
    run, pool, _ = start(job)
    run.settings = {**run.settings, "format": job.format}
    run(inputs, pool)
    assert verify_folder(folder) == []
    assert documents(job) == sorted(everything())


@pytest.mark.parametrize("job", ["jsonl"], indirect=True)
def test_a_changed_word_is_found(folder: Path, job: Job, inputs: list[str]) -> None:
    """The file can still be read, so only its checksum tells."""
    file = part_file(folder, "documents", parts(folder, job)[0], job.format)
    file.write_text(file.read_text().replace('"document": "', '"document": "x', 1))
    (problem,) = verify_folder(folder)
    assert (problem.kind, problem.repaired) == ("damaged", False)
    assert f"{file}: damaged (its content has changed since it was written)" in problem.reason
    repair_and_run_again(folder, job, inputs)


def test_a_file_of_another_part_is_found(folder: Path, job: Job, inputs: list[str]) -> None:
    """It is valid and has the right columns."""
    first, second = (part_file(folder, "documents", p, job.format) for p in parts(folder, job)[:2])
    first.write_bytes(second.read_bytes())
    (problem,) = verify_folder(folder)
    assert (problem.kind, problem.place) == ("damaged", str(first))
    repair_and_run_again(folder, job, inputs)


@pytest.mark.parametrize(
    "content",
    [b"", b"x", b"\xff\xfe", b"0" * 64 + b"  documents/0.jsonl\n", b"\n" * 20_000],
)
def test_damaged_checksums_are_found(
    content: bytes, folder: Path, job: Job, inputs: list[str]
) -> None:
    file = checksum_file(folder, parts(folder, job)[0])
    file.write_bytes(content)
    (problem,) = verify_folder(folder)
    assert (problem.kind, str(file) in problem.reason) == ("damaged", True)
    repair_and_run_again(folder, job, inputs)


def test_results_without_checksums_are_read_as_before(
    folder: Path, job: Job, inputs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    n_parts = len(parts(folder, job))
    shutil.rmtree(folder / "checksums")
    assert verify_folder(folder) == []
    assert count_parts_without_checksums(folder) == n_parts
    assert run_command(["results", "verify", str(folder)]) == 0
    assert f"{n_parts} parts have no checksums" in capsys.readouterr().out
    file = part_file(folder, "names", parts(folder, job)[0], job.format)
    file.write_bytes(b"\xff{" + file.read_bytes())
    assert [p.kind for p in verify_folder(folder)] == ["damaged"]
    repair_and_run_again(folder, job, inputs)
    assert count_parts_without_checksums(folder) == n_parts - 1  # the part computed again has them


def test_checksums_are_those_of_the_files(folder: Path, job: Job) -> None:
    for part in parts(folder, job):
        assert read_checksums(folder, part) == {
            table: hashlib.sha256(
                part_file(folder, table, part, job.format).read_bytes()
            ).hexdigest()
            for table in TABLES
        }
    lines = checksum_file(folder, part).read_text().splitlines()
    assert [line.split("  ")[1] for line in lines] == [
        f"{table}/{part}.{job.format}" for table in TABLES
    ]


def test_checksums_of_no_part_are_stray(folder: Path) -> None:
    stray = checksum_file(folder, "0" * 16)
    stray.write_text("x")
    assert [(p.kind, p.place) for p in verify_folder(folder, repair=True)] == [
        ("stray", str(stray))
    ]
    assert not stray.exists()


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
