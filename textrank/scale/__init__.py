"""Annotation of large collections: resumable runs on processes or on a Dask cluster.

A run (``run``) plans its inputs as slices (``job``), sends each slice to a worker process
(``worker``, watched by ``supervisor``), and the worker writes one part of the result tables. A
*slice* is a unit of input documents, a *part* the rows that it gives, stored under the slice's id.
``distributed`` has the Dask variants of workers, evaluation and training.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.scale.job import Job, Manifest, Piece, Slice
    from textrank.scale.run import Progress, Run, Summary

_MODULES = {
    "Job": "job",
    "Manifest": "job",
    "Piece": "job",
    "Progress": "run",
    "Run": "run",
    "Slice": "job",
    "Summary": "run",
}

__all__ = [
    "Job",
    "Manifest",
    "Piece",
    "Progress",
    "Run",
    "Slice",
    "Summary",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use and cache it; raise AttributeError for any other name."""
    if name not in _MODULES:
        raise AttributeError(f"module 'textrank.scale' has no attribute {name!r}")
    value = getattr(import_module(f"textrank.scale.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
