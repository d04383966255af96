"""``textrank explain``: the named features whose sum is a score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.options import JsonFile, ModelName, Nlp, Texts

if TYPE_CHECKING:
    from textrank.reports.explanation import Explanation

EXAMPLE = "Example: textrank explain my-model abstract.txt --html why.html"


def command(
    model: ModelName,
    texts: Texts,
    nlp: Nlp = None,
    top: Annotated[int, typer.Option(help="How many features for and against.")] = 8,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Draws it as a page.")] = None,
    json_: JsonFile = None,
) -> None:
    """Says why: the named features whose sum is the score, for every candidate in the texts."""
    import json

    from textrank.io import write_text
    from textrank.reports.explanation import explanation_page

    found = list(explain_model(model, texts, nlp))
    if json_:
        write_text(json.dumps([e.to_dict() for e in found], ensure_ascii=False) + "\n", json_)
    if html:
        write_text(explanation_page(found, top=top), html)
    for explanation in found:
        typer.echo(explanation.text(top))


def explain_model(
    model: str, texts: Sequence[str], nlp: str | None = None
) -> Iterator[Explanation]:
    """Every candidate of the texts with the features that made its score."""
    from textrank.cli.sources import in_language_model, load_language, read_texts
    from textrank.config import load_model
    from textrank.evaluation.decisions import judged
    from textrank.reports.explanation import Explanation

    loaded = in_language_model(load_model(model), nlp)
    for doc in read_texts(texts, load_language(nlp, loaded.pipeline.task, raw=True)):
        candidates = loaded.pipeline.task.candidates(doc)
        scores = loaded.score(candidates)
        decisions = judged(candidates, scores, loaded.threshold, paths=True)
        for candidate, decision in zip(candidates, decisions, strict=True):
            yield Explanation(decision, loaded.explain(candidate))
