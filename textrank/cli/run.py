"""``textrank run`` (cross-validate a pipeline or a grid) and ``reproduce`` (published tables)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    CorpusPath,
    JsonFile,
    Nlp,
    PipelineName,
    ReportFolder,
    Settings,
    make_console,
    read_corpus,
    refuse_ignored,
    set_parser,
    write_json_result,
)

if TYPE_CHECKING:
    from textrank.evaluation import Report
    from textrank.evaluation.sweep import Sweep

EXPLANATIONS_FILE = "explanations.html"  # of the errors in report.html
PROTOCOL_NAMES = (
    *("documents", "leave-document-out", "leave-query-out", "5x2", "train-test"),
    *("sentences", "leaky", "leave-pair-out"),
)


# Protocol -> options that it does not use.
IGNORED_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "leave-document-out": ("folds", "seed", "splits"),
    "leave-query-out": ("folds", "seed", "splits"),
    "5x2": ("folds", "splits"),
    "train-test": ("folds", "splits"),
    "leave-pair-out": ("folds", "seed", "splits", "permutations", "learning_curve"),
}


def run_command(
    context: typer.Context,
    pipeline: PipelineName,
    corpus: CorpusPath,
    folds: Annotated[
        str, typer.Option(help="Number of folds, or JSON file {document: fold}.")
    ] = "10",
    seed: Annotated[int, typer.Option(help="Seed of the assignment to folds.")] = 0,
    splits: Annotated[int, typer.Option(help="Average over this many seeds.")] = 1,
    protocol: Annotated[
        str, typer.Option(help=f"One of: {', '.join(PROTOCOL_NAMES)}.")
    ] = PROTOCOL_NAMES[0],
    set_: Settings = [],  # noqa: B006 - typer wants a list
    nlp: Nlp = None,
    json_: JsonFile = None,
    report: ReportFolder = None,
    per_fold: Annotated[bool, typer.Option("--per-fold", help="Show each fold.")] = False,
    permutations: Annotated[
        int, typer.Option(help="Permutation test with this many permutations of the labels.")
    ] = 0,
    learning_curve: Annotated[
        bool, typer.Option("--learning-curve", help="Repeat with fewer training documents.")
    ] = False,
    sweep: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=V,V", help="Repeat with each value; several options make a grid."
        ),
    ] = [],  # noqa: B006
    cache: Annotated[
        Path, typer.Option(help="Folder of finished work of a sweep, which makes it resumable.")
    ] = Path("textrank-cache"),
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Cross-validate a pipeline on a corpus and print the report.

    Whole documents are held out, so that no text is in training and test data.

    \f
    With --sweep the points of ``sweep_pipeline`` are shown instead of a report. Raises ValueError
    for options without effect (``_check_options``).
    """
    _check_options(context, folds, protocol, bool(sweep), bool(permutations or learning_curve))
    protocol_options: Any = {"folds": folds, "seed": seed, "splits": splits, "protocol": protocol}
    if sweep:
        points = sweep_pipeline(
            pipeline, corpus, sweep, cache, set_, nlp, **protocol_options, options=options
        )
        return _show_sweep(points, json_, report)
    extra_tests: Any = {"permutations": permutations, "learning": learning_curve}
    tested = run_pipeline(
        pipeline, corpus, set_, nlp, **protocol_options, **extra_tests, options=options
    )
    show_report(tested, json_, report, per_fold)


def _check_options(
    context: typer.Context, folds: str, protocol: str, sweep: bool, draws: bool
) -> None:
    """Raise ValueError if an option was given that has no effect.

    These are the options of a single run with ``--sweep``, ``--cache`` without ``--sweep``, the
    ``IGNORED_OPTIONS`` of the protocol, and ``--seed`` if ``folds`` is a file.

    ``sweep`` says whether ``--sweep`` was given. ``draws`` says whether a permutation test or a
    learning curve was requested; these use the seed, so ``--seed`` is then accepted. ``context``
    tells which options were given.
    """
    if sweep:
        single_run_options = ("permutations", "learning_curve", "per_fold")
        refuse_ignored(context, single_run_options, "with --sweep", "leave out --sweep")
    else:
        refuse_ignored(context, ("cache",), "without --sweep", "add --sweep KEY=V,V")
    ignored = IGNORED_OPTIONS.get(protocol, ())
    if not folds.isdecimal() and protocol == PROTOCOL_NAMES[0]:
        refuse_ignored(
            context,
            () if draws else ("seed",),
            f"with the folds of a file (--folds {folds})",
            "give a number of folds",
        )
    seeded = draws and protocol != "leave-pair-out"
    unused = tuple(name for name in ignored if not (seeded and name == "seed"))
    fix = "choose another --protocol"
    refuse_ignored(context, unused, f"with --protocol {protocol}", fix)


def run_pipeline(
    pipeline: str,
    corpus: str,
    settings: Sequence[str] = (),
    nlp: str | None = None,
    *,
    folds: str = "10",
    seed: int = 0,
    splits: int = 1,
    protocol: str = "documents",
    permutations: int = 0,
    learning: bool = False,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> Report:
    """Cross-validate a pipeline on a corpus and return the report.

    Raises ValueError for an unknown protocol, folds that cannot be read, a corpus without labelled
    candidates, or extra tests of a kernel that learns from its inputs.

    Parameters
    ----------
    pipeline
        Name of a shipped pipeline, or path of a cfg.
    corpus
        Data file or folder.
    settings
        Overrides of the cfg, such as ``["learner.alphas=[1]"]``.
    nlp
        Name or path of a spaCy pipeline; None takes the shipped one.
    folds
        Number of folds, or path of a JSON file ``{document: fold}``.
    seed
        Seed of the assignment of documents to folds.
    splits
        Number of repetitions with different seeds.
    protocol
        One of ``PROTOCOL_NAMES``.
    permutations
        Number of permutations of the labels for a permutation test; 0 makes no test.
    learning
        Whether to compute a learning curve too.
    options
        Reading options.
    """
    from textrank.config import load_pipeline, parse_setting
    from textrank.evaluation import cross_validate_dataset
    from textrank.evaluation.splits import make_splitter
    from textrank.evaluation.statistics import permutation_p
    from textrank.evaluation.sweep import learning_curve
    from textrank.pipeline import Clock
    from textrank.protocols import learns_from_inputs

    configured = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    source = options.load_corpus(corpus)
    clock = Clock()
    table = _parse_folds(folds, source.name)
    _check_protocol(protocol)
    splitter = make_splitter(protocol, table, seed=seed, splits=splits)
    with clock.step("reading"):
        docs = read_corpus(source, nlp, configured.task)
    dataset = configured.prepare(docs, clock)
    titles: Any = {"corpus": source.name, "title": Path(pipeline).stem}
    report = cross_validate_dataset(configured, dataset, splitter, **titles, clock=clock)
    if (permutations or learning) and learns_from_inputs(configured.kernel):
        raise ValueError(
            "--permutations and --learning-curve need a kernel that does not learn from its "
            "inputs. Leave them out, or choose another kernel with --set."
        )
    if permutations:
        split = splitter.split(dataset.candidates, dataset.targets)
        with clock.step("permutations"):
            p_value = permutation_p(
                configured.learner, dataset.data, split, permutations=permutations, seed=seed
            )
        report = replace(report, permutation=p_value.to_dict())
    if learning:
        with clock.step("learning curve"):
            points = learning_curve(configured, dataset, splitter, seed=seed)
        report = replace(report, curves={**report.curves, "learning": points})
    return replace(report, seconds=clock.seconds)


def sweep_pipeline(
    pipeline: str,
    corpus: str,
    grid: Sequence[str],
    cache: Path,
    settings: Sequence[str] = (),
    nlp: str | None = None,
    *,
    folds: str = "10",
    seed: int = 0,
    splits: int = 1,
    protocol: str = "documents",
    options: CommonOptions = DEFAULT_OPTIONS,
) -> Sweep:
    """Cross-validate a pipeline at every combination of the values in ``grid``.

    ``grid`` has entries ``KEY=v1,v2,…`` (``parse_grid``). For a key in both, the values of ``grid``
    replace that of ``settings``. Reports of finished combinations are stored in the folder
    ``cache`` and not computed again. The corpus is read once, for the task of the first
    combination. Other arguments are as in ``run_pipeline``.
    """
    from itertools import product

    from textrank.config import load_pipeline, parse_setting
    from textrank.evaluation.splits import make_splitter
    from textrank.evaluation.sweep import Cache, sweep

    fixed = dict(map(parse_setting, settings))
    axes = dict(map(parse_grid, grid))
    pipelines = {
        _make_hashable(values): set_parser(
            load_pipeline(pipeline, fixed | dict(zip(axes, values, strict=True))), nlp
        )
        for values in product(*axes.values())
    }
    source = options.load_corpus(corpus)
    table = _parse_folds(folds, source.name)
    splitter = make_splitter(protocol, table, seed=seed, splits=splits)
    docs = read_corpus(source, nlp, next(iter(pipelines.values())).task)
    titles: Any = {"corpus": source.name, "title": Path(pipeline).stem}
    return sweep(pipelines, list(axes), docs, splitter, Cache(cache), **titles)


def parse_grid(text: str) -> tuple[str, list[Any]]:
    """Split ``KEY=v1,v2,…`` into the key and its values, each JSON or else a string.

    The values are read as one JSON list; if that fails, they are split at commas and read one by
    one. Raises ValueError if there is no "=", or nothing before or after it.

    >>> parse_grid("learner.alphas=[0.5],[1]")
    ('learner.alphas', [[0.5], [1]])
    >>> parse_grid("learner.select=auc,f")
    ('learner.select', ['auc', 'f'])
    """
    from textrank.config import parse_setting
    from textrank.io import load_json

    key, sign, values = text.partition("=")
    if not sign or not key.strip() or not values.strip():
        raise ValueError(f"cannot read sweep {text!r}: write KEY=VALUE,VALUE,...")
    try:
        return key.strip(), load_json(f"[{values}]", f"--sweep {key}")
    except ValueError:
        return key.strip(), [parse_setting(f"{key}={value}")[1] for value in values.split(",")]


def show_report(
    report: Report,
    json_: Path | None,
    folder: Path | None = None,
    folds: bool = False,
    make_error_page: Callable[[], str] | None = None,
) -> None:
    """Print the table of a report, and write it as JSON and as HTML if requested.

    Parameters
    ----------
    report
        Report to show.
    json_
        JSON file, or None.
    folder
        Folder for ``report.html`` and ``report.json``, or None.
    folds
        Also show each fold.
    make_error_page
        Function that returns an HTML page explaining the errors, which is written to ``folder`` and
        linked from the report; None for no such page.
    """
    from textrank.io import update_folder, write_text
    from textrank.reports import html
    from textrank.reports.table import report_table, write_report

    if json_ is not None:
        write_report(report, json_)
    if folder is not None:
        with update_folder(folder) as draft:
            if make_error_page is not None:
                write_text(make_error_page(), draft / EXPLANATIONS_FILE)
            html.write_report_page(
                report,
                draft / "report.html",
                explanations_url=EXPLANATIONS_FILE if make_error_page else "",
            )
            write_report(report, draft / "report.json")
        typer.echo(folder / "report.html", err=True)
    make_console().print(report_table(report, folds=folds))


def _show_sweep(result: Sweep, json_: Path | None, folder: Path | None) -> None:
    """Print the table of a sweep, and write it as JSON and as HTML if requested.

    ``json_`` is the JSON file, and ``folder`` the folder for ``sweep.html`` and ``sweep.json``;
    None writes nothing.
    """
    from textrank.io import update_folder
    from textrank.reports import html
    from textrank.reports.table import sweep_table

    write_json_result(result, json_)
    if folder is not None:
        with update_folder(folder) as draft:
            html.write_sweep(result, draft / "sweep.html")
            write_json_result(result, draft / "sweep.json")
        typer.echo(folder / "sweep.html", err=True)
    make_console().print(sweep_table(result))


def _check_protocol(name: str) -> None:
    """Raise ValueError if a name is not one of ``PROTOCOL_NAMES``."""
    if name not in PROTOCOL_NAMES:
        raise ValueError(f"unknown protocol {name!r}. Available: {', '.join(PROTOCOL_NAMES)}.")


def _parse_folds(value: str, corpus: str) -> int | Mapping[str, int]:
    """Return the number of folds, or the fold of each document from a JSON file.

    ``value`` is a number or a path. The file holds ``{document: fold}``, or ``{corpus: {document:
    fold}}`` for several corpora, of which the entry ``corpus`` is returned. Raises ValueError if
    the file is missing or has another form, or if a number has more than nine digits. Numbers below
    2 are not refused here.
    """
    from textrank.io import MAX_UNPACKED_BYTES, read_json

    if value.isdecimal():
        if len(value) > 9:
            raise ValueError(f"--folds {value:.40}: no corpus has so many documents.")
        return int(value)
    path = Path(value)
    if not path.is_file():
        raise ValueError(f"{path}: no such file. --folds takes a number or a JSON file.")
    table = read_json(path, MAX_UNPACKED_BYTES)
    if isinstance(table, dict) and any(isinstance(v, dict) for v in table.values()):
        if corpus not in table:
            raise ValueError(
                f"{path}: no folds for corpus {corpus!r}. Available: {', '.join(table)}."
            )
        table = table[corpus]
    if not isinstance(table, dict) or not all(type(fold) is int for fold in table.values()):
        raise ValueError(f"{path}: folds must be integers by document, {{document: fold}}.")
    return table


def _make_hashable(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values as a tuple, with each value that is a list converted to a tuple.

    Lists nested inside these lists are not converted.
    """
    return tuple(tuple(v) if isinstance(v, list) else v for v in values)


def reproduce_command(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(help="Names of tables; default all.")] = [],  # noqa: B006
    list_: Annotated[bool, typer.Option("--list", help="List the tables and exit.")] = False,
    data: Annotated[Path, typer.Option(help="Folder of the research data.")] = Path("data"),
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of the results; finished tables are kept.")
    ] = Path("reproduced"),
    seed: Annotated[int, typer.Option(help="Seed of random numbers.")] = 0,
    full: Annotated[bool, typer.Option("--full", help="Use all data; takes some hours.")] = False,
) -> None:
    """Reproduce tables of published papers and show both figures side by side.

    Resumable: tables that were finished with the same settings are kept.

    \f
    The data files of all tables are checked before the first is computed (ValueError). Each new
    table is printed, and ``index.md`` in ``out`` is written anew after each, with all stored
    tables. --list prints ``list_tables`` and refuses the other arguments.
    """
    from textrank.io import write_text
    from textrank.reproduce import load_tables, reproduce_table, select_experiments
    from textrank.reproduce.base import RunSettings, format_page, format_section

    if list_:
        ignored = ("names", "data", "out", "seed", "full")
        refuse_ignored(context, ignored, "with --list", "leave out --list")
        return typer.echo(list_tables())
    run_settings = RunSettings(data, seed, full)
    chosen = select_experiments(names)
    for experiment in chosen:
        experiment.check(run_settings)
    out.mkdir(parents=True, exist_ok=True)
    for experiment in chosen:
        table, new = reproduce_table(experiment, run_settings, out)
        typer.echo(format_section(table) if new else f"{experiment.name}: already done\n")
        write_text(format_page(load_tables(out)), out / "index.md")


def list_tables() -> str:
    """Return a text that lists each source's citation, followed by its tables, one per line.

    A line has the name and the title of a table. Sources without a table are listed too.
    """
    from textrank.reproduce import EXPERIMENTS
    from textrank.reproduce.base import get_published, get_sources

    lines = []
    for key, citation in get_sources().items():
        experiments = [
            experiment
            for name, experiment in EXPERIMENTS.items()
            if get_published(name)["source"] == key
        ]
        lines += [
            citation,
            *(f"  {experiment.name:<22} {experiment.text.title}" for experiment in experiments),
        ]
    return "\n".join(lines)
