"""Trains both stages on abstracts, and measures them on documents left out.

The second stage is the mean of a logistic regression and boosted trees. Examples have weights,
since the corpora differ in size: NLM-Gene has five times as many genes as GNormPlus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import corpora
from corpora import Abstract, Usage
from textrank.tasks.identifiers.boosted_trees import BoostedTrees
from textrank.tasks.identifiers.candidate_table import (
    COLUMNS,
    FIRST_STAGE_COLUMNS,
    CandidateTable,
)
from textrank.tasks.identifiers.gazetteer import Gazetteer, GeneLookup

INNER_FOLDS = 4  # of the scores of the first stage that the second is trained on
FIRST_C, SECOND_C = 1.0, 0.3  # inverse regularisation of the two stages
# Exponents of the weight of a corpus, (mean number of right rows / its number), in the first
# stage and in both parts of the second: 1 makes the corpora count equally, 0 the rows.
FIRST_BALANCE, LOGISTIC_BALANCE, TREES_BALANCE = 0.0, 1.0, 0.75
TREES_SHARE = 0.5  # of the trees in the second stage
TREES = {
    "max_iter": 100,
    "learning_rate": 0.12,
    "max_leaf_nodes": 12,
    "min_samples_leaf": 25,
    "l2_regularization": 5.0,
    "max_features": 0.25,
    "random_state": 0,
}


@dataclass(frozen=True, eq=False)
class Stages:
    """Weights of both stages by column, and the trees of the second."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    trees: BoostedTrees

    def score_second(self, X: sp.csr_array) -> NDArray[np.float64]:
        """Return the scores of rows whose column "trees" is empty."""
        filled = X.toarray()
        filled[:, -1] = self.trees.score(filled, COLUMNS)
        return np.asarray(filled @ self.second)


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows of the second stage: one per (mention or list item, gene)."""

    X: sp.csr_array
    y: NDArray[np.float64]  # 1 right, 0 wrong, NaN unknown
    document: NDArray[np.intp]
    query: NDArray[np.intp]
    identifiers: Sequence[str]
    n_documents: int


def logistic(
    X: sp.csr_array, y: NDArray[np.float64], c: float, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Weights of a logistic regression without intercept; unknown labels are left out."""
    known = ~np.isnan(y)
    # A column "gene" or "family" is 1 in every row, so that no intercept is needed.
    fitted = LogisticRegression(C=c, fit_intercept=False, max_iter=400, tol=1e-3)
    chosen = None if weights is None else weights[known]
    return np.asarray(fitted.fit(X[known], y[known] > 0.5, chosen).coef_[0])


def boosted_trees(
    X: sp.csr_array, y: NDArray[np.float64], weights: NDArray[np.float64]
) -> BoostedTrees:
    """Boosted trees of the log-odds that a row is right; unknown labels are left out."""
    known = ~np.isnan(y)
    fitted = HistGradientBoostingClassifier(**TREES).fit(
        X[known].toarray(), y[known] > 0.5, weights[known]
    )
    nodes = [predictors[0].nodes for predictors in fitted._predictors]
    # The constant is left out: the threshold is chosen afterwards.
    return BoostedTrees.from_nodes(nodes, COLUMNS)


def corpus_weights(
    corpus: NDArray[np.str_], y: NDArray[np.float64], exponent: float
) -> NDArray[np.float64]:
    """Weight of each row by the number of right rows of its corpus, see LOGISTIC_BALANCE."""
    counts = {name: np.sum(y[corpus == name] > 0.5) for name in np.unique(corpus)}
    mean = np.mean(list(counts.values()))
    return np.array([float(mean / counts[name]) ** exponent for name in corpus])


def train(
    abstracts: Sequence[Abstract], plain: Gazetteer, own: Mapping[str, Usage]
) -> tuple[Stages, Gazetteer]:
    """Train both stages; returns them and the tables with usage and first-stage weights."""
    ids = {one.id for one in abstracts}
    usage = corpora.sum_usage(uses for number, uses in own.items() if number in ids)
    tables = replace(plain, usage=usage, _entry_cache={}, _gene_cache={})
    candidates = list(corpora.tables_of(abstracts, GeneLookup([tables]), own))
    X, y, document = _first_rows(abstracts, candidates)
    inner = np.array([one.fold(997) % INNER_FOLDS for one in abstracts])[document]
    corpus = np.array([one.corpus for one in abstracts])
    balance = corpus_weights(corpus[document], y, FIRST_BALANCE)
    scores = np.zeros(len(y))
    for fold in range(INNER_FOLDS):
        rest = np.flatnonzero(inner != fold)
        scores[inner == fold] = X[inner == fold] @ logistic(
            X[rest], y[rest], FIRST_C, balance[rest]
        )
    queries = second_rows(abstracts, candidates, scores, document)
    first = logistic(X, y, FIRST_C, balance)
    balance = corpus_weights(corpus[queries.document], queries.y, LOGISTIC_BALANCE)
    second = (1.0 - TREES_SHARE) * logistic(queries.X, queries.y, SECOND_C, balance)
    second[COLUMNS.index("trees")] = TREES_SHARE
    balance = corpus_weights(corpus[queries.document], queries.y, TREES_BALANCE)
    trees = boosted_trees(queries.X, queries.y, balance)
    stages = Stages(first, second, trees)
    weights = dict(zip(FIRST_STAGE_COLUMNS, stages.first.round(4).tolist(), strict=True))
    first_stage = {k: v for k, v in weights.items() if v}
    return stages, replace(tables, first_stage=first_stage, trees=trees)


def apply(
    abstracts: Sequence[Abstract], stages: Stages, tables: Gazetteer
) -> tuple[Queries, NDArray[np.float64]]:
    """The rows of documents that trained nothing, and their scores by both stages."""
    candidates = list(corpora.tables_of(abstracts, GeneLookup([tables]), {}))
    X, _, document = _first_rows(abstracts, candidates)
    queries = second_rows(abstracts, candidates, X @ stages.first, document)
    return queries, stages.score_second(queries.X)


def _first_rows(
    abstracts: Sequence[Abstract], candidates: Sequence[CandidateTable]
) -> tuple[sp.csr_array, NDArray[np.float64], NDArray[np.intp]]:
    X = sp.vstack([sp.csr_array(table.first_stage) for table in candidates]).tocsr()
    pairs = zip(abstracts, candidates, strict=True)
    y = np.concatenate([corpora.label_rows(one, table) for one, table in pairs])
    document = np.repeat(np.arange(len(candidates)), [len(t.genes) for t in candidates])
    return sp.csr_array(X), y, document


def second_rows(
    abstracts: Sequence[Abstract],
    candidates: Sequence[CandidateTable],
    scores: NDArray[np.float64],
    document: NDArray[np.intp],
) -> Queries:
    """Rows of the second stage from scores of the first."""
    blocks, labels, documents, numbers, identifiers = [], [], [], [], []
    n_queries = 0
    starts = np.searchsorted(document, np.arange(len(candidates) + 1))
    for i, (one, table) in enumerate(zip(abstracts, candidates, strict=True)):
        ranked = table.rank(scores[starts[i] : starts[i + 1]])
        blocks.append(sp.csr_array(ranked.columns))
        for (number, _, _), genes in zip(table.queries, ranked.genes_of_query, strict=True):
            names = [gene.identifier for gene in genes]
            labels += corpora.label_query(one, number, names)
            identifiers += names
            documents += [i] * len(names)
            numbers += [n_queries] * len(names)
            n_queries += 1
    return Queries(
        sp.csr_array(sp.vstack(blocks)),
        np.array(labels),
        np.array(documents, dtype=np.intp),
        np.array(numbers, dtype=np.intp),
        identifiers,
        len(candidates),
    )


def select(queries: Queries, rows: NDArray[np.intp]) -> Queries:
    """Return some rows; documents and queries keep their numbers."""
    return Queries(
        sp.csr_array(queries.X[rows]),
        queries.y[rows],
        queries.document[rows],
        queries.query[rows],
        [queries.identifiers[row] for row in rows],
        queries.n_documents,
    )


def document_f(
    abstracts: Sequence[Abstract | None],
    queries: Queries,
    scores: NDArray[np.float64],
    threshold: float,
) -> dict[str, tuple[float, float, float]]:
    """Precision, recall and F of the genes of documents by corpus; one gene a mention at most.

    Abstracts that are None do not count.
    """
    best: dict[int, int] = {}
    for row, query in enumerate(queries.query.tolist()):
        if query not in best or scores[row] > scores[best[query]]:
            best[query] = row
    predicted: dict[int, set[str]] = {}
    for row in best.values():
        identifier = queries.identifiers[row]
        if scores[row] >= threshold and identifier.startswith("ncbigene:"):
            predicted.setdefault(int(queries.document[row]), set()).add(identifier)
    result = {}
    for corpus in dict.fromkeys(one.corpus for one in abstracts if one):
        chosen = [
            (i, one.identifiers) for i, one in enumerate(abstracts) if one and one.corpus == corpus
        ]
        n_right = sum(len(predicted.get(i, set()) & gold) for i, gold in chosen)
        n_said = sum(len(predicted.get(i, ())) for i, _ in chosen)
        n_gold = sum(len(gold) for _, gold in chosen)
        result[corpus] = (
            n_right / max(n_said, 1),
            n_right / max(n_gold, 1),
            2 * n_right / max(n_said + n_gold, 1),
        )
    return result


def concatenate(parts: Sequence[Queries]) -> Queries:
    """Rows of several sets of documents as one; documents and queries are numbered on."""
    documents, queries, n_documents, n_queries = [], [], 0, 0
    for part in parts:
        documents.append(part.document + n_documents)
        queries.append(part.query + n_queries)
        n_documents += part.n_documents
        n_queries += int(part.query.max(initial=-1)) + 1
    return Queries(
        sp.csr_array(sp.vstack([part.X for part in parts])),
        np.concatenate([part.y for part in parts]),
        np.concatenate(documents),
        np.concatenate(queries),
        [identifier for part in parts for identifier in part.identifiers],
        n_documents,
    )
