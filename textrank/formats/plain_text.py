"""Plain text: one document a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.records import Record, Stems, docs_of, files_of
from textrank.io import LIMIT, changed_folder, fresh_text, read_text


@dataclass(frozen=True)
class PlainText:
    """UTF-8 text files as Docs, analysed by ``nlp``; a folder stands for its ``*.txt`` files.

    Names are left to a recogniser in ``nlp``. With ``skip_bad`` a file with an error is left
    out and counted in one warning.
    """

    path: str
    skip_bad: bool = False
    limit: int = LIMIT

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        files = files_of(self.path, ".txt")
        return docs_of(files, self._record, nlp, path=self.path, cut=False, skip_bad=self.skip_bad)

    def _record(self, path: Path) -> Record:
        name = path.name.removesuffix(".gz").removesuffix(".txt")
        return Record(unquote(name), read_text(path, self.limit), str(path))


def write_text(docs: Iterable[Doc], path: str) -> None:
    """The bare text of each document, ``<id>.txt`` in the folder ``path``, made if need be.

    The folder changes as a whole when all are written; other files in it stay.
    """
    stems = Stems()
    with changed_folder(path) as folder:
        for doc in docs:
            with fresh_text(folder / f"{stems.of(doc)}.txt") as out:
                out.write(doc.text)
