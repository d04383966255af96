"""The registries, and the written form of anything made of registered classes."""

from __future__ import annotations

import inspect
import json
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import catalogue
import confection
import numpy as np
from confection import Config, ConfigValidationError

from textrank.catalog import CATALOG
from textrank.io import read_text, shipped_folder

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from textrank.model import Model
    from textrank.pipeline import Pipeline

MAX_CFG_BYTES = 1 << 20  # bytes of a cfg


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


def registered_classes() -> dict[str, dict[str, Any]]:
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


def to_config(value: Any) -> Any:
    """A thing made of registered classes as plain values: what a cfg says and a report states.

    Every field is written, also one that has its default, so that a later change of a default
    cannot change a saved model.
    """
    if is_dataclass(value) and not isinstance(value, type):
        role, name = _name_of(type(value))
        plain = {f.name: to_config(getattr(value, f.name)) for f in fields(value) if f.init}
        return {f"@{role}": name, **plain}
    if isinstance(value, Mapping):
        return {str(key): to_config(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_config(item) for item in value]
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _name_of(cls: type) -> tuple[str, str]:
    for role, entries in _roles().items():
        if (name := entries.find_name(cls)) is not None:
            return role, name
    raise ValueError(
        f"{cls.__module__}.{cls.__qualname__} is not registered, so it cannot be written as a "
        "cfg. Register it, or declare it as an entry point."
    )


def package_versions() -> dict[str, str]:
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
    text = read_text(path, MAX_CFG_BYTES)
    if "${" in text:
        raise ValueError(f"{path}: refers to other values by ${{...}}. State the values.")
    try:
        return Config().from_str(text, interpolate=False)
    except Exception as error:  # confection raises whatever its parser met
        reason = " ".join(str(error).split()) or repr(error)
        raise ValueError(f"{path}: not a readable cfg: {reason:.500}") from error


def resolve_block(path: Path, section: str) -> Any:
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


_KINDS = {
    "float": "is no number",
    "int": "is no whole number",
    "str": "is no text",
    "bool": "is neither true nor false",
}


def resolve_section(
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


def with_task_settings(model: Model, settings: Sequence[str]) -> Model:
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
    if fixed := [key for key in changes if key.removeprefix("task.") in task.fixed_settings]:
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
    probabilities = model.probability(model.heldout)
    point = task.operating_point(model.labels, model.heldout, probabilities, model.threshold)
    return model.with_task(*point)


@dataclass(frozen=True)
class NamedCorpus:
    """A corpus with the name its folds and reports know it by."""

    name: str
    reader: Callable[[Language], Iterator[Doc]]

    def __call__(self, nlp: Language) -> Iterator[Doc]:
        return self.reader(nlp)


def pipeline_path(name: str | Path) -> Path:
    """Return the cfg file of a shipped pipeline, or ``name`` itself if it is the path of a cfg.

    Raises ValueError if it is neither; the file of a path need not exist.
    """
    path = _shipped("pipelines", f"{name}.cfg") or Path(name)
    if path.suffix != ".cfg":
        raise ValueError(
            f"no pipeline {str(name)!r}: neither shipped ({', '.join(pipeline_names())}) nor the "
            "path of a .cfg file."
        )
    return path


def load_pipeline(name: str | Path, settings: Mapping[str, Any] | None = None) -> Pipeline:
    """A shipped pipeline by name, or any by the path of its cfg; ``settings`` override values.

    >>> load_pipeline("ppi", {"learner.alphas": [1.0]}).learner.alphas
    (1.0,)
    """
    from textrank.pipeline import Pipeline

    path = pipeline_path(name)
    overrides = {f"pipeline.{key}": value for key, value in (settings or {}).items()}
    found = resolve_section(path, "pipeline", overrides, spelt=_spelt)
    if not isinstance(found, Pipeline):
        raise ValueError(f"{path}: [pipeline] is a {type(found).__name__}, not a pipeline.")
    return found


def _spelt(pipeline: Any) -> dict[str, Any]:
    return {"pipeline": to_config(pipeline)}


def dump_pipeline(pipeline: Pipeline) -> str:
    """Any pipeline as the text of a cfg; loading it gives an equal pipeline."""
    return Config({"pipeline": to_config(pipeline)}).to_str()


def load_corpus(
    path: str | Path, *, limit: int | None = None, skip_bad: bool = False
) -> NamedCorpus:
    """A corpus by its folder with a ``corpus.cfg``, by that cfg, or by a data file.

    ``limit`` is how many bytes may be held at once, of a document or a packed file; ``skip_bad``
    leaves out documents with errors. Both go before what the cfg says.

    >>> import spacy
    >>> len(list(load_corpus("corpora/sample-ppi")(spacy.blank("en"))))
    50
    """
    from textrank.formats.base import ReadOptions
    from textrank.formats.detection import reader_for

    path = Path(path)
    asked = ReadOptions(limit, skip_bad)
    if not path.exists():
        raise ValueError(f"{path}: no such file or folder. Check the path of the corpus.")
    cfg = path / "corpus.cfg" if path.is_dir() else path
    if cfg.suffix == ".cfg" and cfg.is_file():
        bound = _bound(resolve_section(cfg, "corpus", {}), cfg)
        if not callable(bound):
            raise ValueError(f"{cfg}: [corpus] is no reader. Name one by @readers.")
        return NamedCorpus(cfg.absolute().parent.name, asked.apply_to(bound))
    stem = path.name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem
    return NamedCorpus(stem, asked.apply_to(reader_for(path)))


def load_model(name: str | Path) -> Model:
    """A shipped model by name, or any by the path of its folder.

    >>> load_model("ppi").pipeline.task.name
    'ppi'
    """
    from textrank.model import Model

    shipped = _shipped("models", str(name), "meta.json")
    return Model.from_disk(shipped.parent if shipped else Path(name))


def pipeline_names() -> list[str]:
    """The pipelines that ship with textrank."""
    return sorted(p.name.removesuffix(".cfg") for p in shipped_folder("pipelines").glob("*.cfg"))


def model_names() -> list[str]:
    """The task models that ship with textrank."""
    return sorted(p.parent.name for p in shipped_folder("models").glob("*/arrays.npz"))


def _bound(reader: Any, cfg: Path) -> Any:
    """The reader with its paths, which a cfg gives relative to itself, made whole."""
    from textrank.formats.base import ConcatCorpus

    if isinstance(reader, ConcatCorpus):
        return ConcatCorpus({name: _bound(part, cfg) for name, part in reader.corpora.items()})
    if is_dataclass(reader) and any(field.name == "path" for field in fields(reader)):
        settings: Any = reader
        _check_reader(settings, cfg)
        return replace(settings, path=str(cfg.parent / settings.path))
    return reader


def _check_reader(reader: Any, cfg: Path) -> None:
    """Raises where a cfg gives a path or a limit that the system would stumble over."""
    given = asdict(reader)
    path, limit = given["path"], given.get("limit", 1)
    if not isinstance(path, str) or not _whole(path):
        raise ValueError(f"{cfg}: [corpus] path {path!r} is no path. Write it in whole letters.")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit < 1 << 62:
        raise ValueError(f"{cfg}: [corpus] limit must be a number of bytes, got {limit!r:.40}.")


def _whole(path: str) -> bool:
    """Whether a system can name a file so: no NUL, no half of a surrogate pair."""
    return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in path)


def _shipped(kind: str, *parts: str) -> Path | None:
    path = shipped_folder(kind).joinpath(*parts)
    inside = all(Path(part).name == part for part in parts)
    return path if inside and path.is_file() else None
