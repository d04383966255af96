"""Run property tests with new examples until their processor time is used up.

``python -m tests.campaign.explore 3600`` runs for an hour and prints one line per round, and
failures.
"""

from __future__ import annotations

import itertools
import os
import re
import resource
import subprocess
import sys
from collections.abc import Sequence

CHOSEN = "hypothesis and not browser and not corpus and not benchmark"


def used() -> float:
    """Return the seconds of processor time that children of this process took."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def one_round(number: int, tests: Sequence[str]) -> tuple[int, str]:
    """Run all property tests with new examples; return exit code and output of pytest."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    command += ["-m", CHOSEN, f"--hypothesis-seed={os.getpid()}{number}", *tests]
    environment = os.environ | {"HYPOTHESIS_PROFILE": "explore"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(seconds: float, tests: Sequence[str] = ("tests",)) -> int:
    """Run rounds until the time is used up; return 1 if a test failed, else 0."""
    failed = False
    for number in itertools.count(1):
        code, output = one_round(number, tests)
        last = output.strip().splitlines()[-1]
        say(f"round {number}, {used():.0f} s of processor time: {last}")
        if code:
            failed = True
            say("\n".join(re.findall(r"^(?:E |FAILED|ERROR).*", output, re.MULTILINE)))
        if used() > seconds:
            break
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:] or ("tests",)))
