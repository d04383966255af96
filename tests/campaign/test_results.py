"""Spoilt parts and manifests of a result: asked and continued, or refused by name."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.findings import check
from tests.campaign.mutations import any_of, spoil_bytes, spoil_json, spoil_tokens
from tests.campaign.sandbox import run_all
from tests.campaign.settings import INPUTS, SEED
from tests.results.test_store import ONE, result
from textrank.results import store
from textrank.results.schema import TABLES, count_rows, read_checksums, read_rows
from textrank.scale.job import Manifest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.campaign
TREES = any_of(spoil_bytes, spoil_tokens, spoil_json, spoil_json)


def ask(folder: Path) -> None:
    """Every question once."""
    found = store.open_results(folder)
    found.counts()
    found.partners("GRB2")
    found.evidence("GRB2", "SOS1")
    found.strongest(5)
    found.network(["GRB2", "SOS1", "EGFR"])
    found.document("1")
    found.errors()
    found.close()


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_spoilt_parts(format: Any, tmp_path: Path) -> None:
    result(tmp_path, ONE, format=format).close()
    seeds = {table: next((tmp_path / table).glob("*")).read_bytes() for table in TABLES}
    way = spoil_bytes if format == "parquet" else TREES

    def drawn(number: int) -> tuple[str, bytes]:
        rng = random.Random(f"{SEED} part {format} {number}")
        table = rng.choice(list(seeds))
        return table, way(seeds[table], rng)

    def attempt(number: int) -> Iterator[str]:
        spoilt, data = drawn(number)
        for table, whole in seeds.items():
            file = next((tmp_path / table).glob("*"))
            file.write_bytes(data if table == spoilt else whole)
        yield str(tmp_path)
        if number % 2:
            ask(tmp_path)
        else:
            count_rows(tmp_path, spoilt, format)
            list(read_rows(tmp_path, spoilt, format))

    check(f"part.{format}", run_all(INPUTS, attempt), lambda number: drawn(number)[1])


def test_spoilt_manifests(tmp_path: Path) -> None:
    result(tmp_path, ONE, format="jsonl").close()
    file = tmp_path / "manifest.json"
    whole = json.loads(file.read_text())
    file.unlink()
    Manifest(whole["settings"]).write(tmp_path)
    seed = file.read_bytes()

    def spoilt(number: int) -> bytes:
        return TREES(seed, random.Random(f"{SEED} manifest {number}"))

    def attempt(number: int) -> Iterator[str]:
        file.write_bytes(spoilt(number))
        yield str(tmp_path)
        Manifest.read(tmp_path)
        ask(tmp_path)

    check("manifest.json", run_all(INPUTS, attempt), spoilt)


def test_spoilt_checksums(tmp_path: Path) -> None:
    result(tmp_path, ONE, format="jsonl").close()
    file = next((tmp_path / "checksums").glob("*"))
    seed, way = file.read_bytes(), any_of(spoil_bytes, spoil_tokens)

    def spoilt(number: int) -> bytes:
        return way(seed, random.Random(f"{SEED} checksums {number}"))

    def attempt(number: int) -> Iterator[str]:
        file.write_bytes(spoilt(number))
        yield str(file)
        read_checksums(tmp_path, file.stem)

    check("checksums", run_all(INPUTS, attempt), spoilt)
