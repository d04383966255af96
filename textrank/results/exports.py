"""Export of results for other tools, from a folder, JSON lines or a table of facts.

``export_facts`` and ``export_documents`` are the functions behind ``textrank export``. A *fact* is
all evidence about the same two entities (``textrank.tasks.ppi.facts``). Facts are written by
``textrank.tasks.ppi.exports``, which ``apply --network`` uses too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from textrank.io import check_writable, read_json
from textrank.tasks.ppi.exports import EXPORT_FORMATS, find_format, write_facts
from textrank.tasks.ppi.facts import (
    MIN_PROBABILITY,
    UNTYPED,
    Evidence,
    Fact,
    aggregate_rows,
    build_fact,
)

if TYPE_CHECKING:
    from textrank.results.store import Results

__all__ = [
    "DOCUMENT_FORMATS",
    "EXPORT_FORMATS",
    "ExportSummary",
    "export_documents",
    "export_facts",
    "find_document_format",
    "find_format",
    "iter_facts",
]

# Formats of annotated texts -> suffixes; the writers are those of ``textrank.formats``.
DOCUMENT_FORMATS: Mapping[str, tuple[str, ...]] = {
    "bioc_xml": (".bioc.xml",),
    "bioc_json": (".bioc.json",),
    "pubtator": (".pubtator",),
}

MAX_FACTS_BYTES = 1 << 31  # of a table of facts, which is read as a whole
MAX_GROUPED_DOCUMENTS = 5000  # whose rows are in memory at a time, about
BATCH_ROWS = 4096  # fetched from the database at a time


class ExportSummary(NamedTuple):
    """Format of an export and the numbers of exported facts and statements.

    ``format`` is a key of ``EXPORT_FORMATS``.
    """

    format: str
    facts: int
    statements: int  # evidence of the facts that was written
    left_out: int  # statements that the format cannot express


def export_facts(
    source: str | Path,
    target: str | Path,
    *,
    format: str | None = None,
    min_probability: float | None = None,
) -> ExportSummary:
    """Write the facts of results to a file in an exchange format such as INDRA or PSI-MITAB.

    Parameters
    ----------
    source
        Folder of ``apply --out``, JSON lines of ``apply``, or table of ``apply --facts``.
    target
        File to write, replaced atomically.
    format
        Key of ``EXPORT_FORMATS``; None chooses the format by the suffix of ``target``.
    min_probability
        Smallest probability of a fact to write, between 0 and 1; facts that are only negated or
        speculated have probability 0. None writes all facts.

    Raises
    ------
    ValueError
        If the format is unknown, ``min_probability`` is outside 0 .. 1, the source cannot be read
        or the target cannot be written.
    """
    name = find_format(target, format)
    if min_probability is not None and not 0 <= min_probability <= 1:
        raise ValueError(f"a probability is between 0 and 1, got {min_probability}.")
    check_writable(target)
    counts = {"facts": 0, "statements": 0, "written": 0}
    count_written = EXPORT_FORMATS[name].count_written

    def selected() -> Iterator[Fact]:
        """Yield the facts to write, those of at least ``min_probability``, in order.

        Counts facts, their statements, and the statements that the format can express.
        """
        for fact in iter_facts(source):
            if min_probability is None or fact["probability"] >= min_probability:
                counts["facts"] += 1
                counts["statements"] += fact["statements"]
                counts["written"] += count_written(fact)
                yield fact

    write_facts(selected(), target, format=name)
    left_out = counts["statements"] - counts["written"]
    return ExportSummary(name, counts["facts"], counts["written"], left_out)


def find_document_format(path: str | Path, format: str | None = None) -> str | None:
    """Return the key of ``DOCUMENT_FORMATS`` that a format name or path means, or None.

    A given ``format`` alone decides; "bioc" means "bioc_xml". Otherwise the suffix of ``path``
    decides, ignoring case. None means a format of facts or an unknown one.
    """
    if format is not None:
        name = "bioc_xml" if format == "bioc" else format
        return name if name in DOCUMENT_FORMATS else None
    suffixes = DOCUMENT_FORMATS.items()
    return next((key for key, ends in suffixes if str(path).lower().endswith(ends)), None)


def export_documents(folder: str | Path, target: str | Path, format: str) -> int:
    """Write the annotated texts of a result folder; return the number of documents.

    Names and all statements are written, those that do not interact included, with status and
    probability. Result folders store only texts that have statements, so the input files are read
    again. Replaced and deleted documents are left out.

    Parameters
    ----------
    folder
        Folder of ``apply --out``.
    target
        File to write, replaced atomically.
    format
        Key of ``DOCUMENT_FORMATS``.

    Raises
    ------
    ValueError
        If ``folder`` is not a result folder, or an input file is missing or has changed.
    """
    from textrank.formats.detection import write_docs

    check_writable(target)
    count = 0

    def counted() -> Iterator[Doc]:
        """Yield the documents, and count them."""
        nonlocal count
        for doc in _iter_folder_docs(Path(folder)):
            count += 1
            yield doc

    write_docs(counted(), target, format=format, source="ppi")
    return count


def _iter_folder_docs(folder: Path) -> Iterator[Doc]:
    """Iterate over the documents of a result folder as Docs with names and ``_.textrank_ppi``.

    Documents come in the order of the inputs, whose files are read again; those that the folder
    does not list, replaced and deleted ones are left out. Registers the extension ``textrank_ppi``
    if it is missing. Raises ValueError if ``folder`` is not a result folder, or, when it is
    reached, an input is missing or changed.
    """
    import spacy

    from textrank.config import load_corpus
    from textrank.results.store import open_results

    nlp = spacy.blank("en")
    if not Doc.has_extension("textrank_ppi"):
        Doc.set_extension("textrank_ppi", default=None)
    with closing(open_results(folder)) as results:
        inputs = list(results.manifest.get("inputs", ()))
        for numbers in _group_inputs(results, len(inputs)):
            documents = _fetch_documents(results, numbers)
            for number in numbers:
                path = _check_input(inputs[number])
                for position, doc in enumerate(load_corpus(path)(nlp)):
                    name = str(doc.user_data.get("document", position + 1))
                    row = documents.pop((number, name), None)
                    if row is not None:
                        yield _annotate_doc(doc.text, row, nlp)


def _group_inputs(results: Results, n_inputs: int) -> list[range]:
    """Divide the inputs into ranges of input numbers with few enough documents to hold in memory.

    A range ends with the input that brings it to ``MAX_GROUPED_DOCUMENTS`` documents or more, so a
    large file can exceed this number. Ranges cover 0 to ``n_inputs`` in order; [] if there are no
    inputs.
    """
    sql = "SELECT input, count(*) AS n FROM documents GROUP BY input"
    counts = {row["input"]: row["n"] for row in results.sql(sql)}
    groups, first, size = [], 0, 0
    for number in range(n_inputs):
        size += counts.get(number, 0)
        if size >= MAX_GROUPED_DOCUMENTS or number == n_inputs - 1:
            groups.append(range(first, number + 1))
            first, size = number + 1, 0
    return groups


def _fetch_documents(results: Results, numbers: range) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the documents of some inputs, with their names and statements.

    ``numbers`` is the range of input numbers in the manifest. Keys are ``(input number, document
    id)``; values are rows of the table ``documents`` with two more keys: "names" (unsorted rows)
    and "statements" (rows sorted by their offsets), whose rows have the extra column ``input``.
    """
    bounds = [numbers.start, numbers.stop]
    cursor = results.connection.cursor()
    documents: dict[tuple[int, str], dict[str, Any]] = {}
    for table in ("documents", "names", "statements"):
        columns = "t.*" if table == "documents" else "t.*, d.input"
        join = "" if table == "documents" else "JOIN documents d USING (document, source)"
        side = "t" if table == "documents" else "d"
        where = f"WHERE {side}.input >= ? AND {side}.input < ?"
        cursor.execute(f"SELECT {columns} FROM {table} t {join} {where}", bounds)
        keys = [column[0] for column in cursor.description or ()]
        for values in cursor.fetchall():
            row = dict(zip(keys, values, strict=True))
            key = row["input"], row["document"]
            if table == "documents":
                documents[key] = row | {"names": [], "statements": []}
            else:
                documents[key][table].append(row)
    cursor.close()
    for row in documents.values():
        row["statements"].sort(key=lambda r: (r["start_a"], r["start_b"], r["end_a"], r["end_b"]))
    return documents


def _check_input(entry: Mapping[str, Any]) -> Path:
    """Return the path of an input in a manifest; raise ValueError if it is missing or has changed.

    Only the size in bytes is compared, so a change that keeps the size is not noticed.
    """
    path = Path(entry["path"])
    if not path.exists() or path.stat().st_size != entry["size"]:
        raise ValueError(
            f"{path}: missing or changed since textrank apply read it. Restore it, or write "
            "annotated texts with textrank apply --write."
        )
    return path


def _annotate_doc(text: str, row: Mapping[str, Any], nlp: Language) -> Doc:
    """Return a new Doc of a text with its names as spans and its statements in ``_.textrank_ppi``.

    ``row`` is a value of ``_fetch_documents``. Of several names for the same characters the last is
    used. Tokens are split where a name begins or ends inside them.
    """
    from textrank.formats.base import Mention, Record, build_docs

    names = {(name["start"], name["end"]): name for name in row["names"]}
    mentions = [
        Mention(f"T{number}", name["label"] or "", (span,), (name["id"],) if name["id"] else ())
        for number, (span, name) in enumerate(sorted(names.items()), 1)
    ]
    record = Record(row["document"], text, f"document {row['document']!r}", mentions)
    (doc,) = build_docs(
        [record], lambda item: item, nlp, path=row["source"], cut=True, skip_bad=False
    )
    doc._.textrank_ppi = [_to_answer(statement) for statement in row["statements"]]
    return doc


def iter_facts(source: str | Path) -> Iterator[Fact]:
    """Iterate over the facts of a result folder, JSON lines of ``apply``, or a table of facts.

    Facts of a folder are sorted by the keys of their two entities and built one by one, so that
    large results need little memory. Facts of JSON lines are sorted by decreasing probability;
    those of a table keep its order. Raises ValueError, at the first fact, if the source is missing
    or none of these.
    """
    path = Path(source)
    if not path.exists():
        raise ValueError(
            f"{path}: no such file or folder. Give a folder of textrank apply --out, its JSON "
            "lines, or the file of --facts."
        )
    if path.is_dir():
        yield from _iter_folder_facts(path)
        return
    from textrank.results.store import is_apply_output, read_apply_output

    if is_apply_output(path):
        yield from _aggregate_statements(read_apply_output(path)["statements"])
    else:
        yield from _read_facts(path)


def _iter_folder_facts(folder: Path) -> Iterator[Fact]:
    """Iterate over the facts of a folder of ``apply --out``, sorted by the keys of their entities.

    Only statements that are evidence count. They are fetched in batches; only the labels of all
    entities are held in memory. Raises ValueError if ``folder`` is not a result folder.
    """
    from textrank.results.store import entities, open_results, spellings

    with closing(open_results(folder)) as results:
        labels = f"SELECT key, label FROM ({entities('(' + spellings('keyed') + ')')})"
        names = dict(results.connection.execute(labels).fetchall())
        cursor = results.connection.cursor()
        cursor.execute(
            """SELECT a, b, key_a <> a AS is_reversed, document, sentence, name_a, name_b,
              start_a, end_a, start_b, end_b, p, physical, regulation, fact, score, status, type,
              fact_direction, trigger
            FROM keyed WHERE is_evidence
            ORDER BY a, b, document, start_a, start_b, source"""
        )
        columns = [column[0] for column in cursor.description or ()]
        rows = (
            dict(zip(columns, values, strict=True))
            for batch in iter(lambda: cursor.fetchmany(BATCH_ROWS), [])
            for values in batch
        )
        for (a, b), group in groupby(rows, key=lambda row: (row["a"], row["b"])):
            yield build_fact((a, b), [_row_to_evidence(row) for row in group], names)


def _row_to_evidence(row: Mapping[str, Any]) -> Evidence:
    """Convert a row of the view ``keyed``, with the extra column ``is_reversed``, to evidence.

    NULL values get defaults: sentence "", score 0, type ``UNTYPED`` and trigger [].
    """
    return {
        "document": row["document"],
        "sentence": row["sentence"] or "",
        "names": [row["name_a"], row["name_b"]],
        "spans": [[row["start_a"], row["end_a"]], [row["start_b"], row["end_b"]]],
        "is_reversed": row["is_reversed"],
        "probability": row["p"],
        "physical": row["physical"],
        "regulation": row["regulation"],
        "fact": row["fact"],
        "score": row["score"] or 0.0,
        "status": row["status"],
        "type": row["type"] or UNTYPED,
        "direction": row["fact_direction"],
        "trigger": row["trigger"] or [],
    }


def _aggregate_statements(statements: Iterable[Mapping[str, Any]]) -> list[Fact]:
    """Aggregate statements to facts, most probable first.

    ``statements`` are rows with the columns of ``StatementRow``; those that are not evidence are
    ignored. Statements of the same document must be adjacent: each run of equal ``document`` counts
    as one document.
    """
    groups = groupby(statements, key=lambda row: row["document"])
    return aggregate_rows((name, map(_to_answer, rows)) for name, rows in groups)


def _to_answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row of ``StatementRow`` to a row of ``doc._.textrank_ppi``.

    Only names and offsets are required. Missing values become: ``interacts`` False, ``score`` 0,
    ``trigger`` [], others None; ``probability`` is left out if it is missing or None.
    """
    answer = {
        "names": [row["name_a"], row["name_b"]],
        "identifiers": [row.get("id_a"), row.get("id_b")],
        "spans": [[row["start_a"], row["end_a"]], [row["start_b"], row["end_b"]]],
        "interacts": bool(row.get("interacts")),
        "score": row.get("score") or 0.0,
    }
    keys = ("sentence", "status", "type", "direction", "physical", "regulation", "fact")
    answer |= {key: row.get(key) for key in keys} | {"trigger": row.get("trigger") or []}
    probability = row.get("probability")
    return answer if probability is None else {**answer, "probability": probability}


def _read_facts(path: Path) -> list[Fact]:
    """Read the facts of a file that ``apply --facts`` wrote, in the order of the file.

    Raises ValueError if the file has other content or more than ``MAX_FACTS_BYTES``.
    """
    content = read_json(path, MAX_FACTS_BYTES)
    facts = content.get("facts") if isinstance(content, dict) else None
    try:
        return [_check_fact(fact) for fact in facts]  # type: ignore[union-attr]
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise ValueError(
            f"{path}: not a table of facts ({error!s:.80}). Give a folder of textrank apply --out, "
            "its JSON lines, or the file of --facts."
        ) from None


def _check_fact(fact: Any) -> Fact:
    """Validate a fact from JSON and return it, aggregated anew from its evidence.

    Only ``ends``, ``names`` and ``evidence`` of the fact are read. In the evidence, missing names
    are taken from the fact, a missing probability is ``MIN_PROBABILITY``, a missing ``is_reversed``
    False and a missing ``trigger`` []. Raises TypeError, KeyError, ValueError
    or AttributeError if another value is missing or a value has a wrong type.
    """
    names = [str(name) for name in fact["names"]]
    first, second = (str(end) for end in fact["ends"])
    evidence: list[Any] = []
    for row in fact["evidence"]:
        (start_a, end_a), (start_b, end_b) = row["spans"]
        evidence.append(
            {
                **dict.fromkeys(("physical", "regulation", "fact")),
                **row,
                "document": str(row["document"]),
                "sentence": str(row["sentence"]),
                "names": [str(name) for name in row.get("names") or names],
                "spans": [[int(start_a), int(end_a)], [int(start_b), int(end_b)]],
                "is_reversed": bool(row.get("is_reversed", False)),
                "probability": float(row.get("probability", MIN_PROBABILITY)),
                "trigger": [[int(start), int(end)] for start, end in row.get("trigger") or ()],
            }
        )
    return build_fact((first, second), evidence, dict(zip((first, second), names, strict=True)))
