"""CombinedViews against its formula in plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from textrank.features import MultiView
from textrank.kernels.views import CombinedViews
from textrank.testing import check_kernel


@pytest.fixture
def views(rng) -> MultiView:
    a = rng.random((6, 4))
    a[2] = 0.0  # no feature in this view
    return MultiView({"a": a, "b": rng.random((6, 3)), "c": rng.random((6, 2))})


KERNEL = CombinedViews(linear={"a": 1.0, "b": 0.5}, gaussian={"c": [0.3, 2.0]}, gamma=1.5)


def test_it_equals_the_formula(views):
    def total(i: int, j: int) -> float:
        value = 0.0
        for name, weight in (("a", 1.0), ("b", 0.5)):
            x, z = views.view(name)[i], views.view(name)[j]
            value += weight * sum(x * z)
        apart = sum((views.view("c")[i] - views.view("c")[j]) ** 2)
        return value + np.exp(-0.3 * apart) + np.exp(-2.0 * apart)

    expected = [
        [np.exp(1.5 * (total(i, j) / np.sqrt(total(i, i) * total(j, j)) - 1)) for j in range(6)]
        for i in range(6)
    ]
    np.testing.assert_allclose(KERNEL(views), expected, atol=1e-12)


def test_contributions_sum_to_the_scores(views, rng):
    coef = rng.standard_normal(6)
    found = KERNEL.contributions(views, views, coef)
    np.testing.assert_allclose(found.values.sum(axis=1), KERNEL(views) @ coef, atol=1e-12)
    assert {name[0] for name in found.names} == {"a", "b", "c, 0.3", "c, 2", "constant"}


def test_contributions_sum_to_the_scores_at_negative_similarity(rng):
    views = MultiView({"a": np.array([[1.0, 0.0], [-1.0, 0.0], [-0.2, 1.0], [0.0, 1.0]])})
    kernel = CombinedViews(linear={"a": 1.0}, gamma=1.5)
    coef = np.array([0.5, 2.0, -1.0, 1.0])
    explained = kernel.contributions(views, views, coef)
    np.testing.assert_allclose(explained.values.sum(axis=1), kernel(views) @ coef, atol=1e-12)


def test_contributions_are_the_path_integral_of_the_formula(views, rng):
    coef = rng.standard_normal(6)
    found = KERNEL.contributions(views, views, coef)
    b = [i for i, name in enumerate(found.names) if name[0] == "b"]
    shares = [weight * kernel(views) for weight, kernel in KERNEL.summands.values()]
    total = sum(shares)
    sizes = np.sqrt(np.outer(np.diag(total), np.diag(total)))
    steps = (np.arange(2000) + 0.5) / 2000
    grown = np.mean([np.exp(1.5 * (t * total / sizes - 1)) for t in steps], axis=0)
    expected = (1.5 * grown * shares[1] / sizes) @ coef
    np.testing.assert_allclose(found.values.toarray()[:, b].sum(axis=1), expected, atol=1e-6)


def test_it_obeys_the_laws(views):
    check_kernel(KERNEL, views)


def test_parts_are_named():
    assert list(KERNEL.summands) == ["a", "b", "c, 0.3", "c, 2"]
    assert [weight for weight, _ in KERNEL.summands.values()] == [1.0, 0.5, 1.0, 1.0]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "name at least one view"),
        ({"linear": {"a": -1.0}}, "must not be negative"),
        ({"gaussian": {"a": [0.0]}}, "gamma must be positive"),
        ({"linear": {"a": 1.0}, "gamma": 0.0}, "gamma must be positive"),
        ({"linear": {"a": 1.0}, "gaussian_weights": []}, "one positive number or several"),
        ({"linear": {"a": 1.0}, "gaussian_weights": [0.0]}, "one positive number or several"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        CombinedViews(**settings)


def test_a_gaussian_weight_weighs_every_gaussian(views):
    weighted = replace(KERNEL, gaussian_weights=[3.0])
    assert [weight for weight, _ in weighted.summands.values()] == [1.0, 0.5, 3.0, 3.0]
    check_kernel(weighted, views)


def test_the_alternatives_are_compared_in_one_go(views):
    choice = replace(KERNEL, gaussian_weights=[0.5, 1.0, 4.0])
    found = choice.gram_alternatives(views)
    assert [s["gaussian_weight"] for s in found.settings] == [0.5, 1.0, 4.0]
    for kernel, K in zip(choice.alternatives, found.grams, strict=True):
        np.testing.assert_allclose(K, kernel(views), atol=1e-12)
    with pytest.raises(ValueError, match="leave the kernel open"):
        choice(views)
