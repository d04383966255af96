"""``textrank audit``: doubtful gold labels of a corpus, and the quality of stored answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.candidates import document_id
from textrank.cli.app import (
    DEFAULT_OPTIONS,
    Browser,
    CommonOptions,
    CorpusPath,
    JsonFile,
    Nlp,
    PipelineName,
    Port,
    Settings,
    check_web_extra,
    make_console,
    read_corpus,
    refuse_ignored,
    set_parser,
    write_json_result,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from textrank.evaluation.audit import CorpusAudit
    from textrank.evaluation.league import AnswerAudit
    from textrank.pipeline import Pipeline
    from textrank.web.review import LabelReview

REVIEW_OPTIONS = ("port", "no_browser", "decisions", "as_")


def audit_command(
    context: typer.Context,
    pipeline: PipelineName,
    corpus: CorpusPath,
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    json_: JsonFile = None,
    top: Annotated[int, typer.Option(min=0, help="Number of doubtful labels to print.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of folds and resampled documents.")] = 0,
    review: Annotated[
        bool, typer.Option("--review", help="Decide about the doubts in a browser.")
    ] = False,
    decisions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --review: SQLite file of the decisions."),
    ] = None,
    as_: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="With --review: who decides.")
    ] = None,
    port: Port = 0,
    no_browser: Browser = False,
    answers: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Audit these answers; the corpus has the checked documents."
        ),
    ] = None,
    label: Annotated[
        list[str],
        typer.Option(metavar="LABEL", help="With --answers: entity label to compare; default all."),
    ] = [],  # noqa: B006
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Find gold labels that are probably wrong.

    Every label is compared with the score of a model that was trained without its document. Read
    the most doubtful ones again: a doubt is no proof. --json has all labels. With --review, people
    accept or reject the doubts on a web page, which exports the corrected corpus.

    With --answers, the answers of another system are audited: the first argument is a model of
    ours that helps, the second a few of the documents with correct annotation.

    \f
    ``as_`` None is ``user_name()``; ``decisions`` None is the default file of ``make_review``. The
    review is served until the process is stopped; then its log is closed. Raises ValueError for
    options without effect: --set, --review and ``REVIEW_OPTIONS`` with --answers, --label without
    it, ``REVIEW_OPTIONS`` without --review, and --top with it.
    """
    from textrank.reports.table import answers_table, audit_table

    if answers is not None:
        ignored = ("set_", "review", *REVIEW_OPTIONS)
        refuse_ignored(context, ignored, "with --answers", "leave out --answers")
        audit = audit_files(pipeline, corpus, answers, label, nlp, seed=seed, options=options)
        write_json_result(audit, json_)
        make_console().print(answers_table(audit, top))
        return
    refuse_ignored(context, ("label",), "without --answers", "add --answers FILE")
    if not review:
        refuse_ignored(context, REVIEW_OPTIONS, "without --review", "add --review")
        result = audit_corpus(pipeline, corpus, set_, nlp, seed=seed, options=options)
        write_json_result(result, json_)
        make_console().print(audit_table(result, top))
        return
    refuse_ignored(context, ("top",), "with --review, which shows all labels", "drop --review")
    check_web_extra()
    from textrank.cli.curate import user_name
    from textrank.web.app import serve
    from textrank.web.review import ReviewApp

    label_review = make_review(
        pipeline, corpus, set_, nlp, decisions, as_ or user_name(), seed=seed, options=options
    )
    write_json_result(label_review.audit, json_)
    title = label_review.audit.corpus
    serve(
        lambda credentials: ReviewApp(label_review, title, credentials).app(),
        port=port, browser=not no_browser, tell=typer.echo,
    )  # fmt: skip
    label_review.log.close()


def audit_corpus(
    pipeline: str,
    corpus: str,
    settings: Sequence[str] = (),
    nlp: str | None = None,
    *,
    seed: int = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> CorpusAudit:
    """Read a corpus and audit its gold labels with a pipeline.

    ``pipeline`` is a shipped name or the path of a cfg, ``corpus`` a data file or folder,
    ``settings`` are overrides ``KEY=VALUE`` of the cfg and ``nlp`` is a spaCy pipeline (None: the
    shipped one). ``seed`` sets the assignment of documents to folds and the bootstrap samples.
    Raises ValueError if the corpus has no labelled candidates.
    """
    from textrank.evaluation.audit import audit_corpus as audit

    configured, docs, name = _read_input(pipeline, corpus, settings, nlp, options)
    return audit(configured, docs, seed=seed, corpus=name, title=pipeline)


def make_review(
    pipeline: str,
    corpus: str,
    settings: Sequence[str] = (),
    nlp: str | None = None,
    file: Path | None = None,
    who: str = "someone",
    *,
    seed: int = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> LabelReview:
    """Audit a corpus and open the file of decisions about its doubts.

    ``file`` is an SQLite file, created if missing; None takes ``CORPUS-TASK.decisions.sqlite`` in
    the current folder. ``who`` is the name of the person who decides. Other arguments are as in
    ``audit_corpus``. The caller closes the ``log`` of the returned review. Raises ValueError if the
    corpus has no labelled candidates, or the file has decisions about other texts or labels.
    """
    from textrank.evaluation.audit import audit_dataset
    from textrank.web.annotation import AnswerLog, fingerprint_docs
    from textrank.web.review import LabelReview, fingerprint_labels

    configured, docs, name = _read_input(pipeline, corpus, settings, nlp, options)
    dataset = configured.prepare(docs)
    audit = audit_dataset(configured, dataset, seed=seed, corpus=name, title=pipeline)
    task = configured.task
    target = file or Path(f"{Path(corpus).name}-{task.name}.decisions.sqlite")
    about = {
        "task": task.name,
        "texts": fingerprint_docs(docs),
        "labels": fingerprint_labels(dataset),
    }
    log = AnswerLog(target, about, option="--decisions")
    return LabelReview(task, docs, dataset, audit, log, who)


def audit_files(
    model: str,
    checked: str,
    answers: str,
    labels: Sequence[str] = (),
    nlp: str | None = None,
    *,
    seed: int = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> AnswerAudit:
    """Estimate the quality of answers in a file from a few checked documents.

    ``answers`` is a corpus with the answers of some system, ``checked`` a corpus with the correct
    annotation of a few of its documents. ``model`` names one of our models: its answers to the same
    texts make the estimate more precise. ``labels`` are the entity labels to compare; empty
    compares all. ``nlp`` is a spaCy pipeline (None: the shipped one), ``seed`` that of the
    bootstrap samples. Raises ValueError if too few answered documents are checked, ids repeat, or
    texts differ between answers and checked documents.
    """
    import spacy

    from textrank.component import load_language
    from textrank.config import load_model
    from textrank.evaluation.league import audit_answers

    source, plain = options.load_corpus(answers), spacy.blank("en")
    docs = list(source(plain))
    gold = list(options.load_corpus(checked)(plain))
    loaded = load_model(model)
    task = loaded.pipeline.task
    language = load_language(nlp, task, raw=True)
    texts = language.pipe(doc.text for doc in docs)
    ours = []
    for number, (doc, ours_doc) in enumerate(zip(docs, loaded.pipe(texts), strict=True)):
        ours_doc.user_data["document"] = document_id(doc, number)
        ours.append(ours_doc)
    return audit_answers(
        docs,
        gold,
        ours,
        source=task.name if task.raw_text_unit == "pairs" else "gold",
        labels=labels or None,
        seed=seed,
        name=source.name,
        model=model,
    )


def _read_input(
    pipeline: str,
    corpus: str,
    settings: Sequence[str],
    nlp: str | None,
    options: CommonOptions,
) -> tuple[Pipeline, list[Doc], str]:
    """Return the configured pipeline, the analysed documents of the corpus, and the corpus name.

    Arguments are those of ``audit_corpus``.
    """
    from textrank.config import load_pipeline, parse_setting

    configured = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    source = options.load_corpus(corpus)
    return configured, list(read_corpus(source, nlp, configured.task)), source.name
