"""Finished work on disk, in plain files under the settings that made them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from spacy.tokens import Doc

from textrank.io import (
    clear_folder,
    pack,
    read_arrays,
    read_json,
    unpack,
    write_text,
    writing_bytes,
)


@dataclass(frozen=True)
class Cache:
    """A folder with a JSON file for each finished piece of work, and arrays beside some.

    The name of a file is a hash of everything its content depends on: settings, documents, and the
    code of textrank itself. A change of any of them is another name, so nothing outdated is ever
    read; the JSON says in plain words what it was made from. Any file may be deleted at any time.
    """

    folder: Path

    def get(self, kind: str, made_from: Mapping[str, Any]) -> dict[str, Any] | None:
        """What was kept for these settings; None where there is nothing, or it is damaged."""
        path = self._path(kind, made_from)
        try:
            entry = read_json(path, math.inf)
        except ValueError:
            return None
        known = isinstance(entry, dict) and entry.get("made_from") == _plain(made_from)
        return entry["content"] if known else None

    def keep(self, kind: str, made_from: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        """Writes a piece of work, whole or not at all."""
        entry = {"made_from": _plain(made_from), "content": content}
        text = json.dumps(entry, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        write_text(text, self._made(kind, made_from))

    def get_arrays(self, kind: str, made_from: Mapping[str, Any]) -> tuple[Any, Any] | None:
        """A matrix or features with their notes; None where there are none, or damaged ones."""
        content = self.get(kind, made_from)
        path = self._path(kind, made_from).with_suffix(".npz")
        if content is None or not path.is_file():
            return None
        try:
            return unpack(read_arrays(path, math.inf)), content
        except ValueError:
            return None

    def keep_arrays(
        self, kind: str, made_from: Mapping[str, Any], value: Any, content: Mapping[str, Any]
    ) -> None:
        """Writes a matrix or features with notes; the JSON last, so that it vouches for both."""
        path = self._made(kind, made_from).with_suffix(".npz")
        with writing_bytes(path) as stream:  # not compressed: a Gram matrix hardly shrinks
            np.savez(stream, allow_pickle=False, **pack(value))
        self.keep(kind, made_from, content)

    def _made(self, kind: str, made_from: Mapping[str, Any]) -> Path:
        """The path in a folder that exists and holds nothing that a killed run left."""
        path = self._path(kind, made_from)
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_folder(path.parent)
        return path

    def _path(self, kind: str, made_from: Mapping[str, Any]) -> Path:
        text = json.dumps(_plain(made_from), sort_keys=True)
        return self.folder / kind / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"


def fingerprint(docs: Iterable[Doc]) -> str:
    """A hash of all that a pipeline can see of documents: text, analyses, entities and gold."""
    digest = hashlib.sha256()
    for doc in docs:
        spans = {
            key: [(s.start, s.end, s.label_, s.id_) for s in g] for key, g in doc.spans.items()
        }
        tokens = [(t.text, t.whitespace_, t.tag_, t.dep_, t.head.i, t.is_sent_start) for t in doc]
        own = {str(key): value for key, value in doc.user_data.items() if isinstance(key, str)}
        digest.update(json.dumps([tokens, spans, own], default=str, sort_keys=True).encode())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def code() -> str:
    """A hash of the source of textrank: results of another version are other results."""
    digest = hashlib.sha256()
    root = Path(str(files("textrank")))
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()


def _plain(made_from: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(made_from, sort_keys=True))
