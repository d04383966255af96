"""``textrank apply``: what a model says about texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import ModelName, Nlp, TaskSettings, Texts, refuse_ignored

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from textrank.model import Model

BATCH_DOCS = 64  # documents that are judged at once
OUT_OPTIONS = (
    *("format", "workers", "dask", "strict", "timeout", "start_timeout", "part_size", "whole"),
)
MIN_SHOWN_PROBABILITY = 0.5  # what a table shows, whatever its status
EXAMPLE = "Example: echo 'SHC binds to GRB2.' | textrank apply ppi -"


def command(
    context: typer.Context,
    model: ModelName,
    texts: Texts,
    nlp: Nlp = None,
    network: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also writes who interacts with whom: .graphml, .cyjs, .sif or .csv.",
        ),
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also writes one row for every two proteins, as JSON."),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(metavar="P", help="Says yes only where so large a share of it is right."),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also writes texts, names and pairs, as .bioc.xml say."),
    ] = None,
    set_: TaskSettings = [],  # noqa: B006
    diff: Annotated[bool, typer.Option("--diff", help="Corrections as a diff instead.")] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Statements as a table to read instead of JSON.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Writes tables into a folder; started again, goes on."),
    ] = None,
    format: Annotated[str, typer.Option(help="Of --out: parquet or jsonl.")] = "parquet",
    workers: Annotated[int, typer.Option(help="Of --out: processes of this machine.")] = 1,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of --out: an existing Dask cluster.")
    ] = None,
    strict: Annotated[bool, typer.Option(help="Of --out: stops at a bad document.")] = False,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Of --out: no progress means a hang.")
    ] = 300.0,
    start_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Of --out: limit for loading the model.")
    ] = 600.0,
    part_size: Annotated[
        float, typer.Option(metavar="MB", help="Of --out: text in a part, about.")
    ] = 8.0,
    whole: Annotated[bool, typer.Option(help="Of --out: parses every sentence.")] = False,
) -> None:
    """Judges texts with a model: one JSON line a document, or tables in a folder."""
    import json

    _check_options(context, out, dask, diff)
    if precision is not None:
        set_ = [*set_, f"task.precision={precision}"]
    if out is not None:
        from textrank.cli._apply_out import EXIT_SOME_FAILED, WorkerOptions, apply_to_folder

        who = WorkerOptions(workers, dask, timeout, strict, int(part_size * 2**20), start_timeout)
        how: Any = {"settings": set_, "format": format, "whole": whole, "workers": who}
        if apply_to_folder(model, texts, out, nlp, **how).errors:
            raise typer.Exit(EXIT_SOME_FAILED)
        return
    if diff:
        typer.echo("".join(iter_diffs(model, texts, nlp, settings=set_)), nl=False)
        return
    rows = apply_model(model, texts, nlp, network, write, facts, settings=set_)
    if table:
        return _show(list(rows))
    for row in rows:
        typer.echo(json.dumps(row, ensure_ascii=False))


def _check_options(context: typer.Context, out: Path | None, dask: str | None, diff: bool) -> None:
    """Refuse options that would have no effect."""
    if out is None:
        refuse_ignored(context, OUT_OPTIONS, "without --out", "add --out DIR")
    else:
        shown = ("network", "facts", "write", "diff", "table")
        refuse_ignored(context, shown, "with --out", "ask the result with textrank query")
        read = ("skip_bad", "max_bytes", "code")
        refuse_ignored(context, read, "with --out, whose workers read by themselves", "drop --out")
    if dask is not None:
        refuse_ignored(context, ("workers",), "with --dask", "leave out --dask")
    if diff:
        others = ("table", "network", "facts", "write")
        refuse_ignored(context, others, "with --diff", "leave out --diff")


def _show(rows: Sequence[Mapping[str, Any]]) -> None:
    """What is stated, a line each: the likely statements of every document."""
    from rich.table import Table

    from textrank.cli.app import make_console

    shown = Table("statement", "status", "type", "probability", "identifiers", box=None)
    for row in rows:
        if "textrank_ppi" not in row:
            raise ValueError("--table shows statements of ppi; leave it out for other models.")
        for one in row["textrank_ppi"]:
            if one["probability"] >= MIN_SHOWN_PROBABILITY:
                shown.add_row(*_cells(one))
    make_console().print(shown)


def _cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    first, second = one["names"]
    arrow = {"a>b": "→", "b>a": "←"}.get(one["direction"], "–")
    linked = " ".join(found or "?" for found in one["identifiers"])
    stated = f"{first} {arrow} {second}"
    return stated, one["status"], one["type"], f"{one['probability']:.2f}", linked


def apply_model(
    model: str,
    texts: Sequence[str],
    nlp: str | None = None,
    network: Path | None = None,
    write: Path | None = None,
    facts: Path | None = None,
    *,
    settings: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """Judges texts, one row of plain values a document.

    At the end, when asked, their network, their facts, and the texts with names and judged pairs
    in the format that the suffix of ``write`` stands for.
    """
    from textrank.candidates import document_id, get_answers
    from textrank.cli.sources import load_language, set_model_parser
    from textrank.config import load_model, with_task_settings
    from textrank.formats.detection import check_output_path, write_docs
    from textrank.io import check_writable
    from textrank.progress import gc_frozen
    from textrank.tasks.ppi.facts import aggregate_facts as facts_of
    from textrank.tasks.ppi.facts import build_network, check_network_path, write_network
    from textrank.tasks.ppi.task import PPI

    check_network_path(check_writable(network))
    check_writable(facts)
    loaded = set_model_parser(with_task_settings(load_model(model), settings), nlp)
    task = loaded.pipeline.task
    if (network or facts or write) and not isinstance(task, PPI):
        raise ValueError(f"--network, --facts and --write need pairs; {model} is of another task.")
    check_output_path(write, source=task.name)
    language = load_language(nlp, task, raw=True)
    kept = []
    with gc_frozen():
        for doc in iter_annotated(loaded, texts, language, keep=bool(network or facts or write)):
            yield {
                "document": document_id(doc),
                f"textrank_{task.name}": get_answers(doc, task.name),
            }
            kept += [doc] if network or facts or write else []
    if network:
        write_network(build_network(kept), network)
    if facts:
        from textrank.reports.table import write_data  # with all of evaluation

        write_data({"facts": facts_of(kept)}, facts)
    if write:
        write_docs(kept, write, source=task.name)


def iter_annotated(
    model: Model, texts: Sequence[str], nlp: Language, *, keep: bool
) -> Iterator[Doc]:
    """The Docs of texts, judged; unless they are kept, none may be looked at after the next.

    With ``--skip-bad`` a document that cannot be judged is left out with a warning.
    """
    import warnings

    from textrank.candidates import document_id
    from textrank.cli.sources import read_texts
    from textrank.formats.base import READING
    from textrank.language.long_docs import vocab_zone

    def failed(doc: Doc, error: Exception) -> None:
        warnings.warn(f"{document_id(doc)}: left out, for it fails: {error}", stacklevel=2)

    skipped = failed if READING.get().skip_bad else None
    if keep:
        yield from model.pipe(read_texts(texts, nlp), failed=skipped)
        return
    with vocab_zone(nlp) as memory:
        pending: list[Doc] = []
        for doc in read_texts(texts, nlp):
            pending.append(doc)
            if memory.is_due or len(pending) == BATCH_DOCS:
                yield from model.pipe(pending, failed=skipped)
                pending.clear()
                del doc
            if memory.is_due:
                memory.restart()
        yield from model.pipe(pending, failed=skipped)


def iter_diffs(
    model: str, texts: Sequence[str], nlp: str | None = None, *, settings: Sequence[str] = ()
) -> Iterator[str]:
    """The corrections of a spelling model as a unified diff a text; none where nothing changes."""
    from textrank.cli.sources import load_language, set_model_parser
    from textrank.config import load_model, with_task_settings
    from textrank.tasks.spelling import diff

    loaded = set_model_parser(with_task_settings(load_model(model), settings), nlp)
    if loaded.pipeline.task.name != "spelling":
        raise ValueError(f"--diff needs corrections; {model} is of another task.")
    language = load_language(nlp, loaded.pipeline.task, raw=True)
    yield from filter(None, map(diff, iter_annotated(loaded, texts, language, keep=False)))
