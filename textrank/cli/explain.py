"""``textrank explain``: the features whose contributions sum to each score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import DEFAULT_OPTIONS, CommonOptions, JsonFile, ModelName, Nlp, Texts

if TYPE_CHECKING:
    from textrank.reports.explanation import ExplainedDecision

BATCH_DOCS = 16  # the model's features are matched with their candidates once
EXAMPLE = "Example: textrank explain my-model abstract.txt --html why.html"


def command(
    model: ModelName,
    texts: Texts,
    nlp: Nlp = None,
    top: Annotated[int, typer.Option(help="Number of features to show per group.")] = 3,
    show_all: Annotated[bool, typer.Option("--all", help="Also show negative answers.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML page.")] = None,
    json_: JsonFile = None,
    relation: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Interactions to explain: physical, regulation or any."),
    ] = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Show which features led to each score, for the positive answers in texts.

    With --all also for negative answers. --json always holds every candidate.
    """
    import json

    from textrank.io import write_text
    from textrank.reports.explanation import render_explanations

    settings = () if relation is None else (f"task.relation={relation}",)
    explanations = list(explain_model(model, texts, nlp, options, settings=settings))
    if json_:
        write_text(
            json.dumps([e.to_dict() for e in explanations], ensure_ascii=False) + "\n", json_
        )
    shown = [explanation for explanation in explanations if show_all or explanation.is_positive]
    if html:
        write_text(render_explanations(shown, top=top), html)
    for explanation in shown:
        typer.echo(explanation.to_text(top))
    if len(shown) < len(explanations):
        typer.echo(
            f"{len(explanations) - len(shown)} more candidates with negative answers: --all shows "
            "them",
            err=True,
        )


def explain_model(
    model: str,
    texts: Sequence[str],
    nlp: str | None = None,
    options: CommonOptions = DEFAULT_OPTIONS,
    *,
    settings: Sequence[str] = (),
) -> Iterator[ExplainedDecision]:
    """Iterate over the candidates of texts, each with the contributions to its score.

    All candidates are included, also those answered with no, in the order of the texts. Arguments
    are as in ``apply_model``.
    """
    import numpy as np

    from textrank._annotate import load_language
    from textrank.candidates import get_answers
    from textrank.cli.sources import read_texts, set_model_parser
    from textrank.config import load_model, with_task_settings
    from textrank.evaluation.cross_validation import make_decisions
    from textrank.reports.explanation import ExplainedDecision

    loaded = set_model_parser(with_task_settings(load_model(model), settings), nlp)
    task = loaded.pipeline.task
    docs = read_texts(texts, load_language(nlp, task, raw=True), options)
    while batch := list(islice(docs, BATCH_DOCS)):
        candidates = [c for group in task.find_candidates(batch) for c in group]
        if task.row_per_candidate:
            rows = [
                row for doc in loaded.annotate(batch) for row in get_answers(doc, task.name) or ()
            ]
            scores = np.array([row["score"] for row in rows])
        else:
            rows, scores = [{}] * len(candidates), loaded.score(candidates)
        decisions = make_decisions(candidates, scores, loaded.threshold, paths=True)
        parts = loaded.explain_relative(candidates)
        for decision, contributions, row in zip(decisions, parts, rows, strict=True):
            yield ExplainedDecision(decision, contributions, row)
