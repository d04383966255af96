"""Relations of genes in BioRED from raw text, over identifiers; it trained nothing.

``pytest -m corpus -s tests/tasks/ppi/test_facts_figures.py`` prints the figures.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from textrank.config import load_corpus
from textrank.language import load_nlp
from textrank.learners.calibration import expected_threshold
from textrank.tasks.ppi.facts import aggregate_facts

DEV = Path(__file__).parents[4] / "shared" / "data" / "biored" / "dev.pubtator.gz"
MODEL = os.environ.get("TEXTRANK_PPI", "ppi")  # another folder, to compare
LEVELS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.slow,
    pytest.mark.skipif(not DEV.exists(), reason="needs BioRED"),
]
Relation: TypeAlias = tuple[str, frozenset[str]]  # document, two identifiers


def gold(docs: Sequence[Doc]) -> set[Relation]:
    """Two genes of a document that some relation joins."""
    found = set()
    for doc in docs:
        genes = {
            concept
            for span in doc.spans["entities"]
            if span.label_.startswith("Gene")
            for concept in str(doc.user_data["concepts"].get(span.id_, "")).split(",")
        }
        for _, *ends in doc.user_data.get("concept_relations", ()):
            if len(set(ends[:2])) == 2 and set(ends[:2]) <= genes:
                found.add((doc.user_data["document"], frozenset(ends[:2])))
    return found


def told(docs: Sequence[Doc], names: Sequence[str]) -> dict[Relation, float]:
    """Two genes that some sentence of a document joins, and how probably."""
    found = {}
    for name, doc in zip(names, docs, strict=True):
        for fact in aggregate_facts([doc], min_probability=0.0):
            for genes in product(*fact["genes"]) if fact["asserted"] else ():
                pair = name, frozenset(gene.removeprefix("ncbigene:") for gene in genes)
                found[pair] = max(found.get(pair, 0.0), fact["probability"])
    return found


def test_genes_of_biored_are_joined_from_raw_text() -> None:
    docs = list(load_corpus(DEV)(spacy.blank("en")))
    nlp = load_nlp()
    nlp.add_pipe("textrank_ppi", config={"model": MODEL})
    read = list(nlp.pipe([doc.text for doc in docs]))
    right = gold(docs)
    found = told(read, [doc.user_data["document"] for doc in docs])
    p = np.array(list(found.values()))
    print(f"{len(right)} gold, {len(right & found.keys())} of them reached")  # noqa: T201
    figures = {}
    for level in (*LEVELS, expected_threshold(p, p)):
        said = {relation for relation, probability in found.items() if probability >= level}
        hit, total = len(said & right), len(said) + len(right)
        figures[level] = 2 * hit / total
        print(  # noqa: T201
            f"from {level:.3f}: P {hit / max(len(said), 1):.3f} R {hit / len(right):.3f} "
            f"F {figures[level]:.3f}, {len(said)} told"
        )
    assert figures[level] > 0.09  # where probabilities expect the best F; no label is used
