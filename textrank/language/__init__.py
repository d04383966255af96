"""Biomedical spaCy pipeline that ships with the project, and text handling around it.

``load`` loads pipelines. Components of the shipped one are in ``segmentation`` (tokens,
sentences, texts of any length), ``syntax`` (tok2vec, tagger, parser), ``morphology``, ``ner`` and
``name_kinds`` (gene names). ``normalization`` maps raw text with markup to words and back, and
``abbreviations`` finds short and long forms. The private modules are fast NumPy versions of the
networks.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.language.load import load_nlp, model_path

__all__ = ["load_nlp", "model_path"]


def __getattr__(name: str) -> Any:
    """Import a public function on first use and keep it; raise AttributeError for other names."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module("textrank.language.load"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)
