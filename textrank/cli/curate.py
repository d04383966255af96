"""``textrank curate``: teach a model in a browser, answer by answer."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import Nlp, refuse_ignored
from textrank.cli.explore import Browser, Port, check_web_extra

if TYPE_CHECKING:
    from textrank.model import Model
    from textrank.pipeline import Pipeline
    from textrank.web.annotation import Curation

EXAMPLE = "Example: textrank curate ppi abstracts.txt"


def command(
    context: typer.Context,
    model: Annotated[
        str, typer.Argument(help="A model to begin with, or a pipeline to begin from nothing.")
    ],
    input: Annotated[str, typer.Argument(help="Texts or a corpus to ask about.")],
    port: Port = 0,
    no_browser: Browser = False,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where answers are kept, as SQLite.")
    ] = None,
    as_: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Who answers.")] = None,
    train: Annotated[
        str | None, typer.Option(metavar="CORPUS", help="An annotated corpus to begin with.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="The pipeline of the model, without its weights.")
    ] = False,
    nlp: Nlp = None,
) -> None:
    """Asks about texts in a browser; after every click the model is trained with that answer."""
    if train is not None:
        refuse_ignored(context, ("fresh",), "with --train, which begins anew", "drop --train")
    elif _is_pipeline(model):
        when = f"with {model}, a pipeline without weights"
        refuse_ignored(context, ("fresh",), when, "name a model")
    check_web_extra()
    from textrank.web.annotation import CurationApp
    from textrank.web.app import serve

    curation = _curation(model, input, answers, as_ or _user(), train, fresh, nlp)
    title = Path(input).name
    serve(
        lambda gate: CurationApp(curation, title, gate).app(),
        port=port, browser=not no_browser, tell=typer.echo,
    )  # fmt: skip
    curation.answers.close()


def _curation(
    model: str,
    source: str,
    file: Path | None,
    who: str,
    train: str | None,
    fresh: bool,
    nlp: str | None,
) -> Curation:
    from textrank._annotate import load_language
    from textrank.config import load_corpus
    from textrank.web.active_learner import ActiveLearner
    from textrank.web.annotation import AnswerLog, Curation, fingerprint_docs

    pipeline, prior = _start(model, fresh or train is not None)
    language = load_language(nlp, pipeline.task, raw=True)
    docs = list(load_corpus(source)(language))
    training = list(load_corpus(train)(language)) if train else []
    teaching = ActiveLearner.of(pipeline, docs, prior=prior, training=training)
    target = file or Path(f"{Path(source).name}-{pipeline.task.name}.answers.sqlite")
    about = {"task": pipeline.task.name, "texts": fingerprint_docs(docs)}
    return Curation(teaching, docs, AnswerLog(target, about), who)


def _start(name: str, fresh: bool) -> tuple[Pipeline, Model | None]:
    """A model to go on with, or the pipeline to begin from nothing."""
    from textrank.config import load_model, load_pipeline

    if _is_pipeline(name):
        return load_pipeline(name), None
    loaded = load_model(name)
    return loaded.pipeline, None if fresh else loaded


def _is_pipeline(name: str) -> bool:
    from textrank.config import model_names, pipeline_names

    return name.endswith(".cfg") or (name in pipeline_names() and name not in model_names())


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "someone"
