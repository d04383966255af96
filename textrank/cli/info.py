"""``textrank info``: what is registered and shipped."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from textrank.cli.app import JsonFile

MAX_VALUE_CHARACTERS = 60  # characters of a value that are shown
HIDDEN_META_KEYS = ("files", "checksum", "calibration", "training_texts")  # of a model
TYPE_WORDS = {
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
    "NoneType": "none",
    "bool": "true or false",
    "Mapping": "a table",
    "dict": "a table",
}
EXAMPLE = "Example: textrank info all_paths.v1"
SPELLING_MODEL = "spelling"  # the name under which the confusion pairs are listed


def command(
    name: Annotated[
        str | None, typer.Argument(help="A registered name, a shipped pipeline or model.")
    ] = None,
    json_: JsonFile = None,
) -> None:
    """Lists what is registered and shipped, says what a name is, or lists pairs (spelling)."""
    import json

    from textrank.io import write_text

    found = collect_info(name)
    if json_:
        write_text(json.dumps(found, indent=2) + "\n", json_)
    for title, rows in found.items():
        typer.echo(title)
        for key, value in rows.items():
            typer.echo(f"  {key:<28} {value}")


def collect_info(name: str | None = None) -> dict[str, dict[str, str]]:
    """What is registered and shipped, or the settings of one name."""
    from textrank.config import model_names, package_versions, pipeline_names, registered_classes
    from textrank.formats.detection import READERS, WRITERS

    found = registered_classes()
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
            "versions": package_versions(),
            "shipped": {key: ", ".join(value) or "none" for key, value in shipped.items()},
            **{f"registered {role}": names for role, names in rows.items() if names},
        }
    for role, names in found.items():
        if name in names:
            return _described(role, name, names[name])
    if name in pipeline_names() or name in model_names():
        return {**_shipped(name), **(_pairs() if name == SPELLING_MODEL else {})}
    known = sorted(key for names in found.values() for key in names)
    close = difflib.get_close_matches(name, known) or known
    raise ValueError(
        f"nothing is registered as {name!r}, and no pipeline or model is shipped under this name. "
        f"There are: {', '.join(close)}. `textrank info` lists all."
    )


def _shipped(name: str) -> dict[str, dict[str, str]]:
    """The settings of a shipped pipeline, and what is known of the model of that name."""
    from textrank.config import load_model, load_pipeline, model_names, pipeline_names, to_config

    found: dict[str, dict[str, str]] = {}
    if name in pipeline_names():
        settings = _flat(to_config(load_pipeline(name)))
        found[f"pipeline {name}: settings, for --set"] = dict(settings)
    if name in model_names():
        meta = {
            key: value
            for key, value in load_model(name).meta.items()
            if key not in HIDDEN_META_KEYS
        }
        found[f"model {name}"] = {key: f"{value}" for key, value in meta.items()}
    return found


def _flat(block: Any, place: str = "") -> Iterator[tuple[str, str]]:
    for key, value in block.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{place}{key}.")
        else:
            text = repr(value)
            yield (
                f"{place}{key}",
                text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[:MAX_VALUE_CHARACTERS]}...",
            )


def _pairs() -> dict[str, dict[str, str]]:
    """The confusion pairs with precision and recall on genres left out, 1 % of the words wrong."""
    from textrank.lint.model import REPORTED_PRECISION, ConfusionModel, shipped_model_path

    confusions = ConfusionModel.from_disk(shipped_model_path("confusions") or "confusions")
    title = f"{len(confusions.pairs)} confusion pairs at precision {REPORTED_PRECISION}, genres left out"
    rows = {
        pair.title: f"precision {pair.precision:.3f}  recall {pair.recall:.2f}"
        for pair in confusions.pairs
    }
    return {title: rows}


def _described(role: str, name: str, cls: type) -> dict[str, dict[str, str]]:
    first = (inspect.getdoc(cls) or "").splitlines()[0]
    about = {"role": role, "defined in": f"{cls.__module__}.{cls.__qualname__}", "gives": first}
    parameters = inspect.signature(cls).parameters.values()
    hints = get_type_hints(cls)
    settings = {
        p.name: _setting(cls, p, hints.get(p.name))
        for p in parameters
        if p.kind is not p.VAR_KEYWORD
    }
    return {name: about, "settings": settings or {"none": ""}}


def _setting(cls: type, parameter: inspect.Parameter, hint: Any) -> str:
    """The default of a setting, what it may be, and what it means."""
    default = "(required)" if parameter.default is parameter.empty else repr(parameter.default)
    parts = [
        default if len(default) <= MAX_VALUE_CHARACTERS else f"{default[:MAX_VALUE_CHARACTERS]}...",
        _allowed(hint),
    ]
    return " · ".join(part for part in (*parts, describe_setting(cls, parameter.name)) if part)


def _allowed(hint: Any) -> str:
    """What a setting may be, in words.

    >>> _allowed(Literal["auc", "f"])
    "one of 'auc', 'f'"
    >>> _allowed(float), _allowed(int | None)
    ('a number', 'a whole number or none')
    >>> _allowed(list[list[str]])
    'a list of lists of texts'
    """
    if hint is None or hint is Any:
        return ""
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(repr, get_args(hint)))}"
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(filter(None, map(_allowed, get_args(hint))))
    own = getattr(get_origin(hint) or hint, "__name__", "")
    if own in ("Sequence", "tuple", "list"):
        inside = [_allowed(one) for one in get_args(hint)[:1]]
        return "a list" + "".join(f" of {_several(w)}" for w in inside if w)
    return TYPE_WORDS.get(own, f"a {own}" if own else "")


def _several(kind: str) -> str:
    noun, of, rest = kind.removeprefix("a ").partition(" of ")
    return f"{noun}s{of}{rest}"


def describe_setting(cls: type, name: str) -> str:
    """What the docstring of a class says of a setting: its paragraph, or the sentences with it."""
    text = inspect.getdoc(cls) or ""
    own = re.search(rf"^{name}\n((?:    .*\n?)+)", text, re.MULTILINE)
    if own:
        return " ".join(own[1].split())
    sentences = re.split(r"(?<=[.;:])\s+", " ".join(text.split()))
    return " ".join(s for s in sentences if f"``{name}``" in s)
