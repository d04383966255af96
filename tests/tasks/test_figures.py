"""The figures of docs/experiments for names and spelling, on the research corpora.

``pytest -m corpus -s tests/tasks/test_figures.py`` prints them; an hour on a busy core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.tasks.research_texts import brown_docs, brown_lexicon, reuters_docs
from textrank.candidates import Candidate, DocumentContext, Targets, dedup_groups
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation.splits import make_folds
from textrank.features import Features
from textrank.kernels.algebra import Linear, Normalized
from textrank.kernels.sequences import Positional
from textrank.learners.meta import document_context_features
from textrank.linalg import solve_krylov_path
from textrank.metrics import auc
from textrank.pipeline import Dataset
from textrank.representations.collocations import Collocations, write_lexicon
from textrank.representations.contexts import WordPositions
from textrank.representations.mentions import Mention
from textrank.representations.transformations import Sided, Weighting
from textrank.tasks.base import Scored
from textrank.tasks.senses import GeneProtein

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


@dataclass(frozen=True, eq=False)
class Names:
    """The names of the validation half, seen in several ways."""

    candidates: list[Candidate]
    y: np.ndarray
    documents: list[str]
    ambiguous: list[str]  # spellings that the whole corpus, this half or the other, has as both
    blocks: dict[str, Features]

    def features(self, **weights: float) -> Features:
        return Features.hstack({k: self.blocks[k].scale(w**0.5) for k, w in weights.items()})


@pytest.fixture(scope="module")
def names(data: Path) -> Names:
    """Half of the abstracts at random; the other half is for choosing parameters."""
    docs = list(load_corpus(data / "jnlpba" / "train.jsonl.gz")(spacy.blank("en")))
    groups = dedup_groups(docs)
    half = make_folds(groups, 2, seed=0)
    task = GeneProtein()
    chosen = [(d, g) for d, g, h in zip(docs, groups, half, strict=True) if h == 1]
    found = [(c, group) for doc, group in chosen for c in task.candidates(doc)]
    kinds: dict[str, set[float | None]] = {}
    for c in (c for doc in docs for c in task.candidates(doc)):
        kinds.setdefault(c.spans[0].text.lower(), set()).add(c.label)
    both = [text for text, own in kinds.items() if len(own) > 1]
    candidates = [c for c, _ in found]
    contexts = WordPositions(stop_words="en")(candidates)
    sided = Weighting(1.5, 0.05, of=Sided(0.5))
    near = Collocations()(candidates)
    often = np.flatnonzero(np.bincount(near.values.indices, minlength=len(near.names)) >= 2)
    near = Features(near.values[:, often], near.names.take(often))
    blocks = {
        "published": Normalized(Positional(Weighting(1.5, 0.025)), "zero").features(contexts),
        "words": Normalized(Positional(sided), "zero").features(contexts),
        "near": Normalized(Linear(), "zero").features(near),
        "mention": Normalized(Linear()).features(Mention()(candidates)),
    }
    y = np.array([c.label for c in candidates])
    return Names(candidates, y, [group for _, group in found], both, blocks)


def five_by_two(names: Names, F: Features, alpha: float) -> list[np.ndarray]:
    """Test scores of both halves in five divisions by abstract, NaN nowhere."""
    runs = []
    for seed in range(5):
        folds = make_folds(names.documents, 2, seed)
        scores = np.empty(len(names.y))
        for fold in (0, 1):
            out = folds == fold
            scores[out] = scored(names, F, alpha, ~out, out)
        runs.append(scores)
    return runs


def scored(
    names: Names, F: Features, alpha: float, rest: np.ndarray, out: np.ndarray
) -> np.ndarray:
    """Scores of some names by a model of others; labels are centred on those."""
    y, X = names.y[rest], F.values
    w = solve_krylov_path(X[rest], y - y.mean(), np.array([alpha]), tolerance=1e-3)[0]
    return np.asarray(X[out] @ w)


def second_stage(names: Names, F: Features, alpha: float, learner: Any) -> list[np.ndarray]:
    """As ``five_by_two``, then a learner on what the other names of the abstract score.

    It trains on scores of abstracts left out in three inner folds of the training half.
    """
    runs = []
    for seed in range(5):
        folds = make_folds(names.documents, 2, seed)
        inner = make_folds(names.documents, 3, seed + 100)
        final = np.empty(len(names.y))
        for fold in (0, 1):
            out, first = folds == fold, np.empty(len(names.y))
            first[out] = scored(names, F, alpha, ~out, out)
            for part in range(3):
                own = ~out & (inner == part)
                first[own] = scored(names, F, alpha, ~out & ~own, own)
            Z = document_context_features(DocumentContext.from_candidates(names.candidates), first)
            fitted = clone(learner).fit(Z[~out], names.y[~out])
            final[out] = fitted.predict_proba(Z[out])[:, 1]
        runs.append(final)
    return runs


def mean_auc(names: Names, runs: Sequence[np.ndarray], which: str = "all") -> np.ndarray:
    """AUC of the ten folds, over all names, those unseen in training, or ambiguous ones."""
    texts = np.array([c.spans[0].text.lower() for c in names.candidates])
    found = []
    for seed, scores in enumerate(runs):
        folds = make_folds(names.documents, 2, seed)
        for fold in (0, 1):
            out = folds == fold
            if which == "unseen":
                out = out & ~np.isin(texts, texts[folds != fold])
            if which == "ambiguous":
                out = out & np.isin(texts, names.ambiguous)
            found.append(auc(names.y[out], scores[out]))
    return np.array(found)


def told(what: str, values: np.ndarray) -> float:
    print(f"{what:<44} {100 * values.mean():6.2f} ±{100 * values.std():.2f}")  # noqa: T201
    return float(values.mean())


def test_published_scheme_for_names(names):
    runs = five_by_two(names, names.features(published=1.0), alpha=8.0)
    assert told("published scheme", mean_auc(names, runs)) >= 0.855


def test_best_context_only_kernel_for_names(names):
    runs = five_by_two(names, names.features(words=1.0, near=1.0), alpha=4.0)
    told("words + near, unseen names", mean_auc(names, runs, "unseen"))
    told("words + near, ambiguous names", mean_auc(names, runs, "ambiguous"))
    assert told("words + near", mean_auc(names, runs)) >= 0.895


def test_names_with_the_mention(names):
    runs = five_by_two(names, names.features(words=0.5, near=0.5, mention=2.0), alpha=2.0)
    whole = told("with the mention", mean_auc(names, runs))
    unseen = told("with the mention, unseen names", mean_auc(names, runs, "unseen"))
    ambiguous = told("with the mention, ambiguous names", mean_auc(names, runs, "ambiguous"))
    assert whole >= 0.98
    assert unseen >= 0.97
    assert ambiguous >= 0.91


def test_second_stage_over_the_abstract(names):
    F = names.features(words=1.0, near=1.0)
    trees = HistGradientBoostingClassifier(
        max_iter=80, learning_rate=0.08, max_leaf_nodes=12, min_samples_leaf=60, random_state=0
    )
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    told("second stage, logistic", mean_auc(names, second_stage(names, F, 4.0, linear)))
    runs = second_stage(names, F, 4.0, trees)
    assert told("second stage, boosted trees", mean_auc(names, runs)) >= 0.915


def test_second_stage_as_a_pipeline(names):
    """The same by the shipped cfg: features seen twice in training, log-odds, nested folds."""
    pipeline = load_pipeline(
        "gene_protein-document",
        {"learner.learner.learner.alphas": [4.0], "learner.learner.learner.folds": 3},
    )
    candidates = [
        replace(c, group=group) for c, group in zip(names.candidates, names.documents, strict=True)
    ]
    X = pipeline.representation(candidates)
    data, targets = pipeline.compute_kernel(X), Targets.from_candidates(candidates)
    partitions = [make_folds(names.documents, 2, seed) for seed in range(5)]
    runs = [n.outer[0] for n in pipeline.learner.nested(data, targets, partitions)]
    first = [n.outer[0] for n in pipeline.learner.learner.nested(data, targets, partitions)]
    told("pipeline, first stage", mean_auc(names, first))
    assert told("pipeline, second stage", mean_auc(names, runs)) >= 0.915


def prepared_brown(data: Path, folder: Path, pipeline: str) -> Dataset:
    """The candidates of Brown, with its own lexicon of tags."""
    lexicon = folder / "brown.tsv.gz"
    write_lexicon(brown_lexicon(data / "text" / "brown.zip"), lexicon)
    keys = (
        "representation.representations.near.tags.lexicon",
        "kernel.kernel.kernels.tags.kernel.kernel.words.tags",
    )
    return load_pipeline(pipeline, dict.fromkeys(keys, str(lexicon))).prepare(
        list(brown_docs(data / "text" / "brown.zip"))
    )


@pytest.fixture(scope="module")
def brown(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return prepared_brown(data, tmp_path_factory.mktemp("brown"), "spelling")


def tested(seen: Dataset, out: np.ndarray) -> dict[str, float | None]:
    """Measures on some candidates by a model of the others, everything chosen on those."""
    pipeline = load_pipeline("spelling", {"task.precision": 0.995, "task.error_rate": 0.5})
    rest = np.flatnonzero(~out)
    fit = pipeline.learner.fit(seen.data.rows(rest), seen.targets.take(rest))
    limit = pipeline.task.threshold(seen.targets.y[rest], fit.heldout[fit.alpha_index])
    at = np.flatnonzero(out)
    scores = fit.predict(seen.data.rows(at))
    measures = pipeline.task.measures(Scored([seen.candidates[i] for i in at], scores, limit))
    return {**measures, "alpha": fit.alpha, "threshold": limit}


def fifth(keys: Sequence[str], seed: int) -> np.ndarray:
    return make_folds(list(keys), 5, seed) == 0


def shown(what: str, runs: Sequence[dict[str, float | None]]) -> dict[str, float]:
    mean = {}
    flags = ("flag_precision", "flag_precision_of_large_sets", "flag_recall_of_sets")
    for key in ("accuracy", "accuracy_of_sets", *flags, "alpha"):
        values = np.array([run[key] for run in runs], dtype=float)
        print(f"{what} {key:<30} {values.mean():.4f} ±{values.std():.4f}")  # noqa: T201
        mean[key] = float(values.mean())
    return mean


def test_spelling_on_held_out_documents(brown):
    runs = [tested(brown, fifth([c.group for c in brown.candidates], seed)) for seed in range(3)]
    found = shown("Brown by document", runs)
    assert found["accuracy"] >= 0.953
    assert found["accuracy_of_sets"] >= 0.90
    assert found["flag_precision"] >= 0.98
    assert found["flag_recall_of_sets"] >= 0.5


def test_spelling_on_held_out_sentences(brown):
    keys = [f"{c.document} {c.spans[0].sent.start}" for c in brown.candidates]
    runs = [tested(brown, fifth(keys, seed)) for seed in range(3)]
    assert shown("Brown by sentence", runs)["accuracy"] >= 0.96


def test_spelling_with_the_confusion_table_on_held_out_documents(data, tmp_path):
    seen = prepared_brown(data, tmp_path, "spelling-transfer")
    runs = [tested(seen, fifth([c.group for c in seen.candidates], seed)) for seed in range(3)]
    found = shown("Brown by document, with the table", runs)
    assert found["accuracy"] >= 0.96
    assert found["accuracy_of_sets"] >= 0.92


@pytest.mark.parametrize(("name", "least"), [("spelling", 0.967), ("spelling-transfer", 0.97)])
def test_spelling_on_newswire(data, name, least):
    docs = list(reuters_docs(data / "text" / "reuters21578.tar.gz"))
    pipeline = load_pipeline(name)
    kept: dict[str, int] = {}
    found = []
    for number, doc in enumerate(docs):
        for c in pipeline.task.candidates(doc):
            kept[c.label_key] = kept.get(c.label_key, 0) + 1
            if number >= 0.8 * len(docs) or kept[c.label_key] <= 3000:
                found.append((number >= 0.8 * len(docs), c))
    candidates = [c for _, c in found]
    X = pipeline.representation(candidates)
    targets = Targets.from_candidates(candidates)
    seen = Dataset(candidates, targets, X, pipeline.compute_kernel(X), {})
    run = tested(seen, np.array([late for late, _ in found]))
    assert shown(f"Reuters, last fifth, {name}", [run])["accuracy"] >= least
