"""Models that earlier versions saved load as they did, and are stored like new ones if asked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from spacy.tokens import Doc
from workshop.repack import repack

from textrank.config import load_corpus, load_pipeline
from textrank.features import pack_words
from textrank.io import META_FILE, read_arrays, verify_manifest, write_arrays, write_manifest
from textrank.language import load_nlp
from textrank.model import Model

STATEMENTS = Path(__file__).parents[2] / "corpora" / "sample-statements"


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    nlp = load_nlp(only=["tagger", "parser"])
    return [doc for i, doc in enumerate(load_corpus(STATEMENTS)(nlp)) if i % 24 == 0]


def write_plain_names(folder: Path, model: Model) -> None:
    """Store the names of a saved model as earlier versions did, each with all its parts."""
    arrays = read_arrays(folder / "arrays.npz")
    plain = {key: array for key, array in arrays.items() if not key.startswith("names/")}
    assert model.names is not None
    names = {**pack_words(model.names.vocabulary), "parts": model.names.parts}
    plain |= {f"names/{key}": array for key, array in names.items()}
    write_arrays(folder / "arrays.npz", plain)
    meta = json.loads((folder / META_FILE).read_text())
    write_manifest(folder, meta, only=meta["files"])


def test_names_of_earlier_models_give_the_same_scores(docs: list[Doc], tmp_path: Path) -> None:
    folder = tmp_path / "status"
    load_pipeline("ppi_status").fit(docs).to_disk(folder)
    new, new_arrays = Model.from_disk(folder), read_arrays(folder / "arrays.npz")
    assert "names/rest" in new_arrays
    write_plain_names(folder, new)
    old = Model.from_disk(folder)
    candidates = new.pipeline.task.candidates(docs[1])
    np.testing.assert_array_equal(old.score(candidates), new.score(candidates))
    repack(folder)
    verify_manifest(folder)
    repacked = read_arrays(folder / "arrays.npz")
    assert repacked.keys() == new_arrays.keys()
    for key, array in new_arrays.items():
        np.testing.assert_array_equal(repacked[key], array)
