"""Load test of a running explorer: ``python tests/web/load.py ADDRESS [CLIENTS] [ROUNDS]``.

Prints one line of JSON per round: number of requests, errors, median and 95th percentile of the
time in seconds with all clients at once, and the memory of the server if its process is given.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

PAGES = (
    "/", "/?page=2", "/?sort=statements", "/?type=binding", "/?q=PROT{n}", "/?status=negated",
    "/api/suggest?q=p{n}", "/document?id=3000000{n}", "/errors", "/?year=20{n:02}",
    "/assets/app.css",
    "/name?key=ncbigene:{n}", "/api/neighbours?key=ncbigene:{n}",
)  # fmt: skip


async def request(host: str, port: int, token: str, path: str) -> tuple[int, float]:
    """Return status and seconds of a request on a connection of its own; status 0 if it fails."""
    start = time.perf_counter()
    try:
        reader, writer = await asyncio.open_connection(host, port)
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", f"Authorization: Bearer {token}"]
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        await writer.drain()
        answer = await reader.read()
        writer.close()
        status = int(answer.split(b" ", 2)[1])
    except (OSError, IndexError, ValueError):
        status = 0
    return status, time.perf_counter() - start


async def run_round(address: str, clients: int, number: int) -> dict[str, float]:
    """Send one request per client, all at once, and return the figures."""
    parts = urlsplit(address)
    token = parts.query.removeprefix("token=")
    paths = [PAGES[i % len(PAGES)].format(n=(i + number) % 10) for i in range(clients)]
    calls = [request(parts.hostname or "", parts.port or 0, token, path) for path in paths]
    answers = await asyncio.gather(*calls)
    times = sorted(seconds for _, seconds in answers)
    return {
        "requests": len(answers),
        "errors": sum(status not in (200, 404) for status, _ in answers),
        "median": round(times[len(times) // 2], 3),
        "p95": round(times[int(0.95 * len(times))], 3),
    }


def resident_megabytes(pid: int) -> int:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 >> 20


def measure(
    address: str, clients: int = 200, rounds: int = 5, pid: int = 0
) -> list[dict[str, float]]:
    """Return the figures of several rounds."""
    rows = []
    for number in range(rounds):
        row = asyncio.run(run_round(address, clients, number))
        rows.append({**row, "megabytes": resident_megabytes(pid)} if pid else row)
    return rows


if __name__ == "__main__":
    for line in measure(sys.argv[1], *map(int, sys.argv[2:])):
        sys.stdout.write(json.dumps(line) + "\n")
