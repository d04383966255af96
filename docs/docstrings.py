"""Griffe extension that renders doctests in docstrings as code blocks.

Markdown would read ``>>>`` as a nested quotation.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Docstring, Extension, Object

EXAMPLE = re.compile(r"^(>>> .*(?:\n(?!\s*$).*)*)", re.MULTILINE)


class Examples(Extension):
    """Put fences around the doctests of every loaded object."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Add the fences before the docstring is parsed; called once per object."""
        docstring: Docstring | None = obj.docstring
        if docstring is not None:
            docstring.value = EXAMPLE.sub(r"```pycon\n\1\n```", docstring.value)
