"""Graph kernels from their definitions, with plain loops; and random graphs to compare on."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from textrank.graphs import LabelledGraph


def path_weights(graph, *, directed=True, max_length=None, radius=0.95):
    """W = (I - A)^-1 - I, or the first powers of A; diverging parts scaled as documented."""
    n = len(graph)
    A = np.zeros((n, n))
    for (s, t), weight in graph.edges.items():
        A[s, t] += weight
        if not directed and s != t:
            A[t, s] += weight
    if max_length is not None:
        return sum(np.linalg.matrix_power(A, k) for k in range(1, max_length + 1))
    for part in returning_parts(A):
        inside = np.ix_(part, part)
        found = max(abs(np.linalg.eigvals(A[inside])))
        if found > radius:
            A[inside] *= radius / found
    return np.linalg.inv(np.eye(n) - A) - np.eye(n)


def returning_parts(A):
    """Sets of vertices that reach one another."""
    n = len(A)
    reach = np.linalg.matrix_power(np.eye(n) + (A > 0), n) > 0
    parts = {tuple(j for j in range(n) if reach[i, j] and reach[j, i]) for i in range(n)}
    return [list(part) for part in parts if A[np.ix_(part, part)].any()]


def label_pairs(graph, W, combine, threshold=1e-5):
    features = defaultdict(float)
    for i in range(len(graph)):
        for j in range(len(graph)):
            if W[i, j] > threshold:
                for a in graph.labels[i]:
                    for b in graph.labels[j]:
                        old = features[a, b]
                        features[a, b] = max(old, W[i, j]) if combine == "max" else old + W[i, j]
    return dict(features)


def product(x, y):
    return sum(value * y[key] for key, value in x.items() if key in y)


def random_graph(rng, *, vertices=8, acyclic=False, scale=1.0):
    n = int(rng.integers(0, vertices + 1))
    words = np.array(list("abcdef"))
    labels = [tuple(rng.choice(words, size=rng.integers(0, 4), replace=False)) for _ in range(n)]
    edges = {}
    for s in range(n):
        for t in range(n):
            if rng.random() < 0.25 and (s < t or not acyclic):
                edges[s, t] = scale * float(rng.random())
    return LabelledGraph(labels, edges)
