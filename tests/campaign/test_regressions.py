"""Inputs that once broke something, made small: read, or refused by a message; every run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import spacy

from tests.campaign.findings import minimised
from tests.campaign.mutations import spoil_bytes
from tests.campaign.sandbox import run_all
from textrank.config import load_corpus, load_pipeline
from textrank.formats.bioc import PubTator, _iter_blocks
from textrank.formats.detection import READERS, reader_for

KEPT = sorted((Path(__file__).parent / "regressions").iterdir())


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.name)
def test_what_once_broke_is_read_or_refused(file: Path) -> None:
    """A name is ``<format>-<what>.<suffix>``; ``cfg`` is a pipeline, ``any`` by its suffix."""
    format = file.name.partition("-")[0]
    told = str(file)
    try:
        if format == "cfg":
            load_pipeline(file)
        elif format == "any":
            list(load_corpus(file)(spacy.blank("en")))
        else:
            assert format in READERS
            list(reader_for(file, format=format)(spacy.blank("en")))
    except ValueError as error:
        told = str(error)
    assert str(file) in told


def test_many_sections_of_a_document_take_linear_time(tmp_path: Path) -> None:
    """PubTator: 80 000 sections took ten minutes; the sandbox allows ten seconds of CPU time."""
    file = tmp_path / "a.pubtator"
    file.write_bytes(b"1|t|One.\n" + b"1|a|\n" * 80_000)

    def attempt(_: int) -> Iterator[str]:
        yield str(file)
        record = PubTator(str(file))._record(next(_iter_blocks(str(file), 10**7)))
        assert record.breaks[:2] == [5, 6]
        assert len(record.breaks) == 80_000

    (outcome,) = run_all(1, attempt)
    assert outcome.kind == "fine", outcome


@pytest.mark.parametrize("fault", [b"X", b"ab", b"\x00"])
def test_failures_are_made_small(fault: bytes) -> None:
    data = spoil_bytes(b"a long and tedious input " * 20, random.Random(0)) + fault + b" tail" * 30
    faulty: Callable[[bytes], bool] = lambda given: fault in given  # noqa: E731
    small = minimised(data, faulty)
    assert fault in small
    assert len(small) <= len(fault) + 1
