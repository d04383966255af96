"""``textrank info``: what is registered and shipped."""

from __future__ import annotations

from typing import Annotated

import typer

from textrank.cli.options import JsonFile

EXAMPLE = "Example: textrank info all_paths.v1"


def command(
    name: Annotated[str | None, typer.Argument(help="A registered name.")] = None,
    json_: JsonFile = None,
) -> None:
    """Lists what is registered and shipped, or says what a name is and which settings it has."""
    import json

    from textrank.io import write_text

    found = information(name)
    if json_:
        write_text(json.dumps(found, indent=2) + "\n", json_)
    for title, rows in found.items():
        typer.echo(title)
        for key, value in rows.items():
            typer.echo(f"  {key:<28} {value}")


def information(name: str | None = None) -> dict[str, dict[str, str]]:
    """What is registered and shipped, or the settings of one name."""
    from textrank.config import model_names, pipeline_names
    from textrank.formats.table import READERS, WRITERS
    from textrank.registries import registries, versions

    found = registries()
    if name is None:
        rows = {
            role: {key: f"{cls.__module__}.{cls.__qualname__}" for key, cls in names.items()}
            for role, names in found.items()
        }
        shipped = {
            "pipelines": pipeline_names(),
            "models": model_names(),
            "formats read": list(READERS),
            "formats written": list(WRITERS),
        }
        return {
            "versions": versions(),
            "shipped": {key: ", ".join(value) or "none" for key, value in shipped.items()},
            **{f"registered {role}": names for role, names in rows.items() if names},
        }
    for role, names in found.items():
        if name in names:
            return _described(role, name, names[name])
    known = sorted(key for names in found.values() for key in names)
    raise ValueError(f"nothing is registered as {name!r}; known: {', '.join(known)}.")


def _described(role: str, name: str, cls: type) -> dict[str, dict[str, str]]:
    import inspect

    first = (inspect.getdoc(cls) or "").splitlines()[0]
    about = {"role": role, "defined in": f"{cls.__module__}.{cls.__qualname__}", "gives": first}
    parameters = inspect.signature(cls).parameters.values()
    settings = {
        p.name: "(required)" if p.default is p.empty else repr(p.default) for p in parameters
    }
    return {name: about, "settings": settings or {"none": ""}}
