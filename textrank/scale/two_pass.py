"""Two-pass analysis: find names in all sentences, then parse only those that can have an answer."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, NORM, ORTH, POS, SENT_START, SPACY, TAG
from spacy.language import Language
from spacy.tokens import Doc

from textrank.candidates import sentence_starts
from textrank.config import load_model, model_names, with_task_settings
from textrank.language import load_nlp, model_path
from textrank.language.load import SHIPPED_PIPELINE, resolve_components
from textrank.language.long_docs import apply_pipes, is_long, process_in_chunks
from textrank.language.morphology import Morphology
from textrank.language.sentences import SentenceSplitter
from textrank.language.syntax import WordParser, WordTagger, WordTok2Vec
from textrank.model import Model
from textrank.progress import gc_disabled
from textrank.scale.job import Job, path_checksum

PARSED_ATTRIBUTES = (HEAD, DEP, TAG, POS, MORPH, LEMMA)
# Components whose answer about a sentence does not depend on other sentences.
SENTENCE_COMPONENTS = (WordTok2Vec, WordTagger, WordParser, Morphology)


class Analysis:
    """Docs -> Docs with names, parses where they matter, and scored candidates.

    The answers are those of running all components of the pipeline on each Doc. Where the parser
    and what it builds on work sentence by sentence, and the task needs several names in a sentence,
    only sentences with enough names are parsed; the others get flat trees. A sentence with fewer
    names has no candidate, and its parse has no influence on other sentences. Any other pipeline
    runs as a whole.

    Parameters
    ----------
    model
        Trained model; its task gives the span group of names and how many a sentence needs.
    nlp
        Language pipeline; its components are remembered, so they can be switched off in it later.
    names, parses
        Names of the components that find names, and of those that parse, with all they build on.
        Components in neither run in the first pass.
    whole
        Parse every sentence.
    """

    def __init__(
        self,
        model: Model,
        nlp: Language,
        names: Sequence[str],
        parses: Sequence[str],
        *,
        whole: bool = False,
    ) -> None:
        self.model = model
        self.nlp = nlp
        self.key = model.pipeline.task.span_group
        self.min_names = model.pipeline.task.min_spans_per_sentence
        late = [name for name in parses if name not in names]
        self.first = [pipe for name, pipe in nlp.pipeline if name not in late]
        self.second = [pipe for name, pipe in nlp.pipeline if name in late]
        self.two_passes = (
            not whole
            and self.min_names > 0
            and any(isinstance(pipe, SentenceSplitter) and pipe.final for pipe in self.first)
            and any(isinstance(pipe, WordParser) for pipe in self.second)
            and all(isinstance(pipe, SENTENCE_COMPONENTS) for pipe in self.second)
        )
        self.pipes = [pipe for _, pipe in nlp.pipeline]  # readers may switch them off later

    def __call__(self, docs: Sequence[Doc]) -> list[Doc]:
        """Analyse and score Docs, in order; they are changed in place."""
        with gc_disabled():
            return list(self.model.annotate(self.read(docs)))

    def read(self, docs: Sequence[Doc]) -> list[Doc]:
        """Find names and parses, without scoring anything; Docs are changed in place.

        In two passes, Docs that already have a parse keep it. Returns the Docs in their order.
        """
        if not self.two_passes:
            return [_ensure_sentences(doc) for doc in _apply_in_chunks(docs, self.pipes)]
        analysed = _apply_in_chunks(docs, self.first)
        self._parse([doc for doc in analysed if len(doc) and not doc.has_annotation("DEP")])
        return analysed

    def _parse(self, docs: Sequence[Doc]) -> None:
        """Parse the sentences that need it, and set flat trees elsewhere, in place.

        ``docs`` must have names and sentence starts, and at least one token each.
        """
        masks = [self._needed(doc) for doc in docs]
        parts = [_take_sentences(*doc_and_mask) for doc_and_mask in zip(docs, masks, strict=True)]
        parsed = _apply_in_chunks([part for part in parts if part is not None], self.second)
        following = iter(parsed)
        for doc, mask, part in zip(docs, masks, parts, strict=True):
            _set_parse(doc, mask, None if part is None else next(following))

    def _needed(self, doc: Doc) -> NDArray[np.bool_]:  # (tokens,)
        """Return a mask of the tokens in sentences with enough names, shape (tokens,)."""
        spans = doc.spans.get(self.key, doc.ents)
        starts = sentence_starts(doc)
        sentence = np.searchsorted(starts, [span.start for span in spans], side="right") - 1
        enough = np.bincount(sentence, minlength=len(starts) - 1) >= self.min_names
        return np.repeat(enough, np.diff(starts))


def _take_sentences(doc: Doc, mask: NDArray[np.bool_]) -> Doc | None:
    """Return a new Doc of the tokens in ``mask``, or None if there are none.

    Words, spaces, norms, tags and sentence starts are copied, and nothing else. ``mask`` has one
    value per token and covers whole sentences. The Doc itself is not changed.
    """
    if not mask.any():
        return None
    columns: Any = [ORTH, SPACY, NORM, TAG, SENT_START]
    table: Any = doc.to_array(columns)[mask]
    strings = doc.vocab.strings
    words = [strings[orth] for orth in table[:, 0].tolist()]
    part = Doc(doc.vocab, words=words, spaces=(table[:, 1] == 1).tolist())
    return part.from_array(columns[2:], table[:, 2:])


def _set_parse(doc: Doc, mask: NDArray[np.bool_], part: Doc | None) -> None:
    """Set the parse of the tokens in ``mask`` from ``part``, and flat trees elsewhere, in place.

    ``part`` is the parsed Doc of ``_take_sentences``, or None if the mask is empty. In a flat tree
    every token depends on the first one of its sentence.
    """
    values: Any = doc.to_array(list(PARSED_ATTRIBUTES)).astype(np.uint64)
    starts = sentence_starts(doc)
    heads = np.repeat(starts[:-1], np.diff(starts)) - np.arange(len(doc))
    root, dep = (doc.vocab.strings.add(label) for label in ("ROOT", "dep"))
    values[:, 0] = heads.astype(np.uint64)
    values[:, 1] = np.where(heads, dep, root)
    if part is not None:
        values[mask] = part.to_array(list(PARSED_ATTRIBUTES))
    doc.from_array(list(PARSED_ATTRIBUTES), values)


def _apply_in_chunks(docs: Sequence[Doc], pipes: Sequence[Any]) -> list[Doc]:
    """Run some components on Docs and return them in order; long Docs are processed in chunks.

    ``pipes`` are the components themselves, in the order of the pipeline.
    """
    if not any(map(is_long, docs)):
        return list(apply_pipes(docs, pipes))
    return [process_in_chunks(doc, pipes) for doc in docs]


def _ensure_sentences(doc: Doc) -> Doc:
    """Return the Doc, split into sentences by punctuation if they are not all set (in place)."""
    has_sentences = doc.has_annotation("SENT_START", require_complete=True)
    return doc if has_sentences else SentenceSplitter(final=True)(doc)


def load_analysis(job: Job) -> Analysis:
    """Load the model of a job with the language pipeline that its task needs.

    A pipeline that the job names is loaded whole; of the shipped one only the components that the
    task requires. Raises as ``load_model`` and ``with_task_settings``.
    """
    model = with_task_settings(load_model(job.model), job.settings)
    task = model.pipeline.task
    needs_all = job.nlp is not None or task.required_pipes is None
    nlp = load_nlp(
        job.nlp,
        only=None if needs_all else [*(task.required_pipes or ()), *task.required_pipes_raw],
    )
    names, parses = (
        resolve_components(nlp, [name for name in wanted if name in nlp.pipe_names])
        for wanted in (task.required_pipes_raw, task.required_pipes or ())
    )
    return Analysis(model, nlp, names, parses, whole=job.whole)


def job_settings(job: Job) -> dict[str, Any]:
    """Return what the results of a job depend on, as recorded in the manifest.

    JSON values: names and checksums of model and language pipeline, task settings and format.
    Raises ValueError if a model is not found.
    """
    return {
        "model": Path(job.model).name,
        "model_checksum": path_checksum(_model_folder(job.model)),
        "language": Path(job.nlp).name if job.nlp else SHIPPED_PIPELINE,
        "language_checksum": path_checksum(_model_folder(job.nlp or SHIPPED_PIPELINE)),
        "settings": list(job.settings),
        "format": job.format,
    }


def _model_folder(name: str) -> Path:
    """Return the folder of a model: a shipped one, a path, or an installed package.

    Raises ValueError if there is none.
    """
    if name == SHIPPED_PIPELINE or name in model_names():
        return model_path(name)
    path = Path(name)
    if path.exists():
        return path
    spec = find_spec(name) if name.isidentifier() else None
    if spec is None or spec.origin is None:
        raise ValueError(f"no model {name!r}. `textrank info` lists the shipped ones.")
    return Path(spec.origin).parent
