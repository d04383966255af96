from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.learners.problems import EXPONENTS, least_squares, problems
from textrank.learners.base import rows_by_group
from textrank.learners.multiclass import (
    all_pairs_code,
    check_code,
    class_similarity,
    code_path,
    decode,
    exhaustive_code,
    joint_kernel_path,
    one_vs_all_code,
    random_code,
)

CODES = [one_vs_all_code(3), all_pairs_code(3), exhaustive_code(3), random_code(3, 6, zeros=0.3)]


@given(problem=problems(smallest=9), exponent=EXPONENTS, which=st.integers(0, 3))
def test_every_bit_is_held_out_exactly(problem, exponent, which):
    alpha, code = 2.0**exponent, CODES[which]
    classes = np.arange(len(problem.y)) % 3
    groups = rows_by_group(problem.groups, len(classes))
    _, heldout = code_path(problem.K, classes, code, np.array([alpha]), groups)
    for bit in range(code.shape[1]):
        y = code[classes, bit]
        for group in groups:
            rest = np.setdiff1d(np.flatnonzero(y), group)
            w = least_squares(problem.F[rest], y[rest], alpha)
            np.testing.assert_allclose(heldout[0, group, bit], problem.F[group] @ w, atol=1e-8)


@given(problem=problems(smallest=6, largest=12), exponent=EXPONENTS, width=st.floats(0.5, 4))
def test_the_joint_kernel_is_rls_on_all_pairs(problem, exponent, width):
    alpha, n = 2.0**exponent, len(problem.y)
    classes = np.arange(n) % 3
    Y = one_vs_all_code(3)[classes]
    M = class_similarity(one_vs_all_code(3), width)
    groups = rows_by_group(problem.groups, n)
    A, heldout = joint_kernel_path(problem.K, Y, M, np.array([alpha]), groups)
    root = np.linalg.cholesky(M)
    pairs = np.kron(problem.F, root)  # row i * 3 + c is the pair (i, c)
    w = least_squares(pairs, Y.ravel(), alpha)
    np.testing.assert_allclose((problem.K @ A[0]).ravel(), pairs @ w, atol=1e-8)
    for group in groups:
        rest = np.setdiff1d(np.arange(n), group)
        w = least_squares(np.kron(problem.F[rest], root), Y[rest].ravel(), alpha)
        slow = (np.kron(problem.F[group], root) @ w).reshape(-1, 3)
        np.testing.assert_allclose(heldout[0, group], slow, atol=1e-8)


def test_decoding_follows_the_definitions(rng):
    code = random_code(4, 7, zeros=0.3, seed=1)
    scores = rng.standard_normal((20, 7))
    hamming = [[((1 - np.sign(m * f)) / 2).sum() for m in code] for f in scores]
    loss = [
        [sum((1 - a * b) ** 2 for a, b in zip(m, f, strict=True) if a) for m in code]
        for f in scores
    ]
    np.testing.assert_array_equal(decode(scores, code, "hamming"), np.argmin(hamming, axis=1))
    np.testing.assert_array_equal(decode(scores, code, "loss"), np.argmin(loss, axis=1))


def test_a_clean_codeword_decodes_to_its_class():
    for code in CODES:
        for decoding in ("loss", "hamming"):
            np.testing.assert_array_equal(decode(code, code, decoding), np.arange(3))


def test_exhaustive_codes_part_the_classes_in_all_ways():
    code = exhaustive_code(4)
    assert code.shape == (4, 7)
    assert len(np.unique(code, axis=1).T) == 7
    check_code(code, 4)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (np.eye(2), "a row for each"),
        (2 * np.eye(3), "-1, 0 and 1"),
        (np.ones((3, 2)), "bit 0 of the code has classes on one side"),
        (np.array([[1.0], [-1], [1]]), "same row"),
    ],
)
def test_codes_that_cannot_work_are_refused(code, message):
    with pytest.raises(ValueError, match=message):
        check_code(code, 3)


def test_impossible_codes_are_refused():
    with pytest.raises(ValueError, match="both sides"):
        random_code(3, 2, zeros=1.0)
    with pytest.raises(ValueError, match="Use random_code"):
        exhaustive_code(20)
    with pytest.raises(ValueError, match="loss or hamming"):
        decode(np.zeros((1, 3)), one_vs_all_code(3), "euclid")
    with pytest.raises(ValueError, match="width"):
        class_similarity(one_vs_all_code(3), 0)
