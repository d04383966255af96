"""Several parses of a sentence from one parser: its own, and those with noise on its weights."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from spacy.attrs import DEP, HEAD, TAG
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc, Span

from textrank.features import Matrix
from textrank.language._parser import ArcArrays as Arcs
from textrank.language.alignment import arcs_to_tokens
from textrank.language.load import load_nlp, model_path
from textrank.language.syntax import WordParser, upper_layer_params

MIRROR = "en_textrank_mirror"  # the shipped parser that reads backwards
TOGETHER = 256  # sentences that networks see at a time
BIAS = 2.5  # times as much noise as other weights of the last layers: biases are small numbers
Layers: TypeAlias = Literal["all", "last"]
Weights: TypeAlias = Mapping[tuple[int, str], Any]  # of a node of the network, by its id and name


@dataclass(frozen=True)
class Parse:
    """One tree of a sentence: heads count its words from 0, the root's is its own."""

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    votes: int  # how many parsers found it
    own: bool  # whether the one without noise did

    def turned(self) -> Parse:
        """The same tree over the words from the last to the first."""
        last = len(self.heads) - 1
        heads = tuple(last - head for head in self.heads[::-1])
        return replace(self, heads=heads, labels=self.labels[::-1], tags=self.tags[::-1])


@dataclass(frozen=True)
class NoisyParser:
    """The distinct parses that a spaCy parser and noisy copies of it find.

    A beam over a parser that was trained greedily is worse than its greedy parse; copies with
    Gaussian noise on each array of the parser's weights, ``sigma`` times the array's standard
    deviation, err differently and are nearly as good. The network below is run once for all
    copies; where noise is on the last layers alone, so is what words add to a state, and a copy
    costs about a third. Words and sentence are kept as given, tags are those of the pipeline.

    Parameters
    ----------
    name
        A spaCy pipeline with a ``parser``, by name or path; the shipped one where empty.
    sigma, copies, seed
        The amount of noise, how many noisy copies there are, and what makes them reproducible.
    layers
        Whose weights have noise: ``"all"`` of the parser, or the ``"last"``: those that score, and
        the bias of the numbers they see, with ``BIAS`` times as much.
    backwards
        Whether the parser reads sentences from their last word to their first, see ``mirror``.
    """

    name: str = ""
    sigma: float = 0.2
    copies: int = 24
    seed: int = 0
    layers: Layers = "all"
    backwards: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.sigma < math.inf:
            raise ValueError(f"sigma must be finite and not below 0, got {self.sigma}")
        if self.copies < 0 or self.seed < 0:
            raise ValueError(
                f"copies and seed must not be below 0, got {self.copies} and {self.seed}"
            )
        if self.layers not in get_args(Layers):
            raise ValueError(
                f"layers must be one of {', '.join(get_args(Layers))}, got {self.layers!r}"
            )

    def __call__(self, sentences: Sequence[Span]) -> list[list[Parse]]:
        """For each sentence its distinct parses, the parser's own first, then by votes."""
        nlp = _language(self.name)
        docs = [_alone(sentence, nlp, self.backwards) for sentence in sentences]
        before = nlp.pipe_names[: nlp.pipe_names.index("parser")]
        with nlp.select_pipes(enable=before):
            docs = list(nlp.pipe(docs, batch_size=TOGETHER))
        strings = nlp.vocab.strings
        tags = [tuple(strings[tag] for tag in doc.to_array(TAG).tolist()) for doc in docs]
        noise = _noise(self.name, self.sigma, self.copies, self.seed, self.layers)
        own, *noisy = _trees(nlp, docs, [{}, *noise])
        found = []
        for i, first in enumerate(own):
            votes = Counter([first, *(trees[i] for trees in noisy)])
            best = sorted(votes.items(), key=lambda item: (item[0] != first, -item[1]))
            parses = [Parse(*t, tags[i], count, own=t == first) for t, count in best]
            found.append([parse.turned() for parse in parses] if self.backwards else parses)
        return found


LabelledHeads: TypeAlias = tuple[tuple[int, ...], tuple[str, ...]]


def _trees(
    nlp: Language, docs: Sequence[Doc], copies: Sequence[Weights]
) -> list[list[LabelledHeads]]:
    """What the parser finds with each of these weights; most of it more than once."""
    parser: Any = nlp.get_pipe("parser")
    states = [
        [(n, _arcs(s), s) for n, s in enumerate(own)] for own in _states(parser, docs, copies)
    ]
    distinct = {(n, arcs): state for own in states for n, arcs, state in own}
    parses = _parsed(parser, [docs[n] for n, _ in distinct], list(distinct.values()))
    names = _Strings(nlp.vocab.strings)
    known = {key: _tree(*parse, names) for key, parse in zip(distinct, parses, strict=True)}
    return [[known[n, arcs] for n, arcs, _ in own] for own in states]


def _states(parser: Any, docs: Sequence[Doc], copies: Sequence[Weights]) -> Iterator[Any]:
    if isinstance(parser, WordParser):
        yield from parser.predict_ensemble(docs, copies)
        return
    for weights in copies:
        with parser.model.use_params(weights):
            yield parser.predict(docs)


def _parsed(parser: Any, docs: Sequence[Doc], states: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Steps to the head and labels of the tokens; our parser says them without setting them."""
    if isinstance(parser, WordParser) and all(isinstance(state, Arcs) for state in states):
        parses = parser.deprojectivize(docs, states)
        yield from (arcs_to_tokens(doc, *own) for doc, own in zip(docs, parses, strict=True))
        return
    for doc, state in zip(docs, states, strict=True):
        copy = doc.copy()
        parser.set_annotations([copy], [state])
        table: Any = copy.to_array([HEAD, DEP])
        yield table[:, 0], table[:, 1]


def _arcs(state: Any) -> Hashable:
    """What tells apart what our parser found, or spaCy's own."""
    if isinstance(state, Arcs):
        return state.heads.tobytes(), state.labels.tobytes()
    return frozenset((arc["child"], arc["head"], arc["label"]) for arc in state.arcs)


def _tree(steps: Any, kinds: Any, strings: Mapping[int, str]) -> LabelledHeads:
    """The tree of arrays of steps to the head and labels."""
    heads = (steps.astype(np.int64) + np.arange(len(steps))).tolist()
    labels = [strings[label] for label in kinds.tolist()]
    roots = [i for i, head in enumerate(heads) if head == i]
    for extra in roots[1:]:  # a sentence is one tree, whatever the parser left unattached
        heads[extra], labels[extra] = roots[0], "dep"
    return tuple(heads), tuple(labels)


class _Strings(dict[int, str]):
    """Strings by hash, each asked for once."""

    def __init__(self, store: StringStore) -> None:
        super().__init__()
        self._store = store

    def __missing__(self, key: int) -> str:
        found = self[key] = str(self._store[key])
        return found


def _alone(sentence: Span, nlp: Language, backwards: bool) -> Doc:
    words = [token.text for token in sentence]
    starts: Any = [i == 0 for i in range(len(sentence))]
    if backwards:
        return Doc(nlp.vocab, words=words[::-1], sent_starts=starts)
    spaces = [bool(token.whitespace_) for token in sentence]
    return Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=starts)


# Loading takes a second or two, and texts come one after the other.
@lru_cache(maxsize=4)
def _language(name: str) -> Language:
    nlp = load_nlp(model_path(MIRROR) if name == MIRROR else name or None)
    if "parser" not in nlp.pipe_names:
        raise ValueError(
            f"the spaCy pipeline {name!r} has no component 'parser', only "
            f"{', '.join(nlp.pipe_names) or 'none'}. Name one that parses."
        )
    return nlp


@lru_cache(maxsize=4)
def _noise(name: str, sigma: float, copies: int, seed: int, layers: Layers) -> tuple[Weights, ...]:
    parser: Any = _language(name).get_pipe("parser")
    model = parser.model
    own = {
        (node.id, param): np.asarray(node.get_param(param))
        for node in model.walk()
        for param in node.param_names
        if node.has_param(param)
    }
    amounts = {key: sigma * array.std() for key, array in own.items()}
    if layers == "last":
        bias, last = (model.layers[1].id, "b"), upper_layer_params(model)
        amounts = {key: amount for key, amount in amounts.items() if key in last}
        amounts[bias] *= BIAS
    rng = np.random.default_rng(seed)
    return tuple(
        {
            key: own[key] + amount * rng.standard_normal(own[key].shape, np.float32)
            for key, amount in amounts.items()
        }
        for _ in range(copies)
    )


Link: TypeAlias = tuple[int, int, str]  # two words of a linkage, the left one first, and its type
COMMANDS = ("!", "%", "*")  # a line that begins so is no sentence to link-parser
ABSENT = (
    "{command!r} is not to be found. Install Link Grammar (the Debian package is called "
    "link-grammar), or take the parses of another source."
)
_LINKAGE = re.compile(r"\[(\(LEFT-WALL\).*?)\]\n\[(.*?)\]\n\[0\]", re.DOTALL)
_LINK = re.compile(r"\[(\d+) (\d+) \d+ \(([^)]*)\)\]")
_MARKS = re.compile(r"(\[[!?~&].*\])?(\.[\w-]+)?")  # ``p53[?].n``: guessed, and a noun
_WALL = re.compile(r"\((?:LEFT|RIGHT)-WALL\)")
# Links beside the ones that carry the sentence: taken only for words nothing else reaches.
_BESIDE = re.compile(r"C[a-z*]*$|R[a-z*]*$|B[a-z*]*$")


@dataclass(frozen=True)
class LinkGrammar:
    """The linkages that Link Grammar finds, as trees over the words of the sentence.

    A linkage has neither heads nor a root, and may have cycles. The root is the word that
    the left wall marks as the main verb, else the first one it marks; every other word hangs from
    the next one on the way there, so links that only close a cycle are left out. Labels are
    types of links (``Ss``, ``Os``, ``MVp``), words that no link reaches hang from the root as
    ``null``. These are not the labels of spaCy's pipelines: compare such parses with gold
    trees of the same kind, or without labels.

    Sentences that link-parser cannot align with the given words have no parse.

    Parameters
    ----------
    command
        The program, by name or path.
    linkages
        At most how many of the best linkages of a sentence are taken.
    seconds
        How long it may search a sentence before it looks for less.
    """

    command: str = "link-parser"
    linkages: int = 20
    seconds: int = 5

    def __post_init__(self) -> None:
        if self.linkages < 1 or self.seconds < 1:
            raise ValueError(
                f"linkages and seconds must be at least 1, got {self.linkages} and {self.seconds}"
            )

    def __call__(self, sentences: Sequence[Span]) -> list[list[Parse]]:
        """For each sentence its distinct parses, the program's first choice first."""
        lines = [" ".join(_words(sentence)) for sentence in sentences]
        asked = [i for i, line in enumerate(lines) if line and not line.startswith(COMMANDS)]
        found: list[list[Parse]] = [[] for _ in sentences]
        if asked:
            printed = self._run([lines[i] for i in asked])
            for i, block in zip(asked, _blocks(printed, [lines[i] for i in asked]), strict=True):
                found[i] = _parses(block, sentences[i], self.linkages)
        return found

    def _run(self, lines: Sequence[str]) -> str:
        program = shutil.which(self.command)
        if program is None:
            raise FileNotFoundError(ABSENT.format(command=self.command))
        options = {
            "postscript": 1, "graphics": 0, "walls": 1, "echo": 1, "verbosity": 1, "spell": 0,
            "limit": max(100, self.linkages), "timeout": self.seconds,
        }  # fmt: skip
        # An empty line asks for the next linkage, and is passed over where there is none.
        text = "".join(line + "\n" * self.linkages for line in lines)
        given = [program, "en", "--quiet", *(f"-{k}={value}" for k, value in options.items())]
        patience = 60 + 4 * self.seconds * len(lines)  # it looks again for less when time is up
        try:
            done = subprocess.run(
                given, input=text, capture_output=True, timeout=patience,
                encoding="utf-8", errors="replace", check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise OSError(
                f"{self.command} gave no answer to {len(lines)} sentences in {patience} s. "
                "Take fewer linkages or shorter sentences."
            ) from error
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise OSError(f"{self.command} failed with exit code {done.returncode}: {last}")
        return done.stdout


def _words(sentence: Span) -> list[str]:
    return [text for text in (" ".join(token.text.split()) for token in sentence) if text]


def _blocks(printed: str, lines: Sequence[str]) -> list[str]:
    """What was printed for each line: it begins with the line itself."""
    found, at = list[re.Match[str] | None](), 0
    for line in lines:
        echo = re.compile(rf"^{re.escape(line)}$", re.MULTILINE).search(printed, at)
        found.append(echo)
        at = echo.end() if echo else at
    blocks, end = list[str](), len(printed)
    for echo in reversed(found):
        blocks.append(printed[echo.end() : end] if echo else "")
        end = echo.start() if echo else end
    return blocks[::-1]


def _parses(block: str, sentence: Span, limit: int) -> list[Parse]:
    tags = tuple(token.tag_ for token in sentence)
    trees: Counter[LabelledHeads] = Counter()
    for found in list(_LINKAGE.finditer(block))[:limit]:
        tree = _link_grammar_tree(found[1].replace("\n", ""), found[2], sentence)
        if tree is not None:
            trees[tree] += 1  # a Counter keeps the order in which its items came
    first = next(iter(trees), None)
    return [Parse(*tree, tags, votes, own=tree == first) for tree, votes in trees.items()]


def _link_grammar_tree(
    printed_words: str, printed_links: str, sentence: Span
) -> LabelledHeads | None:
    words = _WALL.sub("", printed_words)[1:-1].split(")(")
    tokens = align(words, [token.text for token in sentence])
    if tokens is None:
        return None
    place = {number + 1: token for number, token in enumerate(tokens)}  # the left wall is 0
    links = [
        (int(left), int(right), kind)
        for left, right, kind in _LINK.findall(printed_links.replace("\n", ""))
    ]
    return tree_of(
        [(place[a], place[b], k) for a, b, k in links if a in place and b in place],
        [(place[b], k) for a, b, k in links if a == 0 and b in place],
        len(sentence),
    )


def align(words: Sequence[str], tokens: Sequence[str]) -> list[int] | None:
    """The token that each word of a linkage is, or is a part of; None where they differ.

    >>> align(["we", "show.v", "IL[!]", "-.r", "2", "[of]", ")"], ["We", "show", "IL-2", "of", ")"])
    [0, 1, 2, 2, 2, 3, 4]
    """
    found, at, offset = list[int](), 0, 0
    for word in words:
        while at < len(tokens) and not tokens[at].strip():
            at += 1
        if at == len(tokens):
            return None
        left = tokens[at][offset:]
        used = _used(word, left)
        if used == 0:
            return None
        found.append(at)
        offset += used
        if used == len(left):
            at, offset = at + 1, 0
    rest = "".join(tokens[at:])[offset:]
    return found if not rest.strip() else None


def _used(word: str, text: str) -> int:
    """How many characters of the text this word of a linkage stands for; 0 if it does not."""
    for name in (word, word[1:-1] if word[:1] == "[" and word[-1:] == "]" else ""):
        if name.lower().startswith(text.lower()) and _MARKS.fullmatch(name[len(text) :]):
            return len(text)
        for cut in range(len(name), 0, -1):
            if text.lower().startswith(name[:cut].lower()) and _MARKS.fullmatch(name[cut:]):
                return cut
    return 0


def tree_of(links: Sequence[Link], marked: Sequence[tuple[int, str]], size: int) -> LabelledHeads:
    """Heads and labels of the words; ``marked`` are those linked to the left wall."""
    verbs = [word for word, kind in marked if kind.startswith("WV")]
    others = [word for word, kind in marked if kind.startswith("W")]
    root = next(iter([*verbs, *others, *(word for link in links for word in link[:2])]), 0)
    heads, labels = [-1] * size, ["null"] * size
    heads[root], labels[root] = root, "ROOT"
    reached = [root]
    for kept in (
        [link for link in links if not _BESIDE.match(link[2])],
        links,
    ):
        beside: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for a, b, kind in kept:
            beside[a].append((b, kind))
            beside[b].append((a, kind))
        queue = list(reached)
        for word in queue:
            for neighbour, kind in sorted(beside[word]):
                if heads[neighbour] < 0:
                    heads[neighbour], labels[neighbour] = word, kind
                    queue.append(neighbour)
        reached = queue
    return tuple(root if head < 0 else head for head in heads), tuple(labels)


Column = dict[int, float]  # the heads that a word has votes for


def spanning_tree(votes: Matrix, roots: Sequence[float]) -> list[int]:  # (n, n), (n,)
    """Heads of the tree with the largest sum of votes; the root's is itself.

    ``votes[h, d]`` speak for ``h`` as head of ``d``, ``roots[d]`` for ``d`` as root. There is one
    root: every word with votes for it is tried, or every word where none has any.

    Chu and Liu (1965), Edmonds (1967).

    >>> votes = np.array([[0, 1, 0], [2, 0, 3], [0, 2, 0]])
    >>> spanning_tree(votes, [1, 2, 0])
    [1, 1, 1]
    """
    arcs = np.array(votes, dtype=np.float64)
    np.fill_diagonal(arcs, np.inf)
    least = arcs.min(axis=0, initial=np.inf)
    np.fill_diagonal(arcs, -np.inf)
    columns: list[Column] = []
    for own, low in zip(arcs.T, least.tolist(), strict=True):
        more = np.flatnonzero(own > low)
        columns.append(dict(zip(more.tolist(), own[more].tolist(), strict=True)))
    return sparse_tree(columns, roots, least.tolist())


def sparse_tree(
    columns: Sequence[Column], roots: Sequence[float], others: Sequence[float] | None = None
) -> list[int]:
    """The same where few heads of a word have any votes; ``others`` is what all others have, or 0.

    Linear in memory and, but for words that many cycles lead to, in time: a sentence may have
    thousands of words.
    """
    n = len(columns)
    others = [0.0] * n if others is None else others
    best, most = [0] * n, -np.inf
    for root in [d for d in range(n) if roots[d] > 0] or range(n):
        heads = _Arborescence.of(columns, others, root).heads()
        arcs = (columns[d].get(h, others[d]) for d, h in enumerate(heads) if d != root)
        total = roots[root] + sum(arcs)
        if total > most:
            best, most = heads, total
    return best


@dataclass(frozen=True, eq=False)
class _Cycle:
    """A cycle of best heads that became one node: its members, each the dependent of the next."""

    node: int
    members: list[int]
    kept: list[float]  # what the arc of each inside the cycle is worth
    leave: dict[int, int]  # of nodes outside, the member that is their best head


@dataclass(eq=False)
class _Arborescence:
    """Best heads where the root is given: every cycle of best heads is contracted and opened.

    Of heads that are worth the same the lowest is taken, a contracted cycle last. Words whose heads
    lead to the root are done: no cycle can reach them any more.
    """

    root: int
    into: dict[int, Column]  # of each node, the heads that are worth more than all others
    others: dict[int, float]  # and what those are worth
    out: dict[int, set[int]]  # the nodes that know one as such a head
    alive: list[bool]  # by node
    first: int = 0  # no node before this one is alive
    chosen: dict[int, int] = field(default_factory=dict)
    cycles: list[_Cycle] = field(default_factory=list)

    @classmethod
    def of(cls, columns: Sequence[Column], others: Sequence[float], root: int) -> _Arborescence:
        into = {d: dict(own) for d, own in enumerate(columns) if d != root}
        out: dict[int, set[int]] = {d: set() for d in range(len(columns))}
        for d, own in into.items():
            for head in own:
                out[head].add(d)
        return cls(root, into, dict(enumerate(others)), out, [True] * len(columns))

    def heads(self) -> list[int]:
        """The head of each word."""
        words = len(self.alive)
        self._contract()
        self.chosen[self.root] = self.root
        dependents: dict[int, list[int]] = {}
        for node, alive in enumerate(self.alive):
            if alive:
                dependents.setdefault(self.chosen[node], []).append(node)
        for cycle in reversed(self.cycles):
            self._open(cycle, dependents)
        return [self.chosen[d] for d in range(words)]

    def _contract(self) -> None:
        """Walks from head to head until all lead to the root; the cycles on the way are nodes."""
        done = {self.root}
        start = 0
        while start < len(self.alive):
            path: list[int] = []
            place: dict[int, int] = {}
            node = start
            while self.alive[start] and node not in done:
                if node in place:
                    members = path[place[node] :]
                    del path[place[node] :]
                    self._join(members)
                    if not path:  # the node has its turn as a start
                        break
                    node = path.pop()
                place[node] = len(path)
                path.append(node)
                self.chosen[node] = self._best(node)
                node = self.chosen[node]
            done.update(path)
            start += 1

    def _best(self, node: int) -> int:
        own, least = self.into[node], self.others[node]
        most = max(own.values(), default=least)
        if most > least:
            return min(head for head, value in own.items() if value == most)
        while not self.alive[self.first]:
            self.first += 1
        lowest = self.first
        while not self.alive[lowest] or lowest == node:
            lowest += 1
        return lowest

    def _join(self, members: list[int]) -> None:
        """Makes one node of a cycle."""
        node, inside = len(self.alive), set(members)
        self.alive.append(True)
        for member in members:
            self.alive[member] = False
        kept = [self._worth(self.chosen[member], member) for member in members]
        self.others[node] = max(
            self.others[member] - worth for member, worth in zip(members, kept, strict=True)
        )
        self._enter(node, members, kept, inside)
        self.cycles.append(_Cycle(node, members, kept, self._leave(node, members, inside)))

    def _enter(
        self, node: int, members: Sequence[int], kept: Sequence[float], inside: set[int]
    ) -> None:
        """What it is worth to open a cycle from outside, at its best member."""
        least = self.others[node]
        own: Column = {}
        for member, worth in zip(members, kept, strict=True):
            for head, value in self.into[member].items():
                if head not in inside:
                    own[head] = max(own.get(head, least), value - worth)
                    self.out[head].discard(member)
                    self.out[head].add(node)
        self.into[node] = own

    def _leave(self, node: int, members: Sequence[int], inside: set[int]) -> dict[int, int]:
        """The nodes that have a head in a cycle now have the node, worth as much as the best."""
        best: dict[int, int] = {}
        for member in members:
            for d in self.out.pop(member):
                if d in inside:
                    continue
                value = self.into[d].pop(member)
                if value > self.into[d].get(node, self.others[d]):
                    self.into[d][node] = value
                    best[d] = member
        self.out[node] = set(best)
        return best

    def _worth(self, head: int, node: int) -> float:
        return self.into[node].get(head, self.others[node])

    def _open(self, cycle: _Cycle, dependents: dict[int, list[int]]) -> None:
        """Gives the members their own heads again, but for the one where the cycle is entered."""
        head = self.chosen.pop(cycle.node)
        entered = [
            self._worth(head, member) - worth
            for member, worth in zip(cycle.members, cycle.kept, strict=True)
        ]
        self.chosen[cycle.members[entered.index(max(entered))]] = head
        for d in dependents.pop(cycle.node, ()):
            if self.chosen.get(d) == cycle.node:  # not so of a node that was opened before
                self.chosen[d] = cycle.leave.get(d, cycle.members[0])
                dependents.setdefault(self.chosen[d], []).append(d)
        for member in cycle.members:
            dependents.setdefault(self.chosen[member], []).append(member)
