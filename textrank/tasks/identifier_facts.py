"""What speaks for and against a gene as the meaning of a name: facts with a number each."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textrank.language.abbreviations import long_forms
from textrank.language.gene_forms import listed
from textrank.language.gene_matches import SURE, Lookup, Match
from textrank.language.gene_tables import Case, Gene, Kind, case_of
from textrank.language.species import HUMAN, MOUSE, RAT, SpeciesWord, species_words

Facts = Mapping[str, float]
BEFORE, AFTER = 25, 12  # characters within which a species word is near
ALWAYS = frozenset((HUMAN, MOUSE))  # taken into account where a text names no species
_PREFIXES = {"h": HUMAN, "m": MOUSE, "r": RAT}


class Option(NamedTuple):
    """A meaning of a name, with what speaks for it; no gene: it means none."""

    gene: Gene | None
    facts: Facts


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What a text says that bears on the meaning of its names."""

    lookup: Lookup
    species: Sequence[SpeciesWord]
    share: Mapping[int, float]  # of the species words, by taxon
    lead: Mapping[int, float]  # log-odds of a species against the most named other one
    title: frozenset[int]  # species named there
    fixed: frozenset[int]  # species that genes must be of; all where empty
    long: Mapping[str, str]  # long forms of abbreviations
    named: Mapping[str, int]  # how many different names may stand for an identifier
    style: Mapping[int, float]  # how names are written: as symbols of man or of mouse
    own: Mapping[int, float]  # share of the names that only genes of a species have

    @classmethod
    def of(
        cls, text: str, names: Sequence[str], lookup: Lookup, fixed: Sequence[int]
    ) -> Surroundings:
        """Those of a text with these names."""
        found = species_words(text)
        counts = Counter(word.taxon for word in found)
        share = {taxon: count / len(found) for taxon, count in counts.items()}
        if fixed:
            share = {taxon: 1.0 / len(fixed) for taxon in fixed}
        first = text.find("\n") if "\n" in text else text.find(". ")
        title = frozenset(word.taxon for word in found if word.start < first)
        distinct = dict.fromkeys(names)
        matches = {name: lookup.matches(name) for name in distinct}
        named = Counter(match.gene.identifier for own in matches.values() for match in own)
        return cls(
            lookup,
            found,
            share,
            _lead(share, len(found)),
            title,
            frozenset(fixed),
            long_forms(text),
            dict(named),
            _style(matches),
            _own(matches),
        )

    def near(self, start: int, end: int, name: str) -> int:
        """The taxon that the text names at or nearest to a place; 0 where none is near."""
        if self.fixed:
            return next(iter(self.fixed)) if len(self.fixed) == 1 else 0
        if name[:1] in _PREFIXES and name[1:2].isupper():
            return _PREFIXES[name[0]]
        i = bisect_left(self.species, (end, 0, 0))
        if i and start - self.species[i - 1].end < BEFORE:
            return self.species[i - 1].taxon
        if i < len(self.species) and self.species[i].start - end < AFTER:
            return self.species[i].taxon
        return 0

    def considered(self, name: str) -> list[Match]:
        """The matches of a name, of species that may be meant, with those of its long form."""
        matches = {match.gene.identifier: match for match in self.lookup.matches(name)}
        if name in self.long:
            for match in self.lookup.matches(self.long[name]):
                if match.how in SURE:
                    matches.setdefault(match.gene.identifier, match._replace(how="long"))
        return [match for match in matches.values() if self._may_be_meant(match.gene.taxon)]

    def _may_be_meant(self, taxon: int) -> bool:
        if taxon == 0:
            return True
        if self.fixed:
            return taxon in self.fixed
        return taxon in ALWAYS or taxon in self.share or taxon not in _SHIPPED


_SHIPPED = frozenset((HUMAN, MOUSE, 7955, 7227))  # a user's own species are always considered


def _lead(share: Mapping[int, float], words: int) -> dict[int, float]:
    """How much more a species is named than any other, from -1 to 1; unnamed, human leads."""
    counts = {taxon: part * max(words, 1) for taxon, part in share.items()}
    for taxon, more in _UNNAMED.items():
        counts[taxon] = counts.get(taxon, 0.0) + more
    found = {}
    for taxon, count in counts.items():
        other = max((n for t, n in counts.items() if t != taxon), default=_UNNAMED[HUMAN])
        found[taxon] = min(1.0, max(-1.0, math.log(count / other) / 2))
    return found


def _style(matches: Mapping[str, Sequence[Match]]) -> dict[int, float]:
    """Whether symbols are written as TP53 or as Trp53, from -1 to 1."""
    symbols = [name for name, own in matches.items() if any(map(_is_symbol, own))]
    cases = Counter(case_of(name) for name in symbols)
    upper, title = cases[Case.UPPER], cases[Case.TITLE]
    mouse = (title - upper) / (title + upper + 1)
    return {HUMAN: -mouse, MOUSE: mouse}


def _is_symbol(match: Match) -> bool:
    return match.kind is Kind.SYMBOL and match.how == "whole" and bool(match.gene.taxon)


def _own(matches: Mapping[str, Sequence[Match]]) -> dict[int, float]:
    """How many names have genes of one species only, of those that have genes at all."""
    taxa = [
        {match.gene.taxon for match in own if match.gene.taxon and match.how in SURE}
        for own in matches.values()
    ]
    single = Counter(next(iter(own)) for own in taxa if len(own) == 1)
    known = sum(map(bool, taxa))
    return {taxon: count / (known + 1) for taxon, count in single.items()}


_UNNAMED = {HUMAN: 0.5, MOUSE: 0.3}  # as if a text had named them so often


def options(name: str, near: int, around: Surroundings) -> list[Option]:
    """The meanings of a name near a species word; the last is that it means no gene."""
    matches = around.considered(name)
    genes = [match for match in matches if match.gene.taxon]
    if any(match.kind is Kind.SYMBOL and match.how == "whole" for match in genes):
        matches = genes  # who writes the symbol of a gene does not mean its family
    long = around.long.get(name)
    meant = _meant(long, around)
    found = [Option(m.gene, dict(_gene(m, name, near, genes, meant, around))) for m in genes]
    found += [
        Option(m.gene, dict(_family(m, name, genes, around))) for m in matches if not m.gene.taxon
    ]
    return [*found, Option(None, dict(_none(name, near, matches, meant, around)))]


def _meant(long: str | None, around: Surroundings) -> frozenset[str] | None:
    """The identifiers that a long form stands for; None where there is no long form."""
    if long is None:
        return None
    return frozenset(match.gene.identifier for match in around.lookup.matches(long))


def _gene(
    match: Match,
    name: str,
    near: int,
    genes: Sequence[Match],
    meant: frozenset[str] | None,
    around: Surroundings,
) -> Iterator[tuple[str, float]]:
    taxon = match.gene.taxon
    rivals = [other for other in genes if other.gene.taxon == taxon]
    yield match.kind.name.lower(), 1.0
    yield f"how {match.how}", 1.0
    yield "left out", 1.0 - match.share
    yield "case", float(match.case)
    yield "seen", match.seen / 8
    yield "most seen", float(0 < match.seen >= max(other.seen for other in rivals))
    yield "best kind", float(match.kind == min(other.kind for other in rivals))
    yield "rivals", math.log2(len(rivals)) / 4
    yield "no protein", float(not match.gene.coding)
    yield "popular", match.gene.popular / 8
    other = around.named.get(match.gene.identifier, 1) - 1
    yield "other names", min(other, 3) / 3
    if meant is not None:
        yield "long form" if match.gene.identifier in meant else "other long form", 1.0
    yield from _species(taxon, near, around)
    if match.kind in _SYMBOLS:
        yield f"{case_of(name).name.lower()} {taxon}", 1.0


_SYMBOLS = frozenset((Kind.SYMBOL, Kind.SYNONYM, Kind.PREVIOUS))


def _species(taxon: int, near: int, around: Surroundings) -> Iterator[tuple[str, float]]:
    yield f"taxon {taxon}", 1.0
    yield "species share", around.share.get(taxon, 0.0)
    yield "species lead", around.lead.get(taxon, -1.0)
    yield "species in title", float(taxon in around.title)
    yield "species only", float(len(around.share) == 1 and taxon in around.share)
    yield (
        "species most",
        float(taxon in around.share and around.share[taxon] == max(around.share.values())),
    )
    if near:
        yield "species near" if near == taxon else "other species near", 1.0
    if not around.share:
        yield f"no species {taxon}", 1.0
    yield "style", around.style.get(taxon, 0.0)
    yield "only of species", around.own.get(taxon, 0.0)


def _family(
    match: Match, name: str, genes: Sequence[Match], around: Surroundings
) -> Iterator[tuple[str, float]]:
    yield "family", 1.0
    yield f"family {match.how}", 1.0
    yield "family case", float(match.case)
    yield "family but symbol", float(any(gene.kind <= Kind.NAME for gene in genes))
    yield "family but synonym", float(any(gene.kind is Kind.SYNONYM for gene in genes))
    yield "family but seen", max((gene.seen for gene in genes), default=0) / 8
    yield "family plain", around.lookup.plain(name) / 8


def _none(
    name: str,
    near: int,
    matches: Sequence[Match],
    meant: frozenset[str] | None,
    around: Surroundings,
) -> Iterator[tuple[str, float]]:
    yield "none", 1.0
    yield f"none length {min(len(name), 5)}", 1.0
    yield f"none {case_of(name).name.lower()}", 1.0
    yield "none plain", around.lookup.plain(name) / 8
    yield "none but seen", max((match.seen for match in matches), default=0) / 8
    best = min((match.kind for match in matches), default=None)
    yield f"none but {'unknown' if best is None else best.name.lower()}", 1.0
    if matches and all(match.how not in SURE for match in matches):
        yield f"none how {matches[0].how}", 1.0
    if meant is not None:
        known = any(match.gene.identifier in meant for match in matches)
        plain = not known and is_plain(around.long[name])
        yield "none but long form" if known else "none as long form", 1.0
        yield "none as plain long form", float(plain)
    if near and near not in around.lookup.taxa:
        yield "none as species near", 1.0
    others = [lead for taxon, lead in around.lead.items() if taxon not in around.lookup.taxa]
    yield "none as species", 1.0 + max(others, default=-1.0)
    yield "none as leading species", float(max(others, default=-1.0) > 0)


def is_plain(long: str) -> bool:
    """Whether a long form does not end as names of genes and proteins do.

    >>> is_plain("class switch recombination"), is_plain("epidermal growth factor receptor")
    (True, False)
    """
    return _GENE_END.search(long) is None


_GENE_END = re.compile(
    r"(?:(?:ase|in|en|or|an|ormone|gene|like|ligand|homolog|homologue|complex|channel|carrier|domain"
    r"|family|element|box|helix|peptide|molecule|exchanger|finger)s?"
    r"|[\dIVX]+|[a-z]?[A-Z0-9-]+\w?|alpha|beta|gamma|delta|[α-ω]|\b\w)$"
)


def parts_of(name: str, lookup: Lookup) -> list[str]:
    """The names in a list, where each of them is known."""
    items = listed(name)
    known = all(
        any(match.gene.taxon and match.how in SURE for match in lookup.matches(item))
        for item in items
    )
    return items if known else []
