"""``textrank convert``: write a corpus in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textrank.cli.app import DEFAULT_OPTIONS, CommonOptions, CorpusPath, Nlp

EXAMPLE = "Example: textrank convert corpora/sample-ppi sample.bioc.xml"


def command(
    corpus: CorpusPath,
    target: Annotated[Path, typer.Argument(help="File or folder to write.")],
    format: Annotated[
        str | None, typer.Option(help="Name of the format; `textrank info` lists them.")
    ] = None,
    nlp: Nlp = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> None:
    """Convert a corpus to another format.

    The format is that of the target's suffix unless --format names one.
    """
    typer.echo(f"{target}: {convert_corpus(corpus, target, format, nlp, options)} documents")


def convert_corpus(
    corpus: str,
    target: Path,
    format: str | None = None,
    nlp: str | None = None,
    options: CommonOptions = DEFAULT_OPTIONS,
) -> int:
    """Write a corpus in another format and return the number of documents.

    Parameters
    ----------
    corpus
        Data file or folder.
    target
        File or folder to write.
    format
        Key of ``formats.detection.WRITERS``; None takes the format of the suffix.
    nlp
        Name or path of a spaCy pipeline that analyses the texts. None adds nothing: texts are
        tokenized and split into sentences by rules.
    options
        Reading options.

    Raises
    ------
    ValueError
        If the format is unknown, the corpus cannot be read or the target cannot be written.
    """
    import itertools

    import spacy

    from textrank._annotate import load_language
    from textrank.formats.detection import check_output_path, write_docs

    check_output_path(target, format=format)
    language = spacy.blank("en") if nlp is None else load_language(nlp)
    numbers = itertools.count()
    docs = (doc for doc, _ in zip(options.load_corpus(corpus)(language), numbers, strict=False))
    write_docs(docs, target, format=format)
    return next(numbers)
