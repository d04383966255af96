"""Write sentences.jsonl, sentences as they stand in abstracts, each written once.

Run ``python sentences.py > sentences.jsonl``.

A line of ``sentences.tsv`` is a sentence with its names in double braces, a tab, and its statements
separated by "; ": "1>2 activation asserted" for the first name acting on the second, "1-2 binding
negated" without a direction. Pairs that are not listed have no statement.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAME = re.compile(r"\{\{(.+?)\}\}")
STATEMENT = re.compile(r"(\d)([>-])(\d) (\w+) (asserted|negated|speculated)")


def read_sentences(path: Path) -> Iterator[dict[str, Any]]:
    """Yield one document per line; raise ValueError for a statement that cannot be read."""
    for number, line in enumerate(path.read_text("utf-8").splitlines()):
        marked, _, listed = line.partition("\t")
        entities, text, end = [], "", 0
        for match in NAME.finditer(marked):
            text += marked[end : match.start()]
            piece = [len(text), len(text) + len(match[1])]
            entities.append({"id": f"T{len(entities) + 1}", "label": "protein", "pieces": [piece]})
            text += match[1]
            end = match.end()
        text += marked[end:]
        relations = []
        for part in filter(None, listed.strip().split("; ")):
            statement = STATEMENT.fullmatch(part)
            if statement is None:
                raise ValueError(f"{path}, line {number + 1}: cannot read {part!r}.")
            who, arrow, whom, type_, status = statement.groups()
            relations.append(
                {
                    "entities": [f"T{who}", f"T{whom}"],
                    "label": True,
                    "type": type_,
                    "direction": "a>b" if arrow == ">" else "none",
                    "status": status,
                }
            )
        document = {"id": f"n{number}", "text": text, "entities": entities}
        yield {**document, "relations": relations, "sentences": [0]}


def main() -> None:
    """Write the documents to standard output."""
    for row in read_sentences(Path(__file__).with_name("sentences.tsv")):
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
