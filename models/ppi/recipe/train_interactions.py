"""Train the shipped model of interactions: ``python train_interactions.py DATA OUT [--without X]``.

``recipe.toml`` lists six sources. Each has a weight, so that large corpora do not drown small ones:
the pairs of a source weigh ``weight / sqrt(pairs)``, scaled to a mean of one. ``ReducedRLS`` solves
the weighted least squares on a basis of pairs from every source, half of them positive.

Held-out scores are those of AImed and of the event corpus, each by a model of all other sources.
Only these two are complete abstracts and articles; the others are sentences picked because they
state interactions, where a positive is far more likely than in the texts the model is applied to.
Probabilities and threshold come from these scores. ``--without`` leaves a corpus out of everything,
with documents that share text with it, for tests.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from spacy.tokens import Doc
from workshop.recipes import Recipe, load_recipe, read_source

import textrank
from textrank.candidates import Targets, shares_text
from textrank.features import Features, Indices, Matrix, MultiView, Vector
from textrank.learners.base import Fit
from textrank.learners.calibration import PlattCalibration, expected_threshold
from textrank.learners.reduced import ReducedRLS, sample_balanced
from textrank.metrics import (
    auc,
    best_threshold,
    calibration_error,
    chance_calibration_error,
    precision_recall_f,
    reliability,
)
from textrank.model import Model
from textrank.pipeline import Pipeline

HERE = Path(__file__).parent
INTERACTION_CORPORA = ("AImed", "BioInfer", "IEPA", "LLL")
OWN_SENTENCES = "own"  # the source that no other source resembles
BATCH_PAIRS = 2000  # that are represented and compared at once


@dataclass(frozen=True, eq=False)
class SourcePairs:
    """All pairs of all sources, and which source each comes from."""

    views: MultiView
    y: Vector  # (n,) 1 or -1
    source: NDArray[np.str_]  # (n,)
    shared: NDArray[np.bool_]  # (n, sources) whether the text is also in that source
    third: Indices  # (n,) 0, 1 or 2: documents of a source dealt into three parts

    def take(self, index: Indices) -> SourcePairs:
        """Return the pairs of these rows."""
        arrays = (a[index] for a in (self.y, self.source, self.shared, self.third))
        return SourcePairs(self.views.rows(index), *arrays)


def read_sources(recipe: Recipe, data: Path) -> dict[str, list[Doc]]:
    """Return the Docs of every source, analysed by the shipped language model."""
    nlp = textrank.load_nlp(only=["tagger", "parser"])
    docs = {name: list(read_source(recipe, name, data)(nlp)) for name in recipe.sources}
    limit = recipe.settings["max_sentence_entities"]
    for name, source in recipe.sources.items():
        if source["reader"] == "bionlp.v1":
            docs[name] = [remove_tables(doc, limit) for doc in docs[name]]
    return docs


def remove_tables(doc: Doc, max_entities: int) -> Doc:
    """Remove, in place, the entities of sentences with more than ``max_entities`` of them."""
    spans = list(doc.spans["entities"])
    kept = []
    for sentence in doc.sents:
        inside = [s for s in spans if sentence.start <= s.start and s.end <= sentence.end]
        kept += inside if len(inside) <= max_entities else []
    doc.spans["entities"] = kept
    return doc


def represent_sources(pipeline: Pipeline, docs: dict[str, list[Doc]]) -> SourcePairs:
    """Return the pairs of all sources as the kernel compares them, source by source."""
    views, y, source, shared, third = [], [], [], [], []
    for name, source_docs in docs.items():
        copies = [
            shares_text(source_docs, docs[other]) if other != name else [False] * len(source_docs)
            for other in docs
        ]
        pairs = []
        for number, doc in enumerate(source_docs):
            candidates = pipeline.task.candidates(doc)
            pairs += candidates
            y += [c.label for c in candidates]
            source += [name] * len(candidates)
            shared += [[copy[number] for copy in copies]] * len(candidates)
            third += [number % 3] * len(candidates)
        views += [
            pipeline.representation(pairs[start : start + BATCH_PAIRS])
            for start in range(0, len(pairs), BATCH_PAIRS)
        ]
    joined = MultiView(
        {key: Features.vstack([v.view(key) for v in views]) for key in views[0].views}
    )
    return SourcePairs(joined, *(np.array(values) for values in (y, source, shared, third)))


def sample_basis(pairs: SourcePairs, sizes: dict[str, int], seed: int = 0) -> Indices:
    """Return the sorted rows of a basis: ``sizes`` pairs of each source, half of them positive."""
    rng, chosen = np.random.default_rng(seed), []
    for name in dict.fromkeys(pairs.source):
        rows = np.flatnonzero(pairs.source == name)
        chosen.append(rows[sample_balanced(pairs.y[rows], sizes[name], rng)])
    return np.sort(np.concatenate(chosen))


def source_weights(source: NDArray[np.str_], factors: dict[str, float]) -> Vector:
    """Return ``factors[s] / sqrt(pairs of s)`` of each pair's source ``s``, scaled to mean one."""
    weights = np.empty(len(source))
    for name in dict.fromkeys(source):
        rows = source == name
        weights[rows] = factors[name] / np.sqrt(rows.sum())
    return weights / weights.mean()


@dataclass(frozen=True, eq=False)
class SourceModels:
    """Models of all sources but some, on one basis."""

    recipe: Recipe
    learner: ReducedRLS
    pairs: SourcePairs
    names: Sequence[str]  # of the sources, as in the columns of ``pairs.shared``
    basis: Indices  # (b,) rows of the pairs
    K: Matrix  # (n, b) kernel values of all pairs with the stored basis

    def fit(self, out: Sequence[str] = (), also_out: NDArray[np.bool_] | None = None) -> Vector:
        """Return coefficients (b,) of a model without the sources ``out`` and rows ``also_out``.

        Pairs that share text with a source that is out are left out too. Basis pairs that are
        left out have the coefficient 0.
        """
        pairs = self.pairs
        left_out = np.isin(pairs.source, out)
        left_out |= pairs.shared[:, [self.names.index(name) for name in out]].any(axis=1)
        if also_out is not None:
            left_out |= also_out
        rows = np.flatnonzero(~left_out)
        columns = np.flatnonzero(~left_out[self.basis])
        factors = {name: source["weight"] for name, source in self.recipe.sources.items()}
        groups = np.arange(len(rows))
        weights = source_weights(pairs.source[rows], factors)
        targets = Targets(pairs.y[rows], groups, groups, weights=weights)
        # Stored basis pairs are rounded, so their values with unrounded ones are not symmetric.
        inside = self.K[np.ix_(self.basis[columns], columns)]
        coefs = np.zeros(len(self.basis))
        coefs[columns] = self.learner.coefs_on_basis(
            self.K[np.ix_(rows, columns)],
            np.searchsorted(rows, self.basis[columns]),
            targets,
            basis_gram=(inside + inside.T) / 2,
        )[0]
        return coefs

    def scores_without(self, name: str, *more: str) -> Vector:
        """Return scores of the pairs of a source by a model without it and without ``more``.

        Our own sentences are left out by thirds of their documents: no other source is like them.
        """
        rows = self.pairs.source == name
        if name != OWN_SENTENCES:
            return np.asarray(self.K[rows] @ self.fit((name, *more)))
        scores = np.zeros(int(rows.sum()))
        for third in range(3):
            part = rows & (self.pairs.third == third)
            scores[part[rows]] = self.K[part] @ self.fit(more, part)
        return scores

    def heldout(self, *out: str) -> tuple[Vector, Vector, list[str]]:
        """Return held-out scores, labels and sources for the calibration, without sources ``out``.

        Equally many pairs of each calibration source, by models without that source.
        """
        rng, parts, sources = np.random.default_rng(0), [], []
        count = self.recipe.settings["calibration_pairs"]
        wanted = set(self.recipe.settings["calibrate_on"]) & set(self.pairs.source)
        for name in sorted(wanted - set(out)):
            rows = np.flatnonzero(self.pairs.source == name)
            drawn = np.resize(rng.permutation(len(rows)), count)
            parts.append((self.scores_without(name, *out)[drawn], self.pairs.y[rows[drawn]]))
            sources += [name] * len(drawn)
        scores, labels = map(np.concatenate, zip(*parts, strict=True))
        return scores, labels, sources

    def evaluate(self, name: str) -> dict[str, Any]:
        """Return metrics on a corpus of a model of all other sources, calibrated on the others.

        ``f`` is at the threshold that maximises expected F, ``f_at_level`` at a probability of one
        half, ``f_best`` at the best threshold for these labels (optimistic).
        """
        rows = np.flatnonzero(self.pairs.source == name)
        y, scores = self.pairs.y[rows], self.scores_without(name)
        p = PlattCalibration.fit_across_sources(*self.heldout(name))(scores)
        decisions = {
            "f": scores >= expected_threshold(scores, p),
            "f_at_level": p >= 0.5,
            "f_best": scores >= (best_threshold(y, scores) or 0.0),
        }
        return {
            "auc": auc(y, scores),
            **{key: precision_recall_f(y, yes).f for key, yes in decisions.items()},
            "calibration_error": calibration_error(y, p),
            "calibration_error_of_chance": chance_calibration_error(p),
            "reliability": [asdict(b) for b in reliability(y, p)],
        }


def round_features(features: Features) -> Features:
    """Return features with values of eleven binary digits and without unused columns."""
    values = features.values
    used = np.unique(values.indices)
    rounded = sp.csr_array(values[:, used])
    rounded.data = rounded.data.astype(np.float16).astype(np.float32)
    return Features(rounded, features.names.take(used).drop_unused_words())


def train(
    pipeline: Pipeline,
    recipe: Recipe,
    pairs: SourcePairs,
    names: list[str],
    without: str | None,
    out: Path,
) -> SourceModels:
    """Train on all sources but ``without`` and write the model into the folder ``out``."""
    if without is not None:
        kept = (pairs.source != without) & ~pairs.shared[:, names.index(without)]
        pairs = pairs.take(np.flatnonzero(kept))
    sizes = {name: source["basis"] for name, source in recipe.sources.items()}
    basis = sample_basis(pairs, sizes)
    support = MultiView(
        {k: round_features(pairs.views.view(k).rows(basis)) for k in pairs.views.views}
    )
    compare = pipeline.kernel.index(support)
    starts = range(0, len(pairs.y), BATCH_PAIRS)
    K = np.vstack([compare(pairs.views.rows(slice(at, at + BATCH_PAIRS))) for at in starts])
    pipeline = replace(pipeline, learner=replace(pipeline.learner, size=len(basis)))
    models = SourceModels(recipe, pipeline.learner, pairs, names, basis, K)
    model = build_model(pipeline, support, models)
    write_model(model, out)
    return models


def build_model(pipeline: Pipeline, support: MultiView, models: SourceModels) -> Model:
    """Build the model of all sources, with probabilities and threshold of those left out."""
    heldout, labels, sources = models.heldout()
    alphas = tuple(pipeline.learner.alphas)
    fit = Fit(alphas, alphas[0], models.fit(), heldout[None])
    trained_on = sorted(set(models.pairs.source))
    meta = {
        "corpus": ", ".join(trained_on),
        "pairs": {name: int((models.pairs.source == name).sum()) for name in trained_on},
        "licence": models.recipe.licence,
    }
    return Model(
        pipeline,
        fit,
        support,
        None,
        best_threshold(labels, heldout),
        heldout,
        labels,
        meta,
        calibration=PlattCalibration.fit_across_sources(heldout, labels, sources),
    )


def write_model(model: Model, out: Path) -> None:
    """Write the files of a model into a folder that may hold more, such as its card."""
    with tempfile.TemporaryDirectory() as folder:
        model.to_disk(Path(folder) / "model")
        out.mkdir(parents=True, exist_ok=True)
        for file in (Path(folder) / "model").iterdir():
            shutil.copy(file, out / file.name)


def main() -> None:
    """Read the sources, train, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--without", choices=INTERACTION_CORPORA)
    parser.add_argument("--figures", type=Path, help="file for metrics on corpora left out")
    arguments = parser.parse_args()
    recipe = load_recipe(HERE)
    pipeline = textrank.load_pipeline(recipe.pipeline)
    docs = read_sources(recipe, arguments.data)
    pairs = represent_sources(pipeline, docs)
    models = train(pipeline, recipe, pairs, list(docs), arguments.without, arguments.out)
    if arguments.figures is not None:
        figures = {name: models.evaluate(name) for name in INTERACTION_CORPORA}
        arguments.figures.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
