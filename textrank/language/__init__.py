"""The biomedical spaCy pipeline that ships with the project, and how it is made."""

from textrank.language.load import load_nlp, model_path

__all__ = ["load_nlp", "model_path"]
