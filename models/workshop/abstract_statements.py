"""Statements that we annotated in abstracts of PubMed: labels without text.

``corpora/abstract-statements/labels.jsonl`` has one abstract per line: its PubMed id, a checksum of
its text, the character ranges of its recognised names, and the statements about pairs of them.
``read_abstract_statements`` joins the labels with the texts, which are not distributed.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.base import Mention, Record, build_docs

CHECKSUM_DIGITS = 16  # of the SHA-256 of a text


def read_texts(folder: Path, ids: set[str]) -> dict[str, str]:
    """Return the texts of these ids from the ``.jsonl.gz`` files of a folder."""
    texts: dict[str, str] = {}
    for file in sorted(folder.glob("mixed-*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row["id"] in ids:
                    texts.setdefault(row["id"], row["text"])
    return texts


def checksum(text: str) -> str:
    """Return the first digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:CHECKSUM_DIGITS]


def read_abstract_statements(labels: Path, texts: Path, nlp: Language) -> Iterator[Doc]:
    """Iterate over the annotated abstracts as Docs, analysed by ``nlp``.

    The entities are the names that annotators saw. A gold relation has ``type``, ``direction`` and
    ``status``; ``"certain": False`` marks pairs about which curators may differ. Raises ValueError
    if a text is missing or has another checksum.
    """
    rows = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    by_id = read_texts(texts, {row["id"] for row in rows})
    for row in rows:
        if checksum(by_id.get(row["id"], "")) != row["sha256"]:
            raise ValueError(f"{labels}: the text of PubMed {row['id']} is missing in {texts}.")

    def make_record(row: dict[str, Any]) -> Record:
        names = [
            Mention(f"T{number}", "protein", (tuple(span),))
            for number, span in enumerate(row["names"], 1)
        ]
        gold = [
            {
                "entities": [f"T{a}", f"T{b}"],
                "label": True,
                "type": type_,
                "direction": direction,
                "status": status,
                "certain": certain,
            }
            for a, b, type_, direction, status, certain in row["statements"]
        ]
        text, pmid = by_id[row["id"]], row["id"]
        return Record(pmid, text, pmid, names, gold, data={"origin": pmid})

    return build_docs(
        rows, make_record, nlp, path=str(labels), cut=True, skip_bad=False, item_filter=None
    )
