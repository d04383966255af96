"""The curation page: a question, the keys that answer it, and what the model has learnt."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from textrank.formats.table import WRITERS
from textrank.web.curation import Curation
from textrank.web.pages import common, missing, page
from textrank.web.security import Gate
from textrank.web.trained import corpus_file, model_archive


@dataclass(frozen=True)
class Curator:
    """A curation as pages."""

    curation: Curation
    title: str
    gate: Gate

    def app(self) -> Starlette:
        """The application, without its gate."""
        routes = [
            Route("/", self.index),
            Route("/api/state", self.state),
            Route("/api/reasons", self.reasons),
            Route("/api/answer", self.answer, methods=["POST"]),
            Route("/api/undo", self.undo, methods=["POST"]),
            Route("/api/name", self.name, methods=["POST"]),
            Route("/export/model.zip", self.model),
            Route("/export/answers.jsonl", self.answers),
            Route("/export/corpus/{format}", self.corpus),
        ]
        return Starlette(routes=[*routes, *common()], exception_handlers={404: _not_found})

    def index(self, _: Request) -> Response:
        """The page; its script fetches the first question."""
        task = self.curation.teaching.pipeline.task.name
        values = {"title": self.title, "csrf": self.gate.csrf, "formats": list(WRITERS)}
        return page("curate.html", {**values, "task": task, "who": self.curation.who})

    def state(self, _: Request) -> Response:
        """Everything the page shows."""
        return JSONResponse(self.curation.state())

    def reasons(self, request: Request) -> Response:
        """The parts of a question's score."""
        try:
            found = self.curation.reasons(request.query_params.get("question", ""))
        except ValueError as error:
            return JSONResponse({"error": str(error)}, status_code=422)
        return JSONResponse(found)

    async def answer(self, request: Request) -> Response:
        """Takes an answer in."""

        def do(body: dict[str, Any]) -> dict[str, Any]:
            return self.curation.answer(_text(body, "question"), _text(body, "value"))

        return await _change(request, do)

    async def undo(self, request: Request) -> Response:
        """Takes the last answer back."""
        return await _change(request, lambda _: self.curation.undo())

    async def name(self, request: Request) -> Response:
        """Marks a name, or says that there is none."""

        def do(body: dict[str, Any]) -> dict[str, Any]:
            start, end = (_number(body, key) for key in ("start", "end"))
            remove = body.get("remove") is True
            return self.curation.mark(_text(body, "document"), start, end, remove=remove)

        return await _change(request, do)

    def model(self, _: Request) -> Response:
        """The trained model as a zip."""
        return _file(lambda: (model_archive(self.curation.teaching), "model.zip"))

    def answers(self, _: Request) -> Response:
        """Who answered what and when, as JSON lines."""
        headers = {"content-disposition": 'attachment; filename="answers.jsonl"'}
        lines = self.curation.answers.lines()
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)

    def corpus(self, request: Request) -> Response:
        """The texts with their answers in a format of ours."""
        format = request.path_params["format"]
        if format not in WRITERS:
            return missing(f"There is no such format; there are {', '.join(WRITERS)}.")

        def made() -> tuple[bytes, str]:
            content, suffix = corpus_file(self.curation, format)
            return content, f"corpus{suffix}"

        return _file(made)


async def _change(request: Request, do: Callable[[dict[str, Any]], Any]) -> Response:
    """Does what a request asks, and answers with the state after it."""
    try:
        body = json.loads(await request.body() or b"{}")
        if not isinstance(body, dict):
            raise ValueError("a request is a JSON object.")
        return JSONResponse(await run_in_threadpool(do, body))
    except (ValueError, RecursionError) as error:
        return JSONResponse({"error": str(error)}, status_code=422)


def _file(made: Callable[[], tuple[bytes, str]]) -> Response:
    try:
        content, name = made()
    except ValueError as error:
        return JSONResponse({"error": str(error)}, status_code=422)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key!r} must be a text, got {value!r:.80}.")
    return value


def _number(body: dict[str, Any], key: str) -> int:
    value = body.get(key)
    if type(value) is not int:
        raise ValueError(f"{key!r} must be a whole number, got {value!r:.80}.")
    return value


def _not_found(_: Request, __: Exception) -> Response:
    return missing("There is no such page.")
