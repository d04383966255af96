"""Tokens and sentences of biomedical English, by rules; needs no parse.

``BioTokenizer`` is the tokenizer of the shipped pipeline: it splits at hyphens and slashes and
keeps numbers and ions whole. ``tokenize_chunk`` is its rule, for text without white space.

``SentenceSplitter`` is the spaCy component (factory ``textrank_sentences``). It runs before the
parser and the entity recognisers, so that all of them see the same sentence boundaries whether or
not a parser runs. Rules decide at three kinds of places: after a full stop (or ``!``, ``?``), at a
layout break (blank line, paragraph tag, new list item, table row or heading), and before a
sentence opener such as "This" where the full stop is missing. Time is linear in the text.

Texts of any length are processed in bounded time and memory: ``tokenize`` bounds the time of
spaCy's tokenizer on text without blanks; ``pipe_long`` and ``process_in_chunks`` run components
that need much memory on chunks of a long Doc and join the results; ``VocabZone`` frees the strings
that spaCy's vocabulary collects from a stream of texts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from spacy.attrs import IDX, IS_SPACE, ORTH, SENT_START
from spacy.language import Language
from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]  # compiled
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from textrank.features import Indices
from textrank.language.normalization import (
    find_tags,
    fold_spaces,
    is_paragraph_tag,
    normalize_words,
    tokenize_normalized,
)

_STOPS = frozenset([".", "!", "?", "...", "…"])
_CLOSERS = frozenset([")", "]", "}", '"', "'", "’", "”", "''"])
_OPENERS = frozenset(["(", "[", "{", '"', "'", "‘", "“", "``"])
# Words that, capitalised, begin a sentence; hardly ever part of a name.
_FIRST_WORDS = (
    "A Additionally After All Also Although An And Another As At Because Both But By Consequently "
    "Conversely Despite Due During Each Finally First For From Further Furthermore Given Hence "
    "Here However If Importantly In Indeed Interestingly It Its Like Moreover More Most Neither "
    "Nevertheless No Notably On Once One Only Other Our Over Previous Second Several Similarly "
    "Since So Some Such Surprisingly Taken That The Their Then There Thereby Therefore These They "
    "Third This Those Three Through Thus To Together Two Under Unlike Upon Using We What When "
    "Whereas Whether Which While With Within Without Yet"
)
_SENTENCE_OPENERS = frozenset(_FIRST_WORDS.split())
# Words that begin a sentence even if the full stop before them is missing, provided a lower-case
# word follows: "... an epithelial barrier This was accompanied by ...".
_SURE_FIRST_WORDS = (
    "Additionally Although As Because Both Consequently Finally Furthermore Hence Here However It "
    "Moreover Our Since Such The Their There Therefore These They This Thus To We When Whereas "
    "While"
)
_OPENERS_WITHOUT_STOP = frozenset(_SURE_FIRST_WORDS.split())
# End of a line whose sentence continues on the next line: a word or sign that needs a complement.
_UNFINISHED_LINE = re.compile(
    r"(?:[,;/(\[{=<>+&–—-]|\b(?:a|an|the|of|in|on|at|by|to|for|from|with|without|within|into|onto|and|"
    r"or|but|nor|that|which|who|whose|than|as|is|are|was|were|be|been|has|have|had|not|via|its|"
    r"their|our|this|these|those|both|either|between|among|against|during|after|before|through|"
    r"under|over|upon|toward|towards|if|whether|when|where|while|because|can|could|may|might|"
    r"must|should|will|would|do|does|did|no|any|each|such|other|also|et|al\.|e\.g\.|i\.e\.|cf\.|"
    r"vs\.?|Fig\.|binds?|bound|interacts?|inhibits?|activates?|phosphorylates?|regulates?|"
    r"induces?|represses|promotes?|blocks?|stimulates?|associates?|recruits?|targets?|"
    r"contains?|encodes?|requires?|involves?|shows?|showed|suggests?|human|mouse|rat|murine))$"
)
_LIST_ITEM = re.compile(
    r"[ \t]*(?:(?P<bullet>[•‣◦▪●∙*·])|[-–—]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])[ \t]+\S"
)
_LINE_TAIL_CHARACTERS = 40  # enough of a line's end to contain its last word
_MIN_PROSE_WIDTH = 40  # characters; several lines that are all shorter form a list, not prose
_MAX_HEADING_CHARACTERS = 300
_MAX_BRACKET_WORDS = 60  # a bracket that does not close within so many words is ignored
_LINE_END = re.compile(r"\r\n?|[\n\x0b\x0c\x85\u2028\u2029]")


def find_sentence_starts(doc: Doc) -> list[int]:
    """Return the indices of the tokens that begin a sentence, in text order.

    White space and markup never begin a sentence. Boundaries that the Doc already has are ignored.

    >>> import spacy
    >>> words = ["p53", "binds", ".", "\\n", "MDM2", "does", "too", "."]
    >>> find_sentence_starts(Doc(spacy.blank("en").vocab, words=words))
    [0, 4]
    """
    return [token for token, starts in decide_boundaries(doc).items() if starts]


def decide_boundaries(doc: Doc) -> dict[int, bool]:
    """Map each token at which the rules can decide to whether a sentence begins there.

    These tokens are the first word, every word after a full stop (or ! or ?), every word that
    follows a layout break, and openers such as "This" where the full stop is missing. Keys are
    token indices in text order; tokens that are absent are undecided. Boundaries that the Doc
    already has are ignored.
    """
    words = _WordSequence.from_doc(doc)
    is_start = {words.token_indices[0]: True} if words.words else {}
    sentence_start = 0
    for word_index in words.candidate_boundaries():
        is_start[words.token_indices[word_index]] = words.is_boundary(sentence_start, word_index)
        sentence_start = word_index if is_start[words.token_indices[word_index]] else sentence_start
    return is_start


@dataclass(frozen=True, eq=False)
class _WordSequence:
    """Words of a Doc (tokens without white space and markup) with their position in the text.

    Arguments ``first``, ``n`` and ``stop`` of the methods are indices into ``words``, not tokens.
    """

    doc: Doc
    token_indices: Sequence[int]  # token index of each word
    words: Sequence[str]
    token_offsets: Sequence[int]  # character offset of each token, white space included
    layout_breaks: frozenset[int]  # words before which the layout ends a sentence

    @classmethod
    def from_doc(cls, doc: Doc) -> _WordSequence:
        """Collect the words of a Doc, with normalised spelling, and its layout breaks.

        Layout breaks are sought only between words with white space or markup tokens between them;
        a Doc whose tokens are all words has none.
        """
        normalized = normalize_words(doc)
        orths, token_offsets = doc.to_array([ORTH, IDX]).T.tolist() if len(doc) else ([], [])
        if normalized is None:
            strings = doc.vocab.strings
            token_indices: Sequence[int] = range(len(doc))
            return cls(
                doc, token_indices, [strings[orth] for orth in orths], token_offsets, frozenset()
            )
        layout_breaks = frozenset(_find_layout_breaks(doc, normalized.token_indices, token_offsets))
        return cls(
            doc, normalized.token_indices.tolist(), normalized.words, token_offsets, layout_breaks
        )

    def candidate_boundaries(self) -> Iterator[int]:
        """Yield, in order, the index of each word at which a sentence may begin.

        The first word of the Doc is left out. These follow a layout break, a word that ends with a
        full stop or is one of ``_STOPS`` (closing brackets and quotes may be between), or are sure
        first words (``_begins_without_stop``).
        """
        after_stop = False  # the word before is a full stop, or closes a bracket or quote after one
        for n, word in enumerate(self.words):
            if n and (after_stop or n in self.layout_breaks or self._begins_without_stop(n)):
                yield n
            after_stop = word[-1] == "." or word in _STOPS or (after_stop and word in _CLOSERS)

    def is_boundary(self, first: int, n: int) -> bool:
        """Return whether the sentence that began at word ``first`` ends before word ``n``.

        ``n`` must be one of ``candidate_boundaries``. A layout break always ends a sentence, as
        does an opener such as "This" (``_begins_without_stop``). A full stop does not without a gap
        after it or inside brackets; otherwise ``_stop_ends_sentence`` decides.
        """
        if n in self.layout_breaks or self._begins_without_stop(n):
            return True
        if not self._has_gap_before(n) or self._is_inside_brackets(first, n):
            return False
        stop = n - 1
        while stop > first and self.words[stop] in _CLOSERS:
            stop -= 1
        return self._stop_ends_sentence(first, stop, n)

    def _begins_without_stop(self, n: int) -> bool:
        """Return whether word ``n`` begins a sentence although no full stop precedes it.

        ``n`` is at least 1. It does if it is a sure first word such as "This", a lower-case word
        follows, and the word before it is two or more letters and nothing else, no sentence opener,
        and none that needs a complement (``_UNFINISHED_LINE``). False for the last word.
        """
        if self.words[n] not in _OPENERS_WITHOUT_STOP or n + 1 == len(self.words):
            return False
        before, following = self.words[n - 1], self.words[n + 1]
        ended = len(before) > 1 and before.isalpha() and before not in _SENTENCE_OPENERS
        goes_on = following.isalpha() and following.islower()
        return ended and goes_on and not _UNFINISHED_LINE.search(before)

    def _stop_ends_sentence(self, first: int, stop: int, n: int) -> bool:
        """Return whether the full stop at word ``stop`` ends the sentence before word ``n``.

        ``first`` is the first word of the sentence; word ``n`` must exist. The next word is the
        first from ``n`` on that is not an opening bracket or quote. A number in square brackets is
        a citation: no end. After an abbreviation with its full stop ("Fig.") it is an end only if
        the next word is in ``_SENTENCE_OPENERS`` and the word before the abbreviation is not ".";
        after an enumerator that is the whole sentence ("1.", "a.", "IV.") it is none. Otherwise it
        is an end if the next word can begin a sentence.
        """
        word, opener = self.words[stop], self.words[n]
        while self.words[n] in _OPENERS and n + 1 < len(self.words):
            n += 1
        following = self.words[n]
        if opener == "[" and following.isdigit():
            return False  # a citation after the stop
        if len(word) > 1 and word not in _STOPS:  # an abbreviation with its stop
            return following in _SENTENCE_OPENERS and self.words[stop - 1] != "."
        if stop - first == 1 and re.fullmatch(r"\d{1,2}|[A-Za-z]|[IVX]{1,4}", self.words[first]):
            return False  # "1." numbers what follows
        return self._can_begin_sentence(n)

    def _can_begin_sentence(self, n: int) -> bool:
        """Return whether word ``n`` can be the first of a sentence.

        A plain lower-case word cannot, nor can closing punctuation. Not plain are words with
        capitals, digits or non-ASCII letters, words before a hyphen, and enumerators, that is, one
        or two characters before ")", as in "(a)".
        """
        word = self.words[n]
        if word in _CLOSERS or word[0] in ",;:/=<>%)]}":
            return False
        if not word[0].islower():
            return True
        following = self.words[n + 1] if n + 1 < len(self.words) else ""
        if following == ")" and len(word) <= 2:
            return True  # "(a) shows ..."
        return not word.isalpha() or not word.islower() or following == "-" or not word.isascii()

    def _has_gap_before(self, n: int) -> bool:
        """Return whether white space or markup separates word ``n`` from the word before it."""
        token, before = self.token_indices[n], self.token_indices[n - 1]
        return token - before > 1 or bool(self.doc[before].whitespace_)

    def _is_inside_brackets(self, first: int, n: int) -> bool:
        """Return whether a bracket opened before word ``n`` closes at or soon after it.

        Read are the words of the sentence, which begins at ``first``, of the last
        ``_MAX_BRACKET_WORDS`` before ``n``, and as many from ``n`` on. All brackets open at ``n``,
        and those opened later, must close there. A closing bracket without an opening one before
        ``n`` is ignored. Round and square brackets are not told apart.
        """
        depth = 0
        for word in self.words[max(first, n - _MAX_BRACKET_WORDS) : n]:
            depth = depth + 1 if word in "([" else max(depth - 1, 0) if word in ")]" else depth
        if not depth:
            return False
        for word in self.words[n : n + _MAX_BRACKET_WORDS]:
            if word in "([":
                depth += 1
            elif word in ")]":
                depth -= 1
                if not depth:
                    return True
        return False


def _find_layout_breaks(
    doc: Doc, token_indices: Indices, token_offsets: Sequence[int]
) -> Iterator[int]:
    """Yield the index of each word before which the layout ends a sentence.

    ``token_indices`` are the tokens of the words, ``token_offsets`` the character offsets of all
    tokens. A blank line, a form feed or a paragraph tag always ends a sentence; a single line end
    does if the line of the word below begins a new sentence by its layout (``_LineStarts``).
    """
    text = doc.text
    gaps = np.flatnonzero(np.diff(token_indices) > 1) + 1
    lines: _LineStarts | None = None
    for n, before, token in np.column_stack(
        [gaps, token_indices[gaps - 1], token_indices[gaps]]
    ).tolist():
        start = token_offsets[before] + len(doc[before])
        gap = text[start : token_offsets[token]]
        line_ends = len(_LINE_END.findall(gap))
        if (
            line_ends > 1
            or any(is_paragraph_tag(tag[0]) for tag in find_tags(gap))
            or "\x0c" in gap
        ):
            yield n
        elif line_ends == 1:
            lines = lines or _LineStarts.from_text(text)
            if lines.begins_sentence(token_offsets[token]):
                yield n


@dataclass(frozen=True, eq=False)
class _LineStarts:
    """Lines of a text, and which of them begin a new sentence by their layout alone."""

    starts: Sequence[int]  # character offset of each line
    new_sentence_lines: frozenset[int]  # line numbers, from 0

    @classmethod
    def from_text(cls, text: str) -> _LineStarts:
        """Split a text into lines and analyse their layout.

        Lines end at any of ``_LINE_END``, which has more characters than newlines.
        """
        ends = [match.span() for match in _LINE_END.finditer(text)]
        starts = [0, *(end for _, end in ends)]
        lines = [text[a:b] for a, (b, _) in zip(starts, [*ends, (len(text), 0)], strict=True)]
        return cls(starts, frozenset(_find_new_lines(lines)))

    def begins_sentence(self, offset: int) -> bool:
        """Return whether the line that contains character ``offset`` begins a new sentence."""
        return bisect_right(self.starts, offset) - 1 in self.new_sentence_lines


def _find_new_lines(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers (from 0) of the lines that do not continue the sentence of the line before.

    ``lines`` are all lines of a text. Blank lines separate blocks; the first line of a block is not
    reported, since a blank line ends a sentence anyway. Within a block these are the rows of a
    table, list items, and lines below an intended break (``_starts_sentence``).
    """
    block_start = 0
    while block_start < len(lines):
        block_end = block_start
        while block_end < len(lines) and lines[block_end].strip():
            block_end += 1
        yield from (block_start + n for n in _find_new_lines_in_block(lines[block_start:block_end]))
        block_start = block_end + 1


def _find_new_lines_in_block(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers (from 0) of the lines of a block that begin a new sentence.

    The first line is never reported. ``lines`` are consecutive lines without blank ones. In a table
    (``_is_table``) every line begins one; elsewhere list items, sentence openers and capitalised
    lines below an intended break do (``_starts_sentence``) and, in a block of more than two lines,
    all narrower than ``_MIN_PROSE_WIDTH``, also capitalised or numbered lines after a finished one
    (``_is_list_entry``).
    """
    if len(lines) < 2:
        return
    width = max(len(line.expandtabs()) for line in lines)
    is_hyphenated = any(line.rstrip().endswith("-") for line in lines[:-1])
    is_table, is_list = _is_table(lines), len(lines) > 2 and width < _MIN_PROSE_WIDTH
    above_begins_sentence = True
    for n, (above, line) in enumerate(pairwise(lines), 1):
        is_new = is_table or _starts_sentence(
            above.rstrip(), line, width, above_begins_sentence, is_hyphenated
        )
        is_new = is_new or (is_list and _is_list_entry(above.rstrip(), line))
        if is_new:
            yield n
        above_begins_sentence = is_new or above.rstrip()[-1:] in ".!?"


def _is_table(lines: Sequence[str]) -> bool:
    """Return whether more than half of the lines have the same number of cell separators, not 0.

    Separators are runs of tabs, runs of three or more spaces, or vertical bars; each kind is
    counted alone, and those at the ends of a line do not count, except for bars. ``lines`` must not
    be empty; a single line is never a table.
    """
    for separator, pattern in (("\t", r"\t+"), ("   ", r" {3,}"), ("|", r"\|")):
        counts = [len(re.findall(pattern, x.strip())) if separator in x else 0 for x in lines]
        common = max(set(counts), key=counts.count)
        if common and counts.count(common) > len(counts) / 2 and len(counts) > 1:
            return True
    return False


def _starts_sentence(
    above: str, line: str, width: int, above_begins_sentence: bool, is_hyphenated: bool
) -> bool:
    """Return whether ``line`` begins a new sentence by its layout, given the line above.

    A list item does if it has a bullet, or after a list item or a line that ends with one of
    ``.:;!?``. Other lines do not if ``above`` ends with a full stop (then the words decide), is
    unfinished or has an open bracket. Else a line does if it begins with a sentence opener, or if
    its first word would have fitted on the line above (so the break was intended) and it is a list
    item, or begins with a capital or digit below a single unit such as a heading: a line that
    begins a sentence, contains no other and has at most ``_MAX_HEADING_CHARACTERS``.

    Parameters
    ----------
    above, line
        Two neighbouring lines; ``above`` without trailing white space, ``line`` not blank.
    width
        Length of the longest line of the block.
    above_begins_sentence
        Whether the line above begins a sentence.
    is_hyphenated
        Whether the block breaks words at hyphens: the first word then counts up to its hyphen.
    """
    words = line.split(maxsplit=1)
    first_word, last_character = words[0], above[-1:]
    item = _LIST_ITEM.match(line)
    if item and (item["bullet"] or last_character in ".:;!?" or _LIST_ITEM.match(above)):
        return True
    if (
        last_character in ".!?"
        or _UNFINISHED_LINE.search(above[-_LINE_TAIL_CHARACTERS:])
        or above.count("(") > above.count(")")
    ):
        return False
    if first_word in _SENTENCE_OPENERS:
        return True
    first_part = re.split(r"(?<=-)", first_word)[0] if is_hyphenated else first_word
    has_room = width - len(above.expandtabs()) > len(first_part) + 1  # tolerate one character
    is_capitalized = first_word[0].isupper() or first_word[0].isdigit()
    above_is_single = (
        above_begins_sentence
        and len(above) <= _MAX_HEADING_CHARACTERS
        and not re.search(r"[.!?]\s+[A-Z]", above)
    )
    return bool(has_room and is_capitalized and above_is_single) or bool(item and has_room)


def _is_list_entry(above: str, line: str) -> bool:
    """Return whether a short line in a block of short lines begins an entry of a list.

    It does if the line ``above`` (without trailing white space) is not unfinished and the first
    word of ``line`` is capitalised or not purely alphabetic. ``line`` must not be blank.
    """
    first_word = line.split(maxsplit=1)[0]
    return not _UNFINISHED_LINE.search(above) and (
        first_word[0].isupper() or not first_word.isalpha()
    )


MAX_SHORT_TOKENS = 8  # Docs up to this length are changed token by token, which is faster


def set_sentence_starts(doc: Doc, tokens: Collection[int], *, final: bool) -> None:
    """Set the sentence boundaries of a Doc in place: a sentence begins at each of ``tokens``.

    ``tokens`` are token indices in any order. If ``final``, no sentence begins anywhere else;
    otherwise other tokens stay undecided (0), except white space, which never begins a sentence
    unless listed. Indices beyond the Doc are ignored. Overwrites existing boundaries. Linear in the
    length of the Doc.
    """
    if not len(doc):
        return
    if len(doc) <= MAX_SHORT_TOKENS and not doc.has_annotation("DEP"):
        for token in doc:
            undecided = None if not final and not token.is_space else False
            token.is_sent_start = True if token.i in tokens else undecided
        return
    starts = np.full(len(doc), -1 if final else 0, dtype=np.int64)
    starts[doc.to_array([IS_SPACE]).ravel() == 1] = -1
    starts[[token for token in tokens if token < len(doc)]] = 1
    doc.from_array([SENT_START], cast(Any, starts.view(np.uint64).reshape(-1, 1)))


@dataclass(frozen=True)
class SentenceSplitter:
    """spaCy component that sets sentence boundaries by ``decide_boundaries``.

    Boundaries that are set already are kept. Put it before a parser, which then parses within these
    sentences. Unless ``final``, tokens without a decision stay open, so that the parser can split
    further where no full stop is, for example between a heading and the text that follows it.
    """

    any_length: ClassVar[bool] = True
    final: bool = False

    def __call__(self, doc: Doc) -> Doc:
        """Set ``is_sent_start`` of each token in place and return the Doc.

        Boundaries that are set already are kept, others follow ``decide_boundaries``. The first
        token always begins a sentence; other tokens up to the first word do not. The rest is set to
        false if ``final``, else left undecided. A Doc whose boundaries are all set is left
        unchanged.
        """
        if not len(doc) or doc.has_annotation("SENT_START", require_complete=True):
            return doc
        existing = doc.to_array([SENT_START]).ravel().astype(np.int64)
        starts = np.full(len(doc), -1 if self.final else 0, dtype=np.int64)
        decisions = decide_boundaries(doc)
        starts[list(decisions)] = np.where(list(decisions.values()), 1, -1)
        starts[: next(iter(decisions), 0) + 1] = -1  # up to the first word
        starts[0] = 1
        starts = np.where(existing == 0, starts, existing)
        doc.from_array([SENT_START], cast(Any, starts.astype(np.uint64).reshape(-1, 1)))
        return doc


@Language.factory(
    "textrank_sentences",
    assigns=["token.is_sent_start", "doc.sents"],
    default_config={"final": False},
)
def make_sentences(nlp: Language, name: str, final: bool) -> SentenceSplitter:
    """Build the component of the factory ``textrank_sentences``."""
    return SentenceSplitter(final)


# Prefixes that stay with an ordinary word (`non-invasive`). Before a name they split, because
# in `anti-CD3` the name is CD3, and a mention must not begin inside a token.
_PREFIXES = (
    "anti auto bi co counter cross de di extra hetero homo hyper hypo immuno infra inter intra "
    "macro mal meta micro mid mono multi neo non over pan peri poly post pre pro pseudo re semi "
    "sub super supra trans tri ultra un under"
)
# The full stop belongs to the word, unless that ends the text.
_ABBREVIATIONS = (
    "abbr al approx assoc ca cat cf chr co corp dept dr drs ed eds eq eqs est etc fig figs "
    "inc int jr ltd mr mrs ms mt no nos ph prof ref refs resp sect sp spp sr ssp st subsp "
    "suppl var viz vol vols vs"
)
_IONS = "Ca2|Mg2|Zn2|Mn2|Fe2|Fe3|Cu2|Co2|Ba2|Sr2|Cd2|Na|K|H|Li|Rb|Cs|NH4|NAD|NADP|poly\\(?A\\)?"
_WORD_CHARACTER = r"[\w\u0300-\u036f]"  # with combining accents
# Every repetition after which a match can still fail is bounded, so that time is linear.
_TOKEN = re.compile(
    rf"""
      (?:(?:https?|ftp)://|www\.)[^\s<>"()\[\]{{}}]*[^\s<>"()\[\]{{}}.,;:!?'’”]   # address
    | [\w.%+-]{{1,64}}@\w[\w-]{{0,64}}(?:\.\w[\w-]{{0,64}}){{1,8}}         # mail
    | 10\.\d{{4,9}}/[\w.;/:-]{{0,200}}\w                                   # doi
    | (?:{_IONS})\+\+?(?![\w/+])                                        # ion, cofactor
    | [A-Z]{{3,12}}\d{{0,3}}\+(?![\w/+])                                   # marker positive, ECFP+
    | \d{{1,6}}(?:\.\d{{1,6}})?-fold(?!\w)
    | (?i:{"|".join(_PREFIXES.split())})-(?=[a-z]{{3}})[a-z]{{3,40}}(?!\w)   # prefix and plain word
    | (?:[A-Za-z]\.){{2,9}}(?!\w)                                          # i.e. U.S.A.
    | (?i:{"|".join(_ABBREVIATIONS.split())})\.(?!\w)                      # Fig.
    | (?<![\w/:–-])[A-Z]\.(?=$|[A-Z-])                                    # C. elegans, J. Smith
    | \d{{1,3}}(?:,\d{{3}}){{1,6}}(?![\d,])(?:\.\d{{1,9}})?(?!\w)          # 15,000
    | [Cc]an(?=not(?!\w))
    | \w{{1,12}}?(?=n['’]t(?!\w)) | n['’]t(?!\w)
    | ['’](?:s|S|ll|re|ve|d|m)(?!\w)
    | [DOL]['’][A-Z]\w+                                                    # O'Brien
    | °[CF](?!\w)
    | {_WORD_CHARACTER}+(?:[.·⋅]{_WORD_CHARACTER}+)*[®™]?                  # word, 0.5, B6.CAST
    | \.{{2,}} | \*+ | \+{{2,}}(?!/) | --+ | =+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_CHUNK = re.compile(r"\S+|\s+")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_CACHED_CHARACTERS = 40  # longer chunks hardly ever recur
_CACHE_SIZE = 1 << 14  # chunks; bounds the memory used on a stream of texts


def tokenize_chunk(chunk: str) -> list[str]:
    """Tokenize a chunk of text that has no white space.

    The tokens, in order, concatenate to the chunk; an empty chunk gives none.

    >>> tokenize_chunk("(IL-2/IL-4,")
    ['(', 'IL', '-', '2', '/', 'IL', '-', '4', ',']
    >>> tokenize_chunk("Abcg8+/-"), tokenize_chunk("Ca2+,"), tokenize_chunk("non-invasive")
    (['Abcg8', '+', '/', '-'], ['Ca2+', ','], ['non-invasive'])
    """
    return _TOKEN.findall(chunk)


class BioTokenizer:
    """spaCy tokenizer that splits as the CRAFT corpus does, so that no name begins inside a token.

    Inner hyphens, slashes, colons and brackets are separate tokens (``actin - binding``), as are
    the parts of genotypes (``+ / -``) and primes (``5 '``). Decimal numbers, thousands, ions,
    abbreviations and ordinary words with a prefix stay whole. The Doc has exactly the text given.

    >>> import spacy
    >>> [token.text for token in BioTokenizer(spacy.blank("en").vocab)("p53-binding of 5'-UTRs.")]
    ['p53', '-', 'binding', 'of', '5', "'", '-', 'UTRs', '.']
    """

    def __init__(self, vocab: Vocab) -> None:
        """Take the vocabulary that Docs share with the pipeline."""
        self.vocab = vocab
        self._cache: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> Doc:
        """Tokenize a text, with lone surrogates replaced by U+FFFD.

        Markup and entities are tokens of their own or part of one, so that offsets stay those of
        the text. An empty text gives an empty Doc.
        """
        # spaCy stores UTF-8, which cannot hold lone surrogates; the replacement keeps offsets.
        text = _LONE_SURROGATE.sub("\ufffd", text)
        words, spaces = tokenize_normalized(text, self._tokenize) or fold_spaces(
            self._tokenize(text)
        )
        return Doc(self.vocab, words=words, spaces=spaces)

    def _tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text, white space included: they concatenate to the text.

        A run of white space is one token. The full stop of an abbreviation that ends the text is
        split off, unless it is the only token.
        """
        tokens: list[str] = []
        for chunk in _CHUNK.findall(text):
            if chunk[0].isspace():
                tokens.append(chunk)
            else:
                tokens += self._tokenize_chunk(chunk)
        if len(tokens) > 1:
            _split_final_stop(tokens)
        return tokens

    def pipe(self, texts: Iterable[str], batch_size: int = 1000) -> Iterator[Doc]:
        """Tokenize texts lazily, one by one and in order; ``batch_size`` is ignored."""
        return map(self, texts)

    def _tokenize_chunk(self, chunk: str) -> tuple[str, ...]:
        """Return the tokens of a chunk without white space, from the cache if possible.

        Chunks of at most ``_MAX_CACHED_CHARACTERS`` are added to the cache, which is emptied when
        it is full.
        """
        tokens = self._cache.get(chunk)
        if tokens is None:
            tokens = tuple(tokenize_chunk(chunk))  # a tuple of strings is not tracked by gc
            if len(chunk) <= _MAX_CACHED_CHARACTERS:
                if len(self._cache) >= _CACHE_SIZE:
                    self._cache.clear()
                self._cache[chunk] = tokens
        return tokens

    # spaCy requires these four; the rules are code, so there is nothing to store.
    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return no bytes: there is nothing to store."""
        return b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> BioTokenizer:
        """Return the tokenizer unchanged."""
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write nothing."""

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> BioTokenizer:
        """Return the tokenizer unchanged."""
        return self


def _split_final_stop(tokens: list[str]) -> None:
    """Split the full stop off an abbreviation that ends the text (``of type B.``), in place.

    The last token that is not white space is split; there must be one. Dots alone, single
    characters with a stop each ("U.S.") and tokens with a slash stay whole.
    """
    index = len(tokens) - (2 if tokens[-1].isspace() else 1)
    last = tokens[index]
    if len(last) > 1 and last[-1] == "." and not re.fullmatch(r"\.+|(?:\w\.){2,}|.*/.*", last):
        tokens[index : index + 1] = [last[:-1], "."]


def bio_tokenizer() -> Callable[[Language], BioTokenizer]:
    """Return the factory that spaCy configs call ``@tokenizers = "textrank.bio_tokenizer.v1"``."""

    def create(nlp: Language) -> BioTokenizer:
        """Return a ``BioTokenizer`` with the vocabulary of a pipeline."""
        return BioTokenizer(nlp.vocab)

    return create


MAX_CHUNK_CHARACTERS = 100_000  # a network takes about 3 GB for a million characters
MAX_CHUNK_TOKENS = 25_000  # prose of MAX_CHUNK_CHARACTERS has fewer, "a-a-a-" four times as many
MAX_UNBROKEN_CHARACTERS = 200  # spaCy's tokenizer is quadratic in a stretch without blanks
_UNBROKEN_RUN = re.compile(rf"\S{{{5 * MAX_UNBROKEN_CHARACTERS}}}\S+")
_SENTENCE_ENDS = frozenset(".!?")
_COPIED_ATTRIBUTES = (
    *("SENT_START", "TAG", "POS", "MORPH", "LEMMA", "NORM"),
    *("ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"),
)


def tokenize(nlp: Language, text: str) -> Doc:
    """Tokenize a text of any length in linear time.

    spaCy's own tokenizer is quadratic in a stretch without blanks. Stretches of more than a
    thousand characters are therefore cut every ``MAX_UNBROKEN_CHARACTERS`` first; other tokenizers
    get the text as it is.

    >>> import spacy
    >>> tokenize(spacy.blank("en"), ")" * 20000).text == ")" * 20000
    True
    """
    cuts = list(_find_cuts(text)) if isinstance(nlp.tokenizer, Tokenizer) else []
    if not cuts:
        return nlp.tokenizer(text)
    parts = [nlp.tokenizer(text[a:b]) for a, b in pairwise([0, *cuts, len(text)])]
    words = [token.text for part in parts for token in part]
    return Doc(nlp.vocab, words=words, spaces=[bool(t.whitespace_) for p in parts for t in p])


def _find_cuts(text: str) -> Iterator[int]:
    """Yield the offsets, ascending, at which long stretches without white space are cut.

    Stretches of more than five times ``MAX_UNBROKEN_CHARACTERS`` are cut into parts of that many
    characters, counted from the start of the stretch.
    """
    for run in _UNBROKEN_RUN.finditer(text):
        yield from range(run.start() + MAX_UNBROKEN_CHARACTERS, run.end(), MAX_UNBROKEN_CHARACTERS)


def pipe_long(nlp: Language, docs: Sequence[Doc]) -> Iterator[Doc]:
    """Run all components of a pipeline on Docs, long Docs in chunks; yield the Docs in order.

    If no Doc is long, this is ``nlp.pipe``. From the first component that sets ``doc._`` attributes
    on, components get the whole Doc, because such attributes of chunks cannot be joined. A Doc that
    was cut is yielded as a new Doc without a tensor.
    """
    if not any(map(is_long, docs)):
        yield from nlp.pipe(docs)
        return
    sets_extension = [_sets_extension(nlp, name) for name, _ in nlp.pipeline]
    first_writer = sets_extension.index(True) if True in sets_extension else len(sets_extension)
    pipes = [pipe for _, pipe in nlp.pipeline]
    for doc in docs:
        yield from apply_pipes([process_in_chunks(doc, pipes[:first_writer])], pipes[first_writer:])


def is_long(doc: Doc) -> bool:
    """Return whether a Doc exceeds the size of a chunk in characters or tokens.

    These are MAX_CHUNK_CHARACTERS (100 000) and MAX_CHUNK_TOKENS (25 000); an empty Doc is not
    long.
    """
    if not len(doc):
        return False
    last = doc[len(doc) - 1]  # building doc.text would be slow
    return len(doc) > MAX_CHUNK_TOKENS or last.idx + len(last.text_with_ws) > MAX_CHUNK_CHARACTERS


def process_in_chunks(doc: Doc, pipes: Iterable[Any]) -> Doc:
    """Run components on a Doc and return the result; memory-hungry ones get chunks of a long Doc.

    Components with a true attribute ``any_length``, such as those of the shipped pipeline, get the
    whole Doc, so that their results do not depend on where the text would be cut. The result is
    another Doc if chunks were joined. Raises ValueError if a component does not return one Doc for
    each that it is given.
    """
    for takes_any_length, group in groupby(
        pipes, lambda pipe: bool(getattr(pipe, "any_length", False))
    ):
        pipes_in_group = list(group)
        if takes_any_length:
            doc = _apply_to_one(doc, pipes_in_group)
        else:
            doc = _process_chunks(doc, pipes_in_group)
    return doc


def _process_chunks(doc: Doc, pipes: Sequence[Any]) -> Doc:
    """Run components on the chunks of a Doc and return them joined to a new Doc.

    User data of ``doc`` is kept; tensors and user data that the components set on chunks are not. A
    Doc that is a single chunk is processed itself, in place. Raises ValueError if a component does
    not return one Doc for a chunk.
    """
    chunks = list(split_doc(doc))
    if len(chunks) == 1:
        return _apply_to_one(doc, pipes)
    processed_chunks = [_apply_to_one(chunk, pipes) for chunk in chunks]
    options: Any = {"exclude": ("user_data", "tensor")}
    joined = Doc.from_docs(processed_chunks, ensure_whitespace=False, **options)
    joined.user_data.update(doc.user_data)
    return joined


def _apply_to_one(doc: Doc, pipes: Iterable[Any]) -> Doc:
    """Return a Doc after each component in turn.

    Raises ValueError if a component returns no Doc for it, several, or something else: text would
    be lost or repeated.
    """
    for pipe in pipes:
        processed: list[Any] = list(apply_pipes([doc], [pipe]))
        is_one = len(processed) == 1
        if not is_one or not isinstance(processed[0], Doc):
            name = getattr(pipe, "name", None) or getattr(pipe, "__name__", type(pipe).__name__)
            returned = (
                f"a {type(processed[0]).__name__}" if is_one else f"{len(processed)} documents"
            )
            raise ValueError(
                f"component {name!r} returned {returned} for one document or a chunk of it. A "
                "component must return each Doc it is given. Correct or remove it."
            )
        doc = processed[0]
    return doc


def split_doc(doc: Doc) -> Iterator[Doc]:
    """Yield the chunks of a Doc, cut at ends of lines or sentences; a short Doc is yielded itself.

    Without such an end in the second half of a chunk, it is cut between other tokens. Chunks keep
    token annotations and spans; user data and tensors are not copied. A span is put into the chunk
    in which it begins, and cut at the chunk's end. Chunks come in order and have at most
    ``MAX_CHUNK_CHARACTERS`` and ``MAX_CHUNK_TOKENS``, unless a token is longer.
    """
    bounds = [0, *_find_chunk_bounds(doc), len(doc)]
    if len(bounds) == 2:
        yield doc
        return
    # If there are heads, spaCy's slower ``as_doc`` must renumber them.
    table = None if doc.has_annotation("DEP") else doc.to_array(list(_COPIED_ATTRIBUTES))
    for start, end in pairwise(bounds):
        chunk = doc[start:end].as_doc() if table is None else _copy_tokens(doc, table, start, end)
        for key, group in doc.spans.items():
            chunk.spans[key] = [
                _shift_span(span, chunk, start) for span in group if start <= span.start < end
            ]
        yield chunk


def _copy_tokens(doc: Doc, table: Any, start: int, end: int) -> Doc:
    """Return the tokens ``start:end`` as a Doc, with their rows of the attribute table.

    ``table`` has a row per token of ``doc`` and the columns ``_COPIED_ATTRIBUTES``. Unlike
    ``Span.as_doc`` this does not scan the whole Doc each time.
    """
    tokens = doc[start:end]
    words, spaces = [t.text for t in tokens], [bool(t.whitespace_) for t in tokens]
    chunk = Doc(doc.vocab, words=words, spaces=spaces)
    return chunk.from_array(list(_COPIED_ATTRIBUTES), table[start:end])


def apply_pipes(docs: Iterable[Doc], pipes: Iterable[Any]) -> Iterable[Doc]:
    """Return the Docs after each component in turn, lazily.

    Components without a ``pipe`` method are called with one Doc at a time, as spaCy does.
    """
    for pipe in pipes:
        pipe_docs: Callable[..., Iterable[Doc]] | None = getattr(pipe, "pipe", None)
        docs = map(pipe, docs) if pipe_docs is None else pipe_docs(docs)
    return docs


def _sets_extension(nlp: Language, name: str) -> bool:
    """Return whether a component declares that it sets an attribute of ``doc._``."""
    return any(value.startswith("doc._.") for value in nlp.get_pipe_meta(name).assigns)


def _find_chunk_bounds(doc: Doc) -> Iterator[int]:
    """Yield the tokens, ascending, before which a long Doc is cut; nothing for a short Doc.

    Chunks are filled by half at least, except the last, and up to the maximum in characters and
    tokens. Between these, the last start of a line is preferred, then of a sentence, then any
    token. Cuts are outside existing spans if possible.
    """
    starts = np.array([token.idx for token in doc], dtype=np.int64)
    is_cuttable = np.ones(len(doc), dtype=bool)
    for span in (span for group in doc.spans.values() for span in group):
        is_cuttable[span.start + 1 : span.end] = False
    chunk_start = 0
    n_characters = len(doc.text)
    while len(doc) and (
        n_characters - starts[chunk_start] > MAX_CHUNK_CHARACTERS
        or len(doc) - chunk_start > MAX_CHUNK_TOKENS
    ):
        latest = (
            int(np.searchsorted(starts, starts[chunk_start] + MAX_CHUNK_CHARACTERS, side="right"))
            - 1
        )
        earliest = int(np.searchsorted(starts, starts[chunk_start] + MAX_CHUNK_CHARACTERS // 2))
        latest = min(latest, chunk_start + MAX_CHUNK_TOKENS)
        earliest = min(earliest, chunk_start + MAX_CHUNK_TOKENS // 2)
        chunk_start = max(_choose_cut(doc, is_cuttable, earliest, latest), chunk_start + 1)
        if chunk_start >= len(doc):
            return
        yield chunk_start


def _choose_cut(doc: Doc, is_cuttable: Any, earliest: int, latest: int) -> int:
    """Return the last good token to cut before, in ``earliest + 1 .. latest``.

    Preferred is the start of a line, then of a sentence, then any token outside a span; if there is
    none, ``latest``. ``is_cuttable`` (tokens,) is false inside spans. ``latest`` must be a token.
    """
    for is_good in (_is_after_line, _is_after_stop, _is_anywhere):
        for i in range(latest, earliest, -1):
            if is_cuttable[i] and is_good(doc, i):
                return i
    return latest


def _is_after_line(doc: Doc, i: int) -> bool:
    """Return whether the token before ``i`` contains a line end; ``i`` must be above 0."""
    return "\n" in doc[i - 1].text


def _is_after_stop(doc: Doc, i: int) -> bool:
    """Return whether the token before ``i`` ends with . ! or ? and is followed by a space.

    ``i`` must be above 0.
    """
    return doc[i - 1].text[-1:] in _SENTENCE_ENDS and bool(doc[i - 1].whitespace_)


def _is_anywhere(doc: Doc, i: int) -> bool:
    """Return True: any token will do."""
    return True


def _shift_span(span: Span, chunk: Doc, offset: int) -> Span:
    """Return a copy of a span in a chunk that begins at token ``offset`` of the Doc.

    The span must begin in the chunk; if it extends beyond, it is cut at the chunk's end. Label,
    kb_id and id are kept.
    """
    first, last = span.start - offset, min(span.end - offset, len(chunk))
    return Span(chunk, first, last, label=span.label, kb_id=span.kb_id, span_id=span.id)


@dataclass
class VocabZone:
    """Renewable memory zone of a pipeline's vocabulary.

    spaCy's vocabulary keeps every string it has seen. ``nlp.memory_zone`` frees them all at once,
    after which Docs made in the zone must not be used. A reader calls ``mark_due`` (its argument
    ``on_batch_end``) when it holds no Doc except the one it yields next; the consumer, when done
    with these Docs, calls ``restart`` if ``is_due``.

    A context manager: entering begins the first zone, and leaving frees its strings.
    """

    nlp: Language
    is_due: bool = False
    _zone: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> VocabZone:
        """Begin a zone and return ``self``."""
        self.restart()
        return self

    def __exit__(self, *_: object) -> None:
        """Free the strings of the current zone, whose Docs become invalid; none is begun."""
        self._zone.close()

    def mark_due(self) -> None:
        """Set ``is_due``: the consumer may restart the zone once it is done with its Docs."""
        self.is_due = True

    def restart(self) -> None:
        """Free the strings of the current zone and begin a new one; older Docs become invalid."""
        self._zone.close()
        self._zone.enter_context(self.nlp.memory_zone())
        self.is_due = False
