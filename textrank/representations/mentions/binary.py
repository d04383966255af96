"""Binary features: what each row has, as a sparse matrix of ones."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import chain, count
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from textrank.types import SparseMatrix
from textrank.types.ragged import offsets

T = TypeVar("T", bound=Hashable)


def binary(rows: Sequence[Collection[T]]) -> tuple[SparseMatrix, list[T]]:
    """A one for each thing of each row, things in the order in which they came; and the things.

    What a row has, it has once.

    >>> values, things = binary([["a", "b"], ["c", "a"]])
    >>> values.toarray().tolist(), things
    ([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]], ['a', 'b', 'c'])
    """
    each = list(chain.from_iterable(rows))
    columns = dict(zip(dict.fromkeys(each), count(), strict=False))
    numbers = np.fromiter(map(columns.__getitem__, each), dtype=np.int32, count=len(each))
    cells = (np.ones(len(each)), numbers, offsets([len(row) for row in rows]))
    return sp.csr_array(cells, shape=(len(rows), len(columns))), list(columns)
