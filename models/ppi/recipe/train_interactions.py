"""Train the shipped model of interactions: ``python train_interactions.py DATA OUT``.

``recipe.toml`` lists the sources (``source_pairs``). Two heads, *physical* and *regulation*, share
one kernel and one basis of pairs from every source, half of them positive. Each source has a
weight, so that large corpora do not drown small ones: its pairs weigh ``weight / sqrt(pairs)``,
scaled to a mean of one over the pairs that a head learns from.

Each head has one curve from scores to probabilities. It is fitted to complete texts with
recognised names, as in use: each such source is scored by models without it and without the other
sources of the same corpus. The level from which a pair interacts is that of the recipe.

Sentences that were selected because they state interactions have more positives than complete
texts. A curve of the log-odds, fitted to the interaction corpora of such sentences, serves only to
choose thresholds for other corpora of that kind.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from source_pairs import BATCH_PAIRS, SourcePairs, read_pairs
from workshop.recipes import Recipe, load_recipe

import textrank
from textrank.features import Features, Indices, Matrix, MultiView
from textrank.formats.standoff import RELATIONS
from textrank.learners.base import Fit
from textrank.learners.calibration import LOG_ODDS, Heads, PlattCalibration
from textrank.learners.reduced import BasisMoments, sample_balanced
from textrank.metrics import best_threshold
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.training_data import INFLUENCE_FILE

HERE = Path(__file__).parent
OWN_SOURCES = ("own", "sentences", "abstracts")  # annotated by us; no other source resembles them
OWN_PARTS = 5  # into which their documents are dealt when they are scored


def sample_basis(pairs: SourcePairs, sizes: dict[str, int], seed: int = 0) -> Indices:
    """Return the sorted rows of a basis: ``sizes`` pairs of each source, half of them positive."""
    chosen, y = [], pairs.either
    for number, (name, size) in enumerate(sizes.items()):
        rng = np.random.default_rng([seed, number])  # a source does not depend on the others
        rows = np.flatnonzero(pairs.source == name)
        chosen.append(rows[sample_balanced(y[rows], size, rng)])
    return np.sort(np.concatenate(chosen))


def round_features(features: Features) -> Features:
    """Return features with values of eleven binary digits and without unused columns."""
    values = features.values
    used = np.unique(values.indices)
    rounded = sp.csr_array(values[:, used])
    rounded.data = rounded.data.astype(np.float16).astype(np.float32)
    return Features(rounded, features.names.take(used).drop_unused_words())


@dataclass(frozen=True, eq=False)
class SourceModels:
    """Models of all sources but some, on one basis."""

    recipe: Recipe
    pairs: SourcePairs
    basis: Indices  # (b,) rows of the pairs
    K: NDArray[np.float32]  # (n, b) kernel values of all pairs with the stored basis
    alpha: float

    @classmethod
    def from_pairs(
        cls, recipe: Recipe, pipeline: Pipeline, pairs: SourcePairs
    ) -> tuple[SourceModels, MultiView]:
        """Sample the basis and compare all pairs with it; also return the stored basis."""
        sizes = {name: source["basis"] for name, source in recipe.sources.items()}
        basis = sample_basis(pairs, sizes)
        support = MultiView(
            {k: round_features(pairs.views.view(k).rows(basis)) for k in pairs.views.views}
        )
        compare = pipeline.kernel.index(support)  # type: ignore[attr-defined]
        starts = range(0, len(pairs.Y), BATCH_PAIRS)
        K = np.vstack(
            [
                compare(pairs.views.rows(slice(start, start + BATCH_PAIRS))).astype(np.float32)
                for start in starts
            ]
        )
        return cls(recipe, pairs, basis, K, float(pipeline.learner.alphas[0])), support  # type: ignore[attr-defined]

    @cached_property
    def basis_gram(self) -> Matrix:
        """(b, b) Gram matrix of the basis.

        Stored basis pairs are rounded, so their values with unrounded ones are not symmetric.
        """
        inside = self.K[self.basis].astype(np.float64)
        return (inside + inside.T) / 2

    @cached_property
    def moments(self) -> dict[str, BasisMoments]:
        """Moments of every source, for all heads."""
        return {name: self._moments(self.pairs.source == name) for name in self.recipe.sources}

    def _moments(self, rows: NDArray[np.bool_]) -> BasisMoments:
        """Return the moments of the pairs in a mask of rows."""
        return BasisMoments.from_columns(self.K[rows], self.pairs.Y[rows])

    def fit(self, out: Sequence[str] = (), also_out: NDArray[np.bool_] | None = None) -> Matrix:
        """Return coefficients (b, heads) of a model without the origins ``out`` and ``also_out``.

        Pairs that share text with a source that is out are left out too. Basis pairs that are left
        out have the coefficient 0.
        """
        left_out = self.left_out(out)
        if also_out is not None:
            left_out = left_out | also_out
        keep = np.flatnonzero(~left_out[self.basis])
        counts = {name: int((self.pairs.source[~left_out] == name).sum()) for name in self.moments}
        parts = {}
        for name, moments in self.moments.items():
            missing = left_out & (self.pairs.source == name)
            if counts[name]:
                parts[name] = moments - self._moments(missing) if missing.any() else moments
        coefs = np.zeros((len(self.basis), len(RELATIONS)))
        for head, relation in enumerate(RELATIONS):
            weights = self.weights(relation, counts)
            first, *others = (parts[name] * weights[name] for name in weights)
            total = sum(others, start=first)
            coefs[:, head] = total.solve(self.basis_gram, self.alpha, keep)[:, head]
        return coefs

    def weights(self, relation: str, counts: dict[str, int]) -> dict[str, float]:
        """Return the weight of a pair of each source that judges a relation, mean one."""
        factors = {
            name: source["weight"] / np.sqrt(counts[name])
            for name, source in self.recipe.sources.items()
            if relation in source["relations"] and counts[name]
        }
        total = sum(factors[name] * counts[name] for name in factors)
        scale = sum(counts[name] for name in factors) / total
        return {name: factor * scale for name, factor in factors.items()}

    def left_out(self, out: Sequence[str]) -> NDArray[np.bool_]:
        """Return the mask of pairs that go with the origins ``out``, or share text with them."""
        names = [name for name in self.pairs.keys if self.origin(name) in out]
        return np.isin(self.pairs.source, names) | self.pairs.shares_text_with(names)

    def origin(self, name: str) -> str:
        """Return the corpus that a source is left out with; by default the source itself."""
        source = self.recipe.sources.get(name) or self.recipe.settings["tests"][name]
        return str(source.get("origin", name))

    def scores_without(self, name: str, *more: str) -> Matrix:
        """Return scores (m, heads) of the pairs of a source by models without its origin.

        The origins ``more`` are left out as well. Our own sources are left out by parts of their
        documents: no other source is like them.
        """
        rows = self.pairs.source == name
        if name not in OWN_SOURCES:
            return np.asarray(self.K[rows] @ self.fit((self.origin(name), *more)))
        scores = np.zeros((int(rows.sum()), len(RELATIONS)))
        for number in range(OWN_PARTS):
            part = rows & (self.pairs.document % OWN_PARTS == number)
            scores[part[rows]] = self.K[part] @ self.fit(more, part)
        return scores

    def heads(self, *out: str) -> Heads:
        """Return the heads with curves from complete texts that are left out, without ``out``.

        Equally many pairs of each calibration source, scored by models without its origin.
        """
        rng, scores, labels, sources = np.random.default_rng(0), [], [], []
        count = self.recipe.settings["calibration_pairs"]
        for name in self.recipe.settings["calibrate_on"]:
            if self.origin(name) in out:
                continue
            rows = np.flatnonzero(self.pairs.source == name)
            drawn = np.resize(rng.permutation(len(rows)), count)
            scores.append(self.scores_without(name, *out)[drawn])
            labels.append(self.pairs.Y[rows[drawn]])
            sources += [name] * count
        heldout, Y = np.vstack(scores), np.vstack(labels)
        curves = tuple(
            PlattCalibration.fit_across_sources(s, y, sources)
            for s, y in zip(heldout.T, Y.T, strict=True)
        )
        return Heads(RELATIONS, curves, heldout, Y)

    def selected_curve(self, heads: Heads, *out: str) -> PlattCalibration:
        """Return the curve of log-odds for selected sentences with given names, without ``out``.

        Fitted to the corpora of such sentences (``selected`` of the recipe), each scored by models
        without it, with the heads that it annotates. ``heads`` are those without ``out``.
        """
        rng, log_odds, labels, sources = np.random.default_rng(0), [], [], []
        count = self.recipe.settings["selected_pairs"]
        for name, chosen in self.recipe.settings["selected"].items():
            if self.origin(name) in out:
                continue
            y = self.pairs.either[self.pairs.source == name]
            drawn = np.resize(rng.permutation(len(y)), count)
            log_odds.append(heads.combine(self.scores_without(name, *out), chosen)[drawn])
            labels.append(y[drawn])
            sources += [name] * count
        return PlattCalibration.fit_across_sources(
            np.concatenate(log_odds), np.concatenate(labels), sources
        )


def build_model(pipeline: Pipeline, support: MultiView, models: SourceModels) -> Model:
    """Build the model of all sources, with curves and threshold of those left out."""
    heads = models.heads()
    scores, labels = heads.combine(heads.heldout, RELATIONS), heads.combine_labels(RELATIONS)
    task: Any = pipeline.task
    pipeline = replace(
        pipeline,
        task=replace(
            task,
            level=models.recipe.settings["level"],
            fact_weights=dict(models.recipe.settings["fact_weights"]),
        ),
        learner=replace(pipeline.learner, size=len(models.basis)),  # type: ignore[type-var]
    )
    source = models.pairs.source
    meta = {
        "corpus": ", ".join(models.recipe.sources),
        "pairs": {name: int((source == name).sum()) for name in models.recipe.sources},
        "licence": models.recipe.licence,
        "selected_calibration": asdict(models.selected_curve(heads)),
    }
    fit = Fit((models.alpha,), models.alpha, models.fit(), heads.heldout[None])
    threshold = best_threshold(labels, scores)
    return Model(
        *(pipeline, fit, support, None, threshold, scores, labels, meta),
        calibration=replace(LOG_ODDS, sources=len(models.recipe.settings["calibrate_on"])),
        heads=heads,
    )


def write_model(model: Model, out: Path) -> None:
    """Write the files of a model into a folder that may hold more, such as its card."""
    with tempfile.TemporaryDirectory() as folder:
        model.to_disk(Path(folder) / "model")
        out.mkdir(parents=True, exist_ok=True)
        for file in (Path(folder) / "model").iterdir():
            shutil.copy(file, out / file.name)


def load_models(
    recipe: Recipe, pipeline: Pipeline, data: Path, cache: Path | None, *, tests: bool = False
) -> tuple[SourceModels, MultiView]:
    """Read all sources, with ``tests`` also those that are only tested on; compare all pairs."""
    test_sources = recipe.settings["tests"] if tests else {}
    everything = replace(recipe, sources={**recipe.sources, **test_sources})
    pairs = read_pairs(everything, pipeline, data, list(everything.sources), cache)
    return SourceModels.from_pairs(recipe, pipeline, pairs)


def main() -> None:
    """Read the sources, train, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cache", type=Path, help="folder with represented pairs of earlier runs")
    arguments = parser.parse_args()
    recipe = load_recipe(HERE)
    pipeline = textrank.load_pipeline(recipe.pipeline)
    models, support = load_models(recipe, pipeline, arguments.data, arguments.cache)
    model = build_model(pipeline, support, models)
    from add_reference import describe_heldout  # imports this module

    write_model(describe_heldout(model, recipe, arguments.data), arguments.out)
    from write_influence import write_influence  # imports this module too

    write_influence(models, model, arguments.out / INFLUENCE_FILE)


if __name__ == "__main__":
    main()
