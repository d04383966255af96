"""spaCy's parse with prepositions and coordinations collapsed, as the PPI corpora have theirs.

In a tree "A interacts with B and C" joins A to C over five words; collapsed, ``prep_with`` leads
from the verb straight to B and to C. Paths between names become short and tell the preposition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from spacy.tokens import Doc

Triple: TypeAlias = tuple[int, int, str]  # governor, dependent, type

_RENAMED = {
    "compound": "nn",
    "nmod": "nn",
    "nummod": "num",
    "relcl": "rcmod",
    "acl": "partmod",
    "dative": "iobj",
}
_SHARED = ("nsubj", "nsubjpass")  # what later verbs of a coordination take over from the first


def collapsed(doc: Doc) -> list[Triple]:
    """The dependencies of a parsed Doc as (governor, dependent, type), a graph and no tree.

    A preposition with its object becomes one dependency ``prep_<word>`` (``prepc_<word>`` before
    a clause, ``agent`` for the by of a passive). Conjuncts all hang on the first one by
    ``conj_<word>``, take over its governor, and verbs among them its subject. Labels are those of
    spaCy's English parsers; others stay as they are.
    """
    tree = _Tree.of(doc)
    own = [triple for token in range(len(doc)) if (triple := _own(tree, token))]
    joined = [triple for token in sorted(tree.joined) for triple in _conjuncts(tree, token)]
    governed: dict[int, list[Triple]] = {}
    for triple in own:
        governed.setdefault(triple[1], []).append(triple)
    taken = [
        (governor, conjunct, kind)
        for first, conjunct, _ in joined
        for governor, _, kind in governed.get(first, ())
        if governor != conjunct
    ]
    found = [*own, *joined, *taken, *_subjects(tree, own, joined)]
    return sorted(dict.fromkeys(found), key=lambda triple: (triple[1], triple[0]))


@dataclass(frozen=True, eq=False)
class _Tree:
    """The parse of a Doc as lists: asking each token for its head and children takes far longer."""

    doc: Doc
    heads: list[int]
    labels: list[str]
    children: dict[int, list[int]]  # of tokens that have any, in the order of the text
    objects: frozenset[int]  # tokens with an object of a preposition
    joined: frozenset[int]  # tokens with a conjunct

    @classmethod
    def of(cls, doc: Doc) -> _Tree:
        table = doc.to_array(["HEAD", "DEP"]).astype(np.int64)  # heads are counted from the token
        heads = (table[:, 0] + np.arange(len(doc))).tolist()
        strings = doc.vocab.strings
        labels = [strings[label] for label in table[:, 1].view(np.uint64).tolist()]
        children: dict[int, list[int]] = {}
        for token, head in enumerate(heads):
            if token != head:
                children.setdefault(head, []).append(token)
        below = [(heads[t], label) for t, label in enumerate(labels) if heads[t] != t]
        objects = frozenset(head for head, label in below if label in ("pobj", "pcomp"))
        joined = frozenset(head for head, label in below if label == "conj")
        return cls(doc, heads, labels, children, objects, joined)


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
