"""Four tables of a slice, written as whole files; the plain schema of a result."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

Format: TypeAlias = Literal["parquet", "jsonl"]
Row: TypeAlias = Mapping[str, Any]
FORMATS: tuple[Format, ...] = ("parquet", "jsonl")

TABLES: dict[str, dict[str, str]] = {
    "statements": {
        "document": "string",
        "start_a": "int64",
        "end_a": "int64",
        "start_b": "int64",
        "end_b": "int64",
        "name_a": "string",
        "name_b": "string",
        "id_a": "string",
        "id_b": "string",
        "score": "double",
        "probability": "double",
        "interacts": "bool",
        "status": "string",
        "type": "string",
        "direction": "string",
        "trigger": "ranges",
        "sentence_start": "int64",
        "sentence": "string",
        "source": "string",
    },
    "names": {
        "document": "string",
        "start": "int64",
        "end": "int64",
        "name": "string",
        "label": "string",
        "id": "string",
        "species": "string",
        "probability": "double",
        "answer": "string",
        "source": "string",
    },
    "errors": {"source": "string", "document": "string", "reason": "string"},
    # The last to be written: a part is there when its documents are.
    "documents": {
        "document": "string",
        "source": "string",
        "title": "string",
        "year": "int64",
        "words": "int64",
        "status": "string",
        "input": "int64",
        "position": "int64",
        "replaces": "bool",
    },
}
LAST = "documents"


def part_file(folder: Path, table: str, part: str, format: Format) -> Path:
    """Where a table of a part stands."""
    return folder / table / f"{part}.{format}"


def write_part(
    folder: Path, part: str, tables: Mapping[str, Sequence[Row]], format: Format
) -> None:
    """Writes the tables of a part, each file whole or not at all, that of documents last.

    A part without its documents counts as not there: the next run takes away what is left of it.
    """
    for table, columns in TABLES.items():
        file = part_file(folder, table, part, format)
        draft = file.with_name(f".{file.name}.{os.getpid()}.draft")
        try:
            _write(draft, columns, tables.get(table, ()), format)
            _sync(draft)
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
        _sync(file.parent)


def _write(path: Path, columns: Mapping[str, str], rows: Sequence[Row], format: Format) -> None:
    if format == "jsonl":
        with path.open("w", encoding="utf-8") as out:
            for row in rows:
                values = {name: row.get(name) for name in columns}
                out.write(json.dumps(values, ensure_ascii=False) + "\n")
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(columns)
    arrays = [
        pa.array([row.get(name) for row in rows], type=kind)
        for name, kind in zip(columns, schema.types, strict=True)
    ]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, compression="zstd")


def arrow_schema(columns: Mapping[str, str]) -> Any:
    """The columns as Arrow types."""
    import pyarrow as pa

    kinds = {
        "string": pa.string(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "bool": pa.bool_(),
        "ranges": pa.list_(pa.list_(pa.int64())),
    }
    return pa.schema([(name, kinds[kind]) for name, kind in columns.items()])


def _sync(path: Path) -> None:
    """Makes sure that a file or folder is on the disk, not only on its way there."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def parts(folder: Path, format: Format) -> set[str]:
    """The parts that are there."""
    return {file.stem for file in (folder / LAST).glob(f"*.{format}")}


def remove_part(folder: Path, part: str, format: Format) -> None:
    """Remove the tables of a part, that of documents first; what is missing is no error.

    A removal that is interrupted leaves debris, which the next run clears.
    """
    for table in reversed(TABLES):
        part_file(folder, table, part, format).unlink(missing_ok=True)


def clear_debris(folder: Path, format: Format) -> None:
    """Takes away drafts of killed writers, and tables of parts that were not finished."""
    known = parts(folder, format)
    for table in TABLES:
        for draft in (folder / table).glob(".*.draft"):
            draft.unlink(missing_ok=True)
        for file in (folder / table).glob(f"*.{format}"):
            if file.stem not in known:
                file.unlink(missing_ok=True)


def count_rows(folder: Path, table: str, format: Format) -> int:
    """How many rows a table has in all parts."""
    return sum(_rows_of(file, format) for file in (folder / table).glob(f"*.{format}"))


def _rows_of(file: Path, format: Format) -> int:
    with _named(file):
        if format == "jsonl":
            with file.open("rb") as stream:
                return sum(1 for _ in stream)
        import pyarrow.parquet as pq

        return int(pq.ParquetFile(file).metadata.num_rows)


def read_rows(
    folder: Path, table: str, format: Format, *, skip: Collection[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, part by part, except those of the parts in ``skip``."""
    files = (folder / table).glob(f"*.{format}")
    for file in sorted(file for file in files if file.stem not in skip):
        with _named(file):
            rows = _read(file, format)
        yield from rows


def _read(file: Path, format: Format) -> list[dict[str, Any]]:
    if format == "jsonl":
        with file.open(encoding="utf-8") as stream:
            return [dict(json.loads(line)) for line in stream]
    import pyarrow.parquet as pq

    return list(pq.read_table(file).to_pylist())


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """What a damaged part leads to, as an error that says which one and what to do."""
    try:
        yield
    except (ValueError, TypeError, OSError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"{file}: damaged ({error!s:.200}). Remove the file of this name in documents and run "
            "textrank apply --out again."
        ) from error
