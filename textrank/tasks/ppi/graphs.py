"""Pairs of entities as labelled graphs of their sentence, for graph kernels.

``DependencyGraph`` is the registered representation: dependencies and word order of the sentence,
with options. ``PathGraphs`` builds its dependency part for all pairs of a batch at once, from
``PairArrays``; ``PairViews`` uses it because it is faster. ``to_networkx`` and ``from_networkx``
convert single graphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from textrank._ragged import expand, lengths, offsets
from textrank.candidates import Candidate
from textrank.features import Indices
from textrank.graphs import GraphBatch, GraphFamily, LabelledGraph
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

if TYPE_CHECKING:
    import networkx as nx

PATH_PREFIXES = ("", "path:")  # off and on a shortest path
SIDE_PREFIXES = ("before:", "middle:", "after:")
ENTITY_LABELS = ("PROT1", "PROT2", "PROT")  # first and second of the pair, any other entity


@dataclass(frozen=True, kw_only=True)
class DependencyGraph:
    """Graph of the sentence of a pair of entities, in two unconnected parts.

    The dependency part has a vertex per token and per dependency, and edges governor -> dependency
    -> dependent. Every dependency on a shortest undirected path between any token of one entity and
    any of the other is marked, with the tokens it touches: marked vertices have labels that begin
    with ``path:``, and edges of marked dependencies weigh ``path_weight``, all others
    ``other_weight``. The linear part has a second vertex for each token, an edge of
    ``linear_weight`` from each token to the next, and labels that begin with ``before:``,
    ``middle:`` or ``after:``, depending on where the token is relative to the pair; ``middle:``
    includes the pair itself.

    Entities are blinded: the text of the first of the pair is ``PROT1``, of the second ``PROT2``,
    of every other one ``PROT``; the part of speech is kept. A token of both is PROT1.

    Airola et al. (2008), BMC Bioinformatics 9(Suppl 11):S2.

    Parameters
    ----------
    path_weight, other_weight, linear_weight
        Weights of edges, see above; finite and at least 0.
    labels
        Labels of a token: ``"text"``, ``"pos"``, both or neither.
    words
        Form of the text: as written (``"raw"``), ``"lower"``, ``"lemma"`` or ``"stem"``.
    parse
        Dependencies to use: ``"given"`` with the corpus, those of ``"spacy"``, or given if
        present and spaCy's otherwise (``"auto"``). ``"collapsed"`` is like auto, but collapses
        prepositions and coordinations of spaCy's parse; ``"own"`` is like collapsed, but prefers
        spaCy's parse to given dependencies.
    parts
        ``"dependency"``, ``"linear"`` or both.
    drop
        Types of dependencies to leave out.
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
        """Convert sequences to tuples; raise ValueError if a setting is not valid.

        Weights must be finite and at least 0, ``parts`` must not be empty; ``labels`` may be.
        """
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
            raise ValueError("parts is empty; choose 'dependency', 'linear' or both")

    def __call__(self, candidates: Sequence[Candidate]) -> GraphBatch:
        """Return one graph per candidate, in order.

        Raises ValueError if a candidate does not have two spans, or if its Doc lacks sentence
        boundaries or the parse.
        """
        for index, candidate in enumerate(candidates):
            if len(candidate.spans) != 2:
                raise ValueError(
                    f"candidate {index} of document {candidate.document!r} has "
                    f"{len(candidate.spans)} spans, but a dependency graph needs two."
                )
        return self.represent_sentences(
            analyze_sentences(candidates, self.parse, self.drop), candidates
        )

    def represent_sentences(
        self, sentences: Iterable[Sentence], candidates: Sequence[Candidate]
    ) -> GraphBatch:
        """Return the graphs of candidates whose sentences are already analysed.

        There is one graph per candidate, in the order of ``candidates``.

        Parameters
        ----------
        sentences
            Sentences that together contain every candidate, as ``analyze_sentences`` yields them.
        candidates
            Candidates that ``candidate_indices`` of the sentences refer to, all with two spans.
        """
        families: list[GraphFamily] = []
        labels = LabelIndex()
        for sentence in track(sentences, "sentence graphs"):
            pairs = SentencePairs.from_candidates(sentence, candidates)
            tokens = self._token_labels(sentence, pairs, labels)
            if "dependency" in self.parts:
                families.append(self._dependency_part(sentence, pairs, tokens, labels))
            if "linear" in self.parts:
                families.append(self._linear_part(sentence, pairs, tokens))
        return GraphBatch(tuple(labels.ids), tuple(families), len(candidates))

    def _dependency_part(
        self, sentence: Sentence, pairs: SentencePairs, tokens: TokenLabels, label_index: LabelIndex
    ) -> GraphFamily:
        """Build the dependency graphs of all pairs of a sentence, as one family.

        A family is a set of graphs with the same vertices and edges, but different labels and
        weights. Vertices 0 to n - 1 are the tokens, vertex n + k is dependency k. Each dependency
        has two edges of equal weight, governor -> dependency -> dependent: ``path_weight`` on a
        shortest path, else ``other_weight``. Labels are padded with -1; new ones are added to
        ``label_index``, in place.
        """
        dependencies, n = sentence.dependencies, len(sentence)
        on_path = pairs.shortest_paths(dependencies)
        token_on_path = np.zeros(pairs.first.shape, dtype=np.intp)
        row, edge = np.nonzero(on_path)
        for tokens_of_arc in (dependencies.governor, dependencies.dependent):
            token_on_path[row, tokens_of_arc[edge]] = 1

        labels = np.full(
            (len(on_path), n + len(dependencies), max(1, len(tokens))), -1, dtype=np.int32
        )
        labels[:, :n, : len(tokens)] = tokens.labels(token_on_path)
        type_ids = label_index.prefixed_ids(dependencies.types, PATH_PREFIXES)
        labels[:, n:, 0] = type_ids[on_path.astype(np.intp), np.arange(len(dependencies))]

        weights = np.where(on_path, self.path_weight, self.other_weight)
        edge_weights = np.hstack([weights, weights])
        return GraphFamily(sentence.candidate_indices, dependencies.edges(n), edge_weights, labels)

    def _linear_part(
        self, sentence: Sentence, pairs: SentencePairs, tokens: TokenLabels
    ) -> GraphFamily:
        """Build the word-order graphs of all pairs of a sentence, as one family.

        Vertices are the tokens, with an edge of ``linear_weight`` from each to the next. Labels
        begin with "before:", "middle:" or "after:". ``tokens`` must have the labels for each of
        SIDE_PREFIXES, as ``_token_labels`` makes them.
        """
        labels = tokens.labels(pairs.sides() + len(self._prefixes) - len(SIDE_PREFIXES))
        position = np.arange(len(sentence))
        weights = np.full((1, len(position) - 1), self.linear_weight)
        return GraphFamily(
            sentence.candidate_indices, np.stack([position[:-1], position[1:]], 1), weights, labels
        )

    def _word_forms(self, sentence: Sentence) -> list[str]:
        """Return the text of each token in the form ``self.words``, also of tokens in entities.

        The list is new, so the caller may change it.
        """
        if self.words == "raw":
            return list(sentence.texts)
        if self.words == "stem":
            return [stem(text) for text in sentence.texts]
        return [word_form(token, self.words) for token in sentence]

    @property
    def _prefixes(self) -> tuple[str, ...]:
        """Return the label prefixes of the chosen parts: PATH_PREFIXES, then SIDE_PREFIXES."""
        return (PATH_PREFIXES if "dependency" in self.parts else ()) + (
            SIDE_PREFIXES if "linear" in self.parts else ()
        )

    def _token_labels(
        self, sentence: Sentence, pairs: SentencePairs, label_index: LabelIndex
    ) -> TokenLabels:
        """Return the labels of the tokens of a sentence for all its pairs, entities blinded.

        There is one kind of label for the text and one for the part of speech, as chosen in
        ``self.labels``, in this order. Every label is added to ``label_index`` with each of
        ``_prefixes``, in place.
        """
        position = np.broadcast_to(np.arange(len(sentence)), pairs.first.shape)
        names, name_index = [], []
        if "text" in self.labels:
            forms = self._word_forms(sentence)
            for token in sentence.entities:
                forms[token] = ENTITY_LABELS[2]
            names.append((*forms, *ENTITY_LABELS[:2]))
            entity_name = np.where(pairs.first, len(forms), len(forms) + 1)
            name_index.append(np.where(pairs.first | pairs.second, entity_name, position))
        if "pos" in self.labels:
            names.append(tuple(sentence.tags))
            name_index.append(position)
        numbers = tuple(
            label_index.prefixed_ids(token_names, self._prefixes) for token_names in names
        )
        return TokenLabels(numbers, tuple(name_index))


@dataclass(frozen=True, eq=False)
class TokenLabels:
    """Labels of the tokens of a sentence in g graphs.

    g is the number of pairs of the sentence, n its number of tokens. There is one list of names per
    *kind* of label, text and part of speech; there may be no kind. ``len`` is the number of kinds.
    """

    label_ids: tuple[NDArray[np.int32], ...]  # (prefixes, names) per kind
    name_index: tuple[Indices, ...]  # (g, n) per kind: column of label_ids of each token

    def __len__(self) -> int:
        """Return the number of kinds of labels."""
        return len(self.label_ids)

    def labels(self, variant: Indices) -> NDArray[np.int32]:
        """Return label ids, shape (g, n, kinds), for one prefix per token.

        ``variant`` (g, n) has the index of the prefix of each token, a row of ``label_ids``. If
        text and part of speech have the same label, as commas do, the second is -1.
        """
        out = np.empty((*variant.shape, len(self)), dtype=np.int32)
        for k, (numbers, names) in enumerate(zip(self.label_ids, self.name_index, strict=True)):
            out[:, :, k] = numbers[variant, names]
        if len(self) == 2:  # a comma is its own part of speech: one label, not two
            out[out[:, :, 0] == out[:, :, 1], 1] = -1
        return out


@dataclass(frozen=True, eq=False)
class SentencePairs:
    """Tokens of the two entities of each of the g candidates of a sentence with n tokens.

    Tokens count from the start of the sentence. ``token_pairs`` has one row for each combination of
    a token of the first and a token of the second entity of a candidate.
    """

    first: NDArray[np.bool_]  # (g, n)
    second: NDArray[np.bool_]  # (g, n) a shared token is in both
    token_pairs: Indices  # (p, 3) candidate, token of first, token of second

    @classmethod
    def from_candidates(cls, sentence: Sentence, candidates: Sequence[Candidate]) -> SentencePairs:
        """Collect the entities' tokens of the candidates of a sentence.

        ``candidates`` are all candidates of the batch; rows of the result are in the order of
        ``sentence.candidate_indices``. Each candidate must have two spans; first and second are in
        text order, whatever the order of the spans.
        """
        first, second = (
            np.zeros((len(sentence.candidate_indices), len(sentence)), bool) for _ in range(2)
        )
        token_pairs = []
        for row, index in enumerate(sentence.candidate_indices):
            first_tokens, second_tokens = sentence.span_tokens(candidates[index])
            first[row, first_tokens] = second[row, second_tokens] = True
            token_pairs += [(row, s, t) for s in first_tokens for t in second_tokens]
        return cls(first, second, np.array(token_pairs, dtype=np.intp))

    def sides(self) -> Indices:
        """Return 0 for tokens before the pair, 1 from its first to its last token, 2 after it.

        Shape (g, n).
        """
        is_entity = self.first | self.second
        has_begun = np.logical_or.accumulate(is_entity, axis=1)
        is_to_come = np.logical_or.accumulate(is_entity[:, ::-1], axis=1)[:, ::-1]
        return np.where(has_begun, np.where(is_to_come, 1, 2), 0)

    def shortest_paths(self, dependencies: Dependencies) -> NDArray[np.bool_]:
        """Return which of the e dependencies are on a shortest path of each pair, (g, e).

        The paths of all combinations of a token of the first and a token of the second entity
        count. Combinations without a path, or of the same token, have no dependency on their path.
        With d the length of the shortest undirected path, the dependency between u and v is on a
        shortest path from s to t if d(s, u) + 1 + d(v, t) = d(s, t).
        """
        end_tokens, inverse = np.unique(self.token_pairs[:, 1:], return_inverse=True)
        s, t = inverse.reshape(-1, 2).T
        distance = dependencies.distances(self.first.shape[1], end_tokens)
        path_length = distance[s, end_tokens[t]]
        connected = np.flatnonzero((path_length > 0) & (path_length < np.inf))
        s, t, path_length = s[connected], t[connected], path_length[connected, None]
        up, down = distance[:, dependencies.governor], distance[:, dependencies.dependent]
        token_pair, edge = np.nonzero(
            (up[s] + 1 + down[t] == path_length) | (down[s] + 1 + up[t] == path_length)
        )
        on_path = np.zeros((len(self.first), len(dependencies)), dtype=bool)
        on_path[self.token_pairs[connected[token_pair], 0], edge] = True
        return on_path


@dataclass(frozen=True, eq=False)
class PathGraphs:
    """Dependency graphs of all pairs of a batch, with weights and labels that mark shortest paths.

    Equal to the dependency part of ``DependencyGraph(words="stem", parse=...)``. An *arc* is a
    dependency, numbered over all sentences. A *mark* is a combination of a pair and an arc of its
    sentence; marks are ordered by sentence, then pair, then arc.
    """

    arrays: PairArrays
    path_weight: float = 0.9
    other_weight: float = 0.3

    @cached_property
    def _dependencies(self) -> list[Dependencies]:
        """Return the dependencies of each sentence, tokens counted from its start."""
        return [context.sentence.dependencies for context in self.arrays.contexts]

    @cached_property
    def _arc_starts(self) -> Indices:
        """Return the first arc of each sentence, then the number of arcs, (sentences + 1,).

        Arcs are dependencies, numbered over all sentences.
        """
        return offsets([len(dependencies) for dependencies in self._dependencies])

    @cached_property
    def _arc_sentence(self) -> Indices:
        """Return the sentence of each arc, (arcs,)."""
        return np.arange(len(self._dependencies)).repeat(lengths(self._arc_starts))

    @cached_property
    def _arc_tokens(self) -> tuple[Indices, Indices]:
        """Return governor and dependent of each arc, each (arcs,), as tokens of the batch."""
        base = self.arrays.sentence_starts[self._arc_sentence]
        empty = np.zeros(0, dtype=np.intp)
        governor = np.concatenate(
            [empty, *(dependencies.governor for dependencies in self._dependencies)]
        )
        dependent = np.concatenate(
            [empty, *(dependencies.dependent for dependencies in self._dependencies)]
        )
        return governor + base, dependent + base

    @cached_property
    def _arc_counts(self) -> Indices:
        """Return the number of arcs in the sentence of each pair, (pairs,)."""
        return lengths(self._arc_starts)[self.arrays.sentence_index]

    @cached_property
    def _mark_starts(self) -> Indices:
        """Return the position of the first mark of each pair, (pairs,).

        Marks are combinations of a pair and an arc of its sentence, ordered by sentence, then pair,
        then arc. The result is indexed by pair.
        """
        return _starts_in_order(self._arc_counts, self._pair_order)

    @cached_property
    def _pair_order(self) -> Indices:
        """Return the pairs sorted by sentence, (pairs,); pairs of a sentence keep their order."""
        return np.argsort(self.arrays.sentence_index, kind="stable")

    @cached_property
    def _path_arcs(self) -> tuple[Indices, Indices]:
        """Return (pair, arc) for all arcs on a shortest path between any tokens of both entities.

        Two parallel arrays; a (pair, arc) may occur several times. The arc between u and v is on a
        shortest path from s to t if d(s, u) + 1 + d(v, t) = d(s, t). Tokens without a path between
        them, and tokens of both entities, have no arcs on their path.
        """
        arrays, distances = self.arrays, self.arrays.distances
        pair, source, target = arrays.entity_token_pairs
        path_length = distances.between(source, target)
        connected = ((path_length > 0) & (path_length < np.inf)).nonzero()[0]
        pair, path_length = pair[connected], path_length[connected]
        from_row, to_row = (
            distances.row_offset[distances.row_of_token[tokens[connected]]]
            for tokens in (source, target)
        )
        repeat, arc = expand(self._arc_starts[arrays.sentence_index[pair]], self._arc_counts[pair])
        governor, dependent = (ends[arc] for ends in self._arc_tokens)
        from_row, to_row, path_length = from_row[repeat], to_row[repeat], path_length[repeat] - 1
        values = distances.values
        is_on_path = values[from_row + governor] + values[to_row + dependent] == path_length
        is_on_path |= values[from_row + dependent] + values[to_row + governor] == path_length
        kept = is_on_path.nonzero()[0]
        return pair[repeat[kept]], arc[kept]

    @cached_property
    def _is_on_path(self) -> NDArray[np.bool_]:
        """Return whether each mark is on a shortest path of its pair, (marks,).

        Marks are combinations of a pair and an arc of its sentence, ordered by sentence, then pair,
        then arc.
        """
        pair, arc = self._path_arcs
        mask = np.zeros(int(self._arc_counts.sum()), dtype=bool)
        position = arc - self._arc_starts[self.arrays.sentence_index[pair]]
        mask[self._mark_starts[pair] + position] = True
        return mask

    def to_batch(self) -> GraphBatch:
        """Return the graphs as a batch, one family per sentence and one graph per pair.

        Graph i is that of ``arrays.pairs[i]``. Vertices are the tokens of the sentence, then its
        dependencies; edges lead from governor to dependency to dependent and weigh ``path_weight``
        on a shortest path, else ``other_weight``. Vertices have up to two labels, padded with -1.
        """
        arrays = self.arrays
        vocabulary, labels = self._labels()
        weights = np.where(self._is_on_path, self.path_weight, self.other_weight)
        edges = self._edges()
        arcs, sizes = lengths(self._arc_starts), lengths(arrays.sentence_starts)
        pairs = np.bincount(arrays.sentence_index, minlength=len(sizes))
        bounds = zip(
            offsets(pairs).tolist(), offsets(pairs * arcs).tolist(),
            offsets(pairs * (arcs + sizes)).tolist(), strict=True,
        )  # fmt: skip
        families, low = [], next(bounds)
        rows = zip(
            pairs.tolist(), arcs.tolist(), sizes.tolist(), self._arc_starts.tolist(), strict=False
        )
        for (g, e, n, first), high in zip(rows, bounds, strict=True):
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
        return GraphBatch(vocabulary, tuple(families), len(arrays.pairs))

    def _edges(self) -> Indices:  # (2 arcs, 2)
        """Return edges governor -> dependency and dependency -> dependent, (2 arcs, 2).

        Vertices count from the start of the sentence, tokens first. The 2 e edges of a sentence
        with e arcs are consecutive, those to dependencies first.
        """
        sentence = self._arc_sentence
        base = self.arrays.sentence_starts[sentence]
        position = np.arange(len(sentence)) - self._arc_starts[sentence]
        vertex = lengths(self.arrays.sentence_starts)[sentence] + position
        edges = np.empty((2 * len(sentence), 2), dtype=np.intp)
        outgoing = 2 * self._arc_starts[sentence] + position
        incoming = outgoing + lengths(self._arc_starts)[sentence]
        edges[outgoing, 0], edges[outgoing, 1] = self._arc_tokens[0] - base, vertex
        edges[incoming, 0], edges[incoming, 1] = vertex, self._arc_tokens[1] - base
        return edges

    def _labels(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """Return the label vocabulary, and label ids of all vertices, (vertices, 2), -1 for none.

        Tokens have their word and part of speech as labels, dependencies their type; on a shortest
        path labels begin with ``path:``. A word that equals its part of speech, as a comma does,
        has one label. Vertices are ordered by sentence, then pair, then tokens before dependencies.
        """
        arrays = self.arrays
        pair, arc = self._path_arcs
        on_path = np.zeros(int(arrays.pair_token_starts[-1]), dtype=np.intp)
        for ends in self._arc_tokens:
            on_path[ends[arc] + arrays.offset[pair]] = 1
        size = arrays.sentence_sizes + self._arc_counts
        codes = np.full((int(size.sum()), 2), -1, dtype=np.intp)
        starts = _starts_in_order(size, self._pair_order)
        vertex = (starts - arrays.sentence_base)[arrays.pair_index] + arrays.token_index
        word, tag = arrays.words, arrays.token_tags[arrays.token_index]
        codes[vertex, 0] = 2 * word + on_path
        # a comma is its own part of speech: one label, not two
        codes[vertex, 1] = np.where(word == tag, -1, 2 * tag + on_path)
        types = arrays.lexicon.encode(
            kind for dependencies in self._dependencies for kind in dependencies.types
        )
        pair_of_mark, arc = expand(self._arc_starts[arrays.sentence_index], self._arc_counts)
        position = arc - self._arc_starts[arrays.sentence_index[pair_of_mark]]
        codes[(starts + arrays.sentence_sizes)[pair_of_mark] + position, 0] = (
            2 * types[arc] + self._is_on_path[self._mark_starts[pair_of_mark] + position]
        )
        return _label_ids(codes, arrays.lexicon.words())


def _starts_in_order(sizes: Indices, order: Indices) -> Indices:
    """Return where each of several lists begins if they are stored one after the other.

    ``sizes`` has the lengths of the lists and ``order``, a permutation, the order in which they are
    stored. The result is indexed by list.
    """
    starts = np.empty(len(sizes), dtype=np.intp)
    starts[order] = offsets(sizes[order])[:-1]
    return starts


def _label_ids(codes: Indices, words: list[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the labels that occur, and the ids of ``codes`` among them, dtype int32.

    A code is 2 * w for the label ``words[w]``, 2 * w + 1 for the label with the prefix ``path:``,
    and -1 for no label, which is also its id. Ids are in the order of codes and have the shape of
    ``codes``, which is not changed; codes with the same label share an id.
    """
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
    """Return the graph as a networkx DiGraph.

    Nodes are the indices of the vertices, with the attribute ``labels`` (a tuple); edges have the
    attribute ``weight``.

    >>> to_networkx(LabelledGraph(["a", "b"], {(0, 1): 0.5})).edges[0, 1]
    {'weight': 0.5}
    """
    import networkx as nx  # slow to import, and rarely needed

    network: nx.DiGraph = nx.DiGraph()
    network.add_nodes_from((i, {"labels": labels}) for i, labels in enumerate(graph.labels))
    network.add_edges_from((*edge, {"weight": weight}) for edge, weight in graph.edges.items())
    return network


def from_networkx(
    graph: nx.Graph, *, labels: str = "labels", weight: str = "weight", default: float = 1.0
) -> LabelledGraph:
    """Return a labelled graph made from a networkx graph, with vertices in the order of its nodes.

    Raises ValueError if a weight is not a number.

    Parameters
    ----------
    labels
        Node attribute with a string or an iterable of labels; nodes without it get no labels.
    weight, default
        Edge attribute with the weight, and the weight of edges without it. Weights of parallel
        edges add up; an undirected edge becomes two directed ones, but a loop only one.

    >>> import networkx as nx
    >>> from_networkx(nx.Graph([("x", "y")])).edges
    {(0, 1): 1.0, (1, 0): 1.0}
    """
    number = {node: i for i, node in enumerate(graph.nodes)}
    edges: dict[tuple[int, int], float] = {}
    for source, target, value in graph.edges(data=weight, default=default):
        directions = {(number[source], number[target])}
        if not graph.is_directed():
            directions.add((number[target], number[source]))
        for edge in directions:
            edges[edge] = edges.get(edge, 0.0) + _edge_weight(value, (source, target))
    return LabelledGraph([_label_tuple(value) for _, value in graph.nodes(data=labels)], edges)


def _label_tuple(value: Any) -> tuple[str, ...]:
    """Return the value of a node attribute as a tuple of labels; () for None.

    A string is one label. Anything else must be iterable, else TypeError is raised; its items are
    converted to strings.
    """
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(str(label) for label in value)


def _edge_weight(value: Any, edge: tuple[Any, Any]) -> float:
    """Return a weight as a float; raise ValueError that names the edge if it is not a number.

    ``edge`` is (source, target). A numeric string is converted; NaN and infinity are accepted here.
    """
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"edge {edge} has weight {value!r}, which is not a number") from error
