"""Measure transfer between interaction corpora; each is the target once.

    python docs/experiments/transfer.py DATA [--documents 150] [--candidates 600] [--target LLL]

DATA has the folders ``ppi`` and ``events``. Of an event corpus only the first documents are read,
since they have to be parsed. Prints one JSON object per target.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import islice
from pathlib import Path

from textrank.component import load_language
from textrank.config import load_corpus, load_pipeline
from textrank.evaluation.transfer import transfer_corpora

TARGETS = ("LLL", "IEPA", "AImed", "BioInfer")
EVENTS = ("ge11-train", "epi11-train", "pc13-train")


def main() -> None:
    """Print the effect of all other corpora on each target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--documents", type=int, default=150)
    parser.add_argument("--candidates", type=int, default=600)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--pipeline", default="ppi-linear")
    parser.add_argument("--target", choices=TARGETS, action="append")
    arguments = parser.parse_args()
    pipeline = load_pipeline(arguments.pipeline)
    nlp = load_language(None, pipeline.task)
    corpora = {
        name: list(load_corpus(arguments.data / "ppi" / f"{name}.xml.gz")(nlp)) for name in TARGETS
    }
    for name in EVENTS:
        reader = load_corpus(arguments.data / "events" / f"{name}.tar.gz")
        corpora[name] = list(islice(reader(nlp), arguments.documents))
    for target in arguments.target or TARGETS:
        others = {name: docs for name, docs in corpora.items() if name != target}
        result = transfer_corpora(
            pipeline,
            corpora[target],
            others,
            folds=arguments.folds,
            max_candidates=arguments.candidates,
            name=target,
            title=arguments.pipeline,
        )
        sys.stdout.write(json.dumps(result.to_dict()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
