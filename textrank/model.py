"""Model: a fitted pipeline, which scores new Docs and says why."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from confection import Config
from spacy.tokens import Doc

from textrank._ragged import slices
from textrank.candidates import (
    Candidate,
    DocumentCandidates,
    Neighbourhood,
    batches_of,
    document_id,
    portions,
    reading_once,
)
from textrank.config import config_of, load_block, versions
from textrank.explanation import Looked, Parts, ranked, relative, usual
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
from textrank.learners.calibration import PlattCalibration, fit_calibration
from textrank.learners.document_context import CONTEXT_FEATURE_NAMES, DocumentContextWeights
from textrank.linear_scores import FeatureWeights, LinearScores, compile_scorer
from textrank.metrics import auc, merge_ties
from textrank.progress import collected_later
from textrank.protocols import (
    AdditiveKernel,
    Explain,
    IndexedKernel,
    Task,
    fast_represent,
    has_features,
)
from textrank.tasks.base import Scored, candidates_of
from textrank.tasks.ppi.pairs import analyze_pairs
from textrank.tasks.ppi.statements import ANSWERS, PARSE, Aspects, state
from textrank.tasks.ppi.views import BLOCKS, PairViews

if TYPE_CHECKING:
    from textrank.pipeline import Pipeline

Failed: TypeAlias = Callable[[Doc, Exception], None] | None
FORMAT = 2  # rises when an older textrank could not read a new folder
READABLE = (1, FORMAT)  # 1 had no checksum of meta.json
MANY = 4096  # candidates for which a kernel prepared for training candidates is quicker
SOME = 100  # training candidates that an average is taken over


@dataclass(frozen=True, eq=False)
class Model:
    """What a pipeline learnt: a weight per named feature, or a coefficient per training candidate.

    With features it keeps no training text, and scores split exactly into features (``explain``).
    """

    pipeline: Pipeline
    fit: Fit
    support: Sequence[Any] | None  # the training representations; None where features serve
    names: FeatureNames | None  # of the feature weights
    threshold: float | None
    heldout: Vector  # leave-document-out scores of the training candidates
    labels: Vector  # and their answers: what thresholds and probabilities are made from
    meta: Mapping[str, Any] = field(default_factory=dict)
    # Models of further questions about the same candidates, in sub-folders of the same names.
    aspects: Mapping[str, Model] = field(default_factory=dict)
    average: Vector | None = None  # of the features, over training; 0 for those few have
    calibration: PlattCalibration | None = (
        None  # from scores to probabilities; None unless yes or no
    )

    @reading_once()
    def score(self, candidates: Sequence[Candidate]) -> Vector:  # (m,)
        """One score a candidate; above the threshold means yes.

        With a second stage over the document the other candidates of its text count too, whether
        or not they are among those given.
        """
        if not candidates:
            return np.empty(0)
        if self.fit.second_stage is None:
            return np.concatenate([self.scored(self._seen(p)) for p in portions(candidates)])
        around = DocumentCandidates.of(self.pipeline.task, candidates)
        return self.scored(self._seen(around.everyone), around.neighbourhood)[around.rows]

    def scored(self, X: Sequence[Any], neighbourhood: Neighbourhood | None = None) -> Vector:
        """Scores of what the representation gave; a second stage asks for the neighbourhood."""
        if self._weigh is not None:
            return self.fit.apply_second_stage(self._weigh(X).products, neighbourhood)
        few = len(X) <= MANY and isinstance(self.pipeline.kernel, IndexedKernel)
        compared = self._against(X) if few else self.pipeline.kernel(X, self.support)
        return self.fit.predict(compared, neighbourhood)

    def _seen(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        """What ``scored`` looks at."""
        represent = self.pipeline.representation
        return (
            represent(candidates) if self._weigh is None else fast_represent(represent, candidates)
        )

    @cached_property
    def _weigh(self) -> Callable[[Sequence[Any]], LinearScores] | None:
        """The weights laid out for scoring at the first call; None where there are no features."""
        kernel = self.pipeline.kernel
        if self.names is None or not has_features(kernel):
            return None
        weigh = compile_scorer(kernel, FeatureWeights.from_coef(self.names, self.fit.coef))
        return lambda X: weigh(
            X, np.zeros(count_rows(X), dtype=np.intp)
        )  # one question, or the kernel's

    @cached_property
    def _against(self) -> Callable[[Sequence[Any]], Matrix]:
        """The kernel against the training candidates, prepared at the first call."""
        kernel = cast(IndexedKernel[Any], self.pipeline.kernel)
        return kernel.index(self.support or ())

    def __call__(self, doc: Doc) -> Doc:
        """The Doc with its candidates judged."""
        return self._annotated([doc])[0]

    @collected_later()
    @reading_once()
    def _annotated(self, docs: Sequence[Doc]) -> list[Doc]:
        return list(self.annotate(docs))

    def annotate(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        """The Docs with their candidates judged, all compared at once."""
        task = self.pipeline.task
        found = candidates_of(task, docs)
        everyone = [candidate for own in found for candidate in own]
        scores, stated, why = self._answered(everyone)
        answers = iter(stated)
        likely = self.probability(scores) if everyone else None
        for doc, own, part in zip(docs, found, slices(map(len, found)), strict=True):
            sure = None if likely is None else likely[part]
            annotated = task.annotate(doc, Scored(own, scores[part], self.threshold, sure))
            if self._aspects:
                state(annotated, list(islice(answers, len(own))))
            because = own and self.names is not None
            yield task.justify(annotated, own, why) if because else annotated

    def _answered(
        self, candidates: Sequence[Candidate]
    ) -> tuple[Vector, list[dict[str, Any]], Explain]:
        """Scores, further answers, and what tells why; from one look at each where that serves."""
        if not candidates:
            return np.empty(0), [], self.explain_each
        if self._weigh is not None and self._aspects is None and self.fit.second_stage is None:
            looked = self._looked(candidates)
            return looked.scores, [], looked.explain
        views = self.pipeline.representation
        alike = isinstance(views, PairViews) and views.parse == PARSE
        if self._aspects is None or not alike or self.fit.second_stage is not None:
            asked = portions(candidates) if self._aspects else ()
            rows = [row for part in asked for row in self.stated(part)]
            return self.score(candidates), rows, self.explain_each
        scores, stated = [np.empty(0)], []
        for part in portions(candidates):
            pairs = analyze_pairs(part, PARSE)
            pairs.side_by_side({**BLOCKS, **self._aspects.blocks})  # what both see is met once
            scores.append(self.scored(cast(PairViews, views).of_batch(pairs)))
            stated += self._aspects.of_pairs(pairs)
        return np.concatenate(scores), stated, self.explain_each

    @cached_property
    def _aspects(self) -> Aspects | None:
        """What answers the further questions; None where there are none."""
        return Aspects.of(self.aspects) if self.aspects else None

    def stated(self, candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
        """Status, type, direction and trigger of each candidate; nothing where no model knows."""
        return self._aspects.answers(candidates) if self._aspects else []

    def probability(self, scores: Vector) -> Vector | None:
        """Return the probability of yes for each score; None where answers are not yes or no."""
        return None if self.calibration is None else np.asarray(self.calibration(scores))

    def pipe(
        self, docs: Iterable[Doc], *, batch_size: int | None = None, failed: Failed = None
    ) -> Iterator[Doc]:
        """The Docs judged, in batches; one that cannot be is told to ``failed``, or raises.

        Without a size a batch has about as many Docs as are quickest to judge at once.
        """
        for batch in batches_of(docs, batch_size):
            try:
                yield from self._annotated(batch)
            except Exception:
                yield from self._each(batch, failed)

    def _each(self, batch: Sequence[Doc], failed: Failed) -> Iterator[Doc]:
        """The Docs judged one by one, so that a bad one does not take its batch with it."""
        for doc in batch:
            try:
                annotated = self(doc)
            except Exception as error:
                error.add_note(f"This was document {document_id(doc)!r}.")
                if failed is None:
                    raise
                failed(doc, error)
                continue
            yield annotated

    def explain(self, candidate: Candidate) -> Parts:
        """The features of a candidate with what each adds to its score, largest first.

        The contributions sum to the score exactly: by themselves where the kernel has explicit
        features, else by the convention of the kernel's ``contributions``, where it has one.
        """
        return self.explain_each([candidate])[0]

    @reading_once()
    def explain_each(self, candidates: Sequence[Candidate]) -> list[Parts]:
        """``explain`` of each candidate; their texts are read once, not once a candidate."""
        if isinstance(self.fit.second_stage, DocumentContextWeights):
            return [
                self._explain_stage(self.fit.second_stage, candidate) for candidate in candidates
            ]
        return [parts for some in portions(candidates) for parts in ranked(self._added(some))]

    def _added(self, candidates: Sequence[Candidate]) -> Features:
        """What each named feature adds to the score of each candidate."""
        kernel = self.pipeline.kernel
        if self.support is not None and isinstance(kernel, AdditiveKernel):
            X = self.pipeline.representation(candidates)
            return kernel.contributions(X, self.support, self.fit.coef)
        return self._looked(candidates).added

    def _looked(self, candidates: Sequence[Candidate]) -> Looked:
        """Scores and reasons by one look; refused where scores are no sums over features."""
        if self.names is None or self._weigh is None:
            raise ValueError(
                f"{type(self.pipeline.kernel).__name__} has no explicit features, so its scores do "
                "not split into named parts. Use a pipeline whose kernel has features."
            )
        weighed = [self._weigh(self._seen(some)) for some in portions(candidates)]
        return Looked(candidates, weighed, self.names, self.fit.coef)

    def _explain_stage(self, stage: DocumentContextWeights, candidate: Candidate) -> Parts:
        """The numbers of a second stage; the score of the first among them in its own parts."""
        plain = replace(self, fit=replace(self.fit, second_stage=None))
        around = DocumentCandidates.of(self.pipeline.task, [candidate])
        scores, own = plain.score(around.everyone), int(around.rows[0])
        added = stage.parts(around.neighbourhood, scores)[own]
        share = added[0] / scores[own] if scores[own] else 0.0
        parts = [(name, share * value) for name, value in plain.explain(candidate)]
        names = [("document", name) for name in (*CONTEXT_FEATURE_NAMES[1:], "constant")]
        parts += [p for p in zip(names, added[1:].tolist(), strict=True) if p[1]]
        return sorted(parts, key=lambda part: -abs(part[1]))

    def explain_all(self, candidates: Sequence[Candidate]) -> list[Parts]:
        """What makes each candidate differ from the average one; largest first, sums exact.

        A feature of value ``x`` and average ``m`` adds ``w (x - m)``; what the average candidate
        scores, ``Σ w m``, stands last as ``("average candidate",)``. All come from one product.
        Where no averages are known, they count as 0. A kernel without features splits scores by
        its own convention; its average is that of training candidates, at most ``SOME`` of them.
        """
        if not candidates or self.fit.second_stage is not None:
            return self.explain_each(candidates)
        added = self._added(candidates)
        if self.names is None:
            both = Features.vstack([added, self._usual])
            return relative(both[:-1], both.values[[-1]].toarray()[0])
        known = np.zeros(len(self.names)) if self.average is None else self.average * self.fit.coef
        return relative(added, known)

    @cached_property
    def _usual(self) -> Features:
        """What features add to the score of an average training candidate, one row."""
        kernel = cast(AdditiveKernel[Any], self.pipeline.kernel)
        support = cast(Any, self.support)
        some = np.unique(np.linspace(0, len(support) - 1, SOME).astype(np.intp))
        return usual(kernel.contributions(take_rows(support, some), support, self.fit.coef))

    def adjusted(self, task: Task, threshold: float | None) -> Model:
        """The model with other settings of its task; its probabilities stay."""
        return replace(self, pipeline=replace(self.pipeline, task=task), threshold=threshold)

    def strongest(self, count: int) -> Model:
        """The model with only the ``count`` largest feature weights, to ship it small.

        Its scores differ a little from those the threshold was chosen on: measure before use.
        """
        if self.names is None:
            raise ValueError("only a model of feature weights can be cut down to its strongest.")
        keep = np.sort(np.argsort(-merge_ties(np.abs(self.fit.coef)), kind="stable")[:count])
        fit = replace(self.fit, coef=self.fit.coef[keep])
        average = None if self.average is None else self.average[keep]
        return replace(self, fit=fit, names=self.names.take(keep), average=average)

    def to_disk(self, path: str | Path) -> None:
        """Writes the model as a folder of cfg, JSON and arrays; whole or not at all."""
        with atomic_model_folder(path) as folder:
            Config({"pipeline": config_of(self.pipeline)}).to_disk(folder / "config.cfg")
            arrays: dict[str, Any] = {
                "coef": self.fit.coef,
                "alphas": np.array(self.fit.alphas),
                "heldout": self.heldout,
                "labels": self.labels,
            }
            if self.names is not None:
                keep = np.flatnonzero(self.fit.coef)  # a weight of zero adds nothing to any score
                arrays["coef"] = self.fit.coef[keep]
                names = self.names.take(keep).drop_unused_words()
                arrays |= {f"names/{key}": a for key, a in names.to_arrays().items()}
                if self.average is not None:
                    usual = np.flatnonzero(self.average[keep])
                    arrays["usual"] = usual.astype(np.int32)
                    arrays["average"] = self.average[keep][usual].astype(np.float32)
            else:
                arrays |= pack_arrays(self.support)
            if isinstance(self.fit.second_stage, DocumentContextWeights):
                arrays |= self.fit.second_stage.to_arrays()
            write_arrays(folder / "arrays.npz", arrays)
            write_manifest(folder, self._meta())
            for name, model in self.aspects.items():
                model.to_disk(folder / name)

    @classmethod
    def from_disk(cls, path: str | Path) -> Model:
        """The model that ``to_disk`` wrote; a missing or damaged file is named."""
        folder = Path(path)
        meta = verify_manifest(folder, needed=("config.cfg", "arrays.npz"))
        if meta.get("format") not in READABLE:
            raise ValueError(
                f"{folder}: model format {meta.get('format')!r:.20}, this textrank reads {FORMAT}. "
                "Install the version that wrote it, or train again."
            )
        try:
            return cls._of(folder, meta)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            if str(folder) in str(error):
                raise
            reason = str(error) if isinstance(error, ValueError) else repr(error)
            reason = f"{error} is missing" if isinstance(error, KeyError) else reason
            raise ValueError(f"{folder}: not a whole model ({reason:.300}). Restore it.") from error

    @classmethod
    def _of(cls, folder: Path, meta: Mapping[str, Any]) -> Model:
        pipeline = load_block(folder / "config.cfg", "pipeline")
        arrays = read_arrays(folder / "arrays.npz")
        named = {k.removeprefix("names/"): v for k, v in arrays.items() if k.startswith("names/")}
        names = FeatureNames.from_arrays(named) if named else None
        support = None if named else unpack_arrays(arrays)
        heldout = np.asarray(arrays["heldout"], dtype=np.float64)
        coef = np.asarray(arrays["coef"], dtype=np.float64)
        stage = DocumentContextWeights.from_arrays(arrays)
        alpha = number_of(meta, "alpha")  # held-out scores are kept of this one only
        fit = Fit((alpha,), alpha, coef, heldout[None, :], stage)
        labels = np.asarray(arrays["labels"], dtype=np.float64)
        there = [name for name in ANSWERS if (folder / name / META_FILE).is_file()]
        aspects = {name: cls.from_disk(folder / name) for name in there}
        threshold = None if meta["threshold"] is None else number_of(meta, "threshold")
        check_sizes(folder, coef, names, support, heldout, labels)
        model = cls(pipeline, fit, support, names, threshold, heldout, labels, meta, aspects)
        if "usual" in arrays:
            average = np.zeros(len(coef))
            average[arrays["usual"].astype(np.intp)] = arrays["average"]
            model = replace(model, average=average)
        if "calibration" not in meta:  # written before curves were saved
            return replace(model, calibration=fit_calibration(heldout, labels))
        saved = meta["calibration"]
        if saved is not None and saved.get("whole"):
            raise ValueError(
                f"{folder}: the calibration has the term whole = {saved['whole']:g}, which made "
                "probabilities depend on unrelated sentences and is no longer supported. Train the "
                "model again."
            )
        return replace(
            model, calibration=None if saved is None else PlattCalibration.from_dict(saved)
        )

    @property
    def quality(self) -> float | None:
        """AUC of the held-out scores of training; None where answers are not yes and no."""
        return auc(self.labels, self.heldout) if len(set(self.labels)) == 2 else None

    def _meta(self) -> dict[str, Any]:
        own = {
            "format": FORMAT,
            "task": self.pipeline.task.name,
            "alpha": self.fit.alpha,
            "threshold": self.threshold if math.isfinite(self.threshold or 0.0) else None,
            "candidates": len(self.labels),
            "positives": int((self.labels > 0).sum()),
            "heldout_auc": self.quality,
            "calibration": None if self.calibration is None else asdict(self.calibration),
            "versions": versions(),
        }
        return {**self.meta, **own}


def number_of(meta: Mapping[str, Any], key: str) -> float:
    """A finite number of a model's meta.json."""
    value = meta[key]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and abs(value) <= sys.float_info.max):  # also of 400 digits, or not a number
        raise ValueError(f"{key} {value!r:.40} in {META_FILE} is no finite number")
    return float(value)


def check_sizes(
    folder: Path,
    coef: Vector,
    names: FeatureNames | None,
    support: Sequence[Any] | None,
    heldout: Vector,
    labels: Vector,
) -> None:
    """A model whose parts do not fit together would score nonsense, or only fail when used."""
    expected = len(names) if names is not None else len(support or ())
    if coef.ndim == 0 or len(coef) != expected:
        raise ValueError(f"{folder}: {len(np.atleast_1d(coef))} weights for {expected} features")
    if heldout.shape != labels.shape or heldout.ndim != 1:
        raise ValueError(f"{folder}: {heldout.shape} held-out scores for {labels.shape} answers")
    if not (np.isfinite(coef).all() and np.isfinite(labels).all()):
        raise ValueError(f"{folder}: weights or answers that are no numbers")
