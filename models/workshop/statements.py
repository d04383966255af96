"""Training of the submodels of ``models/ppi``: status, type and direction of statements.

Every answer has a weighted least-squares model on the features of ``StatementViews``. Beside its
files, a source of the recipe has a ``weight`` of its pairs, and optionally ``answers``: the answers
that its annotation tells apart, so that the models of other answers do not see it. With
``source_constants`` in the recipe, every source has a constant of its own in training, because
corpora differ in how often they have an answer; a new text gets none of them. Sources with
``calibrate`` turn held-out scores of documents into log-odds.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from workshop.abstract_statements import read_abstract_statements
from workshop.recipes import PROJECT, Recipe, load_recipe, read_source

from textrank.candidates import Candidate, dedup_groups, label_key, text_keys
from textrank.config import load_pipeline
from textrank.features import CONSTANT_FEATURE, FeatureNames, Features, Indices, Matrix, Vector
from textrank.formats.base import Mention, Record, build_docs
from textrank.language import load_nlp
from textrank.learners.base import Fit
from textrank.learners.calibration import fit_calibration
from textrank.learners.meta import fit_log_odds_scale, round_to_bits
from textrank.model import Model
from textrank.tasks.ppi.statements import PPIStatement
from textrank.tasks.ppi.views import StatementViews

N_FOLDS = 5  # of documents, for held-out scores
N_STEPS = 40  # of conjugate gradients
MIN_POSITIVES = 20  # among the calibrating pairs, to calibrate an answer by them alone
SIGNS = {"activation": "activation", "repression": "inhibition", "undefined": "regulation"}


def read_signed_regulation(path: Path, nlp: Language) -> Iterator[Doc]:
    """Read ExTRI2: one Doc per sentence, with its names and the sign of each pair.

    A pair has ``type``, ``direction`` (from factor to target) and no status. Sentences of an
    abstract share an ``origin``. Rows whose two names are the same span are left out.
    """
    rows_by_sentence: dict[tuple[str, str], list[dict[str, Any]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            abstract = row["id"].partition(":")[0]
            rows_by_sentence.setdefault((abstract, row["text"]), []).append(row)

    def make_record(item: tuple[int, tuple[tuple[str, str], list[dict[str, Any]]]]) -> Record:
        """Return the record of a numbered sentence with its rows."""
        number, ((abstract, text), rows) = item
        ids: dict[tuple[int, int], str] = {}
        gold = []
        for row in rows:
            ends = [tuple(row[role]) for role in ("factor", "target")]
            names = [ids.setdefault(end, f"T{len(ids) + 1}") for end in ends]
            if names[0] != names[1]:
                type_ = SIGNS[row["sign"]]
                answers = {"type": type_, "direction": "a>b"}
                gold.append({"entities": names, "label": True, **answers})
        mentions = [Mention(name, "protein", (span,)) for span, name in ids.items()]
        document = f"{abstract}-{number}"
        return Record(document, text, document, mentions, gold, data={"origin": abstract})

    items = list(enumerate(rows_by_sentence.items()))
    return build_docs(
        items, make_record, nlp, path=str(path), cut=True, skip_bad=True, item_filter=None
    )


@dataclass(frozen=True, eq=False)
class StatementPairs:
    """Pairs of all sources with their features and gold answers to one aspect, n in all."""

    task: PPIStatement
    features: Features  # (n, d)
    answer: NDArray[np.str_]  # (n,)
    source: NDArray[np.str_]  # (n,)
    group: NDArray[np.str_]  # (n,) documents that are held out together
    keys: Sequence[frozenset[tuple[str, str]]]  # of the text of each pair's document
    settings: Mapping[str, Mapping[str, Any]]  # of each source in the recipe

    @cached_property
    def weights(self) -> Matrix:
        """Weight of each pair in the model of each answer, (n, answers)."""
        table = np.zeros((len(self.source), len(self.task.answers)))
        for name, source in self.settings.items():
            is_annotated = np.isin(self.task.answers, source.get("answers", self.task.answers))
            table[self.source == name] = source.get("weight", 1.0) * is_annotated
        return table

    @cached_property
    def labels(self) -> Matrix:
        """1 for the gold answer, -1 for all others, (n, answers)."""
        return np.where(self.answer[:, None] == np.array(self.task.answers), 1.0, -1.0)

    @cached_property
    def calibrates(self) -> NDArray[np.bool_]:
        """Whether each pair is from a source that calibrates, (n,)."""
        names = [name for name, source in self.settings.items() if source.get("calibrate")]
        return np.isin(self.source, names)

    def shares_text_with(self, source: str) -> NDArray[np.bool_]:
        """Return whether each pair's document has a sentence or the origin of one of ``source``."""
        of_source = {
            key
            for keys, name in zip(self.keys, self.source, strict=True)
            if name == source
            for key in keys
        }
        return np.array([not keys.isdisjoint(of_source) for keys in self.keys], dtype=bool)


def read_pairs(recipe: Recipe, data: Path, sources: Sequence[str] = ()) -> StatementPairs:
    """Read the pairs of the given sources of a recipe with their features; () reads all sources."""
    pipeline = load_pipeline(recipe.pipeline_path)
    task, representation = pipeline.task, pipeline.representation
    assert isinstance(task, PPIStatement)
    assert isinstance(representation, StatementViews)
    nlp = load_nlp(only=task.required_pipes)
    parts: list[Features] = []
    answers, names, groups, keys = [], [], [], []
    for name in sources or recipe.sources:
        source = recipe.sources[name]
        if source["reader"] == "signed_regulation":
            docs = list(read_signed_regulation(data / source["data"], nlp))
        elif source["reader"] == "abstract_statements":
            labels, texts = PROJECT / source["project"], data / source["texts"]
            docs = list(read_abstract_statements(labels, texts, nlp))
        else:
            docs = list(read_source(recipe, name, data)(nlp))
        pairs: list[Candidate] = []
        for doc, group in zip(docs, dedup_groups(docs), strict=True):
            gold = [c for c in task.candidates(doc) if c.label == 1.0]
            pairs += gold
            answers += [c.answer for c in gold]
            groups += [f"{name}:{group}"] * len(gold)
            keys += [frozenset(text_keys(doc))] * len(gold)
        names += [name] * len(pairs)
        parts.append(representation.represent_pairs(pairs))
    settings = {name: recipe.sources[name] for name in sources or recipe.sources}
    return StatementPairs(
        task,
        Features.vstack(parts),
        np.array(answers),
        np.array(names),
        np.array(groups),
        keys,
        settings,
    )


@dataclass(frozen=True, eq=False)
class AnswerModels:
    """Linear models of all answers: scores are ``X @ coef + offset``."""

    coef: Matrix  # (d, answers)
    offset: Vector  # (answers,)

    def __call__(self, X: sp.csr_array) -> Matrix:
        """Return the scores (rows, answers)."""
        return np.asarray(X @ self.coef + self.offset)


def fit_answers(pairs: StatementPairs, rows: Indices, recipe: Recipe) -> AnswerModels:
    """Fit weighted least squares with an L2 penalty to these pairs, one model per answer.

    Features that fewer than ``minimum`` of the pairs have get the weight 0. The constant of all
    pairs has the value 0.5, those of sources have the value ``source_constants`` (0: none).
    """
    X = pairs.features.values[rows].tocsr()
    counts = np.bincount(X.indices, minlength=X.shape[1])
    kept = np.flatnonzero(counts >= recipe.settings["minimum"])
    value = recipe.settings.get("source_constants", 0.0)
    _, source = np.unique(pairs.source[rows], return_inverse=True)
    constants = np.zeros((len(rows), source.max() + 2))
    constants[:, 0] = 0.5
    constants[np.arange(len(rows)), 1 + source] = value
    Z = sp.hstack([X[:, kept], sp.csr_array(constants)]).tocsr()
    solution = solve_ridge(Z, pairs.labels[rows], pairs.weights[rows], recipe.settings["alpha"])
    coef = np.zeros((X.shape[1], solution.shape[1]))
    coef[kept] = solution[: len(kept)]
    return AnswerModels(coef, 0.5 * solution[len(kept)])


def solve_ridge(X: sp.csr_array, Y: Matrix, weights: Matrix, alpha: float) -> Matrix:
    """Return the W (d, k) that minimises Σ weights (Y - XW)² + alpha |W|², column by column.

    ``weights`` and ``Y`` are (n, k). Conjugate gradients, N_STEPS steps of all columns at once.
    """
    transposed = X.T.tocsr()
    residual = np.asarray(transposed @ (weights * Y))
    solution, direction = np.zeros_like(residual), residual.copy()
    squared = (residual**2).sum(axis=0)
    for _ in range(N_STEPS):
        product = transposed @ (weights * (X @ direction)) + alpha * direction
        step = squared / np.maximum((direction * product).sum(axis=0), 1e-300)
        solution += step * direction
        residual -= step * product
        previous, squared = squared, (residual**2).sum(axis=0)
        direction = residual + squared / np.maximum(previous, 1e-300) * direction
    return solution


def assign_folds(pairs: StatementPairs, seed: int = 0) -> Indices:
    """Return the fold (n,) of each pair; groups are not split, nor are texts that groups share."""
    names, number = np.unique(pairs.group, return_inverse=True)
    folds = np.random.default_rng(seed).permutation(len(names)) % N_FOLDS
    return folds[number]


def calibrate(
    pairs: StatementPairs, rows: Indices, recipe: Recipe, seed: int = 0
) -> tuple[Matrix, Matrix]:
    """Return held-out log-odds (rows, answers), and slope and offset of each answer (2, answers).

    Scores are those of models that were trained on the other folds of ``rows``. The curve of an
    answer is fitted to the calibrating sources, or to all that it is trained on if they have fewer
    than MIN_POSITIVES pairs with this answer.
    """
    folds = assign_folds(pairs, seed)[rows]
    heldout = np.zeros((len(rows), len(pairs.task.answers)))
    for fold in range(N_FOLDS):
        models = fit_answers(pairs, rows[folds != fold], recipe)
        heldout[folds == fold] = models(pairs.features.values[rows[folds == fold]].tocsr())
    scales = np.zeros((2, heldout.shape[1]))
    for column in range(heldout.shape[1]):
        y = pairs.labels[rows, column]
        used = pairs.calibrates[rows] & (pairs.weights[rows, column] > 0)
        if (y[used] > 0).sum() < MIN_POSITIVES:
            used = pairs.weights[rows, column] > 0
        scales[:, column] = fit_log_odds_scale(heldout[used, column], y[used])
    return heldout * scales[0] + scales[1], scales


def choose_threshold(pairs: StatementPairs, rows: Indices, heldout: Matrix) -> float:
    """Return the threshold of the task from the held-out log-odds (rows, answers).

    Only the pairs of calibrating sources count; see ``PPIStatement.threshold``.
    """
    used = pairs.calibrates[rows]
    return pairs.task.threshold(pairs.labels[rows][used].ravel(), heldout[used].ravel())


def train(recipe: Recipe, data: Path) -> Model:
    """Return the submodel of a recipe, trained on all its sources."""
    pairs = read_pairs(recipe, data)
    rows = np.arange(len(pairs.source))
    heldout, scales = calibrate(pairs, rows, recipe)
    models = fit_answers(pairs, rows, recipe)
    coef = round_to_bits(models.coef * scales[0], recipe.settings["bits"])
    offset = models.offset * scales[0] + scales[1]
    names, weights = _name_weights(pairs, coef, offset)
    used = pairs.calibrates
    scores, labels = heldout[used].ravel(), pairs.labels[used].ravel()
    pipeline = load_pipeline(recipe.pipeline_path)
    alpha = recipe.settings["alpha"]
    model = Model(
        pipeline,
        Fit((alpha,), alpha, weights, scores[None]),
        None,
        names,
        choose_threshold(pairs, rows, heldout),
        scores,
        labels,
        meta={"corpus": recipe.folder.parent.name, "licence": recipe.licence},
        calibration=fit_calibration(scores, labels),
    )
    return model if recipe.keep is None else model.prune(recipe.keep)


def _name_weights(
    pairs: StatementPairs, coef: Matrix, offset: Vector
) -> tuple[FeatureNames, Vector]:
    """Return names and weights of a per-question model: per answer, a constant and the features.

    The constant feature has the value 0.5, as in the kernel of the submodels.
    """
    used = np.flatnonzero(coef.any(axis=1))
    names = pairs.features.names.take(used).prepend(CONSTANT_FEATURE)
    keys = [label_key(pairs.task.aspect, answer) for answer in pairs.task.answers]
    first_part = len(names.vocabulary) + np.repeat(np.arange(len(keys)), len(names))
    parts = np.column_stack([first_part, np.tile(names.parts, (len(keys), 1))]).astype(np.int32)
    values = [np.append(offset[i] / 0.5, coef[used, i]) for i in range(len(keys))]
    return FeatureNames((*names.vocabulary, *keys), parts), np.concatenate(values)


def main(folder: Path) -> None:
    """Train the submodel of the recipe in ``folder``; arguments of the command: DATA and OUT."""
    data, out = map(Path, sys.argv[1:3])
    model = train(load_recipe(folder), data)
    with tempfile.TemporaryDirectory() as temporary:
        model.to_disk(Path(temporary) / "model")
        out.mkdir(parents=True, exist_ok=True)
        for file in (Path(temporary) / "model").iterdir():
            shutil.copy2(file, out / file.name)
