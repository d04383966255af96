"""Numbers that describe how two entities stand in their sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from textrank.docs import Candidate
from textrank.representations.pairs.analysis import Parse, check_among
from textrank.representations.pairs.described import described, finished
from textrank.representations.pairs.descriptor_table import DESCRIPTORS, Descriptor
from textrank.representations.pairs.entity_pair import EntityPair, entity_pairs, layout_of
from textrank.types import Cells, Features, Indices, Names, Vector
from textrank.types.ragged import offsets

Which: TypeAlias = Literal["basic", "position", "relation"]
Values: TypeAlias = dict[str, float]


@dataclass(frozen=True, kw_only=True)
class PairDescriptors:
    """Blinded numbers about a pair, each divided by a fixed scale, for a Gaussian kernel.

    ``which="basic"`` gives 32 of them, ``"position"`` these and 56 more, ``"relation"`` all 136;
    ``descriptor_table`` documents each one and its scale. The scales are constants, not estimated
    from the data at hand: nothing leaks from a test fold, and the closed-form hold-out stays
    exact. A Gaussian does not see centres.

    Two groups exploit how corpora are annotated and can be left out: ``entity_counts`` (how many
    entities are marked in the sentence, between the two and nearer to one of them) and
    ``name_equality`` (the only ones that look at the names: equal, contained, repeated).
    """

    which: Which = "relation"
    entity_counts: bool = True
    name_equality: bool = True
    parse: Parse = "auto"

    def __post_init__(self) -> None:
        check_among("parse", [self.parse], get_args(Parse))
        check_among("which", [self.which], get_args(Which))

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return self.of_pairs(entity_pairs(candidates, self.parse))

    def of_pairs(self, pairs: Sequence[EntityPair]) -> Features:
        """The descriptors of pairs that are already analysed."""
        return self.sizes(pairs)[self.which]

    def sizes(self, pairs: Sequence[EntityPair]) -> dict[str, Features]:
        """The descriptors in every size up to this one, for the price of the largest."""
        kept, scales, sizes = self._chosen
        every = Cells.of(finished(described(layout_of(pairs)))[:, kept] / scales)
        return {
            which: Features(_chosen(every, number, len(names)), names)
            for which, (number, names) in sizes.items()
        }

    @cached_property
    def _chosen(self) -> tuple[Indices, Vector, dict[str, tuple[NDArray[np.int32], Names]]]:
        """Which descriptors are kept, their scales; in each size their numbers, -1, and names."""
        sizes: tuple[Which, ...] = get_args(Which)
        levels = sizes[: sizes.index(self.which) + 1]
        kept = [i for i, d in enumerate(DESCRIPTORS) if d.level in levels and self._wanted(d)]
        chosen = [DESCRIPTORS[i] for i in kept]
        found: dict[str, tuple[NDArray[np.int32], Names]] = {}
        for place, which in enumerate(levels):
            some = [i for i, d in enumerate(chosen) if d.level in levels[: place + 1]]
            number = np.full(len(chosen), -1, dtype=np.int32)
            number[some] = np.arange(len(some))
            found[which] = number, Names.of(chosen[i].name for i in some)
        return np.array(kept, dtype=np.intp), np.array([d.scale for d in chosen]), found

    def _wanted(self, descriptor: Descriptor) -> bool:
        left_out = {
            "entity count": not self.entity_counts,
            "name equality": not self.name_equality,
        }
        return not left_out.get(descriptor.group, False)


def _chosen(cells: Cells, number: NDArray[np.int32], width: int) -> Cells:
    """Some of the columns, given the number of each among them; -1 for the others."""
    indices = number[cells.indices]
    kept = indices >= 0
    ends = offsets(kept)[cells.indptr].astype(np.int32)
    return Cells(cells.data[kept], indices[kept], ends, (cells.shape[0], width))
