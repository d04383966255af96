"""Views: several named representations of the same candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textrank.docs import Candidate, Representation
from textrank.representations.mentions.core import Once
from textrank.types import Viewed


@dataclass(frozen=True)
class Views:
    """Several representations of each candidate, by name; a kernel looks at one with ``OnView``.

    ``Views({"graph": DependencyGraph(), "words": WordPositions()})`` goes with
    ``Sum([OnView("graph", AllPathsGraph()), OnView("words", Linear())])``.
    """

    representations: Mapping[str, Any]  # a cfg is checked before the blocks inside are built

    def __post_init__(self) -> None:
        if not self.representations:
            raise ValueError("representations must name at least one view, got none")
        for name, part in self.representations.items():
            if not isinstance(part, Representation):
                raise ValueError(f"view {name!r}: {part!r:.60} is no representation")

    def __call__(self, candidates: Sequence[Candidate]) -> Viewed:
        return Viewed({name: _seen(by, candidates) for name, by in self.representations.items()})


def _seen(represent: Any, candidates: Sequence[Candidate]) -> Sequence[Any]:
    """One view; what candidates share stays shared, for a kernel that can make use of it."""
    found: Sequence[Any] = (
        represent.shared(candidates) if isinstance(represent, Once) else represent(candidates)
    )
    return found
