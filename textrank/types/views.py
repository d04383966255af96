"""Candidates seen in several ways, and features of several ways that are found together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from textrank.types.cells import Cells
from textrank.types.features import Features, Repeated, Vector, size, take
from textrank.types.names import Indices, Names
from textrank.types.ragged import lengths, offsets, summed


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Features of several views of the same candidates in one matrix, named under their view.

    Below the rows of candidates others may stand, of what several candidates share.
    """

    features: Features
    views: Sequence[str]
    of: Indices  # the view of each column
    size: int  # how many candidates
    shared: Mapping[str, Indices] = field(default_factory=dict)  # by view, rows below of each

    def view(self, name: str) -> Features:
        """The features of candidates in one view, without its name before theirs."""
        own, kept = self.top.cells, self.of == self.views.index(name)
        inside = kept[own.indices]
        indices = (kept.cumsum(dtype=np.int32) - 1)[own.indices[inside]]
        ends = offsets(inside)[own.indptr].astype(np.int32)
        shape = own.shape[0], int(np.count_nonzero(kept))
        names = Names(self.features.names.vocabulary, self.features.names.parts[kept, 1:])
        return Features(Cells(own.data[inside], indices, ends, shape), names)

    @cached_property
    def top(self) -> Features:
        """The rows of candidates."""
        own, ends = self.features.cells, self.features.cells.indptr[: self.size + 1]
        cells = own.data[: ends[-1]], own.indices[: ends[-1]], ends
        return Features(Cells(*cells, (self.size, own.shape[1])), self.features.names)

    @cached_property
    def unit(self) -> SideBySide:
        """With every row of each view of length one; an empty row stays empty."""
        own, times = self.features.cells, len(self.views)
        part = np.arange(0, times * own.shape[0], times).repeat(lengths(own.indptr))
        part += self.of[own.indices]
        length = np.sqrt(np.bincount(part, own.data**2))[part]
        return replace(self, features=self.features.with_data(own.data * (1.0 / length)))

    def squares(self, weights: Mapping[str, float]) -> Vector:
        """The squared length of each candidate with views weighted; others count nothing."""
        own = self.top.cells
        weight = np.array([weights.get(name, 0.0) for name in self.views])[self.of[own.indices]]
        row = np.arange(self.size).repeat(lengths(own.indptr))
        return summed(weight * own.data**2, row, self.size)


@dataclass(frozen=True, eq=False)
class _Views(Mapping[str, Sequence[Any]]):
    """Views of which those found together are cut out when they are asked for."""

    together: SideBySide
    names: Sequence[str]
    known: dict[str, Sequence[Any]]

    def __getitem__(self, name: str) -> Sequence[Any]:
        if name not in self.names:
            raise KeyError(name)
        if name not in self.known:
            self.known[name] = self.together.view(name)
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Viewed(Sequence[Mapping[str, Any]]):
    """The same candidates seen in several named ways; each view is a sequence of its own.

    >>> pairs = Viewed({"length": [3, 5], "word": ["bind", "binds"]})
    >>> pairs[1]
    {'length': 5, 'word': 'binds'}
    >>> pairs.view("word")
    ['bind', 'binds']
    """

    views: Mapping[str, Sequence[Any]]
    together: SideBySide | None = None  # some of the views, perhaps among others

    @classmethod
    def joining(
        cls, together: SideBySide, names: Sequence[str], others: Mapping[str, Sequence[Any]]
    ) -> Viewed:
        """Some views of those found together, and others."""
        return cls(_Views(together, (*names, *others), dict(others)), together)

    def __post_init__(self) -> None:
        joined = self.together
        sizes = {} if joined is None else {"together": joined.size}
        others = (name for name in self.views if joined is None or name not in joined.views)
        sizes |= {name: size(self.views[name]) for name in others}
        if len(set(sizes.values())) != 1:
            raise ValueError(f"views must have one element a candidate each, got {sizes}")

    def __len__(self) -> int:
        if self.together is not None:
            return self.together.size
        return size(next(iter(self.views.values())))

    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Viewed:  # type: ignore[override]
        part = {name: view[index] for name, view in self.views.items()}
        return Viewed(part) if isinstance(index, slice) else part

    def rows(self, index: Indices | slice) -> Viewed:
        """Some candidates, all views."""
        return Viewed({name: take(view, index) for name, view in self.views.items()})

    def shared(self, name: str) -> Sequence[Any]:
        """All candidates in one view; ``Repeated`` where they share what they look like."""
        if name not in self.views:
            raise ValueError(f"no view {name!r} among {sorted(self.views)}. Name one of these.")
        return self.views[name]

    def view(self, name: str) -> Sequence[Any]:
        """All candidates in one view, copied only where they share what they look like."""
        found = self.shared(name)
        return found.whole() if isinstance(found, Repeated) else found
