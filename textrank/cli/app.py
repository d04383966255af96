"""The commands; the only place that prints."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.progress import track

from textrank import progress
from textrank.cli import explore
from textrank.cli.commands import (
    apply_model,
    compare_reports,
    convert_corpus,
    cross_corpora,
    evaluate_model,
    evaluate_names,
    explain_model,
    propose_changes,
    run_pipeline,
    sweep_pipeline,
    train_model,
    write_cross,
    write_report,
    write_sweep,
)
from textrank.cli.information import information
from textrank.cli.parts import SOME_FAILED, Workers, apply_in_parts
from textrank.cli.query import query
from textrank.evaluation import Report
from textrank.evaluation.pairs import NAME as PAIRS
from textrank.evaluation.splits import PROTOCOLS
from textrank.evaluation.sweep import Sweep
from textrank.formats.table import WRITERS
from textrank.reports.explanation import explanation_page
from textrank.reports.json import write as write_json
from textrank.reports.json import write_data, write_text
from textrank.reports.plots import check_installed
from textrank.reports.raw_text import raw_text_table
from textrank.reports.table import comparison_table, cross_table, sweep_table, table
from textrank.scale.plan import SIZE

T = TypeVar("T")

NAMES = ("given", "recognised")  # where the names of an evaluation come from

app = typer.Typer(
    help="Mines text with kernel methods on spaCy: a pipeline meets a corpus and yields a report "
    "or a model.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
PipelineName = Annotated[str, typer.Argument(help="A shipped pipeline (ppi) or the path of a cfg.")]
CorpusPath = Annotated[str, typer.Argument(help="A data file, or a folder with a corpus.cfg.")]
ModelName = Annotated[str, typer.Argument(help="A shipped model or the folder of a trained one.")]
Texts = Annotated[list[str], typer.Argument(help="Text or corpus files; - is standard input.")]
Settings = Annotated[
    list[str], typer.Option("--set", metavar="KEY=VALUE", help="Overrides a value of the cfg.")
]
TaskSettings = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="As task.precision=0.99 of a spelling model."),
]
Nlp = Annotated[
    str | None, typer.Option("--nlp", help="A spaCy model by name or path instead of ours.")
]


def _writable(path: Path | None) -> Path | None:
    """Refuses before long work, not after it."""
    if path is not None and not path.parent.is_dir():
        raise ValueError(
            f"cannot write {path}: folder {path.parent} does not exist. Make it first."
        )
    return path


def _drawable(path: Path | None) -> Path | None:
    if path is not None:
        check_installed()
    return path


JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Writes figures as JSON.", callback=_writable),
]
ReportFolder = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="DIR", help="Writes report.html, with curves.", callback=_drawable
    ),
]


@app.command(
    epilog="Example: textrank run ppi corpora/sample-ppi --folds 5 --set learner.alphas=[0.5,1]"
)
def run(
    pipeline: PipelineName,
    corpus: CorpusPath,
    folds: Annotated[str, typer.Option(help="A number, or a JSON file {document: fold}.")] = "10",
    seed: Annotated[int, typer.Option(help="Deals the documents out into folds.")] = 0,
    splits: Annotated[int, typer.Option(help="Repeats with as many seeds, and averages.")] = 1,
    protocol: Annotated[
        str, typer.Option(help=f"One of: {', '.join(PROTOCOLS)}, {PAIRS}.")
    ] = PROTOCOLS[0],
    set_: Settings = [],  # noqa: B006 - typer wants a list
    nlp: Nlp = None,
    json_: JsonFile = None,
    report: ReportFolder = None,
    per_fold: Annotated[bool, typer.Option("--per-fold", help="Shows each fold.")] = False,
    permutations: Annotated[
        int, typer.Option(help="Tests against as many permutations of the answers.")
    ] = 0,
    learning_curve: Annotated[
        bool, typer.Option("--learning-curve", help="Repeats with fewer training documents.")
    ] = False,
    sweep: Annotated[
        list[str],
        typer.Option(metavar="KEY=V,V", help="Repeats with each value; several make a grid."),
    ] = [],  # noqa: B006
    cache: Annotated[
        Path, typer.Option(help="Where a sweep keeps finished work, to go on after a stop.")
    ] = Path("textrank-cache"),
) -> None:
    """Cross-validates a pipeline on a corpus, whole documents held out, and prints the report."""
    how: Any = {"folds": folds, "seed": seed, "splits": splits, "protocol": protocol}
    more: Any = {"permutations": permutations, "learning": learning_curve}
    if sweep:
        points = sweep_pipeline(pipeline, corpus, sweep, cache, set_, nlp, **how)
        return _show_sweep(points, json_, report)
    found = run_pipeline(pipeline, corpus, set_, nlp, **how, **more)
    _show(found, json_, report, per_fold)


@app.command(epilog="Example: textrank train ppi corpora/sample-ppi my-model")
def train(
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


@app.command(epilog="Example: textrank evaluate my-model other-corpus.xml.gz --json figures.json")
def evaluate(
    model: ModelName,
    corpus: CorpusPath,
    nlp: Nlp = None,
    json_: JsonFile = None,
    report: ReportFolder = None,
    positives: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE|auto",
            help="Says yes to this share, not by the threshold; auto: above their mean.",
        ),
    ] = None,
    names: Annotated[
        str,
        typer.Option(
            metavar="given|recognised",
            help="Names of the corpus, or found in its bare text by the language model.",
        ),
    ] = NAMES[0],
    sentences: Annotated[
        bool,
        typer.Option(
            "--given-sentences", help="With recognised names, keeps the sentences of the corpus."
        ),
    ] = False,
) -> None:
    """Tests a trained model on an annotated corpus, also on another than it was trained on."""
    if names == NAMES[0]:
        return _show(evaluate_model(model, corpus, nlp, positives=positives), json_, report)
    _check_names(names, report)
    found = evaluate_names(model, corpus, nlp, positives=positives, sentences=sentences)
    if json_ is not None:
        write_data(found.to_dict(), json_)
    _console().print(raw_text_table(found))


@app.command(epilog="Example: textrank compare one.json other.json")
def compare(
    reports: Annotated[list[Path], typer.Argument(help="Files that --json or --report wrote.")],
    measure: Annotated[list[str], typer.Option(help="Instead of AUC and F.")] = [],  # noqa: B006
    json_: JsonFile = None,
) -> None:
    """Tests whether runs on the same folds differ: effect sizes and corrected p-values."""
    found = compare_reports(reports, measure)
    if json_ is not None:
        write_data(found.to_dict(), json_)
    _console().print(comparison_table(found))


@app.command(epilog="Example: textrank cross ppi AImed.xml.gz IEPA.xml.gz LLL.xml.gz")
def cross(
    pipeline: PipelineName,
    corpora: Annotated[list[str], typer.Argument(help="Two or more corpora.")],
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    json_: JsonFile = None,
    report: ReportFolder = None,
) -> None:
    """Trains on each corpus and tests on each other; AUC and F under four thresholds."""
    found = cross_corpora(pipeline, corpora, set_, nlp)
    if json_ is not None:
        write_data(found.to_dict(), json_)
    if report is not None:
        typer.echo(write_cross(found, report), err=True)
    _console().print(cross_table(found))


@app.command(epilog="Example: echo 'SHC binds to GRB2.' | textrank apply ppi -")
def apply(
    model: ModelName,
    texts: Texts,
    nlp: Nlp = None,
    network: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also writes who interacts with whom as GraphML."),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also writes texts, names and pairs, as .bioc.xml say."),
    ] = None,
    set_: TaskSettings = [],  # noqa: B006
    diff: Annotated[bool, typer.Option("--diff", help="Corrections as a diff instead.")] = False,
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
    part_size: Annotated[
        float, typer.Option(metavar="MB", help="Of --out: text in a part, about.")
    ] = SIZE / 2**20,
    whole: Annotated[bool, typer.Option(help="Of --out: parses every sentence.")] = False,
) -> None:
    """Judges texts with a model: one JSON line a document, or tables in a folder."""
    if out is not None:
        if network or write or diff:
            raise ValueError("--network, --write and --diff do not go with --out. Ask the result.")
        who = Workers(workers, dask, timeout, strict, int(part_size * 2**20))
        how: Any = {"settings": set_, "format": format, "whole": whole, "workers": who}
        if apply_in_parts(model, texts, out, nlp, **how).errors:
            raise SystemExit(SOME_FAILED)
        return
    if diff:
        typer.echo("".join(propose_changes(model, texts, nlp, settings=set_)), nl=False)
        return
    for row in apply_model(model, texts, nlp, network, write, settings=set_):
        typer.echo(json.dumps(row, ensure_ascii=False))


@app.command(epilog="Example: textrank convert corpora/sample-ppi sample.bioc.xml")
def convert(
    corpus: CorpusPath,
    target: Annotated[Path, typer.Argument(help="The file or folder to write.")],
    format: Annotated[str | None, typer.Option(help=f"One of: {', '.join(WRITERS)}.")] = None,
    nlp: Nlp = None,
) -> None:
    """Writes a corpus in another format: the one named, or that of the target's suffix."""
    typer.echo(f"{target}: {convert_corpus(corpus, target, format, nlp)} documents")


@app.command(epilog="Example: textrank explain my-model abstract.txt --html why.html")
def explain(
    model: ModelName,
    texts: Texts,
    nlp: Nlp = None,
    top: Annotated[int, typer.Option(help="How many features for and against.")] = 8,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Draws it as a page.")] = None,
    json_: JsonFile = None,
) -> None:
    """Says why: the named features whose sum is the score, for every candidate in the texts."""
    found = list(explain_model(model, texts, nlp))
    if json_:
        write_text(json.dumps([e.to_dict() for e in found], ensure_ascii=False) + "\n", json_)
    if html:
        write_text(explanation_page(found, top=top), html)
    for explanation in found:
        typer.echo(explanation.text(top))


@app.command(epilog="Example: textrank info all_paths.v1")
def info(
    name: Annotated[str | None, typer.Argument(help="A registered name.")] = None,
    json_: JsonFile = None,
) -> None:
    """Lists what is registered and shipped, or says what a name is and which settings it has."""
    found = information(name)
    if json_:
        write_text(json.dumps(found, indent=2) + "\n", json_)
    for title, rows in found.items():
        typer.echo(title)
        for key, value in rows.items():
            typer.echo(f"  {key:<28} {value}")


app.command(epilog='Example: textrank query results "who interacts with GRB2"')(query)
app.command("explore", epilog=explore.EPILOG)(explore.command)


def main() -> NoReturn:
    """Runs a command; what a user can mend ends with code 2 and one message, no traceback."""
    warnings.showwarning = _warn
    try:
        with progress.listening(_Bars()):
            app(standalone_mode=False)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if hasattr(error, "show") and hasattr(error, "exit_code"):  # a usage error of typer
            error.show()
            sys.exit(error.exit_code)
        if type(error).__name__ == "Abort":
            sys.exit(130)
        raise
    sys.exit(0)


class _Bars:
    """Progress bars on standard error; none where it is not a terminal."""

    def track(self, items: Iterable[T], what: str, total: int | None) -> Iterator[T]:
        console = Console(stderr=True)
        if not console.is_terminal:
            return iter(items)
        return iter(track(items, what, total=total, console=console, transient=True))


def _check_names(names: str, report: Path | None) -> None:
    if names not in NAMES:
        raise ValueError(f"--names must be one of {', '.join(NAMES)}, got {names!r}.")
    if report is not None:
        raise ValueError("--report draws an evaluation with given names. Use --json.")


def _show(
    report: Report, json_: Path | None, folder: Path | None = None, folds: bool = False
) -> None:
    if json_ is not None:
        write_json(report, json_)
    if folder is not None:
        typer.echo(write_report(report, folder), err=True)
    _console().print(table(report, folds=folds))


def _show_sweep(found: Sweep, json_: Path | None, folder: Path | None) -> None:
    if json_ is not None:
        write_data(found.to_dict(), json_)
    if folder is not None:
        typer.echo(write_sweep(found, folder), err=True)
    _console().print(sweep_table(found))


def _console() -> Console:
    """Standard output; wide enough for every table where it goes to a file or a pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=140)


def _warn(message: Any, *_: Any, **__: Any) -> None:
    typer.echo(f"textrank: warning: {message}", err=True)


def _fail(message: str) -> NoReturn:
    typer.echo(f"textrank: error: {message}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
