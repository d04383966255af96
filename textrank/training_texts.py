"""What a model remembers of the documents it was trained on: hashes of their texts, no text."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc

from textrank.docs import text_marks

META_KEY = "training_texts"  # in the meta.json of a model
MAX_HASHES = 1 << 15  # kept in a model: 256 kB; of more, the smallest
HASH_BYTES = 8


@dataclass(frozen=True)
class TrainingOverlap:
    """How many evaluated documents a model was trained on.

    ``documents`` is the number that share a sentence or the whole text with a training document.
    It is None where the model has no hashes and only the name of the corpus is the same.
    """

    documents: int | None
    total: int

    @property
    def share(self) -> float | None:
        """The fraction of the evaluated documents; None where their number is not known."""
        return None if self.documents is None else self.documents / self.total

    @property
    def note(self) -> str:
        """A sentence for reports and warnings."""
        if self.documents is None:
            return (
                "the model was trained on a corpus of this name, so these figures may be too high. "
                "Evaluate on other documents, or cross-validate with textrank run."
            )
        return (
            f"the model was trained on {self.documents} of these {self.total} documents "
            f"({self.documents / self.total:.0%}), so these figures are too high. Evaluate on "
            "other documents, or cross-validate with textrank run."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"documents": self.documents, "share": self.share}


def hash_texts(docs: Sequence[Doc]) -> str:
    """Return hashes of the sentences and texts of documents, as base64 for a model's meta.

    Texts are compared in lower case, letters and digits only. At most ``MAX_HASHES`` are kept,
    those of the smallest value, so that a large corpus is still recognised by some sentences.
    """
    hashes = sorted(set().union(*map(_hashes, docs)))[:MAX_HASHES]
    return base64.b64encode(np.array(hashes, dtype="<u8").tobytes()).decode("ascii")


def find_overlap(
    meta: Mapping[str, Any], docs: Sequence[Doc], corpus: str = ""
) -> TrainingOverlap | None:
    """Return how many documents a model was trained on, by its meta; None where none is known.

    A model without hashes, such as one of an older version, is compared by the name of its corpus.
    """
    known = _known_hashes(meta)
    if known is None:
        names = {name.strip().lower() for name in str(meta.get("corpus") or "").split(",")}
        same = bool(corpus) and corpus.lower() in names
        return TrainingOverlap(None, len(docs)) if same else None
    count = sum(not known.isdisjoint(_hashes(doc)) for doc in docs)
    return TrainingOverlap(count, len(docs)) if count else None


def _known_hashes(meta: Mapping[str, Any]) -> set[int] | None:
    """The hashes of a model; None where it has none, or what it has is damaged."""
    text = meta.get(META_KEY)
    if not isinstance(text, str):
        return None
    try:
        data = base64.b64decode(text, validate=True)
        return set(np.frombuffer(data, dtype="<u8").tolist())
    except (binascii.Error, ValueError):
        return None


def _hashes(doc: Doc) -> set[int]:
    whole = " ".join(re.findall(r"[^\W_]+", doc.text.lower()))
    marks = [*text_marks(doc), *([("text", whole)] if whole else [])]
    return {_hash("\0".join(mark)) for mark in marks}


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES)
    return int.from_bytes(digest.digest(), "little")
