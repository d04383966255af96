"""Spoilt lines for explore, word vectors, lexicons, gene tables, queries and editor messages."""

from __future__ import annotations

import gzip
import io
import json
import random
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy

from tests.campaign.findings import check, note
from tests.campaign.mutations import (
    TOKENS,
    any_of,
    spoil_bytes,
    spoil_json,
    spoil_packed,
    spoil_tokens,
)
from tests.campaign.sandbox import MEGABYTES, SECONDS, resident_megabytes, run_all, run_batches
from tests.campaign.settings import INPUTS, SEED
from tests.lint.test_server import TEXT, URI, editor, read, write
from tests.results.test_explored_lines import LINE
from tests.results.test_store import ONE, result
from textrank.cli.servers import MAX_LOG_CHARACTERS
from textrank.representations.collocations import load_lexicon
from textrank.representations.transformations import WordVectorFile, WordVectors
from textrank.results.queries import Selection, count_facets, count_matches, select_page
from textrank.results.store import from_rows, open_store
from textrank.tasks.identifiers.gazetteer import read_gazetteer_tsv

pytest.importorskip("duckdb")
pytestmark = pytest.mark.campaign
WORDS = any_of(spoil_bytes, spoil_tokens, spoil_tokens)
TREES = any_of(spoil_bytes, spoil_tokens, spoil_json, spoil_json)
LEXICON = b"then\tRB IN\nthan\tIN\naccept\tVB VBP\n"
GENES = (
    b"identifier\tsymbol\tnames\ttaxon\thgnc\tuniprot\n"
    b"ncbigene:7157\tTP53\tp53|tumor protein p53\t9606\t11998\tP04637\n"
    b"mine:1\tXYZ\tabc\t\t\t\n"
)


def vectors() -> bytes:
    """Word vectors as ``WordVectors.to_disk`` writes them."""
    buffer = io.BytesIO()
    WordVectors(["then", "than"], np.array([[1.0, 0.5], [0.0, 2.0]])).to_disk(buffer)  # type: ignore[arg-type]
    return buffer.getvalue()


TARGETS: dict[str, tuple[bytes, Callable[[bytes, random.Random], bytes], Callable[[Path], Any]]] = {
    "vectors.npz": (vectors(), spoil_bytes, lambda f: WordVectorFile(str(f)).factor(["then"])),
    "vectors.txt": (b"2 2\nthen 1.0 0.5\nthan 0 2\n", WORDS,
                    lambda f: WordVectorFile(str(f)).factor(["then"])),
    "lexicon.tsv": (LEXICON, WORDS, lambda f: load_lexicon(str(f))),
    "lexicon.tsv.gz": (gzip.compress(LEXICON), spoil_packed(WORDS), lambda f: load_lexicon(str(f))),
    "genes.tsv": (GENES, WORDS, read_gazetteer_tsv),
}  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
def test_a_spoilt_file_is_used_or_refused_by_name(name: str, tmp_path: Path) -> None:
    seed, way, use = TARGETS[name]
    file = tmp_path / name

    def spoilt(number: int) -> bytes:
        return way(seed, random.Random(f"{SEED} {name} {number}"))

    def attempt(number: int) -> Iterator[str]:
        file.write_bytes(spoilt(number))
        yield str(file)
        use(file)
        yield ""

    check(name, run_all(INPUTS, attempt), spoilt)


LINES: dict[str, tuple[bytes, Callable[[bytes, random.Random], bytes]]] = {
    "lines.jsonl": (f"{LINE}\n{LINE}\n".encode(), TREES),
    "lines.jsonl.gz": (gzip.compress(f"{LINE}\n".encode()), spoil_packed(TREES)),
}


class Parsed(Exception):  # noqa: N818
    """Raised instead of building a Store: carries the rows that it would have."""

    def __init__(self, tables: dict[str, list[Any]]) -> None:
        super().__init__()
        self.tables = tables


@pytest.mark.parametrize("name", LINES)
def test_spoilt_lines_for_explore(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file is read alone; those that are accepted go to databases, many files to each.

    A database takes fifty times as long as reading a line. If one cannot be built, its files are
    opened one by one.
    """
    seed, way = LINES[name]
    file = tmp_path / name
    nlp = spacy.blank("en")  # lines without results are read as a corpus
    monkeypatch.setattr("textrank.results.store.spacy.blank", lambda _: nlp)

    def spoilt(number: int) -> bytes:
        return way(seed, random.Random(f"{SEED} {name} {number}"))

    def parse(number: int) -> dict[str, list[Any]]:
        def keep_rows(tables: dict[str, Any], *_: Any, **__: Any) -> None:
            raise Parsed({table: list(rows) for table, rows in tables.items()})

        file.write_bytes(spoilt(number))
        with monkeypatch.context() as patch:
            patch.setattr("textrank.results.store.from_rows", keep_rows)
            try:
                open_store(file)
            except Parsed as parsed:
                return parsed.tables
        raise AssertionError("no Store is built")

    def read(number: int) -> Iterator[str]:
        yield str(file)
        parse(number)
        yield ""

    found = run_all(INPUTS, read)
    check(name, found, spoilt)
    accepted = [outcome.index for outcome in found if outcome.kind == "fine"]

    def show(places: Sequence[int]) -> Iterator[str]:
        """Ask for the first page of one database with the rows of several files."""
        yield str(file)
        if len(places) == 1:
            file.write_bytes(spoilt(accepted[places[0]]))
            store = open_store(file)
        else:
            tables: dict[str, list[Any]] = defaultdict(list)
            for place in places:
                for table, rows in parse(accepted[place]).items():
                    tables[table] += rows
            store = from_rows(tables, name, size=file.stat().st_size)
        with closing(store.connection):
            select_page(store, Selection())
        yield ""

    shown = run_batches(len(accepted), show)
    check(f"{name}, shown", shown, lambda place: spoilt(accepted[place]))
    assert 0 < len(accepted) < INPUTS


QUERIES = "q=GRB2 SOS1&type=binding&type=activation&status=negated&year=2001&sort=year&page=2"


def test_any_query_string() -> None:
    """Every string is parsed; the store is asked once for each different selection."""
    store = from_rows(ONE, "sample")
    asked: set[str] = set()
    slowest = 0.0

    def attempt(number: int) -> None:
        rng = random.Random(f"{SEED} query {number}")
        pairs = [tuple(pair.split("=", 1)) for pair in QUERIES.split("&")]
        for _ in range(rng.randint(1, 4)):
            row = rng.randrange(len(pairs))
            value = rng.choice(
                [*TOKENS, "9" * 5000, "'; DROP TABLE pairs; --", "%", "²", "a" * 9999]
            )
            pairs[row] = (rng.choice([pairs[row][0], rng.choice(TOKENS)]), value)
        pairs *= rng.choice([1, 1, 1, 200])
        selection = Selection.from_query(pairs)  # type: ignore[arg-type]
        query = selection.to_query(page=selection.page)
        if query in asked:
            return
        asked.add(query)
        count_matches(store, selection)
        count_facets(store, selection)
        select_page(store, selection)

    # DuckDB's threads do not survive a fork, so this target runs in one process.
    base, begin = resident_megabytes(), time.process_time()
    for number in range(INPUTS):
        start = time.process_time()
        attempt(number)
        slowest = max(slowest, time.process_time() - start)
    grown = resident_megabytes() - base
    note(
        f"query strings: {INPUTS} inputs, {len(asked)} different selections; "
        f"{time.process_time() - begin:.0f} s of CPU time, at most {slowest:.2f} s and "
        f"{grown:.0f} MB"
    )
    assert slowest < SECONDS
    assert grown < MEGABYTES


SQL = "SELECT name_a, count(*) AS n FROM statements WHERE probability > 0.5 GROUP BY name_a"


def test_any_sql(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    results = result(tmp_path, ONE)
    refused = 0
    for number in range(INPUTS):
        rng = random.Random(f"{SEED} sql {number}")
        text = spoil_tokens(SQL.encode(), rng).decode(errors="replace")
        try:
            results.sql(text, max_rows=1000, seconds=10)
        except ValueError:
            refused += 1
    note(f"SQL: {INPUTS} inputs, {refused} refused")
    assert 0 < refused < INPUTS
    assert json.dumps(results.counts())


MESSAGES: list[dict[str, Any]] = [
    {"method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": URI, "languageId": "markdown", "version": 1, "text": TEXT}}},
    {"method": "textDocument/didChange", "params": {
        "textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": TEXT * 2}]}},
    {"method": "textDocument/didClose", "params": {"textDocument": {"uri": URI}}},
    {"id": 2, "method": "textDocument/codeAction", "params": {
        "textDocument": {"uri": URI}, "context": {"diagnostics": []},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}}},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_any_message_to_the_language_server(tmp_path: Path) -> None:
    """A server answers after every twenty spoilt messages, and logs no traceback."""
    pytest.importorskip("pygls")
    way = any_of(spoil_bytes, spoil_tokens, spoil_json, spoil_json, spoil_json)
    log = tmp_path / "log"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with log.open("wb") as stream, editor({}, stream) as process:
        for number in range(INPUTS):
            rng = random.Random(f"{SEED} message {number}")
            body = way(json.dumps({"jsonrpc": "2.0", **rng.choice(MESSAGES)}).encode(), rng)
            assert process.stdin is not None
            process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            if number % 20 == 19:
                write(process, {**MESSAGES[3], "id": f"check {number}"})
                read(process, lambda m, n=number: m.get("id") == f"check {n}", most=1000)  # type: ignore[misc]
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    lines = log.read_text(encoding="utf-8").splitlines()
    note(f"messages to the language server: {INPUTS} inputs, {len(lines)} lines, {seconds:.0f} s")
    assert not [line for line in lines if "Traceback" in line]
    assert max(map(len, lines)) <= MAX_LOG_CHARACTERS
