"""Genuine misprints of the newswire: the surest proposals of the shipped spelling model.

``pytest -m corpus -s tests/tasks/test_spelling_misprints.py`` prints them, to be judged by eye; the
newswire itself may not be passed on. A lower precision than the shipped one is asked for, so that
there are thirty to show; those that the model makes as shipped are marked.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tasks.research_texts import reuters_docs
from textrank.config import load_model, with_task_settings

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

SHOWN = 30


def test_the_surest_proposals_on_the_last_fifth_of_reuters(data: Path) -> None:
    docs = list(reuters_docs(data / "text" / "reuters21578.tar.gz"))
    late = docs[int(0.8 * len(docs)) :]
    model = load_model("spelling")
    rows = [
        (row["probability"], doc.user_data["document"], row)
        for doc in with_task_settings(model, ["task.precision=0.5"]).pipe(late)
        for row in doc._.textrank_spelling
    ]
    rows.sort(key=lambda row: -row[0])
    shipped = sum(row["score"] >= model.threshold for *_, row in rows)
    print(f"\n{shipped} proposals as shipped in {len(late)} articles")  # noqa: T201
    for probability, article, row in rows[:SHOWN]:
        change = f"{row['printed']} -> {row['proposal']}"
        mark = "*" if row["score"] >= model.threshold else " "
        print(f"{mark} {probability:.4f}  {article:>6}  {change:<24} {row['sentence']}")  # noqa: T201
    assert 0 < shipped < len(rows)
    assert len(rows) >= SHOWN
    assert all(row["printed"] != row["proposal"] for _, _, row in rows)
