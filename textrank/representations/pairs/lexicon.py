"""Lexicons: the parts of speech a word can have, kept in a file."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from textrank.io import shipped_folder


def load_lexicon(name: str) -> Mapping[str, Sequence[str]]:
    """A lexicon by the name of a shipped one ("english") or by the path of its file.

    A line holds a word, a tab and its tags with blanks between, most frequent first; the file may
    be packed by gzip.
    """
    shipped = shipped_folder("models") / "lexicon" / f"{name}.tsv.gz"
    path = shipped if Path(name).name == name and shipped.is_file() else Path(name)
    if not path.is_file():
        raise ValueError(
            f"no lexicon {name!r}: neither shipped nor a file. Write one with write_lexicon."
        )
    return _read(str(path.resolve()), path.stat().st_mtime_ns)


def write_lexicon(lexicon: Mapping[str, Sequence[str]], path: str | Path) -> None:
    """Writes a lexicon as ``load_lexicon`` reads it; the same bytes every time."""
    lines = [f"{word}\t{' '.join(tags)}\n" for word, tags in sorted(lexicon.items())]
    if bad := next((line for line in lines if line.count("\t") != 1 or line.count("\n") != 1), ""):
        raise ValueError(f"a word or tag holds a tab or line end: {bad!r}. Leave it out.")
    data = "".join(lines).encode()
    packed = gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data
    Path(path).write_bytes(packed)


@lru_cache(maxsize=4)
def _read(path: str, changed: int) -> Mapping[str, Sequence[str]]:
    data = Path(path).read_bytes()
    try:
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
        rows = [line.split("\t") for line in text.splitlines()]
        return {word: tuple(tags.split()) for word, tags in rows}
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"{path}: not a lexicon ({error}). Write word, tab, tags.") from error
