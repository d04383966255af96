"""Tables on tasks: words in context, parse ranking and protein interactions.

- Words in context are gene and protein names, word senses and spelling, with weighted positions.
- Parse ranking compares locality kernels, single features, a graph kernel, and the costs of
  RankRLS. Kernels are summed over the views of a parse and not scaled to unit length, as in the
  publications.
- Protein interactions are found within and across corpora; the effect of leaks is measured, and
  pairs are embedded.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from sklearn.naive_bayes import BernoulliNB
from spacy.tokens import Doc

from textrank.candidates import Candidate, Targets, dedup_groups
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import Report, cross_validate, cross_validate_dataset
from textrank.evaluation.evaluate import cross_corpora
from textrank.evaluation.splits import LeakyFolds, LeaveDocumentOut, make_folds, make_splitter
from textrank.evaluation.statistics import permutation_test, wilcoxon_signed_ranks
from textrank.features import Features, Indices, Matrix, MultiView, SparseMatrix, Vector
from textrank.formats.research import Senseval
from textrank.io import MAX_UNPACKED_BYTES, read_json
from textrank.kernels.algebra import Linear, Normalized
from textrank.kernels.graphs import AllPathsGraph
from textrank.kernels.sequences import (
    LocalityConvolution,
    LocalityImproved,
    LocalSum,
    Positional,
    SpectrumKernel,
)
from textrank.kernels.views import EachView
from textrank.learners.base import choose_alpha
from textrank.learners.baselines import Cooccurrence
from textrank.learners.rankrls import RankRLS
from textrank.learners.rls import RLS
from textrank.linalg import gram, solve_krylov_path
from textrank.metrics import auc, kendall_tau_b
from textrank.pipeline import Dataset, Pipeline
from textrank.protocols import Splitter, expand_choices
from textrank.representations.collocations import Collocations
from textrank.representations.contexts import WordPositions
from textrank.representations.transformations import Bag, LogScale, Sided, Weighting
from textrank.reproduce.base import (
    BROWN,
    CRAFT,
    GENIA,
    JNLPBA,
    SENSEVAL,
    Cells,
    Experiment,
    Figure,
    RunSettings,
    iter_brown_docs,
    sample_treebank,
)
from textrank.tasks.parse_features import SEQUENCE_TYPES, ParseGraph
from textrank.tasks.senses import GeneProtein

WORDS_KEY = "kernel.kernel.kernels.words.kernel.kernel"
CONTEXT_SPAN = 30  # words on either side, the same for all variants
BAG = {"@transformations": "bag.v1"}
STRICT = {"@transformations": "strict.v1"}
# Every position is a bin of its own, so that similarities equal their formulas.
EXACT = {"bins": list(range(1, CONTEXT_SPAN + 1)), "tolerance": 0.001}
SMOOTH = {"@transformations": "smooth.v1", "theta": 1.0, **EXACT}
SCALE_FREE = {"@transformations": "scale_free.v1", "theta": 3.0, **EXACT}
SIDED = {"@transformations": "sided.v1", "across": 0.5, "of": BAG}
SHARED_TAG = {
    "@transformations": "mixture.v1",
    "weights": {"equal": 1.0, "tag": 0.2},
    "parts": {
        "equal": {"@transformations": "equal_words.v1"},
        "tag": {"@transformations": "shared_tag.v1", "tags": "english", "unknown": "ending"},
    },
}


def _weighted(positions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the cfg block of a similarity of positions with weights ``1/d + 0.1``, d the distance.

    ``positions`` is the cfg block of the similarity without weights.
    """
    return {"@transformations": "weighting.v1", "decay": 1.0, "base": 0.1, "of": positions}


# Similarities of positions and of words; None for equal words only.
VARIANTS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]] = {
    "bag of words": (BAG, None),
    "contextual weighting": (_weighted(BAG), None),
    "strict positions": (STRICT, None),
    "smooth positions": (SMOOTH, None),
    "weighted strict positions": (_weighted(STRICT), None),
    "weighted smooth positions": (_weighted(SMOOTH), None),
    "scale-free positions": (SCALE_FREE, None),
    "weighted scale-free positions": (_weighted(SCALE_FREE), None),
    "contextual weighting, shared tags": (_weighted(BAG), SHARED_TAG),
    "weighted scale-free positions, shared tags": (_weighted(SCALE_FREE), SHARED_TAG),
    "side-aware weighting": (_weighted(SIDED), None),
}
WITH_COLLOCATIONS = ("side-aware weighting", "weighted scale-free positions, shared tags")
DISTANCES = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 999))


def read_names(settings: RunSettings, most: int) -> tuple[list[Candidate], list[str]]:
    """Return the gene and protein names of the first ``most`` abstracts, and the group of each.

    The two lists have one entry per name, in text order. Abstracts that share text have the same
    group; candidates of a group are held out together. Raises ValueError if the JNLPBA file is
    missing.
    """
    corpus = load_corpus(settings.file(JNLPBA))
    docs = list(islice(corpus(spacy.blank("en")), most))
    task = GeneProtein()
    groups = dedup_groups(docs)
    pairs = [(c, g) for doc, g in zip(docs, groups, strict=True) for c in task.candidates(doc)]
    return [c for c, _ in pairs], [g for _, g in pairs]


def run_gene_protein(settings: RunSettings) -> Cells:
    """Compute the AUC of DNA against protein in 5x2 cross-validation by abstract.

    One row per method, one column "AUC": mean and standard deviation of the ten halves, where an
    undefined AUC counts 0. Methods are "naive Bayes" and "WAC" (``_score_additive``) and, by linear
    RLS, "bag of words", "contextual weighting", "weighted scale-free positions" and "side-aware
    weighting and collocations"; their alphas are fixed, not chosen. Uses 1000 abstracts, 2000 in
    the full version.
    """
    candidates, groups = read_names(settings, 2000 if settings.full else 1000)
    y = np.array([c.label for c in candidates])
    near_words = WordPositions(span=60, stop_words="en")(candidates)
    all_words = WordPositions(stop_words="en")(candidates)
    bag = Normalized(Positional(Bag()), "zero").features(near_words)
    weighted = Positional(Weighting(1.5, 0.025)).features(all_words)
    sided = Positional(Weighting(1.5, 0.05, of=Sided(0.5))).features(all_words)
    kept = WordPositions()(candidates)
    scale_free = Weighting(1.0, 0.025, of=LogScale(1.0, tolerance=1e-3))
    smooth = Normalized(Positional(scale_free), "zero").features(kept)
    combined = Features.hstack(
        {
            "words": Normalized(Linear(), "zero").features(sided),
            "near": Normalized(Linear(), "zero").features(Collocations()(candidates)),
        }
    )
    fifteen = Positional(Bag()).features(WordPositions(span=15, stop_words="en")(candidates))
    values: dict[str, list[float]] = {}
    for seed in range(5):
        folds = make_folds(groups, 2, settings.seed + seed)
        for fold in (0, 1):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            scores = {
                "naive Bayes": _score_naive_bayes(fifteen.values, y, train, test),
                "WAC": _score_additive(weighted.values, y, train, test),
                "bag of words": _score_rls(bag.values, y, train, test, 8.0),
                "contextual weighting": _score_rls(
                    Normalized(Linear(), "zero").features(weighted).values, y, train, test, 8.0
                ),
                "weighted scale-free positions": _score_rls(smooth.values, y, train, test, 4.0),
                "side-aware weighting and collocations": _score_rls(
                    combined.values, y, train, test, 4.0
                ),
            }
            for method, method_scores in scores.items():
                values.setdefault(method, []).append(auc(y[test], method_scores) or 0.0)
    return {method: {"AUC": Figure.from_values(areas)} for method, areas in values.items()}


def run_sense_distances(settings: RunSettings) -> Cells:
    """Compute how often the word at a distance from a name is in a name of the same kind.

    One row per range of distances, in words; columns "same sense" and "opposite sense" are shares
    of all words at these distances (``_kinds_of_words``), before and after a name, over all
    labelled names. Uses 500 abstracts, 2000 in the full version.
    """
    corpus = load_corpus(settings.file(JNLPBA))
    docs = list(islice(corpus(spacy.blank("en")), 2000 if settings.full else 500))
    counts = np.zeros((len(DISTANCES), 3))
    starts = np.array([low for low, _ in DISTANCES])
    for doc in docs:
        kinds = _kinds_of_words(doc)
        for place in np.flatnonzero(kinds):
            distance = np.abs(np.arange(len(kinds)) - place)
            row = np.searchsorted(starts, distance, side="right") - 1  # -1 for the name itself
            same = kinds * kinds[place]
            for column, cell in enumerate((same > 0, same < 0, same < np.inf)):
                counts[:, column] += np.bincount(row[cell & (row >= 0)], minlength=len(DISTANCES))
    labels = [f"{a}" if a == b else f"{a}–{b}" for a, b in DISTANCES]
    shares = counts[:, :2] / np.maximum(counts[:, 2:], 1)
    columns = ("same sense", "opposite sense")
    return {
        label: {c: Figure(round(float(v), 6)) for c, v in zip(columns, row, strict=True)}
        for label, row in zip(labels, shares, strict=True)
    }


def _kinds_of_words(doc: Doc) -> Vector:
    """Return the label of each word of a Doc in text order: 1 or -1 of a name, 0 of another word.

    Names are the labelled candidates of ``GeneProtein``, 1 for DNA and -1 for protein. A name is
    one word, whatever its length; of names that begin at one token the last counts, and names that
    begin inside another are left out. The tokens of names without a label are other words. Tokens
    without a letter or digit are left out.
    """
    labels = {c.spans[0].start: c for c in GeneProtein().candidates(doc) if c.label is not None}
    kinds, token = [], 0
    while token < len(doc):
        name = labels.get(token)
        if name is not None:
            kinds.append(name.label or 0.0)
            token = name.spans[0].end
            continue
        if any(character.isalnum() for character in doc[token].text):
            kinds.append(0.0)
        token += 1
    return np.array(kinds)


def run_gene_protein_kernels(settings: RunSettings) -> Cells:
    """Compute the AUC of kernels on the bag of words and on contextual weighting.

    Rows are linear, Gaussian and polynomial kernels of degree 2 and 3 on normalised features;
    columns "bag" and "weighted". Each cell is over the four halves of 2x2 cross-validation by
    abstract (``_auc_of_halves``). Uses 100 abstracts, 400 in the full version.
    """
    candidates, groups = read_names(settings, 400 if settings.full else 100)
    targets = Targets.from_candidates(candidates)
    near_words = WordPositions(span=60, stop_words="en")(candidates)
    all_words = WordPositions(stop_words="en")(candidates)
    blocks = {
        "bag": Normalized(Positional(Bag()), "zero").features(near_words),
        "weighted": Normalized(Positional(Weighting(1.5, 0.025)), "zero").features(all_words),
    }
    partitions = [make_folds(groups, 2, settings.seed + s) for s in range(2)]
    cells: dict[str, dict[str, Figure]] = {}
    for column, F in blocks.items():
        K = gram(F.values)
        tops = {
            "linear": K,
            "Gaussian": np.exp(-(2.0 - 2.0 * K)),
            "polynomial, 2": (K + 1.0) ** 2 / 4,
            "polynomial, 3": (K + 1.0) ** 3 / 8,
        }
        for row, top in tops.items():
            cells.setdefault(row, {})[column] = Figure.from_values(
                _auc_of_halves(top, targets, partitions)
            )
    return cells


def run_word_senses(settings: RunSettings) -> Cells:
    """Compute the accuracy on the instances of four words in Senseval, by position kernel.

    One row per entry of ``VARIANTS``, then of ``WITH_COLLOCATIONS``; columns "pooled" and "mean of
    words or sets". The short version takes every tenth document, from number ``seed % 10`` on.
    """
    docs = list(Senseval(str(settings.file(SENSEVAL)))(spacy.blank("en")))
    docs = docs if settings.full else docs[settings.seed % 10 :: 10]
    weights = {"words": 1.0, "near": 0.0, "mention": 0.0}
    return _compare_positions("wsd", docs, weights, {"near": 1.0})


def run_spelling(settings: RunSettings) -> Cells:
    """Compute the accuracy on 21 confusion sets in the Brown corpus, whole files held out.

    One row per entry of ``VARIANTS``, then of ``WITH_COLLOCATIONS``; columns "pooled" and "mean of
    words or sets", from 0 to 1. The short version takes every eighth file, from number
    ``seed % 8`` on.
    """
    docs = list(iter_brown_docs(settings.file(BROWN)))
    docs = docs if settings.full else docs[settings.seed % 8 :: 8]
    return _compare_positions(
        "spelling", docs, {"words": 1.0, "near": 0.0, "tags": 0.0}, {"near": 1.0}
    )


def _compare_positions(
    pipeline: str, docs: list[Any], weights: Mapping[str, float], more: Mapping[str, float]
) -> Cells:
    """Return the accuracy of a pipeline with each variant, then of some with collocations.

    ``pipeline`` is the name of a shipped cfg. One row per entry of ``VARIANTS``, all with the same
    context, computed with the kernel ``weights``; further rows, "<variant>, collocations", use the
    variants ``WITH_COLLOCATIONS`` with ``more`` merged into the weights. Columns are "pooled" and
    "mean of words or sets". Words are lower-case, so that their tags are known. Alpha is fixed to
    1.
    """
    cells: dict[str, dict[str, Figure]] = {}
    rows = [(name, name, weights) for name in VARIANTS]
    rows += [(f"{name}, collocations", name, {**weights, **more}) for name in WITH_COLLOCATIONS]
    for row, name, row_weights in rows:
        positions, words = VARIANTS[name]
        kernel = {"@kernels": "positional.v1", "positions": positions}
        settings = {
            WORDS_KEY: kernel if words is None else {**kernel, "words": words},
            "representation.representations.words.span": CONTEXT_SPAN,
            "representation.representations.words.form": "lower",
            "kernel.kernel.weights": dict(row_weights),
            "learner.learner.alphas": [1.0],
            "learner.learner.folds": 2,
        }
        cells[row] = _accuracy(pipeline, docs, settings)
    return cells


def _accuracy(pipeline: str, docs: list[Any], settings: Mapping[str, Any]) -> dict[str, Figure]:
    """Return pooled accuracy and mean accuracy of words or confusion sets, over three folds.

    ``settings`` overrides keys of the pipeline's cfg. Keys of the result are "pooled" and "mean of
    words or sets"; folds in which a metric is undefined are left out.
    """
    report = cross_validate(load_pipeline(pipeline, settings), docs, folds=3)
    return {
        label: Figure.from_values([v for f in report.folds if (v := f.measures[key]) is not None])
        for key, label in (("accuracy", "pooled"), ("accuracy_of_sets", "mean of words or sets"))
    }


def _score_rls(X: SparseMatrix, y: Vector, train: Indices, test: Indices, alpha: float) -> Vector:
    """Return test scores of linear RLS, shape (len(test),).

    Training labels are centred, and their mean is not added back: scores order candidates but are
    not estimates of their labels. ``X`` has one row per candidate; ``train`` and ``test`` are row
    numbers; ``alpha`` is the regularization parameter. The weights come from an iterative solver
    (``solve_krylov_path``) with tolerance 1e-3, so scores are approximate.
    """
    centred = y[train] - y[train].mean()
    w = solve_krylov_path(X[train], centred, np.array([alpha]), tolerance=1e-3)[0]
    return np.asarray(X[test] @ w)


def _score_naive_bayes(X: SparseMatrix, y: Vector, train: Indices, test: Indices) -> Vector:
    """Return test log-odds of the positive class by Bernoulli naive Bayes, shape (len(test),).

    Features count as present if they are above 0, labels as positive if they are above 0. ``X`` has
    one row per candidate; ``train``, which must have both classes, and ``test`` are row numbers.
    """
    model = BernoulliNB().fit(X[train], y[train] > 0)
    log_probabilities = model.predict_log_proba(X[test])
    return np.asarray(log_probabilities[:, 1] - log_probabilities[:, 0])


def _score_additive(X: SparseMatrix, y: Vector, train: Indices, test: Indices) -> Vector:
    """Return test scores of the weighted additive classifier, shape (len(test),), from 0 to 1.

    A word's score is the share of its training weight that occurs with positives, smoothed by
    ``(positive + 0.5) / (all + 1)``; a candidate's score is the mean of its words' scores, weighted
    by ``X``, and 0 if it has no words. ``X`` has one row per candidate and no negative values;
    ``train`` and ``test`` are row numbers.
    """
    positive, all_ = X[train].T @ (y[train] > 0).astype(float), X[train].sum(axis=0)
    share = (positive + 0.5) / (np.asarray(all_).ravel() + 1.0)
    return np.asarray((X[test] @ share) / np.maximum(np.asarray(X[test].sum(axis=1)).ravel(), 1e-9))


def _auc_of_halves(K: Matrix, targets: Targets, partitions: list[Indices]) -> list[float]:
    """Return the AUC of RLS in each half, alpha chosen by leave-document-out AUC in the other.

    Each entry of ``partitions`` has the fold number of every candidate, from 0. The result has one
    value per partition and fold, in that order; an undefined AUC counts as 0.
    """
    values = []
    for nested in RLS(alphas=(0.5, 2.0, 8.0)).nested(K, targets, partitions):
        for fold in np.unique(nested.folds):
            out, rest = np.flatnonzero(nested.folds == fold), np.flatnonzero(nested.folds != fold)
            best = choose_alpha(
                nested.inner[:, fold][:, rest], targets.take(rest), "auc", nested.alphas
            )
            values.append(auc(targets.y[out], nested.outer[best, out]) or 0.0)
    return values


CONTEXT_EXPERIMENTS = (
    Experiment("gene-protein", run_gene_protein, files=(JNLPBA,), revision=2),
    Experiment("gene-protein-kernels", run_gene_protein_kernels, files=(JNLPBA,)),
    Experiment("sense-distances", run_sense_distances, files=(JNLPBA,)),
    Experiment("word-senses", run_word_senses, files=(SENSEVAL,), revision=2),
    Experiment("spelling", run_spelling, files=(BROWN,), revision=2),
)

POSITION_MODES = {"all ones": "any", "Gaussian": "gaussian", "identity": "same"}
PARSE_ALPHAS = (0.25, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
KERNELS: dict[str, Any] = {
    "LC (13)": LocalityConvolution(theta=0.3),
    "locality-improved (16)": LocalityImproved(),
    "spectrum (19)": SpectrumKernel(2),
}
TREEBANKS = {"CRAFT": CRAFT, "GENIA": GENIA}


@cache
def prepare_parses(settings: RunSettings, treebank: str = "CRAFT") -> tuple[Pipeline, Dataset]:
    """Return the pipeline and dataset of noisy parses of a treebank (cached by arguments).

    ``treebank`` is a key of ``TREEBANKS``. Candidates are the distinct parses of a parser and of
    eight noisy copies of it, for at most 30 sentences per article of CRAFT, or 150 in the full
    version, and two or eight per abstract of GENIA, whose labels are not compared because its
    scheme differs from the parser's. Do not change the result: all tables of a run share it.
    """
    overrides: dict[str, Any] = {"task.copies": 8, "task.seed": settings.seed}
    number = {"CRAFT": (30, 150), "GENIA": (2, 8)}[treebank][settings.full]
    if treebank == "GENIA":
        overrides["task.labelled"] = False
    pipeline = load_pipeline("parse_ranking-lc", overrides)
    pipeline = replace(pipeline, kernel=EachView(SpectrumKernel(2)))
    text = sample_treebank(settings.file(TREEBANKS[treebank]), number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.conllu"
        path.write_text(text, encoding="utf-8")
        docs = list(load_corpus(path)(spacy.blank("en")))
    return pipeline, pipeline.prepare(docs)


def run_positions(settings: RunSettings) -> Cells:
    """Compute tau_b of RLS with two locality kernels and three ways to compare positions.

    One row per kernel, one column per entry of ``POSITION_MODES``. Parses are those of CRAFT, and
    one article at a time is held out.
    """
    cells: dict[str, dict[str, Figure]] = {}
    for row, kernel in {"sum (11)": LocalSum, "product (13)": LocalityConvolution}.items():
        for column, mode in POSITION_MODES.items():
            K = _gram(settings, kernel(theta=0.3, positional=mode))
            cells.setdefault(row, {})[column] = _cross_validated(settings, K, _make_rls(), "tau")
    return cells


def run_validation(settings: RunSettings) -> Cells:
    """Compute tau_b of RLS and RankRLS with three kernels and a graph kernel, on two treebanks.

    One row per kernel, with the name of the treebank in front unless CRAFT; columns "RLS",
    "RankRLS" and "RLS, p against LC", the p-value of Wilcoxon's signed-ranks test over sentences,
    which the row LC has not.
    """
    cells: dict[str, dict[str, Figure]] = {}
    for treebank in TREEBANKS:
        prefix = "" if treebank == "CRAFT" else f"{treebank}, "
        grams = {row: _gram(settings, kernel, treebank) for row, kernel in KERNELS.items()}
        grams["graph kernel of 2006"] = _graph_gram(settings, treebank)
        lc_tau: dict[tuple[str, str], float] = {}
        for row, K in grams.items():
            rls = _report(settings, K, _make_rls(), treebank=treebank)
            rank = _report(settings, K, RankRLS(alphas=PARSE_ALPHAS), treebank=treebank)
            tau = _tau_by_sentence(rls)
            lc_tau = lc_tau or tau
            p = wilcoxon_signed_ranks([lc_tau[s] for s in tau], list(tau.values())).p
            cells[prefix + row] = {
                "RLS": _summarise(rls, "tau"),
                "RankRLS": _summarise(rank, "tau"),
            }
            if tau is not lc_tau and p is not None:
                cells[prefix + row]["RLS, p against LC"] = Figure(round(p, 6))
    return cells


def run_features(settings: RunSettings) -> Cells:
    """Compute tau_b of RLS with each type of feature alone: counted, and with the LC kernel.

    One row per sequence of a parse, and one of all together, on CRAFT with one article at a time
    held out. A type that is the same in all parses of a sentence, as words with tags of one tagger,
    cannot rank them and has no row.
    """
    _, dataset = prepare_parses(settings)
    views = dataset.X
    if not isinstance(views, MultiView):
        raise TypeError("parses must be represented by several views")
    kernels: dict[str, Any] = {
        "counted": SpectrumKernel(1),
        "LC": LocalityConvolution(theta=0.3),
    }
    cells: dict[str, dict[str, Figure]] = {}
    for row, names in {**{t: [t] for t in SEQUENCE_TYPES}, "all": list(SEQUENCE_TYPES)}.items():
        X = MultiView({name: views.view(name) for name in names})
        for column, kernel in kernels.items():
            report = _report(settings, EachView(kernel)(X), _make_rls())
            if any(fold.measures["tau"] is not None for fold in report.folds):
                cells.setdefault(row.replace("_", " "), {})[column] = _summarise(report, "tau")
    return cells


def run_costs(settings: RunSettings) -> Cells:
    """Compute the disagreement of RankRLS with its costs, within sentences and over all pairs.

    One row per cost, "RankRLS (20)" to "(22)", and one of RLS; columns say what RankRLS learns
    from. Costs have "pairs of a sentence", cost (21) and RLS "all pairs". No ties are learnt within
    sentences. The kernel is LC, on CRAFT with one article at a time held out.
    """
    K = _gram(settings, LocalityConvolution(theta=0.3))
    cells: dict[str, dict[str, Figure]] = {}
    for cost, row in {"sign": "(20)", "magnitude": "(21)", "bound": "(22)"}.items():
        learner = RankRLS(alphas=PARSE_ALPHAS, cost=cost, ties=False)  # type: ignore[arg-type]
        figure = _cross_validated(settings, K, learner, "disagreement")
        cells[f"RankRLS {row}"] = {"pairs of a sentence": figure}
    all_pairs = RankRLS(alphas=PARSE_ALPHAS, scope="global")
    cells["RankRLS (21)"]["all pairs"] = _cross_validated(settings, K, all_pairs, "disagreement")
    cells["RLS"] = {"all pairs": _cross_validated(settings, K, _make_rls(), "disagreement")}
    return cells


def run_leave_out(settings: RunSettings) -> Cells:
    """Compute tau_b along alpha by leave-one-out, leave-sentence-out and leave-article-out.

    One row per alpha of RLS, one column per unit that is held out ("parses", "sentences",
    "articles"). Closed-form hold-out of all parses of CRAFT with the LC kernel: tau_b of the
    held-out scores, mean over sentences where it is defined.
    """
    K = _gram(settings, LocalityConvolution(theta=0.3))
    _, dataset = prepare_parses(settings)
    targets = dataset.targets
    sentences = np.array([f"{c.document} {c.query}" for c in dataset.candidates])
    units = {
        "parses": np.arange(len(K)),
        "sentences": np.unique(sentences, return_inverse=True)[1],
        "articles": targets.groups,
    }
    cells: dict[str, dict[str, Figure]] = {}
    for column, groups in units.items():
        path = RLS(alphas=PARSE_ALPHAS, select="disagreement").path(
            K, replace(targets, groups=groups)
        )
        for alpha, scores in zip(path.alphas, path.heldout, strict=True):
            taus = [
                tau
                for s in np.unique(sentences)
                if (tau := kendall_tau_b(targets.y[sentences == s], scores[sentences == s]))
                is not None
            ]
            cells.setdefault(f"alpha {alpha:g}", {})[column] = Figure(
                round(float(np.mean(taus)), 6)
            )
    return cells


def measure_leak(settings: RunSettings) -> dict[str, Figure]:
    """Return tau_b with whole articles held out, and with parses assigned to folds one by one.

    Keys are "dependent held together" (one article held out at a time) and "split" (five leaky
    folds). Parses are those of CRAFT. Warnings about the leak are suppressed.
    """
    K = _gram(settings, LocalityConvolution(theta=0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the leak is intended here
        split = _cross_validated(settings, K, _make_rls(), "tau", LeakyFolds(5))
    return {
        "dependent held together": _cross_validated(settings, K, _make_rls(), "tau"),
        "split": split,
    }


def _make_rls() -> RLS:
    """Return RLS with alpha of ``PARSE_ALPHAS`` chosen by disagreement of held-out scores."""
    return RLS(alphas=PARSE_ALPHAS, select="disagreement")


def _gram(settings: RunSettings, kernel: Any, treebank: str = "CRAFT") -> Matrix:
    """Return the Gram matrix of a kernel on the n parses of a treebank, shape (n, n), not scaled.

    The kernel is applied to each view of a parse and summed.
    """
    _, dataset = prepare_parses(settings, treebank)
    return EachView(kernel)(dataset.X)


def _graph_gram(settings: RunSettings, treebank: str) -> Matrix:
    """Return the Gram matrix (n, n) of the pipeline ``parse_ranking-graph`` on the n parses."""
    _, dataset = prepare_parses(settings, treebank)
    return AllPathsGraph(combine="sum", directed=False)(ParseGraph()(dataset.candidates))


def _report(
    settings: RunSettings,
    K: Matrix,
    learner: Any,
    splitter: Splitter | None = None,
    treebank: str = "CRAFT",
) -> Report:
    """Return the report of cross-validation with a Gram matrix of all parses.

    ``K`` (n, n) is that of the parses of ``treebank``, in the order of ``prepare_parses``.
    ``splitter`` None holds out one article of CRAFT at a time, or a seventh of GENIA's abstracts.
    """
    pipeline, dataset = prepare_parses(settings, treebank)
    default = LeaveDocumentOut() if treebank == "CRAFT" else make_splitter(folds=7)
    chosen = replace(pipeline, learner=learner)
    return cross_validate_dataset(chosen, replace(dataset, data=K), splitter or default)


def _summarise(report: Report, measure: str) -> Figure:
    """Return mean and standard deviation of a metric over the folds that define it.

    The mean is NaN if none does.
    """
    return Figure.from_values([v for f in report.folds if (v := f.measures[measure]) is not None])


def _cross_validated(
    settings: RunSettings, K: Matrix, learner: Any, measure: str, splitter: Splitter | None = None
) -> Figure:
    """Return mean and standard deviation of the metric ``measure`` over folds of CRAFT.

    ``K`` (n, n) is the Gram matrix of its parses. ``splitter`` None holds out one article at a
    time.
    """
    return _summarise(_report(settings, K, learner, splitter), measure)


def _tau_by_sentence(report: Report) -> dict[tuple[str, str], float]:
    """Return tau_b of each sentence, by document and query; undefined ones are left out.

    Decisions of all splits of a sentence count together.
    """
    rows: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for decision in report.decisions:
        key = (decision.document, decision.query)
        rows.setdefault(key, []).append((decision.label, decision.score))
    taus = {key: kendall_tau_b(*map(np.array, zip(*r, strict=True))) for key, r in rows.items()}
    return {key: tau for key, tau in taus.items() if tau is not None}


PARSE_EXPERIMENTS = (
    Experiment("locality-positions", run_positions, files=(CRAFT,), revision=2),
    Experiment("locality-validation", run_validation, files=(CRAFT, GENIA), revision=2),
    Experiment("parse-features", run_features, files=(CRAFT,)),
    Experiment("parse-costs", run_costs, files=(CRAFT,), revision=2),
    Experiment("leave-cluster-out", run_leave_out, files=(CRAFT,)),
)

CORPORA = ("AImed", "BioInfer", "IEPA", "LLL")
CORPUS_FILES = tuple(f"ppi/{name}.xml.gz" for name in CORPORA)
SHORT_STEP = {
    "AImed": 2,
    "BioInfer": 4,
    "IEPA": 1,
    "LLL": 1,
}  # take every n-th document in the short version
EMBEDDED_CORPORA = ("AImed", "IEPA", "LLL")
EMBEDDED_STEP = {"AImed": 6, "IEPA": 1, "LLL": 1}  # likewise, for embeddings
EMBEDDED_FILES = tuple(f"ppi/{name}.xml.gz" for name in EMBEDDED_CORPORA)
COMBINE_SETTING = "kernel.kernel.combine"
WITHIN_METRICS = {"precision": "precision", "recall": "recall", "f": "F", "auc": "AUC"}
METRIC_NAMES = {"auc": "AUC", "f": "F", "f_best": "F, best threshold", "f_rate": "F, share known"}


def read_documents(
    settings: RunSettings, name: str, steps: Mapping[str, int] = SHORT_STEP
) -> list[Doc]:
    """Return the documents of a corpus of ``CORPORA``, in file order.

    In the short version only every n-th, n of ``steps``, beginning at an offset given by the seed.
    Raises ValueError if the file is missing.
    """
    docs = list(load_corpus(settings.file(f"ppi/{name}.xml.gz"))(spacy.blank("en")))
    return docs if settings.full else docs[settings.seed % steps[name] :: steps[name]]


def run_within(settings: RunSettings) -> Cells:
    """Compute precision, recall, F and AUC of the all-paths kernel with the given folds.

    One row per corpus of ``CORPORA`` (a sample of its documents unless full, ``read_documents``);
    mean and standard deviation over the folds of ``ppi/folds.json``. The last columns are precision
    and F of the co-occurrence baseline, which says yes to every pair.
    """
    table = read_json(settings.file("ppi/folds.json"), MAX_UNPACKED_BYTES)
    pipeline, cells = load_pipeline("ppi-apg"), {}
    for name in CORPORA:
        dataset = pipeline.prepare(read_documents(settings, name))
        splitter = make_splitter(folds=table[name])
        report = cross_validate_dataset(pipeline, dataset, splitter, corpus=name)
        everything = replace(pipeline, learner=Cooccurrence())
        baseline = cross_validate_dataset(everything, dataset, splitter, corpus=name)
        cells[name] = {
            **{label: _fold_figure(report, key) for key, label in WITHIN_METRICS.items()},
            "co-occurrence, precision": _fold_figure(baseline, "precision"),
            "co-occurrence, F": _fold_figure(baseline, "f"),
        }
    return cells


def run_sum_or_maximum(settings: RunSettings) -> Cells:
    """Compute F and AUC of the all-paths kernel with the maximum and with the sum over vertices.

    One row per corpus of ``CORPORA``; the p-value ("p of AUC") is that of a paired permutation test
    (2000 resamples) of AUC over the folds of ``ppi/folds.json``, 1 if undefined. In the test, not
    in the means, an undefined AUC counts as 0.
    """
    table = read_json(settings.file("ppi/folds.json"), MAX_UNPACKED_BYTES)
    cells = {}
    for name in CORPORA:
        docs, splitter = read_documents(settings, name), make_splitter(folds=table[name])
        row: dict[str, Figure] = {}
        aucs: list[list[float]] = []
        for label, combine in (("maximum", "max"), ("sum", "sum")):
            pipeline = load_pipeline("ppi-apg", {COMBINE_SETTING: combine})
            report = cross_validate_dataset(pipeline, pipeline.prepare(docs), splitter, corpus=name)
            row |= {f"F, {label}": _fold_figure(report, "f")}
            row |= {f"AUC, {label}": _fold_figure(report, "auc")}
            aucs.append([fold.measures["auc"] or 0.0 for fold in report.folds])
        p = permutation_test(aucs[0], aucs[1], resamples=2000).p
        cells[name] = {**row, "p of AUC": Figure(round(1.0 if p is None else p, 4))}
    return cells


def _fold_figure(report: Report, metric: str) -> Figure:
    """Return mean and spread of a metric over the folds that define it; NaN if none does."""
    values = [fold.measures[metric] for fold in report.folds]
    return Figure.from_values([value for value in values if value is not None])


def run_across(settings: RunSettings) -> Cells:
    """Compute AUC and F under three thresholds, trained on one corpus and tested on another.

    The pipeline is ``ppi-apg``. The result is nested, by row, then column. One row per ordered pair
    of ``CORPORA``, "train → test"; columns are the labels of ``METRIC_NAMES``, where "f" is "F, own
    threshold". Undefined metrics are left out. Documents are those of ``read_documents``, all only
    in the full version.
    """
    crossed = cross_corpora(
        load_pipeline("ppi-apg"), {name: read_documents(settings, name) for name in CORPORA}
    )
    cells: dict[str, dict[str, Figure]] = {}
    for (train, test), report in crossed.reports.items():
        row = {
            label: Figure(value)
            for key, label in (METRIC_NAMES | {"f": "F, own threshold"}).items()
            if (value := report.measures[key].mean) is not None
        }
        cells[f"{train} → {test}"] = row
    return cells


def run_leaks(settings: RunSettings) -> Cells:
    """Compute metrics with dependent candidates held out together, and assigned one by one.

    One row per data set and metric; columns "dependent held together" and "split". Over ten folds
    of AImed and IEPA; parses are those of ``measure_leak``. Warnings about the leak are suppressed.
    """
    cells = {"parses, tau_b": measure_leak(settings)}
    pipeline = load_pipeline("ppi-apg")
    for name in ("AImed", "IEPA"):
        dataset = pipeline.prepare(read_documents(settings, name))
        splitters = {"dependent held together": make_splitter(folds=10), "split": LeakyFolds(10)}
        for split, splitter in splitters.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the leak is intended here
                report = cross_validate_dataset(pipeline, dataset, splitter)
            for key in ("f", "auc"):
                values = [v for f in report.folds if (v := f.measures[key]) is not None]
                cells.setdefault(f"{name}, {METRIC_NAMES[key]}", {})[split] = Figure.from_values(
                    values
                )
    return cells


def run_embedding(settings: RunSettings) -> Cells:
    """Compute F and AUC of G2P embeddings of one and of combined similarities, and without G2P.

    One row per corpus, one column per method and metric, over five folds of two given ones each, or
    the ten given folds in the full version. The column with "p" tests the AUC of G2P against that
    of RLS on the same kernel by Wilcoxon's signed ranks over folds, where an undefined AUC counts
    as 0; it is 1 if undefined. Documents are thinned out by ``EMBEDDED_STEP`` unless full.
    """
    cells: dict[str, dict[str, Figure]] = {}
    table = read_json(settings.file("ppi/folds.json"), MAX_UNPACKED_BYTES)
    pipeline = load_pipeline("ppi-g2p")
    for name in EMBEDDED_CORPORA:
        docs = read_documents(settings, name, EMBEDDED_STEP)
        count = 10 if settings.full else 5
        splitter = make_splitter(folds={doc: fold % count for doc, fold in table[name].items()})
        areas: dict[str, list[float]] = {}
        row: dict[str, Figure] = {}
        for method, (kernel, learner) in _embedding_methods(pipeline).items():
            chosen = replace(pipeline, kernel=kernel, learner=learner)
            report = cross_validate_dataset(chosen, chosen.prepare(docs), splitter)
            for key, label in (("f", "F"), ("auc", "AUC")):
                values = [v for f in report.folds if (v := f.measures[key]) is not None]
                row[f"{method}, {label}"] = Figure.from_values(values)
            areas[method] = [f.measures["auc"] or 0.0 for f in report.folds]
        p = wilcoxon_signed_ranks(areas["G2P"], areas["kernel RLS"]).p
        row["AUC, p of G2P against RLS"] = Figure(round(p or 1.0, 6))
        cells[name] = row
    return cells


def run_embedding_across(settings: RunSettings) -> Cells:
    """Compute F and AUC of ``ppi-g2p`` trained on one corpus, or on all others, tested on another.

    One row per ordered pair of corpora, "train → test", and "others → test" for one embedding of
    the other corpora together.
    """
    docs = {name: read_documents(settings, name, EMBEDDED_STEP) for name in EMBEDDED_CORPORA}
    pipeline = load_pipeline("ppi-g2p")
    reports = dict(cross_corpora(pipeline, docs).reports)
    for name in EMBEDDED_CORPORA:
        others = [doc for other, part in docs.items() if other != name for doc in part]
        crossed = cross_corpora(pipeline, {"others": others, name: docs[name]})
        reports["others", name] = crossed.reports["others", name]
    return {
        f"{train} → {test}": {
            label: Figure(value)
            for key, label in (("auc", "AUC"), ("f", "F"))
            if (value := report.measures[key].mean) is not None
        }
        for (train, test), report in reports.items()
    }


def _embedding_methods(pipeline: Pipeline) -> dict[str, tuple[Any, Any]]:
    """Return kernel and learner of each method, by name.

    "G2P" embeds the all-paths kernel, "G2P, combined" the sum of three similarities; "kernel RLS"
    and "kernel RLS, combined" are RLS with the same two kernels, without an embedding.
    """
    kernels = expand_choices(pipeline.kernel)
    rls = RLS(alphas=(0.25, 1.0, 4.0))
    return {
        "G2P": (kernels["graph"], pipeline.learner),
        "G2P, combined": (kernels["combined"], pipeline.learner),
        "kernel RLS": (kernels["graph"], rls),
        "kernel RLS, combined": (kernels["combined"], rls),
    }


INTERACTION_EXPERIMENTS = (
    Experiment("ppi-within", run_within, files=(*CORPUS_FILES, "ppi/folds.json"), revision=2),
    Experiment("ppi-sum-maximum", run_sum_or_maximum, files=(*CORPUS_FILES, "ppi/folds.json")),
    Experiment("ppi-across", run_across, files=CORPUS_FILES),
    Experiment("leaks", run_leaks, files=(CORPUS_FILES[0], CORPUS_FILES[2], CRAFT), revision=2),
    Experiment(
        "embedding-ppi", run_embedding, files=(*EMBEDDED_FILES, "ppi/folds.json"), revision=2
    ),
    Experiment("embedding-across", run_embedding_across, files=EMBEDDED_FILES),
)
