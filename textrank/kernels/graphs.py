"""Kernels on labelled graphs: all paths, shortest paths, and a bag of labels as baseline.

All are explicit: ``features`` gives a named sparse row per graph, and the Gram matrix is the
product of these rows. ``textrank.kernels._walks`` has the computation of path weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from textrank.features import FeatureNames, Features, Indices, Matrix
from textrank.graphs import GraphBatch, GraphFamily, LabelledGraph
from textrank.kernels._walks import (
    CyclicPart,
    LabelledVertices,
    LabelPairs,
    ManyWalks,
    UnrolledFamily,
    UnrolledWalks,
    Walks,
    all_walks,
    bound_weights,
    cyclic_parts,
    find_label_pairs,
    group_families,
    make_undirected,
    merge_label_pairs,
    walks_up_to,
)
from textrank.linalg import ExplicitKernel
from textrank.progress import track

MAX_MATRIX_VALUES = 1 << 23  # numbers in the matrices inverted at once: 64 MB
MAX_TABLE_LABELS = 1 << 11  # labels of a graph up to which a table of all pairs is used
MAX_UNROLLED_VERTICES = 16  # size of a cyclic part up to which it is unrolled
MAX_CACHED_SHAPES = 256  # graph shapes whose walks are cached


@dataclass(frozen=True, kw_only=True)
class AllPathsGraph(ExplicitKernel[LabelledGraph]):
    """Similarity of two labelled graphs by the weights of all their paths.

    A path between vertices labelled ``a`` and ``b`` adds the product of its edge weights to
    feature ``(a, b)``: the entries of ``(I - A)^-1 - I``. Where a label pair occurs at several
    pairs of vertices, ``combine`` takes their maximum (as in the published results) or their
    sum, ``L W L'``. The kernel is the inner product of these features. The cost is one solve per
    sentence, then one sparse product.

    The series over paths converges if the spectral radius of ``A`` is below 1. Graphs with
    cycles may exceed it: then the edges inside the strongly connected part that does are scaled
    down to ``max_radius``, and ``count_diverging`` counts the graphs where that happened.

    Airola et al. (2008), BMC Bioinformatics 9(Suppl 11):S2.

    Parameters
    ----------
    combine
        ``"max"`` or ``"sum"`` over the pairs of vertices with the same labels.
    directed
        Whether paths follow the direction of the edges.
    max_length
        Longest path counted, in edges; None counts all.
    threshold
        Path weights up to this value are dropped.
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
        """Raise ValueError for settings outside their range.

        ``combine`` is "max" or "sum", ``max_length`` None or at least 1, ``threshold`` at least 0,
        and ``max_radius`` between 0 and 1, both excluded.
        """
        if self.combine not in ("max", "sum"):
            raise ValueError(f"combine must be 'max' or 'sum', got {self.combine!r}")
        if self.max_length is not None and self.max_length < 1:
            raise ValueError(f"max_length must be at least 1 or None, got {self.max_length}")
        if not self.threshold >= 0:
            raise ValueError(f"threshold must not be negative, got {self.threshold}")
        if not 0 < self.max_radius < 1:
            raise ValueError(f"max_radius must lie between 0 and 1, got {self.max_radius}")

    def features(self, X: Sequence[LabelledGraph]) -> Features:
        """Return path weights by label pair, one row per graph; columns are sorted by label.

        Only label pairs that occur have a column, named ``(first, second)``. A graph without edges
        or labels has an empty row.
        """
        batch = GraphBatch.from_graphs(X)
        return merge_label_pairs(batch, self._label_pairs(batch))

    def count_diverging(self, X: Sequence[LabelledGraph]) -> int:
        """Return how many graphs have their edge weights scaled down to ``max_radius``.

        0 if ``max_length`` is set, because finite sums need no scaling.
        """
        if self.max_length is not None:
            return 0
        batch = GraphBatch.from_graphs(X)
        families = [self._orient(family) for family in batch.families]
        is_scaled = np.zeros(len(batch), dtype=bool)
        for index, parts in cyclic_parts(families).items():
            members = families[index].members
            is_scaled[members] |= bound_weights(families[index], parts, self.max_radius)[1]
        return int(is_scaled.sum())

    def _label_pairs(self, batch: GraphBatch) -> Iterator[LabelPairs]:
        """Yield the path weights by label pair of all families of the batch, in any order.

        Families with few labels are processed many at a time, large ones one by one; those without
        edges are left out.
        """
        rank = batch.label_ranks()
        families = [self._orient(family) for family in batch.families]
        cycles = {} if self.max_length is not None else cyclic_parts(families)
        with_edges = {index: family for index, family in enumerate(families) if len(family.edges)}
        small = {index: family for index, family in with_edges.items() if _has_few_labels(family)}
        for walks in self._find_walks(small, cycles):
            yield from walks.label_pairs(rank, self.combine, self.threshold)
        large = [index for index in with_edges if index not in small]
        for index in track(large, "all paths", len(large)):
            yield from self._large_label_pairs(with_edges[index], rank, cycles.get(index, ()))

    def _find_walks(
        self, families: Mapping[int, GraphFamily], cycles: Mapping[int, Sequence[CyclicPart]]
    ) -> Iterator[ManyWalks]:
        """Yield the walks of families, by unrolling where cycles are small, else by an inverse.

        With ``max_length`` all are found by powers. Items are of a group of families and a slice of
        their graphs (``group_families``), first those that are unrolled (``_can_unroll``). The
        threshold need not have been applied.

        Parameters
        ----------
        families
            Families by index.
        cycles
            Cyclic parts by index of the family; families without cycles are missing.
        """
        unrollable = {
            index: family
            for index, family in families.items()
            if self._can_unroll(cycles.get(index, ()))
        }
        for indices, slices in group_families(unrollable):
            unrolled = [
                UnrolledFamily.from_family(
                    unrollable[index], cycles.get(index, ()), self.max_radius
                )
                for index in indices
            ]
            walks = UnrolledWalks.from_families([unrollable[index] for index in indices], unrolled)
            yield from map(walks.select_graphs, slices)
        cache: dict[tuple[bytes, ...], Walks] = {}
        for indices, slices in group_families(
            {index: families[index] for index in families if index not in unrollable}
        ):
            for graphs in slices:
                parts = [families[index].rows(graphs) for index in indices]
                pairs = zip(parts, indices, strict=True)
                yield ManyWalks.from_walks(
                    parts,
                    [self._cached_walks(cache, f, cycles.get(index, ())) for f, index in pairs],
                )

    def _can_unroll(self, cycles: Sequence[CyclicPart]) -> bool:
        """Return whether unrolling the cyclic parts of a family is faster than inverting a matrix.

        Never if ``max_length`` is set; always without cyclic parts otherwise.
        """
        return self.max_length is None and all(
            len(part.vertices) <= MAX_UNROLLED_VERTICES for part in cycles
        )

    def _cached_walks(
        self,
        cache: dict[tuple[bytes, ...], Walks],
        family: GraphFamily,
        cycles: Sequence[CyclicPart],
    ) -> Walks:
        """Return the walks between all vertices of a family, from a cache.

        The key is the shape of the family: edges, weights and number of vertices. ``cache`` is
        filled in place and emptied when it has ``MAX_CACHED_SHAPES`` entries. Sentences of equal
        length have the same word-order graph. Families with several rows of weights are not cached.
        """
        vertices = np.arange(family.labels.shape[1])
        if len(family.weights) > 1:
            return self._walks(family, vertices, cycles)
        key = family.edges.tobytes(), family.weights.tobytes(), vertices[-1:].tobytes()
        if key not in cache:
            if len(cache) == MAX_CACHED_SHAPES:  # all different: nothing is gained by keeping them
                cache.clear()
            cache[key] = self._walks(family, vertices, cycles)
        return cache[key]

    def _large_label_pairs(
        self, family: GraphFamily, rank: Indices, cycles: Sequence[CyclicPart]
    ) -> Iterator[LabelPairs]:
        """Yield the label pairs of a family of large graphs, as many graphs at a time as fit.

        That is ``MAX_MATRIX_VALUES`` numbers in their adjacency matrices, but at least one graph.
        ``rank`` maps label numbers to ranks, ``cycles`` are the family's cyclic parts. Nothing is
        yielded if no vertex has a label.
        """
        places = LabelledVertices.from_family(family, rank)
        if not len(places):
            return
        count = max(1, MAX_MATRIX_VALUES // family.labels.shape[1] ** 2)
        for start in range(0, len(family.members), count):
            rows = slice(start, start + count)
            part = family.rows(rows)
            part_places = replace(places, labels=places.labels[rows])
            walks = self._walks(part, places.vertices, cycles)
            yield from find_label_pairs(part.members, part_places, walks, self.combine)

    def _walks(self, family: GraphFamily, places: Indices, cycles: Sequence[CyclicPart]) -> Walks:
        """Return the walks between ``places`` (vertices) of a family, bounded by the settings.

        ``source`` and ``target`` of the result are indices into ``places``. ``cycles`` are the
        cyclic parts of the family, whose weights are scaled down to ``max_radius``; unused if
        ``max_length`` is set.
        """
        if self.max_length is not None:
            return walks_up_to(family, family.weights, places, self.threshold, self.max_length)
        weights, _ = bound_weights(family, cycles, self.max_radius)
        return all_walks(family, weights, places, self.threshold)

    def _orient(self, family: GraphFamily) -> GraphFamily:
        """Return the family, with every edge in both directions if the kernel is undirected."""
        return family if self.directed else make_undirected(family)


def _has_few_labels(family: GraphFamily) -> bool:
    """Return whether a graph has at most ``MAX_TABLE_LABELS`` places for labels.

    These are its vertices times the labels per vertex, used or not: a table of all pairs of them
    fits then.
    """
    _, v, k = family.labels.shape
    return v * k <= MAX_TABLE_LABELS


@dataclass(frozen=True, kw_only=True)
class ShortestPathGraph(ExplicitKernel[LabelledGraph]):
    """Similarity of two labelled graphs by the labels and distances of their vertices.

    Feature ``(a, b, "d steps")`` counts the pairs of different vertices labelled ``a`` and ``b``
    whose shortest path has ``d`` edges. Edge weights are ignored.

    Borgwardt and Kriegel (2005), ICDM.

    Parameters
    ----------
    directed
        Whether paths follow the direction of the edges.
    max_length
        Longest distance counted; None counts all.

    Examples
    --------
    >>> chain = LabelledGraph(["a", "b", "a"], {(0, 1): 1.0, (1, 2): 1.0})
    >>> list(ShortestPathGraph().features([chain]).names)
    [('a', 'b', '1 steps'), ('b', 'a', '1 steps'), ('a', 'a', '2 steps')]
    """

    directed: bool = True
    max_length: int | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless ``max_length`` is None or at least 1."""
        if self.max_length is not None and self.max_length < 1:
            raise ValueError(f"max_length must be at least 1 or None, got {self.max_length}")

    def features(self, X: Sequence[LabelledGraph]) -> Features:
        """Return counts by labels and distance, one row per graph.

        Only combinations that occur have a column, sorted by distance, then labels. Undirected,
        every pair of vertices counts in both orders. A graph without edges or labels has an empty
        row.
        """
        batch = GraphBatch.from_graphs(X)
        return merge_label_pairs(batch, self._label_pairs(batch))

    def _label_pairs(self, batch: GraphBatch) -> Iterator[LabelPairs]:
        """Yield the number of vertex pairs by labels, for each family and distance from 1 on.

        Distances, in edges, of a family come in ascending order, as ``LabelPairs.steps``; families
        without labels are skipped.
        """
        rank = batch.label_ranks()
        for family in track(batch.families, "shortest paths", len(batch.families)):
            places = LabelledVertices.from_family(family, rank)
            if not len(places):
                continue
            distance = self._distances(family)[places.vertices][:, places.vertices]
            for steps in range(1, int(distance.max(initial=0)) + 1):
                source, target = np.nonzero(distance == steps)
                walks = Walks(source, target, np.ones((1, len(source))))
                yield from find_label_pairs(family.members, places, walks, "sum", steps=steps)

    def _distances(self, family: GraphFamily) -> Matrix:
        """Return the number of edges between any two vertices, (v, v), as float.

        0 stands for a vertex with itself, no path or one longer than ``max_length``. All graphs of
        the family share it: edges count whatever their weight.
        """
        v = family.labels.shape[1]
        if not v:
            return np.zeros((0, 0))
        entries = (np.ones(len(family.edges)), tuple(family.edges.T))
        A = sp.csr_array(entries, shape=(v, v))
        distance = shortest_path(A, directed=self.directed, unweighted=True)
        is_excluded = ~np.isfinite(distance) | (distance > (self.max_length or np.inf))
        return np.where(is_excluded, 0.0, distance)


@dataclass(frozen=True)
class LabelBag(ExplicitKernel[LabelledGraph]):
    """Similarity of two labelled graphs by how often each label occurs in them.

    >>> LabelBag()([LabelledGraph(["a", "b", "a"], {}), LabelledGraph(["a"], {})])
    array([[5., 2.],
           [2., 1.]])
    """

    def features(self, X: Sequence[LabelledGraph]) -> Features:
        """Return how many vertices have each label, one row per graph; columns are sorted by label.

        Every label of the batch's vocabulary has a column, used or not.
        """
        batch = GraphBatch.from_graphs(X)
        rank, words = batch.label_ranks(), sorted(batch.vocabulary)
        rows, columns = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
        for family in batch.families:
            g, v, k = family.labels.shape
            ranks = rank[family.labels].reshape(g, v * k)
            row, column_of = np.nonzero(ranks >= 0)
            rows.append(family.members[row])
            columns.append(ranks[row, column_of])
        cells = (np.concatenate(rows), np.concatenate(columns))
        counts = sp.coo_array(
            (np.ones(len(cells[0])), cells), shape=(batch.size, len(words))
        ).tocsr()
        parts = np.arange(len(words), dtype=np.int32).reshape(-1, 1)
        return Features(sp.csr_array(counts), FeatureNames(tuple(words), parts))
