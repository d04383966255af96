"""A package beside textrank: a kernel, a reader, a task with a measure of its own, in one module.

Registered as entry points ``textrank_kernels``, ``textrank_readers``, ``textrank_representations``
and ``textrank_tasks``, they work in every cfg and command. Each takes one class or function;
nothing inside textrank is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from textrank.candidates import Candidate, document_id
from textrank.metrics import auc
from textrank.protocols import Task

if not Doc.has_extension("textrank_long_words"):
    Doc.set_extension("textrank_long_words", default=None)


@dataclass(frozen=True)
class SharedLength:
    """A kernel: words of equal length are alike."""

    weight: float = 1.0

    def __call__(self, X: Sequence[Any], Y: Sequence[Any] | None = None) -> np.ndarray:
        left = np.array([len(x) for x in X], dtype=float)
        right = left if Y is None else np.array([len(y) for y in Y], dtype=float)
        return self.weight * (left[:, None] == right[None, :]).astype(float)

    def diag(self, X: Sequence[Any]) -> np.ndarray:
        return np.full(len(X), self.weight)


@dataclass(frozen=True)
class LinePerDoc:
    """A reader: one document a line, long words between stars."""

    path: str

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        for number, line in enumerate(Path(self.path).read_text().splitlines()):
            doc = nlp.make_doc(line.replace("*", ""))
            doc.user_data["document"] = f"line {number}"
            doc.user_data["gold"] = [w.strip("*") for w in line.split() if w.startswith("*")]
            yield doc


@dataclass(frozen=True)
class WordText:
    """A representation: the word itself."""

    def __call__(self, candidates: Sequence[Candidate]) -> list[str]:
        return [candidate.spans[0].text for candidate in candidates]


@dataclass(frozen=True)
class LongWords(Task):
    """A task: which words are long; its ``measures`` are the columns of every report."""

    name: ClassVar[str] = "long_words"
    required_pipes: ClassVar[tuple[str, ...] | None] = ()

    def candidates(self, doc: Doc) -> list[Candidate]:
        gold = doc.user_data.get("gold")
        words = [doc[i : i + 1] for i in range(len(doc))]
        labels = [None if gold is None else 1.0 if w.text in gold else -1.0 for w in words]
        pairs = zip(words, labels, strict=True)
        return [Candidate(doc, (w,), document_id(doc), label=y) for w, y in pairs]

    def annotate(self, doc, scored):
        rows = zip(scored.candidates, scored.scores, strict=True)
        doc._.textrank_long_words = [c.spans[0].text for c, s in rows if s >= scored.limit]
        return doc

    def measures(self, scored):
        said = share_said(np.asarray(scored.scores), scored.limit)
        return {"auc": auc(scored.y, scored.scores), "share_said": said}


def share_said(scores: np.ndarray, limit: float) -> float:
    """A measure: how many of the candidates are answered with yes."""
    return float((scores >= limit).mean())
