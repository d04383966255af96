"""Presentation of evaluation results and explanations.

``table`` has tables for the terminal and JSON files, ``html`` self-contained pages and their
figures, ``explanation`` decisions with what made their scores.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.reports.explanation import ExplainedDecision, explain_errors, render_explanations
    from textrank.reports.html import (
        Figure,
        draw_figures,
        render_cross_corpus,
        render_report,
        render_sweep,
        select_worst_errors,
        write_cross,
        write_report_page,
        write_sweep,
    )
    from textrank.reports.table import (
        comparison_table,
        cross_table,
        raw_text_table,
        read_report,
        report_table,
        sweep_table,
        write_report,
    )

_MODULES = {
    "ExplainedDecision": "explanation",
    "Figure": "html",
    "comparison_table": "table",
    "cross_table": "table",
    "draw_figures": "html",
    "explain_errors": "explanation",
    "raw_text_table": "table",
    "read_report": "table",
    "render_cross_corpus": "html",
    "render_explanations": "explanation",
    "render_report": "html",
    "render_sweep": "html",
    "report_table": "table",
    "select_worst_errors": "html",
    "sweep_table": "table",
    "write_cross": "html",
    "write_report": "table",
    "write_report_page": "html",
    "write_sweep": "html",
}

__all__ = [
    "ExplainedDecision",
    "Figure",
    "comparison_table",
    "cross_table",
    "draw_figures",
    "explain_errors",
    "raw_text_table",
    "read_report",
    "render_cross_corpus",
    "render_explanations",
    "render_report",
    "render_sweep",
    "report_table",
    "select_worst_errors",
    "sweep_table",
    "write_cross",
    "write_report",
    "write_report_page",
    "write_sweep",
]


def __getattr__(name: str) -> Any:
    """Import a public class or function on first use; AttributeError for any other name."""
    if name in _MODULES:
        return getattr(import_module(f"textrank.reports.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
