"""Code blocks of the README and of the pages of the site."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
FENCE = re.compile(
    r'^(?P<indent> *)```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n'
    r"(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block; its title is a file name or tells a test how to use it."""

    page: str  # such as README.md or docs/start.md
    language: str
    title: str
    body: str
    line: int

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """Commands after ``$`` without comments; lines may continue after a backslash or pipe."""
        lines = re.sub(r"\\\n|(?<=\|)\n", " ", self.body).splitlines()
        commands = [line[2:] for line in lines if line.startswith("$ ")]
        return [re.sub(r"\s{2,}#.*", "", line).strip() for line in commands]


def pages() -> list[str]:
    """Return the paths of the README and of the pages of the site."""
    paths = sorted((ROOT / "docs").rglob("*.md"))
    return ["README.md", *(path.relative_to(ROOT).as_posix() for path in paths)]


@cache
def blocks(page: str) -> list[Block]:
    """Return the blocks of a page in order; raise ValueError for an unbalanced fence."""
    text = (ROOT / page).read_text(encoding="utf-8")
    page_blocks = [
        Block(page, m["language"], m["title"] or "", m["body"], text.count("\n", 0, m.start()) + 1)
        for m in FENCE.finditer(text)
    ]
    if 2 * len(page_blocks) != len(re.findall(r"^ *```", text, re.MULTILINE)):
        raise ValueError(f"{page}: a fence does not belong to a block")
    return page_blocks


def titled(page: str) -> dict[str, str]:
    """Return the text of the titled blocks of a page by title."""
    return {block.title: block.body for block in blocks(page) if block.title}


def programs(line: str) -> list[list[str]]:
    """Return the arguments of each program in a shell command."""
    words = shlex.split(line.replace("|", " | ").replace("&&", " && ").replace("> ", " > "))
    arguments: list[list[str]] = [[]]
    for word in words:
        if word in ("|", "&&"):
            arguments.append([])
        else:
            arguments[-1].append(word)
    return [words[: words.index(">")] if ">" in words else words for words in arguments]
