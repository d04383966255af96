"""G2P and dissimilarity features on text categorisation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from textrank.formats.reuters import Article
from textrank.learners.g2p import G2P, class_matrix
from textrank.reproduce.data import REUTERS, frequent_topics, modapte, tfidf
from textrank.reproduce.experiment import Cells, Experiment, Figure, Setting
from textrank.types import Indices, Matrix

COSTS = (0.1, 1.0, 10.0)


def reuters(setting: Setting) -> Cells:
    """Macro F of a linear machine on words, similarities, LSI and G2P, ten topics, one a text."""
    found = modapte(setting.file(REUTERS))
    alone = [a for a in found if len(a.topics) == 1]
    topics = frequent_topics(alone, 10)
    single = [a for a in alone if a.topics[0] in topics]
    size = len(single) // 3 if setting.full else 900
    values: dict[str, list[float]] = {}
    for draw in range(2):
        rng = np.random.default_rng(setting.seed + draw)
        parts = np.split(rng.permutation(len(single))[: 3 * size], 3)
        texts = [[f"{single[i].title} {single[i].text}" for i in part] for part in parts]
        train, *others = texts
        X, valid = tfidf(train, others[0])
        _, test = tfidf(train, others[1])
        y = [_classes(single, topics, part) for part in parts]
        K = [np.asarray((part @ X.T).toarray()) for part in (X, valid, test)]
        for method, views in _views((X, valid, test), K, y[0]):
            values.setdefault(method, []).append(_best(views, y))
    return {method: {"macro F": Figure.of(own)} for method, own in values.items()}


def _views(
    X: tuple[Matrix, ...], K: list[Matrix], y: Indices
) -> Iterator[tuple[str, list[list[Matrix]]]]:
    """Each method with its choices of settings: train, validation and test part of each."""
    yield "linear machine", [list(X)]
    yield "similarity features", [K]
    distances = [np.sqrt(np.clip(2.0 - 2.0 * part, 0.0, None)) for part in K]
    yield "dissimilarity features", [distances]
    svd = TruncatedSVD(100, random_state=0).fit(X[0])
    yield "LSI", [[svd.transform(part) for part in X]]
    classes = class_matrix(np.eye(y.max() + 1)[y], "single")
    choices = []
    for alpha in (0.1, 1.0):
        for neighbours in (15, len(y) // 4, None):
            P = G2P(alpha=alpha, neighbours=neighbours, share=0.9999).fit(K[0], classes)
            parts = [part @ P for part in K]
            scale = np.sqrt((parts[0] ** 2).sum(axis=1).mean())
            choices.append([part / scale for part in parts])
    yield "G2P", choices


def _best(views: list[list[Matrix]], y: list[Indices]) -> float:
    """Macro F on the test part, cost and settings by the validation part."""
    best, value = -1.0, 0.0
    for train, valid, test in views:
        for cost in COSTS:
            machine = LinearSVC(C=cost, random_state=0, max_iter=5000).fit(train, y[0])
            inner = f1_score(y[1], machine.predict(valid), average="macro")
            if inner > best:
                best = inner
                value = float(f1_score(y[2], machine.predict(test), average="macro"))
    return value


def _classes(found: list[Article], topics: list[str], part: Indices) -> Indices:
    return np.array([topics.index(found[i].topics[0]) for i in part], dtype=np.intp)


TABLES = (Experiment("embedding-reuters", reuters, files=(REUTERS,)),)
