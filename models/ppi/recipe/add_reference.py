"""Store the documents of the held-out scores: ``python add_reference.py DATA MODEL``.

``train_interactions`` draws the held-out pairs from the complete texts of ``calibrate_on``. This
script finds the same pairs again, checks that their labels are those of the model, and adds the
number of the document of each pair and the profiles of the documents, which ``apply --max-error``
needs. Nothing else of the model changes.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from source_pairs import _read_source
from train_interactions import write_model
from workshop.recipes import Recipe, load_recipe

import textrank
from textrank.candidates import Candidate, HeldoutReference, number_keys
from textrank.features import Indices
from textrank.model import Model


def find_heldout_pairs(recipe: Recipe, data: Path) -> tuple[list[Candidate], Indices, np.ndarray]:
    """Return all pairs of the calibration sources, and row and labels of each drawn one.

    The draws are those of ``SourceModels.heads``. Documents of different sources differ.
    """
    pipeline = textrank.load_pipeline(recipe.pipeline)
    rng, count = np.random.default_rng(0), recipe.settings["calibration_pairs"]
    candidates: list[Candidate] = []
    rows, labels = [], []
    for name in recipe.settings["calibrate_on"]:
        _, groups = _read_source(recipe, pipeline, name, data)
        pairs = [pair for group in groups for pair in group]
        drawn = np.resize(rng.permutation(len(pairs)), count)
        rows.append(len(candidates) + drawn)
        labels.append(np.array([pair.labels for pair in pairs])[drawn])
        candidates += [
            replace(p.candidate, document=f"{name} {p.candidate.document}", group="") for p in pairs
        ]
    return candidates, np.concatenate(rows), np.vstack(labels)


def add_reference(model: Model, candidates: list[Candidate], rows: Indices) -> Model:
    """Return the model with the documents of its held-out pairs."""
    scores = np.full(len(candidates), np.nan)
    scores[rows] = model.heldout
    reference = HeldoutReference.from_candidates(candidates, scores)
    used, groups = np.unique(reference.groups[rows], return_inverse=True)
    return replace(
        model,
        reference=replace(
            reference,
            groups=groups,
            queries=number_keys(reference.queries[rows].tolist()),
            profiles=reference.profiles[used],
        ),
    )


def describe_heldout(model: Model, recipe: Recipe, data: Path) -> Model:
    """Return the model with the documents of its held-out pairs and the names of their sources.

    Raises ValueError if the held-out pairs of the model are not those of the recipe.
    """
    candidates, rows, labels = find_heldout_pairs(recipe, data)
    if model.heads is None or not np.array_equal(model.heads.labels, labels):
        raise ValueError("the held-out pairs of the model are not those of the recipe.")
    meta = {**model.meta, "heldout_corpus": ", ".join(recipe.settings["calibrate_on"])}
    return replace(add_reference(model, candidates, rows), meta=meta)


def main() -> None:
    """Read the sources, check the labels, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    arguments = parser.parse_args()
    model = Model.from_disk(arguments.model)
    described = describe_heldout(model, load_recipe(Path(__file__).parent), arguments.data)
    write_model(replace(described, submodels={}), arguments.model)


if __name__ == "__main__":
    main()
