"""Folds keep documents together, evenly, and depend on names and seed alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrank.evaluation.splits import folds_from_table, make_folds


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1), st.integers(2, 8), st.integers(0, 99))
def test_documents_are_never_split_and_folds_are_even(documents, k, seed):
    distinct = set(documents)
    if k > len(distinct):
        with pytest.raises(ValueError, match="documents into"):
            make_folds(documents, k, seed)
        return
    folds = make_folds(documents, k, seed)
    of = {d: {int(f) for e, f in zip(documents, folds, strict=True) if e == d} for d in distinct}
    assert all(len(found) == 1 for found in of.values())
    sizes = np.bincount([next(iter(found)) for found in of.values()], minlength=k)
    assert sizes.max() - sizes.min() <= 1


def test_folds_do_not_depend_on_the_order_of_the_file():
    documents = [f"d{i}" for i in range(30)]
    order = np.random.default_rng(0).permutation(30)
    shuffled = [documents[i] for i in order]
    np.testing.assert_array_equal(make_folds(documents, 10, 3)[order], make_folds(shuffled, 10, 3))


def test_another_seed_divides_differently():
    documents = [f"d{i}" for i in range(30)]
    assert make_folds(documents, 10, 0).tolist() != make_folds(documents, 10, 1).tolist()


def test_given_folds_are_renumbered_and_missing_documents_named():
    table = {"a": 7, "b": 2, "unused": 5}
    assert folds_from_table(["a", "b", "a"], table).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="1 documents are in no fold, the first is 'c'"):
        folds_from_table(["a", "c"], table)
    with pytest.raises(ValueError, match="all documents into fold 7"):
        folds_from_table(["a", "a"], table)
