"""Features: what other libraries ask of explicit features."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from textrank.features import FeatureNames, Features, hstack_csr

SIZES = (3, 0, 7)


def test_indices_are_short_where_they_fit(rng):
    dense = rng.random((20, 3)) * (rng.random((20, 3)) < 0.5)
    long = sp.csr_array(dense)
    cells = (long.data, long.indices.astype(np.int64), long.indptr.astype(np.int64))
    given = sp.csr_array((20, 3))
    given.data, given.indices, given.indptr = cells
    assert given.indices.dtype == np.int64
    features = Features(given, FeatureNames.from_iterable(["a", "b", "c"]))
    assert features.values.indices.dtype == features.values.indptr.dtype == np.int32
    np.testing.assert_array_equal(features.values.toarray(), dense)
    both = Features.hstack({"x": features, "y": features})
    LinearSVC().fit(both.values, np.arange(20) % 2)  # liblinear refuses indices of 64 bits


def test_a_name_put_first_is_found_even_if_its_word_is_known():
    names = FeatureNames.from_iterable([("a", "constant"), "b"])
    first = names.prepend("constant")
    assert list(first) == [("constant",), ("a", "constant"), ("b",)]
    np.testing.assert_array_equal(first.find(first), [0, 1, 2])


def test_names_of_any_lengths_come_back():
    given = [("a", "b", "c"), ("b",), (), ("c", "a")]
    assert list(FeatureNames.from_iterable(given)) == given
    assert len(FeatureNames.from_iterable([])) == 0


def test_blocks_side_by_side_are_what_scipy_makes(rng):
    blocks = [
        sp.random_array((5, width), density=0.4, format="csr", rng=rng) for width in (3, 0, 7)
    ]
    ours = hstack_csr([sp.csr_array(block) for block in blocks])
    np.testing.assert_array_equal(ours.toarray(), sp.hstack(blocks).toarray())
    part = sp.csr_array(blocks[2][1:4])
    np.testing.assert_array_equal(hstack_csr([part]).toarray(), part.toarray())
