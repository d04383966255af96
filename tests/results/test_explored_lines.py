"""Lines of ``apply`` that ``explore`` opens: shown, or refused with file and line."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.mutations import any_of, spoil_bytes, spoil_json, spoil_tokens
from textrank.results.store import find_sentence_start, open_store

pytest.importorskip("duckdb")

PAIR = {
    "names": ["SHC", "GRB2"],
    "spans": [[0, 3], [10, 14]],
    "identifiers": ["ncbigene:6464", None],
    "sentence": "SHC binds GRB2.",
    "score": 0.8,
    "probability": 0.9,
    "interacts": True,
    "status": "asserted",
    "type": "binding",
    "direction": "a>b",
    "trigger": [[4, 9]],
}
LINE = json.dumps({"document": "d1", "text": "SHC binds GRB2.", "textrank_ppi": [PAIR]})


def write(file: Path, **changes: Any) -> Path:
    file.write_text(f"{LINE}\n{json.dumps({'textrank_ppi': [{**PAIR, **changes}]})}\n")
    return file


def test_lines_become_statements(tmp_path: Path) -> None:
    store = open_store(write(tmp_path / "a.jsonl"))
    row = store.fetch("SELECT * FROM claims WHERE document = 'd1'")[0]
    assert (row["name_a"], row["id_a"], row["id_b"]) == ("SHC", "ncbigene:6464", None)
    assert (row["probability"], row["trigger"], row["sentence_start"]) == (0.9, "[[4, 9]]", 0)
    assert [r["document"] for r in store.fetch("SELECT document FROM texts")] == ["d1", "2"]


@pytest.mark.parametrize(
    "changes",
    [
        {"names": None},
        {"names": ["SHC"]},
        {"names": ["SHC", 7]},
        {"spans": [[0, 3]]},
        {"spans": [[0, "3"], [1, 2]]},
        {"spans": [[0, 10**30], [1, 2]]},
        {"spans": [[5, 3], [1, 2]]},
        {"identifiers": [["x"], None]},
        {"identifiers": "ab"},
        {"score": "high"},
        {"probability": 10**400},
        {"interacts": "yes"},
        {"status": ["asserted"]},
        {"type": {"a": 1}},
        {"direction": 3},
        {"trigger": [[0]]},
        {"trigger": 5},
        {"sentence": 7},
    ],
    ids=str,
)
def test_values_of_another_type_are_refused_with_their_line(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    file = write(tmp_path / "a.jsonl", **changes)
    with pytest.raises(ValueError, match="line 2") as refusal:
        open_store(file)
    assert str(file) in str(refusal.value)


def test_unpaired_surrogates_are_replaced(tmp_path: Path) -> None:
    store = open_store(write(tmp_path / "a.jsonl", names=["SH\ud800", "GRB2"], type="\udfff"))
    assert store.fetch_value("SELECT name_a FROM claims WHERE document = '2'") == "SH?"


WAY = any_of(spoil_bytes, spoil_tokens, spoil_json, spoil_json)


@pytest.mark.parametrize("number", range(60))
def test_spoilt_lines(number: int, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl")
    file.write_bytes(WAY(file.read_bytes(), random.Random(number)))
    reason = str(file)
    try:
        open_store(file).fetch("SELECT * FROM pairs")
    except ValueError as error:
        reason = str(error)
    assert str(file) in reason


def test_a_packed_line_without_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(f"{LINE}\n".encode() + b" " * (20 << 20)))
    with pytest.raises(ValueError, match="bytes"):
        open_store(file)


def test_sentences_take_linear_time() -> None:
    size = 1_000_000
    sentence = "a" * size
    assert find_sentence_start(sentence, ["", "b"], [(0, 0), (0, 1)]) is None
    assert find_sentence_start(sentence, ["a", "b"], [(0, size), (0, 1)]) is None
