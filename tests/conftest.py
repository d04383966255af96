"""What all tests share: Docs built by hand, and the research corpora where they exist."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

ROOT = Path(__file__).parents[1]

# A failure repeats: the same inputs each time. HYPOTHESIS_PROFILE=explore draws new ones.
hypothesis.settings.register_profile("repeat", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of research corpora; its absence skips the test."""
    folder = Path(os.environ.get("TEXTRANK_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no research corpora: set TEXTRANK_DATA to their folder (looked in {folder})")
    return folder


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
