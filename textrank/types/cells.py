"""A sparse matrix as plain arrays, without the checks that SciPy makes of every new one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


class Cells(NamedTuple):
    """The cells of a sparse matrix, row after row; a row has a column once, columns in order.

    Of the few candidates of a short text there are dozens of small matrices: for SciPy to check
    each of them takes longer than what is then done with it.

    >>> Cells.of(np.array([[0.0, 2.0], [1.0, 0.0]])).matrix().toarray().tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int32]
    shape: tuple[int, int]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Cells:
        """Those of a dense matrix that are not zero."""
        row, column = values.nonzero()
        ends = np.zeros(len(values) + 1, dtype=np.int32)
        np.cumsum(np.bincount(row, minlength=len(values)), out=ends[1:])
        shape = values.shape[0], values.shape[1]
        return cls(values[row, column], column.astype(np.int32), ends, shape)

    def matrix(self) -> sp.csr_array:
        """As SciPy's."""
        return sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def dense(self) -> NDArray[np.float64]:
        """With its zeros."""
        found = np.zeros(self.shape)
        row = np.arange(len(found)).repeat(self.indptr[1:] - self.indptr[:-1])
        found[row, self.indices] = self.data
        return found
