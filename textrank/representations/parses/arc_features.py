"""ArcFeatures: a dependency parse as counts of what its arcs look like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from spacy.tokens import Doc

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.contexts.words import check_form, written
from textrank.representations.pairs.entity_pair import Bag, bags
from textrank.types import Features

NEAR = (4, 7, 12)  # distances are told apart up to the first, then up to each


@dataclass(frozen=True)
class ArcFeatures:
    """Counts of properties of the arcs of the Doc's tree, over the root of the number of words.

    Of an arc: its label; label with the tags of its ends, with its length, with the word of the
    dependent, of the head; both tags with the length; both words; each tag between its ends, with
    both tags and with the label. Of arcs that meet: labels of neighbouring dependents of a head;
    an arc with the one above it, by labels, tags and sides; an arc with the next one inside it on
    the same side, by labels and tags. Most tell the side on which the head stands. ``form`` is the
    form of words: "raw", "lower", "lemma", "porter" or "snowball".
    """

    form: str = "lower"

    def __post_init__(self) -> None:
        check_form(self.form)

    def __call__(self, candidates: Sequence[Candidate]) -> Features:
        return bags(self._bag(c) for c in track(candidates, "arcs", len(candidates)))

    def _bag(self, candidate: Candidate) -> Bag:
        doc = candidate.doc
        if len(doc) and not doc.has_annotation("DEP"):
            raise ValueError(
                f"document {candidate.document!r} has no parse. Add a parser to the spaCy "
                "pipeline, or read a corpus with dependencies."
            )
        counts = Counter(self._named(doc))
        root: float = max(len(doc), 1) ** 0.5
        return {name: count / root for name, count in counts.items()}

    def _named(self, doc: Doc) -> Iterator[tuple[str, ...]]:
        words = [written(token.text, token.lemma_, self.form) for token in doc]
        tags = [token.tag_ for token in doc]
        labels = [token.dep_ for token in doc]
        heads = [token.head.i for token in doc]
        below: dict[int, list[int]] = {}
        for i, h in enumerate(heads):
            if i == h:
                yield "root", tags[i]
                yield "root word", words[i]
                continue
            below.setdefault(h, []).append(i)
            kind, length = labels[i], far(i - h)
            side = length[0]
            yield "label", kind, side
            yield "label, tags", kind, side, tags[h], tags[i]
            yield "label, length", kind, length
            yield "tags, length", tags[h], tags[i], length
            yield "label, dependent", kind, words[i]
            yield "label, head", kind, words[h]
            yield "words", words[h], words[i]
            for tag in sorted(set(tags[min(i, h) + 1 : max(i, h)])):
                yield "tags, between", tags[h], tags[i], side, tag
                yield "label, between", kind, side, tag
            above = heads[h]
            root = above == h
            yield "labels above", kind, labels[h]
            yield "sides above", kind, labels[h], side, "" if root else far(h - above)[0]
            yield "tags above", kind, labels[h], tags[i], tags[h], "" if root else tags[above]
        for h, children in below.items():
            yield from _beside(tags, labels, h, children)


def _beside(
    tags: Sequence[str], labels: Sequence[str], h: int, children: Sequence[int]
) -> Iterator[tuple[str, ...]]:
    """What the dependents of one head, in order, look like together."""
    for left, right in pairwise(children):
        yield "labels beside", tags[h], labels[left], labels[right]
    yield "dependents", tags[h], str(len(children))
    outwards = {"-": [i for i in children if i < h][::-1], "+": [i for i in children if i > h]}
    for side, own in outwards.items():
        tag = label = ""
        for i in own:
            yield "tags inside", tags[h], tags[i], tag, side
            yield "labels inside", tags[h], labels[i], label, side
            tag, label = tags[i], labels[i]


def far(steps: int) -> str:
    """How far and on which side of its head a word stands; large distances are put together."""
    size = abs(steps)
    if size > NEAR[0]:
        size = next((most for most in NEAR[1:] if size <= most), 0)
    return ("+" if steps > 0 else "-") + (str(size) if size else "far")
