"""Property tests with new examples, round after round, until their processor time is used up.

``python -m tests.campaign.explore 3600`` (an hour); a line a round, and the failures of each.
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
    """Seconds of processor time that children of this process took."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def one_round(number: int, tests: Sequence[str]) -> tuple[int, str]:
    """The exit code of all property tests with examples of their own, and what pytest said."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    command += ["-m", CHOSEN, f"--hypothesis-seed={os.getpid()}{number}", *tests]
    environment = os.environ | {"HYPOTHESIS_PROFILE": "explore"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def say(line: str) -> None:
    """Tells at once, for a round takes minutes."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(seconds: float, tests: Sequence[str] = ("tests",)) -> int:
    """Rounds until the time is used; 1 where a test failed, whose examples are printed."""
    failed = False
    for number in itertools.count(1):
        code, told = one_round(number, tests)
        last = told.strip().splitlines()[-1]
        say(f"round {number}, {used():.0f} s of processor time: {last}")
        if code:
            failed = True
            say("\n".join(re.findall(r"^(?:E |FAILED|ERROR).*", told, re.MULTILINE)))
        if used() > seconds:
            break
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:] or ("tests",)))
