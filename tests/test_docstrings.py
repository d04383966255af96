"""Every public name says what it gives; what implements a stated role may leave it to the role."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "textrank"
Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def public(path: Path) -> Iterator[tuple[str, Named]]:
    """Public functions and classes of a module, and the public methods of its public classes."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, Named) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                inside = [m for m in node.body if isinstance(m, Named)]
                yield from (
                    (f"{node.name}.{m.name}", m) for m in inside if not m.name.startswith("_")
                )


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_modules_and_public_names_have_docstrings(path):
    assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), "the module has no docstring"
    missing = [name for name, node in public(path) if not ast.get_docstring(node)]
    assert not missing
