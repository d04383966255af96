"""Views: several named representations of the same candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from textrank.candidates import Candidate
from textrank.features import MultiView, SharedRows
from textrank.protocols import FastRepresentation, Representation
from textrank.representations.mentions import SharedRepresentation, group_by_spans


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

    def __call__(self, candidates: Sequence[Candidate]) -> MultiView:
        return MultiView({name: _seen(by, candidates) for name, by in self.representations.items()})

    def represent_fast(self, candidates: Sequence[Candidate]) -> MultiView:
        """Loose views where there are any, each made once for all candidates of the same words."""
        first, at = group_by_spans(candidates)
        views = {
            name: SharedRows(self._loose[name].represent_fast(first), at)
            if name in self._loose
            else by(candidates)
            for name, by in self.representations.items()
        }
        return MultiView(views)

    @cached_property
    def _loose(self) -> dict[str, FastRepresentation[Any]]:
        """The representations that have a loose form."""
        own = self.representations
        return {name: by for name, by in own.items() if isinstance(by, FastRepresentation)}


def _seen(represent: Any, candidates: Sequence[Candidate]) -> Sequence[Any]:
    """One view; what candidates share stays shared, for a kernel that can make use of it."""
    found: Sequence[Any] = (
        represent.shared(candidates)
        if isinstance(represent, SharedRepresentation)
        else represent(candidates)
    )
    return found
