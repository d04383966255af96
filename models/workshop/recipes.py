"""Recipes of shipped models: the file ``recipe.toml`` in the folder ``recipe`` of a model.

Exactly one of three ways to build the model:

- ``script``: a Python file in the same folder that is run with the folders DATA and OUT;
- ``module``: a module that is run with DATA and OUT, such as ``workshop.language_pipeline``;
- ``pipeline``: a shipped pipeline, or a cfg in the same folder, that is trained on ``[sources]``.

Every source has a ``reader`` (a registered name) and its file or files: ``data`` below the folder
DATA, ``project`` below the repository, or ``prepared`` below the folder that the script
``prepare`` of the recipe filled. Other keys are settings of the reader. Several sources are read
one after the other, as ``together.v1`` does. ``keep`` is how many of the largest feature weights
the model keeps, ``licence`` goes into its ``meta.json``. A script may read further settings.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from textrank.config import registry

PROJECT = Path(__file__).parents[2]
ROOT_KEYS = ("data", "project", "prepared")
# Keys of a source for scripts; they are not settings of a reader.
SCRIPT_KEYS = (
    *("basis", "weight", "origin", "relations", "recognised", "both_annotated"),
    *("answers", "calibrate"),
)
Reader = Callable[[Language], Iterator[Doc]]


@dataclass(frozen=True)
class Recipe:
    """The content of a ``recipe.toml``; empty strings and None for keys it does not have."""

    folder: Path
    script: str = ""
    module: str = ""
    pipeline: str = ""
    prepare: str = ""
    licence: str = ""
    keep: int | None = None
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)  # all other keys

    @property
    def pipeline_path(self) -> str | Path:
        """Path of the cfg beside the recipe if ``pipeline`` is its name, else the shipped name."""
        path = self.folder / self.pipeline
        return path if path.suffix == ".cfg" else self.pipeline


def load_recipe(folder: Path) -> Recipe:
    """Read ``folder/recipe.toml``.

    Raises ValueError unless it has exactly one of ``script``, ``module`` and ``pipeline`` (a
    script may name the pipeline that it trains).
    """
    content = tomllib.loads((folder / "recipe.toml").read_text(encoding="utf-8"))
    field_names = ("script", "module", "pipeline", "prepare", "licence", "keep", "sources")
    fields = {key: content.pop(key) for key in field_names if key in content}
    ways = [key for key in ("script", "module", "pipeline") if key in fields]
    if "script" in ways and "pipeline" in ways:
        ways.remove("pipeline")
    if len(ways) != 1:
        raise ValueError(
            f"{folder / 'recipe.toml'}: expected one of script, module and pipeline, got "
            f"{', '.join(ways) or 'none'}."
        )
    return Recipe(folder, **fields, settings=content)


def read_source(recipe: Recipe, name: str, data: Path, prepared: Path | None = None) -> Reader:
    """Return a reader of all files of one source, for ``reader(nlp)``."""
    source = recipe.sources[name]
    roots = {"data": data, "project": PROJECT, "prepared": prepared}
    keys = [key for key in ROOT_KEYS if key in source]
    if len(keys) != 1 or roots[keys[0]] is None:
        raise ValueError(
            f"{recipe.folder / 'recipe.toml'} [sources.{name}]: expected one of "
            f"{', '.join(ROOT_KEYS)}, got {', '.join(keys) or 'none'}."
        )
    paths = source[keys[0]] if isinstance(source[keys[0]], list) else [source[keys[0]]]
    skipped = ("reader", *ROOT_KEYS, *SCRIPT_KEYS)
    settings = {key: value for key, value in source.items() if key not in skipped}
    reader = registry.get("readers", source["reader"])
    readers = [reader(path=str(Path(roots[keys[0]]) / path), **settings) for path in paths]  # type: ignore[arg-type]

    def read(nlp: Language) -> Iterator[Doc]:
        """Yield the Docs of all files."""
        for each in readers:
            yield from each(nlp)

    return read


def read_sources(recipe: Recipe, data: Path, prepared: Path | None = None) -> Reader:
    """Return a reader of all sources; with several, ids begin with the name of the source."""
    readers = {name: read_source(recipe, name, data, prepared) for name in recipe.sources}
    if len(readers) == 1:
        return next(iter(readers.values()))
    reader: Reader = registry.get("readers", "together.v1")(corpora=readers)
    return reader
