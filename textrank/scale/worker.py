"""Worker process: reads slices, annotates their documents, and writes parts.

Run as ``python -m textrank.scale.worker``, it reads orders as JSON lines from standard input and
writes messages to standard output: ``ready``, then for each order ``reading``, ``item`` and
``batch`` (what it works on, for blame if it dies), ``words``, and finally ``done`` or ``refused``.
``supervisor.WorkerSupervisor`` is the other side.

Analysis has two passes: names are found in all sentences, then only sentences that can have an
answer are parsed.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, NORM, ORTH, POS, SENT_START, SPACY, TAG
from spacy.language import Language
from spacy.tokens import Doc

from textrank.candidates import sentence_starts
from textrank.config import load_corpus, load_model, model_names, with_task_settings
from textrank.formats.base import read_corpus
from textrank.io import ItemFilter
from textrank.language import load_nlp, model_path
from textrank.language.load import SHIPPED_PIPELINE, resolve_components
from textrank.language.morphology import Morphology
from textrank.language.segmentation import SentenceSplitter, apply_pipes, is_long, process_in_chunks
from textrank.language.syntax import WordParser, WordTagger, WordTok2Vec
from textrank.model import Model
from textrank.progress import gc_disabled
from textrank.results.schema import (
    Row,
    answer_rows,
    document_row,
    file_stem,
    name_rows,
    statement_rows,
    write_part,
)
from textrank.scale.job import Job, Piece, Slice, path_checksum

BATCH_DOCS = 32
BATCH_WORDS = 20_000  # unless a single document has more
WARM_UP_TEXT = "The protein GRB2 binds to SOS1 in human cells."
SendMessage = Callable[[dict[str, Any]], None]  # to the supervisor
Item = tuple[int, int, Doc]  # index of the piece, number in its file, document


@dataclass
class PartRows:
    """Rows of one part (the results of one slice), collected document by document.

    A later version of a document replaces an earlier one.

    Attributes
    ----------
    documents
        Tables of each document by ``(document id, source)``; the source is "" for a document that
        replaces any earlier document of the same id, whatever its file.
    errors
        Rows of the table ``errors``.
    words
        Number of words processed.
    """

    documents: dict[tuple[str, str], dict[str, list[Row]]] = field(default_factory=dict)
    errors: list[Row] = field(default_factory=list)
    words: int = 0

    def add(self, tables: dict[str, list[Row]]) -> None:
        """Add the tables of one document, in place of those of an earlier version of it.

        ``tables`` has rows by table name, with exactly one row in "documents". An earlier version
        has the same id, and the same source unless the row says ``replaces``. Its words remain
        counted.
        """
        row = tables["documents"][0]
        key = (row["document"], "" if row["replaces"] else row["source"])
        self.documents.pop(key, None)
        self.documents[key] = tables
        self.words += row["words"]

    def fail(self, source: str, document: str, reason: str) -> None:
        """Add an error row for a document that could not be read or annotated.

        ``source`` is the path of its file as the user gave it, ``document`` its id or number, and
        ``reason`` the error; white space in it is reduced to single spaces.
        """
        line = " ".join(reason.split())
        self.errors.append({"source": source, "document": document, "reason": line})

    def tables(self) -> dict[str, list[Row]]:
        """Return all rows by table, in the order in which documents were (last) added.

        The keys are "documents", "names", "statements" and "errors", even if there are no rows.
        """
        names = ("documents", "names", "statements")
        documents = self.documents.values()
        tables = {
            name: [row for document in documents for row in document.get(name, ())]
            for name in names
        }
        return {**tables, "errors": self.errors}


class Worker:
    """Annotator of the slices of one job, which holds the loaded model.

    ``nlp`` has all components disabled, so that readers only tokenize; ``analysis`` runs them.
    """

    def __init__(self, job: Job) -> None:
        """Load the model and the language pipeline of a job.

        Raises ValueError if the model, the language pipeline or a setting does not exist.
        """
        self.job = job
        self.analysis = load_analysis(job)
        self.task = self.analysis.model.pipeline.task.name
        self.nlp = self.analysis.nlp
        self.nlp.select_pipes(enable=[])  # readers only tokenize; the analysis runs the pipes

    def warm_up(self) -> None:
        """Annotate one sentence, so that everything that is loaded on first use is loaded.

        Errors are ignored, since they will occur again with the documents and are reported then.
        """
        with suppress(Exception), self.nlp.memory_zone():
            self.analysis([self.nlp.make_doc(WARM_UP_TEXT)])

    def __call__(self, slice: Slice, paths: dict[int, str], send: SendMessage) -> dict[str, Any]:
        """Process a slice, write its part, and return the counts of rows and words.

        Documents that fail become rows of the table ``errors``. Raises OSError if the part cannot
        be written.

        Parameters
        ----------
        slice
            Documents to process.
        paths
            Paths of the input files by their number in the manifest.
        send
            Called with messages (dicts) about what is being worked on; see the module docstring.

        Returns
        -------
        dict
            ``part`` (id of the slice), ``words``, the number of rows by table, and ``first``: a
            list with the first error row, or an empty one.
        """
        part = PartRows()
        with self.nlp.memory_zone():  # frees the words of this slice from the vocabulary
            self._process(part, slice, paths, send)
        tables = part.tables()
        write_part(Path(self.job.folder), slice.id, tables, self.job.format)
        counts = {table: len(rows) for table, rows in tables.items()}
        return {"part": slice.id, "words": part.words, **counts, "first": part.errors[:1]}

    def _process(
        self, part: PartRows, slice: Slice, paths: dict[int, str], send: SendMessage
    ) -> None:
        """Read and annotate the documents of a slice into ``part``, batch by batch.

        Before each batch, ``send`` is called with the message ``batch`` that lists its documents,
        and after it with ``words``, the number of words so far. Documents that fail become errors
        of ``part``.
        """
        reader = SliceReader(self, part, slice, paths, send)
        for batch in _iter_batches(reader.documents()):
            send({"batch": [(p, n, _document_name(n, doc)) for p, n, doc in batch]})
            self._annotate_batch(part, slice, batch)
            send({"words": part.words})

    def _annotate_batch(self, part: PartRows, slice: Slice, batch: Sequence[Item]) -> None:
        """Annotate a batch and add its rows to ``part``.

        If annotation raises an exception, each half of the batch is tried again, and so on; a
        single document that fails becomes an error of ``part``. No exception of a document is
        raised.
        """
        try:
            rows = [self._rows(slice, item, doc) for item, doc in self._iter_annotated(batch)]
        except Exception as error:  # reported as the error of the document
            if len(batch) > 1:
                middle = len(batch) // 2
                self._annotate_batch(part, slice, batch[:middle])
                self._annotate_batch(part, slice, batch[middle:])
                return
            piece, number, doc = batch[0]
            source, name = slice.pieces[piece].source, _document_name(number, doc)
            part.fail(source, name, f"{type(error).__name__}: {error}")
            return
        for tables in rows:
            part.add(tables)

    def _iter_annotated(self, batch: Sequence[Item]) -> Iterator[tuple[Item, Doc]]:
        """Iterate over pairs of an item and its annotated Doc, in order.

        Empty Docs and those with ``user_data["deleted"]`` are returned without annotation.
        """
        docs = [doc for _, _, doc in batch]
        to_annotate = [doc for doc in docs if len(doc) and not doc.user_data.get("deleted")]
        analysed = iter(self.analysis(to_annotate) if to_annotate else ())
        annotated_ids = {id(doc) for doc in to_annotate}
        for item in batch:
            yield item, next(analysed) if id(item[2]) in annotated_ids else item[2]

    def _rows(self, slice: Slice, item: Item, doc: Doc) -> dict[str, list[Row]]:
        """Return the rows of one document by table.

        ``doc`` is the annotated Doc of ``item``. Empty and deleted documents have only the table
        "documents". For PPI there are also "names" and "statements", and ``text`` of the document
        is set if there are statements. For other tasks there is "names", with the answers of the
        task.
        """
        piece = slice.pieces[item[0]]
        text = doc.text  # spaCy builds it anew on each access
        row = document_row(doc, text, piece.source, piece.input, item[1])
        if row["status"] != "done":
            return {"documents": [row]}
        where = (doc, row["document"], piece.source)
        if self.task != "ppi":
            return {"documents": [row], "names": list(answer_rows(*where, self.task))}
        names: list[Row] = list(name_rows(*where, self.analysis.key))
        stated: list[Row] = [*statement_rows(doc, text, *where[1:])]
        if stated:  # pages show a statement in its text; other texts would only take space
            row["text"] = text
        return {"documents": [row], "names": names, "statements": stated}


class SliceReader:
    """Reader of the documents of a slice, which records what cannot be read as errors of the part.

    ``part`` gets the errors; ``paths`` are the input files by number in the manifest; ``send`` is
    called with messages about what is read next.
    """

    def __init__(
        self, worker: Worker, part: PartRows, slice: Slice, paths: dict[int, str], send: SendMessage
    ) -> None:
        """Store the arguments, described in the docstring of the class; nothing is read yet."""
        self.worker, self.part, self.send = worker, part, send
        self.slice, self.paths = slice, paths

    def documents(self) -> Iterator[Item]:
        """Iterate over ``(index of the piece, number in its file, Doc)`` of wanted documents.

        Docs are only tokenized. A document that cannot be parsed is recorded as an error under its
        number from 1, or under the name of the file if it is the only document. If reading a file
        fails altogether, its earlier documents are kept, the error is recorded for the next
        document, and reading continues with the next file. Only the slice with the first document
        of a file (``Piece.first`` 0) records such an error, and never a slice of listed documents
        (``Piece.only``).
        """
        for index, piece in enumerate(self.slice.pieces):
            self.send({"reading": index})
            failed: list[tuple[int, str]] = []
            item_filter = ItemFilter(self._wants(index, piece), lambda *f: failed.append(f))  # noqa: B023
            reason = ""
            try:
                yield from self._piece(index, piece, item_filter)
            except Exception as error:  # the documents before it are kept
                reason = str(error) or type(error).__name__
            # Only one of the slices that share a file reports that it cannot be read.
            if reason and piece.first == 0 and piece.only is None:
                failed.append((item_filter.next_number, reason))
            is_single = item_filter.next_number <= 1  # the document is named after its file
            for number, reason in failed:
                name = file_stem(piece.source) if is_single else str(number + 1)
                self.part.fail(piece.source, name, reason)

    def _wants(self, index: int, piece: Piece) -> Callable[[int], bool]:
        """Return a function that says whether a piece includes a document, given its number.

        Numbers are counted from 0 in the file. For a document that is included, the function also
        sends the message ``item`` with ``index`` (of the piece in the slice) and the number.
        """

        def wants(number: int) -> bool:
            """Return whether the piece includes this document; if so, send the message ``item``."""
            wanted = piece.wants(number)
            if wanted:
                self.send({"item": (index, number)})
            return wanted

        return wants

    def _piece(self, index: int, piece: Piece, item_filter: ItemFilter) -> Iterator[Item]:
        """Iterate over the items of one piece; stop once all documents of ``piece.only`` were read.

        ``index`` is the position of the piece in the slice. Readers that do not support
        ``item_filter`` give all documents of the file, which are filtered here.
        """
        remaining = None if piece.only is None else len(piece.only)
        corpus = load_corpus(self.paths[piece.input])
        docs = read_corpus(corpus.reader, self.worker.nlp, item_filter)
        for number, doc in enumerate(docs):
            if item_filter.next_number:  # the reader asked which of its items are wanted
                number = item_filter.parsed_numbers.popleft()
            elif not piece.wants(number):
                continue
            yield index, number, doc
            remaining = None if remaining is None else remaining - 1
            if remaining == 0:
                return


def _iter_batches(items: Iterator[Item]) -> Iterator[list[Item]]:
    """Group items into batches of at most ``BATCH_DOCS`` documents and ``BATCH_WORDS`` tokens.

    Order is kept. A document with more than ``BATCH_WORDS`` tokens is a batch of its own.
    """
    batch: list[Item] = []
    words = 0
    for item in items:
        length = len(item[2])
        if batch and (len(batch) == BATCH_DOCS or words + length > BATCH_WORDS):
            yield batch
            batch, words = [], 0
        batch.append(item)
        words += length
    if batch:
        yield batch


def _document_name(number: int, doc: Doc) -> str:
    """Return the id of a Doc, or its number in the file (from 1) if it has none."""
    return str(doc.user_data.get("document", number + 1))


# Process: orders in, messages out -----------------------------------------------------------------
def main() -> None:
    """Process orders from standard input until it is closed, which ends the process.

    The first line must be an order with ``job``, all others orders with ``slice`` and ``paths``.
    Returns early, after a ``refused`` message, if the model cannot be loaded. A part that cannot be
    written is ``refused`` too, and the next order follows. Anything else that the process prints
    goes to standard error.
    """
    out = _take_over_stdout()
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_queue_input, args=(lines,), daemon=True).start()
    send = MessageWriter(out)
    try:
        start = json.loads(lines.get())
        worker = Worker(Job.from_dict(start["job"]))
        worker.warm_up()
    except (ValueError, OSError, ImportError) as error:
        send({"refused": str(error)})
        return
    gc.freeze()  # models stay: a collection need not look through them each time
    send({"ready": os.getpid()})
    while True:
        order = json.loads(lines.get())
        paths = {int(number): path for number, path in order["paths"].items()}
        try:
            done = worker(Slice.from_dict(order["slice"]), paths, send)
        except OSError as error:
            send({"refused": f"cannot write to {worker.job.folder}: {error.strerror or error}"})
            continue
        send({"done": {**done, "memory": resident_memory_bytes()}})


class MessageWriter:
    """Writer of messages to the supervisor, as lines of JSON."""

    def __init__(self, out: IO[str]) -> None:
        """Store ``out``, the text stream to write to."""
        self.out = out

    def __call__(self, message: dict[str, Any]) -> None:
        """Write one message, whose values must be serializable as JSON, and flush the stream.

        If the pipe is closed because the supervisor has ended, the process exits with code 1.
        """
        try:
            self.out.write(json.dumps(message) + "\n")
            self.out.flush()
        except BrokenPipeError:
            os._exit(1)


def _take_over_stdout() -> IO[str]:
    """Return a stream to standard output, and redirect all other output to standard error."""
    descriptor = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(descriptor, "w", encoding="utf-8")


def _queue_input(lines: SimpleQueue[str]) -> None:
    """Put the lines of standard input into a queue; exit the process when the input is closed.

    Body of a thread. The process exits at once with code 0, whatever it is doing.
    """
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)  # at any time: parts are written atomically, drafts are removed later


def resident_memory_bytes() -> int:
    """Return the resident memory of this process in bytes; 0 where there is no ``/proc``."""
    try:
        with open("/proc/self/statm", encoding="ascii") as status:
            return int(status.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


PARSED_ATTRIBUTES = (HEAD, DEP, TAG, POS, MORPH, LEMMA)
# Components whose answer about a sentence does not depend on other sentences.
SENTENCE_COMPONENTS = (WordTok2Vec, WordTagger, WordParser, Morphology)


class Analysis:
    """Analysis and scoring of Docs that parses only sentences that can contain an answer.

    The answers are the same as with all components of the pipeline run on each Doc. In the first
    pass names are found. In the second pass only sentences with enough names for a candidate are
    parsed; the others get flat trees. Two passes are possible if the task requires a number of
    names per sentence, and the parser and the components it builds on work sentence by sentence.
    Otherwise all components run on whole Docs.

    Parameters
    ----------
    model
        Trained model; its task gives the span group of names and how many a sentence needs.
    nlp
        Language pipeline. References to its components are kept, so they may be disabled in it
        later.
    names, parses
        Names of the components that find names, and of those that parse, each with the components
        they build on. Components in neither list run in the first pass.
    whole
        Whether to parse every sentence.
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
        """Store the components and decide whether to analyse in two passes (``two_passes``).

        ``names`` and ``parses`` are the components that find names and that parse. The second pass
        runs those of ``parses`` that are not in ``names``. Two passes are used unless ``whole``, if
        the task has ``min_spans_per_sentence`` above 0, the first pass has a final
        ``SentenceSplitter``, and the second pass has a ``WordParser`` and only
        ``SENTENCE_COMPONENTS``.
        """
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
        """Analyse Docs and score their candidates in place, and return the Docs in order.

        The answers of the task are stored in ``doc._.textrank_TASK``.
        """
        with gc_disabled():
            return list(self.model.annotate(self.read(docs)))

    def read(self, docs: Sequence[Doc]) -> list[Doc]:
        """Find names and parse sentences in place, without scoring, and return the Docs in order.

        In two passes, Docs that already have dependencies keep them. Otherwise all components run,
        and Docs without complete sentence starts are then split by rules.
        """
        if not self.two_passes:
            return [_ensure_sentences(doc) for doc in _apply_in_chunks(docs, self.pipes)]
        analysed = _apply_in_chunks(docs, self.first)
        self._parse([doc for doc in analysed if len(doc) and not doc.has_annotation("DEP")])
        return analysed

    def _parse(self, docs: Sequence[Doc]) -> None:
        """Parse the sentences with enough names, and give all others flat trees, in place.

        ``docs`` must have names and sentence starts, and at least one token each.
        """
        masks = [self._needed(doc) for doc in docs]
        parts = [_take_sentences(*doc_and_mask) for doc_and_mask in zip(docs, masks, strict=True)]
        parsed = _apply_in_chunks([part for part in parts if part is not None], self.second)
        following = iter(parsed)
        for doc, mask, part in zip(docs, masks, parts, strict=True):
            _set_parse(doc, mask, None if part is None else next(following))

    def _needed(self, doc: Doc) -> NDArray[np.bool_]:  # (tokens,)
        """Return a mask (tokens,) of the tokens in sentences with at least ``min_names`` names.

        Names are the spans of the task's span group, or ``doc.ents`` if the Doc has no such group.
        A name that crosses sentences counts for the sentence in which it starts.
        """
        spans = doc.spans.get(self.key, doc.ents)
        starts = sentence_starts(doc)
        sentence = np.searchsorted(starts, [span.start for span in spans], side="right") - 1
        enough = np.bincount(sentence, minlength=len(starts) - 1) >= self.min_names
        return np.repeat(enough, np.diff(starts))


def _take_sentences(doc: Doc, mask: NDArray[np.bool_]) -> Doc | None:
    """Return a new Doc of the tokens in ``mask``, or None if there are none.

    Only words, spaces, norms, tags and sentence starts are copied. ``mask`` has one value per token
    and covers whole sentences. The given Doc is not changed.
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
    every token depends on the first one of its sentence, with the labels "dep" and "ROOT"; its tags
    and lemmas stay.
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
    """Run components on Docs and return the Docs in order; long Docs are processed in chunks.

    ``pipes`` are the component objects in the order of the pipeline.
    """
    if not any(map(is_long, docs)):
        return list(apply_pipes(docs, pipes))
    return [process_in_chunks(doc, pipes) for doc in docs]


def _ensure_sentences(doc: Doc) -> Doc:
    """Split a Doc into sentences by punctuation unless all sentence starts are set; return it."""
    has_sentences = doc.has_annotation("SENT_START", require_complete=True)
    return doc if has_sentences else SentenceSplitter(final=True)(doc)


def load_analysis(job: Job) -> Analysis:
    """Load the model of a job with the language pipeline that its task needs.

    A pipeline that the job names is loaded with all components; of the shipped pipeline, only the
    components that the task requires are loaded. Raises ValueError if the model, the pipeline or a
    setting does not exist.
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
    """Return everything the results of a job depend on, as recorded in the manifest.

    The keys are ``model`` and ``language`` (names without folder), ``model_checksum``,
    ``language_checksum``, ``settings`` of the task and ``format``; values are JSON values. Raises
    ValueError if a model is not found.
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
    """Return the folder of a model or language pipeline, given its name or path.

    A shipped model is looked up first, then a path, then an installed package. Raises ValueError if
    none exists.
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


if __name__ == "__main__":
    main()
