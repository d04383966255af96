"""Read treebank files as sentences: CoNLL-U, as CRAFT and GENIA have it, and bracketed trees."""

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
    """Sentence with its dependency tree.

    ``heads`` are word indices, -1 at the root, whose label is "ROOT". ``spaces`` say whether a
    space follows each word.
    """

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
    """Constituent that covers the tokens ``start:end``; a leaf has no children."""

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


def iter_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, which may be gzipped."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        yield from lines


def unescape(word: str) -> str:
    """Return the word as it was written: ``-LRB-`` is an opening bracket."""
    return _ESCAPED.sub(lambda match: _BRACKETS[match.group()], word)


def read_conllu(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file, without multiword tokens and empty nodes.

    Raises ValueError for a line that does not have ten columns.
    """
    comments: dict[str, str] = {}
    rows: list[list[str]] = []
    document = ""
    for line in iter_lines(path):
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
    """Yield the sentences of a file of JSON lines ``{"sent_id", "pmid", "tree"}``.

    The tree is in Penn brackets.
    """
    for line in iter_lines(path):
        row = json.loads(line)
        words: list[str] = []
        tree = parse_brackets(row["tree"], words)
        tags = [leaf.category for leaf in iter_leaves(tree)]
        yield TreeSentence(words, tags, tree, row["pmid"], row["sent_id"])


def parse_brackets(text: str, words: list[str]) -> Tree:
    """Return the tree of a Penn bracketing and append its words to ``words``, in place.

    Raises ValueError unless the text is one balanced tree.

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


def iter_leaves(tree: Tree) -> Iterator[Tree]:
    """Yield the leaves from left to right."""
    if not tree.children:
        yield tree
    for child in tree.children:
        yield from iter_leaves(child)
