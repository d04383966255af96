"""Model: a fitted pipeline, which scores candidates, annotates Docs and explains its scores.

A model holds one weight per named feature if its kernel has explicit features, and otherwise one
coefficient per training candidate together with the representations of these (``support``). A
model with *heads* has one column of coefficients for each of several questions; its score is the
log-odds that the answer to one of them is yes.

On disk a model is a folder with ``config.cfg`` (the pipeline), ``arrays.npz``, ``meta.json`` (with
checksums of the other files) and one subfolder per submodel. An updatable model also has
``training.npz`` (``TrainingData``). It contains no pickled objects.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from spacy.tokens import Doc

from textrank._ragged import slices
from textrank.candidates import (
    Candidate,
    DocumentCandidates,
    DocumentContext,
    HeldoutReference,
    batch_docs,
    chunk_candidates,
    document_id,
)
from textrank.config import package_versions, resolve_block, write_model_config
from textrank.features import FeatureNames, Features, Matrix, Vector, count_rows, take_rows
from textrank.io import (
    META_FILE,
    atomic_model_folder,
    pack_arrays,
    read_arrays,
    unpack_arrays,
    verify_manifest,
    write_arrays,
    write_manifest,
)
from textrank.learners.base import Fit
from textrank.learners.calibration import Heads, PlattCalibration, fit_calibration
from textrank.learners.holdout import find_changes
from textrank.learners.meta import CONTEXT_FEATURE_NAMES, DocumentContextWeights
from textrank.linear_scores import (
    AVERAGE_NAME,
    FeatureWeights,
    LinearScores,
    ScoredBatch,
    compile_scorer,
    mean_row,
    rank_contributions,
    subtract_mean,
)
from textrank.metrics import auc, merge_ties
from textrank.progress import gc_disabled
from textrank.protocols import (
    AdditiveKernel,
    AttributeModel,
    Explain,
    Explanation,
    FeatureKernel,
    IndexedKernel,
    Task,
    fast_represent,
    has_features,
)
from textrank.tasks.base import Scored
from textrank.training_data import TRAINING_FILE, TrainingData

if TYPE_CHECKING:
    from textrank.pipeline import Pipeline
    from textrank.training_data import StoredInfluence

ErrorHandler: TypeAlias = Callable[[Doc, Exception], None]
Observer: TypeAlias = Callable[[Doc, Scored], None]
FORMAT_VERSION = 3  # increases when an older textrank could not read a new folder
READABLE_VERSIONS = (1, 2, FORMAT_VERSION)  # 1 had no checksum of meta.json, 2 had no heads
OTHER_HEADS_NAME = "other relations"  # name of what heads other than the leading one add
MAX_INDEXED_CANDIDATES = 4096  # above this the plain kernel is faster than an indexed one
MAX_MEAN_CANDIDATES = 100  # training candidates from which mean contributions are computed


@dataclass(frozen=True, eq=False)
class Influence:
    """Exact changes of m scores without each of g training documents."""

    documents: tuple[str, ...]  # (g,) ids; documents that share text are one, joined by " + "
    changes: Matrix  # (m, g) score without the document minus score; negative: it raised the score

    def rank(self, row: int) -> list[tuple[str, float]]:
        """Return documents and changes of one score, largest magnitude first.

        Changes whose magnitudes are equal up to round-off stay in the order of ``documents``.
        """
        order = np.argsort(-merge_ties(np.abs(self.changes[row])), kind="stable")
        return [(self.documents[k], float(self.changes[row, k])) for k in order]


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted pipeline: ``score`` candidates, annotate Docs with ``pipe``, ``explain`` scores.

    Exactly one of ``names`` and ``support`` is not None. With ``names`` the model keeps no
    training text, and each score is a sum over named features.
    """

    pipeline: Pipeline
    fit: Fit  # its coef has one entry per feature name, or one per element of support
    support: Sequence[Any] | None  # representations of training candidates
    names: FeatureNames | None  # names of the feature weights
    threshold: float | None  # score from which the answer is yes; None: not applicable
    heldout: Vector  # (n,) leave-group-out scores of the n training candidates
    labels: Vector  # (n,) their gold labels
    meta: Mapping[str, Any] = field(default_factory=dict)  # further entries of meta.json
    submodels: Mapping[str, Model] = field(default_factory=dict)  # see Task.submodel_names
    average: Vector | None = None  # mean training value of each feature; 0 for rare features
    calibration: PlattCalibration | None = None  # scores to probabilities; None: not yes or no
    heads: Heads | None = None  # of a model with several columns of coefficients
    training: TrainingData | None = None  # only of a model that was trained with ``updatable``
    reference: HeldoutReference | None = None  # documents of the held-out scores; None: not stored

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields for pickle and copy, without what was computed from them on first use.

        Functions that score and index are built again where they are needed.
        """
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # Scoring

    def score(self, candidates: Sequence[Candidate]) -> Vector:
        """Return one score per candidate, shape ``(len(candidates),)``; higher means yes.

        Scores are in the order of ``candidates``; labels are not used. If the model has a second
        stage, the other candidates of the same documents are taken into account, whether or not
        they are among ``candidates``; then ValueError is raised for one that the task does not find
        in its Doc.
        """
        if not candidates:
            return np.empty(0)
        if self.fit.second_stage is None:
            chunks = chunk_candidates(candidates)
            return np.concatenate([self.score_representations(self._represent(c)) for c in chunks])
        document = DocumentCandidates.from_candidates(self.pipeline.task, candidates)
        X = self._represent(document.all_candidates)
        return self.score_representations(X, document.context)[document.rows]

    def score_representations(
        self, X: Sequence[Any], context: DocumentContext | None = None
    ) -> Vector:
        """Return the scores of represented candidates, one per element of ``X``.

        ``X`` comes from the pipeline's representation or from ``_represent``. ``context`` has the
        texts and positions of the same candidates; only a model with a second stage needs it, and
        then ``X`` should hold all candidates of each document. The score of a model with heads is
        the log-odds that one of the heads that the task chooses is positive.
        """
        if self._scorer is not None:
            return self.fit.apply_second_stage(self._scorer(X).products, context)
        scores = self._raw_scores(X, context)
        return scores if self.heads is None else self.heads.combine(scores, self._chosen_heads)

    def _raw_scores(self, X: Sequence[Any], context: DocumentContext | None = None) -> Matrix:
        """Return kernel values times coefficients, (m,), or (m, h) for a model with heads.

        Only for a model with ``support``. ``context`` is needed if it has a second stage, whose
        result is then returned.
        """
        if len(X) <= MAX_INDEXED_CANDIDATES and isinstance(self.pipeline.kernel, IndexedKernel):
            return self.fit.predict(self._indexed_kernel(X), context)
        return self.fit.predict(self.pipeline.kernel(X, self.support), context)

    @property
    def _chosen_heads(self) -> Sequence[str]:
        """Names of the heads that count for the answer, as the task chooses."""
        return self.pipeline.task.choose_heads(() if self.heads is None else self.heads.names)

    def head_scores(self, candidates: Sequence[Candidate]) -> Matrix:
        """Return the raw scores (n, h) of the heads, in the order of ``heads.names``.

        A curated model has one more column of corrections. Raises ValueError without heads.
        """
        if self.heads is None:
            raise ValueError("this model has one score per candidate, not several heads.")
        if not candidates:
            return np.empty((0, self.fit.coef.shape[1]))
        chunks = chunk_candidates(candidates)
        return np.concatenate([self._raw_scores(self._represent(chunk)) for chunk in chunks])

    def probability(self, scores: Vector) -> Vector | None:
        """Return the probability of yes for each score, same shape.

        None if the model is not calibrated.
        """
        return None if self.calibration is None else np.asarray(self.calibration(scores))

    @property
    def selected_calibration(self) -> PlattCalibration | None:
        """Curve of scores for given names in selected sentences; None if the model has none.

        Sentences that were selected because they may state something have more positives than
        complete texts. The curve only chooses thresholds for corpora of such sentences
        (``evaluation.choose_threshold``); ``probability`` does not use it. It is the entry
        ``selected_calibration`` of ``meta``.
        """
        stored = self.meta.get("selected_calibration")
        return None if stored is None else PlattCalibration.from_dict(stored)

    def describe_decision(self) -> dict[str, Any]:
        """Return in plain values how the task decides yes, with its quality on held-out candidates.

        The keys depend on the task (``Task.describe_decision``); {} if it has nothing to say.
        """
        return self.pipeline.task.describe_decision(self.labels, self.probability(self.heldout))

    def attributes(self, candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
        """Return what the submodels say about each candidate, one dictionary of plain values each.

        The keys depend on the task; with heads, the leading head of each candidate is passed to the
        submodels. The list is empty if the model has no submodels.
        """
        if self._attribute_model is None:
            return []
        rows = []
        for chunk in chunk_candidates(candidates):
            heads = self._leading_heads(self.head_scores(chunk)) if self.heads else None
            rows += self._attribute_model.predict(chunk, heads)
        return rows

    def _leading_heads(self, scores: Matrix) -> list[str]:
        """Return the most probable of the chosen heads for each row of raw scores (m, h).

        The model must have heads.
        """
        return cast(Heads, self.heads).leading(scores, self._chosen_heads)

    def _represent(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        """Represent candidates in the fastest form that ``score_representations`` accepts.

        With feature weights this is ``represent_fast`` of the representation, if it has one.
        """
        representation = self.pipeline.representation
        if self._scorer is None:
            return representation(candidates)
        return fast_represent(representation, candidates)

    @cached_property
    def _scorer(self) -> Callable[[Sequence[Any]], LinearScores] | None:
        """Function that applies the feature weights to representations.

        None if the model has ``support`` instead of named weights.
        """
        kernel = self.pipeline.kernel
        if self.names is None or not has_features(kernel):
            return None
        score = compile_scorer(kernel, FeatureWeights.from_coef(self.names, self.fit.coef))
        # All candidates have question 0; a kernel with questions finds them in its view of X.
        return lambda X: score(X, np.zeros(count_rows(X), dtype=np.intp))

    @cached_property
    def _indexed_kernel(self) -> Callable[[Sequence[Any]], Matrix]:
        """Function from representations X to the kernel values (len(X), len(support)).

        Needs an ``IndexedKernel``; the support is indexed at first use.
        """
        kernel = cast(IndexedKernel[Any], self.pipeline.kernel)
        return kernel.index(self.support or ())

    @cached_property
    def _attribute_model(self) -> AttributeModel | None:
        """Predictor of attributes from the submodels; None if there are none."""
        return self.pipeline.task.attribute_model(self.submodels)

    # Annotating Docs

    def __call__(self, doc: Doc) -> Doc:
        """Write the answers to ``doc._.textrank_<task>`` and return the same Doc.

        Errors are raised, such as ValueError if the Doc lacks annotation that the task needs.
        """
        return self._annotate_batch([doc])[0]

    def pipe(
        self,
        docs: Iterable[Doc],
        *,
        batch_size: int | None = None,
        failed: ErrorHandler | None = None,
        observe: Observer | None = None,
    ) -> Iterator[Doc]:
        """Annotate a stream of Docs in batches and yield the same Docs, in order.

        If a batch raises, its Docs are annotated one by one, so that only bad ones fail.

        Parameters
        ----------
        docs
            Docs with the annotation that the task needs; they are changed in place.
        batch_size
            Docs per batch; None chooses batches by their number of tokens.
        failed
            Called with a Doc and its error; the Doc is then left out. None raises the error, with a
            note that names the document.
        observe
            Called with every annotated Doc and its scored candidates, before the Doc is yielded.
            An error that it raises counts as one of the Doc; then the Docs of the batch are
            annotated and observed again, one by one.
        """
        for batch in batch_docs(docs, batch_size):
            try:
                yield from self._annotate_batch(batch, observe)
            except Exception:
                yield from self._annotate_one_by_one(batch, failed, observe)

    def annotate(self, docs: Sequence[Doc], observe: Observer | None = None) -> Iterator[Doc]:
        """Annotate Docs in place as one batch and yield them in order.

        The candidates of all are scored together before the first Doc is yielded. Each Doc gets its
        answers, also one without candidates, and reasons if it has candidates, the model has named
        features and the task adds them. ``observe`` is called with each annotated Doc and its
        scored candidates, before it is yielded.
        """
        task = self.pipeline.task
        candidates = task.find_candidates(docs)
        all_candidates = [candidate for group in candidates for candidate in group]
        scores, heads, attributes, explain = self._score_with_attributes(all_candidates)
        probabilities = self.probability(scores) if all_candidates else None
        for doc, group, rows in zip(docs, candidates, slices(map(len, candidates)), strict=True):
            scored = Scored(
                group,
                scores[rows],
                self.threshold,
                None if probabilities is None else probabilities[rows],
                attributes=attributes[rows],
                heads={name: values[rows] for name, values in heads.items()},
            )
            annotated = task.annotate(doc, scored)
            if observe is not None:
                observe(annotated, scored)
            has_reasons = group and self.names is not None
            yield task.add_explanations(annotated, group, explain) if has_reasons else annotated

    @gc_disabled()
    def _annotate_batch(self, docs: Sequence[Doc], observe: Observer | None = None) -> list[Doc]:
        """Return ``annotate(docs)`` as a list, without garbage collection.

        ``observe`` is called only if all Docs could be annotated.
        """
        if observe is None:
            return list(self.annotate(docs))
        observed: list[tuple[Doc, Scored]] = []
        annotated = list(self.annotate(docs, lambda *pair: observed.append(pair)))
        for doc, scored in observed:
            observe(doc, scored)
        return annotated

    def _annotate_one_by_one(
        self, docs: Sequence[Doc], failed: ErrorHandler | None, observe: Observer | None
    ) -> Iterator[Doc]:
        """Annotate the Docs of a batch that raised, so that only the bad ones are left out.

        ``failed`` is called with a Doc and its error, which has a note that names the document;
        None raises it. ``observe`` is called with each annotated Doc and its scored candidates.
        """
        for doc in docs:
            try:
                (annotated,) = self._annotate_batch([doc], observe)
            except Exception as error:
                error.add_note(f"This was document {document_id(doc)!r}.")
                if failed is None:
                    raise
                failed(doc, error)
                continue
            yield annotated

    def _score_with_attributes(
        self, candidates: Sequence[Candidate]
    ) -> tuple[Vector, dict[str, Vector], list[dict[str, Any]], Explain]:
        """Return scores (n,), probabilities by head, attributes, and a function to explain them.

        Probabilities are (n,) by name of the head, an empty dict without heads or with a second
        stage. Attributes are one dict per candidate, an empty list without submodels.
        Representations are computed once for scores and attributes, unless there is a second stage.
        The function is ``explain_batch``, or one that reuses the computed scores where features are
        scored directly. Without candidates all results are empty.
        """
        if not candidates:
            return np.empty(0), {}, [], self.explain_batch
        if self.fit.second_stage is not None:
            return self.score(candidates), {}, self.attributes(candidates), self.explain_batch
        if self._attribute_model is None:
            if self._scorer is None:
                chunks = chunk_candidates(candidates)
                if self.heads is None:
                    return self.score(candidates), {}, [], self.explain_batch
                scores = [self._raw_scores(self._represent(chunk)) for chunk in chunks]
                return *self._combine_scores(scores), [], self.explain_batch
            batch = self._score_batch(candidates)
            return batch.scores, {}, [], batch.explain
        chunk_scores: list[Matrix] = []  # of each chunk, compared with the support once
        attributes: list[dict[str, Any]] = []

        def leading_heads(X: Sequence[Any]) -> list[str]:
            """Score represented candidates and return their leading heads."""
            chunk_scores.append(self._raw_scores(X))
            return self._leading_heads(chunk_scores[-1])

        for chunk in chunk_candidates(candidates):
            X, rows = self._attribute_model.represent_and_predict(
                self.pipeline.representation, chunk, leading_heads if self.heads else None
            )
            if self.heads is None:
                chunk_scores.append(self.score_representations(X))
            attributes += rows
        return *self._combine_scores(chunk_scores), attributes, self.explain_batch

    def _combine_scores(self, chunks: Sequence[Matrix]) -> tuple[Vector, dict[str, Vector]]:
        """Return scores (n,) and probabilities (n,) by head from the raw scores of chunks.

        Scores are the log-odds that one of the chosen heads is positive, corrections included;
        there are probabilities of all heads. Without heads the raw scores are the scores, and the
        second is empty. There must be at least one chunk.
        """
        raw = np.concatenate(chunks)
        if self.heads is None:
            return raw, {}
        probabilities = expit(self.heads.log_odds(raw))
        by_head = {name: probabilities[:, i] for i, name in enumerate(self.heads.names)}
        return self.heads.combine(raw, self._chosen_heads), by_head

    # Explanations

    def explain(self, candidate: Candidate) -> Explanation:
        """Return the named features of a candidate and what each adds, largest magnitude first.

        The values sum to the score. A kernel without explicit features divides the score by its
        own convention (``AdditiveKernel``); raises ValueError if it has none. With heads the parts
        are those of the most probable head; constants and what other heads add are entries of their
        own (``explain_head``).
        """
        return self.explain_batch([candidate])[0]

    def explain_head(
        self, candidates: Sequence[Candidate], head: str | None = None, *, relative: bool = False
    ) -> list[Explanation]:
        """Explain the log-odds of a head for each candidate, largest magnitude first.

        The log-odds of a head are ``(slope + above [s > 0]) s + shift`` with its raw score ``s``,
        so the parts of ``s`` add to them in proportion; ``shift`` is the entry
        ``("average candidate",)``. With ``head`` None the score of the model is explained: the
        parts are those of the leading head, and what other heads add is the entry
        ``("other relations",)``. ``relative`` explains the difference from the average candidate
        instead (``explain_relative``). Values sum to the log-odds that are explained. Raises
        ValueError if the model has no such head.
        """
        if self.heads is None:
            raise ValueError("this model has no heads. Use explain.")
        heads, scores = self.heads, self.head_scores(candidates)
        names = [head] * len(candidates) if head is not None else self._leading_heads(scores)
        log_odds = heads.log_odds(scores)
        totals = None if head is not None else heads.combine(scores, self._chosen_heads)
        groups: dict[tuple[str, bool], list[int]] = {}
        for row, name in enumerate(names):
            is_above = bool(scores[row, heads.columns([name])[0]] > 0)
            groups.setdefault((name, is_above), []).append(row)
        explanations: list[Explanation] = [[] for _ in candidates]
        for (name, is_above), rows in groups.items():
            (column,) = heads.columns([name])
            single = self._linear_head(column, is_above)
            shift = heads.calibrations[column].shift
            explain = single.explain_relative if relative else single.explain_batch
            for row, parts in zip(rows, explain([candidates[r] for r in rows]), strict=True):
                others = 0.0 if totals is None else float(totals[row] - log_odds[row, column])
                explanations[row] = _add_constants(parts, shift, others)
        return explanations

    def _linear_head(self, column: int, is_above: bool) -> Model:
        """Return a model of one head whose scores are its log-odds without the constant.

        ``is_above`` says that its raw scores are above zero, where the curve has another slope.
        Corrections of a curated model are included.
        """
        heads, coef = cast(Heads, self.heads), self.fit.coef
        curve = heads.calibrations[column]
        slope = curve.slope + (curve.above if is_above else 0.0)
        linear = slope * coef[:, column] + coef[:, len(heads.names) :].sum(axis=1)
        return replace(self, fit=replace(self.fit, coef=linear), heads=None)

    def explain_batch(self, candidates: Sequence[Candidate]) -> list[Explanation]:
        """Return ``explain`` of each candidate, in order; faster than one call each.

        Raises ValueError if the kernel can explain no scores.
        """
        if self.heads is not None:
            return self.explain_head(candidates)
        stage = self.fit.second_stage
        if isinstance(stage, DocumentContextWeights):
            return [self._explain_second_stage(stage, candidate) for candidate in candidates]
        chunks = chunk_candidates(candidates)
        return [e for chunk in chunks for e in rank_contributions(self._contributions(chunk))]

    def explain_relative(self, candidates: Sequence[Candidate]) -> list[Explanation]:
        """Return what distinguishes each candidate from the average one, largest first.

        A feature with value ``x``, weight ``w`` and mean ``m`` adds ``w (x - m)``. The score of the
        average candidate, ``Σ w m``, is the last entry, ``("average candidate",)``, so that the
        values sum to the score. Means are 0 if the model has none. For a kernel without features
        the mean is over the contributions of at most ``MAX_MEAN_CANDIDATES`` training candidates.
        With a second stage the result is that of ``explain_batch``.
        """
        if not candidates or self.fit.second_stage is not None:
            return self.explain_batch(candidates)
        if self.heads is not None:
            return self.explain_head(candidates, relative=True)
        contributions = self._contributions(candidates)
        if self.names is None:
            both = Features.vstack([contributions, self._mean_contributions])
            return subtract_mean(both[:-1], both.values[[-1]].toarray()[0])
        if self.average is None:
            return subtract_mean(contributions, np.zeros(len(self.names)))
        return subtract_mean(contributions, self.average * self.fit.coef)

    def _contributions(self, candidates: Sequence[Candidate]) -> Features:
        """Return what each named feature adds to the score of each candidate, one row each.

        Without the second stage. With named weights the columns are those of ``names``. Raises
        ValueError if the kernel can explain no scores.
        """
        kernel = self.pipeline.kernel
        if self.support is not None and isinstance(kernel, AdditiveKernel):
            X = self.pipeline.representation(candidates)
            return kernel.contributions(X, self.support, self.fit.coef)
        return self._score_batch(candidates).contributions

    def _score_batch(self, candidates: Sequence[Candidate]) -> ScoredBatch:
        """Score candidates such that scores can be explained, without the second stage.

        Raises ValueError if the model has no named feature weights.
        """
        if self.names is None or self._scorer is None:
            raise ValueError(
                f"scores cannot be explained: kernel {type(self.pipeline.kernel).__name__} has no "
                "explicit features. Use a pipeline whose kernel has features."
            )
        chunks = [self._scorer(self._represent(chunk)) for chunk in chunk_candidates(candidates)]
        return ScoredBatch(candidates, chunks, self.names, self.fit.coef)

    @cached_property
    def _mean_contributions(self) -> Features:
        """Mean contributions of training candidates, one row; only with ``support``.

        The mean is over up to MAX_MEAN_CANDIDATES candidates at equal distances in ``support``;
        parts that few of them have are dropped (``mean_row``).
        """
        kernel = cast(AdditiveKernel[Any], self.pipeline.kernel)
        support = cast(Any, self.support)
        rows = np.unique(np.linspace(0, len(support) - 1, MAX_MEAN_CANDIDATES).astype(np.intp))
        return mean_row(kernel.contributions(take_rows(support, rows), support, self.fit.coef))

    def _explain_second_stage(
        self, stage: DocumentContextWeights, candidate: Candidate
    ) -> Explanation:
        """Explain a score after the second stage.

        What the first-stage score adds is divided among the features of the first stage in
        proportion to what they add to that score; other entries are named
        ``("document", name)`` after ``CONTEXT_FEATURE_NAMES`` or "constant" and left out if 0.
        Sorted by magnitude, largest first; the values sum to the final score.
        """
        first_stage = replace(self, fit=replace(self.fit, second_stage=None))
        document = DocumentCandidates.from_candidates(self.pipeline.task, [candidate])
        scores, row = first_stage.score(document.all_candidates), int(document.rows[0])
        added = stage.parts(document.context, scores)[row]
        factor = added[0] / scores[row] if scores[row] else 0.0
        explanation = [(name, factor * value) for name, value in first_stage.explain(candidate)]
        names = [("document", name) for name in (*CONTEXT_FEATURE_NAMES[1:], "constant")]
        explanation += [entry for entry in zip(names, added[1:].tolist(), strict=True) if entry[1]]
        return sorted(explanation, key=lambda entry: -abs(entry[1]))

    def influence(
        self,
        candidates: Sequence[Candidate],
        docs: Sequence[Doc] | None = None,
        *,
        stored: StoredInfluence | None = None,
    ) -> Influence:
        """Return how the score of each candidate would change without each training document.

        The changes are exact: those of a model trained on the other documents, with the same alpha
        and, for a model with heads, the same calibration. A reduced basis loses the candidates of
        the document and is not drawn again.

        Parameters
        ----------
        candidates
            Candidates of any Docs; their labels are not used.
        docs
            The annotated Docs that the model was trained on, analysed as its task needs. None uses
            the training data that an updatable model keeps. Other Docs give the influence on a
            model of the same pipeline and alpha trained on them.
        stored
            Rounded changes from a file (``StoredInfluence.from_disk``), for a model that has
            ``support`` but keeps no training data; then ``docs`` must be None. The result has the
            error of the rounding.

        Raises
        ------
        ValueError
            If the learner has no closed form, the model has a second stage or was not trained with
            ``updatable`` (if ``docs`` is None), or there are too many candidates and documents; if
            ``stored`` is given with ``docs`` or for a model without ``support``.
        """
        pipeline = self.pipeline
        if stored is not None:
            if docs is not None:
                raise ValueError("the influence comes from docs or from a file, not from both.")
            if self.support is None:
                raise ValueError(
                    "stored influence needs the training candidates of the model, but this one "
                    "has weights of named features instead. Give docs, or train the model with "
                    "updatable=True."
                )
            represented = pipeline.representation(candidates)
            support = cast(Any, self.support)
            rounded = stored.of_scores(np.asarray(pipeline.kernel(represented, support)), self)
            if self.heads is None:
                return Influence(stored.documents, rounded[:, :, 0])
            scores = self.head_scores(candidates)
            return Influence(stored.documents, self._combine_changes(scores, rounded))
        if docs is not None:
            dataset = pipeline.prepare(docs)
            X, data, targets = dataset.X, dataset.data, dataset.targets
            names = [candidate.document for candidate in dataset.candidates]
        else:
            training = self.require_training("The influence of documents")
            X, targets, names = training.inputs, training.to_targets(), training.names
            data = X if self.names is not None else pipeline.compute_kernel(X)
        changes = None
        if self.fit.second_stage is None and (targets.heads is None) == (self.heads is None):
            changes = find_changes(pipeline.learner, data, targets, self.fit.alpha, names)
        if changes is None:
            raise ValueError(
                "the influence of documents is not available for "
                f"{type(pipeline.learner).__name__}, for models with a second stage, or for so "
                "many candidates. Train a pipeline with the learner rls.v1, reduced_rls.v1 or "
                "rankrls.v1."
            )
        represented = pipeline.representation(candidates)
        if isinstance(data, Features):
            kernel = cast(FeatureKernel[Any], pipeline.kernel)
            values: Any = kernel.features(represented).align_to(data.names)
        else:
            values = np.asarray(pipeline.kernel(represented, X))
        of_scores = changes.of_scores(values)
        if self.heads is not None:
            of_scores = self._combine_changes(self.head_scores(candidates), of_scores)
        return Influence(tuple(changes.documents), of_scores)

    def _combine_changes(self, scores: Matrix, changes: Matrix) -> Matrix:  # (m, g)
        """Return the changes (m, g) of combined scores for changes (m, g, h) of raw head scores.

        ``scores`` (m, h) are the raw scores; a last column of corrections stays as it is.
        """
        heads, chosen = cast(Heads, self.heads), self._chosen_heads
        before = heads.combine(scores, chosen)
        combined = np.empty(changes.shape[:2])
        for k in range(changes.shape[1]):
            after = scores.copy()
            after[:, : changes.shape[2]] += changes[:, k]
            combined[:, k] = heads.combine(after, chosen) - before
        return combined

    def require_training(self, use: str) -> TrainingData:
        """Return the stored training data; raise ValueError if there is none.

        ``use`` begins the message, such as "Forgetting".
        """
        if self.training is None:
            raise ValueError(
                f"{use} needs the training data of the model, which this one does not hold. Train "
                "it with textrank train --updatable, or in Python with fit(docs, updatable=True)."
            )
        return self.training

    # Variants

    def with_task(self, task: Task, threshold: float | None) -> Model:
        """Return a copy of the model with another task object and threshold.

        ``threshold`` is the score from which the answer is yes; None if not applicable. Weights and
        curves stay the same. If the task chooses other heads, held-out scores and labels follow.
        """
        model = replace(self, pipeline=replace(self.pipeline, task=task), threshold=threshold)
        if self.heads is None:
            return model
        chosen = model._chosen_heads
        heldout = self.heads.combine(self.heads.heldout, chosen)
        return replace(model, heldout=heldout, labels=self.heads.combine_labels(chosen))

    def prune(self, count: int) -> Model:
        """Return the model with only the ``count`` weights of largest magnitude.

        The order of features is kept; of magnitudes that are equal up to round-off the first are
        kept, and all if there are no more than ``count``. Scores change a little, while threshold,
        held-out scores and calibration stay: evaluate before use. The result holds no training
        data. Raises ValueError if the model has no feature weights.
        """
        if self.names is None:
            raise ValueError(
                "this model has no feature weights to prune. Use a pipeline whose kernel has "
                "features."
            )
        keep = np.sort(np.argsort(-merge_ties(np.abs(self.fit.coef)), kind="stable")[:count])
        fit = replace(self.fit, coef=self.fit.coef[keep])
        average = None if self.average is None else self.average[keep]
        names = self.names.take(keep)
        return replace(self, fit=fit, names=names, average=average, training=None)

    @property
    def heldout_auc(self) -> float | None:
        """AUC of the held-out training scores; None if there are not exactly two labels."""
        return auc(self.labels, self.heldout) if len(set(self.labels)) == 2 else None

    # Files

    def to_disk(self, path: str | Path) -> None:
        """Write the model to a folder, atomically; an existing model there is replaced.

        Feature weights of exactly zero are left out. The parent folder must exist. Raises
        ValueError if ``path`` is a file or a folder that holds something else than a model, or if a
        class of the pipeline is not registered.
        """
        with atomic_model_folder(path) as folder:
            write_model_config(self.pipeline, folder)
            write_arrays(folder / "arrays.npz", self._to_arrays())
            if self.training is not None:
                write_arrays(folder / TRAINING_FILE, self.training.to_arrays())
            write_manifest(folder, self._to_meta())
            for name, model in self.submodels.items():
                model.to_disk(folder / name)

    @classmethod
    def from_disk(cls, path: str | Path, *, trusted: bool = False) -> Model:
        """Read a model that ``to_disk`` wrote.

        Parameters
        ----------
        path
            Folder of the model.
        trusted
            Whether the model may name files and spaCy pipelines outside of its folder, and contain
            symbolic links. Loading a pipeline can run code. By default it may name shipped ones
            only, so that a model from a stranger can do nothing but compute.

        Raises
        ------
        ValueError
            With the name of the file, if a file is missing, damaged, or was written by a newer
            version, or if the model names what it may not.
        """
        return cls._from_disk(Path(path), trusted, submodel=False)

    @classmethod
    def _from_disk(cls, folder: Path, trusted: bool, *, submodel: bool) -> Model:
        """Read a model as ``from_disk`` does; a ``submodel`` must have no submodels itself.

        Checksums are verified before anything is built. ``trusted`` allows symbolic links, and
        files and spaCy pipelines outside of the folder. Raises ValueError that names the folder,
        also for an unreadable format version and for incomplete files.
        """
        needed = ("config.cfg", "arrays.npz")
        meta = verify_manifest(folder, needed=needed, follow_links=trusted)
        if meta.get("format") not in READABLE_VERSIONS:
            raise ValueError(
                f"{folder}: model format {meta.get('format')!r:.20}, but this textrank reads "
                f"{FORMAT_VERSION}. Install the version that wrote it, or train again."
            )
        try:
            return cls._from_folder(folder, meta, trusted, submodel=submodel)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            if str(folder) in str(error):
                raise
            reason = str(error) if isinstance(error, ValueError) else repr(error)
            reason = f"{error} is missing" if isinstance(error, KeyError) else reason
            raise ValueError(
                f"{folder}: not a complete model ({reason:.300}). Restore the folder from a copy, "
                "or train again."
            ) from error

    def _to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the contents of ``arrays.npz``: array by key.

        Always ``coef``, ``alphas``, ``heldout`` and ``labels``. With feature weights, nonzero ones
        only, their ``names/...`` and, if there are means, the nonzero ones in ``average`` with
        their indices among these weights in ``usual``; else the packed support candidates. Then, if
        any: the second stage, ``head_heldout`` and ``head_labels``, and the reference documents.
        """
        arrays: dict[str, Any] = {
            "coef": self.fit.coef,
            "alphas": np.array(self.fit.alphas),
            "heldout": self.heldout,
            "labels": self.labels,
        }
        if self.names is None:
            arrays |= pack_arrays(self.support)
        else:
            keep = np.flatnonzero(self.fit.coef)
            arrays["coef"] = self.fit.coef[keep]
            names = self.names.take(keep).drop_unused_words()
            arrays |= {f"names/{key}": array for key, array in names.to_arrays().items()}
            if self.average is not None:
                nonzero = np.flatnonzero(self.average[keep])
                arrays["usual"] = nonzero.astype(np.int32)
                arrays["average"] = self.average[keep][nonzero].astype(np.float32)
        if isinstance(self.fit.second_stage, DocumentContextWeights):
            arrays |= self.fit.second_stage.to_arrays()
        if self.heads is not None:
            arrays |= {"head_heldout": self.heads.heldout, "head_labels": self.heads.labels}
        if self.reference is not None:
            arrays |= self.reference.to_arrays()
        return arrays

    def _to_meta(self) -> dict[str, Any]:
        """Return the contents of ``meta.json`` without the checksums.

        They begin with ``self.meta``, whose entries of the same key are replaced: ``format``,
        ``task``, ``alpha``, ``threshold``, ``candidates``, ``positives``, ``heldout_auc``,
        ``calibration``, ``heads`` (if any) and ``versions``. A threshold that is not finite is
        written as None.
        """
        return {
            **self.meta,
            "format": FORMAT_VERSION,
            "task": self.pipeline.task.name,
            "alpha": self.fit.alpha,
            "threshold": self.threshold if math.isfinite(self.threshold or 0.0) else None,
            "candidates": len(self.labels),
            "positives": int((self.labels > 0).sum()),
            "heldout_auc": self.heldout_auc,
            "calibration": None if self.calibration is None else asdict(self.calibration),
            **({} if self.heads is None else {"heads": _heads_to_dict(self.heads)}),
            "versions": package_versions(),
        }

    @classmethod
    def _from_folder(
        cls, folder: Path, meta: Mapping[str, Any], trusted: bool, *, submodel: bool
    ) -> Model:
        """Build the model, with submodels, from files whose checksums were verified.

        ``meta`` is the content of ``meta.json``. Without ``trusted`` the task drops its trust too.
        Submodels without a folder are left out; those of a ``submodel`` are refused. The fit has
        one alpha, the chosen one, as held-out scores are stored for no other. Raises various errors
        on inconsistent files, which ``_from_disk`` turns into ValueError.
        """
        pipeline = resolve_block(folder / "config.cfg", "pipeline", trusted=trusted)
        if not trusted:
            pipeline = replace(pipeline, task=pipeline.task.without_trust())
        arrays = read_arrays(folder / "arrays.npz")
        name_arrays = {
            key.removeprefix("names/"): array
            for key, array in arrays.items()
            if key.startswith("names/")
        }
        names = FeatureNames.from_arrays(name_arrays) if name_arrays else None
        support = None if name_arrays else unpack_arrays(arrays)
        heldout = np.asarray(arrays["heldout"], dtype=np.float64)
        labels = np.asarray(arrays["labels"], dtype=np.float64)
        coef = np.asarray(arrays["coef"], dtype=np.float64)
        _check_sizes(folder, coef, names, support, heldout, labels)
        heads = _read_heads(folder, meta, arrays, coef)
        training = None
        if TRAINING_FILE in meta["files"]:
            training = TrainingData.from_arrays(read_arrays(folder / TRAINING_FILE))
        alpha = _read_finite(meta, "alpha")  # held-out scores are stored for this alpha only
        stage = DocumentContextWeights.from_arrays(arrays)
        present = [n for n in pipeline.task.submodel_names if (folder / n / META_FILE).is_file()]
        if present and submodel:
            raise ValueError(f"{folder / present[0]}: a submodel has no submodels. Remove it.")
        submodels = {
            name: cls._from_disk(folder / name, trusted, submodel=True) for name in present
        }
        return cls(
            pipeline,
            Fit((alpha,), alpha, coef, heldout[None, :], stage),
            support,
            names,
            None if meta["threshold"] is None else _read_finite(meta, "threshold"),
            heldout,
            labels,
            meta,
            submodels,
            average=_read_average(arrays, len(coef)),
            calibration=_read_calibration(folder, meta, heldout, labels),
            heads=heads,
            training=training,
            reference=HeldoutReference.from_arrays(arrays, len(heldout)),
        )


def _add_constants(parts: Explanation, shift: float, others: float) -> Explanation:
    """Return parts with a constant added to the average candidate, and with what other heads add.

    ``shift`` is the constant; the average candidate is last, and added if ``parts`` has none.
    ``others`` becomes an entry ``OTHER_HEADS_NAME`` unless it is 0. Entries but the last are sorted
    by magnitude, largest first.
    """
    average = shift + sum(value for name, value in parts if name == (AVERAGE_NAME,))
    rest = [entry for entry in parts if entry[0] != (AVERAGE_NAME,)]
    rest += [((OTHER_HEADS_NAME,), others)] if others else []
    return [*sorted(rest, key=lambda entry: -abs(entry[1])), ((AVERAGE_NAME,), average)]


def _heads_to_dict(heads: Heads) -> dict[str, Any]:
    """Return the parameters of each head's calibration by its name, in order, for ``meta.json``."""
    pairs = zip(heads.names, heads.calibrations, strict=True)
    return {name: asdict(curve) for name, curve in pairs}


def _read_heads(
    folder: Path, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], coef: Matrix
) -> Heads | None:
    """Return the stored heads; None for a model with one column of coefficients and none stored.

    Names and curves are those of ``meta["heads"]``, in its order, scores and labels those of the
    arrays ``head_heldout`` and ``head_labels``. Raises ValueError if there are not as many columns
    as heads (or one more, of corrections), or these arrays do not have one column per head.
    """
    stored: Mapping[str, Any] = meta.get("heads") or {}
    columns = coef.shape[1] if coef.ndim == 2 else 1
    heldout, labels = (arrays.get(f"head_{key}", np.empty((0, 0))) for key in ("heldout", "labels"))
    if not stored and columns == 1:
        return None
    shape = (len(heldout), len(stored))
    if columns - len(stored) not in (0, 1) or not heldout.shape == labels.shape == shape:
        raise ValueError(
            f"{folder}: {columns} columns of weights and held-out scores {heldout.shape} for "
            f"{len(stored)} heads"
        )
    curves = tuple(PlattCalibration.from_dict(curve) for curve in stored.values())
    return Heads(tuple(stored), curves, np.asarray(heldout), np.asarray(labels))


def _read_finite(meta: Mapping[str, Any], key: str) -> float:
    """Return ``meta[key]`` as a float; ValueError unless it is a finite number (no bool)."""
    value = meta[key]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and abs(value) <= sys.float_info.max):  # also integers of 400 digits
        raise ValueError(f"{key} {value!r:.40} in {META_FILE} is not a finite number")
    return float(value)


def _read_average(arrays: Mapping[str, NDArray[Any]], size: int) -> Vector | None:
    """Return the mean value of each of ``size`` features, (size,); None if none were stored.

    ``arrays["usual"]`` has the indices of the nonzero means, ``arrays["average"]`` their values.
    """
    if "usual" not in arrays:
        return None
    average = np.zeros(size)
    average[arrays["usual"].astype(np.intp)] = arrays["average"]
    return average


def _read_calibration(
    folder: Path, meta: Mapping[str, Any], heldout: Vector, labels: Vector
) -> PlattCalibration | None:
    """Return the stored calibration; None if the model was stored as not calibrated.

    Old models without an entry are calibrated on their held-out scores. Raises ValueError for a
    calibration whose term ``whole`` is not 0: it is no longer supported.
    """
    if "calibration" not in meta:
        return fit_calibration(heldout, labels)
    stored = meta["calibration"]
    if stored is not None and stored.get("whole"):
        raise ValueError(
            f"{folder}: the calibration has the term whole = {stored['whole']:g}, which made "
            "probabilities depend on unrelated sentences and is no longer supported. Train the "
            "model again."
        )
    return None if stored is None else PlattCalibration.from_dict(stored)


def _check_sizes(
    folder: Path,
    coef: Vector,
    names: FeatureNames | None,
    support: Sequence[Any] | None,
    heldout: Vector,
    labels: Vector,
) -> None:
    """Raise ValueError if arrays of a model do not fit together or are not finite.

    ``coef`` needs one entry per name, or per element of ``support`` if ``names`` is None, and
    ``heldout`` one per label. Held-out scores may be NaN.
    """
    expected = len(names) if names is not None else len(support or ())
    if coef.ndim == 0 or len(coef) != expected:
        raise ValueError(f"{folder}: {len(np.atleast_1d(coef))} weights for {expected} features")
    if heldout.shape != labels.shape or heldout.ndim != 1:
        raise ValueError(f"{folder}: {heldout.shape} held-out scores for {labels.shape} labels")
    if not (np.isfinite(coef).all() and np.isfinite(labels).all()):
        raise ValueError(f"{folder}: weights or labels that are not finite numbers")
