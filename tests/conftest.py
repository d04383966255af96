"""Shared by all tests: settings of hypothesis, shipped models, hand-built Docs, corpora."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

from textrank.config import load_corpus, load_pipeline
from textrank.io.reading import shipped_folder
from textrank.model import Model

ROOT = Path(__file__).parents[1]

# A failure repeats: the same inputs each time. HYPOTHESIS_PROFILE=explore draws new ones.
hypothesis.settings.register_profile(
    "repeat", derandomize=True, database=None, deadline=None, max_examples=30
)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=30)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

# Tests with the marker ``portable``: those that print, round, rank or choose by figures. They are
# the first to fail on another processor, so .ci/run runs them under several BLAS settings.
PORTABLE = (
    "README.md",
    "docs/",
    "tests/evaluation/",
    "tests/learners/",
    "tests/kernels/",
    "tests/tasks/",
    "tests/language/",
    "tests/reproduce/",
    "tests/test_candidates.py",
    "tests/test_estimators.py",
    "tests/test_figures.py",
    "tests/test_laws.py",
    "tests/test_metrics.py",
    "tests/test_readme.py",
    "tests/test_shipped.py",
    "tests/test_ties.py",
    "tests/test_tutorials.py",
)


def pytest_configure() -> None:
    """Let ``TEXTRANK_START_METHOD=spawn`` choose how processes of the tests start."""
    if method := os.environ.get("TEXTRANK_START_METHOD"):
        multiprocessing.set_start_method(method, force=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(ROOT):
            path = item.path.relative_to(ROOT).as_posix()
            if path.startswith(PORTABLE):
                item.add_marker("portable")


@pytest.fixture(scope="session", autouse=True)
def share_shipped_models() -> Iterator[None]:
    """Load each shipped model once per process; models are frozen, so tests can share them."""
    original = Model.from_disk
    shipped = shipped_folder("models").resolve()
    load_once = cache(original)

    def from_disk(path: str | Path, *, trusted: bool = False) -> Model:
        folder = Path(path).resolve()
        if folder.is_relative_to(shipped):
            return load_once(folder, trusted=True)
        return original(path, trusted=trusted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Model, "from_disk", staticmethod(from_disk))
        yield


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of research corpora; its absence skips the test."""
    folder = Path(os.environ.get("TEXTRANK_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no research corpora: set TEXTRANK_DATA to their folder (looked in {folder})")
    return folder


@pytest.fixture(scope="session")
def trained_spelling() -> Model:
    """The pipeline ``spelling`` trained on the sample: a linear model that names a lexicon."""
    corpus = load_corpus(str(ROOT / "corpora" / "sample-spelling"))
    return load_pipeline("spelling").fit(list(corpus(spacy.blank("en"))))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20080901)


@pytest.fixture(scope="session")
def make_doc() -> Callable[..., Doc]:
    """``make_doc(words, heads, deps, entities)``: a parsed Doc without any trained model."""
    vocab = spacy.blank("en").vocab

    def make(
        words: Sequence[str],
        heads: Sequence[int] | None = None,
        deps: Sequence[str] | None = None,
        entities: Sequence[tuple[int, int]] = (),
        tags: Sequence[str] | None = None,
        document: str = "d0",
    ) -> Doc:
        doc = Doc(vocab, words=list(words), heads=heads, deps=deps, tags=tags)
        doc.spans["entities"] = [Span(doc, start, end, label="protein") for start, end in entities]
        doc.user_data["document"] = document
        return doc

    return make
