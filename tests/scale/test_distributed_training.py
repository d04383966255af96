"""Training over partitions equals training on one machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from textrank.candidates import Targets
from textrank.features import FeatureNames, Features
from textrank.learners.reduced import SparseRLS
from textrank.scale.distributed import (
    DaskPartitions,
    LocalPartitions,
    PartitionedRLS,
    Partitions,
    partition_candidates,
)

DATA = Path(__file__).parents[3] / "shared" / "data"


def problem(seed: int, n: int = 120, d: int = 40) -> tuple[Features, Targets]:
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.2, rng=rng, format="csr")
    documents = rng.integers(0, 17, n)
    y = np.sign(X @ rng.normal(size=d) + 0.3 * rng.normal(size=n))
    queries = documents * 3 + rng.integers(0, 3, n)
    return Features(X, FeatureNames.from_iterable([str(i) for i in range(d)])), Targets(
        y, documents, queries
    )


def check_equal(partitions: Partitions, X: Features, targets: Targets, **how: Any) -> None:
    learner = SparseRLS(alphas=[0.1, 1.0, 10.0], folds=4, tolerance=1e-12, **how)
    here, there = learner.fit(X, targets), PartitionedRLS(learner).fit(partitions)
    assert there.alpha == here.alpha
    np.testing.assert_allclose(there.coef, here.coef, rtol=0, atol=1e-8)
    np.testing.assert_allclose(there.heldout, here.heldout, rtol=0, atol=1e-8)


@pytest.mark.parametrize("rank", ["none", "query", "global"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_partitions_make_no_difference(rank: str, count: int) -> None:
    X, targets = problem(count)
    parts = partition_candidates(X.values, targets, count)
    assert len(parts) == count
    check_equal(LocalPartitions(parts), X, targets, rank=rank)


def test_documents_are_never_cut() -> None:
    X, targets = problem(0)
    owners = [set(part.documents.tolist()) for part in partition_candidates(X.values, targets, 5)]
    assert sum(map(len, owners)) == len(set.union(*owners))


def test_one_document_cannot_be_held_out() -> None:
    X, targets = problem(0)
    one = Targets(targets.y, np.zeros_like(targets.groups), targets.queries)
    with pytest.raises(ValueError, match="all candidates are of one document"):
        PartitionedRLS(SparseRLS()).fit(LocalPartitions(partition_candidates(X.values, one, 1)))


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    how = {"threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(n_workers=2, processes=True, **how) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("rank", ["none", "query", "global"])
def test_four_partitions_on_two_workers_of_a_real_cluster(client: Any, rank: str) -> None:
    X, targets = problem(1)
    parts = DaskPartitions.scatter(client, partition_candidates(X.values, targets, 4))
    check_equal(parts, X, targets, rank=rank)


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning")
def test_equal_on_the_features_of_aimed(client: Any) -> None:
    import spacy

    from textrank.config import load_corpus, load_pipeline

    pipeline = load_pipeline("ppi-linear")
    docs = list(load_corpus(DATA / "ppi" / "AImed.xml.gz")(spacy.blank("en")))
    candidates = [c for doc in docs for c in pipeline.task.candidates(doc)]
    kernel: Any = pipeline.kernel
    X = kernel.features(pipeline.representation(candidates))
    targets = Targets.from_candidates(candidates)
    learner = SparseRLS(alphas=[1.0, 4.0], folds=2, tolerance=1e-11, iterations=5000)
    partitions = DaskPartitions.scatter(
        client, partition_candidates(sp.csr_array(X.values), targets, 4)
    )
    here, there = learner.fit(X, targets), PartitionedRLS(learner).fit(partitions)
    assert there.alpha == here.alpha
    np.testing.assert_allclose(there.coef, here.coef, rtol=0, atol=1e-8)
    np.testing.assert_allclose(there.heldout, here.heldout, rtol=0, atol=1e-8)
