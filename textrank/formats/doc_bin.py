"""DocBin: spaCy's own file of Docs."""

from __future__ import annotations

import gc
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.pipeline import Sentencizer
from spacy.tokens import Doc, DocBin

from textrank.io import WHOLE, parsed, read_bytes, writing_bytes


@dataclass(frozen=True)
class DocBinFile:
    """Docs of a ``.spacy`` file, as they are; those without sentences are analysed by ``nlp``.

    Docs without an id of their own are named after the file and their number. Names in
    ``doc.ents`` stand in for a missing group ``doc.spans["entities"]``. The format has no
    documents to skip: one that is damaged is damaged as a whole.
    """

    path: str
    limit: int = WHOLE  # bytes after unpacking; spaCy holds them all

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        sentencizer = Sentencizer()
        docs = parsed(self._docs(nlp), _ready, path=self.path, skip_bad=False)
        for number, doc in enumerate(docs, 1):
            name = f"{Path(self.path).name.split('.')[0]}-{number}"
            doc.user_data.setdefault("document", name)
            if not doc.has_annotation("SENT_START"):
                doc = nlp(doc)
            yield doc if doc.has_annotation("SENT_START") else sentencizer(doc)

    def _docs(self, nlp: Language) -> Iterator[Doc]:
        data = read_bytes(self.path, self.limit)
        _check_size(data, self.path, self.limit)
        collecting = gc.isenabled()
        try:
            yield from DocBin().from_bytes(data).get_docs(nlp.vocab)
        except MemoryError:
            raise
        except Exception as error:  # whatever a stranger's bytes do to the unpacker
            raise ValueError(
                f"{self.path}: not a DocBin, or a damaged one ({type(error).__name__}: {error}). "
                "Write it again with DocBin.to_disk."
            ) from error
        finally:
            if collecting:
                gc.enable()  # the unpacker leaves it off when it fails


def _check_size(data: bytes, path: str, limit: int) -> None:
    """Refuse bytes that unpack to more than the limit, before the library unpacks them at once."""
    unpacker = zlib.decompressobj()
    size = 0
    try:
        while data and size <= limit:
            size += len(unpacker.decompress(data, 1 << 20))
            data = unpacker.unconsumed_tail
    except zlib.error as error:
        raise ValueError(
            f"{path}: not a DocBin, or a damaged one ({error}). Write it with DocBin.to_disk."
        ) from error
    if size > limit:
        raise ValueError(
            f"{path}: more than {limit:,} bytes after unpacking. Split it, or raise the limit."
        )


def _ready(doc: Doc) -> Doc:
    """The Doc by our conventions: the unpacker makes tuples of lists."""
    for key in list(doc.user_data):
        if isinstance(key, str):
            doc.user_data[key] = _lists(doc.user_data[key])
    if "entities" not in doc.spans:
        doc.spans["entities"] = list(doc.ents)
    return doc


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists(inner) for key, inner in value.items()}
    return [_lists(inner) for inner in value] if isinstance(value, list | tuple) else value


def write_doc_bin(docs: Iterable[Doc], path: str) -> None:
    """One ``.spacy`` file with all the Docs carry; spaCy holds it in memory until it is whole."""
    packed = DocBin(store_user_data=True, docs=docs)
    with writing_bytes(path) as out:
        out.write(packed.to_bytes())
