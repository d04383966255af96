"""``textrank audit``: rank the doubtful gold labels of a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    CorpusPath,
    JsonFile,
    Nlp,
    PipelineName,
    Settings,
    make_console,
    write_json_figures,
)

if TYPE_CHECKING:
    from textrank.evaluation.audit import CorpusAudit

EXAMPLE = "Example: textrank audit ppi corpora/sample-ppi --top 10 --json doubts.json"


def command(
    pipeline: PipelineName,
    corpus: CorpusPath,
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    json_: JsonFile = None,
    top: Annotated[int, typer.Option(min=0, help="Number of doubtful labels to print.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of folds and resampled documents.")] = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Find gold labels that are probably wrong.

    Every label is compared with the score of a model that was trained without its document. Read
    the most doubtful ones again: a doubt is no proof. --json has all labels.
    """
    from textrank.reports.table import audit_table

    result = audit_corpus(pipeline, corpus, set_, nlp, seed=seed, options=options)
    write_json_figures(result, json_)
    make_console().print(audit_table(result, top))


def audit_corpus(
    pipeline: str,
    corpus: str,
    settings: list[str] | tuple[str, ...] = (),
    nlp: str | None = None,
    *,
    seed: int = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> CorpusAudit:
    """Read a corpus and audit its gold labels with a pipeline.

    ``pipeline`` is a shipped name or the path of a cfg, ``corpus`` a data file or folder,
    ``settings`` are overrides ``KEY=VALUE`` of the cfg, ``nlp`` is a spaCy pipeline (None: the
    shipped one) and ``seed`` that of folds and resamples. Raises ValueError if the corpus has no
    labelled candidates.
    """
    from textrank.cli.sources import read_corpus, set_parser
    from textrank.config import load_pipeline, parse_setting
    from textrank.evaluation.audit import audit_corpus as audit

    configured = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    source = options.load_corpus(corpus)
    docs = read_corpus(source, nlp, configured.task)
    return audit(configured, docs, seed=seed, corpus=source.name, title=pipeline)
