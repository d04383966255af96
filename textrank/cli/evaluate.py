"""``textrank evaluate``: a model on a corpus, with its names or with those found in bare text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from textrank.cli.app import (
    CorpusPath,
    JsonFile,
    ModelName,
    Nlp,
    ReportFolder,
    make_console,
    refuse_ignored,
    write_json_figures,
)
from textrank.cli.run import show_report

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from textrank.evaluation import Report
    from textrank.evaluation.raw_text import RawText
    from textrank.model import Model

EXAMPLE = "Example: textrank evaluate my-model other-corpus.xml.gz --json figures.json"
NAME_SOURCES = ("given", "recognised")  # where the names of an evaluation come from


def command(
    context: typer.Context,
    model: ModelName,
    corpus: CorpusPath,
    nlp: Nlp = None,
    json_: JsonFile = None,
    report: ReportFolder = None,
    positives: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE|auto",
            help="Says yes to this share, not by the threshold; auto: the best F expected.",
        ),
    ] = None,
    names: Annotated[
        str,
        typer.Option(
            metavar="given|recognised",
            help="Names of the corpus, or found in its bare text by the language model.",
        ),
    ] = NAME_SOURCES[0],
    sentences: Annotated[
        bool,
        typer.Option(
            "--given-sentences", help="With recognised names, keeps the sentences of the corpus."
        ),
    ] = False,
) -> None:
    """Tests a trained model on an annotated corpus, also on another than it was trained on."""
    if names == NAME_SOURCES[0]:
        recognised = "use --names recognised"
        refuse_ignored(context, ("sentences",), "without --names recognised", recognised)
        found, why = evaluate_model(model, corpus, nlp, positives=positives)
        if found.trained_on:
            for note in found.notes:
                typer.echo(f"textrank: warning: {note}", err=True)
        return show_report(found, json_, report, why=why)
    _check_names(names, report)
    if _gives_identifiers(model):
        ignored = ("positives", "sentences")
        when = f"with --names recognised for {model}, a model of identifiers"
        refuse_ignored(context, ignored, when, "use --names given")
        return show_report(evaluate_raw_identifiers(model, corpus, nlp), json_)
    raw = evaluate_names(model, corpus, nlp, positives=positives, sentences=sentences)
    write_json_figures(raw, json_)
    from textrank.reports.table import raw_text_table

    make_console().print(raw_text_table(raw))


def evaluate_model(
    model: str, corpus: str, nlp: str | None = None, *, positives: str | None = None
) -> tuple[Report, Callable[[], str] | None]:
    """Tests a model on a corpus, with its own threshold, for a share of positives or ``auto``.

    The report, and what makes a page that explains its errors, where the model can.
    """
    from textrank.cli.sources import read_corpus, set_model_parser
    from textrank.config import load_corpus, load_model
    from textrank.evaluation import evaluate
    from textrank.pipeline import Clock
    from textrank.protocols import AdditiveKernel, has_features

    share = _share(positives)
    loaded = set_model_parser(load_model(model), nlp)
    source = load_corpus(corpus)
    clock = Clock()
    with clock.step("reading"):
        docs = read_corpus(source, nlp, loaded.pipeline.task)
    with clock.step("scoring"):
        report = evaluate(loaded, docs, corpus=source.name, positives=share)
    title = Path(model).name
    report = replace(report, pipeline=title, seconds={**clock.seconds, **report.seconds})

    def why() -> str:
        from textrank.reports.explanation import explained_errors, explanation_page

        found = explained_errors(loaded, docs, report)
        return explanation_page(found, report="report.html")

    kernel = loaded.pipeline.kernel
    explains = has_features(kernel) or isinstance(kernel, AdditiveKernel)
    return report, why if explains and not loaded.pipeline.task.is_ranking else None


def evaluate_names(
    model: str,
    corpus: str,
    nlp: str | None = None,
    *,
    positives: str | None = None,
    sentences: bool = False,
) -> RawText:
    """Tests a model on the bare texts of a corpus, with names that the language model finds.

    ``sentences`` keeps those of the corpus.
    """
    import spacy

    from textrank.cli.sources import load_language, set_model_parser
    from textrank.config import load_corpus, load_model
    from textrank.evaluation.raw_text import evaluate_raw_text
    from textrank.pipeline import Clock

    share = _share(positives)
    loaded = set_model_parser(load_model(model), nlp)
    source = load_corpus(corpus)
    clock = Clock()
    with clock.step("reading"):
        docs = list(source(spacy.blank("en")))
        language = load_language(nlp, loaded.pipeline.task, raw=True)
    with clock.step("analysing and scoring"):
        how: Any = {"positives": share, "sentences": sentences}
        found = evaluate_raw_text(loaded, docs, language, corpus=source.name, **how)
    _warn_of_training(loaded, docs, source.name)
    return replace(found, seconds=clock.seconds)


def evaluate_raw_identifiers(model: str, corpus: str, nlp: str | None = None) -> Report:
    """Tests the identifiers of whole documents, with names that the language model finds."""
    import spacy

    from textrank.cli.sources import load_language
    from textrank.config import load_corpus, load_model
    from textrank.evaluation.raw_text import evaluate_identifiers
    from textrank.pipeline import Clock

    loaded = load_model(model)
    source = load_corpus(corpus)
    clock = Clock()
    with clock.step("reading"):
        docs = list(source(spacy.blank("en")))
        language = load_language(nlp, loaded.pipeline.task, raw=True)
    with clock.step("analysing and scoring"):
        report = evaluate_identifiers(loaded, docs, language, corpus=source.name)
    _warn_of_training(loaded, docs, source.name)
    return replace(report, pipeline=Path(model).name, seconds=clock.seconds)


def _warn_of_training(model: Model, docs: Sequence[Doc], corpus: str) -> None:
    """Say on standard error how many documents the model was trained on, if any."""
    from textrank.candidates import find_training_overlap

    if overlap := find_training_overlap(model.meta, docs, corpus):
        typer.echo(f"textrank: warning: {overlap.note}", err=True)


def _gives_identifiers(model: str) -> bool:
    from textrank.config import load_model

    return load_model(model).pipeline.task.name == "identifiers"


def _share(text: str | None) -> float | Literal["auto"] | None:
    if text == "auto":
        return "auto"
    try:
        share = None if text is None else float(text)
    except ValueError:
        share = -1.0
    if share is not None and not 0 <= share <= 1:
        raise ValueError(f"--positives {text}: give a share between 0 and 1, or auto.")
    return share


def _check_names(names: str, report: Path | None) -> None:
    if names not in NAME_SOURCES:
        raise ValueError(f"--names must be one of {', '.join(NAME_SOURCES)}, got {names!r}.")
    if report is not None:
        raise ValueError("--report draws an evaluation with given names. Use --json.")
