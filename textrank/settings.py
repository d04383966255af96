"""Settings as text: sections of a cfg built, overridden and checked; those of a trained model."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import catalogue
from confection import ConfigValidationError

from textrank.registries import read_config, registered_names, registry

if TYPE_CHECKING:
    from textrank.model import Model

# Settings of tasks without which a trained model cannot be asked anything.
FIXED = {"spelling": ("task.sets", "task.more")}
_KINDS = {
    "float": "is no number",
    "int": "is no whole number",
    "str": "is no text",
    "bool": "is neither true nor false",
}


def resolved(
    path: Path,
    section: str,
    overrides: Mapping[str, Any],
    spelt: Callable[[Any], dict[str, Any]] | None = None,
) -> Any:
    """What a section of a cfg describes, built; anything wrong names the file and the place.

    Overrides of blocks that the cfg does not have are made in what is built, spelt out.
    """
    config: dict[str, Any] = read_config(path)
    if not isinstance(config.get(section), dict):
        raise ValueError(f"{path}: no section [{section}]. Add it.")
    known = {k: v for k, v in overrides.items() if k.split(".")[1] in config[section]}
    for key, value in (overrides if spelt is None else known).items():
        _override(config, key, value, path)
    found = _built(config, section, path)
    if spelt is None or len(known) == len(overrides):
        return found
    config = spelt(found)
    for key in (key for key in overrides if key not in known):
        _override(config, key, overrides[key], path)
    return _built(config, section, path)


def _built(config: dict[str, Any], section: str, path: Path) -> Any:
    _check_blocks(config[section], section, path)
    try:
        check_numbers(config[section])
        return registry.resolve(config)[section]
    except ConfigValidationError as error:
        raise ValueError(f"{path}: {_validation(error)}") from error
    except RecursionError:
        raise ValueError(f"{path}: values nested too deeply. Flatten them.") from None
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(f"{path}: {reason}") from error


def _override(config: dict[str, Any], key: str, value: Any, path: Path) -> None:
    *blocks, last = key.split(".")
    for block in blocks:
        if not isinstance(config.get(block), dict):
            raise ValueError(
                f"{path}: no block {block!r} for setting {key.removeprefix('pipeline.')!r}; "
                f"there are: {', '.join(k for k in config if not k.startswith('@'))}."
            )
        config = config[block]
    if isinstance(config.get(last), dict) and not isinstance(value, dict):
        raise ValueError(
            f"{path}: {key.removeprefix('pipeline.')!r} is a block, which {value!r:.40} cannot "
            f"replace. Set one of: {', '.join(k for k in config[last] if k[:1] != '@')}."
        )
    config[last] = value


def check_numbers(value: Any, place: str = "") -> None:
    """Whole numbers have any length in JSON and cfg; those that no float can hold are refused."""
    if isinstance(value, int):
        if abs(value) > sys.float_info.max:
            raise ValueError(f"{place} is a number of more than 308 digits. Give a smaller one.")
        return
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    for key, inner in items:
        check_numbers(inner, f"{place}.{key}" if place else str(key))


def _check_blocks(block: Mapping[str, Any], place: str, path: Path) -> None:
    """A misspelt class or setting fails here, by its name and with the ones that exist."""
    for key, value in block.items():
        if isinstance(value, Mapping):
            _check_blocks(value, f"{place}.{key}", path)
    role = next((key for key in block if key.startswith("@")), None)
    if role is None:
        return
    if not isinstance(block[role], str):
        raise ValueError(f"{path}, [{place}]: {role} = {block[role]!r:.40} is no name.")
    try:
        cls = registry.get(role[1:], block[role])
    except (catalogue.RegistryError, ValueError):
        names = registered_names().get(role[1:])
        known = f"no registry {role!r}" if names is None else ", ".join(names)
        raise ValueError(
            f"{path}, [{place}]: nothing is registered as {block[role]!r}; known: {known}."
        ) from None
    settings = set(inspect.signature(cls).parameters)
    for key in block:
        if not key.startswith("@") and key not in settings:
            raise ValueError(
                f"{path}, [{place}]: {block[role]} has no setting {key!r}; "
                f"it has: {', '.join(sorted(settings)) or 'none'}."
            )


def _validation(error: ConfigValidationError) -> str:
    parts = [
        f"[{'.'.join(str(p) for p in item.get('loc', ()))}] {_in_words(item.get('msg', ''))}"
        for item in error.errors or ()
    ]
    return "; ".join(parts) or _one_line(error)


def _in_words(message: str) -> str:
    """What is wrong with a value, without the names that Python has for kinds of values.

    >>> _in_words("at 0: 'a' is not <class 'float'>")
    "at place 0: 'a' is no number."
    >>> _in_words("at root: 3 is not typing.Literal['auc', 'f']")
    "3 is none of 'auc', 'f'."
    """
    message = re.sub(r"^at root: ", "", re.sub(r"^at (\d+)", r"at place \1", message))
    message = re.sub(r"is not typing\.Literal\[(.*?)\]", r"is none of \1", message)
    message = re.sub(r"is not <class '(\w+)'>", lambda m: _KINDS.get(m[1], m[0]), message)
    return message.rstrip(".") + "."


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or repr(error)


def parse_setting(text: str) -> tuple[str, Any]:
    """``learner.alphas=[1, 2]`` as a key and a value; what is not JSON is a string."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise ValueError(f"cannot read setting {text!r}: write KEY=VALUE, as in learner.select=f.")
    try:
        return key.strip(), json.loads(value)
    except json.JSONDecodeError:
        return key.strip(), value.strip()
    except (RecursionError, ValueError) as error:  # of thousands of brackets, or of digits
        deep = isinstance(error, RecursionError)
        raise ValueError(
            f"cannot read setting {key.strip()!r}: {value:.40}... is "
            f"{'nested too deeply' if deep else 'a number of too many digits'}. "
            f"Give a {'flatter list' if deep else 'smaller one'}."
        ) from None


def adjusted(model: Model, settings: Sequence[str]) -> Model:
    """The model with other settings of its task, such as the precision; its threshold follows."""
    if not settings:
        return model
    changes = dict(map(parse_setting, settings))
    check_numbers(changes)
    task: Any = model.pipeline.task
    known = [f"task.{field.name}" for field in fields(task)]
    if unknown := sorted(set(changes) - set(known)):
        raise ValueError(
            f"a trained model has no setting {unknown[0]!r} to change; it has: {', '.join(known)}."
        )
    if fixed := [key for key in changes if key in FIXED.get(task.name, ())]:
        raise ValueError(
            f"{fixed[0]} decides what a model is trained on, so it cannot change afterwards. Train "
            f"one: textrank train {task.name} CORPUS MODEL --set {fixed[0]}=..."
        )
    try:
        task = replace(task, **{key.removeprefix("task."): v for key, v in changes.items()})
    except (TypeError, LookupError, AttributeError) as error:
        overrides = ", ".join(f"{key}={value!r:.40}" for key, value in changes.items())
        kinds = [f"{f.name} is {f.type}" for f in fields(task) if f"task.{f.name}" in changes]
        raise ValueError(
            f"--set {overrides} does not fit the task {task.name!r}: {', '.join(kinds)}."
        ) from error
    from textrank.tasks.ppi import PPI

    threshold = task.threshold(model.labels, model.heldout)
    if isinstance(task, PPI):  # its figures have a threshold, its rows a level of probability
        heldout = model.probability(model.heldout)
        task = task if heldout is None else task.leveled(model.labels, heldout)
        threshold = model.threshold
    return model.adjusted(task, threshold)
