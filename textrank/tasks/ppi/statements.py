"""Statements about a pair of entities: asserted or not, of which type, in which direction.

Each *aspect* (status, type, direction) is a question about a pair with several answers, learnt from
corpora of events with the task ``PPIStatement``. A PPI model carries one submodel per aspect;
``AttributeModels`` applies all of them at once to pairs that are analysed only once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from spacy.tokens import Doc, Span

from textrank._ragged import lengths
from textrank.candidates import Candidate, label_key
from textrank.features import CONSTANT_FEATURE, FeatureNames, Features, Indices, Matrix, Vector
from textrank.kernels.views import PerQuestionKernel
from textrank.language.normalization import SourceText, original_offsets
from textrank.metrics import argmax_first, choose_first
from textrank.protocols import Representation
from textrank.tasks.base import AnsweredQuestion, ChoiceTask, Scored, group_by_question
from textrank.tasks.ppi.facts import REVERSED_DIRECTION
from textrank.tasks.ppi.pairs import FeatureExtractor, PairBatch, analyze_pairs
from textrank.tasks.ppi.sentences import Parse
from textrank.tasks.ppi.statement_features import (
    EntityFactExtractor,
    EntityFacts,
    PairTrees,
    pair_trees,
)
from textrank.tasks.ppi.task import PPI, RELATION_OF_TYPE, RELATIONS
from textrank.tasks.ppi.views import STATEMENT_BLOCKS, PairViews, StatementViews

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
# For metrics of five coarse types.
COARSE_TYPES = {"phosphorylation": "modification", "degradation": "modification"}
# Candidate thresholds. Lower ones have a slightly better F1 on pairs that interact, but most pairs
# of a text do not, and "implicated in" then makes a whole list of names speculated.
STATUS_PROBABILITY_GRID = np.arange(0.25, 0.76, 0.01)
if not Doc.has_extension("textrank_ppi_statement"):
    Doc.set_extension("textrank_ppi_statement", default=None)


@dataclass(frozen=True)
class PPIStatement(ChoiceTask):
    """Task of choosing one aspect of the statement about a pair: its status, type or direction.

    There is one candidate per pair and answer. Gold answers are rows of ``doc.user_data["gold"]``
    with the aspect as a key, as ``BioNLP`` reads them. If a Doc has gold annotation, pairs without
    such a row are left out, so that metrics are about pairs with a gold statement. Directions
    are relative to the order in the text: "a>b" is from the first entity to the second.
    ``entities`` is the span group with the entities and ``labels`` their labels, as for ``PPI``.
    """

    aspect: Aspect = "status"
    entities: str = "entities"
    labels: Sequence[str] = ()
    name: ClassVar[str] = "ppi_statement"
    required_pipes: ClassVar[tuple[str, ...]] = PPI.required_pipes
    required_pipes_raw: ClassVar[tuple[str, ...]] = PPI.required_pipes_raw
    is_ranking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Convert ``labels`` to a tuple; raise ValueError if the aspect is unknown."""
        object.__setattr__(self, "labels", tuple(self.labels))
        if self.aspect not in get_args(Aspect):
            raise ValueError(
                f"aspect must be one of {', '.join(get_args(Aspect))}, got {self.aspect!r}"
            )

    def decide(
        self, scores: Vector, probabilities: Vector | None, threshold: float | None
    ) -> NDArray[np.bool_]:
        """Return yes for answers with even odds or better, whatever the threshold of the aspect.

        ``scores`` are log-odds, one per candidate; the other arguments are ignored.
        """
        return scores >= 0.0

    @property
    def answers(self) -> tuple[str, ...]:
        """Return the answers of the aspect, in the order of a pair's candidates."""
        return LABELS[self.aspect]

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return one candidate per answer for every pair that is asked about, pair by pair.

        Pairs are in text order, answers in the order of ``answers``. With gold annotation, pairs
        are asked about that have a gold row with the aspect. Without it all pairs of ``PPI`` are,
        and labels are None.
        """
        gold = self._gold(doc)
        candidates = []
        for index, pair in enumerate(self._ppi.candidates(doc)):
            gold_row = None if gold is None else gold.get(_pair_key(pair.spans))
            if gold is None or gold_row is not None:
                candidates += self.label_candidates(pair, f"q{index}", _gold_answer(gold_row, pair))
        return candidates

    def label_candidates(
        self, pair: Candidate, query: str, gold_answer: str | None = None
    ) -> list[Candidate]:
        """Return one candidate per answer for a pair, in the order of ``answers``.

        ``query`` identifies the pair within its document. The candidate of ``gold_answer`` gets the
        label 1, the others -1; all get None if it is None, that is unknown.
        """
        return [
            replace(
                pair,
                question=self.aspect,
                answer=answer,
                query=query,
                label=None if gold_answer is None else 1.0 if answer == gold_answer else -1.0,
            )
            for answer in self.answers
        ]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return the number of gold statements of the aspect without a candidate; 0 without gold.

        They are across sentences, or have an entity that no token covers or that is not paired.
        Several statements about one pair count once. ``candidates`` are those of
        ``self.candidates(doc)``.
        """
        reached = {_pair_key(candidate.spans) for candidate in candidates}
        return len((self._gold(doc) or {}).keys() - reached)

    def threshold(self, y: Vector, heldout: Vector) -> float:
        """Return the log-odds from which a pair is negated or speculated.

        It has the best mean F1 of both on held-out scores, the lowest of those that tie, of the
        probabilities ``STATUS_PROBABILITY_GRID``. Both are rare, so the best F1 lies below even
        odds. ``y`` (labels 1 or -1) and ``heldout`` (log-odds)
        have one entry per candidate, pair by pair. Other aspects do not use the threshold: 0.
        """
        if self.aspect != "status":
            return 0.0
        scores, labels = (a.reshape(-1, len(self.answers)) for a in (heldout, y))
        gold = labels.argmax(axis=1)
        thresholds = logit(STATUS_PROBABILITY_GRID)
        f_scores = [_mean_f_of_rare(choose_status(scores, t), gold) for t in thresholds]
        return float(thresholds[choose_first(f_scores)])

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Write one row per pair to ``doc._.textrank_ppi_statement`` and return the Doc.

        Rows are in text order and replace earlier ones. A row has ``spans``, ``probabilities`` by
        answer and, under the name of the aspect, the chosen answer. ``scored`` must hold the
        candidates of this Doc alone.
        """
        super().annotate(doc, scored)
        predicted, _ = _predicted_and_gold(scored, self)
        for row, answer in zip(doc._.textrank_ppi_statement, predicted, strict=True):
            row[self.aspect] = answer
        return doc

    def row(self, text: SourceText, question: AnsweredQuestion) -> dict[str, Any]:
        """Return the character offsets of both entities and the probability of each answer.

        Keys: ``spans``, [[start, end], [start, end]] in the original text, and ``probabilities``,
        by answer. ``text`` is not used.
        """
        spans = [list(original_offsets(span)) for span in question.candidates[0].spans]
        return {"spans": spans, "probabilities": question.probabilities(self.answers)}

    def choose_answers(self, scores: Matrix, threshold: float) -> Indices:
        """Return the index of each pair's answer, (pairs,), from log-odds (pairs, answers).

        For the status by ``choose_status`` with the threshold; otherwise the highest log-odds, the
        first of those that tie, and the threshold is ignored.
        """
        return choose_status(scores, threshold) if self.aspect == "status" else argmax_first(scores)

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Return accuracy and F1 of each answer; for types also accuracy of five coarse types.

        Keys: those of ``classification_metrics``, ``accuracy``, ``f_<answer>`` (None if the answer
        is neither predicted nor gold) and, for types, ``accuracy_five``. The answer is that of
        ``choose_answers``. Needs labelled candidates, at least one.
        """
        choice_metrics = super().measures(replace(scored, threshold=0.0))
        predicted, gold = _predicted_and_gold(scored, self)
        metrics = _f_by_answer(predicted, gold, self.answers)
        metrics["accuracy"] = float(np.mean(np.array(predicted) == np.array(gold)))
        if self.aspect == "type":
            coarse = [[COARSE_TYPES.get(a, a) for a in answers] for answers in (predicted, gold)]
            metrics["accuracy_five"] = float(np.mean(np.array(coarse[0]) == np.array(coarse[1])))
        return {**choice_metrics, **metrics}

    @property
    def _ppi(self) -> PPI:
        """Return the task that makes the pairs, with the same ``entities`` and ``labels``."""
        return PPI(self.entities, self.labels)

    def _gold(self, doc: Doc) -> dict[frozenset[str], Mapping[str, Any]] | None:
        """Return gold rows by pair of span ids, or None if the Doc has no gold annotation.

        Only rows with the aspect count; the last one wins if a pair has several. The answer is
        under the key ``asked``, relative to the order of ``row["entities"]``.
        """
        if "gold" not in doc.user_data:
            return None
        rows = [row for row in doc.user_data["gold"] if "entities" in row and self.aspect in row]
        return {frozenset(row["entities"]): {**row, "asked": row[self.aspect]} for row in rows}


def _gold_answer(row: Mapping[str, Any] | None, pair: Candidate) -> str | None:
    """Return the gold answer of a row, None without one.

    ``row`` is one of ``PPIStatement._gold``: its answer is under ``asked``. A direction that is
    relative to the order of ``row["entities"]`` is turned into text order, which is the order of
    ``pair.spans``.
    """
    if row is None:
        return None
    is_reversed = row["entities"][0] != pair.spans[0].id_
    answer = str(row["asked"])
    return REVERSED_DIRECTION.get(answer, answer) if is_reversed else answer


def choose_status(scores: Matrix, threshold: float) -> Indices:
    """Return the index of the status of each pair, (pairs,), from log-odds (pairs, STATUSES).

    The likelier of negated (1) and speculated (2) is chosen if it reaches the threshold, whatever
    the log-odds of asserted (0).

    >>> choose_status(np.array([[1.0, -0.6, -2.0], [2.0, -2.0, -1.9]]), -1.0).tolist()
    [1, 0]
    """
    best = 1 + argmax_first(scores[:, 1:])
    return np.where(scores[np.arange(len(scores)), best] >= threshold, best, 0)


def _mean_f_of_rare(predicted: Indices, gold: Indices) -> float:
    """Return the mean F1 of all statuses but the first, from status indices (pairs,).

    The F1 of a status that is neither predicted nor gold is 0.
    """
    f_scores = []
    for answer in range(1, len(STATUSES)):
        is_predicted, is_gold = predicted == answer, gold == answer
        f_scores.append(
            2 * (is_predicted & is_gold).sum() / max(is_predicted.sum() + is_gold.sum(), 1)
        )
    return float(np.mean(f_scores))


def _predicted_and_gold(scored: Scored, task: PPIStatement) -> tuple[list[str], list[str]]:
    """Return the predicted and the gold answer of each pair, in the order of the questions.

    Predicted is the answer of ``task.choose_answers`` at ``scored.limit``, gold the one with the
    highest label. Without labels the gold answer is the first one and means nothing. Empty lists
    without questions.
    """
    questions = list(group_by_question(scored))
    if not questions:
        return [], []
    scores = np.array([question.scores for question in questions])
    labels = np.array([[c.label or 0.0 for c in question.candidates] for question in questions])
    predicted, gold = task.choose_answers(scores, scored.limit), labels.argmax(axis=1)
    return [task.answers[i] for i in predicted], [task.answers[i] for i in gold]


def _f_by_answer(
    predicted: Sequence[str], gold: Sequence[str], answers: Sequence[str]
) -> dict[str, float | None]:
    """Return the F1 of each answer as ``f_<answer>``; None if it is neither predicted nor gold.

    ``predicted`` and ``gold`` have one answer per pair.
    """
    metrics: dict[str, float | None] = {}
    for answer in answers:
        is_predicted = np.array([g == answer for g in predicted])
        is_gold = np.array([r == answer for r in gold])
        total = int(is_predicted.sum() + is_gold.sum())
        metrics[f"f_{answer}"] = (
            2 * float((is_predicted & is_gold).sum()) / total if total else None
        )
    return metrics


def _pair_key(spans: Sequence[Span]) -> frozenset[str]:
    """Return the set of the span ids of a pair, which is the same in either order.

    Entities without an id cannot be told apart.
    """
    return frozenset(span.id_ for span in spans)


STATEMENT_PARSE: Parse = "own"  # of all features of statements


@dataclass(frozen=True, eq=False)
class LabelWeights:
    """Feature weights of all answers to the question of one submodel.

    d is the number of features. Scores of a pair with features x (d,) are ``x @ values + offsets``.
    Answers are in the order of ``LABELS``.
    """

    names: FeatureNames  # d names, without the answer
    values: Matrix  # (d, answers) weights
    offsets: Vector  # (answers,) constant terms
    threshold: float = 0.0  # log-odds from which a status other than asserted is chosen

    @classmethod
    def from_model(cls, model: Model, aspect: str) -> LabelWeights:
        """Split the weights of a per-question model by answer; ``aspect`` is a key of ``LABELS``.

        The first part of a feature name of such a model is the label key of its answer. A feature
        that an answer does not have gets weight 0. Offsets are the weights of the constant feature
        times ``kernel.constant``, 0 where there is none; a model without a threshold has 0. Raises
        ValueError if the kernel is not a per-question kernel with features.
        """
        kernel = model.pipeline.kernel
        if model.names is None or not isinstance(kernel, PerQuestionKernel):
            raise ValueError(
                f"the submodel of {aspect} has the kernel {type(kernel).__name__}, which has no "
                "weights per answer. Train it with the kernel blocks.v1 and a feature kernel."
            )
        words, answers = model.names.vocabulary, LABELS[aspect]
        column_of_key = {label_key(aspect, answer): column for column, answer in enumerate(answers)}
        column_of_word = np.array([column_of_key.get(word, -1) for word in words], dtype=np.intp)
        answer_column = column_of_word[model.names.parts[:, 0]]
        names, name_index = model.names.split_first_word()
        values = np.zeros((len(names), len(answers)))
        values[name_index, answer_column] = model.fit.coef
        is_constant = _is_constant(names)
        offsets = values[is_constant].sum(axis=0) * kernel.constant  # at most one row
        features = (~is_constant).nonzero()[0]
        return cls(names.take(features), values[features], offsets, model.threshold or 0.0)

    def scale_blocks(self, block_weights: Mapping[str, float]) -> LabelWeights:
        """Return weights for unweighted features; each is multiplied by the weight of its block.

        ``block_weights`` maps the name of a block, which is the first part of a feature name, to
        the factor its features had in training; blocks that are not listed have 1.
        """
        factors = np.array([block_weights.get(word, 1.0) for word in self.names.vocabulary])
        return replace(self, values=factors[self.names.parts[:, :1]] * self.values)


def _block_weights(name: str, model: Model) -> Mapping[str, float]:
    """Return the block weights of a submodel's representation.

    ``name`` is the aspect, for the message. Raises ValueError if the representation is not
    ``StatementViews``.
    """
    representation = model.pipeline.representation
    if not isinstance(representation, StatementViews):
        raise ValueError(
            f"the submodel of {name} has the representation {type(representation).__name__}. Train "
            "it with statement_views.v1, so that all submodels share one analysis of a pair."
        )
    return representation.weights


def _is_constant(names: FeatureNames) -> NDArray[np.bool_]:
    """Return a mask (names,) of the names that are the constant feature and nothing more.

    That is, CONSTANT_FEATURE as the first part, without further parts.
    """
    constant_words = [
        number for number, word in enumerate(names.vocabulary) if word == CONSTANT_FEATURE
    ]
    mask: NDArray[np.bool_] = np.isin(names.parts[:, 0], constant_words)
    candidates = mask.nonzero()[0]
    mask[candidates] = (names.parts[candidates, 1:] < 0).all(axis=1)
    return mask


@dataclass(frozen=True, eq=False)
class AttributeWeights:
    """Feature weights of all answers to all aspects in one table.

    Answers are those of all submodels, one submodel after the other. Facts about entities have two
    weights per answer: the left half of the columns is for the sum of both entities' facts (and for
    all other features), the right half for their difference.
    """

    names: FeatureNames
    values: Matrix  # (names + 1, 2 * answers); the last row, of unknown names, is 0

    @classmethod
    def from_label_weights(cls, weights: Sequence[LabelWeights]) -> AttributeWeights:
        """Join the weights of several submodels by feature name; constant terms are left out.

        Columns are in the order of ``weights``, once for sums and once for differences: features of
        the block "turned" fill the right half of the row of the same feature in "sides". A feature
        that a submodel lacks has weight 0.
        """
        names, column = FeatureNames.concat(
            [_merge_difference_names(w.names) for w in weights]
        ).unique()
        n_answers = sum(len(w.offsets) for w in weights)
        values = np.zeros((len(names) + 1, 2 * n_answers))
        row, first_column = 0, 0
        for label_weights in weights:
            n, answers = label_weights.values.shape
            columns = (
                first_column
                + n_answers * _is_difference(label_weights.names)[:, None]
                + np.arange(answers)
            )
            values[column[row : row + n, None], columns] = label_weights.values
            row, first_column = row + n, first_column + answers
        return cls(names, values)

    def sum_features(self, features: Features) -> Matrix:
        """Return features @ weights, (rows, 2 * answers); features with unknown names count 0.

        The right half of the columns only has a meaning for facts about entities.
        """
        return np.asarray(features.values @ self.values[self.names.find(features.names)])

    def pair_scores(self, sums: Matrix) -> Matrix:
        """Return the left half of the sums, which is for features of pairs, (rows, answers).

        ``sums`` is the result of ``sum_features``.
        """
        return sums[:, : sums.shape[1] // 2]

    def entity_scores(self, facts: EntityFacts, sums: Matrix) -> Matrix:
        """Return the scores of the facts about both entities, (pairs, answers).

        These are the scores of ``facts.sum`` and ``facts.difference``, each with rows of length
        one, without computing either. ``sums`` (rows, 2 * answers) is ``sum_features`` of
        ``facts.features`` with rows of length one. Facts must be 0/1.
        """
        size = lengths(facts.features.cells.indptr)
        entity_sums = (sums * np.sqrt(size)[:, None])[facts.rows].sum(axis=2)
        first, second = entity_sums[:, 0], entity_sums[:, 1]
        half = sums.shape[1] // 2
        sum_scale, difference_scale = (
            (1.0 / np.sqrt(np.maximum(norm, 1.0)))[:, None] for norm in facts.squared_norms()
        )
        return (
            sum_scale * (first + second)[:, :half] + difference_scale * (first - second)[:, half:]
        )


def _is_difference(names: FeatureNames) -> NDArray[np.bool_]:
    """Return a mask (names,) of the names of the block of differences.

    That is, of names whose first part is "turned".
    """
    return np.array([word == "turned" for word in names.vocabulary], dtype=bool)[names.parts[:, 0]]


def _merge_difference_names(names: FeatureNames) -> FeatureNames:
    """Return the names with the block ``turned`` renamed to ``sides``, so that both share a row.

    The number and order of names is kept, so names may repeat.
    """
    sum_number = len(names.vocabulary)
    parts = names.parts.copy()
    parts[_is_difference(names), 0] = sum_number
    return FeatureNames((*names.vocabulary, "sides"), parts)


@dataclass(frozen=True, eq=False)
class AttributeModels:
    """Predictor of status, type and direction of pairs, from the submodels of a PPI model.

    Implements ``protocols.AttributeModel``. ``weights`` are by aspect, ``blocks`` by name of the
    block.
    """

    weights: Mapping[str, LabelWeights]
    blocks: Mapping[str, FeatureExtractor]  # that at least one submodel uses

    @classmethod
    def from_models(cls, models: Mapping[str, Model]) -> AttributeModels:
        """Combine submodels by aspect ("status", "type", "direction"; not all need be there).

        Only blocks that a submodel weights are kept, and weights of features include that of their
        block. Raises ValueError if a representation is not ``StatementViews`` or a kernel has no
        weights per answer.
        """
        block_weights = {name: _block_weights(name, model) for name, model in models.items()}
        used_blocks = {
            block
            for weights_of_model in block_weights.values()
            for block, weight in weights_of_model.items()
            if weight
        }
        blocks: dict[str, FeatureExtractor] = {
            name: block for name, block in STATEMENT_BLOCKS.items() if name in used_blocks
        }
        if not used_blocks.isdisjoint(("sides", "turned")):
            blocks["sides"] = EntityFactExtractor()
        weights = {
            name: LabelWeights.from_model(model, name).scale_blocks(block_weights[name])
            for name, model in models.items()
        }
        return cls(weights, blocks)

    def predict(
        self, candidates: Sequence[Candidate], heads: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return status, type, direction (as far as there are submodels) and trigger of pairs.

        One row per candidate, in their order; no rows without candidates. ``trigger`` is a list of
        [start, end] character offsets, empty if there is none. ``heads`` is the leading definition
        of each pair, which its type must satisfy; None allows all types.
        """
        if not candidates:
            return []
        return self.predict_batch(analyze_pairs(candidates, STATEMENT_PARSE), heads)

    def represent_and_predict(
        self,
        representation: Representation[Any],
        candidates: Sequence[Candidate],
        leading_heads: Callable[[Sequence[Any]], Sequence[str]] | None = None,
    ) -> tuple[Sequence[Any], list[dict[str, Any]]]:
        """Return ``representation(candidates)`` and ``predict(candidates, heads)``.

        ``leading_heads`` returns the leading heads of represented candidates; None without heads.
        If the representation is ``PairViews`` with the parse STATEMENT_PARSE, pairs are analysed
        once for both.
        """
        if not isinstance(representation, PairViews) or representation.parse != STATEMENT_PARSE:
            X = representation(candidates)
            return X, self.predict(candidates, leading_heads(X) if leading_heads else None)
        pairs = analyze_pairs(candidates, STATEMENT_PARSE)
        # Blocks of both are extracted once.
        pairs.extract_jointly({**representation.blocks, **self.blocks})
        X = representation.represent_batch(pairs)
        return X, self.predict_batch(pairs, leading_heads(X) if leading_heads else None)

    def predict_batch(
        self, pairs: PairBatch, heads: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the attributes of pairs that were analysed with the parse STATEMENT_PARSE.

        One row per pair, in their order, with the aspects that have a submodel, and ``trigger``: a
        list of [start, end] character offsets in the original text, empty if there is none.
        ``heads`` is the leading definition of each pair, of ``RELATIONS``, which its type must
        satisfy; None allows all types.
        """
        thresholds = {name: weights.threshold for name, weights in self.weights.items()}
        scores = self.scores(pairs)
        if heads is not None and "type" in scores:
            scores["type"] = np.where(_allowed_types(heads), scores["type"], EXCLUDED_SCORE)
        answers = _choose_answers(scores, thresholds)
        triggers = _trigger_offsets(pair_trees(pairs), answers.get("type", [""] * len(pairs)))
        rows = zip(*answers.values(), triggers, strict=True)
        return [dict(zip((*answers, "trigger"), row, strict=True)) for row in rows]

    @cached_property
    def _attribute_weights(self) -> AttributeWeights:
        """Return the weights of all submodels in one table, aspects in the order of ``weights``.

        Computed once. Constant terms are not in it.
        """
        return AttributeWeights.from_label_weights(list(self.weights.values()))

    def scores(self, pairs: PairBatch) -> dict[str, Matrix]:
        """Return log-odds (pairs, answers) by aspect, answers in the order of ``LABELS``.

        Only aspects with a submodel are there. The pairs must have been analysed with
        STATEMENT_PARSE; this is not checked. Joint features that the pairs already have are reused.
        """
        joint, table = pairs.joint_features(self.blocks), self._attribute_weights
        sums = table.sum_features(joint.normalized.features)
        scores = table.pair_scores(sums[: len(pairs)])
        if (rows := joint.shared_rows.get("sides")) is not None:
            scores = scores + table.entity_scores(EntityFacts(joint.features, rows), sums)
        bounds = np.cumsum([len(weights.offsets) for weights in self.weights.values()])[:-1]
        parts = zip(self.weights.items(), np.split(scores, bounds, axis=1), strict=True)
        return {name: part + weights.offsets for (name, weights), part in parts}


EXCLUDED_SCORE = -1e3  # log-odds of a type that the leading definition excludes


def _allowed_types(heads: Sequence[str]) -> NDArray[np.bool_]:
    """Return whether the type of each column satisfies the definition of each row.

    The result is (pairs, types), types in the order of ``LABELS``. ``heads`` (pairs,) are names of
    ``RELATIONS``; another name raises KeyError.
    """
    allowed = {name: [RELATION_OF_TYPE[t] == name for t in LABELS["type"]] for name in RELATIONS}
    return np.array([allowed[name] for name in heads], dtype=bool).reshape(-1, len(LABELS["type"]))


# Indices of types and directions that go together: a binding has no direction, all else has one.
_COMPATIBLE = tuple(
    (i, j)
    for i, type_ in enumerate(LABELS["type"])
    for j, direction in enumerate(LABELS["direction"])
    if (type_ == "binding") == (direction == "none")
)


def _choose_answers(
    scores: Mapping[str, Matrix], thresholds: Mapping[str, float]
) -> dict[str, list[str]]:
    """Return the best answer of each pair by aspect, from log-odds (pairs, answers) by aspect.

    ``thresholds`` needs an entry for "status" only: the log-odds from which a pair is negated or
    speculated. If type and direction are both there, they are chosen together, by the largest
    product of probabilities, so that bindings, and only they, have the direction "none". The first
    of equal answers is chosen.
    """
    answer_index = {
        name: choose_status(values, thresholds[name]) if name == "status" else argmax_first(values)
        for name, values in scores.items()
    }
    if {"type", "direction"} <= set(scores):
        type_index, direction_index = np.array(_COMPATIBLE, dtype=np.intp).T
        log_p_type = _log_probabilities(scores["type"])[:, type_index]
        log_p_direction = _log_probabilities(scores["direction"])[:, direction_index]
        best = argmax_first(log_p_type + log_p_direction)
        answer_index |= {"type": type_index[best], "direction": direction_index[best]}
    return {
        name: [LABELS[name][i] for i in indices.tolist()] for name, indices in answer_index.items()
    }


def _log_probabilities(scores: Matrix) -> Matrix:
    """Return log(sigmoid(scores)): the log-probability of yes for each answer alone."""
    return np.asarray(-np.logaddexp(0.0, -scores))


def _trigger_offsets(trees: PairTrees, types: Sequence[str]) -> list[list[list[int]]]:
    """Return the character offsets of each pair's trigger, as [[start, end]] or [] without one.

    Offsets are in the original text. ``types`` is the event type of each pair, "" if it is unknown;
    a trigger of that type is preferred.
    """
    arrays = trees.arrays
    tokens = trees.best_trigger(arrays.lexicon.encode(types))
    offsets_of_token: dict[int, tuple[int, int]] = {}
    for token in set(tokens.tolist()) - {-1}:
        sentence_number = int(arrays.token_sentence[token])
        sentence = arrays.contexts[sentence_number].sentence
        position = sentence.start + token - int(arrays.sentence_starts[sentence_number])
        offsets_of_token[token] = original_offsets(sentence.doc[position : position + 1])
    return [[list(offsets_of_token[token])] if token >= 0 else [] for token in tokens.tolist()]
