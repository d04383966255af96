"""Work in parts and questions to results, as ratios measured in one run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.pubmed import write_baseline
from tests.benchmarks.watching import watch
from textrank.results import store
from textrank.results.schema import TABLES, arrow_schema, count_rows
from textrank.results.store import Filter

pytestmark = pytest.mark.benchmark
DATA = Path(__file__).parents[3] / "shared" / "data" / "pubmed"
MILLION = 1_000_000


def write_statements(folder: Path, count: int = MILLION, parts: int = 8) -> None:
    """Statements between 20 000 names, with documents, in Parquet parts."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    size = count // parts
    for part in range(parts):
        documents = np.sort(rng.integers(part * size, (part + 1) * size, size)).astype(str)
        sides = {side: rng.zipf(1.3, size) % 20_000 for side in "ab"}
        columns: dict[str, Any] = {
            "document": documents,
            "source": ["generated"] * size,
            "probability": rng.random(size),
            "interacts": rng.random(size) < 0.3,
            "status": rng.choice(["asserted", "negated", "speculated"], size, p=[0.9, 0.05, 0.05]),
            "type": rng.choice(["binding", "activation", "inhibition"], size),
            "sentence": [f"Sentence {n} of part {part}." for n in range(size)],
        }
        for side, numbers in sides.items():
            columns[f"name_{side}"] = np.char.add("GENE", numbers.astype(str))
            columns[f"id_{side}"] = np.char.add("ncbigene:", numbers.astype(str))
        unique = np.unique(documents)
        years = {"year": rng.integers(1980, 2025, len(unique)), "replaces": [True] * len(unique)}
        status = {"status": ["done"] * len(unique), "source": ["generated"] * len(unique)}
        tables = {"statements": columns, "documents": {"document": unique, **years, **status}}
        for table, kinds in TABLES.items():
            schema = arrow_schema(kinds)
            own = tables.get(table, {})
            length = len(next(iter(own.values()))) if own else 0
            arrays = [
                pa.array(own[name], type=kind) if name in own else pa.nulls(length, kind)
                for name, kind in zip(kinds, schema.types, strict=True)
            ]
            (folder / table).mkdir(exist_ok=True)
            pq.write_table(
                pa.Table.from_arrays(arrays, schema=schema), folder / table / f"{part}.parquet"
            )
    manifest = {"settings": {"format": "parquet"}, "columns": TABLES}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def test_questions_to_a_million_statements(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    write_statements(tmp_path)
    found = store.open_results(tmp_path)
    scan = "SELECT count(DISTINCT sentence), sum(probability) FROM statements"
    full = min(seconds(lambda: found.sql(scan)) for _ in range(3))
    questions: dict[str, Callable[[], Any]] = {
        "partners": lambda: found.partners("GENE7"),
        "evidence": lambda: found.evidence("GENE7", "GENE3"),
        "strongest": lambda: found.strongest(20, where=Filter(type="binding")),
        "network": lambda: found.network([f"GENE{n}" for n in range(2, 12)]),
        "filters": lambda: found.statements(where=Filter("binding", "negated", 0.8, (2000, 2010))),
        "page": lambda: found.statements(limit=50, offset=10_000),
    }
    print(f"\nfull scan {full:.3f} s")
    for name, ask in questions.items():
        took = min(seconds(ask) for _ in range(3))
        print(f"{name:<12} {took:.3f} s, {took / full:.1f} of a full scan")
        assert took < 3 * full


CITATIONS = int(os.environ.get("BASELINE_CITATIONS", "100"))  # a file; 1000 in full


@pytest.mark.slow
def test_a_simulated_baseline_is_flat_in_speed_and_memory(tmp_path: Path) -> None:
    """Thirty files of some citations each: the last ten as quick and as small as the second."""
    from textrank.scale.job import Job, Piece, Slice
    from textrank.scale.worker import Worker, resident_memory_bytes

    for table in TABLES:
        (tmp_path / table).mkdir()
    worker = Worker(Job("ppi", str(tmp_path)))
    speed, held = [], []
    for number in range(30):
        file = write_baseline(
            tmp_path / f"{number}.xml.gz", CITATIONS, number, 1 + CITATIONS * number
        )
        begun = time.process_time()
        done = worker(Slice((Piece(str(file), 0),)), {0: str(file)}, lambda _: None)
        assert done["documents"] == CITATIONS, done["first"]
        speed.append(done["words"] / (time.process_time() - begun))
        held.append(resident_memory_bytes())
    print(f"\nwords a CPU second {np.mean(speed):,.0f}, last ten {np.mean(speed[-10:]):,.0f}")
    print(f"memory {held[9] / 2**20:,.0f} MB after ten, {held[-1] / 2**20:,.0f} MB after thirty")
    assert np.mean(speed[-10:]) > 0.8 * np.mean(speed[5:15])
    assert held[-1] < 1.05 * held[9]


@pytest.mark.slow
def test_one_large_baseline_file_needs_constant_memory(tmp_path: Path) -> None:
    """Thirty times as many citations in one file, as PubMed has them, in parts of a run."""
    file = write_baseline(tmp_path / "large.xml.gz", 30 * CITATIONS)
    size = str(file.stat().st_size / 2**20 / 10)  # some tens of parts
    seen = watch(["apply", "ppi", str(file), "--part-size", size], tmp_path / "out")
    assert seen.code == 0
    assert count_rows(tmp_path / "out", "documents", "parquet") == 30 * CITATIONS
    (growth,) = seen.growth()
    print(f"\n{30 * CITATIONS:,} citations: {seen.used:.0f} s, last tenth over second {growth:.3f}")
    assert growth <= 1.05
