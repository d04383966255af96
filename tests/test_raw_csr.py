"""Cells against SciPy's own matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from textrank.features import FeatureNames, Features, RawCSR
from textrank.linalg import squared_norms


def table(rng, rows=7, columns=5):
    values = rng.standard_normal((rows, columns))
    values[rng.random(values.shape) < 0.6] = 0.0
    values[rows // 2] = 0.0  # an empty row
    return values


@pytest.mark.parametrize("seed", range(5))
def test_cells_are_what_scipy_makes_of_a_table(seed):
    values = table(np.random.default_rng(seed))
    own, theirs = RawCSR.from_dense(values), sp.csr_array(values)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(own, name), getattr(theirs, name))
    assert own.shape == theirs.shape
    np.testing.assert_array_equal(own.to_scipy().toarray(), values)
    np.testing.assert_array_equal(own.to_dense(), values)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_tables_without_rows_or_columns(shape):
    assert RawCSR.from_dense(np.zeros(shape)).to_scipy().shape == shape
    assert RawCSR.from_dense(np.zeros(shape)).to_dense().shape == shape


def test_features_of_cells_are_those_of_the_matrix(rng):
    values = table(rng)
    names = FeatureNames.from_iterable("abcde")
    own, theirs = Features(RawCSR.from_dense(values), names), Features(sp.csr_array(values), names)
    np.testing.assert_array_equal(own.values.toarray(), theirs.values.toarray())
    np.testing.assert_array_equal(squared_norms(own.cells), squared_norms(theirs.values))
    wanted = FeatureNames.from_iterable("ecax")
    np.testing.assert_array_equal(own.align_to(wanted).toarray(), theirs.align_to(wanted).toarray())
    factors = np.array([1.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0])  # a row of zeros loses its cells
    scaled = own.scale(factors)
    np.testing.assert_array_equal(scaled.values.toarray(), values * factors[:, None])
    assert scaled.values.data.all()
    np.testing.assert_array_equal(own.values.toarray(), values)  # which stay as they were


def test_features_of_cells_need_a_name_a_column():
    with pytest.raises(ValueError, match="2 columns but 1 names"):
        Features(RawCSR.from_dense(np.eye(2)), FeatureNames.from_iterable("a"))
