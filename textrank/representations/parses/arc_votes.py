"""ArcVotes: a dependency parse as counts of its arcs by how many other parses have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.pairs.entity_pair import Name
from textrank.representations.parses.arc_features import ParseTree, far
from textrank.representations.parses.counted import Columns, counted
from textrank.representations.parses.support import known_parse
from textrank.types import Features, Indices, Vector

ROUNDING = 1e-5  # shares are sums of thirds and the like


@dataclass(frozen=True)
class ArcVotes:
    """Counts of the arcs of a parse by the votes for them, over the root of the number of words.

    An arc that most parses have is mostly right, but how often depends on what arc it is and on
    which parser speaks for it. Counted are shares of votes, in ``steps`` and none and all of them:
    of each parser for the arc, and for the head alone; of all of them with the label, with the tag
    of the dependent, with both tags, and with label and length.
    """

    steps: int = 4

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1, got {self.steps}")

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        columns = Columns()
        rows = (self._row(c, columns) for c in track(candidates, "votes", len(candidates)))
        return counted(candidates, rows, columns)

    def _row(self, candidate: Candidate, columns: Columns) -> list[int]:
        known, tree = known_parse(candidate), ParseTree.of(candidate)
        columns.enter(tree.sentence)
        arcs, heads = np.asarray(known["arcs"]), np.asarray(known["heads"])  # (words, parsers)
        parties = [*arcs.T, *heads.T, arcs.sum(axis=1) / max(arcs.shape[1], 1)]
        steps = self._steps(np.stack(parties, axis=1)).tolist()
        found: list[int] = []
        for i, (h, kind, own) in enumerate(zip(tree.heads, tree.labels, steps, strict=True)):
            key = i, h, kind, *own
            part = columns.parts.get(key)
            found += part or columns.new(key, self._names(tree.tags, i, h, kind, own))
        return found

    def _names(
        self, tags: Sequence[str], i: int, h: int, kind: str, steps: Sequence[int]
    ) -> Iterator[Name]:
        label, above = ("ROOT", "") if h == i else (kind, tags[h])
        *each, all_votes = map(self._told, steps)
        half = len(each) // 2
        yield "votes", *each[:half]
        yield "head's votes", *each[half:]
        yield "label, votes", label, all_votes
        yield "tag, votes", tags[i], all_votes
        yield "tags, votes", above, tags[i], all_votes
        yield "label, length, votes", label, far(i - h), all_votes

    def _steps(self, shares: Vector) -> Indices:
        """The step of each share: -1 for none, as many as there are for all."""
        steps = np.minimum(np.floor(shares * self.steps), self.steps - 1)
        steps[shares < ROUNDING] = -1
        steps[shares > 1 - ROUNDING] = self.steps
        return steps.astype(np.intp)

    def _told(self, step: int) -> str:
        return "none" if step < 0 else "all" if step == self.steps else str(step)
