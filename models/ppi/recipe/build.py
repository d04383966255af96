"""Trains the shipped model of interactions: python build.py DATA OUT [--without AImed].

Six sources, each with a weight; pairs of a source share its weight, so that large corpora do not
drown small ones. The model is a sum over a basis of pairs, ``f(x) = k(x, B) b`` with
``b = (K_B' W K_B + alpha K_BB)^-1 K_B' W y``. Held-out scores are those of each interaction corpus
by a model of all other sources: probabilities and threshold come from corpora it did not see.
``--without`` leaves a corpus out altogether, with documents that share text with it, for tests.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from numpy.typing import NDArray
from spacy.tokens import Doc

import textrank
from textrank.docs import shares_text
from textrank.formats.bionlp import BioNLP
from textrank.formats.json_lines import JsonLines
from textrank.formats.ppi_xml import PPIXML
from textrank.learners.fit import Fit
from textrank.measures import best_threshold
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.types import Features, Indices, Matrix, Vector, Viewed

HERE = Path(__file__).parent
INTERACTIONS = ("AImed", "BioInfer", "IEPA", "LLL")
BASIS = {"AImed": 600, "BioInfer": 800, "IEPA": 350, "LLL": 200, "ge13": 200, "own": 250}
SHARES = {"ge13": 0.3, "own": 0.5}  # weight of a source among those of the corpora, which have 1
CALIBRATED = 800  # pairs of each left-out corpus that probabilities are made from
BATCH = 2000
MOST_NAMES = 12  # in a sentence of an event corpus: longer lists are tables


@dataclass(frozen=True, eq=False)
class Sources:
    """All pairs of all sources, and where each comes from."""

    views: Viewed
    y: Vector
    source: NDArray[np.str_]  # (n,)
    shared: NDArray[np.bool_]  # (n, corpora) whose text is also in that corpus


def read(data: Path, own: Path) -> dict[str, list[Doc]]:
    """The Docs of every source, analysed by the shipped language model."""
    nlp = textrank.load_nlp()
    readers: dict[str, Any] = {
        name: PPIXML(str(data / "ppi" / f"{name}.xml.gz"), analysis="spacy")
        for name in INTERACTIONS
    }
    readers["own"] = JsonLines(str(own))
    docs = {name: list(reader(nlp)) for name, reader in readers.items()}
    parts = [BioNLP(str(data / "events" / f"ge13-{part}.tar.gz")) for part in ("train", "devel")]
    docs["ge13"] = [_without_tables(doc) for part in parts for doc in part(nlp)]
    return docs


def _without_tables(doc: Doc) -> Doc:
    spans = list(doc.spans["entities"])
    kept = []
    for sentence in doc.sents:
        inside = [s for s in spans if sentence.start <= s.start and s.end <= sentence.end]
        kept += inside if len(inside) <= MOST_NAMES else []
    doc.spans["entities"] = kept
    return doc


def gather(pipeline: Pipeline, docs: dict[str, list[Doc]]) -> Sources:
    """The pairs of all sources as the kernel sees them."""
    views, y, source, shared = [], [], [], []
    for name, own in docs.items():
        copies = [shares_text(own, docs[c]) if c != name else [False] * len(own) for c in docs]
        for number, doc in enumerate(own):
            candidates = pipeline.task.candidates(doc)
            y += [c.label for c in candidates]
            source += [name] * len(candidates)
            shared += [[copy[number] for copy in copies]] * len(candidates)
        found = [c for doc in own for c in pipeline.task.candidates(doc)]
        views += [
            pipeline.representation(found[at : at + BATCH]) for at in range(0, len(found), BATCH)
        ]
    joined = Viewed({key: Features.below([v.view(key) for v in views]) for key in views[0].views})
    return Sources(joined, np.array(y), np.array(source), np.array(shared))


def basis_of(found: Sources, rng: np.random.Generator) -> Indices:
    """Pairs of every source, half of them positive where there are enough."""
    chosen = []
    for name in dict.fromkeys(found.source):
        rows = np.flatnonzero(found.source == name)
        yes, no = rows[found.y[rows] > 0], rows[found.y[rows] < 0]
        count = min(len(yes), BASIS[name] // 2)
        chosen += [rng.choice(yes, count, replace=False)]
        chosen += [rng.choice(no, min(len(no), BASIS[name] - count), replace=False)]
    return np.sort(np.concatenate(chosen))


def solve(K: Matrix, found: Sources, basis: Indices, rows: Indices, alpha: float) -> Vector:
    """Coefficients on the basis from some rows; basis pairs that are not among them have none."""
    own = np.flatnonzero(np.isin(basis, rows))
    counts = {name: (found.source[rows] == name).sum() for name in set(found.source[rows])}
    weights = np.array([SHARES.get(s, 1.0) / np.sqrt(counts[s]) for s in found.source[rows]])
    A = K[np.ix_(rows, own)]
    W = A * (weights / weights.mean())[:, None]
    inside = K[np.ix_(basis[own], own)]
    G = A.T @ W + alpha * (inside + inside.T) / 2 + 1e-8 * np.eye(len(own))
    b = np.zeros(len(basis))
    b[own] = sla.solve(G, W.T @ found.y[rows], assume_a="pos")
    return b


def short(features: Features) -> Features:
    """The same with values of eleven binary digits and without words that no column has."""
    values = features.values
    used = np.unique(values.indices)
    moved = sp.csr_array(values[:, used])
    moved.data = moved.data.astype(np.float16).astype(np.float32)
    return Features(moved, features.names.take(used).compact())


def main() -> None:
    """Reads, trains, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--without", choices=INTERACTIONS)
    parser.add_argument(
        "--own", type=Path, default=HERE / "../../../corpora/sample-statements/corpus.jsonl"
    )
    arguments = parser.parse_args()
    pipeline = textrank.load_pipeline(HERE / "pipeline.cfg")
    docs = read(arguments.data, arguments.own)
    found = gather(pipeline, docs)
    train(pipeline, found, list(docs), arguments.without, arguments.out)


def train(
    pipeline: Pipeline, found: Sources, names: list[str], without: str | None, out: Path
) -> None:
    """A model of all sources but one, with scores of corpora left out in turn."""
    if without is not None:
        kept = (found.source != without) & ~found.shared[:, names.index(without)]
        rows = np.flatnonzero(kept)
        found = Sources(
            found.views.rows(rows), found.y[rows], found.source[rows], found.shared[rows]
        )
    rng = np.random.default_rng(0)
    basis = basis_of(found, rng)
    support = Viewed({k: short(found.views.view(k).rows(basis)) for k in found.views.views})
    against = pipeline.kernel.against(support)
    K = np.vstack(
        [against(found.views.rows(slice(at, at + BATCH))) for at in range(0, len(found.y), BATCH)]
    )
    alpha = pipeline.learner.alphas[0]
    everything = np.arange(len(found.y))
    b = solve(K, found, basis, everything, alpha)
    heldout, labels = [], []
    for name in sorted(set(found.source) & set(INTERACTIONS)):
        left = np.flatnonzero(found.source == name)
        others = np.flatnonzero((found.source != name) & ~found.shared[:, names.index(name)])
        scores = K[left] @ solve(K, found, basis, others, alpha)
        some = np.resize(rng.permutation(len(left)), CALIBRATED)
        heldout, labels = [*heldout, scores[some]], [*labels, found.y[left[some]]]
    write(pipeline, support, b, np.concatenate(heldout), np.concatenate(labels), found, out)


def write(
    pipeline: Pipeline,
    support: Viewed,
    b: Vector,
    heldout: Vector,
    labels: Vector,
    found: Sources,
    out: Path,
) -> None:
    """The three files of the model, put into a folder that may hold more."""
    fit = Fit(tuple(pipeline.learner.alphas), pipeline.learner.alphas[0], b, heldout[None])
    sources = sorted(set(found.source))
    meta = {
        "corpus": ", ".join(sources),
        "pairs": {s: int((found.source == s).sum()) for s in sources},
        "licence": "no terms are stated with the interaction corpora: research use; see README.md",
    }
    threshold = best_threshold(labels, heldout)
    model = Model(pipeline, fit, support, None, threshold, heldout, labels, meta)
    with tempfile.TemporaryDirectory() as folder:
        model.to_disk(Path(folder) / "model")
        out.mkdir(parents=True, exist_ok=True)
        for file in (Path(folder) / "model").iterdir():
            shutil.copy(file, out / file.name)


if __name__ == "__main__":
    main()
