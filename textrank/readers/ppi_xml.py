"""The learning format of protein-protein interaction corpora (AImed, BioInfer, ...)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from spacy.language import Language
from spacy.tokens import Doc

from textrank.readers.files import LIMIT
from textrank.readers.records import BATCH, Mention, set_mentions
from textrank.readers.streams import elements, parsed


@dataclass(frozen=True)
class PPIXML:
    """Documents of a PPI corpus: entities, gold pairs and, where given, tokens and dependencies.

    ``analysis`` names the tokenization of the file to use, with the parse made on it: ``split``
    (hyphenated words split, so that "-binding" outlives a blinded name) or ``Charniak-Lease``.
    ``spacy``, or a file without any analysis, leaves tokens and parse to ``nlp``. Where ``nlp`` has
    a parser, the given tokens are parsed by it too: the Doc then has both parses, the given one
    in ``doc.user_data["dependencies"]``; parts of speech stay as given.
    Offsets in the file count characters of the sentence from 0 and include the last one.

    With ``skip_bad`` a document with an error is left out and counted in one warning.
    """

    path: str
    analysis: str = "split"
    skip_bad: bool = False
    limit: int = LIMIT

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        docs = self._documents(nlp)
        while batch := list(islice(docs, BATCH)):
            yield from nlp.pipe(batch)

    def _documents(self, nlp: Language) -> Iterator[Doc]:
        def build(element: Element) -> Doc:
            return _Document(self.path, self.analysis, element).build(nlp)

        found = elements(self.path, "document", self.limit)
        return parsed(found, build, path=self.path, skip_bad=self.skip_bad)


@dataclass
class _Document:
    """One <document> on its way to a Doc: the text so far, its tokens and what refers to them."""

    path: str
    analysis: str
    element: Element
    text: str = ""
    words: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    starts: list[bool] = field(default_factory=list)
    dependencies: list[list[Any]] = field(default_factory=list)
    entities: list[tuple[Element, list[tuple[int, int]]]] = field(default_factory=list)
    bounds: list[int] = field(default_factory=list)  # where each sentence begins in the text

    def build(self, nlp: Language) -> Doc:
        """The Doc with spans, gold and, unless spaCy has to parse, dependencies."""
        sentences = list(self.element.iter("sentence"))
        given = self.analysis != "spacy" and self._analysed(sentences)
        for sentence in sentences:
            self._read_sentence(sentence, given)
        doc = self._given(nlp) if given else self._tokenised(nlp)
        doc.user_data |= {
            "document": self._attribute(self.element, "id"),
            "origin": self.element.get("PMID") or self.element.get("origId") or "",
            "sentences": [self._attribute(sentence, "id") for sentence in sentences],
            "gold": [self._pair(pair) for s in sentences for pair in s.iter("pair")],
        }
        set_mentions(doc, self._mentions())
        return doc

    def _read_sentence(self, sentence: Element, given: bool) -> None:
        text = self._attribute(sentence, "text")
        if not text.strip():
            raise self._error(sentence, "empty text", "Give the sentence in its text attribute.")
        start = len(self.text) + bool(self.text)
        self.text = f"{self.text} {text}" if self.text else text
        self.bounds.append(start)
        for entity in sentence.iter("entity"):
            pieces = self._offsets(entity, len(text))
            self.entities.append((entity, [(start + a, start + b) for a, b in pieces]))
        known = {entity.get("id") for entity in sentence.iter("entity")}
        for pair in sentence.iter("pair"):
            for end in ("e1", "e2"):
                if self._attribute(pair, end) not in known:
                    raise self._error(
                        pair, f"{end}={pair.get(end)!r} is no entity of the sentence", "Correct it."
                    )
        if given:
            self._read_analysis(sentence, text)

    def _analysed(self, sentences: Sequence[Element]) -> bool:
        """Whether the file gives an analysis; the one asked for must then be there."""
        if not any(s.find("sentenceanalyses") is not None for s in sentences):
            return False
        for sentence in sentences:
            names = [str(t.get("tokenizer")) for t in sentence.iter("tokenization")]
            if self.analysis not in names:
                raise self._error(
                    sentence,
                    f"no analysis {self.analysis!r}",
                    f"Set analysis to one of: {', '.join([*names, 'spacy'])}.",
                )
        return True

    def _read_analysis(self, sentence: Element, text: str) -> None:
        tokens = next(
            t for t in sentence.iter("tokenization") if t.get("tokenizer") == self.analysis
        )
        if self.words:
            self.spaces[-1] = True
        places: dict[str, int] = {}
        end = 0
        first = len(self.words)
        for begin, stop, token in sorted(
            ((*self._offsets(token, len(text))[0], token) for token in tokens), key=itemgetter(0)
        ):
            begin, stop = self._repaired(token, text, begin, stop, end)
            self._fill(text[end:begin])
            places[self._attribute(token, "id")] = len(self.words)
            self._add(text[begin:stop], token.get("POS", ""))
            end = stop
        self._fill(text[end:])
        if len(self.words) == first:
            raise self._error(sentence, f"no tokens in analysis {self.analysis!r}", "Tokenise it.")
        self.starts[first] = True
        self._read_dependencies(sentence, places)

    def _read_dependencies(self, sentence: Element, places: dict[str, int]) -> None:
        for parse in sentence.iter("parse"):
            if parse.get("tokenizer") != self.analysis:
                continue
            for link in parse.iter("dependency"):
                ends = [self._attribute(link, end) for end in ("t1", "t2")]
                for end in ends:
                    if end not in places:
                        raise self._error(link, f"token {end!r} is unknown", "Correct the parse.")
                kind = self._attribute(link, "type")
                self.dependencies.append([places[ends[0]], places[ends[1]], kind])

    def _repaired(
        self, token: Element, text: str, begin: int, stop: int, end: int
    ) -> tuple[int, int]:
        """The place of a token; one whose word stands a little further on is moved there."""
        word = token.get("text", "")
        if word and text[begin:stop] != word:
            found = text.find(word, end, stop + 4)
            begin, stop = (found, found + len(word)) if found >= 0 else (begin, stop)
        if begin < end:
            raise self._error(token, "overlaps the token before", "Correct its charOffset.")
        return begin, stop

    def _fill(self, gap: str) -> None:
        """Text between two tokens: one blank belongs to the token before, the rest is its own."""
        if gap.startswith(" ") and self.words and not self.spaces[-1]:
            self.spaces[-1] = True
            gap = gap[1:]
        if gap:
            self._add(gap, "")

    def _add(self, word: str, tag: str) -> None:
        self.words.append(word)
        self.spaces.append(False)
        self.tags.append(tag)
        self.starts.append(False)

    def _given(self, nlp: Language) -> Doc:
        doc = Doc(
            nlp.vocab,
            words=self.words,
            spaces=self.spaces,
            tags=self.tags,
            sent_starts=[bool(s) for s in self.starts],
        )
        doc.user_data["dependencies"] = self.dependencies
        return doc

    def _tokenised(self, nlp: Language) -> Doc:
        doc = nlp.make_doc(self.text)
        bounds = [*self.bounds, len(self.text)]
        for begin, stop in pairwise(bounds):
            inside = [t for t in doc if begin <= t.idx < stop]
            for token in inside:
                token.is_sent_start = token.i == inside[0].i
        return doc

    def _mentions(self) -> list[Mention]:
        return [
            Mention(self._attribute(e, "id"), e.get("type") or "protein", tuple(places))
            for e, places in self.entities
        ]

    def _pair(self, pair: Element) -> dict[str, Any]:
        answer = pair.get("interaction", "")
        if answer.lower() not in ("true", "false"):
            raise self._error(pair, f"interaction={answer!r}", "Write True or False.")
        ends = [self._attribute(pair, "e1"), self._attribute(pair, "e2")]
        return {"entities": ends, "label": answer.lower() == "true"}

    def _offsets(self, element: Element, length: int) -> list[tuple[int, int]]:
        """Half-open character ranges of ``charOffset``, checked against the sentence."""
        value = self._attribute(element, "charOffset")
        try:
            pieces = [tuple(map(int, piece.split("-"))) for piece in value.split(",")]
            ranges = [(begin, last + 1) for begin, last in pieces]
        except ValueError:
            raise self._error(
                element, f"charOffset={value!r}", "Write first-last, as in 4-9 or 4-6,11-12."
            ) from None
        for begin, stop in ranges:
            if not 0 <= begin < stop <= length:
                raise self._error(
                    element,
                    f"charOffset={value!r} lies outside the sentence of {length} characters",
                    "Offsets count from 0 and include the last character.",
                )
        return ranges

    def _attribute(self, element: Element, name: str) -> str:
        value = element.get(name)
        if value is None:
            raise self._error(element, f"no attribute {name!r}", "Add it.")
        return value

    def _error(self, element: Element, what: str, remedy: str) -> ValueError:
        document = self.element.get("id", "?")
        place = f"<{element.tag} id={element.get('id', '?')!r}> of document {document!r}"
        return ValueError(f"{Path(self.path)}, {place}: {what}. {remedy}")
