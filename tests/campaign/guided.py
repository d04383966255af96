"""Coverage-guided fuzzing of readers and other files with atheris, if it is installed.

``python -m tests.campaign.guided NAME SECONDS`` fuzzes the reader of the sample ``NAME`` (a key of
``tests.campaign.samples.files``) or a target of ``tests.campaign.test_targets`` (word vectors,
lexicons, gene tables, lines for ``explore``). ``python -m tests.campaign.guided all SECONDS``
fuzzes all of them one after the other, each in a process of its own, and prints one line for each.
SECONDS are of CPU time. A ValueError or OSError that names the file is fine. Anything else ends the
run, as do 10 s of CPU time or 300 MB for one input; the input is left in ``tests/campaign/kept``.

``CAMPAIGN_CORPUS=FOLDER`` keeps the inputs with new coverage there, in a folder of each target, and
begins with those of earlier runs; give every run another ``CAMPAIGN_SEED``. Content of compressed
files is mutated too. atheris is not a dependency: install it by hand.
"""

from __future__ import annotations

import io
import os
import pkgutil
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.campaign import samples
from tests.campaign.findings import KEPT
from tests.campaign.mutations import (
    Mutation,
    any_of,
    spoil_bytes,
    spoil_docbin,
    spoil_packed,
    spoil_tokens,
)
from tests.campaign.sandbox import MEGABYTES, SECONDS
from tests.campaign.settings import SEED

MAX_INPUT_BYTES = 20_000
LINES = ("lines.jsonl", "lines.jsonl.gz")  # for ``explore``
OTHERS = ("vectors.npz", "vectors.txt", "lexicon.tsv", "lexicon.tsv.gz", "genes.tsv", *LINES)


def spoil_zip(data: bytes, rng: random.Random) -> bytes:
    """Return a zip archive whose first file is changed, with the right checksum."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        content = archive.open(archive.namelist()[0]).read(MAX_INPUT_BYTES)
    return samples.zipped("line.pos", any_of(spoil_bytes, spoil_tokens)(content, rng))


# libFuzzer cannot change the content of a compressed file, so that these need mutators of ours.
MUTATIONS: dict[str, Mutation] = {
    ".gz": spoil_packed(any_of(spoil_bytes, spoil_tokens)),
    ".spacy": spoil_docbin,
    ".zip": spoil_zip,
}


def make_mutator(mutation: Mutation) -> Callable[[bytes, int, int], bytes]:
    """Return a mutator for libFuzzer; what ``mutation`` cannot change is changed byte by byte."""

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        """Return a mutation of ``data`` of at most ``max_size`` bytes, chosen by ``seed``."""
        rng = random.Random(seed)
        try:
            changed = any_of(mutation, mutation, spoil_bytes)(data, rng)
        except Exception:  # whatever zlib, zipfile and msgpack raise for a damaged file
            changed = spoil_bytes(data, rng)
        return changed[:max_size] or b"\n"

    return mutate


def make_target(name: str, folder: Path) -> tuple[Path, bytes, Callable[[], Any]]:
    """Return the file, the seed and the reading function of a target that is not a reader."""
    import spacy

    targets = import_module("tests.campaign.test_targets")
    store = import_module("textrank.results.store")
    file = folder / name
    if name not in LINES:
        seed, _, use = targets.TARGETS[name]
        return file, seed, lambda: use(file)
    nlp = spacy.blank("en")  # lines without results are read as a corpus
    store.spacy.blank = lambda _: nlp

    def keep_rows(tables: dict[str, Any], *_: Any, **__: Any) -> None:
        """Read all rows, and build no database of them, which takes fifty times as long."""
        for rows in tables.values():
            list(rows)
        raise targets.Parsed({})

    store.from_rows = keep_rows

    def read() -> None:
        """Read the lines as ``explore`` does."""
        with suppress(targets.Parsed):
            store.open_store(file)

    return file, targets.LINES[name][0], read


def make_reader(name: str, folder: Path) -> tuple[Path, Any]:
    """Return the file of a sample in a folder, with the files it needs, and a maker of readers.

    The maker is called after each change of the file, because a format is found by content.
    """
    from textrank.config import load_corpus, registry

    file = folder / name
    if name == "a.ann":
        file.with_suffix(".txt").write_text(samples.TEXT)
    if name == "a.a2":
        file = folder / "folder" / "PMC-7-01.a2"
        file.parent.mkdir()
        for other, data in samples.BIONLP.items():
            (file.parent / other).write_bytes(data)
        return file, lambda: registry.readers.get("bionlp.v1")(str(file.parent))
    (folder / "corpus.jsonl").write_bytes(samples.JSON_LINES)
    return file, lambda: load_corpus(file)


def peak_megabytes() -> float:
    """Return the largest resident memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fuzz(name: str, seconds: float) -> None:
    """Fuzz one target for ``seconds`` of CPU time; ends the process, with code 0 if no fault."""
    import atheris

    folder = Path(tempfile.mkdtemp())
    warnings.simplefilter("ignore")
    with atheris.instrument_imports(include=["textrank"]):
        import textrank.formats

        for module in pkgutil.iter_modules(textrank.formats.__path__, "textrank.formats."):
            import_module(module.name)
        if name in OTHERS:
            file, seed, read = make_target(name, folder)
    if name not in OTHERS:
        import spacy

        nlp = spacy.blank("en")
        file, reader = make_reader(name, folder)
        seed = samples.files()[name]

        def read() -> None:
            """Read all documents."""
            for _ in reader()(nlp):
                pass

    corpora = os.environ.get("CAMPAIGN_CORPUS")
    seeds = Path(corpora, name) if corpora else folder / "seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    (seeds / "seed").write_bytes(seed)
    begin, base = time.process_time(), peak_megabytes()
    counts = {"inputs": 0, "read": 0}
    slowest = 0.0

    def test_one_input(data: bytes) -> None:
        """Read the bytes as a file; raise for anything but a refusal by name."""
        nonlocal slowest
        file.write_bytes(data)
        start = time.process_time()
        try:
            read()
            counts["read"] += 1
        except (ValueError, OSError) as error:
            if str(folder) not in str(error):
                raise RuntimeError(f"unnamed: {error}") from error
        counts["inputs"] += 1
        now = time.process_time()
        slowest = max(slowest, now - start)
        if now - start > SECONDS:
            raise RuntimeError(f"hang: {now - start:.1f} s of CPU time")
        if peak_megabytes() - base > MEGABYTES:
            raise RuntimeError(f"memory: {peak_megabytes() - base:.0f} MB")
        if now - begin > seconds:
            sys.stdout.write(
                f"{name}: {counts['inputs']} inputs, {counts['read']} read, {now - begin:.0f} s of "
                f"CPU time, at most {slowest:.2f} s and {peak_megabytes() - base:.0f} MB, "
                f"{len(list(seeds.iterdir()))} inputs with new coverage\n"
            )
            sys.stdout.flush()
            os._exit(0)

    KEPT.mkdir(exist_ok=True)
    # The clock of libFuzzer counts waiting for other processes, so ours above does the work.
    limits = [
        f"-max_len={MAX_INPUT_BYTES}",
        "-len_control=0",
        "-timeout=600",
        "-rss_limit_mb=2000",
        "-verbosity=0",
    ]
    options = [f"-artifact_prefix={KEPT}/{name}-", "-detect_leaks=0", f"-seed={int(SEED) + 1}"]
    mutation = MUTATIONS.get(Path(name).suffix)
    mutator = {} if mutation is None else {"custom_mutator": make_mutator(mutation)}
    command = [sys.argv[0], *limits, *options, str(seeds)]
    atheris.Setup(command, test_one_input, **mutator)
    atheris.Fuzz()


def main(name: str, seconds: str) -> int:
    """Fuzz one target, or every target in a process of its own; 1 for a fault."""
    if name != "all":
        fuzz(name, float(seconds))
    failed = 0
    for sample in (*samples.files(), *OTHERS):
        command = [sys.executable, "-m", "tests.campaign.guided", sample, seconds]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        sys.stdout.write(done.stdout)
        if done.returncode:
            failed = 1
            tail = done.stderr.splitlines()[-30:]
            sys.stdout.write(f"{sample}: exit code {done.returncode}\n" + "\n".join(tail) + "\n")
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
