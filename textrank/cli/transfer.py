"""``textrank transfer``: which other corpora help a target corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    JsonFile,
    Nlp,
    PageFile,
    Settings,
    make_console,
    write_json_figures,
)

if TYPE_CHECKING:
    from textrank.evaluation.transfer import Transfer

EXAMPLE = "Example: textrank transfer mine.bioc.xml AImed.xml.gz IEPA.xml.gz --html effects.html"


def command(
    target: Annotated[str, typer.Argument(help="Corpus to improve.")],
    others: Annotated[list[str], typer.Argument(help="One or more other corpora.")],
    pipeline: Annotated[
        str, typer.Option(help="Pipeline with the learner rls.v1, or path of a cfg.")
    ] = "ppi-linear",
    folds: Annotated[int, typer.Option(min=2, help="Folds of target documents.")] = 5,
    max_candidates: Annotated[
        int, typer.Option(min=10, help="Largest number of candidates to use per corpus.")
    ] = 1000,
    top: Annotated[int, typer.Option(min=0, help="Number of harmful documents to print.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of folds, samples and resamples.")] = 0,
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    json_: JsonFile = None,
    html: PageFile = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Find out which other corpora help a target corpus.

    The weight of each is chosen by leave-document-out scores of the target. Effects are measured on
    target documents that the choice did not see. Lists foreign documents that do harm.
    """
    from textrank.reports.table import transfer_table

    result = transfer_files(
        target, others, pipeline, set_, nlp,
        folds=folds, max_candidates=max_candidates, seed=seed, options=options,
    )  # fmt: skip
    write_json_figures(result, json_)
    if html is not None:
        from textrank.io import write_text
        from textrank.reports.html import render_transfer

        write_text(render_transfer(result), html)
    make_console().print(transfer_table(result, top))


def transfer_files(
    target: str,
    others: Sequence[str],
    pipeline: str = "ppi-linear",
    settings: Sequence[str] = (),
    nlp: str | None = None,
    *,
    folds: int = 5,
    max_candidates: int = 1000,
    seed: int = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> Transfer:
    """Read a target corpus and others and choose the weights of the others.

    Corpora are data files or folders, ``pipeline`` is a shipped name or the path of a cfg,
    ``settings`` are overrides ``KEY=VALUE`` of it and ``nlp`` is a spaCy pipeline (None: the
    shipped one); other arguments are as in ``transfer_corpora``. Raises ValueError if there is no
    other corpus or two have one name, a corpus has no labelled candidates, or the learner is not
    RLS.
    """
    from textrank.cli.sources import read_corpus, set_parser
    from textrank.config import load_pipeline, parse_setting
    from textrank.evaluation.transfer import transfer_corpora

    configured = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    sources = [options.load_corpus(path) for path in (target, *others)]
    names = [source.name for source in sources[1:]]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two of the corpora are named {twice!r}. Rename one of the files.")
    first, *rest = (read_corpus(source, nlp, configured.task) for source in sources)
    return transfer_corpora(
        configured, first, dict(zip(names, rest, strict=True)),
        folds=folds, max_candidates=max_candidates, seed=seed,
        name=sources[0].name, title=pipeline,
    )  # fmt: skip
