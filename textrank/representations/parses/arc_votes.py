"""ArcVotes: a dependency parse as counts of its arcs by how many other parses have them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.pairs.entity_pair import Bag, bags
from textrank.representations.parses.arc_features import far
from textrank.representations.parses.support import known_parse
from textrank.types import Features

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
        return bags(self._bag(c) for c in track(candidates, "votes", len(candidates)))

    def _bag(self, candidate: Candidate) -> Bag:
        counts = Counter(self._named(candidate))
        root: float = max(len(candidate.doc), 1) ** 0.5
        return {name: count / root for name, count in counts.items()}

    def _named(self, candidate: Candidate) -> Iterator[tuple[str, ...]]:
        known = known_parse(candidate)
        rows = zip(candidate.doc, known["arcs"], known["heads"], strict=True)
        for token, arc, head in rows:
            label = token.dep_ if token.head.i != token.i else "ROOT"
            above = token.head.tag_ if token.head.i != token.i else ""
            all_votes = self._step(sum(arc) / len(arc))
            yield "votes", *map(self._step, arc)
            yield "head's votes", *map(self._step, head)
            yield "label, votes", label, all_votes
            yield "tag, votes", token.tag_, all_votes
            yield "tags, votes", above, token.tag_, all_votes
            yield "label, length, votes", label, far(token.i - token.head.i), all_votes

    def _step(self, share: float) -> str:
        if share < ROUNDING or share > 1 - ROUNDING:
            return "none" if share < 0.5 else "all"
        return str(min(math.floor(share * self.steps), self.steps - 1))
