"""ParseSequences: a dependency parse as seven sequences of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from spacy.tokens import Doc, Span

from textrank.docs import Candidate
from textrank.progress import track
from textrank.representations.contexts.words import check_form, written
from textrank.types import Sequences, Viewed

TYPES = (
    "bigram",
    "word_tag",
    "link_type",
    "word_link",
    "link_length",
    "length_type",
    "link_bigram",
)

Link = tuple[int, int, str]  # left token, right token, type


@dataclass(frozen=True)
class ParseSequences:
    """Seven views of a parse, each the sequence of one type of feature in order of appearance.

    ``bigram``: two linked words; ``word_tag``: a word and its part of speech; ``link_type``;
    ``word_link``: a word and the type of each link it has; ``link_length``: words a link spans;
    ``length_type``: both; ``link_bigram``: two links that meet in a word, leftmost first. Features
    of links are ordered by their left, then their right word.

    The links are those of the candidate's sentence: given ones (``doc.user_data["dependencies"]``,
    such as a link grammar linkage) or those of the tree in the Doc. A kernel on all of them is
    ``EachView(LocalityConvolution())``; ``Sum`` and ``OnView`` give each type its own settings.

    Tsivtsivadze et al. (2009), Applied Intelligence 31:81-88.

    Parameters
    ----------
    types
        The views to make.
    form
        The form of words: "raw", "lower", "lemma", "porter" or "snowball".
    directed
        Whether the type of a link tells on which side its governor stands; the published features
        do not.
    """

    types: Sequence[str] = TYPES
    form: str = "lower"
    directed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", tuple(self.types))
        check_form(self.form)
        unknown = [name for name in self.types if name not in TYPES]
        if unknown or not self.types:
            raise ValueError(f"types must be some of {TYPES}, got {self.types}")

    def __call__(self, candidates: Sequence[Candidate]) -> Viewed:
        sequences: dict[str, list[list[str]]] = {name: [] for name in self.types}
        for candidate in track(candidates, "parses", len(candidates)):
            parse = _Parse.of(candidate, self)
            for name in self.types:
                sequences[name].append(getattr(parse, name)())
        return Viewed({name: Sequences.of(lists) for name, lists in sequences.items()})


@dataclass(frozen=True)
class _Parse:
    """Words, tags and links of one sentence."""

    words: list[str]
    tags: list[str]
    links: list[Link]

    @classmethod
    def of(cls, candidate: Candidate, settings: ParseSequences) -> _Parse:
        sentence = _sentence(candidate)
        words = [written(token.text, token.lemma_, settings.form) for token in sentence]
        start = sentence.start
        links = []
        for governor, dependent, kind in _dependencies(candidate, sentence):
            left, right = sorted((governor - start, dependent - start))
            side = (">" if governor < dependent else "<") if settings.directed else ""
            links.append((left, right, kind + side))
        return cls(words, [token.tag_ for token in sentence], sorted(links))

    def bigram(self) -> list[str]:
        return [f"{self.words[left]} {self.words[right]}" for left, right, _ in self.links]

    def word_tag(self) -> list[str]:
        return [f"{word}/{tag}" for word, tag in zip(self.words, self.tags, strict=True)]

    def link_type(self) -> list[str]:
        return [kind for _, _, kind in self.links]

    def word_link(self) -> list[str]:
        return [
            f"{word} {kind}"
            for word, at in zip(self.words, self._at_words(), strict=True)
            for _, kind in at
        ]

    def link_length(self) -> list[str]:
        return [str(right - left) for left, right, _ in self.links]

    def length_type(self) -> list[str]:
        return [f"{right - left} {kind}" for left, right, kind in self.links]

    def link_bigram(self) -> list[str]:
        return [
            f"{first} {second}"
            for at in self._at_words()
            for (_, first), (_, second) in combinations(at, 2)
        ]

    def _at_words(self) -> list[list[tuple[int, str]]]:
        """The links of each word, leftmost other end first."""
        at: list[list[tuple[int, str]]] = [[] for _ in self.words]
        for left, right, kind in self.links:
            at[left].append((right, kind))
            at[right].append((left, kind))
        return [sorted(links) for links in at]


def _sentence(candidate: Candidate) -> Span:
    """The sentence of the candidate's span; the whole Doc for a parse without one."""
    doc = candidate.doc
    if candidate.spans and doc.has_annotation("SENT_START"):
        return candidate.spans[0].sent
    return doc[0 : len(doc)]


def _dependencies(candidate: Candidate, sentence: Span) -> list[tuple[int, int, str]]:
    """(governor, dependent, type) within the sentence; roots and self-loops link nothing."""
    doc: Doc = candidate.doc
    if "dependencies" in doc.user_data:
        given = [(g, d, kind) for g, d, kind in doc.user_data["dependencies"]]
    elif len(doc) == 0 or doc.has_annotation("DEP"):
        given = [(token.head.i, token.i, token.dep_) for token in sentence]
    else:
        raise ValueError(
            f"document {candidate.document!r} has no parse. Add a parser to the spaCy pipeline, "
            "or read a corpus with dependencies."
        )
    inside = range(sentence.start, sentence.end)
    return [(g, d, kind) for g, d, kind in given if g != d and g in inside and d in inside]
