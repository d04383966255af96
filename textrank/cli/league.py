"""``textrank league``: score the stored answers of several systems on the same documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textrank.cli.app import (
    DEFAULT_OPTIONS,
    CommonOptions,
    CorpusPath,
    JsonFile,
    check_output_file,
    make_console,
    write_json_figures,
)

if TYPE_CHECKING:
    from textrank.evaluation.league import League

EXAMPLE = "Example: textrank league gold.bioc.xml ours.bioc.xml theirs.pubtator --json league.json"


def command(
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
    write_json_figures(result, json_)
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
    """Read a gold corpus and files of answers and score them.

    Systems are named after their corpora, or by the given paths if those names are not unique.
    ``labels`` are the entity labels to compare; empty compares all. ``seed`` is that of resampled
    documents. Raises ValueError if a file of answers is given twice, documents of a file share an
    id, or an answered text differs from the gold text.
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
