"""Registries and configuration: from names and cfg files to objects, and back.

- ``registry`` has the registered classes by role; ``register`` adds to it.
- ``to_config`` and ``dump_pipeline`` write an object made of registered classes as plain values.
- ``resolve_section`` builds an object from a section of a cfg file, with overrides and messages for
  users; ``resolve_block`` does so for files of saved models, faster and without overrides.
- ``load_pipeline``, ``load_model`` and ``load_corpus`` load by name or path;
  ``with_task_settings`` changes the task settings of a loaded model.

A block of a cfg names a registered class; its keys are the arguments of the constructor. Loading
what ``dump_pipeline`` wrote gives an equal pipeline.
"""

from __future__ import annotations

import inspect
import json
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import catalogue
import confection
import numpy as np
from confection import Config, ConfigValidationError

from textrank import _installed_version
from textrank.catalog import CATALOG
from textrank.io import find_input, read_text, shipped_folder

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from textrank.model import Model
    from textrank.pipeline import Pipeline

MAX_CFG_BYTES = 1 << 20
_TYPE_MESSAGES = {  # Python type -> what is wrong with a value that is not of this type
    "float": "is not a number",
    "int": "is not a whole number",
    "str": "is not text",
    "bool": "is neither true nor false",
}


# Registries ---------------------------------------------------------------------------------------


class _LazyRegistry(catalogue.Registry):  # type: ignore[misc]  # catalogue has no types
    """Registry whose built-in entries are imported from ``CATALOG`` when they are first used.

    Entries registered at run time or through entry points take precedence. ``role`` is a key of
    ``CATALOG``, such as ``"kernels"``.
    """

    def __init__(self, role: str) -> None:
        """Create the registry of a role, a key of ``CATALOG``; nothing is imported yet."""
        super().__init__(("textrank", role), entry_points=True)
        self._catalog = CATALOG[role]
        self._entry_points: tuple[Any, list[Any]] = (None, [])

    def _get_entry_points(self) -> list[Any]:
        """Return the entry points of this role, searched once per list of installed ones.

        The search takes a millisecond or two, and a model asks about a hundred times.
        """
        installed = catalogue.AVAILABLE_ENTRY_POINTS
        if self._entry_points[0] is not installed:
            self._entry_points = (installed, list(super()._get_entry_points()))
        return self._entry_points[1]

    def __contains__(self, name: str) -> bool:
        """Return whether a name is registered, without importing a built-in entry."""
        return name in self._catalog or bool(super().__contains__(name))

    def get(self, name: str) -> Any:
        """Return the registered class or function, importing it if necessary.

        Raises catalogue.RegistryError if there is no such name.
        """
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
        """Return the name under which a class is registered, or None; imports nothing built in."""
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


def registered_classes() -> dict[str, dict[str, Any]]:
    """Return every registered class (or function) as ``{role: {name: class}}``; imports all."""
    return {role: entries.get_all() for role, entries in _roles().items()}


def registered_names() -> dict[str, list[str]]:
    """Return the registered names as ``{role: sorted names}``, without importing what they name."""
    return {role: entries.names() for role, entries in _roles().items()}


def register(role: str, name: str, cls: Callable[..., Any]) -> None:
    """Register a class, or a function that builds an object, under a name.

    ``role`` is the name of a registry, such as ``"kernels"``; another one raises KeyError. An
    earlier entry of the name is replaced.
    """
    _roles()[role].register(name, func=cls)


def _roles() -> dict[str, _LazyRegistry]:
    """Return the registries by role, such as "tasks", in the order of the class ``registry``."""
    return {
        role: entries
        for role, entries in vars(registry).items()
        if isinstance(entries, _LazyRegistry)
    }


# Writing ------------------------------------------------------------------------------------------


def to_config(value: Any) -> Any:
    """Return an object made of registered classes as plain values for a cfg or a report.

    A dataclass becomes ``{"@role": name, field: value, ...}``, tuples and arrays become lists, keys
    of mappings strings; other values are returned as they are. Every field of the constructor is
    written, also one with its default value, so that a later change of a default cannot change a
    saved model. Raises ValueError for a class that is not registered.
    """
    if is_dataclass(value) and not isinstance(value, type):
        role, name = _registered_name(type(value))
        plain = {f.name: to_config(getattr(value, f.name)) for f in fields(value) if f.init}
        return {f"@{role}": name, **plain}
    if isinstance(value, Mapping):
        return {str(key): to_config(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_config(item) for item in value]
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _registered_name(cls: type) -> tuple[str, str]:
    """Return role and name of a registered class; ValueError if it is not registered.

    Of several roles or names the first counts. Built-in classes are not imported.
    """
    for role, entries in _roles().items():
        if (name := entries.find_name(cls)) is not None:
            return role, name
    raise ValueError(
        f"{cls.__module__}.{cls.__qualname__} is not registered, so it cannot be written as a "
        "cfg. Register it, or declare it as an entry point."
    )


def package_versions() -> dict[str, str]:
    """Return the versions of textrank, Python and the libraries that results depend on, by name.

    A package that is not installed has "not installed" as version.
    """
    libraries = ("numpy", "scipy", "spacy", "scikit-learn")
    return {
        "textrank": _installed_version("textrank-kernels"),
        "python": platform.python_version(),
        **{name: _installed_version(name) for name in libraries},
    }


def dump_pipeline(pipeline: Pipeline) -> str:
    """Return a pipeline as the text of a cfg; loading it gives an equal pipeline.

    Raises ValueError if a class of it is not registered.
    """
    return Config({"pipeline": to_config(pipeline)}).to_str()


# Reading cfg files --------------------------------------------------------------------------------


def read_config(path: Path) -> Config:
    """Read a cfg file without building anything; ValueError with its name if it is not readable.

    The result maps sections to nested dicts of plain values. References to other values,
    ``${...}``, are refused: a few hundred bytes of them can expand without end. So are files of
    more than ``MAX_CFG_BYTES``.
    """
    text = read_text(path, MAX_CFG_BYTES)
    if "${" in text:
        raise ValueError(f"{path}: references (${{...}}) are not supported. Write the values.")
    try:
        return Config().from_str(text, interpolate=False)
    except Exception as error:  # confection passes on any error of its parser
        reason = _one_line(error)
        raise ValueError(f"{path}: not a readable cfg: {reason:.500}") from error


MODEL_FILE_PREFIX = "model:"  # before the name of a file in the folder of a model
MODEL_ROLES = ("pipelines", "tasks", "representations", "transformations", "kernels", "learners")


def _map_files(block: Any, map_value: Callable[[str, str, Any, Sequence[Any]], Any]) -> Any:
    """Return a copy of nested blocks with the values of all ``file_settings`` mapped.

    ``file_settings`` of a registered class maps the settings that name files to the values that
    are shipped. ``map_value(registered name, setting, value, shipped values)`` returns the new
    value. Raises ValueError for a block of a role that a model cannot have, and
    catalogue.RegistryError for a name that is not registered.
    """
    if isinstance(block, list | tuple):
        return [_map_files(item, map_value) for item in block]
    if not isinstance(block, Mapping):
        return block
    roles = [key for key in block if isinstance(key, str) and key.startswith("@")]
    if any(role[1:] not in MODEL_ROLES for role in roles):
        raise ValueError(f"{roles[0]} = {block[roles[0]]!r:.40} cannot be part of a model.")
    names = [block[role] for role in roles]
    cls = registry.get(roles[0][1:], names[0]) if roles and isinstance(names[0], str) else None
    shipped = getattr(cls, "file_settings", {})
    return {
        key: map_value(str(names[0]), key, value, shipped[key])
        if key in shipped
        else _map_files(value, map_value)
        for key, value in block.items()
    }


def _find_model_file(
    cfg: Path, name: str, setting: str, value: Any, shipped: Sequence[Any], *, trusted: bool
) -> Any:
    """Return the value of a setting that names a file, for a model whose cfg is ``cfg``.

    A file of the model's folder (``MODEL_FILE_PREFIX`` and its name) is returned as its absolute
    path; None, shipped values and blocks (mappings) unchanged, other values only if ``trusted``.
    Otherwise, and if the file is missing or a symbolic link in a model that is not trusted,
    ValueError is raised; ``name`` and ``setting`` are for its message.
    """
    is_model_file = isinstance(value, str) and value.startswith(MODEL_FILE_PREFIX)
    if value is None or value in shipped or isinstance(value, Mapping):
        return value
    if trusted and not is_model_file:
        return value
    if is_model_file:
        file = cfg.parent / value.removeprefix(MODEL_FILE_PREFIX)
        if file.parent == cfg.parent and file.is_file() and (trusted or not file.is_symlink()):
            return str(file.absolute())
    raise ValueError(
        f"{name}: {setting} = {value!r:.80} names a file outside of the model. A model may use "
        "shipped files and files of its own folder. If you trust it, load it with "
        "load_model(path, trusted=True)."
    )


def write_model_config(pipeline: Pipeline, folder: Path) -> None:
    """Write ``config.cfg`` into a model's folder, with copies of the files that its settings name.

    Settings that name files are those in ``file_settings`` of their class. A copy is called
    ``file-<number>-<name>``, numbered from 1, and the written settings name it with
    ``MODEL_FILE_PREFIX``; ``pipeline`` itself is not changed. Files that are shipped are not
    copied, nor folders and lists of files; these settings, and names of missing files, are written
    as they are. The folder must exist. Raises ValueError if a class is not registered.
    """
    copies: list[str] = []

    def copy(_: str, __: str, value: Any, shipped: Sequence[Any]) -> Any:
        """Copy the file that ``value`` names and return its prefixed name in the folder.

        Other values are returned unchanged.
        """
        if not isinstance(value, str) or value in shipped or not Path(value).is_file():
            return value
        copies.append(f"file-{len(copies) + 1}-{Path(value).name}")
        shutil.copyfile(value, folder / copies[-1])
        return f"{MODEL_FILE_PREFIX}{copies[-1]}"

    block = _map_files(to_config(pipeline), copy)
    Config({"pipeline": block}).to_disk(folder / "config.cfg")


def resolve_block(path: Path, section: str, *, trusted: bool = False) -> Any:
    """Build the object that a section of a model's cfg file describes.

    Settings that name files (``file_settings`` of their class) may name shipped ones and files of
    the model's folder; others are refused unless ``trusted``. Readers of corpora are refused.
    Raises ValueError with the name of the file if the section is missing or cannot be built. Faster
    than ``resolve_section``, which has better messages.
    """
    config = read_config(path)
    if not isinstance(config.get(section), dict):
        raise ValueError(f"{path}: no section [{section}]. Add it.")
    try:
        block = _map_files(config[section], partial(_find_model_file, path, trusted=trusted))
        return registry.resolve(Config({section: block}))[section]
    except RecursionError:
        raise ValueError(f"{path}: blocks are nested too deeply. Flatten them.") from None
    except (
        ConfigValidationError,
        catalogue.RegistryError,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        ArithmeticError,
        OSError,
    ) as error:
        reason = _one_line(error)
        missing = re.search(r"find '(.+?)' in registry", reason)
        if missing is not None:
            reason = (
                f"nothing is registered as {missing[1]!r}. If it is a class of your own, load its "
                "module with --code."
            )
        raise ValueError(f"{path}: {reason:.500}") from error


def resolve_section(
    path: Path,
    section: str,
    overrides: Mapping[str, Any],
    expand: Callable[[Any], dict[str, Any]] | None = None,
) -> Any:
    """Build the object that a section of a user's cfg file describes.

    Parameters
    ----------
    path, section
        The file, and the name of the section.
    overrides
        Values by dotted key, which begins with the section: ``{"pipeline.learner.alphas": [1.0]}``.
        The blocks of a key must exist; the last part may be new to the file, but must be a setting
        of the block's class.
    expand
        Returns the whole config of a built object. With it, overrides whose second part the section
        does not have are applied to the expanded object: a file may name a function that builds the
        whole pipeline. None applies all overrides to the file.

    Raises
    ------
    ValueError
        With the file and the place, if anything is wrong.
    """
    config: dict[str, Any] = read_config(path)
    if not isinstance(config.get(section), dict):
        raise ValueError(f"{path}: no section [{section}]. Add it.")
    in_file = {k: v for k, v in overrides.items() if k.split(".")[1] in config[section]}
    for key, value in (overrides if expand is None else in_file).items():
        _override(config, key, value, path)
    built = _build(config, section, path)
    if expand is None or len(in_file) == len(overrides):
        return built
    config = expand(built)
    for key in (key for key in overrides if key not in in_file):
        _override(config, key, overrides[key], path)
    return _build(config, section, path)


def _build(config: dict[str, Any], section: str, path: Path) -> Any:
    """Check a section and build its object; ``path`` is for messages.

    ``config`` maps sections to plain values. Unknown classes and settings are refused with the
    available ones. All errors are raised as ValueError with the path.
    """
    _check_blocks(config[section], section, path)
    try:
        check_numbers(config[section])
        return registry.resolve(config)[section]
    except ConfigValidationError as error:
        raise ValueError(f"{path}: {_validation_message(error)}") from error
    except RecursionError:
        raise ValueError(f"{path}: values are nested too deeply. Flatten them.") from None
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(f"{path}: {reason}") from error


def _override(config: dict[str, Any], key: str, value: Any, path: Path) -> None:
    """Set a value in ``config`` in place, by its dotted key; the blocks of the key must exist.

    The last part of the key may be new. A block can only be replaced by a block (a dict). Raises
    ValueError with ``path`` otherwise.
    """
    *blocks, last = key.split(".")
    for block in blocks:
        if not isinstance(config.get(block), dict):
            raise ValueError(
                f"{path}: no block {block!r} for setting {key.removeprefix('pipeline.')!r}; "
                f"available: {', '.join(k for k in config if not k.startswith('@'))}."
            )
        config = config[block]
    if isinstance(config.get(last), dict) and not isinstance(value, dict):
        raise ValueError(
            f"{path}: {key.removeprefix('pipeline.')!r} is a block and cannot be set to "
            f"{value!r:.40}. Set one of: {', '.join(k for k in config[last] if k[:1] != '@')}."
        )
    config[last] = value


def check_numbers(value: Any, key: str = "") -> None:
    """Raise ValueError if plain values contain an integer that is too large for a float.

    Integers have any length in JSON and cfg files. ``key`` is the dotted key of ``value``.
    """
    if isinstance(value, int):
        if abs(value) > sys.float_info.max:
            raise ValueError(f"{key} has more than 308 digits. Use a smaller number.")
        return
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    for inner_key, inner in items:
        check_numbers(inner, f"{key}.{inner_key}" if key else str(inner_key))


def _check_blocks(block: Mapping[str, Any], key: str, path: Path) -> None:
    """Raise ValueError, with alternatives, for unknown classes and settings in nested blocks.

    ``key`` is the dotted key of the block, ``path`` the file; both are for messages. A block
    without ``@role`` is only searched for inner blocks. Blocks in lists are not checked.
    """
    for name, value in block.items():
        if isinstance(value, Mapping):
            _check_blocks(value, f"{key}.{name}", path)
    role = next((name for name in block if name.startswith("@")), None)
    if role is None:
        return
    if not isinstance(block[role], str):
        raise ValueError(f"{path}, [{key}]: {role} = {block[role]!r:.40} is not a name.")
    try:
        cls = registry.get(role[1:], block[role])
    except (catalogue.RegistryError, ValueError):
        names = registered_names().get(role[1:])
        available = f"no registry {role!r}" if names is None else ", ".join(names)
        raise ValueError(
            f"{path}, [{key}]: nothing is registered as {block[role]!r}; available: {available}."
        ) from None
    settings = set(inspect.signature(cls).parameters)
    for name in block:
        if not name.startswith("@") and name not in settings:
            raise ValueError(
                f"{path}, [{key}]: {block[role]} has no setting {name!r}; "
                f"available: {', '.join(sorted(settings)) or 'none'}."
            )


def _validation_message(error: ConfigValidationError) -> str:
    """Return the errors of a validation in one line, each with its block, joined by "; ".

    The message of ``error`` itself if it lists none.
    """
    parts = [
        f"[{'.'.join(str(p) for p in item.get('loc', ()))}] {_plain_message(item.get('msg', ''))}"
        for item in error.errors or ()
    ]
    return "; ".join(parts) or _one_line(error)


def _plain_message(message: str) -> str:
    """Return a message of the validator without names of Python types, ended by one full stop.

    Types that are not in ``_TYPE_MESSAGES`` stay as they are.

    >>> _plain_message("at 0: 'a' is not <class 'float'>")
    "at position 0: 'a' is not a number."
    >>> _plain_message("at root: 3 is not typing.Literal['auc', 'f']")
    "3 is not one of 'auc', 'f'."
    """
    message = re.sub(r"^at root: ", "", re.sub(r"^at (\d+)", r"at position \1", message))
    message = re.sub(r"is not typing\.Literal\[(.*?)\]", r"is not one of \1", message)
    message = re.sub(r"is not <class '(\w+)'>", lambda m: _TYPE_MESSAGES.get(m[1], m[0]), message)
    return message.rstrip(".") + "."


def _one_line(error: Exception) -> str:
    """Return the message of an error on one line; its repr if it has none."""
    return " ".join(str(error).split()) or repr(error)


# Settings -----------------------------------------------------------------------------------------


def parse_setting(text: str) -> tuple[str, Any]:
    """Parse ``KEY=VALUE`` into key and value; a value that is not JSON is a string.

    White space around both is removed. Raises ValueError without ``=`` or key, and for JSON that is
    nested too deeply or has an integer of too many digits.

    >>> parse_setting("learner.alphas=[1, 2]")
    ('learner.alphas', [1, 2])
    """
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise ValueError(
            f"cannot read setting {text!r}: write KEY=VALUE, for example learner.select=f."
        )
    try:
        return key.strip(), json.loads(value)
    except json.JSONDecodeError:
        return key.strip(), value.strip()
    except RecursionError:
        reason = "is nested too deeply. Use a flatter list."
    except ValueError:  # an integer of thousands of digits
        reason = "has too many digits. Use a smaller number."
    raise ValueError(f"cannot read setting {key.strip()!r}: {value:.40}... {reason}")


def with_task_settings(model: Model, settings: Sequence[str]) -> Model:
    """Return the model with changed settings of its task, and the threshold that follows.

    ``settings`` are like ``"task.precision=0.9"``; of a repeated one the last counts, and empty
    returns the same model. The task chooses its threshold again on the held-out scores of training
    (``Task.operating_point``); the given model is not changed. Raises ValueError for an unknown
    setting, a value that does not fit, and a setting of ``Task.fixed_settings``.
    """
    if not settings:
        return model
    changes = dict(map(parse_setting, settings))
    check_numbers(changes)
    task: Any = model.pipeline.task
    available = [f"task.{field.name}" for field in fields(task)]
    if unknown := sorted(set(changes) - set(available)):
        raise ValueError(
            f"{unknown[0]!r} cannot be set on a trained model; available: {', '.join(available)}."
        )
    if fixed := [key for key in changes if key.removeprefix("task.") in task.fixed_settings]:
        raise ValueError(
            f"{fixed[0]} decides what a model is trained on, so it cannot change afterwards. Train "
            f"a model: textrank train {task.name} CORPUS MODEL --set {fixed[0]}=..."
        )
    try:
        task = replace(task, **{key.removeprefix("task."): v for key, v in changes.items()})
    except (TypeError, LookupError, AttributeError) as error:
        overrides = ", ".join(f"{key}={value!r:.40}" for key, value in changes.items())
        types = [f"{f.name} is {f.type}" for f in fields(task) if f"task.{f.name}" in changes]
        raise ValueError(
            f"--set {overrides} does not fit the task {task.name!r}: {', '.join(types)}."
        ) from error
    model = model.with_task(task, model.threshold)  # may choose other heads
    probabilities = model.probability(model.heldout)
    point = task.operating_point(model.labels, model.heldout, probabilities, model.threshold)
    return model.with_task(*point)


# Loading by name ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class NamedCorpus:
    """Reader of a corpus, with the name that folds and reports use.

    Calling it with a spaCy pipeline reads the files and yields the Docs.
    """

    name: str
    reader: Callable[[Language], Iterator[Doc]]

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        """Iterate over the documents, analysed by ``nlp``."""
        return self.reader(nlp)


def pipeline_path(name: str | Path) -> Path:
    """Return the cfg file of a shipped pipeline, or ``name`` itself if it is the path of a cfg.

    A path ends in ``.cfg`` and need not exist; a shipped pipeline is named without the suffix.
    Raises ValueError if ``name`` is neither.
    """
    path = _shipped("pipelines", f"{name}.cfg") or Path(name)
    if path.suffix != ".cfg":
        raise ValueError(
            f"no pipeline {str(name)!r}: it is neither the path of a .cfg file nor shipped; "
            f"available: {', '.join(pipeline_names())}."
        )
    return path


def load_pipeline(name: str | Path, settings: Mapping[str, Any] | None = None) -> Pipeline:
    """Load a shipped pipeline by name, or one by the path of its cfg file.

    ``settings`` override values by dotted key, without ``pipeline.``; None changes nothing. Raises
    ValueError, with the file and the key, if anything is wrong.

    >>> load_pipeline("ppi", {"learner.alphas": [1.0]}).learner.alphas
    (1.0,)
    """
    from textrank.pipeline import Pipeline

    path = pipeline_path(name)
    overrides = {f"pipeline.{key}": value for key, value in (settings or {}).items()}
    pipeline = resolve_section(
        path, "pipeline", overrides, expand=lambda built: {"pipeline": to_config(built)}
    )
    if not isinstance(pipeline, Pipeline):
        raise ValueError(f"{path}: [pipeline] is a {type(pipeline).__name__}, not a pipeline.")
    return pipeline


def load_corpus(
    path: str | Path,
    *,
    limit: int | None = None,
    skip_bad: bool = False,
    encoding: str | None = None,
) -> NamedCorpus:
    """Load a corpus by a folder with a ``corpus.cfg``, by that cfg, or by a data file.

    The name of a shipped sample, such as ``sample-ppi``, is found from every folder. Files are read
    when the result is called with a spaCy pipeline. The name of the corpus is that of the folder,
    or of the data file without its suffix. Raises ValueError if there is no such file or folder, or
    the cfg does not describe a reader.

    Parameters
    ----------
    limit
        Largest number of bytes in memory of a document or a packed file; None keeps the setting
        of the reader.
    skip_bad
        Leave out documents with errors, with a warning; False keeps the setting of the reader.
    encoding
        Encoding of plain text, such as ``"latin-1"``; None keeps the setting of the reader. Other
        formats refuse it with a ValueError.

    >>> import spacy
    >>> len(list(load_corpus("corpora/sample-ppi")(spacy.blank("en"))))
    50
    """
    from textrank.formats.base import ReadOptions
    from textrank.formats.detection import reader_for

    path = find_input(path)
    options = ReadOptions(limit, skip_bad, encoding)
    if not path.exists():
        raise ValueError(f"{path}: no such file or folder. Check the path of the corpus.")
    cfg = path / "corpus.cfg" if path.is_dir() else path
    if cfg.suffix == ".cfg" and cfg.is_file():
        reader = _resolve_paths(resolve_section(cfg, "corpus", {}), cfg)
        if not callable(reader):
            raise ValueError(f"{cfg}: [corpus] is not a reader. Name one with @readers.")
        return NamedCorpus(cfg.absolute().parent.name, options.apply_to(reader))
    stem = path.name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem
    return NamedCorpus(stem, options.apply_to(reader_for(path)))


def corpus_paths(path: str | Path) -> list[Path]:
    """Return the files and folders that the reader of a corpus opens; they need not exist.

    ``path`` is a corpus folder, its cfg or a data file, and need not exist. A folder without a
    ``corpus.cfg``, or a data file, is itself the only one. Raises ValueError if the cfg does not
    describe a reader with usable settings.
    """
    path = find_input(path)
    cfg = path / "corpus.cfg" if path.is_dir() else path
    if cfg.suffix != ".cfg" or not cfg.is_file():
        return [path]
    return _reader_paths(_resolve_paths(resolve_section(cfg, "corpus", {}), cfg))


def _reader_paths(reader: Any) -> list[Path]:
    """Return the paths of a reader, and of the parts of a ``ConcatCorpus``.

    A path is the attribute ``path`` if that is a str. A reader without one has none: [].
    """
    from textrank.formats.base import ConcatCorpus

    if isinstance(reader, ConcatCorpus):
        return [path for part in reader.corpora.values() for path in _reader_paths(part)]
    path = getattr(reader, "path", None)
    return [Path(path)] if isinstance(path, str) else []


def load_model(name: str | Path, *, trusted: bool = False) -> Model:
    """Load a shipped model by name, or one by the path of its folder.

    A shipped model has precedence over a folder of that name and is always trusted. ``trusted``
    says whether a folder may name files outside of it and contain links, see ``Model.from_disk``,
    which also says what is raised.

    >>> load_model("ppi").pipeline.task.name
    'ppi'
    """
    from textrank.model import Model

    shipped = _shipped("models", str(name), "meta.json")
    if shipped:
        return Model.from_disk(shipped.parent, trusted=True)
    return Model.from_disk(Path(name), trusted=trusted)


def find_model_folder(name: str | Path) -> Path:
    """Return the folder of a shipped model by name, or else ``name`` as a path.

    The folder of a path need not exist.
    """
    shipped = _shipped("models", str(name), "meta.json")
    return shipped.parent if shipped else Path(name)


def pipeline_names() -> list[str]:
    """Return the names of the shipped pipelines, sorted."""
    return sorted(p.name.removesuffix(".cfg") for p in shipped_folder("pipelines").glob("*.cfg"))


def model_names() -> list[str]:
    """Return the names of the shipped models, sorted; those that were not built are left out."""
    return sorted(p.parent.name for p in shipped_folder("models").glob("*/arrays.npz"))


def _resolve_paths(reader: Any, cfg: Path) -> Any:
    """Return a reader with its paths, which are relative to the cfg, resolved against its folder.

    Also those of the parts of a ``ConcatCorpus``. A reader without a field ``path`` is returned
    unchanged. Raises ValueError if a path is not text or has a NUL character, or a limit is not a
    positive number; the files need not exist.
    """
    from textrank.formats.base import ConcatCorpus

    if isinstance(reader, ConcatCorpus):
        return ConcatCorpus(
            {name: _resolve_paths(part, cfg) for name, part in reader.corpora.items()}
        )
    if is_dataclass(reader) and any(field.name == "path" for field in fields(reader)):
        settings: Any = reader
        _check_reader(settings, cfg)
        return replace(settings, path=str(cfg.parent / settings.path))
    return reader


def _check_reader(reader: Any, cfg: Path) -> None:
    """Raise ValueError if path or limit of a reader (a dataclass) are not usable.

    ``cfg`` is for messages. A limit is a positive number of bytes.
    """
    settings = asdict(reader)
    path, limit = settings["path"], settings.get("limit", 1)
    if not isinstance(path, str) or not _is_valid_path(path):
        raise ValueError(
            f"{cfg}: [corpus] path {path!r} is not a valid path: expected text without NUL "
            "characters and unpaired surrogates."
        )
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit < 1 << 62:
        raise ValueError(f"{cfg}: [corpus] limit must be a number of bytes, got {limit!r:.40}.")


def _is_valid_path(path: str) -> bool:
    """Return whether a path has no NUL character and no surrogate; it need not exist."""
    return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in path)


def _shipped(kind: str, *parts: str) -> Path | None:
    """Return a shipped file by its folder and the parts of its path; None if there is none.

    ``kind`` is the folder, such as ``"models"``. Parts that lead out of it, such as ``..``, give
    None.
    """
    path = shipped_folder(kind).joinpath(*parts)
    inside = all(Path(part).name == part for part in parts)
    return path if inside and path.is_file() else None
