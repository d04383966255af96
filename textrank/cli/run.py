"""``textrank run``: a pipeline meets a corpus and yields a report, or a grid of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textrank.cli.app import (
    CorpusPath,
    JsonFile,
    Nlp,
    PipelineName,
    ReportFolder,
    Settings,
    make_console,
    refuse_ignored,
    write_json_figures,
)

if TYPE_CHECKING:
    from textrank.evaluation import Report
    from textrank.evaluation.sweep import Sweep

EXPLANATIONS_FILE = "explanations.html"  # beside the report.html whose errors it explains
EXAMPLE = "Example: textrank run ppi corpora/sample-ppi --folds 5 --set learner.alphas=[0.5,1]"
PROTOCOL_NAMES = (
    *("documents", "leave-document-out", "leave-query-out", "5x2", "train-test"),
    *("sentences", "leaky", "leave-pair-out"),
)


# Options that a protocol does not use.
IGNORED_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "leave-document-out": ("folds", "seed", "splits"),
    "leave-query-out": ("folds", "seed", "splits"),
    "5x2": ("folds", "splits"),
    "train-test": ("folds", "splits"),
    "leave-pair-out": ("folds", "seed", "splits", "permutations", "learning_curve"),
}


def command(
    context: typer.Context,
    pipeline: PipelineName,
    corpus: CorpusPath,
    folds: Annotated[str, typer.Option(help="A number, or a JSON file {document: fold}.")] = "10",
    seed: Annotated[int, typer.Option(help="Deals the documents out into folds.")] = 0,
    splits: Annotated[int, typer.Option(help="Repeats with as many seeds, and averages.")] = 1,
    protocol: Annotated[
        str, typer.Option(help=f"One of: {', '.join(PROTOCOL_NAMES)}.")
    ] = PROTOCOL_NAMES[0],
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
    _check_options(context, folds, protocol, bool(sweep), bool(permutations or learning_curve))
    how: Any = {"folds": folds, "seed": seed, "splits": splits, "protocol": protocol}
    if sweep:
        points = sweep_pipeline(pipeline, corpus, sweep, cache, set_, nlp, **how)
        return _show_sweep(points, json_, report)
    more: Any = {"permutations": permutations, "learning": learning_curve}
    show_report(run_pipeline(pipeline, corpus, set_, nlp, **how, **more), json_, report, per_fold)


def _check_options(
    context: typer.Context, folds: str, protocol: str, sweep: bool, draws: bool
) -> None:
    """Refuse options that would have no effect; ``draws`` says that a seed is used anyway."""
    if sweep:
        alone = ("permutations", "learning_curve", "per_fold")
        refuse_ignored(context, alone, "with --sweep", "leave out --sweep")
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
    kept = tuple(name for name in ignored if not (seeded and name == "seed"))
    other = "choose another --protocol"
    refuse_ignored(context, kept, f"with --protocol {protocol}", other)


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
) -> Report:
    """Tests a pipeline on a corpus, with test data kept apart as the protocol says."""
    from textrank.cli.sources import read_corpus, set_parser
    from textrank.config import load_corpus, load_pipeline, parse_setting
    from textrank.evaluation import cross_validate_dataset, leave_pair_out
    from textrank.evaluation.splits import make_splitter
    from textrank.evaluation.statistics import permutation_p
    from textrank.evaluation.sweep import learning_curve
    from textrank.pipeline import Clock

    chosen = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    source = load_corpus(corpus)
    clock = Clock()
    table = _folds(folds, source.name)
    _check_protocol(protocol)
    pairs = protocol == leave_pair_out.NAME
    splitter = make_splitter(
        PROTOCOL_NAMES[0] if pairs else protocol, table, seed=seed, splits=splits
    )
    with clock.step("reading"):
        docs = read_corpus(source, nlp, chosen.task)
    dataset = chosen.prepare(docs, clock)
    names: Any = {"corpus": source.name, "title": Path(pipeline).stem}
    if pairs:
        report = leave_pair_out.assess_pairs(chosen, dataset, **names)
        return replace(report, seconds=clock.seconds)
    report = cross_validate_dataset(chosen, dataset, splitter, **names, clock=clock)
    if permutations:
        split = splitter.split(dataset.candidates, dataset.targets)
        with clock.step("permutations"):
            found = permutation_p(
                chosen.learner, dataset.data, split, permutations=permutations, seed=seed
            )
        report = replace(report, permutation=found.to_dict())
    if learning:
        with clock.step("learning curve"):
            points = learning_curve(chosen, dataset, splitter, seed=seed)
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
) -> Sweep:
    """Tests a pipeline at every combination of ``KEY=v1,v2,...``, keeping each in the cache."""
    from itertools import product

    from textrank.cli.sources import read_corpus, set_parser
    from textrank.config import load_corpus, load_pipeline, parse_setting
    from textrank.evaluation.splits import make_splitter
    from textrank.evaluation.sweep import Cache, sweep

    fixed = dict(map(parse_setting, settings))
    axes = dict(map(parse_grid, grid))
    pipelines = {
        _hashable(values): set_parser(
            load_pipeline(pipeline, fixed | dict(zip(axes, values, strict=True))), nlp
        )
        for values in product(*axes.values())
    }
    source = load_corpus(corpus)
    table = _folds(folds, source.name)
    splitter = make_splitter(protocol, table, seed=seed, splits=splits)
    docs = read_corpus(source, nlp, next(iter(pipelines.values())).task)
    names: Any = {"corpus": source.name, "title": Path(pipeline).stem}
    return sweep(pipelines, list(axes), docs, splitter, Cache(cache), **names)


def parse_grid(text: str) -> tuple[str, list[Any]]:
    """``KEY=v1,v2,...`` as a key and its values, each JSON or else a string.

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
    why: Callable[[], str] | None = None,
) -> None:
    """Writes a report where asked, and prints its table; ``why`` makes a page about its errors."""
    from textrank.io import update_folder, write_text
    from textrank.reports import html
    from textrank.reports.table import table, write

    if json_ is not None:
        write(report, json_)
    if folder is not None:
        with update_folder(folder) as draft:
            if why is not None:
                write_text(why(), draft / EXPLANATIONS_FILE)
            html.write(report, draft / "report.html", why=EXPLANATIONS_FILE if why else "")
            write(report, draft / "report.json")
        typer.echo(folder / "report.html", err=True)
    make_console().print(table(report, folds=folds))


def _show_sweep(found: Sweep, json_: Path | None, folder: Path | None) -> None:
    from textrank.io import update_folder
    from textrank.reports import html
    from textrank.reports.table import sweep_table

    write_json_figures(found, json_)
    if folder is not None:
        with update_folder(folder) as draft:
            html.write_sweep(found, draft / "sweep.html")
            write_json_figures(found, draft / "sweep.json")
        typer.echo(folder / "sweep.html", err=True)
    make_console().print(sweep_table(found))


def _check_protocol(name: str) -> None:
    if name not in PROTOCOL_NAMES:
        raise ValueError(f"no protocol {name!r}; there are: {', '.join(PROTOCOL_NAMES)}.")


def _folds(value: str, corpus: str) -> int | Mapping[str, int]:
    """A number of folds, or the table of a file, ``{corpus: {document: fold}}`` or its inside."""
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
            raise ValueError(f"{path}: no folds for corpus {corpus!r}; it has: {', '.join(table)}.")
        table = table[corpus]
    if not isinstance(table, dict) or not all(type(fold) is int for fold in table.values()):
        raise ValueError(f"{path}: folds must be whole numbers by document, {{document: fold}}.")
    return table


def _hashable(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(tuple(v) if isinstance(v, list) else v for v in values)
