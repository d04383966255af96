"""``spacy.load("en_textrank_bio")``: the pipeline that comes with textrank."""

from typing import Any

from spacy.language import Language

from textrank.language.load import load_shipped


def load(**overrides: Any) -> Language:
    """Return the pipeline with identifiers; ``overrides`` are those of ``spacy.load``."""
    return load_shipped(**overrides)
