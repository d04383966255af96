"""The all-paths graph kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from textrank.features import FeatureNames, Features, Indices, LabelledGraph, Matrix
from textrank.graphs import GraphBatch, GraphFamily
from textrank.kernels._walks import (
    CyclicPart,
    JoinedWalks,
    LabelPairs,
    ManyWalks,
    Places,
    Unrolled,
    Walks,
    all_walks,
    bounded,
    cyclic_parts,
    label_pairs,
    merged,
    portions,
    short_walks,
    undirected,
)
from textrank.linalg import ExplicitKernel
from textrank.progress import track

MAX_MATRIX_VALUES = 1 << 23  # numbers of the matrices that are inverted at once: 64 megabytes
MAX_TABLE_LABELS = 1 << 11  # labels of a graph for which a table of their pairs is made
MAX_UNROLLED_VERTICES = 16  # vertices of a strongly connected part that is taken out of a graph
MAX_CACHED_SHAPES = 256  # shapes kept in case they come again


@dataclass(frozen=True, kw_only=True)
class AllPathsGraph(ExplicitKernel[LabelledGraph]):
    """Similarity of two labelled graphs by the weights of all their paths.

    A path between vertices labelled ``a`` and ``b`` adds the product of its edge weights to
    feature ``(a, b)``: the entries of ``(I - A)^-1 - I``. Where a label pair occurs at several
    pairs of vertices, ``combine`` takes their maximum (what the published figures used) or their
    sum, ``L W L'``. The kernel is the inner product of these features. One solve per sentence,
    then one sparse product.

    The series over paths converges where the spectral radius of ``A`` is below 1. Graphs with
    cycles may exceed it: then the edges inside the strongly connected part that does are scaled
    down to ``max_radius``, and ``diverging`` counts the graphs where that happened.

    Airola et al. (2008), BMC Bioinformatics 9(Suppl 11):S2.

    Parameters
    ----------
    combine
        ``"max"`` or ``"sum"`` over the pairs of vertices with the same labels.
    directed
        Whether paths follow the direction of the edges.
    max_length
        Longest path counted, in edges; all of them where it is None.
    threshold
        Path weights up to this are dropped.
    max_radius
        Spectral radius above which weights are scaled down; below 1.

    Examples
    --------
    >>> chain = LabelledGraph(["a", "b", "c"], {(0, 1): 0.5, (1, 2): 0.5})
    >>> AllPathsGraph()([chain]).item()    # 0.5**2 + 0.5**2 + 0.25**2
    0.5625
    >>> list(AllPathsGraph().features([chain]).names)
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """

    combine: Literal["max", "sum"] = "max"
    directed: bool = True
    max_length: int | None = None
    threshold: float = 1e-5
    max_radius: float = 0.95

    def __post_init__(self) -> None:
        if self.combine not in ("max", "sum"):
            raise ValueError(f"combine must be 'max' or 'sum', got {self.combine!r}")
        if self.max_length is not None and self.max_length < 1:
            raise ValueError(f"max_length must be at least 1 or None, got {self.max_length}")
        if not self.threshold >= 0:
            raise ValueError(f"threshold must not be negative, got {self.threshold}")
        if not 0 < self.max_radius < 1:
            raise ValueError(f"max_radius must lie between 0 and 1, got {self.max_radius}")

    def features(self, X: Sequence[LabelledGraph]) -> Features:
        """Path weights by label pair, a row per graph; columns in the order of their labels."""
        batch = GraphBatch.from_graphs(X)
        return merged(batch, self._label_pairs(batch))

    def count_diverging(self, X: Sequence[LabelledGraph]) -> int:
        """The number of graphs whose path weights had to be bounded, as ``max_radius`` says."""
        if self.max_length is not None:
            return 0
        batch = GraphBatch.from_graphs(X)
        families = [self._directed(family) for family in batch.families]
        changed = np.zeros(len(batch), dtype=bool)
        for at, parts in cyclic_parts(families).items():
            members = families[at].members
            changed[members] |= bounded(families[at], parts, self.max_radius)[1]
        return int(changed.sum())

    def _label_pairs(self, batch: GraphBatch) -> Iterator[LabelPairs]:
        rank = batch.ranks()
        families = [self._directed(family) for family in batch.families]
        cycles = {} if self.max_length is not None else cyclic_parts(families)
        walked = {at: family for at, family in enumerate(families) if len(family.edges)}
        small = {at: family for at, family in walked.items() if _fits(family)}
        for walks in self._many_walks(small, cycles):
            yield from walks.gathered(rank, self.combine, self.threshold)
        large = [at for at in walked if at not in small]
        for at in track(large, "all paths", len(large)):
            yield from self._piecewise(walked[at], rank, cycles.get(at, ()))

    def _many_walks(
        self, families: Mapping[int, GraphFamily], cycles: Mapping[int, Sequence[CyclicPart]]
    ) -> Iterator[ManyWalks]:
        """The walks of families, by the vertices they join where cycles are small."""
        joined = {at: own for at, own in families.items() if self._joins(cycles.get(at, ()))}
        for keys, pieces in portions(joined):
            cut = [
                Unrolled.from_family(joined[at], cycles.get(at, ()), self.max_radius) for at in keys
            ]
            walks = JoinedWalks.from_families([joined[at] for at in keys], cut)
            yield from map(walks.of_graphs, pieces)
        shared: dict[tuple[bytes, ...], Walks] = {}
        for keys, pieces in portions({at: families[at] for at in families if at not in joined}):
            for graphs in pieces:
                some = [families[at].of_graphs(graphs) for at in keys]
                each = zip(some, keys, strict=True)
                yield ManyWalks.from_walks(
                    some, [self._shared(shared, f, cycles.get(at, ())) for f, at in each]
                )

    def _joins(self, cycles: Sequence[CyclicPart]) -> bool:
        """Whether walks are quicker by the vertices that they join than by an inverse."""
        return self.max_length is None and all(
            len(part.vertices) <= MAX_UNROLLED_VERTICES for part in cycles
        )

    def _shared(
        self,
        known: dict[tuple[bytes, ...], Walks],
        family: GraphFamily,
        cycles: Sequence[CyclicPart],
    ) -> Walks:
        """The walks of a family: sentences of equal length have the same word order."""
        vertices = np.arange(family.labels.shape[1])
        if len(family.weights) > 1:
            return self._walks(family, vertices, cycles)
        key = family.edges.tobytes(), family.weights.tobytes(), vertices[-1:].tobytes()
        if key not in known:
            if len(known) == MAX_CACHED_SHAPES:  # all different: nothing is gained by keeping them
                known.clear()
            known[key] = self._walks(family, vertices, cycles)
        return known[key]

    def _piecewise(
        self, family: GraphFamily, rank: Indices, cycles: Sequence[CyclicPart]
    ) -> Iterator[LabelPairs]:
        """The label pairs of large graphs, as many at a time as fit."""
        places = Places.from_family(family, rank)
        if not len(places):
            return
        count = max(1, MAX_MATRIX_VALUES // family.labels.shape[1] ** 2)
        for start in range(0, len(family.members), count):
            rows = slice(start, start + count)
            some = family.of_graphs(rows)
            own = replace(places, labels=places.labels[rows])
            walks = self._walks(some, places.vertices, cycles)
            yield from label_pairs(some.members, own, walks, self.combine)

    def _walks(self, family: GraphFamily, places: Indices, cycles: Sequence[CyclicPart]) -> Walks:
        if self.max_length is not None:
            return short_walks(family, family.weights, places, self.threshold, self.max_length)
        weights, _ = bounded(family, cycles, self.max_radius)
        return all_walks(family, weights, places, self.threshold)

    def _directed(self, family: GraphFamily) -> GraphFamily:
        return family if self.directed else undirected(family)


def _fits(family: GraphFamily) -> bool:
    """Whether a table of the pairs of its labels is small enough."""
    _, v, k = family.labels.shape
    return v * k <= MAX_TABLE_LABELS


@dataclass(frozen=True, kw_only=True)
class ShortestPathGraph(ExplicitKernel[LabelledGraph]):
    """Similarity of two labelled graphs by the labels and distances of their vertices.

    Feature ``(a, b, "d steps")`` counts the pairs of different vertices labelled ``a`` and ``b``
    whose shortest path has ``d`` edges. Weights of edges do not matter.

    Borgwardt and Kriegel (2005), ICDM.

    Parameters
    ----------
    directed
        Whether paths follow the direction of the edges.
    max_length
        Longest distance counted; all of them where it is None.

    Examples
    --------
    >>> chain = LabelledGraph(["a", "b", "a"], {(0, 1): 1.0, (1, 2): 1.0})
    >>> list(ShortestPathGraph().features([chain]).names)
    [('a', 'b', '1 steps'), ('b', 'a', '1 steps'), ('a', 'a', '2 steps')]
    """

    directed: bool = True
    max_length: int | None = None

    def __post_init__(self) -> None:
        if self.max_length is not None and self.max_length < 1:
            raise ValueError(f"max_length must be at least 1 or None, got {self.max_length}")

    def features(self, X: Sequence[LabelledGraph]) -> Features:
        """Counts by labels and distance, a row per graph."""
        batch = GraphBatch.from_graphs(X)
        return merged(batch, self._label_pairs(batch))

    def _label_pairs(self, batch: GraphBatch) -> Iterator[LabelPairs]:
        rank = batch.ranks()
        for family in track(batch.families, "shortest paths", len(batch.families)):
            places = Places.from_family(family, rank)
            if not len(places):
                continue
            distance = self._distances(family)[places.vertices][:, places.vertices]
            for steps in range(1, int(distance.max(initial=0)) + 1):
                source, target = np.nonzero(distance == steps)
                walks = Walks(source, target, np.ones((1, len(source))))
                yield from label_pairs(family.members, places, walks, "sum", steps=steps)

    def _distances(self, family: GraphFamily) -> Matrix:
        """Edges between any two vertices, (v, v); 0 for no path or one that is too long."""
        v = family.labels.shape[1]
        if not v:
            return np.zeros((0, 0))
        ends = (np.ones(len(family.edges)), tuple(family.edges.T))
        A = sp.csr_array(ends, shape=(v, v))
        distance = shortest_path(A, directed=self.directed, unweighted=True)
        far = ~np.isfinite(distance) | (distance > (self.max_length or np.inf))
        return np.where(far, 0.0, distance)


@dataclass(frozen=True)
class LabelBag(ExplicitKernel[LabelledGraph]):
    """Similarity of two labelled graphs by how often each label occurs in them.

    >>> LabelBag()([LabelledGraph(["a", "b", "a"], {}), LabelledGraph(["a"], {})])
    array([[5., 2.],
           [2., 1.]])
    """

    def features(self, X: Sequence[LabelledGraph]) -> Features:
        """How often each label occurs, a row per graph; columns in the order of the labels."""
        batch = GraphBatch.from_graphs(X)
        rank, words = batch.ranks(), sorted(batch.vocabulary)
        rows, columns = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
        for family in batch.families:
            g, v, k = family.labels.shape
            found = rank[family.labels].reshape(g, v * k)
            row, place = np.nonzero(found >= 0)
            rows.append(family.members[row])
            columns.append(found[row, place])
        at = (np.concatenate(rows), np.concatenate(columns))
        counts = sp.coo_array((np.ones(len(at[0])), at), shape=(batch.size, len(words))).tocsr()
        parts = np.arange(len(words), dtype=np.int32).reshape(-1, 1)
        return Features(sp.csr_array(counts), FeatureNames(tuple(words), parts))
