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
from textrank.representations.pairs.entity_pair import EntityPair, entity_pairs
from textrank.representations.pairs.telling import TreePair, tellings
from textrank.tasks.statement_views import StatementViews
from textrank.tasks.statements import ANSWERS, chosen
from textrank.text import characters
from textrank.types import Indices, Matrix, Names, Vector

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
        used, column = _merged(plain.take(np.flatnonzero(~constant)))
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
    at = np.flatnonzero(found)
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
class Aspects:
    """The models of status, type and direction that stand beside a model of interactions."""

    weights: Mapping[str, Weights]
    views: StatementViews

    @classmethod
    def of(cls, models: Mapping[str, Model]) -> Aspects:
        """From models that see the same blocks of features, each with weights of its own."""
        views = {name: _views(name, model) for name, model in models.items()}
        used = dict.fromkeys(block for own in views.values() for block, w in own.items() if w)
        weights = {
            name: Weights.of(model, name).times(views[name]) for name, model in models.items()
        }
        return cls(_onto_all(weights), StatementViews(weights=dict.fromkeys(used, 1.0)))

    def answers(self, candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
        """Status, type, direction and trigger of each pair, as far as there are models."""
        return self.of_pairs(entity_pairs(candidates, PARSE)) if candidates else []

    def of_pairs(self, pairs: Sequence[EntityPair]) -> list[dict[str, Any]]:
        """The same for pairs that are already analysed, by the parse ``PARSE``."""
        told = tellings(pairs)
        scores = self.scores(pairs, told)
        rows = _decided(scores, {name: w.limit for name, w in self.weights.items()}, len(pairs))
        return [
            {**row, "trigger": _trigger(one, row.get("type"))}
            for row, one in zip(rows, told, strict=True)
        ]

    @cached_property
    def _values(self) -> Matrix:  # (features, all answers)
        """The weights of all aspects side by side."""
        return np.hstack([w.values for w in self.weights.values()])

    def scores(self, pairs: Sequence[EntityPair], told: Sequence[TreePair]) -> dict[str, Matrix]:
        """Log-odds (pairs, answers) for each aspect, by one product."""
        weights = list(self.weights.values())
        F = self.views.features(pairs, told).onto(weights[0].names)
        found = np.asarray(F @ self._values)
        ends = np.cumsum([len(w.offsets) for w in weights])[:-1]
        parts = np.split(found, ends, axis=1)
        return {
            name: part + w.offsets
            for (name, w), part in zip(self.weights.items(), parts, strict=True)
        }


def _onto_all(weights: Mapping[str, Weights]) -> dict[str, Weights]:
    """The weights of each aspect over the features of all."""
    names, column = _merged(Names.join([w.names for w in weights.values()]))
    ends = np.cumsum([len(w.names) for w in weights.values()])
    found = {}
    for (name, own), at in zip(weights.items(), np.split(column, ends[:-1]), strict=True):
        values = np.zeros((len(names), own.values.shape[1]))
        values[at] = own.values
        found[name] = replace(own, names=names, values=values)
    return found


def _decided(
    scores: Mapping[str, Matrix], limits: Mapping[str, float], n: int
) -> list[dict[str, Any]]:
    """The best answers; type and direction together, since binding has no direction."""
    rows: list[dict[str, Any]] = [{} for _ in range(n)]
    for name, values in scores.items():
        best = chosen(values, limits[name]) if name == "status" else values.argmax(axis=1)
        for row, place in zip(rows, best.tolist(), strict=True):
            row[name] = ANSWERS[name][place]
    if {"type", "direction"} <= set(scores):
        kind, way = scores["type"], scores["direction"]
        fits = np.array(
            [
                [(t == "binding") == (d == "none") for d in ANSWERS["direction"]]
                for t in ANSWERS["type"]
            ]
        )
        both = np.where(fits, _log_odds(kind)[:, :, None] + _log_odds(way)[:, None, :], -np.inf)
        for row, best in zip(rows, both.reshape(n, -1).argmax(axis=1), strict=True):
            t, d = divmod(int(best), len(ANSWERS["direction"]))
            row |= {"type": ANSWERS["type"][t], "direction": ANSWERS["direction"][d]}
    return rows


def _log_odds(scores: Matrix) -> Matrix:
    """Log-probabilities of a yes to each answer alone."""
    return np.asarray(-np.logaddexp(0.0, -scores))


def _trigger(told: TreePair, kind: str | None) -> list[list[int]]:
    """The characters of the word that says what happens; none where no word does."""
    token = told.trigger(kind or "")
    if token is None:
        return []
    sentence = told.pair.context.sentence
    place = sentence.start + token
    return [list(characters(sentence.doc[place : place + 1]))]


def state(doc: Doc, answers: Sequence[Mapping[str, Any]]) -> None:
    """Completes the rows of ``doc._.textrank_ppi``; only what is asserted interacts."""
    for row, answer in zip(doc._.textrank_ppi, answers, strict=True):
        row.update(answer)
        row["interacts"] = row["interacts"] and row["status"] == "asserted"
