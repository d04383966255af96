"""``textrank replay``: how fast a model learns from chosen and from random questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    CorpusPath,
    JsonFile,
    Nlp,
    PageFile,
    PipelineName,
    Settings,
    make_console,
    write_json_figures,
)

if TYPE_CHECKING:
    from textrank.web.replay import Replay

EXAMPLE = "Example: textrank replay ppi-linear corpora/sample-ppi --answers 100 --html curve.html"


def command(
    pipeline: PipelineName,
    corpus: CorpusPath,
    answers: Annotated[int, typer.Option(min=1, help="Largest number of answers.")] = 200,
    folds: Annotated[int, typer.Option(min=2, help="Folds, each held out once.")] = 3,
    orders: Annotated[int, typer.Option(min=1, help="Random orders to compare with.")] = 3,
    step: Annotated[int, typer.Option(min=1, help="Answers between two points.")] = 10,
    compare: Annotated[
        int | None,
        typer.Option(min=1, help="Random answers to compare with; default: the last."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of folds and random orders.")] = 0,
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    json_: JsonFile = None,
    html: PageFile = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Replay the annotation of a corpus as textrank curate would have asked for it.

    Questions are answered with the gold labels, chosen by active learning and in random order, and
    the model is scored on held-out documents. Shows how many answers are saved, what more answers
    would bring, and when to stop.
    """
    from textrank.reports.table import replay_table

    result = replay_file(
        pipeline, corpus, set_, nlp,
        answers=answers, folds=folds, orders=orders, step=step, compared=compare, seed=seed,
        options=options,
    )  # fmt: skip
    write_json_figures(result, json_)
    if html is not None:
        from textrank.io import write_text
        from textrank.reports.html import render_replay

        write_text(render_replay(result.to_dict()), html)
    make_console().print(replay_table(result.to_dict()))


def replay_file(
    pipeline: str,
    corpus: str,
    settings: list[str] | tuple[str, ...] = (),
    nlp: str | None = None,
    *,
    answers: int = 200,
    folds: int = 3,
    orders: int = 3,
    step: int = 10,
    compared: int | None = None,
    seed: int = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> Replay:
    """Read a corpus and replay its annotation.

    ``pipeline`` is a shipped name or the path of a cfg, ``corpus`` a data file or folder,
    ``settings`` are overrides ``KEY=VALUE`` of the cfg and ``nlp`` is a spaCy pipeline (None: the
    shipped one); other arguments are as in ``replay_corpus``, which says what is raised.
    """
    from textrank.cli.sources import read_corpus, set_parser
    from textrank.config import load_pipeline, parse_setting
    from textrank.web.replay import replay_corpus

    configured = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    source = options.load_corpus(corpus)
    docs = read_corpus(source, nlp, configured.task)
    return replay_corpus(
        configured, docs, answers=answers, folds=folds, orders=orders, step=step,
        compared=compared, seed=seed, corpus=source.name, title=pipeline,
    )  # fmt: skip
