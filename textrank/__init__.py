"""Text mining with kernel methods on spaCy.

Annotate texts with a shipped model:

>>> import textrank
>>> doc, = textrank.annotate(["SHC binds to GRB2."], model="ppi")
>>> doc._.textrank_ppi[0]["names"]
['SHC', 'GRB2']

Train and evaluate with ``load_pipeline``, ``load_corpus``, ``Pipeline.fit``, ``cross_validate`` and
``evaluate``. Names are imported when they are first used, so that ``import textrank`` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.candidates import Candidate
    from textrank.component import annotate
    from textrank.config import (
        dump_pipeline,
        load_corpus,
        load_model,
        load_pipeline,
        model_names,
        pipeline_names,
        registry,
    )
    from textrank.evaluation import Report, cross_validate
    from textrank.evaluation.evaluate import evaluate
    from textrank.features import Features
    from textrank.language import load_nlp
    from textrank.model import Model
    from textrank.pipeline import Pipeline
    from textrank.protocols import Kernel, Learner, Representation, Task

    __version__: str

_MODULES = {  # public name -> module that defines or exports it
    "Candidate": "candidates",
    "Features": "features",
    "Kernel": "protocols",
    "Learner": "protocols",
    "Model": "model",
    "Pipeline": "pipeline",
    "Report": "evaluation",
    "Representation": "protocols",
    "Task": "protocols",
    "annotate": "component",
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
    "Features",
    "Kernel",
    "Learner",
    "Model",
    "Pipeline",
    "Report",
    "Representation",
    "Task",
    "annotate",
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
    """Import a public name on first use and keep it; raise AttributeError for other names.

    ``__version__`` is that of the installed distribution, or "not installed".
    """
    if name == "__version__":
        value: Any = _installed_version("textrank-kernels")
    elif name in _MODULES:
        value = getattr(import_module(f"textrank.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module 'textrank' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, also those that are not imported yet."""
    return [*__all__, "__version__"]


def _installed_version(distribution: str) -> str:
    """Return the version of an installed distribution, or "not installed"."""
    # Importing this takes longer than anything else that a command does at start.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
