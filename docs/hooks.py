"""MkDocs hooks that make the site work offline: MathML formulas and local search."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\w$`])\$(?=\S)([^$\n`]+?)(?<=\S)\$(?![\w$`])")
SHIM = re.compile(r'https://[^"]+/iframe-worker/shim')  # script for search in local files
ROOTED = re.compile(r'(?<=")/(?!/)')  # address relative to the server root
DIRECTIVES = re.compile(r" *# doctest: \+\w+")  # doctest directives, hidden from readers
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Convert formulas outside of code blocks to MathML."""
    parts = FENCED.split(markdown)
    converted = (
        DIRECTIVES.sub("", part) if part.startswith("```") else _convert_formulas(part)
        for part in parts
    )
    return "".join(converted)


def _convert_formulas(text: str) -> str:
    """Replace ``$$...$$`` and ``$...$`` by MathML."""
    text = DISPLAY.sub(lambda match: convert(match[1].strip(), display="block"), text)
    return INLINE.sub(lambda match: convert(match[1], display="inline"), text)


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """Replace the remote search script by the local copy."""
    return SHIM.sub(get_relative_url("assets/iframe-worker.js", page.url), output)


def on_post_template(output: str, template_name: str, **_: Any) -> str:
    """Make the links of 404.html relative."""
    if template_name != "404.html":
        return output
    return ROOTED.sub("./", SHIM.sub("assets/iframe-worker.js", output))
