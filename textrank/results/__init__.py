"""Results of ``textrank apply --out``: tables on disk, and questions to them.

``schema`` has the columns of the tables and how they are written, ``store`` opens result folders in
DuckDB and aggregates facts, ``queries`` has the SQL of the explorer's pages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.results.schema import DocumentRow, ErrorRow, NameRow, StatementRow
    from textrank.results.store import FactRow, Filter, Results, Store, open_results, open_store

_MODULES = {
    "DocumentRow": "schema",
    "ErrorRow": "schema",
    "FactRow": "store",
    "Filter": "store",
    "NameRow": "schema",
    "Results": "store",
    "StatementRow": "schema",
    "Store": "store",
    "open_results": "store",
    "open_store": "store",
}

__all__ = [
    "DocumentRow",
    "ErrorRow",
    "FactRow",
    "Filter",
    "NameRow",
    "Results",
    "StatementRow",
    "Store",
    "open_results",
    "open_store",
]


def __getattr__(name: str) -> Any:
    """Import a public class or function on first use; raise AttributeError for any other name."""
    if name in _MODULES:
        return getattr(import_module(f"textrank.results.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)
