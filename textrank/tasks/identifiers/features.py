"""Candidate genes of a name and their features, from the gazetteer and from the text around it.

``TextContext`` collects what a document says about its names: species, abbreviations, writing
style. The features of its candidates are computed in ``candidate_table``. A *taxon* is an NCBI
taxonomy number; families have taxon 0.

A *match* is a gene or family that a name may mean; it is *reliable* if its method, the variant of
the name that was found, is one of ``RELIABLE_METHODS``. A *long form* is what a text defines an
abbreviation as. A *member* match is a gene of a family that the name means as a whole.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from textrank.language.abbreviations import find_long_forms
from textrank.tasks.identifiers.gazetteer import RELIABLE_METHODS, GeneLookup, Match, NameKind
from textrank.tasks.identifiers.names import (
    HUMAN,
    MOUSE,
    RAT,
    VIRUSES,
    Case,
    SpeciesMention,
    classify_case,
    expand_list,
    find_implied_species,
    find_species,
    make_key,
    strip_modifiers,
)

MAX_CHARACTERS_BEFORE = 25  # from a species mention to a name after it
MAX_CHARACTERS_AFTER = 12  # from a name to a species mention after it
DEFAULT_SPECIES = frozenset((HUMAN, MOUSE))  # considered even if a text does not name them
_VAGUE_KINDS = frozenset((NameKind.SHORTENED, NameKind.MEMBER))
_SPECIES_PREFIXES = frozenset(("", "h", "m", "r"))
# What may follow an abbreviation and is then appended to its long form: TRbeta.
_SUFFIX = re.compile(
    r"^[\s-]?(?:[IVX]+|[A-Z]?\d{1,2}[A-Za-z]?|[A-E]|[a-e]|alpha|beta|gamma|delta|[α-ω])\d?$"
)
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
    case_style: Mapping[int, float]  # human, mouse -> whether symbols are written so, -1 .. 1
    exclusive_share: Mapping[int, float]  # taxon -> share of names that only its genes have
    mouse_score: Mapping[int, float]  # human, mouse -> evidence from cue words, -1 .. 1

    @classmethod
    def from_text(
        cls, text: str, names: Sequence[str], lookup: GeneLookup, fixed_species: Sequence[int]
    ) -> TextContext:
        """Analyse a document with these gene names.

        Hints at a species count with ``HINT_WEIGHT`` in shares but are not in ``species``; they
        count in ``title_species`` too. Viruses have no share, unless they are fixed species.
        ``taxa`` are the fixed species, else human, mouse, those that the text or the form of a name
        (hTERT) tells, and those of a user's gazetteer. Without any share, ``species_lead`` is 0 for
        human and mouse. ``name_counts`` leaves out matches by the name of a family (MEMBER).

        Parameters
        ----------
        text
            Text of the document; its title is the first line, or what precedes the first ". " if
            there is one line. A text with neither has no title.
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
            if mention.taxon not in VIRUSES:
                counts[mention.taxon] += mention.weight  # type: ignore[assignment]
        total = sum(counts.values())
        species_share = {taxon: count / total for taxon, count in counts.items()}
        if fixed_species:
            species_share = {taxon: 1.0 / len(fixed_species) for taxon in fixed_species}
        title_end = text.find("\n") if "\n" in text else text.find(". ")
        title_species = frozenset(
            mention.taxon for mention in mentions if mention.start < title_end
        )
        implied = {mention.taxon for mention in mentions} | {
            taxon for name in names if (taxon := find_implied_species(name))
        }
        taxa = _choose_taxa(lookup, implied, frozenset(fixed_species))
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
            _compute_case_style(matches),
            _compute_exclusive_share(matches),
            {HUMAN: -mouse_score, MOUSE: mouse_score},
        )

    def find_nearest_species(self, start: int, end: int, name: str) -> int:
        """Return the taxon mentioned next to a name at ``start:end`` (characters).

        0 if none is near. The form of ``name`` counts first (hIL2 is human; "" says nothing), then
        the last mention that begins before the end of the name, if less than
        ``MAX_CHARACTERS_BEFORE`` are between it and the name; then the next mention, if less than
        ``MAX_CHARACTERS_AFTER`` are between. Hints do not count. With fixed species the text does
        not count: a single one is always returned, else 0.
        """
        if self.fixed_species:
            return next(iter(self.fixed_species)) if len(self.fixed_species) == 1 else 0
        if taxon := find_implied_species(name):
            return taxon
        index = bisect_left(self.species, (end, 0, 0))
        if index and start - self.species[index - 1].end < MAX_CHARACTERS_BEFORE:
            return self.species[index - 1].taxon
        if index < len(self.species) and self.species[index].start - end < MAX_CHARACTERS_AFTER:
            return self.species[index].taxon
        return 0

    def find_matches(self, name: str) -> tuple[Match, ...]:
        """Return the genes and families that a name may mean, best first.

        Only genes of the species considered (``taxa``), and families; at most ``MAX_MATCHES``.
        Empty if the name is unknown. Cached by the lookup.
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

        ``long_form_matches`` is the result of ``match_long_form``. If it is None and no gene (other
        than a family) matches reliably, the abbreviation of the name is looked up instead. Only
        reliable matches are added; they get the method ``long`` or ``short`` (with ``in part`` for
        inexact ones). For a species that has a gene under both forms, no others are added. Each
        identifier occurs once, the matches of the name first.
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
    """Return whether a match is a gene (not a family) found by a variant of RELIABLE_METHODS."""
    return match.method in RELIABLE_METHODS and bool(match.gene.taxon)


def _choose_taxa(
    lookup: GeneLookup, named_species: Collection[int], fixed_species: frozenset[int]
) -> frozenset[int]:
    """Return the species (taxa) whose genes are considered.

    These are the fixed ones if given; else those species of the gazetteers that are human or mouse,
    that the text names or hints at (``named_species``), or that are in a user's gazetteer (any but
    the first).
    """
    if fixed_species:
        return fixed_species
    user_taxa = {taxon for table in lookup.tables[1:] for taxon in table.taxa}
    return frozenset(
        taxon
        for taxon in lookup.taxa
        if taxon in DEFAULT_SPECIES or taxon in named_species or taxon in user_taxa
    )


def _compute_species_lead(
    species_share: Mapping[int, float], n_mentions: float
) -> dict[int, float]:
    """Return half the log ratio of each species' count to the highest other, clipped to -1 .. 1.

    Natural logarithm, by taxon. ``species_share`` are shares by taxon and ``n_mentions`` the
    weighted number of mentions they are of; less than 1 counts as 1. Counts include pseudo-counts
    of human (0.5) and mouse (0.3), which are always in the result, so that human leads if none is
    mentioned.
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

    ``matches`` are by name. Values are by taxon, of opposite sign; that of the mouse is (title -
    upper) / (title + upper + 1) for the numbers of symbols so written. 0 if no name is a symbol.
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


def begins_symbol(name: str, match: Match) -> bool:
    """Return whether a name is the symbol of the match's gene without a first-member ending.

    Endings are 1, A, A1 and L1. Spellings are compared by key, without regard to case and
    punctuation; the whole symbol does not count.
    """
    return _is_beginning(name, match.gene.symbol)


@lru_cache(maxsize=1 << 13)
def _is_beginning(name: str, symbol: str) -> bool:
    """Return whether the symbol's key is the name's key plus the ending 1, A, A1 or L1.

    False if the two are equal. Cached.
    """
    key, symbol_key = make_key(name), make_key(symbol)
    return symbol_key.startswith(key) and symbol_key[len(key) :] in _FIRST_MEMBER_ENDINGS


_FIRST_MEMBER_ENDINGS = frozenset(("1", "a", "a1", "l1"))


def is_plain_long_form(long: str) -> bool:
    """Return whether a long form does not end as names of genes and proteins do.

    An empty one is plain.

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
def trim_modifiers(name: str, lookup: GeneLookup) -> str:
    """Return a name without leading modifiers such as "human", "recombinant" or "mutant".

    If any were removed, a last word such as "gene", "protein" or "mRNA" is removed too. A name that
    is listed in the gazetteer with its modifier ("activated C kinase 1") and a name without
    modifiers are returned as they are. Cached.
    """
    trimmed = strip_modifiers(name)
    if trimmed == name:
        return name
    is_same = make_key(name) == make_key(trimmed)
    if not is_same and any(match.method == "whole" for match in lookup.find_matches(name)):
        return name
    head, _, last = trimmed.rpartition(" ")
    return head if head and last.lower() in _HEAD_NOUNS else trimmed


_MAMMALS = frozenset((HUMAN, MOUSE, RAT))
_CONJUNCTION = re.compile(r"\b(?:and|or)\b")  # in a list
_HEAD_NOUNS = frozenset(("gene", "genes", "protein", "proteins", "mrna", "cdna"))


@lru_cache(maxsize=1 << 12)
def split_list(name: str, lookup: GeneLookup) -> tuple[str, ...]:
    """Return the items of an abbreviated list (ERK1/2) if each is a known gene; else empty. Cached.

    A name without "and" or "or" that is itself a symbol, full name, synonym or earlier symbol of a
    mammal, such as F4/80, is not a list, nor is a name without several items. "BMP-2 and -4" is a
    list, although its key is that of a symbol, and so is "NPHP1-9".
    """
    items = expand_list(name)
    if (
        items
        and not _CONJUNCTION.search(name)
        and ("/" in name or "," in name)
        and any(
            match.method == "whole" and match.kind <= NameKind.PREVIOUS
            for match in lookup.find_matches(name, _MAMMALS)
        )
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
