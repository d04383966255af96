"""Write the influence of each training document of the shipped model.

``python write_influence.py DATA MODEL [FILE]`` needs the data of the recipe. FILE is by default
``influence.npz`` beside the model, where ``textrank explain ppi TEXT --influence stored`` looks
for it.

A document is an abstract or article with all its sections, in all sources, together with documents
that share a sentence with it. Without it, its pairs leave the basis, and the weights of all other
pairs, the regularisation and the calibration stay as they are. The file has the ids of documents
and changes of coefficients, no text.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import DisjointSet
from source_pairs import SourcePairs
from train_interactions import HERE, SourceModels, load_models
from workshop.recipes import load_recipe

import textrank
from textrank.features import Indices, Matrix
from textrank.formats.standoff import RELATIONS
from textrank.learners.reduced import BasisMoments
from textrank.model import Model
from textrank.training_data import INFLUENCE_FILE, StoredInfluence

MAX_DIFFERENCE = 1e-3  # of raw scores of the same model, solved in another way
RIDGE = 2e-5  # added to the diagonal of the basis's Gram matrix, relative to its mean


def group_documents(pairs: SourcePairs) -> tuple[list[Indices], list[str]]:
    """Return the rows of each group of documents that share text, and its name.

    The name has the ids of the documents, sorted and joined by " + ". Groups are sorted by name;
    documents without pairs are left out.
    """
    documents = DisjointSet()
    first_with_key: dict[str, str] = {}
    for source, ids in pairs.ids.items():
        for name, keys in zip(ids, pairs.keys[source], strict=True):
            documents.add(name)
            for key in keys:
                documents.merge(name, first_with_key.setdefault(key, name))
    row_names = np.array(
        [pairs.ids[source][n] for source, n in zip(pairs.source, pairs.document, strict=True)]
    )
    rows_by_root: dict[str, list[int]] = {}
    for row, name in enumerate(row_names.tolist()):
        rows_by_root.setdefault(documents[name], []).append(row)
    groups = {
        " + ".join(sorted(documents.subset(root))): np.array(rows)
        for root, rows in rows_by_root.items()
    }
    return [groups[name] for name in sorted(groups)], sorted(groups)


def pair_weights(models: SourceModels) -> Matrix:  # (n, heads)
    """Return the weight of each pair in each head; 0 if its source does not judge the relation."""
    source = models.pairs.source
    counts = {name: int((source == name).sum()) for name in models.recipe.sources}
    weights = np.zeros((len(source), len(RELATIONS)))
    for head, relation in enumerate(RELATIONS):
        for name, weight in models.weights(relation, counts).items():
            weights[source == name, head] = weight
    return weights


def compute_changes(models: SourceModels, groups: Sequence[Indices]) -> Matrix:  # (b, g, heads)
    """Return the exact change of the coefficients without each group of rows."""
    weights, position = pair_weights(models), np.full(len(models.K), -1)
    position[models.basis] = np.arange(len(models.basis))
    changes = np.empty((len(models.basis), len(groups), len(RELATIONS)))
    for head in range(len(RELATIONS)):
        parts = _iter_parts(models, groups, weights[:, head], position, head)
        moments = _total_moments(models, weights[:, head], head)
        without = moments.changes_without(stable_gram(models), models.alpha, parts)
        for k, change in enumerate(without):
            changes[:, k, head] = change[:, 0]
    return changes


def stable_gram(models: SourceModels) -> Matrix:  # (b, b)
    """Return the Gram matrix of the basis with a small multiple of the identity.

    Pairs of the basis can be equal, and kernel values are in single precision, so that the matrix
    itself is singular or has small negative eigenvalues. Without the multiple, coefficients of
    equal pairs would not be determined.
    """
    K = models.basis_gram.copy()
    K.flat[:: len(K) + 1] += RIDGE * np.trace(K) / len(K)
    return K


def _total_moments(models: SourceModels, weights: Matrix, head: int) -> BasisMoments:
    """Return the weighted moments of all pairs for one head, in float64."""
    b = len(models.basis)
    total = BasisMoments(np.zeros((b, b)), np.zeros((b, 1)))
    for name in models.recipe.sources:
        rows = models.pairs.source == name
        weight = float(weights[rows].max(initial=0.0))
        if weight:
            moments = models.moments[name] * weight
            total = total + BasisMoments(moments.gram, moments.products[:, [head]])
    return total


def _iter_parts(
    models: SourceModels, groups: Sequence[Indices], weights: Matrix, position: Indices, head: int
) -> Iterator[tuple[Matrix, Matrix, Indices]]:
    """Yield weighted kernel values, weighted labels and basis positions of each group."""
    for rows in groups:
        judged = rows[weights[rows] > 0]
        root = np.sqrt(weights[judged])[:, None]
        gone = position[rows]
        T = models.K[judged].astype(np.float64) * root
        yield T, models.pairs.Y[judged][:, [head]] * root, gone[gone >= 0]


def retrain_without(models: SourceModels, rows: Indices) -> Matrix:  # (b, heads)
    """Return the coefficients trained without some rows; all other weights stay as they are.

    Both this and ``compute_changes`` add the same small multiple of the identity (``stable_gram``).
    """
    weights = pair_weights(models)
    weights[rows] = 0.0
    keep = np.flatnonzero(~np.isin(models.basis, rows))
    coefs = np.zeros((len(models.basis), len(RELATIONS)))
    K = models.K.astype(np.float64)
    for head in range(len(RELATIONS)):
        used = np.flatnonzero(weights[:, head])
        root = np.sqrt(weights[used, head])[:, None]
        moments = BasisMoments.from_columns(K[used] * root, models.pairs.Y[used][:, [head]] * root)
        coefs[:, head] = moments.solve(stable_gram(models), models.alpha, keep)[:, 0]
    return coefs


def write_influence(models: SourceModels, model: Model, file: Path) -> StoredInfluence:
    """Compute and write the influence of all documents; return what was written.

    Raises ValueError if the model was not trained on these pairs with these settings.
    """
    nothing = np.empty(0, dtype=np.intp)
    differences = models.K @ (retrain_without(models, nothing) - model.fit.coef)
    if np.abs(differences).max() > MAX_DIFFERENCE:
        raise ValueError("the model was trained on other data or settings. Build it first.")
    groups, names = group_documents(models.pairs)
    stored = StoredInfluence.from_changes(compute_changes(models, groups), names, model)
    stored.to_disk(file)
    return stored


def main() -> None:
    """Read the sources and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--cache", type=Path, help="folder with represented pairs of earlier runs")
    arguments = parser.parse_args()
    recipe = load_recipe(HERE)
    pipeline = textrank.load_pipeline(recipe.pipeline)
    models, _ = load_models(recipe, pipeline, arguments.data, arguments.cache)
    file = arguments.file or arguments.model / INFLUENCE_FILE
    stored = write_influence(models, Model.from_disk(arguments.model, trusted=True), file)
    sys.stdout.write(f"{file}: {len(stored.documents)} documents, {file.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
