"""Four short guards: imports go one way, the wheel holds the folders, names load and stay."""

from __future__ import annotations

import ast
import json
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from textrank.config import TABLE
from textrank.registries import registries

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "textrank"

# A module may use the rows above its own, and its own part of its own row.
LAYERS = [
    {"types", "progress", "memory"},
    {"docs", "linalg", "io", "registries"},
    {"measures", "text", "spelling"},
    {"formats", "representations", "kernels", "learners", "language"},
    {"tasks"},
    {"parts", "document_candidates"},
    {"model"},
    {"settings"},
    {"pipeline"},
    {"view_pipeline"},
    {"evaluation"},
    {"config"},
    {"component", "estimators", "reports", "testing", "results"},
    {"scale", "web", "lint", "reproduce"},
    {"cli", "__main__"},
]
# The four layers of the third row never import one another; within the other rows it is allowed.
APART = LAYERS[3]


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def imports(path: Path) -> set[str]:
    """Absolute module names imported anywhere in a file, but for the type checker's own."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def row_of(part: str) -> int:
    rows = [number for number, layer in enumerate(LAYERS) if part in layer]
    assert rows, f"{part} is in no layer: add it to LAYERS"
    return rows[0]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    own = part_of(path)
    if own in ("__init__", "__main__"):
        return
    for name in imports(path):
        if not name.startswith("textrank."):
            continue
        other = name.split(".")[1]
        if other == own or not any(other in layer for layer in LAYERS):
            continue
        assert row_of(other) <= row_of(own), f"{own} imports {other}, which stands above it"
        assert not ({own, other} <= APART), f"{own} and {other} must not know one another"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_kernels_and_learners_know_no_text(path: Path) -> None:
    own = part_of(path)
    heads = {name.split(".")[0] for name in imports(path)}
    if own in ("kernels", "learners", "types", "linalg"):
        assert "spacy" not in heads
    if own not in ("representations", "tasks", "component", "cli"):
        assert "networkx" not in heads


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nothing_read_can_run_code(path: Path) -> None:
    heads = {name.split(".")[0] for name in imports(path)}
    assert not heads & {"pickle", "dill", "joblib", "shelve", "marshal"}
    calls = [n.func for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
    assert not [f.id for f in calls if isinstance(f, ast.Name) and f.id in ("eval", "exec")]


def test_the_wheel_holds_every_package() -> None:
    declared = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    )
    found = {
        ".".join(("textrank", *path.parent.relative_to(PACKAGE).parts))
        for path in PACKAGE.rglob("__init__.py")
    }
    assert declared == found | {"textrank.pipelines", "textrank.models"}


def test_no_registered_name_disappears() -> None:
    """A saved model speaks these names: add, never take away."""
    published = json.loads((ROOT / "tests" / "golden" / "names.json").read_text())
    assert TABLE
    now = {role: sorted(names) for role, names in registries().items()}
    for role, names in published.items():
        assert set(names) <= set(now[role]), f"{role}: a published name is gone"


def packages() -> list[str]:
    """Every package."""
    found = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("__init__.py")}
    return [".".join(("textrank", *f.parts)) for f in sorted(found)]


@pytest.mark.parametrize("name", packages())
def test_a_package_says_what_is_public(name: str) -> None:
    package = import_module(name)
    assert len(set(package.__all__)) == len(package.__all__)
    for public in package.__all__:
        assert hasattr(package, public) or import_module(f"{name}.{public}")


def test_modules_of_registered_names_are_public() -> None:
    for names in TABLE.values():
        for part in names.values():
            package, module = part.__module__.rsplit(".", 1)
            if package != "textrank":
                assert module in import_module(package).__all__, part
