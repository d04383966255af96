"""Normalise raw text: markup, character entities, invisible characters, ligatures, hyphenation.

The user's text is never changed, and all character offsets refer to it. Where it contains markup or
the like, tokens are those of the *normalised text* (``TNF-&alpha;`` is ``TNF - α``,
``p<sub>53</sub>`` is ``p53``), mapped back by ``tokenize_normalized``. White space and tags become
tokens too, since a Doc must cover its text; normalised, they are empty (``normalize_token``), and
networks and representations see a Doc without them (``textrank.language.alignment``).
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

    Markup is removed (a block tag becomes a blank), entities are decoded, invisible characters,
    superscript citations and line-end hyphenation are removed, control characters become blanks,
    and superscript or subscript characters plain ones. White space is kept as it is, since it never
    belongs to a token. Linear in the length of the text.

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
    hyphenation. A superscript number is removed as a citation unless it follows a number
    (``10<sup>6</sup>``).
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

    All alternatives must be listed here: the match of another one raises StopIteration.
    """
    kinds = ("cited", "tag", "entity", "gone", "control", "wrap", "script")
    return next(kind for kind in kinds if match[kind] is not None)


def _join_hyphenated(
    match: re.Match[str], text: str, vocabulary: frozenset[str]
) -> tuple[str, int]:
    """Return the replacement of a hyphen at a line end and the offset at which its source ends.

    ``match`` covers the hyphen and the line break. Both are dropped if the joined word is in
    ``vocabulary`` (the lower-case words of ``text``); otherwise only the line break is dropped. At
    most 40 characters on either side are joined.
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
    """Return the character of an HTML entity that is escaped once or twice; unknown ones unchanged.

    ``entity`` is a match of ``_ENTITY``, from "&" to ";"; of an unknown one escaped twice, one
    escape is removed. White space and unprintable characters become a blank.
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
    """Iterate over the matches of known markup tags, comments and declarations, in text order.

    The group ``name`` of a match is the tag's name as written, or None for comments and
    declarations.
    """
    return _TAG_REGEX.finditer(text) if "<" in text else iter(())


def normalize_token(word: str) -> str:
    """Return the normalised form of a token; empty for white space, markup and control characters.

    Tags, white space, invisible characters and hyphens at line ends are removed, entities decoded
    and compatibility characters such as ligatures written plainly (NFKC). A superscript citation is
    empty too.

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
        Original text, with markup and the like.
    split
        Tokenizer of the normalised text. It returns all tokens including white space, so that they
        concatenate to its input.

    Returns
    -------
    tuple of (words, spaces), or None
        Arguments of ``Doc``: substrings that concatenate to ``text``, single trailing spaces as
        flags. A token starts and ends with the characters that its normalised form comes from; gaps
        become tokens of white space or markup. None if the text needs no normalising.
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
    one string. The first character of a run after a token, if it is a blank, becomes the token's
    flag; the rest of the run, and a run at the start of the text, stays a token.

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

    It is split into tags, citations and white space; a single space becomes the flag of the token
    before it.
    """
    for part in _GAP_PART.finditer(gap):
        rest = part[0]
        if rest[0] == " " and words and not spaces[-1]:
            spaces[-1], rest = True, rest[1:]
        if rest:
            words.append(rest)
            spaces.append(False)
