"""Gene or protein name, by its context alone: a check of the representations on JNLPBA.

Run as a script it prints the whole table (about an hour on one core); as a test it compares a few
rows on two of the five divisions.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import spacy
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate, Targets
from textrank.evaluation.splits import make_folds
from textrank.features import Features, take_rows
from textrank.kernels.algebra import Linear, Normalized, OnView, Sum
from textrank.kernels.sequences import Positional
from textrank.linalg import solve_krylov_path
from textrank.metrics import auc
from textrank.representations.collocations import Collocations, frequent_names
from textrank.representations.contexts import WordPositions
from textrank.representations.mentions import Views
from textrank.representations.transformations import (
    LogScale,
    ScaleFree,
    Sided,
    Smooth,
    Strict,
    Weighting,
    Within,
)

ALPHAS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
LABELS = {"DNA": 1.0, "protein": -1.0}
TOKEN = re.compile(r"[A-Za-z0-9]+(?:[-'/][A-Za-z0-9]+)*|\S")
LOOSE = 1e-4  # entries of a smooth similarity need not be exact to rank mentions


def on(view, positions):
    return Normalized(OnView(view, Positional(positions)), empty="zero")


C = Normalized(OnView("C", Linear()), empty="zero")
W1 = on("bare", Weighting(1.5, 0.05, of=Sided(0.5)))
W3 = on("full", Weighting(1.0, 0.025, of=Sided(0.5)))
LOG = on("full", Weighting(1.0, 0.025, of=LogScale(1.0, tolerance=LOOSE)))
# "bare" is without stop words, "full" with them.
ROWS = {
    "bag of words, s=60": on("bare", Within(60)),
    "strict positions, s=10": on("bare", Within(10, of=Strict())),
    "strict positions, s=60": on("bare", Within(60, of=Strict())),
    "smooth 0.1, s=60": on("bare", Within(60, of=Smooth(0.1, tolerance=LOOSE))),
    "scale-free 1, s=60": on("bare", Within(60, of=ScaleFree(1.0, tolerance=LOOSE))),
    "contextual weighting 1.5, 0.025": on("bare", Weighting(1.5, 0.025)),
    "contextual weighting, stop words kept": on("full", Weighting(1.5, 0.025)),
    "side-aware weighting W1": W1,
    "side-aware weighting, stop words kept W3": W3,
    "weighted scale-free 0.3, stop words kept": on(
        "full", Weighting(1.0, 0.025, of=ScaleFree(0.3, tolerance=LOOSE))
    ),
    "weighted log scale 1, stop words kept": LOG,
    "collocations C": C,
    "W1 + C": Sum([W1, C]),
    "W1 + W3 + C": Sum([W1, W3, C]),
    "W1 + weighted log scale + C": Sum([W1, LOG, C]),
}


def read(file: Path) -> list[Candidate]:
    """Every protein and DNA mention; text is cut at mentions before it is cut into tokens."""
    vocab = spacy.blank("en").vocab
    candidates = []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            entities = [e for e in record["entities"] if e[2] in LABELS]
            doc, spans = _doc(vocab, record["text"], entities)
            candidates += [
                Candidate(doc, (span,), record["id"], label=LABELS[span.label_]) for span in spans
            ]
    return candidates


def _doc(vocab, text, entities):
    cuts = sorted({0, len(text), *(x for start, end, _ in entities for x in (start, end))})
    found = [
        (start + m.start(), start + m.end())
        for start, end in pairwise(cuts)
        for m in TOKEN.finditer(text[start:end])
    ]
    spaces = [text[end : end + 1].isspace() for _, end in found]
    doc = Doc(vocab, words=[text[a:b] for a, b in found], spaces=spaces)
    first = {a: i for i, (a, _) in enumerate(found)}
    last = {b: i for i, (_, b) in enumerate(found)}
    spans = [Span(doc, first[a], last[b] + 1, label=label) for a, b, label in entities]
    return doc, spans


@dataclass
class Experiment:
    """Half of the abstracts to choose alpha, half to measure."""

    X: object
    targets: Targets

    @classmethod
    def of(cls, candidates):
        collocations = Collocations()
        known = frequent_names(collocations(candidates), 2)  # counts never look at a label
        views = Views(
            {
                "bare": WordPositions(stop_words="en"),
                "full": WordPositions(),
                "C": Collocations(known=known),
            }
        )
        return cls(views(candidates), Targets.from_candidates(candidates))

    def halves(self):
        names = [str(d) for d in self.targets.groups]
        half = make_folds(names, 2, 20)
        return np.flatnonzero(half == 0), np.flatnonzero(half == 1)

    def aucs(self, F: Features, index, divisions, alphas):
        """AUC on every fold (divisions x 2) at every alpha."""
        part = self.targets.take(index)
        names = [str(d) for d in part.groups]
        values = F.rows(index).values
        table = []
        for seed in range(divisions):
            folds = make_folds(names, 2, seed)
            for fold in range(2):
                train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
                W = fit(values[train], part.y[train], alphas)
                table.append([auc(part.y[test], values[test] @ w) for w in W])
        return np.array(table)

    def measure(self, kernel, divisions=5):
        """Mean AUC on the parameter half, AUC of each validation fold, and alpha."""
        F = kernel.features(self.X)
        first, second = self.halves()
        tuning = self.aucs(F, first, 1, ALPHAS).mean(axis=0)
        alpha = ALPHAS[int(tuning.argmax())]
        return tuning.max(), self.aucs(F, second, divisions, (alpha,))[:, 0], alpha


def fit(values, y, alphas):
    used = np.flatnonzero(np.bincount(values.indices, minlength=values.shape[1]))
    inner = sp.csr_array(sp.csc_array(values)[:, used])
    W = np.zeros((len(alphas), values.shape[1]))
    W[:, used] = solve_krylov_path(inner, y - y.mean(), np.array(alphas), tolerance=1e-3)
    return W


@pytest.mark.slow
@pytest.mark.corpus
def test_positions_help_as_published(data):
    """The order of the published findings, by paired folds; the whole table is in the README."""
    experiment = Experiment.of(read(data / "jnlpba" / "train.jsonl.gz"))
    assert len(experiment.targets) == 30269 + 9533
    rows = {
        "bag": "bag of words, s=60",
        "strict": "strict positions, s=10",
        "smooth": "smooth 0.1, s=60",
        "weighted": "contextual weighting 1.5, 0.025",
        "sided": "side-aware weighting W1",
        "log": "weighted log scale 1, stop words kept",
    }
    aucs = {name: experiment.measure(ROWS[row], divisions=2)[1] for name, row in rows.items()}
    means = {name: values.mean() for name, values in aucs.items()}
    assert means["weighted"] > means["bag"] + 0.03
    assert means["weighted"] > 0.85
    assert (aucs["sided"] > aucs["weighted"]).all()
    assert means["log"] > means["weighted"] + 0.01
    assert means["smooth"] > means["strict"]


@pytest.mark.slow
@pytest.mark.corpus
def test_all_mentions_are_represented_in_little_memory(data):
    candidates = read(data / "jnlpba" / "train.jsonl.gz")
    contexts = WordPositions()(candidates)
    arrays = [contexts.words, contexts.positions, contexts.starts]
    assert sum(array.nbytes for array in arrays) < 200e6
    assert len(contexts) == len(candidates)
    lengths = np.diff(take_rows(contexts, np.arange(1000)).starts)
    assert lengths.mean() > 100  # whole abstracts


def main(folder: str, wanted: list[str]) -> None:
    """Prints the table; ``wanted`` are beginnings of row names."""
    experiment = Experiment.of(read(Path(folder) / "jnlpba" / "train.jsonl.gz"))
    for name, kernel in ROWS.items():
        if not wanted or name.startswith(tuple(wanted)):
            started = time.process_time()
            tuning, folds, alpha = experiment.measure(kernel)
            seconds = time.process_time() - started
            sys.stdout.write(
                f"{name:42} {100 * tuning:6.2f} {100 * folds.mean():6.2f} "
                f"±{100 * folds.std(ddof=1):.2f}  alpha {alpha:<5g} {seconds:4.0f} s\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
