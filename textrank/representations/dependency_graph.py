"""Pairs of entities as graphs of their sentence: its dependencies and its word order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from textrank.candidates import Candidate
from textrank.graphs import GraphBatch, GraphFamily
from textrank.progress import track
from textrank.representations.analysis import (
    Dependencies,
    Parse,
    Sentence,
    WordForm,
    sentences,
    word_form,
)
from textrank.types import Indices

BLIND = ("PROT1", "PROT2", "PROT")  # the pair in the order of the text, and any other entity


@dataclass(frozen=True, kw_only=True)
class DependencyGraph:
    """A pair of entities as the graph of its sentence, in two unconnected parts.

    The dependency part has a vertex per token and per dependency, and edges governor ->
    dependency -> dependent. Every dependency on a shortest undirected path between any token of
    one entity and any of the other is marked, with the tokens it touches: marked vertices have
    labels that begin with ``path:``, and edges of marked dependencies weigh ``path_weight``, all
    others ``other_weight``. The linear part has the tokens once more, an edge of
    ``linear_weight`` to the next, and labels that begin with ``before:``, ``middle:`` or
    ``after:``, as the token lies to the pair; the pair itself is in the middle.

    Entities are blinded: the text of the first of the pair is ``PROT1``, of the second
    ``PROT2``, of every other one ``PROT``; the part of speech stays. A token of both is PROT1.

    Airola et al. (2008), BMC Bioinformatics 9(Suppl 11):S2.

    Parameters
    ----------
    labels
        What labels a token: ``"text"``, ``"pos"``, both or none of them.
    words
        The text as written (``"raw"``), ``"lower"``, ``"lemma"`` or ``"stem"``.
    parse
        Dependencies ``"given"`` with the corpus, of ``"spacy"``, or the former where there are any.
    parts
        ``"dependency"``, ``"linear"`` or both.
    drop
        Types of dependencies that are left out.
    """

    path_weight: float = 0.9
    other_weight: float = 0.3
    linear_weight: float = 0.9
    labels: Sequence[str] = ("text", "pos")
    words: WordForm = "raw"
    parse: Parse = "auto"
    parts: Sequence[str] = ("dependency", "linear")
    drop: Sequence[str] = ("punct",)

    def __post_init__(self) -> None:
        for name in ("labels", "parts", "drop"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("path_weight", "other_weight", "linear_weight"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be 0 or more, got {getattr(self, name)}")
        _among("labels", self.labels, ("text", "pos"))
        _among("parts", self.parts, ("dependency", "linear"))
        _among("words", [self.words], get_args(WordForm))
        _among("parse", [self.parse], get_args(Parse))
        if not self.parts:
            raise ValueError("parts is empty; name 'dependency', 'linear' or both")

    def __call__(self, candidates: Sequence[Candidate]) -> GraphBatch:
        """One graph a candidate; the candidates of a sentence share its shape."""
        for index, candidate in enumerate(candidates):
            if len(candidate.spans) != 2:
                raise ValueError(
                    f"candidate {index} of document {candidate.document!r} has "
                    f"{len(candidate.spans)} spans; a dependency graph is made of a pair of them."
                )
        families: list[GraphFamily] = []
        vocabulary = Vocabulary()
        for sentence in track(sentences(candidates, self.parse, self.drop), "sentence graphs"):
            pairs = Pairs.of(sentence, candidates)
            if "dependency" in self.parts:
                families.append(self._dependency_part(sentence, pairs, vocabulary))
            if "linear" in self.parts:
                families.append(self._linear_part(sentence, pairs, vocabulary))
        return GraphBatch(tuple(vocabulary.numbers), tuple(families), len(candidates))

    def _dependency_part(self, sentence: Sentence, pairs: Pairs, words: Vocabulary) -> GraphFamily:
        own = sentence.dependencies
        on_path = pairs.shortest_paths(own)
        touched = np.zeros_like(pairs.first)
        row, edge = np.nonzero(on_path)
        touched[row, own.governor[edge]] = touched[row, own.dependent[edge]] = True

        tokens = self._token_labels(sentence, pairs, touched.astype(np.intp), ("", "path:"), words)
        types = words.variants(own.types, ("", "path:"))[on_path.astype(np.intp), range(len(own))]
        labels = np.full((len(on_path), len(sentence) + len(own), max(1, tokens.shape[2])), -1)
        labels[:, : len(sentence), : tokens.shape[2]] = tokens
        labels[:, len(sentence) :, 0] = types

        weights = np.where(on_path, self.path_weight, self.other_weight)
        middle = np.arange(len(own)) + len(sentence)
        into, out = np.stack([own.governor, middle], 1), np.stack([middle, own.dependent], 1)
        edges, both = np.vstack([into, out]), np.hstack([weights, weights])
        return GraphFamily(sentence.members, edges, both, labels.astype(np.int32))

    def _linear_part(self, sentence: Sentence, pairs: Pairs, words: Vocabulary) -> GraphFamily:
        prefixes = ("before:", "middle:", "after:")
        labels = self._token_labels(sentence, pairs, pairs.sides(), prefixes, words)
        at = np.arange(len(sentence))
        weights = np.full((1, len(at) - 1), self.linear_weight)
        return GraphFamily(sentence.members, np.stack([at[:-1], at[1:]], 1), weights, labels)

    def _token_labels(
        self,
        sentence: Sentence,
        pairs: Pairs,
        variant: Indices,  # (g, n) which of the prefixes
        prefixes: Sequence[str],
        words: Vocabulary,
    ) -> NDArray[np.int32]:
        at = np.arange(len(sentence))
        columns = []
        if "text" in self.labels:
            forms = [word_form(token, self.words) for token in sentence]
            for token in sentence.entities:
                forms[token] = BLIND[2]
            blind = np.where(pairs.first, len(at), np.where(pairs.second, len(at) + 1, at))
            columns.append(words.variants((*forms, *BLIND[:2]), prefixes)[variant, blind])
        if "pos" in self.labels:
            tags = [token.tag_ or token.pos_ for token in sentence]
            columns.append(words.variants(tags, prefixes)[variant, at])
        labels = np.stack(columns, axis=2) if columns else np.empty((*variant.shape, 0), np.int32)
        if len(columns) == 2:  # a comma is its own part of speech: one label, not two
            labels[labels[:, :, 0] == labels[:, :, 1], 1] = -1
        return labels


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which tokens of a sentence belong to the two entities of each candidate."""

    first: NDArray[np.bool_]  # (g, n)
    second: NDArray[np.bool_]  # (g, n) also where both share a token

    @classmethod
    def of(cls, sentence: Sentence, candidates: Sequence[Candidate]) -> Pairs:
        first, second = (np.zeros((len(sentence.members), len(sentence)), bool) for _ in range(2))
        for row, member in enumerate(sentence.members):
            first[row, sentence.tokens(candidates[member])[0]] = True
            second[row, sentence.tokens(candidates[member])[1]] = True
        return cls(first, second)

    def sides(self) -> Indices:
        """Where each token lies: 0 before the pair, 1 in the middle or in it, 2 after, (g, n)."""
        either = self.first | self.second
        begun = np.logical_or.accumulate(either, axis=1)
        to_come = np.logical_or.accumulate(either[:, ::-1], axis=1)[:, ::-1]
        return np.where(begun, np.where(to_come, 1, 2), 0)

    def shortest_paths(self, own: Dependencies) -> NDArray[np.bool_]:
        """Which dependencies lie on a shortest path of each pair, (g, e).

        A dependency of u and v is on one from s to t where d(s, u) + 1 + d(v, t) = d(s, t).
        """
        on_path = np.zeros((len(self.first), len(own)), dtype=bool)
        distance = own.distances(self.first.shape[1])
        row, s, t = np.nonzero(self.first[:, :, None] & self.second[:, None, :])
        whole = distance[s, t]
        some = np.flatnonzero((whole > 0) & np.isfinite(whole))
        row, s, t, whole = row[some], s[some], t[some], whole[some, None]
        ahead = distance[s][:, own.governor] + 1 + distance[t][:, own.dependent] == whole
        back = distance[s][:, own.dependent] + 1 + distance[t][:, own.governor] == whole
        way, edge = np.nonzero(ahead | back)
        on_path[row[way], edge] = True
        return on_path


@dataclass(frozen=True)
class Vocabulary:
    """Numbers of labels, given as they come."""

    numbers: dict[str, int] = field(default_factory=dict)

    def variants(self, labels: Sequence[str], prefixes: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of all labels behind each prefix, (prefixes, labels)."""
        numbers = self.numbers
        rows = [
            [numbers.setdefault(prefix + label, len(numbers)) for label in labels]
            for prefix in prefixes
        ]
        return np.array(rows, dtype=np.int32)


def _among(name: str, given: Sequence[str], known: Sequence[str]) -> None:
    for value in given:
        if value not in known:
            raise ValueError(f"{name}: {value!r} is not known; choose from {', '.join(known)}")
