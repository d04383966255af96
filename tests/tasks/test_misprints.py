"""Genuine misprints of the newswire: the surest proposals of the shipped spelling model.

``pytest -m corpus -s tests/tasks/test_misprints.py`` prints them, to be judged by eye; the
newswire itself may not be passed on.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tasks.research_texts import reuters_docs
from textrank.config import load_model

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

SHOWN = 30


def test_the_surest_proposals_on_the_last_fifth_of_reuters(data: Path) -> None:
    docs = list(reuters_docs(data / "text" / "reuters21578.tar.gz"))
    late = docs[int(0.8 * len(docs)) :]
    rows = [
        (row["probability"], doc.user_data["document"], row)
        for doc in load_model("spelling").pipe(late)
        for row in doc._.textrank_spelling
    ]
    rows.sort(key=lambda row: -row[0])
    print(f"\n{len(rows)} proposals in {len(late)} articles")  # noqa: T201
    for probability, article, row in rows[:SHOWN]:
        change = f"{row['printed']} -> {row['proposal']}"
        print(f"{probability:.4f}  {article:>6}  {change:<24} {row['sentence']}")  # noqa: T201
    assert len(rows) >= SHOWN
    assert all(row["printed"] != row["proposal"] for _, _, row in rows)
