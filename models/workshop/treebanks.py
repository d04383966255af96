"""Treebank files -> sentences: CoNLL-U as CRAFT and GENIA have it, and bracketed trees."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_ESCAPED = re.compile("|".join(_BRACKETS))


@dataclass(frozen=True)
class Sentence:
    """One sentence with its dependency tree; ``heads`` holds -1 at the root."""

    words: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int]
    labels: Sequence[str]
    spaces: Sequence[bool]
    document: str = ""
    name: str = ""
    lemmas: Sequence[str] = ()
    opens_paragraph: bool = False


@dataclass(frozen=True)
class Tree:
    """A constituent; a leaf has no children and ``start`` is its token."""

    category: str
    start: int
    end: int
    children: Sequence[Tree] = field(default=())


@dataclass(frozen=True)
class TreeSentence:
    """One sentence with its phrase-structure tree."""

    words: Sequence[str]
    tags: Sequence[str]
    tree: Tree
    document: str
    name: str


def lines_of(path: Path) -> Iterator[str]:
    """Lines of a text file, packed or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        yield from lines


def unescape(word: str) -> str:
    """Return the word as it was written: ``-LRB-`` is an opening bracket."""
    return _ESCAPED.sub(lambda match: _BRACKETS[match.group()], word)


def read_conllu(path: Path) -> Iterator[Sentence]:
    """Sentences of a CoNLL-U file; multiword and empty nodes are left out."""
    comments: dict[str, str] = {}
    rows: list[list[str]] = []
    document = ""
    for line in lines_of(path):
        line = line.rstrip("\n")
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            comments[key.strip()] = value.strip()
        elif line:
            row = line.split("\t")
            if len(row) != 10:
                raise ValueError(f"{path}: {len(row)} columns instead of 10 in the line {line!r}")
            if row[0].isdigit():
                rows.append(row)
        elif rows:
            document = comments.get("newdoc id") or comments.get("pmid") or document
            yield _sentence(rows, comments, document)
            comments, rows = {}, []
    if rows:
        yield _sentence(rows, comments, comments.get("pmid", document))


def _sentence(rows: list[list[str]], comments: dict[str, str], document: str) -> Sentence:
    """Return the sentence of CoNLL-U rows and their comments."""
    return Sentence(
        words=[unescape(row[1]) for row in rows],
        tags=[row[4] for row in rows],
        heads=[int(row[6]) - 1 for row in rows],
        labels=["ROOT" if row[6] == "0" else row[7] for row in rows],
        spaces=["SpaceAfter=No" not in row[9] for row in rows],
        document=document,
        name=comments.get("sent_id", ""),
        lemmas=[row[2] for row in rows],
        opens_paragraph="newpar id" in comments,
    )


def read_trees(path: Path) -> Iterator[TreeSentence]:
    """Sentences of a file with one ``{"sent_id", "pmid", "tree"}`` a line, in Penn brackets."""
    for line in lines_of(path):
        row = json.loads(line)
        words: list[str] = []
        tree = parse_brackets(row["tree"], words)
        tags = [leaf.category for leaf in leaves(tree)]
        yield TreeSentence(words, tags, tree, row["pmid"], row["sent_id"])


def parse_brackets(text: str, words: list[str]) -> Tree:
    """Return the tree of a Penn bracketing and append its words to ``words``.

    >>> words = []
    >>> parse_brackets("(TOP (NP (DT the) (NN cell)))", words).children[0].end, words
    (2, ['the', 'cell'])
    """
    stack: list[tuple[str, int, list[Tree]]] = [("", 0, [])]
    for token in re.finditer(r"\((\S+)|([^()\s]+)|\)", text):
        if token.group(1):
            stack.append((token.group(1), len(words), []))
        elif token.group(2):
            words.append(unescape(token.group(2)))
        else:
            category, start, children = stack.pop()
            stack[-1][2].append(Tree(category, start, len(words), children))
    if len(stack) != 1 or len(stack[0][2]) != 1:
        raise ValueError(f"not one balanced tree: {text[:80]!r}")
    return stack[0][2][0]


def leaves(tree: Tree) -> Iterator[Tree]:
    """Yield the leaves from left to right."""
    if not tree.children:
        yield tree
    for child in tree.children:
        yield from leaves(child)
