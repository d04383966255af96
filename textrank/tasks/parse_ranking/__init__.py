"""Task ``parse_ranking``: choose the best dependency parse of a sentence.

``task`` is the task, ``parsers`` generates candidate parses, and ``features`` describes them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.tasks.parse_ranking.task import ParseRanking

_MODULES = {"ParseRanking": "task"}
__all__ = ["ParseRanking"]


def __getattr__(name: str) -> Any:
    """Import a public class on first use and keep it as an attribute of the package.

    Raises AttributeError for any name that is not in ``__all__``.
    """
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)
