"""What a name may stand for: the genes and families of the tables, and in which way they match."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from textrank.language.gene_forms import Variant, case_of, key_of, listed, parts, variants
from textrank.language.gene_tables import Entry, Gene, GeneTables, Kind
from textrank.language.species import cue_words

SURE = frozenset(("whole", "head", "outside", "inside", "prefix", "roman"))
MOST = 24  # candidates of a name


class Match(NamedTuple):
    """A gene that a name may stand for."""

    gene: Gene
    kind: Kind
    how: str  # one of READINGS
    share: float  # of the name
    case: bool  # whether capitals are those of the table
    seen: int  # how often text had it so, in powers of two
    lent: bool = False  # whether only the same gene of another species is listed with the name


@dataclass(frozen=True, eq=False)
class Lookup:
    """Several tables as one, and what was looked up before."""

    tables: Sequence[GeneTables]
    _known: dict[tuple[str, frozenset[int]], tuple[Match, ...]] = field(
        default_factory=dict, repr=False
    )
    _given: dict[str, Gene] = field(default_factory=dict, repr=False)

    def matches(self, name: str, taxa: frozenset[int] | None = None) -> tuple[Match, ...]:
        """The genes and families a name may stand for, surest first; of a list, none.

        Only genes of the species ``taxa`` are considered; of all that the tables have if not
        given. Readings are tried until one is known; a name that stands for a family only may
        also be meant for one of its genes. Where no reading is known, the longest known part of
        the name is taken.
        """
        asked = (name, self.taxa if taxa is None else taxa)
        if asked not in self._known:
            if len(self._known) > _KEPT:
                self._known.clear()
            self._known[asked] = self._matches(*asked)
        return self._known[asked]

    def gene(self, identifier: str) -> Gene:
        """A gene that was among some matches before."""
        return self._given[identifier]

    def plain(self, name: str) -> int:
        """How often text had this name for no single gene, in powers of two."""
        key = key_of(name)
        return max((table.plain(key) for table in self.tables), default=0)

    def leaning(self, text: str) -> float:
        """Whether a text sounds as those about mice do, or as those about man; from -1 to 1."""
        cues = next((table.cues for table in self.tables if table.cues), None)
        if cues is None:
            return 0.0
        found = math.fsum(cues[word] for word in cues.keys() & {"", *cue_words(text)})
        return max(-1.0, min(1.0, found / _CLEAR))

    def knows(self, identifier: str) -> bool:
        """Whether some table has an identifier."""
        return any(table.knows(identifier) for table in self.tables)

    @cached_property
    def taxa(self) -> frozenset[int]:
        """The species that the tables have genes of."""
        return frozenset(taxon for table in self.tables for taxon in table.taxa)

    def _matches(self, name: str, taxa: frozenset[int]) -> tuple[Match, ...]:
        found: dict[str, Match] = {}
        for variant in variants(name):
            if variant.how not in SURE:
                best = min((m.kind for m in found.values() if m.gene.taxon), default=None)
                if best is not None and best <= Kind.PREVIOUS:
                    break
                # What only databases call interleukin-17 may be the first of its family.
                if best is not None and variant.how != "first":
                    continue
            self._add(variant, taxa, found)
        for part in () if found or listed(name) else parts(name):
            self._add(part, taxa, found)
            if found:
                break
        order = sorted(found.values(), key=lambda match: (match.kind, -match.seen))[:MOST]
        self._given.update({match.gene.identifier: match.gene for match in order})
        return tuple(order)

    def _add(self, variant: Variant, taxa: frozenset[int], found: dict[str, Match]) -> None:
        """The genes that a reading names, and where a species has none, twins of these."""
        for table in self.tables:
            own = table.entries(variant.key)
            if variant.how in _STRICT:
                own = tuple(filter(_strict, own))
            if not own:  # as with most readings
                continue
            kinds = {entry.row: entry.kind for entry in own}
            best: dict[int, Kind] = {}
            for entry in own:
                kind = kinds[entry.row]
                best[entry.taxon] = min(kind, best.get(entry.taxon, kind))
            for entry in own:
                kind, twin = entry.kind, entry.twin
                if kind is not Kind.MEMBER:
                    kind = min(kind, kinds.get(twin, kind))
                if _may_be(entry.taxon, taxa):
                    _put(table.gene(entry.row), kind, entry, variant, found)
                if twin < 0 or twin in kinds:
                    continue
                taxon = int(table.taxon[twin])
                if _may_be(taxon, taxa) and _lends(kind, best.get(taxon)):
                    _put(table.gene(twin), entry.kind, entry, variant, found, lent=True)


def _may_be(taxon: int, taxa: frozenset[int]) -> bool:
    """Whether a gene of this species may be meant; families are of none."""
    return taxon in taxa or not taxon


def _lends(kind: Kind, best: Kind | None) -> bool:
    """Whether a gene's twin has its name too, in a species with ``best`` for the name."""
    return best is None or kind is Kind.MEMBER or kind < best


def _put(
    gene: Gene,
    kind: Kind,
    entry: Entry,
    variant: Variant,
    found: dict[str, Match],
    *,
    lent: bool = False,
) -> None:
    """A match more, if its gene was not found in a surer way."""
    if gene.identifier not in found:
        case = not lent and entry.case == case_of(variant.text)
        found[gene.identifier] = Match(
            gene, kind, variant.how, variant.share, case, entry.seen, lent
        )


_CLEAR = 2.5  # log-odds that leave no doubt
_KEPT = 1 << 12  # names looked up before; their matches take about a kilobyte each
_STRICT = frozenset(("first", "part"))  # ways that are right only with the names of a gene itself


def _strict(entry: Entry) -> bool:
    return entry.kind in (Kind.SYMBOL, Kind.NAME, Kind.SYNONYM, Kind.FAMILY)
