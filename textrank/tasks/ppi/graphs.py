"""Pairs of entities as graphs of their sentence: its dependencies and its word order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from textrank._ragged import expand, lengths, offsets
from textrank.candidates import Candidate
from textrank.features import Indices, LabelledGraph
from textrank.graphs import GraphBatch, GraphFamily
from textrank.progress import track
from textrank.tasks.ppi.pairs import PairArrays
from textrank.tasks.ppi.sentences import (
    Dependencies,
    LabelIndex,
    Parse,
    Sentence,
    WordForm,
    analyze_sentences,
    check_choice,
    stem,
    word_form,
)

PATH_PREFIXES = ("", "path:")  # off and on a shortest path
SIDE_PREFIXES = ("before:", "middle:", "after:")
ENTITY_LABELS = (
    "PROT1",
    "PROT2",
    "PROT",
)  # the pair in the order of the text, and any other entity


@dataclass(frozen=True, kw_only=True)
class DependencyGraph:
    """A pair of entities as the graph of its sentence, in two unconnected parts.

    The dependency part has a vertex per token and per dependency, and edges governor ->
    dependency -> dependent. Every dependency on a shortest undirected path between any token of
    one entity and any of the other is marked, with the tokens it touches: marked vertices have
    labels that begin with ``path:``, and edges of marked dependencies weigh ``path_weight``, all
    others ``other_weight``. The linear part has the tokens once more, an edge of
    ``linear_weight`` to the next, and labels that begin with ``before:``, ``middle:`` or
    ``after:``, as the token lies to the pair; the pair itself is in the middle.

    Entities are blinded: the text of the first of the pair is ``PROT1``, of the second
    ``PROT2``, of every other one ``PROT``; the part of speech stays. A token of both is PROT1.

    Airola et al. (2008), BMC Bioinformatics 9(Suppl 11):S2.

    Parameters
    ----------
    labels
        What labels a token: ``"text"``, ``"pos"``, both or none of them.
    words
        The text as written (``"raw"``), ``"lower"``, ``"lemma"`` or ``"stem"``.
    parse
        Dependencies ``"given"`` with the corpus, of ``"spacy"``, or the former where there are any
        (``"auto"``); ``"collapsed"`` is auto with prepositions and coordinations of spaCy's joined,
        ``"own"`` the same with spaCy's parse preferred.
    parts
        ``"dependency"``, ``"linear"`` or both.
    drop
        Types of dependencies that are left out.
    """

    path_weight: float = 0.9
    other_weight: float = 0.3
    linear_weight: float = 0.9
    labels: Sequence[str] = ("text", "pos")
    words: WordForm = "raw"
    parse: Parse = "auto"
    parts: Sequence[str] = ("dependency", "linear")
    drop: Sequence[str] = ("punct",)

    def __post_init__(self) -> None:
        for name in ("labels", "parts", "drop"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("path_weight", "other_weight", "linear_weight"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be 0 or more, got {getattr(self, name)}")
        check_choice("labels", self.labels, ("text", "pos"))
        check_choice("parts", self.parts, ("dependency", "linear"))
        check_choice("words", [self.words], get_args(WordForm))
        check_choice("parse", [self.parse], get_args(Parse))
        if not self.parts:
            raise ValueError("parts is empty; name 'dependency', 'linear' or both")

    def __call__(self, candidates: Sequence[Candidate]) -> GraphBatch:
        """One graph a candidate; the candidates of a sentence share its shape."""
        for index, candidate in enumerate(candidates):
            if len(candidate.spans) != 2:
                raise ValueError(
                    f"candidate {index} of document {candidate.document!r} has "
                    f"{len(candidate.spans)} spans; a dependency graph is made of a pair of them."
                )
        return self.represent_sentences(
            analyze_sentences(candidates, self.parse, self.drop), candidates
        )

    def represent_sentences(
        self, found: Iterable[Sentence], candidates: Sequence[Candidate]
    ) -> GraphBatch:
        """The graphs of candidates in sentences that are already analysed."""
        families: list[GraphFamily] = []
        words = LabelIndex()
        for sentence in track(found, "sentence graphs"):
            pairs = SentencePairs.from_candidates(sentence, candidates)
            tokens = self._token_labels(sentence, pairs, words)
            if "dependency" in self.parts:
                families.append(self._dependency_part(sentence, pairs, tokens, words))
            if "linear" in self.parts:
                families.append(self._linear_part(sentence, pairs, tokens))
        return GraphBatch(tuple(words.ids), tuple(families), len(candidates))

    def _dependency_part(
        self, sentence: Sentence, pairs: SentencePairs, tokens: TokenLabels, words: LabelIndex
    ) -> GraphFamily:
        own, n = sentence.dependencies, len(sentence)
        on_path = pairs.shortest_paths(own)
        touched = np.zeros(pairs.first.shape, dtype=np.intp)
        row, edge = np.nonzero(on_path)
        touched[row, own.governor[edge]] = touched[row, own.dependent[edge]] = 1

        labels = np.full((len(on_path), n + len(own), max(1, len(tokens))), -1, dtype=np.int32)
        labels[:, :n, : len(tokens)] = tokens.labels(touched)
        types = words.prefixed_ids(own.types, PATH_PREFIXES)
        labels[:, n:, 0] = types[on_path.astype(np.intp), np.arange(len(own))]

        weights = np.where(on_path, self.path_weight, self.other_weight)
        both = np.hstack([weights, weights])
        return GraphFamily(sentence.candidate_indices, own.edges(n), both, labels)

    def _linear_part(
        self, sentence: Sentence, pairs: SentencePairs, tokens: TokenLabels
    ) -> GraphFamily:
        labels = tokens.labels(pairs.sides() + len(self._prefixes) - len(SIDE_PREFIXES))
        at = np.arange(len(sentence))
        weights = np.full((1, len(at) - 1), self.linear_weight)
        return GraphFamily(
            sentence.candidate_indices, np.stack([at[:-1], at[1:]], 1), weights, labels
        )

    def _word_forms(self, sentence: Sentence) -> list[str]:
        if self.words == "raw":
            return list(sentence.texts)
        if self.words == "stem":
            return [stem(text) for text in sentence.texts]
        return [word_form(token, self.words) for token in sentence]

    @property
    def _prefixes(self) -> tuple[str, ...]:
        return (PATH_PREFIXES if "dependency" in self.parts else ()) + (
            SIDE_PREFIXES if "linear" in self.parts else ()
        )

    def _token_labels(
        self, sentence: Sentence, pairs: SentencePairs, words: LabelIndex
    ) -> TokenLabels:
        at = np.broadcast_to(np.arange(len(sentence)), pairs.first.shape)
        names, places = [], []
        if "text" in self.labels:
            forms = self._word_forms(sentence)
            for token in sentence.entities:
                forms[token] = ENTITY_LABELS[2]
            names.append((*forms, *ENTITY_LABELS[:2]))
            blind = np.where(pairs.first, len(forms), len(forms) + 1)
            places.append(np.where(pairs.first | pairs.second, blind, at))
        if "pos" in self.labels:
            names.append(tuple(sentence.tags))
            places.append(at)
        numbers = tuple(words.prefixed_ids(own, self._prefixes) for own in names)
        return TokenLabels(numbers, tuple(places))


@dataclass(frozen=True, eq=False)
class TokenLabels:
    """What the tokens of a sentence are called, each kind of label with a list of names."""

    label_ids: tuple[NDArray[np.int32], ...]  # (prefixes, names) each: a name behind each prefix
    name_index: tuple[Indices, ...]  # (g, n) each: which of the names a token has

    def __len__(self) -> int:
        return len(self.label_ids)

    def labels(self, variant: Indices) -> NDArray[np.int32]:
        """The labels (g, n, k) behind the prefix that ``variant`` (g, n) says."""
        out = np.empty((*variant.shape, len(self)), dtype=np.int32)
        for k, (numbers, at) in enumerate(zip(self.label_ids, self.name_index, strict=True)):
            out[:, :, k] = numbers[variant, at]
        if len(self) == 2:  # a comma is its own part of speech: one label, not two
            out[out[:, :, 0] == out[:, :, 1], 1] = -1
        return out


@dataclass(frozen=True, eq=False)
class SentencePairs:
    """Which tokens of a sentence belong to the two entities of each candidate."""

    first: NDArray[np.bool_]  # (g, n)
    second: NDArray[np.bool_]  # (g, n) also where both share a token
    token_pairs: Indices  # (p, 3) candidate, token of the first, token of the second: all of them

    @classmethod
    def from_candidates(cls, sentence: Sentence, candidates: Sequence[Candidate]) -> SentencePairs:
        """Those of the candidates."""
        first, second = (
            np.zeros((len(sentence.candidate_indices), len(sentence)), bool) for _ in range(2)
        )
        links = []
        for row, member in enumerate(sentence.candidate_indices):
            one, other = sentence.span_tokens(candidates[member])
            first[row, one] = second[row, other] = True
            links += [(row, s, t) for s in one for t in other]
        return cls(first, second, np.array(links, dtype=np.intp))

    def sides(self) -> Indices:
        """Where each token lies: 0 before the pair, 1 in the middle or in it, 2 after, (g, n)."""
        either = self.first | self.second
        begun = np.logical_or.accumulate(either, axis=1)
        to_come = np.logical_or.accumulate(either[:, ::-1], axis=1)[:, ::-1]
        return np.where(begun, np.where(to_come, 1, 2), 0)

    def shortest_paths(self, own: Dependencies) -> NDArray[np.bool_]:
        """Which dependencies lie on a shortest path of each pair, (g, e).

        A dependency of u and v is on one from s to t where d(s, u) + 1 + d(v, t) = d(s, t).
        """
        ends, at = np.unique(self.token_pairs[:, 1:], return_inverse=True)
        s, t = at.reshape(-1, 2).T
        distance = own.distances(self.first.shape[1], ends)
        whole = distance[s, ends[t]]
        some = np.flatnonzero((whole > 0) & (whole < np.inf))
        s, t, whole = s[some], t[some], whole[some, None]
        up, down = distance[:, own.governor], distance[:, own.dependent]
        way, edge = np.nonzero((up[s] + 1 + down[t] == whole) | (down[s] + 1 + up[t] == whole))
        on_path = np.zeros((len(self.first), len(own)), dtype=bool)
        on_path[self.token_pairs[some[way], 0], edge] = True
        return on_path


@dataclass(frozen=True, eq=False)
class PathGraphs:
    """Pairs with the dependencies of their sentences, marked where they lie on a shortest path.

    An *arc* is a dependency, counted over all sentences. A *mark* is an arc as one pair sees it:
    the marks of a pair are the arcs of its sentence.
    """

    arrays: PairArrays
    path_weight: float = 0.9
    other_weight: float = 0.3

    @cached_property
    def _dependencies(self) -> list[Dependencies]:
        return [context.sentence.dependencies for context in self.arrays.contexts]

    @cached_property
    def _arc_starts(self) -> Indices:
        """The first arc of each sentence, and the end."""
        return offsets([len(own) for own in self._dependencies])

    @cached_property
    def _arc_sentence(self) -> Indices:
        """The sentence of each arc."""
        return np.arange(len(self._dependencies)).repeat(lengths(self._arc_starts))

    @cached_property
    def _arc_tokens(self) -> tuple[Indices, Indices]:
        """The governor and the dependent of each arc, as tokens of the batch."""
        shift = self.arrays.sentence_starts[self._arc_sentence]
        none = np.zeros(0, dtype=np.intp)
        governor = np.concatenate([none, *(own.governor for own in self._dependencies)])
        dependent = np.concatenate([none, *(own.dependent for own in self._dependencies)])
        return governor + shift, dependent + shift

    @cached_property
    def _arc_counts(self) -> Indices:
        """The arcs of the sentence of each pair."""
        return lengths(self._arc_starts)[self.arrays.sentence_index]

    @cached_property
    def _mark_starts(self) -> Indices:
        """Where the marks of each pair begin, pairs of one sentence together; and the end."""
        return _starts_in_order(self._arc_counts, self._pair_order)

    @cached_property
    def _pair_order(self) -> Indices:
        return np.argsort(self.arrays.sentence_index, kind="stable")

    @cached_property
    def _path_arcs(self) -> tuple[Indices, Indices]:
        """Pairs and arcs on a shortest path between any two tokens of the two names.

        An arc of u and v is on one from s to t where d(s, u) + 1 + d(v, t) = d(s, t).
        """
        own, steps = self.arrays, self.arrays.distances
        owner, source, target = own.entity_token_pairs
        whole = steps.between(source, target)
        some = ((whole > 0) & (whole < np.inf)).nonzero()[0]
        owner, whole = owner[some], whole[some]
        from_, to = (
            steps.row_offset[steps.row_of_token[tokens[some]]] for tokens in (source, target)
        )
        at, arc = expand(self._arc_starts[own.sentence_index[owner]], self._arc_counts[owner])
        governor, dependent = (ends[arc] for ends in self._arc_tokens)
        from_, to, whole = from_[at], to[at], whole[at] - 1
        hit = steps.values[from_ + governor] + steps.values[to + dependent] == whole
        hit |= steps.values[from_ + dependent] + steps.values[to + governor] == whole
        on = hit.nonzero()[0]
        return owner[at[on]], arc[on]

    @cached_property
    def _is_on_path(self) -> NDArray[np.bool_]:
        pair, arc = self._path_arcs
        found = np.zeros(int(self._arc_counts.sum()), dtype=bool)
        found[
            self._mark_starts[pair] + arc - self._arc_starts[self.arrays.sentence_index[pair]]
        ] = True
        return found

    def to_batch(self) -> GraphBatch:
        """The graphs, a family a sentence."""
        own = self.arrays
        vocabulary, labels = self._labels()
        weights = np.where(self._is_on_path, self.path_weight, self.other_weight)
        edges = self._edges()
        arcs, sizes = lengths(self._arc_starts), lengths(own.sentence_starts)
        pairs = np.bincount(own.sentence_index, minlength=len(sizes))
        cuts = zip(
            offsets(pairs).tolist(), offsets(pairs * arcs).tolist(),
            offsets(pairs * (arcs + sizes)).tolist(), strict=True,
        )  # fmt: skip
        families, low = [], next(cuts)
        rows = zip(
            pairs.tolist(), arcs.tolist(), sizes.tolist(), self._arc_starts.tolist(), strict=False
        )
        for (g, e, n, first), high in zip(rows, cuts, strict=True):
            weight = weights[low[1] : high[1]].reshape(g, e)
            families.append(
                GraphFamily(
                    self._pair_order[low[0] : high[0]],
                    edges[2 * first : 2 * (first + e)],
                    np.concatenate([weight, weight], axis=1),  # to dependencies and from them
                    labels[low[2] : high[2]].reshape(g, n + e, 2),
                )
            )
            low = high
        return GraphBatch(vocabulary, tuple(families), len(own.pairs))

    def _edges(self) -> Indices:  # (2 arcs, 2)
        """Governor -> dependency -> dependent, in vertices of the sentence of each."""
        number = self._arc_sentence
        base = self.arrays.sentence_starts[number]
        nth = np.arange(len(number)) - self._arc_starts[number]
        vertex = lengths(self.arrays.sentence_starts)[number] + nth
        found = np.empty((2 * len(number), 2), dtype=np.intp)
        out = 2 * self._arc_starts[number] + nth
        into = out + lengths(self._arc_starts)[number]
        found[out, 0], found[out, 1] = self._arc_tokens[0] - base, vertex
        found[into, 0], found[into, 1] = vertex, self._arc_tokens[1] - base
        return found

    def _labels(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """Words, parts of speech and types of dependencies, each marked or not."""
        own = self.arrays
        pair, arc = self._path_arcs
        touched = np.zeros(int(own.pair_token_starts[-1]), dtype=np.intp)
        for ends in self._arc_tokens:
            touched[ends[arc] + own.offset[pair]] = 1
        size = own.sentence_sizes + self._arc_counts
        codes = np.full((int(size.sum()), 2), -1, dtype=np.intp)
        begin = _starts_in_order(size, self._pair_order)
        place = (begin - own.sentence_base)[own.pair_index] + own.token_index
        word, tag = own.words, own.token_tags[own.token_index]
        codes[place, 0] = 2 * word + touched
        # a comma is its own part of speech: one label, not two
        codes[place, 1] = np.where(word == tag, -1, 2 * tag + touched)
        types = own.lexicon.encode(kind for found in self._dependencies for kind in found.types)
        at, arc = expand(self._arc_starts[own.sentence_index], self._arc_counts)
        nth = arc - self._arc_starts[own.sentence_index[at]]
        codes[(begin + own.sentence_sizes)[at] + nth, 0] = (
            2 * types[arc] + self._is_on_path[self._mark_starts[at] + nth]
        )
        return _label_ids(codes, own.lexicon.words())


def _starts_in_order(sizes: Indices, order: Indices) -> Indices:
    """Where lists of these sizes begin when they stand in this order."""
    found = np.empty(len(sizes), dtype=np.intp)
    found[order] = offsets(sizes[order])[:-1]
    return found


def _label_ids(codes: Indices, words: list[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The labels that occur, and their numbers; a code is twice a word, and one where marked."""
    used = np.zeros(2 * len(words) + 1, dtype=bool)
    used[codes.ravel()] = True
    used[-1] = False  # that of no label
    numbers: dict[str, int] = {}
    table = np.full(len(used), -1, dtype=np.int32)
    for code in used.nonzero()[0].tolist():
        label = f"path:{words[code // 2]}" if code % 2 else words[code // 2]
        table[code] = numbers.setdefault(label, len(numbers))
    return tuple(numbers), table[codes]


def to_networkx(graph: LabelledGraph) -> nx.DiGraph:
    """The graph with ``labels`` (a tuple) on every vertex and ``weight`` on every edge.

    >>> to_networkx(LabelledGraph(["a", "b"], {(0, 1): 0.5})).edges[0, 1]
    {'weight': 0.5}
    """
    out: nx.DiGraph = nx.DiGraph()
    out.add_nodes_from((i, {"labels": own}) for i, own in enumerate(graph.labels))
    out.add_edges_from((*edge, {"weight": weight}) for edge, weight in graph.edges.items())
    return out


def from_networkx(
    graph: nx.Graph, *, labels: str = "labels", weight: str = "weight", default: float = 1.0
) -> LabelledGraph:
    """A labelled graph of any networkx graph, its nodes numbered in their order.

    ``labels`` is the node attribute with a label or several; nodes without it have none. Edges
    without ``weight`` weigh ``default``; parallel edges add up, undirected ones go both ways.

    >>> from_networkx(nx.Graph([("x", "y")])).edges
    {(0, 1): 1.0, (1, 0): 1.0}
    """
    number = {node: i for i, node in enumerate(graph.nodes)}
    edges: dict[tuple[int, int], float] = {}
    for source, target, value in graph.edges(data=weight, default=default):
        ways = {(number[source], number[target])}
        if not graph.is_directed():
            ways.add((number[target], number[source]))
        for way in ways:
            edges[way] = edges.get(way, 0.0) + _edge_weight(value, (source, target))
    return LabelledGraph([_label_tuple(own) for _, own in graph.nodes(data=labels)], edges)


def _label_tuple(own: Any) -> tuple[str, ...]:
    if own is None:
        return ()
    return (own,) if isinstance(own, str) else tuple(str(label) for label in own)


def _edge_weight(value: Any, edge: tuple[Any, Any]) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"edge {edge} has weight {value!r}, which is not a number") from error
