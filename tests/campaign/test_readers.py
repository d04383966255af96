"""Spoilt files of every format: read, or refused by a message that names the file; nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy

from tests.campaign import samples
from tests.campaign.findings import check
from tests.campaign.mutations import (
    Mutation,
    any_of,
    spoil_bytes,
    spoil_docbin,
    spoil_json,
    spoil_packed,
    spoil_tokens,
)
from tests.campaign.sandbox import run_all
from tests.campaign.settings import INPUTS, SEED
from textrank.catalog import CATALOG
from textrank.config import load_corpus, registry
from textrank.formats.detection import READERS, reader_for

pytestmark = pytest.mark.campaign
WORDS = any_of(spoil_bytes, spoil_tokens, spoil_tokens)
TREES = any_of(spoil_bytes, spoil_tokens, spoil_json, spoil_json)
WAYS: dict[str, Mutation] = {
    "a.jsonl": TREES,
    "a.json": TREES,
    "a.jsonl.gz": spoil_packed(TREES),
    "a.xml.gz": spoil_packed(WORDS),
    "a.spacy": any_of(spoil_bytes, spoil_docbin, spoil_docbin),
    "a.zip": spoil_bytes,
}
READ: dict[str, str] = {"a.a2": "bionlp.v1"}


@pytest.mark.parametrize("name", samples.files())
def test_a_spoilt_file_is_read_or_refused_by_name(name: str, tmp_path: Path) -> None:
    seed = samples.files()[name]
    way = WAYS.get(name, WORDS)
    nlp = spacy.blank("en")
    file = tmp_path / name
    if name == "a.ann":
        file.with_suffix(".txt").write_text(samples.TEXT)
    if name == "a.a2":
        file = tmp_path / "folder" / "PMC-7-01.a2"
        file.parent.mkdir()
        for other, data in samples.BIONLP.items():
            (file.parent / other).write_bytes(data)
    (tmp_path / "corpus.jsonl").write_bytes(samples.JSON_LINES)

    def spoilt(number: int) -> bytes:
        return way(seed, random.Random(f"{SEED} {name} {number}"))

    def attempt(number: int) -> Iterator[str]:
        file.write_bytes(spoilt(number))
        yield str(tmp_path)
        list(_reader(name, file)(nlp))
        yield ""

    check(name, run_all(INPUTS, attempt), spoilt)


def _reader(name: str, file: Path) -> Any:
    if name not in READ:
        return load_corpus(file)
    path = file.parent if name == "a.a2" else file
    return registry.readers.get(READ[name])(str(path))


def test_there_is_a_sample_of_every_reader(tmp_path: Path) -> None:
    known = {cls: name for name, cls in registry.readers.get_all().items()}
    found = set(READ.values()) | {"together.v1"}
    for name, data in samples.files().items():
        if name not in READ and name != "corpus.cfg":
            (tmp_path / name).write_bytes(data)
            found.add(known[type(reader_for(tmp_path / name))])
            (tmp_path / name).unlink()
    shipped = {name for role in ("readers",) for name in CATALOG[role]}
    assert found == shipped


@pytest.mark.parametrize("format", READERS)
def test_any_bytes_in_any_format(format: str, tmp_path: Path) -> None:
    everything = list(samples.files().values())
    nlp = spacy.blank("en")
    file = tmp_path / "a.x"

    def spoilt(number: int) -> bytes:
        rng = random.Random(f"{SEED} any {format} {number}")
        return spoil_bytes(rng.choice(everything), rng)

    def attempt(number: int) -> Iterator[str]:
        file.write_bytes(spoilt(number))
        yield str(tmp_path)
        list(reader_for(file, format=format)(nlp))
        yield ""

    check(f"any-{format}", run_all(max(1, INPUTS // 5), attempt), spoilt)
