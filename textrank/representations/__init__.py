"""Representations that serve several tasks: from candidates to what a kernel compares.

``contexts`` has word-position matrices and ``transformations`` the similarities of positions and
words that kernels on them use; ``collocations`` and ``mentions`` have sparse features of the words
around and inside a span, and ``Views`` of ``mentions`` combines several representations. Classes
are imported on first use: ``from textrank.representations import WordPositions``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textrank.representations.collocations import Collocations, Tags
    from textrank.representations.contexts import WordPositions
    from textrank.representations.mentions import (
        Facts,
        Mention,
        NameCore,
        Question,
        SharedRepresentation,
        SyntacticContext,
        Views,
    )
    from textrank.representations.transformations import (
        Bag,
        CharacterNgrams,
        EqualWords,
        LearnedPositions,
        LearnedWords,
        LogScale,
        Mixture,
        PositionTable,
        ScaleFree,
        SharedStem,
        SharedTag,
        Sided,
        Smooth,
        Strict,
        Weighting,
        Within,
        WordVectorFile,
        WordVectors,
    )

_HOMES = {
    "Bag": "transformations",
    "CharacterNgrams": "transformations",
    "Collocations": "collocations",
    "EqualWords": "transformations",
    "Facts": "mentions",
    "LearnedPositions": "transformations",
    "LearnedWords": "transformations",
    "LogScale": "transformations",
    "Mention": "mentions",
    "Mixture": "transformations",
    "NameCore": "mentions",
    "PositionTable": "transformations",
    "Question": "mentions",
    "ScaleFree": "transformations",
    "SharedRepresentation": "mentions",
    "SharedStem": "transformations",
    "SharedTag": "transformations",
    "Sided": "transformations",
    "Smooth": "transformations",
    "Strict": "transformations",
    "SyntacticContext": "mentions",
    "Tags": "collocations",
    "Views": "mentions",
    "Weighting": "transformations",
    "Within": "transformations",
    "WordPositions": "contexts",
    "WordVectorFile": "transformations",
    "WordVectors": "transformations",
}

__all__ = [
    "Bag",
    "CharacterNgrams",
    "Collocations",
    "EqualWords",
    "Facts",
    "LearnedPositions",
    "LearnedWords",
    "LogScale",
    "Mention",
    "Mixture",
    "NameCore",
    "PositionTable",
    "Question",
    "ScaleFree",
    "SharedRepresentation",
    "SharedStem",
    "SharedTag",
    "Sided",
    "Smooth",
    "Strict",
    "SyntacticContext",
    "Tags",
    "Views",
    "Weighting",
    "Within",
    "WordPositions",
    "WordVectorFile",
    "WordVectors",
]


def __getattr__(name: str) -> Any:
    """Import a public class on first use and keep it; raise AttributeError for other names."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public classes."""
    return sorted(__all__)
