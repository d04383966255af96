"""The biomedical spaCy pipeline that ships with the project, and text handling around it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.language.load import load_nlp, model_path

__all__ = ["load_nlp", "model_path"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module("textrank.language.load"), name)
    globals()[name] = value
    return value
