"""Views that are found side by side."""

import numpy as np
import pytest

from textrank.features import Features, JointFeatures, MultiView
from textrank.linalg import squared_norms

WORDS = Features.from_dicts([{"bind": 1.0}, {"bind": 2.0, "not": 1.0}])
PATHS = Features.from_dicts([{"subject": 3.0}, {}])


@pytest.fixture
def together() -> JointFeatures:
    """Two views of two candidates, and a row below them."""
    below = Features.from_dicts([{("words", "shared"): 1.0}])
    found = Features.vstack([Features.hstack({"words": WORDS, "path": PATHS}), below])
    of = np.array([["words", "path"].index(name[0]) for name in found.names])
    return JointFeatures(found, ["words", "path"], of, 2)


def rows(features: Features) -> list[dict[tuple[str, ...], float]]:
    """What each row has."""
    table = features.values.toarray()
    return [
        {name: v for name, v in zip(features.names, row, strict=True) if v}
        for row in table.tolist()
    ]


def test_views_found_together_are_those_of_candidates(together: JointFeatures) -> None:
    pairs = MultiView.from_joint(together, ["path", "words"], {"length": [3, 5]})
    assert list(pairs.views) == ["path", "words", "length"]
    assert len(pairs) == 2
    assert rows(pairs.views["words"]) == rows(WORDS)
    assert rows(pairs.views["path"]) == rows(PATHS)
    assert pairs.views["words"] is pairs.views["words"]  # cut out once


def test_a_view_that_was_not_asked_for_is_none(together: JointFeatures) -> None:
    pairs = MultiView.from_joint(together, ["path"], {})
    assert "words" not in pairs.views
    with pytest.raises(ValueError, match="no view 'words'"):
        pairs.view("words")


def test_views_of_other_candidates_are_refused(together: JointFeatures) -> None:
    with pytest.raises(ValueError, match="one element per candidate"):
        MultiView.from_joint(together, ["path"], {"length": [3, 5, 4]})


def test_lengths_need_no_view_cut_out(together: JointFeatures) -> None:
    expected = 0.5 * squared_norms(WORDS.values) + 2.0 * squared_norms(PATHS.values)
    np.testing.assert_allclose(together.squared_norms({"words": 0.5, "path": 2.0}), expected)
    np.testing.assert_allclose(together.squared_norms({"path": 1.0}), squared_norms(PATHS.values))


def test_rows_become_one_long_in_each_view(together: JointFeatures) -> None:
    np.testing.assert_allclose(together.normalized.squared_norms({"words": 1.0}), [1.0, 1.0])
    np.testing.assert_allclose(together.normalized.squared_norms({"path": 1.0}), [1.0, 0.0])
