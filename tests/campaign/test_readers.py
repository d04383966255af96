"""Spoilt files of every format: read, or refused by a message that names the file; nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

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
from textrank.config import load_corpus
from textrank.formats.senseval import Senseval
from textrank.formats.table import READERS, reader_for

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
FORMATS = {"a.pos": "senseval", "a.zip": "senseval"}


@pytest.mark.parametrize("name", samples.files())
def test_a_spoilt_file_is_read_or_refused_by_name(name: str, tmp_path: Path) -> None:
    seed = samples.files()[name]
    way = WAYS.get(name, WORDS)
    nlp = spacy.blank("en")
    file = tmp_path / name
    if name == "a.ann":
        file.with_suffix(".txt").write_text(samples.TEXT)
    (tmp_path / "corpus.jsonl").write_bytes(samples.JSON_LINES)

    def spoilt(number: int) -> bytes:
        return way(seed, random.Random(f"{SEED} {name} {number}"))

    def attempt(number: int) -> Iterator[str]:
        file.write_bytes(spoilt(number))
        yield str(tmp_path)
        if name in FORMATS:
            list(Senseval(str(file))(nlp))
        else:
            list(load_corpus(file)(nlp))
        yield ""

    check(name, run_all(INPUTS, attempt), spoilt)


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
