"""What a text says that bears on the genes its names stand for: species, long forms, style."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from textrank.language.abbreviations import long_forms
from textrank.language.gene_forms import Case, case_of, key_of
from textrank.language.gene_matches import SURE, Lookup, Match
from textrank.language.gene_tables import Kind
from textrank.language.species import HUMAN, MOUSE, RAT, SpeciesWord, species_words

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
        long = long_forms(text)
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
