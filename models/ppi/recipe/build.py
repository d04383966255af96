"""Trains the shipped model of interactions: python build.py DATA OUT [--without AImed].

Six sources, each with a weight; pairs of a source share its weight, so that large corpora do not
drown small ones. The model is a sum over a basis of pairs, ``f(x) = k(x, B) b`` with
``b = (K_B' W K_B + alpha K_BB)^-1 K_B' W y``. Held-out scores are those of AImed and of the event
corpus, each by a model of all other sources. Only these two are complete abstracts and articles;
the others are sentences picked because they state interactions, where a yes is far more likely
than in the texts the model is applied to. Probabilities and threshold come from these scores.
``--without``
leaves a corpus out altogether, with documents that share text with it, for tests.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from numpy.typing import NDArray
from spacy.tokens import Doc

import textrank
from textrank.candidates import shares_text
from textrank.features import Features, Indices, Matrix, MultiView, Vector
from textrank.formats.columns import JsonLines
from textrank.formats.ppi_xml import PPIXML
from textrank.formats.standoff import BioNLP
from textrank.learners.base import Fit
from textrank.learners.calibration import PlattCalibration, expected_threshold
from textrank.metrics import (
    auc,
    best_threshold,
    calibration_error,
    chance_calibration_error,
    precision_recall_f,
    reliability,
)
from textrank.model import Model
from textrank.pipeline import Pipeline

HERE = Path(__file__).parent
INTERACTIONS = ("AImed", "BioInfer", "IEPA", "LLL")
BASIS = {"AImed": 450, "BioInfer": 550, "IEPA": 250, "LLL": 150, "ge13": 100, "own": 1000}
SHARES = {"ge13": 0.3, "own": 1.0}  # weight of a source among those of the corpora, which have 1
OWN = "own"
COMPLETE = ("AImed", "ge13")  # complete texts, left out in turn for probabilities and threshold
CALIBRATED = 2000  # pairs of each left-out corpus that probabilities are made from
BATCH = 2000
MOST_NAMES = 12  # in a sentence of an event corpus: longer lists are tables


@dataclass(frozen=True, eq=False)
class Sources:
    """All pairs of all sources, and where each comes from."""

    views: MultiView
    y: Vector
    source: NDArray[np.str_]  # (n,)
    shared: NDArray[np.bool_]  # (n, corpora) whose text is also in that corpus
    third: Indices  # (n,) of three parts of its source, by document

    def rows(self, index: Indices) -> Sources:
        """Some pairs."""
        return Sources(self.views.rows(index), *(a[index] for a in self._arrays))

    @property
    def _arrays(self) -> tuple[Any, ...]:
        return self.y, self.source, self.shared, self.third


def read(data: Path, own: Path) -> dict[str, list[Doc]]:
    """The Docs of every source, analysed by the shipped language model."""
    nlp = textrank.load_nlp(only=["tagger", "parser"])
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
    views, y, source, shared, third = [], [], [], [], []
    for name, own in docs.items():
        copies = [shares_text(own, docs[c]) if c != name else [False] * len(own) for c in docs]
        for number, doc in enumerate(own):
            candidates = pipeline.task.candidates(doc)
            y += [c.label for c in candidates]
            source += [name] * len(candidates)
            shared += [[copy[number] for copy in copies]] * len(candidates)
            third += [number % 3] * len(candidates)
        found = [c for doc in own for c in pipeline.task.candidates(doc)]
        views += [
            pipeline.representation(found[at : at + BATCH]) for at in range(0, len(found), BATCH)
        ]
    joined = MultiView(
        {key: Features.vstack([v.view(key) for v in views]) for key in views[0].views}
    )
    arrays = (np.array(own) for own in (y, source, shared, third))
    return Sources(joined, *arrays)


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


@dataclass(frozen=True, eq=False)
class Equations:
    """What least squares on a basis adds up, source by source, so that any can be left out."""

    K: Matrix  # (n, basis)
    found: Sources
    names: Sequence[str]  # of the corpora, as in the columns of ``shared``
    basis: Indices
    alpha: float

    @cached_property
    def sums(self) -> dict[str, tuple[Matrix, Vector]]:
        """``A'A`` and ``A'y`` of each source."""
        return {s: self._sums(self.found.source == s) for s in dict.fromkeys(self.found.source)}

    def _sums(self, rows: NDArray[np.bool_]) -> tuple[Matrix, Vector]:
        A = self.K[rows]
        return A.T @ A, A.T @ self.found.y[rows]

    def solve(self, out: Sequence[str] = (), less: NDArray[np.bool_] | None = None) -> Vector:
        """Coefficients from all sources but some, and without some more rows.

        Pairs of the basis that are left out have none.
        """
        found = self.found
        copies = found.shared[:, [self.names.index(name) for name in out]].any(axis=1)
        copies |= np.zeros(len(copies), bool) if less is None else less
        left = np.isin(found.source, out) | copies
        own = np.flatnonzero(~left[self.basis])
        G, h, total = np.zeros((len(self.basis),) * 2), np.zeros(len(self.basis)), 0.0
        for name in self.sums:
            rows = (found.source == name) & ~left
            if name in out or not rows.any():
                continue
            weight = SHARES.get(name, 1.0) / np.sqrt(rows.sum())
            A, y = self.sums[name]
            gone = self._sums((found.source == name) & copies)
            G, h, total = (
                G + weight * (A - gone[0]),
                h + weight * (y - gone[1]),
                total + weight * rows.sum(),
            )
        inside = self.K[np.ix_(self.basis[own], own)]
        scale = total / (~left).sum()  # weights of mean one
        G = G[np.ix_(own, own)] / scale + self.alpha * (inside + inside.T) / 2
        b = np.zeros(len(self.basis))
        b[own] = sla.solve(G + 1e-8 * np.eye(len(own)), h[own] / scale, assume_a="pos")
        return b

    def scores(self, *out: str) -> Vector:
        """Those of the first of some sources by a model without all of them.

        Our own sentences are left out by thirds of their frames: no other source is like them.
        """
        mine = self.found.source == out[0]
        if out[0] != OWN:
            return np.asarray(self.K[mine] @ self.solve(out))
        found = np.zeros(int(mine.sum()))
        for third in range(3):
            less = mine & (self.found.third == third)
            found[less[mine]] = self.K[less] @ self.solve(out[1:], less)
        return found

    def heldout(self, *out: str) -> tuple[Vector, Vector, list[str]]:
        """Return scores of the sources left out in turn, labels and sources; nothing of ``out``."""
        rng, parts, sources = np.random.default_rng(0), [], []
        for name in sorted(set(self.found.source) & set(COMPLETE) - set(out)):
            rows = np.flatnonzero(self.found.source == name)
            some = np.resize(rng.permutation(len(rows)), CALIBRATED)
            parts.append((self.scores(name, *out)[some], self.found.y[rows[some]]))
            sources += [name] * len(some)
        scores, labels = map(np.concatenate, zip(*parts, strict=True))
        return scores, labels, sources

    def figures(self, name: str) -> dict[str, Any]:
        """What a model of all other sources is worth on a corpus, its labels used for nothing else.

        Yes goes to where the probabilities, calibrated on the others, expect the best F.
        """
        rows = np.flatnonzero(self.found.source == name)
        y, scores = self.found.y[rows], self.scores(name)
        p = PlattCalibration.across(*self.heldout(name))(scores)
        said = {
            "f": scores >= expected_threshold(scores, p),
            "f_at_level": p >= 0.5,
            "f_best": scores >= (best_threshold(y, scores) or 0.0),
        }
        return {
            "auc": auc(y, scores),
            **{key: precision_recall_f(y, yes).f for key, yes in said.items()},
            "calibration_error": calibration_error(y, p),
            "calibration_error_of_chance": chance_calibration_error(p),
            "reliability": [asdict(b) for b in reliability(y, p)],
        }


def short(features: Features) -> Features:
    """The same with values of eleven binary digits and without words that no column has."""
    values = features.values
    used = np.unique(values.indices)
    moved = sp.csr_array(values[:, used])
    moved.data = moved.data.astype(np.float16).astype(np.float32)
    return Features(moved, features.names.take(used).drop_unused_words())


def main() -> None:
    """Reads, trains, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--without", choices=INTERACTIONS)
    parser.add_argument("--figures", type=Path, help="file for figures of corpora left out")
    parser.add_argument(
        "--own", type=Path, default=HERE / "../../../corpora/sample-statements/corpus.jsonl"
    )
    arguments = parser.parse_args()
    pipeline = textrank.load_pipeline(HERE / "pipeline.cfg")
    docs = read(arguments.data, arguments.own)
    found = gather(pipeline, docs)
    equations = train(pipeline, found, list(docs), arguments.without, arguments.out)
    if arguments.figures is not None:
        figures = {name: equations.figures(name) for name in INTERACTIONS}
        arguments.figures.write_text(json.dumps(figures, indent=1), encoding="utf-8")


def train(
    pipeline: Pipeline, found: Sources, names: list[str], without: str | None, out: Path
) -> Equations:
    """A model of all sources but one, with scores of corpora left out in turn."""
    if without is not None:
        kept = (found.source != without) & ~found.shared[:, names.index(without)]
        found = found.rows(np.flatnonzero(kept))
    rng = np.random.default_rng(0)
    basis = basis_of(found, rng)
    support = MultiView({k: short(found.views.view(k).rows(basis)) for k in found.views.views})
    against = pipeline.kernel.index(support)
    K = np.vstack(
        [against(found.views.rows(slice(at, at + BATCH))) for at in range(0, len(found.y), BATCH)]
    )
    equations = Equations(K, found, names, basis, pipeline.learner.alphas[0])
    write(pipeline, support, equations.solve(), *equations.heldout(), found, out)
    return equations


def write(
    pipeline: Pipeline,
    support: MultiView,
    b: Vector,
    heldout: Vector,
    labels: Vector,
    sources: Sequence[str],
    found: Sources,
    out: Path,
) -> None:
    """The three files of the model, put into a folder that may hold more."""
    curve = PlattCalibration.across(heldout, labels, sources)
    threshold = best_threshold(labels, heldout)
    fit = Fit(tuple(pipeline.learner.alphas), pipeline.learner.alphas[0], b, heldout[None])
    trained = sorted(set(found.source))
    meta = {
        "corpus": ", ".join(trained),
        "pairs": {s: int((found.source == s).sum()) for s in trained},
        "licence": "no terms are stated with the interaction corpora: research use; see README.md",
    }
    model = Model(pipeline, fit, support, None, threshold, heldout, labels, meta, calibration=curve)
    with tempfile.TemporaryDirectory() as folder:
        model.to_disk(Path(folder) / "model")
        out.mkdir(parents=True, exist_ok=True)
        for file in (Path(folder) / "model").iterdir():
            shutil.copy(file, out / file.name)


if __name__ == "__main__":
    main()
