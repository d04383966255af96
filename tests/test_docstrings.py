"""Every public name says what it gives; the main ones show it by an example."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from inspect import isfunction
from pathlib import Path
from typing import Any

import pytest

from textrank import estimators, measures
from textrank.registries import registry

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


def main_names() -> dict[str, Any]:
    """What the reference shows by an example: what a cfg names, estimators, measures."""
    roles = (registry.kernels, registry.learners, registry.transformations)
    named = {name: cls for role in roles for name, cls in role.get_all().items()}
    named |= {name: getattr(estimators, name) for name in estimators.__all__}
    named |= {n: f for n, f in vars(measures).items() if isfunction(f) and n[0] != "_"}
    return {n: o for n, o in named.items() if o.__module__.startswith("textrank.")}


def test_main_names_show_an_example():
    import textrank.config  # noqa: F401  fills the registries

    found = main_names()
    assert len(found) > 60
    missing = {n: o for n, o in found.items() if ">>>" not in (getattr(o, "__doc__", "") or "")}
    assert sorted(f"{n}: {o.__module__}.{o.__name__}" for n, o in missing.items()) == []
