"""Formulas between double dollars become MathML when the site is built: they work offline."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its formulas as MathML."""
    return DISPLAY.sub(lambda found: convert(found[1].strip(), display="block"), markdown)
