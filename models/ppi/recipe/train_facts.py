"""Learn how the evidence of a document is pooled to facts: ``python train_facts.py DATA [MODEL]``.

BioRED relates what an abstract is about. The model judges the abstracts of its training part as
users give them, with names and identifiers that the shipped pipeline finds; a logistic regression
over ``FACT_FEATURES`` then learns which pairs of names the abstract relates. A name stands for the
genes of the annotated mentions that it overlaps, so a wrong identifier is no wrong fact. Prints the
weights for ``[fact_weights]`` of ``recipe.toml``, the calibration on the training part (by folds of
documents) and on the development part, and the F of the latter with names and identifiers given.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import spacy
from spacy.tokens import Doc

import textrank
from textrank.features import Matrix, Vector
from textrank.formats.bioc import PubTator
from textrank.learners.calibration import expected_threshold, fit_logistic
from textrank.metrics import precision_recall_f
from textrank.model import Model
from textrank.tasks.ppi.facts import FACT_FEATURES, entity_key, pool_evidence
from textrank.web.active_learner import expected_calibration_error

GENE_LABEL = "GeneOrGeneProduct"
RIDGE = 0.1  # of all weights but the constant
PROBE = 1e-3  # a small weight, in which a pooled probability is linear
FOLDS = 5


class Pairs(NamedTuple):
    """Pairs of names that share a sentence of a document, and related ones that share none."""

    features: Matrix  # (n, FACT_FEATURES)
    labels: Vector  # (n,), 1 if the document relates the two
    documents: Vector  # (n,), number of the document
    missed: int  # related pairs of mentioned genes that no pair stands for


def read_pairs(model: Model, gold: Sequence[Doc], judged: Iterable[Doc]) -> Pairs:
    """Return the pairs of documents that the model judges.

    ``gold`` are the annotated Docs; ``judged`` the same texts with names, in the same order.
    """
    features, labels, documents, missed = [], [], [], 0
    for number, (doc, annotated) in enumerate(zip(model.pipe(judged), gold, strict=True)):
        rows = [row for row in doc._.textrank_ppi if row["fact"] > 0]
        keys = [frozenset(map(entity_key, row["names"], row["identifiers"])) for row in rows]
        values = dict(zip(keys, fact_features(model, doc, rows), strict=True))
        genes = genes_of_names(model, doc, annotated)
        related = related_genes(annotated)
        reached = set()
        for pair, row in values.items():
            if len(pair) == 2:
                meant = {frozenset(ends) for ends in product(*(genes[key] for key in pair))}
                reached |= meant & related
                features.append(row)
                labels.append(1.0 if meant & related else 0.0)
                documents.append(number)
        missed += len(related - reached)
    return Pairs(np.array(features), np.array(labels), np.array(documents), missed)


def genes_of_names(model: Model, doc: Doc, annotated: Doc) -> dict[str, set[str]]:
    """Return the annotated genes that the names of each entity key overlap."""
    task: Any = model.pipeline.task
    mentions = list(_iter_genes(annotated))
    genes: defaultdict[str, set[str]] = defaultdict(set)
    for span in task.names(doc):
        key = entity_key(span.text, span.kb_id_ or None)
        for start, end, gene in mentions:
            if span.start_char < end and start < span.end_char:
                genes[key].add(gene)
    return genes


def _iter_genes(annotated: Doc) -> Iterator[tuple[int, int, str]]:
    """Yield first character, end and gene number of each gene of each annotated mention.

    A span has only the first of several identifiers; the others are in ``concepts``.
    """
    concepts = annotated.user_data.get("concepts", {})
    for span in annotated.spans["entities"]:
        if span.label_ == GENE_LABEL:
            identifiers = str(concepts.get(span.id_) or span.kb_id_).replace("ncbigene:", "")
            for gene in filter(None, identifiers.replace(";", ",").split(",")):
                yield span.start_char, span.end_char, gene


def related_genes(annotated: Doc) -> set[frozenset[str]]:
    """Return the pairs of different annotated genes that a relation of the document joins."""
    genes = {gene for _, _, gene in _iter_genes(annotated)}
    relations = annotated.user_data.get("concept_relations", ())
    pairs = {frozenset(ends[:2]) for _, *ends in relations}
    return {pair for pair in pairs if len(pair) == 2 and pair <= genes}


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


def fit_weights(pairs: Pairs, keep: Sequence[bool] | Vector | None = None) -> Vector:
    """Return the weights (features,) of a regression on all pairs, or on those to ``keep``."""
    rows = np.ones(len(pairs.labels), bool) if keep is None else np.asarray(keep, bool)
    ridge = np.array([0.0 if name == "constant" else RIDGE for name in FACT_FEATURES])
    return fit_logistic(pairs.features[rows], pairs.labels[rows], ridge)


def describe_calibration(labels: Vector, log_odds: Vector) -> str:
    """Return calibration error, and mean probability and share of true facts from .5 on."""
    p = 1 / (1 + np.exp(-log_odds))
    likely = p >= 0.5
    error = expected_calibration_error(np.where(labels > 0, 1.0, -1.0), p)
    means = f"{p[likely].mean():.3f}, {labels[likely].mean():.3f} true"
    return f"{len(p)} pairs, ECE {error:.3f}; from .5 on {likely.sum()}: {means}"


def main() -> None:
    """Learn the weights and print them with their calibration."""
    data = Path(sys.argv[1])
    model = textrank.load_model(sys.argv[2] if len(sys.argv) > 2 else "ppi")
    task: Any = replace(model.pipeline.task, fact_weights={"best": 1.0})  # type: ignore[type-var]
    raw = model.with_task(task, model.threshold)
    given = model.with_task(replace(task, labels=(GENE_LABEL,)), model.threshold)
    gold = {
        part: list(PubTator(str(data / "biored" / f"{part}.pubtator.gz"))(spacy.blank("en")))
        for part in ("train", "dev")
    }
    nlp = textrank.load_nlp()
    train, dev = (
        read_pairs(raw, docs, nlp.pipe([doc.text for doc in docs])) for docs in gold.values()
    )
    weights = fit_weights(train)
    folds = train.documents % FOLDS
    heldout = np.zeros(len(folds))
    for fold in range(FOLDS):
        part = folds == fold
        heldout[part] = train.features[part] @ fit_weights(train, ~part)
    parsed = list(
        PubTator(str(data / "biored" / "dev.pubtator.gz"))(
            textrank.load_nlp(only=["tagger", "parser"])
        )
    )
    names_given = read_pairs(given, gold["dev"], parsed)
    log_odds = names_given.features @ weights
    yes = log_odds >= expected_threshold(log_odds, 1 / (1 + np.exp(-log_odds)))
    labels = np.where(names_given.labels > 0, 1.0, -1.0)
    lines = [
        str(dict(zip(FACT_FEATURES, weights.round(3).tolist(), strict=True))),
        f"train, by folds: {describe_calibration(train.labels, heldout)}",
        f"dev: {describe_calibration(dev.labels, dev.features @ weights)}",
        f"dev, names given: {describe_calibration(names_given.labels, log_odds)}",
        f"dev, names given: {precision_recall_f(labels, yes, names_given.missed)}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
