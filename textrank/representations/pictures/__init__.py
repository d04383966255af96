"""Drawings of representations, for the documentation and for looking at one's own data."""

from __future__ import annotations

from typing import Any

__all__ = ["matplotlib_pyplot", "parse_windows", "sentence_graph", "transformed_context"]


def matplotlib_pyplot() -> Any:
    """Matplotlib's pyplot, or how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "drawings need matplotlib: pip install 'textrank-kernels[plots]'"
        ) from error
    return plt
