"""Builds a shipped model from its recipe: ``python -m workshop.build NAME DATA [OUT]``.

The recipe is the folder ``recipe`` inside that of the model. A ``build.py`` there is run with
``DATA`` and the folder to fill; without one, ``pipeline.cfg`` is trained on ``corpus.cfg``, whose
paths begin with ``DATA/``, ``PROJECT/`` or ``WORK/`` (what a ``prepare.py`` wrote). A block
``[recipe]`` of ``corpus.cfg`` may say how many weights are kept (``keep``) and which licence holds.
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

from confection import Config
from workshop.reseal import reseal

from textrank.config import load_corpus, load_pipeline
from textrank.language import load_nlp
from textrank.model import Model

PROJECT = Path(__file__).parents[2]
MODELS = PROJECT / "models"


def build(name: str, data: Path, out: Path | None = None) -> None:
    """Makes a model anew and puts it in its place, or into another folder."""
    recipe = MODELS / name / "recipe"
    if not recipe.is_dir():
        known = sorted(str(path.parent.relative_to(MODELS)) for path in MODELS.rglob("recipe"))
        raise SystemExit(f"no recipe for {name!r}; there are: {', '.join(known)}")
    target = out or MODELS / name
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if (recipe / "build.py").is_file():
            _run(recipe / "build.py", data.resolve(), target)
            reseal(target)
            return
        if (recipe / "prepare.py").is_file():
            _run(recipe / "prepare.py", data.resolve(), work)
        train(recipe, data.resolve(), work).to_disk(work / "model")
        target.mkdir(parents=True, exist_ok=True)
        for file in (work / "model").iterdir():  # beside the recipe and the card, which stay
            shutil.copy2(file, target / file.name)
        reseal(target)


def train(recipe: Path, data: Path, work: Path) -> Model:
    """The model of a recipe of two cfg files."""
    pipeline = load_pipeline(recipe / "pipeline.cfg")
    text = (recipe / "corpus.cfg").read_text(encoding="utf-8")
    for word, folder in (("DATA", data), ("PROJECT", PROJECT), ("WORK", work)):
        text = text.replace(f'"{word}/', f'"{folder}/')
    own = work / recipe.parent.name
    own.mkdir()
    (own / "corpus.cfg").write_text(text, encoding="utf-8")
    settings: dict[str, Any] = dict(Config().from_str(text).get("recipe", {}))
    keep = settings.pop("keep", None)
    task = pipeline.task
    nlp = load_nlp(only=None if task.reads is None else task.reads)
    model = replace(pipeline.fit(load_corpus(own)(nlp)), meta={"corpus": own.name, **settings})
    return model if keep is None else model.strongest(keep)


def _run(script: Path, *arguments: Path) -> None:
    path = os.pathsep.join([str(MODELS), *filter(None, [os.environ.get("PYTHONPATH")])])
    words = [sys.executable, str(script), *map(str, arguments)]
    subprocess.run(words, check=True, env={**os.environ, "PYTHONPATH": path})


if __name__ == "__main__":
    words = sys.argv[1:]
    build(words[0], Path(words[1]), Path(words[2]) if len(words) > 2 else None)
