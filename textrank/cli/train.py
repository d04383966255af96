"""``textrank train``: a pipeline meets a corpus and yields a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import CorpusPath, Nlp, PipelineName, Settings

if TYPE_CHECKING:
    from spacy.tokens import Doc

EXAMPLE = "Example: textrank train ppi corpora/sample-ppi my-model"


def command(
    pipeline: PipelineName,
    corpus: CorpusPath,
    model: Annotated[Path, typer.Argument(help="The folder to write.")],
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    keep: Annotated[
        int | None, typer.Option(help="Keeps only so many of the largest feature weights.")
    ] = None,
    without: Annotated[
        list[str],
        typer.Option(metavar="CORPUS", help="Leaves out documents that share text with it."),
    ] = [],  # noqa: B006
) -> None:
    """Trains a pipeline on a corpus and writes the model as a folder."""
    trained = train_model(pipeline, corpus, model, set_, nlp, keep=keep, without=without)
    typer.echo(f"{model}: {trained}")


def train_model(
    pipeline: str,
    corpus: str,
    model: Path,
    settings: Sequence[str] = (),
    nlp: str | None = None,
    *,
    keep: int | None = None,
    without: Sequence[str] = (),
) -> str:
    """Trains on a corpus, writes the model, and says what it is.

    Documents that share an original text or a sentence with a corpus of ``without`` are left out,
    so that the model can be tested there.
    """
    import spacy

    from textrank.cli.sources import read_corpus, set_parser
    from textrank.config import load_corpus, load_pipeline, parse_setting
    from textrank.io import check_model_target
    from textrank.training import load_training_plan
    from textrank.training import train_model as train_plan

    check_model_target(model)
    overrides = dict(map(parse_setting, settings))
    plan = load_training_plan(pipeline)
    chosen = set_parser(load_pipeline(plan.pipeline, overrides), nlp)
    source = load_corpus(corpus)
    apart = [load_corpus(other) for other in without]
    docs = read_corpus(source, nlp, chosen.task)
    kept = _unlike(docs, [doc for other in apart for doc in other(spacy.blank("en"))])
    meta: dict[str, Any] = {"corpus": source.name}
    if without:
        meta |= {"without": [other.name for other in apart], "left_out": len(docs) - len(kept)}
    trained = train_plan(chosen, kept, plan, overrides)
    trained = replace(trained, meta={**trained.meta, **meta})
    (trained if keep is None else trained.prune(keep)).to_disk(model)
    y = trained.labels
    summary = f"{len(y)} candidates, {(y > 0).sum()} positive, alpha {trained.fit.alpha:g}"
    if plan.submodels:
        summary += f", submodels: {', '.join(trained.submodels) or 'none (not annotated)'}"
    return f"{summary}, {meta['left_out']} documents left out" if without else summary


def _unlike(docs: Sequence[Doc], others: Sequence[Doc]) -> list[Doc]:
    """The Docs that share no text with the others; some must be left."""
    from textrank.candidates import shares_text

    kept = [doc for doc, s in zip(docs, shares_text(docs, others), strict=True) if not s]
    if docs and not kept:
        raise ValueError(
            f"all {len(docs)} documents share text with the corpora to leave out: nothing is left "
            "to train on. Name different corpora."
        )
    return kept
