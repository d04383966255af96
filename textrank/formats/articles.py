"""Text of XML articles: elements in, lines out, markup dropped and nothing cut off."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

_SPACED = frozenset(["break", "br", "td", "th", "p", "title", "label", "list-item", "tr"])


def local(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_within(element: Element | None, without: frozenset[str] = frozenset()) -> str:
    """All text of an element on one line, that of ``<i>``, ``<sub>`` and formulas included.

    >>> from xml.etree.ElementTree import fromstring
    >>> text_within(fromstring("<t>p<sub>53</sub> binds <i>MDM2</i>.</t>"))
    'p53 binds MDM2.'
    """
    if element is None:
        return ""
    return " ".join("".join(_pieces(element, without)).split())


def _pieces(element: Element, without: frozenset[str]) -> Iterator[str]:
    """Text in document order; the stack is ours, for articles may nest deeper than Python calls."""
    todo: list[Element | str] = [element]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
            continue
        if not isinstance(item.tag, str):  # a comment
            continue
        yield item.text or ""
        for child in reversed(item):
            todo.append(child.tail or "")
            if local(child) not in without:
                if local(child) in _SPACED:
                    todo += [" ", child, " "]
                else:
                    todo.append(child)


def first(element: Element, *names: str) -> Element | None:
    """The first element of a path of names below an element, whatever their namespace."""
    found: Element | None = element
    for name in names:
        children = () if found is None else found
        found = next((child for child in children if local(child) == name), None)
    return found
