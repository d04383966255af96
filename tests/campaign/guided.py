"""Coverage-guided fuzzing of the readers with atheris, if it is installed.

``python -m tests.campaign.guided NAME SECONDS`` fuzzes the reader of the sample ``NAME`` (a key of
``tests.campaign.samples.files``), ``python -m tests.campaign.guided all SECONDS`` one after the
other. A ValueError that names the file is fine; anything else ends the run, and the input is left
in ``tests/campaign/kept``. atheris is not a dependency: install it by hand.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from tests.campaign import samples
from tests.campaign.findings import KEPT

PREFIX = "done "


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one reader until ``seconds`` have passed; does not return."""
    import atheris

    with atheris.instrument_imports(include=["textrank.formats", "textrank.io"]):
        from textrank.config import load_corpus
    import spacy

    warnings.simplefilter("ignore")
    nlp = spacy.blank("en")
    folder = Path(tempfile.mkdtemp())
    file = folder / name
    if name == "a.ann":
        file.with_suffix(".txt").write_text(samples.TEXT)
    (folder / "corpus.jsonl").write_bytes(samples.JSON_LINES)
    seeds = folder / "seeds"
    seeds.mkdir()
    (seeds / "seed").write_bytes(samples.files()[name])

    def test_one_input(data: bytes) -> None:
        """Read the bytes as a file; raise for anything but a refusal by name."""
        file.write_bytes(data)
        try:
            for _ in load_corpus(file)(nlp):
                pass
        except ValueError as error:
            if str(folder) not in str(error):
                raise RuntimeError(f"unnamed: {error}") from error

    KEPT.mkdir(exist_ok=True)
    limits = ["-max_len=20000", "-timeout=10", "-rss_limit_mb=2000", "-verbosity=0"]
    options = [
        f"-max_total_time={seconds}",
        f"-artifact_prefix={KEPT}/{name}-",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *limits, *options, str(seeds)], test_one_input)
    atheris.Fuzz()


def main(name: str, seconds: str) -> None:
    """Fuzz the reader of a sample, or of every sample in a process of its own."""
    if name != "all":
        fuzz(name, int(seconds))
    for sample in samples.files():
        command = [sys.executable, "-m", "tests.campaign.guided", sample, seconds]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stderr.splitlines()
        runs = next((line.split()[-1] for line in lines if "number_of_executed_units" in line), "?")
        sys.stdout.write(f"{PREFIX}{sample}: {runs} inputs, exit code {done.returncode}\n")
        if done.returncode:
            sys.stdout.write("\n".join(lines[-30:]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
