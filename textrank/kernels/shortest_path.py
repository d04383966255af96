"""The shortest-path graph kernel, a baseline for the all-paths kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from textrank.kernels.label_pairs import LabelPairs, Places, label_pairs, merged
from textrank.kernels.walks import Walks
from textrank.linalg.gram import ExplicitKernel
from textrank.progress import track
from textrank.types import Features, GraphBatch, GraphFamily, LabelledGraph, Matrix


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
        batch = GraphBatch.of(X)
        return merged(batch, self._label_pairs(batch))

    def _label_pairs(self, batch: GraphBatch) -> Iterator[LabelPairs]:
        rank = batch.ranks()
        for family in track(batch.families, "shortest paths", len(batch.families)):
            places = Places.of(family, rank)
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
