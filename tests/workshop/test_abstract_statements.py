"""Labels without text are joined with the texts, and refused if a text is another."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import spacy
from workshop.abstract_statements import checksum, read_abstract_statements

TEXT = "SHC binds GRB2. PTEN may inhibit AKT1."
LABELS = Path(__file__).parents[2] / "corpora" / "abstract-statements" / "labels.jsonl"


def write(folder: Path, text: str) -> Path:
    """Write a label file about TEXT and a text file with ``text``; return the label file."""
    with gzip.open(folder / "mixed-0.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.write(json.dumps({"id": "1", "text": text}) + "\n")
    row = {
        "id": "1",
        "sha256": checksum(TEXT),
        "names": [[0, 3], [10, 14], [16, 20], [33, 37]],
        "wrong_names": [],
        "statements": [
            [1, 2, "binding", "none", "asserted", True],
            [3, 4, "inhibition", "a>b", "speculated", False],
        ],
    }
    (folder / "labels.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return folder / "labels.jsonl"


def test_statements_are_read_with_their_attributes(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    [doc] = read_abstract_statements(write(tmp_path, TEXT), tmp_path, nlp)
    assert [span.text for span in doc.spans["entities"]] == ["SHC", "GRB2", "PTEN", "AKT1"]
    assert [(r["type"], r["status"], r["certain"]) for r in doc.user_data["gold"]] == [
        ("binding", "asserted", True),
        ("inhibition", "speculated", False),
    ]


def test_another_text_is_refused(tmp_path: Path) -> None:
    labels = write(tmp_path, TEXT.replace("SHC", "SRC"))
    with pytest.raises(ValueError, match="text of PubMed 1 is missing"):
        list(read_abstract_statements(labels, tmp_path, spacy.blank("en")))


def test_shipped_labels_are_complete() -> None:
    rows = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
    assert len(rows) == len({row["id"] for row in rows}) == 860
    for row in rows:
        for a, b, *_ in row["statements"]:
            assert 1 <= a < b <= len(row["names"])
