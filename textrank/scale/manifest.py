"""manifest.json: what a result was made with, from what, in which slices."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from textrank.io import writing
from textrank.scale.part import TABLES
from textrank.scale.plan import SIZE, Input, Slice, describe, input_files, slices_of

NAME = "manifest.json"
FORMAT = 1  # rises when an older textrank could not read a new folder
PACKAGES = ("textrank-kernels", "spacy", "numpy", "scipy", "scikit-learn", "pyarrow")


@dataclass(frozen=True)
class Manifest:
    """Settings that may not change, and inputs and slices, to which more may be added."""

    settings: Mapping[str, Any]
    inputs: tuple[Input, ...] = ()
    slices: tuple[Slice, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Puts it into the folder of the result, in place of an older one."""
        values = {
            "format": FORMAT,
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "columns": TABLES,
            "inputs": [asdict(file) for file in self.inputs],
            "slices": [slice.to_dict() for slice in self.slices],
        }
        with writing(folder / NAME) as out:
            out.write(json.dumps(values, indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Manifest | None:
        """That of a folder; None where a run has not begun."""
        file = folder / NAME
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
            return cls(
                dict(values["settings"]),
                tuple(Input(**row) for row in values["inputs"]),
                tuple(map(Slice.from_dict, values["slices"])),
                dict(values["versions"]),
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(
                f"{file}: damaged ({error}). Restore it, or begin a result in another folder."
            ) from error

    def check(self, settings: Mapping[str, Any], folder: Path) -> None:
        """Raise where a run with other settings would mix its answers with those here."""
        for key, value in settings.items():
            if (old := self.settings.get(key)) != value:
                raise ValueError(
                    f"{folder} was made with another {key.replace('_', ' ')} ({_short(old)}, now "
                    f"{_short(value)}). Use the same, or write to another folder."
                )

    def extended(self, sources: Sequence[str], size: int = SIZE) -> Manifest:
        """With further inputs in slices of their own; known and unchanged ones stay as they are."""
        known = {file.path: file for file in self.inputs}
        new: dict[int, Input] = {}
        for source in input_files(sources):
            file = describe(source, known)
            old = known.get(file.path)
            if old is None:
                new[len(self.inputs) + len(new)] = file
                known[file.path] = file
            elif old.checksum != file.checksum:
                raise ValueError(
                    f"{source}: has changed since the result was begun. Give the new version "
                    "another name and add it: its documents then replace those of the old one."
                )
        inputs = (*self.inputs, *new.values())
        slices = (*self.slices, *slices_of(new, size))
        return Manifest(self.settings, inputs, slices, self.versions or versions())


def versions() -> dict[str, str]:
    """The versions of what answers depend on, as far as installed."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
