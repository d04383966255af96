"""What passes between the layers: arrays, named features, labelled graphs, and the kernel roles."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from itertools import count
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textrank.types.cells import Cells, side_by_side
from textrank.types.names import Indices, Names
from textrank.types.ragged import lengths, offsets

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
SparseMatrix: TypeAlias = sp.csr_array
Bag: TypeAlias = Mapping[str, float] | Mapping[tuple[str, ...], float]

LARGEST = np.iinfo(np.int32).max

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)


@dataclass(frozen=True, eq=False)
class Features(Sequence["Features"]):
    """A sparse feature matrix with a name for every column: the explicit side of a kernel.

    It is also a representation: a sequence whose elements are its rows, each again ``Features``.

    >>> counted = Features.of([{"binds": 2.0}, {"binds": 1.0, "not": 1.0}])
    >>> list(counted.names), counted.values.toarray().tolist()
    ([('binds',), ('not',)], [[2.0, 0.0], [1.0, 1.0]])
    """

    cells: SparseMatrix | Cells  # (n, d)
    names: Names  # d of them

    def __post_init__(self) -> None:
        if self.cells.shape[1] != len(self.names):
            raise ValueError(f"{self.cells.shape[1]} columns but {len(self.names)} names")
        if not isinstance(self.cells, Cells):
            object.__setattr__(self, "cells", _short_indices(self.cells))

    @cached_property
    def values(self) -> SparseMatrix:
        """The matrix, made of its cells at the first call."""
        return self.cells.matrix() if isinstance(self.cells, Cells) else self.cells

    @classmethod
    def of(cls, rows: Iterable[Bag]) -> Features:
        """A row for every dictionary of named values; columns in the order in which they came."""
        columns: defaultdict[str | tuple[str, ...], int] = defaultdict(count().__next__)
        data: list[float] = []
        indices: list[int] = []
        ends = [0]
        for row in rows:
            indices.extend(map(columns.__getitem__, row))
            data.extend(row.values())
            ends.append(len(data))
        shape = (len(ends) - 1, len(columns))
        matrix = sp.csr_array((np.array(data, dtype=np.float64), indices, ends), shape=shape)
        matrix.sort_indices()
        return cls(matrix, Names.of(columns))

    def __len__(self) -> int:
        return int(self.cells.shape[0])

    def __getitem__(self, index: int | slice) -> Features:
        if isinstance(index, slice):
            return self.rows(index)
        return self.rows(np.arange(len(self))[[index]])

    def onto(self, names: Names) -> SparseMatrix:
        """The matrix with its columns moved to where ``names`` has them; unknown columns drop."""
        own = self.cells
        columns = names.find(self.names)[own.indices]
        known = columns >= 0
        ends = offsets(known)[own.indptr]
        cells = (own.data[known], columns[known].astype(np.int32), ends.astype(np.int32))
        moved = sp.csr_array(cells, shape=(len(self), len(names)))
        moved.sum_duplicates()
        return moved

    def rows(self, index: Indices | slice) -> Features:
        """Some rows, all columns."""
        return Features(self.values[index], self.names)

    def scaled(self, factor: float | Vector) -> Features:
        """Every row times a number, or each row times its own."""
        own = self.cells
        each = factor.repeat(lengths(own.indptr)) if isinstance(factor, np.ndarray) else factor
        data = own.data * each
        if data.all():
            return self.with_data(data)
        found = sp.csr_array((data, own.indices, own.indptr), shape=own.shape, copy=True)
        found.eliminate_zeros()
        return Features(found, self.names)

    def with_data(self, data: Vector) -> Features:
        """The same cells with other values, none of them zero."""
        own = self.cells
        return Features(Cells(data, own.indices, own.indptr, own.shape), self.names)

    @staticmethod
    def below(blocks: Sequence[Features]) -> Features:
        """Blocks one below the other; columns of equal name become one."""
        if blocks and all(block.names is blocks[0].names for block in blocks):
            names = blocks[0].names
        else:
            joined = Names.join([block.names for block in blocks])
            names = joined.take(np.unique(joined.find(joined)))
        values = [block.onto(names) for block in blocks]
        stacked = sp.vstack(values) if values else sp.csr_array((0, len(names)))
        return Features(sp.csr_array(stacked), names)

    @staticmethod
    def beside(blocks: Mapping[str, Features]) -> Features:
        """Blocks side by side, the columns of each named under its key."""
        names = Names.join([block.names.under(key) for key, block in blocks.items()])
        return Features(side_by_side([block.cells for block in blocks.values()]), names)


def _short_indices(values: SparseMatrix) -> SparseMatrix:
    """The matrix with indices of 32 bits where they suffice: half the memory, and liblinear's."""
    if values.indices.dtype != np.int64 or max(*values.shape, values.nnz) >= LARGEST:
        return values
    cells = (values.data, values.indices.astype(np.int32), values.indptr.astype(np.int32))
    return sp.csr_array(cells, shape=values.shape)


@dataclass(frozen=True, eq=False)
class Repeated(Sequence[Any]):
    """Representations that several candidates share, such as questions about the same words.

    >>> found = Repeated(["SHC", "GRB2"], np.array([0, 0, 1]))
    >>> list(found), found.whole()
    (['SHC', 'SHC', 'GRB2'], ['SHC', 'SHC', 'GRB2'])
    """

    each: Sequence[Any]
    at: Indices  # (n,) which of them is that of each candidate

    def __len__(self) -> int:
        return len(self.at)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self.rows(index)
        return self.each[int(self.at[index])]

    def rows(self, index: Indices | slice) -> Repeated:
        """Those of some candidates."""
        return Repeated(self.each, self.at[index])

    def whole(self) -> Sequence[Any]:
        """One a candidate."""
        return take(self.each, self.at)


@dataclass(frozen=True)
class LabelledGraph:
    """A directed graph with weighted edges and any number of labels on each vertex.

    Vertices are numbered from 0; ``labels`` has a label or several for each. Edges are
    ``{(source, target): weight}`` with weights that are not negative.

    >>> LabelledGraph(["a", ("b", "noun")], {(0, 1): 0.5}).labels
    (('a',), ('b', 'noun'))
    """

    labels: Sequence[Sequence[str]]
    edges: Mapping[tuple[int, int], float]

    def __post_init__(self) -> None:
        sets = [(own,) if isinstance(own, str) else sorted(set(own)) for own in self.labels]
        object.__setattr__(self, "labels", tuple(tuple(own) for own in sets))
        edges = {(int(s), int(t)): float(weight) for (s, t), weight in self.edges.items()}
        object.__setattr__(self, "edges", edges)
        for edge, weight in edges.items():
            if not all(0 <= end < len(self.labels) for end in edge):
                raise ValueError(
                    f"edge {edge} leaves the graph of {len(self.labels)} vertices; "
                    "vertices are numbered from 0."
                )
            if not (math.isfinite(weight) and weight >= 0):
                raise ValueError(f"edge {edge} has weight {weight}; use a finite one, not below 0.")

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Gram matrices of the same candidates by several kernels, of which training chooses one."""

    settings: Sequence[Mapping[str, float]]  # what tells the kernels apart
    grams: Sequence[Matrix]  # (n, n) each

    def __post_init__(self) -> None:
        shapes = {K.shape for K in self.grams}
        if len(shapes) != 1 or len(self.grams) != len(self.settings):
            raise ValueError(
                f"{len(self.settings)} settings for {len(self.grams)} Gram matrices of shapes "
                f"{sorted(shapes)}: give one matrix a setting, all of one shape."
            )

    def __len__(self) -> int:
        return len(self.grams[0])

    def part(self, rows: Indices, columns: Indices) -> Alternatives:
        """Some rows and columns of each matrix."""
        return Alternatives(self.settings, [K[np.ix_(rows, columns)] for K in self.grams])


@runtime_checkable
class Kernel(Protocol[T_contra]):
    """Similarity of two lists of representations; a frozen dataclass whose fields are settings."""

    def __call__(self, X: Sequence[T_contra], Y: Sequence[T_contra] | None = None) -> Matrix:
        """The Gram matrix, (x, y); of X with itself where Y is not given."""

    def diag(self, X: Sequence[T_contra]) -> Vector:
        """The kernel of each with itself, (x,), without the rest of the matrix."""


@runtime_checkable
class FeatureKernel(Kernel[T_contra], Protocol[T_contra]):
    """A kernel with an explicit, sparse feature map: K = F F'.

    A kernel made of kernels has the method, but features only where its parts have them:
    ask ``has_features``, not ``isinstance``.
    """

    def features(self, X: Sequence[T_contra]) -> Features:
        """The feature vectors, a row each; columns are those that occur, in a fixed order."""


@runtime_checkable
class ChoiceKernel(Kernel[T_contra], Protocol[T_contra]):
    """A kernel that leaves a setting open, for training to choose."""

    @property
    def alternatives(self) -> Sequence[Kernel[Any]]:
        """The kernels to choose from."""

    def compared(self, X: Sequence[T_contra]) -> Alternatives:
        """The Gram matrices of all of them, sharing what they share."""


@runtime_checkable
class PreparedKernel(Kernel[T_contra], Protocol[T_contra]):
    """A kernel that is quicker for few candidates once it has indexed the training ones."""

    def against(self, Y: Sequence[T_contra]) -> Callable[[Sequence[T_contra]], Matrix]:
        """The kernel of anything with ``Y``."""


@runtime_checkable
class AdditiveKernel(Kernel[T_contra], Protocol[T_contra]):
    """A kernel whose scores split into named parts by a convention of its own."""

    def contributions(self, X: Sequence[T_contra], Y: Sequence[T_contra], coef: Vector) -> Features:
        """What each named part adds to ``k(X, Y) @ coef``."""


@runtime_checkable
class ScalingKernel(Kernel[T_contra], Protocol[T_contra]):
    """A kernel that has to scale some of its inputs down, and counts them."""

    def diverging(self, X: Sequence[T_contra]) -> int:
        """How many had to be scaled."""


Data: TypeAlias = Matrix | Features | Alternatives


def has_features(kernel: Kernel[T]) -> TypeGuard[FeatureKernel[T]]:
    """Whether the kernel, and every kernel it is made of, has an explicit feature map."""
    return isinstance(kernel, FeatureKernel) and all(
        has_features(part) for part in parts_of(kernel)
    )


def parts_of(kernel: Kernel[Any]) -> list[Kernel[Any]]:
    """The kernels among the settings of a kernel."""
    own: Sequence[Any] = fields(kernel) if is_dataclass(kernel) else ()
    found: list[Kernel[Any]] = []
    for setting in (getattr(kernel, f.name) for f in own):
        several = setting.values() if isinstance(setting, Mapping) else setting
        held = several if isinstance(setting, Mapping | list | tuple) else [setting]
        found += [part for part in held if isinstance(part, Kernel)]
    return found


def part(data: Data, rows: Indices, columns: Indices) -> Data:
    """Some rows of features, or some rows and columns of Gram matrices."""
    if isinstance(data, Features):
        return data.rows(rows)
    return (
        data.part(rows, columns) if isinstance(data, Alternatives) else data[np.ix_(rows, columns)]
    )


def single(data: Data, what: str) -> Matrix | Features:
    """The data, refused where several kernels are still to be chosen from."""
    if isinstance(data, Alternatives):
        raise ValueError(
            f"{what} works with one kernel, but the pipeline chooses among {len(data.grams)}. Fix "
            f"{', '.join(data.settings[0])} to one value with --set."
        )
    return data


@runtime_checkable
class Batch(Protocol):
    """Representations of many candidates in one piece, of which some can be taken."""

    def rows(self, index: Indices | slice) -> Any:
        """Some of them, in the order of the index."""


def size(X: Sequence[Any]) -> int:
    """How many there are; the rows of a matrix, also of a sparse one, which has no ``len``."""
    array: Any = X if isinstance(X, np.ndarray) or sp.issparse(X) else None
    return len(X) if array is None else int(array.shape[0])


def take(X: Sequence[T], index: Indices | slice) -> Sequence[T]:
    """Some of the representations, in the order of ``index``, in the container they came in."""
    if isinstance(index, slice) or isinstance(X, np.ndarray) or sp.issparse(X):
        return X[index]  # type: ignore[index]
    if isinstance(X, Batch):
        return X.rows(index)
    return [X[int(i)] for i in index]
