"""Shared parts of the readers and writers: records, mentions, and the way to spaCy Docs.

A reader parses each document of its file into a ``Record`` (text, mentions, relations, sentence
starts) and passes the records to ``build_docs``, which tokenizes, sets spans and gold relations,
and runs ``nlp``. A writer gets mentions and relations back from a Doc with ``get_mentions`` and
``get_relations``. ``textrank.formats.detection`` lists all formats.

What a Doc carries for later stages (keys of ``doc.user_data``): ``document`` (id), ``gold``
(relations), ``pieces``, ``offsets`` and ``identifiers`` (of mentions, see ``set_mentions``), and
whatever ``Record.data`` holds.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import count, pairwise
from pathlib import Path
from string import ascii_letters, ascii_uppercase
from typing import Any, TypeVar
from urllib.parse import quote

from spacy.attrs import IDX, IS_SPACE
from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.candidates import span_tokens
from textrank.io import MAX_ITEM_BYTES, ItemFilter, parse_items
from textrank.language.segmentation import (
    MAX_CHUNK_CHARACTERS,
    MAX_SHORT_TOKENS,
    SentenceSplitter,
    pipe_long,
    set_sentence_starts,
    tokenize,
)

# Readers and their options ------------------------------------------------------------------------


class FileReader:
    """Base class of the readers in this package: callables that iterate over the Docs of a file.

    Subclasses are frozen dataclasses of settings and implement ``read``, which can also read only
    some of the documents.
    """

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        """Iterate over all documents, analysed by ``nlp``; equal to ``read(nlp)``."""
        return self.read(nlp)

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents in file order, analysed by ``nlp``.

        With ``item_filter`` only the documents that it selects are parsed, and a Doc for which
        neither file nor ``nlp`` sets sentence boundaries is not split into sentences. None reads
        all. ``on_batch_end`` is called before a Doc is yielded after which the reader holds no
        other Doc, so that ``VocabZone`` can free memory; a reader may never call it, and None calls
        nothing. Readers yield Docs with an id in ``doc.user_data["document"]`` and raise ValueError
        for a file they cannot read.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class ConcatCorpus(FileReader):
    """Several corpora read one after the other, to train one model on all of them.

    The id of a document is prefixed with the name of its corpus, so that ids of different corpora
    cannot collide. Identical texts of two corpora are still held out together in cross-validation.

    Attributes
    ----------
    corpora
        Readers by name; at least one.
    """

    corpora: Mapping[str, Any]  # readers, or cfg blocks before config.resolve_block builds them

    def __post_init__(self) -> None:
        """Copy the mapping; raise ValueError if it is empty."""
        object.__setattr__(self, "corpora", dict(self.corpora))
        if not self.corpora:
            raise ValueError("corpora must name at least one corpus, got none")

    def read(
        self,
        nlp: Language,
        item_filter: ItemFilter | None = None,
        on_batch_end: Callable[[], None] | None = None,
    ) -> Iterator[Doc]:
        """Iterate over the documents of all corpora, with ids ``<corpus>/<document>``.

        Corpora come in the order of the mapping. The id of each Doc is changed in place; a missing
        one counts as "". ``item_filter`` and ``on_batch_end`` are passed to every corpus; the
        filter numbers documents across all of them.
        """
        for name, reader in self.corpora.items():
            for doc in read_corpus(reader, nlp, item_filter, on_batch_end):
                doc.user_data["document"] = f"{name}/{doc.user_data.get('document', '')}"
                yield doc


def read_corpus(
    reader: Callable[[Language], Iterator[Doc]],
    nlp: Language,
    item_filter: ItemFilter | None = None,
    on_batch_end: Callable[[], None] | None = None,
) -> Iterator[Doc]:
    """Iterate over the documents of any reader, analysed by ``nlp``.

    ``item_filter`` and ``on_batch_end`` are passed to a ``FileReader`` (see ``FileReader.read``);
    any other callable (a plugin's) knows neither, and gives all documents.
    """
    if isinstance(reader, FileReader):
        return reader.read(nlp, item_filter, on_batch_end)
    return reader(nlp)


@dataclass(frozen=True)
class ReadOptions:
    """Options that override the settings of any reader (``--max-bytes``, ``--skip-bad``, ...).

    Attributes
    ----------
    limit
        Largest number of bytes of one document held in memory; None keeps the reader's setting.
    skip_bad
        Leave out documents with errors; False keeps the reader's setting.
    encoding
        Encoding of plain text; None keeps the reader's setting.
    """

    limit: int | None = None
    skip_bad: bool = False
    encoding: str | None = None

    def apply_to(self, reader: Any) -> Any:
        """Return a copy of ``reader`` with these options set, where it has fields of these names.

        For a ``ConcatCorpus`` the options are applied to each of its corpora. A reader that is not
        a dataclass (a plugin's) is returned unchanged. Options that are None or False leave the
        reader's settings. Raises ValueError if an encoding is given and the reader has no such
        setting.
        """
        if isinstance(reader, ConcatCorpus):
            corpora = {name: self.apply_to(part) for name, part in reader.corpora.items()}
            return ConcatCorpus(corpora)
        if not is_dataclass(reader) or isinstance(reader, type):
            return reader
        options: dict[str, Any] = {
            "limit": self.limit,
            "skip_bad": self.skip_bad or None,
            "encoding": self.encoding,
        }
        names = {f.name for f in fields(reader)}
        if self.encoding is not None and "encoding" not in names:
            raise ValueError(
                f"{getattr(reader, 'path', 'this corpus')}: --encoding is for plain text; other "
                "formats are UTF-8 or declare their encoding. Leave it out."
            )
        changes = {k: v for k, v in options.items() if v is not None and k in names}
        return replace(reader, **changes)


BATCH_DOCS = 64  # analysed in one call of nlp.pipe
S = TypeVar("S")


@dataclass(frozen=True)
class AnnotatedFile(FileReader):
    """Common settings of readers of annotated texts.

    Attributes
    ----------
    path
        File to read.
    annotated
        Whether a document without annotations really has no names. If False, its names are left to
        the recogniser in ``nlp``.
    cut
        Split tokens at the edges of a name that covers them in part.
    skip_bad
        Leave out documents with errors and count them in one warning, instead of raising.
    limit
        Largest number of bytes of one document held in memory.
    """

    path: str
    annotated: bool = False
    cut: bool = True
    skip_bad: bool = False
    limit: int = MAX_ITEM_BYTES


# Parsed documents ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mention:
    """Name in a text, in one piece or several.

    Attributes
    ----------
    id
        Unique in its document.
    label
        Entity type.
    pieces
        Character ranges ``(start, end)`` in text order, end exclusive.
    identifiers
        CURIEs such as ``ncbigene:7157``.
    """

    id: str
    label: str
    pieces: tuple[tuple[int, int], ...]
    identifiers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """Parsed document, validated on construction, from which ``build_docs`` makes a Doc.

    Attributes
    ----------
    document
        Id of the document.
    text
        Text, which the offsets of mentions count in.
    location
        File and line or element, for error messages.
    mentions
        Names. None if the file does not say: they are then left to the recogniser in ``nlp``.
    gold
        Relations ``{"entities": [id, id], "label": bool, "type": str}``; pairs that are not listed
        do not interact. None if the file does not say.
    breaks
        Characters where a sentence begins, sorted. Further sentence starts may be found unless
        ``sentences`` is True.
    sentences
        Whether ``breaks`` are all sentence starts.
    data
        Further entries for ``doc.user_data``.

    Raises
    ------
    ValueError
        If two mentions share an id, a mention lies outside the text or is blank, a relation refers
        to an unknown mention, or a string holds half of a surrogate pair.
    """

    document: str
    text: str
    location: str
    mentions: Sequence[Mention] | None = None
    gold: Sequence[Mapping[str, Any]] | None = None
    breaks: Sequence[int] = ()
    sentences: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check strings, mentions and relations.

        Raises ValueError if two mentions share an id, a mention lies outside the text or is blank,
        a relation refers to an unknown mention, or a string holds half of a surrogate pair.
        """
        self._check_encodable("the text", self.text)
        self._check_encodable("its id", self.document)
        for mention in self.mentions or ():
            for words in (mention.id, mention.label, *mention.identifiers):
                self._check_encodable("an id or label of a mention", words)
        if self.mentions:
            self._check_mentions()
        if self.gold:
            self._check_gold()

    def _check_encodable(self, what: str, words: str) -> None:
        """Raise ValueError if ``words`` cannot be encoded as UTF-8.

        Only a string with half of a surrogate pair cannot. ``what`` describes the words in the
        message.
        """
        if words.isascii():
            return
        try:
            words.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{self.location}: half of a surrogate pair at character {error.start} of {what}. "
                "Write both halves."
            ) from None

    def _check_mentions(self) -> None:
        """Raise ValueError unless mentions have unique ids and ranges inside the text.

        No piece may be empty, and not all pieces of a mention may be white space. The order of the
        pieces is not checked.
        """
        ids: set[str] = set()
        for mention in self.mentions or ():
            if mention.id in ids:
                raise ValueError(
                    f"{self.location}: two mentions have the id {mention.id!r}. Give each its own "
                    "id."
                )
            ids.add(mention.id)
            for start, end in mention.pieces:
                if not 0 <= start < end <= len(self.text):
                    raise ValueError(
                        f"{self.location}: mention {mention.id!r} at {start}-{end} lies outside "
                        f"the text of {len(self.text)} characters or is empty. Correct its offsets."
                    )
            if not any(self.text[start:end].strip() for start, end in mention.pieces):
                raise ValueError(f"{self.location}: mention {mention.id!r} is blank. Remove it.")

    def _check_gold(self) -> None:
        """Raise ValueError if a relation refers to an id that is not a mention.

        If the mentions are None, every relation is refused.
        """
        mention_ids = {mention.id for mention in self.mentions or ()}
        for relation in self.gold or ():
            for mention_id in relation["entities"]:
                if mention_id not in mention_ids:
                    raise ValueError(
                        f"{self.location}: a relation refers to {mention_id!r}, which is not a "
                        "mention of the document. Correct the relation or add the mention."
                    )


def check_mention_text(location: str, text: str, mention: Mention, words: str) -> None:
    """Raise ValueError unless the text at a mention's offsets is ``words``.

    Only the white-space separated words are compared, so a space may be a newline. Pieces of the
    mention are joined by a space. ``location`` begins the message.
    """
    covered_text = " ".join(text[start:end] for start, end in mention.pieces)
    if covered_text.split() != words.split():
        raise ValueError(
            f"{location}: mention {mention.id!r} should read {words!r}, but the text at "
            f"{_format_ranges(mention)} reads {covered_text!r}. Offsets count characters, not "
            "bytes; the text may have changed since it was annotated."
        )


# From records to Docs -----------------------------------------------------------------------------


def build_docs(
    items: Iterable[S],
    parse: Callable[[S], Record],
    nlp: Language,
    *,
    path: str,
    cut: bool,
    skip_bad: bool,
    item_filter: ItemFilter | None = None,
    on_batch_end: Callable[[], None] | None = None,
) -> Iterator[Doc]:
    """Iterate over the Docs of a file, with spans and gold relations, analysed by ``nlp``.

    Docs come in the order of ``items``, parsed and analysed in batches. Sentences that ``nlp`` does
    not set are split by punctuation.

    Parameters
    ----------
    items
        Unparsed documents, in file order. An error of this iterator itself is always raised.
    parse
        Makes a Record of an item; raises ValueError for a bad one.
    nlp
        Tokenizer and components to run.
    path
        File name for messages.
    cut
        Split tokens at the edges of a mention that covers them in part.
    skip_bad
        Leave out documents that cannot be parsed or analysed, with a warning. If False their error
        is raised.
    item_filter
        Read only part of the file; Docs then keep only the sentence starts of the file and of
        ``nlp``, and documents that cannot be parsed are reported to the filter (see
        ``ItemFilter``). None reads all.
    on_batch_end
        Called before the last Doc of each batch is yielded: no other Doc is held then, so the
        caller may free the strings of all of them (``VocabZone``). None calls nothing.

    Raises
    ------
    ValueError
        If there are no items and no filter, or a document is bad and ``skip_bad`` is False.
    """
    split_sentences = SentenceSplitter(final=True)

    def parse_doc(item: S) -> tuple[Record, Doc]:
        """Parse an item and build its Doc, on which no component of ``nlp`` has run."""
        record = parse(item)
        return record, _build_doc(record, nlp, cut)

    parsed = parse_items(items, parse_doc, path=path, skip_bad=skip_bad, item_filter=item_filter)
    for batch in _batches(parsed):
        docs = _analyse_batch(batch, nlp, cut, skip_bad)
        for number, doc in enumerate(docs, 1):
            if on_batch_end is not None and number == len(docs):
                on_batch_end()
            has_sentences = doc.has_annotation("SENT_START", require_complete=True)
            yield doc if has_sentences or item_filter is not None else split_sentences(doc)


def _batches(parsed: Iterable[tuple[Record, Doc]]) -> Iterator[list[tuple[Record, Doc]]]:
    """Group records and Docs into batches for ``nlp.pipe``, in order.

    A batch ends when it has ``BATCH_DOCS`` documents, or after the document with which its texts
    exceed ``MAX_CHUNK_CHARACTERS`` in all. No batch is empty.
    """
    batch: list[tuple[Record, Doc]] = []
    size = 0
    for record, doc in parsed:
        batch.append((record, doc))
        size += len(record.text)
        if len(batch) == BATCH_DOCS or size > MAX_CHUNK_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _analyse_batch(
    batch: Sequence[tuple[Record, Doc]], nlp: Language, cut: bool, skip_bad: bool
) -> list[Doc]:
    """Run all components of ``nlp`` on a batch and return its Docs, in order.

    If a component fails, the documents are processed again one by one, with new Docs. With
    ``skip_bad`` a document that fails again is left out with a warning; otherwise the error is
    raised, with a note that names the document unless it is the only one of the batch. ``cut`` says
    whether tokens of new Docs are split at the edges of mentions.
    """
    try:
        return list(pipe_long(nlp, [doc for _, doc in batch]))
    except Exception:
        if len(batch) == 1 and not skip_bad:
            raise
    docs: list[Doc] = []
    for record, _ in batch:  # with new Docs, since components change them in place
        try:
            docs += pipe_long(nlp, [_build_doc(record, nlp, cut)])
        except Exception as error:
            if not skip_bad:
                error.add_note(f"This was document {record.document!r} of {record.location}.")
                raise
            warnings.warn(f"{record.location}: left out because of an error: {error}", stacklevel=2)
    return docs


def _build_doc(record: Record, nlp: Language, cut: bool) -> Doc:
    """Tokenize a record and set sentence starts, mentions, gold and ``user_data``.

    Of ``nlp`` only the tokenizer runs. Mentions and gold that are None stay unset. If ``cut``,
    tokens are split at the edges of mentions.
    """
    doc = tokenize(nlp, record.text)
    if cut and record.mentions:
        doc = _split_tokens(
            doc, {edge for m in record.mentions for piece in m.pieces for edge in piece}
        )
    _set_record_sentences(doc, record)
    if record.mentions is not None:
        set_mentions(doc, record.mentions)
    if record.gold is not None:
        doc.user_data["gold"] = [dict(relation) for relation in record.gold]
    doc.user_data["document"] = record.document
    if record.data:
        doc.user_data |= record.data
    return doc


def _split_tokens(doc: Doc, edges: set[int]) -> Doc:
    """Return a Doc of the same text with its tokens split at the characters ``edges``.

    The Doc itself is returned if no edge lies inside a token; otherwise the new one has words and
    spaces only.
    """
    words: list[str] = []
    spaces: list[bool] = []
    order = sorted(edges)
    for token in doc:
        first, last = bisect_right(order, token.idx), bisect_left(order, token.idx + len(token))
        bounds = [0, *(edge - token.idx for edge in order[first:last]), len(token)]
        words += [token.text[a:b] for a, b in pairwise(bounds)]
        spaces += [False] * (len(bounds) - 2) + [bool(token.whitespace_)]
    return doc if len(words) == len(doc) else Doc(doc.vocab, words=words, spaces=spaces)


def _set_record_sentences(doc: Doc, record: Record) -> None:
    """Mark the first token at or after each of ``record.breaks`` as a sentence start, in place.

    The first token is always marked. If ``record.sentences``, the breaks are all sentence starts
    and all other tokens are marked as none. Otherwise other tokens stay undecided, and a token of
    white space is skipped, so that it belongs to the sentence before.
    """
    if not record.breaks:  # most rows of a table: spare them the arrays
        set_sentence_starts(doc, (0,), final=record.sentences)
        return
    if len(doc) <= MAX_SHORT_TOKENS:  # for a few tokens, arrays cost more than a loop
        attributes = [(token.idx, token.is_space) for token in doc]
    else:
        attributes = doc.to_array([IDX, IS_SPACE]).tolist()
    word_tokens = [
        token for token, (_, is_space) in enumerate(attributes) if record.sentences or not is_space
    ]
    offsets = [attributes[token][0] for token in word_tokens]
    next_words = (bisect_left(offsets, offset) for offset in record.breaks)
    first_tokens = {0, *(word_tokens[word] for word in next_words if word < len(word_tokens))}
    set_sentence_starts(doc, first_tokens, final=record.sentences)


def set_mentions(doc: Doc, mentions: Sequence[Mention]) -> None:
    """Set ``doc.spans["entities"]`` to one span per mention: the tokens that overlap it.

    Tokens of white space do not count. A mention that overlaps no token is left out; gold relations
    can still refer to it. What a Span cannot hold goes to ``doc.user_data``, by mention id:
    ``pieces`` (tokens of discontinuous names), ``offsets`` (character ranges, if they are not those
    of tokens) and ``identifiers``; the first identifier is also the span's ``kb_id_``. Earlier
    spans, ``pieces`` and ``offsets`` are replaced, earlier ``identifiers`` only if a mention has
    some.
    """
    starts = [token.idx for token in doc]
    ends = [token.idx + len(token) for token in doc]
    spans: list[Span] = []
    pieces: dict[str, list[int]] = {}
    offsets: dict[str, list[list[int]]] = {}
    for mention in mentions:
        tokens = _covered_tokens(doc, starts, ends, mention)
        if not tokens:
            continue
        kb_id = mention.identifiers[0] if mention.identifiers else ""
        span = Span(
            doc, tokens[0], tokens[-1] + 1, label=mention.label, kb_id=kb_id, span_id=mention.id
        )
        spans.append(span)
        if len(tokens) < len(span):
            pieces[mention.id] = tokens
        if mention.pieces != _token_ranges(doc, tokens):
            offsets[mention.id] = [[start, end] for start, end in mention.pieces]
    doc.spans["entities"] = spans
    doc.user_data |= {"pieces": pieces, "offsets": offsets}
    identifiers = {
        mention.id: list(mention.identifiers) for mention in mentions if mention.identifiers
    }
    if identifiers:
        doc.user_data["identifiers"] = identifiers


def _covered_tokens(doc: Doc, starts: list[int], ends: list[int], mention: Mention) -> list[int]:
    """Return the sorted indices of non-space tokens that overlap any piece of a mention.

    The result is [] if there are none. ``starts`` and ``ends`` are the character offsets of all
    tokens, ends exclusive.
    """
    indices: set[int] = set()
    for start, end in mention.pieces:
        first = bisect_left(ends, start + 1)
        indices.update(range(first, bisect_left(starts, end)))
    return sorted(i for i in indices if not doc[i].is_space)


def _token_ranges(doc: Doc, tokens: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the character ranges of runs of adjacent tokens, ends exclusive.

    ``tokens`` are sorted indices in the Doc.
    """
    runs: list[list[int]] = []
    for i in tokens:
        if runs and runs[-1][1] == i - 1:
            runs[-1][1] = i
        else:
            runs.append([i, i])
    return tuple((doc[a].idx, doc[b].idx + len(doc[b])) for a, b in runs)


def _format_ranges(mention: Mention) -> str:
    """Return the character ranges of a mention as text, such as ``0-5,9-12``, ends exclusive."""
    return ",".join(f"{start}-{end}" for start, end in mention.pieces)


# From Docs to files -------------------------------------------------------------------------------


def require_document_id(doc: Doc) -> str:
    """Return the id of a Doc, ``doc.user_data["document"]``, as a string.

    Raises ValueError if it is missing or empty, since every writer needs one.
    """
    name = doc.user_data.get("document")
    if not name:
        raise ValueError(
            f"the Doc {doc.text[:40]!r} has no id. Set doc.user_data['document'] before writing."
        )
    return str(name)


MAX_STEM_CHARACTERS = 250  # most file systems allow 255 bytes with the suffix
WINDOWS_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)))
)


@dataclass
class UniqueFileNames:
    """Maker of file names from document ids that are different files on every system.

    Windows and macOS take "a" and "A" for one file, and Windows reserves names of devices. A letter
    that would make such a name is percent-encoded, so that decoding a name always gives the id.
    ``stem_ids`` maps the names given so far, in lower case, to the ids, and grows with each call of
    ``name_for``.
    """

    stem_ids: dict[str, str] = field(default_factory=dict)

    def name_for(self, doc: Doc) -> str:
        """Return the document's id as a file name without suffix, and remember it.

        All characters but ASCII letters, digits, spaces and ``_.-~`` are percent-encoded. So are
        all letters of a name that differs from an earlier one in case only, and the first letter
        and capitals of a name that Windows reserves.

        Raises
        ------
        ValueError
            If the Doc has no id, one that an earlier Doc had, or one that is too long for a file
            name.
        """
        name = require_document_id(doc)
        stem = quote(name, safe=" ")
        if stem.partition(".")[0].rstrip().lower() in WINDOWS_DEVICES:
            stem = _encode(name[0], ascii_letters) + _encode(name[1:], ascii_uppercase)
        if self.stem_ids.get(stem.lower(), name) != name:
            stem = _encode(name, ascii_letters)
        if stem.lower() in self.stem_ids:
            raise ValueError(
                f"two documents have the id {name!r}, so one file would overwrite the other. Give "
                "each its own id, or write JSON lines."
            )
        if len(stem) > MAX_STEM_CHARACTERS:
            raise ValueError(
                f"the id {name[:60]!r}... is too long for the name of a file. Shorten it, or write "
                "JSON lines."
            )
        self.stem_ids[stem.lower()] = name
        return stem


def _encode(name: str, letters: str) -> str:
    """Percent-encode ``letters`` of a name, and all characters that a file name cannot hold."""
    return "".join(f"%{ord(c):02X}" if c in letters else quote(c, safe=" ") for c in name)


def get_mentions(doc: Doc) -> list[Mention]:
    """Return the names in ``doc.spans["entities"]`` as mentions, in that order.

    Spans without an id are numbered T1, T2, …, skipping ids in use. Character ranges are those of
    the file (``user_data["offsets"]``) where these are stored, else those of the tokens.
    Identifiers are those of the file (``user_data["identifiers"]``) if the span's ``kb_id_`` is one
    of them, else the ``kb_id_`` alone, if any. Without the span group the result is [].
    """
    offsets: Mapping[str, list[list[int]]] = doc.user_data.get("offsets", {})
    identifiers: Mapping[str, list[str]] = doc.user_data.get("identifiers", {})
    mentions: list[Mention] = []
    used_ids = {span.id_ for span in doc.spans.get("entities", [])}
    new_ids = (name for number in count(1) if (name := f"T{number}") not in used_ids)
    for span in doc.spans.get("entities", []):
        name = span.id_ or next(new_ids)
        ranges = offsets.get(name) if span.id_ else None
        pieces = (
            tuple((a, b) for a, b in ranges) if ranges else _token_ranges(doc, span_tokens(span))
        )
        file_ids = identifiers.get(name, []) if span.id_ else []
        # A changed kb_id_ replaces the identifiers of the file.
        ids = tuple(file_ids) if span.kb_id_ in file_ids else tuple(filter(None, [span.kb_id_]))
        mentions.append(Mention(name, span.label_, pieces, ids))
    return mentions


def get_relations(doc: Doc, source: str = "gold") -> list[dict[str, Any]]:
    """Return the relations to write: the gold ones, or the results of a task.

    Parameters
    ----------
    doc
        Document with ``user_data["gold"]`` or with the extension ``textrank_<source>``.
    source
        "gold", or the name of a task.

    Returns
    -------
    list of dict
        ``{"entities": [id, id], "label": bool, …}`` with ids as in ``get_mentions``; results of a
        task also have ``score``, probabilities, and ``type``, ``status`` and ``direction`` if the
        task gave them. Gold rows that are not pairs, and results without ``spans``, are left out;
        [] if there is no gold, or the task has not run on the Doc.

    Raises
    ------
    ValueError
        If no extension ``textrank_<source>`` is registered, or a result refers to characters that
        are not an entity.
    """
    if source == "gold":
        rows = doc.user_data.get("gold") or []
        return [dict(row) for row in rows if len(row.get("entities", ())) == 2]
    if not doc.has_extension(f"textrank_{source}"):
        raise ValueError(
            f"no results {source!r} on the Doc {require_document_id(doc)!r}. Write 'gold', or run "
            "the task."
        )
    span_mentions = zip(doc.spans.get("entities", []), get_mentions(doc), strict=True)
    ids = {(span.start_char, span.end_char): mention.id for span, mention in span_mentions}
    return [
        _result_to_relation(row, ids)
        for row in doc._.get(f"textrank_{source}") or []
        if "spans" in row
    ]


def _result_to_relation(
    row: Mapping[str, Any], ids: Mapping[tuple[int, int], str]
) -> dict[str, Any]:
    """Convert a result row of a task to ``{"entities": [id, id], "label": bool, …}``.

    ``row["spans"]`` holds the character ranges of the entities and ``row["interacts"]`` the answer;
    a missing answer is False. Score, probabilities, type, status and direction are copied unless
    missing or None. ``ids`` maps the character range of an entity to its id; raises ValueError for
    a range that it lacks.
    """
    ranges = [(start, end) for start, end in row["spans"]]
    if unknown_ranges := [pair for pair in ranges if pair not in ids]:
        raise ValueError(
            f"a result refers to characters {unknown_ranges[0][0]}-{unknown_ranges[0][1]}, which "
            "are "
            'not an entity. Writers need the names in doc.spans["entities"].'
        )
    mention_ids = [ids[pair] for pair in ranges]
    keys = ("score", "probability", "physical", "regulation", "type", "status", "direction")
    values = {key: row[key] for key in keys if row.get(key) is not None}
    return {"entities": mention_ids, "label": bool(row.get("interacts")), **values}


def mention_text(doc: Doc, mention: Mention) -> str:
    """Return the text of a mention, with its pieces joined by a space."""
    return " ".join(doc.text[start:end] for start, end in mention.pieces)


def list_files(path: str, *endings: str) -> list[Path]:
    """Return the files of a folder with one of these endings, plain or ``.gz``, sorted by path.

    Subfolders are not searched. Raises ValueError if the folder has no such file. A path that is
    not a folder is returned as the only file, whatever its ending and whether it exists or not.
    """
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    files = {
        file for end in endings for file in (*folder.glob(f"*{end}"), *folder.glob(f"*{end}.gz"))
    }
    if not files:
        raise ValueError(f"{path}: no *{endings[0]} file in this folder.")
    return sorted(files)
