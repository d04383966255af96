"""Griffe extension that prepares docstrings for the site.

- Doctests become code blocks. Markdown would read ``>>>`` as a nested quotation.
- Text and doctests after a numpydoc section get sections of their own, ``Notes`` and ``Examples``.
  Griffe would read them as further parameters.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Docstring, Extension, Object

EXAMPLE = re.compile(r"^(>>> .*(?:\n(?!\s*$).*)*)", re.MULTILINE)
HEADER = re.compile(r"[A-Z][A-Za-z ]+\n-{3,}\n")
SENTENCE = re.compile(r"[A-Z`*].* .*\n(?! )|[A-Z`*].* .*[.:]$")
FREE_TEXT_SECTIONS = ("Notes", "Examples", "References", "See Also")


class Examples(Extension):
    """Rewrite the docstring of every loaded object before it is parsed."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring; called once per object."""
        docstring: Docstring | None = obj.docstring
        if docstring is not None:
            docstring.value = prepare(docstring.value)


def prepare(text: str) -> str:
    """Return a docstring with fenced doctests and complete section headers."""
    section = ""  # current section if it lists items; empty if it is free text
    paragraphs = []
    for paragraph in text.split("\n\n"):
        if HEADER.match(paragraph):
            title = paragraph.partition("\n")[0]
            section = "" if title in FREE_TEXT_SECTIONS else title
        elif section and paragraph.startswith(">>> "):
            paragraph = f"Examples\n--------\n{paragraph}"
            section = ""
        elif section and SENTENCE.match(paragraph):
            paragraph = f"Notes\n-----\n{paragraph}"
            section = ""
        paragraphs.append(paragraph)
    return EXAMPLE.sub(r"```pycon\n\1\n```", "\n\n".join(paragraphs))
