"""All-paths features and Gram matrices against the plain definition, in one run."""

from __future__ import annotations

import time
from collections import deque

import numpy as np
import pytest
import spacy

from textrank.candidates import Candidate, span_tokens
from textrank.formats.research import PPIXML
from textrank.kernels.graphs import AllPathsGraph
from textrank.linalg import gram
from textrank.tasks.ppi.graphs import DependencyGraph

pytestmark = [pytest.mark.benchmark, pytest.mark.corpus]


def candidates(path):
    """All pairs of the corpus; their labels do not matter here."""
    out = []
    for doc in PPIXML(str(path))(spacy.blank("en")):
        spans = {span.id_: span for span in doc.spans["entities"]}
        for pair in doc.user_data["gold"]:
            ends = sorted((spans[e] for e in pair["entities"]), key=lambda s: (s.start, s.end))
            out.append(Candidate(doc, tuple(ends), doc.user_data["document"]))
    return out


def plain_graph(candidate):
    """The adjacency matrix and the label sets of a pair, written down from the definition."""
    first, second = (span_tokens(span) for span in candidate.spans)
    sentence = candidate.spans[0].sent
    at, n = sentence.start, len(sentence)
    first, second = {t - at for t in first}, {t - at for t in second}
    others = {t - at for span in candidate.doc.spans["entities"] for t in span_tokens(span)}
    dependencies = [
        (g - at, d - at, kind)
        for g, d, kind in candidate.doc.user_data["dependencies"]
        if kind != "punct" and at <= g < at + n
    ]
    on_path = plain_paths(n, dependencies, first, second)
    touched = {t for k in on_path for t in dependencies[k][:2]}

    size = 2 * n + len(dependencies)
    A, labels = np.zeros((size, size)), []
    for i, token in enumerate(sentence):
        text = "PROT" if i in others else token.text
        text = "PROT1" if i in first else "PROT2" if i in second else text
        prefix = "path:" if i in touched else ""
        labels.append({prefix + text, prefix + token.tag_})
    for k, (g, d, kind) in enumerate(dependencies):
        A[g, n + k] = A[n + k, d] = 0.9 if k in on_path else 0.3
        labels.append({("path:" if k in on_path else "") + kind})
    low, high = min(first | second), max(first | second)
    for i, token in enumerate(sentence):
        text = "PROT" if i in others else token.text
        text = "PROT1" if i in first else "PROT2" if i in second else text
        prefix = "before:" if i < low else "after:" if i > high else "middle:"
        labels.append({prefix + text, prefix + token.tag_})
        if i:
            A[n + len(dependencies) + i - 1, n + len(dependencies) + i] = 0.9
    return A, labels


def plain_paths(n, dependencies, first, second):
    neighbours = [[] for _ in range(n)]
    for g, d, _ in dependencies:
        neighbours[g].append(d)
        neighbours[d].append(g)
    distances = {s: plain_distances(neighbours, s) for s in first | second}
    on_path = set()
    for s in first:
        for t in second:
            whole = distances[s].get(t)
            if whole:
                for k, (g, d, _) in enumerate(dependencies):
                    for u, v in ((g, d), (d, g)):
                        steps = distances[s].get(u, n) + 1 + distances[t].get(v, n)
                        if steps == whole:
                            on_path.add(k)
    return on_path


def plain_distances(neighbours, start):
    steps, queue = {start: 0}, deque([start])
    while queue:
        u = queue.popleft()
        for v in neighbours[u]:
            if v not in steps:
                steps[v] = steps[u] + 1
                queue.append(v)
    return steps


def plain_features(some):
    """A dense inverse and a dictionary for every pair."""
    rows = []
    for candidate in some:
        A, labels = plain_graph(candidate)
        W = np.linalg.inv(np.eye(len(A)) - A) - np.eye(len(A))
        features = {}
        for i, j in zip(*np.nonzero(W > 1e-5), strict=True):
            for a in labels[i]:
                for b in labels[j]:
                    features[a, b] = max(features.get((a, b), 0.0), W[i, j])
        rows.append(features)
    return rows


def plain_gram(rows, others):
    return np.array([[sum(v * y[k] for k, v in x.items() if k in y) for y in others] for x in rows])


def seconds(function, repeats=3):
    """The shortest CPU time of a few runs, and the last result."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
    return best, result


def table(title, unit, rows):
    first = rows[0][1]
    print(f"\n{title}")
    for name, rate in rows:
        print(f"  {name:<38}{rate:>14,.0f} {unit}{rate / first:>9.1f} x")


def test_features_beat_the_plain_definition_on_lll(data):
    pairs = candidates(data / "ppi" / "LLL.xml.gz")
    slow, rows = seconds(lambda: plain_features(pairs))
    fast, F = seconds(lambda: AllPathsGraph().features(DependencyGraph()(pairs)))
    rates = [("definition: dense inverse, dictionaries", len(pairs) / slow)]
    rates.append(("textrank, sentences to features", len(pairs) / fast))
    table(f"All-paths features, LLL, {len(pairs)} pairs", "pairs/CPU s", rates)

    assert F.values.nnz == sum(map(len, rows))
    squares = [sum(v * v for v in row.values()) for row in rows]
    np.testing.assert_allclose(F.values.power(2).sum(axis=1), squares, rtol=1e-9)
    assert slow / fast >= 7


def test_gram_matrix_beats_dictionary_products_on_aimed(data):
    pairs = candidates(data / "ppi" / "AImed.xml.gz")
    build, F = seconds(lambda: AllPathsGraph().features(DependencyGraph()(pairs)), repeats=2)
    rows = plain_features(pairs[:600])
    slow, few = seconds(lambda: plain_gram(rows[:5], rows), repeats=2)
    fast, K = seconds(lambda: gram(F.values), repeats=1)

    n = len(pairs)
    slow_rate, fast_rate = few.size / slow, n * (n + 1) / 2 / fast
    table(f"All-paths features, AImed, {n} pairs", "pairs/CPU s", [("textrank", n / build)])
    rates = [
        ("definition: dictionary products", slow_rate),
        ("textrank, sparse product", fast_rate),
    ]
    table(f"Gram matrix, AImed, {n} pairs", "values/CPU s", rates)

    np.testing.assert_allclose(K[:5, :600], few, rtol=1e-9)
    assert fast_rate / slow_rate >= 80
