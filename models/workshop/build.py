"""Build a shipped model from its recipe: ``python -m workshop.build NAME DATA [OUT]``.

The recipe is the file ``recipe/recipe.toml`` of the model; ``workshop.recipes`` has its format.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from workshop.recipes import PROJECT, Recipe, load_recipe, read_sources
from workshop.reseal import reseal

from textrank.config import load_pipeline
from textrank.language import load_nlp
from textrank.model import Model

MODELS = PROJECT / "models"


def build(name: str, data: Path, out: Path | None = None) -> None:
    """Build the model ``name`` from the files below ``data`` and write it to ``out``.

    Without ``out`` the files of the shipped model are replaced; its recipe and card stay. Raises
    SystemExit, with the names that exist, if there is no such recipe.
    """
    folder = MODELS / name / "recipe"
    if not folder.is_dir():
        names = sorted(str(path.parent.relative_to(MODELS)) for path in MODELS.rglob("recipe"))
        raise SystemExit(f"no recipe for {name!r}; available: {', '.join(names)}")
    recipe, target = load_recipe(folder), out or MODELS / name
    with tempfile.TemporaryDirectory() as temporary:
        prepared = Path(temporary)
        if recipe.script or recipe.module:
            command = ["-m", recipe.module] if recipe.module else [str(folder / recipe.script)]
            _run_python(command, data.resolve(), target)
        else:
            if recipe.prepare:
                _run_python([str(folder / recipe.prepare)], data.resolve(), prepared)
            train(recipe, data.resolve(), prepared).to_disk(prepared / "model")
            target.mkdir(parents=True, exist_ok=True)
            for file in (prepared / "model").iterdir():
                shutil.copy2(file, target / file.name)
        reseal(target)


def train(recipe: Recipe, data: Path, prepared: Path) -> Model:
    """Return the model of a recipe without script: its pipeline trained on its sources."""
    pipeline = load_pipeline(recipe.pipeline_path)
    nlp = load_nlp(only=pipeline.task.required_pipes)
    meta: dict[str, Any] = {"corpus": recipe.folder.parent.name}
    if recipe.licence:
        meta["licence"] = recipe.licence
    model = replace(pipeline.fit(read_sources(recipe, data, prepared)(nlp)), meta=meta)
    return model if recipe.keep is None else model.prune(recipe.keep)


def _run_python(command: list[str], *folders: Path) -> None:
    """Run a script or module with these folders as arguments; raise if it fails."""
    path = os.pathsep.join([str(MODELS), *filter(None, [os.environ.get("PYTHONPATH")])])
    arguments = [sys.executable, *command, *map(str, folders)]
    subprocess.run(arguments, check=True, env={**os.environ, "PYTHONPATH": path})


if __name__ == "__main__":
    build(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
