"""LETOR: the documents of queries as numbers, with how relevant each is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from textrank.formats.records import Record, docs_of
from textrank.io import LIMIT, WHOLE, check_utf8, lines, untarred
from textrank.types import Matrix, Vector

ARCHIVES = (".tar", ".tar.gz", ".tgz")


@dataclass(frozen=True)
class Judged:
    """A document of a query: how relevant it is, and its features by number."""

    query: str
    relevance: float
    features: Mapping[str, float]
    id: str = ""


@dataclass(frozen=True)
class Letor:
    """Queries of a LETOR file, ``relevance qid:N 1:0.5 2:0.25 ... # docid = ...`` a line.

    A document is a query, whose ``doc.user_data["judged"]`` lists what was judged for it:
    ``{"id", "relevance", "features"}``. The lines of a query stand together. ``path`` may also be
    a tar archive of such files, of which ``member`` names those to read by how they end.
    """

    path: str
    member: str = ".txt"
    skip_bad: bool = False
    limit: int = LIMIT

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        found = groupby(self.judged(), key=lambda j: j.query)
        rows = ((query, [_row(j) for j in own]) for query, own in found)
        return docs_of(rows, self._record, nlp, path=self.path, cut=False, skip_bad=self.skip_bad)

    def judged(self) -> Iterator[Judged]:
        """The lines, one by one."""
        found = False
        for place, numbered in self._files():
            for number, line in numbered:
                if line.partition("#")[0].strip():
                    found = True
                    yield _judged(line, f"{place}, line {number}")
        if not found:
            raise ValueError(f"{self.path}: no judged document in it. Name a LETOR file.")

    def _files(self) -> Iterator[tuple[str, Iterable[tuple[int, str]]]]:
        if not self.path.endswith(ARCHIVES):
            yield self.path, lines(self.path, self.limit)
            return
        for name, data in untarred(self.path, self.member, max(self.limit, WHOLE)):
            text = data.decode("utf-8", errors="surrogateescape")
            yield f"{self.path}/{name}", enumerate(text.splitlines(), 1)

    def _record(self, row: tuple[str, list[dict[str, Any]]]) -> Record:
        query, documents = row
        return Record(query, f"query {query}", self.path, data={"judged": documents})


def letor_arrays(path: str | Path, member: str = ".txt") -> tuple[Matrix, Vector, list[str]]:
    """Features, relevance and the query of every document of a LETOR file."""
    found = list(Letor(str(path), member).judged())
    width = max((int(k) for j in found for k in j.features), default=0)
    X = np.zeros((len(found), width))
    for row, judged in enumerate(found):
        for number, value in judged.features.items():
            X[row, int(number) - 1] = value
    return X, np.array([j.relevance for j in found]), [j.query for j in found]


def _judged(line: str, place: str) -> Judged:
    fields, _, comment = check_utf8(line, place).partition("#")
    relevance, *pairs = fields.split()
    try:
        cells = [(key, value) for key, _, value in (pair.partition(":") for pair in pairs)]
        if not cells or cells[0][0] != "qid" or not cells[0][1]:
            raise ValueError("no qid")
        features = {str(int(key)): _finite(value) for key, value in cells[1:]}
        return Judged(cells[0][1], _finite(relevance), features, _id(comment))
    except ValueError:
        raise ValueError(
            f"{place}: {fields.strip()!r:.60} is no judged document. Write relevance qid:N 1:0.5 "
            "2:0.25 ..., finite numbers."
        ) from None


def _finite(text: str) -> float:
    value = float(text)
    if not np.isfinite(value):
        raise ValueError(text)
    return value


def _id(comment: str) -> str:
    name, sign, value = comment.partition("=")
    return value.split()[0] if sign and name.strip() == "docid" and value.split() else ""


def _row(judged: Judged) -> dict[str, Any]:
    row = {"relevance": judged.relevance, "features": dict(judged.features)}
    return {"id": judged.id, **row} if judged.id else row
