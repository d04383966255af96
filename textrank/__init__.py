"""Mines text with kernel methods on spaCy.

A pipeline meets a corpus and yields a report or a model:

>>> import textrank
>>> pipeline = textrank.load_pipeline("ppi")
>>> pipeline.task
PPI(entities='entities', labels=(), level=0.5, precision=None)

Names are imported when they are first used, so that ``import textrank`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.candidates import Candidate, Targets
    from textrank.config import (
        dump_pipeline,
        load_corpus,
        load_model,
        load_pipeline,
        model_names,
        pipeline_names,
        registry,
    )
    from textrank.evaluation import Report, cross_validate, evaluate
    from textrank.features import FeatureNames, Features, LabelledGraph
    from textrank.language import load_nlp
    from textrank.model import Model
    from textrank.pipeline import Pipeline
    from textrank.protocols import FeatureKernel, Kernel

    __version__: str

_HOMES = {
    "Candidate": "candidates",
    "FeatureKernel": "features",
    "Features": "features",
    "Kernel": "features",
    "LabelledGraph": "features",
    "Model": "model",
    "FeatureNames": "features",
    "Pipeline": "pipeline",
    "Report": "evaluation",
    "Targets": "candidates",
    "cross_validate": "evaluation",
    "dump_pipeline": "config",
    "evaluate": "evaluation",
    "load_corpus": "config",
    "load_model": "config",
    "load_nlp": "language",
    "load_pipeline": "config",
    "model_names": "config",
    "pipeline_names": "config",
    "registry": "config",
}

__all__ = [
    "Candidate",
    "FeatureKernel",
    "FeatureNames",
    "Features",
    "Kernel",
    "LabelledGraph",
    "Model",
    "Pipeline",
    "Report",
    "Targets",
    "cross_validate",
    "dump_pipeline",
    "evaluate",
    "load_corpus",
    "load_model",
    "load_nlp",
    "load_pipeline",
    "model_names",
    "pipeline_names",
    "registry",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name in _HOMES:
        value = getattr(import_module(f"textrank.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'textrank' has no attribute {name!r}")
    globals()[name] = value
    return value


def _version() -> str:
    """Asked for where it is shown: reading it takes longer than all else that starts a command."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("textrank-kernels")
    except PackageNotFoundError:  # a source tree that is not installed
        return "unknown"


def __dir__() -> list[str]:
    return [*globals(), "__version__", *_HOMES]
