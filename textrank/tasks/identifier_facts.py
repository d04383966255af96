"""What speaks for and against a gene as the meaning of a name: facts with a number each."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from textrank.language.gene_forms import Case, case_of, key_of, listed
from textrank.language.gene_matches import SURE, Lookup, Match
from textrank.language.gene_tables import Gene, Kind
from textrank.language.species import MOUSE
from textrank.tasks.identifier_surroundings import Surroundings

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
    rivals = {taxon: _Rivals.of(taxon, near, genes, meant, around) for taxon in _taxa(genes)}
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


def _taxa(genes: Sequence[Match]) -> Iterable[int]:
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
