"""Measure how papers about the same two genes combine: ``python measure_papers.py DATA [MODEL]``.

The papers are the abstracts of BioRED (training part) and of BioCreative VI PM (training part). The
interaction model was trained on neither. It judges raw text; the weights that pool a paper's
evidence are learnt by folds of documents. A fact is a pair of annotated genes, true if at
least one of its papers relates them. BioCreative VI annotates only interactions that a mutation
affects, so its weights are learnt on its own labels: a probability is that of an annotation.

Prints how well the probability of a fact is calibrated by number of papers, compares rules that
combine papers, and tests whether papers are independent. Intervals are 95 % bootstrap intervals
over pairs of genes.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import spacy
from spacy.tokens import Doc
from train_facts import (
    FOLDS,
    GENE_LABEL,
    Pairs,
    fact_features,
    fit_weights,
    genes_of_names,
    related_genes,
)

import textrank
from textrank.features import Vector
from textrank.formats.bioc import PubTator
from textrank.model import Model
from textrank.tasks.ppi.facts import entity_key
from textrank.web.active_learner import expected_calibration_error

REPLICATES = 2000
DAMPINGS = np.linspace(0, 1, 21)
Rule: TypeAlias = Callable[[Vector], float]


class Judgement(NamedTuple):
    """Two names of a paper, and the annotated gene that each of them stands for."""

    paper: str
    genes: frozenset[str]
    features: tuple[float, ...]  # FACT_FEATURES
    is_related: bool  # by an annotation of the paper
    is_asserted: bool  # by a statement at or above the level of the model


class PairOfGenes(NamedTuple):
    """Probability and label of each paper about a pair of genes, by decreasing probability."""

    probabilities: Vector
    labels: Vector


def iter_judgements(
    model: Model, gold: Sequence[Doc], judged: Iterable[Doc]
) -> Iterator[Judgement]:
    """Yield the judgements of each document; ``judged`` has the texts of ``gold`` with names.

    Names that stand for several annotated genes, or for none, are left out.
    """
    for doc, annotated in zip(model.pipe(judged), gold, strict=True):
        rows = [row for row in doc._.textrank_ppi if row["fact"] > 0]
        keys = [frozenset(map(entity_key, row["names"], row["identifiers"])) for row in rows]
        asserted = {key for key, row in zip(keys, rows, strict=True) if row["interacts"]}
        features = dict(zip(keys, fact_features(model, doc, rows), strict=True))
        genes, related = genes_of_names(model, doc, annotated), related_genes(annotated)
        for key, values in features.items():
            if len(key) < 2:
                continue
            meant = {frozenset(ends) for ends in product(*(genes[end] for end in key))}
            if len(meant) == 1 and len(pair := meant.pop()) == 2:
                document = str(annotated.user_data["document"])
                yield Judgement(document, pair, tuple(values), pair in related, key in asserted)


def read_precision_medicine(path: Path) -> Iterator[Doc]:
    """Yield the abstracts of BioCreative VI PM as Docs like those of the PubTator reader."""
    nlp = spacy.blank("en")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            doc = nlp(row["text"])
            spans = [
                doc.char_span(start, end, GENE_LABEL, f"ncbigene:{gene}", alignment_mode="expand")
                for start, end, gene in row["genes"]
            ]
            doc.spans["entities"] = [span for span in spans if span is not None]
            doc.user_data["document"] = str(row["id"])
            doc.user_data["concept_relations"] = [("Interaction", *pair) for pair in row["pairs"]]
            yield doc


def pool(judgements: Sequence[Judgement], fold_weights: Mapping[str, Vector]) -> list[float]:
    """Return the probability of the paper of each judgement by the weights of its document."""
    log_odds = [float(np.dot(row.features, fold_weights[row.paper])) for row in judgements]
    return [1 / (1 + float(np.exp(-value))) for value in log_odds]


def group_by_genes(
    judgements: Sequence[Judgement], probabilities: Sequence[float]
) -> list[PairOfGenes]:
    """Return the papers of each pair of genes; the best judgement of a paper counts."""
    papers: defaultdict[frozenset[str], dict[str, tuple[float, bool]]] = defaultdict(dict)
    for row, probability in zip(judgements, probabilities, strict=True):
        best, is_related = papers[row.genes].get(row.paper, (0.0, False))
        value = max(best, probability), is_related or row.is_related
        papers[row.genes][row.paper] = value
    pairs = []
    for values in papers.values():
        ordered = sorted(values.values(), reverse=True)
        pairs.append(
            PairOfGenes(*(np.array(column, float) for column in zip(*ordered, strict=True)))
        )
    return pairs


def dampened(damping: float) -> Rule:
    """Return a rule in which papers after the most probable count to the power ``damping``.

    1 is the noisy-or of independent papers, 0 the most probable paper alone.
    """

    def combine(p: Vector) -> float:
        """Return the probability of a fact, given those of its papers by decreasing value."""
        q = 1 - np.clip(p, 0, 1 - 1e-12)
        return float(1 - q[0] * np.prod(q[1:] ** damping))

    return combine


def score_rule(pairs: Sequence[PairOfGenes], rule: Rule) -> tuple[Vector, Vector]:
    """Return the probability of each pair, and whether it is true (1 or 0)."""
    p = np.array([rule(pair.probabilities) for pair in pairs])
    return np.clip(p, 1e-6, 1 - 1e-6), np.array([pair.labels.max() for pair in pairs])


def log_losses(p: Vector, y: Vector) -> Vector:
    """Return the log loss of each pair in nats."""
    return -(y * np.log(p) + (1 - y) * np.log(1 - p))


def interval(statistic: Callable[..., float], *columns: Vector) -> str:
    """Return a statistic of columns of equal length with its 95 % bootstrap interval over rows."""
    random, size = np.random.default_rng(0), len(columns[0])
    values = []
    for _ in range(REPLICATES):
        rows = random.integers(0, size, size)
        values.append(statistic(*(column[rows] for column in columns)))
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return f"{statistic(*columns):.3f} [{low:.3f}, {high:.3f}]"


def calibration_error(p: Vector, y: Vector) -> float:
    """Return the expected calibration error of probabilities for labels 1 and 0."""
    return float(expected_calibration_error(np.where(y > 0, 1.0, -1.0), p))


def describe_reliability(pairs: Sequence[PairOfGenes]) -> Iterator[str]:
    """Yield mean probability and share of true facts by number of papers and probability."""
    p, y = score_rule(pairs, dampened(1.0))
    papers = np.array([len(pair.labels) for pair in pairs])
    for name, chosen in (("1", papers == 1), ("2", papers == 2), ("3+", papers > 2)):
        for low, high in ((0.0, 1.0), (0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)):
            part = chosen & (p >= low) & (p < high)
            if part.any():
                counts = f"{name} papers, {low} <= p < {high}: {part.sum()} pairs"
                yield f"{counts}, mean {p[part].mean():.3f}, true {interval(np.mean, y[part])}"


def describe_rules(pairs: Sequence[PairOfGenes]) -> Iterator[str]:
    """Yield log loss, calibration error and mean probability of rules, on the given pairs."""
    rules = {"best paper": 0.0, "half": 0.5, "independent": 1.0}
    scores = {name: score_rule(pairs, dampened(value)) for name, value in rules.items()}
    reference = log_losses(*scores["independent"])
    for name, (p, y) in scores.items():
        losses = log_losses(p, y)
        yield (
            f"{name}: mean {p.mean():.3f}, true {y.mean():.3f}, "
            f"log loss {interval(np.mean, losses)}, "
            f"minus that of independent papers {interval(np.mean, losses - reference)}, "
            f"ECE {interval(calibration_error, p, y)}"
        )
    curve = np.array([log_losses(*score_rule(pairs, dampened(d))) for d in DAMPINGS]).T
    best = interval(lambda rows: float(DAMPINGS[rows.mean(0).argmin()]), curve)
    yield f"damping with the smallest log loss: {best}"


def describe_independence(pairs: Sequence[PairOfGenes]) -> Iterator[str]:
    """Yield the correlation of residuals of two papers, and what independent papers would give."""
    sums = np.zeros((len(pairs), 2))
    for number, (p, y) in enumerate(pairs):
        residuals, deviations = y - p, np.sqrt(p * (1 - p))
        for one, other in combinations(range(len(p)), 2):
            sums[number] += residuals[one] * residuals[other], deviations[one] * deviations[other]
    correlation = interval(lambda rows: float(np.divide(*rows.sum(0))), sums)
    yield f"correlation of two papers given their probabilities: {correlation}"
    random = np.random.default_rng(0)
    counts = [
        sum(bool((random.random(len(p)) < p).any()) for p, _ in pairs) for _ in range(REPLICATES)
    ]
    observed = sum(bool(y.any()) for _, y in pairs)
    low, high = np.percentile(counts, [2.5, 97.5])
    expected = f"{np.mean(counts):.1f} [{low:.0f}, {high:.0f}]"
    yield f"true pairs: {observed}; if papers were independent: {expected}"


def describe(biored: Sequence[Judgement], others: Sequence[Judgement]) -> Iterator[str]:
    """Yield the figures of BioRED, of both corpora, and of asserted pairs of both."""
    weights = fold_weights(biored) | fold_weights(others)
    for title, rows in (
        ("BioRED", biored),
        ("BioCreative VI", others),
        ("both", [*biored, *others]),
    ):
        for part, chosen in (("all", rows), ("asserted", [row for row in rows if row.is_asserted])):
            facts = group_by_genes(chosen, pool(chosen, weights))
            several = [fact for fact in facts if len(fact.labels) > 1]
            yield f"== {title}, {part}: {len(facts)} pairs, {len(several)} in several papers"
            yield from describe_reliability(facts)
            if several:
                yield from describe_rules(several)
                yield from describe_independence(several)


def fold_weights(judgements: Sequence[Judgement]) -> dict[str, Vector]:
    """Return the weights for each paper, learnt on the other folds of papers of its corpus."""
    papers = sorted({row.paper for row in judgements})
    folds = {paper: number % FOLDS for number, paper in enumerate(papers)}
    pairs = Pairs(
        np.array([row.features for row in judgements]),
        np.array([float(row.is_related) for row in judgements]),
        np.array([folds[row.paper] for row in judgements]),
        0,
    )
    by_fold = [fit_weights(pairs, pairs.documents != fold) for fold in range(FOLDS)]
    return {paper: by_fold[fold] for paper, fold in folds.items()}


def main() -> None:
    """Judge both corpora and print the figures."""
    data = Path(sys.argv[1])
    model = textrank.load_model(sys.argv[2] if len(sys.argv) > 2 else "ppi")
    task: Any = replace(model.pipeline.task, fact_weights={"best": 1.0})  # type: ignore[type-var]
    model = model.with_task(task, model.threshold)
    biored = list(PubTator(str(data / "biored" / "train.pubtator.gz"))(spacy.blank("en")))
    biored_ids = {str(doc.user_data["document"]) for doc in biored}
    bc6_docs = list(read_precision_medicine(data / "relations" / "bc6pm-train.jsonl.gz"))
    others = [doc for doc in bc6_docs if doc.user_data["document"] not in biored_ids]
    nlp = textrank.load_nlp()
    judged = [
        list(iter_judgements(model, docs, nlp.pipe([doc.text for doc in docs])))
        for docs in (biored, others)
    ]
    lines = [f"{len(biored)} abstracts of BioRED, {len(others)} of {len(bc6_docs)} others"]
    lines += describe(*judged)
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
