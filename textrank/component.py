"""Annotation of texts: spaCy components of the tasks, and ``textrank.annotate``.

``TaskComponent`` is the component behind ``nlp.add_pipe("textrank_ppi")`` and its like.
``annotate`` and ``annotate_stream`` analyse and annotate texts without one; ``textrank apply`` uses
them too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, cast

import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import raise_error, registry

from textrank.config import load_model, load_pipeline, model_names, with_task_settings
from textrank.formats.base import Record, build_docs
from textrank.language import load_nlp
from textrank.language.segmentation import VocabZone
from textrank.model import ErrorHandler, Model, Observer
from textrank.protocols import Explanation, Task

PipeErrorHandler = Callable[[str, Any, list[Doc], Exception], Any]
"""spaCy's error handler: component name, component, Docs, exception."""
SCORER = "textrank.task_scorer.v1"
Scorer = Callable[["TaskComponent", Iterable[Example]], dict[str, Any]]
"""Score of a component on examples: metric -> value; None as a value means undefined."""
BATCH_DOCS = 64  # documents whose candidates are scored together


class TaskComponent:
    """spaCy component that annotates Docs with a model; answers are in ``doc._.textrank_<task>``.

    ``name`` is that of the component in the spaCy pipeline. ``from_disk`` loads a model folder;
    ``initialize`` trains a model on gold Docs with the shipped pipeline, or cfg file, ``pipeline``.
    ``model`` is None until then, and annotation, explanation and writing raise ValueError.
    ``scorer`` computes the metrics of ``nlp.evaluate``; None reports none.
    """

    any_length = False  # whether a long Doc is annotated as a whole, not in chunks

    def __init__(
        self, name: str, pipeline: str, model: Model | None, scorer: Scorer | None = None
    ) -> None:
        """Store the arguments as attributes; nothing is loaded or trained.

        ``model`` None is set later by training or ``from_disk``.
        """
        self.name = name
        self.pipeline = pipeline
        self.model = model
        self.scorer = scorer
        self._docs: dict[tuple[Any, str], Doc] = {}  # Docs that this component was trained on
        self._handler: PipeErrorHandler | None = None

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a Doc in place and return it; ValueError if there is no model yet."""
        return self._model()(doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate Docs in place, in batches, and yield them in order.

        With an error handler, Docs that fail are passed to it one by one and left out; else the
        error is raised. Raises ValueError, when iteration begins, if there is no model yet.
        """
        handle = self._handler
        failed = (
            None if handle is None else lambda doc, error: handle(self.name, self, [doc], error)
        )
        yield from self._model().pipe(stream, batch_size=batch_size, failed=failed)

    def set_error_handler(self, handler: PipeErrorHandler) -> None:
        """Set the handler of Docs that fail in ``pipe``; called by ``nlp.set_error_handler``.

        ``__call__`` always raises.
        """
        self._handler = handler

    def get_error_handler(self) -> PipeErrorHandler:
        """Return the error handler; by default one that raises."""
        return raise_error if self._handler is None else self._handler

    def explain(self, doc: Doc) -> list[Explanation]:
        """Explain the score of each candidate of a Doc, in order.

        An explanation lists ``(feature name, contribution)``, largest magnitude first; the
        contributions sum to the score. The Doc need not be annotated. Raises ValueError if there is
        no model yet, or its kernel cannot explain scores.
        """
        model = self._model()
        return [model.explain(candidate) for candidate in model.pipeline.task.candidates(doc)]

    def score(self, examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        """Return the metrics of the scorer; called by ``nlp.evaluate``, which passes ``settings``.

        Empty without a scorer. ``settings`` are ignored.
        """
        return {} if self.scorer is None else self.scorer(self, examples)

    def initialize(
        self, get_examples: Callable[[], Iterable[Example]], nlp: Language | None = None
    ) -> None:
        """Train on the reference Docs of examples, with gold annotation as readers store it.

        Replaces an earlier model. The Docs are kept for ``update``, in place of those of earlier
        training; of several with the same id and text only the last counts. If spaCy gives its
        dummy example ("x y z", ``spacy assemble``), a loaded model is kept; without a model it is
        trained on, which raises ValueError. ``nlp`` is not used. Raises ValueError if the Docs have
        nothing to learn from, see ``Pipeline.fit``.
        """
        docs = [example.reference for example in get_examples()]
        if self.model is not None and _are_dummy_examples(docs):
            return
        self._docs = {}
        self._train(docs)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Train again on all examples since ``initialize`` if some of these are new.

        Least squares is not iterative, so ``drop`` and ``sgd`` are ignored. The loss is ``1 - AUC``
        of the held-out scores, or 0 if answers are not yes or no; it is stored under the
        component's name in ``losses``, which is returned (a new dict if None). A model from disk
        stays unchanged and gets no loss, because its training examples are unknown.
        """
        losses = {} if losses is None else losses
        if self._docs:
            self._train(example.reference for example in examples)
            auc = self._model().heldout_auc
            losses[self.name] = 0.0 if auc is None else 1.0 - auc
        return losses

    def _train(self, docs: Iterable[Doc]) -> None:
        """Add Docs to the training set and fit a new model if one of them is new.

        Docs are the same if their id and text are. If one is new, or there were none before, all
        are stored, newer ones in place of the same, and the model is fitted on all; otherwise
        nothing changes.
        """
        new = {(doc.user_data.get("document"), doc.text): doc for doc in docs}
        if not self._docs or new.keys() - self._docs.keys():
            self._docs |= new
            self.model = load_pipeline(self.pipeline).fit(list(self._docs.values()))

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model as a folder, atomically; ``exclude`` is ignored.

        An existing model there is replaced. Raises ValueError if there is no model, or ``path`` is
        something else than a model or an empty folder.
        """
        self._model().to_disk(path)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> TaskComponent:
        """Load the model of a folder, and return the component; ``exclude`` is ignored.

        The model is not trusted: it may only name shipped files and its own. Raises ValueError if
        a file is missing or damaged, or names what it may not. Training examples of before are
        forgotten.
        """
        self.model = Model.from_disk(path)
        self._docs = {}
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the files of the model folder as one msgpack message, ``{path: bytes}``.

        ``exclude`` is ignored. Raises ValueError if there is no model.
        """
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(Path(folder) / "model")
            model = Path(folder) / "model"
            files = {
                file.relative_to(model).as_posix(): file.read_bytes()
                for file in model.rglob("*")
                if file.is_file()
            }
        return bytes(srsly.msgpack_dumps(files))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> TaskComponent:
        """Load what ``to_bytes`` returned, and return the component; ``exclude`` is ignored.

        The files are written to a temporary folder, and nowhere else whatever their names are: of a
        name only the last two parts count, and ".." does not. Raises ValueError if they are not a
        complete, undamaged model.
        """
        with tempfile.TemporaryDirectory() as folder:
            for name, content in srsly.msgpack_loads(data).items():
                parts = PurePosixPath(name).parts[-2:]  # submodels are one folder deeper
                inside = (p for p in parts if p == Path(p).name and p != "..")  # "/" leads out
                file = Path(folder, *inside)
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(content)
            return self.from_disk(folder)

    def _model(self) -> Model:
        """Return the model; ValueError, with ways to get one, if there is none yet."""
        if self.model is None:
            raise ValueError(
                f"component {self.name!r} has no model. Load one with from_disk, train one with "
                "nlp.initialize, or name a shipped one in its config."
            )
        return self.model


def score_task(component: TaskComponent, examples: Iterable[Example]) -> dict[str, Any]:
    """Evaluate the model of a component on the gold annotation of reference Docs.

    Names are those of the reference, so this measures the model alone; ``textrank evaluate --names
    recognised`` includes the recogniser. Keys are ``textrank_<task>_<metric>``, for example
    ``textrank_ppi_f``. References without candidates, or with one that has no gold label, are left
    out. Empty if none remains: gold annotation is in ``doc.user_data``, so write the DocBin with
    ``textrank convert`` or ``store_user_data=True``. Raises ValueError if the component has no
    model.
    """
    from textrank.evaluation import evaluate  # slow to import

    model = component._model()
    task = model.pipeline.task
    docs = [example.reference for example in examples]
    docs = [doc for doc in docs if _is_annotated(task, doc)]
    if not docs:
        return {}
    (fold,) = evaluate(model, docs).folds
    return {f"textrank_{task.name}_{key}": value for key, value in fold.measures.items()}


def _is_annotated(task: Task, doc: Doc) -> bool:
    """Return whether a Doc has candidates of a task, all of them with gold labels.

    A Doc that lacks what the task needs, such as entities or a parse, is not annotated.
    """
    try:
        candidates = task.candidates(doc)
    except ValueError:
        return False
    return bool(candidates) and all(candidate.label is not None for candidate in candidates)


def make_task_scorer() -> Scorer:
    """Return ``score_task``; registered with spaCy as ``textrank.task_scorer.v1``."""
    return score_task


registry.scorers.register(SCORER, func=make_task_scorer)


def _are_dummy_examples(docs: Sequence[Doc]) -> bool:
    """Return whether these are the dummy examples ("x y z") that spaCy uses if there are none."""
    return len(docs) == 1 and not docs[0].user_data and docs[0].text.split() == ["x", "y", "z"]


# Attributes that nlp.analyze_pipes expects earlier components to set. Entities are not among them,
# since users may annotate them.
REQUIRED_ATTRIBUTES = {
    "ppi": ["token.tag", "token.dep", "doc.sents"],
    "gene_protein": ["doc.sents"],
    "spelling": ["doc.sents"],
    "parse_ranking": ["doc.sents"],
}


def _build_component(
    nlp: Language, name: str, pipeline: str, model: str | None, scorer: Scorer | None = None
) -> TaskComponent:
    """Build a component with a shipped model or one of a folder; without a model if it is None.

    ``pipeline`` names the shipped pipeline to train with; ``scorer`` is that of ``TaskComponent``.
    An empty ``model`` counts as None, and so does one that is neither shipped nor a path and has
    the name of the pipeline: it is the default of a task without a shipped model. ``nlp`` is not
    used; spaCy passes it. Raises ValueError if the model is unknown, or of another task than the
    pipeline.
    """
    if not model:
        return TaskComponent(name, pipeline, None, scorer)
    if model not in model_names() and not Path(model).exists():
        if model == pipeline:  # the default of a task without a shipped model
            return TaskComponent(name, pipeline, None, scorer)
        raise ValueError(
            f"component {name!r}: {model!r} is neither a model folder nor shipped; available: "
            f"{', '.join(model_names())}. Correct the name, or set model to null and train one."
        )
    loaded = load_model(model)
    task, expected = loaded.pipeline.task.name, load_pipeline(pipeline).task.name
    if task != expected:
        raise ValueError(
            f"component {name!r}: model {model!r} is of task {task!r}, but pipeline {pipeline!r} "
            f"is of task {expected!r}. Use a model of that task."
        )
    return TaskComponent(name, pipeline, loaded, scorer)


def _register_factory(task: str, model: str | None = "") -> Callable[..., Any]:
    """Register the factory ``textrank_<task>`` and its extension, and return the factory.

    The default of its setting ``model`` is the task's name (the shipped model) if ``model`` is
    empty, else ``model``; None is a component without a model.
    """
    _register_extension(task)
    return Language.factory(
        f"textrank_{task}",
        assigns=[f"doc._.textrank_{task}"],
        requires=REQUIRED_ATTRIBUTES.get(task, []),
        default_config={
            "pipeline": task,
            "model": task if model == "" else model,
            "scorer": {"@scorers": SCORER},
        },
        func=_build_component,
    )


def _register_extension(task: str) -> None:
    """Register ``doc._.textrank_<task>``, None by default, without importing the task.

    An extension that is registered already is left as it is.
    """
    if not Doc.has_extension(f"textrank_{task}"):
        Doc.set_extension(f"textrank_{task}", default=None)


def _build_identifiers(
    nlp: Language,
    name: str,
    model: str | None,
    species: Sequence[int],
    own: Sequence[str],
    labels: Sequence[str],
    overwrite: bool,
    scorer: Scorer | None = None,
) -> TaskComponent:
    """Build the component of identifiers, with settings of its task from the spaCy config.

    ``species``, ``own``, ``labels`` and ``overwrite`` are fields of the task ``identifiers`` and
    replace those of the model; without a model they are ignored.
    """
    component = _build_component(nlp, name, "identifiers", model, scorer)
    component.any_length = True  # names are linked by what the whole text says
    if component.model is not None:
        pipeline = component.model.pipeline
        settings: Any = {"species": species, "own": own, "labels": labels, "overwrite": overwrite}
        task = replace(cast(Any, pipeline.task), **settings)
        component.model = replace(component.model, pipeline=replace(pipeline, task=task))
    return component


_register_extension("identifiers")
identifiers = Language.factory(
    "textrank_identifiers",
    assigns=["doc._.textrank_identifiers"],
    requires=["doc.spans"],
    default_config={
        "model": "identifiers",
        "species": [],
        "own": [],
        "labels": [],
        "overwrite": False,
        "scorer": {"@scorers": SCORER},
    },
    func=_build_identifiers,
)
ppi = _register_factory("ppi")
gene_protein = _register_factory("gene_protein")
spelling = _register_factory("spelling")
parse_ranking = _register_factory("parse_ranking")
wsd = _register_factory("wsd", model=None)


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
    zone: VocabZone,
    *,
    failed: ErrorHandler | None = None,
    observe: Observer | None = None,
) -> Iterator[Doc]:
    """Annotate a long stream of Docs in constant memory, and yield the same Docs in order.

    ``docs`` must be a lazy stream of Docs made by ``zone.nlp`` from a reader that was given
    ``zone.mark_due`` as ``on_batch_end``. What the vocabulary learns from a batch is dropped again
    (the zone is entered here), so a Doc must not be used after the next one was requested. Without
    ``mark_due`` everything is kept until the end of the stream. ``BATCH_DOCS`` Docs are annotated
    at a time, or fewer when the vocabulary is due to be reset. ``failed`` is called with a Doc and
    an exception if a document cannot be annotated, and the Doc is left out; None raises the
    exception. ``observe`` is called with every annotated Doc and its scored candidates.
    """
    with zone:
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
