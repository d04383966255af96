"""Task ``identifiers``: link gene names to database identifiers.

``task`` is the task, ``features`` generates candidate genes with features, ``gazetteer`` is the
dictionary of gene names, and ``names`` normalises names and finds species.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.tasks.identifiers.gazetteer import Gazetteer, Gene, GeneLookup
    from textrank.tasks.identifiers.task import Identifiers

_MODULES = {
    "Gazetteer": "gazetteer",
    "Gene": "gazetteer",
    "GeneLookup": "gazetteer",
    "Identifiers": "task",
}
__all__ = ["Gazetteer", "Gene", "GeneLookup", "Identifiers"]


def __getattr__(name: str) -> Any:
    """Import a public class on first use and keep it; raise AttributeError for other names."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)
