"""The tasks as spaCy components: ``nlp.add_pipe("textrank_ppi")``."""

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
from spacy.util import raise_error

from textrank.config import load_model, load_pipeline, model_names
from textrank.model import Model
from textrank.tasks.identifiers.task import Identifiers

Handler = Callable[[str, Any, list[Doc], Exception], Any]
Explanation = list[tuple[tuple[str, ...], float]]


class TaskComponent:
    """Judges the candidates of a task in each Doc; the answers are in ``doc._.textrank_<task>``.

    Holds a ``Model``. ``from_disk`` takes a model folder as it stands in ``models/``,
    ``initialize`` trains one on gold Docs with the component's pipeline.
    """

    def __init__(self, name: str, pipeline: str, model: Model | None) -> None:
        self.name = name
        self.pipeline = pipeline
        self.model = model
        self._docs: dict[tuple[Any, str], Doc] = {}  # that the model was trained on here
        self._handler: Handler | None = None

    def __call__(self, doc: Doc) -> Doc:
        return self._model()(doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Docs judged in batches: candidates of several Docs are compared at once."""
        handle = self._handler
        failed = (
            None if handle is None else lambda doc, error: handle(self.name, self, [doc], error)
        )
        yield from self._model().pipe(stream, batch_size=batch_size, failed=failed)

    def _tell(self, doc: Doc, error: Exception) -> None:
        self.get_error_handler()(self.name, self, [doc], error)

    def set_error_handler(self, handler: Handler) -> None:
        """Takes what spaCy's ``nlp.set_error_handler`` gives: it is told of a Doc that fails."""
        self._handler = handler

    def get_error_handler(self) -> Handler:
        """The handler of errors, by default one that raises."""
        return raise_error if self._handler is None else self._handler

    def explain(self, doc: Doc) -> list[Explanation]:
        """For each candidate in order, its features with what each adds to the score."""
        model = self._model()
        return [model.explain(candidate) for candidate in model.pipeline.task.candidates(doc)]

    def initialize(
        self, get_examples: Callable[[], Iterable[Example]], nlp: Language | None = None
    ) -> None:
        """Trains on the reference Docs, with gold as the task's readers set it."""
        docs = [example.reference for example in get_examples()]
        if self.model is not None and _are_made_up(docs):
            return  # spacy assemble has no examples: the model stays
        self._docs = {}
        self._learn(docs)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Trains anew on all examples met since ``initialize``, when some of these are new.

        Least squares has no steps: one training gives the best weights, so ``drop`` and ``sgd``
        have no use. The loss is the share of wrongly ordered held-out pairs, ``1 - AUC``, where
        answers are yes and no. A model that came from disk is left alone, for the examples it was
        trained on are unknown.
        """
        losses = {} if losses is None else losses
        if self._docs:
            self._learn(example.reference for example in examples)
            quality = self._model().heldout_auc
            losses[self.name] = 0.0 if quality is None else 1.0 - quality
        return losses

    def _learn(self, docs: Iterable[Doc]) -> None:
        new = {(doc.user_data.get("document"), doc.text): doc for doc in docs}
        if not self._docs or new.keys() - self._docs.keys():
            self._docs |= new
            self.model = load_pipeline(self.pipeline).fit(list(self._docs.values()))

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes exactly a model folder."""
        self._model().to_disk(path)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> TaskComponent:
        """Takes the model of a folder."""
        self.model = Model.from_disk(path)
        self._docs = {}
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of the model folder in one message."""
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
        """What ``to_bytes`` gave."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in srsly.msgpack_loads(data).items():
                own = PurePosixPath(name).parts[-2:]  # a model and, one folder deeper, its aspects
                file = Path(folder, *(part for part in own if part != ".."))
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(content)
            return self.from_disk(folder)

    def _model(self) -> Model:
        if self.model is None:
            raise ValueError(
                f"component {self.name!r} has no model. Give one with from_disk, train one with "
                "nlp.initialize, or name a shipped one in its config."
            )
        return self.model


def _are_made_up(docs: Sequence[Doc]) -> bool:
    """Whether these are the three words that spaCy takes for examples where there are none."""
    return len(docs) == 1 and not docs[0].user_data and docs[0].text.split() == ["x", "y", "z"]


# What analyze_pipes looks for before a component; names may also come from the user.
REQUIRES = {
    "ppi": ["token.tag", "token.dep", "doc.sents"],
    "gene_protein": ["doc.sents"],
    "spelling": ["doc.sents"],
    "parse_ranking": ["doc.sents"],
}


def _make(nlp: Language, name: str, pipeline: str, model: str | None) -> TaskComponent:
    """A component with a shipped model or one of a folder; without any where it comes later."""
    if not model:
        return TaskComponent(name, pipeline, None)
    if model not in model_names() and not Path(model).exists():
        if model == pipeline:  # the default, of a task without a shipped model
            return TaskComponent(name, pipeline, None)
        raise ValueError(
            f"component {name!r}: no model {model!r}, neither shipped ({', '.join(model_names())}) "
            "nor a folder. Correct the name, or set model to null and train one."
        )
    loaded = load_model(model)
    own, wanted = loaded.pipeline.task.name, load_pipeline(pipeline).task.name
    if own != wanted:
        raise ValueError(
            f"component {name!r}: model {model!r} is of task {own!r}, the pipeline {pipeline!r} of "
            f"{wanted!r}. Name a model of that task."
        )
    return TaskComponent(name, pipeline, loaded)


def _factory(task: str, model: str | None = "") -> Callable[..., Any]:
    """A factory whose default model is the shipped one of the task's name, or none."""
    return Language.factory(
        f"textrank_{task}",
        assigns=[f"doc._.textrank_{task}"],
        requires=REQUIRES.get(task, []),
        default_config={"pipeline": task, "model": task if model == "" else model},
        func=_make,
    )


def _make_identifiers(
    nlp: Language,
    name: str,
    model: str | None,
    species: Sequence[int],
    own: Sequence[str],
    labels: Sequence[str],
    overwrite: bool,
) -> TaskComponent:
    """Identifiers of names, with the settings of the task that a user may want to change."""
    made = _make(nlp, name, "identifiers", model)
    if made.model is not None:
        pipeline = made.model.pipeline
        settings: Any = {"species": species, "own": own, "labels": labels, "overwrite": overwrite}
        task = replace(cast(Identifiers, pipeline.task), **settings)
        made.model = replace(made.model, pipeline=replace(pipeline, task=task))
    return made


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
    },
    func=_make_identifiers,
)
ppi = _factory("ppi")
gene_protein = _factory("gene_protein")
spelling = _factory("spelling")
parse_ranking = _factory("parse_ranking")
wsd = _factory("wsd", model=None)
