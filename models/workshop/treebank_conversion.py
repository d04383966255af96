"""Convert GENIA sentences to CRAFT's style: CLEAR labels, hyphenated words split.

Stanford dependencies differ from CLEAR in names, in copulas (there the predicate is the head, here
the verb) and in coordination (there a star on the first conjunct, here a chain).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from workshop.treebanks import Sentence

from textrank.language.segmentation import tokenize_chunk

_RENAMED = {
    "nn": "compound",
    "num": "nummod",
    "number": "compound",
    "vmod": "acl",
    "rcmod": "relcl",
    "possessive": "case",
    "tmod": "npadvmod",
    "mwe": "advmod",
}
# What belongs to the clause and not to its predicate, and so moves to the copula.
_CLAUSAL = {
    "nsubj", "nsubjpass", "csubj", "csubjpass", "aux", "neg", "mark", "punct", "advcl", "expl",
    "parataxis", "ccomp", "cc", "preconj", "discourse",
}  # fmt: skip
_NOMINAL = ("NN", "CD", "PRP", "DT", "WP", "EX", "WDT")
_VERBAL = ("VB", "MD")


def to_clear(sentence: Sentence) -> Sentence:
    """Convert a sentence from Stanford basic dependencies to CLEAR."""
    tags = list(sentence.tags)
    heads = list(sentence.heads)
    labels = [_RENAMED.get(label, label) for label in sentence.labels]
    for i, label in enumerate(labels):
        if label == "prep" and tags[i] == "TO":
            tags[i] = "IN"
        if label == "prep" and sentence.words[i].lower() == "by" and tags[heads[i]] == "VBN":
            labels[i] = "agent"
    for copula in [i for i, label in enumerate(labels) if label == "cop"]:
        _raise_copula(copula, tags, heads, labels)
    _chain_conjuncts(heads, labels)
    _lift_crossing_arcs(heads)
    return replace(sentence, tags=tags, heads=heads, labels=labels)


def _raise_copula(copula: int, tags: list[str], heads: list[int], labels: list[str]) -> None:
    """Make the copula of ``X is good`` the head of its predicate, in place.

    The predicate becomes acomp, attr, prep or advmod by its tag; dependents of the clause move to
    the copula (``_moves_to_copula``).
    """
    predicate = heads[copula]
    heads[copula], labels[copula] = heads[predicate], labels[predicate]
    heads[predicate] = copula
    tag = tags[predicate]
    if tag.startswith(("JJ", "VB")):
        labels[predicate] = "acomp"
    elif tag.startswith(_NOMINAL):
        labels[predicate] = "attr"
    else:
        labels[predicate] = "prep" if tag in ("IN", "TO") else "advmod"
    verbs = [i for i, h in enumerate(heads) if h == predicate and labels[i] in ("conj", "dep")]
    clauses = {i for i in verbs if tags[i].startswith(_VERBAL) or _is_clause(i, heads, labels)}
    for i, head in enumerate(heads):
        if (
            head == predicate
            and i != copula
            and _moves_to_copula(i, copula, predicate, labels, clauses)
        ):
            heads[i] = copula


def _is_clause(token: int, heads: Sequence[int], labels: Sequence[str]) -> bool:
    """Return whether a token has a subject, a copula or an auxiliary."""
    child_labels = {labels[i] for i, head in enumerate(heads) if head == token}
    return bool(child_labels & {"nsubj", "nsubjpass", "cop", "aux"})


def _moves_to_copula(
    token: int, copula: int, predicate: int, labels: Sequence[str], clauses: set[int]
) -> bool:
    """Return whether a dependent of the predicate belongs to the clause, and so to the copula.

    ``clauses`` are the conjuncts and unlabelled dependents of the predicate that are clauses.
    """
    label = labels[token]
    if label in ("conj", "dep"):
        return token in clauses
    if label in ("cc", "preconj"):  # with the conjunct that follows it
        return any(clause > token for clause in clauses)
    if label == "punct":  # only what is outside the predicate
        return token < copula or token > predicate
    return label in _CLAUSAL or (label in ("advmod", "prep", "npadvmod") and token < copula)


def _chain_conjuncts(heads: list[int], labels: list[str]) -> None:
    """Attach each conjunct of ``A, B and C`` to the conjunct before it, in place.

    Commas and conjunctions between are attached to the conjunct that precedes them.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for i, label in enumerate(labels):
        if label == "conj" and heads[i] < i:
            groups[heads[i]].append(i)
    for first, conjuncts in groups.items():
        if len(conjuncts) < 2:
            continue
        chain = [first, *conjuncts]
        between = range(first + 1, conjuncts[-1])
        loose = [i for i in between if heads[i] == first and labels[i] in ("cc", "punct")]
        for previous, conjunct in pairwise(chain):
            heads[conjunct] = previous
        for i in loose:
            heads[i] = max(c for c in chain if c < i)


def _lift_crossing_arcs(heads: list[int]) -> None:
    """Attach tokens whose arc crosses another to the head of their head, in place.

    Repeated until no arcs cross, because spaCy's parser cannot predict crossing arcs.
    """
    while (token := _find_crossing(heads)) is not None:
        heads[token] = heads[heads[token]]


def _find_crossing(heads: Sequence[int]) -> int | None:
    """Return the token with the shortest arc over a token that is not below its head.

    None if no arcs cross.
    """
    crossing: list[tuple[int, int]] = []
    for token, head in enumerate(heads):
        for between in range(min(token, head) + 1, max(token, head)) if head >= 0 else ():
            ancestor = between
            while ancestor >= 0 and ancestor not in (head, token):
                ancestor = heads[ancestor]
            if ancestor < 0:
                crossing.append((abs(token - head), token))
                break
    return min(crossing)[1] if crossing else None


@dataclass(frozen=True)
class Splitter:
    """Split the words of sentences as the tokenizer does, and attach the parts to each other.

    The last part has the place of the word in the sentence, unless it is a number or a sign (``IL -
    2``, where it is the noun). ``lexicon`` has the usual tag of a part.
    """

    lexicon: Mapping[str, str]

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sentence]) -> Splitter:
        """Build a splitter from the most frequent tag of each word of these sentences."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            for word, tag in zip(sentence.words, sentence.tags, strict=True):
                counts[word.lower()][tag] += 1
        return cls({word: tags.most_common(1)[0][0] for word, tags in counts.items()})

    def __call__(self, sentence: Sentence) -> Sentence:
        """Return the sentence in the words of the tokenizer."""
        pieces = [
            [part for plain in word.split() for part in tokenize_chunk(plain)]
            for word in sentence.words
        ]
        first = [0]
        for piece in pieces:
            first.append(first[-1] + len(piece))
        tags = [self._tags(p, t) for p, t in zip(pieces, sentence.tags, strict=True)]
        inner = [_attach_parts(p, t) for p, t in zip(pieces, tags, strict=True)]
        top = [start + heads.index(-1) for start, (heads, _) in zip(first, inner, strict=False)]

        heads: list[int] = []
        labels: list[str] = []
        for i, (part_heads, part_labels) in enumerate(inner):
            outer = sentence.heads[i]
            above = -1 if outer < 0 else top[outer]
            heads += [above if head < 0 else first[i] + head for head in part_heads]
            labels += [label or sentence.labels[i] for label in part_labels]
        return Sentence(
            words=[part for piece in pieces for part in piece],
            tags=[tag for each in tags for tag in each],
            heads=heads,
            labels=labels,
            spaces=[k == len(piece) - 1 for piece in pieces for k in range(len(piece))],
            document=sentence.document,
            name=sentence.name,
        )

    def _tags(self, parts: Sequence[str], whole: str) -> list[str]:
        """Return the tags of the parts of a word whose tag is ``whole``.

        The last part that is not a sign gets the tag of the word, unless it is a number or
        ``_keeps_tag``.
        """
        if len(parts) == 1:
            return [whole]
        tags = [self._tag(part) for part in parts]
        last = max(i for i, part in enumerate(parts) if part[0].isalnum() or i == 0)
        if not parts[last][0].isdigit() and not _keeps_tag(tags[last], whole):
            tags[last] = whole
        return tags

    def _tag(self, part: str) -> str:
        """Return the tag of a part of a word by its form: HYPH, CD, its usual tag, NN or SYM."""
        if part in "-–/":
            return "HYPH"
        usual = self.lexicon.get(part.lower())
        if part[0].isalnum():
            return "CD" if part.isdigit() else usual if usual and usual[0] in "NJVR" else "NN"
        return usual or "SYM"


def _keeps_tag(part_tag: str, whole: str) -> bool:
    """Return whether a part keeps its tag, as the participle in ``IL-2-mediated`` (JJ) does."""
    return whole == "JJ" and part_tag in ("VBN", "VBG", "JJ")


def _attach_parts(parts: Sequence[str], tags: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return heads and labels of the parts of a word.

    The part that represents the word in the sentence has the head -1 and the label "".
    """
    words = [i for i, part in enumerate(parts) if part[0].isalnum()] or [0]
    nouns = [i for i in words if tags[i] != "CD"]
    top = nouns[-1] if nouns else words[-1]
    heads = [top] * len(parts)
    labels = ["punct"] * len(parts)
    for i in words:
        left = [k for k in nouns if k < i]
        right = [k for k in nouns if k > i]
        if tags[i] == "CD" and left and tags[left[-1]].startswith("NN"):
            heads[i], labels[i] = left[-1], "nummod"
        elif i != top:
            heads[i] = right[0] if right else top
            labels[i] = _inner_label(tags[i], tags[heads[i]])
    for i, part in enumerate(parts):
        if part in "-–/" and 0 < i < len(parts) - 1:
            after, before = i + 1, i - 1
            heads[i] = after if after in words and heads[after] != before else before
            if heads[i] not in words:
                heads[i] = top
    heads[top], labels[top] = -1, ""
    return heads, labels


def _inner_label(tag: str, head: str) -> str:
    """Return the label of a part of a word by its tag and the tag of its head."""
    if tag == "CD":
        return "nummod"
    if tag.startswith("RB"):
        return "advmod"
    if tag.startswith(("JJ", "VB")):
        return "amod"
    return "compound" if head.startswith(("NN", "CD")) else "npadvmod"
