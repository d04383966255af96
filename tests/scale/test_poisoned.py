"""Broken files among good ones: every good document is answered, every broken file is named."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from textrank.results.schema import read_rows

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.campaign
DOCUMENTS = int(os.environ.get("CAMPAIGN_DOCUMENTS", "500"))  # ten thousand in a full campaign
XML = "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>{0}</PMID><Article><ArticleTitle>"

# Each makes the file of one document that cannot be read: its suffix, and its bytes.
BROKEN: dict[str, Callable[[int], bytes]] = {
    "cut.xml": lambda n: (XML.format(n) + f"GRB{n} binds SOS{n}").encode(),
    "entity.xml": lambda n: (XML.format(n) + f"&nothing; GRB{n}</ArticleTitle>").encode(),
    "binary.txt": lambda n: bytes((7 * n + 31 * k) % 256 for k in range(400)),
    "encoding.txt": lambda n: f"Das Protein GRB{n} erhöht SOS{n}.".encode("latin-1"),
    "wide.txt": lambda n: f"GRB{n} binds SOS{n}.".encode("utf-16"),
    "deep.json": lambda n: b"[" * (50_000 + n) + b"]" * (50_000 + n),
    "deep.xml": lambda n: b"<a>" * (20_000 + n) + b"</a>" * (20_000 + n),
    "cut.jsonl": lambda n: f'{{"id": "x{n}", "text": "GRB{n} binds'.encode(),
    "typed.jsonl": lambda n: json.dumps({"id": f"x{n}", "text": [n]}).encode(),
    "cut.jsonl.gz": lambda n: gzip.compress(json.dumps({"text": f"GRB{n}." * 99}).encode())[:-12],
}


def write_files(folder: Path, count: int) -> tuple[set[str], set[str]]:
    """As many files, a tenth of them broken, the names of both kinds."""
    good, bad = set(), set()
    for number in range(count):
        name = f"{number:05}.txt"
        if number % 10 == 3:
            suffix, make = list(BROKEN.items())[number // 10 % len(BROKEN)]
            name = f"{number:05}-{suffix}"
            (folder / name).write_bytes(make(number))
            bad.add(name)
        else:
            (folder / name).write_text(f"The adaptor GRB{number} binds SOS{number} in cells.\n")
            good.add(name)
    return good, bad


def test_a_tenth_of_broken_files_costs_no_other_its_answer(tmp_path: Path) -> None:
    folder, out = tmp_path / "texts", tmp_path / "out"
    folder.mkdir()
    good, bad = write_files(folder, DOCUMENTS)
    command = [sys.executable, "-c", "from textrank.cli import main; main()"]
    more = ["apply", "ppi", str(folder), "--out", str(out)]
    done = subprocess.run([*command, *more], capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    errors = list(read_rows(out, "errors", "parquet"))
    assert {Path(row["source"]).name for row in errors} == bad
    assert len(errors) == len(bad)
    assert all(row["reason"] and row["document"] for row in errors)
    documents = list(read_rows(out, "documents", "parquet"))
    assert {Path(row["source"]).name for row in documents} == good
    assert len(documents) == len(good)
