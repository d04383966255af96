"""Real-word spelling without spaCy: pairs of words, and which of them a context wants."""

from importlib.resources import files
from pathlib import Path

from textrank.spelling.confusions import PRECISION, Confusions, Flag, Pair
from textrank.spelling.contexts import HOLE

__all__ = ["HOLE", "PRECISION", "Confusions", "Flag", "Pair", "shipped"]


def shipped(name: str) -> Path | None:
    """The folder of a model that ships with textrank; None where there is none of that name."""
    folder = Path(str(files("textrank.models"))) / name
    return folder if name.isidentifier() and (folder / "pairs.json").is_file() else None
