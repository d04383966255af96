"""Several parses of a sentence from Link Grammar's ``link-parser``, where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from spacy.tokens import Span

from textrank.language.noise import Parse

Link: TypeAlias = tuple[int, int, str]  # two words of a linkage, the left one first, and its type
LabelledHeads: TypeAlias = tuple[tuple[int, ...], tuple[str, ...]]

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
        tree = _tree(found[1].replace("\n", ""), found[2], sentence)
        if tree is not None:
            trees[tree] += 1  # a Counter keeps the order in which its items came
    first = next(iter(trees), None)
    return [Parse(*tree, tags, votes, own=tree == first) for tree, votes in trees.items()]


def _tree(printed_words: str, printed_links: str, sentence: Span) -> LabelledHeads | None:
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
