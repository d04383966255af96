"""Convert phrase-structure trees to dependencies by three linear models.

The models are trained on sentences with both analyses. Bottom-up, each constituent gets a head
child; each other child gets a governor among its sisters (nearly always the head child, but flat
coordinations are chains) and a label. All constituents of one height are decided in one matrix
product, since a call per sentence costs more than the decisions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier
from workshop.treebanks import Sentence, Tree, TreeSentence

_HASHER = FeatureHasher(n_features=2**18, input_type="string")
_CLOSED_CLASS_TAGS = {
    "IN",
    "TO",
    "DT",
    "CC",
    "WDT",
    "WP",
    "WP$",
    "WRB",
    "MD",
    "PRP",
    "PRP$",
    "RP",
    "EX",
}
_FORMS_OF_BE = {"be", "is", "are", "was", "were", "been", "being", "'s", "am"}


@dataclass(frozen=True)
class _Node:
    """Constituent with several children; ``sentence`` is the index of its sentence."""

    sentence: int
    tree: Tree
    role: str  # category of the constituent above


@dataclass(frozen=True)
class Converter:
    """Converter of the trees of a treebank to its dependencies; made by ``Converter.fit``."""

    head_model: Any
    governor_model: Any
    label_model: Any

    @classmethod
    def fit(cls, trees: Sequence[TreeSentence], sentences: Sequence[Sentence]) -> Converter:
        """Train on sentences in both forms, matched by name.

        Every tree needs a sentence of its name; pairs that differ in their number of words are
        skipped.
        """
        gold = {s.name: s for s in sentences}
        pairs = [(t, gold[t.name]) for t in trees if len(gold[t.name].words) == len(t.words)]
        heads, governors, labels = _Examples(), _Examples(), _Examples()
        for tree, sentence in pairs:
            for node in _iter_nodes([tree]):
                _add_node_examples(node, tree, sentence, heads, governors, labels)
        return cls(heads.fit(), governors.fit(), labels.fit())

    def __call__(self, trees: Sequence[TreeSentence]) -> list[Sentence]:
        """Return the dependencies of each tree, in the same order."""
        head_of: list[dict[int, int]] = [{} for _ in trees]  # id of a constituent -> its head token
        arcs: list[dict[int, tuple[int, str]]] = [{} for _ in trees]
        by_height: dict[int, list[_Node]] = defaultdict(list)
        for node in _iter_nodes(trees):
            by_height[_height(node.tree)].append(node)
        for height in sorted(by_height):
            self._decide(by_height[height], trees, head_of, arcs)
        return [_with_arcs(tree, arc) for tree, arc in zip(trees, arcs, strict=True)]

    def _decide(
        self,
        nodes: Sequence[_Node],
        trees: Sequence[TreeSentence],
        head_of: list[dict[int, int]],
        arcs: list[dict[int, tuple[int, str]]],
    ) -> None:
        """Choose head children, governors and labels of constituents of one height, in place."""
        tokens = [[_head_token(c, head_of[n.sentence]) for c in n.tree.children] for n in nodes]
        contexts = [
            (node, trees[node.sentence], toks) for node, toks in zip(nodes, tokens, strict=True)
        ]
        head_children = _best_of_groups(
            self.head_model, [list(_head_features(*context)) for context in contexts]
        )
        links = []  # (which node, child)
        options = []
        for i, (context, head) in enumerate(zip(contexts, head_children, strict=True)):
            head_of[context[0].sentence][id(context[0].tree)] = tokens[i][head]
            for child in range(len(tokens[i])):
                if child != head:
                    links.append((i, child))
                    options.append(list(_governor_features(*context, head, child)))
        choices = _best_of_groups(self.governor_model, options)
        governors: list[dict[int, int]] = [{} for _ in nodes]
        for (i, child), choice in zip(links, choices, strict=True):
            others = [k for k in range(len(tokens[i])) if k != child]
            governors[i][child] = others[choice]
        for i, head in enumerate(head_children):
            _break_cycles(governors[i], head)
        features = [
            _label_features(*contexts[i], head_children[i], governors[i][c], c) for i, c in links
        ]
        for (i, child), label in zip(links, _predict(self.label_model, features), strict=True):
            node = nodes[i]
            arcs[node.sentence][tokens[i][child]] = (tokens[i][governors[i][child]], label)


class _Examples:
    """Hashed features of training examples with their labels."""

    def __init__(self) -> None:
        """Begin without examples."""
        self.features: list[list[str]] = []
        self.answers: list[str] = []

    def add(self, features: list[str], answer: object) -> None:
        """Add one example with its answer."""
        self.features.append(features)
        self.answers.append(str(answer))

    def fit(self) -> Any:
        """Train a linear classifier on all examples."""
        # Averaged stochastic gradient: seconds, where an exact solver of 43 labels takes minutes.
        model = SGDClassifier(
            loss="modified_huber", alpha=1e-6, average=True, max_iter=12, tol=None, random_state=0
        )
        return model.fit(_HASHER.transform(self.features), self.answers)


def _add_node_examples(
    node: _Node,
    tree: TreeSentence,
    gold: Sentence,
    heads: _Examples,
    governors: _Examples,
    labels: _Examples,
) -> None:
    """Add the examples of one constituent to the three classifiers."""
    tokens = [_gold_head(child, gold) for child in node.tree.children]
    head_token = _gold_head(node.tree, gold)
    if head_token is None or None in tokens:
        return  # not one subtree in the dependencies: nothing to learn
    at = [token for token in tokens if token is not None]
    head = at.index(head_token)
    for child, features in enumerate(_head_features(node, tree, at)):
        heads.add(features, int(child == head))
    for child in range(len(at)):
        if child != head and gold.heads[at[child]] in at:
            governor = at.index(gold.heads[at[child]])
            others = [k for k in range(len(at)) if k != child]
            for other, features in zip(
                others, _governor_features(node, tree, at, head, child), strict=True
            ):
                governors.add(features, int(other == governor))
            labels.add(
                _label_features(node, tree, at, head, governor, child), gold.labels[at[child]]
            )


def _iter_nodes(trees: Iterable[TreeSentence]) -> Iterator[_Node]:
    """Yield all constituents with several children."""
    for sentence, tree in enumerate(trees):
        stack = [(tree.tree, "")]
        while stack:
            node, role = stack.pop()
            stack.extend((child, node.category) for child in node.children)
            if len(node.children) > 1:
                yield _Node(sentence, node, role)


def _height(tree: Tree) -> int:
    """Return the number of levels of a tree."""
    return 1 + max((_height(child) for child in tree.children), default=0)


def _head_token(tree: Tree, head_tokens: dict[int, int]) -> int:
    """Return the head token of a tree.

    ``head_tokens`` has the head token of each constituent with several children, by id.
    """
    while len(tree.children) == 1:
        tree = tree.children[0]
    return head_tokens[id(tree)] if tree.children else tree.start


def _gold_head(tree: Tree, gold: Sentence) -> int | None:
    """Return the one token of a constituent with a head outside it, None if there are several."""
    inside = range(tree.start, tree.end)
    tops = [token for token in inside if gold.heads[token] not in inside]
    return tops[0] if len(tops) == 1 else None


def _break_cycles(governor: dict[int, int], head: int) -> None:
    """Attach children in cycles of governors to the head child, in place.

    ``governor`` maps each child but ``head`` to another child.
    """
    for child in list(governor):
        visited = {child}
        ancestor = child
        while ancestor != head:
            ancestor = governor[ancestor]
            if ancestor in visited:
                governor[child] = head
                break
            visited.add(ancestor)


def _with_arcs(tree: TreeSentence, arcs: dict[int, tuple[int, str]]) -> Sentence:
    """Return the sentence of a tree with these arcs."""
    n = len(tree.words)
    return Sentence(
        words=tree.words,
        tags=tree.tags,
        heads=[arcs[i][0] if i in arcs else -1 for i in range(n)],
        labels=[arcs[i][1] if i in arcs else "ROOT" for i in range(n)],
        spaces=[True] * n,
        document=tree.document,
        name=tree.name,
    )


def _best_of_groups(model: Any, groups: list[list[list[str]]]) -> list[int]:
    """Return the index of the highest score in each group."""
    if not groups:
        return []
    scores = model.decision_function(_HASHER.transform([f for group in groups for f in group]))
    ends = np.cumsum([len(group) for group in groups])
    return [int(part.argmax()) for part in np.split(scores, ends[:-1])]


def _predict(model: Any, features: list[list[str]]) -> list[str]:
    """Return the label of each feature list."""
    return [str(label) for label in model.predict(_HASHER.transform(features))] if features else []


def _word(tree: TreeSentence, token: int) -> str:
    """Return the tag of a token, with the word itself for closed classes and forms of "be"."""
    word = tree.words[token].lower()
    return (
        f"{tree.tags[token]}:{word}"
        if tree.tags[token] in _CLOSED_CLASS_TAGS or word in _FORMS_OF_BE
        else (tree.tags[token])
    )


def _category(children: Sequence[Tree], index: int) -> str:
    """Return the category of a child, "-" outside the list."""
    return children[index].category if 0 <= index < len(children) else "-"


def _head_features(node: _Node, tree: TreeSentence, at: Sequence[int]) -> Iterator[list[str]]:
    """Yield the features of each child as the head child.

    ``at`` are the head tokens of the children.
    """
    children = node.tree.children
    parent = node.tree.category
    for i, child in enumerate(children):
        here, word = child.category, _word(tree, at[i])
        left, right = _category(children, i - 1), _category(children, i + 1)
        same = (
            sum(c.category == here for c in children[:i]),
            sum(c.category == here for c in children[i + 1 :]),
        )
        place = f"{min(i, 3)}.{min(len(children) - 1 - i, 3)}"
        yield [
            f"p={parent} c={here}", f"p={parent} w={word}", f"r={node.role} p={parent} c={here}",
            f"p={parent} c={here} l={left}", f"p={parent} c={here} r={right}",
            f"p={parent} c={here} l={left} r={right}", f"p={parent} c={here} @{place}",
            f"p={parent} c={here} first={same[0] == 0} last={same[1] == 0}",
            f"p={parent} @{place}", f"w={word} p={parent} r={right}",
            *(f"p={parent} c={here} w={word} s={c.category}" for c in children),
            *(f"p={parent} c={here} s={c.category}" for c in children),
            *(f"p={parent} c={here} sw={_word(tree, t)}" for t in at),
        ]  # fmt: skip


def _governor_features(
    node: _Node, tree: TreeSentence, at: Sequence[int], head: int, child: int
) -> Iterator[list[str]]:
    """Yield the features of each sister as the governor of a child, in order.

    ``at`` are the head tokens of the children, ``head`` the index of the head child.
    """
    children = node.tree.children
    parent, here, word = node.tree.category, children[child].category, _word(tree, at[child])
    for other in range(len(children)):
        if other == child:
            continue
        low, high = sorted((child, other))
        between = {c.category for c in children[low + 1 : high]}
        there, tag = children[other].category, _word(tree, at[other])
        way = f"head={other == head} {'>' if other > child else '<'}"
        far = min(high - low, 4)
        first = not any(c.category == there for c in children[:other])
        yield [
            way, f"{way} p={parent} c={here}", f"{way} c={here} o={there}", f"{way} {far}",
            f"{way} p={parent} c={here} o={there}", f"{way} w={word} o={tag}",
            f"{way} w={word} cc={'CC' in between} o={there}", f"{way} p={parent} w={word}",
            f"{way} c={here} o={there} cc={'CC' in between} comma={',' in between} {far}",
            f"{way} c={here} l={_category(children, child - 1)} o={there} first={first}",
            f"{way} c={here} r={_category(children, child + 1)} o={there}",
            f"{way} c={here} o={there} h={children[head].category} {far}",
        ]  # fmt: skip


def _label_features(
    node: _Node, tree: TreeSentence, at: Sequence[int], head: int, governor: int, child: int
) -> list[str]:
    """Return the features for the label of a child.

    ``at`` are the head tokens of the children; ``head``, ``governor`` and ``child`` are indices of
    children.
    """
    children = node.tree.children
    parent, here, there = node.tree.category, children[child].category, children[governor].category
    word, tag = _word(tree, at[child]), _word(tree, at[governor])
    way = ">" if governor > child else "<"
    left, right = _category(children, child - 1), _category(children, child + 1)
    inner = {c.category for c in children[child].children}
    between = {c.category for c in children[min(child, governor) + 1 : max(child, governor)]}
    return [
        f"p={parent} c={here} {way}", f"p={parent} c={here} o={there} {way}", f"c={here} w={word}",
        f"c={here} o={there} {way}", f"w={word} o={tag} {way}", f"p={parent} w={word} {way}",
        f"c={here} tag={tag} {way}", f"p={parent} c={here} w={word} tag={tag}", f"w={word} {way}",
        f"c={here} l={left} {way}", f"c={here} r={right} {way}", f"p={parent} w={word} l={left}",
        f"p={parent} role={node.role} c={here} {way}",
        f"head={governor == head} p={parent} c={here}",
        f"lemma={tree.words[at[child]].lower()}", f"c={here} on={tree.words[at[governor]].lower()}",
        *(f"p={parent} c={here} in={category}" for category in inner),
        *(f"p={parent} c={here} w={word} s={c.category}" for c in children),
        *(f"c={here} o={there} {way} b={category}" for category in between),
    ]  # fmt: skip
