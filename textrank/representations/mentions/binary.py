"""Binary features: what each row has, as a sparse matrix of ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from itertools import count
from typing import TypeVar

import numpy as np

from textrank.types import Cells
from textrank.types.ragged import lengths

T = TypeVar("T", bound=Hashable)


def binary(rows: Iterable[Iterable[T]]) -> tuple[Cells, list[T]]:
    """A one for each thing of each row, things in the order in which they came; and the things.

    What a row has, it has once. Rows are looked at one by one, so that they need not all be held.

    >>> cells, things = binary([["a", "b"], ["c", "a"]])
    >>> cells.matrix().toarray().tolist(), things
    ([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]], ['a', 'b', 'c'])
    """
    columns: defaultdict[T, int] = defaultdict(count().__next__)
    numbers: list[int] = []
    ends = [0]
    for row in rows:
        numbers.extend(map(columns.__getitem__, row))
        ends.append(len(numbers))
    indptr = np.array(ends, dtype=np.int32)
    before = np.arange(len(ends) - 1).repeat(lengths(indptr)) * len(columns)
    cells = np.array(numbers, dtype=np.intp) + before
    cells.sort()  # the columns of each row in order
    shape = len(ends) - 1, len(columns)
    return Cells(np.ones(len(cells)), (cells - before).astype(np.int32), indptr, shape), list(
        columns
    )
