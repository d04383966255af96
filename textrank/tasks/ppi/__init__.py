"""Task ``ppi``: find protein-protein interactions, pairs of entities in a sentence.

In reading order:

* ``task``: ``PPI``, which makes candidates and writes answers; ``facts`` joins them over documents;
* ``views``: ``PairViews``, the representation of the shipped model, and ``StatementViews``;
* ``statements``: ``PPIStatement`` and the submodels of status, type and direction;
* ``sentences`` and ``pairs``: analysed sentences, and pairs of entities in them as arrays;
* ``graphs``, ``blocks``, ``descriptors`` and ``statement_features``: representations of pairs;
* ``vocabulary``: word lists; ``exports``: facts in the formats of the field.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.tasks.ppi.blocks import (
        GlobalContext,
        LocalContext,
        PathWalks,
        SideWords,
        TriggerRoles,
    )
    from textrank.tasks.ppi.descriptors import PairDescriptors
    from textrank.tasks.ppi.graphs import DependencyGraph
    from textrank.tasks.ppi.statements import PPIStatement
    from textrank.tasks.ppi.task import PPI
    from textrank.tasks.ppi.views import PairViews, StatementViews

_MODULES = {
    "DependencyGraph": "graphs",
    "GlobalContext": "blocks",
    "LocalContext": "blocks",
    "PPI": "task",
    "PPIStatement": "statements",
    "PairDescriptors": "descriptors",
    "PairViews": "views",
    "PathWalks": "blocks",
    "SideWords": "blocks",
    "StatementViews": "views",
    "TriggerRoles": "blocks",
}
__all__ = [
    "PPI",
    "DependencyGraph",
    "GlobalContext",
    "LocalContext",
    "PPIStatement",
    "PairDescriptors",
    "PairViews",
    "PathWalks",
    "SideWords",
    "StatementViews",
    "TriggerRoles",
]


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
