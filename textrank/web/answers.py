"""What people answered: an SQLite file to which every answer is written before it counts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

FORMAT = 1  # rises when an older textrank could not read a new file

_TABLES = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  who TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('answer', 'name', 'undo')),
  document TEXT NOT NULL,
  question TEXT NOT NULL,
  value TEXT NOT NULL,
  undoes INTEGER REFERENCES events (id)
);
"""


@dataclass(frozen=True)
class Event:
    """One thing somebody did: answered a question, marked a name, or took something back."""

    id: int
    at: str
    who: str
    kind: str
    document: str
    question: str  # the key of the question; of a name the characters, as JSON
    value: str
    undoes: int | None = None


class Answers:
    """The log of one curation. Nothing is ever changed in it: taking back is an event too.

    SQLite writes ahead and waits for the disk at every event, so that a killed process, or a
    machine without power, loses no answer that was acknowledged.
    """

    def __init__(self, path: str | Path, about: Mapping[str, str]) -> None:
        self.path = Path(path)
        try:
            self._db = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{self.path}: not usable for answers ({error}). Name another with --answers."
            ) from error
        self._lock = Lock()
        self._check({"format": str(FORMAT), **about})

    def _check(self, about: Mapping[str, str]) -> None:
        """Refuses a file that belongs to other texts or another task."""
        known = dict(self._db.execute("SELECT key, value FROM about").fetchall())
        for key, value in about.items():
            if known.setdefault(key, value) != value:
                raise ValueError(
                    f"{self.path}: its answers have {key} {known[key]!r}, not {value!r}. "
                    "Name another file with --answers."
                )
            self._db.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (key, value))

    def close(self) -> None:
        """Lets go of the file."""
        self._db.close()

    def put(
        self,
        kind: str,
        who: str,
        *,
        document: str = "",
        question: str = "",
        value: str = "",
        undoes: int | None = None,
    ) -> Event:
        """Writes an event; it is on the disk when this returns."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._lock:
            cursor = self._db.execute(
                "INSERT INTO events (at, who, kind, document, question, value, undoes) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (at, who, kind, document, question, value, undoes),
            )
            number = int(cursor.lastrowid or 0)
        return Event(number, at, who, kind, document, question, value, undoes)

    def events(self) -> list[Event]:
        """All events in their order."""
        with self._lock:
            rows = self._db.execute(
                "SELECT id, at, who, kind, document, question, value, undoes FROM events "
                "ORDER BY id"
            ).fetchall()
        return [Event(*row) for row in rows]

    def standing(self) -> list[Event]:
        """Answers and names that were not taken back, in their order."""
        events = self.events()
        gone = {event.undoes for event in events if event.kind == "undo"}
        return [event for event in events if event.kind != "undo" and event.id not in gone]

    def lines(self) -> Iterator[str]:
        """The log as JSON lines."""
        for event in self.events():
            row: dict[str, Any] = {
                name: getattr(event, name)
                for name in ("id", "at", "who", "kind", "document", "question", "value", "undoes")
            }
            yield json.dumps(row, ensure_ascii=False) + "\n"
