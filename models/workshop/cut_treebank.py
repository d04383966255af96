"""Sample sentences of every document: ``python cut_treebank.py IN.conllu[.gz] NUMBER OUT.conllu``.

NUMBER sentences of 5 to 60 words are taken at equal distances from each document; ``all`` takes
every one. A sentence that also occurs in an earlier document ("All authors read and approved the
final manuscript.") is left out, since documents that share a sentence are held out together.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SENTENCE_WORDS = range(5, 61)
ALL_SENTENCES = sys.maxsize


def iter_documents(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (id, sentences) of each document of a CoNLL-U file, in order.

    Sentences are blocks of lines without ``# new...`` comments. Only those of 5 to 60 words are
    returned, and only in the first document that has them (letters and digits compared, in lower
    case). Sentences before the first document belong to a document "".
    """
    opened = gzip.open if path.suffix == ".gz" else open
    name, sentences = "", list[str]()
    first_document: dict[str, str] = {}  # by sentence
    with opened(path, "rt", encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            new_document = re.search(r"^# newdoc id = (.*)$", block, re.MULTILINE)
            if new_document and new_document[1] != name:
                yield name, sentences
                name, sentences = new_document[1], []
            words = re.findall(r"^\d+\t([^\t]*)", block, re.MULTILINE)
            is_first = (
                first_document.setdefault(re.sub(r"[\W_]+", "", "".join(words)).lower(), name)
                == name
            )
            if len(words) in SENTENCE_WORDS and is_first:
                sentences.append(re.sub(r"^# new.*\n", "", block.strip("\n"), flags=re.MULTILINE))
    yield name, sentences


def take_evenly(items: list[str], number: int) -> list[str]:
    """Return ``number`` of the items at equal distances, or all if there are fewer."""
    count = min(number, len(items))
    return [items[i * len(items) // count] for i in range(count)]


def cut_treebank(source: Path, number: int, target: Path) -> None:
    """Write ``number`` sentences of each document of ``source`` to ``target``."""
    with open(target, "w", encoding="utf-8") as out:
        for name, sentences in iter_documents(source):
            for block in take_evenly(sentences, number):
                out.write(f"# newdoc id = {name}\n{block}\n\n")


if __name__ == "__main__":
    source, number, target = sys.argv[1:]
    cut_treebank(Path(source), ALL_SENTENCES if number == "all" else int(number), Path(target))
