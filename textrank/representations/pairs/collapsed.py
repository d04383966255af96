"""spaCy's parse with prepositions and coordinations collapsed, as the PPI corpora have theirs.

In a tree "A interacts with B and C" joins A to C over five words; collapsed, ``prep_with`` leads
from the verb straight to B and to C. Paths between names become short and tell the preposition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from textrank.representations.pairs.clauses import Table

Triple: TypeAlias = tuple[int, int, str]  # governor, dependent, type
Mask: TypeAlias = NDArray[np.bool_]

_RENAMED = {
    "compound": "nn",
    "nmod": "nn",
    "nummod": "num",
    "relcl": "rcmod",
    "acl": "partmod",
    "dative": "iobj",
}
_SHARED = ("nsubj", "nsubjpass")  # what later verbs of a coordination take over from the first


def collapsed(doc: Doc, wanted: Mask | None = None, table: Table | None = None) -> list[Triple]:
    """The dependencies of a parsed Doc as (governor, dependent, type), a graph and no tree.

    A preposition with its object becomes one dependency ``prep_<word>`` (``prepc_<word>`` before
    a clause, ``agent`` for the by of a passive). Conjuncts all hang on the first one by
    ``conj_<word>``, take over its governor, and verbs among them its subject. Labels are those of
    spaCy's English parsers; others stay as they are. Where only the sentences of some tokens are
    ``wanted``, others are not looked at; ``table`` has heads and labels to read in their place.
    """
    tree = _Tree.of(doc, wanted, table)
    own = [triple for token in tree.tokens if (triple := _own(tree, token))]
    joined = [triple for token in sorted(tree.joined) for triple in _conjuncts(tree, token)]
    governed = {triple[1]: triple for triple in own}
    taken = [
        (governed[first][0], conjunct, governed[first][2])
        for first, conjunct, _ in joined
        if first in governed and governed[first][0] != conjunct
    ]
    found = [*own, *joined, *taken, *_subjects(tree, own, joined)]
    return sorted(dict.fromkeys(found), key=lambda triple: (triple[1], triple[0]))


@dataclass(frozen=True, eq=False)
class _Tree:
    """The parse of a Doc as lists: asking each token for its head and children takes far longer."""

    doc: Doc
    tokens: list[int]  # those to look at
    heads: list[int]
    labels: list[str]
    children: dict[int, list[int]]  # conjuncts and what joins them, in the order of the text
    objects: frozenset[int]  # tokens with an object of a preposition
    joined: frozenset[int]  # tokens with a conjunct

    @classmethod
    def of(cls, doc: Doc, wanted: Mask | None = None, table: Table | None = None) -> _Tree:
        table = np.asarray(doc.to_array(["HEAD", "DEP"])) if table is None else table[:, 2:]
        heads = table[:, 0].astype(np.int64) + np.arange(len(doc))  # counted from the token
        if wanted is None or (wanted[heads] != wanted).any():  # arcs lead out of sentences
            tokens = np.arange(len(doc))
        else:
            tokens = np.flatnonzero(wanted)
        codes, number = np.unique(table[:, 1], return_inverse=True)
        words = [doc.vocab.strings[code] for code in codes.tolist()]
        below = tokens[heads[tokens] != tokens]
        kinds = [words[n] for n in number[below].tolist()]
        children: dict[int, list[int]] = {}
        objects, joined = set(), set()
        for token, head, label in zip(below.tolist(), heads[below].tolist(), kinds, strict=True):
            if label in ("pobj", "pcomp"):
                objects.add(head)
            elif label in ("conj", "cc"):
                children.setdefault(head, []).append(token)
                if label == "conj":
                    joined.add(head)
        labels = [words[n] for n in number.tolist()]
        return cls(
            doc, tokens.tolist(), heads.tolist(), labels, children, frozenset(objects),
            frozenset(joined),
        )  # fmt: skip


def _own(tree: _Tree, token: int) -> Triple | None:
    """The dependency of a token on its governor, past a preposition; none for a conjunct."""
    head, label = tree.heads[token], tree.labels[token]
    if head == token or label == "conj":
        return None
    if label in ("pobj", "pcomp") and tree.labels[head] in ("prep", "agent", "dative"):
        return tree.heads[head], token, _past(tree, head, label)
    if label in ("prep", "agent") and token in tree.objects:
        return None
    return head, token, _RENAMED.get(label, label)


def _past(tree: _Tree, preposition: int, object_: str) -> str:
    if tree.labels[preposition] == "agent":
        return "agent"
    word = tree.doc[preposition].lower_
    return f"{'prepc' if object_ == 'pcomp' else 'prep'}_{word}"


def _conjuncts(tree: _Tree, token: int) -> list[Triple]:
    """The conjuncts of a first conjunct, each with the word that joins them."""
    if tree.labels[token] == "conj" or token not in tree.joined:
        return []
    members, at = [token], 0
    while at < len(members):
        below = tree.children.get(members[at], ())
        members += [child for child in below if tree.labels[child] == "conj"]
        at += 1
    joining = (child for m in members for child in tree.children.get(m, ()))
    first = next((child for child in joining if tree.labels[child] == "cc"), None)
    kind = f"conj_{'and' if first is None else tree.doc[first].lower_}"
    return [(token, member, kind) for member in members[1:]]


def _subjects(tree: _Tree, own: list[Triple], joined: list[Triple]) -> Iterator[Triple]:
    having: dict[int, list[Triple]] = {}
    for triple in own:
        if triple[2] in _SHARED:
            having.setdefault(triple[0], []).append(triple)
    for first, conjunct, _ in joined:
        if conjunct in having or not tree.doc[conjunct].tag_.startswith("VB"):
            continue
        for _, dependent, kind in having.get(first, ()):
            yield conjunct, dependent, kind
