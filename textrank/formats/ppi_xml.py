"""The learning format of protein-protein interaction corpora (AImed, BioInfer, ...)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.formats.base import (
    BATCH_DOCS,
    FileReader,
    Mention,
    get_mentions,
    get_relations,
    mention_text,
    require_document_id,
    set_mentions,
)
from textrank.io import (
    MAX_ITEM_BYTES,
    ItemFilter,
    format_xml_attributes,
    iter_elements,
    open_atomic,
    parse_items,
)
from textrank.language.alignment import store_retokenized, word_doc
from textrank.language.sentences import set_sentence_starts


@dataclass(frozen=True)
class PPIXML(FileReader):
    """Documents of a PPI corpus: entities, gold pairs and, where given, tokens and dependencies.

    ``analysis`` names the tokenization of the file to use, with the parse made on it: ``split``
    (hyphenated words split, so that "-binding" outlives a blinded name) or ``Charniak-Lease``.
    ``spacy``, or a file without any analysis, leaves tokens and parse to ``nlp``. Where ``nlp`` has
    a parser, the given tokens are parsed by it too: the Doc then has both parses, the given one
    in ``doc.user_data["dependencies"]``; parts of speech stay as given. The words that ``nlp``
    itself finds, with its parse of them, are kept beside (``text.second_reading``).
    Offsets in the file count characters of the sentence from 0 and include the last one.

    With ``skip_bad`` a document with an error is left out and counted in one warning.
    """

    path: str
    analysis: str = "split"
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``; see ``FileReader.read``."""
        docs = self._documents(nlp, item_filter)
        while batch := list(islice(docs, BATCH_DOCS)):
            again = [_own_words(doc, nlp) for doc in batch if "dependencies" in doc.user_data]
            found = list(nlp.pipe(batch))
            _read_again([doc for doc in found if "dependencies" in doc.user_data], again, nlp)
            yield from found

    def _documents(self, nlp: Language, item_filter: ItemFilter | None) -> Iterator[Doc]:
        def build(element: Element) -> Doc:
            return _Document(self.path, self.analysis, element).build(nlp)

        found = iter_elements(self.path, "document", self.limit)
        return parse_items(
            found, build, path=self.path, skip_bad=self.skip_bad, item_filter=item_filter
        )


def _own_words(doc: Doc, nlp: Language) -> Doc:
    """The text of a Doc with given words in our own, its sentences and names kept."""
    own = _cut_at(nlp.make_doc(doc.text), [sentence.start_char for sentence in doc.sents])
    set_mentions(own, get_mentions(doc))
    return own


def _read_again(docs: Sequence[Doc], again: Sequence[Doc], nlp: Language) -> None:
    """Keeps our own reading of given words with each Doc, where there is a parser."""
    if not any(doc.has_annotation("DEP") for doc in docs):
        return
    for doc, own in zip(docs, nlp.pipe(again), strict=True):
        store_retokenized(doc, word_doc(own))


def _cut_at(doc: Doc, bounds: Sequence[int]) -> Doc:
    """The Doc with sentences that begin at these characters and nowhere else."""
    places = [token.idx for token in doc]
    set_sentence_starts(doc, {bisect_left(places, begin) for begin in bounds}, final=True)
    return doc


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
        return _cut_at(nlp.make_doc(self.text), self.bounds)

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


def write_ppi_xml(
    docs: Iterable[Doc],
    path: str,
    *,
    name: str = "textrank",
    analysis: str = "split",
    source: str = "gold",
) -> None:
    """The corpus that ``PPIXML`` reads back: sentences, names, pairs, tokens and dependencies.

    Dependencies are the given ones of the Doc, else spaCy's tree; a Doc without a parse gets tokens
    only. The format has no place for a name or a pair that crosses sentences: that is an error.
    """
    with open_atomic(path) as out:
        out.write(f"<corpus{format_xml_attributes(source=name)}>\n")
        for doc in docs:
            out.writelines(line + "\n" for line in _Writer(doc, analysis, source).document())
        out.write("</corpus>\n")


@dataclass(frozen=True)
class _Writer:
    doc: Doc
    analysis: str
    source: str

    def document(self) -> Iterator[str]:
        name = require_document_id(self.doc)
        origin = str(self.doc.user_data.get("origin") or name)
        yield f"  <document{format_xml_attributes(id=name, origId=origin)}>"
        homes = self._homes()
        for index, sentence in enumerate(self.doc.sents):
            yield from self._sentence(sentence, index, homes[index])
        yield "  </document>"

    def _homes(self) -> dict[int, list[Mention]]:
        """The names of each sentence by its number."""
        sentences = list(self.doc.sents)
        homes: dict[int, list[Mention]] = {i: [] for i in range(len(sentences))}
        for mention in get_mentions(self.doc):
            first, last = mention.pieces[0][0], mention.pieces[-1][1]
            inside = (i for i, s in enumerate(sentences) if _holds(s, first, last))
            home = next(inside, None)
            if home is None:
                raise ValueError(
                    f"name {mention.id!r} of document {require_document_id(self.doc)!r} crosses a "
                    "sentence boundary, which this format cannot state. Mend the sentences or "
                    "write BioC."
                )
            homes[home].append(mention)
        self._check_pairs(homes)
        return homes

    def _check_pairs(self, homes: dict[int, list[Mention]]) -> None:
        where = {mention.id: index for index, found in homes.items() for mention in found}
        for row in get_relations(self.doc, self.source):
            first, second = row["entities"]
            if where.get(first) is None or where.get(first) != where.get(second):
                raise ValueError(
                    f"pair {first!r}, {second!r} of document {require_document_id(self.doc)!r} is "
                    "not within one sentence, which this format cannot state. Write BioC or JSON "
                    "lines."
                )

    def _sentence(self, sentence: Span, index: int, mentions: list[Mention]) -> Iterator[str]:
        names = self.doc.user_data.get("sentences", [])
        own = f"{require_document_id(self.doc)}.s{index}"
        name = str(names[index]) if index < len(names) else own
        head = format_xml_attributes(id=name, seqId=f"s{index}", text=sentence.text)
        yield f"    <sentence{head}>"
        for mention in mentions:
            yield f"      <entity{self._entity(mention, sentence.start_char)} />"
        here = {mention.id for mention in mentions}
        rows = [r for r in get_relations(self.doc, self.source) if here.issuperset(r["entities"])]
        for number, row in enumerate(rows):
            ends = dict(zip(("e1", "e2"), row["entities"], strict=True))
            answer = str(bool(row.get("label")))
            pair = format_xml_attributes(**ends, id=f"{name}.p{number}", interaction=answer)
            yield f"      <pair{pair} />"
        yield from self._analyses(sentence)
        yield "    </sentence>"

    def _entity(self, mention: Mention, start: int) -> str:
        places = ",".join(f"{a - start}-{b - start - 1}" for a, b in mention.pieces)
        text = mention_text(self.doc, mention)
        return format_xml_attributes(
            charOffset=places, id=mention.id, text=text, type=mention.label
        )

    def _analyses(self, sentence: Span) -> Iterator[str]:
        tokens = [token for token in sentence if not token.is_space]
        ids = {token.i: f"st_{number}" for number, token in enumerate(tokens, 1)}
        yield "      <sentenceanalyses>"
        yield "        <parses>"
        parse = format_xml_attributes(parser=f"{self.analysis}_parse", tokenizer=self.analysis)
        yield f"          <parse{parse}>"
        for number, (governor, dependent, kind) in enumerate(self._arcs(sentence, ids), 1):
            ends = format_xml_attributes(
                id=f"split_{number}", t1=ids[governor], t2=ids[dependent], type=kind
            )
            yield f"            <dependency{ends} />"
        yield "          </parse>"
        yield "        </parses>"
        yield "        <tokenizations>"
        yield f"          <tokenization{format_xml_attributes(tokenizer=self.analysis)}>"
        for token in tokens:
            first = token.idx - sentence.start_char
            place = f"{first}-{first + len(token) - 1}"
            row = format_xml_attributes(
                POS=token.tag_, charOffset=place, id=ids[token.i], text=token.text
            )
            yield f"            <token{row} />"
        yield "          </tokenization>"
        yield "        </tokenizations>"
        yield "      </sentenceanalyses>"

    def _arcs(self, sentence: Span, ids: dict[int, str]) -> Iterator[tuple[int, int, str]]:
        given = self.doc.user_data.get("dependencies")
        if given is not None:
            yield from ((g, d, kind) for g, d, kind in given if g in ids and d in ids)
        elif self.doc.has_annotation("DEP"):
            for token in sentence:
                if token.head.i != token.i and token.i in ids and token.head.i in ids:
                    yield token.head.i, token.i, token.dep_


def _holds(sentence: Span, first: int, last: int) -> bool:
    return sentence.start_char <= first and last <= sentence.end_char
