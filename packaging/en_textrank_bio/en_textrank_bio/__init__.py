"""``spacy.load("en_textrank_bio")``: the pipeline that comes with textrank."""

from typing import Any

from spacy.language import Language
from spacy.util import load_model_from_path

from textrank.language.load import model_path, register_components


def load(**overrides: Any) -> Language:
    """The pipeline; ``overrides`` are those of ``spacy.load``."""
    register_components()
    return load_model_from_path(model_path(), **overrides)
