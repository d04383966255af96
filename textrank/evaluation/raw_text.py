"""Names and pairs found in a text against those of gold, by the characters they cover."""

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
from textrank.evaluation.evaluate import Positives, choose_threshold
from textrank.evaluation.report import Counts, Fold, Report
from textrank.features import Vector
from textrank.formats.base import Mention, get_mentions, set_mentions
from textrank.language.alignment import original_offsets, word_doc
from textrank.language.sentences import SentenceSplitter, set_sentence_starts
from textrank.metrics import PRF, calibration_error, chance_calibration_error, decide
from textrank.model import Model
from textrank.protocols import DocumentTask, PairTask

Pieces: TypeAlias = Sequence[tuple[int, int]]  # characters of a name, ends exclusive
Links: TypeAlias = Mapping[tuple[int, int], float]  # (found, gold) -> how much they agree


@dataclass(frozen=True)
class Hits:
    """How many were found, how many there are, and how many of both are the same."""

    found: int
    gold: int
    right: int

    @property
    def prf(self) -> PRF:
        """Precision, recall and F; None where a denominator is zero."""
        precision = self.right / self.found if self.found else None
        recall = self.right / self.gold if self.gold else None
        total = self.found + self.gold
        return PRF(precision, recall, 2 * self.right / total if total else None)

    def to_dict(self) -> dict[str, Any]:
        """Counts and measures as plain values."""
        return {
            "found": self.found,
            "gold": self.gold,
            "true_positives": self.right,
            "false_positives": self.found - self.right,
            "missed": self.gold - self.right,
            **self.prf._asdict(),
        }


def name_links(found: Sequence[Pieces], gold: Sequence[Pieces]) -> dict[tuple[int, int], float]:
    """The names that share a character, each with the common share of all their characters.

    It is 1 where the boundaries are the same. What lies in the hole of a broken name is not of it.

    >>> name_links([[(0, 4)], [(6, 8)]], [[(2, 6)], [(6, 8)]])
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


def pair_links(
    found: Sequence[tuple[int, int]], gold: Sequence[tuple[int, int]], names: Links
) -> dict[tuple[int, int], float]:
    """The pairs whose names are linked, one to one in either order, with the sum of their links.

    Pairs are indices of names; ``names`` links found ones to gold ones.
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


def exact(links: Links, parts: int = 1) -> dict[tuple[int, int], float]:
    """The links of equal boundaries; a pair has two ``parts``."""
    return {key: value for key, value in links.items() if value == parts}


def matched(links: Links) -> dict[int, int]:
    """Found ones with their gold ones, each at most once.

    As many as can be matched are; of all such ways the one whose links sum highest, so that of
    nested names the nearest wins. What is then still equal goes by order.

    >>> matched({(0, 0): 0.5, (0, 1): 1.0, (1, 1): 0.9})
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
    found: dict[int, int] = {}
    for group in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        found |= _assigned(ends[group], values[group])
    return dict(sorted(found.items()))


def _assigned(ends: Any, values: Any) -> dict[int, int]:
    rows, row = np.unique(ends[:, 0], return_inverse=True)
    columns, column = np.unique(ends[:, 1], return_inverse=True)
    gain = np.zeros((len(rows), len(columns)))
    # One match more outweighs any agreement.
    gain[row, column] = values + values.max() * min(gain.shape) + 1.0
    best = zip(*linear_sum_assignment(gain, maximize=True), strict=True)
    return {int(rows[i]): int(columns[j]) for i, j in best if gain[i, j] > 0}


def _characters(pieces: Pieces) -> set[int]:
    return {place for start, end in pieces for place in range(start, end)}


REASONS = ("missed", "separated", "merged")  # why a gold interaction has no candidate


@dataclass(frozen=True)
class Found:
    """Interactions that were found, and how many could have been."""

    hits: Hits
    reachable: int  # gold interactions with a candidate of their own

    def to_dict(self) -> dict[str, Any]:
        """Counts and measures; those of ``reachable`` leave out what no candidate covers."""
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
    """Names and interactions found in raw text, against those of a corpus.

    ``overlap`` asks for one common character of each two names, ``exact`` for equal boundaries.
    ``given`` has the names of the corpus in the same text with the same sentences and parse.
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
        """Plain values under stable keys."""
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
    """Lets ``nlp`` find the names in the texts of annotated Docs, and judges what is found.

    A yes is right if its two names overlap those of a gold interaction, one each; a yes matches
    at most one gold interaction and is matched by at most one (see ``matched`` for ties). With
    ``positives`` yes is said to this share of the candidates, not by the threshold, or where the
    best F is expected of what was found (``auto``, as in ``evaluate``); with ``sentences`` those
    of the corpus are kept, for files that have lost their full stops.
    """
    task = _checked(model, docs)
    raw = list(_analysed(docs, nlp, sentences))
    candidates = [task.candidates(doc) for doc in raw]
    both = zip(docs, raw, candidates, strict=True)
    texts = [_Text.of(task, gold, found, own) for gold, found, own in both]
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
        f"trained on {trained}; {_words(nlp, sentences)}",
        len(docs),
        sum(map(len, candidates)),
        threshold,
        {key: _sum(text.name_hits(key) for text in texts) for key in ("overlap", "exact")},
        {key: _total([one[key] for one in hits]) for key in ("overlap", "exact")}
        | {"given": given},
        {reason: sum(text.reasons[reason] for text in texts) for reason in REASONS},
        to_config(model.pipeline),
        calibration=_calibration(model, scores, texts),
        task=task.name,
    )


def _calibration(model: Model, scores: Vector, texts: Sequence[_Text]) -> dict[str, float]:
    """Return the calibration error of the recognised pairs, and what chance alone would give."""
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
class _Text:
    """A text with names and pairs by gold and as found; names are numbers into their lists."""

    mentions: Sequence[Mention]  # of gold
    gold: Sequence[Mapping[str, Any]]
    found: Sequence[Pieces]
    pairs: Sequence[tuple[int, int]]  # candidates
    interactions: Sequence[tuple[int, int]]  # by gold; -1 for a name that covers no token
    near: Mapping[tuple[int, int], float]  # links of names
    links: Mapping[tuple[int, int], float]  # links of pairs
    sentences: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, task: PairTask, gold: Doc, raw: Doc, candidates: Sequence[Candidate]) -> _Text:
        mentions = get_mentions(gold)
        number = {mention.id: n for n, mention in enumerate(mentions)}
        words = candidates[0].doc if candidates else word_doc(raw)  # as the task read it
        spans = task.names(words)
        found = [(original_offsets(span),) for span in spans]
        place = {_key(span): n for n, span in enumerate(spans)}
        asked = [(place[_key(a)], place[_key(b)]) for a, b in (c.spans for c in candidates)]
        wanted = [(number.get(a, -1), number.get(b, -1)) for a, b in task.interactions(gold)]
        near = name_links(found, [mention.pieces for mention in mentions])
        links = pair_links(asked, wanted, near)
        bounds = [(sentence.start_char, sentence.end_char) for sentence in raw.sents]
        gold_rows = gold.user_data["gold"]
        return cls(mentions, gold_rows, found, asked, wanted, near, links, bounds)

    def name_hits(self, match: str) -> Hits:
        links = self.near if match == "overlap" else exact(self.near)
        return Hits(len(self.found), len(self.mentions), len(matched(links)))

    def pair_hits(self, yes: Sequence[bool]) -> dict[str, Found]:
        matches = {"overlap": self.links, "exact": exact(self.links, 2)}
        return {
            match: Found(
                Hits(sum(yes), len(self.interactions), len(matched(_of(links, yes)))),
                len(matched(links)),
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
        """Why gold interactions have no candidate of their own, counted."""
        reached = set(matched(self.links).values())
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
        """Whether one sentence holds both names whole."""
        if -1 in pair:
            return True
        places = [self.mentions[name].pieces for name in pair]
        first, last = min(p[0][0] for p in places), max(p[-1][1] for p in places)
        return any(start <= first and last <= end for start, end in self.sentences)


def _checked(model: Model, docs: Sequence[Doc]) -> PairTask:
    task = model.pipeline.task
    if task.raw_text_unit != "pairs":
        raise ValueError(
            f"recognised names can be measured where pairs of names are judged; this model is of "
            f"task {task.name!r}. Leave the names to the corpus."
        )
    for doc in docs:
        if doc.user_data.get("gold") is None:
            raise ValueError(
                f"document {document_id(doc)!r} has no gold interactions to compare with. "
                "Give an annotated corpus."
            )
    return cast(PairTask, task)


def _words(nlp: Language, sentences: bool) -> str:
    kept = ", sentences of the corpus" if sentences else ""
    return f"raw text{kept}, names found by {nlp.meta.get('name') or nlp.lang}"


def _analysed(docs: Sequence[Doc], nlp: Language, sentences: bool) -> Iterator[Doc]:
    """The bare texts as ``nlp`` sees them, with the sentences of the Docs when asked."""
    sentencizer = SentenceSplitter(final=True)
    bare = (_bare(doc, nlp) if sentences else doc.text for doc in docs)
    for gold, doc in zip(docs, nlp.pipe(bare), strict=True):
        doc.user_data["document"] = document_id(gold)
        yield doc if doc.has_annotation("SENT_START") else sentencizer(doc)


def _bare(gold: Doc, nlp: Language) -> Doc:
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
) -> tuple[list[list[bool]], float | None]:
    """What the model says about the candidates of each Doc, and from which score on."""
    threshold = None
    if len(scores):
        threshold, _ = choose_threshold(model, scores, positives)
    said = iter(decide(scores, 0.0 if threshold is None else threshold).tolist())
    return [[next(said) for _ in own] for own in candidates], threshold


def _given(model: Model, docs: Sequence[Doc], positives: Positives) -> Found:
    """The same with the names of the corpus, whose pairs are known by their ids."""
    task: Any = model.pipeline.task
    candidates = [task.candidates(doc) for doc in docs]
    scores: Vector = model.score([c for own in candidates for c in own])
    yes, _ = _yes(model, candidates, scores, positives)
    answers = [(c.label > 0, s) for own, said in zip(candidates, yes, strict=True)
               for c, s in zip(own, said, strict=True)]  # fmt: skip
    unreachable = sum(task.unreachable(doc, own) for doc, own in zip(docs, candidates, strict=True))
    reachable = sum(label for label, _ in answers)
    right = sum(label and said for label, said in answers)
    return Found(Hits(sum(s for _, s in answers), reachable + unreachable, right), reachable)


def _key(span: Span) -> tuple[int, int, str, str]:
    return span.start, span.end, span.label_, span.id_


def _of(links: Mapping[tuple[int, int], float], yes: Sequence[bool]) -> dict[Any, float]:
    return {ends: value for ends, value in links.items() if yes[ends[0]]}


def _sum(hits: Iterator[Hits]) -> Hits:
    rows = [(h.found, h.gold, h.right) for h in hits]
    found, gold, right = (sum(column) for column in zip(*rows, strict=True))
    return Hits(found, gold, right)


def _total(parts: Sequence[Found]) -> Found:
    return Found(_sum(part.hits for part in parts), sum(part.reachable for part in parts))


def evaluate_identifiers(
    model: Model, docs: Sequence[Doc], nlp: Language, *, corpus: str = ""
) -> Report:
    """Lets ``nlp`` find the names in the texts of annotated Docs, and compares identifiers.

    An identifier of a document is right if the corpus has it anywhere in that document. Measures
    are over identifiers that the tables have; ``document_f_of_all`` is over all of the corpus.
    """
    task = _identifiers_checked(model)
    raw = list(_identifiers_analysed(docs, nlp))
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


def _identifiers_checked(model: Model) -> DocumentTask:
    task = model.pipeline.task
    if task.raw_text_unit != "documents":
        raise ValueError(f"a model of the task {task.name!r} gives no identifiers.")
    return cast(DocumentTask, task)


def _identifiers_analysed(docs: Sequence[Doc], nlp: Language) -> Iterator[Doc]:
    """The bare texts again, with names found."""
    pairs = ((doc.text, document_id(doc, n)) for n, doc in enumerate(docs))
    for doc, name in nlp.pipe(pairs, as_tuples=True):
        doc.user_data["document"] = name
        yield doc
