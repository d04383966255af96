"""Cut sentences of every document: ``python cut_treebank.py IN.conllu[.gz] NUMBER OUT.conllu``.

So many sentences of 5 to 60 words, spread evenly over each document; ``all`` for every one. A
sentence that an earlier document has too is left out ("All authors read and approved the final
manuscript."), since documents that share one are held out together.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

WORDS = range(5, 61)
ALL = sys.maxsize


def documents(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each document with its sentences that are neither very short nor very long."""
    opened = gzip.open if path.suffix == ".gz" else open
    name, kept = "", list[str]()
    seen: dict[str, str] = {}  # sentence and the first document that has it
    with opened(path, "rt", encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            found = re.search(r"^# newdoc id = (.*)$", block, re.MULTILINE)
            if found and found[1] != name:
                yield name, kept
                name, kept = found[1], []
            words = re.findall(r"^\d+\t([^\t]*)", block, re.MULTILINE)
            same = seen.setdefault(re.sub(r"[\W_]+", "", "".join(words)).lower(), name) == name
            if len(words) in WORDS and same:
                kept.append(re.sub(r"^# new.*\n", "", block.strip("\n"), flags=re.MULTILINE))
    yield name, kept


def spread(items: list[str], number: int) -> list[str]:
    """Return so many of the items, at equal distances."""
    count = min(number, len(items))
    return [items[i * len(items) // count] for i in range(count)]


def cut(source: Path, number: int, target: Path) -> None:
    """Writes so many sentences of every document."""
    with open(target, "w", encoding="utf-8") as out:
        for name, sentences in documents(source):
            for block in spread(sentences, number):
                out.write(f"# newdoc id = {name}\n{block}\n\n")


if __name__ == "__main__":
    source, number, target = sys.argv[1:]
    cut(Path(source), ALL if number == "all" else int(number), Path(target))
