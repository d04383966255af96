"""What a run applies, in plain values that go to any worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from textrank.scale.part import FORMATS, Format

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """A model with its settings, and where and how its answers are written.

    ``model`` and ``nlp`` are names or paths, as on the command line. ``whole`` parses every
    sentence, also those without an answer; the answers are the same.
    """

    model: str
    folder: str
    nlp: str | None = None
    settings: tuple[str, ...] = ()
    format: Format = "parquet"
    whole: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", tuple(self.settings))
        if self.format not in FORMATS:
            raise ValueError(f"--format must be one of {', '.join(FORMATS)}, got {self.format!r}.")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the manifest and on the way to a worker."""
        return {**asdict(self), "settings": list(self.settings)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Job:
        """What ``to_dict`` gave."""
        return cls(**{**values, "settings": tuple(values["settings"])})
