"""The blocks of code of the README and of every page of the site."""

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
    """A fenced block, with the title that names a file or what a test does with it."""

    page: str  # as README.md, docs/start.md
    language: str
    title: str
    body: str
    line: int

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """What follows a dollar, without remarks; a backslash or a bar goes on to the next line."""
        lines = re.sub(r"\\\n|(?<=\|)\n", " ", self.body).splitlines()
        typed = [line[2:] for line in lines if line.startswith("$ ")]
        return [re.sub(r"\s{2,}#.*", "", line).strip() for line in typed]


def pages() -> list[str]:
    """The README and the pages of the site."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return ["README.md", *(path.relative_to(ROOT).as_posix() for path in found)]


@cache
def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order; a fence that no block begins or ends is an error."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [
        Block(page, m["language"], m["title"] or "", m["body"], text.count("\n", 0, m.start()) + 1)
        for m in FENCE.finditer(text)
    ]
    if 2 * len(found) != len(re.findall(r"^ *```", text, re.MULTILINE)):
        raise ValueError(f"{page}: a fence that is no block")
    return found


def titled(page: str) -> dict[str, str]:
    """The blocks of a page that have a title, by it."""
    return {block.title: block.body for block in blocks(page) if block.title}


def programs(line: str) -> list[list[str]]:
    """The words of each program in a line of the shell."""
    words = shlex.split(line.replace("|", " | ").replace("&&", " && ").replace("> ", " > "))
    found: list[list[str]] = [[]]
    for word in words:
        if word in ("|", "&&"):
            found.append([])
        else:
            found[-1].append(word)
    return [words[: words.index(">")] if ">" in words else words for words in found]
