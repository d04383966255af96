"""Pairs of entities in hand-made and random sentences, for tests of pair features."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from spacy.tokens import Doc

from textrank.candidates import Candidate

WORDS = ["STAT1", "binds", "JAK2", "but", "not", "IL", "2"]
HEADS = [1, 1, 1, 1, 5, 1, 5]
DEPS = ["nsubj", "ROOT", "dobj", "cc", "neg", "conj_but", "nn"]
TAGS = ["NN", "VBZ", "NN", "CC", "RB", "NN", "CD"]
ENTITIES = [(0, 1), (2, 3), (5, 7)]


def hand_made_pairs(make_doc: Callable[..., Doc]) -> list[Candidate]:
    """Return the three pairs of "STAT1 binds JAK2 but not IL 2"."""
    return pair_entities(make_doc(WORDS, HEADS, DEPS, ENTITIES, TAGS))


def pair_entities(doc: Doc) -> list[Candidate]:
    """Return all pairs of entities of a Doc of one sentence, in text order."""
    spans = sorted(doc.spans["entities"], key=lambda span: (span.start, span.end))
    return [Candidate(doc, pair, "d0") for pair in combinations(spans, 2)]


def random_pairs(make_doc: Callable[..., Doc], rng: np.random.Generator) -> list[Candidate]:
    """Return all pairs of four entities, which may overlap, in a sentence with a random tree."""
    n = int(rng.integers(4, 13))
    root = int(rng.integers(n))
    heads = np.full(n, root)
    joined = [root]
    for token in rng.permutation([t for t in range(n) if t != root]):
        heads[token] = rng.choice(joined)
        joined.append(int(token))
    words = rng.choice(["bind", "and", "(", ")", "not", "p53", "with", ",", "Raf"], n)
    deps = np.where(np.arange(n) == root, "ROOT", rng.choice(["nsubj", "prep_of", "nn", "dep"], n))
    tags = rng.choice(["NN", "VBZ", "IN"], n)
    starts = rng.integers(0, n, 4)
    entities = [(int(s), min(n, int(s + rng.integers(1, 3)))) for s in starts]
    return pair_entities(
        make_doc(words.tolist(), heads.tolist(), deps.tolist(), entities, tags.tolist())
    )
