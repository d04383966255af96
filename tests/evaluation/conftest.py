"""A small corpus whose verbs tell the answer most of the time."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.tokens import Span


@pytest.fixture(scope="session")
def make_docs(make_doc):
    """``make_docs(number, seed, prefix)``: documents of two sentences with a judged pair each."""

    def make(number, seed=3, prefix="d"):
        rng = np.random.default_rng(seed)
        return [_document(make_doc, rng, f"{prefix}{i}", i) for i in range(number)]

    return make


@pytest.fixture(scope="session")
def docs(make_docs):
    return make_docs(18)


def _document(make_doc, rng, name, number):
    words, heads, deps, entities, gold = [], [], [], [], []
    for sentence in range(2):
        verb = str(rng.choice(["binds", "sees"]))
        end = str(rng.choice(["slowly", "often", "today"]))
        start = len(words)
        # Each sentence has a length of its own, so that no two scores are equal but for round-off.
        many = 1 + 2 * number + sentence
        words += [f"{name}{sentence}a", verb, f"{name}{sentence}b", *["very"] * many, end, "."]
        heads += [start + 1] * 3 + [start + 3 + many] * many + [start + 1, start + 1]
        deps += ["nsubj", "ROOT", "dobj", *["advmod"] * many, "advmod", "punct"]
        entities += [(start, start + 1), (start + 2, start + 3)]
        answer = (verb == "binds") != (rng.random() < 0.2)
        names = [f"e{2 * sentence}", f"e{2 * sentence + 1}"]
        gold.append({"entities": names, "label": bool(answer)})
    doc = make_doc(words, heads, deps, entities, document=name)
    doc.spans["entities"] = [
        Span(doc, start, end, label="protein", span_id=f"e{i}")
        for i, (start, end) in enumerate(entities)
    ]
    doc.user_data["gold"] = gold
    return doc
