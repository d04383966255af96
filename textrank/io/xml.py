"""XML read item by item and written safely: entities refused, bad characters named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape, quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from textrank.io.files import LIMIT, open_bytes

NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
DEEPEST = 200  # elements within elements


def elements(
    path: str | Path, tag: str | tuple[str, ...], limit: float = LIMIT
) -> Iterator[Element]:
    """The elements of one name or some, each dropped from memory after use; entities are refused.

    A DOCTYPE that only names a DTD is common and harmless, as nothing of it is fetched.
    """
    wanted = (tag,) if isinstance(tag, str) else tag
    with open_bytes(path, limit) as stream:
        try:
            open_: list[Element] = []  # the elements around the place reached
            for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=False):
                if event == "start":
                    open_.append(element)
                    if len(open_) > DEEPEST:
                        raise ValueError(
                            f"{path}: elements nested deeper than {DEEPEST}. Flatten the file"
                        )
                    continue
                open_.pop()
                if element.tag in wanted:
                    yield element
                    stream.mark()
                    for around in open_:
                        del around[:]
        except ParseError as error:
            line, column = error.position
            raise ValueError(
                f"{path}, line {line}, column {column}: not well-formed XML ({error.msg}). "
                "The file may be truncated or of another format."
            ) from error
        except DefusedXmlException as error:
            raise ValueError(
                f"{path}: declares entities ({type(error).__name__}), which can expand without "
                "end and are refused. Remove the declarations from the DOCTYPE."
            ) from error
        except (LookupError, ValueError) as error:  # an encoding that Python or expat lacks
            if str(path) in str(error):
                raise
            raise ValueError(f"{path}: {error}. Convert the file to UTF-8.") from error


def attributes(**values: str) -> str:
    """XML attributes, each with a blank before it."""
    return "".join(f" {name}={quoteattr(xml_text(value))}" for name, value in values.items())


def content(text: str) -> str:
    """Text between XML tags; a bare carriage return would come back as a newline."""
    return escape(xml_text(text), {"\r": "&#13;"})


def printable(value: Any) -> Any:
    """A text with every character that XML lacks replaced; anything else as it is."""
    return NOT_XML.sub("\ufffd", value) if isinstance(value, str) else value


def xml_text(text: str) -> str:
    """The text itself, unless XML has no way to write one of its characters."""
    if found := NOT_XML.search(text):
        raise ValueError(
            f"character U+{ord(found.group()):04X} at {found.start()} of {text[:40]!r} cannot be "
            "written in XML. Remove it, or write JSON lines."
        )
    return text
