"""Two and many classes: least squares against other learners, the joint kernel against codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from textrank.features import Indices, Matrix, Vector
from textrank.formats.research import ReutersArticle
from textrank.learners.g2p import G2P, class_matrix
from textrank.learners.multiclass import (
    all_pairs_code,
    class_similarity,
    code_path,
    decode,
    joint_kernel_path,
    one_vs_all_code,
    random_code,
)
from textrank.learners.rls import RLS
from textrank.metrics import auc, choose_first
from textrank.reproduce.base import (
    REUTERS,
    SMALL,
    Cells,
    Experiment,
    Figure,
    RunSettings,
    Sample,
    fit_tfidf,
    independent_targets,
    most_frequent_topics,
    read_modapte_articles,
    read_small_sets,
)

ALPHAS = np.exp2(np.arange(-9.0, 4.0, 3.0))
WIDTHS = (0.03, 0.2, 1.0)  # of the Gaussian, times 4 / features
MULTI = ("dna", "iris", "vehicle", "vowel", "wine", "glass")
TWO = ("australian", "diabetes", "fourclass", "ionosphere", "splice")


def multiclass(setting: RunSettings) -> Cells:
    """Error rates of the joint kernel, one-vs-all, all pairs and random codes."""
    sets = read_small_sets(setting.file(SMALL))
    cells: dict[str, dict[str, Figure]] = {}
    for name in MULTI:
        X, y = _shortened(sets[name], setting) if name == "dna" else sets[name]
        classes = np.unique(y, return_inverse=True)[1]
        wrong: dict[str, list[float]] = {}
        for train, test in _folds(classes, setting):
            K, new = _grams(X[train], X[test])
            for method, predicted in METHODS.items():
                said = predicted(K, new, classes[train])
                wrong.setdefault(method, []).append(float((said != classes[test]).mean()))
        cells[name] = {method: Figure.from_values(values) for method, values in wrong.items()}
    return cells


def two_classes(setting: RunSettings) -> Cells:
    """AUC of least squares and of others, on two classes."""
    sets = read_small_sets(setting.file(SMALL))
    cells: dict[str, dict[str, Figure]] = {}
    for name in TWO:
        X, labels = sets[name]
        y = np.where(labels > 0, 1.0, -1.0)
        found: dict[str, list[float]] = {}
        for train, test in _folds((y > 0).astype(np.intp), setting):
            for method, scores in _binary(X[train], X[test], y[train], setting.seed):
                found.setdefault(method, []).append(auc(y[test], scores) or 0.0)
        cells[name] = {method: Figure.from_values(values) for method, values in found.items()}
    return cells


def joint(K: list[Matrix], new: list[Matrix], classes: Indices) -> Indices:
    """The joint kernel: a Gaussian of input and encoded class; its width chosen too."""
    one = np.eye(classes.max() + 1)
    groups = list(np.arange(len(classes))[:, None])
    best, said = -1.0, classes
    for width in (1.0, 3.0):
        M = class_similarity(one, width)
        for gram, other in zip(K, new, strict=True):
            A, heldout = joint_kernel_path(
                gram, one_vs_all_code(len(one))[classes], M, ALPHAS, groups
            )
            right = (heldout.argmax(axis=2) == classes).mean(axis=1)
            if right.max() > best:
                best, said = right.max(), (other @ A[choose_first(right)]).argmax(axis=1)
    return said


def coded(
    code: Callable[[int], Matrix],
) -> Callable[[list[Matrix], list[Matrix], Indices], Indices]:
    """An output code, decoded by its loss."""

    def run(K: list[Matrix], new: list[Matrix], classes: Indices) -> Indices:
        bits = code(int(classes.max()) + 1)
        groups = list(np.arange(len(classes))[:, None])
        best, said = -1.0, classes
        for gram, other in zip(K, new, strict=True):
            A, heldout = code_path(gram, classes, bits, ALPHAS, groups)
            right = (decode(heldout, bits) == classes).mean(axis=1)
            if right.max() > best:
                best, said = right.max(), decode(other @ A[choose_first(right)], bits)
        return said

    return run


METHODS = {
    "joint kernel": joint,
    "one-vs-all": coded(one_vs_all_code),
    "all pairs": coded(all_pairs_code),
    "random code": coded(lambda classes: random_code(classes, 3 * classes)),
}


def _binary(X: Matrix, new: Matrix, y: Vector, seed: int) -> Iterator[tuple[str, Vector]]:
    best, scores = -1.0, np.zeros(len(new))
    for gram, other in zip(*_grams(X, new), strict=True):
        fit = RLS(alphas=list(ALPHAS)).fit(gram, independent_targets(y))
        value = auc(y, fit.heldout[fit.alpha_index]) or 0.0
        if value > best:
            best, scores = value, fit.predict(other)
    yield "RLS", scores
    yield "SVM", _machine(X, new, y, seed)
    Z, other = _scaled(X, new)
    yield "naive Bayes", GaussianNB().fit(Z, y).predict_proba(other)[:, 1]
    forest = RandomForestClassifier(200, random_state=seed).fit(Z, y)
    yield "random forest", forest.predict_proba(other)[:, 1]


def _machine(X: Matrix, new: Matrix, y: Vector, seed: int) -> Vector:
    """A Gaussian support vector machine, width and cost by AUC over five inner folds."""
    best, scores = -1.0, np.zeros(len(new))
    inner = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))
    for gram, other in zip(*_grams(X, new), strict=True):
        for cost in (0.25, 1.0, 4.0, 16.0):
            values = []
            for train, test in inner:
                machine = SVC(C=cost, kernel="precomputed").fit(
                    gram[np.ix_(train, train)], y[train]
                )
                decisions = machine.decision_function(gram[np.ix_(test, train)])
                values.append(auc(y[test], decisions) or 0.0)
            if np.mean(values) > best:
                machine = SVC(C=cost, kernel="precomputed").fit(gram, y)
                best, scores = float(np.mean(values)), machine.decision_function(other)
    return scores


def _grams(X: Matrix, new: Matrix) -> tuple[list[Matrix], list[Matrix]]:
    Z, other = _scaled(X, new)
    gammas = [width * 4 / X.shape[1] for width in WIDTHS]
    own = [rbf_kernel(Z, gamma=gamma) for gamma in gammas]
    return own, [rbf_kernel(other, Z, gamma=gamma) for gamma in gammas]


def _scaled(X: Matrix, new: Matrix) -> tuple[Matrix, Matrix]:
    centre, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return (X - centre) / spread, (new - centre) / spread


def _folds(classes: Indices, setting: RunSettings) -> Iterator[tuple[Indices, Indices]]:
    """Stratified where every class has enough members."""
    folds = 10 if setting.full else 5
    kind = StratifiedKFold if np.bincount(classes).min() >= folds else KFold
    yield from kind(folds, shuffle=True, random_state=setting.seed).split(classes, classes)


def _shortened(sample: Sample, setting: RunSettings, most: int = 600) -> Sample:
    X, y = sample
    if setting.full or len(y) <= most:
        return sample
    rows = np.random.default_rng(setting.seed).choice(len(y), most, replace=False)
    return X[rows], y[rows]


TABLES = (
    Experiment("multiclass", multiclass, files=(SMALL,)),
    Experiment("two-classes", two_classes, files=(SMALL,)),
)
COSTS = (0.1, 1.0, 10.0)


def reuters(setting: RunSettings) -> Cells:
    """Macro F of a linear machine on words, similarities, LSI and G2P, ten topics, one a text."""
    found = read_modapte_articles(setting.file(REUTERS))
    alone = [a for a in found if len(a.topics) == 1]
    topics = most_frequent_topics(alone, 10)
    single = [a for a in alone if a.topics[0] in topics]
    size = len(single) // 3 if setting.full else 900
    values: dict[str, list[float]] = {}
    for draw in range(2):
        rng = np.random.default_rng(setting.seed + draw)
        parts = np.split(rng.permutation(len(single))[: 3 * size], 3)
        texts = [[f"{single[i].title} {single[i].text}" for i in part] for part in parts]
        train, *others = texts
        X, valid = fit_tfidf(train, others[0])
        _, test = fit_tfidf(train, others[1])
        y = [_classes(single, topics, part) for part in parts]
        K = [np.asarray((part @ X.T).toarray()) for part in (X, valid, test)]
        for method, views in _views((X, valid, test), K, y[0]):
            values.setdefault(method, []).append(_best(views, y))
    return {method: {"macro F": Figure.from_values(own)} for method, own in values.items()}


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


def _classes(found: list[ReutersArticle], topics: list[str], part: Indices) -> Indices:
    return np.array([topics.index(found[i].topics[0]) for i in part], dtype=np.intp)


EMBEDDINGS_TABLES = (Experiment("embedding-reuters", reuters, files=(REUTERS,)),)
