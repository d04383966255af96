"""Statements about two names: asserted or not, of which type, in which direction.

Each of the three is a question with several answers about a pair, learnt from corpora of events;
a model of interactions carries models of these questions beside it (its *aspects*).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from spacy.tokens import Doc, Span

from textrank._ragged import lengths
from textrank.candidates import Candidate, label_key
from textrank.features import FeatureNames, Features, Indices, Matrix, Vector
from textrank.kernels.views import CONSTANT_FEATURE, PerQuestionKernel
from textrank.language.alignment import SourceText, original_offsets
from textrank.metrics import argmax_first, choose_first
from textrank.protocols import Representation
from textrank.tasks.base import AnsweredQuestion, ChoiceTask, Scored, group_by_question
from textrank.tasks.ppi._trees import PairTrees, pair_trees
from textrank.tasks.ppi.pairs import FeatureExtractor, PairBatch, analyze_pairs
from textrank.tasks.ppi.sentences import Parse
from textrank.tasks.ppi.statement_features import EntityFactExtractor, EntityFacts
from textrank.tasks.ppi.task import PPI
from textrank.tasks.ppi.views import BLOCKS, STATEMENT_BLOCKS, PairViews, StatementViews

if TYPE_CHECKING:
    from textrank.model import Model

Aspect: TypeAlias = Literal["status", "type", "direction"]
STATUSES = ("asserted", "negated", "speculated")
TYPES = (
    "binding",
    "phosphorylation",
    "modification",
    "degradation",
    "activation",
    "inhibition",
    "regulation",
)
DIRECTIONS = ("a>b", "b>a", "none")
LABELS: Mapping[str, tuple[str, ...]] = {
    "status": STATUSES,
    "type": TYPES,
    "direction": DIRECTIONS,
}
# In figures of five classes all that changes a protein counts as modification.
COARSE_TYPES = {"phosphorylation": "modification", "degradation": "modification"}
REVERSED_DIRECTION = {"a>b": "b>a", "b>a": "a>b"}
STATUS_PROBABILITY_GRID = np.arange(
    0.05, 0.76, 0.01
)  # probabilities from which a denial or doubt may count
if not Doc.has_extension("textrank_ppi_statement"):
    Doc.set_extension("textrank_ppi_statement", default=None)


@dataclass(frozen=True)
class PPIStatement(ChoiceTask):
    """One aspect of the statements about pairs: ``status``, ``type`` or ``direction``.

    A pair has a candidate an answer. Gold is a row of ``doc.user_data["gold"]`` with the aspect as
    a key, as ``BioNLP`` gives; pairs without one are not asked about where a Doc has gold, so that
    figures are of pairs that are stated. A direction counts from the name that comes first in the
    text.
    """

    aspect: Aspect = "status"
    entities: str = "entities"
    labels: Sequence[str] = ()
    name: ClassVar[str] = "ppi_statement"
    required_pipes: ClassVar[tuple[str, ...]] = PPI.required_pipes
    required_pipes_raw: ClassVar[tuple[str, ...]] = PPI.required_pipes_raw
    is_ranking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        if self.aspect not in get_args(Aspect):
            raise ValueError(
                f"aspect must be one of {', '.join(get_args(Aspect))}, got {self.aspect!r}"
            )

    def decide(
        self, scores: Vector, probabilities: Vector | None, threshold: float | None
    ) -> NDArray[np.bool_]:
        """Return yes for answers with even odds or better, whatever the threshold of the aspect."""
        return scores >= 0.0

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers there are, in the order of a pair's candidates."""
        return LABELS[self.aspect]

    def candidates(self, doc: Doc) -> list[Candidate]:
        """One for each pair that is asked about and each answer."""
        gold = self._gold(doc)
        found = []
        for number, pair in enumerate(self._ppi.candidates(doc)):
            right = None if gold is None else gold.get(_pair_key(pair.spans))
            if gold is None or right is not None:
                found += self.label_candidates(pair, f"q{number}", _gold_answer(right, pair))
        return found

    def label_candidates(
        self, pair: Candidate, query: str, right: str | None = None
    ) -> list[Candidate]:
        """A candidate an answer for one pair."""
        return [
            replace(
                pair,
                question=self.aspect,
                answer=answer,
                query=query,
                label=None if right is None else 1.0 if answer == right else -1.0,
            )
            for answer in self.answers
        ]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Stated pairs without a candidate: in two sentences, or of a name no token covers."""
        reached = {_pair_key(candidate.spans) for candidate in candidates}
        return len((self._gold(doc) or {}).keys() - reached)

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Log-odds from which a pair is denied or doubted: where the mean F of both is best.

        Both are rare, so the best F lies below even odds. The other aspects need none.
        """
        if self.aspect != "status":
            return 0.0
        scores, right = (a.reshape(-1, len(self.answers)) for a in (heldout, y))
        limits = logit(STATUS_PROBABILITY_GRID)
        f = [
            _mean_f_of_rare(choose_status(scores, limit), right.argmax(axis=1)) for limit in limits
        ]
        return float(limits[choose_first(f)])

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Puts the answers on ``doc._.textrank_ppi_statement``, in text order."""
        super().annotate(doc, scored)
        for row, given in zip(
            doc._.textrank_ppi_statement, _predicted_and_gold(scored, self)[0], strict=True
        ):
            row[self.aspect] = given
        return doc

    def row(self, text: SourceText, question: AnsweredQuestion) -> dict[str, Any]:
        """The places of a pair's names and how likely each answer is."""
        spans = [list(original_offsets(span)) for span in question.candidates[0].spans]
        return {"spans": spans, "probabilities": question.probabilities(self.answers)}

    def choose_answers(self, scores: Matrix, limit: float) -> Indices:
        """Which answer each pair gets, from log-odds (pairs, answers)."""
        return choose_status(scores, limit) if self.aspect == "status" else argmax_first(scores)

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Accuracy, and the F of each answer."""
        plain = super().measures(replace(scored, threshold=0.0))
        given, right = _predicted_and_gold(scored, self)
        more = _f_by_answer(given, right, self.answers)
        more["accuracy"] = float(np.mean(np.array(given) == np.array(right)))
        if self.aspect == "type":
            coarse = [[COARSE_TYPES.get(a, a) for a in own] for own in (given, right)]
            more["accuracy_five"] = float(np.mean(np.array(coarse[0]) == np.array(coarse[1])))
        return {**plain, **more}

    @property
    def _ppi(self) -> PPI:
        return PPI(self.entities, self.labels)

    def _gold(self, doc: Doc) -> dict[frozenset[str], Mapping[str, Any]] | None:
        if "gold" not in doc.user_data:
            return None
        rows = [row for row in doc.user_data["gold"] if "entities" in row and self.aspect in row]
        return {frozenset(row["entities"]): {**row, "asked": row[self.aspect]} for row in rows}


def _gold_answer(row: Mapping[str, Any] | None, pair: Candidate) -> str | None:
    """The right answer, a direction from the first name of the text to the second."""
    if row is None:
        return None
    turned = row["entities"][0] != pair.spans[0].id_
    answer = str(row["asked"])
    return REVERSED_DIRECTION.get(answer, answer) if turned else answer


def choose_status(scores: Matrix, limit: float) -> Indices:
    """The likelier of denial and doubt where it reaches the limit, else the first: asserted.

    >>> choose_status(np.array([[1.0, -0.6, -2.0], [2.0, -2.0, -1.9]]), -1.0).tolist()
    [1, 0]
    """
    best = 1 + argmax_first(scores[:, 1:])
    return np.where(scores[np.arange(len(scores)), best] >= limit, best, 0)


def _mean_f_of_rare(given: Indices, right: Indices) -> float:
    """The mean F of all answers but the first."""
    found = []
    for answer in range(1, len(STATUSES)):
        said, true = given == answer, right == answer
        found.append(2 * (said & true).sum() / max(said.sum() + true.sum(), 1))
    return float(np.mean(found))


def _predicted_and_gold(scored: Scored, task: PPIStatement) -> tuple[list[str], list[str]]:
    """For each pair the answer given and the right one."""
    questions = list(group_by_question(scored))
    if not questions:
        return [], []
    scores = np.array([question.scores for question in questions])
    labels = np.array([[c.label or 0.0 for c in question.candidates] for question in questions])
    given, right = task.choose_answers(scores, scored.limit), labels.argmax(axis=1)
    return [task.answers[i] for i in given], [task.answers[i] for i in right]


def _f_by_answer(
    given: Sequence[str], right: Sequence[str], answers: Sequence[str]
) -> dict[str, float | None]:
    """The F of each answer; None where it is neither given nor right."""
    found: dict[str, float | None] = {}
    for answer in answers:
        said = np.array([g == answer for g in given])
        true = np.array([r == answer for r in right])
        total = int(said.sum() + true.sum())
        found[f"f_{answer}"] = 2 * float((said & true).sum()) / total if total else None
    return found


def _pair_key(spans: Sequence[Span]) -> frozenset[str]:
    return frozenset(span.id_ for span in spans)


STATEMENT_PARSE: Parse = "own"  # that statements are read from


@dataclass(frozen=True, eq=False)
class LabelWeights:
    """The weights of all answers to the questions of one model."""

    names: FeatureNames  # d of them
    values: Matrix  # (d, answers)
    offsets: Vector  # (answers,)
    threshold: float = 0.0  # log-odds from which a status other than asserted counts

    @classmethod
    def from_model(cls, model: Model, aspect: str) -> LabelWeights:
        """Those of a model whose features stand under their questions, as ``Blocks`` has them."""
        kernel = model.pipeline.kernel
        if model.names is None or not isinstance(kernel, PerQuestionKernel):
            raise ValueError(
                f"a model of {model.pipeline.task.name} with kernel {type(kernel).__name__} has no "
                "weights by question. Train it with the kernel blocks.v1 and a feature kernel."
            )
        words, answers = model.names.vocabulary, LABELS[aspect]
        places = {label_key(aspect, answer): place for place, answer in enumerate(answers)}
        question = np.array([places.get(word, -1) for word in words], dtype=np.intp)
        asked = question[model.names.parts[:, 0]]
        plain = FeatureNames(words, model.names.parts[:, 1:])
        constant = _is_constant(plain)
        offsets = np.zeros(len(answers))
        offsets[asked[constant]] = model.fit.coef[constant] * kernel.constant
        used, column = _merge_names(plain.take((~constant).nonzero()[0]))
        values = np.zeros((len(used), len(answers)))
        values[column, asked[~constant]] = model.fit.coef[~constant]
        return cls(used, values, offsets, model.threshold or 0.0)

    def scale_blocks(self, blocks: Mapping[str, float]) -> LabelWeights:
        """For features without the weights of the blocks that stand first in their names."""
        each = np.array([blocks.get(word, 1.0) for word in self.names.vocabulary])
        return replace(self, values=each[self.names.parts[:, :1]] * self.values)


def _block_weights(name: str, model: Model) -> Mapping[str, float]:
    """The weights of the blocks that a model sees."""
    views = model.pipeline.representation
    if not isinstance(views, StatementViews):
        raise ValueError(
            f"the model of {name} sees pairs by {type(views).__name__}. Train it with the "
            "representation statement_views.v1, as the others, so that a pair is looked at once."
        )
    return views.weights


def _is_constant(names: FeatureNames) -> NDArray[np.bool_]:
    """Which names are that of the constant and nothing more."""
    places = [place for place, word in enumerate(names.vocabulary) if word == CONSTANT_FEATURE]
    found: NDArray[np.bool_] = np.isin(names.parts[:, 0], places)
    at = found.nonzero()[0]
    found[at] = (names.parts[at, 1:] < 0).all(axis=1)
    return found


def _merge_names(names: FeatureNames) -> tuple[FeatureNames, Indices]:
    """Each name once, and where each of the given ones stands among them."""
    once = names[: _repetition_period(names.parts)]
    if len(once) < len(names):  # the same names in the same order under every question
        once, column = _merge_names(once)
        return once, np.tile(column, len(names) // len(column))
    return names.unique()


def _repetition_period(parts: NDArray[np.int32]) -> int:
    """After how many rows all rows come again in the same order; their number where never."""
    again = np.flatnonzero((parts[1:] == parts[:1]).all(axis=1)) + 1
    n = len(parts)
    if not len(again) or n % again[0] or not np.array_equal(parts[again[0] :], parts[: -again[0]]):
        return n
    return int(again[0])


@dataclass(frozen=True, eq=False)
class AttributeWeights:
    """The weights of all answers to all questions, by the names that blocks give to features.

    What is told of two names counts in two ways, as their sum and as their difference: a fact has
    the weights of the first and beside them those of the second.
    """

    names: FeatureNames
    values: Matrix  # (names + 1, 2 * answers); the last row is that of unknown names

    @classmethod
    def from_label_weights(cls, weights: Sequence[LabelWeights]) -> AttributeWeights:
        """The weights of several models side by side."""
        names, column = _merge_names(
            FeatureNames.concat([_merge_difference_names(w.names) for w in weights])
        )
        width = sum(len(w.offsets) for w in weights)
        values = np.zeros((len(names) + 1, 2 * width))
        row, left = 0, 0
        for own in weights:
            n, answers = own.values.shape
            places = left + width * _is_difference(own.names)[:, None] + np.arange(answers)
            values[column[row : row + n, None], places] = own.values
            row, left = row + n, left + answers
        return cls(names, values)

    def sum_features(self, features: Features) -> Matrix:  # (rows, 2 * answers)
        """What the features of each row weigh together."""
        return np.asarray(features.values @ self.values[self.names.find(features.names)])

    def pair_scores(self, sums: Matrix) -> Matrix:  # (rows, answers)
        """Those of features that count in one way only."""
        return sums[:, : sums.shape[1] // 2]

    def entity_scores(self, sides: EntityFacts, sums: Matrix) -> Matrix:  # (pairs, answers)
        """Those of what is told of two names, their sum and their difference of length one each.

        ``sums`` are of lists of length one each.
        """
        size = lengths(sides.features.cells.indptr)
        weighed = (sums * np.sqrt(size)[:, None])[sides.rows].sum(axis=2)
        one, two = weighed[:, 0], weighed[:, 1]
        half = sums.shape[1] // 2
        same, turned = ((1.0 / np.sqrt(np.maximum(s, 1.0)))[:, None] for s in sides.squared_norms())
        return same * (one + two)[:, :half] + turned * (one - two)[:, half:]


def _is_difference(names: FeatureNames) -> NDArray[np.bool_]:
    """Which features are differences."""
    return np.array([word == "turned" for word in names.vocabulary], dtype=bool)[names.parts[:, 0]]


def _merge_difference_names(names: FeatureNames) -> FeatureNames:
    """The names with differences under the same word as sums."""
    number = len(names.vocabulary)
    parts = names.parts.copy()
    parts[_is_difference(names), 0] = number
    return FeatureNames((*names.vocabulary, "sides"), parts)


@dataclass(frozen=True, eq=False)
class AttributeModels:
    """The models of status, type and direction that stand beside a model of interactions."""

    weights: Mapping[str, LabelWeights]
    blocks: Mapping[str, FeatureExtractor]  # that one of them sees

    @classmethod
    def from_models(cls, models: Mapping[str, Model]) -> AttributeModels:
        """From models that see the same blocks of features, each with weights of its own."""
        views = {name: _block_weights(name, model) for name, model in models.items()}
        used = {block for own in views.values() for block, weight in own.items() if weight}
        blocks: dict[str, FeatureExtractor] = {
            name: block for name, block in STATEMENT_BLOCKS.items() if name in used
        }
        if not used.isdisjoint(("sides", "turned")):
            blocks["sides"] = EntityFactExtractor()
        weights = {
            name: LabelWeights.from_model(model, name).scale_blocks(views[name])
            for name, model in models.items()
        }
        return cls(weights, blocks)

    def predict(self, candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
        """Return status, type, direction (as far as there are submodels) and trigger of pairs."""
        return self.predict_batch(analyze_pairs(candidates, STATEMENT_PARSE)) if candidates else []

    def represent_and_predict(
        self, representation: Representation[Any], candidates: Sequence[Candidate]
    ) -> tuple[Sequence[Any], list[dict[str, Any]]]:
        """Return ``representation(candidates)`` and ``predict(candidates)``.

        With ``PairViews`` on the parse ``PARSE`` pairs are analysed once for both.
        """
        if not isinstance(representation, PairViews) or representation.parse != STATEMENT_PARSE:
            return representation(candidates), self.predict(candidates)
        pairs = analyze_pairs(candidates, STATEMENT_PARSE)
        pairs.extract_jointly(
            {**BLOCKS, **self.blocks}
        )  # features that both need are extracted once
        return representation.represent_batch(pairs), self.predict_batch(pairs)

    def predict_batch(self, pairs: PairBatch) -> list[dict[str, Any]]:
        """Return the attributes of pairs that were analysed with the parse ``PARSE``."""
        found = _choose_answers(
            self.scores(pairs), {name: w.threshold for name, w in self.weights.items()}
        )
        triggers = _trigger_offsets(pair_trees(pairs), found.get("type", [""] * len(pairs)))
        rows = zip(*found.values(), triggers, strict=True)
        return [dict(zip((*found, "trigger"), row, strict=True)) for row in rows]

    @cached_property
    def _attribute_weights(self) -> AttributeWeights:
        return AttributeWeights.from_label_weights(list(self.weights.values()))

    def scores(self, pairs: PairBatch) -> dict[str, Matrix]:
        """Log-odds (pairs, answers) for each aspect."""
        met, table = pairs.joint_features(self.blocks), self._attribute_weights
        sums = table.sum_features(met.normalized.features)
        found = table.pair_scores(sums[: len(pairs)])
        if (lists := met.shared.get("sides")) is not None:
            found = found + table.entity_scores(EntityFacts(met.features, lists), sums)
        ends = np.cumsum([len(w.offsets) for w in self.weights.values()])[:-1]
        parts = zip(self.weights.items(), np.split(found, ends, axis=1), strict=True)
        return {name: part + w.offsets for (name, w), part in parts}


# Type and direction go together, since binding has no direction and all else has one.
_COMPATIBLE = tuple(
    (t, d)
    for t, kind in enumerate(LABELS["type"])
    for d, way in enumerate(LABELS["direction"])
    if (kind == "binding") == (way == "none")
)


def _choose_answers(
    scores: Mapping[str, Matrix], limits: Mapping[str, float]
) -> dict[str, list[str]]:
    """The best answers to each question."""
    best = {
        name: choose_status(values, limits[name]) if name == "status" else argmax_first(values)
        for name, values in scores.items()
    }
    if {"type", "direction"} <= set(scores):
        types, ways = np.array(_COMPATIBLE, dtype=np.intp).T
        both = (
            _log_probabilities(scores["type"])[:, types]
            + _log_probabilities(scores["direction"])[:, ways]
        )
        fitting = argmax_first(both)
        best |= {"type": types[fitting], "direction": ways[fitting]}
    return {name: [LABELS[name][at] for at in own.tolist()] for name, own in best.items()}


def _log_probabilities(scores: Matrix) -> Matrix:
    """Log-probabilities of a yes to each answer alone."""
    return np.asarray(-np.logaddexp(0.0, -scores))


def _trigger_offsets(told: PairTrees, kinds: Sequence[str]) -> list[list[list[int]]]:
    """The characters of the word that says what happens in each pair; none where no word does."""
    own = told.arrays
    tokens = told.best_trigger(own.lexicon.encode(kinds))
    known: dict[int, tuple[int, int]] = {}
    for token in set(tokens.tolist()) - {-1}:
        number = int(own.token_sentence[token])
        sentence = own.contexts[number].sentence
        place = sentence.start + token - int(own.sentence_starts[number])
        known[token] = original_offsets(sentence.doc[place : place + 1])
    return [[list(known[token])] if token >= 0 else [] for token in tokens.tolist()]
