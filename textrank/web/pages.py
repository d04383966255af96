"""What both applications share: templates, assets, health, errors as pages."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from textrank.registries import versions

KINDS = {".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript",
         ".svg": "image/svg+xml"}  # fmt: skip


@cache
def environment() -> Environment:
    """The templates; everything put into them is escaped."""
    found = Environment(
        loader=PackageLoader("textrank.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"number": number, "chance": chance}
    found.globals["version"] = versions()["textrank"]
    return found


def page(name: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A template filled."""
    return HTMLResponse(environment().get_template(name).render(**values), status_code=status)


def number(value: int) -> str:
    """A count with its thousands apart.

    >>> number(1234567)
    '1 234 567'
    """
    return f"{int(value):,}".replace(",", " ")


def chance(value: float | None) -> str:
    """A probability with two digits, never rounded to certainty.

    >>> chance(0.999), chance(1.0), chance(0.125), chance(None)
    ('>.99', '1', '.12', '–')
    """
    if value is None:
        return "–"
    if value in (0.0, 1.0):
        return f"{value:.0f}"
    if value > 0.99:
        return ">.99"
    return "<.01" if value < 0.01 else f"{value:.2f}".removeprefix("0")


@cache
def assets() -> Mapping[str, Path]:
    """The files that may be fetched, by name: nothing else on this disk is reachable."""
    here = Path(str(files("textrank.web")))
    found = {path.name: path for path in (here / "assets").iterdir() if path.suffix in KINDS}
    found["cytoscape.mjs"] = here / "vendor" / "cytoscape" / "cytoscape.esm.min.mjs"
    found["base.css"] = Path(str(files("textrank.reports"))) / "page" / "style.css"
    return found


def asset(request: Request) -> Response:
    """One of the assets, which a browser may keep until it changes."""
    path = assets().get(request.path_params["name"])
    if path is None:
        return missing("There is no such file.")
    content = path.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=KINDS[path.suffix], headers=headers)


def health(_: Request) -> Response:
    """That the server is alive, and nothing else."""
    return JSONResponse({"status": "ok", "version": versions()["textrank"]})


def missing(why: str) -> Response:
    """A page that says what is not there."""
    return page("missing.html", {"why": why}, status=404)


def common() -> list[Route]:
    """The routes of both applications."""
    return [Route("/health", health), Route("/assets/{name}", asset)]
