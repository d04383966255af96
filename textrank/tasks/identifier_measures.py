"""How good identifiers are: by mention, and by document as curators count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from textrank.docs import Candidate
from textrank.ties import merge_ties
from textrank.types import Vector

Known = Callable[[str], bool]


@dataclass(frozen=True)
class Answer:
    """What was said of one name, and what would have been right."""

    document: str
    first: str  # the identifier ranked first among those there are; empty: there is none
    decided: frozenset[str]  # those that were given, with those of the names in a list
    reachable: bool
    gold: frozenset[str]


def identifier_measures(
    candidates: Sequence[Candidate],
    scores: Vector,
    gold: Mapping[str, Sequence[frozenset[str]]],
    known: Known,
) -> dict[str, float | None]:
    """Shares of names and of documents' identifiers that are right.

    ``gold`` has the right identifiers of each document, a set a name; ``known`` says whether the
    tables have an identifier. ``first`` is the share of names whose right identifier is ranked
    first, among names of which the tables have it; ``first_of_all`` is over all names,
    ``reachable`` the share with it among the candidates. Precision, recall and F are those of the
    decisions, with none as an answer. ``document_`` measures compare the sets of identifiers of
    whole documents over identifiers that the tables have, ``document_f_of_all`` over all.
    A name with several right identifiers is right with any of them.
    """
    answers = answers_of(candidates, scores, gold)
    covered = [a for a in answers if any(map(known, a.gold))]
    identified = [a for a in answers if a.gold]
    given = [a for a in answers if a.decided]
    right = sum(bool(a.decided & a.gold) for a in given)
    return {
        "first": _share(sum(a.first in a.gold for a in covered), len(covered)),
        "first_of_all": _share(sum(a.first in a.gold for a in identified), len(identified)),
        "reachable": _share(sum(a.reachable for a in covered), len(covered)),
        **_prf("", right, len(given), len(covered)),
        **document_measures(document_sets(answers), _gold_sets(gold), known),
    }


def document_measures(
    found: Mapping[str, frozenset[str]], gold: Mapping[str, frozenset[str]], known: Known
) -> dict[str, float | None]:
    """Precision, recall and F of the gene identifiers of documents, summed over documents.

    Families are left out: what a corpus of genes calls them differs.
    """
    right = sum(len(found.get(document, frozenset()) & own) for document, own in gold.items())
    said = sum(map(len, found.values()))
    covered = sum(sum(map(known, own)) for own in gold.values())
    every = sum(map(len, gold.values()))
    return {
        **_prf("document_", right, said, covered),
        "document_f_of_all": _share(2 * right, said + every),
    }


def answers_of(
    candidates: Sequence[Candidate],
    scores: Vector,
    gold: Mapping[str, Sequence[frozenset[str]]],
) -> list[Answer]:
    """What was said of each name."""
    grouped: dict[tuple[str, int], dict[str, list[int]]] = {}
    for i, candidate in enumerate(candidates):
        name = int(candidate.query.partition(".")[0])
        queries = grouped.setdefault((candidate.document, name), {})
        queries.setdefault(candidate.query, []).append(i)
    return [
        _answer(document, list(own.values()), candidates, scores, gold[document][name])
        for (document, name), own in grouped.items()
    ]


def _answer(
    document: str,
    queries: Sequence[Sequence[int]],
    candidates: Sequence[Candidate],
    scores: Vector,
    gold: frozenset[str],
) -> Answer:
    best, decided = [], []
    reachable = False
    for rows in queries:
        ids = [candidates[i].spans[0].kb_id_ for i in rows]
        order = np.argsort(-merge_ties(scores[list(rows)]), kind="stable")
        best.append(next((ids[i] for i in order if ids[i]), ""))
        decided.append(ids[order[0]])
        reachable = reachable or bool(gold.intersection(ids))
    first = next(filter(None, best), "")
    return Answer(document, first, frozenset(filter(None, decided)), reachable, gold)


def document_sets(answers: Sequence[Answer]) -> dict[str, frozenset[str]]:
    """The genes that each document was said to speak of."""
    found: dict[str, frozenset[str]] = {}
    for answer in answers:
        genes = {one for one in answer.decided if not one.startswith("fplx:")}
        found[answer.document] = found.get(answer.document, frozenset()) | genes
    return found


def _gold_sets(gold: Mapping[str, Sequence[frozenset[str]]]) -> dict[str, frozenset[str]]:
    return {document: frozenset().union(*own) for document, own in gold.items()}


def _prf(prefix: str, right: int, said: int, wanted: int) -> dict[str, float | None]:
    return {
        f"{prefix}precision": _share(right, said),
        f"{prefix}recall": _share(right, wanted),
        f"{prefix}f": _share(2 * right, said + wanted),
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
