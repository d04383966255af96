"""Several corpora read as one."""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import numpy as np
from spacy.attrs import IDX, IS_SPACE
from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.candidates import tokens_of
from textrank.io import MAX_ITEM_BYTES, is_selecting, parse_items
from textrank.language.long_docs import MAX_CHUNK_CHARACTERS, mark_batch_done, pipe_long, tokenize
from textrank.language.sentences import SentenceSplitter, set_sentence_starts


@dataclass(frozen=True)
class ConcatCorpus:
    """The documents of several corpora, one corpus after the other, to train one model on all.

    A document keeps its id, with the name of its corpus before it, so that ids of different
    corpora cannot meet. Texts that two corpora share are held out together as always.
    """

    corpora: Mapping[str, Any]  # readers; the config layer looks at blocks before they are built

    def __post_init__(self) -> None:
        object.__setattr__(self, "corpora", dict(self.corpora))
        if not self.corpora:
            raise ValueError("corpora must name at least one corpus, got none")

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        for name, read in self.corpora.items():
            for doc in read(nlp):
                doc.user_data["document"] = f"{name}/{doc.user_data.get('document', '')}"
                yield doc


@dataclass(frozen=True)
class ReadOptions:
    """What a user asks of all readers: more memory for trusted files, or to skip what is bad."""

    limit: int | None = None  # bytes held at once; None for what a reader takes by itself
    skip_bad: bool = False

    @property
    def bytes(self) -> int:
        """How much may be held at once."""
        return MAX_ITEM_BYTES if self.limit is None else self.limit

    def applied(self, reader: Any) -> Any:
        """The reader with these settings, as far as it has them."""
        if isinstance(reader, ConcatCorpus):
            return ConcatCorpus({name: self.applied(part) for name, part in reader.corpora.items()})
        if not is_dataclass(reader) or isinstance(reader, type):
            return reader  # a plugin's, with settings of its own
        wanted: dict[str, Any] = {"limit": self.limit, "skip_bad": self.skip_bad or None}
        known = {f.name for f in fields(reader)}
        return replace(reader, **{k: v for k, v in wanted.items() if v is not None and k in known})


DEFAULT = ReadOptions()
READING: ContextVar[ReadOptions] = ContextVar("reading", default=DEFAULT)
BATCH_DOCS = 64  # documents that are analysed at once
S = TypeVar("S")


@dataclass(frozen=True)
class AnnotatedFile:
    """Settings of a reader of texts with names, which some documents may lack.

    The names of a document without any are left to a recogniser in ``nlp``, unless ``annotated``
    says that it has none. ``cut`` cuts a token that a name covers in part. With ``skip_bad`` a
    document with an error is left out and counted in one warning. ``limit`` is how many bytes may
    be held at once.
    """

    path: str
    annotated: bool = False
    cut: bool = True
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES


@dataclass(frozen=True)
class Mention:
    """A name in a text, in one piece or several; ends are exclusive."""

    id: str
    label: str
    pieces: tuple[tuple[int, int], ...]  # character ranges, in text order
    identifiers: tuple[str, ...] = ()  # CURIEs


@dataclass(frozen=True)
class Record:
    """An annotated text on its way to a Doc.

    ``breaks`` are characters where a sentence surely begins; with ``sentences`` they are all.
    ``gold`` holds relations, ``{"entities": [id, id], "label": bool, "type": str}``; pairs that are
    not listed do not interact. Either of ``mentions`` and ``gold`` is None where the file says
    nothing about them: names are then left to a recogniser in ``nlp``. ``data`` is
    whatever else the Doc shall carry in its ``user_data``.
    """

    document: str
    text: str
    place: str  # file and line or element, for errors
    mentions: Sequence[Mention] | None = None
    gold: Sequence[Mapping[str, Any]] | None = None
    breaks: Sequence[int] = ()
    sentences: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_letters("the text", self.text)
        self._check_letters("its id", self.document)
        for mention in self.mentions or ():
            for words in (mention.id, mention.label, *mention.identifiers):
                self._check_letters("what a mention is called", words)
        self._check_mentions()
        self._check_gold()

    def _check_letters(self, what: str, words: str) -> None:
        try:
            words.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{self.place}: half of a surrogate pair at character {error.start} of {what}. "
                "Write the character whole."
            ) from None

    def _check_mentions(self) -> None:
        ids: set[str] = set()
        for mention in self.mentions or ():
            if mention.id in ids:
                raise ValueError(
                    f"{self.place}: two mentions have the id {mention.id!r}. Number them."
                )
            ids.add(mention.id)
            for start, end in mention.pieces:
                if not 0 <= start < end <= len(self.text):
                    raise ValueError(
                        f"{self.place}: mention {mention.id!r} at {start}-{end} lies outside the "
                        f"text of {len(self.text)} characters or is empty. Correct its offsets."
                    )
            if not any(self.text[start:end].strip() for start, end in mention.pieces):
                raise ValueError(f"{self.place}: mention {mention.id!r} is blank. Remove it.")

    def _check_gold(self) -> None:
        known = {mention.id for mention in self.mentions or ()}
        for relation in self.gold or ():
            for end in relation["entities"]:
                if end not in known:
                    raise ValueError(
                        f"{self.place}: a relation names {end!r}, which is no mention of the "
                        "document. Correct the relation or add the mention."
                    )


def check_mention_text(place: str, text: str, mention: Mention, words: str) -> None:
    """Raise where the words a file gives for a mention are not those at its offsets."""
    found = " ".join(text[start:end] for start, end in mention.pieces)
    if found.split() != words.split():
        raise ValueError(
            f"{place}: mention {mention.id!r} should read {words!r}, but the text at "
            f"{_places(mention)} reads {found!r}. Offsets count characters, not bytes; the text "
            "may have changed since it was annotated."
        )


def build_docs(
    items: Iterable[S],
    parse: Callable[[S], Record],
    nlp: Language,
    *,
    path: str,
    cut: bool,
    skip_bad: bool,
) -> Iterator[Doc]:
    """The items of a file as Docs with spans and gold, analysed by ``nlp``.

    ``cut`` and ``skip_bad`` are as in the readers. Sentences end by punctuation where ``nlp`` sets
    none.
    """
    sentences = SentenceSplitter(final=True)

    def made(item: S) -> tuple[Record, Doc]:
        record = parse(item)
        return record, _doc(record, nlp, cut)

    for batch in _batches(parse_items(items, made, path=path, skip_bad=skip_bad)):
        found = _analysed(batch, nlp, cut, skip_bad)
        for number, doc in enumerate(found, 1):
            if number == len(found):
                mark_batch_done()
            whole = doc.has_annotation("SENT_START", require_complete=True)
            yield doc if whole or is_selecting() else sentences(doc)


def _batches(made: Iterable[tuple[Record, Doc]]) -> Iterator[list[tuple[Record, Doc]]]:
    """Documents that are analysed at once: some, and of long ones fewer."""
    batch: list[tuple[Record, Doc]] = []
    size = 0
    for record, doc in made:
        batch.append((record, doc))
        size += len(record.text)
        if len(batch) == BATCH_DOCS or size > MAX_CHUNK_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _analysed(
    batch: Sequence[tuple[Record, Doc]], nlp: Language, cut: bool, skip_bad: bool
) -> list[Doc]:
    """The Docs after all components; where one makes a component fail, the others are saved."""
    try:
        return list(pipe_long(nlp, [doc for _, doc in batch]))
    except Exception:
        if len(batch) == 1 and not skip_bad:
            raise
    found: list[Doc] = []
    for record, _ in batch:  # anew, for components change a Doc in place
        try:
            found += pipe_long(nlp, [_doc(record, nlp, cut)])
        except Exception as error:
            if not skip_bad:
                error.add_note(f"This was document {record.document!r} of {record.place}.")
                raise
            warnings.warn(f"{record.place}: left out, for it fails: {error}", stacklevel=2)
    return found


def _doc(record: Record, nlp: Language, cut: bool) -> Doc:
    doc = tokenize(nlp, record.text)
    if cut and record.mentions:
        doc = _cut(doc, {edge for m in record.mentions for piece in m.pieces for edge in piece})
    _set_breaks(doc, record)
    if record.mentions is not None:
        set_mentions(doc, record.mentions)
    if record.gold is not None:
        doc.user_data["gold"] = [dict(relation) for relation in record.gold]
    doc.user_data |= {"document": record.document, **record.data}
    return doc


def _cut(doc: Doc, edges: set[int]) -> Doc:
    """The Doc with every token that a mention covers in part cut at the mention's edge."""
    words: list[str] = []
    spaces: list[bool] = []
    order = sorted(edges)
    for token in doc:
        first, last = bisect_right(order, token.idx), bisect_left(order, token.idx + len(token))
        bounds = [0, *(edge - token.idx for edge in order[first:last]), len(token)]
        words += [token.text[a:b] for a, b in pairwise(bounds)]
        spaces += [False] * (len(bounds) - 2) + [bool(token.whitespace_)]
    return doc if len(words) == len(doc) else Doc(doc.vocab, words=words, spaces=spaces)


def _set_breaks(doc: Doc, record: Record) -> None:
    # A blank line between two sentences belongs to the first, unless the file says otherwise.
    given = doc.to_array([IDX, IS_SPACE]).astype(np.int64).reshape(-1, 2)
    solid = np.flatnonzero((given[:, 1] == 0) | record.sentences)
    after = np.searchsorted(given[solid, 0], record.breaks)
    firsts = {0, *solid[after[after < len(solid)]].tolist()}
    set_sentence_starts(doc, firsts, final=record.sentences)


def set_mentions(doc: Doc, mentions: Sequence[Mention]) -> None:
    """Spans by character overlap in ``doc.spans["entities"]``, with what a Span cannot hold.

    ``doc.user_data["pieces"]`` has the tokens of broken names, ``["offsets"]`` the characters of
    those that begin or end inside a token, ``["identifiers"]`` those of names that have any; the
    first of them is the span's ``kb_id_``. A mention of no token stays out; gold may still name it.
    """
    starts = [token.idx for token in doc]
    ends = [token.idx + len(token) for token in doc]
    spans: list[Span] = []
    pieces: dict[str, list[int]] = {}
    offsets: dict[str, list[list[int]]] = {}
    for mention in mentions:
        tokens = _covered(doc, starts, ends, mention)
        if not tokens:
            continue
        known = mention.identifiers[0] if mention.identifiers else ""
        span = Span(
            doc, tokens[0], tokens[-1] + 1, label=mention.label, kb_id=known, span_id=mention.id
        )
        spans.append(span)
        if len(tokens) < len(span):
            pieces[mention.id] = tokens
        if mention.pieces != _pieces(doc, tokens):
            offsets[mention.id] = [[start, end] for start, end in mention.pieces]
    doc.spans["entities"] = spans
    doc.user_data |= {"pieces": pieces, "offsets": offsets}
    named = {mention.id: list(mention.identifiers) for mention in mentions if mention.identifiers}
    if named:
        doc.user_data["identifiers"] = named


def _covered(doc: Doc, starts: list[int], ends: list[int], mention: Mention) -> list[int]:
    found: set[int] = set()
    for start, end in mention.pieces:
        first = bisect_left(ends, start + 1)
        found.update(range(first, bisect_left(starts, end)))
    return sorted(i for i in found if not doc[i].is_space)


def _pieces(doc: Doc, tokens: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Character ranges of runs of neighbouring tokens."""
    runs: list[list[int]] = []
    for i in tokens:
        if runs and runs[-1][1] == i - 1:
            runs[-1][1] = i
        else:
            runs.append([i, i])
    return tuple((doc[a].idx, doc[b].idx + len(doc[b])) for a, b in runs)


def _places(mention: Mention) -> str:
    return ",".join(f"{start}-{end}" for start, end in mention.pieces)


def require_document_id(doc: Doc) -> str:
    """The id of a Doc, which every writer needs."""
    name = doc.user_data.get("document")
    if not name:
        raise ValueError(
            f"the Doc {doc.text[:40]!r} has no id. Set doc.user_data['document'] before writing."
        )
    return str(name)


@dataclass
class UniqueFileNames:
    """Names of files after the ids of documents; two documents never share one."""

    taken: set[str] = field(default_factory=set)

    def of(self, doc: Doc) -> str:
        """The id, with characters a file name cannot have written as in web addresses."""
        name = require_document_id(doc)
        stem = quote(name, safe=" ")
        if stem in self.taken:
            raise ValueError(
                f"two documents have the id {name!r}, so one file would overwrite the other. Give "
                "them ids of their own, or write JSON lines."
            )
        self.taken.add(stem)
        return stem


def get_mentions(doc: Doc) -> list[Mention]:
    """The names of a Doc with their characters; names without an id are numbered T1, T2, ..."""
    offsets: Mapping[str, list[list[int]]] = doc.user_data.get("offsets", {})
    found: list[Mention] = []
    taken = {span.id_ for span in doc.spans.get("entities", [])}
    fresh = (name for number in count(1) if (name := f"T{number}") not in taken)
    for span in doc.spans.get("entities", []):
        name = span.id_ or next(fresh)
        given = offsets.get(name) if span.id_ else None
        pieces = tuple((a, b) for a, b in given) if given else _pieces(doc, tokens_of(span))
        found.append(Mention(name, span.label_, pieces))
    return found


def get_relations(doc: Doc, source: str = "gold") -> list[dict[str, Any]]:
    """The relations a writer puts down: the corpus's own, or the results of a task by its name.

    Results give their names by characters; here they are the ids of ``mentions_of``.
    """
    if source == "gold":
        rows = doc.user_data.get("gold") or []
        return [dict(row) for row in rows if len(row.get("entities", ())) == 2]
    if not doc.has_extension(f"textrank_{source}"):
        raise ValueError(
            f"no results {source!r} on the Doc {require_document_id(doc)!r}. Write 'gold', or run the task."
        )
    spans = zip(doc.spans.get("entities", []), get_mentions(doc), strict=True)
    ids = {(span.start_char, span.end_char): mention.id for span, mention in spans}
    return [_relation(row, ids) for row in doc._.get(f"textrank_{source}") or [] if "spans" in row]


def _relation(row: Mapping[str, Any], ids: Mapping[tuple[int, int], str]) -> dict[str, Any]:
    places = [(start, end) for start, end in row["spans"]]
    if unknown := [place for place in places if place not in ids]:
        raise ValueError(
            f"a result names characters {unknown[0][0]}-{unknown[0][1]}, where no entity stands. "
            'Writers take the names of doc.spans["entities"].'
        )
    ends = [ids[place] for place in places]
    numbers = {key: row[key] for key in ("score", "probability") if key in row}
    return {"entities": ends, "label": bool(row.get("interacts")), **numbers}


def mention_text(doc: Doc, mention: Mention) -> str:
    """The text of a mention, pieces joined by a blank."""
    return " ".join(doc.text[start:end] for start, end in mention.pieces)


def list_files(path: str, *endings: str) -> list[Path]:
    """The files of a folder with one of these endings, packed or not; a file is its own."""
    here = Path(path)
    if not here.is_dir():
        return [here]
    found = {file for end in endings for file in (*here.glob(f"*{end}"), *here.glob(f"*{end}.gz"))}
    if not found:
        raise ValueError(f"{path}: no *{endings[0]} file in this folder.")
    return sorted(found)
