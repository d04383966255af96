"""What a text as a whole says about its names: brackets, abbreviations, the same name elsewhere."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from spacy.tokens import Doc, Span

from textrank.language.abbreviations import abbreviations
from textrank.text.words import reading_of, texts_of

Place = tuple[int, int]  # tokens, the end exclusive
# What a long form ends with that may well be a gene, though none was found there.
_GENE = re.compile(
    r"(?:ase|in|or|gen|ine|protein|factor|gene|antigen|ligand|homolog|subunit|domain|family|"
    r"complex|channel|kinase|s|\d|alpha|beta|gamma|delta|kappa)$",
    re.IGNORECASE,
)
_SURE = re.compile(r"(?=.*[A-Z].*[A-Z0-9]|.*\d.*[A-Za-z]|[a-z]+\d).{3,}")


def repaired(doc: Doc, names: Sequence[Place]) -> list[Place]:
    """The names without what is none, with those that the text shows to be missing, in order.

    A name has a letter; a bracket in it is closed in it; an abbreviation that the text defines as
    something that is no name is none, one that stands for a name is one; and a name that is found
    at least as often as it is passed over is found everywhere. Linear in the length of the text.
    """
    text = _Tokens(doc)
    found = {place for name in names if (place := text.whole(*name)) is not None}
    found = text.without_overlaps(found)
    found = _abbreviated(doc, text, found)
    found |= text.elsewhere(found)
    return sorted(found)


class _Tokens:
    """The words of a Doc, read in plain letters, by their tokens."""

    def __init__(self, doc: Doc) -> None:
        reading = reading_of(doc, spelt=True)
        self.kept = list(range(len(doc))) if reading is None else reading.kept.tolist()
        self.words = texts_of(doc, reading)
        self.number = {token: n for n, token in enumerate(self.kept)}

    def key(self, start: int, end: int) -> tuple[str, ...]:
        """The words of some tokens."""
        return tuple(self.words[self.number[i]] for i in range(start, end) if i in self.number)

    def whole(self, start: int, end: int) -> Place | None:
        """The name without punctuation at its edges, its brackets closed; None if nothing is left.

        A hyphen, a prime or a plus may end a name, a stop or a comma never.
        """
        inside = [n for i in range(start, end) if (n := self.number.get(i)) is not None]
        while inside and self.words[inside[0]] in _EDGES:
            inside.pop(0)
        while inside and self.words[inside[-1]] in _EDGES:
            inside.pop()
        inside = self._closed(inside)
        if not inside or not any(any(map(str.isalnum, self.words[n])) for n in inside):
            return None
        return self.kept[inside[0]], self.kept[inside[-1]] + 1

    def _closed(self, inside: list[int]) -> list[int]:
        for opening, closing in (("(", ")"), ("[", "]")):
            words = [self.words[n] for n in inside]
            more = words.count(opening) - words.count(closing)
            after = inside[-1] + 1 if inside else 0
            if more == 1 and after < len(self.words) and self.words[after] == closing:
                inside = [*inside, after]
            elif more == 1:
                inside = inside[: len(words) - 1 - words[::-1].index(opening)]
            elif more == -1 and words[-1] == closing:
                inside = inside[:-1]
        return inside

    def without_overlaps(self, names: Iterable[Place]) -> set[Place]:
        """Of names that share a token the first."""
        kept: set[Place] = set()
        last = 0
        for start, end in sorted(names):
            if start >= last:
                kept.add((start, end))
                last = end
        return kept

    def elsewhere(self, names: set[Place]) -> set[Place]:
        """Other places of names that are found at least as often as they are not."""
        counts = Counter(self.key(*name) for name in names)
        sure = {key for key in counts if _SURE.fullmatch("".join(key))}
        first: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for key in sorted(sure, key=len, reverse=True):
            first[key[0]].append(key)
        taken = {i for start, end in names for i in range(start, end)}
        others: dict[tuple[str, ...], list[Place]] = defaultdict(list)
        for n in [n for n, word in enumerate(self.words) if word in first]:
            for key in first[self.words[n]]:
                if tuple(self.words[n : n + len(key)]) == key:
                    place = self.kept[n], self.kept[n + len(key) - 1] + 1
                    if not taken & set(range(*place)):
                        others[key].append(place)
                        taken |= set(range(*place))
                    break
        return {p for key, own in others.items() if len(own) <= counts[key] for p in own}


_KINDS = """
gene genes locus allele alleles promoter cdna cdnas mrna mrnas transcript transcripts protein
proteins polypeptide molecule molecules complex complexes
"""
_SOURCES = """
human mouse murine rat bovine chicken yeast endogenous exogenous recombinant purified wild-type
mutant mutated
"""
_LAST, _FIRST = frozenset(_KINDS.split()), frozenset(_SOURCES.split())
_NAMING = re.compile(r".*[A-Z0-9]")


def narrowed(doc: Doc, start: int, end: int) -> Place:
    """A name without words before and after it that say whose or what kind of thing it is.

    They are left where the word beside them is a word like others: "TATA-binding protein".

    >>> import spacy
    >>> doc = spacy.blank("en")("human p53 gene and retinol binding protein")
    >>> narrowed(doc, 0, 3), narrowed(doc, 4, 7)
    ((1, 2), (4, 7))
    """
    words = [token.text for token in doc[start:end]]
    first, last = 0, len(words)
    while last > 1 and words[last - 1].lower() in _LAST and _NAMING.match(words[last - 2]):
        last -= 1
    while first < last - 1 and words[first].lower() in _FIRST and _NAMING.match(words[first + 1]):
        first += 1
    return start + first, start + last


_EDGES = frozenset([".", ",", ";", ":", "!", "?", "...", "…", "=", "<", ">", '"', "“", "”", "/"])


def _abbreviated(doc: Doc, text: _Tokens, names: set[Place]) -> set[Place]:
    """Names with short forms of names, and without short forms of what is none."""
    for short, long in abbreviations(doc):
        place, key = (short.start, short.end), text.key(short.start, short.end)
        if _named(long, names):
            if not any(start < place[1] and place[0] < end for start, end in names):
                names = names | {place}
        elif not _GENE.search(long.text) and not _overlapping(long, names):
            names = {name for name in names if text.key(*name) != key}
    return names


def _named(long: Span, names: set[Place]) -> bool:
    """Whether the long form is a name, or ends with one that is most of it."""
    return any(
        end == long.end and start <= long.start + 1 and start >= long.start - 2
        for start, end in names
    )


def _overlapping(span: Span, names: set[Place]) -> bool:
    return any(start < span.end and span.start < end for start, end in names)
