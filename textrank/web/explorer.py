"""The explorer: facts with facets, their evidence, documents, and one name's neighbourhood."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, isfinite
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from textrank.web import queries
from textrank.web.exports import KINDS, exported
from textrank.web.marks import evidence_pieces, marked
from textrank.web.pages import common, missing, page, plain_page
from textrank.web.queries import PAGE, Wanted
from textrank.web.reasons import Reasons
from textrank.web.store import Store

MANY = 200  # statements of a document that are explained on one page


@dataclass(frozen=True)
class Explorer:
    """A store as pages; ``reasons`` is asked why, where the model is at hand."""

    store: Store
    reasons: Reasons | None = None
    reports: Mapping[str, str] = field(default_factory=dict)  # pages of an evaluation, by file name

    def app(self) -> Starlette:
        """The application, without its gate."""
        pages: dict[str, Callable[[Request], Response]] = {
            "/": self.index,
            "/fact": self.fact,
            "/name": self.name,
            "/document": self.document,
            "/explanations": self.explanations,
            "/report/{name}": self.read,
            "/errors": self.errors,
            "/export/{kind}": self.export,
            "/api/suggest": self.suggest,
            "/api/neighbours": self.neighbours,
            "/api/why": self.why,
        }
        routes = [Route(path, endpoint) for path, endpoint in pages.items()]
        return Starlette(routes=[*routes, *common()], exception_handlers={404: _not_found})

    def index(self, request: Request) -> Response:
        """The table of facts with its facets."""
        wanted = Wanted.of(request.query_params.multi_items())
        counted = queries.counts(self.store, wanted)
        return self._page(
            "facts.html",
            wanted=wanted,
            rows=queries.facts(self.store, wanted),
            counts=counted,
            facets=queries.facets(self.store, wanted),
            pages=max(1, ceil(counted["facts"] / PAGE)),
            sorts=list(queries.SORTS),
        )

    def fact(self, request: Request) -> Response:
        """Two names with every sentence about them."""
        one, other = (request.query_params.get(side, "") for side in "ab")
        a, b = (queries.entity(self.store, key) for key in (one, other))
        rows = queries.evidence(self.store, one, other)
        if a is None or b is None or not rows:
            return missing("No statement is about these two names.")
        shown = [{**row, "pieces": evidence_pieces(row)} for row in rows]
        return self._page("fact.html", a=a, b=b, rows=shown, why=self.reasons is not None)

    def name(self, request: Request) -> Response:
        """One name: spellings, partners, and the graph around it."""
        found = queries.entity(self.store, request.query_params.get("key", ""))
        if found is None:
            return missing("Nothing in these results has this name.")
        partners = queries.neighbours(self.store, found["key"], least=0.0, limit=200)
        return self._page("name.html", entity=found, partners=partners)

    def document(self, request: Request) -> Response:
        """One text with all its names and statements."""
        name = request.query_params.get("id", "")
        found = queries.document(self.store, name)
        rows = queries.of_document(self.store, name)
        if found is None and not rows:
            return missing("This document is not among the results.")
        known = found or {"document": name, "title": None, "text": None, "names": [], "year": None,
                          "source": None, "words": None, "status": None}  # fmt: skip
        shown = [{**row, "pieces": evidence_pieces(row)} for row in rows]
        return self._page(
            "document.html", doc=known, rows=shown, sentences=list(_sentences(known, rows)),
            called=queries.called(self.store, name), why=self.reasons is not None,
        )  # fmt: skip

    def explanations(self, request: Request) -> Response:
        """Why all statements of a document got their scores, as textrank explain draws it."""
        name = request.query_params.get("id", "")
        rows = queries.of_document(self.store, name, limit=MANY)
        if self.reasons is None or not rows:
            return missing("Nothing here can be explained. Start with --model to see reasons.")
        try:
            found = self.reasons.page(rows, f"/document?{urlencode({'id': name})}", name)
        except (ValueError, OSError) as error:
            return missing(f"This cannot be explained: {error}")
        return plain_page(found)

    def read(self, request: Request) -> Response:
        """A page of the evaluation that was named; only those, whatever is asked for."""
        found = self.reports.get(request.path_params["name"])
        return missing("There is no such report.") if found is None else plain_page(found)

    def errors(self, _: Request) -> Response:
        """The documents that failed."""
        return self._page("errors.html", rows=queries.errors(self.store))

    def export(self, request: Request) -> Response:
        """What matches, as a file; its name is made here, never taken from the request."""
        kind = request.path_params["kind"]
        if kind not in KINDS:
            return missing(f"There is no such format; there are {', '.join(KINDS)}.")
        wanted = Wanted.of(request.query_params.multi_items())
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", self.store.title).strip("-") or "results"
        headers = {"content-disposition": f'attachment; filename="{stem}.{kind}"'}
        body = exported(self.store, wanted, kind)
        return StreamingResponse(body, media_type=KINDS[kind], headers=headers)

    def suggest(self, request: Request) -> Response:
        """Names that a word may mean."""
        word = request.query_params.get("q", "").strip()[:100]
        return JSONResponse(queries.suggestions(self.store, word) if word else [])

    def neighbours(self, request: Request) -> Response:
        """The graph around a name."""
        key = request.query_params.get("key", "")
        least = _between(request.query_params.get("least", "0.5"), 0.0, 1.0)
        limit = int(_between(request.query_params.get("limit", "20"), 1, 200))
        if queries.entity(self.store, key) is None:
            return JSONResponse({"error": "no such name"}, status_code=404)
        return JSONResponse(queries.neighbourhood(self.store, key, least=least, limit=limit))

    def why(self, request: Request) -> Response:
        """The parts of one statement's score."""
        if self.reasons is None:
            return JSONResponse({"error": "start with --model to see reasons"}, status_code=404)
        rows = queries.of_document(self.store, request.query_params.get("id", ""))
        at = [request.query_params.get(side, "") for side in "ab"]
        row = next((r for r in rows if [_place(r, "a"), _place(r, "b")] == at), None)
        if row is None:
            return JSONResponse({"error": "no such statement"}, status_code=404)
        around = [r for r in rows if r["sentence_start"] == row["sentence_start"]]
        try:
            return JSONResponse(self.reasons.of(row, around))
        except (ValueError, OSError) as error:
            return JSONResponse({"error": str(error)}, status_code=422)

    def _page(self, name: str, **values: Any) -> Response:
        failed = self.store.value("SELECT count(*) FROM failures")
        wanted = values.pop("wanted", Wanted())
        shared = {"title": self.store.title, "failed": failed, "wanted": wanted}
        return page(name, {**shared, "report": bool(self.reports), **values})


def _place(row: dict[str, Any], side: str) -> str:
    return f"{row[f'start_{side}']}-{row[f'end_{side}']}"


def _sentences(known: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """The text of a document, or what is known of it, with all names marked."""
    names = [(n["start"], n["end"]) for n in known["names"] if n["start"] is not None]
    names += [(r[f"start_{s}"], r[f"end_{s}"]) for r in rows for s in "ab"]
    places = sorted({(a, b) for a, b in names if a is not None and b is not None})
    if known["text"]:
        yield marked(known["text"], [(a, b, "name") for a, b in places])
        return
    sentences = {
        r["sentence_start"]: r["sentence"] for r in rows if r["sentence_start"] is not None
    }
    for start, sentence in sorted(sentences.items()):
        yield marked(sentence or "", [(a - start, b - start, "name") for a, b in places])


def _between(text: str, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        return low
    return min(max(value, low), high) if isfinite(value) else low


def _not_found(_: Request, __: Exception) -> Response:
    return missing("There is no such page.")
