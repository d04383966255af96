"""What passes between the layers: arrays, named features, graphs, contexts; the kernel roles."""

from textrank.types.batches import (
    Contexts,
    PositionTransformation,
    Sequences,
    WordTransformation,
    pivoted_cholesky,
)
from textrank.types.features import (
    Alternatives,
    Data,
    FeatureKernel,
    Features,
    Kernel,
    LabelledGraph,
    Matrix,
    SparseMatrix,
    Vector,
    Viewed,
    has_features,
    part,
    parts_of,
    single,
    size,
    take,
)
from textrank.types.graphs import GraphBatch, GraphFamily
from textrank.types.names import Arrays, Indices, NameIndex, Names

__all__ = [
    "Alternatives",
    "Arrays",
    "Contexts",
    "Data",
    "FeatureKernel",
    "Features",
    "GraphBatch",
    "GraphFamily",
    "Indices",
    "Kernel",
    "LabelledGraph",
    "Matrix",
    "NameIndex",
    "Names",
    "PositionTransformation",
    "Sequences",
    "SparseMatrix",
    "Vector",
    "Viewed",
    "WordTransformation",
    "has_features",
    "part",
    "parts_of",
    "pivoted_cholesky",
    "single",
    "size",
    "take",
]
