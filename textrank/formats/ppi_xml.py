"""Unified XML format of protein-protein interaction corpora (AImed, BioInfer, HPRD50, IEPA, LLL).

Sentences with entities, pairs (interaction true or false), tokens and dependencies; see Pyysalo et
al. (2008), BMC Bioinformatics 9(Suppl 3):S6.
"""

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
from textrank.language.segmentation import set_sentence_starts


@dataclass(frozen=True)
class PPIXML(FileReader):
    """Documents of a PPI corpus: entities, gold pairs and, where given, tokens and dependencies.

    Where the file gives tokens and ``nlp`` has a parser, these tokens are parsed too: the Doc then
    has spaCy's parse as usual and the given one in ``doc.user_data["dependencies"]``; parts of
    speech stay as given. The tokens of ``nlp`` itself with their parse are stored as well
    (``language.alignment.retokenized``). Offsets in the file count characters of the sentence from
    0 and include the last one.

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

    def read(self, nlp: Language, item_filter: ItemFilter | None = None) -> Iterator[Doc]:
        """Iterate over the documents in file order, analysed by ``nlp``.

        Docs with the tokens of the file also carry the analysis of ``nlp`` with its own tokens, if
        it parses (``store_retokenized``). ``item_filter`` selects documents by number and takes the
        errors of malformed ones; None reads all. Raises ValueError if the file cannot be read and,
        without a filter, if it has no document or (unless ``skip_bad``) a malformed one.
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

        ``item_filter`` selects documents, None gives all. Raises ValueError for a bad one unless
        ``skip_bad``.
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

    Components of ``nlp`` do not run.
    """
    retokenized = _set_sentences(
        nlp.make_doc(doc.text), [sentence.start_char for sentence in doc.sents]
    )
    set_mentions(retokenized, get_mentions(doc))
    return retokenized


def _store_second_analysis(docs: Sequence[Doc], again: Sequence[Doc], nlp: Language) -> None:
    """Analyse the retokenized Docs and store each with its Doc; does nothing without a parser.

    ``docs`` and ``again`` (the same documents with the tokens of ``nlp``) are parallel; ``docs``
    are changed in place.
    """
    if not any(doc.has_annotation("DEP") for doc in docs):
        return
    for doc, analysed in zip(docs, nlp.pipe(again), strict=True):
        store_retokenized(doc, word_doc(analysed))


def _set_sentences(doc: Doc, bounds: Sequence[int]) -> Doc:
    """Make sentences begin at the characters ``bounds`` and nowhere else, in place.

    Returns the Doc. A sentence begins with the first token at or after its character.
    """
    token_offsets = [token.idx for token in doc]
    set_sentence_starts(doc, {bisect_left(token_offsets, begin) for begin in bounds}, final=True)
    return doc


@dataclass
class _DocumentBuilder:
    """One <document> element under construction: text so far, tokens, and what refers to them.

    Sentences are joined by a blank. Methods raise ValueError, naming the element, if the file is
    malformed.

    Attributes
    ----------
    words, spaces, tags, starts
        One entry per token, if the file gives tokens; ``spaces`` says whether a blank follows,
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
        id, else ""), the ids of ``sentences``, and ``gold``. Call it once.
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
        """Append a sentence: text, entities, and with ``has_tokens`` its tokens.

        Raises ValueError if its text is blank or a pair refers to an entity of another sentence.
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
        """Return whether any sentence has an analysis.

        Raises ValueError if some sentence then lacks the tokenization ``self.analysis``.
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
        from the word of the token, its first occurrence is taken that begins at or after ``end``,
        the end of the token before, and ends at most 4 characters after ``stop``; without one the
        offsets are kept. Raises ValueError if the token overlaps the one before.
        """
        word = token.get("text", "")
        if word and text[begin:stop] != word:
            position = text.find(word, end, stop + 4)
            begin, stop = (position, position + len(word)) if position >= 0 else (begin, stop)
        if begin < end:
            raise self._error(token, "overlaps the token before", "Correct its charOffset.")
        return begin, stop

    def _fill(self, gap: str) -> None:
        """Add the text between two tokens: one blank goes to the token before, the rest is a token.

        The blank stays in the new token if there is no token before, or a blank follows it already.
        The new token has no tag. An empty ``gap`` adds nothing.
        """
        if gap.startswith(" ") and self.words and not self.spaces[-1]:
            self.spaces[-1] = True
            gap = gap[1:]
        if gap:
            self._add(gap, "")

    def _add(self, word: str, tag: str) -> None:
        """Append a token without following blank, not marked as a sentence start."""
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

        Raises ValueError if it is malformed or beyond ``length``, the characters of the sentence.
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
        Relations to write: "gold", or the name of a task whose results the Docs carry.

    Raises
    ------
    ValueError
        If a name or a pair crosses a sentence boundary, which the format cannot express, a Doc has
        no id, or a text has a character that XML cannot hold.
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
        """Return the mentions by sentence index; every sentence has an entry, perhaps [].

        Raises ValueError if a mention or a pair crosses sentences.
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

        The sentence begins at character ``start``; offsets written count from there and include the
        last character.
        """
        ranges = ",".join(f"{a - start}-{b - start - 1}" for a, b in mention.pieces)
        text = mention_text(self.doc, mention)
        return format_xml_attributes(
            charOffset=ranges, id=mention.id, text=text, type=mention.label
        )

    def _analyses(self, sentence: Span) -> Iterator[str]:
        """Iterate over the lines of <sentenceanalyses>: dependencies and tokens.

        Tokens of white space are left out, and dependencies that involve them.
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

        Only arcs between tokens in ``ids`` (ids to write by token index) are given. They are those
        in ``user_data["dependencies"]``, else spaCy's parse, else none; the root has no arc.
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
