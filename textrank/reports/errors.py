"""The worst errors of a Report, made ready for reading: marked text and the path between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from textrank.evaluation import Decision, Report
from textrank.ties import argmax_first

Place: TypeAlias = tuple[int, int]  # characters of the sentence, end excluded
Piece: TypeAlias = tuple[str, str]  # text, and the classes that mark it
Found: TypeAlias = tuple[str, float, Decision]  # kind, margin, decision


@dataclass(frozen=True)
class Step:
    """A word on the dependency path, and the dependency that leads on from it."""

    word: str
    entity: bool
    relation: str = ""  # empty at the last word
    forward: bool = True  # whether the dependency points onward, from governor to dependent


@dataclass(frozen=True)
class Error:
    """One wrong answer, as a reader sees it."""

    kind: str  # "false positive", "false negative" or "wrong order"
    decision: Decision
    margin: float  # how far on the wrong side, always positive
    times: int  # in how many of the splits
    splits: int
    pieces: Sequence[Piece]
    steps: Sequence[Step]


def worst_errors(report: Report, limit: int = 50) -> list[Error]:
    """Up to ``limit`` false positives and as many false negatives, the clearest first.

    Without thresholds, as in rankings: the queries whose best-scored candidate is worst.
    """
    ranked = all(d.threshold is None for d in report.decisions)
    found = _wrong_orders(report.decisions) if ranked else _wrong_answers(report.decisions)
    splits = len({d.split for d in report.decisions})
    kinds: dict[str, list[Error]] = {}
    for (kind, _), same in _together(found).items():
        margin, decision = max(same, key=lambda pair: pair[0])
        error = Error(kind, decision, margin, len(same), splits, pieces(decision), steps(decision))
        kinds.setdefault(kind, []).append(error)
    chosen = [e for errors in kinds.values() for e in sorted(errors, key=_severity)[:limit]]
    return sorted(chosen, key=_severity)


def pieces(decision: Decision, words: Sequence[Place] = ()) -> list[Piece]:
    """The sentence in pieces, each with the marks that lie on it: e1, e2, path, word."""
    marks = [(start, end, f"e{i + 1}") for i, (start, end) in enumerate(decision.spans)]
    for arc in decision.path:
        marks += [(arc[0], arc[1], "path"), (arc[2], arc[3], "path")]
    marks += [(start, end, "word") for start, end in words]
    size = len(decision.text)
    cuts = sorted({0, size, *(min(max(c, 0), size) for a, b, _ in marks for c in (a, b))})
    result = []
    for start, end in pairwise(cuts):
        names = dict.fromkeys(name for a, b, name in marks if a <= start and end <= b)
        result.append((decision.text[start:end], " ".join(names)))
    return result


def steps(decision: Decision) -> list[Step]:
    """The words along the dependency path from the first judged mention to the second."""
    arcs = [((a, b), (c, d), relation) for a, b, c, d, relation in decision.path]
    if not arcs:
        return []
    at = _start(decision, arcs)
    result = []
    for governor, dependent, relation in arcs:
        result.append(_step(decision, at, relation, forward=at == governor))
        at = dependent if at == governor else governor
    return [*result, _step(decision, at)]


def _start(decision: Decision, arcs: Sequence[tuple[Place, Place, str]]) -> Place:
    governor, dependent, _ = arcs[0]
    if len(arcs) > 1:
        return dependent if governor in arcs[1][:2] else governor
    return governor if _inside(governor, decision.spans[0]) else dependent


def _step(decision: Decision, at: Place, relation: str = "", forward: bool = True) -> Step:
    entity = any(_inside(at, span) for span in decision.spans)
    return Step(decision.text[at[0] : at[1]], entity, relation, forward)


def _inside(place: Place, span: Place) -> bool:
    return place[0] < span[1] and span[0] < place[1]


def _wrong_answers(decisions: Iterable[Decision]) -> list[Found]:
    found = []
    for d in decisions:
        if d.threshold is None or d.decision == (d.label > 0):
            continue
        kind = "false positive" if d.decision else "false negative"
        found.append((kind, abs(d.score - d.threshold), d))
    return found


def _wrong_orders(decisions: Iterable[Decision]) -> list[Found]:
    queries: dict[tuple[int, str, str], list[Decision]] = {}
    for d in decisions:
        queries.setdefault((d.split, d.document, d.query), []).append(d)
    found = []
    for same in queries.values():
        first = same[int(argmax_first([d.score for d in same]))]
        regret = max(d.label for d in same) - first.label
        if regret > 0:
            found.append(("wrong order", regret, first))
    return found


def _together(found: Iterable[Found]) -> dict[tuple[str, object], list[tuple[float, Decision]]]:
    """The same candidate, wrong in several splits, under one key."""
    result: dict[tuple[str, object], list[tuple[float, Decision]]] = {}
    for kind, margin, d in found:
        key = (d.document, d.query, d.text, d.spans)
        result.setdefault((kind, key), []).append((margin, d))
    return result


def _severity(error: Error) -> tuple[float, str, str]:
    return (-error.margin, error.decision.document, error.decision.text)
