"""Text as it comes: markup, entities, odd characters and white space read as a person reads them.

The user's text stays what it is, and every offset counts in it. Where a text has markup or the
like, its tokens are those of its *reading* (``TNF-&alpha;`` is ``TNF - α``, ``p<sub>53</sub>`` is
``p53``); white space and tags are tokens too, as spaCy wants it, but their reading is empty, and
networks and representations are shown a Doc without them.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from html.entities import html5
from typing import NamedTuple

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
_CELLS = "td th col br img link meta"  # these end no sentence
_NAMES = "|".join(sorted((re.escape(n) for n in f"{_INLINE} {_BLOCK}".split()), key=len)[::-1])
# Every repetition is bounded, so a text takes linear time whatever it holds.
_ATTRIBUTE = r"""\s{1,9}[\w:-]{1,40}(?:=(?:"[^"<>]{0,400}"|'[^'<>]{0,400}'|[^\s"'<>]{1,400}))"""
TAG = (
    rf"</?(?:[a-z]{{2,5}}:)?(?P<name>{_NAMES})(?:{_ATTRIBUTE}){{0,20}}\s{{0,9}}/?>"
    r"|<!--[^<>]{0,4000}-->|<\?[^<>]{0,400}\?>|<!DOCTYPE[^<>]{0,400}>"
)
_ENTITY = r"&(?:amp;)?(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_CITED = r"<sup>\s{0,3}\d{1,3}(?:\s{0,3}[,–-]\s{0,3}\d{1,3}){0,20}\s{0,3}</sup>"
_GONE = "\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff®™©"
_CONTROL = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_SCRIPTS = "²³¹⁰-₟"
_HANGING = "and|or|to|but|nor|versus|vs"  # after a hyphen that stands for a word to come
_ODD = re.compile(
    rf"""(?P<cited>{_CITED}) | (?P<tag>{TAG}) | (?P<entity>{_ENTITY})
    | (?P<gone>[{_GONE}](?:[ \t]{{0,9}}\r?\n[ \t]{{0,40}}(?=\w))?)
    | (?P<control>[{_CONTROL}])
    | (?P<wrap>(?<=\w)[-\u2010][ \t]{{0,9}}\r?\n[ \t]{{0,40}}(?!(?:{_HANGING})\b)(?=\w))
    | (?P<script>[{_SCRIPTS}])""",
    re.VERBOSE | re.IGNORECASE,
)
# What each of these begins with; a text without it is looked through at once.
_HINT = re.compile(rf"[<&{_GONE}{_CONTROL}{_SCRIPTS}]")
_WRAP_HINT = re.compile(r"[-\u2010][ \t]{0,9}\r?\n")
_TAG = re.compile(TAG, re.IGNORECASE)
_JUNK = re.compile(rf"(?:{_CITED})|(?:{TAG})|\s+|[^\s<]+|<", re.IGNORECASE)
_PLAIN = re.compile(r"[!-%'-;=?-~]+")  # printable, without "&", "<" and ">"
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
_SPELT = {**_DASHES, **_QUOTES, **_GREEK}


class NormalizedText(NamedTuple):
    """The reading of a text, and for each of its characters where that stands in the original."""

    text: str
    starts: list[int]
    ends: list[int]


def normalize_text(text: str) -> NormalizedText | None:
    """The reading of a text with its alignment; None where it is the text itself.

    White space stays as it is, for it is no part of any token. One pass over the text.

    >>> normalize_text("<b>p<sub>53</sub></b> &amp; TNF-&alpha;").text
    'p53 & TNF-α'
    >>> normalize_text("nothing odd") is None
    True
    """
    hinted = _HINT.search(text) or _WRAP_HINT.search(text)
    if not hinted or _ODD.search(text) is None:
        return None
    words: frozenset[str] = frozenset()
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    last = 0
    for found in _ODD.finditer(text):
        first, end = found.span()
        if found["wrap"] and not words:
            words = frozenset(re.findall(r"\w+", text.lower()))
        read, end = _read_odd(found, text, words, end)
        parts += (text[last:first], read)
        starts += [*range(last, first), *([first] * len(read))]
        ends += [*range(last + 1, first + 1), *([end] * len(read))]
        last = found.end()
    parts.append(text[last:])
    starts += range(last, len(text))
    ends += range(last + 1, len(text) + 1)
    return NormalizedText("".join(parts), starts, ends)


def _read_odd(found: re.Match[str], text: str, words: frozenset[str], end: int) -> tuple[str, int]:
    """What a person reads there, and where in the original that ends."""
    match _kind(found):
        case "cited":
            before = re.search(r"\S*$", text[max(0, found.start() - 20) : found.start()])
            number = before is None or re.fullmatch(r"\W*[\d.,]*", before[0])  # 10<sup>6</sup>
            return ("".join(found[0][5:-6].split()) if number else ""), end
        case "tag":
            return (" " if is_block_tag(found[0]) else ""), end
        case "entity":
            return _entity(found[0]), end
        case "gone":
            return "", end
        case "control":
            return " ", end
        case "wrap":
            return _wrapped(found, text, words)
    return unicodedata.normalize("NFKC", found[0]), end


def _kind(found: re.Match[str]) -> str:
    kinds = ("cited", "tag", "entity", "gone", "control", "wrap", "script")
    return next(kind for kind in kinds if found[kind] is not None)


def _wrapped(found: re.Match[str], text: str, words: frozenset[str]) -> tuple[str, int]:
    """A hyphen at the end of a line: the printer's, if the text has the joined word, or its own."""
    around = text[max(0, found.start() - 40) : found.end() + 40]
    at = found.start() - max(0, found.start() - 40)
    before, after = re.search(r"\w*$", around[:at]), re.match(r"\w*", around[at + len(found[0]) :])
    joined = (before[0] if before else "") + (after[0] if after else "")
    return ("", found.end()) if joined.lower() in words else ("-", found.start() + 1)


def _entity(name: str) -> str:
    """The character of an entity, escaped once or twice; what is no entity stays."""
    name = name.replace("&amp;", "&", 1) if name != "&amp;" else name
    if name[1] != "#" and name[1:] not in html5:
        return name
    read = html.unescape(name)
    return " " if read.isspace() or not read.isprintable() else read


def is_block_tag(tag: str) -> bool:
    """Whether a tag sets off what follows, as ``<p>`` does and ``<b>`` does not.

    >>> is_block_tag("</td>"), is_block_tag("<sub>")
    (True, False)
    """
    found = _TAG.fullmatch(tag)
    name = (found["name"] or "").lower() if found else ""
    return name in _BLOCK_NAMES


_BLOCK_NAMES = frozenset(_BLOCK.split())
_PARAGRAPHS = _BLOCK_NAMES - frozenset(_CELLS.split())


def is_paragraph_tag(tag: str) -> bool:
    """Whether a tag ends a sentence: a paragraph does, a cell of a table does not."""
    found = _TAG.fullmatch(tag)
    name = (found["name"] or "").lower() if found else ""
    return name in _PARAGRAPHS


def find_tags(text: str) -> Iterator[re.Match[str]]:
    """The tags of a text."""
    return _TAG.finditer(text) if "<" in text else iter(())


def normalize_token(word: str) -> str:
    """A token as a person reads it; empty for white space, markup and control characters.

    >>> normalize_token("p</i>53"), normalize_token("&alpha;"), normalize_token("<b>"), normalize_token("ﬁnger"), normalize_token("phos-\\nphorylation")
    ('p53', 'α', '', 'finger', 'phosphorylation')
    """
    if _PLAIN.fullmatch(word):
        return word
    if re.fullmatch(_CITED, word):
        return ""
    word = _TAG.sub("", word)
    word = re.sub(_ENTITY, lambda found: _entity(found[0]), word)
    word = re.sub(r"(?<=\w)[-\u2010]\s*\n\s*(?=\w)", "", word)
    word = unicodedata.normalize("NFKC", re.sub(f"[{_GONE}{_CONTROL}]+", "", word))
    return "".join(word.split())


def transliterate_token(word: str) -> str:
    """A token in plain letters, as the corpora of names write them: ``β1`` is ``beta1``.

    Micro keeps its sign, for what it stands before is a unit far oftener than a receptor.

    >>> transliterate_token("β1"), transliterate_token("NF-κB"), transliterate_token("–"), transliterate_token("μm")
    ('beta1', 'NF-kappaB', '-', 'μm')
    """
    return normalize_token(word).translate(_SPELT)


def to_plain_text(text: str) -> str:
    """A text as a person reads it, on one line with single spaces.

    >>> to_plain_text("TNF-&alpha;\\n  <b>receptor</b>")
    'TNF-α receptor'
    """
    reading = normalize_text(text)
    return " ".join((text if reading is None else reading.text).split())


def tokenize_normalized(
    text: str, split: Callable[[str], list[str]]
) -> tuple[list[str], list[bool]] | None:
    """Tokens of a text that has something odd, with their spaces; None where nothing is odd.

    ``split`` makes tokens of the reading, white space among them. A token of the original begins
    and ends with the characters that its reading comes from; what lies between two tokens is white
    space or markup.
    """
    reading = normalize_text(text)
    if reading is None:
        return None
    words: list[str] = []
    spaces: list[bool] = []
    at = last = 0
    for token in split(reading.text):
        first, at = at, at + len(token)
        if token.isspace():
            continue
        start, end = reading.starts[first], reading.ends[at - 1]
        if start < last:  # two tokens of one character
            words[-1] += text[last:end]
        else:
            _fill(text[last:start], words, spaces)
            words.append(text[start:end])
            spaces.append(False)
        last = max(last, end)
    _fill(text[last:], words, spaces)
    return words, spaces


def fold_spaces(tokens: list[str]) -> tuple[list[str], list[bool]]:
    """Tokens without the single spaces that follow them, and whether one does.

    >>> fold_spaces(["a", "  ", "b", " ", "c"])
    (['a', ' ', 'b', 'c'], [True, False, True, False])
    """
    words: list[str] = []
    spaces: list[bool] = []
    for token in tokens:
        if token[0] == " " and words:
            spaces[-1] = True
            token = token[1:]
        if token:
            words.append(token)
            spaces.append(False)
    return words, spaces


def _fill(gap: str, words: list[str], spaces: list[bool]) -> None:
    """Adds what stands between two tokens; a single space belongs to the token before it."""
    for piece in _JUNK.finditer(gap):
        rest = piece[0]
        if rest[0] == " " and words and not spaces[-1]:
            spaces[-1], rest = True, rest[1:]
        if rest:
            words.append(rest)
            spaces.append(False)
