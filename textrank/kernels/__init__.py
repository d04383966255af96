"""Kernels: positive semidefinite similarities of representations.

``algebra`` has elementary kernels and operations that compose kernels, ``views`` kernels on several
views of a candidate, ``graphs`` and ``sequences`` those on labelled graphs, symbol
sequences and word-position matrices. Kernels know arrays, not text. Classes are imported on first
use: ``from textrank.kernels import AllPathsGraph, Normalized``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.kernels.algebra import (
        Centred,
        Choice,
        Distance,
        Exponential,
        Gaussian,
        Linear,
        Normalized,
        OnView,
        Polynomial,
        Power,
        Product,
        Scale,
        Similarities,
        Sum,
    )
    from textrank.kernels.graphs import AllPathsGraph, LabelBag, ShortestPathGraph
    from textrank.kernels.sequences import (
        GapWeighted,
        LocalityConvolution,
        LocalityImproved,
        LocalSum,
        Positional,
        SpectrumKernel,
    )
    from textrank.kernels.views import CombinedViews, EachView, PerQuestionKernel

_HOMES = {
    "AllPathsGraph": "graphs",
    "Centred": "algebra",
    "Choice": "algebra",
    "CombinedViews": "views",
    "Distance": "algebra",
    "EachView": "views",
    "Exponential": "algebra",
    "GapWeighted": "sequences",
    "Gaussian": "algebra",
    "LabelBag": "graphs",
    "Linear": "algebra",
    "LocalSum": "sequences",
    "LocalityConvolution": "sequences",
    "LocalityImproved": "sequences",
    "Normalized": "algebra",
    "OnView": "algebra",
    "PerQuestionKernel": "views",
    "Polynomial": "algebra",
    "Positional": "sequences",
    "Power": "algebra",
    "Product": "algebra",
    "Scale": "algebra",
    "ShortestPathGraph": "graphs",
    "Similarities": "algebra",
    "SpectrumKernel": "sequences",
    "Sum": "algebra",
}

__all__ = [
    "AllPathsGraph",
    "Centred",
    "Choice",
    "CombinedViews",
    "Distance",
    "EachView",
    "Exponential",
    "GapWeighted",
    "Gaussian",
    "LabelBag",
    "Linear",
    "LocalSum",
    "LocalityConvolution",
    "LocalityImproved",
    "Normalized",
    "OnView",
    "PerQuestionKernel",
    "Polynomial",
    "Positional",
    "Power",
    "Product",
    "Scale",
    "ShortestPathGraph",
    "Similarities",
    "SpectrumKernel",
    "Sum",
]


def __getattr__(name: str) -> Any:
    """Import a public class on first use and keep it in the module.

    Raises AttributeError for any other name.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public classes."""
    return sorted(__all__)
