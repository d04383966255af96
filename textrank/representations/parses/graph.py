"""A dependency parse as a labelled graph, to compare parses of any sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.pairs.analysis import (
    Dependencies,
    Parse,
    Vocabulary,
    WordForm,
    check_among,
    word_form,
)
from textrank.types import GraphBatch, GraphFamily


@dataclass(frozen=True, kw_only=True)
class ParseGraph:
    """The parse that a candidate's Doc carries, as a graph.

    A vertex per token and per dependency, and edges governor -> dependency -> dependent, all of
    ``weight``. A token that nothing governs hangs on a vertex of its own, labelled ``ROOT``.

    Parameters
    ----------
    labels
        What labels a token: ``"text"``, ``"pos"``, both or none of them.
    words
        The text as written (``"raw"``), ``"lower"``, ``"lemma"`` or ``"stem"``.
    parse
        Dependencies ``"given"`` with the corpus, of ``"spacy"``, or the former where there are any
        (``"auto"``); ``"collapsed"`` is auto with prepositions and coordinations of spaCy's joined,
        ``"own"`` the same with spaCy's parse preferred.
    drop
        Types of dependencies that are left out.
    """

    weight: float = 0.5
    labels: Sequence[str] = ("text", "pos")
    words: WordForm = "lower"
    parse: Parse = "auto"
    drop: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("labels", "drop"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not 0 <= self.weight < np.inf:
            raise ValueError(f"weight must be 0 or more, got {self.weight}")
        check_among("labels", self.labels, ("text", "pos"))
        check_among("words", [self.words], get_args(WordForm))
        check_among("parse", [self.parse], get_args(Parse))

    def __call__(self, candidates: Sequence[Candidate]) -> GraphBatch:
        """One graph a candidate."""
        words = Vocabulary()
        tracked = track(candidates, "parse graphs", len(candidates))
        families = [self._family(c, i, words) for i, c in enumerate(tracked)]
        return GraphBatch(tuple(words.numbers), tuple(families), len(candidates))

    def _family(self, candidate: Candidate, index: int, words: Vocabulary) -> GraphFamily:
        doc = candidate.doc
        own, n = Dependencies.of(doc, self.parse, self.drop), len(doc)
        edges = own.edges(n)
        roots = np.setdiff1d(np.arange(n), own.dependent)
        hung = np.column_stack([np.arange(len(roots)) + n + len(own), roots])

        labels = np.full((1, n + len(own) + len(roots), 2), -1, dtype=np.int32)
        if "text" in self.labels:
            forms = [word_form(token, self.words) for token in doc]
            labels[0, :n, 0] = words.variants(forms, ("",))
        if "pos" in self.labels:
            tags = words.variants([token.tag_ or token.pos_ for token in doc], ("",))[0]
            labels[0, :n, 1] = np.where(tags == labels[0, :n, 0], -1, tags)
        labels[0, n:, 0] = words.variants([*own.types, *["ROOT"] * len(roots)], ("",))
        weights = np.full((1, len(edges) + len(hung)), self.weight)
        return GraphFamily(np.array([index]), np.vstack([edges, hung]), weights, labels)
