"""What a text says that bears on the genes its names stand for: species, long forms, style."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from textrank.language.abbreviations import find_long_forms
from textrank.tasks.identifiers.gazetteer import SURE, Gene, Kind, Lookup, Match
from textrank.tasks.identifiers.names import (
    HUMAN,
    MOUSE,
    RAT,
    Case,
    SpeciesWord,
    case_of,
    key_of,
    listed,
    species_words,
)

BEFORE, AFTER = 25, 12  # characters within which a species word is near
ALWAYS = frozenset((HUMAN, MOUSE))  # taken into account where a text names no species
_PREFIXES = {"h": HUMAN, "m": MOUSE, "r": RAT}


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What a text says that bears on the meaning of its names."""

    lookup: Lookup
    species: Sequence[SpeciesWord]
    share: Mapping[int, float]  # of the species words, by taxon
    lead: Mapping[int, float]  # log-odds of a species against the most named other one
    title: frozenset[int]  # species named there
    fixed: frozenset[int]  # species that genes must be of; all where empty
    taxa: frozenset[int]  # species whose genes are considered
    long: Mapping[str, str]  # long forms of abbreviations
    short: Mapping[str, str]  # abbreviations by the keys of their long forms
    named: Mapping[str, int]  # how many different names may stand for an identifier
    repeated: frozenset[str]  # identifiers for which several do
    style: Mapping[int, float]  # how names are written: as symbols of man or of mouse
    own: Mapping[int, float]  # share of the names that only genes of a species have
    leaning: Mapping[int, float]  # whether the text sounds of man or of the mouse, from -1 to 1

    @classmethod
    def of(
        cls, text: str, names: Sequence[str], lookup: Lookup, fixed: Sequence[int]
    ) -> Surroundings:
        """Those of a text with these names."""
        found = species_words(text)
        counts: Counter[int] = Counter()
        for word in found:
            counts[word.taxon] += word.weight  # type: ignore[assignment]
        total = sum(counts.values())
        share = {taxon: count / total for taxon, count in counts.items()}
        if fixed:
            share = {taxon: 1.0 / len(fixed) for taxon in fixed}
        first = text.find("\n") if "\n" in text else text.find(". ")
        title = frozenset(word.taxon for word in found if word.start < first)
        taxa = _taxa(lookup, share, frozenset(fixed))
        matches = {name: lookup.matches(name, taxa) for name in dict.fromkeys(names)}
        named = Counter(
            match.gene.identifier
            for own in matches.values()
            for match in own
            if match.kind is not Kind.MEMBER
        )
        long = find_long_forms(text)
        leaning = lookup.leaning(text)
        return cls(
            lookup,
            [word for word in found if word.weight == 1.0],
            share,
            _lead(share, total) if share else dict.fromkeys(ALWAYS, 0.0),
            title,
            frozenset(fixed),
            taxa,
            long,
            {key_of(full): short for short, full in long.items()},
            dict(named),
            frozenset(identifier for identifier, count in named.items() if count > 1),
            _style(matches),
            _own(matches),
            {HUMAN: -leaning, MOUSE: leaning},
        )

    @cached_property
    def foreign(self) -> float:
        """How much a species leads whose genes the tables do not have."""
        leads = [lead for taxon, lead in self.lead.items() if taxon not in self.lookup.taxa]
        return max(leads, default=-1.0)

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

    def matches(self, name: str) -> tuple[Match, ...]:
        """The genes and families of a name, of species that may be meant."""
        return self.lookup.matches(name, self.taxa)

    def in_full(self, name: str) -> str | None:
        """The long form of an abbreviation, or of one with something behind it: TRbeta.

        >>> around = Surroundings.of("the thyroid receptor (TR)", [], Lookup([]), [])
        >>> around.in_full("TR"), around.in_full("TRbeta"), around.in_full("TRAF2")
        ('thyroid receptor', 'thyroid receptor beta', None)
        """
        if name in self.long:
            return self.long[name]
        for short, full in self.long.items():
            if (at := name.find(short)) in (0, 1) and name[:at] in _SPECIES_LETTERS:
                behind = name[at + len(short) :]
                if _BEHIND.match(behind):
                    return f"{full} {behind.strip(' -')}"
        return None

    def meant(self, name: str) -> tuple[Match, ...] | None:
        """What the long form of an abbreviation stands for; None where it has none.

        Only the surest sort of matches counts. Where a long form is unknown with what stands
        behind the abbreviation (glucocorticoid receptor alpha), it counts without.
        """
        full = self.in_full(name)
        if full is None or (name not in self.long and any(map(_is_symbol, self.matches(name)))):
            return None  # CFHR3 is no CFH, though CFH is explained
        for text in (full,) if name in self.long else (full, full.rpartition(" ")[0]):
            sure = [match for match in self.matches(text) if match.how in SURE]
            named = [match for match in sure if match.kind not in _VAGUE]
            best = {m.gene.taxon: m.kind for m in sorted(named, key=lambda m: -m.kind)}
            found = tuple(match for match in named if match.kind == best[match.gene.taxon])
            if found:
                return found
        return ()

    def considered(self, name: str, meant: Sequence[Match] | None) -> list[Match]:
        """The matches of a name, with those of its long form or of its abbreviation.

        ``meant`` is what the long form stands for.
        """
        matches = {match.gene.identifier: match for match in self.matches(name)}
        others, how = meant, "long"
        if others is None and not any(map(_is_sure, matches.values())):
            others, how = self.matches(self.short.get(key_of(name), "")), "short"
        known = {
            matches[o.gene.identifier].gene.taxon
            for o in others or ()
            if o.gene.identifier in matches
        }
        for match in others or ():
            if match.how in SURE and match.gene.taxon not in known:
                way = how if match.how == "whole" else f"{how} in part"
                matches.setdefault(match.gene.identifier, match._replace(how=way))
        return list(matches.values())


_VAGUE = frozenset((Kind.SHORTENED, Kind.MEMBER))
_SPECIES_LETTERS = frozenset(("", *_PREFIXES))
_BEHIND = re.compile(
    r"^[\s-]?(?:[IVX]+|[A-Z]?\d{1,2}[A-Za-z]?|[A-E]|[a-e]|alpha|beta|gamma|delta|[α-ω])\d?$"
)


def _is_sure(match: Match) -> bool:
    return match.how in SURE and bool(match.gene.taxon)


def _taxa(lookup: Lookup, share: Mapping[int, float], fixed: frozenset[int]) -> frozenset[int]:
    """The species whose genes may be meant; a user's own species are always among them."""
    if fixed:
        return fixed
    return frozenset(t for t in lookup.taxa if t in ALWAYS or t in share or t not in _SHIPPED)


_SHIPPED = frozenset((HUMAN, MOUSE, 7955, 7227))


def _lead(share: Mapping[int, float], words: float) -> dict[int, float]:
    """How much more a species is named than any other, from -1 to 1; unnamed, human leads."""
    counts = {taxon: part * max(words, 1.0) for taxon, part in share.items()}
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
Facts = Mapping[str, float]
CLEAR = 0.3  # of a style of symbols
FEW = 3  # genes of a species that may have the name of a family without it being meant


class Option(NamedTuple):
    """A meaning of a name, with what speaks for it; no gene: it means none."""

    gene: Gene | None
    facts: Facts


def options(name: str, near: int, around: Surroundings) -> list[Option]:
    """The meanings of a name near a species word; the last is that it means no gene."""
    meant = around.meant(name)
    matches = around.considered(name, meant)
    if parts_of(name, around.lookup):
        matches = [match for match in matches if not match.gene.taxon]  # genes are those of parts
    genes = [match for match in matches if match.gene.taxon]
    if _is_of_genes(genes):
        # A name that genes have themselves is not that of a family.
        matches = genes
    elif members := _members(genes, around):
        genes = matches = members
    genes = [match for match in genes if not _is_silent(match, genes)]
    kept = {other.gene.identifier for other in meant or ()} | around.repeated
    begun = {m.gene.taxon for m in genes if m.how in SURE and _begins(name, m)}
    genes = [
        match
        for match in genes
        if match.gene.identifier in kept or not _is_outdone(match, name, begun)
    ]
    rivals = {
        taxon: _Rivals.of(taxon, near, genes, meant, around)
        for taxon in _identifier_facts_taxa(genes)
    }
    found = [Option(m.gene, _gene(m, name, rivals[m.gene.taxon], around)) for m in genes]
    found += [
        Option(m.gene, dict(_family(m, name, genes, around))) for m in matches if not m.gene.taxon
    ]
    return [*found, Option(None, dict(_none(name, near, matches, meant, around)))]


def _members(genes: Sequence[Match], around: Surroundings) -> list[Match]:
    """The one member of a family in each species that the text names too; none of several.

    In a text about caspase-3 the caspase is that one; in one about many of them it is all.
    """
    named = [m for m in genes if m.kind is Kind.MEMBER and m.gene.identifier in around.named]
    several = len({match.gene.taxon for match in named}) < len(named)
    return [] if several else named


def _is_of_genes(genes: Sequence[Match]) -> bool:
    """Whether a species lists a name for some genes, but not for so many that it is a family's."""
    own = [
        match.gene.taxon
        for match in genes
        if match.kind <= Kind.PREVIOUS
        and match.how in SURE
        and match.gene.coding
        and not match.lent
    ]
    return any(own.count(taxon) <= FEW for taxon in set(own))


def _identifier_facts_taxa(genes: Sequence[Match]) -> Iterable[int]:
    return dict.fromkeys(match.gene.taxon for match in genes)


class _Rivals(NamedTuple):
    """The genes of one species that a name may stand for."""

    number: float  # in powers of two
    seen: int  # the most
    kind: Kind  # the surest
    popular: int  # the most
    coding: bool  # whether any is
    full: Mapping[str, Match]  # what the long form stands for
    defined: bool  # whether that is surely one of these
    species: Facts

    @classmethod
    def of(
        cls,
        taxon: int,
        near: int,
        genes: Sequence[Match],
        meant: Sequence[Match] | None,
        around: Surroundings,
    ) -> _Rivals:
        own = [match for match in genes if match.gene.taxon == taxon]
        full = {other.gene.identifier: other for other in meant or () if other.gene.taxon == taxon}
        return cls(
            math.log2(len(own)) / 4,
            max(match.seen for match in own),
            min(match.kind for match in own),
            max(match.gene.popular for match in own),
            any(match.gene.coding for match in own),
            full,
            _is_defined(own, full),
            _species(taxon, near, around),
        )


def _gene(match: Match, name: str, rivals: _Rivals, around: Surroundings) -> Facts:
    gene, kind = match.gene, match.kind
    named = around.named.get(gene.identifier, 0) - (kind is not Kind.MEMBER)
    facts = {
        _KINDS[kind]: 1.0,
        f"how {match.how}": 1.0,
        "left out": 1.0 - match.share,
        "case": float(match.case or _in_capitals(match, name)),
        "official": float(kind is Kind.SYMBOL and match.how in SURE),
        "seen": match.seen / 8,
        "most seen": float(0 < match.seen >= rivals.seen),
        "best kind": float(kind == rivals.kind),
        "rivals": rivals.number,
        "most popular": float(gene.popular >= rivals.popular),
        "no protein": float(not gene.coding),
        "rival is protein": float(not gene.coding and rivals.coding),
        "lent": float(match.lent),
        "popular": gene.popular / 8,
        "other names": min(max(named, 0), 3) / 3,
        "begins symbol": float(kind is not Kind.SYMBOL and _begins(name, match)),
    }
    if rivals.full:
        defined = gene.identifier in rivals.full
        facts["long form" if defined else "other long form"] = 1.0
        facts["defined otherwise"] = float(not defined and rivals.defined)
    facts |= rivals.species
    if not around.share and " " not in name:
        facts[f"{case_of(name).name.lower()} {gene.taxon}"] = 1.0
    return facts


_KINDS = {kind: kind.name.lower() for kind in Kind}


def _is_defined(rivals: Sequence[Match], full: Mapping[str, Match]) -> bool:
    """Whether some gene of a name is surely what the text says that the abbreviation means."""
    return any(
        full[match.gene.identifier].kind <= Kind.PREVIOUS or not match.how.startswith("long")
        for match in rivals
        if match.gene.identifier in full
    )


def _is_silent(match: Match, genes: Sequence[Match]) -> bool:
    """Whether a gene codes for no protein where one that does has its name as surely."""
    if match.gene.coding or match.kind <= Kind.NAME or match.seen:
        return False
    return any(
        other.gene.coding and other.kind <= match.kind
        for other in genes
        if other.gene.taxon == match.gene.taxon
    )


def _is_outdone(match: Match, name: str, begun: Collection[int]) -> bool:
    """Whether a name that is not the symbol of a gene speaks more plainly for another one.

    VEGF is the beginning of VEGFA, not of KDR; ``begun`` are the species where it is of some.
    """
    if match.kind <= Kind.NAME or match.seen or match.gene.taxon not in begun:
        return False
    return not _begins(name, match)


def _begins(name: str, match: Match) -> bool:
    """Whether a name is the symbol but for what the first member of a family has at its end."""
    return _is_beginning(name, match.gene.symbol)


@lru_cache(maxsize=1 << 13)
def _is_beginning(name: str, symbol: str) -> bool:
    key, whole = key_of(name), key_of(symbol)
    return whole.startswith(key) and whole[len(key) :] in _FIRST


_FIRST = frozenset(("1", "a", "a1", "l1"))


def _in_capitals(match: Match, name: str) -> bool:
    """Whether the symbol of a mouse gene is written as that of a protein, all in capitals."""
    symbol = match.kind is Kind.SYMBOL and match.gene.taxon == MOUSE
    return symbol and case_of(name) is Case.UPPER


@lru_cache(maxsize=1 << 5)  # of the text that is looked at: its names share them
def _species(taxon: int, near: int, around: Surroundings) -> Facts:
    return dict(_species_facts(taxon, near, around))


def _species_facts(taxon: int, near: int, around: Surroundings) -> Iterator[tuple[str, float]]:
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
        mouse = around.style.get(MOUSE, 0.0)
        if abs(mouse) > CLEAR:
            yield f"{'titled' if mouse > 0 else 'capital'} symbols {taxon}", 1.0
    yield "style" if around.share else "style unnamed", around.style.get(taxon, 0.0)
    yield "only of species", around.own.get(taxon, 0.0)
    yield "leaning" if around.share else "leaning unnamed", around.leaning.get(taxon, 0.0)


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
    meant: Sequence[Match] | None,
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
        full = {other.gene for other in meant}
        known = any(match.gene in full for match in matches)
        plain = not known and is_plain(around.in_full(name) or "")
        yield "none but long form" if known else "none as long form", 1.0
        yield "none as plain long form", float(plain)
    if near and near not in around.lookup.taxa:
        yield "none as species near", 1.0
    yield "none as species", 1.0 + around.foreign
    yield "none as leading species", float(around.foreign > 0)


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


@lru_cache(maxsize=1 << 12)
def parts_of(name: str, lookup: Lookup) -> tuple[str, ...]:
    """The names in a list, where each of them is known."""
    items = listed(name)
    if items and any(
        match.how == "whole" and match.kind <= Kind.PREVIOUS for match in lookup.matches(name)
    ):
        return ()  # F4/80
    known = all(
        any(match.gene.taxon and match.how in SURE for match in lookup.matches(item))
        for item in items
    )
    return tuple(items) if known else ()
