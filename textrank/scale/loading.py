"""The model and the language pipeline of a job."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from textrank.config import load_model, model_names
from textrank.language import load_nlp, model_path
from textrank.language.load import SHIPPED, needed_components
from textrank.scale.analysis import Analysis
from textrank.scale.job import Job
from textrank.scale.plan import checksum
from textrank.settings import adjusted


def load_analysis(job: Job) -> Analysis:
    """The model of a job with the language pipeline that its task reads."""
    model = adjusted(load_model(job.model), job.settings)
    task = model.pipeline.task
    every = job.nlp is not None or task.reads is None
    nlp = load_nlp(job.nlp, only=None if every else [*(task.reads or ()), *task.recognises])
    names, parses = (
        needed_components(nlp, [name for name in wanted if name in nlp.pipe_names])
        for wanted in (task.recognises, task.reads or ())
    )
    return Analysis(model, nlp, names, parses, whole=job.whole)


def job_settings(job: Job) -> dict[str, Any]:
    """What the answers of a job depend on, to be compared with what a folder was begun with."""
    return {
        "model": Path(job.model).name,
        "model_checksum": checksum(_folder(job.model)),
        "language": Path(job.nlp).name if job.nlp else SHIPPED,
        "language_checksum": checksum(_folder(job.nlp or SHIPPED)),
        "settings": list(job.settings),
        "format": job.format,
    }


def _folder(name: str) -> Path:
    """The folder of a model: a shipped one, that of a path, or of an installed package."""
    if name == SHIPPED or name in model_names():
        return model_path(name)
    path = Path(name)
    if path.exists():
        return path
    spec = find_spec(name) if name.isidentifier() else None
    if spec is None or spec.origin is None:
        raise ValueError(f"no model {name!r}. `textrank info` lists the shipped ones.")
    return Path(spec.origin).parent
