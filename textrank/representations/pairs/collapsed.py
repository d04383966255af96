"""spaCy's parse with prepositions and coordinations collapsed, as the PPI corpora have theirs.

In a tree "A interacts with B and C" joins A to C over five words; collapsed, ``prep_with`` leads
from the verb straight to B and to C. Paths between names become short and tell the preposition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from spacy.tokens import Doc, Token

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
    own = [triple for token in doc for triple in _own(token)]
    joined = [triple for token in doc for triple in _conjuncts(token)]
    governed: dict[int, list[Triple]] = {}
    for triple in own:
        governed.setdefault(triple[1], []).append(triple)
    taken = [
        (governor, conjunct, kind)
        for first, conjunct, _ in joined
        for governor, _, kind in governed.get(first, ())
        if governor != conjunct
    ]
    found = [*own, *joined, *taken, *_subjects(doc, own, joined)]
    return sorted(dict.fromkeys(found), key=lambda triple: (triple[1], triple[0]))


def _own(token: Token) -> Iterator[Triple]:
    """The dependencies of a token on its governor, past a preposition; none for a conjunct."""
    head = token.head
    if head.i == token.i or token.dep_ == "conj":
        return
    if token.dep_ in ("pobj", "pcomp") and head.dep_ in ("prep", "agent", "dative"):
        yield head.head.i, token.i, _past(head, token.dep_)
    elif token.dep_ in ("prep", "agent") and _has_object(token):
        return
    else:
        yield head.i, token.i, _RENAMED.get(token.dep_, token.dep_)


def _past(preposition: Token, object_: str) -> str:
    if preposition.dep_ == "agent":
        return "agent"
    return f"{'prepc' if object_ == 'pcomp' else 'prep'}_{preposition.lower_}"


def _has_object(preposition: Token) -> bool:
    return any(child.dep_ in ("pobj", "pcomp") for child in preposition.children)


def _conjuncts(token: Token) -> list[Triple]:
    """The conjuncts of a first conjunct, each with the word that joins them."""
    if token.dep_ == "conj":
        return []
    members, at = [token], 0
    while at < len(members):
        members += [child for child in members[at].children if child.dep_ == "conj"]
        at += 1
    words = [child.lower_ for m in members for child in m.children if child.dep_ == "cc"]
    kind = f"conj_{words[0] if words else 'and'}"
    return [(token.i, member.i, kind) for member in members[1:]]


def _subjects(doc: Doc, own: list[Triple], joined: list[Triple]) -> Iterator[Triple]:
    having = {governor for governor, _, kind in own if kind in _SHARED}
    for first, conjunct, _ in joined:
        if conjunct in having or not doc[conjunct].tag_.startswith("VB"):
            continue
        for governor, dependent, kind in own:
            if governor == first and kind in _SHARED:
                yield conjunct, dependent, kind
