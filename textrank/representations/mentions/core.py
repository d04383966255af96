"""The core of a name: what is left of it without the words that say what kind of thing it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from spacy.tokens import Span

from textrank.docs import Candidate, LooseRepresentation, Representation, tokens_of
from textrank.types import Indices, Repeated

_KINDS = """
gene genes oncogene oncogenes proto-oncogene proto-oncogenes pseudogene locus loci allele alleles
promoter promoters enhancer enhancers silencer exon exons intron introns codon cdna cdnas dna region
regions element elements site sites sequence sequences motif motifs fragment fragments segment
construct constructs plasmid plasmids vector vectors cluster clone clones probe reporter genotype
haplotype polymorphism polymorphisms mutation mutations variant variants rna rnas mrna mrnas
pre-mrna messenger message messages transcript transcripts utr protein proteins polypeptide
polypeptides peptide peptides molecule molecules product products isoform isoforms
"""
KINDS = frozenset(_KINDS.split())
LINKS = frozenset(("of", "for", "to", "encoding", "in", "from", "the"))


@dataclass(frozen=True)
class Once:
    """A representation made once for all candidates of the same words, such as a question each."""

    representation: Representation[Any]

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        return self.shared(candidates).whole()

    def shared(self, candidates: Sequence[Candidate]) -> Repeated:
        """The representation of each words, and which candidates have it."""
        first, at = of_same_words(candidates)
        return Repeated(self.representation(first), at)

    def loose(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        """The representation of candidates whose words differ, see ``of_same_words``."""
        return loosely(self.representation, candidates)


def of_same_words(candidates: Sequence[Candidate]) -> tuple[list[Candidate], Indices]:
    """The first candidate of each words, and for every candidate which of these has its words."""
    rows: dict[tuple[Any, ...], int] = {}
    first: list[Candidate] = []
    at: list[int] = []
    for number, candidate in enumerate(candidates):
        if number and candidate.spans is candidates[number - 1].spans:
            at.append(at[-1])
            continue
        places = tuple((span.start, span.end, span.id) for span in candidate.spans)
        at.append(rows.setdefault((id(candidate.doc), *places), len(rows)))
        if at[-1] == len(first):
            first.append(candidate)
    return first, np.array(at, dtype=np.intp)


def loosely(represent: Representation[Any], candidates: Sequence[Candidate]) -> Sequence[Any]:
    """The representation in the form that is made soonest."""
    if isinstance(represent, LooseRepresentation):
        return represent.loose(candidates)
    return represent(candidates)


@dataclass(frozen=True)
class Core:
    """A representation of the core of each name: "IL-2 gene" and "IL-2" before "gene" are alike.

    A recogniser takes such a word into a name or leaves it out; read so, it is context both times.
    ``representation`` is that of candidates with their span ``focus`` cut down to its core.
    """

    representation: Representation[Any]
    focus: int = 0

    def __call__(self, candidates: Sequence[Candidate]) -> Sequence[Any]:
        return self.representation([self._cut(candidate) for candidate in candidates])

    def _cut(self, candidate: Candidate) -> Candidate:
        span = candidate.spans[self.focus]
        start, end = core_of(span)
        if (start, end) == (span.start, span.end):
            return candidate
        spans = list(candidate.spans)
        spans[self.focus] = Span(span.doc, start, end, label=span.label, span_id=span.id)
        return replace(candidate, spans=tuple(spans))


def core_of(span: Span) -> tuple[int, int]:
    """First token and end of a name without words of a kind at its ends; all where only these are.

    >>> import spacy
    >>> doc = spacy.blank("en")("exon 3 of the BRCA1 gene promoter")
    >>> core_of(doc[:]), core_of(doc[5:])
    ((4, 5), (5, 7))
    """
    first, last = span[0].lower_, span[-1].lower_
    if not {first, last} & KINDS or len(tokens_of(span)) != len(span):
        return span.start, span.end
    words = [token.lower_ for token in span]
    start, end = _head(words), len(words)
    while end > start and words[end - 1] in KINDS:
        end -= 1
    if end <= start or not any(word.isalnum() or len(word) > 1 for word in words[start:end]):
        return span.start, span.end
    return span.start + start, span.start + end


def _head(words: Sequence[str]) -> int:
    """Where a name begins after a kind with a number and a link, as in "exon 3 of the"."""
    at = 0
    while at < len(words) and words[at] in KINDS:
        at += 1
    if not at:
        return 0
    linked = at
    while linked < len(words) and (words[linked] in LINKS or words[linked].isdigit()):
        linked += 1
    return linked if linked < len(words) and words[linked - 1] in LINKS else 0
