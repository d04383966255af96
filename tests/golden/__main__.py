"""Rewrite the stored values: ``python -m tests.golden [--check] [FILE or FILE:KEY ...]``.

Prints which keys changed. With ``--check`` nothing is written and the exit code says whether
anything differs. ``answers.json``, ``runs.json:ppi`` and so on restrict the work.
"""

from __future__ import annotations

import argparse
import time

from tests.golden.collect import FILES, differences, load, plain, save

SHOWN = 8  # differences printed per key


def main() -> int:
    """Collect, compare, print and write; return 1 if ``--check`` found a difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="FILE[:KEY]")
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    changed = 0
    for file, collectors in FILES.items():
        stored = load(file)
        values = {key: value for key, value in stored.items() if key in collectors}
        dropped = sorted(stored.keys() - collectors.keys())
        for key, collect in collectors.items():
            if arguments.only and not {file, f"{file}:{key}"} & set(arguments.only):
                continue
            began = time.process_time()
            value = plain(collect())
            seconds = time.process_time() - began
            lines = list(differences(stored[key], value)) if key in stored else ["new"]
            print(f"{file}:{key}: {_summary(lines)} ({seconds:.1f} s)", flush=True)
            for line in lines[:SHOWN]:
                print(f"    {line}", flush=True)
            changed += bool(lines)
            if lines:  # keep the stored digits where nothing changed
                values[key] = value
        for key in dropped:
            print(f"{file}:{key}: dropped")
        changed += len(dropped)
        if not arguments.check and values != stored:
            save(file, values)
    print(f"{changed} keys changed")
    return int(arguments.check and changed > 0)


def _summary(lines: list[str]) -> str:
    return f"{len(lines)} differences" if lines else "unchanged"


if __name__ == "__main__":
    raise SystemExit(main())
