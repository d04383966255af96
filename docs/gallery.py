"""Draw the figures of docs/gallery in light and dark: ``python docs/gallery.py [--data FOLDER]``.

Figures whose data are missing stay unchanged. The heat map uses ``docs/reproduce``, the embedding
uses the Reuters corpus in FOLDER.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import spacy
from sklearn.decomposition import TruncatedSVD

from textrank import plotting
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation import cross_validate_dataset
from textrank.evaluation.splits import make_splitter
from textrank.evaluation.sweep import learning_curve
from textrank.io import MAX_UNPACKED_BYTES, read_json
from textrank.kernels.sequences import positional_matrix
from textrank.learners.multiclass import G2P, class_matrix
from textrank.learners.rls import RLS
from textrank.linalg import gram
from textrank.representations.transformations import (
    Bag,
    ScaleFree,
    Sided,
    Smooth,
    Strict,
    Weighting,
)
from textrank.reproduce.base import REUTERS, fit_tfidf, most_frequent_topics, read_modapte_articles
from textrank.tasks.parse_features import ParseSequences
from textrank.tasks.ppi.graphs import DependencyGraph

mpl.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
OUT = HERE / "gallery"
# Colours of Okabe and Ito, safe for colour-blind readers; grey instead of black for both themes.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8a8f98"]
THEMES = {
    "light": {"ink": "#222222", "ground": "#ffffff", "faint": "#d8dce2", "map": "Blues"},
    "dark": {"ink": "#e4e6eb", "ground": "#1e2129", "faint": "#454a57", "map": "cividis"},
}
Theme = dict[str, str]


def style(theme: Theme) -> dict[str, Any]:
    """Return the matplotlib settings of a theme."""
    ink, ground = theme["ink"], theme["ground"]
    return {
        **{f"{part}.facecolor": ground for part in ("figure", "axes", "savefig")},
        **{key: ink for key in ("text.color", "axes.labelcolor", "xtick.color", "ytick.color")},
        "axes.edgecolor": theme["faint"],
        "axes.prop_cycle": mpl.cycler(color=COLOURS),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10,
        "axes.labelsize": 9,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "svg.hashsalt": "textrank",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
    }


def positions(theme: Theme) -> Any:
    """Draw similarities of positions and, below, a context under each transformation."""
    transformations = {
        "bag of words": Bag(),
        "strict": Strict(),
        "weighting": Weighting(1.0, 0.1),
        "smooth": Smooth(0.3),
        "scale-free smooth": ScaleFree(1.5),
        "side-aware weighting": Weighting(1.0, 0.1, of=Sided(0.3)),
    }
    span, context = 6, plotting.example_context()
    offsets = np.array([p for p in range(-span, span + 1) if p])
    figure, axes = plt.subplots(2, len(transformations), figsize=(12, 4.6), layout="constrained")
    for column, (name, transformation) in enumerate(transformations.items()):
        factor = transformation.factor(offsets).values
        similarity = (factor @ factor.T).toarray()
        transformed = plotting.transform_context(context, span, transformation)
        for row, values in enumerate((similarity, transformed)):
            axes[row, column].imshow(values, cmap=theme["map"], aspect="auto", vmin=0)
            axes[row, column].set_xticks([0, span - 1, span, 2 * span - 1], ["−6", "−1", "1", "6"])
            axes[row, column].set_yticks([])
        axes[0, column].set_title(name)
    axes[0, 0].set_yticks([0, span - 1, span, 2 * span - 1], ["−6", "−1", "1", "6"])
    axes[0, 0].set_ylabel("positional similarity")
    axes[1, 0].set_yticks(range(len(context.vocabulary)), context.vocabulary)
    axes[1, 0].set_ylabel("transformed context")
    return figure


def graph(theme: Theme) -> Any:
    """Draw a sentence graph with the path between two names, and the word order."""
    candidate = plotting.example_pair()
    sentence_graph = DependencyGraph()([candidate])[0]
    words = [token.text for token in candidate.doc]
    drawing = plotting.SentenceGraphDrawing(sentence_graph, words)
    figure, axes = plt.subplots(figsize=(10, 3.6), layout="constrained")
    axes.axis("off")
    axes.set(xlim=(-0.7, len(words) - 0.3), ylim=(-1.2, 2.6))
    for governor, dependent, label, weight in drawing.dependencies:
        on_path = label.startswith("path:")
        colour = COLOURS[5] if on_path else COLOURS[6]
        middle, height = (governor + dependent) / 2, 0.3 + 0.48 * abs(governor - dependent)
        x = np.linspace(governor, dependent, 40)
        y = 0.35 + (height - 0.35) * (1 - ((x - middle) / (abs(governor - dependent) / 2)) ** 2)
        axes.plot(x, y, color=colour, lw=2.4 if on_path else 1.2)
        caption = f"{label.removeprefix('path:')} {weight:g}"
        box = {"facecolor": theme["ground"], "edgecolor": "none", "pad": 1}
        style = {"ha": "center", "va": "center", "fontsize": 9, "color": colour, "bbox": box}
        axes.text(middle, height, caption, **style)
    sides = {"before": COLOURS[0], "middle": COLOURS[1], "after": COLOURS[2]}
    for position, word in enumerate(words):
        vertex = len(sentence_graph) - len(words) + position
        side = sentence_graph.labels[vertex][0].partition(":")[0]
        axes.text(position, 0.1, word, ha="center", fontsize=12, weight="bold")
        axes.plot([position - 0.42, position + 0.42], [-0.25, -0.25], color=sides[side], lw=4)
        axes.text(position, -0.62, side, ha="center", fontsize=8, color=sides[side])
    axes.text(-0.6, 2.45, "path between KinA and TraF: weight 0.9; other links 0.3", fontsize=9)
    axes.text(-0.6, -1.05, "word order: every step 0.9, words marked by side", fontsize=9)
    return figure


def windows(theme: Theme) -> Any:
    """Draw feature sequences of a parse with a window, and three positional similarities."""
    candidate = plotting.example_parse()
    views = ParseSequences()([candidate]).views
    figure = plt.figure(figsize=(11, 4), layout="constrained")
    grid = figure.add_gridspec(3, 5)
    axes = figure.add_subplot(grid[:, :4])
    axes.axis("off")
    axes.set(xlim=(-2.2, 6.5), ylim=(-len(views) + 0.3, 0.8))
    for row, (name, sequences) in enumerate(views.items()):
        axes.text(-0.6, -row, name.replace("_", " "), ha="right", va="center", fontsize=9)
        for position, symbol in enumerate(sequences[0].symbols()):
            inside = abs(position - 2) <= 1
            edge = COLOURS[5] if position == 2 else COLOURS[1] if inside else theme["faint"]
            box = {"boxstyle": "round,pad=0.3", "ec": edge, "fc": "none", "lw": 2 if inside else 1}
            axes.text(
                position * 1.08, -row, symbol, ha="center", va="center", fontsize=7.5, bbox=box
            )
    for row, (name, similarity) in enumerate(
        {"any position": "any", "nearby": "gaussian", "same": "same"}.items()
    ):
        small = figure.add_subplot(grid[row, 4])
        small.imshow(positional_matrix(similarity, 1, 0.7), cmap=theme["map"], vmin=0, vmax=1)
        small.set_title(name, fontsize=9)
        small.set_xticks(range(3), ["−1", "0", "1"])
        small.set_yticks(range(3), ["−1", "0", "1"])
    return figure


def spectra(theme: Theme) -> Any:
    """Draw eigenvalues of two kernels on the sample, and held-out AUC as a function of alpha."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
    alphas = np.exp2(np.arange(-9.0, 8.0))
    for name in ("ppi-apg", "ppi-linear"):
        dataset = _dataset(name, "ppi")
        K = gram(dataset.data.values)
        values = np.linalg.eigvalsh(K)[::-1]
        left.plot(np.arange(1, len(values) + 1), values.clip(1e-6), label=name)
        points = _alpha_curve(name, tuple(alphas.tolist()))
        mean = np.array([p["auc"]["mean"] for p in points])
        spread = np.array([p["auc"]["std"] for p in points])
        (line,) = right.plot(alphas, mean, label=name)
        right.fill_between(alphas, mean - spread, mean + spread, color=line.get_color(), alpha=0.2)
    left.set(xscale="log", yscale="log", ylim=(1e-3, None), xlabel="rank", title="spectrum")
    left.legend()
    right.set(xscale="log", xlabel="alpha", ylabel="AUC", title="regularisation path, ± folds")
    return figure


def paths(theme: Theme) -> Any:
    """Draw weights of features and held-out scores of one document as functions of alpha."""
    dataset = _dataset("gene_protein", "gene-protein")
    alphas = np.exp2(np.arange(-6.0, 9.0))
    path = RLS(alphas=alphas.tolist()).path(dataset.data, dataset.targets)
    largest = np.argsort(-np.abs(path.coefs[8]))[:8]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for feature in largest:
        name = " ".join(part for part in dataset.data.names[int(feature)] if part)
        left.plot(alphas, path.coefs[:, feature], lw=1.2, label=name[:34])
    left.set(xscale="log", xlabel="alpha", title="weights of named features")
    left.legend(fontsize=7)
    rows = np.flatnonzero(dataset.targets.groups == 0)
    for row in rows:
        colour = COLOURS[0] if dataset.targets.y[row] > 0 else COLOURS[1]
        right.plot(alphas, path.heldout[:, row], color=colour, lw=1.2)
    right.set(xscale="log", xlabel="alpha", title="held-out scores of one document (blue: DNA)")
    return figure


def calibration(theme: Theme) -> Any:
    """Draw predicted against observed frequencies of held-out candidates."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for name, corpus in {"gene_protein": "gene-protein", "categorise": "categorise"}.items():
        score, label = _heldout(name, corpus)
        y = label > 0
        p = 1 / (1 + np.exp(-score))
        bins = np.clip((p * 6).astype(int), 0, 5)
        filled = [b for b in range(6) if (bins == b).sum() > 4]
        left.plot(
            [p[bins == b].mean() for b in filled],
            [y[bins == b].mean() for b in filled],
            "o-",
            label=name,
        )
        right.hist(p, bins=20, histtype="step", lw=1.6, label=name)
    left.plot([0, 1], [0, 1], color=theme["faint"], lw=1)
    left.set(
        xlabel="probability", ylabel="observed frequency", title="calibration, held-out documents"
    )
    left.legend()
    right.set(xlabel="probability", ylabel="candidates", title="distribution of probabilities")
    return figure


def learning(theme: Theme) -> Any:
    """Draw AUC by the number of training documents for three tasks."""
    samples = {"ppi-apg": "ppi", "gene_protein": "gene-protein", "categorise": "categorise"}
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.0), layout="constrained", sharey=True)
    for axis, (name, corpus) in zip(axes, samples.items(), strict=True):
        points = _learning(name, corpus)
        x = np.array([p["x"] for p in points])
        mean = np.array([p["auc"]["mean"] for p in points])
        spread = np.array([p["auc"]["std"] for p in points])
        axis.plot(x, mean, "o-")
        axis.fill_between(x, mean - spread, np.minimum(mean + spread, 1), alpha=0.2)
        axis.set(xscale="log", xlabel="training documents", title=name)
        axis.set_xticks(x, [f"{value:.0f}" for value in x])
        axis.minorticks_off()
    axes[0].set_ylabel("AUC on held-out documents")
    return figure


def crossing(theme: Theme) -> Any:
    """Draw AUC across corpora, published and ours; rows: training, columns: test.

    Returns None if docs/reproduce/ppi-across.json is missing.
    """
    path = HERE / "reproduce" / "ppi-across.json"
    if not path.exists():
        return None
    rows = [r for r in read_json(path, MAX_UNPACKED_BYTES)["figures"] if r["column"] == "AUC"]
    names = list(dict.fromkeys(r["row"].partition(" → ")[0] for r in rows))
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for axis, key in zip(axes, ("source", "ours"), strict=True):
        table = np.full((len(names), len(names)), np.nan)
        for row in rows:
            train, _, test = row["row"].partition(" → ")
            table[names.index(train), names.index(test)] = row[key]
        axis.imshow(table, cmap=theme["map"], vmin=0.55, vmax=0.95)
        for (i, j), value in np.ndenumerate(table):
            if np.isfinite(value):
                bright = (value > 0.77) == (theme["map"] == "Blues")
                axis.text(
                    j,
                    i,
                    f"{value:.2f}",
                    ha="center",
                    va="center",
                    color="white" if bright else "black",
                )
        axis.set_xticks(range(len(names)), names)
        axis.set_yticks(range(len(names)), names)
        axis.set_title({"source": "Airola et al. 2008", "ours": "textrank, ppi-apg"}[key])
        axis.set_xlabel("tested on")
    axes[0].set_ylabel("trained on")
    return figure


def embedding(theme: Theme, data: Path | None) -> Any:
    """Draw held-out Reuters articles of six topics in dimensions of LSI and G2P.

    Returns None if ``data`` is None.
    """
    if data is None:
        return None
    topics, y, projections = _embed_reuters(data)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
    for axis, (title, points) in zip(axes, projections.items(), strict=True):
        for number, topic in enumerate(topics):
            rows = y == number
            axis.plot(
                *points[rows].T,
                "osD^v<>"[number],
                ms=3,
                color=COLOURS[number],
                label=topic,
                alpha=0.8,
            )
        axis.set(title=title, xticks=[], yticks=[])
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=7, markerscale=2
    )
    return figure


def ranking(theme: Theme) -> Any:
    """Draw AUC of RankRLS, RankSVM and RLS on topics with few positives, from docs/reproduce."""
    rows = read_json(HERE / "reproduce" / "reuters-auc.json", MAX_UNPACKED_BYTES)["figures"]
    learners = ("RLS", "RankSVM", "RankRLS")
    ours = {(row["row"], row["column"]): row for row in rows if row["spread"] is not None}
    topics = sorted({topic for topic, _ in ours}, key=lambda t: ours[t, "RLS"]["ours"])
    figure, axes = plt.subplots(figsize=(9, 3.4), layout="constrained")
    for number, (learner, mark) in enumerate(zip(learners, "sox", strict=True)):
        results = [ours[topic, learner] for topic in topics]
        axes.errorbar(
            np.arange(len(topics)) + 0.15 * (number - 1),
            [row["ours"] for row in results],
            yerr=[row["spread"] for row in results],
            fmt=mark,
            ms=4,
            lw=1,
            label=learner,
        )
    axes.set_xticks(range(len(topics)), topics, rotation=60)
    axes.set(ylabel="AUC", title="topics of Reuters, 500 training articles; ± over draws")
    axes.grid(axis="y", color=theme["faint"], lw=0.5)
    axes.legend(ncols=3, loc="lower right")
    return figure


@cache
def _embed_reuters(data: Path) -> tuple[list[str], Any, dict[str, Any]]:
    """Return topics, labels of held-out articles, and their coordinates by projection."""
    articles = read_modapte_articles(data / REUTERS)
    topics = [
        topic for topic in most_frequent_topics(articles, 8) if topic not in ("earn", "wheat")
    ]
    single = [a for a in articles if len(set(a.topics) & set(topics)) == 1]
    order, counts = [], dict.fromkeys(topics, 0)
    for i in np.random.default_rng(0).permutation(len(single)).tolist():
        topic = next(t for t in topics if t in single[i].topics)
        if counts[topic] < 130:  # balanced topics make a readable figure
            counts[topic] += 1
            order.append(i)
    order = np.random.default_rng(1).permutation(order)  # mix the topics
    names = [next(t for t in topics if t in single[i].topics) for i in order]
    texts = [f"{single[i].title} {single[i].text}" for i in order]
    y = np.array([topics.index(name) for name in names])
    half = len(y) // 2
    X, new = fit_tfidf(texts[:half], texts[half:])
    K, other = (X @ X.T).toarray(), (new @ X.T).toarray()
    P = G2P(alpha=1.0, neighbours=110, size=3).fit(
        K, class_matrix(np.eye(len(topics))[y[:half]], "single")
    )
    projections = {
        "LSI, without topics": TruncatedSVD(2, random_state=0).fit(X).transform(new),
        "G2P, dimensions 1 and 2": (other @ P)[:, :2],
        "G2P, dimensions 2 and 3": (other @ P)[:, 1:],
    }
    return topics, y[half:], projections


@cache
def _dataset(name: str, corpus: str) -> Any:
    """Return the Dataset of a pipeline on a sample corpus."""
    docs = list(load_corpus(f"corpora/sample-{corpus}")(spacy.blank("en")))
    return load_pipeline(name).prepare(docs)


@cache
def _alpha_curve(name: str, alphas: tuple[float, ...]) -> Any:
    """Return cross-validated metrics at each alpha on the interaction sample."""
    pipeline = load_pipeline(name, {"learner.alphas": list(alphas)})
    return cross_validate_dataset(pipeline, _dataset(name, "ppi"), make_splitter(folds=5)).curves[
        "alpha"
    ]


@cache
def _heldout(name: str, corpus: str) -> tuple[Any, Any]:
    """Return scores and labels of all held-out candidates of a sample."""
    report = cross_validate_dataset(
        load_pipeline(name), _dataset(name, corpus), make_splitter(folds=5)
    )
    scores = np.array([d.score for d in report.decisions])
    return scores, np.array([d.label for d in report.decisions])


@cache
def _learning(name: str, corpus: str) -> Any:
    """Return the learning curve of a pipeline on a sample."""
    return learning_curve(load_pipeline(name), _dataset(name, corpus), make_splitter(folds=5))


FIGURES: dict[str, Callable[[Theme], Any]] = {
    "positions": positions,
    "graph": graph,
    "windows": windows,
    "spectra": spectra,
    "paths": paths,
    "calibration": calibration,
    "learning": learning,
    "crossing": crossing,
    "ranking": ranking,
}


def main(data: Path | None) -> None:
    """Draw every figure in both themes."""
    OUT.mkdir(exist_ok=True)
    figures = {**FIGURES, "embedding": lambda theme: embedding(theme, data)}
    for theme_name, theme in THEMES.items():
        with plt.rc_context(style(theme)):
            for name, draw in figures.items():
                figure = draw(theme)
                if figure is not None:
                    figure.savefig(OUT / f"{name}-{theme_name}.svg", metadata={"Date": None})
                    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[2]) if sys.argv[1:2] == ["--data"] else None)
