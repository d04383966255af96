"""Build the shipped model ``identifiers``: tables, and how to choose among their genes.

    python models/identifiers/recipe/train_identifiers.py DATA OUT [CACHE]

``DATA`` has ``ids`` and ``pubmed``, ``OUT`` is the folder of the model. Names in the texts are
found by the shipped recogniser, which takes longest; they are kept in ``CACHE`` where it is given.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import cues
import numpy as np
import silver
import tables
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

import textrank
from textrank.candidates import Candidate
from textrank.config import load_pipeline
from textrank.features import FeatureNames, Vector
from textrank.io import write_manifest
from textrank.learners.calibration import fit_calibration
from textrank.model import Model
from textrank.tasks.base import Scored
from textrank.tasks.identifiers.gazetteer import Gazetteer, build_gazetteer

TRAINED = 700  # documents
ALPHAS = [1.0]  # of .1, 1 and 10 it has most right meanings first, training on half the texts
FORGOTTEN = 3  # one spelling of so many is trained on without its counts
# What is added to weights that the tagger's names cannot teach: it is shy of short names, so none
# counts for too much, and for the names of families of which it leaves out the first; it does not
# read what abbreviations stand for, nor past a bracket. See the card.
ADDED = {"none": -0.6, "defined otherwise": -1.0, "begins symbol": 0.15, "how outside": 0.8}


def main(data: Path, out: Path, cache: Path) -> None:
    """Writes the files of the model folder."""
    cache.mkdir(parents=True, exist_ok=True)
    plain = build_gazetteer(tables.genes(data / "ids"), tables.twins(data / "ids"))
    texts = list(silver.texts(data / "pubmed", _names(data / "pubmed", cache)))
    genes = silver.aligned(texts, plain)
    told, asked = ([text for text in texts if text.half == half] for half in (0, 1))
    counts = silver.Counts.of(told, genes, plain)
    first = _forgetful(plain.with_counts(counts.seen, counts.plain))
    first = replace(first, cues=cues.learned(told))
    first.to_disk(cache)
    model = _trained(cache, asked[:TRAINED], genes, first, counts)
    every = silver.Counts.of(texts, genes, plain)
    shipped = replace(plain.with_counts(every.seen, every.plain), cues=cues.learned(texts))
    _write(model, shipped, out)


def _forgetful(counted: Gazetteer) -> Gazetteer:
    """The tables without the counts of one spelling in three, which texts may have for the first
    time: what else speaks for a gene is learnt there."""
    seen = np.where(counted.hashes % FORGOTTEN == 0, 0, counted.seen).astype(np.uint8)
    often = np.where(counted.others % FORGOTTEN == 0, 0, counted.often).astype(np.uint8)
    return replace(counted, seen=seen, often=often, _found={})


def _names(folder: Path, cache: Path) -> dict[str, list[tuple[int, int]]]:
    """Return the names that the shipped recogniser finds in each text."""
    file = cache / "ner.jsonl"
    if not file.exists():
        nlp = textrank.load_nlp(only=["genes"])
        rows = ((text.text, text.id) for text in silver.texts(folder, {}))
        with file.open("w", encoding="utf-8") as out:
            for doc, name in nlp.pipe(rows, as_tuples=True, batch_size=64):
                spans = [[s.start_char, s.end_char] for s in doc.spans["entities"]]
                out.write(json.dumps({"id": name, "spans": spans}) + "\n")
    with file.open(encoding="utf-8") as lines:
        found = map(json.loads, lines)
        return {row["id"]: [(s, e) for s, e in row["spans"]] for row in found}


def _trained(
    cache: Path,
    texts: Sequence[silver.Text],
    genes: Mapping[str, str],
    first: Gazetteer,
    counts: silver.Counts,
) -> Model:
    """Train the ranking, with probabilities fitted to its held-out scores."""
    nlp = textrank.load_nlp(only=[])
    docs = list(silver.docs(texts, nlp, genes, first, counts))
    pipeline = load_pipeline("identifiers", {"task.tables": str(cache), "learner.alphas": ALPHAS})
    seen = pipeline.prepare(docs)
    model = pipeline.fit_dataset(seen)
    model = _with_added(model, seen.candidates)
    temperature = _temperature(seen.candidates, model.heldout)
    task = replace(pipeline.task, tables="", temperature=temperature)
    meta = {
        "corpus": "names of PubMed texts tagged by STRING, aligned to GeneIDs by vote",
        "documents": len(docs),
        "names": len({(c.document, c.query) for c in seen.candidates}),
        "heldout": pipeline.task.measures(Scored(seen.candidates, model.heldout)),
    }
    keep = np.arange(0, len(model.labels), max(1, len(model.labels) // 4000))
    heldout, labels = model.heldout[keep], model.labels[keep]
    return replace(
        model,
        pipeline=replace(pipeline, task=task),
        heldout=heldout,
        labels=labels,
        meta=meta,
        calibration=fit_calibration(heldout, labels),
    )


def _with_added(model: Model, candidates: Sequence[Candidate]) -> Model:
    """The model with other weights of some facts, also in its held-out scores."""
    if model.names is None:
        raise ValueError("the ranking has no named weights. Use facts and a linear kernel.")
    coef, heldout = model.fit.coef.copy(), model.heldout.copy()
    for fact, weight in ADDED.items():
        coef[model.names.find(FeatureNames.from_iterable([fact]))[0]] += weight
        heldout += weight * np.array([candidate.facts.get(fact, 0.0) for candidate in candidates])
    return replace(model, fit=replace(model.fit, coef=coef), heldout=heldout)


def _temperature(candidates: Sequence[Candidate], heldout: Vector) -> float:
    """The factor of the scores that makes the right meanings of held-out names most probable."""
    queries: dict[tuple[str, str], list[int]] = {}
    for i, candidate in enumerate(candidates):
        queries.setdefault((candidate.document, candidate.query), []).append(i)
    right = np.array([(c.label or 0) > 0 for c in candidates])
    own = [np.array(rows) for rows in queries.values() if right[rows].any()]

    def loss(log_factor: float) -> float:
        scores = np.exp(log_factor) * heldout
        return float(
            sum(logsumexp(scores[rows]) - logsumexp(scores[rows][right[rows]]) for rows in own)
        )

    return round(float(np.exp(minimize_scalar(loss, bounds=(-2, 4), method="bounded").x)), 3)


def _write(model: Model, shipped: Gazetteer, out: Path) -> None:
    """Write the files of the model next to its recipe, with checksums."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / "identifiers"
        model.to_disk(new)
        shipped.to_disk(new)
        write_manifest(new, json.loads((new / "meta.json").read_text(encoding="utf-8")))
        for file in new.iterdir():
            shutil.copyfile(file, out / file.name)


if __name__ == "__main__":
    words = [Path(word) for word in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        main(words[0], words[1], words[2] if len(words) > 2 else Path(folder))
