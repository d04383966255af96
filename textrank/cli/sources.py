"""Input of commands: corpora, texts and standard input, with the language pipeline a task needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from textrank._annotate import load_language
from textrank.cli.app import DEFAULT_OPTIONS, STDIN, CommonOptions
from textrank.formats.base import Record, build_docs
from textrank.io import MAX_ITEM_BYTES
from textrank.io.reading import DEFAULT_ENCODING, decode_text, find_input
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.protocols import Corpus, Task
from textrank.scale.job import iter_input_files

STDIN_NAME = "standard input"


def set_parser(pipeline: Pipeline, nlp: str | None) -> Pipeline:
    """Return the pipeline with ``nlp`` as the parser of its task, if the task needs one.

    ``nlp`` is the name or path of a spaCy pipeline. A task that parses text itself needs it; other
    tasks, and None, change nothing. The given pipeline is not changed.
    """
    return pipeline if nlp is None else replace(pipeline, task=pipeline.task.with_parser(nlp))


def set_model_parser(model: Model, nlp: str | None) -> Model:
    """Return a copy of the model with its pipeline changed by ``set_parser``."""
    return replace(model, pipeline=set_parser(model.pipeline, nlp))


def read_corpus(source: Corpus, nlp: str | None, task: Task) -> list[Doc]:
    """Read a whole corpus into memory, with the analyses that the task needs.

    ``nlp`` is the name or path of a spaCy pipeline; None takes the shipped one.
    """
    return list(source(load_language(nlp, task)))


def read_texts(
    texts: Sequence[str], nlp: Language, options: CommonOptions = DEFAULT_OPTIONS
) -> Iterator[Doc]:
    """Iterate over the documents of files and of standard input (``-``), analysed by ``nlp``.

    They are in the order of ``texts``; standard input is one document with the id ``stdin``. A
    folder of other files than texts stands for all its files, as with ``apply --out``. Raises
    ValueError if a text cannot be read or is too long.
    """
    for text in _expand_folders(texts):
        if text == STDIN:
            content = _read_stdin(
                options.max_bytes or MAX_ITEM_BYTES, options.encoding or DEFAULT_ENCODING
            )
            yield from build_docs(
                [content], _record_stdin, nlp, path=STDIN_NAME, cut=False, skip_bad=False
            )
        else:
            yield from options.load_corpus(text)(nlp)


def _expand_folders(texts: Sequence[str]) -> Iterator[str]:
    """Yield each text, and in place of a folder of several formats or levels its files.

    A folder whose files are all plain texts, with or without annotation beside them, and one with a
    ``corpus.cfg`` are one corpus and yielded as they are. "-" and files are too.
    """
    for text in texts:
        folder = find_input(text)
        if text == STDIN or not folder.is_dir():
            yield text
            continue
        files = list(iter_input_files([text]))
        is_corpus = all(f.suffix == ".txt" and f.parent == folder for f in map(Path, files))
        yield from [text] if is_corpus else files


def _record_stdin(text: str) -> Record:
    """Return the Record of the text of standard input, with the id "stdin"."""
    return Record("stdin", text, STDIN_NAME)


def _read_stdin(limit: int, encoding: str) -> str:
    """Return standard input as text, without a byte order mark.

    Raises ValueError if it is closed, has more than ``limit`` bytes, or is not in the encoding.
    """
    if sys.stdin is None:
        raise ValueError("standard input is closed. Name a file, or pipe text into the command.")
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise ValueError(
            f"standard input: more than {limit:,} bytes. Raise the limit with --max-bytes."
        )
    return decode_text(data, STDIN_NAME, encoding)
