"""Any text and any Doc through every component: an answer of plain values, or a message."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import pytest
from spacy.tokens import Doc

from tests.campaign import texts
from tests.campaign.findings import check
from tests.campaign.sandbox import run_batches
from tests.campaign.settings import INPUTS, SEED
from textrank.candidates import get_answers
from textrank.config import load_model, model_names
from textrank.language import load_nlp

pytestmark = pytest.mark.campaign
LANGUAGE = "en_textrank_bio"
SLOW = [name for name in model_names() if name == "parse_ranking"]  # a hundred parses a sentence
QUICK = [LANGUAGE, *(name for name in model_names() if name not in SLOW)]


@lru_cache
def language() -> Any:
    return load_nlp()


@lru_cache
def component(name: str) -> Callable[[list[Doc]], list[Any]]:
    """What judges Docs, and gives the rows of each; of the language, the analysis itself."""
    if name == LANGUAGE:
        return lambda docs: [[[t.text, t.tag_, t.dep_, t.head.i] for t in doc] for doc in docs]
    model = load_model(name)
    return lambda docs: [get_answers(d, model.pipeline.task.name) for d in model.pipe(docs)]


def check_rows(rows: Any, size: int) -> None:
    """Plain values, finite numbers, places inside the text."""
    json.dumps(rows, allow_nan=False)
    for row in rows:
        if isinstance(row, dict):
            for start, end in (*row.get("spans", ()), *([row["span"]] if "span" in row else ())):
                assert 0 <= start < end <= size
            numbers = [v for v in row.values() if isinstance(v, float)]
            assert all(map(math.isfinite, numbers))


def warm(names: Sequence[str]) -> None:
    """Loads what children share."""
    for name in names:
        component(name)([language()("GRB2 binds SHC in their cells.")])


@pytest.mark.parametrize("names", [QUICK, SLOW], ids=["quick", "slow"])
def test_any_text(names: Sequence[str]) -> None:
    """Texts are analysed once and judged by every component."""
    nlp = language()
    warm(names)

    def attempt(numbers: Sequence[int]) -> Iterator[str]:
        given = [texts.text(random.Random(f"{SEED} text {number}")) for number in numbers]
        yield ""
        docs = list(nlp.pipe(given))
        assert [len(doc.text) for doc in docs] == [len(text) for text in given]
        for name in names:
            for doc, rows in zip(docs, component(name)(docs), strict=True):
                check_rows(rows, len(doc.text))
        yield ""

    check(f"text through {', '.join(names)}", run_batches(INPUTS, attempt))


@pytest.mark.parametrize("name", model_names())
def test_any_doc(name: str) -> None:
    nlp, judge = language(), component(name)
    warm([name])

    def attempt(numbers: Sequence[int]) -> Iterator[str]:
        rngs = [random.Random(f"{SEED} doc {name} {number}") for number in numbers]
        docs = [texts.doc(nlp.vocab, rng) for rng in rngs]
        yield ""
        for doc, rows in zip(docs, judge(docs), strict=True):
            check_rows(rows, len(doc.text))
        yield ""

    check(f"Doc through {name}", run_batches(INPUTS, attempt))
