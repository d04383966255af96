"""How corpora are read where they do not say it themselves: bounds, and what becomes of errors."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from textrank.formats.together import Together
from textrank.io import LIMIT


@dataclass(frozen=True)
class Reading:
    """What a user asks of all readers: more memory for trusted files, or to skip what is bad."""

    limit: int | None = None  # bytes held at once; None for what a reader takes by itself
    skip_bad: bool = False

    @property
    def bytes(self) -> int:
        """How much may be held at once."""
        return LIMIT if self.limit is None else self.limit

    def applied(self, reader: Any) -> Any:
        """The reader with these settings, as far as it has them."""
        if isinstance(reader, Together):
            return Together({name: self.applied(part) for name, part in reader.corpora.items()})
        if not is_dataclass(reader) or isinstance(reader, type):
            return reader  # a plugin's, with settings of its own
        wanted: dict[str, Any] = {"limit": self.limit, "skip_bad": self.skip_bad or None}
        known = {f.name for f in fields(reader)}
        return replace(reader, **{k: v for k, v in wanted.items() if v is not None and k in known})


DEFAULT = Reading()
READING: ContextVar[Reading] = ContextVar("reading", default=DEFAULT)
