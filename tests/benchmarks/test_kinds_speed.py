"""Gene, protein or RNA beside the language pipeline: abstracts, a short text, long documents."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.ratios import measure, table
from textrank.config import load_model
from textrank.language import load_nlp
from textrank.model import Model

pytestmark = [pytest.mark.benchmark, pytest.mark.corpus]
SHORT = "GRB2 binds SOS1 in the cell. The level of c-Myc mRNA rose."


@pytest.fixture(scope="module")
def texts(data: Path) -> list[str]:
    with gzip.open(data / "jnlpba" / "train.jsonl.gz", "rt", encoding="utf-8") as rows:
        return [json.loads(row)["text"] for row in rows]


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model("gene_protein")


def test_kinds_cost_little_beside_the_language(texts: list[str], model: Model) -> None:
    nlp = load_nlp()
    for name, asked, most in (("200 abstracts", texts[:200], 0.3), ("a short text", [SHORT], 1.0)):
        docs = list(nlp.pipe(asked))
        list(model.pipe(docs))
        runs = {
            "language": lambda asked=asked: list(nlp.pipe(asked)),
            "kinds": lambda docs=docs: list(model.pipe(docs)),
        }
        table(name, measure(runs, 3 if len(asked) > 1 else 9), "language", {"kinds": most})


def test_a_long_document_takes_linear_time(texts: list[str], model: Model) -> None:
    nlp, words = load_nlp(only=["genes"]), " ".join(texts[:400]).split(" ")
    sizes, seconds = (1_000, 8_000, 64_000), []
    for size in sizes:
        doc = nlp(" ".join(words[:size]))
        model(doc)
        start = time.process_time()
        model(doc)
        seconds.append(time.process_time() - start)
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    print(f"\nwords {sizes}, seconds {[round(s, 3) for s in seconds]}, exponent {exponent:.2f}")
    assert exponent <= 1.1
