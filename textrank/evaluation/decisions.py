"""Judged candidates as Decisions: plain values for curves and for reading the errors."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from spacy.tokens import Doc

from textrank.docs import Candidate, document_id, tokens_of
from textrank.evaluation.report import Decision
from textrank.types import Vector

Edge: TypeAlias = tuple[int, int, str]  # governor, dependent, label
Links: TypeAlias = dict[int, list[tuple[int, Edge]]]  # from a token to its neighbours


def decisions_of(
    candidates: Sequence[Candidate],
    scores: Vector,
    threshold: float | None,
    *,
    fold: int = 0,
    split: int = 0,
    paths: bool = False,
) -> Iterator[Decision]:
    """One Decision a candidate, with the dependency path between its spans.

    Only wrong answers get the path, for only they are shown one by one, unless all ``paths`` are
    asked for.
    """
    links: dict[int, Links] = {}
    for candidate, score in zip(candidates, scores, strict=True):
        start, end = _extent(candidate)
        label = float(candidate.label or 0.0)
        wrong = threshold is not None and (score >= threshold) != (label > 0)
        yield Decision(
            document=document_id(candidate.doc),
            text=candidate.doc.text[start:end],
            spans=[(s.start_char - start, s.end_char - start) for s in candidate.spans],
            score=float(score),
            label=label,
            threshold=threshold,
            fold=fold,
            split=split,
            query=candidate.query,
            path=tuple(_drawn(candidate, start, links)) if wrong or paths else (),
        )


def shortest_path(links: Links, starts: Collection[int], ends: Collection[int]) -> list[Edge]:
    """A shortest way from one of ``starts`` to one of ``ends``, in either direction of an edge.

    Empty where none leads there, or where both share a token.
    """
    came: dict[int, tuple[int, Edge] | None] = dict.fromkeys(starts)
    queue = deque(starts)
    while queue:
        at = queue.popleft()
        if at in ends:
            return _back(came, at)
        for neighbour, edge in links.get(at, ()):
            if neighbour not in came:
                came[neighbour] = (at, edge)
                queue.append(neighbour)
    return []


def dependency_links(doc: Doc) -> Links:
    """The dependencies of a Doc in both directions: those given with it, or spaCy's parse."""
    if "dependencies" in doc.user_data:
        edges = [(g, d, str(label)) for g, d, label in doc.user_data["dependencies"]]
    elif doc.has_annotation("DEP"):
        edges = [(t.head.i, t.i, t.dep_) for t in doc if t.head.i != t.i]
    else:
        edges = []
    links: Links = {}
    for edge in edges:
        links.setdefault(edge[0], []).append((edge[1], edge))
        links.setdefault(edge[1], []).append((edge[0], edge))
    return links


def _drawn(
    candidate: Candidate, start: int, links: dict[int, Links]
) -> Iterator[tuple[int, int, int, int, str]]:
    """The path between the first two spans in characters of the shown text."""
    if len(candidate.spans) < 2:
        return
    doc = candidate.doc
    if id(doc) not in links:
        links[id(doc)] = dependency_links(doc)
    first, second = (tokens_of(span) for span in candidate.spans[:2])
    for governor, dependent, label in shortest_path(links[id(doc)], first, second):
        a, b = doc[governor], doc[dependent]
        yield (a.idx - start, a.idx - start + len(a), b.idx - start, b.idx - start + len(b), label)


def _extent(candidate: Candidate) -> tuple[int, int]:
    """Characters of the sentences the spans stand in; the whole text of a Doc without any."""
    if not candidate.spans or not candidate.doc.has_annotation("SENT_START"):
        return 0, len(candidate.doc.text)
    sentences = [span.sent for span in candidate.spans]
    return min(s.start_char for s in sentences), max(s.end_char for s in sentences)


def _back(came: dict[int, tuple[int, Edge] | None], at: int) -> list[Edge]:
    path: list[Edge] = []
    while (step := came[at]) is not None:
        at = step[0]
        path.append(step[1])
    return path[::-1]
