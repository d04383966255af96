"""``textrank train``: train a model on a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    CorpusPath,
    Nlp,
    PipelineName,
    Settings,
    read_corpus,
    refuse_ignored,
    set_parser,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc


def train_command(
    context: typer.Context,
    pipeline: PipelineName,
    corpus: CorpusPath,
    model: Annotated[Path, typer.Argument(help="Folder to write.")],
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    keep: Annotated[
        int | None, typer.Option(help="Keep only this many of the largest feature weights.")
    ] = None,
    without: Annotated[
        list[str],
        typer.Option(
            metavar="CORPUS", help="Leave out documents that share text with this corpus."
        ),
    ] = [],  # noqa: B006
    updatable: Annotated[
        bool,
        typer.Option(
            "--updatable",
            help="Also store the training features, for add, forget and explain --influence.",
        ),
    ] = False,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Train a model on a corpus and write it to a folder.

    \f
    Prints the summary of ``train_model``. Raises ValueError for --keep with --updatable.
    """
    if updatable:
        refuse_ignored(context, ("keep",), "with --updatable", "leave out --updatable")
    summary = train_model(
        pipeline, corpus, model, set_, nlp,
        keep=keep, without=without, updatable=updatable, options=options,
    )  # fmt: skip
    typer.echo(f"{model}: {summary}")


def train_model(
    pipeline: str,
    corpus: str,
    model: Path,
    settings: Sequence[str] = (),
    nlp: str | None = None,
    *,
    keep: int | None = None,
    without: Sequence[str] = (),
    updatable: bool = False,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> str:
    """Train a pipeline on a corpus, write the model, and return a one-line summary.

    The summary names the numbers of candidates and positives, alpha, the trained submodels if the
    training plan has any, and with ``without`` the number of documents left out. Raises ValueError
    if the folder ``model`` cannot be written, or no document is left to train on.

    Parameters
    ----------
    pipeline
        Name of a shipped pipeline, or path of a cfg.
    corpus
        Data file or folder.
    model
        Folder to write.
    settings
        Overrides of the cfg, such as ``["learner.alphas=[1]"]``.
    nlp
        Name or path of a spaCy pipeline; None takes the shipped one.
    keep
        Number of feature weights to keep, the largest ones; None keeps all.
    without
        Corpora to test on later: training documents that share an original text or a sentence with
        one of them are left out.
    updatable
        Whether to store the training features and labels with the model; see ``Pipeline.fit``.
    options
        Reading options.
    """
    import spacy

    from textrank.config import load_pipeline, parse_setting
    from textrank.io import check_model_target
    from textrank.training import load_training_plan
    from textrank.training import train_model as train_plan

    check_model_target(model)
    overrides = dict(map(parse_setting, settings))
    plan = load_training_plan(pipeline)
    configured = set_parser(load_pipeline(plan.pipeline, overrides), nlp)
    source = options.load_corpus(corpus)
    excluded = [options.load_corpus(test_corpus) for test_corpus in without]
    docs = read_corpus(source, nlp, configured.task)
    remaining = _drop_overlapping(
        docs, [doc for test_corpus in excluded for doc in test_corpus(spacy.blank("en"))]
    )
    meta: dict[str, Any] = {"corpus": source.name}
    if without:
        meta |= {
            "without": [test_corpus.name for test_corpus in excluded],
            "left_out": len(docs) - len(remaining),
        }
    trained = train_plan(configured, remaining, plan, overrides, updatable=updatable)
    trained = replace(trained, meta={**trained.meta, **meta})
    (trained if keep is None else trained.prune(keep)).to_disk(model)
    y = trained.labels
    summary = f"{len(y)} candidates, {(y > 0).sum()} positive, alpha {trained.fit.alpha:g}"
    if plan.submodels:
        summary += f", submodels: {', '.join(trained.submodels) or 'none (not annotated)'}"
    return f"{summary}, {meta['left_out']} documents left out" if without else summary


def _drop_overlapping(docs: Sequence[Doc], others: Sequence[Doc]) -> list[Doc]:
    """Return the Docs that share no text with ``others`` (``candidates.shares_text``), in order.

    Raises ValueError if there were Docs and none is left.
    """
    from textrank.candidates import shares_text

    remaining = [doc for doc, s in zip(docs, shares_text(docs, others), strict=True) if not s]
    if docs and not remaining:
        raise ValueError(
            f"all {len(docs)} documents share text with the corpora to leave out: nothing is left "
            "to train on. Name different corpora."
        )
    return remaining
