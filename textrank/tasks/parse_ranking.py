"""Task ``parse_ranking``: choose the best of several dependency parses of a sentence.

``ParseRanking`` makes a candidate of every parse of a sentence; its label is the F1 of the arcs
against the gold tree (``arc_f1``). ``pool_parses`` merges the outputs of several parsers, and
``compute_vote_shares`` counts the votes for each arc of a parse; features are made from both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD
from spacy.glossary import GLOSSARY
from spacy.tokens import Doc, Span

from textrank._ragged import concat, expand, factorize, offsets
from textrank.candidates import Candidate, document_id
from textrank.features import Indices, Matrix, Vector
from textrank.metrics import merge_ties, ranking_metrics
from textrank.protocols import Task
from textrank.tasks.base import Scored
from textrank.tasks.parse_features import PARSE_INFO_KEY, ParseInfo, get_parse_info
from textrank.tasks.parsers import (
    LinkGrammar,
    NoiseLayers,
    Parse,
    PerturbedParser,
    UntrustedName,
    find_spanning_tree,
)

if not Doc.has_extension("textrank_parse_ranking"):
    Doc.set_extension("textrank_parse_ranking", default=None)

Arc: TypeAlias = tuple[int, int, str]  # head, dependent, label
MAJORITY_SHARE = 0.5 + 1e-9  # of votes, with a margin for rounding
T = TypeVar("T")
_ParseKey: TypeAlias = tuple[tuple[int, ...], tuple[str, ...]]
Source: TypeAlias = Literal["auto", "given", "parser", "link_grammar"]


@dataclass(frozen=True)
class CandidateParse:
    """A parse of a sentence; heads are word indices in it, a root is its own head."""

    name: str
    heads: Sequence[int]
    labels: Sequence[str]
    tags: Sequence[str]
    votes: float = 1.0  # share of parser copies that found it
    is_first_choice: bool = False  # whether it is the parser's unperturbed output
    votes_by_parser: Sequence[float] = ()  # that share among the copies of each parser
    # Whether it is the spanning tree of the votes: of all parsers together, then of each.
    is_spanning: Sequence[bool] = ()
    # All links (word, word, type) of a linkage, left word first; none for a tree.
    links: Sequence[Arc] = ()

    def arcs(self) -> set[Arc]:
        """Return all arcs as (head, dependent, label) with word indices; roots have no arc.

        Raises ValueError if the numbers of heads and labels differ.
        """
        arcs = zip(self.heads, self.labels, strict=True)
        return {(head, i, label) for i, (head, label) in enumerate(arcs) if head != i}

    def undirected_links(self) -> set[Arc]:
        """Return all links as (left word, right word, type).

        These are ``links`` if there are any, else the arcs without direction.

        >>> one = CandidateParse("a", [1, 1], ["Ss", "ROOT"], ["", ""])
        >>> other = CandidateParse("b", [0, 0], ["ROOT", "Ss"], ["", ""])
        >>> one.undirected_links() == other.undirected_links()
        True
        """
        links = self.links or self.arcs()
        return {(min(a, b), max(a, b), label) for a, b, label in links}


SentenceParses: TypeAlias = list[tuple[Span, list[CandidateParse]]]


@dataclass(frozen=True)
class ParseRanking(Task):
    """Parses of a sentence; the task ranks them by closeness to the gold tree.

    A candidate is a Doc of its own: the sentence with one parse. Its label is ``arc_f1`` against
    the gold tree. The parses of a sentence form a query; those of a document are held out together.

    Parses come with the document (CoNLL-U with several parses per sentence), from a parser and
    perturbed copies of it (``PerturbedParser``), or from Link Grammar (``LinkGrammar``). With
    ``mirror``, a second parser and its copies are added. The parses of parsers are merged, and the
    spanning trees of their votes are added (``pool_parses``); they have the tags of the first
    parser's pipeline.

    Parameters
    ----------
    source
        Where parses come from: ``"given"``, ``"parser"``, ``"link_grammar"`` (needs the program
        link-parser), or ``"auto"``: the given ones if there are any, else those of the parser.
    parser
        spaCy pipeline, by name or path; empty for the shipped one.
    sigma, copies, seed, layers
        Noise, see ``PerturbedParser``.
    mirror
        Second parser, which reads sentences backwards, by name or path; empty for none.
    linkages
        Largest number of linkages of Link Grammar.
    labelled
        Whether arc labels count in the comparison with the gold tree. Use False if parses and gold
        trees have different label sets, as Link Grammar and most treebanks do.
    directed
        Whether the direction of arcs counts in that comparison. None: it does, except for linkages
        of Link Grammar, whose links have no direction and may form cycles: with that source, or a
        gold linkage (``links`` besides ``heads``), parses are compared as sets of links.
    """

    source: Source = "auto"
    parser: str = ""
    sigma: float = 0.2
    copies: int = 24
    seed: int = 0
    layers: NoiseLayers = "all"
    mirror: str = ""
    linkages: int = 20
    labelled: bool = True
    directed: bool | None = None
    name: ClassVar[str] = "parse_ranking"
    required_pipes: ClassVar[tuple[str, ...]] = ()  # tokens and sentences are enough
    required_pipes_raw: ClassVar[tuple[str, ...]] = ("parser",)  # for sentence boundaries
    is_ranking: ClassVar[bool] = True
    has_answer_sets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Raise ValueError if a setting is not valid; parsers are not loaded.

        ``source`` must be one of its choices; noise settings and ``linkages`` must be in the range
        that their parser allows. Names of pipelines are not checked.
        """
        if self.source not in get_args(Source):
            raise ValueError(
                f"source must be one of {', '.join(get_args(Source))}, got {self.source!r}"
            )
        self._make_parsers()  # these check their settings

    def candidates(self, doc: Doc) -> list[Candidate]:
        """Return every parse of every sentence as a candidate, in text order.

        Labels are None for sentences without a gold tree; sentences of white space only have no
        candidates. Raises ValueError if the Doc has no sentence boundaries, no parses although
        ``source`` is "given", or parses that do not fit its sentences.
        """
        (candidates,) = self.find_candidates([doc])
        return candidates

    def find_candidates(self, docs: Sequence[Doc]) -> list[list[Candidate]]:
        """Return the candidates of several Docs: one list per Doc, as ``candidates`` returns them.

        Parsers process the sentences of all Docs together. Raises ValueError in the same cases as
        ``candidates``.
        """
        parsed = self._collect_parses(docs)
        vote_shares = iter(
            compute_vote_shares(
                [trees for sentence_parses in parsed for _, trees in sentence_parses]
            )
        )
        return [
            self._make_candidates(doc, sentence_parses, vote_shares)
            for doc, sentence_parses in zip(docs, parsed, strict=True)
        ]

    def _make_candidates(
        self, doc: Doc, sentence_parses: SentenceParses, vote_shares: Iterator[VoteShares]
    ) -> list[Candidate]:
        """Return the candidates of a Doc; takes one item of ``vote_shares`` per sentence.

        An item is taken for sentences without parses, too. A candidate has no spans; its query is
        the name of the sentence (``_sentence_name``), its label the F1 or None without a gold tree.
        The Doc of a candidate has in ``user_data`` the id of the document ("document") and, with a
        gold tree, "attached": the number of words with the gold head and label (head only unless
        ``labelled``; links in either direction if links are compared). If a sentence has several
        gold trees, the first counts.
        """
        document, gold = document_id(doc), _rows_by_sentence(doc, "gold")
        candidates = []
        for number, (sentence, parses) in enumerate(sentence_parses):
            gold_rows = gold.get(sentence.start, [])
            gold_parse = (
                self._drop_labels(_read_parse(gold_rows[0], sentence)) if gold_rows else None
            )
            query = _sentence_name(doc, number)
            for parse_doc, parse in _make_docs(doc, sentence, parses, next(vote_shares)):
                parse_doc.user_data["document"] = document
                label = None
                if gold_parse is not None:
                    compared = self._drop_labels(parse)
                    compares_links = self._compares_links(gold_parse)
                    count = count_correct_links if compares_links else count_correct_arcs
                    label = self._f1(compared, gold_parse)
                    parse_doc.user_data["attached"] = count(compared, gold_parse)
                candidates.append(Candidate(parse_doc, (), document, query, label))
        return candidates

    def compare_candidates(self, doc: Doc, candidates: Mapping[int, Candidate]) -> list[list[str]]:
        """Describe, for each parse of a sentence, where it differs from the others.

        ``candidates`` are parses of one sentence. Returns a list of lines per parse: one line per
        word whose head or label is not the same in all of them, in text order; for linkages, one
        line per link that not all have. Words that occur more than once are followed by their
        number in the sentence. A parse without a difference gets the line "the same as the others".
        ``doc`` is not used.
        """
        return describe_differences([candidate.doc for candidate in candidates.values()])

    def choice_labels(self, candidates: Sequence[Candidate], chosen: int) -> Vector:
        """Return the label of each parse, shape (n,), if the parse ``chosen`` were the gold one.

        ``candidates`` are parses of one sentence and ``chosen`` is a position among them. A label
        is the F1 of the arcs against the chosen parse, 1 for that itself. The settings ``labelled``
        and ``directed`` apply.
        """
        parses = [self._drop_labels(_parse_of_doc(candidate.doc)) for candidate in candidates]
        return np.array([self._f1(parse, parses[chosen]) for parse in parses])

    def _f1(self, parse: CandidateParse, gold: CandidateParse) -> float:
        """Return ``arc_f1`` of a parse against a gold one, computed on links if links are compared.

        Labels count, so with ``labelled`` False both parses must have passed ``_drop_labels``.
        """
        if self._compares_links(gold):
            return arc_f1(parse.undirected_links(), gold.undirected_links())
        return arc_f1(parse.arcs(), gold.arcs())

    def unreachable(self, doc: Doc, candidates: Sequence[Candidate]) -> int:
        """Return the number of sentences with a gold tree but without any parse.

        0 if parses come from a parser, which gives every sentence one. With Link Grammar the Doc is
        parsed again. ``candidates`` is not used. Raises ValueError if ``source`` is "given" and the
        Doc has no parses.
        """
        if self._uses_document_parses(doc):
            parsed_rows = _rows_by_sentence(doc, "parses")
            return sum(start not in parsed_rows for start in _rows_by_sentence(doc, "gold"))
        if self.source == "link_grammar":  # may find no parse
            gold = _rows_by_sentence(doc, "gold")
            (sentence_parses,) = self._collect_parses([doc])
            return sum(
                not parses and sentence.start in gold for sentence, parses in sentence_parses
            )
        return 0

    def threshold(self, y: Vector, heldout: Vector) -> float | None:
        """Return None: parses are ordered, so there is no decision and no threshold.

        The arguments are not used.
        """
        return None

    def annotate(self, doc: Doc, scored: Scored) -> Doc:
        """Set the best parse of each sentence on the Doc, in place, and return the Doc.

        ``doc._.textrank_parse_ranking`` gets one row per sentence with candidates: ``sentence``
        (its text), ``words`` and ``parses``, all its parses, best first (the first candidate on
        ties), with ``parse`` (name), ``score``, ``votes``, ``parser`` (whether it is the first
        choice), ``heads`` (word indices in the sentence) and ``labels``. Sentences without
        candidates keep their parse, or get a flat tree if the Doc has none. Without any candidate
        only the rows are set, to []. ``scored`` must hold the candidates of this Doc alone.
        """
        candidates, scores = scored.candidates, scored.scores
        rows = []
        heads, labels = _current_parse(doc)
        for order in _ranked_queries(scored):
            start = get_parse_info(candidates[order[0]])["start"]
            best = candidates[order[0]].doc
            for token in best:
                heads[start + token.i] = start + token.head.i
                labels[start + token.i] = token.dep_
            row = {
                "sentence": best.text.strip(),
                "words": [token.text for token in best],
                "parses": [_parse_row(candidates[i], float(scores[i])) for i in order],
            }
            rows.append(row)
        if rows:
            _set_arcs(doc, heads, labels)
        doc._.textrank_parse_ranking = rows
        return doc

    def mark_answer_sets(self, doc: Doc, scored: Scored, is_in: NDArray[np.bool_]) -> None:
        """Add ``in_answer_set`` to each parse in the rows of an annotated Doc, in place.

        ``scored`` has all candidates of the Doc; ``is_in[i, 0]`` says whether candidate i is in the
        set of its sentence.
        """
        rows = doc._.textrank_parse_ranking
        for row, order in zip(rows, _ranked_queries(scored), strict=True):
            for parse, index in zip(row["parses"], order, strict=True):
                parse["in_answer_set"] = bool(is_in[index, 0])

    def measures(self, scored: Scored) -> dict[str, float | None]:
        """Return the metrics of one test fold; every candidate must have a gold tree.

        Ranking metrics are means over sentences: ``tau``, ``disagreement``, ``ndcg`` and
        ``ndcg@10``. Attachment scores are shares of words with the right head (and label, if
        ``labelled``), None without words: ``las`` of the parse with the highest score,
        ``las_parser`` of the parser's first choice, ``las_oracle`` of the best parse available, and
        ``las_gain``, ``las`` minus ``las_parser``.
        """
        candidates, scores = scored.candidates, scored.scores
        queries = [(c.document, c.query) for c in candidates]
        metrics = ranking_metrics(scored.y, scores, queries)
        return {**metrics, **_attachment_scores(candidates, scores)}

    def with_parser(self, language: str) -> ParseRanking:
        """Return a copy of the task that parses with another spaCy pipeline and has no ``mirror``.

        ``language`` is a pipeline by name or path.
        """
        return replace(self, parser=language, mirror="")

    def without_trust(self) -> ParseRanking:
        """Return a copy that refuses to load spaCy pipelines that are not shipped.

        It raises ValueError when it parses with such a pipeline.
        """
        return replace(self, parser=UntrustedName(self.parser), mirror=UntrustedName(self.mirror))

    def _uses_document_parses(self, doc: Doc) -> bool:
        """Return whether the parses of a Doc are those in ``doc.user_data["parses"]``.

        True if there are any and ``source`` is "auto" or "given". Raises ValueError if ``source``
        is "given" and there are none.
        """
        has_parses = bool(doc.user_data.get("parses"))
        if self.source == "given" and not has_parses:
            raise ValueError(
                f"document {document_id(doc)!r} comes without parses to rank. Read CoNLL-U with "
                "several parses per sentence, or set source to 'parser'."
            )
        return has_parses and self.source in ("auto", "given")

    def _compares_links(self, gold: CandidateParse) -> bool:
        """Return whether parses are compared with ``gold`` as sets of links without direction.

        The negation of ``directed``; if that is None, true if ``source`` is "link_grammar" or
        ``gold`` is a linkage.
        """
        if self.directed is None:
            return self.source == "link_grammar" or bool(gold.links)
        return not self.directed

    def _drop_labels(self, parse: CandidateParse) -> CandidateParse:
        """Return a copy of the parse with empty labels, or the parse itself if ``labelled``.

        Both labels of arcs and types of links become empty. The given parse is not changed.
        """
        if self.labelled:
            return parse
        links = [(a, b, "") for a, b, _ in parse.links]
        return replace(parse, labels=[""] * len(parse.labels), links=links)

    def _collect_parses(self, docs: Sequence[Doc]) -> list[SentenceParses]:
        """Return the sentences of each Doc with their parses, as (sentence, parses) pairs.

        One list per Doc, in order. Parses are those in ``doc.user_data["parses"]`` if
        ``_uses_document_parses``, else generated, for all Docs together. Sentences of white space
        only are left out; sentences without parses are not. Raises ValueError for a Doc without
        sentence boundaries.
        """
        sentences = [list(_sentences(doc)) for doc in docs]
        has_parses = [self._uses_document_parses(doc) for doc in docs]
        to_parse = [
            sentence
            for doc_sentences, is_given in zip(sentences, has_parses, strict=True)
            if not is_given
            for sentence in doc_sentences
        ]
        new_parses = iter(self._parse_sentences(to_parse))
        parses_by_doc = []
        for doc, doc_sentences, is_given in zip(docs, sentences, has_parses, strict=True):
            rows = _rows_by_sentence(doc, "parses") if is_given else {}
            parses_by_doc.append(
                [
                    (
                        sentence,
                        _read_document_parses(rows.get(sentence.start, []), sentence)
                        if is_given
                        else next(new_parses),
                    )
                    for sentence in doc_sentences
                ]
            )
        return parses_by_doc

    def _parse_sentences(self, sentences: Sequence[Span]) -> list[list[CandidateParse]]:
        """Return the parses of each sentence by the configured parsers; [] if the first finds none.

        The outputs of parsers are merged, and spanning trees of their votes added
        (``pool_parses``), but not those of Link Grammar. No parser is loaded if there are no
        sentences.
        """
        if not sentences:
            return []
        if self.source == "link_grammar":
            (parser,) = self._make_parsers()
            return [_linkage_candidates(parses) for parses in parser(sentences)]
        parses = zip(*(parser(sentences) for parser in self._make_parsers()), strict=True)
        return [
            pool_parses(parses_of_sentence) if parses_of_sentence[0] else []
            for parses_of_sentence in parses
        ]

    def _make_parsers(self) -> Sequence[Callable[[Sequence[Span]], list[list[Parse]]]]:
        """Return the parsers to use: Link Grammar, one perturbed parser, or two with ``mirror``.

        The second one reads backwards and has the same noise settings. Raises ValueError if a
        setting is not valid; loads nothing.
        """
        if self.source == "link_grammar":
            return [LinkGrammar(linkages=self.linkages)]
        first = PerturbedParser(self.parser, self.sigma, self.copies, self.seed, self.layers)
        if not self.mirror:
            return [first]
        return [first, replace(first, name=self.mirror, backwards=True)]


def _make_docs(
    doc: Doc, sentence: Span, parses: Sequence[CandidateParse], vote_shares: VoteShares
) -> Iterator[tuple[Doc, CandidateParse]]:
    """Yield, for each parse in order, a new Doc of the sentence with this parse, and the parse.

    ``vote_shares`` are those of the sentence, one row per parse. The Doc has the words, spaces and
    lemmas of the sentence, and tags, heads and labels of the parse. Its ``user_data`` holds the
    ``ParseInfo`` under PARSE_INFO_KEY and, for a linkage, all links as ``dependencies``. In the
    ``ParseInfo``, ``consensus`` and ``attachment`` are the means of the vote shares for arcs and
    for heads over words and parsers.
    """
    if not parses:
        return
    votes = vote_shares.arcs, vote_shares.heads  # each (trees, words, parsers)
    consensus, attachment = (table.mean(axis=(1, 2)).tolist() for table in votes)
    arcs, heads = (table.astype(np.float32) for table in votes)
    tagged_docs: dict[tuple[str, ...], Doc] = {}
    for i, parse in enumerate(parses):
        tags = tuple(parse.tags)
        if tags not in tagged_docs:
            tagged_docs[tags] = _tag_sentence(doc, sentence, tags)
        parse_doc = tagged_docs[tags].copy()
        _set_arcs(parse_doc, parse.heads, parse.labels)
        if parse.links:  # for sequences of all links, also those outside the tree
            parse_doc.user_data["dependencies"] = [list(link) for link in parse.links]
        parse_doc.user_data[PARSE_INFO_KEY] = ParseInfo(
            name=parse.name,
            start=sentence.start,
            own=parse.is_first_choice,
            votes=parse.votes,
            consensus=consensus[i],
            attachment=attachment[i],
            by=np.array(parse.votes_by_parser),
            arcs=arcs[i],
            heads=heads[i],
            spans=list(parse.is_spanning),
        )
        yield parse_doc, parse


def _tag_sentence(doc: Doc, sentence: Span, tags: Sequence[str]) -> Doc:
    """Return the sentence as a Doc without a parse, to be copied for each of its parses.

    It has the words, spaces and lemmas of the sentence and the given tags, one per word.
    """
    return Doc(
        doc.vocab,
        words=[token.text for token in sentence],
        spaces=[bool(token.whitespace_) for token in sentence],
        lemmas=[token.lemma_ for token in sentence],
        tags=list(tags),
    )


def _sentences(doc: Doc) -> Iterator[Span]:
    """Yield the sentences of a Doc, except those of white space only; none for an empty Doc.

    Raises ValueError if a Doc that is not empty has no sentence boundaries.
    """
    if len(doc) and not doc.has_annotation("SENT_START"):
        raise ValueError(
            f"document {document_id(doc)!r} has no sentence boundaries. "
            "Add a parser, a senter or a sentencizer to the spaCy pipeline."
        )
    if len(doc):
        yield from (s for s in doc.sents if not s.text.isspace())


def _sentence_name(doc: Doc, number: int) -> str:
    """Return the name of a sentence in its corpus, or "s" and its number.

    ``number`` counts the sentences of the Doc that are not blank, from 0. Names are in
    ``doc.user_data["sentences"]``, in the same order; sentences beyond its end are numbered.
    """
    names = doc.user_data.get("sentences", ())
    return str(names[number]) if number < len(names) else f"s{number}"


def _rows_by_sentence(doc: Doc, key: str) -> dict[int, list[Mapping[str, Any]]]:
    """Return the parses in ``doc.user_data[key]`` by the first token of their sentence.

    Each is a mapping (see ``_read_parse``); those of a sentence keep their order, and those without
    ``heads`` are skipped. Empty if there is no such key.
    """
    rows: dict[int, list[Mapping[str, Any]]] = {}
    for row in doc.user_data.get(key, ()):
        if "heads" in row:  # gold rows of other tasks have no heads
            rows.setdefault(int(row["start"]), []).append(row)
    return rows


def _read_document_parses(
    rows: Sequence[Mapping[str, Any]], sentence: Span
) -> list[CandidateParse]:
    """Return the parses that come with a sentence, in order; all have the same share of votes.

    The first choice is the one with the highest "score" (0 for a row without one), the first of
    equals.
    """
    scores = [float(row.get("score", 0.0)) for row in rows]
    first = int(np.argmax(scores)) if rows else 0
    share = 1.0 / max(len(rows), 1)
    return [
        replace(
            _read_parse(row, sentence),
            votes=share,
            is_first_choice=i == first,
            votes_by_parser=[share],
        )
        for i, row in enumerate(rows)
    ]


def _read_parse(row: Mapping[str, Any], sentence: Span) -> CandidateParse:
    """Return the parse of a row, with heads and links as word indices in the sentence.

    A row has ``parse`` (its name), ``heads`` (token indices of the Doc), ``labels`` and optionally
    ``tags``, by default those of the sentence, and ``links``, lists of two token indices and a
    type, for a linkage. Raises ValueError if heads or links do not fit the sentence. The numbers of
    labels and tags are not checked, nor whether it is a tree.
    """
    heads = [int(head) - sentence.start for head in row["heads"]]
    size = len(sentence)
    if len(heads) != size or any(not 0 <= head < size for head in heads):
        raise ValueError(
            f"parse {row['parse']!r} of document {document_id(sentence.doc)!r} does not fit its "
            f"sentence of {size} words at token {sentence.start}. Give one head per word, as a "
            "token index of the Doc."
        )
    tags = row.get("tags") or [token.tag_ for token in sentence]
    links = [
        (int(a) - sentence.start, int(b) - sentence.start, str(kind))
        for a, b, kind in row.get("links", ())
    ]
    if any(not 0 <= word < size for a, b, _ in links for word in (a, b)):
        raise ValueError(
            f"a link of parse {row['parse']!r} of document {document_id(sentence.doc)!r} leaves "
            f"its sentence of {size} words at token {sentence.start}. Give token indices."
        )
    return CandidateParse(
        str(row["parse"]), heads, list(row["labels"]), list(tags), links=sorted(links)
    )


def _group_by_query(candidates: Sequence[Candidate]) -> list[list[int]]:
    """Return the candidate indices of each sentence, in order of appearance.

    A sentence is a document and a query; its candidates need not be consecutive.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for i, candidate in enumerate(candidates):
        groups.setdefault((candidate.document, candidate.query), []).append(i)
    return list(groups.values())


def _attachment_scores(candidates: Sequence[Candidate], scores: Vector) -> dict[str, float | None]:
    """Return ``las``, ``las_parser``, ``las_oracle`` and ``las_gain``; None without words.

    The first three are shares of words with the gold head and label: in the parse with the highest
    score (the first of equals), in the parser's first choice (the first parse if none is marked),
    and in the parse with most such words. ``las_gain`` is ``las - las_parser``. Raises KeyError if
    a candidate has no gold tree.
    """
    scores = merge_ties(scores)
    n_words = sum(len(candidates[members[0]].doc) for members in _group_by_query(candidates))
    n_correct = {"las": 0, "las_parser": 0, "las_oracle": 0}
    for members in _group_by_query(candidates):
        counts = {i: int(candidates[i].doc.user_data["attached"]) for i in members}
        first = (i for i in members if get_parse_info(candidates[i])["own"])
        n_correct["las"] += counts[max(members, key=lambda i: scores[i])]
        n_correct["las_parser"] += counts[next(first, members[0])]
        n_correct["las_oracle"] += max(counts.values())
    scores_by_name: dict[str, float | None] = {
        name: count / n_words if n_words else None for name, count in n_correct.items()
    }
    gain = (n_correct["las"] - n_correct["las_parser"]) / n_words if n_words else None
    return {**scores_by_name, "las_gain": gain}


def _ranked_queries(scored: Scored) -> Iterator[list[int]]:
    """Yield, for each sentence, the indices of its candidates, best first.

    Indices are positions in ``scored.candidates``; sentences are in order of appearance. Of equal
    scores the first candidate comes first; scores that differ by rounding only are equal
    (``merge_ties``).
    """
    scores = merge_ties(scored.scores)
    for rows in _group_by_query(scored.candidates):
        yield sorted(rows, key=lambda i: (-scores[i], i))


def _parse_row(candidate: Candidate, score: float) -> dict[str, Any]:
    """Return the row of a parse in ``doc._.textrank_parse_ranking``.

    Keys are ``parse`` (name), ``score``, ``votes``, ``parser`` (whether it is the first choice),
    ``heads`` (word indices in the sentence; a root is its own) and ``labels``. Raises ValueError if
    the candidate has no ``ParseInfo``.
    """
    info = get_parse_info(candidate)
    doc = candidate.doc
    table: Any = doc.to_array([HEAD, DEP])
    strings = doc.vocab.strings
    return {
        "parse": info["name"],
        "score": score,
        "votes": info["votes"],
        "parser": bool(info["own"]),
        "heads": (table[:, 0].astype(np.int64) + np.arange(len(doc))).tolist(),
        "labels": [strings[label] for label in table[:, 1].tolist()],
    }


def _parse_of_doc(doc: Doc) -> CandidateParse:
    """Return the parse of a candidate's Doc as a ``CandidateParse``, with the links of a linkage.

    Its name is empty; votes have their default values.
    """
    links = [(int(a), int(b), str(kind)) for a, b, kind in doc.user_data.get("dependencies", ())]
    heads, labels = [token.head.i for token in doc], [token.dep_ for token in doc]
    return CandidateParse("", heads, labels, [token.tag_ for token in doc], links=links)


def describe_differences(docs: Sequence[Doc]) -> list[list[str]]:
    """Describe, for each parse of a sentence, where it differs from the others.

    ``docs`` have one parse each, the same words, and at least one item. Returns a list of lines per
    parse: one line per word whose head or label is not the same in all parses or, if any parse is a
    linkage, one per link that not all parses have. Words that occur more than once are followed by
    "(word N)", counted from 1. A parse without a difference gets the line "the same as the others".
    """
    counts = Counter(token.text for token in docs[0])
    names = [
        f"{token.text} (word {token.i + 1})" if counts[token.text] > 1 else token.text
        for token in docs[0]
    ]
    parses = [_parse_of_doc(doc) for doc in docs]
    if any(parse.links for parse in parses):
        links = [parse.undirected_links() for parse in parses]
        common = set.intersection(*links)
        lines = [
            [
                f"{names[a]} and {names[b]} are linked as {kind}"
                for a, b, kind in sorted(parse_lines)
            ]
            for parse_lines in (one - common for one in links)
        ]
    else:
        rows = [list(zip(parse.heads, parse.labels, strict=True)) for parse in parses]
        words = [i for i, values in enumerate(zip(*rows, strict=True)) if len(set(values)) > 1]
        lines = [[_describe_arc(names, i, *row[i]) for i in words] for row in rows]
    return [parse_lines or ["the same as the others"] for parse_lines in lines]


def _describe_arc(names: Sequence[str], word: int, head: int, label: str) -> str:
    """Return an arc in words, such as "p53 depends on binds as nominal subject (nsubj)".

    ``names`` are the names of all words; ``word`` and ``head`` are word indices, equal for a root.
    """
    if word == head:
        return f"{names[word]} is the root"
    meaning = _explain_label(label)
    kind = f"{meaning} ({label})" if meaning not in ("", label) else label
    return f"{names[word]} depends on {names[head]} as {kind}"


def _explain_label(label: str) -> str:
    """Return spaCy's description of a dependency label, "" if there is none.

    If "nmod:of" has none, that of "nmod" is returned.
    """
    return GLOSSARY.get(label) or GLOSSARY.get(label.partition(":")[0], "")


def _current_parse(doc: Doc) -> tuple[list[int], list[str]]:
    """Return heads (token indices) and labels of the Doc's parse as new lists.

    If the Doc has no parse, they are those of flat trees: the first token of a sentence is the head
    of the others, which are labelled "dep". The Doc must then have sentence boundaries.
    """
    if doc.has_annotation("DEP"):
        return [token.head.i for token in doc], [token.dep_ for token in doc]
    heads = [token.sent.start for token in doc]
    return heads, ["ROOT" if head == i else "dep" for i, head in enumerate(heads)]


def _set_arcs(doc: Doc, heads: Sequence[int], labels: Sequence[str]) -> None:
    """Set heads (token indices) and labels of all tokens of a Doc, in place.

    A root is its own head. New labels are added to the vocabulary.
    """
    add = doc.vocab.strings.add
    hashes = {label: add(label) for label in set(labels)}
    columns: Any = np.empty((len(doc), 2), dtype=np.uint64)
    columns[:, 0] = (np.array(heads, dtype=np.int64) - np.arange(len(doc))).view(np.uint64)
    columns[:, 1] = [hashes[label] for label in labels]
    doc.from_array([HEAD, DEP], columns)


def arc_f1(arcs: set[Arc], gold: set[Arc]) -> float:
    """Return the F1 of the arcs of a parse against gold arcs.

    Arcs are (head, dependent, label) and correct if all three are equal to those of a gold arc. A
    wrong arc counts only if both its words occur in gold arcs; otherwise it is ignored. Without
    gold arcs the score is 1.

    >>> gold = {(1, 0, "nsubj"), (1, 2, "obl")}
    >>> arc_f1({(1, 0, "nsubj"), (1, 2, "dobj"), (1, 3, "punct")}, gold)
    0.5
    """
    if not gold:
        return 1.0
    gold_words = {word for head, dependent, _ in gold for word in (head, dependent)}
    n_correct = len(arcs & gold)
    n_wrong = sum(
        head in gold_words and dependent in gold_words for head, dependent, _ in arcs - gold
    )
    return 2 * n_correct / (len(gold) + n_correct + n_wrong)


def count_correct_arcs(parse: CandidateParse, gold: CandidateParse) -> int:
    """Return the number of words with the gold head and label; the label of a root is ignored.

    Raises ValueError if the parses have different numbers of words.
    """
    rows = zip(parse.heads, gold.heads, parse.labels, gold.labels, strict=True)
    return sum(
        head == gold_head and (head == i or label == gold_label)
        for i, (head, gold_head, label, gold_label) in enumerate(rows)
    )


def count_correct_links(parse: CandidateParse, gold: CandidateParse) -> int:
    """Return the number of words that are linked to their gold head with the gold label.

    The direction of the link does not matter. Roots of the gold tree count as correct. Of ``gold``
    only ``heads`` and ``labels`` are read; of ``parse`` its links, or its arcs if it has none.
    """
    links = parse.undirected_links()
    arcs = enumerate(zip(gold.heads, gold.labels, strict=True))
    return sum(
        head == i or (min(i, head), max(i, head), label) in links for i, (head, label) in arcs
    )


def _linkage_candidates(parses: Sequence[Parse]) -> list[CandidateParse]:
    """Return the linkages of a sentence as candidates, in order, with their shares of the votes.

    Names are their numbers, from "0". Votes count as those of a single parser. ``is_spanning`` is
    (False, False), since a spanning tree of the votes would not be a linkage of the grammar. [] if
    there are no linkages.
    """
    total = sum(parse.votes for parse in parses)
    return [
        CandidateParse(
            str(number),
            parse.heads,
            parse.labels,
            parse.tags,
            parse.votes / total,
            parse.is_first_choice,
            [parse.votes / total],
            [False, False],
            parse.links,
        )
        for number, parse in enumerate(parses)
    ]


@dataclass(frozen=True, eq=False)
class VoteShares:
    """Share of each parser's votes that agree with each parse of a sentence, word by word.

    A parser casts a vote for each parse that it or one of its perturbed copies found.
    """

    arcs: Matrix  # (parses, words, parsers) share of votes for the same head and label
    heads: Matrix  # (parses, words, parsers) share of votes for the same head


def compute_vote_shares(pools: Sequence[Sequence[CandidateParse]]) -> list[VoteShares]:
    """Return, for each word of each parse, the share of each parser's votes that agree with it.

    A pool is the parses of a sentence, all with the same numbers of words and of parsers
    (``votes_by_parser``). There is one result per pool, in order. The votes of each parser are
    scaled to add up to 1 over the pool; a parser without votes has shares of 0. Arrays for an empty
    pool have shape (0, 0, 0).
    """
    trees = [tree for pool in pools for tree in pool]
    counts, widths = [len(pool) for pool in pools], [_n_words(pool) for pool in pools]
    first = np.repeat(offsets(widths)[:-1], counts)
    owner, word = expand(first, np.repeat(np.array(widths, dtype=np.intp), counts))
    numbers: dict[str, int] = {}
    labels = concat([numbers.setdefault(k, len(numbers)) for k in tree.labels] for tree in trees)
    heads = word * max(widths, default=0) + concat(tree.heads for tree in trees)
    weights = _vote_weights(pools)
    arcs = heads * max(len(numbers), 1) + labels
    shares = zip(
        *(_split_by_sentence(_sum_equal(c, weights, owner), pools) for c in (arcs, heads)),
        strict=True,
    )
    return [VoteShares(*tables) for tables in shares]


def _n_words(pool: Sequence[CandidateParse]) -> int:
    """Return the number of words of a sentence, given its parses; 0 if there are none."""
    return len(pool[0].heads) if pool else 0


def _n_parsers(pool: Sequence[CandidateParse]) -> int:
    """Return the number of parsers that voted on a sentence, given its parses; 0 without any."""
    return len(pool[0].votes_by_parser) if pool else 0


def _vote_weights(pools: Sequence[Sequence[CandidateParse]]) -> Matrix:  # (trees, parsers)
    """Return the share of each parse in the votes of each parser, shape (parses, parsers).

    Rows are the parses of all pools in order; columns add up to 1 within a pool. They are 0 for a
    parser that has no votes in the pool.
    """
    tables = [np.zeros((0, 0))]
    for pool in filter(None, pools):
        votes = np.array([tree.votes_by_parser for tree in pool])
        tables.append(votes / np.maximum(votes.sum(axis=0), 1e-300))
    weights = np.zeros((sum(map(len, tables)), max(table.shape[1] for table in tables)))
    begins = offsets([len(table) for table in tables]).tolist()
    for table, start in zip(tables, begins[:-1], strict=True):
        weights[start : start + len(table), : table.shape[1]] = table
    return weights


def _sum_equal(codes: Indices, weights: Matrix, owner: Indices) -> Matrix:  # (codes, parsers)
    """Return, for each code, the sum of the weights of all equal codes, shape (codes, parsers).

    ``codes`` (codes,) are arbitrary integers. ``owner`` (codes,) is the row in ``weights`` (parses,
    parsers) of the parse that each code belongs to.
    """
    code_numbers = factorize(codes)[1]
    sums = np.empty((len(codes), weights.shape[1]))
    for column, parser_weights in zip(sums.T, weights.T, strict=True):
        column[:] = np.bincount(code_numbers, weights=parser_weights[owner])[code_numbers]
    return sums


def _split_by_sentence(
    shares: Matrix, pools: Sequence[Sequence[CandidateParse]]
) -> Iterator[Matrix]:
    """Yield the rows of each sentence, shape (parses, words, parsers).

    ``shares`` has one row per word of each parse of each pool, in order. Columns beyond the number
    of parsers of the sentence are cut off.
    """
    start = 0
    for pool in pools:
        shape = len(pool), _n_words(pool), _n_parsers(pool)
        end = start + shape[0] * shape[1]
        yield np.ascontiguousarray(shares[start:end, : shape[2]]).reshape(shape)
        start = end


def pool_parses(parsers: Sequence[Sequence[Parse]]) -> list[CandidateParse]:
    """Merge the parses of one sentence by several parsers and add spanning trees of their votes.

    Parses are the same if heads and labels are; tags are ignored. The maximum spanning trees of the
    arc votes of all parsers together and of each parser are added unless a parser found them.

    Parameters
    ----------
    parsers
        Distinct parses of each parser, at least one each; else ValueError is raised. The first
        parse of the first parser is the first choice, and its tags apply to all results.

    Returns
    -------
    list of CandidateParse
        Distinct parses in order of first appearance, parser after parser, then the added trees.
        Names are their numbers, from "0". ``votes_by_parser`` is a parse's share in the votes of
        each parser, ``votes`` the mean of these, so that parsers have equal weight; 0 for an added
        tree. ``is_spanning`` says whether it is the tree of all parsers together, then of each.
    """
    tables = [_vote_table(parses) for parses in parsers]
    spanning = [_vote_tree(table) for table in [_sum_tables(tables), *tables]]
    keys = dict.fromkeys([parse_key for table in tables for parse_key in table] + spanning)
    first = parsers[0][0]
    first_choice = first.heads, first.labels
    pool = []
    for number, parse_key in enumerate(keys):
        votes_by_parser = [table.get(parse_key, 0.0) for table in tables]
        votes = sum(votes_by_parser) / len(votes_by_parser)
        is_spanning = [parse_key == tree for tree in spanning]
        pool.append(
            CandidateParse(
                str(number),
                *parse_key,
                first.tags,
                votes,
                parse_key == first_choice,
                votes_by_parser,
                is_spanning,
            )
        )
    return pool


def _vote_table(parses: Sequence[Parse]) -> dict[_ParseKey, float]:
    """Return the share of votes of each distinct parse of a parser, by (heads, labels).

    In the order of ``parses``, which must be distinct and have votes. {} without parses.
    """
    total = sum(parse.votes for parse in parses)
    return {(parse.heads, parse.labels): parse.votes / total for parse in parses}


def _sum_tables(tables: Sequence[dict[_ParseKey, float]]) -> dict[_ParseKey, float]:
    """Return the sum of the vote shares of several parsers, by (heads, labels).

    In order of first appearance; the tables are not changed.
    """
    total: Counter[_ParseKey] = Counter()
    for table in tables:
        for key, votes in table.items():
            total[key] += votes  # type: ignore[assignment]
    return dict(total)


def _vote_tree(table: Mapping[_ParseKey, float]) -> _ParseKey:
    """Return (heads, labels) of the maximum spanning tree of the votes for arcs.

    ``table`` maps (heads, labels) to votes; all parses have the same number of words. A parse with
    more than half of the votes is returned as it is. Otherwise the votes for a head are summed over
    all parses with that head, whatever the label, and those for a root over the parses in which it
    is one; each word of the tree has the label with the most votes (``_majority_label``). The tree
    may be none of the parses. Raises ValueError if the table is empty.
    """
    shares = list(table.values())
    top_parse = max(table, key=lambda key: table[key])
    if table[top_parse] > MAJORITY_SHARE * sum(shares):  # no arc can have more votes
        return top_parse
    heads = list(
        zip(*(heads for heads, _ in table), strict=True)
    )  # per word, the heads in each parse
    labels = zip(*(labels for _, labels in table), strict=True)
    votes = [_sum_votes(word_heads, shares) for word_heads in heads]
    roots = [word_heads.pop(word, 0.0) for word, word_heads in enumerate(votes)]
    tree = find_spanning_tree(votes, roots)
    columns = zip(tree, heads, labels, strict=True)
    return tuple(tree), tuple(
        _majority_label(word_labels, shares, word_heads, head)
        for head, word_heads, word_labels in columns
    )


def _majority_label(
    labels: Sequence[str], shares: Sequence[float], heads: Sequence[int], head: int
) -> str:
    """Return the label of a word with the most votes among the parses in which it has this head.

    ``labels``, ``shares`` and ``heads`` have one item per parse: the word's label, the votes of the
    parse, and the word's head. Of labels with equal votes the first is chosen; "dep" if no parse
    has the head.
    """
    if len(set(labels)) == 1 and head in heads:
        return labels[0]
    has_head = [other == head for other in heads]
    votes = _sum_votes(list(compress(labels, has_head)), list(compress(shares, has_head)))
    return max(votes, key=lambda label: votes[label], default="dep")


def _sum_votes(keys: Sequence[T], shares: Sequence[float]) -> dict[T, float]:
    """Return the sum of ``shares`` by key, in order of first appearance.

    ``keys`` and ``shares`` are parallel. Shares are added in order, so that equal votes give equal
    floats.
    """
    votes: dict[T, float] = {}
    for key, share in zip(keys, shares, strict=True):
        votes[key] = votes.get(key, 0.0) + share
    return votes
