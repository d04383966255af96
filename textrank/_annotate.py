"""Annotation of raw texts: ``textrank.annotate``, which ``textrank apply`` uses too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from textrank.config import load_model, with_task_settings
from textrank.formats.base import Record, build_docs
from textrank.language import load_nlp
from textrank.language.long_docs import vocab_zone
from textrank.model import ErrorHandler, Model, Observer
from textrank.protocols import Task

BATCH_DOCS = 64  # documents whose candidates are scored together


def annotate(
    texts: Iterable[str],
    model: str | Path | Model = "ppi",
    *,
    nlp: str | Language | None = None,
    settings: Sequence[str] = (),
    failed: ErrorHandler | None = None,
) -> Iterator[Doc]:
    """Analyse texts, annotate them with a model, and yield one Doc per text, in order.

    The answers are in ``doc._.textrank_<task>``, for example ``doc._.textrank_ppi``. The id of a
    document is its number, counted from 0. Texts are read and analysed in batches, so ``texts`` may
    be a long stream. The model is loaded when the first Doc is requested. With ``failed``, Docs may
    be fewer than texts. Raises ValueError if there is no text, the model or a setting is unknown,
    or a text has half of a surrogate pair.

    Parameters
    ----------
    texts
        Plain texts in English.
    model
        A shipped model (see ``model_names``), the path of a model folder, or a ``Model``.
    nlp
        A spaCy pipeline, by name or path or loaded. By default the shipped one, with the
        components that the model's task needs.
    settings
        Changed settings of the model's task, such as ``["task.precision=0.9"]``.
    failed
        Called with a Doc and an exception if a document cannot be annotated; the Doc is then left
        out. By default the exception is raised.

    >>> import textrank
    >>> doc, = textrank.annotate(["SHC binds to GRB2."])
    >>> [(row["names"], row["interacts"]) for row in doc._.textrank_ppi]
    [(['SHC', 'GRB2'], True)]
    """
    loaded = model if isinstance(model, Model) else load_model(model)
    loaded = with_task_settings(loaded, settings)
    if not isinstance(nlp, Language):
        nlp = load_language(nlp, loaded.pipeline.task, raw=True)

    def to_record(numbered: tuple[int, str]) -> Record:
        """Return the record of a numbered text; its id is the number."""
        number, text = numbered
        return Record(str(number), text, f"text {number}")

    docs = build_docs(enumerate(texts), to_record, nlp, path="texts", cut=False, skip_bad=False)
    yield from loaded.pipe(docs, failed=failed)


def load_language(name: str | None, task: Task | None = None, *, raw: bool = False) -> Language:
    """Load a spaCy pipeline by name or path, or the shipped one with what a task needs.

    With a ``name`` the task is ignored and the pipeline has all its components. ``name=None`` loads
    the shipped pipeline: only the components in ``task.required_pipes``, or all if there is no task
    or it does not say what it needs. ``raw`` adds the components in ``task.required_pipes_raw``,
    for text without gold annotation, such as entity recognition.
    """
    if name is not None or task is None or task.required_pipes is None:
        return load_nlp(name)
    return load_nlp(only=[*task.required_pipes, *(task.required_pipes_raw if raw else ())])


def annotate_stream(
    model: Model,
    docs: Iterable[Doc],
    nlp: Language,
    *,
    failed: ErrorHandler | None = None,
    observe: Observer | None = None,
) -> Iterator[Doc]:
    """Annotate a long stream of Docs in constant memory, and yield the same Docs in order.

    ``docs`` must be a lazy stream of Docs made by ``nlp``. What ``nlp.vocab`` learns from a batch
    is dropped again, so a Doc must not be used after the next one was requested. ``failed`` is
    called with a Doc and an exception if a document cannot be annotated, and the Doc is left out;
    None raises the exception. ``observe`` is called with every annotated Doc and its scored
    candidates.
    """
    with vocab_zone(nlp) as zone:
        pending: list[Doc] = []
        for doc in docs:
            pending.append(doc)
            if zone.is_due or len(pending) == BATCH_DOCS:
                yield from model.pipe(pending, failed=failed, observe=observe)
                pending.clear()
                del doc
            if zone.is_due:
                zone.restart()
        yield from model.pipe(pending, failed=failed, observe=observe)
