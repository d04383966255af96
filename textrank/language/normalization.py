"""Normalised words of raw text with markup, and their place in the text.

The user's text is never changed, and all character offsets refer to it. Where it contains markup,
character entities, invisible characters, ligatures or hyphenation, tokens are those of the
*normalised text* (``TNF-&alpha;`` is ``TNF - α``, ``p<sub>53</sub>`` is ``p53``), mapped back by
``tokenize_normalized``. White space and tags become tokens too, since a Doc must cover its text;
normalised, they are empty (``normalize_token``), and networks and representations see only words:

- ``normalize_words`` says which tokens are words and how they are spelt (cached per Doc);
- ``strip_non_words`` and ``word_doc`` build a Doc of these words only, for a network or a task;
- ``to_tokens``, ``set_parse`` and ``set_space_tags`` write results back to all tokens;
- ``original_doc``, ``original_offsets`` and ``SourceText`` lead from a word doc back to the text;
- ``store_retokenized`` and ``get_retokenized`` keep a second tokenization of the same text.

"Transliterated" words have Greek letters, dashes and quotes in ASCII (``β1`` is ``beta1``).
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html.entities import html5
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import (
    DEP,
    ENT_ID,
    ENT_IOB,
    ENT_KB_ID,
    ENT_TYPE,
    HEAD,
    IDX,
    IS_SPACE,
    LEMMA,
    LENGTH,
    MORPH,
    ORTH,
    POS,
    SENT_START,
    SPACY,
    TAG,
)
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from textrank.candidates import sentence_starts
from textrank.features import Indices

_INLINE = (
    "a abbr b bdi bdo big bold cite code dfn em ext-link fixed-case font i inline-formula ins "
    "italic kbd mark math mi mn mo monospace mover mrow msub msubsup msup mtext munder "
    "named-content overline q roman s samp sans-serif sc small span strike strong styled-content "
    "sub sup tex-math tt u underline var xref"
)
_BLOCK = (
    "abstract abstracttext address article articletitle aside blockquote body br caption center "
    "col dd div dl dt fig figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html img "
    "label li link list list-item main meta nav ol p pre sec section table table-wrap tbody td "
    "tfoot th thead title tr ul"
)
_NON_BREAKING_BLOCKS = "td th col br img link meta"  # block tags that do not end a sentence
_TAG_NAMES = "|".join(sorted((re.escape(n) for n in f"{_INLINE} {_BLOCK}".split()), key=len)[::-1])
# Every repetition is bounded, so a text takes linear time whatever it holds.
_ATTRIBUTE = r"""\s{1,9}[\w:-]{1,40}(?:=(?:"[^"<>]{0,400}"|'[^'<>]{0,400}'|[^\s"'<>]{1,400}))"""
_TAG_PATTERN = (
    rf"</?(?:[a-z]{{2,5}}:)?(?P<name>{_TAG_NAMES})(?:{_ATTRIBUTE}){{0,20}}\s{{0,9}}/?>"
    r"|<!--[^<>]{0,4000}-->|<\?[^<>]{0,400}\?>|<!DOCTYPE[^<>]{0,400}>"
)
_ENTITY = r"&(?:amp;)?(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_CITATION = r"<sup>\s{0,3}\d{1,3}(?:\s{0,3}[,–-]\s{0,3}\d{1,3}){0,20}\s{0,3}</sup>"
_INVISIBLE = "\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff®™©"
_CONTROL = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_SCRIPTS = "²³¹⁰-₟"
_AFTER_HANGING_HYPHEN = "and|or|to|but|nor|versus|vs"  # "pre- and postnatal"
_NON_PLAIN = re.compile(
    rf"""(?P<cited>{_CITATION}) | (?P<tag>{_TAG_PATTERN}) | (?P<entity>{_ENTITY})
    | (?P<gone>[{_INVISIBLE}](?:[ \t]{{0,9}}\r?\n[ \t]{{0,40}}(?=\w))?)
    | (?P<control>[{_CONTROL}])
    | (?P<wrap>(?<=\w)[-\u2010][ \t]{{0,9}}\r?\n[ \t]{{0,40}}
        (?!(?:{_AFTER_HANGING_HYPHEN})\b)(?=\w))
    | (?P<script>[{_SCRIPTS}])""",
    re.VERBOSE | re.IGNORECASE,
)
# First characters of the above: most texts have none, and this search is much faster.
_HINT = re.compile(rf"[<&{_INVISIBLE}{_CONTROL}{_SCRIPTS}]")
_WRAP_HINT = re.compile(r"[-\u2010][ \t]{0,9}\r?\n")
_TAG_REGEX = re.compile(_TAG_PATTERN, re.IGNORECASE)
_GAP_PART = re.compile(rf"(?:{_CITATION})|(?:{_TAG_PATTERN})|\s+|[^\s<]+|<", re.IGNORECASE)
_PLAIN_WORD = re.compile(r"[!-%'-;=?-~]+")  # printable, without "&", "<" and ">"
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2015\u2212\ufe58\ufe63\uff0d"), "-")
_QUOTES = dict(zip(map(ord, "‘’‛′`“”„‟″«»"), '\'\'\'\'\'"""""""', strict=True))
_GREEK = {
    ord(letter): name
    for name, letters in {
        "alpha": "αΑά", "beta": "βΒϐ", "gamma": "γΓ", "delta": "δΔ∆", "epsilon": "εΕϵέ",
        "zeta": "ζΖ", "eta": "ηΗή", "theta": "θΘϑ", "iota": "ιΙί", "kappa": "κΚϰ",
        "lambda": "λΛ", "xi": "ξΞ", "omicron": "οΟό", "pi": "πΠ", "rho": "ρΡϱ",
        "sigma": "σΣς", "tau": "τΤ", "upsilon": "υΥ", "phi": "φΦϕ", "chi": "χΧ",
        "psi": "ψΨ", "omega": "ωΩώ",
    }.items()
    for letter in letters
}  # fmt: skip
_TRANSLITERATIONS = {**_DASHES, **_QUOTES, **_GREEK}


class NormalizedText(NamedTuple):
    """A normalised text and, for each of its characters, the offsets it comes from.

    Character ``i`` of ``text`` comes from ``original[starts[i]:ends[i]]``. Characters of one
    replacement share their source, so ranges can coincide.
    """

    text: str
    starts: list[int]  # offset in the original at which the source of each character starts
    ends: list[int]  # and ends


def normalize_text(text: str) -> NormalizedText | None:
    """Return the normalised text with its alignment; None if nothing needs normalising.

    Markup is removed (a block tag becomes a space), entities are decoded, invisible characters (and
    ®, ™ and ©) and superscript citations are removed (``_normalize_match``), control characters
    become spaces, and superscript or subscript characters plain ones. Of a hyphen at a line end,
    hyphen and line break are removed if the joined word occurs elsewhere in the text, otherwise
    only the line break. Other white space is kept as it is, since it never belongs to a token.
    Linear in the length of the text.

    >>> normalize_text("<b>p<sub>53</sub></b> &amp; TNF-&alpha;").text
    'p53 & TNF-α'
    >>> normalize_text("nothing odd") is None
    True
    """
    may_need_normalizing = _HINT.search(text) or _WRAP_HINT.search(text)
    if not may_need_normalizing or _NON_PLAIN.search(text) is None:
        return None
    vocabulary: frozenset[str] = frozenset()
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for match in _NON_PLAIN.finditer(text):
        first, end = match.span()
        if match["wrap"] and not vocabulary:
            vocabulary = frozenset(re.findall(r"\w+", text.lower()))
        replacement, end = _normalize_match(match, text, vocabulary, end)
        parts += (text[position:first], replacement)
        starts += [*range(position, first), *([first] * len(replacement))]
        ends += [*range(position + 1, first + 1), *([end] * len(replacement))]
        position = match.end()
    parts.append(text[position:])
    starts += range(position, len(text))
    ends += range(position + 1, len(text) + 1)
    return NormalizedText("".join(parts), starts, ends)


def _normalize_match(
    match: re.Match[str], text: str, vocabulary: frozenset[str], end: int
) -> tuple[str, int]:
    """Return the replacement of a ``_NON_PLAIN`` match and the offset at which its source ends.

    ``text`` is the whole original text and ``end`` the end of the match, which is returned except
    for hyphenation. ``vocabulary`` holds the lower-case words of the text; it is used only for
    hyphenation. A superscript number is removed as a citation, unless the characters before it,
    back to the last white space, are only punctuation followed by a number (``10<sup>6</sup>``),
    only punctuation, or none.
    """
    match _match_kind(match):
        case "cited":
            before = re.search(r"\S*$", text[max(0, match.start() - 20) : match.start()])
            follows_number = before is None or re.fullmatch(r"\W*[\d.,]*", before[0])
            return ("".join(match[0][5:-6].split()) if follows_number else ""), end
        case "tag":
            return (" " if is_block_tag(match[0]) else ""), end
        case "entity":
            return _decode_entity(match[0]), end
        case "gone":
            return "", end
        case "control":
            return " ", end
        case "wrap":
            return _join_hyphenated(match, text, vocabulary)
    return unicodedata.normalize("NFKC", match[0]), end


def _match_kind(match: re.Match[str]) -> str:
    """Return the name of the alternative of ``_NON_PLAIN`` that matched, such as "tag".

    The function lists all alternatives; StopIteration is raised for one that it does not list.
    """
    kinds = ("cited", "tag", "entity", "gone", "control", "wrap", "script")
    return next(kind for kind in kinds if match[kind] is not None)


def _join_hyphenated(
    match: re.Match[str], text: str, vocabulary: frozenset[str]
) -> tuple[str, int]:
    """Return the replacement of a hyphen at a line end and the offset at which its source ends.

    ``match`` covers the hyphen and the line break. Both are removed if the joined word, in lower
    case, is in ``vocabulary`` (the lower-case words of ``text``); otherwise the replacement is "-"
    and only the line break is removed. Only 40 characters on either side are looked at.
    """
    window = text[max(0, match.start() - 40) : match.end() + 40]
    hyphen = match.start() - max(0, match.start() - 40)
    before, after = (
        re.search(r"\w*$", window[:hyphen]),
        re.match(r"\w*", window[hyphen + len(match[0]) :]),
    )
    joined = (before[0] if before else "") + (after[0] if after else "")
    return ("", match.end()) if joined.lower() in vocabulary else ("-", match.start() + 1)


def _decode_entity(entity: str) -> str:
    """Decode an HTML entity that is escaped once or twice (``&alpha;`` or ``&amp;alpha;``).

    ``entity`` is a match of ``_ENTITY``, from "&" to ";". An unknown one is returned as it is, or
    with one escape removed if it is escaped twice. White space and unprintable characters become a
    space.
    """
    entity = entity.replace("&amp;", "&", 1) if entity != "&amp;" else entity
    if entity[1] != "#" and entity[1:] not in html5:
        return entity
    character = html.unescape(entity)
    return " " if character.isspace() or not character.isprintable() else character


_BLOCK_NAMES = frozenset(_BLOCK.split())


_PARAGRAPH_NAMES = _BLOCK_NAMES - frozenset(_NON_BREAKING_BLOCKS.split())


def is_block_tag(tag: str) -> bool:
    """Return whether a tag separates words, as ``<p>`` and ``<td>`` do and ``<b>`` does not.

    Takes the whole tag with its angle brackets: opening or closing, with or without attributes, in
    upper or lower case. Comments, unknown tags and strings that are not one tag give False.

    >>> is_block_tag("</td>"), is_block_tag("<sub>")
    (True, False)
    """
    match = _TAG_REGEX.fullmatch(tag)
    name = (match["name"] or "").lower() if match else ""
    return name in _BLOCK_NAMES


def is_paragraph_tag(tag: str) -> bool:
    """Return whether a tag ends a sentence, as ``<p>`` does and a table cell does not.

    Takes the whole tag with its angle brackets, such as ``<p>``, ``</P>`` or ``<div class="x">``:
    opening or closing, with or without attributes, in upper or lower case. True for block tags
    (``is_block_tag``) except td, th, col, br, img, link and meta. Inline tags, comments, unknown
    tags and strings that are not exactly one tag give False.
    """
    match = _TAG_REGEX.fullmatch(tag)
    name = (match["name"] or "").lower() if match else ""
    return name in _PARAGRAPH_NAMES


def find_tags(text: str) -> Iterator[re.Match[str]]:
    """Return an iterator over matches of known tags, comments and declarations, in text order.

    The group ``name`` of a match is the tag's name as written, or None for comments and
    declarations.
    """
    return _TAG_REGEX.finditer(text) if "<" in text else iter(())


def normalize_token(word: str) -> str:
    """Return the normalised form of a token; empty for white space, markup and control characters.

    Tags, white space, control and invisible characters (with ®, ™ and ©) and hyphens at line ends
    are removed, entities are decoded, and compatibility characters such as ligatures are replaced
    by plain ones (NFKC). The result for a token that is exactly a superscript citation is empty
    too.

    >>> normalize_token("p</i>53"), normalize_token("&alpha;"), normalize_token("<b>")
    ('p53', 'α', '')
    >>> normalize_token("ﬁnger"), normalize_token("phos-\\nphorylation")
    ('finger', 'phosphorylation')
    """
    if _PLAIN_WORD.fullmatch(word):
        return word
    if re.fullmatch(_CITATION, word):
        return ""
    word = _TAG_REGEX.sub("", word)
    word = re.sub(_ENTITY, lambda match: _decode_entity(match[0]), word)
    word = re.sub(r"(?<=\w)[-\u2010]\s*\n\s*(?=\w)", "", word)
    word = unicodedata.normalize("NFKC", re.sub(f"[{_INVISIBLE}{_CONTROL}]+", "", word))
    return "".join(word.split())


def transliterate_token(word: str) -> str:
    """Normalise a token and write Greek letters, dashes and quotes in ASCII: ``β1`` is ``beta1``.

    This is the spelling of the corpora that the entity recognisers are trained on. The micro sign
    is kept, because it marks a unit much more often than a receptor.

    >>> transliterate_token("β1"), transliterate_token("NF-κB")
    ('beta1', 'NF-kappaB')
    >>> transliterate_token("–"), transliterate_token("μm")
    ('-', 'μm')
    """
    return normalize_token(word).translate(_TRANSLITERATIONS)


def to_plain_text(text: str) -> str:
    """Return the normalised text on one line, with single spaces and none at its ends.

    >>> to_plain_text("TNF-&alpha;\\n  <b>receptor</b>")
    'TNF-α receptor'
    """
    normalized = normalize_text(text)
    return " ".join((text if normalized is None else normalized.text).split())


def tokenize_normalized(
    text: str, split: Callable[[str], list[str]]
) -> tuple[list[str], list[bool]] | None:
    """Tokenize the normalised text and map the tokens back to the original.

    Parameters
    ----------
    text
        Original text, which may contain markup, entities and other things to normalise.
    split
        Tokenizer of the normalised text. It returns all tokens including white space, so that they
        concatenate to its input.

    Returns
    -------
    tuple of (words, spaces), or None
        Arguments of ``Doc``: substrings that concatenate to ``text`` except for single trailing
        spaces, which are flags. A token extends from the first to the last character that its
        normalised form comes from; normalised tokens that share a character, such as a ligature,
        become one. The text between tokens becomes tokens of white space or markup. None if the
        text needs no normalising.
    """
    normalized = normalize_text(text)
    if normalized is None:
        return None
    words: list[str] = []
    spaces: list[bool] = []
    position = consumed = 0
    for token in split(normalized.text):
        token_start, position = position, position + len(token)
        if token.isspace():
            continue
        start, end = normalized.starts[token_start], normalized.ends[position - 1]
        if start < consumed:  # both tokens come from one character, as of a ligature
            words[-1] += text[consumed:end]
        else:
            _append_gap(text[consumed:start], words, spaces)
            words.append(text[start:end])
            spaces.append(False)
        consumed = max(consumed, end)
    _append_gap(text[consumed:], words, spaces)
    return words, spaces


def fold_spaces(parts: list[str]) -> tuple[list[str], list[bool]]:
    """Convert tokens that include white space to the ``words`` and ``spaces`` of a Doc.

    ``parts`` are non-empty strings that concatenate to the text, with each run of white space in
    one string. If a run after a token begins with a space, that space becomes the token's flag; the
    rest of the run, and a run at the start of the text, is a token.

    >>> fold_spaces(["a", "  ", "b", " ", "c"])
    (['a', ' ', 'b', 'c'], [True, False, True, False])
    """
    words: list[str] = []
    spaces: list[bool] = []
    for part in parts:
        if part[0] == " " and words:
            spaces[-1] = True
            part = part[1:]
        if part:
            words.append(part)
            spaces.append(False)
    return words, spaces


def _append_gap(gap: str, words: list[str], spaces: list[bool]) -> None:
    """Append the text between two tokens to ``words`` and ``spaces``, in place.

    The text is split into tags, citations, white space and other runs of characters. The first
    character of a part, if it is a space, becomes the flag of the token before it, unless there is
    none or its flag is already set; the rest of the part, if any, is appended as a token.
    """
    for part in _GAP_PART.finditer(gap):
        rest = part[0]
        if rest[0] == " " and words and not spaces[-1]:
            spaces[-1], rest = True, rest[1:]
        if rest:
            words.append(rest)
            spaces.append(False)


# Keys of ``doc.user_data``: read them with ``original_offsets`` and ``get_retokenized``.
OFFSETS_KEY = "textrank_original"  # of a word doc: [start offsets], [end offsets] of its tokens
RETOKENIZED_KEY = "own words"  # a second tokenization of the text, as plain values
MAX_SENTENCE_CHARACTERS = 2000  # longer sentences are quoted in part
_COPIED_ATTRIBUTES = (ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID, TAG, POS, MORPH, LEMMA)
_IOB_BEGIN, _IOB_INSIDE = 3, 1  # values of spaCy's ENT_IOB
_CACHE_SIZE = 1 << 14  # words; bounds the memory used on a stream of texts


@dataclass(frozen=True, eq=False)
class NormalizedWords:
    """The tokens of a Doc that are words, with their normalised spelling."""

    token_indices: Indices  # (words,) ascending token index of each word
    orths: NDArray[np.uint64]  # (words,) string-store hash of the normalised word
    is_changed: NDArray[np.bool_]  # (words,) whether normalisation changed the spelling
    strings: StringStore

    @cached_property
    def words(self) -> list[str]:
        """Return the normalised words as strings."""
        return [self.strings[orth] for orth in self.orths.tolist()]


class _WordNormalizer:
    """Function that normalises the tokens of a Doc and caches its results per word and per Doc.

    Words are identified by spaCy's hash. The result for a Doc is kept while the Doc exists (by a
    weak reference) and reused as long as its tokens stay the same.
    """

    def __init__(
        self,
        normalize: Callable[[str], str],
        fallback: Callable[[Doc], NormalizedWords | None] | None = None,
    ) -> None:
        """Store the function that normalises a token.

        ``normalize(token)`` returns the spelling of the word, or "" if the token is not a word.
        ``fallback`` is another normaliser or None; if both give the same words for a Doc, the
        result of ``fallback`` is returned, so that the two share one object.
        """
        self._normalize = normalize
        self._fallback = fallback  # its result is shared where both normalisers agree on a Doc
        self._unchanged: set[int] = set()  # hashes of words that normalisation leaves alone
        self._replacements: dict[int, str] = {}  # hash -> normalised word, empty if not a word
        self._cache: WeakKeyDictionary[Doc, tuple[Any, NormalizedWords | None]] = (
            WeakKeyDictionary()
        )

    def __call__(self, doc: Doc) -> NormalizedWords | None:
        """Return the normalised words of a Doc; None if its tokens are exactly these words.

        The cached result is returned unless the tokens have changed since.
        """
        orths: Any = doc.to_array([ORTH])
        cached_orths, normalized = self._cache.get(doc, (None, None))
        if cached_orths is None or not np.array_equal(cached_orths, orths):
            normalized = self._normalize_doc(doc, orths)
            self._cache[doc] = orths, normalized
        return normalized

    def _normalize_doc(self, doc: Doc, orths: NDArray[np.uint64]) -> NormalizedWords | None:
        """Compute the result for a Doc with the token hashes ``orths``; None if nothing changes.

        Tokens that normalise to "" are left out, others replaced. If ``fallback`` gives the same
        words, its result is returned. New spellings are added to the Doc's string store.
        """
        changed_orths = set(orths.tolist()).difference(self._unchanged)
        if not changed_orths <= self._replacements.keys():
            self._add_words(doc, changed_orths)
            changed_orths -= self._unchanged
        if not changed_orths:
            return None
        removed = [orth for orth in changed_orths if not self._replacements[orth]]
        token_indices = np.flatnonzero(~_is_member(orths, removed))
        word_orths = orths[token_indices]
        is_changed = _is_member(word_orths, changed_orths)
        add = doc.vocab.strings.add
        word_orths[is_changed] = [
            add(self._replacements[orth]) for orth in word_orths[is_changed].tolist()
        ]
        fallback = self._fallback(doc) if self._fallback is not None else None
        if fallback is not None and np.array_equal(word_orths, fallback.orths):
            return fallback
        return NormalizedWords(token_indices, word_orths, is_changed, doc.vocab.strings)

    def _add_words(self, doc: Doc, orths: set[int]) -> None:
        """Normalise and cache the words with these hashes; if the cache is full, empty it first.

        ``orths`` must be all words of the Doc that are not in ``_unchanged``, so that none of them
        is lost when the cache is emptied; the Doc's string store has their texts.
        """
        if len(self._unchanged) + len(self._replacements) > _CACHE_SIZE:
            self._unchanged.clear()
            self._replacements.clear()
        for orth in orths:
            word = doc.vocab.strings[orth]
            normalized = self._normalize(word)
            if normalized == word:
                self._unchanged.add(orth)
            else:
                self._replacements[orth] = normalized


def _is_member(orths: NDArray[np.uint64], members: Collection[int]) -> NDArray[np.bool_]:
    """Return a mask, one value per hash of ``orths``, of those that are among ``members``."""
    if len(members) > 8:
        return np.isin(orths, np.fromiter(members, dtype=np.uint64))
    mask = np.zeros(len(orths), dtype=bool)
    for orth in members:
        mask |= orths == orth
    return mask


_normalizer = _WordNormalizer(normalize_token)
_transliterator = _WordNormalizer(transliterate_token, fallback=_normalizer)


def normalize_words(doc: Doc, *, transliterate: bool = False) -> NormalizedWords | None:
    """Return which tokens of a Doc are words and how they are spelt.

    Returns None if all tokens are words in normalised spelling, which is usual. With
    ``transliterate``, Greek letters, dashes and quotes are also written in ASCII. Cached per Doc.
    """
    return _transliterator(doc) if transliterate else _normalizer(doc)


def get_word_texts(doc: Doc, normalized: NormalizedWords | None) -> list[str]:
    """Return the words of a Doc as strings, given the result of ``normalize_words`` for it.

    If ``normalized`` is None, these are all tokens. Do not change the list: it may be cached.
    """
    if normalized is not None:
        return normalized.words
    strings = doc.vocab.strings
    return [strings[orth] for orth in doc.to_array([ORTH]).tolist()]


def strip_non_words(doc: Doc, *, transliterate: bool = False) -> Doc:
    """Return a Doc of the words only, for a network, or the Doc itself if all its tokens are words.

    The copy has normalised words with the tags, sentence boundaries and tensor rows of the
    original; nothing else is copied, and a boundary at a token that is not a word is lost. With
    ``transliterate``, Greek letters, dashes and quotes are written in ASCII.
    """
    normalized = normalize_words(doc, transliterate=transliterate)
    if normalized is None:
        return doc
    words = Doc(doc.vocab, words=normalized.words, spaces=spaces_after(doc, normalized).tolist())
    if len(words):
        columns: Any = doc.to_array([SENT_START, TAG])[normalized.token_indices]
        words.from_array([SENT_START, TAG], columns)
    if doc.tensor.size:
        words.tensor = doc.tensor[normalized.token_indices]
    return words


def to_tokens(doc: Doc, normalized: NormalizedWords | None, rows: Any) -> Any:
    """Expand rows for the words of a Doc to rows for all its tokens.

    ``rows`` has one row per word; tokens that are not words get zeros. If ``normalized`` is None,
    all tokens are words and ``rows`` is returned as is.
    """
    if normalized is None:
        return rows
    token_rows = np.zeros((len(doc), *rows.shape[1:]), dtype=rows.dtype)
    token_rows[normalized.token_indices] = rows
    return token_rows


def set_space_tags(doc: Doc) -> None:
    """Set the tag of all tokens that are not words to ``_SP``, in place; words keep theirs."""
    normalized = normalize_words(doc)
    if normalized is None:
        return
    tags = np.full(len(doc), doc.vocab.strings.add("_SP"), dtype=np.uint64)
    tags[normalized.token_indices] = doc.to_array([TAG])[normalized.token_indices]
    doc.from_array([TAG], cast(Any, tags.reshape(-1, 1)))


def set_parse(doc: Doc, heads: Indices, labels: NDArray[np.uint64]) -> None:
    """Set dependency arcs of a Doc in place, given those of its words.

    ``heads`` are relative (head index minus word index, 0 for a root) and ``labels`` string-store
    hashes; both have one value per word. Other tokens are attached to the word before them. spaCy
    then takes the sentence boundaries from the arcs.
    """
    heads, labels = arcs_to_tokens(doc, heads, labels)
    rows = np.column_stack([heads.astype(np.int64).astype(np.uint64), labels])
    if len(doc):
        doc.from_array([HEAD, DEP], cast(Any, rows))


def arcs_to_tokens(
    doc: Doc, heads: Indices, labels: NDArray[np.uint64]
) -> tuple[Indices, NDArray[np.uint64]]:
    """Convert dependency arcs of the words of a Doc to arcs of all its tokens.

    Takes and returns relative heads (head index minus own index, 0 for a root) and label hashes.
    Tokens that are not words are attached to the word before them (or to the first word) with the
    label ``dep``; in a Doc without words each is a root. The given arrays themselves are returned
    if all tokens are words.
    """
    normalized = normalize_words(doc)
    if normalized is None:
        return heads, labels
    token_indices = normalized.token_indices
    attachment = _preceding_words(token_indices, len(doc))
    all_heads = np.where(attachment < 0, 0, attachment - np.arange(len(doc)))
    all_labels = np.full(len(doc), doc.vocab.strings.add("dep"), dtype=np.uint64)
    all_heads[token_indices] = token_indices[np.arange(len(token_indices)) + heads] - token_indices
    all_labels[token_indices] = labels
    return all_heads, all_labels


def _preceding_words(token_indices: Indices, length: int) -> Indices:  # (length,)
    """Return, for each of ``length`` tokens, the last word at or before it.

    Tokens before the first word get the first word; without any words all are -1.
    """
    if not len(token_indices):
        return np.full(length, -1, dtype=np.intp)
    return token_indices[
        np.maximum(np.searchsorted(token_indices, np.arange(length), side="right") - 1, 0)
    ]


def word_doc(doc: Doc, within: Sequence[tuple[int, int]] | None = None) -> Doc:
    """Return a copy of a Doc that has only its words, transliterated, or the Doc itself.

    The Doc itself is returned if all tokens are plain words, or if a corpus gave its tokens and
    parse (``user_data["dependencies"]``). ``within`` holds token ranges (start, end), usually
    sentences; the Doc itself is also returned if nothing would change within these, no span
    contains a token that is not a word and no head is one (``_is_plain_within``). The copy has the
    tags, arcs, sentence boundaries, entities, spans and user data of the original, so that features
    and predictions do not depend on the layout of the text. ``original_offsets`` and
    ``original_doc`` lead from the copy to the original.

    >>> import spacy
    >>> doc = Doc(spacy.blank("en").vocab, words=["TNF-α", "\\n\\n", "binds"])
    >>> [token.text for token in word_doc(doc)], original_offsets(word_doc(doc)[1:2])
    (['TNF-alpha', 'binds'], (9, 14))
    """
    normalized = normalize_words(doc, transliterate=True)
    if normalized is None or "dependencies" in doc.user_data:  # tokens and parse are the corpus's
        return doc
    if within is not None and _is_plain_within(doc, normalized, within):
        return doc
    token_indices = normalized.token_indices
    copy = Doc(doc.vocab, words=normalized.words, spaces=spaces_after(doc, normalized).tolist())
    columns: Any = doc.to_array([*_COPIED_ATTRIBUTES, IDX, LENGTH])
    word_columns = columns[token_indices]
    word_columns[:, 0] = _word_iob(columns[:, 0], token_indices)
    if len(copy) and doc.has_annotation("DEP"):
        arcs = _word_arcs(cast(Any, doc.to_array([HEAD, DEP])), token_indices)
        copy.from_array(
            [*_COPIED_ATTRIBUTES, HEAD, DEP], cast(Any, np.hstack([word_columns[:, :-2], arcs]))
        )
    elif len(copy):
        copy.from_array(list(_COPIED_ATTRIBUTES), word_columns[:, :-2])
        copy.from_array([SENT_START], cast(Any, _sentence_starts(doc, token_indices)))
    starts = word_columns[:, -2].astype(np.int64)
    offsets = [starts.tolist(), (starts + word_columns[:, -1].astype(np.int64)).tolist()]
    copy.user_data = {**doc.user_data, OFFSETS_KEY: offsets}
    copy.user_hooks[OFFSETS_KEY] = cast(Any, doc)
    _copy_spans(doc, copy, token_indices)
    return copy


def _is_plain_within(
    doc: Doc, normalized: NormalizedWords, bounds: Sequence[tuple[int, int]]
) -> bool:
    """Return whether the Doc can be used as it is for the sentences within ``bounds``.

    ``bounds`` are token ranges (start, end). Between the first and the last word of each, all
    tokens must be unchanged words; in the rest of it there may be white space but no markup. In the
    whole Doc, no word may have a head that is not a word, and no span may contain a token that is
    not a word.
    """
    is_changed, is_removed = np.ones((2, len(doc)), dtype=bool)
    is_changed[normalized.token_indices[~normalized.is_changed]] = False
    is_removed[normalized.token_indices] = False
    head_offsets, is_space = np.asarray(doc.to_array([HEAD, IS_SPACE])).T
    is_markup = is_removed & (is_space == 0)
    for (start, end), (first, last) in zip(bounds, trim_to_words(doc, bounds), strict=True):
        if is_changed[first:last].any() or is_markup[start:end].any():
            return False
    heads = np.arange(len(doc)) + head_offsets.astype(np.int64)
    spans = (span for group in doc.spans.values() for span in group)
    has_removed_in_span = any(is_removed[span.start : span.end].any() for span in spans)
    return not (has_removed_in_span or is_removed[heads[normalized.token_indices]].any())


def trim_to_words(doc: Doc, bounds: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Trim each token range (start, end) to its first and last word.

    Words are the tokens that ``normalize_words`` keeps. Returns one range per given one, in order.
    A range without words becomes empty, at the next word after its start or at ``len(doc)``, which
    may be beyond its former end. The ranges are returned unchanged if a corpus gave the tokens
    (``doc.user_data`` has dependencies or original offsets) or if there is nothing to normalise.

    >>> import spacy
    >>> trim_to_words(Doc(spacy.blank("en").vocab, words=["\\n", "A1", "binds", "\\n"]), [(0, 4)])
    [(1, 3)]
    """
    is_given = "dependencies" in doc.user_data or OFFSETS_KEY in doc.user_data
    normalized = None if is_given else normalize_words(doc, transliterate=True)
    if normalized is None:
        return list(bounds)
    first, end = normalized.token_indices.searchsorted(
        np.array(bounds, dtype=np.intp).reshape(-1, 2)
    ).T
    token_indices = np.append(normalized.token_indices, len(doc))
    last = np.where(end > first, token_indices[end - 1] + 1, token_indices[first])
    return list(zip(token_indices[first].tolist(), last.tolist(), strict=True))


def original_doc(doc: Doc) -> Doc:
    """Return the Doc that ``word_doc`` copied this one from, or the Doc itself."""
    return cast(Doc, doc.user_hooks.get(OFFSETS_KEY, doc))


def spaces_after(doc: Doc, normalized: NormalizedWords | None) -> NDArray[np.bool_]:
    """Return for each word, (words,), whether white space separates it from the next word.

    ``normalized`` is the result of ``normalize_words``. White space after a token that is not a
    word counts as being after the word before it; white space before the first word is ignored. The
    value of the last word says whether white space follows it.
    """
    if normalized is None:
        return cast(NDArray[np.bool_], doc.to_array([SPACY]) == 1)
    if not len(normalized.token_indices):
        return np.zeros(0, dtype=bool)
    has_space, is_space = np.asarray(doc.to_array([SPACY, IS_SPACE])).T
    return (
        np.bitwise_or.reduceat(has_space | is_space, normalized.token_indices) > 0
    )  # gaps count for the word before


def _sentence_starts(doc: Doc, token_indices: Indices) -> NDArray[np.uint64]:  # (words, 1)
    """Return the SENT_START column of the words; zeros (undecided) if the Doc has no boundaries."""
    if not doc.has_annotation("SENT_START"):
        return np.zeros((len(token_indices), 1), dtype=np.uint64)
    starts = _word_starts(doc.to_array([SENT_START]).ravel().astype(np.int64), token_indices)
    return cast(NDArray[np.uint64], starts.reshape(-1, 1))


def _word_iob(iob: NDArray[np.uint64], token_indices: Indices) -> NDArray[np.uint64]:  # (words,)
    """Return the ENT_IOB column of the words, given that of the tokens.

    If the first token of an entity is not a word, the entity begins at its first word.
    """
    entity = np.cumsum(iob == _IOB_BEGIN)[token_indices]
    word_iob = iob[token_indices]
    word_iob[(word_iob == _IOB_INSIDE) & (np.diff(entity, prepend=0) > 0)] = _IOB_BEGIN
    return word_iob


def _word_arcs(
    rows: NDArray[np.uint64], token_indices: Indices
) -> NDArray[np.uint64]:  # (words, 2)
    """Return the HEAD and DEP columns of the words, given those of the tokens.

    Heads are relative: counted in tokens in ``rows``, in words in the result. A word whose head is
    not a word gets the nearest ancestor that is a word as head; if there is none, see
    ``_word_heads``.
    """
    heads = np.arange(len(rows)) + rows[:, 0].astype(np.int64)
    word_index = np.full(len(rows), -1, dtype=np.int64)
    word_index[token_indices] = np.arange(len(token_indices))
    relative = word_index[_word_heads(heads, token_indices)] - np.arange(len(token_indices))
    return np.column_stack([relative.astype(np.uint64), rows[token_indices, 1]])


def _word_heads(
    heads: Indices, token_indices: Indices
) -> Indices:  # (tokens,), (words,) -> (words,)
    """Return the head of each word (as token index), skipping heads that are not words.

    A word whose head is not a word is attached to the nearest ancestor that is a word. Of the words
    below a root that is not a word, the first becomes a root and the others are attached to it.
    """
    is_word = np.zeros(len(heads), dtype=bool)
    is_word[token_indices] = True
    root_substitute: dict[int, int] = {}
    word_heads = heads[token_indices].copy()
    for n in np.flatnonzero(~is_word[word_heads]).tolist():
        head = int(word_heads[n])
        while not is_word[head] and heads[head] != head:
            head = int(heads[head])
        word_heads[n] = (
            head if is_word[head] else root_substitute.setdefault(head, int(token_indices[n]))
        )
    return word_heads


def _word_starts(starts: Indices, token_indices: Indices) -> Any:
    """Return SENT_START of the words, (words,); a boundary at white space moves to the next word.

    ``starts`` (tokens,) is SENT_START of the tokens: 1, 0 or -1.
    """
    word_starts = starts[token_indices]
    started_words = np.searchsorted(token_indices, np.flatnonzero(starts == 1))
    word_starts[started_words[started_words < len(token_indices)]] = 1
    return word_starts.astype(np.uint64)


def paragraph_lengths(doc: Doc, normalized: NormalizedWords | None) -> list[int]:
    """Return the number of words of each paragraph of a Doc.

    A paragraph begins at a word that begins a sentence and has white space or markup before it; no
    entity extends across this boundary. The lengths add up to the number of words; the first is 0
    if the Doc begins with white space. A Doc without such boundaries is one paragraph.
    """
    if normalized is None or not doc.has_annotation("SENT_START"):
        return [len(doc) if normalized is None else len(normalized.token_indices)]
    is_start = (
        _word_starts(doc.to_array([SENT_START]).ravel().astype(np.int64), normalized.token_indices)
        == 1
    )
    has_gap_before = np.diff(normalized.token_indices, prepend=-1) > 1
    ends = np.append(np.flatnonzero(is_start & has_gap_before), len(normalized.token_indices))
    return np.diff(ends, prepend=0).tolist()


def _copy_spans(doc: Doc, copy: Doc, token_indices: Indices) -> None:
    """Copy the span groups and the token lists of discontinuous entities to a word doc, in place.

    ``token_indices`` has the token of each word. Tokens that are not words are left out. Spans
    without words are dropped; a token list without words becomes []. ``user_data["pieces"]`` (name
    of the entity -> token indices) of the copy is replaced only if ``doc`` has pieces.
    """
    for key, group in doc.spans.items():
        copy.spans[key] = _map_spans(list(group), copy, token_indices)
    if pieces := doc.user_data.get("pieces"):
        word_index = {token: n for n, token in enumerate(token_indices.tolist())}
        copy.user_data["pieces"] = {
            name: [word_index[i] for i in tokens if i in word_index]
            for name, tokens in pieces.items()
        }


def _map_spans(spans: Sequence[Span], copy: Doc, token_indices: Indices) -> list[Span]:
    """Return copies of the spans in a word doc, in order; spans without words are dropped.

    ``token_indices`` has the token of each word. Label, kb_id and id are kept.
    """
    bounds = np.array([(span.start, span.end) for span in spans], dtype=np.intp)
    word_bounds = np.searchsorted(token_indices, bounds).reshape(-1, 2).tolist()
    return [
        Span(copy, first, last, label=span.label, kb_id=span.kb_id, span_id=span.id)
        for span, (first, last) in zip(spans, word_bounds, strict=True)
        if first < last
    ]


def original_offsets(span: Span) -> tuple[int, int]:
    """Return the character offsets (start, end) of a span in the user's text.

    For a span of a ``word_doc`` copy these are the offsets in the original. For other spans, and
    for an empty span, they are the span's own offsets.
    """
    offsets: Sequence[Sequence[int]] | None = span.doc.user_data.get(OFFSETS_KEY)
    if offsets is None or not len(span):
        return span.start_char, span.end_char
    return offsets[0][span.start], offsets[1][span.end - 1]


def store_retokenized(doc: Doc, retokenized: Doc) -> None:
    """Store another tokenization of the same text, with its annotations, in ``doc.user_data``.

    ``retokenized`` must be parsed; its words, tags, arcs, entities (``spans["entities"]``) and
    discontinuous entities (``pieces``) are stored as plain values, so that the Doc can be
    serialised: ``words``, ``spaces``, ``tags``, ``heads`` (token indices) and ``deps`` with one
    entry per token, ``names`` as [start, end, label, id], and ``pieces``. A tokenization stored
    earlier is replaced.
    """
    spans = retokenized.spans.get("entities", ())
    doc.user_data[RETOKENIZED_KEY] = {
        "words": [token.text for token in retokenized],
        "spaces": [bool(token.whitespace_) for token in retokenized],
        "tags": [token.tag_ for token in retokenized],
        "heads": [token.head.i for token in retokenized],
        "deps": [token.dep_ for token in retokenized],
        "names": [[span.start, span.end, span.label_, span.id_] for span in spans],
        "pieces": retokenized.user_data.get("pieces", {}),
    }


def get_retokenized(doc: Doc) -> Doc | None:
    """Rebuild the Doc that ``store_retokenized`` stored; None if nothing was stored.

    Each call builds a new Doc, with the vocabulary and the document id of ``doc``.

    >>> import spacy
    >>> vocab = spacy.blank("en").vocab
    >>> doc = Doc(vocab, words=["Grb2", "-", "binding"], spaces=[False] * 3)
    >>> other = Doc(vocab, words=["Grb2-binding"], spaces=[False], heads=[0], deps=["ROOT"])
    >>> store_retokenized(doc, other)
    >>> [token.text for token in get_retokenized(doc)]
    ['Grb2-binding']
    """
    stored: dict[str, Any] | None = doc.user_data.get(RETOKENIZED_KEY)
    if stored is None:
        return None
    columns: Any = {key: stored[key] for key in ("words", "spaces", "tags", "heads", "deps")}
    retokenized = Doc(doc.vocab, **columns)
    retokenized.spans["entities"] = [
        Span(retokenized, start, end, label=label, span_id=name)
        for start, end, label, name in stored["names"]
    ]
    retokenized.user_data |= {
        "document": doc.user_data.get("document", ""),
        "pieces": stored["pieces"],
    }
    return retokenized


@dataclass(frozen=True, eq=False)
class SourceText:
    """The user's text of a Doc, with lookup of the text and sentence of a span.

    ``doc.text`` and ``span.sent`` scan the whole Doc on every call, which is quadratic for the
    spans of a long document; here text and sentence starts are computed once.
    """

    text: str
    starts: Sequence[int]  # first token of each sentence, then the length, of the spans' Doc

    @classmethod
    def from_doc(cls, doc: Doc, span_doc: Doc) -> SourceText:
        """Return the source text of a Doc, for spans of ``span_doc``.

        ``span_doc`` is ``doc`` itself or its ``word_doc``.
        """
        return cls(doc.text, sentence_starts(span_doc).tolist())

    def __call__(self, span: Span) -> str:
        """Return the text of a span as the user wrote it."""
        return self.text[slice(*original_offsets(span))]

    def sentence(self, span: Span) -> str:
        """Return the sentence of a span as the user wrote it.

        For a span across boundaries these are all sentences that it touches. If they have more than
        ``MAX_SENTENCE_CHARACTERS`` characters, only the part around the span is returned; otherwise
        a list of ten thousand names would be quoted in full for each of them.
        """
        first, last = bisect_right(self.starts, span.start) - 1, bisect_left(self.starts, span.end)
        start, end = original_offsets(span.doc[self.starts[first] : self.starts[last]])
        if end - start > MAX_SENTENCE_CHARACTERS:
            start, end = self._crop_to_span(original_offsets(span), start, end)
        return self.text[start:end]

    def _crop_to_span(self, offsets: tuple[int, int], start: int, end: int) -> tuple[int, int]:
        """Return the part of the range ``start:end`` around a span, cut at spaces outside the span.

        ``offsets`` are the span's characters (start, end). The part has about
        ``MAX_SENTENCE_CHARACTERS``, half of the rest on either side of the span, or the span's
        length if that is longer.
        """
        margin = max(MAX_SENTENCE_CHARACTERS - (offsets[1] - offsets[0]), 0) // 2
        if offsets[0] - margin > start:
            start = offsets[0] - margin
            start = max(start, 1 + self.text.find(" ", start, offsets[0]))
        if offsets[1] + margin < end:
            end = offsets[1] + margin
            blank = self.text.rfind(" ", offsets[1], end)
            end = end if blank < 0 else blank
        return start, end
