"""Docs in the learning format of protein-protein interaction corpora."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spacy.tokens import Doc, Span

from textrank.readers.records import Mention, document_of, mentions_of, relations_of, words_of
from textrank.readers.streams import attributes, writing


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
    with writing(path) as out:
        out.write(f"<corpus{attributes(source=name)}>\n")
        for doc in docs:
            out.writelines(line + "\n" for line in _Writer(doc, analysis, source).document())
        out.write("</corpus>\n")


@dataclass(frozen=True)
class _Writer:
    doc: Doc
    analysis: str
    source: str

    def document(self) -> Iterator[str]:
        name = document_of(self.doc)
        origin = str(self.doc.user_data.get("origin") or name)
        yield f"  <document{attributes(id=name, origId=origin)}>"
        homes = self._homes()
        for index, sentence in enumerate(self.doc.sents):
            yield from self._sentence(sentence, index, homes[index])
        yield "  </document>"

    def _homes(self) -> dict[int, list[Mention]]:
        """The names of each sentence by its number."""
        sentences = list(self.doc.sents)
        homes: dict[int, list[Mention]] = {i: [] for i in range(len(sentences))}
        for mention in mentions_of(self.doc):
            first, last = mention.pieces[0][0], mention.pieces[-1][1]
            inside = (i for i, s in enumerate(sentences) if _holds(s, first, last))
            home = next(inside, None)
            if home is None:
                raise ValueError(
                    f"name {mention.id!r} of document {document_of(self.doc)!r} crosses a sentence "
                    "boundary, which this format cannot state. Mend the sentences or write BioC."
                )
            homes[home].append(mention)
        self._check_pairs(homes)
        return homes

    def _check_pairs(self, homes: dict[int, list[Mention]]) -> None:
        where = {mention.id: index for index, found in homes.items() for mention in found}
        for row in relations_of(self.doc, self.source):
            first, second = row["entities"]
            if where.get(first) is None or where.get(first) != where.get(second):
                raise ValueError(
                    f"pair {first!r}, {second!r} of document {document_of(self.doc)!r} is not "
                    "within one sentence, which this format cannot state. Write BioC or JSON lines."
                )

    def _sentence(self, sentence: Span, index: int, mentions: list[Mention]) -> Iterator[str]:
        names = self.doc.user_data.get("sentences", [])
        own = f"{document_of(self.doc)}.s{index}"
        name = str(names[index]) if index < len(names) else own
        head = attributes(id=name, seqId=f"s{index}", text=sentence.text)
        yield f"    <sentence{head}>"
        for mention in mentions:
            yield f"      <entity{self._entity(mention, sentence.start_char)} />"
        here = {mention.id for mention in mentions}
        rows = [r for r in relations_of(self.doc, self.source) if here.issuperset(r["entities"])]
        for number, row in enumerate(rows):
            ends = dict(zip(("e1", "e2"), row["entities"], strict=True))
            answer = str(bool(row.get("label")))
            pair = attributes(**ends, id=f"{name}.p{number}", interaction=answer)
            yield f"      <pair{pair} />"
        yield from self._analyses(sentence)
        yield "    </sentence>"

    def _entity(self, mention: Mention, start: int) -> str:
        places = ",".join(f"{a - start}-{b - start - 1}" for a, b in mention.pieces)
        text = words_of(self.doc, mention)
        return attributes(charOffset=places, id=mention.id, text=text, type=mention.label)

    def _analyses(self, sentence: Span) -> Iterator[str]:
        tokens = [token for token in sentence if not token.is_space]
        ids = {token.i: f"st_{number}" for number, token in enumerate(tokens, 1)}
        yield "      <sentenceanalyses>"
        yield "        <parses>"
        parse = attributes(parser=f"{self.analysis}_parse", tokenizer=self.analysis)
        yield f"          <parse{parse}>"
        for number, (governor, dependent, kind) in enumerate(self._arcs(sentence, ids), 1):
            ends = attributes(id=f"split_{number}", t1=ids[governor], t2=ids[dependent], type=kind)
            yield f"            <dependency{ends} />"
        yield "          </parse>"
        yield "        </parses>"
        yield "        <tokenizations>"
        yield f"          <tokenization{attributes(tokenizer=self.analysis)}>"
        for token in tokens:
            first = token.idx - sentence.start_char
            place = f"{first}-{first + len(token) - 1}"
            row = attributes(POS=token.tag_, charOffset=place, id=ids[token.i], text=token.text)
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
