"""Parse ranking: which of several dependency parses of a sentence is the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, get_args

import numpy as np
from spacy.attrs import DEP, HEAD
from spacy.tokens import Doc, Span

from textrank._ragged import concat, expand, factorize, offsets
from textrank.candidates import Candidate, document_id
from textrank.features import Indices, Matrix, Vector
from textrank.metrics import merge_ties, ranking_metrics
from textrank.protocols import Task
from textrank.tasks.base import Scored
from textrank.tasks.parse_ranking.parsers import (
    Layers,
    LinkGrammar,
    NoisyParser,
    Parse,
    sparse_tree,
)

if not Doc.has_extension("textrank_parse_ranking"):
    Doc.set_extension("textrank_parse_ranking", default=None)


@dataclass(frozen=True)
class Tree:
    """One parse of a sentence; heads count its words from 0, a root's is its own."""

    name: str
    heads: Sequence[int]
    labels: Sequence[str]
    tags: Sequence[str]
    votes: float = 1.0  # the share of parsers that found it
    own: bool = False  # whether it is the first choice of the parser
    by: Sequence[float] = field(default=())  # that share among the copies of each parser
    spans: Sequence[bool] = field(default=())  # whether most votes of all, of each, speak for it

    def links(self) -> set[Arc]:
        """Every arc; a root hangs from nothing."""
        arcs = zip(self.heads, self.labels, strict=True)
        return {(head, i, label) for i, (head, label) in enumerate(arcs) if head != i}


Parsed: TypeAlias = list[tuple[Span, list[Tree]]]
Source: TypeAlias = Literal["auto", "given", "parser", "link_grammar"]


@dataclass(frozen=True)
class ParseRanking(Task):
    """A candidate for every parse of a sentence; the answer is how near it is to the gold tree.

    That is the F-score of its links, see ``goodness``. Candidates are those given with the
    document (CoNLL-U with several parses a sentence), or those of a parser and noisy copies of it,
    see ``NoisyParser``, of a second parser likewise, and the trees that most of their votes speak
    for, see ``pooled``; every candidate then has the tags of the first parser's pipeline. Or they
    are the linkages of Link Grammar, see ``LinkGrammar``, with their spanning tree. A
    candidate is a Doc of its own: the sentence with that parse. Ranked together are the parses of
    a sentence, held out together those of a document.

    Parameters
    ----------
    source
        Where parses come from: ``"given"``, the ``"parser"``, ``"link_grammar"`` (which needs the
        program link-parser), or ``"auto"``: those given where there are any, else the parser's.
    parser
        A spaCy pipeline by name or path; the shipped one where empty.
    sigma, copies, seed, layers
        The noise, see ``NoisyParser``.
    mirror
        A second parser, which reads sentences backwards, by name or path; none where empty.
    linkages
        At most how many linkages of Link Grammar are taken.
    labelled
        Whether the types of links count when a parse is compared with the gold tree. Say no where
        parses and gold trees name them differently, as Link Grammar and most treebanks do.
    """

    source: Source = "auto"
    parser: str = ""
    sigma: float = 0.2
    copies: int = 24
    seed: int = 0
    layers: Layers = "all"
    mirror: str = ""
    linkages: int = 20
    labelled: bool = True
    name: ClassVar[str] = "parse_ranking"
    required_pipes: ClassVar[
        tuple[str, ...]
    ] = ()  # of the analysis: words and sentences are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = (
        "parser",
    )  # which finds the sentences of raw text
    is_ranking: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.source not in get_args(Source):
            raise ValueError(
                f"source must be one of {', '.join(get_args(Source))}, got {self.source!r}"
            )
        self._parsers()  # which check their settings

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Every parse of every sentence."""
        (found,) = self.find_candidates([doc])
        return found

    def find_candidates(self, docs: Sequence[Doc]) -> list[list[Candidate]]:
        """The same for several Docs; parsers see the sentences of all of them at once."""
        parsed = self._trees_of(docs)
        agreed = iter(agreements([trees for own in parsed for _, trees in own]))
        return [self._asked(doc, own, agreed) for doc, own in zip(docs, parsed, strict=True)]

    def _asked(self, doc: Doc, parsed: Parsed, agreed: Iterator[Agreement]) -> list[Candidate]:
        document, gold = document_id(doc), _rows(doc, "gold")
        found = []
        for number, (sentence, trees) in enumerate(parsed):
            right = gold.get(sentence.start, [])
            best = self._comparable(_tree(right[0], sentence)) if right else None
            query = _sentence_name(doc, number)
            for own in _docs(doc, sentence, trees, next(agreed)):
                own.user_data["document"] = document
                tree: Tree = own.user_data.pop("tree")
                label = None
                if best is not None:
                    tree = self._comparable(tree)
                    label = goodness(tree.links(), best.links())
                    own.user_data["attached"] = attached(tree, best)
                found.append(Candidate(own, (), document, query, label))
        return found

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Sentences with a gold tree but no parse to choose."""
        if self._given(doc):
            parsed = _rows(doc, "parses")
            return sum(start not in parsed for start in _rows(doc, "gold"))
        if self.source == "link_grammar":  # which need not find a parse
            gold = _rows(doc, "gold")
            (found,) = self._trees_of([doc])
            return sum(not trees and part.start in gold for part, trees in found)
        return 0

    def threshold(self, y: Vector, heldout: Vector) -> float | None:
        """None: parses are compared with each other."""
        return None

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Sets the best parse of each sentence on the Doc.

        ``doc._.textrank_parse_ranking`` has a row a sentence, with all its parses, best first;
        heads count the words of the sentence from 0.
        """
        candidates, scores = scored.candidates, scored.scores
        merged = merge_ties(scores)
        found = []
        heads, labels = _parse_of(doc)
        for members in _by_query(candidates):
            order = sorted(members, key=lambda i: (-merged[i], i))
            start = int(candidates[order[0]].doc.user_data["parse"]["start"])
            best = candidates[order[0]].doc
            for token in best:
                heads[start + token.i] = start + token.head.i
                labels[start + token.i] = token.dep_
            row = {
                "sentence": best.text.strip(),
                "words": [token.text for token in best],
                "parses": [_shown(candidates[i].doc, float(scores[i])) for i in order],
            }
            found.append(row)
        if found:
            _set_parse(doc, heads, labels)
        doc._.textrank_parse_ranking = found
        return doc

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """The measures of one test fold.

        With tau_b and the like over sentences, the labelled attachment score over all words: of
        the chosen parse (``las``), of the parser's first choice (``las_parser``), of the best
        parse there is (``las_oracle``), and what the choice gains (``las_gain``).
        """
        candidates, scores = scored.candidates, scored.scores
        queries = [(c.document, c.query) for c in candidates]
        found = ranking_metrics(scored.y, scores, queries)
        return {**found, **_attachment(candidates, scores)}

    def with_parser(self, language: str) -> ParseRanking:
        """The same with the parses of another spaCy pipeline; the mirror reads ours backwards."""
        return replace(self, parser=language, mirror="")

    def _given(self, doc: Doc) -> bool:
        has = bool(doc.user_data.get("parses"))
        if self.source == "given" and not has:
            raise ValueError(
                f"document {document_id(doc)!r} comes with no parses to rank. Read CoNLL-U with "
                "several parses a sentence, or set source to 'parser'."
            )
        return has and self.source in ("auto", "given")

    def _comparable(self, tree: Tree) -> Tree:
        return tree if self.labelled else replace(tree, labels=[""] * len(tree.labels))

    def _trees_of(self, docs: Sequence[Doc]) -> list[Parsed]:
        """The sentences of each Doc with their trees."""
        sentences = [list(_sentences(doc)) for doc in docs]
        given = [self._given(doc) for doc in docs]
        asked = [s for own, has in zip(sentences, given, strict=True) if not has for s in own]
        pools = iter(self._parsed(asked))
        found = []
        for doc, own, has in zip(docs, sentences, given, strict=True):
            rows = _rows(doc, "parses") if has else {}
            found.append(
                [(s, _given_trees(rows.get(s.start, []), s) if has else next(pools)) for s in own]
            )
        return found

    def _parsed(self, sentences: Sequence[Span]) -> list[list[Tree]]:
        if not sentences:
            return []
        parses = zip(*(parser(sentences) for parser in self._parsers()), strict=True)
        return [pooled(own) if own[0] else [] for own in parses]

    def _parsers(self) -> Sequence[Callable[[Sequence[Span]], list[list[Parse]]]]:
        if self.source == "link_grammar":
            return [LinkGrammar(linkages=self.linkages)]
        first = NoisyParser(self.parser, self.sigma, self.copies, self.seed, self.layers)
        if not self.mirror:
            return [first]
        return [first, replace(first, name=self.mirror, backwards=True)]


def _docs(doc: Doc, sentence: Span, trees: Sequence[Tree], agreed: Agreement) -> Iterator[Doc]:
    """A Doc for each tree, which knows how much the others speak for it."""
    if not trees:
        return
    votes = agreed.arcs, agreed.heads  # each (trees, words, parsers)
    agreement, attachment = (each.mean(axis=(1, 2)).tolist() for each in votes)
    arcs, heads = (each.astype(np.float32) for each in votes)
    plain: dict[tuple[str, ...], Doc] = {}
    for i, tree in enumerate(trees):
        tags = tuple(tree.tags)
        if tags not in plain:
            plain[tags] = _tagged(doc, sentence, tags)
        own = plain[tags].copy()
        _set_parse(own, tree.heads, tree.labels)
        own.user_data["tree"] = tree
        own.user_data["parse"] = {
            "name": tree.name,
            "start": sentence.start,
            "own": tree.own,
            "votes": tree.votes,
            "consensus": agreement[i],
            "attachment": attachment[i],
            "by": np.array(tree.by),
            "arcs": arcs[i],
            "heads": heads[i],
            "spans": list(tree.spans),
        }
        yield own


def _tagged(doc: Doc, sentence: Span, tags: Sequence[str]) -> Doc:
    """The sentence as a Doc with tags, for parses to be set on copies of it."""
    return Doc(
        doc.vocab,
        words=[token.text for token in sentence],
        spaces=[bool(token.whitespace_) for token in sentence],
        lemmas=[token.lemma_ for token in sentence],
        tags=list(tags),
    )


def _sentences(doc: Doc) -> Iterator[Span]:
    if len(doc) and not doc.has_annotation("SENT_START"):
        raise ValueError(
            f"document {document_id(doc)!r} has no sentences. Run a parser or a sentencizer before."
        )
    yield from doc.sents if len(doc) else ()


def _sentence_name(doc: Doc, number: int) -> str:
    names = doc.user_data.get("sentences", ())
    return str(names[number]) if number < len(names) else f"s{number}"


def _rows(doc: Doc, key: str) -> dict[int, list[Mapping[str, Any]]]:
    """The trees of each sentence, by its first token."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    for row in doc.user_data.get(key, ()):
        if "heads" in row:  # gold answers of other tasks have none
            found.setdefault(int(row["start"]), []).append(row)
    return found


def _given_trees(rows: Sequence[Mapping[str, Any]], sentence: Span) -> list[Tree]:
    """The parser's first choice is the one with the highest score, or the first of the file."""
    scores = [float(row.get("score", 0.0)) for row in rows]
    first = int(np.argmax(scores)) if rows else 0
    share = 1.0 / max(len(rows), 1)
    return [
        replace(_tree(row, sentence), votes=share, own=i == first, by=[share])
        for i, row in enumerate(rows)
    ]


def _tree(row: Mapping[str, Any], sentence: Span) -> Tree:
    heads = [int(head) - sentence.start for head in row["heads"]]
    size = len(sentence)
    if len(heads) != size or any(not 0 <= head < size for head in heads):
        raise ValueError(
            f"parse {row['parse']!r} of document {document_id(sentence.doc)!r} does not fit its "
            f"sentence of {size} words at token {sentence.start}. Heads are tokens of the Doc, "
            "one a word."
        )
    tags = row.get("tags") or [token.tag_ for token in sentence]
    return Tree(str(row["parse"]), heads, list(row["labels"]), list(tags))


def _by_query(candidates: Sequence[Candidate]) -> list[list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for i, candidate in enumerate(candidates):
        found.setdefault((candidate.document, candidate.query), []).append(i)
    return list(found.values())


def _attachment(candidates: Sequence[Candidate], scores: Vector) -> dict[str, float | None]:
    scores = merge_ties(scores)
    words = sum(len(candidates[members[0]].doc) for members in _by_query(candidates))
    right = {"las": 0, "las_parser": 0, "las_oracle": 0}
    for members in _by_query(candidates):
        counts = {i: int(candidates[i].doc.user_data["attached"]) for i in members}
        first = (i for i in members if candidates[i].doc.user_data["parse"]["own"])
        right["las"] += counts[max(members, key=lambda i: scores[i])]
        right["las_parser"] += counts[next(first, members[0])]
        right["las_oracle"] += max(counts.values())
    found: dict[str, float | None] = {
        name: count / words if words else None for name, count in right.items()
    }
    gain = (right["las"] - right["las_parser"]) / words if words else None
    return {**found, "las_gain": gain}


def _shown(doc: Doc, score: float) -> dict[str, Any]:
    known = doc.user_data["parse"]
    table: Any = doc.to_array([HEAD, DEP])
    strings = doc.vocab.strings
    return {
        "parse": known["name"],
        "score": score,
        "votes": known["votes"],
        "parser": bool(known["own"]),
        "heads": (table[:, 0].astype(np.int64) + np.arange(len(doc))).tolist(),
        "labels": [strings[label] for label in table[:, 1].tolist()],
    }


def _parse_of(doc: Doc) -> tuple[list[int], list[str]]:
    """The parse that is there, for sentences without a candidate."""
    if doc.has_annotation("DEP"):
        return [token.head.i for token in doc], [token.dep_ for token in doc]
    heads = [token.sent.start for token in doc]
    return heads, ["ROOT" if head == i else "dep" for i, head in enumerate(heads)]


def _set_parse(doc: Doc, heads: Sequence[int], labels: Sequence[str]) -> None:
    add = doc.vocab.strings.add
    hashes = {label: add(label) for label in set(labels)}
    columns: Any = np.empty((len(doc), 2), dtype=np.uint64)
    columns[:, 0] = (np.array(heads, dtype=np.int64) - np.arange(len(doc))).view(np.uint64)
    columns[:, 1] = [hashes[label] for label in labels]
    doc.from_array([HEAD, DEP], columns)


MOST = 0.5 + 1e-9  # of all votes: so many that rounding does not matter
Arc: TypeAlias = tuple[int, int, str]  # head, dependent, type


def goodness(links: set[Arc], gold: set[Arc]) -> float:
    """F-score of the links of a parse; equal are links of the same type between the same words.

    A link to a word that the gold parse leaves unlinked counts neither for nor against.

    >>> gold = {(1, 0, "nsubj"), (1, 2, "obl")}
    >>> goodness({(1, 0, "nsubj"), (1, 2, "dobj"), (1, 3, "punct")}, gold)
    0.5
    """
    if not gold:
        return 1.0
    linked = {word for head, dependent, _ in gold for word in (head, dependent)}
    right = len(links & gold)
    wrong = sum(head in linked and dependent in linked for head, dependent, _ in links - gold)
    return 2 * right / (len(gold) + right + wrong)


def attached(tree: Tree, gold: Tree) -> int:
    """How many words have the right head and label; the label of a root does not matter."""
    rows = zip(tree.heads, gold.heads, tree.labels, gold.labels, strict=True)
    return sum(
        head == right and (head == i or label == wanted)
        for i, (head, right, label, wanted) in enumerate(rows)
    )


@dataclass(frozen=True, eq=False)
class Agreement:
    """For each tree and word of a sentence the share of each parser's votes for the same there."""

    arcs: Matrix  # (trees, words, parsers): for the same head and label
    heads: Matrix  # (trees, words, parsers): for the same head


def agreements(pools: Sequence[Sequence[Tree]]) -> list[Agreement]:
    """How much the trees of a sentence agree, by their votes; of many sentences at once."""
    trees = [tree for pool in pools for tree in pool]
    counts, widths = [len(pool) for pool in pools], [_width(pool) for pool in pools]
    first = np.repeat(offsets(widths)[:-1], counts)
    owner, word = expand(first, np.repeat(np.array(widths, dtype=np.intp), counts))
    numbers: dict[str, int] = {}
    labels = concat([numbers.setdefault(k, len(numbers)) for k in tree.labels] for tree in trees)
    heads = word * max(widths, default=0) + concat(tree.heads for tree in trees)
    weights = _weights(pools)
    arcs = heads * max(len(numbers), 1) + labels
    found = zip(*(_split(_shares(c, weights, owner), pools) for c in (arcs, heads)), strict=True)
    return [Agreement(*own) for own in found]


def _width(pool: Sequence[Tree]) -> int:
    return len(pool[0].heads) if pool else 0


def _parsers(pool: Sequence[Tree]) -> int:
    return len(pool[0].by) if pool else 0


def _weights(pools: Sequence[Sequence[Tree]]) -> Matrix:  # (trees, parsers)
    """The share of each tree in the votes of each parser, 0 of one that its sentence lacks."""
    tables = [np.zeros((0, 0))]
    for pool in filter(None, pools):
        votes = np.array([tree.by for tree in pool])
        tables.append(votes / np.maximum(votes.sum(axis=0), 1e-300))
    found = np.zeros((sum(map(len, tables)), max(table.shape[1] for table in tables)))
    begins = offsets([len(table) for table in tables]).tolist()
    for table, start in zip(tables, begins[:-1], strict=True):
        found[start : start + len(table), : table.shape[1]] = table
    return found


def _shares(codes: Indices, weights: Matrix, owner: Indices) -> Matrix:  # (codes, parsers)
    """The sum of the weights of equal codes, given whose they are."""
    which = factorize(codes)[1]
    found = np.empty((len(codes), weights.shape[1]))
    for column, own in zip(found.T, weights.T, strict=True):
        column[:] = np.bincount(which, weights=own[owner])[which]
    return found


def _split(shares: Matrix, pools: Sequence[Sequence[Tree]]) -> Iterator[Matrix]:
    """Those of each sentence, (trees, words, parsers)."""
    start = 0
    for pool in pools:
        shape = len(pool), _width(pool), _parsers(pool)
        end = start + shape[0] * shape[1]
        yield np.ascontiguousarray(shares[start:end, : shape[2]]).reshape(shape)
        start = end


def pooled(parsers: Sequence[Sequence[Parse]]) -> list[Tree]:
    """The distinct parses of several parsers and the trees that most of their votes speak for.

    Parsers count alike. The first parse of the first parser is the own one, and tags are its. To
    what the parsers found come the maximum spanning trees of the arcs by votes, of all parsers
    together and of each, where nobody found them.
    """
    tables = [_votes(parses) for parses in parsers]
    spanning = [_spanning(table) for table in [_together(tables), *tables]]
    keys = dict.fromkeys([key for table in tables for key in table] + spanning)
    first = parsers[0][0]
    own = first.heads, first.labels
    found = []
    for number, key in enumerate(keys):
        by = [table.get(key, 0.0) for table in tables]
        votes = sum(by) / len(by)
        spans = [key == tree for tree in spanning]
        found.append(Tree(str(number), *key, first.tags, votes, key == own, by, spans))
    return found


_Key: TypeAlias = tuple[tuple[int, ...], tuple[str, ...]]


def _votes(parses: Sequence[Parse]) -> dict[_Key, float]:
    total = sum(parse.votes for parse in parses)
    return {(parse.heads, parse.labels): parse.votes / total for parse in parses}


def _together(tables: Sequence[dict[_Key, float]]) -> dict[_Key, float]:
    found: Counter[_Key] = Counter()
    for table in tables:
        for key, votes in table.items():
            found[key] += votes  # type: ignore[assignment]
    return dict(found)


def _spanning(table: Mapping[_Key, float]) -> _Key:
    """The spanning tree of some parses; each arc has the label that most votes give it."""
    shares = list(table.values())
    first = max(table, key=lambda key: table[key])
    if table[first] > MOST * sum(shares):  # of no other arc or label can be as many
        return first
    heads = list(zip(*(heads for heads, _ in table), strict=True))  # by word, of each parse
    labels = zip(*(labels for _, labels in table), strict=True)
    votes = [_summed(own, shares) for own in heads]
    roots = [own.pop(word, 0.0) for word, own in enumerate(votes)]
    tree = sparse_tree(votes, roots)
    each = zip(tree, heads, labels, strict=True)
    return tuple(tree), tuple(_most(kinds, shares, own, head) for head, own, kinds in each)


def _most(labels: Sequence[str], shares: Sequence[float], heads: Sequence[int], head: int) -> str:
    """The label that most votes for a head give its arc."""
    if len(set(labels)) == 1 and head in heads:
        return labels[0]
    some = [own == head for own in heads]
    votes = _summed(list(compress(labels, some)), list(compress(shares, some)))
    return max(votes, key=lambda label: votes[label], default="dep")


T = TypeVar("T")


def _summed(keys: Sequence[T], shares: Sequence[float]) -> dict[T, float]:
    """The votes for each key; one after the other, so that equal votes are equal numbers."""
    found: dict[T, float] = {}
    for key, share in zip(keys, shares, strict=True):
        found[key] = found.get(key, 0.0) + share
    return found
