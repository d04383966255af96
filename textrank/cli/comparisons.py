"""Comparisons of runs, corpora, systems and orders of annotation.

The commands are ``textrank compare``, ``cross``, ``transfer``, ``league`` and ``replay``. Each has
a function that reads its input and returns the result, which the command prints and writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    CorpusPath,
    JsonFile,
    Nlp,
    PageFile,
    PipelineName,
    ReportFolder,
    Settings,
    check_output_file,
    make_console,
    read_corpus,
    set_parser,
    write_json_result,
)

if TYPE_CHECKING:
    from textrank.evaluation.evaluate import CrossCorpus
    from textrank.evaluation.league import League
    from textrank.evaluation.statistics import Comparison
    from textrank.evaluation.transfer import Transfer
    from textrank.web.replay import Replay


def compare_command(
    reports: Annotated[list[Path], typer.Argument(help="JSON files written by run or evaluate.")],
    measure: Annotated[list[str], typer.Option(help="Metric to compare; default AUC and F.")] = [],  # noqa: B006
    json_: JsonFile = None,
) -> None:
    """Test whether runs on the same folds differ: effect sizes and corrected p-values."""
    from textrank.reports.table import comparison_table

    comparison = compare_reports(reports, measure)
    write_json_result(comparison, json_)
    make_console().print(comparison_table(comparison))


def compare_reports(files: Sequence[Path], measures: Sequence[str] = ()) -> Comparison:
    """Test whether the runs in two or more report files (written with ``--json``) differ.

    Runs are named after their files without suffix, or by the whole paths if these names are not
    unique. ``measures`` are names of metrics; empty compares AUC and F, or tau for rankings. Raises
    ValueError if a path is given twice or the runs do not have the same folds.
    """
    from textrank.evaluation.statistics import compare
    from textrank.reports.table import read_report

    if len(set(files)) < len(files):
        raise ValueError("a report cannot be compared with itself: name different files.")
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    return compare(
        {name: read_report(file) for name, file in zip(names, files, strict=True)}, measures
    )


def cross_command(
    pipeline: PipelineName,
    corpora: Annotated[list[str], typer.Argument(help="Two or more corpora.")],
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    json_: JsonFile = None,
    report: ReportFolder = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Train on each corpus and test on each of the others.

    Prints AUC, and F under four ways to choose the threshold.
    """
    from textrank.io import update_folder
    from textrank.reports import html
    from textrank.reports.table import cross_table

    result = cross_corpora(pipeline, corpora, set_, nlp, options)
    write_json_result(result, json_)
    if report is not None:
        with update_folder(report) as draft:
            html.write_cross(result, draft / "cross.html")
            write_json_result(result, draft / "cross.json")
        typer.echo(report / "cross.html", err=True)
    make_console().print(cross_table(result))


def cross_corpora(
    pipeline: str,
    corpora: Sequence[str],
    settings: Sequence[str] = (),
    nlp: str | None = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> CrossCorpus:
    """Train a pipeline on each corpus and test it on each of the others; each is read once.

    ``pipeline`` is a shipped name or the path of a cfg, ``corpora`` are data files or folders,
    ``settings`` overrides ``KEY=VALUE`` of the cfg, and ``nlp`` a spaCy pipeline (None: the shipped
    one). Raises ValueError if two corpora have the same name, or there are fewer than two.
    """
    from textrank.config import load_pipeline, parse_setting
    from textrank.evaluation.evaluate import cross_corpora
    from textrank.pipeline import Clock

    configured = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    sources = [options.load_corpus(corpus) for corpus in corpora]
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        raise ValueError(f"corpora must have different names, got {', '.join(names)}.")
    clock = Clock()
    with clock.step("reading"):
        docs = {source.name: read_corpus(source, nlp, configured.task) for source in sources}
    result = cross_corpora(configured, docs)
    return replace(result, seconds={**clock.seconds, **result.seconds})


def transfer_command(
    target: Annotated[str, typer.Argument(help="Corpus to improve.")],
    others: Annotated[list[str], typer.Argument(help="One or more other corpora.")],
    pipeline: Annotated[
        str, typer.Option(help="Pipeline with the learner rls.v1, or path of a cfg.")
    ] = "ppi-linear",
    folds: Annotated[int, typer.Option(min=2, help="Folds of target documents.")] = 5,
    max_candidates: Annotated[
        int, typer.Option(min=10, help="Largest number of candidates to use per corpus.")
    ] = 1000,
    top: Annotated[int, typer.Option(min=0, help="Number of harmful documents to print.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of folds, samples and resamples.")] = 0,
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    json_: JsonFile = None,
    html: PageFile = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Find out which other corpora help a target corpus.

    The weight of each is chosen by leave-document-out scores of the target. Effects are measured on
    target documents that the choice did not see. Lists foreign documents that do harm.
    """
    from textrank.reports.table import transfer_table

    result = transfer_files(
        target, others, pipeline, set_, nlp,
        folds=folds, max_candidates=max_candidates, seed=seed, options=options,
    )  # fmt: skip
    write_json_result(result, json_)
    if html is not None:
        from textrank.io import write_text
        from textrank.reports.html import render_transfer

        write_text(render_transfer(result), html)
    make_console().print(transfer_table(result, top))


def transfer_files(
    target: str,
    others: Sequence[str],
    pipeline: str = "ppi-linear",
    settings: Sequence[str] = (),
    nlp: str | None = None,
    *,
    folds: int = 5,
    max_candidates: int = 1000,
    seed: int = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> Transfer:
    """Read a target corpus and other corpora, and choose how much each of the others helps.

    Corpora are data files or folders, ``pipeline`` is a shipped name or the path of a cfg,
    ``settings`` are overrides ``KEY=VALUE`` of it and ``nlp`` is a spaCy pipeline (None: the
    shipped one); other arguments are as in ``evaluation.transfer.transfer_corpora``. Raises
    ValueError if there is no other corpus, two of them have the same name, a corpus has no labelled
    candidates, or the learner is not RLS.
    """
    from textrank.config import load_pipeline, parse_setting
    from textrank.evaluation.transfer import transfer_corpora

    configured = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    sources = [options.load_corpus(path) for path in (target, *others)]
    names = [source.name for source in sources[1:]]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two of the corpora are named {twice!r}. Rename one of the files.")
    first, *rest = (read_corpus(source, nlp, configured.task) for source in sources)
    return transfer_corpora(
        configured, first, dict(zip(names, rest, strict=True)),
        folds=folds, max_candidates=max_candidates, seed=seed,
        name=sources[0].name, title=pipeline,
    )  # fmt: skip


def league_command(
    gold: CorpusPath,
    answers: Annotated[
        list[str], typer.Argument(help="One or more files of answers, in any format of a corpus.")
    ],
    labels: Annotated[
        list[str],
        typer.Option(
            "--label", metavar="LABEL", help="Compare only names with this label; repeatable."
        ),
    ] = [],  # noqa: B006
    json_: JsonFile = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an HTML page.", callback=check_output_file),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of resampled documents.")] = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Score the stored answers of several systems on the same documents.

    Compares names, identifiers, pairs, types and directions, with intervals over documents and
    paired tests. Systems are named after their files.
    """
    from textrank.io import write_text
    from textrank.reports.table import league_table

    result = score_files(gold, answers, labels, seed=seed, options=options)
    write_json_result(result, json_)
    if html is not None:
        from textrank.reports.html import render_league

        write_text(render_league(result), html)
    make_console().print(league_table(result))


def score_files(
    gold: str,
    answers: Sequence[str],
    labels: Sequence[str] = (),
    *,
    seed: int = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> League:
    """Score the answers of several systems, one file each, against a gold corpus.

    Systems are named after their corpora, or by the given paths if those names are not unique.
    ``labels`` are the entity labels to compare; empty compares all. ``seed`` is that of the
    bootstrap over documents. Raises ValueError if a file of answers is given twice, documents of a
    file share an id, a file has no document of the gold ones, or an answered text differs from the
    gold text.
    """
    import spacy

    from textrank.evaluation.league import score_league

    nlp = spacy.blank("en")
    source = options.load_corpus(gold)
    names = [options.load_corpus(file).name for file in answers]
    if len(set(names)) < len(names):
        names = list(answers)
    if len(set(names)) < len(names):
        raise ValueError("a file of answers was given twice: name different files.")
    systems = {
        name: list(options.load_corpus(file)(nlp))
        for name, file in zip(names, answers, strict=True)
    }
    docs = list(source(nlp))
    return score_league(docs, systems, labels=labels or None, seed=seed, name=source.name)


def replay_command(
    pipeline: PipelineName,
    corpus: CorpusPath,
    answers: Annotated[int, typer.Option(min=1, help="Largest number of answers.")] = 200,
    folds: Annotated[int, typer.Option(min=2, help="Folds, each held out once.")] = 3,
    orders: Annotated[int, typer.Option(min=1, help="Random orders to compare with.")] = 3,
    step: Annotated[int, typer.Option(min=1, help="Answers between two points.")] = 10,
    compare: Annotated[
        int | None,
        typer.Option(min=1, help="Random answers to compare with; default: the last."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of folds and random orders.")] = 0,
    set_: Settings = [],  # noqa: B006
    nlp: Nlp = None,
    json_: JsonFile = None,
    html: PageFile = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Replay the annotation of a corpus as textrank curate would have asked for it.

    Questions are answered with the gold labels, chosen by active learning and in random order, and
    the model is scored on held-out documents. Shows how many answers are saved, what more answers
    would bring, and when to stop.
    """
    from textrank.reports.table import replay_table

    result = replay_file(
        pipeline, corpus, set_, nlp,
        answers=answers, folds=folds, orders=orders, step=step, compared=compare, seed=seed,
        options=options,
    )  # fmt: skip
    write_json_result(result, json_)
    if html is not None:
        from textrank.io import write_text
        from textrank.reports.html import render_replay

        write_text(render_replay(result.to_dict()), html)
    make_console().print(replay_table(result.to_dict()))


def replay_file(
    pipeline: str,
    corpus: str,
    settings: list[str] | tuple[str, ...] = (),
    nlp: str | None = None,
    *,
    answers: int = 200,
    folds: int = 3,
    orders: int = 3,
    step: int = 10,
    compared: int | None = None,
    seed: int = 0,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> Replay:
    """Read a corpus and simulate its annotation with active learning.

    ``pipeline`` is a shipped name or the path of a cfg, ``corpus`` a data file or folder,
    ``settings`` are overrides ``KEY=VALUE`` of the cfg and ``nlp`` is a spaCy pipeline (None: the
    shipped one); other arguments, and the exceptions raised, are those of
    ``web.replay.replay_corpus``.
    """
    from textrank.config import load_pipeline, parse_setting
    from textrank.web.replay import replay_corpus

    configured = set_parser(load_pipeline(pipeline, dict(map(parse_setting, settings))), nlp)
    source = options.load_corpus(corpus)
    docs = read_corpus(source, nlp, configured.task)
    return replay_corpus(
        configured, docs, answers=answers, folds=folds, orders=orders, step=step,
        compared=compared, seed=seed, corpus=source.name, title=pipeline,
    )  # fmt: skip
