"""A slice in, a part out: what each worker process does, with one model loaded once."""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from spacy.tokens import Doc

from textrank.config import load_corpus
from textrank.formats.base import read_corpus
from textrank.io import ItemFilter
from textrank.results.schema import (
    Row,
    answer_rows,
    document_row,
    file_stem,
    name_rows,
    statement_rows,
    write_part,
)
from textrank.scale.job import Job, Piece, Slice
from textrank.scale.two_pass import load_analysis

BATCH_DOCS = 32  # in a batch, and at most
BATCH_WORDS = 20_000  # in a batch, unless one document has more
WARM_UP_TEXT = "The protein GRB2 binds to SOS1 in human cells."
SendMessage = Callable[[dict[str, Any]], None]  # tells the parent what is worked on now
Item = tuple[int, int, Doc]  # piece, number in its file, and the document


@dataclass
class PartRows:
    """The rows of a slice, as they come; a later version of a document replaces the earlier."""

    documents: dict[tuple[str, str], dict[str, list[Row]]] = field(default_factory=dict)
    errors: list[Row] = field(default_factory=list)
    words: int = 0

    def add(self, tables: dict[str, list[Row]]) -> None:
        """Takes the rows of a document."""
        row = tables["documents"][0]
        key = (row["document"], "" if row["replaces"] else row["source"])
        self.documents.pop(key, None)
        self.documents[key] = tables
        self.words += row["words"]

    def fail(self, source: str, document: str, reason: str) -> None:
        """Notes a document that could not be read or judged."""
        line = " ".join(reason.split())
        self.errors.append({"source": source, "document": document, "reason": line})

    def tables(self) -> dict[str, list[Row]]:
        """All rows by table."""
        names = ("documents", "names", "statements")
        every = self.documents.values()
        found = {name: [row for own in every for row in own.get(name, ())] for name in names}
        return {**found, "errors": self.errors}


class Worker:
    """Reads, judges and writes slices of one job; the model is loaded here and kept."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.analysis = load_analysis(job)
        self.task = self.analysis.model.pipeline.task.name
        self.nlp = self.analysis.nlp
        self.nlp.select_pipes(enable=[])  # readers only cut texts into tokens; we do the rest

    def warm_up(self) -> None:
        """Judge one sentence, so that what is loaded on first use counts as loading the model.

        Errors are ignored here: they come again with the documents and are reported there.
        """
        with suppress(Exception), self.nlp.memory_zone():
            self.analysis([self.nlp.make_doc(WARM_UP_TEXT)])

    def __call__(self, slice: Slice, paths: dict[int, str], beat: SendMessage) -> dict[str, Any]:
        """Writes the part of a slice and says how much it was."""
        part = PartRows()
        with self.nlp.memory_zone():  # words of this slice are forgotten with it
            self._fill(part, slice, paths, beat)
        tables = part.tables()
        write_part(Path(self.job.folder), slice.id, tables, self.job.format)
        counts = {table: len(rows) for table, rows in tables.items()}
        return {"part": slice.id, "words": part.words, **counts, "first": part.errors[:1]}

    def _fill(self, part: PartRows, slice: Slice, paths: dict[int, str], beat: SendMessage) -> None:
        reading = SliceReader(self, part, slice, paths, beat)
        for batch in _batches(reading.documents()):
            beat({"batch": [(p, n, _name(n, doc)) for p, n, doc in batch]})
            self._judge(part, slice, batch)
            beat({"words": part.words})

    def _judge(self, part: PartRows, slice: Slice, batch: Sequence[Item]) -> None:
        """The rows of a batch; where it fails, of its halves, down to the one that is at fault."""
        try:
            rows = [self._rows(slice, item, doc) for item, doc in self._analysed(batch)]
        except Exception as error:  # whatever a text does to a network is the text's error
            if len(batch) > 1:
                middle = len(batch) // 2
                self._judge(part, slice, batch[:middle])
                self._judge(part, slice, batch[middle:])
                return
            piece, number, doc = batch[0]
            source, name = slice.pieces[piece].source, _name(number, doc)
            part.fail(source, name, f"{type(error).__name__}: {error}")
            return
        for tables in rows:
            part.add(tables)

    def _analysed(self, batch: Sequence[Item]) -> Iterator[tuple[Item, Doc]]:
        docs = [doc for _, _, doc in batch]
        live = [doc for doc in docs if len(doc) and not doc.user_data.get("deleted")]
        analysed = iter(self.analysis(live) if live else ())
        kept = {id(doc) for doc in live}
        for item in batch:
            yield item, next(analysed) if id(item[2]) in kept else item[2]

    def _rows(self, slice: Slice, item: Item, doc: Doc) -> dict[str, list[Row]]:
        piece = slice.pieces[item[0]]
        text = doc.text  # put together anew each time it is asked for
        row = document_row(doc, text, piece.source, piece.input, item[1])
        if row["status"] != "done":
            return {"documents": [row]}
        where = (doc, row["document"], piece.source)
        if self.task != "ppi":
            return {"documents": [row], "names": list(answer_rows(*where, self.task))}
        names: list[Row] = list(name_rows(*where, self.analysis.key))
        stated: list[Row] = [*statement_rows(doc, text, *where[1:])]
        return {"documents": [row], "names": names, "statements": stated}


class SliceReader:
    """The documents of a slice, file by file; what cannot be read becomes an error of the part."""

    def __init__(
        self, worker: Worker, part: PartRows, slice: Slice, paths: dict[int, str], beat: SendMessage
    ) -> None:
        self.worker, self.part, self.beat = worker, part, beat
        self.slice, self.paths = slice, paths

    def documents(self) -> Iterator[Item]:
        """Piece, number and Doc of each document that is wanted."""
        for index, piece in enumerate(self.slice.pieces):
            self.beat({"reading": index})
            failed: list[tuple[int, str]] = []
            selection = ItemFilter(self._wants(index, piece), lambda *f: failed.append(f))  # noqa: B023
            reason = ""
            try:
                yield from self._piece(index, piece, selection)
            except Exception as error:  # a reader that gives up has read what it could
                reason = str(error) or type(error).__name__
            if reason and piece.first == 0 and piece.only is None:  # told once, not by every slice
                failed.append((selection.next_number, reason))
            alone = selection.next_number <= 1  # the only document of a file is called after it
            for number, reason in failed:
                name = file_stem(piece.source) if alone else str(number + 1)
                self.part.fail(piece.source, name, reason)

    def _wants(self, index: int, piece: Piece) -> Callable[[int], bool]:
        """Whether a document is wanted; the parent hears which one is about to be read."""

        def wants(number: int) -> bool:
            wanted = piece.wants(number)
            if wanted:
                self.beat({"item": (index, number)})
            return wanted

        return wants

    def _piece(self, index: int, piece: Piece, selection: ItemFilter) -> Iterator[Item]:
        left = None if piece.only is None else len(piece.only)
        corpus = load_corpus(self.paths[piece.input])
        docs = read_corpus(corpus.reader, self.worker.nlp, selection)
        for number, doc in enumerate(docs):
            if selection.next_number:  # the reader asked which of its items are wanted
                number = selection.parsed_numbers.popleft()
            elif not piece.wants(number):
                continue
            yield index, number, doc
            left = None if left is None else left - 1
            if left == 0:
                return


def _batches(items: Iterator[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        length = len(item[2])
        if batch and (len(batch) == BATCH_DOCS or size + length > BATCH_WORDS):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += length
    if batch:
        yield batch


def _name(number: int, doc: Doc) -> str:
    return str(doc.user_data.get("document", number + 1))


def main() -> None:
    """Works until standard input ends."""
    out = _private_output()
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    say = MessageWriter(out)
    try:
        start = json.loads(lines.get())
        worker = Worker(Job.from_dict(start["job"]))
        worker.warm_up()
    except (ValueError, OSError, ImportError) as error:
        say({"refused": str(error)})
        return
    gc.freeze()  # models stay: a collection need not look through them each time
    say({"ready": os.getpid()})
    while True:
        order = json.loads(lines.get())
        paths = {int(number): path for number, path in order["paths"].items()}
        try:
            done = worker(Slice.from_dict(order["slice"]), paths, say)
        except OSError as error:
            say({"refused": f"cannot write to {worker.job.folder}: {error.strerror or error}"})
            continue
        say({"done": {**done, "memory": resident_memory_bytes()}})


class MessageWriter:
    """Says things to the parent; when nobody listens any more there is nothing left to do."""

    def __init__(self, out: IO[str]) -> None:
        self.out = out

    def __call__(self, message: dict[str, Any]) -> None:
        try:
            self.out.write(json.dumps(message) + "\n")
            self.out.flush()
        except BrokenPipeError:
            os._exit(1)


def _private_output() -> IO[str]:
    """Standard output for messages alone; whatever else prints there goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(own, "w", encoding="utf-8")


def _listen(lines: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)  # the parent is gone, or has no more work: parts are whole, drafts get cleared


def resident_memory_bytes() -> int:
    """Bytes of memory that this process holds now; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as facts:
            return int(facts.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    main()
