"""The registries, and the written form of anything made of registered classes."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import catalogue
import confection
import numpy as np
from confection import Config, ConfigValidationError

from textrank.catalog import CATALOG
from textrank.io import read_text

LARGEST = 1 << 20  # bytes of a cfg


class _LazyRegistry(catalogue.Registry):  # type: ignore[misc]  # catalogue has no types
    """Registry whose built-in entries are imported from ``CATALOG`` when they are first asked for.

    Entries registered at run time or through entry points take precedence.
    """

    def __init__(self, role: str) -> None:
        super().__init__(("textrank", role), entry_points=True)
        self._catalog = CATALOG[role]

    def __contains__(self, name: str) -> bool:
        return name in self._catalog or bool(super().__contains__(name))

    def get(self, name: str) -> Any:
        """Return the registered class or function, importing it if necessary."""
        if name in self._catalog and not catalogue.check_exists(*self.namespace, name):
            module, _, attribute = self._catalog[name].partition(":")
            self.register(name, func=getattr(import_module(module), attribute))
        return super().get(name)

    def get_all(self) -> dict[str, Any]:
        """Return all entries by name; imports every built-in one."""
        return {**{name: self.get(name) for name in self._catalog}, **super().get_all()}

    def names(self) -> list[str]:
        """Return the sorted names of all entries without importing the built-in ones."""
        return sorted({*self._catalog, *super().get_all()})

    def find_name(self, cls: type) -> str | None:
        """Return the name under which a class is registered, or None."""
        path = f"{cls.__module__}:{cls.__qualname__}"
        entries: dict[str, Any] = {**self._catalog, **super().get_all()}
        return next((name for name, entry in entries.items() if entry in (cls, path)), None)


class registry(confection.registry):
    """Registered classes by role; plugins add theirs by entry points ``textrank_<role>``."""

    pipelines = _LazyRegistry("pipelines")
    tasks = _LazyRegistry("tasks")
    representations = _LazyRegistry("representations")
    transformations = _LazyRegistry("transformations")
    kernels = _LazyRegistry("kernels")
    learners = _LazyRegistry("learners")
    readers = _LazyRegistry("readers")


def registries() -> dict[str, dict[str, Any]]:
    """Return every registered class by role and name."""
    return {role: entries.get_all() for role, entries in _roles().items()}


def registered_names() -> dict[str, list[str]]:
    """Return the sorted registered names by role, without importing what they name."""
    return {role: entries.names() for role, entries in _roles().items()}


def register(role: str, name: str, cls: Callable[..., Any]) -> None:
    """Register a class, or a function that builds one, under a name."""
    _roles()[role].register(name, func=cls)


def _roles() -> dict[str, _LazyRegistry]:
    return {
        role: entries
        for role, entries in vars(registry).items()
        if isinstance(entries, _LazyRegistry)
    }


def config_of(value: Any) -> Any:
    """A thing made of registered classes as plain values: what a cfg says and a report states.

    Every field is written, also one that has its default, so that a later change of a default
    cannot change a saved model.
    """
    if is_dataclass(value) and not isinstance(value, type):
        role, name = _name_of(type(value))
        plain = {f.name: config_of(getattr(value, f.name)) for f in fields(value) if f.init}
        return {f"@{role}": name, **plain}
    if isinstance(value, Mapping):
        return {str(key): config_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [config_of(item) for item in value]
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _name_of(cls: type) -> tuple[str, str]:
    for role, entries in _roles().items():
        if (name := entries.find_name(cls)) is not None:
            return role, name
    raise ValueError(
        f"{cls.__module__}.{cls.__qualname__} is not registered, so it cannot be written as a "
        "cfg. Register it, or declare it as an entry point."
    )


def versions() -> dict[str, str]:
    """The versions a result depends on."""
    found = {"textrank": _version("textrank-kernels"), "python": platform.python_version()}
    return found | {name: _version(name) for name in ("numpy", "scipy", "spacy", "scikit-learn")}


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def read_config(path: Path) -> Config:
    """A cfg file; whatever is wrong with it is told with its name.

    Values that refer to others, ``${...}``, are refused: a few hundred bytes of them expand without
    end, and a file that states its values can be read by people.
    """
    text = read_text(path, LARGEST)
    if "${" in text:
        raise ValueError(f"{path}: refers to other values by ${{...}}. State the values.")
    try:
        return Config().from_str(text, interpolate=False)
    except Exception as error:  # confection raises whatever its parser met
        reason = " ".join(str(error).split()) or repr(error)
        raise ValueError(f"{path}: not a readable cfg: {reason:.500}") from error


def load_block(path: Path, section: str) -> Any:
    """What a section of a cfg describes, built."""
    config = read_config(path)
    if not isinstance(config.get(section), dict):
        raise ValueError(f"{path}: no section [{section}]. Add it.")
    try:
        return registry.resolve(config)[section]
    except RecursionError:
        raise ValueError(f"{path}: blocks nested too deeply. Flatten it.") from None
    except (ConfigValidationError, catalogue.RegistryError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or repr(error)
        missing = re.search(r"find '(.+?)' in registry", reason)
        if missing is not None:
            reason = f"nothing is registered as {missing[1]!r}. Is it yours? See --code."
        raise ValueError(f"{path}: {reason:.500}") from error
