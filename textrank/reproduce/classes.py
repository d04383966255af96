"""Classification: RLS against other learners, joint kernel against output codes, embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

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
from textrank.learners.multiclass import (
    G2P,
    all_pairs_code,
    binary_code,
    class_matrix,
    class_similarity,
    code_path,
    decode,
    joint_kernel_path,
    one_vs_all_code,
    random_code,
)
from textrank.learners.rls import RLS
from textrank.metrics import auc, choose_largest
from textrank.reproduce.base import (
    REUTERS,
    SMALL_SETS,
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
RBF_WIDTHS = (0.03, 0.2, 1.0)  # gamma = width * 4 / features
MULTICLASS_SETS = ("dna", "iris", "vehicle", "vowel", "wine", "glass")
BINARY_SETS = ("australian", "diabetes", "fourclass", "ionosphere", "splice")


# Two and many classes -----------------------------------------------------------------------------


def run_multiclass(settings: RunSettings) -> Cells:
    """Compute error rates of the joint kernel, one-vs-all, all-pairs and random codes.

    One row per set of ``MULTICLASS_SETS``, one column per method: mean and standard deviation over
    five folds, ten in the full version. The set dna is subsampled unless full.
    """
    sets = read_small_sets(settings.file(SMALL_SETS))
    cells: dict[str, dict[str, Figure]] = {}
    for name in MULTICLASS_SETS:
        X, y = _subsample(sets[name], settings) if name == "dna" else sets[name]
        classes = np.unique(y, return_inverse=True)[1]
        errors: dict[str, list[float]] = {}
        for train, test in _folds(classes, settings):
            K, K_test = _rbf_grams(X[train], X[test])
            for method, predict in MULTICLASS_METHODS.items():
                decided = predict(K, K_test, classes[train])
                errors.setdefault(method, []).append(float((decided != classes[test]).mean()))
        cells[name] = {method: Figure.from_values(values) for method, values in errors.items()}
    return cells


def run_two_classes(settings: RunSettings) -> Cells:
    """Compute the AUC of RLS, SVM, naive Bayes and random forest on binary data sets.

    One row per set of ``BINARY_SETS``, one column per method, mean and standard deviation over five
    folds, ten in the full version; an undefined AUC counts as 0.
    """
    sets = read_small_sets(settings.file(SMALL_SETS))
    cells: dict[str, dict[str, Figure]] = {}
    for name in BINARY_SETS:
        X, labels = sets[name]
        y = np.where(labels > 0, 1.0, -1.0)
        values_by_method: dict[str, list[float]] = {}
        for train, test in _folds((y > 0).astype(np.intp), settings):
            for method, scores in _iter_binary_scores(X[train], X[test], y[train], settings.seed):
                values_by_method.setdefault(method, []).append(auc(y[test], scores) or 0.0)
        cells[name] = {
            method: Figure.from_values(values) for method, values in values_by_method.items()
        }
    return cells


def predict_joint_kernel(
    K: list[Matrix], new: list[Matrix], classes: Indices, code: Callable[[int], Matrix] = np.eye
) -> Indices:
    """Predict classes with the joint kernel, a Gaussian of input and encoded class.

    Parameters
    ----------
    K, new
        Gram matrices of the training data, shape (n, n), and of test against training data, shape
        (m, n), one per width of the input kernel.
    classes
        Class numbers of the training data, from 0; the largest one sets the number of classes.
    code
        Function from the number of classes to their codes, one row each. With one-hot codes, the
        default, all classes are equally similar, and the decisions are those of one-vs-all.

    Returns
    -------
    Class numbers of the test data, shape (m,). The widths of both Gaussians (1 or 3 for the
    classes) and alpha are chosen by leave-one-out accuracy on the training data; ties go to the
    first widths and the largest alpha.
    """
    codes = code(int(classes.max()) + 1)
    groups = list(np.arange(len(classes))[:, None])
    best, predicted = -1.0, classes
    for width in (1.0, 3.0):
        M = class_similarity(codes, width)
        for gram, gram_test in zip(K, new, strict=True):
            A, heldout = joint_kernel_path(
                gram, one_vs_all_code(len(codes))[classes], M, ALPHAS, groups
            )
            accuracy = (heldout.argmax(axis=2) == classes).mean(axis=1)
            if accuracy.max() > best:
                best, predicted = (
                    accuracy.max(),
                    (gram_test @ A[choose_largest(accuracy, ALPHAS)]).argmax(axis=1),
                )
    return predicted


def make_code_predictor(
    code: Callable[[int], Matrix],
) -> Callable[[list[Matrix], list[Matrix], Indices], Indices]:
    """Return a predictor, with the arguments of ``predict_joint_kernel``, that uses an output code.

    ``code(number of classes)`` returns the code matrix, one row per class. The predictor ``(K, new,
    classes)`` takes training and test Gram matrices, one pair per width, and training classes.
    Width and alpha are chosen by leave-one-out accuracy, ties go to the first width and the largest
    alpha; predictions are decoded by loss.
    """

    def run(K: list[Matrix], new: list[Matrix], classes: Indices) -> Indices:
        """Return the class numbers (m,) of the test data.

        ``K`` are Gram matrices (n, n) of the training data, one per width, ``new`` (m, n) those of
        the test data with them, ``classes`` (n,) class numbers from 0.
        """
        bits = code(int(classes.max()) + 1)
        groups = list(np.arange(len(classes))[:, None])
        best, predicted = -1.0, classes
        for gram, gram_test in zip(K, new, strict=True):
            A, heldout = code_path(gram, classes, bits, ALPHAS, groups)
            accuracy = (decode(heldout, bits) == classes).mean(axis=1)
            if accuracy.max() > best:
                best, predicted = (
                    accuracy.max(),
                    decode(gram_test @ A[choose_largest(accuracy, ALPHAS)], bits),
                )
        return predicted

    return run


MULTICLASS_METHODS: Mapping[str, Callable[[list[Matrix], list[Matrix], Indices], Indices]] = {
    "joint kernel": predict_joint_kernel,
    "joint kernel, binary codes": partial(predict_joint_kernel, code=binary_code),
    "one-vs-all": make_code_predictor(one_vs_all_code),
    "all pairs": make_code_predictor(all_pairs_code),
    "random code": make_code_predictor(lambda classes: random_code(classes, 3 * classes)),
}


def _iter_binary_scores(
    X: Matrix, new: Matrix, y: Vector, seed: int
) -> Iterator[tuple[str, Vector]]:
    """Iterate over method and scores of the test data ``new``, one score per row.

    ``X`` and ``y`` are the training data, with labels 1 and -1. Higher scores speak for the
    positive class; those of naive Bayes and random forest are probabilities. The width of RLS is
    chosen by leave-one-out AUC, that of the SVM by inner folds. ``seed`` is for these folds and the
    forest.
    """
    best, scores = -1.0, np.zeros(len(new))
    for gram, gram_test in zip(*_rbf_grams(X, new), strict=True):
        fit = RLS(alphas=list(ALPHAS)).fit(gram, independent_targets(y))
        value = auc(y, fit.heldout[fit.alpha_index]) or 0.0
        if value > best:
            best, scores = value, fit.predict(gram_test)
    yield "RLS", scores
    yield "SVM", _svm_scores(X, new, y, seed)
    Z, Z_test = _standardize(X, new)
    yield "naive Bayes", GaussianNB().fit(Z, y).predict_proba(Z_test)[:, 1]
    forest = RandomForestClassifier(200, random_state=seed).fit(Z, y)
    yield "random forest", forest.predict_proba(Z_test)[:, 1]


def _svm_scores(X: Matrix, new: Matrix, y: Vector, seed: int) -> Vector:
    """Return scores of a Gaussian SVM on ``new``, shape (len(new),).

    ``X`` and ``y`` are the training data. Width and cost (0.25, 1, 4 or 16) are chosen by mean AUC
    over five inner folds, which are stratified and shuffled with ``seed``; ties go to the first.
    """
    best, scores = -1.0, np.zeros(len(new))
    inner = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))
    for gram, gram_test in zip(*_rbf_grams(X, new), strict=True):
        for cost in (0.25, 1.0, 4.0, 16.0):
            values = []
            for train, test in inner:
                svm = SVC(C=cost, kernel="precomputed").fit(gram[np.ix_(train, train)], y[train])
                decisions = svm.decision_function(gram[np.ix_(test, train)])
                values.append(auc(y[test], decisions) or 0.0)
            if np.mean(values) > best:
                svm = SVC(C=cost, kernel="precomputed").fit(gram, y)
                best, scores = float(np.mean(values)), svm.decision_function(gram_test)
    return scores


def _rbf_grams(X: Matrix, new: Matrix) -> tuple[list[Matrix], list[Matrix]]:
    """Return Gram matrices of the training data, and of test against training data.

    Both lists have one matrix per entry of ``RBF_WIDTHS``, shapes (n, n) and (m, n) for n training
    and m test rows. Features are standardised first.
    """
    Z, Z_test = _standardize(X, new)
    gammas = [width * 4 / X.shape[1] for width in RBF_WIDTHS]
    train_grams = [rbf_kernel(Z, gamma=gamma) for gamma in gammas]
    return train_grams, [rbf_kernel(Z_test, Z, gamma=gamma) for gamma in gammas]


def _standardize(X: Matrix, new: Matrix) -> tuple[Matrix, Matrix]:
    """Scale training and test features to zero mean and unit variance of the training data.

    Constant features are only centred. The inputs are not changed.
    """
    centre, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return (X - centre) / spread, (new - centre) / spread


def _folds(classes: Indices, settings: RunSettings) -> Iterator[tuple[Indices, Indices]]:
    """Iterate over train and test indices of five folds, ten in the full version, shuffled.

    ``classes`` are class numbers from 0. Folds are stratified if every class has a member for each.
    """
    folds = 10 if settings.full else 5
    splitter_class = StratifiedKFold if np.bincount(classes).min() >= folds else KFold
    yield from splitter_class(folds, shuffle=True, random_state=settings.seed).split(
        classes, classes
    )


def _subsample(sample: Sample, settings: RunSettings, most: int = 600) -> Sample:
    """Return ``most`` random rows of a sample, in random order; all in the full version.

    A sample of at most ``most`` rows is returned as it is.
    """
    X, y = sample
    if settings.full or len(y) <= most:
        return sample
    rows = np.random.default_rng(settings.seed).choice(len(y), most, replace=False)
    return X[rows], y[rows]


CLASS_EXPERIMENTS = (
    Experiment("multiclass", run_multiclass, files=(SMALL_SETS,), revision=2),
    Experiment("two-classes", run_two_classes, files=(SMALL_SETS,)),
)
# Embeddings of Reuters articles -------------------------------------------------------------------

SVM_COSTS = (0.1, 1.0, 10.0)


def run_reuters_embedding(settings: RunSettings) -> Cells:
    """Compute macro F of a linear SVM on words, similarities, LSI and G2P for ten topics.

    One row per method, one column "macro F", over two draws of training, validation and test
    articles (900 each, or a third of all in the full version). Only articles with a single topic
    are used.
    """
    articles = read_modapte_articles(settings.file(REUTERS))
    single_topic = [a for a in articles if len(a.topics) == 1]
    topics = most_frequent_topics(single_topic, 10)
    single = [a for a in single_topic if a.topics[0] in topics]
    size = len(single) // 3 if settings.full else 900
    values: dict[str, list[float]] = {}
    for draw in range(2):
        rng = np.random.default_rng(settings.seed + draw)
        parts = np.split(rng.permutation(len(single))[: 3 * size], 3)
        texts = [[f"{single[i].title} {single[i].text}" for i in part] for part in parts]
        train, *others = texts
        X, valid = fit_tfidf(train, others[0])
        _, test = fit_tfidf(train, others[1])
        y = [_topic_indices(single, topics, part) for part in parts]
        K = [np.asarray((part @ X.T).toarray()) for part in (X, valid, test)]
        for method, views in _iter_embeddings((X, valid, test), K, y[0]):
            values.setdefault(method, []).append(_validated_macro_f(views, y))
    return {method: {"macro F": Figure.from_values(macro_f)} for method, macro_f in values.items()}


def _iter_embeddings(
    X: tuple[Matrix, ...], K: list[Matrix], y: Indices
) -> Iterator[tuple[str, list[list[Matrix]]]]:
    """Iterate over methods with alternatives: each the train, validation and test features.

    ``X`` has the tf-idf vectors of the three parts, ``K`` their similarities to the training
    articles, ``y`` the topic numbers of the training articles. Only G2P has several, of alpha and
    number of neighbours, scaled to a mean squared length of one. The alternatives are for
    ``_validated_macro_f`` to choose from.
    """
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


def _validated_macro_f(views: list[list[Matrix]], y: list[Indices]) -> float:
    """Return macro F on the test part, with cost and alternative chosen on the validation part.

    ``views`` are alternatives of train, validation and test features; ``y`` are the topic numbers
    of the three parts. Ties go to the first.
    """
    best, value = -1.0, 0.0
    for train, valid, test in views:
        for cost in SVM_COSTS:
            svm = LinearSVC(C=cost, random_state=0, max_iter=5000).fit(train, y[0])
            validation_f = f1_score(y[1], svm.predict(valid), average="macro")
            if validation_f > best:
                best = validation_f
                value = float(f1_score(y[2], svm.predict(test), average="macro"))
    return value


def _topic_indices(articles: list[ReutersArticle], topics: list[str], part: Indices) -> Indices:
    """Return the position in ``topics`` of the topic of each article in ``part`` (article numbers).

    Each article must have one of the topics as its first.
    """
    return np.array([topics.index(articles[i].topics[0]) for i in part], dtype=np.intp)


EMBEDDING_EXPERIMENTS = (Experiment("embedding-reuters", run_reuters_embedding, files=(REUTERS,)),)
