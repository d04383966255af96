"""HTTP interfaces of ``textrank serve``: REST for programs, and a recommender for INCEpTION.

``AnnotationService`` holds a model and annotates texts with the functions of ``textrank apply``, so
that answers are the same; ``textrank mcp`` uses it too. ``ServiceApp`` is the Starlette application
in front of it, behind ``GuardMiddleware`` of ``textrank.web.app`` (loopback, token, size).
``openapi_document`` describes every route with the answers that it gives, also for errors.

``InceptionRecommender`` suggests names and relations in documents being annotated. INCEpTION sends
a document as UIMA CAS (XMI with its type system) to ``URL/predict`` and expects the CAS back with
predictions: annotations with ``inception_internal_predicted``, the value of the feature and, where
the type has them, score and explanation. ``URL/train`` is answered without content, since models
are trained by ``textrank train`` and ``curate``.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

from anyio import to_thread
from spacy.language import Language
from spacy.tokens import Doc
from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from textrank.candidates import document_id, get_answers
from textrank.component import annotate_stream, load_language
from textrank.config import load_model, package_versions, with_task_settings
from textrank.formats.base import Mention, Record, build_docs
from textrank.language.segmentation import VocabZone
from textrank.model import Model
from textrank.web.app import TOKEN_PATH, serve_health

MAX_BODY_BYTES = 16 << 20
MAX_DOCUMENTS = 1000  # of a request
MAX_TEXT_CHARACTERS = 1_000_000  # of a document
MAX_ID_CHARACTERS = 1000
MAX_NAME_CHARACTERS = 200
MAX_GENES = 50
CHUNK_DOCUMENTS = 16  # annotated at a time; other requests get their turn in between
TOKEN_TYPE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
NAMED_ENTITY_TYPE = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
PREDICTED = "inception_internal_predicted"
IDENTIFIER_FEATURES = ("identifier", "kb_id", "concept")  # get the identifier, others the label
GENE_URL = "https://www.ncbi.nlm.nih.gov/gene/"  # INCEpTION's knowledge bases use addresses


class ApiError(Exception):
    """Refusal of a request, with the status of the response and a message for the client.

    ``ServiceApp`` answers it with this status and ``{"error": message}``.
    """

    def __init__(self, status: int, message: str) -> None:
        """Store the status of the response and the message for the client."""
        super().__init__(message)
        self.status = status
        self.message = message


class InputDocument(NamedTuple):
    """Text to annotate."""

    id: str
    text: str
    mentions: tuple[Mention, ...] | None = None  # names; None leaves them to the recogniser


@dataclass
class AnnotationService:
    """Model with its language pipeline, which annotates texts for one request at a time.

    spaCy's vocabulary must not be changed by two threads, so work is done under a lock, a few
    documents at a time.

    Attributes
    ----------
    model
        Name or path of a model.
    nlp
        Name or path of a spaCy pipeline; None takes the shipped one.
    settings
        Changed settings of the model's task.
    """

    model: str = "ppi"
    nlp: str | None = None
    settings: Sequence[str] = ()
    _lock: Lock = field(default_factory=Lock, repr=False)

    @cached_property
    def loaded(self) -> tuple[Model, Language]:
        """The model and the pipeline that its task needs for raw text; loaded on first use.

        Raises ValueError if the model or a setting does not exist.
        """
        model = with_task_settings(load_model(self.model), self.settings)
        return model, load_language(self.nlp, model.pipeline.task, raw=True)

    @property
    def task(self) -> str:
        """Name of the model's task, such as "ppi"; loads the model."""
        return self.loaded[0].pipeline.task.name

    @property
    def states_facts(self) -> bool:
        """Whether the model's task exports "facts": each answer is a statement about two names.

        Such answers have type, direction and status. Loads the model.
        """
        return "facts" in self.loaded[0].pipeline.task.exports

    def describe(self) -> dict[str, Any]:
        """Return ``model``, ``task`` and ``versions``, and ``decision`` if the model describes it.

        ``model`` is the name that was given, ``decision`` describes how yes is decided
        (``Model.describe_decision``). Loads the model.
        """
        decision = self.loaded[0].describe_decision()
        description = {"model": self.model, "task": self.task, "versions": package_versions()}
        return description | ({"decision": decision} if decision else {})

    def annotate(
        self, documents: Sequence[InputDocument], *, deadline: float = float("inf")
    ) -> Iterator[dict[str, Any]]:
        """Yield ``{"document": id, "textrank_<task>": answers}`` per document, in order.

        Rows are those that ``textrank apply`` prints, without ``decision``. Raises TimeoutError if
        ``deadline``, by the monotonic clock, has passed before a chunk of documents or at the end,
        and ValueError for a text that cannot be annotated.
        """
        task = self.task

        def to_row(doc: Doc) -> dict[str, Any]:
            """Return the row of a document, with its answers."""
            answers = get_answers(doc, task)
            return {"document": document_id(doc), f"textrank_{task}": answers}

        yield from self.annotate_docs(documents, to_row, deadline=deadline)

    def annotate_docs(
        self,
        documents: Sequence[InputDocument],
        convert: Callable[[Doc], Any],
        *,
        deadline: float = float("inf"),
    ) -> Iterator[Any]:
        """Yield ``convert(doc)`` of each annotated document, in order.

        ``convert`` runs under the lock, and the Doc must not be used after it. Documents are
        annotated ``CHUNK_DOCUMENTS`` at a time. Raises TimeoutError if ``deadline``, by the
        monotonic clock, has passed before a chunk or at the end, and ValueError for a text that
        cannot be annotated.
        """
        model, nlp = self.loaded
        for first in range(0, len(documents), CHUNK_DOCUMENTS):
            chunk = documents[first : first + CHUNK_DOCUMENTS]
            results = []
            with self._lock:
                if time.monotonic() > deadline:
                    raise TimeoutError
                zone = VocabZone(nlp)
                docs = build_docs(
                    chunk,
                    _to_record,
                    nlp,
                    path="request",
                    cut=True,
                    skip_bad=False,
                    on_batch_end=zone.mark_due,
                )
                results = [convert(doc) for doc in annotate_stream(model, docs, zone)]
            yield from results
        if time.monotonic() > deadline:
            raise TimeoutError

    def link_gene(
        self, name: str, *, species: int | None = None, text: str | None = None, limit: int = 5
    ) -> list[dict[str, Any]]:
        """Return the genes and families that a name may mean, the best first.

        Parameters
        ----------
        name
            The name, such as "p53".
        species
            NCBI taxon; None considers all.
        text
            A text with the name, from which the model ``identifiers`` chooses. None looks the name
            up in the gene tables, without a probability.
        limit
            Largest number of genes.

        Returns
        -------
        list of dict
            ``identifier``, ``symbol``, ``species``, ``hgnc``, ``uniprot`` and ``probability``
            (None without a text); unknown values are None, as the species of a family. Empty if
            the name is unknown or the recogniser does not find it in the text.
        """
        if text is not None:
            with self._lock:
                return _link_in_text(name, species, text, limit)
        from textrank.tasks.identifiers.task import Identifiers

        with self._lock:
            lookup = Identifiers().lookup
            matches = lookup.find_matches(name, None if species is None else frozenset({species}))
        genes = {match.gene.identifier: match.gene for match in matches}
        return [
            {
                "identifier": gene.identifier,
                "symbol": gene.symbol,
                "species": gene.taxon or None,
                "hgnc": f"HGNC:{gene.hgnc}" if gene.hgnc else None,
                "uniprot": gene.uniprot or None,
                "probability": None,
            }
            for gene in list(genes.values())[:limit]
        ]


def _to_record(document: InputDocument) -> Record:
    """Return the record of a text with its mentions; error messages name ``document 'id'``."""
    return Record(document.id, document.text, f"document {document.id!r}", document.mentions)


def _link_in_text(name: str, species: int | None, text: str, limit: int) -> list[dict[str, Any]]:
    """Return the genes of a name in a text by the model ``identifiers``, as ``link_gene`` does.

    The first name that the recogniser finds and that equals ``name``, regardless of case, counts:
    its answer, then its alternatives, those without an identifier left out. The result is empty if
    there is no such name.
    """
    from textrank.component import annotate

    settings = [] if species is None else [f"task.species=[{species}]"]
    (doc,) = annotate([text], "identifiers", settings=settings)
    keys = ("identifier", "symbol", "species", "hgnc", "uniprot", "probability")
    for row in get_answers(doc, "identifiers") or ():
        if row["name"].lower() == name.lower():
            readings = [row, *row["alternatives"]]
            return [{key: r[key] for key in keys} for r in readings if r["identifier"]][:limit]
    return []


# Requests -----------------------------------------------------------------------------------------


async def read_json(request: Request) -> Any:
    """Return the JSON of a request's body.

    Raises ApiError 415 if the content type is not application/json, and 400 if the body is not
    JSON; NaN and infinity are refused too.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(415, f"content type {kind[:60]!r}: send application/json.")

    def refuse(constant: str) -> Any:
        """Raise ValueError for NaN and infinity."""
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads((await request.body()).decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, f"the body is not JSON ({error!s:.80}).") from None


class Fields:
    """Values of a JSON object; raises ApiError 422 for wrong, missing and unknown ones.

    The methods return the value of a key after checking its type.
    """

    def __init__(self, value: Any, place: str, allowed: Sequence[str]) -> None:
        """Store parsed JSON; ``place``, such as "documents[0]", begins the messages.

        Raises ApiError 422 if it is not an object or has a key that is not in ``allowed``.
        """
        self.place = place
        if not isinstance(value, dict):
            raise self.error("expected an object")
        if unknown := sorted(value.keys() - set(allowed)):
            raise self.error(f"unknown key {unknown[0]!r:.40}; allowed: {', '.join(allowed)}")
        self.values: Mapping[str, Any] = value

    def error(self, message: str) -> ApiError:
        """Return, not raise, the ApiError 422 with a message about this object.

        ``message`` has no full stop at its end.
        """
        return ApiError(422, f"{self.place}: {message}.")

    def text(self, key: str, max_characters: int, *, is_required: bool = False) -> str | None:
        """Return the text of a key; None if the key is missing and not required.

        Raises ApiError 422 if it is missing but required, not a text (null neither), longer than
        ``max_characters`` or not valid Unicode. It may be empty.
        """
        value = self.values.get(key)
        if value is None and key not in self.values and not is_required:
            return None
        if not isinstance(value, str):
            raise self.error(f"{key!r} must be text")
        if len(value) > max_characters:
            raise self.error(f"{key!r} has more than {max_characters:,} characters")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise self.error(f"{key!r} has half of a surrogate pair") from None
        return value

    def integer(self, key: str, low: int, high: int) -> int | None:
        """Return the integer of a key, between two bounds, both included; None if it is missing.

        A number such as 5.0 is accepted. Raises ApiError 422 for other values, including null and
        true.
        """
        if key not in self.values:
            return None
        value = self.values[key]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.error(f"{key!r} must be an integer between {low} and {high}")
        return value

    def items(self, key: str, max_items: int) -> list[Any]:
        """Return the list of a key; raise ApiError 422 unless it has 1 to ``max_items`` values."""
        value = self.values.get(key)
        if not isinstance(value, list) or not 1 <= len(value) <= max_items:
            raise self.error(f"{key!r} must be a list of 1 to {max_items:,} items")
        return value


def parse_documents(body: Any) -> list[InputDocument]:
    """Return the documents of ``{"documents": [{"id": …, "text": …}]}``.

    A missing id becomes the number of the document, from 0. Ids need not be unique. Raises ApiError
    422 if ``body`` has another form, an id is blank, a text or id is too long
    (``MAX_TEXT_CHARACTERS``, ``MAX_ID_CHARACTERS``), or there are no documents or more than
    ``MAX_DOCUMENTS``.
    """
    documents = []
    for number, item in enumerate(
        Fields(body, "body", ["documents"]).items("documents", MAX_DOCUMENTS)
    ):
        fields = Fields(item, f"documents[{number}]", ["id", "text"])
        text = fields.text("text", MAX_TEXT_CHARACTERS, is_required=True)
        name = fields.text("id", MAX_ID_CHARACTERS)
        if name is not None and not name.strip():
            raise fields.error("'id' is empty")
        documents.append(InputDocument(str(number) if name is None else name, text or ""))
    return documents


# Application --------------------------------------------------------------------------------------


@dataclass
class ServiceApp:
    """Routes of ``textrank serve``.

    Attributes
    ----------
    service
        Annotates the texts.
    timeout
        Seconds after which a request is given up.
    max_requests
        Requests that may be worked on or wait at a time; more are answered with status 503.
    """

    service: AnnotationService
    timeout: float = 120.0
    max_requests: int = 8
    _n_requests: int = field(default=0, init=False)

    def app(self) -> Starlette:
        """Return the ASGI application, which checks no token; put ``GuardMiddleware`` in front.

        GET ``/health``, ``/`` (index), ``/openapi.json`` and ``/v1/model``; POST ``/v1/annotate``,
        ``/v1/annotate/stream`` and ``/v1/link``; the routes of ``InceptionRecommender`` below
        ``/inception`` and ``TOKEN_PATH{token}/inception``. ApiError and TimeoutError become JSON
        responses, the latter with status 504.
        """
        inception = InceptionRecommender(self)
        routes = [
            Route("/health", serve_health),
            Route("/", self.serve_index),
            Route("/openapi.json", self.serve_openapi),
            Route("/v1/model", self.serve_model),
            Route("/v1/annotate", self.annotate, methods=["POST"]),
            Route("/v1/annotate/stream", self.stream, methods=["POST"]),
            Route("/v1/link", self.link, methods=["POST"]),
            Mount("/inception", routes=inception.routes()),
            Mount(TOKEN_PATH + "{token}/inception", routes=inception.routes()),
        ]
        handlers: Any = {ApiError: _respond_with_error, TimeoutError: _respond_with_timeout}
        return Starlette(routes=routes, exception_handlers=handlers)

    def serve_index(self, _: Request) -> Response:
        """Serve ``name`` ("textrank") and ``paths`` as JSON.

        ``paths`` maps each address of the OpenAPI document to its method in lower case, such as
        "post".
        """
        paths = {path: next(iter(item)) for path, item in openapi_document()["paths"].items()}
        return JSONResponse({"name": "textrank", "paths": paths})

    def serve_openapi(self, _: Request) -> Response:
        """Serve the description of the interface as JSON (OpenAPI 3.1)."""
        return JSONResponse(openapi_document())

    async def serve_model(self, _: Request) -> Response:
        """Serve ``AnnotationService.describe`` as JSON; it counts towards ``max_requests``."""
        async with self.admit():
            return JSONResponse(await to_thread.run_sync(self.service.describe))

    async def annotate(self, request: Request) -> Response:
        """Annotate the documents of the body and answer with all of them, in order.

        Keys of the answer: ``model``, ``task`` and ``documents``. Raises ApiError for a wrong body
        or text, or too many requests, and TimeoutError after ``timeout`` seconds.
        """
        documents = parse_documents(await read_json(request))
        deadline = time.monotonic() + self.timeout

        def work() -> dict[str, Any]:
            """Annotate all documents and return the answer."""
            rows = list(self.service.annotate(documents, deadline=deadline))
            return {"model": self.service.model, "task": self.service.task, "documents": rows}

        async with self.admit():
            return JSONResponse(await self.run(work))

    async def stream(self, request: Request) -> Response:
        """Annotate the documents of the body and send a JSON line for each as soon as it is done.

        A failure after the response has begun, also the timeout, is reported in a last line
        ``{"error": …}``. Raises ApiError for a wrong body or too many requests before that.
        """
        documents = parse_documents(await read_json(request))
        deadline = time.monotonic() + self.timeout
        if self._n_requests >= self.max_requests:
            raise _busy()

        async def lines() -> AsyncIterator[str]:
            """Yield the JSON line of each document, or of the error that ends the response."""
            try:
                async with self.admit():
                    rows = self.service.annotate(documents, deadline=deadline)
                    async for row in iterate_in_threadpool(rows):
                        yield json.dumps(row, ensure_ascii=False) + "\n"
            except TimeoutError:
                yield json.dumps({"error": f"gave up after {self.timeout:g} seconds."}) + "\n"
            except (ValueError, ApiError) as error:
                yield json.dumps({"error": str(error)}) + "\n"

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def link(self, request: Request) -> Response:
        """Serve the genes of a name: ``AnnotationService.link_gene`` with the fields of the body.

        Keys of the answer: ``name`` and ``genes``. Raises ApiError 422 for a missing or blank name
        or a wrong field. ``limit`` is 5 by default.
        """
        fields = Fields(await read_json(request), "body", ["name", "species", "text", "limit"])
        name = fields.text("name", MAX_NAME_CHARACTERS, is_required=True) or ""
        if not name.strip():
            raise fields.error("'name' is empty")
        species = fields.integer("species", 1, 2**31 - 1)
        text = fields.text("text", MAX_TEXT_CHARACTERS)
        limit = fields.integer("limit", 1, MAX_GENES) or 5

        def work() -> dict[str, Any]:
            """Find the genes and return the answer."""
            genes = self.service.link_gene(name, species=species, text=text, limit=limit)
            return {"name": name, "genes": genes}

        async with self.admit():
            return JSONResponse(await self.run(work))

    async def run(self, work: Callable[[], Any]) -> Any:
        """Run a function in a thread and return its result; a ValueError becomes ApiError 422."""
        try:
            return await to_thread.run_sync(work)
        except ValueError as error:
            raise ApiError(422, str(error)) from error

    @asynccontextmanager
    async def admit(self) -> AsyncIterator[None]:
        """Count a request while the block runs.

        Raises ApiError 503 if ``max_requests`` are counted already.
        """
        if self._n_requests >= self.max_requests:
            raise _busy()
        self._n_requests += 1
        try:
            yield
        finally:
            self._n_requests -= 1


def _busy() -> ApiError:
    """Return the ApiError 503 for too many requests at a time."""
    return ApiError(503, "too many requests at a time. Try again soon.")


def _respond_with_error(_: Request, error: ApiError) -> Response:
    """Return an error as JSON; with status 503 the client is asked to retry after a second."""
    headers = {"retry-after": "1"} if error.status == 503 else None
    return JSONResponse({"error": error.message}, status_code=error.status, headers=headers)


def _respond_with_timeout(_: Request, __: Exception) -> Response:
    """Return the response of status 504; the arguments of an exception handler are not used."""
    return JSONResponse({"error": "the request took too long. Send fewer texts."}, status_code=504)


# OpenAPI ------------------------------------------------------------------------------------------


def openapi_document() -> dict[str, Any]:
    """Return the description of the interface in OpenAPI 3.1, without the routes for INCEpTION.

    It covers ``/health``, which needs no token, and the routes below ``/v1``, which need a bearer
    token. Keys are ``openapi``, ``info``, ``servers``, ``security``, ``paths`` and ``components``
    (the schemas of requests, with the limits of this module, and of answers).
    """
    document = {
        "type": "object",
        "required": ["text"],
        "additionalProperties": False,
        "properties": {
            "id": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_ID_CHARACTERS,
                "pattern": r"\S",
                "description": "Id of the document in the answer; by default its number from 0.",
            },
            "text": {"type": "string", "maxLength": MAX_TEXT_CHARACTERS},
        },
    }
    batch = {
        "type": "object",
        "required": ["documents"],
        "additionalProperties": False,
        "properties": {
            "documents": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_DOCUMENTS,
                "items": {"$ref": "#/components/schemas/Document"},
            }
        },
    }
    answered = {
        "type": "object",
        "required": ["document"],
        "properties": {"document": {"type": "string"}},
        "additionalProperties": {
            "description": "textrank_TASK: the answers, as textrank apply prints them."
        },
    }
    gene = {
        "type": "object",
        "required": ["identifier", "symbol", "species", "hgnc", "uniprot", "probability"],
        "properties": {
            "identifier": {"type": "string", "examples": ["ncbigene:7157"]},
            "symbol": {"type": ["string", "null"]},
            "species": {"type": ["integer", "null"], "description": "NCBI taxon"},
            "hgnc": {"type": ["string", "null"]},
            "uniprot": {"type": ["string", "null"]},
            "probability": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        },
    }
    link = {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {
            "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_NAME_CHARACTERS,
                "pattern": r"\S",
            },
            "species": {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
            "text": {"type": "string", "maxLength": MAX_TEXT_CHARACTERS},
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_GENES, "default": 5},
        },
    }
    model = {
        "type": "object",
        "required": ["model", "task", "versions"],
        "properties": {
            "model": {"type": "string"},
            "task": {"type": "string"},
            "versions": {"type": "object", "additionalProperties": {"type": "string"}},
            "decision": {"type": "object", "description": "How yes is decided; not all tasks."},
        },
    }
    health = {
        "type": "object",
        "required": ["status", "version"],
        "properties": {"status": {"const": "ok"}, "version": {"type": "string"}},
    }
    answers = {
        "type": "object",
        "required": ["model", "task", "documents"],
        "properties": {
            "model": {"type": "string"},
            "task": {"type": "string"},
            "documents": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/AnnotatedDocument"},
            },
        },
    }
    genes = {
        "type": "object",
        "required": ["name", "genes"],
        "properties": {
            "name": {"type": "string"},
            "genes": {"type": "array", "items": {"$ref": "#/components/schemas/Gene"}},
        },
    }
    error = {
        "type": "object",
        "required": ["error"],
        "properties": {"error": {"type": "string"}},
    }
    schemas = {
        "Document": document,
        "Batch": batch,
        "AnnotatedDocument": answered,
        "Answers": answers,
        "Gene": gene,
        "Genes": genes,
        "LinkRequest": link,
        "Model": model,
        "Health": health,
        "Error": error,
    }
    paths = {
        "/health": {"get": _operation("health", "Status and version", "Health", security=[])},
        "/v1/model": {"get": _operation("model", "Describe the model", "Model")},
        "/v1/annotate": {
            "post": _operation("annotate", "Annotate texts", "Answers", body="Batch"),
        },
        "/v1/annotate/stream": {
            "post": _operation(
                "stream", "Annotate texts, one JSON line per document", None, body="Batch"
            ),
        },
        "/v1/link": {
            "post": _operation("link", "Find the genes of a name", "Genes", body="LinkRequest"),
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "textrank",
            "version": package_versions()["textrank"],
            "summary": "Statements about proteins, and gene identifiers, from text",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(
    name: str,
    summary: str,
    schema: str | None,
    *,
    body: str | None = None,
    security: list[Any] | None = None,
) -> dict[str, Any]:
    """Return an operation of the OpenAPI document, with the errors that it can give.

    ``name`` is its operationId. ``schema`` is the name of the answer's schema, None for JSON lines;
    ``body`` that of the request's, None for a request without a body. ``security`` None keeps the
    token of the document; [] means that none is needed.
    """
    lines = {"application/x-ndjson": {"schema": {"type": "string"}}}
    content = lines if schema is None else _json_content(schema)
    plain = {"text/plain": {"schema": {"type": "string"}}}
    responses: dict[str, Any] = {"200": {"description": "Success", "content": content}}
    texts = {"421": "Another host name"}
    errors: dict[str, str] = {}
    if security is None:
        texts |= {"401": "The token is missing", "403": "The request comes from another site"}
        errors["503"] = "Too many requests at a time"
    if body is not None:
        texts["408"] = "The body did not arrive in time"
        texts["413"] = f"The body has more than {MAX_BODY_BYTES} bytes"
        errors |= {
            "400": "The body is not JSON",
            "415": "The content type is not application/json",
            "422": "The body does not have the schema, or a text cannot be annotated",
            "504": "The request took too long",
        }
    for status, description in texts.items():
        responses[status] = {"description": description, "content": plain}
    for status, description in errors.items():
        responses[status] = {"description": description, "content": _json_content("Error")}
    operation: dict[str, Any] = {"operationId": name, "summary": summary, "responses": responses}
    if body is not None:
        operation["requestBody"] = {"required": True, "content": _json_content(body)}
    return operation | ({} if security is None else {"security": security})


def _json_content(schema: str) -> dict[str, Any]:
    """Return the content object of JSON with a named schema."""
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


class InceptionRecommender:
    """Routes of the recommender for INCEpTION: ``names`` and ``relations``, predict and train.

    ``app`` has the annotation service, the limit of requests and the timeout.
    """

    def __init__(self, app: ServiceApp) -> None:
        """Store the application that annotates; nothing is loaded."""
        self.app = app

    def routes(self) -> list[Route]:
        """Return the routes, relative to the address that INCEpTION is given.

        They are ``/names`` and ``/relations``, each with ``/predict`` and ``/train``; all take
        POST.
        """
        return [
            Route("/names/predict", self.predict_names, methods=["POST"]),
            Route("/relations/predict", self.predict_relations, methods=["POST"]),
            Route("/names/train", self.train, methods=["POST"]),
            Route("/relations/train", self.train, methods=["POST"]),
        ]

    async def train(self, request: Request) -> Response:
        """Accept training data without using it.

        Status 204; raises ApiError if the body is not JSON.
        """
        await read_json(request)
        return Response(status_code=204)

    async def predict_names(self, request: Request) -> Response:
        """Serve the CAS of a request with a prediction for each recognised name."""
        return await self._predict(request, is_relation=False)

    async def predict_relations(self, request: Request) -> Response:
        """Serve the CAS of a request with a prediction for each relation between its names.

        Only names that are annotated in the CAS, and not predictions, can be joined.
        """
        return await self._predict(request, is_relation=True)

    async def _predict(self, request: Request, *, is_relation: bool) -> Response:
        """Serve ``{"document": XMI of the CAS with the predictions}`` for a request.

        Predictions are relations if ``is_relation``, else names. Raises ApiError as
        ``parse_request``, ``ServiceApp.run`` and ``ServiceApp.admit`` do, and TimeoutError after
        the application's timeout.
        """
        content = await read_json(request)
        deadline = time.monotonic() + self.app.timeout

        def work() -> str:
            """Read the CAS, annotate its text, add predictions and return it as XMI."""
            cas, layer, feature, mode = parse_request(content)
            if is_relation:
                self._add_relations(cas, layer, feature, deadline)
            else:
                self._add_names(cas, layer, feature, mode, deadline)
            return str(cas.to_xmi())

        async with self.app.admit():
            return JSONResponse({"document": await self.app.run(work)})

    def _add_names(self, cas: Any, layer: str, feature: str, mode: str, deadline: float) -> None:
        """Add the recognised names of the text to the CAS, in place, as predictions of a layer.

        ``feature`` gets the identifier of a name if it is one of ``IDENTIFIER_FEATURES``, else its
        label; names for which this is empty are left out. With ``mode`` "tokens" names are widened
        to tokens of the CAS. ``deadline`` and its errors are those of ``annotate_docs``. Raises
        ApiError 422 if the layer or feature is missing.
        """
        annotation_type = _get_type(cas, layer, (feature,))

        def to_names(doc: Doc) -> list[tuple[int, int, str, float | None]]:
            """Return start, end, value and probability of the names."""
            return [
                (span.start_char, span.end_char, *_name_value(span, feature))
                for span in doc.spans.get("entities", ())
            ]

        document = InputDocument("cas", cas.sofa_string or "")
        (names,) = self.app.service.annotate_docs([document], to_names, deadline=deadline)
        boundaries = _token_boundaries(cas) if mode == "tokens" else None
        for start, end, value, probability in names:
            if value:
                start, end = _expand(start, end, boundaries)
                fields = {"begin": start, "end": end, feature: value}
                cas.add(_build_prediction(annotation_type, fields, feature, probability))

    def _add_relations(self, cas: Any, layer: str, feature: str, deadline: float) -> None:
        """Add the interactions between the names of the CAS to it, as predictions of a layer.

        Names are the annotations of ``_list_ends``; fewer than two add nothing, since a relation
        needs ends. Only pairs that the model decides interact are added, from Governor to Dependent
        in the order of their direction; the explanation is their status. ``feature`` gets the type
        of the interaction, or "yes". A model whose task states no facts adds nothing. ``deadline``
        and its errors are those of ``annotate_docs``. Raises ApiError 422 if the layer or a feature
        is missing.
        """
        relation_type = _get_type(cas, layer, (feature, "Governor", "Dependent"))
        ends = _list_ends(cas, relation_type)
        mentions = tuple(
            Mention(str(number), "GENE", ((end.begin, end.end),)) for number, end in enumerate(ends)
        )
        service = self.app.service
        if len(mentions) < 2 or not service.states_facts:
            return
        document = InputDocument("cas", cas.sofa_string or "", mentions)
        by_span = {(end.begin, end.end): end for end in ends}
        (rows,) = service.annotate_docs(
            [document], lambda doc: get_answers(doc, service.task) or [], deadline=deadline
        )
        for row in rows:
            pair = [by_span[start, end] for start, end in row["spans"] if (start, end) in by_span]
            if not row["interacts"] or len(pair) < 2:
                continue
            source, target = pair if row.get("direction") != "b>a" else pair[::-1]
            fields = {"begin": target.begin, "end": target.end}
            fields |= {"Governor": source, "Dependent": target, feature: row.get("type") or "yes"}
            note = row.get("status")
            probability = row.get("probability")
            cas.add(_build_prediction(relation_type, fields, feature, probability, note))


def parse_request(content: Any) -> tuple[Any, str, str, str]:
    """Return CAS, layer, feature and anchoring mode of a request of INCEpTION.

    ``content`` is the parsed JSON; a missing mode is "". Raises ApiError 422 if a key is missing,
    the XML is unsafe or not a CAS, or the text is too long, and ApiError 501 if dkpro-cassis is not
    installed.
    """
    try:
        from cassis import load_cas_from_xmi, load_typesystem
    except ModuleNotFoundError:
        message = "install dkpro-cassis: pip install 'textrank-kernels[inception]'."
        raise ApiError(501, message) from None
    try:
        metadata, xmi = content["metadata"], content["document"]["xmi"]
        layer, feature = str(metadata["layer"]), str(metadata["feature"])
        mode = str(metadata.get("anchoringMode") or "")
        type_system = content["typeSystem"]
        for xml in (xmi, type_system):
            _check_xml(xml)
        cas = load_cas_from_xmi(xmi, typesystem=load_typesystem(type_system))
        text = cas.sofa_string or ""
    except (KeyError, TypeError, AttributeError) as error:
        message = f"not a request of INCEpTION ({type(error).__name__}: {error!s:.60})."
        raise ApiError(422, message) from None
    except ApiError:
        raise
    except Exception as error:  # of cassis and lxml, which raise many kinds
        raise ApiError(422, f"the CAS cannot be read ({error!s:.80}).") from None
    if len(text) > MAX_TEXT_CHARACTERS:
        raise ApiError(422, f"the text has more than {MAX_TEXT_CHARACTERS:,} characters.")
    return cas, layer, feature, mode


def _check_xml(text: str) -> None:
    """Raise ApiError 422 for XML with a DTD or entity declarations, which cassis would expand.

    For XML that is not well-formed the parser's error is raised.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        fromstring(text.encode("utf-8"), forbid_dtd=True)
    except DefusedXmlException:
        raise ApiError(422, "the XML declares entities or a DTD. Send a plain CAS.") from None


def _get_type(cas: Any, layer: str, features: Sequence[str]) -> Any:
    """Return the type of a layer; raise ApiError 422 if it or one of its features is missing."""
    if not cas.typesystem.contains_type(layer):
        raise ApiError(422, f"the type system has no layer {layer[:100]!r}.")
    annotation_type = cas.typesystem.get_type(layer)
    for name in features:
        if annotation_type.get_feature(name) is None:
            raise ApiError(422, f"the layer {layer[:100]!r} has no feature {name[:60]!r}.")
    return annotation_type


def _build_prediction(
    annotation_type: Any,
    fields: Mapping[str, Any],
    feature: str,
    probability: float | None,
    explanation: str | None = None,
) -> Any:
    """Return a new annotation marked as a prediction; it is not added to the CAS.

    ``fields`` are its features. ``probability`` and ``explanation``, unless None, are set where the
    type has the features ``<feature>_score`` and ``<feature>_score_explanation``.
    """
    extra: dict[str, Any] = {PREDICTED: True, f"{feature}_score": probability}
    extra[f"{feature}_score_explanation"] = explanation
    given = {
        name: value
        for name, value in extra.items()
        if value is not None and annotation_type.get_feature(name) is not None
    }
    return annotation_type(**fields, **given)


def _name_value(span: Any, feature: str) -> tuple[str, float | None]:
    """Return the value of a feature for a name, and its probability or None.

    For ``IDENTIFIER_FEATURES``, in any case, the value is the identifier (of an NCBI gene, the
    address of its page), for other features the label; "" if the name has none.
    """
    probability = (
        span._.get("textrank_probability") if span.has_extension("textrank_probability") else None
    )
    if feature.lower() not in IDENTIFIER_FEATURES:
        return span.label_, probability
    prefix, _, local = span.kb_id_.partition(":")
    value = f"{GENE_URL}{local}" if prefix == "ncbigene" else span.kb_id_
    return value, probability


def _list_ends(cas: Any, relation_type: Any) -> list[Any]:
    """Return the annotations that relations can join, in text order, one per span.

    They are of the type of the feature ``Governor``, or named entities if that is any annotation.
    Predictions of a recommender and empty spans are left out; of annotations with one span the last
    counts. [] if the type system lacks the type.
    """
    range_type = relation_type.get_feature("Governor").rangeType
    name = getattr(range_type, "name", str(range_type))
    if name in ("uima.tcas.Annotation", "uima.cas.AnnotationBase", "uima.cas.TOP"):
        name = NAMED_ENTITY_TYPE
    if not cas.typesystem.contains_type(name):
        return []
    ends = {
        (end.begin, end.end): end
        for end in cas.select(name)
        if end.begin < end.end and not getattr(end, PREDICTED, False)
    }
    return [ends[span] for span in sorted(ends)]


def _token_boundaries(cas: Any) -> list[tuple[int, int]] | None:
    """Return the tokens of a CAS as (begin, end) in text order; None if it has none."""
    if not cas.typesystem.contains_type(TOKEN_TYPE):
        return None
    return sorted((token.begin, token.end) for token in cas.select(TOKEN_TYPE)) or None


def _expand(start: int, end: int, tokens: list[tuple[int, int]] | None) -> tuple[int, int]:
    """Return a span widened to the tokens that it begins and ends in, as INCEpTION's layers need.

    ``tokens`` are those of ``_token_boundaries``; None returns the span as it is. A start or end
    that lies in no token stays where it is.
    """
    from bisect import bisect_left, bisect_right

    if tokens is None:
        return start, end
    first = bisect_right(tokens, (start, float("inf"))) - 1
    last = bisect_left(tokens, (end, -1)) - 1
    if first < 0 or last < first:
        return start, end
    begins_inside = tokens[first][0] <= start < tokens[first][1]
    ends_inside = tokens[last][0] < end <= tokens[last][1]
    return tokens[first][0] if begins_inside else start, tokens[last][1] if ends_inside else end
