"""Candidate genes of all names of a document as a table of features, and their first-stage scores.

``build_candidate_table`` makes one row per (name, gene): how the name matches the gene, what the
text says about the gene's species, what else in the document speaks for the gene. The first stage
scores the rows; the best few genes of each name get further columns that compare them with each
other and with the rest of the document. A mention of a name adds what stands next to it. Columns
are named (``COLUMNS``); the model of the task has one weight per column.

Families and complexes have taxon 0 and columns of their own, whose names begin with "family".
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textrank.tasks.identifiers.boosted_trees import NO_TREES, BoostedTrees
from textrank.tasks.identifiers.features import (
    TextContext,
    begins_symbol,
    is_plain_long_form,
    split_list,
    trim_modifiers,
)
from textrank.tasks.identifiers.gazetteer import (
    FAMILY_USE,
    NO_GENE_USE,
    RELIABLE_METHODS,
    Gene,
    GeneLookup,
    Match,
    NameKind,
)
from textrank.tasks.identifiers.names import (
    ARABIDOPSIS,
    E_COLI,
    FISSION_YEAST,
    FLY,
    HUMAN,
    MOUSE,
    RAT,
    VARIANT_METHODS,
    VIRUSES,
    WORM,
    YEAST,
    ZEBRAFISH,
    Case,
    classify_case,
    find_implied_species,
    make_key,
)

MAX_GENES_PER_NAME = 6  # that reach the second stage
LOWEST_SCORE = -6.0  # first-stage score of a gene that does not exist
Matrix = NDArray[np.float32]
Usage = Mapping[int, int]

_GROUP_OF_TAXON = {
    HUMAN: "human",
    MOUSE: "rodent",
    RAT: "rodent",
    FLY: "fly",
    ZEBRAFISH: "fish",
    8355: "frog",
    8364: "frog",
    YEAST: "yeast",
    FISSION_YEAST: "pombe",
    WORM: "worm",
    E_COLI: "bacterium",
    224308: "bacterium",
    ARABIDOPSIS: "plant",
}
SPECIES_GROUPS = (*dict.fromkeys(_GROUP_OF_TAXON.values()), "virus", "other")
# fmt: off
_FAMILY_ENDINGS = frozenset(
    (
        "proteins", "kinases", "factors", "cytokine", "complex", "channels", "genes",
        "receptors", "cytokines", "chemokines", "chemokine", "family", "families",
        "superfamily", "histone", "histones", "integrins", "enzymes", "phosphatases",
        "proteases", "caspases",
    )
)
_DOMAIN_ENDINGS = frozenset(
    (
        "domain", "domains", "region", "motif", "motifs", "site", "sites", "element",
        "elements", "box", "repeat", "repeats", "terminus", "helix", "exon", "tail", "loop",
    )
)
_FAMILY_NEXT = frozenset(
    (
        "family", "families", "superfamily", "complex", "complexes", "proteins", "such",
        "members", "isoforms", "receptors", "kinases",
    )
)
_DOMAIN_NEXT = frozenset(
    (
        "domain", "domains", "motif", "motifs", "region", "box", "element", "site", "sites",
        "repeat",
    )
)
# fmt: on
_LETTERS = re.compile(r"[A-Za-z]+")
_NEXT_WORD = re.compile(r"[ -]([A-Za-z]+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9(])|\n")

# Columns of a match, which do not depend on the text.
_KIND_NAMES = tuple(kind.name.lower() for kind in NameKind)
_CASE_NAMES = tuple(case.name.lower() for case in Case)
_METHODS = (*VARIANT_METHODS, "long", "long in part", "short", "short in part")
MATCH_COLUMNS = (
    "gene",
    *(f"listed {kind}" for kind in _KIND_NAMES),
    *(f"lent {kind}" for kind in _KIND_NAMES),
    *(f"reliable {kind}" for kind in _KIND_NAMES),
    *(f"method {method}" for method in _METHODS),
    *("left out", "case", "exact symbol", "rodent capitals", "seen", "most seen", "best kind"),
    *("alone", "rivals", "rivals as good", "worse than symbol", "concepts", "popular"),
    *("most popular", "not coding", "begins symbol", "family too", "family too, symbol"),
    *(f"{case} {group}" for case in _CASE_NAMES for group in SPECIES_GROUPS),
    *(f"species {group}" for group in (*SPECIES_GROUPS, "rat")),
    *("form says species", "form says other species", "prefix, species", "prefix, other species"),
    *(f"length {n}" for n in range(1, 7)),
    *("lower case word", "no digit", "words", "family ending", "domain ending", "plural"),
    "family",
    *(f"family method {method}" for method in _METHODS),
    *("family but symbol", "family but synonym", "family case", "family plural"),
)
# Columns of a species in a text.
SPECIES_COLUMNS = (
    *("species share", "species lead", "species in title", "species only", "species most"),
    *("species named", "species count", "species first", "species not named"),
    *(f"no species hinted {group}" for group in SPECIES_GROUPS),
    *(f"no species named {group}" for group in SPECIES_GROUPS),
    *("style", "style unnamed", "only of species", "leaning", "leaning unnamed"),
)
# Columns of the mentions of a name with regard to a species; shares of the mentions.
NEARBY_COLUMNS = ("near", "other near", "sentence", "other sentence", "last", "other last")
# Columns of a name and gene in the text.
TEXT_COLUMNS = (
    *("lent share", "other names", "other names of concept", "long form", "other long form"),
    *("unknown long form", "plain long form", "next family", "next domain", "not a gene"),
    *("use", "use share", "use family", "use none", "use other", "use unseen"),
    *("label family", "label domain", "family next", "family use", "family use none"),
    *("family use gene", "family use unseen", "family not a gene", "family other long form"),
    *(
        "family label",
        "family label domain",
        "associated",
        "most associated",
        "other is associated",
    ),
)
FIRST_STAGE_COLUMNS = (*MATCH_COLUMNS, *SPECIES_COLUMNS, *NEARBY_COLUMNS, *TEXT_COLUMNS)
# Columns that compare the genes of a name by their first-stage scores.
RANK_COLUMNS = (
    *("score", "gene score", "positive score", "rival", "other species", "other concept"),
    *("other family", "lead", "first", "before other species", "before rival", "elsewhere"),
    *("names elsewhere", "mentions", "document species", "main species", "near main species"),
    *("list item", "family answer"),
)
# Columns of one mention with regard to the species of the gene, and of the word after it.
MENTION_COLUMNS = (
    *("here near", "here other near", "here sentence", "here other sentence", "here last"),
    *("here other last", "here none", "here next family", "here next domain"),
    *("here label family", "here label domain", "here beside itself", "here in apposition"),
)
# The last column is the sum of boosted trees on all others.
COLUMNS = (*RANK_COLUMNS, *MENTION_COLUMNS, *FIRST_STAGE_COLUMNS, "trees")
_MATCH_INDEX = {name: i for i, name in enumerate(MATCH_COLUMNS)}
_SPECIES_INDEX = {name: i for i, name in enumerate(SPECIES_COLUMNS)}
_TEXT_INDEX = {name: i for i, name in enumerate(TEXT_COLUMNS)}


class Mention(NamedTuple):
    """Characters and label of a name in a text."""

    start: int
    end: int
    label: str = ""


class _Evidence(NamedTuple):
    """Surroundings of a mention: indices of taxa, and flags of the next word and of its label.

    An index is -1 if there is no species, ``_UNKNOWN_TAXON`` if it is one that is not considered.
    """

    near: int
    last: int
    sentence: int  # number of its sentence
    is_family_next: bool
    is_domain_next: bool
    is_family: bool  # by its label
    is_domain: bool


@dataclass(frozen=True, eq=False)
class NameBlock:
    """Candidate genes of one name (or list item), with the columns that need no text."""

    name: str
    key: str
    matches: Sequence[Match]
    columns: Matrix  # (matches, MATCH_COLUMNS)


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """Candidates of the names of a document; n rows, one per (name, gene).

    ``rows_of_name`` are the rows of each name, in the order of ``blocks``; ``queries`` are
    (mention number, item number, name number) in text order, where item 0 is the name itself and
    the others are the items of a list.
    """

    blocks: Sequence[NameBlock]
    rows_of_name: Sequence[range]
    queries: Sequence[tuple[int, int, int]]
    genes: Sequence[Gene]  # (n,)
    concepts: Sequence[tuple[int, int]]  # (n,)
    first_stage: Matrix  # (n, FIRST_STAGE_COLUMNS)
    taxon_index: NDArray[np.intp]  # (n,) index into taxa
    taxa: Sequence[int]  # species considered, and 0 for families as the last one
    sentence_taxa: NDArray[np.bool_]  # (sentences, taxa) species that each sentence names
    # Of each query, the concepts that other names of its sentence mean with little doubt, and those
    # of names that stand in brackets after it or before which it stands in brackets.
    concepts_beside: Sequence[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]]
    evidence: Sequence[_Evidence]  # of each query
    key_ids: NDArray[np.intp]  # (n,) equal for names with the same key

    def rank(self, scores: NDArray[np.float64], trees: BoostedTrees = NO_TREES) -> RankedCandidates:
        """Return the best genes of each query with all their columns, in the order of COLUMNS.

        ``scores`` (n,) are those of the first stage. At most MAX_GENES_PER_NAME (6) rows of a name
        are kept, the best first; of equal scores (to nine decimals) the earlier row. Of the rows
        beyond these, the best family, if there is one, replaces the last one kept. A query whose
        name has no candidates has an empty range of rows and no genes. ``trees`` give the last
        column, from the others.
        """
        negated = (-scores.round(9)).tolist()
        is_family = (self.taxon_index == len(self.taxa) - 1).tolist()
        kept = []
        for rows in self.rows_of_name:
            best = sorted(rows, key=negated.__getitem__)
            # A family is kept beside its members, however many genes share its name (H3).
            family = [row for row in best[MAX_GENES_PER_NAME:] if is_family[row]][:1]
            kept.append([*best[: MAX_GENES_PER_NAME - len(family)], *family])
        kept_rows = np.array([row for rows in kept for row in rows], dtype=np.intp)
        ends = np.cumsum([0, *map(len, kept)])
        sizes = [len(kept[name]) for _, _, name in self.queries]
        query_ends = np.cumsum([0, *sizes]).tolist()
        slices = [range(*bounds) for bounds in pairwise(query_ends)]
        genes = [[self.genes[row] for row in kept[name]] for _, _, name in self.queries]
        columns = np.zeros((query_ends[-1], len(COLUMNS)), dtype=np.float32)
        if len(columns):
            ranked = self._rank_columns(scores, kept_rows, ends)
            positions = np.concatenate(
                [np.arange(ends[name], ends[name + 1]) for _, _, name in self.queries]
            )
            rows = kept_rows[positions]
            n_rank, n_mention = len(RANK_COLUMNS), len(MENTION_COLUMNS)
            columns[:, :n_rank] = ranked[positions]
            columns[:, n_rank : n_rank + n_mention] = self._mention_columns(
                np.repeat(np.arange(len(sizes)), sizes), self.taxon_index[rows]
            )
            columns[:, n_rank + n_mention : -1] = self.first_stage[rows]
            for query, chosen in enumerate(slices):
                beside, apposed = self.concepts_beside[query]
                if beside or apposed:
                    concepts = [self.concepts[rows[i]] for i in chosen]
                    columns[chosen.start : chosen.stop, _BESIDE] = [c in beside for c in concepts]
                    columns[chosen.start : chosen.stop, _BESIDE + 1] = [
                        c in apposed for c in concepts
                    ]
            columns[:, _LIST_ITEM] = np.repeat([item > 0 for _, item, _ in self.queries], sizes)
            columns[:, -1] = trees.score(columns, COLUMNS)
        return RankedCandidates(columns, slices, genes)

    def _rank_columns(
        self, scores: NDArray[np.float64], kept_rows: NDArray[np.intp], ends: NDArray[np.intp]
    ) -> Matrix:
        """Return the RANK_COLUMNS of the kept rows, shape (kept, RANK_COLUMNS).

        ``kept_rows`` (kept,) are rows of the table, name by name and the best first; name i has
        ``kept_rows[ends[i]:ends[i + 1]]``. The columns are, in order:

        - the score, the score of a gene (0 for a family), and the score if positive;
        - the best score of another row of the name, kept or not: a gene of the same species, of the
          same concept, of another concept, and a family (LOWEST_SCORE if there is none); the score
          minus the greatest of these four;
        - whether it is the first row kept, and above the second and the first of these four;
        - the best score of the same gene under other names (LOWEST_SCORE if none), the number of
          these rows (at most 3), and log(1 + queries of the name);
        - of the species: its share in the document, whether no other has more, and its ratio to the
          greatest. A species has the sum over names of the highest probability of its genes, the
          logistic function of the score; 0 for families;
        - "list item", which is left 0, and whether it is a family.
        """
        probabilities = 1.0 / (1.0 + np.exp(-np.clip(scores, -30.0, 30.0)))
        n_taxa, n_names = len(self.taxa), len(self.blocks)
        best = np.zeros((n_names, n_taxa))
        name_of_row = np.repeat(np.arange(n_names), [len(rows) for rows in self.rows_of_name])
        np.maximum.at(best, (name_of_row, self.taxon_index), probabilities)
        mass_of_taxon = best.sum(axis=0)
        mass_of_taxon[-1] = 0.0  # of families
        mass = mass_of_taxon.tolist()
        total, top = float(mass_of_taxon.sum()) + 1e-6, max(mass, default=0.0)
        score_of_row, taxon_of_row = scores.tolist(), self.taxon_index.tolist()
        elsewhere: dict[str, list[tuple[int, float]]] = {}
        for name, rows in enumerate(self.rows_of_name):
            for row in rows:
                elsewhere.setdefault(self.genes[row].identifier, []).append(
                    (name, score_of_row[row])
                )
        n_mentions = np.bincount([name for _, _, name in self.queries], minlength=n_names).tolist()
        kept, bounds = kept_rows.tolist(), ends.tolist()
        result = []
        for name, rows in enumerate(self.rows_of_name):
            chosen = kept[bounds[name] : bounds[name + 1]]
            log_mentions = math.log1p(n_mentions[name])
            candidates = [
                (row, score_of_row[row], taxon_of_row[row], self.concepts[row]) for row in rows
            ]
            for position, row in enumerate(chosen):
                _, score, index, concept = candidates[row - rows.start]
                is_gene = index < n_taxa - 1
                rival = other_species = other_concept = family = LOWEST_SCORE
                for other, value, other_index, other_concept_id in candidates:
                    if other == row:
                        continue
                    if other_index == n_taxa - 1:
                        family = max(family, value)
                        continue
                    if other_index == index and value > rival:
                        rival = value
                    if other_concept_id == concept:
                        other_species = max(other_species, value)
                    elif value > other_concept:
                        other_concept = value
                others = [
                    value for other, value in elsewhere[self.genes[row].identifier] if other != name
                ]
                share = mass[index] if is_gene else 0.0
                result.append(
                    (
                        score,
                        score * is_gene,
                        max(score, 0.0),
                        rival,
                        other_species,
                        other_concept,
                        family,
                        score - max(rival, other_species, other_concept, family),
                        position == 0,
                        score > other_species,
                        score > rival,
                        max(others, default=LOWEST_SCORE),
                        min(len(others), 3),
                        log_mentions,
                        share / total,
                        is_gene and share >= top,
                        share / (top + 1e-6),
                        0.0,
                        not is_gene,
                    )
                )
        return np.array(result, dtype=np.float32).reshape(-1, len(RANK_COLUMNS))

    def _mention_columns(
        self, query_of_row: NDArray[np.intp], taxon_index: NDArray[np.intp]
    ) -> Matrix:
        """Return the MENTION_COLUMNS of rows, given their query and the index of their species.

        Both arguments have shape (m,), the result has shape (m, MENTION_COLUMNS). The columns say
        whether the nearest species, a species of the sentence and the last species before the
        mention are the gene's or another ("another" in the sentence only if the gene's is not in
        it) and whether there is none of the three, then whether next word and label speak of a
        family or domain. For families, the columns of species and label are 0. The last two
        columns, of names beside the mention, are left 0 for all rows.
        """
        evidence = np.array(self.evidence, dtype=np.intp)[query_of_row]
        near, last, sentence = evidence[:, 0], evidence[:, 1], evidence[:, 2]
        is_gene = taxon_index < len(self.taxa) - 1
        in_sentence = self.sentence_taxa[sentence, taxon_index]
        is_named = np.asarray(self.sentence_taxa.any(axis=1))[sentence]
        result = np.zeros((len(taxon_index), len(MENTION_COLUMNS)), dtype=np.float32)
        result[:, 0] = near == taxon_index
        result[:, 1] = (near >= 0) & (near != taxon_index)
        result[:, 2] = in_sentence
        result[:, 3] = is_named & ~in_sentence
        result[:, 4] = last == taxon_index
        result[:, 5] = (last >= 0) & (last != taxon_index)
        result[:, 6] = (near < 0) & (last < 0) & ~is_named
        result[~is_gene, :7] = 0.0
        result[:, 7:9] = evidence[:, 3:5]
        result[:, 9:11] = evidence[:, 5:] * is_gene[:, None]
        return result


_LIST_ITEM = RANK_COLUMNS.index("list item")
_BESIDE = len(RANK_COLUMNS) + MENTION_COLUMNS.index("here beside itself")


class RankedCandidates(NamedTuple):
    """Best candidates of each query, with their columns (rows, COLUMNS).

    ``rows_of_query`` are the rows of ``columns`` of each query, ``genes_of_query`` the genes of
    these rows; both are in the order of the queries.
    """

    columns: Matrix
    rows_of_query: Sequence[range]
    genes_of_query: Sequence[Sequence[Gene]]


def build_candidate_table(
    context: TextContext,
    text: str,
    mentions: Sequence[Mention],
    own_usage: Mapping[str, Usage] | None = None,
) -> CandidateTable:
    """Find the candidate genes of all mentions and compute their first-stage columns.

    Leading modifiers of a mention ("human") are trimmed first. A name that is an abbreviated list
    ("ERK1/2") is also looked up item by item; the list itself keeps only families as candidates.
    Equal names share their rows. Neither scores nor ranks.

    Parameters
    ----------
    context
        Facts about ``text`` and its names.
    mentions
        Names in the text, in any order.
    own_usage
        Key -> documents by concept that this document added to ``Gazetteer.usage``; subtracted, so
        that a training document does not see its own answers. None subtracts nothing.
    """
    taxa = (*sorted(context.taxa), 0)
    index_of_taxon = {taxon: i for i, taxon in enumerate(taxa)}
    number_of_name: dict[str, int] = {}
    queries = []
    for number, mention in enumerate(mentions):
        name = trim_modifiers(text[mention.start : mention.end], context.lookup)
        for item, item_name in enumerate((name, *split_list(name, context.lookup))):
            queries.append(
                (number, item, number_of_name.setdefault(item_name, len(number_of_name)))
            )
    sentence_taxa, evidence_of_mention = _read_surroundings(context, text, mentions, index_of_taxon)
    evidence = [evidence_of_mention[number] for number, _, _ in queries]
    blocks, long_forms = [], []
    for name in number_of_name:
        long_form_matches = context.match_long_form(name)
        long_forms.append(long_form_matches)
        blocks.append(_find_block(name, long_form_matches, context))
    ends = np.cumsum([0, *(len(block.matches) for block in blocks)]).tolist()
    rows_of_name = [range(*bounds) for bounds in pairwise(ends)]
    matches = [match for block in blocks for match in block.matches]
    taxon_index = np.array([index_of_taxon[m.gene.taxon] for m in matches], dtype=np.intp)
    name_of_row = np.repeat(np.arange(len(blocks)), [len(b.matches) for b in blocks])
    key_numbers: dict[str, int] = {}
    key_of_name = [key_numbers.setdefault(block.key, len(key_numbers)) for block in blocks]
    key_ids = np.array(key_of_name, dtype=np.intp)[name_of_row]
    is_gene = taxon_index < len(taxa) - 1
    nearby = _nearby_shares(queries, evidence, sentence_taxa, len(blocks), len(taxa))
    anchors = [_find_anchors(block) for block in blocks]
    texts = _text_columns(
        context, blocks, long_forms, anchors, rows_of_name, queries, evidence, key_ids, own_usage
    )
    parts = [
        np.vstack([block.columns for block in blocks])
        if blocks
        else np.zeros((0, len(MATCH_COLUMNS)), dtype=np.float32),
        _species_table(context, taxa)[taxon_index],
        nearby[name_of_row, taxon_index] * is_gene[:, None],
        texts,
    ]
    return CandidateTable(
        blocks,
        rows_of_name,
        queries,
        [match.gene for match in matches],
        [match.concept for match in matches],
        np.hstack(parts),
        taxon_index,
        taxa,
        sentence_taxa,
        _find_neighbour_concepts(text, mentions, queries, evidence, blocks, anchors),
        evidence,
        key_ids,
    )


def _find_block(
    name: str, long_form_matches: Sequence[Match] | None, context: TextContext
) -> NameBlock:
    """Return the candidates of a name; cached by name and species in ``context.lookup``.

    ``long_form_matches`` are the matches of the long form that the text gives for the name, None
    if it gives none. Names with a long form and names that are themselves abbreviated in the text
    are not cached, since their candidates depend on the text. Of a list ("A and B"), only families
    are candidates: its items are looked up separately.
    """
    cache, cache_key = context.lookup.block_cache, (name, context.taxa)
    is_cached = long_form_matches is None and make_key(name) not in context.short_forms
    if is_cached and cache_key in cache:
        return cache[cache_key]
    matches = context.collect_matches(name, long_form_matches)
    if split_list(name, context.lookup):
        matches = [match for match in matches if not match.gene.taxon]
    columns = _match_columns(name, matches)
    block = NameBlock(name, make_key(name), matches, columns)
    if is_cached:
        if len(cache) > _MAX_CACHED_BLOCKS:
            cache.clear()
        cache[cache_key] = block
    return block


_MAX_CACHED_BLOCKS = 1 << 12


def _match_columns(name: str, matches: Sequence[Match]) -> Matrix:
    """Return the MATCH_COLUMNS of all matches of a name, shape (matches, MATCH_COLUMNS).

    A gene has the columns of the name, of how it matched and of its rank among the genes of its
    species; a family (taxon 0) has only those that begin with "family". Columns of the other are
    0.
    """
    n_columns = len(MATCH_COLUMNS)
    genes = [match for match in matches if match.gene.taxon]
    name_indices, name_values = _name_columns(name)
    has_family = len(genes) < len(matches)
    n_concepts = math.log2(max(len({match.concept for match in genes}), 1)) / 3
    by_species: dict[int, list[Match]] = {}
    for match in genes:
        by_species.setdefault(match.gene.taxon, []).append(match)
    statistics = {
        taxon: _SpeciesStatistics.from_matches(same) for taxon, same in by_species.items()
    }
    implied, case = find_implied_species(name), classify_case(name)
    indices: list[int] = []  # in the flattened result
    values: list[float] = []
    for row, match in enumerate(matches):
        start = row * n_columns
        if not match.gene.taxon:
            for column, value in _iter_family_columns(match, name, genes):
                indices.append(start + _MATCH_INDEX[column])
                values.append(value)
            continue
        own_indices, own_values = _gene_columns(
            match, name, case, implied, statistics[match.gene.taxon], n_concepts, has_family
        )
        indices += [start + i for i in name_indices]
        indices += [start + i for i in own_indices]
        values += name_values
        values += own_values
    columns = np.zeros(len(matches) * n_columns, dtype=np.float32)
    columns[indices] = values
    return columns.reshape(-1, n_columns)


class _SpeciesStatistics(NamedTuple):
    """Statistics over the genes of one species that a name may mean."""

    size: int
    best_kind: NameKind
    log2_count: int  # largest
    popular: int  # largest
    kind_counts: Sequence[int]  # genes of each kind or a more reliable one

    @classmethod
    def from_matches(cls, same: Sequence[Match]) -> _SpeciesStatistics:
        """Compute the statistics of matches of the same species, at least one.

        Number of genes, most reliable kind, largest counts, and by kind how many genes have it or a
        more reliable one.
        """
        kinds = [match.kind for match in same]
        return cls(
            len(same),
            min(kinds),
            max(match.log2_count for match in same),
            max(match.gene.popular for match in same),
            np.cumsum(np.bincount(kinds, minlength=len(NameKind))).tolist(),
        )


def _name_columns(name: str) -> tuple[list[int], list[float]]:
    """Return indices and values of the MATCH_COLUMNS of genes that depend on the name alone.

    Two parallel lists. "length" is that of the key, from 1 to 6 (longer ones count as 6); "words"
    is the number of blanks, at most 4, divided by 4; endings and plural are those of the last run
    of letters, in lower case; the others are 0 or 1.
    """
    has_digit = any(c.isdigit() for c in name)
    last = _last_word(name)
    values = {
        "gene": 1.0,
        f"length {min(max(len(make_key(name)), 1), 6)}": 1.0,
        "no digit": float(not has_digit),
        "lower case word": float(not has_digit and name.islower()),
        "words": min(name.count(" "), 4) / 4,
        "family ending": float(last in _FAMILY_ENDINGS),
        "domain ending": float(last in _DOMAIN_ENDINGS),
        "plural": float(_is_plural(last)),
    }
    return [_MATCH_INDEX[column] for column in values], list(values.values())


def _gene_columns(
    match: Match,
    name: str,
    case: Case,
    implied: int,
    species: _SpeciesStatistics,
    n_concepts: float,
    has_family: bool,
) -> tuple[list[int], list[float]]:
    """Return indices and values of the MATCH_COLUMNS of a gene that depend on the gene.

    Two parallel lists; the caller leaves all other columns 0. First come those of
    ``_GENE_INDICES``, also if their value is 0, then flags of value 1: kind (listed, or lent by an
    ortholog), method, species group and, if they apply, reliable kind, case and species group (only
    for names without a blank), rat, "form says ..." and "prefix, ..." (only if a species is
    implied). ``case`` and ``implied`` are the writing and the implied species (0 for none) of the
    name, ``species`` the statistics of the genes of this species that the name may mean,
    ``n_concepts`` the value of "concepts", and ``has_family`` whether a family has the name too.
    """
    gene, kind = match.gene, match.kind
    group = _find_group(gene.taxon)
    index = _MATCH_INDEX
    is_symbol = kind is NameKind.SYMBOL
    values = [
        match.has_case_match,
        name == gene.symbol,
        group == "rodent" and is_symbol and case is Case.UPPER,
        match.log2_count / 8,
        0 < match.log2_count >= species.log2_count,
        kind == species.best_kind,
        species.size == 1,
        math.log2(species.size) / 3,
        math.log2(species.kind_counts[kind]) / 3,
        kind > species.best_kind is NameKind.SYMBOL,
        n_concepts,
        gene.popular / 8,
        gene.popular >= species.popular,
        not gene.coding,
        not is_symbol and begins_symbol(name, match),
        has_family,
        has_family and is_symbol,
        1.0 - match.coverage,
    ]
    flags = [
        (_LENT if match.is_from_ortholog else _LISTED) + kind,
        _METHOD_INDEX[match.method],
        _SPECIES_INDEX_OF_GROUP[group],
    ]
    if match.method in RELIABLE_METHODS:
        flags.append(_RELIABLE + kind)
    if " " not in name:
        flags.append(_CASE_INDEX_OF_GROUP[case, group])
    if gene.taxon == RAT:
        flags.append(index["species rat"])
    if implied:
        relation = "species" if implied == gene.taxon else "other species"
        flags.append(index[f"form says {relation}"])
        if match.method in ("prefix", "yeast"):
            flags.append(index[f"prefix, {relation}"])
    return [*_GENE_INDICES, *flags], [*values, *([1.0] * len(flags))]


_LISTED, _LENT, _RELIABLE = (
    _MATCH_INDEX[f"{word} {_KIND_NAMES[0]}"] for word in ("listed", "lent", "reliable")
)
_CASE = _MATCH_INDEX["case"]
# "case" to "family too, symbol", in this order, then "left out".
_GENE_INDICES = (*range(_CASE, _CASE + 17), _MATCH_INDEX["left out"])
_METHOD_INDEX = {method: _MATCH_INDEX[f"method {method}"] for method in _METHODS}
_SPECIES_INDEX_OF_GROUP = {group: _MATCH_INDEX[f"species {group}"] for group in SPECIES_GROUPS}
_CASE_INDEX_OF_GROUP = {
    (case, group): _MATCH_INDEX[f"{case.name.lower()} {group}"]
    for case in Case
    for group in SPECIES_GROUPS
}


def _iter_family_columns(
    match: Match, name: str, genes: Sequence[Match]
) -> Iterable[tuple[str, float]]:
    """Yield (column, value) of the MATCH_COLUMNS of a family.

    ``genes`` are the name's gene matches. "family but symbol" and "family but synonym" say whether
    a gene has the name as symbol or full name, or as synonym. Only genes found by a reliable
    variant count, and genes of the mouse, which is considered even if no text names it, only if
    training text mentions them: H3 is the symbol of a histocompatibility locus.
    """
    others = [
        m
        for m in genes
        if m.method in RELIABLE_METHODS and (m.gene.taxon != MOUSE or m.gene.popular)
    ]
    yield "family", 1.0
    yield f"family method {match.method}", 1.0
    yield "family but symbol", float(any(m.kind <= NameKind.NAME for m in others))
    yield "family but synonym", float(any(m.kind is NameKind.SYNONYM for m in others))
    yield "family case", float(match.has_case_match)
    yield "family plural", float(_is_plural(_last_word(name)))


def _last_word(name: str) -> str:
    """Return the last run of letters of a name in lower case; empty if there is none."""
    words = _LETTERS.findall(name)
    return words[-1].lower() if words else ""


def _is_plural(word: str) -> bool:
    """Return whether a lower-case word of more than three letters ends in "s" but not in "ss"."""
    return len(word) > 3 and word.endswith("s") and not word.endswith("ss")


def _find_group(taxon: int) -> str:
    """Return the group of species that share conventions of names, one of SPECIES_GROUPS.

    "virus" for every virus, "rodent" for mouse and rat, "other" for a species without a group.
    """
    return "virus" if taxon in VIRUSES else _GROUP_OF_TAXON.get(taxon, "other")


def _read_surroundings(
    context: TextContext,
    text: str,
    mentions: Sequence[Mention],
    index_of_taxon: Mapping[int, int],
) -> tuple[NDArray[np.bool_], list[_Evidence]]:
    """Return which species each sentence names (sentences, taxa), and what surrounds each mention.

    Sentences are split after ".", "!" or "?" before a capital, digit or opening bracket, and at
    line ends; the first array may have unused rows at the end. ``index_of_taxon`` gives the
    columns. There is one ``_Evidence`` per mention, in order: ``near`` is the species named right
    before or after the mention (``TextContext.find_nearest_species``, without the form of the name)
    and ``last`` the last one that begins before it, both anywhere in the text; -1 if there is none.
    A species that ``index_of_taxon`` lacks has the index ``_UNKNOWN_TAXON`` there, so that it still
    counts as another one. Next word and label each give two flags: family (words of
    ``_FAMILY_NEXT``; a label with "family" or "complex") and domain (words of ``_DOMAIN_NEXT``; a
    label with "domain" or "motif"). The next word counts if it follows after one blank or hyphen.
    """
    bounds = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text) + 1]
    starts = [species.start for species in context.species]
    sentence_taxa = np.zeros((len(bounds), len(index_of_taxon)), dtype=np.bool_)
    for species in context.species:
        if species.taxon in index_of_taxon:
            sentence = bisect_right(bounds, species.start) - 1
            sentence_taxa[sentence, index_of_taxon[species.taxon]] = True
    evidence = []
    for mention in mentions:
        near = context.find_nearest_species(mention.start, mention.end, "")
        before = bisect_left(starts, mention.start)
        last = context.species[before - 1].taxon if before else 0
        next_word = _NEXT_WORD.match(text, mention.end)
        word = next_word.group(1).lower() if next_word else ""
        label = mention.label.lower()
        evidence.append(
            _Evidence(
                index_of_taxon.get(near, _UNKNOWN_TAXON) if near else -1,
                index_of_taxon.get(last, _UNKNOWN_TAXON) if last else -1,
                bisect_right(bounds, mention.start) - 1,
                word in _FAMILY_NEXT,
                word in _DOMAIN_NEXT,
                "family" in label or "complex" in label,
                "domain" in label or "motif" in label,
            )
        )
    return sentence_taxa, evidence


_UNKNOWN_TAXON = 1 << 20  # index of a species that is not considered


def _nearby_shares(
    queries: Sequence[tuple[int, int, int]],
    evidence: Sequence[_Evidence],
    sentence_taxa: NDArray[np.bool_],
    n_names: int,
    n_taxa: int,
) -> NDArray[np.float32]:
    """Return the NEARBY_COLUMNS of each name and species, (names, taxa, NEARBY_COLUMNS).

    Values are the shares of the name's mentions whose nearest species ("near"), sentence
    ("sentence") or last species before ("last") is or names this species, each followed by the
    share where it is another one; a mention without any species counts for neither. List items
    count as mentions of their own. ``queries`` are (mention, item, name) numbers, ``evidence`` the
    surroundings of each query, and ``sentence_taxa`` (sentences, taxa) says which species a
    sentence names.
    """
    counts = np.zeros((n_names, n_taxa, len(NEARBY_COLUMNS)), dtype=np.float32)
    n_mentions = np.zeros(n_names, dtype=np.float32)
    for (_, _, name), one in zip(queries, evidence, strict=True):
        n_mentions[name] += 1
        for column, index in ((0, one.near), (4, one.last)):
            if index >= 0:
                counts[name, :, column + 1] += 1
                if index < n_taxa:
                    counts[name, index, column] += 1
                    counts[name, index, column + 1] -= 1
        named = sentence_taxa[one.sentence]
        if named.any():
            counts[name, :, 2] += named
            counts[name, :, 3] += ~named
    counts /= np.maximum(n_mentions, 1)[:, None, None]
    return counts


def _species_table(context: TextContext, taxa: Sequence[int]) -> Matrix:
    """Return the SPECIES_COLUMNS of each species, (taxa, SPECIES_COLUMNS); 0 for families.

    The last of ``taxa`` must be the 0 of families. Shares and leads are those of ``context``, which
    include hints (0 and -1 where it has none); counts are of species that the text names, without
    viruses. "style" and "leaning" move to their "unnamed" columns if ``context`` has no share of
    any species.
    """
    table = np.zeros((len(taxa), len(SPECIES_COLUMNS)), dtype=np.float32)
    counts: dict[int, int] = {}
    for species in context.species:
        if species.taxon not in VIRUSES:
            counts[species.taxon] = counts.get(species.taxon, 0) + 1
    first = next(iter(counts), 0)
    share = context.species_share
    most = max(share.values(), default=0.0)
    for row, taxon in enumerate(taxa[:-1]):
        group = _find_group(taxon)
        count = counts.get(taxon, 0)
        values = {
            "species share": share.get(taxon, 0.0),
            "species lead": context.species_lead.get(taxon, -1.0),
            "species in title": taxon in context.title_species,
            "species only": len(share) == 1 and taxon in share,
            "species most": taxon in share and share[taxon] == most,
            "species named": count > 0,
            "species count": math.log1p(count) / 3,
            "species first": first == taxon,
            "species not named": bool(counts) and not count,
            f"no species hinted {group}": not share,
            f"no species named {group}": not counts,
            "style" if share else "style unnamed": context.case_style.get(taxon, 0.0),
            "only of species": context.exclusive_share.get(taxon, 0.0),
            "leaning" if share else "leaning unnamed": context.mouse_score.get(taxon, 0.0),
        }
        for column, value in values.items():
            table[row, _SPECIES_INDEX[column]] = value
    return table


def _text_columns(
    context: TextContext,
    blocks: Sequence[NameBlock],
    long_forms: Sequence[Sequence[Match] | None],
    anchors: Sequence[frozenset[tuple[int, int]]],
    rows_of_name: Sequence[range],
    queries: Sequence[tuple[int, int, int]],
    evidence: Sequence[_Evidence],
    key_ids: NDArray[np.intp],
    own_usage: Mapping[str, Usage] | None,
) -> Matrix:
    """Return the TEXT_COLUMNS of all rows, shape (n, TEXT_COLUMNS).

    They say whether the name's long form, earlier usage, label, next words and other names of the
    document speak for the gene, another gene, a family or no gene. Rows of families have the
    columns that begin with "family", rows of genes the others. Next words and labels are shares of
    the name's queries. Usage counts are divided by 1 + the sum of the positive ones, after
    ``own_usage`` is subtracted; "unseen" means that there is none. "other names" are the other keys
    by which the document names the gene (or its concept) dependably, at most 3, divided by 3.

    Per name there are ``blocks`` (candidates), ``rows_of_name``, ``long_forms`` (matches of its
    long form, None if it has none) and ``anchors`` (concepts that it means with little doubt); per
    query ``queries`` (mention, item, name) and ``evidence``; per row ``key_ids``.
    """
    flags = np.zeros((len(blocks), 5), dtype=np.float32)
    for (_, _, name), one in zip(queries, evidence, strict=True):
        flags[name] += (1, one.is_family_next, one.is_domain_next, one.is_family, one.is_domain)
    flags[:, 1:] /= np.maximum(flags[:, :1], 1)
    keys_of: dict[Any, set[int]] = {}
    key_of_row = key_ids.tolist()
    gene_rows: list[int] = []
    gene_values: list[tuple[float, ...]] = []
    family_rows: list[int] = []
    family_values: list[tuple[float, ...]] = []
    for block, rows in zip(blocks, rows_of_name, strict=True):
        for match, row in zip(block.matches, rows, strict=True):
            if match.kind is not NameKind.MEMBER and _is_dependable(match):
                keys_of.setdefault(match.gene.identifier, set()).add(key_of_row[row])
                keys_of.setdefault(match.concept, set()).add(key_of_row[row])
    for block, rows, long_form, flag, own_anchors in zip(
        blocks, rows_of_name, long_forms, flags.tolist(), anchors, strict=True
    ):
        if not block.matches:
            continue
        associated = _associate(block, own_anchors, anchors, context)
        most = max(associated.values(), default=0.0)
        usage = _find_usage(block.key, context, own_usage)
        total = sum(count for count in usage.values() if count > 0)
        defined = {m.gene.identifier for m in long_form or ()}
        is_plain = (
            long_form is not None
            and not long_form
            and is_plain_long_form(context.expand_abbreviation(block.name) or "")
        )
        non_gene = context.lookup.log2_non_gene_count(block.name) / 8
        _, family_next, domain_next, family_label, domain_label = flag
        family_use, no_use = (usage.get(use, 0) / (total + 1) for use in (FAMILY_USE, NO_GENE_USE))
        own_key = {key_of_row[rows.start]}
        name_values = (
            long_form is not None and not defined,
            is_plain,
            family_next,
            domain_next,
            non_gene,
            family_use,
            no_use,
            total <= 0,
            family_label,
            domain_label,
        )
        for match, row in zip(block.matches, rows, strict=True):
            gene = match.gene
            is_defined = gene.identifier in defined
            if not gene.taxon:
                family_rows.append(row)
                family_values.append(
                    (
                        family_next,
                        family_use,
                        no_use,
                        total / (total + 1) - family_use - no_use,
                        total <= 0,
                        non_gene,
                        bool(defined) and not is_defined,
                        family_label,
                        domain_label,
                    )
                )
                continue
            use = usage.get(match.concept[1], 0) if usage and not match.concept[0] else 0
            association = associated[match.concept]
            gene_rows.append(row)
            gene_values.append(
                (
                    *name_values,
                    context.species_share.get(gene.taxon, 0.0) if match.is_from_ortholog else 0.0,
                    min(len(keys_of.get(gene.identifier, _NONE) - own_key), 3) / 3,
                    min(len(keys_of.get(match.concept, _NONE) - own_key), 3) / 3,
                    is_defined,
                    bool(defined) and not is_defined,
                    math.log1p(max(use, 0)) / 3,
                    use / (total + 1),
                    (total - use) / (total + 1) - family_use - no_use,
                    min(association, 8.0) / 8,
                    0.0 < association >= most,
                    association < most,
                )
            )
    result = np.zeros((len(key_ids), len(TEXT_COLUMNS)), dtype=np.float32)
    if gene_rows:
        result[np.ix_(gene_rows, _GENE_COLUMNS)] = gene_values
    if family_rows:
        result[np.ix_(family_rows, _FAMILY_COLUMNS)] = family_values
    return result


_NONE: frozenset[int] = frozenset()
_FAMILY_COLUMNS = [
    _TEXT_INDEX[f"family {name}"]
    for name in (
        *("next", "use", "use none", "use gene", "use unseen", "not a gene", "other long form"),
        *("label", "label domain"),
    )
]
_GENE_COLUMNS = [
    _TEXT_INDEX[name]
    for name in (
        *("unknown long form", "plain long form", "next family", "next domain", "not a gene"),
        *("use family", "use none", "use unseen", "label family", "label domain"),
        *("lent share", "other names", "other names of concept", "long form", "other long form"),
        *("use", "use share", "use other", "associated", "most associated"),
        "other is associated",
    )
]


def _find_anchors(block: NameBlock) -> frozenset[tuple[int, int]]:
    """Return the concepts that a name means with little doubt.

    This is the only concept that lists it (``_is_dependable``) as symbol, full name, synonym or
    earlier symbol; if there are several, the one or two of which it is the symbol. Empty if more
    than two have it as symbol, or none. Families do not count.
    """
    listed = {
        match.concept
        for match in block.matches
        if match.gene.taxon and match.kind <= NameKind.PREVIOUS and _is_dependable(match)
    }
    if len(listed) == 1:
        return frozenset(listed)
    symbols = {
        match.concept
        for match in block.matches
        if match.gene.taxon and match.kind is NameKind.SYMBOL and _is_dependable(match)
    }
    return frozenset(symbols) if len(symbols) <= 2 else frozenset()


def _find_neighbour_concepts(
    text: str,
    mentions: Sequence[Mention],
    queries: Sequence[tuple[int, int, int]],
    evidence: Sequence[_Evidence],
    blocks: Sequence[NameBlock],
    anchors: Sequence[frozenset[tuple[int, int]]],
) -> list[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]]:
    """Return, for each query, the concepts of other names of its sentence: (beside, apposed).

    Two different names of one sentence usually mean different genes (PCAF and GCN5), unless one
    stands in brackets behind the other: "apposed" are the names with only "(" or "[" between the
    two, "beside" all others. A name contributes its ``anchors``, the concepts that it means with
    little doubt. Names with the same key and items of the same mention are not compared. Quadratic
    in the names of a sentence.
    """
    by_sentence: dict[int, list[int]] = {}
    for query, one in enumerate(evidence):
        by_sentence.setdefault(one.sentence, []).append(query)
    result = []
    for (number, _, name), one in zip(queries, evidence, strict=True):
        beside: set[tuple[int, int]] = set()
        apposed: set[tuple[int, int]] = set()
        for other in by_sentence[one.sentence]:
            other_number, _, other_name = queries[other]
            if blocks[other_name].key == blocks[name].key or other_number == number:
                continue
            first, second = sorted((mentions[number], mentions[other_number]))
            between = text[first.end : second.start].strip()
            (apposed if between in ("(", "[") else beside).update(anchors[other_name])
        result.append((frozenset(beside), frozenset(apposed)))
    return result


def _associate(
    block: NameBlock,
    own_anchors: frozenset[tuple[int, int]],
    anchors: Sequence[frozenset[tuple[int, int]]],
    context: TextContext,
) -> dict[tuple[int, int], float]:
    """Return how much each concept of a name is named together with those of other names.

    The value is the largest association (``Gazetteer.associations``, a log2 ratio) with an anchor
    of any name of the document; 0 without any. Anchors of the name itself (``own_anchors``) do not
    count, nor do concepts of another gazetteer. ``anchors`` has those of all names.
    """
    result = {}
    for concept in {match.concept for match in block.matches}:
        associated = context.lookup.find_associated(concept)
        result[concept] = (
            max(
                (
                    associated.get(row, 0.0)
                    for one in anchors
                    for table, row in one
                    if table == concept[0] and (table, row) not in own_anchors
                ),
                default=0.0,
            )
            if associated
            else 0.0
        )
    return result


def _is_dependable(match: Match) -> bool:
    """Return whether a match is by a reliable variant of the name or by its long or short form.

    Reliable are RELIABLE_METHODS; matches by a part of the long or short form count too.
    """
    return match.method in RELIABLE_METHODS or match.method.startswith(("long", "short"))


def _find_usage(
    key: str, context: TextContext, own_usage: Mapping[str, Usage] | None
) -> Mapping[int, int]:
    """Return in how many annotated documents a key meant each concept, without this document.

    Keys are rows of concepts, FAMILY_USE or NO_GENE_USE. ``own_usage`` has by key what this
    document added; None or no entry subtracts nothing. Counts that become 0 or less are kept.
    """
    usage = context.lookup.find_usage(key)
    own = (own_usage or {}).get(key)
    if not own:
        return usage
    return {concept: count - own.get(concept, 0) for concept, count in usage.items()}


def score_first_stage(table: CandidateTable, lookup: GeneLookup) -> NDArray[np.float64]:
    """Return the first-stage score of each row, a log-odds, shape (n,).

    The product of ``table.first_stage`` and one weight per column: those of the first gazetteer
    that has any, or simple default ones if none has. There is no other intercept than the columns
    "gene" and "family".
    """
    return np.asarray(table.first_stage @ _first_stage_weights(lookup), dtype=np.float64)


@lru_cache(maxsize=4)
def _first_stage_weights(lookup: GeneLookup) -> NDArray[np.float64]:
    """Return the weight of each of the FIRST_STAGE_COLUMNS; 0 for those without one. Cached."""
    weights = lookup.first_stage or _DEFAULT_WEIGHTS
    return np.array([weights.get(name, 0.0) for name in FIRST_STAGE_COLUMNS])


# For gazetteers without trained weights: the better a match and the more of a species, the higher.
_DEFAULT_WEIGHTS = {
    **{"gene": -1.0, "family": -1.0, "species share": 2.0, "species human": 0.5, "near": 1.0},
    **{f"reliable {kind.name.lower()}": 2.0 - int(kind) / 4 for kind in NameKind},
    "sentence": 1.0,
}
