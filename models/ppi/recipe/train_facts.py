"""Learn how the evidence of a document is pooled to facts: ``python train_facts.py DATA [MODEL]``.

BioRED relates what an abstract is about. The model judges the sentences of its training part, with
names and identifiers given; a logistic regression over ``FACT_FEATURES`` then learns which pairs of
genes the document relates. Prints the weights for ``[fact_weights]`` of ``recipe.toml``, and the F
of the development part at the threshold that maximises expected F1.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from spacy.tokens import Doc

import textrank
from textrank.features import Matrix, Vector
from textrank.formats.bioc import PubTator
from textrank.learners.calibration import expected_threshold, fit_logistic
from textrank.metrics import precision_recall_f
from textrank.model import Model
from textrank.tasks.ppi.facts import FACT_FEATURES, entity_key, pool_evidence

GENE_LABEL = "GeneOrGeneProduct"
RIDGE = 0.1  # of all weights but the constant
PROBE = 1e-3  # a small weight, in which a pooled probability is linear


def read_pairs(model: Model, docs: Sequence[Doc]) -> tuple[Matrix, Vector, int]:
    """Return features (n, features) and labels (n,) of all pairs of genes that share a sentence.

    Also the number of related pairs with two mentioned genes that share none.
    """
    features, labels, missed = [], [], 0
    for doc in model.pipe(docs):
        rows = [row for row in doc._.textrank_ppi if row["fact"] > 0]
        keys = [frozenset(map(entity_key, row["names"], row["identifiers"])) for row in rows]
        values = dict(zip(keys, fact_features(model, doc, rows), strict=True))
        names = {span.kb_id_ for span in model.pipeline.task.names(doc)}  # type: ignore[attr-defined]
        gold = {
            frozenset(f"ncbigene:{number}" for number in ends[:2])
            for _, *ends in doc.user_data.get("concept_relations", ())
        }
        gold = {pair for pair in gold if len(pair) == 2 and pair <= names}
        pairs = [pair for pair in values if len(pair) == 2]
        features += [values[pair] for pair in pairs]
        labels += [1.0 if pair in gold else 0.0 for pair in pairs]
        missed += len(gold - set(pairs))
    return np.array(features), np.array(labels), missed


def fact_features(model: Model, doc: Doc, rows: Sequence[dict[str, Any]]) -> list[list[float]]:
    """Return the values of ``FACT_FEATURES`` for each row, read off pooled probabilities."""
    task: Any = model.pipeline.task
    starts = [sentence.start for sentence in doc.sents]
    mentions = [
        (span.text, span.kb_id_ or None, int(np.searchsorted(starts, span.start, "right")) - 1)
        for span in task.names(doc)
    ]
    columns = []
    for name in FACT_FEATURES:
        p = np.array(pool_evidence(rows, mentions, max(len(starts), 3), {name: PROBE}))
        columns.append(np.log(p / (1 - p)) / PROBE)
    return np.array(columns).T.tolist()


def main() -> None:
    """Learn the weights and print them."""
    data = Path(sys.argv[1])
    model = textrank.load_model(sys.argv[2] if len(sys.argv) > 2 else "ppi")
    task = replace(
        model.pipeline.task,  # type: ignore[type-var]
        labels=(GENE_LABEL,),
        fact_weights={"best": 1.0},
    )
    model = model.with_task(task, model.threshold)
    nlp = textrank.load_nlp(only=["tagger", "parser"])
    parts = {}
    for part in ("train", "dev"):
        reader = PubTator(str(data / "biored" / f"{part}.pubtator.gz"))
        parts[part] = read_pairs(model, list(reader(nlp)))
    Z, y, _ = parts["train"]
    ridge = np.array([0.0 if name == "constant" else RIDGE for name in FACT_FEATURES])
    weights = fit_logistic(Z, y, ridge)
    Z, y, missed = parts["dev"]
    log_odds = Z @ weights
    yes = log_odds >= expected_threshold(log_odds, 1 / (1 + np.exp(-log_odds)))
    labels = np.where(y > 0, 1.0, -1.0)
    pairs = dict(zip(FACT_FEATURES, weights.round(3).tolist(), strict=True))
    sys.stdout.write(f"{pairs}\ndev: {precision_recall_f(labels, yes, missed)}\n")


if __name__ == "__main__":
    main()
