"""Build the shipped model ``identifiers``: gene tables, and weights to choose among genes.

    python models/identifiers/recipe/train_identifiers.py DATA OUT [CACHE] [--given]

``DATA`` has ``ids``, ``biored``, ``pubmed``, ``ppi``, ``ner`` and ``treebanks``, ``OUT`` is the
folder of the model. Tables and names take longest; they are kept in the folder ``CACHE``, if given.

The names of an abstract come from a recogniser that was not trained on it, so that the model is
trained on names like those in new texts. The document figures of ten folds from raw text are
printed and stored in ``meta.json``. With ``--given`` no model is written: the figures of ten folds
with the names that annotators marked are printed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cues
import numpy as np
import silver
import stages
import tables
from numpy.typing import NDArray
from workshop.name_kinds import read_kinds, train_kinds

import corpora
import textrank
from corpora import Abstract, Usage
from textrank.config import load_pipeline
from textrank.features import FeatureNames
from textrank.io import write_manifest
from textrank.language.load import SHIPPED_PIPELINE
from textrank.learners.base import Fit
from textrank.learners.calibration import fit_calibration
from textrank.model import Model
from textrank.tasks.identifiers.candidate_table import COLUMNS, Mention
from textrank.tasks.identifiers.gazetteer import Gazetteer, build_gazetteer

RECOGNISER = "kinds"  # component that finds the names
FOLDS = 10  # of the held-out names and scores, which threshold and probabilities come from
KEPT_SCORES = 8000  # held-out scores that the model keeps


def main(data: Path, out: Path, cache: Path, is_given: bool) -> None:
    """Train the model and write its folder; with ``is_given`` only print its metrics.

    ``is_given`` takes the annotated names instead of recognised ones.
    """
    cache.mkdir(parents=True, exist_ok=True)
    counted = _build_tables(data, cache)
    abstracts = [
        one
        for name, file in corpora.CORPORA.items()
        for one in corpora.read_abstracts(name, data / file)
    ]
    if is_given:
        named = corpora.with_given_names(abstracts)
    else:
        named = corpora.with_mentions(abstracts, _held_out_names(abstracts, data, cache))
    usage = corpora.usage_by_document(named, counted)
    tested, queries, scores = _score_folds(named, counted, usage)
    figures = _fold_figures(tested, queries, scores)
    for name, values in figures.items():
        title = "names given" if is_given else "raw text"
        sys.stdout.write(
            f"{title}: {name}, {', '.join(f'{k} {v:.3f}' for k, v in values.items())}\n"
        )
    if is_given:
        return
    threshold = _threshold(tested, queries, scores)
    trained, shipped = stages.train(named, counted, usage)
    model = _make_model(trained, len(tested), queries, scores, threshold, figures)
    _write(model, shipped, out)


def _held_out_names(
    abstracts: Sequence[Abstract], data: Path, cache: Path
) -> dict[tuple[str, str], list[Mention]]:
    """Return the names of each abstract by a recogniser trained on the nine other folds.

    Keys are (corpus, PubMed id). Names are cached in ``cache``.
    """
    nlp = docs = None
    names = {}
    for fold in range(FOLDS):
        file = cache / f"names-{fold}.jsonl"
        if not file.exists():
            if nlp is None or docs is None:
                nlp = textrank.load_nlp(SHIPPED_PIPELINE, only=["genes", RECOGNISER])
                docs = read_kinds(data, nlp.vocab)
            train_kinds(nlp, [doc for doc in docs if int(doc.id) % FOLDS != fold])
            held_out = [one for one in abstracts if int(one.id) % FOLDS == fold]
            rows = []
            with nlp.select_pipes(enable=["names_tok2vec", RECOGNISER]):
                for one, doc in zip(held_out, nlp.pipe(o.text for o in held_out), strict=True):
                    spans = [
                        [s.start_char, s.end_char, s.label_, s._.textrank_kinds]
                        for s in doc.spans["entities"]
                    ]
                    rows.append({"corpus": one.corpus, "id": one.id, "names": spans})
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            sys.stdout.write(f"names of fold {fold + 1} of {FOLDS}\n")
            sys.stdout.flush()
        with file.open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                names[row["corpus"], row["id"]] = [Mention(*name[:3]) for name in row["names"]]
    return names


def _build_tables(data: Path, cache: Path) -> Gazetteer:
    """Return the gazetteer with counts from PubMed texts; cached in ``cache``."""
    if (cache / "tables.npz").exists():
        return Gazetteer.from_disk(cache)
    genes = tables.read_genes(data / "ids")
    plain = build_gazetteer(genes, tables.find_concepts(data / "ids", genes))
    texts = list(silver.iter_texts(data / "pubmed", _recognised_names(data / "pubmed", cache)))
    aligned = silver.align_proteins(texts, plain)
    counts = silver.NameCounts.from_texts(texts, aligned, plain)
    counted = replace(
        plain.with_counts(counts.seen, counts.plain),
        cues=cues.learn_cue_weights(texts),
        associations=silver.find_associations(texts, aligned, plain),
    )
    counted.to_disk(cache)
    return counted


def _recognised_names(folder: Path, cache: Path) -> dict[str, list[tuple[int, int]]]:
    """Return the names that the shipped recogniser finds in each text; cached in ``cache``."""
    file = cache / "ner.jsonl"
    if not file.exists():
        nlp = textrank.load_nlp(only=[RECOGNISER])
        rows = ((text.text, text.id) for text in silver.iter_texts(folder, {}))
        with file.open("w", encoding="utf-8") as out:
            for doc, name in nlp.pipe(rows, as_tuples=True, batch_size=64):
                spans = [[s.start_char, s.end_char] for s in doc.spans["entities"]]
                out.write(json.dumps({"id": name, "spans": spans}) + "\n")
    with file.open(encoding="utf-8") as lines:
        rows_read = map(json.loads, lines)
        return {row["id"]: [(s, e) for s, e in row["spans"]] for row in rows_read}


def _score_folds(
    abstracts: Sequence[Abstract], tables: Gazetteer, own: dict[str, Usage]
) -> tuple[list[Abstract], stages.Queries, NDArray[np.float64]]:
    """Return the abstracts fold by fold, their candidate rows, and held-out scores."""
    parts = []
    for fold in range(FOLDS):
        rest = [one for one in abstracts if one.fold(FOLDS) != fold]
        held_out = [one for one in abstracts if one.fold(FOLDS) == fold]
        trained, shipped = stages.train(rest, tables, own)
        parts.append((held_out, *stages.apply(held_out, trained, shipped)))
        sys.stdout.write(f"fold {fold + 1} of {FOLDS}\n")
        sys.stdout.flush()
    tested = [one for held_out, _, _ in parts for one in held_out]
    return (
        tested,
        stages.concatenate([q for _, q, _ in parts]),
        np.concatenate([scores for _, _, scores in parts]),
    )


def _fold_figures(
    abstracts: Sequence[Abstract], queries: stages.Queries, scores: NDArray[np.float64]
) -> dict[str, dict[str, float]]:
    """Return document precision, recall and F1 by corpus.

    The threshold of a fold is chosen on the other folds.
    """
    folds = np.array([one.fold(FOLDS) for one in abstracts])
    thresholds = np.zeros(FOLDS)
    for fold in range(FOLDS):
        rows = np.flatnonzero(folds[queries.document] != fold)
        others = [one if n != fold else None for one, n in zip(abstracts, folds, strict=True)]
        thresholds[fold] = _threshold(others, stages.select(queries, rows), scores[rows])
    shifted = scores - thresholds[folds[queries.document]]
    return {
        name: dict(zip(("precision", "recall", "f"), values, strict=True))
        for name, values in stages.document_f(abstracts, queries, shifted, 0.0).items()
    }


def _threshold(
    abstracts: Sequence[Abstract | None], queries: stages.Queries, scores: NDArray[np.float64]
) -> float:
    """Return the score from which a gene is given: that with the best mean F1 over corpora.

    Abstracts that are None do not count; ``queries`` must have no row of them.
    """

    def mean_f(threshold: float) -> float:
        """Return the mean over corpora of document F1 at a threshold."""
        figures = stages.document_f(abstracts, queries, scores, threshold)
        return float(np.mean([f for _, _, f in figures.values()]))

    return max(np.arange(-1.5, 1.0, 0.1).round(1).tolist(), key=mean_f)


def _make_model(
    trained: stages.Stages,
    n_documents: int,
    queries: stages.Queries,
    scores: NDArray[np.float64],
    threshold: float,
    figures: dict[str, dict[str, float]],
) -> Model:
    """Return the model of the second stage, whose threshold is 0, the score of "no gene".

    The chosen threshold is subtracted from the weights of the columns "gene" and "family", of which
    each candidate has one.
    """
    weights = trained.second.copy()
    weights[[COLUMNS.index("gene"), COLUMNS.index("family")]] -= threshold
    labelled = np.flatnonzero(~np.isnan(queries.y))
    heldout, labels = scores[labelled] - threshold, np.where(queries.y[labelled] > 0.5, 1.0, -1.0)
    calibration = fit_calibration(heldout, labels)
    stored = np.arange(0, len(labels), max(1, len(labels) // KEPT_SCORES))
    pipeline = load_pipeline("identifiers")
    meta = {
        "corpus": "NLM-Gene, GNormPlus and BioRED (training parts), PubMed texts tagged by STRING",
        "documents": n_documents,
        "heldout": figures,
    }
    return Model(
        pipeline,
        Fit((1.0,), 1.0, weights, heldout[stored][None, :]),
        None,
        FeatureNames.from_iterable(COLUMNS),
        0.0,
        heldout[stored],
        labels[stored],
        meta,
        calibration=calibration,
    )


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("cache", type=Path, nargs="?")
    parser.add_argument("--given", action="store_true", help="print figures with given names")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        main(given.data, given.out, given.cache or Path(folder), given.given)
