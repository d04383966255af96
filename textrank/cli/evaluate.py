"""``textrank evaluate``: test a model on a corpus, with given names or with recognised ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    CorpusPath,
    JsonFile,
    ModelName,
    Nlp,
    ReportFolder,
    make_console,
    read_corpus,
    refuse_ignored,
    set_model_parser,
    write_json_result,
)
from textrank.cli.run import show_report

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from textrank.evaluation import Report
    from textrank.evaluation.evaluate import RawText
    from textrank.model import Model

NAME_SOURCES = ("given", "recognised")


def evaluate_command(
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
            help="Decide by this share of positives, not by the threshold; auto maximises F.",
        ),
    ] = None,
    names: Annotated[
        str,
        typer.Option(
            metavar="given|recognised",
            help="Use the names of the corpus, or those the recogniser finds in its text.",
        ),
    ] = NAME_SOURCES[0],
    sentences: Annotated[
        bool,
        typer.Option(
            "--given-sentences", help="With recognised names, keep the sentences of the corpus."
        ),
    ] = False,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Evaluate a model on an annotated corpus.

    \f
    Given names: prints and writes the report of ``evaluate_model`` (``show_report``); its notes are
    warnings on standard error if the model was trained on some of the documents. Recognised names:
    the report of ``evaluate_raw_identifiers`` for a model of identifiers, else the tables of
    ``evaluate_names``. Raises ValueError for other ``names``, --report with recognised names, and
    options without effect: --given-sentences with given names, and it and --positives with
    recognised names for a model of identifiers.
    """
    if names == NAME_SOURCES[0]:
        recognised = "use --names recognised"
        refuse_ignored(context, ("sentences",), "without --names recognised", recognised)
        result, make_error_page = evaluate_model(
            model, corpus, nlp, positives=positives, options=options
        )
        if result.trained_on:
            for note in result.notes:
                typer.echo(f"textrank: warning: {note}", err=True)
        return show_report(result, json_, report, make_error_page=make_error_page)
    _check_names(names, report)
    if _has_document_identifiers(model):
        ignored = ("positives", "sentences")
        when = f"with --names recognised for {model}, a model of identifiers"
        refuse_ignored(context, ignored, when, "use --names given")
        return show_report(evaluate_raw_identifiers(model, corpus, nlp, options), json_)
    raw = evaluate_names(
        model, corpus, nlp, positives=positives, sentences=sentences, options=options
    )
    write_json_result(raw, json_)
    from textrank.reports.table import raw_text_table

    make_console().print(raw_text_table(raw))


def evaluate_model(
    model: str,
    corpus: str,
    nlp: str | None = None,
    *,
    positives: str | None = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> tuple[Report, Callable[[], str] | None]:
    """Evaluate a model on a corpus with the names that the corpus annotates.

    Raises ValueError if ``positives`` is neither a share in [0, 1] nor "auto", or the model or
    corpus cannot be read.

    Parameters
    ----------
    model, corpus
        Names or paths.
    nlp
        Name or path of a spaCy pipeline; None takes the shipped one.
    positives
        Share of candidates to decide as positive, such as "0.2", or "auto" for the share with the
        highest expected F; None uses the model's threshold.
    options
        Reading options.

    Returns
    -------
    report : Report
    make_error_page : callable or None
        Function without arguments that returns an HTML page explaining the errors; None if the
        kernel cannot split its scores into contributions, or the task ranks.
    """
    from textrank.config import load_model
    from textrank.evaluation import evaluate
    from textrank.pipeline import Clock
    from textrank.protocols import AdditiveKernel, has_features

    share = _parse_share(positives)
    loaded = set_model_parser(load_model(model), nlp)
    source = options.load_corpus(corpus)
    clock = Clock()
    with clock.step("reading"):
        docs = read_corpus(source, nlp, loaded.pipeline.task)
    with clock.step("scoring"):
        report = evaluate(loaded, docs, corpus=source.name, positives=share)
    title = Path(model).name
    report = replace(report, pipeline=title, seconds={**clock.seconds, **report.seconds})

    def make_error_page() -> str:
        """Return an HTML page that explains the wrong decisions of the report."""
        from textrank.reports.explanation import explain_errors, render_explanations

        explanations = explain_errors(loaded, docs, report)
        return render_explanations(explanations, report="report.html")

    kernel = loaded.pipeline.kernel
    explains = has_features(kernel) or isinstance(kernel, AdditiveKernel)
    return report, make_error_page if explains and not loaded.pipeline.task.is_ranking else None


def evaluate_names(
    model: str,
    corpus: str,
    nlp: str | None = None,
    *,
    positives: str | None = None,
    sentences: bool = False,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> RawText:
    """Evaluate a model on the raw text of a corpus, with names that the recogniser finds.

    ``sentences`` says whether to keep the sentence boundaries of the corpus instead of splitting
    the text anew; other arguments are as in ``evaluate_model``. Warns on standard error if the
    model was trained on some of the documents. Raises ValueError if the model does not judge pairs,
    or ``positives`` is not a share.
    """
    import spacy

    from textrank.component import load_language
    from textrank.config import load_model
    from textrank.evaluation.evaluate import evaluate_raw_text
    from textrank.pipeline import Clock

    share = _parse_share(positives)
    loaded = set_model_parser(load_model(model), nlp)
    source = options.load_corpus(corpus)
    clock = Clock()
    with clock.step("reading"):
        docs = list(source(spacy.blank("en")))
        language = load_language(nlp, loaded.pipeline.task, raw=True)
    with clock.step("analysing and scoring"):
        choices: Any = {"positives": share, "sentences": sentences}
        result = evaluate_raw_text(loaded, docs, language, corpus=source.name, **choices)
    _warn_of_overlap(loaded, docs, source.name)
    return replace(result, seconds=clock.seconds)


def evaluate_raw_identifiers(
    model: str,
    corpus: str,
    nlp: str | None = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> Report:
    """Evaluate the identifiers of whole documents, with names that the recogniser finds.

    Arguments are as in ``evaluate_model``. Warns on standard error if the model was trained on some
    of the documents. Raises ValueError if the model does not assign identifiers.
    """
    import spacy

    from textrank.component import load_language
    from textrank.config import load_model
    from textrank.evaluation.evaluate import evaluate_identifiers
    from textrank.pipeline import Clock

    loaded = load_model(model)
    source = options.load_corpus(corpus)
    clock = Clock()
    with clock.step("reading"):
        docs = list(source(spacy.blank("en")))
        language = load_language(nlp, loaded.pipeline.task, raw=True)
    with clock.step("analysing and scoring"):
        report = evaluate_identifiers(loaded, docs, language, corpus=source.name)
    _warn_of_overlap(loaded, docs, source.name)
    return replace(report, pipeline=Path(model).name, seconds=clock.seconds)


def _warn_of_overlap(model: Model, docs: Sequence[Doc], corpus: str) -> None:
    """Warn on standard error if the model was trained on some of the documents.

    Training texts are recognised by the hashes that the model stores. For a model without hashes,
    ``corpus``, the name of the documents' corpus, is compared with the training corpus.
    """
    from textrank.candidates import find_training_overlap

    if overlap := find_training_overlap(model.meta, docs, corpus):
        typer.echo(f"textrank: warning: {overlap.note}", err=True)


def _has_document_identifiers(model: str) -> bool:
    """Return whether a model assigns identifiers to whole documents of raw text.

    That is the case if ``raw_text_unit`` of its task is "documents". ``model`` is a name or path;
    the model is loaded to find out.
    """
    from textrank.config import load_model

    return load_model(model).pipeline.task.raw_text_unit == "documents"


def _parse_share(text: str | None) -> float | Literal["auto"] | None:
    """Return the value of ``--positives`` as a number, or "auto", or None if it was not given.

    Raises ValueError unless the text is None, "auto" or a number in [0, 1].
    """
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
    """Raise ValueError if ``names`` is not one of ``NAME_SOURCES``, or ``report`` is not None.

    ``names`` and ``report`` are the values of ``--names`` and ``--report``. Call it only if names
    are not "given": reports exist only for given names.
    """
    if names not in NAME_SOURCES:
        raise ValueError(f"--names must be one of {', '.join(NAME_SOURCES)}, got {names!r}.")
    if report is not None:
        raise ValueError("--report needs given names. Use --json with recognised ones.")
