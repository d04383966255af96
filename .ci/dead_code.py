"""Report unused code with vulture, which does not see names that are resolved from strings.

Registered classes (``textrank/catalog.py``), the lazily exported names of packages (``__all__``)
and entry points count as used. Everything else is configured in ``[tool.vulture]`` of
pyproject.toml. The exit code is 3 if unused code was found, as with the command ``vulture``.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from vulture import Vulture

ROOT = Path(__file__).parents[1]
UNUSED_CODE_FOUND = 3


def registered_names() -> Iterator[str]:
    """Yield the class or function name of every entry of the catalog."""
    tree = ast.parse((ROOT / "textrank" / "catalog.py").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and str(node.value).startswith("textrank."):
            yield str(node.value).partition(":")[2]


def exported_names() -> Iterator[str]:
    """Yield the strings of ``__all__`` in every ``__init__.py`` of the package."""
    for path in (ROOT / "textrank").rglob("__init__.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                yield from (item.value for item in ast.walk(node) if isinstance(item, ast.Constant))


def main() -> int:
    """Check the paths of pyproject.toml and return the exit code."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups = project["project"]["entry-points"].values()
    entry_points = [path.partition(":")[2] for group in groups for path in group.values()]
    config = project["tool"]["vulture"]
    names = [*config["ignore_names"], *registered_names(), *exported_names(), *entry_points]
    checker = Vulture(ignore_names=sorted(set(names)))
    checker.scavenge([str(ROOT / path) for path in config["paths"]])
    unused = checker.report(min_confidence=config["min_confidence"])
    return UNUSED_CODE_FOUND if unused else 0


if __name__ == "__main__":
    sys.exit(main())
