"""``textrank curate``: annotate texts in a browser while a model learns from the answers."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    Browser,
    CommonOptions,
    Nlp,
    Port,
    check_web_extra,
    explicit_options,
    refuse_ignored,
)

if TYPE_CHECKING:
    from textrank.model import Model
    from textrank.pipeline import Pipeline
    from textrank.web.annotation import Curation
    from textrank.web.app import Credentials
    from textrank.web.rank_curation import RankCuration


def curate_command(
    context: typer.Context,
    model: Annotated[
        str, typer.Argument(help="Model to improve, or pipeline to train from scratch.")
    ],
    input: Annotated[str, typer.Argument(help="Texts or corpus to annotate.")],
    port: Port = 0,
    no_browser: Browser = False,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="SQLite file of the answers.")
    ] = None,
    as_: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Name of the annotator.")
    ] = None,
    train: Annotated[
        str | None, typer.Option(metavar="CORPUS", help="Annotated corpus to train on first.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Use the pipeline of the model without its weights.")
    ] = False,
    overlap: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Share of each person's questions that somebody else has answered; 0 for none.",
        ),
    ] = 0.1,  # textrank.web.annotation.DEFAULT_OVERLAP
    nlp: Nlp = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Annotate texts in a browser; the model is retrained after every answer.

    For rankings, a question asks for the best candidate, such as the best parse of a sentence.

    \f
    Serves until the process is stopped, and then closes the file of answers. Raises ValueError for
    --fresh with --train or with a pipeline, --overlap outside 0 to ``MAX_OVERLAP`` or with a
    ranking, a missing extra ``web``, and as ``_make_curation`` does.
    """
    if train is not None:
        refuse_ignored(
            context, ("fresh",), "with --train, which trains from scratch", "drop --train"
        )
    elif _is_pipeline(model):
        when = f"with {model}, a pipeline without weights"
        refuse_ignored(context, ("fresh",), when, "name a model")
    check_web_extra()
    from textrank.web.annotation import MAX_OVERLAP, Curation, CurationApp
    from textrank.web.app import serve
    from textrank.web.rank_curation import RankCurationApp

    if not 0 <= overlap <= MAX_OVERLAP:
        raise ValueError(f"--overlap must be from 0 to {MAX_OVERLAP}, got {overlap}.")
    given = overlap if explicit_options(context, "overlap") else None
    curation = _make_curation(
        model, input, answers, as_ or user_name(), train, fresh, nlp, options, given
    )
    title = Path(input).name

    def make_app(credentials: Credentials) -> Any:
        """Return the ASGI application of the curation, without the check of the access token."""
        if isinstance(curation, Curation):
            return CurationApp(curation, title, credentials).app()
        return RankCurationApp(curation, title, credentials).app()

    serve(make_app, port=port, browser=not no_browser, tell=typer.echo)
    curation.answers.close()


def _make_curation(
    model: str,
    source: str,
    file: Path | None,
    who: str,
    train: str | None,
    fresh: bool,
    nlp: str | None,
    options: CommonOptions,
    overlap: float | None = None,
) -> Curation | RankCuration:
    """Read the texts, prepare the model that learns, and open the file of answers.

    ``model`` is a model or pipeline, ``source`` the texts and ``who`` the name of the annotator.
    ``file`` is the SQLite file of answers; None takes ``SOURCE-TASK.answers.sqlite`` in the current
    folder, and answers already in it are replayed. The first scores are those of the model. With a
    corpus ``train`` a model is trained on its gold labels instead, and with ``fresh`` learning
    starts without any weights. ``overlap`` is the share of second opinions; None takes the default.
    A task that ranks gives a ``RankCuration``, which asks nothing twice. Raises ValueError as
    ``ActiveLearner.from_docs``, ``RankLearner.from_docs`` and ``AnswerLog`` do, and for ``overlap``
    with a task that ranks.
    """
    from textrank.component import load_language
    from textrank.progress import track
    from textrank.web.active_learner import ActiveLearner
    from textrank.web.annotation import DEFAULT_OVERLAP, AnswerLog, Curation, fingerprint_docs
    from textrank.web.rank_curation import RankCuration, RankLearner

    _print_progress("Loading the model …")
    pipeline, prior = _load_pipeline_and_model(model, fresh or train is not None)
    if overlap is not None and pipeline.task.is_ranking:
        raise ValueError(
            f"--overlap has no effect with {pipeline.task.name}, which ranks. Leave it out."
        )
    language = load_language(nlp, pipeline.task, raw=True)
    docs = list(track(options.load_corpus(source)(language), "Reading texts"))
    training = list(options.load_corpus(train)(language)) if train else []
    _print_progress(f"Judging all candidates of {len(docs)} documents …")
    target = file or Path(f"{Path(source).name}-{pipeline.task.name}.answers.sqlite")
    about = {"task": pipeline.task.name, "texts": fingerprint_docs(docs)}
    if pipeline.task.is_ranking:
        ranker = RankLearner.from_docs(pipeline, docs, prior=prior, training=training)
        _print_progress(f"{len(ranker.questions)} questions. Replaying earlier answers …")
        return RankCuration(ranker, AnswerLog(target, about), who)
    learner = ActiveLearner.from_docs(pipeline, docs, prior=prior, training=training)
    _print_progress(f"{len(learner.questions)} questions. Replaying earlier answers …")
    share = DEFAULT_OVERLAP if overlap is None else overlap
    return Curation(learner, docs, AnswerLog(target, about), who, overlap=share)


def _print_progress(text: str) -> None:
    """Print ``text`` on standard error if it is a terminal, to show progress at the start."""
    if sys.stderr.isatty():
        typer.echo(text, err=True)


def _load_pipeline_and_model(name: str, fresh: bool) -> tuple[Pipeline, Model | None]:
    """Load a pipeline or model; return its pipeline, and the model to start from or None.

    The model is None, so that learning starts from scratch, if ``name`` is a pipeline or ``fresh``
    is true.
    """
    from textrank.config import load_model, load_pipeline

    if _is_pipeline(name):
        return load_pipeline(name), None
    loaded = load_model(name)
    return loaded.pipeline, None if fresh else loaded


def _is_pipeline(name: str) -> bool:
    """Return whether ``name`` means a pipeline: it ends in ".cfg", or only a pipeline is so named.

    A name that both a shipped pipeline and a shipped model have means the model.
    """
    from textrank.config import model_names, pipeline_names

    return name.endswith(".cfg") or (name in pipeline_names() and name not in model_names())


def user_name() -> str:
    """Return the name of the current user, "someone" if it is unknown."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "someone"
