"""A query in SQL reads the result it is asked about, and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.results.test_store import ONE, result
from textrank.cli.app import run
from textrank.results import store
from textrank.results.store import Results, from_rows

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


@pytest.fixture
def results(tmp_path: Path) -> Results:
    (tmp_path / "r").mkdir()
    (tmp_path / "secret.csv").write_text("word\nsecret\n")
    return result(tmp_path / "r", ONE)


READS = [
    "SELECT * FROM read_csv('{folder}/secret.csv')",
    "SELECT * FROM '{folder}/secret.csv'",
    "SELECT * FROM read_text('{folder}/secret.csv')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_parquet('http://127.0.0.1:9/x.parquet')",
    "SELECT * FROM (SELECT unnest([1])) t, read_blob('/etc/hostname')",
]
WRITES = [
    "COPY documents TO '{folder}/out.csv'",
    "ATTACH '{folder}/out.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 1",
    "PRAGMA threads = 1",
    "CREATE TABLE t AS SELECT 1",
    "DROP VIEW documents",
    "EXPORT DATABASE '{folder}/out'",
    "CALL checkpoint()",
    "WITH t AS (SELECT 1 AS n) INSERT INTO stale SELECT 'd', 'p' FROM t",
]


@pytest.mark.parametrize("sql", [*READS, *WRITES])
def test_other_files_and_changes_are_refused(sql: str, results: Results, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=r"[Pp]ermission|can only read"):
        results.sql(sql.format(folder=tmp_path))
    assert sorted(tmp_path.rglob("*")) == before
    assert results.counts()["documents"] == 3  # the views are still there


def test_variables_of_python_are_not_tables(results: Results) -> None:
    import pyarrow as pa

    secrets = pa.table({"word": ["secret"]})
    assert len(secrets) == 1
    with pytest.raises(ValueError, match="secrets"):
        results.sql("SELECT * FROM secrets")


def test_one_statement_at_a_time(results: Results) -> None:
    with pytest.raises(ValueError, match="2 SQL statements"):
        results.sql("SELECT 1; SELECT 2")
    with pytest.raises(ValueError, match="0 SQL statements"):
        results.sql("-- nothing")


def test_endless_queries_end(results: Results) -> None:
    with pytest.raises(ValueError, match=r"more than 1,000 rows\. Add a LIMIT"):
        results.sql("SELECT * FROM range(10_000_000_000)", max_rows=1000)
    with pytest.raises(ValueError, match=r"more than 0\.2 seconds"):
        results.sql("SELECT sum(random()) FROM range(100_000_000_000)", seconds=0.2)
    assert results.sql("SELECT 1 AS n") == [{"n": 1}]  # the connection is usable


def test_memory_is_bounded_and_nothing_is_spilled(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=r"(?i)memory"):
        results.sql("SELECT list(n) FROM range(1_000_000_000) t(n)")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", ["folder", "other folder", "rows"])
def test_the_explorer_reads_no_other_file(kind: str, results: Results, tmp_path: Path) -> None:
    if kind == "other folder":
        (tmp_path / "r" / "manifest.json").write_text("{}")
    opened = from_rows(ONE, "sample") if kind == "rows" else store.from_folder(tmp_path / "r")
    assert opened.fetch_value("SELECT count(*) FROM claims") == 5
    for sql in (f"SELECT * FROM '{tmp_path}/secret.csv'", "SET threads = 1", "INSTALL httpfs"):
        with pytest.raises(Exception, match=r"(?i)permission|locked"):
            opened.fetch(sql)


def test_threads_share_a_result(results: Results) -> None:
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.append(len(results.sql("SELECT * FROM names"))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [3] * 8


def test_the_command_refuses_by_name(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results.close()
    question = f"SELECT * FROM read_csv('{tmp_path}/secret.csv')"
    assert run(["query", str(tmp_path / "r"), question]) == 2
    error = capsys.readouterr().err
    assert error.startswith("textrank: error:")
    assert str(tmp_path / "r") in error
    assert run(["query", str(tmp_path / "r"), "SELECT count(*) AS n FROM names", "--csv"]) == 0
    assert capsys.readouterr().out == "n\n3\n"
