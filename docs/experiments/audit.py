"""Flip labels of a corpus at random and measure how well an audit finds them.

    python docs/experiments/audit.py CORPUS [--pipeline ppi-linear] [--share 0.05] [--seeds 5]

For every seed, ``--share`` of the gold labels are flipped. The labels are then doubted twice: by
``textrank.evaluation.audit`` (scores of models without the document, in closed form) and by
scikit-learn and cleanlab (logistic regression on the same features, or a support vector machine on
the same Gram matrix, trained once per fold of documents). The script prints, for both, the share
of flipped labels among as many most doubtful labels as were flipped, the area under the ROC curve,
and the seconds after features or kernel values were computed. Needs ``pip install cleanlab``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace

import numpy as np
from cleanlab.rank import get_label_quality_scores
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, cross_val_predict
from sklearn.svm import SVC

from textrank.candidates import Targets
from textrank.component import load_language
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation.audit import doubt_labels
from textrank.features import Features, KernelData, Vector
from textrank.learners.selection import fit_best_kernel
from textrank.metrics import auc, merge_ties
from textrank.protocols import Learner

REGULARISATION = np.logspace(-2, 2, 5)  # values of C that the logistic regression chooses from


def doubt_by_closed_form(learner: Learner, data: KernelData, targets: Targets) -> Vector:
    """Return the probability that each label is wrong, by exact leave-document-out scores."""
    _, fit = fit_best_kernel(learner, data, targets)
    return doubt_labels(fit.heldout[fit.alpha_index], targets)


def doubt_by_cleanlab(data: KernelData, targets: Targets, folds: int) -> Vector:
    """Return one minus cleanlab's label quality, from cross-validated probabilities.

    The regularisation of the logistic regression is chosen by inner folds of documents in every
    training part, as users of scikit-learn are advised to do.
    """
    y, groups = (targets.y > 0).astype(int), targets.groups
    outer = StratifiedGroupKFold(folds)
    if isinstance(data, Features):
        X, p = data.values.tocsr(), np.zeros((len(y), 2))
        for train, test in outer.split(X, y, groups):
            inner = list(GroupKFold(3).split(X[train], y[train], groups[train]))
            model = LogisticRegressionCV(
                Cs=REGULARISATION, cv=inner, scoring="roc_auc", solver="liblinear"
            )
            p[test] = model.fit(X[train], y[train]).predict_proba(X[test])
    else:
        K = np.asarray(data)
        model = SVC(kernel="precomputed", probability=True, random_state=0)
        p = cross_val_predict(model, K, y, groups=groups, cv=outer, method="predict_proba")
    return 1.0 - get_label_quality_scores(y, p)


def measure(wrong: Vector, is_flipped: Vector, seconds: float) -> dict[str, float]:
    """Return precision among the first doubts, AUC and seconds of one way to doubt labels."""
    first = np.argsort(-merge_ties(wrong), kind="stable")[: int(is_flipped.sum())]
    area = auc(np.where(is_flipped, 1.0, -1.0), wrong)
    return {"precision": float(is_flipped[first].mean()), "auc": area or 0.0, "seconds": seconds}


def main() -> None:
    """Run the comparison on one corpus and print a JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("--pipeline", default="ppi-linear")
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--folds", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--documents", type=int, default=None)
    arguments = parser.parse_args()
    pipeline = load_pipeline(arguments.pipeline)
    docs = list(load_corpus(arguments.corpus)(load_language(None, pipeline.task, raw=False)))
    dataset = pipeline.prepare(docs[: arguments.documents])
    y = dataset.targets.y
    rows: dict[str, list[dict[str, float]]] = {}
    for seed in range(arguments.seeds):
        rng = np.random.default_rng(seed)
        is_flipped = np.zeros(len(y), dtype=bool)
        is_flipped[rng.choice(len(y), round(arguments.share * len(y)), replace=False)] = True
        targets = replace(dataset.targets, y=np.where(is_flipped, -y, y))
        start = time.perf_counter()
        wrong = doubt_by_closed_form(pipeline.learner, dataset.data, targets)
        seconds = time.perf_counter() - start
        rows.setdefault("textrank", []).append(measure(wrong, is_flipped, seconds))
        for folds in arguments.folds:
            start = time.perf_counter()
            wrong = doubt_by_cleanlab(dataset.data, targets, folds)
            seconds = time.perf_counter() - start
            name = f"cleanlab, {folds} folds"
            rows.setdefault(name, []).append(measure(wrong, is_flipped, seconds))
    means = {
        name: {
            key: [round(float(f([v[key] for v in values])), 4) for f in (np.mean, np.std)]
            for key in values[0]
        }
        for name, values in rows.items()
    }
    sys.stdout.write(
        json.dumps(
            {
                "corpus": arguments.corpus.rpartition("/")[2],
                "pipeline": arguments.pipeline,
                "documents": dataset.documents,
                "candidates": len(y),
                "positives": int((y > 0).sum()),
                "flipped": round(arguments.share * len(y)),
                "mean and standard deviation over seeds": means,
            },
            indent=1,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
