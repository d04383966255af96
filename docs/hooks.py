"""Formulas between dollars become MathML when the site is built: they work offline."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\w$`])\$(?=\S)([^$\n`]+?)(?<=\S)\$(?![\w$`])")
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its formulas as MathML; code stays as it is."""
    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else _formulas(part) for part in parts)


def _formulas(text: str) -> str:
    text = DISPLAY.sub(lambda found: convert(found[1].strip(), display="block"), text)
    return INLINE.sub(lambda found: convert(found[1], display="inline"), text)
