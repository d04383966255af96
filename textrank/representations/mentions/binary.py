"""Binary features: what each row has, as a sparse matrix of ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from itertools import count
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from textrank.types import SparseMatrix

T = TypeVar("T", bound=Hashable)


def binary(rows: Iterable[Iterable[T]]) -> tuple[SparseMatrix, list[T]]:
    """A one for each thing of each row, things in the order in which they came; and the things.

    What a row has, it has once. Rows are looked at one by one, so that they need not all be held.

    >>> values, things = binary([["a", "b"], ["c", "a"]])
    >>> values.toarray().tolist(), things
    ([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]], ['a', 'b', 'c'])
    """
    columns: defaultdict[T, int] = defaultdict(count().__next__)
    numbers: list[int] = []
    ends = [0]
    for row in rows:
        numbers.extend(map(columns.__getitem__, row))
        ends.append(len(numbers))
    cells = (np.ones(len(numbers)), np.array(numbers, dtype=np.int32), np.array(ends))
    return sp.csr_array(cells, shape=(len(ends) - 1, len(columns))), list(columns)
