"""What commands read: corpora and texts, with the language model that a task needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from spacy.language import Language
from spacy.tokens import Doc

from textrank.config import load_corpus
from textrank.formats.base import READING, Record, build_docs
from textrank.language import load_nlp
from textrank.model import Model
from textrank.pipeline import Pipeline
from textrank.protocols import Corpus, Task
from textrank.tasks.base import ParsingTask

STDIN, STDIN_NAME = "-", "standard input"


def load_language(name: str | None, task: Task | None = None, *, raw: bool = False) -> Language:
    """A spaCy model by name or path, or ours with what the task reads; names too for raw text."""
    if name is not None or task is None or task.required_pipes is None:
        return load_nlp(name)
    return load_nlp(only=[*task.required_pipes, *(task.required_pipes_raw if raw else ())])


def set_parser(pipeline: Pipeline, nlp: str | None) -> Pipeline:
    """The pipeline whose task, where it parses by itself, does so with the named language model."""
    if nlp is None or not isinstance(pipeline.task, ParsingTask):
        return pipeline
    return replace(pipeline, task=pipeline.task.with_parser(nlp))


def set_model_parser(model: Model, nlp: str | None) -> Model:
    """The same for a trained model."""
    return replace(model, pipeline=set_parser(model.pipeline, nlp))


def read_corpus(source: Corpus, nlp: str | None, task: Task) -> list[Doc]:
    """The Docs of a corpus, analysed as the task needs."""
    return list(source(load_language(nlp, task)))


def read_texts(texts: Sequence[str], nlp: Language) -> Iterator[Doc]:
    """The Docs of files and of standard input, one by one."""
    for text in texts:
        if text == STDIN:
            yield from build_docs(
                [_standard_input()], _stdin, nlp, path=STDIN_NAME, cut=False, skip_bad=False
            )
        else:
            yield from load_corpus(text)(nlp)


def _stdin(text: str) -> Record:
    return Record("stdin", text, STDIN_NAME)


def _standard_input() -> str:
    if sys.stdin is None:
        raise ValueError("standard input is closed. Name a file, or give text there.")
    limit = READING.get().max_bytes
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"standard input: more than {limit:,} bytes. Raise it with --max-bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"standard input, byte {error.start}: not UTF-8 ({error.reason}). Convert it."
        ) from None
