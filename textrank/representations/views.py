"""Several named representations of the same candidates."""

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
    """Several representations of each candidate by name, for kernels that use ``OnView``.

    ``representations`` maps the name of a view to its representation. ``Views({"graph":
    DependencyGraph(), "words": WordPositions()})`` goes with
    ``Sum([OnView("graph", AllPathsGraph()), OnView("words", Linear())])``.
    """

    representations: Mapping[str, Any]  # Any: a cfg is validated before the blocks inside are built

    def __post_init__(self) -> None:
        """Raise ValueError without views, or for one that is not a representation."""
        if not self.representations:
            raise ValueError("representations must name at least one view, got none")
        for name, part in self.representations.items():
            if not isinstance(part, Representation):
                raise ValueError(f"view {name!r}: {part!r:.60} is not a representation")

    def __call__(self, candidates: Sequence[Candidate]) -> MultiView:
        """Return all views of the candidates by name.

        Each view has one row per candidate, in order.
        """
        return MultiView(
            {
                name: _represent_view(represent, candidates)
                for name, represent in self.representations.items()
            }
        )

    def represent_fast(self, candidates: Sequence[Candidate]) -> MultiView:
        """Return all views; those with a fast form are computed once per distinct spans.

        Such a view is a ``SharedRows``: candidates with the same spans share a row. Other views are
        as in ``__call__``, but not shared.
        """
        first, index = group_by_spans(candidates)
        views = {
            name: SharedRows(self._fast_representations[name].represent_fast(first), index)
            if name in self._fast_representations
            else represent(candidates)
            for name, represent in self.representations.items()
        }
        return MultiView(views)

    @cached_property
    def _fast_representations(self) -> dict[str, FastRepresentation[Any]]:
        """Representations with a fast form, by name."""
        representations = self.representations
        return {
            name: represent
            for name, represent in representations.items()
            if isinstance(represent, FastRepresentation)
        }


def _represent_view(represent: Any, candidates: Sequence[Candidate]) -> Sequence[Any]:
    """Return one view, with one row per candidate.

    A ``SharedRepresentation`` returns its shared form, in which candidates may refer to the same
    row; any other representation is called as it is.
    """
    view: Sequence[Any] = (
        represent.shared(candidates)
        if isinstance(represent, SharedRepresentation)
        else represent(candidates)
    )
    return view
