"""Evaluation on raw text: entities are recognised, and compared with gold by their characters.

``evaluate_raw_text`` evaluates a model of pairs, ``evaluate_identifiers`` a model of identifiers.
``link_names``, ``link_pairs`` and ``match_links`` compare predicted with gold entities and pairs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from spacy.language import Language
from spacy.tokens import Doc, Span

from textrank.candidates import Candidate, document_id
from textrank.config import package_versions, to_config
from textrank.evaluation.evaluate import Positives, choose_threshold, has_selected_sentences
from textrank.evaluation.report import Counts, Fold, Report
from textrank.features import Vector
from textrank.formats.base import Mention, get_mentions, set_mentions
from textrank.language.alignment import original_offsets, word_doc
from textrank.language.segmentation import SentenceSplitter, set_sentence_starts
from textrank.metrics import PRF, calibration_error, chance_calibration_error, decide
from textrank.model import Model
from textrank.protocols import DocumentTask, PairTask

Pieces: TypeAlias = Sequence[tuple[int, int]]
"""Characters [start, end) of the pieces of an entity, in text order."""

Links: TypeAlias = Mapping[tuple[int, int], float]
"""(index of a prediction, index of gold) -> how well they agree, greater than 0."""


@dataclass(frozen=True)
class Hits:
    """Numbers of predictions (``found``), of gold answers, and of matches (``right``)."""

    found: int
    gold: int
    right: int

    @property
    def prf(self) -> PRF:
        """Precision, recall and F1; each is None if its own denominator is zero."""
        precision = self.right / self.found if self.found else None
        recall = self.right / self.gold if self.gold else None
        total = self.found + self.gold
        return PRF(precision, recall, 2 * self.right / total if total else None)

    def to_dict(self) -> dict[str, Any]:
        """Return counts and metrics as plain values.

        ``right`` is under the key ``true_positives``, with ``false_positives`` and ``missed``
        beside it; metrics are ``precision``, ``recall`` and ``f``, None if undefined.
        """
        return {
            "found": self.found,
            "gold": self.gold,
            "true_positives": self.right,
            "false_positives": self.found - self.right,
            "missed": self.gold - self.right,
            **self.prf._asdict(),
        }


def link_names(found: Sequence[Pieces], gold: Sequence[Pieces]) -> dict[tuple[int, int], float]:
    """Link entities that share a character, by the Jaccard index of their characters.

    Returns ``{(index in found, index in gold): value}``; the value is 1 if the boundaries are
    equal. Each entity has at least one piece, in text order. The gap of a discontinuous entity does
    not belong to it.

    >>> link_names([[(0, 4)], [(6, 8)]], [[(2, 6)], [(6, 8)]])
    {(0, 0): 0.3333333333333333, (1, 1): 1.0}
    """
    if not found or not gold:
        return {}
    a, b = (np.array([[p[0][0], p[-1][1]] for p in side]) for side in (found, gold))
    near = (a[:, None, 0] < b[None, :, 1]) & (b[None, :, 0] < a[:, None, 1])
    links = {}
    for i, j in np.argwhere(near).tolist():
        one, other = _characters(found[i]), _characters(gold[j])
        if one & other:
            links[i, j] = len(one & other) / len(one | other)
    return links


def link_pairs(
    found: Sequence[tuple[int, int]], gold: Sequence[tuple[int, int]], names: Links
) -> dict[tuple[int, int], float]:
    """Link pairs whose entities are linked one to one, in either order, by the sum of the links.

    ``found`` and ``gold`` are pairs of indices of entities; ``names`` links predicted entities to
    gold ones, as ``link_names`` returns. The result is ``{(index in found, index in gold): sum}``,
    with the larger sum if both orders fit. A pair of an entity with itself has no link; of equal
    pairs in ``found`` only the last has links.
    """
    number = {frozenset(pair): i for i, pair in enumerate(found)}
    near: dict[int, list[int]] = {}
    for own, other in names:
        near.setdefault(other, []).append(own)
    links: dict[tuple[int, int], float] = {}
    for j, (c, d) in enumerate(gold):
        for a in near.get(c, ()):
            for b in near.get(d, ()):
                i = number.get(frozenset((a, b)))
                if i is not None and a != b and c != d:
                    agree = names[a, c] + names[b, d]
                    links[i, j] = max(agree, links.get((i, j), 0.0))
    return links


def exact_links(links: Links, parts: int = 1) -> dict[tuple[int, int], float]:
    """Return the links whose boundaries are all equal; ``parts`` is 1 for entities, 2 for pairs."""
    return {key: value for key, value in links.items() if value == parts}


def match_links(links: Links) -> dict[int, int]:
    """Match predictions to gold answers, each at most once; return gold index by prediction.

    The matching has as many matches as possible and, among such, the highest sum of links, so that
    of nested entities the closest wins. Remaining ties are broken by order. The result is sorted by
    prediction; predictions without a match are missing.

    >>> match_links({(0, 0): 0.5, (0, 1): 1.0, (1, 1): 0.9})
    {0: 0, 1: 1}
    """
    if not links:
        return {}
    ends = np.array(list(links))
    n, m = ends.max(axis=0) + 1
    graph = sp.csr_array((np.ones(len(ends)), (ends[:, 0], n + ends[:, 1])), shape=(n + m, n + m))
    part = connected_components(graph, directed=False)[1][ends[:, 0]]
    order = np.argsort(part, kind="stable")
    values = np.array(list(links.values()))
    matches: dict[int, int] = {}
    for group in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        matches |= _match_component(ends[group], values[group])
    return dict(sorted(matches.items()))


def _match_component(ends: Any, values: Any) -> dict[int, int]:
    """Match a connected component of links; return gold index by prediction.

    ``ends`` (l, 2) has the prediction and gold index of each of l links, ``values`` (l,) their
    values. As many matches as possible, then the highest sum of values; only linked ones match.
    """
    rows, row = np.unique(ends[:, 0], return_inverse=True)
    columns, column = np.unique(ends[:, 1], return_inverse=True)
    gain = np.zeros((len(rows), len(columns)))
    # One match more outweighs any agreement.
    gain[row, column] = values + values.max() * min(gain.shape) + 1.0
    best = zip(*linear_sum_assignment(gain, maximize=True), strict=True)
    return {int(rows[i]): int(columns[j]) for i, j in best if gain[i, j] > 0}


def _characters(pieces: Pieces) -> set[int]:
    """Return the offsets of all characters of an entity."""
    return {offset for start, end in pieces for offset in range(start, end)}


UNREACHABLE_REASONS = ("missed", "separated", "merged")  # why a gold pair has no candidate


@dataclass(frozen=True)
class Found:
    """Predicted interactions, and how many gold ones could have been predicted."""

    hits: Hits
    reachable: int  # gold interactions with a candidate of their own

    def to_dict(self) -> dict[str, Any]:
        """Return counts and metrics; ``..._of_reachable`` leave out what no candidate covers.

        Keys are ``found``, ``gold``, ``true_positives``, ``false_positives``, ``missed``,
        ``precision``, ``recall``, ``f``, ``reachable``, ``unreachable``, ``recall_of_reachable``
        and ``f_of_reachable``; metrics are None if undefined.
        """
        hits = self.hits
        alone = Hits(hits.found, self.reachable, hits.right).prf
        return {
            **hits.to_dict(),
            "reachable": self.reachable,
            "unreachable": hits.gold - self.reachable,
            "recall_of_reachable": alone.recall,
            "f_of_reachable": alone.f,
        }


@dataclass(frozen=True)
class RawText:
    """Entities and interactions recognised in raw text, compared with those of a corpus.

    ``overlap`` requires a common character of each two entities, ``exact`` equal boundaries;
    ``given`` uses the entities of the corpus in the same text, sentences and parse.
    ``calibration`` compares the probabilities of all recognised pairs with whether they overlap a
    gold interaction; it is empty for a model without probabilities.
    """

    corpus: str
    procedure: str
    documents: int
    candidates: int
    threshold: float | None
    names: Mapping[str, Hits]  # overlap, exact
    interactions: Mapping[str, Found]  # overlap, exact, given
    reasons: Mapping[str, int]  # of the unreachable interactions by overlap
    settings: Mapping[str, Any]
    seconds: Mapping[str, float] = field(default_factory=dict)
    calibration: Mapping[str, float] = field(default_factory=dict)
    task: str = "ppi"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values under the names of the fields, and ``versions`` of the libraries.

        Only ``reasons`` has another key, ``unreachable``. ``names`` (by ``overlap`` and ``exact``)
        and ``interactions`` (also by ``given``) have dicts of counts and metrics.
        """
        return {
            "task": self.task,
            "corpus": self.corpus,
            "procedure": self.procedure,
            "documents": self.documents,
            "candidates": self.candidates,
            "threshold": self.threshold,
            "names": {key: hits.to_dict() for key, hits in self.names.items()},
            "interactions": {key: found.to_dict() for key, found in self.interactions.items()},
            "unreachable": dict(self.reasons),
            "calibration": dict(self.calibration),
            "settings": dict(self.settings),
            "versions": package_versions(),
            "seconds": dict(self.seconds),
        }


def evaluate_raw_text(
    model: Model,
    docs: Sequence[Doc],
    nlp: Language,
    *,
    corpus: str = "",
    positives: Positives = None,
    sentences: bool = False,
) -> RawText:
    """Recognise entities in the texts of annotated Docs and evaluate the pairs of a model.

    A predicted pair is right if its two entities overlap those of a gold interaction, one each;
    every prediction and every gold interaction is matched at most once (``match_links``). ``docs``
    are not changed; their texts are analysed anew.

    Parameters
    ----------
    docs
        Docs with gold entities and interactions, as readers store them.
    nlp
        spaCy pipeline with a named-entity recogniser.
    corpus
        Name of the corpus for the result.
    positives
        How the threshold is chosen, see ``evaluate``.
    sentences
        Keep the sentences of the corpus, for files without final punctuation.

    Raises
    ------
    ValueError
        If the task does not judge pairs, or a document has no gold interactions.
    """
    task = _check_pair_task(model, docs)
    raw = list(_analyse_texts(docs, nlp, sentences))
    candidates = [task.candidates(doc) for doc in raw]
    both = zip(docs, raw, candidates, strict=True)
    texts = [_TextComparison.from_docs(task, gold, found, own) for gold, found, own in both]
    scores: Vector = model.score([c for own in candidates for c in own])
    yes, threshold = _yes(model, candidates, scores, positives)
    hits = [text.pair_hits(said) for text, said in zip(texts, yes, strict=True)]
    for doc, text in zip(raw, texts, strict=True):
        set_mentions(doc, text.mentions)
        doc.user_data["gold"] = text.gold
    given = _given(model, raw, positives)
    trained = model.meta.get("corpus") or "another corpus"
    return RawText(
        corpus,
        f"trained on {trained}; {_describe(nlp, sentences)}",
        len(docs),
        sum(map(len, candidates)),
        threshold,
        {key: _sum(text.name_hits(key) for text in texts) for key in ("overlap", "exact")},
        {key: _total([one[key] for one in hits]) for key in ("overlap", "exact")}
        | {"given": given},
        {reason: sum(text.reasons[reason] for text in texts) for reason in UNREACHABLE_REASONS},
        to_config(model.pipeline),
        calibration=_calibration(model, scores, texts),
        task=task.name,
    )


def _calibration(
    model: Model, scores: Vector, texts: Sequence[_TextComparison]
) -> dict[str, float]:
    """Return the calibration error of the recognised pairs, and what chance alone would give.

    Keys are ``calibration_error``, ``calibration_error_of_chance``, ``positive_share`` and
    ``mean_probability``. ``scores`` are those of the candidates of all texts, in order. Empty
    without a calibrated model or without candidates.
    """
    if model.calibration is None or not len(scores):
        return {}
    y = [1.0 if stated else -1.0 for text in texts for stated in text.stated]
    p = model.calibration(scores)
    return {
        "calibration_error": calibration_error(y, p),
        "calibration_error_of_chance": chance_calibration_error(p),
        "positive_share": float((np.asarray(y) > 0).mean()),
        "mean_probability": float(p.mean()),
    }


@dataclass(frozen=True, eq=False)
class _TextComparison:
    """Gold and recognised entities and pairs of one text; pairs are indices of entities.

    Gold entities are ``mentions`` and gold pairs ``interactions``; recognised ones are ``found``
    and ``pairs``. ``gold`` are the stored gold rows, ``sentences`` character ranges of the analysed
    text.
    """

    mentions: Sequence[Mention]  # of gold
    gold: Sequence[Mapping[str, Any]]
    found: Sequence[Pieces]
    pairs: Sequence[tuple[int, int]]  # candidates
    interactions: Sequence[tuple[int, int]]  # by gold; -1 for a name that covers no token
    near: Mapping[tuple[int, int], float]  # links of names
    links: Mapping[tuple[int, int], float]  # links of pairs
    sentences: Sequence[tuple[int, int]]

    @classmethod
    def from_docs(
        cls, task: PairTask, gold: Doc, raw: Doc, candidates: Sequence[Candidate]
    ) -> _TextComparison:
        """Compare the Doc ``gold`` of the corpus with ``raw``, the same text analysed anew.

        ``candidates`` are those of the task in ``raw``, with two spans each. Entities are compared
        by their characters in the original text. ``gold`` must have ``user_data["gold"]``, and
        ``raw`` sentences.
        """
        mentions = get_mentions(gold)
        number = {mention.id: n for n, mention in enumerate(mentions)}
        words = candidates[0].doc if candidates else word_doc(raw)  # as the task read it
        spans = task.names(words)
        found = [(original_offsets(span),) for span in spans]
        place = {_key(span): n for n, span in enumerate(spans)}
        asked = [(place[_key(a)], place[_key(b)]) for a, b in (c.spans for c in candidates)]
        wanted = [(number.get(a, -1), number.get(b, -1)) for a, b in task.interactions(gold)]
        near = link_names(found, [mention.pieces for mention in mentions])
        links = link_pairs(asked, wanted, near)
        bounds = [(sentence.start_char, sentence.end_char) for sentence in raw.sents]
        gold_rows = gold.user_data["gold"]
        return cls(mentions, gold_rows, found, asked, wanted, near, links, bounds)

    def name_hits(self, match: str) -> Hits:
        """Count matched entities; ``match`` is ``"overlap"`` or ``"exact"`` (equal boundaries)."""
        links = self.near if match == "overlap" else exact_links(self.near)
        return Hits(len(self.found), len(self.mentions), len(match_links(links)))

    def pair_hits(self, yes: Sequence[bool]) -> dict[str, Found]:
        """Count matched pairs by ``"overlap"`` and by ``"exact"`` boundaries.

        ``yes`` is the answer to each candidate, in order; only candidates answered yes count as
        found. All candidates count for what is reachable.
        """
        matches = {"overlap": self.links, "exact": exact_links(self.links, 2)}
        return {
            match: Found(
                Hits(sum(yes), len(self.interactions), len(match_links(_of(links, yes)))),
                len(match_links(links)),
            )
            for match, links in matches.items()
        }

    @property
    def stated(self) -> list[bool]:
        """Whether each candidate overlaps some gold interaction, also one that others overlap."""
        linked = {candidate for candidate, _ in self.links}
        return [number in linked for number in range(len(self.pairs))]

    @property
    def reasons(self) -> Counter[str]:
        """Why gold interactions have no candidate of their own, counted.

        ``separated``: not in one sentence; ``missed``: an entity was not recognised; ``merged``:
        both were, but their candidate is missing or matches another interaction.
        """
        reached = set(match_links(self.links).values())
        found = {gold for _, gold in self.near}
        return Counter(
            "separated"
            if not self._together(pair)
            else "missed"
            if not set(pair) <= found
            else "merged"
            for number, pair in enumerate(self.interactions)
            if number not in reached
        )

    def _together(self, pair: tuple[int, int]) -> bool:
        """Return whether one sentence of the analysed text holds both gold entities whole.

        True also if an entity is unknown (-1).
        """
        if -1 in pair:
            return True
        places = [self.mentions[name].pieces for name in pair]
        first, last = min(p[0][0] for p in places), max(p[-1][1] for p in places)
        return any(start <= first and last <= end for start, end in self.sentences)


def _check_pair_task(model: Model, docs: Sequence[Doc]) -> PairTask:
    """Return the task of the model, which must judge pairs.

    Raises ValueError for another task, or for the first Doc without gold interactions
    (``doc.user_data["gold"]`` missing or None; an empty list will do).
    """
    task = model.pipeline.task
    if task.raw_text_unit != "pairs":
        raise ValueError(
            f"recognised entities can only be evaluated with a model of pairs, but this is a model "
            f"of task {task.name!r}. Evaluate with the entities of the corpus."
        )
    for doc in docs:
        if doc.user_data.get("gold") is None:
            raise ValueError(
                f"document {document_id(doc)!r} has no gold interactions to compare with. "
                "Give an annotated corpus."
            )
    return cast(PairTask, task)


def _describe(nlp: Language, sentences: bool) -> str:
    """Return the procedure in words for the report: sentences and recogniser.

    ``sentences`` says whether those of the corpus were kept. The recogniser is the name of ``nlp``,
    or its language without one.
    """
    kept = ", sentences of the corpus" if sentences else ""
    return f"raw text{kept}, names found by {nlp.meta.get('name') or nlp.lang}"


def _analyse_texts(docs: Sequence[Doc], nlp: Language, sentences: bool) -> Iterator[Doc]:
    """Yield the texts analysed by ``nlp``, one new Doc per Doc, with the same ids, in order.

    With ``sentences`` they keep the sentences of ``docs``. A pipeline that sets no sentences is
    followed by the splitter by rules.
    """
    sentencizer = SentenceSplitter(final=True)
    bare = (_bare(doc, nlp) if sentences else doc.text for doc in docs)
    for gold, doc in zip(docs, nlp.pipe(bare), strict=True):
        doc.user_data["document"] = document_id(gold)
        yield doc if doc.has_annotation("SENT_START") else sentencizer(doc)


def _bare(gold: Doc, nlp: Language) -> Doc:
    """Return the text of ``gold`` tokenized by ``nlp``, with its sentence starts only.

    A sentence that begins inside a token starts at the next one.
    """
    doc = nlp.make_doc(gold.text)
    begins = [sentence.start_char for sentence in gold.sents]
    places = [token.idx for token in doc]
    set_sentence_starts(doc, {bisect_left(places, begin) for begin in begins}, final=True)
    return doc


def _yes(
    model: Model,
    candidates: Sequence[Sequence[Candidate]],
    scores: Vector,
    positives: Positives,
    *,
    is_selected: bool = False,
) -> tuple[list[list[bool]], float | None]:
    """Return the decisions for the candidates of each Doc, and the threshold.

    ``scores`` are those of all candidates, one after the other. The threshold is chosen by
    ``positives`` on these scores; it is None without scores or if the model has none, and then 0
    decides. ``is_selected`` says that names are given and sentences were selected.
    """
    threshold = None
    if len(scores):
        threshold, _ = choose_threshold(model, scores, positives, is_selected=is_selected)
    said = iter(decide(scores, 0.0 if threshold is None else threshold).tolist())
    return [[next(said) for _ in own] for own in candidates], threshold


def _given(model: Model, docs: Sequence[Doc], positives: Positives) -> Found:
    """Evaluate with the entities of the corpus, whose pairs are matched by their ids.

    ``docs`` are analysed Docs to which gold entities and interactions were added. Interactions
    without a candidate count as gold, but not as reachable.
    """
    task: Any = model.pipeline.task
    candidates = [task.candidates(doc) for doc in docs]
    scores: Vector = model.score([c for own in candidates for c in own])
    is_selected = has_selected_sentences(docs)
    yes, _ = _yes(model, candidates, scores, positives, is_selected=is_selected)
    answers = [(c.label > 0, s) for own, said in zip(candidates, yes, strict=True)
               for c, s in zip(own, said, strict=True)]  # fmt: skip
    unreachable = sum(task.unreachable(doc, own) for doc, own in zip(docs, candidates, strict=True))
    reachable = sum(label for label, _ in answers)
    right = sum(label and said for label, said in answers)
    return Found(Hits(sum(s for _, s in answers), reachable + unreachable, right), reachable)


def _key(span: Span) -> tuple[int, int, str, str]:
    """Return what identifies a span in its Doc: tokens, label and id."""
    return span.start, span.end, span.label_, span.id_


def _of(links: Mapping[tuple[int, int], float], yes: Sequence[bool]) -> dict[Any, float]:
    """Return the links of the predictions that were answered with yes."""
    return {ends: value for ends, value in links.items() if yes[ends[0]]}


def _sum(hits: Iterator[Hits]) -> Hits:
    """Return the sums of the counts of at least one text; ValueError for none."""
    rows = [(h.found, h.gold, h.right) for h in hits]
    found, gold, right = (sum(column) for column in zip(*rows, strict=True))
    return Hits(found, gold, right)


def _total(parts: Sequence[Found]) -> Found:
    """Return the sums of hits and of reachable interactions of at least one text."""
    return Found(_sum(part.hits for part in parts), sum(part.reachable for part in parts))


def evaluate_identifiers(
    model: Model, docs: Sequence[Doc], nlp: Language, *, corpus: str = ""
) -> Report:
    """Recognise entities in the texts of annotated Docs and evaluate their identifiers.

    An identifier of a document is right if the corpus has it anywhere in that document. Metrics are
    over identifiers that the gene tables have; ``document_f_of_all`` is over all of the corpus.
    ``nlp`` is a spaCy pipeline with a named-entity recogniser; ``corpus`` is a name for the report,
    which has one fold. Identifiers that the tables lack count as ``unreachable``. Raises ValueError
    if the task does not assign identifiers.
    """
    task = _check_document_task(model)
    raw = list(_analyse_raw(docs, nlp))
    candidates = [replace(c, label=None) for doc in raw for c in task.candidates(doc)]
    measures, every, covered = task.document_metrics(candidates, model.score(candidates), raw, docs)
    trained = model.meta.get("corpus") or "another corpus"
    return Report(
        task=task.name,
        corpus=corpus,
        procedure=f"trained on {trained}; names recognised in bare text; "
        f"{covered} of {every} identifiers of the documents are in the tables",
        settings=to_config(model.pipeline),
        seed=None,
        counts=Counts(len(docs), len(candidates), every, every - covered),
        folds=[Fold(measures, documents=len(docs), candidates=len(candidates), positives=every)],
    )


def _check_document_task(model: Model) -> DocumentTask:
    """Return the task of the model; ValueError unless it assigns identifiers to documents."""
    task = model.pipeline.task
    if task.raw_text_unit != "documents":
        raise ValueError(
            f"a model of the task {task.name!r} does not assign identifiers. Use a model of "
            "identifiers."
        )
    return cast(DocumentTask, task)


def _analyse_raw(docs: Sequence[Doc], nlp: Language) -> Iterator[Doc]:
    """Yield the texts analysed by ``nlp``: one new Doc per Doc, in order, with its id.

    The id is ``user_data["document"]``; a Doc without one is named by its position. Nothing else of
    ``docs`` but the text is used.
    """
    pairs = ((doc.text, document_id(doc, n)) for n, doc in enumerate(docs))
    for doc, name in nlp.pipe(pairs, as_tuples=True):
        doc.user_data["document"] = name
        yield doc
