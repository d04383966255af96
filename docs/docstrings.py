"""Examples in docstrings become blocks of code, where Markdown would see quotations in ``>>>``."""

from __future__ import annotations

import re
from typing import Any

from griffe import Docstring, Extension, Object

EXAMPLE = re.compile(r"^(>>> .*(?:\n(?!\s*$).*)*)", re.MULTILINE)


class Examples(Extension):
    """Fences the doctests of every object that is loaded."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Runs once an object, before its docstring is taken apart."""
        docstring: Docstring | None = obj.docstring
        if docstring is not None:
            docstring.value = EXAMPLE.sub(r"```pycon\n\1\n```", docstring.value)
