"""League: stored answers of several systems compared by one scorer on the same documents.

``score_league`` takes Docs with gold names, identifiers and relations, and the Docs that each
system's answers were read into. Documents are matched by id. For each unit (see ``UNITS``) the
counts of every document are added up to precision, recall and F1; intervals resample documents, and
two systems are compared by exchanging their counts document by document (a paired permutation
test), with p-values corrected after Holm. ``audit_answers`` estimates the quality of one system's
answers from a few checked documents.

Names match one to one if their boundaries are equal (exact) or if they share a character (relaxed);
pairs match if both names do, in either order. Identifiers, and pairs of them, are sets per
document. Types and directions are scored on relaxed pairs: a pair counts as right only if its type,
or its order, is that of the gold pair.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t
from spacy.tokens import Doc

from textrank.candidates import document_id
from textrank.evaluation.evaluate import Hits, exact_links, link_names, link_pairs, match_links
from textrank.evaluation.statistics import Interval, holm
from textrank.features import Matrix, Vector
from textrank.formats.base import get_mentions, get_relations

Pair: TypeAlias = tuple[int, int]
RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Annotation:
    """Names and relations of a document in plain values, gold or answered.

    ``identifiers`` has one entry per entry of ``pieces``, ``types`` and ``is_directed`` one per
    pair.
    """

    pieces: Sequence[Sequence[tuple[int, int]]]  # character ranges of each name
    identifiers: Sequence[frozenset[str]]  # of each name, lower case
    pairs: Sequence[Pair]  # indices of the names of each stated relation, each pair once
    types: Sequence[str]  # of each pair; empty if not stated
    is_directed: Sequence[bool]  # whether the first name of the pair acts on the second
    # Pairs of identifiers that the document states as a whole, as in PubTator files.
    concept_pairs: frozenset[frozenset[str]] = frozenset()

    @classmethod
    def from_doc(
        cls, doc: Doc, labels: Collection[str] | None = None, source: str = "gold"
    ) -> Annotation:
        """Collect names and positive relations; of several for one pair the first one counts.

        ``labels`` are the lower-case entity labels to compare; None takes all. Relations of other
        names, of a name with itself, and with a false label are left out; one without a label is
        positive. ``source`` is "gold" or the task whose answers are the relations. Pairs with the
        direction "b>a" are turned round.
        Identifiers, in lower case, are those of ``doc.user_data["identifiers"]``, else of the
        mentions.
        """
        mentions = [m for m in get_mentions(doc) if labels is None or m.label.lower() in labels]
        index = {mention.id: i for i, mention in enumerate(mentions)}
        stored: Mapping[str, Sequence[str]] = doc.user_data.get("identifiers") or {}
        pairs: dict[frozenset[int], tuple[Pair, str, bool]] = {}
        for row in get_relations(doc, source):
            one, other = (index.get(str(entity), -1) for entity in row["entities"])
            if row.get("label", True) and one != other and min(one, other) >= 0:
                direction = row.get("direction")
                is_directed = direction in ("a>b", "b>a")
                if direction == "b>a":
                    one, other = other, one
                pairs.setdefault(
                    frozenset((one, other)),
                    ((one, other), str(row.get("type") or ""), is_directed),
                )
        identifiers = [
            frozenset(curie.lower() for curie in stored.get(mention.id, mention.identifiers))
            for mention in mentions
        ]
        return cls(
            [mention.pieces for mention in mentions],
            identifiers,
            [pair for pair, _, _ in pairs.values()],
            [kind for _, kind, _ in pairs.values()],
            [is_directed for _, _, is_directed in pairs.values()],
            _concept_pairs(doc, frozenset().union(*identifiers)),
        )

    def identifier_pairs(self) -> set[frozenset[str]]:
        """Return the unordered pairs of different identifiers that the relations state.

        Names with several identifiers give all combinations; ``concept_pairs`` are included.
        """
        return set(self.concept_pairs) | {
            frozenset((a, b))
            for one, other in self.pairs
            for a in self.identifiers[one]
            for b in self.identifiers[other]
            if a != b
        }


def _concept_pairs(doc: Doc, identifiers: Collection[str]) -> frozenset[frozenset[str]]:
    """Return the relations of a PubTator document whose two concepts are among ``identifiers``.

    Reads ``doc.user_data["concept_relations"]``, rows of a type and concepts, of which the first
    two count. NCBI Gene numbers are compared as ``ncbigene:7157``, others in lower case. Relations
    of a concept with itself are left out.
    """
    pairs = set()
    for _, *concepts in doc.user_data.get("concept_relations") or ():
        curies = {f"ncbigene:{c}" if str(c).isdigit() else str(c).lower() for c in concepts[:2]}
        if len(curies) == 2 and curies <= set(identifiers):
            pairs.add(frozenset(curies))
    return frozenset(pairs)


def _count_names(answer: Annotation, gold: Annotation, *, exact: bool) -> Hits:
    """Count answered names (``found``), gold names, and those that match one to one (``right``).

    They match by equal boundaries if ``exact``, else by a common character.
    """
    links = link_names(answer.pieces, gold.pieces)
    matches = match_links(exact_links(links) if exact else links)
    return Hits(len(answer.pieces), len(gold.pieces), len(matches))


def _match_pairs(answer: Annotation, gold: Annotation, *, exact: bool) -> dict[int, int]:
    """Return the gold pair of each matched pair, as indices into ``pairs``.

    Pairs match in either order if both names have equal boundaries (``exact``) or share a
    character. Each pair is matched at most once; others are missing.
    """
    links = link_pairs(answer.pairs, gold.pairs, link_names(answer.pieces, gold.pieces))
    return match_links(exact_links(links, parts=2) if exact else links)


def _count_pairs(answer: Annotation, gold: Annotation, *, exact: bool) -> Hits:
    """Count pairs whose two names match, in either order, each pair at most once.

    Names match by equal boundaries if ``exact``, else by a common character.
    """
    matches = _match_pairs(answer, gold, exact=exact)
    return Hits(len(answer.pairs), len(gold.pairs), len(matches))


def _count_types(answer: Annotation, gold: Annotation) -> Hits:
    """Count relaxed pairs with the gold type; pairs without a type are left out on both sides.

    Types are compared as they are written.
    """
    matches = _match_pairs(answer, gold, exact=False)
    right = sum(1 for i, j in matches.items() if gold.types[j] and answer.types[i] == gold.types[j])
    return Hits(sum(map(bool, answer.types)), sum(map(bool, gold.types)), right)


def _count_directions(answer: Annotation, gold: Annotation) -> Hits:
    """Count relaxed pairs with the gold direction; undirected pairs are left out on both sides.

    A directed pair is right if its first name agrees with the first gold name better than with the
    second.
    """
    links = link_names(answer.pieces, gold.pieces)
    right = 0
    for i, j in _match_pairs(answer, gold, exact=False).items():
        (a, b), (c, d) = answer.pairs[i], gold.pairs[j]
        same_order = links.get((a, c), 0) + links.get((b, d), 0)
        other_order = links.get((a, d), 0) + links.get((b, c), 0)
        right += answer.is_directed[i] and gold.is_directed[j] and same_order > other_order
    return Hits(sum(answer.is_directed), sum(gold.is_directed), right)


def _count_sets(answer: set[Any], gold: set[Any]) -> Hits:
    """Return the sizes of two sets as ``found`` and ``gold``, and of their intersection."""
    return Hits(len(answer), len(gold), len(answer & gold))


UNITS: Mapping[str, Callable[[Annotation, Annotation], Hits]] = {
    "names, exact": lambda a, g: _count_names(a, g, exact=True),
    "names, relaxed": lambda a, g: _count_names(a, g, exact=False),
    "identifiers": lambda a, g: _count_sets(
        set().union(*a.identifiers), set().union(*g.identifiers)
    ),
    "pairs, exact": lambda a, g: _count_pairs(a, g, exact=True),
    "pairs, relaxed": lambda a, g: _count_pairs(a, g, exact=False),
    "pairs of identifiers": lambda a, g: _count_sets(a.identifier_pairs(), g.identifier_pairs()),
    "types": _count_types,
    "directions": _count_directions,
}
"""What is compared, by name: functions of the answer and gold of a document."""


@dataclass(frozen=True)
class Score:
    """Counts of one system in one unit, with the interval of F1 over resampled documents."""

    hits: Hits
    interval: Interval | None  # None for a single document

    def to_dict(self) -> dict[str, Any]:
        """Return counts, metrics and the interval as plain values.

        Keys are ``found``, ``gold``, ``true_positives``, ``false_positives``, ``missed``,
        ``precision``, ``recall``, ``f`` (None if undefined) and ``f_interval`` (a dict, None for a
        single document).
        """
        interval = None if self.interval is None else asdict(self.interval)
        return {**self.hits.to_dict(), "f_interval": interval}


@dataclass(frozen=True)
class PairedTest:
    """Difference of F1 between two systems in one unit, with its two-sided p-value."""

    unit: str
    first: str
    second: str
    difference: float  # F1 of the second minus F1 of the first
    p: float
    holm: float = 1.0  # p corrected for all tests of the league


@dataclass(frozen=True)
class League:
    """Scores by unit and system, and tests between every two systems."""

    gold: str
    documents: int
    scores: Mapping[str, Mapping[str, Score]]  # unit -> system -> score; units without gold missing
    tests: Sequence[PairedTest]
    missing: Mapping[str, int] = field(default_factory=dict)  # documents a system did not answer

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values under the names of the fields.

        ``scores`` is ``{unit: {system: Score.to_dict()}}``; ``tests`` is a list of dicts with
        ``unit``, ``first``, ``second``, ``difference``, ``p`` and ``holm``.
        """
        return {
            "gold": self.gold,
            "documents": self.documents,
            "missing": dict(self.missing),
            "scores": {
                unit: {system: score.to_dict() for system, score in by_system.items()}
                for unit, by_system in self.scores.items()
            },
            "tests": [asdict(test) for test in self.tests],
        }


def score_league(
    gold: Sequence[Doc],
    systems: Mapping[str, Sequence[Doc]],
    *,
    labels: Collection[str] | None = None,
    seed: int = 0,
    name: str = "",
) -> League:
    """Score the answers of systems against gold documents.

    Units (``UNITS``) of which the gold documents have nothing are left out. Counts are summed over
    all gold documents; every two systems are tested in every unit.

    Parameters
    ----------
    gold
        Annotated documents with different ids.
    systems
        Documents of each system by name, matched with ``gold`` by id; others are ignored. A gold
        document that a system lacks counts as answered with nothing.
    labels
        Entity labels to compare, in gold and answers, upper or lower case; None compares all.
    seed
        Seed of the resampled documents and exchanged answers.
    name
        Name of the gold corpus for the result.

    Raises
    ------
    ValueError
        If there are no gold documents or systems, two documents of a side share an id, a system has
        no document of the gold ones, or the text of an answered document differs from the gold
        text, so that offsets cannot be compared.
    """
    if not gold or not systems:
        raise ValueError("a league needs gold documents and at least one system's answers.")
    gold_docs = _by_id(gold, "the gold corpus")
    wanted = None if labels is None else {label.lower() for label in labels}
    annotations = {key: Annotation.from_doc(doc, wanted) for key, doc in gold_docs.items()}
    counts: dict[str, dict[str, Matrix]] = {}
    missing = {}
    for system, docs in systems.items():
        answered = _by_id(docs, system)
        _check_texts(gold_docs, answered, system)
        missing[system] = len(gold_docs) - len(gold_docs.keys() & answered.keys())
        empty = Annotation((), (), (), (), ())
        answers = {
            key: Annotation.from_doc(answered[key], wanted) if key in answered else empty
            for key in gold_docs
        }
        for unit, count in UNITS.items():
            hits = [count(answers[key], annotations[key]) for key in gold_docs]
            counts.setdefault(unit, {})[system] = np.array(
                [(h.found, h.gold, h.right) for h in hits], dtype=np.float64
            )
    counts = {
        unit: by_system
        for unit, by_system in counts.items()
        if next(iter(by_system.values()))[:, 1].any()
    }
    scores = {
        unit: {system: _score(table, seed) for system, table in by_system.items()}
        for unit, by_system in counts.items()
    }
    return League(name, len(gold_docs), scores, _test_all(counts, seed), missing)


def _by_id(docs: Sequence[Doc], owner: str) -> dict[str, Doc]:
    """Return the Docs by document id; ValueError, with ``owner``, if two share one.

    A Doc without an id gets that of its position; ``owner`` begins the message.
    """
    by_id: dict[str, Doc] = {}
    for number, doc in enumerate(docs):
        key = document_id(doc, number)
        if key in by_id:
            raise ValueError(f"{owner}: two documents have the id {key!r}. Give each its own id.")
        by_id[key] = doc
    return by_id


def _check_texts(gold: Mapping[str, Doc], answers: Mapping[str, Doc], system: str) -> None:
    """Raise ValueError if no document is shared, or a shared one has another text.

    Documents, by id, that only one side has are ignored. ``system`` begins the message.
    """
    shared = [key for key in gold if key in answers]
    if not shared:
        example = next(iter(answers), "none")
        raise ValueError(
            f"{system}: no document id occurs in the gold corpus (gold has "
            f"{next(iter(gold), 'none')!r}, the answers {example!r}). Use the same ids."
        )
    for key in shared:
        if gold[key].text != answers[key].text:
            raise ValueError(
                f"{system}: document {key!r} has another text than in the gold corpus, so "
                "offsets cannot be compared. Give both in the same text."
            )


def _f_scores(sums: Matrix) -> Vector:
    """Return F1 of rows (found, gold, right); 0 where nothing was found and nothing is gold.

    ``sums`` has any shape (..., 3), the result the shape (...).
    """
    total = sums[..., 0] + sums[..., 1]
    return np.divide(2 * sums[..., 2], total, out=np.zeros(total.shape), where=total > 0)


def _score(table: Matrix, seed: int) -> Score:
    """Return the sums of a table (documents, 3) of found, gold and right, with the interval of F1.

    The interval is None for a single document.
    """
    predicted, gold, right = table.sum(axis=0).astype(int).tolist()
    n = len(table)
    if n < 2:
        return Score(Hits(predicted, gold, right), None)
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), RESAMPLES)
    low, high = np.quantile(_f_scores(draws @ table), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Score(Hits(predicted, gold, right), Interval(float(low), float(high), LEVEL))


def _test_all(counts: Mapping[str, Mapping[str, Matrix]], seed: int) -> list[PairedTest]:
    """Return the test between every two systems in every unit, with corrected p-values.

    ``counts`` has by unit and system a table (documents, 3) of found, gold and right. Holm's
    correction is over all these tests together.
    """
    tests = []
    for unit, by_system in counts.items():
        for first, second in combinations(by_system, 2):
            difference, p = _permute(by_system[first], by_system[second], seed)
            tests.append((unit, first, second, difference, p))
    corrected = holm([test[-1] for test in tests])
    return [PairedTest(*test, value) for test, value in zip(tests, corrected, strict=True)]


def _permute(first: Matrix, second: Matrix, seed: int) -> tuple[float, float]:
    """Return the difference of F1, second minus first, and its two-sided p-value.

    In each of ``RESAMPLES`` rounds the two systems exchange their counts (documents, 3) of each
    document with probability one half. The observed assignment counts as one round, so p is never
    0.
    """
    observed = float(_f_scores(second.sum(axis=0)) - _f_scores(first.sum(axis=0)))
    is_swapped = np.random.default_rng(seed).random((RESAMPLES, len(first))) < 0.5
    moved = is_swapped @ (second - first)
    differences = _f_scores(second.sum(axis=0) - moved) - _f_scores(first.sum(axis=0) + moved)
    reached = (np.abs(differences) >= abs(observed) - 1e-12).sum()
    return observed, float((reached + 1) / (RESAMPLES + 1))


# Audit of answers by a few checked documents

MIN_CHECKED_DOCUMENTS = 3
MAX_LISTED_ITEMS = 20  # disputed items of a document that are listed


@dataclass(frozen=True)
class Estimate:
    """Estimate of a metric over all answered documents, with its interval."""

    value: float
    interval: Interval
    checked_only: float  # the same metric from the checked documents alone

    def to_dict(self) -> dict[str, Any]:
        """Return ``value``, ``interval`` (a dict) and ``checked_only`` as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class ErrorKind:
    """Errors of one kind in the checked documents."""

    name: str
    count: int
    per_document: float
    interval: Interval  # of the errors per document


@dataclass(frozen=True)
class DocumentToCheck:
    """A document whose check would tell most, with what the answers and our model dispute.

    ``disputes`` is the number of all disputed items, ``items`` the first of them.
    """

    document: str
    disputes: int
    items: Sequence[
        str
    ]  # texts of names and pairs that only one side has, at most MAX_LISTED_ITEMS


@dataclass(frozen=True)
class AnswerAudit:
    """Quality of stored answers, estimated from checked documents and a model of ours."""

    answers: str
    documents: int  # answered
    checked: int
    model: str  # whose answers help to estimate; empty: none
    metrics: Mapping[str, Mapping[str, Estimate]]  # unit -> precision, recall -> estimate
    errors: Sequence[ErrorKind]
    next_documents: Sequence[DocumentToCheck]  # most disputes first

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values under the names of the fields.

        ``metrics`` is ``{unit: {"precision" or "recall": Estimate.to_dict()}}``. ``errors`` and
        ``next_documents`` are lists of dicts with the fields of their items, in order.
        """
        values = {key: getattr(self, key) for key in ("answers", "documents", "checked", "model")}
        return {
            **values,
            "metrics": {
                unit: {name: estimate.to_dict() for name, estimate in estimates.items()}
                for unit, estimates in self.metrics.items()
            },
            "errors": [asdict(error) for error in self.errors],
            "next_documents": [asdict(document) for document in self.next_documents],
        }


def audit_answers(
    answers: Sequence[Doc],
    checked: Sequence[Doc],
    ours: Sequence[Doc] = (),
    *,
    source: str = "gold",
    labels: Collection[str] | None = None,
    seed: int = 0,
    name: str = "",
    model: str = "",
) -> AnswerAudit:
    """Estimate precision, recall and errors of answers from a few checked documents.

    The checked documents should be a random sample of the answered ones. Our own answers to all of
    them make the estimate more precise (prediction-powered inference, Angelopoulos et al. 2023,
    Science 382): ``mean over checked of (gold - w * ours) + w * mean over all of ours``, with the
    weight ``w`` that has the smallest variance. However wrong our answers are, they do not bias it.
    Units of which the checked documents have no gold are left out.

    Parameters
    ----------
    answers
        Documents with the answers, different ids.
    checked
        The documents of some of these ids with correct annotation; other ids are ignored.
    ours
        The same documents as ``answers`` with answers of a model of ours; empty: none. If some are
        missing, ours are not used for the estimate, only to rank the documents to check. Others
        are ignored. That their texts are those of ``answers`` is not checked.
    source
        Task whose answers are the relations of ``ours``; "gold" if they are stored as gold.
    labels
        Entity labels to compare, upper or lower case; None compares all.
    seed
        Seed of the resampled documents.
    name, model
        Names of answers and model for the result.

    Raises
    ------
    ValueError
        If fewer than ``MIN_CHECKED_DOCUMENTS`` answered documents are checked, ids repeat on one
        side, or texts differ between answers and checked documents.
    """
    wanted = None if labels is None else {label.lower() for label in labels}
    answered, gold_docs = _by_id(answers, "the answers"), _by_id(checked, "the checked documents")
    _check_texts(gold_docs, answered, name or "answers")
    keys = [key for key in answered if key in gold_docs]
    if len(keys) < MIN_CHECKED_DOCUMENTS:
        raise ValueError(
            f"{len(keys)} of the answered documents are checked: at least "
            f"{MIN_CHECKED_DOCUMENTS} are needed. Check more documents."
        )
    given = {key: Annotation.from_doc(doc, wanted) for key, doc in answered.items()}
    gold = {key: Annotation.from_doc(gold_docs[key], wanted) for key in keys}
    helper = {
        key: Annotation.from_doc(doc, wanted, source)
        for key, doc in _by_id(ours, "our answers").items()
        if key in answered
    }
    is_checked = np.array([key in gold for key in answered])
    metrics = {}
    for unit, count in UNITS.items():
        true = np.array([_to_row(count(given[key], gold[key])) for key in keys])
        if not true[:, 1].any():
            continue
        n_answers = _count_found(count, given)
        proxy = (
            np.array([_to_row(count(given[key], helper[key])) for key in answered])
            if len(helper) == len(answered)
            else None
        )
        metrics[unit] = _estimate(true, n_answers, proxy, is_checked, seed)
    kinds = [_error_kinds(given[key], gold[key]) for key in keys]
    return AnswerAudit(
        name,
        len(answered),
        len(keys),
        model if helper else "",
        metrics,
        _summarize_errors(kinds, seed),
        _rank_documents(answered, given, helper, gold),
    )


def _to_row(hits: Hits) -> tuple[float, float, float]:
    """Return (found, gold, right) as floats."""
    return float(hits.found), float(hits.gold), float(hits.right)


def _count_found(
    count: Callable[[Annotation, Annotation], Hits], given: Mapping[str, Annotation]
) -> Vector:
    """Return the number of answers of a unit in each document, (documents,).

    Documents are in the order of ``given``. ``count`` is a value of ``UNITS``; each annotation is
    compared with itself.
    """
    return np.array([float(count(annotation, annotation).found) for annotation in given.values()])


def _estimate(
    true: Matrix, found: Vector, proxy: Matrix | None, is_checked: NDArray[np.bool_], seed: int
) -> dict[str, Estimate]:
    """Return precision and recall over all documents, by these names.

    ``true`` (checked, 3) has the counts (found, gold, right) by the check, with some gold,
    ``found`` (documents,) the answers of every document and ``proxy`` (documents, 3) the counts by
    our own answers, None without them. ``is_checked`` (documents,) marks the documents of ``true``,
    in the same order. The interval, cut to 0 .. 1, is that of Student's t with the standard
    deviation over resampled documents, checked and other ones resampled apart. ``checked_only`` is
    the ratio of the counts in ``true``, 0 for the precision of no answers.
    """
    helper = np.zeros((len(found), 3)) if proxy is None else proxy
    inside = helper[is_checked]
    weights = [_helper_weight(true[:, i], inside[:, i], len(found)) for i in (2, 1)]

    # Columns: found, gold and right by the check, then found, gold and right by our answers.
    table = np.column_stack([found, np.zeros((len(found), 2)), helper])
    table[is_checked, 1:3] = true[:, 1:]
    checked, rest = table[is_checked], table[~is_checked]

    def metrics(checked_means: Matrix, rest_means: Matrix) -> Matrix:
        """Return precision and recall, (draws, 2), from means of the columns, (draws, 6) each.

        Right and gold are ``w * all + checked - w * checked`` of our answers' and the check's
        columns (prediction-powered). Ratios without a denominator are 0, and all are cut to 0 .. 1.
        """
        share = len(checked) / len(table)
        everything = share * checked_means + (1 - share) * rest_means
        right, gold = (
            w * everything[:, 3 + k] + checked_means[:, k] - w * checked_means[:, 3 + k]
            for w, k in zip(weights, (2, 1), strict=True)
        )
        bottoms = np.column_stack([everything[:, 0], gold])
        tops = np.column_stack([right, right])
        ratios = np.divide(tops, bottoms, out=np.zeros(tops.shape), where=bottoms > 0)
        return np.clip(ratios, 0.0, 1.0)

    rng = np.random.default_rng(seed)
    draws = metrics(_resampled_means(checked, rng), _resampled_means(rest, rng))
    rest_mean = rest.mean(axis=0) if len(rest) else np.zeros(table.shape[1])
    values = metrics(checked.mean(axis=0)[None], rest_mean[None])[0]
    reach = float(student_t.ppf((1 + LEVEL) / 2, len(checked) - 1)) * draws.std(axis=0)
    right, total, gold = true[:, 2].sum(), true[:, 0].sum(), true[:, 1].sum()
    alone = (right / total if total else 0.0, right / gold)
    return {
        name: Estimate(
            float(values[i]),
            Interval(
                float(max(values[i] - reach[i], 0.0)), float(min(values[i] + reach[i], 1.0)), LEVEL
            ),
            float(alone[i]),
        )
        for i, name in enumerate(("precision", "recall"))
    }


def _helper_weight(true: Vector, helper: Vector, documents: int) -> float:
    """Return the weight of our answers with the smallest variance, between 0 and 1.

    ``true`` and ``helper`` are counts of the checked documents, ``documents`` the number of all
    that are answered. 0 if our counts do not vary, at most 3 documents are checked, or all of them
    are.
    """
    variance = float(helper.var(ddof=1)) if len(helper) > 3 else 0.0
    if variance <= 0 or documents <= len(true):
        return 0.0
    covariance = float(np.cov(true, helper)[0, 1])
    return float(np.clip(covariance / variance * (1 - len(true) / documents), 0.0, 1.0))


def _resampled_means(rows: Matrix, rng: np.random.Generator) -> Matrix:
    """Return the means of columns in resampled rows, (RESAMPLES, columns); zeros without rows."""
    n = len(rows)
    if not n:
        return np.zeros((RESAMPLES, rows.shape[1]))
    return rng.multinomial(n, np.full(n, 1 / n), RESAMPLES) @ rows / n


def _error_kinds(answer: Annotation, gold: Annotation) -> dict[str, int]:
    """Count the errors of a document by kind; every kind is a key, in a fixed order.

    Keys are ten descriptions for reports, such as "name missed", first of names, then of pairs.
    Names match if they share a character, pairs if their names do. An identifier or type is an
    error only if both sides have one, a direction if both pairs have one; identifiers differ if
    they have none in common.
    """
    links = link_names(answer.pieces, gold.pieces)
    names, exact = match_links(links), match_links(exact_links(links))
    pairs = match_links(link_pairs(answer.pairs, gold.pairs, links))
    gold_names = set(names.values())
    spurious = [i for i in range(len(answer.pairs)) if i not in pairs]
    missed = [j for j in range(len(gold.pairs)) if j not in set(pairs.values())]
    types = [(answer.types[i], gold.types[j]) for i, j in pairs.items()]
    directions = _count_directions(answer, gold)
    directed = sum(answer.is_directed[i] and gold.is_directed[j] for i, j in pairs.items())
    identifiers = [(answer.identifiers[i], gold.identifiers[j]) for i, j in names.items()]
    return {
        "name with other boundaries": len(names) - len(exact),
        "name that is none": len(answer.pieces) - len(names),
        "name missed": len(gold.pieces) - len(names),
        "name with another identifier": sum(bool(a and b) and not a & b for a, b in identifiers),
        "pair that does not interact": sum(names.keys() >= set(answer.pairs[i]) for i in spurious),
        "pair with a name that is none": sum(
            not names.keys() >= set(answer.pairs[i]) for i in spurious
        ),
        "pair missed, names found": sum(gold_names >= set(gold.pairs[j]) for j in missed),
        "pair missed with its name": sum(not gold_names >= set(gold.pairs[j]) for j in missed),
        "pair with another type": sum(bool(a and b) and a != b for a, b in types),
        "pair in the other direction": directed - directions.right,
    }


def _summarize_errors(kinds: Sequence[Mapping[str, int]], seed: int) -> list[ErrorKind]:
    """Return the kinds of errors that occur, most frequent first, then by name.

    ``kinds`` has the counts of each checked document (``_error_kinds``), at least one. Each kind
    gets its count, its mean per document and an interval of that mean over resampled documents.
    """
    table = np.array([list(row.values()) for row in kinds], dtype=np.float64)
    n = len(table)
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), RESAMPLES) @ table / n
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    errors = [
        ErrorKind(
            name,
            int(table[:, i].sum()),
            float(table[:, i].mean()),
            Interval(float(low[i]), float(high[i]), LEVEL),
        )
        for i, name in enumerate(kinds[0])
        if table[:, i].any()
    ]
    return sorted(errors, key=lambda error: (-error.count, error.name))


def _rank_documents(
    answered: Mapping[str, Doc],
    given: Mapping[str, Annotation],
    helper: Mapping[str, Annotation],
    gold: Mapping[str, Annotation],
) -> list[DocumentToCheck]:
    """Return the unchecked documents, those with most disputes first, then by id.

    ``given`` are the answers, ``helper`` our answers and ``gold`` the checked documents, by id. In
    a document without our answers every answer counts as disputed. Of the disputed items the first
    ``MAX_LISTED_ITEMS`` are listed.
    """
    empty = Annotation((), (), (), (), ())
    rows = []
    for key, doc in answered.items():
        if key not in gold:
            items = _disputed(doc.text, given[key], helper.get(key, empty))
            rows.append(DocumentToCheck(key, len(items), items[:MAX_LISTED_ITEMS]))
    return sorted(rows, key=lambda row: (-row.disputes, row.document))


def _disputed(text: str, one: Annotation, other: Annotation) -> list[str]:
    """Return texts of the pairs and names that only one of two annotations has, pairs first.

    Of each kind, those of ``one`` come before those of ``other``. Names match if they share a
    character, pairs if their names do. The names of a pair are joined by " – ". ``text`` is that of
    the document.
    """
    links = link_names(one.pieces, other.pieces)
    names, pairs = match_links(links), match_links(link_pairs(one.pairs, other.pairs, links))

    def show(side: Annotation, name: int) -> str:
        """Return the text of a name of one side, its pieces joined by blanks."""
        return " ".join(text[start:end] for start, end in side.pieces[name])

    items = []
    for side, matched in ((one, set(pairs)), (other, set(pairs.values()))):
        items += [
            " – ".join(show(side, name) for name in pair)
            for i, pair in enumerate(side.pairs)
            if i not in matched
        ]
    for side, matched in ((one, set(names)), (other, set(names.values()))):
        items += [show(side, i) for i in range(len(side.pieces)) if i not in matched]
    return items
