"""Tests of significance against published worked examples, scipy, and plain enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from textrank.evaluation.statistics import (
    benjamini_hochberg,
    combined_5x2cv_f,
    effect,
    holm,
    permutation_test,
    wilcoxon_signed_ranks,
)

# AUC of C4.5 without and with a tuned parameter on 14 data sets: Demsar (2006), JMLR 7, table 2.
DEMSAR = np.array(
    [(0.763, 0.768), (0.599, 0.591), (0.954, 0.971), (0.628, 0.661), (0.882, 0.888),
     (0.936, 0.931), (0.661, 0.668), (0.583, 0.583), (0.775, 0.838), (1.0, 1.0),
     (0.940, 0.962), (0.619, 0.666), (0.972, 0.981), (0.957, 0.978)]
)  # fmt: skip
# Heights of crossed minus self-fertilised plants in eighths of an inch: Darwin (1876), analysed by
# Fisher (1935), The Design of Experiments, section 21.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
# Fifteen p-values on a treatment of heart attacks: Benjamini and Hochberg (1995), section 3.1.
HEART = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
         0.5719, 0.6528, 0.7590, 1.0]  # fmt: skip

few = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def test_wilcoxon_gives_the_published_rank_sum():
    # The third decimals must not break ties by round-off, as in the paper's hand calculation.
    result = wilcoxon_signed_ranks(*(DEMSAR * 1000).round().T)
    assert result.statistic == 12.0
    assert result.p == pytest.approx(0.01, abs=0.003)  # z = -2.54 in the paper
    assert effect(*(DEMSAR * 1000).round().T).rank_biserial == pytest.approx((93 - 12) / 105)


@given(few)
def test_wilcoxon_is_exact_for_few_pairs_also_with_ties_and_zeros(values):
    d = np.array(values, float)
    ranks = scipy.stats.rankdata(np.abs(d))[d != 0]
    observed = abs((np.sign(d[d != 0]) * ranks).sum())
    every = [abs(np.dot(s, ranks)) for s in itertools.product([-1, 1], repeat=len(ranks))]
    expected = np.mean([value >= observed - 1e-9 for value in every])
    assert wilcoxon_signed_ranks(np.zeros(len(d)), d).p == pytest.approx(expected)


@pytest.mark.parametrize("n", [5, 12, 20, 80])
def test_wilcoxon_agrees_with_scipy_without_ties(rng, n):
    a, b = rng.normal(size=n), rng.normal(size=n) + 0.3
    expected = scipy.stats.wilcoxon(a, b)
    ours = wilcoxon_signed_ranks(a, b)
    assert (ours.statistic, ours.p) == (expected.statistic, pytest.approx(expected.pvalue))


def test_permutation_test_gives_fishers_count():
    result = permutation_test(np.zeros(15), DARWIN, resamples=2**15)
    assert result.p == 1726 / 32768


@pytest.mark.parametrize("resamples", [9999, 500])
def test_permutation_test_agrees_with_scipy(rng, resamples):
    a, b = rng.normal(size=11), rng.normal(size=11) + 0.5
    expected = scipy.stats.permutation_test(
        (a, b), lambda x, y: np.mean(y - x), permutation_type="samples", n_resamples=np.inf
    )
    tolerance = 1e-12 if resamples > 2**11 else 0.06
    assert permutation_test(a, b, resamples=resamples).p == pytest.approx(
        expected.pvalue, abs=tolerance
    )


@pytest.mark.parametrize("seed", range(3))
def test_5x2cv_f_follows_its_formula(seed):
    first, second = np.random.default_rng(seed).normal(size=(2, 5, 2))
    above = below = 0.0
    for i in range(5):
        p1, p2 = second[i, 0] - first[i, 0], second[i, 1] - first[i, 1]
        mean = (p1 + p2) / 2
        above += p1**2 + p2**2
        below += (p1 - mean) ** 2 + (p2 - mean) ** 2
    result = combined_5x2cv_f(first, second)
    assert result.statistic == pytest.approx(above / (2 * below))
    assert result.p == pytest.approx(1 - scipy.stats.f.cdf(above / (2 * below), 10, 5))


def test_5x2cv_f_meets_the_table_of_f():
    # 4.74 is the 95 % point of F(10, 5) in every printed table.
    s = np.sqrt(0.5)
    base = np.array([[s, -s]] * 5)  # both halves apart by an amount whose square sum is 5
    shift = np.sqrt((2 * 5 * 4.735 - 5) / 10)
    result = combined_5x2cv_f(np.zeros((5, 2)), base + shift)
    assert result.statistic == pytest.approx(4.735)
    assert result.p == pytest.approx(0.05, abs=1e-4)


def test_5x2cv_f_on_degenerate_differences():
    zeros = np.zeros((5, 2))
    assert combined_5x2cv_f(zeros, zeros).p == 1.0
    assert combined_5x2cv_f(zeros, zeros + 0.1).p is None
    with pytest.raises(ValueError, match=r"need \(5, 2\) each"):
        combined_5x2cv_f(np.zeros((10, 1)), np.zeros((10, 1)))


def test_nothing_differs_means_p_of_one():
    same = [0.5, 0.6, 0.7]
    assert wilcoxon_signed_ranks(same, same).p == 1.0
    assert permutation_test(same, same).p == 1.0
    found = effect(same, same)
    assert (found.mean, found.d, found.rank_biserial, found.ties) == (0.0, None, None, 3)


def test_no_pairs_is_undefined_not_an_accident():
    assert wilcoxon_signed_ranks([], []).p is None
    assert permutation_test([], []).p is None
    with pytest.raises(ValueError, match="no pair of values"):
        effect([], [])


def test_effect_sizes_follow_their_definitions(rng):
    a, b = rng.normal(size=20), rng.normal(size=20)
    found = effect(a, b)
    d = b - a
    assert found.d == pytest.approx(d.mean() / np.sqrt(((d - d.mean()) ** 2).sum() / 19))
    ranks = scipy.stats.rankdata(abs(d))
    assert found.rank_biserial == pytest.approx((ranks * np.sign(d)).sum() / ranks.sum())
    assert found.wins + found.losses + found.ties == 20


def test_corrections_reject_as_many_as_published():
    assert sum(p <= 0.05 for p in holm(HEART)) == 3
    assert sum(p <= 0.05 for p in benjamini_hochberg(HEART)) == 4


@given(st.lists(st.floats(0, 1), max_size=8))
def test_corrections_follow_their_steps(p):
    n = len(p)
    order = sorted(range(n), key=lambda i: p[i])
    down, running = [0.0] * n, 0.0
    for step, i in enumerate(order):
        running = max(running, (n - step) * p[i])
        down[i] = min(1.0, running)
    assert holm(p) == pytest.approx(down)
    up, running = [0.0] * n, 1.0
    for step, i in reversed(list(enumerate(order))):
        running = min(running, n / (step + 1) * p[i])
        up[i] = running
    assert benjamini_hochberg(p) == pytest.approx(up)


def test_corrections_refuse_what_is_no_probability():
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, 1.5])
