"""``textrank convert``: a corpus in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textrank.cli.app import CorpusPath, Nlp

EXAMPLE = "Example: textrank convert corpora/sample-ppi sample.bioc.xml"


def command(
    corpus: CorpusPath,
    target: Annotated[Path, typer.Argument(help="The file or folder to write.")],
    format: Annotated[
        str | None, typer.Option(help="A format by name; `textrank info` lists them.")
    ] = None,
    nlp: Nlp = None,
) -> None:
    """Writes a corpus in another format: the one named, or that of the target's suffix."""
    typer.echo(f"{target}: {convert_corpus(corpus, target, format, nlp)} documents")


def convert_corpus(
    corpus: str, target: Path, format: str | None = None, nlp: str | None = None
) -> int:
    """Writes a corpus in another format, and counts its documents.

    Without ``nlp`` nothing is added: tokens and sentences are cut by rule, names stay as given.
    """
    import itertools

    import spacy

    from textrank.cli.sources import load_language
    from textrank.config import load_corpus
    from textrank.formats.detection import check_output_path, write_docs

    check_output_path(target, format=format)
    language = spacy.blank("en") if nlp is None else load_language(nlp)
    numbers = itertools.count()
    docs = (doc for doc, _ in zip(load_corpus(corpus)(language), numbers, strict=False))
    write_docs(docs, target, format=format)
    return next(numbers)
