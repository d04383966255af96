"""Options that every command has, added in one place."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
Code = Annotated[
    Path | None,
    typer.Option(metavar="FILE.py", help="Runs your own Python first, which registers classes."),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Bytes of a document or packed file that may be held, as 200M."
    ),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leaves out documents with errors and says how many.")
]
COMMON: dict[str, tuple[Any, Any]] = {
    "code": (Code, None),
    "max_bytes": (MaxBytes, None),
    "skip_bad": (SkipBad, False),
}


def extended(run: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a command, with ``--code``, ``--max-bytes`` and ``--skip-bad`` besides."""

    @functools.wraps(run)
    def whole(*arguments: Any, **named: Any) -> Any:
        own = {key: named.pop(key) for key in COMMON}
        run_code(own["code"])
        from textrank.formats.reading import READING, Reading

        READING.set(Reading(limit=size_of(own["max_bytes"]), skip_bad=own["skip_bad"]))
        return run(*arguments, **named)

    hints = get_type_hints(run, include_extras=True)
    given = inspect.signature(run).parameters.values()
    parameters = [p.replace(annotation=hints.get(p.name, p.annotation)) for p in given]
    parameters += [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for key, (kind, default) in COMMON.items()
    ]
    shown: Any = whole
    shown.__signature__ = inspect.Signature(parameters)
    shown.__annotations__ = {p.name: p.annotation for p in parameters}
    return whole


def run_code(file: Path | None) -> None:
    """Imports a file the user named: the one way to code that no package registers."""
    if file is None:
        return
    if file.suffix != ".py" or not file.is_file():
        raise ValueError(f"--code {file}: no such Python file. Name one that ends in .py.")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"--code {file}: cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)


def size_of(text: str | None) -> int | None:
    """A number of bytes, as people write it.

    >>> size_of("2k"), size_of("200M")
    (2048, 209715200)
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9})([kmg]?)b?", text.strip().lower())
    if not found or not int(found[1]):
        raise ValueError(f"--max-bytes {text}: write a number of bytes, as 500k, 200M or 2G.")
    return int(found[1]) * UNITS[found[2]]
