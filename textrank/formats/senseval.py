"""The Senseval lexical sample: one marked word in each document, with its sense."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse
from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.io import WHOLE, read_bytes, unzipped


@dataclass(frozen=True)
class Senseval:
    """Instances of a Senseval-2 ``.pos`` file, of a folder or of a zip archive of such files.

    A document is an instance: its words, of which the marked one is ``doc.spans["entities"]``
    with the sense as label and the word in ``kb_id_``. Tokens are those of the file. Of several
    senses the first counts.
    """

    path: str
    limit: int = WHOLE  # bytes of a file after unpacking

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        number = 0
        for name, data in self._files():
            for element, word in _instances(data, name):
                number += 1
                yield _doc(element, word, nlp, f"{name}, instance {number}")
        if not number:
            raise ValueError(
                f"{self.path}: no instance of Senseval in it. Name a .pos file, or a folder or zip "
                "archive of such files."
            )

    def _files(self) -> Iterator[tuple[str, bytes]]:
        path = Path(self.path)
        if path.is_dir():
            for file in sorted(path.glob("*.pos")):
                yield str(file), read_bytes(file, self.limit)
        elif path.suffix == ".zip":
            for name, data in unzipped(path, ".pos", self.limit):
                yield f"{path}/{name}", data
        else:
            yield str(path), read_bytes(path, self.limit)


def _instances(data: bytes, name: str) -> Iterator[tuple[Element, str]]:
    """The instances of one file, each with the word it is about."""
    word = ""
    try:
        for event, element in iterparse(io.BytesIO(data), events=("start", "end")):
            if event == "start" and element.tag == "lexelt":
                word = element.get("item", "").partition("-")[0]
            elif event == "end" and element.tag == "instance":
                yield element, word
                element.clear()
    except (ParseError, DefusedXmlException) as error:
        raise ValueError(f"{name}: not readable as XML ({error}). Correct the file.") from error


def _doc(element: Element, word: str, nlp: Language, place: str) -> Doc:
    answers, context = element.findall("answer"), element.find("context")
    head = None if context is None else context.find(".//head")
    if context is None or head is None or not answers:
        raise ValueError(f"{place}: an instance needs an answer and a context with a head.")
    words, starts, target = _words(context)
    doc = Doc(nlp.vocab, words=words, sent_starts=[i in starts for i in range(len(words))])
    sense, own = answers[0].get("senseid", ""), element.get("id", place)
    span = Span(doc, *target, label=sense, kb_id=word, span_id=own)
    doc.spans["entities"] = [span]
    doc.user_data["document"] = own
    return doc


def _words(context: Element) -> tuple[list[str], set[int], tuple[int, int]]:
    """The words, where sentences begin, and where the target stands."""
    words: list[str] = []
    starts, target = {0}, (0, 0)
    inside = {id(part) for head in context.iter("head") for part in head.iter()}
    for part in context.iter():
        if part.tag == "s" and words:
            starts.add(len(words))
        if part.tag in ("wf", "head") and (part.text or "").strip():
            words += (part.text or "").split()
            if id(part) in inside:
                target = (target[0] if target[1] else len(words) - 1, len(words))
    return words, starts, target
