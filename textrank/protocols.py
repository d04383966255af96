"""The roles that the parts of a pipeline play, as Protocols, all on one page.

A :class:`Pipeline` is a :class:`Task` (what is decided), a :class:`Representation` (what a kernel
sees of a candidate), a :class:`Kernel` (how similar two candidates are) and a :class:`Learner`
(how scores follow from similarities). Documents come from a :class:`Corpus`; a :class:`Splitter`
divides candidates into folds. Optional abilities of a role are Protocols of their own
(``FeatureKernel``, ``FastRepresentation``), which callers test with ``isinstance``.

Kernels, representations and learners need not inherit from their Protocol. A task should inherit
from ``Task``, which has defaults for everything that most tasks do not change.

This module imports nothing of textrank at run time, so that every other module may import it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Protocol,
    Self,
    TypeAlias,
    TypeGuard,
    TypeVar,
    runtime_checkable,
)

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from spacy.language import Language
    from spacy.tokens import Doc, Span

    from textrank.candidates import Candidate, DocumentContext, Targets
    from textrank.evaluation.splits import Split
    from textrank.features import Features, GramAlternatives, Indices, Matrix, Vector
    from textrank.learners.base import Fit, NestedScores, SelectionMetric
    from textrank.model import Model
    from textrank.tasks.base import Scored

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)

Explanation: TypeAlias = list[tuple[tuple[str, ...], float]]
"""Feature names of one candidate with what each adds to its score, largest magnitude first."""

Explain: TypeAlias = "Callable[[Sequence[Candidate]], list[Explanation]]"
"""Function that explains the scores of some of the candidates that were scored."""


# Kernels ------------------------------------------------------------------------------------------


@runtime_checkable
class Kernel(Protocol[T_contra]):
    """Positive semidefinite similarity of representations.

    Implementations are frozen dataclasses whose fields are settings: a kernel that is made of
    kernels holds them in its fields. ``textrank.testing.check_kernel`` tests the contract.
    """

    def __call__(self, X: Sequence[T_contra], Y: Sequence[T_contra] | None = None) -> Matrix:
        """Return the Gram matrix, shape ``(len(X), len(Y))``, float64.

        ``Y=None`` compares ``X`` with itself.
        """

    def diag(self, X: Sequence[T_contra]) -> Vector:
        """Return ``k(x, x)`` of each element, shape ``(len(X),)``, without the whole matrix."""


@runtime_checkable
class FeatureKernel(Kernel[T_contra], Protocol[T_contra]):
    """Kernel with an explicit sparse feature map ``F``, such that ``k(X, Y) = F(X) F(Y)'``.

    A kernel that is made of kernels has the method, but features only where all its parts have
    them: test with :func:`has_features`, not with ``isinstance``.
    """

    def features(self, X: Sequence[T_contra]) -> Features:
        """Return the feature vectors, one row per element.

        The columns are the features that occur in ``X``; their order depends on ``X`` alone.
        """


@runtime_checkable
class ScorerKernel(Kernel[T_contra], Protocol[T_contra]):
    """Kernel with features that can apply feature weights without building a feature matrix."""

    def compile_scorer(self, weights: Any) -> Any:
        """Return a ``Scorer`` for these ``FeatureWeights``, see ``textrank.linear_scores``.

        It is called with representations and the question id of each candidate, and returns
        ``LinearScores``, equal to those of weights applied to ``features``.
        """


@runtime_checkable
class ChoiceKernel(Kernel[T_contra], Protocol[T_contra]):
    """Kernel that leaves a setting open, for training to choose."""

    @property
    def alternatives(self) -> Sequence[Kernel[Any]]:
        """The kernels to choose from; fewer than two means that nothing is left open."""

    def gram_alternatives(self, X: Sequence[T_contra]) -> GramAlternatives:
        """Return the Gram matrices of all alternatives on ``X``, in the same order."""


@runtime_checkable
class NamedChoice(Kernel[T_contra], Protocol[T_contra]):
    """Kernel that stands for several, of which training chooses one, here or inside a kernel."""

    @property
    def choices(self) -> Mapping[str, Kernel[Any]]:
        """The kernels to choose from, by name; they may contain choices themselves."""


@runtime_checkable
class LearningKernel(Kernel[T_contra], Protocol[T_contra]):
    """Kernel that may have parts which are learnt from training inputs, without labels."""

    @property
    def learns(self) -> bool:
        """Whether a part is still to be learnt; if so, call ``learn`` before everything else."""

    def learn(self, X: Sequence[T_contra]) -> Kernel[T_contra]:
        """Return a copy of the kernel with all parts learnt from ``X``; its ``learns`` is False."""


@runtime_checkable
class IndexedKernel(Kernel[T_contra], Protocol[T_contra]):
    """Kernel that can index a fixed set, after which few candidates are compared faster."""

    def index(self, Y: Sequence[T_contra]) -> Callable[[Sequence[T_contra]], Matrix]:
        """Return a function equal to ``lambda X: self(X, Y)``."""


@runtime_checkable
class AdditiveKernel(Kernel[T_contra], Protocol[T_contra]):
    """Kernel without explicit features whose scores still split into named parts.

    How a score is divided is a convention of the kernel, such as a product by its factors.
    """

    def contributions(self, X: Sequence[T_contra], Y: Sequence[T_contra], coef: Vector) -> Features:
        """Return what each named part adds to ``self(X, Y) @ coef``; rows sum to it.

        One row per element of ``X``; ``coef`` has one entry per element of ``Y``.
        """


@runtime_checkable
class ScalingKernel(Kernel[T_contra], Protocol[T_contra]):
    """Kernel that scales some inputs down to be defined on them, and can count these."""

    def count_diverging(self, X: Sequence[T_contra]) -> int:
        """Return how many of the inputs are scaled down."""


def has_features(kernel: Kernel[T]) -> TypeGuard[FeatureKernel[T]]:
    """Return whether the kernel and every kernel it is made of have an explicit feature map."""
    return isinstance(kernel, FeatureKernel) and all(map(has_features, subkernels(kernel)))


def subkernels(kernel: Kernel[Any]) -> list[Kernel[Any]]:
    """Return the kernels among the fields of a kernel, also those in a mapping, list or tuple.

    Only one level deep; empty for a kernel that is not a dataclass.
    """
    parts: list[Kernel[Any]] = []
    names: list[str] = [setting.name for setting in fields(kernel)] if is_dataclass(kernel) else []
    for value in (getattr(kernel, name) for name in names):
        values = value.values() if isinstance(value, Mapping) else value
        several = values if isinstance(value, Mapping | list | tuple) else [value]
        parts += [part for part in several if isinstance(part, Kernel)]
    return parts


def _kernel_fields(kernel: Kernel[Any]) -> dict[str, dict[Any, Kernel[Any]]]:
    """Return the fields of a kernel that are or hold kernels, each as kernels by key or index.

    A field that is a kernel has the key None. Fields that hold anything else are left out.
    """
    names: list[str] = [f.name for f in fields(kernel) if f.init] if is_dataclass(kernel) else []
    kernels: dict[str, dict[Any, Kernel[Any]]] = {}
    for name in names:
        value = getattr(kernel, name)
        if isinstance(value, Kernel):
            kernels[name] = {None: value}
        elif isinstance(value, Mapping | list | tuple) and len(value):
            items = dict(value.items() if isinstance(value, Mapping) else enumerate(value))
            if all(isinstance(item, Kernel) for item in items.values()):
                kernels[name] = items
    return kernels


def _with_kernels(kernel: Any, parts: Mapping[str, Mapping[Any, Kernel[Any]]]) -> Any:
    """Return a copy of a kernel with other kernels in its fields.

    ``parts`` has the new kernels by field, then by key or index, None for a field that is a kernel
    (the form of ``_kernel_fields``). A field of several must be given completely. The kernel itself
    is returned if all parts are those that it has.
    """
    changes: dict[str, Any] = {}
    for name, items in parts.items():
        value = getattr(kernel, name)
        old = {None: value} if None in items else _kernel_fields(kernel)[name]
        if any(items[key] is not old[key] for key in items):
            new = items[None] if None in items else dict(items)
            changes[name] = list(items.values()) if isinstance(value, list | tuple) else new
    return replace(kernel, **changes) if changes else kernel


def learns_from_inputs(kernel: Kernel[Any]) -> bool:
    """Return whether a kernel, or a kernel inside it, has parts to be learnt from its inputs.

    A ``LearningKernel`` answers for itself and everything inside it.
    """
    if isinstance(kernel, LearningKernel):
        return kernel.learns
    return any(map(learns_from_inputs, subkernels(kernel)))


def learn_kernel(kernel: Kernel[Any], X: Sequence[Any]) -> Kernel[Any]:
    """Return a kernel with all parts learnt from the training inputs ``X``, without labels.

    Parts inside other kernels are learnt too. The kernel itself, not a copy, if it has nothing to
    learn; it is never changed.
    """
    if not learns_from_inputs(kernel):
        return kernel
    if isinstance(kernel, LearningKernel):
        return kernel.learn(X)
    parts = {
        name: {key: learn_kernel(part, X) for key, part in items.items()}
        for name, items in _kernel_fields(kernel).items()
    }
    learnt: Kernel[Any] = _with_kernels(kernel, parts)
    return learnt


def expand_choices(kernel: Kernel[Any]) -> dict[str, Kernel[Any]]:
    """Return every kernel that fixing the named choices in a kernel can give, by name, in order.

    A name joins the names of the choices, outermost first, with " + "; of kernels with equal names
    the last counts. Without a choice the result is the kernel alone, under the name "".
    """
    if isinstance(kernel, NamedChoice):
        return {
            " + ".join(filter(None, (name, inner))): choice
            for name, part in kernel.choices.items()
            for inner, choice in expand_choices(part).items()
        }
    ways: list[tuple[str, dict[str, dict[Any, Kernel[Any]]]]] = [("", {})]
    for name, items in _kernel_fields(kernel).items():
        for key, part in items.items():
            ways = [
                (
                    " + ".join(filter(None, (title, inner))),
                    {**parts, name: {**parts.get(name, {}), key: choice}},
                )
                for title, parts in ways
                for inner, choice in expand_choices(part).items()
            ]
    return {title: _with_kernels(kernel, parts) for title, parts in ways}


def count_diverging(kernel: Kernel[Any], X: Sequence[Any]) -> int:
    """Return how many inputs are scaled down by a kernel or by the kernels it is made of.

    An input counts once for every ``ScalingKernel`` that sees it; kernels inside such a kernel are
    left to it.
    """
    if isinstance(kernel, ScalingKernel):
        return kernel.count_diverging(X)
    return sum(count_diverging(part, X) for part in subkernels(kernel))


# Representations ----------------------------------------------------------------------------------


@runtime_checkable
class Representation(Protocol[T_co]):
    """Function from candidates to what a kernel compares; it never sees a label."""

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[T_co]:
        """Return one representation per candidate, in the same order.

        The representation of a candidate does not depend on the others in the call.
        """


@runtime_checkable
class FastRepresentation(Representation[T_co], Protocol[T_co]):
    """Representation of a candidate's spans alone, with a faster form for applying weights."""

    def represent_fast(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        """Return one representation per candidate, good enough to apply feature weights.

        A feature name may occur in several columns, as long as no candidate has two of them.
        """


def fast_represent(
    representation: Representation[Any], candidates: Sequence[Candidate]
) -> Sequence[Any]:
    """Represent candidates in the form that is fastest and suffices to apply feature weights.

    That is ``represent_fast`` if the representation has it, else the representation itself.
    """
    if isinstance(representation, FastRepresentation):
        return representation.represent_fast(candidates)
    return representation(candidates)


# Learners -----------------------------------------------------------------------------------------


class SecondStage(Protocol):
    """Function that revises scores with a look at all candidates of a text."""

    def __call__(self, context: DocumentContext, scores: Vector) -> Vector:
        """Return the revised scores, shape ``(n,)``; ``scores`` is left unchanged.

        ``context`` has the text, position and question of each of the n candidates.
        """


@runtime_checkable
class Learner(Protocol):
    """Settings of a learner; ``fit`` returns a new value and changes nothing."""

    @property
    def select(self) -> SelectionMetric:
        """Metric of held-out scores by which the regularisation ``alpha`` is chosen."""

    def fit(self, data: Matrix | Features, targets: Targets) -> Fit:
        """Learn from an ``(n, n)`` Gram matrix or from ``(n, d)`` features of n candidates.

        The fit has one coefficient per candidate for a Gram matrix, one per feature for features.
        Alpha is chosen by leave-group-out scores (``targets.groups``).
        """

    def nested(
        self, data: Matrix | Features, targets: Targets, partitions: Sequence[Indices]
    ) -> list[NestedScores]:
        """Return outer and inner held-out scores at every alpha for each division into folds.

        A partition is the fold number of each candidate, shape ``(n,)``; there is one result per
        partition, in order. Outer scores of a fold are by training without it, inner ones hold out
        each group of the remaining candidates in turn, to choose alpha without the test fold.
        """


# Tasks --------------------------------------------------------------------------------------------


class AttributeModel(Protocol):
    """Predictor of further attributes of a task's candidates, built from a model's submodels."""

    def predict(
        self, candidates: Sequence[Candidate], heads: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the attributes of each candidate as plain values by key, in the same order.

        ``heads`` is the leading head of each candidate, with which its attributes must agree; None
        for a model without heads.
        """

    def represent_and_predict(
        self,
        representation: Representation[Any],
        candidates: Sequence[Candidate],
        leading_heads: Callable[[Sequence[Any]], Sequence[str]] | None = None,
    ) -> tuple[Sequence[Any], list[dict[str, Any]]]:
        """Return ``representation(candidates)`` and ``predict(candidates, heads)``.

        ``leading_heads`` returns the heads of represented candidates; None without heads. Analysis
        that both need is done once.
        """


@runtime_checkable
class Task(Protocol):
    """Definition of what is decided about a Doc, and of how answers are shown and measured.

    Subclasses define ``name``, ``candidates`` and ``annotate``; everything else has a default.
    Tasks are frozen dataclasses whose fields are settings.
    """

    name: ClassVar[str]
    """Answers go to ``doc._.textrank_<name>``."""

    required_pipes: ClassVar[tuple[str, ...] | None] = None
    """spaCy components that candidates and representations need; None means all."""

    required_pipes_raw: ClassVar[tuple[str, ...]] = ()
    """Further components that raw text needs, such as a named-entity recogniser."""

    is_ranking: ClassVar[bool] = False
    """Whether candidates of a query are ranked, instead of answered with yes or no."""

    submodel_names: ClassVar[tuple[str, ...]] = ()
    """Names of the submodels, and of their subfolders, that a model of this task may have."""

    head_names: ClassVar[tuple[str, ...]] = ()
    """Names of the heads, in the order of ``Candidate.head_labels``; () if there is one answer."""

    fixed_settings: ClassVar[tuple[str, ...]] = ()
    """Fields that decide what is learnt, so that they cannot change after training."""

    min_spans_per_sentence: ClassVar[int] = 0
    """Entities that a sentence needs to have a candidate; 0 means that any sentence may."""

    row_per_candidate: ClassVar[bool] = False
    """Whether ``annotate`` writes one row per candidate, in order, with key ``score``."""

    has_answer_sets: ClassVar[bool] = False
    """Whether one of several candidates is right, so that ``mark_answer_sets`` can show sets."""

    raw_text_unit: ClassVar[Literal["pairs", "documents"] | None] = None
    """What is counted when a model is evaluated on raw text; None if that is not supported.

    ``"pairs"`` requires the methods of :class:`PairTask`, ``"documents"`` those of
    :class:`DocumentTask`.
    """

    exports: ClassVar[frozenset[str]] = frozenset()
    """What ``export`` can write, and ``"table"`` or ``"diff"`` for those methods."""

    table_columns: ClassVar[tuple[str, ...]] = ()
    """Headings of ``table_row``."""

    @property
    def span_group(self) -> str:
        """Key of ``doc.spans`` with the entities: the setting ``entities``, else "entities"."""
        return str(getattr(self, "entities", "entities"))

    def describe_decision(self, y: Vector, probabilities: Vector | None) -> dict[str, Any]:
        """Return in plain values how yes is decided, for users; {} if there is nothing to say.

        ``y`` are the labels of held-out training candidates and ``probabilities`` their
        probabilities, None for a model that is not calibrated.
        """
        return {}

    def choose_heads(self, names: Sequence[str]) -> Sequence[str]:
        """Return which of a model's heads count: the answer is yes if it is for one of them.

        ``names`` are those of the model's heads, () without heads. The default returns all.
        """
        return names

    @abstractmethod
    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return the decisions to make, with labels if the Doc has gold annotation.

        Empty if there is nothing to decide. The Doc is left unchanged.
        """

    def find_candidates(self, docs: Sequence[Doc]) -> list[list[Candidate]]:
        """Return the candidates of each Doc, in order; one list per Doc, maybe empty.

        Override this if several Docs are faster at once.
        """
        return [self.candidates(doc) for doc in docs]

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return how many gold answers no candidate covers; they count against recall.

        ``candidates`` are those of ``doc``. The default is 0.
        """
        return 0

    def threshold(self, y: Vector, heldout: Vector) -> float | None:
        """Return the score from which the answer is yes, chosen on held-out training scores.

        ``y`` are the labels and ``heldout`` the scores of the n training candidates, both ``(n,)``.
        None means that there is no such score. The default has the best F1; it is None if no label
        is above 0.
        """
        from textrank.metrics import best_threshold

        return best_threshold(y, heldout)

    def decide(
        self, scores: Vector, probabilities: Vector | None, threshold: float | None
    ) -> NDArray[np.bool_]:
        """Return the answer to each candidate, shape ``(n,)``.

        ``probabilities`` is None if the model is not calibrated, and in cross-validation. The
        default is yes from the threshold on; without a threshold every answer is no.
        """
        return scores >= (float("inf") if threshold is None else threshold)

    def operating_point(
        self,
        y: Vector,
        heldout: Vector,
        probabilities: Vector | None,
        threshold: float | None,
    ) -> tuple[Self, float | None]:
        """Return task and threshold of a trained model whose task settings were changed.

        ``y``, ``heldout`` and ``probabilities`` are labels, held-out scores and their calibrated
        probabilities of the training candidates; ``threshold`` is the model's. The default
        chooses the threshold again.
        """
        return self, self.threshold(y, heldout)

    @abstractmethod
    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Write the answers to ``doc._.textrank_<name>`` as plain values, and return the Doc.

        ``scored`` has all candidates of the Doc with their scores, maybe none.
        """

    def add_explanations(self, doc: Doc, candidates: Sequence[Candidate], explain: Explain) -> Doc:
        """Add reasons to the answers of an annotated Doc, and return it; none by default.

        ``explain`` accepts any of ``candidates``; one call for several is fastest.
        """
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Return the metrics of a test fold by name; an undefined one is None.

        ``scored`` has the candidates of the fold with labels and scores.
        """
        return scored.measures()

    def operating_metrics(
        self,
        y: Vector,
        probabilities: Vector,
        attributes: Sequence[Mapping[str, Any]],
        unreachable: int,
    ) -> dict[str, float | None]:
        """Return further metrics of a calibrated model, at the decisions that users see.

        ``y`` and ``probabilities`` are labels and probabilities of the candidates, ``unreachable``
        the number of gold answers without a candidate. ``attributes`` has one row per candidate, or
        none if the model has no submodels. The default has no metrics.
        """
        return {}

    def attribute_model(self, submodels: Mapping[str, Model]) -> AttributeModel | None:
        """Build the predictor of attributes from submodels; None if the task has none."""
        return None

    def assess_answers(
        self, y: Vector, scores: Vector, log_odds: Vector, queries: Indices
    ) -> tuple[Vector, NDArray[np.bool_], Indices]:
        """Return how confident each answer is, whether it is right, and its first candidate.

        ``y`` (labels, NaN if unknown), ``scores``, ``log_odds`` (the scores, calibrated if the
        model is) and ``queries`` have one entry per candidate; candidates of a query are adjacent.
        The results have one entry per answer, in the order of the rows of ``annotate``. By default
        the answers are yes for each candidate; ValueError if there is not one row per candidate.
        """
        if not self.row_per_candidate:
            raise ValueError(f"answers of task {self.name!r} have no guarantee.")
        return log_odds, y > 0, np.arange(len(y))

    def mark_answer_sets(self, doc: Doc, scored: Scored, is_in: NDArray[np.bool_]) -> None:
        """Write to the rows of an annotated Doc, in place, which answers are in their sets.

        ``scored`` has all candidates of the Doc, at least one, and ``is_in`` (n, 2) says of each
        whether it is in the set of its query, and whether the other answer is, which only a query
        with a single candidate has. The default raises ValueError: an answer of yes or no, or a
        score, has no set.
        """
        raise ValueError(f"answers of task {self.name!r} have no sets: they are not choices.")

    def at_probability(self, probability: float) -> Self:
        """Return the task that answers yes from a probability on; the default returns self."""
        return self

    def choices(self, candidate: Candidate) -> Sequence[str]:
        """Return the answers of a candidate's question; () if its answer is yes or no, or a rank.

        Of two answers, the candidate stands for the second.
        """
        return ()

    def describe_candidate(self, doc: Doc, index: int) -> str:
        """Return what a person must read to judge a candidate, besides its sentence; default: "".

        ``index`` is the position of the candidate in ``candidates(doc)``.
        """
        return ""

    def compare_candidates(self, doc: Doc, candidates: Mapping[int, Candidate]) -> list[list[str]]:
        """Return lines of text that tell candidates of one query apart, one list per candidate.

        A person reads them to choose the best. ``candidates`` are some of ``candidates(doc)``, by
        their position there. A candidate without lines cannot be chosen by a person. The default
        has the lines of ``describe_candidate``.
        """
        return [self.describe_candidate(doc, index).splitlines() for index in candidates]

    def choice_labels(self, candidates: Sequence[Candidate], chosen: int) -> Vector:
        """Return labels (n,) of n candidates of one query of which a person chose one as the best.

        ``chosen`` is its position. Labels are on the scale of gold labels, so that a ranker learns
        from both. The default is 1 for the chosen candidate and 0 for the others.
        """
        labels = np.zeros(len(candidates))
        labels[chosen] = 1.0
        return labels

    def correct_labels(self, doc: Doc, corrections: Mapping[int, str]) -> Doc:
        """Return a copy of a Doc with other gold labels.

        ``corrections`` has the right answer by the position of a candidate in ``candidates(doc)``
        (the first of its question): one of ``choices``, "yes" or "no", or for a ranking the label
        as a number. The default raises ValueError.
        """
        raise ValueError(
            f"corrected labels of task {self.name!r} cannot be written into documents. Export the "
            "decisions instead."
        )

    def with_parser(self, language: str) -> Self:
        """Return the task for another spaCy pipeline, by name or path, if it parses itself.

        The default, for tasks that load no pipeline, returns self.
        """
        return self

    def without_trust(self) -> Self:
        """Return the task for a model from a stranger: using it never loads what is not shipped.

        The default names nothing that could be loaded. What a user sets afterwards
        (``with_parser``, ``--set``) is trusted.
        """
        return self

    def check_export(self, kind: str, path: Path) -> None:
        """Raise ValueError if ``export`` could not write a file of this name; default: never."""
        return

    def export(self, kind: str, docs: Sequence[Doc], path: Path) -> None:
        """Write what annotated Docs say together to ``path``; ``kind`` is one of ``exports``.

        The default raises ValueError.
        """
        raise ValueError(f"task {self.name!r} cannot export {kind!r}")

    def table_row(self, answer: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return an answer as cells under ``table_columns``; None if it is not shown.

        ``answer`` is one entry of ``doc._.textrank_<name>``. The default raises ValueError.
        """
        raise ValueError(f"answers of task {self.name!r} have no table")

    def diff(self, doc: Doc) -> str:
        """Return the corrections of an annotated Doc as a unified diff; empty if there are none.

        The default raises ValueError.
        """
        raise ValueError(f"answers of task {self.name!r} are not corrections")


class PairTask(Task, Protocol):
    """Task about pairs of entities, which can be evaluated with recognised entities."""

    def names(self, doc: Doc) -> list[Span]:
        """Return the entities that are paired, in text order."""

    def interactions(self, doc: Doc) -> list[tuple[str, str]]:
        """Return the span ids of gold pairs, each sorted, whether or not a candidate has them."""


class DocumentTask(Task, Protocol):
    """Task whose answers are also measured per document, with recognised entities."""

    def document_metrics(
        self,
        candidates: Sequence[Candidate],
        scores: Vector,
        raw_docs: Sequence[Doc],
        gold_docs: Sequence[Doc],
    ) -> tuple[dict[str, float | None], int, int]:
        """Return metrics, the number of gold answers, and how many of them can be given.

        ``candidates`` are those of ``raw_docs``, in order, and ``scores`` has one entry each.
        ``raw_docs`` have recognised entities; ``gold_docs`` are the same documents, by
        ``document_id``, with gold annotation.
        """


# Data ---------------------------------------------------------------------------------------------


class Corpus(Protocol):
    """Reader that is bound to its files."""

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        """Yield the documents, analysed by ``nlp``."""


class Splitter(Protocol):
    """Rule that divides candidates into folds."""

    def split(self, candidates: Sequence[Candidate], targets: Targets) -> Split:
        """Return the folds: in ``Split.partitions`` the fold number of each candidate, in order.

        There is one partition per repetition. ``targets`` are those of the candidates.
        """
