from __future__ import annotations

import re

import pytest

from textrank.evaluation import Decision
from textrank.reports.explanation import Explanation, explanation_page

DECISION = Decision(
    document="d",
    text="<b>SHC binds GRB2.",
    spans=[(3, 6), (13, 17)],
    score=0.75,
    label=1.0,
    threshold=0.25,
    path=[(7, 12, 3, 6, "nsubj"), (7, 12, 13, 17, "dobj")],
)
PARTS = [(("binds", "PROT1"), 1.0), (("not",), -0.5), (("x", "y"), 0.2), (("z",), 0.05)]
EXPLANATION = Explanation(DECISION, PARTS)


def test_shown_parts_and_the_rest_sum_to_the_score() -> None:
    shown = [float(v) for v in re.findall(r"^    ([+-]\d\.\d+)  ", EXPLANATION.text(1), re.M)]
    assert sum(shown) == pytest.approx(0.75)
    assert "2 other features" in EXPLANATION.text(1)
    assert "SHC – GRB2: yes (score +0.750, threshold +0.250)" in EXPLANATION.text()


def test_page_escapes_text_and_draws_the_path() -> None:
    page = explanation_page([EXPLANATION])
    assert "&lt;b&gt;" in page
    assert "<b>SHC" not in page
    assert 'mark class="e1' in page
    assert "nsubj" in page
    assert "dobj" in page
    assert "http://" not in page
    assert "https://" not in page


def test_bars_are_relative_to_the_largest() -> None:
    widths = re.findall(r"style=\"width: ([\d.]+)%", explanation_page([EXPLANATION], top=2))
    assert widths == ["100.0", "20.0", "50.0"]
