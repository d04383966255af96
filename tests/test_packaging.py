"""The package that users install: its contents, its public names and its registered names."""

from __future__ import annotations

import json
import pkgutil
import tomllib
from importlib import import_module
from pathlib import Path

import textrank
from textrank.catalog import CATALOG
from textrank.config import registered_classes

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "textrank"


def find_packages() -> list[str]:
    """Return the dotted names of `textrank` and all its subpackages."""
    folders = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("__init__.py")}
    return sorted(".".join(("textrank", *folder.parts)) for folder in folders)


def test_the_wheel_contains_every_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    declared = set(project["tool"]["setuptools"]["packages"])
    assert declared == {
        *find_packages(),
        "textrank.corpora",
        "textrank.models",
        "textrank.pipelines",
    }


def test_every_module_can_be_imported() -> None:
    for module in pkgutil.walk_packages(textrank.__path__, "textrank."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def test_public_names_exist() -> None:
    for name in find_packages():
        package = import_module(name)
        assert len(set(package.__all__)) == len(package.__all__), f"{name}: __all__ has repeats"
        for public in package.__all__:
            assert hasattr(package, public) or import_module(f"{name}.{public}")


def test_published_registered_names_are_kept() -> None:
    """Saved models refer to these names: new ones may be added, none may be removed."""
    assert CATALOG
    published = json.loads((ROOT / "tests" / "golden" / "names.json").read_text("utf-8"))
    registered = {role: set(names) for role, names in registered_classes().items()}
    removed = {role: sorted(set(names) - registered[role]) for role, names in published.items()}
    assert not {role: names for role, names in removed.items() if names}


def test_registered_names_are_documented_or_shipped() -> None:
    tops = [ROOT / name for name in ("docs", "textrank", "models", "corpora", "pipelines")]
    paths = [ROOT / "README.md"]
    paths += [path for top in tops for path in top.rglob("*") if path.suffix in (".md", ".cfg")]
    text = "\n".join(path.read_text("utf-8") for path in paths)
    names = [name for role in CATALOG.values() for name in role]
    assert [name for name in names if f'"{name}"' not in text and f"`{name}`" not in text] == []


def test_versions_agree() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    package = ROOT / "packaging" / "en_textrank_bio"
    project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
    meta = json.loads((package / "en_textrank_bio" / "meta.json").read_text("utf-8"))
    assert project["version"] == meta["version"] == version
    assert project["dependencies"] == meta["requirements"] == [f"textrank-kernels=={version}"]
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## {version} " in (ROOT / "CHANGELOG.md").read_text("utf-8")
