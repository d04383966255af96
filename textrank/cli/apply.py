"""``textrank apply``: annotate texts with a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    STDIN,
    CommonOptions,
    Encoding,
    ModelName,
    Nlp,
    TaskSettings,
    check_output_file,
    read_texts,
    refuse_ignored,
    set_model_parser,
)
from textrank.cli.files import (
    DEFAULT_MAX_ARTICLES,
    MaxArticles,
    Pmids,
    Query,
    fetch_pubmed_articles,
)

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from textrank.evaluation.guarantees import AnswerObserver, AnswerSetMarker, ShiftMonitor
    from textrank.model import Model

OUT_OPTIONS = (
    *("format", "workers", "dask", "strict", "timeout", "start_timeout", "part_size", "whole"),
)


def apply_command(
    context: typer.Context,
    model: ModelName,
    texts: Annotated[
        list[str] | None, typer.Argument(help="Text or corpus files; - is standard input.")
    ] = None,
    nlp: Nlp = None,
    pmid: Pmids = None,
    query: Query = None,
    max_articles: MaxArticles = DEFAULT_MAX_ARTICLES,
    network: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the facts as .graphml, .cyjs, .cx2, .sif, .csv, .bel, .mitab or "
            ".indra.json.",
        ),
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write one row per pair of proteins, as JSON."),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(metavar="P", help="Choose the threshold for this precision, e.g. 0.9."),
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(metavar="R", help="Choose the threshold for this recall, e.g. 0.8."),
    ] = None,
    max_error: Annotated[
        float | None,
        typer.Option(metavar="E", help="Guarantee at most this share of wrong answers, e.g. 0.1."),
    ] = None,
    confidence: Annotated[
        float, typer.Option(metavar="C", help="With --max-error: probability of the guarantee.")
    ] = 0.95,
    answer_sets: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Give sets of answers, one of which is right with this probability, e.g. 0.9.",
        ),
    ] = None,
    json_: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="With --max-error or --answer-sets: write the guarantee as JSON.",
            callback=check_output_file,
        ),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Interactions to find: physical, regulation or any."),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the annotated texts, e.g. out.bioc.xml."),
    ] = None,
    set_: TaskSettings = [],  # noqa: B006
    diff: Annotated[bool, typer.Option("--diff", help="Print corrections as a diff.")] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Print statements as a table, not JSON.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write tables to this folder; resumable."),
    ] = None,
    format: Annotated[str, typer.Option(help="With --out: parquet or jsonl.")] = "parquet",
    workers: Annotated[int, typer.Option(help="With --out: number of processes.")] = 1,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="With --out: Dask scheduler to use.")
    ] = None,
    strict: Annotated[
        bool, typer.Option(help="With --out: stop at the first bad document.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="With --out: kill a worker that is idle this long."),
    ] = 300.0,
    start_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="With --out: time limit to load the model.")
    ] = 600.0,
    part_size: Annotated[
        float, typer.Option(metavar="MB", help="With --out: approximate text per part.")
    ] = 8.0,
    whole: Annotated[bool, typer.Option(help="With --out: parse every sentence.")] = False,
    encoding: Encoding = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Annotate texts with a model.

    Prints one JSON object per document, or writes tables to a folder with --out. --pmid and --query
    fetch articles from PubMed.

    For a choice among classes or a ranking, --answer-sets gives all answers that are possible:
    textrank apply gene_protein abstract.bioc.xml --answer-sets 0.9

    \f
    --precision, --recall and --relation become settings of the task. Articles of PubMed are
    fetched into a temporary folder. With --out (``apply_to_folder``), the exit code is
    ``EXIT_SOME_FAILED`` if a document failed; --diff prints corrections instead (``iter_diffs``).
    The guarantee is reported on standard error after the last row. Raises ValueError for options
    without effect (also --confidence without --max-error, --json without a guarantee,
    --max-articles without --query), files together with --pmid or --query, no or missing input,
    both guarantees at once, and --table for a task without that export.
    """
    import json
    from dataclasses import replace

    options = replace(options, encoding=encoding)
    _check_options(context, out, dask, diff)
    if pmid is not None or query is not None:
        if texts:
            raise ValueError(f"{texts[0]}: --pmid and --query replace files. Leave one out.")
        refuse_ignored(
            context,
            ("out",),
            "with articles of PubMed",
            "fetch them first: textrank download pubmed DIR --pmid LIST",
        )
        folder = Path(context.with_resource(TemporaryDirectory(prefix="textrank-")))
        summary = fetch_pubmed_articles(context, pmid, query, max_articles, folder)
        texts = [str(file) for file in summary.files]
    else:
        refuse_ignored(context, ("max_articles",), "without --query", "add --query TEXT")
    if not texts:
        raise ValueError("nothing to annotate. Name files, - for standard input, or --pmid LIST.")
    _check_texts(model, texts)
    if max_error is None:
        refuse_ignored(context, ("confidence",), "without --max-error", "add --max-error E")
    elif answer_sets is not None:
        raise ValueError("--max-error and --answer-sets are different guarantees. Leave one out.")
    if max_error is None and answer_sets is None:
        without = "without --max-error or --answer-sets"
        refuse_ignored(context, ("json_",), without, "add --max-error E or --answer-sets P")
    chosen = {"precision": precision, "recall": recall, "relation": relation}
    set_ = [*set_, *(f"task.{key}={value}" for key, value in chosen.items() if value is not None)]
    if out is not None:
        from textrank.cli._apply_out import EXIT_SOME_FAILED, WorkerOptions, apply_to_folder

        worker_options = WorkerOptions(
            workers, dask, timeout, strict, int(part_size * 2**20), start_timeout
        )
        settings: Any = {
            "settings": set_,
            "format": format,
            "whole": whole,
            "workers": worker_options,
        }
        if apply_to_folder(model, texts, out, nlp, **settings).errors:
            raise typer.Exit(EXIT_SOME_FAILED)
        return
    if diff:
        diffs = iter_diffs(model, texts, nlp, settings=set_, options=options)
        typer.echo("".join(diffs), nl=False)
        return
    from textrank.config import load_model, with_task_settings

    loaded = load_model(model)
    if table and "table" not in loaded.pipeline.task.exports:
        raise ValueError(f"--table shows statements, but {model} is a model of another task.")
    monitor: AnswerObserver | None = None
    if answer_sets is not None:
        loaded = with_task_settings(loaded, set_)
        monitor, set_ = _make_answer_set_marker(loaded, answer_sets), []
    if max_error is not None:
        loaded, monitor = _apply_guarantee(with_task_settings(loaded, set_), max_error, confidence)
        set_ = []
    rows = apply_model(
        *(loaded, texts, nlp, network, write, facts),
        settings=set_,
        options=options,
        monitor=monitor,
    )
    if table:
        _show_table(with_task_settings(loaded, set_), list(rows))
    else:
        for row in rows:
            typer.echo(json.dumps(row, ensure_ascii=False))
    if monitor is not None:
        _report_guarantee(monitor, json_)


def _apply_guarantee(
    model: Model, max_error: float, confidence: float
) -> tuple[Model, ShiftMonitor]:
    """Return a model whose threshold meets a guaranteed error rate, and a monitor of its answers.

    ``max_error`` is the largest share of wrong answers among all answers, ``confidence`` the
    probability that the guarantee holds. The threshold is not changed for models without
    calibration and for tasks that always answer; the monitor then only marks which answers are
    guaranteed. The given model is not changed. Raises ValueError if nothing can be guaranteed.
    """
    from textrank.evaluation.guarantees import ShiftMonitor, find_guarantee, with_guarantee

    guarantee = find_guarantee(model, max_error=max_error, confidence=confidence)
    guaranteed = with_guarantee(model, guarantee)
    return guaranteed, ShiftMonitor(guaranteed, guarantee)


def _make_answer_set_marker(model: Model, probability: float) -> AnswerSetMarker:
    """Return an observer that adds to each answer a set that contains the right one.

    The set contains the right answer with the given ``probability``. Raises ValueError if the task
    does not choose among answers, ``probability`` is not strictly between 0 and 1, or the model has
    too few held-out documents.
    """
    from textrank.evaluation.guarantees import AnswerSetMarker, AnswerSets, require_answer_sets

    if not 0 < probability < 1:
        raise ValueError(f"--answer-sets must be between 0 and 1, got {probability:g}.")
    require_answer_sets(model)
    return AnswerSetMarker(model, AnswerSets.from_model(model, error=round(1 - probability, 12)))


def _report_guarantee(monitor: AnswerObserver, file: Path | None) -> None:
    """Print the guarantee on standard error, and how the new texts differ from training texts.

    Call it after all texts were annotated, since ``monitor`` compares their distribution. Unless
    ``file`` is None, the same is written to it as JSON with the keys "guarantee" (or "answer_sets")
    and "shift".
    """
    from textrank.reports.table import write_json

    shift = monitor.shift()
    typer.echo(monitor.describe(), err=True)
    typer.echo(f"{'Warning: ' if shift.is_shifted else ''}{shift.describe()}", err=True)
    if file is not None:
        write_json({**monitor.promise(), "shift": shift.to_dict()}, file)


def _check_options(context: typer.Context, out: Path | None, dask: str | None, diff: bool) -> None:
    """Raise ValueError if an option was given that has no effect.

    The options of the workers (``OUT_OPTIONS``) need ``--out``. ``--out`` and ``--diff`` exclude
    all other kinds of output, ``--out`` also the options for reading files, and ``--dask`` excludes
    ``--workers``.

    ``out``, ``dask`` and ``diff`` are the values of these options; ``context`` tells which options
    were given on the command line.
    """
    if out is None:
        refuse_ignored(context, OUT_OPTIONS, "without --out", "add --out DIR")
    else:
        output_options = ("network", "facts", "write", "diff", "table", "max_error", "answer_sets")
        refuse_ignored(
            context, output_options, "with --out", "search the result with textrank query"
        )
        reading_options = ("skip_bad", "max_bytes", "code", "encoding")
        refuse_ignored(
            context, reading_options, "with --out, whose workers read the files", "drop --out"
        )
    if dask is not None:
        refuse_ignored(context, ("workers",), "with --dask", "leave out --dask")
    if diff:
        other_outputs = ("table", "network", "facts", "write", "max_error", "answer_sets")
        refuse_ignored(context, other_outputs, "with --diff", "leave out --diff")


def _check_texts(model: str, texts: Sequence[str]) -> None:
    """Raise ValueError if an input file or folder does not exist, except "-" (standard input).

    A missing path with a space in it may be a sentence; the message then shows how to pipe it into
    the command, with ``model`` as the name of the model.
    """
    from textrank.io import find_input

    for text in texts:
        if text == STDIN or find_input(text).exists():
            continue
        remedy = "Check the path."
        if " " in text.strip():
            remedy = f"To judge a sentence, pipe it: echo '{text}' | textrank apply {model} -"
        raise ValueError(f"{text}: no such file or folder. {remedy}")


def _show_table(model: Model, rows: Iterable[Mapping[str, Any]]) -> None:
    """Print annotated documents as a table with one line per answer.

    ``rows`` are those of ``apply_model``. The columns are those of the task; answers for which
    ``task.table_row`` returns None are skipped. A line with the document id and the sentence
    precedes the answers of a sentence. A last line on standard error says how the model decides, if
    it tells.
    """
    task = model.pipeline.task
    shown = [
        (f"[{row['document']}] {' '.join(answer['sentence'].split())}", cells)
        for row in rows
        for answer in row[f"textrank_{task.name}"]
        if (cells := task.table_row(answer)) is not None
    ]
    columns = zip(task.table_columns, *(cells for _, cells in shown), strict=True)
    widths = [max(map(cell_len, column)) for column in columns]

    def format_line(cells: Sequence[str]) -> str:
        """Join cells with spaces, padded to the display widths of their columns."""
        pairs = zip(cells, widths, strict=True)
        return " ".join(cell + " " * (width - cell_len(cell)) for cell, width in pairs).rstrip()

    typer.echo(format_line(task.table_columns))
    previous = None
    for heading, cells in shown:
        if heading != previous:
            typer.echo(heading)
        previous = heading
        typer.echo(format_line(cells))
    if decision := model.describe_decision():
        typer.echo(_describe_decision(decision), err=True)


def _describe_decision(decision: Mapping[str, Any]) -> str:
    """Return a line that says which statements are positive, with held-out precision and recall.

    ``decision`` is the result of ``Model.describe_decision()``. Undefined precision and recall
    (None) are shown as 0.
    """
    kind = "" if decision["relation"] == "any" else f"{decision['relation']} "
    return (
        f"{kind}interactions with a probability of {decision['level']:.2f} or more; on texts left "
        f"out of training precision {100 * (decision['heldout_precision'] or 0):.0f} %, recall "
        f"{100 * (decision['heldout_recall'] or 0):.0f} %. --precision and --recall change it."
    )


def apply_model(
    model: str | Model,
    texts: Sequence[str],
    nlp: str | None = None,
    network: Path | None = None,
    write: Path | None = None,
    facts: Path | None = None,
    *,
    settings: Sequence[str] = (),
    options: CommonOptions = DEFAULT_OPTIONS,
    monitor: AnswerObserver | None = None,
) -> Iterator[dict[str, Any]]:
    """Annotate texts; iterate over ``{"document": id, "textrank_<task>": answers}``.

    There is one row per document, in order. A row also has ``decision``
    (``Model.describe_decision()``) if the model describes how it decides, and with ``monitor`` the
    key "guarantee" or "answer_sets". Nothing happens until the first row is requested, and the
    files are only written after the last.

    Parameters
    ----------
    model
        Name or path of a model, or a loaded model.
    texts
        Files, or ``-`` for standard input.
    nlp
        Name or path of a spaCy pipeline; None takes the shipped one.
    network, write, facts
        Files to write after the last row: the interaction network, the annotated texts (in the
        format of the suffix) and the table of facts. Only tasks that judge pairs support them. If
        any is given, all Docs are kept in memory. None writes no file.
    settings
        Changed settings of the task, such as ``["task.precision=0.9"]``.
    options
        Options for reading the texts.
    monitor
        Observer that marks guaranteed answers or adds answer sets; None for none.

    Raises
    ------
    ValueError
        If an option does not fit the task, before any text is read, or a file cannot be read or
        written.
    """
    from textrank.candidates import document_id, get_answers
    from textrank.component import load_language
    from textrank.config import load_model, with_task_settings
    from textrank.formats.detection import check_output_path, write_docs
    from textrank.io import check_writable
    from textrank.progress import gc_frozen

    exports = {"network": network, "facts": facts, "write": write}
    paths = {kind: path for kind, path in exports.items() if path is not None}
    loaded = load_model(model) if isinstance(model, str) else model
    loaded = set_model_parser(with_task_settings(loaded, settings), nlp)
    task = loaded.pipeline.task
    for kind, path in paths.items():
        if kind not in task.exports:
            raise ValueError(f"--{kind} needs pairs, but this is a model of task {task.name!r}.")
        if kind != "write":
            check_writable(path)
            task.check_export(kind, path)
    check_output_path(write, source=task.name)
    language = load_language(nlp, task, raw=True)
    docs: list[Doc] = []
    decision = loaded.describe_decision()
    with gc_frozen():
        annotated = iter_annotated(
            loaded, texts, language, keep=bool(paths), options=options, monitor=monitor
        )
        for doc in annotated:
            yield {
                "document": document_id(doc),
                f"textrank_{task.name}": get_answers(doc, task.name),
                **({"decision": decision} if decision else {}),
                **(monitor.promise() if monitor is not None else {}),
            }
            docs += [doc] if paths else []
    for kind, path in paths.items():
        if kind == "write":
            write_docs(docs, path, source=task.name)
        else:
            task.export(kind, docs, path)


def iter_annotated(
    model: Model,
    texts: Sequence[str],
    nlp: Language,
    *,
    keep: bool,
    options: CommonOptions = DEFAULT_OPTIONS,
    monitor: AnswerObserver | None = None,
) -> Iterator[Doc]:
    """Iterate over the annotated Docs of texts, in order.

    ``texts`` are files, or ``-`` for standard input. Unless ``keep``, a Doc must not be used after
    the next one was taken: the vocabulary is cleared from time to time to bound memory. With
    ``options.skip_bad`` a document that cannot be annotated is left out with a warning; otherwise
    its error is raised. ``monitor`` is called with each annotated Doc and may add to its answers;
    None for none.
    """
    import warnings

    from textrank.candidates import document_id
    from textrank.component import annotate_stream
    from textrank.language.segmentation import VocabZone

    def warn_left_out(doc: Doc, error: Exception) -> None:
        """Warn that a document is left out because of ``error``."""
        warnings.warn(f"{document_id(doc)}: left out because of an error: {error}", stacklevel=2)

    handler = warn_left_out if options.skip_bad else None
    if keep:
        docs = read_texts(texts, nlp, options)
        yield from model.pipe(docs, failed=handler, observe=monitor)
        return
    zone = VocabZone(nlp)
    docs = read_texts(texts, nlp, options, on_batch_end=zone.mark_due)
    yield from annotate_stream(model, docs, zone, failed=handler, observe=monitor)


def iter_diffs(
    model: str,
    texts: Sequence[str],
    nlp: str | None = None,
    *,
    settings: Sequence[str] = (),
    options: CommonOptions = DEFAULT_OPTIONS,
) -> Iterator[str]:
    """Iterate over the corrections of a spelling model, one unified diff per changed text.

    Texts without corrections give no diff. Arguments are as in ``apply_model``. Raises ValueError,
    at the first request, if the task of the model does not propose corrections.
    """
    from textrank.component import load_language
    from textrank.config import load_model, with_task_settings

    loaded = set_model_parser(with_task_settings(load_model(model), settings), nlp)
    task = loaded.pipeline.task
    if "diff" not in task.exports:
        raise ValueError(f"--diff needs corrections, but {model} is a model of task {task.name!r}.")
    language = load_language(nlp, task, raw=True)
    docs = iter_annotated(loaded, texts, language, keep=False, options=options)
    yield from filter(None, map(task.diff, docs))
