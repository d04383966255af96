"""The bag-of-labels kernel, a baseline for graph kernels: it does not look at the edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from textrank.linalg.gram import ExplicitKernel
from textrank.types import Features, GraphBatch, LabelledGraph, Names


@dataclass(frozen=True)
class LabelBag(ExplicitKernel[LabelledGraph]):
    """Similarity of two labelled graphs by how often each label occurs in them.

    >>> LabelBag()([LabelledGraph(["a", "b", "a"], {}), LabelledGraph(["a"], {})])
    array([[5., 2.],
           [2., 1.]])
    """

    def features(self, X: Sequence[LabelledGraph]) -> Features:
        """How often each label occurs, a row per graph; columns in the order of the labels."""
        batch = GraphBatch.of(X)
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
        return Features(sp.csr_array(counts), Names(tuple(words), parts))
