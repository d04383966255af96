"""The registries, and the written form of anything made of registered classes."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import catalogue
import confection
import numpy as np
from confection import Config, ConfigValidationError

from textrank.io import read_text

KINDS = ("pipelines", "tasks", "representations", "kernels", "learners", "readers")

LARGEST = 1 << 20  # bytes of a cfg


class registry(confection.registry):
    """Names of classes, by role; a plugin adds its own through entry points ``textrank_<role>``."""

    pipelines = catalogue.create("textrank", "pipelines", entry_points=True)
    tasks = catalogue.create("textrank", "tasks", entry_points=True)
    representations = catalogue.create("textrank", "representations", entry_points=True)
    transformations = catalogue.create("textrank", "transformations", entry_points=True)
    kernels = catalogue.create("textrank", "kernels", entry_points=True)
    learners = catalogue.create("textrank", "learners", entry_points=True)
    readers = catalogue.create("textrank", "readers", entry_points=True)


def registries() -> dict[str, dict[str, Any]]:
    """Every registered class by role and name."""
    return {role: own.get_all() for role, own in _roles().items()}


def register(role: str, name: str, cls: Callable[..., Any]) -> None:
    """Makes a class, or a function that builds one, known by a name."""
    _roles()[role].register(name, func=cls)


def _roles() -> dict[str, catalogue.Registry]:
    found = vars(registry).items()
    return {role: own for role, own in found if isinstance(own, catalogue.Registry)}


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
    for role, names in registries().items():
        for name, registered in names.items():
            if registered is cls:
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
