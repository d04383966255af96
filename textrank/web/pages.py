"""What both applications share: templates, assets, health, errors as pages."""

from __future__ import annotations

import base64
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
from textrank.reports.html import environment as reports_environment

KINDS = {".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript",
         ".svg": "image/svg+xml"}  # fmt: skip
TAXA = {
    "9606": "human", "10090": "mouse", "10116": "rat", "9913": "cattle", "9823": "pig",
    "9986": "rabbit", "9031": "chicken", "8355": "clawed frog", "8364": "western clawed frog",
    "7955": "zebrafish", "7227": "fruit fly", "6239": "roundworm", "559292": "baker's yeast",
    "4932": "baker's yeast", "284812": "fission yeast", "4896": "fission yeast",
    "3702": "thale cress", "511145": "E. coli", "562": "E. coli", "83333": "E. coli",
    "224308": "B. subtilis", "1423": "B. subtilis",
}  # fmt: skip


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
    found.filters |= {"number": number, "chance": chance, "species": species}
    found.globals["version"] = versions()["textrank"]
    return found


def page(name: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A template filled."""
    return HTMLResponse(environment().get_template(name).render(**values), status_code=status)


def plain_page(html: str) -> HTMLResponse:
    """A page of ``textrank.reports``, which holds its style itself; only our script may run."""
    source = reports_environment().get_template("errors.js").render()
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(html, headers={"content-security-policy": policy})


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


def species(taxon: str | None) -> str:
    """A taxon by its English name, where it is one that most studies are about.

    >>> species("9606"), species("7")
    ('human', 'taxon 7')
    """
    known = TAXA.get(str(taxon))
    return known or (f"taxon {taxon}" if str(taxon).isdigit() else str(taxon or ""))


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
