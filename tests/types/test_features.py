"""Features: what other libraries ask of explicit features."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from textrank.types import Features, Names


def test_indices_are_short_where_they_fit(rng):
    dense = rng.random((20, 3)) * (rng.random((20, 3)) < 0.5)
    long = sp.csr_array(dense)
    cells = (long.data, long.indices.astype(np.int64), long.indptr.astype(np.int64))
    given = sp.csr_array((20, 3))
    given.data, given.indices, given.indptr = cells
    assert given.indices.dtype == np.int64
    features = Features(given, Names.of(["a", "b", "c"]))
    assert features.values.indices.dtype == features.values.indptr.dtype == np.int32
    np.testing.assert_array_equal(features.values.toarray(), dense)
    both = Features.beside({"x": features, "y": features})
    LinearSVC().fit(both.values, np.arange(20) % 2)  # liblinear refuses indices of 64 bits
