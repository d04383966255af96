"""``textrank cross``: train on each corpus and test on each of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
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
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Train on each corpus and test on each of the others.

    Prints AUC, and F under four ways to choose the threshold.
    """
    from textrank.io import update_folder
    from textrank.reports import html
    from textrank.reports.table import cross_table

    result = cross_corpora(pipeline, corpora, set_, nlp, options)
    write_json_figures(result, json_)
    if report is not None:
        with update_folder(report) as draft:
            html.write_cross(result, draft / "cross.html")
            write_json_figures(result, draft / "cross.json")
        typer.echo(report / "cross.html", err=True)
    make_console().print(cross_table(result))


def cross_corpora(
    pipeline: str,
    corpora: Sequence[str],
    settings: Sequence[str] = (),
    nlp: str | None = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> CrossCorpus:
    """Train a pipeline on each corpus and test it on each of the others; each is read once.

    ``pipeline`` is a shipped name or the path of a cfg, ``corpora`` are data files or folders,
    ``settings`` overrides ``KEY=VALUE`` of the cfg, and ``nlp`` a spaCy pipeline (None: the shipped
    one). Raises ValueError if two corpora have one name, or there are fewer than two.
    """
    from textrank.cli.sources import read_corpus, set_parser
    from textrank.config import load_pipeline, parse_setting
    from textrank.evaluation.evaluate import cross_corpora
    from textrank.pipeline import Clock

    configured = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    sources = [options.load_corpus(corpus) for corpus in corpora]
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        raise ValueError(f"corpora must have different names, got {', '.join(names)}.")
    clock = Clock()
    with clock.step("reading"):
        docs = {source.name: read_corpus(source, nlp, configured.task) for source in sources}
    result = cross_corpora(configured, docs)
    return replace(result, seconds={**clock.seconds, **result.seconds})
