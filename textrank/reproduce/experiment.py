"""Experiment and Table: one table of a source, run on the data at hand, kept as JSON."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from textrank.io import WHOLE, load_json, read_json
from textrank.registries import versions
from textrank.reports.json import write_data

Better: TypeAlias = Literal["higher", "lower", "neither"]
REVISION = 1  # rises when the same settings would give other figures


@dataclass(frozen=True)
class Figure:
    """What we measured: a mean and its spread, None where there was one value only."""

    mean: float
    spread: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        """The mean of several runs with their standard deviation.

        >>> Figure.of([0.5, 0.7])
        Figure(mean=0.6, spread=0.1)
        """
        mean, spread = float(np.mean(values)), float(np.std(values))
        return cls(round(mean, 6), round(spread, 6) if len(values) > 1 else None)


Cells: TypeAlias = Mapping[str, Mapping[str, Figure]]  # by row and column


@dataclass(frozen=True)
class Setting:
    """Where the data are, the seed of every draw, and whether the long version is wanted."""

    data: Path
    seed: int = 0
    full: bool = False

    def file(self, name: str) -> Path:
        """A file of the data; one that is missing is named."""
        path = self.data / name
        if not path.exists():
            raise ValueError(
                f"{path}: no such file, which this table needs. Name the folder of the research "
                "data with --data."
            )
        return path


@dataclass(frozen=True)
class Words:
    """What a reader must know of a table."""

    title: str
    measure: str  # what the figures are
    spread: str  # over what
    differs: str  # from the source, in data and procedure
    better: Better = "higher"
    part: str = ""  # what the short version leaves out
    why: str = ""  # why ours are worse where they are
    digits: int = 3


@dataclass(frozen=True)
class Experiment:
    """One table of a source by the name of its figures and words, and how to run it."""

    name: str
    run: Callable[[Setting], Cells]
    files: Sequence[str] = ()

    @property
    def words(self) -> Words:
        """Those of ``tables.toml``."""
        words = tomllib.loads((files("textrank.reproduce") / "tables.toml").read_text("utf-8"))
        return Words(**{k: _plain(v) for k, v in words[self.name].items()})

    def check(self, setting: Setting) -> None:
        """Refuses before long work where a file is missing."""
        for name in self.files:
            setting.file(name)

    def settings(self, setting: Setting) -> dict[str, Any]:
        """What the figures depend on."""
        sizes = {name: setting.file(name).stat().st_size for name in self.files}
        full = setting.full and bool(self.words.part)
        return {"seed": setting.seed, "full": full, "revision": REVISION, "files": sizes}


@dataclass(frozen=True)
class Table:
    """The figures of an experiment, the source's and ours."""

    experiment: Experiment
    settings: Mapping[str, Any]
    cells: Cells
    seconds: float  # of the processor
    versions: Mapping[str, str] = field(default_factory=versions)

    @property
    def published(self) -> Mapping[str, Mapping[str, float]]:
        """The figures of the source, by row and column."""
        return published(self.experiment.name)["figures"]

    @property
    def rows(self) -> list[str]:
        """Those of the source first."""
        return list(dict.fromkeys([*self.published, *self.cells]))

    @property
    def columns(self) -> list[str]:
        """Those of the source first."""
        both = [*self.published.values(), *self.cells.values()]
        return list(dict.fromkeys(column for row in both for column in row))

    def worse(self) -> Iterator[tuple[str, str, float]]:
        """Row, column and difference where the source's figure is the better one."""
        sign = {"higher": 1.0, "lower": -1.0, "neither": 0.0}[self.experiment.words.better]
        for row, columns in self.published.items():
            for column, value in columns.items():
                ours = self.cells.get(row, {}).get(column)
                if ours is not None and sign * (ours.mean - value) < -0.5 * 10**-3:
                    yield row, column, ours.mean - value

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as they stand in the file."""
        experiment, source = self.experiment, published(self.experiment.name)
        rows = [
            {"row": row, "column": column, "ours": figure.mean, "spread": figure.spread,
             "source": self.published.get(row, {}).get(column)}
            for row, columns in self.cells.items()
            for column, figure in columns.items()
        ]  # fmt: skip
        return {
            "name": experiment.name,
            "title": experiment.words.title,
            "source": source["source"],
            "where": source["where"],
            "measure": experiment.words.measure,
            "settings": dict(self.settings),
            "figures": rows,
            "seconds": round(self.seconds, 1),
            "versions": dict(self.versions),
        }


def reproduced(experiment: Experiment, setting: Setting, folder: Path) -> tuple[Table, bool]:
    """The table, and whether it was run now: one kept in the folder with these settings is not."""
    settings = experiment.settings(setting)
    found = kept(experiment, folder)
    if found is not None and found.settings == settings:
        return found, False
    start = time.process_time()
    cells = experiment.run(setting)
    table = Table(experiment, settings, cells, time.process_time() - start)
    write_data(table.to_dict(), folder / f"{experiment.name}.json")
    return table, True


def published(name: str) -> Mapping[str, Any]:
    """What a source says: ``source``, ``where`` in it, and ``figures`` by row and column."""
    return dict(_facts()["tables"][name])


def sources() -> Mapping[str, str]:
    """The sources by key, as one cites them."""
    return dict(_facts()["sources"])


def _facts() -> dict[str, Any]:
    path = files("textrank.reproduce") / "published.json"
    found: dict[str, Any] = load_json(path.read_text("utf-8"), "published.json")
    return found


def kept(experiment: Experiment, folder: Path) -> Table | None:
    """The table that a folder holds, whatever its settings; None without one."""
    path = folder / f"{experiment.name}.json"
    if not path.exists():
        return None
    data = read_json(path, WHOLE)
    cells: dict[str, dict[str, Figure]] = {}
    try:
        for row in data["figures"]:
            figure = Figure(row["ours"], row["spread"])
            cells.setdefault(row["row"], {})[row["column"]] = figure
        return Table(experiment, data["settings"], cells, data["seconds"], data["versions"])
    except (TypeError, KeyError) as error:
        raise ValueError(f"{path}: no table of ours ({error!r}). Remove the file.") from None


def _plain(value: Any) -> Any:
    """Text of several lines as one."""
    return " ".join(value.split()) if isinstance(value, str) else value
