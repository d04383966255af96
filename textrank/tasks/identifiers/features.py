"""Candidate genes of a name and their features, from the gazetteer and from the text around it.

``TextContext`` collects what a document says about its names: species, abbreviations, writing
style. ``generate_candidates`` returns for one name the candidate genes and families, and the
candidate "no gene", each with its feature values. A *taxon* is an NCBI taxonomy number; families
have taxon 0.

A *match* is a gene or family that a name may mean; it is *reliable* if its method, the variant of
the name that was found, is one of ``RELIABLE_METHODS``. A *long form* is what a text defines an
abbreviation as. A *member* match is a gene of a family that the name means as a whole.
"""

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
from textrank.tasks.identifiers.gazetteer import RELIABLE_METHODS, Gene, GeneLookup, Match, NameKind
from textrank.tasks.identifiers.names import (
    FLY,
    HUMAN,
    MOUSE,
    RAT,
    ZEBRAFISH,
    Case,
    SpeciesMention,
    classify_case,
    expand_list,
    find_species,
    make_key,
)

MAX_CHARACTERS_BEFORE = 25  # from a species mention to a name after it
MAX_CHARACTERS_AFTER = 12  # from a name to a species mention after it
DEFAULT_SPECIES = frozenset((HUMAN, MOUSE))  # considered even if a text does not name them
_TAXON_OF_PREFIX = {"h": HUMAN, "m": MOUSE, "r": RAT}
_VAGUE_KINDS = frozenset((NameKind.SHORTENED, NameKind.MEMBER))
_SPECIES_PREFIXES = frozenset(("", *_TAXON_OF_PREFIX))
# What may follow an abbreviation and is then appended to its long form: TRbeta.
_SUFFIX = re.compile(
    r"^[\s-]?(?:[IVX]+|[A-Z]?\d{1,2}[A-Za-z]?|[A-E]|[a-e]|alpha|beta|gamma|delta|[α-ω])\d?$"
)
_SHIPPED_SPECIES = frozenset((HUMAN, MOUSE, ZEBRAFISH, FLY))
_PRIOR_SPECIES_COUNTS = {HUMAN: 0.5, MOUSE: 0.3}  # pseudo-counts of mentions


@dataclass(frozen=True, eq=False)
class TextContext:
    """Facts about a document that bear on the meaning of its gene names."""

    lookup: GeneLookup
    species: Sequence[SpeciesMention]  # without hints
    species_share: Mapping[int, float]  # taxon -> share of the weighted species mentions
    species_lead: Mapping[int, float]  # taxon -> lead over the most mentioned other, -1 .. 1
    title_species: frozenset[int]  # taxa mentioned in the first line or sentence
    fixed_species: frozenset[int]  # taxa that the user restricts genes to; empty means all
    taxa: frozenset[int]  # taxa whose genes are considered
    long_forms: Mapping[str, str]  # abbreviation -> long form
    short_forms: Mapping[str, str]  # key of a long form -> abbreviation
    name_counts: Mapping[str, int]  # identifier -> number of different names that may mean it
    repeated_identifiers: frozenset[str]  # identifiers that several names may mean
    case_style: Mapping[int, float]  # human, mouse -> whether symbols are written so, -1 .. 1
    exclusive_share: Mapping[int, float]  # taxon -> share of names that only its genes have
    mouse_score: Mapping[int, float]  # human, mouse -> evidence from cue words, -1 .. 1

    @classmethod
    def from_text(
        cls, text: str, names: Sequence[str], lookup: GeneLookup, fixed_species: Sequence[int]
    ) -> TextContext:
        """Analyse a document with these gene names.

        Parameters
        ----------
        text
            Text of the document; its title is the first line, or the first sentence if there is one
            line.
        names
            Names of genes in it, as written; repeated ones count once.
        lookup
            Gazetteers to search.
        fixed_species
            Taxa to restrict genes to, which then have equal shares; empty means no restriction.
        """
        mentions = find_species(text)
        counts: Counter[int] = Counter()
        for mention in mentions:
            counts[mention.taxon] += mention.weight  # type: ignore[assignment]
        total = sum(counts.values())
        species_share = {taxon: count / total for taxon, count in counts.items()}
        if fixed_species:
            species_share = {taxon: 1.0 / len(fixed_species) for taxon in fixed_species}
        title_end = text.find("\n") if "\n" in text else text.find(". ")
        title_species = frozenset(
            mention.taxon for mention in mentions if mention.start < title_end
        )
        taxa = _choose_taxa(lookup, species_share, frozenset(fixed_species))
        matches = {name: lookup.find_matches(name, taxa) for name in dict.fromkeys(names)}
        name_counts = Counter(
            match.gene.identifier
            for name_matches in matches.values()
            for match in name_matches
            if match.kind is not NameKind.MEMBER
        )
        long_forms = find_long_forms(text)
        mouse_score = lookup.mouse_score(text)
        return cls(
            lookup,
            [mention for mention in mentions if mention.weight == 1.0],
            species_share,
            _compute_species_lead(species_share, total)
            if species_share
            else dict.fromkeys(DEFAULT_SPECIES, 0.0),
            title_species,
            frozenset(fixed_species),
            taxa,
            long_forms,
            {make_key(full): short for short, full in long_forms.items()},
            dict(name_counts),
            frozenset(identifier for identifier, count in name_counts.items() if count > 1),
            _compute_case_style(matches),
            _compute_exclusive_share(matches),
            {HUMAN: -mouse_score, MOUSE: mouse_score},
        )

    @cached_property
    def foreign_species_lead(self) -> float:
        """Largest lead of a species that the gazetteers do not cover, -1 .. 1.

        -1 if there is none.
        """
        leads = [lead for taxon, lead in self.species_lead.items() if taxon not in self.lookup.taxa]
        return max(leads, default=-1.0)

    def find_nearest_species(self, start: int, end: int, name: str) -> int:
        """Return the taxon mentioned next to a name at ``start:end`` (characters).

        0 if none is near. A prefix of the name counts first (hIL2 is human), then a mention less
        than ``MAX_CHARACTERS_BEFORE`` before or ``MAX_CHARACTERS_AFTER`` after it. With fixed
        species the text does not count: a single one is always returned, else 0.
        """
        if self.fixed_species:
            return next(iter(self.fixed_species)) if len(self.fixed_species) == 1 else 0
        if name[:1] in _TAXON_OF_PREFIX and name[1:2].isupper():
            return _TAXON_OF_PREFIX[name[0]]
        index = bisect_left(self.species, (end, 0, 0))
        if index and start - self.species[index - 1].end < MAX_CHARACTERS_BEFORE:
            return self.species[index - 1].taxon
        if index < len(self.species) and self.species[index].start - end < MAX_CHARACTERS_AFTER:
            return self.species[index].taxon
        return 0

    def find_matches(self, name: str) -> tuple[Match, ...]:
        """Return the genes and families that a name may mean, of the species considered (``taxa``).

        Empty if the name is unknown.
        """
        return self.lookup.find_matches(name, self.taxa)

    def expand_abbreviation(self, name: str) -> str | None:
        """Return the long form of an abbreviation, also of one with a suffix (TRbeta).

        A suffix is appended to the long form; a prefix h, m or r for the species is dropped. None
        if the text does not define the abbreviation.

        >>> context = TextContext.from_text("the thyroid receptor (TR)", [], GeneLookup([]), [])
        >>> context.expand_abbreviation("TR"), context.expand_abbreviation("TRAF2")
        ('thyroid receptor', None)
        >>> context.expand_abbreviation("TRbeta")
        'thyroid receptor beta'
        """
        if name in self.long_forms:
            return self.long_forms[name]
        for short, full in self.long_forms.items():
            if (start := name.find(short)) in (0, 1) and name[:start] in _SPECIES_PREFIXES:
                suffix = name[start + len(short) :]
                if _SUFFIX.match(suffix):
                    return f"{full} {suffix.strip(' -')}"
        return None

    def match_long_form(self, name: str) -> tuple[Match, ...] | None:
        """Return what the long form of an abbreviation may mean; None if it has no long form.

        Empty if it has one that means no known gene or family. Per species only reliable matches of
        the most reliable kind are returned, without shortened and member names. If the long form
        with the suffix of the abbreviation is unknown (glucocorticoid receptor alpha), it is
        matched without the suffix. None also for a symbol that only looks like an abbreviation with
        a suffix (CFHR3).
        """
        long_form = self.expand_abbreviation(name)
        if long_form is None or (
            name not in self.long_forms and any(map(_is_symbol, self.find_matches(name)))
        ):
            return None  # CFHR3 is a symbol, not CFH with a suffix
        for text in (
            (long_form,) if name in self.long_forms else (long_form, long_form.rpartition(" ")[0])
        ):
            reliable = [
                match for match in self.find_matches(text) if match.method in RELIABLE_METHODS
            ]
            specific = [match for match in reliable if match.kind not in _VAGUE_KINDS]
            best_kind = {m.gene.taxon: m.kind for m in sorted(specific, key=lambda m: -m.kind)}
            matches = tuple(
                match for match in specific if match.kind == best_kind[match.gene.taxon]
            )
            if matches:
                return matches
        return ()

    def collect_matches(self, name: str, long_form_matches: Sequence[Match] | None) -> list[Match]:
        """Return the matches of a name, and those of its long form or of its abbreviation.

        ``long_form_matches`` is the result of ``match_long_form``. If it is None and no match is
        reliable, the abbreviation of the name is looked up instead. Only reliable matches are
        added; they get the method ``long`` or ``short`` (with ``in part`` for inexact ones). For a
        species that has a gene under both forms, no others are added. Each identifier occurs once,
        the matches of the name first.
        """
        matches = {match.gene.identifier: match for match in self.find_matches(name)}
        other_matches, method = long_form_matches, "long"
        if other_matches is None and not any(map(_is_sure, matches.values())):
            other_matches, method = (
                self.find_matches(self.short_forms.get(make_key(name), "")),
                "short",
            )
        matched_taxa = {
            matches[other.gene.identifier].gene.taxon
            for other in other_matches or ()
            if other.gene.identifier in matches
        }
        for match in other_matches or ():
            if match.method in RELIABLE_METHODS and match.gene.taxon not in matched_taxa:
                other_method = method if match.method == "whole" else f"{method} in part"
                matches.setdefault(match.gene.identifier, match._replace(method=other_method))
        return list(matches.values())


def _is_sure(match: Match) -> bool:
    """Return whether a match is a gene (not a family) under a reliable variant of the name."""
    return match.method in RELIABLE_METHODS and bool(match.gene.taxon)


def _choose_taxa(
    lookup: GeneLookup, species_share: Mapping[int, float], fixed_species: frozenset[int]
) -> frozenset[int]:
    """Return the species whose genes are considered.

    These are the fixed ones if given; else those species of the gazetteers that are default
    species, are mentioned (``species_share``), or are only in a user's gazetteer.
    """
    if fixed_species:
        return fixed_species
    return frozenset(
        t
        for t in lookup.taxa
        if t in DEFAULT_SPECIES or t in species_share or t not in _SHIPPED_SPECIES
    )


def _compute_species_lead(
    species_share: Mapping[int, float], n_mentions: float
) -> dict[int, float]:
    """Return half the log ratio of each species' count to the highest other, clipped to -1 .. 1.

    ``species_share`` are shares by taxon and ``n_mentions`` the weighted number of mentions they
    are of, at least 1. Counts include the pseudo-counts of human and mouse, which are always in the
    result, so that human leads if none is mentioned.
    """
    counts = {
        taxon: proportion * max(n_mentions, 1.0) for taxon, proportion in species_share.items()
    }
    for taxon, prior in _PRIOR_SPECIES_COUNTS.items():
        counts[taxon] = counts.get(taxon, 0.0) + prior
    leads = {}
    for taxon, count in counts.items():
        other = max(
            (n for t, n in counts.items() if t != taxon), default=_PRIOR_SPECIES_COUNTS[HUMAN]
        )
        leads[taxon] = min(1.0, max(-1.0, math.log(count / other) / 2))
    return leads


def _compute_case_style(matches: Mapping[str, Sequence[Match]]) -> dict[int, float]:
    """Return whether symbols are written like those of human (TP53) and mouse (Trp53), -1 .. 1.

    ``matches`` are by name. Values are by taxon, of opposite sign; 0 if no name is a symbol.
    """
    symbols = [name for name, name_matches in matches.items() if any(map(_is_symbol, name_matches))]
    cases = Counter(classify_case(name) for name in symbols)
    upper, title = cases[Case.UPPER], cases[Case.TITLE]
    mouse_style = (title - upper) / (title + upper + 1)
    return {HUMAN: -mouse_style, MOUSE: mouse_style}


def _is_symbol(match: Match) -> bool:
    """Return whether the whole name is the official symbol of a gene (not of a family)."""
    return match.kind is NameKind.SYMBOL and match.method == "whole" and bool(match.gene.taxon)


def _compute_exclusive_share(matches: Mapping[str, Sequence[Match]]) -> dict[int, float]:
    """Return per taxon the share of known names that only its genes have.

    ``matches`` are by name; only reliable matches with genes count. One is added to the number of
    known names, so shares are below 1. Species without such a name are left out.
    """
    taxa = [
        {
            match.gene.taxon
            for match in name_matches
            if match.gene.taxon and match.method in RELIABLE_METHODS
        }
        for name_matches in matches.values()
    ]
    single = Counter(next(iter(name_matches)) for name_matches in taxa if len(name_matches) == 1)
    n_known = sum(map(bool, taxa))
    return {taxon: count / (n_known + 1) for taxon, count in single.items()}


FeatureValues = Mapping[str, float]
MIN_CLEAR_STYLE = 0.3  # absolute case style from which it counts as clear
MAX_GENES_PER_NAME = 3  # a name that more genes of a species share is taken to mean the family


class CandidateGene(NamedTuple):
    """A candidate meaning of a name with its feature values; ``gene`` None means no gene."""

    gene: Gene | None
    features: FeatureValues


def generate_candidates(name: str, nearest_taxon: int, context: TextContext) -> list[CandidateGene]:
    """Return the candidate genes and families of a name; the last candidate is "no gene".

    ``nearest_taxon`` is the result of ``TextContext.find_nearest_species``, 0 for none. Genes come
    before families. Families are dropped if the name is one of a gene itself; genes are dropped if
    a better candidate makes them implausible (``_is_noncoding_duplicate``, ``_is_less_plain``) or
    if the name is a list, whose items are resolved separately. An unknown name has the candidate
    "no gene" only.
    """
    long_form_matches = context.match_long_form(name)
    matches = context.collect_matches(name, long_form_matches)
    if split_list(name, context.lookup):
        matches = [match for match in matches if not match.gene.taxon]
    genes = [match for match in matches if match.gene.taxon]
    if _is_gene_name(genes):
        matches = genes
    elif members := _find_single_members(genes, context):
        genes = matches = members
    genes = [match for match in genes if not _is_noncoding_duplicate(match, genes)]
    protected = {
        other.gene.identifier for other in long_form_matches or ()
    } | context.repeated_identifiers
    begun_taxa = {
        m.gene.taxon for m in genes if m.method in RELIABLE_METHODS and _begins_symbol(name, m)
    }
    genes = [
        match
        for match in genes
        if match.gene.identifier in protected or not _is_less_plain(match, name, begun_taxa)
    ]
    competitors = {
        taxon: _SpeciesCompetitors.from_matches(
            taxon, nearest_taxon, genes, long_form_matches, context
        )
        for taxon in _distinct_taxa(genes)
    }
    candidates = [
        CandidateGene(m.gene, _gene_features(m, name, competitors[m.gene.taxon], context))
        for m in genes
    ]
    candidates += [
        CandidateGene(m.gene, dict(_iter_family_features(m, name, genes, context)))
        for m in matches
        if not m.gene.taxon
    ]
    return [
        *candidates,
        CandidateGene(
            None,
            dict(_iter_no_gene_features(name, nearest_taxon, matches, long_form_matches, context)),
        ),
    ]


def _find_single_members(genes: Sequence[Match], context: TextContext) -> list[Match]:
    """Return the members of a family that the text also names otherwise, if one per species.

    ``genes`` are the matches of a name with genes. In a text about caspase-3, "caspase" means that
    one; in a text about several caspases it means the family, and nothing is returned.
    """
    members = [
        m for m in genes if m.kind is NameKind.MEMBER and m.gene.identifier in context.name_counts
    ]
    is_ambiguous = len({match.gene.taxon for match in members}) < len(members)
    return [] if is_ambiguous else members


def _is_gene_name(genes: Sequence[Match]) -> bool:
    """Return whether a species lists the name for at most ``MAX_GENES_PER_NAME`` coding genes.

    Then the name is taken to mean a gene, not a family.
    """
    taxa = [
        match.gene.taxon
        for match in genes
        if match.kind <= NameKind.PREVIOUS
        and match.method in RELIABLE_METHODS
        and match.gene.coding
        and not match.is_from_ortholog
    ]
    return any(taxa.count(taxon) <= MAX_GENES_PER_NAME for taxon in set(taxa))


def _distinct_taxa(genes: Sequence[Match]) -> Iterable[int]:
    """Return the taxa of matches, each once, in order of first occurrence."""
    return dict.fromkeys(match.gene.taxon for match in genes)


class _SpeciesCompetitors(NamedTuple):
    """Statistics over the genes of one species that a name may mean.

    ``log2_count`` and ``popular`` are the largest values of a match and of a gene, ``kind`` the
    most reliable kind.
    """

    log2_size: float  # log2 of their number, divided by 4
    log2_count: int  # largest
    kind: NameKind  # most reliable
    popular: int  # largest
    coding: bool  # whether any codes for a protein
    long_form_genes: Mapping[str, Match]  # by identifier, genes that the long form may mean
    has_definite_long_form: bool  # see _is_defined
    species: FeatureValues  # features of the species

    @classmethod
    def from_matches(
        cls,
        taxon: int,
        nearest_taxon: int,
        genes: Sequence[Match],
        long_form_matches: Sequence[Match] | None,
        context: TextContext,
    ) -> _SpeciesCompetitors:
        """Compute the statistics of the genes of a taxon; there must be at least one.

        ``genes`` are the candidate genes of all species; ``long_form_matches`` is the result of
        ``TextContext.match_long_form``, where None counts as empty.
        """
        members = [match for match in genes if match.gene.taxon == taxon]
        long_form_genes = {
            other.gene.identifier: other
            for other in long_form_matches or ()
            if other.gene.taxon == taxon
        }
        return cls(
            math.log2(len(members)) / 4,
            max(match.log2_count for match in members),
            min(match.kind for match in members),
            max(match.gene.popular for match in members),
            any(match.gene.coding for match in members),
            long_form_genes,
            _is_defined(members, long_form_genes),
            _species_features(taxon, nearest_taxon, context),
        )


def _gene_features(
    match: Match, name: str, competitors: _SpeciesCompetitors, context: TextContext
) -> FeatureValues:
    """Return the feature values of a candidate gene by name.

    ``competitors`` are the statistics of its species, whose species features are included. Values
    lie mostly in 0 .. 1; a missing feature is 0.
    """
    gene, kind = match.gene, match.kind
    n_other_names = context.name_counts.get(gene.identifier, 0) - (kind is not NameKind.MEMBER)
    features = {
        _KIND_FEATURES[kind]: 1.0,
        f"how {match.method}": 1.0,
        "left out": 1.0 - match.coverage,
        "case": float(match.has_case_match or _is_mouse_symbol_in_capitals(match, name)),
        "official": float(kind is NameKind.SYMBOL and match.method in RELIABLE_METHODS),
        "seen": match.log2_count / 8,
        "most seen": float(0 < match.log2_count >= competitors.log2_count),
        "best kind": float(kind == competitors.kind),
        "rivals": competitors.log2_size,
        "most popular": float(gene.popular >= competitors.popular),
        "no protein": float(not gene.coding),
        "rival is protein": float(not gene.coding and competitors.coding),
        "lent": float(match.is_from_ortholog),
        "popular": gene.popular / 8,
        "other names": min(max(n_other_names, 0), 3) / 3,
        "begins symbol": float(kind is not NameKind.SYMBOL and _begins_symbol(name, match)),
    }
    if competitors.long_form_genes:
        is_long_form = gene.identifier in competitors.long_form_genes
        features["long form" if is_long_form else "other long form"] = 1.0
        features["defined otherwise"] = float(
            not is_long_form and competitors.has_definite_long_form
        )
    features |= competitors.species
    if not context.species_share and " " not in name:
        features[f"{classify_case(name).name.lower()} {gene.taxon}"] = 1.0
    return features


_KIND_FEATURES = {kind: kind.name.lower() for kind in NameKind}


def _is_defined(members: Sequence[Match], long_form_genes: Mapping[str, Match]) -> bool:
    """Return whether one of the genes is reliably what the text defines the abbreviation as.

    ``members`` are the candidate genes of a species, ``long_form_genes`` the matches of the long
    form by identifier. A gene counts if it matches the abbreviation too, or if the long form is a
    listed name of it.
    """
    return any(
        long_form_genes[match.gene.identifier].kind <= NameKind.PREVIOUS
        or not match.method.startswith("long")
        for match in members
        if match.gene.identifier in long_form_genes
    )


def _is_noncoding_duplicate(match: Match, genes: Sequence[Match]) -> bool:
    """Return whether a non-coding gene shares the name with a coding one that has it as reliably.

    ``genes`` are the candidate genes of the name; only those of the same species are compared.
    Genes with an official name, or seen with the name in training text, are kept.
    """
    if match.gene.coding or match.kind <= NameKind.NAME or match.log2_count:
        return False
    return any(
        other.gene.coding and other.kind <= match.kind
        for other in genes
        if other.gene.taxon == match.gene.taxon
    )


def _is_less_plain(match: Match, name: str, begun_taxa: Collection[int]) -> bool:
    """Return whether a name speaks more plainly for another gene of the species.

    VEGF is the beginning of VEGFA, not of KDR. ``begun_taxa`` are the species with a gene whose
    symbol begins with the name. False for official names, and for genes seen with the name in
    training text.
    """
    if match.kind <= NameKind.NAME or match.log2_count or match.gene.taxon not in begun_taxa:
        return False
    return not _begins_symbol(name, match)


def _begins_symbol(name: str, match: Match) -> bool:
    """Return whether a name is the symbol of the match's gene without a first-member ending.

    Endings are those of ``_FIRST_MEMBER_ENDINGS``; the whole symbol does not count.
    """
    return _is_beginning(name, match.gene.symbol)


@lru_cache(maxsize=1 << 13)
def _is_beginning(name: str, symbol: str) -> bool:
    """Return whether the symbol's key is the name's key plus an ending such as 1 or A.

    False if the two are equal. Cached.
    """
    key, symbol_key = make_key(name), make_key(symbol)
    return symbol_key.startswith(key) and symbol_key[len(key) :] in _FIRST_MEMBER_ENDINGS


_FIRST_MEMBER_ENDINGS = frozenset(("1", "a", "a1", "l1"))


def _is_mouse_symbol_in_capitals(match: Match, name: str) -> bool:
    """Return whether a mouse symbol is written in capitals, as its protein is."""
    is_symbol = match.kind is NameKind.SYMBOL and match.gene.taxon == MOUSE
    return is_symbol and classify_case(name) is Case.UPPER


@lru_cache(maxsize=1 << 5)
def _species_features(taxon: int, nearest_taxon: int, context: TextContext) -> FeatureValues:
    """Return the features of a species in a document by name; do not change the result.

    ``nearest_taxon`` is the taxon mentioned next to the name, 0 for none. The cache is small: the
    names of the current document share these values.
    """
    return dict(_iter_species_features(taxon, nearest_taxon, context))


def _iter_species_features(
    taxon: int, nearest_taxon: int, context: TextContext
) -> Iterator[tuple[str, float]]:
    """Yield name and value of each species feature.

    Arguments are those of ``_species_features``.
    """
    yield f"taxon {taxon}", 1.0
    yield "species share", context.species_share.get(taxon, 0.0)
    yield "species lead", context.species_lead.get(taxon, -1.0)
    yield "species in title", float(taxon in context.title_species)
    yield "species only", float(len(context.species_share) == 1 and taxon in context.species_share)
    yield (
        "species most",
        float(
            taxon in context.species_share
            and context.species_share[taxon] == max(context.species_share.values())
        ),
    )
    if nearest_taxon:
        yield "species near" if nearest_taxon == taxon else "other species near", 1.0
    if not context.species_share:
        yield f"no species {taxon}", 1.0
        mouse_style = context.case_style.get(MOUSE, 0.0)
        if abs(mouse_style) > MIN_CLEAR_STYLE:
            yield f"{'titled' if mouse_style > 0 else 'capital'} symbols {taxon}", 1.0
    yield "style" if context.species_share else "style unnamed", context.case_style.get(taxon, 0.0)
    yield "only of species", context.exclusive_share.get(taxon, 0.0)
    yield (
        "leaning" if context.species_share else "leaning unnamed",
        context.mouse_score.get(taxon, 0.0),
    )


def _iter_family_features(
    match: Match, name: str, genes: Sequence[Match], context: TextContext
) -> Iterator[tuple[str, float]]:
    """Yield name and value of each feature of a candidate family, the gene of ``match``.

    ``genes`` are the candidate genes of the same name.
    """
    yield "family", 1.0
    yield f"family {match.method}", 1.0
    yield "family case", float(match.has_case_match)
    yield "family but symbol", float(any(gene.kind <= NameKind.NAME for gene in genes))
    yield "family but synonym", float(any(gene.kind is NameKind.SYNONYM for gene in genes))
    yield "family but seen", max((gene.log2_count for gene in genes), default=0) / 8
    yield "family plain", context.lookup.log2_non_gene_count(name) / 8


def _iter_no_gene_features(
    name: str,
    nearest_taxon: int,
    matches: Sequence[Match],
    long_form_matches: Sequence[Match] | None,
    context: TextContext,
) -> Iterator[tuple[str, float]]:
    """Yield name and value of each feature of the candidate "no gene".

    ``matches`` are all matches of the name, before implausible genes are dropped; ``nearest_taxon``
    and ``long_form_matches`` are as in ``generate_candidates`` and ``TextContext.match_long_form``.
    """
    yield "none", 1.0
    yield f"none length {min(len(name), 5)}", 1.0
    yield f"none {classify_case(name).name.lower()}", 1.0
    yield "none plain", context.lookup.log2_non_gene_count(name) / 8
    yield "none but seen", max((match.log2_count for match in matches), default=0) / 8
    best_kind = min((match.kind for match in matches), default=None)
    yield f"none but {'unknown' if best_kind is None else best_kind.name.lower()}", 1.0
    if matches and all(match.method not in RELIABLE_METHODS for match in matches):
        yield f"none how {matches[0].method}", 1.0
    if long_form_matches is not None:
        long_form_genes = {other.gene for other in long_form_matches}
        is_among_matches = any(match.gene in long_form_genes for match in matches)
        is_plain = not is_among_matches and is_plain_long_form(
            context.expand_abbreviation(name) or ""
        )
        yield "none but long form" if is_among_matches else "none as long form", 1.0
        yield "none as plain long form", float(is_plain)
    if nearest_taxon and nearest_taxon not in context.lookup.taxa:
        yield "none as species near", 1.0
    yield "none as species", 1.0 + context.foreign_species_lead
    yield "none as leading species", float(context.foreign_species_lead > 0)


def is_plain_long_form(long: str) -> bool:
    """Return whether a long form does not end as names of genes and proteins do.

    >>> is_plain_long_form("class switch recombination")
    True
    >>> is_plain_long_form("epidermal growth factor receptor")
    False
    """
    return _GENE_LIKE_ENDING.search(long) is None


_GENE_LIKE_ENDING = re.compile(
    r"(?:(?:ase|in|en|or|an|ormone|gene|like|ligand|homolog|homologue|complex|channel|carrier|domain"
    r"|family|element|box|helix|peptide|molecule|exchanger|finger)s?"
    r"|[\dIVX]+|[a-z]?[A-Z0-9-]+\w?|alpha|beta|gamma|delta|[α-ω]|\b\w)$"
)


@lru_cache(maxsize=1 << 12)
def split_list(name: str, lookup: GeneLookup) -> tuple[str, ...]:
    """Return the items of an abbreviated list (ERK1/2) if each is a known gene; else empty. Cached.

    A name that is itself known, such as F4/80, is not a list, nor is a name without several items.
    """
    items = expand_list(name)
    if items and any(
        match.method == "whole" and match.kind <= NameKind.PREVIOUS
        for match in lookup.find_matches(name)
    ):
        return ()
    is_known = all(
        any(
            match.gene.taxon and match.method in RELIABLE_METHODS
            for match in lookup.find_matches(item)
        )
        for item in items
    )
    return tuple(items) if is_known else ()
