"""Results folders of any size, as ``apply --out`` writes them, with generated sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

TYPES = ("binding", "phosphorylation", "activation", "inhibition", "regulation", None)
VERBS = {"binding": "binds", "phosphorylation": "phosphorylates", "activation": "activates",
         "inhibition": "inhibits", "regulation": "regulates", None: "acts on"}  # fmt: skip
STATUSES = ("asserted", "negated", "speculated")
PART = 50_000  # rows of a file
SPECIES = ("human", "mouse", "rat")


def write_folder(folder: Path, *, statements: int = 200, proteins: int = 40, seed: int = 0) -> Path:
    """Write a folder of ``statements`` about ``proteins`` and return it."""
    rng = np.random.default_rng(seed)
    for table in ("documents", "names", "statements", "errors"):
        (folder / table).mkdir(parents=True)
    kinds = rng.integers(0, len(TYPES), statements)
    ends = np.minimum(rng.zipf(1.4, (statements, 2)), proteins) - 1
    ends[:, 1] = np.where(ends[:, 0] == ends[:, 1], (ends[:, 1] + 1) % proteins, ends[:, 1])
    rows = [_row(i, *ends[i], TYPES[kinds[i]], rng) for i in range(statements)]
    for part, start in enumerate(range(0, statements, PART)):
        _write(folder / "statements" / f"part-{part:05}.parquet", rows[start : start + PART])
    documents = [_document(n) for n in range(_count_documents(statements))]
    _write(folder / "documents" / "part-00000.parquet", documents)
    _write(folder / "names" / "part-00000.parquet", _name_rows(rows[:50_000]))
    failed = [{"source": "bad.xml", "document": "77", "reason": "not well-formed: line 3"}]
    _write(folder / "errors" / "part-00000.parquet", failed)
    (folder / "manifest.json").write_text(json.dumps({"model": "ppi", "settings": {}}))
    return folder


def _count_documents(statements: int) -> int:
    """Return the number of documents of so many statements."""
    return max(1, statements // 4)


def _row(i: int, a: int, b: int, kind: str | None, rng: np.random.Generator) -> dict[str, Any]:
    """Return a row of the table of statements."""
    names = [_spell(int(n), i) for n in (a, b)]
    verb = VERBS[kind]
    status = STATUSES[int(rng.choice(3, p=[0.86, 0.08, 0.06]))]
    before = {"asserted": "Here ", "negated": "It is not true that ", "speculated": "Perhaps "}
    sentence = f"{before[status]}{names[0]} {verb} {names[1]} in cells of line {i % 97}."
    start = 100 * (i // _count_documents(1))
    starts = [start + len(before[status]), 0]
    trigger = starts[0] + len(names[0]) + 1
    starts[1] = trigger + len(verb) + 1
    p = float(rng.beta(4, 1.6))
    return {
        "document": str(30_000_000 + i // 4),
        "start_a": starts[0],
        "end_a": starts[0] + len(names[0]),
        "start_b": starts[1],
        "end_b": starts[1] + len(names[1]),
        "name_a": names[0],
        "name_b": names[1],
        "id_a": _identifier(int(a)),
        "id_b": _identifier(int(b)),
        "score": 2 * p - 1,
        "probability": p,
        "interacts": bool(p >= 0.5 and status == "asserted"),
        "status": status,
        "type": kind,
        "direction": "a>b" if kind not in ("binding", None) else "none",
        "trigger": json.dumps([[trigger, trigger + len(verb)]]),
        "sentence_start": start,
        "sentence": sentence,
        "source": f"pubmed{i % 3:04}.xml.gz",
    }


def _spell(protein: int, i: int) -> str:
    """Return the name of a protein, for some proteins in one of two spellings."""
    return f"p{protein}" if protein % 3 == 0 and i % 5 == 0 else f"PRO{protein}"


def _identifier(protein: int) -> str | None:
    """Return the identifier of a protein; None for some."""
    return None if protein % 7 == 6 else f"NCBIGene:{1000 + protein}"


def _document(n: int) -> dict[str, Any]:
    """Return a row of the table of documents."""
    return {
        "document": str(30_000_000 + n), "source": f"pubmed{n % 3:04}.xml.gz",
        "title": f"Proteins of line {n}", "year": 1990 + n % 35, "words": 180 + n % 60,
        "status": "done",
    }  # fmt: skip


def _name_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the table of names."""
    result = []
    for row in rows:
        for side in "ab":
            identifier = row[f"id_{side}"]
            number = int(identifier.rpartition(":")[2]) if identifier else 0
            result.append(
                {"document": row["document"], "start": row[f"start_{side}"],
                 "end": row[f"end_{side}"], "name": row[f"name_{side}"], "label": "protein",
                 "id": identifier, "species": SPECIES[number % 3] if identifier else None}
            )  # fmt: skip
    return result


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as a Parquet file."""
    pq.write_table(pa.Table.from_pylist(rows), path)
