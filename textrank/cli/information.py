"""What is registered and shipped, for `textrank info`."""

from __future__ import annotations

import inspect

from textrank.config import model_names, pipeline_names
from textrank.evaluation import versions
from textrank.registry import registries


def information(name: str | None = None) -> dict[str, dict[str, str]]:
    """What is registered and shipped, or the settings of one name."""
    found = registries()
    if name is None:
        rows = {
            role: {key: f"{cls.__module__}.{cls.__qualname__}" for key, cls in names.items()}
            for role, names in found.items()
        }
        shipped = {"pipelines": pipeline_names(), "models": model_names()}
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
    first = (inspect.getdoc(cls) or "").splitlines()[0]
    about = {"role": role, "defined in": f"{cls.__module__}.{cls.__qualname__}", "gives": first}
    parameters = inspect.signature(cls).parameters.values()
    settings = {
        p.name: "(required)" if p.default is p.empty else repr(p.default) for p in parameters
    }
    return {name: about, "settings": settings or {"none": ""}}
