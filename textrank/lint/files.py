"""Files a linter is given: settings of the project, and which lines have changed."""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST = 64 << 20  # bytes of one file


@dataclass(frozen=True)
class Settings:
    """What ``[tool.textrank.spell]`` of a pyproject.toml says."""

    words: tuple[str, ...] = ()
    precision: float | None = None
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: Path) -> Settings:
        """Those of the nearest pyproject.toml above a folder."""
        for place in (folder.resolve(), *folder.resolve().parents):
            file = place / "pyproject.toml"
            if file.is_file():
                return cls._read(file)
        return cls()

    @classmethod
    def _read(cls, file: Path) -> Settings:
        try:
            whole = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{file}: not readable as TOML ({error}). Mend it.") from error
        own: dict[str, Any] = whole.get("tool", {}).get("textrank", {}).get("spell", {})
        unknown = sorted(set(own) - {"words", "precision", "exclude"})
        if unknown:
            raise ValueError(
                f"{file}, [tool.textrank.spell]: no setting {unknown[0]!r}; there are: words, "
                "precision, exclude."
            )
        precision = own.get("precision")
        return cls(
            tuple(map(str, own.get("words", ()))),
            None if precision is None else float(precision),
            tuple(map(str, own.get("exclude", ()))),
        )


def read(path: Path) -> str:
    """The text of a file, refused with a reason where it is none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file. Check the path.") from None
    except IsADirectoryError:
        raise ValueError(f"{path}: a folder. Name the files inside it.") from None
    if len(data) > LARGEST:
        raise ValueError(f"{path}: {len(data):,} bytes, more than {LARGEST:,}. Split it.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, byte {error.start}: not UTF-8 ({error.reason}). Convert it to UTF-8."
        ) from None


def changed_lines(path: Path, revision: str) -> set[int]:
    """The lines of a file that are new since a revision of its git repository."""
    command = ["git", "diff", "--unified=0", "--no-color", revision, "--", path.name]
    try:
        done = subprocess.run(
            command, cwd=path.resolve().parent, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise ValueError("--since needs git, which is not installed.") from None
    if done.returncode:
        raise ValueError(f"{path}: git cannot compare with {revision!r}: {done.stderr.strip()}")
    found: set[int] = set()
    for start, count in re.findall(r"(?m)^@@ -\S+ \+(\d+)(?:,(\d+))? @@", done.stdout):
        found |= set(range(int(start), int(start) + int(count or 1)))
    return found
