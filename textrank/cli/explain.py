"""``textrank explain``: the features whose contributions sum to each score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    JsonFile,
    ModelName,
    Nlp,
    Texts,
    read_corpus,
    read_texts,
    refuse_ignored,
    set_model_parser,
)

if TYPE_CHECKING:
    from textrank.model import Model
    from textrank.reports.explanation import ExplainedDecision
    from textrank.training_data import StoredInfluence

STORED = "stored"  # instead of a corpus: the documents that the model keeps
MAX_DOCUMENTS = 5  # influential documents to print per score
BATCH_DOCS = 16  # the model's features are matched with their candidates once


def explain_command(
    context: typer.Context,
    model: ModelName,
    texts: Texts,
    nlp: Nlp = None,
    top: Annotated[int, typer.Option(help="Number of features to show per group.")] = 3,
    show_all: Annotated[bool, typer.Option("--all", help="Also show negative answers.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML page.")] = None,
    json_: JsonFile = None,
    relation: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Interactions to explain: physical, regulation or any."),
    ] = None,
    influence: Annotated[
        str | None,
        typer.Option(
            metavar="CORPUS",
            help="Print which documents of this training corpus decided each score; stored for "
            "those that the model keeps, or a file influence.npz.",
        ),
    ] = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Show which features led to each score, for the positive answers in texts.

    With --all also for negative answers. --json always holds every candidate.

    \f
    The page has only the answers that are printed; the number of the others is told on standard
    error. With --influence the rows of ``explain_influence`` are printed and written instead, for
    all candidates, and --top, --all and --relation are refused (ValueError).
    """
    import json

    from textrank.io import write_text
    from textrank.reports.explanation import render_explanations, render_influence

    if influence is not None:
        refused = ("top", "show_all", "relation")
        refuse_ignored(context, refused, "with --influence", "leave out --influence")
        rows = list(explain_influence(model, texts, influence, nlp, options))
        if json_:
            write_text(json.dumps(rows, ensure_ascii=False) + "\n", json_)
        if html:
            write_text(render_influence(rows), html)
        for row in rows:
            typer.echo(_describe_influence(row))
        return
    settings = () if relation is None else (f"task.relation={relation}",)
    explanations = list(explain_model(model, texts, nlp, options, settings=settings))
    if json_:
        write_text(
            json.dumps([e.to_dict() for e in explanations], ensure_ascii=False) + "\n", json_
        )
    shown = [explanation for explanation in explanations if show_all or explanation.is_positive]
    if html:
        write_text(render_explanations(shown, top=top), html)
    for explanation in shown:
        typer.echo(explanation.to_text(top))
    if len(shown) < len(explanations):
        typer.echo(
            f"{len(explanations) - len(shown)} more candidates with negative answers: --all shows "
            "them",
            err=True,
        )


def explain_model(
    model: str,
    texts: Sequence[str],
    nlp: str | None = None,
    options: CommonOptions = DEFAULT_OPTIONS,
    *,
    settings: Sequence[str] = (),
) -> Iterator[ExplainedDecision]:
    """Iterate over the candidates of texts, each with the contributions to its score.

    All candidates are included, also negative ones, in the order of the texts; decisions have
    dependency paths. ``row`` is what the task says about the candidate, {} for a task without a row
    per candidate (``Task.row_per_candidate``). Arguments are as in ``apply_model``. Raises
    ValueError, at the first request, if the kernel of the model cannot split its scores into
    contributions.
    """
    import numpy as np

    from textrank.candidates import get_answers
    from textrank.component import load_language
    from textrank.config import load_model, with_task_settings
    from textrank.evaluation.cross_validation import make_decisions
    from textrank.reports.explanation import ExplainedDecision

    loaded = set_model_parser(with_task_settings(load_model(model), settings), nlp)
    task = loaded.pipeline.task
    docs = read_texts(texts, load_language(nlp, task, raw=True), options)
    while batch := list(islice(docs, BATCH_DOCS)):
        candidates = [c for group in task.find_candidates(batch) for c in group]
        if task.row_per_candidate:
            rows = [
                row for doc in loaded.annotate(batch) for row in get_answers(doc, task.name) or ()
            ]
            scores = np.array([row["score"] for row in rows])
        else:
            rows, scores = [{}] * len(candidates), loaded.score(candidates)
        decisions = make_decisions(candidates, scores, loaded.threshold, paths=True)
        parts = loaded.explain_relative(candidates)
        for decision, contributions, row in zip(decisions, parts, rows, strict=True):
            yield ExplainedDecision(decision, contributions, row)


def explain_influence(
    model: str,
    texts: Sequence[str],
    corpus: str,
    nlp: str | None = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> Iterator[dict[str, Any]]:
    """Iterate over the candidates of texts, each with the documents that decided its score.

    ``corpus`` is the corpus that the model was trained on, the path of an influence file
    (``.npz``), or ``STORED`` for the training data that an updatable model keeps or else for the
    influence file in the model's folder. Other arguments are as in ``explain_model``. A row has
    ``document``, ``text``, ``spans``, ``score`` and ``influence``: for every training document
    ``document``, ``change`` (how much the score would change if the model had been trained without
    it) and ``url`` (address of its PubMed abstract, or None), largest absolute change first. Raises
    ValueError if the learner has no closed form, the model has a second stage, there are too many
    candidates and documents, the model has neither training data nor a file, or the file belongs to
    another model.
    """
    from textrank.component import load_language
    from textrank.config import load_model
    from textrank.evaluation.cross_validation import make_decisions
    from textrank.reports.html import document_url

    loaded = set_model_parser(load_model(model), nlp)
    task = loaded.pipeline.task
    stored = None if loaded.training is not None else load_stored_influence(loaded, model, corpus)
    is_kept = corpus == STORED or stored is not None
    training = None if is_kept else read_corpus(options.load_corpus(corpus), nlp, task)
    docs = list(read_texts(texts, load_language(nlp, task, raw=True), options))
    candidates = [c for group in task.find_candidates(docs) for c in group]
    if not candidates:
        return
    influence = loaded.influence(candidates, training, stored=stored)
    decisions = make_decisions(candidates, loaded.score(candidates), loaded.threshold)
    for number, decision in enumerate(decisions):
        yield {
            "document": decision.document,
            "text": decision.text,
            "spans": decision.spans,
            "score": decision.score,
            "influence": [
                {"document": name, "change": change, "url": document_url(name)}
                for name, change in influence.rank(number)
            ],
        }


def load_stored_influence(model: Model, name: str, corpus: str) -> StoredInfluence | None:
    """Load the influence file of a model; return None if ``corpus`` is the path of a corpus.

    An influence file stores how training documents influence scores, for models that do not keep
    their training data. ``name`` is the name or folder of the model. ``corpus`` is ``STORED`` for
    ``INFLUENCE_FILE`` in the folder of the model, or a path: one that ends in ".npz" is an
    influence file, any other a corpus. Raises ValueError, with a remedy, if the folder has no such
    file or the file belongs to another model.
    """
    from textrank.config import find_model_folder
    from textrank.training_data import INFLUENCE_FILE, StoredInfluence

    if corpus != STORED:
        is_file = corpus.endswith(".npz")
        return StoredInfluence.from_disk(corpus, model) if is_file else None
    file = find_model_folder(name) / INFLUENCE_FILE
    if not file.is_file():
        raise ValueError(
            f"the model {name} keeps no training data, and {file} does not exist. For ppi, build "
            "it with make models/ppi-influence, or give a file that you have with --influence "
            "FILE.npz. A model of your own keeps its training data with textrank train "
            "--updatable."
        )
    return StoredInfluence.from_disk(file, model)


def _describe_influence(row: dict[str, Any]) -> str:
    """Return a candidate with its score, and below it the documents that decided it, one per line.

    ``row`` is a row of ``explain_influence``; its first ``MAX_DOCUMENTS`` documents are listed. A
    document "raised" the score if the score would be lower without it (``change`` below 0),
    otherwise it "lowered" it.
    """
    from textrank.reports.table import mark_spans

    lines = [f"{row['score']:+.2f}  {mark_spans(row['text'], row['spans'])}"]
    for entry in row["influence"][:MAX_DOCUMENTS]:
        verb = "raised" if entry["change"] < 0 else "lowered"
        link = f"  {entry['url']}" if entry["url"] else ""
        lines.append(f"       {verb} by {abs(entry['change']):.3f}: {entry['document']}{link}")
    return "\n".join(lines)
