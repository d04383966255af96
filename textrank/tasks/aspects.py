"""Several questions about the same pairs, answered from one look at each pair.

A model of one aspect is a weight for each feature under each of its questions ("type: binding").
Side by side they are one matrix, features by answers, so that all answers to all questions come
from one product with the features of the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from textrank.docs import Candidate, asking
from textrank.kernels.blocks import CONSTANT, Blocks
from textrank.representations.pairs.analysis import Parse
from textrank.representations.pairs.entity_pair import Meeting, PairBatch, entity_pairs
from textrank.representations.pairs.statement_sides import NameFacts, Sides
from textrank.representations.pairs.telling import Tellings, tellings
from textrank.tasks.statement_views import MET, StatementViews
from textrank.tasks.statements import ANSWERS, chosen
from textrank.text import characters
from textrank.ties import argmax_first
from textrank.types import Features, Indices, Matrix, Names, Vector
from textrank.types.ragged import lengths

if TYPE_CHECKING:
    from textrank.model import Model

PARSE: Parse = "own"  # that statements are read from


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of all answers to the questions of one model."""

    names: Names  # d of them
    values: Matrix  # (d, answers)
    offsets: Vector  # (answers,)
    limit: float = 0.0  # log-odds from which a status other than asserted counts

    @classmethod
    def of(cls, model: Model, aspect: str) -> Weights:
        """Those of a model whose features stand under their questions, as ``Blocks`` has them."""
        kernel = model.pipeline.kernel
        if model.names is None or not isinstance(kernel, Blocks):
            raise ValueError(
                f"a model of {model.pipeline.task.name} with kernel {type(kernel).__name__} has no "
                "weights by question. Train it with the kernel blocks.v1 and a feature kernel."
            )
        words, answers = model.names.vocabulary, ANSWERS[aspect]
        places = {asking(aspect, answer): place for place, answer in enumerate(answers)}
        question = np.array([places.get(word, -1) for word in words], dtype=np.intp)
        asked = question[model.names.parts[:, 0]]
        plain = Names(words, model.names.parts[:, 1:])
        constant = _is_constant(plain)
        offsets = np.zeros(len(answers))
        offsets[asked[constant]] = model.fit.coef[constant] * kernel.constant
        used, column = _merged(plain.take((~constant).nonzero()[0]))
        values = np.zeros((len(used), len(answers)))
        values[column, asked[~constant]] = model.fit.coef[~constant]
        return cls(used, values, offsets, model.threshold or 0.0)

    def times(self, blocks: Mapping[str, float]) -> Weights:
        """For features without the weights of the blocks that stand first in their names."""
        each = np.array([blocks.get(word, 1.0) for word in self.names.vocabulary])
        return replace(self, values=each[self.names.parts[:, :1]] * self.values)


def _views(name: str, model: Model) -> Mapping[str, float]:
    """The weights of the blocks that a model sees."""
    views = model.pipeline.representation
    if not isinstance(views, StatementViews):
        raise ValueError(
            f"the model of {name} sees pairs by {type(views).__name__}. Train it with the "
            "representation statement_views.v1, as the others, so that a pair is looked at once."
        )
    return views.weights


def _is_constant(names: Names) -> NDArray[np.bool_]:
    """Which names are that of the constant and nothing more."""
    places = [place for place, word in enumerate(names.vocabulary) if word == CONSTANT]
    found: NDArray[np.bool_] = np.isin(names.parts[:, 0], places)
    at = found.nonzero()[0]
    found[at] = (names.parts[at, 1:] < 0).all(axis=1)
    return found


def _merged(names: Names) -> tuple[Names, Indices]:
    """Each name once, and where each of the given ones stands among them."""
    once = names[: _period(names.parts)]
    if len(once) < len(names):  # the same names in the same order under every question
        once, column = _merged(once)
        return once, np.tile(column, len(names) // len(column))
    return names.distinct()


def _period(parts: NDArray[np.int32]) -> int:
    """After how many rows all rows come again in the same order; their number where never."""
    again = np.flatnonzero((parts[1:] == parts[:1]).all(axis=1)) + 1
    n = len(parts)
    if not len(again) or n % again[0] or not np.array_equal(parts[again[0] :], parts[: -again[0]]):
        return n
    return int(again[0])


@dataclass(frozen=True, eq=False)
class Table:
    """The weights of all answers to all questions, by the names that blocks give to features.

    What is told of two names counts in two ways, as their sum and as their difference: a fact has
    the weights of the first and beside them those of the second.
    """

    names: Names
    values: Matrix  # (names + 1, 2 * answers); the last row is that of unknown names

    @classmethod
    def of(cls, weights: Sequence[Weights]) -> Table:
        """The weights of several models side by side."""
        names, column = _merged(Names.join([_renamed(w.names) for w in weights]))
        width = sum(len(w.offsets) for w in weights)
        values = np.zeros((len(names) + 1, 2 * width))
        row, left = 0, 0
        for own in weights:
            n, answers = own.values.shape
            places = left + width * _turned(own.names)[:, None] + np.arange(answers)
            values[column[row : row + n, None], places] = own.values
            row, left = row + n, left + answers
        return cls(names, values)

    def sums(self, features: Features) -> Matrix:  # (rows, 2 * answers)
        """What the features of each row weigh together."""
        return np.asarray(features.values @ self.values[self.names.find(features.names)])

    def plain(self, sums: Matrix) -> Matrix:  # (rows, answers)
        """Those of features that count in one way only."""
        return sums[:, : sums.shape[1] // 2]

    def of_names(self, sides: Sides, sums: Matrix) -> Matrix:  # (pairs, answers)
        """Those of what is told of two names, their sum and their difference of length one each.

        ``sums`` are of lists of length one each.
        """
        size = lengths(sides.facts.cells.indptr)
        weighed = (sums * np.sqrt(size)[:, None])[sides.lists].sum(axis=2)
        one, two = weighed[:, 0], weighed[:, 1]
        half = sums.shape[1] // 2
        same, turned = ((1.0 / np.sqrt(np.maximum(s, 1.0)))[:, None] for s in sides.squares())
        return same * (one + two)[:, :half] + turned * (one - two)[:, half:]


def _turned(names: Names) -> NDArray[np.bool_]:
    """Which features are differences."""
    return np.array([word == "turned" for word in names.vocabulary], dtype=bool)[names.parts[:, 0]]


def _renamed(names: Names) -> Names:
    """The names with differences under the same word as sums."""
    number = len(names.vocabulary)
    parts = names.parts.copy()
    parts[_turned(names), 0] = number
    return Names((*names.vocabulary, "sides"), parts)


@dataclass(frozen=True, eq=False)
class Aspects:
    """The models of status, type and direction that stand beside a model of interactions."""

    weights: Mapping[str, Weights]
    blocks: Mapping[str, Meeting]  # that one of them sees

    @classmethod
    def of(cls, models: Mapping[str, Model]) -> Aspects:
        """From models that see the same blocks of features, each with weights of its own."""
        views = {name: _views(name, model) for name, model in models.items()}
        used = {block for own in views.values() for block, weight in own.items() if weight}
        blocks: dict[str, Meeting] = {name: block for name, block in MET.items() if name in used}
        if not used.isdisjoint(("sides", "turned")):
            blocks["sides"] = NameFacts()
        weights = {
            name: Weights.of(model, name).times(views[name]) for name, model in models.items()
        }
        return cls(weights, blocks)

    def answers(self, candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
        """Status, type, direction and trigger of each pair, as far as there are models."""
        return self.of_pairs(entity_pairs(candidates, PARSE)) if candidates else []

    def of_pairs(self, pairs: PairBatch) -> list[dict[str, Any]]:
        """The same for pairs that are already analysed, by the parse ``PARSE``."""
        found = _decided(self.scores(pairs), {name: w.limit for name, w in self.weights.items()})
        triggers = _triggers(tellings(pairs), found.get("type", [""] * len(pairs)))
        rows = zip(*found.values(), triggers, strict=True)
        return [dict(zip((*found, "trigger"), row, strict=True)) for row in rows]

    @cached_property
    def _table(self) -> Table:
        return Table.of(list(self.weights.values()))

    def scores(self, pairs: PairBatch) -> dict[str, Matrix]:
        """Log-odds (pairs, answers) for each aspect."""
        met, table = pairs.holding(self.blocks), self._table
        sums = table.sums(met.unit.features)
        found = table.plain(sums[: len(pairs)])
        if (lists := met.shared.get("sides")) is not None:
            found = found + table.of_names(Sides(met.features, lists), sums)
        ends = np.cumsum([len(w.offsets) for w in self.weights.values()])[:-1]
        parts = zip(self.weights.items(), np.split(found, ends, axis=1), strict=True)
        return {name: part + w.offsets for (name, w), part in parts}


# Type and direction go together, since binding has no direction and all else has one.
_FITTING = tuple(
    (t, d)
    for t, kind in enumerate(ANSWERS["type"])
    for d, way in enumerate(ANSWERS["direction"])
    if (kind == "binding") == (way == "none")
)


def _decided(scores: Mapping[str, Matrix], limits: Mapping[str, float]) -> dict[str, list[str]]:
    """The best answers to each question."""
    best = {
        name: chosen(values, limits[name]) if name == "status" else argmax_first(values)
        for name, values in scores.items()
    }
    if {"type", "direction"} <= set(scores):
        types, ways = np.array(_FITTING, dtype=np.intp).T
        both = _log_odds(scores["type"])[:, types] + _log_odds(scores["direction"])[:, ways]
        fitting = argmax_first(both)
        best |= {"type": types[fitting], "direction": ways[fitting]}
    return {name: [ANSWERS[name][at] for at in own.tolist()] for name, own in best.items()}


def _log_odds(scores: Matrix) -> Matrix:
    """Log-probabilities of a yes to each answer alone."""
    return np.asarray(-np.logaddexp(0.0, -scores))


def _triggers(told: Tellings, kinds: Sequence[str]) -> list[list[list[int]]]:
    """The characters of the word that says what happens in each pair; none where no word does."""
    own = told.layout
    tokens = told.trigger(own.lexicon.all(kinds))
    known: dict[int, tuple[int, int]] = {}
    for token in set(tokens.tolist()) - {-1}:
        number = int(own.sentence_of[token])
        sentence = own.contexts[number].sentence
        place = sentence.start + token - int(own.starts[number])
        known[token] = characters(sentence.doc[place : place + 1])
    return [[list(known[token])] if token >= 0 else [] for token in tokens.tolist()]


def state(doc: Doc, answers: Sequence[Mapping[str, Any]]) -> None:
    """Completes the rows of ``doc._.textrank_ppi``; only what is asserted interacts."""
    for row, answer in zip(doc._.textrank_ppi, answers, strict=True):
        row.update(answer)
        row["interacts"] = row["interacts"] and row["status"] == "asserted"
