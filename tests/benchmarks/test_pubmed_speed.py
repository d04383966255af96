"""``apply ppi --out`` on real abstracts and articles: a share of them, or all (PUBMED_SHARE=1)."""

from __future__ import annotations

import gzip
import itertools
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.ratios import measure
from tests.benchmarks.watching import Watched, watch
from textrank.config import load_corpus
from textrank.language import load_nlp
from textrank.results.schema import TABLES, count_rows, read_rows

pytest.importorskip("pyarrow")
pytestmark = [pytest.mark.benchmark, pytest.mark.corpus, pytest.mark.slow]
SHARE = float(os.environ.get("PUBMED_SHARE", "0.01"))  # of the documents, evenly taken
REPEATS = int(os.environ.get("BENCH_REPEATS", "3"))
PART = os.environ.get("PUBMED_PART", "1")  # megabytes of text in a part


@pytest.fixture(scope="module")
def texts(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all documents, or one with a share of each file."""
    source = data / "pubmed"
    if SHARE >= 1:
        return source
    folder = tmp_path_factory.mktemp("pubmed")
    step = round(1 / SHARE)
    for file in sorted(source.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            chosen = list(itertools.islice(lines, 0, None, step))
        (folder / file.name.removesuffix(".gz")).write_text("".join(chosen))
    return folder


def applied(texts: Path, out: Path, workers: int) -> Watched:
    """What was seen of a run, which says how much it did."""
    more = ["--workers", str(workers), "--part-size", PART]
    seen = watch(["apply", "ppi", str(texts), *more], out)
    assert seen.code == 0, "some documents failed"
    words = sum(row["words"] for row in read_rows(out, "documents", "parquet"))
    counts = ", ".join(f"{count_rows(out, table, 'parquet'):,} {table}" for table in TABLES)
    print(
        f"\n{workers} workers: {words:,} words, {counts}; {seen.seconds:.0f} s, "
        f"{seen.used:.0f} s of processor time, {words / seen.used:,.0f} words a CPU second"
    )
    return seen


def test_all_documents_at_constant_memory(texts: Path, tmp_path: Path) -> None:
    """The last tenth of each worker's life needs no more memory than its second."""
    seen = applied(texts, tmp_path / "out", 2)
    for held in seen.memory.values():
        print(f"worker: {len(held)} samples, {held[-1] / 2**20:.0f} MB at the end")
    growth = seen.growth()
    print("last tenth over second:", ", ".join(f"{value:.3f}" for value in growth))
    assert all(value <= 1.05 for value in growth)


def test_two_workers_on_idle_cores(texts: Path, tmp_path: Path) -> None:
    one = applied(texts, tmp_path / "one", 1)
    two = applied(texts, tmp_path / "two", 2)
    print(f"two workers are {one.seconds / two.seconds:.2f} times as fast as one")
    assert one.seconds >= 1.7 * two.seconds


def test_overhead_over_a_plain_loop_and_the_language_pipeline(texts: Path, tmp_path: Path) -> None:
    """A worker, the component in a plain loop, and the language alone on the same documents."""
    from textrank.scale.job import Job, Piece, Slice
    from textrank.scale.worker import Worker

    given = list(_documents(texts))  # some have ten times the pairs of others
    file = tmp_path / "some.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in given))
    for table in TABLES:
        (tmp_path / table).mkdir()
    worker = Worker(Job("ppi", str(tmp_path)))
    alone, plain = load_nlp(), load_nlp()
    plain.add_pipe("textrank_ppi")

    def loop(nlp: Any) -> None:
        with nlp.memory_zone():
            for _ in load_corpus(file)(nlp):
                pass

    seconds = measure(
        {
            "language": lambda: loop(alone),
            "plain loop": lambda: loop(plain),
            "worker": lambda: worker(Slice((Piece("x", 0),)), {0: str(file)}, lambda _: None),
        },
        repeats=REPEATS,
    )
    best = {name: min(times) for name, times in seconds.items()}
    words = sum(len(row["text"].split()) for row in given)
    for name, took in best.items():
        print(f"{name}: {took:.2f} s, {words / took:,.0f} words a CPU second")
    overhead, speed = best["worker"] / best["plain loop"], best["language"] / best["worker"]
    print(f"worker over plain loop {overhead:.3f}, speed over language {speed:.2f}")
    assert overhead <= 1.05
    assert speed >= 0.8


def _documents(texts: Path) -> Iterator[dict[str, Any]]:
    """Documents of all files in turn."""
    with ExitStack() as files:
        opened = []
        for path in sorted(texts.glob("*.jsonl*")):
            file = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()  # noqa: SIM115
            opened.append(files.enter_context(file))
        for rows in itertools.zip_longest(*opened):
            for row in filter(None, rows):
                found = json.loads(row)
                yield {"id": found["id"], "text": found["text"]}
