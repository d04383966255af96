"""Time and memory as texts grow to a megabyte, and as a stream goes on: no faster than the text."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import math
import os
import random
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy

from tests.campaign import samples
from tests.campaign.findings import note
from tests.campaign.sandbox import MEGABYTES, SECONDS
from tests.campaign.settings import INPUTS, SEED
from textrank.cli.apply import iter_annotated
from textrank.component import load_language
from textrank.config import load_corpus, load_model
from textrank.formats.detection import write_docs
from textrank.lint.linter import Linter
from textrank.lint.model import ConfusionModel, shipped_model_path

pytestmark = [pytest.mark.campaign, pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")]
SMALL, LARGE = 250_000, 1_000_000  # characters
STEEPEST = 1.1  # the exponent of growth
PIECES = max(4, INPUTS // 500)  # of a sample that are repeated
REPEATS = 3  # where other work on the machine may have made one run slow
WORDS = "binds to activates and of the in cells with domain which does not bind".split()  # noqa: SIM905


def ordinary(size: int) -> str:
    """Sentences of names and words, ever new ones among them."""
    rng = random.Random(SEED)
    found: list[str] = []
    length = 0
    for number in itertools.count():
        words = [rng.choice(WORDS) for _ in range(rng.randint(4, 20))]
        words[rng.randrange(len(words))] = f"GRB{number}"
        words[rng.randrange(len(words))] = f"word{number}"
        found.append(" ".join(words).capitalize() + ("." if rng.random() < 0.8 else ".\n\n"))
        length += len(found[-1]) + 1
        if length > size:
            return " ".join(found)[:size]
    raise AssertionError


SHAPES: dict[str, Callable[[int], str]] = {
    "ordinary": ordinary,
    "brackets": lambda n: ")" * n,
    "hyphens": lambda n: ("a-" * n)[:n],
    "one list": lambda n: " and ".join(f"GRB{i}" for i in range(n // 10))[:n],
    "confused words": lambda n: ("then than their there " * n)[:n],
    "wrong words": lambda n: ("It is larger then one of there dogs. " * n)[:n],
    "one line": lambda n: ("SHC binds GRB2 in vivo, which " * n)[:n],
    "blank lines": lambda n: ("SHC.\n\n" * n)[:n],
    "white space": lambda n: (" \n\t" * n)[:n],
    "addresses": lambda n: ("http://a.b/c?d=" * n)[:n],
}


def measured(action: Callable[[], object]) -> tuple[float, float]:
    """Seconds of processor time and megabytes of an action, in a child of its own."""
    with tempfile.NamedTemporaryFile("r+") as file:
        pid = os.fork()
        if pid == 0:
            start, base = time.process_time(), _resident()
            try:
                action()
                row = [time.process_time() - start, _peak() - base]
                Path(file.name).write_text(json.dumps(row))
            finally:
                os._exit(0)
        status = os.waitpid(pid, 0)[1]
        assert not os.WIFSIGNALED(status), signal.Signals(os.WTERMSIG(status)).name
        seconds, megabytes = json.loads(Path(file.name).read_text())
    return seconds, megabytes


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def check_growth(what: str, run: Callable[[str], object], shape: str) -> None:
    """Fails where time grows faster than the text, by the quickest of up to three runs of each."""
    rows = [(math.inf, 0.0), (math.inf, 0.0)]
    exponent = math.inf
    for _ in range(REPEATS):
        again = [measured(lambda s=size: run(SHAPES[shape](s))) for size in (SMALL, LARGE)]  # type: ignore[misc]
        rows = [min(pair) for pair in zip(rows, again, strict=True)]
        exponent = math.log(max(rows[1][0], 0.2) / max(rows[0][0], 0.05)) / math.log(LARGE / SMALL)
        if exponent <= STEEPEST or rows[1][0] < 1:
            break
    note(
        f"growth of {what}, {shape}: {rows[0][0]:.1f} s, {rows[1][0]:.1f} s, exponent "
        f"{exponent:.2f}; {rows[0][1]:.0f} MB, {rows[1][1]:.0f} MB"
    )
    assert exponent <= STEEPEST or rows[1][0] < 1, f"{what}, {shape}: {rows}"


@pytest.mark.parametrize("shape", SHAPES)
def test_converting(shape: str, tmp_path: Path) -> None:
    nlp = spacy.blank("en")

    def run(text: str) -> None:
        (tmp_path / "x.txt").write_text(text, encoding="utf-8")
        write_docs(load_corpus(tmp_path / "x.txt")(nlp), tmp_path / "x.jsonl")
        assert sum(1 for _ in load_corpus(tmp_path / "x.jsonl")(nlp)) == 1

    check_growth("convert", run, shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["ppi", "gene_protein", "spelling", "identifiers"])
@pytest.mark.filterwarnings("ignore:document")
def test_judging(name: str, shape: str, tmp_path: Path) -> None:
    model = load_model(name)
    nlp = load_language(None, model.pipeline.task, raw=True)

    def run(text: str) -> None:
        (tmp_path / "x.txt").write_text(text, encoding="utf-8")
        for _ in iter_annotated(model, [str(tmp_path / "x.txt")], nlp, keep=False):
            pass

    check_growth(f"apply {name}", run, shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_spelling_in_an_editor(shape: str) -> None:
    """``spell``, and the places that ``lsp`` sends to an editor."""
    pytest.importorskip("pygls")
    from pygls.workspace import PositionCodec

    from textrank.lint.server import client_ranges

    linter = Linter(ConfusionModel.from_disk(shipped_model_path("confusions") or "confusions"))

    def run(text: str) -> None:
        proposals = linter(text, file="a.md", kind="markdown")
        assert len(list(client_ranges(text, proposals, PositionCodec()))) == len(proposals)

    check_growth("spell and lsp", run, shape)


@pytest.mark.parametrize("name", samples.files())
def test_reading_a_repeated_piece(name: str, tmp_path: Path) -> None:
    """A file in which one piece of the sample is repeated up to a megabyte, for several pieces."""
    seed = samples.files()[name]
    pack = gzip.compress if name.endswith(".gz") else bytes
    plain = gzip.decompress(seed) if name.endswith(".gz") else seed
    nlp = spacy.blank("en")
    if name == "a.a2":
        pytest.skip("read with the files beside it; the archive has them too")
    (tmp_path / "a.txt").write_text(samples.TEXT)
    (tmp_path / "corpus.jsonl").write_bytes(samples.JSON_LINES)
    file = tmp_path / name
    rng = random.Random(f"{SEED} growth {name}")
    steepest, slowest, largest = 0.0, 0.0, 0.0
    for _ in range(PIECES):
        start = rng.randrange(len(plain))
        piece = plain[start : start + rng.choice([1, 4, 16, 64, 256, len(plain)])]

        def run(size: int, start: int = start, piece: bytes = piece) -> None:
            middle = piece * (size // len(piece))
            file.write_bytes(pack(plain[:start] + middle + plain[start + len(piece) :]))
            with contextlib.suppress(ValueError, OSError):
                for _ in load_corpus(file)(nlp):  # as a stream, as commands read
                    pass

        exponent, seconds, megabytes = growth_exponent(run)
        assert exponent <= STEEPEST or seconds < 1, (name, start, piece[:80], exponent, seconds)
        assert seconds <= SECONDS, (name, start, piece[:80], seconds)
        assert megabytes <= MEGABYTES, (name, start, piece[:80], megabytes)
        steepest = max(steepest, exponent if seconds >= 1 else 0.0)
        slowest, largest = max(slowest, seconds), max(largest, megabytes)
    note(
        f"growth of {name}: {PIECES} pieces, exponent at most {steepest:.2f} where a megabyte "
        f"takes a second or more, at most {slowest:.1f} s and {largest:.0f} MB"
    )


def growth_exponent(run: Callable[[int], object]) -> tuple[float, float, float]:
    """Exponent of growth, and seconds and megabytes of the large run; 0 if it takes no second."""
    small = large = math.inf
    for _ in range(REPEATS):
        seconds, megabytes = measured(lambda: run(LARGE))
        large = min(large, seconds)
        if large < 1:
            return 0.0, large, megabytes
        small = min(small, measured(lambda: run(SMALL))[0])
        exponent = math.log(large / max(small, 0.05)) / math.log(LARGE / SMALL)
        if exponent <= STEEPEST:
            break
    return exponent, large, megabytes


def abstracts(count: int, seed: str) -> Iterator[dict[str, Any]]:
    """Short abstracts with new words throughout."""
    rng = random.Random(seed)
    for number in range(count):
        new = [f"{rng.choice('abcdefgh')}{rng.randrange(10**9):x}" for _ in range(4)]
        text = (
            f"The {new[0]} of GRB{number % 997} binds to SOS{rng.randrange(50)} in {new[1]} cells. "
            f"We saw {new[2]} and {new[3].upper()} activate p53."
        )
        yield {"id": str(number), "text": text}


def test_a_stream_of_new_words_needs_no_more_memory(tmp_path: Path) -> None:
    """The last thousand of twenty times ``INPUTS`` documents, at most 20 000, and the second."""
    count = min(20_000, max(3000, 2 * INPUTS))
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in abstracts(count, SEED)))
    model = load_model("ppi")
    nlp = load_language(None, model.pipeline.task, raw=True)
    sizes: list[float] = []
    start = time.process_time()
    for number, _ in enumerate(iter_annotated(model, [str(path)], nlp, keep=False), 1):
        if number % 1000 == 0:
            sizes.append(_resident())
    told = ", ".join(f"{size:.0f}" for size in sizes)
    note(f"stream of {count} abstracts: MB {told}; {time.process_time() - start:.0f} s")
    assert sizes[-1] <= 1.03 * sizes[1], told
