"""``textrank cross``: what a method is worth outside the corpus it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import (
    JsonFile,
    Nlp,
    PipelineName,
    ReportFolder,
    Settings,
    make_console,
    write_json_figures,
)

if TYPE_CHECKING:
    from textrank.evaluation.evaluate import CrossCorpus

EXAMPLE = "Example: textrank cross ppi AImed.xml.gz IEPA.xml.gz LLL.xml.gz"


def command(
    pipeline: PipelineName,
    corpora: Annotated[list[str], typer.Argument(help="Two or more corpora.")],
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    json_: JsonFile = None,
    report: ReportFolder = None,
) -> None:
    """Trains on each corpus and tests on each other; AUC and F under four thresholds."""
    from textrank.io import update_folder
    from textrank.reports import html
    from textrank.reports.table import cross_table

    found = cross_corpora(pipeline, corpora, set_, nlp)
    write_json_figures(found, json_)
    if report is not None:
        with update_folder(report) as draft:
            html.write_cross(found, draft / "cross.html")
            write_json_figures(found, draft / "cross.json")
        typer.echo(report / "cross.html", err=True)
    make_console().print(cross_table(found))


def cross_corpora(
    pipeline: str, corpora: Sequence[str], settings: Sequence[str] = (), nlp: str | None = None
) -> CrossCorpus:
    """Trains a pipeline on each corpus and tests it on each other, reading every corpus once."""
    from textrank.cli.sources import read_corpus, set_parser
    from textrank.config import load_corpus, load_pipeline, parse_setting
    from textrank.evaluation.evaluate import cross
    from textrank.pipeline import Clock

    chosen = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    sources = [load_corpus(corpus) for corpus in corpora]
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        raise ValueError(f"corpora must have different names, got {', '.join(names)}.")
    clock = Clock()
    with clock.step("reading"):
        docs = {source.name: read_corpus(source, nlp, chosen.task) for source in sources}
    found = cross(chosen, docs)
    return replace(found, seconds={**clock.seconds, **found.seconds})
