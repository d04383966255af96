"""What makes the site work offline: formulas become MathML, and search needs no network."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\w$`])\$(?=\S)([^$\n`]+?)(?<=\S)\$(?![\w$`])")
SHIM = re.compile(r'https://[^"]+/iframe-worker/shim')  # the script by which files are searched
ROOTED = re.compile(r'(?<=")/(?!/)')  # an address from the root of a server
ORDERS = re.compile(r" *# doctest: \+\w+")  # for tests, not for readers
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its formulas as MathML; code stays code."""
    parts = FENCED.split(markdown)
    code = (ORDERS.sub("", part) if part.startswith("```") else _formulas(part) for part in parts)
    return "".join(code)


def _formulas(text: str) -> str:
    text = DISPLAY.sub(lambda found: convert(found[1].strip(), display="block"), text)
    return INLINE.sub(lambda found: convert(found[1], display="inline"), text)


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """The page with our copy of the script, for where there is no network."""
    return SHIM.sub(get_relative_url("assets/iframe-worker.js", page.url), output)


def on_post_template(output: str, template_name: str, **_: Any) -> str:
    """The page of what is missing as a folder has it, where mkdocs writes it for a server."""
    if template_name != "404.html":
        return output
    return ROOTED.sub("./", SHIM.sub("assets/iframe-worker.js", output))
