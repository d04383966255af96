"""``textrank explain``: the named features whose sum is a score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import JsonFile, ModelName, Nlp, Texts

if TYPE_CHECKING:
    from textrank.reports.explanation import Explanation

BATCH_DOCS = 16  # texts: what a model knows is laid beside their candidates once
EXAMPLE = "Example: textrank explain my-model abstract.txt --html why.html"


def command(
    model: ModelName,
    texts: Texts,
    nlp: Nlp = None,
    top: Annotated[int, typer.Option(help="How many features of each kind of reason.")] = 3,
    every: Annotated[
        bool, typer.Option("--all", help="Also shows what the answer is no to.")
    ] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Draws it as a page.")] = None,
    json_: JsonFile = None,
) -> None:
    """Says why: reasons whose sum is the score, for each yes in the texts, or with --all for all.

    --json holds every candidate.
    """
    import json

    from textrank.io import write_text
    from textrank.reports.explanation import explanation_page

    found = list(explain_model(model, texts, nlp))
    if json_:
        write_text(json.dumps([e.to_dict() for e in found], ensure_ascii=False) + "\n", json_)
    shown = [explanation for explanation in found if every or explanation.yes]
    if html:
        write_text(explanation_page(shown, top=top), html)
    for explanation in shown:
        typer.echo(explanation.text(top))
    if len(shown) < len(found):
        typer.echo(
            f"{len(found) - len(shown)} more candidates, not yes: --all shows them", err=True
        )


def explain_model(
    model: str, texts: Sequence[str], nlp: str | None = None
) -> Iterator[Explanation]:
    """Every candidate of the texts with the features that made its score and what is said of it."""
    import numpy as np

    from textrank.candidates import get_answers
    from textrank.cli.sources import load_language, read_texts, set_model_parser
    from textrank.config import load_model
    from textrank.evaluation.cross_validation import make_decisions
    from textrank.reports.explanation import Explanation
    from textrank.tasks.base import candidates_of

    loaded = set_model_parser(load_model(model), nlp)
    task = loaded.pipeline.task
    docs = read_texts(texts, load_language(nlp, task, raw=True))
    while batch := list(islice(docs, BATCH_DOCS)):
        candidates = [c for own in candidates_of(task, batch) for c in own]
        if task.name == "ppi":
            rows = [
                row for doc in loaded.annotate(batch) for row in get_answers(doc, task.name) or ()
            ]
            scores = np.array([row["score"] for row in rows])
        else:
            rows, scores = [{}] * len(candidates), loaded.score(candidates)
        decisions = make_decisions(candidates, scores, loaded.threshold, paths=True)
        parts = loaded.explain_relative(candidates)
        for decision, own, row in zip(decisions, parts, rows, strict=True):
            yield Explanation(decision, own, row)
