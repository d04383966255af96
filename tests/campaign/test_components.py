"""Any text and any Doc through every component: an answer of plain values, or a message."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import pytest
from spacy.tokens import Doc

from tests.campaign import texts
from tests.campaign.findings import check
from tests.campaign.sandbox import run_all
from tests.campaign.settings import INPUTS, SEED
from textrank.config import load_model, model_names
from textrank.docs import answers
from textrank.language import load_nlp

pytestmark = pytest.mark.campaign
LANGUAGE = "en_textrank_bio"


@lru_cache
def language() -> Any:
    return load_nlp()


@lru_cache
def component(name: str) -> Callable[[Doc], Any]:
    """What judges a Doc, and gives its rows; of the language, the analysis itself."""
    if name == LANGUAGE:
        return lambda doc: [[t.text, t.tag_, t.dep_, t.head.i, t.is_sent_start] for t in doc]
    model = load_model(name)
    return lambda doc: answers(model(doc), model.pipeline.task.name)


def check_rows(rows: Any, size: int) -> None:
    """Plain values, finite numbers, places inside the text."""
    json.dumps(rows, allow_nan=False)
    for row in rows:
        if isinstance(row, dict):
            for start, end in (*row.get("spans", ()), *([row["span"]] if "span" in row else ())):
                assert 0 <= start < end <= size
            numbers = [v for v in row.values() if isinstance(v, float)]
            assert all(map(math.isfinite, numbers))


@pytest.mark.parametrize("name", [LANGUAGE, *model_names()])
def test_any_text(name: str) -> None:
    nlp, judge = language(), component(name)
    nlp("GRB2 binds SHC."), judge(nlp("GRB2 binds SHC in their cells."))  # warm, before children

    def attempt(number: int) -> Iterator[str]:
        text = texts.text(random.Random(f"{SEED} text {name} {number}"))
        yield ""
        doc = nlp(text)
        assert len(doc.text) == len(text)
        check_rows(judge(doc), len(text))
        yield ""

    check(f"text through {name}", run_all(INPUTS, attempt))


@pytest.mark.parametrize("name", model_names())
def test_any_doc(name: str) -> None:
    nlp, judge = language(), component(name)
    judge(nlp("GRB2 binds SHC in their cells."))

    def attempt(number: int) -> Iterator[str]:
        doc = texts.doc(nlp.vocab, random.Random(f"{SEED} doc {name} {number}"))
        yield ""
        check_rows(judge(doc), len(doc.text))
        yield ""

    check(f"Doc through {name}", run_all(INPUTS, attempt))
