"""The hook in a real client: ``pre-commit run`` in a scratch repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("git"), reason="no git"),
]
HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=t", "-c", "user.email=t@t", "-C", str(folder)]
    subprocess.run(["git", *own, *words], check=True, capture_output=True)


def hooked(folder: Path) -> None:
    """A repository whose hook is ours, run by the Python of these tests."""
    yaml = pytest.importorskip("yaml")
    (hook,) = yaml.safe_load(HOOKS.read_text())
    entry = hook["entry"].replace("textrank", f"{sys.executable} -m textrank", 1)
    local = {**hook, "language": "system", "entry": entry}
    config = {"repos": [{"repo": "local", "hooks": [local]}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git(folder, "init", "-q")


def test_pre_commit_stops_a_wrong_word_and_lets_right_ones_pass(tmp_path, monkeypatch):
    pytest.importorskip("pre_commit")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()
    hooked(project)
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
    (project / "a.md").write_text("This one is larger then the other.\n")
    git(project, "add", ".")
    stopped = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert stopped.returncode == 1
    assert "a.md:1:20: then → than" in stopped.stdout
    (project / "a.md").write_text("This one is larger than the other.\n")
    git(project, "add", ".")
    passed = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert passed.returncode == 0, passed.stdout
