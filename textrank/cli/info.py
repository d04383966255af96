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

MAX_VALUE_CHARACTERS = 60
HIDDEN_META_KEYS = ("files", "checksum", "calibration", "training_texts")
TYPE_WORDS = {
    "float": "a number",
    "int": "an integer",
    "str": "a string",
    "NoneType": "none",
    "bool": "true or false",
    "Mapping": "a table",
    "dict": "a table",
}
SPELLING_MODEL = "spelling"  # also lists the confusion pairs


def info_command(
    name: Annotated[
        str | None, typer.Argument(help="Registered name, or shipped pipeline or model.")
    ] = None,
    json_: JsonFile = None,
) -> None:
    """List models, pipelines and registered names, or describe one of them.

    `textrank info spelling` also lists the confusion pairs.
    """
    import json

    from textrank.io import write_text

    sections = collect_info(name)
    if json_:
        write_text(json.dumps(sections, indent=2) + "\n", json_)
    for title, rows in sections.items():
        typer.echo(title)
        for key, value in rows.items():
            typer.echo(f"  {key:<28} {value}")


def collect_info(name: str | None = None) -> dict[str, dict[str, str]]:
    """Return sections of information, on everything registered and shipped or on one name.

    The result is ``{title: {key: text}}``, where the title is the heading of a section. ``name`` is
    a registered name, which is looked up first, or the name of a shipped pipeline or model; None
    lists all. Raises ValueError if there is no such name, with similar registered ones, or all of
    them if none is similar.
    """
    from textrank.config import model_names, package_versions, pipeline_names, registered_classes
    from textrank.formats.detection import READERS, WRITERS

    classes = registered_classes()
    if name is None:
        rows = {
            role: {key: f"{cls.__module__}.{cls.__qualname__}" for key, cls in names.items()}
            for role, names in classes.items()
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
    for role, names in classes.items():
        if name in names:
            return _describe_class(role, name, names[name])
    if name in pipeline_names() or name in model_names():
        return {
            **_describe_shipped(name),
            **(_describe_confusions() if name == SPELLING_MODEL else {}),
        }
    all_names = sorted(key for names in classes.values() for key in names)
    similar = difflib.get_close_matches(name, all_names) or all_names
    raise ValueError(
        f"nothing is registered as {name!r}, and no pipeline or model of this name is shipped. "
        f"Similar names: {', '.join(similar)}. `textrank info` lists all."
    )


def _describe_shipped(name: str) -> dict[str, dict[str, str]]:
    """Return the settings of a shipped pipeline and the meta data of the model of that name.

    The result has the form of ``collect_info``, with a section for the pipeline and one for the
    model; a section is left out if only the other exists. Meta data under ``HIDDEN_META_KEYS`` is
    not shown.
    """
    from textrank.config import load_model, load_pipeline, model_names, pipeline_names, to_config

    sections: dict[str, dict[str, str]] = {}
    if name in pipeline_names():
        settings = _flatten(to_config(load_pipeline(name)))
        sections[f"pipeline {name}: settings, for --set"] = dict(settings)
    if name in model_names():
        meta = {
            key: value
            for key, value in load_model(name).meta.items()
            if key not in HIDDEN_META_KEYS
        }
        sections[f"model {name}"] = {key: f"{value}" for key, value in meta.items()}
    return sections


def _flatten(block: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Iterate over the values of nested dicts as pairs ``("a.b.key", repr(value))``.

    Every key begins with ``prefix``. A ``repr`` longer than ``MAX_VALUE_CHARACTERS`` is cut there
    and "..." is added. Empty dicts give nothing.
    """
    for key, value in block.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            text = repr(value)
            yield (
                f"{prefix}{key}",
                text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[:MAX_VALUE_CHARACTERS]}...",
            )


def _describe_confusions() -> dict[str, dict[str, str]]:
    """Return one section with the confusion pairs of the shipped model, their precision and recall.

    The result has the form of ``collect_info``: the title of the section gives the number of pairs,
    and each row maps the title of a pair to its precision and recall, as text. These were measured
    on genres held out of training, with 1 % of the words replaced by errors.
    """
    from textrank.lint.model import REPORTED_PRECISION, ConfusionModel, shipped_model_path

    confusions = ConfusionModel.from_disk(shipped_model_path("confusions") or "confusions")
    count = len(confusions.pairs)
    title = f"{count} confusion pairs at precision {REPORTED_PRECISION}, on unseen genres"
    rows = {
        pair.title: f"precision {pair.precision:.3f}  recall {pair.recall:.2f}"
        for pair in confusions.pairs
    }
    return {title: rows}


def _describe_class(role: str, name: str, cls: type) -> dict[str, dict[str, str]]:
    """Return two sections on a registered class: role, module and summary; and its settings.

    The result has the form of ``collect_info``. The summary is the first line of the docstring.
    Settings are the constructor's parameters except ``**kwargs``, each described by
    ``_format_setting``.
    """
    summary = (inspect.getdoc(cls) or "").splitlines()[0]
    description = {
        "role": role,
        "defined in": f"{cls.__module__}.{cls.__qualname__}",
        "gives": summary,
    }
    parameters = inspect.signature(cls).parameters.values()
    hints = get_type_hints(cls)
    settings = {
        p.name: _format_setting(cls, p, hints.get(p.name))
        for p in parameters
        if p.kind is not p.VAR_KEYWORD
    }
    return {name: description, "settings": settings or {"none": ""}}


def _format_setting(cls: type, parameter: inspect.Parameter, hint: Any) -> str:
    """Return default, type and meaning of a constructor argument in one line, joined by " · ".

    ``hint`` is the type of the parameter; None leaves the type out. The meaning comes from the
    docstring of ``cls`` (``describe_setting``) and is left out if it says nothing. Defaults longer
    than ``MAX_VALUE_CHARACTERS`` are cut.
    """
    default = "(required)" if parameter.default is parameter.empty else repr(parameter.default)
    parts = [
        default if len(default) <= MAX_VALUE_CHARACTERS else f"{default[:MAX_VALUE_CHARACTERS]}...",
        _type_in_words(hint),
    ]
    return " · ".join(part for part in (*parts, describe_setting(cls, parameter.name)) if part)


def _type_in_words(hint: Any) -> str:
    """Describe in words which values a type hint allows; "" if the hint is None or Any.

    >>> _type_in_words(Literal["auc", "f"])
    "one of 'auc', 'f'"
    >>> _type_in_words(float), _type_in_words(int | None)
    ('a number', 'an integer or none')
    >>> _type_in_words(list[list[str]])
    'a list of lists of strings'
    """
    if hint is None or hint is Any:
        return ""
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(repr, get_args(hint)))}"
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(filter(None, map(_type_in_words, get_args(hint))))
    type_name = getattr(get_origin(hint) or hint, "__name__", "")
    if type_name in ("Sequence", "tuple", "list"):
        item_types = [_type_in_words(argument) for argument in get_args(hint)[:1]]
        return "a list" + "".join(f" of {_plural(w)}" for w in item_types if w)
    return TYPE_WORDS.get(type_name, f"a {type_name}" if type_name else "")


def _plural(singular: str) -> str:
    """Return the plural of words such as "a list of strings" or "an integer": "lists of strings".

    Only an "s" is added to the noun.
    """
    noun, of, rest = singular.removeprefix("a ").removeprefix("an ").partition(" of ")
    return f"{noun}s{of}{rest}"


def describe_setting(cls: type, name: str) -> str:
    """Return what the docstring of a class says about a constructor argument, "" if nothing.

    This is the entry of ``name`` in a numpydoc section, or else all sentences that mention ``name``
    in double backquotes.
    """
    text = inspect.getdoc(cls) or ""
    entry = re.search(rf"^{name}\n((?:    .*\n?)+)", text, re.MULTILINE)
    if entry:
        return " ".join(entry[1].split())
    sentences = re.split(r"(?<=[.;:])\s+", " ".join(text.split()))
    return " ".join(s for s in sentences if f"``{name}``" in s)
