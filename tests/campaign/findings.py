"""Report the faults that a campaign found; their inputs can be kept as regression files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.campaign.sandbox import Outcome, summary

KEPT = Path(__file__).parent / "kept"
SHOWN = 5


def check(
    target: str, found: Sequence[Outcome], spoilt: Callable[[int], bytes] | None = None
) -> None:
    """Fail if there are faults; with ``CAMPAIGN_KEEP=1`` write their inputs to ``kept/``.

    ``spoilt(i)`` returns input i; None if inputs are not files.
    """
    slowest = max((outcome.seconds for outcome in found), default=0.0)
    largest = max((outcome.megabytes for outcome in found), default=0.0)
    total = sum(outcome.seconds for outcome in found)
    line = (
        f"{target}: {len(found)} inputs, {summary(found)}; {total:.0f} s of CPU time, "
        f"at most {slowest:.2f} s and {largest:.0f} MB"
    )
    note(line)
    faults = {outcome.reason[-120:]: outcome for outcome in found if outcome.fault}
    if spoilt is not None and os.environ.get("CAMPAIGN_KEEP"):
        for outcome in faults.values():
            data = spoilt(outcome.index)
            name = f"{hashlib.sha256(data).hexdigest()[:8]}-{target.removeprefix('a.')}"
            KEPT.mkdir(exist_ok=True)
            (KEPT / name).write_bytes(data)
    lines = [f"  {o.index} {o.kind}: {o.reason}" for o in list(faults.values())[:SHOWN]]
    assert not faults, "\n".join([line, f"{len(faults)} different faults, the first:", *lines])


def note(line: str) -> None:
    """Append a line to the report of the campaign, the file that ``CAMPAIGN_REPORT`` names."""
    if report := os.environ.get("CAMPAIGN_REPORT"):
        with open(report, "a", encoding="utf-8") as out:
            out.write(line + "\n")


def minimised(data: bytes, faulty: Callable[[bytes], bool], attempts: int = 2000) -> bytes:
    """Return the smallest input found by deleting ranges that still shows the fault.

    >>> minimised(b"aaaaXbbbb", lambda data: b"X" in data)
    b'X'
    """
    size = max(1, len(data) // 2)
    while size and attempts:
        start = 0
        while start < len(data) and attempts:
            attempts -= 1
            shorter = data[:start] + data[start + size :]
            if faulty(shorter):
                data = shorter
            else:
                start += size
        size //= 2
    return data
