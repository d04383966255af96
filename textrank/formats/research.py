"""Research corpora: protein interactions, LETOR (ranking), preferences, Reuters and Senseval.

``PPIXML`` reads the unified XML format of the protein-protein interaction corpora AImed, BioInfer,
HPRD50, IEPA and LLL: sentences with entities, pairs (interaction true or false), tokens and
dependencies; see Pyysalo et al. (2008), BMC Bioinformatics 9(Suppl 3):S6. Reuters is
Reuters-21578, Senseval is Senseval-2.
"""

from __future__ import annotations

import csv
import io
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import numpy as np
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse
from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.features import Matrix, Vector
from textrank.formats.base import (
    BATCH_DOCS,
    FileReader,
    Mention,
    Record,
    build_docs,
    get_mentions,
    get_relations,
    mention_text,
    require_document_id,
    set_mentions,
)
from textrank.io import (
    MAX_ITEM_BYTES,
    MAX_UNPACKED_BYTES,
    ItemFilter,
    check_utf8,
    format_xml_attributes,
    iter_elements,
    iter_lines,
    iter_tar_files,
    iter_zip_files,
    load_json,
    open_atomic,
    parse_items,
    read_bytes,
    read_json,
    replace_long_references,
)
from textrank.language.normalization import store_retokenized, word_doc
from textrank.language.segmentation import set_sentence_starts


@dataclass(frozen=True)
class PPIXML(FileReader):
    """Documents of a PPI corpus: entities, gold pairs and, where given, tokens and dependencies.

    Where the file gives tokens and ``nlp`` has a parser, these tokens are parsed too: the Doc then
    has spaCy's parse as usual and the given one in ``doc.user_data["dependencies"]``; parts of
    speech stay as given. The tokens that ``nlp`` itself makes, with their parse, are stored as well
    (``language.normalization.get_retokenized``). Offsets in the file count characters of the
    sentence from 0 and include the last one.

    Attributes
    ----------
    path
        File to read, plain or gzip.
    analysis
        Tokenization of the file to use, with its parse: ``split`` (hyphenated words split, so that
        "-binding" survives when the name is blinded) or ``Charniak-Lease``. ``spacy``, or a file
        without any analysis, leaves tokens and parse to ``nlp``.
    skip_bad
        Leave out documents with errors and count them in one warning.
    limit
        Largest number of bytes of a document.
    """

    path: str
    analysis: str = "split"
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents in file order, analysed by ``nlp``.

        Docs with the tokens of the file also carry the analysis of ``nlp`` with its own tokens, if
        it parses (``store_retokenized``). ``item_filter`` selects documents by number and takes the
        errors of malformed ones; None reads all. ``on_batch_end`` is never called. Raises
        ValueError if the file cannot be read and, without a filter, if it has no document or
        (unless ``skip_bad``) a malformed one.
        """
        docs = self._documents(nlp, item_filter)
        while batch := list(islice(docs, BATCH_DOCS)):
            retokenized_docs = [
                _retokenize(doc, nlp) for doc in batch if "dependencies" in doc.user_data
            ]
            analysed_docs = list(nlp.pipe(batch))
            _store_second_analysis(
                [doc for doc in analysed_docs if "dependencies" in doc.user_data],
                retokenized_docs,
                nlp,
            )
            yield from analysed_docs

    def _documents(self, nlp: Language, item_filter: ItemFilter | None) -> Iterator[Doc]:
        """Iterate over the Docs as the file gives them, not yet analysed by ``nlp``.

        ``item_filter`` selects documents by number, None gives all. Raises ValueError for a bad one
        unless ``skip_bad``.
        """

        def build(element: Element) -> Doc:
            """Build the Doc of a <document> element."""
            return _DocumentBuilder(self.path, self.analysis, element).build(nlp)

        elements = iter_elements(self.path, "document", self.limit)
        return parse_items(
            elements, build, path=self.path, skip_bad=self.skip_bad, item_filter=item_filter
        )


def _retokenize(doc: Doc, nlp: Language) -> Doc:
    """Return a new Doc of the same text, sentences and mentions with the tokens of ``nlp``.

    Only the tokenizer of ``nlp`` runs. Nothing else is copied, not even other user data. A mention
    inside a new token covers the whole token (``set_mentions``); a sentence that would begin inside
    one begins with the next token.
    """
    retokenized = _set_sentences(
        nlp.make_doc(doc.text), [sentence.start_char for sentence in doc.sents]
    )
    set_mentions(retokenized, get_mentions(doc))
    return retokenized


def _store_second_analysis(docs: Sequence[Doc], again: Sequence[Doc], nlp: Language) -> None:
    """Run ``nlp`` on the retokenized Docs and store the words of each with its Doc, in place.

    ``docs`` and ``again`` are parallel: ``again`` has the same documents with the tokens of ``nlp``
    (``_retokenize``). Does nothing if none of ``docs`` is parsed.
    """
    if not any(doc.has_annotation("DEP") for doc in docs):
        return
    for doc, analysed in zip(docs, nlp.pipe(again), strict=True):
        store_retokenized(doc, word_doc(analysed))


def _set_sentences(doc: Doc, bounds: Sequence[int]) -> Doc:
    """Make sentences begin at the characters ``bounds`` and nowhere else, in place; return the Doc.

    A sentence begins with the first token at or after its character.
    """
    token_offsets = [token.idx for token in doc]
    set_sentence_starts(doc, {bisect_left(token_offsets, begin) for begin in bounds}, final=True)
    return doc


@dataclass
class _DocumentBuilder:
    """Builder of the Doc of one <document> element: text so far, tokens and annotations.

    Sentences are joined by a space. Methods raise ValueError, naming the element, if the file is
    malformed.

    Attributes
    ----------
    words, spaces, tags, starts
        One entry per token, if the file gives tokens; ``spaces`` says whether a space follows,
        ``starts`` marks first tokens of sentences.
    dependencies
        ``[governor, dependent, type]`` with token indices.
    entities
        Entity elements with their character ranges in the document.
    bounds
        First character of each sentence in the document.
    """

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
    bounds: list[int] = field(default_factory=list)

    def build(self, nlp: Language) -> Doc:
        """Return the Doc with spans, gold and, if used, the tokens and dependencies of the file.

        Components of ``nlp`` do not run. ``user_data`` gets the id, ``origin`` (PMID or original
        id, else ""), the ids of ``sentences``, and ``gold``. The method can be called only once.
        """
        sentences = list(self.element.iter("sentence"))
        has_tokens = self.analysis != "spacy" and self._has_analysis(sentences)
        for sentence in sentences:
            self._read_sentence(sentence, has_tokens)
        doc = self._doc_of_file_tokens(nlp) if has_tokens else self._doc_of_nlp_tokens(nlp)
        doc.user_data |= {
            "document": self._attribute(self.element, "id"),
            "origin": self.element.get("PMID") or self.element.get("origId") or "",
            "sentences": [self._attribute(sentence, "id") for sentence in sentences],
            "gold": [self._pair(pair) for s in sentences for pair in s.iter("pair")],
        }
        set_mentions(doc, self._mentions())
        return doc

    def _read_sentence(self, sentence: Element, has_tokens: bool) -> None:
        """Append a sentence: text, bound, entities, and with ``has_tokens`` its tokens.

        A space separates it from the sentence before; ranges of its entities become those of the
        document. Pairs are only checked. Raises ValueError if its text is blank or a pair refers to
        an entity of another sentence.
        """
        text = self._attribute(sentence, "text")
        if not text.strip():
            raise self._error(sentence, "empty text", "Give the sentence in its text attribute.")
        start = len(self.text) + bool(self.text)
        self.text = f"{self.text} {text}" if self.text else text
        self.bounds.append(start)
        for entity in sentence.iter("entity"):
            pieces = self._offsets(entity, len(text))
            self.entities.append((entity, [(start + a, start + b) for a, b in pieces]))
        entity_ids = {entity.get("id") for entity in sentence.iter("entity")}
        for pair in sentence.iter("pair"):
            for side in ("e1", "e2"):
                if self._attribute(pair, side) not in entity_ids:
                    raise self._error(
                        pair,
                        f"{side}={pair.get(side)!r} is not an entity of the sentence",
                        "Correct it.",
                    )
        if has_tokens:
            self._read_analysis(sentence, text)

    def _has_analysis(self, sentences: Sequence[Element]) -> bool:
        """Return whether any sentence has an element <sentenceanalyses>.

        Raises ValueError if one has but some sentence lacks the tokenization ``self.analysis``; the
        message lists those that it has.
        """
        if not any(s.find("sentenceanalyses") is not None for s in sentences):
            return False
        for sentence in sentences:
            tokenizers = [str(t.get("tokenizer")) for t in sentence.iter("tokenization")]
            if self.analysis not in tokenizers:
                raise self._error(
                    sentence,
                    f"no analysis {self.analysis!r}",
                    f"Set analysis to one of: {', '.join([*tokenizers, 'spacy'])}.",
                )
        return True

    def _read_analysis(self, sentence: Element, text: str) -> None:
        """Append the tokens and dependencies that the file gives for a sentence with this text.

        Tokens are sorted by offset; text between them becomes tokens too (see ``_fill``). The
        sentence must have a tokenization ``self.analysis``. Raises ValueError if there are no
        tokens, two overlap, or a dependency refers to an unknown one.
        """
        tokens = next(
            t for t in sentence.iter("tokenization") if t.get("tokenizer") == self.analysis
        )
        if self.words:
            self.spaces[-1] = True
        token_index: dict[str, int] = {}
        end = 0
        first = len(self.words)
        for begin, stop, token in sorted(
            ((*self._offsets(token, len(text))[0], token) for token in tokens), key=itemgetter(0)
        ):
            begin, stop = self._fix_offsets(token, text, begin, stop, end)
            self._fill(text[end:begin])
            token_index[self._attribute(token, "id")] = len(self.words)
            self._add(text[begin:stop], token.get("POS", ""))
            end = stop
        self._fill(text[end:])
        if len(self.words) == first:
            raise self._error(sentence, f"no tokens in analysis {self.analysis!r}", "Tokenise it.")
        self.starts[first] = True
        self._read_dependencies(sentence, token_index)

    def _read_dependencies(self, sentence: Element, token_index: dict[str, int]) -> None:
        """Append the dependencies of the parses whose ``tokenizer`` is ``self.analysis``.

        Each is ``[t1, t2, type]`` with token indices. ``token_index`` maps the token ids of the
        file to token indices; raises ValueError for an unknown id.
        """
        for parse in sentence.iter("parse"):
            if parse.get("tokenizer") != self.analysis:
                continue
            for dependency in parse.iter("dependency"):
                token_ids = [self._attribute(dependency, token_id) for token_id in ("t1", "t2")]
                for token_id in token_ids:
                    if token_id not in token_index:
                        raise self._error(
                            dependency, f"token {token_id!r} does not exist", "Correct the parse."
                        )
                dependency_type = self._attribute(dependency, "type")
                self.dependencies.append(
                    [token_index[token_ids[0]], token_index[token_ids[1]], dependency_type]
                )

    def _fix_offsets(
        self, token: Element, text: str, begin: int, stop: int, end: int
    ) -> tuple[int, int]:
        """Return the character range of a token, moved if its word is found nearby.

        ``begin`` and ``stop`` are the offsets of the file, end exclusive. If ``text`` differs there
        from the word of the token, the first occurrence of the word is taken that begins at or
        after ``end``, the end of the token before, and ends at most 4 characters after ``stop``; if
        there is none, the offsets are kept. Raises ValueError if the token overlaps the one before.
        """
        word = token.get("text", "")
        if word and text[begin:stop] != word:
            position = text.find(word, end, stop + 4)
            begin, stop = (position, position + len(word)) if position >= 0 else (begin, stop)
        if begin < end:
            raise self._error(token, "overlaps the token before", "Correct its charOffset.")
        return begin, stop

    def _fill(self, gap: str) -> None:
        """Add the text between two tokens: one space goes to the token before, the rest is a token.

        The space stays in the new token if there is no token before, or a space follows it already.
        The new token has no tag. An empty ``gap`` adds nothing.
        """
        if gap.startswith(" ") and self.words and not self.spaces[-1]:
            self.spaces[-1] = True
            gap = gap[1:]
        if gap:
            self._add(gap, "")

    def _add(self, word: str, tag: str) -> None:
        """Append a token that no space follows and that does not begin a sentence."""
        self.words.append(word)
        self.spaces.append(False)
        self.tags.append(tag)
        self.starts.append(False)

    def _doc_of_file_tokens(self, nlp: Language) -> Doc:
        """Return the Doc with the tokens, tags and sentences of the file.

        Its dependencies go to ``doc.user_data["dependencies"]``, not to the parse of the Doc.
        """
        doc = Doc(
            nlp.vocab,
            words=self.words,
            spaces=self.spaces,
            tags=self.tags,
            sent_starts=[bool(s) for s in self.starts],
        )
        doc.user_data["dependencies"] = self.dependencies
        return doc

    def _doc_of_nlp_tokens(self, nlp: Language) -> Doc:
        """Return the Doc with the tokens of ``nlp`` and the sentences of the file."""
        return _set_sentences(nlp.make_doc(self.text), self.bounds)

    def _mentions(self) -> list[Mention]:
        """Return the entities as mentions, in file order; the default type is "protein".

        Raises ValueError for an entity without an id; ids are not checked to be unique.
        """
        return [
            Mention(self._attribute(e, "id"), e.get("type") or "protein", tuple(ranges))
            for e, ranges in self.entities
        ]

    def _pair(self, pair: Element) -> dict[str, Any]:
        """Return the gold row of a pair element, ``{"entities": [id, id], "label": bool}``.

        Raises ValueError unless its interaction is true or false, in any case.
        """
        answer = pair.get("interaction", "")
        if answer.lower() not in ("true", "false"):
            raise self._error(pair, f"interaction={answer!r}", "Write True or False.")
        entity_ids = [self._attribute(pair, "e1"), self._attribute(pair, "e2")]
        return {"entities": entity_ids, "label": answer.lower() == "true"}

    def _offsets(self, element: Element, length: int) -> list[tuple[int, int]]:
        """Return ``charOffset`` as ranges of the sentence in file order, ends exclusive.

        Raises ValueError if it is malformed or a range is empty or ends beyond ``length``, the
        number of characters of the sentence.
        """
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
        """Return an attribute; raise ValueError if the element lacks it."""
        value = element.get(name)
        if value is None:
            raise self._error(element, f"no attribute {name!r}", "Add it.")
        return value

    def _error(self, element: Element, what: str, remedy: str) -> ValueError:
        """Return (not raise) a ValueError that names file, element and document.

        ``what`` says what is wrong, without a full stop; ``remedy`` is a sentence.
        """
        document = self.element.get("id", "?")
        location = f"<{element.tag} id={element.get('id', '?')!r}> of document {document!r}"
        return ValueError(f"{Path(self.path)}, {location}: {what}. {remedy}")


def write_ppi_xml(
    docs: Iterable[Doc],
    path: str,
    *,
    name: str = "textrank",
    analysis: str = "split",
    source: str = "gold",
) -> None:
    """Write a corpus that ``PPIXML`` reads: sentences, entities, pairs, tokens and dependencies.

    Parameters
    ----------
    docs
        Documents with sentences. Dependencies are those in ``user_data``, else spaCy's parse; a Doc
        without either gets tokens only.
    path
        Target file, replaced atomically.
    name
        Attribute ``source`` of the corpus.
    analysis
        Name of the tokenization that is written.
    source
        Relations to write: "gold", or the name of a task whose results the Docs have.

    Raises
    ------
    ValueError
        If a name or a pair crosses a sentence boundary, which the format cannot express, a Doc has
        no id, or a text has a character that XML cannot represent.
    """
    with open_atomic(path) as out:
        out.write(f"<corpus{format_xml_attributes(source=name)}>\n")
        for doc in docs:
            out.writelines(
                line + "\n" for line in _DocumentWriter(doc, analysis, source).document()
            )
        out.write("</corpus>\n")


@dataclass(frozen=True)
class _DocumentWriter:
    """Writer of one document.

    ``analysis`` is the name of the tokenization, ``source`` selects the relations as in
    ``get_relations``. Lines have no line ends.
    """

    doc: Doc
    analysis: str
    source: str

    def document(self) -> Iterator[str]:
        """Iterate over the lines of the <document> element, in the order of sentences.

        Raises ValueError before the first sentence if the Doc has no id, or a name or pair crosses
        sentences.
        """
        name = require_document_id(self.doc)
        origin = str(self.doc.user_data.get("origin") or name)
        yield f"  <document{format_xml_attributes(id=name, origId=origin)}>"
        mentions_by_sentence = self._mentions_by_sentence()
        for index, sentence in enumerate(self.doc.sents):
            yield from self._sentence(sentence, index, mentions_by_sentence[index])
        yield "  </document>"

    def _mentions_by_sentence(self) -> dict[int, list[Mention]]:
        """Return the mentions by sentence index; a sentence without mentions has [].

        The first piece of a mention must begin and its last one end in the same sentence; mentions
        of a sentence are in the order of ``get_mentions``. Raises ValueError if a mention or a pair
        crosses sentences.
        """
        sentences = list(self.doc.sents)
        mentions: dict[int, list[Mention]] = {i: [] for i in range(len(sentences))}
        for mention in get_mentions(self.doc):
            first, last = mention.pieces[0][0], mention.pieces[-1][1]
            containing = (i for i, s in enumerate(sentences) if _contains(s, first, last))
            sentence_index = next(containing, None)
            if sentence_index is None:
                raise ValueError(
                    f"name {mention.id!r} of document {require_document_id(self.doc)!r} crosses a "
                    "sentence boundary, which this format cannot hold. Fix the sentences or "
                    "write BioC."
                )
            mentions[sentence_index].append(mention)
        self._check_pairs(mentions)
        return mentions

    def _check_pairs(self, mentions_by_sentence: dict[int, list[Mention]]) -> None:
        """Raise ValueError if a pair is not within one sentence.

        ``mentions_by_sentence`` is keyed by sentence index; a pair with an unknown mention is
        refused too.
        """
        sentence_of = {
            mention.id: index
            for index, mentions in mentions_by_sentence.items()
            for mention in mentions
        }
        for row in get_relations(self.doc, self.source):
            first, second = row["entities"]
            if sentence_of.get(first) is None or sentence_of.get(first) != sentence_of.get(second):
                raise ValueError(
                    f"pair {first!r}, {second!r} of document {require_document_id(self.doc)!r} is "
                    "not within one sentence, which this format cannot hold. Write BioC or JSON "
                    "lines."
                )

    def _sentence(self, sentence: Span, index: int, mentions: list[Mention]) -> Iterator[str]:
        """Iterate over the lines of a <sentence> element: entities, pairs, analyses.

        ``index`` is the number of the sentence, from 0, and ``mentions`` are those inside it. Its
        id is that in ``user_data["sentences"]``, else ``<document>.s<index>``. Pairs are the
        relations of ``source`` whose entities are all in ``mentions``; one without a label is
        written as False.
        """
        names = self.doc.user_data.get("sentences", [])
        default_name = f"{require_document_id(self.doc)}.s{index}"
        name = str(names[index]) if index < len(names) else default_name
        head = format_xml_attributes(id=name, seqId=f"s{index}", text=sentence.text)
        yield f"    <sentence{head}>"
        for mention in mentions:
            yield f"      <entity{self._entity(mention, sentence.start_char)} />"
        mention_ids = {mention.id for mention in mentions}
        rows = [
            r for r in get_relations(self.doc, self.source) if mention_ids.issuperset(r["entities"])
        ]
        for number, row in enumerate(rows):
            entity_ids = dict(zip(("e1", "e2"), row["entities"], strict=True))
            answer = str(bool(row.get("label")))
            pair = format_xml_attributes(**entity_ids, id=f"{name}.p{number}", interaction=answer)
            yield f"      <pair{pair} />"
        yield from self._analyses(sentence)
        yield "    </sentence>"

    def _entity(self, mention: Mention, start: int) -> str:
        """Return the attributes of an <entity> as text.

        The sentence begins at character ``start`` of the Doc; offsets in the attributes count from
        there and include the last character.
        """
        ranges = ",".join(f"{a - start}-{b - start - 1}" for a, b in mention.pieces)
        text = mention_text(self.doc, mention)
        return format_xml_attributes(
            charOffset=ranges, id=mention.id, text=text, type=mention.label
        )

    def _analyses(self, sentence: Span) -> Iterator[str]:
        """Iterate over the lines of <sentenceanalyses>: dependencies and tokens.

        There is one parse, ``<analysis>_parse``, and one tokenization, ``<analysis>``. Token ids
        are st_1, st_2, … and dependency ids split_1, split_2, …; offsets count characters of the
        sentence and include the last one. Tokens of white space, and dependencies to or from them,
        are left out.
        """
        tokens = [token for token in sentence if not token.is_space]
        ids = {token.i: f"st_{number}" for number, token in enumerate(tokens, 1)}
        yield "      <sentenceanalyses>"
        yield "        <parses>"
        parse = format_xml_attributes(parser=f"{self.analysis}_parse", tokenizer=self.analysis)
        yield f"          <parse{parse}>"
        for number, (governor, dependent, dependency_type) in enumerate(
            self._arcs(sentence, ids), 1
        ):
            attributes = format_xml_attributes(
                id=f"split_{number}", t1=ids[governor], t2=ids[dependent], type=dependency_type
            )
            yield f"            <dependency{attributes} />"
        yield "          </parse>"
        yield "        </parses>"
        yield "        <tokenizations>"
        yield f"          <tokenization{format_xml_attributes(tokenizer=self.analysis)}>"
        for token in tokens:
            first = token.idx - sentence.start_char
            offsets = f"{first}-{first + len(token) - 1}"
            row = format_xml_attributes(
                POS=token.tag_, charOffset=offsets, id=ids[token.i], text=token.text
            )
            yield f"            <token{row} />"
        yield "          </tokenization>"
        yield "        </tokenizations>"
        yield "      </sentenceanalyses>"

    def _arcs(self, sentence: Span, ids: dict[int, str]) -> Iterator[tuple[int, int, str]]:
        """Iterate over ``(governor, dependent, type)`` of a sentence, as token indices of the Doc.

        They are those in ``user_data["dependencies"]``, else spaCy's parse, else none; the root has
        no arc. Only arcs between tokens in ``ids`` are given, which maps token indices to the ids
        to write.
        """
        file_dependencies = self.doc.user_data.get("dependencies")
        if file_dependencies is not None:
            yield from (
                (g, d, dependency_type)
                for g, d, dependency_type in file_dependencies
                if g in ids and d in ids
            )
        elif self.doc.has_annotation("DEP"):
            for token in sentence:
                if token.head.i != token.i and token.i in ids and token.head.i in ids:
                    yield token.head.i, token.i, token.dep_


def _contains(sentence: Span, first: int, last: int) -> bool:
    """Return whether the characters from ``first`` up to ``last`` (exclusive) are in a sentence."""
    return sentence.start_char <= first and last <= sentence.end_char


ARCHIVE_SUFFIXES = (".tar", ".tar.gz", ".tgz")


# LETOR --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgedDocument:
    """Document that was judged for a query: relevance, and features by number ("1", "2", …).

    ``id`` is "" if the file gives none.
    """

    query: str
    relevance: float
    features: Mapping[str, float]
    id: str = ""


@dataclass(frozen=True)
class Letor(FileReader):
    """Queries of a LETOR file: ``relevance qid:N 1:0.5 2:0.25 … # docid = …`` per line.

    Each query is one Doc, whose ``user_data["judged"]`` lists its documents as ``{"id",
    "relevance", "features"}``. The lines of a query must be adjacent.

    Attributes
    ----------
    path
        A file, or a tar archive of files.
    member
        Ending of the file names to read from an archive.
    skip_bad
        Leave out queries that ``nlp`` cannot analyse, with a warning. A malformed line is always an
        error.
    limit
        Largest number of bytes of a line; in an archive, of a file, but at least
        ``MAX_UNPACKED_BYTES``.
    """

    path: str
    member: str = ".txt"
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the queries in file order, one Doc each, analysed by ``nlp``.

        The text of a Doc is ``query <id>``. ``item_filter`` selects queries by number, None gives
        all. A malformed line raises ValueError, also with ``skip_bad``. ``on_batch_end`` is as in
        ``FileReader.read``.
        """
        queries = groupby(self.iter_judged(), key=lambda j: j.query)
        rows = ((query, [_judged_to_dict(j) for j in judged]) for query, judged in queries)
        return build_docs(
            rows,
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=self.skip_bad,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def iter_judged(self) -> Iterator[JudgedDocument]:
        """Iterate over the judged documents in file order; raise ValueError if there are none.

        Lines without content before ``#`` are skipped. Raises ValueError for a malformed line.
        """
        is_empty = True
        for location, numbered in self._files():
            for number, line in numbered:
                if line.partition("#")[0].strip():
                    is_empty = False
                    yield _parse_judged(line, f"{location}, line {number}")
        if is_empty:
            raise ValueError(f"{self.path}: no judged document in it. Name a LETOR file.")

    def _files(self) -> Iterator[tuple[str, Iterable[tuple[int, str]]]]:
        """Iterate over the name and the numbered lines of each file.

        Files of a tar archive are sorted by name; any other path is the only file. Lines are
        numbered from 1. Bytes that are not UTF-8 become surrogates, which parsing refuses.
        """
        if not self.path.endswith(ARCHIVE_SUFFIXES):
            yield self.path, iter_lines(self.path, self.limit)
            return
        for name, data in iter_tar_files(
            self.path, self.member, max(self.limit, MAX_UNPACKED_BYTES)
        ):
            text = data.decode("utf-8", errors="surrogateescape")
            yield f"{self.path}/{name}", enumerate(text.splitlines(), 1)

    def _record(self, row: tuple[str, list[dict[str, Any]]]) -> Record:
        """Make a Record of ``(query, judged documents)``, with the query as id."""
        query, documents = row
        return Record(query, f"query {query}", self.path, data={"judged": documents})


def read_letor_arrays(path: str | Path, member: str = ".txt") -> tuple[Matrix, Vector, list[str]]:
    """Return features, relevance and queries of a LETOR file, one row per document in file order.

    Parameters
    ----------
    path
        A file, plain or gzip, or a tar archive of files, which are read in the order of names.
    member
        Ending of the file names to read from an archive.

    Returns
    -------
    X : array of shape (documents, features)
        Feature ``k`` of the file (from 1) is column ``k - 1``; missing ones are 0.
    relevance : array of shape (documents,)
        Judgement of each document for its query; higher is better.
    queries : list of str
        Query of each document.

    Raises
    ------
    ValueError
        If the file cannot be read, has no document or a malformed line.
    """
    documents = list(Letor(str(path), member).iter_judged())
    width = max((int(k) for j in documents for k in j.features), default=0)
    X = np.zeros((len(documents), width))
    for row, document in enumerate(documents):
        for number, value in document.features.items():
            X[row, int(number) - 1] = value
    return X, np.array([j.relevance for j in documents]), [j.query for j in documents]


def _parse_judged(line: str, location: str) -> JudgedDocument:
    """Parse a line; raise ValueError, beginning with ``location``, if it is malformed.

    The line must not be blank before ``#``; the id is that of a comment ``docid = ID``, else "".
    Numbers must be finite, and features numbered from 1, as SVM-rank and RankLib demand. Of a
    feature given twice, the last value counts.
    """
    fields, _, comment = check_utf8(line, location).partition("#")
    relevance, *pairs = fields.split()
    try:
        pairs_of_line = [(key, value) for key, _, value in (pair.partition(":") for pair in pairs)]
        if not pairs_of_line or pairs_of_line[0][0] != "qid" or not pairs_of_line[0][1]:
            raise ValueError("no qid")
        features = {str(int(key)): _parse_finite(value) for key, value in pairs_of_line[1:]}
        if any(int(key) < 1 for key in features):
            raise ValueError("feature 0 or negative")
        return JudgedDocument(
            pairs_of_line[0][1], _parse_finite(relevance), features, _parse_docid(comment)
        )
    except ValueError:
        raise ValueError(
            f"{location}: {fields.strip()!r:.60} is not a judged document. Write relevance qid:N "
            "1:0.5 2:0.25 ..., finite numbers and features from 1."
        ) from None


def _parse_finite(text: Any) -> float:
    """Return a number; raise ValueError if the text is not one, or it is infinite or NaN."""
    value = float(text)
    if not np.isfinite(value):
        raise ValueError(text)
    return value


def _parse_docid(comment: str) -> str:
    """Return the id in a comment ``docid = GX001``; "" if the comment is another."""
    name, sign, value = comment.partition("=")
    return value.split()[0] if sign and name.strip() == "docid" and value.split() else ""


def _judged_to_dict(judged: JudgedDocument) -> dict[str, Any]:
    """Return the entry of ``user_data["judged"]`` for a document.

    ``id`` is left out if it is "".
    """
    row = {"relevance": judged.relevance, "features": dict(judged.features)}
    return {"id": judged.id, **row} if judged.id else row


# Preferences --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PreferenceTable(FileReader):
    """Items with preferences between them, one Doc per item.

    A CSV or TSV file has the columns ``better`` and ``worse``, and optionally ``magnitude`` (1 if
    missing) and ``query``. Their cells are the ids of items in the file ``NAME.items.csv`` beside
    it, with a column ``id`` and either ``text`` or numbers as features; without that file the cells
    are the texts themselves. JSON lines have one preference per line with the same keys, whose
    items are texts or ``{"id", "text"}`` or ``{"id", "features"}``. A JSON file is ``{"items":
    [...], "preferences": [{"better": id, "worse": id, "magnitude": 2}]}``.

    ``doc.user_data["item"]`` has the features of an item. ``doc.user_data["comparisons"]`` lists
    its comparisons as pairs of a key, which both items share, and the magnitude, negative for the
    item that was not preferred. Items of a query share an origin, so that they are held out
    together.

    Attributes
    ----------
    path
        File to read, plain or gzip.
    items
        Table of the items of a table or of JSON lines; empty for ``NAME.items.csv`` beside a table,
        if it exists. Ignored for a JSON file.
    limit
        Largest number of bytes of a line, or of a JSON file.
    """

    path: str
    items: str = ""
    limit: int = MAX_ITEM_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the items in order of appearance, one Doc each, analysed by ``nlp``.

        The text of an item without text is its id. ``item_filter`` selects items by number, None
        reads all. ``on_batch_end`` is as in ``FileReader.read``. Raises ValueError for a malformed
        preference, an item that is not listed, or an item that is compared with itself.
        """
        return build_docs(
            self._collect().values(),
            lambda item: item.record(self.path),
            nlp,
            path=self.path,
            cut=False,
            skip_bad=False,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _collect(self) -> dict[str, _Item]:
        """Return all items by id in order of appearance, with their comparisons.

        If items are listed, preferences may only name these, and only their listed form counts. The
        query of an item is its own, else that of its first preference with one. The key of a
        comparison is ``<path>#<number>``, counted from 0, the same for both its items. Raises
        ValueError for a malformed preference or item, an item that is not listed, is listed twice
        or is compared with itself, or if there is none.
        """
        items: dict[str, _Item] = {}
        is_closed = False  # whether preferences may only name listed items
        for row in self._listed_items():
            item = _parse_item(row.value, row.location)
            is_closed = True
            if item.id in items:
                raise ValueError(f"{row.location}: item {item.id!r} is listed twice")
            items[item.id] = item
        for number, row in enumerate(self._preferences()):
            value = row.value
            if not isinstance(value, Mapping) or not {"better", "worse"} <= set(value):
                raise ValueError(
                    f"{row.location}: a preference needs better and worse, got {value!r:.60}"
                )
            magnitude = _parse_magnitude(value.get("magnitude"), row.location)
            sides = []
            for side, sign in (("better", 1.0), ("worse", -1.0)):
                item = _parse_item(value[side], row.location)
                if is_closed and item.id not in items:
                    raise ValueError(
                        f"{row.location}: item {item.id!r} is not among the {len(items)} items. "
                        "Add it to the items, or correct its id."
                    )
                item = items.setdefault(item.id, item)
                item.comparisons.append((f"{self.path}#{number}", sign * magnitude))
                item.query = item.query or str(value.get("query") or "")
                sides.append(item.id)
            if sides[0] == sides[1]:
                raise ValueError(f"{row.location}: {sides[0]!r:.60} is compared with itself")
        if not items:
            raise ValueError(f"{self.path}: no preferences in it. Write better and worse.")
        return items

    def _listed_items(self) -> Iterator[_Located]:
        """Iterate over the items of the JSON file, or of the table of items, as mappings.

        The setting ``items`` names that table and is ignored for a JSON file. Without it there are
        none if the preferences are JSON lines, or a table without a table of items beside it.
        Columns of that table other than ``id``, ``text`` and ``query`` are features, which are used
        only without a column ``text``.
        """
        if self._is_json:
            yield from self._json_list("items")
            return
        beside = Path(self.items or _items_path(self.path))
        if self.items or (_is_table(self.path) and beside.is_file()):
            for number, cells in _iter_cells(str(beside), self.limit, ("id",)):
                location = f"{beside}, line {number}"
                text = cells.get("text")
                features = {k: v for k, v in cells.items() if k not in ("id", "text", "query")}
                value: dict[str, Any] = {"id": cells["id"], "query": cells.get("query")}
                yield _Located(
                    value | ({"features": features} if text is None else {"text": text}), location
                )

    def _preferences(self) -> Iterator[_Located]:
        """Iterate over the preferences in file order, not yet checked.

        They come from the list ``preferences`` of a JSON file, the rows of a table, or the lines of
        JSON lines. Raises ValueError if the file or a line cannot be parsed.
        """
        if self._is_json:
            yield from self._json_list("preferences")
        elif _is_table(self.path):
            for number, cells in _iter_cells(self.path, self.limit, ("better", "worse")):
                yield _Located(cells, f"{self.path}, line {number}")
        else:
            for number, line in iter_lines(self.path, self.limit):
                location = f"{self.path}, line {number}"
                if line.strip():
                    yield _Located(load_json(check_utf8(line, location), location), location)

    def _json_list(self, key: str) -> Iterator[_Located]:
        """Iterate over the list under ``key`` of the JSON file; a missing key gives nothing.

        The whole file is read. Raises ValueError unless it is an object and the value a list.
        """
        value = read_json(self.path, max(self.limit, MAX_UNPACKED_BYTES))
        rows = value.get(key, []) if isinstance(value, Mapping) else None
        if not isinstance(rows, list):
            raise ValueError(
                f'{self.path}: expected {{"items": [...], "preferences": [...]}} with lists'
            )
        for number, row in enumerate(rows):
            yield _Located(row, f"{self.path}, {key}[{number}]")

    @property
    def _is_json(self) -> bool:
        """Whether the file is one JSON object, by its suffix ``.json`` or ``.json.gz``."""
        return Path(self.path.removesuffix(".gz")).suffix.lower() == ".json"


@dataclass(frozen=True)
class _Located:
    """A parsed value and its place for messages."""

    value: Any
    location: str


@dataclass
class _Item:
    """An item of a preference file; comparisons are added while the file is read.

    ``text`` and ``query`` are "" and ``features`` None if not given. ``comparisons`` are pairs of
    the key of a comparison and its magnitude, negative if the other item was preferred.
    """

    id: str
    text: str
    features: Mapping[str, float] | None
    query: str
    comparisons: list[tuple[str, float]]

    def record(self, path: str) -> Record:
        """Return the Record of the item, without mentions ([]); its text is the id if it has none.

        ``path`` is used in messages. The comparisons are shared with the item, not copied.
        """
        data: dict[str, Any] = {"comparisons": self.comparisons}
        if self.features is not None:
            data["item"] = {"features": dict(self.features)}
        if self.query:
            data |= {"origin": f"query {self.query}", "query": self.query}
        return Record(self.id, self.text or self.id, path, mentions=[], data=data)


def _parse_item(value: Any, location: str) -> _Item:
    """Return an item without comparisons from a text, which is also its id, or from a mapping.

    The id of a mapping is its ``id``, else its ``text``; ``features`` and ``query`` are optional.
    Raises ValueError, beginning with ``location``, for anything else and for features that are not
    finite numbers.
    """
    if isinstance(value, str) and value.strip():
        return _Item(value, value, None, "", [])
    name = value.get("id", value.get("text")) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(name, str | int) or name == "":
        raise ValueError(
            f"{location}: {value!r:.60} is not an item. Write a text, or an object with id and "
            "text or features."
        )
    features = value.get("features")
    try:
        numbers = None if features is None else {k: _parse_finite(v) for k, v in features.items()}
    except (AttributeError, TypeError, ValueError):
        raise ValueError(
            f"{location}: features of item {name!r} must be finite numbers by name, got "
            f"{features!r:.60}"
        ) from None
    return _Item(
        str(name), str(value.get("text") or ""), numbers, str(value.get("query") or ""), []
    )


def _parse_magnitude(value: Any, location: str) -> float:
    """Return a magnitude, 1 for None or an empty cell; raise ValueError unless it is positive.

    ``value`` is a number or its text, and must be finite.
    """
    if value is None or value == "":
        return 1.0
    try:
        magnitude = _parse_finite(value)
    except (TypeError, ValueError):
        magnitude = 0.0
    if magnitude <= 0:
        raise ValueError(f"{location}: magnitude {value!r:.40} is not a positive number")
    return magnitude


def _is_table(path: str) -> bool:
    """Return whether a preference file is CSV or TSV by its suffix, in any case; .gz is ignored."""
    return Path(path.removesuffix(".gz")).suffix.lower() in (".csv", ".tsv")


def _items_path(path: str) -> str:
    """Return the file of items beside a table: ``NAME.items.csv`` for ``NAME.csv``.

    The suffix is that of the table, without ``.gz``. The file may not exist.
    """
    name = Path(path.removesuffix(".gz"))
    return str(name.with_name(f"{name.stem}.items{name.suffix}"))


def _iter_cells(
    path: str, limit: int, required: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Iterate over line numbers and cells by column of a CSV or TSV file; blank lines are skipped.

    The separator is a tab if the header has one, else the more frequent of comma and semicolon.
    ``limit`` is the largest number of bytes of a line. Raises ValueError if a ``required`` column
    is missing, a row has another number of cells, or the file is not UTF-8 or not valid CSV.
    """
    lines = iter_lines(path, limit)
    header = check_utf8(next(lines, (1, ""))[1], f"{path}, line 1").removeprefix("\ufeff")
    separator = "\t" if "\t" in header else ";" if header.count(";") > header.count(",") else ","
    names = [name.strip() for name in next(csv.reader([header], delimiter=separator), [])]
    missing = [name for name in required if name not in names]
    if missing:
        raise ValueError(
            f"{path}, line 1: no column {missing[0]!r} among {', '.join(names) or 'none'}"
        )
    reader = csv.reader((check_utf8(line, path) + "\n" for _, line in lines), delimiter=separator)
    try:
        for cells in reader:
            number = reader.line_num + 1
            if len(cells) not in (0, len(names)):
                raise ValueError(
                    f"{path}, line {number}: {len(cells)} cells, but {len(names)} columns. Quote "
                    "cells that hold the separator."
                )
            if cells:
                yield number, dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise ValueError(f"{path}: {error}. Quote cells that hold quotes or lines.") from None


# Reuters-21578 ------------------------------------------------------------------------------------

# Patterns are anchored or bounded, so that none is tried again from every character of a long run.
ARTICLE_START = re.compile(r"<REUTERS\b")
ATTRIBUTE = re.compile(r'\b(\w{1,40})="([^"]*)"')


@dataclass(frozen=True)
class ReutersArticle:
    """Article of Reuters-21578.

    Attributes
    ----------
    number
        Attribute NEWID.
    title, text
        Unescaped contents of TITLE and BODY; "" if missing.
    topics
        Names of the topics assigned, in the order of the file.
    split
        TRAIN, TEST or NOT-USED in the ModApte split.
    judged
        Whether an indexer assigned topics, possibly none.
    """

    number: str
    title: str
    text: str
    topics: tuple[str, ...]
    split: str
    judged: bool


@dataclass(frozen=True)
class Reuters(FileReader):
    """Articles of Reuters-21578: an ``.sgm`` file or a tar archive of them.

    Topics go to ``doc.user_data["meta"]["topics"]``. ``split`` "TRAIN" or "TEST" selects the judged
    articles of that part of the ModApte split, "all" every article. ``limit`` is the largest number
    of bytes of a file.
    """

    path: str
    split: str = "all"
    limit: int = MAX_UNPACKED_BYTES

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown ``split``."""
        if self.split not in ("all", "TRAIN", "TEST"):
            raise ValueError(f"split must be all, TRAIN or TEST, got {self.split!r}")

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents in file order, analysed by ``nlp``.

        ``item_filter`` selects articles by number, None reads all. ``on_batch_end`` is as in
        ``FileReader.read``. Raises ValueError if the file cannot be read or has no article of the
        split.
        """
        wanted = (a for a in iter_reuters_articles(self.path, self.limit) if self._wanted(a))
        return build_docs(
            wanted,
            self._record,
            nlp,
            path=self.path,
            cut=False,
            skip_bad=False,
            item_filter=item_filter,
            on_batch_end=on_batch_end,
        )

    def _wanted(self, article: ReutersArticle) -> bool:
        """Return whether an article is in the selected split.

        All are in "all"; only judged articles are in "TRAIN" and "TEST".
        """
        return self.split == "all" or (article.judged and article.split == self.split)

    def _record(self, article: ReutersArticle) -> Record:
        """Make a Record of an article.

        The text is title and body, or the number if both are empty.
        """
        text = f"{article.title}\n{article.text}".strip() or article.number
        data = {"title": article.title, "meta": {"topics": list(article.topics)}}
        return Record(article.number, text, f"{self.path}, article {article.number}", data=data)


def iter_reuters_articles(
    path: str | Path, limit: float = MAX_UNPACKED_BYTES
) -> Iterator[ReutersArticle]:
    """Iterate over the articles of a file or archive in their order.

    Files of an archive are sorted by name and must end in ``.sgm``. Raises ValueError if there is
    no article or a file is larger than ``limit`` bytes.
    """
    is_empty = True
    files = (
        iter_tar_files(path, ".sgm", limit)
        if str(path).endswith(ARCHIVE_SUFFIXES)
        else [(str(path), read_bytes(path, limit))]
    )
    for _, data in files:
        for head, body in _iter_article_elements(data.decode("latin-1")):
            is_empty = False
            yield _parse_article(head, body)
    if is_empty:
        raise ValueError(f"{path}: no <REUTERS> article in it. Name an .sgm file or a tar of them.")


def _iter_article_elements(text: str) -> Iterator[tuple[str, str]]:
    """Yield attributes and content of each <REUTERS> element, both as unparsed text.

    Text outside of elements is ignored, as is everything after the start of an element without an
    end. Takes time linear in the text.
    """
    position = 0
    while start := ARTICLE_START.search(text, position):
        tag_end = text.find(">", start.end())
        end = text.find("</REUTERS>", tag_end + 1)
        if tag_end < 0 or end < 0:
            return
        yield text[start.end() : tag_end], text[tag_end + 1 : end]
        position = end + len("</REUTERS>")


def _parse_article(head: str, body: str) -> ReutersArticle:
    """Parse the attributes ``head`` and the content ``body`` of a <REUTERS> element.

    The number is NEWID, the split LEWISSPLIT, and an article is judged if TOPICS="YES". Missing
    attributes and elements become "", missing topics ().
    """
    attributes = dict(ATTRIBUTE.findall(head))
    topics = [part.partition("</D>") for part in _find_element("TOPICS", body).split("<D>")[1:]]
    return ReutersArticle(
        attributes.get("NEWID", ""),
        _element_text("TITLE", body),
        _element_text("BODY", body),
        tuple(topic for topic, end, _ in topics if end),
        attributes.get("LEWISSPLIT", ""),
        attributes.get("TOPICS") == "YES",
    )


def _element_text(name: str, body: str) -> str:
    """Return the unescaped text of the first element ``name``, "" if there is none.

    Control characters become spaces, runs of spaces and tabs one space, and the text is stripped;
    newlines stay.
    """
    content = unescape(replace_long_references(_find_element(name, body)))
    text = re.sub(r"[\x00-\x08\x0b-\x1f]", " ", content)
    return re.sub(r"[ \t]+", " ", text).strip()


def _find_element(name: str, body: str) -> str:
    """Return the content of the first element ``<name>`` without attributes, not unescaped.

    "" if there is none or it has no end tag.
    """
    _, start, rest = body.partition(f"<{name}>")
    content, end, _ = rest.partition(f"</{name}>")
    return content if start and end else ""


# Senseval-2 ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Senseval(FileReader):
    """Instances of a Senseval-2 ``.pos`` file, of a folder or of a zip archive of such files.

    Each instance is one Doc with the tokens of the file. Its target word is the only span of
    ``doc.spans["entities"]``, with the sense as label and the lemma as ``kb_id_``. Of several
    senses the first counts. ``limit`` is the largest number of bytes of a file.
    """

    path: str
    limit: int = MAX_UNPACKED_BYTES

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over all instances, not analysed; ``item_filter`` is ignored.

        Of ``nlp`` only the vocabulary is used. ``on_batch_end`` is never called. Raises ValueError
        if there is no instance or one is malformed.
        """
        number = 0
        for name, data in self._files():
            for element, word in _iter_instances(data, name):
                number += 1
                yield _build_doc(element, word, nlp, f"{name}, instance {number}")
        if not number:
            raise ValueError(
                f"{self.path}: no instance of Senseval in it. Name a .pos file, or a folder or zip "
                "archive of such files."
            )

    def _files(self) -> Iterator[tuple[str, bytes]]:
        """Iterate over the name and the bytes of each ``.pos`` file, sorted by name.

        A path that is neither a folder nor a ``.zip`` is the only file, whatever its suffix. Raises
        ValueError if a file cannot be read or has more than ``limit`` bytes.
        """
        path = Path(self.path)
        if path.is_dir():
            for file in sorted(path.glob("*.pos")):
                yield str(file), read_bytes(file, self.limit)
        elif path.suffix == ".zip":
            for name, data in iter_zip_files(path, ".pos", self.limit):
                yield f"{path}/{name}", data
        else:
            yield str(path), read_bytes(path, self.limit)


def _iter_instances(data: bytes, name: str) -> Iterator[tuple[Element, str]]:
    """Iterate over ``(instance element, lemma of its target)`` of a file, in order.

    An element is emptied when the next one is requested. Raises ValueError if the file, called
    ``name`` in the message, is not XML.
    """
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


def _build_doc(element: Element, word: str, nlp: Language, location: str) -> Doc:
    """Build the Doc of one instance; raise ValueError if it has no answer or target.

    ``word`` is the lemma of the target. The id is that of the instance, else ``location``.
    """
    answers, context = element.findall("answer"), element.find("context")
    head = None if context is None else context.find(".//head")
    if context is None or head is None or not answers:
        raise ValueError(f"{location}: an instance needs an answer and a context with a head.")
    words, starts, target = _read_context(context)
    doc = Doc(nlp.vocab, words=words, sent_starts=[i in starts for i in range(len(words))])
    sense, instance_id = answers[0].get("senseid", ""), element.get("id", location)
    span = Span(doc, *target, label=sense, kb_id=word, span_id=instance_id)
    doc.spans["entities"] = [span]
    doc.user_data["document"] = instance_id
    return doc


def _read_context(context: Element) -> tuple[list[str], set[int], tuple[int, int]]:
    """Return the words, the indices of sentence starts, and the token range of the target.

    Words are those of <wf> and <head> elements, split at white space. The range ends exclusively;
    it is ``(0, 0)`` if the target has no words. It begins with the last word of the first target
    element, even if that has several words, and extends to the end of the last one.
    """
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
