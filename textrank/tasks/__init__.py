"""Tasks: what is decided in a Doc, how answers are written to it, and how they are evaluated.

``base`` has what tasks share; each task has a module or a package of its own. Classes are imported
on first use: ``from textrank.tasks import PPI``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.tasks.documents import Categorise, Retrieve
    from textrank.tasks.identifiers.task import Identifiers
    from textrank.tasks.parse_ranking import ParseRanking
    from textrank.tasks.ppi.statements import PPIStatement
    from textrank.tasks.ppi.task import PPI
    from textrank.tasks.senses import GeneProtein, WordSenses
    from textrank.tasks.spelling import RealWordErrors, Spelling

_HOMES = {  # public class -> module below textrank.tasks
    "Categorise": "documents",
    "GeneProtein": "senses",
    "Identifiers": "identifiers.task",
    "PPI": "ppi.task",
    "PPIStatement": "ppi.statements",
    "ParseRanking": "parse_ranking",
    "RealWordErrors": "spelling",
    "Retrieve": "documents",
    "Spelling": "spelling",
    "WordSenses": "senses",
}

__all__ = [
    "PPI",
    "Categorise",
    "GeneProtein",
    "Identifiers",
    "PPIStatement",
    "ParseRanking",
    "RealWordErrors",
    "Retrieve",
    "Spelling",
    "WordSenses",
]


def __getattr__(name: str) -> Any:
    """Import a public class on first use and keep it; raise AttributeError for other names."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public classes."""
    return sorted(__all__)
