"""Coverage-guided fuzzing of the readers with atheris, if it is installed.

``python -m tests.campaign.guided NAME SECONDS`` fuzzes the reader of the sample ``NAME`` (a key of
``tests.campaign.samples.files``), ``python -m tests.campaign.guided all SECONDS`` one after the
other, each in a process of its own, and prints one line for each. SECONDS are of CPU time. A
ValueError or OSError that names the file is fine. Anything else ends the run, as do 10 s of CPU
time or 300 MB for one input; the input is left in ``tests/campaign/kept``. atheris is not a
dependency: install it by hand.
"""

from __future__ import annotations

import os
import pkgutil
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.campaign import samples
from tests.campaign.findings import KEPT
from tests.campaign.sandbox import MEGABYTES, SECONDS
from tests.campaign.settings import SEED

MAX_INPUT_BYTES = 20_000


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
    """Fuzz one reader for ``seconds`` of CPU time; ends the process, with code 0 if no fault."""
    import atheris

    with atheris.instrument_imports(include=["textrank.formats", "textrank.io"]):
        import textrank.formats

        for module in pkgutil.iter_modules(textrank.formats.__path__, "textrank.formats."):
            import_module(module.name)
    import spacy

    warnings.simplefilter("ignore")
    nlp = spacy.blank("en")
    folder = Path(tempfile.mkdtemp())
    file, reader = make_reader(name, folder)
    seeds = folder / "seeds"
    seeds.mkdir()
    (seeds / "seed").write_bytes(samples.files()[name])
    begin, base = time.process_time(), peak_megabytes()
    counts = {"inputs": 0, "read": 0}
    slowest = 0.0

    def test_one_input(data: bytes) -> None:
        """Read the bytes as a file; raise for anything but a refusal by name."""
        nonlocal slowest
        file.write_bytes(data)
        start = time.process_time()
        try:
            for _ in reader()(nlp):
                pass
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
    limits = [f"-max_len={MAX_INPUT_BYTES}", "-timeout=600", "-rss_limit_mb=2000", "-verbosity=0"]
    options = [f"-artifact_prefix={KEPT}/{name}-", "-detect_leaks=0", f"-seed={int(SEED) + 1}"]
    atheris.Setup([sys.argv[0], *limits, *options, str(seeds)], test_one_input)
    atheris.Fuzz()


def main(name: str, seconds: str) -> int:
    """Fuzz the reader of a sample, or of every sample in a process of its own; 1 for a fault."""
    if name != "all":
        fuzz(name, float(seconds))
    failed = 0
    for sample in samples.files():
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
